// SPDX-License-Identifier: GPL-2.0-only
/* ntrace export: the formats that contain call stacks. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/export_stacks.h>

#include "common/command.h"
#include "common/debug_info.h"
#include "common/jobs.h"
#include "common/output_file.h"
#include "common/ui.h"
#include "stacks.h"

/* Formats of summed stacks come first, then timelines. */
static bool is_timeline(unsigned int index)
{
	return index >= NTRACE_EXPORT_STACKS_FORMATS;
}

const char *export_stacks_name(unsigned int index)
{
	return is_timeline(index) ?
		       ntrace_export_timeline_name(index - NTRACE_EXPORT_STACKS_FORMATS) :
		       ntrace_export_stacks_name(index);
}

static int failed(const char *name, int error)
{
	return path_failed(name, error);
}

int export_is_empty(const char *path, const struct ntrace_profile_options *selection,
		    const struct recording *recording)
{
	bool selects = selection->privileges || selection->threads;

	if (!recording)
		return fail("%s: no selected code was executed: the export is empty: -f csv "
			    "without --class, --user, --kernel and --privilege shows all counts",
			    path);

	return fail("%s: no selected code was executed: the export is empty: %s", path,
		    recording->range.given ?
			    "--offset, --time and --around select less; 'ntrace stat' "
			    "shows which bytes and timestamps the trace has" :
		    selects ? "'ntrace report --by-process' shows what was "
			      "executed; " SELECT_OPTION_NAMES " select less" :
			      "'ntrace report' names what was lost and what could not be decoded");
}

/*
 * Print on standard error, because the export may be on standard output. Return: EXIT_OK, or
 * EXIT_FAILED: the export is empty.
 */
static int say_what(struct ntrace_stacks *stacks, const struct export_stacks_options *options,
		    const struct recording_totals *totals)
{
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	struct ntrace_stacks_stats stats;
	int error = EXIT_OK;

	ntrace_stacks_get_stats(stacks, &stats);
	if (!stats.instructions)
		error = export_is_empty(options->path, options->selection, options->recording);
	else
		say("%s instructions, %s calls", ui_number(number, stats.instructions),
		    ui_number(other, stats.calls));
	if (options->inlined && !is_timeline(options->format))
		debug_warn_missing(stacks);
	if (stats.other)
		warn("the call tree is too large: %s instructions are in '[other]'",
		     ui_number(number, stats.other));
	if (stats.cut)
		warn("stacks were too deep %s times: outer callers are '[unknown]'",
		     ui_number(number, stats.cut));
	recording_say_losses(totals, "code executed there is missing, and callers after that may "
				     "be '[unknown]'");
	return error;
}

/* The last part of the path: the export does not depend on where the recording is. */
static void name_recording(const char *path, char *name, size_t size)
{
	size_t length = strlen(path);
	const char *slash;

	while (length > 1 && path[length - 1] == '/')
		length--;
	slash = memrchr(path, '/', length - !!length);
	if (slash) {
		length -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	snprintf(name, size, "%.*s", (int)length, path);
}

/* Adds the title and the timestamp frequency, which the stacks do not contain. */
static int write_sums(struct ntrace_stacks *stacks, const struct export_stacks_options *options,
		      FILE *file)
{
	const struct ntrace_stream *stream = ntrace_session_stream(options->recording->session, 0);
	char title[NAME_MAX + 1];
	const struct ntrace_export_stacks_options file_options = {
		.size = sizeof(file_options),
		.title = title,
		/* Times are in nanoseconds, or in ticks of an unknown frequency. */
		.timestamp_hz = stream && stream->params->timestamp_hz ? 1000000000 : 0,
	};

	name_recording(options->path, title, sizeof(title));
	return ntrace_export_stacks(file, stacks, options->format, &file_options);
}

/* Sums are written after decoding; a timeline is written during it. */
static int run(struct ntrace_stacks *stacks, const struct export_stacks_options *options,
	       FILE *file, const char *name)
{
	const struct ntrace_decode_options decoding = {
		.stream = NTRACE_ALL_STREAMS,
		.needs = NTRACE_NEEDS_RUNS | NTRACE_NEEDS_TURNS,
		.event = ntrace_stacks_event,
		.segment = ntrace_stacks_segment,
		.end = ntrace_stacks_end_stream,
		.data = stacks,
		.jobs = jobs_for(options->recording, options->jobs),
	};
	struct recording_totals totals = { 0 };
	int error = recording_decode(options->recording, "export", &decoding, &totals);

	if (!error)
		error = ntrace_stacks_end(stacks);
	if (error)
		return failed(ferror(file) ? name : options->path, error);
	if (!is_timeline(options->format))
		error = write_sums(stacks, options, file);
	if (error)
		return failed(name, error);
	return say_what(stacks, options, &totals);
}

static int run_with(const struct export_stacks_options *options, FILE *file, const char *name,
		    char **directories)
{
	struct ntrace_stacks_options wanted = { .size = sizeof(wanted),
						.threads = options->selection->threads,
						.privileges = options->selection->privileges,
						.merge_threads = !options->threads,
						.inlined = options->inlined &&
							   !is_timeline(options->format),
						.directories = (const char *const *)directories };
	struct ntrace_export_timeline *timeline = NULL;
	struct ntrace_stacks *stacks;
	int error = 0, closed = 0;

	if (is_timeline(options->format)) {
		error = ntrace_export_timeline_open(&timeline, file,
						    options->format - NTRACE_EXPORT_STACKS_FORMATS,
						    options->recording->session);
		wanted.change = ntrace_export_timeline_change;
		wanted.data = timeline;
	}
	if (!error)
		error = ntrace_stacks_new(&stacks, &wanted);
	if (error) {
		if (timeline)
			ntrace_export_timeline_close(timeline, NULL);
		return failed(options->path, error);
	}
	error = run(stacks, options, file, name);
	if (timeline)
		closed = ntrace_export_timeline_close(timeline, NULL);
	ntrace_stacks_free(stacks);
	return error || !closed ? error : failed(name, closed);
}

int export_stacks(const struct export_stacks_options *options)
{
	char **directories = debug_directories(options->roots);
	struct output_file file;
	int error;

	if (!directories)
		return fail("out of memory");
	error = output_file_stream(&file, options->output, true);
	if (!error)
		error = run_with(options, file.stream, file.path, directories);
	debug_directories_free(directories);
	return output_file_close(&file, error);
}
