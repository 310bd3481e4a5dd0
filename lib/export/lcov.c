// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * lcov's tracefile: coverage of lines, branches and functions, which genhtml and CI services read.
 * geninfo(1), section FILES, describes it.
 */
#include <inttypes.h>
#include <string.h>

#include <ntrace/export.h>

#include "line_text.h"

/* The data still to be written: from the file of the first line on. */
struct lcov {
	FILE *file;
	const struct ntrace_coverage_line *lines;
	const struct ntrace_coverage_branch *branches;
	const struct ntrace_coverage_function *functions;
	size_t line_count;
	size_t branch_count;
	size_t function_count;
};

/* A comma ends a name, and the format has no quoting. */
static void put_name(FILE *file, const char *name)
{
	put_line_text(file, name, ',', '_');
	putc('\n', file);
}

/* A newline ends a path, and the format has no quoting. */
static void put_path(FILE *file, const char *path)
{
	fputs("TN:\nSF:", file);
	put_line_text(file, path, '\n', '_');
	putc('\n', file);
}

static void put_functions(struct lcov *lcov, const char *path)
{
	const struct ntrace_coverage_function *functions = lcov->functions;
	size_t count = 0, executed = 0, i;

	while (count < lcov->function_count && strcmp(functions[count].file, path) <= 0)
		count++;
	/* A file with functions has lines: earlier functions belong to files without code. */
	for (i = 0; i < count && strcmp(functions[i].file, path) < 0; i++)
		;
	lcov->functions += count;
	lcov->function_count -= count;
	functions += i;
	count -= i;
	for (i = 0; i < count; i++) {
		fprintf(lcov->file, "FN:%" PRIu32 ",", functions[i].line);
		put_name(lcov->file, functions[i].name);
	}
	for (i = 0; i < count; i++) {
		fprintf(lcov->file, "FNDA:%" PRIu64 ",", functions[i].executed);
		put_name(lcov->file, functions[i].name);
		executed += functions[i].executed != 0;
	}
	fprintf(lcov->file, "FNF:%zu\nFNH:%zu\n", count, executed);
}

/* Writes both ways of a branch, the taken one first. */
static void put_branches(struct lcov *lcov, const char *path)
{
	const struct ntrace_coverage_branch *branch = lcov->branches;
	size_t ways = 0, gone = 0;
	unsigned int number = 0;
	uint32_t line = 0;

	for (; lcov->branch_count && !strcmp(branch->file, path); branch++, lcov->branch_count--) {
		number = branch->line == line ? number + 1 : 0;
		line = branch->line;
		ways += 2;
		if (!branch->executed) {
			fprintf(lcov->file, "BRDA:%" PRIu32 ",%u,0,-\nBRDA:%" PRIu32 ",%u,1,-\n",
				line, number, line, number);
			continue;
		}
		fprintf(lcov->file,
			"BRDA:%" PRIu32 ",%u,0,%" PRIu64 "\nBRDA:%" PRIu32 ",%u,1,%" PRIu64 "\n",
			line, number, branch->taken, line, number,
			branch->executed - branch->taken);
		gone += (branch->taken != 0) + (branch->taken != branch->executed);
	}
	lcov->branches = branch;
	fprintf(lcov->file, "BRF:%zu\nBRH:%zu\n", ways, gone);
}

static void put_lines(struct lcov *lcov, const char *path)
{
	const struct ntrace_coverage_line *line = lcov->lines;
	size_t executed = 0, count = 0;

	for (; lcov->line_count && !strcmp(line->file, path); line++, lcov->line_count--) {
		fprintf(lcov->file, "DA:%" PRIu32 ",%" PRIu64 "\n", line->line, line->executed);
		executed += line->executed != 0;
		count++;
	}
	lcov->lines = line;
	fprintf(lcov->file, "LF:%zu\nLH:%zu\n", count, executed);
}

int ntrace_export_lcov(FILE *file, const struct ntrace_coverage *coverage)
{
	struct lcov lcov = { .file = file };

	lcov.lines = ntrace_coverage_lines(coverage, &lcov.line_count);
	lcov.branches = ntrace_coverage_branches(coverage, &lcov.branch_count);
	lcov.functions = ntrace_coverage_functions(coverage, &lcov.function_count);
	while (lcov.line_count) {
		const char *path = lcov.lines->file;

		put_path(file, path);
		put_functions(&lcov, path);
		put_branches(&lcov, path);
		put_lines(&lcov, path);
		fputs("end_of_record\n", file);
	}
	return ferror(file) ? NTRACE_ERR_IO : 0;
}
