/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between perf's branch stacks and CTR: filters, types, cycles. No register is
 * touched here, so that the host can test it.
 */
#ifndef CTR_FILTER_H
#define CTR_FILTER_H

#include "ctr_regs.h"

/**
 * struct ctr_filter - what an event wants to see
 * @control: sctrctl while it is recorded
 * @types: record types to keep, as a bit mask
 * @user: keep what happens in user mode
 * @kernel: keep what happens in supervisor mode
 * @stack: the ring emulates the return-address stack and belongs to a task
 * @flags: report whether branches were predicted
 * @cycles: report cycles
 * @save_type: report the type of branches
 * @save_privilege: report the privilege that branches lead to
 */
struct ctr_filter {
	u64 control;
	u16 types;
	bool user;
	bool kernel;
	bool stack;
	bool flags;
	bool cycles;
	bool save_type;
	bool save_privilege;
};

int ctr_filter_init(struct ctr_filter *filter, u64 branch_sample_type, const struct ctr_caps *caps);
unsigned int ctr_filter_entries(const struct ctr_filter *filter, const struct ctr_caps *caps,
				const struct ctr_record *records, unsigned int count,
				struct perf_branch_entry *entries);
unsigned int ctr_cycles(u64 data);

#endif /* CTR_FILTER_H */
