/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_STRING_H
#define HOST_LINUX_STRING_H

#include <linux/types.h>
#include <stdio.h>
#include <string.h>

static inline void *host_memcpy(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	host_tell(HOST_COPY, from, size);
	return to;
}

static inline void *host_memset(void *at, int byte, size_t size)
{
	memset(at, byte, size);
	host_tell(HOST_SET, at, size);
	return at;
}

/* Returns the first byte that differs. */
static inline void *memchr_inv(const void *at, int byte, size_t size)
{
	const u8 *bytes = at;

	host_tell(HOST_LOOK, at, size);
	for (; size; size--, bytes++)
		if (*bytes != (u8)byte)
			return (void *)bytes;
	return NULL;
}

/* Tests write no spaces around what they store in an attribute. */
#define strim(text) (text)
#define memcpy(to, from, size) host_memcpy(to, from, size)
#define memset(at, byte, size) host_memset(at, byte, size)
#define strscpy(to, from) snprintf(to, sizeof(to), "%s", from)

#endif /* HOST_LINUX_STRING_H */
