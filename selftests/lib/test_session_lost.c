// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/session after a loss, with programs that have the same library at the same address and different
 * code elsewhere, as without random addresses: code of the wrong program must never be decoded.
 */
#include "test_session.h"
#include "profile_calls.h"

#include <ntrace/functions.h>

/* Ends with a jump to CODE, so the flow goes there without a message. */
#define LIBRARY 0x30000
/* The programs of an exec begin here, where no test comes. */
#define ENTRY 0x10002

static bool make(const char *name, const char *jump, unsigned int address, unsigned int entry)
{
	return !run("cd %s/root && printf '.globl %s\\n.type %s,@function\\n%s: "
		    "c.nop\\nc.nop\\nj %s\\n.size %s,.-%s\\n' > %s.s && "
		    "riscv64-linux-gnu-as -march=rv64gc %s.s -o %s.o && "
		    "riscv64-linux-gnu-ld --build-id -Ttext=0x%x --defsym target=0x%x -e 0x%x "
		    "%s.o -o %s",
		    directory, name, name, name, jump, name, name, name, name, name, address, CODE,
		    entry, name, name);
}

/* The hart returns to the library, jumps to CODE, and loops there. */
static void library(unsigned int turns)
{
	hart_trap(&hart, NOTHING, NOTHING, LIBRARY);
	hart_block(&hart, LIBRARY, 4, NTRACE_ITYPE_DIRECT_JUMP, 1, NTRACE_PRIV_U);
	hart.loop = CODE;
	hart_loop(&hart, turns);
}

/* Trace is lost, and comes back in the kernel. */
static void loses(void)
{
	ntrace_encoder_overrun(&hart.encoder);
	hart.loop = KERNEL_LOOP;
	hart_loop(&hart, 3);
}

static void two_programs(void)
{
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	maps(100, 0, LIBRARY, "/library");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	maps(200, 0, LIBRARY, "/library");
}

enum way { EVENTS, BLOCKS, COUNTS };

/* How often @function was called, according to a profile of the recording. */
static uint64_t calls_of(const char *name, const char *function, enum way way)
{
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };
	struct ntrace_profile_options parts = { .size = sizeof(parts),
						.parts = NTRACE_PROFILE_FUNCTIONS };
	struct ntrace_decode_options decoding = { .size = sizeof(decoding),
						  .needs = way == COUNTS ? NTRACE_NEEDS_SUMS : 0,
						  .event = profile_event,
						  .segment = way == EVENTS ? NULL :
									     profile_segment };
	const struct ntrace_profile_function *functions;
	struct ntrace_profile *profile = NULL;
	struct ntrace_session *session;
	uint64_t calls = 0;
	size_t count;

	if (ntrace_session_open(&session, in(name), &options))
		return UINT64_MAX;
	ntrace_profile_new(&profile, &parts);
	decoding.data = profile;
	ntrace_session_decode(session, &decoding);
	ntrace_profile_end(profile);
	functions = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_INSTRUCTIONS, &count);
	for (size_t i = 0; i < count; i++)
		if (functions[i].name && !strcmp(functions[i].name, function))
			calls += functions[i].calls;
	ntrace_profile_free(profile);
	ntrace_session_close(session);
	return calls;
}

/* Either task may run. Both have the library, where the flow goes on, to code that differs. */
static void test_shared_library(void)
{
	start("shared", CODE, UINT32_MAX);
	two_programs();
	work(CODE, 1);
	loses();
	now += 500;
	switch_records(100, 200);
	library(3);
	stop("shared", 3);
	decode("shared", NULL);
	is_str(told, "100 a aaa, -1 unknown kernel_loop, -1 unknown library",
	       "the library that both have is decoded, their own code is not");
	is_u64(errors, 2, "the loss and the unknown code are errors");

	/* A third task lacks the code: either of the others has it, from where the flow goes on. */
	start("third", CODE, UINT32_MAX);
	two_programs();
	named(300, 0, false, "c");
	maps(300, 0, OTHER_CODE, "/ccc");
	maps(300, 0, LIBRARY, "/library");
	work(CODE, 1);
	loses();
	now += 500;
	switch_records(100, 300);
	now += 500;
	switch_records(300, 200);
	library(3);
	library(3);
	stop("third", 3);
	decode("third", NULL);
	is_str(told, "100 a aaa, -1 unknown kernel_loop, -1 unknown library",
	       "three tasks: the same");
	is_u64(errors, 3, "each time it is an error");

	/* The same with the same program: all of it is decoded, the task is unknown. */
	start("same", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	maps(100, 0, LIBRARY, "/library");
	forks(100, 200, 1);
	work(CODE, 1);
	loses();
	now += 500;
	switch_records(100, 200);
	library(3);
	stop("same", 3);
	decode("same", NULL);
	is_str(told, "100 a aaa, -1 unknown kernel_loop, -1 unknown library, -1 unknown aaa",
	       "two tasks of one program: all code is decoded");
	is_u64(errors, 1, "only the loss is an error");

	/* The space of the library has nothing else: the jump from it to another file waits. */
	is_u64(calls_of("same", "aaa", EVENTS), 1, "by events: a call of another shared file");
	is_u64(calls_of("same", "aaa", BLOCKS), 1, "by batches: a call of another shared file");
	is_u64(calls_of("same", "aaa", COUNTS), 1, "by counts: a call of another shared file");
	is_u64(calls_of("shared", "aaa", BLOCKS), 0, "no call of code that is not decoded");
}

/* A record is missing: any process may run that has the code. */
static void test_missing_record(void)
{
	start("missing", CODE, UINT32_MAX);
	two_programs();
	named(300, 0, false, "c");
	hart_trap(&hart, NOTHING, SWITCH_TO, KERNEL_LOOP); /* to a task without a record */
	hart_loop(&hart, 2);
	lost(2, now + 100);
	library(3);
	hart_trap(&hart, NOTHING, NOTHING, KERNEL_LOOP);
	hart_loop(&hart, 3);
	switches(0, 300, KERNEL_LOOP);
	stop("missing", 3);
	decode("missing", NULL);
	ok(strstr(told, "-1 unknown library") && !strstr(told, "bbb") && !strstr(told, "b aaa"),
	   "a missing record: only what all processes share: %s", told);
	ok(errors > 0, "the rest is an error");
}

/* The trace of an exec may be lost, and both programs have the library. */
static void start_exec(const char *name)
{
	start(name, CODE, UINT32_MAX);
	now = START_NS - 500;
	switch_records(0, 100);
	now = START_NS;
	named(100, 0, false, "old");
	maps(100, 0, CODE, "/aaa");
	maps(100, 0, LIBRARY, "/library");
	work(CODE, 1);
	loses();
	now += 500;
	named(100, now, true, "new");
	maps(100, now + 1, CODE, "/ddd");
	maps(100, now + 1, LIBRARY, "/library");
	maps(100, now + 1, OTHER_CODE, "/ccc");
	now += 500;
}

static void test_lost_exec(void)
{
	start_exec("exec");
	library(3);
	stop("exec", 3);
	decode("exec", NULL);
	ok(strstr(told, " library") && !strstr(strstr(told, " library"), "aaa") &&
		   !strstr(told, "ddd"),
	   "an exec may have been lost: %s", told);
	is_u64(errors, 2, "the loss and the unknown code are errors");

	/* Code that only one of both programs has tells which one it is. */
	start_exec("after");
	work(OTHER_CODE, 1);
	library(3);
	stop("after", 3);
	decode("after", NULL);
	ok(strstr(told, "ccc") && strstr(told, "100 new ddd") &&
		   !strstr(strstr(told, "ccc"), "aaa"),
	   "code of the new program alone: the exec is over: %s", told);
	is_u64(errors, 1, "only the loss is an error");
}

/* A program begins, in a loader that others begin in, too. */
static void test_lost_starts(void)
{
	start("starts", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	work(CODE, 1);
	loses();
	named(100, now + 10, true, "d");
	maps(100, now + 11, CODE, "/ddd");
	maps(100, now + 11, LIBRARY, "/loader");
	now += 500;
	switch_records(100, 200);
	named(200, now + 10, true, "e");
	maps(200, now + 11, CODE, "/eee");
	maps(200, now + 11, LIBRARY, "/loader");
	library(3);
	stop("starts", 3);
	decode("starts", NULL);
	is_str(told, "100 a aaa, -1 unknown kernel_loop, -1 unknown loader",
	       "either program begins: the code of neither is decoded");
	is_u64(errors, 2, "the loss and the unknown code are errors");
}

/* The same in a piece of trace that came through perf. */
static void test_lost_exec_of_piece(void)
{
	event_id = 77;
	start_exec("piece");
	library(3);
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_AUX,
				      .pid = 100,
				      .tid = 100,
				      .id = event_id,
				      .length = 1000000,
				      .time = now + 50 });
	stop("piece", 3);
	event_id = 0;
	decode("piece", NULL);
	ok(strstr(told, " library") && !strstr(strstr(told, " library"), "aaa") &&
		   !strstr(told, "ddd"),
	   "through perf: an exec may have been lost: %s", told);
	ok(errors >= 2, "through perf: the loss and the unknown code are errors");
}

static void tests(void)
{
	if (!ok(make("library", "target", LIBRARY, LIBRARY + 2) &&
			make("loader", "target", LIBRARY, LIBRARY) &&
			make("ddd", "ddd", CODE, ENTRY) && make("eee", "eee", CODE, ENTRY),
		"makes a library, a loader and two more programs"))
		return;
	test_shared_library();
	test_missing_record();
	test_lost_exec();
	test_lost_starts();
	test_lost_exec_of_piece();
}

int main(void)
{
	return test_sessions(tests);
}
