/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by cursor.c and seek.c. */
#ifndef NTRACE_CURSOR_INTERNAL_H
#define NTRACE_CURSOR_INTERNAL_H

#include "lane.h"

/* Maximum number of instructions of a block (lib/flow). */
#define BLOCK_INSTRUCTIONS 4096

/**
 * struct part - a stretch of a stream that the cursor moves over
 * @count: number of items, UINT64_MAX: up to the end of the stream
 * @last_time: greatest time, if @time_known
 */
struct part {
	struct lane *lane;
	uint64_t first;
	uint64_t count;
	uint64_t last_time;
	bool time_known;
};

enum where {
	BEFORE,
	AT,
	AFTER,
};

/* A position: instruction @index of item @item of part @part. */
struct spot {
	size_t part;
	uint64_t item;
	uint32_t index;
};

/**
 * struct sizes - places of the instructions of one block
 * @window: number of the window of the code; 0: none
 * @what: number of the code
 * @count: number of instructions; 1 if they are unknown
 * @starts: offset of each from the first one
 */
struct sizes {
	uint64_t window;
	uint32_t what;
	uint32_t count;
	bool known;
	uint16_t starts[BLOCK_INSTRUCTIONS];
};

/**
 * struct ntrace_cursor - a cursor
 * @parts: in the order of the cursor
 * @totals: with a process or thread: of all parts
 * @window: that of @spot; NULL if there is none
 */
struct ntrace_cursor {
	struct store *store;
	bool by_thread;
	bool by_instruction;
	uint32_t privileges;
	struct part *parts;
	size_t part_count;
	struct run totals;
	enum where where;
	struct spot spot;
	struct window *window;
	struct sizes sizes;
	struct ntrace_flow_event flow;
	struct ntrace_cursor_place place;
};

/* Makes *window, a reference or NULL, that of an item. Return: as lane_window(). */
int cursor_turn(const struct ntrace_cursor *cursor, const struct spot *spot, bool backwards,
		struct window **window);
/*
 * Finds the first visible item at or after @spot, or before it. Return: as lane_window(); 1: there is
 * none.
 */
int cursor_forward(const struct ntrace_cursor *cursor, struct spot *spot, struct window **window);
int cursor_back(const struct ntrace_cursor *cursor, struct spot *spot, struct window **window);
/* The places of the instructions of an item, which is a block. */
const struct sizes *cursor_sizes(struct ntrace_cursor *cursor, const struct window *window,
				 const struct item *item);
/* Number of places in an item. */
uint32_t cursor_steps(struct ntrace_cursor *cursor, const struct window *window,
		      const struct item *item);
/* Puts the cursor at @spot, and takes the reference of its window. */
void cursor_set(struct ntrace_cursor *cursor, const struct spot *spot, struct window *window);
/* Puts the cursor before the first or after the last place. Return: 1 */
int cursor_leave(struct ntrace_cursor *cursor, enum where where);
/* The end of the last part, after decoding the stream. Return: 0 or an error. */
int cursor_end(const struct ntrace_cursor *cursor, struct spot *spot);

#endif
