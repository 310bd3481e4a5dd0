// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Finds the frame that each transfer of control goes to. A trace has no stack pointers, only
 * addresses: those at which each frame continues.
 *
 *	call			a new frame, which returns after the call
 *	return			the frame below, if the top one returns there; else see return_far()
 *	jump			the top frame, or one of another function in its place
 *	indirect jump		as a jump, or as a return into the middle of a function; another stack, if the code
 *				changes the stack pointer (fiber.c)
 *	trap			a new layer
 *	return from a trap	the frame that was interrupted there; else see do_trap_return()
 *	not known		a stack set aside that waits there; else a new stack with unknown callers
 */
#include <string.h>

#include <ntrace/isa.h>

#include "hold.h"
#include "profile/select.h"
#include "run.h"
#include "transfer.h"
#include "upper.h"

/*
 * Target of a transfer.
 * @privilege: privilege of the target, PRIVILEGE_ANY = unknown
 */
struct arrival {
	struct ntrace_space *space;
	uint64_t address;
	unsigned int privilege;
	struct code_place place;
};

/* Enters the first frame of a layer; @known: no frame is missing below. */
static int enter_base(struct ntrace_stacks *stacks, struct thread *thread,
		      const struct code_place *place, bool known, enum frame_begin begin)
{
	const struct code_place unknown = {
		.function = thread->moved ? stacks->moved : stacks->unknown,
	};
	int error = 0;

	thread->moved = false;
	if (thread->begins) {
		known = true;
		thread->begins = top_layer(thread)->privilege != NTRACE_PRIV_U;
	}
	if (!known && !place_is_outermost(stacks, place))
		error = frame_enter(stacks, thread, &unknown, NULL, FRAME_THERE);
	return error ? error : frame_enter(stacks, thread, place, NULL, begin);
}

/* Restarts the top layer with unknown callers. */
static int restart_layer(struct ntrace_stacks *stacks, struct thread *thread,
			 const struct arrival *to)
{
	int error = frames_unwind(stacks, thread, top_layer(thread)->base);

	return error ? error : enter_base(stacks, thread, &to->place, false, FRAME_THERE);
}

int stack_lose(struct ntrace_stacks *stacks, struct thread *thread)
{
	int error = thread->stack.count ? stack_set_aside(stacks, thread) : 0;

	/* An unknown task cannot be recognized, nor is a stack the latest one if the order is unknown. */
	if (thread->tid < 0 || thread->moved)
		stacks_forget_aside(thread);
	thread->state = THREAD_LOST;
	return error;
}

static uint32_t find_setjmp(const struct stack *stack, uint32_t low, uint64_t address)
{
	uint32_t i;

	for (i = stack->count; i-- > low;)
		if (stack->frames[i].setjmp == address)
			return i;
	return NOWHERE;
}

static uint32_t find_function(const struct stack *stack, uint32_t low, uint32_t function)
{
	uint32_t i;

	for (i = stack->count; i-- > low;)
		if (stack->frames[i].function == function)
			return i;
	return NOWHERE;
}

/* The first frame that a return can reach: signal handlers share the interrupted stack. */
static uint32_t floor_of(const struct stack *stack)
{
	unsigned int layer = stack->layer_count - 1;

	while (layer && stack->layers[layer].signal)
		layer--;
	return stack->layers[layer].base;
}

static int unwind_to(struct ntrace_stacks *stacks, struct thread *thread, uint32_t count)
{
	int error = frames_unwind(stacks, thread, count);

	while (thread->stack.layer_count > 1 && top_layer(thread)->base >= count)
		thread->stack.layer_count--;
	return error;
}

/* The way in which the thread came here is unknown. @known: no frame is missing below. */
static int begin_stack(struct ntrace_stacks *stacks, struct thread *thread,
		       const struct arrival *to, bool known)
{
	bool found = false;
	int error = stack_set_aside(stacks, thread);

	if (!error)
		error = aside_resume(stacks, thread, to->address, to->privilege, &found);
	if (!error && !found)
		error = aside_return(stacks, thread, to->address, &found);
	if (error || found)
		return error;
	thread->stack.goes_on = false;
	error = layer_enter(stacks, thread, to->privilege, false);
	return error ? error :
		       enter_base(stacks, thread, &to->place, known,
				  known && to->place.entry ? FRAME_BEGINS : FRAME_THERE);
}

/* A return from the base of the stack, below which no frame is known. */
static int return_below(struct ntrace_stacks *stacks, struct thread *thread,
			const struct arrival *to)
{
	uint32_t base = top_layer(thread)->base;

	stacks->stats.below++;
	/* A handler has no caller: after its return, the signal trampoline runs. */
	if (thread->stack.layer_count > 1 && thread->stack.count == base + 1) {
		top_layer(thread)->ended = top_layer(thread)->signal;
		return frame_replace(stacks, thread, &to->place, FRAME_THERE);
	}
	return restart_layer(stacks, thread, to);
}

/*
 * A return that the top frame does not wait for. In this order: a frame further down waits for it
 * (longjmp without its setjmp); a setjmp of a frame returned there; another stack waits for it; the
 * target is in the function of a frame (exceptions).
 */
static int return_far(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	struct stack *stack = &thread->stack;
	uint32_t low = floor_of(stack), frame;
	bool found = false;
	int error = 0;

	frame = stack_find_return(stack, low, to->address);
	if (frame != NOWHERE && frame > low) {
		stacks->stats.unwound++;
		/* The program may also leave a co-routine in this way. */
		error = stack_keep_copy(thread);
		return error ? error : unwind_to(stacks, thread, frame);
	}
	frame = find_setjmp(stack, low, to->address);
	if (frame == NOWHERE && !(stack->open && stack->layer_count == 1))
		error = aside_return(stacks, thread, to->address, &found);
	if (error || found)
		return error;
	if (frame == NOWHERE && !to->place.entry)
		frame = find_function(stack, low, to->place.function);
	if (frame != NOWHERE) {
		stacks->stats.unwound++;
		return unwind_to(stacks, thread, frame + 1);
	}
	if (!stack_top(thread)->returns)
		return return_below(stacks, thread, to);
	stacks->stats.unmatched++;
	error = stack_keep_copy(thread);
	return error ? error : restart_layer(stacks, thread, to);
}

static int do_return(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	const struct frame *top = stack_top(thread);
	bool in_setjmp = top->in_setjmp;
	int error;

	if (!top->returns || top->ret != to->address)
		return return_far(stacks, thread, to);
	stacks->stats.returns++;
	error = frame_leave(stacks, thread);
	if (!error && in_setjmp && stack_top(thread)) {
		stack_top(thread)->setjmp = to->address;
		stack_top(thread)->state = 0;
	}
	return error;
}

/* A jump or branch: within the function, or to another one, which replaces the frame. */
static int do_jump(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	/* A jump to the start of the same function may be a loop or a call; treat it as a loop. */
	if (to->place.function == stack_top(thread)->function)
		return 0;
	return frame_replace(stacks, thread, &to->place,
			     to->place.entry ? FRAME_CALLED : FRAME_THERE);
}

/* The thread goes on with another stack, which waits at the target or begins there. */
static int do_switch(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	uint32_t low = floor_of(&thread->stack);
	size_t index;
	bool found;
	int error;

	run_spoil(stacks);
	error = hold_choose(stacks, thread, to->address, &index);
	if (error)
		return error;
	if (index < HOLD_UNKNOWN) {
		stacks->stats.switched++;
		return stack_restore(stacks, thread, index, thread->aside[index].count - 1);
	}
	if (index == SIZE_MAX) {
		error = aside_return(stacks, thread, to->address, &found);
		if (error || found)
			return error;
		if (stack_find_return(&thread->stack, low, to->address) != NOWHERE ||
		    find_setjmp(&thread->stack, low, to->address) != NOWHERE)
			return do_return(stacks, thread, to);
	}
	error = stack_set_aside(stacks, thread);
	if (!error)
		error = layer_enter(stacks, thread, to->privilege, false);
	if (error)
		return error;
	thread->stack.open = index == HOLD_UNKNOWN;
	return enter_base(stacks, thread, &to->place, to->place.entry,
			  to->place.entry ? FRAME_CALLED : FRAME_THERE);
}

/*
 * An indirect jump continues in its function or begins another one. A jump into the middle of
 * another function acts as a return.
 */
static int do_indirect_jump(struct ntrace_stacks *stacks, struct thread *thread,
			    const struct arrival *to)
{
	const struct frame *top = stack_top(thread);
	uint32_t low = floor_of(&thread->stack);
	bool found;
	int error;

	if (to->place.function != top->function && frame_switches(stacks, top, stacks->hart.space))
		return do_switch(stacks, thread, to);
	if (to->place.entry || to->place.function == top->function)
		return do_jump(stacks, thread, to);
	if (top->returns && top->ret == to->address)
		return do_return(stacks, thread, to);
	/* Layers and stacks set aside decide. */
	run_spoil(stacks);
	if (stack_find_return(&thread->stack, low, to->address) != NOWHERE ||
	    find_setjmp(&thread->stack, low, to->address) != NOWHERE)
		return return_far(stacks, thread, to);
	error = aside_return(stacks, thread, to->address, &found);
	return error || found ? error : do_jump(stacks, thread, to);
}

static int do_call(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	/* `jal ra, .+4` and similar only read the PC. */
	if (stacks->hart.return_address == to->address)
		return 0;
	return frame_call(stacks, thread, &to->place, stacks->hart.return_address);
}

/* Return and call of a co-routine: leaves a frame that waits for it, and begins another. */
static int do_swap(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	const struct frame *top = stack_top(thread);

	if (top->returns && top->ret == to->address)
		return frame_replace(stacks, thread, &to->place, FRAME_CALLED);
	if (!to->place.entry && to->place.function == top->function)
		return 0;
	return frame_enter(stacks, thread, &to->place, &stacks->hart.return_address, FRAME_CALLED);
}

/*
 * Whether a new program has replaced the old one. A space alone does not tell: while several tasks are
 * possible, the session gives each piece of code that they share a space of its own.
 */
static bool is_exec(const struct ntrace_stacks *stacks, const struct thread *thread,
		    const struct arrival *to)
{
	if (to->privilege != NTRACE_PRIV_U)
		return false;
	return thread->replaced ||
	       (!thread->certain && thread->space && to->space != thread->space &&
		place_is_outermost(stacks, &to->place));
}

/* Ends all frames of the old program. */
static int forget_program(struct ntrace_stacks *stacks, struct thread *thread)
{
	int error = frames_unwind(stacks, thread, 0);

	stacks_forget_aside(thread);
	thread->stack.layer_count = 0;
	thread->stack.goes_on = false;
	thread->replaced = false;
	return error;
}

static int begin_program(struct ntrace_stacks *stacks, struct thread *thread,
			 const struct arrival *to)
{
	int error = forget_program(stacks, thread);

	return error ? error : begin_stack(stacks, thread, to, true);
}

/*
 * A signal handler begins. If another one has just asked to end, the kernel has ended it: both
 * signals came at once and interrupted the same code.
 */
static int enter_signal(struct ntrace_stacks *stacks, struct thread *thread,
			const struct arrival *to)
{
	struct stack *stack = &thread->stack;
	struct layer left = *top_layer(thread);
	int error = 0;

	stacks->stats.signals++;
	if (left.ended && stack->skip) {
		/* Keep it in case it was interrupted just before it asked: then it comes back. */
		error = stack_keep_copy(thread);
		if (!error)
			error = layers_unwind(stacks, thread, stack->layer_count - 1);
		stack->next = left.resume;
		stack->skip = left.skip;
		stack->goes_on = left.resumes;
	}
	if (!error)
		error = layer_enter(stacks, thread, to->privilege, true);
	return error ? error : enter_base(stacks, thread, &to->place, true, FRAME_BEGINS);
}

/*
 * Control returned to a privilege at another address than it had left. The layers above it have
 * ended already, so that the layer of that privilege is on top.
 */
static int come_back_elsewhere(struct ntrace_stacks *stacks, struct thread *thread,
			       const struct arrival *to)
{
	uint32_t layer = stack_find_resumed(&thread->stack, to->address, to->privilege);
	int error;

	if (is_exec(stacks, thread, to))
		return begin_program(stacks, thread, to);
	if (layer != NOWHERE && layer) {
		return layers_unwind(stacks, thread, layer);
	} else if (to->place.entry && to->privilege == NTRACE_PRIV_U && thread->stack.goes_on) {
		return enter_signal(stacks, thread, to);
	}
	/* For example the kernel's exception tables, and restartable sequences. */
	if (to->place.function == stack_top(thread)->function)
		return 0;
	stacks->stats.unmatched++;
	if (to->privilege == NTRACE_PRIV_U || thread->stack.layer_count < 2)
		return begin_stack(stacks, thread, to, false);
	/* Trace was off in the kernel. The code that it interrupted waits as before. */
	error = stack_keep_copy(thread);
	return error ? error : restart_layer(stacks, thread, to);
}

/* Enters the first frame of a layer pushed by a trap. */
static int enter_handler(struct ntrace_stacks *stacks, struct thread *thread,
			 const struct arrival *to)
{
	top_layer(thread)->privilege = to->privilege;
	stacks->handler = to->address;
	return enter_base(stacks, thread, &to->place, true, FRAME_BEGINS);
}

/*
 * Whether a return from a trap, which no interrupted code waits for, is a jump: software has written xepc itself.
 * Within a function it always is. Elsewhere, the trap could be older than the trace, except where the outermost
 * frame is known; under an operating system, it begins another program.
 */
static bool returns_by_jump(const struct ntrace_stacks *stacks, struct thread *thread,
			    const struct arrival *to)
{
	const struct stack *stack = &thread->stack;
	bool same = to->privilege == PRIVILEGE_ANY || to->privilege == top_layer(thread)->privilege;

	if (to->place.function == stacks->unknown)
		return false;
	if (same && to->place.function == stack_top(thread)->function)
		return true;
	return stack->layer_count < 2 && thread->tid < 0 && !stack->open &&
	       stack->frames[0].function != stacks->unknown;
}

/* The handler has ended: control returns to the interrupted code. */
static int do_trap_return(struct ntrace_stacks *stacks, struct thread *thread,
			  const struct arrival *to)
{
	struct stack *stack = &thread->stack;
	uint32_t layer = stack_find_resumed(stack, to->address, to->privilege);
	struct layer left;
	int error;

	/* A handler that has asked to end does not come back, even to the same address. */
	if (layer != NOWHERE && layer > 1 && stack->layers[layer].skip &&
	    stack->layers[layer - 1].ended &&
	    layer_is_resumed(&stack->layers[layer - 1], to->address))
		layer--;
	if (layer != NOWHERE && layer) {
		error = layers_unwind(stacks, thread, layer);
		/* A trap came before the first instruction of a handler, which begins now. */
		if (!error && stack->count == top_layer(thread)->base)
			error = enter_handler(stacks, thread, to);
		return error;
	}
	if (returns_by_jump(stacks, thread, to)) {
		if (to->privilege != PRIVILEGE_ANY)
			top_layer(thread)->privilege = to->privilege;
		return do_jump(stacks, thread, to);
	}
	if (stack->layer_count < 2) {
		/* The stack began inside this handler. */
		error = stack_lose(stacks, thread);
		return error || to->privilege == PRIVILEGE_ANY ?
			       error :
			       begin_stack(stacks, thread, to, false);
	}
	left = *top_layer(thread);
	error = layers_unwind(stacks, thread, stack->layer_count - 1);
	stack->next = left.resume;
	stack->skip = left.skip;
	stack->goes_on = left.resumes;
	if (error)
		return error;
	if (to->privilege == PRIVILEGE_ANY || to->privilege == top_layer(thread)->privilege)
		return come_back_elsewhere(stacks, thread, to);
	stacks->stats.unmatched++;
	return begin_stack(stacks, thread, to, false);
}

static int do_transfer(struct ntrace_stacks *stacks, struct thread *thread,
		       const struct arrival *to)
{
	switch (stacks->hart.class) {
	case NTRACE_INSN_CALL:
	case NTRACE_INSN_INDIRECT_CALL:
		return do_call(stacks, thread, to);
	case NTRACE_INSN_COROUTINE_SWAP:
		return do_swap(stacks, thread, to);
	case NTRACE_INSN_RETURN:
		return do_return(stacks, thread, to);
	case NTRACE_INSN_TRAP_RETURN:
		return do_trap_return(stacks, thread, to);
	case NTRACE_INSN_INDIRECT_JUMP:
	case NTRACE_INSN_OTHER_INDIRECT_JUMP:
		return do_indirect_jump(stacks, thread, to);
	default:
		return do_jump(stacks, thread, to);
	}
}

/* @thread returns from a privilege that is not traced. */
static int come_back(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	struct stack *stack = &thread->stack;
	unsigned int privilege;

	if (!stack->count)
		return begin_stack(stacks, thread, to, to->place.entry);
	/* The first page may fault before any instruction retires: it was here before. */
	if (is_exec(stacks, thread, to))
		return begin_program(stacks, thread, to);
	privilege = top_layer(thread)->privilege;
	/* An interrupt may come before the first instruction. */
	if (stack->goes_on && (to->privilege > privilege ||
			       (to->privilege == privilege && to->address == stacks->handler))) {
		int error = layer_enter(stacks, thread, to->privilege, false);

		return error ? error :
			       enter_base(stacks, thread, &to->place, to->place.entry,
					  to->place.entry ? FRAME_BEGINS : FRAME_THERE);
	}
	if (to->privilege < privilege)
		return do_trap_return(stacks, thread, to);
	if (stack->goes_on && (to->address == stack->next ||
			       (stack->skip && to->address == stack->next + stack->skip)))
		return 0;
	return come_back_elsewhere(stacks, thread, to);
}

/* The thread runs without a transfer: straight on, or in an unknown way. */
static int continue_straight(struct ntrace_stacks *stacks, struct thread *thread,
			     const struct arrival *to)
{
	if (thread == stacks->hart.current && thread->stack.goes_on &&
	    thread->stack.next == to->address && top_layer(thread)->privilege == to->privilege)
		return 0;
	if (thread != stacks->hart.current && thread->stack.goes_on &&
	    thread->stack.next == to->address)
		return 0;
	return begin_stack(stacks, thread, to, false);
}

static int find_frame(struct ntrace_stacks *stacks, struct thread *thread, const struct arrival *to)
{
	bool same = thread == stacks->hart.current;

	switch (thread->state) {
	case THREAD_TRAPPED:
		return enter_handler(stacks, thread, to);
	case THREAD_SUSPENDED:
		return come_back(stacks, thread, to);
	case THREAD_RUNNING:
		if (!thread->stack.count)
			break;
		/* In the kernel, threads are switched by the return of __switch_to(). */
		if (stacks->hart.pending && (same || stacks->hart.class == NTRACE_INSN_RETURN) &&
		    (stacks->hart.class == NTRACE_INSN_TRAP_RETURN ||
		     top_layer(thread)->privilege == to->privilege))
			return do_transfer(stacks, thread, to);
		if (!stacks->hart.pending || !same)
			return continue_straight(stacks, thread, to);
		break;
	case THREAD_LOST:
		break;
	}
	return begin_stack(stacks, thread, to, false);
}

static void keep_user_space(struct ntrace_stacks *stacks, struct thread *thread,
			    const struct ntrace_session_event *event)
{
	run_arrive(stacks);
	if (event->privilege != NTRACE_PRIV_U)
		return;
	keep_space(&thread->space, event->flow->space);
	thread->certain = event->program;
	forks_end_call(thread, event->flow->address);
}

int stack_arrive(struct ntrace_stacks *stacks, struct thread *thread,
		 const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct arrival to = { .space = flow->space,
			      .address = flow->address,
			      .privilege = event->privilege };
	const struct frame *top = stack_top(thread);
	bool within = top && thread == stacks->hart.current && thread->state == THREAD_RUNNING &&
		      flow->address >= top->low && flow->address < top->high;
	int error;

	/* Most blocks continue in the function of the previous block. */
	if (within && flow->address != top->low &&
	    (stacks->hart.pending ? stacks->hart.class <= NTRACE_INSN_JUMP :
				    thread->stack.next == flow->address))
		return 0;
	error = code_place_at(stacks, flow->space, flow->address, &to.place);
	if (!error)
		error = find_frame(stacks, thread, &to);
	if (!error)
		error = stack_enter_adjacent(stacks, thread, flow->space, flow->address);
	if (!error)
		keep_user_space(stacks, thread, event);
	return error;
}

int stack_enter_adjacent(struct ntrace_stacks *stacks, struct thread *thread,
			 struct ntrace_space *space, uint64_t address)
{
	struct frame *top = stack_top(thread);
	struct code_place place;
	int error;

	if (address >= top->low && address < top->high)
		return 0;
	error = code_place_at(stacks, space, address, &place);
	if (error)
		return error;
	if (place.function != top->function)
		return frame_replace(stacks, thread, &place, FRAME_THERE);
	top->low = place.low;
	top->high = place.high;
	top->state = 0;
	return 0;
}

/* The first instruction of a signal handler may be interrupted, but so may that of a program. */
static int find_in_program(struct ntrace_stacks *stacks, const struct thread *thread,
			   struct arrival *to)
{
	struct code_place place;
	int error = thread->space ? code_place_at(stacks, thread->space, to->address, &place) : 0;

	if (error || !thread->space || !place.entry || place.begins)
		return error;
	to->space = thread->space;
	to->privilege = NTRACE_PRIV_U;
	to->place = place;
	return 0;
}

/* The transfer at the end of the last block was taken, but nothing retires at @address yet. */
static int finish_transfer(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address)
{
	struct arrival to = { .space = stacks->hart.space, .address = address };
	int error;

	if (!stacks->hart.pending)
		return 0;
	stacks->hart.pending = false;
	to.privilege = stacks->hart.class == NTRACE_INSN_TRAP_RETURN ? PRIVILEGE_ANY :
								       top_layer(thread)->privilege;
	/* A return from a trap may go to another space. */
	if (to.privilege == PRIVILEGE_ANY && thread->space &&
	    stack_find_resumed(&thread->stack, address, NTRACE_PRIV_U) != NOWHERE)
		to.space = thread->space;
	error = code_place_at(stacks, to.space, address, &to.place);
	if (!error && to.privilege == PRIVILEGE_ANY && to.place.function == stacks->unknown)
		error = find_in_program(stacks, thread, &to);
	return error ? error : do_transfer(stacks, thread, &to);
}

/* The target of a return from a trap may be interrupted before any instruction retires. */
static struct ntrace_space *space_of(const struct ntrace_stacks *stacks, struct thread *thread)
{
	bool user = thread->stack.layer_count && top_layer(thread)->privilege == NTRACE_PRIV_U;

	return user && thread->space ? thread->space : stacks->hart.space;
}

/* An interrupt at @next is inside the functions inlined there. */
static int stop_in_inlined(struct ntrace_stacks *stacks, struct thread *thread, uint64_t next)
{
	struct frame *top = stack_top(thread);
	struct code_place place;
	int error;

	if (!stacks->options.inlined || !top || next < top->low || next >= top->high)
		return 0;
	error = code_place_at(stacks, space_of(stacks, thread), next, &place);
	if (!error)
		error = inline_enter(stacks, tree_of(stacks, &thread->stack), top, place.chain);
	/* The node is one of the tree even if no frame will be above it. */
	return error || !top->shown ? error : node_add(stacks, &thread->stack, top->inner, 0, 0);
}

/* @next: the instruction at which @thread will continue, if @known. */
static int stop_at(struct ntrace_stacks *stacks, struct thread *thread, uint64_t next, bool known)
{
	struct stack *stack = &thread->stack;
	int error = 0;

	if (!known) {
		known = stacks->hart.pending ? stacks->hart.to_known : stack->goes_on;
		next = stacks->hart.pending ? stacks->hart.to : stack->next;
	}
	if (stacks->hart.pending && known)
		error = finish_transfer(stacks, thread, next);
	if (known && !error)
		error = stop_in_inlined(stacks, thread, next);
	stacks->hart.pending = false;
	stack->next = next;
	stack->goes_on = known;
	stack->skip = known ? trapping_size(space_of(stacks, thread), &stacks->hart.isa, next) : 0;
	return error;
}

/* Keeps the stack if a system call may make a thread. */
static int keep_fork(const struct ntrace_stacks *stacks, struct thread *thread)
{
	const struct frame *top = stack_top(thread);

	if (!top || !thread->stack.skip || top_layer(thread)->privilege != NTRACE_PRIV_U ||
	    !frame_forks(stacks, top, thread->space, thread->stack.next))
		return 0;
	return stack_keep_fork(thread);
}

/* Whether the handler on top interrupts another one. */
static bool interrupts_kernel(const struct stack *stack)
{
	return stack->layer_count > 1 &&
	       stack->layers[stack->layer_count - 2].privilege != NTRACE_PRIV_U;
}

/* Whether the handler on top interrupts a program that has not executed an instruction yet. */
static bool interrupts_begin(const struct stack *stack)
{
	return stack->layer_count == 2 && stack->layers[0].privilege == NTRACE_PRIV_U &&
	       !stack->layers[1].base;
}

int stack_trap(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow)
{
	struct thread *thread = hart_thread(stacks);
	int error = 0;

	if (!thread || thread->state == THREAD_LOST || !thread->stack.count)
		return 0;
	/* The first instruction of a new program traps, as its page is not there, and may be interrupted then. */
	if ((thread->replaced || interrupts_begin(&thread->stack)) && stacks->hart.pending &&
	    stacks->hart.class == NTRACE_INSN_TRAP_RETURN && !interrupts_kernel(&thread->stack)) {
		stacks->hart.pending = false;
		error = forget_program(stacks, thread);
		if (!error)
			error = layer_enter(stacks, thread, NTRACE_PRIV_U, false);
	}
	if (error)
		return error;
	/* This includes the first instruction of a handler, which has no frame yet. */
	error = stop_at(stacks, thread, flow->value, flow->next_known);
	if (error || thread->state == THREAD_LOST)
		return error;
	/* An ecall at that address has not been executed. */
	if (flow->code == NTRACE_BTYPE_INTERRUPT)
		thread->stack.skip = 0;
	error = keep_fork(stacks, thread);
	if (error)
		return error;
	thread->state = THREAD_TRAPPED;
	return layer_enter(stacks, thread, PRIVILEGE_ANY, false);
}

int stack_suspend(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow)
{
	struct thread *thread = hart_thread(stacks);
	int error;

	if (!thread || thread->state == THREAD_LOST)
		return 0;
	if (thread->state == THREAD_TRAPPED) {
		thread->state = THREAD_SUSPENDED;
		return layers_unwind(stacks, thread, thread->stack.layer_count - 1);
	}
	if (!thread->stack.count)
		return 0;
	error = stop_at(stacks, thread, flow->address, flow->next_known);
	/* The stack has ended with a return from a trap: no layer is below. */
	if (thread->state != THREAD_LOST || !thread->stack.count)
		thread->state = THREAD_SUSPENDED;
	if (!error && thread->stack.goes_on)
		error = keep_fork(stacks, thread);
	if (!error && thread->tid < 0)
		error = stack_lose(stacks, thread);
	return error;
}

int stack_come_back(struct ntrace_stacks *stacks, struct thread *thread,
		    const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct stack *stack = &thread->stack;
	struct arrival to = { .space = flow->space,
			      .address = flow->address,
			      .privilege = event->privilege };
	int error;

	if (thread->state != THREAD_SUSPENDED || !stack->count ||
	    (stack->goes_on && stack->next == flow->address))
		return 0;
	error = code_place_at(stacks, to.space, to.address, &to.place);
	if (!error)
		error = come_back(stacks, thread, &to);
	if (error)
		return error;
	keep_user_space(stacks, thread, event);
	stack->next = to.address;
	stack->goes_on = true;
	stack->skip = trapping_size(to.space, &stacks->hart.isa, to.address);
	return 0;
}

int stack_cut_off(struct ntrace_stacks *stacks, struct thread *thread)
{
	int error = 0;

	if (stacks->hart.pending && stacks->hart.to_known && thread->stack.count)
		error = finish_transfer(stacks, thread, stacks->hart.to);
	stacks->hart.pending = false;
	return error ? error : stack_lose(stacks, thread);
}
