// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program, a kernel and their execution as hand-made events, for lib/stacks. The reported stacks
 * are collected and compared with the script.
 */
#ifndef NTRACE_TEST_STACKS_H
#define NTRACE_TEST_STACKS_H

#include <stdlib.h>

#include <ntrace/encode.h>
#include <ntrace/export_stacks.h>
#include <ntrace/functions.h>
#include <ntrace/stacks.h>

#include "image/object.h"

#include "tap.h"

#define FUNCTION 0x100		/* size of each in bytes */
#define USER 0x10000
#define KERNEL UINT64_C(0xffffffff80000000)
#define NOP 0x00000013
#define ECALL 0x00000073
#define ECALL_AT 0x80		/* address in every function */

#define LOAD_SP 0x0c02b103 /* ld sp, 192(t0) */
#define MOVE_SP 0x00050113 /* mv sp, a0 */
#define ADD_SP 0x02010113 /* addi sp, sp, 32 */
#define JR 0x00030067 /* jr t1 */
#define SWITCH_AT 0x40 /* where the next three functions set the stack pointer */

enum {
	MAIN,
	A,
	B,
	C,
	SETJMP,
	LONGJMP,
	HANDLER,
	SIGRETURN,
	START,
	COLD,
	FORK,
	SWAP,
	JUMP,
	TAIL,
	FUNCTIONS
};

static const char *const names[FUNCTIONS] = { "main",	 "a",	    "b",       "c",
					      "_setjmp", "longjmp", "handler", "sigreturn",
					      "_start",	 "a.cold",  "fork",    "swap",
					      "jump",	 "tail" };

enum { ENTRY, SYSCALL, SWITCH_TO, KERNEL_FUNCTIONS };

static const char *const kernel_names[KERNEL_FUNCTIONS] = { "entry", "syscall", "__switch_to" };

static struct ntrace_object *program, *kernel;
static struct ntrace_space *kernel_space, *space, *other_space, *user_space;
static const struct ntrace_isa isa = { .xlen = 64, .compressed = true };
static struct ntrace_stacks *stacks;
static struct ntrace_profile *profile;	/* of the same events */
static uint64_t unfinished;		/* calls whose function the thread does not enter in its turn */
static bool reports;			/* changes are reported */
static uint64_t called;			/* number of those that are calls */
static int32_t thread, running;
static int32_t process; /* 0: that of the thread */
static uint64_t turn, made;
static uint32_t program_number;	/* number of the program of a process, 0: not known */
static const struct ntrace_origin *origin;
static const char *comm;
static unsigned int privilege, time_kind, gaps, wrong;
static uint64_t offset, now, last_time;
static bool timed;

#define THREADS 8
#define DEPTH 128
/* Reported state: the names of each thread's frames. */
static const char *told[THREADS][DEPTH];
static size_t depth[THREADS];

static inline uint64_t at(unsigned int function, uint64_t where)
{
	return (privilege == NTRACE_PRIV_U ? USER : KERNEL) + function * FUNCTION + where;
}

static inline struct ntrace_object *make_object(const char *name, uint64_t address,
						const char *const *functions, size_t count)
{
	uint32_t code[FUNCTIONS * FUNCTION / 4];
	struct ntrace_object *object;
	size_t i;

	for (i = 0; i < count * FUNCTION / 4; i++)
		code[i] = i % (FUNCTION / 4) == ECALL_AT / 4 ? ECALL : NOP;
	for (i = SWAP; i < count; i++) {
		static const uint32_t sets[] = { LOAD_SP, MOVE_SP, ADD_SP };

		code[(i * FUNCTION + SWITCH_AT) / 4] = sets[i - SWAP];
		code[(i * FUNCTION + SWITCH_AT) / 4 + 2] = JR;
	}
	ntrace_object_from_bytes(&object, name, code, count * FUNCTION, address);
	for (i = 0; i < count; i++)
		ntrace_object_add_symbol(object, functions[i], address + i * FUNCTION, FUNCTION);
	return object;
}

static inline void setup(void)
{
	program = make_object("/bin/program", USER, names, FUNCTIONS);
	/* Except at addresses with a symbol of that name. */
	program->entry = at(HANDLER, 0);
	program->has_entry = true;
	kernel = make_object("/recording/images/kernel.start", KERNEL, kernel_names,
			     KERNEL_FUNCTIONS);
	ntrace_space_new(&kernel_space, "kernel", NULL);
	ntrace_space_map_linked(kernel_space, kernel, 0);
	ntrace_space_new(&space, "program", kernel_space);
	ntrace_space_map_linked(space, program, 0);
	ntrace_space_new(&other_space, "another", kernel_space);
	ntrace_space_map_linked(other_space, program, 0);
}

static inline int take_change(void *data, const struct ntrace_stack_change *change)
{
	const char **frames;
	size_t *count;

	(void)data;
	if (change->type == NTRACE_STACK_RUN) {
		running = change->kind == NTRACE_STACK_TASK ? change->tid : 0;
		return 0;
	}
	called += change->called;
	wrong += change->called && !change->begins;
	frames = told[change->tid];
	count = &depth[change->tid];
	if (change->time_kind != NTRACE_STACK_TIME_NONE)
		wrong += change->time < last_time;
	last_time = change->time;
	time_kind = change->time_kind;
	gaps += change->type == NTRACE_STACK_GAP;
	/* Changes concern the running thread, until all threads end. */
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

static inline void begin_with(const struct ntrace_stacks_options *options)
{
	const struct ntrace_profile_options counting = { .size = sizeof(counting),
							 .threads = options->threads,
							 .privileges = options->privileges,
							 .parts = NTRACE_PROFILE_FUNCTIONS };

	memset(depth, 0, sizeof(depth));
	thread = 1;
	comm = "program";
	privilege = NTRACE_PRIV_U;
	user_space = space;
	timed = false;
	offset = now = last_time = gaps = wrong = 0;
	process = 0;
	turn = made = program_number = 0;
	origin = NULL;
	called = unfinished = 0;
	reports = options->change;
	ntrace_stacks_new(&stacks, options);
	ntrace_profile_free(profile);
	if (ntrace_profile_new(&profile, &counting))
		ok(false, "a profile");
}

static inline void begin(void)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options),
						       .merge_threads = true,
						       .change = take_change };

	begin_with(&options);
}

static inline void tell(struct ntrace_flow_event flow)
{
	struct ntrace_session_event event = { .flow = &flow,
					      .pid = process ? process : thread,
					      .tid = thread,
					      .comm = comm,
					      .privilege = privilege,
					      .turn = turn,
					      .origin = origin,
					      .made = made,
					      .program = program_number,
					      .time = now,
					      .time_unit = timed ? NTRACE_TIME_TICKS :
								   NTRACE_TIME_NONE };

	flow.space = privilege == NTRACE_PRIV_U ? user_space : kernel_space;
	flow.isa = &isa;
	flow.offset = offset;
	flow.time = now;
	flow.time_known = timed;
	ntrace_stacks_event(stacks, &event);
	ntrace_profile_event(profile, &event);
}

/* Instructions of @function from @from to @last; the last one goes to @to, 0 = straight on. */
static inline void block(unsigned int function, uint64_t from, uint64_t last, unsigned int kind,
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

static inline void call(unsigned int from, uint64_t where, unsigned int to)
{
	block(from, where, where + 8, NTRACE_INSN_CALL, at(to, 0));
}

/* Executes part of @function, which continues at @where + 8. */
static inline void run(unsigned int function, uint64_t where)
{
	block(function, where, where + 4, NTRACE_INSN_PLAIN, 0);
}

static inline void leave(unsigned int function, uint64_t where)
{
	block(function, where, where + 4, NTRACE_INSN_RETURN, 0);
}

static inline void jump(unsigned int function, uint64_t where, unsigned int to)
{
	block(function, where, where + 4, NTRACE_INSN_JUMP, at(to, 0));
}

static inline void event_of(enum ntrace_flow_type type, unsigned int code, uint64_t value)
{
	tell((struct ntrace_flow_event){ .type = (uint8_t)type,
					 .code = (uint8_t)code,
					 .address = value,
					 .value = value,
					 .next_known = value != 0 });
}

/* A trap before the instruction at @where. */
static inline void trap(unsigned int function, uint64_t where)
{
	event_of(NTRACE_FLOW_TRAP, NTRACE_BTYPE_EXCEPTION, at(function, where));
	privilege = NTRACE_PRIV_S;
}

/* Up to sret; the next block gives its target. */
static inline void trap_return(uint64_t where)
{
	block(ENTRY, where, where + 4, NTRACE_INSN_TRAP_RETURN, 0);
	privilege = NTRACE_PRIV_U;
}

/* A trap handled by @function, including its return. */
static inline void handled(unsigned int function, uint64_t where)
{
	trap(function, where);
	block(ENTRY, 0, 8, NTRACE_INSN_CALL, at(SYSCALL, 0));
	leave(SYSCALL, 0);
	run(ENTRY, 12);
	trap_return(20);
}

static inline const char *frames_of(int32_t tid)
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
 * The test sees changes late, so it checks the instruction counts: every stack with its own
 * instructions, and their number.
 */
static inline const char *folded(void)
{
	static char text[4096];
	FILE *file = fmemopen(text, sizeof(text), "w");
	char *line;

	/* An empty stream writes nothing, not even a terminator. */
	text[0] = '\0';
	ntrace_stacks_end(stacks);
	ntrace_export_stacks(file, stacks, NTRACE_EXPORT_FOLDED, NULL);
	fclose(file);
	for (line = text; (line = strchr(line, '\n'));)
		*line = line[1] ? '|' : '\0';
	return text;
}

/* The sum of all calls: of the profile, of the functions of the stacks, and of the changes. */
static inline void expect_calls(const char *name)
{
	const struct ntrace_stack_function *functions;
	const struct ntrace_profile_function *counted;
	uint64_t sum = 0, calls = 0;
	size_t count, i;

	functions = ntrace_stacks_functions(stacks, &count);
	for (i = 0; i < count; i++)
		sum += functions[i].calls;
	ntrace_profile_end(profile);
	counted = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_NAME, &count);
	for (i = 0; i < count; i++)
		calls += counted[i].calls;
	calls -= unfinished;
	is_u64(sum, calls, "%s: calls of functions as in a profile", name);
	if (reports)
		is_u64(called, calls, "%s: so many changes are calls", name);
}

static inline void expect(const char *want, const char *name)
{
	is_str(folded(), want, name);
	is_u64(wrong, 0, "%s: the reports fit the buffer", name);
	is_str(frames_of(1), "", "%s: no frame is left at the end", name);
	expect_calls(name);
	ntrace_stacks_free(stacks);
}

static inline void tear_down(void)
{
	ntrace_profile_free(profile);
	ntrace_space_put(other_space);
	ntrace_space_put(space);
	ntrace_space_put(kernel_space);
	ntrace_object_put(program);
	ntrace_object_put(kernel);
}

#endif
