/* SPDX-License-Identifier: GPL-2.0-only */
/* The turns of perf's events on a hart. */
#ifndef NTRACE_TURN_H
#define NTRACE_TURN_H

#include <linux/types.h>

struct ntrace_feed;

void ntrace_turn_into(struct ntrace_feed *feed, void *data, size_t size, u64 head, u64 room,
		      bool overwrite);
u64 ntrace_turn_discard(struct ntrace_feed *feed);
void ntrace_turn_pause(struct ntrace_feed *feed, bool pause);
bool ntrace_turn_leave(struct ntrace_feed *feed, u32 control, u32 held);
void ntrace_turn_join(struct ntrace_feed *feed, u32 held);
void ntrace_turn_part(struct ntrace_feed *feed);

#endif /* NTRACE_TURN_H */
