// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the branch stacks of a perf.data file. */
#include <stdio.h>

#include "samples.h"
#include "ui.h"

struct counting {
	struct ntrace_profile *profile;
	struct samples *samples;
};

static int count_sample(void *data, const struct ntrace_session_sample *sample)
{
	struct counting *counting = data;

	return ntrace_profile_sample(counting->profile, sample, &counting->samples->used);
}

int samples_count(struct recording *recording, struct ntrace_profile *profile,
		  struct samples *samples)
{
	struct counting counting = { .profile = profile, .samples = samples };
	int error;

	*samples = (struct samples){ 0 };
	error = ntrace_session_samples(recording->session, count_sample, &counting, &samples->read);
	return error ? error : ntrace_profile_end(profile);
}

void samples_losses(const struct samples *samples, void (*line)(void *data, const char *text),
		    void *data)
{
	const struct {
		uint64_t count;
		const char *what;
	} losses[] = {
		{ samples->read.without, "samples have no branch stack and were ignored" },
		{ samples->read.damaged, "damaged samples were ignored" },
		{ samples->used.outside, "transfers are between addresses without known code: the "
					 "kernel, or missing files" },
		{ samples->used.broken, "pairs of transfers are not connected by straight-line "
					"code: their instructions are not counted" },
	};
	char number[UI_NUMBER_SIZE], text[256];
	size_t i;

	for (i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		if (!losses[i].count)
			continue;
		snprintf(text, sizeof(text), "%s %s", ui_number(number, losses[i].count),
			 losses[i].what);
		line(data, text);
	}
}
