/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by the kinds of sample files. */
#ifndef NTRACE_EXPORT_SAMPLES_H
#define NTRACE_EXPORT_SAMPLES_H

#include <ntrace/export.h>

/* First member of the struct of each kind. */
struct ntrace_export_samples {
	int (*sample)(struct ntrace_export_samples *samples, const struct ntrace_sample *sample);
	int (*branch)(struct ntrace_export_samples *samples,
		      const struct ntrace_sample_branch *branch,
		      const struct ntrace_session_event *event);
	int (*close)(struct ntrace_export_samples *samples);
	struct ntrace_export_counts counts;
};

#endif
