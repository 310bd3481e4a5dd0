// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lanes: see lanes.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode.h"
#include "turns.h"

/**
 * struct session_lane - one stream
 * @options: those of the job
 * @stats: totals of the stream
 * @runs: signalled when the lane may go on
 * @wanted: the turn that it enters; NULL: it can go on
 * @position: turns before this one are over
 * @begun: @decoding exists
 * @started: so does @thread
 * @ended: it has delivered all
 */
struct session_lane {
	struct session_lanes *lanes;
	struct ntrace_decode_options options;
	struct ntrace_flow_stats stats;
	struct decoding decoding;
	pthread_t thread;
	pthread_cond_t runs;
	const struct turn *wanted;
	size_t position;
	unsigned int stream;
	unsigned int job;
	bool begun;
	bool started;
	bool ended;
};

/**
 * struct session_lanes - all streams
 * @wanted: number of lanes; a single one needs no thread of its own
 * @lock: of all that lanes see of each other
 * @running: for each job, the lane that runs; NULL: none can
 * @stop: not 0: decoding stops with the result of the lane that failed first, and its @stop_errno
 */
struct session_lanes {
	const struct ntrace_decode_options *options;
	struct ntrace_session *session;
	struct turns turns;
	struct session_lane *items;
	unsigned int count;
	unsigned int wanted;
	unsigned int jobs;
	pthread_mutex_t lock;
	struct session_lane **running;
	int stop;
	int stop_errno;
};

static bool is_over(const struct session_lanes *lanes, const struct turn *turn)
{
	const struct session_lane *before;

	if (lanes->stop || turn->before_stream == TURN_NO_STREAM)
		return true;
	before = &lanes->items[turn->before_stream];
	return before->ended || before->position > turn->before;
}

static void run_next(struct session_lanes *lanes, struct session_lane *lane)
{
	lanes->running[lane->job] = lane;
	pthread_cond_signal(&lane->runs);
}

/* Lets a lane run in each job that has none, if it can. */
static void choose_lanes(struct session_lanes *lanes)
{
	struct session_lane *waiting = NULL;
	bool any = false;

	for (unsigned int i = 0; i < lanes->count; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (!lane->started || lane->ended)
			continue;
		if (!lanes->running[lane->job] && (!lane->wanted || is_over(lanes, lane->wanted)))
			run_next(lanes, lane);
		any |= lanes->running[lane->job] != NULL;
		if (!waiting)
			waiting = lane;
	}
	/* Should not happen: the turn that begins first never waits. */
	if (!any && waiting)
		run_next(lanes, waiting);
}

/* The lane waits until it is chosen. */
static void wait_for_lane(struct session_lane *lane)
{
	while (lane->lanes->running[lane->job] != lane)
		pthread_cond_wait(&lane->runs, &lane->lanes->lock);
	lane->wanted = NULL;
}

int session_lane_enter(struct session_lane *lane, size_t index, bool certain,
		       struct ntrace_session_event *event)
{
	struct session_lanes *lanes = lane->lanes;
	const struct turn *turn = NULL;
	int stop;

	event->turn = 0;
	event->origin = NULL;
	event->made = 0;
	if (certain && index < lanes->turns.counts[lane->stream]) {
		turn = &lanes->turns.streams[lane->stream][index];
		event->turn = turn->number;
		event->origin = turn->origin;
		event->made = turn->made;
	}
	pthread_mutex_lock(&lanes->lock);
	lane->position = index;
	if (turn && !is_over(lanes, turn)) {
		lane->wanted = turn;
		lanes->running[lane->job] = NULL;
	}
	choose_lanes(lanes);
	wait_for_lane(lane);
	stop = lanes->stop;
	pthread_mutex_unlock(&lanes->lock);
	return stop;
}

static int begin_lane(struct session_lane *lane)
{
	struct session_lanes *lanes = lane->lanes;
	int result;

	if (lane->begun)
		return 0;
	result = decoding_begin(&lane->decoding, lanes->session, lane->stream, &lane->options,
				!lane->options.range);
	lane->begun = !result;
	return result;
}

static int decode_lane(struct session_lane *lane)
{
	const struct ntrace_decode_options *options = &lane->options;
	const struct session_walk walk =
		session_walk_of(lane->lanes->session, lane->stream, options);
	int result = begin_lane(lane);

	if (result)
		return result;
	result = decoding_run(&lane->decoding, &walk);
	decoding_end(&lane->decoding);
	lane->begun = false;
	return result || !options->end ? result : options->end(options->data, lane->stream);
}

static void *run_lane(void *data)
{
	struct session_lane *lane = data;
	struct session_lanes *lanes = lane->lanes;
	int result, saved;

	pthread_mutex_lock(&lanes->lock);
	wait_for_lane(lane);
	result = lanes->stop;
	pthread_mutex_unlock(&lanes->lock);
	errno = 0;
	if (!result)
		result = decode_lane(lane);
	saved = errno;
	pthread_mutex_lock(&lanes->lock);
	lane->ended = true;
	if (result && !lanes->stop) {
		lanes->stop = result;
		lanes->stop_errno = saved;
	}
	lanes->running[lane->job] = NULL;
	choose_lanes(lanes);
	pthread_mutex_unlock(&lanes->lock);
	return NULL;
}

/* Starts a thread for each lane; they wait until all have started, or stop without memory. */
static void start_lanes(struct session_lanes *lanes)
{
	int error = 0;

	pthread_mutex_lock(&lanes->lock);
	for (unsigned int i = 0; i < lanes->count && !error; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (!lane->lanes)
			continue;
		pthread_cond_init(&lane->runs, NULL);
		if (lanes->wanted > 1)
			error = pthread_create(&lane->thread, NULL, run_lane, lane);
		lane->started = !error;
		if (error)
			pthread_cond_destroy(&lane->runs);
	}
	/* The lanes that have started end without a call of the receiver. */
	lanes->stop = error ? NTRACE_ERR_NOMEM : 0;
	choose_lanes(lanes);
	pthread_mutex_unlock(&lanes->lock);
}

static int run_lanes(struct session_lanes *lanes)
{
	start_lanes(lanes);
	for (unsigned int i = 0; i < lanes->count; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (!lane->started)
			continue;
		if (lanes->wanted > 1)
			pthread_join(lane->thread, NULL);
		else
			run_lane(lane);
		pthread_cond_destroy(&lane->runs);
	}
	errno = lanes->stop_errno;
	return lanes->stop;
}

/* Each lane goes to the job with the fewest bytes, the largest streams first. */
static int divide(struct session_lanes *lanes)
{
	uint64_t *bytes = calloc(lanes->jobs, sizeof(*bytes));

	if (!bytes)
		return NTRACE_ERR_NOMEM;
	for (;;) {
		struct session_lane *largest = NULL;
		unsigned int least = 0;

		for (unsigned int i = 0; i < lanes->count; i++) {
			struct session_lane *lane = &lanes->items[i];

			if (lane->lanes && lane->job == UINT32_MAX &&
			    (!largest || lanes->session->streams[i].bytes >
						 lanes->session->streams[largest->stream].bytes))
				largest = lane;
		}
		if (!largest)
			break;
		for (unsigned int i = 1; i < lanes->jobs; i++)
			if (bytes[i] < bytes[least])
				least = i;
		largest->job = least;
		bytes[least] += lanes->session->streams[largest->stream].bytes + 1;
		if (lanes->options->job_data)
			largest->options.data = lanes->options->job_data[least];
	}
	free(bytes);
	return 0;
}

/* Orders the turns of all streams. */
static int order_turns(struct session_lanes *lanes)
{
	struct follower **followers = calloc(lanes->count + 1u, sizeof(*followers));
	int result = followers ? 0 : NTRACE_ERR_NOMEM;

	for (unsigned int i = 0; i < lanes->count && !result; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (!lane->lanes)
			continue;
		result = begin_lane(lane);
		lane->decoding.lane = lane;
		followers[i] = &lane->decoding.follower;
	}
	if (!result)
		result = turns_make(&lanes->turns, followers, lanes->count);
	free(followers);
	return result;
}

/* Prepares a lane for each stream that is to be decoded. */
static int make_lanes(struct session_lanes *lanes)
{
	const struct ntrace_decode_options *options = lanes->options;
	int error;

	lanes->items = calloc(lanes->count + 1u, sizeof(*lanes->items));
	if (!lanes->items)
		return NTRACE_ERR_NOMEM;
	for (unsigned int i = 0; i < lanes->count; i++) {
		if (options->stream != NTRACE_ALL_STREAMS && options->stream != i)
			continue;
		if (options->wants && !options->wants(options->data, i))
			continue;
		/* Each decoder takes megabytes: not for streams that fail at once. */
		if (access(ntrace_session_stream(lanes->session, i)->file, R_OK))
			return NTRACE_ERR_IO;
		lanes->items[i] = (struct session_lane){
			.lanes = lanes, .options = *options, .stream = i, .job = UINT32_MAX
		};
		lanes->items[i].options.stats = &lanes->items[i].stats;
		lanes->wanted++;
	}
	lanes->jobs = options->job_data && options->jobs > 1 ? options->jobs : 1;
	if (lanes->jobs > lanes->wanted && lanes->wanted)
		lanes->jobs = lanes->wanted;
	/* The receiver of turns has the stacks of all threads. */
	if (options->needs & NTRACE_NEEDS_TURNS)
		lanes->jobs = 1;
	lanes->running = calloc(lanes->jobs, sizeof(struct session_lane *));
	if (!lanes->running)
		return NTRACE_ERR_NOMEM;
	error = divide(lanes);
	return error || !(options->needs & NTRACE_NEEDS_TURNS) ? error : order_turns(lanes);
}

int session_decode_lanes(struct ntrace_session *session,
			 const struct ntrace_decode_options *options)
{
	struct session_lanes lanes = { .options = options,
				       .session = session,
				       .count = ntrace_session_streams(session),
				       .lock = PTHREAD_MUTEX_INITIALIZER };
	int result = make_lanes(&lanes), saved;

	if (!result)
		result = run_lanes(&lanes);
	saved = errno;
	for (unsigned int i = 0; lanes.items && i < lanes.count; i++) {
		if (lanes.items[i].begun)
			decoding_end(&lanes.items[i].decoding);
		if (options->stats)
			decoding_add_stats(options->stats, &lanes.items[i].stats);
	}
	free(lanes.items);
	free(lanes.running);
	turns_free(&lanes.turns);
	errno = saved;
	return result;
}
