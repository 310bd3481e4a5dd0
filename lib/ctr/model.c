// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Software model of CTR: recording of transfers (CTR 1.0). The registers are in model_csr.c. The
 * state uses the bit positions of 1.0, independent of the layout.
 *
 * Freestanding like the encoder, so that an emulator can run both.
 */
#include "model.h"

/* The bit that inhibits a type; for branches not taken the bit enables the type. */
static const uint64_t inhibit[16] = {
	[NTRACE_CTR_TYPE_EXCEPTION] = NTRACE_CTR_CTL(EXCINH),
	[NTRACE_CTR_TYPE_INTERRUPT] = NTRACE_CTR_CTL(INTRINH),
	[NTRACE_CTR_TYPE_TRAP_RETURN] = NTRACE_CTR_CTL(TRETINH),
	[NTRACE_CTR_TYPE_BRANCH_NOT_TAKEN] = NTRACE_CTR_CTL(NTBREN),
	[NTRACE_CTR_TYPE_BRANCH_TAKEN] = NTRACE_CTR_CTL(TKBRINH),
	[NTRACE_CTR_TYPE_INDIRECT_CALL] = NTRACE_CTR_CTL(INDCALLINH),
	[NTRACE_CTR_TYPE_DIRECT_CALL] = NTRACE_CTR_CTL(DIRCALLINH),
	[NTRACE_CTR_TYPE_INDIRECT_JUMP] = NTRACE_CTR_CTL(INDJMPINH),
	[NTRACE_CTR_TYPE_DIRECT_JUMP] = NTRACE_CTR_CTL(DIRJMPINH),
	[NTRACE_CTR_TYPE_COROUTINE_SWAP] = NTRACE_CTR_CTL(CORSWAPINH),
	[NTRACE_CTR_TYPE_RETURN] = NTRACE_CTR_CTL(RETINH),
	[NTRACE_CTR_TYPE_OTHER_INDIRECT_JUMP] = NTRACE_CTR_CTL(INDLJMPINH),
	[NTRACE_CTR_TYPE_OTHER_DIRECT_JUMP] = NTRACE_CTR_CTL(DIRLJMPINH),
};

/* Cause codes that can freeze the ring */
#define CAUSE_BREAKPOINT 3
#define CAUSE_LCOFI 13

static bool is_virtual(unsigned int priv)
{
	return priv == NTRACE_PRIV_VU || priv == NTRACE_PRIV_VS;
}

/* Order of privilege: a trap never lowers it, a trap return never raises it. */
static unsigned int rank(unsigned int priv)
{
	switch (priv) {
	case NTRACE_PRIV_M:
		return 3;
	case NTRACE_PRIV_S:
		return 2;
	case NTRACE_PRIV_VS:
		return 1;
	default:
		return 0;
	}
}

/* Whether @priv is recorded. Each mode has its bit in its own register. */
static bool enabled(const struct ntrace_ctr_model *model, unsigned int priv)
{
	switch (priv) {
	case NTRACE_PRIV_U:
		return model->mctrctl & NTRACE_CTR_CTL(U);
	case NTRACE_PRIV_S:
		return model->mctrctl & NTRACE_CTR_CTL(S);
	case NTRACE_PRIV_M:
		return model->mctrctl & NTRACE_CTR_CTL(M);
	case NTRACE_PRIV_VU:
		return model->vsctrctl & NTRACE_CTR_CTL(U);
	case NTRACE_PRIV_VS:
		return model->vsctrctl & NTRACE_CTR_CTL(S);
	default:
		return false;
	}
}

void ntrace_ctr_model_cycles(struct ntrace_ctr_model *model, unsigned int priv, uint64_t cycles)
{
	if (model->status.frozen || !enabled(model, priv))
		return;
	model->cycles += cycles;
	if (model->cycles < cycles)
		model->cycles = UINT64_MAX;
}

static bool is_trap(const struct ntrace_ctr_transfer *transfer)
{
	return transfer->itype == NTRACE_ITYPE_EXCEPTION ||
	       transfer->itype == NTRACE_ITYPE_INTERRUPT;
}

/*
 * A trap to a mode that is not recorded: whether the control bit of every level on its way allows
 * the record.
 */
static bool opted_in(const struct ntrace_ctr_model *model, const struct ntrace_ctr_transfer *trap,
		     uint64_t control)
{
	bool machine = model->mctrctl & NTRACE_CTR_CTL(MTE);
	bool supervisor = model->mctrctl & NTRACE_CTR_CTL(STE);
	bool guest = model->vsctrctl & NTRACE_CTR_CTL(STE);

	if (model->config.layout == NTRACE_CTR_DRAFT) {
		if (!(control & NTRACE_CTR_DRAFT_ETEN))
			return false;
		return trap->to == NTRACE_PRIV_M ? machine :
		       trap->to == NTRACE_PRIV_S ? supervisor :
						   guest;
	}
	if (trap->to == NTRACE_PRIV_M && !machine)
		return false;
	/* Traps from below S-mode to S-mode or higher need the consent of S-mode. */
	if (rank(trap->to) >= rank(NTRACE_PRIV_S) && trap->from != NTRACE_PRIV_S && !supervisor)
		return false;
	return trap->from != NTRACE_PRIV_VU || guest;
}

/* Whether the trap sets FROZEN, by the controls of the mode that takes the trap. */
static bool freezes(const struct ntrace_ctr_model *model,
		    const struct ntrace_ctr_transfer *transfer)
{
	uint64_t control = transfer->to == NTRACE_PRIV_VS ? model->vsctrctl : model->mctrctl;

	if (transfer->itype == NTRACE_ITYPE_INTERRUPT)
		return transfer->cause == CAUSE_LCOFI && control & NTRACE_CTR_CTL(LCOFIFRZ);
	return transfer->itype == NTRACE_ITYPE_EXCEPTION && transfer->cause == CAUSE_BREAKPOINT &&
	       control & NTRACE_CTR_CTL(BPFRZ);
}

/*
 * The table of transfer types in CTR 1.0. Return: false for no record; else the results say which
 * addresses are hidden.
 */
static bool qualifies(const struct ntrace_ctr_model *model,
		      const struct ntrace_ctr_transfer *transfer, uint64_t control,
		      bool *hide_source, bool *hide_target)
{
	bool changes = is_trap(transfer) || transfer->itype == NTRACE_ITYPE_TRAP_RETURN;
	bool source = enabled(model, transfer->from);
	bool target = changes ? enabled(model, transfer->to) : source;
	bool inverse = transfer->itype == NTRACE_ITYPE_BRANCH_NOT_TAKEN;

	*hide_source = !source;
	*hide_target = !target;
	if (!source && !target)
		return false;
	if (is_trap(transfer) && !target)
		return opted_in(model, transfer, control);
	if (!source && !is_trap(transfer))
		return false;
	return !!(control & inhibit[transfer->itype]) == inverse;
}

static void put_entry(struct ntrace_ctr_model *model, unsigned int slot, uint64_t source,
		      uint64_t target, const struct ntrace_ctr_transfer *transfer, bool counted)
{
	const struct ntrace_ctr_config *config = &model->config;
	struct ntrace_ctr_entry *entry = &model->ring[slot];

	entry->source = (source & ~NTRACE_CTR_SOURCE_VALID) | NTRACE_CTR_SOURCE_VALID;
	entry->target = target & ~NTRACE_CTR_TARGET_MISP;
	if (config->features & NTRACE_CTR_HAS_MISPREDICT && transfer->mispredicted)
		entry->target |= NTRACE_CTR_TARGET_MISP;
	entry->data = config->features & NTRACE_CTR_HAS_TYPE ? transfer->itype : 0;
	if (config->features & NTRACE_CTR_HAS_CYCLES && counted)
		entry->data |= NTRACE_CTR_DATA_CCV |
			       (uint64_t)ntrace_ctr_cycles_encode(model->cycles, config->cce_bits)
				       << NTRACE_CTR_DATA_CC_SHIFT;
	model->cycles = 0;
	model->cycles_valid = true;
}

static void push(struct ntrace_ctr_model *model, uint64_t source, uint64_t target,
		 const struct ntrace_ctr_transfer *transfer, bool counted)
{
	put_entry(model, model->status.wrptr, source, target, transfer, counted);
	model->status.wrptr = (model->status.wrptr + 1u) & (model->depth - 1);
	if (!model->status.wrptr && model->config.layout == NTRACE_CTR_DRAFT)
		model->status.wrapped = true;
}

/* The ring as a return-address stack: filters and external traps have no effect. */
static int emulate_stack(struct ntrace_ctr_model *model, const struct ntrace_ctr_transfer *transfer)
{
	unsigned int youngest = ntrace_ctr_physical(model->status.wrptr, 0, model->depth);

	if (!enabled(model, transfer->from))
		return NTRACE_CTR_IGNORED;
	switch (transfer->itype) {
	case NTRACE_ITYPE_DIRECT_CALL:
	case NTRACE_ITYPE_INDIRECT_CALL:
		push(model, transfer->source, transfer->target, transfer, false);
		return NTRACE_CTR_RECORDED;
	case NTRACE_ITYPE_COROUTINE_SWAP:
		put_entry(model, youngest, transfer->source, transfer->target, transfer, false);
		return NTRACE_CTR_REPLACED;
	case NTRACE_ITYPE_RETURN:
		model->ring[youngest].source &= ~NTRACE_CTR_SOURCE_VALID;
		/* WRAP of the draft: the return takes back the call that wrapped WRPTR. */
		if (!model->status.wrptr)
			model->status.wrapped = false;
		model->status.wrptr = (uint8_t)youngest;
		return NTRACE_CTR_POPPED;
	default:
		return NTRACE_CTR_IGNORED;
	}
}

static bool is_mode(const struct ntrace_ctr_model *model, unsigned int priv)
{
	switch (priv) {
	case NTRACE_PRIV_U:
	case NTRACE_PRIV_S:
	case NTRACE_PRIV_M:
	case NTRACE_PRIV_D:
		return true;
	case NTRACE_PRIV_VU:
	case NTRACE_PRIV_VS:
		return model->config.hypervisor;
	default:
		return false;
	}
}

/* Whether a hart could make the transfer. */
static bool is_possible(const struct ntrace_ctr_model *model,
			const struct ntrace_ctr_transfer *transfer)
{
	unsigned int from = transfer->from, to = transfer->to;

	if (!ntrace_ctr_type_from_itype(transfer->itype) || !is_mode(model, from))
		return false;
	if (!is_trap(transfer) && transfer->itype != NTRACE_ITYPE_TRAP_RETURN)
		return true;
	if (!is_mode(model, to))
		return false;
	if (from == NTRACE_PRIV_D || to == NTRACE_PRIV_D)
		return true;
	if (!is_trap(transfer))
		/* VS returns only within its guest. */
		return rank(from) && rank(from) >= rank(to) &&
		       (from != NTRACE_PRIV_VS || is_virtual(to));
	return rank(to) && rank(to) >= rank(from) && (to != NTRACE_PRIV_VS || is_virtual(from));
}

int ntrace_ctr_model_transfer(struct ntrace_ctr_model *model,
			      const struct ntrace_ctr_transfer *transfer)
{
	bool hide_source, hide_target, changes;
	uint64_t control;

	if (!is_possible(model, transfer))
		return NTRACE_ERR_INVALID;
	ntrace_ctr_model_cycles(model, transfer->from, transfer->cycles);
	changes = is_trap(transfer) || transfer->itype == NTRACE_ITYPE_TRAP_RETURN;
	if (model->status.frozen || transfer->from == NTRACE_PRIV_D ||
	    (changes && transfer->to == NTRACE_PRIV_D))
		return NTRACE_CTR_IGNORED;
	if (freezes(model, transfer)) {
		model->status.frozen = true;
		return NTRACE_CTR_FROZE;
	}
	/* If V changes, the guest's register supplies all controls except the enables. */
	control = is_virtual(transfer->from) || (changes && is_virtual(transfer->to)) ?
			  model->vsctrctl :
			  model->mctrctl;
	if (control & NTRACE_CTR_CTL(RASEMU))
		return emulate_stack(model, transfer);
	if (!qualifies(model, transfer, control, &hide_source, &hide_target))
		return NTRACE_CTR_IGNORED;
	push(model, hide_source ? 0 : transfer->source, hide_target ? 0 : transfer->target,
	     transfer, model->cycles_valid);
	return NTRACE_CTR_RECORDED;
}

struct ntrace_ctr_entry ntrace_ctr_model_entry(const struct ntrace_ctr_model *model,
					       unsigned int logical)
{
	if (logical >= model->depth)
		return (struct ntrace_ctr_entry){ 0 };
	return model->ring[ntrace_ctr_physical(model->status.wrptr, logical, model->depth)];
}
