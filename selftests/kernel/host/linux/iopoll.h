/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_IOPOLL_H
#define HOST_LINUX_IOPOLL_H

#include <errno.h>
#include <linux/io.h>

/* Number of reads after which the driver gives up: the hardware answers at once, or never. */
#ifndef HOST_POLLS
#define HOST_POLLS 1
#endif

#define readl_poll_timeout(address, value, condition, sleep, timeout)	\
({									\
	unsigned int polls_ = 0;					\
									\
	do								\
		(value) = readl(address);				\
	while (!(condition) && ++polls_ < HOST_POLLS);			\
	(condition) ? 0 : -ETIMEDOUT;					\
})
#define readl_poll_timeout_atomic readl_poll_timeout
#define read_poll_timeout(op, value, condition, sleep, timeout, before, ...)	\
({										\
	unsigned int polls_ = 0;						\
										\
	do									\
		(value) = op(__VA_ARGS__);					\
	while (!(condition) && ++polls_ < HOST_POLLS);				\
	(condition) ? 0 : -ETIMEDOUT;						\
})
#define read_poll_timeout_atomic read_poll_timeout

#endif /* HOST_LINUX_IOPOLL_H */
