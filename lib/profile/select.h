/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Selection and continuation of a flow, shared by counts and samples. */
#ifndef NTRACE_PROFILE_SELECT_H
#define NTRACE_PROFILE_SELECT_H

#include <ntrace/image.h>
#include <ntrace/session.h>

/* Whether the options select what @at executes in @privilege. An unknown privilege is no bit of the set. */
static inline bool is_selected(const struct ntrace_thread_filter *threads, uint32_t privileges,
			       const struct ntrace_session_event *at, unsigned int privilege)
{
	return (!threads || ntrace_thread_filter_passes(threads, at->pid, at->tid, at->comm)) &&
	       (!privileges || (privilege < 32 && privileges >> privilege & 1));
}

/*
 * Size in bytes of the instruction at @address if it always traps, such as a system call, so that
 * control returns after it; else 0.
 */
unsigned int trapping_size(const struct ntrace_space *space, const struct ntrace_isa *isa,
			   uint64_t address);

/* References the new space and releases the previous one. */
static inline void keep_space(struct ntrace_space **kept, struct ntrace_space *space)
{
	if (space == *kept)
		return;
	ntrace_space_put(*kept);
	*kept = space ? ntrace_space_get(space) : NULL;
}

#endif
