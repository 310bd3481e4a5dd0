/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_OF_GRAPH_H
#define HOST_LINUX_OF_GRAPH_H

struct device_node;

struct of_endpoint {
	unsigned int port;
	unsigned int id;
};

/* Defined by the test, which has its own device tree. */
int of_graph_parse_endpoint(const struct device_node *endpoint, struct of_endpoint *about);
struct device_node *of_graph_get_next_endpoint(const struct device_node *ports,
					       struct device_node *before);
int of_graph_parse_endpoint(const struct device_node *node, struct of_endpoint *endpoint);
struct device_node *of_graph_get_remote_port_parent(const struct device_node *endpoint);

#endif /* HOST_LINUX_OF_GRAPH_H */
