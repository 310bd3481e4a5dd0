/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the parts of `ntrace report`. */
#ifndef NTRACE_TOOL_REPORT_H
#define NTRACE_TOOL_REPORT_H

#include <ntrace/functions.h>
#include <ntrace/occupancy.h>
#include <ntrace/stacks.h>

#include "common/command.h"
#include "common/input.h"
#include "common/output.h"
#include "common/output_file.h"

/**
 * struct report - a recording, its sums, and how to show them
 * @selection: selected privileges, and @filter, once an option selects them
 * @profile: sums of the recording; with traces for --annotate, --html and branch stacks
 * @sums: of @profile, as the following ones, valid after decoding
 * @functions: in the order to show
 * @pc_samples: functions by the PC samples of encoders that take them
 * @occupancy: NULL for branch stacks
 * @stacks: call stacks for totals, callers and callees; else NULL
 * @directories: directories of debug files, if @stacks include inlined frames
 * @label: of a counts file: only this process class; NULL = all
 * @limit: rows of a table; 0 = all
 */
struct report {
	const struct command *command;
	struct recording recording;
	struct recording_options recording_options;
	const struct ntrace_recording *description;
	struct ntrace_profile_options selection;
	struct ntrace_thread_filter filter;
	struct ntrace_profile *profile;
	const struct ntrace_profile_totals *sums;
	const struct ntrace_profile_function *functions;
	size_t function_count;
	const struct ntrace_profile_function *pc_samples;
	size_t pc_sample_count;
	const struct ntrace_occupancy *occupancy;
	struct output *output;
	const char *path;
	const char *html_path;
	struct output_file html;
	struct ntrace_stacks *stacks;
	const char *annotated;
	const char *objdump;
	const char *debug_dir;
	const char *related;
	const char *label;
	char **directories;
	bool callees;
	bool no_inline;
	unsigned int jobs; /* 0 = all processors */
	enum ntrace_profile_order order;
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
void report_json_place(const struct report *report, const struct ntrace_profile_function *function);

/** report_pc_samples_json - the same as a member of a JSON object with a comma before it */
void report_pc_samples_json(const struct report *report);

/** report_json - the report as one JSON object */
void report_json(const struct report *report);

/**
 * report_samples - the report of a perf.data file that has branch stacks
 *
 * @profile exists and is empty. Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int report_samples(struct report *report);

/**
 * report_counts - the report of a counts file, which is not open
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int report_counts(struct report *report);

#endif /* NTRACE_TOOL_REPORT_H */
