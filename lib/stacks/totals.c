// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Totals of the functions of a profile, from call stacks. */
#include <stdlib.h>

#include <ntrace/stacks.h>

#include "profile/functions.h"
#include "profile/table.h"

static int by_place(const void *left, const void *right)
{
	const struct ntrace_stack_function *a = *(const struct ntrace_stack_function *const *)left;
	const struct ntrace_stack_function *b = *(const struct ntrace_stack_function *const *)right;
	int order = table_compare_objects(a->object, b->object);

	if (order)
		return order;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Time of each function including inlined code. Return: to be freed; NULL when out of memory. */
static uint64_t *own_ticks(struct ntrace_stacks *stacks,
			   const struct ntrace_stack_function *functions, size_t function_count)
{
	const struct ntrace_stack_node *nodes;
	uint64_t *ticks = calloc(function_count + 1, sizeof(*ticks));
	size_t count, i;
	uint32_t *within;

	nodes = ntrace_stacks_nodes(stacks, &count);
	within = calloc(count + 1, sizeof(*within));
	/* Parents precede their children. */
	for (i = 0; ticks && within && i < count; i++) {
		within[i] = functions[nodes[i].function].inlined ? within[nodes[i].parent] :
								   nodes[i].function;
		ticks[within[i]] += nodes[i].ticks;
	}
	if (!within) {
		free(ticks);
		ticks = NULL;
	}
	free(within);
	return ticks;
}

int ntrace_stacks_add_totals(struct ntrace_stacks *stacks, struct ntrace_profile *profile)
{
	struct function_table *table = profile_function_table(profile);
	const struct ntrace_stack_function *functions, **sorted, **found;
	struct ntrace_stack_function key = { 0 };
	const struct ntrace_stack_function *wanted = &key;
	size_t count, used = 0, i;
	uint64_t *ticks;

	functions = ntrace_stacks_functions(stacks, &count);
	sorted = count ? malloc(count * sizeof(*sorted)) : NULL;
	ticks = sorted ? own_ticks(stacks, functions, count) : NULL;
	if (!ticks) {
		free(sorted);
		return NTRACE_ERR_NOMEM;
	}
	/* Nested recursive calls are part of the outer row. */
	for (i = 0; i < count; i++) {
		if (!functions[i].inlined)
			sorted[used++] = &functions[i];
	}
	qsort(sorted, used, sizeof(*sorted), by_place);
	for (i = 0; table && i < table->count; i++) {
		struct ntrace_profile_function *function = &table->items[i];

		key.object = function->object;
		key.start = function->start;
		key.kind = function->name ? NTRACE_STACK_FUNCTION : NTRACE_STACK_OBJECT;
		found = bsearch(&wanted, sorted, used, sizeof(*sorted), by_place);
		function->total = found ? (*found)->total : 0;
		/* What it executed for the function before it, which ends without a jump, is in the stack of that one. */
		if (function->total < function->instructions)
			function->total = function->instructions;
		if (!found)
			continue;
		function->ticks = ticks[*found - functions];
		function->total_ticks = (*found)->total_ticks;
	}
	free(sorted);
	free(ticks);
	return 0;
}
