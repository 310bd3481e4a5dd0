/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections of components in the device tree. */
#ifndef NTRACE_GRAPH_H
#define NTRACE_GRAPH_H

#include <linux/types.h>

struct device_node;

/* Called for a neighbour in the graph. A return value other than 0 ends the walk. */
typedef int (*ntrace_visit_t)(struct device_node *neighbour, void *data);

int ntrace_graph_visit(const struct device_node *node, const char *ports_name, ntrace_visit_t visit,
		       void *data);
bool ntrace_graph_is_connected(const struct device_node *node, const char *ports_name);
u32 ntrace_graph_ports(const struct device_node *node, const char *ports_name);
int ntrace_graph_cpu(const struct device_node *node);
bool ntrace_graph_is_of_hart(const struct device_node *node);
bool ntrace_graph_needs_power(const struct device_node *node);
bool ntrace_graph_forks(const struct device_node *node);
struct device_node *ntrace_graph_next_out(const struct device_node *node, u64 from, u64 *number);

#endif /* NTRACE_GRAPH_H */
