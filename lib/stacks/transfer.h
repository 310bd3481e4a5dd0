/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Effects of transfers, traps and losses on a stack; all return as ntrace_stacks_event(). */
#ifndef NTRACE_STACKS_TRANSFER_H
#define NTRACE_STACKS_TRANSFER_H

#include "thread.h"

/* ---- aside.c ---- */
#define NOWHERE UINT32_MAX

/* Whether the code below @layer continues at @address. */
bool layer_is_resumed(const struct layer *layer, uint64_t address);

/* The layer above the one that continues at @address, NOWHERE = none. */
uint32_t stack_find_resumed(const struct stack *stack, uint64_t address, unsigned int privilege);

/* The innermost frame from @low on that returns to @address, NOWHERE = none. */
uint32_t stack_find_return(const struct stack *stack, uint32_t low, uint64_t address);

/* A stack set aside continues where one of its frames returns to. @found: one does. */
int aside_return(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address,
		 bool *found);

/* Likewise, at the address where it was interrupted. */
int aside_resume(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address,
		 unsigned int privilege, bool *found);

/* ---- transfer.c ---- */

/* Prepares the stack of @thread for the block of @event, which it is about to execute. */
int stack_arrive(struct ntrace_stacks *stacks, struct thread *thread,
		 const struct ntrace_session_event *event);

/* The next instruction of a block may belong to the next function. */
int stack_enter_adjacent(struct ntrace_stacks *stacks, struct thread *thread,
			 struct ntrace_space *space, uint64_t address);

int stack_trap(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow);

/* The thread goes to a privilege that is not traced. */
int stack_suspend(struct ntrace_stacks *stacks, const struct ntrace_flow_event *flow);

/* @thread returned to its last address and executed no instruction. */
int stack_come_back(struct ntrace_stacks *stacks, struct thread *thread,
		    const struct ntrace_session_event *event);

/* The next address of @thread becomes unknown. */
int stack_lose(struct ntrace_stacks *stacks, struct thread *thread);

/* Like stack_lose(), for a loss of trace; the last transfer was taken nevertheless. */
int stack_cut_off(struct ntrace_stacks *stacks, struct thread *thread);

#endif
