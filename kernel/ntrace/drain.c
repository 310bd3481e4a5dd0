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
 */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "ntrace.h"

#define NTRACE_RESERVED_BYTE	0x02

/*
 * Bytes copied per timer interrupt. A hundred microseconds or so at the speed
 * of uncached memory, which bounds the time with interrupts off.
 */
#define NTRACE_DRAIN_SLICE	(128U << 10)
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

static struct ntrace_ramsink *ntrace_drain_sink(struct ntrace_capture *capture)
{
	return &ntrace_path_sink(capture->path)->ramsink;
}

/* The write pointer, or false and a dead capture if it is not in the ring. */
static bool ntrace_drain_position(struct ntrace_capture *capture, u32 *position)
{
	if (ntrace_ramsink_position(ntrace_path_sink(capture->path), position))
		return true;
	capture->fault = true;
	return false;
}

/*
 * The end of what can be read while the sink runs: the last granule behind the
 * write pointer may still be on its way to memory.
 */
static u32 ntrace_drain_settled(const struct ntrace_ramsink *sink, u32 wp)
{
	return ring_distance(sink, sink->granule, rounddown(wp, sink->granule));
}

/* Tell user space. */
static void ntrace_drain_publish(struct ntrace_capture *capture)
{
	struct ntrace_control *control = capture->control;

	WRITE_ONCE(control->lost, capture->lost);
	WRITE_ONCE(control->loss, capture->loss);
	WRITE_ONCE(control->gaps, capture->gaps);
	WRITE_ONCE(control->gap_head, capture->gap_head);
	/* Last: pairs with the acquire of the reader, covers trace and counters. */
	smp_store_release(&control->head, capture->head);
}

/*
 * Close the data area where trace is missing. There is always room: the copy
 * below leaves one byte, and gives it up only to a mark that is still the last.
 */
static void ntrace_drain_gap(struct ntrace_capture *capture)
{
	/* Nothing has come since the last hole: it is the same one. */
	if (capture->gaps && capture->head == capture->gap_head + 1)
		return;
	capture->gaps++;
	if (!capture->data)
		return;
	capture->data[capture->head & (capture->config.data_size - 1)] = NTRACE_RESERVED_BYTE;
	capture->gap_head = capture->head++;
}

/* How many of @bytes fit into the data area; none until a quarter is free again. */
static u32 ntrace_drain_room(struct ntrace_capture *capture, u32 bytes)
{
	/* Pairs with the release of the consumer: what it has freed it has also read. */
	u64 tail = atomic64_read_acquire(&capture->tail);
	u64 room = capture->config.data_size - (capture->head - tail);

	/* Only counted. */
	if (!capture->data)
		return bytes;
	/* Crumbs between holes are of no use: a decoder skips to the next synchronization. */
	if (capture->overrun && room < capture->config.data_size / 4)
		return 0;
	return min_t(u64, bytes, room ? room - 1 : 0);
}

/* Copy from the ring to behind @head, without publishing it. */
static void ntrace_drain_copy(struct ntrace_capture *capture, u32 bytes)
{
	const struct ntrace_ramsink *sink = ntrace_drain_sink(capture);
	u64 mask = capture->config.data_size - 1;
	u64 to = capture->head;
	u32 from = capture->drained;
	u32 part;

	while (bytes && capture->data) {
		part = min3(bytes, sink->ring_size - from, (u32)(mask + 1 - (to & mask)));
		memcpy(capture->data + (to & mask), sink->ring + from, part);
		from = ring_add(sink, from, part);
		to += part;
		bytes -= part;
	}
}

/*
 * Take up reading again behind the write pointer of a running sink. The first
 * canary is there to see whether the sink laps again before the second stands;
 * if it does to the last, the next drain finds no canary and comes here again.
 */
static void ntrace_drain_resync(struct ntrace_capture *capture, u32 *wp)
{
	const struct ntrace_ramsink *sink = ntrace_drain_sink(capture);
	u32 first, second;
	int try;

	for (try = 0; try < 3; try++) {
		first = ntrace_drain_settled(sink, *wp);
		ring_set_canary(sink, first);
		/* The canary is in memory before the write pointer is read. */
		mb();
		if (!ntrace_drain_position(capture, wp))
			return;
		second = ntrace_drain_settled(sink, *wp);
		if (second != first)
			ring_set_canary(sink, second);
		/* The second canary is in memory before the first is looked at. */
		mb();
		capture->drained = second;
		capture->canary = second;
		if (ring_canary_intact(sink, first))
			return;
	}
}

/*
 * The sink has overwritten what was not copied yet; @wp is where it writes. The
 * canary was the last granule of a round, so it has written a whole round since
 * the last drain at least, and on to @wp. What it has written there and is not
 * skipped is not lost.
 */
static void ntrace_drain_lapped(struct ntrace_capture *capture, u32 wp, bool sink_stopped)
{
	const struct ntrace_ramsink *sink = ntrace_drain_sink(capture);
	u32 drained = capture->drained;

	if (sink_stopped)
		capture->drained = wp;
	else
		ntrace_drain_resync(capture, &wp);
	if (capture->fault)
		return;
	capture->lost += (u64)sink->ring_size + ring_distance(sink, drained, wp) -
			 ring_distance(sink, capture->drained, wp);
	capture->loss |= NTRACE_LOSS_LAPPED;
	ntrace_drain_gap(capture);
}

/*
 * Drain up to @limit bytes, a multiple of any granule. Called with the lock
 * held, on any hart. With @sink_stopped the sink is disabled and empty, and
 * everything up to the write pointer is in memory.
 *
 * Return: true if more is waiting.
 */
static bool ntrace_drain_slice(struct ntrace_capture *capture, u32 limit, bool sink_stopped)
{
	const struct ntrace_ramsink *sink = ntrace_drain_sink(capture);
	u32 wp, pending, bytes, room, next;
	bool lapped = false;

	if (capture->fault || !ntrace_drain_position(capture, &wp))
		return false;

	pending = ring_distance(sink, capture->drained, wp);
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
	room = ntrace_drain_room(capture, bytes);
	ntrace_drain_copy(capture, room);
	next = ring_add(sink, capture->drained, bytes);

	if (bytes && !sink_stopped) {
		/* The copy is complete before the write pointer is read again. */
		rmb();
		if (!ntrace_drain_position(capture, &wp))
			return false;
		lapped = ring_distance(sink, capture->drained, wp) < bytes;
		/*
		 * If the sink has lapped, the new canary falls into fresh
		 * trace; but then the old one is gone, and both are given up.
		 */
		ring_set_canary(sink, next);
		/* The new canary is in memory before the old one is looked at. */
		mb();
	}

	/* A stopped sink laps nobody: the canary stays where it was for all slices. */
	if (lapped || !ring_canary_intact(sink, capture->canary)) {
		ntrace_drain_lapped(capture, wp, sink_stopped);
		ntrace_drain_publish(capture);
		return false;
	}

	capture->drained = next;
	if (!sink_stopped)
		capture->canary = next;
	if (bytes) {
		capture->head += room;
		capture->overrun = room < bytes;
		if (capture->overrun) {
			capture->lost += bytes - room;
			capture->loss |= NTRACE_LOSS_DATA_FULL;
			ntrace_drain_gap(capture);
		}
		ntrace_drain_publish(capture);
	}
	return pending > bytes;
}

/* Bytes to drain in one go. What is to be overwritten makes room for them here. */
static u32 ntrace_drain_limit(struct ntrace_capture *capture)
{
	if (!capture->overwrite)
		return NTRACE_DRAIN_SLICE;
	atomic64_set(&capture->tail, capture->head);
	return min_t(u64, NTRACE_DRAIN_SLICE, capture->config.data_size / 2);
}

/* Note what the encoder says of itself. */
static void ntrace_drain_encoder(struct ntrace_capture *capture, u32 control)
{
	if ((control & TR_TE_CONTROL_INST_STALL_OR_OVERFLOW) &&
	    !(capture->loss & NTRACE_LOSS_ENCODER)) {
		capture->loss |= NTRACE_LOSS_ENCODER;
		ntrace_drain_publish(capture);
	}
}

/**
 * ntrace_drain_begin - prepare the ring for a sink that is about to be enabled
 * @capture: capture; the write pointer of its sink is at the start of the ring
 */
void ntrace_drain_begin(struct ntrace_capture *capture)
{
	guard(raw_spinlock_irqsave)(&capture->lock);
	capture->drained = 0;
	capture->canary = 0;
	ring_set_canary(ntrace_drain_sink(capture), 0);
}

/**
 * ntrace_drain_into - from now on, drain into this memory
 * @capture: capture of perf, not running or with its lock out of reach of others
 * @data: memory
 * @size: bytes of it, a power of two
 * @head: position in the stream; the next byte goes to @head modulo @size
 * @room: bytes that may be written
 * @overwrite: when that is full, the oldest bytes are overwritten
 */
void ntrace_drain_into(struct ntrace_capture *capture, void *data, size_t size, u64 head, u64 room,
		       bool overwrite)
{
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
 */
void ntrace_drain_discard(struct ntrace_capture *capture)
{
	capture->data = NULL;
	capture->overwrite = false;
	capture->overrun = false;
}

/**
 * ntrace_drain_step - what a drain timer does at each turn
 * @capture: running capture, on the traced hart, in hard interrupt context
 *
 * Return: time until the next turn.
 */
ktime_t ntrace_drain_step(struct ntrace_capture *capture)
{
	struct ntrace_component *encoder = ntrace_path_encoder(capture->path);
	bool more;

	raw_spin_lock(&capture->lock);
	more = ntrace_drain_slice(capture, ntrace_drain_limit(capture), false);
	ntrace_drain_encoder(capture, ntrace_read(encoder, TR_TE_CONTROL));
	raw_spin_unlock(&capture->lock);
	return more ? ns_to_ktime(NTRACE_DRAIN_PAUSE_US * NSEC_PER_USEC) : capture->interval;
}

/**
 * ntrace_drain_timer - drain the sink of the hart that this runs on
 * @timer: the timer of a running capture
 */
enum hrtimer_restart ntrace_drain_timer(struct hrtimer *timer)
{
	struct ntrace_capture *capture = container_of(timer, struct ntrace_capture, timer);
	struct ntrace_component *encoder = ntrace_path_encoder(capture->path);
	ktime_t next = ntrace_drain_step(capture);
	bool wake = capture->head - atomic64_read(&capture->tail) >= capture->config.data_size / 4;

	if (capture->fault) {
		/*
		 * The sink writes who knows where. Stop it now and here; the
		 * rest is done by whoever is woken and closes the device.
		 */
		ntrace_encoder_stop(encoder);
		ntrace_write(ntrace_path_sink(capture->path), TR_RAM_CONTROL,
			     ntrace_drain_sink(capture)->control);
		dev_err_ratelimited(&capture->path->dev, "sink left its buffer, stopped\n");
		WRITE_ONCE(capture->control->state, NTRACE_STATE_DEAD);
		irq_work_queue(&capture->wake);
		return HRTIMER_NORESTART;
	}

	if (wake)
		irq_work_queue(&capture->wake);
	hrtimer_forward_now(timer, next);
	return HRTIMER_RESTART;
}

/* Drain in slices; between them interrupts are on. At most one ring's worth. */
static void ntrace_drain_all(struct ntrace_capture *capture, bool sink_stopped)
{
	u32 slices = ntrace_drain_sink(capture)->ring_size / ntrace_drain_limit(capture) + 1;
	bool more = true;

	while (more && slices--) {
		guard(raw_spinlock_irqsave)(&capture->lock);
		more = ntrace_drain_slice(capture, ntrace_drain_limit(capture), sink_stopped);
	}
}

/**
 * ntrace_drain_flush - drain now
 * @capture: running capture
 */
void ntrace_drain_flush(struct ntrace_capture *capture)
{
	ntrace_drain_all(capture, false);
}

/**
 * ntrace_drain_end - drain the rest
 * @capture: capture whose timer is cancelled
 * @control: trTeControl after the stop
 * @sink_stopped: the sink has stopped and is empty, as it should
 */
void ntrace_drain_end(struct ntrace_capture *capture, u32 control, bool sink_stopped)
{
	ntrace_drain_all(capture, sink_stopped);
	guard(raw_spinlock_irqsave)(&capture->lock);
	ntrace_drain_encoder(capture, control);
}

/**
 * ntrace_drain_consume - free the data area up to a position
 * @capture: capture
 * @tail: new tail
 *
 * Takes no lock: the timer holds its own while it copies, with interrupts off,
 * and whoever waits for it that way cannot drain his own hart.
 *
 * Return: 0 or -EINVAL if it is not between the present tail and the head.
 */
int ntrace_drain_consume(struct ntrace_capture *capture, u64 tail)
{
	s64 old = atomic64_read(&capture->tail);

	do {
		/* The head that user space has seen; it only grows. */
		u64 head = smp_load_acquire(&capture->control->head);

		if (tail - old > head - old)
			return -EINVAL;
		/* Release: the data has been read before the timer may overwrite it. */
	} while (!atomic64_try_cmpxchg_release(&capture->tail, &old, tail));
	WRITE_ONCE(capture->control->tail, tail);
	return 0;
}

/**
 * ntrace_drain_readable - what is in the data area
 * @capture: capture
 * @tail: takes the position of the first byte
 *
 * Return: number of bytes from there.
 */
u64 ntrace_drain_readable(struct ntrace_capture *capture, u64 *tail)
{
	/* In this order: the head never falls behind a tail that was read before it. */
	*tail = atomic64_read_acquire(&capture->tail);
	return smp_load_acquire(&capture->control->head) - *tail;
}
