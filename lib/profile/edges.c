// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Control transfers of a profile, by source and target. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/functions.h>

#include "compare.h"
#include "parts.h"
#include "saturate.h"
#include "state.h"

/* From @address on, instructions were executed @change times more. */
struct step {
	const struct ntrace_object *object;
	uint64_t address;
	__int128 change;
};

static int compare_places(const struct ntrace_object *a, uint64_t address_of_a,
			  const struct ntrace_object *b, uint64_t address_of_b)
{
	int order = compare_numbers((uintptr_t)a, (uintptr_t)b);

	return order ? order : compare_numbers(address_of_a, address_of_b);
}

static int by_step(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	return compare_places(a->object, a->address, b->object, b->address);
}

static int by_place(const void *left, const void *right)
{
	const struct ntrace_profile_edge *a = left, *b = right;
	int order = compare_places(a->from_object, a->from, b->from_object, b->from);

	return order ? order : compare_places(a->object, a->to, b->object, b->to);
}

/* For equal counts, the order must not depend on addresses in memory. */
static int by_taken(const void *left, const void *right)
{
	const struct ntrace_profile_edge *a = left, *b = right;
	int order = compare_numbers(b->taken, a->taken);

	if (!order)
		order = table_compare_objects(a->from_object, b->from_object);
	if (!order)
		order = compare_numbers(a->from, b->from);
	if (!order)
		order = table_compare_objects(a->object, b->object);
	return order ? order : compare_numbers(a->to, b->to);
}

/* Return: number of edges, sorted by place. */
static size_t collect(struct ntrace_profile_edge *edges, const struct ntrace_profile_trace *traces,
		      size_t count)
{
	size_t used = 0, kept = 0, i;

	for (i = 0; i < count; i++) {
		if (traces[i].from_object)
			edges[used++] =
				(struct ntrace_profile_edge){ .from_object = traces[i].from_object,
							      .object = traces[i].object,
							      .from = traces[i].from,
							      .to = traces[i].start,
							      .taken = traces[i].count,
							      .from_class = traces[i].from_class };
	}
	qsort(edges, used, sizeof(*edges), by_place);
	for (i = 1; i < used; i++) {
		if (!by_place(&edges[kept], &edges[i]))
			edges[kept].taken = add_counts(edges[kept].taken, edges[i].taken);
		else
			edges[++kept] = edges[i];
	}
	return used ? kept + 1 : 0;
}

/* Collects the starts and ends of runs in order. Return: number of steps. */
static size_t collect_steps(struct step *steps, const struct ntrace_profile_trace *traces,
			    size_t count)
{
	size_t used = 0, i;

	for (i = 0; i < count; i++) {
		const struct ntrace_profile_trace *trace = &traces[i];

		if (!trace->object || !trace->instructions)
			continue;
		steps[used++] = (struct step){ trace->object, trace->start, trace->count };
		/* No instruction begins inside the last one, so +1 is enough. */
		steps[used++] = (struct step){ trace->object,
					       trace->end + (trace->end < UINT64_MAX),
					       -(__int128)trace->count };
	}
	qsort(steps, used, sizeof(*steps), by_step);
	return used;
}

/* Sets the number of executions of each edge's source; @edges are sorted by place. */
static int count_executed(struct ntrace_profile_edge *edges, size_t edge_count,
			  const struct ntrace_profile_trace *traces, size_t count)
{
	struct step *steps = malloc((2 * count + 1) * sizeof(*steps));
	size_t step_count, next = 0, i;
	__int128 executed = 0;

	if (!steps)
		return NTRACE_ERR_NOMEM;
	step_count = collect_steps(steps, traces, count);
	for (i = 0; i < edge_count; i++) {
		struct ntrace_profile_edge *edge = &edges[i];

		/* The changes of an object add up to 0, so that each object starts with 0. */
		for (; next < step_count && compare_places(steps[next].object, steps[next].address,
							   edge->from_object, edge->from) <= 0;
		     next++)
			executed += steps[next].change;
		edge->executed = executed > UINT64_MAX ? UINT64_MAX : (uint64_t)executed;
		if (edge->executed < edge->taken)
			edge->executed = edge->taken;
	}
	free(steps);
	return 0;
}

int ntrace_profile_edges(struct ntrace_profile *profile, const struct ntrace_profile_edge **edges,
			 size_t *edge_count)
{
	const struct ntrace_profile_trace *traces;
	struct ntrace_profile_edge *made;
	size_t count;
	int error;

	*edges = NULL;
	*edge_count = 0;
	traces = ntrace_profile_traces(profile, &count);
	made = calloc(count + 1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	*edge_count = collect(made, traces, count);
	error = count_executed(made, *edge_count, traces, count);
	if (error) {
		free(made);
		*edge_count = 0;
		return error;
	}
	qsort(made, *edge_count, sizeof(*made), by_taken);
	free(profile->edges);
	profile->edges = made;
	*edges = made;
	return 0;
}
