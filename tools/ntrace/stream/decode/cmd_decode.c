// SPDX-License-Identifier: GPL-2.0-only
/* ntrace decode: lists executed instructions in order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/disassembly.h"
#include "common/ui.h"
#include "pc_text.h"
#include "printer.h"
#include "stream/lanes.h"
#include "stream/source.h"
#include "stream/trace.h"

enum {
	OPTION_LEVEL = 'l',
	OPTION_DISASSEMBLE = 'd',
	OPTION_SRC = OPTION_LONG,
	OPTION_LINES,
	OPTION_OBJDUMP,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_LEVEL, "level", "LEVEL",
	  "message, instruction, block (default), branch, pc or itc" },
	SOURCE_OPTIONS,
	RANGE_OPTIONS,
	{ OPTION_SRC, "src", "N", "raw trace: only the messages with SRC = N" },
	{ OPTION_DISASSEMBLE, "disassemble", NULL,
	  "level instruction: disassemble each instruction" },
	{ OPTION_LINES, "lines", NULL, "level instruction: print source file and line" },
	{ OPTION_OBJDUMP, "objdump", "PROGRAM",
	  "disassembler (default riscv64-linux-gnu-objdump)" },
	{ OPTION_JSON, "json", NULL, "print one JSON object a line; not with --level pc" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct decode {
	struct source source;
	struct printer printer;
	int64_t src;			/* --src; -1 = not given */
	bool message_level;
	bool lossy;			/* trace was lost while recording */
	struct ntrace_transfer_tracker transfers;	/* recordings: of the current stream */
	struct trace trace;
	struct lanes lanes;
	struct pc_text *pc_text;	/* raw trace at the PC level; it has one SRC */
	struct progress progress;
	uint64_t progress_base;
	unsigned int progress_events;
};

static int take_level(struct decode *decode, const char *text)
{
	static const char *const names[] = {
		[LEVEL_BLOCK] = "block", [LEVEL_INSTRUCTION] = "instruction",
		[LEVEL_PC] = "pc",	 [LEVEL_BRANCH] = "branch",
		[LEVEL_ITC] = "itc",
	};
	unsigned int i;

	decode->message_level = !strcmp(text, "message");
	if (decode->message_level)
		return EXIT_OK;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], text)) {
			decode->printer.level = i;
			return EXIT_OK;
		}
	}
	return usage_error(
		decode->source.command,
		"option --level: '%s' is not one of message, instruction, block, branch, pc, itc",
		text);
}

static int take_option(struct decode *decode, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_LEVEL:
		return take_level(decode, options->value);
	case OPTION_SRC:
		if (!option_number(options, "src", 0, (1u << NTRACE_SRC_BITS_MAX) - 1, &number))
			return EXIT_USAGE;
		decode->src = (int64_t)number;
		return EXIT_OK;
	case OPTION_JSON:
		decode->printer.json = true;
		return EXIT_OK;
	case OPTION_DISASSEMBLE:
		decode->printer.text.disassemble = true;
		return EXIT_OK;
	case OPTION_LINES:
		decode->printer.text.lines = true;
		return EXIT_OK;
	case OPTION_OBJDUMP:
		decode->printer.text.objdump = options->value;
		return disassembler_check(options->value);
	case OPTION_RANGE_OFFSET:
	case OPTION_RANGE_TIME:
	case OPTION_RANGE_AROUND:
	case OPTION_NO_INDEX:
		return range_option(options, option, &decode->source.recording.range);
	default:
		return source_option(&decode->source, options, option);
	}
}

/* Scripts read the errors of the PC level from stderr: no progress there, except on a terminal. */
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

static int flow_event(void *data, struct lane *lane, const struct ntrace_flow_event *flow)
{
	struct decode *decode = data;
	struct ntrace_session_event session_event = {
		.flow = flow, .pid = -1, .tid = -1, .comm = ""
	};

	/* With --src the lines do not name the SRC. */
	decode->printer.src = lane && decode->lanes.only < 0 ? lane->src : -1;
	decode->printer.transfers = lane ? &lane->transfers : &decode->transfers;
	return event(decode, &session_event);
}

static int pc_blocks(void *data, struct lane *lane, const struct ntrace_block_batch *batch)
{
	struct decode *decode = data;

	(void)lane;
	decode->progress_events += 64;
	if (!(decode->progress_events & 0x3fff))
		progress_update(&decode->progress, batch->offset);
	if (pc_text_blocks(decode->pc_text, batch))
		decode->printer.errors++;
	return decode->printer.output->error != 0;
}

static int walk(struct decode *decode)
{
	struct lanes *lanes = &decode->lanes;
	struct trace *trace = &decode->trace;
	int stopped = lanes_walk(lanes, trace);

	if (stopped == LANES_SEVERAL) {
		/* Discard unwritten output: only the error message counts. */
		decode->printer.output->used = 0;
		return usage_error(decode->source.command,
				   "--level pc: the trace has SRC %u and %u: choose with --src",
				   lanes->first, lanes->second);
	}
	if (stopped == LANES_FAILED)
		return EXIT_FAILED;
	if (lanes->ignored) {
		decode->printer.errors++;
		warn("%s: more than %d SRC: %" PRIu64
		     " others were not decoded; are the parameters right?",
		     trace->name, LANES_MAX, lanes->ignored);
	}
	return stopped < 0 ? fail("%s", ntrace_strerror(stopped)) : EXIT_OK;
}

static int decode_raw(struct decode *decode, struct ntrace_space *space)
{
	struct lanes *lanes = &decode->lanes;
	int error;

	decode->printer.address_digits = decode->source.params.xlen / 4;
	decode->printer.source = decode->trace.name;
	lanes->params = decode->source.params;
	lanes->space = space;
	lanes->only = decode->src;
	lanes->single = decode->printer.level == LEVEL_PC;
	lanes->event = flow_event;
	lanes->data = decode;
	lanes->blocks = decode->printer.level == LEVEL_PC ? pc_blocks : NULL;
	error = trace_start(&decode->trace, &decode->source.params);
	if (error)
		return error;
	decode->pc_text = pc_text_new(decode->printer.output);
	if (!decode->pc_text)
		return fail("out of memory");
	error = lanes_start(lanes);
	if (error)
		return fail("%s: %s", decode->trace.name,
			    error == NTRACE_ERR_INVALID ?
				    "the stream parameters contradict each other" :
				    ntrace_strerror(error));
	begin_progress(decode, decode->trace.size);
	decode->trace.progress = &decode->progress;
	error = walk(decode);
	progress_end(&decode->progress);
	printer_end(&decode->printer);
	lanes_free(lanes);
	pc_text_free(decode->pc_text);
	printer_warnings(&decode->printer);
	return error;
}

static int decode_file(struct decode *decode, const char *path)
{
	struct ntrace_space *space;
	int error = source_is_raw(&decode->source);

	if (error)
		return error;
	if (!decode->source.recording.programs.count && decode->printer.level != LEVEL_ITC)
		return usage_error(decode->source.command,
				   "a raw trace needs the program: --elf FILE");
	if (decode->src >= 0 && decode->src >> decode->source.params.src_bits)
		return usage_error(decode->source.command,
				   "--src: no SRC of the trace is %" PRId64
				   ": it has %u bits (--params srcbits=N)",
				   decode->src, decode->source.params.src_bits);
	error = trace_open(&decode->trace, path, &decode->source.format);
	if (error)
		return error;
	error = source_map(&decode->source, &space);
	if (!error) {
		error = decode_raw(decode, space);
		ntrace_space_put(space);
	}
	trace_close(&decode->trace);
	return error;
}

/* --level message is `ntrace dump`. */
static int decode_messages(const struct decode *decode, const char *path)
{
	char params[1024], src[40], stream[40], framing[40];
	const char *argv[16] = { "dump" };
	int argc = 1;

	if (decode->printer.json)
		argv[argc++] = "--json";
	if (decode->source.format.words16)
		argv[argc++] = "--words16";
	if (decode->source.format.framing.given) {
		snprintf(framing, sizeof(framing), "--framing=coresight:%u",
			 decode->source.format.framing.source);
		if (!decode->source.format.framing.source)
			*strchr(framing, ':') = '\0';
		argv[argc++] = framing;
	}
	if (is_recording(path) && decode->source.params_given) {
		/* Only the given keys: they override those of a perf.data file. */
		argv[argc++] = "--params";
		argv[argc++] = decode->source.recording.params;
	} else if (decode->source.params_given) {
		ntrace_params_format(&decode->source.params, params, sizeof(params));
		argv[argc++] = "--params";
		argv[argc++] = params;
	}
	if (decode->src >= 0) {
		snprintf(src, sizeof(src), "--src=%" PRId64, decode->src);
		argv[argc++] = src;
	}
	if (decode->source.stream >= 0) {
		snprintf(stream, sizeof(stream), "--stream=%" PRId64, decode->source.stream);
		argv[argc++] = stream;
	}
	argv[argc++] = "--";
	argv[argc++] = path;
	return command_dump.run(&command_dump, argc, (char **)argv);
}

static int decode_stream(struct decode *decode, struct recording *recording, unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(recording->session, index);
	int error, reason;
	char source[32];

	snprintf(source, sizeof(source), "stream %u", index);
	decode->printer.source = source;
	decode->printer.transfers = &decode->transfers;
	decode->transfers.pending = false;
	/* A note of the session has said it. */
	decode->lossy |= ntrace_stream_losses(stream, NULL, 0);
	recording->progress = &decode->progress;
	error = recording_decode(
		recording, NULL,
		&(struct ntrace_decode_options){ .stream = index, .event = event, .data = decode },
		NULL);
	reason = errno;
	recording->progress = NULL;
	printer_end(&decode->printer);
	printer_warnings(&decode->printer);
	memset(decode->printer.warnings, 0, sizeof(decode->printer.warnings));
	decode->progress_base += stream->bytes;
	errno = reason;
	return error < 0 ? path_failed(recording_stream_name(recording, index), error) : EXIT_OK;
}

/* A part that has nothing is a failure: it lies beyond the trace, or between two messages. */
static int check_part(const struct decode *decode, const char *path)
{
	const struct range_options *range = &decode->source.recording.range;

	if (!range->given || decode->progress_events)
		return EXIT_OK;
	return fail("%s: nothing was decoded: the trace has no messages in this part (%s): 'ntrace "
		    "stat' shows how many bytes and which timestamps it has",
		    path, range->range.by_time ? "option --time" : "option --offset");
}

static int decode_recording(struct decode *decode, const char *path)
{
	struct recording recording;
	unsigned int i, count;
	uint64_t total = 0;
	int error;

	if (decode->src >= 0)
		return usage_error(decode->source.command, "--src applies to raw traces only");
	error = source_open_recording(&decode->source, &recording, path);
	if (error)
		return error;
	decode->printer.attributed = true;
	decode->printer.address_digits = 16;
	decode->printer.text.roots = ntrace_session_roots(recording.session);
	count = ntrace_session_streams(recording.session);
	for (i = 0; i < count; i++)
		if (source_wants(&decode->source, i))
			total += ntrace_session_stream(recording.session, i)->bytes;
	begin_progress(decode, total);
	for (i = 0; !error && i < count && !decode->printer.output->error; i++)
		if (range_has_stream(&recording.range, i))
			error = decode_stream(decode, &recording, i);
	progress_end(&decode->progress);
	recording_close(&recording);
	return error ? error : check_part(decode, path);
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct decode decode;
	struct printer *printer = &decode.printer;
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	source_init(&decode.source, command);
	decode.src = -1;
	printer->src = -1;
	printer->output = &output;
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&decode, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return inputs_error(command, "trace file or recording", argv + options.index,
				    argc - options.index);
	if (decode.message_level &&
	    (decode.source.recording.range.given || decode.source.recording.range.around))
		return usage_error(command, "--level message has no --offset, --time and --around");
	if (decode.message_level)
		return decode_messages(&decode, argv[options.index]);
	if (printer->json && printer->level == LEVEL_PC)
		return usage_error(command, "--level pc has no --json");
	if ((printer->text.disassemble || printer->text.lines) &&
	    printer->level != LEVEL_INSTRUCTION)
		return usage_error(command, "--disassemble and --lines need --level instruction");
	printer->places = ntrace_locator_new();
	if (!printer->places)
		return fail("out of memory");
	error = is_recording(argv[options.index]) ? decode_recording(&decode, argv[options.index]) :
						    decode_file(&decode, argv[options.index]);
	if (!error && (printer->gaps || printer->errors)) {
		error = EXIT_GAPS;
		if (printer->level != LEVEL_PC)
			warn("the decoded flow is incomplete: %" PRIu64 " gaps, %" PRIu64 " errors",
			     printer->gaps, printer->errors);
	}
	if (!error && decode.lossy)
		error = EXIT_GAPS;
	if (!error && output_is_empty(&output) && !output.error)
		error = fail(
			"%s: nothing was decoded: the trace has no such messages: 'ntrace stat' "
			"shows what it contains",
			argv[options.index]);
	ntrace_locator_free(printer->places);
	instruction_text_free(&printer->text);
	return output_finish(&output, error);
}

const struct command command_decode = {
	.name = "decode",
	.summary = "list executed instructions, blocks or branches in order",
	.usage = "[OPTIONS] RECORDING\n"
		 "       ntrace decode [OPTIONS] --elf FILE[@ADDR] TRACE",
	.details =
		"Levels:\n"
		"  message      the messages, as ntrace dump shows them\n"
		"  block        one line for each run of instructions up to a control transfer\n"
		"  instruction  one line for each instruction\n"
		"  branch       one line for each control transfer and each branch not taken\n"
		"  pc           only the address of each instruction, one a line; errors and gaps\n"
		"               go to stderr\n"
		"  itc          text that programs write to SiFive's stimulus registers, PC "
		"samples,\n"
		"               watchpoints and other events; needs no --elf\n"
		"ADDR is the load address of the first segment; the default is the address in the "
		"file.\n"
		"The streams of a recording are printed one after the other. TRACE may be - for\n"
		"standard input. If the trace has several SRC, each line names its SRC; if it has\n"
		"timestamps, each line has the time in ticks.\n\n"
		"exit status: 0, 3 if the trace has gaps or errors, or 1 if it cannot be read, or "
		"has\n"
		"nothing in the part of --offset or --time.\n\n"
		"examples:\n"
		"  ntrace decode ntrace.data | less\n"
		"  ntrace decode --stream 1 --sysroot /srv/board ntrace.data\n"
		"  ntrace decode --stream 0 --offset 100M,101M ntrace.data\n"
		"  ntrace decode --around parse_header:3 ntrace.data\n"
		"  ntrace decode --elf prog.elf --level pc prog.nex\n"
		"  ntrace decode --level instruction --disassemble --lines --elf prog.elf "
		"prog.nex\n"
		"  ntrace decode --level branch --json --raw rom.bin@0x1000 --elf prog.elf "
		"prog.nex\n"
		"  ntrace decode --framing coresight:0x10 --elf prog.elf etr.bin\n"
		"  ntrace decode --level itc --params dialect=sifive-v0,srcbits=2 p550.nex\n"
		"  ntrace decode --params srcbits=2 --src 1 --elf boot.elf@0x80000000 soc.nex\n",
	.options = options_table,
	.run = run,
};
