/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The stacks of threads: frames, layers of privilege, and stacks that were left. */
#ifndef NTRACE_STACKS_THREAD_H
#define NTRACE_STACKS_THREAD_H

#include "pairs.h"
#include "tree.h"

#define FRAMES_MAX 65536	/* of one stack */
#define LAYERS_MAX 16		/* of one stack: traps in traps, signals in signals */
#define ASIDE_MAX 8		/* stacks of one thread that were left */
#define THREADS_MAX 4096	/* of one stream; who was there longest ago is forgotten */
#define MEMO_ENTRIES (1u << 16)

/* Any privilege, where it is not known. */
#define PRIVILEGE_ANY 255

/*
 * A function at an address.
 * @low, @high: other addresses that lie in it for sure
 * @entry: the address is that of its first instruction
 * @chain: what was inlined there
 */
struct code_place {
	uint32_t function;
	uint32_t chain;
	bool entry;
	bool begins;		/* a program, or its dynamic linker, begins here */
	uint64_t low;
	uint64_t high;
};

/*
 * @node: of the call tree; that of the frame below, if it is not @shown
 * @ret: where it returns to, if @returns
 * @low, @high: as in struct code_place
 * @setjmp: where the last setjmp() that it called returned to, 0 = none
 * @in_setjmp: it began as setjmp(); that goes on with tail calls
 * @shown: it is selected
 * @chain: inlined functions that it executed last; @inner: their node, which what it calls hangs from
 */
struct frame {
	uint32_t function;
	uint32_t node;
	uint32_t chain;
	uint32_t inner;
	uint64_t ret;
	uint64_t low;
	uint64_t high;
	uint64_t setjmp;
	bool returns;
	bool in_setjmp;
	bool shown;
};

/*
 * Frames of one privilege, on top of what they interrupt.
 * @base: index of the first frame
 * @resume: where the layer below goes on, if @resumes; likewise @skip bytes behind it, where an
 *          instruction stands that traps
 * @privilege: of its frames
 * @signal: of the same privilege as the layer below: a handler of a signal
 * @ended: the handler has returned: what is there now asks the kernel to go back
 */
struct layer {
	uint32_t base;
	unsigned int privilege;
	uint64_t resume;
	unsigned int skip;
	bool resumes;
	bool signal;
	bool ended;
};

/* @next: where it goes on, if @goes_on; else nothing is known of that. */
struct stack {
	struct frame *frames;
	uint32_t count;
	uint32_t room;
	struct layer layers[LAYERS_MAX];
	unsigned int layer_count;
	uint64_t next;
	unsigned int skip;
	bool goes_on;
};

enum thread_state {
	THREAD_LOST,		/* nothing is known of where it goes on; its stack is empty */
	THREAD_RUNNING,		/* goes on at stack.next, or where a transfer leads */
	THREAD_TRAPPED,		/* a layer has been put on top, the handler's first frame not */
	THREAD_SUSPENDED,	/* its privilege was left without trace */
};

/*
 * @task: its function in the tree
 * @root: its node, 0 = not made yet
 * @space: last one of user space; referenced, NULL = none
 * @aside: the latest one last
 * @epoch: of the stacks when it ran last: another one means that trace was lost since
 * @used: when it ran last
 */
struct thread {
	struct thread *chain;
	int32_t pid;
	int32_t tid;
	const char *comm;
	uint32_t task;
	uint32_t root;
	enum thread_state state;
	struct stack stack;
	struct stack aside[ASIDE_MAX];
	unsigned int aside_count;
	struct ntrace_space *space;
	uint64_t epoch;
	uint64_t used;
};

/* What was found at an address of a version of a space. */
struct memo {
	uint64_t version;
	uint64_t address;
	struct code_place place;
};

/* A run of instructions within a block that are in the same inlined functions. */
struct inline_piece {
	uint32_t chain;
	uint32_t instructions;
};

/* The pieces of a block, from @first on. */
struct inline_block {
	uint64_t version;
	uint64_t address;
	uint64_t last;
	uint32_t first;
	uint32_t count;
};

/* Inlined into @parent, which is another chain, 0: into the function itself. */
struct inline_chain {
	uint32_t parent;
	uint32_t function;
};

struct inline_object;

/*
 * Inlined functions: chains of them by address.
 * @objects: with their DWARF
 * @chains: by number; 0 is that of nothing inlined
 * @numbers: of chains, by parent and function
 * @blocks: what was found before, in @pieces; all is forgotten when there are too many
 */
struct stack_inline {
	struct inline_object *objects;
	size_t object_count;
	size_t object_room;
	struct inline_chain *chains;
	size_t chain_room;
	struct pairs numbers;
	struct inline_block *blocks;
	struct inline_piece *pieces;
	size_t piece_count;
	size_t piece_room;
};

#define QUEUE_MAX 65536

/* Instructions of one node in a row, or a change; both wait for the next time stamp. */
struct queued {
	uint64_t from;
	uint64_t position;	/* after it, in instructions of the stream */
	struct ntrace_stack_change change;
	uint32_t node;
	bool is_change;
};

/*
 * @position: instructions of the stream so far
 * @anchor_position, @anchor_time: of the last time stamp, if @anchored
 * @offset, @time, @time_known: of the message that is being walked
 */
struct stack_clock {
	struct queued *queue;
	size_t count;
	uint64_t position;
	uint64_t anchor_position;
	uint64_t anchor_time;
	uint64_t offset;
	uint64_t time;
	bool time_known;
	bool anchored;
};

/*
 * @current: the thread that ran last
 * @pending: the last block ended with a transfer, from below @behind, to @to if @to_known
 * @space, @isa: of the last block; referenced
 */
struct ntrace_stacks {
	struct ntrace_stacks_options options;
	struct ntrace_stacks_stats stats;
	struct stack_tree tree;
	struct stack_report report;
	bool reported;
	uint32_t unknown;	/* function "[unknown]" */
	struct memo *memo;
	struct thread **threads;	/* by hash of tid */
	size_t thread_count;
	struct thread *current;
	struct ntrace_space *space;
	struct ntrace_isa isa;
	uint64_t epoch;
	uint64_t uses;
	bool pending;
	uint8_t class;
	uint64_t behind;
	uint64_t to;
	bool to_known;
	uint32_t stream;
	uint32_t cpu;
	struct stack_clock clock;
	struct stack_inline inlined;
};

/* ---- threads ---- */

struct thread *threads_find(struct ntrace_stacks *stacks, const struct ntrace_session_event *event);
void threads_free(struct ntrace_stacks *stacks);

/* Leaves all frames of all threads. */
int threads_leave(struct ntrace_stacks *stacks);

/* The function at an address. Return: 0 or NTRACE_ERR_NOMEM. */
int code_place_at(struct ntrace_stacks *stacks, struct ntrace_space *space, uint64_t address,
		  struct code_place *place);

/* ---- frames: all return 0, NTRACE_ERR_NOMEM or what the callback returned ---- */

static inline struct frame *stack_top(const struct thread *thread)
{
	return thread->stack.count ? &thread->stack.frames[thread->stack.count - 1] : NULL;
}

static inline struct layer *top_layer(struct thread *thread)
{
	return &thread->stack.layers[thread->stack.layer_count - 1];
}

/* A frame on top; @ret: where it returns to, NULL = unknown; @called: for the counts. */
int frame_enter(struct ntrace_stacks *stacks, struct thread *thread, const struct code_place *place,
		const uint64_t *ret, bool called);

/* The frame on top goes, and with it layers of which it was the first one. */
int frame_leave(struct ntrace_stacks *stacks, struct thread *thread);

/* The frame on top becomes one of another function, which returns to the same place. */
int frame_replace(struct ntrace_stacks *stacks, struct thread *thread,
		  const struct code_place *place, bool called);

/* Leaves frames until @count are there. */
int frames_unwind(struct ntrace_stacks *stacks, struct thread *thread, uint32_t count);

/* A layer on top. Where there are too many, all are set aside first. */
int layer_enter(struct ntrace_stacks *stacks, struct thread *thread, unsigned int privilege,
		bool signal);

/* Leaves layers until @count are there. */
int layers_unwind(struct ntrace_stacks *stacks, struct thread *thread, unsigned int count);

/* The whole stack is left, and kept for a time when it may go on. */
int stack_set_aside(struct ntrace_stacks *stacks, struct thread *thread);

/* A copy is kept, too, of the stack that is about to be unwound. */
int stack_keep_copy(struct thread *thread);

/* Stack @index that was set aside becomes the thread's, up to @count frames. */
int stack_restore(struct ntrace_stacks *stacks, struct thread *thread, unsigned int index,
		  uint32_t count);

void stacks_forget_aside(struct thread *thread);

/* ---- inlined functions: only if those are wanted; all return 0 or NTRACE_ERR_NOMEM ---- */

/* The chain at a link address. */
int inline_chain_at(struct ntrace_stacks *stacks, struct ntrace_object *object, uint64_t address,
		    uint32_t *chain);

/* The pieces of a block that lies in one function; they are good until the next call. */
int inline_pieces(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow,
		  const struct inline_piece **pieces, size_t *count);

/* The frame goes on in this chain, and so does what it calls. */
int inline_enter(struct ntrace_stacks *stacks, struct frame *frame, uint32_t chain);
void inline_free(struct ntrace_stacks *stacks);

/* ---- time ---- */

int clock_change(struct ntrace_stacks *stacks, const struct ntrace_stack_change *change);
/* @node: 0 = of no account, time passes. */
int clock_count(struct ntrace_stacks *stacks, uint32_t node, uint32_t instructions);

/* To be called first for every event. */
int clock_event(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow);
int clock_end(struct ntrace_stacks *stacks);

#endif
