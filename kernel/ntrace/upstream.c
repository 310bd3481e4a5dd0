// SPDX-License-Identifier: GPL-2.0-only
/*
 * The components that send trace to one that is being probed. They are probed in any order, so they
 * may be bound or not: the nodes of the device tree lead to them. The registers of those that are
 * not bound are written as well. Deferring the probe until they are bound is no alternative: an
 * encoder that the driver refuses, or whose hart stays offline, never is, and would keep a shared
 * sink from all other harts. Only nodes that match this driver are touched, and no others can bind
 * to them meanwhile, as they would need a match of the same compatible string.
 *
 * Those that run are stopped first, the farthest first: otherwise the trace on its way is lost, or
 * an encoder stalls its hart. And funnels are active meanwhile: the clock of a component may come
 * from the one that sends to it.
 */
#include <linux/cpu.h>
#include <linux/of.h>
#include <linux/of_address.h>

#include "path.h"

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
	lockdep_assert_held(&ntrace_lock);
	return ntrace_graph_visit(component->dev->of_node, "in-ports", ntrace_upstream_visit, walk);
}

static int ntrace_upstream_stop_one(struct ntrace_component *component,
				    const struct device_node *node)
{
	int ret = 0;

	/* A bound component was stopped when it was probed. */
	if (component->dev) {
		if (ntrace_power_get(component))
			return 0;
		ret = ntrace_component_is_foreign(component) ? -EBUSY : 0;
		ntrace_power_put(component);
		return ret;
	}
	if (ntrace_component_is_foreign(component))
		return -EBUSY;
	ret = (component->layout->quiesce ?: ntrace_registers_quiesce)(component);
	if (ret)
		pr_info("ntrace: %pOF: found running, %s\n", node,
			ret < 0 ? "does not stop" : "stopped");
	return 0;
}

/*
 * Stops the components that send trace to one that was found running and is not added yet. Those
 * that are not bound are stopped through their nodes, the farthest from @component first. The
 * caller holds cpus_read_lock().
 * Return: 0, -EBUSY if a debugger owns one of the encoders, or -ELOOP.
 */
int ntrace_upstream_stop(struct ntrace_component *component)
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
	if (!component->dev) {
		ntrace_component_activate(component);
		return 0;
	}
	if (ntrace_power_get(component))
		return 0;
	component->woken = true;
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
int ntrace_upstream_wake(struct ntrace_component *component)
{
	struct ntrace_upstream walk = { .act = ntrace_upstream_wake_one };

	return ntrace_upstream_walk(component, &walk);
}

/* Undoes ntrace_upstream_wake(), for a component that is inactive. */
void ntrace_upstream_rest(struct ntrace_component *component)
{
	struct ntrace_upstream walk = { .act = ntrace_upstream_rest_one, .nearest_first = true };

	ntrace_upstream_walk(component, &walk);
}
