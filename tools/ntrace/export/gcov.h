/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: the profile that GCC reads. */
#ifndef NTRACE_TOOL_EXPORT_GCOV_H
#define NTRACE_TOOL_EXPORT_GCOV_H

#include <ntrace/export.h>

/**
 * export_gcov - write the profile of a program
 * @file: output
 * @profile: ended
 * @object: the program
 * @roots: see files_roots()
 * @version: version of the format
 * @empty: set to whether the profile is empty, after an error message
 *
 * Prints a summary. Return: 0, NTRACE_ERR_UNSUPPORTED if the program has no line numbers, or
 * another enum ntrace_error.
 */
int export_gcov(FILE *file, struct ntrace_profile *profile, struct ntrace_object *object,
		const char *const *roots, uint32_t version, bool *empty);

#endif /* NTRACE_TOOL_EXPORT_GCOV_H */
