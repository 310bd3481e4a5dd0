/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Call stacks over time, reconstructed from the executed code.
 *
 * Every thread has a stack of frames. A call pushes a frame, a return goes to the frame that waits
 * for its address, a jump into another function replaces the top frame (a tail call). A trap pushes
 * the frames of its handler on the interrupted code until control returns there; so does a signal.
 * A return without a waiting frame unwinds to the frame of its target (longjmp, exceptions), or
 * switches to another stack that the same thread left earlier (co-routines).
 *
 * The library does not invent frames. Unseen callers are "[unknown]". After a loss the stack begins
 * anew on top of "[unknown]". The earlier stack is set aside, and returns as soon as control
 * reaches a place where one of its frames was to continue.
 *
 * On request, inlined functions have frames of their own if the debug information describes them;
 * the frame below belongs to the containing function. Inlined frames are known by address alone: so
 * their number of calls is unknown, and all copies of a function share one entry.
 *
 * A trace has no stack pointers. After a longjmp or an exception the library chooses the innermost
 * matching frame; with recursion the program may have returned to an outer one.
 */
#ifndef NTRACE_STACKS_H
#define NTRACE_STACKS_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum ntrace_stack_kind - kind of a function of a stack
 * @NTRACE_STACK_FUNCTION: a function with a name
 * @NTRACE_STACK_OBJECT: code of an object without a known symbol
 * @NTRACE_STACK_UNKNOWN: "[unknown]": unseen callers
 * @NTRACE_STACK_TASK: a thread: parent of its outermost frames
 * @NTRACE_STACK_ALL: root: parent of the threads
 */
enum ntrace_stack_kind {
	NTRACE_STACK_FUNCTION,
	NTRACE_STACK_OBJECT,
	NTRACE_STACK_UNKNOWN,
	NTRACE_STACK_TASK,
	NTRACE_STACK_ALL,
};

/**
 * struct ntrace_stack_function - a function and its executed instructions
 * @name: name of the symbol in the object, of the object without directories, or of the thread
 * @object: holds the code; NULL if the code is unknown; owned by the stacks
 * @start: link address of the symbol
 * @kind: enum ntrace_stack_kind
 * @pid: TASK: process, -1 = unknown
 * @tid: TASK: thread
 * @inlined: FUNCTION: inlined copies of the function; @start and @calls are 0
 * @reserved: 0
 * @calls: number of entries by a call or a jump from another function
 * @instructions: executed in the function
 * @total: executed in the function and its callees, each instruction once
 * @ticks: time in the function, in nanoseconds or ticks, as in struct ntrace_stack_change
 * @total_ticks: time in the function and its callees
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
 * @parent: index of the caller's node, always less than the node's own index; the root, node 0, has
 *          0
 * @depth: number of nodes above it
 * @reserved: 0
 * @calls: as in struct ntrace_stack_function, from this caller
 * @instructions: executed in the node
 * @total: executed in the node and all nodes below
 * @ticks: time in the node
 * @total_ticks: time in the node and all nodes below
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
 * @calls: calls from @caller to @callee
 * @total: instructions in the callee and below. Recursive calls of an active callee are not
 *         counted, so that the totals of all edges to a function add up to its total
 */
struct ntrace_stack_edge {
	uint32_t caller;
	uint32_t callee;
	uint64_t calls;
	uint64_t total;
};

/**
 * enum ntrace_stack_time - accuracy of the time of a change
 * @NTRACE_STACK_TIME_NONE: the trace has no timestamps
 * @NTRACE_STACK_TIME_EXACT: the time of a timestamp
 * @NTRACE_STACK_TIME_INTERPOLATED: interpolated by instructions between two timestamps
 * @NTRACE_STACK_TIME_OUTSIDE: before the first or after the last timestamp, whose time is used; or after
 *                             the clock was set back: the latest time before that is used until time
 *                             has passed it
 */
enum ntrace_stack_time {
	NTRACE_STACK_TIME_NONE,
	NTRACE_STACK_TIME_EXACT,
	NTRACE_STACK_TIME_INTERPOLATED,
	NTRACE_STACK_TIME_OUTSIDE,
};

/**
 * enum ntrace_stack_change_type - kind of a change
 * @NTRACE_STACK_ENTER: a frame exists from here on
 * @NTRACE_STACK_LEAVE: the top frame is removed
 * @NTRACE_STACK_GAP: trace was lost: the execution in between is unknown
 * @NTRACE_STACK_RUN: the hart runs this thread from here on, whether selected or not; kind
 *                    NTRACE_STACK_ALL: no thread, the stream ends
 */
enum ntrace_stack_change_type {
	NTRACE_STACK_ENTER,
	NTRACE_STACK_LEAVE,
	NTRACE_STACK_GAP,
	NTRACE_STACK_RUN,
};

/**
 * struct ntrace_stack_change - a frame is added or removed
 * @type: enum ntrace_stack_change_type
 * @time_kind: enum ntrace_stack_time
 * @called: ENTER: the function begins by a call or a jump, which counts as a call
 * @ended: LEAVE: the function ends; if false, its end was not seen: the trace ends or was lost, or the
 *         thread went on with another stack
 * @stream: index of the stream of the session
 * @cpu: Linux number of the hart
 * @pid: process; -1 = unknown
 * @tid: thread
 * @comm: name of the thread
 * @name: as in struct ntrace_stack_function
 * @object: likewise
 * @kind: likewise
 * @depth: number of frames below it, also of those that are not passed: not selected, or calls of a function to
 *         its own part
 * @begins: ENTER: the function begins, by a call or a jump, a trap, a signal, an exec or with its thread; if false, its
 *          start was not seen, or its stack was restored
 * @reserved: 0
 * @instructions: ENTER, LEAVE: executed earlier in selected frames of the thread; GAP, RUN: executed earlier on
 *                the hart
 * @time: CLOCK_MONOTONIC in nanoseconds; ticks of the stream where their frequency is not known; with
 *        NTRACE_STACK_TIME_NONE, instructions executed earlier by all threads, in the order in which they were
 *        passed. Frames that end with the trace do so when their thread stopped running
 * @time_error: greatest bound of the error of a time so far, as in struct ntrace_stacks_stats
 */
struct ntrace_stack_change {
	uint8_t type;
	uint8_t time_kind;
	bool called;
	bool ended;
	uint32_t stream;
	uint32_t cpu;
	int32_t pid;
	int32_t tid;
	uint32_t kind;
	const char *comm;
	const char *name;
	const struct ntrace_object *object;
	uint32_t depth;
	bool begins;
	uint8_t reserved[3];
	uint64_t instructions;
	uint64_t time;
	uint64_t time_error;
};

/**
 * struct ntrace_stacks_options - selection and limits
 * @size: sizeof(struct ntrace_stacks_options) of the caller
 * @threads: only these; NULL = all. Borrowed as long as events are passed
 * @privileges: bit mask of 1 << enum ntrace_priv: only frames in these privileges; 0 = all
 * @depth: maximum depth of the call tree; deeper functions count as callees of the frame at that
 *         depth. 0 = 512
 * @nodes: maximum number of nodes of the call tree; later functions go to "[other]", and the
 *         statistics count them. 0 = 4,000,000
 * @merge_threads: threads of the same name count as one
 * @inlined: the call tree has frames for inlined functions, from the DWARF of the objects, see
 *           ntrace_units_open(); @change is called only for functions that are not inlined
 * @reserved: 0
 * @change: called with every change of a stack, in the order of the stream; NULL: only counts are
 *          made. Changes between two timestamps wait for the second timestamp. At most 65,536 wait;
 *          beyond that the older half is OUTSIDE. A nonzero result stops, and ntrace_stacks_event()
 *          returns it
 * @data: for @change
 * @directories: of separate debug files, as for ntrace_object_add_debug_file(); must stay valid as
 *               long as events are passed
 */
struct ntrace_stacks_options {
	size_t size;
	const struct ntrace_thread_filter *threads;
	uint32_t privileges;
	uint32_t depth;
	uint32_t nodes;
	bool merge_threads;
	bool inlined;
	uint8_t reserved[2];
	int (*change)(void *data, const struct ntrace_stack_change *change);
	void *data;
	const char *const *directories;
};

/**
 * struct ntrace_stacks_stats - statistics
 * @instructions: selected instructions: the sum over all functions
 * @calls: calls and jumps into other functions shown
 * @returns: returns to the waiting frame
 * @unwound: returns over several frames: longjmp, exceptions
 * @switched: returns to a stack set aside earlier: co-routines, and after a loss
 * @below: returns to an unseen caller
 * @unmatched: returns to a place where no frame waited: the known stack was set aside
 * @signals: handlers that began
 * @gaps: losses
 * @cut: stacks deeper than 65,536 frames: their outer half is dropped, and the inner half begins again
 * @other: instructions in "[other]"
 * @time_error: greatest bound of the error of a time in nanoseconds, see ntrace_time_error_text();
 *              0: there were no times in nanoseconds
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
	uint64_t time_error;
};

struct ntrace_stacks;

/**
 * ntrace_stacks_new - create empty stacks
 * @stacks: the new stacks, to be freed with ntrace_stacks_free()
 * @options: copied; NULL: count everything
 *
 * Return: 0, NTRACE_ERR_INVALID (@options permit no tree), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_new(struct ntrace_stacks **stacks,
					  const struct ntrace_stacks_options *options);

/**
 * ntrace_stacks_free - free stacks with all results and release their objects
 * @stacks: stacks made by ntrace_stacks_new(); NULL is allowed
 */
NTRACE_EXPERIMENTAL void ntrace_stacks_free(struct ntrace_stacks *stacks);

/**
 * ntrace_stacks_event - pass the next event: event of struct ntrace_decode_options
 * @stacks: stacks made by ntrace_stacks_new(), passed as data of the options
 * @event: the next event; borrowed during the call
 *
 * The events of each stream come in order. Streams may take turns: with NTRACE_NEEDS_TURNS a thread
 * keeps its stack from one CPU to the other. Otherwise pass one stream after the other, each followed
 * by ntrace_stacks_end_stream().
 *
 * Return: 0, NTRACE_ERR_NOMEM, or what the callback returned.
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_event(void *stacks, const struct ntrace_session_event *event);

/**
 * ntrace_stacks_segment - pass the next segment: segment of struct ntrace_decode_options
 * @stacks: stacks made by ntrace_stacks_new(), passed as data of the options
 * @segment: the next blocks or run; borrowed during the call
 *
 * The same as ntrace_stacks_event() for each of the blocks, but faster: a step of a run at a stack where
 * it was before is only counted.
 *
 * Return: as ntrace_stacks_event().
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_segment(void *stacks, const struct ntrace_segment *segment);

/**
 * ntrace_stacks_end_stream - end a stream: end of struct ntrace_decode_options
 * @stacks: stacks made by ntrace_stacks_new(), passed as data of the options
 * @stream: its index; it may begin again
 *
 * The stack of the thread that ran last is unknown from now on; those of the others are kept.
 *
 * Return: as ntrace_stacks_event().
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_end_stream(void *stacks, unsigned int stream);

/**
 * ntrace_stacks_end - end all streams: all frames end
 * @stacks: stacks made by ntrace_stacks_new()
 *
 * Call it also before reading any result.
 *
 * Return: as ntrace_stacks_event().
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_end(struct ntrace_stacks *stacks);

/**
 * ntrace_stacks_functions - all functions, sorted by kind, name, object and address
 * @stacks: stacks after ntrace_stacks_end()
 * @count: set to the number of functions; 0 = out of memory, since the root always exists
 *
 * The same counts give the same order, here and below.
 *
 * Return: array owned by the stacks, as are those below: valid until the next event or merge.
 */
NTRACE_EXPERIMENTAL const struct ntrace_stack_function *
ntrace_stacks_functions(struct ntrace_stacks *stacks, size_t *count);

/**
 * ntrace_stacks_nodes - the call tree, callers before callees
 * @stacks: stacks after ntrace_stacks_end()
 * @count: set to the number of nodes; 0 = out of memory, since the root always exists
 *
 * Return: as ntrace_stacks_functions().
 */
NTRACE_EXPERIMENTAL const struct ntrace_stack_node *
ntrace_stacks_nodes(struct ntrace_stacks *stacks, size_t *count);

/**
 * ntrace_stacks_edges - callers and callees, sorted by both
 * @stacks: stacks after ntrace_stacks_end()
 * @count: set to the number of edges; also 0 when out of memory
 *
 * Return: as ntrace_stacks_functions().
 */
NTRACE_EXPERIMENTAL const struct ntrace_stack_edge *
ntrace_stacks_edges(struct ntrace_stacks *stacks, size_t *count);

struct ntrace_profile;

/**
 * ntrace_stacks_add_totals - set totals and times of the functions of a profile
 * @stacks: after ntrace_stacks_end()
 * @profile: a profile of the same events with NTRACE_PROFILE_FUNCTIONS and without by_process
 *
 * Sets total, ticks and total_ticks of struct ntrace_profile_function. Code that was inlined counts
 * for the function that contains it. A total is never less than the own instructions, of which call stacks
 * do not have all: a function may also go on without a jump in the next one.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_stacks_add_totals(struct ntrace_stacks *stacks,
						 struct ntrace_profile *profile);

/**
 * ntrace_stacks_get_stats - copy the statistics, of all streams so far
 * @stacks: stacks made by ntrace_stacks_new()
 * @stats: filled in
 */
NTRACE_EXPERIMENTAL void ntrace_stacks_get_stats(const struct ntrace_stacks *stacks,
						 struct ntrace_stacks_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_STACKS_H */
