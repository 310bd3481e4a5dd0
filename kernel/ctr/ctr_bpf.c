// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control Transfer Records for BPF programs.
 *
 * bpf_get_branch_snapshot() uses a static call that modules cannot reach, so this
 * module has a kfunc of the same form. The kfunc does not start recording: an event
 * of the PMU "ctr" must be open for the hart.
 *
 * Permissions: loading a program of the types below needs CAP_BPF and CAP_PERFMON
 * (or a token for both). These already permit reading all kernel memory and sampling
 * every task, so the ring adds nothing, even if another user's event records.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>

#include "ctr.h"

__bpf_kfunc_start_defs();

/**
 * bpf_ctr_snapshot() - the last control transfers of this hart
 * @entries: result: struct perf_branch_entry, newest first
 * @entries__sz: size of @entries in bytes; a remainder smaller than an entry is not
 *		 used
 * @flags: must be 0
 *
 * The result excludes transfers after the call of this function. It includes the
 * transfers with which the kernel called the program. The ring is not changed, and
 * recording resumes.
 *
 * Return: number of bytes stored; -EINVAL if @flags is not 0 or @entries__sz is
 * smaller than an entry; -ENOENT if no event of the PMU "ctr" records on this hart.
 */
__bpf_kfunc int bpf_ctr_snapshot(void *entries, u32 entries__sz, u64 flags)
{
	u32 max = entries__sz / sizeof(struct perf_branch_entry);
	unsigned long irq_flags;
	int count;

	if (unlikely(flags || !max))
		return -EINVAL;
	local_irq_save(irq_flags);
	count = ctr_ring_snapshot(entries, max);
	local_irq_restore(irq_flags);
	return count < 0 ? count : count * (int)sizeof(struct perf_branch_entry);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(ctr_kfuncs)
BTF_ID_FLAGS(func, bpf_ctr_snapshot)
BTF_KFUNCS_END(ctr_kfuncs)

static const struct btf_kfunc_id_set ctr_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &ctr_kfuncs,
};

/**
 * ctr_bpf_init() - register the kfunc for tracing programs
 *
 * BPF_PROG_TYPE_TRACING also covers tracepoints and perf events. A failure does not
 * affect the rest of the driver. Programs hold a reference to the module; its BTF
 * owns the registration.
 */
void ctr_bpf_init(void)
{
	int ret;

#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
	if (!THIS_MODULE->btf_data_size) {
		pr_info("built without BTF: no bpf_ctr_snapshot()\n");
		return;
	}
#endif
	ret = register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &ctr_kfunc_set);
	ret = ret ?: register_btf_kfunc_id_set(BPF_PROG_TYPE_KPROBE, &ctr_kfunc_set);
	if (ret)
		pr_warn("no bpf_ctr_snapshot(): %d\n", ret);
}
