// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The traces and objects of a profile, and sums of profiles. */
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "parts.h"
#include "saturate.h"
#include "state.h"

/* Forgets the traces of known runs: ids of blocks or numbers of traces mean others from here on. */
static void forget_runs(struct ntrace_profile *profile)
{
	for (unsigned int i = 0; i < profile->stream_count; i++)
		if (profile->streams[i] && profile->streams[i]->known)
			memset(profile->streams[i]->known, 0,
			       KNOWN_RUNS * sizeof(*profile->streams[i]->known));
}

size_t ntrace_profile_trace_count(const struct ntrace_profile *profile)
{
	return profile->table.count;
}

void ntrace_profile_forget_traces(struct ntrace_profile *profile)
{
	forget_runs(profile);
	table_clear(&profile->table);
}

int ntrace_profile_add_trace(struct ntrace_profile *profile,
			     const struct ntrace_profile_trace *trace)
{
	struct ntrace_profile_trace added = *trace;
	int error = profile_find_object(profile, trace->object, &added.object);

	if (!error)
		error = profile_find_object(profile, trace->from_object, &added.from_object);
	if (!profile->options.by_privilege)
		added.privilege = 0;
	added.process = 0;
	if (!error)
		error = table_add(&profile->table, &added);
	if (!error && profile->functions)
		function_sums_add(profile->functions, trace);
	return error;
}

int ntrace_profile_merge(struct ntrace_profile *into, const struct ntrace_profile *from)
{
	struct ntrace_profile_trace trace;
	int error = 0;
	size_t i;

	for (i = 0; i < from->table.count && !error; i++) {
		trace = from->table.traces[i];
		error = profile_find_object(into, trace.object, &trace.object);
		if (!error)
			error = profile_find_object(into, trace.from_object, &trace.from_object);
		if (!error)
			error = function_sums_join_process(into->functions, from->functions,
							   &trace.process);
		if (!into->separate)
			trace.privilege = 0;
		if (!error)
			error = table_add(&into->table, &trace);
	}
	if (into->functions && from->functions && !error)
		error = function_sums_merge(into->functions, into, from->functions);
	return into->functions && !error ? function_sums_make(into->functions, into) : error;
}

const struct ntrace_profile_trace *ntrace_profile_traces(struct ntrace_profile *profile,
							 size_t *count)
{
	forget_runs(profile);
	table_sort_traces(&profile->table);
	*count = profile->table.count;
	return profile->table.traces;
}

static int compare_pointers(const void *left, const void *right)
{
	const struct ntrace_profile_object *a = left, *b = right;
	uintptr_t x = (uintptr_t)a->object, y = (uintptr_t)b->object;

	return x < y ? -1 : x > y;
}

const struct ntrace_profile_object *ntrace_profile_objects(struct ntrace_profile *profile,
							   size_t *count)
{
	struct trace_table *table = &profile->table;
	struct ntrace_profile_object *object = table->objects;
	size_t i;

	for (i = 0; i < table->object_count; i++)
		table->objects[i].instructions = 0;
	if (table->object_count)
		qsort(table->objects, table->object_count, sizeof(*object), compare_pointers);
	for (i = 0; i < table->count; i++) {
		const struct ntrace_profile_trace *trace = &table->traces[i];

		if (!trace->object)
			continue;
		if (object->object != trace->object)
			object = bsearch(&(struct ntrace_profile_object){ .object = trace->object },
					 table->objects, table->object_count, sizeof(*object),
					 compare_pointers);
		object->instructions = add_counts(
			object->instructions, multiply_counts(trace->count, trace->instructions));
	}
	table_sort_objects(table);
	*count = table->object_count;
	/* The last objects are only sources of transfers: none of their code is selected. */
	while (*count && !table->objects[*count - 1].instructions)
		--*count;
	return table->objects;
}
