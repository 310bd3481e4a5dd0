/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Coverage: source lines, branches and functions with exact counts.
 *
 * How often a line was executed is not written anywhere: it is spread over
 * instructions, some of which may stand in front of a loop and others in it. Of
 * each copy of a line (one for each function and for each time that this was
 * inlined) the instruction that was executed most often counts; copies add up.
 * The line that a function is declared in counts as its first instruction.
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
 * @file: path; owned by the coverage, as all texts here
 * @executed: times
 * @line: number
 */
struct ntrace_coverage_line {
	const char *file;
	uint64_t executed;
	uint32_t line;
	uint32_t reserved;
};

/**
 * struct ntrace_coverage_branch - a conditional branch in the code of a line
 * @address: link address in its object
 * @executed: times
 * @taken: times that it was taken; else control went on behind it
 */
struct ntrace_coverage_branch {
	const char *file;
	uint64_t address;
	uint64_t executed;
	uint64_t taken;
	uint32_t line;
	uint32_t object;	/* number of the object, in the order in which they were added */
};

/**
 * struct ntrace_coverage_function - a function that has code of its own
 * @name: linkage name (mangled)
 * @executed: times that its first instruction was executed
 * @line: that it is declared in
 */
struct ntrace_coverage_function {
	const char *file;
	const char *name;
	uint64_t executed;
	uint32_t line;
	uint32_t reserved;
};

struct ntrace_coverage;

/** ntrace_coverage_new - an empty one, NULL when out of memory */
NTRACE_EXPERIMENTAL struct ntrace_coverage *ntrace_coverage_new(void);
NTRACE_EXPERIMENTAL void ntrace_coverage_free(struct ntrace_coverage *coverage);

/**
 * ntrace_coverage_add - add an object with all that has lines, executed or not
 * @coverage: a coverage
 * @profile: a profile that has ended; not needed any more afterwards
 * @object: one of ntrace_profile_objects(), each only once
 * @directories: of debug files, as for ntrace_lines_open()
 *
 * Return: 0, as ntrace_lines_open() if it has no lines, or NTRACE_ERR_NOMEM (then a part was
 * added).
 */
NTRACE_EXPERIMENTAL int ntrace_coverage_add(struct ntrace_coverage *coverage,
					    struct ntrace_profile *profile,
					    struct ntrace_object *object,
					    const char *const *directories);

/**
 * ntrace_coverage_end - add up: behind the last object, once, before the results are read
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_coverage_end(struct ntrace_coverage *coverage);

/**
 * struct ntrace_coverage_options - objects of a profile to look at
 * @size: sizeof(struct ntrace_coverage_options) of the caller
 * @object: look at this object only; NULL = all executed objects
 * @directories: of debug files, as for ntrace_lines_open()
 * @without: called for each object without lines, with the error of ntrace_lines_open(); may be NULL
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
 * ntrace_coverage_make - make the coverage of a profile
 * @coverage: the new one, which has ended, to be freed with ntrace_coverage_free(); may be empty
 * @profile: a profile that has ended; not needed any more afterwards
 * @options: NULL: all executed objects
 *
 * Return: 0, NTRACE_ERR_INVALID (options), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_coverage_make(struct ntrace_coverage **coverage,
					     struct ntrace_profile *profile,
					     const struct ntrace_coverage_options *options);

/** ntrace_coverage_lines - by file and number. Return: array owned by the coverage */
NTRACE_EXPERIMENTAL const struct ntrace_coverage_line *
ntrace_coverage_lines(const struct ntrace_coverage *coverage, size_t *count);

/** ntrace_coverage_branches - by file, line, object and address. Return: likewise */
NTRACE_EXPERIMENTAL const struct ntrace_coverage_branch *
ntrace_coverage_branches(const struct ntrace_coverage *coverage, size_t *count);

/** ntrace_coverage_functions - by file, line and name. Return: likewise */
NTRACE_EXPERIMENTAL const struct ntrace_coverage_function *
ntrace_coverage_functions(const struct ntrace_coverage *coverage, size_t *count);

/**
 * ntrace_coverage_lines_of - the lines of an object that was added
 *
 * Return: owned by the coverage; NULL if it was not added, or has none.
 */
NTRACE_EXPERIMENTAL const struct ntrace_lines *
ntrace_coverage_lines_of(const struct ntrace_coverage *coverage,
			 const struct ntrace_object *object);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_COVERAGE_H */
