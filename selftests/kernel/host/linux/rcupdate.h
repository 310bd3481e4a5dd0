/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_RCUPDATE_H
#define HOST_LINUX_RCUPDATE_H

#include <linux/slab.h>

struct rcu_head {
	int unused;
};

/* No reader is there meanwhile. */
#define kfree_rcu(object, member) free(object)

#define lockdep_is_held(lock) ((lock)->held)
#define lockdep_assert_irqs_disabled() ((void)0)
/* One hart. */
#define this_cpu_ptr(pointer) (pointer)

#endif /* HOST_LINUX_RCUPDATE_H */
