// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch stacks for the events of the kernel's own cpu PMU, so that
 * "perf record -b" works as it is typed. Only with the parameter hook=1.
 *
 * This changes functions of another driver's struct pmu. What makes it safe:
 *  - The module stays loaded from then on: any hart may be about to call one of
 *    our functions, and nothing says when it no longer is.
 *  - What the functions see may have been there before them: an event is ours if
 *    its destroy function is. All others go through to the cpu PMU untouched.
 *  - event_init is replaced last, so that an event of ours finds all of them.
 *  - The tracepoints are taken once. event_init may be called with the mutex of a
 *    context held, where hotplug must not be locked out.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "ctr.h"

/* The cpu PMU, and what its functions were. */
static struct pmu *ctr_hook_pmu;
static int (*ctr_hook_event_init)(struct perf_event *event);
static int (*ctr_hook_add)(struct perf_event *event, int flags);
static void (*ctr_hook_del)(struct perf_event *event, int flags);

static void ctr_hook_overflow(struct perf_event *event, struct perf_sample_data *data,
			      struct pt_regs *regs)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

	if (event->attr.exclude_kernel && !user_mode(regs)) {
		cpu->skidded++;
		return;
	}
	if (cpu->owner == event) {
		ctr_ring_fill(event);
		perf_sample_save_brstack(data, event, (struct perf_branch_stack *)&cpu->stack,
					 NULL);
		cpu->samples++;
	}
	ctr_event_of(event)->output(event, data, regs);
}

static void ctr_hook_destroy(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event);

	if (ctr_event->filter.stack && event->hw.target)
		ctr_ring_slot_put(event->hw.target);
	if (ctr_event->destroy)
		ctr_event->destroy(event);
	kfree(ctr_event);
}

static bool ctr_hooked(const struct perf_event *event)
{
	return event->destroy == ctr_hook_destroy;
}

/* The cpu PMU has accepted @event without its branch stack. */
static int ctr_hook_attach(struct perf_event *event)
{
	struct ctr_event *ctr_event = kzalloc(sizeof(*ctr_event), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!ctr_event)
		goto destroy;
	ret = ctr_filter_init(&ctr_event->filter, event->attr.branch_sample_type, &ctr_caps);
	if (!ret && ctr_event->filter.stack && event->hw.target)
		ret = ctr_ring_slot_get(event->hw.target);
	if (ret)
		goto free;
	ctr_event->depth = min_not_zero(ctr_depth(), (unsigned int)event->attr.sample_max_stack);
	/* A child comes with the handler of its parent, which is ours. */
	ctr_event->output = event->parent ? ctr_event_of(event->parent)->output :
					    event->overflow_handler;
	ctr_event->destroy = event->destroy;
	event->pmu_private = ctr_event;
	event->overflow_handler = ctr_hook_overflow;
	event->destroy = ctr_hook_destroy;
	return 0;

free:
	kfree(ctr_event);
destroy:
	if (event->destroy)
		event->destroy(event);
	event->destroy = NULL;
	return ret;
}

static int ctr_hooked_event_init(struct perf_event *event)
{
	u64 sample_type = event->attr.sample_type;
	int ret;

	/* Counters have no samples, and the cpu PMU says itself what it thinks of them. */
	if (!has_branch_stack(event) || !event->attr.sample_period)
		return ctr_hook_event_init(event);
	event->attr.sample_type &= ~(u64)PERF_SAMPLE_BRANCH_STACK;
	ret = ctr_hook_event_init(event);
	event->attr.sample_type = sample_type;
	return ret ?: ctr_hook_attach(event);
}

/*
 * A hart that has an owner refuses a second one, and perf lets the two take
 * turns, which shows as less time running than enabled.
 */
static int ctr_hooked_add(struct perf_event *event, int flags)
{
	int ret;

	if (!ctr_hooked(event))
		return ctr_hook_add(event, flags);
	ret = ctr_ring_begin(event);
	if (ret)
		return ret;
	ret = ctr_hook_add(event, flags);
	if (ret)
		ctr_ring_end(event);
	return ret;
}

static void ctr_hooked_del(struct perf_event *event, int flags)
{
	ctr_hook_del(event, flags);
	if (ctr_hooked(event))
		ctr_ring_end(event);
}

/**
 * ctr_hook_init() - give the cpu PMU branch stacks, for ever
 *
 * Return: 0; -EOPNOTSUPP if there is no PMU for the generic event "cycles" that
 * interrupts; errors of perf_event_create_kernel_counter() and
 * tracepoint_probe_register().
 */
int ctr_hook_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.disabled = 1,
	};
	struct perf_event *event;
	struct pmu *pmu;
	int ret;

	/* Nothing but one of its events leads to a PMU. */
	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	pmu = event->pmu;
	perf_event_release_kernel(event);
	if (pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT || pmu->type != PERF_TYPE_RAW)
		return -EOPNOTSUPP;
	ret = ctr_ring_users_get(true);
	if (ret)
		return ret;
	__module_get(THIS_MODULE);
	ctr_hook_pmu = pmu;
	ctr_hook_event_init = pmu->event_init;
	ctr_hook_add = pmu->add;
	ctr_hook_del = pmu->del;
	/* What ours call is there before they are, and event_init comes last. */
	smp_wmb();
	WRITE_ONCE(pmu->add, ctr_hooked_add);
	WRITE_ONCE(pmu->del, ctr_hooked_del);
	smp_wmb(); /* see above */
	WRITE_ONCE(pmu->event_init, ctr_hooked_event_init);
	pr_warn("hook=1: branch stacks for the PMU \"%s\", until reboot\n", pmu->name);
	return 0;
}
