// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "hart.h"

void hart_retire_checked(struct hart *hart, const struct ntrace_ingress *block, uint64_t cause)
{
	ctr_check_retire(hart->ctr, block, cause);
	if (hart->te->running)
		trace_encoder_retire(hart->te, block);
}

void hart_finish_early(struct hart *hart, uint64_t pc)
{
	struct ntrace_ingress ingress = {
		.iaddr = hart->iaddr,
		.iretire = (uint32_t)((pc - hart->iaddr) / 2),
		.itype = NTRACE_ITYPE_NONE,
		.priv = hart->block >> HART_BLOCK_PRIV_SHIFT,
	};

	if (pc - hart->iaddr > 2 * (uint64_t)(hart->block & HART_BLOCK_PARCELS_MASK)) {
		hart->errors++;
		hart->complain(hart->opaque, hart->iaddr, hart->block, pc);
		if (hart->ctr)
			ctr_check_lost(hart->ctr);
		if (hart->te->running)
			trace_encoder_lost(hart->te);
		return;
	}
	hart_retire(hart, &ingress, 0);
}

void hart_trap(struct hart *hart, uint64_t pc, bool interrupt, uint64_t cause, unsigned int priv,
	       unsigned int mark)
{
	struct ntrace_ingress ingress = {
		.iaddr = pc,
		.itype = interrupt ? NTRACE_ITYPE_INTERRUPT : NTRACE_ITYPE_EXCEPTION,
		.priv = priv,
	};

	hart_finish(hart, pc, mark);
	hart->te->cause = cause;
	hart_retire(hart, &ingress, cause);
}

void hart_step(struct hart *hart, uint64_t pc, unsigned int priv, unsigned int mark)
{
	struct ntrace_ingress ingress = {
		.iaddr = pc,
		.iretire = 2,
		.itype = NTRACE_ITYPE_NONE,
		.ilastsize = 1,
		.priv = priv,
	};

	hart_finish(hart, pc, mark);
	hart_retire(hart, &ingress, 0);
}

bool hart_apply(struct hart *hart, const struct trace_encoder_setup *setup, uint64_t pc,
		unsigned int mark)
{
	hart_finish(hart, pc, mark);
	trace_encoder_apply(hart->te, setup);
	return hart->te->running || hart->ctr;
}

static bool is_link(unsigned int reg)
{
	return reg == 1 || reg == 5;
}

static unsigned int itype_jal(unsigned int rd)
{
	if (is_link(rd))
		return NTRACE_ITYPE_DIRECT_CALL;
	return rd ? NTRACE_ITYPE_OTHER_DIRECT_JUMP : NTRACE_ITYPE_DIRECT_JUMP;
}

static unsigned int itype_jalr(unsigned int rd, unsigned int rs1)
{
	if (is_link(rd))
		return is_link(rs1) && rd != rs1 ? NTRACE_ITYPE_COROUTINE_SWAP :
						   NTRACE_ITYPE_INDIRECT_CALL;
	if (is_link(rs1))
		return NTRACE_ITYPE_RETURN;
	return rd ? NTRACE_ITYPE_OTHER_INDIRECT_JUMP : NTRACE_ITYPE_INDIRECT_JUMP;
}

static unsigned int itype_compressed(uint32_t insn, unsigned int xlen, bool zcmp, bool zcmt)
{
	unsigned int rs1 = insn >> 7 & 0x1f;

	switch (insn & 0xe003) {
	case 0xa001:
		return NTRACE_ITYPE_DIRECT_JUMP;
	case 0x2001:
		return xlen == 32 ? NTRACE_ITYPE_DIRECT_CALL : NTRACE_ITYPE_NONE;
	case 0xc001:
	case 0xe001:
		return NTRACE_ITYPE_BRANCH_NOT_TAKEN;
	case 0x8002:
		if ((insn & 0x7c) || !rs1)
			return NTRACE_ITYPE_NONE;
		return itype_jalr(insn & 0x1000 ? 1 : 0, rs1);
	case 0xa002:
		if (zcmp && (insn & 0xff03) >= 0xbc02)
			return (insn & 0xff03) == 0xbc02 || (insn & 0xff03) == 0xbe02 ?
				       NTRACE_ITYPE_RETURN :
				       NTRACE_ITYPE_NONE;
		if (zcmt && (insn & 0xfc03) == 0xa002)
			return (insn >> 2 & 0xff) < 32 ? NTRACE_ITYPE_DIRECT_JUMP :
							 NTRACE_ITYPE_DIRECT_CALL;
		return NTRACE_ITYPE_NONE;
	default:
		return NTRACE_ITYPE_NONE;
	}
}

unsigned int hart_itype(uint32_t insn, unsigned int xlen, bool zcmp, bool zcmt)
{
	unsigned int rd = insn >> 7 & 0x1f;
	unsigned int rs1 = insn >> 15 & 0x1f;

	if ((insn & 3) != 3)
		return itype_compressed(insn, xlen, zcmp, zcmt);

	switch (insn & 0x7f) {
	case 0x63:
		return NTRACE_ITYPE_BRANCH_NOT_TAKEN;
	case 0x6f:
		return itype_jal(rd);
	case 0x67:
		return itype_jalr(rd, rs1);
	case 0x73:
		/* SRET, MRET, MNRET */
		if (insn == 0x10200073 || insn == 0x30200073 || insn == 0x70200073)
			return NTRACE_ITYPE_TRAP_RETURN;
		return NTRACE_ITYPE_NONE;
	default:
		return NTRACE_ITYPE_NONE;
	}
}
