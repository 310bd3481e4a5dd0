/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the parts of `ntrace report`. */
#ifndef NTRACE_TOOL_REPORT_H
#define NTRACE_TOOL_REPORT_H

#include <ntrace/stacks.h>

#include "common/command.h"
#include "common/input.h"
#include "common/output.h"
#include "profile/profile.h"
#include "profile/timeline.h"
#include "report/html/page.h"

/**
 * struct report - a recording, its sums, and how to show them
 * @samples: PC samples of encoders that take them; selected like @profile
 * @html: NULL without --html
 * @traces: for --annotate and for samples; else NULL
 * @stacks: for totals, callers and callees; else NULL
 * @directories: directories of debug files, if @stacks include inlined frames
 * @limit: rows of a table; 0 = all
 */
struct report {
	const struct command *command;
	struct recording recording;
	struct recording_options recording_options;
	const struct ntrace_recording *description;
	struct profile profile;
	struct profile samples;
	struct timeline timeline;
	struct output *output;
	struct html *html;
	const char *path;
	const char *html_path;
	struct ntrace_profile *traces;
	struct ntrace_stacks *stacks;
	const char *annotated;
	const char *objdump;
	const char *debug_dir;
	const char *related;
	char **directories;
	bool callees;
	bool no_inline;
	enum profile_order order;
	bool by_thread;
	bool json;
	bool colours;
	size_t limit;
	struct recording_totals totals;
};

/** report_count - number of rows to show out of @count */
size_t report_count(const struct report *report, size_t count);

/** report_instructions - all executed instructions, independent of the selection */
uint64_t report_instructions(const struct report *report);

/**
 * report_text - the report as text: totals, losses, and the table of functions or threads
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int report_text(const struct report *report);

/** report_losses - the line about losses */
void report_losses(const struct report *report);

/** report_pc_samples - the table of PC samples, if there are any */
void report_pc_samples(const struct report *report);

/** report_json_place - first members of a table row: the function and its owner */
void report_json_place(const struct report *report, const struct function *function,
		       bool by_process);

/** report_pc_samples_json - the same as a member of a JSON object with a comma before it */
void report_pc_samples_json(const struct report *report);

/** report_json - the report as one JSON object */
void report_json(const struct report *report);

/**
 * report_samples - the report of a perf.data file that has branch stacks
 *
 * @traces exists and is empty. Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int report_samples(struct report *report);

#endif /* NTRACE_TOOL_REPORT_H */
