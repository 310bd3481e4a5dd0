/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* /proc/kallsyms and images/kallsyms, which have the same format. */
#ifndef NTRACE_SIDEBAND_KALLSYMS_H
#define NTRACE_SIDEBAND_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

/*
 * @line: the line in the file, @length bytes including the newline, not terminated
 * @name: symbol
 * @module: module, "bpf" or "__builtin__..."; "" for the kernel itself
 */
struct kallsym {
	uint64_t address;
	char type;
	const char *line;
	size_t length;
	const char *name;
	const char *module;
};

/*
 * Calls back for every text symbol, in the order of the file, and skips all other lines. Return: 0,
 * what @callback returned, NTRACE_ERR_IO with errno (EFBIG: no kernel has so many), NTRACE_ERR_FORMAT if no line
 * was a symbol.
 */
int kallsyms_read(const char *path, int (*callback)(void *data, const struct kallsym *symbol),
		  void *data);

/* Whether a symbol is a label or mapping symbol. RISC-V modules have hundreds of thousands. */
bool kallsyms_is_label(const struct kallsym *symbol);

#endif
