/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control Transfer Records: declarations shared by the files of the driver.
 *
 * ctr_hw.c      registers of the current hart
 * ctr_filter.c  converts perf's branch stacks and filters to CTR and back; no register access
 * ctr_ring.c    owner of each hart's ring, rings of tasks, context switches
 * ctr_pmu.c     the PMU "ctr" and the counters that trigger its samples
 * ctr_hook.c    branch stacks for the kernel's cpu PMU (hook=1)
 * ctr_bpf.c     a kfunc that reads the ring
 * ctr_debug.c   state in debugfs
 * ctr_main.c    discovery, hotplug, idle
 */
#ifndef CTR_H
#define CTR_H

#include <linux/perf_event.h>
#include <linux/workqueue.h>

#include "ctr_filter.h"

#define CTR_VERSION "0.1.0"

/**
 * struct ctr_event - an event of the PMU, or a hooked one of the cpu PMU
 * @counter: the counter that triggers the samples; NULL for an event of the cpu
 *	     PMU, which is a counter itself, and for an inherited event until it is
 *	     first scheduled
 * @filter: records that the event wants
 * @depth: entries to read per sample
 * @skip: the next overflow is not a sample, see ctr_event_overflow()
 * @next: while it is scheduled: the next event that shares the ring of the hart, or NULL
 * @release: work that releases @counter and this struct; not for inherited events
 * @output: original overflow handler of the event
 * @destroy: event of the cpu PMU: its original destroy function, or NULL
 *
 * The counters of an event and of those that inherit it have the first one's struct
 * ctr_event as handler context. It is not the perf_event, because the counter outlives
 * the event for a moment.
 */
struct ctr_event {
	struct perf_event *counter;
	struct ctr_filter filter;
	unsigned int depth;
	bool skip;
	struct perf_event *next;
	struct work_struct release;
	perf_overflow_handler_t output;
	void (*destroy)(struct perf_event *event);
};

/* A perf_branch_stack with room for the largest ring. */
struct ctr_stack {
	u64 nr;
	u64 hw_idx;
	struct perf_branch_entry entries[CTR_ENTRIES_MAX];
};

/**
 * struct ctr_cpu - state of a hart, accessed only on this hart with interrupts off
 * @usable: online, with the common capabilities
 * @owner: the event that was scheduled last, or NULL; others that share the ring follow
 *	   it in ctr_event.next
 * @ring_task: the task whose ring is loaded, if the owner has rings per task
 * @samples: number of samples delivered
 * @skidded: number of samples dropped because they were taken in the kernel
 *	     although the event excludes it
 * @records: records read from the ring
 * @stack: branch stack passed to perf
 */
struct ctr_cpu {
	bool usable;
	struct perf_event *owner;
	struct task_struct *ring_task;
	u64 samples;
	u64 skidded;
	struct ctr_record records[CTR_ENTRIES_MAX];
	struct ctr_stack stack;
};

/* Allocated dynamically: modules have little space for static per-CPU variables. */
extern struct ctr_cpu __percpu *ctr_cpus;

static inline struct ctr_event *ctr_event_of(const struct perf_event *event)
{
	return event->pmu_private;
}

/* ctr_main.c: common to all harts, constant after loading */
extern struct ctr_caps ctr_caps;
extern unsigned int ctr_depth_code;
static inline unsigned int ctr_depth(void)
{
	return 16U << ctr_depth_code;
}

/*
 * Logs why perf_event_open() fails, because tools guess a reason from the error. Each place
 * has a rate limit of its own: tools try variants of an event.
 */
#define ctr_refuse(error, reason)                                                          \
	({                                                                                 \
		pr_info_ratelimited("%s[%d]: no branch stack: %s\n", current->comm,        \
				    task_pid_nr(current), reason);                         \
		error;                                                                     \
	})

int ctr_event_filter(struct perf_event *event, struct ctr_filter *filter);
unsigned int ctr_event_depth(const struct perf_event *event, const struct ctr_filter *filter,
			     unsigned int asked);

/* ctr_ring.c */
int ctr_ring_init(void);
int ctr_ring_users_get(bool kernel);
void ctr_ring_users_put(bool kernel);
int ctr_ring_slot_get(struct task_struct *task);
void ctr_ring_slot_put(struct task_struct *task);
bool ctr_ring_owns(const struct ctr_cpu *cpu, const struct perf_event *event);
int ctr_ring_begin(struct perf_event *event);
void ctr_ring_end(struct perf_event *event);
unsigned int ctr_ring_fill(struct perf_event *event);
void ctr_ring_sampled(const struct perf_event *event);
int ctr_ring_snapshot(struct perf_branch_entry *entries, unsigned int max);
void ctr_ring_online(struct ctr_cpu *cpu);
void ctr_ring_offline(struct ctr_cpu *cpu);

/* ctr_pmu.c */
bool ctr_pmu_has(const struct perf_event *event);
int ctr_pmu_init(void);
void ctr_pmu_exit(void);

/* ctr_hook.c */
bool ctr_hook_has(const struct perf_event *event);
int ctr_hook_init(void);

/* ctr_bpf.c */
void ctr_bpf_init(void);
/* For BPF programs; declared to avoid the warning about a missing prototype. */
int bpf_ctr_snapshot(void *entries, u32 entries__sz, u64 flags);

/* ctr_debug.c */
void ctr_debug_init(void);
void ctr_debug_exit(void);

#endif /* CTR_H */
