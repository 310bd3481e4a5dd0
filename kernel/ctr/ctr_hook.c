// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch stacks for the events of the kernel's own cpu PMU, so that
 * "perf record -b" works unchanged. Only with the parameter hook=1.
 *
 * This replaces functions in another driver's struct pmu. It is safe because:
 *  - The module stays loaded: any hart may be about to call one of the new
 *    functions, and nothing shows when it no longer is.
 *  - Events may be older than the replacement: an event is ours if its destroy
 *    function is ctr_hook_destroy. All others are passed to the cpu PMU unchanged.
 *  - event_init is replaced last, so that each of our events finds all functions.
 *  - The tracepoints are registered once, in advance. event_init may run with the
 *    mutex of a context held, where taking the hotplug lock could deadlock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>

#include "ctr.h"

/* The cpu PMU and its original functions. */
static struct pmu *ctr_hook_pmu;
static int (*ctr_hook_event_init)(struct perf_event *event);
static int (*ctr_hook_add)(struct perf_event *event, int flags);
static void (*ctr_hook_del)(struct perf_event *event, int flags);

static void ctr_hook_overflow(struct perf_event *event, struct perf_sample_data *data,
			      struct pt_regs *regs)
{
	bool scheduled = ctr_ring_has(this_cpu_ptr(ctr_cpus), event);

	if (ctr_ring_skidded(event, regs))
		return;
	if (scheduled)
		ctr_ring_fill(event, data);
	ctr_event_of(event)->output(event, data, regs);
	if (scheduled)
		ctr_ring_sampled();
}

static void ctr_hook_destroy(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event);

	ctr_ring_close(event);
	if (ctr_event->destroy)
		ctr_event->destroy(event);
	kfree(ctr_event);
}

/* Whether an event of the cpu PMU has a branch stack. */
static bool ctr_hook_has(const struct perf_event *event)
{
	return event->destroy == ctr_hook_destroy;
}

/* Adds the branch stack to @event, which the cpu PMU has accepted without it. */
static int ctr_hook_attach(struct perf_event *event)
{
	struct ctr_event *ctr_event = kzalloc(sizeof(*ctr_event), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!ctr_event)
		goto destroy;
	ret = ctr_event_filter(event, &ctr_event->filter);
	if (ret)
		goto free;
	ctr_event->depth = ctr_event_depth(event, &ctr_event->filter, 0);
	event->pmu_private = ctr_event;
	ret = event->parent ? 0 : ctr_ring_open(event);
	if (ret)
		goto free;
	/* A child has inherited the parent's handler, which is ctr_hook_overflow. */
	ctr_event->output = event->parent ? ctr_event_of(event->parent)->output :
					    event->overflow_handler;
	ctr_event->destroy = event->destroy;
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

	event->attr.sample_type &= ~(u64)PERF_SAMPLE_BRANCH_STACK;
	ret = ctr_hook_event_init(event);
	event->attr.sample_type = sample_type;
	return ret || !has_branch_stack(event) ? ret : ctr_hook_attach(event);
}

/*
 * A hart refuses an event that cannot share the ring. perf then alternates between the
 * events, which shows as less time running than enabled.
 */
static int ctr_hooked_add(struct perf_event *event, int flags)
{
	int ret;

	if (!ctr_hook_has(event))
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
	if (ctr_hook_has(event))
		ctr_ring_end(event);
}

/* All tracepoints, see above. */
static const struct ctr_filter ctr_hook_filter = { .control = CTR_CTL_U,
						   .kernel = true,
						   .stack = true };

/**
 * ctr_hook_find() - find the cpu PMU and register what its branch stacks need
 *
 * Return: 0; -EOPNOTSUPP if the PMU of the generic event "cycles" has no overflow
 * interrupt; errors of perf_event_create_kernel_counter() and
 * tracepoint_probe_register().
 */
int ctr_hook_find(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.disabled = 1,
	};
	struct perf_event *event;
	struct pmu *pmu;

	/* A module can find the PMU only through one of its events. */
	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	pmu = event->pmu;
	perf_event_release_kernel(event);
	if (pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT || pmu->type != PERF_TYPE_RAW)
		return -EOPNOTSUPP;
	ctr_hook_pmu = pmu;
	return ctr_ring_users_get(&ctr_hook_filter);
}

/** ctr_hook_forget() - undo ctr_hook_find() */
void ctr_hook_forget(void)
{
	ctr_ring_users_put(&ctr_hook_filter);
	/* A hart may be in a probe that is not registered any more. */
	tracepoint_synchronize_unregister();
}

/** ctr_hook_install() - give the cpu PMU branch stacks until reboot, after ctr_hook_find() */
void ctr_hook_install(void)
{
	struct pmu *pmu = ctr_hook_pmu;

	__module_get(THIS_MODULE);
	/* perf looks for the depth of branch stacks here. */
	if (sysfs_create_group(&pmu->dev->kobj, &ctr_caps_group))
		pr_warn("hook=1: no caps in the sysfs directory of the PMU \"%s\"\n", pmu->name);
	ctr_hook_event_init = pmu->event_init;
	ctr_hook_add = pmu->add;
	ctr_hook_del = pmu->del;
	/* The original functions are stored before the new ones are visible; event_init is last. */
	smp_wmb();
	WRITE_ONCE(pmu->add, ctr_hooked_add);
	WRITE_ONCE(pmu->del, ctr_hooked_del);
	smp_wmb(); /* see above */
	WRITE_ONCE(pmu->event_init, ctr_hooked_event_init);
	pr_warn("hook=1: branch stacks for the PMU \"%s\", until reboot\n", pmu->name);
}
