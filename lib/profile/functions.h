/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of a profile, found by key, and the code that sums them up. */
#ifndef NTRACE_PROFILE_FUNCTIONS_H
#define NTRACE_PROFILE_FUNCTIONS_H

#include <ntrace/functions.h>

#include "slots.h"

/*
 * @items: owns its objects and strings
 */
struct function_table {
	struct ntrace_profile_function *items;
	size_t count;
	size_t room;
	struct slots slots;
};

/*
 * The key of a function.
 * @object: the profile's own object
 * @name: NULL = no known function; borrowed
 * @comm: name of the process for a new function; borrowed
 */
struct function_key {
	struct ntrace_object *object;
	const char *name;
	const char *comm;
	uint64_t start;
	uint32_t privilege;
	int32_t pid;
};

/* Counts branches at their sources: the last transfer of a sample is the end of no run. Before the profile ends. */
void profile_count_by_source(struct ntrace_profile *profile);

void function_table_free(struct function_table *table);

/* Finds or adds a function. Return: 0 or NTRACE_ERR_NOMEM. */
int function_table_find(struct function_table *table, const struct function_key *key,
			size_t *index);

/* @order: enum ntrace_profile_order. Changes the indices. */
void function_table_sort(struct function_table *table, unsigned int order);

struct function_sums;

/* Return: NULL when out of memory. @options: with defaults filled in. */
struct function_sums *function_sums_new(const struct ntrace_profile_options *options);
void function_sums_free(struct function_sums *sums);

/* The number of a process, for its traces; 0: not wanted, or @pid is -1. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_process(struct function_sums *sums, int32_t pid, const char *comm,
			  uint32_t *number);

/* Adds an event of a session to the totals and PC samples of @profile. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_event(struct function_sums *sums, struct ntrace_profile *profile,
			const struct ntrace_session_event *event);

/* Likewise for blocks, and sums of them. */
void function_sums_segment(struct function_sums *sums, const struct ntrace_profile *profile,
			   const struct ntrace_segment *segment);

/* The totals of a trace that was counted elsewhere. */
void function_sums_add(struct function_sums *sums, const struct ntrace_profile_trace *trace);

/* Makes the functions from the traces of @profile. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_make(struct function_sums *sums, const struct ntrace_profile *profile);

/* Adds @from, without its functions, using the profile's own objects. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_merge(struct function_sums *sums, struct ntrace_profile *profile,
			const struct function_sums *from);

/* From the number of a process in @from to that in @sums; both may be NULL. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_join_process(struct function_sums *sums, const struct function_sums *from,
			       uint32_t *number);

/* The functions of a profile, for lib/stacks; NULL if it has none. */
struct function_table *profile_function_table(struct ntrace_profile *profile);

#endif
