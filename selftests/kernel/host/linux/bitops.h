/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_BITOPS_H
#define HOST_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

static inline unsigned int __ffs64(u64 word)
{
	return (unsigned int)__builtin_ctzll(word);
}

static inline unsigned int __ffs(unsigned long word)
{
	return (unsigned int)__builtin_ctzl(word);
}

static inline unsigned int __fls(unsigned long word)
{
	return 63 - (unsigned int)__builtin_clzl(word);
}

#endif /* HOST_LINUX_BITOPS_H */
