/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SCHED_SIGNAL_H
#define HOST_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>

/* Each task of the test is a process of its own. */
#define same_thread_group(a, b) ((a) == (b))

#endif /* HOST_LINUX_SCHED_SIGNAL_H */
