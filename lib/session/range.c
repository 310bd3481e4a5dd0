// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decoding a part of a stream: its begin and end, and the state at the points of the index. */
#include "decode.h"

int decoding_enter(struct decoding *decoding, uint64_t offset)
{
	int result = 0;

	if (!decoding->inside && offset >= decoding->range->first_offset) {
		result = ntrace_flow_flush(decoding->flow);
		decoding->inside = true;
	}
	if (!result && offset >= decoding->stop_offset) {
		result = ntrace_flow_flush(decoding->flow);
		decoding->done = true;
	}
	return result;
}

/* Writes the state after a message with SYNC, or reads it. Return: as follower_code(). */
static int code_state(struct decoding *decoding, struct ntrace_flow_state *state,
		      struct codec *codec)
{
	index_code_flow(codec, state);
	CODE_MAX(codec, decoding->space, SPACE_USER);
	CODE_MAX(codec, decoding->was_user, 1);
	CODE_MAX(codec, decoding->intact, 1);
	CODE_NUMBER(codec, decoding->last_error);
	CODE_NUMBER(codec, decoding->gap_offset);
	CODE_NUMBER(codec, decoding->event.sideband_ns);
	CODE_NUMBER(codec, decoding->event.privilege);
	CODE_NUMBER(codec, decoding->event.cpu);
	stream_clock_code(&decoding->clock, codec);
	return follower_code(&decoding->follower, codec);
}

int decoding_collect(struct decoding *decoding, const struct ntrace_message *message)
{
	struct ntrace_flow_state state = { .size = sizeof(state) };
	struct index_collector *collector = &decoding->collector;
	struct index_point point = { .offset = message->offset,
				     .next = message->offset + message->length };
	int result;

	if (!decoding->sync || !index_wants(collector, message->offset))
		return 0;
	result = ntrace_flow_flush(decoding->flow);
	if (result || ntrace_flow_get_state(decoding->flow, &state) ||
	    state.offset != message->offset || decoding->in_gap || decoding->rest)
		return result;
	point.address = state.address;
	point.time = state.time;
	point.time_known = state.flags & NTRACE_FLOW_STATE_TIME;
	point.pid = decoding->follower.pid;
	point.tid = decoding->follower.tid;
	code_state(decoding, &state, &(struct codec){ .to = index_begin(collector, &point) });
	return index_end(collector);
}

/* Continues at a point of the index. Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_FORMAT. */
static int resume(struct decoding *decoding, const struct index_stream *index,
		  const struct index_point *point)
{
	struct ntrace_flow_state state = { .size = sizeof(state) };
	struct bytes_reader reader = index_state(index, point);
	struct ntrace_space *space = NULL;
	int error;

	error = code_state(decoding, &state, &(struct codec){ .from = &reader });
	if (error)
		return error;
	if (decoding->space == SPACE_KERNEL)
		space = decoding->session->kernel;
	if (decoding->space == SPACE_USER) {
		space = follower_same(&decoding->follower, state.address);
		if (!space && !decoding->spaces.error)
			return NTRACE_ERR_FORMAT;
	}
	if (decoding->spaces.error)
		return decoding->spaces.error;
	if (ntrace_flow_set_state(decoding->flow, &state, space))
		return NTRACE_ERR_FORMAT;
	return decoding_note_thread(decoding, 0);
}

int decoding_start(struct decoding *decoding, struct index_stream *collect, uint64_t distance,
		   uint64_t *offset)
{
	const struct session_index *index = decoding->session->index;
	const struct ntrace_session_range *range = decoding->to.range;
	const struct index_stream *points = collect;
	const struct index_point *point = NULL;

	decoding->range = range;
	decoding->stop_offset = UINT64_MAX;
	if (range && range->last_offset != UINT64_MAX)
		decoding->stop_offset = range->last_offset + 1;
	if (range && index) {
		uint64_t stop;

		points = &index->streams[decoding->event.stream];
		point = index_start(points, range);
		stop = index_stop(points, range);
		if (stop < decoding->stop_offset)
			decoding->stop_offset = stop;
	}
	if (collect) {
		index_collect(&decoding->collector, collect, distance);
		point = index_last(collect);
	}
	if (!point)
		return 0;
	*offset = point->next;
	return resume(decoding, points, point);
}
