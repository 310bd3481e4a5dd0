// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * CSRs, traps and trap returns of the built-in model.
 *
 * Each bit of a CSR is known or unknown. All are known of a CSR that the trace gives. Of one that it does
 * not give, a written bit is known only if no hart may choose it (WARL): those that all harts have, and
 * those that were the same before. What is unknown, the trace shows later: a read of the CSR, the pc
 * after a trap or a trap return, an interrupt that is taken.
 */
#include "builtin.h"

#define MSTATUS_SIE (UINT64_C(1) << 1)
#define MSTATUS_SPIE (UINT64_C(1) << 5)
#define MSTATUS_MPIE (UINT64_C(1) << 7)
#define MSTATUS_SPP (UINT64_C(1) << 8)
#define MSTATUS_MPP (UINT64_C(3) << 11)
#define MEDELEG 0x302
#define MISA_D (UINT64_C(1) << 3)
#define MISA_F (UINT64_C(1) << 5)
#define MEDELEG_ECALL_M (UINT64_C(1) << 11) /* read-only 0 */
#define SSCRATCH 0x140
#define MSCRATCH 0x340
#define STIMECMP 0x14d
#define STIMECMPH 0x15d
#define PMPCFG0 0x3a0
#define PMPADDR0 0x3b0
#define PMP_ENTRIES 64u
#define MSECCFG 0x747
#define MSECCFG_RLB (UINT64_C(1) << 2) /* Smepmp: locked entries can be written */

/* ---- known bits ---- */

static uint64_t sure_bits(const struct ntrace_tandem_builtin *builtin, unsigned int number)
{
	uint64_t sure = ntrace_tandem_bit(builtin->state.known, number) ? UINT64_MAX :
									  builtin->sure[number];

	/* Views are known as far as what they show is. */
	if (number == SSTATUS)
		return sure_bits(builtin, MSTATUS) | ~tandem_sstatus_mask(&builtin->state);
	if (number == SIE)
		return sure_bits(builtin, MIDELEG) &
		       (~builtin->state.reg[MIDELEG] | sure_bits(builtin, MIE));
	return sure;
}

static void set_known(struct ntrace_tandem_state *state, unsigned int id, bool known)
{
	uint64_t bit = UINT64_C(1) << id % 64;

	state->known[id / 64] = (state->known[id / 64] & ~bit) | (known ? bit : 0);
}

static void set_csr(struct ntrace_tandem_builtin *builtin, unsigned int number, uint64_t value,
		    uint64_t sure)
{
	unsigned int source = number == SSTATUS ? MSTATUS : number == SIE ? MIE : number;
	uint64_t all = builtin->state.xlen_mask, shown = all;
	uint64_t before = sure_bits(builtin, source);

	if (number == SSTATUS)
		shown = tandem_sstatus_mask(&builtin->state);
	/* Bits of interrupts that are not delegated are read-only 0 in sie (Privileged Architecture 1.12, 4.1.3). */
	if (number == SIE) {
		shown = builtin->state.reg[MIDELEG];
		before &= sure_bits(builtin, MIDELEG);
		value &= shown;
	}
	tandem_state_set(&builtin->state, number, value & all);
	builtin->sure[source] = (before & ~shown) | (sure & shown);
	set_known(&builtin->state, source, !(all & ~builtin->sure[source]));
}

/* What is not known of @mask has this value. */
static void learn_bits(struct ntrace_tandem_builtin *builtin, unsigned int number, uint64_t mask,
		       uint64_t value)
{
	uint64_t sure = sure_bits(builtin, number);

	mask &= builtin->state.xlen_mask & ~sure;
	if (mask)
		set_csr(builtin, number, (builtin->state.reg[number] & ~mask) | (value & mask),
			sure | mask);
}

void tandem_adopt_csr(struct ntrace_tandem_builtin *builtin, unsigned int number)
{
	if (tandem_is_given(builtin, number))
		learn_bits(builtin, number, UINT64_MAX, builtin->group->reg[number]);
}

/* @value is the CSR's; the bits that it does not know are those of the traced pc */
static uint64_t complete_address(const struct ntrace_tandem_builtin *builtin, unsigned int number)
{
	uint64_t sure = sure_bits(builtin, number), value = builtin->state.reg[number];

	if (!(builtin->group->has & NTRACE_TANDEM_HAS_PC))
		return value;
	return (value & sure) | (builtin->group->reg[PC] & ~sure);
}

/* ---- CSR instructions ---- */

int tandem_read_csr(void *data, unsigned int number, struct ntrace_exec_value *value)
{
	struct ntrace_tandem_builtin *builtin = data;

	value->known = sure_bits(builtin, number);
	value->bits = builtin->state.reg[number] & value->known;
	return 0;
}

int tandem_write_csr(void *data, unsigned int number, const struct ntrace_exec_value *value)
{
	struct ntrace_tandem_builtin *builtin = data;

	builtin->csr = number + 1;
	builtin->csr_value = *value;
	return tandem_read_csr(builtin, number, &builtin->csr_before);
}

static uint64_t top_bit(const struct ntrace_tandem_builtin *builtin)
{
	return builtin->group->xlen_mask ^ builtin->group->xlen_mask >> 1;
}

/* SD, the top bit, is set while VS, FS or XS is dirty (Privileged Architecture 1.12, 3.1.6.6). */
static uint64_t sum_up(const struct ntrace_tandem_builtin *builtin, uint64_t status)
{
	uint64_t top = top_bit(builtin);

	status &= builtin->group->xlen_mask;
	return status & status >> 1 & MSTATUS_LOW ? status | top : status & ~top;
}

void tandem_set_status(struct ntrace_tandem_builtin *builtin, uint64_t status, uint64_t sure)
{
	uint64_t low = sum_up(builtin, status & sure), high = sum_up(builtin, status | ~sure);

	set_csr(builtin, MSTATUS, sum_up(builtin, status), ~(low ^ high));
}

/* CSRs that have other rules, or whose writing changes further ones. */
static bool is_other(unsigned int number)
{
	switch (number) {
	case MISA:
	case 0x10a: /* senvcfg */
	case 0x30a: /* menvcfg */
	case 0x31a:
	case 0x7a0: /* triggers */
	case 0x7a1:
	case 0x7a2:
	case 0x7a3:
		return true;
	default:
		/* Custom ones, and those of a hypervisor. */
		return (number >> 8 & 3) == 2 || (number >> 10 != 0 && (number >> 6 & 3) == 3) ||
		       (number >= 0x800 && number < 0x900);
	}
}

/* Whether MPP can hold the privilege: one that the hart is known to have (Privileged Architecture 1.12, 3.1.6.1). */
static bool can_stack(const struct ntrace_tandem_builtin *builtin, uint64_t priv)
{
	uint64_t misa = builtin->state.reg[MISA];

	return priv == PRIV_M || (priv == 1 && (misa >> 18 & 1)) || (!priv && (misa >> 20 & 1));
}

/* SPP, if it can hold both S and U */
static uint64_t stacked_supervisor(const struct ntrace_tandem_builtin *builtin)
{
	return can_stack(builtin, 0) && can_stack(builtin, 1) ? MSTATUS_SPP : 0;
}

/* FS, if the hart has F and the written value became Off, or was it: the others are the hart's choice. */
static uint64_t state_field(const struct ntrace_tandem_builtin *builtin, unsigned int number)
{
	if (!(builtin->state.reg[MISA] & MISA_F) || !tandem_is_given(builtin, number))
		return 0;
	return !(builtin->csr_value.bits & MSTATUS_FS) ||
			       !(builtin->group->reg[number] & MSTATUS_FS) ?
		       MSTATUS_FS :
		       0;
}

/*
 * The bits of a CSR that the hart cannot choose: those that every hart with the CSR has, and those that
 * were the same before it was written (WARL: a value that is not legal leaves the old one, or a part).
 */
static uint64_t strict_bits(const struct ntrace_tandem_builtin *builtin, unsigned int number)
{
	uint64_t same = ~(builtin->csr_value.bits ^ builtin->csr_before.bits) &
			builtin->csr_before.known;

	if (number == MISA && !(builtin->group->reg[MISA] & MISA_F))
		return MISA_D;
	/* FS and VS are one value each. */
	if (number == MSTATUS || number == SSTATUS) {
		same &= ~(~same & MSTATUS_FS ? MSTATUS_FS : 0);
		same &= ~(~same & MSTATUS_VS ? MSTATUS_VS : 0);
	}
	if (is_other(number))
		return 0;
	switch (number) {
	case SSCRATCH:
	case MSCRATCH:
	case STIMECMP:
	case STIMECMPH:
		return UINT64_MAX;
	case MEDELEG:
		/* No bit is read-only 1 (3.1.8). */
		return same | ~builtin->csr_value.bits | MEDELEG_ECALL_M;
	case MIDELEG:
		/* Those of VS mode are. */
		return builtin->state.reg[MISA] && !(builtin->state.reg[MISA] >> 7 & 1) ?
			       same | ~builtin->csr_value.bits :
			       same;
	case SEPC:
	case MEPC:
		/* Without C, bit 1 may be writable, too. */
		return builtin->state.reg[MISA] >> 2 & 1 ? UINT64_MAX : ~UINT64_C(2);
	case MSTATUS:
		/* MPP is one field: what is not legal becomes any value that is. */
		if (can_stack(builtin, builtin->csr_value.bits >> 11 & 3))
			same |= MSTATUS_MPP;
		else if (~same & MSTATUS_MPP)
			same &= ~MSTATUS_MPP;
		same |= MSTATUS_MIE | MSTATUS_MPIE;
		if (builtin->state.reg[MISA] >> 20 & 1)
			same |= MSTATUS_MPRV;
		if (builtin->state.reg[MISA] >> 18 & 1)
			same |= MSTATUS_SIE | MSTATUS_SPIE | stacked_supervisor(builtin) |
				(MSTATUS_TRAPS & ~builtin->csr_value.bits);
		return same | state_field(builtin, MSTATUS) | top_bit(builtin);
	case SSTATUS:
		return same | MSTATUS_SIE | MSTATUS_SPIE | stacked_supervisor(builtin) |
		       state_field(builtin, SSTATUS) | top_bit(builtin);
	case MIE:
		/* A bit that was set once is there. */
		return same | builtin->enabled_once;
	default:
		return same;
	}
}

/* The byte of pmpcfg of an entry, if all its bits are known; else 0 */
static unsigned int pmp_config(const struct ntrace_tandem_builtin *builtin, unsigned int entry)
{
	unsigned int bytes = builtin->params.xlen / 8;
	unsigned int number = PMPCFG0 + entry / bytes * (bytes / 4), shift = 8 * (entry % bytes);

	if (entry >= PMP_ENTRIES || ~sure_bits(builtin, number) >> shift & 0xff)
		return 0;
	return builtin->state.reg[number] >> shift & 0xff;
}

/* The bits of a CSR that keep their value: those of locked entries (Privileged Architecture 1.12, 3.7.1.2). */
static uint64_t locked_bits(const struct ntrace_tandem_builtin *builtin, unsigned int number)
{
	const unsigned int lock = 0x80, range = 0x18, top = 0x08; /* L, A, A = TOR */
	unsigned int bytes = builtin->params.xlen / 8, entry = number - PMPADDR0, next;
	uint64_t locked = 0;

	if (builtin->state.reg[MSECCFG] & MSECCFG_RLB)
		return 0;
	if (number >= PMPADDR0 && number < PMPADDR0 + PMP_ENTRIES) {
		next = pmp_config(builtin, entry + 1);
		return (pmp_config(builtin, entry) & lock) ||
				       ((next & lock) && (next & range) == top) ?
			       UINT64_MAX :
			       0;
	}
	if (number < PMPCFG0 || number >= PMPADDR0)
		return 0;
	for (unsigned int i = 0; i < bytes; i++)
		if (pmp_config(builtin, (number - PMPCFG0) * 4 + i) & lock)
			locked |= UINT64_C(0xff) << 8 * i;
	return locked;
}

void tandem_finish_csr(struct ntrace_tandem_builtin *builtin)
{
	const struct ntrace_tandem_state *group = builtin->group;
	unsigned int number = builtin->csr - 1;
	uint64_t strict, value = builtin->csr_value.bits, sure = builtin->csr_value.known;
	uint64_t locked = locked_bits(builtin, number) & builtin->csr_before.known;

	for (unsigned int word = 0; word < 64 && is_other(number); word++)
		for (uint64_t bits = group->changed[word]; bits; bits &= bits - 1) {
			unsigned int id = word * 64 + (unsigned int)__builtin_ctzll(bits);

			if (id != number)
				tandem_state_set(&builtin->state, id, group->reg[id]);
		}
	if (number == SEPC || number == MEPC) {
		value &= ~UINT64_C(1);
		sure |= 1;
	}
	/* A written misa without F has no D (Privileged Architecture 1.12, 3.1.1). */
	if (number == MISA && !(group->reg[MISA] & MISA_F)) {
		value &= ~MISA_D;
		sure |= MISA_D;
	}
	if (number == MEDELEG) {
		value &= ~MEDELEG_ECALL_M;
		sure |= MEDELEG_ECALL_M;
	}
	if (tandem_is_given(builtin, MIE))
		builtin->enabled_once |= group->reg[MIE];
	value = (value & ~locked) | (builtin->csr_before.bits & locked);
	strict = (strict_bits(builtin, number) & sure) | locked;
	sure = strict;
	if (tandem_is_given(builtin, number)) {
		if ((value ^ group->reg[number]) & ~strict)
			builtin->stats.csr++;
		value = (value & strict) | (group->reg[number] & ~strict);
		sure = UINT64_MAX;
	}
	set_csr(builtin, number, value, sure);
	if (number == MSTATUS || number == SSTATUS)
		tandem_set_status(builtin, builtin->state.reg[MSTATUS],
				  sure_bits(builtin, MSTATUS));
}

void tandem_learn_csr(struct ntrace_tandem_builtin *builtin, unsigned int number, uint64_t value)
{
	uint64_t misa = builtin->state.reg[MISA];

	switch (number) {
	case STVEC:
	case 0x106: /* scounteren */
	case SSCRATCH:
	case SEPC:
	case SCAUSE:
	case STVAL:
	case SATP:
		/* A guest has others of this name. */
		if (!misa || (misa >> 7 & 1))
			return;
		break;
	case MEDELEG:
	case MIDELEG:
	case MIE:
	case MTVEC:
	case 0x306: /* mcounteren */
	case MSCRATCH:
	case MEPC:
	case MCAUSE:
	case MTVAL:
	case 0xf11: /* mvendorid, marchid, mimpid, mhartid */
	case 0xf12:
	case 0xf13:
	case 0xf14:
		break;
	default:
		return;
	}
	learn_bits(builtin, number, UINT64_MAX, value);
}

/* ---- traps ---- */

static bool is_traced(const struct ntrace_tandem_builtin *builtin, unsigned int id)
{
	return ntrace_tandem_bit(builtin->group->changed, id);
}

void tandem_forget_trap(struct ntrace_tandem_builtin *builtin)
{
	static const uint16_t ids[] = { MSTATUS, MEPC,	 MCAUSE, MTVAL, MTINST, MTVAL2,
					SEPC,	 SCAUSE, STVAL,	 HTVAL, HTINST };

	for (unsigned int i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (!tandem_is_given(builtin, ids[i]))
			set_csr(builtin, ids[i], builtin->state.reg[ids[i]], 0);
}

/* @offset: of the vectored form */
static void learn_vector(struct ntrace_tandem_builtin *builtin, unsigned int id, uint64_t offset)
{
	uint64_t sure = sure_bits(builtin, id), vector = builtin->state.reg[id];
	uint64_t pc = builtin->group->reg[PC], mode = vector & 3;

	if (!(builtin->state.xlen_mask & ~sure) || !(builtin->group->has & NTRACE_TANDEM_HAS_PC))
		return;
	if ((sure & 3) != 3 && (sure | 3) == UINT64_MAX)
		mode = pc != (vector & ~UINT64_C(3));
	vector = ((pc - (mode == 1 ? offset : 0)) & ~sure) | (vector & sure);
	vector = (vector & ~UINT64_C(3)) | mode;
	/* The base is certain only with the mode, unless both have the same pc. */
	set_csr(builtin, id, vector, !offset || (sure & 3) == 3 ? sure | ~UINT64_C(3) : sure);
}

void tandem_learn_interrupt(struct ntrace_tandem_builtin *builtin)
{
	const struct ntrace_tandem_state *group = builtin->group;
	uint64_t top = top_bit(builtin), code, bit;
	unsigned int id = tandem_trap_cause(group);
	bool machine = id == MCAUSE;

	if (!id || !is_traced(builtin, id) || !(group->reg[id] & top))
		return;
	code = group->reg[id] & ~top;
	if (code >= builtin->params.xlen)
		return;
	bit = UINT64_C(1) << code;
	learn_bits(builtin, MIE, bit, bit);
	learn_bits(builtin, MIDELEG, bit, machine ? 0 : bit);
	if (builtin->state.reg[PRIV] == (machine ? PRIV_M : 1))
		learn_bits(builtin, MSTATUS, machine ? MSTATUS_MIE : MSTATUS_SIE, UINT64_MAX);
	learn_vector(builtin, machine ? MTVEC : STVEC, 4 * code);
}

void tandem_set_interrupt_status(struct ntrace_tandem_builtin *builtin, uint64_t status)
{
	bool machine = tandem_trap_cause(builtin->group) == MCAUSE;
	uint64_t sure = sure_bits(builtin, MSTATUS);
	uint64_t enable = machine ? MSTATUS_MIE : MSTATUS_SIE;
	uint64_t before = machine ? MSTATUS_MPIE : MSTATUS_SPIE;

	sure = (sure & ~before) | (sure & enable ? before : 0);
	tandem_set_status(builtin, status, sure | enable | (machine ? MSTATUS_MPP : MSTATUS_SPP));
}

/* Whether the exception goes to M mode; if medeleg is not known, the trace decides. */
static bool enters_machine(struct ntrace_tandem_builtin *builtin, const struct tandem_trap *trap)
{
	const struct ntrace_tandem_state *state = &builtin->state;
	uint64_t bit = trap->cause < 64 ? UINT64_C(1) << trap->cause : 0;
	bool machine = true;

	if (state->reg[PRIV] == PRIV_M || (state->reg[MISA] && !(state->reg[MISA] >> 18 & 1)) ||
	    (!bit && trap->cause_known))
		return true;
	if (trap->cause_known && (sure_bits(builtin, MEDELEG) & bit))
		return !(state->reg[MEDELEG] & bit);
	if (tandem_trap_cause(builtin->group))
		machine = tandem_trap_cause(builtin->group) == MCAUSE;
	else if (tandem_is_given(builtin, PRIV))
		machine = builtin->group->reg[PRIV] == PRIV_M;
	if (trap->cause_known)
		learn_bits(builtin, MEDELEG, bit, machine ? 0 : bit);
	return machine;
}

void tandem_enter_trap(struct ntrace_tandem_builtin *builtin, const struct tandem_trap *trap)
{
	struct ntrace_tandem_state *state = &builtin->state;
	uint64_t priv = state->reg[PRIV], misa = state->reg[MISA];
	uint64_t status = state->reg[MSTATUS], sure = sure_bits(builtin, MSTATUS), low, high;
	bool machine = enters_machine(builtin, trap), priv_known;
	unsigned int xlen = builtin->params.xlen, vector = machine ? MTVEC : STVEC;

	priv_known = ntrace_tandem_bit(state->known, PRIV);
	low = tandem_trap_status(status & sure, priv, machine, misa, xlen);
	high = tandem_trap_status(status | ~sure, priv_known ? priv : priv ^ 3, machine, misa,
				  xlen);
	status = tandem_trap_status(status, priv, machine, misa, xlen);
	tandem_set_status(builtin, status, ~(low ^ high));
	tandem_state_set(state, machine ? MEPC : SEPC, state->reg[PC]);
	set_csr(builtin, machine ? MCAUSE : SCAUSE, trap->cause,
		trap->cause_known ? UINT64_MAX : 0);
	set_csr(builtin, machine ? MTVAL : STVAL, trap->value, trap->value_known ? UINT64_MAX : 0);
	/* What describes a guest's trap is the trace's. */
	if (machine && tandem_is_given(builtin, MTINST))
		tandem_state_set(state, MTINST, builtin->group->reg[MTINST]);
	if (machine && tandem_is_given(builtin, MTVAL2))
		tandem_state_set(state, MTVAL2, builtin->group->reg[MTVAL2]);
	tandem_state_set(state, PRIV, machine ? PRIV_M : 1);
	learn_vector(builtin, vector, 0);
	tandem_state_set(state, PC, state->reg[vector] & ~UINT64_C(3));
}

/* MPP after an mret to @priv: the least privileged mode. Without misa, U mode shows it, else the trace once. */
static uint64_t least_mode(struct ntrace_tandem_builtin *builtin, uint64_t priv)
{
	uint64_t misa = builtin->state.reg[MISA], mpp = builtin->group->reg[MSTATUS] & MSTATUS_MPP;

	if (misa >> 20 & 1 || priv != PRIV_M)
		builtin->least = 1;
	else if (misa ||
		 (!builtin->least && tandem_is_given(builtin, MSTATUS) && mpp == MSTATUS_MPP))
		builtin->least = MSTATUS_MPP | 1;
	return builtin->least & MSTATUS_MPP;
}

/* mstatus after a return to @priv (Privileged Architecture 1.12, 3.1.6.1 and 3.3.2) */
static uint64_t return_status(const struct ntrace_tandem_builtin *builtin, uint64_t status,
			      uint64_t priv, uint64_t least)
{
	bool machine = builtin->word == MRET;

	if (machine)
		status = (status & ~(MSTATUS_MIE | MSTATUS_MPP)) | (status >> 4 & MSTATUS_MIE) |
			 MSTATUS_MPIE | least;
	else
		status = (status & ~(MSTATUS_SIE | MSTATUS_SPP)) | (status >> 4 & MSTATUS_SIE) |
			 MSTATUS_SPIE;
	if (priv != PRIV_M)
		status &= ~MSTATUS_MPRV;
	if (machine && builtin->params.xlen == 64)
		status &= ~(UINT64_C(1) << 39); /* MPV of a hypervisor */
	return status;
}

void tandem_return_from_trap(struct ntrace_tandem_builtin *builtin)
{
	struct ntrace_tandem_state *state = &builtin->state;
	bool machine = builtin->word == MRET, priv_known;
	uint64_t status = state->reg[MSTATUS], sure = sure_bits(builtin, MSTATUS);
	uint64_t priv = machine ? status >> 11 & 3 : status >> 8 & 1, least = 0;
	uint64_t pc = complete_address(builtin, machine ? MEPC : SEPC);

	priv_known = !(~sure & (machine ? MSTATUS_MPP : MSTATUS_SPP));
	if (!priv_known && tandem_is_given(builtin, PRIV)) {
		priv = builtin->group->reg[PRIV];
		priv_known = true;
	}
	if (machine)
		least = least_mode(builtin, priv);
	tandem_set_status(builtin, return_status(builtin, status, priv, least),
			  ~(return_status(builtin, status & sure, priv, least) ^
			    return_status(builtin, status | ~sure, priv, least)));
	tandem_state_set(state, PRIV, priv);
	set_known(state, PRIV, priv_known);
	tandem_state_set(state, PC, pc & state->xlen_mask);
}
