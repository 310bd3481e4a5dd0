// SPDX-License-Identifier: GPL-2.0-only
/* Decoding in several threads, and counting with it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "jobs.h"
#include "ui.h"

unsigned int jobs_default(void)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	return count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (unsigned int)count;
}

unsigned int jobs_for(const struct recording *recording, unsigned int jobs)
{
	unsigned int streams = ntrace_session_streams(recording->session);

	if (!jobs)
		jobs = jobs_default();
	return jobs < streams ? jobs : streams ? streams : 1;
}

int jobs_option(const struct options *options, unsigned int *jobs)
{
	uint64_t number;

	if (!option_number(options, "jobs", 1, JOBS_MAX, &number))
		return EXIT_USAGE;
	*jobs = (unsigned int)number;
	return EXIT_OK;
}

/**
 * struct team - what all jobs share
 * @taking: held while @profiling takes a profile
 */
struct team {
	const struct profiling *profiling;
	pthread_mutex_t taking;
};

struct job {
	struct team *team;
	struct ntrace_profile *profile;
};

static int take(struct job *job)
{
	const struct profiling *profiling = job->team->profiling;
	int error;

	pthread_mutex_lock(&job->team->taking);
	error = profiling->take(profiling->data, job->profile);
	pthread_mutex_unlock(&job->team->taking);
	return error;
}

/* Moves the traces out of a profile that has too many of them. */
static int spill_if_full(struct job *job, int error)
{
	size_t most = job->team->profiling->traces_max;

	if (error || !most || ntrace_profile_trace_count(job->profile) <= most)
		return error;
	error = take(job);
	ntrace_profile_forget_traces(job->profile);
	return error;
}

static int count_event(void *data, const struct ntrace_session_event *event)
{
	struct job *job = data;

	return spill_if_full(job, ntrace_profile_event(job->profile, event));
}

static int count_segment(void *data, const struct ntrace_segment *segment)
{
	struct job *job = data;

	return spill_if_full(job, ntrace_profile_segment(job->profile, segment));
}

static int count_end(void *data, unsigned int stream)
{
	struct job *job = data;

	(void)stream;
	return ntrace_profile_end(job->profile);
}

static bool wants_stream(void *data, unsigned int stream)
{
	const struct team *team = data;

	return !team->profiling->wants || team->profiling->wants(team->profiling->data, stream);
}

static int decode(struct recording *recording, struct team *team, void **jobs, unsigned int count,
		  struct recording_totals *totals)
{
	const struct ntrace_profile_options *selection = team->profiling->selection;
	const struct ntrace_decode_options options = {
		.stream = NTRACE_ALL_STREAMS,
		.needs = NTRACE_NEEDS_SUMS |
			 (selection->threads || selection->by_process ? NTRACE_NEEDS_THREADS : 0),
		.event = count_event,
		.segment = count_segment,
		.end = count_end,
		.wants = wants_stream,
		.data = team,
		.jobs = count,
		.job_data = jobs,
	};

	return recording_decode(recording, team->profiling->what, &options, totals);
}

int recording_profile(struct recording *recording, const struct profiling *profiling,
		      struct recording_totals *totals)
{
	struct team team = { .profiling = profiling, .taking = PTHREAD_MUTEX_INITIALIZER };
	struct ntrace_profile_options selection = *profiling->selection;
	unsigned int count = jobs_for(recording, profiling->jobs), i;
	struct job *jobs = calloc(count, sizeof(*jobs));
	void **pointers = calloc(count, sizeof(*pointers));
	int error = jobs && pointers ? 0 : NTRACE_ERR_NOMEM, saved;

	selection.session = recording->session;
	for (i = 0; i < count && !error; i++) {
		jobs[i].team = &team;
		pointers[i] = &jobs[i];
		error = ntrace_profile_new(&jobs[i].profile, &selection);
	}
	if (!error)
		error = decode(recording, &team, pointers, count, totals);
	saved = errno;
	for (i = 0; i < count && !error; i++)
		error = take(&jobs[i]);
	for (i = 0; jobs && i < count; i++)
		ntrace_profile_free(jobs[i].profile);
	free(pointers);
	free(jobs);
	errno = saved;
	return error;
}
