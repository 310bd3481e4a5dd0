/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_ASM_BYTEORDER_H
#define HOST_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>
#include <linux/types.h>

/* Hosts are little-endian. */
static inline u64 le64_to_cpup(const __le64 *from)
{
	return *from;
}

#endif /* HOST_ASM_BYTEORDER_H */
