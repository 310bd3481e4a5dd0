/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_THREADS_H
#define HOST_LINUX_THREADS_H

#define PID_MAX_LIMIT (4 << 20)

#endif /* HOST_LINUX_THREADS_H */
