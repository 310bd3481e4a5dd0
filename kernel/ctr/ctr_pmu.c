// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU "ctr".
 *
 * Branch stacks belong to the PMU whose counter overflows. This is the kernel's
 * "cpu" PMU, which refuses them, and a module can neither replace it nor call
 * perf_event_overflow(). An event of the PMU "ctr" therefore has an in-kernel counter
 * of the "cpu" PMU with the user's event, period and exclusions.
 *
 * perf never enables this counter: it would count, and interrupt, while the event is
 * disabled. Instead, the functions of the PMU "ctr" call those of the "cpu" PMU for
 * the counter, so that it is on the hart exactly when the event is. Children inherit
 * the counter together with the event, so each context has one of both.
 *
 * An overflow of the counter must become one of the event, with all that
 * perf_event_overflow() does: throttling, PERF_EVENT_IOC_REFRESH, frequencies. The only
 * exported function that calls it for an event of the caller's choice is
 * perf_tp_event(), for tracepoints. The event's overflow handler then adds the branch
 * stack to the sample. Events without branch stacks, and without samples, work in the same
 * way: tools open them in the group of an event with both.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/trace_events.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "ctr.h"

/* Fields of perf_event_attr, see ctr_format_attrs. */
#define CTR_CONFIG_HARDWARE	0xffULL
#define CTR_CONFIG_RAW		BIT_ULL(8)
#define CTR_CONFIG2_DEPTH	0x1ffULL

/* Maximum number of destroyed events whose counters are not released yet. */
#define CTR_RELEASE_MAX		32

/* Value of hw_perf_event.interrupts of a throttled event. */
#define CTR_INTERRUPTS_MAX	(~0ULL)

static struct workqueue_struct *ctr_workqueue;
static atomic_t ctr_releasing;

/* Adds what the counter has counted to @event. */
static void ctr_update(struct perf_event *event)
{
	u64 count = local64_read(&ctr_event_of(event)->counter->count);

	local64_add(count - local64_read(&event->hw.prev_count), &event->count);
	local64_set(&event->hw.prev_count, count);
}

/*
 * Whether perf_tp_event() can throttle @event. It throttles an event that overflows a
 * second time in one call, unless samples have the period. An event with a frequency
 * needs no throttling.
 */
static bool ctr_throttles(const struct perf_event *event)
{
	return !event->attr.freq && !(event->attr.sample_type & PERF_SAMPLE_PERIOD) &&
	       event->hw.sample_period > 1;
}

/*
 * Makes @event overflow: calls perf_event_overflow(), as far as a module can.
 * perf_tp_event() counts @period. If the event can be throttled, it overflows twice: the
 * first time for nothing, see ctr_output().
 */
static void ctr_event_overflow(struct perf_event *event, struct pt_regs *regs, u64 period)
{
	struct ctr_event *ctr_event = ctr_event_of(event);
	struct hw_perf_event *hw = &event->hw;
	struct hlist_head head = HLIST_HEAD_INIT;
	struct trace_entry record = {};
	int context;

	ctr_update(event);
	/* Throttled until the next tick. */
	if (hw->interrupts == CTR_INTERRUPTS_MAX)
		return;
	context = perf_swevent_get_recursion_context();
	if (context < 0)
		return;
	local64_sub(period, &event->count);
	hw->last_period = period;
	ctr_event->skip = ctr_throttles(event);
	local64_set(&hw->period_left, ctr_event->skip ? 0 : -period);
	if (ctr_event->skip && hw->interrupts)
		hw->interrupts--;
	if (ctr_event->skip && atomic_read(&event->event_limit))
		atomic_inc(&event->event_limit);
	/* The list is local, and the hart is in an interrupt: there are no other readers. */
	hlist_add_head(&event->hlist_entry, &head);
	perf_tp_event(0, period, &record, sizeof(record), regs, &head, context, NULL);
	hlist_del_init(&event->hlist_entry);
}

/*
 * Overflow handler of the counters, in hard interrupt context. Children have their
 * own counters with the same handler.
 */
static void ctr_overflow(struct perf_event *counter, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	struct perf_event *event = this_cpu_ptr(ctr_cpus)->events;

	/* Hooked events of the cpu PMU have no such counter. */
	while (event && ctr_event_of(event)->counter != counter)
		event = ctr_event_of(event)->next;
	/* perf does not schedule the counter and would not end its throttling. */
	counter->hw.interrupts = 0;
	/* An overflow that was pending when the event was stopped; counters that wrap. */
	if (!event || event->hw.state & PERF_HES_STOPPED || !is_sampling_event(event))
		return;
	if (!ctr_ring_skidded(event, regs))
		ctr_event_overflow(event, regs, data->period);
	/* perf may have adjusted the period to the frequency. */
	counter->hw.sample_period = event->hw.sample_period;
}

/* Overflow handler of the events. */
static void ctr_output(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct ctr_event *ctr_event = ctr_event_of(event);

	if (ctr_event->skip) {
		ctr_event->skip = false;
		return;
	}
	if (ctr_event->filter.control)
		ctr_ring_fill(event, data);
	ctr_event->output(event, data, regs);
	ctr_ring_sampled();
}

/*
 * Not in ctr_event_destroy(): perf may free an event while it holds the mutex of a
 * context that the release needs (the last child exits while the parent is closed),
 * or the mmap lock.
 */
static void ctr_event_release(struct work_struct *work)
{
	struct ctr_event *ctr_event = container_of(work, struct ctr_event, release);

	/* Children have gone, and their counters go with this one. */
	perf_event_release_kernel(ctr_event->counter);
	ctr_ring_users_put(&ctr_event->filter);
	kfree(ctr_event);
	atomic_dec(&ctr_releasing);
}

static void ctr_event_destroy(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event);

	ctr_ring_close(event);
	if (event->parent) {
		kfree(ctr_event);
		return;
	}
	atomic_inc(&ctr_releasing);
	queue_work(ctr_workqueue, &ctr_event->release);
}

/* Creates the counter for @event. */
static struct perf_event *ctr_counter_create(struct perf_event *event, struct ctr_event *ctr_event)
{
	const struct perf_event_attr *user = &event->attr;
	bool raw = user->config & CTR_CONFIG_RAW;
	struct perf_event_attr attr = {
		.type = raw ? PERF_TYPE_RAW : PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = raw ? user->config1 : user->config & CTR_CONFIG_HARDWARE,
		/* perf adjusts the period of an event with a frequency, see ctr_start(). */
		.sample_period = event->hw.sample_period,
		.disabled = 1,
		.inherit = user->inherit,
		.inherit_thread = user->inherit_thread,
		.exclude_user = user->exclude_user,
		.exclude_kernel = user->exclude_kernel,
		.exclude_hv = user->exclude_hv,
		.exclude_idle = user->exclude_idle,
		.exclude_guest = user->exclude_guest,
	};
	struct perf_event *counter;

	counter = perf_event_create_kernel_counter(&attr, event->cpu, event->hw.target,
						   ctr_overflow, ctr_event);
	/* The "cpu" PMU lacks the event; -ENOENT from here would make perf try other PMUs. */
	if (counter == ERR_PTR(-ENOENT))
		return ERR_PTR(-EOPNOTSUPP);
	/* Without Sscofpmf counters do not interrupt; perf checks this for user events only. */
	if (!IS_ERR(counter) && counter->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT) {
		perf_event_release_kernel(counter);
		return ERR_PTR(-EOPNOTSUPP);
	}
	return counter;
}

/* Refuses unsupported attributes. */
static int ctr_event_check(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	/* The tracepoint function of perf that delivers samples does not have these. */
	if (attr->sigtrap || attr->aux_output || attr->aux_action || attr->precise_ip ||
	    attr->sample_type & PERF_SAMPLE_RAW)
		return ctr_refuse(-EOPNOTSUPP,
				  "the PMU ctr has no sigtrap, AUX, precise and raw data");
	if (attr->config & ~(CTR_CONFIG_HARDWARE | CTR_CONFIG_RAW) ||
	    attr->config2 & ~CTR_CONFIG2_DEPTH || attr->config3 ||
	    (!(attr->config & CTR_CONFIG_RAW) && attr->config1))
		return ctr_refuse(-EINVAL, "the event has unknown bits, or raw= without israw");
	/*
	 * Harts without CTR are not refused: perf opens an event on each hart, for a
	 * task as well. The event stays inactive there, see ctr_ring_begin().
	 */
	return 0;
}

/*
 * Initializes a child of an existing event. perf holds the mutex of the parent's
 * context, so no counter can be created here; the child inherits the parent's counter.
 */
static int ctr_event_inherit(struct perf_event *event)
{
	const struct ctr_event *parent = ctr_event_of(event->parent);
	struct ctr_event *ctr_event = kmemdup(parent, sizeof(*parent), GFP_KERNEL_ACCOUNT);

	if (!ctr_event)
		return -ENOMEM;
	/* perf may not have created it yet, see ctr_counter(). */
	ctr_event->counter = NULL;
	event->pmu_private = ctr_event;
	event->destroy = ctr_event_destroy;
	return 0;
}

/*
 * The credentials that ptrace_may_access() wants; modules cannot call it. perf_event_open()
 * calls it later and refuses the rest, such as a task that is not dumpable.
 */
static bool ctr_may_trace_task(struct task_struct *task)
{
	const struct cred *own = current_cred(), *other;

	if (same_thread_group(task, current))
		return true;
	guard(rcu)();
	other = __task_cred(task);
	if (uid_eq(own->uid, other->uid) && uid_eq(own->uid, other->euid) &&
	    uid_eq(own->uid, other->suid) && gid_eq(own->gid, other->gid) &&
	    gid_eq(own->gid, other->egid) && gid_eq(own->gid, other->sgid))
		return true;
	return ns_capable(other->user_ns, CAP_SYS_PTRACE);
}

/*
 * perf_event_open() checks the rights to a CPU or to another task only after event_init(),
 * which creates a counter: a caller without them could take counters from others.
 *
 * Return: 0 or -EACCES.
 */
static int ctr_event_permit(struct perf_event *event)
{
	if (perfmon_capable())
		return 0;
	if (event->hw.target)
		return ctr_may_trace_task(event->hw.target) ? 0 : -EACCES;
	/*
	 * CPUs need perf_event_paranoid below 1. Modules cannot read it; this check fails
	 * from 2 on, the default of the kernel.
	 */
	return ctr_allow_kernel(event);
}

static int ctr_event_create(struct perf_event *event, const struct ctr_filter *filter)
{
	struct ctr_event *ctr_event;
	int ret;

	ctr_event = kzalloc(sizeof(*ctr_event), GFP_KERNEL_ACCOUNT);
	if (!ctr_event)
		return -ENOMEM;
	ctr_event->filter = *filter;
	ctr_event->depth = ctr_event_depth(event, filter, event->attr.config2);
	INIT_WORK(&ctr_event->release, ctr_event_release);
	event->pmu_private = ctr_event;
	ret = ctr_ring_users_get(filter);
	if (ret)
		goto free;
	ret = ctr_ring_open(event);
	if (ret)
		goto users;
	ctr_event->counter = ctr_counter_create(event, ctr_event);
	if (IS_ERR(ctr_event->counter)) {
		ret = PTR_ERR(ctr_event->counter);
		goto close;
	}
	ctr_event->output = event->overflow_handler;
	event->overflow_handler = ctr_output;
	event->destroy = ctr_event_destroy;
	return 0;

close:
	ctr_ring_close(event);
users:
	ctr_ring_users_put(filter);
free:
	kfree(ctr_event);
	return ret;
}

static int ctr_event_init(struct perf_event *event)
{
	struct ctr_filter filter;
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->parent)
		return ctr_event_inherit(event);
	ret = ctr_event_permit(event) ?: ctr_event_check(event) ?: ctr_event_filter(event, &filter);
	if (ret)
		return ret;
	/* If events are created faster than counters are released, wait for the release. */
	if (atomic_read(&ctr_releasing) >= CTR_RELEASE_MAX)
		flush_workqueue(ctr_workqueue);
	return ctr_event_create(event, &filter);
}

/*
 * The counter of an event: it has the same context. perf calls add() with the context
 * locked, and frees the counter after it has removed the event from the hart.
 */
static struct perf_event *ctr_counter(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event);
	struct perf_event *counter;

	lockdep_assert_held(&event->ctx->lock);
	if (ctr_event->counter)
		return ctr_event->counter;
	list_for_each_entry(counter, &event->ctx->event_list, event_entry) {
		if (counter->overflow_handler == ctr_overflow &&
		    counter->overflow_handler_context == ctr_event_of(event->parent)) {
			ctr_event->counter = counter;
			return counter;
		}
	}
	return NULL;
}

/*
 * The ring records on while an event is stopped: perf stops and starts events at each
 * tick to adjust frequencies, and each write of sctrctl invalidates the cycles of a
 * record. Only the counter stops.
 */
static void ctr_start(struct perf_event *event, int flags)
{
	struct perf_event *counter = ctr_event_of(event)->counter;

	/* perf adjusts the period to the frequency, or PERF_EVENT_IOC_PERIOD has changed it. */
	if (is_sampling_event(event) && counter->hw.sample_period != event->hw.sample_period) {
		counter->hw.sample_period = event->hw.sample_period;
		local64_set(&counter->hw.period_left, 0);
	}
	event->hw.state = 0;
	/* The interrupt handler of the "cpu" PMU restarts counters that were stopped in it. */
	if (counter->hw.state & PERF_HES_STOPPED)
		counter->pmu->start(counter, PERF_EF_RELOAD);
}

static void ctr_stop(struct perf_event *event, int flags)
{
	struct perf_event *counter = ctr_event_of(event)->counter;

	if (!(counter->hw.state & PERF_HES_STOPPED))
		counter->pmu->stop(counter, PERF_EF_UPDATE);
	ctr_update(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int ctr_add(struct perf_event *event, int flags)
{
	struct perf_event *counter = ctr_counter(event);
	int ret;

	if (!counter)
		return -ENOENT;
	ret = ctr_ring_begin(event);
	if (ret)
		return ret;
	ret = counter->pmu->add(counter, 0);
	if (ret) {
		ctr_ring_end(event);
		return ret;
	}
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		ctr_start(event, PERF_EF_RELOAD);
	return 0;
}

static void ctr_del(struct perf_event *event, int flags)
{
	struct perf_event *counter = ctr_event_of(event)->counter;

	ctr_stop(event, PERF_EF_UPDATE);
	counter->pmu->del(counter, 0);
	ctr_ring_end(event);
}

static void ctr_read(struct perf_event *event)
{
	struct perf_event *counter = ctr_event_of(event)->counter;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	counter->pmu->read(counter);
	ctr_update(event);
}

PMU_FORMAT_ATTR(hw, "config:0-7");
PMU_FORMAT_ATTR(israw, "config:8");
PMU_FORMAT_ATTR(raw, "config1:0-63");
PMU_FORMAT_ATTR(depth, "config2:0-8");

static struct attribute *ctr_format_attrs[] = {
	&format_attr_hw.attr,
	&format_attr_israw.attr,
	&format_attr_raw.attr,
	&format_attr_depth.attr,
	NULL,
};

static const struct attribute_group ctr_format_group = {
	.name = "format",
	.attrs = ctr_format_attrs,
};

/*
 * Not the names of the cpu PMU: the perf tool tries an event without a PMU name on all
 * PMUs that have it, and "perf stat -e cycles" is about the cpu PMU alone.
 */
#define CTR_EVENT_ATTR(name, id) PMU_EVENT_ATTR_STRING(name, ctr_event_##id, "hw=" __stringify(id))

/* clang-format would put spaces around the hyphens of the names. */
/* clang-format off */
CTR_EVENT_ATTR(by-cycles, 0x0);
CTR_EVENT_ATTR(by-instructions, 0x1);
CTR_EVENT_ATTR(by-cache-references, 0x2);
CTR_EVENT_ATTR(by-cache-misses, 0x3);
CTR_EVENT_ATTR(by-branches, 0x4);
CTR_EVENT_ATTR(by-branch-misses, 0x5);
CTR_EVENT_ATTR(by-stalled-cycles-frontend, 0x7);
CTR_EVENT_ATTR(by-stalled-cycles-backend, 0x8);
/* clang-format on */

static struct attribute *ctr_event_attrs[] = {
	&ctr_event_0x0.attr.attr, &ctr_event_0x1.attr.attr, &ctr_event_0x2.attr.attr,
	&ctr_event_0x3.attr.attr, &ctr_event_0x4.attr.attr, &ctr_event_0x5.attr.attr,
	&ctr_event_0x7.attr.attr, &ctr_event_0x8.attr.attr, NULL,
};

static const struct attribute_group ctr_events_group = {
	.name = "events",
	.attrs = ctr_event_attrs,
};

static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%u\n", ctr_depth());
}
static DEVICE_ATTR_RO(branches);

static ssize_t sctrctl_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%#llx\n", ctr_caps.control);
}
static DEVICE_ATTR_RO(sctrctl);

#define CTR_CAPS_ATTR(name)                                                                        \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr,              \
				   char *buffer)                                                   \
	{                                                                                          \
		return sysfs_emit(buffer, "%u\n", ctr_caps.name);                                  \
	}                                                                                          \
	static DEVICE_ATTR_RO(name)

CTR_CAPS_ATTR(type);
CTR_CAPS_ATTR(mispredict);
CTR_CAPS_ATTR(cycles);

static struct attribute *ctr_caps_attrs[] = {
	&dev_attr_branches.attr,   &dev_attr_sctrctl.attr, &dev_attr_type.attr,
	&dev_attr_mispredict.attr, &dev_attr_cycles.attr,  NULL,
};

/* Also in the directory of the cpu PMU, with hook=1. */
const struct attribute_group ctr_caps_group = {
	.name = "caps",
	.attrs = ctr_caps_attrs,
};

static const struct attribute_group *ctr_groups[] = {
	&ctr_format_group,
	&ctr_events_group,
	&ctr_caps_group,
	NULL,
};

static struct pmu ctr_pmu = {
	.module = THIS_MODULE,
	.attr_groups = ctr_groups,
	/*
	 * With a hardware context, perf would hold the mutex of a group leader's context
	 * during event_init().
	 */
	.task_ctx_nr = perf_sw_context,
	.event_init = ctr_event_init,
	.add = ctr_add,
	.del = ctr_del,
	.start = ctr_start,
	.stop = ctr_stop,
	.read = ctr_read,
};

/**
 * ctr_pmu_init() - register the PMU, after the harts are set up
 *
 * Return: 0, -ENOMEM or an error of perf_pmu_register().
 */
int ctr_pmu_init(void)
{
	int ret;

	ctr_workqueue = alloc_workqueue("riscv_ctr", WQ_UNBOUND, 0);
	if (!ctr_workqueue)
		return -ENOMEM;
	ret = perf_pmu_register(&ctr_pmu, "ctr", -1);
	if (ret)
		destroy_workqueue(ctr_workqueue);
	return ret;
}

/** ctr_pmu_exit() - unregister the PMU; no events exist, because they hold the module */
void ctr_pmu_exit(void)
{
	perf_pmu_unregister(&ctr_pmu);
	destroy_workqueue(ctr_workqueue);
}
