/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the supported kernels, 6.12 and later. */
#ifndef CTR_COMPAT_H
#define CTR_COMPAT_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/types.h>

/*
 * Tells whether the caller may trace the kernel. The parameter of perf_allow_kernel() is gone since
 * 6.15 and in later updates of 6.12, so its type decides, not the version.
 */
static inline int ctr_allow_kernel(struct perf_event *event)
{
	int (*plain)(void) = (void *)perf_allow_kernel;
	int (*with_attr)(struct perf_event_attr *) = (void *)perf_allow_kernel;

	return __same_type(perf_allow_kernel, int(void)) ? plain() : with_attr(&event->attr);
}

#endif /* CTR_COMPAT_H */
