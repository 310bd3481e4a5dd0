/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SYSFS_H
#define HOST_LINUX_SYSFS_H

#include <linux/device.h>
#include <linux/types.h>
#include <stdio.h>

#define sysfs_emit(buffer, ...) sprintf(buffer, __VA_ARGS__)

/* Nothing registers them: tests call the functions. */
struct kobject;

struct attribute {
	umode_t mode;
};

struct attribute_group {
	struct attribute **attrs;
	umode_t (*is_visible)(struct kobject *kobj, struct attribute *attr, int index);
};

struct device_attribute {
	struct attribute attr;
	ssize_t (*show)(struct device *dev, struct device_attribute *attr, char *buffer);
	ssize_t (*store)(struct device *dev, struct device_attribute *attr, const char *buffer,
			 size_t size);
};

#define DEVICE_ATTR_RW(name) \
	struct device_attribute dev_attr_##name = { { 0644 }, name##_show, name##_store }

static inline struct device *kobj_to_dev(struct kobject *kobj)
{
	return (struct device *)kobj;
}

#endif /* HOST_LINUX_SYSFS_H */
