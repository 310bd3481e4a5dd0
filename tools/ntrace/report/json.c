// SPDX-License-Identifier: GPL-2.0-only
/* A report as one JSON object. */
#include <inttypes.h>

#include "report.h"

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

void report_json_place(const struct report *report, const struct function *function,
		       bool by_process)
{
	struct output *output = report->output;

	output_text(output, "{\"function\":");
	output_json(output, function->name);
	output_text(output, ",\"object\":");
	output_json(output, function->object ? ntrace_object_name(function->object) : NULL);
	output_printf(output, ",\"address\":\"0x%" PRIx64 "\",\"mode\":\"%s\"", function->start,
		      profile_part_names[profile_part(function->privilege)]);
	if (by_process) {
		output_printf(output, ",\"pid\":%d,\"process\":", function->pid);
		output_json(output, function->comm);
	}
	if (function->demangled) {
		output_text(output, ",\"demangled\":");
		output_json(output, function->demangled);
	}
}

static void json_function(const struct report *report, const struct function *function)
{
	struct output *output = report->output;

	report_json_place(report, function, report->profile.by_process);
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"calls\":%" PRIu64,
		      function->instructions, function->calls);
	if (report->stacks)
		output_printf(output, ",\"total\":%" PRIu64, function->total);
	if (report->stacks && report->timeline.timed)
		output_printf(output, ",\"ticks\":%" PRIu64 ",\"total_ticks\":%" PRIu64,
			      function->ticks, function->total_ticks);
	output_char(output, '}');
}

static void json_times(const struct report *report)
{
	uint64_t untimed;
	struct timeline_sum sum = timeline_sum(&report->timeline, &untimed);

	if (report->timeline.timed)
		output_printf(report->output,
			      ",\"time\":{\"hz\":%" PRIu64 ",\"stamps\":%" PRIu64
			      ",\"ticks\":%" PRIu64 ",\"interpolated\":true,\"untimed\":%" PRIu64
			      "}",
			      report->timeline.hz, report->timeline.stamps, sum.ticks, untimed);
}

static void json_thread(const struct report *report, const struct timeline_lane *lane,
			const struct timeline_task *task, const struct timeline_sum *sum)
{
	struct output *output = report->output;

	output_printf(output,
		      "{\"cpu\":%u,\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"thread\":", lane->cpu,
		      task->pid, task->tid);
	output_json(output, task->comm);
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"kernel\":%" PRIu64,
		      sum->instructions, sum->kernel);
	if (report->timeline.timed)
		output_printf(output, ",\"ticks\":%" PRIu64, sum->ticks);
	output_char(output, '}');
}

static void json_threads(const struct report *report)
{
	const struct timeline *timeline = &report->timeline;
	const struct timeline_lane *lane = NULL;
	const char *separator = "\n";
	uint32_t i;

	output_text(report->output, ",\"threads\":[");
	while ((lane = timeline_next(timeline, lane))) {
		for (i = 0; i < timeline->task_count; i++) {
			if (!lane->tasks[i].instructions)
				continue;
			output_text(report->output, separator);
			json_thread(report, lane, &timeline->tasks[i], &lane->tasks[i]);
			separator = ",\n";
		}
	}
	output_char(report->output, ']');
}

void report_json(const struct report *report)
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
		      report_instructions(report), profile->selected);
	for (i = 0; i < PARTS; i++)
		output_printf(output, ",\"%s\":%" PRIu64, profile_part_names[i],
			      profile->instructions[i]);
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
	output_char(output, ']');
	json_times(report);
	json_threads(report);
	report_pc_samples_json(report);
	output_text(output, ",\"functions\":[");
	for (i = 0; i < report_count(report, profile->function_count); i++) {
		output_text(output, i ? ",\n" : "\n");
		json_function(report, profile->functions[i]);
	}
	output_text(output, "]}\n");
}
