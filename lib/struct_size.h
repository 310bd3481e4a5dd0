/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Public structs that start with their size: one rule for programs and libraries of different
 * versions.
 *
 * A caller's struct may be smaller than the library's: the program was compiled with an older
 * header, and the missing fields get their defaults. It may be larger: the header was newer. Then
 * the bytes after the fields that the library knows must be 0, since the library cannot obey them.
 */
#ifndef NTRACE_STRUCT_SIZE_H
#define NTRACE_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ntrace/error.h>

/* Whether all bytes are 0, as those of fields must be that the library does not know. */
static inline bool struct_is_zero(const void *bytes, size_t size)
{
	const uint8_t *byte = (const uint8_t *)bytes;

	for (size_t i = 0; i < size; i++)
		if (byte[i])
			return false;
	return true;
}

/*
 * Copies the caller's struct @callers to @own, which holds the defaults. Both start with a size_t.
 * Return: 0, or NTRACE_ERR_INVALID: @callers is no struct with a size, or its unknown fields are
 * not 0; @own keeps the defaults.
 */
static inline int struct_take_bytes(void *own, size_t own_size, const void *callers)
{
	size_t size;

	memcpy(&size, callers, sizeof(size));
	if (size < sizeof(size))
		return NTRACE_ERR_INVALID;
	if (size > own_size && !struct_is_zero((const char *)callers + own_size, size - own_size))
		return NTRACE_ERR_INVALID;
	memcpy(own, callers, size < own_size ? size : own_size);
	memcpy(own, &own_size, sizeof(own_size));
	return 0;
}

/* Copies @own to the caller's struct, up to the size of the caller's struct. */
static inline void struct_give_bytes(void *callers, const void *own, size_t own_size)
{
	size_t size;

	memcpy(&size, callers, sizeof(size));
	if (size <= sizeof(size))
		return;
	memcpy((char *)callers + sizeof(size), (const char *)own + sizeof(size),
	       (size < own_size ? size : own_size) - sizeof(size));
}

#define STRUCT_TAKE(own, callers)                                            \
	struct_take_bytes((own), sizeof(*(own)),                             \
			  1 ? (callers) : (const __typeof__(*(own)) *)(own))
#define STRUCT_GIVE(callers, own) \
	struct_give_bytes(1 ? (callers) : (__typeof__(*(own)) *)(own), (own), sizeof(*(own)))

#endif
