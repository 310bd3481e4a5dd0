/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_FS_H
#define HOST_LINUX_FS_H

#include <fcntl.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/string.h>

#define THIS_MODULE NULL
#define ERESTARTSYS 512
#define __poll_t unsigned int

typedef unsigned int host_dev_t;
#define dev_t host_dev_t

struct inode {
	struct cdev *i_cdev;
};

struct file {
	void *private_data;
	unsigned int f_flags;
};

struct class
{
	const char *name;
	char *(*devnode)(const struct device *dev, umode_t *mode);
};

struct file_operations {
	struct module *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read)(struct file *file, char *user, size_t count, loff_t *position);
	unsigned int (*poll)(struct file *file, poll_table *wait);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	long (*unlocked_ioctl)(struct file *file, unsigned int cmd, unsigned long arg);
	long (*compat_ioctl)(struct file *file, unsigned int cmd, unsigned long arg);
};

static inline int nonseekable_open(struct inode *inode, struct file *file)
{
	return 0;
}

/* Defined by the test, which has its own devices. */
int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int count, const char *name);
void unregister_chrdev_region(dev_t dev, unsigned int count);
int class_register(const struct class *class);
void class_unregister(const struct class *class);
void device_initialize(struct device *dev);
__printf(2, 3) int dev_set_name(struct device *dev, const char *format, ...);
void cdev_init(struct cdev *cdev, const struct file_operations *ops);
int cdev_device_add(struct cdev *cdev, struct device *dev);
void cdev_device_del(struct cdev *cdev, struct device *dev);

#endif /* HOST_LINUX_FS_H */
