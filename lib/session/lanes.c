// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lanes: see lanes.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "turns.h"

/**
 * struct session_lane - one stream
 * @runs: signalled when the lane may go on
 * @position: turns before this one are over
 * @wanted: the turn that it enters; NULL: it can go on
 * @ended: it has delivered all
 * @result: 0 or why it stopped, with @saved_errno
 */
struct session_lane {
	struct session_lanes *lanes;
	struct decoding decoding;
	pthread_t thread;
	pthread_cond_t runs;
	const struct turn *wanted;
	size_t position;
	unsigned int stream;
	int result;
	int saved_errno;
	bool begun;
	bool started;
	bool ended;
};

/**
 * struct session_lanes - all streams
 * @lock: held by the lane that runs, and for every change of the lanes
 * @running: the lane that runs; NULL: none yet, or all have ended
 * @stop: not 0: decoding stops with this result
 */
struct session_lanes {
	const struct ntrace_decode_options *options;
	struct ntrace_session *session;
	struct turns turns;
	struct session_lane *items;
	unsigned int count;
	pthread_mutex_t lock;
	struct session_lane *running;
	int stop;
};

static bool is_over(const struct session_lanes *lanes, const struct turn *turn)
{
	const struct session_lane *before;

	if (lanes->stop || turn->before_stream == TURN_NO_STREAM)
		return true;
	before = &lanes->items[turn->before_stream];
	return before->ended || before->position > turn->before;
}

/* Lets the next lane run. @except: a lane that has to wait; it is chosen if no other can run. */
static void choose_lane(struct session_lanes *lanes, struct session_lane *except)
{
	struct session_lane *chosen = NULL;

	for (unsigned int i = 0; i < lanes->count && !chosen; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (lane->started && !lane->ended &&
		    (!lane->wanted || is_over(lanes, lane->wanted)))
			chosen = lane;
	}
	/* Should not happen: the turn that begins first never waits. */
	lanes->running = chosen ? chosen : except;
	if (lanes->running)
		pthread_cond_signal(&lanes->running->runs);
}

static void wait_for_lane(struct session_lane *lane)
{
	while (lane->lanes->running != lane)
		pthread_cond_wait(&lane->runs, &lane->lanes->lock);
	lane->wanted = NULL;
}

int session_lane_enter(struct session_lane *lane, size_t index, bool certain,
		       struct ntrace_session_event *event)
{
	struct session_lanes *lanes = lane->lanes;
	const struct turn *turn = NULL;

	lane->position = index;
	event->turn = 0;
	event->origin = NULL;
	if (certain && index < lanes->turns.counts[lane->stream]) {
		turn = &lanes->turns.streams[lane->stream][index];
		event->turn = turn->number;
		event->origin = turn->origin;
	}
	if (turn && !is_over(lanes, turn)) {
		lane->wanted = turn;
		choose_lane(lanes, lane);
		wait_for_lane(lane);
	}
	return lanes->stop;
}

static int decode_lane(struct session_lane *lane)
{
	const struct ntrace_decode_options *options = lane->lanes->options;
	const struct session_walk walk =
		session_walk_of(lane->lanes->session, lane->stream, options);
	int result = lane->lanes->stop;

	if (!result)
		result = decoding_run(&lane->decoding, &walk);
	return result || !options->end ? result : options->end(options->data, lane->stream);
}

static void *run_lane(void *data)
{
	struct session_lane *lane = data;
	struct session_lanes *lanes = lane->lanes;

	pthread_mutex_lock(&lanes->lock);
	wait_for_lane(lane);
	errno = 0;
	lane->result = decode_lane(lane);
	lane->saved_errno = errno;
	lane->ended = true;
	if (lane->result && !lanes->stop)
		lanes->stop = lane->result;
	choose_lane(lanes, NULL);
	pthread_mutex_unlock(&lanes->lock);
	return NULL;
}

/* Starts a thread for each lane; they wait until all have started. Return: 0 or NTRACE_ERR_NOMEM. */
static int start_lanes(struct session_lanes *lanes)
{
	int error = 0;

	pthread_mutex_lock(&lanes->lock);
	for (unsigned int i = 0; i < lanes->count && !error; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (!lane->begun)
			continue;
		pthread_cond_init(&lane->runs, NULL);
		error = pthread_create(&lane->thread, NULL, run_lane, lane);
		lane->started = !error;
		if (error)
			pthread_cond_destroy(&lane->runs);
	}
	/* The lanes that have started end without a call of the receiver. */
	error = error ? NTRACE_ERR_NOMEM : 0;
	lanes->stop = error;
	choose_lane(lanes, NULL);
	pthread_mutex_unlock(&lanes->lock);
	return error;
}

static int run_lanes(struct session_lanes *lanes)
{
	int result = start_lanes(lanes), saved = errno;

	for (unsigned int i = 0; i < lanes->count; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (!lane->started)
			continue;
		pthread_join(lane->thread, NULL);
		pthread_cond_destroy(&lane->runs);
		if (lane->result && lane->result == lanes->stop && !result) {
			result = lane->result;
			saved = lane->saved_errno;
		}
	}
	errno = saved;
	return result;
}

/* Prepares a lane for each stream that is to be decoded, and orders their turns. */
static int begin_lanes(struct session_lanes *lanes)
{
	struct follower **followers = calloc(lanes->count + 1u, sizeof(*followers));
	const struct ntrace_decode_options *options = lanes->options;
	int result = followers ? 0 : NTRACE_ERR_NOMEM;

	for (unsigned int i = 0; i < lanes->count && !result; i++) {
		struct session_lane *lane = &lanes->items[i];

		lane->lanes = lanes;
		lane->stream = i;
		if (options->stream != NTRACE_ALL_STREAMS && options->stream != i)
			continue;
		result = decoding_begin(&lane->decoding, lanes->session, i, options,
					!options->range);
		lane->begun = !result;
		lane->decoding.lane = lane;
		followers[i] = &lane->decoding.follower;
	}
	if (!result)
		result = turns_make(&lanes->turns, followers, lanes->count);
	free(followers);
	return result;
}

int session_decode_lanes(struct ntrace_session *session,
			 const struct ntrace_decode_options *options)
{
	struct session_lanes lanes = { .options = options,
				       .session = session,
				       .count = ntrace_session_streams(session),
				       .lock = PTHREAD_MUTEX_INITIALIZER };
	int result, saved;

	lanes.items = calloc(lanes.count + 1u, sizeof(*lanes.items));
	result = lanes.items ? begin_lanes(&lanes) : NTRACE_ERR_NOMEM;
	if (!result)
		result = run_lanes(&lanes);
	saved = errno;
	for (unsigned int i = 0; lanes.items && i < lanes.count; i++)
		if (lanes.items[i].begun)
			decoding_end(&lanes.items[i].decoding);
	free(lanes.items);
	turns_free(&lanes.turns);
	errno = saved;
	return result;
}
