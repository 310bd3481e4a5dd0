// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/export/export.c: the formats of counts, byte by byte, from hand-made traces.
 * selftests/consumers/export.sh checks exports of real recordings with other tools.
 */
#include <ntrace/encode.h>
#include <ntrace/export.h>

#include "image/object.h"
#include "profile/parts.h"

#include "export_file.h"

#define MANY UINT64_C(18446744073709551615)
#define NASTY "/bin/a \"b\"\\c\nd;\xc3\xa9,\x1f\x7f"

static struct ntrace_object *program, *other;

/* Data, then code; the lowest segment does not begin at a page boundary and comes second. */
static void make_objects(void)
{
	static const struct segment segments[] = {
		{ .address = 0x1000, .size = 0x100 },
		{ .address = 0x20000, .size = 0x100, .executable = true },
		{ .address = 0x12340, .offset = 0x340, .size = 0x100, .executable = true },
		{ .address = 0x13000, .size = 0x100, .executable = true },
	};
	const uint32_t code[4] = { 0 };

	ntrace_object_from_bytes(&program, NASTY, code, sizeof(code), 0x12340);
	program->segments = realloc(program->segments, sizeof(segments));
	memcpy(program->segments, segments, sizeof(segments));
	program->segment_count = sizeof(segments) / sizeof(segments[0]);
	ntrace_object_from_bytes(&other, "other", code, sizeof(code), 0x500);
}

struct hand_trace {
	struct ntrace_object **from_object, **object;
	uint64_t from, start, end, count;
	uint32_t instructions;
	unsigned int from_class;
	bool taken;
};

static struct ntrace_profile *profile_of(const struct hand_trace *traces, size_t count)
{
	struct ntrace_profile *profile;
	size_t i;

	ntrace_profile_new(&profile, NULL);
	for (i = 0; i < count; i++) {
		struct ntrace_profile_trace trace = {
			.from = traces[i].from,
			.start = traces[i].start,
			.end = traces[i].end,
			.count = traces[i].count,
			.instructions = traces[i].instructions,
			.from_class = (uint8_t)traces[i].from_class,
			.taken = traces[i].taken,
		};

		if (traces[i].from_object)
			profile_find_object(profile, *traces[i].from_object, &trace.from_object);
		if (traces[i].object)
			profile_find_object(profile, *traces[i].object, &trace.object);
		profile_add(profile, NTRACE_PRIV_U, &trace);
	}
	return profile;
}

/* One transfer of each kind: inside, in, out, from and to unknown code, without a run. */
static const struct hand_trace all_kinds[] = {
	{ &program, &program, 0x12350, 0x12360, 0x12368, 5, 3, NTRACE_INSN_JUMP, true },
	{ &program, &program, 0x12350, 0x12360, 0x12370, 7, 5, NTRACE_INSN_JUMP, true },
	{ NULL, &program, 0, 0x12360, 0x12368, 1, 3, NTRACE_INSN_PLAIN, false },
	{ &other, &program, 0x508, 0x12380, 0x12384, 2, 2, NTRACE_INSN_RETURN, true },
	{ &program, &other, 0x12384, 0x500, 0x508, 4, 3, NTRACE_INSN_CALL, true },
	{ &program, &program, 0x12388, 0x12390, 0x12390, 9, 0, NTRACE_INSN_BRANCH, false },
	{ &program, NULL, 0x1238c, UINT64_C(0xffffffff80000000), UINT64_C(0xffffffff80000004), 3, 2,
	  NTRACE_INSN_TRAP, true },
	{ &program, &program, 0x12398, 0x123a0, 0x123a4, MANY, 2, NTRACE_INSN_RETURN, true },
	{ &other, &other, 0x508, 0x500, 0x508, 6, 3, NTRACE_INSN_JUMP, true },
	{ &other, NULL, 0x508, 0x10, 0x10, 8, 1, NTRACE_INSN_JUMP, true },
};

struct wanted_export {
	struct ntrace_profile *profile;
	unsigned int format;
	const struct ntrace_object *object;
	struct ntrace_export_counts *counts;
};

static int put(FILE *file, const void *data)
{
	const struct wanted_export *wanted = data;

	return ntrace_export_profile(file, wanted->profile, wanted->format, wanted->object,
				     wanted->counts);
}

static void check(struct ntrace_profile *profile, unsigned int format,
		  const struct ntrace_object *object, const char *want, const char *name)
{
	const struct wanted_export wanted = { profile, format, object, NULL };
	char what[64];

	snprintf(what, sizeof(what), "%s, %s", ntrace_export_name(format), name);
	is_str(write_all(put, &wanted, what)->bytes, want, "%s", what);
	check_full(put, &wanted, what);
}

#define CSV_HEAD "from_object,from,object,start,end,instructions,taken,count\n"
#define CSV_NASTY "\"/bin/a \"\"b\"\"\\c?d;\xc3\xa9,??\""
#define JSON_LAST                                                                                  \
	"{\"from_object\":" JSON_NASTY ",\"from\":\"0x12368\",\"object\":" JSON_NASTY                \
	",\"start\":\"0x12370\",\"end\":\"0x12370\",\"instructions\":1,\"taken\":true,\"count\":1}\n]\n"
#define JSON_NASTY "\"/bin/a \\\"b\\\"\\\\c\\u000ad;\xc3\xa9,\\u001f\\u007f\""

static void test_all_kinds(void)
{
	struct ntrace_profile *profile =
		profile_of(all_kinds, sizeof(all_kinds) / sizeof(all_kinds[0]));

	check(profile, NTRACE_EXPORT_AUTOFDO, program,
	      "4\n"
	      "12360-12368:6\n"
	      "12360-12370:7\n"
	      "12380-12384:2\n"
	      "123a0-123a4:18446744073709551615\n"
	      "0\n"
	      "3\n"
	      "12350->12360:12\n"
	      "12388->12390:9\n"
	      "12398->123a0:18446744073709551615\n",
	      "all kinds");
	/*
	 * Addresses count from the page of the first executable segment, which is not the file's
	 * first segment.
	 */
	check(profile, NTRACE_EXPORT_PROFGEN, program,
	      "4\n"
	      "360-368:6\n"
	      "360-370:7\n"
	      "380-384:2\n"
	      "3a0-3a4:18446744073709551615\n"
	      "3\n"
	      "350->360:12\n"
	      "388->390:9\n"
	      "398->3a0:18446744073709551615\n",
	      "all kinds");
	check(profile, NTRACE_EXPORT_BOLT, program,
	      "F 12360 12368 1\n"
	      "T 12350 12360 12368 5\n"
	      "T 12350 12360 12370 7\n"
	      "R X:0 12380 12384 2\n"
	      "B 12388 12390 9 0\n"
	      "R 12398 123a0 123a4 18446744073709551615\n"
	      "B 12384 X:0 4 0\n"
	      "B 1238c X:0 3 0\n",
	      "all kinds");
	check(profile, NTRACE_EXPORT_BOLT_BF, program,
	      "B 12350 12360 12 0\n"
	      "B 12388 12390 9 0\n"
	      "B 12398 123a0 18446744073709551615 0\n"
	      "B X:0 12380 2 0\n"
	      "F 12360 12368 5\n"
	      "F 12360 12370 7\n"
	      "F 123a0 123a4 18446744073709551615\n"
	      "f 12360 12368 1\n"
	      "f 12380 12384 2\n"
	      "B 12384 X:0 4 0\n"
	      "B 1238c X:0 3 0\n",
	      "all kinds");
	check(profile, NTRACE_EXPORT_CSV, program,
	      CSV_HEAD CSV_NASTY
	      ",0x1238c,,0xffffffff80000000,0xffffffff80000004,2,1,3\n"
	      ",," CSV_NASTY ",0x12360,0x12368,3,0,1\n" CSV_NASTY ",0x12350," CSV_NASTY
	      ",0x12360,0x12368,3,1,5\n" CSV_NASTY ",0x12350," CSV_NASTY ",0x12360,0x12370,5,1,7\n"
	      "\"other\",0x508," CSV_NASTY ",0x12380,0x12384,2,1,2\n" CSV_NASTY
	      ",0x12388," CSV_NASTY ",0x12390,0x12390,0,0,9\n" CSV_NASTY ",0x12398," CSV_NASTY
	      ",0x123a0,0x123a4,2,1,18446744073709551615\n" CSV_NASTY
	      ",0x12384,\"other\",0x500,0x508,3,1,4\n",
	      "one object");
	ntrace_profile_free(profile);
}

static void test_whole(void)
{
	static const struct hand_trace few[] = {
		{ &other, NULL, 0x508, 0x10, 0x10, 8, 1, NTRACE_INSN_JUMP, true },
		{ NULL, &program, 0, 0x12360, 0x12368, MANY, 3, NTRACE_INSN_PLAIN, false },
		{ &program, &program, 0x12368, 0x12370, 0x12370, 1, 1, NTRACE_INSN_CALL, true },
	};
	struct ntrace_profile *profile = profile_of(few, 3);
	struct ntrace_export_counts counts = { 0 };
	const struct wanted_export whole = { profile, NTRACE_EXPORT_CSV, NULL, &counts };
	const struct wanted_export one = { profile, NTRACE_EXPORT_CSV, other, &counts };

	check(profile, NTRACE_EXPORT_CSV, NULL,
	      CSV_HEAD "\"other\",0x508,,0x10,0x10,1,1,8\n"
		       ",," CSV_NASTY ",0x12360,0x12368,3,0,18446744073709551615\n" CSV_NASTY
		       ",0x12368," CSV_NASTY ",0x12370,0x12370,1,1,1\n",
	      "all objects");
	check(profile, NTRACE_EXPORT_JSON, NULL,
	      "[\n{\"from_object\":\"other\",\"from\":\"0x508\",\"object\":null,\"start\":\"0x10\","
	      "\"end\":\"0x10\",\"instructions\":1,\"taken\":true,\"count\":8},\n"
	      "{\"from_object\":null,\"from\":\"0x0\",\"object\":" JSON_NASTY
	      ",\"start\":\"0x12360\",\"end\":\"0x12368\",\"instructions\":3,\"taken\":false,"
	      "\"count\":18446744073709551615},\n" JSON_LAST,
	      "all objects");
	check(profile, NTRACE_EXPORT_JSON, program,
	      "[\n{\"from_object\":null,\"from\":\"0x0\",\"object\":" JSON_NASTY
	      ",\"start\":\"0x12360\",\"end\":\"0x12368\",\"instructions\":3,\"taken\":false,"
	      "\"count\":18446744073709551615},\n" JSON_LAST,
	      "one object");
	write_all(put, &whole, "counts");
	is_u64(counts.traces, 3, "traces of all objects");
	write_all(put, &one, "counts of one");
	is_u64(counts.traces, 1, "traces that involve an object");
	is_u64(counts.executed, 8, "their number of executions");
	ntrace_profile_free(profile);
}

static void test_empty(void)
{
	struct ntrace_profile *profile = profile_of(NULL, 0);
	struct ntrace_export_counts counts = { 1, 1 };
	const struct wanted_export wanted = { profile, NTRACE_EXPORT_JSON, NULL, &counts };

	check(profile, NTRACE_EXPORT_AUTOFDO, program, "0\n0\n0\n", "empty");
	check(profile, NTRACE_EXPORT_PROFGEN, program, "0\n0\n", "empty");
	check(profile, NTRACE_EXPORT_BOLT, program, "", "empty");
	check(profile, NTRACE_EXPORT_BOLT_BF, program, "", "empty");
	check(profile, NTRACE_EXPORT_CSV, NULL, CSV_HEAD, "empty");
	check(profile, NTRACE_EXPORT_JSON, NULL, "[]\n", "empty");
	write_all(put, &wanted, "empty");
	ok(!counts.traces && !counts.executed, "nothing is counted");
	ntrace_profile_free(profile);
}

/* One page lower, and no executable segment at all. */
static void test_base(void)
{
	static const struct hand_trace one[] = {
		{ &other, &other, 0x2fff, 0x3000, 0x3000, 1, 1, NTRACE_INSN_JUMP, true },
	};
	struct ntrace_profile *profile = profile_of(one, 1);
	uint64_t base;

	other->segments[0].address = 0x2fff;
	other->segments[0].offset = 0xfff;
	check(profile, NTRACE_EXPORT_PROFGEN, other, "1\n1000-1000:1\n1\nfff->1000:1\n",
	      "the last byte of a page");
	other->segments[0].address = 0x3000;
	other->segments[0].offset = 0;
	check(profile, NTRACE_EXPORT_PROFGEN, other, "1\n0-0:1\n1\nffffffffffffffff->0:1\n",
	      "the first byte of a page");
	ok(!ntrace_export_profgen_base(other, &base), "that is the base");
	is_hex(base, 0x3000, "the base");
	other->segments[0].address = 0;
	ok(!ntrace_export_profgen_base(other, &base) && !base, "that of a program at 0 is 0");
	other->segments[0].address = 0x3000;
	/* The page and the address of offset 0 differ: which one llvm-profgen takes depends on its version. */
	other->segments[0].offset = 0x1000;
	check(profile, NTRACE_EXPORT_PROFGEN, other, "1\n3000-3000:1\n1\n2fff->3000:1\n",
	      "the second page of the file");
	is_u64((uint64_t)ntrace_export_profgen_base(other, &base), (uint64_t)NTRACE_ERR_UNSUPPORTED,
	       "there is no base");
	other->segments[0].offset = 0;
	other->segments[0].executable = false;
	check(profile, NTRACE_EXPORT_PROFGEN, other, "1\n3000-3000:1\n1\n2fff->3000:1\n",
	      "no executable segment");
	ntrace_profile_free(profile);
}

static void test_invalid(void)
{
	static const char *const names[] = {
		"autofdo", "profgen", "bolt", "bolt-bf", "csv", "json"
	};
	struct ntrace_profile *profile = profile_of(NULL, 0);
	FILE *nowhere = fopen("/dev/null", "w");
	unsigned int i;

	for (i = 0; i < NTRACE_EXPORT_FORMATS; i++) {
		is_str(ntrace_export_name(i), names[i], "format %u", i);
		is_u64(ntrace_export_one_object(i), i < NTRACE_EXPORT_CSV, "%s: one object",
		       names[i]);
		is_u64(ntrace_export_profile(nowhere, profile, i, NULL, NULL),
		       i < NTRACE_EXPORT_CSV ? NTRACE_ERR_INVALID : 0, "%s without an object",
		       names[i]);
	}
	ok(!ntrace_export_name(NTRACE_EXPORT_FORMATS) &&
		   !ntrace_export_one_object(NTRACE_EXPORT_FORMATS),
	   "no further format exists");
	is_u64(ntrace_export_profile(nowhere, profile, NTRACE_EXPORT_FORMATS, program, NULL),
	       NTRACE_ERR_INVALID, "and is refused");
	fclose(nowhere);
	ntrace_profile_free(profile);
}

int main(void)
{
	make_objects();
	test_all_kinds();
	test_whole();
	test_empty();
	test_base();
	test_invalid();
	ntrace_object_put(program);
	ntrace_object_put(other);
	return done_testing();
}
