/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_BITOPS_H
#define HOST_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

static inline unsigned int __ffs64(u64 word)
{
	return (unsigned int)__builtin_ctzll(word);
}

#endif /* HOST_LINUX_BITOPS_H */
