/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands that write counts files share. */
#ifndef NTRACE_TOOL_COMMON_COUNTS_SUM_H
#define NTRACE_TOOL_COMMON_COUNTS_SUM_H

#include <stdbool.h>

#include <ntrace/counts_file.h>

/**
 * sum_failed - print why a call with a merger failed; uses errno. Return: EXIT_FAILED
 * @path: of the input, if the merger does not name one
 */
int sum_failed(const struct ntrace_counts_merger *merger, int error, const char *path);

/**
 * sum_write - write the sum of all inputs of a merger
 * @path: "-" is standard output. An existing file is replaced when the sum is complete
 * @totals: filled in
 * @empty: a sum without counts is a result; otherwise its file is not made, and the caller says why
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int sum_write(struct ntrace_counts_merger *merger, const char *path,
	      struct ntrace_counts_totals *totals, bool empty);

/** sum_say_losses - print warnings about code that was executed but is not counted, if any */
void sum_say_losses(const char *path, const struct ntrace_counts_losses *losses);

/**
 * sum_say_missing - print a warning about streams of recordings whose part is not in the counts
 *
 * Return: whether there are any.
 */
bool sum_say_missing(const char *path, const struct ntrace_counts_source *sources, size_t count);

/**
 * sum_say - print the totals, and warnings about saturated counts and losses, on standard error
 * @quiet: only the warnings
 */
void sum_say(const char *path, const struct ntrace_counts_totals *totals, bool quiet);

#endif /* NTRACE_TOOL_COMMON_COUNTS_SUM_H */
