/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_OF_H
#define HOST_LINUX_OF_H

#include <linux/cleanup.h>
#include <linux/device.h>

/* Defined by the test, which has its own device tree. */
struct device_node *of_parse_phandle(const struct device_node *node, const char *name, int index);
struct device_node *of_node_get(struct device_node *node);
void of_node_put(struct device_node *node);
bool of_device_is_compatible(const struct device_node *node, const char *name);
struct device_node *of_get_child_by_name(const struct device_node *node, const char *name);
bool of_device_is_available(const struct device_node *node);
bool of_property_present(const struct device_node *node, const char *name);
bool of_property_read_bool(const struct device_node *node, const char *name);
int of_property_read_u32(const struct device_node *node, const char *name, u32 *value);
int of_cpu_node_to_id(struct device_node *node);

static inline void host_free_device_node(struct device_node **node)
{
	if (*node)
		of_node_put(*node);
}

int of_property_count_u32_elems(const struct device_node *node, const char *name);
int of_property_read_u32(const struct device_node *node, const char *name, u32 *value);
int of_property_read_u64(const struct device_node *node, const char *name, u64 *value);

#endif /* HOST_LINUX_OF_H */
