// SPDX-License-Identifier: GPL-2.0-only
/*
 * The turns of perf's events on a hart: where the drain puts the trace of each, and how a turn ends
 * while other harts keep the sink running.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "feed.h"

/**
 * ntrace_turn_into - drain into other memory from now on
 * @feed: data area of perf
 * @data: memory
 * @size: bytes of it, a power of two
 * @head: position in the stream; the next byte goes to @head modulo @size
 * @room: bytes that may be written
 * @overwrite: overwrite the oldest bytes when the memory is full
 *
 * The memory in the order of the stream:
 *
 *	tail                 head                  head + room
 *	  |  not read yet     |  free for the drain  |
 *	  |<----------------- size ----------------->|
 *
 * What was put before and is not committed is dropped: it may be of the event that had @feed.
 */
void ntrace_turn_into(struct ntrace_feed *feed, void *data, size_t size, u64 head, u64 room,
		      bool overwrite)
{
	struct ntrace_ramsink *sink = &feed->sink->ramsink;
	bool doubtful;
	u32 wp;

	guard(raw_spinlock_irqsave)(&sink->lock);
	if (!feed->paused && feed->late.unsure && ntrace_ramsink_position(feed->sink, &wp))
		ntrace_feed_enter(feed, ring_distance(sink, sink->drained, wp));
	doubtful = feed->fresh || feed->dropped;
	ntrace_feed_void(feed);
	feed->data = data;
	feed->size = size;
	feed->head = head;
	feed->overwrite = overwrite;
	atomic64_set(&feed->tail, head + room - size);
	feed->overrun = false;
	/* The last gap was in other memory. */
	feed->gap_head = U64_MAX - 1;
	/* Paused, it goes on in other memory: what is not certain to be its own is dropped. */
	if (doubtful)
		ntrace_feed_note(feed, 0, true);
}

/* If the end of the last message is missing: marks the message as cut, and returns true. */
static bool ntrace_turn_cut(struct ntrace_feed *feed)
{
	static const u8 mark[] = { NTRACE_RESERVED_BYTE, NTRACE_MESSAGE_END };
	struct ntrace_ramsink *sink = &feed->sink->ramsink;

	if (!sink->dealt || !ntrace_split_is_inside(sink, feed))
		return false;
	ntrace_feed_put(feed, mark, sizeof(mark));
	ntrace_feed_commit(feed);
	return true;
}

/**
 * ntrace_turn_discard - keep no trace from now on
 * @feed: as for ntrace_turn_into()
 * @lost: count it as lost; false: as trace
 *
 * Return: the head at that moment: trace before it was kept.
 */
u64 ntrace_turn_discard(struct ntrace_feed *feed, bool lost)
{
	struct ntrace_ramsink *sink = &feed->sink->ramsink;

	guard(raw_spinlock_irqsave)(&sink->lock);
	/* Paused, it goes on in other memory at once. */
	if (feed->data && !feed->paused && !feed->late.stale && !feed->late.unsure) {
		ntrace_turn_cut(feed);
		ntrace_split_forget(sink, feed);
	}
	feed->data = NULL;
	feed->overwrite = false;
	feed->overrun = lost;
	return feed->head;
}

/*
 * Causes of losses that no record has reported yet, after ntrace_turn_discard().
 * Return: NTRACE_LOSS_..., which count as reported from now on.
 */
u32 ntrace_turn_causes(struct ntrace_feed *feed)
{
	u32 causes;

	/* Another hart may drain the shared sink, and find a loss. */
	guard(raw_spinlock_irqsave)(&feed->sink->ramsink.lock);
	causes = feed->recent;
	feed->recent = 0;
	return causes;
}

/*
 * Begins, or ends, to keep the drain from the ring for a short time. On the hart of perf's data
 * area, with interrupts off. Other harts that share the sink may pause at the same time.
 */
void ntrace_turn_pause(struct ntrace_feed *feed, bool pause)
{
	guard(raw_spinlock_irqsave)(&feed->sink->ramsink.lock);
	feed->paused = pause;
}

/**
 * ntrace_turn_measure - note how far the drain has to go to the end of a trace
 * @feed: data area of perf whose encoder has stopped and is empty
 * @way: takes the position
 *
 * Called before other harts can stop the sink. Captures fail if the write pointer is not in the
 * ring.
 */
void ntrace_turn_measure(struct ntrace_feed *feed, struct ntrace_turn_way *way)
{
	struct ntrace_component *component = feed->sink;
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 wp, ahead;

	guard(raw_spinlock_irqsave)(&sink->lock);
	*way = (struct ntrace_turn_way){
		.drained = sink->drained,
		.ends = sink->ends,
		.drops = sink->drops,
	};
	if (!sink->ring || sink->fault || !ntrace_drain_position(component, &wp))
		return;
	way->valid = true;
	ahead = ring_distance(sink, way->drained, wp);
	way->sure = rounddown(ahead - min(ahead, ring_doubt(sink)), sink->granule);
	/* The sink may have accepted up to a granule that it has not written. */
	way->left = roundup(ahead, sink->granule) + sink->granule;
	/* Not if it was flushed. */
	if (component->ops->flush)
		way->sure = ahead;
}

/*
 * The last of the other harts has stopped the sink: all has arrived, or never will. The sink may
 * run again, and its ring begin anew.
 */
static bool ntrace_turn_is_over(const struct ntrace_turn_way *way,
				const struct ntrace_ramsink *sink)
{
	return sink->ends != way->ends;
}

static void ntrace_turn_proceed(struct ntrace_turn_way *way, const struct ntrace_ramsink *sink)
{
	u32 moved = ntrace_turn_is_over(way, sink) ?
			    U32_MAX :
			    ring_distance(sink, way->drained, sink->drained);

	way->sure -= min(way->sure, moved);
	way->left -= min(way->left, moved);
	way->drained = sink->drained;
}

/*
 * Drains until all of a trace has arrived. A last message that ends a trace is not sufficient:
 * encoders send the same message where a filter ends a part of the trace, and the next part may
 * still be on its way. The time is limited, because interrupts are off.
 */
static void ntrace_turn_await(struct ntrace_component *component, struct ntrace_turn_way *way,
			      u64 deadline)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	bool more = true;
	u32 limit;
	u64 now;

	while (way->left) {
		now = ktime_get_mono_fast_ns();
		if (now >= deadline + NTRACE_DRAIN_PUSH_US * NSEC_PER_USEC ||
		    (now >= deadline && more))
			break;
		guard(raw_spinlock_irqsave)(&sink->lock);
		ntrace_turn_proceed(way, sink);
		if (!way->left)
			break;
		limit = min(NTRACE_DRAIN_SLICE_END, ntrace_drain_limit(sink));
		more = ntrace_drain_slice(component, limit, false);
		ntrace_turn_proceed(way, sink);
	}
}

/*
 * The trace of an event has ended, and the next one may begin before all of it has arrived. The
 * picture in feed.c ("Trace that arrives late") has what the drain is told: up to the write pointer
 * at the end (@sure) all is of this event; a granule, and what funnels hold, is in doubt.
 */
static void ntrace_turn_over(struct ntrace_feed *feed, const struct ntrace_turn_way *way, u32 held)
{
	bool flushed = feed->sink->ops->flush;
	u32 reach = flushed ? way->sure : way->left;

	ntrace_feed_settle(feed);
	if (!reach && !held)
		return;
	/* Without an end, messages are missing, and what arrives from now on is in no record. */
	if (!ntrace_turn_cut(feed) && !feed->ended)
		ntrace_feed_note(feed, 0, true);
	if (held == U32_MAX)
		ntrace_feed_leave(feed, U32_MAX, U32_MAX, 0);
	else
		ntrace_feed_leave(feed, way->sure, held ? U32_MAX : reach,
				  reach - way->sure + held);
}

/**
 * ntrace_turn_leave - end a capture of a sink that others keep running
 * @feed: data area of perf whose encoder has stopped and is empty
 * @way: from ntrace_turn_measure()
 * @deadline: time up to which it drains, of ktime_get_mono_fast_ns()
 * @control: trTeControl after the stop
 * @held: bytes of this encoder that may still be in funnels; U32_MAX: unknown
 *
 * Not ntrace_drain_end(): what the other harts make meanwhile may have no end. The sink holds back
 * the last bytes until other harts' trace pushes them on. What has not arrived in time belongs to
 * no later event. Meanwhile other harts may stop the sink and start it again.
 *
 * Return: whether all trace has arrived and ends.
 */
bool ntrace_turn_leave(struct ntrace_feed *feed, struct ntrace_turn_way *way, u64 deadline,
		       u32 control, u32 held)
{
	struct ntrace_component *component = feed->sink;
	struct ntrace_ramsink *sink = &component->ramsink;

	/* The event gets what has arrived in any case. */
	ntrace_turn_await(component, way, deadline);
	guard(raw_spinlock_irqsave)(&sink->lock);
	ntrace_drain_report(feed, control);
	ntrace_turn_proceed(way, sink);
	/* Funnels, too, are empty then. */
	if (ntrace_turn_is_over(way, sink))
		held = 0;
	ntrace_turn_over(feed, way, held);
	if (way->valid && !sink->fault && sink->drops == way->drops && !way->left && !held &&
	    feed->ended)
		return true;
	ntrace_feed_note(feed, NTRACE_LOSS_SHARED, false);
	return false;
}

/**
 * ntrace_turn_join - a capture begins to use a sink that others may keep running
 * @feed: data area of perf
 * @held: most bytes that the components before the sink hold
 *
 * Called with the lock of the sink. Some trace of an earlier capture of this encoder may arrive.
 */
void ntrace_turn_join(struct ntrace_feed *feed, u32 held)
{
	struct ntrace_ramsink *sink = &feed->sink->ramsink;
	struct ntrace_encoder *encoder = &feed->encoder->encoder;
	u32 wp, ahead;

	if (!encoder->unfinished || !sink->ring || !ntrace_ramsink_position(feed->sink, &wp))
		return;
	encoder->unfinished = false;
	ahead = ring_distance(sink, sink->drained, wp);
	ntrace_feed_leave(feed, ahead, U32_MAX, 2 * sink->granule + held);
}

/*
 * A capture of perf ends its use of a sink that others may keep running, and is not in its list
 * any more. Called with the lock of the sink.
 */
void ntrace_turn_part(struct ntrace_feed *feed)
{
	/* The rest of a message for it is dropped. */
	ntrace_split_forget(&feed->sink->ramsink, feed);
	feed->encoder->encoder.unfinished = feed->late.stale || feed->late.unsure;
}
