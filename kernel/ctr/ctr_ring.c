// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ownership of the harts' rings, and their contents across context switches.
 *
 * A hart has one ring, and its records do not name a task. The driver therefore
 * clears the ring when an event starts to record, when it ends, and whenever the
 * hart switches to another task: perf may swap the contexts of two tasks without
 * calling the PMU, and does not report task switches to events of a hart. With
 * RASEMU, the switch saves and restores the ring instead, because a call stack that
 * loses its outer frames at every switch is useless.
 *
 * Kernel records cannot reach users who may not see them. With U recorded and S not,
 * the hart records neither the trap into the kernel (STE is never set), nor the
 * kernel's transfers, nor the return, whose source mode is not enabled. The rule to
 * clear S before sret applies to rings with both modes, which need
 * perf_allow_kernel(). In addition, ctr_filter_entries() drops records with kernel
 * addresses.
 */
#include <linux/hashtable.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <trace/events/irq.h>
#include <trace/events/sched.h>

#include "ctr.h"
#include "ctr_hw.h"

#define CTR_INSN_ECALL 0x73

/**
 * struct ctr_slot - the saved ring of a task that is not running
 * @node: in ctr_slots
 * @rcu: for readers in the scheduler
 * @task: the task; events hold a reference to it
 * @users: number of events that record @task
 * @status: sctrstatus
 * @count: number of @records
 * @records: newest first
 *
 * The hart that the task leaves writes the records, and the hart that runs it next
 * reads them; the scheduler orders the two.
 */
struct ctr_slot {
	struct hlist_node node;
	struct rcu_head rcu;
	struct task_struct *task;
	unsigned int users;
	u64 status;
	unsigned int count;
	struct ctr_record records[];
};

struct ctr_cpu __percpu *ctr_cpus;

static DEFINE_HASHTABLE(ctr_slots, 6);
static DEFINE_SPINLOCK(ctr_slots_lock);

/* Number of open events, and number of those that record the kernel. */
static unsigned int ctr_users, ctr_kernel_users;
static DEFINE_MUTEX(ctr_users_lock);

static struct tracepoint *ctr_tp_switch, *ctr_tp_irq_exit;

static struct ctr_slot *ctr_slot_find(const struct task_struct *task)
{
	struct ctr_slot *slot;

	hash_for_each_possible_rcu(ctr_slots, slot, node, (unsigned long)task,
				   lockdep_is_held(&ctr_slots_lock)) {
		if (slot->task == task)
			return slot;
	}
	return NULL;
}

/**
 * ctr_ring_slot_get() - save the ring of a task while it is not running
 * @task: the task; the caller holds a reference until ctr_ring_slot_put()
 *
 * Return: 0 or -ENOMEM.
 */
int ctr_ring_slot_get(struct task_struct *task)
{
	struct ctr_slot *slot, *new;

	new = kzalloc(struct_size(new, records, ctr_depth()), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	spin_lock(&ctr_slots_lock);
	slot = ctr_slot_find(task);
	if (slot) {
		kfree(new);
	} else {
		slot = new;
		slot->task = task;
		hash_add_rcu(ctr_slots, &slot->node, (unsigned long)task);
	}
	slot->users++;
	spin_unlock(&ctr_slots_lock);
	return 0;
}

/**
 * ctr_ring_slot_put() - undo ctr_ring_slot_get()
 * @task: the task
 */
void ctr_ring_slot_put(struct task_struct *task)
{
	struct ctr_slot *slot;

	spin_lock(&ctr_slots_lock);
	slot = ctr_slot_find(task);
	if (!--slot->users) {
		hash_del_rcu(&slot->node);
		kfree_rcu(slot, rcu);
	}
	spin_unlock(&ctr_slots_lock);
}

/* Recording is off. Interrupts are off, too, so this is an RCU read-side section. */
static void ctr_ring_save(struct ctr_cpu *cpu)
{
	struct ctr_slot *slot = cpu->ring_task ? ctr_slot_find(cpu->ring_task) : NULL;

	if (slot) {
		slot->status = ctr_hw_status();
		/* With data: the next event of the task may want it. */
		slot->count = ctr_hw_read(slot->records, 0, ctr_depth(), true);
	}
	cpu->ring_task = NULL;
}

static void ctr_ring_load(struct ctr_cpu *cpu, struct task_struct *task)
{
	struct ctr_slot *slot = ctr_slot_find(task);

	if (slot)
		ctr_hw_restore(slot->status, slot->records, slot->count);
	cpu->ring_task = task;
}

/**
 * ctr_ring_owns() - tell whether the ring of this hart records for an event
 * @cpu: state of this hart
 * @event: the event
 */
bool ctr_ring_owns(const struct ctr_cpu *cpu, const struct perf_event *event)
{
	const struct perf_event *owner = cpu->owner;

	while (owner && owner != event)
		owner = ctr_event_of(owner)->next;
	return owner;
}

/**
 * ctr_ring_begin() - make an event an owner of this hart's ring, and record
 * @event: the event
 *
 * Events share the ring if it records the same for both, as those of a group do. Its
 * records are then of the same task and modes, so the new event may have the older
 * ones, too.
 *
 * Return: 0, -EOPNOTSUPP if the hart lacks the common capabilities, -EBUSY if its
 * ring records something else.
 */
int ctr_ring_begin(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	const struct ctr_filter *filter = &ctr_event_of(event)->filter;

	lockdep_assert_irqs_disabled();
	if (!cpu->usable)
		return -EOPNOTSUPP;
	if (cpu->owner && ctr_event_of(cpu->owner)->filter.control != filter->control)
		return -EBUSY;
	ctr_event_of(event)->next = cpu->owner;
	if (cpu->owner) {
		WRITE_ONCE(cpu->owner, event);
		return 0;
	}
	ctr_hw_control(0);
	ctr_hw_clear();
	if (filter->stack)
		ctr_ring_load(cpu, current);
	WRITE_ONCE(cpu->owner, event);
	ctr_hw_control(filter->control);
	return 0;
}

/**
 * ctr_ring_end() - stop recording for an event; the last owner clears the ring
 * @event: the event
 */
void ctr_ring_end(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	struct perf_event **link = &cpu->owner;

	lockdep_assert_irqs_disabled();
	while (*link && *link != event)
		link = &ctr_event_of(*link)->next;
	if (!*link)
		return;
	/* ctr_ring_snapshot() may interrupt this. */
	WRITE_ONCE(*link, ctr_event_of(event)->next);
	if (cpu->owner || !cpu->usable)
		return;
	ctr_hw_control(0);
	if (ctr_event_of(event)->filter.stack)
		ctr_ring_save(cpu);
	ctr_hw_clear();
}

/* Tracepoint sched_switch, just before this hart switches to @next. */
static void ctr_sched_switch(void *data, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int prev_state)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	const struct ctr_filter *filter;

	if (!cpu->owner || !cpu->usable)
		return;
	filter = &ctr_event_of(cpu->owner)->filter;
	ctr_hw_control(0);
	if (filter->stack)
		ctr_ring_save(cpu);
	ctr_hw_clear();
	if (filter->stack)
		ctr_ring_load(cpu, next);
	ctr_hw_control(filter->control);
}

/*
 * With LCOFIFRZ, the overflow of any counter freezes the ring, and only this driver
 * thaws it. It does so at the end of the interrupt, so that the ring has no transfers
 * of perf's handler.
 */
static void ctr_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

	if (cpu->owner && cpu->usable && ctr_event_of(cpu->owner)->filter.kernel)
		ctr_hw_thaw();
}

static void ctr_find_tracepoint(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		ctr_tp_switch = tp;
	else if (!strcmp(tp->name, "irq_handler_exit"))
		ctr_tp_irq_exit = tp;
}

/**
 * ctr_ring_init() - find the tracepoints, which are not exported to modules
 *
 * Return: 0, or -ENOENT if the kernel was built without tracepoints.
 */
int ctr_ring_init(void)
{
	check_trace_callback_type_sched_switch(ctr_sched_switch);
	check_trace_callback_type_irq_handler_exit(ctr_irq_exit);
	for_each_kernel_tracepoint(ctr_find_tracepoint, NULL);
	return ctr_tp_switch && ctr_tp_irq_exit ? 0 : -ENOENT;
}

/**
 * ctr_ring_users_get() - register the tracepoints for a new event
 * @kernel: the event records the kernel
 *
 * Return: 0 or an error of tracepoint_probe_register().
 */
int ctr_ring_users_get(bool kernel)
{
	int ret = 0;

	guard(mutex)(&ctr_users_lock);
	if (!ctr_users)
		ret = tracepoint_probe_register(ctr_tp_switch, ctr_sched_switch, NULL);
	if (ret)
		return ret;
	if (kernel && !ctr_kernel_users)
		ret = tracepoint_probe_register(ctr_tp_irq_exit, ctr_irq_exit, NULL);
	if (ret) {
		if (!ctr_users)
			tracepoint_probe_unregister(ctr_tp_switch, ctr_sched_switch, NULL);
		return ret;
	}
	ctr_users++;
	ctr_kernel_users += kernel;
	return 0;
}

/**
 * ctr_ring_users_put() - undo ctr_ring_users_get()
 * @kernel: same value as for ctr_ring_users_get()
 */
void ctr_ring_users_put(bool kernel)
{
	guard(mutex)(&ctr_users_lock);
	ctr_kernel_users -= kernel;
	if (kernel && !ctr_kernel_users)
		tracepoint_probe_unregister(ctr_tp_irq_exit, ctr_irq_exit, NULL);
	if (!--ctr_users)
		tracepoint_probe_unregister(ctr_tp_switch, ctr_sched_switch, NULL);
}

/* Only ecall is a system call; perf has no type for other exceptions. */
static unsigned int ctr_exception_type(u64 from)
{
	u32 insn;

	if ((s64)from < 0 || copy_from_user_nofault(&insn, (void __user *)from, sizeof(insn)))
		return PERF_BR_UNKNOWN;
	return insn == CTR_INSN_ECALL ? PERF_BR_SYSCALL : PERF_BR_UNKNOWN;
}

/* Converts the records that the event wants. Return: number of @entries. */
static unsigned int ctr_ring_convert(const struct ctr_filter *filter,
				     const struct ctr_record *records, unsigned int count,
				     struct perf_branch_entry *entries)
{
	unsigned int i;

	count = ctr_filter_entries(filter, &ctr_caps, records, count, entries);
	/* The hart records exceptions only if the kernel is recorded. */
	for (i = 0; i < count && filter->save_type && filter->kernel; i++) {
		if (entries[i].type == PERF_BR_SYSCALL)
			entries[i].type = ctr_exception_type(entries[i].from);
	}
	return count;
}

/**
 * ctr_ring_fill() - read the ring of this hart for a sample
 * @event: an owner of the ring
 *
 * Writes to the hart's ctr_cpu.stack, which is valid until the next sample.
 *
 * Return: number of entries.
 */
unsigned int ctr_ring_fill(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	const struct ctr_event *ctr_event = ctr_event_of(event);
	const struct ctr_filter *filter = &ctr_event->filter;
	unsigned int count;

	/* LCOFIFRZ has already frozen the ring, unless the hart lacks it. */
	if (filter->kernel)
		ctr_hw_freeze();
	count = ctr_hw_read(cpu->records, 0, ctr_event->depth, filter->data);
	cpu->stack.nr = ctr_ring_convert(filter, cpu->records, count, cpu->stack.entries);
	/* The ring has no index that is comparable between two samples. */
	cpu->stack.hw_idx = -1ULL;
	return cpu->stack.nr;
}

/**
 * ctr_ring_sampled() - thaw the ring after a sample that no interrupt of genirq took
 * @event: an owner of the ring
 *
 * The counters may also interrupt as supervisor software events, which are like NMIs.
 * Then ctr_irq_exit() does not follow. If such an event was for a counter of another
 * driver, the next interrupt of any kind thaws the ring.
 */
void ctr_ring_sampled(const struct perf_event *event)
{
	if (ctr_event_of(event)->filter.kernel && in_nmi())
		ctr_hw_thaw();
}

/* Number of records that ctr_ring_copy() keeps on the stack. */
#define CTR_SNAPSHOT_STEP 16U

/*
 * noinline: the compiler may initialize the stack with a loop, and its transfers must
 * come after the ring is frozen.
 */
static noinline unsigned int ctr_ring_copy(const struct ctr_filter *filter,
					   struct perf_branch_entry *entries, unsigned int max)
{
	struct ctr_record records[CTR_SNAPSHOT_STEP];
	unsigned int first = 0, count, filled = 0;

	do {
		/* Dropped records leave room for older ones. */
		count = ctr_hw_read(records, first,
				    min3(CTR_SNAPSHOT_STEP, ctr_depth() - first, max - filled),
				    filter->data);
		filled += ctr_ring_convert(filter, records, count, entries + filled);
		first += count;
	} while (count && filled < max && first < ctr_depth());
	return filled;
}

/**
 * ctr_ring_snapshot() - read the ring of this hart at any time
 * @entries: result, newest first
 * @max: maximum number of entries
 *
 * The entries are those that a sample of the owner would have, with its filters; if
 * events share the ring, of the one that was scheduled last. The caller must be
 * permitted to see the kernel and all tasks, because another user may have opened it.
 *
 * May interrupt every other function of this file, also during a sample: it does not
 * use the buffers in ctr_cpu, and a frozen ring stays frozen.
 *
 * Return: number of entries, or -ENOENT if nothing is recorded on this hart.
 */
int ctr_ring_snapshot(struct perf_branch_entry *entries, unsigned int max)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	unsigned int filled;
	bool frozen;

	lockdep_assert_irqs_disabled();
	if (unlikely(!cpu->owner || !cpu->usable))
		return -ENOENT;
	/* As early as possible, without a transfer since the call. */
	frozen = ctr_hw_freeze();
	filled = ctr_ring_copy(&ctr_event_of(cpu->owner)->filter, entries, max);
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
	if (cpu->owner)
		ctr_hw_control(ctr_event_of(cpu->owner)->filter.control);
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
	ctr_hw_control(0);
	ctr_hw_clear();
}
