// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/session/follow.c alone: the task on the hart after each step, derived by hand from the switch
 * records below. test_session.c tests the same with trace.
 */

#include "image/object.h"
#include "session/follow_parts.h"

#include "sideband_records.h"

#define START 1000
#define CODE 0x10000
#define OTHER 0x20000

static struct ntrace_session session;
static struct ntrace_recording recording = { .stream_count = 1 };
static struct ntrace_stream stream;
static struct spaces spaces;
static struct follower follower;
static char notes[1024];

static void take_note(void *data, const char *text)
{
	(void)data;
	snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s\n", text);
}

static void begin(void)
{
	open_records();
	stream = (struct ntrace_stream){ .file = "aux.0", .start_ns = START };
}

/* All records exist: the hart starts at START. */
static void follow_privilege(bool user)
{
	memset(&session, 0, sizeof(session));
	session.directory = directory;
	session.sysroot = directory;
	session.recording = &recording;
	session.streams = &stream;
	session.notes.take = take_note;
	spaces = (struct spaces){ .session = &session };
	notes[0] = '\0';
	if (ntrace_perf_writer_close(sideband) || machine_open(&session.machine, in("data")) ||
	    follower_init(&follower, &spaces, 0, user))
		ok(false, "reads the records");
}

static void follow(void)
{
	follow_privilege(false);
}

static void end(void)
{
	follower_free(&follower);
	spaces_free(&spaces);
	machine_close(&session.machine);
}

/* Records a switch between two threads, both as "process << 16 | thread". */
#define TASK(pid, tid) ((uint32_t)(pid) << 16 | (uint32_t)(tid))

static void goes_thread(uint64_t time, uint32_t from, uint32_t to)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
				      .pid = (int32_t)(from >> 16),
				      .tid = (int32_t)(from & 0xffff),
				      .other_pid = (int32_t)(to >> 16),
				      .other_tid = (int32_t)(to & 0xffff),
				      .out = true,
				      .time = time });
}

static void comes(uint64_t time, int32_t task)
{
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_SWITCH, .pid = task, .tid = task, .time = time });
}

/* "PID/TID NAME" */
static const char *present(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%d/%d %s", follower.pid, follower.tid, follower.comm);
	return text;
}

static int32_t leading(void)
{
	return follower.program ? follower.program->pid : -1;
}

/* ---- without a loss ---- */

static void test_switches(void)
{
	begin();
	named(1, 1, 0, false, "one");
	named(2, 2, 0, false, "two");
	named(0, 0, 0, false, "swapper");
	goes(500, 9, 1);
	goes(1500, 1, 2);
	goes(2500, 2, 0);
	goes(3500, 0, 3);
	follow();
	is_str(present(), "1/1 one", "the last task that came in before the start");
	follower_switch(&follower);
	is_str(present(), "2/2 two", "the next one");
	follower_switch(&follower);
	is_str(present(), "0/0 swapper/0", "the idle task has an id");
	follower_switch(&follower);
	is_str(present(), "3/3 :3", "a task without a name");
	is_str(notes, "", "nothing to be said");
	follower_switch(&follower);
	is_str(present(), "-1/-1 unknown", "one switch too many");
	ok(follower.given_up && strstr(notes, "CPU 0: more task switches"), "a note reports it");
	end();

	/* Exactly at the start: the switch is already over. */
	begin();
	goes(START, 1, 2);
	goes(START + 1, 2, 3);
	stream.stop_ns = START;
	follow();
	is_str(present(), "2/2 :2", "a switch at the start belongs before it");
	follower_switch(&follower);
	ok(follower.given_up, "the switch after the stop is of no use");
	end();

	begin();
	goes(START + 1, 1, 2);
	follow();
	is_str(present(), "1/1 :1", "no task came in before: the outgoing task was running");
	end();

	/* An interval of no duration: the recording is damaged. */
	begin();
	goes(500, 1, 2);
	goes(600, 2, 3);
	goes(700, 3, 4);
	stream.stop_ns = 1;
	follow_privilege(true);
	is_str(present(), "4/4 :4", "a stop before the start");
	end();

	/* Records of one process name only the incoming task. */
	begin();
	comes(500, 2);
	comes(1500, 3);
	follow();
	is_str(present(), "2/2 :2", "the incoming task, if no record names the outgoing one");
	end();

	begin();
	named(1, 1, 0, false, "one");
	follow();
	is_str(present(), "-1/-1 unknown", "no switch at all");
	ok(strstr(notes, "no task switches were recorded"), "a note reports it");
	end();
}

/* ---- losses ---- */

static void test_first_interval(void)
{
	/* 2 comes in, records are lost, 4 goes out: the lost ones may be from before the start. */
	begin();
	maps(2, 0, CODE, "/two");
	maps(4, 0, CODE, "/four");
	goes(500, 1, 2);
	loses(600, 3);
	goes(1500, 4, 5);
	goes(2500, 5, 6);
	follow();
	is_str(present(), "-1/-1 unknown", "first interval with a loss: the task is unknown");
	is_u64(leading(), 4, "but the task that goes out at its end is the best guess");
	follower_switch(&follower);
	is_str(present(), "-1/-1 unknown", "one of up to three missing switches");
	follower_switch(&follower);
	follower_switch(&follower);
	follower_switch(&follower);
	is_str(present(), "-1/-1 unknown", "after four switches it is 5 or 6");
	follower_switch(&follower);
	is_str(present(), "6/6 :6", "after five only one task remains");
	end();

	/* The same in a later interval: the incoming task is known, and the loss comes after it. */
	begin();
	maps(2, 0, CODE, "/two");
	maps(3, 0, CODE, "/three");
	maps(5, 0, CODE, "/five");
	goes(1200, 1, 2);
	loses(1300, 1);
	goes(1500, 3, 5);
	follow();
	is_str(present(), "1/1 :1", "before the loss");
	follower_switch(&follower);
	is_str(present(), "2/2 :2", "in its interval the incoming task is known");
	is_u64(leading(), 2, "and its program runs");
	follower_switch(&follower);
	is_str(present(), "-1/-1 unknown", "then either the missing task or the next one");
	is_u64(leading(), 5, "the next task is known");
	follower_switch(&follower);
	is_str(present(), "5/5 :5", "one more switch, and the missing one has been");
	end();
}

static void test_gap(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < 10; i++)
		goes(1100 + 100 * i, 1 + i, 2 + i);
	follow();
	is_str(present(), "1/1 :1", "before the gap");
	follower_gap(&follower, 0);
	is_str(present(), "1/1 :1", "no switch can have been missed");
	follower_gap(&follower, 2);
	is_str(present(), "-1/-1 unknown", "any of three tasks");
	is_u64(follower.count, 3, "three places");
	follower_owner(&follower, 99);
	is_u64(follower.count, 3, "an owner without any record changes nothing");
	follower_owner(&follower, 3);
	is_str(present(), "3/3 :3", "an owner among the candidates decides");
	follower_owner(&follower, 4);
	is_str(present(), "3/3 :3", "the owner does not matter if the task is certain");
	follower_gap(&follower, UINT64_MAX);
	is_u64(follower.count, 9, "any number of switches: all remaining tasks");
	end();
}

/* The time of a piece of trace limits the places: they begin by its end, and do not end before it. */
static void test_between(void)
{
	begin();
	for (unsigned int i = 0; i < 4; i++)
		goes(1100 + 100 * i, 1 + i, 2 + i);
	follow();
	follower_gap(&follower, UINT64_MAX);
	is_u64(follower.count, 5, "any of five tasks");
	follower_between(&follower, 1100, 1300);
	is_u64(follower.count, 4, "4 may begin at the last moment, and 1 end at the first one");
	follower_between(&follower, 1101, 1300);
	is_u64(follower.count, 3, "1 has ended before");
	follower_between(&follower, 1101, 1299);
	is_u64(follower.count, 2, "4 begins afterwards");
	follower_between(&follower, 5000, 6000);
	is_u64(follower.count, 2, "if no place fits, the time is wrong");
	follower_between(&follower, 1301, 1302);
	is_u64(follower.count, 2, "likewise");
	follower_between(&follower, 1250, 1260);
	is_str(present(), "3/3 :3", "one remains");
	end();
}

/* For an interval with a loss at its end, both places stay: before the loss and in it. */
static void test_gap_and_loss(void)
{
	begin();
	goes(1100, 1, 2);
	loses(1150, 1);
	goes(1200, 3, 4);
	follow();
	follower_gap(&follower, 1);
	is_u64(follower.count, 3, "1, 2 or the missing task");
	follower_owner(&follower, 2);
	is_str(present(), "2/2 :2", "it is 2");
	follower_gap(&follower, 0);
	is_str(present(), "2/2 :2", "and stays so if no switch can have been missed");
	follower_gap(&follower, 1);
	is_u64(follower.count, 3, "2, the missing one, or 4");
	follower_switch(&follower);
	is_u64(follower.count, 2, "one switch more: the missing one, or 4");
	follower_switch(&follower);
	is_str(present(), "4/4 :4", "and one more: 4");
	end();
}

/* Trace of user space alone: the same, and any number of switches may have been missed. */
static void test_user_gap_and_loss(void)
{
	begin();
	goes(1100, 1, 2);
	loses(1150, 1);
	goes(1200, 3, 4);
	follow_privilege(true);
	follower_gap(&follower, 1);
	is_u64(follower.count, 4, "user space: 1, 2, the missing task, or 4");
	follower_owner(&follower, 2);
	is_str(present(), "2/2 :2", "user space: the owner is 2");
	follower_gap(&follower, 1);
	is_u64(follower.count, 3, "user space: after a gap 2, the task missing after it, or 4");
	end();
}

/* What code told was wrong: the owner decides, unless no record names it. */
static void test_user_owner(void)
{
	begin();
	goes(1100, 1, 2);
	goes(1200, 2, 3);
	follow_privilege(true);
	follower_gap(&follower, 1);
	follower_owner(&follower, 2);
	is_str(present(), "2/2 :2", "user space: the owner is one of those that are possible");
	follower_owner(&follower, 3);
	is_str(present(), "3/3 :3", "user space: another owner comes later");
	follower_owner(&follower, 7);
	is_str(present(), "3/3 :3", "user space: no record names this one");
	end();
}

/* A reused thread number: of one process, then of another. */
static void test_reused_number(void)
{
	begin();
	goes_thread(1100, TASK(1, 1), TASK(100, 150));
	goes_thread(1200, TASK(100, 150), TASK(200, 150));
	follow();
	follower_switch(&follower);
	is_str(present(), "100/150 :150", "the first owner of the number");
	follower_gap(&follower, 1);
	is_u64(follower.count, 2, "it or the next");
	is_str(present(), "-1/-1 unknown", "a thread of an unknown process is unknown");
	end();

	/* Two threads of one process: the process is known. */
	begin();
	named(100, 100, 0, false, "process");
	goes_thread(1100, TASK(1, 1), TASK(100, 150));
	goes_thread(1200, TASK(100, 150), TASK(100, 151));
	follow();
	follower_switch(&follower);
	follower_gap(&follower, 1);
	is_str(present(), "100/-1 process", "either thread: the process is known");
	follower_owner(&follower, 151);
	is_str(present(), "100/151 :151", "the owner selects the thread");
	end();
}

/* ---- exec ---- */

static void test_exec(void)
{
	/*
	 * Thread 107 calls exec and becomes the leader: from then on it has the id of the process.
	 */
	begin();
	named(100, 100, 0, false, "old");
	maps(100, 0, CODE, "/old");
	named(100, 107, 0, false, "worker");
	goes_thread(1100, TASK(1, 1), TASK(100, 107));
	named(100, 100, 1150, true, "new");
	goes_thread(1200, TASK(100, 100), TASK(1, 1));
	follow();
	follower_switch(&follower);
	is_str(present(), "100/107 worker", "a thread before its exec");
	ok(follower.next_program && follower.limit == 1150,
	   "its mappings are valid up to the exec");
	follower_exec(&follower);
	is_str(present(), "100/100 new",
	       "a thread that calls exec becomes the leader of its process");
	ok(!follower.next_program && follower.limit == 1200, "up to the end of the interval");
	end();

	/* Either thread is possible, and the exec of one does not decide. */
	begin();
	named(100, 100, 0, false, "old");
	maps(100, 0, CODE, "/old");
	goes_thread(1100, TASK(1, 1), TASK(100, 150));
	named(100, 100, 1150, true, "new");
	goes_thread(1200, TASK(100, 150), TASK(100, 151));
	follow();
	follower_switch(&follower);
	follower_gap(&follower, 1);
	is_str(present(), "100/-1 old", "either thread");
	follower_exec(&follower);
	is_str(present(), "100/-1 new", "an exec does not make the thread known");
	end();

	/* A sleeping exec: it begins in one interval, and its record is in a later one. */
	begin();
	named(100, 100, 0, false, "old");
	maps(100, 0, CODE, "/old");
	goes(1100, 1, 100);
	goes(1200, 100, 1);
	goes(1300, 1, 100);
	named(100, 100, 1350, true, "new");
	goes(1400, 100, 1);
	goes(1500, 1, 100);
	named(100, 100, 1550, true, "newer");
	goes(1600, 100, 1);
	goes(1700, 1, 100);
	follow();
	follower_switch(&follower);
	follower_exec(&follower);
	is_str(present(), "100/100 old", "no record so far");
	follower_switch(&follower);
	is_str(present(), "1/1 :1", "another thread is not affected");
	follower_switch(&follower);
	is_str(present(), "100/100 new", "when it runs again it runs the new program");
	follower_switch(&follower);
	follower_switch(&follower);
	is_str(present(), "100/100 new", "an exec counts once");
	follower_exec(&follower);
	follower_switch(&follower);
	follower_switch(&follower);
	is_str(present(), "100/100 newer", "it runs the new program in its next interval");
	end();

	/* Two in one interval: the first one decides, although another one follows. */
	begin();
	named(100, 100, 0, false, "old");
	maps(100, 0, CODE, "/old");
	goes(1100, 1, 100);
	named(100, 100, 1150, true, "new");
	named(100, 100, 1170, true, "newer");
	goes(1200, 100, 1);
	follow();
	follower_switch(&follower);
	follower_exec(&follower);
	is_str(present(), "100/100 new", "the first of two execs in one interval");
	ok(follower_is_certain(&follower), "it is certain that the second one is not over");
	end();

	/* Entered in one interval, then a second exec unseen: the records count. */
	begin();
	named(100, 100, 0, false, "old");
	maps(100, 0, CODE, "/old");
	goes(1100, 1, 100);
	named(100, 100, 1150, true, "new");
	goes(1200, 100, 1);
	named(100, 100, 1250, true, "newer");
	goes(1300, 1, 100);
	follow();
	follower_switch(&follower);
	follower_exec(&follower);
	is_str(present(), "100/100 new", "the first exec");
	follower_switch(&follower);
	follower_switch(&follower);
	is_str(present(), "100/100 newer", "an entered exec counts only for its interval");
	end();

	/* A sleeping exec, after which the interval is uncertain. */
	begin();
	named(100, 100, 0, false, "old");
	maps(100, 0, CODE, "/old");
	goes(1100, 1, 100);
	goes(1200, 100, 1);
	goes(1300, 1, 100);
	named(100, 100, 1350, true, "new");
	goes(1400, 100, 1);
	goes(1500, 1, 100);
	follow();
	follower_switch(&follower);
	follower_exec(&follower);
	follower_switch(&follower);
	follower_gap(&follower, 3);
	follower_owner(&follower, 100);
	is_u64(follower.count, 2, "either interval of 100");
	is_str(present(), "100/100 old", "whether the exec is over is uncertain");
	end();

	/* A record at the exact time of the switch belongs to the next interval. */
	begin();
	named(100, 100, 0, false, "old");
	maps(100, 0, CODE, "/old");
	goes(1100, 1, 100);
	named(100, 100, 1200, true, "new");
	goes(1200, 100, 1);
	follow();
	follower_switch(&follower);
	ok(!follower.next_program, "an exec at the end of an interval is not part of it");
	end();
}

/* ---- evidence from the code ---- */

static void test_code(void)
{
	begin();
	maps(1, 0, CODE, "/one");
	maps(2, 0, CODE, "/two");
	maps(3, 0, OTHER, "/three");
	goes(1100, 1, 2);
	goes(1200, 2, 3);
	follow();
	follower_gap(&follower, 2);
	is_u64(follower.count, 3, "one of three");
	follower_user(&follower, CODE);
	is_u64(follower.count, 2, "two have code there");
	ok(!follower.program, "of different files: no decoding");
	follower_user(&follower, OTHER);
	is_u64(follower.count, 2, "code that none of them has decides nothing");
	follower_gap(&follower, 2);
	follower_user(&follower, OTHER);
	is_str(present(), "3/3 :3", "the only task with code there");
	is_u64(leading(), 3, "and its program");
	end();

	/* The same file at the same address: decoding is still possible. */
	begin();
	maps(1, 0, CODE, "/one");
	maps(2, 0, CODE, "/one");
	goes(1100, 1, 2);
	follow();
	follower_gap(&follower, 1);
	follower_user(&follower, CODE);
	is_str(present(), "-1/-1 unknown", "the task is unknown");
	is_u64(leading(), 1, "but the code is the same");
	end();

	/* An unknown interval: the only process with code there, or none. */
	begin();
	maps(3, 0, OTHER, "/three");
	named(3, 3, 10, true, "three");	/* both of its programs have it */
	maps(3, 11, OTHER, "/three");
	maps(4, 0, CODE, "/four");
	maps(5, 0, CODE, "/five");
	maps(6, 0, CODE, "/four");
	goes(1100, 1, 2);
	loses(1150, 2);
	goes(1200, 6, 7);
	follow();
	follower_switch(&follower);
	follower_switch(&follower);
	is_str(present(), "-1/-1 unknown", "a missing task, or 7");
	follower_user(&follower, OTHER);
	is_str(present(), "3/-1 three", "the only process of all with code there");
	ok(follower.program, "its programs have the same code");
	follower_user(&follower, CODE);
	is_str(present(), "-1/-1 unknown", "one of three, which is unknown");
	ok(!follower.program, "their code differs");
	end();
}

/* A later process has a reused number, and code that is not mapped so far. */
static void test_later_code(void)
{
	begin();
	maps(50, 0, OTHER, "/fifty");
	maps(100, 0, CODE, "/old");
	maps(3, 0, OTHER, "/three");
	goes(1100, 100, 3);
	forks(50, 100, 5000);
	follow();
	follower_gap(&follower, 1);
	follower_user(&follower, OTHER);
	is_str(present(), "3/3 :3", "only mappings before the end of the interval count");
	end();
}

/* The first file mapped by @pid's last program exists, and its entry is CODE. */
static void make_program(int32_t pid)
{
	const uint32_t code[4] = { 0x13, 0x13, 0x13, 0x13 };
	struct program *program = machine_program(&session.machine, pid, UINT64_MAX);
	struct mapped_file *file = program->changes[0].file;

	file->opened = true;
	ntrace_object_from_bytes(&file->object, file->path, code, sizeof(code), CODE);
	file->object->entry = CODE;
	file->object->has_entry = true;
}

/* A program begins: only the process that runs it is possible. */
static void test_start(void)
{
	begin();
	maps(1, 0, CODE, "/one");
	named(2, 2, 0, false, "old");
	maps(2, 0, CODE, "/old");
	goes(1100, 1, 2);
	loses(1150, 1);
	named(2, 2, 1160, true, "new");
	maps(2, 1161, CODE, "/new");
	goes(1200, 3, 4);
	follow();
	make_program(2);
	follower_gap(&follower, 1);
	is_u64(follower.count, 3, "1, 2, or the missing task");
	follower_user(&follower, CODE + 4);
	ok(follower.count > 1, "code that is no entry of a program");
	follower_user(&follower, CODE);
	is_str(present(), "2/2 new", "at the entry of its new program it is 2");
	ok(follower.program && follower.program->start == 1160, "and has exec'd");
	end();
}

/* Code that only some programs of a process have, among many execs in one interval. */
static void test_execs(void)
{
	const unsigned int count = 3000;
	const uint64_t unknown = CODE + (UINT64_C(1) << 32);
	struct switch_place at;
	uint64_t before;

	begin();
	named(1, 1, 0, false, "one");
	maps(1, 0, OTHER, "/one");
	for (unsigned int i = 1; i <= count; i++) {
		named(1, 1, 1000 + 2 * i, true, "one");
		maps(1, 1001 + 2 * i, i % 1000 ? OTHER : CODE + i * 0x10000, "/one");
	}
	goes(10000, 1, 1);
	follow_privilege(true);
	follower_gap(&follower, 1);
	before = follower.work;
	for (unsigned int i = 0; i < 1000; i++)
		follower_user(&follower, unknown + 0x10000 * i);
	ok(follower.work - before < 100 * 1000, "work does not grow with the programs: %llu",
	   (unsigned long long)(follower.work - before));
	if (ok(follower.count && follower.places[0].thread, "a place of a thread")) {
		for (unsigned int i = 1000; i <= count; i += 1000) {
			const struct mapping_change *found = follow_threads_mapping(
				&follower, &follower.places[0], CODE + i * 0x10000, &at);

			ok(found && found->time == 1001 + 2 * i, "the code of program %u", i);
		}
		ok(!follow_threads_mapping(&follower, &follower.places[0], unknown, &at),
		   "code of none");
	}
	end();
}

/* Between an exec and the entry of the program, its dynamic linker runs, and other tasks do. */
static void test_late_start(void)
{
	begin();
	maps(1, 0, CODE, "/other");
	maps(2, 0, CODE, "/old");
	maps(3, 0, CODE, "/old");
	named(2, 2, 1050, true, "new");
	maps(2, 1051, CODE, "/new");
	named(3, 3, 1250, true, "new");
	maps(3, 1251, CODE, "/new");
	goes(1100, 2, 1);
	goes(1200, 1, 3);
	goes(1300, 3, 2);
	goes(1400, 2, 1);
	follow();
	make_program(2);
	follower_gap(&follower, UINT64_MAX);
	is_u64(follower.count, 5, "any interval");
	follower_user(&follower, CODE);
	is_u64(follower.count, 3,
	       "at the entry: the intervals with an exec, and that after one of them");
	is_str(present(), "-1/-1 unknown", "the task may be 2 or 3");
	follower_switch(&follower);
	follower_user(&follower, CODE + 4);
	is_u64(follower.count, 3, "1 behind either interval of 2, or 2 behind 3");
	end();
}

/* ---- trace recorded through perf ---- */

static void hands_over(int32_t pid, uint64_t time, uint64_t offset, uint64_t size, uint32_t cpu)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_AUX,
				      .pid = pid,
				      .tid = pid,
				      .id = 7,
				      .cpu = cpu,
				      .offset = offset,
				      .length = size,
				      .time = time });
}

static const char *at(uint64_t offset)
{
	follower_offset(&follower, offset);
	return present();
}

static void test_pieces(void)
{
	begin();
	hands_over(1, 1100, 900, 100, 0);	/* ends where the file begins */
	hands_over(2, 1200, 990, 20, 0);	/* overlaps it */
	hands_over(3, 1300, 1010, 10, 1);	/* of another CPU */
	hands_over(4, 1400, 1020, 10, 0);
	hands_over(5, 1500, 1030, 10, 0);
	stream.event = 7;
	stream.position = 1000;
	stream.bytes = 100;
	follow();
	is_u64(follower.piece_count, 3, "pieces of this CPU that overlap the file");
	is_str(at(0), "2/2 :2", "the first byte");
	is_str(at(9), "2/2 :2", "up to the last one of its piece");
	is_str(at(10), "-1/-1 unknown", "between two pieces the task is unknown");
	is_str(at(19), "-1/-1 unknown", "up to the next one");
	is_str(at(20), "4/4 :4", "it belongs to another task");
	is_str(at(30), "5/5 :5", "an adjacent piece");
	is_str(at(40), "-1/-1 unknown", "after the last one");
	is_str(notes, "", "nothing to be said");
	end();

	begin();
	hands_over(1, 1100, 0, 100, 1);
	stream.event = 7;
	stream.bytes = 100;
	follow();
	is_str(at(0), "-1/-1 unknown", "no piece of this CPU");
	ok(strstr(notes, "aux.0: no record names the traced task"), "a note reports it");
	end();

	/* The task calls exec while it is not traced. */
	begin();
	named(1, 1, 0, false, "old");
	maps(1, 0, CODE, "/old");
	hands_over(1, 1100, 0, 10, 0);
	named(1, 1, 1150, true, "new");
	comes(1160, 1);
	hands_over(1, 1200, 10, 10, 0);
	stream.event = 7;
	stream.bytes = 20;
	follow();
	is_str(at(5), "1/1 old", "before an exec");
	ok(follower.program && !follower.program->start, "the old program");
	is_str(at(15), "1/1 new", "and after it");
	ok(follower.program && follower.program->start == 1150, "the new one");
	end();

	/* An AUX area that follows its task: pieces of any CPU, but of one event. */
	begin();
	hands_over(1, 1100, 0, 10, 1);
	hands_over(1, 1200, 10, 10, 5);
	stream.event = 7;
	stream.cpu = NTRACE_STREAM_NO_CPU;
	stream.bytes = 20;
	follow();
	is_u64(follower.piece_count, 2, "of both CPUs");
	is_str(at(15), "1/1 :1", "one task");
	end();
	begin();
	hands_over(1, 1100, 0, 10, 1);
	stream.event = 8;
	stream.cpu = NTRACE_STREAM_NO_CPU;
	follow();
	is_u64(follower.piece_count, 0, "no piece of another event");
	is_str(notes, "", "no note without trace");
	end();
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_switches();
	test_first_interval();
	test_gap();
	test_between();
	test_gap_and_loss();
	test_user_gap_and_loss();
	test_user_owner();
	test_reused_number();
	test_exec();
	test_code();
	test_later_code();
	test_start();
	test_execs();
	test_late_start();
	test_pieces();
	scratch_remove();
	return done_testing();
}
