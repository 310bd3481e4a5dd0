/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_INTERRUPT_H
#define HOST_LINUX_INTERRUPT_H

struct irqaction;

#endif /* HOST_LINUX_INTERRUPT_H */
