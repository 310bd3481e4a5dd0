// SPDX-License-Identifier: GPL-2.0-only
/* The call tree, for the page. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "data.h"

/* Nodes with less than one in this many instructions are invisible, like their callees. */
#define SMALLEST 50000

/* Numbers in the page of functions with a node, and of nodes. */
struct numbers {
	uint32_t *names;
	uint32_t *nodes;
};

#define NO_NUMBER UINT32_MAX

static bool is_large(const struct ntrace_stack_node *nodes, size_t node)
{
	return !node || nodes[node].total > nodes[0].total / SMALLEST;
}

static int put_name(const struct ntrace_stack_function *function, struct output *output)
{
	char *name = ntrace_demangle(function->name), *text = name;

	if (name && function->inlined && asprintf(&text, "%s (inlined)", name) < 0)
		text = NULL;
	if (text)
		output_json_script(output, text);
	if (text != name)
		free(text);
	free(name);
	return text ? 0 : NTRACE_ERR_NOMEM;
}

static int put_names(const struct numbers *numbers, const struct ntrace_stack_node *nodes,
		     size_t count, const struct ntrace_stack_function *functions,
		     struct output *output)
{
	uint32_t used = 0;
	size_t i;
	int error = 0;

	output_text(output, "\"names\":[");
	for (i = 0; i < count && !error; i++) {
		uint32_t function = nodes[i].function;

		if (!is_large(nodes, i) || numbers->names[function] != NO_NUMBER)
			continue;
		numbers->names[function] = used++;
		output_text(output, used > 1 ? ",\n" : "");
		error = put_name(&functions[function], output);
	}
	output_char(output, ']');
	return error;
}

/* Callers come before callees, so that their numbers are known. */
static size_t put_nodes(const struct numbers *numbers, const struct ntrace_stack_node *nodes,
			size_t count, struct output *output)
{
	uint32_t used = 0;
	size_t i;

	output_text(output, ",\"nodes\":[");
	for (i = 0; i < count; i++) {
		if (!is_large(nodes, i))
			continue;
		numbers->nodes[i] = used++;
		output_printf(output,
			      "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			      ",%" PRIu64 "]",
			      used > 1 ? "," : "", numbers->names[nodes[i].function],
			      numbers->nodes[nodes[i].parent], nodes[i].total,
			      nodes[i].instructions, nodes[i].calls, nodes[i].total_ticks);
	}
	output_char(output, ']');
	return count - used;
}

int html_put_stacks(struct ntrace_stacks *stacks, struct output *output)
{
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_node *nodes;
	size_t function_count, count, dropped, i;
	struct numbers numbers;
	int error = 0;

	functions = ntrace_stacks_functions(stacks, &function_count);
	nodes = ntrace_stacks_nodes(stacks, &count);
	if (!function_count || !count)
		return NTRACE_ERR_NOMEM;
	numbers.names = malloc(function_count * sizeof(*numbers.names));
	numbers.nodes = calloc(count, sizeof(*numbers.nodes));
	if (numbers.names && numbers.nodes) {
		for (i = 0; i < function_count; i++)
			numbers.names[i] = NO_NUMBER;
		output_text(output, ",\"stacks\":{");
		error = put_names(&numbers, nodes, count, functions, output);
		dropped = put_nodes(&numbers, nodes, count, output);
		output_printf(output, ",\"dropped\":%zu}", dropped);
	} else {
		error = NTRACE_ERR_NOMEM;
	}
	free(numbers.names);
	free(numbers.nodes);
	return error;
}
