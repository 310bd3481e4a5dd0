/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of a profile shared by the files of lib/profile; internal. */
#ifndef NTRACE_PROFILE_PARTS_H
#define NTRACE_PROFILE_PARTS_H

#include <ntrace/counts.h>

/* The profile's own object for @object; NULL stays NULL. Return: 0 or NTRACE_ERR_NOMEM. */
int profile_find_object(struct ntrace_profile *profile, struct ntrace_object *object,
			struct ntrace_object **same);

/* ntrace_locator_find() with the profile's locator. */
const struct ntrace_location *profile_locate(struct ntrace_profile *profile,
					     struct ntrace_space *space, uint64_t address);

struct function_sums;
struct occupancy;

/* The parts of a profile; NULL if it does not have them. */
struct function_sums *profile_functions(const struct ntrace_profile *profile);
struct occupancy *profile_occupancy(const struct ntrace_profile *profile);

/* Keeps an array for ntrace_profile_edges() and frees the previous one. */
void profile_keep_edges(struct ntrace_profile *profile, void *edges);

/* Marks that the traces come from branch stacks from now on. */
void profile_is_sampled(struct ntrace_profile *profile);

/*
 * Counts a selected trace that has the profile's objects, and sets its privilege. Return: 0 or
 * NTRACE_ERR_NOMEM.
 */
int profile_add(struct ntrace_profile *profile, int32_t pid, unsigned int privilege,
		struct ntrace_profile_trace *trace);

/* Number of transfers to an instruction that did not retire after them: it trapped. */
uint64_t counts_trapped(const struct ntrace_counts *counts, uint64_t address);

#endif
