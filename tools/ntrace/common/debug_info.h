/* SPDX-License-Identifier: GPL-2.0-only */
/* Debug files, source files, and messages about code without source lines. */
#ifndef NTRACE_TOOL_COMMON_DEBUG_INFO_H
#define NTRACE_TOOL_COMMON_DEBUG_INFO_H

#include <stdio.h>

#include <ntrace/coverage.h>

/**
 * struct coverage_options - objects to look at, and where their files are
 * @object: look at this object only; NULL = all executed objects
 * @sysroot: also search its usr/lib/debug for debug files; may be NULL
 * @note: called with a sentence for each object without lines or functions; the text is borrowed
 * @data: passed to @note
 */
struct coverage_options {
	struct ntrace_object *object;
	const char *sysroot;
	void (*note)(void *data, const char *text);
	void *data;
};

/**
 * debug_directories - directories of debug files, for ntrace_lines_open()
 * @sysroot: may be NULL
 *
 * Return: array that ends with NULL, to be freed with debug_directories_free(); NULL when out of
 * memory.
 */
char **debug_directories(const char *sysroot);
void debug_directories_free(char **directories);

/**
 * open_source - open a source file by the path in the debug information, or below @sysroot
 *
 * Return: NULL if there is no such regular file.
 */
FILE *open_source(const char *path, const char *sysroot);

/**
 * debug_missing - a sentence about functions whose debug information was not found
 *
 * Return: string to be freed, NULL if nothing is missing.
 */
char *debug_missing(const struct ntrace_object *object);

/**
 * coverage_make - make the coverage of a profile that has ended
 * @coverage: set to the new coverage, also ended; may be empty
 *
 * Return: 0 or enum ntrace_error.
 */
int coverage_make(struct ntrace_coverage **coverage, struct ntrace_profile *profile,
		  const struct coverage_options *options);

#endif /* NTRACE_TOOL_COMMON_DEBUG_INFO_H */
