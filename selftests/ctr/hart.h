/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated hart that records during the driver's calls, with the driver's files that have no register access, and the
 * events of the tests. Included once, by a test.
 */
#include <tap.h>

#include <linux/percpu.h>
#include <linux/perf_event.h>

/* What perf gives to an overflow handler. */
struct pt_regs {
	bool user;
	unsigned long sp;
};
struct perf_sample_data {
	const struct perf_branch_stack *stack;
};
static bool user_mode(struct pt_regs *regs)
{
	return regs->user;
}
static void perf_sample_save_brstack(struct perf_sample_data *data, struct perf_event *event,
				     struct perf_branch_stack *stack, u64 *counters)
{
	(void)event;
	(void)counters;
	if (data)
		data->stack = stack;
}

unsigned long user_stack_pointer(struct pt_regs *regs)
{
	return regs->sp;
}

#include "../../kernel/ctr/ctr_filter.c"
#include "../../kernel/ctr/ctr_ring.c"
#include "../../kernel/ctr/ctr_task.c"

int host_allocations = -1;
unsigned int host_cpu;
bool host_online[nr_cpu_ids] = { true };
struct task_struct *host_current;
bool host_in_nmi;

struct ctr_caps ctr_caps = { 0xff3e00001980, 0x1f, true, true, true };
unsigned int ctr_depth_code = 1; /* 32 entries */
bool ctr_draft;

#define DEPTH 32
#define KERNEL 0xffffffff80000000
#define LCOFIFRZ (1ull << 12)
#define RASEMU (1ull << 7)

/* The simulated hart. The youngest record is first. */
static struct {
	u64 control;
	bool frozen;
	struct ctr_record ring[DEPTH];
	unsigned int count;
	unsigned int setups, accesses, data_reads;
	unsigned int depth_code;
	unsigned int clears;
	bool cleared_while_recording;
} hart;

/* Whether a hart with this value of sctrctl records a transfer: its modes and its type. */
static bool records_transfer(u64 control, u64 from, u64 to, u64 data)
{
	/* The inhibit bit of each type; 0: none. */
	static const u8 inhibit[16] = { 0, 33, 34, 35, 0, 37, 0, 0, 40, 41, 42, 43, 44, 45, 46, 47 };
	unsigned int type = data & 15;
	bool source = control >> (from >= KERNEL) & 1, target = control >> (to >= KERNEL) & 1;

	if (inhibit[type] && control >> inhibit[type] & 1)
		return false;
	/* Traps are recorded in their target mode, trap returns in their source mode. */
	return type == 1 || type == 2 ? target : source;
}

static u64 hidden(u64 control, u64 address)
{
	return control >> (address >= KERNEL) & 1 ? address : 0;
}

static void record(u64 from, u64 to, u64 data)
{
	unsigned int type = data & 15;

	if (!(hart.control & 3) || hart.frozen || !records_transfer(hart.control, from, to, data))
		return;
	if (hart.control & RASEMU && type == 13 && hart.count)
		memmove(hart.ring, hart.ring + 1, --hart.count * sizeof(hart.ring[0]));
	/* Calls alone. */
	if (hart.control & RASEMU && type != 8 && type != 9)
		return;
	memmove(hart.ring + 1, hart.ring, sizeof(hart.ring) - sizeof(hart.ring[0]));
	hart.ring[0] = (struct ctr_record){ hidden(hart.control, from) | 1,
					    hidden(hart.control, to), data };
	hart.count += hart.count < DEPTH;
}

void ctr_hw_setup(unsigned int depth_code)
{
	hart.setups++;
	hart.depth_code = depth_code;
	hart.control = 0;
	hart.count = 0;
	hart.frozen = false;
}

void ctr_hw_control(u64 control)
{
	hart.accesses++;
	hart.control = control;
}

void ctr_hw_clear(void)
{
	hart.accesses++;
	hart.cleared_while_recording |= (hart.control & 3) && !hart.frozen;
	hart.count = 0;
	hart.clears++;
	hart.frozen = false;
}

void ctr_hw_thaw(void)
{
	hart.accesses++;
	hart.frozen = false;
}

u64 ctr_hw_control_read(void)
{
	hart.accesses++;
	return hart.control;
}

u64 ctr_hw_status(void)
{
	return hart.count;
}

unsigned int ctr_hw_read(struct ctr_record *records, unsigned int first, unsigned int max,
			 bool data)
{
	unsigned int i;

	if (max > DEPTH || first + max > DEPTH)
		ok(false, "an entry that the ring does not have is read");
	for (i = 0; i < max && first + i < hart.count; i++)
		records[i] = (struct ctr_record){ hart.ring[first + i].source,
						  hart.ring[first + i].target,
						  data ? hart.ring[first + i].data : 0 };
	hart.data_reads += data ? i : 0;
	return i;
}

void ctr_hw_restore(u64 status, const struct ctr_record *records, unsigned int count)
{
	if (hart.count || hart.control & 3 || status != count)
		ok(false, "restored into a ring that is not empty, or records");
	(memcpy)(hart.ring, records, count * sizeof(*records));
	hart.count = count;
}

unsigned long csr_read_set(unsigned int csr, unsigned long bits)
{
	unsigned long old = hart.frozen ? bits : 0;

	if (csr != 0x14f || bits != 1ul << 31)
		ok(false, "sctrstatus.FROZEN is bit 31 of CSR 0x14f");
	hart.frozen = true;
	return old;
}

/* Defined by the test: the kernel's tracepoints. */
static struct tracepoint points[] = {
	{ "sched_wakeup" },	  { "sched_switch" },	    { "irq_handler_exit" },
	{ "sched_process_fork" }, { "sched_process_exec" }, { "sched_process_free" },
};
static unsigned int points_known = ARRAY_SIZE(points);
static int probed[ARRAY_SIZE(points)], probe_error[ARRAY_SIZE(points)];

void for_each_kernel_tracepoint(void (*call)(struct tracepoint *tp, void *data), void *data)
{
	for (unsigned int i = 0; i < points_known; i++)
		call(&points[i], data);
}

int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	if (probe_error[tp - points])
		return probe_error[tp - points];
	probed[tp - points]++;
	return 0;
}

int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	probed[tp - points]--;
	return 0;
}

/* Simulated user space: an ecall at 0x1000, an ebreak at 0x2000, nothing else. */
long copy_from_user_nofault(void *to, const void *from, size_t size)
{
	u32 insn = (u64)from == 0x1000 ? 0x00000073 : 0x00100073;

	if ((u64)from != 0x1000 && (u64)from != 0x2000)
		return -EFAULT;
	(memcpy)(to, &insn, size);
	return 0;
}

static struct ctr_cpu cpu;
static struct task_struct tasks[4];
static struct pt_regs registers[ARRAY_SIZE(tasks)];
static unsigned int tasks_known;

struct task_struct *host_next_task(struct task_struct *task)
{
	task = task ? task + 1 : tasks;
	return task < tasks + tasks_known ? task : NULL;
}

static struct ctr_event user_event, kernel_event, stack_event, typed_event;
static struct perf_event user = { .pmu_private = &user_event },
			 stack = { .pmu_private = &stack_event };

static void make_event(struct ctr_event *event, u64 perf)
{
	ok(!ctr_filter_init(&event->filter, host_branches(perf), &ctr_caps),
	   "branch_sample_type %#llx", (unsigned long long)perf);
	event->depth = DEPTH;
}

static void make_events(void)
{
	make_event(&user_event, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	make_event(&kernel_event, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL);
	make_event(&stack_event, PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
	make_event(&typed_event, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
					 PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_TYPE_SAVE);
	ok(kernel_event.filter.control & LCOFIFRZ && stack_event.filter.control & RASEMU,
	   "the events differ in what the hart does");
}

static void fresh(void)
{
	(memset)(&hart, 0, sizeof(hart));
	(memset)(&cpu, 0, sizeof(cpu));
	for (unsigned int i = 0; i < ARRAY_SIZE(tasks); i++)
		tasks[i] = (struct task_struct){ .id = i, .regs = &registers[i] };
	ctr_cpus = &cpu;
	host_current = &tasks[0];
	ctr_ring_online(&cpu);
}

static void records_of(unsigned int id, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		record(0x10000 * (id + 1) + 4 * i, 0x10000 * (id + 1), 9);
}

static void switch_to(unsigned int id)
{
	ctr_sched_switch(NULL, false, host_current, &tasks[id], 0);
	host_current = &tasks[id];
}

/* Counts the entries of a sample: of task @id, and of all others. */
static void entries_of(struct perf_event *event, unsigned int id, unsigned int own,
		       const char *what)
{
	unsigned int count = ctr_ring_fill(event, NULL), found = 0;

	for (unsigned int i = 0; i < count; i++)
		found += cpu.stack.entries[i].from / 0x10000 == id + 1;
	ok(found == own && count == own && cpu.stack.nr == own, "%s: %u entries, %u of its own",
	   what, count, found);
	if (ctr_event_of(event)->filter.stack)
		is_u64(cpu.stack.hw_idx, (hart.count - 1) % DEPTH, "%s: the newest position", what);
	else
		is_hex(cpu.stack.hw_idx, ~0ull, "%s: positions in the ring are not known", what);
}
