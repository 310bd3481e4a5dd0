/* SPDX-License-Identifier: GPL-2.0-only */
/* Moves trace from the ring of a sink into data areas. */
#ifndef NTRACE_DRAIN_H
#define NTRACE_DRAIN_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct ntrace_component;
struct ntrace_feed;

void ntrace_drain_begin(struct ntrace_component *component);
void ntrace_drain_break(struct ntrace_feed *feed, u32 control);
void ntrace_drain_fail(struct ntrace_feed *feed);
void ntrace_drain_flush(struct ntrace_feed *feed);
void ntrace_drain_leave(struct ntrace_feed *feed, u32 control);
void ntrace_drain_end(struct ntrace_feed *feed, u32 control, bool sink_stopped);
void ntrace_drain_into(struct ntrace_feed *feed, void *data, size_t size, u64 head, u64 room,
		       bool overwrite);
u64 ntrace_drain_discard(struct ntrace_feed *feed);
void ntrace_drain_pause(struct ntrace_feed *feed, bool pause);
bool ntrace_drain_await_end(struct ntrace_feed *feed);
ktime_t ntrace_drain_step(struct ntrace_feed *feed);
void ntrace_drain_rearm(struct hrtimer *timer, ktime_t next);
enum hrtimer_restart ntrace_drain_timer(struct hrtimer *timer);

#endif /* NTRACE_DRAIN_H */
