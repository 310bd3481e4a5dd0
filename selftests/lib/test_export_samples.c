// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of samples, from samples made by hand: text in the format of perf script, and perf.data by
 * the layout in tools/perf/Documentation/perf.data-file-format.txt and linux/perf_event.h, whose
 * numbers are repeated here. selftests/consumers/export.sh checks such files with perf and other
 * tools.
 */
#include <signal.h>
#include <sys/resource.h>

#include <linux/perf_event.h>

#include <ntrace/encode.h>
#include <ntrace/export.h>

#include "image/object.h"
#include "session/session.h"

#include "export_file.h"
#include "scratch.h"

#define BIAS UINT64_C(0x3f00000000)
#define NOWHERE UINT64_C(0x77)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct ntrace_object *program, *other;
static struct ntrace_space *space;

static void make_objects(void)
{
	static const struct segment segments[] = {
		{ .address = 0x1000, .offset = 0x0, .size = 0x100 },
		{ .address = 0x20000, .offset = 0x3000, .size = 0x80, .executable = true },
		{ .address = 0x12340, .offset = 0x1340, .size = 0x100, .executable = true },
		{ .address = 0x13000, .offset = 0x3100, .size = 0x10, .executable = true },
	};
	static const uint8_t code[0x4000];

	ntrace_object_from_bytes(&program, "/bin/dir/my \"prog\" \xc3\xa9", code, sizeof(code), 0);
	program->segments = realloc(program->segments, sizeof(segments));
	memcpy(program->segments, segments, sizeof(segments));
	program->segment_count = COUNT(segments);
	ntrace_object_from_bytes(&other, "other", code, 0x100, 0x12340);
	ntrace_space_new(&space, "test", NULL);
	ntrace_space_map_linked(space, program, BIAS);
	ntrace_space_map_linked(space, other, 2 * BIAS);
}

/* The whole file, 0-terminated; valid until the next call. */
static const char *read_file(const char *path, size_t *size)
{
	static char bytes[1 << 18];
	FILE *file = fopen(path, "r");

	memset(bytes, 0, sizeof(bytes));
	*size = file ? fread(bytes, 1, sizeof(bytes) - 1, file) : 0;
	if (file)
		fclose(file);
	return bytes;
}

static int put_sample(struct ntrace_export_samples *samples, uint64_t address,
		      const struct ntrace_sample_branch *branches, size_t count)
{
	const struct ntrace_flow_event flow = { .space = space };
	const struct ntrace_session_event event = { .flow = &flow,
						    .cpu = 5,
						    .pid = 100,
						    .tid = 107,
						    .comm = "program",
						    .privilege = NTRACE_PRIV_U,
						    .sideband_ns = 123456789012345 };
	const struct ntrace_sample sample = { address, &event, branches, count };

	return ntrace_export_sample(samples, &sample);
}

/* ---- perf script ---- */

static FILE *script; /* of the last open_perfscript() */

/* In place of a file that the test before has left. */
static int open_perfscript(struct ntrace_export_samples **samples, const char *path,
			   const struct ntrace_export_samples_options *options)
{
	if (script)
		fclose(script);
	script = fopen(path, "w");
	return ntrace_export_perfscript_open(samples, script, options);
}

static void test_perfscript(void)
{
	static const struct ntrace_sample_branch two[] = {
		{ .from = BIAS + 0x12360, .to = BIAS + 0x12344 },
		{ .from = NOWHERE, .to = BIAS + 0x2007f },
	};
	static const struct ntrace_sample_branch away[] = {
		{ .from = NOWHERE, .to = 2 * BIAS + 0x12344 }, /* an address of the other program */
	};
	static const struct ntrace_sample_branch out[] = {
		{ .from = BIAS + 0x12360, .to = NOWHERE },
	};
	static const struct ntrace_sample_branch into[] = {
		{ .from = NOWHERE, .to = BIAS + 0x12340 },
	};
	const struct ntrace_export_samples_options options = { .size = sizeof(options),
							       .object = program };
	struct ntrace_export_samples *samples;
	struct ntrace_export_counts counts = { 0 };
	size_t size;

	if (!ok(!open_perfscript(&samples, in("script"), &options), "perfscript: opened"))
		return;
	put_sample(samples, BIAS + 0x12350, two, 2);
	put_sample(samples, NOWHERE, away, 1);
	put_sample(samples, 2 * BIAS + 0x12350, NULL, 0);
	put_sample(samples, NOWHERE, out, 1);
	put_sample(samples, NOWHERE, into, 1);
	put_sample(samples, BIAS + 0x20000, NULL, 0);
	put_sample(samples, BIAS + 0x20080, NULL, 0); /* the byte after the program */
	is_u64(ntrace_export_branch(samples, two, NULL), 0,
	       "perfscript: single branches are refused");
	is_u64(ntrace_export_samples_close(samples, &counts), 0, "perfscript: closed");
	is_str(read_file(in("script"), &size),
	       /* From the page of the lowest code to the end of the highest code. */
	       "PERF_RECORD_MMAP2 1/1: [0x12000(0xe080) @ 0x1000 00:00 0 0]: r-xp my \"prog\" "
	       "\xc3\xa9\n"
	       " 12350 0x12360/0x12344/-/-/-/0 0x1/0x2007f/-/-/-/0 \n"
	       " 1 0x12360/0x1/-/-/-/0 \n"
	       " 1 0x1/0x12340/-/-/-/0 \n"
	       " 20000 \n",
	       "perfscript: samples that involve the program");
	is_u64(counts.traces, 4, "perfscript: their number");
	is_u64(counts.executed, 4, "perfscript: the number of transfers");
}

static void test_perfscript_edges(void)
{
	struct ntrace_export_samples_options options = { .size = sizeof(options), .object = other };
	struct ntrace_export_samples *samples;
	struct rlimit old, less;
	static char name[1 << 16];
	struct segment two[2] = { 0 }, *own;
	struct ntrace_object *object;
	size_t size;
	unsigned int i;
	int error = 0;

	two[1] = (struct segment){ .address = -UINT64_C(0x12000), .size = 32, .executable = true };
	open_perfscript(&samples, in("script"), &options);
	is_u64(ntrace_export_samples_close(samples, NULL), 0, "perfscript: nothing");
	is_str(read_file(in("script"), &size),
	       "PERF_RECORD_MMAP2 1/1: [0x12000(0x440) @ 0x0 00:00 0 0]: r-xp other\n",
	       "perfscript: a mapping, and no samples");
	ntrace_object_from_bytes(&object, "last", name, 32, UINT64_MAX - 31);
	own = object->segments;
	two[0] = *own;
	object->segments = two;
	object->segment_count = 2;
	options.object = object;
	open_perfscript(&samples, in("script"), &options);
	is_u64(ntrace_export_samples_close(samples, NULL), 0, "perfscript: the last addresses");
	is_str(read_file(in("script"), &size),
	       "PERF_RECORD_MMAP2 1/1: [0xfffffffffffee000(0x12000) @ 0x0 00:00 0 0]: r-xp last\n",
	       "perfscript: a mapping that ends with the last byte");
	object->segments = own;
	ntrace_object_put(object);
	options.object = other;
	other->segments[0].executable = false;
	open_perfscript(&samples, in("script"), &options);
	is_u64(ntrace_export_samples_close(samples, NULL), 0, "perfscript: no executable segment");
	is_str(read_file(in("script"), &size), "", "perfscript: not even a mapping");
	other->segments[0].executable = true;

	is_u64(open_perfscript(&samples, in("none/script"), &options), NTRACE_ERR_INVALID,
	       "perfscript: no file");
	is_u64(open_perfscript(&samples, "/dev/full", &options), 0,
	       "perfscript: a full device is detected while writing");
	for (i = 0; i < 10000 && !error; i++)
		error = put_sample(samples, 2 * BIAS + 0x12350, NULL, 0);
	is_u64(error, NTRACE_ERR_IO, "perfscript: at the latest when the buffer is full");
	is_u64(errno, ENOSPC, "perfscript: which errno says");
	errno = 0;
	is_u64(ntrace_export_samples_close(samples, NULL), NTRACE_ERR_IO,
	       "perfscript: close reports it too");
	is_u64(errno, ENOSPC, "perfscript: with errno of the write that failed");
	open_perfscript(&samples, "/dev/full", &options);
	is_u64(ntrace_export_samples_close(samples, NULL), NTRACE_ERR_IO,
	       "perfscript: or at close, if the buffer never fills");
	/* The end of the mapping's line fits again. */
	memset(name, 'x', sizeof(name) - 1);
	ntrace_object_from_bytes(&object, name, &error, sizeof(error), 0x1000);
	options.object = object;
	getrlimit(RLIMIT_FSIZE, &old);
	less = old;
	less.rlim_cur = 4096;
	setrlimit(RLIMIT_FSIZE, &less);
	open_perfscript(&samples, in("script"), &options);
	setrlimit(RLIMIT_FSIZE, &old);
	is_u64(ntrace_export_samples_close(samples, NULL), NTRACE_ERR_IO,
	       "perfscript: a device that was full only while the mapping was written");
	ntrace_object_put(object);
	options.object = NULL;
	is_u64(open_perfscript(&samples, in("script"), &options), NTRACE_ERR_INVALID,
	       "perfscript: without a program");
	is_u64(ntrace_export_samples_close(NULL, NULL), 0, "closing NULL is harmless");
}

/* ---- perf.data ---- */

static struct ntrace_session session;
static struct ntrace_recording recording;

/* A recording with one record of each kind. */
static void make_session(void)
{
	static const unsigned int types[] = {
		NTRACE_SIDEBAND_MMAP,
		NTRACE_SIDEBAND_LOST,
		NTRACE_SIDEBAND_COMM,
		NTRACE_SIDEBAND_EXIT,
		NTRACE_SIDEBAND_FORK,
		NTRACE_SIDEBAND_MMAP2,
		NTRACE_SIDEBAND_AUX,
		NTRACE_SIDEBAND_SWITCH,
		NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
		NTRACE_SIDEBAND_ITRACE_START,
		NTRACE_SIDEBAND_KSYMBOL,
	};
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
	};
	const uint64_t id = 99;
	struct ntrace_perf_writer *writer;
	unsigned int i;

	ntrace_perf_writer_open(&writer, in("data"));
	ntrace_perf_writer_event(writer, &attr, &id, 1, "dummy:u");
	for (i = 0; i < COUNT(types); i++) {
		struct ntrace_sideband record = { .type = types[i],
						  .pid = 100,
						  .tid = 107,
						  .cpu = 3,
						  .time = 1000 + types[i],
						  .executable = true,
						  .address = 0x1000,
						  .length = 0x2000,
						  .name = "name" };

		ntrace_perf_writer_sideband(writer, &record);
	}
	ntrace_perf_writer_close(writer);
	recording.release = "6.12";
	recording.machine = "";
	recording.command = "sh -c \"a\\b\" \xc3\xa9";
	memset(&session, 0, sizeof(session));
	session.recording = &recording;
	if (machine_open(&session.machine, in("data")))
		ok(false, "reads the sideband");
}

static const char *file;
static size_t file_size;

/* A little-endian value; 0 outside of the file. */
static uint64_t number(uint64_t at, size_t size)
{
	uint64_t value = 0;

	if (at <= file_size && size <= file_size - at)
		memcpy(&value, file + at, size);
	return value;
}

/* Header: magic, its size, size of an attr, sections of attrs, data, types; bits of features. */
enum { ATTR_SIZE = 16, ATTRS = 24, DATA = 40, FEATURES = 72, HEADER = 104 };

/* The section of a feature: after the data, in the order of their bits. */
static uint64_t feature(unsigned int bit, uint64_t *size)
{
	uint64_t at = number(DATA, 8) + number(DATA + 8, 8), bits = number(FEATURES, 8);
	unsigned int i;

	*size = 0;
	if (!(bits >> bit & 1))
		return 0;
	for (i = 0; i < bit; i++)
		at += bits >> i & 1 ? 16 : 0;
	*size = number(at + 8, 8);
	return number(at, 8);
}

/* The string of a feature: length with padding, then the text. */
static const char *feature_text(unsigned int bit, unsigned int skip)
{
	uint64_t size, at = feature(bit, &size);

	return at ? file + at + skip + 4 : "";
}

/* Types of the records in the data section, in order. */
static const char *record_types(uint64_t *last)
{
	static char text[256];
	uint64_t at = number(DATA, 8), end = at + number(DATA + 8, 8), size;

	for (text[0] = '\0'; at < end && (size = number(at + 6, 2)) >= 8; at += size) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u",
			 text[0] ? " " : "", (unsigned int)number(at, 4));
		*last = at;
	}
	ok(at == end, "perf.data: records fill the data section");
	return text;
}

static const struct ntrace_sample_branch classes[] = {
	{ 0x10, 0x20, NTRACE_INSN_BRANCH, false, { 0 } },
	{ 0x11, 0x21, NTRACE_INSN_JUMP, false, { 0 } },
	{ 0x12, 0x22, NTRACE_INSN_INDIRECT_JUMP, false, { 0 } },
	{ 0x13, 0x23, NTRACE_INSN_CALL, false, { 0 } },
	{ 0x14, 0x24, NTRACE_INSN_INDIRECT_CALL, false, { 0 } },
	{ 0x15, 0x25, NTRACE_INSN_RETURN, false, { 0 } },
	{ 0x16, 0x26, NTRACE_INSN_TRAP_RETURN, false, { 0 } },
	{ 0x17, UINT64_MAX, NTRACE_INSN_TRAP, false, { 0 } },
	{ UINT64_MAX, 0x28, NTRACE_INSN_TRAP, true, { 0 } },
	{ 0x19, 0x29, NTRACE_INSN_PLAIN, false, { 0 } },
	{ 0x1a, 0x2a, NTRACE_INSN_OTHER_JUMP, false, { 0 } },
	{ 0x1b, 0x2b, NTRACE_INSN_OTHER_INDIRECT_JUMP, false, { 0 } },
	{ 0x1c, 0x2c, NTRACE_INSN_COROUTINE_SWAP, false, { 0 } },
};
/* PERF_BR_...: COND 1, UNCOND 2, IND 3, CALL 4, IND_CALL 5, RET 6, ERET 11, IRQ 12. */
static const unsigned int branch_types[] = { 1, 2, 3, 4, 5, 6, 11, 12, 0, 0, 2, 3, 5 };

static void test_stacks(void)
{
	const struct ntrace_export_samples_options options = {
		.size = sizeof(options), .session = &session, .period = 1000003, .user = true
	};
	struct ntrace_export_samples *samples;
	struct ntrace_export_counts counts;
	uint64_t at = 0, size, attr, wrong = 0, i;

	if (!ok(!ntrace_export_perf_data_open(&samples, in("perf.data"), &options),
		"perf.data: opened"))
		return;
	is_u64(put_sample(samples, UINT64_C(0xfffffffffffffff0), classes, COUNT(classes)), 0,
	       "perf.data: a sample");
	is_u64(ntrace_export_branch(samples, classes, NULL), 0, "perf.data: no single branches");
	is_u64(ntrace_export_samples_close(samples, &counts), 0, "perf.data: closed");
	ok(counts.traces == 1 && counts.executed == COUNT(classes), "perf.data: counts");
	file = read_file(in("perf.data"), &file_size);
	ok(!memcmp(file, "PERFILE2", 8), "perf.data: magic");
	is_u64(number(8, 8), HEADER, "perf.data: size of the header");
	is_u64(number(ATTR_SIZE, 8), 112 + 16, "perf.data: an attr, and where its ids are");
	is_u64(number(ATTRS + 8, 8), 112 + 16, "perf.data: one event");
	is_hex(number(FEATURES, 8), 1u << 4 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 15 | 1u << 23,
	       "perf.data: release, machine, command, events, branch stacks, clock");
	attr = number(ATTRS, 8);
	is_u64(number(attr, 4), 0, "perf.data: a hardware event");
	is_u64(number(attr + 4, 4), 112, "perf.data: an attr of its size");
	is_u64(number(attr + 8, 8), 1, "perf.data: instructions");
	is_u64(number(attr + 16, 8), 1000003, "perf.data: the period");
	is_hex(number(attr + 24, 8),
	       1u << 16 | 1u << 0 | 1u << 1 | 1u << 2 | 1u << 7 | 1u << 8 | 1u << 11,
	       "perf.data: IDENTIFIER, IP, TID, TIME, CPU, PERIOD, BRANCH_STACK");
	is_hex(number(attr + 40, 8),
	       1u << 5 | 1u << 6 | 1u << 8 | 1u << 9 | 1u << 13 | 1u << 18 | 1u << 23 | 1u << 24 |
		       1u << 25,
	       "perf.data: exclude_kernel, exclude_hv, mmap, comm, task, sample_id_all, mmap2, "
	       "comm_exec, use_clockid");
	is_hex(number(attr + 72, 8), 1u << 0 | 1u << 3 | 1u << 16,
	       "perf.data: branches of USER, ANY, TYPE_SAVE");
	is_u64(number(attr + 92, 4), 1, "perf.data: CLOCK_MONOTONIC");
	is_u64(number(number(attr + 112, 8), 8), 1, "perf.data: its id");
	is_u64(number(attr + 120, 8), 8, "perf.data: one id");
	is_str(feature_text(4, 0), "6.12", "perf.data: release");
	is_str(feature_text(6, 0), "riscv64", "perf.data: machine, if the recording has none");
	is_str(feature_text(11, 4), "sh -c \"a\\b\" \xc3\xa9", "perf.data: command");
	is_str(feature_text(12, 8 + 112 + 4), "instructions:u", "perf.data: name of the event");
	is_u64(number(feature(23, &size), 8), 1, "perf.data: a clock of 1 ns");
	is_str(record_types(&at), "1 3 7 10 17 9",
	       "perf.data: mappings, names, new tasks and symbols of the recording, and the "
	       "sample");
	is_u64(number(at + 4, 2), 2, "sample: in user space");
	is_u64(number(at + 6, 2), 8 + 7 * 8 + 24 * COUNT(classes), "sample: size");
	is_u64(number(at + 8, 8), 1, "sample: id");
	is_hex(number(at + 16, 8), UINT64_C(0xfffffffffffffff0), "sample: address");
	is_u64(number(at + 24, 4), 100, "sample: process");
	is_u64(number(at + 28, 4), 107, "sample: thread");
	is_u64(number(at + 32, 8), 123456789012345, "sample: time");
	is_u64(number(at + 40, 8), 5, "sample: CPU");
	is_u64(number(at + 48, 8), 1000003, "sample: period");
	is_u64(number(at + 56, 8), COUNT(classes), "sample: branches");
	for (i = 0; i < COUNT(classes); i++) {
		uint64_t entry = at + 64 + 24 * i;

		wrong += number(entry, 8) != classes[i].from ||
			 number(entry + 8, 8) != classes[i].to;
		/* Bits 0 to 3: mispredicted, predicted, transactions; 4 to 19: cycles. */
		is_hex(number(entry + 16, 8), (uint64_t)branch_types[i] << 20, "branch %u: flags",
		       (unsigned int)i);
	}
	is_u64(wrong, 0, "sample: both ends of each branch");
}

static void test_every_branch(void)
{
	const struct ntrace_export_samples_options options = {
		.size = sizeof(options), .session = &session, .period = 7, .every_branch = true
	};
	const struct ntrace_session_event event = {
		.cpu = 2, .pid = -1, .tid = -1, .privilege = NTRACE_PRIV_S, .sideband_ns = 5
	};
	struct ntrace_export_samples *samples;
	struct ntrace_export_counts counts;
	uint64_t at = 0, size, attr;

	recording.release = "";
	recording.machine = "rv";
	recording.command = "";
	if (!ok(!ntrace_export_perf_data_open(&samples, in("perf.data"), &options),
		"branches: opened"))
		return;
	is_u64(ntrace_export_branch(samples, &classes[0], &event), 0, "branches: one");
	is_u64(ntrace_export_samples_close(samples, &counts), 0, "branches: closed");
	ok(counts.traces == 1 && counts.executed == 1, "branches: counts");
	file = read_file(in("perf.data"), &file_size);
	is_hex(number(FEATURES, 8), 1u << 6 | 1u << 12 | 1u << 23,
	       "branches: machine, events, clock");
	attr = number(ATTRS, 8);
	is_u64(number(attr + 8, 8), 4, "branches: the event branches");
	is_u64(number(attr + 16, 8), 1, "branches: every branch");
	is_hex(number(attr + 24, 8),
	       1u << 16 | 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 7 | 1u << 8,
	       "branches: IDENTIFIER, IP, TID, TIME, ADDR, CPU, PERIOD");
	is_hex(number(attr + 40, 8) >> 5 & 1, 0, "branches: also those of the kernel");
	is_hex(number(attr + 72, 8), 0, "branches: no branch stacks");
	is_str(feature_text(6, 0), "rv", "branches: machine");
	is_str(feature_text(12, 8 + 112 + 4), "branches", "branches: name of the event");
	is_str(record_types(&at), "1 3 7 10 17 9", "branches: records");
	is_u64(number(at + 4, 2), 1, "branch: in the kernel");
	is_u64(number(at + 6, 2), 8 + 7 * 8, "branch: size");
	is_u64(number(at + 8, 8), 1, "branch: id");
	is_hex(number(at + 16, 8), 0x10, "branch: from");
	is_hex(number(at + 24, 8), UINT64_MAX, "branch: of an unknown thread");
	is_u64(number(at + 32, 8), 5, "branch: time");
	is_hex(number(at + 40, 8), 0x20, "branch: to");
	is_u64(number(at + 48, 8), 2, "branch: CPU");
	is_u64(number(at + 56, 8), 1, "branch: period");
	ok(!feature(11, &size) && !feature(4, &size), "branches: the command is unknown");
}

static void test_perf_data_edges(void)
{
	static struct ntrace_sample_branch most[NTRACE_SAMPLE_DEPTH_MAX];
	struct ntrace_export_samples_options options = { .size = sizeof(options),
							 .session = &session };
	struct ntrace_export_samples *samples;
	uint64_t at = 0;

	ntrace_export_perf_data_open(&samples, in("perf.data"), &options);
	put_sample(samples, 1, most, NTRACE_SAMPLE_DEPTH_MAX);
	put_sample(samples, 2, NULL, 0);
	is_u64(ntrace_export_samples_close(samples, NULL), 0, "the deepest stack, and none");
	file = read_file(in("perf.data"), &file_size);
	is_str(record_types(&at), "1 3 7 10 17 9 9", "both samples are present");
	is_u64(number(at + 56, 8), 0, "the last sample has no branches");
	is_hex(number(number(ATTRS, 8) + 72, 8), 1u << 0 | 1u << 1 | 1u << 3 | 1u << 16,
	       "branches of USER, KERNEL, ANY, TYPE_SAVE");

	is_u64(ntrace_export_perf_data_open(&samples, in("none/perf.data"), &options),
	       NTRACE_ERR_IO, "perf.data: no directory");
	is_u64(errno, ENOENT, "perf.data: which errno says");
	is_u64(ntrace_export_perf_data_open(&samples, "/dev/full", &options), NTRACE_ERR_IO,
	       "perf.data: a full device");
	is_u64(errno, ENOSPC, "perf.data: which errno says");
	options.session = NULL;
	is_u64(ntrace_export_perf_data_open(&samples, in("perf.data"), &options),
	       NTRACE_ERR_INVALID, "perf.data: without a session");
}

typedef int open_fn(struct ntrace_export_samples **samples, const char *path,
		    const struct ntrace_export_samples_options *options);

/* The first error of all calls if a file may have @limit bytes; errno is kept. */
static int write_to_limit(open_fn *open, uint64_t limit)
{
	static struct ntrace_sample_branch branches[NTRACE_SAMPLE_DEPTH_MAX];
	const struct ntrace_export_samples_options options = { .size = sizeof(options),
							       .session = &session,
							       .object = program };
	struct ntrace_export_samples *samples;
	struct rlimit old, less;
	int error, later = 0, saved;
	unsigned int i;

	getrlimit(RLIMIT_FSIZE, &old);
	less = old;
	less.rlim_cur = limit;
	setrlimit(RLIMIT_FSIZE, &less);
	errno = 0;
	error = open(&samples, in("limited"), &options);
	saved = errno;
	if (!error) {
		for (i = 0; i < 20 && !error; i++)
			error = put_sample(samples, BIAS + 0x12350, branches, COUNT(branches));
		saved = errno;
		later = ntrace_export_samples_close(samples, NULL);
		saved = error ? saved : errno;
	}
	setrlimit(RLIMIT_FSIZE, &old);
	errno = saved;
	return error ? error : later;
}

static void test_limit(open_fn *open, const char *name)
{
	static const uint64_t limits[] = { 0, 1, 103, 4095, 4096, 20000, 100000 };
	uint64_t whole;
	size_t i;

	is_u64(write_to_limit(open, 1000000), 0, "%s: enough room", name);
	file = read_file(in("limited"), &file_size);
	whole = file_size;
	for (i = 0; i < COUNT(limits); i++) {
		is_u64(write_to_limit(open, limits[i]), NTRACE_ERR_IO, "%s: room for %u bytes",
		       name, (unsigned int)limits[i]);
		is_u64(errno, EFBIG, "%s: which errno says", name);
	}
	is_u64(write_to_limit(open, whole - 1), NTRACE_ERR_IO, "%s: for one less than needed",
	       name);
	is_u64(write_to_limit(open, whole), 0, "%s: for all", name);
}

int main(void)
{
	/* Files that are too large must cause an error and nothing else. */
	signal(SIGXFSZ, SIG_IGN);
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	make_objects();
	test_perfscript();
	test_perfscript_edges();
	make_session();
	test_stacks();
	test_every_branch();
	test_perf_data_edges();
	test_limit(ntrace_export_perf_data_open, "perf.data");
	test_limit(open_perfscript, "perfscript");
	machine_close(&session.machine);
	ntrace_space_put(space);
	ntrace_object_put(program);
	ntrace_object_put(other);
	scratch_remove();
	return done_testing();
}
