// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The time and the owner of the code, which messages report besides the flow (N-Trace 1.0,
 * "timestamps" and Ownership).
 *
 * A timestamp is that of the end of its message. The first blocks with it come in a batch of their
 * own; later ones have it until the next timestamp.
 *
 * Ownership has no I-CNT: it takes effect where the hart is. If ResourceFull has counted parcels that
 * are not walked yet, it waits until they are, and may cut a block:
 *
 *	messages	ResourceFull 100	Ownership B	IndirectBranch, I-CNT 20
 *	walked						100: owner A	20: owner B
 *
 * A new owner may have another address space: the select callback is asked, or the registry of
 * contexts. It is asked at syncs and traps, too, and before the block after a return from a trap.
 */
#include <string.h>

#include "count.h"
#include "image/object.h"
#include "wire/params.h"
#include "wire/stamp.h"

bool flow_select(struct ntrace_flow *flow, unsigned int reason, uint64_t address)
{
	struct ntrace_space *space = NULL;

	flow_count_report_place(flow);
	flow->stop = flow->count_error;
	if (flow->stop)
		return false;
	if (flow->config.select) {
		/* If the callback stops, no executed block may stay in the batch. */
		if (flow->waiting.count && !flow_close_batch(flow))
			return false;
		flow->stop = flow->config.select(flow->config.data, reason, address, &space);
		if (flow->stop)
			return false;
	} else if (flow->config.contexts) {
		space = ntrace_contexts_find(flow->config.contexts, &flow->owner);
		if (!space)
			space = flow->config.space;
	} else {
		return true;
	}
	flow_enter_space(flow, space);
	return true;
}

void flow_update_time(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	bool known = flow->time_state;

	if (stamp_take(message, &flow->params, &flow->time, &known))
		flow->time_state = TIME_NEW;
	else if (!known)
		flow->time_state = TIME_UNKNOWN;
}

/*
 * An encoder that sends contexts repeats them directly after each sync, so that the first one is
 * there. Software stores its numbers at any time, and sooner or later one that is no context.
 */
static void learn_owner(struct ntrace_flow *flow, const struct late_owner *told)
{
	flow->owner_repeated |= told->whole_context;
	if (params_owner_is_odd(told->process)) {
		flow->owner_context = false;
		flow->owner_open = false;
	} else if (told->whole_context && told->process & 2) {
		flow->owner_context = true;
	}
}

void flow_expect_owner(struct ntrace_flow *flow)
{
	if (flow->owner_open && flow->owner_context && !flow->owner_repeated) {
		memset(&flow->owner, 0, sizeof(flow->owner));
		flow->owner_context = false;
		flow->owner_open = false;
	}
	flow->owner_repeated = false;
}

/* All of PROCESS is an id that software stored. */
static bool change_stored_owner(struct ntrace_flow *flow, const struct late_owner *told)
{
	bool known = flow->phase == FLOW_AT_PC;

	memset(&flow->owner, 0, sizeof(flow->owner));
	flow->owner.scontext = told->process;
	flow->owner.scontext_known = told->whole;
	if (known && !flow_select(flow, NTRACE_FLOW_OWNERSHIP, flow->pc))
		return false;
	return flow_emit_simple(flow, NTRACE_FLOW_OWNERSHIP, 0, flow->pc, known, told->process);
}

/*
 * PROCESS, from its lowest bit: FORMAT[2], PRV[2], V[1], CONTEXT (N-Trace 1.0, Ownership). Directly
 * after a sync, Ownership repeats the whole context, hcontext first if the hart has one
 * (N-Trace 1.0, "synchronization").
 */
static bool change_owner(struct ntrace_flow *flow, const struct late_owner *told)
{
	struct ntrace_context *owner = &flow->owner;
	uint64_t process = told->process;
	uint64_t context = process >> 5;

	if (flow->owner_open)
		learn_owner(flow, told);
	if (!flow->owner_context)
		return change_stored_owner(flow, told);
	/* Otherwise the values of a damaged message would stay valid forever. */
	if (told->whole_context && (process & 3) != 1)
		memset(owner, 0, sizeof(*owner));
	switch (process & 3) {
	case 1:
		if (!flow_warn(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc, 0))
			return false;
		return flow_emit_simple(flow, NTRACE_FLOW_OWNERSHIP, 0, flow->pc,
					flow->phase == FLOW_AT_PC, process);
	case 2:
		owner->scontext = context;
		owner->scontext_known = told->whole;
		break;
	case 3:
		owner->hcontext = context;
		owner->hcontext_known = told->whole;
		break;
	}
	owner->prv = process >> 2 & 3;
	owner->v = process >> 4 & 1;
	owner->prv_known = true;
	if (flow->phase == FLOW_AT_PC && !flow_select(flow, NTRACE_FLOW_OWNERSHIP, flow->pc))
		return false;
	return flow_emit_simple(flow, NTRACE_FLOW_OWNERSHIP, 0, flow->pc, flow->phase == FLOW_AT_PC,
				process);
}

bool flow_apply_owners(struct ntrace_flow *flow, bool all)
{
	while (flow->late_count && (all || flow->late[0].due <= flow->walked)) {
		struct late_owner first = flow->late[0];

		/* The waiting blocks were executed before the change. */
		if (!flow_close_batch(flow))
			return false;
		flow->late_count--;
		memmove(&flow->late[0], &flow->late[1], flow->late_count * sizeof(first));
		if (!change_owner(flow, &first))
			return false;
	}
	return true;
}

bool flow_handle_ownership(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct late_owner told = {
		.due = flow->walked,
		.process = message->field[NTRACE_FIELD_PROCESS],
		.whole = !(message->flags & NTRACE_MESSAGE_OVERSIZE),
		.whole_context = flow->owner_due,
	};

	/* Before a sync, the place in the code is unknown. */
	if (flow->phase < FLOW_UNREADABLE)
		return true;
	if (flow_is_synced(flow) && flow->icnt_pending > flow->debt)
		told.due += flow->icnt_pending - flow->debt;
	if (told.due == flow->walked && !flow->late_count)
		return change_owner(flow, &told);
	/*
	 * This many changes without a walked message are implausible: the oldest takes effect
	 * early.
	 */
	if (flow->late_count == LATE_OWNERS) {
		flow->late[0].due = flow->walked;
		if (!flow_apply_owners(flow, false))
			return false;
	}
	flow->late[flow->late_count++] = told;
	return true;
}
