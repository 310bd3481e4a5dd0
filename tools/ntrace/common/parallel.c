// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the streams of a recording in several threads.
 *
 * A session belongs to one thread, so each thread opens the recording itself and takes the next
 * stream that nobody has. The profiles of the streams are added up in the order of the streams, with
 * one thread as with many, so that the result does not depend on the number of threads.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "parallel.h"
#include "ui.h"

unsigned int jobs_default(void)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	return count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (unsigned int)count;
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
 * struct part - one stream
 * @profile: its counts
 * @notes: of its decoding; owned, NULL-terminated if there are any
 * @bytes: decoded so far
 * @gaps: gaps and errors of the flow
 * @error: result, with @saved_errno
 */
struct part {
	struct ntrace_profile *profile;
	char **notes;
	uint64_t bytes;
	uint64_t gaps;
	int error;
	int saved_errno;
	bool wanted;
	bool done;
};

/**
 * struct team - the threads and their work
 * @parts: of all streams
 * @count: number of streams
 * @next: first stream that no thread has taken
 * @last: streams after this one are not needed: this one failed
 * @lock: of everything that changes
 * @ended: a part is done
 */
struct team {
	const struct profiling *profiling;
	struct part *parts;
	unsigned int count;
	unsigned int next;
	unsigned int last;
	struct progress progress;
	uint64_t done;
	pthread_mutex_t lock;
	pthread_cond_t ended;
};

/* A thread that decodes a stream. */
struct worker {
	struct team *team;
	struct recording *recording;
	struct part *part;
	pthread_t thread;
	struct recording own;
	bool started;
};

/* Moves the traces out of a profile that has too many of them. */
static int spill_if_full(struct worker *worker, int error)
{
	const struct profiling *profiling = worker->team->profiling;
	struct ntrace_profile *profile = worker->part->profile;

	if (error || !profiling->traces_max ||
	    ntrace_profile_trace_count(profile) <= profiling->traces_max)
		return error;
	pthread_mutex_lock(&worker->team->lock);
	error = profiling->take(profiling->data, profile);
	pthread_mutex_unlock(&worker->team->lock);
	ntrace_profile_forget_traces(profile);
	return error;
}

static int count_event(void *data, const struct ntrace_session_event *event)
{
	struct worker *worker = data;

	return spill_if_full(worker, ntrace_profile_event(worker->part->profile, event));
}

static int count_segment(void *data, const struct ntrace_segment *segment)
{
	struct worker *worker = data;

	return spill_if_full(worker, ntrace_profile_segment(worker->part->profile, segment));
}

static int count_end(void *data, unsigned int stream)
{
	struct worker *worker = data;

	(void)stream;
	return ntrace_profile_end(worker->part->profile);
}

/* Shows how much all threads have decoded. Return: not 0: the stream is not needed any more. */
static int show_progress(void *data, unsigned int stream, uint64_t bytes)
{
	struct team *team = data;
	int stop;

	pthread_mutex_lock(&team->lock);
	team->done += bytes - team->parts[stream].bytes;
	team->parts[stream].bytes = bytes;
	progress_update(&team->progress, team->done);
	stop = stream > team->last;
	pthread_mutex_unlock(&team->lock);
	return stop;
}

/* Takes the notes from number @from on out of the recording's. */
static void take_notes(struct part *part, const struct recording *recording, size_t from)
{
	size_t count = recording->note_count - from, i;

	if (!count)
		return;
	part->notes = calloc(count + 1, sizeof(*part->notes));
	for (i = 0; part->notes && i < count; i++)
		part->notes[i] = strdup(recording->notes[from + i]);
}

static void count_part(struct worker *worker, unsigned int stream)
{
	const struct profiling *profiling = worker->team->profiling;
	struct ntrace_profile_options selection = *profiling->selection;
	struct recording *recording = worker->recording;
	const struct ntrace_decode_options options = {
		.stream = stream,
		.needs = NTRACE_NEEDS_SUMS |
			 (selection.pid >= 0 || selection.by_process ? NTRACE_NEEDS_THREADS : 0),
		.event = count_event,
		.segment = count_segment,
		.end = count_end,
		.data = worker,
	};
	struct recording_totals totals = { 0 };
	struct part *part = &worker->team->parts[stream];
	size_t notes = recording->note_count;

	worker->part = part;
	selection.session = recording->session;
	errno = 0;
	part->error = ntrace_profile_new(&part->profile, &selection);
	if (!part->error)
		part->error = recording_decode(recording, NULL, &options, &totals);
	part->gaps = totals.gaps;
	part->saved_errno = errno;
	take_notes(part, recording, notes);
}

/* The next stream to count. Return: false: there is none. */
static bool take_stream(struct team *team, unsigned int *stream)
{
	bool found;

	pthread_mutex_lock(&team->lock);
	while (team->next < team->count && !team->parts[team->next].wanted)
		team->next++;
	found = team->next < team->count && team->next <= team->last;
	*stream = found ? team->next++ : 0;
	pthread_mutex_unlock(&team->lock);
	return found;
}

static void end_part(struct team *team, unsigned int stream)
{
	struct part *part = &team->parts[stream];

	pthread_mutex_lock(&team->lock);
	if (part->error && stream < team->last)
		team->last = stream;
	part->done = true;
	pthread_cond_broadcast(&team->ended);
	pthread_mutex_unlock(&team->lock);
}

static void count_parts(struct worker *worker)
{
	struct recording *recording = worker->recording;
	struct team *team = worker->team;
	unsigned int stream;

	recording->tell = show_progress;
	recording->tell_data = team;
	while (take_stream(team, &stream)) {
		count_part(worker, stream);
		end_part(team, stream);
	}
	recording->tell = NULL;
}

/* A recording that cannot be opened again has given a message. */
static void *work(void *data)
{
	const struct profiling *profiling = ((struct worker *)data)->team->profiling;
	struct recording_options options = *profiling->options;
	struct worker *worker = data;
	unsigned int stream;

	options.quiet = true;
	worker->recording = &worker->own;
	if (!recording_open(&worker->own, profiling->command, profiling->path, &options)) {
		count_parts(worker);
		recording_close(&worker->own);
		return NULL;
	}
	while (take_stream(worker->team, &stream)) {
		worker->team->parts[stream].error = EXIT_FAILED;
		end_part(worker->team, stream);
	}
	return NULL;
}

/* Passes on a stream that has ended. Return: 0 or an error. */
static int join_part(struct team *team, struct recording *recording, struct part *part,
		     struct recording_totals *totals)
{
	const struct profiling *profiling = team->profiling;
	int error = part->error;
	size_t i;

	for (i = 0; part->notes && part->notes[i]; i++) {
		recording_note(recording, part->notes[i]);
		free(part->notes[i]);
	}
	free(part->notes);
	part->notes = NULL;
	totals->gaps += part->gaps;
	errno = part->saved_errno;
	if (!error) {
		pthread_mutex_lock(&team->lock);
		error = profiling->take(profiling->data, part->profile);
		pthread_mutex_unlock(&team->lock);
	}
	ntrace_profile_free(part->profile);
	part->profile = NULL;
	return error;
}

/* Waits for the streams in their order. */
static int join_parts(struct team *team, struct recording *recording,
		      struct recording_totals *totals)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < team->count && !error; i++) {
		if (!team->parts[i].wanted)
			continue;
		pthread_mutex_lock(&team->lock);
		while (!team->parts[i].done)
			pthread_cond_wait(&team->ended, &team->lock);
		pthread_mutex_unlock(&team->lock);
		error = join_part(team, recording, &team->parts[i], totals);
	}
	if (!error)
		return 0;
	pthread_mutex_lock(&team->lock);
	team->last = 0;
	team->next = team->count;
	pthread_mutex_unlock(&team->lock);
	return error;
}

/* One thread: the recording that is open already serves it. */
static int count_alone(struct team *team, struct recording *recording,
		       struct recording_totals *totals)
{
	struct worker worker = { .team = team, .recording = recording };
	unsigned int stream;
	int error = 0;

	recording->tell = show_progress;
	recording->tell_data = team;
	while (!error && take_stream(team, &stream)) {
		count_part(&worker, stream);
		error = join_part(team, recording, &team->parts[stream], totals);
	}
	recording->tell = NULL;
	return error;
}

static int count_together(struct team *team, struct recording *recording, unsigned int jobs,
			  struct recording_totals *totals)
{
	struct worker *workers = calloc(jobs, sizeof(*workers));
	unsigned int started = 0, i;
	int error = 0, saved;

	if (!workers)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < jobs; i++) {
		workers[i].team = team;
		workers[i].started = !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		started += workers[i].started;
	}
	/* Without a thread, this one does the work. */
	error = started ? join_parts(team, recording, totals) :
			  count_alone(team, recording, totals);
	saved = errno;
	for (i = 0; i < jobs; i++) {
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
	}
	free(workers);
	errno = saved;
	return error;
}

/* Marks the streams to count. Return: their number. */
static unsigned int choose_parts(struct team *team, const struct recording *recording,
				 uint64_t *bytes)
{
	const struct profiling *profiling = team->profiling;
	unsigned int count = 0, i;

	*bytes = 0;
	for (i = 0; i < team->count; i++) {
		team->parts[i].wanted = range_has_stream(&recording->range, i) &&
					(!profiling->wants || profiling->wants(profiling->data, i));
		if (!team->parts[i].wanted)
			continue;
		*bytes += ntrace_session_stream(recording->session, i)->bytes;
		count++;
	}
	return count;
}

static void free_parts(struct team *team)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < team->count; i++) {
		ntrace_profile_free(team->parts[i].profile);
		for (k = 0; team->parts[i].notes && team->parts[i].notes[k]; k++)
			free(team->parts[i].notes[k]);
		free(team->parts[i].notes);
	}
	free(team->parts);
}

int recording_profile(struct recording *recording, const struct profiling *profiling,
		      struct recording_totals *totals)
{
	struct team team = { .profiling = profiling,
			     .count = ntrace_session_streams(recording->session),
			     .last = UINT32_MAX,
			     .lock = PTHREAD_MUTEX_INITIALIZER,
			     .ended = PTHREAD_COND_INITIALIZER };
	unsigned int jobs = profiling->jobs ? profiling->jobs : jobs_default(), wanted;
	uint64_t bytes;
	int error, saved;

	recording_sums(recording, totals);
	team.parts = calloc(team.count + 1u, sizeof(*team.parts));
	if (!team.parts)
		return NTRACE_ERR_NOMEM;
	wanted = choose_parts(&team, recording, &bytes);
	if (jobs > wanted)
		jobs = wanted;
	/* To open a file again means to copy the trace out of it again. */
	if (recording->file)
		jobs = 1;
	progress_begin(&team.progress, profiling->what, bytes);
	error = jobs > 1 ? count_together(&team, recording, jobs, totals) :
			   count_alone(&team, recording, totals);
	saved = errno;
	progress_end(&team.progress);
	free_parts(&team);
	errno = saved;
	return error;
}
