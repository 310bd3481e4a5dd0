/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace record --filter, --traps, --mark, --from and --until: filters of the encoder. */
#ifndef NTRACE_TOOL_RECORD_FILTER_H
#define NTRACE_TOOL_RECORD_FILTER_H

#include <stdint.h>

#include "options.h"

/** record_filter_take - add an address range, --filter. Return: exit status */
int record_filter_take(struct record_options *options, const char *value);

/** record_filter_take_traps - trace trap handlers only, --traps. Return: exit status */
int record_filter_take_traps(struct record_options *options, const char *text);

/** record_filter_take_mark - add an address to mark, --mark. Return: exit status */
int record_filter_take_mark(struct record_options *options, const char *text);

/**
 * record_filter_find_address - find what an option names
 * @option: its name
 * @text: an address, or a function of the kernel
 * @address: takes the address
 *
 * Return: exit status.
 */
int record_filter_find_address(struct record_options *options, const char *option, const char *text,
			       __u64 *address);

/**
 * record_filter_find - find a function in an ELF file
 * @path: the file
 * @offset: set to the file offset of the function's first instruction
 *
 * Return: exit status.
 */
int record_filter_find(const char *path, const char *function, uint64_t *offset);

#endif /* NTRACE_TOOL_RECORD_FILTER_H */
