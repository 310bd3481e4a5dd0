// SPDX-License-Identifier: GPL-2.0-only
/* ntrace report: functions by executed instructions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate.h"
#include "callers.h"
#include "command.h"
#include "html.h"
#include "input.h"
#include "output.h"
#include "profile.h"
#include "ui.h"

#define LIMIT_DEFAULT 40

enum {
	OPTION_SORT = 's',
	OPTION_LIMIT = 'n',
	OPTION_USER = 'u',
	OPTION_KERNEL = 'k',
	OPTION_PID = 'p',
	OPTION_SYSROOT = OPTION_LONG,
	OPTION_FIRMWARE,
	OPTION_BY_PROCESS,
	OPTION_JSON,
	OPTION_HTML,
	OPTION_ANNOTATE,
	OPTION_OBJDUMP,
	OPTION_CALLERS,
	OPTION_CALLEES,
};

static const struct option_spec options_table[] = {
	{ OPTION_SORT, "sort", "KEY", "instructions (default) or calls" },
	{ OPTION_LIMIT, "limit", "N", "show the first N functions; 0 = all (default 40)" },
	{ OPTION_USER, "user", NULL, "only user space" },
	{ OPTION_KERNEL, "kernel", NULL, "only the kernel" },
	{ OPTION_PID, "pid", "PID", "only this process" },
	{ OPTION_BY_PROCESS, "by-process", NULL, "one line per function and process" },
	{ OPTION_SYSROOT, "sysroot", "DIR", "files of the recorded machine are below DIR" },
	{ OPTION_FIRMWARE, "firmware", "ELF[@ADDR]",
	  "firmware that runs in M-mode, loaded at ADDR" },
	{ OPTION_JSON, "json", NULL, "one JSON object" },
	{ OPTION_HTML, "html", "FILE", "a page for a browser, with all that it needs, in FILE" },
	{ OPTION_ANNOTATE, "annotate", "FUNCTION", "its source and instructions, with counts" },
	{ OPTION_OBJDUMP, "objdump", "PROGRAM",
	  "that disassembles for --annotate (riscv64-linux-gnu-objdump)" },
	{ OPTION_CALLERS, "callers", "FUNCTION", "who calls it" },
	{ OPTION_CALLEES, "callees", "FUNCTION", "whom it calls" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct report {
	const struct command *command;
	struct recording recording;
	struct recording_options recording_options;
	struct ntrace_recording *description;
	struct profile profile;
	struct output *output;
	struct html *html;
	const char *path;
	const char *html_path;
	struct ntrace_profile *traces;		/* for --annotate */
	struct ntrace_stacks *stacks;		/* for --callers, --callees */
	const char *annotated;
	const char *objdump;
	const char *related;
	bool callees;
	bool by_calls;
	bool json;
	bool colours;
	size_t limit;
	struct recording_totals totals;
};

static const char *const part_names[PARTS] = {
	[PART_USER] = "user",
	[PART_KERNEL] = "kernel",
	[PART_FIRMWARE] = "firmware",
	[PART_OTHER] = "other",
};

static int take_option(struct report *report, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_SORT:
		report->by_calls = !strcmp(options->value, "calls");
		if (!report->by_calls && strcmp(options->value, "instructions"))
			return usage_error(report->command,
					   "option --sort: '%s' is neither instructions nor calls",
					   options->value);
		return EXIT_OK;
	case OPTION_LIMIT:
		if (!option_number(options, "limit", 0, SIZE_MAX, &number))
			return EXIT_USAGE;
		report->limit = number;
		return EXIT_OK;
	case OPTION_PID:
		if (!option_number(options, "pid", 0, INT32_MAX, &number))
			return EXIT_USAGE;
		report->profile.only_pid = (int32_t)number;
		return EXIT_OK;
	case OPTION_USER:
		report->profile.only_parts &= 1u << PART_USER;
		return EXIT_OK;
	case OPTION_KERNEL:
		report->profile.only_parts &= 1u << PART_KERNEL;
		return EXIT_OK;
	case OPTION_BY_PROCESS:
		report->profile.by_process = true;
		return EXIT_OK;
	case OPTION_SYSROOT:
		report->recording_options.sysroot = options->value;
		return EXIT_OK;
	case OPTION_FIRMWARE:
		report->recording_options.firmware = options->value;
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
		return EXIT_OK;
	case OPTION_CALLERS:
	case OPTION_CALLEES:
		report->related = options->value;
		report->callees = option == OPTION_CALLEES;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

static int event(void *data, const struct ntrace_session_event *session_event)
{
	struct report *report = data;

	if (report->html && html_event(report->html, report->recording.session, session_event))
		report->profile.failed = true;
	if (report->traces && ntrace_profile_event(report->traces, session_event))
		report->profile.failed = true;
	if (report->stacks && ntrace_stacks_event(report->stacks, session_event))
		report->profile.failed = true;
	return profile_event(&report->profile, session_event);
}

static int end_stream(void *data)
{
	struct report *report = data;

	profile_stream(&report->profile);
	if (report->html && html_end(report->html))
		report->profile.failed = true;
	if (report->traces && ntrace_profile_end(report->traces))
		report->profile.failed = true;
	if (report->stacks && ntrace_stacks_end(report->stacks))
		report->profile.failed = true;
	return report->profile.failed;
}

static int decode(struct report *report)
{
	int error = recording_decode(&report->recording, "report", event, end_stream, report,
				     &report->totals);

	if (report->profile.failed)
		return fail("out of memory");
	return error < 0 ? fail("%s: %s", report->path, ntrace_strerror(error)) : EXIT_OK;
}

static uint64_t problem_count(const struct problem *kinds)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < PROBLEM_KINDS; i++)
		count += kinds[i].count;
	return count;
}

static uint64_t all_instructions(const struct profile *profile)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		sum += profile->instructions[i];
	return sum;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Streams and functions in the text: object name as people know it. */
static const char *object_of(const struct function *function)
{
	return function->object ? ntrace_object_short_name(function->object) : "[unknown]";
}

/* ---- text ---- */

static void text_recording(const struct report *report)
{
	const struct ntrace_recording *description = report->description;
	char size[UI_NUMBER_SIZE];

	output_text(report->output, "recording     ");
	output_text(report->output, report->path);
	if (description && *description->command)
		output_printf(report->output, ": %.200s", description->command);
	output_printf(report->output, "\ntrace         %s from %u harts",
		      ui_size(size, report->totals.bytes),
		      ntrace_session_streams(report->recording.session));
	if (description && *description->release)
		output_printf(report->output, ", Linux %s", description->release);
	output_char(report->output, '\n');
}

static void text_totals(const struct report *report)
{
	const struct profile *profile = &report->profile;
	uint64_t total = all_instructions(profile);
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	const char *separator = ": ";
	unsigned int i;

	output_printf(report->output, "instructions  %s", ui_number(number, total));
	for (i = 0; i < PARTS; i++) {
		if (!profile->instructions[i])
			continue;
		output_printf(report->output, "%s%s %s (%.1f %%)", separator, part_names[i],
			      ui_number(number, profile->instructions[i]),
			      share(profile->instructions[i], total));
		separator = ", ";
	}
	output_printf(report->output, "\ntraps         %s", ui_number(number, profile->traps));
	if (profile->exceptions || profile->interrupts)
		output_printf(report->output, ": exceptions %s, interrupts %s",
			      ui_number(number, profile->exceptions),
			      ui_number(other, profile->interrupts));
	output_char(report->output, '\n');
}

static void text_losses(const struct report *report)
{
	const struct profile *profile = &report->profile;
	uint64_t errors = problem_count(profile->errors);
	char number[UI_NUMBER_SIZE], size[UI_NUMBER_SIZE];
	bool whole = !profile->gaps && !errors && !report->totals.lost;

	output_text(report->output, "losses        ");
	output_text(report->output, ui_style_on(report->colours, whole ? UI_PLAIN : UI_BAD));
	if (whole) {
		output_text(report->output, "none: the trace is whole");
	} else {
		output_printf(report->output, "gaps %s", ui_number(number, profile->gaps));
		output_printf(report->output, ", errors %s", ui_number(number, errors));
		if (report->totals.lost)
			output_printf(report->output, ", lost while recording: %s%s",
				      report->totals.lost_exact ? "" : "at least ",
				      ui_size(size, report->totals.lost));
	}
	output_text(report->output, ui_style_off(report->colours, whole ? UI_PLAIN : UI_BAD));
	output_char(report->output, '\n');
}

static void text_problems(const struct report *report, const struct problem *kinds,
			  const char *what)
{
	const struct problem *problem;
	char number[UI_NUMBER_SIZE];
	unsigned int i;

	for (i = 0; i < PROBLEM_KINDS; i++) {
		problem = &kinds[i];
		if (!problem->count)
			continue;
		output_printf(report->output, "%s%s times: %s (first: stream %u, offset 0x%" PRIx64,
			      what, ui_number(number, problem->count), ntrace_flow_error_text(i),
			      problem->stream, problem->offset);
		if (problem->address)
			output_printf(report->output, ", address 0x%" PRIx64, problem->address);
		if (problem->object)
			output_printf(report->output, ", %.300s", problem->object);
		output_text(report->output, ")\n");
	}
}

static void text_notes(const struct report *report)
{
	size_t i;

	for (i = 0; i < report->recording.note_count; i++) {
		output_text(report->output, "note          ");
		output_text(report->output, report->recording.notes[i]);
		output_char(report->output, '\n');
	}
	if (report->recording.notes_dropped)
		output_printf(report->output, "note          and %" PRIu64 " more like these\n",
			      report->recording.notes_dropped);
}

static size_t shown_count(const struct report *report)
{
	size_t count = report->profile.function_count;

	return report->limit && report->limit < count ? report->limit : count;
}

static size_t object_width(const struct report *report)
{
	size_t width = strlen("object"), length, i;

	for (i = 0; i < shown_count(report); i++) {
		length = strlen(object_of(report->profile.functions[i]));
		if (length > width)
			width = length;
	}
	return width > 32 ? 32 : width;
}

static void text_function(const struct report *report, const struct function *function,
			  size_t width)
{
	enum profile_part part = profile_part(function->privilege);
	enum ui_style style = part == PART_KERNEL ? UI_KERNEL : UI_PLAIN;
	char instructions[UI_NUMBER_SIZE], calls[UI_NUMBER_SIZE];
	struct output *output = report->output;

	output_printf(output, "%6.2f %%  %16s  %13s  ",
		      share(function->instructions, report->profile.selected),
		      ui_number(instructions, function->instructions),
		      ui_number(calls, function->calls));
	output_padded(output, part_names[part], 8);
	output_text(output, "  ");
	if (report->profile.by_process) {
		if (function->pid < 0)
			output_text(output, "      ?  ");
		else
			output_printf(output, "%7d  ", function->pid);
		output_padded(output, function->comm, 16);
		output_text(output, "  ");
	}
	output_padded(output, object_of(function), width);
	output_text(output, "  ");
	output_text(output, ui_style_on(report->colours, style));
	output_text(output, function->name ? function->name : "[no symbol]");
	output_text(output, ui_style_off(report->colours, style));
	output_char(output, '\n');
}

static void text_table(const struct report *report)
{
	const struct profile *profile = &report->profile;
	size_t width = object_width(report), count = shown_count(report), i;
	struct output *output = report->output;
	uint64_t rest = profile->selected;
	char number[UI_NUMBER_SIZE];

	output_char(output, '\n');
	output_text(output, ui_style_on(report->colours, UI_HEADING));
	output_printf(output, "%8s  %16s  %13s  %-8s  ", "share", "instructions", "calls", "mode");
	if (profile->by_process)
		output_printf(output, "%7s  %-16s  ", "pid", "process");
	output_padded(output, "object", width);
	output_text(output, "  function");
	output_text(output, ui_style_off(report->colours, UI_HEADING));
	output_char(output, '\n');
	for (i = 0; i < count; i++) {
		text_function(report, profile->functions[i], width);
		rest -= profile->functions[i]->instructions;
	}
	if (count < profile->function_count)
		output_printf(output,
			      "%6.2f %%  %16s  %13s  %zu more functions: --limit 0 shows them\n",
			      share(rest, profile->selected), ui_number(number, rest), "",
			      profile->function_count - count);
}

static void report_text(const struct report *report)
{
	text_recording(report);
	text_totals(report);
	text_losses(report);
	text_problems(report, report->profile.errors, "not decoded   ");
	text_problems(report, report->profile.warnings, "uncertain     ");
	text_notes(report);
	text_table(report);
}

/* ---- JSON ---- */

static void json_problems(const struct report *report, const char *key, const struct problem *kinds)
{
	struct output *output = report->output;
	const char *separator = "";
	unsigned int i;

	output_printf(output, ",\"%s\":[", key);
	for (i = 0; i < PROBLEM_KINDS; i++) {
		if (!kinds[i].count)
			continue;
		output_printf(output, "%s{\"count\":%" PRIu64 ",\"reason\":", separator,
			      kinds[i].count);
		output_json(output, ntrace_flow_error_text(i));
		output_printf(output,
			      ",\"first\":{\"stream\":%u,\"offset\":%" PRIu64
			      ",\"address\":\"0x%" PRIx64 "\"}",
			      kinds[i].stream, kinds[i].offset, kinds[i].address);
		if (kinds[i].object) {
			output_text(output, ",\"object\":");
			output_json(output, kinds[i].object);
		}
		output_char(output, '}');
		separator = ",";
	}
	output_char(output, ']');
}

static void json_function(const struct report *report, const struct function *function)
{
	struct output *output = report->output;

	output_text(output, "{\"function\":");
	if (function->name)
		output_json(output, function->name);
	else
		output_text(output, "null");
	output_text(output, ",\"object\":");
	if (function->object)
		output_json(output, ntrace_object_name(function->object));
	else
		output_text(output, "null");
	output_printf(output, ",\"address\":\"0x%" PRIx64 "\",\"mode\":\"%s\"", function->start,
		      part_names[profile_part(function->privilege)]);
	if (report->profile.by_process) {
		output_printf(output, ",\"pid\":%d,\"process\":", function->pid);
		output_json(output, function->comm);
	}
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"calls\":%" PRIu64 "}",
		      function->instructions, function->calls);
}

static void report_json(const struct report *report)
{
	const struct profile *profile = &report->profile;
	struct output *output = report->output;
	size_t i;

	output_text(output, "{\"recording\":");
	output_json(output, report->path);
	if (report->description) {
		output_text(output, ",\"command\":");
		output_json(output, report->description->command);
	}
	output_printf(output,
		      ",\"bytes\":%" PRIu64 ",\"streams\":%u,\"instructions\":{\"all\":%" PRIu64
		      ",\"selected\":%" PRIu64,
		      report->totals.bytes, ntrace_session_streams(report->recording.session),
		      all_instructions(profile), profile->selected);
	for (i = 0; i < PARTS; i++)
		output_printf(output, ",\"%s\":%" PRIu64, part_names[i], profile->instructions[i]);
	output_printf(output,
		      "},\"traps\":{\"all\":%" PRIu64 ",\"exceptions\":%" PRIu64
		      ",\"interrupts\":%" PRIu64 "},\"trace_off\":%" PRIu64 ",\"gaps\":%" PRIu64
		      ",\"lost\":{\"bytes\":%" PRIu64 ",\"exact\":%s}",
		      profile->traps, profile->exceptions, profile->interrupts, profile->trace_off,
		      profile->gaps, report->totals.lost,
		      report->totals.lost_exact ? "true" : "false");
	json_problems(report, "errors", profile->errors);
	json_problems(report, "warnings", profile->warnings);
	output_text(output, ",\"notes\":[");
	for (i = 0; i < report->recording.note_count; i++) {
		output_text(output, i ? "," : "");
		output_json(output, report->recording.notes[i]);
	}
	output_text(output, "],\"functions\":[");
	for (i = 0; i < shown_count(report); i++) {
		output_text(output, i ? ",\n" : "\n");
		json_function(report, profile->functions[i]);
	}
	output_text(output, "]}\n");
}

/* ---- page ---- */

static uint32_t privileges(unsigned int parts)
{
	uint32_t mask = 0;
	unsigned int i;

	for (i = 0; i < 32 && parts != ~0u; i++) {
		if (parts >> profile_part(i) & 1)
			mask |= UINT32_C(1) << i;
	}
	return mask;
}

/* What counts beside the table of functions. */
static int begin(struct report *report)
{
	const struct html_options options = {
		.path = report->path,
		.sysroot = report->recording_options.sysroot,
		.selection = { .size = sizeof(options.selection),
			       .pid = report->profile.only_pid,
			       .privileges = privileges(report->profile.only_parts) },
	};
	const struct ntrace_stacks_options stacks = {
		.size = sizeof(stacks),
		.pid = options.selection.pid,
		.privileges = options.selection.privileges,
	};

	if (report->html_path) {
		report->html = html_new(&options);
		if (!report->html)
			return fail("out of memory");
	}
	if (report->annotated && ntrace_profile_new(&report->traces, &options.selection))
		return fail("out of memory");
	if (report->related && ntrace_stacks_new(&report->stacks, &stacks))
		return fail("out of memory");
	return EXIT_OK;
}

static int report_annotated(struct report *report)
{
	const struct annotate_options options = {
		.function = report->annotated,
		.sysroot = report->recording_options.sysroot,
		.objdump = report->objdump,
		.colours = report->colours,
	};

	text_losses(report);
	return annotate(report->traces, &options, report->output);
}

static int report_html(struct report *report)
{
	static struct output output;
	const struct html_report parts = {
		.recording = &report->recording,
		.totals = &report->totals,
		.description = report->description,
		.profile = &report->profile,
	};
	FILE *file = fopen(report->html_path, "we");
	int error;

	if (!file)
		return fail("%s: %s", report->html_path, strerror(errno));
	output_init(&output, fileno(file));
	error = html_write(report->html, &parts, &output);
	if (error)
		error = fail("%s: %s", report->html_path, ntrace_strerror(error));
	else if (output_flush(&output))
		error = fail("%s: %s", report->html_path, strerror(output.error));
	fclose(file);
	return error;
}

static int run_report(struct report *report)
{
	char reason[256];
	int error;

	if (begin(report))
		return EXIT_FAILED;
	error = recording_open(&report->recording, report->command, report->path,
			       &report->recording_options);
	if (error)
		return error;
	if (ntrace_recording_read(&report->description, report->path, reason, sizeof(reason)))
		report->description = NULL;
	error = decode(report);
	if (!error) {
		profile_sort(&report->profile, report->by_calls);
		if (report->html)
			error = report_html(report);
		else if (report->annotated)
			error = report_annotated(report);
		else if (report->related)
			error = put_callers(report->stacks, report->related, report->callees,
					    report->output);
		else if (report->json)
			report_json(report);
		else
			report_text(report);
	}
	if (report->description)
		ntrace_recording_free(report->description);
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	struct report report = { .command = command, .output = &output, .limit = LIMIT_DEFAULT };
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	if (!profile_init(&report.profile))
		return fail("out of memory");
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			error = finish_output(EXIT_OK);
		else
			error = take_option(&report, &options, option);
		if (option == OPTIONS_HELP || error)
			goto out;
	}
	if (argc - options.index != 1) {
		error = usage_error(command, "one recording is needed");
		goto out;
	}
	if (!!report.html_path + !!report.annotated + !!report.related + report.json > 1) {
		error = usage_error(command, "--html, --json, --annotate, --callers and --callees "
					     "exclude each other");
		goto out;
	}
	if (!report.profile.only_parts) {
		error = usage_error(command, "--user and --kernel exclude each other");
		goto out;
	}
	report.path = argv[options.index];
	report.colours = ui_colours(stdout);
	/* They stand in the report itself. */
	report.recording_options.quiet = true;
	error = output_finish(&output, run_report(&report));
out:
	profile_free(&report.profile);
	html_free(report.html);
	ntrace_profile_free(report.traces);
	ntrace_stacks_free(report.stacks);
	recording_close(&report.recording);
	return error;
}

const struct command command_report = {
	.name = "report",
	.summary = "functions by executed instructions, with calls",
	.usage = "[OPTIONS] RECORDING",
	.details =
		"Every executed instruction is counted, nothing is sampled. A call is counted "
		"when\n"
		"control comes to the first instruction of a function by a call instruction, or "
		"by\n"
		"a jump or branch from another function (tail calls); not by a trap or a return.\n"
		"Shares are of the instructions that are selected with --user, --kernel and "
		"--pid.\n"
		"The lines above the table say what was lost and what could not be decoded.\n\n"
		"exit status: 0, also where the trace has gaps: the report names them.\n\n"
		"examples:\n"
		"  ntrace report ntrace.data\n"
		"  ntrace report --sysroot /srv/board --user --sort calls ntrace.data\n"
		"  ntrace report --annotate main ntrace.data\n"
		"  ntrace report --html report.html ntrace.data\n"
		"  ntrace report --json --limit 0 ntrace.data | jq '.functions[0]'\n",
	.options = options_table,
	.run = run,
};
