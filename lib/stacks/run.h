/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Effects that are counted at stacks; see run.c. */
#ifndef NTRACE_STACKS_RUN_H
#define NTRACE_STACKS_RUN_H

#include <ntrace/runs.h>

#include "thread.h"

/* The effect that is being walked does something that is not remembered. */
static inline void run_spoil(struct ntrace_stacks *stacks)
{
	stacks->recording.spoilt = true;
}

/* The space of the effect becomes that of the thread. */
static inline void run_arrive(struct ntrace_stacks *stacks)
{
	stacks->recording.arrives = true;
}

int run_note(struct ntrace_stacks *stacks, uint32_t node, uint32_t instructions, uint32_t calls);

/* Something is counted in a node. Return: 0 or NTRACE_ERR_NOMEM. */
static inline int run_count(struct ntrace_stacks *stacks, uint32_t node, uint32_t instructions,
			    uint32_t calls)
{
	return stacks->recording.on ? run_note(stacks, node, instructions, calls) : 0;
}

/* A frame of @function is added or removed. Return: 0 or NTRACE_ERR_NOMEM. */
int run_note_change(struct ntrace_stacks *stacks, const struct queued *change);

/* Adds what is counted above the present node to the upper nodes. Return: 0 or NTRACE_ERR_NOMEM. */
int run_flush(struct ntrace_stacks *stacks);

/*
 * Adds up the counts, and forgets all effects and states: the ids of effects change. Return: 0 or
 * NTRACE_ERR_NOMEM.
 */
int run_forget(struct ntrace_stacks *stacks);
void run_free(struct ntrace_stacks *stacks);

/* A run of the present hart. Return: as ntrace_stacks_segment(). */
int stacks_execute_run(struct ntrace_stacks *stacks, const struct ntrace_segment *run);

/* stacks.c */
/* Blocks of the present hart. Return: as ntrace_stacks_segment(). */
int stacks_execute_blocks(struct ntrace_stacks *stacks, const struct ntrace_segment *blocks);
/* Makes @block the last block of @thread. */
void stacks_note_last_block(struct ntrace_stacks *stacks, struct thread *thread,
			    const struct ntrace_block *block);

#endif
