// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters of the PMU "ntrace" (PERF_EVENT_IOC_SET_FILTER).
 *
 * perf tracks where the files of a filter are mapped, separately for each task, and passes the
 * addresses when the event is started. So each event has its own configuration with the ranges of
 * its task.
 */
#include <linux/atomic.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "perf_parts.h"

/* Fewest ranges of all encoders that events were opened for. */
static atomic_t ntrace_perf_ranges = ATOMIC_INIT(NTRACE_RANGES_MAX);
static atomic64_t ntrace_perf_ids;

/** ntrace_perf_new_id - a number that was never used before, and is not 0 */
u64 ntrace_perf_new_id(void)
{
	return atomic64_inc_return(&ntrace_perf_ids);
}

/**
 * ntrace_perf_filter_limit - an event uses an encoder with this many ranges
 * @ranges: address ranges that the encoder filters at a time
 */
void ntrace_perf_filter_limit(u32 ranges)
{
	int old = atomic_read(&ntrace_perf_ranges);

	while (ranges < old && !atomic_try_cmpxchg(&ntrace_perf_ranges, &old, ranges))
		;
}

/**
 * ntrace_perf_own_alloc - allocate the state of a single event
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
 * ntrace_perf_filter_validate - check that the filters are supported
 * @filters: list of struct perf_addr_filter
 *
 * A range of kernel addresses in an event without the kernel is valid and matches nothing: the
 * privileges must match as well.
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP.
 */
int ntrace_perf_filter_validate(struct list_head *filters)
{
	struct perf_addr_filter *filter;
	int count = 0;

	list_for_each_entry(filter, filters, entry) {
		/* Start and stop addresses are not ranges. */
		if (filter->action != PERF_ADDR_FILTER_ACTION_FILTER || !filter->size)
			return -EOPNOTSUPP;
		/* Addresses of user space exist only in files, which perf finds in each task. */
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
 * Called with interrupts off.
 */
void ntrace_perf_filter_sync(struct perf_event *event)
{
	struct perf_addr_filters_head *head = perf_event_addr_filters(event);
	struct ntrace_perf_own *own = event->hw.addr_filters;
	struct perf_addr_filter *filter;
	struct perf_addr_filter_range *range = event->addr_filter_ranges;
	u32 count = 0;

	list_for_each_entry(filter, &head->list, entry) {
		/* Code of a file that is not mapped yet is not traced. */
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
 * ntrace_perf_filter_apply - put the ranges of an event into a configuration
 * @event: event
 * @config: configuration of the event that user space opened
 */
void ntrace_perf_filter_apply(const struct perf_event *event, struct ntrace_config *config)
{
	const struct ntrace_perf_own *own = event->hw.addr_filters;

	config->range_count = own->count;
	memcpy(config->ranges, own->ranges, sizeof(config->ranges));
}
