/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SYSFS_H
#define HOST_LINUX_SYSFS_H

#include <stdio.h>

struct attribute_group;

#define sysfs_emit(buffer, ...) sprintf(buffer, __VA_ARGS__)

#endif /* HOST_LINUX_SYSFS_H */
