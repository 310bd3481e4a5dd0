// SPDX-License-Identifier: GPL-2.0-only
/* Executed code in memory. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

void history_free(struct history *history)
{
	size_t i;

	for (i = 0; i < history->run_count; i++) {
		ntrace_space_put(history->run[i].space);
		free(history->run[i].gap);
	}
	tdestroy(history->thread_tree, free);
	tdestroy(history->module_tree, free);
	for (i = 0; i < history->thread_count; i++)
		free(history->thread[i].run);
	for (i = 0; i < history->module_count; i++)
		ntrace_object_put(history->module[i].object);
	free(history->code);
	free(history->sizes);
	free(history->block);
	free(history->run);
	free(history->thread);
	free(history->module);
	free(history->bucket);
	*history = (struct history){ 0 };
}

bool history_grow(void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 64;
	void *old, *larger;

	if (count < *room)
		return true;
	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, more, size);
	if (!larger)
		return false;
	memcpy(array, &larger, sizeof(larger));
	*room = more;
	/* cppcheck-suppress memleak ; the array has it */
	return true;
}

/* What the trees of threads and modules have: the key, and the number in the array. */
struct thread_node {
	int32_t pid, tid;
	size_t number;
};

struct module_node {
	const struct ntrace_object *object;
	uint64_t bias;
	int32_t pid;
	size_t number;
};

static int compare_threads(const void *left, const void *right)
{
	const struct thread_node *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int compare_modules(const void *left, const void *right)
{
	const struct module_node *a = left, *b = right;

	if (a->object != b->object)
		return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
	if (a->bias != b->bias)
		return a->bias < b->bias ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Adds a copy of @key. Return: false when out of memory */
static bool add_node(void **tree, const void *key, size_t size,
		     int (*compare)(const void *, const void *))
{
	void *node = malloc(size);

	if (!node)
		return false;
	memcpy(node, key, size);
	if (tsearch(node, tree, compare))
		return true;
	free(node);
	return false;
}

int64_t history_thread(struct history *history, int32_t pid, int32_t tid)
{
	const struct thread_node key = { pid, tid, history->thread_count };
	struct thread_node **found = tfind(&key, &history->thread_tree, compare_threads);

	if (found)
		return (int64_t)(*found)->number;
	if (!history_grow(&history->thread, history->thread_count, &history->thread_room,
			  sizeof(*history->thread)) ||
	    !add_node(&history->thread_tree, &key, sizeof(key), compare_threads))
		return -1;
	history->thread[history->thread_count] = (struct history_thread){ .pid = pid, .tid = tid };
	return (int64_t)history->thread_count++;
}

int64_t history_add_module(struct history *history, struct ntrace_object *object, uint64_t bias,
			   int32_t pid)
{
	const struct module_node key = { object, bias, pid, history->module_count };
	struct module_node **found = tfind(&key, &history->module_tree, compare_modules);

	if (found)
		return (int64_t)(*found)->number;
	if (!history_grow(&history->module, history->module_count, &history->module_room,
			  sizeof(*history->module)) ||
	    !add_node(&history->module_tree, &key, sizeof(key), compare_modules))
		return -1;
	history->module[history->module_count] = (struct history_module){
		.object = ntrace_object_get(object),
		.bias = bias,
		.pid = pid,
	};
	return (int64_t)history->module_count++;
}

/* ---- code ---- */

static uint64_t code_hash(uint64_t address, uint32_t instructions, int32_t module)
{
	uint64_t hash = address * 0x9e3779b97f4a7c15;

	hash ^= instructions + ((uint64_t)(uint32_t)module << 32);
	hash *= 0xff51afd7ed558ccd;
	return hash ^ hash >> 32;
}

static bool enlarge_table(struct history *history)
{
	size_t more = history->buckets ? 2 * history->buckets : 1024, i, at;
	uint32_t *bucket;

	if (2 * history->code_count < history->buckets)
		return true;
	bucket = calloc(more, sizeof(*bucket));
	if (!bucket)
		return false;
	for (i = 0; i < history->code_count; i++) {
		const struct history_code *code = &history->code[i];

		at = code_hash(code->address, code->instructions, code->module) & (more - 1);
		while (bucket[at])
			at = (at + 1) & (more - 1);
		bucket[at] = (uint32_t)i + 1;
	}
	free(history->bucket);
	history->bucket = bucket;
	history->buckets = more;
	return true;
}

static bool same_code(const struct history *history, const struct history_code *code,
		      uint64_t address, const uint8_t *sizes, uint32_t instructions, int32_t module)
{
	return code->address == address && code->instructions == instructions &&
	       code->module == module && !memcmp(history->sizes + code->sizes, sizes, instructions);
}

int64_t history_add_code(struct history *history, uint64_t address, const uint8_t *sizes,
			 uint32_t instructions, int32_t module)
{
	struct history_code *code;
	uint64_t last = address;
	size_t at;

	if (!enlarge_table(history) || !instructions ||
	    history->size_count + instructions > UINT32_MAX)
		return -1;
	at = code_hash(address, instructions, module) & (history->buckets - 1);
	for (; history->bucket[at]; at = (at + 1) & (history->buckets - 1))
		if (same_code(history, &history->code[history->bucket[at] - 1], address, sizes,
			      instructions, module))
			return history->bucket[at] - 1;
	while (history->size_room < history->size_count + instructions)
		if (!history_grow(&history->sizes, history->size_room, &history->size_room, 1))
			return -1;
	if (!history_grow(&history->code, history->code_count, &history->code_room,
			  sizeof(*history->code)))
		return -1;
	for (uint32_t i = 0; i + 1 < instructions; i++)
		last += sizes[i];
	code = &history->code[history->code_count];
	*code = (struct history_code){
		.address = address,
		.last = last,
		.end = last + sizes[instructions - 1],
		.sizes = (uint32_t)history->size_count,
		.instructions = instructions,
		.module = module,
	};
	memcpy(history->sizes + history->size_count, sizes, instructions);
	history->size_count += instructions;
	history->bucket[at] = (uint32_t)++history->code_count;
	return (int64_t)history->code_count - 1;
}

/* ---- runs ---- */

struct history_run *history_add_run(struct history *history, const struct history_run *run)
{
	struct history_run *added;

	if (!history_grow(&history->run, history->run_count, &history->run_room,
			  sizeof(*history->run)))
		return NULL;
	added = &history->run[history->run_count++];
	*added = *run;
	added->first = history->block_count;
	ntrace_space_get(added->space);
	if (run->time_known && (!history->time_known || run->time < history->first_time)) {
		history->time_known = true;
		history->first_time = run->time;
	}
	return added;
}

bool history_add_block(struct history *history, uint32_t code)
{
	struct history_run *run = &history->run[history->run_count - 1];

	if (!history_grow(&history->block, history->block_count, &history->block_room,
			  sizeof(*history->block)))
		return false;
	history->block[history->block_count++] = code;
	run->blocks++;
	run->instructions += history->code[code].instructions;
	return true;
}

struct order {
	uint64_t order;
	uint32_t thread;
	uint32_t run;
};

static int by_order(const void *first, const void *second)
{
	const struct order *a = first, *b = second;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->run < b->run ? -1 : a->run > b->run;
}

/* Leaves out gaps at the beginning, and runs before the last @last instructions. */
static void number_runs(struct history *history, struct history_thread *thread, uint64_t last)
{
	uint64_t sum = 0, number = 0;
	uint32_t i, first = thread->runs;

	while (first && (!last || sum < last))
		sum += history->run[thread->run[--first]].instructions;
	while (first < thread->runs && !history->run[thread->run[first]].blocks)
		first++;
	thread->runs -= first;
	memmove(thread->run, thread->run + first, thread->runs * sizeof(*thread->run));
	for (i = 0; i < thread->runs; i++) {
		history->run[thread->run[i]].number = number;
		number += history->run[thread->run[i]].instructions;
	}
	thread->instructions = number;
}

/* Takes the runs of a thread from the sorted runs. Return: false when out of memory. */
static bool take_runs(struct history *history, uint32_t index, const struct order *order,
		      size_t *next)
{
	struct history_thread *thread = &history->thread[index];
	size_t end = *next, i;

	while (end < history->run_count && order[end].thread == index)
		end++;
	free(thread->run);
	thread->run = calloc(end - *next + 1, sizeof(*thread->run));
	if (!thread->run)
		return false;
	thread->runs = (uint32_t)(end - *next);
	for (i = *next; i < end; i++)
		thread->run[i - *next] = order[i].run;
	*next = end;
	return true;
}

bool history_end(struct history *history, uint64_t last)
{
	struct order *order = calloc(history->run_count + 1, sizeof(*order));
	size_t i, next = 0;
	bool taken = true;

	if (!order)
		return false;
	for (i = 0; i < history->run_count; i++)
		order[i] = (struct order){ history->run[i].order, history->run[i].thread,
					   (uint32_t)i };
	qsort(order, history->run_count, sizeof(*order), by_order);
	for (i = 0; taken && i < history->thread_count; i++) {
		taken = take_runs(history, (uint32_t)i, order, &next);
		if (taken)
			number_runs(history, &history->thread[i], last);
	}
	free(order);
	return taken;
}

/* ---- places ---- */

const struct history_run *history_run_at(const struct history *history,
					 const struct history_place *place)
{
	return &history->run[history->thread[place->thread].run[place->run]];
}

const struct history_code *history_code_at(const struct history *history,
					   const struct history_place *place)
{
	return &history->code[history->block[history_run_at(history, place)->first + place->block]];
}

uint64_t history_pc(const struct history *history, const struct history_place *place)
{
	const struct history_code *code = history_code_at(history, place);
	uint64_t address = code->address;

	for (uint32_t i = 0; i < place->instruction; i++)
		address += history->sizes[code->sizes + i];
	return address;
}

static uint32_t block_instructions(const struct history *history, const struct history_run *run,
				   uint64_t block)
{
	return history->code[history->block[run->first + block]].instructions;
}

uint64_t history_number(const struct history *history, const struct history_place *place)
{
	const struct history_run *run = history_run_at(history, place);
	uint64_t number = run->number + place->instruction;

	for (uint64_t i = 0; i < place->block; i++)
		number += block_instructions(history, run, i);
	return number;
}

struct history_place history_seek(const struct history *history, uint32_t thread, uint64_t number)
{
	const struct history_thread *of = &history->thread[thread];
	struct history_place place = { .thread = thread };
	uint32_t low = 0, high = of->runs;
	const struct history_run *run;

	if (!of->instructions)
		return place;
	if (number >= of->instructions)
		number = of->instructions - 1;
	/* The last run that starts at or before it; a gap has no instructions. */
	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if (history->run[of->run[middle]].number <= number)
			low = middle;
		else
			high = middle;
	}
	while (!history->run[of->run[low]].blocks)
		low--;
	place.run = low;
	run = history_run_at(history, &place);
	number -= run->number;
	while (number >= block_instructions(history, run, place.block))
		number -= block_instructions(history, run, place.block++);
	place.instruction = (uint32_t)number;
	return place;
}

/* Goes to the first instruction of the next block, or to the last one of the previous block. */
static bool next_block(const struct history *history, struct history_place *place, bool back,
		       const struct history_run **gap)
{
	const struct history_thread *thread = &history->thread[place->thread];
	struct history_place to = *place;

	to.instruction = 0;
	if (!back && to.block + 1 < history_run_at(history, &to)->blocks) {
		to.block++;
	} else if (back && to.block) {
		to.block--;
	} else {
		do {
			if (back ? !to.run : to.run + 1 >= thread->runs)
				return false;
			to.run += back ? UINT32_MAX : 1;
			if (!history_run_at(history, &to)->blocks)
				*gap = history_run_at(history, &to);
		} while (!history_run_at(history, &to)->blocks);
		to.block = back ? history_run_at(history, &to)->blocks - 1 : 0;
	}
	if (back)
		to.instruction = history_code_at(history, &to)->instructions - 1;
	*place = to;
	return true;
}

bool history_step(const struct history *history, struct history_place *place, bool back,
		  const struct history_run **gap)
{
	*gap = NULL;
	if (back && place->instruction) {
		place->instruction--;
		return true;
	}
	if (!back && place->instruction + 1 < history_code_at(history, place)->instructions) {
		place->instruction++;
		return true;
	}
	return next_block(history, place, back, gap);
}

/* The next instruction of the set in the current block, @place excluded. */
static bool find_in_block(const struct history *history, struct history_place *place, bool back,
			  bool (*stop)(void *data, uint64_t address), void *data)
{
	const struct history_code *code = history_code_at(history, place);
	const uint8_t *sizes = history->sizes + code->sizes;
	uint64_t address = history_pc(history, place);
	uint32_t at = place->instruction;

	while (back ? at > 0 : at + 1 < code->instructions) {
		if (back)
			address -= sizes[--at];
		else
			address += sizes[at++];
		if (stop(data, address)) {
			place->instruction = at;
			return true;
		}
	}
	return false;
}

bool history_find(const struct history *history, struct history_place *place, bool back,
		  const uint8_t *marked, bool (*stop)(void *data, uint64_t address),
		  void (*passed)(void *data, const struct history_run *gap), void *data,
		  uint64_t limit)
{
	const struct history_place end = history_seek(history, place->thread, limit);
	const struct history_run *gap = NULL;
	bool last;

	for (;;) {
		const struct history_run *run = history_run_at(history, place);

		last = place->run == end.run && place->block == end.block;
		if (marked[history->block[run->first + place->block]]) {
			struct history_place found = *place;

			if (find_in_block(history, &found, back, stop, data) &&
			    !(last && (back ? found.instruction < end.instruction :
					      found.instruction > end.instruction))) {
				*place = found;
				return true;
			}
		}
		if (last || !next_block(history, place, back, &gap))
			break;
		if (gap)
			passed(data, gap);
		gap = NULL;
		/* The instruction that next_block() went to is a candidate, too. */
		run = history_run_at(history, place);
		if (marked[history->block[run->first + place->block]] &&
		    stop(data, history_pc(history, place)) &&
		    !(place->run == end.run && place->block == end.block &&
		      (back ? place->instruction < end.instruction :
			      place->instruction > end.instruction)))
			return true;
	}
	*place = end;
	return false;
}

struct history_place history_at_order(const struct history *history, uint32_t thread,
				      uint64_t order)
{
	const struct history_thread *of = &history->thread[thread];
	uint64_t number = 0;

	for (uint32_t i = 0; i < of->runs; i++) {
		const struct history_run *run = &history->run[of->run[i]];

		if (run->order > order)
			break;
		if (run->blocks)
			number = run->number + run->instructions - 1;
	}
	return history_seek(history, thread, number);
}

struct history_place history_at_time(const struct history *history, uint32_t thread, uint64_t time)
{
	const struct history_thread *of = &history->thread[thread];
	uint64_t number = 0;

	for (uint32_t i = 0; i < of->runs; i++) {
		const struct history_run *run = &history->run[of->run[i]];

		if (!run->blocks || !run->time_known)
			continue;
		if (run->time > time)
			break;
		number = run->number + run->instructions - 1;
	}
	return history_seek(history, thread, number);
}
