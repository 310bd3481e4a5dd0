/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PERF_EVENT_H
#define HOST_LINUX_PERF_EVENT_H

#include_next <linux/perf_event.h>
#include <linux/types.h>

struct perf_event;
struct perf_sample_data;
struct pt_regs;
typedef void (*perf_overflow_handler_t)(struct perf_event *event, struct perf_sample_data *data,
					struct pt_regs *regs);

struct perf_event {
	void *pmu_private;
};

#endif /* HOST_LINUX_PERF_EVENT_H */
