/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by lines.c, dwarf.c and debug_info.c. */
#ifndef NTRACE_IMAGE_LINES_H
#define NTRACE_IMAGE_LINES_H

#include <elfutils/libdwfl.h>

#include <ntrace/lines.h>

/* Addresses in a scope before overlaps are resolved: the later scope is the inner one. */
struct scope_range {
	uint64_t start;
	uint64_t end;
	uint32_t scope;
};

/* A function that DWARF places at 0, and where it is declared; @placed: the linker did so, too. */
struct zero_function {
	const char *file;
	uint32_t line;
	bool placed;
};

/* The open DWARF of an object. */
struct debug_info {
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	char *debug_path;	/* where libdwfl looks; borrowed */
	Dwfl_Module *module;
	Dwarf *dwarf;
	Dwarf *shared;		/* what dwz moved to another file, or nothing */
	Elf *shared_elf;
	int shared_fd;		/* 0 = none */
	char *served;		/* file of a debuginfod server, which may be unreadable */
	struct ntrace_object *object;	/* borrowed */
};

/* A compilation unit; @split: the unit that contains its functions, if @has_split. */
struct debug_unit {
	Dwarf_CU *unit;
	Dwarf_Die die;
	Dwarf_Die split;
	bool has_split;
};

/*
 * @info: names of scopes point into it. Lines made by struct ntrace_units use the units' info and
 * leave this one empty.
 * @no_memory: a path is missing because an allocation failed
 * @zeros: those of the unit that is read
 */
struct ntrace_lines {
	struct ntrace_object *object;
	struct debug_info info;
	void *files;		/* tsearch() tree of paths */
	const char *last_name;	/* last name from libdw, and the path made of it */
	const char *last_file;
	bool no_memory;
	struct ntrace_line *lines;
	size_t line_count;
	size_t line_room;
	struct ntrace_scope *scopes;
	size_t scope_count;
	size_t scope_room;
	struct scope_range *ranges;
	size_t range_count;
	size_t range_room;
	struct zero_function *zeros;
	size_t zero_count;
	size_t zero_room;
};

/* Result of debug_info_next() after the last unit. */
#define DEBUG_INFO_END 1

/* The debug file of an object on a debuginfod server, to be freed; NULL if there is none; debug_info.c. */
char *debug_info_ask(struct ntrace_object *object);

/* Opens the DWARF of an object or its debug file; must be closed even after an error; debug_info.c. */
int debug_info_open(struct debug_info *info, struct ntrace_object *object);
void debug_info_close(struct debug_info *info);

/* The unit after @unit; the first one if @unit is all 0. Return: 0, DEBUG_INFO_END or an error. */
int debug_info_next(const struct debug_info *info, struct debug_unit *unit);

/* Keeps what libdw has just failed to read; debug_info.c. */
void debug_info_note_unread(struct ntrace_object *object, const char *what);

/*
 * Whether the range of a function, or of a sequence of lines or a unit (@sequence), is code; placed.c. DWARF describes
 * code dropped by the linker at other addresses, mostly from 0 on.
 */
bool object_is_code(struct ntrace_object *object, uint64_t start, uint64_t end, bool sequence);

/* Whether a function of this name, or a piece or clone of it, may be at 0; placed.c. */
bool object_has_at_zero(struct ntrace_object *object, const char *name);

/* Whether scope @number has code at 0; placed.c. */
bool lines_begin_at_zero(const struct ntrace_lines *lines, uint32_t number);

/* Adds lines, scopes and ranges of a unit in any order; dwarf.c. */
int lines_read_unit(struct ntrace_lines *lines, struct debug_unit *unit);

/* Sorts all lines and scopes, after the last unit; lines.c. */
int lines_settle(struct ntrace_lines *lines);

/* Finds the debug file of an object that can have lines. Return: 0 or NTRACE_ERR_UNSUPPORTED. */
int lines_find_debug_file(struct ntrace_object *object, const char *const *directories);

#endif
