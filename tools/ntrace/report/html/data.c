// SPDX-License-Identifier: GPL-2.0-only
/* Functions, CPUs and losses, for the page. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debug_info.h"
#include "common/place_name.h"
#include "data.h"

/* Functions too small for a visible row. */
#define FUNCTIONS_MAX 5000

static void add_note(void *data, const char *text)
{
	struct html *html = data;

	if (html->note_count < HTML_NOTES_MAX) {
		html->notes[html->note_count] = strdup(text);
		html->note_count += html->notes[html->note_count] != NULL;
	}
}

int html_prepare(struct html *html)
{
	const struct coverage_options options = {
		.roots = html->report->roots,
		.note = add_note,
		.data = html,
	};

	return coverage_make(&html->coverage, html->report->profile, &options);
}

void html_notes_free(struct html *html)
{
	while (html->note_count)
		free(html->notes[--html->note_count]);
}

static void put_problems(struct output *output, const char *key,
			 const struct ntrace_profile_problem *kinds)
{
	const char *separator = "";
	char where[512];
	unsigned int i;

	output_printf(output, ",\"%s\":[", key);
	for (i = 0; i < NTRACE_PROFILE_PROBLEMS; i++) {
		if (!kinds[i].count)
			continue;
		snprintf(where, sizeof(where),
			 "stream %u, offset 0x%" PRIx64 ", address 0x%" PRIx64 "%s%.300s",
			 kinds[i].stream, kinds[i].offset, kinds[i].address,
			 kinds[i].object ? ", " : "", kinds[i].object ? kinds[i].object : "");
		output_printf(output, "%s[%" PRIu64 ",", separator, kinds[i].count);
		output_json_script(output, ntrace_flow_error_text(i));
		output_char(output, ',');
		output_json_script(output, where);
		output_char(output, ']');
		separator = ",";
	}
	output_char(output, ']');
}

static void put_notes(struct output *output, char *const *notes, size_t count, bool *first)
{
	size_t i;

	for (i = 0; i < count; i++) {
		output_text(output, *first ? "" : ",");
		output_json_script(output, notes[i]);
		*first = false;
	}
}

void html_put_losses(const struct html *html, struct output *output)
{
	char text[NTRACE_STREAM_LOSSES_SIZE];
	const struct html_report *report = html->report;
	const struct ntrace_profile_totals *sums = ntrace_profile_totals(report->profile);
	bool first = true;

	ntrace_stream_losses(&report->totals->losses, text, sizeof(text));
	output_text(output, ",\"losses\":{\"recording\":");
	output_json_script(output, text);
	output_printf(output, ",\"gaps\":%" PRIu64, sums->gaps);
	put_problems(output, "errors", sums->errors);
	put_problems(output, "warnings", sums->warnings);
	output_text(output, ",\"notes\":[");
	put_notes(output, report->recording->notes, report->recording->note_count, &first);
	put_notes(output, html->notes, html->note_count, &first);
	if (report->recording->notes_dropped)
		output_printf(output, "%s\"and %" PRIu64 " more like these\"", first ? "" : ",",
			      report->recording->notes_dropped);
	output_text(output, "]}");
}

void html_put_functions(struct html *html, struct output *output)
{
	size_t count = html->report->function_count, i;
	const struct ntrace_profile_function *function;

	if (count > FUNCTIONS_MAX) {
		html->functions_dropped = count - FUNCTIONS_MAX;
		count = FUNCTIONS_MAX;
	}
	output_text(output, ",\"functions\":[");
	for (i = 0; i < count; i++) {
		function = &html->report->functions[i];
		output_text(output, i ? ",\n[" : "[");
		output_json_script(output, function_name(function));
		output_char(output, ',');
		output_json_script(output, function_object_name(function));
		output_printf(output,
			      ",\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			      "]",
			      domain_name(function), function->instructions, function->calls,
			      function->total, function->ticks, function->total_ticks);
	}
	output_char(output, ']');
}

static void put_cell(const struct ntrace_occupancy_cell *cell, struct output *output)
{
	const struct ntrace_occupancy_slot *slot;
	const char *separator = "";

	output_char(output, '[');
	for (slot = cell->slots; slot < cell->slots + NTRACE_OCCUPANCY_SLOTS; slot++) {
		if (!slot->sum.instructions && !slot->sum.ticks)
			continue;
		output_printf(output, "%s%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, separator,
			      slot->task, slot->sum.instructions, slot->sum.kernel,
			      slot->sum.ticks);
		separator = ",";
	}
	output_char(output, ']');
}

static void put_cpu(const struct ntrace_occupancy_cpu *cpu, uint64_t origin, struct output *output)
{
	size_t i;

	output_printf(output,
		      "{\"cpu\":%u,\"begin\":%" PRId64 ",\"width\":%" PRIu64
		      ",\"instructions\":%" PRIu64 ",\"ticks\":%" PRIu64 ",\"cells\":[",
		      cpu->number, (int64_t)(cpu->begin - origin), cpu->width,
		      cpu->sum.instructions, cpu->sum.ticks);
	for (i = 0; i < cpu->used; i++) {
		output_text(output, i ? "," : "");
		put_cell(&cpu->cells[i], output);
	}
	output_text(output, "]}");
}

static void put_task(const struct ntrace_occupancy *occupancy, uint32_t number,
		     struct output *output)
{
	const struct ntrace_occupancy_task *task = &occupancy->tasks[number];
	uint64_t instructions = 0, ticks = 0;
	size_t i;

	for (i = 0; i < occupancy->cpu_count; i++) {
		instructions += occupancy->cpus[i]->tasks[number].instructions;
		ticks += occupancy->cpus[i]->tasks[number].ticks;
	}
	output_printf(output, "{\"tid\":%" PRId32 ",\"pid\":%" PRId32 ",\"name\":", task->tid,
		      task->pid);
	output_json_script(output, task->comm);
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"ticks\":%" PRIu64 "}", instructions,
		      ticks);
}

void html_put_occupancy(const struct ntrace_occupancy *occupancy, struct output *output)
{
	char about[NTRACE_TIME_ERROR_SIZE];
	uint64_t origin = UINT64_MAX;
	size_t i;

	for (i = 0; i < occupancy->cpu_count; i++) {
		const struct ntrace_occupancy_cpu *cpu = occupancy->cpus[i];

		if (cpu->used && cpu->begin < origin)
			origin = cpu->begin;
	}
	output_printf(output,
		      ",\"timeline\":{\"timed\":%s,\"hz\":%" PRIu64 ",\"stamps\":%" PRIu64
		      ",\"untimed\":%" PRIu64 ",\"about\":\"%s\",\"lanes\":[",
		      occupancy->timed ? "true" : "false", occupancy->hz, occupancy->stamps,
		      occupancy->untimed,
		      occupancy->hz ? ntrace_time_error_text(occupancy->time_error, about) : "");
	for (i = 0; i < occupancy->cpu_count; i++) {
		output_text(output, i ? ",\n" : "");
		put_cpu(occupancy->cpus[i], origin, output);
	}
	output_text(output, "],\"tasks\":[");
	for (i = 0; i < occupancy->task_count; i++) {
		output_text(output, i ? ",\n" : "");
		put_task(occupancy, (uint32_t)i, output);
	}
	output_text(output, "]}");
}
