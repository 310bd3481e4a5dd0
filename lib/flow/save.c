// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The whole state of a flow between two messages, for cursors (resume.c: what there is directly
 * after a sync, which fits in a file; parts.c: that, guessed).
 *
 * A later part of a stream can be decoded again from a saved state, with the same result as if the
 * stream were decoded from its start. Predecoded blocks are no state: they only save time.
 */
#include <stdlib.h>
#include <string.h>

#include "flow.h"

#define FIRST offsetof(struct ntrace_flow, phase)

struct flow_state *flow_save(const struct ntrace_flow *flow)
{
	size_t warned = flow->warned_count * sizeof(flow->warned[0]);
	struct flow_state *state = malloc(sizeof(*state) + warned);

	if (!state)
		return NULL;
	memcpy(state->bytes, (const unsigned char *)flow + FIRST, sizeof(state->bytes));
	state->stats = flow->stats;
	state->warned_count = flow->warned_count;
	memcpy(state->warned, flow->warned, warned);
	return state;
}

void flow_load(struct ntrace_flow *flow, const struct flow_state *state, struct ntrace_space *space)
{
	memcpy((unsigned char *)flow + FIRST, state->bytes, sizeof(state->bytes));
	flow->stats = state->stats;
	/* Blocks remember whether their uncertain code has had its warning. */
	if (flow->warned_count != state->warned_count)
		flow_forget_blocks(flow);
	flow->warned_count = state->warned_count;
	memcpy(flow->warned, state->warned, state->warned_count * sizeof(flow->warned[0]));
	/* Hints, which may lead to blocks that were dropped since. */
	flow->previous = 0;
	memset(flow->stack.caller, 0, sizeof(flow->stack.caller));
	flow->stop = 0;
	flow->waiting.count = 0;
	flow->waiting.watched = false;
	flow_enter_space(flow, space);
}

struct ntrace_space *flow_space(const struct ntrace_flow *flow)
{
	return flow->space;
}
