/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CAPABILITY_H
#define HOST_LINUX_CAPABILITY_H

#include <linux/types.h>

bool perfmon_capable(void);

#endif /* HOST_LINUX_CAPABILITY_H */
