// SPDX-License-Identifier: GPL-2.0-only
/*
 * branches.bpf.c with the kernel's own function, which knows the branch stack of the sample: for a
 * kernel with the series of kernel/patches. With the module it returns -ENOENT, see riscv-ctr.rst.
 */
#define READ_BRANCHES(context, entries) \
	bpf_read_branch_records(context, entries, sizeof(entries), 0)
#include "branches.bpf.c"
