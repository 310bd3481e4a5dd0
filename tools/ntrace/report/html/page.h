/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace report --html: a self-contained page about a recording, for a browser. */
#ifndef NTRACE_TOOL_REPORT_HTML_PAGE_H
#define NTRACE_TOOL_REPORT_HTML_PAGE_H

#include <ntrace/functions.h>
#include <ntrace/stacks.h>

#include "common/input.h"
#include "common/output_file.h"

/**
 * struct html_report - contents of the page
 * @path: path of the recording
 * @roots: see files_roots()
 * @description: may be NULL
 * @profile: with traces, functions and occupancy
 * @functions: of @profile, with totals, in the order to show
 * @stacks: with threads of the same name merged
 */
struct html_report {
	const char *path;
	const char *const *roots;
	const struct recording *recording;
	const struct recording_totals *totals;
	const struct ntrace_recording *description;
	struct ntrace_profile *profile;
	const struct ntrace_profile_function *functions;
	size_t function_count;
	struct ntrace_stacks *stacks;
};

/**
 * html_write - write the page
 * @file: opened here, when every source that the page shows is known as an input; write errors stay in its output
 * @path: see output_file_open()
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message; the caller closes @file with its status.
 */
int html_write(const struct html_report *report, struct output_file *file, const char *path);

#endif /* NTRACE_TOOL_REPORT_HTML_PAGE_H */
