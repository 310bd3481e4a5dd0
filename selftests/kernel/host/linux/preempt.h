/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PREEMPT_H
#define HOST_LINUX_PREEMPT_H

#include <linux/types.h>

/* Set by the test. */
extern bool host_in_nmi;
#define in_nmi() host_in_nmi

#endif /* HOST_LINUX_PREEMPT_H */
