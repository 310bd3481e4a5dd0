/* SPDX-License-Identifier: GPL-2.0-only */
/* Source lines of what was executed, and what has none. */
#ifndef NTRACE_TOOL_PROFILE_COVERAGE_H
#define NTRACE_TOOL_PROFILE_COVERAGE_H

#include <stdio.h>

#include <ntrace/coverage.h>

/**
 * struct coverage_options - of what, and from where
 * @object: only this one; NULL = all that were executed
 * @sysroot: debug files are looked for in its usr/lib/debug too; NULL: not
 * @note: gets a sentence for each object that has no lines; borrowed text
 * @data: for @note
 */
struct coverage_options {
	struct ntrace_object *object;
	const char *sysroot;
	void (*note)(void *data, const char *text);
	void *data;
};

/**
 * debug_directories - where debug files are, for ntrace_lines_open()
 * @sysroot: may be NULL
 *
 * Return: array that ends with NULL, to be freed with debug_directories_free(); NULL when out of
 * memory.
 */
char **debug_directories(const char *sysroot);
void debug_directories_free(char **directories);

/**
 * open_source - open a source file under the path that the compiler had, or that below @sysroot
 *
 * Return: NULL if there is none, or it is no regular file.
 */
FILE *open_source(const char *path, const char *sysroot);

/**
 * coverage_make - the coverage of a profile that has ended
 * @coverage: the new one, ended too; may be empty
 *
 * Return: 0 or enum ntrace_error.
 */
int coverage_make(struct ntrace_coverage **coverage, struct ntrace_profile *profile,
		  const struct coverage_options *options);

#endif /* NTRACE_TOOL_PROFILE_COVERAGE_H */
