/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The functions of call stacks, and the tree that they make. */
#ifndef NTRACE_STACKS_TREE_H
#define NTRACE_STACKS_TREE_H

#include <ntrace/stacks.h>

#include "profile/table.h"

/* Node 0 is what all threads hang from, function 0 its name. */
#define TREE_ROOT 0

/*
 * @name: owned
 * @object: as in the table of objects
 */
struct tree_function {
	char *name;
	struct ntrace_object *object;
	uint64_t start;
	uint32_t kind;
	int32_t pid;
	int32_t tid;
	bool inlined;
};

struct tree_node {
	uint32_t function;
	uint32_t parent;
	uint32_t depth;
	uint64_t calls;
	uint64_t instructions;
	uint64_t ticks;
};

/* Indices + 1 in open addressing, 0 = free; a power of two of them, at most half in use. */
struct tree_slots {
	uint32_t *slots;
	size_t count;
};

/*
 * @depth_max: of nodes; what is deeper becomes a sibling there
 * @node_max: of nodes; what is more becomes @other
 * @other: node "[other]", 0 = not needed so far
 * @objects: only its objects are used
 */
struct stack_tree {
	struct tree_function *functions;
	size_t function_count;
	size_t function_room;
	struct tree_slots function_slots;
	struct tree_node *nodes;
	size_t node_count;
	size_t node_room;
	struct tree_slots node_slots;
	uint32_t depth_max;
	uint32_t node_max;
	uint32_t other;
	struct trace_table objects;
};

/* Return: 0 or NTRACE_ERR_NOMEM. */
int tree_init(struct stack_tree *tree, uint32_t depth_max, uint32_t node_max);
void tree_free(struct stack_tree *tree);

/*
 * The function that is the same as @like, made when it is new: with a copy of its
 * name, and another object of the same file. Return: 0 or NTRACE_ERR_NOMEM.
 */
int tree_function(struct stack_tree *tree, const struct tree_function *like, uint32_t *function);

/* The node of a function below another node. Return: 0 or NTRACE_ERR_NOMEM. */
int tree_child(struct stack_tree *tree, uint32_t parent, uint32_t function, uint32_t *node);

/* Adds all counts of @from. Return: 0 or NTRACE_ERR_NOMEM. */
int tree_merge(struct stack_tree *into, const struct stack_tree *from);

/* What is handed out: everything in an order that the counts alone decide. */
struct stack_report {
	struct ntrace_stack_function *functions;
	size_t function_count;
	struct ntrace_stack_node *nodes;
	size_t node_count;
	struct ntrace_stack_edge *edges;
	size_t edge_count;
};

/* Return: 0 or NTRACE_ERR_NOMEM. */
int report_make(struct stack_report *report, const struct stack_tree *tree);
void report_free(struct stack_report *report);

#endif
