/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Events that are held until it is known which stack a thread goes on with; see hold.c. */
#ifndef NTRACE_STACKS_HOLD_H
#define NTRACE_STACKS_HOLD_H

#include "thread.h"

/* The event cannot be taken yet; no other function returns this. */
#define STACKS_HOLD INT32_MIN

/* One of several stacks goes on: it cannot be known which one. */
#define HOLD_UNKNOWN (SIZE_MAX - 1)

/*
 * The stack set aside that waits at @address: *index, SIZE_MAX: none, HOLD_UNKNOWN. Return: 0, or STACKS_HOLD:
 * several, and the present event can be held.
 */
int hold_choose(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address,
		size_t *index);

/* Holds @event, which goes on with another stack. Return: 0 or NTRACE_ERR_NOMEM. */
int hold_begin(struct ntrace_stacks *stacks, const struct ntrace_session_event *event);

/* While events are held: takes one more. Return: as ntrace_stacks_event(). */
int hold_event(struct ntrace_stacks *stacks, const struct ntrace_session_event *event);

/* Takes all events that are held. Return: as ntrace_stacks_event(). */
int hold_flush(struct ntrace_stacks *stacks);
void hold_free(struct stack_hold *hold);

#endif
