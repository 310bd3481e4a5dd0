/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Index of a recording: places of its trace from which decoding can continue without the bytes
 * before them, and the decoding of parts.
 *
 * The places are messages with SYNC (N-Trace 1.0, "synchronization"). For each of them the index
 * keeps what the session knows there: time, privilege and contexts of the hart, the task, and the
 * possible scheduling intervals. So a part decoded with the index gives the events that the decoding
 * of the whole stream gives for this part.
 */
#ifndef NTRACE_INDEX_H
#define NTRACE_INDEX_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of trace between two points of an index, at least. */
#define NTRACE_INDEX_DISTANCE 65536

/**
 * struct ntrace_index_counts - statistics of ntrace_session_index()
 * @points: number of points of all streams
 * @decoded: bytes of trace that had to be decoded; 0 = the index was up to date
 * @stored: the index is in the file; false: it cannot be written: a note and errno give the reason
 * @reserved: 0
 */
struct ntrace_index_counts {
	uint64_t points;
	uint64_t decoded;
	bool stored;
	uint8_t reserved[7];
};

/**
 * ntrace_session_index - load the index of a recording; make, extend and store it if necessary
 * @session: session opened by ntrace_session_open()
 * @distance: bytes of trace between two points, at least; 0 = NTRACE_INDEX_DISTANCE
 * @counts: set on success; may be NULL
 *
 * The file is `index` in the directory of the recording, or PATH.index for a perf.data file PATH. It
 * is made again if the library, @distance, the options of ntrace_session_open(), the sideband, the
 * parameters, or one of the programs differ from those it was made with, or if the trace is not the
 * same. If a plain trace file has grown since, only the new bytes are decoded. A damaged file is
 * made again.
 *
 * The progress function of the session is called while trace is decoded. From then on
 * decoding a part uses the index.
 *
 * Return: 0, the nonzero result of the progress function, NTRACE_ERR_IO (a trace file cannot be
 * read; errno is kept), NTRACE_ERR_FORMAT (the compressed trace is damaged), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_session_index(struct ntrace_session *session, uint64_t distance,
					     struct ntrace_index_counts *counts);

/**
 * struct ntrace_index_point - a place from which decoding can continue
 * @offset: position of the message with SYNC in the stream
 * @address: the next instruction
 * @time: timestamp there, valid with @time_known
 * @pid: process on the hart, -1 = unknown
 * @tid: thread
 * @time_known: the trace has timestamps
 * @reserved: 0
 */
struct ntrace_index_point {
	uint64_t offset;
	uint64_t address;
	uint64_t time;
	int32_t pid;
	int32_t tid;
	bool time_known;
	uint8_t reserved[7];
};

/**
 * ntrace_session_index_point - a point of the index
 * @session: session after ntrace_session_index()
 * @stream: index of the stream
 * @number: number of the point, from 0, in the order of the stream
 * @point: set if the result is 0
 *
 * Return: 0, NTRACE_ERR_EOS (there is no such point), NTRACE_ERR_INVALID (no such stream, or the
 * session has no index).
 */
NTRACE_EXPERIMENTAL int ntrace_session_index_point(const struct ntrace_session *session,
						   unsigned int stream, uint64_t number,
						   struct ntrace_index_point *point);

/**
 * struct ntrace_session_range - a part of a stream; see struct ntrace_decode_options
 * @size: sizeof(struct ntrace_session_range) of the caller
 * @first_offset: messages that start at this offset or later
 * @last_offset: messages that start at this offset or before; UINT64_MAX = all
 * @first_time: with @by_time: events at this time or later, in ticks of params.timestamp_hz
 * @last_time: with @by_time: events at this time or before
 * @by_time: only events with a time (ntrace_flow_event.time_known) in this range
 * @reserved: 0
 */
struct ntrace_session_range {
	size_t size;
	uint64_t first_offset;
	uint64_t last_offset;
	uint64_t first_time;
	uint64_t last_time;
	bool by_time;
	uint8_t reserved[7];
};

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_INDEX_H */
