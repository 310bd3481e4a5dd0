/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoding in several threads, with the same result for every number of them. */
#ifndef NTRACE_TOOL_COMMON_JOBS_H
#define NTRACE_TOOL_COMMON_JOBS_H

#include <ntrace/profile.h>

#include "input.h"

#define JOBS_MAX 1024

/* Row of a command's option table. */
#define JOBS_OPTION                                                                                \
	{                                                                                          \
		OPTION_JOBS, "jobs", "N", "threads to decode with (all processors)"                \
	}
enum { OPTION_JOBS = 'j' };

/** jobs_default - number of processors that this process may use */
unsigned int jobs_default(void);

/** jobs_for - number of jobs to decode @recording with; @jobs: what the user wants, 0 = all processors */
unsigned int jobs_for(const struct recording *recording, unsigned int jobs);

/** jobs_option - the value of --jobs. Return: EXIT_OK, or EXIT_USAGE after an error message */
int jobs_option(const struct options *options, unsigned int *jobs);

/**
 * struct profiling - what to count, and how
 * @selection: of the profiles; session is set
 * @what: text of the progress line
 * @jobs: number of threads; 0 = all processors
 * @wants: whether to count a stream; NULL: all that the options select
 * @traces_max: number of traces above which @take is called, also before the end; 0: no limit
 * @take: takes the traces of a profile, which are forgotten after the call. Several calls do not run at the
 *        same time
 * @data: passed to @wants and @take
 */
struct profiling {
	const struct ntrace_profile_options *selection;
	const char *what;
	unsigned int jobs;
	bool (*wants)(void *data, unsigned int stream);
	size_t traces_max;
	int (*take)(void *data, struct ntrace_profile *profile);
	void *data;
};

/**
 * recording_profile - count the streams of a recording
 * @recording: open
 * @totals: filled in
 *
 * Return: 0, the result of @take if greater than 0, or enum ntrace_error (errno is kept).
 */
int recording_profile(struct recording *recording, const struct profiling *profiling,
		      struct recording_totals *totals);

#endif /* NTRACE_TOOL_COMMON_JOBS_H */
