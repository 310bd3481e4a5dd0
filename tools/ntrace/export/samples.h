/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: perf.data files with branch stacks and without trace. */
#ifndef NTRACE_TOOL_EXPORT_SAMPLES_H
#define NTRACE_TOOL_EXPORT_SAMPLES_H

#include <ntrace/export.h>

#include "common/input.h"

/**
 * export_count_samples - add all branch stacks of a file to a profile
 * @recording: open recording with samples
 * @path: its path, for messages
 *
 * Prints the number of samples and warnings about losses. Return: 0 or enum ntrace_error.
 */
int export_count_samples(struct recording *recording, const char *path,
			 struct ntrace_profile *profile);

/**
 * export_write_samples - write all selected branch stacks of a file as samples
 * @selection: process and privileges
 *
 * Return: 0 or enum ntrace_error.
 */
int export_write_samples(struct recording *recording, struct ntrace_export_samples *samples,
			 const struct ntrace_profile_options *selection);

#endif /* NTRACE_TOOL_EXPORT_SAMPLES_H */
