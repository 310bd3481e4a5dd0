/* SPDX-License-Identifier: GPL-2.0-only */
/* Control transfers of a profile, by source and target, and names of places. */
#ifndef NTRACE_TOOL_PROFILE_EDGES_H
#define NTRACE_TOOL_PROFILE_EDGES_H

#include <ntrace/counts.h>

/**
 * struct edge - all transfers from one instruction to another
 * @object: object that contains @to; NULL = unknown code
 * @from: link address, as @to
 * @taken: number of transfers
 * @from_class: enum ntrace_insn_class of the instruction at @from
 */
struct edge {
	struct ntrace_object *from_object;
	struct ntrace_object *object;
	uint64_t from;
	uint64_t to;
	uint64_t taken;
	uint8_t from_class;
};

/**
 * edges_collect - transfers of a profile from known code, most frequent first
 *
 * Equal counts have a fixed order. Return: array to be freed, NULL when out of memory.
 */
struct edge *edges_collect(struct ntrace_profile *profile, size_t *count);

/**
 * struct named_object - an object whose addresses are to be named
 * @space: the object at its link addresses
 */
struct named_object {
	struct ntrace_object *object;
	struct ntrace_counts *counts;
	struct ntrace_space *space;
};

/** struct named_objects - cache of objects; initially all zeros */
struct named_objects {
	struct named_object *items;
	size_t count;
};

/**
 * named_object - find an object in the cache, or add it
 *
 * Return: valid until the next call; NULL when out of memory.
 */
struct named_object *named_object(struct named_objects *objects, struct ntrace_profile *profile,
				  struct ntrace_object *object);
void named_objects_free(struct named_objects *objects);

/** named_place - "function+0x12 (object)", or only the address if @object is NULL. Return: @text */
char *named_place(char *text, size_t size, const struct named_object *object, uint64_t address);

#endif /* NTRACE_TOOL_PROFILE_EDGES_H */
