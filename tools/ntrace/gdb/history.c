// SPDX-License-Identifier: GPL-2.0-only
/* What threads executed: places of their cursors, with numbers; see history.h. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "history.h"

/* Blocks between two posts, as far as the cursor has been there. */
#define POST_BLOCKS 1024
/* Maximum number of instructions of a block (lib/flow). */
#define BLOCK_INSTRUCTIONS 4096

/* A block with a known number of instructions before it. */
struct post {
	struct ntrace_cursor_mark mark;
	uint64_t first;
};

/**
 * struct history_cursor - the cursor of a thread, by blocks
 * @here: the block where it is
 * @whole: of all privileges; NULL = so is @cursor, or not needed so far
 * @post: in order; the first block is one of them
 * @moves: blocks since the last post
 * @sized: @starts are those of the present block, offsets from @base
 */
struct history_cursor {
	struct ntrace_cursor *cursor;
	struct ntrace_cursor *whole;
	struct ntrace_cursor_mark here;
	struct post *post;
	size_t posts, room;
	unsigned int moves;
	bool sized;
	uint32_t count;
	uint64_t base;
	uint16_t starts[BLOCK_INSTRUCTIONS];
};

static void free_cursor(struct history_cursor *cursor)
{
	if (!cursor)
		return;
	ntrace_cursor_free(cursor->cursor);
	ntrace_cursor_free(cursor->whole);
	free(cursor->post);
	free(cursor);
}

void history_free(struct history *history)
{
	size_t i;

	replay_free(history->replay);
	tdestroy(history->thread_tree, free);
	tdestroy(history->module_tree, free);
	for (i = 0; i < history->thread_count; i++)
		free_cursor(history->thread[i].cursor);
	for (i = 0; i < history->thread_count; i++)
		ntrace_values_free(history->thread[i].values);
	for (i = 0; i < history->module_count; i++) {
		ntrace_object_put(history->module[i].object);
		free(history->module[i].entry);
	}
	free(history->thread);
	free(history->module);
	*history = (struct history){ 0 };
}

/* ---- cursors ---- */

static void cursor_failed(int error)
{
	fail("the trace cannot be decoded any more: %s", ntrace_strerror(error));
}

static bool same_mark(const struct ntrace_cursor_mark *a, const struct ntrace_cursor_mark *b)
{
	return !ntrace_cursor_compare(a, b);
}

/* Goes to the next item of the thread, in its stream. Return: as ntrace_cursor_next() */
static int move(const struct history *history, struct ntrace_cursor *cursor, bool back)
{
	int got;

	do
		got = back ? ntrace_cursor_prev(cursor) : ntrace_cursor_next(cursor);
	while (!got && history->stream >= 0 &&
	       ntrace_cursor_place(cursor)->stream != history->stream);
	if (got < 0)
		cursor_failed(got);
	return got;
}

/* Goes to the next block. Return: false: there is none */
static bool move_to_block(const struct history *history, struct ntrace_cursor *cursor, bool back)
{
	while (!move(history, cursor, back))
		if (ntrace_cursor_place(cursor)->type == NTRACE_FLOW_BLOCK)
			return true;
	return false;
}

static struct history_cursor *open_cursor(const struct history *history, uint32_t number)
{
	struct history_thread *thread = &history->thread[number];
	struct history_cursor *made = thread->cursor;
	int error;

	if (made)
		return made;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	thread->config.step = NTRACE_CURSOR_BLOCKS;
	error = ntrace_cursor_new(&made->cursor, &thread->config);
	if (!error && history_grow(&made->post, 0, &made->room, sizeof(*made->post)) &&
	    move_to_block(history, made->cursor, false)) {
		ntrace_cursor_save(made->cursor, &made->here);
		made->post[made->posts++] = (struct post){ made->here, 0 };
		thread->cursor = made;
		return made;
	}
	if (error)
		cursor_failed(error);
	free_cursor(made);
	return NULL;
}

const struct ntrace_cursor_place *history_at(const struct history *history,
					     const struct history_place *place)
{
	/* A trace that cannot be read any more. */
	static const struct ntrace_flow_event no_flow = { .type = NTRACE_FLOW_BLOCK };
	static const struct ntrace_cursor_place nowhere = { .flow = &no_flow, .comm = "" };
	struct history_cursor *cursor;
	const struct ntrace_cursor_place *at;
	int error = 0;

	if (history->replay)
		return replay_place(history->replay, place->first);
	cursor = open_cursor(history, place->thread);
	if (!cursor)
		return &nowhere;
	if (!same_mark(&cursor->here, &place->mark) || !ntrace_cursor_place(cursor->cursor))
		error = ntrace_cursor_restore(cursor->cursor, &place->mark);
	if (error < 0)
		cursor_failed(error);
	if (!same_mark(&cursor->here, &place->mark))
		cursor->sized = false;
	cursor->here = place->mark;
	at = ntrace_cursor_place(cursor->cursor);
	return at ? at : &nowhere;
}

struct ntrace_values *history_values(const struct history *history,
				     const struct history_place *place)
{
	struct history_thread *thread = &history->thread[place->thread];
	const struct ntrace_values_config config = {
		.size = sizeof(config),
		.session = thread->config.session,
		.pid = thread->config.pid,
		.tid = thread->config.tid,
		.core = history->core,
	};
	int error = 0;

	/* A CPU of all that ran on it has no thread of its own. */
	if (!config.session || config.tid == NTRACE_CURSOR_ANY || thread->valueless)
		return NULL;
	if (!thread->values)
		error = ntrace_values_new(&thread->values, &config);
	thread->valueless = error;
	if (!error)
		error = ntrace_values_seek(thread->values, &place->mark, place->instruction);
	if (error < 0 && error != NTRACE_ERR_UNSUPPORTED)
		cursor_failed(error);
	return error ? NULL : thread->values;
}

static int take_start(void *data, uint64_t address, const uint8_t *bytes,
		      const struct ntrace_insn *insn)
{
	struct history_cursor *cursor = data;

	(void)bytes;
	(void)insn;
	if (cursor->count < BLOCK_INSTRUCTIONS)
		cursor->starts[cursor->count++] = (uint16_t)(address - cursor->base);
	return 0;
}

/* The offsets of the instructions of a block. */
static const uint16_t *starts_of(const struct history *history, const struct history_place *place)
{
	static const uint16_t none[BLOCK_INSTRUCTIONS];
	const struct ntrace_cursor_place *at = history_at(history, place);
	struct history_cursor *cursor = history->thread[place->thread].cursor;

	if (!cursor)
		return none;
	if (!cursor->sized) {
		cursor->count = 0;
		cursor->base = at->address;
		ntrace_flow_instructions(at->flow, take_start, cursor);
		cursor->sized = true;
	}
	return cursor->starts;
}

uint64_t history_pc(const struct history *history, const struct history_place *place)
{
	uint64_t address = history_at(history, place)->address;

	return place->instruction ? address + starts_of(history, place)[place->instruction] :
				    address;
}

/* ---- posts ---- */

/* The post at or before a block, by its mark. */
static size_t post_before(const struct history_cursor *cursor,
			  const struct ntrace_cursor_mark *mark)
{
	size_t low = 0, high = cursor->posts;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (ntrace_cursor_compare(&cursor->post[middle].mark, mark) <= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Notes the block where the cursor is, unless that is near a post. Without memory, it is none. */
static void add_post(struct history_cursor *cursor, uint64_t first)
{
	size_t before;

	if (++cursor->moves < POST_BLOCKS)
		return;
	cursor->moves = 0;
	ntrace_cursor_save(cursor->cursor, &cursor->here);
	before = post_before(cursor, &cursor->here);
	if (same_mark(&cursor->post[before].mark, &cursor->here) ||
	    !history_grow(&cursor->post, cursor->posts, &cursor->room, sizeof(*cursor->post)))
		return;
	memmove(&cursor->post[before + 2], &cursor->post[before + 1],
		(cursor->posts - before - 1) * sizeof(*cursor->post));
	cursor->post[before + 1] = (struct post){ cursor->here, first };
	cursor->posts++;
}

static struct history_place place_of(uint32_t thread, const struct post *post)
{
	return (struct history_place){ .thread = thread, .first = post->first, .mark = post->mark };
}

static struct history_place last_place(const struct history *history, uint32_t number)
{
	const struct history_thread *thread = &history->thread[number];
	struct history_cursor *cursor = open_cursor(history, number);
	struct history_place place = { .thread = number };
	const struct ntrace_cursor_place *at;
	int error;

	if (!cursor)
		return place;
	error = ntrace_cursor_last(cursor->cursor);
	if (error < 0)
		cursor_failed(error);
	at = ntrace_cursor_place(cursor->cursor);
	if (at && (at->type != NTRACE_FLOW_BLOCK ||
		   (history->stream >= 0 && at->stream != history->stream)))
		move_to_block(history, cursor->cursor, true);
	ntrace_cursor_save(cursor->cursor, &cursor->here);
	cursor->sized = false;
	place.mark = cursor->here;
	at = history_at(history, &place);
	place.first = thread->instructions - at->instructions;
	place.instruction = at->instructions - 1;
	return place;
}

struct history_place history_seek(const struct history *history, uint32_t thread, uint64_t number)
{
	struct history *walked = (struct history *)(uintptr_t)history;
	const struct history_thread *of = &history->thread[thread];
	struct history_place place, last;
	struct history_cursor *cursor;
	const char *gap;
	size_t post;

	if (history->replay)
		return (struct history_place){
			.thread = thread,
			.first = number < of->instructions ? number : of->instructions - 1,
		};
	if (number + 1 >= of->instructions)
		return last_place(history, thread);
	cursor = open_cursor(history, thread);
	if (!cursor)
		return (struct history_place){ .thread = thread };
	for (post = cursor->posts - 1; cursor->post[post].first > number; post--)
		;
	place = place_of(thread, &cursor->post[post]);
	/* From the nearest place with a known number. */
	last = post + 1 < cursor->posts ? place_of(thread, &cursor->post[post + 1]) :
					  last_place(history, thread);
	if (last.first - number < number - place.first)
		place = last;
	while (number < place.first)
		if (!history_step_block(walked, &place, true, &gap))
			break;
	while (number - place.first >= history_at(history, &place)->instructions)
		if (!history_step_block(walked, &place, false, &gap))
			break;
	place.instruction = (uint32_t)(number - place.first);
	return place;
}

/* ---- gaps ---- */

static bool is_shown(const struct history_thread *thread, const struct ntrace_cursor_place *place)
{
	return place->privilege == NTRACE_CURSOR_NO_PRIVILEGE ||
	       thread->config.privileges >> place->privilege & 1;
}

/* Whether the code before or after a gap is shown. */
static bool is_next_to_shown(const struct history *history, const struct history_thread *thread,
			     const struct ntrace_cursor_mark *gap)
{
	struct ntrace_cursor_config config = thread->config;
	struct ntrace_cursor *whole = thread->cursor->whole;

	config.privileges = 0;
	if (!whole && ntrace_cursor_new(&thread->cursor->whole, &config))
		return true;
	whole = thread->cursor->whole;
	for (unsigned int back = 0; back < 2; back++)
		if (!ntrace_cursor_restore(whole, gap) && move_to_block(history, whole, back) &&
		    is_shown(thread, ntrace_cursor_place(whole)))
			return true;
	return false;
}

/*
 * Explains the gap where the cursor is: by the error before it. Return: false: memory that is not
 * known between code that is not shown, such as firmware
 */
static bool explain_gap(struct history *history, const struct history_thread *thread)
{
	struct ntrace_cursor *cursor = thread->cursor->cursor;
	struct ntrace_cursor_mark mark;
	const struct ntrace_cursor_place *place;
	bool unmapped = false;

	ntrace_flow_describe(ntrace_cursor_place(cursor)->flow, history->gap, sizeof(history->gap));
	ntrace_cursor_save(cursor, &mark);
	ntrace_cursor_prev(cursor);
	place = ntrace_cursor_place(cursor);
	if (place && place->type == NTRACE_FLOW_ERROR) {
		unmapped = place->flow->code == NTRACE_FLOW_ERROR_NOMAP;
		ntrace_flow_describe(place->flow, history->gap, sizeof(history->gap));
	}
	ntrace_cursor_restore(cursor, &mark);
	return !unmapped || !thread->config.privileges || is_next_to_shown(history, thread, &mark);
}

/* ---- moves ---- */

bool history_step_block(struct history *history, struct history_place *place, bool back,
			const char **gap)
{
	const struct history_thread *thread = &history->thread[place->thread];
	uint32_t instructions = history_at(history, place)->instructions;
	struct history_cursor *cursor = thread->cursor;
	const struct ntrace_cursor_place *at;

	*gap = NULL;
	if (history->replay) {
		if (back ? !place->first : place->first + 1 >= thread->instructions)
			return false;
		place->first += back ? UINT64_MAX : 1;
		return true;
	}
	if (!cursor)
		return false;
	do {
		if (move(history, cursor->cursor, back)) {
			ntrace_cursor_restore(cursor->cursor, &place->mark);
			*gap = NULL;
			return false;
		}
		at = ntrace_cursor_place(cursor->cursor);
		if (at->type == NTRACE_FLOW_GAP && explain_gap(history, thread))
			*gap = history->gap;
	} while (at->type != NTRACE_FLOW_BLOCK);
	ntrace_cursor_save(cursor->cursor, &cursor->here);
	cursor->sized = false;
	place->mark = cursor->here;
	place->first = back ? place->first - at->instructions : place->first + instructions;
	place->instruction = back ? at->instructions - 1 : 0;
	add_post(cursor, place->first);
	return true;
}

bool history_step(struct history *history, struct history_place *place, bool back, const char **gap)
{
	*gap = NULL;
	if (back ? place->instruction > 0 :
		   place->instruction + 1 < history_at(history, place)->instructions) {
		place->instruction += back ? UINT32_MAX : 1;
		return true;
	}
	return history_step_block(history, place, back, gap);
}

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

void history_sort(uint64_t *address, size_t count)
{
	if (count)
		qsort(address, count, sizeof(*address), compare_addresses);
}

/* Index of the first address that is not below @from. */
static size_t first_from(const struct history_search *search, uint64_t from)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->address[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool history_has(const struct history_search *search, uint64_t address)
{
	size_t at = first_from(search, address);

	return at < search->count && search->address[at] == address;
}

/* Whether a block may have an instruction that is looked for. */
static bool may_have(const struct history_search *search, const struct ntrace_cursor_place *block)
{
	size_t at = first_from(search, block->address);

	return at < search->count && search->address[at] <= block->flow->last;
}

/* The next instruction that is looked for in the block, from @at on. Return: false: none up to the limit */
static bool find_in_block(const struct history *history, struct history_place *place, int64_t at,
			  bool back, const struct history_search *search)
{
	const struct ntrace_cursor_place *block = history_at(history, place);
	const uint64_t first = place->first;
	const uint16_t *starts;

	if (!may_have(search, block))
		return false;
	starts = starts_of(history, place);
	for (; at >= 0 && at < (int64_t)block->instructions; at += back ? -1 : 1) {
		if (back ? first + (uint64_t)at < search->limit :
			   first + (uint64_t)at > search->limit)
			return false;
		if (history_has(search, block->address + starts[at])) {
			place->instruction = (uint32_t)at;
			return true;
		}
	}
	return false;
}

/* Whether the limit is in the block of @place. */
static bool has_limit(const struct history *history, const struct history_place *place,
		      uint64_t limit)
{
	return limit - place->first < history_at(history, place)->instructions;
}

/* The number of the block where the cursor is, from the post before it. */
static uint64_t count_to(const struct history *history, uint32_t thread,
			 const struct ntrace_cursor_mark *mark)
{
	struct history *walked = (struct history *)(uintptr_t)history;
	struct history_cursor *cursor = history->thread[thread].cursor;
	struct history_place place = place_of(thread, &cursor->post[post_before(cursor, mark)]);
	const char *gap;

	while (!same_mark(&place.mark, mark) && history_step_block(walked, &place, false, &gap))
		;
	return place.first;
}

/*
 * The nearest change of watched memory, seen from @place; @here: only one that the next step goes over. Return:
 * false: none is known
 */
static bool find_change(const struct history *history, const struct history_place *place, bool back,
			bool here, const struct history_search *search, struct history_place *found,
			uint64_t *address)
{
	bool any = false;

	for (size_t i = 0; history->valued && i < search->watches; i++) {
		struct ntrace_values *values = history_values(history, place);
		struct history_place at = { .thread = place->thread };
		int error = !values ? 1 :
				      ntrace_values_find_change(values, back, here,
								search->watch[i].first,
								search->watch[i].last, &at.mark,
								&at.instruction);

		if (error < 0)
			cursor_failed(error);
		if (error)
			continue;
		at.first = count_to(history, place->thread, &at.mark);
		if (any && (back ? history_number(&at) < history_number(found) :
				   history_number(&at) > history_number(found)))
			continue;
		*found = at;
		*address = search->watch[i].first;
		any = true;
	}
	return any;
}

bool history_stores(const struct history *history, const struct history_place *place, bool back,
		    const struct history_search *search, uint64_t *address)
{
	struct history_place found = { .thread = place->thread };

	if (history->replay)
		return history_stores_in_replay(history, place, back, search, address);
	return find_change(history, place, back, true, search, &found, address);
}

static bool find_breakpoint(struct history *history, struct history_place *place, bool back,
			    const struct history_search *search);

bool history_find(struct history *history, struct history_place *place, bool back,
		  const struct history_search *search)
{
	struct history_search until = *search;
	struct history_place changed = { .thread = place->thread };
	uint64_t address = 0;

	if (history->replay)
		return history_find_in_replay(history, place, back, search);
	if (!search->watches ||
	    !find_change(history, place, back, false, search, &changed, &address) ||
	    (back ? history_number(&changed) < search->limit :
		    history_number(&changed) > search->limit))
		return find_breakpoint(history, place, back, search);
	/* A breakpoint on the way comes first. */
	until.limit = history_number(&changed);
	if (until.limit != history_number(place) && find_breakpoint(history, place, back, &until))
		return true;
	*place = changed;
	return true;
}

static bool find_breakpoint(struct history *history, struct history_place *place, bool back,
			    const struct history_search *search)
{
	int64_t at = (int64_t)place->instruction + (back ? -1 : 1);
	const char *gap;

	while (!find_in_block(history, place, at, back, search)) {
		if (has_limit(history, place, search->limit)) {
			place->instruction = (uint32_t)(search->limit - place->first);
			return false;
		}
		if (!history_step_block(history, place, back, &gap)) {
			place->instruction = back ? 0 :
						    history_at(history, place)->instructions - 1;
			return false;
		}
		if (gap && search->passed)
			search->passed(search->data, gap);
		at = place->instruction;
		if (search->bounded && (back ? history_order(history, place) < search->until :
					       history_order(history, place) > search->until))
			return false;
	}
	return true;
}

/* ---- time ---- */

uint64_t history_order(const struct history *history, const struct history_place *place)
{
	const struct ntrace_cursor_place *at = history_at(history, place);

	/* The harts of a raw trace share a stream. */
	return history->thread[place->thread].config.session ? at->sideband_ns : at->offset;
}

void history_at_order(struct history *history, struct history_place *place, uint64_t order)
{
	struct history_place next;
	const char *gap;

	while (history_order(history, place) > order) {
		if (!history_step_block(history, place, true, &gap)) {
			place->instruction = 0;
			return;
		}
	}
	for (next = *place; history_step_block(history, &next, false, &gap) &&
			    history_order(history, &next) <= order;)
		*place = next;
	place->instruction = history_at(history, place)->instructions - 1;
}

struct history_place history_at_time(struct history *history, uint32_t thread, uint64_t time)
{
	struct history_cursor *cursor = open_cursor(history, thread);
	struct history_place place = { .thread = thread };
	int got = 1;

	if (!cursor)
		return place;
	if (time < UINT64_MAX)
		got = ntrace_cursor_seek_time(cursor->cursor, time + 1);
	if (got < 0)
		cursor_failed(got);
	if (got == 1)
		return last_place(history, thread);
	if (!move_to_block(history, cursor->cursor, true))
		return place_of(thread, &cursor->post[0]);
	ntrace_cursor_save(cursor->cursor, &place.mark);
	cursor->here = place.mark;
	cursor->sized = false;
	place.first = count_to(history, thread, &place.mark);
	place.instruction = history_at(history, &place)->instructions - 1;
	return place;
}

/* ---- raw traces ---- */

bool history_survey(struct history *history, uint32_t number, struct ntrace_locator *locator)
{
	struct history_cursor *cursor = open_cursor(history, number);
	struct history_thread *thread = &history->thread[number];

	if (!cursor)
		return true;
	do {
		const struct ntrace_cursor_place *at = ntrace_cursor_place(cursor->cursor);
		const struct ntrace_location *place =
			ntrace_locator_find(locator, at->flow->space, at->address);
		const struct ntrace_block block = {
			.address = at->address,
			.instructions = at->instructions,
			.bytes = (uint32_t)(at->flow->last + at->flow->last_size - at->address),
		};
		int64_t module = -1;

		if (place->object) {
			module = history_add_module(history, place->object,
						    at->address - place->link_address, -1);
			if (module < 0)
				return false;
		}
		add_post(cursor, thread->instructions);
		history_survey_block(history, thread, module, &block, 1);
		if (at->time_kind != NTRACE_CURSOR_TIME_NONE &&
		    (!history->time_known || at->time < history->first_time)) {
			history->time_known = true;
			history->first_time = at->time;
		}
	} while (move_to_block(history, cursor->cursor, false));
	return true;
}
