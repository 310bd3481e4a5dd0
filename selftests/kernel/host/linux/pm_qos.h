/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PM_QOS_H
#define HOST_LINUX_PM_QOS_H

struct device;
struct dev_pm_qos_request {
	struct device *dev;
};
enum dev_pm_qos_req_type { DEV_PM_QOS_RESUME_LATENCY };

#endif /* HOST_LINUX_PM_QOS_H */
