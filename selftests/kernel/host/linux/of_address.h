/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_OF_ADDRESS_H
#define HOST_LINUX_OF_ADDRESS_H

#include <linux/types.h>

struct device_node;

/* Defined by the test, which simulates the hardware. */
void *of_iomap(struct device_node *node, int index);
#define iounmap(address) ((void)(address))
int of_property_read_reg(struct device_node *node, int index, u64 *address, u64 *size);

#endif /* HOST_LINUX_OF_ADDRESS_H */
