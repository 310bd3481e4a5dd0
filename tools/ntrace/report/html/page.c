// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as one page. All sums are computed here; the page contains them as JSON and loads
 * nothing else.
 */
#include <inttypes.h>

#include "common/command.h"
#include "common/ui.h"
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

static void put_text(struct output *output, const char *key, const char *text)
{
	output_printf(output, "\"%s\":", key);
	output_json_script(output, text);
	output_char(output, ',');
}

static void put_totals(const struct html_report *report, struct output *output)
{
	const struct ntrace_profile_totals *sums = ntrace_profile_totals(report->profile);
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < NTRACE_DOMAINS; i++)
		all += sums->instructions[i];
	output_printf(output,
		      "\"instructions\":{\"all\":%" PRIu64 ",\"selected\":%" PRIu64
		      ",\"user\":%" PRIu64 ",\"kernel\":%" PRIu64 "}",
		      all, sums->selected, sums->instructions[NTRACE_DOMAIN_USER],
		      sums->instructions[NTRACE_DOMAIN_KERNEL]);
}

static int put_page(struct html *html, struct output *output)
{
	const struct html_report *report = html->report;
	int error;

	output_text(output, html_head);
	output_text(output, html_style);
	output_text(output, html_body);
	output_char(output, '{');
	put_text(output, "recording", report->path);
	put_text(output, "command", report->description ? report->description->command : "");
	output_printf(output, "\"raw\":%s,", report->recording->raw ? "true" : "false");
	put_totals(report, output);
	html_put_losses(html, output);
	html_put_functions(html, output);
	error = html_put_branches(html, output);
	if (!error)
		error = html_put_stacks(report->stacks, output);
	html_put_occupancy(ntrace_profile_occupancy(report->profile), output);
	html_put_files(html, output);
	output_text(output, "}\n</script>\n<script>\n");
	output_text(output, html_script);
	output_text(output, "</script>\n</body>\n</html>\n");
	return error;
}

static int write_page(struct html *html, struct output_file *file, const char *path)
{
	int error = html_prepare(html);

	if (!error) {
		html_name_files(html);
		if (output_file_open(file, path))
			return EXIT_FAILED;
		error = put_page(html, file->output);
	}
	return error ? fail("%s: %s", path, ntrace_strerror(error)) : EXIT_OK;
}

int html_write(const struct html_report *report, struct output_file *file, const char *path)
{
	struct html html = { .report = report };
	int status = write_page(&html, file, path);

	ntrace_coverage_free(html.coverage);
	html_notes_free(&html);
	return status;
}
