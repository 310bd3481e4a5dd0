/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Profile: the execution that a session decodes, added up. Shared by the files of lib/profile.
 *
 * All is made of traces (struct ntrace_profile_trace): a straight run of instructions, the transfer that led to it,
 * and a count.
 *
 *      event, blocks        sum: lead, blocks, times        branch stack of perf.data
 *            |                        |                               |
 *       profile.c: which run do they continue?                   branches.c
 *            +----------+-------------+-------------------------------+
 *                       v
 *               table.c: traces ----> edges.c; counts.c ----> coverage.c
 *                       +-----------> functions.c, with function_table.c
 *
 * occupancy.c adds up threads by CPU and time, from the same events and segments; sampler.c is a receiver of its own.
 *
 *      no run ---- block ----> @in_run ---- taken transfer ----> @arrived ---- block ----> @in_run
 *                               |   ^
 *      trap, excluded privilege v   | the thread is back at that address, or after that system call
 *                            suspended
 *
 * - Each instruction of a selected block is in one trace.
 * - A gap, or another end of the trace, closes all runs of the stream, suspended ones as well.
 * - A sum begins where its lead ends, and leaves the place of the stream as it was; with 0 times it sets the place.
 * - Known runs only save time: without them, the same traces have the same counts.
 */
#ifndef NTRACE_PROFILE_STATE_H
#define NTRACE_PROFILE_STATE_H

#include <ntrace/profile.h>

#include "functions.h"
#include "pairs.h"
#include "select.h"
#include "table.h"

/* Maximum number of interrupted runs per stream: enough for nested traps of all sleeping tasks. */
#define SUSPENDED_MAX 256

#define KNOWN_RUNS (1u << 16)

/* An object of the session and the table's own object for the same file; both are referenced. */
struct alias {
	struct ntrace_object *object;
	struct ntrace_object *same;
};

/*
 * A trace found by the ids of blocks: the one that transferred control, the first and the last one
 * of the run. @from: 0 = free.
 */
struct known_run {
	uint32_t from;
	uint32_t first;
	uint32_t last;
	uint32_t trace;		/* index */
};

/*
 * A run that may continue.
 * @next: address of the instruction that follows in a straight line
 * @bias: address minus link address
 * @counted: the options select it
 */
struct straight_run {
	struct ntrace_profile_trace trace;
	uint64_t next;
	uint64_t bias;
	int32_t pid;
	int32_t tid;
	unsigned int privilege;
	bool counted;
};

/*
 * Where a suspended run may continue; apart from the rest, so that a search reads little memory.
 * @next: as in the run
 * @after_trap: if the instruction at @next always traps (a system call): the address that its handler
 *          returns to, where a new run begins; otherwise @next
 */
struct continuation {
	uint64_t next;
	uint64_t after_trap;
};

/*
 * Where the flow of a stream is.
 * @space: space of the last block; referenced
 * @isa: instruction set of the last block
 * @in_run: @run is in progress
 * @arrived: a transfer was taken and @run.trace holds only its source; if @target_known, @run.next
 *           is its target
 * @trapped: a trap led to @handler, where no block has come yet
 * @from_id: block that ended with the transfer, if @arrived; 0 = has no id
 */
struct profile_place {
	struct ntrace_space *space;
	struct ntrace_isa isa;
	struct straight_run run;
	uint32_t from_id;
	bool in_run;
	bool arrived;
	bool target_known;
	bool trapped;
	uint64_t handler;
};

/*
 * What is known between two blocks of a stream.
 * @place: while it is not the present stream
 * @known: traces by the ids of their blocks, valid until the stream ends or the traces are sorted;
 *         NULL before the first batch
 */
struct profile_stream {
	struct profile_place place;
	struct known_run *known;
	struct straight_run suspended[SUSPENDED_MAX];	/* sorted by time, the latest one last */
	struct continuation continuations[SUSPENDED_MAX];
	size_t suspended_count;
};

/*
 * @edges: array returned last
 * @functions: NULL if not requested
 * @occupancy: likewise
 * @sampled: the traces come from branch stacks
 * @by_source: branches are counted at their sources, since ends of runs may be unknown
 * @streams: by index, NULL where nothing came yet
 * @stream: that of the present event, NULL: none; @number: its index, UINT_MAX: none; @at: its place
 * @separate: traces of several privileges are not the same
 * @counted: the options select the present event
 * @process: number of the process of the present event, see struct ntrace_profile_trace
 * @added: number of traces added
 * @times: number of executions that a block stands for
 * @leading: blocks only lead to others and are not counted
 */
struct ntrace_profile {
	struct trace_table table;
	void *edges;
	struct function_sums *functions;
	struct occupancy *occupancy;
	bool sampled;
	bool by_source;
	struct ntrace_profile_options options;
	struct ntrace_locator *locator;
	struct alias *aliases;
	struct pairs alias_numbers;	/* of objects: index of the alias plus 1 */
	size_t alias_count;
	size_t alias_room;
	size_t alias_last;
	struct profile_stream **streams;
	unsigned int stream_count;
	unsigned int number;
	struct profile_stream *stream;
	struct profile_place at;
	bool separate;
	bool counted;
	uint32_t process;
	uint64_t added;
	uint64_t times;
	bool leading;
};

/* Whether the options select what @at executes in @privilege. */
static inline bool profile_counts(const struct ntrace_profile *profile,
				  const struct ntrace_session_event *at, unsigned int privilege)
{
	return is_selected(profile->options.threads, profile->options.privileges, at, privilege);
}

#endif
