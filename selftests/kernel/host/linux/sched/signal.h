/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SCHED_SIGNAL_H
#define HOST_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>

/* Each task of the test is a process of its own. */
#define same_thread_group(a, b) ((a) == (b))

/* Defined by the test: the task after @task, or the first one. */
struct task_struct *host_next_task(struct task_struct *task);
#define for_each_process_thread(process, task)							\
	for (process = task = host_next_task(NULL), (void)process; task;			\
	     task = host_next_task(task))

#endif /* HOST_LINUX_SCHED_SIGNAL_H */
