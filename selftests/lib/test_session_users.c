// SPDX-License-Identifier: GPL-2.0-only
/* lib/session without kernel trace: the trace contains no switches. */
#include "test_session.h"

#define THIRD_CODE 0x30000

/* Only user space is traced: the session sees no switches and must use the code. */
static void test_user_only(void)
{
	start("user", CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	switches(100, 200, OTHER_CODE);
	switches(200, 100, CODE);
	stop("user", 1);
	decode("user", NULL);
	is_str(told, "100 a aaa, 200 b ccc, 100 a aaa", "user space only, by unique code");
}

/*
 * exec of a program whose entry is also code of the old one, without a traced kernel. Its first
 * page faults, which is no second exec.
 */
static void test_begins(void)
{
	start("begins", OTHER_CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "old");
	maps(100, 0, CODE, "/aaa");
	maps(100, 0, OTHER_CODE, "/ccc");
	hart_trap(&hart, NOTHING, NOTHING, CODE);
	named(100, now + 5, true, "new");
	maps(100, now + 6, CODE, "/bbb");
	maps(100, now + 6, OTHER_CODE, "/ccc");
	work(CODE, 3);
	work(OTHER_CODE, 2);
	named(100, now + 7, true, "third");
	maps(100, now + 8, CODE, "/aaa");
	work(CODE, 2);
	switches(100, 0, KERNEL_LOOP);
	stop("begins", 1);
	decode("begins", NULL);
	is_str(told, "100 old ccc, 100 new bbb, 100 new ccc, 100 third aaa",
	       "exec to an address that has code");
	is_u64(errors, 0, "no error");
}

/* The task runs again later, with another program by then: only the start is certain. */
static void test_begins_once(void)
{
	start("once", OTHER_CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "old");
	maps(100, 0, CODE, "/aaa");
	maps(100, 0, OTHER_CODE, "/ccc");
	hart_trap(&hart, NOTHING, NOTHING, CODE);
	named(100, now + 5, true, "new");
	maps(100, now + 6, CODE, "/bbb");
	hart_loop(&hart, 3);
	switches(100, 0, KERNEL_LOOP);
	named(100, now + 5, true, "third");
	maps(100, now + 6, CODE, "/aaa");
	switches(0, 100, CODE);
	stop("once", 1);
	decode("once", NULL);
	is_str(told, "100 old ccc, 100 new bbb",
	       "at its start the program is known, later both are possible");
	is_u64(errors, 1, "which an error reports");
}

/* ---- with Ownership messages ---- */

/* The hart switches between tasks; the driver sets scontext in the kernel. */
static void owner_switches(int32_t from, int32_t to, uint64_t next)
{
	now += 500;
	switch_records(from, to);
	hart_block(&hart, hart.loop, 0, NTRACE_ITYPE_INTERRUPT, 0, NTRACE_PRIV_U);
	ntrace_encoder_context(&hart.encoder, (uint64_t)to, 0, NTRACE_CTYPE_PRECISE);
	hart_block(&hart, TRAP_ENTRY + 4, 2, NTRACE_ITYPE_TRAP_RETURN, 1, NTRACE_PRIV_S);
	hart.loop = next;
	if (!(next >> 63))
		hart_loop(&hart, 3);
}

static void start_owned(const char *name, int32_t first)
{
	fake_context = true;
	start(name, KERNEL_LOOP, 1u << NTRACE_PRIV_U);
	fake_context = false;
	hart.loop = CODE;
	owner_switches(0, first, CODE);
}

static void stop_owned(const char *name)
{
	stop(name, 1);
	decode(name, NULL);
}

/* Both have code at the same address, which only the owner distinguishes. */
static void test_owner(void)
{
	start_owned("owner", 100);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	owner_switches(100, 200, CODE);
	owner_switches(200, 100, CODE);
	owner_switches(100, 200, CODE);
	stop_owned("owner");
	is_str(told, "100 a aaa, 200 b bbb, 100 a aaa, 200 b bbb", "the owner identifies the task");
	is_u64(errors, 0, "no error");
}

/* Mappings and execs of a thread while it sleeps or is outside user space. */
static void test_owner_changes(void)
{
	start_owned("changes", 100);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	owner_switches(100, 200, CODE);
	/* Scheduling intervals of 100 without user code do not appear in the trace. */
	for (unsigned int i = 0; i < 3; i++) {
		now += 500;
		switch_records(200, 100);
		now += 500;
		switch_records(100, 200);
	}
	maps(100, now, OTHER_CODE, "/ccc");
	owner_switches(200, 100, OTHER_CODE);
	owner_switches(100, 200, CODE);
	owner_switches(200, 100, CODE);
	owner_switches(100, 200, CODE);
	named(200, now + 5, true, "new");
	maps(200, now + 6, OTHER_CODE, "/ccc");
	owner_switches(200, 200, OTHER_CODE);
	owner_switches(200, 100, CODE);
	owner_switches(100, 200, OTHER_CODE);
	stop_owned("changes");
	is_str(told,
	       "100 a aaa, 200 b bbb, 100 a ccc, 200 b bbb, 100 a aaa, 200 b bbb, 200 new ccc, "
	       "100 a aaa, 200 new ccc",
	       "later mappings and exec");
	is_u64(errors, 0, "no error");
}

/*
 * A record is missing: the owner is known nevertheless, and an unknown owner is attributed to no
 * thread.
 */
static void test_owner_lost(void)
{
	start_owned("missing", 100);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	lost(3, now + 100);
	owner_switches(100, 200, CODE);
	owner_switches(200, 100, CODE);
	owner_switches(100, 200, CODE);
	stop_owned("missing");
	is_str(told, "100 a aaa, 200 b bbb, 100 a aaa, 200 b bbb", "lost records");
}

/* A long recording: the cost of each return must not depend on the number of remaining ones. */
static void test_owner_long(void)
{
	static const char *const files[] = { "/aaa", "/bbb" };
	enum { TASKS = 50, SWITCHES = 30000 };
	char expected[sizeof(told)] = "";
	int32_t task = 100;
	unsigned int i;

	start_owned("long", task);
	for (i = 0; i < TASKS; i++) {
		named(100 + (int32_t)i, 0, false, i ? "other" : "first");
		maps(100 + (int32_t)i, 0, CODE, files[i % 2]);
	}
	for (i = 1; i <= SWITCHES; i++) {
		int32_t next = 100 + (int32_t)(i % TASKS);

		owner_switches(task, next, CODE);
		task = next;
	}
	told_from = SWITCHES - TASKS;
	stop_owned("long");
	is_u64(errors, 0, "no error");
	is_str(notes, "", "the follower does not give up");
	for (i = 0; i <= TASKS; i++)
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			 "%s%u %s %s", i ? ", " : "", 100 + i % TASKS,
			 i % TASKS ? "other" : "first", files[i % 2] + 1);
	is_str(told, expected, "each interval has its task up to the end");
	told_from = 0;
}

/* Guests use the same addresses as the programs and the kernel of the host. */
static void test_guest(void)
{
	fake_context = true;
	start("guest", CODE, ~0u);
	named(100, 0, false, "vmm");
	maps(100, 0, CODE, "/aaa");
	switches(0, 100, CODE);
	for (unsigned int i = 0; i < 4; i++) {
		hart_block(&hart, hart.loop, 0, NTRACE_ITYPE_INTERRUPT, 0, NTRACE_PRIV_U);
		hart_block(&hart, TRAP_ENTRY + 4, 2, NTRACE_ITYPE_TRAP_RETURN, 1, NTRACE_PRIV_S);
		for (unsigned int turn = 0; turn < 3; turn++)
			hart_block(&hart, KERNEL_LOOP, 3, NTRACE_ITYPE_DIRECT_JUMP, 0,
				   NTRACE_PRIV_VS);
		hart_block(&hart, KERNEL_LOOP, 0, NTRACE_ITYPE_TRAP_RETURN, 0, NTRACE_PRIV_VS);
		for (unsigned int turn = 0; turn < 3; turn++)
			hart_block(&hart, CODE, 3, NTRACE_ITYPE_DIRECT_JUMP, 0, NTRACE_PRIV_VU);
		hart_block(&hart, CODE, 0, NTRACE_ITYPE_INTERRUPT, 0, NTRACE_PRIV_VU);
		hart_block(&hart, TRAP_ENTRY + 4, 2, NTRACE_ITYPE_TRAP_RETURN, 1, NTRACE_PRIV_S);
		hart_loop(&hart, 3);
	}
	stop("guest", 3);
	fake_context = false;
	decode("guest", NULL);
	is_str(told, "100 vmm aaa", "guest code is not attributed to the host");
	is_u64(privileges[NTRACE_PRIV_VS] + privileges[NTRACE_PRIV_VU], 0, "its code is unknown");
	ok(errors >= 4, "which is an error each time: %u", errors);
	is_u64(guests, 8, "VS and VU, four times");
}

/* Another thread runs in between, and not in user space. */
static void waits(int32_t thread)
{
	now += 500;
	switch_records(thread, 0);
	now += 500;
	switch_records(0, thread);
	work(OTHER_CODE, 2);
}

/*
 * A program that waits for its pages, and then takes a name. No code tells when it comes back, so that it has this
 * name from its start on, and only in this program.
 */
static void test_named_later(void)
{
	start_owned("later", 50);
	named(50, 0, false, "shell");
	maps(50, 0, CODE, "/aaa");
	forks(50, 100, now + 10);
	owner_switches(50, 100, CODE);
	named(100, now + 5, true, "new");
	maps(100, now + 6, OTHER_CODE, "/ccc");
	work(OTHER_CODE, 2);
	waits(100);
	waits(100);
	named(100, now + 5, false, "renamed");
	waits(100);
	named(100, now + 5, true, "last");
	maps(100, now + 6, THIRD_CODE, "/bbb");
	work(THIRD_CODE, 2);
	owner_switches(100, 50, CODE);
	stop_owned("later");
	is_str(told, "50 shell aaa, 100 shell aaa, 100 renamed ccc, 100 last bbb, 50 shell aaa",
	       "a program has its last name");
	is_u64(errors, 0, "no error");
}

/*
 * A thread loses its CPU between its exec and the first instruction of the program. Another process starts the same
 * program at the same address later: that is no reason to take the first one for it.
 */
static void test_preempted_exec(void)
{
	start_owned("preempted", 50);
	named(50, 0, false, "shell");
	maps(50, 0, CODE, "/aaa");
	forks(50, 100, now + 10);
	owner_switches(50, 100, CODE);
	named(100, now + 5, true, "first");
	maps(100, now + 6, THIRD_CODE, "/bbb");
	owner_switches(100, 50, CODE);
	owner_switches(50, 100, THIRD_CODE);
	owner_switches(100, 50, CODE);
	forks(50, 200, now + 10);
	owner_switches(50, 200, CODE);
	named(200, now + 5, true, "second");
	maps(200, now + 6, THIRD_CODE, "/bbb");
	work(THIRD_CODE, 2);
	owner_switches(200, 50, CODE);
	stop_owned("preempted");
	is_str(told,
	       "50 shell aaa, 100 shell aaa, 50 shell aaa, 100 first bbb, 50 shell aaa, 200 shell "
	       "aaa, "
	       "200 second bbb, 50 shell aaa",
	       "a program that begins in the interval after its exec");
	is_u64(errors, 0, "no error");
}

/* The same where the kernel is traced, but has no symbols that tell its switches. */
static void test_named_unseen(void)
{
	char symbols[600];

	start("unseen", CODE, ~0u);
	named(50, 0, false, "shell");
	maps(50, 0, CODE, "/aaa");
	forks(50, 100, now + 10);
	switches(50, 0, KERNEL_LOOP);
	switches(0, 100, OTHER_CODE);
	named(100, now + 5, true, "new");
	maps(100, now + 6, OTHER_CODE, "/ccc");
	work(OTHER_CODE, 2);
	switches(100, 0, KERNEL_LOOP);
	switches(0, 100, OTHER_CODE);
	named(100, now + 5, false, "renamed");
	work(OTHER_CODE, 2);
	switches(100, 0, KERNEL_LOOP);
	stop("unseen", 3);
	snprintf(symbols, sizeof(symbols), "%s/images/kallsyms", in("unseen"));
	ok(!unlink(symbols), "the symbols are removed");
	decode("unseen", NULL);
	is_str(told, "-1 unknown aaa, 100 renamed ccc",
	       "code of both is of no thread, and a program has its last name");
}

/* Tasks are followed by their records, in whichever order these come. */
static void test_tasks(void)
{
	test_user_only();
	test_named_later();
	test_preempted_exec();
	test_named_unseen();
	test_begins();
	test_begins_once();
	test_owner();
	test_owner_changes();
}

/* Records of other rings come later than those of events after them. */
static void test_late(void)
{
	late_records = true;
	test_tasks();
	late_records = false;
}

static void tests(void)
{
	test_tasks();
	test_owner_lost();
	test_owner_long();
	test_guest();
	test_late();
}

int main(void)
{
	return test_sessions(tests);
}
