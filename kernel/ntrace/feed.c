// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data area of a capture: a ring that the drain fills and user space empties, or memory of
 * perf. Trace that was put there becomes visible when it is committed: until then the drain may
 * find that the sink has overwritten the source of its copy.
 *
 * The caller holds the lock of the sink, except in the functions for the consumer.
 */
#include <linux/kernel.h>

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
	if (!feed->data) {
		/* All that perf loses until there is trace again is one gap. */
		if (feed->counts)
			feed->gap_head = feed->head - mark;
		return;
	}
	to = feed->data + (feed->head & (feed->size - 1));
	if (feed->framed)
		memcpy(to, ntrace_barrier, mark);
	else
		*to = NTRACE_RESERVED_BYTE;
	feed->gap_head = feed->head;
	feed->head += mark;
}

/**
 * ntrace_feed_note - note a loss
 * @feed: data area
 * @loss: its causes, NTRACE_LOSS_..., or 0
 * @gap: what comes next does not continue what was committed
 */
void ntrace_feed_note(struct ntrace_feed *feed, u32 loss, bool gap)
{
	feed->loss |= loss;
	feed->recent |= loss;
	if (gap)
		ntrace_feed_gap(feed);
	ntrace_feed_publish(feed);
}

/* How many of @bytes fit into the data area. After an overrun: none until a quarter is free. */
static u32 ntrace_feed_room(struct ntrace_feed *feed, u32 bytes)
{
	/* Pairs with the release of the consumer: freed bytes have been read. */
	u64 tail = atomic64_read_acquire(&feed->tail);
	u64 room = feed->size - (feed->head + feed->fresh - tail);
	u32 mark = ntrace_feed_mark(feed);

	/* Trace is only counted, or lost. */
	if (!feed->data)
		return feed->overrun ? 0 : bytes;
	/* Small pieces between gaps are useless: a decoder skips to the next synchronization. */
	if (feed->overrun && room < feed->size / 4)
		return 0;
	/* Whole frames only, wherever the consumer stands. */
	return min_t(u64, bytes, room > mark ? round_down(room - mark, mark) : 0);
}

/* Keeps trace that may be of an ended event out of the data area, which user space sees. */
static void ntrace_feed_hold(struct ntrace_feed *feed, const u8 *bytes, u32 count)
{
	u32 room = feed->dropped ? 0 : sizeof(feed->doubtful) - feed->fresh;
	u32 fits = min(count, room);

	memcpy(feed->doubtful + feed->fresh, bytes, fits);
	feed->fresh += fits;
	feed->dropped += count - fits;
}

/* As ntrace_feed_put(), for trace that may not fit or may not be stored in one piece. */
static void ntrace_feed_put_parts(struct ntrace_feed *feed, const u8 *bytes, u32 count)
{
	u64 mask = feed->size - 1;
	u64 to = feed->head + feed->fresh;
	/* After dropped bytes nothing is appended until the commit, which marks the gap. */
	u32 fits, first;

	/* A capture of a file without a data area; trace of an event that has ended. */
	if ((!feed->data && !feed->counts) || feed->late.stale)
		return;
	feed->late.doubt -= min(feed->late.doubt, count);
	if (feed->late.skip)
		return;
	if (feed->late.unsure) {
		ntrace_feed_hold(feed, bytes, count);
		return;
	}
	fits = feed->dropped ? 0 : ntrace_feed_room(feed, count);
	feed->fresh += fits;
	feed->dropped += count - fits;
	if (!feed->data)
		return;
	first = min_t(u64, fits, mask + 1 - (to & mask));
	memcpy(feed->data + (to & mask), bytes, first);
	memcpy(feed->data, bytes + first, fits - first);
}

/* Appends trace, not visible yet. */
void ntrace_feed_put(struct ntrace_feed *feed, const u8 *bytes, u32 count)
{
	u64 to = feed->head + feed->fresh;
	u64 at = to & (feed->size - 1);
	/* Pairs with the release of the consumer: freed bytes have been read. */
	u64 used = to - atomic64_read_acquire(&feed->tail);

	/* Usual, and short: the splitter passes on single messages. */
	if (!feed->data || feed->overrun || feed->dropped || feed->late.stale ||
	    feed->late.unsure || at + count > feed->size ||
	    used + count + ntrace_feed_mark(feed) > feed->size) {
		ntrace_feed_put_parts(feed, bytes, count);
		return;
	}
	memcpy(feed->data + at, bytes, count);
	feed->fresh += count;
}

/* Shows the appended trace to the reader. */
void ntrace_feed_commit(struct ntrace_feed *feed)
{
	bool full = feed->dropped;

	if ((!feed->fresh && !full) || feed->late.unsure)
		return;
	feed->head += feed->fresh;
	feed->overrun = full;
	feed->lost += feed->dropped;
	feed->fresh = 0;
	feed->dropped = 0;
	ntrace_feed_note(feed, full ? NTRACE_LOSS_DATA_FULL : 0, full);
}

/*
 * Discards trace that was appended and not committed. User space sees all of the data area, and
 * this trace may be that of another task.
 */
void ntrace_feed_void(struct ntrace_feed *feed)
{
	u64 at = feed->head & (feed->size - 1);
	u32 first;

	if (feed->data && feed->fresh && !feed->late.unsure) {
		first = min_t(u64, feed->fresh, feed->size - at);
		memset(feed->data + at, 0, first);
		memset(feed->data, 0, feed->fresh - first);
	}
	feed->fresh = 0;
	feed->dropped = 0;
}

/*
 * Trace that arrives late
 *
 * If an event ends while other harts keep the sink running, the end of its trace may arrive when
 * the next event on the hart has begun. The next event may be that of another task, which must not
 * see it. Both traces are in messages of one encoder:
 *
 *	drained      write pointer at the end      ... and a granule
 *	   |  stale       |  doubt                        |
 *	   v              v                               v
 *	   | ended event  | ended event | next event      | next event
 *
 * Encoders end each part of a trace with a message of its own, and begin the next part with a
 * synchronization. So the next event begins after such an end. Filters divide a trace into parts,
 * too: where there are several ends in doubt, all but what follows the last one is dropped. That
 * may take the first parts of the next event, and then there is a gap.
 *
 * A granule of the sink, and the trace that funnels hold, bound @doubt. Other harts' trace takes
 * the end of this one out of a granule, but not out of all funnels: @reach is known only if they
 * were empty when the event ended.
 */

/**
 * ntrace_feed_leave - the event has ended, and a part of its trace may arrive late
 * @feed: data area of perf
 * @stale: as in struct ntrace_late, as are the others
 * @reach: at least @stale
 * @doubt: 0: all has arrived
 */
void ntrace_feed_leave(struct ntrace_feed *feed, u32 stale, u32 reach, u32 doubt)
{
	ntrace_feed_settle(feed);
	feed->late.stale = stale;
	feed->late.reach = reach;
	feed->late.doubt = doubt;
	feed->late.unsure = doubt;
	feed->late.skip = doubt && !stale && !feed->ended;
}

/**
 * ntrace_feed_enter - the next event begins
 * @feed: data area of perf
 * @passed: bytes that the drain finds next and that the sink has written already
 */
void ntrace_feed_enter(struct ntrace_feed *feed, u32 passed)
{
	struct ntrace_late *late = &feed->late;

	if (!late->unsure || late->stale == U32_MAX)
		return;
	/* What has been put until now is of the ended event. */
	ntrace_feed_void(feed);
	passed = min(passed, late->reach);
	late->stale = max(late->stale, passed);
	/* The end has come, or the message that comes now is of the ended event. */
	late->skip = !late->stale && !feed->ended;
	if (late->stale == late->reach) {
		late->doubt = 0;
		late->unsure = false;
		late->skip = false;
	}
}

/* No more trace of an ended event can arrive. */
void ntrace_feed_settle(struct ntrace_feed *feed)
{
	/* What is in doubt is dropped. */
	if (feed->late.unsure && (feed->fresh || feed->dropped)) {
		ntrace_feed_void(feed);
		ntrace_feed_gap(feed);
	}
	feed->late = (struct ntrace_late){ 0 };
}

/* The trace that was held belongs to the present event: puts it into the data area. */
static void ntrace_feed_keep(struct ntrace_feed *feed)
{
	u32 held = feed->fresh, dropped = feed->dropped;

	feed->late.unsure = false;
	feed->late.skip = false;
	feed->fresh = 0;
	feed->dropped = 0;
	ntrace_feed_put(feed, feed->doubtful, held);
	feed->dropped += dropped;
}

/* A message is complete. */
void ntrace_feed_message(struct ntrace_feed *feed, bool ends)
{
	struct ntrace_late *late = &feed->late;

	feed->ended = ends;
	if (!late->unsure || late->stale)
		return;
	if (ends && (feed->fresh || feed->dropped)) {
		ntrace_feed_void(feed);
		ntrace_feed_gap(feed);
	}
	if (ends)
		late->skip = false;
	if (late->doubt)
		return;
	/* The end of the last event was lost. */
	if (late->skip)
		ntrace_feed_gap(feed);
	ntrace_feed_keep(feed);
}

/* Limits a piece of the ring to where the trace of an ended event ends. */
u32 ntrace_feed_piece(const struct list_head *feeds, u32 bytes)
{
	const struct ntrace_feed *feed;

	list_for_each_entry(feed, feeds, node) {
		if (feed->late.stale)
			bytes = min(bytes, feed->late.stale);
		else if (feed->late.reach)
			bytes = min(bytes, feed->late.reach);
	}
	return bytes;
}

/*
 * The drain has passed a part of the ring. The end of @stale or of @reach in the picture above may
 * be in it: the doubt begins at the first and ends at the second.
 */
void ntrace_feed_age(const struct list_head *feeds, u32 bytes)
{
	struct ntrace_feed *feed;
	struct ntrace_late *late;

	list_for_each_entry(feed, feeds, node) {
		late = &feed->late;
		if (late->stale == U32_MAX || (!late->stale && !late->reach))
			continue;
		if (late->reach != U32_MAX)
			late->reach -= min(late->reach, bytes);
		if (late->stale > bytes) {
			late->stale -= bytes;
			continue;
		}
		if (late->stale) {
			late->stale = 0;
			/* Without an end, the message that comes now is of the ended event. */
			late->skip = late->unsure && !feed->ended;
		}
		if (!late->reach) {
			late->doubt = 0;
			/* If @skip is set, the end was lost, and may be inside of a message. */
			if (late->unsure && !late->skip)
				ntrace_feed_keep(feed);
		}
	}
}

/**
 * ntrace_feed_miss - trace is missing between what was committed and what comes next
 * @feed: data area
 * @lost: lower bound of the bytes that were lost here
 * @loss: NTRACE_LOSS_...
 */
void ntrace_feed_miss(struct ntrace_feed *feed, u64 lost, u32 loss)
{
	ntrace_feed_void(feed);
	feed->ended = false;
	feed->lost += lost;
	ntrace_feed_note(feed, loss, true);
}

/* Records a loss that the encoder reports: one until the encoder is enabled again. */
void ntrace_feed_encoder(struct ntrace_feed *feed, u32 control)
{
	if (!(control & feed->encoder->encoder.losses) || feed->overflowed)
		return;
	feed->overflowed = true;
	ntrace_feed_note(feed, NTRACE_LOSS_ENCODER, false);
}

/* How many captures get a copy of all trace. */
u32 ntrace_feed_copies(const struct list_head *feeds)
{
	const struct ntrace_feed *feed;
	u32 copies = 0;

	list_for_each_entry(feed, feeds, node)
		copies += !!feed->data;
	return copies;
}

/* Tells whether a capture changes its data area: trace that arrives meanwhile would be dropped. */
bool ntrace_feed_is_paused(const struct list_head *feeds)
{
	const struct ntrace_feed *feed;

	list_for_each_entry(feed, feeds, node)
		if (feed->paused)
			return true;
	return false;
}

/*
 * Frees the data area up to a position. Takes no lock. The timer holds the lock of the sink while
 * it copies, with interrupts off; a consumer that waited for that lock the same way could not
 * drain its own hart.
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

/* Tells whether there are enough bytes to wake readers. */
bool ntrace_feed_is_due(const struct ntrace_feed *feed, u64 bytes)
{
	return feed->size && bytes >= feed->size / 4;
}

/*
 * The number of unread bytes in the data area, and the position of the first one.
 * Return: number of bytes from there.
 */
u64 ntrace_feed_readable(struct ntrace_feed *feed, u64 *tail)
{
	/* In this order: a tail that was read first is never ahead of the head. */
	*tail = atomic64_read_acquire(&feed->tail);
	return smp_load_acquire(&feed->control->head) - *tail;
}
