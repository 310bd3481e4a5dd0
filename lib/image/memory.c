// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Objects whose bytes a callback reads: a target over a debug port, the memory of a simulator, a
 * core file of an unknown kind. They have a small cache of pages; a page that cannot be read as a
 * whole is filled in parts.
 */
#include <stdlib.h>
#include <string.h>

#include "object.h"

#define PAGE 4096u
#define PAGES 64u

/* A direct-mapped page; unless @whole, each valid byte has a bit in @valid. */
struct page {
	uint64_t number;
	bool used;
	bool whole;
	uint8_t valid[PAGE / 8];
	uint8_t bytes[PAGE];
};

struct object_memory {
	ntrace_object_read_fn read;
	void *data;
	uint64_t start;		/* address of the first byte of the object */
	uint64_t last;
	uint8_t scratch[PAGE];	/* a failing read may have written part of it */
	struct page pages[PAGES];
};

int ntrace_object_from_callback(struct ntrace_object **object, const char *name, uint64_t address,
				uint64_t size, ntrace_object_read_fn read, void *data)
{
	struct ntrace_object *made;
	int error;

	if (!read || !size || size > SIZE_MAX || address + (size - 1) < address)
		return NTRACE_ERR_INVALID;
	error = object_new(&made, name);
	if (error)
		return error;
	made->segments = calloc(1, sizeof(*made->segments));
	made->memory = calloc(1, sizeof(*made->memory));
	if (!made->segments || !made->memory) {
		ntrace_object_put(made);
		return NTRACE_ERR_NOMEM;
	}
	made->memory->read = read;
	made->memory->data = data;
	made->memory->start = address;
	made->memory->last = address + (size - 1);
	made->size = (size_t)size;
	made->segments[0] =
		(struct segment){ .address = address, .size = size, .executable = true };
	made->segment_count = 1;
	*object = made;
	return 0;
}

static bool is_valid(const struct page *page, unsigned int at)
{
	return page->valid[at / 8] >> at % 8 & 1;
}

/* Reads the part of [at, at + size) of a page that lies within the object. */
static bool fill(struct object_memory *memory, struct page *page, unsigned int at,
		 unsigned int size)
{
	uint64_t base = page->number * PAGE, first = base + at, last = first + (size - 1);

	if (first < memory->start)
		first = memory->start;
	if (last > memory->last)
		last = memory->last;
	if (memory->read(memory->data, first, memory->scratch, (size_t)(last - first) + 1))
		return false;
	memcpy(page->bytes + (first - base), memory->scratch, (size_t)(last - first) + 1);
	for (at = (unsigned int)(first - base); at <= last - base; at++)
		page->valid[at / 8] |= (uint8_t)(1u << at % 8);
	return true;
}

/* Reads the largest readable part around a byte. */
static bool fill_around(struct object_memory *memory, struct page *page, unsigned int at)
{
	unsigned int size;

	for (size = PAGE; size; size /= 4) {
		if (fill(memory, page, at & ~(size - 1), size)) {
			page->whole = size == PAGE && page->number * PAGE >= memory->start &&
				      page->number * PAGE + (PAGE - 1) <= memory->last;
			return true;
		}
	}
	return false;
}

int object_memory_read(const struct ntrace_object *object, uint64_t offset, const uint8_t **data,
		       size_t *available)
{
	struct object_memory *memory = object->memory;
	uint64_t address = memory->start + offset;
	struct page *page = &memory->pages[address / PAGE % PAGES];
	unsigned int at = (unsigned int)(address % PAGE), end = at;

	if (!page->used || page->number != address / PAGE) {
		page->number = address / PAGE;
		page->used = true;
		page->whole = false;
		memset(page->valid, 0, sizeof(page->valid));
	}
	if (!is_valid(page, at) && !fill_around(memory, page, at))
		return NTRACE_ERR_NOMAP;
	if (page->whole)
		end = PAGE;
	while (end < PAGE && is_valid(page, end))
		end++;
	*data = page->bytes + at;
	*available = end - at;
	return 0;
}
