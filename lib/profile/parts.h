/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What makes traces of a profile out of something else than flow; for lib/profile only. */
#ifndef NTRACE_PROFILE_PARTS_H
#define NTRACE_PROFILE_PARTS_H

#include <ntrace/profile.h>

/* What the profile calls @object; NULL stays NULL. Return: 0 or NTRACE_ERR_NOMEM. */
int profile_find_object(struct ntrace_profile *profile, struct ntrace_object *object,
			struct ntrace_object **same);

/* ntrace_locator_find() with the profile's locator. */
const struct ntrace_location *profile_locate(struct ntrace_profile *profile,
					     struct ntrace_space *space, uint64_t address);

/* Counts a trace with objects of the profile, if it is selected. Return: 0 or NTRACE_ERR_NOMEM. */
int profile_add(struct ntrace_profile *profile, int32_t pid, unsigned int privilege,
		const struct ntrace_profile_trace *trace);

#endif
