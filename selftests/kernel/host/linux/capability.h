/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CAPABILITY_H
#define HOST_LINUX_CAPABILITY_H

#include <linux/types.h>

struct user_namespace;

#define CAP_SYS_PTRACE 19
bool perfmon_capable(void);
bool ns_capable(struct user_namespace *ns, int capability);

#endif /* HOST_LINUX_CAPABILITY_H */
