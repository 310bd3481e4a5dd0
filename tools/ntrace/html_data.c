// SPDX-License-Identifier: GPL-2.0-only
/* Functions, harts and losses, for the page. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html_data.h"

/* Functions of which each row would be too small to look for. */
#define FUNCTIONS_MAX 5000

static const char *const part_names[PARTS] = {
	[PART_USER] = "user",
	[PART_KERNEL] = "kernel",
	[PART_FIRMWARE] = "firmware",
	[PART_OTHER] = "other",
};

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

static void put_name(struct output *output, const char *symbol)
{
	char *name = symbol ? ntrace_demangle(symbol) : NULL;

	output_json_script(output, name ? name : symbol ? symbol : "[no symbol]");
	free(name);
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
		put_name(output, function->name);
		output_char(output, ',');
		output_json_script(output, function->object ?
						   ntrace_object_short_name(function->object) :
						   "[unknown]");
		output_printf(output, ",\"%s\",%" PRIu64 ",%" PRIu64 "]",
			      part_names[profile_part(function->privilege)], function->instructions,
			      function->calls);
	}
	output_char(output, ']');
}

static void put_cell(const struct timeline_lane *lane, const struct timeline_cell *cell,
		     struct output *output)
{
	const struct timeline_slot *slot;

	if (cell->time_known && lane->hz)
		output_printf(output, "[%.9f", (double)cell->time / (double)lane->hz);
	else
		output_text(output, "[null");
	for (slot = cell->slots; slot < cell->slots + TIMELINE_SLOTS; slot++) {
		if (slot->instructions)
			output_printf(output, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64, slot->task,
				      slot->instructions, slot->kernel);
	}
	output_char(output, ']');
}

static void put_lane(const struct timeline_lane *lane, struct output *output)
{
	size_t cells = (size_t)((lane->instructions + lane->width - 1) / lane->width), i;

	output_printf(output,
		      "{\"cpu\":%u,\"width\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"cells\":[",
		      lane->cpu, lane->width, lane->instructions);
	for (i = 0; i < cells && i < TIMELINE_CELLS; i++) {
		output_text(output, i ? "," : "");
		put_cell(lane, &lane->cells[i], output);
	}
	output_text(output, "]}");
}

static const struct timeline_lane *next_lane(const struct timeline *timeline,
					     const struct timeline_lane *before)
{
	const struct timeline_lane *next = NULL;
	size_t i;

	for (i = 0; i < timeline->lane_count; i++) {
		const struct timeline_lane *lane = timeline->lanes[i];

		if ((!before || lane->cpu > before->cpu) && (!next || lane->cpu < next->cpu))
			next = lane;
	}
	return next;
}

void html_put_timeline(const struct timeline *timeline, struct output *output)
{
	const struct timeline_lane *lane = NULL;
	const char *separator = "";
	uint32_t i;

	output_text(output, ",\"timeline\":{\"lanes\":[");
	while ((lane = next_lane(timeline, lane))) {
		output_text(output, separator);
		put_lane(lane, output);
		separator = ",\n";
	}
	output_text(output, "],\"tasks\":[");
	for (i = 0; i < timeline->task_count; i++) {
		output_printf(output, "%s{\"tid\":%" PRId32 ",\"pid\":%" PRId32 ",\"name\":",
			      i ? ",\n" : "", timeline->tasks[i].tid, timeline->tasks[i].pid);
		output_json_script(output, timeline->tasks[i].comm);
		output_char(output, '}');
	}
	output_text(output, "]}");
}
