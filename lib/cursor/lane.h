/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lanes: one stream each, of which any window can be decoded. Items (blocks and other events) have
 * numbers, from 0 on, in the order of the stream.
 */
#ifndef NTRACE_CURSOR_LANE_H
#define NTRACE_CURSOR_LANE_H

#include "source.h"
#include "window.h"

#define WINDOW_DEFAULT 16384
#define WINDOW_MIN 16
#define WINDOW_MAX (1u << 20)
#define WINDOWS_KEPT 8
#define CHECKPOINTS_MAX 128

/**
 * struct tally - totals up to a place of a stream
 * @items: number of items
 * @last_time: greatest time
 */
struct tally {
	uint64_t items;
	uint64_t instructions;
	uint64_t first_time;
	uint64_t last_time;
	bool time_known;
};

/* Extends the times from @first to @last, if @known, by others. */
static inline void extend_times(uint64_t *first, uint64_t *last, bool *known, uint64_t more_first,
				uint64_t more_last)
{
	if (!*known || more_first < *first)
		*first = more_first;
	if (!*known || more_last > *last)
		*last = more_last;
	*known = true;
}

/* The state of the source between two messages. */
struct checkpoint {
	struct tally tally;
	uint64_t position;
	struct source_state *state;
	size_t bytes;
};

/**
 * struct run - consecutive items of one thread in one stream
 * @comm: name, at the end; interned by the store
 * @gap, @gap_items: number of the first of the items of another thread's loss, after which this run
 *                   begins: what this thread executed before may be lost, too. 0 items: none
 */
struct run {
	unsigned int lane;
	int32_t pid;
	int32_t tid;
	const char *comm;
	uint64_t first;
	uint64_t count;
	uint64_t gap;
	uint32_t gap_items;
	uint64_t instructions;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t first_time;
	uint64_t last_time;
	bool time_known;
};

struct store;

/**
 * struct lane - a stream
 * @live: the source is in the state of @tally; else a checkpoint must be loaded first
 * @next_checkpoint: number of items from which on the next checkpoint is due
 * @next_position: likewise, position in the stream
 * @known: totals at the farthest place decoded so far
 * @known_position: position of that place
 * @noted: number of items in @runs
 * @lost: the last loss in @runs without a block after it, as @gap of struct run; @after_error: an
 *        error is the last item
 * @complete: @known is the end of the stream
 * @focus: item near which checkpoints are kept dense
 * @window: receives items from number @from on; NULL: they are only counted
 * @failed: result of an append that failed
 * @asked: position after which the store's stop is called again
 */
struct lane {
	struct store *store;
	unsigned int index;
	struct source *source;
	bool live;
	bool stamped;
	bool complete;
	int failed;
	uint64_t asked;
	struct tally tally;
	struct ntrace_context context;
	struct checkpoint *checkpoints;
	size_t checkpoint_count;
	size_t checkpoint_bytes;
	uint64_t next_checkpoint;
	uint64_t next_position;
	uint64_t focus;
	struct tally known;
	uint64_t known_position;
	uint64_t noted;
	struct run lost;
	bool after_error;
	struct window *window;
	uint64_t from;
	struct run *runs;
	size_t run_count;
	size_t run_room;
};

/**
 * struct store - the lanes and windows of a session or of a raw stream
 * @lanes: one for each stream; NULL: not used so far
 * @raw: the session is the one of a raw stream, with @bytes: it has no threads, and belongs to the store
 * @windows: those used last, NULL: free
 * @names: interned names
 * @stop: see struct ntrace_cursor_config
 * @threads: see ntrace_cursor_threads(); NULL: not made yet
 * @order: all runs by time (runs.c)
 */
struct store {
	struct ntrace_session *session;
	bool raw;
	struct raw_bytes bytes;
	struct lane **lanes;
	unsigned int lane_count;
	uint32_t window_items;
	struct window *windows[WINDOWS_KEPT];
	uint64_t clock;
	struct snapshots snapshots;
	char **names;
	size_t name_count;
	size_t name_room;
	struct ntrace_cursor_thread *threads;
	size_t thread_count;
	bool listed;
	const struct run **order;
	size_t order_count;
	bool (*stop)(void *data, unsigned int stream, uint64_t position);
	void *stop_data;
};

/* store.c */
/* The store of a session, made at the first call. Return: 0, NTRACE_ERR_INVALID, NTRACE_ERR_NOMEM. */
int store_of_session(struct store **store, struct ntrace_session *session, uint32_t window_items);
/* Return: 0, NTRACE_ERR_INVALID (parameters), NTRACE_ERR_NOMEM. */
int store_of_bytes(struct store **store, const struct ntrace_cursor_config *config);
void store_free(struct store *store);
/* Return: 0 or as source_new(). */
int store_lane(struct store *store, unsigned int index, struct lane **lane);
/* A copy of a name that lives as long as the store; NULL: out of memory. */
const char *store_name(struct store *store, const char *name);
/* Keeps @window, whose reference it takes, among those used last. */
void store_keep(struct store *store, struct window *window);
/* The window with item @number of @lane, borrowed; NULL: it must be decoded. */
struct window *store_find(struct store *store, const struct lane *lane, uint64_t number);

/* lane.c */
int lane_new(struct lane **lane, struct store *store, unsigned int index);
void lane_free(struct lane *lane);
/* What decoding_output needs. */
int lane_take_event(void *data, const struct ntrace_session_event *event);
int lane_take_blocks(void *data, const struct ntrace_segment *blocks);
/*
 * The window with item @number, one reference. @backwards: prefer one that ends there to one that
 * starts there. Return: 0; 1: the stream has fewer items; NTRACE_ERR_NOMEM, _IO, _FORMAT.
 */
int lane_window(struct lane *lane, uint64_t number, bool backwards, struct window **window);
/* Decodes the stream to its end, unless that has been done. Return: as lane_window(), without 1. */
int lane_complete(struct lane *lane);
/*
 * A number such that no item before it has a time of at least @time, and later ones may. Decodes as
 * far as needed. Return: 0; 1: the stream has no such time; errors as lane_window().
 */
int lane_time(struct lane *lane, uint64_t time, uint64_t *number);

/* checkpoints.c */
/* Saves the state of the source if a checkpoint is due. Return: 0 or NTRACE_ERR_NOMEM. */
int lane_checkpoint(struct lane *lane);
/* Brings the source to a place at or before item @number. Return: 0 or NTRACE_ERR_NOMEM. */
int lane_rewind(struct lane *lane, uint64_t number);
void lane_drop_checkpoints(struct lane *lane);

/* runs.c */
/* Takes note of new items of a lane. Return: 0 or NTRACE_ERR_NOMEM. */
int runs_note(struct lane *lane, const struct run *piece);
/* Decodes all streams and lists threads and runs. Return: as lane_complete(). */
int runs_list(struct store *store);

#endif
