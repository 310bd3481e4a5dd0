/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Sums up the occupancy of a profile; internal to lib/profile. */
#ifndef NTRACE_PROFILE_OCCUPANCY_H
#define NTRACE_PROFILE_OCCUPANCY_H

#include <ntrace/occupancy.h>

struct occupancy;

/* Return: NULL when out of memory. @session: borrowed */
struct occupancy *occupancy_new(const struct ntrace_session *session);
void occupancy_free(struct occupancy *occupancy);

/* Adds an event of the session. Return: 0 or NTRACE_ERR_NOMEM. */
int occupancy_event(struct occupancy *occupancy, const struct ntrace_session_event *event);

/* Likewise for blocks and runs. */
int occupancy_segment(struct occupancy *occupancy, const struct ntrace_segment *segment);

/* Ends the streams. Return: 0 or NTRACE_ERR_NOMEM. */
int occupancy_end(struct occupancy *occupancy);

#endif
