// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The unsymbolized profile that llvm-profgen reads with --unsymbolized-profile: ranges of
 * instructions and branches. Addresses count from a base that llvm-profgen derives from the first executable
 * segment: up to LLVM 22 its page, later its address minus its offset in the file. If these differ, addresses
 * are absolute, which every version reads with --use-offset=0.
 */
#include "counts.h"

#define PAGE UINT64_C(4096)

int ntrace_export_profgen_base(const struct ntrace_object *object, uint64_t *base)
{
	uint64_t address, size, offset, first = UINT64_MAX;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++) {
		if (executable && address < first)
			first = address;
	}
	*base = 0;
	if (first == UINT64_MAX || ntrace_object_file_offset(object, first, &offset))
		return 0;
	if (offset != first % PAGE)
		return NTRACE_ERR_UNSUPPORTED;
	*base = first - offset;
	return 0;
}

int put_profgen(const struct counts_export *export)
{
	uint64_t base;

	(void)ntrace_export_profgen_base(export->object, &base);
	return put_ranges_and_branches(export, base, false);
}
