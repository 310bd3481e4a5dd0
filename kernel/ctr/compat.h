/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels this driver is built for (6.12 and later),
 * and between the kernel and the host's unit test of ctr_filter.c.
 */
#ifndef CTR_COMPAT_H
#define CTR_COMPAT_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <linux/version.h>
#else
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define min(a, b)	((a) < (b) ? (a) : (b))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif /* __KERNEL__ */

#endif /* CTR_COMPAT_H */
