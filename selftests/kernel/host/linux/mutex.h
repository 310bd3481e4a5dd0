/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MUTEX_H
#define HOST_LINUX_MUTEX_H

#include <errno.h>
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

/* If the lock is held, act as if a signal ended the wait. */
static inline int mutex_lock_interruptible(struct mutex *mutex)
{
	if (mutex->lock.held)
		return -EINTR;
	mutex_lock(mutex);
	return 0;
}

static inline bool mutex_trylock(struct mutex *mutex)
{
	return !mutex_lock_interruptible(mutex);
}

static inline void mutex_unlock(struct mutex *mutex)
{
	raw_spin_unlock(&mutex->lock);
}

#define DEFINE_MUTEX(name) struct mutex name

DEFINE_HOST_GUARD(mutex, struct mutex, mutex_lock, mutex_unlock)

#endif /* HOST_LINUX_MUTEX_H */
