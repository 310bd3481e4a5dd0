/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the supported kernels (6.12 and later). All code that depends on the version
 * of the kernel is in this file.
 */
#ifndef NTRACE_COMPAT_H
#define NTRACE_COMPAT_H

#include <linux/compiler.h>
#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/*
 * Tells whether the caller may trace the kernel. The parameter of perf_allow_kernel() is gone since
 * 6.15 and in later updates of 6.12, so its type decides, not the version.
 */
static inline int ntrace_allow_kernel(struct perf_event *event)
{
	int (*plain)(void) = (void *)perf_allow_kernel;
	int (*with_attr)(struct perf_event_attr *) = (void *)perf_allow_kernel;

	return __same_type(perf_allow_kernel, int(void)) ? plain() : with_attr(&event->attr);
}

/* Fields of the attributes of an event that newer kernels add, and that the driver does not use. */
static inline bool ntrace_attr_is_extended(const struct perf_event_attr *attr)
{
#ifdef PERF_ATTR_SIZE_VER9
	return attr->config3 || attr->config4;
#else
	return attr->config3;
#endif
}

/* AUX events that other events pause and resume: 6.13, and 6.12 of some distributions. */
#ifdef PERF_EF_PAUSE
static inline bool ntrace_event_paused(const struct perf_event *event)
{
	return READ_ONCE(event->hw.aux_paused);
}
#else
#define PERF_EF_PAUSE 0
#define PERF_EF_RESUME 0
#define PERF_PMU_CAP_AUX_PAUSE 0
static inline bool ntrace_event_paused(const struct perf_event *event)
{
	return false;
}
#endif

#endif /* NTRACE_COMPAT_H */
