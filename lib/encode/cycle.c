// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* All signals of a cycle, in their order (E-Trace, chapter 4). */
#include "emit.h"

static struct ntrace_ingress block_of(const struct ntrace_encoder *encoder,
				      const struct ntrace_ingress_cycle *cycle, unsigned int i)
{
	const struct ntrace_ingress_group *group = &cycle->group[i];
	bool single = encoder->config.single_retire;

	return (struct ntrace_ingress){
		.iaddr = group->iaddr,
		/* A single-instruction port counts instructions, not parcels. */
		.iretire = single && group->iretire ? 1u << group->ilastsize : group->iretire,
		.itype = group->itype,
		.ilastsize = group->ilastsize,
		.priv = cycle->priv,
		.sijump = group->sijump,
	};
}

/* Applies trace-off of an earlier cycle, unless trace-on follows at once. */
static void switch_off(struct ntrace_encoder *encoder, const struct ntrace_ingress_cycle *cycle)
{
	if (!encoder->off_due)
		return;
	encoder->off_due = false;
	if (cycle->idle || !cycle->trace_on)
		ntrace_encoder_stop(encoder, NTRACE_EVCODE_TRACE_DISABLE);
}

int ntrace_encoder_cycle(struct ntrace_encoder *encoder, const struct ntrace_ingress_cycle *cycle)
{
	const struct ntrace_ingress_port port = {
		.xlen = encoder->params.xlen,
		.itype_bits = encoder->config.itype_bits,
		.groups = NTRACE_INGRESS_GROUPS_MAX,
		.single = encoder->config.single_retire,
		.impdef_bits = 64,
	};

	if (ntrace_ingress_check_instructions(&port, cycle))
		return NTRACE_ERR_INVALID;
	ntrace_encoder_cycles(encoder, (uint64_t)cycle->idle + 1);
	switch_off(encoder, cycle);
	ntrace_encoder_time(encoder, cycle->time);
	if (cycle->reset != encoder->in_reset)
		ntrace_encoder_reset(encoder, cycle->reset);
	if (cycle->halted != encoder->halted)
		ntrace_encoder_halted(encoder, cycle->halted);
	if (cycle->trace_on)
		ntrace_encoder_start(encoder, NTRACE_SYNC_TRACE_ENABLE);
	if (cycle->external)
		ntrace_encoder_marker(encoder, NTRACE_SYNC_EXTERNAL_TRIGGER);
	ntrace_encoder_context(encoder, cycle->scontext, cycle->hcontext,
			       (enum ntrace_ctype)cycle->ctype);
	for (unsigned int i = 0; i < cycle->groups; i++) {
		struct ntrace_ingress block = block_of(encoder, cycle, i);
		int error;

		if (cycle->notify >> i & 1)
			ntrace_encoder_marker(encoder, NTRACE_SYNC_TRACE_EVENT);
		error = ntrace_encoder_retire(encoder, &block);
		assert(!error);
		(void)error;
	}
	encoder->off_due = cycle->trace_off && encoder->tracing;
	return encoder->config.stall && !emit_room(encoder, NTRACE_MESSAGE_BYTES_MAX) ?
		       NTRACE_ENCODER_STALL :
		       0;
}

int ntrace_encoder_play(struct ntrace_encoder *encoder, const struct ntrace_ingress_record *record)
{
	switch (record->type) {
	case NTRACE_INGRESS_CYCLE:
		return ntrace_encoder_cycle(encoder, &record->cycle);
	case NTRACE_INGRESS_START:
		ntrace_encoder_start(encoder, (enum ntrace_sync)record->value);
		return 0;
	case NTRACE_INGRESS_STOP:
		ntrace_encoder_stop(encoder, (enum ntrace_evcode)record->value);
		return 0;
	case NTRACE_INGRESS_OVERRUN:
		ntrace_encoder_overrun(encoder);
		return 0;
	default:
		return NTRACE_ERR_INVALID;
	}
}
