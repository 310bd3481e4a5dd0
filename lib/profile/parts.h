/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of a profile shared by the files of lib/profile; internal. */
#ifndef NTRACE_PROFILE_PARTS_H
#define NTRACE_PROFILE_PARTS_H

#include <ntrace/counts.h>

/* The profile's own object for @object; NULL stays NULL. Return: 0 or NTRACE_ERR_NOMEM. */
int profile_find_object(struct ntrace_profile *profile, struct ntrace_object *object,
			struct ntrace_object **same);

/*
 * Counts a selected trace that has the profile's objects, and sets its privilege. Return: 0 or
 * NTRACE_ERR_NOMEM.
 */
int profile_add(struct ntrace_profile *profile, unsigned int privilege,
		struct ntrace_profile_trace *trace);

/* Number of transfers to an instruction that did not retire after them: it trapped. */
uint64_t counts_trapped(const struct ntrace_counts *counts, uint64_t address);

#endif
