// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU "ctr".
 *
 * Branch stacks belong to the PMU whose counter overflows. This is the kernel's
 * "cpu" PMU, which refuses them, and a module can neither replace it nor call
 * perf_event_overflow(). An event of the PMU "ctr" therefore does not count. It
 * creates an in-kernel counter of the "cpu" PMU with the user's event, period and
 * exclusions. When the counter overflows, its handler reads the ring and passes the
 * sample to the output function of the user's event.
 *
 * Children inherit the counter together with the event, so each context has one of
 * both. The counter counts as long as it exists. There is a sample only while the
 * event is scheduled on this hart, so only the event is enabled and disabled, also
 * at exec.
 *
 * A hart has one ring, and the recording of a task would empty it for a recording of
 * the hart. The PMU is therefore exclusive: the second event gets EBUSY.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "ctr.h"

/* Fields of perf_event_attr, see ctr_format_attrs. */
#define CTR_CONFIG_HARDWARE	0xffULL
#define CTR_CONFIG_RAW		BIT_ULL(8)
#define CTR_CONFIG2_DEPTH	0x1ffULL

/* Maximum number of destroyed events whose counters are not released yet. */
#define CTR_RELEASE_MAX		32

static struct workqueue_struct *ctr_workqueue;
static atomic_t ctr_releasing;

/*
 * Overflow handler of the counters, in hard interrupt context. Children have their
 * own counters with the same handler context.
 */
static void ctr_overflow(struct perf_event *counter, struct perf_sample_data *unused,
			 struct pt_regs *regs)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	struct perf_event *event = cpu->owner;
	struct perf_sample_data data;

	/* The event is disabled or not scheduled here, or another event is. */
	if (!event || ctr_event_of(event) != counter->overflow_handler_context ||
	    event->hw.state & PERF_HES_STOPPED)
		return;
	local64_add(counter->hw.last_period, &event->count);
	/* The interrupt comes some instructions late; perf does not check the privilege. */
	if (!regs || (event->attr.exclude_kernel && !user_mode(regs)) ||
	    (event->attr.exclude_user && user_mode(regs))) {
		cpu->skidded++;
		return;
	}
	perf_sample_data_init(&data, 0, counter->hw.last_period);
	ctr_ring_fill(event);
	perf_sample_save_brstack(&data, event, (struct perf_branch_stack *)&cpu->stack, NULL);
	cpu->samples++;
	event->pending_kill = POLL_IN;
	READ_ONCE(event->overflow_handler)(event, &data, regs);
}

/*
 * Not in ctr_event_destroy(): perf may free an event while it holds the mutex of a
 * context that the release needs (the last child exits while the parent is closed),
 * or the mmap lock.
 */
static void ctr_event_release(struct work_struct *work)
{
	struct ctr_event *ctr_event = container_of(work, struct ctr_event, release);

	perf_event_release_kernel(ctr_event->counter);
	ctr_ring_users_put(ctr_event->filter.kernel);
	kfree(ctr_event);
	atomic_dec(&ctr_releasing);
}

static void ctr_event_destroy(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event);

	if (ctr_event->filter.stack && event->hw.target)
		ctr_ring_slot_put(event->hw.target);
	if (event->parent)
		return;
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
		.sample_period = user->sample_period, /* or the frequency: a union */
		.freq = user->freq,
		.inherit = user->inherit,
		.inherit_thread = user->inherit_thread,
		.pinned = user->pinned,
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

	/* Only samples have branch stacks. */
	if (!attr->sample_period)
		return -EOPNOTSUPP;
	if (!has_branch_stack(event))
		return -EINVAL;
	/*
	 * A group member would be sampled by its own counter, and not together with
	 * the leader. An event of this PMU can be the leader.
	 */
	if (event->group_leader != event)
		return -EINVAL;
	/* perf_event_overflow() implements these, and it is called for the counter only. */
	if (attr->sigtrap || attr->aux_output || attr->aux_action)
		return -EOPNOTSUPP;
	/* Guests have their own CTR registers, which stay disabled. */
	if (attr->exclude_host || attr->precise_ip)
		return -EOPNOTSUPP;
	if (attr->config & ~(CTR_CONFIG_HARDWARE | CTR_CONFIG_RAW) ||
	    attr->config2 & ~CTR_CONFIG2_DEPTH || attr->config2 > ctr_depth())
		return -EINVAL;
	if (!(attr->config & CTR_CONFIG_RAW) && attr->config1)
		return -EINVAL;
	/*
	 * Harts without CTR are not refused: perf opens an event on each hart, for a
	 * task as well. The event stays inactive there, see ctr_ring_begin().
	 */
	return 0;
}

static unsigned int ctr_event_depth(const struct perf_event_attr *attr)
{
	unsigned int depth = attr->config2 ?: ctr_depth();

	/* Newer kernels and the perf tool truncate longer stacks. */
	return attr->sample_max_stack ? min_t(unsigned int, depth, attr->sample_max_stack) : depth;
}

/*
 * Initializes a child of an existing event. perf holds the mutex of the parent's
 * context, so no counter can be created here; the child inherits the parent's counter.
 */
static int ctr_event_inherit(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event->parent);
	int ret = 0;

	event->pmu_private = ctr_event;
	if (ctr_event->filter.stack && event->hw.target)
		ret = ctr_ring_slot_get(event->hw.target);
	if (!ret)
		event->destroy = ctr_event_destroy;
	return ret;
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
	ctr_event->depth = ctr_event_depth(&event->attr);
	INIT_WORK(&ctr_event->release, ctr_event_release);
	if (filter->stack && event->hw.target) {
		ret = ctr_ring_slot_get(event->hw.target);
		if (ret)
			goto free;
	}
	ret = ctr_ring_users_get(filter->kernel);
	if (ret)
		goto slot;
	ctr_event->counter = ctr_counter_create(event, ctr_event);
	if (IS_ERR(ctr_event->counter)) {
		ret = PTR_ERR(ctr_event->counter);
		goto users;
	}
	event->pmu_private = ctr_event;
	event->destroy = ctr_event_destroy;
	return 0;

users:
	ctr_ring_users_put(filter->kernel);
slot:
	if (filter->stack && event->hw.target)
		ctr_ring_slot_put(event->hw.target);
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
	ret = ctr_event_permit(event) ?: ctr_event_check(event);
	if (ret)
		return ret;
	ret = ctr_filter_init(&filter, event->attr.branch_sample_type, &ctr_caps);
	if (ret)
		return ret;
	/* If events are created faster than counters are released, wait for the release. */
	if (atomic_read(&ctr_releasing) >= CTR_RELEASE_MAX)
		flush_workqueue(ctr_workqueue);
	return ctr_event_create(event, &filter);
}

/*
 * Recording continues while an event is stopped: perf stops and starts events at each
 * tick to adjust frequencies, and each write of sctrctl invalidates the cycles of a
 * record. A stopped event only takes no samples.
 */
static void ctr_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
}

static void ctr_stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int ctr_add(struct perf_event *event, int flags)
{
	int ret;

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	ret = ctr_ring_begin(event);
	if (!ret && flags & PERF_EF_START)
		ctr_start(event, PERF_EF_RELOAD);
	return ret;
}

static void ctr_del(struct perf_event *event, int flags)
{
	ctr_stop(event, PERF_EF_UPDATE);
	ctr_ring_end(event);
}

/* Nothing to read: ctr_overflow() adds up the periods. */
static void ctr_read(struct perf_event *event)
{
}

/*
 * The period belongs to the counter. perf holds the mutex of the event's context here;
 * the counter may be in the same context, and perf_event_period() would take the mutex
 * again.
 */
static int ctr_check_period(struct perf_event *event, u64 value)
{
	return -EOPNOTSUPP;
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

#define CTR_EVENT_ATTR(name, id) PMU_EVENT_ATTR_STRING(name, ctr_event_##id, "hw=" __stringify(id))

/* clang-format would put spaces around the hyphens of the names. */
/* clang-format off */
CTR_EVENT_ATTR(cycles, 0x0);
CTR_EVENT_ATTR(instructions, 0x1);
CTR_EVENT_ATTR(cache-references, 0x2);
CTR_EVENT_ATTR(cache-misses, 0x3);
CTR_EVENT_ATTR(branches, 0x4);
CTR_EVENT_ATTR(branch-misses, 0x5);
CTR_EVENT_ATTR(stalled-cycles-frontend, 0x7);
CTR_EVENT_ATTR(stalled-cycles-backend, 0x8);
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

static const struct attribute_group ctr_caps_group = {
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
	.capabilities = PERF_PMU_CAP_EXCLUSIVE,
	/*
	 * Events do not count, so an event can always be scheduled. With a hardware
	 * context, perf would hold the mutex of a group leader's context during
	 * event_init().
	 */
	.task_ctx_nr = perf_sw_context,
	.event_init = ctr_event_init,
	.add = ctr_add,
	.del = ctr_del,
	.start = ctr_start,
	.stop = ctr_stop,
	.read = ctr_read,
	.check_period = ctr_check_period,
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
