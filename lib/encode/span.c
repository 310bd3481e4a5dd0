// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Spans of traced code: from a sync message to the ProgTraceCorrelation, Error or filter that ends
 * them (N-Trace 1.0, "synchronization"), and the actions at their edges.
 */
#include "emit.h"
#include "history.h"
#include "span.h"
#include "wire/params.h"

/* context_changed */
enum {
	CHANGED_SCONTEXT = 1,
	CHANGED_HCONTEXT = 2,
};

static void forget_pending(struct ntrace_encoder *encoder)
{
	encoder->icnt = 0;
	encoder->hist = 1;
	encoder->pending = PENDING_NONE;
	encoder->branch.tcode = 0;
	encoder->branch.count = 0;
	encoder->last_parcels = 0;
	history_clear(encoder);
}

static void leave_span(struct ntrace_encoder *encoder)
{
	forget_pending(encoder);
	encoder->synced = false;
	encoder->attention &= ~(uint32_t)(ATTENTION_SYNC | ATTENTION_PERIODIC);
	encoder->attention |= ATTENTION_UNSYNCED;
	encoder->sync = NTRACE_SYNC_TRACE_ENABLE;
}

/* Only the loss and its time are known: Error precedes the next sync. */
static void lose(struct ntrace_encoder *encoder)
{
	if (!encoder->lost && !(encoder->attention & ATTENTION_FULL))
		encoder->time_lost = encoder->time;
	leave_span(encoder);
	encoder->attention &= ~(uint32_t)ATTENTION_FULL;
	encoder->lost = true;
	encoder->sync = NTRACE_SYNC_FIFO_OVERRUN;
}

/* A signal of the hart must not be handled before a loss in the queue is noted. */
static void settle(struct ntrace_encoder *encoder)
{
	if (encoder->attention & ATTENTION_FULL)
		lose(encoder);
}

static bool keeps_stack(const struct ntrace_encoder *encoder, enum ntrace_sync sync)
{
	return encoder->params.keep_stack &&
	       (sync == NTRACE_SYNC_EXTERNAL_TRIGGER || sync == NTRACE_SYNC_ICNT_FULL ||
		sync == NTRACE_SYNC_TRACE_EVENT);
}

/* Every message with SYNC resets the encoder to its initial state. */
static void begin_span(struct ntrace_encoder *encoder, enum ntrace_sync sync, uint64_t address)
{
	forget_pending(encoder);
	if (!keeps_stack(encoder, sync))
		encoder->stack_count = 0;
	encoder->reference = address;
	encoder->since_sync = 0;
	encoder->synced = true;
	encoder->priv = PRIV_UNTOLD;
	encoder->attention &= ~(uint32_t)(ATTENTION_UNSYNCED | ATTENTION_SYNC | ATTENTION_PERIODIC);
}

/* Sends a held DirectBranch as an ordinary one. */
static void release_branch(struct ntrace_encoder *encoder)
{
	if (encoder->pending != PENDING_BRANCH)
		return;
	emit_direct_branch(encoder);
	encoder->icnt = 0;
	encoder->pending = PENDING_NONE;
}

/* Reports pending instructions and history; a target unknown by now stays unknown. */
static void end_span(struct ntrace_encoder *encoder, enum ntrace_evcode evcode)
{
	release_branch(encoder);
	emit_correlation(encoder, evcode);
	leave_span(encoder);
	encoder->off_told = true;
}

/* Sends an optional ProgTraceCorrelation outside a span. */
static void tell_idle(struct ntrace_encoder *encoder, enum ntrace_evcode evcode)
{
	if (encoder->config.idle_correlations && !encoder->lost)
		emit_correlation(encoder, evcode);
	encoder->off_told = true;
}

static void start_span(struct ntrace_encoder *encoder, uint64_t address)
{
	enum ntrace_sync sync = (enum ntrace_sync)encoder->sync;

	if (encoder->lost)
		emit_error(encoder);
	encoder->lost = false;
	emit_sync(encoder, NTRACE_TCODE_PROG_TRACE_SYNC, sync, 0, 0, address);
	begin_span(encoder, sync, address);
}

void span_sync(struct ntrace_encoder *encoder, enum ntrace_sync sync, uint64_t address)
{
	unsigned int btype = NTRACE_BTYPE_JUMP;
	enum ntrace_tcode tcode;

	/* After a reset the hart does not continue at the branch target. */
	if (sync == NTRACE_SYNC_RESET_EXIT)
		release_branch(encoder);
	history_drain(encoder);
	if (encoder->pending >= PENDING_JUMP && encoder->pending <= PENDING_INTERRUPT)
		btype = encoder->pending - 1u;
	if (encoder->pending == PENDING_BRANCH)
		tcode = NTRACE_TCODE_DIRECT_BRANCH_SYNC;
	else if (encoder->history &&
		 (encoder->hist != 1 || (encoder->config.empty_history && encoder->pending)))
		tcode = NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC;
	else if (encoder->pending)
		tcode = NTRACE_TCODE_INDIRECT_BRANCH_SYNC;
	else
		tcode = NTRACE_TCODE_PROG_TRACE_SYNC;
	emit_sync(encoder, tcode, sync, btype, encoder->icnt, address);
	begin_span(encoder, sync, address);
}

void span_target(struct ntrace_encoder *encoder, uint64_t address)
{
	unsigned int btype = NTRACE_BTYPE_JUMP;

	if (encoder->pending == PENDING_BRANCH) {
		release_branch(encoder);
		return;
	}
	if (encoder->pending == PENDING_RETURN) {
		if (!((encoder->popped ^ address) & encoder->return_mask)) {
			encoder->pending = PENDING_NONE;
			return;
		}
	} else {
		btype = encoder->pending - 1u;
	}
	emit_indirect_branch(encoder, btype, address);
	encoder->reference = address;
	encoder->icnt = 0;
	encoder->hist = 1;
	encoder->pending = PENDING_NONE;
}

/* PROCESS: FORMAT[2], PRV[2], V[1], CONTEXT (N-Trace 1.0, Ownership) */
static uint64_t process(unsigned int format, unsigned int priv, uint64_t context)
{
	bool virtual = priv == NTRACE_PRIV_VU || priv == NTRACE_PRIV_VS;
	unsigned int prv = virtual ? priv - NTRACE_PRIV_VU : priv;

	return format | prv << 2 | (unsigned int)virtual << 4 | context << 5;
}

/*
 * In SiFive's version 0, software stores an id for the encoder to send, which is all of PROCESS. The
 * encoder knows neither the id after a sync nor the privilege.
 */
static void tell_stored_id(struct ntrace_encoder *encoder)
{
	if (encoder->ctype != NTRACE_CTYPE_NONE)
		emit_ownership(encoder, encoder->scontext);
	encoder->ctype = NTRACE_CTYPE_NONE;
	encoder->context_changed = 0;
}

void span_tell_context(struct ntrace_encoder *encoder, unsigned int priv)
{
	bool synced = encoder->priv == PRIV_UNTOLD;
	unsigned int tell = synced ? CHANGED_SCONTEXT | CHANGED_HCONTEXT : 0;

	if (!params_owner_is_context(&encoder->params)) {
		tell_stored_id(encoder);
		return;
	}
	if (encoder->ctype != NTRACE_CTYPE_NONE)
		tell |= encoder->context_changed ? encoder->context_changed : CHANGED_SCONTEXT;
	if ((tell & CHANGED_HCONTEXT) && encoder->config.hypervisor)
		emit_ownership(encoder, process(3, priv, encoder->hcontext));
	if (tell & CHANGED_SCONTEXT)
		emit_ownership(encoder, process(2, priv, encoder->scontext));
	else if (priv != encoder->priv)
		emit_ownership(encoder, process(0, priv, 0));
	encoder->priv = (uint8_t)priv;
	encoder->ctype = NTRACE_CTYPE_NONE;
	encoder->context_changed = 0;
}

/* Debug Mode is never traced; EVCODE 0 always reports its start. */
static void enter_debug(struct ntrace_encoder *encoder)
{
	if (encoder->in_debug)
		return;
	encoder->in_debug = true;
	if (encoder->synced)
		end_span(encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	else
		tell_idle(encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	if (!encoder->lost)
		encoder->sync = NTRACE_SYNC_DEBUG_EXIT;
}

static bool filtered(const struct ntrace_encoder *encoder, unsigned int priv, uint64_t address)
{
	const struct ntrace_encoder_config *config = &encoder->config;

	if (!(encoder->priv_mask >> priv & 1))
		return true;
	for (unsigned int i = 0; i < config->range_count; i++) {
		if (address >= config->range[i].first && address <= config->range[i].last)
			return false;
	}
	return config->range_count;
}

/* No message may contain an excluded address, not even the first one. */
static void leave_filter(struct ntrace_encoder *encoder)
{
	if (encoder->synced)
		end_span(encoder, NTRACE_EVCODE_TRACE_DISABLE);
	else if (!encoder->off_told)
		tell_idle(encoder, NTRACE_EVCODE_TRACE_DISABLE);
	/* The hart went from Debug Mode to excluded code: the next sync is no debug exit. */
	if (encoder->in_debug && !encoder->lost)
		encoder->sync = NTRACE_SYNC_TRACE_ENABLE;
	encoder->in_debug = false;
}

/* A context that must be reported at the exact instruction needs a message with its address. */
static void place_context(struct ntrace_encoder *encoder, uint64_t address)
{
	if (encoder->ctype == NTRACE_CTYPE_PRECISE) {
		if (!encoder->pending || encoder->pending == PENDING_RETURN)
			span_sync(encoder, NTRACE_SYNC_PERIODIC, address);
	} else if (encoder->ctype == NTRACE_CTYPE_DISCONTINUITY && !encoder->pending) {
		encoder->pending = encoder->options & OPTION_TRAP_BTYPE ? PENDING_TRAP :
									  PENDING_INTERRUPT;
	}
}

int span_attend(struct ntrace_encoder *encoder, const struct ntrace_ingress *block,
		uint64_t address)
{
	if (!(PRIV_VALID >> block->priv & 1))
		return NTRACE_ERR_INVALID;
	settle(encoder);
	if (block->priv == NTRACE_PRIV_D)
		enter_debug(encoder);
	if (block->priv == NTRACE_PRIV_D || (encoder->attention & ATTENTION_HELD))
		return 0;
	if (filtered(encoder, block->priv, address)) {
		leave_filter(encoder);
		return 0;
	}
	encoder->in_debug = false;
	if (!encoder->synced) {
		/*
		 * Error and its sync are sent together or not at all; a hart that stalls waits for
		 * both.
		 */
		if (encoder->lost && !encoder->config.stall &&
		    !emit_room(encoder, RECOVERY_BYTES_MAX))
			return 0;
		start_span(encoder, address);
	} else if (encoder->attention & ATTENTION_SYNC) {
		span_sync(encoder, (enum ntrace_sync)encoder->sync, address);
	} else if (encoder->attention & ATTENTION_PERIODIC) {
		span_sync(encoder, NTRACE_SYNC_PERIODIC, address);
	} else {
		if (encoder->attention & ATTENTION_CONTEXT)
			place_context(encoder, address);
		if (encoder->pending)
			span_target(encoder, address);
	}
	if (encoder->attention & ATTENTION_CONTEXT)
		span_tell_context(encoder, block->priv);
	return 1;
}

void ntrace_encoder_exclude(struct ntrace_encoder *encoder)
{
	if (!encoder->tracing)
		return;
	settle(encoder);
	if (!(encoder->attention & ATTENTION_HELD))
		leave_filter(encoder);
}

void ntrace_encoder_start(struct ntrace_encoder *encoder, enum ntrace_sync sync)
{
	if (encoder->tracing)
		return;
	leave_span(encoder);
	encoder->tracing = true;
	encoder->lost = false;
	encoder->ownership_lost = false;
	encoder->in_debug = false;
	encoder->off_told = false;
	encoder->sync = (uint8_t)sync;
	if (encoder->halted)
		enter_debug(encoder);
}

void ntrace_encoder_stop(struct ntrace_encoder *encoder, enum ntrace_evcode evcode)
{
	encoder->off_due = false;
	if (!encoder->tracing)
		return;
	encoder->flushing = true;
	settle(encoder);
	if (encoder->lost)
		emit_error(encoder);
	else if (encoder->synced)
		end_span(encoder, evcode);
	else if (encoder->in_debug)
		tell_idle(encoder, evcode);
	encoder->flushing = false;
	encoder->lost = false;
	encoder->tracing = false;
}

void ntrace_encoder_overrun(struct ntrace_encoder *encoder)
{
	if (encoder->tracing)
		lose(encoder);
}

void ntrace_encoder_context(struct ntrace_encoder *encoder, uint64_t scontext, uint64_t hcontext,
			    enum ntrace_ctype ctype)
{
	if (ctype != NTRACE_CTYPE_NONE) {
		encoder->context_changed |= (scontext != encoder->scontext ? CHANGED_SCONTEXT : 0) |
					    (hcontext != encoder->hcontext ? CHANGED_HCONTEXT : 0);
		encoder->ctype = (uint8_t)ctype;
	}
	encoder->scontext = scontext;
	encoder->hcontext = hcontext;
}

void ntrace_encoder_marker(struct ntrace_encoder *encoder, enum ntrace_sync sync)
{
	/* The sync of a pending reset takes precedence. */
	if (!encoder->tracing || !encoder->synced ||
	    ((encoder->attention & ATTENTION_SYNC) && encoder->sync == NTRACE_SYNC_RESET_EXIT))
		return;
	encoder->sync = (uint8_t)sync;
	encoder->attention |= ATTENTION_SYNC;
}

static void hold(struct ntrace_encoder *encoder)
{
	encoder->attention &= ~(uint32_t)ATTENTION_HELD;
	encoder->last_parcels = 0;
	if (encoder->halted || encoder->in_reset)
		encoder->attention |= ATTENTION_HELD;
}

void ntrace_encoder_halted(struct ntrace_encoder *encoder, bool halted)
{
	encoder->halted = halted;
	hold(encoder);
	settle(encoder);
	if (halted && encoder->tracing)
		enter_debug(encoder);
}

void ntrace_encoder_reset(struct ntrace_encoder *encoder, bool reset)
{
	if (reset && !encoder->in_reset && encoder->tracing) {
		settle(encoder);
		if (encoder->synced)
			encoder->attention |= ATTENTION_SYNC;
		if (!encoder->lost)
			encoder->sync = NTRACE_SYNC_RESET_EXIT;
	}
	encoder->in_reset = reset;
	hold(encoder);
}

void ntrace_encoder_time(struct ntrace_encoder *encoder, uint64_t time)
{
	encoder->time = time & encoder->time_mask;
}

void ntrace_encoder_cycles(struct ntrace_encoder *encoder, uint64_t cycles)
{
	if (encoder->config.sync_mode == 2) {
		encoder->since_sync += cycles;
		if (encoder->synced && encoder->since_sync >= encoder->interval)
			encoder->attention |= ATTENTION_PERIODIC;
	}
	emit_drain(encoder, cycles);
}
