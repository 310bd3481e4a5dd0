/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The numbers of stacks; see run.c. */
#ifndef NTRACE_STACKS_STATES_H
#define NTRACE_STACKS_STATES_H

#include "thread.h"

#define STATE_EMPTY 0
#define STATE_UPPER 1

/*
 * The stack @parent with the frame @frame on top. STATE_EMPTY is the empty stack, STATE_UPPER any stack below
 * frames with upper nodes.
 */
struct state {
	struct frame frame;
	uint32_t parent;
	uint32_t depth;
};

/*
 * @states: @count of them, with room for @room
 * @slots: of the states from STATE_UPPER + 1 on
 */
struct stack_states {
	struct state *states;
	size_t count, room;
	struct slots slots;
};

/* Functions that return an int return 0 or NTRACE_ERR_NOMEM. */
int states_init(struct stack_states *states);
void states_free(struct stack_states *states);

/* Forgets all states; the caller lets the frames forget theirs. */
void states_forget(struct stack_states *states);

/* The state of the whole stack, or of its frames with upper nodes. */
int states_find(struct stack_states *states, struct stack *stack, uint32_t *state);

/* Makes the frames those of @state. The frames present have states. */
int states_apply(const struct stack_states *states, struct stack *stack, uint32_t state);

#endif
