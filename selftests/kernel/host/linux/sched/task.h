/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SCHED_TASK_H
#define HOST_LINUX_SCHED_TASK_H

#include <linux/sched.h>

static inline struct task_struct *get_task_struct(struct task_struct *task)
{
	task->references++;
	return task;
}

static inline void put_task_struct(struct task_struct *task)
{
	task->references--;
}

#endif /* HOST_LINUX_SCHED_TASK_H */
