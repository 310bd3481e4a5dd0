/* SPDX-License-Identifier: GPL-2.0-only */
/* The turns of perf's events on a hart. */
#ifndef NTRACE_TURN_H
#define NTRACE_TURN_H

#include <linux/types.h>

struct ntrace_feed;

/**
 * struct ntrace_turn_way - way of the drain to the end of a trace
 * @valid: the write pointer was in the ring
 * @drained: position in the ring from which the rest counts
 * @sure: bytes up to which the sink holds no trace that is made later
 * @left: bytes up to which all trace of the encoder has arrived, if the funnels were empty
 * @ends: that of the sink when the trace ended
 * @drops: that of the sink when the trace ended
 */
struct ntrace_turn_way {
	bool valid;
	u32 drained;
	u32 sure;
	u32 left;
	u32 ends;
	u32 drops;
};

void ntrace_turn_into(struct ntrace_feed *feed, void *data, size_t size, u64 head, u64 room,
		      bool overwrite);
u64 ntrace_turn_discard(struct ntrace_feed *feed, bool lost);
u32 ntrace_turn_causes(struct ntrace_feed *feed);
void ntrace_turn_pause(struct ntrace_feed *feed, bool pause);
void ntrace_turn_measure(struct ntrace_feed *feed, struct ntrace_turn_way *way);
bool ntrace_turn_leave(struct ntrace_feed *feed, struct ntrace_turn_way *way, u64 deadline,
		       u32 control, u32 held);
void ntrace_turn_join(struct ntrace_feed *feed, u32 held);
void ntrace_turn_part(struct ntrace_feed *feed);

#endif /* NTRACE_TURN_H */
