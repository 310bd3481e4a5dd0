/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles of counts files. */
#ifndef NTRACE_TOOL_COMMON_COUNTS_LOAD_H
#define NTRACE_TOOL_COMMON_COUNTS_LOAD_H

#include <ntrace/counts_file.h>

/**
 * counts_load - add the counts of a file to a profile
 * @profile: NULL is set to a new profile, also on failure, unless it stays NULL
 * @options: what to load, and where the programs are
 * @totals: set to those of the entries that are loaded
 *
 * Warns of losses and missing parts. Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int counts_load(struct ntrace_profile **profile, const char *path,
		const struct ntrace_counts_load_options *options,
		struct ntrace_counts_totals *totals);

#endif /* NTRACE_TOOL_COMMON_COUNTS_LOAD_H */
