// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A cache in front of ntrace_space_locate(), for callers that ask for every block. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/image.h>

#define ENTRIES (1u << 15)

/* Valid for @version of @space; the kernel and a process take turns. A free entry has version 0. */
struct cached_location {
	uint64_t address;
	uint64_t version;
	const struct ntrace_space *space;
	struct ntrace_location location;
};

struct ntrace_locator {
	struct ntrace_space *space;	/* referenced, so that its address is not reused */
	uint64_t version;
	struct ntrace_location nothing;
	struct cached_location entries[ENTRIES];
};

struct ntrace_locator *ntrace_locator_new(void)
{
	return calloc(1, sizeof(struct ntrace_locator));
}

void ntrace_locator_free(struct ntrace_locator *locator)
{
	if (locator && locator->space)
		ntrace_space_put(locator->space);
	free(locator);
}

static void change_space(struct ntrace_locator *locator, struct ntrace_space *space,
			 uint64_t version)
{
	if (space != locator->space) {
		ntrace_space_get(space);
		if (locator->space)
			ntrace_space_put(locator->space);
		locator->space = space;
	}
	locator->version = version;
}

const struct ntrace_location *ntrace_locator_find(struct ntrace_locator *locator,
						  struct ntrace_space *space, uint64_t address)
{
	struct cached_location *entry;
	uint64_t version;

	if (!space)
		return &locator->nothing;
	version = ntrace_space_version(space);
	if (space != locator->space || version != locator->version)
		change_space(locator, space, version);
	entry = &locator->entries[(address >> 1 ^ address >> 16) % ENTRIES];
	if (entry->address != address || entry->version != version || entry->space != space) {
		entry->address = address;
		entry->version = version;
		entry->space = space;
		if (ntrace_space_locate(space, address, &entry->location))
			memset(&entry->location, 0, sizeof(entry->location));
	}
	return &entry->location;
}
