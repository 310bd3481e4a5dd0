// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of tasks: the driver on a simulated hart. "Call stacks" in
 * Documentation/trace/riscv-ctr.rst.
 */
#include "hart.h"

/* Stacks of tasks are exchanged at a switch, not cleared. */
static void test_stacks(void)
{
	struct perf_event other = { .pmu_private = &stack_event, .hw.target = &tasks[1] };

	fresh();
	stack.hw.target = &tasks[0];
	ctr_task_open(&stack);
	ctr_task_open(&other);
	ctr_ring_begin(&stack);
	records_of(0, 5);
	switch_to(1);
	is_hex(hart.control, stack_event.filter.control, "stacks: it records on");
	records_of(1, 3);
	switch_to(2);
	entries_of(&stack, 2, 0, "a task without a slot");
	records_of(2, 4);
	switch_to(0);
	entries_of(&stack, 0, 5, "stacks: the first one has its own again");
	records_of(0, 1);
	switch_to(1);
	entries_of(&stack, 1, 3, "stacks: so has the second");
	switch_to(2);
	entries_of(&stack, 2, 0, "nothing is kept without a slot");
	switch_to(0);
	ctr_ring_end(&stack);
	ok(!cpu.filter.control && hart.control == stack_event.filter.control,
	   "the end: the ring goes on");
	records_of(0, 2);
	ctr_ring_begin(&stack);
	entries_of(&stack, 0, 8, "it has what the task has called meanwhile");
	ctr_ring_end(&stack);
	switch_to(2);
	ok(!hart.control && !hart.count, "it stops for a task without a slot");
	switch_to(1);
	records_of(1, 1);
	switch_to(0);
	ctr_ring_begin(&stack);
	entries_of(&stack, 0, 8, "switches without an event keep the stack");
	ctr_ring_end(&stack);
	ctr_ring_begin(&user);
	entries_of(&user, 0, 0, "an event that wants no stacks gets none");
	records_of(0, 2);
	switch_to(1);
	entries_of(&user, 1, 0, "nor after a switch");
	switch_to(0);
	ctr_ring_end(&user);
	ok(!hart.control && !hart.count, "its end: nothing stays in the ring");
	records_of(0, 1);
	ctr_ring_begin(&stack);
	entries_of(&stack, 0, 0, "the ring has missed calls: no stack");
	records_of(0, 3);
	switch_to(1);
	entries_of(&stack, 1, 0, "nor has the other task one");
	switch_to(0);
	entries_of(&stack, 0, 3, "from now on it is kept");
	ctr_ring_end(&stack);

	/* perf has swapped the contexts: the event of task 1 ends with task 0. */
	ctr_task_close(&other);
	ctr_task_free(NULL, &tasks[0]);
	ok(!ctr_slot_find(&tasks[0]) && ctr_slot_find(&tasks[1]),
	   "the slot of a living task stays");
	is_u64(tasks[0].references, 0, "the other task is released");
	switch_to(1);
	ok(hart.control, "the ring records for it");
	ctr_task_close(&stack);
	ok(!ctr_slot_find(&tasks[1]) && !tasks[1].references, "it goes with the last event");
	ok(!hart.control && !hart.count && !cpu.ring_task, "and the ring stops");
	host_allocations = 0;
	is_u64(ctr_task_open(&stack), (u64)-ENOMEM, "no memory: ENOMEM");
	host_allocations = -1;
	ok(!ctr_slot_find(&tasks[0]) && !ctr_stacks, "and no slot");
	tasks[0].flags = PF_EXITING;
	is_u64(ctr_task_open(&stack), 0, "a task that exits: accepted");
	ok(!ctr_slot_find(&tasks[0]) && !tasks[0].references,
	   "without a slot, which nobody would free");
	ctr_task_close(&stack);
	ok(!hart.cleared_while_recording, "the ring was never cleared while it records");
}

/* Children: of recorded tasks, and all while a hart is recorded. */
static void test_fork(void)
{
	struct perf_event all = { .pmu_private = &stack_event };

	fresh();
	stack.hw.target = &tasks[0];
	ctr_task_fork(NULL, &tasks[0], &tasks[1]);
	ok(!ctr_slot_find(&tasks[1]), "nothing is recorded: no slot");
	ctr_task_open(&stack);
	ctr_ring_begin(&stack);
	records_of(0, 5);
	ctr_task_fork(NULL, &tasks[0], &tasks[1]);
	switch_to(1);
	entries_of(&stack, 0, 5, "a child has the frames of its parent");
	records_of(0, 1);
	registers[2].sp = 0x8000;
	ctr_task_fork(NULL, &tasks[1], &tasks[2]);
	registers[2].sp = 0;
	switch_to(2);
	entries_of(&stack, 2, 0, "a thread has a stack of its own");
	records_of(2, 2);
	switch_to(0);
	entries_of(&stack, 0, 5, "the parent keeps its frames");
	switch_to(2);
	ctr_task_exec(NULL, host_current, 0, NULL);
	entries_of(&stack, 2, 0, "exec: the frames of the old program are gone");
	records_of(2, 3);
	switch_to(1);
	entries_of(&stack, 0, 6, "those of another task are not");
	switch_to(2);
	entries_of(&stack, 2, 3, "the new program's are kept");
	ctr_ring_end(&stack);
	ctr_task_exec(NULL, host_current, 0, NULL);
	ctr_ring_begin(&stack);
	entries_of(&stack, 2, 0, "exec while no event is scheduled");
	ctr_ring_end(&stack);
	host_allocations = 0;
	ctr_task_fork(NULL, &tasks[0], &tasks[3]);
	host_allocations = -1;
	ok(!ctr_slot_find(&tasks[3]), "no memory: the child has no slot");
	ctr_task_close(&stack);

	fresh();
	tasks_known = 3;
	tasks[2].flags = PF_KTHREAD;
	stack.hw.target = &tasks[1];
	ctr_task_open(&stack);
	is_u64(ctr_task_open(&all), 0, "an event of a hart");
	ok(ctr_slot_find(&tasks[0]) && ctr_slot_find(&tasks[1]), "each task has a slot");
	ok(!ctr_slot_find(&tasks[2]), "but not a thread of the kernel");
	ctr_task_fork(NULL, &tasks[0], &tasks[3]);
	ok(ctr_slot_find(&tasks[3]) != NULL, "so has a new one");
	tasks[3] = (struct task_struct){ .id = 3, .references = tasks[3].references };
	ctr_task_free(NULL, &tasks[3]);
	ctr_task_fork(NULL, &tasks[2], &tasks[3]);
	ok(ctr_slot_find(&tasks[3]) != NULL, "also if its parent is a thread of the kernel");
	ctr_task_close(&all);
	ok(!ctr_slot_find(&tasks[0]) && !ctr_slot_find(&tasks[3]), "they go with the event");
	ok(ctr_slot_find(&tasks[1]) != NULL, "but not that of a task with an event of its own");
	ctr_task_close(&stack);
	host_allocations = 1;
	is_u64(ctr_task_open(&all), 0, "an allocation fails: the walk begins again");
	ok(ctr_slot_find(&tasks[0]) && ctr_slot_find(&tasks[1]), "and each task has a slot");
	ctr_task_close(&all);
	tasks_known = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(tasks); i++)
		is_u64(tasks[i].references, 0, "task %u is released", i);
}

/* The ring of a program begins with it, whatever is recorded. */
static void test_exec(void)
{
	struct perf_event typed = { .pmu_private = &typed_event };
	struct perf_event *const events[] = { &user, &typed };

	fresh();
	ctr_task_exec(NULL, host_current, 0, NULL);
	ok(!hart.clears, "exec: nothing is recorded");
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		u64 control = ctr_event_of(events[i])->filter.control;

		fresh();
		ctr_ring_begin(events[i]);
		records_of(0, 5);
		ctr_task_exec(NULL, host_current, 0, NULL);
		is_hex(hart.control, control, "exec: it records on");
		records_of(0, 2);
		entries_of(events[i], 0, 2, "exec: branches of the new program alone");
		ok(!hart.cleared_while_recording, "exec: the ring does not record meanwhile");
		ctr_ring_offline(&cpu);
		hart.accesses = 0;
		ctr_task_exec(NULL, host_current, 0, NULL);
		ok(!hart.accesses, "exec: no register of a hart without the common capabilities");
		ctr_ring_online(&cpu);
		ctr_ring_end(events[i]);
	}
}

/* Calls of a task that have not returned. */
struct frames {
	u64 from[DEPTH];
	unsigned int count;
};

/* Number of entries of a sample that are not frames of the running task. */
static unsigned int frames_compare(const struct frames *frames, unsigned int *whole)
{
	unsigned int count = ctr_ring_fill(&stack, NULL), wrong = 0;

	for (unsigned int i = 0; i < count; i++)
		wrong += i >= frames->count ||
			 cpu.stack.entries[i].from != frames->from[frames->count - 1 - i];
	*whole += count == frames->count && count > 2;
	return wrong;
}

/*
 * Random events, calls and returns: the entries are always frames that the task has, the newest
 * first, whatever was recorded meanwhile. Task 2 is not recorded, unless its hart is.
 */
static void test_returned(void)
{
	struct perf_event other = { .pmu_private = &stack_event, .hw.target = &tasks[1] };
	struct perf_event all = { .pmu_private = &stack_event };
	static struct frames frames[3];
	unsigned int samples = 0, wrong = 0, whole = 0;
	bool opened = false;
	u64 state = 1;

	fresh();
	tasks_known = 3;
	stack.hw.target = &tasks[0];
	ctr_task_open(&stack);
	ctr_task_open(&other);
	for (unsigned int round = 0; round < 100000; round++) {
		struct frames *own = &frames[host_current->id];

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		switch (state >> 40 & 31) {
		case 0 ... 1:
			switch_to((state >> 45) % 3);
			break;
		case 2 ... 4:
			if (!cpu.events)
				ctr_ring_begin(&stack);
			break;
		case 5:
			ctr_ring_end(&stack);
			break;
		case 6:
			if (!cpu.events && !(state >> 45 & 7))
				ctr_ring_begin(&user);
			break;
		case 7:
			ctr_ring_end(&user);
			break;
		case 8:
			if (state >> 45 & 15)
				break;
			opened ? ctr_task_close(&all) : (void)ctr_task_open(&all);
			opened = !opened;
			break;
		case 9:
			if (!cpu.usable)
				ctr_ring_online(&cpu);
			else if (!(state >> 45 & 31))
				ctr_ring_offline(&cpu);
			break;
		case 10:
			if (state >> 45 & 63)
				break;
			own->count = 0;
			ctr_task_exec(NULL, host_current, 0, NULL);
			break;
		case 11 ... 18:
			if (own->count == DEPTH - 1)
				break;
			own->from[own->count++] = 0x1000 + 8 * round;
			record(0x1000 + 8 * round, 0x800, 9);
			break;
		case 19 ... 28:
			if (!own->count)
				break;
			own->count--;
			record(0x800, 0x1004, 13);
			break;
		default:
			if (cpu.events != &stack || !cpu.usable)
				break;
			samples++;
			wrong += frames_compare(own, &whole);
		}
	}
	ok(!wrong && samples > 1000, "%u samples: %u entries are no frames of the task", samples,
	   wrong);
	ok(whole > samples / 4, "%u samples have all frames", whole);
	ctr_ring_online(&cpu);
	ctr_ring_end(&stack);
	ctr_ring_end(&user);
	if (opened)
		ctr_task_close(&all);
	ctr_task_close(&other);
	ctr_task_close(&stack);
	ok(!hart.control && !hart.count, "all closed: the ring is empty");
	ok(!hart.cleared_while_recording, "it was never cleared while it records");
	tasks_known = 0;
}

int main(void)
{
	make_events();
	test_stacks();
	test_fork();
	test_exec();
	test_returned();
	return done_testing();
}
