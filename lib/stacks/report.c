// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* An ordered call tree and its sums: totals, functions, callers and callees. */
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define NONE UINT32_MAX

/* A function with its sort key. */
struct ranked {
	const struct tree_function *function;
	uint32_t index;
};

/*
 * @rank: for each function of the tree: its index in the report, NONE if it has no node
 * @first, @next: children of each node of the tree, in order
 * @path: path from the root to the current node, by depth: first nodes of the tree, later functions
 *        of the report
 * @last: for each function of the report: depth + 1 of its innermost node on the path, 0 = none
 * @before: value of @last before the path reached the node, by depth
 */
struct work {
	const struct stack_tree *tree;
	struct stack_report *report;
	uint32_t *rank;
	uint32_t *first;
	uint32_t *next;
	uint32_t *path;
	uint32_t *last;
	uint32_t *before;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct tree_function *a = ((const struct ranked *)left)->function;
	const struct tree_function *b = ((const struct ranked *)right)->function;
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = strcmp(a->name, b->name);
	if (!order)
		order = table_compare_objects(a->object, b->object);
	if (order)
		return order;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->inlined != b->inlined)
		return a->inlined ? 1 : -1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int rank_functions(struct work *work)
{
	const struct stack_tree *tree = work->tree;
	struct ranked *ranked = calloc(tree->function_count, sizeof(*ranked));
	size_t i, count = 0;

	if (!ranked)
		return NTRACE_ERR_NOMEM;
	memset(work->rank, 0xff, tree->function_count * sizeof(*work->rank));
	for (i = 0; i < tree->node_count; i++) {
		uint32_t function = tree->nodes[i].function;

		if (work->rank[function] != NONE)
			continue;
		work->rank[function] = 0;
		ranked[count++] = (struct ranked){ &tree->functions[function], function };
	}
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	work->report->functions = calloc(count, sizeof(*work->report->functions));
	work->last = calloc(count, sizeof(*work->last));
	work->report->function_count = count;
	for (i = 0; i < count && work->report->functions; i++) {
		const struct tree_function *function = ranked[i].function;

		work->rank[ranked[i].index] = (uint32_t)i;
		work->report->functions[i] = (struct ntrace_stack_function){
			.name = function->name,
			.object = function->object,
			.start = function->start,
			.kind = function->kind,
			.pid = function->pid,
			.tid = function->tid,
			.inlined = function->inlined,
		};
	}
	free(ranked);
	return work->report->functions && work->last ? 0 : NTRACE_ERR_NOMEM;
}

struct child {
	uint32_t parent;
	uint32_t rank;
	uint32_t node;
};

/* Sorts the last child first, since the lists are built by prepending. */
static int compare_children(const void *left, const void *right)
{
	const struct child *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return a->rank < b->rank ? 1 : a->rank > b->rank ? -1 : 0;
}

static int list_children(struct work *work)
{
	const struct stack_tree *tree = work->tree;
	struct child *children = calloc(tree->node_count, sizeof(*children));
	size_t i;

	if (!children)
		return NTRACE_ERR_NOMEM;
	for (i = 1; i < tree->node_count; i++)
		children[i] = (struct child){ tree->nodes[i].parent,
					      work->rank[tree->nodes[i].function], (uint32_t)i };
	qsort(children + 1, tree->node_count - 1, sizeof(*children), compare_children);
	for (i = 1; i < tree->node_count; i++) {
		work->next[children[i].node] = work->first[children[i].parent];
		work->first[children[i].parent] = children[i].node;
	}
	free(children);
	return 0;
}

/* Orders the nodes so that each one precedes its children. */
static void order_nodes(struct work *work)
{
	const struct stack_tree *tree = work->tree;
	struct ntrace_stack_node *nodes = work->report->nodes;
	uint32_t *path = work->path, node = 0, depth = 0;
	size_t count = 0;

	/* Here @path has nodes of the tree and leads back to the root. */
	for (;;) {
		const struct tree_node *from = &tree->nodes[node];

		nodes[count] = (struct ntrace_stack_node){
			.function = work->rank[from->function],
			.parent = depth ? work->before[depth - 1] : 0,
			.depth = depth,
			.calls = from->calls,
			.instructions = from->instructions,
			.total = from->instructions,
			.ticks = from->ticks,
			.total_ticks = from->ticks,
		};
		path[depth] = node;
		work->before[depth] = (uint32_t)count++;
		if (work->first[node]) {
			node = work->first[node];
			depth++;
			continue;
		}
		while (depth && !work->next[path[depth]])
			depth--;
		if (!depth)
			break;
		node = work->next[path[depth]];
	}
	work->report->node_count = count;
	for (; count-- > 1;) {
		nodes[nodes[count].parent].total += nodes[count].total;
		nodes[nodes[count].parent].total_ticks += nodes[count].total_ticks;
	}
}

/*
 * Adds a node to functions and edges. Below another node of the same function, the function's total
 * already includes the node.
 */
static void add_node(struct work *work, uint32_t index)
{
	struct stack_report *report = work->report;
	const struct ntrace_stack_node *node = &report->nodes[index];
	struct ntrace_stack_function *function = &report->functions[node->function];
	bool outermost = !work->last[node->function];

	work->path[node->depth] = node->function;
	work->before[node->depth] = work->last[node->function];
	work->last[node->function] = node->depth + 1;
	function->calls += node->calls;
	function->instructions += node->instructions;
	function->ticks += node->ticks;
	function->total += outermost ? node->total : 0;
	function->total_ticks += outermost ? node->total_ticks : 0;
	if (index)
		report->edges[report->edge_count++] = (struct ntrace_stack_edge){
			.caller = report->nodes[node->parent].function,
			.callee = node->function,
			.calls = node->calls,
			.total = outermost ? node->total : 0,
		};
}

static int compare_edges(const void *left, const void *right)
{
	const struct ntrace_stack_edge *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static void add_up(struct work *work)
{
	const struct ntrace_stack_node *nodes = work->report->nodes;
	struct ntrace_stack_edge *edges = work->report->edges;
	uint32_t depth = 0;
	size_t i, kept = 0;

	for (i = 0; i < work->report->node_count; i++) {
		/* Leaves the nodes that are no longer on the path, the deepest first. */
		for (; i && depth >= nodes[i].depth; depth--)
			work->last[work->path[depth]] = work->before[depth];
		depth = nodes[i].depth;
		add_node(work, (uint32_t)i);
	}
	if (!work->report->edge_count)
		return;
	qsort(edges, work->report->edge_count, sizeof(*edges), compare_edges);
	for (i = 1; i < work->report->edge_count; i++) {
		if (!compare_edges(&edges[kept], &edges[i])) {
			edges[kept].calls += edges[i].calls;
			edges[kept].total += edges[i].total;
		} else {
			edges[++kept] = edges[i];
		}
	}
	work->report->edge_count = kept + 1;
}

static int make(struct work *work)
{
	const struct stack_tree *tree = work->tree;
	size_t depths = (size_t)tree->depth_max + 2;
	int error;

	work->rank = calloc(tree->function_count, sizeof(*work->rank));
	work->first = calloc(tree->node_count, sizeof(*work->first));
	work->next = calloc(tree->node_count, sizeof(*work->next));
	work->path = calloc(depths, sizeof(*work->path));
	work->before = calloc(depths, sizeof(*work->before));
	work->report->nodes = calloc(tree->node_count, sizeof(*work->report->nodes));
	work->report->edges = calloc(tree->node_count, sizeof(*work->report->edges));
	if (!work->rank || !work->first || !work->next || !work->path || !work->before ||
	    !work->report->nodes || !work->report->edges)
		return NTRACE_ERR_NOMEM;
	error = rank_functions(work);
	if (!error)
		error = list_children(work);
	if (error)
		return error;
	order_nodes(work);
	add_up(work);
	return 0;
}

int report_make(struct stack_report *report, const struct stack_tree *tree)
{
	struct work work = { .tree = tree, .report = report };
	int error;

	memset(report, 0, sizeof(*report));
	error = make(&work);
	free(work.rank);
	free(work.first);
	free(work.next);
	free(work.path);
	free(work.last);
	free(work.before);
	if (error)
		report_free(report);
	return error;
}

void report_free(struct stack_report *report)
{
	free(report->functions);
	free(report->nodes);
	free(report->edges);
	memset(report, 0, sizeof(*report));
}
