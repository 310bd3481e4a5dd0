/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_OF_RESERVED_MEM_H
#define HOST_LINUX_OF_RESERVED_MEM_H

#include <linux/device.h>

struct reserved_mem {
	u64 size;
};

/* Defined by the test, which has its own device tree. */
struct reserved_mem *of_reserved_mem_lookup(struct device_node *node);
int of_reserved_mem_device_init(struct device *dev);
void of_reserved_mem_device_release(struct device *dev);
int devm_add_action_or_reset(struct device *dev, void (*action)(void *), void *data);

#endif /* HOST_LINUX_OF_RESERVED_MEM_H */
