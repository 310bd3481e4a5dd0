// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The unsymbolized profile that llvm-profgen reads with --unsymbolized-profile: ranges of
 * instructions and branches. Addresses count from the page of the first executable segment.
 */
#include "counts.h"

#define PAGE UINT64_C(4096)

int put_profgen(const struct counts_export *export)
{
	uint64_t address, size, base = UINT64_MAX;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(export->object, i, &address, &size, &executable); i++) {
		if (executable && address < base)
			base = address;
	}
	if (base == UINT64_MAX)
		base = 0;
	return put_ranges_and_branches(export, base & ~(PAGE - 1), false);
}
