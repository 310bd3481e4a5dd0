// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace ctr trace: BPF programs that run at the entry and the return of kernel
 * functions and record how the hart came there.
 *
 * Each transfer on the way to bpf_ctr_snapshot() evicts an old one from the
 * ring. So code before that call avoids calls and loops as far as possible.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "ctr/trace.h"

extern int bpf_ctr_snapshot(void *entries, __u32 entries__sz, __u64 flags) __ksym;

SEC(".rodata.config") const volatile struct ctr_trace_config config;
SEC(".bss.counts") struct ctr_trace_counts counts;

/* Too large for the stack; a per-CPU map would cost a call to look up. */
static struct slot {
	struct ctr_trace_hit hit;
	__u64 busy;
} slots[CTR_TRACE_SLOTS] SEC(".bss.slots");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} hits SEC(".maps");

static __always_inline int comm_wanted(const struct ctr_trace_hit *hit)
{
	for (int i = 0; i < CTR_TRACE_COMM; i++) {
		if (hit->comm[i] != config.comm[i])
			return 0;
		if (!config.comm[i])
			return 1;
	}
	return 1;
}

/*
 * Fills in the members that need calls, after the snapshot. Return: 1 if the
 * hit is wanted.
 */
static __always_inline int describe(void *ctx, struct ctr_trace_hit *hit, __u64 value)
{
	__u64 id = bpf_get_current_pid_tgid();

	hit->pid = id >> 32;
	hit->tid = (__u32)id;
	if (hit->pid == config.self)
		return 0;
	bpf_get_current_comm(hit->comm, sizeof(hit->comm));
	if (config.comm[0] && !comm_wanted(hit))
		return 0;
	hit->time = bpf_ktime_get_ns();
	hit->value = value;
	hit->cookie = bpf_get_attach_cookie(ctx);
	hit->cpu = bpf_get_smp_processor_id();
	return 1;
}

static __always_inline int take(void *ctx, __u64 value)
{
	struct slot *slot;
	__u64 length;

	if (config.pid && bpf_get_current_pid_tgid() >> 32 != config.pid)
		return 0;
	slot = &slots[__sync_fetch_and_add(&counts.next, 1) % CTR_TRACE_SLOTS];
	/*
	 * The previous user of this slot was preempted or interrupted until all
	 * others were used.
	 */
	if (__builtin_expect(__sync_lock_test_and_set(&slot->busy, 1), 0)) {
		__sync_fetch_and_add(&counts.lost, 1);
		return 0;
	}
	slot->hit.bytes = bpf_ctr_snapshot(slot->hit.entries, config.room, 0);
	if (describe(ctx, &slot->hit, value)) {
		length = slot->hit.bytes < 0 ? 0 : slot->hit.bytes;
		if (length > sizeof(slot->hit.entries))
			length = sizeof(slot->hit.entries);
		if (bpf_ringbuf_output(&hits, &slot->hit, CTR_TRACE_HEAD + length, 0))
			__sync_fetch_and_add(&counts.lost, 1);
	}
	__sync_lock_test_and_set(&slot->busy, 0);
	return 0;
}

SEC("fentry")
int entered(void *ctx)
{
	return take(ctx, 0);
}

SEC("fexit")
int returned(void *ctx)
{
	__u64 value = 0;

	bpf_get_func_ret(ctx, &value);
	if (config.errors && (__s64)value >= 0)
		return 0;
	if (config.errors && (__s64)value < -4095)
		return 0;
	return take(ctx, value);
}

char LICENSE[] SEC("license") = "GPL";
