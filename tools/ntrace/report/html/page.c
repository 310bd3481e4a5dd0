// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as one page. All sums are computed here; the page contains them as JSON and loads
 * nothing else.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "data.h"
#include "page.h"

/* The files of this directory, embedded in the program. */
#define EMBED(symbol, path)                  \
	__asm__(".pushsection .rodata\n"     \
		"html_" #symbol ":\n"        \
		".incbin \"" path "\"\n"     \
		".byte 0\n"                  \
		".popsection\n");            \
	extern const char html_##symbol[]

EMBED(head, "tools/ntrace/report/html/page.html");
EMBED(style, "tools/ntrace/report/html/page.css");
EMBED(body, "tools/ntrace/report/html/body.html");
EMBED(script, "tools/ntrace/report/html/page.js");

struct html *html_new(const struct html_options *options)
{
	struct html *html = calloc(1, sizeof(*html));

	if (!html)
		return NULL;
	html->options = *options;
	if (ntrace_profile_new(&html->traces, &options->selection)) {
		html_free(html);
		return NULL;
	}
	return html;
}

void html_free(struct html *html)
{
	if (!html)
		return;
	ntrace_profile_free(html->traces);
	ntrace_coverage_free(html->coverage);
	html_notes_free(html);
	free(html);
}

int html_event(struct html *html, const struct ntrace_session_event *event)
{
	return ntrace_profile_event(html->traces, event);
}

int html_end(struct html *html)
{
	return ntrace_profile_end(html->traces);
}

static void put_text(struct output *output, const char *key, const char *text)
{
	output_printf(output, "\"%s\":", key);
	output_json_script(output, text);
	output_char(output, ',');
}

static void put_totals(const struct html_report *report, struct output *output)
{
	const struct profile *profile = report->profile;
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		all += profile->instructions[i];
	output_printf(output,
		      "\"instructions\":{\"all\":%" PRIu64 ",\"selected\":%" PRIu64
		      ",\"user\":%" PRIu64 ",\"kernel\":%" PRIu64 "}",
		      all, profile->selected, profile->instructions[PART_USER],
		      profile->instructions[PART_KERNEL]);
}

int html_write(struct html *html, const struct html_report *report, struct output *output)
{
	int error = html_prepare(html);

	if (error)
		return error;
	output_text(output, html_head);
	output_text(output, html_style);
	output_text(output, html_body);
	output_char(output, '{');
	put_text(output, "recording", html->options.path);
	put_text(output, "command", report->description ? report->description->command : "");
	put_totals(report, output);
	html_put_losses(html, report, output);
	html_put_functions(html, report->profile, output);
	error = html_put_branches(html, output);
	if (!error)
		error = html_put_stacks(report->stacks, output);
	html_put_timeline(report->timeline, output);
	html_put_files(html, output);
	output_text(output, "}\n</script>\n<script>\n");
	output_text(output, html_script);
	output_text(output, "</script>\n</body>\n</html>\n");
	return error;
}
