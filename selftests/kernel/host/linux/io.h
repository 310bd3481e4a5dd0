/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_IO_H
#define HOST_LINUX_IO_H

#include <linux/types.h>

/* Defined by the test, which simulates the hardware. */
u32 readl(const void *address);
void writel(u32 value, void *address);

#define mb() host_tell(HOST_BARRIER, NULL, 0)
#define rmb() host_tell(HOST_READ_BARRIER, NULL, 0)

#endif /* HOST_LINUX_IO_H */
