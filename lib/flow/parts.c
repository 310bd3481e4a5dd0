// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The state at the begin of a part of a stream: guessed, so that parts can be decoded at once, and
 * compared with the true one, which the part before ends with (ntrace/parts.h).
 */
#include <string.h>

#include <ntrace/parts.h>

#include "struct_size.h"
#include "wire/params.h"
#include "wire/stamp.h"

/* A warning that is given once, so that an earlier part may have given it. */
#define ONCE NTRACE_FLOW_STATE_INFERRED

/* What a message decodes to depends on these. */
#define DECIDING                                                                                   \
	(NTRACE_FLOW_STATE_HISTORY | NTRACE_FLOW_STATE_MODE | NTRACE_FLOW_STATE_OWNER_CONTEXT |    \
	 NTRACE_FLOW_STATE_OWNER_OPEN)

static uint32_t guess_flags(const struct ntrace_params *params,
			    const struct ntrace_flow_state *like)
{
	if (like)
		return like->flags & (DECIDING | ONCE);
	return (params->mode == NTRACE_MODE_HISTORY ? NTRACE_FLOW_STATE_HISTORY : 0) |
	       (params->mode != NTRACE_MODE_ANY ? NTRACE_FLOW_STATE_MODE : 0) |
	       (params_owner_open(params) ? NTRACE_FLOW_STATE_OWNER_OPEN :
		params_owner_is_context(params) ? NTRACE_FLOW_STATE_OWNER_CONTEXT :
						  0);
}

int ntrace_part_guess(struct ntrace_flow_state *state, const struct ntrace_wire_sync *sync,
		      uint64_t offset, const struct ntrace_params *params,
		      const struct ntrace_flow_state *like)
{
	struct ntrace_flow_state made = { .size = sizeof(made) };
	struct ntrace_params full;

	ntrace_params_init(&full);
	if (!state || state->size < sizeof(made) || !sync || !params ||
	    STRUCT_TAKE(&full, params) || (like && like->size < sizeof(made)))
		return NTRACE_ERR_INVALID;
	if (like) {
		made.context = like->context;
		made.warned_count = like->warned_count;
		memcpy(made.warned, like->warned, sizeof(made.warned));
	}
	made.offset = offset + sync->offset;
	made.address = sync->address;
	made.flags = guess_flags(&full, like) | NTRACE_FLOW_STATE_OWNER_DUE;
	if (sync->time_known) {
		made.time = stamp_extend(sync->time, like ? like->time : 0, full.timestamp_bits);
		made.flags |= NTRACE_FLOW_STATE_TIME | NTRACE_FLOW_STATE_STAMPED;
	}
	*state = made;
	return NTRACE_OK;
}

static bool same_time(const struct ntrace_flow_state *a, const struct ntrace_flow_state *b)
{
	return (a->flags & NTRACE_FLOW_STATE_TIME) == (b->flags & NTRACE_FLOW_STATE_TIME) &&
	       a->time == b->time;
}

static bool same_context(const struct ntrace_context *a, const struct ntrace_context *b)
{
	return a->scontext_known == b->scontext_known && a->hcontext_known == b->hcontext_known &&
	       a->prv_known == b->prv_known && (!a->scontext_known || a->scontext == b->scontext) &&
	       (!a->hcontext_known || a->hcontext == b->hcontext) &&
	       (!a->prv_known || (a->prv == b->prv && a->v == b->v));
}

static bool same_warned(const struct ntrace_flow_state *a, const struct ntrace_flow_state *b)
{
	return a->warned_count == b->warned_count &&
	       !memcmp(a->warned, b->warned, a->warned_count * sizeof(a->warned[0]));
}

/* Whether a part that began with @guess and ended with @end gave no warning that was given before it. */
static bool warns_alike(const struct ntrace_flow_state *guess,
			const struct ntrace_flow_state *truth, const struct ntrace_flow_state *end)
{
	uint32_t given = guess->flags & ONCE;

	/* A warning that is thought to have been given may be missing. */
	if (!same_warned(guess, truth) || given & ~truth->flags)
		return false;
	if (!end)
		return given == (truth->flags & ONCE);
	return !(end->flags & ~given & ONCE & truth->flags);
}

int ntrace_part_join(const struct ntrace_flow_state *guess, const struct ntrace_flow_state *truth,
		     struct ntrace_flow_state *end, unsigned int matters)
{
	if (!guess || !truth || guess->size < sizeof(*guess) || truth->size < sizeof(*truth) ||
	    (end && end->size < sizeof(*end)))
		return NTRACE_ERR_INVALID;
	if (guess->offset != truth->offset || guess->address != truth->address ||
	    ((guess->flags ^ truth->flags) & (DECIDING | NTRACE_FLOW_STATE_OWNER_DUE)) ||
	    guess->credit > truth->credit || !warns_alike(guess, truth, end) ||
	    (matters & NTRACE_PART_TIME && !same_time(guess, truth)) ||
	    (matters & NTRACE_PART_CONTEXT && !same_context(&guess->context, &truth->context)) ||
	    (matters & NTRACE_PART_EXCESS && guess->credit != truth->credit))
		return NTRACE_ERR_AGAIN;
	if (end)
		end->flags |= truth->flags & ONCE;
	return NTRACE_OK;
}
