// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Trace in 16-bit words (N-Trace 1.0, 16-bit PIB). */
#include <ntrace/wire.h>

size_t ntrace_wire_from_words(uint8_t *data, const uint16_t *words, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		/* Reads each word before writing, since both may be the same memory. */
		uint16_t word = words[i];

		data[2 * i] = (uint8_t)word;
		data[2 * i + 1] = (uint8_t)(word >> 8);
	}
	if (size & 1)
		data[size - 1] = (uint8_t)words[size / 2];
	return size;
}
