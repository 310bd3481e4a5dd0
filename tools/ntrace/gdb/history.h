/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads executed, for steps in both directions.
 *
 * Each thread has a cursor of the library, which decodes the trace where it is needed, so that a
 * trace of any size takes little memory. A place is a block of the cursor, an instruction in it, and
 * its number: the instructions of the thread before it. Numbers are counted along the way. So each
 * thread keeps posts, blocks with known numbers, and a number is sought from the post next to it:
 *
 *	post 0          post                 post              post (the last block)
 *	  | <------------ | -- place --------> | <-- place ----- |
 *
 * The hart of a tandem trace has a replay instead of a cursor: its places are those of replay.h.
 */
#ifndef NTRACE_TOOL_GDB_HISTORY_H
#define NTRACE_TOOL_GDB_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/cursor.h>
#include <ntrace/values.h>

#include "replay.h"

/**
 * struct history_place - an instruction of a thread's history
 * @thread: number of the thread
 * @instruction: index of the instruction in its block
 * @first: number of the first instruction of the block
 * @mark: the block
 */
struct history_place {
	uint32_t thread;
	uint32_t instruction;
	uint64_t first;
	struct ntrace_cursor_mark mark;
};

struct history_cursor;

/**
 * struct history_thread - a thread of a recording, a CPU of it, or a hart of a raw trace
 * @instructions: number of instructions
 * @calls: number of times that it executed history.around
 * @hz: ticks of its timestamps in a second, 0 = unknown
 * @cpu: CPU where it ran last, at @last_ns of the sideband
 * @config: of its cursor; step and stop are set by history.c
 * @cursor: NULL = not needed so far
 * @values: registers and memory, if they were recorded; NULL = not needed so far
 */
struct history_thread {
	int32_t pid;
	int32_t tid;
	char name[32];
	uint64_t instructions;
	uint64_t calls;
	uint64_t hz;
	uint64_t last_ns;
	uint32_t cpu;
	struct ntrace_cursor_config config;
	struct history_cursor *cursor;
	struct ntrace_values *values;
	bool valueless; /* @values cannot be had */
};

/**
 * struct history_module - a file whose code was executed, at one place of one process
 * @object: referenced
 * @bias: run-time address minus link address
 * @pid: process, -1 = none
 * @instructions: executed instructions
 * @entry: addresses of the functions called history.around
 */
struct history_module {
	struct ntrace_object *object;
	uint64_t bias;
	int32_t pid;
	uint64_t instructions;
	uint64_t *entry;
	size_t entries;
};

/**
 * struct history - executed code; initially all zeros
 * @around: function whose executions are counted, NULL = none; borrowed
 * @stream: only this stream, -1 = all
 * @replay: the only thread is the hart of a tandem trace; NULL = it is not. Owned
 * @valued: a recording with values, or with @core
 * @core: a core dump of its end, NULL = none; borrowed
 * @first_time: earliest timestamp, if @time_known
 */
struct history {
	const char *around;
	int64_t stream;
	struct replay *replay;
	bool valued;
	const struct ntrace_core *core;
	struct history_thread *thread;
	size_t thread_count, thread_room;
	struct history_module *module;
	size_t module_count, module_room, last_module;
	void *thread_tree, *module_tree; /* of tsearch(): numbers of threads and modules */
	uint64_t first_time;
	bool time_known;
	char gap[400]; /* see history_step() */
};

void history_free(struct history *history);

/** history_grow - make room for one more entry of an array. Return: false when out of memory */
bool history_grow(void *array, size_t count, size_t *room, size_t size);

/**
 * history_thread - the thread with these ids, new if there is none
 *
 * Return: its number, or -1 when out of memory.
 */
int64_t history_thread(struct history *history, int32_t pid, int32_t tid);

/** history_add_module - Return: the number of the module, new if there is none, or -1 */
int64_t history_add_module(struct history *history, struct ntrace_object *object, uint64_t bias,
			   int32_t pid);

/**
 * history_survey_block - count executions of a block
 * @module: number of the module that contains it, -1 = none
 */
void history_survey_block(struct history *history, struct history_thread *thread, int64_t module,
			  const struct ntrace_block *block, uint64_t times);

/** history_survey - count what a hart of a raw trace executed. Return: false when out of memory */
bool history_survey(struct history *history, uint32_t thread, struct ntrace_locator *locator);

/** history_at - block, time, CPU and so on of a place; valid until the next call for its thread */
const struct ntrace_cursor_place *history_at(const struct history *history,
					     const struct history_place *place);

/** history_values - values of the recording at a place. Return: NULL: nothing is known there */
struct ntrace_values *history_values(const struct history *history,
				     const struct history_place *place);

/** history_pc - address of the instruction */
uint64_t history_pc(const struct history *history, const struct history_place *place);

/** history_number - instructions of the thread before this one */
static inline uint64_t history_number(const struct history_place *place)
{
	return place->first + place->instruction;
}

/** history_seek - instruction @number of a thread, or its last one if there are fewer */
struct history_place history_seek(const struct history *history, uint32_t thread, uint64_t number);

/**
 * history_step - go to the next or the previous instruction
 * @gap: set to what is missing on the way, NULL if nothing is; valid until the next call
 *
 * Return: false, with @place unchanged, at the end or the beginning.
 */
bool history_step(struct history *history, struct history_place *place, bool back,
		  const char **gap);

/** history_step_block - the same over all of the block */
bool history_step_block(struct history *history, struct history_place *place, bool back,
			const char **gap);

/** struct history_watch - memory whose stores are looked for: from @first to @last */
struct history_watch {
	uint64_t first;
	uint64_t last;
};

/**
 * struct history_search - a search for instructions
 * @address: addresses to look for, in order
 * @count: their number
 * @watch: memory to look for, in a replay, or with values: found is the place from which the next step
 *         goes over a store to it, which may be the present one
 * @watches: number of elements of @watch
 * @limit: instruction number of the thread at which to stop
 * @until: with @bounded: stop at code after this order, or before it
 * @passed: called for each gap on the way; NULL = none
 */
struct history_search {
	const uint64_t *address;
	size_t count;
	const struct history_watch *watch;
	size_t watches;
	uint64_t limit;
	uint64_t until;
	bool bounded;
	void (*passed)(void *data, const char *gap);
	void *data;
};

/**
 * history_find - go to the next or previous instruction that is looked for
 *
 * Return: true if found; false: @place is the limit, the end or the beginning, or where @until is passed.
 */
bool history_find(struct history *history, struct history_place *place, bool back,
		  const struct history_search *search);

/**
 * history_stores - whether the next step, forwards or backwards, goes over a store to watched memory
 * @address: set to the first watched byte
 */
bool history_stores(const struct history *history, const struct history_place *place, bool back,
		    const struct history_search *search, uint64_t *address);

/**
 * history_stores_in_replay - history_stores() of a history that has a replay
 */
bool history_stores_in_replay(const struct history *history, const struct history_place *place,
			      bool back, const struct history_search *search, uint64_t *address);

/** history_has - whether an address is one of those that are looked for */
bool history_has(const struct history_search *search, uint64_t address);

/** history_find_in_replay - history_find() of a history that has a replay */
bool history_find_in_replay(const struct history *history, struct history_place *place, bool back,
			    const struct history_search *search);

/** history_sort - sort addresses for a search */
void history_sort(uint64_t *address, size_t count);

/** history_order - orders the places of all threads, as far as the trace tells */
uint64_t history_order(const struct history *history, const struct history_place *place);

/**
 * history_at_time - the last instruction of a thread that has a time up to @time
 *
 * Return: the place; the first instruction if all times are later, or unknown.
 */
struct history_place history_at_time(struct history *history, uint32_t thread, uint64_t time);

/** history_at_order - the same for the order of places; @place is moved */
void history_at_order(struct history *history, struct history_place *place, uint64_t order);

#endif /* NTRACE_TOOL_GDB_HISTORY_H */
