// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The state of a hart that a tandem trace describes, and what its last group changed. */
#include <string.h>

#include "csr.h"
#include "layout.h"
#include "verifier.h"

/* Fields of mstatus in sstatus: SIE, SPIE, UBE, SPP, VS, FS, XS, SUM, MXR, SPELP, UXL. */
#define SSTATUS_MASK_64 UINT64_C(0x80000003008de762)
#define SSTATUS_MASK_32 UINT64_C(0x808de762)

void ntrace_tandem_state_init(struct ntrace_tandem_state *state,
			      const struct ntrace_tandem_params *params)
{
	memset(state, 0, sizeof(*state));
	state->xlen_mask = tandem_mask(params->xlen / 8);
	state->fresh = 1;
}

static void put(struct ntrace_tandem_state *state, unsigned int id, uint64_t value)
{
	uint64_t bit = UINT64_C(1) << id % 64;

	state->reg[id] = value;
	state->known[id / 64] |= bit;
	state->changed[id / 64] |= bit;
	state->dirty[id / 4096] |= UINT64_C(1) << id / 64 % 64;
}

/* Register @to is a view of @from: sets the bits of @mask in it without calling it changed. */
static void follow(struct ntrace_tandem_state *state, unsigned int to, uint64_t mask,
		   uint64_t value)
{
	state->reg[to] = (state->reg[to] & ~mask) | (value & mask);
}

uint64_t tandem_sstatus_mask(const struct ntrace_tandem_state *state)
{
	return state->xlen_mask >> 32 ? SSTATUS_MASK_64 : SSTATUS_MASK_32;
}

void tandem_state_set(struct ntrace_tandem_state *state, unsigned int id, uint64_t value)
{
	uint64_t delegated = state->reg[MIDELEG];

	/* x0 has no value to change. */
	if (id == NTRACE_TANDEM_GPR)
		return;
	put(state, id, value);
	switch (id) {
	case FFLAGS:
		follow(state, FCSR, 0x1f, value);
		break;
	case FRM:
		follow(state, FCSR, 0xe0, value << 5);
		break;
	case FCSR:
		follow(state, FFLAGS, UINT64_MAX, value & 0x1f);
		follow(state, FRM, UINT64_MAX, value >> 5 & 7);
		break;
	case SSTATUS:
		follow(state, MSTATUS, tandem_sstatus_mask(state), value);
		break;
	case MSTATUS:
		follow(state, SSTATUS, UINT64_MAX, value & tandem_sstatus_mask(state));
		break;
	case SIE:
		follow(state, MIE, delegated, value);
		break;
	case SIP:
		follow(state, MIP, delegated, value);
		break;
	case MIE:
		follow(state, SIE, UINT64_MAX, value & delegated);
		break;
	case MIP:
		follow(state, SIP, UINT64_MAX, value & delegated);
		break;
	case MIDELEG:
		follow(state, SIE, UINT64_MAX, state->reg[MIE] & value);
		follow(state, SIP, UINT64_MAX, state->reg[MIP] & value);
		break;
	default:
		break;
	}
}

unsigned int tandem_trap_cause(const struct ntrace_tandem_state *state)
{
	const uint64_t *changed = state->changed, *reg = state->reg;
	bool machine = ntrace_tandem_bit(changed, MCAUSE) || ntrace_tandem_bit(changed, MEPC);
	bool supervisor = ntrace_tandem_bit(changed, SCAUSE) || ntrace_tandem_bit(changed, SEPC);

	/* The privilege shows it, if the group gives it; else the address of the trap does. */
	if (machine && supervisor) {
		machine = !ntrace_tandem_bit(state->known, PRIV) || reg[PRIV] == PRIV_M;
		if (!ntrace_tandem_bit(changed, PRIV) &&
		    (reg[MEPC] == state->pc_before) != (reg[SEPC] == state->pc_before))
			machine = reg[MEPC] == state->pc_before;
	}
	return machine ? MCAUSE : supervisor ? SCAUSE : 0;
}

static void set_state(struct ntrace_tandem_state *state, const struct ntrace_tandem_field *field)
{
	switch (field->id) {
	case NTRACE_TANDEM_STATE_PRIV:
		put(state, NTRACE_TANDEM_PRIV, field->value);
		break;
	case NTRACE_TANDEM_STATE_PC:
		put(state, NTRACE_TANDEM_PC, field->value);
		state->has |= NTRACE_TANDEM_HAS_PC;
		break;
	case NTRACE_TANDEM_STATE_PADDR:
		state->paddr = field->value;
		state->has |= NTRACE_TANDEM_HAS_PADDR;
		break;
	case NTRACE_TANDEM_STATE_EADDR:
		state->eaddr = field->value;
		state->has |= NTRACE_TANDEM_HAS_EADDR;
		break;
	case NTRACE_TANDEM_STATE_STORE8:
	case NTRACE_TANDEM_STATE_STORE16:
	case NTRACE_TANDEM_STATE_STORE32:
	case NTRACE_TANDEM_STATE_STORE64:
		state->store = field->value;
		state->store_bytes = 1u << (field->id - NTRACE_TANDEM_STATE_STORE8);
		state->has |= NTRACE_TANDEM_HAS_STORE;
		break;
	case NTRACE_TANDEM_STATE_MTIME:
		state->mtime = field->value;
		state->has |= NTRACE_TANDEM_HAS_MTIME;
		break;
	default:
		break;
	}
}

static void begin(struct ntrace_tandem_state *state, const struct ntrace_tandem_field *field)
{
	/* Only the words that have bits: the bitmap is larger than most groups. */
	for (unsigned int half = 0; half < 2; half++)
		for (; state->dirty[half]; state->dirty[half] &= state->dirty[half] - 1)
			state->changed[half * 64 +
				       (unsigned int)__builtin_ctzll(state->dirty[half])] = 0;
	state->has = 0;
	state->problems = 0;
	state->next_pc = 0;
	state->insn_bytes = 0;
	state->fresh = 0;
	state->offset = state->begun ? state->begin_offset : field->offset;
	state->begun = 0;
	state->pc_before = state->reg[NTRACE_TANDEM_PC];
}

/*
 * A BEGIN. What was given between two groups is a group of its own, which it ends: a reset there is
 * not the next instruction's. The group that begins is described from its first field on.
 */
static int begin_after(struct ntrace_tandem_state *state, const struct ntrace_tandem_field *field)
{
	if (!state->has && !state->problems && !state->dirty[0] && !state->dirty[1]) {
		state->offset = field->offset;
		return 0;
	}
	state->begin_offset = field->offset;
	state->begun = 1;
	state->fresh = 1;
	return 1;
}

static void reset(struct ntrace_tandem_state *state)
{
	memset(state->reg, 0, sizeof(state->reg));
	memset(state->known, 0, sizeof(state->known));
	state->has |= NTRACE_TANDEM_HAS_RESET;
}

/* The pc of NEXT_PC: the instruction may stand before it or after it. */
static void end(struct ntrace_tandem_state *state)
{
	if (state->next_pc && state->insn_bytes) {
		put(state, NTRACE_TANDEM_PC,
		    (state->pc_before + state->insn_bytes) & state->xlen_mask);
		state->has |= NTRACE_TANDEM_HAS_PC;
	}
	state->fresh = 1;
}

int ntrace_tandem_state_apply(struct ntrace_tandem_state *state,
			      const struct ntrace_tandem_field *field)
{
	uint64_t mask = field->id >= NTRACE_TANDEM_FPR ? UINT64_MAX : state->xlen_mask;

	if (state->fresh && !(field->flags & NTRACE_TANDEM_STRAY_END))
		begin(state, field);
	state->problems |= field->flags & NTRACE_TANDEM_PROBLEMS;
	switch (field->type) {
	case NTRACE_TANDEM_BEGIN:
		return begin_after(state, field);
	case NTRACE_TANDEM_END:
		if (field->flags & NTRACE_TANDEM_STRAY_END)
			return 0;
		end(state);
		return 1;
	case NTRACE_TANDEM_NEXT_PC:
		state->next_pc = !(field->flags & NTRACE_TANDEM_OUTSIDE);
		return 0;
	case NTRACE_TANDEM_REGISTER:
		tandem_state_set(state, field->id, field->value);
		return 0;
	case NTRACE_TANDEM_ADD:
		tandem_state_set(state, field->id, (state->reg[field->id] + field->value) & mask);
		return 0;
	case NTRACE_TANDEM_OR:
		tandem_state_set(state, field->id, state->reg[field->id] | field->value);
		return 0;
	case NTRACE_TANDEM_STATE:
		set_state(state, field);
		return 0;
	case NTRACE_TANDEM_RESET:
		reset(state);
		return 0;
	case NTRACE_TANDEM_INIT:
		state->has |= NTRACE_TANDEM_HAS_INIT;
		return 0;
	case NTRACE_TANDEM_INSN16:
	case NTRACE_TANDEM_INSN32:
		if (field->flags & NTRACE_TANDEM_OUTSIDE)
			return 0;
		state->insn = field->value;
		/* By the opcode: the example of an illegal instruction has 16 bits in 0x11. */
		state->insn_bytes = field->type == NTRACE_TANDEM_INSN32 ? 4 : 2;
		state->has |= NTRACE_TANDEM_HAS_INSN;
		return 0;
	default:
		return 0;
	}
}
