/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: databases of SQLite. */
#ifndef NTRACE_TOOL_EXPORT_SQLITE_H
#define NTRACE_TOOL_EXPORT_SQLITE_H

#include <ntrace/profile.h>

#include "common/input.h"

/**
 * export_sqlite - decode a recording and write its database
 * @path: path of the recording, for messages
 * @output: path of the database
 * @selection: process and privileges
 * @jobs: number of threads; 0 = all processors
 *
 * Prints totals and losses. Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int export_sqlite(struct recording *recording, const char *path, const char *output,
		  const struct ntrace_profile_options *selection, unsigned int jobs);

#endif /* NTRACE_TOOL_EXPORT_SQLITE_H */
