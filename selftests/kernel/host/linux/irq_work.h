/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_IRQ_WORK_H
#define HOST_LINUX_IRQ_WORK_H

#include <linux/types.h>

/* @queued: number of times the work was queued */
struct irq_work {
	unsigned int queued;
};

static inline bool irq_work_queue(struct irq_work *work)
{
	work->queued++;
	return true;
}

#endif /* HOST_LINUX_IRQ_WORK_H */
