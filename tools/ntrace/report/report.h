/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of `ntrace report` share. */
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
 * struct report - a recording, all that was added up of it, and how to show it
 * @samples: of the PC, of encoders that take some; with the selection of @profile
 * @html: NULL unless --html
 * @traces: for --annotate, and of samples; else NULL
 * @stacks: for totals, callers and callees; NULL if those are not wanted
 * @directories: of debug files, where @stacks have what was inlined
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

/** report_count - rows to show, of so many */
size_t report_count(const struct report *report, size_t count);

/** report_instructions - all that were executed, whatever is selected */
uint64_t report_instructions(const struct report *report);

/**
 * report_text - the report as text: totals, losses, and the table of functions or threads
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int report_text(const struct report *report);

/** report_losses - the line of it that tells what was lost */
void report_losses(const struct report *report);

/** report_pc_samples - the table of PC samples, if there are any */
void report_pc_samples(const struct report *report);

/** report_json_place - which function it is, and whose: how an object of a table of functions begins */
void report_json_place(const struct report *report, const struct function *function,
		       bool by_process);

/** report_pc_samples_json - the same as a member of a JSON object with a comma before it */
void report_pc_samples_json(const struct report *report);

/** report_json - the report as one JSON object */
void report_json(const struct report *report);

/**
 * report_samples - the report of a perf.data file that has branch stacks
 *
 * @traces is there and empty. Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int report_samples(struct report *report);

#endif /* NTRACE_TOOL_REPORT_H */
