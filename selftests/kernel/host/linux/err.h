/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_ERR_H
#define HOST_LINUX_ERR_H

#define ERR_PTR(error) ((void *)(long)(error))
#define PTR_ERR(pointer) ((long)(pointer))
#define IS_ERR(pointer) ((unsigned long)(pointer) >= (unsigned long)-4095)
#define IS_ERR_OR_NULL(pointer) (!(pointer) || IS_ERR(pointer))

#endif /* HOST_LINUX_ERR_H */
