/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random walks of a cursor, compared with the plain decode.
 *
 * The expected places come from an ordinary decode of the same trace, event by event; a walk never
 * uses what another cursor reports. A mismatch names the step.
 */
#ifndef SELFTESTS_LIB_CURSOR_WALK_H
#define SELFTESTS_LIB_CURSOR_WALK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/cursor.h>

/* One place as the plain decode reports it. */
struct expected {
	uint64_t address, last, next, value, offset, time, sideband_ns, scontext;
	uint32_t instructions, index, privilege;
	int32_t pid, tid;
	unsigned int stream, cpu;
	char comm[16], symbol[32];
	uint8_t type, code, etype, insn_class, flags, last_size, size, bytes[8];
	bool time_known;
};

struct expected_list {
	struct expected *places;
	size_t count, room;
	size_t limit;		/* 0: none */
	bool by_instruction;
	uint32_t block_count;	/* for the callback */
	struct expected now;
};

static inline void expect_place(struct expected_list *list)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 4096;
		list->places = realloc(list->places, list->room * sizeof(*list->places));
		if (!list->places)
			abort();
	}
	list->places[list->count++] = list->now;
}

static inline int expect_instruction(void *data, uint64_t address, const uint8_t *bytes,
				     const struct ntrace_insn *insn)
{
	struct expected_list *list = data;
	struct expected *now = &list->now;

	if (!list->by_instruction && now->index)
		return 0;
	now->address = address;
	now->size = insn->size;
	memset(now->bytes, 0, sizeof(now->bytes));
	memcpy(now->bytes, bytes, insn->size);
	expect_place(list);
	now->index++;
	return 0;
}

/* The state of the event that every place of it has. */
static inline void expect_common(struct expected *now, const struct ntrace_flow_event *flow)
{
	struct ntrace_location at = { 0 };

	if (flow->space)
		ntrace_space_locate(flow->space, flow->address, &at);
	snprintf(now->symbol, sizeof(now->symbol), "%.31s", at.symbol ? at.symbol : "");
	now->type = flow->type;
	now->code = flow->code;
	now->etype = flow->etype;
	now->insn_class = flow->insn_class;
	now->flags = (uint8_t)(flow->taken | flow->interrupted << 1 | flow->provisional << 2 |
			       flow->next_known << 3);
	now->last_size = flow->last_size;
	now->instructions = flow->instructions;
	now->address = flow->address;
	now->last = flow->last;
	now->next = flow->next;
	now->value = flow->value;
	now->offset = flow->offset;
	now->time = flow->time;
	now->time_known = flow->time_known;
	now->scontext = flow->context ? flow->context->scontext : 0;
}

static inline void expect_flow(struct expected_list *list, const struct ntrace_flow_event *flow)
{
	expect_common(&list->now, flow);
	list->now.index = 0;
	list->now.size = 0;
	memset(list->now.bytes, 0, sizeof(list->now.bytes));
	if (flow->type != NTRACE_FLOW_BLOCK)
		expect_place(list);
	else if (ntrace_flow_instructions(flow, expect_instruction, list))
		abort();
}

/* Callback of a flow. */
static inline int expect_event(void *data, const struct ntrace_flow_event *flow)
{
	struct expected_list *list = data;

	list->now.pid = -1;
	list->now.tid = -1;
	list->now.privilege = NTRACE_CURSOR_NO_PRIVILEGE;
	if (flow->context->prv_known)
		list->now.privilege =
			flow->context->v ? (flow->context->prv ? NTRACE_PRIV_VS : NTRACE_PRIV_VU) :
					   flow->context->prv;
	expect_flow(list, flow);
	return list->limit && list->count >= list->limit;
}

/* Callback of a session. */
static inline int expect_session_event(void *data, const struct ntrace_session_event *event)
{
	struct expected_list *list = data;

	list->now.pid = event->pid;
	list->now.tid = event->tid;
	list->now.privilege = event->privilege;
	list->now.sideband_ns = event->sideband_ns;
	list->now.stream = event->stream;
	list->now.cpu = event->cpu;
	snprintf(list->now.comm, sizeof(list->now.comm), "%.15s", event->comm);
	expect_flow(list, event->flow);
	return 0;
}

/* NULL if @place is the expected one; else what differs. */
static inline const char *place_differs(const struct ntrace_cursor_place *place,
					const struct expected *expected, bool by_instruction)
{
	const struct ntrace_flow_event *flow = place ? place->flow : NULL;
	struct ntrace_location at = { 0 };
	struct expected got;

	if (!place)
		return "no place";
	expect_common(&got, flow);
	if (got.type != expected->type || place->type != got.type)
		return "type";
	if (got.code != expected->code || got.etype != expected->etype)
		return "code";
	if (got.flags != expected->flags || got.last_size != expected->last_size)
		return "flags";
	if (place->address != expected->address)
		return "address";
	if (got.last != expected->last || got.next != expected->next)
		return "last or next";
	if (got.value != expected->value)
		return "value";
	if (got.offset != expected->offset || place->offset != got.offset)
		return "offset";
	if (got.time != expected->time || got.time_known != expected->time_known ||
	    place->time != got.time)
		return "time";
	if (!!place->time_kind != got.time_known)
		return "kind of time";
	if (got.scontext != expected->scontext)
		return "context";
	if (got.instructions != expected->instructions ||
	    place->instructions != expected->instructions)
		return "instructions";
	if (place->index != expected->index)
		return "index";
	if (place->size != expected->size || memcmp(place->bytes, expected->bytes, 8))
		return "bytes";
	if (by_instruction && place->type == NTRACE_FLOW_BLOCK &&
	    place->insn_class !=
		    (place->index + 1 == place->instructions ? got.insn_class : NTRACE_INSN_PLAIN))
		return "class";
	if (got.insn_class != expected->insn_class)
		return "class of the block";
	if (place->pid != expected->pid || place->tid != expected->tid ||
	    place->stream != expected->stream || place->cpu != expected->cpu ||
	    place->sideband_ns != expected->sideband_ns)
		return "task";
	if (strncmp(place->comm, expected->comm, 15))
		return "comm";
	if (place->privilege != expected->privilege)
		return "privilege";
	if (flow->space)
		ntrace_space_locate(flow->space, flow->address, &at);
	if (strncmp(at.symbol ? at.symbol : "", expected->symbol, 31))
		return "symbol";
	return NULL;
}

#define MARKS 32

struct walk {
	struct ntrace_cursor *cursor;
	const struct expected_list *list;
	uint64_t random;
	ptrdiff_t at;		/* -1: before the first place; count: after the last one */
	struct ntrace_cursor_mark marks[MARKS];
	ptrdiff_t marked[MARKS];
	unsigned int mark_count;
	bool timed;		/* a timestamp exists */
};

static inline uint64_t walk_random(struct walk *walk)
{
	walk->random ^= walk->random << 13;
	walk->random ^= walk->random >> 7;
	walk->random ^= walk->random << 17;
	return walk->random;
}

static inline const struct expected *any_place(struct walk *walk)
{
	return &walk->list->places[walk_random(walk) % walk->list->count];
}

/* Steps of one direction. Return: what is wrong. */
static inline const char *walk_steps(struct walk *walk, bool back)
{
	ptrdiff_t count = (ptrdiff_t)walk->list->count;
	unsigned int steps = 1 + walk_random(walk) % (walk_random(walk) % 8 ? 40 : 2000);

	while (steps--) {
		int got = back ? ntrace_cursor_prev(walk->cursor) :
				 ntrace_cursor_next(walk->cursor);
		const char *wrong;

		walk->at += back ? (walk->at >= 0 ? -1 : 0) : (walk->at < count ? 1 : 0);
		if (got != (walk->at < 0 || walk->at == count))
			return "result of a step";
		if (got && ntrace_cursor_place(walk->cursor))
			return "a place past the end";
		if (got)
			return NULL;
		wrong = place_differs(ntrace_cursor_place(walk->cursor),
				      &walk->list->places[walk->at], walk->list->by_instruction);
		if (wrong)
			return wrong;
	}
	return NULL;
}

/* The first place from @from on, in one direction, that has @what in common with @like. */
enum common { SAME_ADDRESS, SAME_TYPE };

static inline bool is_like(const struct walk *walk, const struct expected *place,
			   const struct expected *like, enum common what, uint64_t address)
{
	(void)walk;
	if (what == SAME_TYPE)
		return place->type == like->type;
	return place->type == NTRACE_FLOW_BLOCK && place->address == address;
}

static inline const char *walk_to_like(struct walk *walk, enum common what, bool back)
{
	const struct expected *like = any_place(walk);
	ptrdiff_t count = (ptrdiff_t)walk->list->count, to = walk->at, step = back ? -1 : 1;
	int got;

	/* An address inside a block matches the block, which the list does not tell. */
	if (what == SAME_ADDRESS && !walk->list->by_instruction)
		what = SAME_TYPE;
	for (to += step; to >= 0 && to < count; to += step) {
		/* With instruction steps, each other block of the type is one match. */
		if (is_like(walk, &walk->list->places[to], like, what, like->address) &&
		    (what == SAME_ADDRESS || !walk->list->places[to].index))
			break;
	}
	got = what == SAME_ADDRESS ? ntrace_cursor_seek_address(walk->cursor, like->address, back) :
				     ntrace_cursor_seek_type(walk->cursor, like->type, back);
	if (to < 0 || to >= count)
		return got == 1 ? NULL : "a match that is none";
	if (got)
		return "no match";
	walk->at = to;
	return NULL;
}

static inline const char *walk_to_time(struct walk *walk)
{
	uint64_t time = any_place(walk)->time + walk_random(walk) % 3;
	ptrdiff_t to = 0, count = (ptrdiff_t)walk->list->count;
	int got = ntrace_cursor_seek_time(walk->cursor, time);

	while (to < count &&
	       !(walk->list->places[to].time_known && walk->list->places[to].time >= time))
		to++;
	walk->at = to;
	return got == (to == count) ? NULL : "result of a time";
}

static inline const char *walk_mark(struct walk *walk)
{
	unsigned int at = walk->mark_count++ % MARKS, other;

	ntrace_cursor_save(walk->cursor, &walk->marks[at]);
	walk->marked[at] = walk->at;
	other = (unsigned int)(walk_random(walk) %
			       (walk->mark_count < MARKS ? walk->mark_count : MARKS));
	if (ntrace_cursor_compare(&walk->marks[at], &walk->marks[other]) !=
	    (walk->marked[at] > walk->marked[other]) - (walk->marked[at] < walk->marked[other]))
		return "order of positions";
	return NULL;
}

static inline const char *walk_restore(struct walk *walk)
{
	unsigned int known = walk->mark_count < MARKS ? walk->mark_count : MARKS, at;

	if (!known)
		return NULL;
	at = (unsigned int)(walk_random(walk) % known);
	walk->at = walk->marked[at];
	if (ntrace_cursor_restore(walk->cursor, &walk->marks[at]) !=
	    (walk->at < 0 || walk->at == (ptrdiff_t)walk->list->count))
		return "result of a position";
	return NULL;
}

static inline const char *walk_to_end(struct walk *walk, bool last)
{
	ptrdiff_t count = (ptrdiff_t)walk->list->count;

	walk->at = last ? count - 1 : 0;
	return (last ? ntrace_cursor_last(walk->cursor) : ntrace_cursor_first(walk->cursor)) ?
		       "result of an end" :
		       NULL;
}

static inline const char *walk_move(struct walk *walk)
{
	unsigned int kind = walk_random(walk) % 24;
	bool back = walk_random(walk) & 1;

	if (kind < 8)
		return walk_steps(walk, back);
	if (kind < 13)
		return walk_to_time(walk);
	if (kind < 15)
		return walk_to_like(walk, SAME_ADDRESS, back);
	if (kind < 17)
		return walk_to_like(walk, SAME_TYPE, back);
	if (kind < 20)
		return walk_mark(walk);
	if (kind < 23)
		return walk_restore(walk);
	return walk_to_end(walk, back);
}

/*
 * A walk of @moves random moves from @seed on. @text: a description of the first mismatch. Return:
 * whether all places are as expected.
 */
static inline bool cursor_walk(struct ntrace_cursor *cursor, const struct expected_list *list,
			       uint64_t seed, unsigned int moves, char text[200])
{
	struct walk walk = { .cursor = cursor, .list = list, .random = seed + 1, .at = -1 };
	const struct ntrace_cursor_place *place;
	const char *wrong = NULL;
	unsigned int move;

	while (ntrace_cursor_prev(cursor) == 0 && walk.at)
		ntrace_cursor_first(cursor);
	for (move = 0; move < moves && !wrong; move++) {
		wrong = walk_move(&walk);
		place = ntrace_cursor_place(cursor);
		if (wrong)
			break;
		if (walk.at < 0 || walk.at == (ptrdiff_t)list->count)
			wrong = place ? "a place past the end" : NULL;
		else
			wrong = place_differs(place, &list->places[walk.at], list->by_instruction);
	}
	snprintf(text, 200, "seed %" PRIu64 ", move %u, place %td of %zu: %s", seed, move, walk.at,
		 list->count, wrong ? wrong : "as expected");
	return !wrong;
}

#endif
