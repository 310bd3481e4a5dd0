/* SPDX-License-Identifier: GPL-2.0-only */
/* Error messages from any context. */
#ifndef NTRACE_LOG_H
#define NTRACE_LOG_H

#include <linux/ratelimit.h>

struct device;

__printf(2, 3) void ntrace_log(const struct device *dev, const char *fmt, ...);
void ntrace_log_exit(void);

/*
 * For callbacks of the PMU and for timers, where printk() may deadlock. Other code uses
 * dev_err_ratelimited().
 */
#define ntrace_err(dev, fmt, ...)						\
do {											\
	static DEFINE_RATELIMIT_STATE(_state, DEFAULT_RATELIMIT_INTERVAL,		\
				      DEFAULT_RATELIMIT_BURST);				\
											\
	if (__ratelimit(&_state))							\
		ntrace_log(dev, fmt, ##__VA_ARGS__);					\
} while (0)

#endif /* NTRACE_LOG_H */
