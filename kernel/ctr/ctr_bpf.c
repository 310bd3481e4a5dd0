// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control Transfer Records for BPF programs.
 *
 * bpf_get_branch_snapshot() is served by a static call that modules cannot reach.
 * So there is a function of the same form, a kfunc of this module. It records
 * nothing itself: somebody has to hold an event of the PMU "ctr" open for the hart.
 *
 * Who may see what: the kernel lets only those load a program of the types below
 * who have CAP_BPF and CAP_PERFMON (or were handed a token for both). With these they
 * may read all memory of the kernel and sample every task, so the ring holds nothing
 * that they could not have otherwise, whosever event it is that records.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>

#include "ctr.h"

__bpf_kfunc_start_defs();

/**
 * bpf_ctr_snapshot() - how this hart came here
 * @entries: result: struct perf_branch_entry, youngest first
 * @entries__sz: room there in bytes, of which a rest that is less than an entry is
 *		 not used
 * @flags: 0
 *
 * What the hart did from the call on is not in it; what the kernel did before to
 * call the program is. The ring is left as it was, and records again afterwards.
 *
 * Return: number of bytes stored; -EINVAL for flags or room for no entry; -ENOENT if
 * no event of the PMU "ctr" records on this hart.
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
 * ctr_bpf_init() - offer the function to programs that trace
 *
 * fentry, fexit, tracepoints and perf events come with the first type. Without it
 * the rest of the driver works as well. Programs hold the module, and what was
 * registered goes with its BTF.
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
