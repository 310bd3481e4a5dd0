/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of a profile, found by key, and the code that sums them up. */
#ifndef NTRACE_PROFILE_FUNCTIONS_H
#define NTRACE_PROFILE_FUNCTIONS_H

#include <ntrace/functions.h>
#include <ntrace/transfer.h>

/*
 * @items: owns its objects and strings
 * @slots: index + 1 of an item, 0 = free; open addressing; the number of slots is a power of two,
 *         at most half of them in use
 */
struct function_table {
	struct ntrace_profile_function *items;
	size_t count;
	size_t room;
	uint32_t *slots;
	size_t slot_count;
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

void function_table_free(struct function_table *table);

/* Finds or adds a function. Return: 0 or NTRACE_ERR_NOMEM. */
int function_table_find(struct function_table *table, const struct function_key *key,
			size_t *index);

/* @order: enum ntrace_profile_order. Changes the indices. */
void function_table_sort(struct function_table *table, unsigned int order);

struct function_sums;
struct block_sums;

/*
 * What the sums know between two blocks of a stream.
 * @next: another stream that has not ended; @open: this one has not
 * @transfers: the last one, whose target may still be unknown
 * @blocks: executions that are not in the functions yet; NULL before the first batch
 */
struct function_stream {
	struct function_stream *next;
	bool open;
	struct ntrace_transfer_tracker transfers;
	struct block_sums *blocks;
};

/* The next events are those of this stream, which must not move until function_sums_leave(). */
void function_sums_enter(struct function_sums *sums, struct function_stream *at);

/* Ends the stream. */
void function_sums_leave(struct function_sums *sums, struct function_stream *at);

/* Return: NULL when out of memory. @options: with defaults filled in. */
struct function_sums *function_sums_new(const struct ntrace_profile_options *options);
void function_sums_free(struct function_sums *sums);

/* Adds an event of a session to the sums of @profile. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_event(struct function_sums *sums, struct ntrace_profile *profile,
			const struct ntrace_session_event *event);

/* Likewise for a batch of blocks. Their counts are in the sums after function_sums_end(). */
int function_sums_blocks(struct function_sums *sums, struct ntrace_profile *profile,
			 const struct ntrace_segment *blocks);

/* Likewise for the blocks of an effect. */
int function_sums_effect(struct function_sums *sums, struct ntrace_profile *profile,
			 const struct ntrace_segment *effect);

/* Replaces the sums by those of the traces of @profile. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_from_traces(struct function_sums *sums, struct ntrace_profile *profile);

/*
 * Adds the functions of all traces to @table, and their instructions to @totals, as user space of
 * no process. Return: 0 or NTRACE_ERR_NOMEM.
 */
int functions_of_traces(struct function_table *table, struct ntrace_profile_totals *totals,
			struct ntrace_profile *profile);

/*
 * Whether a transfer calls the function at @to. A call of a function to its own part is none, but a part that calls itself
 * does what its function would do.
 */
bool transfer_calls(unsigned int insn_class, const struct ntrace_location *from,
		    const struct ntrace_location *to);

/* Adds @from, using the profile's own objects. Return: 0 or NTRACE_ERR_NOMEM. */
int function_sums_merge(struct function_sums *sums, struct ntrace_profile *profile,
			const struct function_sums *from);

/* The functions of a profile, for lib/stacks; NULL if it has none. */
struct function_table *profile_function_table(struct ntrace_profile *profile);

#endif
