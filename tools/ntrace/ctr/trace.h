/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace ctr trace: shared by the BPF programs and the command. */
#ifndef NTRACE_TOOL_CTR_TRACE_H
#define NTRACE_TOOL_CTR_TRACE_H

#include <linux/perf_event.h>
#include <linux/types.h>

/* Depth of the deepest ring. */
#define CTR_TRACE_ENTRIES 256
#define CTR_TRACE_COMM 16
/* Hits being assembled at the same time on all CPUs. A power of two. */
#define CTR_TRACE_SLOTS 64

/**
 * struct ctr_trace_config - selection of hits, constant while the programs are loaded
 * @pid: process, 0 = any
 * @self: the process that reads the hits: ignored
 * @room: maximum bytes of entries to read
 * @errors: only returns with an error
 * @comm: name of the task, padded with zeros; "" = any
 */
struct ctr_trace_config {
	__u32 pid;
	__u32 self;
	__u32 room;
	__u32 errors;
	char comm[CTR_TRACE_COMM];
};

/**
 * struct ctr_trace_hit - entry or return of a function
 * @time: CLOCK_MONOTONIC, ns
 * @value: return value
 * @cookie: index of the function * 2, + 1 for a return
 * @bytes: size of @entries, or a negative errno
 * @entries: youngest first; unused ones are not transferred
 */
struct ctr_trace_hit {
	__u64 time;
	__u64 value;
	__u64 cookie;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__s32 bytes;
	char comm[CTR_TRACE_COMM];
	struct perf_branch_entry entries[CTR_TRACE_ENTRIES];
};
#define CTR_TRACE_HEAD __builtin_offsetof(struct ctr_trace_hit, entries)

/**
 * struct ctr_trace_counts - counters of the programs
 * @next: slot for the next hit
 * @lost: hits lost because no slot was free
 */
struct ctr_trace_counts {
	__u32 next;
	__u32 pad;
	__u64 lost;
};

#endif /* NTRACE_TOOL_CTR_TRACE_H */
