// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The state of a flow directly after a sync, where it is small: the encoder has reported all earlier
 * execution and cleared its return stack (N-Trace 1.0, "synchronization").
 */
#include <string.h>

#include "flow.h"
#include "struct_size.h"

/* Whether the flow has only state that struct ntrace_flow_state can hold. */
static bool is_small(const struct ntrace_flow *flow)
{
	return flow->phase == FLOW_AT_PC && flow->reference == flow->pc &&
	       flow->confirmed == flow->offset && !flow->icnt_pending && !flow->debt &&
	       !flow->branch.valid && !flow->stack.count && !flow->late_count &&
	       !flow->select_block && !flow->waiting.count && flow->warned_count < WARNED_RANGES &&
	       (flow->space || !flow->warned_count);
}

int ntrace_flow_get_state(const struct ntrace_flow *flow, struct ntrace_flow_state *state)
{
	struct ntrace_flow_state full = { .size = sizeof(full) };

	if (!flow || !state || state->size < sizeof(full))
		return NTRACE_ERR_INVALID;
	if (!is_small(flow))
		return NTRACE_ERR_AGAIN;
	full.offset = flow->offset;
	full.address = flow->pc;
	full.time = flow->time;
	full.credit = flow->credit;
	full.flags = (flow->time_state ? NTRACE_FLOW_STATE_TIME : 0) |
		     (flow->time_state == TIME_NEW ? NTRACE_FLOW_STATE_STAMPED : 0) |
		     (flow->inferred_warned ? NTRACE_FLOW_STATE_INFERRED : 0) |
		     (flow->mode == NTRACE_MODE_HISTORY ? NTRACE_FLOW_STATE_HISTORY : 0) |
		     (flow->mode != NTRACE_MODE_ANY ? NTRACE_FLOW_STATE_MODE : 0) |
		     (flow->owner_due ? NTRACE_FLOW_STATE_OWNER_DUE : 0) |
		     (flow->owner_context ? NTRACE_FLOW_STATE_OWNER_CONTEXT : 0) |
		     (flow->owner_open ? NTRACE_FLOW_STATE_OWNER_OPEN : 0);
	full.context = flow->owner;
	full.warned_count = flow->warned_count;
	for (unsigned int i = 0; i < flow->warned_count; i++)
		full.warned[i] = flow->warned[i].address;
	*state = full;
	return NTRACE_OK;
}

int ntrace_flow_set_state(struct ntrace_flow *flow, const struct ntrace_flow_state *state,
			  struct ntrace_space *space)
{
	if (!flow || !state || state->size < sizeof(*state) ||
	    state->warned_count >= NTRACE_FLOW_WARNED_MAX || flow->stats.messages)
		return NTRACE_ERR_INVALID;
	flow->offset = state->offset;
	flow->confirmed = state->offset;
	flow->pc = state->address;
	flow->reference = state->address;
	flow->phase = FLOW_AT_PC;
	flow->reference_known = true;
	flow->time = state->time;
	if (state->flags & NTRACE_FLOW_STATE_TIME)
		flow->time_state = state->flags & NTRACE_FLOW_STATE_STAMPED ? TIME_NEW :
									      TIME_OF_BLOCKS;
	flow->inferred_warned = state->flags & NTRACE_FLOW_STATE_INFERRED;
	if (state->flags & NTRACE_FLOW_STATE_MODE)
		flow->mode = state->flags & NTRACE_FLOW_STATE_HISTORY ? NTRACE_MODE_HISTORY :
									NTRACE_MODE_BRANCH;
	flow->owner_due = state->flags & NTRACE_FLOW_STATE_OWNER_DUE;
	flow->owner_context = state->flags & NTRACE_FLOW_STATE_OWNER_CONTEXT;
	flow->owner_open = state->flags & NTRACE_FLOW_STATE_OWNER_OPEN;
	flow->credit = state->credit;
	flow->owner = state->context;
	flow_enter_space(flow, space);
	for (unsigned int i = 0; i < state->warned_count; i++)
		flow_remember_warning(flow, state->warned[i]);
	return NTRACE_OK;
}
