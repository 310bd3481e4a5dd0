/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_IRQFLAGS_H
#define HOST_LINUX_IRQFLAGS_H

/* See spinlock.h for guard(irqsave). */
#include <linux/spinlock.h>
#include <linux/types.h>

/* Set by tests in which registers must be accessed on their own hart. */
__attribute__((weak)) bool host_irqs_on;
#define irqs_disabled() (!host_irqs_on)

#endif /* HOST_LINUX_IRQFLAGS_H */
