// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections of components in the device tree: "in-ports" and "out-ports" to each other, "cpus" to
 * a hart.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/of.h>
#include <linux/of_graph.h>

#include "component.h"

/**
 * ntrace_graph_visit - call a function for each component that is connected to a node
 * @node: component
 * @ports_name: "in-ports" or "out-ports"
 * @visit: function
 * @data: argument of @visit
 *
 * Return: the first return value other than 0, else 0.
 */
int ntrace_graph_visit(const struct device_node *node, const char *ports_name, ntrace_visit_t visit,
		       void *data)
{
	struct device_node *ports __free(device_node) = of_get_child_by_name(node, ports_name);
	struct device_node *endpoint = NULL;
	int ret = 0;

	if (!ports)
		return 0;
	while ((endpoint = of_graph_get_next_endpoint(ports, endpoint))) {
		struct device_node *neighbour __free(device_node) =
			of_graph_get_remote_port_parent(endpoint);

		if (neighbour)
			ret = visit(neighbour, data);
		if (ret) {
			of_node_put(endpoint);
			return ret;
		}
	}
	return 0;
}

static int ntrace_graph_found(struct device_node *neighbour, void *data)
{
	return 1;
}

/** ntrace_graph_is_connected - tell whether a component has a neighbour at @ports_name */
bool ntrace_graph_is_connected(const struct device_node *node, const char *ports_name)
{
	return ntrace_graph_visit(node, ports_name, ntrace_graph_found, NULL);
}

/** ntrace_graph_ports - the numbers of the connected ports at @ports_name, as a bit mask */
u32 ntrace_graph_ports(const struct device_node *node, const char *ports_name)
{
	struct device_node *ports __free(device_node) = of_get_child_by_name(node, ports_name);
	struct device_node *endpoint = NULL;
	struct of_endpoint about;
	u32 mask = 0;

	if (!ports)
		return 0;
	while ((endpoint = of_graph_get_next_endpoint(ports, endpoint)))
		if (!of_graph_parse_endpoint(endpoint, &about) && about.port < BITS_PER_TYPE(mask))
			mask |= BIT(about.port);
	return mask;
}

/**
 * ntrace_graph_next_out - find the way out of a component with the lowest number
 * @node: component
 * @from: least number
 * @number: takes the number: of the port, and then of the endpoint. The order of nodes in the
 *	    device tree does not count.
 *
 * Return: the component at the other end, which is not disabled and whose reference the caller
 * puts, or NULL.
 */
struct device_node *ntrace_graph_next_out(const struct device_node *node, u64 from, u64 *number)
{
	struct device_node *ports __free(device_node) = of_get_child_by_name(node, "out-ports");
	struct device_node *endpoint = NULL, *next = NULL, *remote;
	struct of_endpoint at;
	u64 this;

	if (!ports)
		return NULL;
	while ((endpoint = of_graph_get_next_endpoint(ports, endpoint))) {
		if (of_graph_parse_endpoint(endpoint, &at))
			continue;
		this = (u64)at.port << 32 | at.id;
		if (this < from || (next && this >= *number))
			continue;
		remote = of_graph_get_remote_port_parent(endpoint);
		if (!remote || !of_device_is_available(remote)) {
			of_node_put(remote);
			continue;
		}
		of_node_put(next);
		next = remote;
		*number = this;
	}
	return next;
}

/** ntrace_graph_forks - tell whether a component has several ways out that are not disabled */
bool ntrace_graph_forks(const struct device_node *node)
{
	u64 number = 0;
	struct device_node *first __free(device_node) = ntrace_graph_next_out(node, 0, &number);
	struct device_node *second __free(device_node) =
		first ? ntrace_graph_next_out(node, number + 1, &number) : NULL;

	return second;
}

/** ntrace_graph_needs_power - tell whether a component has a clock, a reset or a power domain */
bool ntrace_graph_needs_power(const struct device_node *node)
{
	return of_property_present(node, "clocks") || of_property_present(node, "resets") ||
	       of_property_present(node, "power-domains");
}

/*
 * Finds the CPU that a component belongs to. An encoder, and the ATB bridge of one, belong to a
 * hart. They may lose their power with it, and not answer an access ever while it is offline.
 * Return: number of the CPU, -ENOENT if the component belongs to no hart, or -ENODEV if Linux does
 * not use the hart.
 */
int ntrace_graph_cpu(const struct device_node *node)
{
	struct device_node *hart __free(device_node) = of_parse_phandle(node, "cpus", 0);
	int cpu;

	if (!hart)
		return -ENOENT;
	cpu = of_cpu_node_to_id(hart);
	return cpu < 0 ? -ENODEV : cpu;
}

/** ntrace_graph_is_of_hart - tell whether a component belongs to a hart */
bool ntrace_graph_is_of_hart(const struct device_node *node)
{
	return ntrace_graph_cpu(node) != -ENOENT;
}
