// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU "ntrace": traces of tasks and of CPUs through perf.
 *
 * An event fills an AUX area; its count is the number of trace bytes. While the event is
 * scheduled, the hart traces into the ring of its sink, and the drain timer copies the trace to
 * the AUX area in slices, as it does to the data area of /dev/ntraceN. There is no zero copy: perf
 * allocates AUX pages one by one, while a sink needs one block; and the trace of a task must not
 * be in memory that the sink of another task still writes to.
 *
 * A path belongs either to an open file or to perf. The first event that can be scheduled on a
 * hart takes its path, the last one returns it. These two do all that takes memory, time or sleep.
 * A task switch writes only the registers that differ.
 *
 * add(), del(), start(), stop() and the timer run on the traced hart with interrupts off: they
 * need no lock against each other. Hotplug and unbind act through an interrupt to that hart.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "compat.h"
#include "path.h"
#include "perf_parts.h"

static struct ntrace_perf __percpu *ntrace_perf_harts;
/* Number of paths removed while perf had them; protected by the lock of the topology. */
static u64 ntrace_perf_epoch;
static struct pmu ntrace_pmu;

/*
 * Opens the AUX area, if there is one and it has room; otherwise trace is counted, or lost.
 *
 * perf disables an event whose area has no room, and does so late: up to 6.15 when the event is
 * scheduled out next, later in an interrupt. If the reader has made room and enabled the event by
 * then, it stays disabled for ever. So perf never sees an area without room: the last byte is left
 * free, and the timer waits for room. It waits for a quarter, because small pieces between gaps are
 * useless: a decoder skips to the next synchronization.
 */
static void ntrace_perf_open(struct ntrace_perf *perf, struct perf_event *event)
{
	struct ntrace_perf_own *own = event->hw.addr_filters;
	struct ntrace_feed *feed = &perf->path->capture->feed;
	struct ntrace_perf_aux *aux;

	perf->late = feed->head != perf->end;
	aux = perf_aux_output_begin(&perf->handle, event);
	if (!aux || aux->snapshot)
		own->full = false;
	else
		/* Two bytes: the mark of a gap, and the last one. */
		own->full = perf->handle.size < (own->full ? aux->size / 4 : 2);
	if (own->full) {
		perf_aux_output_end(&perf->handle, 0);
		aux = NULL;
	}
	if (aux) {
		ntrace_turn_into(feed, aux->pages, aux->size, perf->handle.head,
				 aux->snapshot ? aux->size : perf->handle.size - 1, aux->snapshot);
		/* The feed may have put the mark of a gap already, which belongs to this record. */
		perf->begin = perf->handle.head;
	} else {
		ntrace_turn_discard(feed, own->full);
	}
	perf->aux = aux;
	perf->counted = feed->head;
}

static void ntrace_perf_count(struct ntrace_perf *perf)
{
	u64 head = perf->path->capture->feed.head;

	local64_add(head - perf->counted, &perf->event->count);
	perf->counted = head;
}

/*
 * Closes the AUX area: from here on its trace belongs to the reader. Losses are PARTIAL, and
 * tracing goes on: perf disables an event whose record is TRUNCATED, which is for hardware that
 * failed.
 */
static void ntrace_perf_close(struct ntrace_perf *perf, u64 flags)
{
	struct ntrace_perf_own *own = perf->event->hw.addr_filters;
	struct ntrace_feed *feed = &perf->path->capture->feed;
	u64 head, size;
	u32 causes;

	if (perf->aux)
		own->full = feed->overrun && !perf->aux->snapshot;
	/* Trace that arrives now is dropped; another hart may drain the shared sink. */
	head = ntrace_turn_discard(feed, own->full);
	perf->end = head;
	ntrace_perf_count(perf);
	if (!perf->aux)
		return;
	size = head - perf->begin;
	causes = ntrace_turn_causes(feed);
	/* What a full area lost after its last record belongs to the gap of that record. */
	if (feed->gaps == perf->gaps)
		causes &= ~NTRACE_LOSS_DATA_FULL;
	/* The data contains a gap, or is adjacent to one. */
	if (feed->gaps != perf->gaps || perf->late || causes)
		flags |= PERF_AUX_FLAG_PARTIAL;
	if (perf->late)
		causes |= NTRACE_LOSS_SHARED;
	flags |= (u64)causes << NTRACE_AUX_LOSS_SHIFT;
	perf->gaps = feed->gaps;
	/* An empty record with nothing to say must stay without flags, or perf writes it. */
	if (size || flags)
		flags |= NTRACE_AUX_FORMAT;
	perf_aux_output_flag(&perf->handle, flags);
	if (perf->aux->snapshot) {
		perf->handle.head = head;
		size = min_t(u64, size, perf->aux->size);
	}
	perf_aux_output_end(&perf->handle, size);
	perf->aux = NULL;
}

/* Pauses and resumes tracing. The encoder reports both, and resumes with a synchronization. */
static enum hrtimer_restart ntrace_perf_strobe(struct hrtimer *timer)
{
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);
	const struct ntrace_perf_event *perf_event;
	u64 next;
	bool on;

	if (!perf->event)
		return HRTIMER_NORESTART;
	perf_event = ntrace_perf_event_of(perf->event);
	if (!perf_event->strobe_period)
		return HRTIMER_NORESTART;
	next = ntrace_perf_config_phase(perf_event, &on);
	hrtimer_forward_now(timer, ns_to_ktime(next));
	/* Last: the next instruction is traced. */
	if (on && !ntrace_event_paused(perf->event))
		ntrace_encoder_trace(ntrace_path_encoder(perf->path));
	else
		ntrace_encoder_pause(ntrace_path_encoder(perf->path));
	return HRTIMER_RESTART;
}

/* Programs the encoder, unless it is programmed for this event. */
static int ntrace_perf_program(struct ntrace_perf *perf)
{
	const struct ntrace_perf_event *perf_event = ntrace_perf_event_of(perf->event);
	const struct ntrace_perf_own *own = perf->event->hw.addr_filters;
	struct ntrace_component *encoder = ntrace_path_encoder(perf->path);
	u64 id = own->id ?: perf_event->id;
	struct ntrace_config config;
	int ret;

	if (perf->programmed == id)
		return 0;
	/* It was checked when the path was taken. */
	ret = ntrace_perf_config_for(perf_event, encoder, &config);
	ntrace_perf_filter_apply(perf->event, &config);
	if (!ret)
		ret = encoder->ops->program(encoder, &config);
	if (!ret)
		perf->programmed = id;
	return ret;
}

static int ntrace_perf_hw_start(struct ntrace_perf *perf)
{
	const struct ntrace_perf_event *perf_event = ntrace_perf_event_of(perf->event);
	struct ntrace_path *path = perf->path;
	struct ntrace_capture *capture = path->capture;
	struct ntrace_component *encoder = ntrace_path_encoder(path);
	const struct ntrace_perf_own *own = perf->event->hw.addr_filters;
	bool on = own->tracing;
	u64 next;
	int ret;

	ret = ntrace_perf_program(perf);
	if (ret)
		return ret;
	capture->feed.kernel = perf_event->config.privilege & NTRACE_PRIVILEGE_S;
	ret = ntrace_path_enable_atomic(path);
	if (ret)
		return ret;
	capture->feed.overflowed = false;
	ret = ntrace_encoder_enable(encoder);
	/* ntrace_perf_hw_stop() undoes the rest. */
	perf->enabled = true;
	if (ret)
		return ret;
	hrtimer_start(&capture->feed.timer, ntrace_drain_first(&capture->feed),
		      HRTIMER_MODE_REL_PINNED_HARD);
	if (perf_event->strobe_period) {
		next = ntrace_perf_config_phase(perf_event, &on);
		hrtimer_start(&perf->strobe, ns_to_ktime(next), HRTIMER_MODE_REL_PINNED_HARD);
	}
	if (on && !ntrace_event_paused(perf->event))
		ntrace_encoder_trace(encoder);
	return 0;
}

/* Keeps the state that triggers have left for the next start. */
static void ntrace_perf_note_triggers(struct ntrace_perf *perf)
{
	struct ntrace_component *encoder = ntrace_path_encoder(perf->path);
	struct ntrace_perf_own *own = perf->event->hw.addr_filters;

	if (ntrace_trigger_is_used(&ntrace_perf_event_of(perf->event)->config))
		own->tracing = ntrace_read(encoder, TR_TE_CONTROL) & TR_TE_CONTROL_INST_TRACING;
}

/* The encoder first: the sink takes what the encoder still sends. */
static int ntrace_perf_hw_stop(struct ntrace_perf *perf)
{
	struct ntrace_component *encoder = ntrace_path_encoder(perf->path);
	u32 control = 0;
	int ret, error;

	if (!perf->enabled)
		return 0;
	perf->enabled = false;
	/* The timer may be pending from the time when the encoder was off. */
	hrtimer_try_to_cancel(&perf->strobe);
	ntrace_perf_note_triggers(perf);
	ntrace_encoder_stop(encoder);
	ret = ntrace_component_wait_disabled(encoder, true, &control);
	error = ntrace_path_disable_atomic(perf->path->capture, control);
	return ret ? ret : error;
}

/*
 * Hardware that fails is not used again: later task switches do not wait for it. When all events
 * are closed, opening the next one resets it.
 */
static void ntrace_perf_dead(struct ntrace_perf *perf)
{
	WRITE_ONCE(perf->path->capture->feed.control->state, NTRACE_STATE_DEAD);
	ntrace_encoder_stop(ntrace_path_encoder(perf->path));
	ntrace_err(&perf->path->dev, "tracing of CPU %u failed, stopped\n", perf->path->cpu);
}

/* Ends the trace of the event. @flags are PERF_AUX_FLAG_... of its last trace. */
static void ntrace_perf_end(struct ntrace_perf *perf, u64 flags)
{
	struct perf_event *event = perf->event;

	if (ntrace_perf_hw_stop(perf) || perf->path->capture->feed.fault) {
		flags |= PERF_AUX_FLAG_TRUNCATED;
		ntrace_perf_dead(perf);
	}
	/* The last message may still be in a sink that others keep running. */
	if (!perf->path->capture->complete)
		flags |= PERF_AUX_FLAG_PARTIAL;
	ntrace_perf_close(perf, flags);
	perf->event = NULL;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* Makes the encoder send a synchronization, if it traces: it does so when it begins. */
static void ntrace_perf_resync(struct ntrace_perf *perf)
{
	struct ntrace_component *encoder = ntrace_path_encoder(perf->path);

	if (ntrace_read(encoder, TR_TE_CONTROL) & TR_TE_CONTROL_INST_TRACING) {
		ntrace_encoder_pause(encoder);
		ntrace_encoder_trace(encoder);
	}
}

/* Hands over the copied trace when there is enough of it for a wakeup; looks for room if full. */
static void ntrace_perf_turn(struct ntrace_perf *perf)
{
	struct ntrace_perf_own *own = perf->event->hw.addr_filters;
	struct ntrace_feed *feed = &perf->path->capture->feed;
	size_t enough;
	bool full;

	if (perf->aux ? perf->aux->snapshot : !own->full)
		return;
	if (perf->aux) {
		enough = perf->event->attr.aux_watermark ?: perf->aux->size / 4;
		if (feed->head - perf->begin < enough && !feed->overrun)
			return;
	}
	/* Trace that another hart drains meanwhile would be dropped. */
	ntrace_turn_pause(feed, true);
	ntrace_perf_close(perf, 0);
	full = own->full;
	ntrace_perf_open(perf, perf->event);
	ntrace_turn_pause(feed, false);
	if (full && perf->aux)
		ntrace_perf_resync(perf);
}

/* Drains the sink of this hart into an AUX area. */
static enum hrtimer_restart ntrace_perf_timer(struct hrtimer *timer)
{
	struct ntrace_capture *capture = container_of(timer, struct ntrace_capture, feed.timer);
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);
	ktime_t next;

	if (!perf->event || perf->path->capture != capture)
		return HRTIMER_NORESTART;
	next = ntrace_drain_step(&capture->feed);
	ntrace_perf_count(perf);
	if (capture->feed.fault) {
		ntrace_perf_end(perf, 0);
		return HRTIMER_NORESTART;
	}
	ntrace_perf_turn(perf);
	ntrace_drain_rearm(timer, next);
	return HRTIMER_RESTART;
}

/*
 * Another event on this hart overflows, and perf pauses or resumes this one. Interrupts may be on,
 * and the timers must not come between.
 */
static void ntrace_perf_pause(struct perf_event *event, bool pause)
{
	const struct ntrace_perf_event *perf_event = ntrace_perf_event_of(event);
	struct ntrace_perf *perf;
	bool on = true;

	guard(irqsave)();
	perf = this_cpu_ptr(ntrace_perf_harts);
	if (perf->event != event)
		return;
	if (perf_event->strobe_period)
		ntrace_perf_config_phase(perf_event, &on);
	if (pause)
		ntrace_encoder_pause(ntrace_path_encoder(perf->path));
	else if (on)
		ntrace_encoder_trace(ntrace_path_encoder(perf->path));
}

/*
 * Does an event hold the path that perf has on this hart? An event of all CPUs holds the paths that
 * it took when it was opened. Later paths (the hart came online, a component was bound again) are
 * not its own: neither its configuration nor the rights of its owner were checked for their
 * encoders, and they are returned while it is scheduled.
 *
 * ntrace_perf_lose() writes @lost before perf gets another path, in an interrupt to this hart.
 */
static bool ntrace_perf_holds(const struct ntrace_perf *perf, const struct perf_event *event)
{
	const struct ntrace_perf_event *perf_event = ntrace_perf_event_of(event);

	return perf->path && cpumask_test_cpu(perf->path->cpu, &perf_event->cpus) &&
	       perf_event->epoch >= perf->lost;
}

/*
 * May users without CAP_PERFMON use the path of this hart? When no event is traced here, the hart
 * tries its filters: when an event of such a user is opened, until they work; or if one of root is
 * traced then, when it is scheduled, unless they have failed before. Interrupts are off.
 *
 * Return: 0, also if that is not known yet, -EACCES, or another error.
 */
static int ntrace_perf_try_filters(struct ntrace_perf *perf, bool opened)
{
	const struct ntrace_encoder *encoder = &ntrace_path_encoder(perf->path)->encoder;
	struct ntrace_feed *feed = &perf->path->capture->feed;
	int ret;

	if (encoder->filters_work)
		return 0;
	if (perf->event || (encoder->filters_tried && !opened))
		return encoder->filters_tried ? -EACCES : 0;
	ret = ntrace_perf_trial(perf->path);
	/* No event reports what the trial has lost. */
	ntrace_turn_causes(feed);
	perf->end = feed->head;
	perf->programmed = 0;
	return ret;
}

static void ntrace_event_start(struct perf_event *event, int flags)
{
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);
	struct ntrace_path *path = perf->path;

	if (flags & PERF_EF_RESUME) {
		ntrace_perf_pause(event, false);
		return;
	}

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (perf->halted == event)
		perf->halted = NULL;
	/* The path may have been removed or be dead since the event was scheduled last. */
	if (!ntrace_perf_holds(perf, event) || perf->event || path->stale ||
	    path->capture->feed.control->state == NTRACE_STATE_DEAD)
		return;
	if (!ntrace_perf_event_of(event)->privileged && ntrace_perf_try_filters(perf, false))
		return;
	perf_event_addr_filters_sync(event);
	perf->gaps = path->capture->feed.gaps;
	ntrace_perf_open(perf, event);
	perf->event = event;
	if (ntrace_perf_hw_start(perf)) {
		ntrace_perf_dead(perf);
		ntrace_perf_end(perf, PERF_AUX_FLAG_TRUNCATED);
		return;
	}
	event->hw.state = 0;
	/* gtrace's record: once for each AUX area and CPU, after the hardware has started there. */
	if (perf->aux && !cpumask_test_and_set_cpu(path->cpu, &perf->aux->told))
		perf_report_aux_output_id(event, path->cpu);
}

static void ntrace_event_stop(struct perf_event *event, int flags)
{
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);

	if (flags & PERF_EF_PAUSE) {
		ntrace_perf_pause(event, true);
		return;
	}
	if (perf->halted == event)
		perf->halted = NULL;
	if (perf->event == event)
		ntrace_perf_end(perf, 0);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int ntrace_event_add(struct perf_event *event, int flags)
{
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);

	if (!ntrace_perf_holds(perf, event))
		return -ENODEV;
	if (perf->event)
		return -EBUSY;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START) {
		ntrace_event_start(event, 0);
		if (event->hw.state & PERF_HES_STOPPED)
			return -EINVAL;
	}
	/*
	 * If a task follows another one that inherited the same events, perf may leave the events
	 * running and swap their owners. The traces of both tasks would be one piece, without a
	 * mark where the second one begins. No capability of a PMU excludes that, and sched_task()
	 * is not called for PMUs of modules: perf_sched_cb_inc() is not exported. This counter of
	 * struct perf_event_context is what perf itself uses for events that depend on their task.
	 */
	local_inc(&event->ctx->nr_no_switch_fast);
	return 0;
}

static void ntrace_event_del(struct perf_event *event, int flags)
{
	local_dec(&event->ctx->nr_no_switch_fast);
	ntrace_event_stop(event, PERF_EF_UPDATE);
}

/* The timer may be late. Runs on the traced hart, interrupts off. */
static void ntrace_event_read(struct perf_event *event)
{
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);

	if (perf->event != event)
		return;
	ntrace_drain_read(&perf->path->capture->feed);
	ntrace_perf_count(perf);
}

/* Not TRUNCATED: the event of a task goes on when the task is on another hart. */
static void ntrace_perf_halt_here(void *data)
{
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);

	if (perf->event) {
		perf->halted = perf->event;
		ntrace_perf_end(perf, PERF_AUX_FLAG_PARTIAL);
	}
	perf->programmed = 0;
}

/*
 * Stops the trace of the current event, if any: the hart goes offline or to sleep, or the path is
 * removed. perf deschedules the event of an offline hart later, which then does nothing.
 */
static void ntrace_perf_halt(struct ntrace_path *path)
{
	lockdep_assert_held(&path->lock);
	smp_call_function_single(path->cpu, ntrace_perf_halt_here, NULL, 1);
}

static void ntrace_perf_resume_here(void *data)
{
	struct ntrace_perf *perf = this_cpu_ptr(ntrace_perf_harts);

	if (perf->halted)
		ntrace_event_start(perf->halted, 0);
}

/* The system was asleep. perf does not know, and an event that it has scheduled goes on. */
static void ntrace_perf_resume(struct ntrace_path *path)
{
	lockdep_assert_held(&path->lock);
	smp_call_function_single(path->cpu, ntrace_perf_resume_here, NULL, 1);
}

static void ntrace_perf_assign(struct ntrace_perf *perf, struct ntrace_path *path)
{
	perf->path = path;
	perf->halted = NULL;
	perf->programmed = 0;
	perf->end = 0;
}

static void ntrace_perf_assign_here(void *data)
{
	ntrace_perf_halt_here(NULL);
	ntrace_perf_assign(this_cpu_ptr(ntrace_perf_harts), data);
}

/*
 * Gives the path of a CPU to perf, or takes it away if @path is NULL. The path is locked. The
 * caller holds cpus_read_lock(): an offline CPU does not come online and read its state meanwhile.
 */
static void ntrace_perf_set_path(unsigned int cpu, struct ntrace_path *path)
{
	if (smp_call_function_single(cpu, ntrace_perf_assign_here, path, 1))
		ntrace_perf_assign(per_cpu_ptr(ntrace_perf_harts, cpu), path);
}

/* The path is being removed. */
static void ntrace_perf_lose(struct ntrace_path *path)
{
	struct ntrace_perf *perf = per_cpu_ptr(ntrace_perf_harts, path->cpu);

	lockdep_assert_held(&path->lock);
	ntrace_perf_set_path(path->cpu, NULL);
	perf->users = 0;
	perf->lost = ++ntrace_perf_epoch;
}

static const struct ntrace_client ntrace_perf_client = {
	.timer = ntrace_perf_timer,
	.stop = ntrace_perf_halt,
	.resume = ntrace_perf_resume,
	.lose = ntrace_perf_lose,
};

static void ntrace_perf_try_filters_here(void *data)
{
	int *ret = data;

	*ret = ntrace_perf_try_filters(this_cpu_ptr(ntrace_perf_harts), true);
}

static void ntrace_perf_return_path(struct ntrace_path *path)
{
	ntrace_perf_set_path(path->cpu, NULL);
	ntrace_capture_detach(path);
}

/* Gives the path to perf, unless perf has it already. Return: 0 or a negative error. */
static int ntrace_perf_join_path(struct ntrace_path *path, const struct ntrace_config *config,
				 bool privileged)
{
	unsigned int users = per_cpu_ptr(ntrace_perf_harts, path->cpu)->users;
	int ret = 0, tried = 0;

	if (!users) {
		/* A file has it. */
		if (path->capture)
			return -EBUSY;
		ret = ntrace_capture_open(path, config, &ntrace_perf_client, NULL);
		if (ret)
			return ret;
		ntrace_perf_set_path(path->cpu, path);
	}
	/* The events that hold it must be closed first: the next one resets the hardware. */
	if (path->capture->feed.control->state == NTRACE_STATE_DEAD)
		ret = -EIO;
	if (!ret)
		ret = ntrace_path_may_join(path, path->capture, config);
	if (!ret && !privileged)
		ret = smp_call_function_single(path->cpu, ntrace_perf_try_filters_here, &tried, 1);
	ret = ret ?: tried;
	if (ret && !users)
		ntrace_perf_return_path(path);
	return ret;
}

/* Called with the lock of the topology, as everything that creates or removes paths. */
static int ntrace_perf_get_path(struct ntrace_path *path, struct perf_event *event)
{
	struct ntrace_perf_event *perf_event = ntrace_perf_event_of(event);
	const struct ntrace_component *encoder = ntrace_path_encoder(path);
	bool context = perf_event->config.flags & NTRACE_CONFIG_CONTEXT;
	struct ntrace_config config;
	int ret;

	if (event->cpu >= 0 && event->cpu != path->cpu)
		return 0;
	/* perf refuses an event of a CPU beside those of tasks, evicted or not. */
	if (perf_event->privileged && event->hw.target)
		ntrace_topology_evict(path, task_tgid(current));
	guard(cpus_read_lock)();
	guard(mutex)(&path->lock);
	if (path->gone)
		return 0;
	/* An event of all CPUs uses the CPUs that are online. */
	if (!path->cpu_up)
		return event->cpu >= 0 ? -ENODEV : 0;
	if (!ntrace_component_has_memory(ntrace_path_sink(path))) {
		dev_err_ratelimited(&path->dev, "sink has no memory: perf cannot use it\n");
		return -EOPNOTSUPP;
	}
	ret = context ? ntrace_context_start(path->cpu, encoder->encoder.stimulus) : 0;
	if (ret)
		return ret;
	ret = ntrace_perf_config_check(event, encoder, &config);
	if (!ret) {
		ntrace_perf_filter_limit(encoder->encoder.ranges);
		ret = ntrace_perf_join_path(path, &config, perf_event->privileged);
	}
	if (ret) {
		if (context)
			ntrace_context_stop(path->cpu);
		return ret;
	}
	per_cpu_ptr(ntrace_perf_harts, path->cpu)->users++;
	path->capture->privileged += perf_event->privileged;
	perf_event->epoch = ntrace_perf_epoch;
	cpumask_set_cpu(path->cpu, &perf_event->cpus);
	return 0;
}

static void ntrace_perf_put_path(struct ntrace_path *path,
				 const struct ntrace_perf_event *perf_event)
{
	struct ntrace_perf *perf = per_cpu_ptr(ntrace_perf_harts, path->cpu);

	/* Another path may have replaced the one that the event held. */
	if (!cpumask_test_cpu(path->cpu, &perf_event->cpus) || perf_event->epoch < perf->lost)
		return;
	path->capture->privileged -= perf_event->privileged;
	if (--perf->users)
		return;
	guard(cpus_read_lock)();
	guard(mutex)(&path->lock);
	ntrace_perf_return_path(path);
}

/*
 * Not in ntrace_event_destroy(): perf may free an event with the mutex of a context held. The lock
 * of the topology is taken before cpus_read_lock(), under which perf takes that mutex.
 */
static void ntrace_perf_release(struct work_struct *work)
{
	struct ntrace_perf_event *perf_event =
		container_of(work, struct ntrace_perf_event, release);
	struct ntrace_path *path;
	unsigned int cpu;

	mutex_lock(&ntrace_lock);
	list_for_each_entry(path, &ntrace_paths, node)
		ntrace_perf_put_path(path, perf_event);
	mutex_unlock(&ntrace_lock);
	if (perf_event->config.flags & NTRACE_CONFIG_CONTEXT) {
		for_each_cpu(cpu, &perf_event->cpus)
			ntrace_context_stop(cpu);
		ntrace_context_put();
	}
	kfree(perf_event);
}

static void ntrace_event_destroy(struct perf_event *event)
{
	ntrace_perf_own_free(event);
	/* Children hold a reference to their parent. */
	if (!event->parent)
		queue_work(ntrace_release_queue, &ntrace_perf_event_of(event)->release);
}

/* What an event that user space opens has, and those that inherit it share. */
static int ntrace_perf_open_event(struct perf_event *event)
{
	struct ntrace_perf_event *perf_event = kzalloc(sizeof(*perf_event), GFP_KERNEL_ACCOUNT);
	struct ntrace_path *path;
	int ret;

	if (!perf_event)
		return -ENOMEM;
	INIT_WORK(&perf_event->release, ntrace_perf_release);
	perf_event->id = ntrace_perf_new_id();
	perf_event->privileged = perfmon_capable();
	event->pmu_private = perf_event;
	ret = ntrace_perf_config(event, perf_event);
	if (!ret && perf_event->config.flags & NTRACE_CONFIG_CONTEXT)
		ret = ntrace_context_get();
	if (ret) {
		kfree(perf_event);
		return ret;
	}
	/* An event that was closed just now may still hold the path. */
	flush_workqueue(ntrace_release_queue);
	mutex_lock(&ntrace_lock);
	list_for_each_entry(path, &ntrace_paths, node) {
		ret = ntrace_perf_get_path(path, event);
		if (ret)
			break;
	}
	mutex_unlock(&ntrace_lock);
	if (!ret && cpumask_empty(&perf_event->cpus))
		ret = -ENODEV;
	if (ret)
		ntrace_perf_release(&perf_event->release);
	return ret;
}

static int ntrace_event_init(struct perf_event *event)
{
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	/* Whoever opened the parent has the right to its children. */
	ret = event->parent ? 0 : ntrace_perf_config_permit(event);
	if (!ret)
		ret = ntrace_perf_own_alloc(event);
	if (ret)
		return ret;
	if (event->parent)
		event->pmu_private = event->parent->pmu_private;
	else
		ret = ntrace_perf_open_event(event);
	if (ret)
		ntrace_perf_own_free(event);
	else
		event->destroy = ntrace_event_destroy;
	return ret;
}

static struct pmu ntrace_pmu = {
	.module = THIS_MODULE,
	.attr_groups = ntrace_perf_groups,
	/* One event per CPU; the second one gets EBUSY. */
	.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_AUX_PAUSE,
	/* With a hardware context perf would hold the mutex of a context in event_init(). */
	.task_ctx_nr = perf_sw_context,
	.event_init = ntrace_event_init,
	.add = ntrace_event_add,
	.del = ntrace_event_del,
	.start = ntrace_event_start,
	.stop = ntrace_event_stop,
	.read = ntrace_event_read,
	.nr_addr_filters = NTRACE_RANGES_MAX,
	.addr_filters_validate = ntrace_perf_filter_validate,
	.addr_filters_sync = ntrace_perf_filter_sync,
	.setup_aux = ntrace_perf_setup_aux,
	.free_aux = ntrace_perf_free_aux,
};

/* Registers the PMU. Return: 0, -ENOMEM or the error of perf_pmu_register(). */
int __init ntrace_perf_init(void)
{
	int ret = -ENOMEM;
	int cpu;

	ntrace_perf_harts = alloc_percpu(struct ntrace_perf);
	if (!ntrace_perf_harts)
		return ret;
	for_each_possible_cpu(cpu)
		hrtimer_setup(&per_cpu_ptr(ntrace_perf_harts, cpu)->strobe, ntrace_perf_strobe,
			      CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	ntrace_release_queue = alloc_workqueue("ntrace", WQ_UNBOUND, 0);
	if (!ntrace_release_queue)
		goto harts;
	ret = perf_pmu_register(&ntrace_pmu, "ntrace", -1);
	if (!ret)
		return 0;
	destroy_workqueue(ntrace_release_queue);
harts:
	free_percpu(ntrace_perf_harts);
	return ret;
}

/** ntrace_perf_exit - undo ntrace_perf_init(); events hold the module, so there are none left */
void ntrace_perf_exit(void)
{
	perf_pmu_unregister(&ntrace_pmu);
	destroy_workqueue(ntrace_release_queue);
	free_percpu(ntrace_perf_harts);
}
