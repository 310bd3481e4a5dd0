/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What gcov.c makes of counts, and gcov_write.c writes. */
#ifndef NTRACE_EXPORT_GCOV_H
#define NTRACE_EXPORT_GCOV_H

#include <ntrace/export.h>

/* A line of a function, or of a copy of it that was inlined; before folding one for each copy. */
struct gcov_position {
	uint32_t node;
	uint32_t offset;	/* lines from the function's << 16, and the discriminator */
	uint32_t outer;		/* scope that was not inlined, which holds the copy */
	uint32_t reserved;
	uint64_t count;
};

/* Calls of @name through a pointer, from a position. */
struct gcov_target {
	uint32_t node;
	uint32_t offset;
	const char *name;
	uint64_t count;
};

/*
 * A function, or all copies of one that were inlined at one place of another.
 * @number: in order of making: less than that of those inlined into it
 * @head: times that it was executed: the greater of the two that follow
 * @called: transfers to it. Behind the newest transfer of a sample nothing is known
 * @arrived: runs that begin there. After a loss, or in a signal handler, what led there is not known
 * @offset: of the call in @parent, if there is one
 * @inlined: the first of those inlined into this one, in gcov.nodes as sorted
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
	struct gcov_node **nodes;	/* by number; then by parent, offset and name */
	size_t node_count;
	size_t node_room;
	struct gcov_node **of_scope;	/* NULL: not executed so far */
	void *tree;			/* tsearch() tree of the nodes by parent, offset and name */
	void *names;			/* tsearch() tree of the names that were changed */
	struct gcov_position *positions;
	size_t position_count;
	size_t position_room;
	struct gcov_target *targets;
	size_t target_count;
	size_t target_room;
	struct ntrace_export_gcov_counts counts;
};

/* Writes what is sorted and added up. Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO. */
int gcov_write_file(const struct gcov *gcov, FILE *file, unsigned int version);

#endif
