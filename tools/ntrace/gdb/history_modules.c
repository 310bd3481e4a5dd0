// SPDX-License-Identifier: GPL-2.0-only
/* Threads and files of a history, with what they executed; see history.h. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

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
struct node {
	const struct ntrace_object *object; /* NULL: a thread */
	uint64_t bias;
	int32_t pid, tid;
	size_t number;
};

static int compare_nodes(const void *left, const void *right)
{
	const struct node *a = left, *b = right;

	if (a->object != b->object)
		return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
	if (a->bias != b->bias)
		return a->bias < b->bias ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* The number of a key in the tree, which is added. Return: -1 when out of memory */
static int64_t find_node(void **tree, const struct node *key)
{
	struct node **found = tfind(key, tree, compare_nodes), *node;

	if (found)
		return (int64_t)(*found)->number;
	node = malloc(sizeof(*node));
	if (!node)
		return -1;
	*node = *key;
	if (tsearch(node, tree, compare_nodes))
		return (int64_t)key->number;
	free(node);
	return -1;
}

int64_t history_thread(struct history *history, int32_t pid, int32_t tid)
{
	const struct node key = { .pid = pid, .tid = tid, .number = history->thread_count };
	struct history_thread *thread;
	int64_t number;

	if (!history_grow(&history->thread, history->thread_count, &history->thread_room,
			  sizeof(*history->thread)))
		return -1;
	number = find_node(&history->thread_tree, &key);
	if (number != (int64_t)history->thread_count)
		return number;
	thread = &history->thread[history->thread_count++];
	*thread = (struct history_thread){ .pid = pid, .tid = tid };
	ntrace_cursor_config_init(&thread->config);
	return number;
}

/* Finds the function whose executions are counted. Return: false when out of memory */
static bool find_entries(const struct history *history, struct history_module *module)
{
	const char *symbol;
	size_t room = 0;
	uint64_t at;

	for (size_t k = 0;
	     history->around && (symbol = ntrace_object_function(module->object, k, &at)); k++) {
		if (!*symbol || !ntrace_symbol_matches(symbol, history->around))
			continue;
		if (!history_grow(&module->entry, module->entries, &room, sizeof(*module->entry)))
			return false;
		module->entry[module->entries++] = at + module->bias;
	}
	return true;
}

int64_t history_add_module(struct history *history, struct ntrace_object *object, uint64_t bias,
			   int32_t pid)
{
	const struct node key = {
		.object = object, .bias = bias, .pid = pid, .number = history->module_count
	};
	struct history_module *module =
		history->module_count ? &history->module[history->last_module] : NULL;
	int64_t number;

	if (module && module->object == object && module->bias == bias && module->pid == pid)
		return (int64_t)history->last_module;
	if (!history_grow(&history->module, history->module_count, &history->module_room,
			  sizeof(*history->module)))
		return -1;
	number = find_node(&history->module_tree, &key);
	if (number >= 0)
		history->last_module = (size_t)number;
	if (number != (int64_t)history->module_count)
		return number;
	module = &history->module[history->module_count++];
	*module = (struct history_module){
		.object = ntrace_object_get(object),
		.bias = bias,
		.pid = pid,
	};
	return find_entries(history, module) ? number : -1;
}

void history_survey_block(struct history *history, struct history_thread *thread, int64_t module,
			  const struct ntrace_block *block, uint64_t times)
{
	struct history_module *of = module < 0 ? NULL : &history->module[module];

	thread->instructions += times * block->instructions;
	if (!of)
		return;
	of->instructions += times * block->instructions;
	for (size_t i = 0; i < of->entries; i++)
		if (of->entry[i] - block->address < block->bytes) {
			thread->calls += times;
			break;
		}
}
