/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Coverage: source lines, branches and functions with exact counts.
 *
 * No single place holds the count of a line: the line is spread over instructions, some before a
 * loop and others inside it. In each copy of a line (one for each function and for each time that
 * the function was inlined) the most often executed instruction gives the count; copies add up. The
 * line that declares a function counts as the function's first instruction.
 *
 * ECALL and EBREAK always trap and never retire: no count includes them, and a line with no other
 * instruction is not among the lines. A function that begins with one counts how often control came
 * to it.
 */
#ifndef NTRACE_COVERAGE_H
#define NTRACE_COVERAGE_H

#include <ntrace/counts.h>
#include <ntrace/lines.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_coverage_line - a line that has code
 * @file: path; the coverage owns it and all other strings here
 * @executed: number of executions
 * @line: line number
 * @reserved: 0
 */
struct ntrace_coverage_line {
	const char *file;
	uint64_t executed;
	uint32_t line;
	uint32_t reserved;
};

/**
 * struct ntrace_coverage_branch - a conditional branch in the code of a line
 * @file: path of the line's file
 * @address: link address in its object
 * @executed: number of executions
 * @taken: number of times taken; the other executions continued at the next instruction
 * @line: line number
 * @object: number of the object among those that have lines, from 0 on
 */
struct ntrace_coverage_branch {
	const char *file;
	uint64_t address;
	uint64_t executed;
	uint64_t taken;
	uint32_t line;
	uint32_t object;
};

/**
 * struct ntrace_coverage_function - a function that has code of its own
 * @file: path of the file that declares the function
 * @name: linkage name (mangled)
 * @executed: number of executions of its first instruction
 * @line: line of its declaration
 * @reserved: 0
 */
struct ntrace_coverage_function {
	const char *file;
	const char *name;
	uint64_t executed;
	uint32_t line;
	uint32_t reserved;
};

struct ntrace_coverage;

/**
 * ntrace_coverage_free - free a coverage with its lines and results
 * @coverage: coverage made by ntrace_coverage_make(); NULL is allowed
 */
NTRACE_EXPERIMENTAL void ntrace_coverage_free(struct ntrace_coverage *coverage);

/**
 * struct ntrace_coverage_options - objects of a profile to look at
 * @size: sizeof(struct ntrace_coverage_options) of the caller
 * @object: look at this object only; NULL = all executed objects
 * @directories: of debug files, as for ntrace_lines_open()
 * @without: called with the error of ntrace_lines_open() for each object without lines; may be NULL
 * @data: passed to @without
 */
struct ntrace_coverage_options {
	size_t size;
	const struct ntrace_object *object;
	const char *const *directories;
	void (*without)(void *data, const struct ntrace_profile_object *object, int error);
	void *data;
};

/**
 * ntrace_coverage_make - the coverage of a profile
 * @coverage: the new coverage, to be freed with ntrace_coverage_free(); may be empty
 * @profile: a profile that has ended; no longer needed after the call
 * @options: NULL: all executed objects
 *
 * Return: 0, NTRACE_ERR_INVALID (options), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_coverage_make(struct ntrace_coverage **coverage,
					     struct ntrace_profile *profile,
					     const struct ntrace_coverage_options *options);

/**
 * ntrace_coverage_lines - lines sorted by file and number
 * @coverage: coverage made by ntrace_coverage_make()
 * @count: set to the number of lines
 *
 * Return: array owned by the coverage.
 */
NTRACE_EXPERIMENTAL const struct ntrace_coverage_line *
ntrace_coverage_lines(const struct ntrace_coverage *coverage, size_t *count);

/**
 * ntrace_coverage_branches - branches sorted by file, line, object and address
 * @coverage: coverage made by ntrace_coverage_make()
 * @count: set to the number of branches
 *
 * Return: array owned by the coverage; may be NULL if @count is 0.
 */
NTRACE_EXPERIMENTAL const struct ntrace_coverage_branch *
ntrace_coverage_branches(const struct ntrace_coverage *coverage, size_t *count);

/**
 * ntrace_coverage_functions - functions sorted by file, line and name
 * @coverage: coverage made by ntrace_coverage_make()
 * @count: set to the number of functions
 *
 * Return: array owned by the coverage; may be NULL if @count is 0.
 */
NTRACE_EXPERIMENTAL const struct ntrace_coverage_function *
ntrace_coverage_functions(const struct ntrace_coverage *coverage, size_t *count);

/**
 * ntrace_coverage_lines_of - the lines of an object
 * @coverage: coverage made by ntrace_coverage_make()
 * @object: one of ntrace_profile_objects(), compared by pointer
 *
 * Return: owned by the coverage; NULL if the coverage does not have the object.
 */
NTRACE_EXPERIMENTAL const struct ntrace_lines *
ntrace_coverage_lines_of(const struct ntrace_coverage *coverage,
			 const struct ntrace_object *object);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_COVERAGE_H */
