// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The numbers of stacks, for what effects do to them (run.c). */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "states.h"

int states_init(struct stack_states *states)
{
	bool cleared;

	if (slots_grow(&states->slots, 0, &cleared) ||
	    grow((void **)&states->states, 0, &states->room, sizeof(*states->states)))
		return NTRACE_ERR_NOMEM;
	memset(states->states, 0, (STATE_UPPER + 1) * sizeof(*states->states));
	states->count = STATE_UPPER + 1;
	return 0;
}

void states_forget(struct stack_states *states)
{
	slots_clear(&states->slots);
	states->count = STATE_UPPER + 1;
}

void states_free(struct stack_states *states)
{
	free(states->states);
	free(states->slots.numbers);
}

static uint64_t hash_of(uint32_t parent, const struct frame *frame)
{
	uint64_t hash = ((uint64_t)parent << 32 | frame->function) * UINT64_C(0x9e3779b97f4a7c15);

	hash ^= (frame->ret ^ (uint64_t)frame->inner << 32) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return hash >> 32;
}

static bool same_frame(const struct frame *one, const struct frame *other)
{
	return one->function == other->function && one->node == other->node &&
	       one->chain == other->chain && one->inner == other->inner && one->ret == other->ret &&
	       one->low == other->low && one->high == other->high && one->setjmp == other->setjmp &&
	       one->returns == other->returns && one->in_setjmp == other->in_setjmp &&
	       one->inside == other->inside && one->shown == other->shown;
}

static int grow_slots(struct stack_states *states)
{
	bool cleared;
	int error = slots_grow(&states->slots, states->count, &cleared);

	for (size_t i = STATE_UPPER + 1; !error && cleared && i < states->count; i++)
		slots_add(&states->slots,
			  hash_of(states->states[i].parent, &states->states[i].frame), i);
	return error;
}

/* The state of @frame on top of @parent. */
static int find_state(struct stack_states *states, uint32_t parent, const struct frame *frame,
		      uint32_t *state)
{
	size_t slot = slots_at(&states->slots, hash_of(parent, frame));
	int error;

	for (; states->slots.numbers[slot]; slot = slots_at(&states->slots, slot + 1)) {
		const struct state *present = &states->states[states->slots.numbers[slot] - 1];

		if (present->parent == parent && same_frame(&present->frame, frame)) {
			*state = states->slots.numbers[slot] - 1;
			return 0;
		}
	}
	error = grow((void **)&states->states, states->count, &states->room,
		     sizeof(*states->states));
	if (error)
		return error;
	*state = (uint32_t)states->count;
	states->slots.numbers[slot] = *state + 1;
	states->states[*state] = (struct state){ *frame, parent, states->states[parent].depth + 1 };
	states->states[*state].frame.state = *state;
	states->count++;
	return grow_slots(states);
}

int states_find(struct stack_states *states, struct stack *stack, uint32_t *state)
{
	uint32_t known = stack->count;
	int error = 0;

	while (known > stack->bottom && !stack->frames[known - 1].state)
		known--;
	if (known > stack->bottom)
		*state = stack->frames[known - 1].state;
	else
		*state = stack->bottom ? STATE_UPPER : STATE_EMPTY;
	for (; known < stack->count && !error; known++) {
		error = find_state(states, *state, &stack->frames[known], state);
		stack->frames[known].state = *state;
	}
	return error;
}

int states_apply(const struct stack_states *states, struct stack *stack, uint32_t state)
{
	const uint32_t bottom = stack->bottom, depth = bottom + states->states[state].depth;
	uint32_t kept = stack->count - bottom, at = state;

	if (stack->count > bottom && stack->frames[stack->count - 1].state == state)
		return 0;
	if (depth > stack->room) {
		struct frame *frames = realloc(stack->frames, 2 * depth * sizeof(*frames));

		if (!frames)
			return NTRACE_ERR_NOMEM;
		stack->frames = frames;
		stack->room = 2 * depth;
	}
	for (; states->states[at].depth > kept; at = states->states[at].parent)
		stack->frames[bottom + states->states[at].depth - 1] = states->states[at].frame;
	for (kept = states->states[at].depth; kept && stack->frames[bottom + kept - 1].state != at;
	     kept--) {
		stack->frames[bottom + kept - 1] = states->states[at].frame;
		at = states->states[at].parent;
	}
	stack->count = depth;
	return 0;
}
