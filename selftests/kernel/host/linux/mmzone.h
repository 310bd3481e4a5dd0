/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MMZONE_H
#define HOST_LINUX_MMZONE_H

#define PAGE_SIZE 4096UL
#define MAX_PAGE_ORDER 10

#endif /* HOST_LINUX_MMZONE_H */
