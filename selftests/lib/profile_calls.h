/* SPDX-License-Identifier: GPL-2.0-only */
/* The callbacks of a session that make a profile; their data is the profile. */
#ifndef SELFTESTS_PROFILE_CALLS_H
#define SELFTESTS_PROFILE_CALLS_H

#include <ntrace/profile.h>
#include <ntrace/session.h>

static inline int profile_event(void *data, const struct ntrace_session_event *event)
{
	return ntrace_profile_event(data, event);
}

static inline int profile_segment(void *data, const struct ntrace_segment *segment)
{
	return ntrace_profile_segment(data, segment);
}

#endif
