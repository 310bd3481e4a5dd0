// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sideband records as bytes (linux/perf_event.h): each type in both directions, with each trailer,
 * and cut at each byte.
 */
#include <stdlib.h>

#include "perf/record.h"

#include "tap.h"

static uint8_t bytes[1024];

/* Words of 64 bits that a record of each type must have between header and trailer. */
#define PAIR(low, high) ((uint64_t)(uint32_t)(low) | (uint64_t)(uint32_t)(high) << 32)
#define PIDS PAIR(0x11, 0x22)
#define PARENTS PAIR(0x33, 0x44)
#define NAME 0x3736353433323161 /* "a1234567" */
#define MISC13 (1u << 13)
#define MISC14 (1u << 14)

static const uint8_t old_bytes[] = { 1, 2, 3, 4 }, new_bytes[] = { 5, 6, 7, 8, 9, 10 };

static const struct {
	const char *what;
	struct ntrace_sideband sideband;
	uint64_t body[10];
	unsigned int words, misc;
} records[] = {
	{ "mmap",
	  { .type = NTRACE_SIDEBAND_MMAP,
	    .pid = 0x11,
	    .tid = 0x22,
	    .address = 0x1000,
	    .length = 0x2000,
	    .offset = 0x3000,
	    .executable = true,
	    .name = "a1234567" },
	  { PIDS, 0x1000, 0x2000, 0x3000, NAME, 0 },
	  6,
	  PERF_RECORD_MISC_USER },
	{ "mmap of data by the kernel",
	  { .type = NTRACE_SIDEBAND_MMAP,
	    .pid = -1,
	    .tid = 0x22,
	    .address = 0x1000,
	    .length = 0x2000,
	    .cpumode_kernel = true,
	    .name = "a123456" },
	  { PAIR(-1, 0x22), 0x1000, 0x2000, 0, NAME & ~UINT64_C(0) >> 8 },
	  5,
	  PERF_RECORD_MISC_KERNEL | MISC13 },
	{ "mmap2",
	  { .type = NTRACE_SIDEBAND_MMAP2,
	    .pid = 0x11,
	    .tid = 0x22,
	    .address = 0x1000,
	    .length = 0x2000,
	    .offset = 0x3000,
	    .executable = true,
	    .name = "a123456" },
	  { PIDS, 0x1000, 0x2000, 0x3000, 0, 0, 0, PAIR(5, 2), NAME & ~UINT64_C(0) >> 8 },
	  9,
	  PERF_RECORD_MISC_USER },
	{ "mmap2 with a build ID",
	  { .type = NTRACE_SIDEBAND_MMAP2,
	    .pid = 0x11,
	    .tid = 0x22,
	    .address = 0x1000,
	    .length = 0x2000,
	    .build_id_size = 20,
	    .name = "",
	    .build_id = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 } },
	  { PIDS, 0x1000, 0x2000, 0, UINT64_C(0x0403020100000014), 0x0c0b0a0908070605,
	    UINT64_C(0x14131211100f0e0d), PAIR(1, 2), 0 },
	  9,
	  PERF_RECORD_MISC_USER | MISC13 | MISC14 },
	{ "comm",
	  { .type = NTRACE_SIDEBAND_COMM, .pid = 0x11, .tid = 0x22, .name = "a1234567" },
	  { PIDS, NAME, 0 },
	  3,
	  0 },
	{ "exec",
	  { .type = NTRACE_SIDEBAND_COMM, .pid = 0x11, .tid = 0x22, .exec = true, .name = "" },
	  { PIDS, 0 },
	  2,
	  MISC13 },
	{ "fork",
	  { .type = NTRACE_SIDEBAND_FORK,
	    .pid = 0x11,
	    .tid = 0x22,
	    .other_pid = 0x33,
	    .other_tid = 0x44,
	    .time = 0x55,
	    .name = "" },
	  { PAIR(0x11, 0x33), PAIR(0x22, 0x44), 0x55 },
	  3,
	  0 },
	{ "exit",
	  { .type = NTRACE_SIDEBAND_EXIT,
	    .pid = 0x11,
	    .tid = 0x22,
	    .other_pid = 0x33,
	    .other_tid = 0x44,
	    .time = 0x55,
	    .name = "" },
	  { PAIR(0x11, 0x33), PAIR(0x22, 0x44), 0x55 },
	  3,
	  0 },
	{ "lost",
	  { .type = NTRACE_SIDEBAND_LOST, .id = 0x66, .count = 0x77, .name = "" },
	  { 0x66, 0x77 },
	  2,
	  0 },
	{ "lost samples",
	  { .type = NTRACE_SIDEBAND_LOST_SAMPLES, .count = 0x77, .name = "" },
	  { 0x77 },
	  1,
	  0 },
	{ "switch in", { .type = NTRACE_SIDEBAND_SWITCH, .name = "" }, { 0 }, 0, 0 },
	{ "switch out",
	  { .type = NTRACE_SIDEBAND_SWITCH, .out = true, .preempt = true, .name = "" },
	  { 0 },
	  0,
	  MISC13 | MISC14 },
	{ "switch of a CPU",
	  { .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
	    .other_pid = 0x33,
	    .other_tid = 0x44,
	    .out = true,
	    .name = "" },
	  { PARENTS },
	  1,
	  MISC13 },
	{ "symbol",
	  { .type = NTRACE_SIDEBAND_KSYMBOL,
	    .address = 0x1000,
	    .length = 0x200,
	    .code = 1,
	    .name = "a1234567" },
	  { 0x1000, PAIR(0x200, 1), NAME, 0 },
	  4,
	  0 },
	{ "symbol removed",
	  { .type = NTRACE_SIDEBAND_KSYMBOL,
	    .address = 0x1000,
	    .length = 0x200,
	    .code = 2,
	    .unregister = true,
	    .name = "" },
	  { 0x1000, PAIR(0x200, 0x10002), 0 },
	  3,
	  0 },
	{ "aux",
	  { .type = NTRACE_SIDEBAND_AUX, .offset = 0x1000, .length = 0x200, .code = 3, .name = "" },
	  { 0x1000, 0x200, 3 },
	  3,
	  0 },
	{ "start of a trace",
	  { .type = NTRACE_SIDEBAND_ITRACE_START, .pid = 0x11, .tid = 0x22, .name = "" },
	  { PIDS },
	  1,
	  0 },
	{ "BPF program",
	  { .type = NTRACE_SIDEBAND_BPF_EVENT, .code = 1, .id = 0x66, .name = "" },
	  { PAIR(1, 0x66), 0 },
	  2,
	  0 },
	{ "text poke",
	  { .type = NTRACE_SIDEBAND_TEXT_POKE,
	    .address = 0x1000,
	    .old_length = 4,
	    .new_length = 6,
	    .old_bytes = old_bytes,
	    .new_bytes = new_bytes,
	    .name = "" },
	  { 0x1000, UINT64_C(0x0403020100060004), UINT64_C(0x0a09080706 << 8 | 0x05) },
	  3,
	  0 },
};

#define COUNT (sizeof(records) / sizeof(records[0]))
#define ALL (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static int parse(size_t size, uint64_t sample_type, struct ntrace_sideband *sideband)
{
	struct ntrace_perf_record record = { .position = 0x99, .size = size };
	struct perf_event_header header;
	/* Memory of that size, for sanitizers. */
	uint8_t *copy = malloc(size);
	int error;

	memcpy(copy, bytes, size);
	memcpy(&header, copy, sizeof(header));
	record.type = header.type;
	record.misc = header.misc;
	record.data = copy;
	error = record_parse(&record, sample_type, sideband);
	if (!error)
		sideband->name = strncmp(sideband->name, "a12345", 6) ? "" :
				 strlen(sideband->name) == 8	      ? "a1234567" :
									"a123456";
	if (!error && sideband->old_length == 4)
		sideband->old_bytes = memcmp(sideband->old_bytes, old_bytes, 4) ? NULL : old_bytes;
	if (!error && sideband->new_length == 6)
		sideband->new_bytes = memcmp(sideband->new_bytes, new_bytes, 6) ? NULL : new_bytes;
	free(copy);
	return error;
}

/* The fields of a type, as they were before the conversion. */
static bool is_same(const struct ntrace_sideband *a, const struct ntrace_sideband *b)
{
	return a->type == b->type && a->address == b->address && a->length == b->length &&
	       a->offset == b->offset && a->count == b->count && a->code == b->code &&
	       a->exec == b->exec && a->out == b->out && a->preempt == b->preempt &&
	       a->unregister == b->unregister && a->executable == b->executable &&
	       a->build_id_size == b->build_id_size && !memcmp(a->build_id, b->build_id, 20) &&
	       a->old_length == b->old_length && a->new_length == b->new_length &&
	       a->old_bytes == b->old_bytes && a->new_bytes == b->new_bytes &&
	       !strcmp(a->name, b->name);
}

static void test_bodies(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		const struct ntrace_sideband *want = &records[i].sideband;
		size_t body = 8 * records[i].words, size, cut, wrong = 0;
		struct perf_event_header header;
		struct ntrace_sideband got;

		memset(bytes, 0xee, sizeof(bytes));
		size = record_build(want, 0, 0, bytes, sizeof(bytes));
		memcpy(&header, bytes, sizeof(header));
		is_u64(size, 8 + body, "%s: size", records[i].what);
		ok(header.type == want->type && header.size == size &&
			   header.misc == records[i].misc,
		   "%s: header: misc %#x", records[i].what, header.misc);
		ok(!memcmp(bytes + 8, records[i].body, body), "%s: body", records[i].what);
		is_u64(parse(size, 0, &got), 0, "%s: read again", records[i].what);
		ok(is_same(&got, want), "%s: the same fields", records[i].what);
		ok(got.position == 0x99 && got.misc == records[i].misc &&
			   got.cpu == NTRACE_SIDEBAND_NO_CPU &&
			   got.cpumode_kernel == ((header.misc & 7) == PERF_RECORD_MISC_KERNEL),
		   "%s: position and misc, but no CPU", records[i].what);
		switch (want->type) {
		case NTRACE_SIDEBAND_FORK:
		case NTRACE_SIDEBAND_EXIT:
			ok(got.pid == 0x11 && got.tid == 0x22 && got.other_pid == 0x33 &&
				   got.other_tid == 0x44 && got.time == 0x55,
			   "%s: both tasks", records[i].what);
			break;
		case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
			ok(got.other_pid == 0x33 && got.other_tid == 0x44 && got.pid == -1 &&
				   got.tid == -1,
			   "the other task");
			break;
		case NTRACE_SIDEBAND_MMAP:
		case NTRACE_SIDEBAND_MMAP2:
		case NTRACE_SIDEBAND_COMM:
		case NTRACE_SIDEBAND_ITRACE_START:
			ok(got.pid == want->pid && got.tid == want->tid && got.other_pid == -1 &&
				   got.other_tid == -1,
			   "%s: one task", records[i].what);
			break;
		case NTRACE_SIDEBAND_LOST:
		case NTRACE_SIDEBAND_BPF_EVENT:
			is_u64(got.id, 0x66, "%s: id", records[i].what);
			break;
		default:
			ok(got.pid == -1 && got.tid == -1 && !got.id, "%s: no task",
			   records[i].what);
		}
		/* Zero bytes after a name are padding: without them the name is not shorter. */
		for (cut = 8; cut < size; cut++)
			wrong += !parse(cut, 0, &got) && !is_same(&got, want);
		is_u64(wrong, 0, "%s: no cut record is taken for another", records[i].what);
		for (cut = 0; cut < size; cut++)
			wrong += record_build(want, 0, 0, bytes, cut) != 0;
		is_u64(wrong, 0, "%s: needs its room", records[i].what);
		if (records[i].words && !*want->name && !want->old_length) {
			memset(bytes + 8, 0xff, 8);
			is_u64(parse(8, 0, &got), NTRACE_ERR_TRUNCATED, "%s: without a body",
			       records[i].what);
		}
	}
}

/* Sizes of the fixed part of each body: one byte less is too short. */
static void test_cut(void)
{
	static const struct {
		unsigned int type, size;
	} sizes[] = {
		{ NTRACE_SIDEBAND_MMAP, 33 },	      { NTRACE_SIDEBAND_MMAP2, 65 },
		{ NTRACE_SIDEBAND_COMM, 9 },	      { NTRACE_SIDEBAND_FORK, 24 },
		{ NTRACE_SIDEBAND_EXIT, 24 },	      { NTRACE_SIDEBAND_LOST, 16 },
		{ NTRACE_SIDEBAND_LOST_SAMPLES, 8 },  { NTRACE_SIDEBAND_SWITCH_CPU_WIDE, 8 },
		{ NTRACE_SIDEBAND_KSYMBOL, 17 },      { NTRACE_SIDEBAND_AUX, 24 },
		{ NTRACE_SIDEBAND_ITRACE_START, 8 },  { NTRACE_SIDEBAND_BPF_EVENT, 16 },
		{ NTRACE_SIDEBAND_TEXT_POKE, 12 },    { NTRACE_SIDEBAND_SWITCH, 0 },
	};
	struct ntrace_sideband got;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct perf_event_header header = { .type = sizes[i].type };

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &header, sizeof(header));
		is_u64(parse(8 + sizes[i].size, 0, &got), 0, "type %u of %u bytes", sizes[i].type,
		       sizes[i].size);
		if (sizes[i].size)
			is_u64(parse(7 + sizes[i].size, 0, &got), NTRACE_ERR_TRUNCATED,
			       "type %u with one byte less", sizes[i].type);
		is_u64(parse(8 + sizes[i].size + 48, ALL, &got), 0, "type %u with a trailer",
		       sizes[i].type);
		is_u64(parse(8 + sizes[i].size + (sizes[i].size ? 47 : 40), ALL, &got),
		       NTRACE_ERR_TRUNCATED, "type %u with a short trailer", sizes[i].type);
	}
	/* A name must end before the trailer. */
	memset(bytes, 0, sizeof(bytes));
	bytes[0] = NTRACE_SIDEBAND_COMM;
	memset(bytes + 16, 'a', 8);
	is_u64(parse(24 + 8, PERF_SAMPLE_TIME, &got), NTRACE_ERR_TRUNCATED,
	       "a name that does not end");
	bytes[0] = NTRACE_SIDEBAND_TEXT_POKE;
	memset(bytes + 8, 0, 40);
	bytes[16] = 3;
	bytes[18] = 2;
	is_u64(parse(8 + 12 + 5, 0, &got), 0, "bytes of a text poke");
	is_u64(parse(8 + 12 + 4, 0, &got), NTRACE_ERR_TRUNCATED, "one of them is missing");
	for (unsigned int type = 0; type < 30; type++) {
		static const uint32_t known = 0x16fc9e; /* 1 to 4, 7, 10 to 15, 17, 18, 20 */

		memset(bytes, 0, sizeof(bytes));
		bytes[0] = (uint8_t)type;
		is_u64(parse(200, 0, &got), known >> type & 1 ? 0 : NTRACE_ERR_UNSUPPORTED,
		       "type %u", type);
	}
	memset(bytes, 0, sizeof(bytes));
	bytes[0] = NTRACE_SIDEBAND_MMAP2;
	bytes[7 - 2] = 0x40;
	bytes[8 + 32] = 21;
	is_u64(parse(200, 0, &got), 0, "a build ID that is too long");
	is_u64(got.build_id_size, 0, "is none");
	is_u64(record_build(&(struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
						       .build_id_size = 21,
						       .name = "" },
			    0, 0, bytes, sizeof(bytes)),
	       0, "and is not written");
	is_u64(record_build(&(struct ntrace_sideband){ .type = 9 }, 0, 0, bytes, sizeof(bytes)), 0,
	       "nor are samples");
}

/* ---- trailers ---- */

/* A trailer with these fields; the record's own task has precedence over that of the trailer. */
static void test_trailers(void)
{
	static const uint64_t bits[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					 PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
					 PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };

	for (unsigned int set = 0; set < 64; set++) {
		struct ntrace_sideband made = { .type = NTRACE_SIDEBAND_AUX,
						.pid = 5,
						.tid = 6,
						.time = 7,
						.cpu = 8,
						.name = "" },
				       got;
		const uint64_t words[] = { PAIR(5, 6), 7, 0x99, 0x99, 8, 0x99 };
		uint64_t type = 0, want[6], *end = want;
		size_t size;

		for (unsigned int i = 0; i < 6; i++)
			if (set >> i & 1) {
				type |= bits[i];
				*end++ = words[i];
			}
		size = record_build(&made, type, 0x99, bytes, sizeof(bytes));
		ok(size == 32 + 8 * (size_t)(end - want) && !memcmp(bytes + 32, want, size - 32),
		   "trailer %#x is written", set);
		is_u64(parse(size, type, &got), 0, "and read");
		ok(got.pid == (set & 1 ? 5 : -1) && got.tid == (set & 1 ? 6 : -1) &&
			   got.time == (set & 2 ? 7 : 0) && got.id == (set & 0x24 ? 0x99 : 0) &&
			   got.cpu == (set & 16 ? 8 : NTRACE_SIDEBAND_NO_CPU),
		   "task, time, id and CPU");
	}
	for (size_t i = 0; i < COUNT; i++) {
		struct ntrace_sideband made = records[i].sideband, got;
		size_t size, body = 8 + 8 * records[i].words;
		bool has_no_task = made.type == NTRACE_SIDEBAND_SWITCH ||
				   made.type == NTRACE_SIDEBAND_SWITCH_CPU_WIDE ||
				   made.type == NTRACE_SIDEBAND_AUX;
		bool is_aux = made.type == NTRACE_SIDEBAND_AUX ||
			      made.type == NTRACE_SIDEBAND_ITRACE_START;

		size = record_build(&made, ALL, 0x99, bytes, sizeof(bytes));
		/* Of other values than the record itself. */
		for (unsigned int k = 0; k < 6; k++)
			memcpy(bytes + body + 8 * k,
			       &(uint64_t){ k == 0 ? PAIR(0x101, 0x102) : 0x200 + k }, 8);
		is_u64(parse(size, ALL, &got), 0, "%s with a trailer", records[i].what);
		is_u64(got.time, 0x201, "%s: time", records[i].what);
		is_u64(got.cpu, 0x204, "%s: CPU", records[i].what);
		ok((got.pid == 0x101) == has_no_task && (got.tid == 0x102) == has_no_task,
		   "%s: task of the %s", records[i].what, has_no_task ? "trailer" : "record");
		ok((got.id == 0x205) == is_aux, "%s: id", records[i].what);
	}
}

int main(void)
{
	test_bodies();
	test_cut();
	test_trailers();
	return done_testing();
}
