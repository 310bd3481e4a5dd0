/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace export: perf.data files that have branch stacks, and no trace. */
#ifndef NTRACE_TOOL_EXPORT_SAMPLES_H
#define NTRACE_TOOL_EXPORT_SAMPLES_H

#include <ntrace/export.h>

#include "common/input.h"

/**
 * export_count_samples - add all branch stacks of a file to a profile
 * @recording: open; it has samples
 * @path: of it, for messages
 *
 * Says what it found, and what is missing in it. Return: 0 or enum ntrace_error.
 */
int export_count_samples(struct recording *recording, const char *path,
			 struct ntrace_profile *profile);

/**
 * export_write_samples - give all branch stacks of a file to an export of samples
 * @selection: only its process, and its privileges
 *
 * Return: 0 or enum ntrace_error.
 */
int export_write_samples(struct recording *recording, struct ntrace_export_samples *samples,
			 const struct ntrace_profile_options *selection);

#endif /* NTRACE_TOOL_EXPORT_SAMPLES_H */
