// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Exports of call stacks: the list of formats and their common input. */
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

/*
 * "NAME_[i]", as in the folded stacks of perf's and bcc's scripts; flame graphs colour such names.
 */
static char *mark_inlined(char *name)
{
	char *text = NULL;

	if (name && asprintf(&text, "%s_[i]", name) < 0)
		text = NULL;
	free(name);
	return text;
}

/* "NAME-PID/TID" if threads are distinguished. Return: to be freed; NULL when out of memory. */
static char *name_of(const struct ntrace_stack_function *function, unsigned int format)
{
	const char *name = function->name;
	char *text;

	if (function->kind != NTRACE_STACK_TASK || function->tid < 0) {
		text = stack_frame_name(function->kind, name);
		/* In pprof, the location shows which functions are inlined. */
		return function->inlined && format != NTRACE_EXPORT_PPROF ? mark_inlined(text) :
									    text;
	}
	return asprintf(&text, "%s-%" PRId32 "/%" PRId32, name, function->pid, function->tid) < 0 ?
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
	/* Without an error, at least the root exists. */
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
