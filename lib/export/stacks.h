/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Data shared by the exports of call stacks: all arrays, and names for display. */
#ifndef NTRACE_EXPORT_STACKS_PRIVATE_H
#define NTRACE_EXPORT_STACKS_PRIVATE_H

#include <ntrace/export_stacks.h>

/*
 * @names: display names of functions: demangled; "[FILE]" if only the file is known
 * @total: instructions
 * @path: functions of one stack, by depth; a walk over the nodes can keep it up to date, since
 *        nodes come after their callers
 * @timestamp_hz: 0 if the stacks have no times
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

/* "[NAME]" for an entry that is no function. Return: to be freed; NULL when out of memory. */
char *stack_frame_name(unsigned int kind, const char *name);

int put_folded(const struct stacks_export *export);
int put_callgrind(const struct stacks_export *export);
int put_pprof(const struct stacks_export *export);
int put_speedscope(const struct stacks_export *export);

#endif
