/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The functions of call stacks and the tree of their nodes. */
#ifndef NTRACE_STACKS_TREE_H
#define NTRACE_STACKS_TREE_H

#include <string.h>

#include <ntrace/stacks.h>

#include "profile/table.h"

/* Node 0 is the root, the parent of all threads; function 0 is its name. */
#define TREE_ROOT 0

/*
 * @name: owned
 * @object: object of the table of objects
 * @setjmp: setjmp() or one of its other names
 * @forks: may be the system call of fork(), or of clone()
 * @looked, @switches: its code has been looked at: it jumps to other stacks (fiber.c)
 */
struct tree_function {
	char *name;
	struct ntrace_object *object;
	uint64_t start;
	uint32_t kind;
	int32_t pid;
	int32_t tid;
	bool inlined;
	bool setjmp;
	bool forks;
	bool looked;
	bool switches;
};

/* Whether a function has only the name of its address. */
static inline bool function_is_unnamed(const char *name)
{
	return !strncmp(name, "sub_", strlen("sub_"));
}

/*
 * @hashed: the children are in the hash table; else there is at most one, which is @last
 * @last: result of the last tree_child() for this parent, 0 = none
 */
struct tree_node {
	uint32_t function;
	uint32_t parent;
	uint32_t depth : 31;
	uint32_t hashed : 1;
	uint32_t last;
	uint64_t calls;
	uint64_t instructions;
	uint64_t ticks;
};

/* Cached result of tree_child(); @node: 0 = free. */
struct tree_memo {
	uint32_t parent;
	uint32_t function;
	uint32_t node;
};

#define TREE_MEMOS (1u << 16)

/*
 * @depth_max: maximum depth of nodes; deeper ones become siblings at that depth
 * @node_max: maximum number of nodes; further ones become @other
 * @other: node "[other]", 0 = not yet needed
 * @objects: a table of which only the objects are used
 */
struct stack_tree {
	struct tree_function *functions;
	size_t function_count;
	size_t function_room;
	struct slots function_slots;
	struct tree_node *nodes;
	size_t node_count;
	size_t node_room;
	struct slots node_slots;
	struct tree_memo *memos;
	uint32_t depth_max;
	uint32_t node_max;
	uint32_t other;
	struct trace_table objects;
};

/* Return: 0 or NTRACE_ERR_NOMEM. */
int tree_init(struct stack_tree *tree, uint32_t depth_max, uint32_t node_max);
void tree_free(struct stack_tree *tree);

/*
 * The function equal to @like; a new one gets a copy of the name and the table's object of the same
 * file. Return: 0 or NTRACE_ERR_NOMEM.
 */
int tree_function(struct stack_tree *tree, const struct tree_function *like, uint32_t *function);

/* The node of a function below another node. Return: 0 or NTRACE_ERR_NOMEM. */
int tree_child(struct stack_tree *tree, uint32_t parent, uint32_t function, uint32_t *node);

/* Results for callers, in an order that depends only on the counts. */
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
