// SPDX-License-Identifier: GPL-2.0-only
/* ntrace merge: adds up counts files. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/command.h"
#include "common/counts_sum.h"
#include "common/output.h"
#include "common/output_file.h"
#include "common/ui.h"

enum {
	OPTION_OUTPUT = 'o',
	OPTION_LIST = OPTION_LONG,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_OUTPUT, "output", "FILE", "write the sum to FILE; - is standard output" },
	{ OPTION_LIST, "files-from", "FILE", "also merge the files that FILE names, one a line" },
	{ OPTION_JSON, "json", NULL, "print the totals as a JSON object" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct merge_command {
	const struct command *command;
	struct ntrace_counts_merger *merger;
	const char *output;
	const char *list;
	void *seen;		/* tree of tsearch(): the files */
	uint64_t files;
	bool json;
};

/* A file by its number, whatever its names are. */
struct merged_file {
	dev_t device;
	ino_t number;
};

static int compare_files(const void *left, const void *right)
{
	const struct merged_file *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Return: EXIT_OK, or EXIT_FAILED after a message: the file is one that was added before */
static int remember(struct merge_command *merge, const char *path)
{
	struct merged_file *file;
	struct stat status;
	void *found;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return EXIT_OK;
	file = malloc(sizeof(*file));
	if (!file)
		return fail("out of memory");
	*file = (struct merged_file){ status.st_dev, status.st_ino };
	found = tsearch(file, &merge->seen, compare_files);
	if (found && *(struct merged_file **)found == file)
		return EXIT_OK;
	free(file);
	return found ? fail("%s: is given twice: its counts would count twice", path) :
		       fail("out of memory");
}

static int add_file(struct merge_command *merge, const char *path)
{
	int error = remember(merge, path);

	if (error)
		return error;
	error = ntrace_counts_merger_add_file(merge->merger, path);
	output_input(path);
	merge->files++;
	return error ? sum_failed(merge->merger, error, path) : EXIT_OK;
}

/* @length: of the line, which has room for a 0 after it */
static int add_line(struct merge_command *merge, char *line, size_t length)
{
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	return length ? add_file(merge, line) : EXIT_OK;
}

/* A file that is no list ends with an error after a path's length, however long it is. */
static int add_lines(struct merge_command *merge, FILE *file, const char *name)
{
	char line[PATH_MAX];
	size_t length = 0, number = 1;
	int error = EXIT_OK, byte;

	while (!error && (byte = getc(file)) != EOF) {
		if (byte == '\n') {
			error = add_line(merge, line, length);
			length = 0;
			number++;
		} else if (!byte || length == sizeof(line) - 1) {
			error = fail("%s: line %zu: not a path: %s", name, number,
				     byte ? "too long" : "a byte of 0");
		} else {
			line[length++] = (char)byte;
		}
	}
	if (!error && ferror(file))
		return fail("%s: %s", name, strerror(errno));
	return error ? error : add_line(merge, line, length);
}

static int add_list(struct merge_command *merge)
{
	bool is_file = strcmp(merge->list, "-") != 0;
	FILE *file = is_file ? fopen(merge->list, "re") : stdin;
	int error;

	if (!file)
		return fail("%s: %s", merge->list, strerror(errno));
	error = add_lines(merge, file, is_file ? merge->list : "standard input");
	if (is_file)
		fclose(file);
	return error;
}

static int put_json(const struct merge_command *merge, const struct ntrace_counts_totals *totals)
{
	static struct output output;

	output_init(&output, 1);
	output_text(&output, "{\"file\":");
	output_json(&output, merge->output);
	output_printf(&output,
		      ",\"files\":%" PRIu64 ",\"groups\":%" PRIu64 ",\"entries\":%" PRIu64
		      ",\"saturated\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n",
		      merge->files, totals->groups, totals->entries, totals->saturated,
		      totals->losses.gaps, totals->losses.lost);
	return output_finish(&output, EXIT_OK);
}

static int merge_all(struct merge_command *merge, char **paths, int count)
{
	const struct ntrace_counts_source *sources;
	struct ntrace_counts_totals totals;
	size_t sources_count;
	bool missing;
	int error = ntrace_counts_merger_new(&merge->merger, NULL) ? fail("out of memory") :
								     EXIT_OK;

	for (int i = 0; i < count && !error; i++)
		error = add_file(merge, paths[i]);
	if (!error && merge->list)
		error = add_list(merge);
	if (!error && !merge->files)
		error = fail("%s: names no files: nothing to merge", merge->list);
	if (!error)
		error = sum_write(merge->merger, merge->output, &totals, false);
	if (error)
		return error;
	sum_say(merge->output, &totals, false);
	sources = ntrace_counts_merger_sources(merge->merger, &sources_count);
	missing = sum_say_missing(merge->output, sources, sources_count);
	if (merge->json && put_json(merge, &totals))
		return EXIT_FAILED;
	if (totals.entries && missing)
		return EXIT_GAPS;
	return totals.entries ?
		       EXIT_OK :
		       fail("%s: the sum is empty: no input has counts; 'ntrace report' of the "
			    "recordings names what was lost and what could not be decoded",
			    merge->output);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct merge_command merge = { .command = command };
	struct options options;
	int option, error;

	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		if (option == OPTION_OUTPUT)
			merge.output = options.value;
		else if (option == OPTION_LIST)
			merge.list = options.value;
		else if (option == OPTION_JSON)
			merge.json = true;
		else
			return EXIT_USAGE;
	}
	if (options.index == argc && !merge.list)
		return usage_error(command, "a counts file is needed");
	if (!merge.output)
		return usage_error(command, "option --output is needed");
	if (merge.json && output_is_standard(merge.output))
		return usage_error(command, "--json and the sum cannot both be on standard output");
	error = merge_all(&merge, argv + options.index, argc - options.index);
	ntrace_counts_merger_free(merge.merger);
	tdestroy(merge.seen, free);
	return error;
}

const struct command command_merge = {
	.name = "merge",
	.summary = "add up counts files of many recordings",
	.usage = "[OPTIONS] -o FILE COUNTS...",
	.details =
		"The sum does not depend on the order of the files, nor on sums of some of them\n"
		"that were made before: the bytes are the same. Memory does not depend on the\n"
		"number and the size of the files; temporary files are in $TMPDIR or /tmp.\n"
		"A count that reaches the largest 64-bit number stays there, and a warning says "
		"so.\n"
		"A damaged file is refused: with its name, the offset and the reason. So are "
		"files\n"
		"that count the same stream of a recording.\n\n"
		"exit status: 0; 3 if parts of 'ntrace count --shard' are missing; 1 if a file "
		"cannot\n"
		"be read or written, or if the sum is empty.\n\n"
		"examples:\n"
		"  ntrace merge -o all.counts monday.counts tuesday.counts\n"
		"  find . -name '*.counts' | ntrace merge --files-from - -o all.counts\n"
		"  ntrace export -f profgen -b app -o app.txt all.counts\n",
	.options = options_table,
	.run = run,
};
