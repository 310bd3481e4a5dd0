/* SPDX-License-Identifier: GPL-2.0-only */
/* Writers of the page's data, one for each part; page.js reads it. */
#ifndef NTRACE_TOOL_REPORT_HTML_DATA_H
#define NTRACE_TOOL_REPORT_HTML_DATA_H

#include <ntrace/coverage.h>
#include <ntrace/occupancy.h>

#include "page.h"

#define HTML_NOTES_MAX 32

struct html {
	const struct html_report *report;
	struct ntrace_coverage *coverage;
	char *notes[HTML_NOTES_MAX];	/* objects without lines */
	size_t note_count;
	uint64_t functions_dropped;
	uint64_t branches_dropped;
};

/* Makes the coverage. Return: 0 or enum ntrace_error. */
int html_prepare(struct html *html);
void html_notes_free(struct html *html);

/* Names the sources, which are inputs, before there is output. */
void html_name_files(const struct html *html);

/* Each writes ",key:value" for the page. */
void html_put_losses(const struct html *html, struct output *output);
void html_put_functions(struct html *html, struct output *output);
int html_put_branches(struct html *html, struct output *output);
int html_put_stacks(struct ntrace_stacks *stacks, struct output *output);
void html_put_occupancy(const struct ntrace_occupancy *occupancy, struct output *output);
void html_put_files(const struct html *html, struct output *output);

#endif /* NTRACE_TOOL_REPORT_HTML_DATA_H */
