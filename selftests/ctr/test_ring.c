// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events that share a ring, and the records in their samples: the driver on a simulated hart.
 * Control Transfer Records 1.0; isolation of users and of the kernel: "Permissions and isolation" in
 * Documentation/trace/riscv-ctr.rst.
 */
#include "hart.h"

static struct ctr_event twin_event, third_event, plain_event;
static struct perf_event twin = { .pmu_private = &twin_event },
			 third = { .pmu_private = &third_event },
			 kernel = { .pmu_private = &kernel_event },
			 typed = { .pmu_private = &typed_event },
			 plain = { .pmu_private = &plain_event };

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
			is_u64(ctr_ring_begin(&stack), (u64)-EBUSY, "a call stack: EBUSY");
			records_of(0, 5);
			ctr_ring_end(end);
			ok(!ctr_ring_has(&cpu, end), "an event that ended has no ring");
			for (i = 0; i < 3; i++)
				if (events[i] != end)
					entries_of(events[i], 0, 5, "a sample of each other");
			switch_to(1);
			for (i = 0; i < 3; i++)
				if (events[i] != end)
					entries_of(events[i], 1, 0, "nothing after a switch");
			ctr_ring_end(events[(last + 1) % 3]);
			ok(cpu.events && hart.control, "one left: the ring records");
			ctr_ring_end(events[(last + 2) % 3]);
			ok(!cpu.events && !hart.control && !hart.count, "none: it is empty");
		}
	}
}

/* More than is recorded between two clears. */
#define LONG 4096

/* What a hart would record for one event alone. */
struct alone {
	u64 control;
	struct perf_event event;
	struct ctr_event ctr_event;
	bool scheduled;
	struct ctr_record ring[LONG];
	unsigned int count;
	u64 cycles;
};

static void alone_record(struct alone *alone, u64 from, u64 to, u64 type, u64 cycles)
{
	if (hidden(alone->control, from))
		alone->cycles += cycles;
	if (!records_transfer(alone->control, from, to, type) || alone->count == LONG)
		return;
	alone->ring[alone->count++] = (struct ctr_record){ hidden(alone->control, from),
							   hidden(alone->control, to),
							   alone->cycles << 8 | type };
	alone->cycles = 0;
}

/* The interrupt of a counter after some cycles of user mode: LCOFIFRZ keeps it out of all rings. */
static u64 overflow(struct alone *alone, size_t count, u64 cycles)
{
	for (size_t i = 0; i < count; i++)
		alone[i].cycles += hidden(alone[i].control, 0x1000) ? cycles : 0;
	return hidden(hart.control, 0x1000) ? cycles : 0;
}

/* Number of entries of a sample that are not those of the event alone. */
static unsigned int alone_compare(struct alone *alone, unsigned int *timed)
{
	unsigned int count = ctr_ring_fill(&alone->event, NULL), wrong = 0, expected;

	/* The shared ring may be too short for all that the event wants. */
	expected = min(alone->count, alone->ctr_event.depth);
	if (count != expected && hart.count < DEPTH)
		return 1;
	for (unsigned int i = 0; i < count; i++) {
		const struct ctr_record *want = &alone->ring[alone->count - 1 - i];
		const struct perf_branch_entry *entry = &cpu.stack.entries[i];

		wrong += entry->from != want->source || entry->to != want->target;
		/* 0: not known */
		wrong += entry->cycles && entry->cycles != want->data >> 8;
		*timed += entry->cycles > 0;
	}
	return wrong;
}

/* Whatever the others record, an event gets what it would get alone. */
static void test_sharing(void)
{
	static const u64 filters[] = {
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
		PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_USER,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL,
		PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL,
		PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_NO_CYCLES,
		PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_KERNEL,
	};
	static const u8 types[] = { 5, 8, 9, 10, 11, 12, 13, 14, 15 };
	static struct alone alone[ARRAY_SIZE(filters)];
	unsigned int samples = 0, timed = 0, wrong = 0, shared = 0, clears = 0;
	bool in_kernel = false, counts = false;
	u64 state = 7, since = 0;

	fresh();
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		alone[i].event.pmu_private = &alone[i].ctr_event;
		make_event(&alone[i].ctr_event, filters[i]);
		alone[i].ctr_event.depth = 1 + 9 * i % DEPTH;
		alone[i].control = alone[i].ctr_event.filter.control;
	}
	for (unsigned int round = 0; round < 60000; round++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		unsigned int value = state >> 33, action = value % 64;
		struct alone *one = &alone[value / 64 % ARRAY_SIZE(filters)];

		if (action == 0 && !one->scheduled) {
			one->scheduled = !ctr_ring_begin(&one->event);
			wrong += !one->scheduled;
			counts = false;
		} else if (action == 1 && one->scheduled) {
			one->scheduled = false;
			ctr_ring_end(&one->event);
			counts = false;
		} else if (action == 2) {
			switch_to(value / 64 % 3);
			counts = false;
		} else if (action < 6 && one->scheduled) {
			samples++;
			shared += ctr_event_of(cpu.events)->next != NULL;
			wrong += alone_compare(one, &timed);
			ctr_hw_thaw();
		} else if (action == 6 && !in_kernel) {
			since += overflow(alone, ARRAY_SIZE(alone), value / 64 % 7 + 1);
			in_kernel = true;
		} else {
			u64 from = 0x1000 + value % 0x1000 * 2 + (in_kernel ? KERNEL : 0), to, type;
			u64 cycles = value / 64 % 7 + 1;

			type = types[value / 512 % ARRAY_SIZE(types)];
			if (value / 64 % 16 == 0) {
				type = in_kernel ? 3 : 1 + value / 1024 % 2;
				in_kernel = !in_kernel;
			}
			to = 0x3000 + value % 0x800 * 2 + (in_kernel ? KERNEL : 0);
			/* The first record after a write of sctrctl has no cycles. */
			since += hidden(hart.control, from) ? cycles : 0;
			record(from, to, (counts ? 1 << 15 | since << 16 : 0) | type);
			if (records_transfer(hart.control, from, to, type)) {
				counts = true;
				since = 0;
			}
			for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
				alone_record(&alone[i], from, to, type, cycles);
		}
		if (!counts)
			since = 0;
		for (size_t i = 0; clears != hart.clears && i < ARRAY_SIZE(filters); i++)
			alone[i].count = alone[i].cycles = 0;
		clears = hart.clears;
	}
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (alone[i].scheduled)
			ctr_ring_end(&alone[i].event);
	ok(!hart.control && !hart.count, "all ended: the ring is empty");
	ok(!wrong && shared > 1000, "%u samples, %u with other events: %u entries wrong", samples,
	   shared, wrong);
	ok(timed > 1000, "%u entries with cycles", timed);
	ok(!hart.cleared_while_recording, "the ring was never cleared while it records");
}

/* Harts that record no types cannot sieve by type, but by privilege. */
static void test_untyped(void)
{
	struct ctr_caps caps = ctr_caps;
	struct ctr_event call_event;
	struct perf_event call = { .pmu_private = &call_event };

	fresh();
	make_event(&call_event, PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_USER);
	ctr_caps.type = false;
	is_u64(ctr_ring_begin(&user), 0, "without types: an event");
	is_u64(ctr_ring_begin(&call), (u64)-EBUSY, "other types: EBUSY");
	is_u64(ctr_ring_begin(&kernel), 0, "another mode: shared");
	record(0x1000, 0x2000, 0);
	record(KERNEL, KERNEL + 8, 0);
	is_u64(ctr_ring_fill(&user, NULL), 1, "user mode has its record");
	is_u64(ctr_ring_fill(&kernel, NULL), 1, "and the kernel its own");
	ctr_ring_end(&user);
	ctr_ring_end(&kernel);
	ctr_caps = caps;
}

/* A sample has the ring as its branch stack, unless the interrupt came in a mode that the event excludes. */
static void test_sample(void)
{
	struct pt_regs in_user = { .user = true }, in_kernel = { .user = false };
	struct perf_sample_data data = { NULL };

	fresh();
	ctr_ring_begin(&user);
	record(0x1000, 0x2000, 9);
	user.attr.exclude_kernel = 1;
	ok(!ctr_ring_skidded(&user, &in_user), "a sample of user mode");
	is_u64(ctr_ring_fill(&user, &data), 1, "has its branch");
	ok(data.stack == (void *)&cpu.stack && cpu.stack.nr == 1 &&
		   cpu.stack.entries[0].from == 0x1000,
	   "as a branch stack");
	ok(ctr_ring_skidded(&user, &in_kernel), "an interrupt that comes late, in the kernel");
	user.attr.exclude_kernel = 0;
	ok(!ctr_ring_skidded(&user, &in_kernel), "which an event of both modes accepts");
	user.attr.exclude_user = 1;
	ok(ctr_ring_skidded(&user, &in_user),
	   "an interrupt in user mode, for an event of the kernel");
	user.attr.exclude_user = 0;
	is_u64(cpu.samples, 1, "one sample");
	is_u64(cpu.skidded, 2, "two dropped");
	ctr_ring_end(&user);
}

/* The ring is thawed if the only event that lets it freeze goes in between. */
static void test_frozen_share(void)
{
	fresh();
	ctr_ring_begin(&user);
	ctr_ring_begin(&kernel);
	record(0x1000, 0x2000, 9);
	is_u64(ctr_ring_fill(&user, NULL), 1, "an event of user mode on a ring with the kernel");
	ok(hart.frozen, "it is frozen while it is read");
	ctr_ring_end(&kernel);
	ok(!hart.frozen, "the event of the kernel ends: thawed");
	ok(hart.count == 1, "the records stay");
	record(0x3000, 0x4000, 9);
	is_u64(ctr_ring_fill(&user, NULL), 2, "and further ones come");
	ctr_ring_end(&user);
}

/* Which events may be open at the same time. */
static void test_open(void)
{
	fresh();
	stack.hw.target = &tasks[0];
	stack.cpu = -1;
	user.cpu = 1;
	is_u64(ctr_ring_open(&stack), 0, "a call stack of a task");
	is_u64(ctr_ring_open(&user), 0, "an event of a hart goes before it");
	twin_event = user_event;
	twin.hw.target = &tasks[1];
	twin.cpu = -1;
	is_u64(ctr_ring_open(&twin), 0, "another task: no conflict");
	third_event = user_event;
	third.hw.target = &tasks[0];
	third.cpu = 0;
	is_u64(ctr_ring_open(&third), (u64)-EBUSY, "other branches of the same task: EBUSY");
	ctr_ring_close(&stack);
	is_u64(ctr_ring_open(&third), 0, "closed: accepted");
	is_u64(ctr_ring_open(&stack), (u64)-EBUSY,
	       "a call stack beside an event of its hart: EBUSY");
	ctr_ring_close(&user);
	is_u64(ctr_ring_open(&stack), (u64)-EBUSY, "and beside one of its task");
	ctr_ring_close(&third);
	is_u64(ctr_ring_open(&stack), 0, "both closed: accepted");
	ctr_ring_close(&stack);
	host_allocations = 0;
	is_u64(ctr_ring_open(&stack), (u64)-ENOMEM, "no memory for the slot: ENOMEM");
	host_allocations = -1;
	is_u64(ctr_ring_open(&third), 0, "and nothing of it is in the way");
	ctr_ring_close(&third);
	ctr_ring_close(&twin);
	is_u64(ctr_ring_open(&plain), 0, "an event without branch stack");
	ctr_ring_close(&plain);
	ok(ctr_events.next == &ctr_events && !ctr_stacks, "no event is left");
}

static void test_begin(void)
{
	fresh();
	is_u64(hart.depth_code, 1, "online: the common depth");
	is_u64(ctr_ring_begin(&user), 0, "an event begins");
	is_hex(hart.control, user_event.filter.control, "the hart records what it wants");
	is_u64(ctr_ring_begin(&stack), (u64)-EBUSY, "a call stack: EBUSY");
	ok(cpu.events == &user, "the first one keeps the ring");
	records_of(0, 5);
	entries_of(&user, 0, 5, "a sample");
	ok(!hart.frozen, "user mode alone needs no freezing");
	ctr_ring_end(&stack);
	ok(cpu.events == &user && hart.control, "the end of another one changes nothing");
	ctr_ring_end(&user);
	ok(!cpu.events && !hart.control && !hart.count, "at its end nothing stays in the ring");

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
	ok(!cpu.events, "and the event may go");
	is_u64(ctr_ring_begin(&user), (u64)-EOPNOTSUPP, "and cannot come back");
	ok(!cpu.events, "nor has it the ring then");
	is_u64(ctr_ring_begin(&plain), 0, "an event without branch stack needs no ring");
	ok(ctr_ring_has(&cpu, &plain), "it is scheduled");
	ctr_ring_end(&plain);
	is_u64(hart.accesses, 0, "without an access to the registers");
	fresh();
	hart.accesses = 0;
	ctr_ring_begin(&plain);
	is_u64(hart.accesses, 0, "nor on a usable hart");
	is_u64(ctr_ring_begin(&stack), 0, "a call stack beside it");
	ctr_ring_end(&plain);
	ctr_ring_end(&stack);
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
	stack.hw.target = &tasks[0];
	is_u64(ctr_task_open(&stack), 0, "a slot");
	ctr_ring_begin(&stack);
	records_of(0, 3);
	ctr_ring_online(&cpu);
	records_of(0, 2);
	ctr_ring_end(&stack);
	ctr_ring_begin(&stack);
	ok(hart.count == 0, "the lost ring has no owner and is not kept");
	ctr_ring_end(&stack);
	ctr_task_close(&stack);
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
	ok(!hart.cleared_while_recording, "the ring was never cleared while it records");
}

/* Random events and tasks: no event gets records of another task. */
static void test_isolation(void)
{
	struct perf_event *events[] = { &user, &stack, &typed };
	struct perf_event other = { .pmu_private = &stack_event, .hw.target = &tasks[1] };
	unsigned int strangers = 0, entries = 0;
	u64 state = 1;

	fresh();
	stack.hw.target = &tasks[0];
	ctr_task_open(&stack);
	ctr_task_open(&other);
	for (int i = 0; i < 20000; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		unsigned int value = state >> 40;
		struct perf_event *one = events[value / 8 % 3];

		switch (value % 8) {
		case 0:
			switch_to(value / 8 % 3);
			break;
		case 1:
			if (!ctr_ring_has(&cpu, one))
				ctr_ring_begin(one);
			break;
		case 2:
			ctr_ring_end(one);
			break;
		case 3:
			if (ctr_ring_has(&cpu, one)) {
				unsigned int count = ctr_ring_fill(one, NULL);

				entries += count;
				for (unsigned int k = 0; k < count; k++)
					strangers += cpu.stack.entries[k].from / 0x10000 !=
						     (u64)(host_current - tasks) + 1;
				ctr_hw_thaw();
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
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		ctr_ring_end(events[i]);
	ok(entries > 1000 && !strangers, "%u entries, %u of them of another task", entries,
	   strangers);
	ctr_task_close(&stack);
	ctr_task_close(&other);
}

static void test_freeze(void)
{
	fresh();
	ctr_ring_begin(&kernel);
	record(KERNEL + 16, KERNEL + 32, 9);
	is_u64(ctr_ring_fill(&kernel, NULL), 1, "a sample of the kernel");
	ok(hart.frozen, "it is frozen for that");
	hart.accesses = 0;
	ctr_irq_exit(NULL, 0, NULL, 0);
	ok(!hart.frozen, "and thawed at the end of the interrupt");
	ctr_ring_fill(&kernel, NULL);
	ctr_ring_sampled();
	ok(hart.frozen, "in an interrupt of genirq it stays frozen after the sample");
	host_in_nmi = true;
	ctr_ring_sampled();
	ok(!hart.frozen, "in a software event of the firmware it is thawed: no interrupt ends");
	host_in_nmi = false;
	ctr_ring_end(&kernel);
	ctr_ring_begin(&user);
	hart.accesses = 0;
	ctr_irq_exit(NULL, 0, NULL, 0);
	host_in_nmi = true;
	ctr_ring_sampled();
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
	is_u64(ctr_ring_fill(&typed, NULL), ARRAY_SIZE(table), "traps are kept");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		is_u64(cpu.stack.entries[ARRAY_SIZE(table) - 1 - i].type, table[i].expected, "%s",
		       table[i].what);
	ctr_ring_end(&typed);

	/* A sample has as many entries as the event asks for. */
	fresh();
	user_event.depth = 4;
	ctr_ring_begin(&user);
	records_of(0, 9);
	is_u64(ctr_ring_fill(&user, NULL), 4, "no more entries than the event's depth");
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
		is_u64(ctr_ring_fill(&event, NULL), table[i].entries, "%s: entries", table[i].what);
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

/* The tracepoints that are probed, a digit each. */
static u64 probes(void)
{
	u64 sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(points); i++)
		sum = sum * 10 + probed[i];
	return sum;
}

static void test_users(void)
{
	for (points_known = 0; points_known < ARRAY_SIZE(points); points_known++)
		is_u64(ctr_ring_init(), (u64)-ENOENT, "a kernel with %u of the tracepoints: ENOENT",
		       points_known);
	is_u64(ctr_ring_init(), 0, "with all: fine");
	is_u64(ctr_ring_users_get(&plain_event.filter), 0, "an event without branch stack");
	is_u64(probes(), 0, "needs none");
	is_u64(ctr_ring_users_get(&user_event.filter), 0, "an event may come");
	is_u64(probes(), 10010, "the first event: switches and exec");
	ctr_ring_users_get(&kernel_event.filter);
	ctr_ring_users_get(&kernel_event.filter);
	is_u64(probes(), 11010, "the first of the kernel: ends of interrupts");
	ctr_ring_users_get(&stack_event.filter);
	is_u64(probes(), 11111, "the first with call stacks: lives of tasks");
	ctr_ring_users_put(&kernel_event.filter);
	ctr_ring_users_put(&user_event.filter);
	is_u64(probes(), 11111, "some are left");
	ctr_ring_users_put(&stack_event.filter);
	is_u64(probes(), 11010, "call stacks are not");
	ctr_ring_users_put(&kernel_event.filter);
	ctr_ring_users_put(&plain_event.filter);
	is_u64(probes(), 0, "the last one: none");
	for (size_t i = 1; i < ARRAY_SIZE(points); i++) {
		bool needed = !strcmp(points[i].name, "sched_switch") ||
			      !strcmp(points[i].name, "sched_process_exec");
		const struct ctr_filter all = { .control = 1, .kernel = true, .stack = true };

		probe_error[i] = -ENOMEM;
		is_u64(ctr_ring_users_get(&all), (u64)-ENOMEM, "an error is returned");
		is_u64(probes(), 0, "and nothing of it remains");
		ctr_ring_users_get(&user_event.filter);
		ctr_ring_users_get(&all);
		ok(probes() == (needed ? 0 : 10010), "nor with another event there");
		if (!needed)
			ctr_ring_users_put(&user_event.filter);
		is_u64(probes(), 0, "the count is right");
		probe_error[i] = 0;
	}
}

int main(void)
{
	make_events();
	test_begin();
	test_shared();
	test_sharing();
	test_untyped();
	test_sample();
	test_frozen_share();
	test_open();
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
