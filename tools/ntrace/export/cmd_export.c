// SPDX-License-Identifier: GPL-2.0-only
/* ntrace export: recordings in the formats of other tools. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/encode.h>
#include <ntrace/export.h>
#include <ntrace/export_stacks.h>
#include <ntrace/values.h>

#include "common/command.h"
#include "common/counts_load.h"
#include "common/nearest.h"
#include "common/debug_info.h"
#include "common/input.h"
#include "common/jobs.h"
#include "common/output_file.h"
#include "common/ui.h"
#include "gcov.h"
#include "object.h"
#include "samples.h"
#include "sqlite.h"
#include "stacks.h"

#define PERIOD_DEFAULT 10007
#define DEPTH_DEFAULT 32

/* Formats in addition to those of ntrace_export_profile(). */
enum {
	FORMAT_PERF_DATA = NTRACE_EXPORT_FORMATS,
	FORMAT_PERFSCRIPT,
	FORMAT_LCOV,
	FORMAT_GCOV,
	FORMAT_SQLITE,
	FORMAT_CALLS,
	FORMAT_STACKS,	/* this one and the following: formats of call stacks */
	FORMAT_PPROF = FORMAT_STACKS + NTRACE_EXPORT_PPROF,
};

#define FORMAT_NONE UINT32_MAX

enum {
	OPTION_FORMAT = 'f',
	OPTION_OUTPUT = 'o',
	OPTION_BINARY = 'b',
	OPTION_PERIOD = OPTION_LONG,
	OPTION_DEPTH,
	OPTION_EVERY_BRANCH,
	OPTION_CLASS,
	OPTION_THREADS,
	OPTION_NO_INLINE,
	OPTION_GCOV_VERSION,
	OPTION_VALUES,
};

static const struct option_spec options_table[] = {
	{ OPTION_FORMAT, "format", "NAME", "see below" },
	{ OPTION_OUTPUT, "output", "FILE",
	  "write to FILE (standard output; perf-data, sqlite: needed)" },
	{ OPTION_BINARY, "binary", "NAME[@ID]",
	  "program or library to describe: path or file name, build-id (that with most "
	  "instructions)" },
	SELECT_OPTIONS,
	RANGE_OPTIONS,
	THREAD_OPTIONS,
	{ OPTION_CLASS, "class", "LABEL", "counts file: only processes with this label" },
	{ OPTION_PERIOD, "period", "N", "instructions between samples (10007)" },
	{ OPTION_DEPTH, "depth", "N", "transfers in a sample, up to 512 (32)" },
	{ OPTION_EVERY_BRANCH, "every-branch", NULL,
	  "perf-data: one sample for each transfer, no stacks" },
	{ OPTION_THREADS, "threads", NULL, "call stacks: do not merge threads of the same name" },
	{ OPTION_NO_INLINE, "no-inline", NULL, "call stacks: without inlined frames" },
	{ OPTION_GCOV_VERSION, "gcov-version", "N",
	  "gcov: 1 for GCC up to 11, 2 for GCC 12 to 15, 3 for GCC 16 (2)" },
	{ OPTION_VALUES, "values", NULL,
	  "calls, sqlite: with arguments and results, user space only" },
	RECORDING_OPTIONS,
	JOBS_OPTION,
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct export
{
	const struct command *command;
	struct recording recording;
	struct recording_options recording_options;
	struct recording_totals totals;
	struct ntrace_profile *profile;
	struct ntrace_sampler *sampler;
	struct ntrace_coverage *coverage;
	bool sampled;		/* instructions that the sampler counts were executed */
	struct ntrace_profile_options selection;
	struct ntrace_thread_filter filter;
	struct ntrace_object *object;
	const char *path;
	const char *output;
	struct output_file file;
	const char *binary;
	const char *label;	/* of a process class; NULL: all */
	bool counted;		/* the input is a counts file */
	bool gcov_empty;
	unsigned int format;
	unsigned int jobs;
	bool every_branch;
	bool threads;
	bool no_inline;
	bool values;
	uint64_t period;
	uint32_t depth;
	uint32_t gcov_version;	/* 0: not given */
};

static const char *format_name(unsigned int format)
{
	switch (format) {
	case FORMAT_PERF_DATA:
		return "perf-data";
	case FORMAT_PERFSCRIPT:
		return "perfscript";
	case FORMAT_LCOV:
		return "lcov";
	case FORMAT_GCOV:
		return "gcov";
	case FORMAT_SQLITE:
		return "sqlite";
	case FORMAT_CALLS:
		return "calls";
	default:
		return format >= FORMAT_STACKS ? export_stacks_name(format - FORMAT_STACKS) :
						 ntrace_export_name(format);
	}
}

/* A name that is like no other one: names all of them. */
static int refuse_format(const struct export *export, const char *name)
{
	char text[512];
	size_t used = 0;

	for (unsigned int i = 0; format_name(i) && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "",
					 format_name(i));
	return usage_error(export->command,
			   "option --format: there is no format '%s': there are %s", name, text);
}

static int take_format(struct export *export, const char *name)
{
	struct nearest nearest = nearest_to(name, strlen(name));

	for (export->format = 0; format_name(export->format); export->format++) {
		if (!strcmp(format_name(export->format), name))
			return EXIT_OK;
		nearest_offer(&nearest, format_name(export->format));
	}
	if (nearest.name)
		return usage_error(export->command,
				   "option --format: there is no format '%s': did you mean %s?",
				   name, nearest.name);
	return refuse_format(export, name);
}

static int take_option(struct export *export, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_FORMAT:
		return take_format(export, options->value);
	case OPTION_OUTPUT:
		export->output = strcmp(options->value, "-") ? options->value : NULL;
		return EXIT_OK;
	case OPTION_BINARY:
		export->binary = options->value;
		return EXIT_OK;
	case OPTION_USER:
	case OPTION_KERNEL:
	case OPTION_SELECT:
		return option_select(options, option, &export->selection.privileges);
	case OPTION_ONE_PID:
	case OPTION_ONE_TID:
	case OPTION_COMM:
		export->selection.threads = &export->filter;
		return option_threads(options, option, &export->filter);
	case OPTION_RANGE_OFFSET:
	case OPTION_RANGE_TIME:
	case OPTION_RANGE_AROUND:
	case OPTION_NO_INDEX:
		return range_option(options, option, &export->recording_options.range);
	case OPTION_CLASS:
		export->label = options->value;
		return EXIT_OK;
	case OPTION_PERIOD:
		return option_number(options, "period", 1, UINT64_MAX, &export->period) ?
			       EXIT_OK :
			       EXIT_USAGE;
	case OPTION_DEPTH:
		if (!option_number(options, "depth", 0, NTRACE_SAMPLE_DEPTH_MAX, &number))
			return EXIT_USAGE;
		export->depth = (uint32_t)number;
		return EXIT_OK;
	case OPTION_EVERY_BRANCH:
		export->every_branch = true;
		return EXIT_OK;
	case OPTION_THREADS:
		export->threads = true;
		return EXIT_OK;
	case OPTION_NO_INLINE:
		export->no_inline = true;
		return EXIT_OK;
	case OPTION_GCOV_VERSION:
		if (!option_number(options, "gcov-version", NTRACE_EXPORT_GCOV_FIRST,
				   NTRACE_EXPORT_GCOV_LAST, &number))
			return EXIT_USAGE;
		export->gcov_version = (uint32_t)number;
		return EXIT_OK;
	case OPTION_VALUES:
		export->values = true;
		return EXIT_OK;
	case OPTION_JOBS:
		return jobs_option(options, &export->jobs);
	default:
		return recording_option(&export->recording_options, options, option);
	}
}

static int add_stream(void *data, struct ntrace_profile *profile)
{
	struct export *export = data;

	return ntrace_profile_merge(export->profile, profile);
}

static bool is_selected(const struct export *export, const struct ntrace_session_event *at)
{
	uint32_t privileges = export->selection.privileges;

	return ntrace_thread_filter_passes(&export->filter, at->pid, at->tid, at->comm) &&
	       (!privileges || privileges >> at->privilege & 1);
}

static int sample_event(void *data, const struct ntrace_session_event *event)
{
	struct export *export = data;

	export->sampled |= event->flow->type == NTRACE_FLOW_BLOCK && is_selected(export, event);
	return ntrace_sampler_event(export->sampler, event);
}

static int sample_segment(void *data, const struct ntrace_segment *segment)
{
	struct export *export = data;

	export->sampled |= is_selected(export, &segment->at);
	return ntrace_sampler_segment(export->sampler, segment);
}

static int sample_end(void *data, unsigned int stream)
{
	struct export *export = data;

	return ntrace_sampler_end(export->sampler, stream);
}

/* An error about the recording; if it is not of the library, it has had a message. Return: EXIT_FAILED */
static int decode_failed(const struct export *export, int error)
{
	if (error > 0)
		return EXIT_FAILED;
	return fail("%s: %s", export->path, error_text(error));
}

static int write_failed(const struct export *export, int error)
{
	const char *name = export->output ? export->output : "standard output";

	if (error == NTRACE_ERR_UNSUPPORTED && export->format == FORMAT_GCOV)
		return fail("%s: %s", ntrace_object_name(export->object),
			    debug_is_absent(export->object) ?
				    DEBUG_ABSENT :
				    "no line numbers (stripped, no debug file, or no ELF file): "
				    "compile it with -g, or have its debug file below "
				    "/usr/lib/debug");
	if (error == NTRACE_ERR_UNSUPPORTED && export->format == FORMAT_PERFSCRIPT)
		return fail("%s: a file name with a control character, which perfscript cannot "
			    "have: export perf-data",
			    ntrace_object_name(export->object));
	return path_failed(name, error);
}

static int say_empty(const struct export *export)
{
	if (!export->counted && ntrace_session_has_samples(export->recording.session))
		return fail("%s: no instruction was decoded of what is selected, the export is "
			    "empty: are the programs here, or below --sysroot?",
			    export->path);
	return export_is_empty(export->path, &export->selection,
			       export->counted ? NULL : &export->recording);
}

static int choose_object(struct export *export)
{
	const struct ntrace_profile_object *objects;
	size_t count;

	objects = ntrace_profile_objects(export->profile, &count);
	if (!count || !objects[0].instructions)
		return say_empty(export);
	export->object = export_choose_object(objects, count, export->binary, export->path);
	return export->object ? EXIT_OK : EXIT_FAILED;
}

/* The first pass: executed code and its objects. */
static int count(struct export *export)
{
	const struct profiling profiling = {
		.selection = &export->selection,
		.what = "export",
		.jobs = export->jobs,
		.take = add_stream,
		.data = export,
	};
	int error = ntrace_profile_new(&export->profile, &export->selection);

	if (!error && ntrace_session_has_samples(export->recording.session))
		error = export_count_samples(&export->recording, export->path, export->profile);
	else if (!error)
		error = recording_profile(&export->recording, &profiling, &export->totals);
	return error ? decode_failed(export, error) : EXIT_OK;
}

static void note_lines(void *data, const char *text)
{
	(void)data;
	warn("%s", text);
}

static int write_lcov(struct export *export, FILE *file)
{
	const char *room[FILES_ROOTS];
	const struct coverage_options options = {
		.object = export->object,
		.roots = files_roots(export->recording.session, export->recording_options.sysroot,
				     room),
		.note = note_lines,
	};
	int error = coverage_make(&export->coverage, export->profile, &options);

	return error ? error : ntrace_export_lcov(file, export->coverage);
}

static int write_gcov(struct export *export, FILE *file)
{
	uint32_t version = export->gcov_version ? export->gcov_version : NTRACE_EXPORT_GCOV_GCC12;
	const char *room[FILES_ROOTS];

	return export_gcov(file, export->profile, export->object,
			   files_roots(export->recording.session, export->recording_options.sysroot,
				       room),
			   version, &export->gcov_empty);
}

static int write_profile_to(struct export *export, FILE *file, struct ntrace_export_counts *counts)
{
	int error;

	if (export->format == FORMAT_PPROF)
		error = ntrace_export_pprof(file, export->profile, NULL, export->path, counts);
	else if (export->format == FORMAT_LCOV)
		error = write_lcov(export, file);
	else if (export->format == FORMAT_GCOV)
		error = write_gcov(export, file);
	else
		error = ntrace_export_profile(file, export->profile, export->format, export->object,
					      counts);
	if (!error && fflush(file))
		error = NTRACE_ERR_IO;
	return error;
}

static int write_profile(struct export *export, struct ntrace_export_counts *counts)
{
	uint64_t base;
	int error;

	if (output_file_stream(&export->file, export->output, true))
		return EXIT_FAILED;
	if (export->format == NTRACE_EXPORT_PROFGEN &&
	    ntrace_export_profgen_base(export->object, &base))
		warn("%s: addresses are absolute: run llvm-profgen with --use-offset=0, because "
		     "its "
		     "versions count them from different bases",
		     ntrace_object_name(export->object));
	error = write_profile_to(export, export->file.stream, counts);
	return error ? write_failed(export, error) : EXIT_OK;
}

static int write_samples(struct export *export, struct ntrace_export_counts *counts)
{
	const struct ntrace_export_samples_options file_options = {
		.size = sizeof(file_options),
		.session = export->recording.session,
		.object = export->object,
		.period = export->period,
		.user = export->selection.privileges == 1u << NTRACE_PRIV_U,
		.every_branch = export->every_branch,
	};
	struct ntrace_sampler_options options = {
		.size = sizeof(options),
		.period = export->every_branch ? 0 : export->period,
		.depth = export->depth,
		.threads = export->selection.threads,
		.privileges = export->selection.privileges,
		.sample = ntrace_export_sample,
		.branch = export->every_branch ? ntrace_export_branch : NULL,
	};
	const struct ntrace_decode_options decoding = {
		.stream = NTRACE_ALL_STREAMS,
		.event = sample_event,
		.segment = sample_segment,
		.end = sample_end,
		.data = export,
	};
	struct ntrace_export_samples *samples;
	int error, closed;

	if (export->format == FORMAT_PERF_DATA) {
		if (output_file_named(&export->file, export->output))
			return EXIT_FAILED;
		if (output_is_standard(export->output) ||
		    !strcmp(export->file.name, export->output))
			return output_needs_file(export->output, format_name(export->format));
		error = ntrace_export_perf_data_open(&samples, export->file.name, &file_options);
	} else {
		if (output_file_stream(&export->file, export->output, true))
			return EXIT_FAILED;
		error = ntrace_export_perfscript_open(&samples, export->file.stream, &file_options);
	}
	if (error)
		return write_failed(export, error);
	options.data = samples;
	error = ntrace_sampler_new(&export->sampler, &options);
	if (!error && ntrace_session_has_samples(export->recording.session))
		error = export_write_samples(&export->recording, samples, &export->selection);
	else if (!error)
		error = recording_decode(&export->recording, "export", &decoding, &export->totals);
	closed = ntrace_export_samples_close(samples, counts);
	if (closed)
		return write_failed(export, closed);
	return error ? decode_failed(export, error) : EXIT_OK;
}

static bool is_any_executed(const struct export *export)
{
	const struct ntrace_profile_object *objects;
	size_t count;

	objects = ntrace_profile_objects(export->profile, &count);
	return count && objects[0].instructions;
}

/* Return: EXIT_OK, or EXIT_FAILED after an error message: there are none. */
static int say_lines(const struct export *export)
{
	const struct ntrace_coverage_line *lines;
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	size_t count, executed = 0, i;

	if (!is_any_executed(export))
		return say_empty(export);
	lines = ntrace_coverage_lines(export->coverage, &count);
	for (i = 0; i < count; i++)
		executed += lines[i].executed != 0;
	if (!count)
		return fail("nothing that was executed has line numbers: the export is empty: "
			    "compile with -g, or have debug files below /usr/lib/debug");
	say("%s lines, %s of them executed", ui_number(number, count), ui_number(other, executed));
	return EXIT_OK;
}

/*
 * Print on standard error, because the export may be on standard output. Return: EXIT_OK, or
 * EXIT_FAILED: the export is empty.
 */
static int say_what(const struct export *export, const struct ntrace_export_counts *counts)
{
	bool samples = export->format == FORMAT_PERF_DATA || export->format == FORMAT_PERFSCRIPT;
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	int error = EXIT_OK;

	if (export->format == FORMAT_LCOV)
		error = say_lines(export);
	else if (export->format == FORMAT_GCOV)
		error = export->gcov_empty ? EXIT_FAILED : EXIT_OK; /* A message was printed. */
	else if (!counts->traces && export->sampled)
		error = fail("%s: no sample: fewer selected instructions were executed than "
			     "--period %" PRIu64 " skips: give a smaller --period",
			     export->path, export->period);
	else if (!counts->traces)
		error = say_empty(export);
	else if (samples)
		say("%s samples with %s transfers%s%s", ui_number(number, counts->traces),
		    ui_number(other, counts->executed), export->object ? " of " : "",
		    export->object ? ntrace_object_name(export->object) : "");
	else
		say("%s traces, executed %s times%s%s", ui_number(number, counts->traces),
		    ui_number(other, counts->executed), export->object ? ", of " : "",
		    export->object ? ntrace_object_name(export->object) : "");
	recording_say_losses(&export->totals, "code executed there is not counted");
	return error;
}

static int write_stacks(struct export *export)
{
	const struct export_stacks_options options = {
		.recording = &export->recording,
		.path = export->path,
		.output = export->output,
		.format = export->format - FORMAT_STACKS,
		.roots = ntrace_session_roots(export->recording.session),
		.threads = export->threads,
		.inlined = !export->no_inline,
		.selection = &export->selection,
		.jobs = export->jobs,
	};

	return export_stacks(&options);
}

/* The database with all calls, or these as text. */
static int write_calls(struct export *export)
{
	const struct export_sqlite_options options = {
		.recording = &export->recording,
		.path = export->path,
		.output = export->output,
		.selection = &export->selection,
		.jobs = export->jobs,
		.text = export->format == FORMAT_CALLS,
		.values = export->values,
	};

	if (export->values && !ntrace_values_recorded(export->recording.session))
		return fail("%s: no values were recorded: ntrace record --values", export->path);
	return export_sqlite(&options);
}

static int samples_not_covered(const struct export *export)
{
	return fail("%s: samples cannot show which code was not executed: lcov needs a trace, see "
		    "ntrace-record(1)",
		    export->path);
}

/* Rejects formats and options that need a trace. */
static int check_samples(const struct export *export)
{
	if (!ntrace_session_has_samples(export->recording.session))
		return EXIT_OK;
	if (export->format == FORMAT_PERF_DATA)
		return fail("%s: is a perf.data file already", export->path);
	if (export->format == FORMAT_LCOV)
		return samples_not_covered(export);
	if (export->format >= FORMAT_SQLITE)
		return fail("%s: between samples calls and returns are unknown: %s needs a trace, "
			    "see ntrace-record(1)",
			    export->path, format_name(export->format));
	if (export->selection.privileges && !(export->selection.privileges >> NTRACE_PRIV_U & 1))
		return fail("%s: a perf.data file does not contain the kernel's code: --kernel "
			    "(--privilege s) needs a recording of ntrace-record(1)",
			    export->path);
	return EXIT_OK;
}

/* Rejects formats and options that need more than counts. */
static int check_counts(const struct export *export)
{
	const char *needs = NULL;

	if (export->format == FORMAT_PERF_DATA || export->format == FORMAT_PERFSCRIPT)
		needs = "the order of transfers";
	else if (export->format >= FORMAT_SQLITE && export->format != FORMAT_PPROF)
		needs = "calls in order";
	if (needs)
		return fail("%s: is a counts file: %s needs %s, which only the recording has",
			    export->path, format_name(export->format), needs);
	if (export->selection.threads || export->recording_options.range.given ||
	    export->recording_options.range.around)
		return fail("%s: is a counts file: it has neither processes nor times; --class, "
			    "--user, --kernel and --privilege select",
			    export->path);
	return EXIT_OK;
}

static int run_counts(struct export *export)
{
	const struct ntrace_counts_load_options options = {
		.size = sizeof(options),
		.sysroot = export->recording_options.sysroot,
		.privileges = export->selection.privileges,
		.label = export->label,
	};
	struct ntrace_export_counts counts = { 0 };
	struct ntrace_counts_totals totals;
	int error = check_counts(export);

	if (!error)
		error = counts_load(&export->profile, export->path, &options, &totals);
	if (!error && totals.losses.sampled && export->format == FORMAT_LCOV)
		error = samples_not_covered(export);
	if (!error && (export->format == FORMAT_GCOV || ntrace_export_one_object(export->format) ||
		       export->binary))
		error = choose_object(export);
	if (!error)
		error = write_profile(export, &counts);
	return error ? error : say_what(export, &counts);
}

static int run_export(struct export *export)
{
	struct ntrace_export_counts counts = { 0 };
	bool one_object = export->format == FORMAT_PERFSCRIPT || export->format == FORMAT_GCOV ||
			  ntrace_export_one_object(export->format);
	int error;

	export->counted = is_counts_file(export->path);
	if (export->counted)
		return run_counts(export);
	if (export->label)
		return usage_error(export->command,
				   "--class applies to counts files of 'ntrace count' only");
	error = recording_open(&export->recording, export->command, export->path,
			       &export->recording_options);
	if (!error)
		error = check_samples(export);
	if (!error && export->format >= FORMAT_STACKS)
		return write_stacks(export);
	if (!error && (export->format == FORMAT_SQLITE || export->format == FORMAT_CALLS))
		return write_calls(export);
	if (!error && export->format != FORMAT_PERF_DATA)
		error = count(export);
	if (!error && (one_object || export->binary))
		error = choose_object(export);
	if (error)
		return error;
	error = export->format == FORMAT_PERF_DATA || export->format == FORMAT_PERFSCRIPT ?
			write_samples(export, &counts) :
			write_profile(export, &counts);
	return error ? error : say_what(export, &counts);
}

static int check_output(const struct export *export)
{
	struct stat status;

	if (export->format != FORMAT_PERF_DATA && export->format != FORMAT_SQLITE)
		return EXIT_OK;
	if (!export->output)
		return usage_error(export->command, "option --output is needed with %s",
				   format_name(export->format));
	if (!stat(export->output, &status) && !S_ISREG(status.st_mode))
		return output_needs_file(export->output, format_name(export->format));
	return EXIT_OK;
}

/* Values have numbers of instructions, which are counted from the begin of the thread, in user space. */
static int check_values(struct export *export)
{
	const uint32_t user = 1u << NTRACE_PRIV_U;

	if (export->format != FORMAT_SQLITE && export->format != FORMAT_CALLS)
		return usage_error(export->command, "--values applies to calls and sqlite only");
	if (export->selection.privileges && export->selection.privileges != user)
		return usage_error(export->command, "values of the kernel are unknown: --values "
						    "exports user space only");
	if (export->recording_options.range.given || export->recording_options.range.around)
		return usage_error(export->command, "--values needs all of the trace: --offset, "
						    "--time and --around are not allowed");
	export->selection.privileges = user;
	return check_output(export);
}

static int check_options(struct export *export, char **inputs, int count)
{
	if (count != 1)
		return inputs_error(export->command, "recording or counts file", inputs, count);
	if (export->format == FORMAT_NONE)
		return usage_error(export->command, "option --format is needed");
	if (export->format == FORMAT_PERF_DATA && export->binary)
		return usage_error(
			export->command,
			"perf-data always contains all objects: --binary is not allowed");
	if (export->format >= FORMAT_SQLITE && export->binary)
		return usage_error(export->command,
				   "%s always contains all objects: --binary is not allowed",
				   format_name(export->format));
	if (export->threads && export->format < FORMAT_STACKS)
		return usage_error(export->command, "--threads applies to call stacks only");
	if (export->no_inline && export->format < FORMAT_STACKS)
		return usage_error(export->command, "--no-inline applies to call stacks only");
	if (export->every_branch && export->format != FORMAT_PERF_DATA)
		return usage_error(export->command, "--every-branch applies to perf-data only");
	if (export->gcov_version && export->format != FORMAT_GCOV)
		return usage_error(export->command, "--gcov-version applies to gcov only");
	return export->values ? check_values(export) : check_output(export);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct export export = { .command = command,
				 .format = FORMAT_NONE,
				 .period = PERIOD_DEFAULT,
				 .depth = DEPTH_DEFAULT,
				 .recording_options = { .samples = true, .traces = true },
				 .selection = { .size = sizeof(export.selection) },
				 .filter = ALL_THREADS };
	struct options options;
	int option, error;

	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&export, &options, option);
		if (error)
			return error;
	}
	error = check_options(&export, argv + options.index, argc - options.index);
	if (error)
		return error;
	export.path = argv[options.index];
	error = output_file_close(&export.file, run_export(&export));
	ntrace_sampler_free(export.sampler);
	ntrace_coverage_free(export.coverage);
	ntrace_profile_free(export.profile);
	recording_close(&export.recording);
	programs_free(&export.recording_options.programs);
	return error;
}

const struct command command_export = {
	.name = "export",
	.summary = "profiles and samples for AutoFDO, BOLT, llvm-profgen, lcov and perf",
	.usage = "--format NAME [OPTIONS] RECORDING | FILE",
	.details =
		"formats:\n"
		"  gcov        GCC: gcc -fauto-profile=FILE\n"
		"  autofdo     create_llvm_prof --profiler=text, create_gcov --profiler=text\n"
		"  profgen     llvm-profgen --unsymbolized-profile\n"
		"  bolt        perf2bolt -pa, LLVM 21 and later\n"
		"  bolt-bf     perf2bolt -pa, every version\n"
		"  csv, json   every trace: a transfer, the straight run behind it, times "
		"executed\n"
		"  lcov        exact coverage of lines, branches and functions: genhtml\n"
		"  perf-data   perf.data with branch stacks: perf, llvm-profgen, "
		"create_llvm_prof, perf2bolt\n"
		"  perfscript  llvm-profgen --perfscript\n"
		"  folded      call stacks: flamegraph.pl, inferno, speedscope\n"
		"  callgrind   call graph: callgrind_annotate, KCachegrind\n"
		"  pprof       call stacks: go tool pprof, Pyroscope, Parca\n"
		"  speedscope  call stacks: www.speedscope.app\n"
		"  chrome      timeline of calls: chrome://tracing, Perfetto, Speedscope\n"
		"  perfetto    the same in protocol buffers: ui.perfetto.dev\n"
		"  sqlite      calls, scheduling, losses, functions, branches, for questions in "
		"SQL\n"
		"  calls       every call as comma-separated values; with --values its arguments "
		"and result\n"
		"All but perf-data and perfscript hold every executed transfer; these sample, "
		"every N instructions.\n"
		"A trace does not contain mispredictions: exports have none.\n"
		"Of a perf.data file with branch stacks (perf record -j any,u) the counts of "
		"the samples: gcov\n"
		"to json, and perfscript.\n"
		"Of a counts file (ntrace count, merge): gcov to lcov, and pprof, which then has "
		"no\n"
		"call stacks.\n"
		"\n"
		"examples:\n"
		"  ntrace export -f profgen -u -b app -o app.txt ntrace.data\n"
		"  llvm-profgen --unsymbolized-profile=app.txt --binary=app --output=app.prof\n"
		"  ntrace export -f bolt -u -b app -o app.pa ntrace.data\n"
		"  perf2bolt -pa -p app.pa -o app.fdata app\n"
		"  ntrace export -f perf-data -u -o perf.data ntrace.data\n"
		"  ntrace export -f perfetto --time 2000000,3000000 -o part.pftrace ntrace.data\n"
		"  perf report --branch-history -i perf.data\n"
		"  ntrace export -f sqlite -o trace.db ntrace.data\n"
		"  ntrace export -f profgen -b app -o app.txt all.counts\n"
		"  ntrace export -f lcov --elf prog.elf -o prog.info prog.nex\n",
	.options = options_table,
	.run = run,
};
