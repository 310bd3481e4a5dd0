// SPDX-License-Identifier: GPL-2.0-only
/* ntrace report: functions by executed instructions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate.h"
#include "callers.h"
#include "common/debug_info.h"
#include "common/disassembly.h"
#include "common/jobs.h"
#include "common/ui.h"
#include "report.h"
#include "report/html/page.h"

#define LIMIT_DEFAULT 40

enum {
	OPTION_SORT = 's',
	OPTION_LIMIT = 'n',
	OPTION_BY_PROCESS = OPTION_LONG,
	OPTION_BY_THREAD,
	OPTION_JSON,
	OPTION_HTML,
	OPTION_ANNOTATE,
	OPTION_OBJDUMP,
	OPTION_CALLERS,
	OPTION_CALLEES,
	OPTION_NO_INLINE,
	OPTION_DEBUG_DIR,
	OPTION_CLASS,
};

static const struct option_spec options_table[] = {
	{ OPTION_SORT, "sort", "KEY",
	  "self (instructions; default), total, calls, time, total-time, name or object" },
	{ OPTION_LIMIT, "limit", "N", "show the first N functions; 0 = all (default 40)" },
	SELECT_OPTIONS,
	RANGE_OPTIONS,
	THREAD_OPTIONS,
	{ OPTION_CLASS, "class", "LABEL", "counts file: only processes with this label" },
	{ OPTION_BY_PROCESS, "by-process", NULL, "one line per function and process" },
	{ OPTION_BY_THREAD, "by-thread", NULL, "threads and CPUs instead of functions" },
	RECORDING_OPTIONS,
	{ OPTION_JSON, "json", NULL, "one JSON object" },
	{ OPTION_HTML, "html", "FILE", "write a self-contained page for a browser to FILE" },
	{ OPTION_ANNOTATE, "annotate", "FUNCTION", "its source and instructions, with counts" },
	{ OPTION_OBJDUMP, "objdump", "PROGRAM",
	  "disassembler for --annotate (riscv64-linux-gnu-objdump)" },
	{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
	  "for --annotate: directory with debug files of the kernel" },
	{ OPTION_CALLERS, "callers", "FUNCTION", "who calls it" },
	{ OPTION_CALLEES, "callees", "FUNCTION", "whom it calls" },
	{ OPTION_NO_INLINE, "no-inline", NULL,
	  "without inlined frames, for --html, --callers and --callees" },
	JOBS_OPTION,
	OPTION_HELP,
	OPTION_TABLE_END,
};

static const char *const orders[NTRACE_PROFILE_ORDERS] = {
	[NTRACE_PROFILE_BY_INSTRUCTIONS] = "self",     [NTRACE_PROFILE_BY_TOTAL] = "total",
	[NTRACE_PROFILE_BY_CALLS] = "calls",	       [NTRACE_PROFILE_BY_TIME] = "time",
	[NTRACE_PROFILE_BY_TOTAL_TIME] = "total-time", [NTRACE_PROFILE_BY_NAME] = "name",
	[NTRACE_PROFILE_BY_OBJECT] = "object",
};

static int take_order(struct report *report, const char *key)
{
	unsigned int i;

	/* Former name of self, from before there were totals. */
	if (!strcmp(key, "instructions"))
		key = orders[NTRACE_PROFILE_BY_INSTRUCTIONS];
	for (i = 0; i < NTRACE_PROFILE_ORDERS; i++) {
		if (!strcmp(key, orders[i])) {
			report->order = i;
			return EXIT_OK;
		}
	}
	return usage_error(report->command,
			   "option --sort: '%s' is not one of self, total, calls, time, "
			   "total-time, name, object",
			   key);
}

static int take_option(struct report *report, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_SORT:
		return take_order(report, options->value);
	case OPTION_LIMIT:
		if (!option_number(options, "limit", 0, SIZE_MAX, &number))
			return EXIT_USAGE;
		report->limit = number;
		return EXIT_OK;
	case OPTION_ONE_PID:
	case OPTION_ONE_TID:
	case OPTION_COMM:
		report->selection.threads = &report->filter;
		return option_threads(options, option, &report->filter);
	case OPTION_USER:
	case OPTION_KERNEL:
	case OPTION_SELECT:
		return option_select(options, option, &report->selection.privileges);
	case OPTION_RANGE_OFFSET:
	case OPTION_RANGE_TIME:
	case OPTION_RANGE_AROUND:
	case OPTION_NO_INDEX:
		return range_option(options, option, &report->recording_options.range);
	case OPTION_BY_PROCESS:
		report->selection.by_process = true;
		return EXIT_OK;
	case OPTION_BY_THREAD:
		report->by_thread = true;
		return EXIT_OK;
	case OPTION_JSON:
		report->json = true;
		return EXIT_OK;
	case OPTION_HTML:
		report->html_path = options->value;
		return EXIT_OK;
	case OPTION_ANNOTATE:
		report->annotated = options->value;
		return EXIT_OK;
	case OPTION_OBJDUMP:
		report->objdump = options->value;
		return disassembler_check(options->value);
	case OPTION_CALLERS:
	case OPTION_CALLEES:
		report->related = options->value;
		report->callees = option == OPTION_CALLEES;
		return EXIT_OK;
	case OPTION_DEBUG_DIR:
		report->debug_dir = options->value;
		return check_directory("debug-dir", options->value);
	case OPTION_NO_INLINE:
		report->no_inline = true;
		return EXIT_OK;
	case OPTION_CLASS:
		report->label = options->value;
		return EXIT_OK;
	case OPTION_JOBS:
		return jobs_option(options, &report->jobs);
	default:
		return recording_option(&report->recording_options, options, option);
	}
}

static int event(void *data, const struct ntrace_session_event *session_event)
{
	struct report *report = data;
	int error = ntrace_profile_event(report->profile, session_event);

	if (!error && report->stacks)
		error = ntrace_stacks_event(report->stacks, session_event);
	return error;
}

static int segment(void *data, const struct ntrace_segment *session_segment)
{
	struct report *report = data;
	int error = ntrace_profile_segment(report->profile, session_segment);

	if (!error && report->stacks)
		error = ntrace_stacks_segment(report->stacks, session_segment);
	return error;
}

static int end_stream(void *data, unsigned int stream)
{
	struct report *report = data;

	return report->stacks ? ntrace_stacks_end_stream(report->stacks, stream) : 0;
}

/* Where there is no report that contains them. */
static void warn_notes(const struct report *report)
{
	for (size_t i = 0; i < report->recording.note_count; i++)
		warn("%s", report->recording.notes[i]);
}

static int decode(struct report *report)
{
	bool by_thread = report->selection.threads || report->selection.by_process;
	const struct ntrace_decode_options options = {
		.stream = NTRACE_ALL_STREAMS,
		.needs = NTRACE_NEEDS_SUMS | NTRACE_NEEDS_RUNS |
			 (by_thread ? NTRACE_NEEDS_THREADS : 0) |
			 (report->stacks ? NTRACE_NEEDS_TURNS : 0),
		.event = event,
		.segment = segment,
		.end = end_stream,
		.data = report,
		.jobs = jobs_for(&report->recording, report->jobs),
	};
	int error = recording_decode(&report->recording, "report", &options, &report->totals);
	int reason = errno;

	if (!error)
		error = ntrace_profile_end(report->profile);
	if (!error && report->stacks)
		error = ntrace_stacks_end(report->stacks);
	if (error >= 0)
		return EXIT_OK;
	warn_notes(report);
	errno = reason;
	return fail("%s: %s", report->path, error_text(error));
}

/* Totals of functions are not known per process, and not needed for threads or a single function. */
static bool wants_stacks(const struct report *report)
{
	return report->html_path ||
	       (!report->selection.by_process && !report->by_thread && !report->annotated);
}

/* Inlined frames are shown; the table lists functions only and does not need DWARF. */
static bool shows_frames(const struct report *report)
{
	return report->html_path || report->related;
}

/* Returns the parts of a profile that the report needs. */
static uint32_t parts_of(const struct report *report)
{
	if (ntrace_session_has_samples(report->recording.session))
		return NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS;
	return NTRACE_PROFILE_FUNCTIONS | NTRACE_PROFILE_OCCUPANCY |
	       (report->annotated || report->html_path ? NTRACE_PROFILE_TRACES : 0);
}

static int begin(struct report *report)
{
	struct ntrace_stacks_options stacks = {
		.size = sizeof(stacks),
		.merge_threads = !report->related,
		.threads = report->selection.threads,
		.privileges = report->selection.privileges,
		.inlined = shows_frames(report) && !report->no_inline,
	};

	if (stacks.inlined) {
		report->directories =
			debug_directories(ntrace_session_roots(report->recording.session));
		if (!report->directories)
			return fail("out of memory");
		stacks.directories = (const char *const *)report->directories;
	}
	report->selection.parts = parts_of(report);
	report->selection.session = report->recording.session;
	if (ntrace_profile_new(&report->profile, &report->selection))
		return fail("out of memory");
	report->sums = ntrace_profile_totals(report->profile);
	report->occupancy = ntrace_profile_occupancy(report->profile);
	if (wants_stacks(report) && ntrace_stacks_new(&report->stacks, &stacks))
		return fail("out of memory");
	return EXIT_OK;
}

static void put_word(struct output *output, const char *before, const char *text)
{
	char *word = ui_word(text);

	output_text(output, before);
	output_name(output, word ? word : text);
	free(word);
}

/*
 * The command that opens GDB where the function begins; samples have no trace to walk through, and a raw trace
 * has no index for the way.
 */
static void put_debugger(const struct report *report, const char *function)
{
	struct output *output = report->output;

	if (ntrace_session_has_samples(report->recording.session) || report->recording.raw)
		return;
	put_word(output, "In GDB: ntrace gdb --run --around ", function);
	if (report->recording_options.sysroot)
		put_word(output, " --sysroot ", report->recording_options.sysroot);
	put_word(output, " ", report->path);
	output_char(output, '\n');
}

static int report_annotated(struct report *report)
{
	const struct annotate_options options = {
		.function = report->annotated,
		.roots = ntrace_session_roots(report->recording.session),
		.objdump = report->objdump,
		.kernel = { .release = report->description ? report->description->release : NULL,
			    .roots = ntrace_session_roots(report->recording.session),
			    .directory = report->debug_dir },
		.colours = report->colours,
	};

	int error;

	report_losses(report);
	error = annotate(report->profile, &options, report->output);
	if (!error)
		put_debugger(report, report->annotated);
	return error;
}

static int report_html(struct report *report)
{
	const struct html_report page = {
		.path = report->path,
		.roots = ntrace_session_roots(report->recording.session),
		.recording = &report->recording,
		.totals = &report->totals,
		.description = report->description,
		.profile = report->profile,
		.functions = report->functions,
		.function_count = report->function_count,
		.stacks = report->stacks,
	};

	return html_write(&page, &report->html, report->html_path);
}

static int report_related(struct report *report)
{
	bool entered;
	int error = put_callers(report->stacks, report->related, report->callees, &entered,
				report->output);

	/* An inlined function has no first instruction to go to. */
	if (!error && entered)
		put_debugger(report, report->related);
	debug_warn_missing(report->stacks);
	recording_say_losses(&report->totals, "calls executed there are missing");
	return error;
}

/* Code without names is one line of the table for each file: which files hide more than 1 % in it, and what to do. */
static void note_nameless(struct report *report)
{
	char text[1024], id[2 * NTRACE_BUILD_ID_MAX + 1];

	for (size_t i = 0; i < report->function_count; i++) {
		const struct ntrace_profile_function *function = &report->functions[i];
		const uint8_t *build_id;
		size_t size, at;

		if (function->name || !function->object ||
		    function->instructions < report->sums->selected / 100 ||
		    !function->instructions)
			continue;
		build_id = ntrace_object_build_id(function->object, &size);
		if (!size)
			continue;
		for (at = 0; at < size; at++)
			snprintf(id + 2 * at, 3, "%02x", build_id[at]);
		snprintf(text, sizeof(text),
			 "%.300s: no symbols for %.0f %% of all instructions: is it stripped? "
			 "Its debug file, build-id %s, belongs into usr/lib/debug, below "
			 "--sysroot or on this machine",
			 ntrace_object_name(function->object),
			 100.0 * (double)function->instructions / (double)report->sums->selected,
			 id);
		recording_note(&report->recording, text);
	}
}

static bool is_empty(const struct report *report)
{
	return !report->sums->selected && !report->sums->samples;
}

static int show(struct report *report)
{
	bool by_time = report->order == NTRACE_PROFILE_BY_TIME ||
		       report->order == NTRACE_PROFILE_BY_TOTAL_TIME;

	/* check_empty() says so: the name of a function need not be wrong. */
	if (is_empty(report) && (report->annotated || report->related))
		return EXIT_OK;
	if (by_time && !report->occupancy->stamps)
		return fail("%s: no times to sort by: the trace has no timestamps (tsbits is 0, "
			    "not 1 to 64), or timestamps of several clocks ('ntrace record "
			    "--timestamps any')",
			    report->path);
	if (report->related)
		return report_related(report);
	if (report->stacks && !report->selection.by_process &&
	    ntrace_stacks_add_totals(report->stacks, report->profile))
		return fail("out of memory");
	report->functions =
		ntrace_profile_functions(report->profile, report->order, &report->function_count);
	note_nameless(report);
	report->pc_samples = ntrace_profile_pc_samples(
		report->profile, NTRACE_PROFILE_BY_INSTRUCTIONS, &report->pc_sample_count);
	if (report->html_path)
		return report_html(report);
	if (report->annotated)
		return report_annotated(report);
	if (!report->json)
		return report_text(report);
	report_json(report);
	return EXIT_OK;
}

/* A report of nothing is a failure, after it has shown what was lost. */
static int check_empty(const struct report *report)
{
	bool selects = report->selection.privileges || report->selection.threads ||
		       report->recording.range.given;

	if (!is_empty(report))
		return EXIT_OK;
	return fail("%s: no selected code was executed: the report is empty: %s", report->path,
		    selects ? "--user, --kernel, --privilege, --pid, --tid, --comm, --offset, "
			      "--time and --around "
			      "select less; without them, --by-process shows what was executed" :
		    report->recording_options.programs.count ?
			      "'ntrace detect' finds the --params and the program that fit" :
			      "the lines above say what was lost; 'ntrace stat' and 'ntrace dump' "
			      "show what the trace contains");
}

static int run_report(struct report *report)
{
	int error;

	if (is_counts_file(report->path))
		return report_counts(report);
	if (report->label)
		return usage_error(report->command,
				   "--class applies to counts files of 'ntrace count' only");
	error = recording_open(&report->recording, report->command, report->path,
			       &report->recording_options);
	if (error)
		return error;
	if (begin(report))
		return EXIT_FAILED;
	if (ntrace_session_has_samples(report->recording.session))
		return report_samples(report);
	report->description = ntrace_session_recording(report->recording.session);
	error = decode(report);
	if (error)
		return error;
	/* Not before the sources of --annotate are known, which standard error output may be. */
	error = show(report);
	if (report->annotated || report->related || (is_empty(report) && report->html_path))
		warn_notes(report);
	return error ? error : check_empty(report);
}

static int check_options(const struct report *report)
{
	bool by_stacks = report->order == NTRACE_PROFILE_BY_TOTAL ||
			 report->order == NTRACE_PROFILE_BY_TIME ||
			 report->order == NTRACE_PROFILE_BY_TOTAL_TIME;

	if (!!report->html_path + !!report->annotated + !!report->related + report->json > 1)
		return usage_error(report->command,
				   "--html, --json, --annotate, --callers and --callees "
				   "exclude each other");
	if (report->by_thread && (report->selection.privileges || report->html_path ||
				  report->annotated || report->related))
		return usage_error(report->command,
				   "--by-thread always shows user space and kernel, and allows "
				   "only --pid, --tid, --comm, --json and --limit");
	if (report->debug_dir && !report->annotated)
		return usage_error(report->command, "--debug-dir needs --annotate");
	if (report->no_inline && !shows_frames(report))
		return usage_error(report->command,
				   "--no-inline needs --html, --callers or --callees");
	if (by_stacks && report->selection.by_process)
		return usage_error(report->command, "option --sort: %s is not known per process",
				   orders[report->order]);
	return EXIT_OK;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	struct report report = { .command = command,
				 .output = &output,
				 .recording_options = { .samples = true, .traces = true },
				 .selection = { .size = sizeof(report.selection) },
				 .filter = ALL_THREADS,
				 .limit = LIMIT_DEFAULT };
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			error = EXIT_OK;
		else
			error = take_option(&report, &options, option);
		if (option == OPTIONS_HELP || error)
			goto out;
	}
	if (argc - options.index != 1) {
		error = inputs_error(command, "recording or counts file", argv + options.index,
				     argc - options.index);
		goto out;
	}
	error = check_options(&report);
	if (error)
		goto out;
	report.path = argv[options.index];
	report.colours = ui_colours(stdout);
	/* The report itself contains the losses. */
	report.recording_options.quiet = true;
	error = output_finish(&output, run_report(&report));
	error = output_file_close(&report.html, error);
out:
	ntrace_profile_free(report.profile);
	ntrace_stacks_free(report.stacks);
	debug_directories_free(report.directories);
	recording_close(&report.recording);
	programs_free(&report.recording_options.programs);
	return error;
}

const struct command command_report = {
	.name = "report",
	.summary = "functions by executed instructions, with calls",
	.usage = "[OPTIONS] RECORDING | COUNTS | PERF.DATA | --elf FILE TRACE",
	.details =
		"Every executed instruction is counted, nothing is sampled. A call is counted "
		"when\n"
		"control comes to the first instruction of a function by a call instruction, or "
		"by\n"
		"a jump or branch from another function (tail calls); not by a trap or a return.\n"
		"Where the trace has time stamps there are times: ~ says that they are "
		"interpolated.\n"
		"Shares are of the instructions that are selected with --privilege, --pid, --tid "
		"and\n"
		"--comm.\n"
		"Where a SiFive encoder took samples of the PC a table of them follows.\n"
		"The lines above the table say what was lost and what could not be decoded.\n"
		"A perf.data file with trace of another driver (gtrace, rvtrace, SpacemiT) is a "
		"recording, too.\n"
		"Of a perf.data file with branch stacks (perf record -j any,u) the report is of\n"
		"samples, and says so: functions and the branches that were taken most. So is the "
		"report\n"
		"of a counts file (ntrace count, merge), of all that was executed.\n\n"
		"exit status: 0, also where the trace has gaps: the report names them; 1 if "
		"nothing\n"
		"that is selected was executed.\n\n"
		"examples:\n"
		"  ntrace report ntrace.data\n"
		"  ntrace report --sysroot /srv/board --user --sort calls ntrace.data\n"
		"  ntrace report --by-thread ntrace.data\n"
		"  ntrace report --annotate main ntrace.data\n"
		"  ntrace report --offset 100M,120M ntrace.data\n"
		"  ntrace report --sort calls all.counts\n"
		"  ntrace report --html report.html ntrace.data\n"
		"  ntrace report --elf prog.elf --params srcbits=2 prog.nex\n"
		"  ntrace report --json --limit 0 ntrace.data | jq '.functions[0]'\n",
	.options = options_table,
	.run = run,
};
