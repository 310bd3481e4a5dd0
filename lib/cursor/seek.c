// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Cursors: searches. */
#include <stdlib.h>

#include "cursor.h"

/**
 * struct search - a search from place to place
 * @matches: whether an item matches; sets *index to the number of the instruction
 * @target: time, address or type
 * @name: seek_function: name of the function
 * @entries: seek_function: for each code of window number @window, 0: not looked up, else the number
 *           of the first instruction of the function, plus 1, or NO_ENTRY
 */
struct search {
	bool (*matches)(struct ntrace_cursor *cursor, struct search *search,
			const struct window *window, const struct item *item, uint32_t *index);
	uint64_t target;
	const char *name;
	uint64_t window;
	size_t entry_count;
	uint32_t *entries;
	bool failed;
};

#define NO_ENTRY UINT32_MAX

/*
 * Looks for a match from @spot on, @spot included. Return: 0 with the cursor there; 1: none, and the
 * cursor has not moved; or an error.
 */
static int look(struct ntrace_cursor *cursor, struct search *search, struct spot spot,
		bool backwards)
{
	struct window *window = cursor->window ? window_get(cursor->window) : NULL;
	int got = 0;

	while (!got) {
		const struct item *item;
		uint32_t index = 0;

		got = backwards ? cursor_back(cursor, &spot, &window) :
				  cursor_forward(cursor, &spot, &window);
		if (got)
			break;
		item = window_item(window, spot.item);
		if (search->matches(cursor, search, window, item, &index)) {
			spot.index = cursor->by_instruction ? index : 0;
			cursor_set(cursor, &spot, window);
			return 0;
		}
		if (search->failed)
			got = NTRACE_ERR_NOMEM;
		if (!backwards)
			spot.item++;
	}
	window_put(window);
	return got;
}

static bool match_time(struct ntrace_cursor *cursor, struct search *search,
		       const struct window *window, const struct item *item, uint32_t *index)
{
	const struct group *group = window_group(window, item);

	(void)cursor;
	(void)index;
	return group->time_known && group->time >= search->target;
}

int ntrace_cursor_seek_time(struct ntrace_cursor *cursor, uint64_t time)
{
	struct search search = { .matches = match_time, .target = time };
	struct spot spot = { 0 };
	int got = 0;

	if (cursor->by_thread) {
		while (spot.part < cursor->part_count &&
		       !(cursor->parts[spot.part].time_known &&
			 cursor->parts[spot.part].last_time >= time))
			spot.part++;
		if (spot.part == cursor->part_count)
			return cursor_leave(cursor, AFTER);
		spot.item = cursor->parts[spot.part].first;
	} else {
		got = lane_time(cursor->parts[0].lane, time, &spot.item);
	}
	if (!got)
		got = look(cursor, &search, spot, false);
	return got == 1 ? cursor_leave(cursor, AFTER) : got;
}

/*
 * Looks on from the cursor. With instruction steps its own block may match at another instruction,
 * once at most.
 */
static int look_on(struct ntrace_cursor *cursor, struct search *search, bool backwards)
{
	struct spot spot = cursor->spot;
	uint32_t index;
	int error;

	if (cursor->where == (backwards ? BEFORE : AFTER))
		return 1;
	if (cursor->where == AFTER) {
		error = cursor_end(cursor, &spot);
		return error ? error : look(cursor, search, spot, true);
	}
	if (cursor->where == BEFORE)
		return look(cursor, search, (struct spot){ .item = cursor->parts[0].first }, false);
	if (cursor->by_instruction &&
	    search->matches(cursor, search, cursor->window, window_item(cursor->window, spot.item),
			    &index) &&
	    (backwards ? index < spot.index : index > spot.index)) {
		spot.index = index;
		cursor_set(cursor, &spot, window_get(cursor->window));
		return 0;
	}
	if (!backwards)
		spot.item++;
	return look(cursor, search, spot, backwards);
}

/* The number of the instruction at @address of a block; NO_ENTRY: none. */
static uint32_t instruction_at(struct ntrace_cursor *cursor, const struct window *window,
			       const struct item *item, uint64_t address)
{
	const struct code *code = window_code(window, item);
	const struct sizes *sizes;

	if (address - code->address >= code->bytes)
		return NO_ENTRY;
	if (address == code->address)
		return 0;
	sizes = cursor_sizes(cursor, window, item);
	for (uint32_t i = 1; i < sizes->count; i++) {
		if (code->address + sizes->starts[i] == address)
			return i;
	}
	return NO_ENTRY;
}

static bool match_address(struct ntrace_cursor *cursor, struct search *search,
			  const struct window *window, const struct item *item, uint32_t *index)
{
	if (item->flags & ITEM_EVENT)
		return false;
	*index = instruction_at(cursor, window, item, search->target);
	return *index != NO_ENTRY;
}

int ntrace_cursor_seek_address(struct ntrace_cursor *cursor, uint64_t address, bool backwards)
{
	struct search search = { .matches = match_address, .target = address };

	return look_on(cursor, &search, backwards);
}

/* Whether @address is the first instruction of the function. */
static bool is_entry(const struct search *search, const struct ntrace_space *space,
		     uint64_t address)
{
	struct ntrace_location place;

	return !ntrace_space_locate(space, address, &place) && place.symbol &&
	       place.symbol_start == place.link_address &&
	       ntrace_object_function_matches(place.object, place.symbol_start, search->name);
}

/* The number of the first instruction of the function in a block; NO_ENTRY: none. */
static uint32_t entry_in(struct ntrace_cursor *cursor, const struct search *search,
			 const struct window *window, const struct item *item)
{
	const struct ntrace_space *space = window_state(window, window_group(window, item))->space;
	const struct code *code = window_code(window, item);
	const struct sizes *sizes;
	struct ntrace_location last;

	if (!space)
		return NO_ENTRY;
	if (is_entry(search, space, code->address))
		return 0;
	/* Control may fall through from one function into the next. */
	if (ntrace_space_locate(space, code->address + code->bytes - code->last_size, &last) ||
	    !last.symbol || last.link_address - last.symbol_start >= code->bytes)
		return NO_ENTRY;
	sizes = cursor_sizes(cursor, window, item);
	for (uint32_t i = 1; i < sizes->count; i++) {
		if (is_entry(search, space, code->address + sizes->starts[i]))
			return i;
	}
	return NO_ENTRY;
}

/* Makes room for the results of a window. */
static bool open_entries(struct search *search, const struct window *window)
{
	if (search->entries && search->window == window->number &&
	    search->entry_count == window->codes.count)
		return true;
	if (search->failed)
		return false;
	free(search->entries);
	search->entries = calloc(window->codes.count + 1, sizeof(*search->entries));
	search->window = window->number;
	search->entry_count = window->codes.count;
	search->failed = !search->entries;
	return search->entries;
}

static bool match_function(struct ntrace_cursor *cursor, struct search *search,
			   const struct window *window, const struct item *item, uint32_t *index)
{
	uint32_t *entry;

	if (item->flags & ITEM_EVENT || !open_entries(search, window))
		return false;
	entry = &search->entries[item->what];
	if (!*entry) {
		*entry = entry_in(cursor, search, window, item);
		if (*entry != NO_ENTRY)
			++*entry;
	}
	*index = *entry - 1;
	return *entry != NO_ENTRY;
}

int ntrace_cursor_seek_function(struct ntrace_cursor *cursor, const char *name, bool backwards)
{
	struct search search = { .matches = match_function, .name = name };
	int got = look_on(cursor, &search, backwards);

	free(search.entries);
	return search.failed ? NTRACE_ERR_NOMEM : got;
}

static bool match_type(struct ntrace_cursor *cursor, struct search *search,
		       const struct window *window, const struct item *item, uint32_t *index)
{
	(void)cursor;
	*index = 0;
	if (!(item->flags & ITEM_EVENT))
		return search->target == NTRACE_FLOW_BLOCK;
	return window_event(window, item)->type == search->target;
}

int ntrace_cursor_seek_type(struct ntrace_cursor *cursor, unsigned int type, bool backwards)
{
	struct search search = { .matches = match_type, .target = type };

	return look_on(cursor, &search, backwards);
}
