// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control Transfer Records: discovery, hotplug, idle.
 *
 * The device tree states which harts have Ssctr. It states neither whether the
 * firmware opens CTR to S-mode, nor the depth and the options of the hart. The driver
 * probes these on each hart and uses what all harts have in common: a task moves
 * between harts, and its samples must mean the same everywhere.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>

#include "ctr.h"
#include "ctr_hw.h"

struct ctr_caps ctr_caps;
unsigned int ctr_depth_code;

static enum cpuhp_state ctr_hotplug;

static char *layout = "1.0";
module_param(layout, charp, 0444);
MODULE_PARM_DESC(layout, "registers: 1.0 (default) or draft-0.1.4, for hardware from 2023");

static bool hook;
module_param(hook, bool, 0444);
MODULE_PARM_DESC(hook, "branch stacks for the kernel's cpu PMU too; the module cannot be unloaded");

static unsigned int depth = 32;
module_param(depth, uint, 0644);
MODULE_PARM_DESC(depth, "entries per sample by default (32); 0: the whole ring");

/**
 * ctr_event_depth() - entries to read per sample
 * @event: the event
 * @filter: of the event
 * @asked: number of entries that the user asks for, or 0
 *
 * Each entry costs time in the interrupt. By default, a sample has as many as with
 * LBR, which tools are made for. A call stack is never truncated by default, because
 * it would lose its outer frames; it is usually shorter than the ring.
 *
 * Return: number of entries; the ring has at least as many.
 */
unsigned int ctr_event_depth(const struct perf_event *event, const struct ctr_filter *filter,
			     unsigned int asked)
{
	unsigned int entries = asked ?: READ_ONCE(depth);

	if (!entries || (filter->stack && !asked))
		entries = ctr_depth();
	/* Newer kernels and the perf tool truncate longer stacks. */
	return min_not_zero(min(entries, ctr_depth()), (unsigned int)event->attr.sample_max_stack);
}

/**
 * ctr_event_filter() - convert the branch filter of an event, and refuse events that would
 * never have a sample
 * @event: the event
 * @filter: result, see ctr_filter_init()
 *
 * Return: 0 or -EOPNOTSUPP, which perf reports as missing support for branch stacks. perf's
 * advice for other errors, such as EINVAL, leads nowhere.
 */
int ctr_event_filter(struct perf_event *event, struct ctr_filter *filter)
{
	const struct perf_event_attr *attr = &event->attr;
	const char *reason = ctr_filter_init(filter, attr, &ctr_caps);

	if (reason)
		return ctr_refuse(-EOPNOTSUPP, reason);
	if (!filter->control)
		return 0;
	/* ctr_task_fork() allocates with preemption disabled, which such a kernel cannot do. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && filter->stack)
		return ctr_refuse(-EOPNOTSUPP, "no call stacks with PREEMPT_RT");
	/* Guests have their own CTR registers, which stay disabled. */
	if (attr->exclude_host)
		return ctr_refuse(-EOPNOTSUPP, "the event counts guests alone");
	if (attr->exclude_user && attr->exclude_kernel)
		return ctr_refuse(-EOPNOTSUPP, "the event counts neither user mode nor the kernel");
	return 0;
}

/* Result of probing one hart. */
struct ctr_found {
	const char *missing;
	bool open_to_guests;
	struct ctr_caps caps;
};

static bool ctr_described(unsigned int cpu)
{
	struct device_node *node = of_get_cpu_node(cpu, NULL);
	bool described = of_property_match_string(node, "riscv,isa-extensions", "ssctr") >= 0;

	of_node_put(node);
	return described;
}

/* Runs on the probed hart. */
static void ctr_probe(void *data)
{
	struct ctr_found *found = data;
	unsigned long flags;

	local_irq_save(flags);
	found->missing = ctr_hw_missing();
	if (!found->missing) {
		found->open_to_guests = ctr_hw_open_to_guests();
		ctr_hw_probe(&found->caps);
	}
	local_irq_restore(flags);
}

static bool ctr_report(unsigned int cpu, const struct ctr_found *found)
{
	if (found->missing)
		pr_warn("CPU %u: no %s: with Smstateen, OpenSBI 1.7 or later opens CTR\n", cpu,
			found->missing);
	else if (found->open_to_guests)
		pr_warn("CPU %u: hypervisor extension, no Smstateen: guests could read the ring\n",
			cpu);
	else if (!found->caps.depths)
		pr_warn("CPU %u: sctrdepth accepts none of the depths 16 to 256\n", cpu);
	return !found->missing && !found->open_to_guests && found->caps.depths;
}

/* Sets ctr_caps and ctr_depth_code: what all harts have in common. */
static int ctr_discover(void)
{
	struct ctr_found found;
	unsigned int cpu;
	int ret;

	ctr_caps = (struct ctr_caps){
		.control = CTR_CTL_OPTIONS,
		.depths = BIT(CTR_DEPTH_CODES) - 1,
		.mispredict = true,
		.type = true,
		.cycles = true,
	};
	for_each_online_cpu(cpu) {
		if (!ctr_described(cpu)) {
			pr_info("CPU %u has no Ssctr in its riscv,isa-extensions\n", cpu);
			return -ENODEV;
		}
		ret = smp_call_function_single(cpu, ctr_probe, &found, true);
		if (ret)
			return ret;
		/* Stop after one line: the other harts have the same firmware. */
		if (!ctr_report(cpu, &found))
			return -ENODEV;
		ctr_caps.control &= found.caps.control;
		ctr_caps.depths &= found.caps.depths;
		ctr_caps.mispredict &= found.caps.mispredict;
		ctr_caps.type &= found.caps.type;
		ctr_caps.cycles &= found.caps.cycles;
	}
	if (!ctr_caps.depths) {
		pr_warn("the harts have no depth in common\n");
		return -ENODEV;
	}
	ctr_depth_code = fls(ctr_caps.depths) - 1;
	return 0;
}

/* Whether a hart that comes online after discovery has the common capabilities. */
static bool ctr_as_capable(const struct ctr_caps *caps)
{
	return !(ctr_caps.control & ~caps->control) && caps->depths & BIT(ctr_depth_code) &&
	       (caps->mispredict || !ctr_caps.mispredict) && (caps->type || !ctr_caps.type) &&
	       (caps->cycles || !ctr_caps.cycles);
}

static int ctr_cpu_online(unsigned int cpu)
{
	struct ctr_found found;
	unsigned long flags;

	if (!ctr_described(cpu)) {
		pr_warn("CPU %u has no Ssctr; events on it stay inactive\n", cpu);
		return 0;
	}
	ctr_probe(&found);
	if (!ctr_report(cpu, &found))
		return 0;
	if (!ctr_as_capable(&found.caps)) {
		pr_warn("CPU %u lacks CTR features of the other CPUs; events on it stay inactive\n",
			cpu);
		return 0;
	}
	local_irq_save(flags);
	ctr_ring_online(this_cpu_ptr(ctr_cpus));
	local_irq_restore(flags);
	return 0;
}

static int ctr_cpu_offline(unsigned int cpu)
{
	struct ctr_cpu *state = this_cpu_ptr(ctr_cpus);
	unsigned long flags;

	local_irq_save(flags);
	if (state->usable)
		ctr_ring_offline(state);
	local_irq_restore(flags);
	return 0;
}

/* A hart that was powered down has lost its registers. */
static int ctr_cpu_pm(struct notifier_block *notifier, unsigned long action, void *data)
{
	struct ctr_cpu *state = this_cpu_ptr(ctr_cpus);

	if (action == CPU_PM_EXIT && state->usable)
		ctr_ring_online(state);
	return NOTIFY_OK;
}

static struct notifier_block ctr_cpu_pm_notifier = {
	.notifier_call = ctr_cpu_pm,
};

static int __init ctr_init_harts(void)
{
	int ret;

	cpus_read_lock();
	ret = ctr_discover();
	if (!ret) {
		ret = cpuhp_setup_state_cpuslocked(CPUHP_AP_ONLINE_DYN, "perf/riscv/ctr:online",
						   ctr_cpu_online, ctr_cpu_offline);
		if (ret > 0) {
			ctr_hotplug = ret;
			ret = 0;
		}
	}
	cpus_read_unlock();
	return ret;
}

static int __init ctr_init(void)
{
	int ret;

	if (!strcmp(layout, "draft-0.1.4")) {
		ctr_draft = true;
	} else if (strcmp(layout, "1.0")) {
		pr_err("layout=%s: must be 1.0 or draft-0.1.4\n", layout);
		return -EINVAL;
	}
	ret = ctr_ring_init();
	if (ret)
		return ret;
	ctr_cpus = alloc_percpu(struct ctr_cpu);
	if (!ctr_cpus)
		return -ENOMEM;
	ret = ctr_init_harts();
	if (ret)
		goto percpu;
	ret = cpu_pm_register_notifier(&ctr_cpu_pm_notifier);
	if (ret)
		goto hotplug;
	ret = hook ? ctr_hook_find() : 0;
	if (ret)
		goto pm;
	/* Nothing may fail after this: user space may have events. */
	ret = ctr_pmu_init();
	if (ret)
		goto hook;
	if (hook)
		ctr_hook_install();
	ctr_bpf_init();
	ctr_debug_init();
	pr_info("%u entries, sctrctl %#llx%s%s%s\n", ctr_depth(), ctr_caps.control,
		ctr_caps.type ? ", types" : "", ctr_caps.mispredict ? ", mispredictions" : "",
		ctr_caps.cycles ? ", cycles" : "");
	return 0;

hook:
	if (hook)
		ctr_hook_forget();
pm:
	cpu_pm_unregister_notifier(&ctr_cpu_pm_notifier);
hotplug:
	cpuhp_remove_state(ctr_hotplug);
percpu:
	free_percpu(ctr_cpus);
	return ret;
}
module_init(ctr_init);

static void __exit ctr_exit(void)
{
	ctr_debug_exit();
	ctr_pmu_exit();
	cpu_pm_unregister_notifier(&ctr_cpu_pm_notifier);
	/* Clears every ring. */
	cpuhp_remove_state(ctr_hotplug);
	tracepoint_synchronize_unregister();
	/* ctr_task.c frees after grace periods. */
	rcu_barrier();
	free_percpu(ctr_cpus);
}
module_exit(ctr_exit);

MODULE_DESCRIPTION("RISC-V Control Transfer Records: branch stacks for perf");
MODULE_VERSION(CTR_VERSION);
MODULE_LICENSE("GPL");
