// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Traces by key: a hash table over an array. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "grow.h"
#include "saturate.h"
#include "table.h"

/* The tree has nothing of its own. */
static void leave_file(void *object)
{
	(void)object;
}

void table_free(struct trace_table *table)
{
	size_t i;

	tdestroy(table->files, leave_file);
	for (i = 0; i < table->object_count; i++)
		ntrace_object_put(table->objects[i].object);
	free(table->objects);
	free(table->traces);
	free(table->slots.numbers);
	memset(table, 0, sizeof(*table));
}

void table_clear(struct trace_table *table)
{
	table->count = 0;
	table->last = 0;
	slots_clear(&table->slots);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct ntrace_profile_trace *trace)
{
	uint64_t hash = mix((uintptr_t)trace->object, trace->start);

	hash = mix(hash, trace->end);
	hash = mix(hash, trace->from);
	return mix(hash, (uintptr_t)trace->from_object ^ trace->process);
}

static bool same(const struct ntrace_profile_trace *a, const struct ntrace_profile_trace *b)
{
	return a->start == b->start && a->end == b->end && a->from == b->from &&
	       a->object == b->object && a->from_object == b->from_object &&
	       a->instructions == b->instructions && a->taken == b->taken &&
	       a->privilege == b->privilege && a->process == b->process;
}

static void fill_slots(struct trace_table *table)
{
	slots_clear(&table->slots);
	for (size_t i = 0; i < table->count; i++)
		slots_add(&table->slots, hash_of(&table->traces[i]), i);
}

/* Makes room for one more trace and its slot. */
static int make_room(struct trace_table *table)
{
	bool cleared;

	if (grow((void **)&table->traces, table->count, &table->room, sizeof(*table->traces)) ||
	    slots_grow(&table->slots, table->count, &cleared))
		return NTRACE_ERR_NOMEM;
	if (cleared)
		fill_slots(table);
	return 0;
}

int table_add(struct trace_table *table, const struct ntrace_profile_trace *trace)
{
	struct ntrace_profile_trace *present;
	size_t slot;

	if (make_room(table))
		return NTRACE_ERR_NOMEM;
	slot = slots_at(&table->slots, hash_of(trace));
	for (; table->slots.numbers[slot]; slot = slots_at(&table->slots, slot + 1)) {
		present = &table->traces[table->slots.numbers[slot] - 1];
		if (same(present, trace)) {
			present->count = add_counts(present->count, trace->count);
			table->last = table->slots.numbers[slot] - 1;
			return 0;
		}
	}
	table->slots.numbers[slot] = (uint32_t)table->count + 1;
	table->last = table->count;
	table->traces[table->count++] = *trace;
	return 0;
}

/* Build-ids tell files apart; without them, the code does. */
static int compare_versions(const struct ntrace_object *a, const struct ntrace_object *b)
{
	const uint8_t *id_a, *id_b;
	size_t size_a, size_b;

	id_a = ntrace_object_build_id(a, &size_a);
	id_b = ntrace_object_build_id(b, &size_b);
	if (size_a != size_b)
		return size_a < size_b ? -1 : 1;
	if (size_a)
		return memcmp(id_a, id_b, size_a);
	return compare_numbers(ntrace_object_code_hash(a), ntrace_object_code_hash(b));
}

/* 0 for objects of one file. */
static int compare_files(const void *left, const void *right)
{
	const struct ntrace_object *a = left, *b = right;
	size_t size;
	int order;

	if (a == b)
		return 0;
	/* A file with a build-id may have several names. */
	ntrace_object_build_id(a, &size);
	if (!size)
		ntrace_object_build_id(b, &size);
	order = size ? 0 : strcmp(ntrace_object_name(a), ntrace_object_name(b));
	return order ? order : compare_versions(a, b);
}

int table_object(struct trace_table *table, struct ntrace_object *object,
		 struct ntrace_object **same)
{
	struct ntrace_object **found;

	*same = NULL;
	if (!object)
		return 0;
	if (grow((void **)&table->objects, table->object_count, &table->object_room,
		 sizeof(*table->objects)))
		return NTRACE_ERR_NOMEM;
	found = tsearch(object, &table->files, compare_files);
	if (!found)
		return NTRACE_ERR_NOMEM;
	*same = *found;
	if (*found == object)
		table->objects[table->object_count++] =
			(struct ntrace_profile_object){ .object = ntrace_object_get(object) };
	return 0;
}

int table_compare_objects(const struct ntrace_object *a, const struct ntrace_object *b)
{
	int order;

	if (a == b)
		return 0;
	if (!a || !b)
		return a ? 1 : -1;
	order = strcmp(ntrace_object_name(a), ntrace_object_name(b));
	return order ? order : compare_versions(a, b);
}

static int compare_traces(const void *left, const void *right)
{
	const struct ntrace_profile_trace *a = left, *b = right;
	int order = table_compare_objects(a->object, b->object);

	if (!order)
		order = compare_numbers(a->start, b->start);
	if (!order)
		order = compare_numbers(a->end, b->end);
	if (!order)
		order = table_compare_objects(a->from_object, b->from_object);
	if (!order)
		order = compare_numbers(a->from, b->from);
	if (!order)
		order = compare_numbers(a->instructions, b->instructions);
	if (!order)
		order = a->taken - b->taken;
	if (!order)
		order = a->privilege - b->privilege;
	return order ? order : compare_numbers(a->process, b->process);
}

static int compare_sizes(const void *left, const void *right)
{
	const struct ntrace_profile_object *a = left, *b = right;

	if (a->instructions != b->instructions)
		return a->instructions < b->instructions ? 1 : -1;
	return table_compare_objects(a->object, b->object);
}

void table_sort_traces(struct trace_table *table)
{
	if (!table->count)
		return;
	qsort(table->traces, table->count, sizeof(*table->traces), compare_traces);
	fill_slots(table);
}

void table_sort_objects(struct trace_table *table)
{
	if (table->object_count)
		qsort(table->objects, table->object_count, sizeof(*table->objects), compare_sizes);
}
