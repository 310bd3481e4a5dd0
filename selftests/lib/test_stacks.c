// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/profile's call stacks on events made by hand. The stacks that are told are
 * kept by the test itself, and must be those that the program in its script had;
 * at the end a long random walk keeps the true stack beside. What a program really
 * did is held against the witness in selftests/consumers/stacks.sh.
 */
#include <stdlib.h>

#include <ntrace/encode.h>
#include <ntrace/export_stacks.h>
#include <ntrace/stacks.h>

#include "image/object.h"

#include "tap.h"

#define FUNCTION 0x100		/* bytes of each */
#define USER 0x10000
#define KERNEL UINT64_C(0xffffffff80000000)
#define NOP 0x00000013
#define ECALL 0x00000073
#define ECALL_AT 0x80		/* in every function */

enum { MAIN, A, B, C, SETJMP, LONGJMP, HANDLER, SIGRETURN, START, COLD, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "main",	 "a",	    "b",       "c",
					      "_setjmp", "longjmp", "handler", "sigreturn",
					      "_start",	 "a.cold" };

enum { ENTRY, SYSCALL, SWITCH_TO, KERNEL_FUNCTIONS };

static const char *const kernel_names[KERNEL_FUNCTIONS] = { "entry", "syscall", "__switch_to" };

static struct ntrace_object *program, *kernel;
static struct ntrace_space *kernel_space, *space, *other_space, *user_space;
static const struct ntrace_isa isa = { .xlen = 64, .compressed = true };
static struct ntrace_stacks *stacks;
static int32_t thread, running;
static unsigned int privilege, time_kind, gaps, wrong;
static uint64_t offset, now, last_time;
static bool timed;

#define THREADS 8
#define DEPTH 128
/* As told: the names of each thread's frames. */
static const char *told[THREADS][DEPTH];
static size_t depth[THREADS];

static uint64_t at(unsigned int function, uint64_t where)
{
	return (privilege == NTRACE_PRIV_U ? USER : KERNEL) + function * FUNCTION + where;
}

static struct ntrace_object *make_object(const char *name, uint64_t address,
					 const char *const *functions, size_t count)
{
	uint32_t code[FUNCTIONS * FUNCTION / 4];
	struct ntrace_object *object;
	size_t i;

	for (i = 0; i < count * FUNCTION / 4; i++)
		code[i] = i % (FUNCTION / 4) == ECALL_AT / 4 ? ECALL : NOP;
	ntrace_object_from_bytes(&object, name, code, count * FUNCTION, address);
	for (i = 0; i < count; i++)
		ntrace_object_add_symbol(object, functions[i], address + i * FUNCTION, FUNCTION);
	return object;
}

static void setup(void)
{
	program = make_object("/bin/program", USER, names, FUNCTIONS);
	/* Not where a symbol of that name is. */
	program->entry = at(HANDLER, 0);
	kernel = make_object("/recording/images/kernel.start", KERNEL, kernel_names,
			     KERNEL_FUNCTIONS);
	ntrace_space_new(&kernel_space, "kernel", NULL);
	ntrace_space_map_linked(kernel_space, kernel, 0);
	ntrace_space_new(&space, "program", kernel_space);
	ntrace_space_map_linked(space, program, 0);
	ntrace_space_new(&other_space, "another", kernel_space);
	ntrace_space_map_linked(other_space, program, 0);
}

static int take_change(void *data, const struct ntrace_stack_change *change)
{
	const char **frames;
	size_t *count;

	(void)data;
	if (change->type == NTRACE_STACK_RUN) {
		running = change->kind == NTRACE_STACK_TASK ? change->tid : 0;
		return 0;
	}
	frames = told[change->tid];
	count = &depth[change->tid];
	if (change->time_kind != NTRACE_STACK_TIME_NONE)
		wrong += change->time < last_time;
	last_time = change->time;
	time_kind = change->time_kind;
	gaps += change->type == NTRACE_STACK_GAP;
	/* Frames are those of the thread that runs, until all threads end. */
	if (change->type == NTRACE_STACK_ENTER)
		wrong += running != change->tid;
	if (change->type == NTRACE_STACK_ENTER) {
		wrong += *count != change->depth || *count == DEPTH;
		frames[(*count)++ % DEPTH] = change->name;
	} else if (change->type == NTRACE_STACK_LEAVE) {
		wrong += !*count || *count - 1 != change->depth ||
			 strcmp(frames[*count - 1], change->name) != 0;
		*count -= *count > 0;
	}
	return 0;
}

static void begin_with(const struct ntrace_stacks_options *options)
{
	memset(depth, 0, sizeof(depth));
	thread = 1;
	privilege = NTRACE_PRIV_U;
	user_space = space;
	timed = false;
	offset = now = last_time = gaps = wrong = 0;
	ntrace_stacks_new(&stacks, options);
}

static void begin(void)
{
	const struct ntrace_stacks_options options = {
		.size = sizeof(options), .pid = -1, .merge_threads = true, .change = take_change
	};

	begin_with(&options);
}

static void tell(struct ntrace_flow_event flow)
{
	struct ntrace_session_event event = { .flow = &flow,
					      .pid = thread,
					      .tid = thread,
					      .comm = "program",
					      .privilege = privilege };

	flow.space = privilege == NTRACE_PRIV_U ? user_space : kernel_space;
	flow.isa = &isa;
	flow.offset = offset;
	flow.time = now;
	flow.time_known = timed;
	ntrace_stacks_event(stacks, &event);
}

/* Instructions of @function from @from to @last; the last one goes to @to, 0 = straight on. */
static void block(unsigned int function, uint64_t from, uint64_t last, unsigned int kind,
		  uint64_t to)
{
	tell((struct ntrace_flow_event){ .type = NTRACE_FLOW_BLOCK,
					 .insn_class = (uint8_t)kind,
					 .taken = kind != NTRACE_INSN_PLAIN,
					 .last_size = 4,
					 .instructions = (uint32_t)((last - from) / 4 + 1),
					 .address = at(function, from),
					 .last = at(function, last),
					 .next = to,
					 .next_known = to != 0 });
}

static void call(unsigned int from, uint64_t where, unsigned int to)
{
	block(from, where, where + 8, NTRACE_INSN_CALL, at(to, 0));
}

/* Something of @function, which goes on at @where + 8. */
static void run(unsigned int function, uint64_t where)
{
	block(function, where, where + 4, NTRACE_INSN_PLAIN, 0);
}

static void leave(unsigned int function, uint64_t where)
{
	block(function, where, where + 4, NTRACE_INSN_RETURN, 0);
}

static void jump(unsigned int function, uint64_t where, unsigned int to)
{
	block(function, where, where + 4, NTRACE_INSN_JUMP, at(to, 0));
}

static void event_of(enum ntrace_flow_type type, unsigned int code, uint64_t value)
{
	tell((struct ntrace_flow_event){ .type = (uint8_t)type,
					 .code = (uint8_t)code,
					 .address = value,
					 .value = value,
					 .next_known = value != 0 });
}

/* A trap before the instruction at @where. */
static void trap(unsigned int function, uint64_t where)
{
	event_of(NTRACE_FLOW_TRAP, NTRACE_BTYPE_EXCEPTION, at(function, where));
	privilege = NTRACE_PRIV_S;
}

/* Up to sret; the next block says where to. */
static void trap_return(uint64_t where)
{
	block(ENTRY, where, where + 4, NTRACE_INSN_TRAP_RETURN, 0);
	privilege = NTRACE_PRIV_U;
}

/* A trap whose handler is @function's, up to its return. */
static void handled(unsigned int function, uint64_t where)
{
	trap(function, where);
	block(ENTRY, 0, 8, NTRACE_INSN_CALL, at(SYSCALL, 0));
	leave(SYSCALL, 0);
	run(ENTRY, 12);
	trap_return(20);
}

static const char *frames_of(int32_t tid)
{
	static char text[1024];
	size_t i, used = 0;

	text[0] = '\0';
	for (i = 0; i < depth[tid] && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ";" : "",
					 told[tid][i]);
	return text;
}

/*
 * The test sees changes late, so it looks where instructions were counted: every
 * stack with instructions of its own, and how many.
 */
static const char *folded(void)
{
	static char text[4096];
	FILE *file = fmemopen(text, sizeof(text), "w");
	char *line;

	ntrace_stacks_end(stacks);
	ntrace_export_stacks(file, stacks, NTRACE_EXPORT_FOLDED, NULL);
	fclose(file);
	for (line = text; (line = strchr(line, '\n'));)
		*line = line[1] ? '|' : '\0';
	return text;
}

static void expect(const char *want, const char *name)
{
	is_str(folded(), want, name);
	is_u64(wrong, 0, "%s: what was told fits", name);
	is_str(frames_of(1), "", "%s: and is over at the end", name);
	ntrace_stacks_free(stacks);
}

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
	       "a tail call takes the place of its caller");

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
	       "recursion; a jump to the own start is a loop");

	begin();
	run(B, 12);
	leave(B, 20);
	run(A, 12);
	leave(A, 20);
	run(MAIN, 12);
	expect("program;[unknown];a 4|program;[unknown];b 4|program;[unknown];main 2",
	       "returns to callers that were not seen");
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
	leave(B, 0);	/* to one where the part begins that seldom runs */
	block(COLD, 0, 4, NTRACE_INSN_JUMP, at(A, 0x60));
	leave(A, 0x60);
	run(MAIN, 12);
	expect("program;[unknown];main 5|program;[unknown];main;a 10|"
	       "program;[unknown];main;a;b 5|program;[unknown];main;a;b;c 2|"
	       "program;[unknown];main;a.cold 2",
	       "an exception: to the frame of the function that it lands in");

	begin();
	call(MAIN, 0, A);
	call(A, 0, B);
	/* swapcontext(): to another stack, and back, and there again */
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
	       "co-routines: a stack that was left goes on");
}

static void test_traps(void)
{
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
	trap(A, 0);	/* before A's first instruction: A is there all the same */
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
	       "exec: nothing is left of the old program");
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
	       "two signals at once: the second handler interrupts what the first did");

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
	       "a system call that is begun anew behind a signal");

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
	       "user mode only: exec, a page fault where the new program begins");
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
	       "after a loss callers are unknown, until control comes back to one that was known");
	is_u64(gaps, 1, "the gap is told");

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
	       "a loss in the kernel: the user's stack is where it was interrupted");
}

static void test_selection(void)
{
	struct ntrace_stacks_options options = { .size = sizeof(options),
						 .pid = -1,
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

/* Totals of functions and edges, with recursion, worked out by hand. */
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
			is_u64(function->total, 12, "a's total has those below once");
			is_u64(function->calls, 2, "and its calls");
		}
		if (!strcmp(function->name, "b"))
			is_u64(function->total, 7, "b's total has the inner a");
		for (edge = 0, sum = 0; edge < k; edge++)
			sum += edges[edge].callee == i ? edges[edge].total : 0;
		if (function->kind != NTRACE_STACK_ALL)
			is_u64(sum, function->total, "%s: its callers have its total",
			       function->name);
	}
	ntrace_stacks_free(stacks);
}

static void test_merge(void)
{
	struct ntrace_stacks *other;

	begin();
	call(MAIN, 0, A);
	leave(A, 0);
	run(MAIN, 12);
	ntrace_stacks_end(stacks);
	other = stacks;
	begin();
	call(MAIN, 0, B);
	leave(B, 0);
	call(MAIN, 12, A);
	run(A, 0);
	ntrace_stacks_end(stacks);
	ntrace_stacks_merge(stacks, other);
	ntrace_stacks_free(other);
	expect("program;[unknown];main 11|program;[unknown];main;a 4|program;[unknown];main;b 2",
	       "two trees, added up");
}

static void test_limits(void)
{
	struct ntrace_stacks_options options = {
		.size = sizeof(options), .pid = -1, .merge_threads = true, .depth = 4, .nodes = 5
	};
	struct ntrace_stacks_stats stats;
	unsigned int i;

	begin_with(&options);
	call(MAIN, 0, A);
	call(A, 0, B);
	call(B, 0, C);
	leave(C, 0);
	expect("[other] 5|program;[unknown];main 3|program;[unknown];main;a 3",
	       "a tree that is full");
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
	ok(stats.cut && stats.returns >= 32768,
	   "the outer part of the stack was forgotten: %u times", (unsigned int)stats.cut);
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
	is_u64(wrong, 0, "time does not go back");
	functions = ntrace_stacks_functions(stacks, &count);
	for (i = 0; i < count; i++) {
		if (!strcmp(functions[i].name, "a"))
			is_u64(functions[i].ticks, 40, "time passes with instructions");
		if (!strcmp(functions[i].name, "main"))
			is_u64(functions[i].total_ticks, 100, "and adds up");
	}
	is_u64(time_kind, NTRACE_STACK_TIME_OUTSIDE, "behind the last time stamp nothing is known");
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
			is_u64(functions[i].ticks, 0, "a clock set back: nobody knows");
	ntrace_stacks_free(stacks);
}

#define WALK 200000
#define WALK_DEPTH (DEPTH - 8)

/* Calls, returns, tail calls, traps at random, with the true stack kept beside. */
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
			/* The trap comes where the last transfer went, too. */
			own[here] += 2;
			traps++;
			handled(here, where[top]);
			run(here, where[top]);
			where[top] += 8;
			break;
		}
		/* Straight on to where the next block is. */
		if (where[top] > FUNCTION - 0x60) {
			own[stack[top]] += 2;
			block(stack[top], where[top], where[top] + 4, NTRACE_INSN_JUMP,
			      at(stack[top], 0x10));
			where[top] = 0x10;
		}
	}
	ntrace_stacks_end(stacks);
	is_u64(wrong, 0, "random walk: what was told fits");
	ntrace_stacks_get_stats(stacks, &stats);
	/* A trap enters its handler, and that calls once. */
	is_u64(stats.calls, calls + 2 * traps, "random walk: %u calls, %u traps", calls, traps);
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
	test_sums();
	test_merge();
	test_limits();
	test_time();
	test_random();
	ntrace_space_put(other_space);
	ntrace_space_put(space);
	ntrace_space_put(kernel_space);
	ntrace_object_put(program);
	ntrace_object_put(kernel);
	return done_testing();
}
