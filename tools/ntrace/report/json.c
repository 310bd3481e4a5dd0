// SPDX-License-Identifier: GPL-2.0-only
/* A report as one JSON object. */
#include <inttypes.h>

#include "common/place_name.h"
#include "report.h"

static void json_problems(const struct report *report, const char *key,
			  const struct ntrace_profile_problem *kinds)
{
	struct output *output = report->output;
	const char *separator = "";
	unsigned int i;

	output_printf(output, ",\"%s\":[", key);
	for (i = 0; i < NTRACE_PROFILE_PROBLEMS; i++) {
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

void report_json_place(const struct report *report, const struct ntrace_profile_function *function)
{
	struct output *output = report->output;

	output_text(output, "{\"function\":");
	output_json(output, function->name);
	output_text(output, ",\"object\":");
	output_json(output, function->object ? ntrace_object_name(function->object) : NULL);
	output_printf(output, ",\"address\":\"0x%" PRIx64 "\",\"mode\":\"%s\"", function->start,
		      domain_name(function));
	if (report->selection.by_process) {
		output_printf(output, ",\"pid\":%d,\"process\":", function->pid);
		output_json(output, function->comm);
	}
	if (function->demangled) {
		output_text(output, ",\"demangled\":");
		output_json(output, function->demangled);
	}
}

static void json_function(const struct report *report,
			  const struct ntrace_profile_function *function)
{
	struct output *output = report->output;

	report_json_place(report, function);
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"calls\":%" PRIu64,
		      function->instructions, function->calls);
	if (report->stacks)
		output_printf(output, ",\"total\":%" PRIu64, function->total);
	if (report->stacks && report->occupancy->timed)
		output_printf(output, ",\"ticks\":%" PRIu64 ",\"total_ticks\":%" PRIu64,
			      function->ticks, function->total_ticks);
	output_char(output, '}');
}

static void json_times(const struct report *report)
{
	const struct ntrace_occupancy *occupancy = report->occupancy;

	if (!report->occupancy->timed)
		return;
	output_printf(report->output,
		      ",\"time\":{\"hz\":%" PRIu64 ",\"stamps\":%" PRIu64 ",\"ticks\":%" PRIu64
		      ",\"interpolated\":true,\"untimed\":%" PRIu64 ",\"gaps\":%" PRIu64
		      ",\"longest_gap\":%" PRIu64 ",\"error\":",
		      occupancy->hz, occupancy->stamps, occupancy->sum.ticks, occupancy->untimed,
		      occupancy->gap_time, occupancy->gap_longest);
	if (occupancy->hz && occupancy->time_error < UINT32_MAX)
		output_printf(report->output, "%" PRIu64 "}", occupancy->time_error);
	else
		output_text(report->output, "null}");
}

static void json_thread(const struct report *report, uint32_t cpu,
			const struct ntrace_occupancy_task *task,
			const struct ntrace_occupancy_sum *sum)
{
	struct output *output = report->output;

	output_printf(output,
		      "{\"cpu\":%u,\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"thread\":", cpu,
		      task->pid, task->tid);
	output_json(output, task->comm);
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"kernel\":%" PRIu64,
		      sum->instructions, sum->kernel);
	if (report->occupancy->timed)
		output_printf(output, ",\"ticks\":%" PRIu64, sum->ticks);
	output_char(output, '}');
}

static void json_threads(const struct report *report)
{
	const struct ntrace_occupancy *occupancy = report->occupancy;
	const char *separator = "\n";
	uint32_t task;
	size_t i;

	output_text(report->output, ",\"threads\":[");
	for (i = 0; i < occupancy->cpu_count; i++) {
		const struct ntrace_occupancy_cpu *cpu = occupancy->cpus[i];

		for (task = 0; task < occupancy->task_count; task++) {
			if (!cpu->tasks[task].instructions)
				continue;
			output_text(report->output, separator);
			json_thread(report, cpu->number, &occupancy->tasks[task],
				    &cpu->tasks[task]);
			separator = ",\n";
		}
	}
	output_char(report->output, ']');
}

void report_json(const struct report *report)
{
	const struct ntrace_stream *losses = &report->totals.losses;
	char text[NTRACE_STREAM_LOSSES_SIZE];
	const struct ntrace_profile_totals *sums = report->sums;
	struct output *output = report->output;
	size_t i;

	output_text(output, "{\"recording\":");
	output_json(output, report->path);
	if (report->description) {
		output_text(output, ",\"command\":");
		output_json(output, report->description->command);
	}
	output_printf(output,
		      ",\"bytes\":%" PRIu64 ",\"recorded_bytes\":%" PRIu64
		      ",\"streams\":%u,\"instructions\":{\"all\":%" PRIu64 ",\"selected\":%" PRIu64,
		      report->totals.bytes, report->totals.recorded,
		      ntrace_session_streams(report->recording.session),
		      report_instructions(report), sums->selected);
	for (i = 0; i < NTRACE_DOMAINS; i++)
		output_printf(output, ",\"%s\":%" PRIu64, ntrace_domain_name(i),
			      sums->instructions[i]);
	output_printf(output,
		      "},\"traps\":{\"all\":%" PRIu64 ",\"exceptions\":%" PRIu64
		      ",\"interrupts\":%" PRIu64 "},\"trace_off\":%" PRIu64
		      ",\"hardware_ends\":%" PRIu64 ",\"gaps\":%" PRIu64
		      ",\"lost\":{\"bytes\":%" PRIu64 ",\"exact\":%s,\"places\":%" PRIu64
		      ",\"text\":",
		      sums->traps, sums->exceptions, sums->interrupts, sums->trace_off,
		      sums->hardware_ends, sums->gaps, losses->lost,
		      losses->lost_exact ? "true" : "false", losses->gaps);
	ntrace_stream_losses(losses, text, sizeof(text));
	output_json(report->output, text);
	output_char(report->output, '}');
	json_problems(report, "errors", sums->errors);
	json_problems(report, "warnings", sums->warnings);
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
	for (i = 0; i < report_count(report, report->function_count); i++) {
		output_text(output, i ? ",\n" : "\n");
		json_function(report, &report->functions[i]);
	}
	output_text(output, "]}\n");
}
