/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the witness (exec_log.c) needs to know of an instruction, from its bits: whether it can go
 * elsewhere, whether it is a call or a return, and the few whose operands matter.
 */
#ifndef ORACLE_EXEC_CODE_H
#define ORACLE_EXEC_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum insn_class { PLAIN, TRANSFER, TRAP_RETURN };

/*
 * An instruction packed into 64 bits: bits 63..8 hold address bits 56..1 (bits above are the sign
 * extension of Sv57), bits 7..0 hold length, class and privilege. Never 0.
 */
#define INSN_LEN4 0x01
#define INSN_CLASS_SHIFT 1
#define INSN_PRIV_SHIFT 3
#define INSN_CALL 0x20
#define INSN_RETURN 0x40
#define INSN_INDIRECT (INSN_CALL | INSN_RETURN)	/* through another register, or see below */
#define INSN_VALID 0x80

static inline uint64_t insn_address(uint64_t insn)
{
	/* An arithmetic shift extends the sign; the low bit and the flags go. */
	return (uint64_t)((int64_t)insn >> 8) << 1;
}

static inline unsigned int insn_length(uint64_t insn)
{
	return insn & INSN_LEN4 ? 4 : 2;
}

static inline unsigned int insn_class(uint64_t insn)
{
	return insn >> INSN_CLASS_SHIFT & 3;
}

static inline unsigned int insn_priv(uint64_t insn)
{
	return insn >> INSN_PRIV_SHIFT & 3;
}

/* The names that QEMU gives to the integer registers. */
static const char *const register_names[32] = {
	"zero", "ra", "sp", "gp", "tp",	 "t0",	"t1", "t2", "fp", "s1", "a0",
	"a1",	"a2", "a3", "a4", "a5",	 "a6",	"a7", "s2", "s3", "s4", "s5",
	"s6",	"s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"
};

static inline enum insn_class classify(uint32_t code)
{
	if ((code & 3) == 3) {
		switch (code & 0x7f) {
		case 0x63: /* branch */
		case 0x6f: /* jal */
		case 0x67: /* jalr */
			return TRANSFER;
		}
		if (code == 0x10200073 || code == 0x30200073 || code == 0x70200073)
			return TRAP_RETURN;
		return PLAIN;
	}
	code &= 0xffff;
	switch (code & 0xe003) {
	case 0xa001: /* c.j */
	case 0xc001: /* c.beqz */
	case 0xe001: /* c.bnez */
		return TRANSFER;
	case 0x8002: /* c.jr, c.jalr: no rs2, rs1 not 0 (c.ebreak) */
		return !(code & 0x7c) && code & 0xf80 ? TRANSFER : PLAIN;
	}
	return PLAIN;
}

/* By the hints of the unprivileged specification, table "Return-address stack prediction hints". */
static inline unsigned int call_or_return(uint32_t code)
{
	unsigned int rd = code >> 7 & 31, rs1 = code >> 15 & 31;

	/* A jump to the next instruction: that may be another function's first. */
	if (code == 0x0040006f || (code & 0xffff) == 0xa009)
		return INSN_INDIRECT;
	if ((code & 0xf07f) == 0x8002)	/* c.jr */
		return rd == 1 || rd == 5 ? INSN_RETURN : rd ? INSN_INDIRECT : 0;
	if ((code & 0xf07f) == 0x9002)	/* c.jalr, or with x0 c.ebreak */
		return rd ? INSN_CALL : 0;
	if ((code & 0x7f) == 0x6f || (code & 0x707f) == 0x67) {
		if (rd == 1 || rd == 5)
			return INSN_CALL;
		if ((code & 0x7f) == 0x67)
			return rs1 == 1 || rs1 == 5 ? INSN_RETURN : INSN_INDIRECT;
	}
	return 0;
}

static inline bool stores_word(uint32_t code)
{
	if ((code & 3) == 3)
		return (code & 0x707f) == 0x2023; /* sw */
	return (code & 0xe003) == 0xc000 || (code & 0xe003) == 0xc002; /* c.sw, c.swsp */
}

/* The register into which the instruction reads the CSR time (rdtime), or 0. */
static inline unsigned int time_register(uint32_t code)
{
	return (code & 0xfffff07f) == 0xc0102073 ? code >> 7 & 31 : 0;
}

/* Marks are hints (slti zero, zero, N): 1 begins a section, 2 ends it. Return: N, or 0. */
static inline unsigned int mark_of(uint32_t code)
{
	return code == 0x00102013 ? 1 : code == 0x00202013 ? 2 : 0;
}

#endif /* ORACLE_EXEC_CODE_H */
