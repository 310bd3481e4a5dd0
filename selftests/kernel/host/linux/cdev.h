/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CDEV_H
#define HOST_LINUX_CDEV_H

struct file_operations;
struct module;

struct cdev {
	const struct file_operations *ops;
	struct module *owner;
};

#endif /* HOST_LINUX_CDEV_H */
