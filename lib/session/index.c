// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Points of the index of a recording, and their use: see index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "decode.h"

const struct index_point *index_last(const struct index_stream *stream)
{
	return stream->count ? &stream->points[stream->count - 1] : NULL;
}

void index_collect(struct index_collector *collector, struct index_stream *stream,
		   uint64_t distance)
{
	const struct index_point *last = index_last(stream);

	*collector = (struct index_collector){
		.stream = stream,
		.distance = distance,
		.from = last ? last->offset + distance : distance,
		.time_max = last ? last->time_max : 0,
	};
	/* The events after the last point come again. */
	if (last)
		stream->points[stream->count - 1].time_min = UINT64_MAX;
}

struct bytes *index_begin(struct index_collector *collector, const struct index_point *point)
{
	struct index_stream *stream = collector->stream;
	struct bytes *states = &stream->states;
	struct index_point *added;

	if (!states->error)
		states->error = grow((void **)&stream->points, stream->count, &stream->room,
				     sizeof(*stream->points));
	if (states->error)
		return states;
	added = &stream->points[stream->count++];
	*added = *point;
	added->time_max = collector->time_max;
	added->time_min = UINT64_MAX;
	added->state = states->size;
	collector->from = point->offset + collector->distance;
	return states;
}

int index_end(struct index_collector *collector)
{
	struct index_stream *stream = collector->stream;
	struct index_point *last;

	if (stream->states.error)
		return stream->states.error;
	last = &stream->points[stream->count - 1];
	last->state_size = stream->states.size - last->state;
	return 0;
}

const struct index_point *index_start(const struct index_stream *stream,
				      const struct ntrace_session_range *range)
{
	size_t low = 0;

	BISECT(low, stream->count, middle,
	       stream->points[middle].next <= range->first_offset ||
		       (range->by_time && stream->points[middle].time_max < range->first_time));
	return low ? &stream->points[low - 1] : NULL;
}

uint64_t index_stop(const struct index_stream *stream, const struct ntrace_session_range *range)
{
	size_t low = 0;

	if (!range->by_time)
		return UINT64_MAX;
	BISECT(low, stream->count, middle, stream->points[middle].later <= range->last_time);
	return low < stream->count ? stream->points[low].next : UINT64_MAX;
}

struct bytes_reader index_state(const struct index_stream *stream, const struct index_point *point)
{
	const uint8_t *data = stream->states.data + point->state;

	return (struct bytes_reader){ .next = data, .end = data + point->state_size };
}

void index_code_flow(struct codec *codec, struct ntrace_flow_state *state)
{
	struct ntrace_context *context = &state->context;

	CODE_NUMBER(codec, state->offset);
	CODE_NUMBER(codec, state->address);
	CODE_NUMBER(codec, state->time);
	CODE_NUMBER(codec, state->credit);
	CODE_NUMBER(codec, state->flags);
	CODE_NUMBER(codec, context->scontext);
	CODE_NUMBER(codec, context->hcontext);
	CODE_MAX(codec, context->prv, 3);
	CODE_MAX(codec, context->v, 1);
	CODE_MAX(codec, context->scontext_known, 1);
	CODE_MAX(codec, context->hcontext_known, 1);
	CODE_MAX(codec, context->prv_known, 1);
	CODE_MAX(codec, state->warned_count, NTRACE_FLOW_WARNED_MAX - 1);
	for (uint32_t i = 0; i < state->warned_count; i++)
		CODE_NUMBER(codec, state->warned[i]);
}

void index_complete(struct index_stream *stream)
{
	uint64_t later = UINT64_MAX;
	size_t i = stream->count;

	while (i--) {
		if (stream->points[i].time_min < later)
			later = stream->points[i].time_min;
		stream->points[i].later = later;
	}
}

void index_stream_free(struct index_stream *stream)
{
	free(stream->points);
	free(stream->states.data);
	memset(stream, 0, sizeof(*stream));
}

void session_index_free(struct session_index *index, unsigned int streams)
{
	unsigned int i;

	for (i = 0; index->streams && i < streams; i++)
		index_stream_free(&index->streams[i]);
	free(index->streams);
	free(index);
}

static int ignore_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

static int ignore_segment(void *data, const struct ntrace_segment *segment)
{
	(void)data;
	(void)segment;
	return 0;
}

/* Decodes a stream from the last point on, and adds the points after it. */
static int extend_stream(struct ntrace_session *session, unsigned int number,
			 struct index_stream *stream, uint64_t distance)
{
	const struct ntrace_decode_options options = { .event = ignore_event,
						       .segment = ignore_segment };
	struct decoding decoding;
	int error = decoding_begin(&decoding, session, number, &options, false);

	if (error)
		return error;
	error = decoding_run(&decoding, stream, distance);
	decoding_end(&decoding);
	return error;
}

/* Decodes what the index of a stream lacks. */
static int fill_stream(struct ntrace_session *session, struct session_index *index,
		       unsigned int number, uint64_t *decoded)
{
	struct index_stream *stream = &index->streams[number];
	const struct index_point *last = index_last(stream);
	uint64_t from = last ? last->next : 0;
	int error = extend_stream(session, number, stream, index->distance);

	/* Points that this library cannot use, in spite of the checks: without them. */
	if (error == NTRACE_ERR_FORMAT && last) {
		index_stream_free(stream);
		from = 0;
		error = extend_stream(session, number, stream, index->distance);
	}
	if (error)
		return error;
	*decoded += stream->bytes - from;
	index_identify(session, number, stream);
	return 0;
}

static int make_index(struct ntrace_session *session, struct session_index *index,
		      uint64_t *decoded)
{
	unsigned int count = session->recording->stream_count, i;
	int error;

	index->streams = calloc(count + 1u, sizeof(*index->streams));
	if (!index->streams)
		return NTRACE_ERR_NOMEM;
	error = index_load(session, index);
	for (i = 0; i < count && !error; i++) {
		/* index_load() leaves the size of a whole stream. */
		if (!index->streams[i].bytes)
			error = fill_stream(session, index, i, decoded);
		index_complete(&index->streams[i]);
	}
	return error;
}

static const char *store_problem(int error)
{
	switch (error) {
	case EEXIST:
		return "something of that name was not made by ntrace, and is left as it is: move "
		       "it away";
	case ELOOP:
		return "a link, which may lead to any file, and is not followed: remove it";
	default:
		return strerror(error);
	}
}

/* An index that cannot be stored serves this session all the same. */
static int store_index(struct ntrace_session *session, const struct session_index *index,
		       bool *stored)
{
	int error = index_store(session, index), saved = errno;
	char path[SESSION_PATH_ROOM];

	if (error != NTRACE_ERR_IO)
		return error;
	*stored = false;
	session_note(session, "%s: %s; the index is not kept",
		     index_path(session, path) ? path : session->directory, store_problem(saved));
	errno = saved;
	return 0;
}

int ntrace_session_index(struct ntrace_session *session, uint64_t distance,
			 struct ntrace_index_counts *counts)
{
	struct ntrace_index_counts found = { .stored = true };
	struct session_index *index = calloc(1, sizeof(*index));
	unsigned int i;
	int error, saved;

	if (!index)
		return NTRACE_ERR_NOMEM;
	index->distance = distance ? distance : NTRACE_INDEX_DISTANCE;
	error = make_index(session, index, &found.decoded);
	if (!error && found.decoded)
		error = store_index(session, index, &found.stored);
	if (error) {
		session_index_free(index, session->recording->stream_count);
		return error;
	}
	saved = errno;
	if (session->index)
		session_index_free(session->index, session->recording->stream_count);
	errno = saved;
	session->index = index;
	for (i = 0; i < session->recording->stream_count; i++)
		found.points += index->streams[i].count;
	if (counts)
		*counts = found;
	return 0;
}

int ntrace_session_index_point(const struct ntrace_session *session, unsigned int stream,
			       uint64_t number, struct ntrace_index_point *point)
{
	const struct index_point *found;

	if (!session->index || stream >= session->recording->stream_count)
		return NTRACE_ERR_INVALID;
	if (number >= session->index->streams[stream].count)
		return NTRACE_ERR_EOS;
	found = &session->index->streams[stream].points[number];
	*point = (struct ntrace_index_point){
		.offset = found->offset,
		.address = found->address,
		.time = found->time_known ? found->time : 0,
		.pid = found->pid,
		.tid = found->tid,
		.time_known = found->time_known,
	};
	return 0;
}
