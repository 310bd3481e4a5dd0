/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CPU_H
#define HOST_LINUX_CPU_H

#include <linux/cleanup.h>

/* Number of times that the lock is held. */
extern int host_cpus_read;

static inline int *host_lock_cpus_read_lock(void)
{
	host_cpus_read++;
	return &host_cpus_read;
}

static inline void host_unlock_cpus_read_lock(int **held)
{
	(**held)--;
}

typedef int host_guard_cpus_read_lock;

#endif /* HOST_LINUX_CPU_H */
