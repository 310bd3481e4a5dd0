/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MATH64_H
#define HOST_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div64_u64_rem(u64 value, u64 by, u64 *rest)
{
	*rest = value % by;
	return value / by;
}

static inline u64 div_u64(u64 value, u32 by)
{
	return value / by;
}

#endif /* HOST_LINUX_MATH64_H */
