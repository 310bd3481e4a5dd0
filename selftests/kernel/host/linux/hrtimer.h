/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_HRTIMER_H
#define HOST_LINUX_HRTIMER_H

#include <linux/ktime.h>
#include <linux/types.h>
#include <time.h>

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode { HRTIMER_MODE_REL_PINNED_HARD };

/*
 * @next: time from now until the timer expires
 * @late: time since it expired
 * @armed: the timer will expire
 */
struct hrtimer {
	ktime_t next;
	ktime_t late;
	bool armed;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
};

/* Name and arguments as of Linux 6.12; later kernels have hrtimer_setup(). */
static inline void hrtimer_init(struct hrtimer *timer, int clock, enum hrtimer_mode mode)
{
	timer->armed = false;
}

static inline void hrtimer_start(struct hrtimer *timer, ktime_t in, enum hrtimer_mode mode)
{
	timer->next = in;
	timer->armed = true;
}

static inline int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	timer->armed = false;
	return 0;
}

#define hrtimer_cancel hrtimer_try_to_cancel

static inline u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval)
{
	timer->next = interval;
	return 1;
}

/* The clock stands at 0: expiries are times from now. */
#define ktime_add(a, b) ((a) + (b))

static inline ktime_t hrtimer_cb_get_time(const struct hrtimer *timer)
{
	return 0;
}

static inline ktime_t hrtimer_expires_remaining(const struct hrtimer *timer)
{
	return -timer->late;
}

static inline void hrtimer_set_expires(struct hrtimer *timer, ktime_t time)
{
	timer->next = time;
}

#endif /* HOST_LINUX_HRTIMER_H */
