// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which of several stacks a thread goes on with. Fibers often wait at the same place, in a function that changes to the
 * next one:
 *
 *	worker;step;yield;swapcontext		the thread is in yield() now;
 *	worker;yield;swapcontext		where that returns shows whose it is
 *
 * Events are held until then, and taken when the stack is known. If something else comes first, it is the stack that
 * has waited longest.
 */
#include <stdlib.h>
#include <string.h>

#include "hold.h"
#include "transfer.h"

#define HELD_MAX 16384

struct held {
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	struct ntrace_isa isa;
	char comm[64];
};

/* Whether the stack waits at @address, and its callers where yield() and its callers returned to. */
static bool may_be(const struct stack_hold *hold, const struct stack *stack, uint64_t address)
{
	const struct frame *top = &stack->frames[stack->count - 1];

	if (stack->count < 2 || !top->returns || top->ret != address)
		return false;
	for (unsigned int i = 0; i < hold->returned; i++) {
		if (i + 3 > stack->count)
			return false;
		top--;
		if (!top->returns || top->ret != hold->returns[i])
			return false;
	}
	return true;
}

static bool same_frames(const struct stack *one, const struct stack *other)
{
	if (one->count != other->count)
		return false;
	for (uint32_t i = 0; i < one->count; i++)
		if (one->frames[i].function != other->frames[i].function ||
		    one->frames[i].ret != other->frames[i].ret)
			return false;
	return true;
}

/* The stack that has waited longest of those that may be it. @several: there are others, with other frames. */
static const struct stack *first_of(const struct stack_hold *hold, const struct thread *thread,
				    uint64_t address, bool *several)
{
	const struct stack *found = NULL;

	*several = false;
	for (size_t i = 0; i < thread->aside_count; i++) {
		const struct stack *stack = &thread->aside[i];

		if (!may_be(hold, stack, address))
			continue;
		if (!found)
			found = stack;
		*several |= !same_frames(found, stack);
	}
	return found;
}

int hold_choose(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address,
		size_t *index)
{
	struct stack_hold *hold = &stacks->hold;
	const struct stack *found;
	bool several;

	if (!hold->decided)
		hold->returned = 0;
	hold->decided = false;
	found = first_of(hold, thread, address, &several);
	/* No stack fits what came afterwards: none of them need be known. */
	if (!found && hold->returned) {
		hold->returned = 0;
		found = first_of(hold, thread, address, &several);
		several = false;
	}
	if (several && hold->possible)
		return STACKS_HOLD;
	*index = found ? (size_t)(found - thread->aside) : SIZE_MAX;
	return 0;
}

static int add(struct stack_hold *hold, const struct ntrace_session_event *event)
{
	struct held *held;

	if (hold->count == hold->room) {
		size_t room = hold->room ? 2 * hold->room : 64;

		held = realloc(hold->items, room * sizeof(*held));
		if (!held)
			return NTRACE_ERR_NOMEM;
		hold->items = held;
		hold->room = room;
	}
	held = &hold->items[hold->count++];
	*held = (struct held){ .event = *event, .flow = *event->flow };
	strncpy(held->comm, event->comm ? event->comm : "", sizeof(held->comm) - 1);
	if (event->flow->isa)
		held->isa = *event->flow->isa;
	if (event->flow->space)
		ntrace_space_get(held->flow.space);
	return 0;
}

void hold_free(struct stack_hold *hold)
{
	for (size_t i = 0; i < hold->count; i++)
		ntrace_space_put(hold->items[i].flow.space);
	free(hold->items);
	*hold = (struct stack_hold){ 0 };
}

int hold_flush(struct ntrace_stacks *stacks)
{
	struct stack_hold *hold = &stacks->hold, old = *hold;
	int error = 0;

	if (!old.count)
		return 0;
	hold->items = NULL;
	hold->count = hold->room = 0;
	hold->decided = true;
	for (size_t i = 0; i < old.count && !error; i++) {
		struct held *held = &old.items[i];

		held->event.flow = &held->flow;
		held->event.comm = held->comm;
		if (held->flow.isa)
			held->flow.isa = &held->isa;
		hold->forced = !i;
		error = ntrace_stacks_event(stacks, &held->event);
	}
	hold->forced = false;
	hold_free(&old);
	return error;
}

/* Whether a jump at the end of @flow leaves the stack. */
static int switches(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow, bool *found)
{
	struct code_place place;
	int error = code_place_at(stacks, flow->space, flow->last, &place);
	const struct frame frame = { .function = place.function,
				     .low = place.low,
				     .high = place.high };

	*found = !error && frame_switches(stacks, &frame, flow->space);
	return error;
}

/* What the thread has done from its block @from to @to. @over: it leaves the stack before that is known. */
static int follow(struct ntrace_stacks *stacks, const struct ntrace_flow_event *from,
		  const struct ntrace_flow_event *to, bool *over)
{
	struct stack_hold *hold = &stacks->hold;

	if (!from->taken)
		return 0;
	switch (from->insn_class) {
	case NTRACE_INSN_CALL:
	case NTRACE_INSN_INDIRECT_CALL:
		hold->depth += to->address != from->last + from->last_size;
		return 0;
	case NTRACE_INSN_RETURN:
		if (hold->depth)
			hold->depth--;
		else if (hold->returned < HOLD_RETURNS)
			hold->returns[hold->returned++] = to->address;
		else
			*over = true;
		return 0;
	case NTRACE_INSN_INDIRECT_JUMP:
	case NTRACE_INSN_OTHER_INDIRECT_JUMP:
		return switches(stacks, from, over);
	case NTRACE_INSN_COROUTINE_SWAP:
		*over = true;
		return 0;
	default:
		return 0;
	}
}

/* The event at @index, the last one, has been added: whether the stack is known now. */
static int decide(struct ntrace_stacks *stacks, bool *over)
{
	struct stack_hold *hold = &stacks->hold;
	const struct held *first = &hold->items[0], *last = &hold->items[hold->count - 1];
	struct thread *thread = threads_known(stacks, first->event.pid, first->event.tid);
	int error;

	*over = hold->count == HELD_MAX || !thread;
	if (*over || last->flow.type != NTRACE_FLOW_BLOCK ||
	    last->event.privilege != first->event.privilege || last->event.tid != first->event.tid)
		return 0;
	error = follow(stacks, &hold->items[hold->last].flow, &last->flow, over);
	hold->last = hold->count - 1;
	if (!error && !*over) {
		bool several;

		first_of(hold, thread, first->flow.address, &several);
		*over = !several;
	}
	return error;
}

int hold_begin(struct ntrace_stacks *stacks, const struct ntrace_session_event *event)
{
	stacks->hold.depth = stacks->hold.returned = 0;
	stacks->hold.last = 0;
	return add(&stacks->hold, event);
}

int hold_event(struct ntrace_stacks *stacks, const struct ntrace_session_event *event)
{
	struct stack_hold *hold = &stacks->hold;
	bool over = false;
	int error;

	/* Another hart goes on. */
	if (event->stream != hold->items[0].event.stream) {
		error = hold_flush(stacks);
		return error ? error : ntrace_stacks_event(stacks, event);
	}
	error = add(hold, event);
	if (!error)
		error = decide(stacks, &over);
	return error || !over ? error : hold_flush(stacks);
}
