// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ids of tasks the encoders of harts learn, while captures and events begin and end, also on
 * a hart that is offline: context.c without its tracepoint. A CSR is a variable here.
 */
#include <tap.h>

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "../../kernel/ntrace/component.h"

#undef DEFINE_PER_CPU
#undef this_cpu_ptr
#define DEFINE_PER_CPU(type, name) type name[nr_cpu_ids]
#define this_cpu_ptr(memory) (&(*(memory))[host_cpu])
#define per_cpu(memory, cpu) (memory)[cpu]

#define pid id
#define __init
#define pr_info_once host_print
#define atomic_inc(v) ((void)(v)->counter++)
#define atomic_dec(v) ((void)(v)->counter--)
#define atomic_dec_and_test(v) (!--(v)->counter)
#define DECLARE_WORK(name, function) struct work_struct name = { .call = (function) }
#define schedule_work(work) (work)->call(work)
#define flush_work(work) ((void)(work))
#define tracepoint_synchronize_unregister() ((void)0)
#define writel_relaxed(value, address) writel(value, address)

unsigned int host_cpu;
bool host_online[nr_cpu_ids] = { true, true };
static struct task_struct tasks[2] = { { .id = 100 }, { .id = 200 } };
struct task_struct *host_current = &tasks[0];
static struct tracepoint sched_switch = { "sched_switch" };
static unsigned int probes;

/* scontext of each hart, and the bits that it has; 0: an access traps. */
static unsigned long scontext[nr_cpu_ids], bits = -1UL;
static u32 store;

static unsigned long write_scontext(unsigned long id)
{
	if (bits)
		scontext[host_cpu] = id & bits;
	return !bits;
}

#define csr_read(csr) scontext[host_cpu]
/* The only assembly writes the CSR. */
#define asm
#define volatile(...) (failed = write_scontext((unsigned long)id))

#include "../../kernel/ntrace/context.c"

#undef asm
#undef volatile

void writel(u32 value, void *address)
{
	*(u32 *)address = value;
}

void for_each_kernel_tracepoint(void (*call)(struct tracepoint *tp, void *data), void *data)
{
	call(&sched_switch, data);
}

int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	probes++;
	return 0;
}

int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	probes--;
	return 0;
}

static void switch_to(unsigned int cpu, struct task_struct *task)
{
	host_cpu = cpu;
	ntrace_context_switch(NULL, false, NULL, task, 0);
	host_cpu = 0;
}

static void test_stop(void)
{
	is_u64((u64)ntrace_context_start(1, false), 0, "a capture begins");
	is_u64(scontext[1], 100, "the hart has the id of its task");
	is_u64((u64)ntrace_context_start(1, false), 0, "another one");
	ntrace_context_stop(1);
	switch_to(1, &tasks[1]);
	is_u64(scontext[1], 200, "the first one ends: the hart still has the id of its task");
	ntrace_context_stop(1);
	is_u64(scontext[1], 0, "the last one ends: it has none");
	switch_to(1, &tasks[1]);
	is_u64(scontext[1], 0, "and gets none");
}

static void test_offline(void)
{
	ntrace_context_start(1, false);
	ntrace_context_start(1, false);
	host_online[1] = false;
	ntrace_context_stop(1);
	scontext[1] = 0;
	host_online[1] = true;
	switch_to(1, &tasks[1]);
	is_u64(scontext[1], 200, "one of two ends while the hart is offline: the other goes on");
	host_online[1] = false;
	ntrace_context_stop(1);
	scontext[1] = 0;
	host_online[1] = true;
	switch_to(1, &tasks[1]);
	is_u64(scontext[1], 0, "the other ends, too: the hart gets no id when it comes back");
	is_u64((u64)ntrace_context_start(1, false), 0, "a later one begins");
	is_u64(scontext[1], 100, "with an id");
	ntrace_context_stop(1);
}

static void test_unusable(void)
{
	bits = 0;
	is_u64((u64)ntrace_context_start(1, false), (u64)-EOPNOTSUPP, "no scontext: refused");
	bits = 0xffff;
	is_u64((u64)ntrace_context_start(1, false), (u64)-EOPNOTSUPP, "a narrow one: refused");
	bits = -1UL;
	scontext[1] = 0;
	switch_to(1, &tasks[1]);
	is_u64(scontext[1], 0, "what was refused is no user");
	bits = 0;
	is_u64((u64)ntrace_context_start(1, true), 0, "an encoder that takes stores needs none");
	switch_to(1, &tasks[1]);
	is_u64(store, 0, "nothing is storedd while it is disabled");
	host_cpu = 1;
	ntrace_context_store_to(1, &store);
	is_u64(store, 100, "it is enabled: the id of the task");
	switch_to(1, &tasks[1]);
	is_u64(store, 200, "and of the next one");
	ntrace_context_store_to(1, NULL);
	switch_to(1, &tasks[0]);
	is_u64(store, 200, "disabled: no stores");
	ntrace_context_stop(1);
	bits = -1UL;
}

int main(void)
{
	ntrace_context_init();
	is_u64((u64)ntrace_context_get(), 0, "the first user");
	ntrace_context_get();
	is_u64(probes, 1, "there is one probe");
	test_stop();
	test_offline();
	test_unusable();
	ntrace_context_put();
	is_u64(probes, 1, "one user is left: the probe stays");
	ntrace_context_put();
	is_u64(probes, 0, "none is left: it goes");
	ntrace_context_exit();
	return done_testing();
}
