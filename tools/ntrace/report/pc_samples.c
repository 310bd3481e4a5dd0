// SPDX-License-Identifier: GPL-2.0-only
/* PC samples of InCircuitTrace in a report: functions by number of samples. */
#include <inttypes.h>

#include "common/place_name.h"
#include "common/ui.h"
#include "report.h"

static double share_of(const struct report *report, uint64_t count)
{
	return report->sums->samples ? 100.0 * (double)count / (double)report->sums->samples : 0;
}

static void text_row(const struct report *report, const struct ntrace_profile_function *function)
{
	struct output *output = report->output;
	char number[UI_NUMBER_SIZE];

	output_printf(output, "%6.2f %%  %16s  %-8s  ", share_of(report, function->instructions),
		      ui_number(number, function->instructions), domain_name(function));
	if (report->selection.by_process && function->pid < 0)
		output_printf(output, "%7s  %-16s  ", "?", function->comm);
	else if (report->selection.by_process)
		output_printf(output, "%7" PRId32 "  %-16s  ", function->pid, function->comm);
	output_padded(output, function_object_name(function), 16);
	output_text(output, "  ");
	output_name(output, function_name(function));
	output_char(output, '\n');
}

void report_pc_samples(const struct report *report)
{
	const struct ntrace_profile_totals *sums = report->sums;
	size_t count = report_count(report, report->pc_sample_count), i;
	struct output *output = report->output;
	uint64_t rest = sums->samples;
	char number[UI_NUMBER_SIZE];

	if (!sums->samples && !sums->unplaced_samples)
		return;
	output_char(output, '\n');
	output_text(output, ui_style_on(report->colours, UI_HEADING));
	output_printf(output, "%8s  %16s  %-8s  ", "share", "PC samples", "mode");
	if (report->selection.by_process)
		output_printf(output, "%7s  %-16s  ", "pid", "process");
	output_printf(output, "%-16s  function", "object");
	output_text(output, ui_style_off(report->colours, UI_HEADING));
	output_char(output, '\n');
	for (i = 0; i < count; i++) {
		text_row(report, &report->pc_samples[i]);
		rest -= report->pc_samples[i].instructions;
	}
	if (count < report->pc_sample_count)
		output_printf(output, "%6.2f %%  %16s  %zu more functions: --limit 0 shows them\n",
			      share_of(report, rest), ui_number(number, rest),
			      report->pc_sample_count - count);
	if (sums->unplaced_samples)
		output_printf(output, "%8s  %16s  address not known\n", "",
			      ui_number(number, sums->unplaced_samples));
}

static void json_row(const struct report *report, const struct ntrace_profile_function *function)
{
	struct output *output = report->output;

	report_json_place(report, function);
	output_printf(output, ",\"samples\":%" PRIu64 ",\"share\":%.6f}", function->instructions,
		      share_of(report, function->instructions) / 100);
}

void report_pc_samples_json(const struct report *report)
{
	const struct ntrace_profile_totals *sums = report->sums;
	struct output *output = report->output;
	size_t i;

	if (!sums->samples && !sums->unplaced_samples)
		return;
	output_printf(output,
		      ",\"pc_samples\":{\"selected\":%" PRIu64 ",\"without_address\":%" PRIu64
		      ",\"functions\":[",
		      sums->samples, sums->unplaced_samples);
	for (i = 0; i < report_count(report, report->pc_sample_count); i++) {
		output_text(output, i ? ",\n" : "\n");
		json_row(report, &report->pc_samples[i]);
	}
	output_text(output, "]}");
}
