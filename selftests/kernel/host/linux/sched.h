/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SCHED_H
#define HOST_LINUX_SCHED_H

/* @references: taken with get_task_struct() */
struct task_struct {
	int id;
	unsigned int flags;
	int references;
	struct pt_regs *regs;
	char comm[16];
};

#define PF_EXITING 0x4
#define PF_KTHREAD 0x200000
#define task_pid_nr(task) ((task)->id)
#define task_pt_regs(task) ((task)->regs)

/* Defined by the test, which has its own tasks. */
extern struct task_struct *host_current;
#define current host_current

struct pid;

/* Every task is a process. */
static inline struct pid *task_tgid(struct task_struct *task)
{
	return (struct pid *)task;
}

#endif /* HOST_LINUX_SCHED_H */
