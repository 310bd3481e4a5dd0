/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data area of a capture, and what fills it: positions in the ring of a sink, the drain, and
 * how the trace of several encoders, and of events that follow each other, is told apart.
 */
#ifndef NTRACE_FEED_H
#define NTRACE_FEED_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "component.h"

/* MSEO 10, which no encoder sends (N-Trace 1.0, message layout). */
#define NTRACE_RESERVED_BYTE	0x02
/* MSEO 11: the last byte of a message */
#define NTRACE_MESSAGE_END	0x03

/* In frames, synchronization words mark a gap, which a frame does not contain. */
#define NTRACE_BARRIER_BYTES	16

/* What may be in doubt at a time, with the piece of trace that ends the doubt; more is lost. */
#define NTRACE_FEED_DOUBTFUL	SZ_4K

/**
 * struct ntrace_late - trace of an event that has ended, which arrives late in a shared sink
 * @stale: bytes that the drain finds next in the ring, in which all trace of this encoder is of the
 *	   ended event; U32_MAX: all that comes until the sink starts again
 * @reach: bytes that the drain finds next, after which no trace is of the ended event; U32_MAX:
 *	   unknown
 * @doubt: bytes of this encoder after those of @stale that may be of the ended event
 * @unsure: the next message may be of the ended event; nothing is committed, or put into the data
 *	    area
 * @skip: the next message is of the ended event
 */
struct ntrace_late {
	u32 stale;
	u32 reach;
	u32 doubt;
	bool unsure;
	bool skip;
};

/*
 * The data area of a capture, and what fills it.
 *
 * @behind: how late the expiries of @timer were, in all, since it last left nothing in the sink
 * @control: control page, first page of the area that user space maps
 * @tail: bytes consumed from the data area; consumers advance it without a lock
 * @overrun: the data area was full; set until a part of it is free again. While @data is NULL,
 *	     trace is lost instead of counted
 * @ended: the last message of this encoder in a shared sink is complete and ends a trace
 *
 * The lock of the sink protects @node, @data, @size, @overwrite, and the members from @late on.
 */
struct ntrace_feed {
	struct list_head node; /* in the list of its sink */
	struct ntrace_component *encoder; /* encoder whose trace it gets */
	struct ntrace_component *sink; /* sink that it is fed from */
	struct hrtimer timer; /* drains the sink, on the traced hart */
	ktime_t interval; /* period of @timer; longer on slow harts, see ntrace_drain_least() */
	ktime_t pace; /* period of @timer now, at most that long */
	ktime_t delay; /* usual time from an expiry of @timer to its callback */
	ktime_t behind;
	bool watched; /* each expiry of @timer is in the trace */
	unsigned int still; /* expiries since trace arrived last, see ntrace_drain_watch() */
	u32 seen; /* how far the sink was drained then */
	struct irq_work wake; /* wakes readers from the timer */
	struct ntrace_control *control;
	u8 *data; /* data area, directly after the control page; or an AUX area of perf */
	u64 size; /* bytes of it, a power of two, or 0 */
	bool framed; /* @data holds frames of a CoreSight formatter */
	bool kernel; /* the kernel of this hart is traced for perf */
	bool counts; /* count trace while @data is NULL, as perf does; else trace is ignored then */
	bool overwrite; /* new trace overwrites the oldest bytes of @data */
	atomic64_t tail;
	struct ntrace_late late; /* trace of the last event of perf that has not arrived */
	bool paused; /* the data area changes: the drain of its sink must not touch the ring */
	bool fault; /* the write pointer of the sink left its buffer, or @failed, or @taken */
	bool failed; /* the encoder cannot reach its sink any more */
	bool taken; /* a debugger has taken the encoder */
	bool overrun;
	bool ended;
	u32 fresh; /* bytes after @head that are not committed yet, or in @doubtful */
	u32 dropped; /* bytes that found no room and are not committed yet */
	u64 head; /* bytes put into the data area */
	u64 gap_head; /* @head at the last gap */
	u32 gaps; /* number of gaps */
	u64 lost; /* bytes lost */
	u32 loss; /* NTRACE_LOSS_... */
	u32 recent; /* those of @loss that perf has not reported yet */
	bool overflowed; /* the encoder has reported a loss since it was enabled */
	u8 doubtful[NTRACE_FEED_DOUBTFUL]; /* the @fresh bytes while @late is unsure */
};

void ntrace_feed_leave(struct ntrace_feed *feed, u32 stale, u32 reach, u32 doubt);
void ntrace_feed_enter(struct ntrace_feed *feed, u32 passed);
void ntrace_feed_settle(struct ntrace_feed *feed);
u32 ntrace_feed_piece(const struct list_head *feeds, u32 bytes);
void ntrace_feed_age(const struct list_head *feeds, u32 bytes);
u32 ntrace_feed_copies(const struct list_head *feeds);
bool ntrace_feed_is_paused(const struct list_head *feeds);
bool ntrace_feed_is_due(const struct ntrace_feed *feed, u64 bytes);
void ntrace_feed_put(struct ntrace_feed *feed, const u8 *bytes, u32 count);
void ntrace_feed_message(struct ntrace_feed *feed, bool ends);
void ntrace_feed_commit(struct ntrace_feed *feed);
void ntrace_feed_void(struct ntrace_feed *feed);
void ntrace_feed_note(struct ntrace_feed *feed, u32 loss, bool gap);
void ntrace_feed_miss(struct ntrace_feed *feed, u64 lost, u32 loss);
void ntrace_feed_encoder(struct ntrace_feed *feed, u32 control);
int ntrace_feed_consume(struct ntrace_feed *feed, u64 tail);
u64 ntrace_feed_readable(struct ntrace_feed *feed, u64 *tail);

/* ring of a sink, and the canary before the drained position (drain.c) */

/* Number of bytes that the sink writes from one position to another. */
static inline u32 ring_distance(const struct ntrace_ramsink *sink, u32 from, u32 to)
{
	return to >= from ? to - from : to + sink->ring_size - from;
}

static inline u32 ring_add(const struct ntrace_ramsink *sink, u32 position, u32 bytes)
{
	return ring_distance(sink, sink->ring_size - bytes, position);
}

/*
 * Bytes by which ring_distance() may be too large: until the sink has wrapped, the end of its last
 * granule is not known if the width of a write is not.
 */
static inline u32 ring_doubt(const struct ntrace_ramsink *sink)
{
	return sink->wrapped ? 0 : sink->granule - sink->least;
}

/*
 * A canary is a part of the granule before a position: what one write of the sink has at least.
 * Before position 0, it is the start of the last granule, whose end may be unknown.
 */
static inline u8 *ring_canary(const struct ntrace_ramsink *sink, u32 position)
{
	return sink->ring + (position ? position - sink->least : sink->last);
}

static inline void ring_set_canary(const struct ntrace_ramsink *sink, u32 position)
{
	memset(ring_canary(sink, position), NTRACE_RESERVED_BYTE, sink->least);
}

static inline bool ring_canary_intact(const struct ntrace_ramsink *sink, u32 position)
{
	return !memchr_inv(ring_canary(sink, position), NTRACE_RESERVED_BYTE, sink->least);
}

/* The driver separates the trace of a shared sink in pieces of this size, outside of the ring. */
#define NTRACE_DRAIN_BOUNCE	SZ_4K

/* split.c */
void ntrace_split_reset(struct ntrace_ramsink *sink, bool skip);
void ntrace_split_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count);
bool ntrace_split_is_inside(const struct ntrace_ramsink *sink, const struct ntrace_feed *feed);
void ntrace_split_forget(struct ntrace_ramsink *sink, const struct ntrace_feed *feed);

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

/* drain.c */
bool ntrace_drain_position(struct ntrace_component *component, u32 *position);
void ntrace_drain_report(struct ntrace_feed *feed, u32 control);
u32 ntrace_drain_limit(struct ntrace_ramsink *sink);
bool ntrace_drain_slice(struct ntrace_component *component, u32 limit, bool sink_stopped);
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

/*
 * Way of the drain to the end of a trace.
 *
 * @left: bytes up to which all trace of the encoder has arrived, if the funnels were empty
 */
struct ntrace_turn_way {
	bool valid; /* the write pointer was in the ring */
	u32 drained; /* position in the ring from which the rest counts */
	u32 sure; /* bytes up to which the sink holds no trace that is made later */
	u32 left;
	u32 ends; /* that of the sink when the trace ended */
	u32 drops; /* that of the sink when the trace ended */
};

/* turn.c */
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

#endif /* NTRACE_FEED_H */
