/* SPDX-License-Identifier: GPL-2.0-only */
/* Single thread: checks that a lock is not taken twice, and that only taken locks are released. */
#ifndef HOST_LINUX_SPINLOCK_H
#define HOST_LINUX_SPINLOCK_H

#include <linux/cleanup.h>
#include <linux/types.h>

typedef struct {
	bool held;
} raw_spinlock_t;
typedef raw_spinlock_t spinlock_t;

static inline raw_spinlock_t *raw_spin_lock(raw_spinlock_t *lock)
{
	if (lock->held)
		__builtin_trap();
	lock->held = true;
	return lock;
}

/* The lock may be held by a hart that does not exist here: a test sets @held. */
static inline bool raw_spin_trylock(raw_spinlock_t *lock)
{
	if (lock->held)
		return false;
	lock->held = true;
	return true;
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	if (!lock->held)
		__builtin_trap();
	lock->held = false;
}

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->held = false;
}

#define raw_spin_trylock_irqsave(lock, flags) ((flags) = 0, raw_spin_trylock(lock))
#define raw_spin_unlock_irqrestore(lock, flags) ((void)(flags), raw_spin_unlock(lock))
#define raw_spin_lock_irq raw_spin_lock
#define raw_spin_unlock_irq raw_spin_unlock
#define spin_lock raw_spin_lock
#define spin_lock_irq raw_spin_lock
#define spin_unlock_irq raw_spin_unlock
#define spin_unlock raw_spin_unlock
#define DEFINE_SPINLOCK(name) spinlock_t name
#define DEFINE_RAW_SPINLOCK(name) raw_spinlock_t name

/* A mutex begins with its spin lock, which is a bool. */
#define lockdep_assert_held(lock)	\
do {					\
	if (!*(bool *)(lock))		\
		__builtin_trap();	\
} while (0)

/* Interrupts of one thread are off anyway. */
static int host_irqs;

static inline int *host_lock_irqsave(void)
{
	return &host_irqs;
}

static inline void host_unlock_irqsave(int **irqs)
{
}

typedef int host_guard_irqsave;

DEFINE_HOST_GUARD(spinlock, spinlock_t, spin_lock, spin_unlock)
DEFINE_HOST_GUARD(spinlock_irqsave, spinlock_t, spin_lock, spin_unlock)
DEFINE_HOST_GUARD(raw_spinlock, raw_spinlock_t, raw_spin_lock, raw_spin_unlock)
DEFINE_HOST_GUARD(raw_spinlock_irqsave, raw_spinlock_t, raw_spin_lock, raw_spin_unlock)

#endif /* HOST_LINUX_SPINLOCK_H */
