// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of lib/stacks: all ways in which control changes a stack.
 * selftests/consumers/stacks.sh and stack_truth.sh check stacks of real programs.
 */
#include "test_stacks.h"

static void test_calls(void)
{
	begin();
	block(START, 0, 8, NTRACE_INSN_CALL, at(MAIN, 0));
	call(MAIN, 0, A);
	call(A, 0, B);
	leave(B, 0);
	run(A, 12);
	call(A, 20, B);
	leave(B, 0);
	leave(A, 32);
	run(MAIN, 12);
	expect("program;_start 3|program;_start;main 5|program;_start;main;a 10|"
	       "program;_start;main;a;b 4",
	       "calls and returns");

	begin();
	call(MAIN, 0, A);
	jump(A, 0, B);
	run(B, 0);
	leave(B, 8);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 2|program;[unknown];main;b 4",
	       "a tail call replaces its caller");

	begin();
	call(MAIN, 0, A);
	call(A, 0, A);
	call(A, 0, A);
	jump(A, 0, A);
	leave(A, 0);
	leave(A, 12);
	leave(A, 12);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 5|program;[unknown];main;a;a 5|"
	       "program;[unknown];main;a;a;a 4",
	       "recursion; a jump to the start of the same function is a loop");

	begin();
	run(B, 12);
	leave(B, 20);
	run(A, 12);
	leave(A, 20);
	run(MAIN, 12);
	expect("program;[unknown];a 4|program;[unknown];b 4|program;[unknown];main 2",
	       "returns to unseen callers");
}

static void test_unwinding(void)
{
	begin();
	call(MAIN, 0, SETJMP);
	leave(SETJMP, 0);
	call(MAIN, 12, A);
	call(A, 0, MAIN);
	call(MAIN, 0x30, LONGJMP);
	leave(LONGJMP, 0);
	call(MAIN, 12, A);
	leave(A, 0);
	run(MAIN, 24);
	expect("program;[unknown];main 11|program;[unknown];main;_setjmp 2|"
	       "program;[unknown];main;a 5|program;[unknown];main;a;main 3|"
	       "program;[unknown];main;a;main;longjmp 2",
	       "longjmp: to the frame that called setjmp, not to another one of that function");

	begin();
	call(MAIN, 0, A);
	call(A, 0, B);
	call(B, 0, C);
	leave(C, 0);	/* to a landing pad */
	run(A, 0x40);
	call(A, 0x48, B);
	leave(B, 0);	/* to a landing pad at the start of the cold part */
	block(COLD, 0, 4, NTRACE_INSN_JUMP, at(A, 0x60));
	leave(A, 0x60);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 12|"
	       "program;[unknown];main;a;b 5|program;[unknown];main;a;b;c 2",
	       "an exception: to the frame of the function with the landing pad");

	begin();
	call(MAIN, 0, A);
	call(A, 0, B);
	/* swapcontext(): to another stack, back, and there again */
	block(B, 0, 4, NTRACE_INSN_RETURN, 0);
	call(HANDLER, 0x20, C);
	leave(C, 0);
	call(HANDLER, 0x2c, B);
	leave(B, 0);
	run(A, 12);
	leave(A, 20);
	run(MAIN, 12);
	expect("program;[unknown];handler 6|program;[unknown];handler;b 2|"
	       "program;[unknown];handler;c 2|program;[unknown];main 5|program;[unknown];main;a 7|"
	       "program;[unknown];main;a;b 2",
	       "co-routines: a stack set aside continues");
}

static void test_traps(void)
{
	unsigned int i;

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	handled(A, ECALL_AT);
	run(A, ECALL_AT + 4);
	leave(A, ECALL_AT + 12);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 6|"
	       "program;[unknown];main;a;entry 7|program;[unknown];main;a;entry;syscall 2",
	       "a system call: the kernel on top, then gone");

	begin();
	call(MAIN, 0, A);
	trap(A, 0);	/* before A's first instruction: A is entered nevertheless */
	run(ENTRY, 0);
	trap(ENTRY, 8);
	run(ENTRY, 0);
	block(ENTRY, 8, 8, NTRACE_INSN_TRAP_RETURN, 0);
	run(ENTRY, 8);
	trap_return(16);
	leave(A, 0);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 2|program;[unknown];main;a;entry "
	       "6|"
	       "program;[unknown];main;a;entry;entry 3",
	       "an interrupt at the target of a call, and one in the kernel");

	begin();
	call(MAIN, 0, A);
	run(A, 0);
	handled(A, 8);	/* a signal */
	handled(C, 0);
	call(C, 0, B);
	leave(B, 0);
	leave(C, 12);
	run(SIGRETURN, ECALL_AT - 8);
	handled(SIGRETURN, ECALL_AT);
	leave(A, 8);
	expect("program;[unknown];main 3|program;[unknown];main;a 4|program;[unknown];main;a;c 5|"
	       "program;[unknown];main;a;c;b 2|program;[unknown];main;a;c;entry 7|"
	       "program;[unknown];main;a;c;entry;syscall 2|program;[unknown];main;a;entry 7|"
	       "program;[unknown];main;a;entry;syscall 2|program;[unknown];main;a;sigreturn 2|"
	       "program;[unknown];main;a;sigreturn;entry 7|program;[unknown];main;a;sigreturn;"
	       "entry;syscall 2",
	       "a signal: its handler on top of what it interrupts, until sigreturn");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	trap(A, ECALL_AT);
	run(ENTRY, 0);
	trap_return(8);
	user_space = other_space;
	run(START, 0);
	expect("program;_start 2|program;[unknown];main 3|program;[unknown];main;a 2|"
	       "program;[unknown];main;a;entry 4",
	       "exec: no frame of the old program is left");

	begin();
	program_number = 1;
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	trap(A, ECALL_AT);
	run(ENTRY, 0);
	program_number = 2;
	user_space = other_space;
	trap_return(8);
	handled(START, 0);
	handled(START, 0);
	run(START, 0);
	expect("program;_start 2|program;entry 14|program;entry;syscall 4|program;[unknown];main 3|"
	       "program;[unknown];main;a 2|program;[unknown];main;a;entry 4",
	       "exec: a page fault at the entry of the new program, and an interrupt before it "
	       "executes");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	for (i = 0; i < 2; i++) {
		trap(A, ECALL_AT);
		run(ENTRY, 0);
		trap_return(8);
		leave(HANDLER, 0);
		run(SIGRETURN, ECALL_AT - 8);
		trap(SIGRETURN, ECALL_AT);
		run(ENTRY, 0);
		trap_return(8);
	}
	leave(A, ECALL_AT + 4);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 4|"
	       "program;[unknown];main;a;entry 8|program;[unknown];main;a;handler 4|"
	       "program;[unknown];main;a;sigreturn 4|program;[unknown];main;a;sigreturn;entry 8",
	       "a restarted system call, interrupted again by a signal");

	begin();
	call(MAIN, 0, A);
	run(A, 0);
	trap(A, 8);
	run(ENTRY, 0);
	trap_return(8);
	leave(HANDLER, 0);
	block(SIGRETURN, 0, ECALL_AT - 4, NTRACE_INSN_PLAIN, 0);
	event_of(NTRACE_FLOW_TRAP, NTRACE_BTYPE_INTERRUPT, at(SIGRETURN, ECALL_AT));
	privilege = NTRACE_PRIV_S;
	run(ENTRY, 0);
	trap_return(8);
	leave(C, 0);
	for (i = 0; i < 2; i++) {
		if (!i)
			block(SIGRETURN, 0, ECALL_AT - 4, NTRACE_INSN_PLAIN, 0);
		trap(SIGRETURN, ECALL_AT);
		run(ENTRY, 0);
		trap_return(8);
	}
	leave(A, 8);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 4|program;[unknown];main;a;entry "
	       "4|"
	       "program;[unknown];main;a;handler 2|program;[unknown];main;a;sigreturn 32|"
	       "program;[unknown];main;a;sigreturn;c 2|program;[unknown];main;a;sigreturn;entry 8|"
	       "program;[unknown];main;a;sigreturn;sigreturn 32|"
	       "program;[unknown];main;a;sigreturn;sigreturn;entry 4",
	       "an interrupt with a signal just before a handler asks to end");
}

static void test_user_only(void)
{
	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT));
	event_of(NTRACE_FLOW_SYNC, 0, at(A, ECALL_AT + 4));
	run(A, ECALL_AT + 4);
	call(A, ECALL_AT + 12, B);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(B, 0));
	leave(B, 0);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT + 24));
	leave(HANDLER, 0);
	run(SIGRETURN, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SIGRETURN, ECALL_AT));
	leave(A, ECALL_AT + 24);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 9|program;[unknown];main;a;b 2|"
	       "program;[unknown];main;a;handler 2|program;[unknown];main;a;sigreturn 2",
	       "user mode only: system call, page fault at a call's target, signal");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT));
	leave(HANDLER, 0);
	run(SIGRETURN, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SIGRETURN, ECALL_AT));
	leave(B, 0);
	run(SIGRETURN, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SIGRETURN, ECALL_AT));
	leave(A, ECALL_AT + 4);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 4|program;[unknown];main;a;b 2|"
	       "program;[unknown];main;a;handler 2|program;[unknown];main;a;sigreturn 4",
	       "two signals at once: the second handler interrupts the same code as the first");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT));
	leave(HANDLER, 0);
	run(SIGRETURN, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SIGRETURN, ECALL_AT));
	event_of(NTRACE_FLOW_SYNC, 0, at(A, ECALL_AT));
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT));
	leave(A, ECALL_AT + 4);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 4|"
	       "program;[unknown];main;a;handler 2|program;[unknown];main;a;sigreturn 2",
	       "a system call restarted after a signal");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT));
	user_space = other_space;
	event_of(NTRACE_FLOW_SYNC, 0, at(HANDLER, 0));
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(HANDLER, 0));
	run(HANDLER, 0);
	run(HANDLER, 8);
	expect("program;handler 4|program;[unknown];main 3|program;[unknown];main;a 2",
	       "user mode only: exec, a page fault at the entry of the new program");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT));
	/* As of code that several tasks share. */
	user_space = other_space;
	event_of(NTRACE_FLOW_SYNC, 0, at(B, 0));
	leave(B, 0);
	run(SIGRETURN, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SIGRETURN, ECALL_AT));
	leave(A, ECALL_AT + 4);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 4|program;[unknown];main;a;b 2|"
	       "program;[unknown];main;a;sigreturn 2",
	       "user mode only: a signal, whose handler is in another space");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(A, ECALL_AT));
	thread = -1;
	event_of(NTRACE_FLOW_SYNC, 0, at(B, 0));
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(B, 0));
	thread = 1;
	leave(HANDLER, 0);
	run(SIGRETURN, ECALL_AT - 8);
	event_of(NTRACE_FLOW_TRACE_OFF, NTRACE_EVCODE_TRACE_DISABLE, at(SIGRETURN, ECALL_AT));
	leave(A, ECALL_AT + 4);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 4|"
	       "program;[unknown];main;a;handler 2|program;[unknown];main;a;sigreturn 2",
	       "user mode only: an unknown thread executes no instruction, then a signal");
}

static void test_threads(void)
{
	begin();
	call(MAIN, 0, A);
	trap(A, 0);
	call(ENTRY, 0, SWITCH_TO);
	block(SWITCH_TO, 0, 4, NTRACE_INSN_RETURN, 0);
	thread = 2;
	run(SYSCALL, 0x10);
	block(SYSCALL, 0x18, 0x18, NTRACE_INSN_TRAP_RETURN, 0);
	privilege = NTRACE_PRIV_U;
	call(B, 0, C);
	trap(C, 0);
	call(ENTRY, 0, SWITCH_TO);
	block(SWITCH_TO, 0, 4, NTRACE_INSN_RETURN, 0);
	thread = 1;
	run(ENTRY, 12);
	trap_return(20);
	leave(A, 0);
	run(MAIN, 12);
	expect("program;[unknown];b 3|program;[unknown];b;c;entry 3|"
	       "program;[unknown];b;c;entry;__switch_to 2|program;[unknown];main 5|"
	       "program;[unknown];main;a 2|program;[unknown];main;a;entry 7|"
	       "program;[unknown];main;a;entry;__switch_to 2|program;[unknown];syscall 3",
	       "each thread has its stack, and goes on with the return of another one's "
	       "__switch_to");
}

static void test_gaps(void)
{
	begin();
	call(MAIN, 0, A);
	call(A, 0, B);
	event_of(NTRACE_FLOW_GAP, 0, 0);
	run(C, 0x10);
	leave(C, 0x18);
	run(A, 12);
	leave(A, 20);
	run(MAIN, 12);
	expect("program;[unknown];c 4|program;[unknown];main 5|program;[unknown];main;a 7",
	       "after a loss callers are unknown, until control returns to a known one");
	is_u64(gaps, 1, "the gap is reported");

	begin();
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	trap(A, ECALL_AT);
	run(ENTRY, 0);
	event_of(NTRACE_FLOW_GAP, 0, 0);
	run(SYSCALL, 0x10);
	leave(SYSCALL, 0x18);
	trap_return(12);
	leave(A, ECALL_AT + 4);
	run(MAIN, 12);
	expect("program;[unknown];entry 2|program;[unknown];main 5|program;[unknown];main;a 4|"
	       "program;[unknown];main;a;entry 2|program;[unknown];syscall 4",
	       "a loss in the kernel: the user's stack continues at its interrupted address");
}

static void test_selection(void)
{
	struct ntrace_stacks_options options = { .size = sizeof(options),
						 .merge_threads = true,
						 .privileges = 1u << NTRACE_PRIV_U };

	begin_with(&options);
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	handled(A, ECALL_AT);
	leave(A, ECALL_AT + 4);
	expect("program;[unknown];main 3|program;[unknown];main;a 4", "only user space");
	options.privileges = 1u << NTRACE_PRIV_S;
	begin_with(&options);
	call(MAIN, 0, A);
	run(A, ECALL_AT - 8);
	handled(A, ECALL_AT);
	expect("program;entry 7|program;entry;syscall 2", "only the kernel");
	options.depth = 1;
	is_u64(ntrace_stacks_new(&stacks, &options), NTRACE_ERR_INVALID, "no room for functions");
}

/* Totals of functions and edges, with recursion, computed by hand. */
int main(void)
{
	setup();
	test_calls();
	test_unwinding();
	test_traps();
	test_user_only();
	test_threads();
	test_gaps();
	test_selection();
	tear_down();
	return done_testing();
}
