/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Instructions as the executor sees them. table.c has the one table of what instructions mean;
 * control transfers come from lib/isa, and compressed instructions are those that they stand for.
 */
#ifndef NTRACE_EXEC_DECODE_H
#define NTRACE_EXEC_DECODE_H

#include <ntrace/isa.h>

enum exec_kind {
	EXEC_UNSUPPORTED,
	EXEC_NOP,
	EXEC_REGISTER,		/* rd = operate(rs1, rs2) */
	EXEC_IMMEDIATE,		/* rd = operate(rs1, imm) */
	EXEC_UPPER,		/* rd = imm */
	EXEC_UPPER_PC,		/* rd = pc + imm */
	EXEC_JUMP,
	EXEC_JUMP_REGISTER,
	EXEC_BRANCH,		/* @arg: funct3 */
	EXEC_LOAD,		/* @bytes, @zero_extend */
	EXEC_STORE,
	EXEC_LOAD_FLOAT,
	EXEC_STORE_FLOAT,
	EXEC_LR,
	EXEC_SC,
	EXEC_AMO,		/* memory = operate(memory, rs2) */
	EXEC_CAS,
	EXEC_TRAP,
	EXEC_TRAP_RETURN,
	EXEC_CSR,		/* imm: number, @arg: funct3 */
	EXEC_FLOAT,		/* @arg: enum exec_float */
	EXEC_BLOCK_ZERO,
	EXEC_VECTOR,		/* configuration and arithmetic */
	EXEC_VECTOR_LOAD,
	EXEC_VECTOR_STORE,
	EXEC_PUSH,		/* @registers, @imm: the change of sp */
	EXEC_POP,		/* @arg: enum exec_pop */
	EXEC_MOVE_PAIR,		/* Zcmp: rd = x10, rs3 = x11 with @arg 0; x10 = rs1, x11 = rs2 with 1 */
};

/* After the loads of a pop. */
enum exec_pop { EXEC_POP_ONLY, EXEC_POP_RETURN, EXEC_POP_RETURN_ZERO };

/*
 * What is known of a result if some bits of the operands are unknown. A result between two numbers has the
 * upper bits that both have.
 */
enum exec_rule {
	EXEC_RULE_ALL,		/* nothing */
	EXEC_RULE_ADD,		/* below the first carry that is not certain */
	EXEC_RULE_SUBTRACT,
	EXEC_RULE_MULTIPLY,	/* below the first unknown bit; ORDERED, if nothing overflows */
	EXEC_RULE_DIVIDE,	/* unsigned quotient or remainder: between bounds */
	EXEC_RULE_LESS,		/* between those of the highest first operand and of the lowest one */
	EXEC_RULE_ORDERED,	/* unsigned: between those of the lowest and of the highest operands */
	EXEC_RULE_REVERSED,	/* of one operand: between those of the highest and of the lowest one */
	EXEC_RULE_XOR,		/* bits that both operands have */
	EXEC_RULE_RISING,	/* bits that are the same for the lowest and the highest operands */
	EXEC_RULE_FALLING,	/* the same, for the highest second operand with the lowest first */
	EXEC_RULE_SHIFT,	/* RISING in the first operand, if it is known by how much */
	EXEC_RULE_ADD_SCALED,	/* rs2 + (rs1 << (arg & 7)), rs1 cut to 32 bits with arg & 8 */
	EXEC_RULE_ZERO_IF,	/* 0 if the second operand is zero (@arg 0) or is not (1), else the first */
};

enum exec_float {
	EXEC_FADD,
	EXEC_FSUB,
	EXEC_FMUL,
	EXEC_FDIV,
	EXEC_FSQRT,
	EXEC_FMADD,
	EXEC_FMSUB,
	EXEC_FNMSUB,
	EXEC_FNMADD,
	EXEC_FSGNJ,
	EXEC_FSGNJN,
	EXEC_FSGNJX,
	EXEC_FMIN,
	EXEC_FMAX,
	EXEC_FMINM,
	EXEC_FMAXM,
	EXEC_FLE,
	EXEC_FLT,
	EXEC_FEQ,
	EXEC_FLEQ,
	EXEC_FLTQ,
	EXEC_FCLASS,
	EXEC_FCVT_TO_INT,	/* to 32, u32, 64, u64 by rs2 */
	EXEC_FCVT_FROM_INT,
	EXEC_FCVT_FLOAT,	/* to the format of the instruction, from the other one */
	EXEC_FROUND,
	EXEC_FROUNDNX,
	EXEC_FCVTMOD,
	EXEC_FMV_TO_X,
	EXEC_FMV_FROM_X,
	EXEC_FMVH_TO_X,
	EXEC_FMVP_FROM_X,
	EXEC_FLI,		/* immediate number rs1 */
};

typedef uint64_t (*exec_operation)(uint64_t a, uint64_t b, unsigned int bits);

/**
 * struct exec_row - instructions of the table
 * @mask: bits of the instruction that decide
 * @match: their values
 * @operate: operation on @bits bits; garbage above them in operands and result is ignored
 * @kind: enum exec_kind
 * @rule: enum exec_rule
 * @bits: width of the operation, 0 = XLEN
 * @xlen: 0, or the only XLEN that has the instruction
 * @arg: see @kind
 */
struct exec_row {
	uint32_t mask, match;
	exec_operation operate;
	uint8_t kind, rule, bits, xlen, arg;
};

/**
 * struct exec_insn - one decoded instruction
 * @operate: of the row
 * @word: the instruction
 * @imm: immediate, offset or number of a CSR
 * @registers: push and pop: bit n: xn
 * @bits: width of the operation
 * @rm: rounding mode of the encoding
 * @zero_extend: the loaded value is zero-extended
 * @bytes: of the memory access of one register, 0: none, or not told by the encoding; of the format of
 *         floating point
 * @size: length in bytes
 *
 * The other fields are those of the row, and the registers of the encoding.
 */
struct exec_insn {
	exec_operation operate;
	uint32_t word;
	int32_t imm;
	uint32_t registers;
	uint8_t kind, rule, bits, arg;
	uint8_t rd, rs1, rs2, rs3;
	uint8_t size, bytes, rm;
	bool zero_extend;
};

/** exec_decode - decode an instruction; an unknown one has kind EXEC_UNSUPPORTED */
void exec_decode(const struct ntrace_isa *isa, unsigned int flen, uint32_t word,
		 struct exec_insn *insn);

/** exec_is_sequential - whether an instruction that raises no exception continues with the next one */
bool exec_is_sequential(const struct exec_insn *insn);

/** exec_is_base - whether an instruction, or what a compressed one stands for, is of RV32I or RV64I */
bool exec_is_base(const struct exec_insn *insn);

/** exec_can_raise - whether an instruction of its kind can raise exception @cause; all above 23 can be */
bool exec_can_raise(const struct exec_insn *insn, uint64_t cause);

/** exec_expand - the instruction of 32 bits that a compressed one stands for, 0 = none */
uint32_t exec_expand(uint32_t half, unsigned int xlen);

/** exec_find - the row of an instruction of 32 bits, or NULL */
const struct exec_row *exec_find(uint32_t word, unsigned int xlen);

/* Bits @high to @low of @word. */
static inline uint32_t exec_bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

#endif /* NTRACE_EXEC_DECODE_H */
