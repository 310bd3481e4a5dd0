// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Code shared by all kinds of sample files. */
#include "samples.h"

int ntrace_export_sample(void *samples, const struct ntrace_sample *sample)
{
	struct ntrace_export_samples *export = samples;

	return export->sample(export, sample);
}

int ntrace_export_branch(void *samples, const struct ntrace_sample_branch *branch,
			 const struct ntrace_session_event *event)
{
	struct ntrace_export_samples *export = samples;

	return export->branch ? export->branch(export, branch, event) : 0;
}

int ntrace_export_samples_close(struct ntrace_export_samples *samples,
				struct ntrace_export_counts *counts)
{
	if (!samples)
		return 0;
	if (counts)
		*counts = samples->counts;
	return samples->close(samples);
}
