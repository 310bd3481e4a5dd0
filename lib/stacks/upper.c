// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Nodes of handlers. Interrupts and exceptions come everywhere, so nearly each of them comes at a stack that
 * had none before, but the handlers do the same each time. So the frames of a handler do not have nodes of
 * the tree: they have upper nodes, in a tree whose root stands for any node. Then the stack of a handler is
 * the same state above all code, and its effects are remembered once (run.c).
 *
 * Upper nodes have the counts of the handlers above one node at a time. Before those of another node come,
 * the counts are added to the nodes of the tree: to the same path, above that node.
 */
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "upper.h"

/* Makes the tree of upper nodes. */
static int make_tree(struct ntrace_stacks *stacks)
{
	struct stack_upper *upper = &stacks->upper;

	if (upper->path)
		return 0;
	/* Only the tree itself has a limit. */
	if (tree_init(&upper->tree, stacks->options.depth, UINT32_MAX / 4))
		return NTRACE_ERR_NOMEM;
	upper->path = calloc(stacks->options.depth + (size_t)1, sizeof(*upper->path));
	if (!upper->path)
		tree_free(&upper->tree);
	return upper->path ? 0 : NTRACE_ERR_NOMEM;
}

int upper_enter(struct ntrace_stacks *stacks, struct stack *stack)
{
	struct layer *layer = &stack->layers[stack->layer_count - 1];
	uint32_t on;
	int error;

	/* Effects with times are not remembered. */
	if (stack->layer_count < 2 || !stack->count || layer->signal ||
	    layer->privilege == NTRACE_PRIV_U || stacks->hart.clock.stamps.time_known)
		return 0;
	on = stack->frames[stack->count - 1].inner;
	error = make_tree(stacks);
	if (!error)
		error = upper_find(stacks, stack, &on);
	if (error || !on)
		return error;
	layer->on = on;
	stack->bottom = stack->count;
	stack->on = on;
	return 0;
}

void upper_leave(struct stack *stack)
{
	unsigned int i = stack->layer_count;

	stack->bottom = 0;
	stack->on = 0;
	for (; i-- > 0 && !stack->on;) {
		struct layer *layer = &stack->layers[i];

		if (layer->base >= stack->count)
			layer->on = 0;
		stack->on = layer->on;
		stack->bottom = layer->on ? layer->base : 0;
	}
}

/* The first use of a node above the present one. */
static int touch(struct stack_upper *upper, uint32_t node)
{
	size_t room = upper->tree.node_room, i;
	struct upper_node *nodes;
	uint32_t *touched;

	if (node >= upper->room) {
		nodes = realloc(upper->nodes, room * sizeof(*nodes));
		if (!nodes)
			return NTRACE_ERR_NOMEM;
		upper->nodes = nodes;
		touched = realloc(upper->touched, room * sizeof(*touched));
		if (!touched)
			return NTRACE_ERR_NOMEM;
		upper->touched = touched;
		for (i = upper->room; i < room; i++)
			nodes[i] = (struct upper_node){ 0 };
		upper->room = room;
	}
	if (upper->nodes[node].visit == upper->visit)
		return 0;
	upper->nodes[node] = (struct upper_node){ .visit = upper->visit };
	upper->touched[upper->touched_count++] = node;
	return 0;
}

int upper_add(struct ntrace_stacks *stacks, uint32_t node, uint64_t instructions, uint64_t calls)
{
	struct stack_upper *upper = &stacks->upper;

	if ((node >= upper->room || upper->nodes[node].visit != upper->visit) && touch(upper, node))
		return NTRACE_ERR_NOMEM;
	upper->tree.nodes[node].instructions += instructions;
	upper->tree.nodes[node].calls += calls;
	return 0;
}

/* The node of the tree for an upper node above the present one. */
static int find(struct ntrace_stacks *stacks, uint32_t node, uint32_t *found)
{
	struct stack_upper *upper = &stacks->upper;
	uint32_t depth = 0;

	for (; node; node = upper->tree.nodes[node].parent) {
		if (touch(upper, node))
			return NTRACE_ERR_NOMEM;
		if (upper->nodes[node].node)
			break;
		upper->path[depth++] = node;
	}
	*found = node ? upper->nodes[node].node : upper->on;
	while (depth--) {
		node = upper->path[depth];
		if (tree_child(&stacks->tree, *found, upper->tree.nodes[node].function, found))
			return NTRACE_ERR_NOMEM;
		upper->nodes[node].node = *found;
	}
	return 0;
}

int upper_find(struct ntrace_stacks *stacks, const struct stack *stack, uint32_t *node)
{
	int error;

	if (!stack->bottom)
		return 0;
	error = upper_begin(stacks, stack->on);
	return error ? error : find(stacks, *node, node);
}

int upper_flush(struct ntrace_stacks *stacks)
{
	struct stack_upper *upper = &stacks->upper;
	int error = run_flush(stacks);
	size_t i;

	/* Nodes between others come at the end, with nothing to add. */
	for (i = 0; i < upper->touched_count && !error; i++) {
		struct tree_node *from = &upper->tree.nodes[upper->touched[i]], *into;
		uint32_t node;

		error = find(stacks, upper->touched[i], &node);
		if (error)
			break;
		into = &stacks->tree.nodes[node];
		into->instructions += from->instructions;
		into->calls += from->calls;
		from->instructions = 0;
		from->calls = 0;
	}
	upper->touched_count = 0;
	upper->visit++;
	return error;
}

int upper_change(struct ntrace_stacks *stacks, uint32_t on)
{
	int error = upper_flush(stacks);

	stacks->upper.on = on;
	return error;
}

int upper_attach(struct ntrace_stacks *stacks, struct stack *stack)
{
	uint32_t first = stack->count, i;
	int error = 0;

	for (; stack->bottom && !error; upper_leave(stack)) {
		for (i = stack->bottom; i < first && !error; i++) {
			error = upper_find(stacks, stack, &stack->frames[i].node);
			if (!error)
				error = upper_find(stacks, stack, &stack->frames[i].inner);
			stack->frames[i].state = 0;
		}
		first = stack->bottom;
		for (i = 0; i < stack->layer_count; i++)
			if (stack->layers[i].base == first)
				stack->layers[i].on = 0;
	}
	return error;
}

void upper_free(struct ntrace_stacks *stacks)
{
	struct stack_upper *upper = &stacks->upper;

	if (upper->path)
		tree_free(&upper->tree);
	free(upper->path);
	free(upper->nodes);
	free(upper->touched);
	*upper = (struct stack_upper){ .visit = 1 };
}
