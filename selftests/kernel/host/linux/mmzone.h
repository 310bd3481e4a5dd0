/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MMZONE_H
#define HOST_LINUX_MMZONE_H

#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define MAX_PAGE_ORDER 10

#endif /* HOST_LINUX_MMZONE_H */
