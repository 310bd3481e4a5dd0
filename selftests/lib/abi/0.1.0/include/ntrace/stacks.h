/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Call stacks over time, made from what was executed.
 *
 * Every thread has a stack of frames. A call pushes one, a return goes to the
 * frame that waits for its address, a jump into another function replaces the
 * frame on top (a tail call). A trap puts the frames of its handler on top of what
 * it interrupts, until control comes back there; so does a signal. A return that
 * nobody waits for unwinds to the frame that it lands in (longjmp, exceptions),
 * or goes to another stack of the same thread that was left before (co-routines).
 *
 * What is not known is not made up. Callers that were not seen are "[unknown]". After a
 * loss the stack begins anew on top of "[unknown]"; what was there before is set aside, and
 * comes back as soon as control comes to where one of its frames was to go on.
 *
 * What the compiler inlined has frames of its own, if that is wanted and the debug information tells:
 * below them is the function that the copy is in. They are known by address alone: so nothing tells
 * how often they began, and a function has one for all of its copies.
 *
 * A trace has no stack pointers. After a longjmp or an exception the frame is the
 * innermost one that can be meant; with recursion it may have been an outer one.
 */
#ifndef NTRACE_STACKS_H
#define NTRACE_STACKS_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum ntrace_stack_kind - what a function of a stack is */
enum ntrace_stack_kind {
	NTRACE_STACK_FUNCTION,	/* a function with a name */
	NTRACE_STACK_OBJECT,	/* code of an object that no symbol is known for */
	NTRACE_STACK_UNKNOWN,	/* "[unknown]": callers that were not seen */
	NTRACE_STACK_TASK,	/* a thread: what its outermost frames hang from */
	NTRACE_STACK_ALL,	/* what the threads hang from */
};

/**
 * struct ntrace_stack_function - a function, and what was executed of it
 * @name: of the symbol, as the object has it; of the object without directories; of the thread
 * @object: holds the code; NULL if nothing is known of it; owned by the stacks
 * @start: link address of the symbol
 * @kind: enum ntrace_stack_kind
 * @pid: TASK: process, -1 = unknown
 * @tid: TASK: thread
 * @inlined: FUNCTION: its copies within other functions; @start is 0, there are no @calls
 * @calls: times it was entered: by a call, a jump from another function, a trap or a signal
 * @instructions: executed in it
 * @total: executed in it and in what it called, each once
 * @ticks: time in it, see struct ntrace_stacks_options
 * @total_ticks: likewise, and in what it called
 */
struct ntrace_stack_function {
	const char *name;
	struct ntrace_object *object;
	uint64_t start;
	uint32_t kind;
	int32_t pid;
	int32_t tid;
	bool inlined;
	uint8_t reserved[3];
	uint64_t calls;
	uint64_t instructions;
	uint64_t total;
	uint64_t ticks;
	uint64_t total_ticks;
};

/**
 * struct ntrace_stack_node - a function under its callers: one node of the call tree
 * @function: index into ntrace_stacks_functions()
 * @parent: index of the caller's node, always less than its own; 0 of the root, node 0
 * @depth: of nodes above it
 * @calls: as in the function, from this caller
 * @instructions: executed in it
 * @total: with all nodes below
 * @ticks: time in it
 * @total_ticks: with all nodes below
 */
struct ntrace_stack_node {
	uint32_t function;
	uint32_t parent;
	uint32_t depth;
	uint32_t reserved;
	uint64_t calls;
	uint64_t instructions;
	uint64_t total;
	uint64_t ticks;
	uint64_t total_ticks;
};

/**
 * struct ntrace_stack_edge - a caller and a callee
 * @caller: index into ntrace_stacks_functions()
 * @callee: likewise
 * @calls: from the one to the other
 * @total: instructions in the callee and below, of calls while the callee was not being executed
 *         already: so the totals of the edges to a function make its total, with recursion too
 */
struct ntrace_stack_edge {
	uint32_t caller;
	uint32_t callee;
	uint64_t calls;
	uint64_t total;
};

/** enum ntrace_stack_time - how good the time of a change is */
enum ntrace_stack_time {
	NTRACE_STACK_TIME_NONE,		/* the trace has no time stamps */
	NTRACE_STACK_TIME_EXACT,	/* that of a time stamp */
	NTRACE_STACK_TIME_INTERPOLATED,	/* between two time stamps, by instructions */
	NTRACE_STACK_TIME_OUTSIDE,	/* before the first or after the last time stamp: that one */
};

/** enum ntrace_stack_change_type - what happens to a stack */
enum ntrace_stack_change_type {
	NTRACE_STACK_ENTER,	/* a frame is there now */
	NTRACE_STACK_LEAVE,	/* the top frame is gone */
	NTRACE_STACK_GAP,	/* trace was lost: what was done meanwhile is not known */
	NTRACE_STACK_RUN,	/* the hart runs this thread from here on, selected or not; with kind
				 * NTRACE_STACK_ALL: none, the stream ends */
};

/**
 * struct ntrace_stack_change - a frame comes or goes
 * @type: enum ntrace_stack_change_type
 * @time_kind: enum ntrace_stack_time
 * @called: ENTER: it begins; else it is met in the middle, or its stack came back
 * @stream: index of the stream of the session
 * @cpu: Linux number of the hart
 * @pid: process; -1 = unknown
 * @tid: thread
 * @comm: its name
 * @name: as in struct ntrace_stack_function
 * @object: likewise
 * @kind: likewise
 * @depth: of frames below it
 * @instructions: executed in this stream before, of all threads
 * @time: ticks of the stream's time stamps, if there are any
 */
struct ntrace_stack_change {
	uint8_t type;
	uint8_t time_kind;
	bool called;
	uint8_t reserved;
	uint32_t stream;
	uint32_t cpu;
	int32_t pid;
	int32_t tid;
	uint32_t kind;
	const char *comm;
	const char *name;
	const struct ntrace_object *object;
	uint32_t depth;
	uint32_t reserved32;
	uint64_t instructions;
	uint64_t time;
};

/**
 * struct ntrace_stacks_options - what to make of a flow
 * @size: sizeof(struct ntrace_stacks_options) of the caller
 * @pid: only this process; -1 = all
 * @privileges: bit mask of 1 << enum ntrace_priv: only frames there; 0 = all
 * @depth: of the call tree; functions deeper than this are taken for callees of the frame there.
 *         0 = 512
 * @nodes: of the call tree; when they are used up, what is new goes to "[other]", and the
 *         statistics tell. 0 = 4,000,000
 * @merge_threads: threads of the same name are counted as one
 * @inlined: the call tree has frames for what was inlined, by the DWARF of the objects, see
 *           ntrace_units_open(); @change is told of functions only
 * @change: gets every change of a stack in the order of the stream; NULL: only counts are wanted.
 *          Between two time stamps changes wait for the second one, 65,536 at most: then the
 *          older half is OUTSIDE. Not 0 stops, and is returned by ntrace_stacks_event()
 * @data: for @change
 * @directories: of separate debug files, as for ntrace_object_add_debug_file(); must last as long as
 *               events are taken
 */
struct ntrace_stacks_options {
	size_t size;
	int32_t pid;
	uint32_t privileges;
	uint32_t depth;
	uint32_t nodes;
	bool merge_threads;
	bool inlined;
	uint8_t reserved[6];
	int (*change)(void *data, const struct ntrace_stack_change *change);
	void *data;
	const char *const *directories;
};

/**
 * struct ntrace_stacks_stats - what happened
 * @instructions: that were selected: the sum over all functions
 * @calls: jumps into other functions, traps and signals that were shown
 * @returns: to the frame that waited for them
 * @unwound: returns over several frames: longjmp, exceptions
 * @switched: returns to a stack that had been left: co-routines, and after a loss
 * @below: returns to a caller that was not seen
 * @unmatched: returns to where no frame waited: what was known of the stack was set aside
 * @signals: handlers that began
 * @gaps: losses
 * @cut: stacks that became too deep, 65,536 frames: the outer half is forgotten
 * @other: instructions in "[other]"
 */
struct ntrace_stacks_stats {
	uint64_t instructions;
	uint64_t calls;
	uint64_t returns;
	uint64_t unwound;
	uint64_t switched;
	uint64_t below;
	uint64_t unmatched;
	uint64_t signals;
	uint64_t gaps;
	uint64_t cut;
	uint64_t other;
};

struct ntrace_stacks;

/**
 * ntrace_stacks_new - no stacks yet
 * @stacks: the new ones, to be freed with ntrace_stacks_free()
 * @options: copied; NULL: count everything
 *
 * Return: 0, NTRACE_ERR_INVALID (no tree can be made with @options), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_new(struct ntrace_stacks **stacks,
					  const struct ntrace_stacks_options *options);
NTRACE_EXPERIMENTAL void ntrace_stacks_free(struct ntrace_stacks *stacks);

/**
 * ntrace_stacks_event - the next event of a stream
 *
 * Events of one stream in order; ntrace_stacks_end() between streams.
 * Return: 0, NTRACE_ERR_NOMEM, or what the callback returned.
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_event(struct ntrace_stacks *stacks,
					    const struct ntrace_session_event *event);

/**
 * ntrace_stacks_end - the stream ends: all frames are left
 *
 * To be called before anything is read, too. Return: as ntrace_stacks_event().
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_end(struct ntrace_stacks *stacks);

/**
 * ntrace_stacks_merge - add what @from counted to @into
 *
 * Objects are the same if their build-ids are, or, without them, their names; threads, if ids and
 * name are. Return: 0 or NTRACE_ERR_NOMEM (then a part was added).
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_merge(struct ntrace_stacks *into,
					    const struct ntrace_stacks *from);

/**
 * ntrace_stacks_functions - all functions, by kind, name, object and address
 * @stacks: stacks
 * @count: their number; 0 = out of memory, as there is always one that all hangs from
 *
 * The same counts give the same order, here and below.
 * Return: array owned by the stacks, as are those below: valid until the next event or merge.
 */
NTRACE_EXPERIMENTAL const struct ntrace_stack_function *
ntrace_stacks_functions(struct ntrace_stacks *stacks, size_t *count);

/** ntrace_stacks_nodes - the call tree, callers before callees; @count as above */
NTRACE_EXPERIMENTAL const struct ntrace_stack_node *
ntrace_stacks_nodes(struct ntrace_stacks *stacks, size_t *count);

/** ntrace_stacks_edges - callers and callees, in order of both; @count as above */
NTRACE_EXPERIMENTAL const struct ntrace_stack_edge *
ntrace_stacks_edges(struct ntrace_stacks *stacks, size_t *count);

struct ntrace_profile;

/**
 * ntrace_stacks_add_totals - set totals and times of the functions of a profile
 * @stacks: after ntrace_stacks_end()
 * @profile: a profile of the same events with NTRACE_PROFILE_FUNCTIONS and without by_process
 *
 * Sets total, ticks and total_ticks of struct ntrace_profile_function. Code that was inlined counts
 * for the function that contains it. Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_add_totals(struct ntrace_stacks *stacks,
						 struct ntrace_profile *profile);

/** ntrace_stacks_get_stats - copy the statistics, of all streams so far */
NTRACE_EXPERIMENTAL void ntrace_stacks_get_stats(const struct ntrace_stacks *stacks,
						 struct ntrace_stacks_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_STACKS_H */
