/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What transfers, traps and losses do to a stack; all return as ntrace_stacks_event(). */
#ifndef NTRACE_STACKS_TRANSFER_H
#define NTRACE_STACKS_TRANSFER_H

#include "thread.h"

/* @thread is about to execute the block of @event: its stack becomes what it is there. */
int stack_arrive(struct ntrace_stacks *stacks, struct thread *thread,
		 const struct ntrace_session_event *event);

/* The next instruction of a block may belong to the next function. */
int stack_straight(struct ntrace_stacks *stacks, struct thread *thread, struct ntrace_space *space,
		   uint64_t address);

int stack_trap(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow);

/* The privilege is left, and what follows is not traced. */
int stack_suspend(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow);

/* @thread was back where it is left now, and executed nothing. */
int stack_come_back(struct ntrace_stacks *stacks, struct thread *thread,
		    const struct ntrace_session_event *event);

/* It is not known any more where @thread goes on. */
int stack_lose(struct ntrace_stacks *stacks, struct thread *thread);

/* The same, when trace is lost in the middle: the last transfer was taken all the same. */
int stack_cut_off(struct ntrace_stacks *stacks, struct thread *thread);

#endif
