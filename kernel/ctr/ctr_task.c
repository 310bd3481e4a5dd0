// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of tasks.
 *
 * With RASEMU, the ring is the call stack of the running task. It is useless if it loses
 * its outer frames at every switch, so each recorded task has a slot for its ring.
 *
 * A ring that misses a return has frames that are gone. perf takes events off the hart
 * while their task runs on (PERF_EVENT_IOC_DISABLE, another event's turn), and does not tell
 * the PMU that a task comes to the hart with such events only. The hart therefore records the
 * call stack of a task with a slot whenever the task runs, with or without an event. If
 * events of the hart need the ring for other branches, the stack is lost, and begins
 * again without frames:
 *
 *   the task comes         the slot's stack, if no other branches are recorded
 *   its event begins       the ring has its stack, or begins without frames
 *   its event ends         the ring goes on
 *   another event begins   the ring begins with other branches
 *   the task leaves        the slot gets the stack, or is empty if the ring does not have it
 *
 * A slot belongs to a task and not to an event: perf swaps the contexts of two tasks with
 * inherited events instead of scheduling the events, so that an event may record another
 * task than the one it was opened for. A slot therefore lives until its task is freed, or
 * until no event with call stacks is open.
 *
 *   ctr_task_open()   event of a task: its slot; event of a hart: slots of all tasks
 *   ctr_task_fork()   a slot for the child of a task with a slot
 *   ctr_task_exec()   the frames of the old program are gone, and its branches
 *   ctr_task_free()   the slot goes with the task
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/irqflags.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "ctr.h"
#include "ctr_hw.h"

/**
 * struct ctr_slot - the saved ring of a task
 * @node: in ctr_slots
 * @rcu: for readers in the scheduler
 * @task: the task, with a reference, so that no other task has this address
 * @own: an event was opened for this task or an ancestor, not only for its hart
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
	bool own;
	u64 status;
	unsigned int count;
	struct ctr_record records[];
};

static DEFINE_HASHTABLE(ctr_slots, 10);
/* Taken in softirqs as well, by ctr_task_free(). Raw, because tracepoints disable preemption. */
static DEFINE_RAW_SPINLOCK(ctr_slots_lock);

/* Number of open events with call stacks, and number of those that record all tasks. */
static unsigned int ctr_stacks, ctr_stacks_all;

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

static void ctr_slot_free(struct rcu_head *rcu)
{
	struct ctr_slot *slot = container_of(rcu, struct ctr_slot, rcu);

	put_task_struct(slot->task);
	kfree(slot);
}

static void ctr_slot_remove(struct ctr_slot *slot)
{
	lockdep_assert_held(&ctr_slots_lock);
	hash_del_rcu(&slot->node);
	call_rcu(&slot->rcu, ctr_slot_free);
}

/* Whether the task may run in user mode, the only mode that call stacks have. */
static bool ctr_task_needs_slot(const struct task_struct *task)
{
	return !(READ_ONCE(task->flags) & (PF_KTHREAD | PF_EXITING));
}

/* Makes @new the slot of its task, unless it has one or needs none. Return: the slot, or NULL. */
static struct ctr_slot *ctr_slot_add(struct ctr_slot *new)
{
	struct ctr_slot *slot;

	guard(raw_spinlock_irqsave)(&ctr_slots_lock);
	slot = ctr_slot_find(new->task);
	/*
	 * A task that is exiting may already have passed ctr_task_free(). It has the flag by
	 * then, and this lock orders the two.
	 */
	if (!slot && ctr_task_needs_slot(new->task)) {
		slot = new;
		hash_add_rcu(ctr_slots, &slot->node, (unsigned long)slot->task);
	}
	if (slot)
		slot->own |= new->own;
	return slot;
}

/* Return: 0, also if the task has a slot or needs none; -ENOMEM. */
static int ctr_slot_create(struct task_struct *task, bool own, gfp_t gfp)
{
	struct ctr_slot *new = kzalloc(struct_size(new, records, ctr_depth()), gfp);

	if (!new)
		return -ENOMEM;
	new->task = get_task_struct(task);
	new->own = own;
	if (ctr_slot_add(new) != new)
		ctr_slot_free(&new->rcu);
	return 0;
}

/*
 * Creates slots for all tasks, up to one whose slot needs an allocation that sleeps. Tasks
 * that begin meanwhile get one from ctr_task_fork(), or the walk comes to them after it has
 * come to their parent.
 *
 * Return: that task, with a reference, or NULL.
 */
static struct task_struct *ctr_slots_create_atomic(void)
{
	struct task_struct *process, *task;

	guard(rcu)();
	for_each_process_thread(process, task) {
		if (ctr_task_needs_slot(task) && !ctr_slot_find(task) &&
		    ctr_slot_create(task, false, GFP_NOWAIT | __GFP_NOWARN))
			return get_task_struct(task);
	}
	return NULL;
}

static int ctr_slots_create_all(void)
{
	struct task_struct *task;
	int ret = 0;

	while (!ret && (task = ctr_slots_create_atomic())) {
		ret = ctr_slot_create(task, false, GFP_KERNEL);
		put_task_struct(task);
	}
	return ret;
}

/**
 * ctr_task_has_slot() - tell whether the call stack of a task is kept
 * @task: the task; only its address is used
 *
 * Return: whether it is.
 */
bool ctr_task_has_slot(const struct task_struct *task)
{
	lockdep_assert_irqs_disabled();
	return ctr_slot_find(task);
}

/* Ends the call stack in the ring of this hart if its slot is gone. */
static void ctr_task_forget(void *data)
{
	struct ctr_cpu *cpu = this_cpu_ptr(ctr_cpus);

	if (!cpu->ring_task || ctr_task_has_slot(cpu->ring_task))
		return;
	cpu->ring_task = NULL;
	if (cpu->filter.control)
		return;
	ctr_hw_control(0);
	ctr_hw_clear();
}

/* Removes the slots that no open event needs. Return: whether there may be some. */
static bool ctr_slots_release(bool all)
{
	struct hlist_node *next;
	struct ctr_slot *slot;
	unsigned int bucket;

	guard(raw_spinlock_irqsave)(&ctr_slots_lock);
	ctr_stacks--;
	if (all)
		ctr_stacks_all--;
	if (ctr_stacks && (!all || ctr_stacks_all))
		return false;
	hash_for_each_safe(ctr_slots, bucket, next, slot, node) {
		if (!ctr_stacks || !slot->own)
			ctr_slot_remove(slot);
	}
	return true;
}

/**
 * ctr_task_close() - undo ctr_task_open()
 * @event: an event with call stacks
 */
void ctr_task_close(const struct perf_event *event)
{
	if (ctr_slots_release(!event->hw.target))
		on_each_cpu(ctr_task_forget, NULL, true);
}

/**
 * ctr_task_open() - keep the call stacks of the tasks that an event records
 * @event: an event with call stacks, not one that is inherited
 *
 * Return: 0 or -ENOMEM.
 */
int ctr_task_open(struct perf_event *event)
{
	struct task_struct *target = event->hw.target;
	int ret;

	raw_spin_lock_irq(&ctr_slots_lock);
	ctr_stacks++;
	if (!target)
		ctr_stacks_all++;
	raw_spin_unlock_irq(&ctr_slots_lock);
	ret = target ? ctr_slot_create(target, true, GFP_KERNEL_ACCOUNT) : ctr_slots_create_all();
	if (ret)
		ctr_task_close(event);
	return ret;
}

/**
 * ctr_task_save() - save the call stack in the ring of this hart
 * @cpu: state of this hart
 * @task: the task that leaves the hart; if the ring does not have its call stack, its slot is
 *	  empty afterwards
 *
 * Recording must be off. Interrupts are off, too, so this is an RCU read-side section.
 */
void ctr_task_save(struct ctr_cpu *cpu, struct task_struct *task)
{
	struct ctr_slot *slot = READ_ONCE(ctr_stacks) ? ctr_slot_find(task) : NULL;

	lockdep_assert_irqs_disabled();
	if (slot && cpu->ring_task == task) {
		slot->status = ctr_hw_status();
		/* With data: the next event of the task may want it. */
		slot->count = ctr_hw_read(slot->records, 0, ctr_depth(), true);
	} else if (slot) {
		slot->count = 0;
	}
	cpu->ring_task = NULL;
}

/**
 * ctr_task_load() - load the call stack of a task into the ring of this hart
 * @cpu: state of this hart
 * @task: the task that comes to the hart; nothing is done if it has no slot
 *
 * Recording must be off and the ring empty.
 */
void ctr_task_load(struct ctr_cpu *cpu, struct task_struct *task)
{
	struct ctr_slot *slot = READ_ONCE(ctr_stacks) ? ctr_slot_find(task) : NULL;

	lockdep_assert_irqs_disabled();
	if (!slot)
		return;
	if (slot->count)
		ctr_hw_restore(slot->status, slot->records, slot->count);
	cpu->ring_task = task;
}

/**
 * ctr_task_fork() - tracepoint sched_process_fork
 * @data: NULL
 * @parent: the running task
 * @child: its child, which does not run yet
 *
 * Not when an event is inherited: a task whose fork fails after that is never freed by
 * ctr_task_free().
 *
 * A child with the stack pointer of its parent, after fork() and vfork(), is in the same
 * frames. A thread has another stack, which is empty.
 */
void ctr_task_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct ctr_slot *slot;
	struct ctr_cpu *cpu;

	if (!READ_ONCE(ctr_stacks))
		return;
	guard(rcu)();
	slot = ctr_slot_find(parent);
	/* Threads of the kernel have no slot, but children that run programs. */
	if (!slot && !READ_ONCE(ctr_stacks_all))
		return;
	/* Tracepoints may not sleep. */
	if (ctr_slot_create(child, slot && slot->own, GFP_ATOMIC | __GFP_NOWARN))
		pr_warn_ratelimited("%s[%d]: no memory to keep its call stack\n", child->comm,
				    task_pid_nr(child));
	if (!slot ||
	    user_stack_pointer(task_pt_regs(child)) != user_stack_pointer(task_pt_regs(parent)))
		return;
	guard(irqsave)();
	cpu = this_cpu_ptr(ctr_cpus);
	slot = cpu->ring_task == parent ? ctr_slot_find(child) : NULL;
	if (!slot)
		return;
	/* The ring does not change: it records user mode alone. */
	slot->status = ctr_hw_status();
	slot->count = ctr_hw_read(slot->records, 0, ctr_depth(), true);
}

/**
 * ctr_task_exec() - tracepoint sched_process_exec
 * @data: NULL
 * @task: the running task, whose frames and branches are those of the old program: their
 *	  addresses mean something else in the new one, or nothing
 * @old_pid: not used
 * @bprm: not used
 */
void ctr_task_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct ctr_cpu *cpu;
	u64 control;

	guard(irqsave)();
	cpu = this_cpu_ptr(ctr_cpus);
	if (!cpu->usable || (!cpu->ring_task && !cpu->filter.control))
		return;
	/* The hart may record the kernel, and must not write the ring meanwhile. */
	control = ctr_hw_control_read();
	ctr_hw_control(0);
	ctr_hw_clear();
	ctr_hw_control(control);
}

/**
 * ctr_task_free() - tracepoint sched_process_free
 * @data: NULL
 * @task: a task that has run for the last time
 */
void ctr_task_free(void *data, struct task_struct *task)
{
	struct ctr_slot *slot;

	guard(raw_spinlock_irqsave)(&ctr_slots_lock);
	slot = ctr_slot_find(task);
	if (slot)
		ctr_slot_remove(slot);
}
