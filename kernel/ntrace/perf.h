/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU "ntrace": what its files share. */
#ifndef NTRACE_PERF_H
#define NTRACE_PERF_H

#include <linux/bits.h>
#include <linux/ntrace.h>
#include <linux/types.h>

struct list_head;
struct perf_event;

/* Fields of perf_event_attr.config, as in format/. */
#define NTRACE_PERF_MODE	GENMASK_ULL(2, 0)
#define NTRACE_PERF_SYNC	GENMASK_ULL(9, 8)
#define NTRACE_PERF_SYNC_MAX	GENMASK_ULL(15, 12)
#define NTRACE_PERF_TIMESTAMPS	GENMASK_ULL(18, 16)
#define NTRACE_PERF_PRESCALE	GENMASK_ULL(21, 20)
#define NTRACE_PERF_CONTEXT	BIT_ULL(24)
#define NTRACE_PERF_CONFIG	(NTRACE_PERF_MODE | NTRACE_PERF_SYNC | NTRACE_PERF_SYNC_MAX | \
				 NTRACE_PERF_TIMESTAMPS | NTRACE_PERF_PRESCALE | \
				 NTRACE_PERF_CONTEXT)
/* And of config1: microseconds with trace, and without. */
#define NTRACE_PERF_STROBE_ON	GENMASK_ULL(31, 0)
#define NTRACE_PERF_STROBE_OFF	GENMASK_ULL(63, 32)

/**
 * struct ntrace_perf_filter - address filters of an event, perf's hw.addr_filters
 * @id: number that no other filters and no event has had; 0: there are none
 * @count: how many there are
 * @ranges: where they are in the event's task; nowhere: start behind end
 */
struct ntrace_perf_filter {
	u64 id;
	u32 count;
	struct ntrace_range ranges[NTRACE_RANGES_MAX];
};

/* perf.c */
u64 ntrace_perf_new_id(void);

/* perf_filter.c */
void ntrace_perf_filter_limit(u32 ranges);
int ntrace_perf_filter_alloc(struct perf_event *event);
void ntrace_perf_filter_free(struct perf_event *event);
int ntrace_perf_filter_validate(struct list_head *filters);
void ntrace_perf_filter_sync(struct perf_event *event);
void ntrace_perf_filter_apply(const struct perf_event *event, struct ntrace_config *config);

/* perf_sysfs.c */
extern const struct attribute_group *ntrace_perf_groups[];

#endif /* NTRACE_PERF_H */
