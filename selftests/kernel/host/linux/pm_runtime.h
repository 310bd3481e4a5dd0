/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PM_RUNTIME_H
#define HOST_LINUX_PM_RUNTIME_H

#include <linux/device.h>

static inline bool pm_runtime_suspended(const struct device *dev)
{
	return dev->suspended;
}

/* Defined by the test of runtime PM. */
int pm_runtime_resume_and_get(struct device *dev);
int pm_runtime_put_sync(struct device *dev);
bool pm_runtime_enabled(const struct device *dev);
void pm_runtime_get_noresume(struct device *dev);
void pm_runtime_put_noidle(struct device *dev);
int devm_pm_runtime_set_active_enabled(struct device *dev);

#endif /* HOST_LINUX_PM_RUNTIME_H */
