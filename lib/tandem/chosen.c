// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Non-deterministic state of a verification, which the trace decides: registers or bits of them that the
 * configuration names, and what an instruction reads from them or from a device.
 *
 * CSRs that are the trace's as a whole are inputs of the instruction: the model gets them before it. Fields
 * of a CSR, and registers that instructions compute with, are results: the model gets them after it.
 */
#include "verifier.h"

static bool is_input(const struct ntrace_tandem_mask *chosen)
{
	switch (chosen->id) {
	case FFLAGS:
	case FRM:
	case FCSR:
	case SSTATUS:
	case MSTATUS:
		return false;
	default:
		return chosen->id < 0x1000 && chosen->mask == UINT64_MAX;
	}
}

static int write_chosen(struct ntrace_tandem_verifier *verifier, bool inputs)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	const struct ntrace_tandem_state *state = &verifier->state;
	size_t count = 0;

	if (!model->write_registers)
		return 0;
	for (size_t i = 0; i < verifier->config.chosen_count; i++) {
		const struct ntrace_tandem_mask *chosen = &verifier->config.chosen[i];
		uint16_t id = chosen->id;
		uint64_t held = 0;
		int found, error = 0;

		if (id >= REGISTERS || !ntrace_tandem_bit(state->changed, id) ||
		    is_input(chosen) != inputs || tandem_is_absent(verifier, id))
			continue;
		/* An instruction that writes the CSR does so in the model, too. */
		if (inputs && tandem_is_csr(state) && (state->insn >> 20 & 0xfff) == id)
			continue;
		found = tandem_model_has(verifier, id);
		if (found > 0 && chosen->mask != UINT64_MAX)
			error = model->read_registers(model->data, &id, &held, 1);
		if (found < 0 || error)
			return found < 0 ? found : error;
		if (!found)
			continue;
		verifier->ids[count] = id;
		verifier->values[count++] = (held & ~chosen->mask) |
					    (state->reg[id] & chosen->mask);
		if (count == REGISTERS)
			break;
	}
	return count ? model->write_registers(model->data, verifier->ids, verifier->values, count) :
		       0;
}

int tandem_write_inputs(struct ntrace_tandem_verifier *verifier)
{
	return write_chosen(verifier, true);
}

/* The destination of an instruction that reads non-deterministic state; 0: none */
static unsigned int chosen_destination(const struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	unsigned int csr = state->insn >> 20 & 0xfff;

	if (!(state->has & NTRACE_TANDEM_HAS_INSN))
		return 0;
	if (tandem_is_csr(state))
		return verifier->compared[csr] == UINT64_MAX && !tandem_is_absent(verifier, csr) ?
			       0 :
			       GPR + (unsigned int)(state->insn >> 7 & 31);
	return tandem_is_device(verifier) ? verifier->access.to : 0;
}

int tandem_write_results(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	unsigned int id = chosen_destination(verifier);
	uint16_t number = (uint16_t)id;
	int error = write_chosen(verifier, false);

	if (error || !id || id == GPR || !tandem_known(verifier, id))
		return error;
	verifier->stats.chosen++;
	if (!model->write_registers)
		return 0;
	return model->write_registers(model->data, &number, &verifier->state.reg[id], 1);
}
