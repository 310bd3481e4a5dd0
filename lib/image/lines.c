// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lines and scopes by address. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "lines.h"
#include "object.h"

static int compare_lines(const void *left, const void *right)
{
	const struct ntrace_line *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* DWARF may describe merged code twice: each byte gets one line. */
static void settle_lines(struct ntrace_lines *lines)
{
	size_t i, kept = 0;

	qsort(lines->lines, lines->line_count, sizeof(*lines->lines), compare_lines);
	for (i = 0; i < lines->line_count; i++) {
		struct ntrace_line line = lines->lines[i];
		struct ntrace_line *before = kept ? &lines->lines[kept - 1] : NULL;

		if (before && line.start < before->end)
			line.start = before->end;
		if (line.start >= line.end)
			continue;
		if (before && before->end == line.start && before->file == line.file &&
		    before->line == line.line && before->discriminator == line.discriminator)
			before->end = line.end;
		else
			lines->lines[kept++] = line;
	}
	lines->line_count = kept;
}

/* Sorts outer ranges before inner ones. */
static int compare_ranges(const void *left, const void *right)
{
	const struct scope_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

struct flattening {
	struct scope_range *pieces;
	size_t count;
	size_t room;
	struct scope_range *open;	/* ranges that contain @position, the innermost last */
	size_t depth;
	uint64_t position;
};

/* Adds a piece of the innermost range, up to @end. */
static int put_piece(struct flattening *flat, uint64_t end)
{
	int error;

	if (flat->position >= end)
		return 0;
	error = grow((void **)&flat->pieces, flat->count, &flat->room, sizeof(*flat->pieces));
	if (error)
		return error;
	flat->pieces[flat->count++] =
		(struct scope_range){ flat->position, end, flat->open[flat->depth - 1].scope };
	flat->position = end;
	return 0;
}

static int close_ranges(struct flattening *flat, uint64_t up_to)
{
	int error = 0;

	while (flat->depth && flat->open[flat->depth - 1].end <= up_to && !error) {
		error = put_piece(flat, flat->open[flat->depth - 1].end);
		flat->depth--;
	}
	return error;
}

/* Splits nested ranges into consecutive pieces. */
static int settle_ranges(struct ntrace_lines *lines)
{
	struct flattening flat = { 0 };
	int error = 0;
	size_t i;

	if (!lines->range_count)
		return 0;
	qsort(lines->ranges, lines->range_count, sizeof(*lines->ranges), compare_ranges);
	flat.open = calloc(lines->range_count + 1, sizeof(*flat.open));
	if (!flat.open)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < lines->range_count && !error; i++) {
		struct scope_range range = lines->ranges[i];

		error = close_ranges(&flat, range.start);
		if (!error && flat.depth) {
			error = put_piece(&flat, range.start);
			/* A range that extends beyond its parent is cut at the parent's end. */
			if (range.end > flat.open[flat.depth - 1].end)
				range.end = flat.open[flat.depth - 1].end;
		}
		flat.position = range.start;
		flat.open[flat.depth++] = range;
	}
	if (!error)
		error = close_ranges(&flat, UINT64_MAX);
	free(flat.open);
	free(lines->ranges);
	lines->ranges = flat.pieces;
	lines->range_count = flat.count;
	return error;
}

int lines_settle(struct ntrace_lines *lines)
{
	if (!lines->line_count)
		return NTRACE_ERR_UNSUPPORTED;
	settle_lines(lines);
	return settle_ranges(lines);
}

int lines_find_debug_file(struct ntrace_object *object, const char *const *directories)
{
	if (!object->mapped)
		return NTRACE_ERR_UNSUPPORTED;
	/* Reading the DWARF later shows whether a debug file was found. */
	(void)ntrace_object_add_debug_file(object, directories);
	return 0;
}

static int read_all(struct ntrace_lines *lines)
{
	struct debug_unit unit = { 0 };
	int error = debug_info_open(&lines->info, lines->object);

	while (!error) {
		error = debug_info_next(&lines->info, &unit);
		if (!error)
			error = lines_read_unit(lines, &unit);
	}
	return error == DEBUG_INFO_END ? lines_settle(lines) : error;
}

int ntrace_lines_open(struct ntrace_lines **lines, struct ntrace_object *object,
		      const char *const *directories)
{
	struct ntrace_lines *made;
	int error = lines_find_debug_file(object, directories);

	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->object = ntrace_object_get(object);
	error = read_all(made);
	if (error) {
		ntrace_lines_close(made);
		return error;
	}
	*lines = made;
	return 0;
}

void ntrace_lines_close(struct ntrace_lines *lines)
{
	if (!lines)
		return;
	debug_info_close(&lines->info);
	tdestroy(lines->files, free);
	free(lines->lines);
	free(lines->scopes);
	free(lines->ranges);
	free(lines->zeros);
	ntrace_object_put(lines->object);
	free(lines);
}

const struct ntrace_line *ntrace_lines_all(const struct ntrace_lines *lines, size_t *count)
{
	*count = lines->line_count;
	return lines->lines;
}

const struct ntrace_line *ntrace_lines_find(const struct ntrace_lines *lines, uint64_t address)
{
	size_t low = 0;

	BISECT(low, lines->line_count, middle, lines->lines[middle].end <= address);
	if (low == lines->line_count || lines->lines[low].start > address)
		return NULL;
	return &lines->lines[low];
}

const struct ntrace_scope *ntrace_lines_scopes(const struct ntrace_lines *lines, size_t *count)
{
	*count = lines->scope_count;
	return lines->scopes;
}

uint32_t ntrace_lines_scope(const struct ntrace_lines *lines, uint64_t address)
{
	size_t low = 0;

	BISECT(low, lines->range_count, middle, lines->ranges[middle].end <= address);
	if (low == lines->range_count || lines->ranges[low].start > address)
		return NTRACE_NO_SCOPE;
	return lines->ranges[low].scope;
}
