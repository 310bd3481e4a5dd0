// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of lib/stacks: threads that go on with another stack, and what they come back to from code that is not
 * traced.
 */
#include "test_stacks.h"

/* Goes on with another stack, at @where of @to. */
static void change_stack(unsigned int with, unsigned int to, uint64_t where)
{
	block(with, SWITCH_AT, SWITCH_AT + 8, NTRACE_INSN_INDIRECT_JUMP, at(to, where));
}

static void test_begin(void)
{
	begin();
	call(MAIN, 0, SWAP);
	change_stack(SWAP, A, 0);
	call(A, 0, B);
	leave(B, 0);
	call(A, 12, SWAP);
	change_stack(SWAP, MAIN, 12);
	call(MAIN, 12, SWAP);
	change_stack(SWAP, A, 24);
	run(A, 24);
	call(A, 32, SWAP);
	change_stack(SWAP, MAIN, 24);
	run(MAIN, 24);
	expect("program;a 11|program;a;b 2|program;a;swap 6|program;[unknown];main 8|"
	       "program;[unknown];main;swap 6",
	       "a stack that is entered by a jump has a root of its own");

	begin();
	call(MAIN, 0, JUMP);
	change_stack(JUMP, A, 0);
	run(A, 0);
	expect("program;a 2|program;[unknown];main 3|program;[unknown];main;jump 3",
	       "so with a stack pointer from a register");

	begin();
	call(MAIN, 0, TAIL);
	change_stack(TAIL, A, 0);
	leave(A, 0);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 2|program;[unknown];main;tail 3",
	       "a jump after the end of a frame is a tail call");
}

/* More fibers than any other stacks, which start each other and go on in turn. */
static void test_many(void)
{
	const unsigned int fibers = 300, rounds = 4;
	struct ntrace_stacks_stats stats;
	char want[200];

	begin();
	call(MAIN, 0, SWAP);
	for (unsigned int i = 0; i < fibers; i++) {
		change_stack(SWAP, A, 0);
		call(A, 0, SWAP);
	}
	for (unsigned int i = 0; i < fibers * rounds; i++) {
		change_stack(SWAP, A, 12);
		jump(A, 12, A);
		call(A, 0, SWAP);
	}
	change_stack(SWAP, MAIN, 12);
	run(MAIN, 12);
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.switched, fibers * rounds + 1, "each time, the thread comes back to a stack");
	snprintf(want, sizeof(want),
		 "program;a %u|program;a;swap %u|program;[unknown];main "
		 "5|program;[unknown];main;swap 3",
		 fibers * (5 * rounds + 3), 3 * fibers * (rounds + 1));
	expect(want, "fibers that start each other are not below each other");
}

/* Fibers that wait in the same function: its return shows whose it is. */
static void test_same_place(void)
{
	for (unsigned int second = 0; second < 2; second++) {
		begin();
		call(MAIN, 0, SWAP);
		change_stack(SWAP, A, 0);
		call(A, 0, B);
		call(B, 0, SWAP);
		change_stack(SWAP, C, 0);
		call(C, 0, B);
		call(B, 0, SWAP);
		change_stack(SWAP, MAIN, 12);
		call(MAIN, 12, SWAP);
		change_stack(SWAP, B, 12);
		run(B, 12);
		leave(B, 20);
		run(second ? C : A, 12);
		expect(second ? "program;a 3|program;a;b 3|program;a;b;swap 3|program;c 5|"
				"program;c;b 7|program;c;b;swap 3|program;[unknown];main 6|"
				"program;[unknown];main;swap 6" :
				"program;a 5|program;a;b 7|program;a;b;swap 3|program;c 3|"
				"program;c;b 3|program;c;b;swap 3|program;[unknown];main 6|"
				"program;[unknown];main;swap 6",
		       second ? "it is the second one" : "it is the first one");
	}
	/* The trace ends before it is known. */
	begin();
	call(MAIN, 0, SWAP);
	change_stack(SWAP, A, 0);
	call(A, 0, B);
	call(B, 0, SWAP);
	change_stack(SWAP, C, 0);
	call(C, 0, B);
	call(B, 0, SWAP);
	change_stack(SWAP, MAIN, 12);
	call(MAIN, 12, SWAP);
	change_stack(SWAP, B, 12);
	run(B, 12);
	expect("program;a 3|program;a;b 3|program;a;b;swap 3|program;c 3|program;c;b 5|"
	       "program;c;b;swap 3|program;[unknown];main 6|program;[unknown];main;swap 6",
	       "it is not known: the one that was left last");
}

static void test_resumed(void)
{
	struct ntrace_stacks_stats stats;

	/* M-mode, which is not traced, ends with an interrupt. */
	begin();
	run(MAIN, 0);
	trap(MAIN, 8);
	block(ENTRY, 0, 8, NTRACE_INSN_CALL, at(SYSCALL, 0));
	run(SYSCALL, 0);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SYSCALL, 8));
	run(ENTRY, 0);
	block(ENTRY, 8, 12, NTRACE_INSN_TRAP_RETURN, 0);
	leave(SYSCALL, 8);
	run(ENTRY, 12);
	trap_return(20);
	run(MAIN, 8);
	expect("program;[unknown];main 4|program;[unknown];main;entry 7|"
	       "program;[unknown];main;entry;syscall 4|"
	       "program;[unknown];main;entry;syscall;entry 4",
	       "an interrupt before the first instruction after code that is not traced");

	/* The kernel goes on elsewhere: below, the program waits as before. */
	begin();
	call(MAIN, 0, A);
	trap(A, 0);
	block(ENTRY, 0, 8, NTRACE_INSN_CALL, at(SYSCALL, 0));
	run(SYSCALL, 0);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SYSCALL, 8));
	run(SWITCH_TO, 0x20);
	leave(SWITCH_TO, 0x28);
	run(ENTRY, 12);
	trap_return(20);
	leave(A, 0);
	run(MAIN, 12);
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.unmatched, 1, "the kernel goes on elsewhere");
	expect("program;[unknown];main 5|program;[unknown];main;a 2|"
	       "program;[unknown];main;a;entry 7|program;[unknown];main;a;entry;syscall 2|"
	       "program;[unknown];main;a;[unknown];__switch_to 4",
	       "and the program below stays");
}

int main(void)
{
	setup();
	test_begin();
	test_many();
	test_same_place();
	test_resumed();
	tear_down();
	return done_testing();
}
