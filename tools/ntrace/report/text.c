// SPDX-License-Identifier: GPL-2.0-only
/* A report as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/place_name.h"
#include "common/ui.h"
#include "report.h"

static uint64_t problem_count(const struct ntrace_profile_problem *kinds)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < NTRACE_PROFILE_PROBLEMS; i++)
		count += kinds[i].count;
	return count;
}

uint64_t report_instructions(const struct report *report)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < NTRACE_DOMAINS; i++)
		sum += report->sums->instructions[i];
	return sum;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void text_recording(const struct report *report)
{
	const struct ntrace_recording *description = report->description;
	unsigned int streams = ntrace_session_streams(report->recording.session);
	const struct ntrace_stream *first =
		streams ? ntrace_session_stream(report->recording.session, 0) : NULL;
	const char *unit = first && first->cpu == NTRACE_STREAM_NO_CPU ? "thread" : "CPU";
	char size[UI_NUMBER_SIZE];

	output_text(report->output, "recording     ");
	output_name(report->output, report->path);
	if (description && *description->command)
		output_printf(report->output, ": %.200s", description->command);
	output_printf(report->output, "\ntrace         %s", ui_size(size, report->totals.bytes));
	if (report->totals.bytes < report->totals.recorded)
		output_printf(report->output, " of the %s that were recorded",
			      ui_size(size, report->totals.recorded));
	output_printf(report->output, " from %u %s%s", streams, unit, streams == 1 ? "" : "s");
	if (description && *description->release)
		output_printf(report->output, ", Linux %s", description->release);
	output_char(report->output, '\n');
}

static void text_totals(const struct report *report)
{
	const struct ntrace_profile_totals *sums = report->sums;
	uint64_t total = report_instructions(report);
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	const char *separator = ": ";
	unsigned int i;

	output_printf(report->output, "instructions  %s", ui_number(number, total));
	for (i = 0; i < NTRACE_DOMAINS; i++) {
		if (!sums->instructions[i])
			continue;
		output_printf(report->output, "%s%s %s (%.1f %%)", separator, ntrace_domain_name(i),
			      ui_number(number, sums->instructions[i]),
			      share(sums->instructions[i], total));
		separator = ", ";
	}
	output_printf(report->output, "\ntraps         %s", ui_number(number, sums->traps));
	if (sums->exceptions || sums->interrupts)
		output_printf(report->output, ": exceptions %s, interrupts %s",
			      ui_number(number, sums->exceptions),
			      ui_number(other, sums->interrupts));
	output_char(report->output, '\n');
}

/* How long they took, if that is known. */
static void put_gap_times(const struct report *report)
{
	const struct ntrace_occupancy *occupancy = report->occupancy;
	char text[UI_NUMBER_SIZE], longest[UI_NUMBER_SIZE];

	if (occupancy->gap_time)
		output_printf(report->output, " (at most %s, the longest %s)",
			      ui_ticks(text, occupancy->gap_time, occupancy->hz),
			      ui_ticks(longest, occupancy->gap_longest, occupancy->hz));
}

void report_losses(const struct report *report)
{
	const struct ntrace_profile_totals *sums = report->sums;
	uint64_t errors = problem_count(sums->errors);
	char number[UI_NUMBER_SIZE], text[NTRACE_STREAM_LOSSES_SIZE];
	bool lost = ntrace_stream_losses(&report->totals.losses, text, sizeof(text));
	bool whole = !sums->gaps && !errors && !lost;

	output_text(report->output, "losses        ");
	output_text(report->output, ui_style_on(report->colours, whole ? UI_PLAIN : UI_BAD));
	if (whole) {
		output_text(report->output, "none: the trace is whole");
	} else {
		output_printf(report->output, "gaps %s", ui_number(number, sums->gaps));
		put_gap_times(report);
		output_printf(report->output, ", errors %s", ui_number(number, errors));
		if (lost)
			output_printf(report->output, ", %s", text);
	}
	output_text(report->output, ui_style_off(report->colours, whole ? UI_PLAIN : UI_BAD));
	/* No loss: the hart executed nothing that is traced. But the driver did not do it. */
	if (sums->hardware_ends)
		output_printf(report->output,
			      "\nends          %s by the hardware: debug mode, low power or reset "
			      "('ntrace stat' counts each)",
			      ui_number(number, sums->hardware_ends));
	output_char(report->output, '\n');
}

static void text_problems(const struct report *report, const struct ntrace_profile_problem *kinds,
			  const char *what)
{
	const struct ntrace_profile_problem *problem;
	char number[UI_NUMBER_SIZE];
	unsigned int i;

	for (i = 0; i < NTRACE_PROFILE_PROBLEMS; i++) {
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
		output_name(report->output, report->recording.notes[i]);
		output_char(report->output, '\n');
	}
	if (report->recording.notes_dropped)
		output_printf(report->output, "note          and %" PRIu64 " more like these\n",
			      report->recording.notes_dropped);
}

size_t report_count(const struct report *report, size_t count)
{
	return report->limit && report->limit < count ? report->limit : count;
}

static size_t shown_count(const struct report *report)
{
	return report_count(report, report->function_count);
}

/* The table has times if the trace has timestamps and times are known per function. */
static bool has_times(const struct report *report)
{
	return report->occupancy->timed && report->occupancy->stamps;
}

static const char *time_text(const struct report *report, char *text, uint64_t ticks)
{
	/* Interpolated times are marked. */
	text[0] = '~';
	ui_ticks(text + 1, ticks, report->occupancy->hz);
	return text;
}

static size_t object_width(const struct report *report)
{
	size_t width = strlen("object"), length, i;

	for (i = 0; i < shown_count(report); i++) {
		length = strlen(function_object_name(&report->functions[i]));
		if (length > width)
			width = length;
	}
	return width > 32 ? 32 : width;
}

static void text_function(const struct report *report,
			  const struct ntrace_profile_function *function, size_t width)
{
	bool kernel = ntrace_domain_of(function->privilege) == NTRACE_DOMAIN_KERNEL;
	enum ui_style style = kernel ? UI_KERNEL : UI_PLAIN;
	char instructions[UI_NUMBER_SIZE], calls[UI_NUMBER_SIZE], text[UI_NUMBER_SIZE + 1];
	struct output *output = report->output;

	output_printf(output, "%6.2f %%  %16s  ",
		      share(function->instructions, report->sums->selected),
		      ui_number(instructions, function->instructions));
	if (report->stacks)
		output_printf(output, "%16s  ", ui_number(text, function->total));
	output_printf(output, "%13s  ", ui_number(calls, function->calls));
	if (report->stacks && has_times(report)) {
		output_printf(output, "%12s  ", time_text(report, text, function->ticks));
		output_printf(output, "%12s  ", time_text(report, text, function->total_ticks));
	}
	output_padded(output, domain_name(function), 8);
	output_text(output, "  ");
	if (report->selection.by_process) {
		if (function->pid < 0)
			output_text(output, "      ?  ");
		else
			output_printf(output, "%7d  ", function->pid);
		output_padded(output, function->comm, 16);
		output_text(output, "  ");
	}
	output_padded(output, function_object_name(function), width);
	output_text(output, "  ");
	output_text(output, ui_style_on(report->colours, style));
	output_name(output, function_name(function));
	output_text(output, ui_style_off(report->colours, style));
	output_char(output, '\n');
}

static void text_heading(const struct report *report, size_t width)
{
	struct output *output = report->output;

	output_char(output, '\n');
	output_text(output, ui_style_on(report->colours, UI_HEADING));
	output_printf(output, "%8s  %16s  ", "share", "instructions");
	if (report->stacks)
		output_printf(output, "%16s  ", "with callees");
	output_printf(output, "%13s  ", "calls");
	if (report->stacks && has_times(report))
		output_printf(output, "%12s  %12s  ", "time", "with callees");
	output_printf(output, "%-8s  ", "mode");
	if (report->selection.by_process)
		output_printf(output, "%7s  %-16s  ", "pid", "process");
	output_padded(output, "object", width);
	output_text(output, "  function");
	output_text(output, ui_style_off(report->colours, UI_HEADING));
	output_char(output, '\n');
}

static void text_table(const struct report *report)
{
	size_t width = object_width(report), count = shown_count(report), i;
	struct output *output = report->output;
	uint64_t rest = report->sums->selected;
	char number[UI_NUMBER_SIZE];

	text_heading(report, width);
	for (i = 0; i < count; i++) {
		text_function(report, &report->functions[i], width);
		rest -= report->functions[i].instructions;
	}
	if (count < report->function_count)
		output_printf(output, "%6.2f %%  %16s  %zu more functions: --limit 0 shows them\n",
			      share(rest, report->sums->selected), ui_number(number, rest),
			      report->function_count - count);
}

/* ---- threads and CPUs ---- */

/* A thread on a CPU. */
struct row {
	const struct ntrace_occupancy_cpu *cpu;
	const struct ntrace_occupancy_task *task;
	const struct ntrace_occupancy_sum *sum;
};

static int by_instructions(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->sum->instructions != b->sum->instructions)
		return a->sum->instructions < b->sum->instructions ? 1 : -1;
	if (a->cpu->number != b->cpu->number)
		return a->cpu->number < b->cpu->number ? -1 : 1;
	return a->task < b->task ? -1 : a->task > b->task;
}

/* Return: array to be freed, NULL when out of memory. */
static struct row *collect_rows(const struct report *report, size_t *count)
{
	const struct ntrace_occupancy *occupancy = report->occupancy;
	struct row *rows = calloc(occupancy->cpu_count * occupancy->task_count + 1, sizeof(*rows));
	uint32_t task;
	size_t i;

	*count = 0;
	for (i = 0; rows && i < occupancy->cpu_count; i++) {
		const struct ntrace_occupancy_cpu *cpu = occupancy->cpus[i];

		for (task = 0; task < occupancy->task_count; task++) {
			const struct ntrace_occupancy_task *of = &occupancy->tasks[task];

			if (cpu->tasks[task].instructions &&
			    ntrace_thread_filter_passes(&report->filter, of->pid, of->tid,
							of->comm))
				rows[(*count)++] = (struct row){ cpu, of, &cpu->tasks[task] };
		}
	}
	if (rows)
		qsort(rows, *count, sizeof(*rows), by_instructions);
	return rows;
}

static void text_row(const struct report *report, const struct row *row)
{
	char number[UI_NUMBER_SIZE], text[UI_NUMBER_SIZE + 1];
	struct output *output = report->output;

	output_printf(output, "%6.2f %%  %16s  %6.2f %%  ",
		      share(row->sum->instructions, report_instructions(report)),
		      ui_number(number, row->sum->instructions),
		      share(row->sum->kernel, row->sum->instructions));
	if (has_times(report))
		output_printf(output, "%12s  ", time_text(report, text, row->sum->ticks));
	if (row->task->tid < 0)
		output_printf(output, "%4u  %7s  %7s  ", row->cpu->number, "?", "?");
	else
		output_printf(output, "%4u  %7" PRId32 "  %7" PRId32 "  ", row->cpu->number,
			      row->task->pid, row->task->tid);
	output_name(output, row->task->comm);
	output_char(output, '\n');
}

static int text_threads(const struct report *report)
{
	struct output *output = report->output;
	size_t count, i;
	struct row *rows = collect_rows(report, &count);

	if (!rows)
		return fail("out of memory");
	output_char(output, '\n');
	output_text(output, ui_style_on(report->colours, UI_HEADING));
	output_printf(output, "%8s  %16s  %8s  ", "share", "instructions", "kernel");
	if (has_times(report))
		output_printf(output, "%12s  ", "time");
	output_printf(output, "%4s  %7s  %7s  thread", "CPU", "pid", "tid");
	output_text(output, ui_style_off(report->colours, UI_HEADING));
	output_char(output, '\n');
	for (i = 0; i < report_count(report, count); i++)
		text_row(report, &rows[i]);
	if (i < count)
		output_printf(output, "%zu more: --limit 0 shows them\n", count - i);
	free(rows);
	return EXIT_OK;
}

/* ---- all of it ---- */

static void text_times(const struct report *report)
{
	const struct ntrace_occupancy *occupancy = report->occupancy;
	char text[UI_NUMBER_SIZE], number[UI_NUMBER_SIZE], error[NTRACE_TIME_ERROR_SIZE];

	if (!has_times(report))
		return;
	output_printf(report->output, "time          %s on %zu CPU%s, by %s time stamps; ",
		      ui_ticks(text, occupancy->sum.ticks, occupancy->hz), occupancy->cpu_count,
		      occupancy->cpu_count == 1 ? "" : "s", ui_number(number, occupancy->stamps));
	output_text(report->output,
		    "~ is interpolated: between two of them it passes with instructions\n");
	if (occupancy->hz)
		output_printf(report->output, "              times are %s\n",
			      ntrace_time_error_text(occupancy->time_error, error));
	if (occupancy->untimed)
		output_printf(report->output,
			      "              without time: %s instructions, before the first or "
			      "behind the last time stamp\n",
			      ui_number(number, occupancy->untimed));
}

int report_text(const struct report *report)
{
	text_recording(report);
	text_totals(report);
	text_times(report);
	report_losses(report);
	text_problems(report, report->sums->errors, "not decoded   ");
	text_problems(report, report->sums->warnings, "uncertain     ");
	text_notes(report);
	if (report->by_thread)
		return text_threads(report);
	/* Without instructions the table has only a heading. */
	if (report->function_count || !report->sums->samples)
		text_table(report);
	report_pc_samples(report);
	return EXIT_OK;
}
