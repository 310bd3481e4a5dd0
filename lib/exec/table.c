// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The one table of what instructions of 32 bits mean, one array for each opcode. Control transfers are
 * those of lib/isa, and are not here.
 *
 * A row of an integer operation names its function, the rule of what is known of its result, the
 * width if it is not XLEN, the only XLEN if there is one, and arg. Immediate operations: arg 1: a shift
 * amount, arg 2: one operand.
 */
#include <stddef.h>

#include "decode.h"
#include "integer.h"

#define NUMBER(rows) (sizeof(rows) / sizeof((rows)[0]))

/* operate(rs1, rs2), operate(rs1, imm), operate(memory, rs2) */
#define OPERATION(kind, mask, match, operate, rule, bits, xlen, arg) \
	{ mask, match, exec_##operate, EXEC_##kind, EXEC_RULE_##rule, bits, xlen, arg }
/* Without a function. */
#define OTHER(kind, mask, match, rule, xlen, arg) \
	{ mask, match, NULL, EXEC_##kind, EXEC_RULE_##rule, 0, xlen, arg }

static const struct exec_row load[] = {
	OTHER(LOAD, 0x0000707f, 0x00000003, ALL, 0, 0), /* lb */
	OTHER(LOAD, 0x0000707f, 0x00001003, ALL, 0, 0), /* lh */
	OTHER(LOAD, 0x0000707f, 0x00002003, ALL, 0, 0), /* lw */
	OTHER(LOAD, 0x0000707f, 0x00004003, ALL, 0, 0), /* lbu */
	OTHER(LOAD, 0x0000707f, 0x00005003, ALL, 0, 0), /* lhu */
	OTHER(LOAD, 0x0000707f, 0x00003003, ALL, 64, 0), /* ld */
	OTHER(LOAD, 0x0000707f, 0x00006003, ALL, 64, 0), /* lwu */
};

static const struct exec_row load_float[] = {
	OTHER(LOAD_FLOAT, 0x0000707f, 0x00001007, ALL, 0, 0), /* flh */
	OTHER(LOAD_FLOAT, 0x0000707f, 0x00002007, ALL, 0, 0), /* flw */
	OTHER(LOAD_FLOAT, 0x0000707f, 0x00003007, ALL, 0, 0), /* fld */
	OTHER(VECTOR_LOAD, 0x0000707f, 0x00000007, ALL, 0, 0), /* vector */
	OTHER(VECTOR_LOAD, 0x0000707f, 0x00005007, ALL, 0, 0), /* vector */
	OTHER(VECTOR_LOAD, 0x0000707f, 0x00006007, ALL, 0, 0), /* vector */
	OTHER(VECTOR_LOAD, 0x0000707f, 0x00007007, ALL, 0, 0), /* vector */
};

static const struct exec_row fence[] = {
	OTHER(NOP, 0x0000707f, 0x0000000f, ALL, 0, 0), /* fence */
	OTHER(NOP, 0x0000707f, 0x0000100f, ALL, 0, 0), /* fence.i */
	OTHER(BLOCK_ZERO, 0xfff07fff, 0x0040200f, ALL, 0, 0), /* cbo.zero */
	OTHER(NOP, 0xffe07fff, 0x0000200f, ALL, 0, 0), /* cbo.inval, cbo.clean */
	OTHER(NOP, 0xfff07fff, 0x0020200f, ALL, 0, 0), /* cbo.flush */
};

static const struct exec_row immediate[] = {
	OPERATION(IMMEDIATE, 0x0000707f, 0x00000013, add, ADD, 0, 0, 0),
	OPERATION(IMMEDIATE, 0x0000707f, 0x00002013, slt, LESS, 0, 0, 0),
	OPERATION(IMMEDIATE, 0x0000707f, 0x00003013, sltu, LESS, 0, 0, 0),
	OPERATION(IMMEDIATE, 0x0000707f, 0x00004013, xor, XOR, 0, 0, 0),
	OPERATION(IMMEDIATE, 0x0000707f, 0x00006013, or, RISING, 0, 0, 0),
	OPERATION(IMMEDIATE, 0x0000707f, 0x00007013, and, RISING, 0, 0, 0),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x00001013, sll, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x00005013, srl, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x40005013, sra, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x60005013, ror, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x48001013, bclr, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x48005013, bext, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x68001013, binv, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x28001013, bset, SHIFT, 0, 0, 1),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x60001013, clz, REVERSED, 0, 0, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x60101013, ctz, REVERSED, 0, 0, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x60201013, cpop, ORDERED, 0, 0, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x60401013, sext_b, SHIFT, 0, 0, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x60501013, sext_h, SHIFT, 0, 0, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x28705013, orc_b, SHIFT, 0, 0, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x6b805013, rev8, SHIFT, 0, 64, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x69805013, rev8, SHIFT, 0, 32, 2),
};

static const struct exec_row immediate_32[] = {
	OPERATION(IMMEDIATE, 0x0000707f, 0x0000001b, add, ADD, 32, 64, 0),
	OPERATION(IMMEDIATE, 0xfe00707f, 0x0000101b, sll, SHIFT, 32, 64, 1),
	OPERATION(IMMEDIATE, 0xfe00707f, 0x0000501b, srl, SHIFT, 32, 64, 1),
	OPERATION(IMMEDIATE, 0xfe00707f, 0x4000501b, sra, SHIFT, 32, 64, 1),
	OPERATION(IMMEDIATE, 0xfe00707f, 0x6000501b, ror, SHIFT, 32, 64, 1),
	OPERATION(IMMEDIATE, 0xfc00707f, 0x0800101b, slli_uw, SHIFT, 0, 64, 1),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x6000101b, clz, REVERSED, 32, 64, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x6010101b, ctz, REVERSED, 32, 64, 2),
	OPERATION(IMMEDIATE, 0xfff0707f, 0x6020101b, cpop, ORDERED, 32, 64, 2),
};

static const struct exec_row store[] = {
	OTHER(STORE, 0x0000707f, 0x00000023, ALL, 0, 0), /* sb */
	OTHER(STORE, 0x0000707f, 0x00001023, ALL, 0, 0), /* sh */
	OTHER(STORE, 0x0000707f, 0x00002023, ALL, 0, 0), /* sw */
	OTHER(STORE, 0x0000707f, 0x00003023, ALL, 64, 0), /* sd */
};

static const struct exec_row store_float[] = {
	OTHER(STORE_FLOAT, 0x0000707f, 0x00001027, ALL, 0, 0), /* fsh */
	OTHER(STORE_FLOAT, 0x0000707f, 0x00002027, ALL, 0, 0), /* fsw */
	OTHER(STORE_FLOAT, 0x0000707f, 0x00003027, ALL, 0, 0), /* fsd */
	OTHER(VECTOR_STORE, 0x0000707f, 0x00000027, ALL, 0, 0), /* vector */
	OTHER(VECTOR_STORE, 0x0000707f, 0x00005027, ALL, 0, 0), /* vector */
	OTHER(VECTOR_STORE, 0x0000707f, 0x00006027, ALL, 0, 0), /* vector */
	OTHER(VECTOR_STORE, 0x0000707f, 0x00007027, ALL, 0, 0), /* vector */
};

static const struct exec_row atomic[] = {
	OTHER(LR, 0xf9f0707f, 0x1000202f, ALL, 0, 0), /* lr */
	OTHER(SC, 0xf800707f, 0x1800202f, ALL, 0, 0), /* sc */
	OTHER(CAS, 0xf800707f, 0x2800202f, ALL, 0, 0), /* amocas */
	OPERATION(AMO, 0xf800707f, 0x0800202f, swap, RISING, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x0000202f, add, ADD, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x2000202f, xor, XOR, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x6000202f, and, RISING, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x4000202f, or, RISING, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x8000202f, min, ALL, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xa000202f, max, ALL, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xc000202f, minu, ORDERED, 32, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xe000202f, maxu, ORDERED, 32, 0, 0),
	OTHER(LR, 0xf9f0707f, 0x1000302f, ALL, 64, 0), /* lr */
	OTHER(SC, 0xf800707f, 0x1800302f, ALL, 64, 0), /* sc */
	OTHER(CAS, 0xf800707f, 0x2800302f, ALL, 64, 0), /* amocas */
	OPERATION(AMO, 0xf800707f, 0x0800302f, swap, RISING, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0x0000302f, add, ADD, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0x2000302f, xor, XOR, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0x6000302f, and, RISING, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0x4000302f, or, RISING, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0x8000302f, min, ALL, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0xa000302f, max, ALL, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0xc000302f, minu, ORDERED, 64, 64, 0),
	OPERATION(AMO, 0xf800707f, 0xe000302f, maxu, ORDERED, 64, 64, 0),
	/* Zabha */
	OTHER(CAS, 0xf800707f, 0x2800002f, ALL, 0, 0), /* amocas */
	OPERATION(AMO, 0xf800707f, 0x0800002f, swap, RISING, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x0000002f, add, ADD, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x2000002f, xor, XOR, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x6000002f, and, RISING, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x4000002f, or, RISING, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x8000002f, min, ALL, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xa000002f, max, ALL, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xc000002f, minu, ORDERED, 8, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xe000002f, maxu, ORDERED, 8, 0, 0),
	OTHER(CAS, 0xf800707f, 0x2800102f, ALL, 0, 0), /* amocas */
	OPERATION(AMO, 0xf800707f, 0x0800102f, swap, RISING, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x0000102f, add, ADD, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x2000102f, xor, XOR, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x6000102f, and, RISING, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x4000102f, or, RISING, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0x8000102f, min, ALL, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xa000102f, max, ALL, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xc000102f, minu, ORDERED, 16, 0, 0),
	OPERATION(AMO, 0xf800707f, 0xe000102f, maxu, ORDERED, 16, 0, 0),
};

static const struct exec_row registers[] = {
	OPERATION(REGISTER, 0xfe00707f, 0x00000033, add, ADD, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x40000033, sub, SUBTRACT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x00001033, sll, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x00002033, slt, LESS, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x00003033, sltu, LESS, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x00004033, xor, XOR, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x00005033, srl, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x40005033, sra, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x00006033, or, RISING, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x00007033, and, RISING, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02000033, mul, MULTIPLY, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02001033, mulh, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02002033, mulhsu, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02003033, mulhu, ORDERED, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02004033, div, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02005033, divu, DIVIDE, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02006033, rem, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x02007033, remu, DIVIDE, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x40007033, andn, FALLING, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x40006033, orn, FALLING, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x40004033, xnor, XOR, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0a004033, min, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0a005033, minu, ORDERED, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0a006033, max, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0a007033, maxu, ORDERED, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x60001033, rol, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x60005033, ror, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x48001033, bclr, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x48005033, bext, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x68001033, binv, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x28001033, bset, SHIFT, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0a001033, clmul, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0a002033, clmulr, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0a003033, clmulh, ALL, 0, 0, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0e005033, zero_if, ZERO_IF, 0, 0, 0), /* czero.eqz */
	OPERATION(REGISTER, 0xfe00707f, 0x0e007033, zero_unless, ZERO_IF, 0, 0, 1), /* czero.nez */
	OTHER(REGISTER, 0xfe00707f, 0x20002033, ADD_SCALED, 0, 1), /* sh1add */
	OTHER(REGISTER, 0xfe00707f, 0x20004033, ADD_SCALED, 0, 2), /* sh2add */
	OTHER(REGISTER, 0xfe00707f, 0x20006033, ADD_SCALED, 0, 3), /* sh3add */
	OPERATION(REGISTER, 0xfff0707f, 0x08004033, zext_h, SHIFT, 0, 32, 0), /* zext.h */
};

static const struct exec_row registers_32[] = {
	OPERATION(REGISTER, 0xfe00707f, 0x0000003b, add, ADD, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x4000003b, sub, SUBTRACT, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0000103b, sll, SHIFT, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0000503b, srl, SHIFT, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x4000503b, sra, SHIFT, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0200003b, mul, MULTIPLY, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0200403b, div, ALL, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0200503b, divu, DIVIDE, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0200603b, rem, ALL, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x0200703b, remu, DIVIDE, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x6000103b, rol, SHIFT, 32, 64, 0),
	OPERATION(REGISTER, 0xfe00707f, 0x6000503b, ror, SHIFT, 32, 64, 0),
	OTHER(REGISTER, 0xfe00707f, 0x0800003b, ADD_SCALED, 64, 8), /* add.uw */
	OTHER(REGISTER, 0xfe00707f, 0x2000203b, ADD_SCALED, 64, 9), /* sh1add.uw */
	OTHER(REGISTER, 0xfe00707f, 0x2000403b, ADD_SCALED, 64, 10), /* sh2add.uw */
	OTHER(REGISTER, 0xfe00707f, 0x2000603b, ADD_SCALED, 64, 11), /* sh3add.uw */
	OPERATION(REGISTER, 0xfff0707f, 0x0800403b, zext_h, SHIFT, 0, 64, 0), /* zext.h */
};

static const struct exec_row fmadd[] = {
	OTHER(FLOAT, 0x0400007f, 0x00000043, ALL, 0, EXEC_FMADD),
};

static const struct exec_row fmsub[] = {
	OTHER(FLOAT, 0x0400007f, 0x00000047, ALL, 0, EXEC_FMSUB),
};

static const struct exec_row fnmsub[] = {
	OTHER(FLOAT, 0x0400007f, 0x0000004b, ALL, 0, EXEC_FNMSUB),
};

static const struct exec_row fnmadd[] = {
	OTHER(FLOAT, 0x0400007f, 0x0000004f, ALL, 0, EXEC_FNMADD),
};

static const struct exec_row floating[] = {
	OTHER(FLOAT, 0xfc00007f, 0x00000053, ALL, 0, EXEC_FADD), /* fadd */
	OTHER(FLOAT, 0xfc00007f, 0x08000053, ALL, 0, EXEC_FSUB), /* fsub */
	OTHER(FLOAT, 0xfc00007f, 0x10000053, ALL, 0, EXEC_FMUL), /* fmul */
	OTHER(FLOAT, 0xfc00007f, 0x18000053, ALL, 0, EXEC_FDIV), /* fdiv */
	OTHER(FLOAT, 0xfdf0007f, 0x58000053, ALL, 0, EXEC_FSQRT), /* fsqrt */
	OTHER(FLOAT, 0xfc00707f, 0x20000053, ALL, 0, EXEC_FSGNJ),
	OTHER(FLOAT, 0xfc00707f, 0x20001053, ALL, 0, EXEC_FSGNJN),
	OTHER(FLOAT, 0xfc00707f, 0x20002053, ALL, 0, EXEC_FSGNJX),
	OTHER(FLOAT, 0xfc00707f, 0x28000053, ALL, 0, EXEC_FMIN),
	OTHER(FLOAT, 0xfc00707f, 0x28001053, ALL, 0, EXEC_FMAX),
	OTHER(FLOAT, 0xfc00707f, 0x28002053, ALL, 0, EXEC_FMINM),
	OTHER(FLOAT, 0xfc00707f, 0x28003053, ALL, 0, EXEC_FMAXM),
	OTHER(FLOAT, 0xfc00707f, 0xa0000053, ALL, 0, EXEC_FLE),
	OTHER(FLOAT, 0xfc00707f, 0xa0001053, ALL, 0, EXEC_FLT),
	OTHER(FLOAT, 0xfc00707f, 0xa0002053, ALL, 0, EXEC_FEQ),
	OTHER(FLOAT, 0xfc00707f, 0xa0004053, ALL, 0, EXEC_FLEQ),
	OTHER(FLOAT, 0xfc00707f, 0xa0005053, ALL, 0, EXEC_FLTQ),
	OTHER(FLOAT, 0xfff0007f, 0x40100053, ALL, 0, EXEC_FCVT_FLOAT), /* fcvt.s.d */
	OTHER(FLOAT, 0xfff0007f, 0x42000053, ALL, 0, EXEC_FCVT_FLOAT), /* fcvt.d.s */
	OTHER(FLOAT, 0xfdf0007f, 0x40400053, ALL, 0, EXEC_FROUND),
	OTHER(FLOAT, 0xfdf0007f, 0x40500053, ALL, 0, EXEC_FROUNDNX),
	OTHER(FLOAT, 0xfdf0007f, 0xc0000053, ALL, 0, EXEC_FCVT_TO_INT), /* fcvt.w.f */
	OTHER(FLOAT, 0xfdf0007f, 0xc0100053, ALL, 0, EXEC_FCVT_TO_INT), /* fcvt.wu.f */
	OTHER(FLOAT, 0xfdf0007f, 0xc0200053, ALL, 64, EXEC_FCVT_TO_INT), /* fcvt.l.f */
	OTHER(FLOAT, 0xfdf0007f, 0xc0300053, ALL, 64, EXEC_FCVT_TO_INT), /* fcvt.lu.f */
	OTHER(FLOAT, 0xfff0707f, 0xc2801053, ALL, 0, EXEC_FCVTMOD), /* fcvtmod.w.d */
	OTHER(FLOAT, 0xfdf0007f, 0xd0000053, ALL, 0, EXEC_FCVT_FROM_INT), /* fcvt.f.w */
	OTHER(FLOAT, 0xfdf0007f, 0xd0100053, ALL, 0, EXEC_FCVT_FROM_INT), /* fcvt.f.wu */
	OTHER(FLOAT, 0xfdf0007f, 0xd0200053, ALL, 64, EXEC_FCVT_FROM_INT), /* fcvt.f.l */
	OTHER(FLOAT, 0xfdf0007f, 0xd0300053, ALL, 64, EXEC_FCVT_FROM_INT), /* fcvt.f.lu */
	OTHER(FLOAT, 0xfff0707f, 0xe0000053, ALL, 0, EXEC_FMV_TO_X), /* fmv.x.w */
	OTHER(FLOAT, 0xfff0707f, 0xe2000053, ALL, 64, EXEC_FMV_TO_X), /* fmv.x.d */
	OTHER(FLOAT, 0xfdf0707f, 0xe0001053, ALL, 0, EXEC_FCLASS), /* fclass */
	OTHER(FLOAT, 0xfff0707f, 0xe2100053, ALL, 32, EXEC_FMVH_TO_X), /* fmvh.x.d */
	OTHER(FLOAT, 0xfff0707f, 0xf0000053, ALL, 0, EXEC_FMV_FROM_X), /* fmv.w.x */
	OTHER(FLOAT, 0xfff0707f, 0xf2000053, ALL, 64, EXEC_FMV_FROM_X), /* fmv.d.x */
	OTHER(FLOAT, 0xfdf0707f, 0xf0100053, ALL, 0, EXEC_FLI), /* fli */
	OTHER(FLOAT, 0xfe00707f, 0xb2000053, ALL, 32, EXEC_FMVP_FROM_X), /* fmvp.d.x */
};

static const struct exec_row vector[] = {
	OTHER(VECTOR, 0x0000007f, 0x00000057, ALL, 0, 0),
};

static const struct exec_row system[] = {
	OTHER(NOP, 0xffffffff, 0x10500073, ALL, 0, 0), /* wfi */
	OTHER(NOP, 0xffffffff, 0x00d00073, ALL, 0, 0), /* wrs.nto */
	OTHER(NOP, 0xffffffff, 0x01d00073, ALL, 0, 0), /* wrs.sto */
	OTHER(NOP, 0xfe007fff, 0x12000073, ALL, 0, 0), /* sfence.vma */
	OTHER(NOP, 0xfe007fff, 0x16000073, ALL, 0, 0), /* sinval.vma */
	OTHER(NOP, 0xffffffff, 0x18000073, ALL, 0, 0), /* sfence.w.inval */
	OTHER(NOP, 0xffffffff, 0x18100073, ALL, 0, 0), /* sfence.inval.ir */
	OTHER(CSR, 0x0000707f, 0x00001073, ALL, 0, 1), /* csrrw */
	OTHER(CSR, 0x0000707f, 0x00002073, ALL, 0, 2), /* csrrs */
	OTHER(CSR, 0x0000707f, 0x00003073, ALL, 0, 3), /* csrrc */
	OTHER(CSR, 0x0000707f, 0x00005073, ALL, 0, 5), /* csrrwi */
	OTHER(CSR, 0x0000707f, 0x00006073, ALL, 0, 6), /* csrrsi */
	OTHER(CSR, 0x0000707f, 0x00007073, ALL, 0, 7), /* csrrci */
};

/* By bits 6 to 2 of the instruction. */
static const struct {
	const struct exec_row *rows;
	size_t count;
} opcodes[32] = {
	[0x03 >> 2] = { load, NUMBER(load) },
	[0x07 >> 2] = { load_float, NUMBER(load_float) },
	[0x0f >> 2] = { fence, NUMBER(fence) },
	[0x13 >> 2] = { immediate, NUMBER(immediate) },
	[0x1b >> 2] = { immediate_32, NUMBER(immediate_32) },
	[0x23 >> 2] = { store, NUMBER(store) },
	[0x27 >> 2] = { store_float, NUMBER(store_float) },
	[0x2f >> 2] = { atomic, NUMBER(atomic) },
	[0x33 >> 2] = { registers, NUMBER(registers) },
	[0x3b >> 2] = { registers_32, NUMBER(registers_32) },
	[0x43 >> 2] = { fmadd, NUMBER(fmadd) },
	[0x47 >> 2] = { fmsub, NUMBER(fmsub) },
	[0x4b >> 2] = { fnmsub, NUMBER(fnmsub) },
	[0x4f >> 2] = { fnmadd, NUMBER(fnmadd) },
	[0x53 >> 2] = { floating, NUMBER(floating) },
	[0x57 >> 2] = { vector, NUMBER(vector) },
	[0x73 >> 2] = { system, NUMBER(system) },
};

const struct exec_row *exec_find(uint32_t word, unsigned int xlen)
{
	const struct exec_row *row = opcodes[word >> 2 & 31].rows;

	for (size_t i = 0; i < opcodes[word >> 2 & 31].count; i++, row++)
		if ((word & row->mask) == row->match && (!row->xlen || row->xlen == xlen))
			return row;
	return NULL;
}
