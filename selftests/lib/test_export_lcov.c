// SPDX-License-Identifier: GPL-2.0-only
/*
 * lcov's tracefile (geninfo(1), FILES) of a hand-made coverage: this file defines the coverage
 * functions that lcov.c calls. selftests/consumers/lines.sh checks a real coverage with genhtml.
 */
#include <ntrace/coverage.h>
#include <ntrace/export.h>

#include "export_file.h"

#define MANY UINT64_C(18446744073709551615)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Everything in order of files; @file is not always the same string, since there are several
 * objects.
 */
struct ntrace_coverage {
	const struct ntrace_coverage_line *lines;
	size_t line_count;
	const struct ntrace_coverage_branch *branches;
	size_t branch_count;
	const struct ntrace_coverage_function *functions;
	size_t function_count;
};

const struct ntrace_coverage_line *ntrace_coverage_lines(const struct ntrace_coverage *coverage,
							 size_t *count)
{
	*count = coverage->line_count;
	return coverage->lines;
}

const struct ntrace_coverage_branch *
ntrace_coverage_branches(const struct ntrace_coverage *coverage, size_t *count)
{
	*count = coverage->branch_count;
	return coverage->branches;
}

const struct ntrace_coverage_function *
ntrace_coverage_functions(const struct ntrace_coverage *coverage, size_t *count)
{
	*count = coverage->function_count;
	return coverage->functions;
}

static int put(FILE *file, const void *data)
{
	return ntrace_export_lcov(file, data);
}

static void check(const struct ntrace_coverage *coverage, const char *want, const char *name)
{
	is_str(write_all(put, coverage, name)->bytes, want, "%s", name);
	check_full(put, coverage, name);
}

static void test_whole(void)
{
	static const char again[] = "/a.c"; /* another string for the same path */
	static const struct ntrace_coverage_line lines[] = {
		{ .file = "/a.c", .line = 3, .executed = 7 },
		{ .file = again, .line = 4 },
		{ .file = "/a.c", .line = 4294967295, .executed = MANY },
		{ .file = "/b \"\xc3\xa9;\\.c", .line = 1 },
		{ .file = "/c.c", .line = 1, .executed = 1 },
	};
	static const struct ntrace_coverage_branch branches[] = {
		{ .file = again, .line = 3, .executed = 5, .taken = 2 },	/* both ways */
		{ .file = "/a.c", .line = 3, .executed = 5, .taken = 5 },	/* one way */
		{ .file = "/a.c", .line = 3, .executed = 5 },			/* the other way */
		{ .file = "/a.c", .line = 4 },					/* neither way */
		{ .file = "/a.c", .line = 5, .executed = MANY, .taken = 1 },
		{ .file = "/c.c", .line = 5, .executed = 1, .taken = 1 },
		{ .file = "/c.c", .line = 6, .executed = 5, .taken = 4 },
	};
	static const struct ntrace_coverage_function functions[] = {
		{ .file = "/a-header.h", .name = "gone", .line = 1, .executed = 9 },
		{ .file = "/a.c", .name = "f", .line = 2, .executed = 7 },
		{ .file = again, .name = "operator,\n()", .line = 9 },
		{ .file = "/c.c", .name = "main", .line = 4294967295, .executed = MANY },
		{ .file = "/d.c", .name = "nothing", .line = 1, .executed = 1 },
	};
	const struct ntrace_coverage coverage = { lines,	   COUNT(lines), branches,
						  COUNT(branches), functions,	 COUNT(functions) };

	check(&coverage,
	      "TN:\nSF:/a.c\n"
	      "FN:2,f\nFN:9,operator_?()\nFNDA:7,f\nFNDA:0,operator_?()\nFNF:2\nFNH:1\n"
	      "BRDA:3,0,0,2\nBRDA:3,0,1,3\n"
	      "BRDA:3,1,0,5\nBRDA:3,1,1,0\n"
	      "BRDA:3,2,0,0\nBRDA:3,2,1,5\n"
	      "BRDA:4,0,0,-\nBRDA:4,0,1,-\n"
	      "BRDA:5,0,0,1\nBRDA:5,0,1,18446744073709551614\n"
	      "BRF:10\nBRH:6\n"
	      "DA:3,7\nDA:4,0\nDA:4294967295,18446744073709551615\nLF:3\nLH:2\n"
	      "end_of_record\n"
	      "TN:\nSF:/b \"\xc3\xa9;\\.c\n"
	      "FNF:0\nFNH:0\nBRF:0\nBRH:0\nDA:1,0\nLF:1\nLH:0\n"
	      "end_of_record\n"
	      "TN:\nSF:/c.c\n"
	      "FN:4294967295,main\nFNDA:18446744073709551615,main\nFNF:1\nFNH:1\n"
	      "BRDA:5,0,0,1\nBRDA:5,0,1,0\n"
	      "BRDA:6,0,0,4\nBRDA:6,0,1,1\nBRF:4\nBRH:3\n"
	      "DA:1,1\nLF:1\nLH:1\n"
	      "end_of_record\n",
	      "files with all kinds of lines, branches and functions");
}

static void test_edges(void)
{
	static const struct ntrace_coverage_line line = { .file = "/a\nb.c", .line = 1 };
	static const struct ntrace_coverage nothing;
	const struct ntrace_coverage one = { .lines = &line, .line_count = 1 };

	check(&nothing, "", "nothing");
	check(&one,
	      "TN:\nSF:/a?b.c\nFNF:0\nFNH:0\nBRF:0\nBRH:0\nDA:1,0\nLF:1\nLH:0\nend_of_record\n",
	      "a path with a newline is one line");
}

int main(void)
{
	test_whole();
	test_edges();
	return done_testing();
}
