// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Valgrind's format of profiles with a call graph, which callgrind_annotate and KCachegrind read:
 * the instructions of each function itself, and its calls with all instructions executed in them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "line_text.h"
#include "stacks.h"

/* Writes the rest of a line: a newline ends it, and the format has no quoting. */
static void put_callgrind_text(FILE *file, const char *text)
{
	put_line_text(file, text, '\n', ' ');
	putc('\n', file);
}

/* Writes @prefix and a name; only the first use contains the name's text. */
static void put_short(FILE *file, const char *prefix, size_t id, const char *name, bool *written)
{
	fprintf(file, "%s=(%zu)%s", prefix, id + 1, *written ? "" : " ");
	put_callgrind_text(file, *written ? "" : name);
	*written = true;
}

/* The number of an object is that of its first function. There are few objects. */
static size_t *number_objects(const struct stacks_export *export)
{
	size_t *number = calloc(2 * export->function_count + 1, sizeof(*number));
	size_t *firsts, count = 0, i, k;

	if (!number)
		return NULL;
	firsts = number + export->function_count;
	for (i = 0; i < export->function_count; i++) {
		for (k = 0; k < count; k++)
			if (export->functions[firsts[k]].object == export->functions[i].object)
				break;
		if (k == count)
			firsts[count++] = i;
		number[i] = firsts[k];
	}
	return number;
}

/*
 * @objects: number of each function's object
 * @file_written: whether the object's file name has been written
 * @name_written: whether the function's name has been written
 */
struct callgrind {
	const struct stacks_export *export;
	size_t *objects;
	bool *object_written;
	bool *file_written;
	bool *name_written;
};

/*
 * Writes object, file and function; @prefix "c" means the callee. Source files are unknown and
 * replaced by "[OBJECT]", since callgrind_annotate adds up functions of the same file and name.
 */
static void put_place(struct callgrind *callgrind, const char *prefix, size_t index)
{
	const struct stacks_export *export = callgrind->export;
	const struct ntrace_stack_function *function = &export->functions[index];
	size_t object = callgrind->objects[index];
	char keyword[8], name[256];

	snprintf(keyword, sizeof(keyword), "%sob", prefix);
	put_short(export->file, keyword, object,
		  function->object ? ntrace_object_name(function->object) : "[unknown]",
		  &callgrind->object_written[object]);
	snprintf(keyword, sizeof(keyword), *prefix ? "cfi" : "fl");
	snprintf(name, sizeof(name), "[%s]",
		 function->object ? ntrace_object_short_name(function->object) : "unknown");
	put_short(export->file, keyword, object, name, &callgrind->file_written[object]);
	snprintf(keyword, sizeof(keyword), "%sfn", prefix);
	put_short(export->file, keyword, index, export->names[index],
		  &callgrind->name_written[index]);
}

/*
 * Writes a function: its own instructions, and its calls with all instructions executed in them.
 * Threads are functions too, which call the outermost ones. The call tree has no lines.
 */
static void put_callgrind_function(struct callgrind *callgrind, size_t index, size_t *edge)
{
	const struct stacks_export *export = callgrind->export;

	put_place(callgrind, "", index);
	fprintf(export->file, "0 %" PRIu64 "\n", export->functions[index].instructions);
	for (; *edge < export->edge_count && export->edges[*edge].caller == index; ++*edge) {
		const struct ntrace_stack_edge *call = &export->edges[*edge];

		put_place(callgrind, "c", call->callee);
		/* A callee without a seen call needs 1: with 0, its cost would go to the caller. */
		fprintf(export->file, "calls=%" PRIu64 " 0\n0 %" PRIu64 "\n",
			call->calls ? call->calls : 1, call->total);
	}
	fputc('\n', export->file);
}

static void put_callgrind_functions(struct callgrind *callgrind)
{
	const struct stacks_export *export = callgrind->export;
	size_t edge = 0, i;

	fputs("# callgrind format\nversion: 1\ncreator: ntrace\ncmd: ", export->file);
	put_callgrind_text(export->file, export->title);
	fprintf(export->file,
		"part: 1\npositions: line\nevents: Instructions\nsummary: %" PRIu64 "\n\n",
		export->total);
	/* The last function is the root, the parent of all threads. */
	for (i = 0; i + 1 < export->function_count; i++)
		put_callgrind_function(callgrind, i, &edge);
	fprintf(export->file, "totals: %" PRIu64 "\n", export->total);
}

int put_callgrind(const struct stacks_export *export)
{
	size_t count = export->function_count;
	struct callgrind callgrind = { .export = export,
				       .objects = number_objects(export),
				       .object_written = calloc(count, sizeof(bool)),
				       .file_written = calloc(count, sizeof(bool)),
				       .name_written = calloc(count, sizeof(bool)) };
	bool good = callgrind.objects && callgrind.object_written && callgrind.file_written &&
		    callgrind.name_written;

	if (good)
		put_callgrind_functions(&callgrind);
	free(callgrind.objects);
	free(callgrind.object_written);
	free(callgrind.file_written);
	free(callgrind.name_written);
	return good ? 0 : NTRACE_ERR_NOMEM;
}
