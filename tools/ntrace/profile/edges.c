// SPDX-License-Identifier: GPL-2.0-only
/* Control transfers of a profile, and names of places. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edges.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	int order = compare_numbers((uintptr_t)a->from_object, (uintptr_t)b->from_object);

	if (!order)
		order = compare_numbers(a->from, b->from);
	if (!order)
		order = compare_numbers((uintptr_t)a->object, (uintptr_t)b->object);
	return order ? order : compare_numbers(a->to, b->to);
}

static const char *name_of(const struct ntrace_object *object)
{
	return object ? ntrace_object_name(object) : "";
}

/* Equal counts have a fixed order that does not depend on addresses in memory. */
static int by_taken(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	int order = compare_numbers(b->taken, a->taken);

	if (!order)
		order = strcmp(name_of(a->from_object), name_of(b->from_object));
	if (!order)
		order = compare_numbers(a->from, b->from);
	if (!order)
		order = strcmp(name_of(a->object), name_of(b->object));
	return order ? order : compare_numbers(a->to, b->to);
}

struct edge *edges_collect(struct ntrace_profile *profile, size_t *edge_count)
{
	const struct ntrace_profile_trace *traces;
	size_t count, used = 0, kept = 0, i;
	struct edge *edges;

	traces = ntrace_profile_traces(profile, &count);
	edges = calloc(count + 1, sizeof(*edges));
	if (!edges)
		return NULL;
	for (i = 0; i < count; i++) {
		if (traces[i].from_object)
			edges[used++] =
				(struct edge){ traces[i].from_object, traces[i].object,
					       traces[i].from,	      traces[i].start,
					       traces[i].count,	      traces[i].from_class };
	}
	qsort(edges, used, sizeof(*edges), by_place);
	for (i = 1; i < used; i++) {
		if (!by_place(&edges[kept], &edges[i]))
			edges[kept].taken += edges[i].taken;
		else
			edges[++kept] = edges[i];
	}
	*edge_count = used ? kept + 1 : 0;
	qsort(edges, *edge_count, sizeof(*edges), by_taken);
	return edges;
}

struct named_object *named_object(struct named_objects *objects, struct ntrace_profile *profile,
				  struct ntrace_object *object)
{
	struct named_object *items, *item;
	size_t i;

	for (i = 0; i < objects->count; i++) {
		if (objects->items[i].object == object)
			return &objects->items[i];
	}
	items = realloc(objects->items, (objects->count + 1) * sizeof(*items));
	if (!items)
		return NULL;
	objects->items = items;
	item = &items[objects->count];
	*item = (struct named_object){ .object = object };
	if (ntrace_counts_new(&item->counts, profile, object))
		return NULL;
	objects->count++;
	if (ntrace_space_new(&item->space, "", NULL) ||
	    ntrace_space_map_linked(item->space, object, 0))
		return NULL;
	return item;
}

void named_objects_free(struct named_objects *objects)
{
	while (objects->count) {
		struct named_object *item = &objects->items[--objects->count];

		ntrace_counts_free(item->counts);
		if (item->space)
			ntrace_space_put(item->space);
	}
	free(objects->items);
}

char *named_place(char *text, size_t size, const struct named_object *object, uint64_t address)
{
	struct ntrace_location location;
	char *name;

	if (!object)
		snprintf(text, size, "0x%" PRIx64, address);
	else if (ntrace_space_locate(object->space, address, &location) || !location.symbol)
		snprintf(text, size, "0x%" PRIx64 " (%.200s)", address,
			 ntrace_object_short_name(object->object));
	else {
		name = ntrace_demangle(location.symbol);
		snprintf(text, size, "%.700s+0x%" PRIx64 " (%.200s)", name ? name : location.symbol,
			 address - location.symbol_start, ntrace_object_short_name(object->object));
		free(name);
	}
	return text;
}
