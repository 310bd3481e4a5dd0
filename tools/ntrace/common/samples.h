/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch stacks of a perf.data file, added up, and what was left out of them. */
#ifndef NTRACE_TOOL_COMMON_SAMPLES_H
#define NTRACE_TOOL_COMMON_SAMPLES_H

#include <ntrace/profile.h>

#include "input.h"

/**
 * struct samples - what a file has, and what became of it
 * @read: samples
 * @used: transfers of their branch stacks
 */
struct samples {
	struct ntrace_session_sample_counts read;
	struct ntrace_profile_sample_counts used;
};

/**
 * samples_count - add all branch stacks of a file to a profile, and end it
 * @recording: open; it has samples
 *
 * Return: 0 or enum ntrace_error.
 */
int samples_count(struct recording *recording, struct ntrace_profile *profile,
		  struct samples *samples);

/** samples_losses - a sentence to @line for each kind of thing that is not in the counts */
void samples_losses(const struct samples *samples, void (*line)(void *data, const char *text),
		    void *data);

#endif /* NTRACE_TOOL_COMMON_SAMPLES_H */
