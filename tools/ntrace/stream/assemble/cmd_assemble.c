// SPDX-License-Identifier: GPL-2.0-only
/* ntrace assemble: converts messages as text to trace, the inverse of ntrace dump --lossless. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assemble.h"
#include "common/command.h"
#include "common/input.h"
#include "common/output_file.h"
#include "common/ui.h"

enum {
	OPTION_OUTPUT = 'o',
	OPTION_PARAMS = OPTION_LONG,
};

static const struct option_spec options_table[] = {
	{ OPTION_PARAMS, "params", "KEY=VALUE,...", "stream parameters, e.g. srcbits=2,xlen=64" },
	{ OPTION_OUTPUT, "output", "FILE", "file of the trace; - = stdout (default)" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct text - the input
 * @name: file name for messages
 * @number: number of the last line
 * @start: position of the next line in the buffer
 * @end: end of the data in the buffer
 */
struct text {
	const char *name;
	int fd;
	uint64_t number;
	size_t start;
	size_t end;
	bool ended;
	char buffer[ASSEMBLE_LINE_MAX + 1];
};

static int open_text(struct text *text, const char *path)
{
	struct stat status;

	text->name = strcmp(path, "-") ? path : "standard input";
	text->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (text->fd < 0)
		return fail("%s: %s", path, strerror(errno));
	if (!fstat(text->fd, &status) && S_ISDIR(status.st_mode)) {
		close(text->fd);
		return fail("%s: a directory, not a text", path);
	}
	return EXIT_OK;
}

static void close_text(const struct text *text)
{
	if (text->fd > STDIN_FILENO)
		close(text->fd);
}

/* Moves the rest to the front of the buffer, and reads more. */
static int read_more(struct text *text)
{
	ssize_t got;

	memmove(text->buffer, text->buffer + text->start, text->end - text->start);
	text->end -= text->start;
	text->start = 0;
	if (text->end == sizeof(text->buffer))
		return fail("%s:%" PRIu64 ": the line is longer than %d bytes: split it",
			    text->name, text->number + 1, ASSEMBLE_LINE_MAX);
	do {
		got = read(text->fd, text->buffer + text->end, sizeof(text->buffer) - text->end);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return fail("%s: %s", text->name, strerror(errno));
	text->end += (size_t)got;
	text->ended = !got;
	return EXIT_OK;
}

/* @line: the line without its newline; NULL at the end. */
static int next_line(struct text *text, char **line, size_t *length)
{
	char *start, *newline = NULL;

	for (;;) {
		start = text->buffer + text->start;
		newline = memchr(start, '\n', text->end - text->start);
		if (newline || text->ended)
			break;
		if (read_more(text))
			return EXIT_FAILED;
	}
	*length = newline ? (size_t)(newline - start) : text->end - text->start;
	*line = newline || *length ? start : NULL;
	text->start += *length + (newline != NULL);
	text->number++;
	return EXIT_OK;
}

static int write_trace(void *data, const uint8_t *bytes, size_t size)
{
	const struct output_file *trace = data;

	output_bytes(trace->output, (const char *)bytes, size);
	return trace->output->error;
}

/* output_file_close() reports write errors. */
static int refused(struct assemble *assemble, const struct text *text, int error)
{
	if (error > 0)
		return EXIT_OK;
	return fail("%s:%" PRIu64 ": %s", text->name, text->number, assemble->error);
}

static int assemble_lines(struct assemble *assemble, struct text *text)
{
	size_t length;
	char *line;
	int error;

	for (;;) {
		if (next_line(text, &line, &length))
			return EXIT_FAILED;
		error = line ? assemble_text(assemble, line, length) : assemble_end(assemble);
		if (error)
			return refused(assemble, text, error);
		if (!line)
			return EXIT_OK;
		if (assemble->warning[0])
			warn("%s:%" PRIu64 ": %s", text->name, text->number, assemble->warning);
	}
}

static int assemble_all(const char *path, const char *params, const char *trace_path)
{
	static struct assemble assemble;
	static struct text text;
	struct output_file trace;
	int error;

	error = open_text(&text, path);
	if (error)
		return error;
	if (!assemble_init(&assemble, params, write_trace, &trace))
		error = fail("%s", assemble.error);
	if (!error)
		error = output_file_open(&trace, trace_path);
	if (!error)
		error = output_file_close(&trace, assemble_lines(&assemble, &text));
	close_text(&text);
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	const char *params = NULL, *path = "-", *trace = "-";
	struct options options;
	int option, error;

	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		switch (option) {
		case OPTIONS_HELP:
			return EXIT_OK;
		case OPTION_PARAMS:
			error = add_params(command, &params, options.value);
			if (error)
				return error;
			break;
		case OPTION_OUTPUT:
			trace = options.value;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - options.index > 1)
		return usage_error(command, "only one text is allowed, not also '%s'",
				   argv[options.index + 1]);
	if (options.index < argc)
		path = argv[options.index];
	else if (isatty(STDIN_FILENO))
		return usage_error(command, "a text is needed; - is standard input");
	if (output_is_standard(trace) && isatty(STDOUT_FILENO))
		return usage_error(command, "standard output is a terminal: -o FILE is needed");
	return assemble_all(path, params, trace);
}

const struct command command_assemble = {
	.name = "assemble",
	.summary = "convert messages as text to a trace",
	.usage = "[--params KEY=VALUE,...] [-o FILE] [TEXT | -]",
	.details = "TEXT has one JSON object a line, as ntrace dump --lossless and --json write "
		   "them.\n"
		   "Lines written by hand need less; blank lines and lines that begin with # or // "
		   "are\n"
		   "skipped:\n"
		   "  {\"name\":\"ProgTraceSync\", \"SYNC\":5, \"ICNT\":0, "
		   "\"ADDRESS\":\"0x80000000\"}\n"
		   "  {\"tcode\":3, \"ICNT\":12, \"TSTAMP\":\"0x1f\"}\n"
		   "  {\"idle\":4}\n"
		   "  {\"raw\":\"1c 3f ff\"}\n"
		   "Fields are those of ntrace dump; numbers are decimal or \"0x...\". ADDRESS "
		   "replaces\n"
		   "FADDR, UADDR or CKDATA0 and is converted to it. If a line has fields and "
		   "\"bytes\", both\n"
		   "must match, and the bytes are written.\n\n"
		   "exit status: 0; 1 if a line is wrong, and FILE is not written; 2 for wrong "
		   "usage.\n\n"
		   "examples:\n"
		   "  ntrace assemble -o a.nex a.json\n"
		   "  ntrace assemble --params srcbits=2 -o a.nex a.json\n"
		   "  ntrace dump --lossless a.nex | ntrace assemble | cmp - a.nex\n",
	.options = options_table,
	.run = run,
};
