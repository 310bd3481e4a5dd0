/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of lib/session: makes recordings from the execution of a hart (fake_machine.h) and
 * sideband records, and prints the session's results.
 */
#ifndef SELFTESTS_LIB_TEST_SESSION_H
#define SELFTESTS_LIB_TEST_SESSION_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/perf.h>
#include <ntrace/session.h>

#include "include/decode_stream.h"
#include "fake_machine.h"
#include "scratch.h"
#include "tap.h"

#define CODE 0x10000		/* programs, not position independent */
#define OTHER_CODE 0x20000
#define START_NS 1000

/* ---- making a recording ---- */

static struct ntrace_perf_writer *sideband;
static struct fake_hart hart;
static uint64_t now;
static uint64_t event_id, position; /* event of the stream; 0 = not recorded through perf */
static unsigned int stream_cpu;
static unsigned int record_cpu; /* CPU of records that name none */
static uint64_t fake_time_hz; /* rate of the timestamps; 0 = not known */

/* Records are in the file in the reverse order of their times: the rings that had them first were read last. */
static bool late_records;
static struct ntrace_sideband late[256];
static size_t late_count;

static void put(struct ntrace_sideband record)
{
	if (!record.name)
		record.name = "";
	if (!record.cpu)
		record.cpu = record_cpu;
	if (late_records && record.time && late_count < sizeof(late) / sizeof(*late))
		late[late_count++] = record;
	else
		ntrace_perf_writer_sideband(sideband, &record);
}

__attribute__((unused)) static void maps(int32_t pid, uint64_t time, uint64_t address,
					 const char *file)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
				      .pid = pid,
				      .tid = pid,
				      .time = time,
				      .executable = true,
				      .address = address,
				      .length = 0x1000,
				      .offset = 0x1000,
				      .name = file });
}

static void named(int32_t pid, uint64_t time, bool exec, const char *name)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_COMM,
				      .pid = pid,
				      .tid = pid,
				      .time = time,
				      .exec = exec,
				      .name = name });
}

__attribute__((unused)) static void forks(int32_t parent, int32_t child, uint64_t time)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_FORK,
				      .pid = child,
				      .tid = child,
				      .other_pid = parent,
				      .other_tid = parent,
				      .time = time });
}

__attribute__((unused)) static void lost(uint64_t count, uint64_t time)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_LOST, .count = count, .time = time });
}

static void switch_threads(int32_t pid, int32_t tid, int32_t to_pid, int32_t to_tid)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
				      .pid = pid,
				      .tid = tid,
				      .other_pid = to_pid,
				      .other_tid = to_tid,
				      .out = true,
				      .time = now });
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
				      .pid = to_pid,
				      .tid = to_tid,
				      .other_pid = pid,
				      .other_tid = tid,
				      .time = now + 1 });
}

static void switch_records(int32_t from, int32_t to)
{
	switch_threads(from, from, to, to);
}

/* The hart switches threads, and the kernel records the switch. */
static void turn(int32_t pid, int32_t tid, int32_t to_pid, int32_t to_tid, uint64_t next)
{
	now += 500;
	switch_threads(pid, tid, to_pid, to_tid);
	hart_trap(&hart, NOTHING, SWITCH_TO, next);
	hart_loop(&hart, 3);
}

/* The same for the main threads of two tasks. */
__attribute__((unused)) static void switches(int32_t from, int32_t to, uint64_t next)
{
	turn(from, from, to, to, next);
}

/* Traps without a switch: they produce messages, including periodic syncs. */
__attribute__((unused)) static void work(uint64_t next, unsigned int times)
{
	while (times--) {
		hart_trap(&hart, NOTHING, NOTHING, next);
		hart_loop(&hart, 3);
	}
}

/* Switches to task 100, whose record is lost with others, and back to 200. */
__attribute__((unused)) static void switch_unrecorded(void)
{
	now += 500;
	lost(3, now);
	hart_trap(&hart, NOTHING, SWITCH_TO, CODE);
	work(CODE, 9);
	now += 500;
	switch_records(100, 200);
	hart_trap(&hart, NOTHING, SWITCH_TO, OTHER_CODE);
	work(OTHER_CODE, 9);
}

static struct perf_event_attr sideband_attr(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_id_all = 1,
		.context_switch = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
	};

	return attr;
}

/* Opens recording @name; the hart starts at @loop. */
static void start(const char *name, uint64_t loop, uint32_t priv_mask)
{
	struct ntrace_kernel_copy copy = { .size = sizeof(copy) };
	struct perf_event_attr attr = sideband_attr();
	uint64_t id = 1;
	char path[600];

	ntrace_recording_create(in(name));
	copy.kcore = in("kcore");
	copy.kallsyms = in("symbols");
	if (ntrace_recording_copy_kernel(in(name), NTRACE_RECORDING_START, &copy))
		ok(false, "copies kernel text");
	snprintf(path, sizeof(path), "%s/data", in(name));
	ntrace_perf_writer_open(&sideband, path);
	ntrace_perf_writer_event(sideband, &attr, &id, 1, "dummy:u");
	snprintf(path, sizeof(path), "%s/aux.0", in(name));
	if (hart_start(&hart, path, priv_mask))
		ok(false, "starts the encoder");
	now = START_NS;
	hart.loop = loop;
	hart_loop(&hart, 3);
}

__attribute__((unused)) static void stop(const char *name, uint32_t privilege)
{
	struct ntrace_kernel_copy copy = { .size = sizeof(copy) };
	struct ntrace_recording recording = {
		.size = sizeof(recording),
		.tool = "test",
		.clock = "monotonic",
		.privilege = privilege,
		.stream_count = 1,
	};
	struct ntrace_stream stream = { .file = "aux.0", .start_ns = START_NS, .lost_exact = true };
	struct ntrace_params params;

	ntrace_params_init(&params);
	params.mode = NTRACE_MODE_HISTORY;
	params.timestamp_bits = fake_time_bits;
	params.timestamp_hz = fake_time_hz;
	stream.params = &params;
	stream.bytes = hart_stop(&hart);
	stream.stop_ns = now + 100;
	stream.event = event_id;
	stream.cpu = stream_cpu;
	stream.position = position;
	recording.streams = &stream;
	while (late_count)
		ntrace_perf_writer_sideband(sideband, &late[--late_count]);
	ntrace_perf_writer_close(sideband);
	copy.kcore = in("kcore");
	copy.kallsyms = in("symbols");
	if (ntrace_recording_copy_kernel(in(name), NTRACE_RECORDING_END, &copy) ||
	    ntrace_recording_write(in(name), &recording))
		ok(false, "closes the recording");
}

/* ---- results of the session ---- */

static char told[4096];		/* "pid name function, ..." without repetitions */
static unsigned int told_from, changes;	/* report only after this many changes */
static char notes[4096];
static unsigned int errors, uncertain, privileges[8];
static uint64_t last_ns[64]; /* for each change: sideband_ns of its last block */
static unsigned int guests; /* number of Ownership messages with VU or VS */
static char switchers[256]; /* tasks of the blocks of __switch_to: "pid+offset" */

static void take_note(void *data, const char *text)
{
	(void)data;
	snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s\n", text);
}

static int take(void *data, const struct ntrace_session_event *event)
{
	struct ntrace_location location = { 0 };
	static char last[256];
	char text[256];

	(void)data;
	errors += event->flow->type == NTRACE_FLOW_ERROR;
	uncertain += event->flow->type == NTRACE_FLOW_WARNING &&
		     event->flow->code == NTRACE_FLOW_ERROR_UNCERTAIN;
	guests += event->flow->type == NTRACE_FLOW_OWNERSHIP &&
		  (event->privilege == NTRACE_PRIV_VU || event->privilege == NTRACE_PRIV_VS);
	if (event->flow->type != NTRACE_FLOW_BLOCK)
		return 0;
	privileges[event->privilege & 7]++;
	ntrace_space_locate(event->flow->space, event->flow->address, &location);
	if (location.symbol && !strcmp(location.symbol, "__switch_to"))
		snprintf(switchers + strlen(switchers), sizeof(switchers) - strlen(switchers),
			 "%s%d+%u", switchers[0] ? " " : "", event->pid,
			 (unsigned int)(event->flow->address - SWITCH_TO));
	/* Other kernel code at a switch belongs to two tasks and is ignored. */
	if (!location.symbol || !strcmp(location.symbol, "trap_entry") ||
	    !strcmp(location.symbol, "nothing") || !strcmp(location.symbol, "__switch_to") ||
	    !strcmp(location.symbol, "begin_new_exec"))
		return 0;
	snprintf(text, sizeof(text), "%d %s %s", event->pid, event->comm, location.symbol);
	if (changes && !strcmp(text, last)) {
		last_ns[(changes - 1) % 64] = event->sideband_ns;
		return 0;
	}
	last_ns[changes % 64] = event->sideband_ns;
	if (changes++ >= told_from)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s",
			 told[0] ? ", " : "", text);
	snprintf(last, sizeof(last), "%s", text);
	return 0;
}

/* ---- the same with blocks in batches ---- */

static unsigned int stray;	/* blocks that came as events */

static int take_other(void *data, const struct ntrace_session_event *event)
{
	stray += event->flow->type == NTRACE_FLOW_BLOCK;
	return take(data, event);
}

static int take_batch(void *data, const struct ntrace_segment *segment)
{
	return segment_as_events(segment, take, data);
}

static void forget_results(void)
{
	told[0] = 0;
	switchers[0] = 0;
	changes = 0;
	errors = 0;
	uncertain = 0;
	guests = 0;
	memset(privileges, 0, sizeof(privileges));
}

/* Everything reported is the same, and so are the totals. */
static void decode_batches(const char *name, const struct ntrace_session_options *given,
			   const struct ntrace_flow_stats *expected)
{
	struct ntrace_session_options options = *given;
	struct ntrace_flow_stats stats = { 0 };
	struct ntrace_session *session;
	unsigned int told_privileges[8], told_changes = changes;
	uint64_t told_ns[64];
	char text[sizeof(told)], told_switchers[sizeof(switchers)];

	memcpy(text, told, sizeof(text));
	memcpy(told_switchers, switchers, sizeof(told_switchers));
	memcpy(told_ns, last_ns, sizeof(told_ns));
	memcpy(told_privileges, privileges, sizeof(told_privileges));
	forget_results();
	stray = 0;
	options.note = NULL;
	if (ntrace_session_open(&session, in(name), &options))
		return;
	decode_stream(session, 0, take_other, take_batch, NULL, &stats);
	ntrace_session_close(session);
	ok(!strcmp(text, told) && told_changes == changes && !stray &&
		   !strcmp(told_switchers, switchers) &&
		   !memcmp(told_ns, last_ns, sizeof(told_ns)) &&
		   !memcmp(told_privileges, privileges, sizeof(privileges)) &&
		   !memcmp(expected, &stats, sizeof(stats)),
	   "%s: the same in batches: %s", name, told);
}

__attribute__((unused)) static void decode(const char *name, const char *firmware)
{
	struct ntrace_session_options options = {
		.size = sizeof(options),
		.sysroot = in("root"),
		.note = take_note,
		.firmware = firmware,
	};
	struct ntrace_flow_stats stats = { 0 };
	struct ntrace_session *session;
	int error;

	forget_results();
	notes[0] = 0;
	error = ntrace_session_open(&session, in(name), &options);
	if (!ok(!error, "%s opens", name)) {
		diag("%s: %s", ntrace_strerror(error), notes);
		return;
	}
	is_u64(decode_stream(session, 0, take, NULL, NULL, &stats), 0, "%s decodes", name);
	ntrace_session_close(session);
	decode_batches(name, &options, &stats);
}

/* ---- the machine ---- */

static bool build(void)
{
	static const char *const names[] = { "aaa", "bbb", "ccc", "firmware" };
	unsigned int i;

	mkdir(in("root"), 0777);
	for (i = 0; i < 4; i++) {
		static const char *const at[] = { "0x10000", "0x10000", "0x20000", "0x80000000" };
		static const char *const entry[] = { "aaa", "bbb", "0x20002", "firmware" };
		const char *file = i == 3 ? "fw" : names[i];

		if (run("cd %s/root && printf '.globl %s\\n.type %s,@function\\n%s: "
			"c.nop\\nc.nop\\n"
			"j %s\\n.size %s,.-%s\\n' > %s.s && riscv64-linux-gnu-as -march=rv64gc "
			"%s.s "
			"-o %s.o && riscv64-linux-gnu-ld --build-id -Ttext=%s -e %s %s.o -o %s",
			directory, names[i], names[i], names[i], names[i], names[i], names[i], file,
			file, file, at[i], entry[i], file, file))
			return false;
	}
	return !run("cp /bin/true %s", in("root/x86"));
}

/* Calls @tests with machine and programs in place. Return: exit status. */
static int test_sessions(void (*tests)(void))
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	if (run("command -v riscv64-linux-gnu-as > /dev/null")) {
		skip("sessions", "riscv64-linux-gnu-as is not installed");
		scratch_remove();
		return done_testing();
	}
	make_kernel_text();
	if (ok(build() && !write_kcore(in("kcore")) && !write_kallsyms(in("symbols"), ""),
	       "makes the machine"))
		tests();
	if (!getenv("KEEP"))
		scratch_remove();
	return done_testing();
}

#endif
