/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A decoding: from the messages of a stream to segments and events of threads (session.h has the picture).
 *
 * The flow calls the decoding back wherever the thread may change, and the decoding moves the follower:
 *
 *	the flow calls		because						the decoding calls
 *	blocks, watched		__switch_to was executed			follower_switch()
 *	blocks, watched		begin_new_exec was executed			follower_exec()
 *	blocks, watched		a module was loaded, or a mapping moved		session_note_executed()
 *	select			after a gap, it is at an address again		follower_gap()
 *	select			that address is in user space			follower_user()
 *	select			Ownership in user space has a scontext		follower_owner()
 *	-			trace from perf: another piece of the file	follower_offset()
 *
 * After each (decoding_note_thread()), the clock and the lane get the new interval, where the lane may have to wait
 * (lanes.h).
 *
 * - At a GAP the thread stays that of before; its possible successors are known only when the flow goes on.
 * - All these calls come in walked messages. An effect comes later than it was executed, and is of the thread in
 *   whose time it was counted (@counted). So if sums are to be of one thread, all are passed on before the thread
 *   changes; otherwise sums have no thread. Runs are passed on before any of these calls.
 * - A block that begins at __switch_to is the last one of the outgoing task. If a sync or a full counter
 *   divides it, its rest is (@rest).
 * - The address gives the privilege; Ownership adds guests and M-mode. No segment has two privileges.
 */
#ifndef NTRACE_SESSION_DECODE_H
#define NTRACE_SESSION_DECODE_H

#include "follow.h"
#include "clock.h"
#include "index.h"
#include "lanes.h"
#include "live.h"

/* Kinds of address spaces that the flow can be in. */
enum space_kind {
	SPACE_NONE,
	SPACE_KERNEL,
	SPACE_USER,
};

/*
 * Attributes of blocks that effects do not mix.
 * @name: the follower's name of the thread; its text may have changed
 * @comm: the name at that time, perhaps in @text
 */
struct attribution {
	const char *name;
	const char *comm;
	char text[32];
	int32_t pid;
	int32_t tid;
	uint64_t turn;
	uint64_t program;
	const struct ntrace_origin *origin;
	uint64_t made;
	struct ntrace_context owner;
};

/* Whether an event is at a place of the code; 0 is one. */
static inline bool has_address(const struct ntrace_flow_event *flow)
{
	return flow->type == NTRACE_FLOW_SYNC || flow->type == NTRACE_FLOW_TRAP ||
	       (flow->next_known && flow->type != NTRACE_FLOW_GAP &&
		flow->type != NTRACE_FLOW_DATA);
}

struct decoding {
	struct ntrace_session *session;
	struct spaces spaces;
	struct stream_clock clock;
	struct follower follower;
	struct ntrace_flow *flow;
	struct ntrace_decode_options to;	/* the receiver, and its needs */
	struct session_lane *lane;		/* NULL: the order of threads is not needed */
	struct attribution counted;	/* that of effects that have not come yet */
	bool counting;			/* the flow remembers messages */
	size_t turn;			/* see session_lane_enter() */
	bool turn_certain;
	bool moved;			/* the follower may have changed: see decoding_note_thread() */
	bool timed;			/* the event has the time of @tick: see note_time() */
	bool tick_known;
	uint64_t tick;
	uint64_t first_tick, last_tick;	/* the least and the greatest so far */
	uint64_t watch[3 + NOTED_FUNCTIONS];
	bool moving;			/* the kernel moves a mapping: see session_note_executed() */
	uint64_t rest;			/* where the rest of a divided __switch_to begins, or 0 */
	uint64_t borders[3];		/* where other privileges begin */
	struct ntrace_session_event event;
	uint64_t kernel_begin;		/* the least kernel address */
	bool countable;			/* the trace shows every task switch */
	bool shows_code;		/* and every exec, or that of the only task of a piece */
	bool was_user;
	bool in_gap;			/* the flow is lost */
	bool intact;			/* with in_gap: the trace is whole, only code is unknown */
	unsigned int last_error;
	uint64_t stop_ns;		/* time of the end of the trace, 0 = unknown */
	uint64_t offset;		/* position of the current message */
	bool sync;			/* the current message has SYNC */
	uint64_t gap_offset;
	struct program *selected;	/* program of the last space selected for user code */
	enum space_kind space;		/* kind of the last space selected */
	const struct ntrace_session_range *range;	/* NULL: everything is passed on */
	bool inside;			/* the current message is in the range of offsets */
	bool done;			/* no later event is in the range */
	uint64_t stop_offset;		/* messages from here on are not in the range */
	struct ntrace_flow_stats counts;	/* of the events in the range */
	struct index_collector collector;
	struct live *live; /* NULL: the recording is finished */
};

static inline void decoding_note_tick(struct decoding *decoding, uint64_t tick)
{
	if (tick < decoding->first_tick)
		decoding->first_tick = tick;
	if (tick > decoding->last_tick)
		decoding->last_tick = tick;
}

/*
 * Prepares @decoding for the first message of a stream. It refers to itself and must not move. @counts:
 * messages that come again may be counted; false: they are all walked, so that the state between two of
 * them is known. Return: 0, NTRACE_ERR_INVALID (no such stream, wrong parameters) or NTRACE_ERR_NOMEM.
 */
int decoding_begin(struct decoding *decoding, struct ntrace_session *session, unsigned int stream,
		   const struct ntrace_decode_options *options, bool counts);
/* Adds the totals to those of the receiver, and frees @decoding. */
void decoding_end(struct decoding *decoding);

/*
 * Decodes a message. @got: the positive result of ntrace_reader_next() for it. Return: as
 * ntrace_flow_message().
 */
int decoding_message(struct decoding *decoding, int got, const struct ntrace_message *message);

/* walk.c: passes the messages of the reader's chunk to the flow. Return: as decoding_message(). */
int decoding_chunk(struct decoding *decoding, struct ntrace_reader *reader);

/*
 * walk.c: decodes the file of the stream, or the part in the range of the receiver. @collect: points to be extended,
 * at @distance bytes from each other; NULL: none. Return: as ntrace_session_decode().
 */
int decoding_run(struct decoding *decoding, struct index_stream *collect, uint64_t distance);

/* Adds counters. */
void decoding_add_stats(struct ntrace_flow_stats *sums, const struct ntrace_flow_stats *stats);

/* lanes.c. Return: as ntrace_session_decode(). */
int session_decode_lanes(struct ntrace_session *session,
			 const struct ntrace_decode_options *options);

/* Whether the stream begins with a whole message. */
bool decoding_starts_whole(const struct decoding *decoding, const struct ntrace_stream *stream);

/*
 * Most bytes of a file that are read, unpacked: those that were recorded. UINT64_MAX: no limit; a recorder that was
 * stopped leaves a file that has more.
 */
uint64_t decoding_recorded_bytes(const struct ntrace_session *session,
				 const struct ntrace_stream *stream);

/*
 * Opens the file of a stream, without compression and frames. Both are to be closed. Return: as
 * ntrace_trace_file_open().
 */
int decoding_open_file(const struct ntrace_stream *stream, struct ntrace_trace_file **file,
		       int *fd);

/* After what may have changed the follower, with its @result. Return: that or, if it is 0, as ntrace_flow_flush(). */
int decoding_note_thread(struct decoding *decoding, int result);

/* Whether the trace of a whole CPU does not show task switches. */
bool decoding_hides_switches(const struct ntrace_session *session);

/* range.c */

/*
 * Prepares @decoding for the part, and continues at the best point of the index, or at the last one of @collect.
 * @offset: set to where the first message begins, unchanged for the begin of the stream. Return: 0,
 * NTRACE_ERR_NOMEM or NTRACE_ERR_FORMAT (the point is not usable).
 */
int decoding_start(struct decoding *decoding, struct index_stream *collect, uint64_t distance,
		   uint64_t *offset);

/*
 * Before the message at @offset, with a range: begins and ends between messages, at the first one from
 * its offsets on. Return: as ntrace_flow_flush().
 */
int decoding_enter(struct decoding *decoding, uint64_t offset);

/*
 * Adds a point to the index after a message with SYNC, if the last one is far enough away. Return: 0,
 * NTRACE_ERR_NOMEM, or as ntrace_flow_flush().
 */
int decoding_collect(struct decoding *decoding, const struct ntrace_message *message);

#endif
