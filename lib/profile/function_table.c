// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Functions by key: a hash table over an array. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "functions.h"
#include "grow.h"

static void free_item(struct ntrace_profile_function *item)
{
	ntrace_object_put(item->object);
	free((void *)(uintptr_t)item->name);
	free((void *)(uintptr_t)item->demangled);
	free((void *)(uintptr_t)item->comm);
}

void function_table_free(struct function_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		free_item(&table->items[i]);
	free(table->items);
	free(table->slots.numbers);
	memset(table, 0, sizeof(*table));
}

static uint64_t hash_of(const struct ntrace_object *object, uint64_t start, uint32_t privilege,
			int32_t pid)
{
	uint64_t hash = (uint64_t)(uintptr_t)object ^ start * UINT64_C(0x9e3779b97f4a7c15);

	hash ^= ((uint64_t)(uint32_t)pid << 8 | privilege) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return hash ^ hash >> 29;
}

static void fill_slots(struct function_table *table)
{
	slots_clear(&table->slots);
	for (size_t i = 0; i < table->count; i++) {
		const struct ntrace_profile_function *item = &table->items[i];

		slots_add(&table->slots,
			  hash_of(item->object, item->start, item->privilege, item->pid), i);
	}
}

/* Makes room for one more function and its slot. */
static int make_room(struct function_table *table)
{
	bool cleared;

	if (grow((void **)&table->items, table->count, &table->room, sizeof(*table->items)) ||
	    slots_grow(&table->slots, table->count, &cleared))
		return NTRACE_ERR_NOMEM;
	if (cleared)
		fill_slots(table);
	return 0;
}

static int set_names(struct ntrace_profile_function *item, const struct function_key *key)
{
	item->comm = strdup(key->comm);
	if (!item->comm)
		return NTRACE_ERR_NOMEM;
	if (!key->name)
		return 0;
	item->name = strdup(key->name);
	item->demangled = ntrace_demangle(key->name);
	return item->name && item->demangled ? 0 : NTRACE_ERR_NOMEM;
}

static bool is_same(const struct ntrace_profile_function *item, const struct function_key *key)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): slots lead to items that exist */
	return item->object == key->object && item->start == key->start &&
	       item->privilege == key->privilege && item->pid == key->pid &&
	       !item->name == !key->name;
}

int function_table_find(struct function_table *table, const struct function_key *key, size_t *index)
{
	struct ntrace_profile_function item = { .start = key->start,
						.privilege = key->privilege,
						.pid = key->pid };
	size_t slot;

	if (make_room(table))
		return NTRACE_ERR_NOMEM;
	slot = slots_at(&table->slots, hash_of(key->object, key->start, key->privilege, key->pid));
	for (; table->slots.numbers[slot]; slot = slots_at(&table->slots, slot + 1)) {
		*index = table->slots.numbers[slot] - 1;
		if (is_same(&table->items[*index], key))
			return 0;
	}
	if (key->object)
		item.object = ntrace_object_get(key->object);
	if (set_names(&item, key)) {
		free_item(&item);
		return NTRACE_ERR_NOMEM;
	}
	*index = table->count;
	table->slots.numbers[slot] = (uint32_t)table->count + 1;
	table->items[table->count++] = item;
	return 0;
}

/* ---- order ---- */

static const char *shown_name(const struct ntrace_profile_function *function)
{
	return function->demangled ? function->demangled : "[no symbol]";
}

static const char *object_name(const struct ntrace_profile_function *function)
{
	return function->object ? ntrace_object_short_name(function->object) : "";
}

static int compare_names(const struct ntrace_profile_function *a,
			 const struct ntrace_profile_function *b)
{
	int order = strcmp(shown_name(a), shown_name(b));

	if (!order)
		order = strcmp(object_name(a), object_name(b));
	if (!order)
		order = compare_numbers(a->start, b->start);
	if (!order)
		order = a->pid < b->pid ? -1 : a->pid > b->pid;
	return order ? order : compare_numbers(a->privilege, b->privilege);
}

static int compare(const struct ntrace_profile_function *a, const struct ntrace_profile_function *b,
		   uint64_t value_of_a, uint64_t value_of_b)
{
	int order = compare_numbers(value_of_b, value_of_a);

	if (!order)
		order = compare_numbers(b->instructions, a->instructions);
	return order ? order : compare_names(a, b);
}

static int by_instructions(const void *left, const void *right)
{
	return compare(left, right, 0, 0);
}

static int by_total(const void *left, const void *right)
{
	const struct ntrace_profile_function *a = left, *b = right;

	return compare(a, b, a->total, b->total);
}

static int by_calls(const void *left, const void *right)
{
	const struct ntrace_profile_function *a = left, *b = right;

	return compare(a, b, a->calls, b->calls);
}

static int by_time(const void *left, const void *right)
{
	const struct ntrace_profile_function *a = left, *b = right;

	return compare(a, b, a->ticks, b->ticks);
}

static int by_total_time(const void *left, const void *right)
{
	const struct ntrace_profile_function *a = left, *b = right;

	return compare(a, b, a->total_ticks, b->total_ticks);
}

static int by_name(const void *left, const void *right)
{
	return compare_names(left, right);
}

static int by_object(const void *left, const void *right)
{
	int order = strcmp(object_name(left), object_name(right));

	return order ? order : compare(left, right, 0, 0);
}

void function_table_sort(struct function_table *table, unsigned int order)
{
	static int (*const orders[NTRACE_PROFILE_ORDERS])(const void *left, const void *right) = {
		[NTRACE_PROFILE_BY_INSTRUCTIONS] = by_instructions,
		[NTRACE_PROFILE_BY_TOTAL] = by_total,
		[NTRACE_PROFILE_BY_CALLS] = by_calls,
		[NTRACE_PROFILE_BY_TIME] = by_time,
		[NTRACE_PROFILE_BY_TOTAL_TIME] = by_total_time,
		[NTRACE_PROFILE_BY_NAME] = by_name,
		[NTRACE_PROFILE_BY_OBJECT] = by_object,
	};

	if (!table->count)
		return;
	qsort(table->items, table->count, sizeof(*table->items),
	      orders[order < NTRACE_PROFILE_ORDERS ? order : NTRACE_PROFILE_BY_INSTRUCTIONS]);
	fill_slots(table);
}
