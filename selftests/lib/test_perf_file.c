// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data files made byte by byte: limits of the sections, features, records and trailers. perf
 * itself writes none of the wrong ones; test_perf.c reads its files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <ntrace/perf.h>

#include "perf/format.h"
#include "scratch.h"
#include "tap.h"

#define DATA_AT 512	 /* place of the records */
#define ATTRS_AT 256
#define IDS_AT 128
#define ATTR_SIZE (64 + 16)

static struct {
	uint8_t bytes[4096];
	size_t size;
	struct perf_file_header header;
	unsigned int attrs;
} made;

static void put(const void *bytes, size_t size)
{
	memcpy(made.bytes + made.size, bytes, size);
	made.size += size;
}

/* A file without events and records. */
static void begin(void)
{
	memset(&made, 0, sizeof(made));
	made.size = DATA_AT;
	made.header = (struct perf_file_header){ .magic = PERF_FILE_MAGIC,
						 .size = sizeof(made.header),
						 .attr_size = ATTR_SIZE,
						 .attrs = { ATTRS_AT, 0 },
						 .data = { DATA_AT, 0 } };
}

/* An event with one id, in the first layout of perf_event_attr. */
static void event(uint64_t sample_type, bool id_all, uint64_t id)
{
	struct perf_event_attr attr = { .size = 64, .sample_type = sample_type };
	const struct perf_file_section ids = { IDS_AT + 8 * made.attrs, 8 };
	uint8_t *at = made.bytes + ATTRS_AT + ATTR_SIZE * made.attrs;

	attr.sample_id_all = id_all;
	memcpy(at, &attr, 64);
	memcpy(at + 64, &ids, sizeof(ids));
	memcpy(made.bytes + ids.offset, &id, 8);
	made.attrs++;
	made.header.attrs.size += ATTR_SIZE;
}

static void record(uint32_t type, const void *body, size_t size)
{
	const struct perf_event_header header = { .type = type, .size = (uint16_t)(8 + size) };

	put(&header, sizeof(header));
	put(body, size);
}

/* Return: the result of opening; *file is NULL after an error */
static int opens(struct ntrace_perf_file **file)
{
	FILE *out = fopen(in("perf.data"), "w");
	int error;

	memcpy(made.bytes, &made.header, sizeof(made.header));
	if (!out || fwrite(made.bytes, 1, made.size, out) != made.size)
		exit(2);
	fclose(out);
	error = ntrace_perf_file_open(file, in("perf.data"));
	if (error)
		*file = NULL;
	return error;
}

static void check_open(int want, const char *what)
{
	struct ntrace_perf_file *file;

	is_u64((uint64_t)opens(&file), (uint64_t)want, "%s", what);
	ntrace_perf_file_close(file);
}

/* ---- the header ---- */

static void test_header(void)
{
	struct ntrace_perf_file *file;

	begin();
	check_open(0, "a file without events");
	made.header.magic = PERF_FILE_MAGIC_SWAPPED;
	check_open(NTRACE_ERR_UNSUPPORTED, "a file of the other byte order");
	made.header.magic = PERF_FILE_MAGIC + 1;
	check_open(NTRACE_ERR_FORMAT, "another magic number");
	begin();
	made.size = 16;
	check_open(NTRACE_ERR_FORMAT, "a file that ends in its header");
	made.size = 15;
	made.header.size = 16;
	check_open(NTRACE_ERR_FORMAT, "a file of 15 bytes");
	made.size = 16;
	check_open(0, "a pipe without records");
	made.size = 0;
	check_open(NTRACE_ERR_FORMAT, "an empty file");
	begin();
	made.size = sizeof(made.header) - 1;
	made.header.data.offset = 0;
	check_open(NTRACE_ERR_FORMAT, "a header that is one byte short");
	made.size++;
	made.header.attrs.offset = 0;
	check_open(0, "a header alone");
	begin();
	made.header.data.offset = DATA_AT + 1;
	check_open(NTRACE_ERR_FORMAT, "records after the end of the file");
	begin();
	made.header.attr_size = ATTR_SIZE - 1;
	check_open(NTRACE_ERR_FORMAT, "events that are too small");
	made.header.attr_size = 65536;
	check_open(0, "the largest events");
	made.header.attr_size = 65537;
	check_open(NTRACE_ERR_FORMAT, "events that are too large");
	begin();
	made.header.attrs.offset = DATA_AT - ATTR_SIZE + 1;
	made.header.attrs.size = ATTR_SIZE;
	check_open(NTRACE_ERR_FORMAT, "an event that leaves the file");
	made.header.attrs.offset--;
	check_open(0, "an event at its end");
	made.header.attrs.offset = UINT64_MAX - 10;
	check_open(NTRACE_ERR_FORMAT, "an event far outside");
	begin();
	event(0, true, 1);
	memcpy(made.bytes + ATTRS_AT + 64, &(struct perf_file_section){ DATA_AT - 7, 8 }, 16);
	check_open(NTRACE_ERR_FORMAT, "ids that leave the file");
	memcpy(made.bytes + ATTRS_AT + 64, &(struct perf_file_section){ 0, DATA_AT }, 16);
	check_open(0, "as many ids as the file has room for");
	event(0, true, 1);
	check_open(NTRACE_ERR_FORMAT, "one more");

	is_u64((uint64_t)ntrace_perf_file_open(&file, in("none")), (uint64_t)NTRACE_ERR_IO,
	       "no such file");
	is_u64((uint64_t)errno, ENOENT, "errno says so");
	mkdir(in("directory"), 0700);
	is_u64((uint64_t)ntrace_perf_file_open(&file, in("directory")), (uint64_t)NTRACE_ERR_IO,
	       "a directory without data");
	is_u64((uint64_t)ntrace_perf_file_open(&file, "/dev/null"), (uint64_t)NTRACE_ERR_FORMAT,
	       "not a file");
	begin();
	check_open(0, "a file");
	run("mv %s %s/data", in("perf.data"), in("directory"));
	is_u64((uint64_t)ntrace_perf_file_open(&file, in("directory")), 0, "a directory with data");
	ntrace_perf_file_close(file);
	ntrace_perf_file_close(NULL);
}

static void test_events(void)
{
	struct ntrace_perf_file *file;

	begin();
	event(PERF_SAMPLE_TIME, true, 5);
	event(PERF_SAMPLE_TID, false, 6);
	is_u64((uint64_t)opens(&file), 0, "two events");
	is_u64(ntrace_perf_file_events(file), 2, "their number");
	ok(ntrace_perf_file_attr(file, 0)->sample_type == PERF_SAMPLE_TIME &&
		   ntrace_perf_file_attr(file, 1)->sample_type == PERF_SAMPLE_TID &&
		   !ntrace_perf_file_attr(file, 2),
	   "their attributes");
	ntrace_perf_file_close(file);
}

/* ---- features ---- */

static void test_features(void)
{
	static const char padded[] = "text\0\0\0\0";
	struct perf_file_section sections[3] = { { 0 } };
	struct ntrace_perf_file *file;
	uint32_t length = 8;
	size_t table;

	begin();
	made.header.features[0] = 1 << 3 | 1 << 6 | 1 << 7;
	table = made.size;
	put(sections, sizeof(sections));
	sections[0] = (struct perf_file_section){ made.size, 4 + 8 };
	sections[1] = (struct perf_file_section){ made.size, 4 + 4 };
	sections[2] = sections[0];
	put(&length, 4);
	put(padded, 8);
	memcpy(made.bytes + table, sections, sizeof(sections));
	is_u64((uint64_t)opens(&file), 0, "a file with features");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_HOSTNAME), "text",
	       "the name of the host");
	ok(!ntrace_perf_file_feature(file, NTRACE_PERF_ARCH), "a text that leaves its section");
	ok(!ntrace_perf_file_feature(file, NTRACE_PERF_OSRELEASE), "a feature that is not there");
	ok(!ntrace_perf_file_feature(file, 7) && !ntrace_perf_file_feature(file, 2),
	   "features that are no text");
	ntrace_perf_file_close(file);
	sections[0].size = 3;
	sections[1].offset = made.size - 11;
	sections[1].size = 12;
	memcpy(made.bytes + table, sections, sizeof(sections));
	is_u64((uint64_t)opens(&file), 0,
	       "a section too short for a length, one that leaves the file");
	ok(!ntrace_perf_file_feature(file, NTRACE_PERF_HOSTNAME) &&
		   !ntrace_perf_file_feature(file, NTRACE_PERF_ARCH),
	   "are left out");
	ntrace_perf_file_close(file);
	sections[0].size = 12;
	memcpy(made.bytes + table, sections, sizeof(sections));
	made.size = table + 31;
	sections[0].offset = made.header.data.offset - 100;
	memcpy(made.bytes + table, sections, 16);
	memcpy(made.bytes + DATA_AT - 100, &(uint32_t){ 4 }, 4);
	memcpy(made.bytes + DATA_AT - 96, "host", 4);
	is_u64((uint64_t)opens(&file), 0, "a cut table of features");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_HOSTNAME), "host", "has its first one");
	ok(!ntrace_perf_file_feature(file, NTRACE_PERF_ARCH), "but not the next");
	ntrace_perf_file_close(file);
}

static bool is_named(const struct ntrace_perf_file *file, uint32_t type, const char *expected)
{
	const char *name = ntrace_perf_file_pmu(file, type);

	return expected ? name && !strcmp(name, expected) : !name;
}

/*
 * Names of PMUs: a table of types and names (PMU_MAPPINGS, 16), or the events that are named after one
 * (EVENT_DESC, 12). A section is read as far as it is there.
 */
static void test_pmus(void)
{
	static const char names[2][16] = { "software", "gtrace" };
	const uint32_t cpus[2] = { 6, 4 }, count = 2, length = 16, types[2] = { 1, 42 }, ids = 1;
	const struct perf_event_attr attr = { .type = 42, .size = sizeof(attr) };
	struct perf_file_section sections[2];
	struct ntrace_perf_file *file;
	size_t table, at, good = 0;

	begin();
	made.header.features[0] = 1 << 7 | 1 << 16;
	table = made.size;
	put(sections, sizeof(sections));
	at = made.size;
	put(cpus, sizeof(cpus));
	put(&count, 4);
	for (size_t i = 0; i < 2; i++) {
		put(&types[i], 4);
		put(&length, 4);
		put(names[i], length);
	}
	for (size_t size = 0; size <= 52; size++) {
		bool first = size >= 28, second = size == 52;

		sections[0] = (struct perf_file_section){ at, size < 8 ? size : 8 };
		sections[1] = (struct perf_file_section){ at + 8, size };
		memcpy(made.bytes + table, sections, sizeof(sections));
		if (opens(&file))
			break;
		good += is_named(file, 1, first ? "software" : NULL) &&
			is_named(file, 42, second ? "gtrace" : NULL) && is_named(file, 2, NULL) &&
			ntrace_perf_file_cpus(file) == (size < 4 ? 0 : 6);
		ntrace_perf_file_close(file);
	}
	is_u64(good, 53, "names of PMUs as far as they are there, and the number of CPUs");
	begin();
	made.header.features[0] = 1 << 12;
	table = made.size;
	put(sections, sizeof(sections[0]));
	at = made.size;
	put(&count, 4);
	put(&attr.size, 4);
	for (size_t i = 0; i < 2; i++) {
		put(&attr, sizeof(attr));
		put(&ids, 4);
		put(&length, 4);
		put(i ? "other//u\0\0\0\0\0\0\0" : "rvtrace//u\0\0\0\0\0", length);
		put(&(uint64_t){ 1 }, 8);
	}
	sections[0] = (struct perf_file_section){ at, made.size - at };
	memcpy(made.bytes + table, sections, sizeof(sections[0]));
	is_u64((uint64_t)opens(&file), 0, "events with names");
	is_str(ntrace_perf_file_pmu(file, 42), "rvtrace", "the PMU of the first");
	ok(!ntrace_perf_file_cpus(file), "no number of CPUs");
	ntrace_perf_file_close(file);
}

/* ---- records ---- */

static unsigned int seen;
static struct ntrace_perf_record last;

static int see(void *data, const struct ntrace_perf_record *found)
{
	last = *found;
	seen++;
	return data ? *(int *)data : 0;
}

static int records(void)
{
	struct ntrace_perf_file *file;
	int result;

	seen = 0;
	if (opens(&file))
		return 1000;
	result = ntrace_perf_file_records(file, see, NULL);
	ntrace_perf_file_close(file);
	return result;
}

static void test_records(void)
{
	static const uint64_t body[8] = { 1, 2, 3 };
	struct perf_auxtrace_record aux = { .size = 24 };
	struct ntrace_perf_file *file;
	int stop = 77;

	begin();
	record(14, body, 8);
	record(99, body, 24);
	made.header.data.size = made.size - DATA_AT;
	is_u64((uint64_t)records(), 0, "two records");
	ok(seen == 2 && last.type == 99 && last.size == 32 && last.position == DATA_AT + 16 &&
		   !last.payload_size,
	   "the second one");
	opens(&file);
	seen = 0;
	is_u64((uint64_t)ntrace_perf_file_records(file, see, &stop), 77, "the callback can stop");
	is_u64(seen, 1, "at the first one");
	ntrace_perf_file_close(file);
	made.header.data.size--;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED, "a record that is cut");
	is_u64(seen, 1, "is left out");
	made.header.data.size = 16 + 7;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED, "half a header");
	made.header.data.size = 16;
	is_u64((uint64_t)records(), 0, "the section ends between records");
	made.header.data.size = made.size - DATA_AT + 1;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED,
	       "a section that leaves the file");
	is_u64(seen, 2, "has its records");
	made.header.data.size = 0;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED, "no size: perf did not end");
	is_u64(seen, 2, "its records are there");
	made.header.features[0] = 1 << 3;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED,
	       "no size, and features that perf would have written at the end");
	is_u64(seen, 2, "its records are there, too");
	begin();
	made.header.features[0] = 1 << 3;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED,
	       "no features there, and no record");
	put(&(struct perf_file_section){ DATA_AT + 16, 0 }, sizeof(struct perf_file_section));
	is_u64((uint64_t)records(), 0, "no size, but features");
	is_u64(seen, 0, "there are no records");
	begin();
	record(14, body, 8);
	made.bytes[DATA_AT + 6] = 7;
	made.header.data.size = 16;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED,
	       "a size below that of a header");
	is_u64(seen, 0, "is no record");

	begin();
	record(71, (const uint8_t *)&aux + 8, sizeof(aux) - 8);
	put(body, 24);
	record(14, body, 0);
	made.header.data.size = made.size - DATA_AT;
	is_u64((uint64_t)records(), 0, "bytes after a record of an AUX area");
	ok(seen == 2 && last.type == 14, "belong to it");
	made.header.data.size = sizeof(aux) + 24;
	records();
	ok(seen == 1 && last.payload_size == 24 && last.size == sizeof(aux), "and are its payload");
	made.header.data.size--;
	is_u64((uint64_t)records(), (uint64_t)NTRACE_ERR_TRUNCATED, "a payload that is cut");
	begin();
	record(71, body, 8);
	made.header.data.size = 16;
	is_u64((uint64_t)records(), 0, "a record of an AUX area that is too short has no payload");
}

static void test_auxtrace(void)
{
	const struct perf_auxtrace_record parts = {
		.offset = 0x1000, .index = 2, .tid = 3, .cpu = 4
	};
	struct ntrace_perf_record of = { .type = 71, .size = sizeof(parts) };
	struct ntrace_perf_auxtrace auxtrace;

	of.data = (const uint8_t *)&parts;
	is_u64((uint64_t)ntrace_perf_file_auxtrace(&of, &auxtrace), 0, "an AUX area");
	ok(auxtrace.offset == 0x1000 && auxtrace.index == 2 && auxtrace.tid == 3 &&
		   auxtrace.cpu == 4,
	   "its fields");
	of.size--;
	is_u64((uint64_t)ntrace_perf_file_auxtrace(&of, &auxtrace), (uint64_t)NTRACE_ERR_TRUNCATED,
	       "a short one");
	of.type = 70;
	is_u64((uint64_t)ntrace_perf_file_auxtrace(&of, &auxtrace),
	       (uint64_t)NTRACE_ERR_UNSUPPORTED, "another record");
}

/* ---- sideband ---- */

static char times[200];

static int note_time(void *data, const struct ntrace_sideband *sideband)
{
	snprintf(times + strlen(times), sizeof(times) - strlen(times), " %u:%u@%u", sideband->type,
		 (unsigned int)sideband->tid, (unsigned int)sideband->time);
	return data ? *(int *)data : 0;
}

/* A switch of a thread, with a trailer of TID, TIME and IDENTIFIER. */
static void switch_of(uint32_t tid, uint64_t time, uint64_t id)
{
	const uint64_t trailer[] = { (uint64_t)tid << 32, time, id };

	record(14, trailer, sizeof(trailer));
}

static void test_sideband(void)
{
	const uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	struct ntrace_perf_counts counts;
	struct ntrace_perf_file *file;
	int stop = 78;

	begin();
	event(type, true, 9);
	switch_of(1, 300, 9);
	switch_of(2, 100, 9);
	switch_of(3, 300, 9);
	switch_of(4, 200, 9);
	record(9, "12345678", 8);
	record(10, "12345678", 8);
	record(81, "12345678", 8);
	made.header.data.size = made.size - DATA_AT;
	opens(&file);
	times[0] = '\0';
	is_u64((uint64_t)ntrace_perf_file_sideband(file, note_time, NULL, &counts), 0, "sideband");
	is_str(times, " 14:2@100 14:4@200 14:1@300 14:3@300",
	       "in the order of time, and of the file at the same time");
	ok(counts.sideband == 4 && counts.others == 1 && counts.damaged == 1 &&
		   counts.compressed == 1 && !counts.truncated,
	   "all records are counted");
	times[0] = '\0';
	is_u64((uint64_t)ntrace_perf_file_sideband(file, note_time, &stop, NULL), 78,
	       "the callback can stop");
	is_str(times, " 14:2@100", "after the first one");
	ntrace_perf_file_close(file);
	made.header.data.size = 32;
	made.header.data.size += 31;
	opens(&file);
	times[0] = '\0';
	ntrace_perf_file_sideband(file, note_time, NULL, &counts);
	ok(counts.sideband == 1 && counts.truncated, "a cut file says so");
	ntrace_perf_file_close(file);
}

/* If events differ, the id at the end of a record tells which trailer it has. */
static void test_trailers(void)
{
	const uint64_t with_tid = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	const uint64_t without = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	struct ntrace_perf_file *file;

	for (unsigned int kind = 0; kind < 3; kind++) {
		static const char *const want[] = {
			" 14:1@100 14:1@100 14:4294967295@200",
			" 14:1@100 14:1@100 14:1@200",
			" 14:4294967295@0 14:4294967295@0 14:4294967295@0",
		};

		begin();
		event(with_tid, kind != 2, 30);
		event(kind == 1 ? with_tid : without, kind != 2, 20);
		event(with_tid, kind != 2, 25);
		switch_of(1, 100, 25);
		switch_of(1, 100, 999);
		switch_of(1, 200, 20);
		made.header.data.size = made.size - DATA_AT;
		opens(&file);
		times[0] = '\0';
		ntrace_perf_file_sideband(file, note_time, NULL, NULL);
		is_str(times, want[kind],
		       kind == 0 ? "trailers by id; an unknown id is the first event's" :
		       kind == 1 ? "the same trailer for all" :
				   "no trailers");
		ntrace_perf_file_close(file);
	}
	/* Without PERF_SAMPLE_IDENTIFIER, the first event's. */
	begin();
	event(PERF_SAMPLE_TID | PERF_SAMPLE_TIME, true, 30);
	event(PERF_SAMPLE_TIME, true, 20);
	record(14, (const uint64_t[]){ UINT64_C(5) << 32, 20 }, 16);
	made.header.data.size = made.size - DATA_AT;
	opens(&file);
	times[0] = '\0';
	ntrace_perf_file_sideband(file, note_time, NULL, NULL);
	is_str(times, " 14:5@20", "the first event's trailer, if no id is last");
	ntrace_perf_file_close(file);
}

/* ---- the writer ---- */

static const struct perf_event_header alone = { .type = 14, .size = 8 };

static void test_writer_events(void)
{
	struct perf_event_attr attr = { .size = PERF_ATTR_SIZE_VER0,
					.sample_type = PERF_SAMPLE_TIME };
	const uint64_t ids[] = { 5, 6 };
	struct ntrace_perf_writer *writer;
	struct ntrace_perf_file *file;

	is_u64((uint64_t)ntrace_perf_writer_open(&writer, in("none/x")), (uint64_t)NTRACE_ERR_IO,
	       "no such directory");
	is_u64((uint64_t)ntrace_perf_writer_open(&writer, in("made")), 0, "a writer");
	attr.size = PERF_ATTR_SIZE_VER0 - 1;
	is_u64((uint64_t)ntrace_perf_writer_event(writer, &attr, ids, 2, "a"),
	       (uint64_t)NTRACE_ERR_INVALID, "an event that is too small");
	attr.size = 4097;
	is_u64((uint64_t)ntrace_perf_writer_event(writer, &attr, ids, 2, "a"),
	       (uint64_t)NTRACE_ERR_INVALID, "one that is too large");
	attr.size = PERF_ATTR_SIZE_VER0;
	is_u64((uint64_t)ntrace_perf_writer_event(writer, &attr, ids, 2, "a"), 0, "an event");
	attr.size += 8;
	is_u64((uint64_t)ntrace_perf_writer_event(writer, &attr, ids, 2, "a"),
	       (uint64_t)NTRACE_ERR_INVALID, "one of another size");
	attr.size -= 8;
	is_u64((uint64_t)ntrace_perf_writer_event(writer, &attr, NULL, 0, NULL), 0,
	       "one without ids and name");
	is_u64((uint64_t)ntrace_perf_writer_records(writer, &alone, 8), 0, "a record");
	is_u64((uint64_t)ntrace_perf_writer_finish_round(writer), 0, "the end of a round");
	is_u64((uint64_t)ntrace_perf_writer_event(writer, &attr, ids, 2, "a"),
	       (uint64_t)NTRACE_ERR_INVALID, "events come before records");
	is_u64((uint64_t)ntrace_perf_writer_flush(writer), 0, "written so far");
	is_u64((uint64_t)ntrace_perf_file_open(&file, in("made")), 0, "can be read");
	seen = 0;
	is_u64((uint64_t)ntrace_perf_file_records(file, see, NULL), (uint64_t)NTRACE_ERR_TRUNCATED,
	       "as a file that is not complete");
	ok(seen == 2 && last.type == 68, "with its records");
	ntrace_perf_file_close(file);
	is_u64((uint64_t)ntrace_perf_writer_close(writer), 0, "complete");
	ntrace_perf_file_open(&file, in("made"));
	seen = 0;
	is_u64((uint64_t)ntrace_perf_file_records(file, see, NULL), 0, "now it is");
	ok(ntrace_perf_file_events(file) == 2 && seen == 2, "events and records");
	ntrace_perf_file_close(file);
	is_u64((uint64_t)ntrace_perf_writer_close(NULL), 0, "nothing to close");
}

/* Records must be whole; a call with a wrong one writes nothing. */
static void test_writer_records(void)
{
	struct perf_event_header two[2] = { alone, alone };
	struct ntrace_perf_writer *writer;

	ntrace_perf_writer_open(&writer, in("made"));
	for (size_t size = 1; size < 16; size++)
		if (size != 8)
			is_u64((uint64_t)ntrace_perf_writer_records(writer, two, size),
			       (uint64_t)NTRACE_ERR_INVALID, "%zu bytes of records", size);
	two[1].size = 7;
	is_u64((uint64_t)ntrace_perf_writer_records(writer, two, 16), (uint64_t)NTRACE_ERR_INVALID,
	       "a record of 7 bytes");
	two[1].size = 9;
	is_u64((uint64_t)ntrace_perf_writer_records(writer, two, 16), (uint64_t)NTRACE_ERR_INVALID,
	       "one that is longer than the rest");
	is_u64((uint64_t)ntrace_perf_writer_sideband(writer,
						     &(struct ntrace_sideband){ .type = 9 }),
	       (uint64_t)NTRACE_ERR_INVALID, "a record that is not sideband");
	is_u64((uint64_t)ntrace_perf_writer_records(writer, &alone, 0), 0, "no record");
	ntrace_perf_writer_close(writer);
	ntrace_perf_writer_open(&writer, "/dev/full");
	ntrace_perf_writer_records(writer, &alone, 8);
	errno = 0;
	is_u64((uint64_t)ntrace_perf_writer_flush(writer), (uint64_t)NTRACE_ERR_IO,
	       "a full device");
	is_u64((uint64_t)errno, ENOSPC, "errno says so");
	is_u64((uint64_t)ntrace_perf_writer_records(writer, &alone, 8), (uint64_t)NTRACE_ERR_IO,
	       "the error stays");
	errno = 0;
	is_u64((uint64_t)ntrace_perf_writer_close(writer), (uint64_t)NTRACE_ERR_IO,
	       "also at the end");
	is_u64((uint64_t)errno, ENOSPC, "with its errno");
}

/* HEADER_TRACING_DATA is the first section: what perf needs to read tracepoints. */
static void check_tracepoints(const char *path)
{
	struct perf_file_header header = { 0 };
	struct perf_file_section section = { 0 };
	char content[8] = "";
	FILE *file = fopen(path, "rb");

	if (file && fread(&header, sizeof(header), 1, file) == 1 &&
	    !fseeko(file, (off_t)(header.data.offset + header.data.size), SEEK_SET) &&
	    fread(&section, sizeof(section), 1, file) == 1 && section.size < sizeof(content) &&
	    !fseeko(file, (off_t)section.offset, SEEK_SET))
		is_u64(fread(content, 1, section.size, file), 7, "tracepoints: their size");
	if (file)
		fclose(file);
	is_u64(header.features[0] & 3, 2, "tracepoints: the feature");
	is_str(content, "formats", "tracepoints: their formats");
}

static void test_writer_features(void)
{
	const char *argv[] = { "perf", "record" };
	const struct ntrace_perf_features features = { .size = sizeof(features),
						       .hostname = "host",
						       .release = "6.12",
						       .version = "1.0",
						       .arch = "riscv64",
						       .cpus_online = 2,
						       .cpus_available = 4,
						       .argv = argv,
						       .argc = 2,
						       .tracepoints = "formats",
						       .tracepoints_size = 7 };
	struct ntrace_perf_writer *writer;
	struct ntrace_perf_file *file;
	uint8_t id[20] = { 1 };
	char path[4098];

	memset(path, 'x', sizeof(path));
	path[4097] = '\0';
	ntrace_perf_writer_open(&writer, in("made"));
	is_u64((uint64_t)ntrace_perf_writer_features(writer, &features), 0, "features");
	is_u64((uint64_t)ntrace_perf_writer_build_id(writer, false, "/bin/a", id, 0),
	       (uint64_t)NTRACE_ERR_INVALID, "an empty build ID");
	is_u64((uint64_t)ntrace_perf_writer_build_id(writer, false, "/bin/a", id, 21),
	       (uint64_t)NTRACE_ERR_INVALID, "one of 21 bytes");
	is_u64((uint64_t)ntrace_perf_writer_build_id(writer, false, path, id, 20),
	       (uint64_t)NTRACE_ERR_INVALID, "a path of 4097 bytes");
	path[4096] = '\0';
	is_u64((uint64_t)ntrace_perf_writer_build_id(writer, false, path, id, 20), 0, "of 4096");
	is_u64((uint64_t)ntrace_perf_writer_build_id(writer, true, "[kernel]", id, 1), 0,
	       "one of a byte");
	is_u64((uint64_t)ntrace_perf_writer_close(writer), 0, "complete");
	check_tracepoints(in("made"));
	is_u64((uint64_t)ntrace_perf_file_open(&file, in("made")), 0, "can be read");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_HOSTNAME), "host",
	       "the name of the host");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_OSRELEASE), "6.12", "the kernel");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_VERSION), "1.0", "the version");
	is_str(ntrace_perf_file_feature(file, NTRACE_PERF_ARCH), "riscv64", "the architecture");
	ntrace_perf_file_close(file);
}

int main(void)
{
	if (!scratch_make())
		return 1;
	test_header();
	test_events();
	test_features();
	test_pmus();
	test_records();
	test_auxtrace();
	test_sideband();
	test_trailers();
	test_writer_events();
	test_writer_records();
	test_writer_features();
	scratch_remove();
	return done_testing();
}
