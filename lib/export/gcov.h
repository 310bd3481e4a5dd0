/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Data that gcov.c computes from counts and gcov_write.c writes. */
#ifndef NTRACE_EXPORT_GCOV_H
#define NTRACE_EXPORT_GCOV_H

#include <ntrace/export.h>

/* A line of a function or of an inlined copy; before folding, one entry for each copy. */
struct gcov_position {
	uint32_t node;
	uint32_t offset;	/* line relative to the function << 16, and the discriminator */
	uint32_t outer;		/* the scope that contains the copy and is not inlined */
	uint32_t reserved;
	uint64_t count;
};

/* Indirect calls of @name from a position. */
struct gcov_target {
	uint32_t node;
	uint32_t offset;
	const char *name;
	uint64_t count;
};

/*
 * A function, or all copies of a function inlined at one place of another one.
 * @number: in order of creation: less than the number of the functions inlined into it
 * @head: number of executions: the greater of @called and @arrived
 * @called: transfers to it. The run after the newest transfer of a sample is unknown
 * @arrived: runs that begin at its start. After a loss, or in a signal handler, the transfer to it
 *           is unknown
 * @offset: offset of the call in @parent, if there is a parent
 * @inlined: index of the first function inlined into this one, in the sorted gcov.nodes
 */
struct gcov_node {
	const struct gcov_node *parent;
	const char *name;
	const char *file;
	uint64_t head;
	uint64_t called;
	uint64_t arrived;
	uint32_t number;
	uint32_t offset;
	size_t inlined;
	size_t inlined_count;
	size_t position;
	size_t position_count;
};

struct gcov {
	const struct ntrace_lines *lines;
	const struct ntrace_object *object;
	struct gcov_node **nodes;	/* by number, later by parent, offset and name */
	size_t node_count;
	size_t node_room;
	struct gcov_node **of_scope;	/* NULL: not executed so far */
	void *tree;			/* tsearch() tree of the nodes by parent, offset and name */
	void *names;			/* tsearch() tree of the changed names */
	struct gcov_position *positions;
	size_t position_count;
	size_t position_room;
	struct gcov_target *targets;
	size_t target_count;
	size_t target_room;
	struct ntrace_export_gcov_counts counts;
};

/* Writes the sorted and summed data. Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO. */
int gcov_write_file(const struct gcov *gcov, FILE *file, unsigned int version);

#endif
