/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CPU_PM_H
#define HOST_LINUX_CPU_PM_H

#include <linux/notifier.h>

enum cpu_pm_event {
	CPU_PM_ENTER,
	CPU_PM_ENTER_FAILED,
	CPU_PM_EXIT,
	CPU_CLUSTER_PM_ENTER,
	CPU_CLUSTER_PM_ENTER_FAILED,
	CPU_CLUSTER_PM_EXIT,
};

/* Defined by the test, which makes the hart idle. */
int cpu_pm_register_notifier(struct notifier_block *block);
int cpu_pm_unregister_notifier(struct notifier_block *block);

#endif /* HOST_LINUX_CPU_PM_H */
