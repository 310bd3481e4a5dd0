/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_WAIT_H
#define HOST_LINUX_WAIT_H

typedef struct {
	int unused;
} wait_queue_head_t;

#endif /* HOST_LINUX_WAIT_H */
