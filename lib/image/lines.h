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

/* The DWARF of an object, open. */
struct debug_info {
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	char *debug_path;
	Dwarf *dwarf;
};

/* A compilation unit; @split: where its functions are, if @has_split. */
struct debug_unit {
	Dwarf_CU *unit;
	Dwarf_Die die;
	Dwarf_Die split;
	bool has_split;
};

/* @info: names of scopes point into it; of lines that belong to units it is theirs, and empty here */
struct ntrace_lines {
	struct ntrace_object *object;
	struct debug_info info;
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

/* What debug_info_next() returns behind the last unit. */
#define DEBUG_INFO_END 1

/* Of an object or its debug file; to be closed whatever it returns; dwarf.c. */
int debug_info_open(struct debug_info *info, struct ntrace_object *object);
void debug_info_close(struct debug_info *info);

/* The unit behind @unit, the first one if that is all 0. Return: 0, DEBUG_INFO_END or an error. */
int debug_info_next(const struct debug_info *info, struct debug_unit *unit);

/* Code that the linker dropped is described at addresses that are no code; dwarf.c. */
bool object_is_code(const struct ntrace_object *object, uint64_t start);

/* Adds lines, scopes and ranges of a unit in any order; dwarf.c. */
int lines_read_unit(struct ntrace_lines *lines, struct debug_unit *unit);

/* Puts all in order, after the last unit; lines.c. */
int lines_settle(struct ntrace_lines *lines);

/* An object that can have lines, with its debug file. Return: 0 or NTRACE_ERR_UNSUPPORTED. */
int lines_find_debug_file(struct ntrace_object *object, const char *const *directories);

#endif
