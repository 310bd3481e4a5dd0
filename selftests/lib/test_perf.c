// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares lib/perf with the perf of this machine in both directions: perf script prints the
 * records of our writer, and our reader finds the same records in files of perf record as perf
 * script.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/perf.h>

#include "scratch.h"
#include "tap.h"

/* The whole output of a command, at most 64 KiB. */
static const char *output(const char *format, ...)
{
	static char text[65536];
	char command[2048];
	va_list args;
	size_t used = 0, got;
	FILE *pipe;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	pipe = popen(command, "r");
	while (pipe && (got = fread(text + used, 1, sizeof(text) - 1 - used, pipe)) > 0)
		used += got;
	if (pipe)
		pclose(pipe);
	text[used] = 0;
	return text;
}

static bool have_perf(void)
{
	return !run("perf --version > /dev/null 2>&1");
}

static const struct ntrace_sideband samples[] = {
	{ .type = NTRACE_SIDEBAND_COMM, .pid = 100, .tid = 100, .time = 1000, .name = "shell" },
	{ .type = NTRACE_SIDEBAND_FORK,
	  .pid = 101,
	  .tid = 101,
	  .other_pid = 100,
	  .other_tid = 100,
	  .time = 2000,
	  .name = "" },
	{ .type = NTRACE_SIDEBAND_COMM,
	  .pid = 101,
	  .tid = 101,
	  .time = 3000,
	  .exec = true,
	  .name = "program" },
	{ .type = NTRACE_SIDEBAND_MMAP2,
	  .pid = 101,
	  .tid = 101,
	  .time = 3500,
	  .executable = true,
	  .address = 0x10000,
	  .length = 0x5000,
	  .offset = 0x1000,
	  .name = "/usr/bin/program" },
	{ .type = NTRACE_SIDEBAND_MMAP2,
	  .pid = 101,
	  .tid = 101,
	  .time = 3600,
	  .executable = true,
	  .address = 0x3f8000000000,
	  .length = 0x2000,
	  .name = "/usr/lib/with-id.so",
	  .build_id_size = 20,
	  .build_id = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0xab } },
	{ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
	  .pid = 101,
	  .tid = 101,
	  .other_pid = 7,
	  .other_tid = 7,
	  .cpu = 1,
	  .time = 4000,
	  .out = true,
	  .name = "" },
	{ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
	  .pid = 7,
	  .tid = 7,
	  .other_pid = 101,
	  .other_tid = 101,
	  .cpu = 1,
	  .time = 4001,
	  .name = "" },
	{ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
	  .pid = 7,
	  .tid = 7,
	  .other_pid = 101,
	  .other_tid = 101,
	  .cpu = 1,
	  .time = 4100,
	  .out = true,
	  .preempt = true,
	  .name = "" },
	{ .type = NTRACE_SIDEBAND_LOST, .id = 11, .count = 42, .time = 4500, .cpu = 1, .name = "" },
	{ .type = NTRACE_SIDEBAND_KSYMBOL,
	  .pid = -1,
	  .address = 0xffffffff02000000,
	  .length = 256,
	  .code = 1,
	  .time = 4600,
	  .name = "bpf_prog_1234_test" },
	{ .type = NTRACE_SIDEBAND_TEXT_POKE,
	  .pid = -1,
	  .address = 0xffffffff80001000,
	  .time = 4700,
	  .old_length = 4,
	  .new_length = 4,
	  .old_bytes = (const uint8_t *)"abcd",
	  .new_bytes = (const uint8_t *)"efgh",
	  .name = "" },
	{ .type = NTRACE_SIDEBAND_ITRACE_START,
	  .pid = 101,
	  .tid = 102,
	  .id = 12,
	  .time = 4710,
	  .cpu = 1,
	  .name = "" },
	{ .type = NTRACE_SIDEBAND_AUX,
	  .pid = 101,
	  .tid = 102,
	  .offset = 0x123456789a,
	  .length = 0x1000,
	  .code = 2,
	  .id = 12,
	  .time = 4720,
	  .cpu = 1,
	  .name = "" },
	{ .type = NTRACE_SIDEBAND_LOST_SAMPLES, .count = 3, .time = 4800, .name = "" },
	{ .type = NTRACE_SIDEBAND_EXIT,
	  .pid = 101,
	  .tid = 101,
	  .other_pid = 100,
	  .other_tid = 100,
	  .time = 5000,
	  .name = "" },
};
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static struct ntrace_perf_writer *start(const char *path, uint64_t sample_type)
{
	static const uint64_t ids[2] = { 11, 12 };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = sample_type,
		.sample_period = 1,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.context_switch = 1,
		.ksymbol = 1,
		.use_clockid = 1,
		.clockid = 1,
		.disabled = 1,
	};
	struct ntrace_perf_writer *writer;

	if (ntrace_perf_writer_open(&writer, path))
		return NULL;
	ntrace_perf_writer_event(writer, &attr, ids, 2, "dummy:u");
	return writer;
}

static const uint64_t usual = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			      PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

static const uint8_t program_id[4] = { 0xde, 0xad, 0xbe, 0xef };

static int write_directory(const char *path)
{
	static const char *const argv[] = { "ntrace", "record", "--", "true" };
	struct ntrace_perf_features features = {
		.size = sizeof(features),
		.hostname = "board",
		.release = "6.12.0-riscv64",
		.version = "0.1",
		.arch = "riscv64",
		.cpus_available = 2,
		.cpus_online = 2,
		.argc = 4,
		.argv = argv,
		.clock_resolution_ns = 1,
	};
	struct ntrace_perf_writer *writer;
	char data[600];
	size_t i;
	int error = 0;

	mkdir(path, 0777);
	snprintf(data, sizeof(data), "%s/data", path);
	writer = start(data, usual);
	for (i = 0; i < SAMPLES; i++) {
		if (i == 6)
			error |= ntrace_perf_writer_finish_round(writer);
		error |= ntrace_perf_writer_sideband(writer, &samples[i]);
	}
	error |= ntrace_perf_writer_features(writer, &features);
	error |= ntrace_perf_writer_build_id(writer, false, "/usr/bin/program", program_id,
					     sizeof(program_id));
	error |= ntrace_perf_writer_close(writer);
	snprintf(data, sizeof(data), "%s/aux.0", path);
	run("echo trace > %s; mkdir %s/images; echo 'ntrace-recording 1' > %s/params", data, path,
	    path);
	return error;
}

/* One line of perf script must contain both strings. */
static void shows(const char *text, const char *first, const char *second)
{
	const char *line = text;
	bool found = false;

	while (line && !found) {
		const char *end = strchr(line, '\n');
		size_t size = end ? (size_t)(end - line) : strlen(line);
		const char *a = memmem(line, size, first, strlen(first));
		const char *b = memmem(line, size, second, strlen(second));

		found = a && b;
		line = end ? end + 1 : NULL;
	}
	ok(found, "perf shows %s with %s", first, second);
}

static void test_perf_reads(void)
{
	const char *path = in("recording"), *text;

	is_u64(write_directory(path), 0, "writes a directory");
	if (!have_perf()) {
		skip("perf script reads the library's file", "perf is not installed");
		return;
	}
	is_u64(run("perf script --show-mmap-events --show-task-events --show-switch-events "
		   "--show-lost-events --show-bpf-events --show-text-poke-events "
		   "-i %s > %s 2> %s",
		   path, in("script"), in("err")),
	       0, "perf script exits with 0");
	text = output("cat %s %s", in("script"), in("err"));
	shows(text, "PERF_RECORD_COMM: shell:100/100", "0.000001");
	shows(text, "PERF_RECORD_FORK(101:101):(100:100)", "0.000002");
	shows(text, "PERF_RECORD_COMM exec: program:101/101", "program");
	shows(text, "PERF_RECORD_MMAP2 101/101: [0x10000(0x5000) @ 0x1000",
	      "r-xp /usr/bin/program");
	shows(text, "<0102030405060708090a0b0c0d0e0f10111213ab>", "r-xp /usr/lib/with-id.so");
	shows(text, "PERF_RECORD_SWITCH_CPU_WIDE OUT          next pid/tid:     7/7", "[001]");
	shows(text, "PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:   101/101", "[001]");
	shows(text, "PERF_RECORD_SWITCH_CPU_WIDE OUT preempt", "101/101");
	shows(text, "PERF_RECORD_LOST lost 42", "0.000004");
	shows(text, "PERF_RECORD_KSYMBOL addr ffffffff02000000 len 256", "bpf_prog_1234_test");
	shows(text, "PERF_RECORD_TEXT_POKE ffffffff80001000", "old len 4 new len 4");
	shows(text, "PERF_RECORD_EXIT(101:101):(100:100)", "0.000005");
	is_str(output("grep -v -e Warning -e 'lost 100.00%%' -e '^$' %s", in("err")), "",
	       "and prints nothing on stderr except lost samples");
	is_u64(run("perf report -D -i %s > %s 2>&1", path, in("dump")), 0, "perf report -D");
	text = output("perf report --header-only -i %s 2>&1", path);
	shows(text, "# hostname :", "board");
	shows(text, "# os release :", "6.12.0-riscv64");
	shows(text, "# arch :", "riscv64");
	shows(text, "# nrcpus avail :", "2");
	shows(text, "# cmdline :", "ntrace record -- true");
	shows(text, "# event : name = dummy:u", "id = { 11, 12 }");
	shows(output("perf buildid-list -i %s 2>&1", path), "deadbeef", "/usr/bin/program");
}

/* ---- files of the library, read by the library ---- */

struct list {
	struct ntrace_sideband items[64];
	size_t count;
	uint64_t last_time;
	bool sorted;
};

static int add_to_list(void *data, const struct ntrace_sideband *sideband)
{
	struct list *list = data;

	if (list->count && sideband->time < list->last_time)
		list->sorted = false;
	list->last_time = sideband->time;
	if (list->count < 64)
		list->items[list->count] = *sideband;
	list->count++;
	return 0;
}

static bool same(const struct ntrace_sideband *a, const struct ntrace_sideband *b)
{
	bool pids = a->type != NTRACE_SIDEBAND_LOST && a->type != NTRACE_SIDEBAND_LOST_SAMPLES;

	return a->type == b->type && a->time == b->time && a->cpu == b->cpu &&
	       (!pids || a->pid == b->pid) && a->exec == b->exec && a->out == b->out &&
	       a->preempt == b->preempt && a->executable == b->executable &&
	       a->address == b->address && a->length == b->length && a->offset == b->offset &&
	       a->count == b->count && a->id == b->id && a->code == b->code &&
	       !strcmp(a->name, b->name) && a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, 20) && a->old_length == b->old_length &&
	       a->new_length == b->new_length &&
	       !memcmp(a->new_bytes ? a->new_bytes : a->build_id,
		       b->new_bytes ? b->new_bytes : b->build_id, a->new_length);
}

static void test_round_trip(void)
{
	struct ntrace_perf_counts counts;
	struct ntrace_perf_file *file;
	struct list list = { .sorted = true };
	size_t i;

	is_u64(ntrace_perf_file_open(&file, in("recording")), 0, "reads the directory");
	is_u64(ntrace_perf_file_sideband(file, add_to_list, &list, &counts), 0, "all records");
	is_u64(list.count, SAMPLES, "as many as written");
	for (i = 0; i < SAMPLES && i < list.count; i++) {
		struct ntrace_sideband sample = samples[i];

		/* A mapping without build-id has that of its path in the table of the file. */
		if (!strcmp(sample.name, "/usr/bin/program")) {
			sample.build_id_size = sizeof(program_id);
			memcpy(sample.build_id, program_id, sizeof(program_id));
		}
		ok(same(&sample, &list.items[i]), "record %zu (type %u) comes back", i,
		   samples[i].type);
	}
	is_u64(counts.others, 1, "finished round counted separately");
	ok(!counts.truncated && !counts.damaged, "no record truncated or damaged");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_ARCH), "riscv64", "architecture");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_HOSTNAME), "board", "host name");
	is_u64(ntrace_perf_file_attr(file, 0)->sample_type, usual, "sample_type");
	ok(!ntrace_perf_file_attr(file, 1), "no second event");
	ntrace_perf_file_close(file);
}

static void test_trailers(void)
{
	static const uint64_t bits[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					 PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
					 PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };
	unsigned int mask, i, wrong = 0;

	for (mask = 0; mask < 64; mask++) {
		struct ntrace_sideband sample = samples[5];
		struct ntrace_perf_writer *writer;
		struct ntrace_perf_file *file;
		struct list list = { .sorted = true };
		uint64_t type = PERF_SAMPLE_IP;

		for (i = 0; i < 6; i++)
			type |= mask >> i & 1 ? bits[i] : 0;
		writer = start(in("trailer"), type);
		ntrace_perf_writer_sideband(writer, &sample);
		ntrace_perf_writer_close(writer);
		if (ntrace_perf_file_open(&file, in("trailer")))
			continue;
		ntrace_perf_file_sideband(file, add_to_list, &list, NULL);
		wrong += list.count != 1 ||
			 list.items[0].time != (type & PERF_SAMPLE_TIME ? 4000u : 0u) ||
			 list.items[0].pid != (type & PERF_SAMPLE_TID ? 101 : -1) ||
			 list.items[0].cpu != (type & PERF_SAMPLE_CPU ? 1u : UINT32_MAX) ||
			 list.items[0].other_pid != 7;
		ntrace_perf_file_close(file);
	}
	is_u64(wrong, 0, "every set of trailer fields is read as written");
}

static void test_sorting(void)
{
	struct ntrace_perf_writer *writer = start(in("unsorted"), usual);
	struct list list = { .sorted = true };
	struct ntrace_perf_file *file;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		struct ntrace_sideband sample = samples[5];

		sample.time = i * 7919 % 50 + 1;
		ntrace_perf_writer_sideband(writer, &sample);
	}
	ntrace_perf_writer_close(writer);
	ntrace_perf_file_open(&file, in("unsorted"));
	ntrace_perf_file_sideband(file, add_to_list, &list, NULL);
	ok(list.sorted && list.count == 50, "records are sorted by time");
	ntrace_perf_file_close(file);
}

/* ---- files of perf, read by the library ---- */

struct tally {
	unsigned int mmap2, comm, exec, fork, exit, switch_out, switch_in, named;
};

static int tally_record(void *data, const struct ntrace_sideband *sideband)
{
	struct tally *tally = data;

	tally->mmap2 += sideband->type == NTRACE_SIDEBAND_MMAP2;
	tally->comm += sideband->type == NTRACE_SIDEBAND_COMM;
	tally->exec += sideband->type == NTRACE_SIDEBAND_COMM && sideband->exec;
	tally->fork += sideband->type == NTRACE_SIDEBAND_FORK;
	tally->exit += sideband->type == NTRACE_SIDEBAND_EXIT;
	if (sideband->type == NTRACE_SIDEBAND_SWITCH_CPU_WIDE ||
	    sideband->type == NTRACE_SIDEBAND_SWITCH) {
		tally->switch_out += sideband->out;
		tally->switch_in += !sideband->out;
	}
	tally->named += strstr(sideband->name, "libc.so") != NULL;
	return 0;
}

static unsigned int count_lines(const char *file, const char *pattern)
{
	return (unsigned int)atoi(output("grep -cE '%s' %s", pattern, in(file)));
}

static void read_perf_file(const char *name, const char *options)
{
	struct tally tally = { 0 };
	struct ntrace_perf_counts counts;
	struct ntrace_perf_file *file;

	if (run("perf record -q %s -o %s -- sh -c 'true; ls / | wc -l; sleep 0.01' > /dev/null "
		"2>&1",
		options, in(name))) {
		skip(name, "perf record does not work here");
		return;
	}
	run("perf script --show-mmap-events --show-task-events --show-switch-events -i %s "
	    "2> /dev/null > %s",
	    in(name), in("script"));
	if (!ok(!ntrace_perf_file_open(&file, in(name)), "opens the file of perf record %s",
		options))
		return;
	ntrace_perf_file_sideband(file, tally_record, &tally, &counts);
	ok(tally.mmap2 && tally.mmap2 == count_lines("script", "RECORD_MMAP2"), "%s: %u MMAP2",
	   name, tally.mmap2);
	ok(tally.comm && tally.comm == count_lines("script", "RECORD_COMM"), "%s: %u COMM", name,
	   tally.comm);
	ok(tally.exec && tally.exec == count_lines("script", "RECORD_COMM exec"), "%s: %u exec",
	   name, tally.exec);
	is_u64(tally.fork, count_lines("script", "RECORD_FORK"), "%s: FORK", name);
	is_u64(tally.exit, count_lines("script", "RECORD_EXIT"), "%s: EXIT", name);
	is_u64(tally.switch_out, count_lines("script", "SWITCH.* OUT"), "%s: OUT", name);
	is_u64(tally.switch_in, count_lines("script", "SWITCH.* IN"), "%s: IN", name);
	ok(tally.switch_out > 0, "%s: has switches", name);
	ok(tally.named > 0, "%s: names libc", name);
	ok(!counts.damaged && !counts.truncated, "%s: whole", name);
	ntrace_perf_file_close(file);
}

static void test_reads_perf(void)
{
	if (!have_perf()) {
		skip("reading files of perf record", "perf is not installed");
		return;
	}
	read_perf_file("one", "-e dummy:u --switch-events");
	read_perf_file("two", "-e dummy:u -e cpu-clock:u --switch-events --buildid-mmap");
	read_perf_file("all", "-a -e dummy:u --switch-events");
	if (!run("perf record -q -e dummy:u --switch-events -o - -- true > %s 2> /dev/null",
		 in("pipe"))) {
		struct tally tally = { 0 };
		struct ntrace_perf_file *file;

		run("perf script --show-mmap-events -i - < %s > %s 2> /dev/null", in("pipe"),
		    in("script"));
		is_u64(ntrace_perf_file_open(&file, in("pipe")), 0, "opens a pipe's output");
		ntrace_perf_file_sideband(file, tally_record, &tally, NULL);
		ok(tally.mmap2 && tally.mmap2 == count_lines("script", "RECORD_MMAP2"),
		   "pipe: %u MMAP2", tally.mmap2);
		ntrace_perf_file_close(file);
	}
}

static void test_damage(void)
{
	struct ntrace_perf_counts counts;
	struct ntrace_perf_file *file;
	struct list list = { .sorted = true };

	is_u64(ntrace_perf_file_open(&file, "/etc/passwd"), NTRACE_ERR_FORMAT, "no perf.data");
	is_u64(ntrace_perf_file_open(&file, in("nothing")), NTRACE_ERR_IO, "no file");
	is_u64(ntrace_perf_file_open(&file, in("recording/images")), NTRACE_ERR_IO,
	       "a directory without data");
	/* header, two ids, one attr with the place of its ids; each record has 48 bytes */
	run("head -c %d %s > %s", 104 + 16 + 128 + 49 * 48 + 20, in("unsorted"), in("cut"));
	is_u64(ntrace_perf_file_open(&file, in("cut")), 0, "a truncated file opens");
	ntrace_perf_file_sideband(file, add_to_list, &list, &counts);
	ok(counts.truncated && list.count == 49, "and has all records but the last");
	ntrace_perf_file_close(file);
}

/* perf record --threads: files data.N with records alone, in the order of time with those of "data". */
static void test_threads(void)
{
	struct ntrace_perf_counts counts = { 0 };
	struct ntrace_perf_file *file;
	struct list list = { .sorted = true };

	run("cd %s && mkdir threads && cp unsorted threads/data && : >threads/data.1 && "
	    "tail -c +%d unsorted | head -c %d >threads/data.0 && cp threads/data.0 threads/data.2",
	    directory, 104 + 16 + 128 + 1, 3 * 48);
	is_u64(ntrace_perf_file_open(&file, in("threads")), 0, "a directory with files of threads");
	ntrace_perf_file_sideband(file, add_to_list, &list, &counts);
	is_u64(list.count, 50 + 3 + 3, "the records of all files");
	ok(list.sorted, "are sorted by time");
	ok(!counts.truncated, "all files are whole");
	ntrace_perf_file_close(file);
	list.count = 0;
	run("head -c %d %s >%s", 2 * 48 + 20, in("threads/data.2"), in("threads/data.0"));
	is_u64(ntrace_perf_file_open(&file, in("threads")), 0, "one of them is cut off");
	ntrace_perf_file_sideband(file, add_to_list, &list, &counts);
	is_u64(list.count, 50 + 2 + 3, "the records of the others are there");
	ok(counts.truncated, "that something is missing is known");
	ntrace_perf_file_close(file);
}

static void test_running_tasks(void)
{
	struct ntrace_perf_writer *writer = start(in("tasks"), usual);
	struct ntrace_perf_file *file;
	struct tally tally = { 0 };

	is_u64(ntrace_perf_write_tasks(writer, NULL), 0, "records for running tasks");
	ntrace_perf_writer_close(writer);
	ntrace_perf_file_open(&file, in("tasks"));
	ntrace_perf_file_sideband(file, tally_record, &tally, NULL);
	ntrace_perf_file_close(file);
	ok(tally.comm > 1 && tally.named > 0, "%u names, libc mapped %u times", tally.comm,
	   tally.named);
	if (have_perf())
		ok(strstr(output("perf script --show-mmap-events -i %s 2>&1 | grep -a test_perf",
				 in("tasks")),
			  "r-xp"),
		   "perf shows this program's mapping");
}

static struct ntrace_perf_record kept;

static int keep_record(void *data, const struct ntrace_perf_record *record)
{
	(void)data;
	kept = *record;
	return 0;
}

/* A sample with every field that can precede its branch stack. */
static void test_branch_stack(void)
{
	static const uint64_t words[] = {
		0,
		7,
		0x10400,
		100 | UINT64_C(101) << 32,
		5000,
		0,
		20011, /* cpu, period */
		2,
		99,
		1000,
		7,
		1001,
		8, /* two counters of a group */
		1,
		0x10400, /* call chain */
		12 | UINT64_C(0xabcd) << 32,
		0x1234, /* raw: 12 bytes */
		3,
		UINT64_MAX, /* branches, hw_idx */
		0x10410,
		0x10400,
		2,
		0x10388,
		0x10408,
		2,
		0x10300,
		0x10380,
	};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 20011,
		.sample_type = usual | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY |
				      PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_id_all = 1,
	};
	static const uint64_t id = 7;
	struct ntrace_perf_writer *writer;
	struct ntrace_perf_sample sample;
	struct ntrace_perf_file *file;
	uint64_t from = 0, to = 0, bytes[28] = { 0 };
	unsigned int size, wrong = 0;
	uint32_t raw[3] = { 0 };

	memcpy(bytes, words, sizeof(words));
	bytes[0] = 9 | UINT64_C(2) << 32 | (uint64_t)sizeof(bytes) << 48;
	ntrace_perf_writer_open(&writer, in("branches"));
	ntrace_perf_writer_event(writer, &attr, &id, 1, "branches:u");
	is_u64(ntrace_perf_writer_records(writer, bytes, sizeof(bytes)), 0, "a sample");
	ntrace_perf_writer_close(writer);
	is_u64(ntrace_perf_file_open(&file, in("branches")), 0, "is read");
	ntrace_perf_file_records(file, keep_record, NULL);
	is_u64(ntrace_perf_file_sample(file, &kept, &sample), 0, "taken apart");
	ok(sample.address == 0x10400 && sample.pid == 100 && sample.tid == 101 &&
		   sample.time == 5000 && !sample.kernel && sample.branch_count == 3,
	   "and right");
	if (sample.raw_size == sizeof(raw))
		memcpy(raw, sample.raw, sizeof(raw));
	ok(raw[0] == 0xabcd && raw[1] == 0x1234 && !raw[2], "with its raw data");
	ntrace_perf_sample_branch(&sample, 0, &from, &to);
	ok(from == 0x10410 && to == 0x10400, "the newest transfer");
	ntrace_perf_sample_branch(&sample, 2, &from, &to);
	ok(from == 0x10300 && to == 0x10380, "the oldest");
	ntrace_perf_sample_branch(&sample, 3, &from, &to);
	ok(!from && !to, "and no transfer after it");
	if (have_perf())
		shows(output("perf script -i %s -F ip,brstack 2>&1", in("branches")),
		      "0x10410/0x10400/", "0x10300/0x10380/");
	for (size = sizeof(struct perf_event_header); size < sizeof(bytes); size++) {
		struct ntrace_perf_record cut = kept;

		cut.size = (uint16_t)size;
		wrong += ntrace_perf_file_sample(file, &cut, &sample) != NTRACE_ERR_TRUNCATED ||
			 sample.branch_count ||
			 (sample.raw && sample.raw + sample.raw_size > cut.data + size);
	}
	is_u64(wrong, 0, "a sample truncated anywhere is refused");
	ntrace_perf_file_close(file);
}

static void test_misuse(void)
{
	struct ntrace_sideband bad = { .type = 99, .name = "" };
	struct ntrace_perf_writer *writer = start(in("misuse"), usual);
	struct perf_event_attr attr = { .size = PERF_ATTR_SIZE_VER5 };
	static const uint8_t cut[12] = { 3, 0, 0, 0, 0, 0, 16, 0 };

	is_u64(ntrace_perf_writer_sideband(writer, &bad), NTRACE_ERR_INVALID, "unknown type");
	is_u64(ntrace_perf_writer_records(writer, cut, sizeof(cut)), NTRACE_ERR_INVALID,
	       "half a record");
	is_u64(ntrace_perf_writer_records(writer, "", 0), 0, "no record");
	is_u64(ntrace_perf_writer_event(writer, &attr, NULL, 0, NULL), NTRACE_ERR_INVALID,
	       "an event after records");
	is_u64(ntrace_perf_writer_close(writer), 0, "closes");
	is_u64(ntrace_perf_writer_open(&writer, "/nowhere/data"), NTRACE_ERR_IO, "no directory");
	if (!access("/dev/full", W_OK)) {
		writer = start("/dev/full", usual);
		ntrace_perf_writer_sideband(writer, &samples[0]);
		is_u64(ntrace_perf_writer_close(writer), NTRACE_ERR_IO, "a full disk is reported");
	}
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_perf_reads();
	test_round_trip();
	test_trailers();
	test_sorting();
	test_reads_perf();
	test_damage();
	test_threads();
	test_running_tasks();
	test_branch_stack();
	test_misuse();
	scratch_remove();
	return done_testing();
}
