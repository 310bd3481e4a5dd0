// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Functions and nodes, each found through a hash table. Most nodes have one child, such as those of the
 * handlers above all code: a parent's children are put there when the second one comes.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "large.h"
#include "tree.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Leaves out the object, since its address in memory must not affect the result. */
static uint64_t hash_function(const struct tree_function *function)
{
	const char *name = function->name;
	uint64_t hash = mix(function->kind | (uint64_t)function->inlined << 32, function->start);

	for (; *name; name++)
		hash = mix(hash, (unsigned char)*name);
	return mix(hash, (uint64_t)(uint32_t)function->pid << 32 | (uint32_t)function->tid);
}

static uint64_t hash_node(const struct tree_node *node)
{
	return mix(mix(1, node->parent), node->function);
}

static int grow_functions(struct stack_tree *tree)
{
	bool cleared;

	if (grow((void **)&tree->functions, tree->function_count, &tree->function_room,
		 sizeof(*tree->functions)) ||
	    slots_grow(&tree->function_slots, tree->function_count, &cleared))
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; cleared && i < tree->function_count; i++)
		slots_add(&tree->function_slots, hash_function(&tree->functions[i]), i);
	return 0;
}

static int grow_nodes(struct stack_tree *tree)
{
	size_t room = tree->node_room ? 2 * tree->node_room : SLOTS_FIRST / 2;
	struct tree_node *nodes = tree->nodes;
	bool cleared;

	if (tree->node_count == tree->node_room) {
		nodes = room < UINT32_MAX / 2 ? large_alloc(room * sizeof(*nodes)) : NULL;
		if (!nodes)
			return NTRACE_ERR_NOMEM;
		if (tree->nodes)
			memcpy(nodes, tree->nodes, tree->node_count * sizeof(*nodes));
		free(tree->nodes);
		tree->nodes = nodes;
		tree->node_room = room;
	}
	if (slots_grow(&tree->node_slots, tree->node_count, &cleared))
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; cleared && i < tree->node_count; i++) {
		if (nodes[nodes[i].parent].hashed)
			slots_add(&tree->node_slots, hash_node(&nodes[i]), i);
	}
	return 0;
}

int tree_init(struct stack_tree *tree, uint32_t depth_max, uint32_t node_max)
{
	struct tree_function all = { .name = (char *)"all", .kind = NTRACE_STACK_ALL };
	uint32_t function;
	int error;

	memset(tree, 0, sizeof(*tree));
	tree->depth_max = depth_max;
	tree->node_max = node_max;
	tree->memos = calloc(TREE_MEMOS, sizeof(*tree->memos));
	error = tree->memos ? tree_function(tree, &all, &function) : NTRACE_ERR_NOMEM;
	if (!error)
		error = grow_nodes(tree);
	if (error) {
		tree_free(tree);
		return error;
	}
	tree->nodes[0] = (struct tree_node){ .function = function, .hashed = true };
	slots_add(&tree->node_slots, hash_node(&tree->nodes[0]), 0);
	tree->node_count = 1;
	return 0;
}

void tree_free(struct stack_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->function_count; i++)
		free(tree->functions[i].name);
	free(tree->functions);
	free(tree->function_slots.numbers);
	free(tree->nodes);
	free(tree->node_slots.numbers);
	free(tree->memos);
	table_free(&tree->objects);
	memset(tree, 0, sizeof(*tree));
}

static bool same_function(const struct tree_function *a, const struct tree_function *b)
{
	return a->object == b->object && a->start == b->start && a->kind == b->kind &&
	       a->pid == b->pid && a->tid == b->tid && a->inlined == b->inlined &&
	       !strcmp(a->name, b->name);
}

static bool is_setjmp(const char *name)
{
	name += strspn(name, "_");
	return !strcmp(name, "setjmp") || !strcmp(name, "sigsetjmp") || !strcmp(name, "getcontext");
}

/* A function of a stripped library that is not exported, as __clone3() of libc, has a made-up name. */
static bool is_fork(const char *name)
{
	return strcasestr(name, "fork") || strcasestr(name, "clone") || !strcmp(name, "syscall") ||
	       function_is_unnamed(name);
}

int tree_function(struct stack_tree *tree, const struct tree_function *like, uint32_t *function)
{
	struct tree_function wanted = *like;
	size_t slot;
	int error;

	error = table_object(&tree->objects, like->object, &wanted.object);
	if (!error)
		error = grow_functions(tree);
	if (error)
		return error;
	slot = slots_at(&tree->function_slots, hash_function(like));
	for (; tree->function_slots.numbers[slot];
	     slot = slots_at(&tree->function_slots, slot + 1)) {
		*function = tree->function_slots.numbers[slot] - 1;
		if (same_function(&tree->functions[*function], &wanted))
			return 0;
	}
	wanted.setjmp = is_setjmp(like->name);
	wanted.forks = is_fork(like->name);
	wanted.name = strdup(like->name);
	if (!wanted.name)
		return NTRACE_ERR_NOMEM;
	*function = (uint32_t)tree->function_count;
	tree->functions[tree->function_count++] = wanted;
	tree->function_slots.numbers[slot] = *function + 1;
	return 0;
}

/* One node beyond @node_max is always reserved for "[other]". */
static int find_other(struct stack_tree *tree, uint32_t *node)
{
	struct tree_function other = { .name = (char *)"[other]", .kind = NTRACE_STACK_UNKNOWN };
	uint32_t function;
	int error = 0;

	if (!tree->other) {
		error = tree_function(tree, &other, &function);
		if (!error)
			error = grow_nodes(tree);
		if (error)
			return error;
		tree->other = (uint32_t)tree->node_count;
		tree->nodes[tree->node_count++] =
			(struct tree_node){ .function = function, .depth = 1 };
		slots_add(&tree->node_slots, hash_node(&tree->nodes[tree->other]), tree->other);
	}
	*node = tree->other;
	return error;
}

/* Puts the children of @parent into the hash table: there is more than one now. */
static void hash_children(struct stack_tree *tree, uint32_t parent)
{
	uint32_t only = tree->nodes[parent].last;

	/* The last result may be "[other]". */
	if (only && tree->nodes[only].parent == parent)
		slots_add(&tree->node_slots, hash_node(&tree->nodes[only]), only);
	tree->nodes[parent].hashed = true;
}

static int find_child(struct stack_tree *tree, uint32_t parent, uint32_t function, uint32_t *node)
{
	struct tree_node made = { .function = function, .parent = parent };
	size_t slot;

	if (grow_nodes(tree))
		return NTRACE_ERR_NOMEM;
	if (tree->nodes[parent].depth >= tree->depth_max)
		made.parent = tree->nodes[parent].parent;
	made.depth = (tree->nodes[made.parent].depth + 1) & INT32_MAX;
	if (!tree->nodes[made.parent].hashed && (made.parent != parent || tree->nodes[parent].last))
		hash_children(tree, made.parent);
	slot = slots_at(&tree->node_slots, hash_node(&made));
	for (; tree->nodes[made.parent].hashed && tree->node_slots.numbers[slot];
	     slot = slots_at(&tree->node_slots, slot + 1)) {
		*node = tree->node_slots.numbers[slot] - 1;
		/* The root is its own parent. */
		if (*node && tree->nodes[*node].parent == made.parent &&
		    tree->nodes[*node].function == function)
			return 0;
	}
	if (parent && parent == tree->other) {
		*node = parent;
		return 0;
	}
	if (tree->node_count >= tree->node_max)
		return find_other(tree, node);
	*node = (uint32_t)tree->node_count;
	tree->nodes[tree->node_count++] = made;
	if (tree->nodes[made.parent].hashed)
		tree->node_slots.numbers[slot] = *node + 1;
	return 0;
}

/* Children stay where they are. */
int tree_child(struct stack_tree *tree, uint32_t parent, uint32_t function, uint32_t *node)
{
	uint32_t hash = (parent * 0x9e3779b1u ^ function) * 0x85ebca6bu;
	struct tree_memo *memo = &tree->memos[hash >> 16 & (TREE_MEMOS - 1)];
	uint32_t last = tree->nodes[parent].last;
	bool hashed = tree->nodes[parent].hashed;
	int error = 0;

	/* Code tends to call what it called before; the node is needed anyway. */
	if (last && tree->nodes[last].function == function) {
		*node = last;
		return 0;
	}
	if (hashed && memo->node && memo->parent == parent && memo->function == function)
		*node = memo->node;
	else
		error = find_child(tree, parent, function, node);
	if (error)
		return error;
	/* A first child needs no other way until the next one comes. */
	if (hashed)
		*memo = (struct tree_memo){ parent, function, *node };
	tree->nodes[parent].last = *node;
	return 0;
}
