/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tables of megabytes that are accessed at random. */
#ifndef NTRACE_LARGE_H
#define NTRACE_LARGE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

/*
 * Memory for a table, to be freed with free(); not cleared. NULL: out of memory. A large table is in
 * huge pages where the kernel has them: to find the page of an address that is not in the TLB takes
 * as long as the access itself, and longer in a virtual machine.
 */
static inline void *large_alloc(size_t size)
{
	void *table;

	if (size < LARGE_PAGE / 2)
		return aligned_alloc(64, (size + 63) / 64 * 64);
	size = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	table = aligned_alloc(LARGE_PAGE, size);
#ifdef MADV_HUGEPAGE
	if (table)
		madvise(table, size, MADV_HUGEPAGE);
#endif
	return table;
}

/* large_alloc(), cleared. */
static inline void *large_zalloc(size_t size)
{
	void *table = large_alloc(size);

	if (table)
		memset(table, 0, size);
	return table;
}

#endif
