// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who records on which hart, and whose records are in its ring.
 *
 * A hart has one ring, and nothing in it says to whom a record belongs. So it is
 * empty when an event begins to record, emptied when the event ends, and in
 * between emptied whenever the hart goes to another task: perf may swap the
 * contexts of two tasks without telling a PMU, and events of a hart are not told
 * about tasks at all. With an emulated return stack it is not emptied but
 * exchanged, because a stack that loses its bottom at every switch is of no use.
 *
 * What of the kernel can get into the ring of a user who may not see it? With
 * U recorded and S not, a trap into the kernel is not recorded (STE is never
 * set), what the kernel does is not, and neither is the return from it, as its
 * source mode is not enabled. The rule to clear S before sret concerns rings with
 * both, and those only perf_allow_kernel() lets happen. ctr_filter_entries() holds
 * against that nevertheless.
 */
#include <linux/hashtable.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
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
 * struct ctr_slot - the ring of a task that does not run
 * @node: in ctr_slots
 * @rcu: readers are in the scheduler
 * @task: whose it is; events hold a reference to it
 * @users: number of events that record it
 * @status: sctrstatus
 * @count: number of records
 * @records: youngest first
 *
 * Written and read by the hart that the task leaves or comes to; the scheduler
 * orders one after the other.
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

/* Number of events open, and those that record the kernel. */
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
 * ctr_ring_slot_get() - keep the ring of a task while it does not run
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

/* Recording is off. Interrupts are, so this is a read side of RCU as well. */
static void ctr_ring_save(struct ctr_cpu *cpu)
{
	struct ctr_slot *slot = cpu->ring_task ? ctr_slot_find(cpu->ring_task) : NULL;

	if (slot) {
		slot->status = ctr_hw_status();
		slot->count = ctr_hw_read(slot->records, 0, ctr_depth());
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
 * ctr_ring_begin() - an event is scheduled on this hart
 * @event: the event
 *
 * Return: 0, -EOPNOTSUPP if the hart cannot do it, -EBUSY if it has an owner.
 */
int ctr_ring_begin(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	const struct ctr_filter *filter = &ctr_event_of(event)->filter;

	lockdep_assert_irqs_disabled();
	if (!cpu->usable)
		return -EOPNOTSUPP;
	if (cpu->owner)
		return -EBUSY;
	ctr_hw_control(0);
	ctr_hw_clear();
	if (filter->stack)
		ctr_ring_load(cpu, current);
	WRITE_ONCE(cpu->owner, event);
	ctr_hw_control(filter->control);
	return 0;
}

/**
 * ctr_ring_end() - an event leaves this hart; nothing of it stays in the ring
 * @event: the event
 */
void ctr_ring_end(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

	lockdep_assert_irqs_disabled();
	if (cpu->owner != event)
		return;
	WRITE_ONCE(cpu->owner, NULL);
	if (!cpu->usable)
		return;
	ctr_hw_control(0);
	if (ctr_event_of(event)->filter.stack)
		ctr_ring_save(cpu);
	ctr_hw_clear();
}

/* The scheduler is about to switch this hart to another task. */
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
 * A counter that overflows freezes a ring with LCOFIFRZ, whosever counter it is;
 * nobody else would thaw it. At the end of the interrupt, because what perf does
 * there is not what the user wants to see.
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
 * ctr_ring_init() - find what the driver hangs on to; modules cannot name it
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
 * ctr_ring_users_get() - before an event can be scheduled
 * @kernel: it records the kernel
 *
 * Return: 0 or the error of tracepoint_probe_register().
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
 * @kernel: as there
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

/* Only ecall is a system call; a fault, for instance, has no type in perf. */
static unsigned int ctr_exception_type(u64 from)
{
	u32 insn;

	if ((s64)from < 0 || copy_from_user_nofault(&insn, (void __user *)from, sizeof(insn)))
		return PERF_BR_UNKNOWN;
	return insn == CTR_INSN_ECALL ? PERF_BR_SYSCALL : PERF_BR_UNKNOWN;
}

/* Those of @count records that the event wants. Return: number of @entries. */
static unsigned int ctr_ring_convert(const struct ctr_filter *filter,
				     const struct ctr_record *records, unsigned int count,
				     struct perf_branch_entry *entries)
{
	unsigned int i;

	count = ctr_filter_entries(filter, &ctr_caps, records, count, entries);
	/* Exceptions are recorded where they lead to the kernel and it is recorded. */
	for (i = 0; i < count && filter->save_type && filter->kernel; i++) {
		if (entries[i].type == PERF_BR_SYSCALL)
			entries[i].type = ctr_exception_type(entries[i].from);
	}
	return count;
}

/**
 * ctr_ring_fill() - read the ring of this hart for a sample
 * @event: its owner
 *
 * Into the hart's ctr_cpu.stack, where it stays until the next sample.
 *
 * Return: number of entries.
 */
unsigned int ctr_ring_fill(struct perf_event *event)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);
	const struct ctr_event *ctr_event = ctr_event_of(event);
	const struct ctr_filter *filter = &ctr_event->filter;
	unsigned int count;

	/* Frozen already by LCOFIFRZ, unless the hart lacks it. */
	if (filter->kernel)
		ctr_hw_freeze();
	count = ctr_hw_read(cpu->records, 0, ctr_event->depth);
	cpu->stack.nr = ctr_ring_convert(filter, cpu->records, count, cpu->stack.entries);
	/* The ring has no positions that would mean anything between two samples. */
	cpu->stack.hw_idx = -1ULL;
	return cpu->stack.nr;
}

/* Records on the stack at a time. */
#define CTR_SNAPSHOT_STEP 16U

/* Apart, since the stack is cleared first, by a function with loops. */
static noinline unsigned int ctr_ring_copy(const struct ctr_filter *filter,
					   struct perf_branch_entry *entries, unsigned int max)
{
	struct ctr_record records[CTR_SNAPSHOT_STEP];
	unsigned int first = 0, count, filled = 0;

	do {
		/* What is dropped makes room for older ones. */
		count = ctr_hw_read(records, first,
				    min3(CTR_SNAPSHOT_STEP, ctr_depth() - first, max - filled));
		filled += ctr_ring_convert(filter, records, count, entries + filled);
		first += count;
	} while (count && filled < max && first < ctr_depth());
	return filled;
}

/**
 * ctr_ring_snapshot() - read the ring of this hart at any moment
 * @entries: result, youngest first
 * @max: at most so many
 *
 * What the event that owns the ring would show in a sample, as to transfers and
 * privilege. The caller must be allowed to see what the kernel does, and what any
 * task does: the owner may be somebody else's.
 *
 * May interrupt all else in here, a sample too: nothing of the hart's state is used
 * to put records down, and a ring that was frozen stays so.
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
	/* As early as possible, and without a jump on the way. */
	frozen = ctr_hw_freeze();
	filled = ctr_ring_copy(&ctr_event_of(cpu->owner)->filter, entries, max);
	if (!frozen)
		ctr_hw_thaw();
	return filled;
}

/**
 * ctr_ring_online() - this hart can be used
 * @cpu: its state
 */
void ctr_ring_online(struct ctr_cpu *cpu)
{
	ctr_hw_setup(ctr_depth_code);
	cpu->ring_task = NULL;
	cpu->usable = true;
	/* Back from a sleep that lost the registers. */
	if (cpu->owner)
		ctr_hw_control(ctr_event_of(cpu->owner)->filter.control);
}

/**
 * ctr_ring_offline() - this hart must be left alone from now on
 * @cpu: its state
 *
 * An event that is scheduled there will go later and find nothing to do.
 */
void ctr_ring_offline(struct ctr_cpu *cpu)
{
	cpu->usable = false;
	ctr_hw_control(0);
	ctr_hw_clear();
}
