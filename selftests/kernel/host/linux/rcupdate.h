/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_RCUPDATE_H
#define HOST_LINUX_RCUPDATE_H

#include <linux/slab.h>

struct rcu_head {
	int unused;
};

/* The single thread has no readers to wait for. */
#define kfree_rcu(object, member) free(object)
#define call_rcu(head, function) (function)(head)

#define lockdep_is_held(lock) ((lock)->held)
#define lockdep_assert_irqs_disabled() ((void)0)
/* One hart, unless the test defines more. */
#ifndef this_cpu_ptr
#define this_cpu_ptr(pointer) (pointer)
#endif

static int host_rcu;

static inline int *host_lock_rcu(void)
{
	return &host_rcu;
}

static inline void host_unlock_rcu(int **rcu)
{
}

typedef int host_guard_rcu;

#endif /* HOST_LINUX_RCUPDATE_H */
