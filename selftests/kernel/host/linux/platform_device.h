/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PLATFORM_DEVICE_H
#define HOST_LINUX_PLATFORM_DEVICE_H

#include <linux/device.h>

struct platform_device {
	struct device dev;
};

#endif /* HOST_LINUX_PLATFORM_DEVICE_H */
