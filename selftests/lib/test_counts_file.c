// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/counts: every rule of the format is enforced, with offset and reason; writing and reading are
 * inverse; sums depend neither on the order of files nor on the number that is merged at once; a
 * profile that is emptied at any time adds up to the same. selftests/tools/counts.sh uses recordings.
 */
#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#include <ntrace/counts_file.h>

#include "counts/format.h"
#include "scratch.h"
#include "tap.h"

static const uint8_t id_a[20] = { 1, 2, 3 }, id_b[20] = { 1, 2, 4 };

static const struct ntrace_counts_object object_a = { "/bin/a", id_a, 20, 0x1000, 0 },
					 object_b = { "/bin/b", id_b, 20, 0x2000, 0 },
					 object_short = { "/bin/s", id_b, 8, 0, 0 },
					 object_named = { "named", NULL, 0, 0x40, 7 }, unknown;

static struct ntrace_counts_entry entry_at(uint64_t start)
{
	return (struct ntrace_counts_entry){ .start = start,
					     .end = start + 8,
					     .from = 0x50,
					     .count = 7,
					     .instructions = 3,
					     .from_class = NTRACE_INSN_JUMP,
					     .end_class = NTRACE_INSN_RETURN,
					     .taken = true };
}

static struct ntrace_counts_group group_of(struct ntrace_counts_object object,
					   struct ntrace_counts_object from, uint32_t privilege,
					   const char *label)
{
	return (struct ntrace_counts_group){
		.object = object, .from_object = from, .privilege = privilege, .label = label
	};
}

/* ---- a file in memory ---- */

static uint8_t bytes[1 << 20];
static size_t size;

static FILE *begin(struct ntrace_counts_writer **writer)
{
	FILE *file = fmemopen(bytes, sizeof(bytes), "w");

	ntrace_counts_writer_new(writer, file);
	return file;
}

static void end(FILE *file, struct ntrace_counts_writer *writer,
		struct ntrace_counts_totals *totals)
{
	ok(!ntrace_counts_writer_end(writer, totals), "the file is complete");
	size = (size_t)ftell(file);
	ntrace_counts_writer_free(writer);
	fclose(file);
}

static void put_number_at(size_t at, uint64_t value, unsigned int width)
{
	put_number(bytes + at, value, width);
}

static void fix_checksum(void)
{
	put_number_at(size - 8, crc32(0, bytes, (unsigned int)size - 8), 4);
}

static void refused(uint64_t want_offset, int want_error, const char *want_reason)
{
	const struct ntrace_counts_group *group;
	const struct ntrace_counts_entry *entry;
	struct ntrace_counts_reader *reader;
	FILE *file = fmemopen(bytes, size, "r");
	uint64_t offset = 0;
	const char *reason;
	int result;

	ntrace_counts_reader_new(&reader, file);
	while ((result = ntrace_counts_next(reader, &group, &entry)) > 0)
		continue;
	reason = ntrace_counts_reader_problem(reader, &offset);
	ok(result == want_error && reason && !strcmp(reason, want_reason) &&
		   offset == want_offset &&
		   ntrace_counts_next(reader, &group, &entry) == want_error,
	   "refused: %s", want_reason) ||
		(diag("result %d, offset %llu: %s", result, (unsigned long long)offset,
		      reason ? reason : "-"),
		 0);
	ntrace_counts_reader_free(reader);
	fclose(file);
}

/* Two groups: one entry of /bin/a, then two of /bin/b. */
enum {
	GROUP_1 = 16,
	ENTRIES_1 = GROUP_1 + 8 + 80 + 6 + 1,
	GROUP_2 = ENTRIES_1 + 8 + 40,
	ENTRIES_2 = GROUP_2 + 8 + 80 + 12 + 0,
	END = ENTRIES_2 + 8 + 2 * 40,
	ALL = END + 40,
};

static void make_small(void)
{
	struct ntrace_counts_group first = group_of(object_a, unknown, NTRACE_PRIV_U, "x");
	struct ntrace_counts_group second = group_of(object_b, object_a, NTRACE_PRIV_S, "");
	struct ntrace_counts_entry one = entry_at(0x100), two = entry_at(0x200);
	struct ntrace_counts_totals totals;
	struct ntrace_counts_writer *writer;
	FILE *file = begin(&writer);

	two.count = NTRACE_COUNTS_SATURATED;
	ntrace_counts_put(writer, &first, &one);
	ntrace_counts_put(writer, &second, &one);
	ntrace_counts_put(writer, &second, &two);
	end(file, writer, &totals);
	ok(totals.groups == 2 && totals.entries == 3 && totals.saturated == 1, "totals");
}

static void test_reading(void)
{
	const struct ntrace_counts_group *group;
	const struct ntrace_counts_entry *entry;
	struct ntrace_counts_reader *reader;
	FILE *file;

	make_small();
	is_u64(size, ALL, "the size of a file of two groups");
	file = fmemopen(bytes, size, "r");
	ntrace_counts_reader_new(&reader, file);
	ok(ntrace_counts_next(reader, &group, &entry) == 1, "the first entry");
	is_str(group->object.name, "/bin/a", "its object");
	ok(!group->from_object.name && !strcmp(group->label, "x") &&
		   group->privilege == NTRACE_PRIV_U && group->object.text == 0x1000,
	   "its group");
	ok(entry->start == 0x100 && entry->end == 0x108 && entry->from == 0x50 &&
		   entry->count == 7 && entry->instructions == 3 &&
		   entry->from_class == NTRACE_INSN_JUMP &&
		   entry->end_class == NTRACE_INSN_RETURN && entry->taken,
	   "its values");
	ok(ntrace_counts_next(reader, &group, &entry) == 1 &&
		   !strcmp(group->from_object.name, "/bin/a") && !*group->label &&
		   group->from_object.build_id_size == 20 &&
		   !memcmp(group->from_object.build_id, id_a, 20),
	   "the second group");
	ok(ntrace_counts_next(reader, &group, &entry) == 1 && entry->start == 0x200, "the third");
	ok(!ntrace_counts_next(reader, &group, &entry) &&
		   !ntrace_counts_next(reader, &group, &entry),
	   "the end, again and again");
	ok(!ntrace_counts_reader_problem(reader, NULL), "no problem");
	ntrace_counts_reader_free(reader);
	fclose(file);
}

/* Changes a small file, with the right checksum, and expects its refusal. */
static void change(size_t at, uint64_t value, unsigned int width, uint64_t offset,
		   const char *reason)
{
	size_t before = size;

	make_small();
	put_number_at(at, value, width);
	fix_checksum();
	refused(offset, NTRACE_ERR_FORMAT, reason);
	size = before;
}

static void test_rules(void)
{
	const char *reserved = "reserved bytes are not 0",
		   *names = "the size of a group is not that of its names";
	size_t i;

	change(0, 'x', 1, 0, "not a counts file");
	change(10, 48, 2, 10, "the size of an entry is not 40");
	change(12, 1, 1, 12, reserved);
	change(GROUP_1, 9, 1, GROUP_1, "the type of a record does not exist");
	change(GROUP_1 + 1, 1, 1, GROUP_1, reserved);
	change(GROUP_1 + 4, 79, 4, GROUP_1, names);
	change(GROUP_1 + 4, GROUP_MAX + 1, 4, GROUP_1, names);
	change(GROUP_1 + 8, 21, 1, GROUP_1, "a build-id is too long");
	change(GROUP_1 + 8, 2, 1, GROUP_1, "the bytes after a build-id are not 0");
	change(GROUP_1 + 9, 2, 1, GROUP_1, "an object is neither known nor unknown");
	change(GROUP_1 + 9, 0, 1, GROUP_1, "an unknown object has a name");
	change(GROUP_1 + 10, 5, 2, GROUP_1, names);
	change(GROUP_1 + 10, 4097, 2, GROUP_1, "the name of an object is too long");
	change(GROUP_1 + 8 + 32 + 1, 1, 1, GROUP_1, "an object has an empty name");
	change(GROUP_1 + 8 + 32 + 4, 1, 1, GROUP_1,
	       "an unknown object has a build-id or an address");
	change(GROUP_1 + 8 + 64, 7, 1, GROUP_1, "the privilege does not exist");
	change(GROUP_1 + 8 + 65, 2, 1, GROUP_1, names);
	for (i = 66; i < 80; i += 13)
		change(GROUP_1 + 8 + i, 1, 1, GROUP_1, reserved);
	change(GROUP_1 + 8 + 82, 0, 1, GROUP_1, "a name contains a NUL");
	change(GROUP_2 + 8 + 12, 0, 1, GROUP_2, "a group is out of order");
	change(ENTRIES_1 + 4, 0, 4, ENTRIES_1, "the number of entries is not between 1 and 1024");
	change(ENTRIES_1 + 4, 1025, 4, ENTRIES_1,
	       "the number of entries is not between 1 and 1024");
	change(ENTRIES_1 + 8 + 8, 0, 8, ENTRIES_1 + 8, "a run ends before it begins");
	change(ENTRIES_1 + 8 + 24, 0, 8, ENTRIES_1 + 8, "a count is 0");
	change(ENTRIES_1 + 8 + 32, 0, 4, ENTRIES_1 + 8, "a run without instructions has a length");
	change(ENTRIES_1 + 8 + 36, NTRACE_INSN_CLASS_COUNT, 1, ENTRIES_1 + 8,
	       "the class of an instruction does not exist");
	change(ENTRIES_1 + 8 + 37, NTRACE_INSN_CLASS_COUNT, 1, ENTRIES_1 + 8,
	       "the class of an instruction does not exist");
	change(ENTRIES_1 + 8 + 38, 2, 1, ENTRIES_1 + 8, "reserved bits are not 0");
	change(ENTRIES_1 + 8 + 39, 1, 1, ENTRIES_1 + 8, reserved);
	change(ENTRIES_2 + 8 + 40, 0x80, 8, ENTRIES_2 + 8 + 40, "an entry is out of order");
	change(END + 4, 1, 4, END, reserved);
	change(END + 8, 3, 8, END, "the totals are not those of the entries");
	change(END + 16, 2, 8, END, "the totals are not those of the entries");
	change(END + 24, 0, 8, END, "the totals are not those of the entries");
	change(END + 36, 1, 4, END, reserved);

	for (i = 0; i <= NTRACE_COUNTS_VERSION + 1; i += NTRACE_COUNTS_VERSION + 1) {
		make_small();
		put_number_at(8, i, 2);
		refused(8, NTRACE_ERR_UNSUPPORTED,
			"another version of counts files: this library reads versions 1 to 4");
	}
	make_small();
	put_number_at(ENTRIES_1 + 8 + 24, 8, 8);
	refused(END, NTRACE_ERR_FORMAT, "the checksum is wrong: the file is damaged");
	make_small();
	bytes[size++] = 0;
	refused(ALL, NTRACE_ERR_FORMAT, "bytes follow the end of the file");
	for (i = 8; i < ALL; i += 7) {
		make_small();
		size = i;
		refused(i, NTRACE_ERR_TRUNCATED, "the file ends too early");
	}
	make_small();
	size = 3;
	refused(0, NTRACE_ERR_FORMAT, "not a counts file");
}

/* Moves records of a small file around. */
static void test_order_of_records(void)
{
	uint8_t copy[ALL];

	make_small();
	memcpy(copy, bytes, ALL);
	/* The entries without their group. */
	memcpy(bytes + GROUP_1, copy + ENTRIES_1, ALL - ENTRIES_1);
	size = ALL - (ENTRIES_1 - GROUP_1);
	fix_checksum();
	refused(GROUP_1, NTRACE_ERR_FORMAT, "entries come before a group");
	/* A group without entries, before a group and before the end. */
	memcpy(bytes, copy, ENTRIES_1);
	memcpy(bytes + ENTRIES_1, copy + GROUP_2, ALL - GROUP_2);
	refused(ENTRIES_1, NTRACE_ERR_FORMAT, "a group has no entries");
	memcpy(bytes + ENTRIES_1, copy + END, ALL - END);
	refused(ENTRIES_1, NTRACE_ERR_FORMAT, "a group has no entries");
	/* The entries twice. */
	memcpy(bytes, copy, GROUP_2);
	memcpy(bytes + GROUP_2, copy + ENTRIES_1, ALL - ENTRIES_1);
	size = ALL + GROUP_2 - ENTRIES_1;
	refused(GROUP_2, NTRACE_ERR_FORMAT, "entries follow a block that is not full");
}

/* ---- losses ---- */

static void is_losses(const struct ntrace_counts_losses *got, uint64_t lost, uint64_t at_least,
		      uint64_t gaps, uint64_t unknown_files, const char *text)
{
	ok(got->lost == lost && got->at_least == at_least && got->gaps == gaps &&
		   got->unknown == unknown_files,
	   "losses %s", text) ||
		(diag("%llu bytes, %llu at least, %llu gaps, %llu unknown",
		      (unsigned long long)got->lost, (unsigned long long)got->at_least,
		      (unsigned long long)got->gaps, (unsigned long long)got->unknown),
		 0);
}

/* Reads all of the file. */
static struct ntrace_counts_losses losses_read(void)
{
	const struct ntrace_counts_group *group;
	const struct ntrace_counts_entry *entry;
	struct ntrace_counts_reader *reader;
	struct ntrace_counts_losses losses;
	FILE *file = fmemopen(bytes, size, "r");
	int result, entries = 0;

	ntrace_counts_reader_new(&reader, file);
	while ((result = ntrace_counts_next(reader, &group, &entry)) > 0)
		entries += !ntrace_counts_reader_losses(reader)->gaps;
	ok(!result && entries == 3, "three entries, before which no losses are known") ||
		(diag("%d, %d", result, entries), 0);
	losses = *ntrace_counts_reader_losses(reader);
	ntrace_counts_reader_free(reader);
	fclose(file);
	return losses;
}

/* As make_small(), with a losses record before the end. */
static void make_lossy(void)
{
	uint8_t tail[ALL - END];

	make_small();
	memcpy(tail, bytes + END, sizeof(tail));
	memcpy(bytes + END + 40, tail, sizeof(tail));
	memset(bytes + END, 0, 40);
	put_number_at(END, 4, 1);
	put_number_at(END + 4, 32, 4);
	put_number_at(END + 8, 5000, 8);
	put_number_at(END + 16, 2, 8);
	put_number_at(END + 24, 30, 8);
	put_number_at(END + 32, 1, 8);
	size = ALL + 40;
	fix_checksum();
}

static void test_losses(void)
{
	const struct ntrace_counts_losses some = { 4000, 1, 30, 1, 0 }, more = { 1000, 1, 0, 0, 0 };
	struct ntrace_counts_group group = group_of(object_a, unknown, NTRACE_PRIV_U, "x");
	struct ntrace_counts_entry entry = entry_at(0x100);
	static uint8_t copy[ALL + 40];
	struct ntrace_counts_losses losses;
	struct ntrace_counts_totals totals;
	struct ntrace_counts_writer *writer;
	FILE *file;

	make_small();
	losses = losses_read();
	is_losses(&losses, 0, 0, 0, 0, "of a file without them");
	make_lossy();
	losses = losses_read();
	is_losses(&losses, 5000, 2, 30, 1, "of the record");
	memcpy(copy, bytes, sizeof(copy));
	/* The same bytes from the writer. */
	file = begin(&writer);
	ntrace_counts_put_losses(writer, &some);
	ntrace_counts_put(writer, &group, &entry);
	group = group_of(object_b, object_a, NTRACE_PRIV_S, "");
	ntrace_counts_put(writer, &group, &entry);
	entry = entry_at(0x200);
	entry.count = NTRACE_COUNTS_SATURATED;
	ntrace_counts_put(writer, &group, &entry);
	ntrace_counts_put_losses(writer, &more);
	end(file, writer, &totals);
	ok(size == sizeof(copy) && !memcmp(bytes, copy, size), "the writer adds losses up");
	is_losses(&totals.losses, 5000, 2, 30, 1, "in the totals");

	put_number_at(END + 4, 41, 4);
	refused(END, NTRACE_ERR_FORMAT, "the size of losses is not 32, or 40");
	make_lossy();
	memset(bytes + END + 8, 0, 32);
	refused(END, NTRACE_ERR_FORMAT, "there are no losses");
	make_lossy();
	memcpy(bytes + END + 40, bytes + GROUP_1, GROUP_2 - GROUP_1);
	refused(END + 40, NTRACE_ERR_FORMAT, "a record follows the losses");
	make_lossy();
	memcpy(copy, bytes + END, 80);
	memcpy(bytes + ENTRIES_1, copy, 80);
	size = ENTRIES_1 + 80;
	refused(ENTRIES_1, NTRACE_ERR_FORMAT, "a group has no entries");
	make_lossy();
	put_number_at(8, 1, 2);
	refused(END, NTRACE_ERR_FORMAT, "the type of a record does not exist");

	make_small();
	put_number_at(8, 1, 2);
	fix_checksum();
	losses = losses_read();
	is_losses(&losses, 0, 0, 0, 1, "of a file of version 1: unknown");
}

/* ---- the writer ---- */

static void test_writer(void)
{
	struct ntrace_counts_group group = group_of(object_a, object_b, NTRACE_PRIV_U, "m"), bad;
	struct ntrace_counts_entry entry = entry_at(0x100), other;
	static char long_text[NTRACE_COUNTS_NAME_MAX + 2];
	struct ntrace_counts_totals totals;
	struct ntrace_counts_writer *writer;
	FILE *file = begin(&writer);
	int i;

	memset(long_text, 'a', sizeof(long_text) - 1);
	ok(!ntrace_counts_put(writer, &group, &entry), "an entry");
	entry.count = NTRACE_COUNTS_SATURATED - 7;
	ok(!ntrace_counts_put(writer, &group, &entry), "the same entry again");
	ok(!ntrace_counts_put(writer, &group, &entry), "and again");
	other = entry_at(0xfe);
	ok(ntrace_counts_put(writer, &group, &other) == NTRACE_ERR_INVALID, "an entry before it");
	bad = group_of(object_a, object_b, NTRACE_PRIV_U, "l");
	ok(ntrace_counts_put(writer, &bad, &entry) == NTRACE_ERR_INVALID, "a group before it");
	other = entry_at(0x300);
	other.count = 0;
	ok(ntrace_counts_put(writer, &group, &other) == NTRACE_ERR_INVALID, "a count of 0");
	bad = group_of((struct ntrace_counts_object){ long_text, id_b, 20, 0, 0 }, unknown, 0, "");
	ok(ntrace_counts_put(writer, &bad, &entry) == NTRACE_ERR_INVALID, "a long name");
	bad = group_of(object_b, (struct ntrace_counts_object){ "", id_b, 20, 0, 0 }, 0, "");
	ok(ntrace_counts_put(writer, &bad, &entry) == NTRACE_ERR_INVALID, "an empty name");
	bad = group_of(object_b, (struct ntrace_counts_object){ "b", id_b, 20, 0, 1 }, 0, "");
	ok(ntrace_counts_put(writer, &bad, &entry) == NTRACE_ERR_INVALID, "a build-id and a hash");
	bad = group_of(object_b, object_b, 0, long_text);
	ok(ntrace_counts_put(writer, &bad, &entry) == NTRACE_ERR_INVALID, "a long label");
	bad = group_of(object_b, object_b, NTRACE_PRIV_VS + 1, "");
	ok(ntrace_counts_put(writer, &bad, &entry) == NTRACE_ERR_INVALID, "no such privilege");
	/* More than a block. */
	for (i = 1; i <= 2100; i++) {
		other = entry_at(0x100 + 2 * (uint64_t)i);
		if (ntrace_counts_put(writer, &group, &other))
			break;
	}
	is_u64((uint64_t)i, 2101, "2,100 more entries");
	end(file, writer, &totals);
	ok(totals.entries == 2101 && totals.groups == 1 && totals.saturated == 1,
	   "equal entries added up, to the largest number");
	is_u64(size, 16 + 8 + 80 + 13 + 3 * 8 + 2101 * 40 + 40, "three blocks");
	file = fopen("/dev/full", "w");
	setvbuf(file, NULL, _IONBF, 0);
	ok(ntrace_counts_writer_new(&writer, file) == NTRACE_ERR_IO && errno == ENOSPC,
	   "a full device");
	fclose(file);
}

static void test_order(void)
{
	/* In the order of the file. */
	const struct ntrace_counts_object objects[] = {
		{ "b", NULL, 0, 9, 0 }, object_named, object_short, object_a, object_b, unknown
	};
	struct ntrace_counts_group a, b;
	bool good = true;
	size_t i, k;

	for (i = 0; i < 6; i++)
		for (k = 0; k < 6; k++) {
			int want = i < k ? -1 : i > k, got;

			a = group_of(objects[i], object_a, 1, "l");
			b = group_of(objects[k], object_a, 1, "l");
			got = ntrace_counts_compare(&a, NULL, &b, NULL);
			good &= want < 0 ? got < 0 : want > 0 ? got > 0 : !got;
			a = group_of(object_a, objects[i], 1, "l");
			b = group_of(object_a, objects[k], 1, "l");
			got = ntrace_counts_compare(&a, NULL, &b, NULL);
			good &= want < 0 ? got < 0 : want > 0 ? got > 0 : !got;
		}
	ok(good, "objects are in the order of build-ids, then names");
	a = group_of(object_a, object_b, 0, "z");
	b = group_of(object_a, object_b, 1, "a");
	ok(ntrace_counts_compare(&a, NULL, &b, NULL) < 0, "privilege comes before label");
	/* One field is larger, all after it are smaller. */
	for (i = 0; i < 7; i++) {
		uint64_t v[7] = { 1, 1, 1, 1, 1, 1, 0 };
		struct ntrace_counts_entry two = { 1, 1, 1, 0, 1, 1, 1, false, 0 }, one;

		v[i]++;
		for (k = i + 1; k < 7; k++)
			v[k] = 0;
		one = (struct ntrace_counts_entry){
			v[0], v[1], v[2], 0, (uint32_t)v[3], (uint8_t)v[4], (uint8_t)v[5], v[6], 0
		};
		ok(ntrace_counts_compare(&a, &one, &a, &two) > 0 &&
			   ntrace_counts_compare(&a, &two, &a, &one) < 0,
		   "field %zu of an entry comes before the next ones", i);
	}
}

/* ---- sums ---- */

#define FILES 9

static uint32_t random_state = 1;

static uint32_t draw(uint32_t below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % below;
}

static void write_random(const char *path)
{
	const struct ntrace_counts_object objects[] = { object_named, object_short, object_a,
							object_b, unknown };
	struct ntrace_counts_writer *writer;
	FILE *file = fopen(path, "w");

	ntrace_counts_writer_new(&writer, file);
	for (unsigned int i = 0; i < 25; i++) {
		struct ntrace_counts_group group =
			group_of(objects[i / 5], objects[i % 5], draw(2), draw(2) ? "x" : "");

		/* The name and the text of an object with a build-id may differ. */
		if (group.object.build_id_size && draw(2)) {
			group.object.name = "/usr/bin/other";
			group.object.text += draw(3);
		}
		for (uint64_t at = 0x100; draw(4); at += 2 + 2 * draw(3)) {
			struct ntrace_counts_entry entry = entry_at(at);

			entry.count = draw(20) ? 1 + draw(1000) : NTRACE_COUNTS_SATURATED - draw(9);
			ntrace_counts_put(writer, &group, &entry);
		}
	}
	if (draw(3)) {
		struct ntrace_counts_losses losses = { draw(1000), draw(2), draw(9), draw(2),
						       draw(2) };

		if (!draw(20))
			losses.lost = NTRACE_COUNTS_SATURATED - 9;
		ntrace_counts_put_losses(writer, &losses);
	}
	ntrace_counts_writer_end(writer, NULL);
	ntrace_counts_writer_free(writer);
	fclose(file);
}

/* Merges files by their numbers to the path. */
static int merge(const char *const *paths, size_t count, uint32_t fan_in, const char *to)
{
	const struct ntrace_counts_merger_options options = { .size = sizeof(options),
							      .directory = directory,
							      .fan_in = fan_in };
	struct ntrace_counts_merger *merger;
	FILE *file = fopen(to, "w");
	int error = ntrace_counts_merger_new(&merger, &options);

	for (size_t i = 0; i < count && !error; i++)
		error = ntrace_counts_merger_add_file(merger, paths[i]);
	if (!error)
		error = ntrace_counts_merger_write(merger, file, NULL);
	ntrace_counts_merger_free(merger);
	fclose(file);
	return error;
}

static bool equal_files(const char *a, const char *b)
{
	FILE *first = fopen(a, "r"), *second = fopen(b, "r");
	int left, right;

	do {
		left = getc(first);
		right = getc(second);
	} while (left == right && left != EOF);
	fclose(first);
	fclose(second);
	return left == right;
}

static void test_sums(void)
{
	static char names[FILES + 4][256];
	const char *paths[FILES + 4], *mixed[FILES];
	size_t i;

	for (i = 0; i < FILES + 4; i++) {
		snprintf(names[i], sizeof(names[i]), "%s/%zu.counts", directory, i);
		paths[i] = names[i];
	}
	for (i = 0; i < FILES; i++)
		write_random(paths[i]);
	ok(!merge(paths, FILES, 0, paths[FILES]), "the sum of %d files", FILES);
	for (uint32_t fan_in = 2; fan_in <= 4; fan_in++) {
		for (i = 0; i < FILES; i++)
			mixed[i] = paths[(i * 4 + fan_in) % FILES];
		ok(!merge(mixed, FILES, fan_in, paths[FILES + 1]), "%u at once", fan_in);
		ok(equal_files(paths[FILES], paths[FILES + 1]), "the same bytes");
	}
	/* (0 1 2) + (3 ... 8) */
	merge(paths, 3, 0, paths[FILES + 1]);
	merge(paths + 3, FILES - 3, 0, paths[FILES + 2]);
	merge(paths + FILES + 1, 2, 0, paths[FILES + 3]);
	ok(equal_files(paths[FILES], paths[FILES + 3]), "a sum of sums is the same");
	merge(paths, 1, 0, paths[FILES + 1]);
	ok(equal_files(paths[0], paths[FILES + 1]), "a sum of one file is the file");
	ok(!merge(paths, 0, 0, paths[FILES + 1]), "a sum of none");
	mixed[0] = paths[FILES + 1];
	mixed[1] = paths[0];
	merge(mixed, 2, 0, paths[FILES + 2]);
	ok(equal_files(paths[0], paths[FILES + 2]), "it adds nothing");
}

/* Losses of files and of profiles; a file of version 1 does not have them. */
static void test_sums_of_losses(void)
{
	const struct ntrace_counts_losses some = { 100, 1, 3, 0, 0 },
					  huge = { NTRACE_COUNTS_SATURATED - 50, 0, 2, 0, 0 };
	const struct ntrace_counts_merger_options options = { .size = sizeof(options),
							      .directory = directory,
							      .fan_in = 2 };
	struct ntrace_counts_merger *merger;
	struct ntrace_counts_totals totals;
	FILE *file = tmpfile();
	static char path[256];
	size_t old_size;

	make_small();
	put_number_at(8, 1, 2);
	fix_checksum();
	old_size = size;
	snprintf(path, sizeof(path), "%s/old.counts", directory);
	FILE *old = fopen(path, "w");

	fwrite(bytes, 1, old_size, old);
	fclose(old);
	ntrace_counts_merger_new(&merger, &options);
	for (int i = 0; i < 3; i++)
		ntrace_counts_merger_add_file(merger, path);
	ntrace_counts_merger_add_losses(merger, &some);
	ntrace_counts_merger_add_losses(merger, &some);
	ok(!ntrace_counts_merger_write(merger, file, &totals), "a sum of files of version 1");
	is_losses(&totals.losses, 200, 2, 6, 3, "of the sum: three files do not tell theirs");
	is_u64(totals.entries, 3, "it has their entries");
	rewind(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	is_u64(get_number(bytes + 8, 2), 4, "the sum has version 4");
	fclose(file);
	/* Empty afterwards. */
	file = tmpfile();
	ntrace_counts_merger_add_losses(merger, &some);
	ntrace_counts_merger_add_losses(merger, &huge);
	ok(!ntrace_counts_merger_write(merger, file, &totals), "losses alone");
	is_losses(&totals.losses, NTRACE_COUNTS_SATURATED, 1, 5, 0, "stay at the largest number");
	ntrace_counts_merger_free(merger);
	fclose(file);
}

static void test_merger_errors(void)
{
	struct ntrace_counts_merger_options options = { .size = sizeof(options), .fan_in = 2 };
	struct ntrace_counts_merger *merger;
	FILE *out = tmpfile();

	options.fan_in = 1;
	ok(ntrace_counts_merger_new(&merger, &options) == NTRACE_ERR_INVALID, "a fan-in of 1");
	options.fan_in = 1025;
	ok(ntrace_counts_merger_new(&merger, &options) == NTRACE_ERR_INVALID, "a fan-in of 1025");
	options.fan_in = 2;
	options.directory = "/nonexistent";
	ntrace_counts_merger_new(&merger, &options);
	ntrace_counts_merger_add_file(merger, "/dev/null");
	ntrace_counts_merger_add_file(merger, "/dev/null");
	ok(ntrace_counts_merger_add_file(merger, "/dev/null") == NTRACE_ERR_IO && errno == ENOENT,
	   "no directory for temporary files");
	is_str(ntrace_counts_merger_problem(merger),
	       "/nonexistent: No such file or directory: temporary files are made there; TMPDIR "
	       "chooses another place",
	       "the problem names it");
	ok(ntrace_counts_merger_write(merger, out, NULL) == NTRACE_ERR_IO, "the error is final");
	ntrace_counts_merger_free(merger);
	ntrace_counts_merger_new(&merger, NULL);
	ntrace_counts_merger_add_file(merger, "/dev/null");
	ok(ntrace_counts_merger_write(merger, out, NULL) == NTRACE_ERR_FORMAT, "an empty file");
	is_str(ntrace_counts_merger_problem(merger), "/dev/null: offset 0: not a counts file",
	       "the problem has offset and reason");
	ntrace_counts_merger_free(merger);
	fclose(out);
}

/* ---- profiles ---- */

static void add_trace(struct ntrace_profile *profile, struct ntrace_object *object, uint64_t start,
		      uint64_t count, unsigned int privilege)
{
	const struct ntrace_profile_trace trace = { .object = object,
						    .from_object = object,
						    .from = 0x10,
						    .start = start,
						    .end = start + 4,
						    .count = count,
						    .instructions = 2,
						    .taken = true,
						    .privilege = (uint8_t)privilege };

	ntrace_profile_add_trace(profile, &trace);
}

static struct ntrace_profile *load(const struct ntrace_counts_load_options *options, FILE *file,
				   struct ntrace_counts_totals *totals)
{
	struct ntrace_counts_reader *reader;
	struct ntrace_profile *profile;

	rewind(file);
	ntrace_counts_reader_new(&reader, file);
	ntrace_profile_new(&profile, NULL);
	ok(!ntrace_counts_load(profile, reader, options, totals), "loaded");
	ntrace_counts_reader_free(reader);
	return profile;
}

static void count_missing(void *data, const char *name)
{
	(void)name;
	++*(int *)data;
}

static void test_profiles(void)
{
	const struct ntrace_profile_options by_privilege = { .size = sizeof(by_privilege),
							     .by_privilege = true };
	struct ntrace_counts_load_options options = { .size = sizeof(options),
						      .missing = count_missing };
	const struct ntrace_profile_trace *traces;
	struct ntrace_counts_merger *merger;
	struct ntrace_counts_totals totals;
	struct ntrace_profile *profile, *loaded;
	struct ntrace_object *object, *kernel, *other_kernel;
	const struct ntrace_counts_losses losses = { 77, 0, 8, 0, 0 };
	const uint32_t code[4] = { 0 };
	FILE *file = tmpfile();
	int missing = 0;
	uint64_t address, length;
	bool executable;
	size_t count;

	ntrace_object_from_bytes(&object, "/no/such/program", code, sizeof(code), 0x1234);
	ntrace_object_from_bytes(&kernel, "/r1/images/kernel.start", code, sizeof(code), 0x9000);
	ntrace_object_from_bytes(&other_kernel, "/r1/images/kernel.end", code, sizeof(code),
				 0x8000);
	ntrace_profile_new(&profile, &by_privilege);
	ntrace_counts_merger_new(&merger, NULL);
	add_trace(profile, object, 0x20, 5, NTRACE_PRIV_U);
	add_trace(profile, object, 0x20, 2, NTRACE_PRIV_S);
	is_u64(ntrace_profile_trace_count(profile), 2, "a trace for each privilege");
	ok(!ntrace_counts_merger_add_profile(merger, profile, "web", "6.12/kernel.start"),
	   "spilled");
	ntrace_profile_forget_traces(profile);
	is_u64(ntrace_profile_trace_count(profile), 0, "forgotten");
	add_trace(profile, object, 0x20, 1, NTRACE_PRIV_U);
	add_trace(profile, kernel, 0x60, 3, NTRACE_PRIV_S);
	add_trace(profile, other_kernel, 0x60, 4, NTRACE_PRIV_S);
	ok(!ntrace_counts_merger_add_profile(merger, profile, NULL, "6.12/kernel.start"),
	   "spilled again, with another label");
	ntrace_counts_merger_add_losses(merger, &losses);
	ok(!ntrace_counts_merger_write(merger, file, &totals), "written");
	is_u64(totals.entries, 4, "four entries: both copies of kernel text are one object");
	ntrace_counts_merger_free(merger);

	options.data = &missing;
	loaded = load(&options, file, &totals);
	is_u64((uint64_t)missing, 2, "two objects are not here");
	traces = ntrace_profile_traces(loaded, &count);
	is_u64(count, 2, "without privileges and labels, two traces");
	is_str(ntrace_object_name(traces[1].object), "6.12/kernel.start", "the kernel's name");
	is_str(ntrace_object_short_name(traces[1].object), "[kernel]", "its short name");
	ok(!ntrace_object_segment(traces[1].object, 0, &address, &length, &executable) &&
		   address == 0x8000 && executable,
	   "its text begins where the first copy begins");
	is_u64(traces[0].count, 8, "the program's count");
	is_u64(traces[1].count, 7, "the kernel's count");
	ntrace_profile_free(loaded);
	options.label = "web";
	options.privileges = 1u << NTRACE_PRIV_S;
	loaded = load(&options, file, &totals);
	traces = ntrace_profile_traces(loaded, &count);
	ok(count == 1 && traces[0].count == 2 && totals.entries == 1 && totals.groups == 1,
	   "selected by label and privilege");
	is_losses(&totals.losses, 77, 0, 8, 0, "are those of the whole file");
	ntrace_profile_free(loaded);

	ntrace_profile_forget_traces(profile);
	add_trace(profile, object, 0x20, UINT64_MAX - 1, NTRACE_PRIV_U);
	add_trace(profile, object, 0x20, 5, NTRACE_PRIV_U);
	traces = ntrace_profile_traces(profile, &count);
	ok(count == 1 && traces[0].count == UINT64_MAX, "counts of a profile do not wrap round");
	ntrace_profile_free(profile);
	ntrace_object_put(object);
	ntrace_object_put(kernel);
	ntrace_object_put(other_kernel);
	fclose(file);
}

int main(void)
{
	if (!scratch_make())
		return 1;
	test_reading();
	test_rules();
	test_order_of_records();
	test_losses();
	test_writer();
	test_order();
	test_sums();
	test_sums_of_losses();
	test_merger_errors();
	test_profiles();
	scratch_remove();
	return done_testing();
}
