/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lines: the source line of each instruction, from the DWARF of its object.
 */
#ifndef NTRACE_LINES_H
#define NTRACE_LINES_H

#include <ntrace/image.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_lines;

/* ntrace_line.scope, ntrace_scope.parent: the function is unknown */
#define NTRACE_NO_SCOPE UINT32_MAX

/**
 * struct ntrace_line - consecutive instructions that come from one line
 * @start: link address of the first instruction
 * @end: link address after the last instruction
 * @file: path given by the compiler, absolute if DWARF contains the compiler's directory; owned by
 *        the lines
 * @line: line number, from 1; 0: the compiler assigns the instructions to no line
 * @discriminator: compiler-defined number that distinguishes code of one line; 0: none
 */
struct ntrace_line {
	uint64_t start;
	uint64_t end;
	const char *file;
	uint32_t line;
	uint32_t discriminator;
};

/**
 * struct ntrace_scope - a function, or an inlined copy of a function
 * @name: linkage name (mangled) if present, else the plain name; owned by the lines
 * @file: file of its declaration; owned by the lines; NULL if unknown
 * @call_file: file of the call, if @inlined; owned by the lines; NULL if unknown
 * @entry: link address of its first instruction
 * @line: line of its declaration, 0 if unknown
 * @call_line: line of the call, if @inlined
 * @parent: number of the function that contains the inlined copy, NTRACE_NO_SCOPE for a function
 *          that is not inlined
 * @call_discriminator: discriminator of the call, if @inlined, 0 if there is none
 * @inlined: a copy within another function
 * @reserved: 0
 */
struct ntrace_scope {
	const char *name;
	const char *file;
	const char *call_file;
	uint64_t entry;
	uint32_t line;
	uint32_t call_line;
	uint32_t parent;
	uint32_t call_discriminator;
	bool inlined;
	uint8_t reserved[7];
};

/**
 * ntrace_lines_open - read the line numbers and functions of an object
 * @lines: the new lines, to be freed with ntrace_lines_close()
 * @object: an ELF file or a kernel module that was opened by its path; referenced
 * @directories: of separate debug files, as for ntrace_object_add_debug_file()
 *
 * DWARF comes from the file itself, from its debug file, or from a debuginfod server named in the
 * environment variable DEBUGINFOD_URLS, which may be slow.
 *
 * Return: 0, NTRACE_ERR_UNSUPPORTED if the object has no DWARF (stripped, raw bytes),
 * NTRACE_ERR_FORMAT if the DWARF is damaged, NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_lines_open(struct ntrace_lines **lines, struct ntrace_object *object,
				 const char *const *directories);

/**
 * ntrace_lines_close - free lines and release their object
 * @lines: lines made by ntrace_lines_open(); NULL is allowed
 */
NTRACE_API void ntrace_lines_close(struct ntrace_lines *lines);

/**
 * ntrace_lines_all - all ranges with a line, disjoint, sorted by address
 * @lines: lines made by ntrace_lines_open() or ntrace_units_lines()
 * @count: set to the number of ranges
 *
 * Return: array owned by the lines.
 */
NTRACE_API const struct ntrace_line *ntrace_lines_all(const struct ntrace_lines *lines,
						      size_t *count);

/**
 * ntrace_lines_find - the line of a link address
 * @lines: lines made by ntrace_lines_open() or ntrace_units_lines()
 * @address: link address of an instruction
 *
 * Return: the range that contains @address, owned by the lines; NULL if none is known.
 */
NTRACE_API const struct ntrace_line *ntrace_lines_find(const struct ntrace_lines *lines,
						       uint64_t address);

/**
 * ntrace_lines_scopes - all functions and inlined copies
 * @lines: lines made by ntrace_lines_open() or ntrace_units_lines()
 * @count: set to the number of scopes
 *
 * Return: array owned by the lines; the index of a scope is its number.
 */
NTRACE_API const struct ntrace_scope *ntrace_lines_scopes(const struct ntrace_lines *lines,
							  size_t *count);

/**
 * ntrace_lines_scope - the innermost function or inlined copy that contains a link address
 * @lines: lines made by ntrace_lines_open() or ntrace_units_lines()
 * @address: link address of an instruction
 *
 * Return: its number, NTRACE_NO_SCOPE if none is known.
 */
NTRACE_API uint32_t ntrace_lines_scope(const struct ntrace_lines *lines, uint64_t address);

struct ntrace_units;

/**
 * ntrace_units_open - lines and functions of an object, read on demand
 * @units: the new units, to be freed with ntrace_units_close()
 * @object: as for ntrace_lines_open()
 * @directories: likewise
 *
 * For large objects with few functions of interest: each compilation unit is read separately.
 *
 * Return: as ntrace_lines_open(), but a damaged unit may only appear as a unit without lines.
 */
NTRACE_API int ntrace_units_open(struct ntrace_units **units, struct ntrace_object *object,
				 const char *const *directories);

/**
 * ntrace_units_close - free units with all their lines
 * @units: units made by ntrace_units_open(); NULL is allowed
 */
NTRACE_API void ntrace_units_close(struct ntrace_units *units);

/**
 * ntrace_units_lines - lines and functions of the unit that contains a link address
 * @units: units made by ntrace_units_open(); the first call for a unit reads it
 * @address: link address of an instruction
 *
 * Return: lines valid until ntrace_units_close(), owned by the units; NULL if none is known, also
 * when out of memory.
 */
NTRACE_API const struct ntrace_lines *ntrace_units_lines(struct ntrace_units *units,
							 uint64_t address);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_LINES_H */
