/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PROCESSOR_H
#define HOST_LINUX_PROCESSOR_H

#define cpu_relax() ((void)0)

#endif /* HOST_LINUX_PROCESSOR_H */
