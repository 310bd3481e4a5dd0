// SPDX-License-Identifier: GPL-2.0-only
/* ntrace detect: finds the parameters of a raw trace. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/detect.h>
#include <ntrace/recording.h>

#include "common/command.h"
#include "common/output.h"
#include "common/ui.h"
#include "detect_print.h"
#include "source.h"

/* Bytes that the library examines; only the beginning of a longer trace. */
#define BYTES_READ ((size_t)4 << 20)

enum {
	OPTION_JSON = OPTION_LONG,
};

static const struct option_spec options_table[] = {
	{ OPTION_INPUT_ELF, "elf", "FILE[@ADDR]", "program, loaded at ADDR; may be repeated" },
	{ OPTION_INPUT_RAW, "raw", "FILE@ADDR", "the same for a memory image without header" },
	{ OPTION_INPUT_IMAGES, "images", "DIR",
	  "the same for a directory of files named by address" },
	{ OPTION_INPUT_PARAMS, "params", "KEY=VALUE,...",
	  "known parameters: isa, jvt, impret, keepstack, owner, tshz, xlen" },
	{ OPTION_JSON, "json", NULL, "one JSON object" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct detect - options
 * @name: name of the trace for messages
 * @data: its first bytes, owned
 */
struct detect {
	struct source source;
	bool json;
	const char *name;
	uint8_t *data;
	size_t size;
	struct progress progress;
	struct ntrace_detect_result result;
};

static int show_progress(void *user, unsigned int done, unsigned int total)
{
	struct detect *detect = user;

	detect->progress.total = total;
	progress_update(&detect->progress, done);
	return 0;
}

static int read_file(struct detect *detect, int fd)
{
	struct ntrace_trace_file *file;
	ssize_t got = 1;
	bool cut;
	int error = ntrace_trace_file_open(&file, fd, NTRACE_TRACE_GUESS);

	if (error)
		return trace_file_failed(detect->name, error);
	while (got > 0 && detect->size < BYTES_READ) {
		got = ntrace_trace_file_read(file, detect->data + detect->size,
					     BYTES_READ - detect->size);
		if (got > 0)
			detect->size += (size_t)got;
	}
	cut = ntrace_trace_file_cut(file);
	ntrace_trace_file_close(file);
	if (got < 0)
		return trace_file_failed(detect->name, (int)got);
	if (cut && !detect->size)
		return fail("%s: the compressed file is truncated: nothing of it can be read",
			    detect->name);
	if (cut)
		warn("%s: the compressed file is truncated: bytes of the trace are missing",
		     detect->name);
	return EXIT_OK;
}

static int read_input(struct detect *detect, const char *path)
{
	bool standard_input = !strcmp(path, "-");
	int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	int error;

	detect->name = standard_input ? "standard input" : path;
	if (fd < 0)
		return fail("%s: %s", path, strerror(errno));
	detect->data = malloc(BYTES_READ);
	if (!detect->data)
		error = fail("%s", ntrace_strerror(NTRACE_ERR_NOMEM));
	else if (fstat(fd, &status) ||
		 (!standard_input && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)))
		error = fail("%s: not a trace file", path);
	else
		error = read_file(detect, fd);
	if (!standard_input)
		close(fd);
	return error;
}

static int judge(struct detect *detect, struct ntrace_space *space)
{
	struct ntrace_detect_config config;
	int error;

	ntrace_detect_config_init(&config);
	config.data = detect->data;
	config.bytes = detect->size;
	config.space = space;
	config.progress = show_progress;
	config.user = detect;
	config.params = &detect->source.params;
	config.xlen_known = detect->source.xlen_given;
	/* Known from an ELF file; otherwise detected. */
	for (unsigned int i = 0; i < detect->source.recording.programs.count; i++) {
		if (detect->source.recording.programs.program[i].kind == PROGRAM_ELF)
			config.xlen_known = true;
	}
	progress_begin(&detect->progress, "detect", 1);
	detect->progress.steps = true;
	error = ntrace_detect(&config, &detect->result);
	progress_end(&detect->progress);
	return error ? fail("%s: %s", detect->name, ntrace_strerror(error)) : EXIT_OK;
}

/* Advice for a file of another format. */
static const char *advice(unsigned int kind)
{
	switch (kind) {
	case NTRACE_DETECT_PERF_DATA:
		return "; commands take such a file as it is";
	case NTRACE_DETECT_ELF:
		return "; a program is given with --elf";
	case NTRACE_DETECT_COMPRESSED:
		return "; decompress it first";
	case NTRACE_DETECT_ETRACE:
		return ", another format, which ntrace does not decode";
	case NTRACE_DETECT_PARTLY:
		return "; a trace may be in --framing, or begin later in the file";
	default:
		return "";
	}
}

static int detect_file(struct detect *detect, const char *path, struct output *output)
{
	struct ntrace_space *space = NULL;
	int error = read_input(detect, path);

	if (!error && detect->source.recording.programs.count)
		error = source_map(&detect->source, &space);
	if (!error)
		error = judge(detect, space);
	if (space)
		ntrace_space_put(space);
	free(detect->data);
	if (error)
		return error;
	if (detect->json)
		detect_json(output, detect->name, detect->size, &detect->result);
	if (!detect->result.count)
		return fail("%s: not %s N-Trace stream: it looks like %s%s", detect->name,
			    detect->result.kind == NTRACE_DETECT_PARTLY ? "a whole" : "an",
			    ntrace_detect_kind_text(detect->result.kind),
			    advice(detect->result.kind));
	if (!detect->json)
		detect_text(output, detect->name, detect->size == BYTES_READ, &detect->result);
	return EXIT_OK;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct detect detect;
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	source_init(&detect.source, command);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		if (option == OPTION_JSON) {
			detect.json = true;
			continue;
		}
		error = source_option(&detect.source, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return usage_error(command, "one trace file is needed");
	if (is_directory(argv[options.index]))
		return usage_error(command,
				   "%s is a directory: recordings contain their parameters",
				   argv[options.index]);
	error = detect_file(&detect, argv[options.index], &output);
	return output_finish(&output, error);
}

const struct command command_detect = {
	.name = "detect",
	.summary = "find the parameters of a raw trace",
	.usage = "[OPTIONS] TRACE",
	.details =
		"Tries widths of SRC, XLEN, forms of addresses and timestamps, dialects, 16-bit\n"
		"words and frames of a CoreSight formatter, and shows the options that fit, the\n"
		"best first, with the evidence for and against them. The first 4 MiB of TRACE are\n"
		"examined; TRACE may start anywhere within a trace. With --elf the program "
		"decides\n"
		"between parameters that the messages allow. TRACE may be - for standard input.\n"
		"\n"
		"exit status: 0, 1 if it is not an N-Trace stream, 2 wrong usage.\n"
		"\n"
		"examples:\n"
		"  ntrace detect a.nex\n"
		"  ntrace detect --elf prog.elf a.nex            # and compare with the program\n"
		"  ntrace detect --json a.nex | jq -r '.candidates[0].options'\n",
	.options = options_table,
	.run = run,
};
