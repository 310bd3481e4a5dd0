// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What messages tell besides the flow: the time, and who runs (digest sections 2 and 10). */
#include <string.h>

#include "flow.h"

/* A stamp of @bits that does not run backwards (digest section 10). */
static uint64_t extend_time(const struct ntrace_flow *flow, uint64_t stamp)
{
	unsigned int bits = flow->config.params.timestamp_bits;
	uint64_t round, time;

	if (!bits || bits >= 64 || stamp >> bits)
		return stamp;
	round = UINT64_C(1) << bits;
	time = (flow->time & ~(round - 1)) | stamp;
	return time < flow->time ? time + round : time;
}

/* Absolute with SYNC, else the difference to the last one reported. */
void flow_take_time(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	const struct ntrace_params *params = &flow->config.params;
	uint64_t stamp = message->field[NTRACE_FIELD_TSTAMP];

	/* It may have had one, and others would count from that. */
	if (message->flags & NTRACE_MESSAGE_UNKNOWN && params->timestamp_bits)
		flow->time_known = false;
	if (!ntrace_message_has(message, NTRACE_FIELD_TSTAMP) || flow_damaged(message))
		return;
	if (flow_is_sync(message)) {
		flow->time = extend_time(flow, stamp);
		flow->time_known = true;
	} else if (!flow->time_known) {
		return;
	} else if (params->timestamp_xor || params->dialect == NTRACE_DIALECT_SIFIVE_V0) {
		unsigned int bits = params->timestamp_bits;
		uint64_t last = flow->time;

		if (bits && bits < 64)
			last &= (UINT64_C(1) << bits) - 1;
		flow->time = extend_time(flow, last ^ stamp);
	} else {
		flow->time += stamp;
	}
	flow->time_passed = true;
}

/*
 * PROCESS, from its lowest bit: FORMAT[2], PRV[2], V[1], CONTEXT (digest section 2). At once
 * behind a sync the hart is told anew, hcontext first where there is one (section 3).
 */
bool flow_take_ownership(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	bool whole = !(message->flags & NTRACE_MESSAGE_OVERSIZE);
	struct ntrace_context *owner = &flow->owner;
	uint64_t process = message->field[NTRACE_FIELD_PROCESS];
	uint64_t context = process >> 5;

	/* Before a sync nobody knows where this applies. */
	if (!flow->synced && !flow->reference_known)
		return true;
	/* Else what a damaged message told would stay for good. */
	if (flow->owner_due && (process & 3) != 1)
		memset(owner, 0, sizeof(*owner));
	switch (process & 3) {
	case 1:
		if (!flow_warn(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc, 0))
			return false;
		return flow_emit_simple(flow, NTRACE_FLOW_OWNERSHIP, 0, flow->pc,
					flow->synced && flow->pc_known, process);
	case 2:
		owner->scontext = context;
		owner->scontext_known = whole;
		break;
	case 3:
		owner->hcontext = context;
		owner->hcontext_known = whole;
		break;
	}
	owner->prv = process >> 2 & 3;
	owner->v = process >> 4 & 1;
	owner->prv_known = true;
	if (flow->synced && flow->pc_known)
		flow_select(flow, NTRACE_FLOW_OWNERSHIP, flow->pc);
	return flow_emit_simple(flow, NTRACE_FLOW_OWNERSHIP, 0, flow->pc,
				flow->synced && flow->pc_known, process);
}
