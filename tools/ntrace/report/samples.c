// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace report of inputs without order, which have no calls, threads and times: perf.data files with branch
 * stacks and without trace, and counts files.
 */
#include <inttypes.h>
#include <stdio.h>

#include "annotate.h"
#include "common/counts_load.h"
#include "common/debug_info.h"
#include "common/place_name.h"
#include "common/samples.h"
#include "common/ui.h"
#include "report.h"

#define MISSING_SHOWN 10
#define SAMPLES_NOTE "counts        are those of the samples: shares, not what was executed\n"

/*
 * @counted: the input is a counts file, @counts are its totals; else @samples are those of the input
 * @missing: files of a counts file that are not here
 */
struct sums {
	struct report *report;
	bool counted;
	struct samples samples;
	struct ntrace_counts_totals counts;
	uint64_t missing;
	const struct ntrace_profile_edge *edges;
	size_t edge_count;
	uint64_t taken;
};

static int add_up(struct sums *sums)
{
	struct report *report = sums->report;
	size_t i;
	int error = ntrace_profile_edges(report->profile, &sums->edges, &sums->edge_count);

	for (i = 0; i < sums->edge_count; i++)
		sums->taken += sums->edges[i].taken;
	report->functions =
		ntrace_profile_functions(report->profile, report->order, &report->function_count);
	return error;
}

/* ---- as text ---- */

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void text_loss(void *data, const char *text)
{
	struct output *output = data;

	output_text(output, "left out      ");
	output_name(output, text);
	output_char(output, '\n');
}

static void text_counts(const struct sums *sums)
{
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	struct output *output = sums->report->output;

	output_text(output, "counts file   ");
	output_name(output, sums->report->path);
	output_printf(output, "\ncounts        %s entries, %s %sinstructions\n",
		      ui_number(number, sums->counts.entries),
		      ui_number(other, sums->report->sums->selected),
		      sums->counts.losses.sampled ? "" : "executed ");
	if (sums->counts.losses.sampled)
		output_text(output, SAMPLES_NOTE);
}

static void text_head(const struct sums *sums)
{
	const struct report *report = sums->report;
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	struct output *output = report->output;
	size_t i;

	output_text(output, "perf.data     ");
	output_name(output, report->path);
	output_printf(output, "\nsamples       %s with %s transfers of control\n",
		      ui_number(number, sums->samples.read.samples),
		      ui_number(other, sums->samples.used.transfers));
	output_text(output, SAMPLES_NOTE);
	samples_losses(&sums->samples, text_loss, output);
	for (i = 0; i < report->recording.note_count; i++) {
		output_text(output, "note          ");
		output_name(output, report->recording.notes[i]);
		output_char(output, '\n');
	}
}

static void text_heading(const struct report *report, const char *text)
{
	output_char(report->output, '\n');
	output_text(report->output, ui_style_on(report->colours, UI_HEADING));
	output_text(report->output, text);
	output_text(report->output, ui_style_off(report->colours, UI_HEADING));
	output_char(report->output, '\n');
}

static void text_more(const struct report *report, size_t count, const char *what)
{
	if (report_count(report, count) < count)
		output_printf(report->output, "%zu more %s: --limit 0 shows them\n",
			      count - report_count(report, count), what);
}

static void text_functions(const struct report *report)
{
	char instructions[UI_NUMBER_SIZE], branches[UI_NUMBER_SIZE], calls[UI_NUMBER_SIZE];
	struct output *output = report->output;
	size_t i;

	text_heading(report, "   share      instructions       branches          calls  function");
	for (i = 0; i < report_count(report, report->function_count); i++) {
		const struct ntrace_profile_function *function = &report->functions[i];

		output_printf(output, "%6.2f %%  %16s  %13s  %13s  ",
			      share(function->instructions, report->sums->selected),
			      ui_number(instructions, function->instructions),
			      ui_number(branches, function->branches),
			      ui_number(calls, function->calls));
		output_name(output, function_name(function));
		output_printf(output, " (%.200s)\n", function_object_name(function));
	}
	text_more(report, report->function_count, "functions");
}

static void text_branches(const struct sums *sums)
{
	const struct report *report = sums->report;
	char number[UI_NUMBER_SIZE], from[1024], to[1024];
	struct output *output = report->output;
	size_t i;

	text_heading(report, "   share             times  branch");
	for (i = 0; i < report_count(report, sums->edge_count); i++) {
		const struct ntrace_profile_edge *edge = &sums->edges[i];

		place_name(from, sizeof(from), edge->from_object, edge->from);
		place_name(to, sizeof(to), edge->object, edge->to);
		output_printf(output, "%6.2f %%  %16s  ", share(edge->taken, sums->taken),
			      ui_number(number, edge->taken));
		output_name(output, from);
		output_text(output, " -> ");
		output_name(output, to);
		output_printf(output, ", %s\n", ntrace_insn_class_name(edge->from_class));
	}
	text_more(report, sums->edge_count, "branches");
}

/* ---- as JSON ---- */

static void json_head(const struct sums *sums)
{
	const struct report *report = sums->report;
	const struct samples *samples = &sums->samples;
	struct output *output = report->output;
	size_t i;

	if (sums->counted) {
		output_text(output, "{\"counts_file\":");
		output_json(output, report->path);
		output_printf(output,
			      ",\"counts_of\":\"%s\",\"entries\":%" PRIu64
			      ",\"instructions\":%" PRIu64,
			      sums->counts.losses.sampled ? "samples" : "executions",
			      sums->counts.entries, report->sums->selected);
		return;
	}
	output_text(output, "{\"perf_data\":");
	output_json(output, report->path);
	output_printf(output,
		      ",\"counts_of\":\"samples\",\"samples\":%" PRIu64 ",\"transfers\":%" PRIu64
		      ",\"instructions\":%" PRIu64,
		      samples->read.samples, samples->used.transfers, report->sums->selected);
	output_printf(output,
		      ",\"left_out\":{\"without_branch_stack\":%" PRIu64 ",\"damaged\":%" PRIu64
		      ",\"outside\":%" PRIu64 ",\"broken\":%" PRIu64 "},\"notes\":[",
		      samples->read.without, samples->read.damaged, samples->used.outside,
		      samples->used.broken);
	for (i = 0; i < report->recording.note_count; i++) {
		output_text(output, i ? "," : "");
		output_json(output, report->recording.notes[i]);
	}
	output_char(output, ']');
}

static void json_function(struct output *output, const struct ntrace_profile_function *function)
{
	output_text(output, "{\"function\":");
	output_json(output, function->name);
	if (function->demangled) {
		output_text(output, ",\"demangled\":");
		output_json(output, function->demangled);
	}
	output_text(output, ",\"object\":");
	output_json(output, ntrace_object_name(function->object));
	output_printf(output,
		      ",\"address\":\"0x%" PRIx64 "\",\"instructions\":%" PRIu64
		      ",\"branches\":%" PRIu64 ",\"calls\":%" PRIu64 "}",
		      function->start, function->instructions, function->branches, function->calls);
}

static void json_functions(const struct report *report)
{
	struct output *output = report->output;
	size_t i;

	output_text(output, ",\"functions\":[");
	for (i = 0; i < report_count(report, report->function_count); i++) {
		output_text(output, i ? ",\n" : "\n");
		json_function(output, &report->functions[i]);
	}
	output_char(output, ']');
}

static void json_place(struct output *output, const char *key, const struct ntrace_object *object,
		       uint64_t address, const char *text)
{
	output_printf(output, ",\"%s\":{\"address\":\"0x%" PRIx64 "\",\"object\":", key, address);
	output_json(output, object ? ntrace_object_name(object) : NULL);
	output_text(output, ",\"place\":");
	output_json(output, text);
	output_char(output, '}');
}

static void json_branches(const struct sums *sums)
{
	struct output *output = sums->report->output;
	char from[1024], to[1024];
	size_t i;

	output_text(output, ",\"branches\":[");
	for (i = 0; i < report_count(sums->report, sums->edge_count); i++) {
		const struct ntrace_profile_edge *edge = &sums->edges[i];

		place_name(from, sizeof(from), edge->from_object, edge->from);
		place_name(to, sizeof(to), edge->object, edge->to);
		output_text(output, i ? ",\n" : "\n");
		output_printf(output, "{\"count\":%" PRIu64 ",\"class\":\"%s\"", edge->taken,
			      ntrace_insn_class_name(edge->from_class));
		json_place(output, "from", edge->from_object, edge->from, from);
		json_place(output, "to", edge->object, edge->to, to);
		output_char(output, '}');
	}
	output_text(output, "]}\n");
}

/* ---- all of it ---- */

static int show(struct sums *sums)
{
	const struct report *report = sums->report;
	const char *room[FILES_ROOTS];
	const struct annotate_options options = {
		.function = report->annotated,
		.roots = files_roots(report->recording.session, report->recording_options.sysroot,
				     room),
		.objdump = report->objdump,
		.colours = report->colours,
	};

	if (report->json) {
		json_head(sums);
		json_functions(report);
		json_branches(sums);
		return EXIT_OK;
	}
	if (sums->counted)
		text_counts(sums);
	else
		text_head(sums);
	if (report->annotated)
		return annotate(report->profile, &options, report->output);
	text_functions(report);
	text_branches(sums);
	return EXIT_OK;
}

/* Return: the option that needs a trace; NULL: none */
static const char *trace_option(const struct report *report)
{
	if (report->html_path)
		return "--html";
	if (report->related)
		return report->callees ? "--callees" : "--callers";
	if (report->by_thread)
		return "--by-thread";
	if (report->selection.by_process)
		return "--by-process";
	if (report->recording_options.firmware)
		return "--firmware";
	if (report->order == NTRACE_PROFILE_BY_TOTAL || report->order == NTRACE_PROFILE_BY_TIME ||
	    report->order == NTRACE_PROFILE_BY_TOTAL_TIME)
		return "--sort by totals and times";
	return NULL;
}

/* Rejects options that need a trace. */
static int check(const struct report *report)
{
	const char *what = trace_option(report);

	if (report->selection.privileges && !(report->selection.privileges >> NTRACE_PRIV_U & 1))
		return fail("%s: a perf.data file does not contain the kernel's code: --kernel "
			    "(--privilege s) needs a recording of ntrace-record(1)",
			    report->path);
	return what ? fail("%s: contains samples, not a trace: %s needs a trace, see "
			   "ntrace-record(1)",
			   report->path, what) :
		      EXIT_OK;
}

static int finish(struct sums *sums, int error)
{
	struct report *report = sums->report;

	if (!error)
		error = add_up(sums);
	if (!error)
		error = show(sums);
	if (error < 0)
		error = path_failed(report->path, error);
	else if (!error && sums->counted && !sums->counts.entries)
		error = fail("%s: no entry is selected: --class, --user, --kernel and --privilege "
			     "select less",
			     report->path);
	else if (!error && !report->function_count)
		error = fail("%s: the code of the selected %s is unknown: are the programs "
			     "here, or below --sysroot?",
			     report->path, sums->counted ? "counts" : "samples");
	return error;
}

int report_samples(struct report *report)
{
	struct sums sums = { .report = report };
	int error = check(report);

	if (error)
		return error;
	error = samples_count(&report->recording, report->profile, &sums.samples);
	return finish(&sums, error);
}

/* Rejects options that need the recording, or processes and times, which counts do not have. */
static int check_counts(const struct report *report)
{
	const char *what = trace_option(report);

	if (report->selection.threads)
		what = "a thread (--pid, --tid, --comm)";
	else if (report->recording_options.range.given || report->recording_options.range.around)
		what = "a part of the time";
	return what ? fail("%s: is a counts file: %s needs the recording; --class, --user, "
			   "--kernel and --privilege select",
			   report->path, what) :
		      EXIT_OK;
}

/* Names the first files that are missing: more of them would tell nothing new. */
static void warn_missing(void *data, const char *name)
{
	struct sums *sums = data;
	const struct report *report = sums->report;

	if (++sums->missing > MISSING_SHOWN)
		return;
	warn("%s: %s is not here, or another file: its functions have no names%s", report->path,
	     name,
	     report->recording_options.sysroot ? "" :
						 ": --sysroot is the directory with its files");
}

int report_counts(struct report *report)
{
	struct sums sums = { .report = report, .counted = true };
	const struct ntrace_counts_load_options options = {
		.size = sizeof(options),
		.sysroot = report->recording_options.sysroot,
		.privileges = report->selection.privileges,
		.label = report->label,
		.missing = warn_missing,
		.data = &sums,
	};
	char number[UI_NUMBER_SIZE];
	int error = check_counts(report);

	if (error)
		return error;
	report->selection.parts = NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS;
	if (ntrace_profile_new(&report->profile, &report->selection))
		return fail("out of memory");
	report->sums = ntrace_profile_totals(report->profile);
	error = counts_load(&report->profile, report->path, &options, &sums.counts);
	if (sums.missing > MISSING_SHOWN)
		warn("%s: and %s more files", report->path,
		     ui_number(number, sums.missing - MISSING_SHOWN));
	return error ? error : finish(&sums, ntrace_profile_end(report->profile));
}
