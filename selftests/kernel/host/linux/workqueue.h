/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_WORKQUEUE_H
#define HOST_LINUX_WORKQUEUE_H

struct work_struct {
	int unused;
};

#endif /* HOST_LINUX_WORKQUEUE_H */
