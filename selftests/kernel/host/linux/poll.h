/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_POLL_H
#define HOST_LINUX_POLL_H

#include <linux/wait.h>
#include <sys/epoll.h>

struct file;
typedef struct {
	int unused;
} poll_table;

static inline void poll_wait(struct file *file, wait_queue_head_t *wait, poll_table *table)
{
}

#endif /* HOST_LINUX_POLL_H */
