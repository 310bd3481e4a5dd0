/* SPDX-License-Identifier: GPL-2.0-only */
/* What the actions of ntrace tandem share: options, and fields of a trace. */
#ifndef NTRACE_TOOL_TANDEM_TANDEM_H
#define NTRACE_TOOL_TANDEM_TANDEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ntrace/tandem_verify.h>

#include "common/command.h"
#include "common/output.h"

#define TANDEM_LIST_MAX 64

/**
 * struct tandem_options - options of all actions
 * @path: the trace, or the log to convert; "-" is standard input
 * @params: parameters of the trace
 * @output: file of convert, NULL = none given
 * @from: source of convert, NULL = none given
 * @scope: scope of the RVFI signals in a waveform, NULL = find it
 * @clock: path of their clock, NULL = find it
 * @gdb: address of the stub of verify
 * @model: model of verify that is linked in, or NULL
 * @builtin: verify: the model of the library
 * @isa: its instruction set, xlen 0 = none given
 * @elf: program for disassembly, or NULL
 * @json: print JSON
 * @tap: verify: print TAP, a test for each rule
 * @limit: fields or groups after which to end, 0 = none
 * @mismatches: differing groups after which verify ends
 * @full: groups between full comparisons
 * @last: groups printed before a mismatch
 * @pending: instructions that a pending and enabled interrupt may wait, 0 = any number
 * @linux_user: the trace is that of a Linux program in user mode
 */
struct tandem_options {
	const char *path;
	struct ntrace_tandem_params params;
	const char *output;
	const char *from;
	const char *scope;
	const char *clock;
	const char *gdb;
	const struct ntrace_tandem_model *model;
	struct ntrace_isa isa;
	const char *elf;
	uint64_t limit;
	uint64_t mismatches;
	uint64_t full;
	uint64_t last;
	uint64_t pending;
	bool json;
	bool tap;
	bool linux_user;
	bool builtin;
	struct ntrace_tandem_mask chosen[TANDEM_LIST_MAX];
	size_t chosen_count;
	uint16_t absent[TANDEM_LIST_MAX];
	size_t absent_count;
	struct ntrace_tandem_range devices[TANDEM_LIST_MAX];
	size_t device_count;
};

/* Ends tandem_read_file() without an error. */
#define TANDEM_ENOUGH 1000

/**
 * tandem_read_file - read a trace field by field
 * @field: called for each. Return: 0, TANDEM_ENOUGH, or an error, which ends reading
 * @result: receives what @field returned, if not 0
 *
 * Prints an error message for a file that cannot be read, and for a stream that is damaged or cut.
 *
 * Return: EXIT_OK, EXIT_GAPS after damage, or EXIT_FAILED
 */
int tandem_read_file(const struct tandem_options *options,
		     int (*field)(void *data, const struct ntrace_tandem_field *field), void *data,
		     int *result);

/** tandem_put_field - a line of text for a field, without the newline */
void tandem_put_field(struct output *output, const struct ntrace_tandem_params *params,
		      const struct ntrace_tandem_field *field);

int tandem_dump(const struct tandem_options *options);
int tandem_stat(const struct tandem_options *options);
/** tandem_converts - whether convert knows this source */
bool tandem_converts(const char *from);

int tandem_convert(const struct tandem_options *options);
int tandem_verify(const struct tandem_options *options);

/**
 * tandem_verify_linked - `ntrace tandem verify` with a model that is linked in
 * @model: model; copied
 * @argc: number of elements of @argv
 * @argv: arguments of the command, from "tandem" on
 *
 * Return: exit status of the command
 */
int tandem_verify_linked(const struct ntrace_tandem_model *model, int argc, char **argv);

#endif /* NTRACE_TOOL_TANDEM_TANDEM_H */
