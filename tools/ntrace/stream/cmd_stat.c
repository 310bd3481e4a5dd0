// SPDX-License-Identifier: GPL-2.0-only
/* ntrace stat: counts the contents of a trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/jobs.h"
#include "common/ui.h"
#include "lanes.h"
#include "source.h"
#include "stat_parts.h"
#include "statistics.h"
#include "trace.h"

enum {
	OPTION_JSON = OPTION_LONG,
};

static const struct option_spec options_table[] = {
	SOURCE_OPTIONS,
	{ OPTION_JSON, "json", NULL, "print a JSON object for each trace or stream" },
	JOBS_OPTION,
	OPTION_HELP,
	OPTION_TABLE_END,
};

/** struct stat_command - options and counters */
struct stat_command {
	struct source source;
	struct output *output;
	bool json;
	bool lossy;
	bool has_messages;
	struct trace trace;
	struct lanes lanes;
	struct statistics statistics;
	struct progress progress;
	unsigned int events;
	unsigned int jobs;
};

/* One message may represent many instructions. */
static void get_on(struct stat_command *stat, uint64_t offset)
{
	if (!(++stat->events & 0x3ff))
		progress_update(&stat->progress, offset);
}

static int take_event(void *data, struct lane *lane, const struct ntrace_flow_event *event)
{
	struct stat_command *stat = data;

	get_on(stat, event->offset);
	if (lane)
		statistics_event(&stat->statistics, lane->src < 0 ? 0 : (unsigned int)lane->src,
				 event);
	return 0;
}

static int take_blocks(void *data, struct lane *lane, const struct ntrace_block_batch *batch)
{
	struct stat_command *stat = data;

	get_on(stat, batch->offset);
	statistics_blocks(&stat->statistics, lane->src < 0 ? 0 : (unsigned int)lane->src, batch);
	return 0;
}

/* Counts one message or error. Return: 0, or an error of the library. */
static int count(struct stat_command *stat, int event, const struct ntrace_message *message)
{
	if (event == TRACE_LOST) {
		statistics_lost(&stat->statistics);
		return stat->statistics.decodable ? lanes_break(&stat->lanes, message->offset) : 0;
	}
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

/* Counts a file in parts, if it allows that. Return: as stat_in_parts() */
static int count_parts(struct stat_command *stat, const struct ntrace_params *params,
		       struct ntrace_space *space)
{
	const struct stat_parts parts = {
		.trace = &stat->trace,
		.params = params,
		.space = space,
		.jobs = stat->jobs,
		.statistics = &stat->statistics,
		.progress = &stat->progress,
	};
	int error;

	progress_begin(&stat->progress, "stat", stat->trace.size);
	error = stat_in_parts(&parts);
	progress_end(&stat->progress);
	return error;
}

static int count_trace(struct stat_command *stat, const struct ntrace_params *params,
		       struct ntrace_space *space)
{
	struct ntrace_message message;
	int event, error = count_parts(stat, params, space);

	if (error != STAT_WHOLE)
		return error;
	stat->statistics.params = *params;
	error = trace_start(&stat->trace, params);
	if (error)
		return error;
	progress_begin(&stat->progress, "stat", stat->trace.size);
	stat->trace.progress = &stat->progress;
	while ((event = trace_next(&stat->trace, &message)) >= 0 && !error) {
		get_on(stat, message.offset);
		error = count(stat, event, &message);
	}
	progress_end(&stat->progress);
	if (!error && event == TRACE_FAILED)
		return EXIT_FAILED;
	statistics_end(&stat->statistics, &stat->trace.reader);
	stat->statistics.missing = stat->trace.places;
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
	stat->has_messages |= statistics->messages != 0;
	stat->lossy |= statistics->error_messages || statistics->wire_errors || statistics->cut ||
		       statistics->missing || statistics->gaps || statistics->flow_errors ||
		       stat->lanes.ignored;
}

static int stat_open_trace(struct stat_command *stat, struct ntrace_space **space)
{
	struct lanes *lanes = &stat->lanes;
	int error = EXIT_OK;

	if (!stat->source.recording.programs.count)
		return EXIT_OK;
	error = source_map(&stat->source, space);
	if (error)
		return error;
	stat->statistics.decodable = true;
	lanes->params = stat->source.params;
	lanes->space = *space;
	lanes->only = -1;
	lanes->event = take_event;
	lanes->blocks = take_blocks;
	lanes->data = stat;
	error = lanes_start(lanes);
	return error ? fail("the stream parameters contradict each other") : EXIT_OK;
}

static int stat_file(struct stat_command *stat, const char *path)
{
	struct ntrace_space *space = NULL;
	int error = source_is_raw(&stat->source);

	if (!error)
		error = trace_open(&stat->trace, path, &stat->source.format);
	if (error)
		return error;
	error = stat_open_trace(stat, &space);
	if (!error)
		error = count_trace(stat, &stat->source.params, space);
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

	get_on(stat, event->flow->offset);
	statistics_event(&stat->statistics, 0, event->flow);
	return 0;
}

static int session_segment(void *data, const struct ntrace_segment *blocks)
{
	struct stat_command *stat = data;

	get_on(stat, blocks->batch->offset);
	statistics_blocks(&stat->statistics, 0, blocks->batch);
	return 0;
}

/* Counts the messages, then the instructions: the session knows the programs. */
static int stat_stream(struct stat_command *stat, struct recording *recording, unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(recording->session, index);
	int error, reason;

	error = trace_open_stream(&stat->trace, recording->session, stream);
	if (error)
		return error;
	error = count_trace(stat, stream->params, NULL);
	trace_close(&stat->trace);
	if (error)
		return error;
	stat->statistics.decodable = true;
	/* A stream of a recording belongs to one hart. */
	stat->statistics.params.src_bits = 0;
	progress_begin(&stat->progress, "stat", stream->bytes);
	recording->progress = &stat->progress;
	error = recording_decode(recording, NULL,
				 &(struct ntrace_decode_options){ .stream = index,
								  .event = session_event,
								  .segment = session_segment,
								  .data = stat },
				 NULL);
	reason = errno;
	recording->progress = NULL;
	progress_end(&stat->progress);
	errno = reason;
	if (error)
		return path_failed(recording_stream_name(recording, index), error);
	if (!stat->json && index)
		output_char(stat->output, '\n');
	if (!stat->json)
		output_printf(stat->output, "# stream %u: %s, CPU %u, hart %" PRIu64 "\n", index,
			      recording_stream_name(recording, index), stream->cpu, stream->hartid);
	print(stat, (int)index);
	/* A note of the session has said it. */
	stat->lossy |= ntrace_stream_losses(stream, NULL, 0);
	statistics_free(&stat->statistics);
	return EXIT_OK;
}

static int stat_recording(struct stat_command *stat, const char *path)
{
	struct recording recording;
	unsigned int i;
	int error = source_open_recording(&stat->source, &recording, path);

	if (error)
		return error;
	for (i = 0; i < ntrace_session_streams(recording.session) && !error; i++)
		if (source_wants(&stat->source, i))
			error = stat_stream(stat, &recording, i);
	recording_close(&recording);
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct stat_command stat;
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	stat.output = &output;
	source_init(&stat.source, command);
	stat.jobs = jobs_default();
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		if (option == OPTION_JSON) {
			stat.json = true;
			continue;
		}
		if (option == OPTION_JOBS) {
			error = jobs_option(&options, &stat.jobs);
			if (error)
				return error;
			continue;
		}
		error = source_option(&stat.source, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return inputs_error(command, "trace file or recording", argv + options.index,
				    argc - options.index);
	error = is_recording(argv[options.index]) ? stat_recording(&stat, argv[options.index]) :
						    stat_file(&stat, argv[options.index]);
	if (!error && !stat.has_messages && !stat.lossy)
		error = fail_without_messages(argv[options.index]);
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
		   "exit status: 0, 3 if something is missing: gaps or errors in the trace, or\n"
		   "1 if it has no messages.\n\n"
		   "examples:\n"
		   "  ntrace stat a.nex\n"
		   "  ntrace stat --elf prog.elf a.nex       # bits per instruction\n"
		   "  ntrace stat --framing coresight:0x10 etr.bin\n"
		   "  ntrace stat ntrace.data                # each stream of a recording\n"
		   "  ntrace stat --json a.nex | jq .bits\n",
	.options = options_table,
	.run = run,
};
