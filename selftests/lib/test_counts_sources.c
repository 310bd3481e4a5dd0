// SPDX-License-Identifier: GPL-2.0-only
/* Sources of counts files: what the writer and the reader refuse, and sums. selftests/tools/counts.sh has those of recordings. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <ntrace/counts_file.h>

#include "tap.h"

#define HEADER 16
#define RECORD 8
#define SOURCE 32
#define END 40

static uint8_t bytes[HEADER + 3 * (RECORD + 1024 * SOURCE) + END];
static size_t size;

static struct ntrace_counts_source source_of(uint8_t id, uint32_t part, uint32_t parts)
{
	struct ntrace_counts_source source = { .part = part, .parts = parts };

	source.id[15] = id;
	return source;
}

static void put_number_at(size_t at, uint64_t value, unsigned int count)
{
	while (count--) {
		bytes[at++] = (uint8_t)value;
		value >>= 8;
	}
}

static void fix_checksum(void)
{
	put_number_at(size - 8, crc32(0, bytes, (unsigned int)size - 8), 4);
}

/* A file of sources alone: numbers 1 to @count, all counted. */
static void make_file(size_t count)
{
	struct ntrace_counts_writer *writer;
	struct ntrace_counts_source source = { .part = 0 };
	FILE *file = fmemopen(bytes, sizeof(bytes), "w");
	bool put = true;

	ntrace_counts_writer_new(&writer, file);
	for (size_t i = 1; i <= count; i++) {
		source.id[0] = (uint8_t)(i >> 8);
		source.id[1] = (uint8_t)i;
		put &= !ntrace_counts_put_source(writer, &source);
	}
	ok(put && !ntrace_counts_writer_end(writer, NULL), "a file of %zu sources", count);
	ntrace_counts_writer_free(writer);
	size = (size_t)ftell(file);
	fclose(file);
}

/* Return: the number of sources, or -1 with the reason */
static int64_t sources_read(const char **reason)
{
	const struct ntrace_counts_group *group;
	const struct ntrace_counts_entry *entry;
	struct ntrace_counts_reader *reader;
	FILE *file = fmemopen(bytes, size, "r");
	size_t count = 1;
	int64_t result;

	ntrace_counts_reader_new(&reader, file);
	ntrace_counts_reader_sources(reader, &count);
	ok(!count, "before the end none are known");
	result = ntrace_counts_next(reader, &group, &entry);
	*reason = ntrace_counts_reader_problem(reader, NULL);
	ntrace_counts_reader_sources(reader, &count);
	result = result ? -1 : (int64_t)count;
	ntrace_counts_reader_free(reader);
	fclose(file);
	return result;
}

static void refused(const char *why)
{
	const char *reason;

	fix_checksum();
	ok(sources_read(&reason) < 0 && reason && !strcmp(reason, why), "refused: %s", why) ||
		(diag("%s", reason), 0);
}

static void test_file(void)
{
	static const size_t counts[] = { 0, 1, 1023, 1024, 1025, 2048 };
	const char *reason;
	uint8_t copy[RECORD + 2 * SOURCE];

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		make_file(counts[i]);
		is_u64((uint64_t)sources_read(&reason), counts[i], "are read again");
	}
	make_file(2);
	put_number_at(HEADER + RECORD + SOURCE, 0, 2);
	refused("a source is out of order");
	make_file(2);
	put_number_at(HEADER + RECORD + 16, 1, 4);
	refused("the part of a source does not exist");
	put_number_at(HEADER + RECORD + 16, 0, 4);
	put_number_at(HEADER + RECORD + 20, 3, 4);
	refused("the part of a source does not exist");
	put_number_at(HEADER + RECORD + 16, 4, 4);
	refused("the part of a source does not exist");
	put_number_at(HEADER + RECORD + 16, 3, 4);
	fix_checksum();
	is_u64((uint64_t)sources_read(&reason), 2, "the last part");
	make_file(2);
	put_number_at(HEADER + 4, 0, 4);
	refused("the number of sources is not between 1 and 1024");
	put_number_at(HEADER + 4, 1025, 4);
	refused("the number of sources is not between 1 and 1024");
	/* The record twice: the first one is not full. */
	make_file(2);
	memcpy(copy, bytes + HEADER, sizeof(copy));
	memmove(bytes + HEADER + sizeof(copy), bytes + HEADER, size - HEADER);
	memcpy(bytes + HEADER, copy, sizeof(copy));
	size += sizeof(copy);
	refused("sources follow a record of sources that is not full");
	bytes[HEADER + sizeof(copy)] = 1;
	refused("a record follows the sources");
	/* In version 3 they have no selection: 24 bytes each. */
	make_file(2);
	put_number_at(8, 3, 2);
	memmove(bytes + HEADER + RECORD + 24, bytes + HEADER + RECORD + SOURCE, 24);
	memmove(bytes + HEADER + RECORD + 48, bytes + HEADER + RECORD + 2 * SOURCE, END);
	size -= 16;
	fix_checksum();
	is_u64((uint64_t)sources_read(&reason), 2, "sources of version 3");
	/* Version 2 has none. */
	make_file(2);
	put_number_at(8, 2, 2);
	refused("the type of a record does not exist");
}

/* Counts of samples have one number more in their losses, since version 4. */
static void test_samples(void)
{
	const struct ntrace_counts_losses one = { .sampled = 1 };
	struct ntrace_counts_writer *writer;
	struct ntrace_counts_totals totals;
	FILE *file = fmemopen(bytes, sizeof(bytes), "w");
	const char *reason;

	ntrace_counts_writer_new(&writer, file);
	ntrace_counts_put_losses(writer, &one);
	ntrace_counts_put_losses(writer, &one);
	ok(!ntrace_counts_writer_end(writer, &totals), "counts of samples");
	ntrace_counts_writer_free(writer);
	size = (size_t)ftell(file);
	fclose(file);
	is_u64(totals.losses.sampled, 2, "of two inputs");
	is_u64(size, HEADER + RECORD + 40 + END, "the record has 40 bytes");
	is_u64(bytes[HEADER + RECORD + 32], 2, "with their number at the end");
	is_u64((uint64_t)sources_read(&reason), 0, "are read again");
	put_number_at(8, 3, 2);
	refused("the size of losses is not 32, or 40");
	put_number_at(8, NTRACE_COUNTS_VERSION, 2);
	put_number_at(HEADER + RECORD + 32, 0, 8);
	refused("there are no losses");
}

static void test_writer(void)
{
	const struct ntrace_counts_source bad[] = { source_of(9, 1, 0), source_of(9, 0, 1),
						    source_of(9, 3, 2), source_of(1, 0, 0),
						    source_of(2, 0, 0) };
	const struct ntrace_counts_source good = source_of(2, 0, 0);
	struct ntrace_counts_writer *writer;
	FILE *file = tmpfile();

	ntrace_counts_writer_new(&writer, file);
	ok(!ntrace_counts_put_source(writer, &good), "a source");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(ntrace_counts_put_source(writer, &bad[i]) == NTRACE_ERR_INVALID,
		   "not a part that does not exist, nor one out of order: %zu", i);
	ntrace_counts_writer_free(writer);
	fclose(file);
}

/* Return: the error of writing; the sources are in @merger */
static int sum_of(struct ntrace_counts_merger *merger, const struct ntrace_counts_source *sources,
		  size_t count)
{
	FILE *file = tmpfile();
	int error;

	for (size_t i = 0; i < count; i++)
		ntrace_counts_merger_add_source(merger, &sources[i]);
	error = ntrace_counts_merger_write(merger, file, NULL);
	fclose(file);
	return error;
}

static void test_sums(void)
{
	const struct ntrace_counts_source lacking[] = { source_of(7, 2, 3), source_of(5, 0, 0),
							source_of(7, 1, 4), source_of(5, 1, 3) };
	const struct ntrace_counts_source twice[] = { source_of(5, 0, 0), source_of(6, 0, 0),
						      source_of(5, 0, 0) };
	const struct ntrace_counts_source *sources;
	struct ntrace_counts_merger *merger;
	size_t count = 9;

	ntrace_counts_merger_new(&merger, NULL);
	ntrace_counts_merger_sources(merger, &count);
	ok(!count, "a sum that was not written");
	ok(!sum_of(merger, lacking, 4), "a sum that lacks a source");
	sources = ntrace_counts_merger_sources(merger, &count);
	ok(count == 2 && sources[0].id[15] == 5 && !sources[0].part && !sources[0].parts,
	   "what one input counts is counted");
	ok(sources[1].id[15] == 7 && sources[1].part == 2 && sources[1].parts == 3,
	   "what none counts is a part of the run with fewer parts");
	ok(sum_of(merger, twice, 3) == NTRACE_ERR_INVALID, "a source that counts twice");
	ok(strstr(ntrace_counts_merger_problem(merger), "counts a stream of a recording that"),
	   "the problem says so");
	ntrace_counts_merger_free(merger);
}

/* Parts of a run that select other code do not add up. One that does not know adds up with each. */
static void test_selections(void)
{
	/* Selections of the part that counts and of two that do not; whether they add up. */
	static const struct {
		uint64_t selection[3];
		bool joined;
	} cases[] = {
		{ { 5, 5, 5 }, true },	{ { 5, 6, 5 }, false }, { { 5, 5, 6 }, false },
		{ { 0, 5, 5 }, true },	{ { 0, 5, 6 }, false }, { { 5, 0, 0 }, true },
		{ { 0, 0, 0 }, true },
	};
	const struct ntrace_counts_source *sources;
	size_t count;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_counts_merger *merger;
		int error;
		struct ntrace_counts_source parts[] = { source_of(5, 0, 0), source_of(5, 1, 3),
							source_of(5, 1, 3) };

		for (size_t part = 0; part < 3; part++)
			parts[part].selection = cases[i].selection[part];
		ntrace_counts_merger_new(&merger, NULL);
		error = sum_of(merger, parts, 3);
		ok(!error == cases[i].joined, "selections %zu: %d", i, error);
		sources = ntrace_counts_merger_sources(merger, &count);
		ok(error || (count == 1 && !sources->part && sources->selection == (i < 6 ? 5 : 0)),
		   "the sum has the selection that is known: %zu", i);
		ok(!error || strstr(ntrace_counts_merger_problem(merger), "selects other code"),
		   "the problem says so: %zu", i);
		ntrace_counts_merger_free(merger);
	}
}

int main(void)
{
	test_file();
	test_writer();
	test_samples();
	test_sums();
	test_selections();
	return done_testing();
}
