/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_LOG2_H
#define HOST_LINUX_LOG2_H

#include <linux/types.h>

#define fls(n) ((n) ? 32 - __builtin_clz(n) : 0)
#define rounddown_pow_of_two(n) (1ULL << (63 - __builtin_clzll(n)))
#define roundup_pow_of_two(n) ((n) > 1 ? 2 * rounddown_pow_of_two((n) - 1) : 1ULL)
#define is_power_of_2(n) ((n) && !((n) & ((n) - 1)))

#endif /* HOST_LINUX_LOG2_H */
