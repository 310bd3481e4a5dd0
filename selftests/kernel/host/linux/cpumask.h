/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CPUMASK_H
#define HOST_LINUX_CPUMASK_H

#define nr_cpu_ids 4

#endif /* HOST_LINUX_CPUMASK_H */
