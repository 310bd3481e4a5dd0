/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_ATOMIC_H
#define HOST_LINUX_ATOMIC_H

#include <linux/types.h>

typedef struct {
	s64 counter;
} atomic64_t;

typedef struct {
	int counter;
} atomic_t;

#define ATOMIC_INIT(value) { value }
#define atomic_read(v) ((v)->counter)
#define atomic64_inc_return(v) (++(v)->counter)
#define atomic64_read(v) ((v)->counter)
#define atomic64_read_acquire(v) ((v)->counter)
#define atomic64_set(v, value) ((void)((v)->counter = (value)))
#define smp_load_acquire(p) READ_ONCE(*(p))
#define smp_store_release(p, value) WRITE_ONCE(*(p), value)

static inline bool atomic64_try_cmpxchg_release(atomic64_t *v, s64 *old, s64 value)
{
	host_tell(HOST_EXCHANGE, v, sizeof(*v));
	if (v->counter != *old) {
		*old = v->counter;
		return false;
	}
	v->counter = value;
	return true;
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int value)
{
	if (v->counter != *old) {
		*old = v->counter;
		return false;
	}
	v->counter = value;
	return true;
}

#endif /* HOST_LINUX_ATOMIC_H */
