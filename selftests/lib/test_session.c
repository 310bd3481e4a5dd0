// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/session with synthetic recordings. Each test lists the execution of a hart (fake_machine.h)
 * and the sideband, which determine the task of each function; the session must report the same.
 */
#include "test_session.h"

static void test_tasks(void)
{
	start("tasks", CODE, UINT32_MAX);
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	named(300, 0, false, "kworker");
	switches(100, 200, CODE);
	switches(200, 100, CODE);
	forks(100, 101, now + 10);
	switches(100, 101, CODE);
	hart_trap(&hart, NOTHING, NOTHING, CODE); /* a trap without a switch */
	hart_loop(&hart, 3);
	named(101, now + 20, true, "gamma");
	maps(101, now + 30, CODE, "/bbb");
	hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, CODE);
	hart_loop(&hart, 3);
	switches(101, 0, KERNEL_LOOP);
	switches(0, 300, KERNEL_LOOP);
	switches(300, 100, CODE);
	stop("tasks", 3);
	decode("tasks", NULL);
	is_str(told,
	       "100 shell aaa, 200 beta bbb, 100 shell aaa, 101 shell aaa, 101 gamma bbb, "
	       "0 swapper/0 kernel_loop, 300 kworker kernel_loop, 100 shell aaa",
	       "two programs at one address, fork, exec, idle, kernel thread");
	is_u64(errors, 0, "no error");
	is_str(notes, "", "no note");
	ok(privileges[0] && privileges[1] && !privileges[3], "user and kernel blocks");
}

/* Archives the recording of test_tasks(). Return: the result of ntrace_session_archive(). */
static int archive_tasks(struct ntrace_archive_counts *counts)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = in("root"),
						  .note = take_note };
	struct ntrace_session *session;
	int error, saved;

	notes[0] = 0;
	if (!ok(!ntrace_session_open(&session, in("tasks"), &options), "archive: a session"))
		return 0;
	errno = 0;
	error = ntrace_session_archive(session, counts);
	saved = errno;
	ntrace_session_close(session);
	errno = saved;
	return error;
}

static void test_archive(void)
{
	struct ntrace_archive_counts counts;
	struct stat aaa, bbb;

	is_u64(archive_tasks(&counts), 0, "archive: copies the programs of a recording");
	is_u64(counts.files, 2, "archive: number of files");
	is_u64(counts.missing, 0, "archive: no program is missing");
	is_str(notes, "", "archive: no note");
	ok(!stat(in("tasks/archive/aaa"), &aaa) && !stat(in("tasks/archive/bbb"), &bbb) &&
		   counts.bytes == (uint64_t)aaa.st_size + (uint64_t)bbb.st_size,
	   "archive: size of the files");
	is_u64(archive_tasks(&counts), NTRACE_ERR_IO, "archive: is not replaced");
	is_u64(errno, EEXIST, "archive: errno says that it exists");
}

/*
 * Each block has a time after the switch to its task and before the next one; for the last task the
 * time of the end.
 */
static void test_times(void)
{
	uint64_t switched[4];
	unsigned int i;

	start("times", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	for (i = 0; i < 4; i++) {
		if (i % 2)
			switches(200, 100, CODE);
		else
			switches(100, 200, CODE);
		switched[i] = now;
	}
	stop("times", 3);
	decode("times", NULL);
	is_str(told, "100 a aaa, 200 b bbb, 100 a aaa, 200 b bbb, 100 a aaa", "five intervals");
	for (i = 1; i < 4; i++)
		ok(last_ns[i] >= switched[i - 1] && last_ns[i] < switched[i],
		   "interval %u: %" PRIu64 " ns after the switch to it", i,
		   last_ns[i] - switched[i - 1]);
	is_u64(last_ns[4], now + 100, "the last task: the end of the trace");
}

/* A switch in which something divides __switch_to(). */
static void divided_switch(int32_t from, int32_t to, bool loss)
{
	now += 500;
	switch_records(from, to);
	hart_block(&hart, hart.loop, 0, NTRACE_ITYPE_INTERRUPT, 0, NTRACE_PRIV_U);
	hart_block(&hart, TRAP_ENTRY, 1, NTRACE_ITYPE_INDIRECT_CALL, 0, NTRACE_PRIV_S);
	hart_block(&hart, SWITCH_TO, 1, NTRACE_ITYPE_NONE, 0, NTRACE_PRIV_S);
	ntrace_encoder_marker(&hart.encoder, NTRACE_SYNC_EXTERNAL_TRIGGER);
	hart_block(&hart, SWITCH_TO + 2, 1, NTRACE_ITYPE_NONE, 0, NTRACE_PRIV_S);
	if (loss)
		ntrace_encoder_overrun(&hart.encoder);
	hart_block(&hart, SWITCH_TO + 4, 1, NTRACE_ITYPE_RETURN, 0, NTRACE_PRIV_S);
	hart_block(&hart, TRAP_ENTRY + 2, 1, NTRACE_ITYPE_INDIRECT_CALL, 0, NTRACE_PRIV_S);
	hart_block(&hart, NOTHING, 1, NTRACE_ITYPE_RETURN, 0, NTRACE_PRIV_S);
	hart_block(&hart, TRAP_ENTRY + 4, 2, NTRACE_ITYPE_TRAP_RETURN, 1, NTRACE_PRIV_S);
	hart_loop(&hart, 3);
}

/*
 * A sync in __switch_to() divides its block. The rest belongs to the outgoing task, too, unless trace is
 * lost first: then any task may be the current one.
 */
static void test_divided_switch(bool loss)
{
	const char *name = loss ? "torn" : "divided";

	put_parcel(SWITCH_TO, 0x0001);
	put_parcel(SWITCH_TO + 2, 0x0001);
	put_parcel(SWITCH_TO + 4, 0x8082);
	write_kcore(in("kcore"));
	start(name, CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	divided_switch(100, 200, loss);
	divided_switch(200, 100, false);
	stop(name, 3);
	make_kernel_text();
	write_kcore(in("kcore"));
	decode(name, NULL);
	is_str(told, loss ? "100 a aaa" : "100 a aaa, 200 b bbb, 100 a aaa", "%s: the tasks", name);
	is_str(switchers, loss ? "100+0 -1+4 -1+0 -1+2" : "100+0 100+2 200+0 200+2",
	       "%s: the task of __switch_to", name);
}

/* exec of one program over another while begin_new_exec has no symbol: the code decides. */
static void test_exec(void)
{
	start("exec", CODE, UINT32_MAX);
	named(100, 0, false, "old");
	maps(100, 0, CODE, "/aaa");
	/* An exec that sleeps between begin_new_exec and its record. */
	hart_trap(&hart, BEGIN_NEW_EXEC, SWITCH_TO, KERNEL_LOOP);
	now += 500;
	switch_records(100, 0);
	hart_loop(&hart, 2);
	switches(0, 100, CODE);
	named(100, now + 5, true, "new");
	maps(100, now + 6, CODE, "/bbb");
	hart_loop(&hart, 2);
	switches(100, 0, KERNEL_LOOP);
	switches(0, 100, OTHER_CODE);
	/* This exec is visible only by its code. */
	named(100, now + 5, true, "third");
	maps(100, now + 6, OTHER_CODE, "/ccc");
	stop("exec", 3);
	decode("exec", NULL);
	is_str(told,
	       "100 old aaa, 0 swapper/0 kernel_loop, 100 new bbb, "
	       "0 swapper/0 kernel_loop, 100 third ccc",
	       "exec across two intervals, unseen exec");
	is_u64(errors, 0, "no error");
}

/* Of several switch records, only the first is before the start. */
static void test_first_task(void)
{
	start("first", CODE, UINT32_MAX);
	named(100, 0, false, "early");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "present");
	maps(200, 0, CODE, "/bbb");
	now = START_NS - 700;
	switch_records(0, 100);
	now = START_NS - 200;
	switch_records(100, 200);
	now = START_NS;
	switches(200, 100, CODE);
	stop("first", 3);
	decode("first", NULL);
	is_str(told, "200 present bbb, 100 early aaa", "the task at the start");
}

/* Trace is lost with an unknown number of switches. */
static void test_lost_trace(void)
{
	start("gap", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	named(300, 0, false, "c");
	maps(300, 0, OTHER_CODE, "/ccc");
	switches(100, 200, CODE);
	work(CODE, 1);
	ntrace_encoder_overrun(&hart.encoder);
	now += 500;
	switch_records(200, 100);
	now += 500;
	switch_records(100, 300);
	now += 500;
	switch_records(300, 200);
	now += 500;
	switch_records(200, 300);
	hart.loop = KERNEL_LOOP;
	hart_loop(&hart, 3);
	hart_trap(&hart, NOTHING, NOTHING, OTHER_CODE); /* back to 300, the second time */
	hart_loop(&hart, 3);
	switches(300, 100, CODE);
	switches(100, 200, CODE);
	stop("gap", 3);
	decode("gap", NULL);
	/*
	 * Only 300 has code there. Which interval of 300 it was is uncertain, so 100 or 200 is
	 * next, and that code is not decoded. After it the second interval of 300 is impossible,
	 * and only 200 remains.
	 */
	is_str(told, "100 a aaa, 200 b bbb, -1 unknown kernel_loop, 300 c ccc, 200 b bbb",
	       "unknown after lost trace, known by its code, never guessed");
	ok(errors > 0, "the loss is reported");
}

/* Sideband is lost: the session must not invent the missing record. */
static void test_lost_records(void)
{
	start("lost", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	named(300, 0, false, "c");
	maps(300, 0, OTHER_CODE, "/ccc");
	switches(100, 200, CODE);
	hart_trap(&hart, NOTHING, SWITCH_TO, KERNEL_LOOP); /* to idle, not recorded */
	hart_loop(&hart, 2);
	lost(2, now + 100);
	switches(0, 300, OTHER_CODE);
	switches(300, 100, CODE);
	stop("lost", 3);
	decode("lost", NULL);
	is_str(told, "100 a aaa, 200 b bbb, -1 unknown kernel_loop, 300 c ccc, 100 a aaa",
	       "unknown where records are lost, known again by unique code");
	ok(strstr(notes, "2 sideband records were lost"), "one note");
	/*
	 * The task before and after the loss is the same, so only the LOST record shows the loss.
	 */
	start("lost2", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	switches(100, 200, OTHER_CODE);
	hart_trap(&hart, NOTHING, SWITCH_TO, KERNEL_LOOP); /* to idle, not recorded */
	hart_loop(&hart, 2);
	hart_trap(&hart, NOTHING, SWITCH_TO, OTHER_CODE); /* and back */
	hart_loop(&hart, 2);
	lost(2, now + 100);
	switches(200, 300, KERNEL_LOOP);
	stop("lost2", 3);
	decode("lost2", NULL);
	is_str(told,
	       "100 a aaa, 200 b ccc, -1 unknown kernel_loop, 200 b ccc, 300 :300 kernel_loop",
	       "a loss within one task's time");
	/* Without a LOST record: the outgoing task is not the last incoming one. */
	start("silent", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, CODE, "/bbb");
	switches(100, 200, CODE);
	hart_trap(&hart, NOTHING, SWITCH_TO, KERNEL_LOOP);
	hart_loop(&hart, 2);
	switches(300, 100, CODE);
	stop("silent", 3);
	decode("silent", NULL);
	is_str(told, "100 a aaa, 200 b bbb, -1 unknown kernel_loop, 100 a aaa",
	       "a missing switch is found by its neighbours");
}

static void test_surplus(void)
{
	start("surplus", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	switches(100, 0, KERNEL_LOOP);
	hart_trap(&hart, NOTHING, SWITCH_TO, KERNEL_LOOP);
	hart_loop(&hart, 2);
	stop("surplus", 3);
	decode("surplus", NULL);
	is_str(told, "100 a aaa, 0 swapper/0 kernel_loop, -1 unknown kernel_loop",
	       "more switches than records");
	ok(strstr(notes, "more task switches"), "a note");
}

static uint64_t handed_over; /* bytes of the stream so far */

/* The trace since the last piece belongs to @task; then the encoder stops and starts again. */
static void piece(int32_t task, bool overwrite)
{
	uint64_t size;

	ntrace_encoder_stop(&hart.encoder, NTRACE_EVCODE_TRACE_DISABLE);
	size = hart.bytes - handed_over;
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_AUX,
				      .pid = task,
				      .tid = task,
				      .id = event_id,
				      .cpu = 0,
				      .offset = position + handed_over + (overwrite ? size : 0),
				      .length = size,
				      .code = overwrite ? PERF_AUX_FLAG_OVERWRITE : 0,
				      .time = now + 400 });
	handed_over = hart.bytes;
	now += 500;
	ntrace_encoder_start(&hart.encoder, NTRACE_SYNC_TRACE_ENABLE);
}

static void comes(int32_t task)
{
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_SWITCH, .pid = task, .tid = task, .time = now });
}

/*
 * Trace of tasks through perf: all tasks have code at the same address, and no switch is visible,
 * so the AUX records decide.
 */
static void test_pieces(const char *name, uint64_t first, bool overwrite, unsigned int cpu)
{
	stream_cpu = cpu;
	event_id = 77;
	position = first;
	handed_over = 0;
	start(name, CODE, UINT32_MAX);
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	work(CODE, 2);
	piece(100, overwrite);
	hart_loop(&hart, 3);
	piece(200, overwrite);
	/* The trace of another hart or task must be ignored. */
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_AUX,
				      .pid = 200,
				      .tid = 200,
				      .id = stream_cpu ? 78 : event_id,
				      .cpu = stream_cpu ? 0 : 1,
				      .length = 1000000,
				      .time = now });
	hart_loop(&hart, 3);
	forks(100, 101, now + 10);
	piece(100, overwrite);
	hart_loop(&hart, 3);
	piece(101, overwrite);
	/* The task calls exec while traced, and is traced again. */
	named(101, now + 20, true, "gamma");
	maps(101, now + 30, CODE, "/bbb");
	work(CODE, 1);
	hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, CODE);
	hart_loop(&hart, 3);
	piece(101, overwrite);
	/* The task calls exec before it is traced again. */
	named(101, now + 20, true, "delta");
	maps(101, now + 30, CODE, "/aaa");
	now += 100;
	comes(101);
	hart_loop(&hart, 3);
	piece(101, overwrite);
	/* A record was lost. */
	hart_loop(&hart, 3);
	ntrace_encoder_stop(&hart.encoder, NTRACE_EVCODE_TRACE_DISABLE);
	ntrace_encoder_start(&hart.encoder, NTRACE_SYNC_TRACE_ENABLE);
	handed_over = hart.bytes;
	hart_loop(&hart, 3);
	piece(200, overwrite);
	stop(name, 3);
	decode(name, NULL);
	is_str(told,
	       "100 shell aaa, 200 beta bbb, 100 shell aaa, 101 shell aaa, 101 gamma bbb, "
	       "101 delta aaa, 200 beta bbb",
	       "tasks by AUX records");
	is_str(notes, "", "nothing to be said");
	event_id = 0;
	position = 0;
	stream_cpu = 0;
}

static void test_kernel_changes(void)
{
	start("patched", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	switches(100, 0, KERNEL_LOOP);
	/* While the task is traced, a nop of its loop changes. */
	put_parcel(KERNEL_LOOP + 2, 0x8082);
	/* And the last parcel of the text. */
	put_parcel(KERNEL_TEXT + KERNEL_SIZE - 2, 0x8082);
	write_kcore(in("kcore"));
	stop("patched", 3);
	make_kernel_text();
	write_kcore(in("kcore"));
	decode("patched", NULL);
	ok(uncertain > 0, "flow through changed text reports it");
	ok(strstr(notes, "kernel text changed while it was traced: 2 parcels, the first at "
			 "ffffffff80002502"),
	   "a note says where");
	is_u64(errors, 0, "no error");
}

/* One program whose code is missing: one note, and errors in the flow. */
static void bad_file(const char *name, const char *file, uint8_t build_id, const char *note)
{
	struct ntrace_sideband mapping = {
		.type = NTRACE_SIDEBAND_MMAP2,
		.pid = 100,
		.tid = 100,
		.executable = true,
		.address = CODE,
		.length = 0x1000,
		.offset = 0x1000,
		.name = file,
		.build_id_size = build_id ? 20 : 0,
		.build_id = { build_id },
	};
	const char *at;

	start(name, CODE, UINT32_MAX);
	named(100, 0, false, "a");
	put(mapping);
	work(CODE, 10);
	switches(100, 0, KERNEL_LOOP);
	work(KERNEL_LOOP, 10);
	stop(name, 3);
	decode(name, NULL);
	at = strstr(notes, note);
	ok(at, "%s: a note", name);
	ok(at && !strstr(at + 1, note), "%s: one note", name);
	ok(errors > 0, "%s: errors of the flow", name);
	ok(strstr(told, "kernel_loop"), "%s: the kernel is decoded nevertheless", name);
	if (!at)
		diag("%s", notes);
}

static void test_files(void)
{
	bad_file("missing", "/missing", 0, "/missing: No such file");
	bad_file("other-build", "/bbb", 1, "/bbb is not the file that was traced (other build-id)");
	bad_file("other-machine", "/x86", 0, "/x86: ");
	bad_file("anonymous", "//anon", 0, "executable memory without a file");
	bad_file("no-elf", "/aaa.s", 0, "/aaa.s: ");
}

static void test_firmware(void)
{
	start("firmware", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	switch_records(0, 100);
	hart_block(&hart, hart.loop, 0, NTRACE_ITYPE_INTERRUPT, 0, NTRACE_PRIV_U);
	hart_block(&hart, 0x80000000, 3, NTRACE_ITYPE_DIRECT_JUMP, 0, NTRACE_PRIV_M);
	hart_block(&hart, 0x80000000, 3, NTRACE_ITYPE_DIRECT_JUMP, 0, NTRACE_PRIV_M);
	stop("firmware", 0xb);
	decode("firmware", in("root/fw"));
	is_str(told, "100 a aaa, 100 a firmware", "firmware is an object of its own");
	ok(privileges[3] > 0, "and runs in M-mode");
}

static void test_damage(void)
{
	struct ntrace_session_options options = { .size = sizeof(options), .note = take_note };
	struct ntrace_session *session;

	is_u64(ntrace_session_open(&session, in("nowhere"), &options), NTRACE_ERR_IO,
	       "no directory");
	notes[0] = 0;
	is_u64(ntrace_session_open(&session, in("root"), &options), NTRACE_ERR_FORMAT,
	       "no recording");
	ok(strstr(notes, "is not a recording"), "and the note gives the reason");
	run("cp -r %s %s; truncate -s 1000 %s/data", in("tasks"), in("cut"), in("cut"));
	run("truncate -s -5 %s/aux.0; rm %s/images/kernel.end", in("cut"), in("cut"));
	decode("cut", NULL);
	ok(strstr(notes, "data is truncated") && strstr(notes, "were recorded") &&
		   strstr(notes, "kernel.end: No such file"),
	   "a cut recording: notes");
	run("cp -r %s %s; rm -r %s/images %s/data", in("tasks"), in("bare"), in("bare"),
	    in("bare"));
	decode("bare", NULL);
	ok(strstr(notes, "programs are unknown"), "a recording without sideband and images");
	run("cp -r %s %s; printf 'no numbers here' > %s/images/kallsyms; "
	    "head -c 5000 /dev/urandom > %s/images/kernel.end",
	    in("tasks"), in("garbage"), in("garbage"), in("garbage"));
	decode("garbage", NULL);
	ok(strstr(notes, "not a kallsyms file"), "no kallsyms: a note");
}

static void tests(void)
{
	test_tasks();
	test_archive();
	test_times();
	test_divided_switch(false);
	test_divided_switch(true);
	test_exec();
	test_first_task();
	test_lost_trace();
	test_lost_records();
	test_surplus();
	test_pieces("pieces", 0, false, 0);
	test_pieces("snapshot", 123456, true, 0);
	test_pieces("moving", 0, false, NTRACE_STREAM_NO_CPU);
	test_kernel_changes();
	test_files();
	test_firmware();
	test_damage();
}

int main(void)
{
	return test_sessions(tests);
}
