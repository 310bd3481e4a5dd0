// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lanes; see lane.h. */
#include <stdlib.h>
#include <string.h>

#include "lane.h"

/* Result of the callbacks: the window is full in the middle of a message. */
#define FULL 2
/* A window ends early when it has this much code. */
#define TEXT_MAX (4u << 20)
/* Bytes of trace between two calls of the store's stop. */
#define STOP_DISTANCE 65536

int lane_new(struct lane **lane, struct store *store, unsigned int index)
{
	struct lane *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->store = store;
	made->index = index;
	made->live = true;
	*lane = made;
	return 0;
}

void lane_free(struct lane *lane)
{
	if (!lane)
		return;
	lane_drop_checkpoints(lane);
	if (lane->source)
		source_free(lane->source);
	free(lane->runs);
	free(lane);
}

static void tally_time(struct tally *tally, bool known, uint64_t time)
{
	if (known)
		extend_times(&tally->first_time, &tally->last_time, &tally->time_known, time, time);
}

/* Whether the window has enough; a long message may exceed it. */
static bool is_full(const struct lane *lane, size_t items)
{
	return lane->window &&
	       (lane->window->items.count >= items || lane->window->text.count >= TEXT_MAX);
}

static int result(struct lane *lane, int failed)
{
	lane->failed = failed;
	if (failed)
		return failed;
	return is_full(lane, 2 * (size_t)lane->store->window_items) ? FULL : 0;
}

/* The first block after a loss may be that of another thread. */
static void note_lost(struct lane *lane, struct run *piece, const struct ntrace_flow_event *event)
{
	struct run *lost = &lane->lost;

	if (!event && lost->gap_items && (lost->pid != piece->pid || lost->tid != piece->tid)) {
		piece->gap = lost->gap;
		piece->gap_items = lost->gap_items;
	}
	if (event && event->type == NTRACE_FLOW_GAP)
		*lost = (struct run){ .pid = piece->pid,
				      .tid = piece->tid,
				      .gap = piece->first - lane->after_error,
				      .gap_items = 1 + lane->after_error };
	else if (!event)
		lost->gap_items = 0;
	lane->after_error = event && event->type == NTRACE_FLOW_ERROR;
}

/*
 * Items that are new belong to the thread of @piece, whose count is that of all. @event: NULL: they
 * are blocks
 */
static int note(struct lane *lane, struct run *piece, const struct ntrace_flow_event *event)
{
	uint64_t end = lane->tally.items;

	if (lane->store->raw || end <= lane->noted)
		return 0;
	note_lost(lane, piece, event);
	piece->lane = lane->index;
	if (piece->first < lane->noted)
		piece->first = lane->noted;
	piece->count = end - piece->first;
	lane->noted = end;
	return runs_note(lane, piece);
}

/* The first of the items that come next. */
static struct run next_piece(const struct lane *lane, const struct ntrace_session_event *at,
			     bool time_known, uint64_t time)
{
	return (struct run){ .pid = at->pid,
			     .tid = at->tid,
			     .comm = at->comm,
			     .first = lane->tally.items,
			     .first_ns = at->sideband_ns,
			     .last_ns = at->sideband_ns,
			     .first_time = time,
			     .last_time = time,
			     .time_known = time_known };
}

int lane_take_event(void *data, const struct ntrace_session_event *event)
{
	struct lane *lane = data;
	const struct ntrace_flow_event *flow = event->flow;
	const struct append append = { &lane->store->snapshots, &lane->context, lane->stamped };
	struct run piece = next_piece(lane, event, flow->time_known, flow->time);
	uint64_t number = lane->tally.items;
	int failed;

	lane->context = *flow->context;
	lane->tally.items++;
	tally_time(&lane->tally, flow->time_known, flow->time);
	failed = note(lane, &piece, flow);
	if (!failed && lane->window && number >= lane->from)
		failed = window_add_event(lane->window, &append, event);
	return result(lane, failed);
}

int lane_take_blocks(void *data, const struct ntrace_segment *blocks)
{
	struct lane *lane = data;
	const struct ntrace_block_batch *batch = blocks->batch;
	const struct append append = { &lane->store->snapshots, &lane->context, lane->stamped };
	struct run piece = next_piece(lane, &blocks->at, batch->time_known, batch->time);
	uint64_t number = lane->tally.items;
	uint64_t skip;
	int failed;

	for (size_t i = 0; i < batch->count; i++) {
		lane->tally.instructions += batch->blocks[i].instructions;
		if (number + i >= lane->noted)
			piece.instructions += batch->blocks[i].instructions;
	}
	lane->tally.items += batch->count;
	tally_time(&lane->tally, batch->time_known, batch->time);
	failed = note(lane, &piece, NULL);
	skip = number < lane->from ? lane->from - number : 0;
	if (!failed && lane->window && skip < batch->count)
		failed = window_add_blocks(lane->window, &append, blocks, (size_t)skip);
	return result(lane, failed);
}

/* Takes note of the farthest place. */
static void extend_known(struct lane *lane)
{
	uint64_t position = source_position(lane->source);

	if (lane->tally.items > lane->known.items)
		lane->known = lane->tally;
	if (position > lane->known_position)
		lane->known_position = position;
}

/* Whether the caller wants no more; asked after some bytes, and where decoding goes back. */
static bool is_stopped(struct lane *lane)
{
	const struct store *store = lane->store;
	uint64_t position;

	if (!store->stop)
		return false;
	position = source_position(lane->source);
	if (position < lane->asked && lane->asked - position <= STOP_DISTANCE)
		return false;
	lane->asked = position + STOP_DISTANCE;
	return store->stop(store->stop_data, lane->index, position);
}

/*
 * Decodes one message; not called at the end of the stream, which the callers know. Return: 0; 1:
 * the stream has ended; FULL: the window is full, and the rest of the message is lost; or an error.
 */
static int step(struct lane *lane)
{
	bool again;
	int got;

	if (is_stopped(lane))
		return NTRACE_CURSOR_STOPPED;
	got = lane_checkpoint(lane);
	if (got)
		return got;
	again = source_position(lane->source) < lane->known_position;
	lane->context = *source_context(lane->source);
	lane->failed = 0;
	got = source_next(lane->source, again, &lane->stamped);
	/* Where nothing could be read, no state was lost. */
	lane->live = got == 0 || got == 1 ||
		     (!lane->failed && (got == NTRACE_ERR_IO || got == NTRACE_ERR_FORMAT));
	if (got < 0)
		return got;
	extend_known(lane);
	if (got == 1)
		lane->complete = true;
	return got;
}

/* Decodes until the window has enough items. Return: as step(). */
static int fill(struct lane *lane)
{
	int got = 0;

	while (!got && !is_full(lane, lane->store->window_items))
		got = step(lane);
	return got;
}

int lane_window(struct lane *lane, uint64_t number, bool backwards, struct window **window)
{
	uint64_t most = lane->store->window_items;
	uint64_t from = !backwards ? number : number >= most ? number + 1 - most : 0;
	struct window *made = store_find(lane->store, lane, number);
	int got = 0;

	if (made) {
		*window = window_get(made);
		return 0;
	}
	lane->focus = number;
	while (got != 1 && !(lane->complete && number >= lane->known.items)) {
		got = lane_rewind(lane, from);
		if (got)
			return got;
		made = window_new(lane, from, ++lane->store->clock);
		if (!made)
			return NTRACE_ERR_NOMEM;
		lane->window = made;
		lane->from = from;
		got = fill(lane);
		lane->window = NULL;
		if (got < 0) {
			window_put(made);
			return got;
		}
		from = window_end(made);
		if (number < from) {
			*window = window_get(made);
			store_keep(lane->store, made);
			return 0;
		}
		window_put(made);
	}
	return 1;
}

static bool knows_time(const struct lane *lane, const uint64_t *time)
{
	return time && lane->known.time_known && lane->known.last_time >= *time;
}

/* Decodes from the farthest place on until @time is known, or to the end; NULL: to the end. */
static int explore(struct lane *lane, const uint64_t *time)
{
	int got;

	if (lane->complete || knows_time(lane, time))
		return 0;
	/* No place matters more than another. */
	lane->focus = UINT64_MAX;
	got = lane_rewind(lane, UINT64_MAX);
	while (!got && !knows_time(lane, time))
		got = step(lane);
	return got < 0 ? got : 0;
}

int lane_complete(struct lane *lane)
{
	return explore(lane, NULL);
}

int lane_time(struct lane *lane, uint64_t time, uint64_t *number)
{
	int got = explore(lane, &time);
	size_t i;

	*number = 0;
	if (got)
		return got;
	for (i = 0; i < lane->checkpoint_count; i++) {
		const struct tally *tally = &lane->checkpoints[i].tally;

		if (tally->time_known && tally->last_time >= time)
			break;
		*number = tally->items;
	}
	return knows_time(lane, &time) ? 0 : 1;
}
