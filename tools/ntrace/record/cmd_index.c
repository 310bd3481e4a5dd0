// SPDX-License-Identifier: GPL-2.0-only
/* ntrace index: the places of a recording from which its parts are decoded. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/index.h>

#include "common/command.h"
#include "common/input.h"
#include "common/output.h"
#include "common/ui.h"

enum {
	OPTION_POINTS = OPTION_LONG,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_POINTS, "points", NULL, "list the points" },
	RECORDING_OPTIONS,
	{ OPTION_JSON, "json", NULL, "print a JSON object for each stream, or for each point" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct index_command {
	struct recording recording;
	struct recording_options recording_options;
	struct output *output;
	bool points;
	bool json;
};

static int take_option(struct index_command *index, const struct options *options, int option)
{
	switch (option) {
	case OPTION_POINTS:
		index->points = true;
		return EXIT_OK;
	case OPTION_JSON:
		index->json = true;
		return EXIT_OK;
	default:
		return recording_option(&index->recording_options, options, option);
	}
}

static void put_point(const struct index_command *index, unsigned int stream,
		      const struct ntrace_index_point *point)
{
	struct output *output = index->output;

	if (!index->json) {
		output_printf(output, "%12" PRIu64 "  0x%016" PRIx64 "  %7" PRId32 " %7" PRId32,
			      point->offset, point->address, point->pid, point->tid);
		if (point->time_known)
			output_printf(output, "  %" PRIu64, point->time);
		output_printf(output, "\n");
		return;
	}
	output_printf(output,
		      "{\"stream\":%u,\"offset\":%" PRIu64 ",\"address\":\"0x%" PRIx64
		      "\",\"pid\":%" PRId32 ",\"tid\":%" PRId32,
		      stream, point->offset, point->address, point->pid, point->tid);
	if (point->time_known)
		output_printf(output, ",\"time\":\"0x%" PRIx64 "\"", point->time);
	output_printf(output, "}\n");
}

static void put_stream(const struct index_command *index, unsigned int stream)
{
	const struct ntrace_session *session = index->recording.session;
	const struct ntrace_stream *info = ntrace_session_stream(session, stream);
	struct ntrace_index_point point;
	uint64_t count = 0;

	while (!ntrace_session_index_point(session, stream, count, &point))
		count++;
	if (!index->json)
		output_printf(index->output,
			      "# stream %u: CPU %u, hart %" PRIu64 ", %" PRIu64 " bytes, %" PRIu64
			      " points\n",
			      stream, info->cpu, info->hartid, info->bytes, count);
	else if (!index->points)
		output_printf(index->output,
			      "{\"stream\":%u,\"cpu\":%u,\"hartid\":%" PRIu64 ",\"bytes\":%" PRIu64
			      ",\"points\":%" PRIu64 "}\n",
			      stream, info->cpu, info->hartid, info->bytes, count);
	if (index->points && !index->json)
		output_printf(index->output, "#%11s  %18s  %7s %7s  time\n", "offset", "address",
			      "pid", "tid");
	for (count = 0;
	     index->points && !ntrace_session_index_point(session, stream, count, &point); count++)
		put_point(index, stream, &point);
}

static int make(struct index_command *index, const char *path)
{
	struct recording *recording = &index->recording;
	struct ntrace_index_counts counts;
	char points[UI_NUMBER_SIZE], size[UI_NUMBER_SIZE];
	int error = recording_index(recording, path, &counts), reason = errno;
	uint64_t bytes = 0, longest = 0;
	unsigned int i;

	if (error)
		return error;
	for (i = 0; i < ntrace_session_streams(recording->session); i++) {
		put_stream(index, i);
		bytes += ntrace_session_stream(recording->session, i)->bytes;
		if (ntrace_session_stream(recording->session, i)->bytes > longest)
			longest = ntrace_session_stream(recording->session, i)->bytes;
	}
	if (!bytes)
		return fail("%s: the trace is empty: there is nothing to index", path);
	if (!counts.points && longest > NTRACE_INDEX_DISTANCE)
		return fail(
			"%s: no points: no message after the first 64 KiB tells where execution "
			"is, so decoding always begins at the start",
			path);
	if (!counts.points)
		say("no points: no stream has more than 64 KiB, and each is decoded from its "
		    "start");
	else if (counts.decoded)
		say("%s points, %s decoded", ui_number(points, counts.points),
		    ui_size(size, counts.decoded));
	else
		say("%s points, the index was up to date", ui_number(points, counts.points));
	return counts.stored ? EXIT_OK :
			       fail("%s: the index cannot be kept: %s", path, strerror(reason));
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	struct index_command index = { .recording_options.traces = true, .output = &output };
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&index, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return usage_error(command, "one recording is needed");
	error = recording_open(&index.recording, command, argv[options.index],
			       &index.recording_options);
	if (error)
		return error;
	error = output_finish(&output, make(&index, argv[options.index]));
	recording_close(&index.recording);
	programs_free(&index.recording_options.programs);
	return error;
}

const struct command command_index = {
	.name = "index",
	.summary = "make the index of a recording, for quick access to its parts",
	.usage = "[OPTIONS] RECORDING",
	.details =
		"The index has a point about every 64 KiB of trace, from which decoding can\n"
		"continue without the trace before it. It is the file index in the directory of "
		"the\n"
		"recording, or FILE.index for a perf.data file. decode, report and export use it "
		"for\n"
		"--offset and --time, and make it if it is missing; ntrace index makes it "
		"beforehand.\n"
		"An index that does not fit the recording or its programs is made again. If the\n"
		"trace has grown, only its new part is decoded.\n\n"
		"exit status: 0, or 1 if the index cannot be made or stored, or a long trace has "
		"no points.\n\n"
		"examples:\n"
		"  ntrace index ntrace.data\n"
		"  ntrace index --points --json ntrace.data | jq -r .offset\n"
		"  ntrace decode --offset 100M,101M ntrace.data\n",
	.options = options_table,
	.run = run,
};
