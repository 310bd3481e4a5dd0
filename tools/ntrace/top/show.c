// SPDX-License-Identifier: GPL-2.0-only
/* ntrace top: a window as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/place_name.h"
#include "common/ui.h"
#include "top.h"

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint64_t sum(const uint64_t *instructions)
{
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < NTRACE_DOMAINS; i++)
		all += instructions[i];
	return all;
}

static uint64_t errors_of(const struct ntrace_profile_totals *totals)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < NTRACE_PROFILE_PROBLEMS; i++)
		count += totals->errors[i].count;
	return count;
}

static double traced_share(const struct top_window *window)
{
	return window->interval > 0 ? 100 * window->traced / window->interval : 0;
}

static void show_head(struct top_screen *screen, const struct top_window *window)
{
	const struct ntrace_profile_totals *totals = ntrace_profile_totals(window->profile);
	uint64_t all = sum(totals->instructions), errors = errors_of(totals);
	char text[NTRACE_STREAM_LOSSES_SIZE];
	bool lost = ntrace_stream_losses(&window->losses, text, sizeof(text));
	bool whole = !lost && !totals->gaps && !errors;
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE], cpus[32] = "tasks";

	if (window->cpus)
		snprintf(cpus, sizeof(cpus), "%u CPU%s", window->cpus,
			 window->cpus == 1 ? "" : "s");
	top_screen_line(screen, UI_PLAIN,
			"traced %.1f ms (%.2f %%) of the last %.2f s, of %s; %s decoded in %.2f s",
			window->traced * 1e3, traced_share(window), window->interval, cpus,
			ui_size(number, window->bytes), window->decoding);
	top_screen_line(screen, UI_PLAIN, "instructions %s: user %.1f %%, kernel %.1f %%; traps %s",
			ui_number(number, all),
			share(totals->instructions[NTRACE_DOMAIN_USER], all),
			share(totals->instructions[NTRACE_DOMAIN_KERNEL], all),
			ui_number(other, totals->traps));
	if (whole)
		top_screen_line(screen, UI_PLAIN, "losses none: what was traced is whole");
	else
		top_screen_line(screen, UI_BAD,
				"losses: decoding met %" PRIu64 " gaps and %" PRIu64
				" errors%s%s%s%s",
				totals->gaps, errors, lost ? "; " : "", text,
				*window->note ? "; " : "", window->note);
}

/* Important values come first: a narrow terminal shows only those. */
static void show_function(struct top_screen *screen, const struct top_window *window,
			  const struct ntrace_profile_function *function)
{
	bool kernel = ntrace_domain_of(function->privilege) == NTRACE_DOMAIN_KERNEL;
	char instructions[UI_NUMBER_SIZE], calls[UI_NUMBER_SIZE], process[40] = "?";

	if (function->pid >= 0)
		snprintf(process, sizeof(process), "%d %.15s", function->pid, function->comm);
	top_screen_line(screen, kernel ? UI_KERNEL : UI_PLAIN,
			"%6.2f %% %14s %10s  %-28.300s %-8s %-20.100s %s",
			share(function->instructions,
			      ntrace_profile_totals(window->profile)->selected),
			ui_number(instructions, function->instructions),
			ui_number(calls, function->calls), function_name(function),
			domain_name(function), function_object_name(function), process);
}

int top_show(struct top_screen *screen, const struct top_window *window, size_t limit, bool paused)
{
	size_t i;

	top_screen_begin(screen);
	show_head(screen, window);
	if (screen->keys)
		top_screen_line(screen, paused ? UI_BAD : UI_DIM,
				"%skeys: q quit, p pause, i by instructions, c by calls",
				paused ? "PAUSED; " : "");
	top_screen_line(screen, UI_PLAIN, "%s", "");
	top_screen_line(screen, UI_HEADING, "%8s %14s %10s  %-28s %-8s %-20s %s", "share",
			"instructions", "calls", "function", "mode", "object", "process");
	for (i = 0; i < window->function_count && (!limit || i < limit); i++)
		show_function(screen, window, &window->functions[i]);
	if (!screen->active)
		top_screen_line(screen, UI_PLAIN, "%s", "");
	return top_screen_end(screen);
}

static void json_function(struct output *output, const struct ntrace_profile_function *function)
{
	output_text(output, "{\"function\":");
	output_json(output, function->name);
	output_text(output, ",\"object\":");
	output_json(output, function->object ? ntrace_object_name(function->object) : NULL);
	output_printf(output, ",\"mode\":\"%s\",\"pid\":%d,\"process\":", domain_name(function),
		      function->pid);
	output_json(output, function->comm);
	output_printf(output, ",\"instructions\":%" PRIu64 ",\"calls\":%" PRIu64 "}",
		      function->instructions, function->calls);
}

int top_json(struct output *output, const struct top_window *window, size_t limit)
{
	const struct ntrace_profile_totals *totals = ntrace_profile_totals(window->profile);
	size_t i;

	/* A signal may end a window after less than a microsecond of traced time. */
	output_printf(output,
		      "{\"window\":%" PRIu64 ",\"cpus\":%u,\"interval_s\":%.9f,\"traced_s\":%.9f,"
		      "\"share\":%.9f,\"decoding_s\":%.6f,\"bytes\":%" PRIu64
		      ",\"lost\":{\"bytes\":%" PRIu64 ",\"exact\":%s,\"places\":%" PRIu64 "}",
		      window->number, window->cpus, window->interval, window->traced,
		      traced_share(window) / 100, window->decoding, window->bytes,
		      window->losses.lost, window->losses.lost_exact ? "true" : "false",
		      window->losses.gaps);
	output_printf(output,
		      ",\"gaps\":%" PRIu64 ",\"errors\":%" PRIu64
		      ",\"instructions\":{\"all\":%" PRIu64 ",\"user\":%" PRIu64
		      ",\"kernel\":%" PRIu64 "},\"note\":",
		      totals->gaps, errors_of(totals), sum(totals->instructions),
		      totals->instructions[NTRACE_DOMAIN_USER],
		      totals->instructions[NTRACE_DOMAIN_KERNEL]);
	output_json(output, window->note);
	output_text(output, ",\"functions\":[");
	for (i = 0; i < window->function_count && (!limit || i < limit); i++) {
		output_text(output, i ? "," : "");
		json_function(output, &window->functions[i]);
	}
	output_text(output, "]}\n");
	return output_flush(output);
}
