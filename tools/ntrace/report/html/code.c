// SPDX-License-Identifier: GPL-2.0-only
/* Control transfers and source lines, for the page. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/debug_info.h"
#include "common/place_name.h"
#include "data.h"

#define BRANCHES_MAX 2000
/* Limits of source text in the page: for one file, and for all. */
#define TEXT_MAX (1u << 20)
#define TEXTS_MAX (4u << 20)

static void put_place(struct ntrace_object *object, uint64_t address, struct output *output)
{
	char text[1024];

	output_json_script(output, place_name(text, sizeof(text), object, address));
}

/* "file.c:12", or nothing */
static void put_line(const struct html *html, const struct ntrace_profile_edge *edge,
		     struct output *output)
{
	const struct ntrace_lines *lines =
		ntrace_coverage_lines_of(html->coverage, edge->from_object);
	const struct ntrace_line *line = lines ? ntrace_lines_find(lines, edge->from) : NULL;
	const char *slash;
	char text[512] = "";

	if (line && line->line) {
		slash = strrchr(line->file, '/');
		snprintf(text, sizeof(text), "%.400s:%" PRIu32, slash ? slash + 1 : line->file,
			 line->line);
	}
	output_json_script(output, text);
}

static void put_edge(const struct html *html, const struct ntrace_profile_edge *edge,
		     struct output *output)
{
	put_place(edge->from_object, edge->from, output);
	output_char(output, ',');
	put_place(edge->object, edge->to, output);
	output_char(output, ',');
	put_line(html, edge, output);
	output_printf(output, ",\"%s\",%" PRIu64 ",%" PRIu64,
		      ntrace_insn_class_name(edge->from_class), edge->taken, edge->executed);
}

int html_put_branches(struct html *html, struct output *output)
{
	const struct ntrace_profile_edge *edges;
	size_t count, i;
	int error = ntrace_profile_edges(html->report->profile, &edges, &count);

	if (error)
		return error;
	if (count > BRANCHES_MAX) {
		html->branches_dropped = count - BRANCHES_MAX;
		count = BRANCHES_MAX;
	}
	output_text(output, ",\"branches\":[");
	for (i = 0; i < count; i++) {
		output_text(output, i ? ",\n[" : "[");
		put_edge(html, &edges[i], output);
		output_char(output, ']');
	}
	output_printf(output, "],\"dropped\":{\"functions\":%" PRIu64 ",\"branches\":%" PRIu64 "}",
		      html->functions_dropped, html->branches_dropped);
	return 0;
}

/* Lines of one file, and their branches. */
struct covered_file {
	const struct ntrace_coverage_line *lines;
	size_t count;
	size_t executed;
	uint64_t most;
	const struct ntrace_object *program;	/* the oldest that has code of it */
};

static int by_most(const void *left, const void *right)
{
	const struct covered_file *a = left, *b = right;

	if (a->most != b->most)
		return a->most < b->most ? 1 : -1;
	return strcmp(a->lines->file, b->lines->file);
}

static int compare_name(const void *name, const void *file)
{
	return strcmp(name, ((const struct covered_file *)file)->lines->file);
}

static bool is_older(const struct ntrace_object *program, const struct ntrace_object *than)
{
	struct stat status;

	return !than ||
	       (ntrace_object_path(program) && !stat(ntrace_object_path(program), &status) &&
		!source_is_newer(than, status.st_mtime));
}

/* Finds the programs of files, which are sorted by name. */
static void find_programs(const struct html *html, struct covered_file *files, size_t file_count)
{
	const struct ntrace_profile_object *objects;
	size_t count, line_count, i, k;

	objects = ntrace_profile_objects(html->report->profile, &count);
	for (i = 0; i < count; i++) {
		const struct ntrace_lines *lines =
			ntrace_coverage_lines_of(html->coverage, objects[i].object);
		const struct ntrace_line *line = lines ? ntrace_lines_all(lines, &line_count) :
							 NULL;
		const char *last = NULL;

		for (k = 0; line && k < line_count; k++) {
			struct covered_file *file = line[k].file == last ?
							    NULL :
							    bsearch(line[k].file, files, file_count,
								    sizeof(*files), compare_name);

			last = line[k].file;
			if (file && is_older(objects[i].object, file->program))
				file->program = objects[i].object;
		}
	}
}

/* Files with executed lines, hottest first. NULL when out of memory. */
static struct covered_file *collect_files(const struct html *html, size_t *count)
{
	const struct ntrace_coverage *coverage = html->coverage;
	const struct ntrace_coverage_line *lines;
	struct covered_file *files, *file = NULL;
	size_t line_count, kept = 0, i;

	lines = ntrace_coverage_lines(coverage, &line_count);
	files = calloc(line_count + 1, sizeof(*files));
	if (!files)
		return NULL;
	for (i = 0; i < line_count; i++) {
		if (!file || strcmp(file->lines->file, lines[i].file)) {
			if (!file || file->executed)
				file = &files[kept++];
			*file = (struct covered_file){ .lines = &lines[i] };
		}
		file->count++;
		file->executed += lines[i].executed != 0;
		if (file->most < lines[i].executed)
			file->most = lines[i].executed;
	}
	if (file && !file->executed)
		kept--;
	find_programs(html, files, kept);
	qsort(files, kept, sizeof(*files), by_most);
	*count = kept;
	return files;
}

/* The text of a file, to be freed; NULL if it is missing, binary or too large. */
static char *read_text(const char *const *roots, const char *path, size_t room, time_t *changed)
{
	size_t size;
	char *text = read_source(path, roots, room, &size, changed);

	if (text && strlen(text) != size) {
		free(text);
		text = NULL;
	}
	return text;
}

static const struct ntrace_coverage_branch *first_branch(const struct ntrace_coverage *coverage,
							 const char *file, size_t *count)
{
	const struct ntrace_coverage_branch *branches = ntrace_coverage_branches(coverage, count);

	while (*count && strcmp(branches->file, file)) {
		branches++;
		--*count;
	}
	return branches;
}

static void put_file_lines(const struct html *html, const struct covered_file *file,
			   struct output *output)
{
	const struct ntrace_coverage_branch *branch;
	size_t branches, i;

	branch = first_branch(html->coverage, file->lines->file, &branches);
	output_text(output, "\"lines\":[");
	for (i = 0; i < file->count; i++) {
		output_printf(output, "%s[%" PRIu32 ",%" PRIu64, i ? "," : "", file->lines[i].line,
			      file->lines[i].executed);
		for (; branches && !strcmp(branch->file, file->lines->file) &&
		       branch->line <= file->lines[i].line;
		     branch++, branches--)
			output_printf(output, ",%" PRIu64 ",%" PRIu64, branch->taken,
				      branch->executed);
		output_char(output, ']');
	}
	output_char(output, ']');
}

void html_name_files(const struct html *html)
{
	size_t count = 0, i;
	struct covered_file *files = collect_files(html, &count);

	for (i = 0; files && i < count; i++)
		name_source(files[i].lines->file, html->report->roots);
	free(files);
}

void html_put_files(const struct html *html, struct output *output)
{
	size_t room = TEXTS_MAX, count = 0, i;
	struct covered_file *files = collect_files(html, &count);

	output_text(output, ",\"files\":[");
	for (i = 0; files && i < count; i++) {
		time_t changed;
		char *text = read_text(html->report->roots, files[i].lines->file,
				       room < TEXT_MAX ? room : TEXT_MAX, &changed);

		output_text(output, i ? ",\n{\"name\":" : "{\"name\":");
		output_json_script(output, files[i].lines->file);
		output_printf(output, ",\"count\":%zu,\"executed\":%zu,", files[i].count,
			      files[i].executed);
		put_file_lines(html, &files[i], output);
		if (text && files[i].program && source_is_newer(files[i].program, changed))
			output_text(output, ",\"note\":\"The source " SOURCE_NEWER_NOTE ".\"");
		if (text) {
			output_text(output, ",\"text\":");
			output_json_script(output, text);
			room -= strlen(text);
		}
		free(text);
		output_char(output, '}');
	}
	output_char(output, ']');
	free(files);
}
