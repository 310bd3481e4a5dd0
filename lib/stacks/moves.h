/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Threads on their way from one hart to another, perhaps to other stacks; see moves.c. */
#ifndef NTRACE_STACKS_MOVES_H
#define NTRACE_STACKS_MOVES_H

#include "thread.h"

/* Makes @stacks share the threads on their way with @beside; NULL: with none. Return: 0 or NTRACE_ERR_NOMEM. */
int moves_join(struct ntrace_stacks *stacks, struct ntrace_stacks *beside);
void moves_free(struct ntrace_stacks *stacks);

/*
 * Takes the thread that left a hart, or, if it is to begin (@child), one with the stack with which it does.
 * *thread: NULL: there is none. Return: 0 or NTRACE_ERR_NOMEM.
 */
int moves_take(struct ntrace_stacks *stacks, int32_t pid, int32_t tid, bool child,
	       struct thread **thread);

/*
 * @thread has just been made by that of @origin, from which it has its stack. An earlier one may have had its
 * numbers. Return: 0, NTRACE_ERR_NOMEM, or what the callback returned.
 */
int moves_begin(struct ntrace_stacks *stacks, struct thread *thread,
		const struct ntrace_origin *origin);

/* Makes all threads on their way those of the harts that they left. Return: 0 or NTRACE_ERR_NOMEM. */
int moves_return(struct ntrace_stacks *stacks);

#endif
