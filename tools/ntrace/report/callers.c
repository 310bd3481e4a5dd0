// SPDX-License-Identifier: GPL-2.0-only
/* Callers and callees, from call stacks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "common/command.h"
#include "common/nearest.h"
#include "common/ui.h"

static int by_total(const void *left, const void *right)
{
	const struct ntrace_stack_edge *a = left, *b = right;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static void put_function(const struct ntrace_stack_function *function, struct output *output)
{
	char *name = ntrace_demangle(function->name);

	output_name(output, name ? name : function->name);
	free(name);
	if (function->inlined)
		output_text(output, " (inlined)");
	if (function->kind == NTRACE_STACK_FUNCTION && function->object)
		output_printf(output, " (%.200s)", ntrace_object_short_name(function->object));
	if (function->kind == NTRACE_STACK_TASK)
		output_printf(output, " (thread %" PRId32 ")", function->tid);
}

/* The edges of one function. */
static int put_edges(const struct ntrace_stack_function *functions, uint32_t number,
		     const struct ntrace_stack_edge *edges, size_t count, bool callees,
		     struct output *output)
{
	const struct ntrace_stack_function *function = &functions[number];
	char text[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	struct ntrace_stack_edge *own = calloc(count + 1, sizeof(*own));
	size_t used = 0, i;

	if (!own)
		return fail("out of memory");
	for (i = 0; i < count; i++) {
		if ((callees ? edges[i].caller : edges[i].callee) == number)
			own[used++] = edges[i];
	}
	qsort(own, used, sizeof(*own), by_total);
	put_function(function, output);
	output_text(output, ": ");
	if (!function->inlined)
		output_printf(output, "%s calls, ", ui_number(text, function->calls));
	output_printf(output, "%s instructions of its own",
		      ui_number(other, function->instructions));
	output_printf(output, ", %s with what it calls\n", ui_number(text, function->total));
	output_printf(output, "%8s  %16s  %13s  %s\n", "share", "instructions", "calls",
		      callees ? "called" : "caller");
	for (i = 0; i < used; i++) {
		output_printf(
			output, "%6.2f %%  %16s  %13s  ",
			function->total ? 100.0 * (double)own[i].total / (double)function->total :
					  0.0,
			ui_number(text, own[i].total),
			functions[own[i].callee].inlined ? "" : ui_number(other, own[i].calls));
		put_function(&functions[callees ? own[i].callee : own[i].caller], output);
		output_char(output, '\n');
	}
	if (!used)
		output_text(output, callees ? "  it calls nothing\n" : "  nothing calls it\n");
	output_char(output, '\n');
	free(own);
	return EXIT_OK;
}

static bool is_called(const struct ntrace_stack_function *function, const char *name)
{
	return function->inlined || !function->object ?
		       ntrace_symbol_matches(function->name, name) :
		       ntrace_object_function_matches(function->object, function->start, name);
}

int put_callers(struct ntrace_stacks *stacks, const char *name, bool callees, bool *entered,
		struct output *output)
{
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_edge *edges;
	struct nearest nearest = nearest_to(name, strlen(name));
	size_t function_count, edge_count, shown = 0, i;
	int error = EXIT_OK;

	functions = ntrace_stacks_functions(stacks, &function_count);
	edges = ntrace_stacks_edges(stacks, &edge_count);
	*entered = false;
	if (!functions || !edges)
		return fail("out of memory");
	for (i = 0; i < function_count && !error; i++) {
		if (functions[i].kind != NTRACE_STACK_FUNCTION)
			continue;
		if (!is_called(&functions[i], name)) {
			nearest_offer(&nearest, functions[i].name);
			continue;
		}
		shown++;
		*entered |= !functions[i].inlined;
		error = put_edges(functions, (uint32_t)i, edges, edge_count, callees, output);
	}
	if (!error && !shown && nearest.name)
		return fail("no function '%s' was entered: did you mean '%s'?", name, nearest.name);
	if (!error && !shown)
		return fail("no function '%s' was entered: 'ntrace report' lists those that were "
			    "executed",
			    name);
	return error;
}
