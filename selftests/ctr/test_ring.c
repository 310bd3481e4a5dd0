// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of a ring, and the records in its samples: tests the driver on a simulated hart that
 * records during the driver's calls. Control Transfer Records 1.0; isolation of users and of the
 * kernel: "Permissions and isolation" in Documentation/trace/riscv-ctr.rst.
 */
#include <tap.h>

#include "../../kernel/ctr/ctr_filter.c"
#include "../../kernel/ctr/ctr_ring.c"

int host_allocations = -1;
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
	bool cleared_while_recording;
} hart;

static void record(u64 from, u64 to, u64 type)
{
	if (!(hart.control & 3) || hart.frozen)
		return;
	memmove(hart.ring + 1, hart.ring, sizeof(hart.ring) - sizeof(hart.ring[0]));
	hart.ring[0] = (struct ctr_record){ from | 1, to, type };
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
	hart.frozen = false;
}

void ctr_hw_thaw(void)
{
	hart.accesses++;
	hart.frozen = false;
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
static struct tracepoint points[] = { { "sched_wakeup" },
				      { "sched_switch" },
				      { "irq_handler_exit" } };
static unsigned int points_known = 3;
static int probed[3], probe_error[3];

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
static struct task_struct tasks[3];

static struct ctr_event user_event, twin_event, third_event, kernel_event, stack_event, typed_event;
static struct perf_event user = { .pmu_private = &user_event },
			 twin = { .pmu_private = &twin_event },
			 third = { .pmu_private = &third_event },
			 kernel = { .pmu_private = &kernel_event },
			 stack = { .pmu_private = &stack_event },
			 typed = { .pmu_private = &typed_event };

static void make_event(struct ctr_event *event, u64 perf)
{
	is_u64(ctr_filter_init(&event->filter, perf, &ctr_caps), 0, "branch_sample_type %#llx",
	       (unsigned long long)perf);
	event->depth = DEPTH;
}

static void fresh(void)
{
	(memset)(&hart, 0, sizeof(hart));
	(memset)(&cpu, 0, sizeof(cpu));
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
	unsigned int count = ctr_ring_fill(event), found = 0;

	for (unsigned int i = 0; i < count; i++)
		found += cpu.stack.entries[i].from / 0x10000 == id + 1;
	ok(found == own && count == own && cpu.stack.nr == own, "%s: %u entries, %u of its own",
	   what, count, found);
	is_hex(cpu.stack.hw_idx, ~0ull, "%s: positions in the ring are not known", what);
}

/* Events with the same filter, as those of a group, share the ring, in any order. */
static void test_shared(void)
{
	struct perf_event *const events[] = { &user, &twin, &third };

	twin_event = user_event;
	third_event = user_event;
	for (unsigned int first = 0; first < 3; first++) {
		for (unsigned int last = 0; last < 3; last++) {
			struct perf_event *end = events[last];
			unsigned int i;

			fresh();
			for (i = 0; i < 3; i++)
				is_u64(ctr_ring_begin(events[(first + i) % 3]), 0,
				       "event %u begins", i);
			is_u64(ctr_ring_begin(&kernel), (u64)-EBUSY, "another filter: EBUSY");
			records_of(0, 5);
			ctr_ring_end(end);
			ok(!ctr_ring_owns(&cpu, end), "an event that ended has no ring");
			for (i = 0; i < 3; i++)
				if (events[i] != end)
					entries_of(events[i], 0, 5, "a sample of each other");
			switch_to(1);
			for (i = 0; i < 3; i++)
				if (events[i] != end)
					entries_of(events[i], 1, 0, "nothing after a switch");
			ctr_ring_end(events[(last + 1) % 3]);
			ok(cpu.owner && hart.control, "one left: the ring records");
			ctr_ring_end(events[(last + 2) % 3]);
			ok(!cpu.owner && !hart.control && !hart.count, "none: it is empty");
		}
	}
}

static void test_owner(void)
{
	fresh();
	is_u64(hart.depth_code, 1, "online: the common depth");
	is_u64(ctr_ring_begin(&user), 0, "an event begins");
	is_hex(hart.control, user_event.filter.control, "the hart records what it wants");
	is_u64(ctr_ring_begin(&kernel), (u64)-EBUSY, "a second one: EBUSY");
	ok(cpu.owner == &user, "the first one keeps the ring");
	records_of(0, 5);
	entries_of(&user, 0, 5, "a sample");
	ok(!hart.frozen, "user mode alone needs no freezing");
	ctr_ring_end(&kernel);
	ok(cpu.owner == &user && hart.control, "the end of another one changes nothing");
	ctr_ring_end(&user);
	ok(!cpu.owner && !hart.control && !hart.count, "at its end nothing stays in the ring");

	hart.count = 3; /* records of another user */
	hart.frozen = true;
	hart.control = 3;
	ctr_ring_begin(&user);
	ok(!hart.count && !hart.frozen, "and nothing is in it when one begins");
	ctr_ring_end(&user);
	hart.control = 3;
	ctr_ring_begin(&user);
	records_of(0, 4);
	ctr_ring_offline(&cpu);
	ok(!hart.control && !hart.count && !cpu.usable, "offline: not recording, empty");
	hart.accesses = 0;
	switch_to(1);
	ctr_irq_exit(NULL, 0, NULL, 0);
	ctr_ring_end(&user);
	is_u64(hart.accesses, 0, "offline: its registers are left alone");
	ok(!cpu.owner, "and the event may go");
	is_u64(ctr_ring_begin(&user), (u64)-EOPNOTSUPP, "and cannot come back");
	ok(!cpu.owner, "nor has it the ring then");
	ok(!hart.cleared_while_recording, "the ring was never cleared while it records");
}

/* A system sleep that lost the registers. */
static void test_online_again(void)
{
	fresh();
	ctr_ring_begin(&kernel);
	records_of(0, 3);
	hart.control = 0;
	hart.count = 7;
	ctr_ring_online(&cpu);
	is_hex(hart.control, kernel_event.filter.control, "back from a sleep: it records again");
	ok(!hart.count, "from an empty ring on");
	ctr_ring_end(&kernel);
	ctr_ring_online(&cpu);
	is_hex(hart.control, 0, "nobody records: it does not");

	fresh();
	is_u64(ctr_ring_slot_get(&tasks[0]), 0, "a slot");
	ctr_ring_begin(&stack);
	records_of(0, 3);
	ctr_ring_online(&cpu);
	records_of(0, 2);
	ctr_ring_end(&stack);
	ctr_ring_begin(&stack);
	ok(hart.count == 0, "the lost ring has no owner and is not kept");
	ctr_ring_end(&stack);
	ctr_ring_slot_put(&tasks[0]);
}

static void test_switch(void)
{
	fresh();
	hart.accesses = 0;
	switch_to(1);
	is_u64(hart.accesses, 0, "no recording: a switch touches no register");
	switch_to(0);
	ctr_ring_begin(&user);
	records_of(0, 5);
	switch_to(1);
	is_hex(hart.control, user_event.filter.control, "after a switch it records on");
	records_of(1, 2);
	entries_of(&user, 1, 2, "after a switch");
	switch_to(0);
	entries_of(&user, 0, 0, "and back");
	ctr_ring_end(&user);

	/* Stacks of tasks are exchanged at a switch, not cleared. */
	fresh();
	ctr_ring_slot_get(&tasks[0]);
	ctr_ring_slot_get(&tasks[1]);
	ctr_ring_slot_get(&tasks[1]);
	ctr_ring_begin(&stack);
	records_of(0, 5);
	switch_to(1);
	is_hex(hart.control, stack_event.filter.control, "stacks: it records on");
	records_of(1, 3);
	switch_to(2);
	entries_of(&stack, 2, 0, "a task without a slot");
	records_of(2, 4);
	ctr_ring_slot_get(&tasks[0]);
	switch_to(0);
	entries_of(&stack, 0, 5, "stacks: the first one has its own again, with a new user");
	ctr_ring_slot_put(&tasks[0]);
	records_of(0, 1);
	switch_to(1);
	entries_of(&stack, 1, 3, "stacks: so has the second");
	switch_to(2);
	entries_of(&stack, 2, 0, "nothing is kept without a slot");
	switch_to(0);
	ctr_ring_end(&stack);
	ok(!hart.count, "the end: nothing stays in the ring");
	ctr_ring_begin(&user);
	entries_of(&user, 0, 0, "an event that wants no stacks gets none");
	records_of(0, 2);
	switch_to(1);
	entries_of(&user, 1, 0, "nor after a switch");
	switch_to(0);
	records_of(0, 3);
	ctr_ring_end(&user);
	ctr_ring_begin(&stack);
	entries_of(&stack, 0, 6, "the saved ring is that of the last end");
	records_of(0, 2);
	ctr_ring_end(&stack);
	ctr_ring_begin(&stack);
	entries_of(&stack, 0, 8, "and is kept at each end");
	ctr_ring_end(&stack);
	ctr_ring_slot_put(&tasks[1]);
	ok(ctr_slot_find(&tasks[1]) != NULL, "a slot stays for its other users");
	ctr_ring_slot_put(&tasks[1]);
	ok(!ctr_slot_find(&tasks[1]) && ctr_slot_find(&tasks[0]), "and goes with the last one");
	ctr_ring_slot_put(&tasks[0]);
	host_allocations = 0;
	is_u64(ctr_ring_slot_get(&tasks[0]), (u64)-ENOMEM, "no memory: ENOMEM");
	host_allocations = -1;
	ok(!ctr_slot_find(&tasks[0]), "and no slot");
	ok(!hart.cleared_while_recording, "the ring was never cleared while it records");
}

/* Random events and tasks: no event gets records of another task. */
static void test_isolation(void)
{
	struct perf_event *events[] = { &user, &stack, &typed };
	unsigned int strangers = 0, entries = 0;
	u64 state = 1;

	fresh();
	ctr_ring_slot_get(&tasks[0]);
	ctr_ring_slot_get(&tasks[1]);
	for (int i = 0; i < 20000; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		unsigned int value = state >> 40;

		switch (value % 8) {
		case 0:
			switch_to(value / 8 % 3);
			break;
		case 1:
			if (!cpu.owner)
				ctr_ring_begin(events[value / 8 % 3]);
			break;
		case 2:
			if (cpu.owner)
				ctr_ring_end(cpu.owner);
			break;
		case 3:
			if (cpu.owner) {
				unsigned int count = ctr_ring_fill(cpu.owner);

				entries += count;
				for (unsigned int k = 0; k < count; k++)
					strangers += cpu.stack.entries[k].from / 0x10000 !=
						     (u64)(host_current - tasks) + 1;
			}
			break;
		case 4:
			if (value / 8 % 8 == 0)
				ctr_ring_online(&cpu);
			break;
		default:
			records_of(host_current - tasks, value / 8 % 6);
		}
	}
	if (cpu.owner)
		ctr_ring_end(cpu.owner);
	ok(entries > 1000 && !strangers, "%u entries, %u of them of another task", entries,
	   strangers);
	ctr_ring_slot_put(&tasks[0]);
	ctr_ring_slot_put(&tasks[1]);
}

static void test_freeze(void)
{
	fresh();
	ctr_ring_begin(&kernel);
	record(KERNEL + 16, KERNEL + 32, 9);
	is_u64(ctr_ring_fill(&kernel), 1, "a sample of the kernel");
	ok(hart.frozen, "it is frozen for that");
	hart.accesses = 0;
	ctr_irq_exit(NULL, 0, NULL, 0);
	ok(!hart.frozen, "and thawed at the end of the interrupt");
	ctr_ring_fill(&kernel);
	ctr_ring_sampled(&kernel);
	ok(hart.frozen, "in an interrupt of genirq it stays frozen after the sample");
	host_in_nmi = true;
	ctr_ring_sampled(&kernel);
	ok(!hart.frozen, "in a software event of the firmware it is thawed: no interrupt ends");
	host_in_nmi = false;
	ctr_ring_end(&kernel);
	ctr_ring_begin(&user);
	hart.accesses = 0;
	ctr_irq_exit(NULL, 0, NULL, 0);
	host_in_nmi = true;
	ctr_ring_sampled(&user);
	host_in_nmi = false;
	is_u64(hart.accesses, 0, "user mode alone: there is nothing to thaw");
	ctr_ring_end(&user);
	hart.accesses = 0;
	ctr_irq_exit(NULL, 0, NULL, 0);
	is_u64(hart.accesses, 0, "nor without a recording");
}

static void test_types(void)
{
	static const struct {
		u64 from;
		u64 type;
		unsigned int expected;
		const char *what;
	} table[] = {
		{ 0x3000, 1, PERF_BR_UNKNOWN, "what cannot be read" },
		{ 0x1000, 1, PERF_BR_SYSCALL, "ecall" },
		{ KERNEL, 1, PERF_BR_UNKNOWN, "an exception of the kernel" },
		{ 0x1000, 2, PERF_BR_IRQ, "an interrupt at an ecall" },
		{ 0x2000, 1, PERF_BR_UNKNOWN, "ebreak" },
	};

	fresh();
	ctr_ring_begin(&typed);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		record(table[i].from, KERNEL + 64, table[i].type);
	is_u64(ctr_ring_fill(&typed), ARRAY_SIZE(table), "traps are kept");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		is_u64(cpu.stack.entries[ARRAY_SIZE(table) - 1 - i].type, table[i].expected, "%s",
		       table[i].what);
	ctr_ring_end(&typed);

	/* A sample has as many entries as the event asks for. */
	fresh();
	user_event.depth = 4;
	ctr_ring_begin(&user);
	records_of(0, 9);
	is_u64(ctr_ring_fill(&user), 4, "no more entries than the event's depth");
	ok(cpu.stack.entries[0].from == 0x10000 + 4 * 8, "the youngest ones");
	user_event.depth = DEPTH;
	ctr_ring_end(&user);
}

/* ctrdata takes a third of the time of a sample. */
static void test_data(void)
{
	static const u64 any = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	static const struct {
		u64 perf;
		u64 control; /* of the harts */
		unsigned int expected, entries;
		const char *what;
	} table[] = {
		{ any, 0xff3e00001980, 6, 6, "cycles" },
		{ any | PERF_SAMPLE_BRANCH_NO_CYCLES, 0xff3e00001980, 0, 6, "neither" },
		{ any | PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_TYPE_SAVE, 0xff3e00001980,
		  6, 6, "types" },
		{ PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_NO_CYCLES,
		  0xff3e00001980, 0, 6, "a filter of the harts" },
		{ PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_USER |
			  PERF_SAMPLE_BRANCH_NO_CYCLES,
		  0, 6, 0, "a filter that the harts lack" },
	};
	struct ctr_event ctr_event;
	struct perf_event event = { .pmu_private = &ctr_event };
	u64 control = ctr_caps.control;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		fresh();
		ctr_caps.control = table[i].control;
		make_event(&ctr_event, table[i].perf);
		ctr_ring_begin(&event);
		records_of(0, 6);
		is_u64(ctr_ring_fill(&event), table[i].entries, "%s: entries", table[i].what);
		is_u64(hart.data_reads, table[i].expected, "%s: reads of ctrdata", table[i].what);
		ctr_ring_end(&event);
	}
	ctr_caps.control = control;
}

static void test_snapshot(void)
{
	struct perf_branch_entry entries[DEPTH + 1];
	struct ctr_event call_event;
	struct perf_event call = { .pmu_private = &call_event };

	fresh();
	is_u64(ctr_ring_snapshot(entries, DEPTH), (u64)-ENOENT, "no recording: ENOENT");
	ctr_ring_begin(&user);
	records_of(0, 30);
	for (unsigned int max = 0; max <= DEPTH; max++) {
		unsigned int expected = max < 30 ? max : 30;
		bool good;

		entries[expected].from = 0x1234;
		good = ctr_ring_snapshot(entries, max) == (int)expected;
		for (unsigned int i = 0; i < expected; i++)
			good &= entries[i].from == 0x10000 + 4 * (29 - i);
		if (!good || entries[expected].from != 0x1234)
			ok(false, "a snapshot of at most %u entries", max);
	}
	ok(!hart.frozen, "a ring that records is thawed after it");
	records_of(0, 9);
	is_u64(ctr_ring_snapshot(entries, DEPTH), DEPTH, "a full ring: all of it");
	hart.frozen = true;
	ctr_ring_snapshot(entries, DEPTH);
	ok(hart.frozen, "one that was frozen stays so");
	hart.frozen = false;
	ctr_ring_offline(&cpu);
	is_u64(ctr_ring_snapshot(entries, DEPTH), (u64)-ENOENT, "offline: ENOENT");
	ctr_ring_end(&user);

	/* Dropped records leave room for older ones. */
	fresh();
	make_event(&call_event, PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_USER);
	ctr_ring_begin(&call);
	for (unsigned int i = 0; i < DEPTH; i++)
		record(0x10000 + 4 * i, 0x10000, i % 4 ? 5 : 9);
	is_u64(ctr_ring_snapshot(entries, 3), 3, "three calls among other transfers");
	ok(entries[0].from == 0x10000 + 4 * 28 && entries[2].from == 0x10000 + 4 * 20,
	   "the youngest calls");
	is_u64(ctr_ring_snapshot(entries, DEPTH), 8, "all calls, from the whole ring");
	ctr_ring_end(&call);
}

static void test_users(void)
{
	points_known = 1;
	is_u64(ctr_ring_init(), (u64)-ENOENT, "a kernel without sched_switch: ENOENT");
	points_known = 2;
	is_u64(ctr_ring_init(), (u64)-ENOENT, "without irq_handler_exit: ENOENT");
	points_known = 3;
	is_u64(ctr_ring_init(), 0, "with both: fine");
	is_u64(ctr_ring_users_get(false), 0, "an event may come");
	ok(probed[1] == 1 && !probed[2], "the first event: switches");
	ctr_ring_users_get(true);
	ctr_ring_users_get(true);
	ok(probed[1] == 1 && probed[2] == 1, "the first of the kernel: ends of interrupts");
	ctr_ring_users_put(true);
	ctr_ring_users_put(false);
	ok(probed[1] == 1 && probed[2] == 1, "some are left");
	ctr_ring_users_put(true);
	ok(!probed[1] && !probed[2], "the last one: none");
	probe_error[1] = -ENOMEM;
	is_u64(ctr_ring_users_get(true), (u64)-ENOMEM, "an error is returned");
	ok(!probed[1] && !probed[2], "and nothing of it remains");
	probe_error[1] = 0;
	probe_error[2] = -ENOMEM;
	is_u64(ctr_ring_users_get(true), (u64)-ENOMEM, "one of the other as well");
	ok(!probed[1] && !probed[2], "and nothing is left of that");
	ctr_ring_users_get(false);
	is_u64(ctr_ring_users_get(true), (u64)-ENOMEM, "with another event there");
	is_u64(probed[1], 1, "the owner keeps its ring");
	ctr_ring_users_put(false);
	is_u64(probed[1], 0, "the count is right");
	ok(!probed[0], "no other tracepoint was touched");
}

int main(void)
{
	make_event(&user_event, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	make_event(&kernel_event, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL);
	make_event(&stack_event, PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
	make_event(&typed_event, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
					 PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_TYPE_SAVE);
	ok(kernel_event.filter.control & LCOFIFRZ && stack_event.filter.control & RASEMU,
	   "the events differ in what the hart does");
	test_owner();
	test_shared();
	test_online_again();
	test_switch();
	test_isolation();
	test_freeze();
	test_types();
	test_data();
	test_snapshot();
	test_users();
	return done_testing();
}
