/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Call stacks: from the segments and events of a session to frames of threads, and to nodes of a call tree.
 *
 *      event, block of a segment  <---- no ----  run of effects: is each one known at this stack? (run.c)
 *                 |                                         | yes
 *      time and hart of the stream (stacks.c, clock.c)      v
 *                 |                               one count for all blocks of the effect
 *      which thread, and does it go on where it was? resume_thread()
 *                 |
 *      which frame does control go to? (transfer.c; in other stacks: aside.c, fiber.c, hold.c)
 *                 |
 *      frames begin and end (thread.c) ----> change callback, when their time is known (clock.c)
 *                 |
 *      instructions of the node of the top frame: count_block(); of inlined functions: inline.c
 *                 |
 *      tree.c ----> results (report.c, totals.c)
 *
 * A frame is a function that has begun and not ended; it is recognized by its return address. A layer is
 * the frames of one privilege, or of one signal handler, above the code that they interrupt:
 *
 *	frames		main   parse   read_all | handle_trap   handle_irq
 *	layers		0: U, base 0            | 1: S, base 3; resumes read_all at its next instruction
 *	nodes		of the tree             | upper nodes, the same above all code (upper.c)
 *
 * A thread whose stack is left without returns (co-routines, longjmp, a loss) gets another one. The old one
 * is set aside, in case control reaches an address where one of its frames or layers waits.
 *
 *                  block                         trap                       block of the handler
 *      THREAD_LOST -----> THREAD_RUNNING ------------------> THREAD_TRAPPED -------> THREAD_RUNNING
 *           ^                |   |   ^                             | trace off
 *           +-- see below ---+   |   +---- block ---- THREAD_SUSPENDED
 *                                +---- trace off ----------^
 *
 * A thread is lost, and its stack set aside, mainly when
 * - trace is lost on its hart, or goes off other than by trace disable, low power or debug entry: stack_cut_off();
 * - its next turn is not the one after its last turn: thread_continues(). Code is then above "[unknown]"; above
 *   "[moved, order unknown]", with nothing kept aside, if one of the turns has no number and is of another hart.
 * Exec ends all frames. A stack of more than FRAMES_MAX frames loses its outer half.
 *
 * - A thread that has executed a block has a frame, and its first layer begins with the first frame.
 * - The first frame of a layer has no return address: what is below it is interrupted code, or not known.
 * - Calls are frames that begin by a call or a jump, as in a profile: not by a trap, a signal, an exec or a new thread.
 *   Frames that come back with a stack are shown again, but do not begin.
 */
#ifndef NTRACE_STACKS_THREAD_H
#define NTRACE_STACKS_THREAD_H

#include "pairs.h"
#include "session/stamps.h"
#include "tree.h"

#define FRAMES_MAX 65536	/* per stack */
#define LAYERS_MAX 16		/* per stack: nested traps, nested signals */
#define ASIDE_MAX 1024		/* stacks set aside per thread */
#define FORKS_MAX 1024		/* stacks kept for threads that the thread makes */
#define THREADS_MAX                                                                                \
	4096 /* beyond this the thread that ran longest ago is dropped */
#define MEMO_ENTRIES (1u << 16)

/* Any privilege, for an unknown one. */
#define PRIVILEGE_ANY 255

/*
 * A function at an address.
 * @low, @high: range of addresses that are certainly in the function
 * @entry: the address is the function's first instruction
 * @part: it is the start of a part of the function; @inside: the function itself calls that part
 * @chain: inlined functions at the address
 */
struct code_place {
	uint32_t function;
	uint32_t chain;
	bool entry;
	bool part;
	bool inside;
	bool begins;		/* entry of a program or its dynamic linker */
	uint64_t low;
	uint64_t high;
};

/*
 * @node: node of the call tree; the node of the frame below, unless @shown
 * @ret: return address, if @returns
 * @low, @high: as in struct code_place
 * @setjmp: return address of the last setjmp() called by this frame, 0 = none
 * @in_setjmp: the frame began as setjmp(), which continues with tail calls
 * @inside: a part that its function has called: its code belongs to the frame below, and it is not reported
 * @shown: the frame is selected
 * @chain: inlined functions executed last; @inner: their node, the parent of callees
 *         In layers with upper nodes, @node and @inner are upper nodes, see upper.c
 * @state: number of the stack up to this frame, see run.c; 0 = not known
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
	bool inside;
	bool shown;
	uint32_t state;
};

/*
 * Frames of one privilege, above the code that they interrupt.
 * @base: index of the first frame
 * @resume: address at which the layer below continues, if @resumes; if a trapping instruction is
 *          there, also @skip bytes later
 * @privilege: privilege of its frames
 * @signal: a signal handler: same privilege as the layer below
 * @ended: the handler has returned: the code now asks the kernel to resume the interrupted code
 * @on: the node below its frames, which have upper nodes; 0: they have none of their own
 */
struct layer {
	uint32_t base;
	unsigned int privilege;
	uint64_t resume;
	unsigned int skip;
	bool resumes;
	bool signal;
	bool ended;
	uint32_t on;
};

/*
 * @number: of the stack, which its copies keep
 * @next: next address, if @goes_on; else the next address is unknown
 * @open: it is one of several that waited at the same place: its outermost frame may be the callee of any
 * @bottom, @on: base and @on of the topmost layer with upper nodes; 0: there is none
 */
struct stack {
	struct frame *frames;
	uint32_t count;
	uint32_t room;
	struct layer layers[LAYERS_MAX];
	unsigned int layer_count;
	uint64_t number;
	uint64_t next;
	unsigned int skip;
	bool goes_on;
	bool open;
	uint32_t bottom;
	uint32_t on;
};

/*
 * The stack of a thread at a system call that may make another thread.
 * @number: of the other thread among those that this one makes
 * @ended: the system call has ended
 * @done: and has not been interrupted by a signal: it does not begin again
 */
struct fork_stack {
	struct stack stack;
	uint64_t number;
	bool ended;
	bool done;
};

enum thread_state {
	THREAD_LOST,		/* the next address is unknown; the stack is empty */
	THREAD_RUNNING,		/* continues at stack.next or at the target of a transfer */
	THREAD_TRAPPED,		/* the handler's layer has been pushed, but not its first frame */
	THREAD_SUSPENDED,	/* went to a privilege that is not traced */
};

/*
 * @task: function of the thread in the tree
 * @root: node of the thread, 0 = not made yet
 * @space: last user space; referenced, NULL = none
 * @aside: stacks set aside, the latest one last
 * @forks: its system calls that may have made a thread that has not begun yet, the latest one last
 * @made: number of the next one
 * @program: number of its program, 0 = not known
 * @certain: its program was known when it was in user space last
 * @replaced: it has called exec: the next code in user space is that of the new program
 * @renamed: it has got another name since it was reported to run
 * @begins: its first code in user space begins the stack
 * @turn, @stream: its last turn, and the stream that has it
 * @epoch: that of the hart when the thread ran last: a different one means a loss since then
 * @moved: it has run elsewhere, at an unknown time
 * @instructions: executed in its selected frames; only if changes are reported
 * @turn_end: end of its last turn, 0 = not known
 * @stop_time, @stop_kind: when it last stopped running, as in struct ntrace_stack_change
 * @older, @newer: threads that ran last before and after it
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
	struct stack *aside;
	size_t aside_count, aside_room;
	struct fork_stack *forks;
	size_t fork_count, fork_room;
	uint64_t made;
	struct ntrace_space *space;
	uint64_t program;
	bool certain;
	bool replaced;
	bool renamed;
	bool begins;
	uint64_t turn;
	uint64_t epoch;
	uint32_t stream;
	bool moved;
	uint8_t stop_kind;
	uint64_t turn_end;
	uint64_t stop_time;
	uint64_t instructions;
	struct thread *older, *newer;
};

/* Cached result for an address in a version of a space. */
struct memo {
	uint64_t version;
	uint64_t address;
	struct code_place place;
};

/* Consecutive instructions of a block with the same inlined functions. */
struct inline_piece {
	uint32_t chain;
	uint32_t instructions;
};

/* The pieces of a block, starting at index @first. */
struct inline_block {
	uint64_t version;
	uint64_t address;
	uint64_t last;
	uint32_t first;
	uint32_t count;
};

/* A function inlined into the chain @parent, or into the function itself for 0. */
struct inline_chain {
	uint32_t parent;
	uint32_t function;
};

struct inline_object;

/*
 * Cached facts about a block, by its unique id.
 * @id: 0 = free
 * @placed: @place is that of its first instruction
 * @cut: the block was cut into pieces; @whole: it is only one, with the inlined functions @chain
 */
struct known_block {
	uint64_t id;
	uint32_t chain;
	bool placed;
	bool cut;
	bool whole;
	struct code_place place;
};

#define KNOWN_BLOCKS (1u << 16)

/* Between the unique ids of two streams, which also have other places among KNOWN_BLOCKS. */
#define STREAM_IDS (UINT64_C(1) << 40 | 0x9e37)

/*
 * Inlined functions: chains of them by address.
 * @objects: objects with their DWARF
 * @chains: by number; chain 0 has no inlined function
 * @numbers: numbers of chains, by parent and function
 * @blocks: cached results, stored in @pieces; all are dropped when there are too many
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

#define QUEUE_MAX 65536	/* a power of two */
#define NO_FUNCTION UINT32_MAX

/*
 * Consecutive instructions of one node, or a change; both wait for the next timestamp. There is one for
 * nearly every call and return, so a change is shorter here than for the caller.
 * @position: position after it, in instructions of the stream
 * @from: position before the instructions
 * @node: of the instructions
 * @function: of the change; NO_FUNCTION: of a thread, with @kind
 * @instructions: executed by the thread, of the change of a frame
 */
struct queued {
	uint64_t position;
	union {
		uint64_t from;
		const char *comm;
	};
	union {
		uint32_t node;
		uint32_t function;
	};
	uint32_t depth;
	uint64_t instructions;
	int32_t pid;
	int32_t tid;
	uint32_t cpu;
	uint8_t type;
	uint8_t kind;
	uint8_t seen;
	bool is_change;
};

/*
 * @queue: a ring, from @first on
 * @position: instructions of the stream so far
 * @stamps: its timestamps; @anchor_position: position of the last one
 * @latest: largest time of a change
 */
struct stack_clock {
	struct queued *queue;
	size_t first;
	size_t count;
	uint64_t position;
	uint64_t anchor_position;
	uint64_t latest;
	struct stamps stamps;
};

/*
 * The effect that is being walked, if @on; see run.c.
 * @spoilt: it cannot be remembered
 * @bottom: of the stack
 */
struct runs_recording {
	bool on;
	bool spoilt;
	bool arrives;
	uint32_t bottom;
};

#define GUESSES 64
#define GUESSED 8
#define GUESSED_DEPTH 32

/* @count frames of the stack @base, and return addresses of @pushed more. */
struct guessed {
	size_t base;
	uint32_t count;
	uint32_t pushed;
	uint64_t rets[GUESSED_DEPTH];
};

/*
 * What the thread may have done since events are held.
 * @first: the stack set aside that went on; @cut: its callers are unknown; @proven: it has returned to its first frame
 * @now: its stack; @parked: those that it left since then
 * @used: stacks set aside that went on
 */
struct guess {
	size_t first;
	bool cut;
	bool proven;
	struct guessed now;
	struct guessed parked[GUESSED];
	unsigned int parked_count;
	size_t used[GUESSED];
	unsigned int used_count;
};

struct held;

/*
 * Events that are held, see hold.c.
 * @guesses: room for GUESSES, twice
 * @last: index of the last block of the thread outside of signal handlers; @latest: of the last one
 * @in_handler: a signal handler runs, until the code goes on at @resume; @calls: that have not returned in it
 * @possible: the present event can be held
 * @decided: the next choice is @choice; @forced: it cannot wait
 */
struct stack_hold {
	struct held *items;
	size_t count, room, last, latest;
	uint64_t resume;
	int calls;
	struct guess *guesses;
	unsigned int guess_count;
	size_t choice;
	bool in_handler;
	bool possible;
	bool decided;
	bool forced;
};

/*
 * What an upper node has at present.
 * @visit: the visit it is of; of another one: nothing
 * @node: node of the tree, 0 = not looked up yet
 */
struct upper_node {
	uint64_t visit;
	uint32_t node;
};

/*
 * @tree: of upper nodes; functions are those of the tree
 * @path: for a way down the tree; NULL: nothing is made
 * @touched: upper nodes of the present visit
 * @visit: number of the visit: changes with @on, and when all is passed on
 * @on: the node of the tree that the root stands for
 */
struct stack_upper {
	struct stack_tree tree;
	uint32_t *path;
	struct upper_node *nodes;
	uint32_t *touched;
	size_t room, touched_count;
	uint64_t visit;
	uint32_t on;
};

/*
 * The hart of a stream: what is known between two of its blocks.
 * @current: the thread that ran last
 * @reported_thread: the thread that runs according to the last change that was passed on
 * @pending: the last block ended with a control transfer
 * @return_address: address after the instruction that transferred control, if @pending
 * @to: target of that transfer, if @to_known
 * @space, @isa: space and instruction set of the last block; the space is referenced
 * @epoch: number of losses
 * @seen: @epoch when the last block came
 * @ids: added to ids of blocks and effects of the stream, it makes them unique; 0: it has not begun
 * @turn, @tid: the last turn that was known, of this thread; @turn 0: none
 * @paused: the turn of @current is over, and the trace was off since
 */
struct hart {
	struct thread *current;
	struct thread *reported_thread;
	struct ntrace_space *space;
	struct ntrace_isa isa;
	uint64_t epoch;
	uint64_t seen;
	uint64_t return_address;
	uint64_t to;
	uint64_t ids;
	uint64_t turn;
	int32_t tid;
	uint32_t stream;
	uint32_t cpu;
	uint8_t class;
	bool pending;
	bool to_known;
	bool paused;
	struct stack_clock clock;
};

/*
 * Threads move between harts with their stacks:
 *
 *     harts[0] (not present)    hart = that of stream 1     harts[2] (not present)
 *     clock, last block         clock, last block           clock, last block
 *           |                         | current                   |
 *     thread A                  thread B   <-- threads, by tid; each with its stack, and its last turn
 *
 * A thread goes on where it was if its next turn is the one after its last turn, and nothing was lost at
 * the end of the one and at the begin of the other (thread_continues()); else its stack is set aside.
 *
 * @hart: that of the stream of the present event; @harts: those of the other streams
 * @elsewhere: instructions of the other harts so far
 * @ids: those of the stream that began last
 * @begun: number of stacks that have begun
 * @handler: address at which the last trap continued; 0: none yet
 * @known: blocks by id; NULL before the first batch
 */
struct ntrace_stacks {
	struct ntrace_stacks_options options;
	struct ntrace_stacks_stats stats;
	struct stack_tree tree;
	struct stack_report report;
	bool reported;
	uint32_t unknown;	/* function "[unknown]" */
	uint32_t moved;		/* function "[moved, order unknown]" */
	struct memo *memo;
	struct known_block *known;
	struct thread **threads;	/* by hash of tid */
	size_t thread_count;
	struct thread *newest, *oldest; /* by the time when they ran last */
	bool cutting;		/* frames are removed whose end was not seen */
	bool ending;		/* frames end when their threads stopped running */
	struct hart hart;
	struct hart *harts;
	unsigned int hart_count;
	uint64_t ids;
	uint64_t begun;
	uint64_t handler;
	uint64_t elsewhere;
	struct stack_inline inlined;
	struct stack_runs *runs; /* NULL before the first run */
	struct stack_upper upper;
	struct runs_recording recording;
	struct stack_hold hold;
};

int stacks_change_stream(struct ntrace_stacks *stacks, uint32_t stream);

/* Makes the hart of @stream the present one. Return: 0, NTRACE_ERR_NOMEM, or what the callback returned. */
static inline int stacks_enter_stream(struct ntrace_stacks *stacks, uint32_t stream)
{
	return stacks->hart.stream == stream && stacks->hart.ids ?
		       0 :
		       stacks_change_stream(stacks, stream);
}

/* ---- threads ---- */
/* Whether a function begins a stack, so that no caller is missing below it. */
bool place_is_outermost(const struct ntrace_stacks *stacks, const struct code_place *place);

/* How a frame begins, as far as the trace shows it. */
enum frame_begin {
	FRAME_THERE,	/* nothing: its function was executed before */
	FRAME_BEGINS,	/* by a trap, a signal, an exec or with its thread */
	FRAME_CALLED,	/* by a call or a jump */
};

/*
 * Reports that a frame is added or removed. @seen: how an added frame begins, enum frame_begin; whether the function of a
 * removed frame has ended.
 * Return: as the callback, or NTRACE_ERR_NOMEM.
 */
int thread_report(struct ntrace_stacks *stacks, const struct thread *thread, unsigned int type,
		  uint32_t function, uint32_t depth, unsigned int seen);

/* Likewise, if the frame is selected. */
int frame_report(struct ntrace_stacks *stacks, const struct thread *thread, unsigned int type,
		 const struct frame *frame, uint32_t depth, unsigned int seen);

/* Reports that the thread has its frames from index @from on again, which are not new calls. */
int frames_show(struct ntrace_stacks *stacks, const struct thread *thread, uint32_t from);

struct thread *threads_find(struct ntrace_stacks *stacks, const struct ntrace_session_event *event);

/* The known thread with these numbers, on the present hart if it is idle or unknown; NULL: none. */
struct thread *threads_known(const struct ntrace_stacks *stacks, int32_t pid, int32_t tid);

/* A thread that had the number of @thread, which runs now, before it; NULL: none. */
struct thread *threads_earlier(const struct ntrace_stacks *stacks, const struct thread *thread);

/* The thread that the present hart runs, NULL: none, or it has run elsewhere since. */
static inline struct thread *hart_thread(const struct ntrace_stacks *stacks)
{
	struct thread *thread = stacks->hart.current;

	return thread && thread->stream == stacks->hart.stream ? thread : NULL;
}

/* Whether @thread, now in turn @turn on the present hart, goes on where it was. */
bool thread_continues(const struct ntrace_stacks *stacks, const struct thread *thread,
		      uint64_t turn);

/* @thread executes code in turn @turn on the present hart. */
void thread_runs(struct ntrace_stacks *stacks, struct thread *thread, uint64_t turn);
void threads_free(struct ntrace_stacks *stacks);
/* Frees @thread; its frames have ended, or nothing is said about them. */
void threads_drop(struct ntrace_stacks *stacks, struct thread *thread);
/* @thread has number @tid and name @comm from now on; no other one has. Return: 0 or NTRACE_ERR_NOMEM. */
int thread_renumber(struct ntrace_stacks *stacks, struct thread *thread, int32_t tid,
		    const char *comm);
/* Calls @visit for each stack of each thread, those set aside included, until an error. */
int threads_each_stack(struct ntrace_stacks *stacks,
		       int (*visit)(struct ntrace_stacks *stacks, struct stack *stack));

/* Ends all frames of the threads that ran last on the hart of @stream, when each stopped running. */
int threads_leave(struct ntrace_stacks *stacks, uint32_t stream);

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

/* Pushes a frame; @ret: return address, NULL = unknown. */
int frame_enter(struct ntrace_stacks *stacks, struct thread *thread, const struct code_place *place,
		const uint64_t *ret, enum frame_begin begin);

/* Pushes the frame of a call, which returns to @ret. */
int frame_call(struct ntrace_stacks *stacks, struct thread *thread, const struct code_place *place,
	       uint64_t ret);

/* Pops the top frame, and the layers of which it was the first frame. */
int frame_leave(struct ntrace_stacks *stacks, struct thread *thread);

/* Replaces the top frame by one of another function with the same return address. */
int frame_replace(struct ntrace_stacks *stacks, struct thread *thread,
		  const struct code_place *place, enum frame_begin begin);

/* Pops frames until @count are left. */
int frames_unwind(struct ntrace_stacks *stacks, struct thread *thread, uint32_t count);

/* Pushes a layer. If there are too many, all of them are set aside first. */
int layer_enter(struct ntrace_stacks *stacks, struct thread *thread, unsigned int privilege,
		bool signal);

/* Pops layers until @count are left. */
int layers_unwind(struct ntrace_stacks *stacks, struct thread *thread, unsigned int count);

/* Leaves the whole stack and keeps it in case control returns to it. */
int stack_set_aside(struct ntrace_stacks *stacks, struct thread *thread);

/* Also keeps a copy of a stack that is about to be unwound. */
int stack_keep_copy(struct thread *thread);

/* Makes the stack @index, which was set aside, the thread's stack, up to @count frames. */
int stack_restore(struct ntrace_stacks *stacks, struct thread *thread, size_t index,
		  uint32_t count);

void stacks_forget_aside(struct thread *thread);
void stack_drop(struct stack *stack);
int stack_copy(struct stack *copy, const struct stack *stack);
void forks_forget(struct thread *thread);

/* fiber.c: whether the system call of @frame at @ecall may make a thread. */
bool frame_forks(const struct ntrace_stacks *stacks, const struct frame *frame,
		 const struct ntrace_space *space, uint64_t ecall);

/* Whether the function of @frame, in @space, jumps to other stacks. */
bool frame_switches(struct ntrace_stacks *stacks, const struct frame *frame,
		    struct ntrace_space *space);

/* Keeps a copy of the stack, at a system call, for a thread that it may make. */
int stack_keep_fork(struct thread *thread);

/* The thread begins a turn after it has made @made threads. */
void forks_begin_turn(struct thread *thread, uint64_t made);

/* The thread is back in user space at @address. */
void forks_end_call(struct thread *thread, uint64_t address);

/* ---- begin.c: threads begin; all return 0, NTRACE_ERR_NOMEM or what the callback returned ---- */

/* Whether the thread of @event comes from another one of its process by exec, and not by clone. */
static inline bool origin_is_exec(const struct ntrace_session_event *event)
{
	return event->origin && event->origin->pid == event->pid && event->tid == event->pid;
}

/* @thread has just been made. An earlier one may have had its numbers. */
int thread_begin(struct ntrace_stacks *stacks, struct thread *thread,
		 const struct ntrace_origin *origin);

/* Whether @event is the first one of a thread that was another one of its process before exec; @thread had its number. */
static inline bool event_begins_by_exec(const struct ntrace_session_event *event,
					const struct thread *thread)
{
	/* A turn is left out between those of the two. */
	return origin_is_exec(event) && thread->turn + 1 < event->turn;
}

/* With event_begins_by_exec(): replaces *@thread with the thread that has called exec. Its frames are not shown yet. */
int thread_exec(struct ntrace_stacks *stacks, struct thread **thread,
		const struct ntrace_session_event *event);

/* Ends the threads that had the number of @thread, which runs now, before it. */
int thread_end_earlier(struct ntrace_stacks *stacks, const struct thread *thread);

/*
 * @thread goes on here, after a turn on another hart. If that hart has not gone on since, what the thread did there
 * still waits for a time, and comes first.
 */
int thread_pass_elsewhere(struct ntrace_stacks *stacks, const struct thread *thread);

/* ---- inlined functions, only on request; all return 0 or NTRACE_ERR_NOMEM ---- */

/* The chain at a link address. */
int inline_chain_at(struct ntrace_stacks *stacks, struct ntrace_object *object, uint64_t address,
		    uint32_t *chain);

/* The pieces of a block inside one function; valid until the next call. */
int inline_pieces(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow,
		  const struct inline_piece **pieces, size_t *count);

/* Continues the frame in this chain, so that its callees are below the chain. @tree: of its node. */
int inline_enter(struct ntrace_stacks *stacks, struct stack_tree *tree, struct frame *frame,
		 uint32_t chain);
void inline_free(struct ntrace_stacks *stacks);

/* ---- time ---- */

/* @change: copied, with the present position. */
int clock_change(struct ntrace_stacks *stacks, const struct queued *change);
/* A change of the hart: it runs @thread, NULL = nobody, or has a gap. */
int clock_report(struct ntrace_stacks *stacks, const struct thread *thread, unsigned int type);
/* Call it before clock_event(): notes the turn of an event. What waits for a time comes before the next turn. */
int clock_turn(struct ntrace_stacks *stacks, const struct ntrace_session_event *at);
/* The turn of the hart's thread is over. If the trace was off at its end, the hart runs nobody. */
int clock_turn_over(struct ntrace_stacks *stacks);
/* A frame of @thread ends with it, when it stopped running. Return: what the callback returned. */
int clock_leave(struct ntrace_stacks *stacks, const struct thread *thread,
		const struct queued *change);
/* @node: 0 = counted nowhere, only time passes. */
int clock_count(struct ntrace_stacks *stacks, uint32_t node, uint32_t instructions);

/* Call it first for every event of a message at @offset. */
int clock_event(struct ntrace_stacks *stacks, uint64_t offset,
		const struct ntrace_session_event *at);

/* Passes what waits for a time: a thread goes on elsewhere, or the stream ends. */
int clock_pass(struct ntrace_stacks *stacks);
int clock_end(struct ntrace_stacks *stacks);

#endif
