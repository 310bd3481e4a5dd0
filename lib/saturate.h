/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sums of counts, for the whole library. They stay at the largest number, which means "this or more": counts
 * come from files, and a wrapped sum would look like any other.
 */
#ifndef NTRACE_SATURATE_H
#define NTRACE_SATURATE_H

#include <stdint.h>

static inline uint64_t add_counts(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t multiply_counts(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

#endif
