// SPDX-License-Identifier: GPL-2.0-only
/* ntrace export: perf.data files that have branch stacks, and no trace. */
#include <ntrace/ingress.h>

#include "export_samples.h"
#include "ui.h"

struct counting {
	struct ntrace_profile *profile;
	struct ntrace_profile_sample_counts counts;
};

static int count_sample(void *data, const struct ntrace_session_sample *sample)
{
	struct counting *counting = data;

	return ntrace_profile_sample(counting->profile, sample, &counting->counts);
}

static void say_samples(const char *path, const struct ntrace_session_sample_counts *samples,
			const struct ntrace_profile_sample_counts *counts)
{
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];

	say("%s: %s samples with %s transfers: counts are those of the samples", path,
	    ui_number(number, samples->samples), ui_number(other, counts->transfers));
	if (samples->without)
		warn("%s: %s samples have no branch stack and are not used", path,
		     ui_number(number, samples->without));
	if (samples->damaged)
		warn("%s: %s damaged samples are left out", path,
		     ui_number(number, samples->damaged));
	if (counts->outside)
		warn("%s: %s transfers are between places whose code is not known: the kernel, or "
		     "files that are not here",
		     path, ui_number(number, counts->outside));
	if (counts->broken)
		warn("%s: between %s pairs of transfers no straight way leads through the code: "
		     "the instructions there are not counted",
		     path, ui_number(number, counts->broken));
}

int export_count_samples(struct recording *recording, const char *path,
			 struct ntrace_profile *profile)
{
	struct counting counting = { .profile = profile };
	struct ntrace_session_sample_counts counts;
	int error;

	error = ntrace_session_samples(recording->session, count_sample, &counting, &counts);
	if (!error)
		error = ntrace_profile_end(profile);
	if (!error)
		say_samples(path, &counts, &counting.counts);
	return error;
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

	if ((selection->pid >= 0 && selection->pid != event.pid) ||
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
