// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The AutoFDO profile that gcc -fauto-profile reads: counts by function, line within it and
 * discriminator, with inlined functions below those that contain them. GCC expects the counting of
 * create_gcov: the most often executed instruction of a line gives its count; copies of a function
 * add up. This file adds up the counts, gcov_write.c writes the file.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/counts.h>

#include "compare.h"
#include "gcov.h"
#include "grow.h"
#include "saturate.h"
#include "struct_size.h"

#define TOP SIZE_MAX

static int compare_texts(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Functions come first, then inlined ones, by the containing function. */
static int compare_nodes(const void *left, const void *right)
{
	const struct gcov_node *a = left, *b = right;
	size_t of_a = a->parent ? a->parent->number + (size_t)1 : 0;
	size_t of_b = b->parent ? b->parent->number + (size_t)1 : 0;
	int order = compare_numbers(of_a, of_b);

	if (!order)
		order = compare_numbers(a->offset, b->offset);
	return order ? order : strcmp(a->name, b->name);
}

static int compare_node_pointers(const void *left, const void *right)
{
	return compare_nodes(*(struct gcov_node *const *)left, *(struct gcov_node *const *)right);
}

/*
 * DWARF names constructors and destructors C4 and D4, but symbols never have these names (GCC bug
 * 64346): the inlined copies are C2 and D2. The plain name stays the same only for a real
 * constructor or destructor.
 */
static char *symbol_of_constructor(const char *name)
{
	char *place, *plain, *changed_plain, *changed;

	changed = strdup(name);
	place = changed ? strstr(changed, "C4E") : NULL;
	if (changed && !place)
		place = strstr(changed, "D4E");
	if (!place)
		return changed;
	place[1] = '2';
	plain = ntrace_demangle(name);
	changed_plain = ntrace_demangle(changed);
	if (plain && changed_plain && strcmp(plain, changed_plain))
		place[1] = '4';
	free(plain);
	free(changed_plain);
	return changed;
}

/* The name that GCC looks for; owned by the lines or by @gcov; NULL when out of memory. */
static const char *symbol_name(struct gcov *gcov, const char *name)
{
	char *changed, **node;

	if (strncmp(name, "_ZN", 3) || (!strstr(name, "C4E") && !strstr(name, "D4E")))
		return name;
	changed = symbol_of_constructor(name);
	if (!changed)
		return NULL;
	node = tsearch(changed, &gcov->names, compare_texts);
	if (!node || *node != changed)
		free(changed);
	return node ? *node : NULL;
}

static uint32_t outermost(const struct ntrace_scope *scopes, uint32_t scope)
{
	while (scopes[scope].inlined && scopes[scope].parent != NTRACE_NO_SCOPE)
		scope = scopes[scope].parent;
	return scope;
}

/* The node of a place and name, existing or new. */
static struct gcov_node *find_node(struct gcov *gcov, const struct gcov_node *wanted)
{
	struct gcov_node *made, **found = tfind(wanted, &gcov->tree, compare_nodes);

	if (found)
		return *found;
	if (gcov->node_count == UINT32_MAX ||
	    grow((void **)&gcov->nodes, gcov->node_count, &gcov->node_room, sizeof(*gcov->nodes)))
		return NULL;
	made = malloc(sizeof(*made));
	if (!made)
		return NULL;
	*made = *wanted;
	made->number = (uint32_t)gcov->node_count;
	if (!tsearch(made, &gcov->tree, compare_nodes)) {
		free(made);
		return NULL;
	}
	gcov->nodes[gcov->node_count++] = made;
	return made;
}

static uint32_t offset_of(uint32_t line, const struct ntrace_scope *scope, uint32_t discriminator)
{
	return (line - scope->line) << 16 | (discriminator & 0xffff);
}

/* The node that counts the code of a scope; NULL when out of memory. */
static struct gcov_node *node_of(struct gcov *gcov, const struct ntrace_scope *scopes,
				 uint32_t number)
{
	const struct ntrace_scope *scope = &scopes[number];
	struct gcov_node wanted = { .file = scope->file };

	if (gcov->of_scope[number])
		return gcov->of_scope[number];
	wanted.name = symbol_name(gcov, scope->name);
	if (!wanted.name)
		return NULL;
	if (outermost(scopes, number) != number) {
		wanted.parent = node_of(gcov, scopes, scope->parent);
		wanted.offset = offset_of(scope->call_line, &scopes[scope->parent],
					  scope->call_discriminator);
		if (!wanted.parent)
			return NULL;
	}
	gcov->of_scope[number] = find_node(gcov, &wanted);
	return gcov->of_scope[number];
}

static void add_to(uint64_t *sum, uint64_t count)
{
	*sum = add_counts(*sum, count);
}

/* Position of the walk through an object. @line: the first one that ends after the last instruction */
struct gcov_walk {
	struct gcov *gcov;
	const struct ntrace_scope *scopes;
	const struct ntrace_line *line, *end;
};

static int add_position(struct gcov *gcov, const struct gcov_position *position)
{
	struct gcov_position *last =
		gcov->position_count ? &gcov->positions[gcov->position_count - 1] : NULL;
	int error;

	if (last && last->node == position->node && last->offset == position->offset &&
	    last->outer == position->outer) {
		if (last->count < position->count)
			last->count = position->count;
		return 0;
	}
	error = grow((void **)&gcov->positions, gcov->position_count, &gcov->position_room,
		     sizeof(*gcov->positions));
	if (!error)
		gcov->positions[gcov->position_count++] = *position;
	return error;
}

static int add_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn, uint64_t executed)
{
	struct gcov_walk *walk = data;
	struct gcov_position position = { .count = executed };
	uint32_t scope = ntrace_lines_scope(walk->gcov->lines, address);
	struct gcov_node *node;

	(void)bytes, (void)insn;
	while (walk->line < walk->end && walk->line->end <= address)
		walk->line++;
	if (scope == NTRACE_NO_SCOPE || walk->line == walk->end || walk->line->start > address ||
	    !walk->line->line) {
		add_to(&walk->gcov->counts.unknown, executed);
		return 0;
	}
	node = node_of(walk->gcov, walk->scopes, scope);
	if (!node)
		return NTRACE_ERR_NOMEM;
	position.node = node->number;
	position.offset =
		offset_of(walk->line->line, &walk->scopes[scope], walk->line->discriminator);
	position.outer = outermost(walk->scopes, scope);
	add_to(&walk->gcov->counts.executed, executed);
	return add_position(walk->gcov, &position);
}

static int add_lines(struct gcov *gcov, const struct ntrace_counts *counts,
		     const struct ntrace_scope *scopes)
{
	struct gcov_walk walk = { .gcov = gcov, .scopes = scopes };
	size_t count;

	walk.line = ntrace_lines_all(gcov->lines, &count);
	walk.end = walk.line + count;
	return ntrace_counts_walk_executed(counts, add_instruction, &walk);
}

/* Whether a transfer is a call, or a jump from its function to the start of another one. */
static bool is_call(const struct ntrace_profile_trace *trace, bool same_function)
{
	switch (trace->from_class) {
	case NTRACE_INSN_CALL:
	case NTRACE_INSN_INDIRECT_CALL:
		return true;
	case NTRACE_INSN_RETURN:
	case NTRACE_INSN_TRAP_RETURN:
	case NTRACE_INSN_TRAP:
		return false;
	default:
		return !same_function;
	}
}

/*
 * Unlike create_gcov, write only targets of indirect transfers. GCC needs no others, and where it
 * distinguishes lines by number alone it would take the targets of direct calls for those of the
 * pointer.
 */
static bool is_indirect(const struct ntrace_profile_trace *trace)
{
	return trace->from_class == NTRACE_INSN_INDIRECT_CALL ||
	       trace->from_class == NTRACE_INSN_INDIRECT_JUMP ||
	       trace->from_class == NTRACE_INSN_OTHER_INDIRECT_JUMP;
}

static int add_target(struct gcov *gcov, const struct ntrace_scope *scopes, uint32_t from_scope,
		      const struct ntrace_profile_trace *trace, const char *name)
{
	const struct ntrace_line *line = ntrace_lines_find(gcov->lines, trace->from);
	int error;

	if (!line || !line->line || !gcov->of_scope[from_scope])
		return 0;
	error = grow((void **)&gcov->targets, gcov->target_count, &gcov->target_room,
		     sizeof(*gcov->targets));
	if (!error)
		gcov->targets[gcov->target_count++] = (struct gcov_target){
			.node = gcov->of_scope[from_scope]->number,
			.offset = offset_of(line->line, &scopes[from_scope], line->discriminator),
			.name = name,
			.count = trace->count,
		};
	return error;
}

/* Counts transfers to the start of a function as its executions and as targets of calls. */
static int add_call(struct gcov *gcov, const struct ntrace_scope *scopes,
		    const struct ntrace_profile_trace *trace)
{
	uint32_t scope, from = NTRACE_NO_SCOPE;
	struct gcov_node *node;
	bool same;

	if (trace->object != gcov->object)
		return 0;
	scope = ntrace_lines_scope(gcov->lines, trace->start);
	if (scope == NTRACE_NO_SCOPE)
		return 0;
	scope = outermost(scopes, scope);
	/* A scope that begins with line number 0 has no node. */
	node = gcov->of_scope[scope];
	if (scopes[scope].entry != trace->start || !node)
		return 0;
	if (trace->from_object == gcov->object)
		from = ntrace_lines_scope(gcov->lines, trace->from);
	same = from != NTRACE_NO_SCOPE && outermost(scopes, from) == scope;
	if (trace->from_object == gcov->object && !is_call(trace, same))
		return 0;
	if (trace->instructions)
		add_to(&node->arrived, trace->count);
	if (trace->from_object)
		add_to(&node->called, trace->count);
	if (from == NTRACE_NO_SCOPE || !is_indirect(trace))
		return 0;
	return add_target(gcov, scopes, from, trace, node->name);
}

static int compare_copies(const void *left, const void *right)
{
	const struct gcov_position *a = left, *b = right;
	int order = compare_numbers(a->node, b->node);

	if (!order)
		order = compare_numbers(a->offset, b->offset);
	return order ? order : compare_numbers(a->outer, b->outer);
}

/* GCC 12 ignores discriminators and keeps the last count of a line: the greatest must be last. */
static int compare_positions(const void *left, const void *right)
{
	const struct gcov_position *a = left, *b = right;
	int order = compare_numbers(a->node, b->node);

	if (!order)
		order = compare_numbers(a->offset >> 16, b->offset >> 16);
	if (!order)
		order = compare_numbers(a->count, b->count);
	return order ? order : compare_numbers(a->offset, b->offset);
}

static void fold_positions(struct gcov *gcov)
{
	struct gcov_position *all = gcov->positions;
	size_t i, kept = TOP;
	uint64_t most = 0;

	if (gcov->position_count)
		qsort(all, gcov->position_count, sizeof(*all), compare_copies);
	for (i = 0; i < gcov->position_count; i++) {
		struct gcov_position next = all[i];
		bool same = kept != TOP && all[kept].node == next.node &&
			    all[kept].offset == next.offset;

		if (same && all[kept].outer == next.outer) {
			if (next.count > most) {
				add_to(&all[kept].count, next.count - most);
				most = next.count;
			}
			continue;
		}
		most = next.count;
		if (same) {
			add_to(&all[kept].count, next.count);
			all[kept].outer = next.outer;
		} else {
			all[++kept] = next;
		}
	}
	gcov->position_count = kept + 1;
	if (gcov->position_count)
		qsort(all, gcov->position_count, sizeof(*all), compare_positions);
	for (i = 0; i < gcov->position_count; i++) {
		struct gcov_node *node = gcov->nodes[all[i].node];

		if (!node->position_count++)
			node->position = i;
	}
}

static int compare_targets(const void *left, const void *right)
{
	const struct gcov_target *a = left, *b = right;
	int order = compare_numbers(a->node, b->node);

	if (!order)
		order = compare_numbers(a->offset, b->offset);
	return order ? order : strcmp(a->name, b->name);
}

static void fold_targets(struct gcov *gcov)
{
	size_t i, kept = 0;

	if (!gcov->target_count)
		return;
	qsort(gcov->targets, gcov->target_count, sizeof(*gcov->targets), compare_targets);
	for (i = 1; i < gcov->target_count; i++) {
		if (!compare_targets(&gcov->targets[kept], &gcov->targets[i]))
			add_to(&gcov->targets[kept].count, gcov->targets[i].count);
		else
			gcov->targets[++kept] = gcov->targets[i];
	}
	gcov->target_count = kept + 1;
}

static void sort_nodes(struct gcov *gcov)
{
	size_t i;

	if (gcov->node_count)
		qsort(gcov->nodes, gcov->node_count, sizeof(struct gcov_node *),
		      compare_node_pointers);
	for (i = 0; i < gcov->node_count; i++) {
		struct gcov_node *node = gcov->nodes[i];
		struct gcov_node *parent = (struct gcov_node *)(uintptr_t)node->parent;

		node->head = node->called > node->arrived ? node->called : node->arrived;
		if (!parent)
			gcov->counts.functions++;
		else if (!parent->inlined_count++)
			parent->inlined = i;
	}
}

static int collect(struct gcov *gcov, struct ntrace_profile *profile)
{
	const struct ntrace_profile_trace *traces;
	const struct ntrace_scope *scopes;
	struct ntrace_counts *counts;
	size_t count, i;
	int error;

	scopes = ntrace_lines_scopes(gcov->lines, &count);
	gcov->of_scope = calloc(count + 1, sizeof(struct gcov_node *));
	if (!gcov->of_scope)
		return NTRACE_ERR_NOMEM;
	error = ntrace_counts_new(&counts, profile, gcov->object);
	if (error)
		return error;
	error = add_lines(gcov, counts, scopes);
	ntrace_counts_free(counts);
	traces = ntrace_profile_traces(profile, &count);
	for (i = 0; i < count && !error; i++)
		error = add_call(gcov, scopes, &traces[i]);
	fold_positions(gcov);
	fold_targets(gcov);
	sort_nodes(gcov);
	gcov->counts.positions = gcov->position_count;
	return error;
}

static void do_nothing(void *node)
{
	(void)node;
}

int ntrace_export_gcov(FILE *file, struct ntrace_profile *profile,
		       const struct ntrace_export_gcov_options *options,
		       struct ntrace_export_gcov_counts *counts)
{
	struct ntrace_export_gcov_options full = { 0 };
	struct gcov gcov = { 0 };
	int error;
	size_t i;

	if (STRUCT_TAKE(&full, options))
		return NTRACE_ERR_INVALID;
	options = &full;
	if (!options->lines || !options->object || options->version < NTRACE_EXPORT_GCOV_FIRST ||
	    options->version > NTRACE_EXPORT_GCOV_LAST)
		return NTRACE_ERR_INVALID;
	gcov.lines = options->lines;
	gcov.object = options->object;
	error = collect(&gcov, profile);
	if (!error)
		error = gcov_write_file(&gcov, file, options->version);
	if (counts)
		*counts = gcov.counts;
	tdestroy(gcov.tree, do_nothing);
	for (i = 0; i < gcov.node_count; i++)
		free(gcov.nodes[i]);
	tdestroy(gcov.names, free);
	free(gcov.nodes);
	free(gcov.of_scope);
	free(gcov.positions);
	free(gcov.targets);
	return error;
}
