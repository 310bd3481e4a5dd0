// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Converts counts of instructions to counts of lines, branches and functions. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/coverage.h>

#include "compare.h"
#include "grow.h"
#include "parts.h"
#include "saturate.h"
#include "struct_size.h"

/* Executions of one copy of a line; @copy: object and scope. */
struct line_copy {
	const char *file;
	uint64_t copy;
	uint64_t executed;
	uint32_t line;
};

/* @lines owns the strings. */
struct covered_object {
	const struct ntrace_object *object;
	struct ntrace_lines *lines;
};

struct ntrace_coverage {
	struct covered_object *objects;
	size_t object_count;
	size_t object_room;
	struct line_copy *copies;
	size_t copy_count;
	size_t copy_room;
	struct ntrace_coverage_line *lines;	/* made from @copies */
	size_t line_count;
	struct ntrace_coverage_branch *branches;
	size_t branch_count;
	size_t branch_room;
	struct ntrace_coverage_function *functions;
	size_t function_count;
	size_t function_room;
};

void ntrace_coverage_free(struct ntrace_coverage *coverage)
{
	size_t i;

	if (!coverage)
		return;
	for (i = 0; i < coverage->object_count; i++)
		ntrace_lines_close(coverage->objects[i].lines);
	free(coverage->objects);
	free(coverage->copies);
	free(coverage->lines);
	free(coverage->branches);
	free(coverage->functions);
	free(coverage);
}

/* Position of the walk through an object. */
struct line_walk {
	struct ntrace_coverage *coverage;
	const struct ntrace_lines *lines;
	const struct ntrace_counts *counts;
	const struct ntrace_line *line;
};

static int add_branch(struct line_walk *walk, uint64_t address, uint64_t executed)
{
	struct ntrace_coverage *coverage = walk->coverage;
	int error = grow((void **)&coverage->branches, coverage->branch_count,
			 &coverage->branch_room, sizeof(*coverage->branches));

	if (!error)
		coverage->branches[coverage->branch_count++] = (struct ntrace_coverage_branch){
			.file = walk->line->file,
			.line = walk->line->line,
			.object = (uint32_t)coverage->object_count - 1,
			.address = address,
			.executed = executed,
			.taken = ntrace_counts_taken(walk->counts, address),
		};
	return error;
}

/* @scope: innermost scope of an instruction, or a function whose declaration is counted. */
static int add_copy(struct line_walk *walk, const char *file, uint32_t line, uint32_t scope,
		    uint64_t executed)
{
	struct ntrace_coverage *coverage = walk->coverage;
	uint64_t copy = (uint64_t)coverage->object_count << 32 | scope;
	struct line_copy *last = NULL;
	int error;

	if (coverage->copy_count)
		last = &coverage->copies[coverage->copy_count - 1];
	if (last && last->copy == copy && last->file == file && last->line == line) {
		if (last->executed < executed)
			last->executed = executed;
		return 0;
	}
	error = grow((void **)&coverage->copies, coverage->copy_count, &coverage->copy_room,
		     sizeof(*coverage->copies));
	if (!error)
		coverage->copies[coverage->copy_count++] =
			(struct line_copy){ file, copy, executed, line };
	return error;
}

static int add_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn, uint64_t executed)
{
	struct line_walk *walk = data;
	int error;

	(void)bytes;
	/* It never retires: the trace has neither its executions nor their absence. */
	if (insn->insn_class == NTRACE_INSN_TRAP)
		return 0;
	error = add_copy(walk, walk->line->file, walk->line->line,
			 ntrace_lines_scope(walk->lines, address), executed);
	if (!error && insn->insn_class == NTRACE_INSN_BRANCH)
		error = add_branch(walk, address, executed);
	return error;
}

static int add_lines(struct line_walk *walk)
{
	const struct ntrace_line *lines;
	size_t count, i;
	int error = 0;

	lines = ntrace_lines_all(walk->lines, &count);
	for (i = 0; i < count && !error; i++) {
		if (!lines[i].line)
			continue;
		walk->line = &lines[i];
		error = ntrace_counts_walk(walk->counts, lines[i].start, lines[i].end,
					   add_instruction, walk);
		/* Lines outside the file's code were not executed. */
		if (error == NTRACE_ERR_NOMAP)
			error = 0;
	}
	return error;
}

/* Executions of the first instruction of a function. */
struct entry_count {
	const struct ntrace_counts *counts;
	uint64_t executed;
};

/* A first instruction that never retires, such as a stub's ECALL, counts when control comes to it. */
static int count_entry(void *data, uint64_t address, const uint8_t *bytes,
		       const struct ntrace_insn *insn, uint64_t executed)
{
	struct entry_count *entry = data;

	(void)bytes;
	if (insn->insn_class == NTRACE_INSN_TRAP)
		executed = counts_trapped(entry->counts, address);
	entry->executed = executed;
	return 0;
}

/* The line of a function's declaration counts as its first instruction. */
static int add_function(struct line_walk *walk, const struct ntrace_scope *scope, uint32_t number)
{
	struct ntrace_coverage *coverage = walk->coverage;
	struct entry_count entry = { .counts = walk->counts };
	int error = grow((void **)&coverage->functions, coverage->function_count,
			 &coverage->function_room, sizeof(*coverage->functions));

	if (error)
		return error;
	error = ntrace_counts_walk(walk->counts, scope->entry, scope->entry + 1, count_entry,
				   &entry);
	/* A function outside the file's code was not executed. */
	if (error && error != NTRACE_ERR_NOMAP)
		return error;
	coverage->functions[coverage->function_count++] = (struct ntrace_coverage_function){
		.file = scope->file,
		.name = scope->name,
		.line = scope->line,
		.executed = entry.executed,
	};
	return add_copy(walk, scope->file, scope->line, number, entry.executed);
}

static int add_functions(struct line_walk *walk)
{
	const struct ntrace_scope *scopes;
	size_t count, i;
	int error = 0;

	scopes = ntrace_lines_scopes(walk->lines, &count);
	for (i = 0; i < count && !error; i++) {
		if (!scopes[i].inlined && scopes[i].file && scopes[i].line)
			error = add_function(walk, &scopes[i], (uint32_t)i);
	}
	return error;
}

/*
 * Adds all code of an object that has lines, executed or not. Return: 0, the error of ntrace_lines_open(), or
 * NTRACE_ERR_NOMEM.
 */
static int add_object(struct ntrace_coverage *coverage, struct ntrace_profile *profile,
		      struct ntrace_object *object, const char *const *directories)
{
	struct line_walk walk = { .coverage = coverage };
	struct ntrace_counts *counts;
	struct ntrace_lines *lines;
	int error;

	error = grow((void **)&coverage->objects, coverage->object_count, &coverage->object_room,
		     sizeof(*coverage->objects));
	if (error)
		return error;
	error = ntrace_lines_open(&lines, object, directories);
	if (error)
		return error;
	coverage->objects[coverage->object_count++] = (struct covered_object){ object, lines };
	error = ntrace_counts_new(&counts, profile, object);
	if (error)
		return error;
	walk.lines = lines;
	walk.counts = counts;
	error = add_lines(&walk);
	if (!error)
		error = add_functions(&walk);
	ntrace_counts_free(counts);
	return error;
}

static int compare_places(const char *file, uint32_t line, const char *other, uint32_t other_line)
{
	int order = file == other ? 0 : strcmp(file, other);

	return order ? order : compare_numbers(line, other_line);
}

static int compare_copies(const void *left, const void *right)
{
	const struct line_copy *a = left, *b = right;
	int order = compare_places(a->file, a->line, b->file, b->line);

	return order ? order : compare_numbers(a->copy, b->copy);
}

static int compare_branches(const void *left, const void *right)
{
	const struct ntrace_coverage_branch *a = left, *b = right;
	int order = compare_places(a->file, a->line, b->file, b->line);

	if (!order)
		order = compare_numbers(a->object, b->object);
	return order ? order : compare_numbers(a->address, b->address);
}

static int compare_functions(const void *left, const void *right)
{
	const struct ntrace_coverage_function *a = left, *b = right;
	int order = compare_places(a->file, a->line, b->file, b->line);

	return order ? order : strcmp(a->name, b->name);
}

/* Sums the greatest count of each copy over all copies of a line. */
static void end_lines(struct ntrace_coverage *coverage)
{
	struct ntrace_coverage_line *line = NULL;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < coverage->copy_count; i++) {
		const struct line_copy *copy = &coverage->copies[i];
		bool same = line && !compare_places(line->file, line->line, copy->file, copy->line);

		if (!same) {
			line = &coverage->lines[coverage->line_count++];
			*line = (struct ntrace_coverage_line){ .file = copy->file,
							       .line = copy->line };
		}
		if (!same || copy->copy != copy[-1].copy)
			most = 0;
		if (copy->executed > most) {
			line->executed = add_counts(line->executed, copy->executed - most);
			most = copy->executed;
		}
	}
}

static void end_functions(struct ntrace_coverage *coverage)
{
	struct ntrace_coverage_function *functions = coverage->functions;
	size_t i, kept = 0;

	for (i = 1; i < coverage->function_count; i++) {
		if (!compare_functions(&functions[kept], &functions[i]))
			functions[kept].executed =
				add_counts(functions[kept].executed, functions[i].executed);
		else
			functions[++kept] = functions[i];
	}
	if (coverage->function_count)
		coverage->function_count = kept + 1;
}

/* The array of no items is NULL, which qsort() must not get. */
static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

/* Adds up the results of all objects. */
static int add_up(struct ntrace_coverage *coverage)
{
	coverage->lines = calloc(coverage->copy_count + 1, sizeof(*coverage->lines));
	if (!coverage->lines)
		return NTRACE_ERR_NOMEM;
	sort(coverage->copies, coverage->copy_count, sizeof(*coverage->copies), compare_copies);
	end_lines(coverage);
	free(coverage->copies);
	coverage->copies = NULL;
	coverage->copy_count = 0;
	sort(coverage->branches, coverage->branch_count, sizeof(*coverage->branches),
	     compare_branches);
	sort(coverage->functions, coverage->function_count, sizeof(*coverage->functions),
	     compare_functions);
	end_functions(coverage);
	return 0;
}

static int add_objects(struct ntrace_coverage *coverage, struct ntrace_profile *profile,
		       const struct ntrace_coverage_options *options)
{
	const struct ntrace_profile_object *objects;
	size_t count, i;
	int error;

	objects = ntrace_profile_objects(profile, &count);
	for (i = 0; i < count; i++) {
		if ((options->object && options->object != objects[i].object) ||
		    !objects[i].instructions)
			continue;
		error = add_object(coverage, profile, objects[i].object, options->directories);
		if (error == NTRACE_ERR_NOMEM)
			return error;
		if (error && options->without)
			options->without(options->data, &objects[i], error);
	}
	return add_up(coverage);
}

int ntrace_coverage_make(struct ntrace_coverage **coverage, struct ntrace_profile *profile,
			 const struct ntrace_coverage_options *options)
{
	struct ntrace_coverage_options wanted = { 0 };
	struct ntrace_coverage *made;
	int error;

	if (options && STRUCT_TAKE(&wanted, options))
		return NTRACE_ERR_INVALID;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	error = add_objects(made, profile, &wanted);
	if (error)
		ntrace_coverage_free(made);
	else
		*coverage = made;
	return error;
}

const struct ntrace_coverage_line *ntrace_coverage_lines(const struct ntrace_coverage *coverage,
							 size_t *count)
{
	*count = coverage->line_count;
	return coverage->lines;
}

const struct ntrace_coverage_branch *
ntrace_coverage_branches(const struct ntrace_coverage *coverage, size_t *count)
{
	*count = coverage->branch_count;
	return coverage->branches;
}

const struct ntrace_coverage_function *
ntrace_coverage_functions(const struct ntrace_coverage *coverage, size_t *count)
{
	*count = coverage->function_count;
	return coverage->functions;
}

const struct ntrace_lines *ntrace_coverage_lines_of(const struct ntrace_coverage *coverage,
						    const struct ntrace_object *object)
{
	size_t i;

	for (i = 0; i < coverage->object_count; i++) {
		if (coverage->objects[i].object == object)
			return coverage->objects[i].lines;
	}
	return NULL;
}
