/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The traces of a profile, found by key. */
#ifndef NTRACE_PROFILE_TABLE_H
#define NTRACE_PROFILE_TABLE_H

#include <ntrace/profile.h>

#include "slots.h"

/*
 * @slots: of the traces
 * @objects: referenced, each once
 * @last: index of the trace that was added to last
 */
struct trace_table {
	struct ntrace_profile_trace *traces;
	size_t count;
	size_t room;
	size_t last;
	struct slots slots;
	void *files;	/* the objects by their files, tree of tsearch() */
	struct ntrace_profile_object *objects;
	size_t object_count;
	size_t object_room;
};

void table_free(struct trace_table *table);

/* Removes all traces; the objects stay. */
void table_clear(struct trace_table *table);

/* Adds @trace->count to the equal trace, table->last; at most UINT64_MAX. Return: 0 or NTRACE_ERR_NOMEM. */
int table_add(struct trace_table *table, const struct ntrace_profile_trace *trace);

/* The table's own object for @object, perhaps another object of the same file; NULL stays NULL. */
int table_object(struct trace_table *table, struct ntrace_object *object,
		 struct ntrace_object **same);

/* By name, then by build-id: 0 only for the same object of a table. NULL comes last. */
int table_compare_objects(const struct ntrace_object *a, const struct ntrace_object *b);

void table_sort_traces(struct trace_table *table);
void table_sort_objects(struct trace_table *table);

#endif
