/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_UACCESS_H
#define HOST_LINUX_UACCESS_H

#include <errno.h>
#include <linux/types.h>

/* Defined by the test, which replaces user space. */
long copy_from_user_nofault(void *to, const void *from, size_t size);
/* Return: number of bytes not copied. */
unsigned long copy_to_user(void *to, const void *from, unsigned long size);
int copy_struct_from_user(void *to, size_t size, const void *from, size_t user_size);
/* Defined by tests of component.c: whether a register can be read. */
bool host_can_read(const void *address);
#define get_kernel_nofault(value, address) \
	(host_can_read(address) ? ((void)((value) = 0), 0) : -EFAULT)
#define get_user(value, from) ((from) ? ((value) = *(from), 0) : -EFAULT)

#endif /* HOST_LINUX_UACCESS_H */
