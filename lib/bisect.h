/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Searches in sorted arrays, for the whole library. */
#ifndef NTRACE_BISECT_H
#define NTRACE_BISECT_H

#include <stddef.h>

/*
 * Sets @low, a size_t, to the first number from its value up to @end for which @is_below is false. @is_below is an
 * expression with the number @at: true below some number, and false from there on.
 */
#define BISECT(low, end, at, is_below)                                                             \
	do {                                                                                       \
		size_t bisect_high = (end);                                                        \
		while ((low) < bisect_high) {                                                      \
			size_t at = (low) + (bisect_high - (low)) / 2;                             \
			if (is_below)                                                              \
				(low) = at + 1;                                                    \
			else                                                                       \
				bisect_high = at;                                                  \
		}                                                                                  \
	} while (0)

#endif
