/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_TYPES_H
#define HOST_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../host.h"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef u64 dma_addr_t;
typedef u64 resource_size_t;
typedef s64 ktime_t;
typedef unsigned int gfp_t;
typedef unsigned short umode_t;

#define __iomem
#define __user
#define __percpu
#define __init
#define __printf(a, b) __attribute__((format(printf, a, b)))
#define __aligned(x) __attribute__((aligned(x)))
#define noinline __attribute__((noinline))
#define unlikely(x) (x)
#define likely(x) (x)

#define U16_MAX ((u16)~0U)
#define U32_MAX ((u32)~0U)
#define U64_MAX ((u64)~0ULL)

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))

#define __force

#endif /* HOST_LINUX_TYPES_H */
