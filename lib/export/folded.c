// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Folded stacks: a line "thread;outermost;...;innermost COUNT" for each stack, which flamegraph.pl,
 * inferno and Speedscope read.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/text.h>

#include "stacks.h"

/**
 * struct line - the text of the present stack
 * @ends: where that of each depth ends
 */
struct line {
	char *text;
	size_t room;
	uint32_t *ends;
};

/* The stack of @node, whose callers are in the line. Return: its length; 0: no memory. */
static size_t set_name(struct line *line, const struct ntrace_stack_node *node, const char *name)
{
	size_t begin = line->ends[node->depth - 1], length, room = line->room;
	char *cleaned, *text = line->text;

	name = ntrace_text_clean(name, &cleaned);
	length = strlen(name);
	while (room - begin < length + 1)
		room = 2 * room + 64;
	if (room != line->room)
		text = realloc(line->text, room);
	if (!text) {
		free(cleaned);
		return 0;
	}
	line->text = text;
	line->room = room;
	if (node->depth > 1)
		text[begin++] = ';';
	memcpy(text + begin, name, length);
	free(cleaned);
	/* No name can contain what separates them. */
	for (text += begin;
	     (text = memchr(text, ';', length - (size_t)(text - line->text - begin)));)
		*text = ':';
	line->ends[node->depth] = (uint32_t)(begin + length);
	return begin + length;
}

/* Nodes come after their callers, so each one changes the end of the line only. */
int put_folded(const struct stacks_export *export)
{
	struct line line = { .ends = export->path };
	int error = 0;

	export->path[0] = 0;
	for (size_t i = 1; i < export->node_count && !error; i++) {
		const struct ntrace_stack_node *node = &export->nodes[i];
		size_t length = set_name(&line, node, export->names[node->function]);

		if (!length)
			error = NTRACE_ERR_NOMEM;
		else if (node->instructions && fwrite(line.text, 1, length, export->file) == length)
			fprintf(export->file, " %" PRIu64 "\n", node->instructions);
	}
	free(line.text);
	return error;
}
