// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * AutoFDO's text profile, which create_llvm_prof and create_gcov read with --profiler=text: ranges
 * of instructions, single addresses (none), branches. Addresses are link addresses.
 */
#include "counts.h"

int put_autofdo(const struct counts_export *export)
{
	return put_ranges_and_branches(export, 0, true);
}
