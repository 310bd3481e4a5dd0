/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SIZES_H
#define HOST_LINUX_SIZES_H

#define SZ_4K 0x1000
#define SZ_32K 0x8000
#define SZ_256K 0x40000
#define SZ_1M 0x100000
#define SZ_4M 0x400000
#define SZ_16M 0x1000000
#define SZ_1G 0x40000000
#define SZ_2G 0x80000000

#endif /* HOST_LINUX_SIZES_H */
