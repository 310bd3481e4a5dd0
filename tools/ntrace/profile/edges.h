/* SPDX-License-Identifier: GPL-2.0-only */
/* Transfers of control of a profile, by where they come from and go to, and names of places. */
#ifndef NTRACE_TOOL_PROFILE_EDGES_H
#define NTRACE_TOOL_PROFILE_EDGES_H

#include <ntrace/counts.h>

/**
 * struct edge - transfers from one instruction to another, together
 * @object: holds @to; NULL: nothing is known of the code there
 * @from: link address, as @to
 * @taken: times
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
 * edges_collect - the transfers of a profile that come from known code, most taken first
 *
 * The same counts give the same order. Return: array to be freed, NULL when out of memory.
 */
struct edge *edges_collect(struct ntrace_profile *profile, size_t *count);

/**
 * struct named_object - what is needed to name addresses of an object
 * @space: the object at its link addresses
 */
struct named_object {
	struct ntrace_object *object;
	struct ntrace_counts *counts;
	struct ntrace_space *space;
};

/** struct named_objects - those that were asked for; starts as zeros */
struct named_objects {
	struct named_object *items;
	size_t count;
};

/**
 * named_object - an object of a profile, made when it is new
 *
 * Return: valid until the next call; NULL when out of memory.
 */
struct named_object *named_object(struct named_objects *objects, struct ntrace_profile *profile,
				  struct ntrace_object *object);
void named_objects_free(struct named_objects *objects);

/** named_place - "function+0x12 (object)"; @object NULL: the address alone. Return: @text */
char *named_place(char *text, size_t size, const struct named_object *object, uint64_t address);

#endif /* NTRACE_TOOL_PROFILE_EDGES_H */
