// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data area of a capture: a ring that the drain fills and user space empties, or memory of
 * perf. Trace that was put there becomes visible when it is committed: until then the drain may
 * find that the sink has overwritten the source of its copy.
 *
 * The caller holds the lock of the sink, except in the functions for the consumer.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "feed.h"
#include "ntrace.h"

/* Shows the counters and the head to user space. */
static void ntrace_feed_publish(struct ntrace_capture *capture)
{
	struct ntrace_control *control = capture->control;

	WRITE_ONCE(control->lost, capture->lost);
	WRITE_ONCE(control->loss, capture->loss);
	WRITE_ONCE(control->gaps, capture->gaps);
	WRITE_ONCE(control->gap_head, capture->gap_head);
	/* Last: pairs with the acquire of the reader; covers trace and counters. */
	smp_store_release(&control->head, capture->head);
}

/*
 * Marks a gap in the data area. There is always room for the mark: ntrace_feed_room() reserves one
 * byte, and only this mark, as the last byte, uses it.
 */
static void ntrace_feed_gap(struct ntrace_capture *capture)
{
	/* No trace has come since the last gap: this is the same gap. */
	if (capture->gaps && capture->head == capture->gap_head + 1)
		return;
	capture->gaps++;
	if (!capture->data)
		return;
	capture->data[capture->head & (capture->config.data_size - 1)] = NTRACE_RESERVED_BYTE;
	capture->gap_head = capture->head++;
}

/* How many of @bytes fit into the data area. After an overrun: none until a quarter is free. */
static u32 ntrace_feed_room(struct ntrace_capture *capture, u32 bytes)
{
	/* Pairs with the release of the consumer: freed bytes have been read. */
	u64 tail = atomic64_read_acquire(&capture->tail);
	u64 room = capture->config.data_size - (capture->head + capture->fresh - tail);

	/* Trace is only counted. */
	if (!capture->data)
		return bytes;
	/* Small pieces between gaps are useless: a decoder skips to the next synchronization. */
	if (capture->overrun && room < capture->config.data_size / 4)
		return 0;
	return min_t(u64, bytes, room ? room - 1 : 0);
}

/**
 * ntrace_feed_put - append trace, not visible yet
 * @capture: capture
 * @bytes: trace
 * @count: number of bytes
 */
void ntrace_feed_put(struct ntrace_capture *capture, const u8 *bytes, u32 count)
{
	u64 mask = capture->config.data_size - 1;
	u64 to = capture->head + capture->fresh;
	/* After dropped bytes nothing is appended until the commit, which marks the gap. */
	u32 fits = capture->dropped ? 0 : ntrace_feed_room(capture, count);
	u32 first;

	/* A capture of a file without a data area. */
	if (!capture->data && !capture->perf)
		return;
	capture->fresh += fits;
	capture->dropped += count - fits;
	if (!capture->data)
		return;
	first = min_t(u64, fits, mask + 1 - (to & mask));
	memcpy(capture->data + (to & mask), bytes, first);
	memcpy(capture->data, bytes + first, fits - first);
}

/**
 * ntrace_feed_commit - show the appended trace to the reader
 * @capture: capture
 */
void ntrace_feed_commit(struct ntrace_capture *capture)
{
	if (!capture->fresh && !capture->dropped)
		return;
	capture->head += capture->fresh;
	capture->overrun = capture->dropped;
	if (capture->dropped) {
		capture->lost += capture->dropped;
		capture->loss |= NTRACE_LOSS_DATA_FULL;
		ntrace_feed_gap(capture);
	}
	ntrace_feed_void(capture);
	ntrace_feed_publish(capture);
}

/**
 * ntrace_feed_void - discard trace that was appended and not committed
 * @capture: capture
 */
void ntrace_feed_void(struct ntrace_capture *capture)
{
	capture->fresh = 0;
	capture->dropped = 0;
}

/**
 * ntrace_feed_lapped - the sink has overwritten trace before it was copied
 * @capture: capture
 * @lost: lower bound of the bytes that this capture lost
 */
void ntrace_feed_lapped(struct ntrace_capture *capture, u64 lost)
{
	ntrace_feed_void(capture);
	capture->ended = false;
	capture->lost += lost;
	capture->loss |= NTRACE_LOSS_LAPPED;
	ntrace_feed_gap(capture);
	ntrace_feed_publish(capture);
}

/**
 * ntrace_feed_sink_full - the sink stopped because it is full
 * @capture: capture
 */
void ntrace_feed_sink_full(struct ntrace_capture *capture)
{
	capture->loss |= NTRACE_LOSS_SINK_FULL;
	ntrace_feed_gap(capture);
	ntrace_feed_publish(capture);
}

/**
 * ntrace_feed_encoder - record a loss that the encoder reports
 * @capture: capture
 * @control: trTeControl
 */
void ntrace_feed_encoder(struct ntrace_capture *capture, u32 control)
{
	if ((control & ntrace_path_encoder(capture->path)->encoder.losses) &&
	    !(capture->loss & NTRACE_LOSS_ENCODER)) {
		capture->loss |= NTRACE_LOSS_ENCODER;
		ntrace_feed_publish(capture);
	}
}

/**
 * ntrace_feed_consume - free the data area up to a position
 * @capture: capture
 * @tail: new tail
 *
 * Takes no lock. The timer holds the lock of the sink while it copies, with interrupts off; a
 * consumer that waited for that lock the same way could not drain its own hart.
 *
 * Return: 0, or -EINVAL if @tail is not between the present tail and the head.
 */
int ntrace_feed_consume(struct ntrace_capture *capture, u64 tail)
{
	s64 old = atomic64_read(&capture->tail);

	do {
		/* The head that user space has seen. It only grows. */
		u64 head = smp_load_acquire(&capture->control->head);

		if (tail - old > head - old)
			return -EINVAL;
		/* Release: the data has been read before the timer may overwrite it. */
	} while (!atomic64_try_cmpxchg_release(&capture->tail, &old, tail));
	WRITE_ONCE(capture->control->tail, tail);
	return 0;
}

/**
 * ntrace_feed_is_due - are there enough bytes to wake readers?
 * @capture: capture
 * @bytes: number of bytes in the data area
 */
bool ntrace_feed_is_due(const struct ntrace_capture *capture, u64 bytes)
{
	return capture->config.data_size && bytes >= capture->config.data_size / 4;
}

/**
 * ntrace_feed_readable - unread part of the data area
 * @capture: capture
 * @tail: takes the position of the first byte
 *
 * Return: number of bytes from there.
 */
u64 ntrace_feed_readable(struct ntrace_capture *capture, u64 *tail)
{
	/* In this order: the head is never behind a tail that was read earlier. */
	*tail = atomic64_read_acquire(&capture->tail);
	return smp_load_acquire(&capture->control->head) - *tail;
}
