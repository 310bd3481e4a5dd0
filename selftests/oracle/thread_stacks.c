// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "thread_stacks.h"

#define FRAMES_MAX (1u << 20)
#define NODES_MAX (1u << 24)
#define CALLS_MAX (1u << 27)
#define KERNEL (1ull << 63)
#define KERNEL_STACK_SHIFT 14	/* THREAD_SIZE of Linux, to which its stacks are aligned */
#define PAUSE_MIN 1000 /* shorter ones are not kept */
#define FRAME_SIZE_MAX 16384	/* of functions that jump through a register */

/* Numbers of Linux's system calls (include/uapi/asm-generic/unistd.h). */
#define SYS_CLONE 220
#define SYS_EXECVE 221
#define SYS_EXECVEAT 281
#define SYS_CLONE3 435

struct stacks stacks;

/* The execs of each process number. */
struct process {
	uint64_t pid;
	unsigned int execs;
};
static struct process *processes;
static uint32_t process_count, process_room;

/* ---- nodes ---- */

static uint32_t *hash_place(uint32_t parent, uint32_t function)
{
	uint64_t key = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15;
	uint32_t at = (uint32_t)(key >> 32) & (stacks.hash_size - 1);

	while (stacks.hash[at] && (stacks.nodes[stacks.hash[at]].parent != parent ||
				   stacks.nodes[stacks.hash[at]].function != function))
		at = (at + 1) & (stacks.hash_size - 1);
	return &stacks.hash[at];
}

static void grow_nodes(void)
{
	stacks.nodes = threads_grow(stacks.nodes, &stacks.node_room, sizeof(*stacks.nodes),
				    NODES_MAX, "different stacks");
	free(stacks.hash);
	stacks.hash_size = 4 * stacks.node_room;
	stacks.hash = calloc(stacks.hash_size, sizeof(*stacks.hash));
	if (!stacks.hash)
		threads_die("memory", strerror(ENOMEM));
	for (uint32_t i = 1; i < stacks.node_count; i++)
		*hash_place(stacks.nodes[i].parent, stacks.nodes[i].function) = i;
}

static uint32_t node_of(uint32_t parent, uint32_t function)
{
	uint32_t *place = hash_place(parent, function), known = *place;

	if (known)
		return known;
	if (stacks.node_count == stacks.node_room) {
		grow_nodes();
		place = hash_place(parent, function);
	}
	stacks.nodes[stacks.node_count] = (struct node){ .parent = parent, .function = function };
	*place = stacks.node_count;
	return stacks.node_count++;
}

/* ---- threads ---- */

static struct thread *new_thread(uint64_t task)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		threads_die("memory", strerror(ENOMEM));
	if (stacks.thread_count == stacks.thread_room)
		stacks.threads = threads_grow(stacks.threads, &stacks.thread_room,
					      sizeof(*stacks.threads), NODES_MAX, "threads");
	thread->task = task;
	thread->number = stacks.thread_count;
	/* Functions below 2^26 are symbols. */
	thread->root = node_of(0, UINT32_MAX - thread->number);
	stacks.threads[stacks.thread_count++] = thread;
	return thread;
}

/* The newest thread with that task pointer. */
static struct thread *find_thread(uint64_t task)
{
	for (uint32_t i = stacks.thread_count; i-- > 0;)
		if (stacks.threads[i]->task == task)
			return stacks.threads[i];
	return NULL;
}

static uint32_t function_of(const struct thread *thread, uint64_t address)
{
	return symbols_function(thread->table, address);
}

static bool is_start(const struct thread *thread, uint64_t address)
{
	return symbols_start(function_of(thread, address)) == address;
}

static struct frame *top_of(struct thread *thread)
{
	return thread->stack.count ? &thread->stack.at[thread->stack.count - 1] : NULL;
}

static uint32_t floor_of(const struct thread *thread)
{
	return thread->layer_count ? thread->layers[thread->layer_count - 1].base : 0;
}

/* ---- calls ---- */

static void open_call(struct hart *hart, struct frame *frame, uint32_t below, unsigned int flags)
{
	struct thread *thread = hart->thread;

	frame->call = NO_CALL;
	if (!frame->shown)
		return;
	stacks.nodes[frame->node].calls += flags & CALL_CALLED;
	stacks.nodes[frame->node].begun += !!(flags & CALL_BEGUN);
	if (!stacks.calls_kept)
		return;
	if (stacks.call_count == stacks.call_room)
		stacks.calls = threads_grow(stacks.calls, &stacks.call_room, sizeof(*stacks.calls),
					    CALLS_MAX, "calls");
	frame->call = stacks.call_count;
	stacks.calls[stacks.call_count++] =
		(struct call){ .thread = thread->number,
			       .parent = below,
			       .function = frame->function,
			       .flags = flags | CALL_OPEN,
			       .start = hart->now,
			       .first_instruction = thread->instructions };
}

static void close_call(struct hart *hart, const struct frame *frame)
{
	struct call *call;

	if (frame->call == NO_CALL)
		return;
	call = &stacks.calls[frame->call];
	call->flags &= ~(unsigned int)CALL_OPEN;
	call->end = hart->now;
	call->end_instruction = hart->thread->instructions;
}

/* The thread leaves its stack with all frames: their calls are over for now, and have not returned. */
static void leave_calls(struct hart *hart, struct frames *frames)
{
	for (uint32_t i = 0; i < frames->count; i++) {
		struct frame *frame = &frames->at[i];

		if (frame->call == NO_CALL)
			continue;
		stacks.calls[frame->call].end = hart->now;
		stacks.calls[frame->call].end_instruction = hart->thread->instructions;
		frame->call = NO_CALL;
	}
}

/* ---- frames ---- */

static void pop_to(struct hart *hart, uint32_t count)
{
	struct thread *thread = hart->thread;

	while (thread->stack.count > count)
		close_call(hart, &thread->stack.at[--thread->stack.count]);
}

/* The record of the innermost frame that has one. */
static uint32_t call_below(const struct thread *thread, uint32_t count)
{
	while (count > 0)
		if (thread->stack.at[--count].shown && !thread->stack.at[count].inside)
			return thread->stack.at[count].call;
	return NO_CALL;
}

static uint32_t node_below(const struct thread *thread, uint32_t count)
{
	return count ? thread->stack.at[count - 1].node : thread->root;
}

static struct frame *push(struct hart *hart, uint64_t address, unsigned int priv, uint64_t stack,
			  unsigned int flags)
{
	struct thread *thread = hart->thread;
	struct frames *all = &thread->stack;
	struct frame *frame;
	uint32_t below;

	if (all->count == all->room)
		all->at = threads_grow(all->at, &all->room, sizeof(*all->at), FRAMES_MAX,
				       "frames of a thread");
	below = node_below(thread, all->count);
	frame = &all->at[all->count];
	*frame = (struct frame){ .function = function_of(thread, address),
				 .stack = stack,
				 .shown = stacks.privileges >> priv & 1 };
	/* A function that calls its own part still executes itself. */
	frame->inside = all->count > floor_of(thread) &&
			symbols_is_part(frame->function, top_of(thread)->function);
	frame->node = frame->shown && !frame->inside ? node_of(below, frame->function) : below;
	if (symbols_start(frame->function) != address)
		flags &= ~(unsigned int)(CALL_CALLED | CALL_BEGUN);
	frame->call = NO_CALL;
	if (!frame->inside)
		open_call(hart, frame, call_below(thread, all->count), flags);
	all->count++;
	return frame;
}

/*
 * The top frame moved to another function: by a tail call to its first instruction, or
 * sequentially or into its middle, which is no call. A function stays itself in its parts.
 */
static void move(struct hart *hart, uint64_t address, bool jumped)
{
	struct thread *thread = hart->thread;
	uint32_t function = function_of(thread, address);
	struct frame *top = top_of(thread);
	unsigned int flags = 0;

	if (symbols_is_part(function, top->function) ||
	    (symbols_is_part(top->function, function) && symbols_start(function) != address)) {
		top->function = function;
		return;
	}
	if (jumped && is_start(thread, address))
		flags = CALL_CALLED | CALL_TAIL;
	close_call(hart, top);
	top->function = function;
	top->inside = false;
	if (top->shown)
		top->node = node_of(node_below(thread, thread->stack.count - 1), top->function);
	open_call(hart, top, call_below(thread, thread->stack.count - 1), flags);
}

/* A task has one kernel stack; interrupts run on further stacks. */
static bool same_stack(uint64_t one, uint64_t other)
{
	if (!((one | other) & KERNEL))
		return true;
	return (one - 1) >> KERNEL_STACK_SHIFT == (other - 1) >> KERNEL_STACK_SHIFT;
}

/*
 * Pops the frames above the last trap that lie below @stack. With @at, also pops the innermost
 * frame that began at exactly @stack, but none further out: a caller without a frame of its own
 * (it calls through another link register) began at the same stack pointer, and a handler may have
 * interrupted longjmp(). Return: true if a signal handler returned; @left is its frame.
 */
static bool pop(struct hart *hart, uint64_t stack, bool at, struct frame *left)
{
	struct thread *thread = hart->thread;
	uint32_t low = floor_of(thread);

	while (thread->stack.count > low) {
		const struct frame *top = top_of(thread);

		if (!top->stack || !same_stack(top->stack, stack) || top->stack > stack ||
		    (!at && top->stack == stack))
			break;
		if (top->stack == stack)
			*left = *top;
		pop_to(hart, thread->stack.count - 1);
		if (left && left->stack == stack)
			return left->signal;
	}
	return false;
}

static void on_return(struct hart *hart, const struct oracle_arrival *to)
{
	struct frame handler = { 0 }, *frame;

	if (stacks.forget && stacks.privileges >> to->priv & 1 && !--stacks.forget)
		return;
	/* A signal handler returns to the sigreturn trampoline. */
	if (pop(hart, to->stack, true, &handler)) {
		frame = push(hart, to->address, to->priv, to->stack, 0);
		frame->ends = true;
		frame->resume = handler.resume;
		frame->interrupted = handler.interrupted;
	}
}

/* ---- other stacks ---- */

static void copy_frames(struct frames *to, const struct frames *from, uint32_t count)
{
	to->count = to->room = count;
	to->at = count ? malloc(count * sizeof(*to->at)) : NULL;
	if (count && !to->at)
		threads_die("memory", strerror(ENOMEM));
	if (count)
		memcpy(to->at, from->at, count * sizeof(*to->at));
}

/*
 * Did a return or a jump in U-mode, which left the stack pointer at @stack, change to another
 * stack? A return within a stack does not go below the frame that it leaves, and neither goes
 * above the outermost frame.
 */
static bool leaves_stack(struct thread *thread, const struct oracle_arrival *to)
{
	const struct frame *top = top_of(thread);

	if (to->priv || thread->layer_count || !top || !top->stack || !thread->stack.at[0].stack)
		return false;
	if (to->stack > thread->stack.at[0].stack)
		return true;
	if (to->token == ORACLE_RETURN)
		return to->stack < top->stack;
	return to->stack + FRAME_SIZE_MAX < top->stack;
}

static void change_stack(struct hart *hart, const struct oracle_arrival *to)
{
	struct thread *thread = hart->thread;
	struct frames old, found = { 0 };
	uint32_t i;

	leave_calls(hart, &thread->stack);
	old = thread->stack;
	/* The stack that has @to->stack between its innermost and its outermost frame. */
	for (i = 0; i < thread->parked_count; i++) {
		const struct frames *other = &thread->parked[i];

		if (to->stack >= other->at[other->count - 1].stack &&
		    to->stack <= other->at[0].stack)
			break;
	}
	if (i < thread->parked_count) {
		found = thread->parked[i];
		thread->parked[i] = old;
	} else {
		thread->parked = realloc(thread->parked, (i + 1) * sizeof(*thread->parked));
		if (!thread->parked)
			threads_die("memory", strerror(ENOMEM));
		thread->parked[thread->parked_count++] = old;
	}
	thread->stack = found;
	/* A stack begins anew where its memory is used again. */
	if (found.count && to->stack == found.at[0].stack)
		pop_to(hart, 0);
	if (!thread->stack.count) {
		push(hart, to->address, to->priv, to->stack, CALL_CALLED);
		return;
	}
	/* The frame that changed to the other stack ends where it comes back; the calls below go on. */
	on_return(hart, to);
	for (i = 0; i < thread->stack.count; i++)
		if (thread->stack.at[i].call == NO_CALL && !thread->stack.at[i].inside)
			open_call(hart, &thread->stack.at[i], call_below(thread, i),
				  CALL_INHERITED);
}

static void drop_parked(struct hart *hart)
{
	struct thread *thread = hart->thread;

	while (thread->parked_count)
		free(thread->parked[--thread->parked_count].at);
}

/* ---- begin of threads and programs ---- */

static void inherit(struct hart *hart, const struct oracle_arrival *to)
{
	struct thread *child = hart->thread;
	const struct thread *parent = find_thread(child->parent);
	const struct snapshot *snapshot = parent ? parent->snapshot : NULL;
	uint32_t count;

	/* A thread has the program of its process; its parent is that of the process. */
	for (uint32_t i = child->number; i-- > 0 && child->pid != child->tgid && !child->table;)
		if (stacks.threads[i]->tgid == child->tgid)
			child->table = stacks.threads[i]->table;
	if (parent && !child->table)
		child->table = parent->table;
	while (snapshot && (snapshot->stack != to->stack || to->address - snapshot->resume > 4))
		snapshot = snapshot->before;
	if (!snapshot) {
		push(hart, to->address, to->priv, to->stack, 0);
		return;
	}
	copy_frames(&child->stack, &snapshot->frames, snapshot->frames.count);
	count = child->stack.count;
	for (child->stack.count = 0; child->stack.count < count; child->stack.count++) {
		struct frame *frame = &child->stack.at[child->stack.count];
		uint32_t below = node_below(child, child->stack.count);

		frame->node = frame->shown && !frame->inside ? node_of(below, frame->function) :
							       below;
		if (!frame->inside)
			open_call(hart, frame, call_below(child, child->stack.count),
				  CALL_INHERITED);
	}
}

static void end_interval(struct hart *hart)
{
	struct interval *interval;

	hart->thread->last = hart->now;
	if (!stacks.calls_kept)
		return;
	if (stacks.interval_count == stacks.interval_room)
		stacks.intervals = threads_grow(stacks.intervals, &stacks.interval_room,
						sizeof(*stacks.intervals), CALLS_MAX, "intervals");
	interval = &stacks.intervals[stacks.interval_count++];
	*interval = (struct interval){ .thread = hart->thread->number,
				       .hart = hart->number,
				       .start = hart->switched,
				       .end = hart->now,
				       .instructions = hart->thread->instructions -
						       hart->switched_instructions };
}

static void set_thread(struct hart *hart, struct thread *thread)
{
	if (hart->thread)
		end_interval(hart);
	if (!thread->first)
		thread->first = hart->now;
	hart->thread = thread;
	hart->switched = hart->now;
	hart->switched_instructions = thread->instructions;
}

static void exec(struct hart *hart, const struct oracle_arrival *to)
{
	struct thread *thread;
	uint32_t i = 0;

	drop_parked(hart);
	pop_to(hart, 0);
	/* What runs from here on has a record of its own. */
	thread = new_thread(hart->thread->task);
	thread->pid = hart->thread->pid;
	thread->tgid = hart->thread->tgid;
	thread->begun = hart->thread->begun;
	set_thread(hart, thread);
	while (i < process_count && processes[i].pid != thread->tgid)
		i++;
	if (i == process_count) {
		if (process_count == process_room)
			processes = threads_grow(processes, &process_room, sizeof(*processes),
						 NODES_MAX, "processes");
		processes[process_count++] = (struct process){ .pid = thread->tgid };
	}
	thread->table = symbols_table(thread->tgid, ++processes[i].execs);
	push(hart, to->address, to->priv, to->stack, CALL_BEGUN);
	thread->starts = true;
}

/* The frames of a hart up to its first task belong to that task. */
static void switch_task(struct hart *hart, const struct oracle_arrival *to)
{
	struct thread *thread;
	bool begins;

	if (to->priv == 3 || !(to->task & KERNEL))
		return;
	if (!hart->thread->task) {
		hart->thread->task = to->task;
		return;
	}
	begins =
		to->token == ORACLE_RETURN && is_start(hart->thread, to->address) &&
		!strncmp(symbols_name(function_of(hart->thread, to->address)), "ret_from_fork", 13);
	if (to->task == hart->thread->task && !begins)
		return;
	thread = begins ? NULL : find_thread(to->task);
	if (!thread)
		thread = new_thread(to->task);
	thread->begun |= begins;
	set_thread(hart, thread);
}

/* ---- events ---- */

static void on_trap(struct hart *hart, const struct oracle_arrival *trap)
{
	struct thread *thread = hart->thread;
	const struct frame *top = top_of(thread);
	struct layer *layer;

	/* The handler of the last trap was itself interrupted at its first instruction. */
	if (thread->pending)
		push(hart, trap->address, 1, 0, CALL_BEGUN);
	/* A jump to another function retired, and none of that function's instructions did. */
	else if (thread->stack.count > floor_of(thread) &&
		 top->function != function_of(thread, trap->address))
		move(hart, trap->address,
		     trap->address != (thread->layer_count ? hart->after : thread->after));
	if (thread->layer_count == LAYERS_MAX)
		threads_die("traps in traps", "too many");
	layer = &thread->layers[thread->layer_count++];
	*layer = (struct layer){ .base = thread->stack.count,
				 .resume = trap->address,
				 .number = trap->cause == 8 << 1 ? hart->number_of_call : -1 };
	thread->pending++;
}

static void on_handler(struct hart *hart, const struct oracle_arrival *to)
{
	struct thread *thread = hart->thread;
	const struct layer *layer = &thread->layers[thread->layer_count - 1];
	struct snapshot *snapshot;

	for (; thread->pending; thread->pending--)
		thread->layers[thread->layer_count - thread->pending].stack = to->stack;
	if (layer->number == SYS_CLONE || layer->number == SYS_CLONE3) {
		snapshot = calloc(1, sizeof(*snapshot));
		if (!snapshot)
			threads_die("memory", strerror(ENOMEM));
		copy_frames(&snapshot->frames, &thread->stack, layer->base);
		snapshot->resume = layer->resume;
		snapshot->stack = layer->stack;
		snapshot->before = thread->snapshot;
		thread->snapshot = snapshot;
	}
	push(hart, to->address, to->priv, 0, CALL_BEGUN);
}

static bool goes_on(const struct oracle_arrival *to, uint64_t resume, uint64_t stack)
{
	/* An ECALL is skipped on return: the return address is that of the next instruction. */
	return to->stack == stack && to->address - resume <= 4;
}

static void on_trap_return(struct hart *hart, const struct oracle_arrival *to)
{
	struct thread *thread = hart->thread;
	const struct frame *ends;
	struct frame *handler;
	struct layer layer;
	bool back = false;

	if (!thread->layer_count) {
		pop_to(hart, 0);
		if (!to->priv)
			inherit(hart, to);
		return;
	}
	layer = thread->layers[--thread->layer_count];
	pop_to(hart, layer.base);
	if (goes_on(to, layer.resume, layer.stack))
		return;
	if (layer.number == SYS_EXECVE || layer.number == SYS_EXECVEAT) {
		exec(hart, to);
		return;
	}
	if (layer.number >= 0 && thread->stack.count && top_of(thread)->ends) {
		ends = top_of(thread);
		/*
		 * Return to the interrupted code, or entry of the next handler at the same stack
		 * pointer.
		 */
		layer.resume = ends->resume;
		layer.stack = ends->interrupted;
		back = goes_on(to, layer.resume, layer.stack);
		pop_to(hart, thread->stack.count - 1);
	}
	if (back)
		return;
	if (to->priv || !is_start(thread, to->address)) {
		pop(hart, to->stack, false, NULL);
		return;
	}
	handler = push(hart, to->address, to->priv, to->stack, CALL_BEGUN);
	handler->signal = true;
	handler->resume = layer.resume;
	handler->interrupted = layer.stack;
}

static void on_indirect(struct hart *hart, const struct oracle_arrival *to)
{
	/* What follows is not sequential, even if it is next. */
	hart->after = 0;
	if (!to->priv)
		hart->thread->after = 0;
	if (leaves_stack(hart->thread, to))
		change_stack(hart, to);
}

void stacks_event(struct hart *hart, const struct oracle_arrival *to)
{
	switch (to->token) {
	case ORACLE_TRAP:
		on_trap(hart, to);
		return;
	case ORACLE_SYSCALL:
		hart->number_of_call = (int64_t)to->value;
		return;
	case ORACLE_HANDLER:
		on_handler(hart, to);
		return;
	case ORACLE_IDENTITY:
		hart->thread->pid = to->pid;
		hart->thread->tgid = to->tgid;
		if (!hart->thread->parent)
			hart->thread->parent = to->parent;
		return;
	}
	switch_task(hart, to);
	switch (to->token) {
	case ORACLE_CALL:
		/* A call to the instruction after it only reads pc and makes no frame. */
		if (to->address != hart->after)
			push(hart, to->address, to->priv, to->stack, CALL_CALLED);
		break;
	case ORACLE_RETURN:
		if (leaves_stack(hart->thread, to))
			change_stack(hart, to);
		else
			on_return(hart, to);
		break;
	case ORACLE_TRAP_RETURN:
		on_trap_return(hart, to);
		break;
	case ORACLE_INDIRECT:
		on_indirect(hart, to);
		break;
	}
}

void stacks_instruction(struct hart *hart, const struct oracle_insn *insn)
{
	struct thread *thread = hart->thread;
	uint32_t function = function_of(thread, insn->address);
	struct frame *top;

	if (thread->stack.count == floor_of(thread))
		push(hart, insn->address, insn->priv, 0, 0);
	top = top_of(thread);
	if (top->function != function) {
		move(hart, insn->address,
		     insn->address != (insn->priv ? hart->after : thread->after));
		top = top_of(thread);
	}
	if (thread->starts && !insn->priv) {
		thread->starts = false;
		if (top->call != NO_CALL)
			stacks.calls[top->call].start = hart->now;
	}
	if (top->shown) {
		stacks.nodes[top->node].instructions++;
		thread->instructions++;
		thread->last_shown = hart->now + 1;
	}
	hart->after = insn->address + insn->size;
	if (!insn->priv)
		thread->after = hart->after;
}

void stacks_begin(void)
{
	grow_nodes();
	stacks.node_count = 1;
}

void stacks_go_on(struct hart *hart, uint64_t now)
{
	if (stacks.calls_kept && now - hart->now >= PAUSE_MIN) {
		if (stacks.pause_count == stacks.pause_room)
			stacks.pauses = threads_grow(stacks.pauses, &stacks.pause_room,
						     sizeof(*stacks.pauses), CALLS_MAX, "pauses");
		stacks.pauses[stacks.pause_count++] =
			(struct pause){ hart->number, hart->now, now };
	}
	hart->now = now;
}

void stacks_hart_begin(struct hart *hart, unsigned int number, uint64_t task)
{
	*hart = (struct hart){ .number = number, .number_of_call = -1 };
	hart->thread = new_thread(task & KERNEL ? task : 0);
}

void stacks_end(struct hart *hart)
{
	end_interval(hart);
	hart->thread->cut = true;
}
