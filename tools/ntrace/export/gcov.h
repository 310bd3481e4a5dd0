/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: the profile that GCC reads. */
#ifndef NTRACE_TOOL_EXPORT_GCOV_H
#define NTRACE_TOOL_EXPORT_GCOV_H

#include <ntrace/export.h>

/**
 * export_gcov - write the profile of a program
 * @file: written to
 * @profile: one that has ended
 * @object: the program
 * @sysroot: debug files are looked for in its usr/lib/debug too; NULL: not
 * @version: of the format
 *
 * Says what it wrote. Return: 0, NTRACE_ERR_UNSUPPORTED where the program has no line numbers, or
 * another enum ntrace_error.
 */
int export_gcov(FILE *file, struct ntrace_profile *profile, struct ntrace_object *object,
		const char *sysroot, uint32_t version);

#endif /* NTRACE_TOOL_EXPORT_GCOV_H */
