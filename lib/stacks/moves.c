// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Threads on their way from one hart to another. Harts are decoded at the same time, perhaps by several jobs with
 * stacks of their own; the end of a turn (struct ntrace_leave) comes before the next turn of the thread.
 *
 *	stacks of job 0			moves			stacks of job 1
 *	thread A, function 7, node 12	thread A, "main"	thread A, function 3, node 5
 *
 * Numbers of functions and nodes are those of the stacks. If there are several stacks, threads on their way have
 * their functions with them, and get other numbers and nodes on arrival: what follows does not depend on whether a
 * thread stays with its stacks.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hold.h"
#include "moves.h"
#include "run.h"
#include "upper.h"

#define BUCKETS 1024

/* Stacks that are kept for threads that may never run. */
#define CHILDREN_MAX 65536

/**
 * struct stack_moves - threads on their way
 * @lock: of all but @members
 * @members: stacks that share it
 * @children: number of threads that are to begin
 */
struct stack_moves {
	pthread_mutex_t lock;
	unsigned int members;
	struct thread *buckets[BUCKETS];
	size_t children;
};

/**
 * struct packed - the functions of a thread on its way
 * @numbers: their numbers in the stacks that the thread left
 * @functions: frames have the index of their function here
 * @chains: likewise, of inlined functions; the first one is empty
 * @task: the thread
 */
struct packed {
	uint32_t *numbers;
	struct tree_function *functions;
	size_t count, numbers_room, room;
	uint32_t *chain_numbers;
	struct inline_chain *chains;
	size_t chain_count, chain_numbers_room, chain_room;
	struct tree_function task;
};

int moves_join(struct ntrace_stacks *stacks, struct ntrace_stacks *beside)
{
	struct stack_moves *moves = beside ? beside->moves : calloc(1, sizeof(*moves));

	if (!moves)
		return NTRACE_ERR_NOMEM;
	if (!beside)
		pthread_mutex_init(&moves->lock, NULL);
	moves->members++;
	stacks->moves = moves;
	return 0;
}

static void free_packed(struct packed *packed)
{
	if (!packed)
		return;
	free(packed->numbers);
	free(packed->functions);
	free(packed->chain_numbers);
	free(packed->chains);
	free(packed);
}

static void free_all(struct stack_moves *moves)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		while (moves->buckets[i]) {
			struct thread *thread = moves->buckets[i];

			moves->buckets[i] = thread->chain;
			free_packed(thread->packed);
			thread_free(thread);
		}
	}
}

void moves_free(struct ntrace_stacks *stacks)
{
	struct stack_moves *moves = stacks->moves;

	stacks->moves = NULL;
	if (!moves || --moves->members)
		return;
	free_all(moves);
	pthread_mutex_destroy(&moves->lock);
	free(moves);
}

static struct thread **bucket_of(struct stack_moves *moves, int32_t tid)
{
	return &moves->buckets[(uint32_t)tid % BUCKETS];
}

/* ---- packing ---- */

/* Calls @visit for each stack of @thread, until an error. */
static int each_stack(struct ntrace_stacks *stacks, struct thread *thread,
		      int (*visit)(struct ntrace_stacks *stacks, struct thread *thread,
				   struct stack *stack))
{
	int error = visit(stacks, thread, &thread->stack);

	for (size_t i = 0; i < thread->aside_count && !error; i++)
		error = visit(stacks, thread, &thread->aside[i]);
	for (unsigned int i = 0; i < thread->fork_count && !error; i++)
		error = visit(stacks, thread, &thread->forks[i].stack);
	return error;
}

/* Frames get nodes of the tree, and what run.c remembers about them ends. */
static int settle(struct ntrace_stacks *stacks, struct thread *thread, struct stack *stack)
{
	(void)thread;
	for (uint32_t i = 0; i < stack->count; i++)
		stack->frames[i].state = 0;
	return upper_attach(stacks, stack);
}

static int pack_function(const struct ntrace_stacks *stacks, struct packed *packed,
			 uint32_t *number)
{
	void *numbers = packed->numbers, *functions = packed->functions;
	size_t i;
	int error;

	for (i = 0; i < packed->count && packed->numbers[i] != *number; i++)
		;
	if (i == packed->count) {
		error = grow(&numbers, packed->count, &packed->numbers_room,
			     sizeof(*packed->numbers));
		packed->numbers = numbers;
		if (!error)
			error = grow(&functions, packed->count, &packed->room,
				     sizeof(*packed->functions));
		packed->functions = functions;
		if (error)
			return error;
		packed->numbers[i] = *number;
		packed->functions[i] = stacks->tree.functions[*number];
		packed->count++;
	}
	*number = (uint32_t)i;
	return 0;
}

static int pack_chain(const struct ntrace_stacks *stacks, struct packed *packed, uint32_t *number)
{
	void *numbers = packed->chain_numbers, *chains = packed->chains;
	struct inline_chain chain;
	size_t i;
	int error;

	if (!*number)
		return 0;
	for (i = 0; i < packed->chain_count; i++) {
		if (packed->chain_numbers[i] == *number) {
			*number = (uint32_t)i + 1;
			return 0;
		}
	}
	chain = stacks->inlined.chains[*number];
	error = pack_function(stacks, packed, &chain.function);
	if (!error)
		error = pack_chain(stacks, packed, &chain.parent);
	if (error)
		return error;
	numbers = packed->chain_numbers;
	chains = packed->chains;
	error = grow(&numbers, packed->chain_count, &packed->chain_numbers_room,
		     sizeof(*packed->chain_numbers));
	packed->chain_numbers = numbers;
	if (!error)
		error = grow(&chains, packed->chain_count, &packed->chain_room,
			     sizeof(*packed->chains));
	packed->chains = chains;
	if (error)
		return error;
	packed->chain_numbers[packed->chain_count] = *number;
	packed->chains[packed->chain_count] = chain;
	*number = (uint32_t)++packed->chain_count;
	return 0;
}

static int pack_stack(struct ntrace_stacks *stacks, struct thread *thread, struct stack *stack)
{
	int error = 0;

	for (uint32_t i = 0; i < stack->count && !error; i++) {
		error = pack_function(stacks, thread->packed, &stack->frames[i].function);
		if (!error)
			error = pack_chain(stacks, thread->packed, &stack->frames[i].chain);
	}
	return error;
}

/* The function of the thread to which the frames of a stack belong: it may have had another name then. */
static uint32_t task_of(const struct ntrace_stacks *stacks, const struct thread *thread,
			const struct stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++) {
		uint32_t node = stack->frames[i].shown ? stack->frames[i].node : TREE_ROOT;

		while (node != TREE_ROOT && stacks->tree.nodes[node].parent != TREE_ROOT)
			node = stacks->tree.nodes[node].parent;
		if (node != TREE_ROOT)
			return stacks->tree.nodes[node].function;
	}
	return thread->task;
}

static int pack_task(struct ntrace_stacks *stacks, struct thread *thread, struct stack *stack)
{
	stack->task = task_of(stacks, thread, stack);
	return pack_function(stacks, thread->packed, &stack->task);
}

static int pack(struct ntrace_stacks *stacks, struct thread *thread)
{
	int error;

	thread->packed = calloc(1, sizeof(*thread->packed));
	if (!thread->packed)
		return NTRACE_ERR_NOMEM;
	thread->packed->task = stacks->tree.functions[thread->task];
	error = each_stack(stacks, thread, pack_task);
	return error ? error : each_stack(stacks, thread, pack_stack);
}

/* ---- unpacking ---- */

/* The nodes of the frames of a stack, whose functions have their numbers again. */
static int find_nodes(struct ntrace_stacks *stacks, struct stack *stack, const uint32_t *chains)
{
	uint32_t parent = TREE_ROOT;
	int error = 0;

	for (uint32_t i = 0; i < stack->count && !error; i++) {
		struct frame *frame = &stack->frames[i];
		uint32_t chain = frame->chain ? chains[frame->chain - 1] : 0;

		frame->chain = 0;
		frame->node = frame->inner = parent;
		if (!frame->shown)
			continue;
		if (parent == TREE_ROOT)
			error = tree_child(&stacks->tree, TREE_ROOT, stack->task, &parent);
		if (!error)
			error = tree_child(&stacks->tree, parent, frame->function, &frame->node);
		frame->inner = frame->node;
		if (!error)
			error = inline_enter(stacks, &stacks->tree, frame, chain);
		parent = frame->inner;
	}
	return error;
}

struct unpacking {
	uint32_t *functions;
	uint32_t *chains;
};

static int unpack_stack(struct ntrace_stacks *stacks, struct stack *stack,
			const struct unpacking *unpacking)
{
	stack->task = unpacking->functions[stack->task];
	for (uint32_t i = 0; i < stack->count; i++)
		stack->frames[i].function = unpacking->functions[stack->frames[i].function];
	return find_nodes(stacks, stack, unpacking->chains);
}

/* Gives the functions and chains of a thread numbers of @stacks. */
static int number(struct ntrace_stacks *stacks, const struct packed *packed,
		  struct unpacking *unpacking)
{
	int error = 0;

	unpacking->functions = calloc(packed->count + 1, sizeof(*unpacking->functions));
	unpacking->chains = calloc(packed->chain_count + 1, sizeof(*unpacking->chains));
	if (!unpacking->functions || !unpacking->chains)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < packed->count && !error; i++)
		error = tree_function(&stacks->tree, &packed->functions[i],
				      &unpacking->functions[i]);
	/* Parents come before their chains. */
	for (size_t i = 0; i < packed->chain_count && !error; i++) {
		const struct inline_chain *chain = &packed->chains[i];

		error = inline_find_chain(&stacks->inlined,
					  chain->parent ? unpacking->chains[chain->parent - 1] : 0,
					  unpacking->functions[chain->function],
					  &unpacking->chains[i]);
	}
	return error;
}

static int unpack(struct ntrace_stacks *stacks, struct thread *thread)
{
	struct unpacking unpacking = { 0 };
	int error = number(stacks, thread->packed, &unpacking);

	if (!error)
		error = tree_function(&stacks->tree, &thread->packed->task, &thread->task);
	if (!error)
		error = unpack_stack(stacks, &thread->stack, &unpacking);
	for (size_t i = 0; i < thread->aside_count && !error; i++)
		error = unpack_stack(stacks, &thread->aside[i], &unpacking);
	for (unsigned int i = 0; i < thread->fork_count && !error; i++)
		error = unpack_stack(stacks, &thread->forks[i].stack, &unpacking);
	if (!error)
		thread->comm = stacks->tree.functions[thread->task].name;
	thread->root = 0;
	free(unpacking.functions);
	free(unpacking.chains);
	free_packed(thread->packed);
	thread->packed = NULL;
	return error;
}

/* ---- leaving and arriving ---- */

static int put(struct ntrace_stacks *stacks, struct thread *thread)
{
	struct stack_moves *moves = stacks->moves;
	struct thread **bucket = bucket_of(moves, thread->tid);
	int error = each_stack(stacks, thread, settle);

	if (!error && moves->members > 1)
		error = pack(stacks, thread);
	if (error) {
		free_packed(thread->packed);
		thread_free(thread);
		return error;
	}
	pthread_mutex_lock(&moves->lock);
	thread->chain = *bucket;
	*bucket = thread;
	moves->children += thread->child;
	pthread_mutex_unlock(&moves->lock);
	return 0;
}

int moves_take(struct ntrace_stacks *stacks, int32_t pid, int32_t tid, bool child,
	       struct thread **thread)
{
	struct stack_moves *moves = stacks->moves;
	struct thread **at = bucket_of(moves, tid);
	int error = 0;

	pthread_mutex_lock(&moves->lock);
	while (*at && ((*at)->tid != tid || (*at)->pid != pid || (*at)->child != child))
		at = &(*at)->chain;
	*thread = *at;
	if (*at)
		*at = (*at)->chain;
	moves->children -= *thread && child;
	pthread_mutex_unlock(&moves->lock);
	if (*thread && (*thread)->packed)
		error = unpack(stacks, *thread);
	if (error)
		thread_free(*thread);
	return error;
}

int moves_begin(struct ntrace_stacks *stacks, struct thread *thread,
		const struct ntrace_origin *origin)
{
	struct thread *child = NULL;
	int error;

	stacks->cutting = true;
	error = frames_unwind(stacks, thread, 0);
	stacks->cutting = false;
	stacks_forget_aside(thread);
	thread->stack.layer_count = 0;
	thread->stack.goes_on = false;
	thread->program = 0;
	thread->replaced = false;
	thread->moved = false;
	thread->instructions = 0;
	/* A thread of a process begins with a stack of its own. */
	thread->begins = origin->pid == thread->pid;
	if (!error)
		error = moves_take(stacks, thread->pid, thread->tid, true, &child);
	if (child && !error)
		error = stack_inherit(stacks, thread, &child->stack);
	if (child)
		thread_free(child);
	/* It goes on where the system call of the other thread returns. */
	thread->state = thread->stack.count ? THREAD_SUSPENDED : THREAD_LOST;
	return error;
}

int moves_return(struct ntrace_stacks *stacks)
{
	struct stack_moves *moves = stacks->moves;
	int error = 0;

	for (size_t i = 0; i < BUCKETS && !error; i++) {
		struct thread *thread = moves->buckets[i];

		moves->buckets[i] = NULL;
		while (thread) {
			struct thread *next = thread->chain;

			if (!error && !thread->child)
				error = stacks_enter_stream(stacks, thread->stream);
			if (error || thread->child || thread->packed ||
			    thread_attach(stacks, thread)) {
				free_packed(thread->packed);
				thread_free(thread);
			}
			thread = next;
		}
	}
	return error;
}

/* Keeps the stack with which a thread begins that @parent made. */
static int put_child(struct ntrace_stacks *stacks, const struct thread *parent,
		     const struct ntrace_child *child, const struct stack *from)
{
	struct thread *thread;
	size_t children;
	int error;

	pthread_mutex_lock(&stacks->moves->lock);
	children = stacks->moves->children;
	pthread_mutex_unlock(&stacks->moves->lock);
	if (children >= CHILDREN_MAX)
		return 0;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NTRACE_ERR_NOMEM;
	thread->pid = child->pid;
	thread->tid = child->tid;
	thread->task = parent->task;
	thread->child = true;
	error = stack_copy(&thread->stack, from);
	if (!error)
		return put(stacks, thread);
	thread_free(thread);
	return error;
}

int ntrace_stacks_leave(void *data, const struct ntrace_leave *leave)
{
	struct ntrace_stacks *stacks = data;
	int error = stacks_enter_stream(stacks, leave->stream);
	struct thread *thread;

	if (!error)
		error = hold_flush(stacks);
	/* The changes of the thread come before those elsewhere. */
	if (!error)
		error = clock_pass(stacks);
	thread = error ? NULL : threads_known(stacks, leave->pid, leave->tid);
	for (size_t i = 0; thread && i < leave->child_count && !error; i++) {
		const struct stack *stack = fork_stack_of(thread, leave->turn, i);

		/* A thread of the same process begins with a stack of its own. */
		if (stack && leave->children[i].pid != leave->pid)
			error = put_child(stacks, thread, &leave->children[i], stack);
	}
	if (!thread || !leave->moves || error)
		return error;
	run_spoil(stacks);
	thread_detach(stacks, thread);
	/* Spaces are those of the decoding of a stream. */
	ntrace_space_put(thread->space);
	thread->space = NULL;
	thread->came = true;
	return put(stacks, thread);
}
