/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Nodes of handlers, the same above all code that they interrupt; see upper.c. */
#ifndef NTRACE_STACKS_UPPER_H
#define NTRACE_STACKS_UPPER_H

#include "thread.h"

/* The tree of the nodes of the top frame. */
static inline struct stack_tree *tree_of(struct ntrace_stacks *stacks, const struct stack *stack)
{
	return stack->bottom ? &stacks->upper.tree : &stacks->tree;
}

/*
 * Before the first frame of a layer, if effects of runs are remembered: its nodes will be upper ones, if
 * possible. All functions here return 0 or NTRACE_ERR_NOMEM.
 */
int upper_enter(struct ntrace_stacks *stacks, struct stack *stack);

/* After frames or layers were removed: finds the topmost layer with upper nodes. */
void upper_leave(struct stack *stack);

int upper_change(struct ntrace_stacks *stacks, uint32_t on);

/* Upper nodes are those above the node @on from now on. */
static inline int upper_begin(struct ntrace_stacks *stacks, uint32_t on)
{
	return stacks->upper.on == on ? 0 : upper_change(stacks, on);
}

/* Adds to an upper node after upper_begin(). */
int upper_add(struct ntrace_stacks *stacks, uint32_t node, uint64_t instructions, uint64_t calls);

/* The node of the tree for a node of the top frame of @stack. */
int upper_find(struct ntrace_stacks *stacks, const struct stack *stack, uint32_t *node);

/* Adds to a node of the top frame of @stack. */
static inline int node_add(struct ntrace_stacks *stacks, const struct stack *stack, uint32_t node,
			   uint32_t instructions, uint32_t calls)
{
	int error;

	if (!stack->bottom) {
		stacks->tree.nodes[node].instructions += instructions;
		stacks->tree.nodes[node].calls += calls;
		return 0;
	}
	error = upper_begin(stacks, stack->on);
	return error ? error : upper_add(stacks, node, instructions, calls);
}

/* Adds what upper nodes have to the tree. */
int upper_flush(struct ntrace_stacks *stacks);

/* Gives all frames nodes of the tree. */
int upper_attach(struct ntrace_stacks *stacks, struct stack *stack);

/* Forgets all upper nodes. No frame may have one. */
void upper_free(struct ntrace_stacks *stacks);

#endif
