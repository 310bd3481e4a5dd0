// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control Transfer Records: /sys/kernel/debug/riscv_ctr, one line per hart.
 * The registers are read on the hart itself. Recorded addresses are not shown.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#include "ctr.h"
#include "ctr_hw.h"

struct ctr_state {
	bool usable;
	bool owned;
	u64 control;
	u64 status;
	unsigned int valid;
	u64 samples;
	u64 skidded;
};

static struct dentry *ctr_debugfs;

static void ctr_debug_get(void *data)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	struct ctr_state *state = data;
	unsigned long flags;

	local_irq_save(flags);
	*state = (struct ctr_state){
		.usable = cpu->usable,
		.owned = cpu->filter.control,
		.samples = cpu->samples,
		.skidded = cpu->skidded,
	};
	if (cpu->usable) {
		state->control = ctr_hw_control_read();
		state->status = ctr_hw_status();
		/* cpu->records is free: a sample converts it immediately. */
		state->valid = ctr_hw_read(cpu->records, 0, ctr_depth(), false);
	}
	local_irq_restore(flags);
}

static int ctr_state_show(struct seq_file *file, void *data)
{
	struct ctr_state state;
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (smp_call_function_single(cpu, ctr_debug_get, &state, true))
			continue;
		seq_printf(file, "cpu%u usable=%d owned=%d", cpu, state.usable, state.owned);
		seq_printf(file, " sctrctl=%#llx sctrstatus=%#llx valid=%u", state.control,
			   state.status, state.valid);
		seq_printf(file, " samples=%llu skidded=%llu\n", state.samples, state.skidded);
	}
	cpus_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ctr_state);

/** ctr_debug_init() - create the file; errors, as without debugfs, are ignored */
void ctr_debug_init(void)
{
	ctr_debugfs = debugfs_create_file("riscv_ctr", 0400, NULL, NULL, &ctr_state_fops);
}

/** ctr_debug_exit() - remove the file */
void ctr_debug_exit(void)
{
	debugfs_remove(ctr_debugfs);
}
