/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_KTIME_H
#define HOST_LINUX_KTIME_H

#include <linux/types.h>

#define NSEC_PER_USEC 1000L
#define ns_to_ktime(ns) ((ktime_t)(ns))

/* Defined by the test, which has its own clock. */
u64 ktime_get_mono_fast_ns(void);
u64 ktime_get_ns(void);

#endif /* HOST_LINUX_KTIME_H */
