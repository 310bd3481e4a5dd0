/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converts perf's branch filters to CTR, and CTR's records to perf's entries. No
 * register access, so that tests run on the host.
 */
#ifndef CTR_FILTER_H
#define CTR_FILTER_H

#include "ctr_regs.h"

/**
 * struct ctr_filter - records that an event wants, and their format
 * @control: sctrctl while the event records
 * @types: record types to keep, as a bit mask
 * @user: keep records of user mode
 * @kernel: keep records of supervisor mode
 * @stack: the ring emulates the return-address stack and belongs to a task
 * @flags: report whether branches were predicted
 * @cycles: report cycles
 * @data: ctrdata of the records is needed: for cycles or types
 * @sieve: the harts lack a filter, so the driver drops records by their type
 * @save_type: report the type of branches
 * @save_privilege: report the privilege of branch targets
 */
struct ctr_filter {
	u64 control;
	u16 types;
	bool user;
	bool kernel;
	bool stack;
	bool flags;
	bool cycles;
	bool data;
	bool sieve;
	bool save_type;
	bool save_privilege;
};

/**
 * struct ctr_entries - branch entries, while records are converted
 * @entry: result, newest first
 * @count: number of entries
 * @max: maximum number of entries
 * @timed: the cycles of the last entry are known
 * @source: of the last record that was converted or dropped
 * @full: there are @max entries, and the next older record is known, so that the cycles
 *	  of the last entry are complete
 */
struct ctr_entries {
	struct perf_branch_entry *entry;
	unsigned int count;
	unsigned int max;
	bool timed;
	u64 source;
	bool full;
};

const char *ctr_filter_init(struct ctr_filter *filter, const struct perf_event_attr *attr,
			    const struct ctr_caps *caps);
bool ctr_filter_shares(const struct ctr_filter *one, const struct ctr_filter *other,
		       const struct ctr_caps *caps);
void ctr_filter_merge(struct ctr_filter *sum, const struct ctr_filter *other,
		      const struct ctr_caps *caps);
void ctr_filter_entries(const struct ctr_filter *filter, const struct ctr_caps *caps,
			const struct ctr_record *records, unsigned int count,
			struct ctr_entries *entries);
unsigned int ctr_cycles(u64 data);

#endif /* CTR_FILTER_H */
