// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Compressed instructions (C, Zcb) as the instruction of 32 bits that they stand for. Control transfers
 * are those of lib/isa, push and pop are in decode.c.
 */
#include "decode.h"

/* Registers x8 to x15. */
static uint32_t short_register(uint32_t number)
{
	return 8 + (number & 7);
}

static uint32_t type_r(uint32_t match, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
	return match | rd << 7 | rs1 << 15 | rs2 << 20;
}

static uint32_t type_i(uint32_t match, uint32_t rd, uint32_t rs1, uint32_t imm)
{
	return match | rd << 7 | rs1 << 15 | imm << 20;
}

static uint32_t type_s(uint32_t match, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
	return match | (imm & 31) << 7 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25;
}

/* The signed immediate of 6 bits, as the 12 bits of the long form. */
static uint32_t immediate(uint32_t half)
{
	return exec_bits(half, 6, 2) | (half >> 12 & 1 ? 0xfe0 : 0);
}

/* Zcb: lbu, lhu, lh, sb, sh */
static uint32_t expand_small_access(uint32_t half, uint32_t base, uint32_t data)
{
	uint32_t byte = exec_bits(half, 6, 6) | exec_bits(half, 5, 5) << 1;
	uint32_t two = exec_bits(half, 5, 5) << 1;

	switch (exec_bits(half, 12, 10)) {
	case 0:
		return type_i(0x4003, data, base, byte);
	case 1:
		return type_i(half >> 6 & 1 ? 0x1003 : 0x5003, data, base, two);
	case 2:
		return type_s(0x0023, base, data, byte);
	case 3:
		return half >> 6 & 1 ? 0 : type_s(0x1023, base, data, two);
	default:
		return 0;
	}
}

static uint32_t expand_quadrant0(uint32_t half, unsigned int xlen)
{
	uint32_t base = short_register(half >> 7), data = short_register(half >> 2);
	uint32_t word = exec_bits(half, 12, 10) << 3 | exec_bits(half, 6, 6) << 2 |
			exec_bits(half, 5, 5) << 6;
	uint32_t twice = exec_bits(half, 12, 10) << 3 | exec_bits(half, 6, 5) << 6;
	uint32_t imm = exec_bits(half, 10, 7) << 6 | exec_bits(half, 12, 11) << 4 |
		       exec_bits(half, 5, 5) << 3 | exec_bits(half, 6, 6) << 2;

	switch (half >> 13) {
	case 0:	/* c.addi4spn */
		return imm ? type_i(0x13, data, 2, imm) : 0;
	case 1:
		return type_i(0x3007, data, base, twice);
	case 2:
		return type_i(0x2003, data, base, word);
	case 3:
		return xlen == 64 ? type_i(0x3003, data, base, twice) :
				    type_i(0x2007, data, base, word);
	case 4:
		return expand_small_access(half, base, data);
	case 5:
		return type_s(0x3027, base, data, twice);
	case 6:
		return type_s(0x2023, base, data, word);
	default:
		return xlen == 64 ? type_s(0x3023, base, data, twice) :
				    type_s(0x2027, base, data, word);
	}
}

/* Zcb: zext.b, sext.b, zext.h, sext.h, zext.w, not */
static uint32_t expand_unary(uint32_t half, unsigned int xlen)
{
	uint32_t rd = short_register(half >> 7);

	switch (exec_bits(half, 4, 2)) {
	case 0:
		return type_i(0x7013, rd, rd, 0xff);
	case 1:
		return type_i(0x1013, rd, rd, 0x604);
	case 2:
		return type_r(xlen == 64 ? 0x0800403b : 0x08004033, rd, rd, 0);
	case 3:
		return type_i(0x1013, rd, rd, 0x605);
	case 4:
		return xlen == 64 ? type_r(0x0800003b, rd, rd, 0) : 0;
	case 5:
		return type_i(0x4013, rd, rd, 0xfff);
	default:
		return 0;
	}
}

static uint32_t expand_arithmetic(uint32_t half, unsigned int xlen)
{
	/* By bits 12, 6 and 5: sub, xor, or, and; subw, addw, mul */
	static const uint32_t matches[8] = { 0x40000033, 0x4033,     0x6033,	 0x7033,
					     0x4000003b, 0x0000003b, 0x02000033, 0 };
	uint32_t rd = short_register(half >> 7), rs2 = short_register(half >> 2);
	uint32_t amount = exec_bits(half, 6, 2) | exec_bits(half, 12, 12) << 5;
	uint32_t which = exec_bits(half, 12, 12) << 2 | exec_bits(half, 6, 5);

	switch (exec_bits(half, 11, 10)) {
	case 0:
		return type_i(0x5013, rd, rd, amount);
	case 1:
		return type_i(0x40005013, rd, rd, amount);
	case 2:
		return type_i(0x7013, rd, rd, immediate(half));
	default:
		if (which == 7)
			return expand_unary(half, xlen);
		return type_r(matches[which], rd, rd, rs2);
	}
}

static uint32_t expand_quadrant1(uint32_t half, unsigned int xlen)
{
	uint32_t rd = exec_bits(half, 11, 7);
	uint32_t imm = exec_bits(half, 6, 6) << 4 | exec_bits(half, 2, 2) << 5 |
		       exec_bits(half, 5, 5) << 6 | exec_bits(half, 4, 3) << 7 |
		       (half >> 12 & 1 ? 0xe00 : 0);

	switch (half >> 13) {
	case 0:
		return type_i(0x13, rd, rd, immediate(half));
	case 1:	/* c.addiw; c.jal of RV32 */
		return xlen == 64 && rd ? type_i(0x1b, rd, rd, immediate(half)) : 0;
	case 2:
		return type_i(0x13, rd, 0, immediate(half));
	case 3:	/* c.addi16sp; c.lui is of lib/isa */
		return rd == 2 && imm ? type_i(0x13, 2, 2, imm) : 0;
	case 4:
		return expand_arithmetic(half, xlen);
	default:
		return 0;
	}
}

static uint32_t expand_quadrant2(uint32_t half, unsigned int xlen)
{
	uint32_t rd = exec_bits(half, 11, 7), rs2 = exec_bits(half, 6, 2);
	uint32_t amount = rs2 | exec_bits(half, 12, 12) << 5;
	uint32_t word_load = exec_bits(half, 12, 12) << 5 | exec_bits(half, 6, 4) << 2 |
			     exec_bits(half, 3, 2) << 6;
	uint32_t twice_load = exec_bits(half, 12, 12) << 5 | exec_bits(half, 6, 5) << 3 |
			      exec_bits(half, 4, 2) << 6;
	uint32_t word_store = exec_bits(half, 12, 9) << 2 | exec_bits(half, 8, 7) << 6;
	uint32_t twice_store = exec_bits(half, 12, 10) << 3 | exec_bits(half, 9, 7) << 6;

	switch (half >> 13) {
	case 0:
		return type_i(0x1013, rd, rd, amount);
	case 1:
		return type_i(0x3007, rd, 2, twice_load);
	case 2:
		return rd ? type_i(0x2003, rd, 2, word_load) : 0;
	case 3:
		if (xlen == 32)
			return type_i(0x2007, rd, 2, word_load);
		return rd ? type_i(0x3003, rd, 2, twice_load) : 0;
	case 4:	/* c.mv, c.add */
		if (!rs2)
			return 0;
		return type_r(0x33, rd, half >> 12 & 1 ? rd : 0, rs2);
	case 5:
		return type_s(0x3027, 2, rs2, twice_store);
	case 6:
		return type_s(0x2023, 2, rs2, word_store);
	default:
		return xlen == 64 ? type_s(0x3023, 2, rs2, twice_store) :
				    type_s(0x2027, 2, rs2, word_store);
	}
}

uint32_t exec_expand(uint32_t half, unsigned int xlen)
{
	switch (half & 3) {
	case 0:
		return expand_quadrant0(half, xlen);
	case 1:
		return expand_quadrant1(half, xlen);
	default:
		return expand_quadrant2(half, xlen);
	}
}
