/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executed code in memory, for steps in both directions.
 *
 * Each distinct block of code is stored once; what was executed is a list of their numbers, four
 * bytes for a block. A run is a part of this list that one thread executed without a gap; the runs
 * of a thread in order are its history.
 */
#ifndef NTRACE_TOOL_GDB_HISTORY_H
#define NTRACE_TOOL_GDB_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/image.h>

/**
 * struct history_code - a block of code
 * @address: first instruction
 * @last: address of the last instruction
 * @end: end of the last instruction
 * @sizes: index of the size of its first instruction, in bytes, in the sizes of the history
 * @instructions: number of instructions
 * @module: number of the module that contains it, -1 = none
 */
struct history_code {
	uint64_t address;
	uint64_t last;
	uint64_t end;
	uint32_t sizes;
	uint32_t instructions;
	int32_t module;
};

/*
 * The number of an instruction is counted from the start of its run: longer runs are divided, so that
 * steps cost the same in a trace of any length.
 */
#define HISTORY_RUN_BLOCKS 1024

/**
 * struct history_run - blocks executed by one thread, one after the other
 * @first: number of the first block in the history
 * @blocks: number of blocks; 0 = a gap
 * @instructions: number of instructions
 * @number: instructions of the thread before this run
 * @time: ticks of the last timestamp, if @time_known
 * @order: sorts the runs of a thread that ran on several CPUs
 * @space: address space; referenced
 * @gap: of a gap: what was lost; owned
 * @thread: number of the thread
 * @cpu: Linux number of the CPU, or SRC of a raw trace
 */
struct history_run {
	uint64_t first;
	uint64_t blocks;
	uint64_t instructions;
	uint64_t number;
	uint64_t time;
	uint64_t order;
	struct ntrace_space *space;
	char *gap;
	uint32_t thread;
	uint32_t cpu;
	bool time_known;
};

/**
 * struct history_thread - a thread of a recording, or a hart of a raw trace
 * @run: its runs in order, numbers of runs of the history; set by history_end()
 * @instructions: number of instructions; set by history_end()
 * @hz: ticks of its timestamps in a second, 0 = unknown
 */
struct history_thread {
	int32_t pid;
	int32_t tid;
	char name[32];
	uint32_t *run;
	uint32_t runs;
	uint64_t instructions;
	uint64_t hz;
};

/**
 * struct history_module - a file whose code was executed, at one place of one process
 * @object: referenced
 * @bias: run-time address minus link address
 * @pid: process, -1 = none
 */
struct history_module {
	struct ntrace_object *object;
	uint64_t bias;
	int32_t pid;
};

/** struct history - executed code; initially all zeros */
struct history {
	struct history_code *code;
	size_t code_count, code_room;
	uint8_t *sizes;
	size_t size_count, size_room;
	uint32_t *block;
	size_t block_count, block_room;
	struct history_run *run;
	size_t run_count, run_room;
	struct history_thread *thread;
	size_t thread_count, thread_room;
	struct history_module *module;
	size_t module_count, module_room;
	void *thread_tree, *module_tree;	/* of tsearch(): numbers of threads and modules */
	uint32_t *bucket;	/* hash table of the code, numbers plus one */
	size_t buckets;
	uint64_t first_time;	/* earliest timestamp */
	bool time_known;
};

/**
 * struct history_place - an instruction of a thread's history
 * @thread: number of the thread
 * @run: index in the runs of the thread
 * @block: index of the block in the run
 * @instruction: index of the instruction in the block
 */
struct history_place {
	uint32_t thread;
	uint32_t run;
	uint64_t block;
	uint32_t instruction;
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

/**
 * history_add_code - the code with these instructions, new if there is none
 * @sizes: size of each instruction in bytes
 *
 * Return: its number, or -1 when out of memory or if there is too much code.
 */
int64_t history_add_code(struct history *history, uint64_t address, const uint8_t *sizes,
			 uint32_t instructions, int32_t module);

/** history_add_module - Return: the number of the module, new if there is none, or -1 */
int64_t history_add_module(struct history *history, struct ntrace_object *object, uint64_t bias,
			   int32_t pid);

/** history_add_run - a copy of @run without blocks, for history_add_block(). Return: NULL when out of memory */
struct history_run *history_add_run(struct history *history, const struct history_run *run);

/** history_add_block - append to the last run. Return: false when out of memory */
bool history_add_block(struct history *history, uint32_t code);

/**
 * history_end - sort the runs and count the instructions
 * @last: keep only so many of the last instructions of each thread, 0 = all
 *
 * Return: false when out of memory.
 */
bool history_end(struct history *history, uint64_t last);

const struct history_run *history_run_at(const struct history *history,
					 const struct history_place *place);
const struct history_code *history_code_at(const struct history *history,
					   const struct history_place *place);

/** history_pc - address of the instruction */
uint64_t history_pc(const struct history *history, const struct history_place *place);

/** history_number - instructions of the thread before this one */
uint64_t history_number(const struct history *history, const struct history_place *place);

/** history_seek - instruction @number of a thread, or its last one if there are fewer */
struct history_place history_seek(const struct history *history, uint32_t thread, uint64_t number);

/**
 * history_step - go to the next or the previous instruction
 * @gap: set to a gap on the way, NULL if there was none
 *
 * Return: false, with @place unchanged, at the end or the beginning.
 */
bool history_step(const struct history *history, struct history_place *place, bool back,
		  const struct history_run **gap);

/**
 * history_find - go to the next or previous instruction whose address is one of a set
 * @marked: for each code, not 0 if an instruction of it may be in the set
 * @stop: whether an address is in the set
 * @passed: called for each gap on the way
 * @limit: instruction number of the thread at which to stop
 *
 * Return: true if found; false: @place is the limit, or the end or the beginning.
 */
bool history_find(const struct history *history, struct history_place *place, bool back,
		  const uint8_t *marked, bool (*stop)(void *data, uint64_t address),
		  void (*passed)(void *data, const struct history_run *gap), void *data,
		  uint64_t limit);

/**
 * history_at_time - the last instruction of a thread that has a time up to @time
 *
 * Return: the place; the first instruction if all times are later, or unknown.
 */
struct history_place history_at_time(const struct history *history, uint32_t thread, uint64_t time);

/** history_at_order - the same for the order of runs, which all threads have in common */
struct history_place history_at_order(const struct history *history, uint32_t thread,
				      uint64_t order);

#endif /* NTRACE_TOOL_GDB_HISTORY_H */
