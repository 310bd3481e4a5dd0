/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MUTEX_H
#define HOST_LINUX_MUTEX_H

#include <linux/spinlock.h>

struct mutex {
	raw_spinlock_t lock;
};

static inline void mutex_init(struct mutex *mutex)
{
	mutex->lock.held = false;
}

static inline void mutex_lock(struct mutex *mutex)
{
	raw_spin_lock(&mutex->lock);
}

static inline void mutex_unlock(struct mutex *mutex)
{
	raw_spin_unlock(&mutex->lock);
}

#define DEFINE_MUTEX(name) struct mutex name

DEFINE_HOST_GUARD(mutex, struct mutex, mutex_lock, mutex_unlock)

#endif /* HOST_LINUX_MUTEX_H */
