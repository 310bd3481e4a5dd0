/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_UNALIGNED_H
#define HOST_LINUX_UNALIGNED_H

#include <linux/types.h>

static inline void put_unaligned_le32(u32 value, void *at)
{
	for (int i = 0; i < 4; i++)
		((u8 *)at)[i] = (u8)(value >> 8 * i);
}

static inline u32 get_unaligned_le32(const void *from)
{
	u32 value = 0;

	for (int i = 0; i < 4; i++)
		value |= (u32)((const u8 *)from)[i] << 8 * i;
	return value;
}

static inline void put_unaligned_le64(u64 value, void *at)
{
	/* Hosts are little-endian. */
	__builtin_memcpy(at, &value, sizeof(value));
}

#endif /* HOST_LINUX_UNALIGNED_H */
