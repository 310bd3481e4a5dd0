// SPDX-License-Identifier: GPL-2.0-only
/*
 * A path as a whole: switches all its components in the right order. Shared components are
 * switched only by their first and their last user.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/poll.h>

#include "path.h"

/* A default sink buffer may shrink to this size when memory is scarce. */
#define NTRACE_SINK_SIZE_DEFAULT_MIN SZ_256K

/* Bytes of trace that a funnel holds back at most, which no register tells. */
#define NTRACE_PATH_HOLDS 128

/*
 * Time for which an event of perf that ends waits for shared components, with interrupts off. While
 * other harts send trace, these may never be empty.
 */
#define NTRACE_PATH_PUSH_US 40

/*
 * Waits until what the encoder has sent has passed the components from number @first on, in the
 * order of the path: trace that left one component is in the next. The flush of a sink empties an
 * ATB bridge, which may hold a part of a transfer back until then, and the components after it.
 *
 * Return: false if some trace may still be in one of them.
 */
static bool ntrace_path_await_links(const struct ntrace_path *path, unsigned int first,
				    u64 deadline)
{
	const struct ntrace_component *component;
	unsigned int i;

	for (i = first; i < path->count; i++) {
		component = path->component[i];
		if (component->type == TR_COMP_TYPE_ATB_BRIDGE && component->is_link)
			break;
		if (component->users && component->ops->await_empty &&
		    !component->ops->await_empty(component, deadline))
			return false;
	}
	return true;
}

/*
 * Stops the components from number @first to the sink, except those with other users:
 *
 *	funnel -> RAM sink			each in turn, once it is empty
 *	bridge -> funnel -> ETF -> ETR		the ETR first, then the others in turn
 *
 * An ETR has a formatter. Its flush takes the rest of the trace out of components of Arm, which
 * must be enabled for that.
 */
static int ntrace_path_stop_from(struct ntrace_path *path, unsigned int first, bool atomic,
				 bool *sink_stopped)
{
	struct ntrace_component *sink = ntrace_path_sink(path);
	bool sink_first = sink->ramsink.framed && sink->users == 1;
	struct ntrace_component *component;
	int ret, error = 0;
	unsigned int i;
	u64 deadline;

	*sink_stopped = false;
	if (sink_first) {
		deadline = ktime_get_mono_fast_ns() + NTRACE_TIMEOUT_ATOMIC_US * NSEC_PER_USEC;
		ntrace_path_await_links(path, first, deadline);
		error = sink->ops->stop(sink, atomic);
		*sink_stopped = !error;
	}
	for (i = first; i < path->count; i++) {
		component = path->component[i];
		if (--component->users || (component == sink && sink_first))
			continue;
		ret = component->ops->stop(component, atomic);
		if (component == sink)
			*sink_stopped = !ret;
		if (!error)
			error = ret;
	}
	return error;
}

static int ntrace_path_start_all(struct ntrace_path *path, bool atomic)
{
	struct ntrace_component *sink = ntrace_path_sink(path), *component;
	bool sink_stopped;
	unsigned int i;
	int ret;

	/* The sink left its buffer, and some of its users have not stopped yet. */
	if (sink->users && READ_ONCE(sink->ramsink.fault))
		return -EIO;
	for (i = path->count - 1; i > 0; i--) {
		component = path->component[i];
		if (component->users++)
			continue;
		if (ntrace_component_has_memory(component))
			ntrace_drain_begin(component);
		ret = component->ops->start(component, atomic);
		if (ret) {
			ntrace_path_stop_from(path, i, atomic, &sink_stopped);
			return ret;
		}
	}
	return 0;
}

/*
 * Enables the sink of a path, then its funnels. The path is programmed, its encoder disabled.
 * Return: 0, -EIO or -ETIMEDOUT.
 */
int ntrace_path_enable(struct ntrace_path *path)
{
	guard(mutex)(&ntrace_path_sink(path)->ramsink.mutex);
	return ntrace_path_start_all(path, false);
}

/** ntrace_path_enable_atomic - ntrace_path_enable() with interrupts off, for a capture of perf */
int ntrace_path_enable_atomic(struct ntrace_path *path)
{
	guard(raw_spinlock)(&ntrace_path_sink(path)->ramsink.users_lock);
	return ntrace_path_start_all(path, true);
}

/*
 * A stopped capture becomes STOPPED when all of its trace has arrived, which is when the sink has
 * stopped.
 */
static void ntrace_path_settle(struct ntrace_ramsink *sink)
{
	struct ntrace_capture *capture;

	list_for_each_entry(capture, &sink->feeds, feed.node) {
		if (capture->feed.control->state != NTRACE_STATE_RUNNING)
			continue;
		/* Pairs with the acquire of readers: no trace arrives after STOPPED. */
		smp_store_release(&capture->feed.control->state, NTRACE_STATE_STOPPED);
		wake_up_interruptible_poll(&capture->path->wait, EPOLLIN | EPOLLRDNORM);
	}
}

/**
 * ntrace_path_disable - undo ntrace_path_enable() and drain the rest
 * @capture: capture of a file whose encoder has been stopped
 * @control: trTeControl after that
 *
 * While others use the sink, the drain takes as much as it can; the rest arrives when others
 * drain.
 *
 * Return: 0 or -ETIMEDOUT.
 */
int ntrace_path_disable(struct ntrace_capture *capture, u32 control)
{
	struct ntrace_component *sink = ntrace_path_sink(capture->path);
	bool sink_stopped;
	int ret;

	/* Held to the end: the next start would empty the ring before it is drained. */
	guard(mutex)(&sink->ramsink.mutex);
	/* The encoder has sent its queue. The timer keeps draining while the sink takes it. */
	ret = ntrace_path_stop_from(capture->path, 1, false, &sink_stopped);
	hrtimer_cancel(&capture->feed.timer);
	ntrace_drain_end(&capture->feed, control, sink_stopped);
	if (!sink->users)
		ntrace_path_settle(&sink->ramsink);
	return ret;
}

/* Most bytes of trace that the funnels before the sink and in it hold back. */
static u32 ntrace_path_held(struct ntrace_path *path)
{
	unsigned int funnels = path->count - 2;

	if (ntrace_path_sink(path)->ops->await_empty)
		funnels++;
	return funnels * NTRACE_PATH_HOLDS;
}

/*
 * Waits for all that the hart has sent to pass the components before a sink that others keep
 * running.
 *
 * Return: most bytes of this hart that they may hold, or U32_MAX.
 */
static u32 ntrace_path_push(struct ntrace_path *path)
{
	struct ntrace_component *sink = ntrace_path_sink(path);
	u64 deadline = ktime_get_mono_fast_ns() + NTRACE_PATH_PUSH_US * NSEC_PER_USEC;
	u32 held = ntrace_path_await_links(path, 1, deadline) ? 0 : ntrace_path_held(path);

	if (sink->ops->flush && !sink->ops->flush(sink, deadline))
		held = U32_MAX;
	return held;
}

/** ntrace_path_disable_atomic - ntrace_path_disable() with interrupts off, for a capture of perf */
int ntrace_path_disable_atomic(struct ntrace_capture *capture, u32 control)
{
	struct ntrace_component *sink = ntrace_path_sink(capture->path);
	u64 deadline;
	struct ntrace_turn_way way;
	bool sink_stopped;
	u32 held, drops;
	int ret;

	/* May run in the timer itself, which then ends by its return value. */
	hrtimer_try_to_cancel(&capture->feed.timer);
	deadline = ktime_get_mono_fast_ns() + ntrace_drain_end_us(&capture->feed) * NSEC_PER_USEC;
	raw_spin_lock(&sink->ramsink.users_lock);
	ret = ntrace_path_stop_from(capture->path, 1, true, &sink_stopped);
	if (sink->users) {
		held = ntrace_path_push(capture->path);
		ntrace_turn_measure(&capture->feed, &way);
		/* Other harts need not wait until all has arrived. */
		raw_spin_unlock(&sink->ramsink.users_lock);
		capture->complete =
			ntrace_turn_leave(&capture->feed, &way, deadline, control, held);
		return ret;
	}
	/* Held to the end: the next start would empty the ring before it is drained. */
	drops = sink->ramsink.drops;
	ntrace_drain_end(&capture->feed, control, sink_stopped);
	capture->complete = sink_stopped && sink->ramsink.drops == drops;
	if (sink_stopped)
		capture->feed.ended = true;
	raw_spin_unlock(&sink->ramsink.users_lock);
	return ret;
}

/*
 * Switches off the components whose numbers are bits of @which. First all trace flows out of the
 * path: they are disabled from the encoder on. Then they become inactive from the sink on: the
 * clock of a component may come from the one that sends to it, and stop when that is inactive.
 *
 * Return: 0, or -ETIMEDOUT if a component may still be running.
 */
static int ntrace_path_off_some(struct ntrace_path *path, u32 which)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < path->count; i++) {
		if (!(which & BIT(i)))
			continue;
		path->component[i]->programmed = false;
		ntrace_component_quiesce(path->component[i]);
	}
	while (i--)
		if (which & BIT(i) && ntrace_component_off(path->component[i]))
			ret = -ETIMEDOUT;
	return ret;
}

/* The components that no other capture needs as they are programmed, as a bit mask. */
static u32 ntrace_path_own(const struct ntrace_path *path)
{
	u32 own = 0;
	unsigned int i;

	for (i = 0; i < path->count; i++)
		if (!path->component[i]->programmed || path->component[i]->held <= path->holds)
			own |= BIT(i);
	return own;
}

/* Return: as ntrace_path_off_some(). */
static int ntrace_path_off(struct ntrace_path *path)
{
	return ntrace_path_off_some(path, ntrace_path_own(path));
}

/* Switches off all components of a path, those of other paths as well. None of these is traced. */
void ntrace_path_sleep(struct ntrace_path *path)
{
	guard(mutex)(&ntrace_path_sink(path)->ramsink.mutex);
	ntrace_path_off_some(path, BIT(path->count) - 1);
}

/*
 * Switches off what may lose its power with a hart that is about to go offline. The path is locked
 * and not traced. That is the encoder, its bridge, and its sink if both are one block. They are
 * not touched again until the path is programmed, with the hart online.
 */
void ntrace_path_leave_hart(struct ntrace_path *path)
{
	const struct ntrace_component *encoder = ntrace_path_encoder(path);
	u32 which = 0;
	unsigned int i;

	guard(mutex)(&ntrace_path_sink(path)->ramsink.mutex);
	for (i = 0; i < path->count; i++)
		if (path->component[i]->base == encoder->base || path->component[i]->of_hart)
			which |= BIT(i);
	ntrace_path_off_some(path, which);
}

/*
 * Components become active from the encoder on, and are programmed from the sink on, see
 * ntrace_path_off_some().
 */
static int ntrace_path_program_once(struct ntrace_path *path, const struct ntrace_config *config)
{
	u32 own = ntrace_path_own(path);
	struct ntrace_component *component;
	int ret = ntrace_path_off(path);
	unsigned int i;

	for (i = 0; i < path->count && !ret; i++)
		if (own & BIT(i))
			ret = path->component[i]->layout->reset(path->component[i]);
	while (i-- && !ret) {
		if (!(own & BIT(i)))
			continue;
		component = path->component[i];
		ret = component->ops->program(component, config);
		component->programmed = !ret;
	}
	path->stale &= !!ret;
	return ret;
}

/* Called with the mutex of the sink. A component that was busy or waking up gets a second try. */
static int ntrace_path_program_all(struct ntrace_path *path, const struct ntrace_config *config)
{
	int ret = ntrace_path_program_once(path, config);

	return ret == -ETIMEDOUT ? ntrace_path_program_once(path, config) : ret;
}

/*
 * Writes all registers of a path that is locked and not traced. Also recovers a dead path: resets
 * every component that others do not need.
 * Return: 0 or a negative error.
 */
int ntrace_path_program(struct ntrace_path *path, const struct ntrace_config *config)
{
	guard(mutex)(&ntrace_path_sink(path)->ramsink.mutex);
	return ntrace_path_program_all(path, config);
}

/* A large block of memory may not be available. A default size may shrink. */
static int ntrace_path_alloc_sink(struct ntrace_component *sink, struct ntrace_capture *capture)
{
	struct ntrace_config *config = &capture->config;
	int ret;

	if (!ntrace_component_has_memory(sink))
		return 0;
	for (;;) {
		ret = ntrace_ramsink_alloc(sink, config->sink_size);
		if (ret != -ENOMEM || !capture->sink_size_default ||
		    config->sink_size <= NTRACE_SINK_SIZE_DEFAULT_MIN)
			return ret;
		config->sink_size /= 2;
	}
}

/*
 * The drain separates the trace of events. If it is in their trace, it pauses that, see pace.c,
 * and to continue it could undo what a trigger did meanwhile.
 *
 * Invariant: all events that use a sink while @dealt is set in it satisfy this. The first capture
 * sets @dealt, ntrace_path_join_sink() and ntrace_path_may_join() refuse others.
 */
static bool ntrace_path_can_deal(const struct ntrace_config *config)
{
	return !(config->privilege & NTRACE_PRIVILEGE_S) || !ntrace_trigger_is_used(config);
}

/**
 * ntrace_path_may_join - may another event of perf use the capture of a hart?
 * @path: path that @capture uses, locked
 * @capture: capture of perf
 * @config: configuration of the event
 *
 * Return: 0, or -EBUSY if the drain separates the trace, which the event does not allow.
 */
int ntrace_path_may_join(struct ntrace_path *path, const struct ntrace_capture *capture,
			 const struct ntrace_config *config)
{
	struct ntrace_ramsink *sink = &ntrace_path_sink(path)->ramsink;

	guard(mutex)(&sink->mutex);
	return sink->dealt && !ntrace_path_can_deal(config) ? -EBUSY : 0;
}

/* The sink is in use. Checks that it suits this capture, too. */
static int ntrace_path_join_sink(struct ntrace_ramsink *sink, struct ntrace_capture *capture)
{
	struct ntrace_config *config = &capture->config;

	if (sink->session != capture->session)
		return -EBUSY;
	if (capture->client && !(sink->dealt && ntrace_path_can_deal(config)))
		return -EBUSY;
	if (!capture->sink_size_default && config->sink_size > sink->buffer_size)
		return -EBUSY;
	if (!(config->flags & NTRACE_CONFIG_STOP_ON_WRAP) !=
	    !(sink->control & TR_RAM_CONTROL_STOP_ON_WRAP))
		return -EBUSY;
	config->sink_size = sink->buffer_size;
	return 0;
}

/* The components before number @count have power. */
static void ntrace_path_power_off(struct ntrace_path *path, unsigned int count)
{
	while (count--)
		ntrace_power_put(path->component[count]);
}

/* May sleep: perf calls it when an event is opened. */
static int ntrace_path_power_on(struct ntrace_path *path)
{
	unsigned int i;
	int ret;

	for (i = 0; i < path->count; i++) {
		ret = ntrace_power_get(path->component[i]);
		if (!ret)
			continue;
		dev_err(path->component[i]->dev, "has no power: %d\n", ret);
		ntrace_path_power_off(path, i);
		return ret;
	}
	return 0;
}

static void ntrace_path_hold(struct ntrace_path *path, struct ntrace_capture *capture)
{
	struct ntrace_ramsink *sink = &ntrace_path_sink(path)->ramsink;
	unsigned int i;

	for (i = 0; i < path->count; i++)
		path->component[i]->held++;
	path->holds = true;
	guard(raw_spinlock_irqsave)(&sink->lock);
	list_add_tail(&capture->feed.node, &sink->feeds);
	if (sink->dealt)
		ntrace_turn_join(&capture->feed, ntrace_path_held(path));
}

/* Undoes what ntrace_path_attach() did before the path was held. The mutex of the sink is held. */
static void ntrace_path_release(struct ntrace_path *path)
{
	struct ntrace_component *sink = ntrace_path_sink(path);

	ntrace_path_off(path);
	/* This looks at the registers of a sink that could not be switched off. */
	if (!sink->held)
		ntrace_ramsink_free(sink);
	ntrace_path_power_off(path, path->count);
}

/*
 * Allocates and programs what a capture needs, and gives it the size of the sink buffer. The path
 * is locked and has no capture. Captures of one session share a sink: all files are one session;
 * so are all events that a process opens, unless they trace the kernel and use triggers.
 *
 *	power -> buffer of the sink, or that of others -> registers -> held
 *	  <------------------ ntrace_path_release() -------------|<- ntrace_path_detach()
 *
 * Return: 0, -EBUSY if another session uses the sink, or another error. On an error the hardware
 * is off.
 */
int ntrace_path_attach(struct ntrace_path *path, struct ntrace_capture *capture)
{
	bool can_deal = !capture->client || ntrace_path_can_deal(&capture->config);
	struct ntrace_component *component = ntrace_path_sink(path);
	struct ntrace_ramsink *sink = &component->ramsink;
	int ret;

	guard(mutex)(&sink->mutex);
	/* perf's readers know messages only, no frames. */
	if (sink->framed && !can_deal)
		return -EOPNOTSUPP;
	ret = ntrace_path_power_on(path);
	if (ret)
		return ret;
	ret = component->held ? ntrace_path_join_sink(sink, capture) :
				ntrace_path_alloc_sink(component, capture);
	if (ret) {
		ntrace_path_power_off(path, path->count);
		return ret;
	}
	ret = ntrace_path_program_all(path, &capture->config);
	if (ret) {
		ntrace_path_release(path);
		return ret;
	}
	if (!component->held) {
		sink->session = capture->session;
		sink->dealt = capture->client && can_deal && (sink->src_bits || sink->framed);
	}
	ntrace_path_hold(path, capture);
	return 0;
}

/* Undoes ntrace_path_attach(), unless already undone. The path is locked and not traced. */
void ntrace_path_detach(struct ntrace_path *path, struct ntrace_capture *capture)
{
	struct ntrace_ramsink *sink = &ntrace_path_sink(path)->ramsink;
	unsigned int i;

	guard(mutex)(&sink->mutex);
	if (!path->holds)
		return;
	raw_spin_lock_irq(&sink->lock);
	list_del(&capture->feed.node);
	ntrace_turn_part(&capture->feed);
	raw_spin_unlock_irq(&sink->lock);

	for (i = 0; i < path->count; i++)
		path->component[i]->held--;
	path->holds = false;
	ntrace_path_release(path);
}
