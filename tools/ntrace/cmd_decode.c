// SPDX-License-Identifier: GPL-2.0-only
/* ntrace decode: what was executed, in order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "printer.h"
#include "ui.h"

#define ELFS_MAX 64

enum {
	OPTION_PARAMS = 'p',
	OPTION_LEVEL = 'l',
	OPTION_ELF = 'e',
	OPTION_SRC = OPTION_LONG,
	OPTION_STREAM,
	OPTION_SYSROOT,
	OPTION_FIRMWARE,
};

static const struct option_spec options_table[] = {
	{ OPTION_LEVEL, "level", "LEVEL", "block (default), instruction, branch or pc" },
	{ OPTION_ELF, "elf", "FILE[@ADDR]", "raw trace: program, loaded at ADDR; may be repeated" },
	{ OPTION_PARAMS, "params", "KEY=VALUE,...",
	  "raw trace: stream parameters, e.g. srcbits=2" },
	{ OPTION_SRC, "src", "N", "raw trace: the hart whose messages have SRC = N" },
	{ OPTION_STREAM, "stream", "N", "recording: only stream N (aux.N)" },
	{ OPTION_SYSROOT, "sysroot", "DIR",
	  "recording: files of the recorded machine are below DIR" },
	{ OPTION_FIRMWARE, "firmware", "ELF[@ADDR]", "recording: firmware that runs in M-mode" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct decode {
	const struct command *command;
	struct printer printer;
	struct ntrace_params params;
	bool params_given;
	bool xlen_given;
	int64_t src;			/* -1 = not given */
	int64_t stream;			/* -1 = all */
	const char *elfs[ELFS_MAX];
	unsigned int elf_count;
	struct recording_options recording;
	struct progress progress;
	uint64_t progress_base;
	unsigned int progress_events;
};

static int take_level(struct decode *decode, const char *text)
{
	static const char *const names[] = {
		[LEVEL_BLOCK] = "block",
		[LEVEL_INSTRUCTION] = "instruction",
		[LEVEL_PC] = "pc",
		[LEVEL_BRANCH] = "branch",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], text)) {
			decode->printer.level = i;
			return EXIT_OK;
		}
	}
	return usage_error(decode->command,
			   "option --level: '%s' is none of block, instruction, branch, pc", text);
}

static int take_option(struct decode *decode, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_LEVEL:
		return take_level(decode, options->value);
	case OPTION_PARAMS:
		decode->params_given = true;
		decode->xlen_given |= strstr(options->value, "xlen=") != NULL;
		return input_params(decode->command, &decode->params, options->value);
	case OPTION_ELF:
		if (decode->elf_count == ELFS_MAX)
			return usage_error(decode->command, "more than %d options --elf", ELFS_MAX);
		decode->elfs[decode->elf_count++] = options->value;
		return EXIT_OK;
	case OPTION_SRC:
		if (!option_number(options, "src", 0, (1u << NTRACE_SRC_BITS_MAX) - 1, &number))
			return EXIT_USAGE;
		decode->src = (int64_t)number;
		return EXIT_OK;
	case OPTION_STREAM:
		if (!option_number(options, "stream", 0, UINT16_MAX, &number))
			return EXIT_USAGE;
		decode->stream = (int64_t)number;
		return EXIT_OK;
	case OPTION_SYSROOT:
		decode->recording.sysroot = options->value;
		return EXIT_OK;
	case OPTION_FIRMWARE:
		decode->recording.firmware = options->value;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

/* Scripts read the complaints of the PC level from stderr: nothing else goes there. */
static void begin_progress(struct decode *decode, uint64_t total)
{
	progress_begin(&decode->progress, "decode", total);
	decode->progress.silent = decode->printer.level == LEVEL_PC && !decode->progress.terminal;
}

static int event(void *data, const struct ntrace_session_event *session_event)
{
	struct decode *decode = data;

	if (!(++decode->progress_events & 0x3fff))
		progress_update(&decode->progress,
				decode->progress_base + session_event->flow->offset);
	return printer_event(&decode->printer, session_event);
}

static int flow_event(void *data, const struct ntrace_flow_event *flow)
{
	struct ntrace_session_event session_event = {
		.flow = flow, .pid = -1, .tid = -1, .comm = ""
	};

	return event(data, &session_event);
}

static int map_elf(struct decode *decode, struct ntrace_space *space, const char *argument)
{
	struct ntrace_object *object = NULL;
	uint64_t bias;
	char *path;
	int error;

	error = elf_argument(decode->command, "elf", argument, &path, &bias);
	if (error)
		return error;
	error = ntrace_object_open_elf(&object, path);
	if (!error) {
		/* The program knows its XLEN; who says another one means it. */
		if (!decode->xlen_given)
			decode->params.xlen = ntrace_object_isa(object)->xlen;
		error = ntrace_space_map_linked(space, object, bias);
		ntrace_object_put(object);
	}
	if (error)
		fail("%s: %s", path,
		     error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
	free(path);
	return error ? EXIT_FAILED : EXIT_OK;
}

static int walk(struct decode *decode, const struct raw_trace *trace, struct ntrace_flow *flow)
{
	struct ntrace_reader reader;
	struct ntrace_message message;
	int event_type, stopped = 0;

	ntrace_reader_init(&reader, &decode->params, true);
	ntrace_reader_feed(&reader, trace->data, trace->size);
	while (!stopped && (event_type = ntrace_reader_next(&reader, &message)) >= 0)
		stopped = event_type == NTRACE_WIRE_ERROR ?
				  ntrace_flow_wire_error(flow, message.offset) :
				  ntrace_flow_message(flow, &message);
	if (!stopped)
		stopped = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	return stopped < 0 ? fail("%s", ntrace_strerror(stopped)) : EXIT_OK;
}

static int decode_raw(struct decode *decode, const struct raw_trace *trace,
		      struct ntrace_space *space)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.src = decode->src < 0 ? 0 : (unsigned int)decode->src,
		.event = flow_event,
		.space = space,
		.data = decode,
	};
	struct ntrace_flow *flow;
	unsigned int i;
	int error;

	for (i = 0; i < decode->elf_count; i++) {
		error = map_elf(decode, space, decode->elfs[i]);
		if (error)
			return error;
	}
	decode->printer.address_digits = decode->params.xlen / 4;
	config.params = decode->params;
	error = ntrace_flow_new(&flow, &config);
	if (error)
		return fail("%s", ntrace_strerror(error));
	begin_progress(decode, trace->size);
	error = walk(decode, trace, flow);
	progress_end(&decode->progress);
	ntrace_flow_free(flow);
	return error;
}

static int decode_file(struct decode *decode, const char *path)
{
	struct ntrace_space *space;
	struct raw_trace trace;
	int error;

	if (decode->stream >= 0 || decode->recording.sysroot || decode->recording.firmware)
		return usage_error(decode->command,
				   "--stream, --sysroot and --firmware are for recordings");
	error = raw_trace_open(&trace, path);
	if (error)
		return error;
	if (!decode->elf_count)
		error = usage_error(decode->command, "a raw trace needs the program: --elf FILE");
	else if (decode->params.src_bits && decode->src < 0)
		error = usage_error(decode->command, "the trace has SRC fields: choose with --src");
	decode->printer.source = path;
	if (!error && ntrace_space_new(&space, path, NULL))
		error = fail("out of memory");
	if (!error) {
		error = decode_raw(decode, &trace, space);
		printer_warnings(&decode->printer);
		ntrace_space_put(space);
	}
	raw_trace_close(&trace);
	return error;
}

static int decode_stream(struct decode *decode, struct recording *recording, unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(recording->session, index);
	char source[32], size[UI_NUMBER_SIZE];
	int error;

	snprintf(source, sizeof(source), "stream %u", index);
	decode->printer.source = source;
	decode->printer.transfers.pending = false;
	if (stream->lost) {
		decode->printer.gaps++;
		warn("%s: %s%s were lost while recording", source,
		     stream->lost_exact ? "" : "at least ", ui_size(size, stream->lost));
	}
	error = ntrace_session_decode(recording->session, index, event, decode, NULL);
	printer_warnings(&decode->printer);
	memset(decode->printer.warnings, 0, sizeof(decode->printer.warnings));
	decode->progress_base += stream->bytes;
	return error < 0 ? fail("%s: %s", source, ntrace_strerror(error)) : EXIT_OK;
}

static int decode_recording(struct decode *decode, const char *path)
{
	struct recording recording;
	unsigned int i, count;
	uint64_t total = 0;
	int error;

	if (decode->params_given || decode->elf_count || decode->src >= 0)
		return usage_error(decode->command, "--params, --elf and --src are for raw traces: "
						    "a recording knows them");
	error = recording_open(&recording, decode->command, path, &decode->recording);
	if (error)
		return error;
	decode->printer.attributed = true;
	decode->printer.address_digits = 16;
	count = ntrace_session_streams(recording.session);
	if (decode->stream >= count)
		error = fail("%s: there is no stream %" PRId64 ": it has %u", path, decode->stream,
			     count);
	for (i = 0; i < count; i++)
		if (decode->stream < 0 || decode->stream == i)
			total += ntrace_session_stream(recording.session, i)->bytes;
	begin_progress(decode, total);
	for (i = 0; !error && i < count && !decode->printer.output->error; i++)
		if (decode->stream < 0 || decode->stream == i)
			error = decode_stream(decode, &recording, i);
	progress_end(&decode->progress);
	recording_close(&recording);
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct decode decode;
	struct printer *printer = &decode.printer;
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	decode.command = command;
	decode.src = -1;
	decode.stream = -1;
	printer->output = &output;
	ntrace_params_init(&decode.params);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return finish_output(EXIT_OK);
		error = take_option(&decode, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return usage_error(command, "one trace file or recording is needed");
	printer->places = place_cache_new();
	if (!printer->places)
		return fail("out of memory");
	error = is_directory(argv[options.index]) ? decode_recording(&decode, argv[options.index]) :
						    decode_file(&decode, argv[options.index]);
	if (!error && (printer->gaps || printer->errors)) {
		error = EXIT_GAPS;
		if (printer->level != LEVEL_PC)
			warn("the decoded flow is not whole: %" PRIu64 " gaps, %" PRIu64 " errors",
			     printer->gaps, printer->errors);
	}
	place_cache_free(printer->places);
	return output_finish(&output, error);
}

const struct command command_decode = {
	.name = "decode",
	.summary = "show what was executed, in order",
	.usage = "[OPTIONS] RECORDING\n"
		 "       ntrace decode [OPTIONS] --elf FILE[@ADDR] TRACE",
	.details =
		"Levels:\n"
		"  block        one line for each run of instructions up to a control transfer\n"
		"  instruction  one line for each instruction\n"
		"  branch       one line for each transfer that was taken\n"
		"  pc           the address of each instruction, one a line, nothing else; errors\n"
		"               and gaps go to stderr\n"
		"ADDR is where the first segment of the file is loaded; without it the file is "
		"where\n"
		"it was linked. The streams of a recording follow one another.\n\n"
		"exit status: 0, or 3 if something is missing: gaps or errors in the trace.\n\n"
		"examples:\n"
		"  ntrace decode ntrace.data | less\n"
		"  ntrace decode --stream 1 --sysroot /srv/board ntrace.data\n"
		"  ntrace decode --elf prog.elf --level pc prog.nex\n"
		"  ntrace decode --params srcbits=2 --src 1 --elf boot.elf@0x80000000 soc.nex\n",
	.options = options_table,
	.run = run,
};
