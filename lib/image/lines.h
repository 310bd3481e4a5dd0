/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What lines.c and dwarf.c share. */
#ifndef NTRACE_IMAGE_LINES_H
#define NTRACE_IMAGE_LINES_H

#include <elfutils/libdwfl.h>

#include <ntrace/lines.h>

/* Addresses that are in a scope, before overlaps are resolved: the later one is the inner one. */
struct scope_range {
	uint64_t start;
	uint64_t end;
	uint32_t scope;
};

struct ntrace_lines {
	struct ntrace_object *object;
	Dwfl *dwfl;		/* names of scopes point into it */
	Dwfl_Callbacks callbacks;
	char *debug_path;
	void *files;		/* tsearch() tree of paths */
	const char *last_name;	/* as libdw has it, and the path made of it */
	const char *last_file;
	struct ntrace_line *lines;
	size_t line_count;
	size_t line_room;
	struct ntrace_scope *scopes;
	size_t scope_count;
	size_t scope_room;
	struct scope_range *ranges;
	size_t range_count;
	size_t range_room;
};

/* Fills in lines, scopes and ranges in any order; dwarf.c. */
int lines_read_dwarf(struct ntrace_lines *lines);

#endif
