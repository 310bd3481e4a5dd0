// SPDX-License-Identifier: GPL-2.0-only
/*
 * GCC's AutoFDO profile from hand-made counts and lines: the file in the layout that GCC's
 * auto-profile.cc reads, and the attribution of counts. selftests/consumers/gcov.sh checks real
 * recordings with GCC and AutoFDO's tools.
 */
#include <ntrace/encode.h>

#include "export/gcov.h"
#include "profile/parts.h"

#include "export_file.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* More than 32 bits. */
#define HALF (UINT64_C(0x7fffffff) << 32)

/* ---- the file ---- */

/* Expected content in words of 32 bits, the lower word of a count first. */
static uint8_t want[1 << 16];
static size_t want_size;

static void want_word(uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		want[want_size++] = (uint8_t)(value >> 8 * i);
}

static void want_count(uint64_t value)
{
	want_word((uint32_t)value);
	want_word((uint32_t)(value >> 32));
}

static void want_bytes(const char *bytes, size_t size)
{
	memcpy(want + want_size, bytes, size);
	want_size += size;
}

static struct gcov_node alpha = { .name = "alpha",
				  .file = "/a.c",
				  .head = HALF + 5,
				  .inlined = 2,
				  .inlined_count = 1,
				  .position_count = 2 };
static struct gcov_node beta = { .name = "b, \"\xc3\xa9\"", .number = 1 };
static struct gcov_node gamma_ = { .parent = &alpha,
				   .name = "gamma",
				   .file = "/b.h",
				   .number = 2,
				   .offset = 0x30001,
				   .position = 2,
				   .position_count = 1 };
static struct gcov_node *nodes[] = { &alpha, &beta, &gamma_ };
static struct gcov_position positions[] = {
	{ .node = 0, .offset = 0x10000, .count = 30 },
	{ .node = 0, .offset = 0xffff0002, .count = 60 },
	{ .node = 2, .offset = 0, .count = 10 },
};
static struct gcov_target targets[] = {
	{ .node = 0, .offset = 0xffff0002, .name = "b, \"\xc3\xa9\"", .count = HALF },
	{ .node = 0, .offset = 0xffff0002, .name = "gamma", .count = UINT64_MAX },
};

struct wanted_gcov {
	const struct gcov *gcov;
	unsigned int version;
};

static int put_gcov(FILE *file, const void *data)
{
	const struct wanted_gcov *wanted = data;

	return gcov_write_file(wanted->gcov, file, wanted->version);
}

static void check(const struct gcov *gcov, unsigned int version, const char *name)
{
	const struct wanted_gcov wanted = { gcov, version };
	const struct written *written = write_all(put_gcov, &wanted, name);
	size_t i;

	for (i = 0; i < want_size && i < written->size; i++)
		if (want[i] != (uint8_t)written->bytes[i])
			break;
	ok(i == want_size && want_size == written->size, "%s: bytes", name);
	if (i != want_size || want_size != written->size)
		diag("%zu bytes, expected %zu; the first difference is at 0x%zx", written->size,
		     want_size, i);
	check_full(put_gcov, &wanted, name);
}

static void want_functions(bool times)
{
	want_word(2);
	want_count(HALF + 5);
	if (times)
		want_count(0);
	want_word(1);			/* alpha */
	want_word(2);
	want_word(1);
	want_word(0x10000);
	want_word(0);
	want_count(30);
	want_word(0xffff0002);
	want_word(2);
	want_count(60);
	want_word(7);			/* HIST_TYPE_INDIR_CALL_TOPN */
	want_count(2);
	want_count(HALF);
	want_word(7);
	want_count(3);
	want_count(INT64_MAX);	/* the format is signed */
	want_word(0x30001);		/* inlined at that line */
	want_word(3);			/* gamma */
	want_word(1);
	want_word(0);
	want_word(0);
	want_word(0);
	want_count(10);
	want_count(0);
	if (times)
		want_count(0);
	want_word(2);			/* b: no count */
	want_word(0);
	want_word(0);
}

static void test_versions(void)
{
	const struct gcov gcov = { .nodes = nodes,
				   .node_count = COUNT(nodes),
				   .positions = positions,
				   .position_count = COUNT(positions),
				   .targets = targets,
				   .target_count = COUNT(targets),
				   .counts.functions = 2 };
	static const uint32_t cutoffs[] = { 10000,  100000, 200000, 300000, 400000, 500000,
					    600000, 700000, 800000, 900000, 950000, 990000,
					    999000, 999900, 999990, 999999 };
	unsigned int i;

	/* Version 2: sizes are in bytes. */
	want_size = 0;
	want_bytes("adcg\2\0\0\0\0\0\0\0", 12);
	want_word(0xaa000000);
	want_word(4 + 5 + 10 + 12 + 10);
	want_word(4);
	want_bytes("\1\0\0\0\0", 5);
	want_bytes("\6\0\0\0alpha\0", 10);
	want_bytes("\10\0\0\0b, \"\xc3\xa9\"\0", 4 + 8);
	want_bytes("\6\0\0\0gamma\0", 10);
	want_word(0xac000000);
	want_word(148);
	want_functions(false);
	want_word(0xae000000);
	want_word(4);
	want_word(0);
	check(&gcov, 2, "version 2");

	/* Version 1: sizes are in words, strings are padded, working sets come last. */
	want_size = 0;
	want_bytes("adcg\1\0\0\0\0\0\0\0", 12);
	want_word(0xaa000000);
	want_word(1 + 2 + 3 + 3 + 3);
	want_word(4);
	want_bytes("\1\0\0\0\0\0\0\0", 8);
	want_bytes("\2\0\0\0alpha\0\0\0", 12);
	want_bytes("\2\0\0\0b, \"\xc3\xa9\"\0", 12);
	want_bytes("\2\0\0\0gamma\0\0\0", 12);
	want_word(0xac000000);
	want_word(37);
	want_functions(false);
	want_word(0xae000000);
	want_word(1);
	want_word(0);
	want_word(0xaf000000);
	want_word(128 * 3);
	for (i = 1; i <= 128; i++) {
		/* 0 of 100: none; at most 60: the greatest count; at most 90: two counts. */
		want_word(i == 1 ? 0 : i <= 78 ? 1 : i <= 117 ? 2 : 3);
		want_count(i <= 78 ? 60 : i <= 117 ? 30 : 10);
	}
	check(&gcov, 1, "version 1");

	/* Version 3: a summary without a size, names have files, functions a time. */
	want_size = 0;
	want_bytes("adcg\3\0\0\0\0\0\0\0", 12);
	want_word(0xa8000000);
	want_count(100);
	want_count(60);
	want_count(HALF + 5);
	want_count(3);
	want_count(2);
	want_count(COUNT(cutoffs));
	for (i = 0; i < COUNT(cutoffs); i++) {
		want_word(cutoffs[i]);
		want_count(i <= 6 ? 60 : i <= 9 ? 30 : 10);
		want_count(i <= 6 ? 1 : i <= 9 ? 2 : 3);
	}
	want_word(0xaa000000);
	want_word(4 + 5 + 9 + 9 + 4 + 5 + 10 + 12 + 10 + 4 * 4);
	want_word(3);
	want_bytes("\1\0\0\0\0", 5);
	want_bytes("\5\0\0\0/a.c\0", 9);
	want_bytes("\5\0\0\0/b.h\0", 9);
	want_word(4);
	want_bytes("\1\0\0\0\0", 5);
	want_word(0);
	want_bytes("\6\0\0\0alpha\0", 10);
	want_word(1);
	want_bytes("\10\0\0\0b, \"\xc3\xa9\"\0", 12);
	want_word(0);
	want_bytes("\6\0\0\0gamma\0", 10);
	want_word(2);
	want_word(0xac000000);
	want_word(148 + 16);
	want_functions(true);
	want_word(0xae000000);
	want_word(4);
	want_word(0);
	check(&gcov, 3, "version 3");
}

static void test_nothing(void)
{
	const struct gcov gcov = { 0 };

	want_size = 0;
	want_bytes("adcg\2\0\0\0\0\0\0\0", 12);
	want_word(0xaa000000);
	want_word(9);
	want_word(1);
	want_bytes("\1\0\0\0\0", 5);
	want_word(0xac000000);
	want_word(4);
	want_word(0);
	want_word(0xae000000);
	want_word(4);
	want_word(0);
	check(&gcov, 2, "nothing");
}

/* ---- counting; the test provides the lines ---- */

struct ntrace_lines {
	const struct ntrace_line *lines;
	size_t line_count;
	const struct ntrace_scope *scopes;
	size_t scope_count;
	const uint32_t *scope_of;	/* for each line */
};

const struct ntrace_line *ntrace_lines_all(const struct ntrace_lines *lines, size_t *count)
{
	*count = lines->line_count;
	return lines->lines;
}

const struct ntrace_line *ntrace_lines_find(const struct ntrace_lines *lines, uint64_t address)
{
	size_t i;

	for (i = 0; i < lines->line_count; i++)
		if (address >= lines->lines[i].start && address < lines->lines[i].end)
			return &lines->lines[i];
	return NULL;
}

const struct ntrace_scope *ntrace_lines_scopes(const struct ntrace_lines *lines, size_t *count)
{
	*count = lines->scope_count;
	return lines->scopes;
}

uint32_t ntrace_lines_scope(const struct ntrace_lines *lines, uint64_t address)
{
	const struct ntrace_line *line = ntrace_lines_find(lines, address);

	return line ? lines->scope_of[line - lines->lines] : NTRACE_NO_SCOPE;
}

enum { F, G_IN_F, H, G_IN_H, A_IN_G_IN_F, NONE = NTRACE_NO_SCOPE };

static const struct ntrace_scope scopes[] = {
	[F] = { .name = "f", .file = "/a.c", .entry = 0x1000, .line = 10, .parent = NONE },
	[G_IN_F] = { .name = "g",
		     .file = "/b.h",
		     .line = 50,
		     .call_line = 12,
		     .call_discriminator = 3,
		     .parent = F,
		     .inlined = true },
	[H] = { .name = "h", .file = "/a.c", .entry = 0x1080, .line = 80, .parent = NONE },
	[G_IN_H] = { .name = "g",
		     .file = "/b.h",
		     .line = 50,
		     .call_line = 85,
		     .parent = H,
		     .inlined = true },
	/* DWARF's C4 is inlined as C2. */
	[A_IN_G_IN_F] = { .name = "_ZN1AC4Ei",
			  .file = "/b.h",
			  .line = 90,
			  .call_line = 51,
			  .parent = G_IN_F,
			  .inlined = true },
};

#define LINE(from, to, number, part)                                                               \
	{ .start = (from), .end = (to), .file = "/a.c", .line = (number), .discriminator = (part) }

static const struct ntrace_line lines[] = {
	LINE(0x1000, 0x1010, 10, 0),	   LINE(0x1010, 0x1018, 51, 0), LINE(0x1018, 0x1020, 91, 0),
	LINE(0x1020, 0x1030, 12, 1),	   LINE(0x1030, 0x1038, 0, 0),	LINE(0x1038, 0x1040, 10, 0),
	LINE(0x1040, 0x1048, 51, 0),	   LINE(0x1080, 0x1088, 81, 0), LINE(0x1088, 0x1090, 51, 0),
	LINE(0x1090, 0x1098, 84, 0x12345), LINE(0x5000, 0x5010, 99, 0), /* not in the file */
};
static const uint32_t scope_of[] = { F, G_IN_F, A_IN_G_IN_F, F, F, F, G_IN_F, H, G_IN_H, H, NONE };

/* The file as GCC reads it: names, then functions with lines, targets and inlined functions. */
struct reader {
	const uint8_t *at;
	const uint8_t *end;
	const char *names[32];
	FILE *out;
	bool bad;
};

static uint64_t read_number(struct reader *reader, unsigned int size)
{
	uint64_t value = 0;
	unsigned int i;

	if (reader->end - reader->at < (ptrdiff_t)size) {
		reader->bad = true;
		return 0;
	}
	for (i = 0; i < size; i++)
		value |= (uint64_t)*reader->at++ << 8 * i;
	return value;
}

static const char *read_name(struct reader *reader, unsigned int size)
{
	uint64_t index = read_number(reader, size);

	if (index < COUNT(reader->names) && reader->names[index])
		return reader->names[index];
	reader->bad = true;
	return "?";
}

static void read_offset(struct reader *reader, unsigned int depth)
{
	uint32_t offset = (uint32_t)read_number(reader, 4);

	fprintf(reader->out, "%*s%u.%u", (int)depth, "", offset >> 16, offset & 0xffff);
}

static void read_function(struct reader *reader, unsigned int depth)
{
	const char *name = read_name(reader, 4);
	uint64_t lines_here = read_number(reader, 4), inlined = read_number(reader, 4), calls;

	fprintf(reader->out, " %s\n", name);
	while (lines_here-- && !reader->bad) {
		read_offset(reader, depth + 1);
		calls = read_number(reader, 4);
		fprintf(reader->out, ": %" PRIu64, read_number(reader, 8));
		while (calls-- && !reader->bad) {
			read_number(reader, 4);
			fprintf(reader->out, " %s", read_name(reader, 8));
			fprintf(reader->out, "*%" PRIu64, read_number(reader, 8));
		}
		fputc('\n', reader->out);
	}
	while (inlined-- && !reader->bad) {
		read_offset(reader, depth + 1);
		read_function(reader, depth + 1);
	}
}

static const char *gcov_text(const struct written *written)
{
	static char text[4096];
	const uint8_t *bytes = (const uint8_t *)written->bytes;
	struct reader reader = { .at = bytes + 20, .end = bytes + written->size };
	uint64_t count, size, i;

	memset(text, 0, sizeof(text));
	reader.out = fmemopen(text, sizeof(text), "w");
	count = read_number(&reader, 4);
	for (i = 0; i < count && !reader.bad; i++) {
		size = read_number(&reader, 4);
		if (i < COUNT(reader.names))
			reader.names[i] = (const char *)reader.at;
		reader.at += size;
	}
	read_number(&reader, 8);
	count = read_number(&reader, 4);
	for (i = 0; i < count && !reader.bad; i++) {
		fprintf(reader.out, "%" PRIu64, read_number(&reader, 8));
		read_function(&reader, 0);
	}
	fclose(reader.out);
	ok(!reader.bad && reader.end - reader.at == 12, "well-formed");
	return text;
}

static struct ntrace_profile *profile;
static struct ntrace_object *object, *other;

/* @traps: instructions of the run that do not retire: system calls */
static void count_traps(struct ntrace_object *from_object, uint64_t from, unsigned int kind,
			struct ntrace_object *to, uint64_t start, uint64_t end, uint64_t times,
			unsigned int traps)
{
	struct ntrace_profile_trace trace = {
		.from = from,
		.start = start,
		.end = end ? end : start,
		.count = times,
		.instructions = end ? (uint32_t)(end - start) / 4 + 1 - traps : 0,
		.from_class = (uint8_t)kind,
		.taken = end,
	};

	profile_find_object(profile, from_object, &trace.from_object);
	profile_find_object(profile, to, &trace.object);
	profile_add(profile, NTRACE_PRIV_U, &trace);
}

static void count(struct ntrace_object *from_object, uint64_t from, unsigned int kind,
		  struct ntrace_object *to, uint64_t start, uint64_t end, uint64_t times)
{
	count_traps(from_object, from, kind, to, start, end, times, 0);
}

static struct ntrace_export_gcov_options options = { .size = sizeof(options), .version = 2 };
static struct ntrace_export_gcov_counts counts;

static int put(FILE *file, const void *data)
{
	(void)data;
	return ntrace_export_gcov(file, profile, &options, &counts);
}

static void test_counts(void)
{
	static const struct ntrace_lines made = { lines, COUNT(lines), scopes, COUNT(scopes),
						  scope_of };
	uint32_t code[64];
	size_t i;

	for (i = 0; i < COUNT(code); i++)
		code[i] = 0x13;
	ntrace_object_from_bytes(&object, "program", code, sizeof(code), 0x1000);
	ntrace_object_from_bytes(&other, "other", code, sizeof(code), 0x9000);
	options.object = object;
	options.lines = &made;
	ntrace_profile_new(&profile, NULL);
	/* No executed code: no function. */
	is_str(gcov_text(write_all(put, NULL, "gcov")), "", "nothing was executed");
	is_u64(counts.functions, 0, "no functions");
	/* From other code: 3 times all of f, and 2 times only its first half. */
	count(other, 0x9000, NTRACE_INSN_CALL, object, 0x1000, 0x103c, 3);
	count(object, 0x103c, NTRACE_INSN_BRANCH, object, 0x1020, 0x1044, 2);
	/* The kind of transfer in another object is unknown: a lazy binding uses a return. */
	count(other, 0x9008, NTRACE_INSN_RETURN, object, 0x1000, 0, 2);
	/* Entries of h: 4 indirect calls, one tail call, one call interrupted by a trap. */
	count(object, 0x1044, NTRACE_INSN_INDIRECT_CALL, object, 0x1080, 0x108c, 4);
	count(object, 0x1024, NTRACE_INSN_JUMP, object, 0x1080, 0x1084, 1);
	count(object, 0x1024, NTRACE_INSN_CALL, object, 0x1080, 0, 6);
	/* Its own loop, a return, and unknown transfers are no calls. */
	count(object, 0x1094, NTRACE_INSN_JUMP, object, 0x1080, 0x1094, 7);
	count(object, 0x103c, NTRACE_INSN_RETURN, object, 0x1080, 0x1080, 1);
	count(object, 0x1094, NTRACE_INSN_INDIRECT_JUMP, other, 0x9000, 0x9004, 9);
	/* A run without a known transfer is an execution; also code without a line. */
	count(NULL, 0, NTRACE_INSN_PLAIN, object, 0x1000, 0x1000, 1);
	count(NULL, 0, NTRACE_INSN_PLAIN, object, 0x10f0, 0x10f8, 1);
	/* A run with two system calls: 3 instructions retire. */
	count_traps(object, 0x1094, NTRACE_INSN_RETURN, object, 0x1084, 0x1094, 100, 2);
	ntrace_profile_end(profile);
	is_str(gcov_text(write_all(put, NULL, "gcov")),
	       /*
	        * The greatest count of each line: 10, and 12 at 0x1020 from 3 + 2; f is entered 5
	        * times from other code. A scope's two ranges of one line count as one.
	        */
	       "5 f\n"
	       " 0.0: 5\n"
	       " 2.1: 5\n"
	       " 2.3 g\n"
	       "  1.0: 3 h*4\n"
	       "  1.0 _ZN1AC2Ei\n"
	       "   1.0: 3\n"
	       "11 h\n"
	       " 1.0: 112\n"
	       /* A discriminator has only 16 bits. */
	       " 4.9029: 107\n"
	       " 5.0 g\n"
	       "  1.0: 111\n",
	       "functions, lines and inlined functions");
	is_u64(counts.functions, 2, "two functions");
	is_u64(counts.positions, 7, "seven places");
	is_u64(counts.executed, 620, "executions of instructions with a line");
	is_u64(counts.unknown, 13, "and of those without: system calls count in both");
	check_full(put, NULL, "gcov");
	ntrace_profile_free(profile);
	ntrace_object_put(object);
	ntrace_object_put(other);
}

static void test_invalid(void)
{
	static const unsigned int versions[] = { 0, 4 };
	const struct ntrace_export_gcov_options good = options;
	size_t i;

	for (i = 0; i < COUNT(versions); i++) {
		options.version = versions[i];
		is_u64(put(stdout, NULL), NTRACE_ERR_INVALID, "version %u", versions[i]);
		options = good;
	}
	options.object = NULL;
	is_u64(put(stdout, NULL), NTRACE_ERR_INVALID, "no object");
	options = good;
	options.lines = NULL;
	is_u64(put(stdout, NULL), NTRACE_ERR_INVALID, "no lines");
	options = good;
	options.size = 0;
	is_u64(put(stdout, NULL), NTRACE_ERR_INVALID, "options without a size");
}

int main(void)
{
	test_versions();
	test_nothing();
	test_counts();
	test_invalid();
	return done_testing();
}
