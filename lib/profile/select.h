/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which part of a flow counts, and where it goes on: the same for counts and samples. */
#ifndef NTRACE_PROFILE_SELECT_H
#define NTRACE_PROFILE_SELECT_H

#include <ntrace/image.h>

/* Is process @pid in @privilege one of those that the options ask for? -1 and 0 are all. */
static inline bool is_selected(int32_t wanted_pid, uint32_t wanted_privileges, int32_t pid,
			       unsigned int privilege)
{
	return (wanted_pid < 0 || wanted_pid == pid) &&
	       (!wanted_privileges || wanted_privileges >> privilege & 1);
}

/*
 * Bytes of the instruction at @address if it is one that always traps, as a
 * system call does, so that control comes back behind it; else 0.
 */
unsigned int trapping_size(const struct ntrace_space *space, const struct ntrace_isa *isa,
			   uint64_t address);

/* Holds on to the space of what comes now, and lets go of the one before. */
static inline void keep_space(struct ntrace_space **kept, struct ntrace_space *space)
{
	if (space == *kept)
		return;
	ntrace_space_put(*kept);
	*kept = space ? ntrace_space_get(space) : NULL;
}

#endif
