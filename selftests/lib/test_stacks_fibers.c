// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of lib/stacks: threads that go on with another stack or with that of the thread that made them, and what
 * they come back to from code that is not traced.
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

/* Fibers begin in a and c, both call b and wait there; then one of the two goes on in b. */
static void wait_in_same_place(void)
{
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
}

/* Fibers that wait in the same function: its return shows whose it is. */
static void test_same_place(void)
{
	for (unsigned int second = 0; second < 2; second++) {
		wait_in_same_place();
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
	wait_in_same_place();
	expect("program;a 3|program;a;b 3|program;a;b;swap 3|program;c 3|program;c;b 3|"
	       "program;c;b;swap 3|program;[unknown];b 2|program;[unknown];main 6|"
	       "program;[unknown];main;swap 6",
	       "the trace ends before it is known");
	/* A signal handler in between calls the function that it interrupts. */
	wait_in_same_place();
	handled(B, 20);
	call(HANDLER, 0, B);
	run(B, 0);
	run(B, 8);
	run(B, 16);
	handled(B, 20);
	leave(B, 20);
	leave(HANDLER, 12);
	run(SIGRETURN, ECALL_AT - 8);
	handled(SIGRETURN, ECALL_AT);
	leave(B, 20);
	run(A, 12);
	expect("program;a 5|program;a;b 7|program;a;b;entry 7|program;a;b;entry;syscall 2|"
	       "program;a;b;handler 5|program;a;b;handler;b 8|program;a;b;handler;b;entry 7|"
	       "program;a;b;handler;b;entry;syscall 2|program;a;b;sigreturn 2|"
	       "program;a;b;sigreturn;entry 7|program;a;b;sigreturn;entry;syscall "
	       "2|program;a;b;swap 3|"
	       "program;c 3|program;c;b 3|program;c;b;swap 3|program;[unknown];main 6|"
	       "program;[unknown];main;swap 6",
	       "a signal handler decides nothing");
}

/* Of two fibers that wait at one place, one has unknown callers, and may return anywhere. */
static void test_unknown_callers(void)
{
	for (unsigned int known = 0; known < 2; known++) {
		wait_in_same_place();
		call(B, 20, SWAP);
		change_stack(SWAP, MAIN, 24);
		call(MAIN, 24, SWAP);
		change_stack(SWAP, C, 0);
		call(C, 0, A);
		call(A, 0, B);
		block(B, 0, 16, NTRACE_INSN_PLAIN, 0);
		call(B, 20, SWAP);
		change_stack(SWAP, MAIN, 36);
		call(MAIN, 36, SWAP);
		change_stack(SWAP, B, 32);
		leave(B, 32);
		leave(A, 12);
		run(C, known ? 12 : 24);
		expect(known ? "program;a 3|program;a;b 3|program;a;b;swap 3|program;c 8|"
			       "program;c;a 5|program;c;a;b 10|program;c;a;b;swap 3|"
			       "program;c;b 3|program;c;b;swap 3|program;[unknown];b 5|"
			       "program;[unknown];b;swap 3|program;[unknown];main 12|"
			       "program;[unknown];main;swap 12" :
			       "program;a 3|program;a;b 3|program;a;b;swap 3|program;c 6|"
			       "program;c;a 3|program;c;a;b 8|program;c;a;b;swap 3|"
			       "program;c;b 3|program;c;b;swap 3|program;[unknown];a 2|"
			       "program;[unknown];b 7|program;[unknown];b;swap 3|"
			       "program;[unknown];c 2|program;[unknown];main 12|"
			       "program;[unknown];main;swap 12",
		       known ? "all callers of the other one return: it has gone on" :
			       "a caller of the other one does not return: it has not gone on");
	}
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

/* The system call of fork(), up to the kernel's code. */
static void begin_fork(void)
{
	block(FORK, ECALL_AT - 4, ECALL_AT - 4, NTRACE_INSN_PLAIN, 0);
	trap(FORK, ECALL_AT);
	block(ENTRY, 0, 8, NTRACE_INSN_CALL, at(SYSCALL, 0));
}

/* It returns; the function returns to @where of @to. */
static void end_fork(unsigned int to, uint64_t where)
{
	trap_return(20);
	leave(FORK, ECALL_AT + 4);
	run(to, where);
}

/* A thread that made another one goes on in its turn @number, after it has made @count. */
static void begin_turn(uint64_t number, uint64_t count)
{
	thread = 1;
	origin = NULL;
	turn = number;
	made = count;
}

/* The first turn of the child with that number, in the middle of the system call of its parent. */
static void begin_child(int32_t tid, uint64_t number)
{
	static struct ntrace_origin from;

	from = (struct ntrace_origin){ .pid = 1, .tid = 1, .turn = turn, .number = number };
	thread = tid;
	turn = 1;
	made = 0;
	origin = &from;
	privilege = NTRACE_PRIV_S;
	leave(SYSCALL, 4);
}

/* A thread of process @pid begins turn @number, in which it comes from @from if that is not NULL. */
static void go_on(int32_t pid, int32_t tid, uint64_t number, const struct ntrace_origin *from)
{
	process = pid;
	thread = tid;
	turn = number;
	origin = from;
}

/* One thread number stands for two threads, one after the other. */
static void test_numbers(void)
{
	static const struct ntrace_origin exec = { .pid = 1, .tid = 2, .turn = 2 };
	static const struct ntrace_origin clone = { .pid = 1, .tid = 1, .turn = 1 };

	/* Exec in thread 2 makes it thread 1, which has run until then. */
	begin();
	go_on(1, 2, 1, NULL);
	program_number = 1;
	call(B, 0, FORK);
	trap(FORK, ECALL_AT);
	block(ENTRY, 0, 8, NTRACE_INSN_CALL, at(SYSCALL, 0));
	run(SYSCALL, 0);
	go_on(1, 1, 2, NULL);
	privilege = NTRACE_PRIV_U;
	call(MAIN, 0, A);
	run(A, 0);
	go_on(1, 1, 4, &exec);
	privilege = NTRACE_PRIV_S;
	leave(SYSCALL, 8);
	run(ENTRY, 12);
	trap_return(20);
	program_number = 2;
	call(MAIN, 0, A);
	run(A, 0);
	/* It goes on in its next turn. */
	go_on(1, 1, 5, NULL);
	leave(A, 8);
	run(MAIN, 12);
	expect("program;main 5|program;main;a 4|program;[unknown];b "
	       "3|program;[unknown];b;fork;entry 7|"
	       "program;[unknown];b;fork;entry;syscall 4|program;[unknown];main "
	       "3|program;[unknown];main;a 2",
	       "a thread that becomes the first one of its process");

	/* Thread 3 of process 1 has the number of process 3, which has ended. */
	begin();
	go_on(3, 3, 1, NULL);
	call(MAIN, 0, A);
	run(A, 0);
	go_on(1, 1, 1, NULL);
	run(B, 0);
	go_on(1, 3, 3, &clone);
	run(B, 0);
	run(B, 8);
	expect("program;b 4|program;[unknown];b 2|program;[unknown];main "
	       "3|program;[unknown];main;a 2",
	       "a thread with the number of an earlier process");
	is_u64(depth[2] + depth[3], 0, "and no frame of these threads is left");
}

static void test_forks(void)
{
	/* The turn ends in a system call that has made a thread of the process; the next one makes a process. */
	begin();
	begin_turn(1, 0);
	call(MAIN, 0, A);
	call(A, 0, FORK);
	begin_fork();
	begin_turn(2, 1);
	leave(SYSCALL, 0);
	end_fork(A, 12);
	call(A, 20, B);
	call(B, 0, FORK);
	begin_fork();
	begin_child(2, 1);
	end_fork(B, 12);
	unfinished = 1;
	expect("program;[unknown];main 3|program;[unknown];main;a 8|program;[unknown];main;a;b 5|"
	       "program;[unknown];main;a;b;fork 3|program;[unknown];main;a;b;fork;entry 3|"
	       "program;[unknown];main;a;b;fork;[unknown];entry 2|"
	       "program;[unknown];main;a;b;fork;[unknown];syscall 2|"
	       "program;[unknown];main;a;fork 3|program;[unknown];main;a;fork;entry 5|"
	       "program;[unknown];main;a;fork;entry;syscall 2",
	       "a child gets the stack of its own system call");

	/* The turn ends before the system call has made its thread. */
	begin();
	begin_turn(1, 0);
	call(MAIN, 0, A);
	call(A, 0, FORK);
	begin_fork();
	begin_turn(2, 0);
	leave(SYSCALL, 0);
	begin_child(2, 0);
	end_fork(A, 12);
	expect("program;[unknown];main 3|program;[unknown];main;a 5|program;[unknown];main;a;fork "
	       "3|"
	       "program;[unknown];main;a;fork;entry 3|program;[unknown];main;a;fork;entry;syscall "
	       "2|"
	       "program;[unknown];main;a;fork;[unknown];entry 2|"
	       "program;[unknown];main;a;fork;[unknown];syscall 2",
	       "a system call that makes its thread in the next turn");

	/* A signal interrupts a system call, which then begins again. */
	begin();
	begin_turn(1, 0);
	call(MAIN, 0, A);
	call(A, 0, FORK);
	begin_fork();
	leave(SYSCALL, 0);
	trap_return(20);
	call(HANDLER, 0, SIGRETURN);
	leave(SIGRETURN, 0);
	leave(HANDLER, 12);
	block(SIGRETURN, ECALL_AT, ECALL_AT, NTRACE_INSN_PLAIN, 0);
	handled(SIGRETURN, ECALL_AT);
	trap(FORK, ECALL_AT);
	block(ENTRY, 0, 8, NTRACE_INSN_CALL, at(SYSCALL, 0));
	begin_turn(2, 1);
	leave(SYSCALL, 0);
	end_fork(A, 12);
	call(A, 20, B);
	call(B, 0, FORK);
	begin_fork();
	begin_child(2, 1);
	end_fork(B, 12);
	unfinished = 1;
	expect("program;[unknown];main 3|program;[unknown];main;a 8|program;[unknown];main;a;b 5|"
	       "program;[unknown];main;a;b;fork 3|program;[unknown];main;a;b;fork;entry 3|"
	       "program;[unknown];main;a;b;fork;[unknown];entry 2|"
	       "program;[unknown];main;a;b;fork;[unknown];syscall 2|program;[unknown];main;a;fork "
	       "3|"
	       "program;[unknown];main;a;fork;entry 10|program;[unknown];main;a;fork;entry;syscall "
	       "4|"
	       "program;[unknown];main;a;fork;handler "
	       "5|program;[unknown];main;a;fork;handler;sigreturn 2|"
	       "program;[unknown];main;a;fork;sigreturn "
	       "1|program;[unknown];main;a;fork;sigreturn;entry 7|"
	       "program;[unknown];main;a;fork;sigreturn;entry;syscall 2",
	       "a system call that begins again has made no thread");
}

int main(void)
{
	setup();
	test_forks();
	test_numbers();
	test_begin();
	test_many();
	test_same_place();
	test_unknown_callers();
	test_resumed();
	tear_down();
	return done_testing();
}
