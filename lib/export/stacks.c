// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Exports of call stacks: what they start from, and the formats that are lines of text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"
#include "struct_size.h"

char *stack_frame_name(unsigned int kind, const char *name)
{
	char *text = NULL;

	if (kind == NTRACE_STACK_FUNCTION)
		return ntrace_demangle(name);
	if (kind != NTRACE_STACK_OBJECT || *name == '[')
		return strdup(name);
	return asprintf(&text, "[%s]", name) < 0 ? NULL : text;
}

/* Of a path, what ends a name in this format is written as ':'. */
static void put_folded_name(FILE *file, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' || *name == '\n' ? ':' : *name, file);
}

int put_folded(const struct stacks_export *export)
{
	const struct ntrace_stack_node *node;
	uint32_t depth;
	size_t i;

	for (i = 0; i < export->node_count; i++) {
		node = &export->nodes[i];
		export->path[node->depth] = node->function;
		if (!node->instructions)
			continue;
		for (depth = 1; depth <= node->depth; depth++) {
			put_folded_name(export->file, export->names[export->path[depth]]);
			putc(depth < node->depth ? ';' : ' ', export->file);
		}
		fprintf(export->file, "%" PRIu64 "\n", node->instructions);
	}
	return 0;
}

/* The rest of a line of callgrind's: the end of the line ends it, and nothing quotes that. */
static void put_callgrind_text(FILE *file, const char *text)
{
	for (; *text; text++)
		putc(*text == '\n' ? ' ' : *text, file);
	putc('\n', file);
}

/* @prefix and a name, which is written out at its first use only. */
static void put_short(FILE *file, const char *prefix, size_t id, const char *name, bool *written)
{
	fprintf(file, "%s=(%zu)%s", prefix, id + 1, *written ? "" : " ");
	put_callgrind_text(file, *written ? "" : name);
	*written = true;
}

/* Each object gets the number of the first function that has it. There are few objects. */
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
 * @objects: of each function the number of its object
 * @file_written: that the object's names have been written
 * @name_written: that the function's name has been
 */
struct callgrind {
	const struct stacks_export *export;
	size_t *objects;
	bool *object_written;
	bool *file_written;
	bool *name_written;
};

/*
 * Object, file and function, with @prefix "c" as the callee. Source files are not known; "[OBJECT]"
 * stands for them, since callgrind_annotate adds up functions of the same file and name.
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
 * A function: its own instructions, and its calls with all that was executed
 * in them. Threads are functions, too, that call the outermost ones. There are no
 * lines: those cannot be told from the call tree.
 */
static void put_callgrind_function(struct callgrind *callgrind, size_t index, size_t *edge)
{
	const struct stacks_export *export = callgrind->export;

	put_place(callgrind, "", index);
	fprintf(export->file, "0 %" PRIu64 "\n", export->functions[index].instructions);
	for (; *edge < export->edge_count && export->edges[*edge].caller == index; ++*edge) {
		const struct ntrace_stack_edge *call = &export->edges[*edge];

		put_place(callgrind, "c", call->callee);
		/* What nobody was seen to call is there all the same; 0 would be its caller's cost. */
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
	/* The last one is what all threads hang from. */
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

static const struct {
	const char *name;
	int (*put)(const struct stacks_export *export);
} formats[NTRACE_EXPORT_STACKS_FORMATS] = {
	[NTRACE_EXPORT_FOLDED] = { "folded", put_folded },
	[NTRACE_EXPORT_CALLGRIND] = { "callgrind", put_callgrind },
	[NTRACE_EXPORT_PPROF] = { "pprof", put_pprof },
	[NTRACE_EXPORT_SPEEDSCOPE] = { "speedscope", put_speedscope },
};

const char *ntrace_export_stacks_name(unsigned int format)
{
	return format < NTRACE_EXPORT_STACKS_FORMATS ? formats[format].name : NULL;
}

/* "NAME_[i]", as perf's and bcc's scripts write folded stacks, and flame graphs colour them. */
static char *mark_inlined(char *name)
{
	char *text = NULL;

	if (name && asprintf(&text, "%s_[i]", name) < 0)
		text = NULL;
	free(name);
	return text;
}

/* "NAME-PID/TID" where threads are kept apart. Return: to be freed; NULL when out of memory. */
static char *name_of(const struct ntrace_stack_function *function, unsigned int format)
{
	char *text;

	if (function->kind != NTRACE_STACK_TASK || function->tid < 0) {
		text = stack_frame_name(function->kind, function->name);
		/* A location of pprof tells by itself what is inlined there. */
		return function->inlined && format != NTRACE_EXPORT_PPROF ? mark_inlined(text) :
									    text;
	}
	return asprintf(&text, "%s-%" PRId32 "/%" PRId32, function->name, function->pid,
			function->tid) < 0 ?
		       NULL :
		       text;
}

static int fill(struct stacks_export *export, struct ntrace_stacks *stacks, unsigned int format)
{
	uint32_t deepest = 0;
	size_t i;

	export->functions = ntrace_stacks_functions(stacks, &export->function_count);
	export->nodes = ntrace_stacks_nodes(stacks, &export->node_count);
	export->edges = ntrace_stacks_edges(stacks, &export->edge_count);
	/* There is always one that all hangs from. */
	if (!export->function_count)
		return NTRACE_ERR_NOMEM;
	export->total = export->nodes[0].total;
	if (!export->nodes[0].total_ticks)
		export->timestamp_hz = 0;
	export->names = calloc(export->function_count, sizeof(*export->names));
	for (i = 0; export->names && i < export->function_count; i++) {
		export->names[i] = name_of(&export->functions[i], format);
		if (!export->names[i])
			return NTRACE_ERR_NOMEM;
	}
	for (i = 0; i < export->node_count; i++)
		if (export->nodes[i].depth > deepest)
			deepest = export->nodes[i].depth;
	export->path = calloc((size_t)deepest + 1, sizeof(*export->path));
	return export->names && export->path ? 0 : NTRACE_ERR_NOMEM;
}

int ntrace_export_stacks(FILE *file, struct ntrace_stacks *stacks, unsigned int format,
			 const struct ntrace_export_stacks_options *options)
{
	struct ntrace_export_stacks_options wanted = { 0 };
	struct stacks_export export = { .file = file, .title = "?" };
	size_t i;
	int error;

	if (format >= NTRACE_EXPORT_STACKS_FORMATS || (options && STRUCT_TAKE(&wanted, options)))
		return NTRACE_ERR_INVALID;
	if (wanted.title)
		export.title = wanted.title;
	export.timestamp_hz = wanted.timestamp_hz;
	error = fill(&export, stacks, format);
	if (!error)
		error = formats[format].put(&export);
	if (!error && ferror(file))
		error = NTRACE_ERR_IO;
	for (i = 0; export.names && i < export.function_count; i++)
		free(export.names[i]);
	free(export.names);
	free(export.path);
	return error;
}
