// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How a thread begins, with what it has from another one:
 *
 *	fork, vfork	a copy of the stack of the system call; what follows returns from it
 *	clone		no frame: the first code in user space begins the stack
 *	exec		all: a thread that is not the first of its process becomes the first
 *
 * A thread that had the number before, in any process, has ended: its frames end with its last turn.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "run.h"
#include "transfer.h"
#include "upper.h"

/* ---- threads that a thread makes ---- */

void forks_forget(struct thread *thread)
{
	while (thread->fork_count)
		stack_drop(&thread->forks[--thread->fork_count].stack);
}

static void drop_fork(struct thread *thread, size_t index)
{
	struct fork_stack *fork = &thread->forks[index];

	stack_drop(&fork->stack);
	memmove(fork, fork + 1, (--thread->fork_count - index) * sizeof(*fork));
}

static struct fork_stack *last_fork(struct thread *thread)
{
	return thread->fork_count ? &thread->forks[thread->fork_count - 1] : NULL;
}

/* Whether a signal has interrupted the last system call, which begins again: it has made no thread. */
static bool begins_again(const struct fork_stack *last, const struct stack *stack)
{
	return last && !last->done && last->stack.next == stack->next &&
	       last->stack.count == stack->count;
}

int stack_keep_fork(struct thread *thread)
{
	struct fork_stack *last = last_fork(thread);
	struct stack copy;
	int error;

	if (begins_again(last, &thread->stack)) {
		thread->made -= last->number + 1 == thread->made;
		drop_fork(thread, thread->fork_count - 1);
	}
	if (thread->fork_count == FORKS_MAX)
		drop_fork(thread, 0);
	error = grow((void **)&thread->forks, thread->fork_count, &thread->fork_room,
		     sizeof(*thread->forks));
	if (!error)
		error = stack_copy(&copy, &thread->stack);
	if (!error)
		thread->forks[thread->fork_count++] =
			(struct fork_stack){ .stack = copy, .number = thread->made++ };
	return error;
}

void forks_begin_turn(struct thread *thread, uint64_t made)
{
	struct fork_stack *last = last_fork(thread);

	thread->made = made;
	/* It did not make the thread in the turn in which it began. */
	if (last && !last->ended && last->number >= made)
		last->number = thread->made++;
}

void forks_end_call(struct thread *thread, uint64_t address)
{
	struct fork_stack *last = last_fork(thread);

	if (!last || last->done)
		return;
	last->ended = true;
	last->done = address == last->stack.next + last->stack.skip;
}

/* The stack of the system call with which @parent made the thread with that number; the caller frees its frames. */
static bool remove_fork(struct thread *parent, uint64_t number, struct stack *stack)
{
	for (size_t i = parent->fork_count; i-- > 0;) {
		struct fork_stack *fork = &parent->forks[i];

		if (fork->number != number)
			continue;
		*stack = fork->stack;
		fork->stack = (struct stack){ 0 };
		drop_fork(parent, i);
		return true;
	}
	return false;
}

/* Enters the frames of @from, which have begun in another thread. */
static int enter_frames(struct ntrace_stacks *stacks, struct thread *thread,
			const struct stack *from)
{
	unsigned int layer = 0;
	int error = 0;

	thread->stack.number = ++stacks->begun;
	for (uint32_t i = 0; i < from->count && !error; i++) {
		const struct frame *frame = &from->frames[i];
		const struct code_place place = { .function = frame->function,
						  .low = frame->low,
						  .high = frame->high,
						  .inside = frame->inside };

		while (layer < from->layer_count && from->layers[layer].base == i) {
			thread->stack.layers[layer] = from->layers[layer];
			thread->stack.layers[layer].on = 0;
			thread->stack.layer_count = ++layer;
		}
		error = frame_enter(stacks, thread, &place, frame->returns ? &frame->ret : NULL,
				    FRAME_THERE);
		if (!error) {
			stack_top(thread)->setjmp = frame->setjmp;
			stack_top(thread)->in_setjmp = frame->in_setjmp;
		}
		if (!error && frame->chain)
			error = inline_enter(stacks, tree_of(stacks, &thread->stack),
					     stack_top(thread), frame->chain);
	}
	thread->stack.next = from->next;
	thread->stack.skip = from->skip;
	thread->stack.goes_on = from->goes_on;
	return error;
}

/* Gives @thread, which has no stack, that of the thread that made it, or none if both are of one process. */
static int inherit_stack(struct ntrace_stacks *stacks, struct thread *thread,
			 const struct ntrace_origin *origin)
{
	struct thread *parent = threads_known(stacks, origin->pid, origin->tid);
	struct stack from;
	int error = 0;

	/* A thread of a process begins with a stack of its own. */
	thread->begins = origin->pid == thread->pid;
	if (!parent || !origin->turn || !remove_fork(parent, origin->number, &from))
		return 0;
	if (!thread->begins)
		error = enter_frames(stacks, thread, &from);
	stack_drop(&from);
	return error;
}

/* ---- begin and end ---- */

int thread_pass_elsewhere(struct ntrace_stacks *stacks, const struct thread *thread)
{
	const uint32_t here = stacks->hart.stream, there = thread->stream;
	const struct hart *hart = there < stacks->hart_count ? &stacks->harts[there] : NULL;
	int error, back;

	if (there == here || !hart ||
	    (hart->current != thread &&
	     (!hart->turn || hart->turn != thread->turn || hart->tid != thread->tid)))
		return 0;
	error = stacks_enter_stream(stacks, there);
	if (!error)
		error = clock_turn_over(stacks);
	if (!error)
		error = clock_pass(stacks);
	back = stacks_enter_stream(stacks, here);
	return error ? error : back;
}

/* Ends the frames of a thread that has ended. */
static int end_frames(struct ntrace_stacks *stacks, struct thread *thread)
{
	int error;

	if (thread->turn_end) {
		thread->stop_time = thread->turn_end;
		thread->stop_kind = NTRACE_STACK_TIME_EXACT;
		stacks->ending = true;
	}
	stacks->cutting = true;
	error = frames_unwind(stacks, thread, 0);
	stacks->cutting = stacks->ending = false;
	return error;
}

int thread_begin(struct ntrace_stacks *stacks, struct thread *thread,
		 const struct ntrace_origin *origin)
{
	int error = end_frames(stacks, thread);

	stacks_forget_aside(thread);
	forks_forget(thread);
	thread->stack.layer_count = 0;
	thread->stack.goes_on = false;
	thread->program = 0;
	thread->replaced = false;
	thread->moved = false;
	thread->instructions = 0;
	if (!error)
		error = inherit_stack(stacks, thread, origin);
	/* It goes on where the system call of the other thread returns. */
	thread->state = thread->stack.count ? THREAD_SUSPENDED : THREAD_LOST;
	return error;
}

int thread_end_earlier(struct ntrace_stacks *stacks, const struct thread *thread)
{
	struct thread *earlier;
	int error = 0;

	while (!error && (earlier = threads_earlier(stacks, thread))) {
		error = thread_pass_elsewhere(stacks, earlier);
		if (!error)
			error = end_frames(stacks, earlier);
		threads_drop(stacks, earlier);
	}
	return error;
}

/* @thread is @tid from now on; its frames are not shown. */
static int move_frames(struct ntrace_stacks *stacks, struct thread *thread, int32_t tid,
		       const char *comm)
{
	const struct stack *stack = &thread->stack;
	int error = 0;

	for (uint32_t i = stack->count; i-- > 0 && !error;)
		error = frame_report(stacks, thread, NTRACE_STACK_LEAVE, &stack->frames[i], i,
				     false);
	return error ? error : thread_renumber(stacks, thread, tid, comm);
}

int thread_exec(struct ntrace_stacks *stacks, struct thread **found,
		const struct ntrace_session_event *event)
{
	const struct ntrace_origin *origin = event->origin;
	struct thread *thread = threads_known(stacks, origin->pid, origin->tid);
	int error;

	if (!thread)
		return thread_begin(stacks, *found, origin);
	*found = thread;
	error = thread_pass_elsewhere(stacks, thread);
	if (!error && thread->state != THREAD_LOST &&
	    !thread_continues(stacks, thread, origin->turn))
		error = stack_lose(stacks, thread);
	if (error)
		return error;
	/* Its next turn is this one, or it is in it. */
	thread->turn = event->turn - (thread->turn != origin->turn);
	return move_frames(stacks, thread, event->tid, event->comm);
}
