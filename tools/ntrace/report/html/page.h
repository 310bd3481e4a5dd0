/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace report --html: one page with all of a recording, for a browser without a network. */
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
 * struct html_options - what the page is about
 * @path: of the recording
 * @sysroot: files of the recorded machine; NULL = "/"
 * @selection: what counts
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
 * struct html_report - what others found out
 * @description: NULL if there is none
 * @profile: sorted, with totals
 * @timeline: of all events
 * @stacks: threads of the same name as one
 */
struct html_report {
	const struct recording *recording;
	const struct recording_totals *totals;
	const struct ntrace_recording *description;
	const struct profile *profile;
	const struct timeline *timeline;
	struct ntrace_stacks *stacks;
};

/** html_write - write the page; errors of writing stay in @output. Return: 0 or enum ntrace_error */
int html_write(struct html *html, const struct html_report *report, struct output *output);

#endif /* NTRACE_TOOL_REPORT_HTML_PAGE_H */
