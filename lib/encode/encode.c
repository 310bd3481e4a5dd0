// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The encoder's rules: which message an ingress block makes (N-Trace 1.0,
 * chapter "encoder rules"; digest section 12). Bytes are made in emit.c.
 */
#include <string.h>

#include "emit.h"

/* What the end of a block asks for. */
enum {
	END_INVALID,
	END_PLAIN,
	END_TRAP,
	END_BRANCH,
	END_DIRECT,
	END_INDIRECT,
};

static const uint8_t block_end[16] = {
	[NTRACE_ITYPE_NONE] = END_PLAIN,
	[NTRACE_ITYPE_EXCEPTION] = END_TRAP,
	[NTRACE_ITYPE_INTERRUPT] = END_TRAP,
	[NTRACE_ITYPE_TRAP_RETURN] = END_INDIRECT,
	[NTRACE_ITYPE_BRANCH_NOT_TAKEN] = END_BRANCH,
	[NTRACE_ITYPE_BRANCH_TAKEN] = END_BRANCH,
	[NTRACE_ITYPE_INDIRECT_JUMP_3BIT] = END_INDIRECT,
	[NTRACE_ITYPE_INDIRECT_CALL] = END_INDIRECT,
	[NTRACE_ITYPE_DIRECT_CALL] = END_DIRECT,
	[NTRACE_ITYPE_INDIRECT_JUMP] = END_INDIRECT,
	[NTRACE_ITYPE_DIRECT_JUMP] = END_DIRECT,
	[NTRACE_ITYPE_COROUTINE_SWAP] = END_INDIRECT,
	[NTRACE_ITYPE_RETURN] = END_INDIRECT,
	[NTRACE_ITYPE_OTHER_INDIRECT_JUMP] = END_INDIRECT,
	[NTRACE_ITYPE_OTHER_DIRECT_JUMP] = END_DIRECT,
};

void ntrace_encoder_start(struct ntrace_encoder *encoder, enum ntrace_sync sync)
{
	if (encoder->tracing)
		return;
	encoder->tracing = true;
	encoder->synced = false;
	encoder->lost = false;
	encoder->pending = PENDING_NONE;
	encoder->sync = sync;
}

/* Every message with SYNC puts the encoder back to its initial state. */
static void begin_span(struct ntrace_encoder *encoder, uint64_t address)
{
	encoder->reference = address;
	encoder->icnt = 0;
	encoder->hist = 1;
	encoder->since_sync = 0;
	encoder->pending = PENDING_NONE;
	encoder->synced = true;
}

static void end_span(struct ntrace_encoder *encoder, enum ntrace_evcode evcode)
{
	emit_correlation(encoder, evcode);
	encoder->icnt = 0;
	encoder->hist = 1;
	encoder->pending = PENDING_NONE;
	encoder->synced = false;
}

void ntrace_encoder_stop(struct ntrace_encoder *encoder, enum ntrace_evcode evcode)
{
	if (!encoder->tracing)
		return;
	if (encoder->lost)
		emit_error(encoder);
	else if (encoder->synced)
		end_span(encoder, evcode);
	encoder->lost = false;
	encoder->tracing = false;
}

void ntrace_encoder_overrun(struct ntrace_encoder *encoder)
{
	if (!encoder->tracing)
		return;
	encoder->lost = true;
	encoder->synced = false;
	encoder->pending = PENDING_NONE;
	encoder->sync = NTRACE_SYNC_FIFO_OVERRUN;
}

static void start_span(struct ntrace_encoder *encoder, uint64_t address)
{
	if (encoder->lost)
		emit_error(encoder);
	encoder->lost = false;
	emit_sync(encoder, NTRACE_TCODE_PROG_TRACE_SYNC, encoder->sync, 0, 0, address);
	begin_span(encoder, address);
	encoder->sync = NTRACE_SYNC_TRACE_ENABLE;
}

/*
 * A periodic sync in the form that carries what is pending: a jump or trap whose
 * target is @address, or HIST, which ProgTraceSync has no room for.
 */
static void periodic_sync(struct ntrace_encoder *encoder, uint64_t address)
{
	unsigned int btype = encoder->pending ? encoder->pending - 1 : NTRACE_BTYPE_JUMP;
	enum ntrace_tcode tcode;

	if (encoder->history && encoder->hist != 1)
		tcode = NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC;
	else if (encoder->pending)
		tcode = NTRACE_TCODE_INDIRECT_BRANCH_SYNC;
	else
		tcode = NTRACE_TCODE_PROG_TRACE_SYNC;
	emit_sync(encoder, tcode, NTRACE_SYNC_PERIODIC, btype, encoder->icnt, address);
	begin_span(encoder, address);
}

static void report_target(struct ntrace_encoder *encoder, uint64_t address)
{
	emit_indirect_branch(encoder, encoder->pending - 1, address);
	encoder->reference = address;
	encoder->icnt = 0;
	encoder->hist = 1;
	encoder->pending = PENDING_NONE;
}

static void count_parcels(struct ntrace_encoder *encoder, uint32_t parcels)
{
	if (encoder->config.sync_mode == 3)
		encoder->since_sync += parcels;
	while (encoder->icnt + parcels > encoder->icnt_max) {
		/* A block longer than the register is split; the counts add up. */
		if (!encoder->icnt) {
			encoder->icnt = encoder->icnt_max;
			parcels -= encoder->icnt_max;
		}
		emit_resource_full(encoder, NTRACE_RCODE_ICNT, encoder->icnt);
		encoder->icnt = 0;
	}
	encoder->icnt += parcels;
}

static void add_branch(struct ntrace_encoder *encoder, bool taken)
{
	if (encoder->history) {
		encoder->hist = encoder->hist << 1 | taken;
		if (encoder->hist >= encoder->hist_full) {
			emit_resource_full(encoder, NTRACE_RCODE_HIST, encoder->hist);
			encoder->hist = 1;
		}
	} else if (taken) {
		emit_direct_branch(encoder);
		encoder->icnt = 0;
	}
}

int ntrace_encoder_retire(struct ntrace_encoder *encoder, const struct ntrace_ingress *block)
{
	uint64_t address = block->iaddr & encoder->address_mask;
	unsigned int end;

	if (!encoder->tracing)
		return 0;
	if (block->itype > 15 || block->priv > 31 || (block->iaddr & 1))
		return NTRACE_ERR_INVALID;
	end = block_end[block->itype];
	if (end == END_INVALID)
		return NTRACE_ERR_INVALID;
	if (!block->iretire) {
		if (end == END_PLAIN)
			return 0;
		if (end != END_TRAP)
			return NTRACE_ERR_INVALID;
	}

	if (!(encoder->config.priv_mask >> block->priv & 1)) {
		/* No message may show an address in there: not even where it was entered. */
		if (encoder->synced)
			end_span(encoder, NTRACE_EVCODE_TRACE_DISABLE);
		return 0;
	}
	if (!encoder->synced)
		start_span(encoder, address);
	else if (encoder->interval && encoder->since_sync >= encoder->interval)
		periodic_sync(encoder, address);
	else if (encoder->pending)
		report_target(encoder, address);

	count_parcels(encoder, block->iretire);

	switch (end) {
	case END_TRAP:
		if (encoder->config.trap_btype)
			encoder->pending = PENDING_TRAP;
		else if (block->itype == NTRACE_ITYPE_EXCEPTION)
			encoder->pending = PENDING_EXCEPTION;
		else
			encoder->pending = PENDING_INTERRUPT;
		break;
	case END_BRANCH:
		add_branch(encoder, block->itype == NTRACE_ITYPE_BRANCH_TAKEN);
		break;
	case END_DIRECT:
		if (encoder->config.params.all_jumps)
			add_branch(encoder, true);
		break;
	case END_INDIRECT:
		encoder->pending = PENDING_JUMP;
		break;
	}
	return 0;
}
