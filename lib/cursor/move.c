// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Cursors: single steps, saved positions, totals. */
#include "compare.h"
#include "cursor.h"
#include "session/session.h"
#include "struct_size.h"

/* The window of the cursor, with a reference of its own; NULL if it has none. */
static struct window *held_window(const struct ntrace_cursor *cursor)
{
	return cursor->window ? window_get(cursor->window) : NULL;
}

/* Ends a move: to @spot, or with @got past the end @where, or with an error nowhere. */
static int finish(struct ntrace_cursor *cursor, int got, const struct spot *spot,
		  struct window *window, enum where where)
{
	if (!got) {
		cursor_set(cursor, spot, window);
		return 0;
	}
	window_put(window);
	return got < 0 ? got : cursor_leave(cursor, where);
}

static int move_forward(struct ntrace_cursor *cursor, struct spot spot)
{
	struct window *window = held_window(cursor);
	int got = cursor_forward(cursor, &spot, &window);

	return finish(cursor, got, &spot, window, AFTER);
}

static int move_back(struct ntrace_cursor *cursor, struct spot spot)
{
	struct window *window = held_window(cursor);
	int got = cursor_back(cursor, &spot, &window);

	if (!got)
		spot.index = cursor_steps(cursor, window, window_item(window, spot.item)) - 1;
	return finish(cursor, got, &spot, window, BEFORE);
}

int ntrace_cursor_first(struct ntrace_cursor *cursor)
{
	return move_forward(cursor, (struct spot){ .item = cursor->parts[0].first });
}

int ntrace_cursor_last(struct ntrace_cursor *cursor)
{
	struct spot spot;
	int error = cursor_end(cursor, &spot);

	return error ? error : move_back(cursor, spot);
}

/* Number of places in the item of the cursor. */
static uint32_t present_steps(struct ntrace_cursor *cursor)
{
	return cursor_steps(cursor, cursor->window, window_item(cursor->window, cursor->spot.item));
}

int ntrace_cursor_next(struct ntrace_cursor *cursor)
{
	struct spot spot = cursor->spot;

	if (cursor->where == BEFORE)
		return ntrace_cursor_first(cursor);
	if (cursor->where == AFTER)
		return 1;
	if (spot.index + 1 < present_steps(cursor)) {
		spot.index++;
		cursor_set(cursor, &spot, held_window(cursor));
		return 0;
	}
	spot.item++;
	return move_forward(cursor, spot);
}

int ntrace_cursor_prev(struct ntrace_cursor *cursor)
{
	struct spot spot = cursor->spot;

	if (cursor->where == AFTER)
		return ntrace_cursor_last(cursor);
	if (cursor->where == BEFORE)
		return 1;
	if (spot.index) {
		spot.index--;
		cursor_set(cursor, &spot, held_window(cursor));
		return 0;
	}
	return move_back(cursor, spot);
}

void ntrace_cursor_save(const struct ntrace_cursor *cursor, struct ntrace_cursor_mark *mark)
{
	*mark = (struct ntrace_cursor_mark){ 0 };
	if (cursor->where == AFTER)
		mark->run = UINT64_MAX;
	if (cursor->where != AT)
		return;
	mark->run = cursor->spot.part + 1;
	mark->item = cursor->spot.item;
	mark->index = cursor->spot.index;
}

int ntrace_cursor_restore(struct ntrace_cursor *cursor, const struct ntrace_cursor_mark *mark)
{
	struct spot spot = { .part = (size_t)(mark->run - 1), .item = mark->item };
	struct window *window;
	int got;

	if (!mark->run || mark->run == UINT64_MAX)
		return mark->item || mark->index ? NTRACE_ERR_INVALID :
						   cursor_leave(cursor, mark->run ? AFTER : BEFORE);
	if (mark->run > cursor->part_count || mark->item < cursor->parts[spot.part].first ||
	    mark->item - cursor->parts[spot.part].first >= cursor->parts[spot.part].count ||
	    mark->index >= BLOCK_INSTRUCTIONS)
		return NTRACE_ERR_INVALID;
	window = held_window(cursor);
	got = cursor_turn(cursor, &spot, false, &window);
	if (!got && cursor->by_instruction) {
		spot.index = (uint32_t)mark->index;
		if (spot.index >= cursor_steps(cursor, window, window_item(window, spot.item)))
			got = 1;
	}
	if (!got) {
		cursor_set(cursor, &spot, window);
		return 0;
	}
	window_put(window);
	return got < 0 ? got : NTRACE_ERR_INVALID;
}

int ntrace_cursor_compare(const struct ntrace_cursor_mark *a, const struct ntrace_cursor_mark *b)
{
	int order = compare_numbers(a->run, b->run);

	if (!order)
		order = compare_numbers(a->item, b->item);
	return order ? order : compare_numbers(a->index, b->index);
}

void ntrace_cursor_extent(const struct ntrace_cursor *cursor, struct ntrace_cursor_extent *extent)
{
	struct ntrace_cursor_extent made = { .size = sizeof(made), .complete = cursor->by_thread };
	const struct store *store = cursor->store;

	if (cursor->by_thread) {
		made.items = cursor->totals.count;
		made.instructions = cursor->totals.instructions;
		made.time_known = cursor->totals.time_known;
		made.first_time = cursor->totals.first_time;
		made.last_time = cursor->totals.last_time;
		for (unsigned int i = 0; i < store->lane_count; i++)
			made.bytes += store->lanes[i]->known_position;
	} else {
		const struct lane *lane = cursor->parts[0].lane;

		made.complete = lane->complete;
		made.items = lane->known.items;
		made.instructions = lane->known.instructions;
		made.time_known = lane->known.time_known;
		made.first_time = lane->known.first_time;
		made.last_time = lane->known.last_time;
		made.bytes = lane->known_position;
	}
	STRUCT_GIVE(extent, &made);
}

int ntrace_cursor_threads(struct ntrace_session *session,
			  const struct ntrace_cursor_thread **threads, size_t *count)
{
	struct store *store;
	int error = store_of_session(&store, session, 0);

	if (!error)
		error = runs_list(store);
	if (error)
		return error;
	*threads = store->threads;
	*count = store->thread_count;
	return 0;
}
