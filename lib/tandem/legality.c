// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which exceptions an instruction can raise: whether it is legal in the state before it (Privileged
 * Architecture 1.12, 2.1 and 3.1.6), and the causes of its kind (3.1.15).
 *
 * What depends on extensions that misa does not name, on custom CSRs, or on V of a hypervisor, is not
 * decided. Reserved rounding modes and a wfi with TW are not either: the hart may execute them.
 */
#include "legality.h"

#define MSTATUS_TVM (UINT64_C(1) << 20)
#define MSTATUS_TW (UINT64_C(1) << 21)
#define MSTATUS_TSR (UINT64_C(1) << 22)
#define VSSTATUS 0x200
#define PRIV_S 1u
#define WFI 0x10500073

static bool is_known(const struct ntrace_tandem_state *state, unsigned int id)
{
	return ntrace_tandem_bit(state->known, id);
}

static bool has(const struct ntrace_tandem_state *state, char extension)
{
	return is_known(state, MISA) && (state->reg[MISA] >> (extension - 'A') & 1);
}

/* Whether misa says that the hart has not the extension; a misa of 0 says nothing. */
static bool lacks(const struct ntrace_tandem_state *state, char extension)
{
	return is_known(state, MISA) && state->reg[MISA] && !has(state, extension);
}

/* Whether the hart may be in a guest, whose rules differ. A misa of 0 says nothing. */
static bool maybe_guest(const struct ntrace_tandem_state *state)
{
	return !is_known(state, MISA) || !state->reg[MISA] || has(state, 'H');
}

/* ---- extensions ---- */

bool tandem_lacks_compressed(const struct ntrace_tandem_state *state)
{
	/* With F, Zca may exist without C (unprivileged architecture, 28.2). */
	return is_known(state, MISA) && state->reg[MISA] && !has(state, 'C') && !has(state, 'F');
}

/* Zcb has c.lbu and its kind, c.mul, c.not and their kind in the space of C. */
static bool is_zcb(uint32_t word)
{
	return (word & 0xe003) == 0x8000 || (word & 0xfc43) == 0x9c41;
}

/*
 * What no extension without a bit in misa has: division without M (Zmmul multiplies only), loads and stores of
 * f registers without F (Zfinx has none).
 */
static bool is_absent(const struct ntrace_tandem_state *state, const struct exec_insn *insn,
		      uint32_t word)
{
	unsigned int opcode = word & 0x7f, width = word >> 12 & 7;

	if (insn->size == 2)
		return false;
	if ((opcode == 0x33 || opcode == 0x3b) && word >> 25 == 1 && width >= 4)
		return lacks(state, 'M');
	return (opcode == 0x07 || opcode == 0x27) && width >= 1 && width <= 4 && lacks(state, 'F');
}

/* c.lui with x0, whose immediate is not 0 (unprivileged architecture, 18.5) */
static bool is_compressed_hint(uint32_t word)
{
	return (word & 0xef83) == 0x6001 && (word & 0x107c);
}

/* lui and auipc, which are hints with x0 */
static bool is_upper(uint32_t word)
{
	return (word & 0x7f) == 0x37 || (word & 0x7f) == 0x17;
}

/* Whether the extension of the instruction exists, and nothing else decides. */
static bool is_unprivileged(const struct ntrace_tandem_state *state, const struct exec_insn *insn,
			    uint32_t word)
{
	/* The upper half of the registers does not exist. */
	if (has(state, 'E'))
		return false;
	if (insn->size == 2)
		return has(state, 'C') && !is_zcb(word) &&
		       (exec_is_base(insn) || is_compressed_hint(word));
	if (insn->kind == EXEC_LR || insn->kind == EXEC_SC || insn->kind == EXEC_AMO)
		return has(state, 'A') && insn->bytes >= 4;
	if (insn->kind == EXEC_REGISTER && (word & 0xfe000077) == 0x02000033)
		return has(state, 'M');
	return exec_is_base(insn) || (insn->kind == EXEC_NOP && (word & 0x707f) == 0xf) ||
	       is_upper(word);
}

/* ---- floating point ---- */

static bool is_float(const struct exec_insn *insn, uint32_t word)
{
	unsigned int opcode = word & 0x7f, width = word >> 12 & 7;

	if (insn->kind == EXEC_FLOAT || insn->kind == EXEC_LOAD_FLOAT ||
	    insn->kind == EXEC_STORE_FLOAT)
		return true;
	if (opcode == 0x07 || opcode == 0x27)
		return width >= 1 && width <= 4;
	return opcode == 0x43 || opcode == 0x47 || opcode == 0x4b || opcode == 0x4f ||
	       opcode == 0x53;
}

/* Operations of F and D; those of Zfa are others. */
static bool is_standard(const struct exec_insn *insn)
{
	switch (insn->arg) {
	case EXEC_FMINM:
	case EXEC_FMAXM:
	case EXEC_FLEQ:
	case EXEC_FLTQ:
	case EXEC_FROUND:
	case EXEC_FROUNDNX:
	case EXEC_FCVTMOD:
	case EXEC_FMVH_TO_X:
	case EXEC_FMVP_FROM_X:
	case EXEC_FLI:
		return false;
	default:
		return true;
	}
}

static bool rounds(unsigned int operation)
{
	return operation <= EXEC_FNMADD || operation == EXEC_FCVT_TO_INT ||
	       operation == EXEC_FCVT_FROM_INT || operation == EXEC_FCVT_FLOAT;
}

/* FS of mstatus, and of vsstatus in a guest. Without F, Zfinx may have the encodings, and no FS. */
static enum tandem_legality judge_status(const struct ntrace_tandem_state *state)
{
	if (!has(state, 'F') || !is_known(state, MSTATUS))
		return TANDEM_UNDECIDED;
	if (!(state->reg[MSTATUS] & MSTATUS_FS))
		return TANDEM_ILLEGAL;
	if (maybe_guest(state) && state->reg[PRIV] != PRIV_M &&
	    !(state->reg[VSSTATUS] & MSTATUS_FS))
		return TANDEM_UNDECIDED;
	return TANDEM_LEGAL;
}

static enum tandem_legality judge_float(const struct ntrace_tandem_state *state,
					const struct exec_insn *insn, uint32_t word)
{
	enum tandem_legality legality = judge_status(state);
	bool wide = insn->bytes == 8;

	if (legality != TANDEM_LEGAL)
		return legality;
	if (insn->kind == EXEC_UNSUPPORTED ||
	    (insn->size == 2 && (!has(state, 'C') || is_zcb(word))))
		return TANDEM_UNDECIDED;
	if (insn->kind == EXEC_FLOAT) {
		wide |= insn->arg == EXEC_FCVT_FLOAT;
		if (!is_standard(insn))
			return TANDEM_UNDECIDED;
		if (rounds(insn->arg) && insn->rm > 4 &&
		    (insn->rm != 7 || !is_known(state, FCSR) || state->reg[FRM] > 4))
			return TANDEM_UNDECIDED;
	}
	if (!wide || has(state, 'D'))
		return TANDEM_LEGAL;
	/* A hart with Zdinx has no F; Zcmp and Zcmt have the encodings of c.fsdsp. */
	return insn->size == 4 ? TANDEM_ILLEGAL : TANDEM_UNDECIDED;
}

/* ---- privileged ---- */

/* CSRs that each hart has, in M mode, and in S mode. */
static bool is_mandatory(const struct ntrace_tandem_state *state, unsigned int number)
{
	switch (number) {
	case MSTATUS:
	case MISA:
	case MIE:
	case MTVEC:
	case 0x340: /* mscratch */
	case MEPC:
	case MCAUSE:
	case MTVAL:
	case MIP:
	case 0xf11: /* mvendorid, marchid, mimpid, mhartid */
	case 0xf12:
	case 0xf13:
	case 0xf14:
		return true;
	case SSTATUS:
	case SIE:
	case STVEC:
	case 0x140: /* sscratch */
	case SEPC:
	case SCAUSE:
	case STVAL:
	case SIP:
	case SATP:
	case 0x302: /* medeleg, mideleg */
	case MIDELEG:
		return has(state, 'S');
	default:
		return false;
	}
}

/*
 * CSRs of RV32 alone: upper halves, and the pmpcfg of odd numbers (Privileged Architecture 1.12, 2.2 and 3.7.1).
 */
static bool is_narrow(unsigned int number)
{
	switch (number) {
	case 0x15d: /* stimecmph, vstimecmph, mstatush, henvcfgh, htimedeltah, menvcfgh, mseccfgh */
	case 0x25d:
	case 0x310:
	case 0x61a:
	case 0x615:
	case 0x31a:
	case 0x757:
		return true;
	default:
		/* mcycleh, ..., cycleh, ...; mhpmevent3h, ... */
		return (number & 0xfe0) == 0xb80 || (number & 0xfe0) == 0xc80 ||
		       (number >= 0x723 && number < 0x740) || (number & 0xff1) == 0x3a1;
	}
}

/* mcounteren and scounteren; those of a guest raise another exception. */
static bool is_hidden_counter(const struct ntrace_tandem_state *state, unsigned int number)
{
	const unsigned int mcounteren = 0x306, scounteren = 0x106;
	unsigned int bit = number & 31;

	if ((number & 0xfe0) != 0xc00 && ((number & 0xfe0) != 0xc80 || state->xlen_mask >> 32))
		return false;
	if (state->reg[PRIV] == PRIV_M)
		return false;
	if (is_known(state, mcounteren) && !(state->reg[mcounteren] >> bit & 1))
		return true;
	return !state->reg[PRIV] && has(state, 'S') && is_known(state, scounteren) &&
	       !(state->reg[scounteren] >> bit & 1);
}

static enum tandem_legality judge_csr(const struct ntrace_tandem_state *state,
				      const struct exec_insn *insn)
{
	unsigned int number = (unsigned int)insn->imm & 0xfff, least = number >> 8 & 3;
	bool writes = (insn->arg & 3) == 1 || insn->rs1;
	uint64_t priv = state->reg[PRIV];

	/* Custom ones, and those of Debug Mode. */
	if ((number >> 8) == 8 || (number >> 10 && (number >> 6 & 3) == 3) ||
	    (number & 0xff0) == 0x7b0)
		return TANDEM_UNDECIDED;
	if (state->xlen_mask >> 32 && is_narrow(number))
		return TANDEM_ILLEGAL;
	if (least == 2)
		least = PRIV_S;
	/* medeleg and mideleg should not exist without S mode (3.1.8). */
	if ((least == PRIV_S || number == 0x302 || number == MIDELEG) && lacks(state, 'S'))
		return TANDEM_ILLEGAL;
	if (priv < least || (writes && number >> 10 == 3) || is_hidden_counter(state, number))
		return TANDEM_ILLEGAL;
	if (number >= FFLAGS && number <= FCSR)
		return judge_status(state);
	if (number == SATP && priv == PRIV_S) {
		if (!is_known(state, MSTATUS))
			return TANDEM_UNDECIDED;
		if (state->reg[MSTATUS] & MSTATUS_TVM)
			return maybe_guest(state) ? TANDEM_UNDECIDED : TANDEM_ILLEGAL;
	}
	return is_mandatory(state, number) ? TANDEM_LEGAL : TANDEM_UNDECIDED;
}

/*
 * @least: the least privilege that may execute the instruction; @trap: the bit of mstatus that lets it
 * trap in S mode
 */
static enum tandem_legality judge_privilege(const struct ntrace_tandem_state *state,
					    unsigned int least, uint64_t trap)
{
	if (state->reg[PRIV] < least)
		return TANDEM_ILLEGAL;
	if (state->reg[PRIV] == PRIV_M)
		return TANDEM_LEGAL;
	if (!is_known(state, MSTATUS))
		return TANDEM_UNDECIDED;
	if (!(state->reg[MSTATUS] & trap))
		return TANDEM_LEGAL;
	return maybe_guest(state) ? TANDEM_UNDECIDED : TANDEM_ILLEGAL;
}

/* Instructions that a hart without their extension does not have. */
static enum tandem_legality unless(enum tandem_legality legality, bool exists)
{
	return legality == TANDEM_LEGAL && !exists ? TANDEM_UNDECIDED : legality;
}

static enum tandem_legality judge_system(const struct ntrace_tandem_state *state,
					 const struct exec_insn *insn, uint32_t word)
{
	if (!is_known(state, PRIV) || state->reg[PRIV] > PRIV_M)
		return TANDEM_UNDECIDED;
	if (insn->kind == EXEC_CSR)
		return judge_csr(state, insn);
	switch (word) {
	case MRET:
		return judge_privilege(state, PRIV_M, 0);
	case SRET:
		return lacks(state, 'S') ?
			       TANDEM_ILLEGAL :
			       unless(judge_privilege(state, PRIV_S, MSTATUS_TSR), has(state, 'S'));
	case WFI:
		/* A limit of time, which may be 0, applies to U mode and to TW. */
		if (state->reg[PRIV] == PRIV_M ||
		    (state->reg[PRIV] == PRIV_S && is_known(state, MSTATUS) &&
		     !(state->reg[MSTATUS] & MSTATUS_TW)))
			return TANDEM_LEGAL;
		return TANDEM_UNDECIDED;
	case 0x18000073: /* sfence.w.inval, sfence.inval.ir */
	case 0x18100073:
		return unless(judge_privilege(state, PRIV_S, 0), false);
	default:
		break;
	}
	/* sfence.vma, sinval.vma: a hart may have S mode without translation. */
	if ((word & 0xfe007fff) == 0x12000073 || (word & 0xfe007fff) == 0x16000073)
		return lacks(state, 'S') ?
			       TANDEM_ILLEGAL :
			       unless(judge_privilege(state, PRIV_S, MSTATUS_TVM), false);
	return TANDEM_UNDECIDED;
}

enum tandem_legality tandem_judge_legality(const struct ntrace_tandem_state *state,
					   const struct exec_insn *insn, uint32_t word)
{
	/* Of any length: only zeros; of 32 bits: only ones (unprivileged architecture, 1.5). */
	if (!(word & 0xffff) || word == UINT32_MAX)
		return TANDEM_ILLEGAL;
	if ((insn->size == 2 && tandem_lacks_compressed(state)) || is_absent(state, insn, word))
		return TANDEM_ILLEGAL;
	if (is_float(insn, word))
		return judge_float(state, insn, word);
	if (is_unprivileged(state, insn, word))
		return TANDEM_LEGAL;
	if (insn->size == 4 && (word & 0x7f) == 0x73)
		return judge_system(state, insn, word);
	return TANDEM_UNDECIDED;
}

/* ---- causes ---- */

/* Whether no address is translated (4.1.11): in M mode, for data without MPRV, and with satp off. */
static bool is_bare(const struct ntrace_tandem_state *state, bool data)
{
	if (!is_known(state, PRIV))
		return false;
	if (state->reg[PRIV] == PRIV_M)
		return !data || (is_known(state, MSTATUS) && !(state->reg[MSTATUS] & MSTATUS_MPRV));
	return is_known(state, SATP) && is_known(state, MISA) && state->reg[MISA] &&
	       tandem_is_bare(state->reg, state->known, state->xlen_mask >> 32 ? 64 : 32);
}

static bool is_custom(uint64_t cause)
{
	return (cause >= 24 && cause < 32) || (cause >= 48 && cause < 64);
}

bool tandem_can_raise(const struct ntrace_tandem_state *state, const struct exec_insn *insn,
		      enum tandem_legality legality, uint64_t cause)
{
	if ((cause == 12 || cause == 20) && is_bare(state, false))
		return false;
	/* hlv and its kind, which are not decoded, access a guest's memory from M mode. */
	if ((cause == 13 || cause == 15 || cause == 21 || cause == 23) &&
	    insn->kind != EXEC_UNSUPPORTED && is_bare(state, true))
		return false;
	/* An illegal instruction does nothing else that could raise an exception. */
	if (legality == TANDEM_ILLEGAL && cause < 24 && cause != 1 && cause != 3 && cause != 12 &&
	    cause != 18 && cause != 19 && cause != 20)
		return cause == 2 || (cause == 22 && maybe_guest(state));
	/* With C, each target is aligned. */
	if (!cause && has(state, 'C'))
		return false;
	if (cause == 2)
		return legality != TANDEM_LEGAL;
	return cause < 24 ? exec_can_raise(insn, cause) : is_custom(cause);
}

bool tandem_can_fetch_raise(const struct ntrace_tandem_state *state, uint64_t cause)
{
	if (cause == 12 || cause == 20)
		return !is_bare(state, false);
	return cause == 1 || cause == 19 || is_custom(cause);
}
