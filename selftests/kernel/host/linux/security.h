/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SECURITY_H
#define HOST_LINUX_SECURITY_H

enum lockdown_reason { LOCKDOWN_PERF };

/* Defined by the test: 0 or -EPERM. */
int security_locked_down(enum lockdown_reason what);

#endif /* HOST_LINUX_SECURITY_H */
