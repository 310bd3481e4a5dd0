// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decodes a stream of a recording that still grows.
 *
 * A scheduling interval is decoded when its end is recorded: then all its names, mappings and execs are
 * known, and the result is that of the finished recording. An interval that lasts too long is decoded
 * as far as the sideband is known, with what is known.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include <ntrace/frames.h>
#include <ntrace/live.h>

#include "compare.h"
#include "decode.h"
#include "grow.h"
#include "live.h"
#include "struct_size.h"

/* A record that waits until all earlier ones are there. */
struct waiting {
	uint64_t time;
	uint64_t number;
	uint16_t size;
	_Alignas(8) uint8_t bytes[];
};

/**
 * struct live - see live.h
 * @waiting: records that wait
 * @number: number of the next record
 * @complete: all records before this time have been taken
 * @since: the current trace was made after this time
 * @until: and before this one
 * @begun: @decoding has begun
 */
struct live {
	struct decoding decoding;
	struct ntrace_session *session;
	struct ntrace_stream *stream;
	struct ntrace_live_source source;
	struct waiting **waiting;
	size_t count;
	size_t room;
	uint64_t number;
	uint64_t complete;
	uint64_t since;
	uint64_t until;
	bool begun;
	struct ntrace_reader reader;
	struct ntrace_frames frames;
};

/* ---- records ---- */

static struct ntrace_perf_record record_of(const struct waiting *waiting)
{
	struct ntrace_perf_record record = { .data = waiting->bytes,
					     .position = waiting->number,
					     .size = waiting->size };
	struct perf_event_header header;

	memcpy(&header, record.data, sizeof(header));
	record.type = header.type;
	record.misc = header.misc;
	return record;
}

static int keep_record(struct live *live, const struct perf_event_header *header, const void *bytes)
{
	struct waiting *made = malloc(sizeof(*made) + header->size);
	struct ntrace_perf_record record;
	struct ntrace_sideband sideband;
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	*made = (struct waiting){ .number = live->number++, .size = header->size };
	memcpy(made->bytes, bytes, header->size);
	record = record_of(made);
	if (ntrace_perf_file_parse(live->session->machine.file, &record, &sideband)) {
		free(made);
		return 0;
	}
	made->time = sideband.time;
	error = grow((void **)&live->waiting, live->count, &live->room, sizeof(struct waiting *));
	if (error)
		free(made);
	else
		live->waiting[live->count++] = made;
	return error;
}

static int keep_records(struct live *live, const struct ntrace_live_records *records)
{
	const uint8_t *bytes = records->bytes;
	struct perf_event_header header;
	size_t left = records->count;
	int error = 0;

	while (left >= sizeof(header) && !error) {
		memcpy(&header, bytes, sizeof(header));
		if (header.size < sizeof(header) || header.size > left)
			return NTRACE_ERR_FORMAT;
		error = keep_record(live, &header, bytes);
		bytes += header.size;
		left -= header.size;
	}
	return error;
}

static int compare_waiting(const void *left, const void *right)
{
	const struct waiting *a = *(const struct waiting *const *)left;
	const struct waiting *b = *(const struct waiting *const *)right;
	int order = compare_numbers(a->time, b->time);

	return order ? order : compare_numbers(a->number, b->number);
}

/* Passes the records before live->complete to the machine. */
static int pass_complete(struct live *live)
{
	struct ntrace_perf_record record;
	struct ntrace_sideband sideband;
	size_t taken = 0;
	int error = 0;

	if (!live->count)
		return 0;
	qsort(live->waiting, live->count, sizeof(struct waiting *), compare_waiting);
	while (taken < live->count && !error &&
	       (live->waiting[taken]->time < live->complete || live->complete == UINT64_MAX)) {
		record = record_of(live->waiting[taken]);
		if (!ntrace_perf_file_parse(live->session->machine.file, &record, &sideband))
			error = machine_take(&live->session->machine, &sideband);
		free(live->waiting[taken++]);
	}
	live->count -= taken;
	memmove(live->waiting, live->waiting + taken, live->count * sizeof(struct waiting *));
	return error;
}

/* Takes what the source has. Return: 0, an error, or the result of the source. */
static int receive_records(struct live *live, bool wait)
{
	struct ntrace_live_records records = { .size = sizeof(records) };
	int result = live->source.records(live->source.data, wait, &records);

	if (!result)
		result = keep_records(live, &records);
	if (result)
		return result;
	if (records.start_ns)
		live->stream->start_ns = records.start_ns;
	if (records.complete_ns > live->complete)
		live->complete = records.complete_ns;
	result = pass_complete(live);
	return result || !live->begun ? result : follower_grow(&live->decoding.follower);
}

/* ---- waiting for records ---- */

/*
 * @ENTER: the hart enters a scheduling interval, which is decoded as a whole if it is short.
 * @STAY: the hart is in an interval, or leaves it
 * @LOST: flow was lost: the hart may be in any interval up to now
 */
enum moment {
	ENTER,
	STAY,
	LOST,
};

static bool is_known(const struct live *live, enum moment moment)
{
	const struct follower *follower = &live->decoding.follower;
	uint64_t until = live->until;

	if (live->complete == UINT64_MAX)
		return true;
	if (follower->by_piece || follower->given_up)
		return live->complete >= until;
	if (moment != LOST && !follower_is_open(follower) && follower->count == 1)
		return true;
	/* Which of several intervals it is can be told from the trace only. */
	if (moment != ENTER || follower->count > 1)
		return live->complete >= until;
	return until < UINT64_MAX - live->source.patience_ns &&
	       live->complete >= until + live->source.patience_ns;
}

static int wait_for_records(struct live *live, enum moment moment)
{
	int result = 0;

	while (!result && !is_known(live, moment))
		result = receive_records(live, true);
	return result;
}

int live_switch(struct live *live)
{
	int result = wait_for_records(live, STAY);

	if (!result)
		result = follower_switch(&live->decoding.follower);
	return result ? result : wait_for_records(live, ENTER);
}

int live_lost(struct live *live)
{
	return wait_for_records(live, LOST);
}

void live_found(struct live *live)
{
	follower_between(&live->decoding.follower, live->since, live->until);
}

/* ---- trace ---- */

static int decode_bytes(struct live *live, const uint8_t *bytes, size_t count)
{
	ntrace_reader_feed(&live->reader, bytes, count);
	return decoding_chunk(&live->decoding, &live->reader);
}

static int break_flow(struct live *live, uint64_t lost)
{
	uint64_t offset = live->reader.offset;

	ntrace_reader_break(&live->reader);
	live->reader.offset += lost;
	return ntrace_flow_break(live->decoding.flow, offset);
}

/* The bytes of one source of CoreSight frames; see ntrace_trace_file_unframe(). */
static int decode_frames(struct live *live, const uint8_t *bytes, size_t count)
{
	struct ntrace_frames_piece piece;
	int result = 0, event;

	ntrace_frames_feed(&live->frames, bytes, count);
	while (!result && (event = ntrace_frames_next(&live->frames, &piece)) != NTRACE_ERR_AGAIN) {
		if (event == NTRACE_FRAMES_BYTES && piece.source == live->stream->params->atid)
			result = decode_bytes(live, piece.bytes, piece.size);
		else if (event == NTRACE_FRAMES_BARRIER || event == NTRACE_FRAMES_CUT ||
			 event == NTRACE_FRAMES_NAMELESS)
			result = break_flow(live, 0);
	}
	return result;
}

static int decode_trace(struct live *live, const struct ntrace_live_trace *trace)
{
	bool framed = live->stream->params->atid;
	int result = 0;

	if (trace->lost) {
		/* Pieces lost from a formatter are whole frames. */
		if (framed)
			ntrace_frames_init(&live->frames);
		result = break_flow(live, framed ? 0 : trace->lost);
	}
	if (result || !trace->count)
		return result;
	return framed ? decode_frames(live, trace->bytes, trace->count) :
			decode_bytes(live, trace->bytes, trace->count);
}

/* Where the first message begins that has not ended. */
static uint64_t open_message(const struct live *live)
{
	return live->reader.offset - ntrace_reader_pending(&live->reader);
}

static int decode_next(struct live *live, struct ntrace_live_trace *trace)
{
	uint64_t before;
	int result;

	*trace = (struct ntrace_live_trace){ .size = sizeof(*trace) };
	result = live->source.trace(live->source.data, trace);
	if (result)
		return result;
	live->since = trace->since_ns;
	live->until = trace->until_ns ? trace->until_ns : UINT64_MAX;
	result = receive_records(live, false);
	if (!result && (trace->count || trace->lost))
		result = wait_for_records(live, STAY);
	if (result)
		return result;
	/* The records that have just been taken may name the thread. */
	result = decoding_note_thread(&live->decoding, 0);
	before = open_message(live);
	if (!result)
		result = decode_trace(live, trace);
	/* The hart is where the last message was made, or in a gap that began before. */
	if (!result && open_message(live) > before && !live->decoding.in_gap) {
		live_found(live);
		result = decoding_note_thread(&live->decoding, 0);
	}
	if (!result)
		follower_forget(&live->decoding.follower, live->complete);
	return result;
}

static int decode_all(struct live *live)
{
	struct ntrace_live_trace trace = { 0 };
	int result = wait_for_records(live, ENTER);

	while (!result && !trace.end)
		result = decode_next(live, &trace);
	if (result)
		return result;
	if (trace.stop_ns)
		live->stream->stop_ns = live->decoding.stop_ns = trace.stop_ns;
	return ntrace_flow_end(live->decoding.flow, ntrace_reader_pending(&live->reader));
}

/* Takes the records of the time before the trace, which tell the first task. */
static int receive_past(struct live *live)
{
	int result = machine_grow(&live->session->machine,
				  live->stream->event ? UINT32_MAX : live->stream->cpu);

	if (!result)
		result = receive_records(live, false);
	while (!result && live->complete != UINT64_MAX && live->complete <= live->stream->start_ns)
		result = receive_records(live, true);
	return result;
}

static int begin_decoding(struct live *live, const struct ntrace_decode_options *options)
{
	/* Messages with timestamps are walked anyway: flow/count.c. */
	int result = decoding_begin(&live->decoding, live->session, options->stream, options,
				    !live->stream->params->timestamp_bits);

	if (result)
		return result;
	live->begun = true;
	live->decoding.live = live;
	ntrace_frames_init(&live->frames);
	result = ntrace_reader_init(&live->reader, live->stream->params,
				    decoding_starts_whole(&live->decoding, live->stream));
	if (!result)
		result = follower_grow(&live->decoding.follower);
	return result ? result : decoding_note_thread(&live->decoding, 0);
}

static int decode_source(struct live *live, const struct ntrace_decode_options *options)
{
	int result = receive_past(live);

	if (!result)
		result = begin_decoding(live, options);
	if (!result)
		result = decode_all(live);
	if (live->begun)
		decoding_end(&live->decoding);
	while (live->count)
		free(live->waiting[--live->count]);
	free(live->waiting);
	return result || !options->end ? result : options->end(options->data, options->stream);
}

int ntrace_session_decode_live(struct ntrace_session *session,
			       const struct ntrace_decode_options *options,
			       const struct ntrace_live_source *source)
{
	struct ntrace_decode_options full = { 0 };
	const struct ntrace_stream *info;
	struct live *live;
	int result;

	if (!options || !source || STRUCT_TAKE(&full, options) || !full.event || full.range ||
	    full.needs & NTRACE_NEEDS_TURNS || !session->machine.file || session->machine.growing)
		return NTRACE_ERR_INVALID;
	info = ntrace_session_stream(session, full.stream);
	if (!info)
		return NTRACE_ERR_INVALID;
	if (!info->event && decoding_hides_switches(session))
		return NTRACE_ERR_UNSUPPORTED;
	live = calloc(1, sizeof(*live));
	if (!live)
		return NTRACE_ERR_NOMEM;
	if (STRUCT_TAKE(&live->source, source) || !live->source.trace || !live->source.records) {
		free(live);
		return NTRACE_ERR_INVALID;
	}
	live->session = session;
	live->stream = &session->streams[full.stream];
	live->stream->start_ns = live->source.start_ns;
	live->stream->stop_ns = 0;
	live->until = live->source.start_ns;
	result = decode_source(live, &full);
	free(live);
	return result;
}
