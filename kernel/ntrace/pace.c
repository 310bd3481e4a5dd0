// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the drain (drain.c) runs: the timer of a capture.
 *
 * The timer runs on the traced hart, in hard interrupt context. The hart that produces trace
 * empties its own sink, so it cannot outrun the reader; a hart that a hypervisor has descheduled
 * produces nothing. The traced load could keep a softirq or a thread from running.
 *
 *	expiry            expiry      expiry                        expiry
 *	  | slice | pause | slice | pause | slice |     interval      | slice |
 *	          ^ more trace is waiting         ^ all was copied
 *
 * If harts share a sink, each of them has such a timer, and each timer drains for all. A timer
 * that finds another hart draining does not wait for it: that hart takes the trace of this one,
 * too. Only where the drain separates the trace, which takes longer than making it, does the timer
 * wait, for a limited time, so that this hart makes hardly any trace meanwhile.
 */
#include <linux/ktime.h>
#include <linux/processor.h>

#include "feed.h"

/* The shortest time between two slices: the pause while more trace is waiting. */
#define NTRACE_DRAIN_LEAST_US	10
#define NTRACE_DRAIN_LEAST_SHARED_US 5
/*
 * The pause is at least this part of the time that the slice took. Where memory, the processor or
 * its kernel is slow, the hart could do nothing else than drain what little it does between.
 */
#define NTRACE_DRAIN_PAUSE_SHARE 8
/*
 * If the delay from an expiry to its callback is longer than this, the hart is slow: an FPGA, or a
 * kernel with KASAN and lockdep. On a usual kernel at 1 GHz, most are shorter than a microsecond.
 */
#define NTRACE_DRAIN_SLOW_US	10
/*
 * On a slow hart, the time until the next expiry is at least this multiple of the delay. After the
 * callback, the way out of the interrupt takes a few times as long as this way in: longer than the
 * interval of a small sink or than the pauses above. Without more time, the timer would expire
 * again before the hart executes one instruction of its task. That need not end: where harts share
 * a sink, the others make more trace meanwhile than a slice takes. On other harts, longer pauses
 * would only lose more trace.
 */
#define NTRACE_DRAIN_SLOW_DELAYS 4
/*
 * The delay of a hart is the least of its expiries. It rises by this time, and this part of itself,
 * at each of them: for hundreds it stays below NTRACE_DRAIN_SLOW_US. Code with interrupts off, or
 * a hypervisor or simulator that lets harts take turns, makes some longer, sometimes a hundred in
 * a row.
 */
#define NTRACE_DRAIN_DELAY_RISE_NS 20
#define NTRACE_DRAIN_DELAY_RISE_SHARE 128
/*
 * Time for which a timer that has to separate trace waits for another hart that drains. The hart
 * then makes trace for NTRACE_DRAIN_LEAST_SHARED_US only, before it waits again.
 */
#define NTRACE_DRAIN_WAIT_US	80
/*
 * Time until a timer tries again that has found another hart draining: about the time of a slice.
 * The timers of harts start together and have the same interval; after one such delay they no
 * longer expire at the same time.
 */
#define NTRACE_DRAIN_RETRY_US	100
/*
 * So many expiries in a row without trace are a fault if the trace contains them: each makes 8
 * bytes at least, of which a sink and the funnels before it hold 8 KiB back at most.
 */
#define NTRACE_DRAIN_STILL	4096

/*
 * Pauses the trace of this hart if the drain separates trace and would be in it. Triggers, which
 * change trTeInstTracing as well, are not used then, see ntrace_path_can_deal().
 *
 * Return: whether to continue it after the drain.
 */
static bool ntrace_drain_hush(const struct ntrace_feed *feed, u32 control)
{
	if (!feed->sink->ramsink.dealt || !feed->kernel || !(control & TR_TE_CONTROL_INST_TRACING))
		return false;
	ntrace_encoder_pause(feed->encoder);
	return true;
}

/* Takes the lock of the sink unless another hart has it. Return: whether it did. */
static bool ntrace_drain_trylock(struct ntrace_ramsink *sink)
{
	u64 end = ktime_get_mono_fast_ns() + NTRACE_DRAIN_WAIT_US * NSEC_PER_USEC;

	/* The hart that has the lock drains for all, or has it once, for a short time. */
	while (!raw_spin_trylock(&sink->lock)) {
		if (!sink->dealt || ktime_get_mono_fast_ns() >= end)
			return false;
		cpu_relax();
	}
	return true;
}

/* The shortest time until the next expiry that leaves a slow hart time for its task. */
static ktime_t ntrace_drain_least(struct ntrace_feed *feed, ktime_t delay)
{
	ktime_t rise = NTRACE_DRAIN_DELAY_RISE_NS + feed->delay / NTRACE_DRAIN_DELAY_RISE_SHARE;

	feed->delay = min(delay, feed->delay + rise);
	if (feed->delay <= ns_to_ktime(NTRACE_DRAIN_SLOW_US * NSEC_PER_USEC))
		return 0;
	return NTRACE_DRAIN_SLOW_DELAYS * feed->delay;
}

/*
 * The time until the next expiry of a timer that has found @found bytes and may take @limit.
 *
 * Each timer of a capture of perf finds what was made in its interval, and so does the end of the
 * trace, with interrupts off. Therefore the interval is halved while timers find more than half a
 * slice, and doubled while they find less than an eighth.
 */
static ktime_t ntrace_drain_pace(struct ntrace_feed *feed, u32 found, u32 limit)
{
	u32 us = feed->sink->ramsink.dealt ? NTRACE_DRAIN_LEAST_SHARED_US : NTRACE_DRAIN_LEAST_US;
	ktime_t least = ns_to_ktime(us * NSEC_PER_USEC);

	if (feed->counts && found > limit / 2)
		feed->pace = max(feed->pace / 2, least);
	else if (feed->counts && found < limit / 8)
		feed->pace = min(feed->pace * 2, feed->interval);
	return found > limit ? least : feed->pace;
}

/*
 * The hart executes, and its trace stands still: something between it and the sink has lost its
 * power or its registers, without a bit that says so.
 */
static void ntrace_drain_watch(struct ntrace_feed *feed, u32 control)
{
	struct ntrace_ramsink *sink = &feed->sink->ramsink;

	if (!feed->watched || !sink->ring || ntrace_ramsink_is_whole(sink))
		return;
	if (sink->drained != feed->seen)
		feed->still = 0;
	feed->seen = sink->drained;
	if (feed->still > NTRACE_DRAIN_STILL || ++feed->still <= NTRACE_DRAIN_STILL)
		return;
	ntrace_err(feed->encoder->dev,
		   "no trace arrives while the hart executes (control 0x%08x, sink 0x%08x)\n",
		   control, ntrace_read(feed->sink, TR_CONTROL));
	ntrace_feed_note(feed, NTRACE_LOSS_ENCODER, false);
}

/*
 * Time until the first expiry of the timer of a trace of perf. A trace begins with a short
 * interval: the last one may have been that of another task.
 */
ktime_t ntrace_drain_first(struct ntrace_feed *feed)
{
	feed->behind = 0;
	feed->pace = min(feed->pace, feed->interval / 4);
	return feed->pace;
}

/* Handles one expiry of a drain timer, on the traced hart. Return: time until the next expiry. */
ktime_t ntrace_drain_step(struct ntrace_feed *feed)
{
	struct ntrace_component *component = feed->sink;
	struct ntrace_ramsink *sink = &component->ramsink;
	ktime_t delay = -hrtimer_expires_remaining(&feed->timer);
	ktime_t least = ntrace_drain_least(feed, delay);
	u32 control = ntrace_read(feed->encoder, TR_TE_CONTROL);
	/* Before the lock, which other harts may hold for long: waiting for it makes trace, too. */
	bool resume = ntrace_drain_hush(feed, control);
	ktime_t next, took;
	u64 begin;
	u32 limit;

	if (ntrace_drain_trylock(sink)) {
		begin = ktime_get_mono_fast_ns();
		limit = ntrace_drain_limit(sink);
		ntrace_drain_slice(component, limit, false);
		next = ntrace_drain_pace(feed, sink->found, limit);
		feed->behind += max_t(ktime_t, delay, 0);
		if (sink->found <= limit)
			feed->behind = 0;
		ntrace_drain_report(feed, control);
		ntrace_drain_watch(feed, control);
		took = ns_to_ktime(ktime_get_mono_fast_ns() - begin);
		raw_spin_unlock(&sink->lock);
		next = max(next, took / NTRACE_DRAIN_PAUSE_SHARE);
	} else if (sink->dealt) {
		next = ns_to_ktime(NTRACE_DRAIN_LEAST_SHARED_US * NSEC_PER_USEC);
	} else {
		/* What the encoder reports stays in its register until the next expiry. */
		next = min(feed->interval, ns_to_ktime(NTRACE_DRAIN_RETRY_US * NSEC_PER_USEC));
	}
	if (resume && !feed->fault)
		ntrace_encoder_trace(feed->encoder);
	return max(next, least);
}

/*
 * Drains once, outside of the timer, on the traced hart with interrupts off. Drains no more than
 * the timer, and leaves its pace alone: whoever reads a counter often must not change when the
 * timer expires.
 */
void ntrace_drain_read(struct ntrace_feed *feed)
{
	struct ntrace_ramsink *sink = &feed->sink->ramsink;
	u32 control = ntrace_read(feed->encoder, TR_TE_CONTROL);
	bool resume = ntrace_drain_hush(feed, control);

	if (ntrace_drain_trylock(sink)) {
		ntrace_drain_slice(feed->sink, ntrace_drain_limit(sink), false);
		raw_spin_unlock(&sink->lock);
	}
	if (resume && !feed->fault)
		ntrace_encoder_trace(feed->encoder);
}

/**
 * ntrace_drain_rearm - set the next expiry of a drain timer
 * @timer: timer that has expired and drained
 * @next: time until then, from ntrace_drain_step()
 *
 * From now on, not a multiple of @next after the last expiry as hrtimer_forward_now(): after a
 * slice that took longer than the pause, that would often be over before the interrupt ends.
 */
void ntrace_drain_rearm(struct hrtimer *timer, ktime_t next)
{
	hrtimer_set_expires(timer, ktime_add(hrtimer_cb_get_time(timer), next));
}

/* The timer of a capture of a file, on the traced hart. */
enum hrtimer_restart ntrace_drain_timer(struct hrtimer *timer)
{
	struct ntrace_feed *feed = container_of(timer, struct ntrace_feed, timer);
	ktime_t next = ntrace_drain_step(feed);
	bool wake = ntrace_feed_is_due(feed, feed->head - atomic64_read(&feed->tail));

	if (feed->fault) {
		/*
		 * The reader is woken, and closing the device cleans up. An encoder that fails
		 * leaves the sink to other captures.
		 */
		ntrace_encoder_stop(feed->encoder);
		if (!feed->failed && !feed->taken)
			ntrace_err(feed->sink->dev, "sink left its buffer, stopped\n");
		WRITE_ONCE(feed->control->state, NTRACE_STATE_DEAD);
		irq_work_queue(&feed->wake);
		return HRTIMER_NORESTART;
	}

	if (wake)
		irq_work_queue(&feed->wake);
	ntrace_drain_rearm(timer, next);
	return HRTIMER_RESTART;
}
