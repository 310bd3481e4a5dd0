// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data area of a capture: a ring that the drain fills and user space
 * empties, or memory of perf. What is put there is not there before it is
 * committed: the drain may find that what it has copied was overwritten
 * meanwhile.
 *
 * All but the consumer's side is called with the lock of the sink.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "feed.h"
#include "ntrace.h"

/* Tell user space. */
static void ntrace_feed_publish(struct ntrace_capture *capture)
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
static void ntrace_feed_gap(struct ntrace_capture *capture)
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
static u32 ntrace_feed_room(struct ntrace_capture *capture, u32 bytes)
{
	/* Pairs with the release of the consumer: what it has freed it has also read. */
	u64 tail = atomic64_read_acquire(&capture->tail);
	u64 room = capture->config.data_size - (capture->head + capture->fresh - tail);

	/* Only counted. */
	if (!capture->data)
		return bytes;
	/* Crumbs between holes are of no use: a decoder skips to the next synchronization. */
	if (capture->overrun && room < capture->config.data_size / 4)
		return 0;
	return min_t(u64, bytes, room ? room - 1 : 0);
}

/**
 * ntrace_feed_put - copy trace behind what is there
 * @capture: capture
 * @bytes: trace
 * @count: bytes of it
 */
void ntrace_feed_put(struct ntrace_capture *capture, const u8 *bytes, u32 count)
{
	u64 mask = capture->config.data_size - 1;
	u64 to = capture->head + capture->fresh;
	/* Behind a hole nothing is put in the same go: the mark of the hole comes at the end. */
	u32 fits = capture->dropped ? 0 : ntrace_feed_room(capture, count);
	u32 first;

	/* A file that wants no data. */
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
 * ntrace_feed_commit - what was put is good: show it to the reader
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
 * ntrace_feed_void - forget what was put and not committed
 * @capture: capture
 */
void ntrace_feed_void(struct ntrace_capture *capture)
{
	capture->fresh = 0;
	capture->dropped = 0;
}

/**
 * ntrace_feed_lapped - the sink has overwritten what was not copied
 * @capture: capture
 * @lost: at least so many bytes of this capture
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
 * ntrace_feed_sink_full - the sink has stopped before the encoder
 * @capture: capture
 */
void ntrace_feed_sink_full(struct ntrace_capture *capture)
{
	capture->loss |= NTRACE_LOSS_SINK_FULL;
	ntrace_feed_gap(capture);
	ntrace_feed_publish(capture);
}

/**
 * ntrace_feed_encoder - note what the encoder says of itself
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
 * Takes no lock: the timer holds its own while it copies, with interrupts off,
 * and whoever waits for it that way cannot drain his own hart.
 *
 * Return: 0 or -EINVAL if it is not between the present tail and the head.
 */
int ntrace_feed_consume(struct ntrace_capture *capture, u64 tail)
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
 * ntrace_feed_is_due - is it time to wake who reads?
 * @capture: capture
 * @bytes: what is in its data area
 */
bool ntrace_feed_is_due(const struct ntrace_capture *capture, u64 bytes)
{
	return capture->config.data_size && bytes >= capture->config.data_size / 4;
}

/**
 * ntrace_feed_readable - what is in the data area
 * @capture: capture
 * @tail: takes the position of the first byte
 *
 * Return: number of bytes from there.
 */
u64 ntrace_feed_readable(struct ntrace_capture *capture, u64 *tail)
{
	/* In this order: the head never falls behind a tail that was read before it. */
	*tail = atomic64_read_acquire(&capture->tail);
	return smp_load_acquire(&capture->control->head) - *tail;
}
