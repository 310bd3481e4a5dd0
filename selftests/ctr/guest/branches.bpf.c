// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the branches before each sample, as a continuous profiler does: a program for an event with
 * a branch stack. Each transfer on the way to bpf_ctr_snapshot() evicts an old one from the ring, so
 * it comes first. records.bpf.c is the same for kernels whose PMU has branch stacks.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>

#include <bpf/bpf_helpers.h>

#include "branches.h"

#ifndef READ_BRANCHES
extern int bpf_ctr_snapshot(void *entries, __u32 entries__sz, __u64 flags) __ksym;
#define READ_BRANCHES(context, entries) bpf_ctr_snapshot(entries, sizeof(entries), 0)
#endif

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct branch);
	__type(value, __u64);
} counts SEC(".maps");

/* Samples, and those without branches. */
__u64 samples, failed;

SEC("perf_event")
int count_branches(void *ctx)
{
	struct perf_branch_entry entries[BRANCHES_MAX] = {};
	int bytes = READ_BRANCHES(ctx, entries);

	(void)ctx;
	samples++;
	if (bytes < 0)
		failed++;
	for (int i = 0; i < BRANCHES_MAX; i++) {
		struct branch branch = { entries[i].from, entries[i].to };
		__u64 one = 1, *count;

		if ((i + 1) * (int)sizeof(entries[0]) > bytes)
			break;
		count = bpf_map_lookup_elem(&counts, &branch);
		if (count)
			__sync_fetch_and_add(count, 1);
		else
			bpf_map_update_elem(&counts, &branch, &one, BPF_NOEXIST);
	}
	return 0;
}

char program_license[] SEC("license") = "GPL";
