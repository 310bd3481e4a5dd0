/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Eight bytes of a trace at a time. */
#ifndef NTRACE_WORD_H
#define NTRACE_WORD_H

#include <stdint.h>
#include <string.h>

/* Bit 0 of each byte of a word. */
#define BYTES_BIT_0 UINT64_C(0x0101010101010101)

/* The first byte is the lowest one. */
static inline uint64_t load_word(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline void store_word(uint8_t *bytes, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	memcpy(bytes, &word, sizeof(word));
}

/* Bit 0 of each byte that ends a message or is idle: MSEO 11 (N-Trace 1.0, "message framing"). */
static inline uint64_t word_ends(uint64_t word)
{
	return word & word >> 1 & BYTES_BIT_0;
}

/* Bit 0 of each byte with the reserved MSEO 10. */
static inline uint64_t word_strays(uint64_t word)
{
	return word >> 1 & ~word & BYTES_BIT_0;
}

#endif
