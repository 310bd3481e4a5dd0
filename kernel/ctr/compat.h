/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the supported kernels, 6.12 and later. */
#ifndef CTR_COMPAT_H
#define CTR_COMPAT_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/version.h>

/* Tells whether the caller may trace the kernel. */
static inline int ctr_allow_kernel(struct perf_event *event)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	return perf_allow_kernel(&event->attr);
#else
	return perf_allow_kernel();
#endif
}

#endif /* CTR_COMPAT_H */
