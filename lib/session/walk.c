// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reads the file of a stream and decodes it, from a byte of it to another. Messages with a known effect are
 * counted from the bytes (flow/count.c); the reader makes the others, one by one.
 */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "decode.h"
#include "regular.h"
#include "struct_size.h"

#define CHUNK 16384

int decoding_chunk(struct decoding *decoding, struct ntrace_reader *reader)
{
	struct ntrace_message message;
	int result = 0;

	while (!result) {
		int got;

		/* Pieces of the file belong to different threads. */
		if (decoding->counting && !decoding->follower.by_piece)
			result = ntrace_flow_count(decoding->flow, reader);
		if (result)
			return result;
		got = ntrace_reader_next(reader, &message);
		if (got == NTRACE_ERR_AGAIN)
			return 0;
		if (decoding->range)
			result = decoding_enter(decoding, message.offset);
		if (result || decoding->done)
			return result;
		result = decoding_message(decoding, got, &message);
		if (decoding->collector.stream && !result)
			result = decoding_collect(decoding, &message);
	}
	return result;
}

/* Skips the bytes of the stream before @offset. They are read if the file cannot be positioned. */
static int skip_to(int fd, struct ntrace_trace_file *file, const struct ntrace_stream *stream,
		   uint64_t offset)
{
	uint8_t chunk[CHUNK];

	if (!stream->params->atid && !session_is_packed(stream->file))
		return lseek(fd, (off_t)offset, SEEK_SET) < 0 ? NTRACE_ERR_IO : 0;
	while (offset) {
		size_t part = offset < sizeof(chunk) ? (size_t)offset : sizeof(chunk);
		ssize_t got = ntrace_trace_file_read(file, chunk, part);

		if (got <= 0)
			return got ? (int)got : NTRACE_ERR_FORMAT;
		offset -= (uint64_t)got;
	}
	return 0;
}

uint64_t decoding_recorded_bytes(const struct ntrace_session *session,
				 const struct ntrace_stream *stream)
{
	if (session->raw || session->live || session->recording->unfinished)
		return UINT64_MAX;
	return stream->bytes;
}

/*
 * The size of a plain file was looked at when the recording was opened. A loss, which has a note, may be the end
 * of the last frame: a recorder whose disk is full cuts the file.
 */
static void note_packed(struct ntrace_session *session, const struct ntrace_stream *stream,
			const struct ntrace_trace_file *file, uint64_t total)
{
	if (!session_is_packed(stream->file) ||
	    decoding_recorded_bytes(session, stream) == UINT64_MAX)
		return;
	if (total > stream->bytes)
		session_note(session,
			     "%s has more than the %" PRIu64
			     " bytes, unpacked, that were recorded: the rest is not decoded",
			     stream->file, stream->bytes);
	else if (total < stream->bytes)
		session_note(session,
			     "%s has %" PRIu64 " bytes, unpacked, %" PRIu64 " were recorded",
			     stream->file, total, stream->bytes);
	else if (ntrace_trace_file_cut(file) && !stream->lost)
		session_note(session,
			     "%s: the file lacks its end, after the %" PRIu64
			     " bytes that were recorded",
			     stream->file, total);
}

/*
 * Decodes @file from @offset on. A truncated file may end between two messages: only its recorded
 * length shows the truncation.
 */
static int walk_stream(struct decoding *decoding, struct ntrace_trace_file *file,
		       const struct ntrace_stream *stream, uint64_t offset)
{
	struct ntrace_session *session = decoding->session;
	struct ntrace_reader reader;
	uint8_t chunk[CHUNK];
	int result = ntrace_reader_init(&reader, stream->params,
					offset || decoding_starts_whole(decoding, stream));
	bool positioned = offset && !stream->params->atid && !session_is_packed(stream->file);
	uint64_t most = decoding_recorded_bytes(session, stream), total = 0, pending;
	ssize_t got = 1;

	reader.offset = offset;
	if (most != UINT64_MAX)
		ntrace_trace_file_limit(file,
					positioned ? most - (offset < most ? offset : most) : most);
	while (!result && got && !decoding->done) {
		got = ntrace_trace_file_read(file, chunk, sizeof(chunk));
		/* What came before is good, and so are other streams: the rest is missing. */
		if (got == NTRACE_ERR_FORMAT) {
			session_note(
				session,
				"%s: what zstd compressed is damaged after %llu bytes: the rest "
				"is not decoded",
				stream->file, (unsigned long long)ntrace_trace_file_offset(file));
			got = 0;
		}
		if (got < 0)
			return (int)got;
		total = ntrace_trace_file_offset(file) + (positioned ? offset : 0);
		ntrace_reader_feed(&reader, chunk, (size_t)got);
		result = decoding_chunk(decoding, &reader);
		if (!result)
			result = session_report_progress(session, decoding->event.stream,
							 total < most ? total : most);
	}
	if (result || decoding->done)
		return result;
	if (decoding->collector.stream)
		decoding->collector.stream->bytes = total < most ? total : most;
	/* More than one thread may have read the end. */
	if (session->present)
		__atomic_store_n(&session->present[decoding->event.stream],
				 total < most ? total : most, __ATOMIC_RELAXED);
	note_packed(session, stream, file, total);
	pending = ntrace_reader_pending(&reader);
	if (!pending && total < stream->bytes)
		pending = stream->bytes - total;
	if (decoding->range && !decoding->inside)
		result = ntrace_flow_flush(decoding->flow);
	/* The last bytes end the last message, so they are in its range. */
	return result ? result : ntrace_flow_end(decoding->flow, pending);
}

int decoding_open_file(const struct ntrace_stream *stream, struct ntrace_trace_file **file, int *fd)
{
	struct stat status;
	int result, saved;

	*file = NULL;
	result = open_regular(stream->file, fd, &status);
	if (result)
		return result;
	result = ntrace_trace_file_open(file, *fd,
					session_is_packed(stream->file) ? NTRACE_TRACE_ZSTD :
									  NTRACE_TRACE_PLAIN);
	if (!result && stream->params->atid)
		result = ntrace_trace_file_unframe(*file, stream->params->atid);
	if (!result)
		return 0;
	saved = errno;
	ntrace_trace_file_close(*file);
	close(*fd);
	errno = saved;
	return result;
}

static int walk_file(struct decoding *decoding, const struct ntrace_stream *stream, uint64_t offset)
{
	struct ntrace_trace_file *file;
	int fd, saved, result = decoding_open_file(stream, &file, &fd);

	if (result == NTRACE_ERR_FORMAT && session_is_packed(stream->file)) {
		session_note(decoding->session,
			     "%s: zstd has not compressed it, as its name says: it is not decoded",
			     stream->file);
		return 0;
	}
	if (result)
		return result;
	if (offset)
		result = skip_to(fd, file, stream, offset);
	if (!result)
		result = walk_stream(decoding, file, stream, offset);
	ntrace_trace_file_close(file);
	saved = errno;
	close(fd);
	errno = saved;
	return result;
}

int decoding_run(struct decoding *decoding, struct index_stream *collect, uint64_t distance)
{
	uint64_t offset = 0;
	int result = decoding_start(decoding, collect, distance, &offset);

	/* The first turn may have to wait. */
	if (!result)
		result = decoding_note_thread(decoding, 0);
	if (!result)
		result = walk_file(decoding,
				   ntrace_session_stream(decoding->session, decoding->event.stream),
				   offset);
	return result;
}

int ntrace_session_decode(struct ntrace_session *session,
			  const struct ntrace_decode_options *options)
{
	struct ntrace_session_range range = { .last_offset = UINT64_MAX, .last_time = UINT64_MAX };
	struct ntrace_decode_options full = { .stream = NTRACE_ALL_STREAMS };
	int result, error, saved;

	if (!options || STRUCT_TAKE(&full, options) || !full.event ||
	    (full.range && STRUCT_TAKE(&range, full.range)) ||
	    (full.stream != NTRACE_ALL_STREAMS && full.stream >= ntrace_session_streams(session)))
		return NTRACE_ERR_INVALID;
	if (full.range)
		full.range = &range;
	session_hold_notes(session);
	result = session_decode_lanes(session, &full);
	saved = errno;
	error = session_pass_notes(session);
	errno = saved;
	return result ? result : error;
}
