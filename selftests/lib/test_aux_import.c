// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/recording/aux_import.c and aux_files.c alone: streams, pieces, losses and notes of perf.data
 * files with hand-written AUXTRACE records. aux_input.sh decodes whole files of other drivers.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/aux_import.h"

#include "scratch.h"
#include "tap.h"

#define EVENT_ID 7
#define HEADER_BYTES 104
#define AT_DATA_OFFSET 40
#define AT_DATA_SIZE 48
#define AT_FEATURES 72

static struct ntrace_perf_writer *writer;
static uint8_t *added;		/* records that the writer does not know */
static size_t added_size;
static struct machine machine;
static struct aux_import import;
static char notes[4096];

static void take_note(void *data, const char *text)
{
	(void)data;
	snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s\n", text);
}

static const struct notes note_taker = { .take = take_note };

static void begin(void)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
	};
	const uint64_t id = EVENT_ID;

	ntrace_perf_writer_open(&writer, in("data"));
	ntrace_perf_writer_event(writer, &attr, &id, 1, "dummy:u");
	added_size = 0;
}

/* An AUX record: trace of @cpu. */
static void hands_over(uint32_t cpu, uint64_t offset, uint64_t size, uint64_t flags)
{
	static uint64_t time = 1000;

	ntrace_perf_writer_sideband(writer, &(struct ntrace_sideband){ .type = NTRACE_SIDEBAND_AUX,
								       .pid = 1,
								       .tid = 1,
								       .id = EVENT_ID,
								       .cpu = cpu,
								       .offset = offset,
								       .length = size,
								       .code = flags,
								       .time = ++time,
								       .name = "" });
}

static void add_bytes(const void *bytes, size_t size)
{
	uint8_t *grown = realloc(added, added_size + size);

	if (!grown) {
		ok(false, "memory for the file");
		return;
	}
	added = grown;
	memcpy(added + added_size, bytes, size);
	added_size += size;
}

static void add_record(uint32_t type, const uint64_t *words, size_t count)
{
	struct perf_event_header header = { .type = type };

	header.size = (uint16_t)(sizeof(header) + count * sizeof(*words));
	add_bytes(&header, sizeof(header));
	add_bytes(words, count * sizeof(*words));
}

/* An AUXTRACE record of the AUX area of CPU 0. */
static void add_trace(uint64_t offset, const void *bytes, size_t size)
{
	/* Size, offset, reference, index and thread -1, CPU 0. */
	const uint64_t words[] = { size, offset, 0, UINT64_C(0xffffffff) << 32, 0 };

	add_record(NTRACE_PERF_AUXTRACE, words, 5);
	add_bytes(bytes, size);
}

/* AUXTRACE_INFO of rvtrace: the type of the trace, and a PMU. */
static void add_plain_info(void)
{
	const uint64_t words[] = { 8, 42 };

	add_record(NTRACE_PERF_AUXTRACE_INFO, words, 2);
}

/* AUXTRACE_INFO of SpacemiT with CPU 0, whose messages have no SRC. */
static void add_frames_info(void)
{
	const uint64_t words[] = { 8, UINT64_C(42) << 32 | 1, 0, 5, 1, 1, 1, 0, 0 };

	add_record(NTRACE_PERF_AUXTRACE_INFO, words, 9);
}

/* Appends the added records to the data of the file, which gets no features. */
static bool write_file(void)
{
	static uint8_t file_bytes[65536];
	uint64_t offset, size, whole;
	FILE *file;
	size_t got;

	if (ntrace_perf_writer_close(writer) || !(file = fopen(in("data"), "r+b")))
		return false;
	got = fread(file_bytes, 1, sizeof(file_bytes), file);
	memcpy(&offset, file_bytes + AT_DATA_OFFSET, sizeof(offset));
	memcpy(&size, file_bytes + AT_DATA_SIZE, sizeof(size));
	if (got < HEADER_BYTES || offset + size > got) {
		fclose(file);
		return false;
	}
	whole = size + added_size;
	memcpy(file_bytes + AT_DATA_SIZE, &whole, sizeof(whole));
	memset(file_bytes + AT_FEATURES, 0, HEADER_BYTES - AT_FEATURES);
	rewind(file);
	fwrite(file_bytes, 1, offset + size, file);
	fwrite(added, 1, added_size, file);
	return !fclose(file);
}

static bool open_file(const char *params)
{
	notes[0] = '\0';
	import = (struct aux_import){
		.name = "data", .machine = &machine, .params = params, .notes = &note_taker
	};
	return ok(write_file() && !machine_open(&machine, in("data")), "makes the file");
}

static void import_file(const char *params)
{
	if (open_file(params))
		is_u64(aux_import_read(&import), 0, "imports the trace");
}

static void end(void)
{
	aux_import_free(&import);
	machine_close(&machine);
}

static void test_pieces(void)
{
	const uint8_t trace[30] = { 0 };

	begin();
	hands_over(0, 0x1000, 10, 0);
	hands_over(1, 0x1005, 10, 0);
	hands_over(0, 0x100a, 20, 0);
	add_plain_info();
	add_trace(0x1000, trace, sizeof(trace));
	import_file(NULL);
	is_u64(import.stream_count, 1, "pieces: one stream");
	if (ok(import.piece_lists == 1 && import.pieces[0].count == 2,
	       "pieces: those of the CPU of the AUX area")) {
		is_hex(import.pieces[0].items[0].offset, 0x1000, "pieces: offset of the first");
		is_u64(import.pieces[0].items[0].size, 10, "pieces: size of the first");
		is_hex(import.pieces[0].items[1].offset, 0x100a, "pieces: offset of the second");
		is_u64(import.pieces[0].items[1].size, 20, "pieces: size of the second");
	}
	end();
}

/* The file lacks 50 bytes between two AUXTRACE records. */
static void test_missing_bytes(void)
{
	const uint8_t trace[100] = { 0 };

	begin();
	hands_over(0, 0, 200, 0);
	add_plain_info();
	add_trace(0, trace, 100);
	add_trace(150, trace, 50);
	import_file(NULL);
	if (ok(import.stream_count == 1, "missing bytes: one stream")) {
		is_u64(import.streams[0].lost, 50, "missing bytes: the number of lost bytes");
		is_u64(import.streams[0].gaps, 1, "missing bytes: one gap");
	}
	end();
}

/* With a SRC field each hart becomes a stream. */
static void test_sources(void)
{
	/* ProgTraceSync SYNC 5 PC 0x1000 of SRC 2, 2 and 3; reading starts after the first one */
	static const uint8_t trace[] = { 0x24, 0xa9, 0x00, 0x83, 0x24, 0xa9,
					 0x00, 0x83, 0x24, 0xad, 0x00, 0x83 };

	begin();
	hands_over(0, 0, sizeof(trace), 0);
	add_plain_info();
	add_trace(0, trace, sizeof(trace));
	import_file("srcbits=3");
	if (ok(import.stream_count == 2, "SRC: a stream for each number")) {
		is_u64(import.streams[0].src, 2, "SRC: of the first stream");
		is_u64(import.streams[1].src, 3, "SRC: of the second stream");
	}
	end();
}

/*
 * Parameters of a hart, by Documentation/trace/auxtrace-info.md: an encoder of major version 0, and a
 * ratified one.
 */
static void test_hart_params(void)
{
	static const uint8_t trace[] = { 0x24, 0xa9, 0x00, 0x83 };

	for (uint64_t version = 1; version <= 2; version++) {
		const uint64_t words[] = { 8,  UINT64_C(42) << 32 | 1,
					   0,  14,
					   1,  1,
					   1,  0,
					   0,  1,
					   0,  version,
					   32, 3,
					   24, 2,
					   10, 1000 };
		const struct ntrace_params *params;

		begin();
		hands_over(0, 0, sizeof(trace), 0);
		add_record(NTRACE_PERF_AUXTRACE_INFO, words, sizeof(words) / sizeof(words[0]));
		add_trace(0, trace, sizeof(trace));
		import_file(NULL);
		if (ok(import.stream_count == 1 && import.streams[0].params, "a hart: a stream")) {
			params = import.streams[0].params;
			ok(params->xlen == 32 && !params->src_bits && params->extend_address &&
				   params->all_jumps && params->address_bits == 24 &&
				   params->implicit_return == 2 && params->timestamp_bits == 10 &&
				   params->timestamp_hz == 1000,
			   "its parameters");
			is_u64(params->dialect,
			       version == 1 ? NTRACE_DIALECT_SIFIVE_V0 : NTRACE_DIALECT_RATIFIED,
			       "its dialect");
			ok((params->timestamp_delta == NTRACE_TIME_DELTA_XOR) == (version == 1),
			   "its timestamps");
		}
		end();
	}
}

/* Each kind of bytes that frames leave out is reported alone. ID 0x10 is that of the trace. */
static void test_left_out(void)
{
	static const struct {
		const char *what;
		uint8_t frame[4];
		size_t size;
		const char *note;
	} cases[] = {
		{ "nothing", { 0x21 }, 16, NULL },
		{ "bytes before the first ID",
		  { 0, 0, 0x21 },
		  16,
		  "2 before the first source ID, 0 of reserved source IDs, 0 of "
		  "incomplete frames" },
		{ "bytes of ID 0x70",
		  { 0xe1, 0, 0x21 },
		  16,
		  "0 before the first source ID, 1 of reserved source IDs, 0 of "
		  "incomplete frames" },
		{ "an incomplete frame",
		  { 0x21 },
		  23,
		  "0 before the first source ID, 0 of reserved source IDs, 7 of "
		  "incomplete frames" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t trace[32] = { 0 };

		memcpy(trace, cases[i].frame, sizeof(cases[i].frame));
		begin();
		hands_over(0, 0, cases[i].size, 0);
		add_frames_info();
		add_trace(0, trace, cases[i].size);
		import_file(NULL);
		is_u64(import.stream_count, 1, "frames with %s: one stream", cases[i].what);
		if (cases[i].note)
			ok(strstr(notes, cases[i].note), "frames with %s: a note", cases[i].what);
		else
			is_str(notes, "", "frames with %s left out: no note", cases[i].what);
		end();
	}
}

/* ---- whole sinks ---- */

/* A sink of gtrace, which copies from where it began, or all of it, oldest byte first, if it has wrapped. */
static struct {
	uint8_t memory[AUX_RING_SIZE];
	size_t at, begin;
	bool wrapped;
} sink;

static uint32_t random_state = 1;

static void sink_write(size_t count)
{
	while (count--) {
		random_state = random_state * 1664525u + 1013904223u;
		sink.memory[sink.at++] = (uint8_t)(random_state >> 24);
		sink.wrapped |= sink.at == AUX_RING_SIZE;
		sink.at %= AUX_RING_SIZE;
	}
}

/* Return: the number of bytes. */
static size_t sink_copy(uint8_t *bytes)
{
	size_t size = sink.wrapped ? AUX_RING_SIZE : sink.at - sink.begin;
	size_t from = sink.wrapped ? sink.at : sink.begin;

	for (size_t i = 0; i < size; i++)
		bytes[i] = sink.memory[(from + i) % AUX_RING_SIZE];
	if (sink.wrapped)
		sink.at = 0;
	sink.begin = sink.at;
	sink.wrapped = false;
	return size;
}

/*
 * Three events, one after the other; the second makes the sink wrap. What it copies of the first one's is left out.
 */
static void test_rings(void)
{
	static const size_t writes[][3] = {
		{ 600000, 700000, 1000 },		/* 348,576 bytes come twice */
		{ 600000, AUX_RING_SIZE, 0 },		/* exactly what was written */
		{ 600000, 2 * AUX_RING_SIZE + 5, 77 },	/* more than the sink holds */
		{ 1, AUX_RING_SIZE - 1, 1 },		/* one byte twice */
		{ 0, AUX_RING_SIZE + 100, 9 },		/* no trace before */
	};
	static uint8_t trace[3 * AUX_RING_SIZE], expected[3 * AUX_RING_SIZE],
		got[3 * AUX_RING_SIZE];

	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		size_t size = 0, count = 0, parts[3];
		size_t old = writes[i][1] < AUX_RING_SIZE ? AUX_RING_SIZE - writes[i][1] : 0;

		memset(&sink, 0, sizeof(sink));
		begin();
		for (size_t part = 0; part < 3; part++) {
			sink_write(writes[i][part]);
			parts[part] = sink_copy(trace + size);
			hands_over(0, size, parts[part], 0);
			size += parts[part];
		}
		/* A message may have begun before the sink's oldest byte: MSEO 2 ends it. */
		memcpy(expected, trace, parts[0]);
		expected[parts[0]] = 0x02;
		count = parts[0] + 1 + parts[1] - old;
		memcpy(expected + parts[0] + 1, trace + parts[0] + old, parts[1] - old);
		memcpy(expected + count, trace + parts[0] + parts[1], parts[2]);
		count += parts[2];
		add_plain_info();
		for (size_t at = 0; at < size; at += 1u << 19)
			add_trace(at, trace + at, size - at < 1u << 19 ? size - at : 1u << 19);
		import_file("srcbits=0");
		if (ok(import.stream_count == 1 && parts[1] == AUX_RING_SIZE,
		       "a whole sink: one stream")) {
			size_t read = (size_t)pread(fileno(import.files[0]), got, sizeof(got), 0);

			is_u64(import.streams[0].bytes, count,
			       "a whole sink: what is new of it, case %zu", i);
			ok(read == count && !memcmp(got, expected, count),
			   "a whole sink: byte by byte");
			is_u64(import.streams[0].gaps, 1, "a whole sink: a gap");
			is_u64(import.pieces[0].count, 2u + (parts[0] != 0) + (parts[2] != 0) - 1,
			       "a whole sink: its pieces");
			ok(strstr(notes, "had wrapped before 1 of its pieces"),
			   "a whole sink: a note");
		}
		end();
	}
}

/*
 * Without room for the trace the import fails, also if the mark of the gap after a truncated piece
 * is what no longer fits into the buffer of the file.
 */
static void test_no_room(void)
{
	struct rlimit before, none;
	struct stat status;
	unsigned int failed = 0, tried = 0;
	uint8_t *trace;
	size_t block;

	if (stat(directory, &status) || getrlimit(RLIMIT_FSIZE, &before)) {
		ok(false, "limits of this process");
		return;
	}
	none = before;
	none.rlim_cur = 0;
	block = (size_t)status.st_blksize;
	trace = calloc(1, block + 4);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t size = block - 4; trace && size <= block + 4; size++) {
		begin();
		hands_over(0, 0, size, PERF_AUX_FLAG_TRUNCATED);
		add_plain_info();
		add_trace(0, trace, size);
		if (open_file(NULL)) {
			int error;

			setrlimit(RLIMIT_FSIZE, &none);
			error = aux_import_read(&import);
			setrlimit(RLIMIT_FSIZE, &before);
			failed += error == NTRACE_ERR_IO;
			tried++;
		}
		end();
	}
	is_u64(failed, tried, "no room for the trace: the import fails with any size");
	ok(strstr(notes, "cannot write the trace"), "no room for the trace: a note");
	free(trace);
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	setenv("TMPDIR", directory, 1);
	test_pieces();
	test_missing_bytes();
	test_sources();
	test_hart_params();
	test_left_out();
	test_rings();
	test_no_room();
	free(added);
	scratch_remove();
	return done_testing();
}
