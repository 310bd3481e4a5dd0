// SPDX-License-Identifier: GPL-2.0-only
/* ntrace report: perf.data files with branch stacks and without trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "common/samples.h"
#include "common/ui.h"
#include "profile/edges.h"
#include "report.h"

/* The address range of a function in an object; @symbol may be NULL. */
struct sum {
	struct ntrace_object *object;
	const char *symbol;
	uint64_t start;
	uint64_t instructions;
	uint64_t branches;
	uint64_t calls;
};

struct sums {
	struct report *report;
	struct samples samples;
	struct named_objects objects;
	struct sum *items;
	size_t count;
	size_t room;
	struct edge *edges;
	size_t edge_count;
	uint64_t instructions;
	uint64_t taken;
};

static int locate(struct sums *sums, struct ntrace_object *object, uint64_t address,
		  struct ntrace_location *location)
{
	const struct named_object *named =
		named_object(&sums->objects, sums->report->traces, object);

	if (!named)
		return NTRACE_ERR_NOMEM;
	if (ntrace_space_locate(named->space, address, location))
		*location = (struct ntrace_location){ .object = object };
	return 0;
}

/* Adds an entry for the function of a place; merge() combines entries of equal functions. */
static int add(struct sums *sums, const struct ntrace_location *place, const struct sum *counts)
{
	struct sum *items;

	if (sums->count == sums->room) {
		size_t room = sums->room ? 2 * sums->room : 1024;

		items = realloc(sums->items, room * sizeof(*items));
		if (!items)
			return NTRACE_ERR_NOMEM;
		sums->items = items;
		sums->room = room;
	}
	items = &sums->items[sums->count++];
	*items = *counts;
	items->object = place->object;
	items->symbol = place->symbol;
	items->start = place->symbol ? place->symbol_start : 0;
	return 0;
}

struct walk {
	struct sums *sums;
	const struct ntrace_profile_trace *trace;
	int error;
};

static int add_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn, uint64_t executed)
{
	struct walk *walk = data;
	const struct sum one = { .instructions = walk->trace->count };
	struct ntrace_location place;

	(void)bytes;
	(void)insn;
	(void)executed;
	walk->error = locate(walk->sums, walk->trace->object, address, &place);
	if (!walk->error)
		walk->error = add(walk->sums, &place, &one);
	return walk->error;
}

/* Most runs are within one function; a run that spans several is split. */
static int add_run(struct sums *sums, const struct ntrace_profile_trace *trace,
		   const struct ntrace_location *start)
{
	struct walk walk = { .sums = sums, .trace = trace };
	struct ntrace_location end;
	int error;

	if (!trace->instructions)
		return 0;
	sums->instructions += trace->count * trace->instructions;
	error = locate(sums, trace->object, trace->end, &end);
	if (error)
		return error;
	if (place_same_function(start, &end))
		return add(sums, start,
			   &(struct sum){ .instructions = trace->count * trace->instructions });
	error = ntrace_counts_walk(
		named_object(&sums->objects, sums->report->traces, trace->object)->counts,
		trace->start, trace->end + 1, add_instruction, &walk);
	return walk.error ? walk.error : error;
}

/* The same rule as for complete traces (struct function). */
static bool is_call(const struct ntrace_profile_trace *trace, const struct ntrace_location *from,
		    const struct ntrace_location *to)
{
	if (!to->symbol || to->link_address != to->symbol_start ||
	    trace->from_class == NTRACE_INSN_RETURN || trace->from_class == NTRACE_INSN_TRAP_RETURN)
		return false;
	return ntrace_insn_is_call(trace->from_class) || !place_same_function(from, to);
}

static int add_trace(struct sums *sums, const struct ntrace_profile_trace *trace)
{
	struct ntrace_location from = { 0 }, to = { 0 };
	int error = 0;

	if (trace->from_object)
		error = locate(sums, trace->from_object, trace->from, &from);
	if (!error && trace->from_object)
		error = add(sums, &from, &(struct sum){ .branches = trace->count });
	if (error || !trace->object)
		return error;
	error = locate(sums, trace->object, trace->start, &to);
	if (!error)
		error = add_run(sums, trace, &to);
	if (!error && trace->from_object && is_call(trace, &from, &to))
		error = add(sums, &to, &(struct sum){ .calls = trace->count });
	return error;
}

static int by_function(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	if (a->object != b->object)
		return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
	if (!a->symbol != !b->symbol)
		return a->symbol ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void merge(struct sums *sums)
{
	size_t kept = 0, i;

	if (!sums->count)
		return;
	qsort(sums->items, sums->count, sizeof(*sums->items), by_function);
	for (i = 1; i < sums->count; i++) {
		struct sum *last = &sums->items[kept];

		if (by_function(last, &sums->items[i])) {
			sums->items[++kept] = sums->items[i];
			continue;
		}
		last->instructions += sums->items[i].instructions;
		last->branches += sums->items[i].branches;
		last->calls += sums->items[i].calls;
	}
	sums->count = kept + 1;
}

static int by_name(const struct sum *a, const struct sum *b)
{
	int order = strcmp(a->symbol ? a->symbol : "", b->symbol ? b->symbol : "");

	if (!order)
		order = strcmp(ntrace_object_name(a->object), ntrace_object_name(b->object));
	return order ? order : (a->start < b->start ? -1 : a->start > b->start);
}

/* Sort order; qsort() passes no context. */
static enum profile_order wanted_order;

static int in_order(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;
	int order = 0;

	if (wanted_order == PROFILE_BY_NAME)
		order = by_name(a, b);
	else if (wanted_order == PROFILE_BY_OBJECT)
		order = strcmp(ntrace_object_short_name(a->object),
			       ntrace_object_short_name(b->object));
	else if (wanted_order == PROFILE_BY_CALLS && a->calls != b->calls)
		order = a->calls < b->calls ? 1 : -1;
	if (order)
		return order;
	if (a->instructions != b->instructions)
		return a->instructions < b->instructions ? 1 : -1;
	if (a->branches != b->branches)
		return a->branches < b->branches ? 1 : -1;
	return by_name(a, b);
}

static int add_up(struct sums *sums)
{
	struct ntrace_profile *traces = sums->report->traces;
	const struct ntrace_profile_trace *all;
	size_t count, i;
	int error = 0;

	all = ntrace_profile_traces(traces, &count);
	for (i = 0; i < count && !error; i++)
		error = add_trace(sums, &all[i]);
	if (error)
		return error;
	merge(sums);
	wanted_order = sums->report->order;
	if (sums->count)
		qsort(sums->items, sums->count, sizeof(*sums->items), in_order);
	sums->edges = edges_collect(traces, &sums->edge_count);
	if (!sums->edges)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < sums->edge_count; i++)
		sums->taken += sums->edges[i].taken;
	return 0;
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
	output_text(output, text);
	output_char(output, '\n');
}

static void text_head(const struct sums *sums)
{
	const struct report *report = sums->report;
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	struct output *output = report->output;
	size_t i;

	output_text(output, "perf.data     ");
	output_text(output, report->path);
	output_printf(output, "\nsamples       %s with %s transfers of control\n",
		      ui_number(number, sums->samples.read.samples),
		      ui_number(other, sums->samples.used.transfers));
	output_text(output,
		    "counts        are those of the samples: shares, not what was executed\n");
	samples_losses(&sums->samples, text_loss, output);
	for (i = 0; i < report->recording.note_count; i++) {
		output_text(output, "note          ");
		output_text(output, report->recording.notes[i]);
		output_char(output, '\n');
	}
}

static void text_name(struct output *output, const struct sum *sum)
{
	char *name = sum->symbol ? ntrace_demangle(sum->symbol) : NULL;

	output_text(output, name ? name : sum->symbol ? sum->symbol : "[no symbol]");
	free(name);
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

static void text_functions(const struct sums *sums)
{
	char instructions[UI_NUMBER_SIZE], branches[UI_NUMBER_SIZE], calls[UI_NUMBER_SIZE];
	const struct report *report = sums->report;
	struct output *output = report->output;
	size_t i;

	text_heading(report, "   share      instructions       branches          calls  function");
	for (i = 0; i < report_count(report, sums->count); i++) {
		const struct sum *sum = &sums->items[i];

		output_printf(output, "%6.2f %%  %16s  %13s  %13s  ",
			      share(sum->instructions, sums->instructions),
			      ui_number(instructions, sum->instructions),
			      ui_number(branches, sum->branches), ui_number(calls, sum->calls));
		text_name(output, sum);
		output_printf(output, " (%.200s)\n", ntrace_object_short_name(sum->object));
	}
	text_more(report, sums->count, "functions");
}

/* Source and target of a transfer; the object of @to may be unknown. */
static int name_edge(struct sums *sums, const struct edge *edge, char *from, char *to, size_t size)
{
	struct ntrace_profile *traces = sums->report->traces;
	const struct named_object *named = named_object(&sums->objects, traces, edge->from_object);

	if (!named)
		return NTRACE_ERR_NOMEM;
	named_place(from, size, named, edge->from);
	named = edge->object ? named_object(&sums->objects, traces, edge->object) : NULL;
	if (edge->object && !named)
		return NTRACE_ERR_NOMEM;
	named_place(to, size, named, edge->to);
	return 0;
}

static int text_branches(struct sums *sums)
{
	const struct report *report = sums->report;
	char number[UI_NUMBER_SIZE], from[1024], to[1024];
	struct output *output = report->output;
	size_t i;

	text_heading(report, "   share             times  branch");
	for (i = 0; i < report_count(report, sums->edge_count); i++) {
		const struct edge *edge = &sums->edges[i];

		if (name_edge(sums, edge, from, to, sizeof(from)))
			return NTRACE_ERR_NOMEM;
		output_printf(output, "%6.2f %%  %16s  ", share(edge->taken, sums->taken),
			      ui_number(number, edge->taken));
		output_text(output, from);
		output_text(output, " -> ");
		output_text(output, to);
		output_printf(output, ", %s\n", ntrace_insn_class_name(edge->from_class));
	}
	text_more(report, sums->edge_count, "branches");
	return 0;
}

/* ---- as JSON ---- */

static void json_head(const struct sums *sums)
{
	const struct report *report = sums->report;
	const struct samples *samples = &sums->samples;
	struct output *output = report->output;
	size_t i;

	output_text(output, "{\"perf_data\":");
	output_json(output, report->path);
	output_printf(output,
		      ",\"counts_of\":\"samples\",\"samples\":%" PRIu64 ",\"transfers\":%" PRIu64
		      ",\"instructions\":%" PRIu64,
		      samples->read.samples, samples->used.transfers, sums->instructions);
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

static void json_function(struct output *output, const struct sum *sum)
{
	char *name = sum->symbol ? ntrace_demangle(sum->symbol) : NULL;

	output_text(output, "{\"function\":");
	output_json(output, sum->symbol);
	if (name) {
		output_text(output, ",\"demangled\":");
		output_json(output, name);
	}
	output_text(output, ",\"object\":");
	output_json(output, ntrace_object_name(sum->object));
	output_printf(output,
		      ",\"address\":\"0x%" PRIx64 "\",\"instructions\":%" PRIu64
		      ",\"branches\":%" PRIu64 ",\"calls\":%" PRIu64 "}",
		      sum->start, sum->instructions, sum->branches, sum->calls);
	free(name);
}

static void json_functions(const struct sums *sums)
{
	struct output *output = sums->report->output;
	size_t i;

	output_text(output, ",\"functions\":[");
	for (i = 0; i < report_count(sums->report, sums->count); i++) {
		output_text(output, i ? ",\n" : "\n");
		json_function(output, &sums->items[i]);
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

static int json_branches(struct sums *sums)
{
	struct output *output = sums->report->output;
	char from[1024], to[1024];
	size_t i;

	output_text(output, ",\"branches\":[");
	for (i = 0; i < report_count(sums->report, sums->edge_count); i++) {
		const struct edge *edge = &sums->edges[i];

		if (name_edge(sums, edge, from, to, sizeof(from)))
			return NTRACE_ERR_NOMEM;
		output_printf(output, "%s{\"count\":%" PRIu64 ",\"class\":\"%s\"", i ? ",\n" : "\n",
			      edge->taken, ntrace_insn_class_name(edge->from_class));
		json_place(output, "from", edge->from_object, edge->from, from);
		json_place(output, "to", edge->object, edge->to, to);
		output_char(output, '}');
	}
	output_text(output, "]}\n");
	return 0;
}

/* ---- all of it ---- */

static int show(struct sums *sums)
{
	const struct report *report = sums->report;
	const struct annotate_options options = {
		.function = report->annotated,
		.sysroot = report->recording_options.sysroot,
		.objdump = report->objdump,
		.colours = report->colours,
	};

	if (report->json) {
		json_head(sums);
		json_functions(sums);
		return json_branches(sums);
	}
	text_head(sums);
	if (report->annotated)
		return annotate(report->traces, &options, report->output);
	text_functions(sums);
	return text_branches(sums);
}

/* Rejects options that need a trace. */
static int check(const struct report *report)
{
	const char *what = NULL;

	if (report->profile.only_privileges &&
	    !(report->profile.only_privileges >> NTRACE_PRIV_U & 1))
		return fail("%s: a perf.data file does not contain the kernel's code: --kernel "
			    "(--privilege s) needs a recording of ntrace-record(1)",
			    report->path);
	if (report->html_path)
		what = "--html";
	else if (report->related)
		what = report->callees ? "--callees" : "--callers";
	else if (report->by_thread)
		what = "--by-thread";
	else if (report->profile.by_process)
		what = "--by-process";
	else if (report->recording_options.firmware)
		what = "--firmware";
	else if (report->order == PROFILE_BY_TOTAL || report->order == PROFILE_BY_TIME ||
		 report->order == PROFILE_BY_TOTAL_TIME)
		what = "--sort by totals and times";
	return what ? fail("%s: contains samples, not a trace: %s needs a trace, see "
			   "ntrace-record(1)",
			   report->path, what) :
		      EXIT_OK;
}

int report_samples(struct report *report)
{
	struct sums sums = { .report = report };
	int error = check(report);

	if (error)
		return error;
	error = samples_count(&report->recording, report->traces, &sums.samples);
	if (!error)
		error = add_up(&sums);
	if (!error)
		error = show(&sums);
	if (error < 0)
		error = fail("%s: %s", report->path, ntrace_strerror(error));
	else if (!error && !sums.count)
		error = fail("%s: the code of the selected samples is unknown: are the programs "
			     "here, or below --sysroot?",
			     report->path);
	named_objects_free(&sums.objects);
	free(sums.items);
	free(sums.edges);
	return error;
}
