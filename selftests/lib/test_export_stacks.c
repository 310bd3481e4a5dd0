// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats of call stacks from a hand-made call tree: text byte by byte, profile.proto with a
 * reader of its own. selftests/consumers/stacks.sh and speedscope.sh check the formats with other
 * tools.
 */
#include <zlib.h>

#include "export/stacks.h"

#include "export_file.h"
#include "pprof_text.h"
#include "test_stacks.h"

#define HALF (UINT64_C(1) << 63)

static struct ntrace_object *odd, *plain;

/* ---- the tree ---- */

enum { ODD, INLINED, MAIN_, DIRECT, LIBRARY, OTHER_, UNKNOWN, TASK_A, TASK_B, ALL };

static const char *const shown[] = {
	"a;b\n\"c\\,", "f<\xc3\xa9>(int) x", "main", "innermost", "[lib x]", "[other]",
	"[unknown]",   "worker one-7/-8",    "b",    "all"
};

static struct ntrace_stack_function functions[] = {
	[ODD] = { .name = "odd", .start = 0x1010, .kind = NTRACE_STACK_FUNCTION, .instructions = 4 },
	[INLINED] = { .name = "_Zf", .inlined = true, .instructions = HALF },
	[MAIN_] = { .name = "main", .start = 0x1100, .instructions = 11 },
	[DIRECT] = { .name = "direct", .inlined = true, .instructions = 6 },
	[LIBRARY] = { .name = "lib x", .kind = NTRACE_STACK_OBJECT, .instructions = 2 },
	[OTHER_] = { .name = "[other]", .kind = NTRACE_STACK_UNKNOWN, .instructions = 5 },
	[UNKNOWN] = { .name = "[unknown]", .kind = NTRACE_STACK_UNKNOWN },
	[TASK_A] = { .name = "worker one", .kind = NTRACE_STACK_TASK },
	[TASK_B] = { .name = "b", .kind = NTRACE_STACK_TASK },
	[ALL] = { .name = "all", .kind = NTRACE_STACK_ALL },
};

/* Nodes precede their children. */
static const struct ntrace_stack_node nodes[] = {
	{ .function = ALL, .total = HALF + 28, .total_ticks = 1 },
	{ .function = OTHER_, .depth = 1, .instructions = 5, .total = 5 },
	{ .function = TASK_A, .depth = 1, .total = HALF + 18 },
	{ .function = MAIN_, .parent = 2, .depth = 2, .instructions = 10, .ticks = HALF },
	{ .function = ODD, .parent = 3, .depth = 3, .ticks = 7 },
	{ .function = INLINED, .parent = 4, .depth = 4, .instructions = HALF },
	{ .function = DIRECT, .parent = 5, .depth = 5, .instructions = 6, .ticks = 3 },
	{ .function = INLINED, .parent = 3, .depth = 3, .instructions = 1 },
	{ .function = UNKNOWN, .parent = 2, .depth = 2 },
	{ .function = MAIN_, .parent = 8, .depth = 3, .instructions = 1 },
	{ .function = TASK_B, .depth = 1, .total = 5 },
	/* The function that contains the inlined one is unknown. */
	{ .function = INLINED, .parent = 10, .depth = 2, .instructions = 3 },
	{ .function = LIBRARY, .parent = 10, .depth = 2, .instructions = 2, .total = 2 },
};

static const struct ntrace_stack_edge edges[] = {
	{ ODD, INLINED, 0, HALF + 6 },	  { INLINED, DIRECT, 0, 6 },
	{ MAIN_, ODD, UINT64_MAX, HALF }, { UNKNOWN, MAIN_, 0, 1 },
	{ TASK_A, MAIN_, 1, HALF + 14 },  { TASK_B, LIBRARY, 3, 2 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void make_tree(void)
{
	static const struct segment segments[] = {
		{ .address = 0x800, .size = 0x100 },
		{ .address = 0x1000, .size = 0x200, .executable = true },
		{ .address = 0x2000, .size = 0x10, .executable = true },
		{ .address = 0x1800, .size = 0x10, .executable = true },
	};
	const uint32_t code[4] = { 0 };

	ntrace_object_from_bytes(&odd, "/bin/o \"d\"\nd", code, sizeof(code), 0x1000);
	odd->segments = realloc(odd->segments, sizeof(segments));
	memcpy(odd->segments, segments, sizeof(segments));
	odd->segment_count = COUNT(segments);
	odd->build_id[0] = 0xab;
	odd->build_id[1] = 0x0c;
	odd->build_id_size = 2;
	ntrace_object_from_bytes(&plain, "/lib/lib x", code, sizeof(code), 0);
	plain->segments[0].executable = false;
	functions[ODD].object = functions[MAIN_].object = odd;
	functions[INLINED].object = functions[DIRECT].object = odd;
	functions[LIBRARY].object = plain;
}

struct wanted_stacks {
	int (*put)(const struct stacks_export *export);
	size_t functions, nodes, edges;
	uint64_t timestamp_hz;
};

static int put(FILE *file, const void *data)
{
	const struct wanted_stacks *wanted = data;
	uint32_t path[8];
	struct stacks_export export = {
		.file = file,
		.title = "sh -c \"a\\b\"",
		.functions = functions + (COUNT(functions) - wanted->functions),
		.function_count = wanted->functions,
		.nodes = nodes,
		.node_count = wanted->nodes,
		.edges = edges,
		.edge_count = wanted->edges,
		.names = (char **)(uintptr_t)(shown + (COUNT(functions) - wanted->functions)),
		.total = nodes[0].total,
		.path = path,
		.timestamp_hz = wanted->timestamp_hz,
	};
	struct ntrace_stack_node root = { .function = 0 };

	/* Only the root of the threads. */
	if (wanted->functions == 1) {
		export.nodes = &root;
		export.total = 0;
	}
	return wanted->put(&export);
}

static const struct written *whole(int (*of)(const struct stacks_export *export), uint64_t hz,
				   const char *name)
{
	const struct wanted_stacks wanted = { of, COUNT(functions), COUNT(nodes), COUNT(edges),
					      hz };

	return write_all(put, &wanted, name);
}

static const struct written *empty(int (*of)(const struct stacks_export *export), const char *name)
{
	const struct wanted_stacks wanted = { of, 1, 1, 0, 0 };

	return write_all(put, &wanted, name);
}

/* ---- text ---- */

static void test_folded(void)
{
	is_str(whole(put_folded, 0, "folded")->bytes,
	       "[other] 5\n"
	       "worker one-7/-8;main 10\n"
	       "worker one-7/-8;main;a:b?\"c\\,;f<\xc3\xa9>(int) x 9223372036854775808\n"
	       "worker one-7/-8;main;a:b?\"c\\,;f<\xc3\xa9>(int) x;innermost 6\n"
	       "worker one-7/-8;main;f<\xc3\xa9>(int) x 1\n"
	       "worker one-7/-8;[unknown];main 1\n"
	       "b;f<\xc3\xa9>(int) x 3\n"
	       "b;[lib x] 2\n",
	       "folded: stacks with their own instructions");
	is_str(empty(put_folded, "folded")->bytes, "", "folded: nothing");
}

static void test_speedscope(void)
{
	is_str(whole(put_speedscope, 0, "speedscope")->bytes,
	       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	       "\"shared\":{\"frames\":[\n"
	       "{\"name\":\"a;b\\u000a\\\"c\\\\,\",\"file\":\"/bin/o \\\"d\\\"\\u000ad\"},\n"
	       "{\"name\":\"f<\xc3\xa9>(int) x\",\"file\":\"/bin/o \\\"d\\\"\\u000ad\"},\n"
	       "{\"name\":\"main\",\"file\":\"/bin/o \\\"d\\\"\\u000ad\"},\n"
	       "{\"name\":\"innermost\",\"file\":\"/bin/o \\\"d\\\"\\u000ad\"},\n"
	       "{\"name\":\"[lib x]\",\"file\":\"/lib/lib x\"},\n"
	       "{\"name\":\"[other]\"},\n"
	       "{\"name\":\"[unknown]\"}]},\n"
	       "\"profiles\":[\n"
	       "{\"type\":\"sampled\",\"name\":\"[other]\",\"unit\":\"none\",\"startValue\":0,"
	       "\"endValue\":5,\n\"samples\":[[5]],\n\"weights\":[5]},\n"
	       "{\"type\":\"sampled\",\"name\":\"worker "
	       "one-7/-8\",\"unit\":\"none\",\"startValue\":0,"
	       "\"endValue\":9223372036854775826,\n"
	       "\"samples\":[[2],\n[2,0,1],\n[2,0,1,3],\n[2,1],\n[6,2]],\n"
	       "\"weights\":[10,9223372036854775808,6,1,1]},\n"
	       "{\"type\":\"sampled\",\"name\":\"b\",\"unit\":\"none\",\"startValue\":0,"
	       "\"endValue\":5,\n\"samples\":[[1],\n[4]],\n\"weights\":[3,2]}],\n"
	       "\"name\":\"sh -c \\\"a\\\\b\\\"\",\"exporter\":\"ntrace\"}\n",
	       "speedscope: a profile for each thread");
	is_str(empty(put_speedscope, "speedscope")->bytes,
	       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	       "\"shared\":{\"frames\":[]},\n\"profiles\":[],\n"
	       "\"name\":\"sh -c \\\"a\\\\b\\\"\",\"exporter\":\"ntrace\"}\n",
	       "speedscope: nothing");
}

/* Names are written at their first use; a newline ends a name, so no name may contain one. */
static void test_callgrind(void)
{
	is_str(whole(put_callgrind, 0, "callgrind")->bytes,
	       "# callgrind format\nversion: 1\ncreator: ntrace\ncmd: sh -c \"a\\b\"\npart: 1\n"
	       "positions: line\nevents: Instructions\nsummary: 9223372036854775836\n\n"
	       "ob=(1) /bin/o \"d\"?d\nfl=(1) [o \"d\"?d]\nfn=(1) a;b?\"c\\,\n0 4\n"
	       "cob=(1)\ncfi=(1)\ncfn=(2) f<\xc3\xa9>(int) x\ncalls=1 0\n0 9223372036854775814\n\n"
	       "ob=(1)\nfl=(1)\nfn=(2)\n0 9223372036854775808\n"
	       "cob=(1)\ncfi=(1)\ncfn=(4) innermost\ncalls=1 0\n0 6\n\n"
	       "ob=(1)\nfl=(1)\nfn=(3) main\n0 11\n"
	       "cob=(1)\ncfi=(1)\ncfn=(1)\ncalls=18446744073709551615 0\n0 9223372036854775808\n\n"
	       "ob=(1)\nfl=(1)\nfn=(4)\n0 6\n\n"
	       "ob=(5) /lib/lib x\nfl=(5) [lib x]\nfn=(5) [lib x]\n0 2\n\n"
	       "ob=(6) [unknown]\nfl=(6) [unknown]\nfn=(6) [other]\n0 5\n\n"
	       "ob=(6)\nfl=(6)\nfn=(7) [unknown]\n0 0\n"
	       "cob=(1)\ncfi=(1)\ncfn=(3)\ncalls=1 0\n0 1\n\n"
	       "ob=(6)\nfl=(6)\nfn=(8) worker one-7/-8\n0 0\n"
	       "cob=(1)\ncfi=(1)\ncfn=(3)\ncalls=1 0\n0 9223372036854775822\n\n"
	       "ob=(6)\nfl=(6)\nfn=(9) b\n0 0\n"
	       "cob=(5)\ncfi=(5)\ncfn=(5)\ncalls=3 0\n0 2\n\n"
	       "totals: 9223372036854775836\n",
	       "callgrind: functions and their calls");
	is_str(empty(put_callgrind, "callgrind")->bytes,
	       "# callgrind format\nversion: 1\ncreator: ntrace\ncmd: sh -c \"a\\b\"\npart: 1\n"
	       "positions: line\nevents: Instructions\nsummary: 0\n\ntotals: 0\n",
	       "callgrind: nothing");
}

/* ---- profile.proto ---- */

#define PPROF_TABLES                                                                               \
	"mapping 1 1000-2010 /bin/o \"d\"?d ab0c functions\n"                                      \
	"mapping 2 0-0 /lib/lib x  functions\n"                                                     \
	"function 1 a;b?\"c\\,, odd\n"                                                             \
	"function 2 f<\xc3\xa9>(int) x, _Zf\n"                                                      \
	"function 3 main, main\n"                                                                   \
	"function 4 innermost, direct\n"                                                            \
	"function 5 [lib x], lib x\n"                                                               \
	"function 6 [other], [other]\n"                                                             \
	"function 7 [unknown], [unknown]\n"                                                         \
	"location 1 in 0 at 0: 6\n"                                                                 \
	"location 2 in 1 at 1100: 3\n"                                                              \
	"location 3 in 1 at 1010: 1\n"                                                              \
	"location 4 in 1 at 1010: 2 1\n"                                                            \
	"location 5 in 1 at 1010: 4 2 1\n"                                                          \
	"location 6 in 1 at 1100: 2 3\n"                                                            \
	"location 7 in 0 at 0: 7\n"                                                                 \
	"location 8 in 1 at 0: 2\n"                                                                 \
	"location 9 in 2 at 0: 5\n"

static void test_pprof(void)
{
	is_str(pprof_text(whole(put_pprof, 0, "pprof")),
	       "type instructions count\n" PPROF_TABLES "sample at 1: 5, thread [other]\n"
	       "sample at 2: 10, thread worker one-7/-8\n"
	       "sample at 4 2: 9223372036854775808, thread worker one-7/-8\n"
	       "sample at 5 2: 6, thread worker one-7/-8\n"
	       "sample at 6: 1, thread worker one-7/-8\n"
	       "sample at 2 7: 1, thread worker one-7/-8\n"
	       "sample at 8: 3, thread b\n"
	       "sample at 9: 2, thread b\n"
	       "comment sh -c \"a\\b\"\ndefault instructions\n",
	       "pprof: stacks, the innermost function first");
	/* At 2 GHz: HALF ticks are 2^62 ns, 7 are 3.5, 3 are 1.5. */
	is_str(pprof_text(whole(put_pprof, 2000000000, "pprof")),
	       "type instructions count\ntype time nanoseconds\n" PPROF_TABLES
	       "sample at 1: 5 0, thread [other]\n"
	       "sample at 2: 10 4611686018427387904, thread worker one-7/-8\n"
	       "sample at 3 2: 0 3, thread worker one-7/-8\n"
	       "sample at 4 2: 9223372036854775808 0, thread worker one-7/-8\n"
	       "sample at 5 2: 6 1, thread worker one-7/-8\n"
	       "sample at 6: 1 0, thread worker one-7/-8\n"
	       "sample at 2 7: 1 0, thread worker one-7/-8\n"
	       "sample at 8: 3 0, thread b\n"
	       "sample at 9: 2 0, thread b\n"
	       "comment sh -c \"a\\b\"\ndefault instructions\n",
	       "pprof: with times, also of stacks without instructions");
	is_str(pprof_text(empty(put_pprof, "pprof")),
	       "type instructions count\ncomment sh -c \"a\\b\"\ndefault instructions\n",
	       "pprof: nothing");
}

/* More data than is compressed at a time, and poorly compressible. */
static void test_large_pprof(void)
{
	enum { FUNCTIONS_MANY = 5000, ROOM = 1 << 20 };
	struct ntrace_stack_function *many = calloc(FUNCTIONS_MANY, sizeof(*many));
	struct ntrace_stack_node *tree = calloc(FUNCTIONS_MANY + 1, sizeof(*tree));
	char(*text)[20] = calloc(FUNCTIONS_MANY, sizeof(*text));
	char **pointers = calloc(FUNCTIONS_MANY, sizeof(*pointers));
	uint8_t *proto = calloc(1, ROOM);
	static struct written written;
	struct stacks_export export = { .title = "",
					.functions = many,
					.nodes = tree,
					.function_count = FUNCTIONS_MANY,
					.names = pointers,
					.node_count = FUNCTIONS_MANY };
	z_stream gzip = { .next_in = (Bytef *)written.bytes, .next_out = proto, .avail_out = ROOM };
	const cookie_io_functions_t io = { .write = take_bytes };
	unsigned int i, field, functions_seen = 0, differ = 0, texts = 0;
	struct bytes from, part;
	uint64_t value, state = 1;

	for (i = 0; i < FUNCTIONS_MANY; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		snprintf(text[i], sizeof(text[i]), "%016" PRIx64, state);
		pointers[i] = text[i];
		many[i].name = text[i];
		tree[i].function = i;
		tree[i].depth = i ? 1 : 0;
	}
	many[FUNCTIONS_MANY - 1].kind = NTRACE_STACK_TASK;
	written.limit = sizeof(written.bytes);
	export.file = fopencookie(&written, "w", io);
	is_u64(put_pprof(&export), 0, "a large profile");
	fclose(export.file);
	gzip.avail_in = (uInt)written.size;
	inflateInit2(&gzip, MAX_WBITS + 16);
	ok(written.size > 40000 && inflate(&gzip, Z_FINISH) == Z_STREAM_END,
	   "a large profile: %zu bytes are complete", written.size);
	for (from = (struct bytes){ proto, gzip.next_out };
	     (field = take_field(&from, &value, &part));) {
		functions_seen += field == 5;
		/* 7 fixed strings, then the name of each function twice. */
		if (field == 6 && texts >= 7 && texts < 7 + 2 * FUNCTIONS_MANY)
			differ += part.end - part.at != 16 ||
				  memcmp(part.at, text[(texts - 7) / 2], 16) != 0;
		texts += field == 6;
	}
	inflateEnd(&gzip);
	is_u64(functions_seen, FUNCTIONS_MANY - 1, "a large profile: all functions");
	is_u64(differ, 0, "a large profile: their names");
	free(many);
	free(tree);
	free(text);
	free(pointers);
	free(proto);
}

/* ---- from events to the file ---- */

struct wanted_format {
	unsigned int format;
	const struct ntrace_export_stacks_options *options;
};

static int put_real(FILE *file, const void *data)
{
	const struct wanted_format *wanted = data;

	return ntrace_export_stacks(file, stacks, wanted->format, wanted->options);
}

static void test_formats(void)
{
	static const char *const format_names[] = { "folded", "callgrind", "pprof", "speedscope" };
	const struct ntrace_stacks_options options = { .size = sizeof(options) };
	const struct ntrace_export_stacks_options titled = { .size = sizeof(titled),
							     .title = "title",
							     .timestamp_hz = 1000 };
	struct wanted_format wanted = { 0 };
	const char *text;

	begin_with(&options);
	timed = true, offset = 10, now = 1000;
	run(MAIN, 0);
	offset = 20, now = 1100;
	call(MAIN, 8, A);
	leave(A, 0);
	offset = 30;
	run(MAIN, 20);
	ntrace_stacks_end(stacks);
	for (; wanted.format < NTRACE_EXPORT_STACKS_FORMATS; wanted.format++) {
		is_str(ntrace_export_stacks_name(wanted.format), format_names[wanted.format],
		       "format %u", wanted.format);
		check_full(put_real, &wanted, format_names[wanted.format]);
	}
	ok(!ntrace_export_stacks_name(wanted.format), "no further format exists");
	is_u64(put_real(stdout, &wanted), NTRACE_ERR_INVALID, "and is refused");
	wanted.format = NTRACE_EXPORT_FOLDED;
	is_str(write_all(put_real, &wanted, "folded")->bytes,
	       "program-1/1;[unknown];main 7\nprogram-1/1;[unknown];main;a 2\n",
	       "distinguished threads have numbers");
	wanted.format = NTRACE_EXPORT_PPROF;
	text = pprof_text(write_all(put_real, &wanted, "pprof"));
	ok(!strstr(text, "nanoseconds") && strstr(text, "comment ?\n"),
	   "pprof: without options there are no times, and no title");
	wanted.options = &titled;
	text = pprof_text(write_all(put_real, &wanted, "pprof"));
	ok(strstr(text, "sample at 2 1: 7 60000000, ") &&
		   strstr(text, "sample at 3 2 1: 2 40000000, ") && strstr(text, "comment title\n"),
	   "pprof: 1000 Hz: 40 ms and 60 ms");
	ntrace_stacks_free(stacks);
}

int main(void)
{
	make_tree();
	setup();
	test_folded();
	test_speedscope();
	test_callgrind();
	test_pprof();
	test_large_pprof();
	test_formats();
	tear_down();
	ntrace_object_put(odd);
	ntrace_object_put(plain);
	return done_testing();
}
