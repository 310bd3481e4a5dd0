/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_OF_PLATFORM_H
#define HOST_LINUX_OF_PLATFORM_H

struct device;
struct device_node;
struct platform_device;

/* Defined by the test, which has its own device tree. */
struct platform_device *of_platform_device_create(struct device_node *node, const char *name,
						  struct device *parent);
int of_platform_device_destroy(struct device *dev, void *data);

#endif /* HOST_LINUX_OF_PLATFORM_H */
