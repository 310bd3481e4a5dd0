/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace report --html: a self-contained page about a recording, for a browser. */
#ifndef NTRACE_TOOL_REPORT_HTML_PAGE_H
#define NTRACE_TOOL_REPORT_HTML_PAGE_H

#include <ntrace/profile.h>
#include <ntrace/stacks.h>

#include "common/input.h"
#include "common/output.h"
#include "profile/profile.h"
#include "profile/timeline.h"

struct html;

/**
 * struct html_options - contents of the page
 * @path: path of the recording
 * @sysroot: files of the recorded machine; NULL = "/"
 * @selection: events to count
 */
struct html_options {
	const char *path;
	const char *sysroot;
	struct ntrace_profile_options selection;
};

/** html_new - Return: NULL when out of memory */
struct html *html_new(const struct html_options *options);
void html_free(struct html *html);

/** html_event - add an event. Return: 0, or 1 when out of memory */
int html_event(struct html *html, const struct ntrace_session_event *event);

/** html_end - the stream ends. Return: as html_event() */
int html_end(struct html *html);

/**
 * struct html_report - results of other accumulators
 * @description: may be NULL
 * @profile: sorted, with totals
 * @timeline: of all events
 * @stacks: with threads of the same name merged
 */
struct html_report {
	const struct recording *recording;
	const struct recording_totals *totals;
	const struct ntrace_recording *description;
	const struct profile *profile;
	const struct timeline *timeline;
	struct ntrace_stacks *stacks;
};

/** html_write - write the page; write errors stay in @output. Return: 0 or enum ntrace_error */
int html_write(struct html *html, const struct html_report *report, struct output *output);

#endif /* NTRACE_TOOL_REPORT_HTML_PAGE_H */
