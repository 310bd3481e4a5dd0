/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* FNV-1a of 64 bits, for the whole library. */
#ifndef NTRACE_FNV_H
#define NTRACE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* The hash of what @hash is of, and of @size more bytes. It begins with FNV_START. */
static inline uint64_t fnv_add(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size--)
		hash = (hash ^ *bytes++) * FNV_PRIME;
	return hash;
}

#endif
