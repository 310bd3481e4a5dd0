// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probing of components: stop, identify, add to the topology.
 *
 * The encoder of an offline hart may have lost its power or its clock, and not answer an access
 * ever. Its device is bound, but the driver touches it only when the hart comes online.
 *
 * Components are probed in any order. So those that send trace to the one that is being probed may
 * be bound or not: the nodes of the device tree lead to them. The registers of those that are not
 * bound are written as well. Deferring the probe until they are bound is no alternative: an encoder
 * that the driver refuses, or whose hart stays offline, never is, and would keep a shared sink from
 * all other harts. Only nodes that match this driver are touched, and no others can bind to them
 * meanwhile, as they would need a match of the same compatible string.
 *
 * Those that run are stopped first, the farthest first: otherwise the trace on its way is lost, or
 * an encoder stalls its hart. And funnels are active meanwhile: the clock of a component may come
 * from the one that sends to it.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/workqueue.h>

#include "path.h"

/* Components whose hart has not been online yet; protected by the lock of the topology. */
static LIST_HEAD(ntrace_waiting);
static int ntrace_probe_state;

/**
 * struct ntrace_upstream - a walk
 * @act: called for each component; one that is not bound has neither a device nor a type. A return
 *	 value other than 0 ends the walk
 * @nearest_first: the order
 * @depth: number of components between the first one and the position of the walk
 */
struct ntrace_upstream {
	int (*act)(struct ntrace_component *component, const struct device_node *node);
	bool nearest_first;
	unsigned int depth;
};

/*
 * May the registers of a component be accessed? Not if it is disabled. The encoder of an offline
 * hart may have lost its power or its clock, and not answer an access ever. Neither may a component
 * that is not probed, if the driver has to switch on its power or its clock.
 */
static bool ntrace_upstream_is_reachable(const struct device_node *node)
{
	int cpu = ntrace_graph_cpu(node);

	if (!of_device_is_available(node))
		return false;
	if (!ntrace_topology_find(node) && ntrace_graph_needs_power(node))
		return false;
	return cpu == -ENOENT || (cpu >= 0 && cpu_online(cpu));
}

static int ntrace_upstream_act(const struct ntrace_upstream *walk, struct device_node *node)
{
	struct ntrace_component *component = ntrace_topology_find(node), unbound = {};
	const struct of_device_id *match = of_match_node(ntrace_layouts, node);
	int ret;

	if (component)
		return walk->act(component, node);
	if (!match)
		return 0;
	unbound.layout = match->data;
	ntrace_component_set_hart(&unbound, ntrace_graph_cpu(node));
	unbound.base = of_iomap(node, 0);
	if (!unbound.base)
		return 0;
	ret = walk->act(&unbound, node);
	iounmap(unbound.base);
	return ret;
}

static int ntrace_upstream_visit(struct device_node *node, void *data)
{
	struct ntrace_upstream *walk = data;
	int ret = 0;

	/* The graph comes from firmware and may contain a loop. */
	if (walk->depth == NTRACE_PATH_MAX)
		return -ELOOP;
	if (!ntrace_upstream_is_reachable(node))
		return 0;
	if (walk->nearest_first)
		ret = ntrace_upstream_act(walk, node);
	walk->depth++;
	if (!ret)
		ret = ntrace_graph_visit(node, "in-ports", ntrace_upstream_visit, walk);
	walk->depth--;
	if (!ret && !walk->nearest_first)
		ret = ntrace_upstream_act(walk, node);
	return ret;
}

static int ntrace_upstream_walk(const struct ntrace_component *component,
				struct ntrace_upstream *walk)
{
	return ntrace_graph_visit(component->dev->of_node, "in-ports", ntrace_upstream_visit, walk);
}

static int ntrace_upstream_stop_one(struct ntrace_component *component,
				    const struct device_node *node)
{
	bool foreign;
	int ret;

	if (component->dev && ntrace_power_get(component))
		return 0;
	foreign = ntrace_component_is_foreign(component);
	if (component->dev)
		ntrace_power_put(component);
	/* A bound component was stopped when it was probed. */
	if (foreign || component->dev)
		return foreign ? -EBUSY : 0;
	ret = (component->layout->quiesce ?: ntrace_registers_quiesce)(component);
	if (ret)
		pr_info("ntrace: %pOF: found running, %s\n", node,
			ret < 0 ? "does not stop" : "stopped");
	return 0;
}

/*
 * Stops the components that send trace to one that was found running and is not added yet. Those
 * that are not bound are stopped through their nodes, the farthest from @component first.
 * Return: 0, -EBUSY if a debugger owns one of the encoders, or -ELOOP.
 */
static int ntrace_upstream_stop(struct ntrace_component *component)
{
	struct ntrace_upstream walk = { .act = ntrace_upstream_stop_one };

	return ntrace_upstream_walk(component, &walk);
}

/*
 * Not components of harts: their own harts access them, and they are not the ones that share a
 * clock with a sink. Those of Arm are always active.
 */
static int ntrace_upstream_wake_one(struct ntrace_component *component,
				    const struct device_node *node)
{
	if (component->of_hart || component->layout->off || component->held)
		return 0;
	if (component->dev && ntrace_power_get(component))
		return 0;
	component->woken = component->dev;
	ntrace_component_activate(component);
	return 0;
}

static int ntrace_upstream_rest_one(struct ntrace_component *component,
				    const struct device_node *node)
{
	if (!component->woken)
		return 0;
	component->woken = false;
	ntrace_component_off(component);
	ntrace_power_put(component);
	return 0;
}

/*
 * Makes the funnels before a component active that is not added yet. Those that are not bound stay
 * active until they are probed. One that does not answer may not matter; else @component will not
 * answer.
 * Return: 0 or -ELOOP.
 */
static int ntrace_upstream_wake(struct ntrace_component *component)
{
	struct ntrace_upstream walk = { .act = ntrace_upstream_wake_one };

	return ntrace_upstream_walk(component, &walk);
}

/* Undoes ntrace_upstream_wake(), for a component that is inactive. */
static void ntrace_upstream_rest(struct ntrace_component *component)
{
	struct ntrace_upstream walk = { .act = ntrace_upstream_rest_one, .nearest_first = true };

	ntrace_upstream_walk(component, &walk);
}

/* The caller holds cpus_read_lock(): the hart stays online. */
static int ntrace_probe_now(struct ntrace_component *component)
{
	struct pm_qos_request awake = {};
	int ret = ntrace_power_get(component);

	if (ret)
		return ret;
	/*
	 * In idle states of its hart, or of all harts that send to it, it could lose its registers
	 * between two accesses.
	 */
	cpu_latency_qos_add_request(&awake, 0);
	ret = ntrace_upstream_wake(component);
	if (!ret && ntrace_component_is_running(component))
		ret = ntrace_upstream_stop(component);
	if (ret == -EBUSY)
		ret = dev_err_probe(component->dev, ret,
				    "%pa: a debugger traces into it (trTeDisSelfHosted)\n",
				    &component->start);
	else
		ret = ntrace_component_init(component);
	ntrace_upstream_rest(component);
	cpu_latency_qos_remove_request(&awake);
	ntrace_power_put(component);
	return ret;
}

/* Return: 0, -EAGAIN if the hart of the component is offline, or another error. */
static int ntrace_probe_on_hart(struct ntrace_component *component)
{
	int cpu = ntrace_graph_cpu(component->dev->of_node);

	guard(cpus_read_lock)();
	if (cpu == -ENODEV)
		return dev_err_probe(component->dev, cpu, "Linux does not use its hart\n");
	if (cpu >= 0 && !cpu_online(cpu))
		return -EAGAIN;
	return ntrace_probe_now(component);
}

static int ntrace_probe_try(struct ntrace_component *component)
{
	return ntrace_probe_on_hart(component) ?: ntrace_topology_add(component);
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
	ntrace_probe_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "ntrace:probe",
						       ntrace_probe_online, NULL);
	return min(ntrace_probe_state, 0);
}

/** ntrace_probe_exit - undo ntrace_probe_init(); no device is bound any more */
void ntrace_probe_exit(void)
{
	cpuhp_remove_state_nocalls(ntrace_probe_state);
	cancel_work_sync(&ntrace_probe_work);
}
