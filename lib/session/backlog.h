/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a lane has decoded before it may deliver it: events, segments, and where turns begin, in order.
 *
 *     bytes |   delivered   | item | item | item |   room   |
 *                           first                used
 *
 * An item is a copy, but for what its stream's decoder keeps: the spaces of a segment, and the effects that
 * the steps of a run refer to. So only the thread that decodes the stream may deliver it, and it does so
 * before the decoder forgets any of them (flow_keep_runs()).
 */
#ifndef NTRACE_SESSION_BACKLOG_H
#define NTRACE_SESSION_BACKLOG_H

#include <ntrace/session.h>

struct turn;

struct backlog {
	uint8_t *bytes;
	size_t first, used, room;
};

enum backlog_type {
	BACKLOG_EVENT,
	BACKLOG_SEGMENT,
	BACKLOG_TURN,
};

/**
 * struct backlog_item - an item, which its blocks or steps follow
 * @size: with them
 * @comm: @name, if the decoder may change it
 * @turn: TURN: NULL: not known which one
 * @index: TURN: turns of the stream before this one are over
 */
struct backlog_item {
	size_t size;
	enum backlog_type type;
	char comm[32];
	struct ntrace_isa isa;
	union {
		struct {
			struct ntrace_session_event event;
			struct ntrace_flow_event flow;
			struct ntrace_context context;
		};
		struct {
			struct ntrace_segment segment;
			union {
				struct ntrace_block_batch batch;
				struct ntrace_flow_run run;
			};
			struct ntrace_block last;
		};
		struct {
			const struct turn *turn;
			size_t index;
		};
	};
};

static inline bool backlog_is_empty(const struct backlog *backlog)
{
	return backlog->first == backlog->used;
}

/* Bytes of the items that wait. */
static inline size_t backlog_size(const struct backlog *backlog)
{
	return backlog->used - backlog->first;
}

/* The size that a segment has as an item. */
size_t backlog_segment_size(const struct ntrace_segment *segment);

/* Add an item. Return: 0 or NTRACE_ERR_NOMEM. */
int backlog_add_event(struct backlog *backlog, const struct ntrace_session_event *event);
int backlog_add_segment(struct backlog *backlog, const struct ntrace_segment *segment);
int backlog_add_turn(struct backlog *backlog, const struct turn *turn, size_t index);

/* The first item, whose pointers are valid until the next one is added; NULL: none waits. */
const struct backlog_item *backlog_first(struct backlog *backlog);
void backlog_drop_first(struct backlog *backlog);
void backlog_free(struct backlog *backlog);

#endif
