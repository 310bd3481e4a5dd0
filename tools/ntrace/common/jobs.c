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
	struct ntrace_stacks *stacks;
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
	int error = job->profile ? ntrace_profile_event(job->profile, event) : 0;

	if (job->stacks && !error)
		error = ntrace_stacks_event(job->stacks, event);
	return spill_if_full(job, error);
}

static int count_segment(void *data, const struct ntrace_segment *segment)
{
	struct job *job = data;
	int error = job->profile ? ntrace_profile_segment(job->profile, segment) : 0;

	if (job->stacks && !error)
		error = ntrace_stacks_segment(job->stacks, segment);
	return spill_if_full(job, error);
}

static int count_leave(void *data, const struct ntrace_leave *leave)
{
	struct job *job = data;

	return ntrace_stacks_leave(job->stacks, leave);
}

/* Streams that are decoded in turns end together. */
static int count_end(void *data, unsigned int stream)
{
	struct job *job = data;

	(void)stream;
	return job->stacks ? 0 : ntrace_profile_end(job->profile);
}

static bool wants_stream(void *data, unsigned int stream)
{
	const struct team *team = data;

	return !team->profiling->wants || team->profiling->wants(team->profiling->data, stream);
}

static int decode(struct recording *recording, struct team *team, void **jobs, unsigned int count,
		  struct recording_totals *totals)
{
	const struct profiling *profiling = team->profiling;
	const struct ntrace_profile_options *selection = profiling->selection;
	bool by_thread = selection->pid >= 0 || selection->by_process;
	const struct ntrace_decode_options options = {
		.stream = NTRACE_ALL_STREAMS,
		.needs = (profiling->profile || profiling->take ? NTRACE_NEEDS_SUMS : 0) |
			 (profiling->stacks ? NTRACE_NEEDS_TURNS : 0) |
			 (profiling->runs ? NTRACE_NEEDS_RUNS : 0) |
			 (by_thread ? NTRACE_NEEDS_THREADS : 0),
		.event = count_event,
		.segment = count_segment,
		.leave = profiling->stacks ? count_leave : NULL,
		.end = count_end,
		.wants = wants_stream,
		.data = team,
		.jobs = count,
		.job_data = jobs,
	};

	return recording_decode(recording, profiling->what, &options, totals);
}

/* Makes the receivers of a job; the first one has those that take everything. */
static int make_job(struct team *team, struct job *job, const struct job *first,
		    const struct ntrace_profile_options *selection)
{
	const struct profiling *profiling = team->profiling;
	struct ntrace_stacks_options stacks;
	int error = 0;

	job->team = team;
	job->profile = job == first ? profiling->profile : NULL;
	job->stacks = job == first ? profiling->stacks : NULL;
	if (!job->profile && (profiling->profile || profiling->take))
		error = ntrace_profile_new(&job->profile, selection);
	if (error || job == first || !profiling->stacks)
		return error;
	stacks = *profiling->stacks_options;
	stacks.beside = profiling->stacks;
	return ntrace_stacks_new(&job->stacks, &stacks);
}

/* Ends what a job has received, and adds it to the rest. */
static int end_job(struct job *job)
{
	const struct profiling *profiling = job->team->profiling;
	int error = job->profile ? ntrace_profile_end(job->profile) : 0;

	if (!error && job->stacks)
		error = ntrace_stacks_end(job->stacks);
	if (!error && profiling->take)
		return take(job);
	if (!error && job->profile && job->profile != profiling->profile)
		error = ntrace_profile_merge(profiling->profile, job->profile);
	if (!error && job->stacks && job->stacks != profiling->stacks)
		error = ntrace_stacks_merge(profiling->stacks, job->stacks);
	return error;
}

static void free_job(struct job *job)
{
	const struct profiling *profiling = job->team ? job->team->profiling : NULL;

	if (!profiling)
		return;
	if (job->profile != profiling->profile)
		ntrace_profile_free(job->profile);
	if (job->stacks != profiling->stacks)
		ntrace_stacks_free(job->stacks);
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
		pointers[i] = &jobs[i];
		error = make_job(&team, &jobs[i], &jobs[0], &selection);
	}
	if (!error)
		error = decode(recording, &team, pointers, count, totals);
	saved = errno;
	for (i = 0; i < count && !error; i++)
		error = end_job(&jobs[i]);
	for (i = 0; jobs && i < count; i++)
		free_job(&jobs[i]);
	free(pointers);
	free(jobs);
	errno = saved;
	return error;
}
