// SPDX-License-Identifier: GPL-2.0-only
/* ntrace stat: what a trace consists of, and what it costs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "lanes.h"
#include "program.h"
#include "statistics.h"
#include "trace.h"
#include "ui.h"

enum {
	OPTION_PARAMS = 'p',
	OPTION_ELF = 'e',
	OPTION_RAW = OPTION_LONG,
	OPTION_WORDS16,
	OPTION_STREAM,
	OPTION_SYSROOT,
	OPTION_FIRMWARE,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_PARAMS, "params", "KEY=VALUE,...",
	  "raw trace: stream parameters, e.g. srcbits=2" },
	{ OPTION_ELF, "elf", "FILE[@ADDR]",
	  "raw trace: program, loaded at ADDR: count instructions" },
	{ OPTION_RAW, "raw", "FILE@ADDR", "the same for plain memory without a header" },
	{ OPTION_WORDS16, "words16", NULL, "raw trace: 16-bit words with the later byte first" },
	{ OPTION_STREAM, "stream", "N", "recording: only stream N (aux.N)" },
	{ OPTION_SYSROOT, "sysroot", "DIR",
	  "recording: files of the recorded machine are below DIR" },
	{ OPTION_FIRMWARE, "firmware", "ELF[@ADDR]", "recording: firmware that runs in M-mode" },
	{ OPTION_JSON, "json", NULL, "one JSON object for a trace or stream" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/** struct stat_command - what is asked for; @only: the stream that is wanted, -1: all */
struct stat_command {
	const struct command *command;
	struct output *output;
	struct ntrace_params params;
	struct programs programs;
	struct recording_options recording;
	bool params_given;
	bool xlen_given;
	bool words16;
	bool json;
	bool lossy;
	int64_t only;
	struct trace trace;
	struct lanes lanes;
	struct statistics statistics;
};

static int take_event(void *data, struct lane *lane, const struct ntrace_flow_event *event)
{
	struct stat_command *stat = data;

	if (lane)
		statistics_event(&stat->statistics, lane->src < 0 ? 0 : (unsigned int)lane->src,
				 event);
	return 0;
}

/* One message or error of the trace. Return: not 0 for an error of the library. */
static int count(struct stat_command *stat, int event, const struct ntrace_message *message)
{
	if (event == NTRACE_WIRE_ERROR) {
		statistics_lost(&stat->statistics);
		return stat->statistics.decodable ?
			       lanes_wire_error(&stat->lanes, message->offset) :
			       0;
	}
	if (!statistics_message(&stat->statistics, message))
		return NTRACE_ERR_NOMEM;
	return stat->statistics.decodable ? lanes_message(&stat->lanes, message) : 0;
}

static int count_trace(struct stat_command *stat, const struct ntrace_params *params)
{
	struct ntrace_message message;
	struct progress progress;
	uint64_t messages = 0;
	int event, error;

	stat->statistics.params = *params;
	error = trace_start(&stat->trace, params);
	if (error)
		return error;
	progress_begin(&progress, "stat", stat->trace.size);
	while ((event = trace_next(&stat->trace, &message)) >= 0 && !error) {
		if (!(++messages & 0xffff))
			progress_update(&progress, message.offset);
		error = count(stat, event, &message);
	}
	progress_end(&progress);
	if (!error && event == TRACE_FAILED)
		return EXIT_FAILED;
	statistics_end(&stat->statistics, &stat->trace.reader);
	if (!error && stat->statistics.decodable)
		error = lanes_end(&stat->lanes, stat->statistics.cut,
				  stat->trace.reader.offset - stat->statistics.cut);
	return error ? fail("%s: %s", stat->trace.name, ntrace_strerror(error)) : EXIT_OK;
}

static void print(struct stat_command *stat, int stream)
{
	const struct statistics *statistics = &stat->statistics;

	if (stat->json)
		statistics_json(statistics, stat->output, stream);
	else
		statistics_text(statistics, stat->output);
	stat->lossy |= statistics->error_messages || statistics->wire_errors || statistics->cut ||
		       statistics->gaps || statistics->flow_errors || stat->lanes.ignored;
}

static int stat_open_trace(struct stat_command *stat, struct ntrace_space **space)
{
	struct lanes *lanes = &stat->lanes;
	int error = EXIT_OK;

	if (!stat->programs.count)
		return EXIT_OK;
	error = programs_map(&stat->programs, stat->command, space, &stat->params,
			     stat->xlen_given);
	if (error)
		return error;
	stat->statistics.decodable = true;
	lanes->params = stat->params;
	lanes->space = *space;
	lanes->only = -1;
	lanes->event = take_event;
	lanes->data = stat;
	error = lanes_start(lanes);
	return error ? fail("the stream parameters contradict each other") : EXIT_OK;
}

static int stat_file(struct stat_command *stat, const char *path)
{
	struct ntrace_space *space = NULL;
	int error;

	if (stat->only >= 0 || stat->recording.sysroot || stat->recording.firmware)
		return usage_error(stat->command,
				   "--stream, --sysroot and --firmware are for recordings");
	error = trace_open(&stat->trace, path, stat->words16);
	if (error)
		return error;
	error = stat_open_trace(stat, &space);
	if (!error)
		error = count_trace(stat, &stat->params);
	if (!error)
		print(stat, -1);
	if (!error && stat->lanes.ignored)
		warn("%s: more than %d SRC: %" PRIu64
		     " others were not decoded; are the parameters right?",
		     stat->trace.name, LANES_MAX, stat->lanes.ignored);
	lanes_free(&stat->lanes);
	statistics_free(&stat->statistics);
	if (space)
		ntrace_space_put(space);
	trace_close(&stat->trace);
	return error;
}

static int session_event(void *data, const struct ntrace_session_event *event)
{
	struct stat_command *stat = data;

	statistics_event(&stat->statistics, 0, event->flow);
	return 0;
}

/* The messages, then the instructions, which a session finds the programs of. */
static int stat_stream(struct stat_command *stat, struct recording *recording, unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(recording->session, index);
	int error;

	error = trace_open(&stat->trace, stream->file, false);
	if (error)
		return error;
	error = count_trace(stat, &stream->params);
	trace_close(&stat->trace);
	if (error)
		return error;
	stat->statistics.decodable = true;
	/* A stream of a recording is one hart's. */
	stat->statistics.params.src_bits = 0;
	error = ntrace_session_decode(recording->session, index, session_event, stat, NULL);
	if (error)
		return fail("stream %u: %s", index, ntrace_strerror(error));
	if (!stat->json)
		output_printf(stat->output, "%s# stream %u: %s, CPU %u, hart %" PRIu64 "\n",
			      index ? "\n" : "", index, stream->file, stream->cpu, stream->hartid);
	print(stat, (int)index);
	statistics_free(&stat->statistics);
	return EXIT_OK;
}

static int stat_recording(struct stat_command *stat, const char *path)
{
	struct recording recording;
	unsigned int i, streams;
	int error;

	if (stat->params_given || stat->programs.count || stat->words16)
		return usage_error(stat->command,
				   "--params, --elf, --raw and --words16 are for raw "
				   "traces: a recording knows them");
	error = recording_open(&recording, stat->command, path, &stat->recording);
	if (error)
		return error;
	streams = ntrace_session_streams(recording.session);
	if (stat->only >= streams)
		error = fail("%s: there is no stream %" PRId64 ": it has %u", path, stat->only,
			     streams);
	for (i = 0; i < streams && !error; i++)
		if (stat->only < 0 || stat->only == i)
			error = stat_stream(stat, &recording, i);
	recording_close(&recording);
	return error;
}

static int take_option(struct stat_command *stat, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_PARAMS:
		stat->params_given = true;
		stat->xlen_given |= strstr(options->value, "xlen=") != NULL;
		return input_params(stat->command, &stat->params, options->value);
	case OPTION_ELF:
	case OPTION_RAW:
		return programs_add(&stat->programs, stat->command, options->value,
				    option == OPTION_RAW);
	case OPTION_STREAM:
		if (!option_number(options, "stream", 0, UINT16_MAX, &number))
			return EXIT_USAGE;
		stat->only = (int64_t)number;
		return EXIT_OK;
	case OPTION_SYSROOT:
		stat->recording.sysroot = options->value;
		return EXIT_OK;
	case OPTION_FIRMWARE:
		stat->recording.firmware = options->value;
		return EXIT_OK;
	case OPTION_WORDS16:
		stat->words16 = true;
		return EXIT_OK;
	case OPTION_JSON:
		stat->json = true;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct stat_command stat;
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	stat.command = command;
	stat.output = &output;
	stat.only = -1;
	ntrace_params_init(&stat.params);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return finish_output(EXIT_OK);
		error = take_option(&stat, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return usage_error(command, "one trace file or recording is needed");
	error = is_directory(argv[options.index]) ? stat_recording(&stat, argv[options.index]) :
						    stat_file(&stat, argv[options.index]);
	return output_finish(&output, error ? error : stat.lossy ? EXIT_GAPS : EXIT_OK);
}

const struct command command_stat = {
	.name = "stat",
	.summary = "count messages, bits per instruction, sync distances, loss",
	.usage = "[OPTIONS] TRACE | RECORDING",
	.details = "Messages and bytes by type, bits by field, synchronization and the distances "
		   "between,\n"
		   "loss, time stamps, and all SRC; with --elf also instructions and what each "
		   "costs.\n"
		   "TRACE may be - for standard input. Memory does not grow with the trace.\n\n"
		   "exit status: 0, or 3 if something is missing: gaps or errors in the trace.\n\n"
		   "examples:\n"
		   "  ntrace stat a.nex\n"
		   "  ntrace stat --elf prog.elf a.nex       bits per instruction\n"
		   "  ntrace stat ntrace.data                each stream of a recording\n"
		   "  ntrace stat --json a.nex | jq .bits\n",
	.options = options_table,
	.run = run,
};
