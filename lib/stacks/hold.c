// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which of several stacks a thread goes on with. Fibers often wait at the same place, in a function that changes to the
 * next one:
 *
 *	worker;step;yield;swapcontext		the thread is in yield() now;
 *	worker;yield;swapcontext		where that returns shows whose it is
 *
 * Events are held until then, and taken when the stack is known. Before, the thread may change its stack again: there is
 * a guess for each stack that it may have now, and those that do not return where the thread returns are dropped. A
 * stack with unknown callers may return anywhere: it remains possible until another one has returned to its first frame.
 * Code of signal handlers decides nothing. If there are too many guesses or events, or none is right, the callers stay
 * unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hold.h"
#include "transfer.h"

#define HELD_MAX 65536
#define ECALL_SIZE 4

struct held {
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	struct ntrace_isa isa;
	char comm[64];
};

/* The frames of the stack @index, or of the thread for the number of those set aside. */
static const struct stack *stack_of(const struct thread *thread, size_t index)
{
	return index < thread->aside_count ? &thread->aside[index] : &thread->stack;
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

static bool waits_at(const struct thread *thread, const struct guessed *guessed, uint64_t address)
{
	const struct frame *top;

	if (guessed->pushed)
		return guessed->rets[guessed->pushed - 1] == address;
	if (guessed->count < 2)
		return false;
	top = &stack_of(thread, guessed->base)->frames[guessed->count - 1];
	return top->returns && top->ret == address;
}

/* Whether the callers of the stack @index are unknown. */
static bool is_cut(const struct ntrace_stacks *stacks, const struct thread *thread, size_t index)
{
	const struct stack *stack = stack_of(thread, index);

	return stack->count && (stack->frames[0].function == stacks->unknown ||
				stack->frames[0].function == stacks->moved);
}

/* Whether the stack is at its frame of unknown callers, or would return there. */
static bool is_at_cut(const struct ntrace_stacks *stacks, const struct thread *thread,
		      const struct guessed *guessed)
{
	return !guessed->pushed && guessed->count && is_cut(stacks, thread, guessed->base) &&
	       !stack_of(thread, guessed->base)->frames[guessed->count - 1].returns;
}

static void leave(struct guessed *guessed)
{
	if (guessed->pushed)
		guessed->pushed--;
	else
		guessed->count--;
}

static struct guessed whole_stack(const struct thread *thread, size_t index)
{
	return (struct guessed){ .base = index, .count = stack_of(thread, index)->count };
}

/* Whether the stack @index waits at @address, and no earlier one with the same frames does. */
static bool is_candidate(const struct thread *thread, const struct guess *guess, size_t index,
			 uint64_t address)
{
	const struct guessed stack = whole_stack(thread, index);

	if (!waits_at(thread, &stack, address))
		return false;
	for (unsigned int i = 0; i < guess->used_count; i++)
		if (guess->used[i] == index)
			return false;
	for (size_t i = 0; i < index; i++)
		if (same_frames(&thread->aside[i], &thread->aside[index]) &&
		    is_candidate(thread, guess, i, address))
			return false;
	return true;
}

/* Adds what @from becomes if the stack @stack goes on. Return: false: no room. */
static bool add_guess(struct stack_hold *hold, const struct guess *from,
		      const struct guessed *stack)
{
	struct guess *guess = &hold->guesses[hold->guess_count];

	if (hold->guess_count == GUESSES)
		return false;
	*guess = *from;
	guess->now = *stack;
	hold->guess_count++;
	return true;
}

/* Adds a guess for each stack that may go on at @address after @from, of which the present one waits. */
static bool add_guesses(struct ntrace_stacks *stacks, const struct thread *thread,
			const struct guess *from, uint64_t address)
{
	struct stack_hold *hold = &stacks->hold;
	struct guess next = *from;

	if (next.parked_count == GUESSED || next.used_count == GUESSED)
		return false;
	next.parked[next.parked_count++] = next.now;
	for (unsigned int i = 0; i < from->parked_count; i++) {
		struct guess other = next;
		struct guessed stack = from->parked[i];

		if (!waits_at(thread, &stack, address))
			continue;
		leave(&stack);
		other.parked[i] = other.parked[--other.parked_count];
		if (!add_guess(hold, &other, &stack))
			return false;
	}
	/* Stacks that have waited long may have been given up. */
	for (size_t i = thread->aside_count; i-- > 0;) {
		struct guess other = next;
		struct guessed stack = whole_stack(thread, i);

		if (!is_candidate(thread, from, i, address))
			continue;
		leave(&stack);
		other.used[other.used_count++] = i;
		if (other.first == SIZE_MAX) {
			other.first = i;
			other.cut = is_cut(stacks, thread, i);
		}
		if (!add_guess(hold, &other, &stack))
			return false;
	}
	return true;
}

int hold_choose(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address,
		size_t *index)
{
	const struct guess none = { .first = SIZE_MAX,
				    .now = whole_stack(thread, thread->aside_count) };
	struct stack_hold *hold = &stacks->hold;

	*index = hold->choice;
	if (hold->decided) {
		hold->decided = false;
		return 0;
	}
	if (!hold->guesses)
		hold->guesses = malloc(2 * GUESSES * sizeof(*hold->guesses));
	if (!hold->guesses)
		return NTRACE_ERR_NOMEM;
	hold->guess_count = 0;
	*index = HOLD_UNKNOWN;
	if (!add_guesses(stacks, thread, &none, address))
		return 0;
	if (hold->guess_count > 1)
		return hold->possible ? STACKS_HOLD : 0;
	*index = hold->guess_count ? hold->guesses[0].first : SIZE_MAX;
	return 0;
}

static int add(struct stack_hold *hold, const struct ntrace_session_event *event)
{
	struct held *held;

	if (grow((void **)&hold->items, hold->count, &hold->room, sizeof(*hold->items)))
		return NTRACE_ERR_NOMEM;
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
	free(hold->guesses);
	*hold = (struct stack_hold){ 0 };
}

/* The stack that went on, if the guesses agree; else HOLD_UNKNOWN. */
static size_t find_agreed(const struct stack_hold *hold)
{
	size_t agreed = HOLD_UNKNOWN;
	bool proven = false;

	for (unsigned int i = 0; i < hold->guess_count; i++)
		proven |= hold->guesses[i].proven;
	for (unsigned int i = 0; i < hold->guess_count; i++) {
		const struct guess *guess = &hold->guesses[i];

		if (proven && guess->cut)
			continue;
		if (agreed != HOLD_UNKNOWN && agreed != guess->first)
			return HOLD_UNKNOWN;
		agreed = guess->first;
	}
	return agreed;
}

/* Takes all events that are held; among them may be one that is held again. */
static int flush(struct ntrace_stacks *stacks)
{
	struct stack_hold *hold = &stacks->hold, old = *hold;
	int error = 0;

	if (!old.count)
		return 0;
	hold->items = NULL;
	hold->count = hold->room = 0;
	hold->choice = find_agreed(hold);
	hold->decided = true;
	old.guesses = NULL;
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

int hold_flush(struct ntrace_stacks *stacks)
{
	int error = 0;

	while (stacks->hold.count && !error)
		error = flush(stacks);
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

/* What @guess becomes between two blocks. Return: false: no room. */
static bool follow_guess(struct ntrace_stacks *stacks, const struct thread *thread,
			 const struct guess *old, const struct ntrace_flow_event *from,
			 const struct ntrace_flow_event *to)
{
	struct stack_hold *hold = &stacks->hold;
	struct guess guess = *old;

	switch (from->insn_class) {
	case NTRACE_INSN_CALL:
	case NTRACE_INSN_INDIRECT_CALL:
		if (guess.now.pushed == GUESSED_DEPTH)
			return false;
		if (to->address != from->last + from->last_size)
			guess.now.rets[guess.now.pushed++] = from->last + from->last_size;
		return add_guess(hold, &guess, &guess.now);
	case NTRACE_INSN_RETURN:
		if (is_at_cut(stacks, thread, &guess.now)) {
			guess.now.count = 1;
			return add_guess(hold, &guess, &guess.now);
		}
		if (!waits_at(thread, &guess.now, to->address))
			return true;
		leave(&guess.now);
		guess.proven |= !guess.cut && guess.now.base == guess.first && !guess.now.pushed &&
				guess.now.count == 1;
		return add_guess(hold, &guess, &guess.now);
	default:
		return add_guess(hold, &guess, &guess.now);
	}
}

/* What all guesses become between two blocks of the thread. @over: no more can be known. */
static int follow(struct ntrace_stacks *stacks, const struct thread *thread,
		  const struct ntrace_flow_event *from, const struct ntrace_flow_event *to,
		  bool *over)
{
	struct stack_hold *hold = &stacks->hold;
	const struct guess *old = hold->guesses + GUESSES;
	const unsigned int count = hold->guess_count;
	struct code_place place;
	bool switched = false, room = true;
	int error = 0;

	if (!from->taken)
		return 0;
	*over = from->insn_class == NTRACE_INSN_COROUTINE_SWAP;
	if (from->insn_class == NTRACE_INSN_INDIRECT_JUMP ||
	    from->insn_class == NTRACE_INSN_OTHER_INDIRECT_JUMP)
		error = switches(stacks, from, &switched);
	if (switched && !error)
		error = code_place_at(stacks, to->space, to->address, &place);
	if (error || *over)
		return error;
	memcpy(hold->guesses + GUESSES, hold->guesses, count * sizeof(*old));
	hold->guess_count = 0;
	for (unsigned int i = 0; i < count && room; i++) {
		if (switched && place.entry) {
			struct guess guess = old[i];

			room = guess.parked_count < GUESSED;
			if (!room)
				break;
			guess.parked[guess.parked_count++] = guess.now;
			room = add_guess(hold, &guess,
					 &(struct guessed){ .base = thread->aside_count });
		} else if (switched) {
			room = add_guesses(stacks, thread, &old[i], to->address);
		} else {
			room = follow_guess(stacks, thread, &old[i], from, to);
		}
	}
	if (!room)
		hold->guess_count = 0;
	*over = !hold->guess_count;
	return 0;
}

/* The system call or interrupt after the block with the index @last; NULL: none. */
static const struct held *find_interrupt(const struct stack_hold *hold, size_t last)
{
	const struct held *from = &hold->items[last];

	for (size_t i = last + 1; i < hold->count; i++) {
		const struct held *held = &hold->items[i];

		if ((held->flow.type == NTRACE_FLOW_TRAP ||
		     held->flow.type == NTRACE_FLOW_TRACE_OFF) &&
		    held->event.tid == from->event.tid && held->event.pid == from->event.pid)
			return held;
	}
	return NULL;
}

/* Whether the code interrupted at @resume, perhaps at a system call, goes on at @address. */
static bool goes_on(uint64_t resume, uint64_t address)
{
	return address == resume || address == resume + ECALL_SIZE;
}

/* Where the block @from goes on after @interrupt. Return: false: not known. */
static bool find_resume(const struct ntrace_flow_event *from,
			const struct ntrace_flow_event *interrupt, uint64_t *resume)
{
	if (interrupt->next_known)
		*resume = interrupt->type == NTRACE_FLOW_TRAP ? interrupt->value :
								interrupt->address;
	else
		*resume = from->taken ? from->next : from->last + from->last_size;
	return interrupt->next_known || !from->taken || from->next_known;
}

/* The calls that a signal handler has made and that have not returned; below 0: it has returned itself. */
static int count_calls(const struct ntrace_flow_event *from, const struct ntrace_flow_event *to)
{
	switch (from->taken ? from->insn_class : NTRACE_INSN_PLAIN) {
	case NTRACE_INSN_CALL:
	case NTRACE_INSN_INDIRECT_CALL:
		return to->address != from->last + from->last_size;
	case NTRACE_INSN_RETURN:
		return -1;
	default:
		return 0;
	}
}

/*
 * Whether the last event is code of a signal handler, or of what ends it. Handlers may execute the code that they
 * interrupted.
 */
static int follow_handler(struct ntrace_stacks *stacks, bool *inside)
{
	struct stack_hold *hold = &stacks->hold;
	const struct ntrace_flow_event *from = &hold->items[hold->latest].flow;
	const struct ntrace_flow_event *to = &hold->items[hold->count - 1].flow;
	const struct held *interrupt = find_interrupt(hold, hold->latest);
	bool begins = false;
	struct code_place place;
	uint64_t resume;
	int error = 0;

	hold->latest = hold->count - 1;
	if (hold->in_handler)
		hold->calls += count_calls(from, to);
	if (interrupt && find_resume(from, &interrupt->flow, &resume) &&
	    !goes_on(resume, to->address)) {
		error = code_place_at(stacks, to->space, to->address, &place);
		begins = !error && place.entry;
	}
	if (begins && !hold->in_handler) {
		hold->in_handler = true;
		hold->resume = resume;
		hold->calls = 0;
	} else if (begins) {
		hold->calls++;
	} else if (interrupt && hold->calls < 0 && goes_on(hold->resume, to->address)) {
		hold->in_handler = false;
	}
	*inside = hold->in_handler;
	return error;
}

/* The last event has been added: whether the stack is known now. */
static int decide(struct ntrace_stacks *stacks, bool *over)
{
	struct stack_hold *hold = &stacks->hold;
	const struct held *first = &hold->items[0], *last = &hold->items[hold->count - 1];
	const struct thread *thread = threads_known(stacks, first->event.pid, first->event.tid);
	bool inside;
	int error;

	*over = hold->count == HELD_MAX || !thread;
	if (*over || last->flow.type != NTRACE_FLOW_BLOCK ||
	    last->event.privilege != first->event.privilege || last->event.tid != first->event.tid)
		return 0;
	error = follow_handler(stacks, &inside);
	if (error || inside)
		return error;
	error = follow(stacks, thread, &hold->items[hold->last].flow, &last->flow, over);
	hold->last = hold->count - 1;
	*over |= find_agreed(hold) != HOLD_UNKNOWN;
	return error;
}

int hold_begin(struct ntrace_stacks *stacks, const struct ntrace_session_event *event)
{
	stacks->hold.last = stacks->hold.latest = 0;
	stacks->hold.in_handler = false;
	return add(&stacks->hold, event);
}

int hold_event(struct ntrace_stacks *stacks, const struct ntrace_session_event *event)
{
	bool over = false;
	int error = add(&stacks->hold, event);

	if (!error)
		error = decide(stacks, &over);
	return error || !over ? error : flush(stacks);
}
