// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probing of components: stop, identify, add to the topology.
 *
 * The encoder of an offline hart may have lost its power or its clock, and not answer an access
 * ever. Its device is bound, but the driver touches it only when the hart comes online.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/workqueue.h>

#include "path.h"

/* Components whose hart has not been online yet; protected by the lock of the topology. */
static LIST_HEAD(ntrace_waiting);
static enum cpuhp_state ntrace_probe_state;

/* The caller holds cpus_read_lock(): the hart stays online. */
static int ntrace_probe_now(struct ntrace_component *component)
{
	struct dev_pm_qos_request awake = {};
	int ret;

	ret = ntrace_power_get(component);
	if (ret)
		return ret;
	/* In an idle state it could lose its registers between two accesses. */
	if (component->of_hart)
		ret = dev_pm_qos_add_request(get_cpu_device(component->cpu), &awake,
					     DEV_PM_QOS_RESUME_LATENCY, 0);
	if (ret < 0)
		goto put;
	ret = ntrace_upstream_wake(component);
	if (!ret && ntrace_component_is_running(component))
		ret = ntrace_upstream_stop(component);
	if (ret == -EBUSY)
		dev_err_probe(component->dev, ret,
			      "%pa: a debugger traces into it (trTeDisSelfHosted)\n",
			      &component->start);
	else
		ret = ntrace_component_init(component);
	ntrace_upstream_rest(component);
	if (component->of_hart)
		dev_pm_qos_remove_request(&awake);
put:
	ntrace_power_put(component);
	return ret;
}

/* Return: 0, -EAGAIN if the hart of the component is offline, or another error. */
static int ntrace_probe_hart(const struct ntrace_component *component)
{
	int cpu = ntrace_graph_cpu(component->dev->of_node);

	if (cpu == -ENOENT)
		return 0;
	if (cpu < 0)
		return dev_err_probe(component->dev, cpu, "Linux does not use its hart\n");
	return cpu_online(cpu) ? 0 : -EAGAIN;
}

static int ntrace_probe_try(struct ntrace_component *component)
{
	int ret;

	cpus_read_lock();
	ret = ntrace_probe_hart(component);
	if (!ret)
		ret = ntrace_probe_now(component);
	cpus_read_unlock();
	return ret ? ret : ntrace_topology_add(component);
}

/*
 * Identifies a component and adds it, or waits for its hart. The lock of the topology is held for
 * the whole probe: it may stop components that are not probed yet.
 * Return: 0 or a negative error.
 */
int ntrace_probe_component(struct ntrace_component *component)
{
	int ret;

	lockdep_assert_held(&ntrace_lock);
	INIT_LIST_HEAD(&component->node);
	ret = ntrace_probe_try(component);
	if (ret != -EAGAIN)
		return ret;
	/* Whatever it is: ntrace_component_off() must not touch it. */
	component->inactive = true;
	list_add_tail(&component->node, &ntrace_waiting);
	dev_dbg(component->dev, "waits for its hart\n");
	return 0;
}

/* In a work, as the lock of the topology is taken before the one that hotplug holds. */
static void ntrace_probe_waiting(struct work_struct *work)
{
	struct ntrace_component *component, *next;
	int ret;

	guard(mutex)(&ntrace_lock);
	list_for_each_entry_safe(component, next, &ntrace_waiting, node) {
		list_del_init(&component->node);
		ret = ntrace_probe_try(component);
		if (ret == -EAGAIN)
			list_add(&component->node, &ntrace_waiting);
		else if (ret)
			dev_err(component->dev, "cannot be used: %d\n", ret);
	}
}

static DECLARE_WORK(ntrace_probe_work, ntrace_probe_waiting);

static int ntrace_probe_online(unsigned int cpu)
{
	schedule_work(&ntrace_probe_work);
	return 0;
}

/* Watches harts come online. Return: 0 or a negative error. */
int __init ntrace_probe_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "ntrace:probe",
					    ntrace_probe_online, NULL);

	if (ret < 0)
		return ret;
	ntrace_probe_state = ret;
	return 0;
}

/** ntrace_probe_exit - undo ntrace_probe_init(); no device is bound any more */
void ntrace_probe_exit(void)
{
	cpuhp_remove_state_nocalls(ntrace_probe_state);
	cancel_work_sync(&ntrace_probe_work);
}
