/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_UACCESS_H
#define HOST_LINUX_UACCESS_H

#include <linux/types.h>

/* The test's user space. */
long copy_from_user_nofault(void *to, const void *from, size_t size);
unsigned long copy_to_user(void *to, const void *from, unsigned long size);

#endif /* HOST_LINUX_UACCESS_H */
