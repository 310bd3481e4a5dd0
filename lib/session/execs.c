// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A segment tree: the ends of all mappings divide the addresses into pieces, the leaves. A mapping is in at most two
 * nodes of each level that together have its pieces. Each node has the numbers of its programs in ascending order: a search
 * passes the nodes from a leaf to the root, and bisects each. So n mappings take n log n time and memory, and a search
 * log^2 n.
 */
#include <stdlib.h>

#include "bisect.h"
#include "execs.h"
#include "grow.h"

struct node {
	uint32_t *programs;
	size_t count, room;
};

/*
 * @start: first address of each piece, in ascending order; the last piece ends with the last address
 * @nodes: the root is 1, the children of i are 2 i and 2 i + 1, and the leaves follow from @pieces on
 */
struct execs {
	uint64_t last;			/* number of the last program in the machine */
	size_t programs, changes;	/* of the process; of that program */
	uint64_t *start;
	size_t pieces;
	struct node *nodes;
	struct exec_file *files;	/* by file and base */
	size_t file_count;
	bool forked;
};

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The piece with @address. */
static size_t piece_of(const struct execs *execs, uint64_t address)
{
	size_t low = 0;

	BISECT(low, execs->pieces, at, execs->start[at] <= address);
	return low - 1;
}

static bool has_code(const struct mapping_change *change)
{
	return change->file && change->length && !change->inherited;
}

/* Divides the addresses; there is a piece that starts at 0. */
static int divide(struct execs *execs, const struct task *task)
{
	size_t most = 1, count = 1, i, k;

	for (i = 0; i < task->program_count; i++)
		most += 2 * task->programs[i]->count;
	execs->start = calloc(most, sizeof(*execs->start));
	if (!execs->start)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < task->program_count; i++) {
		for (k = 0; k < task->programs[i]->count; k++) {
			const struct mapping_change *change = &task->programs[i]->changes[k];

			if (!has_code(change))
				continue;
			execs->start[count++] = change->address;
			/* Past the last address it is 0, where a piece starts anyway. */
			execs->start[count++] = change->address + change->length;
		}
	}
	qsort(execs->start, count, sizeof(*execs->start), compare_addresses);
	for (i = 0; i < count; i++)
		if (!i || execs->start[i] != execs->start[execs->pieces - 1])
			execs->start[execs->pieces++] = execs->start[i];
	return 0;
}

static int compare_files(const void *left, const void *right)
{
	const struct exec_file *a = left, *b = right;

	if (a->file != b->file)
		return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
	return a->base < b->base ? -1 : a->base > b->base;
}

/* Joins entries of the same file and base. */
static void join_files(struct execs *execs, size_t count)
{
	qsort(execs->files, count, sizeof(*execs->files), compare_files);
	for (size_t i = 0; i < count; i++) {
		struct exec_file *last = execs->files + execs->file_count - !!execs->file_count;

		if (!execs->file_count || compare_files(last, &execs->files[i])) {
			execs->files[execs->file_count++] = execs->files[i];
			continue;
		}
		if (last->first > execs->files[i].first)
			last->first = execs->files[i].first;
		if (last->last < execs->files[i].last)
			last->last = execs->files[i].last;
	}
}

static int list_files(struct execs *execs, const struct task *task)
{
	size_t most = 1, count = 0, i, k;

	for (i = 0; i < task->program_count; i++)
		most += task->programs[i]->count;
	execs->files = calloc(most, sizeof(*execs->files));
	if (!execs->files)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < task->program_count; i++) {
		/* It has files of another process. */
		execs->forked |= i && task->programs[i]->base;
		for (k = 0; k < task->programs[i]->count; k++) {
			const struct mapping_change *change = &task->programs[i]->changes[k];

			if (has_code(change))
				execs->files[count++] = (struct exec_file){
					.file = change->file,
					.base = change->address - change->offset,
					.first = change->address,
					.last = change->address + (change->length - 1),
				};
		}
	}
	join_files(execs, count);
	return 0;
}

static int add_to_node(struct node *node, size_t program)
{
	void *programs = node->programs;
	int error;

	if (node->count && node->programs[node->count - 1] == program)
		return 0;
	error = grow(&programs, node->count, &node->room, sizeof(*node->programs));
	node->programs = programs;
	if (!error)
		node->programs[node->count++] = (uint32_t)program;
	return error;
}

static int add_range(struct execs *execs, size_t program, uint64_t first, uint64_t last)
{
	size_t low = piece_of(execs, first) + execs->pieces;
	size_t high = piece_of(execs, last) + execs->pieces + 1;
	int error = 0;

	for (; low < high && !error; low /= 2, high /= 2) {
		if (low & 1)
			error = add_to_node(&execs->nodes[low++], program);
		if (!error && high & 1)
			error = add_to_node(&execs->nodes[--high], program);
	}
	return error;
}

static int add_program(struct execs *execs, const struct program *program, size_t number)
{
	int error = 0;

	if (program->base)
		return add_range(execs, number, 0, UINT64_MAX);
	for (size_t i = 0; i < program->count && !error; i++) {
		const struct mapping_change *change = &program->changes[i];

		if (has_code(change))
			error = add_range(execs, number, change->address,
					  change->address + (change->length - 1));
	}
	return error;
}

struct execs *execs_new(const struct task *task)
{
	struct execs *execs = calloc(1, sizeof(*execs));
	int error;

	if (!execs)
		return NULL;
	error = divide(execs, task);
	if (!error)
		error = list_files(execs, task);
	execs->nodes = error ? NULL : calloc(2 * execs->pieces, sizeof(*execs->nodes));
	if (!execs->nodes)
		error = NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < task->program_count && !error; i++)
		error = add_program(execs, task->programs[i], i);
	if (error) {
		execs_free(execs);
		return NULL;
	}
	execs->last = task->last->number;
	execs->programs = task->program_count;
	execs->changes = task->last->count;
	return execs;
}

void execs_free(struct execs *execs)
{
	if (!execs)
		return;
	for (size_t i = 0; execs->nodes && i < 2 * execs->pieces; i++)
		free(execs->nodes[i].programs);
	free(execs->nodes);
	free(execs->start);
	free(execs->files);
	free(execs);
}

bool execs_has_all(const struct execs *execs, const struct task *task)
{
	return execs->last == task->last->number && execs->programs == task->program_count &&
	       execs->changes == task->last->count;
}

size_t execs_find(const struct execs *execs, size_t from, uint64_t address)
{
	size_t best = SIZE_MAX;

	for (size_t at = piece_of(execs, address) + execs->pieces; at; at /= 2) {
		const struct node *node = &execs->nodes[at];
		size_t low = 0;

		BISECT(low, node->count, middle, node->programs[middle] < from);
		if (low < node->count && node->programs[low] < best)
			best = node->programs[low];
	}
	return best;
}

const struct exec_file *execs_files(const struct execs *execs, size_t *count)
{
	*count = execs->file_count;
	return execs->forked ? NULL : execs->files;
}
