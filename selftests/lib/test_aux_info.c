// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUXTRACE_INFO by Documentation/trace/auxtrace-info.md: each parameter with its limits, and blocks that
 * are cut. test_aux_import.c imports the trace of such files.
 */
#include <stdlib.h>

#include "recording/aux_import.h"
#include "scratch.h"
#include "sideband/notes.h"
#include "tap.h"

static char note[400];

static void take_note(void *data, const char *text)
{
	(void)data;
	snprintf(note, sizeof(note), "%s", text);
}

static const struct notes notes = { .take = take_note };
static struct machine machine;
static const struct aux_import import = { .name = "file", .notes = &notes, .machine = &machine };
static struct aux_info info;

/* Reads a record of @bytes bytes with this type and words. */
static int read_bytes(uint32_t type, const uint64_t *words, size_t bytes)
{
	struct ntrace_perf_record record = { .position = 0x40, .size = (uint16_t)bytes };
	/* Memory of that size, for sanitizers. */
	uint8_t *copy = calloc(1, bytes);
	int error;

	if (bytes >= 12)
		memcpy(copy + 8, &type, 4);
	if (bytes > 16)
		memcpy(copy + 16, words, bytes - 16);
	record.data = copy;
	free(info.harts);
	info = (struct aux_info){ 0 };
	note[0] = '\0';
	error = aux_info_read(&import, &record, &info);
	free(copy);
	return error;
}

static int read_words(const uint64_t *words, size_t count)
{
	return read_bytes(8, words, 16 + 8 * count);
}

static void test_types(void)
{
	static const char *const foreign[] = { "Intel PT",
					       "Intel BTS",
					       "CoreSight ETM",
					       "Arm SPE",
					       "s390 CPU-MF sampling",
					       "HiSilicon PTT",
					       "a log of virtual processors of POWER (VPA DTL)" };
	const uint64_t word = 8;
	char want[100];

	for (uint32_t type = 1; type <= 7; type++) {
		snprintf(want, sizeof(want), "file: the trace is %s, not RISC-V N-Trace",
			 foreign[type - 1]);
		is_u64((uint64_t)read_bytes(type, &word, 24), (uint64_t)NTRACE_ERR_FORMAT,
		       "type %u", type);
		is_str(note, want, "is named");
	}
	for (uint32_t type = 8; type <= 9; type++)
		ok(!read_bytes(type, &word, 24) && info.layout == AUX_RVTRACE && !info.hart_count,
		   "type %u with the number of the PMU", type);
	is_u64((uint64_t)read_bytes(0, &word, 24), 0, "no type");
	is_u64((uint64_t)read_bytes(8, NULL, 16), (uint64_t)NTRACE_ERR_FORMAT, "no word");
	ok(strstr(note, "at offset 0x40 (type 8, 0 words)"), "the note has the numbers: %s", note);
	for (size_t bytes = 8; bytes < 16; bytes++)
		is_u64((uint64_t)read_bytes(0, NULL, bytes), (uint64_t)NTRACE_ERR_FORMAT,
		       "a record of %zu bytes", bytes);
	is_u64((uint64_t)read_bytes(8, &word, 23), (uint64_t)NTRACE_ERR_FORMAT,
	       "a word that is cut");
}

/* Two harts with all 14 parameters, and one that this version does not know. */
static void test_harts(void)
{
	uint64_t words[] = { UINT64_C(42) << 32 | 2,
			     3,
			     15,
			     1,
			     1,
			     0,
			     4,
			     5,
			     1,
			     0,
			     2,
			     64,
			     7,
			     38,
			     2,
			     40,
			     1000,
			     99,
			     65535,
			     5,
			     1,
			     0,
			     1,
			     12,
			     6 };
	const size_t count = sizeof(words) / sizeof(words[0]);

	is_u64((uint64_t)read_words(words, count), 0, "two harts");
	ok(info.hart_count == 2 && info.layout == AUX_BYTES, "their number and layout");
	ok(info.harts[0].cpu == 3 && info.harts[0].format == 1 && info.harts[0].context == 1 &&
		   !info.harts[0].no_src && info.harts[0].src_bits == 4 && info.harts[0].src == 5 &&
		   info.harts[0].packing == 1,
	   "the first parameters of the first one");
	ok(info.harts[0].version == 2 && info.harts[0].xlen == 64 && info.harts[0].flags == 7 &&
		   info.harts[0].address_bits == 38 && info.harts[0].return_mode == 2 &&
		   info.harts[0].timestamp_bits == 40 && info.harts[0].timestamp_hz == 1000,
	   "the others");
	ok(info.harts[1].cpu == 65535 && info.harts[1].format == 1 && !info.harts[1].context &&
		   info.harts[1].no_src == 1 && info.harts[1].src_bits == 12 &&
		   info.harts[1].src == 6 && !info.harts[1].packing && !info.harts[1].version &&
		   !info.harts[1].xlen && !info.harts[1].timestamp_hz,
	   "the second one has five");
	/* A single word would be another form. */
	for (size_t cut = 2; cut < count; cut++)
		is_u64((uint64_t)read_words(words, cut), (uint64_t)NTRACE_ERR_FORMAT,
		       "cut to %zu words", cut);
	words[0] = 1;
	is_u64((uint64_t)read_words(words, count), 0, "more words may follow the harts");
	is_u64(info.hart_count, 1, "their number is what the block says");
	words[0] = UINT64_C(1) << 32;
	is_u64((uint64_t)read_words(words, count), (uint64_t)NTRACE_ERR_FORMAT, "no hart");
	words[0] = 1000000;
	is_u64((uint64_t)read_words(words, count), (uint64_t)NTRACE_ERR_FORMAT, "too many harts");
	words[0] = 2;
	words[2] = 4;
	is_u64((uint64_t)read_words(words, count), (uint64_t)NTRACE_ERR_FORMAT,
	       "fewer than five parameters");
	words[2] = UINT64_MAX - 10;
	is_u64((uint64_t)read_words(words, count), (uint64_t)NTRACE_ERR_FORMAT,
	       "far too many parameters");
}

static void test_layouts(void)
{
	uint64_t words[] = { 1, 0, 6, 1, 0, 0, 4, 1, 0 };

	for (uint64_t layout = 0; layout < 4; layout++) {
		words[8] = layout;
		is_u64((uint64_t)read_words(words, 9), 0, "layout %u", (unsigned int)layout);
		is_u64(info.layout, layout == 1 ? AUX_BYTES : AUX_SPACEMIT, "messages or frames");
	}
}

/* Values that no hart can have. */
static void test_limits(void)
{
	static const struct {
		const char *what;
		unsigned int place;
		uint64_t most;
	} limits[] = {
		{ "the CPU", 1, 65535 },	 { "SRC bits", 6, 12 },
		{ "SRC", 7, 4095 },		 { "address bits", 13, 63 },
		{ "the return mode", 14, 3 },	 { "timestamp bits", 15, 64 },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		for (unsigned int more = 0; more < 2; more++) {
			uint64_t words[17] = { 1, 0, 14, 1, 0, 0, 4 };

			words[limits[i].place] = limits[i].most + more;
			is_u64((uint64_t)read_words(words, 17),
			       (uint64_t)(more ? NTRACE_ERR_FORMAT : 0), "%s: %u%s", limits[i].what,
			       (unsigned int)limits[i].most, more ? " and one more" : "");
		}
	for (uint64_t xlen = 0; xlen <= 128; xlen += 16) {
		uint64_t words[17] = { 1, 0, 14, 1, 0, 0, 4 };

		words[11] = xlen;
		is_u64((uint64_t)read_words(words, 17),
		       (uint64_t)(!xlen || xlen == 32 || xlen == 64 ? 0 : NTRACE_ERR_FORMAT),
		       "XLEN %u", (unsigned int)xlen);
	}
}

/* A file without events. */
static bool open_machine(void)
{
	struct ntrace_perf_writer *writer;

	return scratch_make() && !ntrace_perf_writer_open(&writer, in("data")) &&
	       !ntrace_perf_writer_close(writer) && !machine_open(&machine, in("data"));
}

int main(void)
{
	if (!ok(open_machine(), "a file without events"))
		return done_testing();
	test_types();
	test_harts();
	test_layouts();
	test_limits();
	free(info.harts);
	machine_close(&machine);
	scratch_remove();
	return done_testing();
}
