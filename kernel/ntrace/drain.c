// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves trace from the ring of a sink into data areas.
 *
 * The sink has no interrupt, and one sticky bit is all it says about wrapping. So a timer (pace.c)
 * reads the ring up to the write pointer, and a canary tells whether the sink has lapped it:
 * bytes 0x02 (MSEO 10, which no encoder sends) just before the drained position, in the last
 * granule that the sink writes before it overwrites trace that has not been copied. While the
 * canary is intact, nothing has been overwritten:
 *
 *          drained                write pointer
 *             v                        v
 *   ...|canary|trace to copy ..........|old trace ...
 *
 * The width of a granule may be unknown (ramsink.c). The drain then reads as if granules had the
 * most bytes that they can have, and places canaries as if they had the least: a canary of any part
 * of the granule does. Where the ring ends must be known only when the drain gets there, and by
 * then the last granule is in memory.
 *
 * If the sink writes frames of a CoreSight formatter (split.c), a canary would be frames
 * without an ID, of 15 bytes of one encoder, the first of which is 0x02: no formatter writes them,
 * either.
 *
 * While the kernel is traced, the drain is traced too. A loop over bytes makes more trace than it
 * moves, and the sink would never be empty. So files get all trace of a shared sink, without such
 * a loop. For events of perf the drain separates it; if they trace the kernel, the drain is left
 * out of the trace: the hart pauses its encoder meanwhile.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/processor.h>

#include "feed.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * Bytes copied per timer interrupt, which bounds the time with interrupts off: at 100 MB/s, the
 * speed of slow uncached memory, they take 82 microseconds. If several captures get a copy, they
 * share this time.
 */
#define NTRACE_DRAIN_SLICE	(8U << 10)
/*
 * The same limit if the drain separates messages, which takes ten instructions per byte. A hart
 * may wait for the slice of another one before its own. A timer interrupt that takes milliseconds
 * finds the next expiry due already, and after three such rounds hrtimer_interrupt() holds all
 * timers of the hart back for as long as they took. Meanwhile the sink laps.
 */
#define NTRACE_DRAIN_SLICE_SHARED (3U << 10)

/*
 * The sink has failed: take no more trace from it. It may write to any address, and other harts
 * would keep it running until their timers expire: stop it at once.
 */
static void ntrace_drain_fault(struct ntrace_ramsink *sink)
{
	struct ntrace_component *component = container_of(sink, struct ntrace_component, ramsink);
	struct ntrace_feed *feed;

	sink->fault = true;
	component->ops->halt(component);
	list_for_each_entry(feed, &sink->feeds, node) {
		feed->fault = true;
		ntrace_feed_void(feed);
	}
}

/*
 * Reads the write pointer of a sink, as an offset in the ring. Called with its lock.
 * Return: false, with failed captures, if it is not in the ring.
 */
bool ntrace_drain_position(struct ntrace_component *component, u32 *position)
{
	if (ntrace_ramsink_position(component, position))
		return true;
	ntrace_drain_fault(&component->ramsink);
	return false;
}

/* The same; the size of the ring is known where @position is before the drained one. */
static bool ntrace_drain_find(struct ntrace_component *component, u32 *position, bool sink_stopped)
{
	struct ntrace_ramsink *sink = &component->ramsink;

	if (!ntrace_drain_position(component, position))
		return false;
	if (ntrace_ramsink_track(sink, position, !sink_stopped))
		return true;
	ntrace_drain_fault(sink);
	return false;
}

/* Evaluates losses of an encoder, and failures between it and the sink. */
static void ntrace_drain_encoder(struct ntrace_feed *feed, u32 control)
{
	struct ntrace_component *encoder = feed->encoder;

	control |= encoder->encoder.noted;
	if (control & encoder->foreign && !feed->taken) {
		ntrace_err(encoder->dev, "a debugger has taken the encoder, stopped\n");
		feed->fault = true;
		feed->taken = true;
		ntrace_feed_note(feed, NTRACE_LOSS_DEBUGGER, true);
	}
	ntrace_feed_encoder(feed, control);
	if (!(control & encoder->encoder.failures) || feed->failed)
		return;
	/* No more trace arrives, and the amount of the loss is unknown. */
	ntrace_err(encoder->dev, "cannot write to its sink (control 0x%08x), stopped\n", control);
	feed->failed = true;
	ntrace_drain_fault(&feed->sink->ramsink);
}

/* Evaluates the control register of a sink that reports failures itself. */
static void ntrace_drain_sink(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_feed *feed;
	u32 control;

	if (!sink->failures || sink->fault)
		return;
	control = ntrace_read(component, sink->status);
	if (!(control & sink->failures))
		return;
	/* No more trace arrives, and the amount of the loss is unknown. */
	ntrace_err(component->dev, "cannot write to memory (%s 0x%08x), stopped\n",
		   sink->status == TR_CONTROL ? "control" : "status", control);
	list_for_each_entry(feed, &sink->feeds, node) {
		feed->failed = true;
		ntrace_feed_note(feed, NTRACE_LOSS_ENCODER, false);
	}
	ntrace_drain_fault(sink);
}

/* Evaluates what trTeControl and the sink report. Called with the lock of the sink. */
void ntrace_drain_report(struct ntrace_feed *feed, u32 control)
{
	ntrace_drain_encoder(feed, control);
	ntrace_drain_sink(feed->sink);
}

/*
 * The end of the readable part while the sink runs: the last granule before the write pointer may
 * still be on its way to memory.
 */
static u32 ntrace_drain_settled(const struct ntrace_ramsink *sink, u32 wp)
{
	return ring_distance(sink, sink->granule, rounddown(wp, sink->granule));
}

/* Copies the next bytes of the ring to the captures that get them, not visible yet. */
static void ntrace_drain_copy(struct ntrace_ramsink *sink, u32 bytes)
{
	struct ntrace_feed *feed;
	u32 from = sink->drained;
	u32 part;

	trace_ntrace_drain(dev_name(container_of(sink, struct ntrace_component, ramsink)->dev),
			   sink->found, bytes, sink->dealt ? 1 : ntrace_feed_copies(&sink->feeds));
	while (bytes) {
		part = min(bytes, sink->ring_size - from);
		if (sink->dealt) {
			part = ntrace_feed_piece(&sink->feeds, min(part, NTRACE_DRAIN_BOUNCE));
			memcpy(sink->bounce, sink->ring + from, part);
			ntrace_split_put(sink, sink->bounce, part);
			ntrace_feed_age(&sink->feeds, part);
		} else {
			list_for_each_entry(feed, &sink->feeds, node)
				ntrace_feed_put(feed, sink->ring + from, part);
		}
		from = ring_add(sink, from, part);
		bytes -= part;
	}
}

/*
 * Resumes reading at the write pointer of a running sink, which goes on meanwhile:
 *
 *	     first                         second      next
 *	       v                             v          v
 *	...|canary| trace that is given up |canary| granule | ...
 *
 * The canary at the first pointer shows whether the sink laps again before that at the second one
 * is in memory; if the sink laps on the last try as well, the next drain finds that.
 *
 * The sink may have advanced by nearly a whole round since the driver read the pointer that
 * placed a canary. That canary is then in the last settled granule, which would be read
 * next. Reading starts after it, unless a write that was still in flight has replaced it.
 */
static void ntrace_drain_resync(struct ntrace_component *component, u32 *wp)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 first, second, next;
	bool in_the_way;
	int try;

	for (try = 0; try < 3; try++) {
		first = ntrace_drain_settled(sink, *wp);
		ring_set_canary(sink, first);
		/* The canary is in memory before the write pointer is read. */
		mb();
		if (!ntrace_drain_find(component, wp, false))
			return;
		second = ntrace_drain_settled(sink, *wp);
		if (second != first)
			ring_set_canary(sink, second);
		/* The second canary is in memory before the driver reads the first one. */
		mb();
		next = ring_add(sink, second, sink->granule);
		in_the_way = ring_canary_intact(sink, next);
		sink->drained = in_the_way ? next : second;
		sink->canary = sink->drained;
		if (!in_the_way && ring_canary_intact(sink, first))
			return;
	}
}

/*
 * The sink has overwritten trace before it was copied; @wp is its write pointer. All that it has
 * written since the last drain, unrolled:
 *
 *	drained before               drained before, a round later
 *	   v                              v
 *	...|<-------- a round at least -->|<--------------------->|
 *	   |<----------- lost ------------------->|<-- read on -->|
 *	                                          ^               ^
 *	                                       drained           @wp
 *
 * The canary was the last granule of that round. If the trace is separated, the owner of the lost
 * trace is unknown: each capture may have lost all or nothing.
 */
static void ntrace_drain_lapped(struct ntrace_component *component, u32 wp, bool sink_stopped)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_feed *feed;
	u32 drained = sink->drained;
	u64 moved, lost = 0;

	/*
	 * Timers read on after a pause, not after an interval: where a hart always makes more than
	 * a ring in an interval, they would find nothing but laps.
	 */
	sink->found = U32_MAX;
	/* A broken canary elsewhere than at the end of the ring: the last granule is in memory. */
	if (sink_stopped || sink->canary)
		ntrace_ramsink_measure(sink, !sink_stopped);
	if (sink_stopped)
		sink->drained = wp;
	else
		ntrace_drain_resync(component, &wp);
	if (sink->fault)
		return;
	ntrace_split_reset(sink, true);
	moved = (u64)sink->ring_size + ring_distance(sink, drained, wp) -
		ring_distance(sink, sink->drained, wp);
	/* A lower bound, of each size of the ring in it. */
	moved -= ring_doubt(sink) * (1 + (wp < drained) - (wp < sink->drained));
	/* Of frames, an unknown part is trace. */
	if (!sink->dealt || (list_is_singular(&sink->feeds) && !sink->framed))
		lost = moved;
	ntrace_feed_age(&sink->feeds, min_t(u64, moved, U32_MAX));
	list_for_each_entry(feed, &sink->feeds, node)
		ntrace_feed_miss(feed, lost, NTRACE_LOSS_LAPPED);
}

/* Bytes that may be read: of a running sink, those up to ntrace_drain_settled(). */
static u32 ntrace_drain_pending(const struct ntrace_ramsink *sink, u32 wp, bool sink_stopped)
{
	u32 pending = ring_distance(sink, sink->drained, wp);

	if (sink_stopped)
		return pending;
	/* @drained is a multiple of the granule. */
	pending = rounddown(pending, sink->granule);
	return pending - min(pending, sink->granule);
}

/*
 * Copies the next bytes of the ring, and looks whether the sink has overwritten them meanwhile:
 *
 *	       drained                next                  write pointer
 *	          v                     v                         v
 *	...|canary|.... bytes ...|canary|..... the next slice ....|...
 *	    3 old?     1 copy     2 new
 *
 * The new canary is in place before the old one is checked: there is always one that the sink has
 * to pass. If the sink has lapped, the new one overwrites fresh trace. But then the old one is
 * gone, too, or the write pointer shows it, and the drain skips both. A stopped sink does not lap:
 * the old canary stays for all slices, and shows whether the sink had lapped before.
 *
 * Return: the position after the bytes; U32_MAX: the sink has lapped, or failed.
 */
static u32 ntrace_drain_move(struct ntrace_component *component, u32 *wp, u32 bytes,
			     bool sink_stopped)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	bool lapped = false;
	u32 next;

	/*
	 * readl() orders the loads of the copy after the read of the write pointer, and trace that
	 * the pointer reports as settled is in memory.
	 */
	ntrace_drain_copy(sink, bytes);
	next = ring_add(sink, sink->drained, bytes);
	if (bytes && !sink_stopped) {
		/* The copy is complete before the write pointer is read again. */
		rmb();
		if (!ntrace_drain_find(component, wp, false))
			return U32_MAX;
		lapped = ring_distance(sink, sink->drained, *wp) < bytes;
		ring_set_canary(sink, next);
		/* The new canary is in memory before the old one is read. */
		mb();
	}
	return lapped || !ring_canary_intact(sink, sink->canary) ? U32_MAX : next;
}

/**
 * ntrace_drain_slice - drain a slice of a given size
 * @component: sink; called with its lock, on any hart
 * @limit: bytes to drain at most, or a granule if that is more
 * @sink_stopped: the sink is disabled and empty, and all trace up to the write pointer is in memory
 *
 * Return: true if more trace is waiting.
 */
bool ntrace_drain_slice(struct ntrace_component *component, u32 limit, bool sink_stopped)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_feed *feed;
	u32 wp, bytes, next;

	sink->found = 0;
	if (!sink->ring || sink->fault || ntrace_feed_is_paused(&sink->feeds) ||
	    ntrace_ramsink_is_whole(sink) || !ntrace_drain_find(component, &wp, sink_stopped))
		return false;

	sink->found = ntrace_drain_pending(sink, wp, sink_stopped);
	limit = max(rounddown(limit, sink->granule), sink->granule);
	bytes = min(sink->found, limit);
	next = ntrace_drain_move(component, &wp, bytes, sink_stopped);
	if (sink->fault)
		return false;
	if (next == U32_MAX) {
		ntrace_drain_lapped(component, wp, sink_stopped);
		return false;
	}

	sink->drained = next;
	/* Another hart may have stopped the sink, and drained it without a new canary. */
	if (bytes && !sink_stopped)
		sink->canary = next;
	list_for_each_entry(feed, &sink->feeds, node)
		ntrace_feed_commit(feed);
	return sink->found > bytes;
}

/*
 * Number of bytes to drain at a time. Called with the lock of the sink. Frees that much in data
 * areas that are overwritten.
 */
u32 ntrace_drain_limit(struct ntrace_ramsink *sink)
{
	u32 limit = sink->dealt ? NTRACE_DRAIN_SLICE_SHARED : NTRACE_DRAIN_SLICE;
	u32 copies = sink->dealt ? 1 : ntrace_feed_copies(&sink->feeds);
	struct ntrace_feed *feed;

	list_for_each_entry(feed, &sink->feeds, node) {
		if (!feed->overwrite)
			continue;
		atomic64_set(&feed->tail, feed->head);
		limit = min_t(u64, limit, feed->size / 2);
	}
	if (copies > 1)
		limit /= copies;
	return limit;
}

/*
 * Drains the next slice. Where interrupts are on, they stay on while another hart drains.
 *
 * Return: true if more trace is waiting.
 */
static bool ntrace_drain_next(struct ntrace_component *component, bool sink_stopped, u32 most)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	unsigned long flags;
	bool more;

	while (!raw_spin_trylock_irqsave(&sink->lock, flags))
		cpu_relax();
	more = ntrace_drain_slice(component, min(most, ntrace_drain_limit(sink)), sink_stopped);
	raw_spin_unlock_irqrestore(&sink->lock, flags);
	return more;
}

/*
 * Drains in slices, between which interrupts may be on: as many as fill the ring at most, because
 * the sink may be running.
 */
static void ntrace_drain_all(struct ntrace_component *component, bool sink_stopped)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 left = sink->ring_size, drained;
	bool more = true;

	while (left && more) {
		drained = READ_ONCE(sink->drained);
		more = ntrace_drain_next(component, sink_stopped, U32_MAX);
		left -= min(left, ring_distance(sink, drained, READ_ONCE(sink->drained)));
	}
}

/* Gives up what a stopped sink still holds. */
static void ntrace_drain_drop(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_feed *feed;
	u32 wp, lost = 0;

	guard(raw_spinlock_irqsave)(&sink->lock);
	if (sink->fault || !ntrace_drain_find(component, &wp, true))
		return;
	/* Whose trace it is, is unknown if it has to be separated; of frames, a part is trace. */
	if (!sink->dealt || (list_is_singular(&sink->feeds) && !sink->framed))
		lost = ring_distance(sink, sink->drained, wp);
	sink->drained = wp;
	sink->drops++;
	list_for_each_entry(feed, &sink->feeds, node)
		ntrace_feed_miss(feed, lost, NTRACE_LOSS_SWITCH);
}

/*
 * Time for which the end of the trace of an event is drained, on its hart with interrupts off, its
 * timer cancelled. Where interrupts reach the hart late, because a hypervisor or an emulator
 * delivers them late, or because the kernel had them off, the timer cannot empty the ring, and the
 * task may end before it can. The end then takes up to an eighth of that delay more: in
 * proportion, the task waits hardly longer than it did already. A timer that is on time leaves
 * NTRACE_DRAIN_END_US.
 *
 * Return: microseconds.
 */
u32 ntrace_drain_end_us(const struct ntrace_feed *feed)
{
	ktime_t overdue = max_t(ktime_t, -hrtimer_expires_remaining(&feed->timer), 0);
	u64 more = div_u64(feed->behind + overdue, NTRACE_DRAIN_END_SHARE * NSEC_PER_USEC);

	return NTRACE_DRAIN_END_US + min_t(u64, more, NTRACE_DRAIN_END_MORE_US);
}

/*
 * Drains a sink that the last event of perf has stopped, for a limited time. A slice that takes
 * longer than NTRACE_DRAIN_END_SLICE_US was interrupted by a hypervisor rather than read from slow
 * memory: what it takes longer does not count.
 */
static void ntrace_drain_last(struct ntrace_feed *feed)
{
	u64 left = ntrace_drain_end_us(feed) * NSEC_PER_USEC;
	u64 begin, took;
	bool more;

	do {
		begin = ktime_get_mono_fast_ns();
		more = ntrace_drain_next(feed->sink, true, NTRACE_DRAIN_SLICE_END);
		took = ktime_get_mono_fast_ns() - begin;
		left -= min3(left, took, NTRACE_DRAIN_END_SLICE_US * NSEC_PER_USEC);
	} while (more && left);
	if (more)
		ntrace_drain_drop(feed->sink);
}

/* Prepares the ring of a sink that is about to be enabled, with its write pointer at the start. */
void ntrace_drain_begin(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_feed *feed;

	guard(raw_spinlock_irqsave)(&sink->lock);
	sink->fault = false;
	sink->full = false;
	sink->drained = 0;
	sink->wrapped = false;
	sink->ring_size = sink->last + sink->granule;
	sink->canary = 0;
	sink->ends++;
	list_for_each_entry(feed, &sink->feeds, node)
		ntrace_feed_settle(feed);
	ntrace_split_reset(sink, false);
	/* The canary, and what ntrace_ramsink_measure() and ntrace_ramsink_wrapped() look at. */
	memset(sink->ring + sink->last, NTRACE_RESERVED_BYTE, sink->granule);
	/* ntrace_ramsink_is_stuck() checks for these bytes. */
	memset(sink->ring, NTRACE_RESERVED_BYTE, sink->least);
}

/* Drains a running capture now. */
void ntrace_drain_flush(struct ntrace_feed *feed)
{
	ntrace_drain_all(feed->sink, false);
}

/* Finds the start of the trace in a stopped sink. Return: its size. */
static u32 ntrace_drain_whole_begin(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	bool wrapped = ntrace_ramsink_wrapped(component);
	struct ntrace_feed *feed;
	u32 wp;

	if (sink->fault || !ntrace_drain_position(component, &wp))
		return 0;
	if (wrapped)
		ntrace_ramsink_measure(sink, false);
	sink->drained = wrapped ? wp : 0;
	/*
	 * Overwritten trace may begin inside a message, and the number of rounds is unknown. A sink
	 * that did stop at the end of its ring points to the start.
	 */
	if (wrapped && (wp || !(sink->control & TR_RAM_CONTROL_STOP_ON_WRAP))) {
		ntrace_split_reset(sink, true);
		list_for_each_entry(feed, &sink->feeds, node)
			ntrace_feed_miss(feed, sink->dealt ? 0 : wp, NTRACE_LOSS_LAPPED);
	}
	return wrapped ? sink->ring_size : wp;
}

/* Drains all trace of a stopped sink of which nothing was read before. */
static void ntrace_drain_whole(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_feed *feed;
	u32 left, part;

	ntrace_ramsink_fetch(component);
	scoped_guard(raw_spinlock_irqsave, &sink->lock) left = ntrace_drain_whole_begin(component);
	while (left) {
		guard(raw_spinlock_irqsave)(&sink->lock);
		part = min(left, ntrace_drain_limit(sink));
		ntrace_drain_copy(sink, part);
		sink->drained = ring_add(sink, sink->drained, part);
		left -= part;
		list_for_each_entry(feed, &sink->feeds, node)
			ntrace_feed_commit(feed);
	}
	/* It may still show Enable for a moment. */
	if (sink->control & TR_RAM_CONTROL_STOP_ON_WRAP && ntrace_ramsink_wrapped(component))
		sink->full = true;
}

/**
 * ntrace_drain_end - drain the rest after a stop
 * @feed: data area of a capture whose timer is cancelled
 * @control: trTeControl after the stop
 * @sink_stopped: the sink has stopped and is empty; false if other harts use it
 *
 * Interrupts are off if it is a capture of perf.
 */
void ntrace_drain_end(struct ntrace_feed *feed, u32 control, bool sink_stopped)
{
	struct ntrace_component *component = feed->sink;
	struct ntrace_feed *each;

	if (ntrace_ramsink_is_whole(&component->ramsink)) {
		if (sink_stopped)
			ntrace_drain_whole(component);
	} else if (feed->counts && sink_stopped) {
		ntrace_drain_last(feed);
	} else {
		ntrace_drain_all(component, sink_stopped);
	}
	guard(raw_spinlock_irqsave)(&component->ramsink.lock);
	if (sink_stopped) {
		component->ramsink.ends++;
		ntrace_feed_settle(feed);
	}
	if (sink_stopped && component->ramsink.full)
		list_for_each_entry(each, &component->ramsink.feeds, node)
			ntrace_feed_note(each, NTRACE_LOSS_SINK_FULL, true);
	if (sink_stopped && ntrace_ramsink_is_stuck(component)) {
		ntrace_err(component->dev, "write pointer is stuck\n");
		ntrace_drain_fault(&component->ramsink);
	}
	ntrace_drain_report(feed, control);
}
