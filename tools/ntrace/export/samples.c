// SPDX-License-Identifier: GPL-2.0-only
/* ntrace export: perf.data files with branch stacks and without trace. */
#include <ntrace/ingress.h>

#include "common/samples.h"
#include "common/ui.h"
#include "samples.h"

static void print_loss(void *data, const char *text)
{
	warn("%s: %s", (const char *)data, text);
}

int export_count_samples(struct recording *recording, const char *path,
			 struct ntrace_profile *profile)
{
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	struct samples samples;
	int error = samples_count(recording, profile, &samples);

	if (error)
		return error;
	say("%s: %s samples with %s transfers: counts are those of the samples", path,
	    ui_number(number, samples.read.samples), ui_number(other, samples.used.transfers));
	samples_losses(&samples, print_loss, (void *)(uintptr_t)path);
	return 0;
}

struct writing {
	struct ntrace_export_samples *samples;
	const struct ntrace_profile_options *selection;
};

static int write_sample(void *data, const struct ntrace_session_sample *sample)
{
	struct writing *writing = data;
	const struct ntrace_profile_options *selection = writing->selection;
	const struct ntrace_flow_event flow = { .type = NTRACE_FLOW_BLOCK, .space = sample->space };
	const struct ntrace_session_event event = {
		.flow = &flow,
		.pid = sample->sample->pid,
		.tid = sample->sample->tid,
		.comm = sample->comm,
		.privilege = sample->sample->kernel ? NTRACE_PRIV_S : NTRACE_PRIV_U,
	};
	struct ntrace_sample_branch branches[NTRACE_SAMPLE_DEPTH_MAX] = { 0 };
	struct ntrace_sample made = { .address = sample->sample->address,
				      .event = &event,
				      .branches = branches };

	if (!ntrace_thread_filter_passes(selection->threads, event.pid, event.tid, event.comm) ||
	    (selection->privileges && !(selection->privileges >> event.privilege & 1)))
		return 0;
	while (made.count < sample->sample->branch_count && made.count < NTRACE_SAMPLE_DEPTH_MAX) {
		struct ntrace_sample_branch *branch = &branches[made.count];

		ntrace_perf_sample_branch(sample->sample, made.count++, &branch->from, &branch->to);
	}
	return ntrace_export_sample(writing->samples, &made);
}

int export_write_samples(struct recording *recording, struct ntrace_export_samples *samples,
			 const struct ntrace_profile_options *selection)
{
	struct writing writing = { .samples = samples, .selection = selection };

	return ntrace_session_samples(recording->session, write_sample, &writing, NULL);
}
