/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_KERNEL_H
#define HOST_LINUX_KERNEL_H

#include <errno.h>
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define rounddown(x, y) ((x) - (x) % (y))
#define round_down(x, y) rounddown(x, y)
#define roundup(x, y) rounddown((x) + (y) - 1, y)
#define upper_32_bits(n) ((u32)((u64)(n) >> 32))
#define lower_32_bits(n) ((u32)(n))

static inline __attribute__((format(printf, 1, 2))) void host_print(const char *format, ...)
{
}

#define pr_info_ratelimited host_print
#define pr_warn_ratelimited host_print

#endif /* HOST_LINUX_KERNEL_H */
