/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_WORKQUEUE_H
#define HOST_LINUX_WORKQUEUE_H

#include <linux/types.h>

struct work_struct {
	void (*call)(struct work_struct *work);
	struct work_struct *next;
};

struct workqueue_struct {
	struct work_struct *first;
};

#define WQ_UNBOUND 0
#define INIT_WORK(work, function) ((void)((work)->call = (function)))

static inline struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
						       int max)
{
	static struct workqueue_struct queue;

	return &queue;
}

/* Work stays queued until a caller flushes it. */
static inline bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	struct work_struct **last = &queue->first;

	while (*last)
		last = &(*last)->next;
	work->next = NULL;
	*last = work;
	return true;
}

static inline void flush_workqueue(struct workqueue_struct *queue)
{
	struct work_struct *work;

	while ((work = queue->first)) {
		queue->first = work->next;
		work->call(work);
	}
}

static inline void destroy_workqueue(struct workqueue_struct *queue)
{
	flush_workqueue(queue);
}

#endif /* HOST_LINUX_WORKQUEUE_H */
