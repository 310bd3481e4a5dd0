/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_HRTIMER_H
#define HOST_LINUX_HRTIMER_H

#include <linux/types.h>

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };

/* @next: time from now to its next turn */
struct hrtimer {
	ktime_t next;
};

static inline u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval)
{
	timer->next = interval;
	return 1;
}

#endif /* HOST_LINUX_HRTIMER_H */
