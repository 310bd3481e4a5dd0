/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The order of numbers, for the whole library. */
#ifndef NTRACE_COMPARE_H
#define NTRACE_COMPARE_H

#include <stdint.h>

/* As the functions of qsort(). */
static inline int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

#endif
