// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data area of a capture: a ring that the drain fills and user space empties, or memory of
 * perf. Trace that was put there becomes visible when it is committed: until then the drain may
 * find that the sink has overwritten the source of its copy.
 *
 * The caller holds the lock of the sink, except in the functions for the consumer.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "component.h"
#include "feed.h"

/* Four words 0x7fffffff, little-endian (ARM IHI 0029, "Trace formatter"). */
static const u8 ntrace_barrier[NTRACE_BARRIER_BYTES] = {
	0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
	0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
};

/* Shows the counters and the head to user space. */
static void ntrace_feed_publish(struct ntrace_feed *feed)
{
	struct ntrace_control *control = feed->control;

	WRITE_ONCE(control->lost, feed->lost);
	WRITE_ONCE(control->loss, feed->loss);
	WRITE_ONCE(control->gaps, feed->gaps);
	WRITE_ONCE(control->gap_head, feed->gap_head);
	/* Last: pairs with the acquire of the reader; covers trace and counters. */
	smp_store_release(&control->head, feed->head);
}

/* Bytes of the mark of a gap. Frames, and so @size, are multiples of it. */
static u32 ntrace_feed_mark(const struct ntrace_feed *feed)
{
	return feed->framed ? NTRACE_BARRIER_BYTES : 1;
}

/*
 * Marks a gap in the data area. There is always room for the mark: ntrace_feed_room() reserves its
 * bytes, and only this mark, as the last one, uses them.
 */
static void ntrace_feed_gap(struct ntrace_feed *feed)
{
	u32 mark = ntrace_feed_mark(feed);
	u8 *to;

	/* No trace has come since the last gap: this is the same gap. */
	if (feed->gaps && feed->head == feed->gap_head + mark)
		return;
	feed->gaps++;
	if (!feed->data)
		return;
	to = feed->data + (feed->head & (feed->size - 1));
	if (feed->framed)
		memcpy(to, ntrace_barrier, mark);
	else
		*to = NTRACE_RESERVED_BYTE;
	feed->gap_head = feed->head;
	feed->head += mark;
}

/* How many of @bytes fit into the data area. After an overrun: none until a quarter is free. */
static u32 ntrace_feed_room(struct ntrace_feed *feed, u32 bytes)
{
	/* Pairs with the release of the consumer: freed bytes have been read. */
	u64 tail = atomic64_read_acquire(&feed->tail);
	u64 room = feed->size - (feed->head + feed->fresh - tail);
	u32 mark = ntrace_feed_mark(feed);

	/* Trace is only counted. */
	if (!feed->data)
		return bytes;
	/* Small pieces between gaps are useless: a decoder skips to the next synchronization. */
	if (feed->overrun && room < feed->size / 4)
		return 0;
	/* Whole frames only, wherever the consumer stands. */
	return min_t(u64, bytes, room > mark ? round_down(room - mark, mark) : 0);
}

/* As ntrace_feed_put(), for trace that may not fit or may not be stored in one piece. */
static void ntrace_feed_put_parts(struct ntrace_feed *feed, const u8 *bytes, u32 count)
{
	u64 mask = feed->size - 1;
	u64 to = feed->head + feed->fresh;
	/* After dropped bytes nothing is appended until the commit, which marks the gap. */
	u32 fits = feed->dropped ? 0 : ntrace_feed_room(feed, count);
	u32 first;

	/* A capture of a file without a data area. */
	if (!feed->data && !feed->counts)
		return;
	feed->fresh += fits;
	feed->dropped += count - fits;
	if (!feed->data)
		return;
	first = min_t(u64, fits, mask + 1 - (to & mask));
	memcpy(feed->data + (to & mask), bytes, first);
	memcpy(feed->data, bytes + first, fits - first);
}

/**
 * ntrace_feed_put - append trace, not visible yet
 * @feed: data area
 * @bytes: trace
 * @count: number of bytes
 */
void ntrace_feed_put(struct ntrace_feed *feed, const u8 *bytes, u32 count)
{
	u64 to = feed->head + feed->fresh;
	u64 at = to & (feed->size - 1);
	/* Pairs with the release of the consumer: freed bytes have been read. */
	u64 used = to - atomic64_read_acquire(&feed->tail);

	/* Usual, and short: the splitter passes on single messages. */
	if (!feed->data || feed->overrun || feed->dropped || at + count > feed->size ||
	    used + count + ntrace_feed_mark(feed) > feed->size) {
		ntrace_feed_put_parts(feed, bytes, count);
		return;
	}
	memcpy(feed->data + at, bytes, count);
	feed->fresh += count;
}

/**
 * ntrace_feed_commit - show the appended trace to the reader
 * @feed: data area
 */
void ntrace_feed_commit(struct ntrace_feed *feed)
{
	if (!feed->fresh && !feed->dropped)
		return;
	feed->head += feed->fresh;
	feed->overrun = feed->dropped;
	if (feed->dropped) {
		feed->lost += feed->dropped;
		feed->loss |= NTRACE_LOSS_DATA_FULL;
		ntrace_feed_gap(feed);
	}
	ntrace_feed_void(feed);
	ntrace_feed_publish(feed);
}

/**
 * ntrace_feed_void - discard trace that was appended and not committed
 * @feed: data area
 */
void ntrace_feed_void(struct ntrace_feed *feed)
{
	feed->fresh = 0;
	feed->dropped = 0;
}

/**
 * ntrace_feed_lapped - the sink has overwritten trace before it was copied
 * @feed: data area
 * @lost: lower bound of the bytes that were lost here
 */
void ntrace_feed_lapped(struct ntrace_feed *feed, u64 lost)
{
	ntrace_feed_void(feed);
	feed->ended = false;
	feed->lost += lost;
	feed->loss |= NTRACE_LOSS_LAPPED;
	ntrace_feed_gap(feed);
	ntrace_feed_publish(feed);
}

/**
 * ntrace_feed_sink_full - the sink stopped because it is full
 * @feed: data area
 */
void ntrace_feed_sink_full(struct ntrace_feed *feed)
{
	feed->loss |= NTRACE_LOSS_SINK_FULL;
	ntrace_feed_gap(feed);
	ntrace_feed_publish(feed);
}

/**
 * ntrace_feed_encoder - record a loss that the encoder reports
 * @feed: data area
 * @control: trTeControl
 */
void ntrace_feed_encoder(struct ntrace_feed *feed, u32 control)
{
	if ((control & feed->encoder->encoder.losses) && !(feed->loss & NTRACE_LOSS_ENCODER)) {
		feed->loss |= NTRACE_LOSS_ENCODER;
		ntrace_feed_publish(feed);
	}
}

/**
 * ntrace_feed_fail - record that the sink cannot write its memory any more
 * @feed: data area
 */
void ntrace_feed_fail(struct ntrace_feed *feed)
{
	feed->failed = true;
	feed->loss |= NTRACE_LOSS_ENCODER;
	ntrace_feed_publish(feed);
}

/**
 * ntrace_feed_break - record that the trace is interrupted
 * @feed: data area
 */
void ntrace_feed_break(struct ntrace_feed *feed)
{
	ntrace_feed_gap(feed);
	ntrace_feed_publish(feed);
}

/**
 * ntrace_feed_take - record that a debugger has taken the encoder
 * @feed: data area; its encoder sends no more trace for it
 */
void ntrace_feed_take(struct ntrace_feed *feed)
{
	feed->fault = true;
	feed->taken = true;
	feed->loss |= NTRACE_LOSS_DEBUGGER;
	ntrace_feed_break(feed);
}

/**
 * ntrace_feed_consume - free the data area up to a position
 * @feed: data area
 * @tail: new tail
 *
 * Takes no lock. The timer holds the lock of the sink while it copies, with interrupts off; a
 * consumer that waited for that lock the same way could not drain its own hart.
 *
 * Return: 0, or -EINVAL if @tail is not between the present tail and the head.
 */
int ntrace_feed_consume(struct ntrace_feed *feed, u64 tail)
{
	s64 old = atomic64_read(&feed->tail);

	do {
		/* The head that user space has seen. It only grows. */
		u64 head = smp_load_acquire(&feed->control->head);

		if (tail - old > head - old)
			return -EINVAL;
		/* Release: the data has been read before the timer may overwrite it. */
	} while (!atomic64_try_cmpxchg_release(&feed->tail, &old, tail));
	WRITE_ONCE(feed->control->tail, tail);
	return 0;
}

/**
 * ntrace_feed_is_due - tell whether there are enough bytes to wake readers
 * @feed: data area
 * @bytes: number of bytes in the data area
 */
bool ntrace_feed_is_due(const struct ntrace_feed *feed, u64 bytes)
{
	return feed->size && bytes >= feed->size / 4;
}

/**
 * ntrace_feed_readable - unread part of the data area
 * @feed: data area
 * @tail: takes the position of the first byte
 *
 * Return: number of bytes from there.
 */
u64 ntrace_feed_readable(struct ntrace_feed *feed, u64 *tail)
{
	/* In this order: a tail that was read first is never ahead of the head. */
	*tail = atomic64_read_acquire(&feed->tail);
	return smp_load_acquire(&feed->control->head) - *tail;
}
