/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CRED_H
#define HOST_LINUX_CRED_H

#include <linux/capability.h>
#include <linux/uidgid.h>

struct cred {
	kuid_t uid, euid, suid;
	kgid_t gid, egid, sgid;
	struct user_namespace *user_ns;
};

/* Defined by the test, which has its own tasks. */
struct task_struct;
const struct cred *__task_cred(const struct task_struct *task);
#define current_cred() __task_cred(current)

#endif /* HOST_LINUX_CRED_H */
