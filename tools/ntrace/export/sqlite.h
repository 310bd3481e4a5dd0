/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: databases of SQLite. */
#ifndef NTRACE_TOOL_EXPORT_SQLITE_H
#define NTRACE_TOOL_EXPORT_SQLITE_H

#include <ntrace/profile.h>

#include "common/input.h"

/**
 * struct export_sqlite_options - what to write
 * @recording: open recording
 * @path: its path, for messages
 * @output: path of the file; NULL = standard output
 * @selection: process and privileges
 * @jobs: number of threads; 0 = all processors
 * @text: the table calls as text, instead of the database
 * @values: calls have arguments and results
 */
struct export_sqlite_options {
	struct recording *recording;
	const char *path;
	const char *output;
	const struct ntrace_profile_options *selection;
	unsigned int jobs;
	bool text;
	bool values;
};

/**
 * export_sqlite - decode a recording and write its database
 *
 * Prints totals and losses. Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int export_sqlite(const struct export_sqlite_options *options);

#endif /* NTRACE_TOOL_EXPORT_SQLITE_H */
