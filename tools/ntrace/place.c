// SPDX-License-Identifier: GPL-2.0-only
/* Addresses to functions, transfers between them. */
#include <stdlib.h>
#include <string.h>

#include "place.h"

#define ENTRIES (1u << 15)

struct entry {
	uint64_t address;
	uint64_t generation;
	struct ntrace_location location;
};

struct place_cache {
	struct ntrace_space *space;	/* referenced: a freed one's address could come back */
	uint64_t version;
	uint64_t generation;
	struct ntrace_location nothing;
	struct entry entries[ENTRIES];
};

struct place_cache *place_cache_new(void)
{
	struct place_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->generation = 1;	/* entries have 0: none is valid */
	return cache;
}

void place_cache_free(struct place_cache *cache)
{
	if (cache && cache->space)
		ntrace_space_put(cache->space);
	free(cache);
}

static void change_space(struct place_cache *cache, struct ntrace_space *space, uint64_t version)
{
	if (space != cache->space) {
		ntrace_space_get(space);
		if (cache->space)
			ntrace_space_put(cache->space);
		cache->space = space;
	}
	cache->version = version;
	cache->generation++;
}

const struct ntrace_location *place_find(struct place_cache *cache, struct ntrace_space *space,
					 uint64_t address)
{
	struct entry *entry;
	uint64_t version;

	if (!space)
		return &cache->nothing;
	version = ntrace_space_version(space);
	if (space != cache->space || version != cache->version)
		change_space(cache, space, version);
	entry = &cache->entries[(address >> 1 ^ address >> 16) % ENTRIES];
	if (entry->generation != cache->generation || entry->address != address) {
		entry->generation = cache->generation;
		entry->address = address;
		if (ntrace_space_locate(space, address, &entry->location))
			memset(&entry->location, 0, sizeof(entry->location));
	}
	return &entry->location;
}

uint64_t place_generation(const struct place_cache *cache)
{
	return cache->generation;
}

bool place_same_function(const struct ntrace_location *a, const struct ntrace_location *b)
{
	if (a->object != b->object || !a->symbol != !b->symbol)
		return false;
	return !a->symbol || a->symbol_start == b->symbol_start;
}

const char *place_object_name(const struct ntrace_object *object)
{
	const char *name = ntrace_object_name(object), *slash = strrchr(name, '/');

	/* A recording's copies of kernel text are called after their files. */
	if (slash && (!strcmp(slash, "/kernel.start") || !strcmp(slash, "/kernel.end")))
		return "[kernel]";
	return slash && slash[1] ? slash + 1 : name;
}

bool transfer_resolve(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		      struct transfer *transfer)
{
	if (!tracker->pending)
		return false;
	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		tracker->transfer.to = event->address;
		break;
	case NTRACE_FLOW_TRAP:
		/* The target did not retire, but control had come there. */
		if (!event->next_known)
			return false;
		tracker->transfer.to = event->value;
		break;
	case NTRACE_FLOW_OWNERSHIP:
	case NTRACE_FLOW_WARNING:
	case NTRACE_FLOW_SYNC:
		return false;
	default:
		tracker->pending = false;
		return false;
	}
	tracker->pending = false;
	*transfer = tracker->transfer;
	return true;
}

bool transfer_start(struct transfer_tracker *tracker, const struct ntrace_flow_event *event,
		    struct transfer *transfer)
{
	if (event->type != NTRACE_FLOW_BLOCK || !event->taken)
		return false;
	tracker->transfer.from = event->last;
	tracker->transfer.to = event->next;
	tracker->transfer.insn_class = event->insn_class;
	tracker->pending = !event->next_known;
	if (event->next_known)
		*transfer = tracker->transfer;
	return event->next_known;
}
