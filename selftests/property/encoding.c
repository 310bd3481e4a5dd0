// SPDX-License-Identifier: GPL-2.0-only
/*
 * Machine code of the generated programs, from the encodings of the classification table (E-Trace,
 * chapter 4) and the immediate layouts of the RISC-V manual.
 */
#include "program.h"

#define OP_BRANCH 0x63u
#define OP_JALR 0x67u
#define OP_JAL 0x6fu
#define OP_LUI 0x37u
#define OP_AUIPC 0x17u

static bool fits(int64_t value, unsigned int bits)
{
	return value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1);
}

/* Bits @high..@low of @value, at @at. */
static uint32_t field(int64_t value, unsigned int high, unsigned int low, unsigned int at)
{
	return (uint32_t)((uint64_t)value >> low & ((UINT64_C(1) << (high - low + 1)) - 1)) << at;
}

/* Branches have funct3 in bits and the second source in rd. */
static uint32_t branch_bits(const struct insn *insn, int64_t offset)
{
	/* The manual's order: imm[12|10:5] rs2 rs1 funct3 imm[4:1|11]. */
	return OP_BRANCH | field(offset, 12, 12, 31) | field(offset, 10, 5, 25) |
	       (uint32_t)insn->rd << 20 | (uint32_t)insn->rs1 << 15 | (uint32_t)insn->bits << 12 |
	       field(offset, 4, 1, 8) | field(offset, 11, 11, 7);
}

static uint32_t jal_bits(unsigned int rd, int64_t offset)
{
	return OP_JAL | rd << 7 | field(offset, 20, 20, 31) | field(offset, 10, 1, 21) |
	       field(offset, 11, 11, 20) | field(offset, 19, 12, 12);
}

static uint32_t jalr_bits(unsigned int rd, unsigned int rs1, int64_t offset)
{
	return OP_JALR | rd << 7 | rs1 << 15 | field(offset, 11, 0, 20);
}

/* C.J and C.JAL: offset[11|4|9:8|10|6|7|3:1|5] in bits 12:2. */
static uint32_t cj_bits(uint32_t op, int64_t offset)
{
	return op | field(offset, 11, 11, 12) | field(offset, 4, 4, 11) | field(offset, 9, 8, 9) |
	       field(offset, 10, 10, 8) | field(offset, 6, 6, 7) | field(offset, 7, 7, 6) |
	       field(offset, 3, 1, 3) | field(offset, 5, 5, 2);
}

/* C.BEQZ and C.BNEZ: offset[8|4:3] rs1' offset[7:6|2:1|5]. */
static uint32_t cb_bits(const struct insn *insn, int64_t offset)
{
	uint32_t op = (insn->bits ? 0xe001 : 0xc001) | (insn->rs1 & 7u) << 7;

	return op | field(offset, 8, 8, 12) | field(offset, 4, 3, 10) | field(offset, 7, 6, 5) |
	       field(offset, 2, 1, 3) | field(offset, 5, 5, 2);
}

static int64_t wrap_signed(const struct program *program, uint64_t value)
{
	return program->shape.xlen == 32 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static uint64_t direct_bits(const struct program *program, const struct insn *insn)
{
	int64_t offset;

	if (insn->form == FORM_TABLE)
		return 0xa002 | (uint32_t)insn->count << 2;
	offset = wrap_signed(program, program->insn[insn->target].address - insn->address);
	if (insn->kind == KIND_BRANCH) {
		if (!insn->compressed)
			return fits(offset, 13) ? branch_bits(insn, offset) : 0;
		return fits(offset, 9) ? cb_bits(insn, offset) : 0;
	}
	if (!insn->compressed)
		return fits(offset, 21) ? jal_bits(insn->rd, offset) : 0;
	return fits(offset, 12) ? cj_bits(insn->kind == KIND_CALL ? 0x2001 : 0xa001, offset) : 0;
}

/* The sum of the immediates of a pair: a multiple of 4096 and a signed 12-bit offset. */
static void split(int64_t value, int64_t *upper, int64_t *lower)
{
	*lower = (int64_t)((uint64_t)value << 52) >> 52;
	*upper = value - *lower;
}

/* The target of a pair, relative to the base of its first instruction. */
static int64_t pair_value(const struct program *program, const struct insn *upper)
{
	uint64_t target = program->insn[upper[1].target].address;

	return wrap_signed(program, upper->form == FORM_AUIPC ? target - upper->address : target);
}

static uint64_t upper_bits(const struct program *program, const struct insn *insn)
{
	int64_t upper, lower;

	split(pair_value(program, insn), &upper, &lower);
	if (program->shape.xlen == 32)
		upper = (int32_t)(uint32_t)upper;
	if (!fits(upper, 32))
		return 0;
	if (insn->compressed) {
		if (!fits(upper, 18) || !upper)
			return 0;
		return 0x6001 | (uint32_t)insn->rd << 7 | field(upper, 17, 17, 12) |
		       field(upper, 16, 12, 2);
	}
	return (insn->form == FORM_AUIPC ? OP_AUIPC : OP_LUI) | (uint32_t)insn->rd << 7 |
	       ((uint32_t)upper & 0xfffff000);
}

static uint64_t indirect_bits(const struct program *program, const struct insn *insn)
{
	int64_t upper, lower = 0;

	if (insn->form == FORM_POPRET)
		return insn->bits;
	if (insn->paired)
		split(pair_value(program, insn - 1), &upper, &lower);
	else if (!insn->compressed)
		lower = (int16_t)insn->bits;
	if (!insn->compressed)
		return jalr_bits(insn->rd, insn->rs1, lower);
	if (lower)
		return 0;
	return (insn->rd ? 0x9002 : 0x8002) | (uint32_t)insn->rs1 << 7;
}

uint64_t encode_insn(const struct program *program, const struct insn *insn)
{
	switch (insn->kind) {
	case KIND_UPPER:
		return upper_bits(program, insn);
	case KIND_BRANCH:
	case KIND_JUMP:
	case KIND_CALL:
	case KIND_OTHER_JUMP:
		return direct_bits(program, insn);
	case KIND_INDIRECT_JUMP:
	case KIND_INDIRECT_CALL:
	case KIND_OTHER_INDIRECT_JUMP:
	case KIND_RETURN:
	case KIND_SWAP:
		return indirect_bits(program, insn);
	default:
		return insn->bits;
	}
}

static uint32_t random_register(struct random *random)
{
	return random_below(random, 32);
}

static void plain16(struct program *program, struct insn *insn)
{
	struct random *random = &program->random;
	uint32_t rd = 8 + random_below(random, 8), imm = random_below(random, 32);

	insn->size = 2;
	switch (random_below(random, program->shape.push_pop ? 10 : 8)) {
	case 0:
		insn->bits = 0x0001;	/* c.nop */
		break;
	case 1:
		insn->bits = 0x4001 | rd << 7 | imm << 2;	/* c.li */
		break;
	case 2:
		insn->bits = 0x0001 | rd << 7 | imm << 2;	/* c.addi */
		break;
	case 3:
		insn->bits = 0x8002 | rd << 7 | (1 + imm % 31) << 2;	/* c.mv: no C.JR */
		break;
	case 4:
		insn->bits = 0x9002 | rd << 7 | (1 + imm % 31) << 2;	/* c.add: no C.JALR */
		break;
	case 5:
		insn->bits = 0x4000 | (rd - 8) << 2 | (imm & 7) << 7;	/* c.lw */
		break;
	case 6:
		insn->bits = 0x6001 | rd << 7 | (1 + imm % 31) << 2;	/* c.lui */
		break;
	case 7:
		insn->bits = 0x8c01 | (rd - 8) << 7 | (imm & 7) << 2;	/* c.sub */
		break;
	case 8:
		/* cm.push; rlist below 4 is reserved */
		insn->bits = 0xb802 | (4 + imm % 12) << 4 | (imm & 3) << 2;
		break;
	default:
		insn->bits = 0xba02 | (4 + imm % 12) << 4 | (imm & 3) << 2;	/* cm.pop */
		break;
	}
}

static void plain32(struct random *random, struct insn *insn)
{
	static const uint32_t fixed[] = {
		0x0000100f,	/* fence.i */
		0x0ff0000f,	/* fence */
		0x10500073,	/* wfi */
		0x12000073,	/* sfence.vma */
		0x00000013,	/* nop */
	};
	uint32_t rd = random_register(random), rs1 = random_register(random);
	uint32_t word = (uint32_t)random_next(random);

	insn->size = 4;
	switch (random_below(random, 9)) {
	case 0:
		insn->bits = OP_LUI | (word & 0xffffff80);
		break;
	case 1:
		insn->bits = OP_AUIPC | (word & 0xffffff80);
		break;
	case 2:
		insn->bits = fixed[random_below(random, sizeof(fixed) / sizeof(fixed[0]))];
		break;
	case 3:
		insn->bits = 0x03 | rd << 7 | 2 << 12 | rs1 << 15 | (word & 0xfff00000);	/* lw */
		break;
	case 4:
		insn->bits = 0x23 | 2 << 12 | (word & 0xffff8f80);	/* sw */
		break;
	case 5:
		insn->bits = 0x33 | rd << 7 | rs1 << 15 | random_register(random) << 20;	/* add */
		break;
	case 6:
		insn->bits = 0x34001073 | rs1 << 15 | rd << 7;	/* csrrw mscratch */
		break;
	case 7:
		/* fadd.d, of which only the length matters */
		insn->bits = 0x02000053 | rd << 7 | rs1 << 15;
		break;
	default:
		insn->bits = 0x13 | rd << 7 | rs1 << 15 | (word & 0xfff00000);	/* addi */
		break;
	}
}

void random_plain(struct program *program, struct insn *insn)
{
	struct random *random = &program->random;
	uint64_t word = random_next(random);

	insn->kind = KIND_PLAIN;
	/* Lengths of 48 and 64 bits: custom instructions. */
	if (program->shape.compressed && !program->shape.power_sizes && one_in(random, 24)) {
		insn->size = 6;
		insn->bits = (word & UINT64_C(0xffffffffffc0)) | 0x1f;
	} else if (one_in(random, 24)) {
		insn->size = 8;
		insn->bits = (word & ~UINT64_C(0x7f)) | 0x3f;
	} else if (program->shape.compressed && !one_in(random, 3)) {
		plain16(program, insn);
	} else {
		plain32(random, insn);
	}
}
