/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_DEVICE_H
#define HOST_LINUX_DEVICE_H

#include <linux/err.h>
#include <linux/kernel.h>

struct class;
struct device_node;

struct device {
	struct device *parent;
	const struct class *class;
	struct device_node *of_node;
	const char *init_name;
	void *driver_data;
	bool suspended;
	unsigned int devt;
	void (*release)(struct device *dev);
};

static inline const char *dev_name(const struct device *dev)
{
	return dev->init_name ? dev->init_name : "device";
}

static inline const char *dev_driver_string(const struct device *dev)
{
	return "ntrace";
}

static inline void *dev_get_drvdata(const struct device *dev)
{
	return dev->driver_data;
}

/* Defined by the test, which keeps the log. */
__printf(2, 3) void host_log(const struct device *dev, const char *format, ...);
#define dev_err host_log
#define dev_warn host_log
#define dev_info host_log
#define dev_dbg host_log
#define dev_err_ratelimited host_log
#define KERN_ERR ""
#define LOGLEVEL_SCHED -2
#define dev_printk_emit(level, ...) host_log(__VA_ARGS__)
#define dev_err_probe(dev, error, ...) (host_log(dev, __VA_ARGS__), (error))

#endif /* HOST_LINUX_DEVICE_H */
