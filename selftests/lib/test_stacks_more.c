// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of lib/stacks: sums, merging, limits, time; and a long random walk that is compared
 * with the true stack.
 */
#include "test_stacks.h"

static void test_sums(void)
{
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_edge *edges;
	size_t count, i, k;
	uint64_t sum;

	begin();
	call(MAIN, 0, A);	/* main 3 */
	call(A, 0, B);		/* a 3 */
	call(B, 0, A);		/* b 3 */
	leave(A, 0);		/* a 2 */
	leave(B, 12);		/* b 2 */
	leave(A, 12);		/* a 2 */
	run(MAIN, 12);		/* main 2 */
	ntrace_stacks_end(stacks);
	functions = ntrace_stacks_functions(stacks, &count);
	edges = ntrace_stacks_edges(stacks, &k);
	for (i = 0; i < count; i++) {
		const struct ntrace_stack_function *function = &functions[i];
		size_t edge;

		if (!strcmp(function->name, "a")) {
			is_u64(function->instructions, 7, "a's own instructions");
			is_u64(function->total, 12, "a's total has the instructions below once");
			is_u64(function->calls, 2, "and its calls");
		}
		if (!strcmp(function->name, "b"))
			is_u64(function->total, 7, "b's total includes the inner a");
		for (edge = 0, sum = 0; edge < k; edge++)
			sum += edges[edge].callee == i ? edges[edge].total : 0;
		if (function->kind != NTRACE_STACK_ALL)
			is_u64(sum, function->total,
			       "%s: the totals of its callers add up to its total", function->name);
	}
	ntrace_stacks_free(stacks);
}

/* Callers and callees that occur at several places of the call tree. */
static void test_edges(void)
{
	static const struct {
		const char *caller, *callee;
		uint64_t calls, total;
	} want[] = {
		{ "a", "b", 2, 4 },
		{ "c", "a", 1, 7 },
		{ "main", "a", 1, 7 },
		{ "main", "c", 1, 12 },
		{ "[unknown]", "main", 0, 27 },
		{ "program", "[unknown]", 0, 27 },
		{ "all", "program", 0, 27 },
	};
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_edge *edges;
	size_t count, i;

	begin();
	call(MAIN, 0, A);	/* main 3 */
	call(A, 0, B);		/* a 3 */
	leave(B, 0);		/* b 2 */
	leave(A, 12);		/* a 2 */
	call(MAIN, 12, C);	/* main 3 */
	call(C, 0, A);		/* c 3 */
	call(A, 0, B);		/* a 3 */
	leave(B, 0);		/* b 2 */
	leave(A, 12);		/* a 2 */
	leave(C, 12);		/* c 2 */
	run(MAIN, 24);		/* main 2 */
	ntrace_stacks_end(stacks);
	functions = ntrace_stacks_functions(stacks, &count);
	edges = ntrace_stacks_edges(stacks, &count);
	is_u64(count, sizeof(want) / sizeof(want[0]), "one edge for each pair, by both names");
	for (i = 0; i < count && i < sizeof(want) / sizeof(want[0]); i++) {
		is_str(functions[edges[i].caller].name, want[i].caller, "edge %zu: caller", i);
		is_str(functions[edges[i].callee].name, want[i].callee, "edge %zu: callee", i);
		is_u64(edges[i].calls, want[i].calls, "edge %zu: calls", i);
		is_u64(edges[i].total, want[i].total, "edge %zu: instructions", i);
	}
	ntrace_stacks_free(stacks);
}

static void test_limits(void)
{
	struct ntrace_stacks_options options = {
		.size = sizeof(options), .merge_threads = true, .depth = 4, .nodes = 5
	};
	struct ntrace_stacks_stats stats;
	unsigned int i;

	begin_with(&options);
	call(MAIN, 0, A);
	call(A, 0, B);
	call(B, 0, C);
	leave(C, 0);
	expect("[other] 5|program;[unknown];main 3|program;[unknown];main;a 3", "a full tree");
	options.depth = 0;
	options.nodes = 0;
	begin_with(&options);
	for (i = 0; i < 100000; i++)
		call(A, 0, A);
	for (i = 0; i < 100000; i++)
		leave(A, 12);
	ntrace_stacks_end(stacks);
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.instructions, 500000, "100,000 calls deep: all instructions are counted");
	ok(stats.cut && stats.returns >= 32768, "the outer part of the stack was dropped: %u times",
	   (unsigned int)stats.cut);
	ntrace_stacks_free(stacks);
}

/* A handler returns to another address of its own privilege, where no frame waits. */
static void test_unmatched_trap_return(void)
{
	struct ntrace_stacks_stats stats;

	begin();
	run(MAIN, 0);
	trap(MAIN, 8);
	block(ENTRY, 0, 4, NTRACE_INSN_TRAP_RETURN, 0);
	block(SYSCALL, 0, 4, NTRACE_INSN_PLAIN, 0);
	ntrace_stacks_end(stacks);
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.unmatched, 1,
	       "a trap return to the kernel from a trap in user space: counted");
	is_u64(stats.instructions, 6, "and all instructions are counted");
	ntrace_stacks_free(stacks);
}

static void test_time(void)
{
	const struct ntrace_stack_function *functions;
	size_t count, i;

	begin();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1100;
	call(MAIN, 8, A);	/* 3 instructions, then 2 of a: 100 ticks */
	leave(A, 0);
	offset = 30;
	run(MAIN, 20);
	ntrace_stacks_end(stacks);
	is_u64(wrong, 0, "time does not run backwards");
	functions = ntrace_stacks_functions(stacks, &count);
	for (i = 0; i < count; i++) {
		if (!strcmp(functions[i].name, "a"))
			is_u64(functions[i].ticks, 40, "time passes with instructions");
		if (!strcmp(functions[i].name, "main"))
			is_u64(functions[i].total_ticks, 100, "and adds up");
	}
	is_u64(time_kind, NTRACE_STACK_TIME_OUTSIDE, "after the last timestamp no time is known");
	ntrace_stacks_free(stacks);

	begin();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 900;
	run(MAIN, 8);
	ntrace_stacks_end(stacks);
	functions = ntrace_stacks_functions(stacks, &count);
	for (i = 0; i < count; i++)
		if (!strcmp(functions[i].name, "main"))
			is_u64(functions[i].ticks, 0, "a clock set back: an unknown time");
	ntrace_stacks_free(stacks);

	begin();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 900;
	call(MAIN, 8, A);
	offset = 30, now = 950;
	leave(A, 0);
	is_u64(time_kind, NTRACE_STACK_TIME_OUTSIDE, "a clock set back: times are not known");
	offset = 40, now = 1001;
	run(MAIN, 20);
	ntrace_stacks_end(stacks);
	is_u64(wrong, 0, "no change is earlier than the one before");
	ntrace_stacks_free(stacks);

	/* A timestamp without any instructions. */
	begin();
	timed = true, offset = 10, now = 1000;
	event_of(NTRACE_FLOW_WARNING, 0, 0);
	offset = 20, now = 1100;
	event_of(NTRACE_FLOW_WARNING, 0, 0);
	is_u64(ntrace_stacks_end(stacks), 0, "the end of a trace without an instruction");
	ntrace_stacks_free(stacks);
}

/* "+" and "-" frames, "!" gaps, with time and its accuracy */
static char changes[1024];
static unsigned int kinds[NTRACE_STACK_TIME_OUTSIDE + 1];

static int write_change(void *data, const struct ntrace_stack_change *change)
{
	static const char signs[] = "+-!", letters[] = "nei?";
	size_t used = strlen(changes);

	(void)data;
	if (change->type == NTRACE_STACK_RUN)
		return 0;
	kinds[change->time_kind]++;
	wrong += change->time < last_time;
	last_time = change->time;
	/* "?": outside of the timestamps. */
	snprintf(changes + used, sizeof(changes) - used, "%s%c%s@%u%c", used ? " " : "",
		 signs[change->type], change->name, (unsigned int)change->time,
		 letters[change->time_kind]);
	return 0;
}

static void begin_timed(void)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options),
						       .merge_threads = true,
						       .change = write_change };

	begin_with(&options);
	changes[0] = '\0';
	memset(kinds, 0, sizeof(kinds));
}

static uint64_t ticks_of(const char *name)
{
	const struct ntrace_stack_function *functions;
	size_t count, i;

	functions = ntrace_stacks_functions(stacks, &count);
	for (i = 0; i < count; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].ticks;
	return UINT64_MAX;
}

/* Times of frames: a timestamp is that of the end of its message. */
static void test_changes(void)
{
	begin_timed();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);		/* 2 instructions */
	offset = 20, now = 1100;
	call(MAIN, 8, A);	/* 3, then 2: 100 ticks for 5 */
	leave(A, 0);
	offset = 30, now = 1200;
	call(MAIN, 20, B);	/* 3, then 1: 100 ticks for 4 */
	block(B, 0, 0, NTRACE_INSN_PLAIN, 0);
	event_of(NTRACE_FLOW_GAP, 0, 0);
	offset = 40, now = 1200;
	run(C, 0);
	offset = 50, timed = false;
	run(C, 8);
	ntrace_stacks_end(stacks);
	is_str(changes,
	       "+[unknown]@1000? +main@1000? +a@1060i -a@1100e +b@1175i -b@1200e -main@1200e "
	       "-[unknown]@1200e !@1200e +[unknown]@1200? +c@1200? -c@1200? -[unknown]@1200?",
	       "times between two timestamps are interpolated by instructions");
	is_u64(wrong, 0, "and never run backwards");
	ntrace_stacks_free(stacks);

	begin_timed();
	run(MAIN, 0);
	ntrace_stacks_end(stacks);
	is_str(changes, "+[unknown]@0n +main@0n -main@2n -[unknown]@2n",
	       "no timestamps: times are instructions");
	ntrace_stacks_free(stacks);

	/* A message without instructions: all of its time is at one place. */
	begin_timed();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1100;
	event_of(NTRACE_FLOW_GAP, 0, 0);
	offset = 30;
	run(A, 0);
	ntrace_stacks_end(stacks);
	is_str(changes,
	       "+[unknown]@1000? +main@1000? -main@1000e -[unknown]@1000e !@1000e "
	       "+[unknown]@1100? +a@1100? -a@1100? -[unknown]@1100?",
	       "a message with only a time");
	ntrace_stacks_free(stacks);

	/* Two messages with the same time: the first one counts. */
	begin_timed();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1100;
	run(MAIN, 8);
	offset = 30, now = 1100;
	call(MAIN, 16, A);	/* 3 */
	leave(A, 0);		/* 2 */
	offset = 40, now = 1200;
	call(MAIN, 28, B);	/* 3 */
	leave(B, 0);		/* 2: 100 ticks for 10 */
	offset = 50;
	run(MAIN, 40);
	ntrace_stacks_end(stacks);
	is_u64(ticks_of("a"), 20, "time passes from the first of two equal timestamps");
	is_u64(ticks_of("b"), 20, "up to the next one");
	is_u64(ticks_of("main"), 160, "and none is lost");
	ntrace_stacks_free(stacks);
}

/* The first message of a stream is at offset 0, and its timestamp counts as any other. */
static void test_first_message(void)
{
	begin_timed();
	timed = true, offset = 0, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1100;
	call(MAIN, 8, A);	/* 3 instructions, then 2 of a: 100 ticks */
	leave(A, 0);
	ntrace_stacks_end(stacks);
	is_u64(ticks_of("a"), 40, "time passes from the message at offset 0 on");
	ntrace_stacks_free(stacks);
}

/* Code that is not selected has time too, which no selected function gets. */
static void test_selected_time(void)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options),
						       .merge_threads = true,
						       .privileges = 1u << NTRACE_PRIV_U };

	begin_with(&options);
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1180;
	run(MAIN, 8);		/* 2 instructions, 9 of the kernel, 2 */
	handled(MAIN, 16);
	run(MAIN, 16);
	call(MAIN, 24, A);	/* 3, and 2 */
	leave(A, 0);
	offset = 30;
	run(MAIN, 36);
	ntrace_stacks_end(stacks);
	is_u64(ticks_of("main"), 70,
	       "time of the kernel does not count for the interrupted function");
	is_u64(ticks_of("a"), 20, "each function has its own time");
	ntrace_stacks_free(stacks);
}

/* An unknown time. */
static void test_unknown_time(void)
{
	begin();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, timed = false;
	call(MAIN, 8, A);
	leave(A, 0);		/* 5 instructions, then 5 with a time */
	offset = 30, timed = true, now = 1100;
	call(MAIN, 20, B);
	leave(B, 0);
	offset = 40;
	run(MAIN, 32);
	ntrace_stacks_end(stacks);
	is_u64(ticks_of("a"), 0, "a message without a time has none");
	is_u64(ticks_of("b"), 20, "a message with a time has its share");
	ntrace_stacks_free(stacks);

	/* Two streams: the time between them is attributed to no function. */
	begin();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1100;
	run(MAIN, 8);
	ntrace_stacks_end(stacks);
	offset = 10, now = 5000, last_time = 0;
	run(MAIN, 0);
	offset = 20, now = 5010;
	run(MAIN, 8);
	ntrace_stacks_end(stacks);
	is_u64(ticks_of("main"), 110, "each stream has its own timestamps");
	ntrace_stacks_free(stacks);
}

/* In recursion each tick counts once for a function. */
static void test_recursive_time(void)
{
	const struct ntrace_stack_function *functions;
	size_t count, i;

	begin();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1100;
	call(MAIN, 8, A);	/* 3, 3, 2, 2 instructions */
	call(A, 0, A);
	leave(A, 0);
	leave(A, 12);
	offset = 30;
	run(MAIN, 20);
	ntrace_stacks_end(stacks);
	functions = ntrace_stacks_functions(stacks, &count);
	for (i = 0; i < count; i++)
		if (!strcmp(functions[i].name, "a"))
			is_u64(functions[i].total_ticks, 70, "recursion: a's total has it once");
	ntrace_stacks_free(stacks);
}

static void test_nothing(void)
{
	size_t functions, nodes, edges;

	begin();
	ntrace_stacks_end(stacks);
	ntrace_stacks_functions(stacks, &functions);
	ntrace_stacks_nodes(stacks, &nodes);
	ntrace_stacks_edges(stacks, &edges);
	is_u64(functions, 1, "an empty profile: only the root");
	is_u64(nodes, 1, "nothing: its node");
	is_u64(edges, 0, "nothing: no calls");
	expect("", "nothing");
}

/* More changes than can wait for the next timestamp. */
static void test_many_changes(void)
{
	enum { CALLS = 40000 };
	unsigned int i;

	begin_timed();
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1000000;
	for (i = 0; i < CALLS; i++) {
		call(MAIN, 8, A);
		leave(A, 0);
		block(MAIN, 20, 24, NTRACE_INSN_JUMP, at(MAIN, 8));
	}
	offset = 30;
	run(MAIN, 8);
	ntrace_stacks_end(stacks);
	/* main and [unknown] begin and end. */
	is_u64(kinds[NTRACE_STACK_TIME_EXACT] + kinds[NTRACE_STACK_TIME_INTERPOLATED] +
		       kinds[NTRACE_STACK_TIME_OUTSIDE],
	       2 * CALLS + 4, "each change is reported once");
	is_u64(kinds[NTRACE_STACK_TIME_NONE], 0, "all have a time");
	ok(kinds[NTRACE_STACK_TIME_OUTSIDE] > 4 && kinds[NTRACE_STACK_TIME_INTERPOLATED] > 4,
	   "%u did not wait, %u did", kinds[NTRACE_STACK_TIME_OUTSIDE],
	   kinds[NTRACE_STACK_TIME_INTERPOLATED]);
	is_u64(wrong, 0, "and no time goes back");
	ntrace_stacks_free(stacks);
}

#define WALK 200000
#define WALK_DEPTH (DEPTH - 8)

/* Random calls, returns, tail calls and traps, with a copy of the true stack. */
static void test_random(void)
{
	unsigned int stack[WALK_DEPTH] = { MAIN }, calls = 0, traps = 0, i, state = 12345;
	uint64_t where[WALK_DEPTH] = { 0 }, own[FUNCTIONS] = { 0 };
	const struct ntrace_stack_function *functions;
	struct ntrace_stacks_stats stats;
	size_t top = 0, count, k;

	begin();
	for (i = 0; i < WALK; i++) {
		unsigned int here = stack[top], to;

		state = state * 1103515245 + 12345;
		to = A + (state >> 16) % 3;
		if (where[top] > FUNCTION - 0x60)
			where[top] = 0x10;
		switch ((state >> 20) % (top ? 5 : 2)) {
		case 0:
			own[here] += 2;
			run(here, where[top]);
			where[top] += 8;
			break;
		case 1:
			if (top + 1 == WALK_DEPTH)
				break;
			own[here] += 3;
			calls++;
			call(here, where[top], to);
			where[top] += 12;
			stack[++top] = to;
			where[top] = 0;
			break;
		case 2:
			if (to == here)
				break;
			own[here] += 2;
			calls++;
			jump(here, where[top], to);
			stack[top] = to;
			where[top] = 0;
			break;
		case 3:
			own[here] += 2;
			leave(here, where[top]);
			top--;
			break;
		default:
			/* The trap may come at the target of the last transfer. */
			own[here] += 2;
			traps++;
			handled(here, where[top]);
			run(here, where[top]);
			where[top] += 8;
			break;
		}
		/* Straight on to the start of the next block. */
		if (where[top] > FUNCTION - 0x60) {
			own[stack[top]] += 2;
			block(stack[top], where[top], where[top] + 4, NTRACE_INSN_JUMP,
			      at(stack[top], 0x10));
			where[top] = 0x10;
		}
	}
	ntrace_stacks_end(stacks);
	is_u64(wrong, 0, "random walk: the reports fit the buffer");
	ntrace_stacks_get_stats(stacks, &stats);
	/* A handler is not called, and makes one call. */
	is_u64(stats.calls, calls + traps, "random walk: %u calls, %u traps", calls, traps);
	is_u64(stats.unwound + stats.unmatched + stats.below + stats.switched, 0,
	       "random walk: every return has its frame");
	functions = ntrace_stacks_functions(stacks, &count);
	for (k = 0; k < count; k++)
		for (i = 0; i < FUNCTIONS; i++)
			if (functions[k].kind == NTRACE_STACK_FUNCTION && i <= C &&
			    !strcmp(functions[k].name, names[i]))
				is_u64(functions[k].instructions, own[i], "random walk: %s",
				       names[i]);
	ntrace_stacks_free(stacks);
}

/* Functions are sorted: threads of the same name by process, then by thread. */
static void test_order(void)
{
	static const struct {
		int32_t pid;
		int32_t tid;
	} threads[] = { { 7, 8 }, { 5, 9 }, { 7, 7 }, { 5, 10 } };
	const struct ntrace_stacks_options options = { .size = sizeof(options) };
	const struct ntrace_stack_function *functions;
	char text[128] = "";
	size_t count, i;

	begin_with(&options);
	for (i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		const struct ntrace_flow_event flow = { .type = NTRACE_FLOW_BLOCK,
							.insn_class = NTRACE_INSN_PLAIN,
							.last_size = 4,
							.instructions = 1,
							.address = at(MAIN, 0),
							.last = at(MAIN, 0),
							.space = space,
							.isa = &isa };
		const struct ntrace_session_event event = { .flow = &flow,
							    .pid = threads[i].pid,
							    .tid = threads[i].tid,
							    .comm = "worker",
							    .privilege = NTRACE_PRIV_U };

		ntrace_stacks_event(stacks, &event);
	}
	ntrace_stacks_end(stacks);
	functions = ntrace_stacks_functions(stacks, &count);
	for (i = 0; i < count; i++) {
		if (functions[i].kind == NTRACE_STACK_TASK)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d/%d ",
				 functions[i].pid, functions[i].tid);
	}
	is_str(text, "5/9 5/10 7/7 7/8 ", "threads of one name by process and thread");
	ntrace_stacks_free(stacks);
}

/* main calls a, whose thread gets another name there, and b below it has a third one. */
static void names_of_thread(void)
{
	call(MAIN, 0, A);
	run(A, 0);
	comm = "worker";
	run(A, 8);
	call(A, 16, B);
	comm = "last";
	run(B, 0);
	leave(B, 8);
	comm = "worker";
	leave(A, 28);
}

static void test_renamed(void)
{
	const struct ntrace_thread_filter filter = { .pid = -1, .tid = -1, .comm = "worker" };
	struct ntrace_stacks_options options = { .size = sizeof(options), .merge_threads = true };
	struct ntrace_stacks_stats stats;

	begin_with(&options);
	names_of_thread();
	expect("last;[unknown];main;a;b 4|program;[unknown];main 3|program;[unknown];main;a 2|"
	       "worker;[unknown];main;a 7",
	       "what a thread executes is below the name it has then");
	options.threads = &filter;
	begin_with(&options);
	names_of_thread();
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.instructions, 7, "instructions under one name");
	expect("worker;[unknown];main;a 7",
	       "one name only: the callers that came with another name, too");
}

int main(void)
{
	setup();
	test_order();
	test_sums();
	test_edges();
	test_limits();
	test_unmatched_trap_return();
	test_time();
	test_changes();
	test_first_message();
	test_selected_time();
	test_unknown_time();
	test_recursive_time();
	test_nothing();
	test_many_changes();
	test_random();
	test_renamed();
	tear_down();
	return done_testing();
}
