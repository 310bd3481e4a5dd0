/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control Transfer Records: declarations shared by the files of the driver.
 *
 * ctr_hw.c      registers of the current hart
 * ctr_filter.c  converts perf's branch stacks and filters to CTR and back; no register access
 * ctr_ring.c    events that share a hart's ring, context switches
 * ctr_task.c    call stacks of tasks that are not running
 * ctr_pmu.c     the PMU "ctr" and the counters that trigger its samples
 * ctr_hook.c    branch stacks for the kernel's cpu PMU (hook=1)
 * ctr_bpf.c     a kfunc that reads the ring
 * ctr_debug.c   state in debugfs
 * ctr_main.c    discovery, hotplug, idle
 *
 *   perf_event_open()           a task comes to the hart        a counter overflows
 *    ctr_pmu.c, ctr_hook.c       ctr_add(), ctr_hooked_add()     ctr_output(), ctr_hook_overflow()
 *         |                           |                               |
 *    ctr_event_filter()          ctr_ring_begin()                ctr_ring_fill()
 *    ctr_ring_open()              sum of the filters              records of this event alone
 *         |                           |                               |
 *    ctr_event.filter            ctr_cpu.filter, sctrctl         ctr_cpu.stack
 *
 * Invariants: ctr_cpu is accessed on its hart alone, with interrupts off. A ring has records
 * of one task, the running one. ctr_caps does not change after loading.
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
 * @event: the event
 * @node: in the list of events with a branch stack, see ctr_ring_open(); not for inherited
 *	  events
 * @filter: records that the event wants; all zero if it records nothing
 * @depth: entries per sample
 * @skip: the next overflow is not a sample, see ctr_event_overflow()
 * @next: while it is scheduled: the next event of the hart, or NULL
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
	struct perf_event *event;
	struct list_head node;
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
 * @events: the scheduled events, the last one first; linked by ctr_event.next
 * @filter: what the ring records: the sum of the filters of @events
 * @recorded: value of sctrctl when the ring was last cleared; it may have records that
 *	      @filter no longer includes
 * @ring_task: the task whose call stack the ring has, also while none of its events is
 *	       scheduled; NULL if there is none to be kept, see ctr_task.c
 * @samples: number of samples delivered
 * @skidded: number of samples dropped because they were taken in a mode that the
 *	     event excludes
 * @records: records read from the ring
 * @stack: branch stack passed to perf
 */
struct ctr_cpu {
	bool usable;
	struct perf_event *events;
	struct ctr_filter filter;
	u64 recorded;
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
int ctr_ring_users_get(const struct ctr_filter *filter);
void ctr_ring_users_put(const struct ctr_filter *filter);
int ctr_ring_open(struct perf_event *event);
void ctr_ring_close(struct perf_event *event);
bool ctr_ring_has(const struct ctr_cpu *cpu, const struct perf_event *event);
int ctr_ring_begin(struct perf_event *event);
void ctr_ring_end(struct perf_event *event);
bool ctr_ring_skidded(const struct perf_event *event, struct pt_regs *regs);
unsigned int ctr_ring_fill(struct perf_event *event, struct perf_sample_data *data);
void ctr_ring_sampled(void);
int ctr_ring_snapshot(struct perf_branch_entry *entries, unsigned int max);
void ctr_ring_online(struct ctr_cpu *cpu);
void ctr_ring_offline(struct ctr_cpu *cpu);

/* ctr_task.c */
struct linux_binprm;
int ctr_task_open(struct perf_event *event);
void ctr_task_close(const struct perf_event *event);
bool ctr_task_has_slot(const struct task_struct *task);
void ctr_task_save(struct ctr_cpu *cpu, struct task_struct *task);
void ctr_task_load(struct ctr_cpu *cpu, struct task_struct *task);
void ctr_task_fork(void *data, struct task_struct *parent, struct task_struct *child);
void ctr_task_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm);
void ctr_task_free(void *data, struct task_struct *task);

/* ctr_pmu.c */
extern const struct attribute_group ctr_caps_group;
int ctr_pmu_init(void);
void ctr_pmu_exit(void);

/* ctr_hook.c */
int ctr_hook_find(void);
void ctr_hook_forget(void);
void ctr_hook_install(void);

/* ctr_bpf.c */
void ctr_bpf_init(void);
/* For BPF programs; declared to avoid the warning about a missing prototype. */
int bpf_ctr_snapshot(void *entries, u32 entries__sz, u64 flags);

/* ctr_debug.c */
void ctr_debug_init(void);
void ctr_debug_exit(void);

#endif /* CTR_H */
