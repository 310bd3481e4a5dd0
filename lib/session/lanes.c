// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lanes: see lanes.h. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backlog.h"
#include "decode.h"
#include "turns.h"

#define QUANTUM (UINT64_C(1) << 19) /* bytes of a backlog */
#define BACKLOG_MAX (4 * QUANTUM)

enum lane_state {
	LANE_WAITS,
	LANE_READY,
	LANE_AHEAD,
	LANE_DELIVERS,
};

/**
 * struct session_lane - one stream
 * @options: those of the job; with turns, this lane is the receiver
 * @receiver: the options with the receiver of the job
 * @stats: totals of the stream
 * @runs: signalled when the lane may go on
 * @state: enum lane_state; changed with the lock only
 * @wanted: the turn that it enters; NULL: it can go on
 * @position: turns before this one are over
 * @delivered: bytes of all items; the lane delivers until they are @until
 * @begun: @decoding exists
 * @started: so does @thread
 * @ended: it has delivered all
 */
struct session_lane {
	struct session_lanes *lanes;
	struct ntrace_decode_options options;
	struct ntrace_decode_options receiver;
	struct ntrace_flow_stats stats;
	struct decoding decoding;
	struct backlog backlog;
	pthread_t thread;
	pthread_cond_t runs;
	atomic_int state;
	const struct turn *wanted;
	size_t position;
	uint64_t delivered;
	uint64_t until;
	unsigned int stream;
	unsigned int job;
	bool begun;
	bool started;
	bool ended;
};

/**
 * struct session_lanes - all streams
 * @wanted: number of lanes; a single one needs no thread of its own
 * @jobs: number of receivers
 * @ahead: number of lanes that may run ahead
 * @lock: of all that lanes see of each other
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
	unsigned int ahead;
	pthread_mutex_t lock;
	atomic_int stop;
	int stop_errno;
};

/* ---- which lane goes on; all with the lock ---- */

static bool is_over(const struct session_lanes *lanes, const struct turn *turn)
{
	const struct session_lane *before;

	if (turn->before_stream == TURN_NO_STREAM)
		return true;
	before = &lanes->items[turn->before_stream];
	return before->ended || before->position > turn->before;
}

static bool may_deliver(const struct session_lane *lane)
{
	return atomic_load(&lane->state) == LANE_DELIVERS;
}

static bool has_room(const struct session_lane *lane)
{
	return backlog_size(&lane->backlog) < BACKLOG_MAX;
}

/* Of the lanes of @job that can go on, the one that has delivered least. @any: of all. NULL: none. */
static struct session_lane *find_next(struct session_lanes *lanes, unsigned int job, bool any)
{
	struct session_lane *next = NULL;

	for (unsigned int i = 0; i < lanes->count; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (!lane->started || lane->ended || lane->job != job ||
		    (!any && lane->wanted && !is_over(lanes, lane->wanted)))
			continue;
		if (!next || lane->delivered < next->delivered)
			next = lane;
	}
	return next;
}

/* Chooses the lane of @job that delivers; none does. After the stop, none will. */
static void choose_lane(struct session_lanes *lanes, unsigned int job)
{
	struct session_lane *next = find_next(lanes, job, false);

	/* Should not happen: the turn that begins first never waits. */
	if (!next)
		next = find_next(lanes, job, true);
	if (!next || atomic_load(&lanes->stop))
		return;
	next->wanted = NULL;
	next->until = next->delivered + QUANTUM;
	atomic_store(&next->state, LANE_DELIVERS);
	pthread_cond_signal(&next->runs);
}

/* Lets lanes run ahead, as many as may. */
static void let_run_ahead(struct session_lanes *lanes)
{
	unsigned int ahead = 0;

	for (unsigned int i = 0; i < lanes->count; i++)
		ahead += atomic_load(&lanes->items[i].state) == LANE_AHEAD;
	for (unsigned int i = 0; i < lanes->count && ahead < lanes->ahead; i++) {
		struct session_lane *lane = &lanes->items[i];

		if (atomic_load(&lane->state) != LANE_READY)
			continue;
		atomic_store(&lane->state, LANE_AHEAD);
		pthread_cond_signal(&lane->runs);
		ahead++;
	}
}

/* ---- the present lane ---- */

/* Waits until the lane may deliver or, if @ahead and it has room, run ahead. Return: 0, or what stops decoding. */
static int wait_for_lane(struct session_lane *lane, bool ahead)
{
	struct session_lanes *lanes = lane->lanes;
	int stop;

	pthread_mutex_lock(&lanes->lock);
	if (!may_deliver(lane)) {
		atomic_store(&lane->state, ahead && has_room(lane) ? LANE_READY : LANE_WAITS);
		let_run_ahead(lanes);
	}
	while (atomic_load(&lane->state) < LANE_AHEAD && !atomic_load(&lanes->stop))
		pthread_cond_wait(&lane->runs, &lanes->lock);
	stop = atomic_load(&lanes->stop);
	pthread_mutex_unlock(&lanes->lock);
	return stop;
}

/* Another lane may deliver, or this one goes on. */
static void give_way(struct session_lane *lane)
{
	struct session_lanes *lanes = lane->lanes;

	pthread_mutex_lock(&lanes->lock);
	atomic_store(&lane->state, has_room(lane) ? LANE_READY : LANE_WAITS);
	choose_lane(lanes, lane->job);
	let_run_ahead(lanes);
	pthread_mutex_unlock(&lanes->lock);
}

/* The lane delivers that its hart enters a turn, and waits if it has to. */
static void enter_turn(struct session_lane *lane, const struct turn *turn, size_t index)
{
	bool waits;

	pthread_mutex_lock(&lane->lanes->lock);
	lane->position = index;
	waits = turn && !is_over(lane->lanes, turn);
	if (waits)
		lane->wanted = turn;
	pthread_mutex_unlock(&lane->lanes->lock);
	if (waits)
		give_way(lane);
}

static int pass_event(struct session_lane *lane, const struct ntrace_session_event *event)
{
	lane->delivered += sizeof(struct backlog_item);
	return lane->receiver.event(lane->receiver.data, event);
}

static int pass_segment(struct session_lane *lane, const struct ntrace_segment *segment)
{
	lane->delivered += backlog_segment_size(segment);
	return lane->receiver.segment(lane->receiver.data, segment);
}

/* Delivers what waits, as long as the lane may. */
static int deliver_backlog(struct session_lane *lane)
{
	const struct backlog_item *item;
	int result = 0;

	while (!result && may_deliver(lane) && (item = backlog_first(&lane->backlog))) {
		if (lane->delivered >= lane->until) {
			give_way(lane);
			result = atomic_load(&lane->lanes->stop);
			continue;
		}
		if (item->type == BACKLOG_EVENT)
			result = pass_event(lane, &item->event);
		else if (item->type == BACKLOG_SEGMENT)
			result = pass_segment(lane, &item->segment);
		else
			enter_turn(lane, item->turn, item->index);
		backlog_drop_first(&lane->backlog);
	}
	return result;
}

/* Whether the lane may deliver the next item without a copy. */
static bool may_deliver_now(const struct session_lane *lane)
{
	return may_deliver(lane) && backlog_is_empty(&lane->backlog) &&
	       lane->delivered < lane->until;
}

/* After an item was added: delivers what waits. Return: 0: the lane may decode on. */
static int deliver_and_wait(struct session_lane *lane, int result)
{
	if (!result)
		result = atomic_load(&lane->lanes->stop);
	while (!result) {
		result = deliver_backlog(lane);
		if (may_deliver(lane) ||
		    (atomic_load(&lane->state) == LANE_AHEAD && has_room(lane)))
			break;
		if (!result)
			result = wait_for_lane(lane, true);
	}
	return result;
}

/* Delivers all that waits; afterwards the lane may deliver. */
static int deliver_all(struct session_lane *lane)
{
	int result = atomic_load(&lane->lanes->stop);

	while (!result) {
		result = deliver_backlog(lane);
		if (may_deliver(lane))
			break;
		if (!result)
			result = wait_for_lane(lane, false);
	}
	return result;
}

int session_lane_flush(struct session_lane *lane)
{
	return backlog_is_empty(&lane->backlog) ? 0 : deliver_all(lane);
}

static int receive_event(void *data, const struct ntrace_session_event *event)
{
	struct session_lane *lane = data;

	return may_deliver_now(lane) ?
		       pass_event(lane, event) :
		       deliver_and_wait(lane, backlog_add_event(&lane->backlog, event));
}

static int receive_segment(void *data, const struct ntrace_segment *segment)
{
	struct session_lane *lane = data;

	return may_deliver_now(lane) ?
		       pass_segment(lane, segment) :
		       deliver_and_wait(lane, backlog_add_segment(&lane->backlog, segment));
}

int session_lane_enter(struct session_lane *lane, size_t index, bool certain,
		       struct ntrace_session_event *event)
{
	const struct turns *turns = &lane->lanes->turns;
	const struct turn *turn = NULL;

	event->turn = 0;
	event->origin = NULL;
	event->made = 0;
	if (certain && index < turns->counts[lane->stream]) {
		turn = &turns->streams[lane->stream][index];
		event->turn = turn->number;
		event->origin = turn->origin;
		event->made = turn->made;
	}
	return deliver_and_wait(lane, backlog_add_turn(&lane->backlog, turn, index));
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
	const struct ntrace_decode_options *receiver = &lane->receiver;
	int result = begin_lane(lane), rest, saved;

	if (result)
		return result;
	result = decoding_run(&lane->decoding, NULL, 0);
	saved = errno;
	/* What came before an error is delivered before it; the progress function stops at once. */
	rest = result <= 0 ? deliver_all(lane) : 0;
	if (rest)
		result = rest;
	else
		errno = saved;
	decoding_end(&lane->decoding);
	lane->begun = false;
	return result || !receiver->end ? result : receiver->end(receiver->data, lane->stream);
}

/* The lane has ended, with @result. */
static void end_lane(struct session_lane *lane, int result)
{
	struct session_lanes *lanes = lane->lanes;
	int saved = errno;

	pthread_mutex_lock(&lanes->lock);
	lane->ended = true;
	if (result && !atomic_load(&lanes->stop)) {
		lanes->stop_errno = saved;
		atomic_store(&lanes->stop, result);
		for (unsigned int i = 0; i < lanes->count; i++)
			if (lanes->items[i].started)
				pthread_cond_signal(&lanes->items[i].runs);
	}
	if (may_deliver(lane))
		choose_lane(lanes, lane->job);
	atomic_store(&lane->state, LANE_WAITS);
	let_run_ahead(lanes);
	pthread_mutex_unlock(&lanes->lock);
}

static void *run_lane(void *data)
{
	struct session_lane *lane = data;
	int result = wait_for_lane(lane, true);

	errno = 0;
	end_lane(lane, result ? result : decode_lane(lane));
	backlog_free(&lane->backlog);
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
	if (error)
		atomic_store(&lanes->stop, NTRACE_ERR_NOMEM);
	for (unsigned int job = 0; job < lanes->jobs; job++)
		choose_lane(lanes, job);
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
			largest->receiver.data = largest->options.data =
				lanes->options->job_data[least];
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
		lane->options.event = receive_event;
		lane->options.segment = lane->receiver.segment ? receive_segment : NULL;
		lane->options.data = lane;
		result = begin_lane(lane);
		lane->decoding.lane = lane;
		followers[i] = &lane->decoding.follower;
	}
	if (!result)
		result = turns_make(&lanes->turns, followers, lanes->count);
	free(followers);
	return result;
}

/* A receiver of turns has the stacks of all threads: one lane delivers, and the other jobs run ahead. */
static void share_jobs(struct session_lanes *lanes)
{
	const struct ntrace_decode_options *options = lanes->options;
	bool turns = options->needs & NTRACE_NEEDS_TURNS;
	unsigned int jobs = options->jobs < lanes->wanted ? options->jobs : lanes->wanted;

	lanes->jobs = jobs && options->job_data && !turns ? jobs : 1;
	/*
	 * With a range nothing is counted, and only a flow that counts says before code changes to which a backlog
	 * refers (flow_keep_runs()). A part is decoded to be looked at: it is short.
	 */
	lanes->ahead = jobs && turns && !options->range ? jobs - 1 : 0;
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
		lanes->items[i] = (struct session_lane){ .lanes = lanes,
							 .options = *options,
							 .receiver = *options,
							 .stream = i,
							 .job = UINT32_MAX };
		lanes->items[i].options.stats = &lanes->items[i].stats;
		lanes->wanted++;
	}
	share_jobs(lanes);
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
	turns_free(&lanes.turns);
	errno = saved;
	return result;
}
