// SPDX-License-Identifier: GPL-2.0-only
/* Functions, CPUs and losses, for the page. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		.sysroot = html->options.sysroot,
		.note = add_note,
		.data = html,
	};

	return coverage_make(&html->coverage, html->traces, &options);
}

void html_notes_free(struct html *html)
{
	while (html->note_count)
		free(html->notes[--html->note_count]);
}

static void put_problems(struct output *output, const char *key, const struct problem *kinds)
{
	const char *separator = "";
	char where[512];
	unsigned int i;

	output_printf(output, ",\"%s\":[", key);
	for (i = 0; i < PROBLEM_KINDS; i++) {
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

void html_put_losses(const struct html *html, const struct html_report *report,
		     struct output *output)
{
	bool first = true;

	output_printf(output, ",\"losses\":{\"lost\":%" PRIu64 ",\"exact\":%s,\"gaps\":%" PRIu64,
		      report->totals->lost, report->totals->lost_exact ? "true" : "false",
		      report->profile->gaps);
	put_problems(output, "errors", report->profile->errors);
	put_problems(output, "warnings", report->profile->warnings);
	output_text(output, ",\"notes\":[");
	put_notes(output, report->recording->notes, report->recording->note_count, &first);
	put_notes(output, html->notes, html->note_count, &first);
	if (report->recording->notes_dropped)
		output_printf(output, "%s\"and %" PRIu64 " more like these\"", first ? "" : ",",
			      report->recording->notes_dropped);
	output_text(output, "]}");
}

void html_put_functions(struct html *html, const struct profile *profile, struct output *output)
{
	size_t count = profile->function_count, i;
	const struct function *function;

	if (count > FUNCTIONS_MAX) {
		html->functions_dropped = count - FUNCTIONS_MAX;
		count = FUNCTIONS_MAX;
	}
	output_text(output, ",\"functions\":[");
	for (i = 0; i < count; i++) {
		function = profile->functions[i];
		output_text(output, i ? ",\n[" : "[");
		output_json_script(output, function_shown(function));
		output_char(output, ',');
		output_json_script(output, function->object ?
						   ntrace_object_short_name(function->object) :
						   "[unknown]");
		output_printf(output,
			      ",\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			      "]",
			      profile_part_names[profile_part(function->privilege)],
			      function->instructions, function->calls, function->total,
			      function->ticks, function->total_ticks);
	}
	output_char(output, ']');
}

static void put_cell(const struct timeline_cell *cell, struct output *output)
{
	const struct timeline_slot *slot;
	const char *separator = "";

	output_char(output, '[');
	for (slot = cell->slots; slot < cell->slots + TIMELINE_SLOTS; slot++) {
		if (!slot->sum.instructions && !slot->sum.ticks)
			continue;
		output_printf(output, "%s%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, separator,
			      slot->task, slot->sum.instructions, slot->sum.kernel,
			      slot->sum.ticks);
		separator = ",";
	}
	output_char(output, ']');
}

static void put_lane(const struct timeline_lane *lane, uint64_t origin, struct output *output)
{
	size_t i;

	output_printf(output,
		      "{\"cpu\":%u,\"begin\":%" PRId64 ",\"width\":%" PRIu64
		      ",\"instructions\":%" PRIu64 ",\"ticks\":%" PRIu64 ",\"cells\":[",
		      lane->cpu, (int64_t)(lane->begin - origin), lane->width,
		      lane->sum.instructions, lane->sum.ticks);
	for (i = 0; i < lane->used; i++) {
		output_text(output, i ? "," : "");
		put_cell(&lane->cells[i], output);
	}
	output_text(output, "]}");
}

static void put_task(const struct timeline *timeline, uint32_t number, struct output *output)
{
	const struct timeline_task *task = &timeline->tasks[number];
	uint64_t instructions = 0, ticks = 0;
	size_t i;

	for (i = 0; i < timeline->lane_count; i++) {
		instructions += timeline->lanes[i]->tasks[number].instructions;
		ticks += timeline->lanes[i]->tasks[number].ticks;
	}
	output_printf(output, "{\"tid\":%" PRId32 ",\"pid\":%" PRId32 ",\"name\":", task->tid,
		      task->pid);
	output_json_script(output, task->comm);
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"ticks\":%" PRIu64 "}", instructions,
		      ticks);
}

void html_put_timeline(const struct timeline *timeline, struct output *output)
{
	const struct timeline_lane *lane = NULL;
	uint64_t origin = UINT64_MAX, untimed;
	const char *separator = "";
	uint32_t i;

	timeline_sum(timeline, &untimed);
	while ((lane = timeline_next(timeline, lane))) {
		if (lane->used && lane->begin < origin)
			origin = lane->begin;
	}
	output_printf(output,
		      ",\"timeline\":{\"timed\":%s,\"hz\":%" PRIu64 ",\"stamps\":%" PRIu64
		      ",\"untimed\":%" PRIu64 ",\"lanes\":[",
		      timeline->timed ? "true" : "false", timeline->hz, timeline->stamps, untimed);
	while ((lane = timeline_next(timeline, lane))) {
		output_text(output, separator);
		put_lane(lane, origin, output);
		separator = ",\n";
	}
	output_text(output, "],\"tasks\":[");
	for (i = 0; i < timeline->task_count; i++) {
		output_text(output, i ? ",\n" : "");
		put_task(timeline, i, output);
	}
	output_text(output, "]}");
}
