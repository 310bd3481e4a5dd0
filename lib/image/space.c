// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Address spaces: a sorted array of disjoint mappings, and a parent. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "object.h"

/* @last is inclusive: a mapping can end at the top of the address space. */
struct mapping {
	uint64_t start;
	uint64_t last;
	struct ntrace_object *object;
	uint64_t offset;	/* offset of the first byte in the object's bytes */
	uint64_t link;		/* link address of the first byte */
	bool uncertain;		/* the bytes may have changed */
};

struct ntrace_space {
	atomic_uint references;
	char *name;
	struct ntrace_space *parent;
	struct mapping *mappings;
	size_t count;
	size_t room;
	atomic_size_t hit;	/* mapping of the last lookup; a hint */
	uint64_t version;
};

/*
 * No two states of any two spaces have the same version, even if a new space gets the address of a
 * freed one. So a cache can compare pointer and version only.
 */
static uint64_t new_version(void)
{
	static atomic_uint_fast64_t version;

	return atomic_fetch_add_explicit(&version, 1, memory_order_relaxed) + 1;
}

int ntrace_space_new(struct ntrace_space **space, const char *name, struct ntrace_space *parent)
{
	struct ntrace_space *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->name = strdup(name);
	if (!made->name) {
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	atomic_init(&made->references, 1);
	made->parent = ntrace_space_get(parent);
	made->version = new_version();
	*space = made;
	return 0;
}

struct ntrace_space *ntrace_space_get(struct ntrace_space *space)
{
	if (space)
		atomic_fetch_add_explicit(&space->references, 1, memory_order_relaxed);
	return space;
}

void ntrace_space_put(struct ntrace_space *space)
{
	while (space &&
	       atomic_fetch_sub_explicit(&space->references, 1, memory_order_acq_rel) == 1) {
		struct ntrace_space *parent = space->parent;
		size_t i;

		for (i = 0; i < space->count; i++)
			ntrace_object_put(space->mappings[i].object);
		free(space->mappings);
		free(space->name);
		free(space);
		space = parent;
	}
}

const char *ntrace_space_name(const struct ntrace_space *space)
{
	return space->name;
}

struct ntrace_object *space_object(const struct ntrace_space *space, size_t index)
{
	return index < space->count ? space->mappings[index].object : NULL;
}

uint64_t ntrace_space_version(const struct ntrace_space *space)
{
	uint64_t version = 0;

	/* Versions only grow, so a change in the space or any parent makes a new maximum. */
	for (; space; space = space->parent) {
		if (space->version > version)
			version = space->version;
	}
	return version;
}

int ntrace_space_clone(struct ntrace_space **copy, const char *name,
		       const struct ntrace_space *space)
{
	struct ntrace_space *made;
	size_t i;
	int error;

	error = ntrace_space_new(&made, name, space->parent);
	if (error)
		return error;
	if (space->count) {
		made->mappings = malloc(space->count * sizeof(*made->mappings));
		if (!made->mappings) {
			ntrace_space_put(made);
			return NTRACE_ERR_NOMEM;
		}
		memcpy(made->mappings, space->mappings, space->count * sizeof(*made->mappings));
		made->count = space->count;
		made->room = space->count;
		for (i = 0; i < made->count; i++)
			ntrace_object_get(made->mappings[i].object);
	}
	*copy = made;
	return 0;
}

/* Index of the first mapping that does not end below @address. */
static size_t mapping_from(const struct ntrace_space *space, uint64_t address)
{
	size_t low = 0;

	BISECT(low, space->count, middle, space->mappings[middle].last < address);
	return low;
}

/* Reserves room so that clearing a range and adding a mapping cannot fail halfway. */
static int reserve(struct ntrace_space *space, size_t more)
{
	struct mapping *mappings;
	size_t room;

	if (space->room - space->count >= more)
		return 0;
	room = 2 * space->room + more + 6;
	mappings = realloc(space->mappings, room * sizeof(*mappings));
	if (!mappings)
		return NTRACE_ERR_NOMEM;
	space->mappings = mappings;
	space->room = room;
	return 0;
}

static void cut_head(struct mapping *mapping, uint64_t start)
{
	mapping->offset += start - mapping->start;
	mapping->link += start - mapping->start;
	mapping->start = start;
}

static void insert(struct ntrace_space *space, size_t at, const struct mapping *mapping)
{
	memmove(&space->mappings[at + 1], &space->mappings[at],
		(space->count - at) * sizeof(*mapping));
	space->mappings[at] = *mapping;
	space->count++;
}

/* Removes a range; needs room for one more mapping. Returns the index for inserting the range. */
static size_t clear(struct ntrace_space *space, uint64_t start, uint64_t last)
{
	size_t first = mapping_from(space, start), after, i;

	atomic_store_explicit(&space->hit, 0, memory_order_relaxed);
	if (first == space->count || space->mappings[first].start > last)
		return first;
	if (space->mappings[first].start < start) {
		if (space->mappings[first].last > last) {
			struct mapping tail = space->mappings[first];

			/* A gap inside one mapping leaves two mappings. */
			ntrace_object_get(tail.object);
			cut_head(&tail, last + 1);
			space->mappings[first].last = start - 1;
			insert(space, first + 1, &tail);
			return first + 1;
		}
		space->mappings[first].last = start - 1;
		first++;
	}
	after = first;
	while (after < space->count && space->mappings[after].last <= last)
		after++;
	if (after < space->count && space->mappings[after].start <= last)
		cut_head(&space->mappings[after], last + 1);
	for (i = first; i < after; i++)
		ntrace_object_put(space->mappings[i].object);
	memmove(&space->mappings[first], &space->mappings[after],
		(space->count - after) * sizeof(*space->mappings));
	space->count -= after - first;
	return first;
}

static int add(struct ntrace_space *space, struct mapping *mapping)
{
	int error = reserve(space, 2);

	if (error)
		return error;
	ntrace_object_get(mapping->object);
	insert(space, clear(space, mapping->start, mapping->last), mapping);
	space->version = new_version();
	return 0;
}

/*
 * The segment shown by a mapping of a file. Segments share pages of the file, so take the segment
 * with the greatest overlap, executable ones first.
 */
static const struct segment *shown_segment(const struct ntrace_object *object, uint64_t offset,
					   uint64_t size)
{
	uint64_t end = offset + size < offset ? UINT64_MAX : offset + size;
	const struct segment *best = NULL;
	uint64_t best_overlap = 0;
	size_t i;

	for (i = 0; i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];
		uint64_t low = segment->offset > offset ? segment->offset : offset;
		uint64_t high = segment->offset + segment->size;
		uint64_t overlap;

		if (high > end)
			high = end;
		overlap = high > low ? high - low : 0;
		if (!overlap || (best && best->executable && !segment->executable))
			continue;
		if (!best || overlap > best_overlap || (segment->executable && !best->executable)) {
			best = segment;
			best_overlap = overlap;
		}
	}
	return best;
}

bool object_has_segment(const struct ntrace_object *object, uint64_t offset, uint64_t size)
{
	return shown_segment(object, offset, size);
}

static int make_mapping(struct mapping *mapping, struct ntrace_object *object, uint64_t address,
			uint64_t size, uint64_t file_offset)
{
	const struct segment *segment;

	*mapping = (struct mapping){
		.start = address,
		.last = address + (size - 1),
		.object = object,
		.offset = file_offset,
		.link = file_offset,
	};
	if (!size || mapping->last < mapping->start || file_offset + size < file_offset)
		return NTRACE_ERR_INVALID;
	segment = shown_segment(object, file_offset, size);
	if (segment)
		mapping->link = file_offset - segment->offset + segment->address;
	return 0;
}

int space_map(struct ntrace_space *space, struct ntrace_object *object, uint64_t address,
	      uint64_t size, uint64_t file_offset, bool uncertain)
{
	struct mapping mapping;
	int error = make_mapping(&mapping, object, address, size, file_offset);

	mapping.uncertain = uncertain;
	return error ? error : add(space, &mapping);
}

int ntrace_space_map(struct ntrace_space *space, struct ntrace_object *object, uint64_t address,
		     uint64_t size, uint64_t file_offset)
{
	return space_map(space, object, address, size, file_offset, false);
}

int ntrace_space_map_linked(struct ntrace_space *space, struct ntrace_object *object, uint64_t bias)
{
	size_t i;
	int error;

	for (i = 0; i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];
		struct mapping mapping = {
			.start = segment->address + bias,
			.last = segment->address + bias + (segment->size - 1),
			.object = object,
			.offset = segment->offset,
			.link = segment->address,
		};

		if (mapping.last < mapping.start)
			return NTRACE_ERR_INVALID;
		error = add(space, &mapping);
		if (error)
			return error;
	}
	return 0;
}

int ntrace_space_unmap(struct ntrace_space *space, uint64_t address, uint64_t size)
{
	uint64_t last = address + (size - 1);

	if (!size)
		return NTRACE_OK;
	if (last < address)
		last = UINT64_MAX;
	if (reserve(space, 1))
		return NTRACE_ERR_NOMEM;
	clear(space, address, last);
	space->version = new_version();
	return NTRACE_OK;
}

static const struct mapping *find(const struct ntrace_space *space, uint64_t address)
{
	for (; space; space = space->parent) {
		const struct mapping *mapping;
		/* The hint is no part of the space's value, so that a const space may change it. */
		atomic_size_t *hit = &((struct ntrace_space *)(uintptr_t)space)->hit;
		size_t at = atomic_load_explicit(hit, memory_order_relaxed);

		if (at >= space->count)
			continue;
		mapping = &space->mappings[at];
		if (address >= mapping->start && address <= mapping->last)
			return mapping;
		at = mapping_from(space, address);
		if (at == space->count || space->mappings[at].start > address)
			continue;
		atomic_store_explicit(hit, at, memory_order_relaxed);
		return &space->mappings[at];
	}
	return NULL;
}

int ntrace_space_read(const struct ntrace_space *space, uint64_t address, const uint8_t **data,
		      size_t *available)
{
	const struct mapping *mapping = find(space, address);
	uint64_t offset, rest;

	if (!mapping)
		return NTRACE_ERR_NOMAP;
	offset = mapping->offset + (address - mapping->start);
	if (offset >= mapping->object->size)
		return NTRACE_ERR_NOMAP;
	rest = mapping->last - address;
	if (mapping->object->memory) {
		if (object_memory_read(mapping->object, offset, data, available))
			return NTRACE_ERR_NOMAP;
		if (*available - 1 > rest)
			*available = (size_t)rest + 1;
		return 0;
	}
	if (rest > mapping->object->size - offset - 1)
		rest = mapping->object->size - offset - 1;
	*data = mapping->object->bytes + offset;
	*available = (size_t)rest + 1;
	return 0;
}

static void locate_in(struct ntrace_object *object, uint64_t address,
		      struct ntrace_location *location)
{
	const struct symbol *symbol = symbol_table_find(&object->symbols, address), *function;

	location->object = object;
	location->link_address = address;
	if (symbol) {
		location->symbol = symbol->name;
		location->symbol_start = symbol->start;
		/* The last symbol without a size extends to the end of the address space. */
		location->symbol_size = symbol->end == UINT64_MAX ? 0 : symbol->end - symbol->start;
		function = &object->symbols.symbols[symbol->function];
		location->function = function->name;
		location->function_start = function->start;
	}
	location->uncertain = object_is_uncertain(object, address);
}

bool space_is_uncertain(const struct ntrace_space *space, uint64_t address)
{
	const struct mapping *mapping = find(space, address);

	if (!mapping)
		return false;
	return mapping->uncertain ||
	       object_is_uncertain(mapping->object, mapping->link + (address - mapping->start));
}

int ntrace_space_locate(const struct ntrace_space *space, uint64_t address,
			struct ntrace_location *location)
{
	const struct mapping *mapping = find(space, address);

	memset(location, 0, sizeof(*location));
	if (!mapping)
		return NTRACE_ERR_NOMAP;
	locate_in(mapping->object, mapping->link + (address - mapping->start), location);
	location->uncertain |= mapping->uncertain;
	return 0;
}

int ntrace_object_locate(struct ntrace_object *object, uint64_t address,
			 struct ntrace_location *location)
{
	uint64_t offset;

	*location = (struct ntrace_location){ .object = object, .link_address = address };
	if (ntrace_object_file_offset(object, address, &offset))
		return NTRACE_ERR_NOMAP;
	locate_in(object, address, location);
	return 0;
}

/* Copies @size bytes, which may span mappings; false, with the address of the failure. */
static bool copy_bytes(const struct ntrace_space *space, uint64_t *address, uint8_t *bytes,
		       size_t size)
{
	while (size) {
		const uint8_t *data;
		size_t available;

		if (ntrace_space_read(space, *address, &data, &available))
			return false;
		if (available > size)
			available = size;
		memcpy(bytes, data, available);
		bytes += available;
		*address += available;
		size -= available;
	}
	return true;
}

int ntrace_space_table_target(const struct ntrace_space *space, const struct ntrace_insn *insn,
			      uint64_t pc, const uint64_t *jvt, uint64_t *target)
{
	struct ntrace_location location;
	uint64_t base, entry, value = 0;
	uint8_t bytes[8] = { 0 };
	unsigned int i, size = insn->xlen / 8;

	*target = pc;
	if (!insn->table_jump || (size != 4 && size != 8))
		return NTRACE_ERR_INVALID;
	if (jvt) {
		base = *jvt;
	} else {
		if (ntrace_space_locate(space, pc, &location) ||
		    ntrace_object_jump_table(location.object, &base))
			return NTRACE_ERR_NOMAP;
		base += pc - location.link_address;
	}
	entry = base + (uint64_t)insn->table_index * size;
	if (size == 4)
		entry &= 0xffffffff;
	*target = entry;
	if (!copy_bytes(space, target, bytes, size))
		return NTRACE_ERR_NOMAP;
	for (i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	*target = value & ~UINT64_C(1);
	return 0;
}
