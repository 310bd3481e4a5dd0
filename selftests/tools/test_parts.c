// SPDX-License-Identifier: GPL-2.0-only
/*
 * --offset and --time of decode, report and export, and ntrace index. The oracle of decode is its
 * own whole output, filtered by the offset or time in each line; the others give the same bytes
 * with an index as without one, and differ from the whole.
 */
#include "test_session.h"

static const char *top;

/* Several hundred KiB of trace: the command has a point every 64 KiB. */
static void record(void)
{
	fake_context = true;
	fake_time_bits = 12;
	start("parts", CODE, UINT32_MAX);
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, OTHER_CODE, "/ccc");
	for (unsigned int i = 0; i < 40; i++) {
		switches(100, 200, OTHER_CODE);
		work(OTHER_CODE, 120);
		switches(200, 100, CODE);
		work(CODE, 150);
	}
	stop("parts", 3);
}

/* Runs `ntrace COMMAND --sysroot ROOT OPTIONS RECORDING` with its output in file @output. */
static int command(const char *output, const char *name, const char *options)
{
	return run("%s/build/ntrace %s --sysroot %s %s %s > %s 2> %s", top, name, in("root"),
		   options, in("parts"), in(output), in("stderr"));
}

static bool same(const char *a, const char *b)
{
	return !run("cmp -s %s %s", in(a), in(b));
}

static bool is_empty(const char *name)
{
	struct stat status;

	return stat(in(name), &status) || !status.st_size;
}

static const char *const ranges[] = {
	"--offset 0,70000",	"--offset 100000,100500",
	"--offset 200K,201K",	"--offset 180000,",
	"--offset ,100",	"--time 200000,204000",
	"--time 400000,400500", "--time ,1000",
	"--time 100000,",	"--offset 70000,250000 --time 100000,300000",
};

/*
 * Lines of the whole output whose offset and time are in the range, for each of @count ranges,
 * into the files expected.0 and so on. One process for all of them: it takes longest to read the
 * lines.
 */
static int filter(const char *const *range, size_t count)
{
	FILE *file = fopen(in("filter.py"), "w");
	char arguments[1000] = "";
	size_t length = 0;

	if (!file)
		return -1;
	fputs("import json, sys\n"
	      "def number(text, other):\n"
	      "    if not text: return other\n"
	      "    return int(text[:-1]) << 10 if text[-1] == 'K' else int(text)\n"
	      "def value(field):\n"
	      "    return field if isinstance(field, int) else int(field, 16)\n"
	      "def wanted(words):\n"
	      "    for option, text in zip(words[::2], words[1::2]):\n"
	      "        first, last = text.split(',')\n"
	      "        yield option[2:], number(first, 0), number(last, 1 << 64)\n"
	      "parts = [(open(f'{sys.argv[1]}.{i}', 'w'), list(wanted(range.split())))\n"
	      "         for i, range in enumerate(sys.argv[2:])]\n"
	      "for line in sys.stdin:\n"
	      "    event = json.loads(line)\n"
	      "    event = {key: value(event[key]) for key in ('offset', 'time') if key in event}\n"
	      "    for part, limits in parts:\n"
	      "        if all(key in event and first <= event[key] <= last\n"
	      "               for key, first, last in limits):\n"
	      "            part.write(line)\n",
	      file);
	fclose(file);
	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(arguments + length, sizeof(arguments) - length, " '%s'",
					   range[i]);
	return run("python3 %s %s %s < %s", in("filter.py"), in("expected"), arguments,
		   in("whole"));
}

static void test_decode(void)
{
	const size_t count = sizeof(ranges) / sizeof(ranges[0]);

	is_u64((uint64_t)command("whole", "decode", "--json"), 0, "decode: the whole");
	ok(!filter(ranges, count), "decode: filtered");
	for (size_t i = 0; i < count; i++) {
		char options[200], expected[30];

		snprintf(expected, sizeof(expected), "expected.%zu", i);
		ok(!is_empty(expected), "decode %s: is not empty", ranges[i]);
		snprintf(options, sizeof(options), "--json --no-index %s", ranges[i]);
		command("part", "decode", options);
		ok(same("part", expected), "decode %s: as filtered, without an index", ranges[i]);
		snprintf(options, sizeof(options), "--json %s", ranges[i]);
		command("part", "decode", options);
		ok(same("part", expected), "decode %s: as filtered, with the index", ranges[i]);
	}
}

/* The same bytes with and without an index; not those of the whole trace, in the file whole. */
static void check(const char *name, const char *whole_options, const char *range)
{
	char options[300];

	snprintf(options, sizeof(options), "--no-index %s %s", whole_options, range);
	command("expected", name, options);
	snprintf(options, sizeof(options), "%s %s", whole_options, range);
	command("part", name, options);
	ok(same("part", "expected") && !is_empty("part") && !same("part", "whole"),
	   "%s %s %s: the same with and without the index", name, whole_options, range);
}

static void test_others(void)
{
	static const char *const outputs[][2] = {
		{ "decode", "--level instruction" },
		{ "decode", "--level branch" },
		{ "decode", "--level pc" },
		{ "decode", "--level block" },
		{ "report", "" },
		{ "report", "--json" },
		{ "report", "--by-thread" },
		{ "report", "--callers aaa" },
		{ "export", "-f profgen -b aaa" },
		{ "export", "-f folded" },
		{ "export", "-f chrome" },
		{ "export", "-f csv" },
		{ "export", "-f perfscript -b aaa" },
	};

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		command("whole", outputs[i][0], outputs[i][1]);
		check(outputs[i][0], outputs[i][1], "--offset 100000,190000");
		check(outputs[i][0], outputs[i][1], "--time 150000,390000");
	}
}

static void test_index(void)
{
	is_u64((uint64_t)command("out", "index", ""), 0, "index");
	ok(!run("grep -q 'the index was up to date' %s", in("stderr")), "index: up to date");
	ok(!run("grep -Eq '^# stream 0: CPU 0, hart 0, [0-9]+ bytes, [1-9][0-9]* points$' %s",
		in("out")),
	   "index: a line for the stream");
	run("rm %s", in("parts/index"));
	is_u64((uint64_t)command("out", "index", "--json --points"), 0, "index: made");
	ok(!run("grep -Eq 'points, [0-9.]+ [KM]iB decoded' %s", in("stderr")),
	   "index: says what was decoded");
	/* Each point is a message with SYNC of the dump, with its address. */
	run("%s/build/ntrace dump --json %s > %s", top, in("parts"), in("messages"));
	ok(!run("python3 -c \"\n"
		"import json, sys\n"
		"points = [json.loads(line) for line in open('%s')]\n"
		"offsets = {m['offset'] for m in map(json.loads, open('%s'))\n"
		"           if 'SYNC' in json.dumps(m)}\n"
		"assert len(points) > 2\n"
		"assert all(p['offset'] in offsets for p in points)\n"
		"assert all(p['pid'] in (100, 200) for p in points)\n"
		"assert all(b['offset'] > a['offset'] + 65000 for a, b in zip(points, "
		"points[1:]))\n"
		"\"",
		in("out"), in("messages")),
	   "index: the points are messages with SYNC of dump, 64 KiB apart");
	run("rm %s && mkdir %s", in("parts/index"), in("parts/index"));
	ok(command("out", "index", "") && !run("grep -q 'the index is not kept' %s", in("stderr")),
	   "index: an error if it cannot be stored");
	command("expected", "decode", "--no-index --offset 100000,100500");
	command("part", "decode", "--offset 100000,100500");
	ok(same("part", "expected"), "an index that cannot be stored is used all the same");
	run("rmdir %s", in("parts/index"));
}

/* A function in the middle of the trace. */
static void test_around(void)
{
	char options[300], range[100] = "";
	const char *const ranges_around[] = { range };
	FILE *file;

	command("whole", "decode", "--json");
	command("part", "decode", "--json --no-index --around ccc:300");
	file = fopen(in("stderr"), "r");
	if (file) {
		if (fscanf(file, "ntrace: stream 0: %99[^\n]", range) != 1)
			range[0] = '\0';
		fclose(file);
	}
	ok(strstr(range, "--offset "), "--around: says what it selects: %s", range);
	ok(!filter(ranges_around, 1) && !is_empty("expected.0") && same("part", "expected.0"),
	   "--around: the output of this range");
	command("part", "decode", "--json --around ccc:300");
	ok(same("part", "expected.0"), "--around: with the index");
	/* The 300th block that begins at ccc, in the whole, is in the middle. */
	ok(!run("python3 -c \"\n"
		"import json\n"
		"starts = [e['offset'] for e in map(json.loads, open('%s'))\n"
		"          if e['type'] == 'block' and int(e['address'], 16) == 0x20000]\n"
		"first, last = map(int, '%s'.split()[1].split(','))\n"
		"assert abs(starts[299] - (first + last) // 2) < 4000\n"
		"\"",
		in("whole"), range),
	   "--around: the execution is in the middle");
	snprintf(options, sizeof(options), "--around nowhere");
	ok(command("part", "decode", options) == 256 &&
		   !run("grep -q \"'nowhere' is executed 0 times\" %s", in("stderr")),
	   "--around: an error for a function that is not executed");
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(options, sizeof(options), "--around ccc:%c5", "+x"[i]);
		ok(command("part", "decode", options) == 256 &&
			   !run("grep -q \"'ccc:%c5' is executed 0 times\" %s", "+x"[i],
				in("stderr")),
		   "--around: what follows the colon is no number");
	}
	ok(command("part", "decode", "--around ccc --offset 1,2") == 512,
	   "--around: not together with --offset");
}

static void test_errors(void)
{
	ok(command("part", "decode", "--offset 5") == 512 &&
		   !run("grep -q 'is not A,B' %s", in("stderr")),
	   "--offset: one number");
	ok(command("part", "decode", "--offset 5,x") == 512, "--offset: not a number");
	ok(command("part", "decode", "--offset 5,4") == 512, "--offset: an end before the begin");
	ok(command("part", "decode", "--level message --offset 4,5") == 512,
	   "--offset: not at the level message");
	fake_time_bits = 0;
	start("timeless", CODE, UINT32_MAX);
	work(CODE, 5);
	stop("timeless", 3);
	ok(run("%s/build/ntrace decode --time 1,2 %s 2> %s", top, in("timeless"), in("stderr")) ==
			   256 &&
		   !run("grep -q 'no timestamps for --time: the parameter tsbits is 0' %s",
			in("stderr")),
	   "--time: a trace without timestamps");
}

static void tests(void)
{
	record();
	test_decode();
	test_others();
	test_around();
	test_index();
	test_errors();
}

int main(void)
{
	static char path[4096];

	top = getcwd(path, sizeof(path));
	return test_sessions(tests);
}
