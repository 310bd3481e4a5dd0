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

	/* perf has swapped the contexts: the event of task 1 ends with task 0. */
	ctr_task_close(&other);
	ctr_task_free(NULL, &tasks[0]);
	ok(!ctr_slot_find(&tasks[0]) && ctr_slot_find(&tasks[1]),
	   "the slot of a living task stays");
	is_u64(tasks[0].references, 0, "the other task is released");
	ctr_task_close(&stack);
	ok(!ctr_slot_find(&tasks[1]) && !tasks[1].references, "it goes with the last event");
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
	tasks[2].mm = tasks[1].mm;
	ctr_task_fork(NULL, &tasks[1], &tasks[2]);
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
	entries_of(&stack, 2, 0, "exec while nothing is recorded");
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

int main(void)
{
	make_events();
	test_stacks();
	test_fork();
	return done_testing();
}
