// SPDX-License-Identifier: GPL-2.0-only
/* Limits of call stacks: threads, depth, nested traps and stacks set aside. */
#include "stacks/thread.h"

#include "test_stacks.h"

static void start(void)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options),
						       .merge_threads = true };

	begin_with(&options);
}

/* Thread 1 is in a(), called by main(), while @others other threads run. */
static void with_others(unsigned int others, const char *want, const char *what)
{
	start();
	run(MAIN, 0);
	call(MAIN, 8, A);
	run(A, 0);
	for (unsigned int i = 0; i < others; i++) {
		thread = (int32_t)(1000 + i);
		run(B, 0);
	}
	thread = 1;
	run(A, 8);
	expect(want, what);
}

static void test_threads(void)
{
	char want[200];

	snprintf(want, sizeof(want),
		 "program;[unknown];b %u|program;[unknown];main 5|program;[unknown];main;a 4",
		 2 * (THREADS_MAX - 1));
	with_others(THREADS_MAX - 1, want, "the stack of a thread is kept");
	snprintf(want, sizeof(want),
		 "program;[unknown];a 2|program;[unknown];b %u|program;[unknown];main "
		 "5|program;[unknown];main;a 2",
		 2 * THREADS_MAX);
	with_others(THREADS_MAX, want,
		    "of too many threads that which ran longest ago is forgotten");
	/* It ran again in between, so another one is. */
	start();
	for (unsigned int i = 0; i < THREADS_MAX; i++) {
		thread = (int32_t)(1 + i);
		run(MAIN, 0);
		call(MAIN, 8, A);
		run(A, 0);
	}
	thread = 1;
	run(A, 8);
	thread = THREADS_MAX + 1;
	run(B, 0);
	thread = 1;
	run(A, 16);	/* is kept */
	thread = 3;
	run(A, 8);	/* is kept */
	thread = 2;
	run(A, 8);	/* was dropped */
	snprintf(want, sizeof(want),
		 "program;[unknown];a 2|program;[unknown];b 2|program;[unknown];main "
		 "%u|program;[unknown];main;a %u",
		 5 * THREADS_MAX, 2 * THREADS_MAX + 6);
	expect(want, "a thread that has run since is not");
}

static struct {
	uint32_t depth, deepest;
	unsigned int wrong;
	uint64_t begun;
} changed;

static int count_change(void *data, const struct ntrace_stack_change *change)
{
	(void)data;
	if (change->type == NTRACE_STACK_ENTER)
		changed.wrong += change->depth != changed.depth++;
	else if (change->type == NTRACE_STACK_LEAVE)
		changed.wrong += change->depth != --changed.depth;
	changed.begun += change->begins;
	if (changed.depth > changed.deepest)
		changed.deepest = changed.depth;
	return 0;
}

/* The outer half of a stack that is too deep becomes unknown. */
static void test_depth(void)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options),
						       .change = count_change };
	struct ntrace_stacks_stats stats;
	unsigned int i;

	begin_with(&options);
	run(MAIN, 0);
	call(MAIN, 8, A);
	for (i = 1; i < FRAMES_MAX - 1; i++)
		call(A, 0, A);
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.cut, 0, "the deepest stack is whole");
	call(A, 0, A);
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.cut, 1, "with one more frame it is cut");
	for (i = 0; i < FRAMES_MAX / 2 + 1; i++)
		call(A, 0, A);
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.cut, 2, "and again after as many as were dropped");
	for (i = 0; i < FRAMES_MAX; i++)
		leave(A, 16);
	run(MAIN, 16);
	ntrace_stacks_end(stacks);
	is_u64(changed.wrong, 0, "the frames that are reported are those below each other");
	is_u64(changed.depth, 0, "each ends");
	is_u64(changed.deepest, FRAMES_MAX, "the deepest of them");
	is_u64(changed.begun, FRAMES_MAX + FRAMES_MAX / 2 + 1, "each begins once");
	ntrace_stacks_free(stacks);
}

int main(void)
{
	setup();
	test_threads();
	test_depth();
	tear_down();
	return done_testing();
}
