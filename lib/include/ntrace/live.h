/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decoding while the recording is made: trace and sideband come from callbacks instead of files, and
 * what has been decoded is forgotten, so that memory does not depend on the length of the recording.
 *
 * The session is opened from a recording whose directory has the state before the trace: params with
 * the streams, the kernel's text, and the sideband up to then. Each stream needs a session of its own,
 * for example one in each thread.
 *
 * Without losses the events are those of the finished recording, except for a task that maps code or
 * changes its name and then runs longer than @patience_ns without a switch: what it ran before has the
 * old names and mappings, and in a finished recording the new ones. Code that the kernel loads after
 * the session was opened is unknown, and changes of its text are not noticed.
 */
#ifndef NTRACE_LIVE_H
#define NTRACE_LIVE_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_live_trace - the next trace of a stream
 * @size: sizeof(struct ntrace_live_trace) of the library
 * @bytes: the trace, as in the file of the stream; valid until the next call; NULL if @count is 0
 * @count: number of bytes, 0 = none this time
 * @lost: number of bytes of the stream that are missing before @bytes
 * @since_ns: @bytes, and a message that they continue, were made after this time (CLOCK_MONOTONIC): after
 *            a loss it tells which thread may run; 0 = unknown
 * @until_ns: the bytes were made before this time; 0 = unknown: before the end of the sideband
 * @stop_ns: with @end: time of the end of the trace; 0 = unknown
 * @end: no more trace will come
 */
struct ntrace_live_trace {
	size_t size;
	const void *bytes;
	size_t count;
	uint64_t lost;
	uint64_t since_ns;
	uint64_t until_ns;
	uint64_t stop_ns;
	bool end;
};

/**
 * struct ntrace_live_records - the next records of the sideband
 * @size: sizeof(struct ntrace_live_records) of the library
 * @bytes: whole records, as the kernel wrote them to its ring buffers, those of each ring in order;
 *         valid until the next call
 * @count: number of bytes, 0 = none this time
 * @complete_ns: later calls have no records from before this time; UINT64_MAX = no more records. Not less
 *               than in the call before
 * @start_ns: start of the trace, if it was unknown when decoding began; 0 = as before
 */
struct ntrace_live_records {
	size_t size;
	const void *bytes;
	size_t count;
	uint64_t complete_ns;
	uint64_t start_ns;
};

/**
 * struct ntrace_live_source - where trace and sideband come from
 * @size: sizeof(struct ntrace_live_source) of the caller
 * @trace: sets the fields of @trace, which are 0, and may wait until there is trace; not 0 stops
 * @records: likewise for records. @wait: the session needs more of them than it has: may wait until
 *           complete_ns grows
 * @data: passed to the callbacks
 * @start_ns: CLOCK_MONOTONIC at the start of the trace; as in struct ntrace_stream
 * @patience_ns: time that a scheduling interval may last before its trace is decoded, although names
 *               and mappings may still change in it; UINT64_MAX = any time
 */
struct ntrace_live_source {
	size_t size;
	int (*trace)(void *data, struct ntrace_live_trace *trace);
	int (*records)(void *data, bool wait, struct ntrace_live_records *records);
	void *data;
	uint64_t start_ns;
	uint64_t patience_ns;
};

/**
 * ntrace_session_decode_live - decode one stream while it grows
 * @session: session opened with the option live, and not used for another stream
 * @options: as for ntrace_session_decode(), of one stream, without a range and without
 *           NTRACE_NEEDS_TURNS
 * @source: trace and sideband
 *
 * After lost bytes the flow continues at the next synchronizing message, and the thread is unknown until
 * the trace shows it, as after any loss.
 *
 * Return: as ntrace_session_decode(), or the nonzero result of a callback of @source;
 * NTRACE_ERR_UNSUPPORTED: a trace of user space of a whole CPU, whose threads can be told only when all
 * switches are known.
 */
NTRACE_EXPERIMENTAL int ntrace_session_decode_live(struct ntrace_session *session,
						   const struct ntrace_decode_options *options,
						   const struct ntrace_live_source *source);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_LIVE_H */
