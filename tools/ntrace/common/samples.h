/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds up the branch stacks of a perf.data file, and counts ignored samples and transfers. */
#ifndef NTRACE_TOOL_COMMON_SAMPLES_H
#define NTRACE_TOOL_COMMON_SAMPLES_H

#include <ntrace/profile.h>

#include "input.h"

/**
 * struct samples - samples of a file, and their use
 * @read: samples read
 * @used: transfers of their branch stacks, used and ignored
 */
struct samples {
	struct ntrace_session_sample_counts read;
	struct ntrace_profile_sample_counts used;
};

/**
 * samples_count - add all branch stacks of a file to a profile, and end the profile
 * @recording: open, with samples
 *
 * Return: 0 or enum ntrace_error.
 */
int samples_count(struct recording *recording, struct ntrace_profile *profile,
		  struct samples *samples);

/** samples_losses - call @line with a sentence for each kind of sample that was not counted */
void samples_losses(const struct samples *samples, void (*line)(void *data, const char *text),
		    void *data);

#endif /* NTRACE_TOOL_COMMON_SAMPLES_H */
