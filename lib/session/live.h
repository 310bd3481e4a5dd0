/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The decoding of a stream that still grows. */
#ifndef NTRACE_SESSION_LIVE_H
#define NTRACE_SESSION_LIVE_H

struct live;

/*
 * The flow passed through __switch_to: waits for the records of the switch, and for the end of the new
 * interval unless it takes too long. Return: as follower_switch(), or the result of the source.
 */
int live_switch(struct live *live);

/* Flow was lost: waits for the records of the time of the present trace. Return: as live_switch(). */
int live_lost(struct live *live);

/* The hart is at a message of the present trace, which limits the intervals that it may be in. */
void live_found(struct live *live);

#endif
