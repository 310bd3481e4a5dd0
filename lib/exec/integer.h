/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Integer operations of the table, and how they are applied to values that are partly unknown. */
#ifndef NTRACE_EXEC_INTEGER_H
#define NTRACE_EXEC_INTEGER_H

#include <ntrace/exec.h>

#include "decode.h"

/** exec_operate - rd of an instruction with an operation; @same: both operands are one register */
struct ntrace_exec_value exec_operate(const struct exec_insn *insn, struct ntrace_exec_value a,
				      struct ntrace_exec_value b, bool same);

/** exec_extend - the low @bytes bytes of a value, extended with zeros or by the sign */
struct ntrace_exec_value exec_extend(struct ntrace_exec_value value, unsigned int bytes,
				     bool with_zero);

/** exec_branch - Return: whether a branch is taken, -1 if that is not certain */
int exec_branch(unsigned int funct3, struct ntrace_exec_value a, struct ntrace_exec_value b,
		unsigned int bits, bool same);

/** exec_bits_of - the bits of some of 8 bytes; @bytes: bit n: byte n */
uint64_t exec_bits_of(uint8_t bytes);

/** exec_low_bits - the bits of the lowest @bytes bytes, of 1 to 8 */
static inline uint64_t exec_low_bits(unsigned int bytes)
{
	return UINT64_MAX >> (64 - 8 * bytes);
}

/** exec_common_bits - bits that are the same in all numbers from @least to @most */
static inline uint64_t exec_common_bits(uint64_t least, uint64_t most)
{
	return least == most ? UINT64_MAX :
			       ~(UINT64_MAX >> (unsigned int)__builtin_clzll(least ^ most));
}

/* Operations: garbage above @bits bits of the operands does not change the low bits of the result. */
uint64_t exec_add(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_sub(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_and(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_or(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_xor(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_andn(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_orn(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_xnor(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_swap(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_slt(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_sltu(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_min(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_max(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_minu(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_maxu(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_sll(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_srl(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_sra(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_rol(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_ror(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_slli_uw(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_bclr(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_bset(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_binv(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_bext(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_sext_b(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_sext_h(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_zext_h(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_rev8(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_orc_b(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_clz(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_ctz(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_cpop(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_mul(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_mulhu(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_mulh(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_mulhsu(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_div(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_divu(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_rem(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_remu(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_clmul(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_clmulr(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_clmulh(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_zero_if(uint64_t a, uint64_t b, unsigned int bits);
uint64_t exec_zero_unless(uint64_t a, uint64_t b, unsigned int bits);

#endif /* NTRACE_EXEC_INTEGER_H */
