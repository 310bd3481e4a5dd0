/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: profiles of counts files. */
#ifndef NTRACE_TOOL_EXPORT_COUNTS_H
#define NTRACE_TOOL_EXPORT_COUNTS_H

#include <ntrace/profile.h>

/**
 * export_load_counts - the profile of a counts file
 * @profile: set to a new profile, also on failure, unless it stays NULL
 * @sysroot: directory with the files of the recorded machine, or NULL
 * @label: only this process class; NULL = all
 * @privileges: only these privileges; 0 = all
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int export_load_counts(struct ntrace_profile **profile, const char *path, const char *sysroot,
		       const char *label, uint32_t privileges);

#endif /* NTRACE_TOOL_EXPORT_COUNTS_H */
