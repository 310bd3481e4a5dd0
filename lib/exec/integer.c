// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Integer operations, and what is certain of their results if some bits of the operands are unknown.
 *
 * An operation is a plain function of two numbers. The rules evaluate it for the lowest and the highest
 * operands that are possible, so that there is one meaning of each operation. Each rule is monotone: an
 * operand of which less is known never gives a result of which more is known.
 */
#include "integer.h"

static uint64_t low(uint64_t a, unsigned int bits)
{
	return bits == 64 ? a : a & ((UINT64_C(1) << bits) - 1);
}

static int64_t high(uint64_t a, unsigned int bits)
{
	return (int64_t)(a << (64 - bits)) >> (64 - bits);
}

uint64_t exec_add(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a + b;
}

uint64_t exec_sub(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a - b;
}

uint64_t exec_and(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a & b;
}

uint64_t exec_or(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a | b;
}

uint64_t exec_xor(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a ^ b;
}

uint64_t exec_andn(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a & ~b;
}

uint64_t exec_orn(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a | ~b;
}

uint64_t exec_xnor(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return ~(a ^ b);
}

uint64_t exec_swap(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)a;
	(void)bits;
	return b;
}

uint64_t exec_slt(uint64_t a, uint64_t b, unsigned int bits)
{
	return high(a, bits) < high(b, bits);
}

uint64_t exec_sltu(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(a, bits) < low(b, bits);
}

uint64_t exec_min(uint64_t a, uint64_t b, unsigned int bits)
{
	return high(a, bits) < high(b, bits) ? a : b;
}

uint64_t exec_max(uint64_t a, uint64_t b, unsigned int bits)
{
	return high(a, bits) < high(b, bits) ? b : a;
}

uint64_t exec_minu(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(a, bits) < low(b, bits) ? a : b;
}

uint64_t exec_maxu(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(a, bits) < low(b, bits) ? b : a;
}

uint64_t exec_sll(uint64_t a, uint64_t b, unsigned int bits)
{
	return a << (b & (bits - 1));
}

uint64_t exec_srl(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(a, bits) >> (b & (bits - 1));
}

uint64_t exec_sra(uint64_t a, uint64_t b, unsigned int bits)
{
	return (uint64_t)(high(a, bits) >> (b & (bits - 1)));
}

uint64_t exec_rol(uint64_t a, uint64_t b, unsigned int bits)
{
	return exec_sll(a, b, bits) | exec_srl(a, bits - (b & (bits - 1)), bits);
}

uint64_t exec_ror(uint64_t a, uint64_t b, unsigned int bits)
{
	return exec_srl(a, b, bits) | exec_sll(a, bits - (b & (bits - 1)), bits);
}

uint64_t exec_slli_uw(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(a, 32) << (b & (bits - 1));
}

uint64_t exec_bclr(uint64_t a, uint64_t b, unsigned int bits)
{
	return a & ~(UINT64_C(1) << (b & (bits - 1)));
}

uint64_t exec_bset(uint64_t a, uint64_t b, unsigned int bits)
{
	return a | UINT64_C(1) << (b & (bits - 1));
}

uint64_t exec_binv(uint64_t a, uint64_t b, unsigned int bits)
{
	return a ^ UINT64_C(1) << (b & (bits - 1));
}

uint64_t exec_bext(uint64_t a, uint64_t b, unsigned int bits)
{
	return a >> (b & (bits - 1)) & 1;
}

/* Operations of one operand: shifts by 0, for the rules. */

uint64_t exec_sext_b(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	(void)bits;
	return (uint64_t)high(a, 8);
}

uint64_t exec_sext_h(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	(void)bits;
	return (uint64_t)high(a, 16);
}

uint64_t exec_zext_h(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	(void)bits;
	return low(a, 16);
}

uint64_t exec_rev8(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	return __builtin_bswap64(a) >> (64 - bits);
}

uint64_t exec_orc_b(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	(void)bits;
	a |= a >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f);
	a |= a >> 2 & UINT64_C(0x3333333333333333);
	a |= a >> 1 & UINT64_C(0x5555555555555555);
	return (a & UINT64_C(0x0101010101010101)) * 0xff;
}

uint64_t exec_clz(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	a = low(a, bits);
	return a ? (unsigned int)__builtin_clzll(a) - (64 - bits) : bits;
}

uint64_t exec_ctz(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	a = low(a, bits);
	return a ? (unsigned int)__builtin_ctzll(a) : bits;
}

uint64_t exec_cpop(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)b;
	return (unsigned int)__builtin_popcountll(low(a, bits));
}

/* ---- multiplication and division ---- */

uint64_t exec_mul(uint64_t a, uint64_t b, unsigned int bits)
{
	(void)bits;
	return a * b;
}

/* The upper 64 bits of the product of two unsigned numbers. */
static uint64_t upper_product(uint64_t a, uint64_t b)
{
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	uint64_t other = a0 * b1 + (uint32_t)middle;

	return a1 * b1 + (middle >> 32) + (other >> 32);
}

uint64_t exec_mulhu(uint64_t a, uint64_t b, unsigned int bits)
{
	if (bits == 32)
		return low(a, 32) * low(b, 32) >> 32;
	return upper_product(a, b);
}

uint64_t exec_mulh(uint64_t a, uint64_t b, unsigned int bits)
{
	if (bits == 32)
		return (uint64_t)(high(a, 32) * high(b, 32)) >> 32;
	return upper_product(a, b) - ((int64_t)a < 0 ? b : 0) - ((int64_t)b < 0 ? a : 0);
}

uint64_t exec_mulhsu(uint64_t a, uint64_t b, unsigned int bits)
{
	if (bits == 32)
		return ((uint64_t)high(a, 32) * low(b, 32)) >> 32;
	return upper_product(a, b) - ((int64_t)a < 0 ? b : 0);
}

uint64_t exec_div(uint64_t a, uint64_t b, unsigned int bits)
{
	int64_t dividend = high(a, bits), divisor = high(b, bits);

	if (!divisor)
		return UINT64_MAX;
	return divisor == -1 ? 0 - (uint64_t)dividend : (uint64_t)(dividend / divisor);
}

uint64_t exec_divu(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(b, bits) ? low(a, bits) / low(b, bits) : UINT64_MAX;
}

uint64_t exec_rem(uint64_t a, uint64_t b, unsigned int bits)
{
	int64_t dividend = high(a, bits), divisor = high(b, bits);

	if (!divisor)
		return (uint64_t)dividend;
	return divisor == -1 ? 0 : (uint64_t)(dividend % divisor);
}

uint64_t exec_remu(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(b, bits) ? low(a, bits) % low(b, bits) : low(a, bits);
}

uint64_t exec_clmul(uint64_t a, uint64_t b, unsigned int bits)
{
	uint64_t result = 0;

	for (unsigned int i = 0; i < bits; i++)
		result ^= b >> i & 1 ? a << i : 0;
	return result;
}

uint64_t exec_clmulr(uint64_t a, uint64_t b, unsigned int bits)
{
	uint64_t result = 0;

	a = low(a, bits);
	for (unsigned int i = 0; i < bits; i++)
		result ^= b >> i & 1 ? a >> (bits - 1 - i) : 0;
	return result;
}

uint64_t exec_clmulh(uint64_t a, uint64_t b, unsigned int bits)
{
	return exec_clmulr(a, b, bits) >> 1;
}

uint64_t exec_zero_if(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(b, bits) ? a : 0;
}

uint64_t exec_zero_unless(uint64_t a, uint64_t b, unsigned int bits)
{
	return low(b, bits) ? 0 : a;
}

/* ---- what is known ---- */

uint64_t exec_bits_of(uint8_t bytes)
{
	uint64_t bits = bytes * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);

	/* Now byte n is 0, or has one bit. */
	return exec_orc_b(bits, 0, 64);
}

static struct ntrace_exec_value value_of(uint64_t bits, uint64_t known)
{
	return (struct ntrace_exec_value){ bits & known, known };
}

/* @carry: 1 adds ~b + 1 */
static struct ntrace_exec_value add(struct ntrace_exec_value a, struct ntrace_exec_value b,
				    unsigned int carry)
{
	uint64_t least = a.bits + b.bits + carry, a_most = a.bits | ~a.known;
	uint64_t b_most = b.bits | ~b.known, most = a_most + b_most + carry;
	/* The carries into each bit are the same for the lowest and the highest operands. */
	uint64_t carries = (least ^ a.bits ^ b.bits) ^ (most ^ a_most ^ b_most);

	return value_of(least, a.known & b.known & ~carries);
}

static struct ntrace_exec_value zero_if(const struct exec_insn *insn, struct ntrace_exec_value a,
					struct ntrace_exec_value b, uint64_t full)
{
	if (b.bits & full)
		return insn->arg ? value_of(0, UINT64_MAX) : a;
	if (!(~b.known & full))
		return insn->arg ? a : value_of(0, UINT64_MAX);
	/* Either the first operand or 0. */
	return value_of(0, a.known & ~a.bits);
}

/* Operands as unsigned numbers of the operation's width, from the lowest to the highest ones. */
struct range {
	uint64_t a, a_most, b, b_most;
};

/* What all results have from that of @a and @b, the lowest one, to that of @a_most and @b_most, the highest one. */
static struct ntrace_exec_value between(const struct exec_insn *insn, uint64_t a, uint64_t b,
					uint64_t a_most, uint64_t b_most)
{
	uint64_t least = low(insn->operate(a, b, insn->bits), insn->bits);
	uint64_t most = low(insn->operate(a_most, b_most, insn->bits), insn->bits);

	return value_of(least, exec_common_bits(least, most));
}

/* The bits below the first unknown one, zeros at the end of both operands, and the upper bits of small products. */
static struct ntrace_exec_value multiply(const struct exec_insn *insn, struct ntrace_exec_value a,
					 struct ntrace_exec_value b, const struct range *range)
{
	uint64_t both = a.known & b.known, a_zeros = a.known & ~a.bits, b_zeros = b.known & ~b.bits;
	struct ntrace_exec_value product = value_of(a.bits * b.bits, both & ~(both + 1)), upper;
	unsigned int zeros =
		(unsigned int)exec_ctz(~a_zeros, 0, 64) + (unsigned int)exec_ctz(~b_zeros, 0, 64);

	product.known |= zeros < 64 ? (UINT64_C(1) << zeros) - 1 : UINT64_MAX;
	if (upper_product(range->a_most, range->b_most) ||
	    low(range->a_most * range->b_most, insn->bits) != range->a_most * range->b_most)
		return product;
	upper = between(insn, range->a, range->b, range->a_most, range->b_most);
	return value_of(product.bits | upper.bits, product.known | upper.known);
}

static struct ntrace_exec_value divide(const struct exec_insn *insn, const struct range *range)
{
	if (!range->b)
		return value_of(0, 0);
	if (insn->operate == exec_divu)
		return between(insn, range->a, range->b_most, range->a_most, range->b);
	/* A remainder is below the divisor, and not above the dividend. */
	return value_of(0, exec_common_bits(0, range->a_most < range->b_most ? range->a_most :
									       range->b_most - 1));
}

/* Of slt with unknown signs: the lowest numbers are negative. */
static void order_signed(const struct exec_insn *insn, struct range *range)
{
	uint64_t sign = UINT64_C(1) << (insn->bits - 1);

	if ((range->a ^ range->a_most) & sign) {
		range->a |= sign;
		range->a_most &= ~sign;
	}
	if ((range->b ^ range->b_most) & sign) {
		range->b |= sign;
		range->b_most &= ~sign;
	}
}

static struct ntrace_exec_value partly_known(const struct exec_insn *insn,
					     struct ntrace_exec_value a, struct ntrace_exec_value b,
					     uint64_t full)
{
	struct range range = { a.bits & full, (a.bits | ~a.known) & full, b.bits & full,
			       (b.bits | ~b.known) & full };
	unsigned int shift = insn->arg & 7;
	uint64_t least, most;

	switch (insn->rule) {
	case EXEC_RULE_ADD:
		return add(a, b, 0);
	case EXEC_RULE_SUBTRACT:
		b.bits = ~b.bits & b.known;
		return add(a, b, 1);
	case EXEC_RULE_ADD_SCALED:
		if (insn->arg & 8) {
			a.bits = (uint32_t)a.bits;
			a.known |= ~(uint64_t)UINT32_MAX;
		}
		a.bits <<= shift;
		a.known = ~(~a.known << shift);
		return add(a, b, 0);
	case EXEC_RULE_LESS:
		if (insn->operate == exec_slt)
			order_signed(insn, &range);
		return between(insn, range.a_most, range.b, range.a, range.b_most);
	case EXEC_RULE_ORDERED:
		return between(insn, range.a, range.b, range.a_most, range.b_most);
	case EXEC_RULE_REVERSED:
		return between(insn, range.a_most, 0, range.a, 0);
	case EXEC_RULE_MULTIPLY:
		return multiply(insn, a, b, &range);
	case EXEC_RULE_DIVIDE:
		return divide(insn, &range);
	case EXEC_RULE_XOR:
		return value_of(insn->operate(a.bits, b.bits, insn->bits), a.known & b.known);
	case EXEC_RULE_SHIFT:
		/* By a known number. */
		if (~b.known & (insn->bits - 1u))
			return value_of(0, 0);
		b.bits &= insn->bits - 1u;
		b.known = UINT64_MAX;
		break;
	case EXEC_RULE_RISING:
		break;
	case EXEC_RULE_FALLING:
		least = insn->operate(a.bits, b.bits | ~b.known, insn->bits);
		most = insn->operate(a.bits | ~a.known, b.bits, insn->bits);
		return value_of(least, ~(least ^ most));
	case EXEC_RULE_ZERO_IF:
		return zero_if(insn, a, b, full);
	default:
		return value_of(0, 0);
	}
	least = insn->operate(a.bits, b.bits, insn->bits);
	most = insn->operate(a.bits | ~a.known, b.bits | ~b.known, insn->bits);
	return value_of(least, ~(least ^ most));
}

/* Of the same register twice, whatever it is. */
static bool is_constant(const struct exec_insn *insn, uint64_t *result)
{
	if (insn->operate != exec_xor && insn->operate != exec_sub && insn->operate != exec_slt &&
	    insn->operate != exec_sltu && insn->operate != exec_andn)
		return false;
	*result = 0;
	return true;
}

struct ntrace_exec_value exec_operate(const struct exec_insn *insn, struct ntrace_exec_value a,
				      struct ntrace_exec_value b, bool same)
{
	uint64_t full = exec_low_bits(insn->bits / 8);
	struct ntrace_exec_value result = { 0, UINT64_MAX };

	if (!(~(a.known & b.known) & full) && insn->rule != EXEC_RULE_ADD_SCALED)
		result.bits = insn->operate(a.bits, b.bits, insn->bits);
	else if (!same || !is_constant(insn, &result.bits))
		result = partly_known(insn, a, b, full);
	return exec_extend(result, insn->bits / 8, false);
}

struct ntrace_exec_value exec_extend(struct ntrace_exec_value value, unsigned int bytes,
				     bool with_zero)
{
	unsigned int bits = 8 * bytes;

	if (bytes == 8)
		return value;
	value.bits = low(value.bits, bits);
	value.known = low(value.known, bits);
	if (with_zero) {
		value.known |= UINT64_MAX << bits;
	} else {
		value.known = (uint64_t)high(value.known, bits);
		value.bits = (uint64_t)high(value.bits, bits);
	}
	return value;
}

int exec_branch(unsigned int funct3, struct ntrace_exec_value a, struct ntrace_exec_value b,
		unsigned int bits, bool same)
{
	const struct exec_insn less = { .operate = funct3 & 2 ? exec_sltu : exec_slt,
					.rule = EXEC_RULE_LESS,
					.bits = (uint8_t)bits };
	uint64_t full = exec_low_bits(bits / 8), both = a.known & b.known & full;
	bool invert = funct3 & 1;
	struct ntrace_exec_value result;

	if (same)
		return (funct3 < 4) != invert;
	if (funct3 < 4 && ((a.bits ^ b.bits) & both))
		return invert;
	if (funct3 < 4)
		return both == full ? !invert : -1;
	result = exec_operate(&less, a, b, false);
	return result.known & 1 ? (result.bits & 1) != invert : -1;
}
