/* SPDX-License-Identifier: GPL-2.0-only */
/* Moves trace from the ring of a sink into data areas. */
#ifndef NTRACE_DRAIN_H
#define NTRACE_DRAIN_H

#include <linux/hrtimer.h>
#include <linux/types.h>

/*
 * The end of the trace of an event, with interrupts off: time for which the drain goes on, bytes of
 * its slices, and the longest time that counts for a slice, which memory of 25 MB/s takes. A hart
 * that has made more since its last timer than memory delivers in this time loses the rest. If its
 * timers were late, there is more time, see ntrace_drain_end_us(): this share of the delay, up to a
 * limit.
 */
#define NTRACE_DRAIN_END_US	100
#define NTRACE_DRAIN_SLICE_END	1024U
#define NTRACE_DRAIN_END_SLICE_US 40
#define NTRACE_DRAIN_END_SHARE	8
#define NTRACE_DRAIN_END_MORE_US 10000
/* Then it only waits for this time until other harts have pushed the rest out of the sink. */
#define NTRACE_DRAIN_PUSH_US	30

struct ntrace_component;
struct ntrace_feed;
struct ntrace_ramsink;

bool ntrace_drain_position(struct ntrace_component *component, u32 *position);
void ntrace_drain_encoder(struct ntrace_feed *feed, u32 control);
void ntrace_drain_sink(struct ntrace_component *component);
u32 ntrace_drain_limit(struct ntrace_ramsink *sink);
bool ntrace_drain_slice(struct ntrace_component *component, u32 limit, bool sink_stopped);
bool ntrace_drain_part(struct ntrace_component *component, bool sink_stopped, u32 most);
void ntrace_drain_begin(struct ntrace_component *component);
void ntrace_drain_flush(struct ntrace_feed *feed);
u32 ntrace_drain_end_us(const struct ntrace_feed *feed);
void ntrace_drain_end(struct ntrace_feed *feed, u32 control, bool sink_stopped);

/* pace.c */
ktime_t ntrace_drain_first(struct ntrace_feed *feed);
ktime_t ntrace_drain_step(struct ntrace_feed *feed);
void ntrace_drain_read(struct ntrace_feed *feed);
void ntrace_drain_rearm(struct hrtimer *timer, ktime_t next);
enum hrtimer_restart ntrace_drain_timer(struct hrtimer *timer);

#endif /* NTRACE_DRAIN_H */
