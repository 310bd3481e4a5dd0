// SPDX-License-Identifier: GPL-2.0-only
/*
 * The encoder of a traced hart learns the id of the running task, and sends it in Ownership
 * messages. So a decoder knows the task even without a trace of the kernel. A probe of the
 * sched_switch tracepoint tells the id at each task switch, in one of two ways.
 *
 * With trTeContext an encoder sends scontext, which Linux does not use. An encoder of version 0
 * sends the values that software stores to one of its registers. The driver stores only while the
 * encoder is enabled: later the encoder may have no power, or its registers may be unmapped.
 *
 * The hart may not have this CSR, or firmware may deny it to S-mode (mstateen0). The first write
 * then traps as an illegal instruction; an entry in the exception table turns the trap into an
 * error.
 */
#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <trace/events/sched.h>

#include <asm/asm-extable.h>
#include <asm/csr.h>

#include "component.h"

#define NTRACE_CSR_SCONTEXT 0x5a8

static struct tracepoint *ntrace_context_tracepoint;
/* Captures and events that tell ids. The probe is registered while there are any. */
static atomic_t ntrace_context_users;
static bool ntrace_context_registered;
static DEFINE_MUTEX(ntrace_context_lock);

/**
 * struct ntrace_context_hart - how a hart tells the id of its task
 * @users: number of users; atomic, because a hart may come online while a user ends
 * @has_csr: the encoder reads scontext
 * @stimulus: register of the encoder that takes the id, while the encoder is enabled, or NULL
 */
struct ntrace_context_hart {
	atomic_t users;
	bool has_csr;
	void __iomem *stimulus;
};

static DEFINE_PER_CPU(struct ntrace_context_hart, ntrace_context_hart);

/* Return: false if the CSR cannot be written. */
static bool ntrace_context_write(pid_t id)
{
	unsigned long failed;

	asm volatile("li %0, 1\n"
		     "1: csrw " __stringify(NTRACE_CSR_SCONTEXT) ", %1\n"
								 "li %0, 0\n"
								 "2:\n" _ASM_EXTABLE(1b, 2b)
		     : "=&r"(failed)
		     : "r"((unsigned long)id)
		     : "memory");
	return !failed;
}

/* Interrupts are off: the encoder is not disabled meanwhile. */
static void ntrace_context_switch(void *data, bool preempt, struct task_struct *prev,
				  struct task_struct *next, unsigned int prev_state)
{
	const struct ntrace_context_hart *hart = this_cpu_ptr(&ntrace_context_hart);

	/* Relaxed: no other access depends on it. The encoder gets stores in order. */
	if (hart->stimulus)
		writel_relaxed(next->pid, hart->stimulus);
	else if (hart->has_csr && atomic_read(&hart->users))
		ntrace_context_write(next->pid);
}

/* The width is implementation-defined. A narrow CSR would mix up tasks. */
static bool ntrace_context_fits(void)
{
	return ntrace_context_write(PID_MAX_LIMIT - 1) &&
	       csr_read(NTRACE_CSR_SCONTEXT) == PID_MAX_LIMIT - 1;
}

/* @data: takes whether scontext is usable, if it is needed. */
static void ntrace_context_start_here(void *data)
{
	struct ntrace_context_hart *hart = this_cpu_ptr(&ntrace_context_hart);
	bool *good = data;

	*good = atomic_read(&hart->users) || !hart->has_csr || ntrace_context_fits();
	if (!*good)
		return;
	if (hart->has_csr)
		ntrace_context_write(current->pid);
	atomic_inc(&hart->users);
}

static void ntrace_context_stop_here(void *data)
{
	struct ntrace_context_hart *hart = this_cpu_ptr(&ntrace_context_hart);

	if (atomic_dec_and_test(&hart->users) && hart->has_csr)
		ntrace_context_write(0);
}

/**
 * ntrace_context_start - tell the encoder of a hart the ids of tasks from now on
 * @cpu: CPU, online; the caller is a user, see ntrace_context_get()
 * @stored: the encoder takes ids by stores, see ntrace_context_store_to(), not from scontext
 *
 * Return: 0, or -EOPNOTSUPP if the hart has no such CSR, or the CSR is read-only or too narrow.
 */
int ntrace_context_start(unsigned int cpu, bool stored)
{
	bool good;
	int ret;

	/* The same for all users of the hart. Without a user, it has no effect. */
	per_cpu(ntrace_context_hart, cpu).has_csr = !stored;
	ret = smp_call_function_single(cpu, ntrace_context_start_here, &good, 1);
	if (ret || good)
		return ret;
	pr_info_once("ntrace: scontext cannot hold thread ids (mstateen0, hstateen0?)\n");
	return -EOPNOTSUPP;
}

/* Undoes ntrace_context_start(), for a CPU that is online or not. */
void ntrace_context_stop(unsigned int cpu)
{
	/* An offline CPU has lost its scontext. */
	if (smp_call_function_single(cpu, ntrace_context_stop_here, NULL, 1))
		atomic_dec(&per_cpu(ntrace_context_hart, cpu).users);
}

/**
 * ntrace_context_store_to - store ids of tasks to a register from now on
 * @cpu: the CPU that runs this, with interrupts off; or an offline CPU, with @stimulus NULL
 * @stimulus: register of its encoder, which is enabled; NULL: no longer
 *
 * Stores the id of the running task at once.
 */
void ntrace_context_store_to(unsigned int cpu, void __iomem *stimulus)
{
	per_cpu(ntrace_context_hart, cpu).stimulus = stimulus;
	if (stimulus)
		writel_relaxed(current->pid, stimulus);
}

static void ntrace_context_update(struct work_struct *work)
{
	guard(mutex)(&ntrace_context_lock);
	if (atomic_read(&ntrace_context_users) || !ntrace_context_registered)
		return;
	tracepoint_probe_unregister(ntrace_context_tracepoint, ntrace_context_switch, NULL);
	ntrace_context_registered = false;
}

static DECLARE_WORK(ntrace_context_work, ntrace_context_update);

/*
 * Registers a user, before its first ntrace_context_start(). Must be called without locks:
 * registering patches kernel text under the lock of CPU hotplug, and the driver takes its own
 * locks under that one.
 * Return: 0, -EOPNOTSUPP if the kernel has no tracepoints, or an error of the tracepoint.
 */
int ntrace_context_get(void)
{
	int ret = 0;

	guard(mutex)(&ntrace_context_lock);
	if (!ntrace_context_tracepoint)
		return -EOPNOTSUPP;
	if (!ntrace_context_registered)
		ret = tracepoint_probe_register(ntrace_context_tracepoint, ntrace_context_switch,
						NULL);
	if (ret)
		return ret;
	ntrace_context_registered = true;
	atomic_inc(&ntrace_context_users);
	return 0;
}

/** ntrace_context_put - undo ntrace_context_get(); the caller may hold any lock */
void ntrace_context_put(void)
{
	if (atomic_dec_and_test(&ntrace_context_users))
		schedule_work(&ntrace_context_work);
}

static void ntrace_context_find(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		ntrace_context_tracepoint = tp;
}

/** ntrace_context_init - find the tracepoint by name: modules cannot refer to its symbol */
void __init ntrace_context_init(void)
{
	check_trace_callback_type_sched_switch(ntrace_context_switch);
	for_each_kernel_tracepoint(ntrace_context_find, NULL);
}

/** ntrace_context_exit - wait for the probe to end; there are no users left */
void ntrace_context_exit(void)
{
	flush_work(&ntrace_context_work);
	tracepoint_synchronize_unregister();
}
