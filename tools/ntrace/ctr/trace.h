/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace ctr trace: what the BPF programs and the command share. */
#ifndef NTRACE_TOOL_CTR_TRACE_H
#define NTRACE_TOOL_CTR_TRACE_H

#include <linux/perf_event.h>
#include <linux/types.h>

/* No ring is deeper. */
#define CTR_TRACE_ENTRIES 256
#define CTR_TRACE_COMM 16
/* Hits that are being put together at the same time, on all harts. A power of two. */
#define CTR_TRACE_SLOTS 64

/**
 * struct ctr_trace_config - what the programs look for, constant while they are loaded
 * @pid: process, 0 = any
 * @self: the process that reads the hits: it is left out
 * @room: bytes of entries to read
 * @errors: returns with an error alone
 * @comm: name of the task, "" = any; zero behind the name
 */
struct ctr_trace_config {
	__u32 pid;
	__u32 self;
	__u32 room;
	__u32 errors;
	char comm[CTR_TRACE_COMM];
};

/**
 * struct ctr_trace_hit - a function was entered, or returned
 * @time: CLOCK_MONOTONIC, ns
 * @value: what it returned
 * @cookie: index of the function * 2, + 1 for a return
 * @bytes: of @entries, or a negative errno
 * @entries: youngest first; what was not stored is not handed over
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
 * struct ctr_trace_counts - what the programs count
 * @next: slot for the next hit
 * @lost: hits for which there was no room
 */
struct ctr_trace_counts {
	__u32 next;
	__u32 pad;
	__u64 lost;
};

#endif /* NTRACE_TOOL_CTR_TRACE_H */
