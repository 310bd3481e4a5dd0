/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Index of a recording: points of the streams, and the state of the decoding at each of them
 * (ntrace/index.h). index.c has the points, index_file.c the file, range.c the state.
 */
#ifndef NTRACE_SESSION_INDEX_H
#define NTRACE_SESSION_INDEX_H

#include <ntrace/index.h>

#include "bytes.h"
#include "session.h"

/**
 * struct index_point - a place directly after a message with SYNC
 * @offset: position of the message
 * @next: position of the byte after it
 * @time_max: latest time of the events up to here, 0 = none
 * @time_min: earliest time of the events from here to the next point, UINT64_MAX = none
 * @later: earliest time of all events from here on
 * @state: place of the state in the stream's states
 */
struct index_point {
	uint64_t offset;
	uint64_t next;
	uint64_t address;
	uint64_t time;
	uint64_t time_max;
	uint64_t time_min;
	uint64_t later;
	int32_t pid;
	int32_t tid;
	bool time_known;
	size_t state;
	size_t state_size;
};

/**
 * struct index_stream - points of one stream
 * @bytes: bytes of the trace file that were decoded
 * @mtime: time of the last change of the trace file, in ns
 * @head: fingerprint of the first bytes of the trace file
 * @tail: fingerprint of the last decoded bytes of the trace file
 */
struct index_stream {
	struct index_point *points;
	size_t count;
	size_t room;
	struct bytes states;
	uint64_t bytes;
	uint64_t mtime;
	uint64_t head;
	uint64_t tail;
};

struct session_index {
	uint64_t distance;
	struct index_stream *streams;
};

/**
 * struct index_collector - adds points while a stream is decoded
 * @stream: NULL: none
 * @distance: bytes between two points
 * @from: offset from which the next point is wanted
 * @time_max: latest time so far
 */
struct index_collector {
	struct index_stream *stream;
	uint64_t distance;
	uint64_t from;
	uint64_t time_max;
};

static inline void index_note_time(struct index_collector *collector, bool known, uint64_t time)
{
	struct index_stream *stream = collector->stream;

	if (!stream || !known)
		return;
	if (time > collector->time_max)
		collector->time_max = time;
	if (stream->count && time < stream->points[stream->count - 1].time_min)
		stream->points[stream->count - 1].time_min = time;
}

static inline bool index_wants(const struct index_collector *collector, uint64_t offset)
{
	return offset >= collector->from;
}

/* Begins to collect, after the points that @stream has already. */
void index_collect(struct index_collector *collector, struct index_stream *stream,
		   uint64_t distance);

/* Adds @point, whose state is to be appended to the result until index_end(). */
struct bytes *index_begin(struct index_collector *collector, const struct index_point *point);

/* Return: 0 or NTRACE_ERR_NOMEM. */
int index_end(struct index_collector *collector);

/* The last point, NULL if there is none. */
const struct index_point *index_last(const struct index_stream *stream);

/* The last point before everything in @range; NULL: the begin of the stream. */
const struct index_point *index_start(const struct index_stream *stream,
				      const struct ntrace_session_range *range);

/* An offset from which on no message has events in @range; UINT64_MAX if that is unknown. */
uint64_t index_stop(const struct index_stream *stream, const struct ntrace_session_range *range);

/* The state of @point, written after index_begin(). */
struct bytes_reader index_state(const struct index_stream *stream, const struct index_point *point);

void index_code_flow(struct codec *codec, struct ntrace_flow_state *state);

/* Sets index_point.later of all points. */
void index_complete(struct index_stream *stream);

void index_stream_free(struct index_stream *stream);

/* index_file.c */

/*
 * Reads the stored index as far as it is valid: streams whose trace is another one stay empty.
 * Return: 0 (also without a valid file) or NTRACE_ERR_NOMEM.
 */
int index_load(struct ntrace_session *session, struct session_index *index);

/* Stores the index. Return: 0, NTRACE_ERR_NOMEM, or NTRACE_ERR_IO (errno is kept). */
int index_store(const struct ntrace_session *session, const struct session_index *index);

/* Sets what identifies the trace of @stream, whose @bytes are set. */
void index_identify(const struct ntrace_session *session, unsigned int number,
		    struct index_stream *stream);

/* Path of the file; false: it is too long. @path has SESSION_PATH_ROOM bytes. */
bool index_path(const struct ntrace_session *session, char *path);

#endif
