// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Cursors: their parts, and moves from place to place. */
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "session/session.h"
#include "struct_size.h"

void ntrace_cursor_config_init(struct ntrace_cursor_config *config)
{
	*config = (struct ntrace_cursor_config){
		.size = sizeof(*config),
		.pid = NTRACE_CURSOR_ANY,
		.tid = NTRACE_CURSOR_ANY,
		.fd = -1,
	};
}

static bool valid_config(const struct ntrace_cursor_config *config)
{
	if (config->step > NTRACE_CURSOR_BLOCKS ||
	    (config->window && (config->window < WINDOW_MIN || config->window > WINDOW_MAX)) ||
	    !struct_is_zero(config->reserved, sizeof(config->reserved)) || config->reserved32)
		return false;
	if (config->session)
		return true;
	return (config->data || config->fd >= 0) && config->pid == NTRACE_CURSOR_ANY &&
	       config->tid == NTRACE_CURSOR_ANY;
}

static bool is_wanted(const struct ntrace_cursor_config *config, const struct run *run)
{
	return (config->pid == NTRACE_CURSOR_ANY || config->pid == run->pid) &&
	       (config->tid == NTRACE_CURSOR_ANY || config->tid == run->tid);
}

/* Adds up what the parts hold. */
static void count_run(struct run *totals, const struct run *run)
{
	totals->count += run->count;
	totals->instructions += run->instructions;
	if (run->time_known)
		extend_times(&totals->first_time, &totals->last_time, &totals->time_known,
			     run->first_time, run->last_time);
}

/* The parts of a process or thread. */
static int take_runs(struct ntrace_cursor *cursor, const struct ntrace_cursor_config *config)
{
	const struct store *store = cursor->store;
	int error = runs_list(cursor->store);
	size_t count = 0, i;

	if (error)
		return error;
	cursor->by_thread = true;
	for (i = 0; i < store->order_count; i++)
		count += is_wanted(config, store->order[i]);
	cursor->parts = calloc(2 * count + 1, sizeof(*cursor->parts));
	if (!cursor->parts)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < store->order_count; i++) {
		const struct run *run = store->order[i];

		if (!is_wanted(config, run))
			continue;
		/* A process has the losses of all its threads anyway. */
		if (run->gap_items && config->tid != NTRACE_CURSOR_ANY)
			cursor->parts[cursor->part_count++] =
				(struct part){ .lane = store->lanes[run->lane],
					       .first = run->gap,
					       .count = run->gap_items };
		cursor->parts[cursor->part_count++] = (struct part){
			.lane = store->lanes[run->lane],
			.first = run->first,
			.count = run->count,
			.last_time = run->last_time,
			.time_known = run->time_known,
		};
		count_run(&cursor->totals, run);
	}
	return 0;
}

/* The one part of a whole stream. */
static int take_stream(struct ntrace_cursor *cursor, unsigned int stream)
{
	cursor->parts = calloc(1, sizeof(*cursor->parts));
	if (!cursor->parts)
		return NTRACE_ERR_NOMEM;
	cursor->part_count = 1;
	cursor->parts[0].count = UINT64_MAX;
	return store_lane(cursor->store, stream, &cursor->parts[0].lane);
}

static int open_cursor(struct ntrace_cursor *cursor, const struct ntrace_cursor_config *config)
{
	int error;

	cursor->by_instruction = config->step == NTRACE_CURSOR_INSTRUCTIONS;
	cursor->privileges = config->privileges;
	error = config->session ?
			store_of_session(&cursor->store, config->session, config->window) :
			store_of_bytes(&cursor->store, config);
	if (error)
		return error;
	if (config->stop) {
		cursor->store->stop = config->stop;
		cursor->store->stop_data = config->stop_data;
	}
	if (!config->session)
		return take_stream(cursor, 0);
	if (config->pid == NTRACE_CURSOR_ANY && config->tid == NTRACE_CURSOR_ANY)
		return take_stream(cursor, config->stream);
	return take_runs(cursor, config);
}

int ntrace_cursor_new(struct ntrace_cursor **cursor, const struct ntrace_cursor_config *config)
{
	struct ntrace_cursor_config full;
	struct ntrace_cursor *made;
	int error;

	ntrace_cursor_config_init(&full);
	if (STRUCT_TAKE(&full, config) || !valid_config(&full))
		return NTRACE_ERR_INVALID;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	error = open_cursor(made, &full);
	if (error) {
		ntrace_cursor_free(made);
		return error;
	}
	*cursor = made;
	return 0;
}

void ntrace_cursor_free(struct ntrace_cursor *cursor)
{
	if (!cursor)
		return;
	window_put(cursor->window);
	if (cursor->store && cursor->store->raw)
		store_free(cursor->store);
	free(cursor->parts);
	free(cursor);
}

int cursor_turn(const struct ntrace_cursor *cursor, const struct spot *spot, bool backwards,
		struct window **window)
{
	struct lane *lane = cursor->parts[spot->part].lane;
	struct window *other;
	int got;

	if (*window && (*window)->lane == lane && spot->item >= (*window)->first &&
	    spot->item < window_end(*window))
		return 0;
	got = lane_window(lane, spot->item, backwards, &other);
	if (got)
		return got;
	window_put(*window);
	*window = other;
	return 0;
}

static uint32_t privilege_of(const struct ntrace_cursor *cursor, const struct window *window,
			     const struct item *item)
{
	const struct state *state = window_state(window, window_group(window, item));

	if (!cursor->store->raw)
		return state->privilege;
	if (!state->context.prv_known)
		return NTRACE_CURSOR_NO_PRIVILEGE;
	if (!state->context.v)
		return state->context.prv;
	return state->context.prv == NTRACE_PRIV_U ? NTRACE_PRIV_VU : NTRACE_PRIV_VS;
}

static bool is_visible(const struct ntrace_cursor *cursor, const struct window *window,
		       uint64_t number)
{
	const struct item *item;
	uint32_t privilege;

	if (!cursor->privileges)
		return true;
	item = window_item(window, number);
	if (item->flags & ITEM_EVENT)
		return true;
	privilege = privilege_of(cursor, window, item);
	return privilege == NTRACE_CURSOR_NO_PRIVILEGE || cursor->privileges >> privilege & 1;
}

int cursor_forward(const struct ntrace_cursor *cursor, struct spot *spot, struct window **window)
{
	spot->index = 0;
	while (spot->part < cursor->part_count) {
		const struct part *part = &cursor->parts[spot->part];
		int got = 1;

		if (spot->item - part->first < part->count)
			got = cursor_turn(cursor, spot, false, window);
		if (got < 0)
			return got;
		if (got) {
			spot->part++;
			if (spot->part < cursor->part_count)
				spot->item = cursor->parts[spot->part].first;
			continue;
		}
		if (is_visible(cursor, *window, spot->item))
			return 0;
		spot->item++;
	}
	return 1;
}

int cursor_back(const struct ntrace_cursor *cursor, struct spot *spot, struct window **window)
{
	for (;;) {
		const struct part *part = &cursor->parts[spot->part];
		int got;

		if (spot->part == cursor->part_count || spot->item == part->first) {
			if (!spot->part)
				return 1;
			spot->part--;
			part = &cursor->parts[spot->part];
			spot->item = part->first + part->count;
			continue;
		}
		spot->item--;
		got = cursor_turn(cursor, spot, true, window);
		if (got < 0)
			return got;
		if (!got && is_visible(cursor, *window, spot->item))
			return 0;
	}
}

int cursor_end(const struct ntrace_cursor *cursor, struct spot *spot)
{
	const struct part *part = &cursor->parts[0];
	int error;

	*spot = (struct spot){ .part = cursor->part_count };
	if (cursor->by_thread)
		return 0;
	error = lane_complete(part->lane);
	spot->part = 0;
	spot->item = part->lane->known.items;
	return error;
}

/* Finds the instructions of a block in its bytes. */
static void measure(struct sizes *sizes, const struct window *window, const struct code *code)
{
	const uint8_t *text = window_text(window, code);
	struct ntrace_insn insn;
	uint32_t offset = 0;

	sizes->count = 0;
	sizes->known = text && code->instructions <= BLOCK_INSTRUCTIONS;
	while (sizes->known && sizes->count < code->instructions) {
		sizes->starts[sizes->count++] = (uint16_t)offset;
		sizes->known = !ntrace_insn_decode(code->isa, text + offset, code->bytes - offset,
						   code->address + offset, &insn);
		offset += insn.size;
	}
	sizes->known = sizes->known && offset == code->bytes;
	if (!sizes->known) {
		sizes->count = 1;
		sizes->starts[0] = 0;
	}
}

const struct sizes *cursor_sizes(struct ntrace_cursor *cursor, const struct window *window,
				 const struct item *item)
{
	struct sizes *sizes = &cursor->sizes;

	if (sizes->window == window->number && sizes->what == item->what)
		return sizes;
	measure(sizes, window, window_code(window, item));
	sizes->window = window->number;
	sizes->what = item->what;
	return sizes;
}

uint32_t cursor_steps(struct ntrace_cursor *cursor, const struct window *window,
		      const struct item *item)
{
	if (!cursor->by_instruction || item->flags & ITEM_EVENT)
		return 1;
	return cursor_sizes(cursor, window, item)->count;
}

/* The instruction of the place: with block steps the first one of the block. */
static void show_instruction(struct ntrace_cursor *cursor, const struct item *item)
{
	const struct window *window = cursor->window;
	const struct code *code = window_code(window, item);
	struct ntrace_cursor_place *place = &cursor->place;
	uint32_t index = cursor->spot.index, start = 0, end = code->first_size;
	const struct sizes *sizes;
	bool known = end;

	if (cursor->by_instruction) {
		sizes = cursor_sizes(cursor, window, item);
		known = sizes->known;
		start = sizes->starts[index];
		end = index + 1 < sizes->count ? sizes->starts[index + 1] : code->bytes;
		if (index + 1 < sizes->count)
			place->insn_class = NTRACE_INSN_PLAIN;
	}
	place->address = code->address + start;
	if (!known)
		return;
	place->size = (uint8_t)(end - start);
	memcpy(place->bytes, window_text(window, code) + start, place->size);
}

/* The block as the flow reports it. */
static void show_block(struct ntrace_cursor *cursor, const struct item *item)
{
	const struct code *code = window_code(cursor->window, item);
	struct ntrace_cursor_place *place = &cursor->place;

	cursor->flow = (struct ntrace_flow_event){
		.type = NTRACE_FLOW_BLOCK,
		.insn_class = code->insn_class,
		.taken = item->flags & NTRACE_BLOCK_TAKEN,
		.interrupted = item->flags & NTRACE_BLOCK_INTERRUPTED,
		.provisional = item->flags & NTRACE_BLOCK_PROVISIONAL,
		.next_known = item->flags & NTRACE_BLOCK_NEXT_KNOWN,
		.last_size = code->last_size,
		.instructions = code->instructions,
		.address = code->address,
		.last = code->address + code->bytes - code->last_size,
		.next = item->next,
		.isa = code->isa,
	};
	place->index = cursor->spot.index;
	place->instructions = code->instructions;
	place->insn_class = code->insn_class;
	show_instruction(cursor, item);
}

static void show(struct ntrace_cursor *cursor)
{
	const struct window *window = cursor->window;
	const struct item *item = window_item(window, cursor->spot.item);
	const struct group *group = window_group(window, item);
	const struct state *state = window_state(window, group);
	const struct lane *lane = cursor->parts[cursor->spot.part].lane;
	struct ntrace_cursor_place *place = &cursor->place;
	struct ntrace_flow_event *flow = &cursor->flow;

	*place = (struct ntrace_cursor_place){
		.type = NTRACE_FLOW_BLOCK,
		.time_kind = !group->time_known		? NTRACE_CURSOR_TIME_NONE :
			     item->flags & ITEM_STAMPED ? NTRACE_CURSOR_TIME_REPORTED :
							  NTRACE_CURSOR_TIME_EARLIER,
		.offset = group->offset,
		.time = group->time,
		.flow = flow,
		.stream = lane->index,
		.cpu = state->cpu,
		.pid = state->pid,
		.tid = state->tid,
		.comm = lane->store->raw ? "" : (const char *)window->names.items + state->comm,
		.privilege = privilege_of(cursor, window, item),
		.sideband_ns = state->sideband_ns,
	};
	if (item->flags & ITEM_EVENT) {
		*flow = *window_event(window, item);
		place->type = flow->type;
		place->address = flow->address;
	} else {
		show_block(cursor, item);
	}
	flow->dialect = (uint8_t)lane->store->session->streams[lane->index].params->dialect;
	flow->offset = group->offset;
	flow->time = group->time;
	flow->time_known = group->time_known;
	flow->src = group->src;
	flow->context = &state->context;
	flow->space = state->space;
}

void cursor_set(struct ntrace_cursor *cursor, const struct spot *spot, struct window *window)
{
	struct window *old = cursor->window;

	cursor->window = window;
	window_put(old);
	cursor->where = AT;
	cursor->spot = *spot;
	show(cursor);
}

int cursor_leave(struct ntrace_cursor *cursor, enum where where)
{
	cursor->where = where;
	return 1;
}

const struct ntrace_cursor_place *ntrace_cursor_place(const struct ntrace_cursor *cursor)
{
	return cursor->where == AT ? &cursor->place : NULL;
}
