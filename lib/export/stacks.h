/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the exports of call stacks share: everything in arrays, and names for people. */
#ifndef NTRACE_EXPORT_STACKS_PRIVATE_H
#define NTRACE_EXPORT_STACKS_PRIVATE_H

#include <ntrace/export_stacks.h>

/*
 * @names: of functions: demangled; "[FILE]" where nothing but the file is known
 * @total: instructions
 * @path: room for the functions of one stack, by depth: nodes come behind their callers, so that
 *        a walk over them keeps it
 * @timestamp_hz: 0 if there are no times
 */
struct stacks_export {
	FILE *file;
	const char *title;
	const struct ntrace_stack_function *functions;
	size_t function_count;
	const struct ntrace_stack_node *nodes;
	size_t node_count;
	const struct ntrace_stack_edge *edges;
	size_t edge_count;
	char **names;
	uint64_t total;
	uint32_t *path;
	uint64_t timestamp_hz;
};

/* "[NAME]" for what is no function. Return: to be freed; NULL when out of memory. */
char *stack_frame_name(unsigned int kind, const char *name);

int put_folded(const struct stacks_export *export);
int put_callgrind(const struct stacks_export *export);
int put_pprof(const struct stacks_export *export);
int put_speedscope(const struct stacks_export *export);

#endif
