// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of the harts: the events that share one, and context switches.
 *
 * A hart has one ring. It records what any of the events on the hart wants: a mode if one
 * event wants it, and all types of transfers except those that no event wants. Each event
 * then gets only its records, see ctr_filter_entries(). A call stack (RASEMU) needs the
 * ring alone.
 *
 *   events on the hart       sctrctl            kept in a sample of the event
 *   any,u                    U                  all
 *   any,u  call,k            U S                any,u: user mode; call,k: calls, kernel
 *   any,u          (del)     U                  any,u: user mode
 *
 * When the ring begins to record more, it is cleared, because the older records are not
 * all that the new event wants. When it records less, the records stay.
 *
 * The records do not name a task. The driver therefore clears the ring when the last
 * event ends, and whenever the hart switches to another task: perf may swap the contexts
 * of two tasks without calling the PMU, and does not report task switches to events of a
 * hart. A call stack is exchanged instead, and the ring goes on with it while the event is
 * off, see ctr_task.c.
 *
 * Kernel records cannot reach users who may not see them. With U recorded and S not,
 * the hart records neither the trap into the kernel (STE is never set), nor the
 * kernel's transfers, nor the return, whose source mode is not enabled. The rule to
 * clear S before sret applies to rings with both modes, which need an event with
 * perf_allow_kernel(). Other events that share such a ring get no record with a kernel
 * address.
 */
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <trace/events/irq.h>
#include <trace/events/sched.h>

#include "ctr.h"
#include "ctr_hw.h"

#define CTR_INSN_ECALL 0x73

struct ctr_cpu __percpu *ctr_cpus;

/* Open events with a branch stack, without inherited ones. */
static LIST_HEAD(ctr_events);
static DEFINE_SPINLOCK(ctr_events_lock);

/* Whether two events may be on a hart at the same time. */
static bool ctr_events_meet(const struct perf_event *one, const struct perf_event *other)
{
	return (one->cpu == other->cpu || one->cpu < 0 || other->cpu < 0) &&
	       (one->hw.target == other->hw.target || !one->hw.target || !other->hw.target);
}

/* Refuses an event that cannot share the ring with one that is open. */
static int ctr_ring_admit(struct perf_event *event)
{
	const char *reason =
		ctr_caps.type ? "call stacks and other branches cannot be recorded at once" :
				"the harts do not record types: all events need the same filter";
	struct ctr_event *new = ctr_event_of(event), *open;

	guard(spinlock)(&ctr_events_lock);
	list_for_each_entry(open, &ctr_events, node) {
		if (ctr_filter_shares(&open->filter, &new->filter, &ctr_caps) ||
		    !ctr_events_meet(open->event, event))
			continue;
		/*
		 * perf schedules events of a hart before those of tasks, so that a user
		 * cannot keep the administrator from recording a hart.
		 */
		if (open->event->hw.target && !event->hw.target)
			continue;
		return ctr_refuse(-EBUSY, reason);
	}
	list_add(&new->node, &ctr_events);
	return 0;
}

/**
 * ctr_ring_open() - prepare for an event and those that inherit it
 * @event: the event, before it is scheduled for the first time
 *
 * Return: 0; -EBUSY if another event on the same task or hart needs the ring alone, or
 * this one does; -ENOMEM.
 */
int ctr_ring_open(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event);
	int ret;

	ctr_event->event = event;
	if (!ctr_event->filter.control)
		return 0;
	ret = ctr_ring_admit(event);
	if (ret || !ctr_event->filter.stack)
		return ret;
	ret = ctr_task_open(event);
	if (ret) {
		guard(spinlock)(&ctr_events_lock);
		list_del(&ctr_event->node);
	}
	return ret;
}

/**
 * ctr_ring_close() - undo ctr_ring_open()
 * @event: the event; nothing is done for one that is inherited
 */
void ctr_ring_close(struct perf_event *event)
{
	struct ctr_event *ctr_event = ctr_event_of(event);

	if (event->parent || !ctr_event->filter.control)
		return;
	if (ctr_event->filter.stack)
		ctr_task_close(event);
	guard(spinlock)(&ctr_events_lock);
	list_del(&ctr_event->node);
}

/**
 * ctr_ring_has() - tell whether an event is scheduled on this hart
 * @cpu: state of this hart
 * @event: the event
 *
 * Return: whether it is.
 */
bool ctr_ring_has(const struct ctr_cpu *cpu, const struct perf_event *event)
{
	const struct perf_event *other = cpu->events;

	while (other && other != event)
		other = ctr_event_of(other)->next;
	return other;
}

/*
 * Makes the hart record what its events want. ctr_ring_snapshot() may interrupt this; each
 * field that it reads is valid before and after.
 */
static void ctr_ring_update(struct ctr_cpu *cpu)
{
	struct ctr_filter before = cpu->filter, filter = {};
	const struct perf_event *event;

	for (event = cpu->events; event; event = ctr_event_of(event)->next)
		ctr_filter_merge(&filter, &ctr_event_of(event)->filter, &ctr_caps);
	cpu->filter = filter;
	if (!cpu->usable || filter.control == before.control)
		return;
	/* The ring keeps the call stack of its task. */
	if (cpu->ring_task && (filter.stack || !filter.control)) {
		cpu->recorded = filter.control;
		return;
	}
	ctr_hw_control(0);
	cpu->ring_task = filter.stack && ctr_task_has_slot(current) ? current : NULL;
	/* Whether types or modes are recorded that were not. */
	if (!filter.control || !before.control ||
	    (filter.control & ~before.control & ~CTR_CTL_INHIBIT) ||
	    (before.control & ~filter.control & CTR_CTL_INHIBIT)) {
		ctr_hw_clear();
		cpu->recorded = filter.control;
	}
	/* Only rings with the kernel are thawed after an interrupt. */
	if (before.kernel && !filter.kernel)
		ctr_hw_thaw();
	ctr_hw_control(filter.control);
}

/**
 * ctr_ring_begin() - schedule an event on this hart, and record for it
 * @event: the event
 *
 * Records that are already in the ring are of the same task, so the new event may have
 * those that its filter keeps.
 *
 * Return: 0, -EOPNOTSUPP if the hart lacks the common capabilities, -EBUSY if its
 * ring cannot record for this event as well; perf then alternates between them.
 */
int ctr_ring_begin(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	struct ctr_event *ctr_event = ctr_event_of(event);

	lockdep_assert_irqs_disabled();
	if (!cpu->usable && ctr_event->filter.control)
		return -EOPNOTSUPP;
	if (!ctr_filter_shares(&cpu->filter, &ctr_event->filter, &ctr_caps))
		return -EBUSY;
	ctr_event->next = cpu->events;
	cpu->events = event;
	ctr_ring_update(cpu);
	return 0;
}

/**
 * ctr_ring_end() - undo ctr_ring_begin()
 * @event: the event
 *
 * The last event clears the ring, unless it has the call stack of a task with a slot.
 */
void ctr_ring_end(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	struct perf_event **link = &cpu->events;

	lockdep_assert_irqs_disabled();
	while (*link && *link != event)
		link = &ctr_event_of(*link)->next;
	if (!*link)
		return;
	*link = ctr_event_of(event)->next;
	ctr_ring_update(cpu);
}

/* Tracepoint sched_switch, just before this hart switches to @next. */
static void ctr_sched_switch(void *data, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int prev_state)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	bool recorded = cpu->filter.control || cpu->ring_task;

	if (recorded && cpu->usable)
		ctr_hw_control(0);
	ctr_task_save(cpu, prev);
	if (!cpu->usable)
		return;
	if (recorded)
		ctr_hw_clear();
	if (cpu->filter.stack || !cpu->filter.control)
		ctr_task_load(cpu, next);
	cpu->recorded = cpu->filter.control;
	if (recorded || cpu->ring_task)
		ctr_hw_control(cpu->ring_task ? CTR_CTL_STACK : cpu->filter.control);
}

/*
 * With LCOFIFRZ, the overflow of any counter freezes the ring, and only this driver
 * thaws it. It does so at the end of the interrupt, so that the ring has no transfers
 * of perf's handler.
 */
static void ctr_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

	if (cpu->filter.kernel && cpu->usable)
		ctr_hw_thaw();
}

/* Tracepoints, which are not exported to modules, and their users. */
static struct {
	const char *name;
	void *probe;
	struct tracepoint *point;
	unsigned int users;
} ctr_probes[] = {
	{ .name = "sched_switch", .probe = ctr_sched_switch },
	{ .name = "irq_handler_exit", .probe = ctr_irq_exit },
	{ .name = "sched_process_fork", .probe = ctr_task_fork },
	{ .name = "sched_process_exec", .probe = ctr_task_exec },
	{ .name = "sched_process_free", .probe = ctr_task_free },
};

/* Bits are indices of ctr_probes. */
#define CTR_PROBES_ALWAYS	(BIT(0) | BIT(3))
#define CTR_PROBES_KERNEL	BIT(1)
#define CTR_PROBES_STACK	(BIT(2) | BIT(4))

static DEFINE_MUTEX(ctr_probes_lock);

static void ctr_find_tracepoint(struct tracepoint *point, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ctr_probes); i++) {
		if (!strcmp(point->name, ctr_probes[i].name))
			ctr_probes[i].point = point;
	}
}

/**
 * ctr_ring_init() - find the tracepoints
 *
 * Return: 0, or -ENOENT if the kernel was built without tracepoints.
 */
int ctr_ring_init(void)
{
	unsigned int i;

	check_trace_callback_type_sched_switch(ctr_sched_switch);
	check_trace_callback_type_irq_handler_exit(ctr_irq_exit);
	check_trace_callback_type_sched_process_fork(ctr_task_fork);
	check_trace_callback_type_sched_process_exec(ctr_task_exec);
	check_trace_callback_type_sched_process_free(ctr_task_free);
	for_each_kernel_tracepoint(ctr_find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(ctr_probes); i++) {
		if (!ctr_probes[i].point)
			return -ENOENT;
	}
	return 0;
}

static unsigned int ctr_filter_probes(const struct ctr_filter *filter)
{
	return (filter->control ? CTR_PROBES_ALWAYS : 0) |
	       (filter->kernel ? CTR_PROBES_KERNEL : 0) | (filter->stack ? CTR_PROBES_STACK : 0);
}

static void ctr_probes_put(unsigned int probes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ctr_probes); i++) {
		if (probes & BIT(i) && !--ctr_probes[i].users)
			tracepoint_probe_unregister(ctr_probes[i].point, ctr_probes[i].probe, NULL);
	}
}

/**
 * ctr_ring_users_get() - register the tracepoints for a new event
 * @filter: filter of the event
 *
 * Return: 0 or an error of tracepoint_probe_register().
 */
int ctr_ring_users_get(const struct ctr_filter *filter)
{
	unsigned int probes = ctr_filter_probes(filter), i;
	int ret;

	guard(mutex)(&ctr_probes_lock);
	for (i = 0; i < ARRAY_SIZE(ctr_probes); i++) {
		if (!(probes & BIT(i)) || ctr_probes[i].users++)
			continue;
		ret = tracepoint_probe_register(ctr_probes[i].point, ctr_probes[i].probe, NULL);
		if (ret) {
			ctr_probes[i].users = 0;
			ctr_probes_put(probes & (BIT(i) - 1));
			return ret;
		}
	}
	return 0;
}

/**
 * ctr_ring_users_put() - undo ctr_ring_users_get()
 * @filter: filter of the event
 */
void ctr_ring_users_put(const struct ctr_filter *filter)
{
	guard(mutex)(&ctr_probes_lock);
	ctr_probes_put(ctr_filter_probes(filter));
}

/* Only ecall is a system call; perf has no type for other exceptions. */
static unsigned int ctr_exception_type(u64 from)
{
	u32 insn;

	if ((s64)from < 0 || copy_from_user_nofault(&insn, (void __user *)from, sizeof(insn)))
		return PERF_BR_UNKNOWN;
	return insn == CTR_INSN_ECALL ? PERF_BR_SYSCALL : PERF_BR_UNKNOWN;
}

/* Converts the records that the event wants, see ctr_filter_entries(). */
static void ctr_ring_convert(const struct ctr_filter *filter, const struct ctr_record *records,
			     unsigned int count, struct ctr_entries *entries)
{
	unsigned int i = entries->count;

	ctr_filter_entries(filter, &ctr_caps, records, count, entries);
	/* The hart records exceptions only if the kernel is recorded. */
	for (; i < entries->count && filter->save_type && filter->kernel; i++) {
		if (entries->entry[i].type == PERF_BR_SYSCALL)
			entries->entry[i].type = ctr_exception_type(entries->entry[i].from);
	}
}

/*
 * Reads the entries that @filter wants from the ring of this hart, at most @max. @records
 * has room for @room records. noinline, see ctr_ring_snapshot().
 */
static noinline unsigned int ctr_ring_read(const struct ctr_cpu *cpu,
					   const struct ctr_filter *filter,
					   struct ctr_record *records, unsigned int room,
					   struct perf_branch_entry *entry, unsigned int max)
{
	/* The ring has records that the event does not want. */
	bool sieve = filter->sieve || cpu->recorded != filter->control;
	bool data = filter->data || (sieve && ctr_caps.type);
	struct ctr_entries entries = { .entry = entry, .max = max };
	unsigned int first = 0, count, asked;

	do {
		asked = min(room, ctr_depth() - first);
		/* Dropped records leave room for older ones. */
		if (!sieve)
			asked = min(asked, max - entries.count);
		count = ctr_hw_read(records, first, asked, data);
		ctr_ring_convert(filter, records, count, &entries);
		first += count;
	} while (count == asked && !entries.full && first < ctr_depth() &&
		 (sieve || entries.count < max));
	/* A record before the oldest entry may have been dropped, with its cycles. */
	if (sieve && entries.count && !entries.full)
		entry[entries.count - 1].cycles = 0;
	return entries.count;
}

/*
 * The position of the newest entry in the ring: with it, perf joins the call stacks of two
 * samples if the older frames are no longer in the ring. Other rings wrap too often.
 */
static u64 ctr_ring_index(const struct ctr_filter *filter)
{
	return filter->stack ? (ctr_hw_status() - 1) & (ctr_depth() - 1) : -1ULL;
}

/**
 * ctr_ring_skidded() - tell whether a sample must be dropped
 * @event: the event that has overflowed
 * @regs: registers at the interrupt
 *
 * The interrupt comes some instructions late. If it comes in a mode that the event
 * excludes, the branches do not lead to the sample, and the user may not see a sample of
 * the kernel. perf does not check this.
 *
 * Return: whether it must be dropped.
 */
bool ctr_ring_skidded(const struct perf_event *event, struct pt_regs *regs)
{
	if (!(user_mode(regs) ? event->attr.exclude_user : event->attr.exclude_kernel))
		return false;
	this_cpu_ptr(ctr_cpus)->skidded++;
	return true;
}

/**
 * ctr_ring_fill() - read the ring of this hart, and add its branch stack to a sample
 * @event: an event on this hart, with a branch stack
 * @data: the sample, which refers to the hart's ctr_cpu.stack until the next sample
 *
 * Return: number of entries.
 */
unsigned int ctr_ring_fill(struct perf_event *event, struct perf_sample_data *data)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	const struct ctr_event *ctr_event = ctr_event_of(event);

	/* LCOFIFRZ has already frozen the ring, unless the hart lacks it. */
	if (cpu->filter.kernel)
		ctr_hw_freeze();
	/* A sieve reads some more records than it keeps. */
	cpu->stack.nr = ctr_ring_read(cpu, &ctr_event->filter, cpu->records, ctr_event->depth + 1,
				      cpu->stack.entries, ctr_event->depth);
	cpu->stack.hw_idx = ctr_ring_index(&ctr_event->filter);
	cpu->samples++;
	perf_sample_save_brstack(data, event, (struct perf_branch_stack *)&cpu->stack, NULL);
	return cpu->stack.nr;
}

/**
 * ctr_ring_sampled() - thaw the ring after a sample that no interrupt of genirq took
 *
 * The counters may also interrupt as supervisor software events, which are like NMIs.
 * Then ctr_irq_exit() does not follow. If such an event was for a counter of another
 * driver, the next interrupt of any kind thaws the ring.
 */
void ctr_ring_sampled(void)
{
	if (in_nmi() && this_cpu_ptr(ctr_cpus)->filter.kernel)
		ctr_hw_thaw();
}

/* Number of records that a snapshot keeps on the stack. */
#define CTR_SNAPSHOT_STEP 16U

static noinline unsigned int ctr_ring_copy(const struct ctr_cpu *cpu,
					   struct perf_branch_entry *entries, unsigned int max)
{
	struct ctr_record records[CTR_SNAPSHOT_STEP];

	return ctr_ring_read(cpu, &cpu->filter, records, CTR_SNAPSHOT_STEP, entries, max);
}

/**
 * ctr_ring_snapshot() - read the ring of this hart at any time
 * @entries: result, newest first
 * @max: maximum number of entries
 *
 * The entries are what the ring records: what any of the events on the hart wants. The
 * caller must be permitted to see the kernel and all tasks, because other users may have
 * opened them.
 *
 * May interrupt every other function of this file, also during a sample: it does not
 * use the buffers in ctr_cpu, and a frozen ring stays frozen. The functions that follow
 * the freeze are noinline: the compiler may initialize their local variables with a loop,
 * and its transfers must come after the freeze.
 *
 * Return: number of entries, or -ENOENT if nothing is recorded on this hart.
 */
int ctr_ring_snapshot(struct perf_branch_entry *entries, unsigned int max)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	unsigned int filled;
	bool frozen;

	lockdep_assert_irqs_disabled();
	if (unlikely(!cpu->filter.control || !cpu->usable))
		return -ENOENT;
	/* As early as possible, without a transfer since the call. */
	frozen = ctr_hw_freeze();
	filled = ctr_ring_copy(cpu, entries, max);
	if (!frozen)
		ctr_hw_thaw();
	return filled;
}

/**
 * ctr_ring_online() - set up the ring of this hart
 * @cpu: state of this hart
 */
void ctr_ring_online(struct ctr_cpu *cpu)
{
	ctr_hw_setup(ctr_depth_code);
	cpu->ring_task = NULL;
	cpu->usable = true;
	/* After an idle state that lost the registers. */
	cpu->recorded = cpu->filter.control;
	if (cpu->filter.control)
		ctr_hw_control(cpu->filter.control);
}

/**
 * ctr_ring_offline() - stop using this hart
 * @cpu: state of this hart
 *
 * A scheduled event is removed later; ctr_ring_end() then does nothing.
 */
void ctr_ring_offline(struct ctr_cpu *cpu)
{
	cpu->usable = false;
	cpu->ring_task = NULL;
	ctr_hw_control(0);
	ctr_hw_clear();
}
