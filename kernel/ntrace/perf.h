/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU "ntrace": what its files share. */
#ifndef NTRACE_PERF_H
#define NTRACE_PERF_H

#include <linux/bits.h>

/* Fields of perf_event_attr.config, as in format/. */
#define NTRACE_PERF_MODE	GENMASK_ULL(2, 0)
#define NTRACE_PERF_SYNC	GENMASK_ULL(9, 8)
#define NTRACE_PERF_SYNC_MAX	GENMASK_ULL(15, 12)
/* And of config1: microseconds with trace, and without. */
#define NTRACE_PERF_STROBE_ON	GENMASK_ULL(31, 0)
#define NTRACE_PERF_STROBE_OFF	GENMASK_ULL(63, 32)
#define NTRACE_PERF_CONFIG	(NTRACE_PERF_MODE | NTRACE_PERF_SYNC | NTRACE_PERF_SYNC_MAX)

/* perf_sysfs.c */
extern const struct attribute_group *ntrace_perf_groups[];

#endif /* NTRACE_PERF_H */
