/* SPDX-License-Identifier: GPL-2.0-only */
/* See spinlock.h for guard(irqsave). */
#include <linux/spinlock.h>
