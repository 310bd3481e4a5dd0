/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_IOPOLL_H
#define HOST_LINUX_IOPOLL_H

#include <errno.h>
#include <linux/io.h>

/* The simulated hardware answers at once, or never. */
#define readl_poll_timeout(address, value, condition, sleep, timeout)	\
({									\
	(value) = readl(address);					\
	(condition) ? 0 : -ETIMEDOUT;					\
})
#define readl_poll_timeout_atomic readl_poll_timeout

#endif /* HOST_LINUX_IOPOLL_H */
