/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SCHED_H
#define HOST_LINUX_SCHED_H

struct task_struct {
	int id;
};

/* Defined by the test, which has its own tasks. */
extern struct task_struct *host_current;
#define current host_current

#endif /* HOST_LINUX_SCHED_H */
