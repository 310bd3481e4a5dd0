// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters of the PMU "ntrace" (PERF_EVENT_IOC_SET_FILTER).
 *
 * perf keeps track of where the files of a filter are mapped, in each task anew,
 * and says so when the event is started. So each event has a configuration of its
 * own, with the ranges as they are in its task.
 */
#include <linux/atomic.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "perf_parts.h"

/* What the poorest encoder can do that an event was opened for. */
static atomic_t ntrace_perf_ranges = ATOMIC_INIT(NTRACE_RANGES_MAX);
static atomic64_t ntrace_perf_ids;

/** ntrace_perf_new_id - a number that was never used before, and is not 0 */
u64 ntrace_perf_new_id(void)
{
	return atomic64_inc_return(&ntrace_perf_ids);
}

/**
 * ntrace_perf_filter_limit - an encoder is used that can do so much
 * @ranges: address ranges at a time
 */
void ntrace_perf_filter_limit(u32 ranges)
{
	int old = atomic_read(&ntrace_perf_ranges);

	while (ranges < old && !atomic_try_cmpxchg(&ntrace_perf_ranges, &old, ranges))
		;
}

/**
 * ntrace_perf_own_alloc - make room for what each event has of its own
 * @event: event that is being opened or inherited
 *
 * Return: 0 or -ENOMEM.
 */
int ntrace_perf_own_alloc(struct perf_event *event)
{
	struct ntrace_perf_own *own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);

	event->hw.addr_filters = own;
	if (!own)
		return -ENOMEM;
	own->tracing = !(event->attr.config & NTRACE_PERF_ARMED);
	return 0;
}

/** ntrace_perf_own_free - undo ntrace_perf_own_alloc() */
void ntrace_perf_own_free(struct perf_event *event)
{
	kfree(event->hw.addr_filters);
	event->hw.addr_filters = NULL;
}

/**
 * ntrace_perf_filter_validate - can these filters be had?
 * @filters: list of struct perf_addr_filter
 *
 * One of the kernel, for an event without the kernel, lets nothing through: the
 * privileges have to match as well.
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP.
 */
int ntrace_perf_filter_validate(struct list_head *filters)
{
	struct perf_addr_filter *filter;
	int count = 0;

	list_for_each_entry(filter, filters, entry) {
		/* Where tracing starts and stops is no range. */
		if (filter->action != PERF_ADDR_FILTER_ACTION_FILTER || !filter->size)
			return -EOPNOTSUPP;
		/* User space has addresses in files only, which perf finds in each task. */
		if (!filter->path.dentry && (long)filter->offset >= 0)
			return -EINVAL;
		if (++count > atomic_read(&ntrace_perf_ranges))
			return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * ntrace_perf_filter_sync - take over the ranges of an event
 * @event: event that is about to start, on its hart
 *
 * With interrupts off.
 */
void ntrace_perf_filter_sync(struct perf_event *event)
{
	struct perf_addr_filters_head *head = perf_event_addr_filters(event);
	struct ntrace_perf_own *own = event->hw.addr_filters;
	struct perf_addr_filter *filter;
	struct perf_addr_filter_range *range = event->addr_filter_ranges;
	u32 count = 0;

	list_for_each_entry(filter, &head->list, entry) {
		/* Of a file that is not mapped yet nothing is traced. */
		own->ranges[count] = (struct ntrace_range){ U64_MAX, 0 };
		if (range->size && (range->start || !filter->path.dentry))
			own->ranges[count] =
				(struct ntrace_range){ range->start,
						       range->start + range->size - 1 };
		range++;
		count++;
	}
	own->count = count;
	own->id = count ? ntrace_perf_new_id() : 0;
}

/**
 * ntrace_perf_filter_apply - put the ranges of an event into its configuration
 * @event: event
 * @config: configuration of its user
 */
void ntrace_perf_filter_apply(const struct perf_event *event, struct ntrace_config *config)
{
	const struct ntrace_perf_own *own = event->hw.addr_filters;

	config->range_count = own->count;
	memcpy(config->ranges, own->ranges, sizeof(config->ranges));
}
