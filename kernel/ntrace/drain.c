// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moving trace from the ring of the sink into the data area.
 *
 * The sink has no interrupt, and one sticky bit is all it says about wrapping,
 * so the ring is read behind its write pointer by timer, and whether the sink
 * has lapped the reader is told by a canary: one granule of bytes 0x02 (MSEO
 * 10, which no encoder sends) just behind the drained position. That is the
 * last granule the sink writes before it overwrites trace that has not been
 * copied. While it is there, nothing has been overwritten.
 *
 * The timer runs on the traced hart, in hard interrupt context. The hart that
 * produces trace empties its own sink, so it cannot run away from the reader,
 * and when a hypervisor takes the hart away it produces nothing. A softirq or
 * a thread could be kept off by the very load that is traced.
 *
 * If a sink is shared, each hart that it takes trace from has such a timer, and
 * whoever comes drains for all.
 *
 * While the kernel is traced, so is this: a loop over bytes makes more trace than
 * it moves, and the sink would never be empty again. So files get all of a shared
 * sink, and only perf's events that exclude the kernel have it dealt out.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "drain.h"
#include "encoder.h"
#include "feed.h"
#include "log.h"
#include "ntrace.h"
#include "sink.h"
#include "split.h"

/*
 * Bytes copied per timer interrupt. A hundred microseconds or so at the speed
 * of uncached memory, which bounds the time with interrupts off.
 */
#define NTRACE_DRAIN_SLICE	(128U << 10)
/* Likewise where each message has to be looked at. */
#define NTRACE_DRAIN_SLICE_SHARED (32U << 10)
/* Pause between two slices while more is waiting: the hart gets on with its work. */
#define NTRACE_DRAIN_PAUSE_US	10

/* How many bytes the sink writes on its way from one position to another. */
static u32 ring_distance(const struct ntrace_ramsink *sink, u32 from, u32 to)
{
	return to >= from ? to - from : to + sink->ring_size - from;
}

static u32 ring_add(const struct ntrace_ramsink *sink, u32 position, u32 bytes)
{
	return ring_distance(sink, sink->ring_size - bytes, position);
}

/* The granule just behind a position that is a multiple of the granule. */
static u8 *ring_canary(const struct ntrace_ramsink *sink, u32 position)
{
	return sink->ring + ring_distance(sink, sink->granule, position);
}

static void ring_set_canary(const struct ntrace_ramsink *sink, u32 position)
{
	memset(ring_canary(sink, position), NTRACE_RESERVED_BYTE, sink->granule);
}

static bool ring_canary_intact(const struct ntrace_ramsink *sink, u32 position)
{
	return !memchr_inv(ring_canary(sink, position), NTRACE_RESERVED_BYTE, sink->granule);
}

static struct ntrace_component *ntrace_drain_sink(const struct ntrace_capture *capture)
{
	return ntrace_path_sink(capture->path);
}

/* What the sink says of itself cannot be believed: nothing is taken from it any more. */
static void ntrace_drain_fault(struct ntrace_ramsink *sink)
{
	struct ntrace_capture *capture;

	sink->fault = true;
	list_for_each_entry(capture, &sink->feeds, feed) {
		capture->fault = true;
		ntrace_feed_void(capture);
	}
}

/* The write pointer, or false and dead captures if it is not in the ring. */
static bool ntrace_drain_position(struct ntrace_component *component, u32 *position)
{
	if (ntrace_ramsink_position(component, position))
		return true;
	ntrace_drain_fault(&component->ramsink);
	return false;
}

/* What trTeControl says of the encoder, and of its way to the sink. */
static void ntrace_drain_encoder(struct ntrace_capture *capture, u32 control)
{
	struct ntrace_component *encoder = ntrace_path_encoder(capture->path);

	ntrace_feed_encoder(capture, control);
	if (!(control & encoder->encoder.failures) || capture->failed)
		return;
	/* Nothing comes any more, and how much is missing nobody knows. */
	ntrace_err(encoder->dev, "cannot write to its sink (control 0x%08x), stopped\n", control);
	capture->failed = true;
	ntrace_drain_fault(&ntrace_drain_sink(capture)->ramsink);
}

/* The sink has stopped, has written, and says that it has not. */
static bool ntrace_drain_is_stuck(struct ntrace_component *component)
{
	const struct ntrace_ramsink *sink = &component->ramsink;

	if (!sink->ring || sink->fault || sink->drained ||
	    ntrace_read(component, sink->wp) != lower_32_bits(sink->ring_dma))
		return false;
	return memchr_inv(sink->ring, NTRACE_RESERVED_BYTE, sink->granule);
}

/*
 * The end of what can be read while the sink runs: the last granule behind the
 * write pointer may still be on its way to memory.
 */
static u32 ntrace_drain_settled(const struct ntrace_ramsink *sink, u32 wp)
{
	return ring_distance(sink, sink->granule, rounddown(wp, sink->granule));
}

/* Copy the next bytes of the ring to whom they belong, without showing them. */
static void ntrace_drain_copy(struct ntrace_ramsink *sink, u32 bytes)
{
	struct ntrace_capture *capture;
	u32 from = sink->drained;
	u32 part;

	while (bytes) {
		part = min(bytes, sink->ring_size - from);
		if (sink->dealt) {
			part = min(part, NTRACE_DRAIN_BOUNCE);
			memcpy(sink->bounce, sink->ring + from, part);
			ntrace_split_put(sink, sink->bounce, part);
		} else {
			list_for_each_entry(capture, &sink->feeds, feed)
				ntrace_feed_put(capture, sink->ring + from, part);
		}
		from = ring_add(sink, from, part);
		bytes -= part;
	}
}

/*
 * Resume reading after the write pointer of a running sink. The first canary shows whether
 * the sink laps again before the second is in memory; if the sink laps on the last try as
 * well, the next drain finds that.
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
		if (!ntrace_drain_position(component, wp))
			return;
		second = ntrace_drain_settled(sink, *wp);
		if (second != first)
			ring_set_canary(sink, second);
		/* The second canary is in memory before the first is looked at. */
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
 * The sink has overwritten what was not copied yet; @wp is where it writes. The
 * canary was the last granule of a round, so it has written a whole round since
 * the last drain at least, and on to @wp. What it has written there and is not
 * skipped is not lost. If it is dealt out, nobody knows whose it was: each
 * capture may have lost all or nothing.
 */
static void ntrace_drain_lapped(struct ntrace_component *component, u32 wp, bool sink_stopped)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_capture *capture;
	u32 drained = sink->drained;
	u64 lost = 0;

	if (sink_stopped)
		sink->drained = wp;
	else
		ntrace_drain_resync(component, &wp);
	if (sink->fault)
		return;
	ntrace_split_reset(sink, true);
	if (!sink->dealt || list_is_singular(&sink->feeds))
		lost = (u64)sink->ring_size + ring_distance(sink, drained, wp) -
		       ring_distance(sink, sink->drained, wp);
	list_for_each_entry(capture, &sink->feeds, feed)
		ntrace_feed_lapped(capture, lost);
}

/*
 * Drain up to @limit bytes, a multiple of any granule. Called with the lock
 * held, on any hart. With @sink_stopped the sink is disabled and empty, and
 * everything up to the write pointer is in memory.
 *
 * Return: true if more is waiting.
 */
static bool ntrace_drain_slice(struct ntrace_component *component, u32 limit, bool sink_stopped)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_capture *capture;
	u32 wp, pending, bytes, next;
	bool lapped = false;

	if (!sink->ring || sink->fault || sink->paused || ntrace_ramsink_is_whole(sink) ||
	    !ntrace_drain_position(component, &wp))
		return false;

	pending = ring_distance(sink, sink->drained, wp);
	if (!sink_stopped) {
		/* As in ntrace_drain_settled(); @drained is a multiple of the granule. */
		pending = rounddown(pending, sink->granule);
		pending -= min(pending, sink->granule);
	}

	/*
	 * readl() orders the loads of the copy after the read of the write
	 * pointer, and what that says is settled is in memory.
	 */
	bytes = min(pending, limit);
	ntrace_drain_copy(sink, bytes);
	next = ring_add(sink, sink->drained, bytes);

	if (bytes && !sink_stopped) {
		/* The copy is complete before the write pointer is read again. */
		rmb();
		if (!ntrace_drain_position(component, &wp))
			return false;
		lapped = ring_distance(sink, sink->drained, wp) < bytes;
		/*
		 * If the sink has lapped, the new canary falls into fresh
		 * trace; but then the old one is gone, and both are given up.
		 */
		ring_set_canary(sink, next);
		/* The new canary is in memory before the old one is looked at. */
		mb();
	}

	/* A stopped sink laps nobody: the canary stays where it was for all slices. */
	if (lapped || !ring_canary_intact(sink, sink->canary)) {
		ntrace_drain_lapped(component, wp, sink_stopped);
		return false;
	}

	sink->drained = next;
	if (!sink_stopped)
		sink->canary = next;
	list_for_each_entry(capture, &sink->feeds, feed)
		ntrace_feed_commit(capture);
	return pending > bytes;
}

/* Bytes to drain in one go. What is to be overwritten makes room for them here. */
static u32 ntrace_drain_limit(struct ntrace_ramsink *sink)
{
	u32 limit = sink->dealt ? NTRACE_DRAIN_SLICE_SHARED : NTRACE_DRAIN_SLICE;
	struct ntrace_capture *capture;

	list_for_each_entry(capture, &sink->feeds, feed) {
		if (!capture->overwrite)
			continue;
		atomic64_set(&capture->tail, capture->head);
		limit = min_t(u64, limit, capture->config.data_size / 2);
	}
	return limit;
}

/*
 * Drain the next slice, and take it off @left.
 *
 * Return: true if more is waiting.
 */
static bool ntrace_drain_next(struct ntrace_component *component, bool sink_stopped, u32 *left)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 limit;

	guard(raw_spinlock_irqsave)(&sink->lock);
	limit = ntrace_drain_limit(sink);
	*left -= min(*left, limit);
	return ntrace_drain_slice(component, limit, sink_stopped);
}

/* Drain in slices; between them interrupts are on. At most one ring's worth. */
static void ntrace_drain_all(struct ntrace_component *component, bool sink_stopped)
{
	u32 left = component->ramsink.ring_size;

	while (left && ntrace_drain_next(component, sink_stopped, &left))
		;
}

/**
 * ntrace_drain_begin - prepare the ring for a sink that is about to be enabled
 * @component: sink; its write pointer is at the start of the ring
 */
void ntrace_drain_begin(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;

	guard(raw_spinlock_irqsave)(&sink->lock);
	sink->fault = false;
	sink->drained = 0;
	sink->canary = 0;
	ntrace_split_reset(sink, false);
	ring_set_canary(sink, 0);
	/* For ntrace_drain_is_stuck(). */
	memset(sink->ring, NTRACE_RESERVED_BYTE, sink->granule);
}

/**
 * ntrace_drain_into - from now on, drain into this memory
 * @capture: capture of perf
 * @data: memory
 * @size: bytes of it, a power of two
 * @head: position in the stream; the next byte goes to @head modulo @size
 * @room: bytes that may be written
 * @overwrite: when that is full, the oldest bytes are overwritten
 *
 * On a hart that shares its sink, what is on the way when an event stops is
 * found here when the next one of the same session begins.
 */
void ntrace_drain_into(struct ntrace_capture *capture, void *data, size_t size, u64 head, u64 room,
		       bool overwrite)
{
	guard(raw_spinlock_irqsave)(&ntrace_drain_sink(capture)->ramsink.lock);
	capture->data = data;
	capture->config.data_size = size;
	capture->head = head;
	capture->overwrite = overwrite;
	atomic64_set(&capture->tail, head + room - size);
	capture->overrun = false;
	/* The last hole was in other memory. */
	capture->gap_head = U64_MAX - 1;
}

/**
 * ntrace_drain_discard - from now on, count what is drained and keep nothing
 * @capture: as for ntrace_drain_into()
 *
 * Return: the head when that began: what came before it was kept.
 */
u64 ntrace_drain_discard(struct ntrace_capture *capture)
{
	guard(raw_spinlock_irqsave)(&ntrace_drain_sink(capture)->ramsink.lock);
	capture->data = NULL;
	capture->overwrite = false;
	capture->overrun = false;
	return capture->head;
}

/**
 * ntrace_drain_pause - leave the ring alone for a moment, or no longer
 * @capture: capture of perf, on its hart, interrupts off
 * @pause: which of both
 */
void ntrace_drain_pause(struct ntrace_capture *capture, bool pause)
{
	struct ntrace_ramsink *sink = &ntrace_drain_sink(capture)->ramsink;

	guard(raw_spinlock_irqsave)(&sink->lock);
	sink->paused = pause;
}

/* How far the drain, now at @drained, is from all that the sink has taken. */
static u32 ntrace_drain_ahead(struct ntrace_component *component, u32 *drained)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 wp;

	guard(raw_spinlock_irqsave)(&sink->lock);
	*drained = sink->drained;
	if (!sink->ring || sink->fault || !ntrace_drain_position(component, &wp))
		return U32_MAX;
	/* Up to a granule behind the write pointer the sink has taken and not written. */
	return roundup(ring_distance(sink, *drained, wp), sink->granule) + sink->granule;
}

/**
 * ntrace_drain_await_end - drain until all of a trace has come
 * @capture: capture of perf whose encoder has stopped and is empty, as are the funnels
 *
 * The sink holds the last bytes back until others that use it push them on. That
 * the last message which came is one that ends a trace is not enough: encoders
 * also send it where a filter ends a stretch of trace, and the next stretch may
 * still be on its way. What the sink has written is drained, however long that
 * takes; for the rest the others have NTRACE_TIMEOUT_ATOMIC_US.
 *
 * Return: false if others did not push it on in time: some of it may be missing.
 */
bool ntrace_drain_await_end(struct ntrace_capture *capture)
{
	struct ntrace_component *component = ntrace_drain_sink(capture);
	const struct ntrace_ramsink *sink = &component->ramsink;
	u32 drained, next, moved, left, unused;
	u64 now, deadline = 0;
	bool more;

	left = ntrace_drain_ahead(component, &drained);
	for (;;) {
		unused = 0;
		more = ntrace_drain_next(component, false, &unused);
		next = READ_ONCE(sink->drained);
		moved = ring_distance(sink, drained, next);
		if (moved >= left)
			return true;
		left -= moved;
		drained = next;
		if (more)
			continue;
		now = ktime_get_mono_fast_ns();
		if (!deadline)
			deadline = now + NTRACE_TIMEOUT_ATOMIC_US * NSEC_PER_USEC;
		else if (now >= deadline)
			return false;
	}
}

/**
 * ntrace_drain_step - what a drain timer does at each turn
 * @capture: running capture, on the traced hart, in hard interrupt context
 *
 * Return: time until the next turn.
 */
ktime_t ntrace_drain_step(struct ntrace_capture *capture)
{
	struct ntrace_component *component = ntrace_drain_sink(capture);
	const struct ntrace_component *encoder = ntrace_path_encoder(capture->path);
	struct ntrace_ramsink *sink = &component->ramsink;
	bool more;

	raw_spin_lock(&sink->lock);
	more = ntrace_drain_slice(component, ntrace_drain_limit(sink), false);
	ntrace_drain_encoder(capture, ntrace_read(encoder, TR_TE_CONTROL));
	raw_spin_unlock(&sink->lock);
	return more ? ns_to_ktime(NTRACE_DRAIN_PAUSE_US * NSEC_PER_USEC) : capture->interval;
}

/**
 * ntrace_drain_timer - drain the sink of the hart that this runs on
 * @timer: the timer of a running capture
 */
enum hrtimer_restart ntrace_drain_timer(struct hrtimer *timer)
{
	struct ntrace_capture *capture = container_of(timer, struct ntrace_capture, timer);
	struct ntrace_component *sink = ntrace_drain_sink(capture);
	ktime_t next = ntrace_drain_step(capture);
	bool wake = ntrace_feed_is_due(capture, capture->head - atomic64_read(&capture->tail));

	if (capture->fault) {
		/*
		 * The sink writes who knows where. Stop it now and here; the
		 * rest is done by whoever is woken and closes the device.
		 */
		ntrace_encoder_stop(ntrace_path_encoder(capture->path));
		sink->sink_ops->halt(sink);
		if (!capture->failed)
			ntrace_err(&capture->path->dev, "sink left its buffer, stopped\n");
		WRITE_ONCE(capture->control->state, NTRACE_STATE_DEAD);
		irq_work_queue(&capture->wake);
		return HRTIMER_NORESTART;
	}

	if (wake)
		irq_work_queue(&capture->wake);
	hrtimer_forward_now(timer, next);
	return HRTIMER_RESTART;
}

/**
 * ntrace_drain_flush - drain now
 * @capture: running capture
 */
void ntrace_drain_flush(struct ntrace_capture *capture)
{
	ntrace_drain_all(ntrace_drain_sink(capture), false);
}

/* Where what a stopped sink has begins, and how much that is. */
static u32 ntrace_drain_whole_begin(struct ntrace_component *component)
{
	bool wrapped = ntrace_ramsink_wrapped(component);
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_capture *capture;
	u32 wp;

	if (sink->fault || !ntrace_drain_position(component, &wp))
		return 0;
	sink->drained = wrapped ? wp : 0;
	/* What is overwritten is cut anywhere; how often it was cannot be known. */
	if (wrapped && !(sink->control & TR_RAM_CONTROL_STOP_ON_WRAP)) {
		ntrace_split_reset(sink, true);
		list_for_each_entry(capture, &sink->feeds, feed)
			ntrace_feed_lapped(capture, sink->dealt ? 0 : wp);
	}
	return wrapped ? sink->ring_size : wp;
}

/* All that a sink has that has stopped, and of which nothing was read before. */
static void ntrace_drain_whole(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	struct ntrace_capture *capture;
	u32 left, part;

	ntrace_ramsink_fetch(component);
	scoped_guard(raw_spinlock_irqsave, &sink->lock) left = ntrace_drain_whole_begin(component);
	while (left) {
		guard(raw_spinlock_irqsave)(&sink->lock);
		part = min(left, ntrace_drain_limit(sink));
		ntrace_drain_copy(sink, part);
		sink->drained = ring_add(sink, sink->drained, part);
		left -= part;
		list_for_each_entry(capture, &sink->feeds, feed)
			ntrace_feed_commit(capture);
	}
	if (!(sink->control & TR_RAM_CONTROL_STOP_ON_WRAP) || !ntrace_ramsink_wrapped(component))
		return;
	guard(raw_spinlock_irqsave)(&sink->lock);
	list_for_each_entry(capture, &sink->feeds, feed)
		ntrace_feed_sink_full(capture);
}

/**
 * ntrace_drain_end - drain the rest
 * @capture: capture whose timer is cancelled
 * @control: trTeControl after the stop
 * @sink_stopped: the sink has stopped and is empty; if others use it, it has not
 */
void ntrace_drain_end(struct ntrace_capture *capture, u32 control, bool sink_stopped)
{
	struct ntrace_component *component = ntrace_drain_sink(capture);

	if (!ntrace_ramsink_is_whole(&component->ramsink))
		ntrace_drain_all(component, sink_stopped);
	else if (sink_stopped)
		ntrace_drain_whole(component);
	guard(raw_spinlock_irqsave)(&component->ramsink.lock);
	if (sink_stopped && ntrace_drain_is_stuck(component)) {
		ntrace_err(component->dev, "write pointer is stuck\n");
		ntrace_drain_fault(&component->ramsink);
	}
	ntrace_drain_encoder(capture, control);
}
