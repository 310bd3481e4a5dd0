// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Integer operations, and what is certain of their results if some bytes of the operands are unknown.
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

uint64_t exec_known_bits(uint8_t known)
{
	uint64_t bits = known * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);

	/* Now byte n is 0, or has one bit. */
	return exec_orc_b(bits, 0, 64);
}

static struct ntrace_exec_value bytes_of(uint64_t bits, uint64_t mask)
{
	struct ntrace_exec_value value = { bits, 0xff };

	if (mask == UINT64_MAX)
		return value;
	value = (struct ntrace_exec_value){ 0, 0 };
	for (unsigned int i = 0; i < 8; i++)
		if ((mask >> 8 * i & 0xff) == 0xff) {
			value.known |= (uint8_t)(1u << i);
			value.bits |= bits & UINT64_C(0xff) << 8 * i;
		}
	return value;
}

/* @carry: 1 adds ~b + 1 */
static struct ntrace_exec_value add(uint64_t a, uint64_t a_mask, uint64_t b, uint64_t b_mask,
				    unsigned int carry)
{
	uint64_t least = a + b + carry, a_most = a | ~a_mask, b_most = b | ~b_mask;
	uint64_t most = a_most + b_most + carry;
	/* The carries into each bit are the same for the lowest and the highest operands. */
	uint64_t carries = (least ^ a ^ b) ^ (most ^ a_most ^ b_most);

	return bytes_of(least, a_mask & b_mask & ~carries);
}

static struct ntrace_exec_value zero_if(const struct exec_insn *insn, struct ntrace_exec_value a,
					struct ntrace_exec_value b, uint8_t full)
{
	struct ntrace_exec_value zero = { 0, 0xff };

	if (b.bits & exec_known_bits(full))
		return insn->arg ? zero : a;
	if ((b.known & full) == full)
		return insn->arg ? a : zero;
	/* Either the first operand or 0: the same if its byte is 0. */
	zero.known = 0;
	for (unsigned int i = 0; i < 8; i++)
		if ((a.known >> i & 1) && !(a.bits >> 8 * i & 0xff))
			zero.known |= (uint8_t)(1u << i);
	return zero;
}

static struct ntrace_exec_value partly_known(const struct exec_insn *insn,
					     struct ntrace_exec_value a, struct ntrace_exec_value b,
					     uint8_t full)
{
	uint64_t a_mask = exec_known_bits(a.known), b_mask = exec_known_bits(b.known), low, high;
	uint8_t both = a.known & b.known;
	unsigned int shift = insn->arg & 7;
	struct ntrace_exec_value nothing = { 0, 0 };

	switch (insn->rule) {
	case EXEC_RULE_SMALL:
		nothing.known = 0xfe;
		return nothing;
	case EXEC_RULE_ADD:
		return add(a.bits, a_mask, b.bits, b_mask, 0);
	case EXEC_RULE_SUBTRACT:
		return add(a.bits, a_mask, ~b.bits & b_mask, b_mask, 1);
	case EXEC_RULE_ADD_SCALED:
		if (insn->arg & 8) {
			a.bits = (uint32_t)a.bits;
			a_mask |= ~(uint64_t)UINT32_MAX;
		}
		a_mask = ~(~a_mask << shift);
		return add(a.bits << shift, a_mask, b.bits, b_mask, 0);
	case EXEC_RULE_LOW:
		if (((a.known & full) == full && !(a.bits & exec_known_bits(full))) ||
		    ((b.known & full) == full && !(b.bits & exec_known_bits(full)))) {
			nothing.known = 0xff;
			return nothing;
		}
		/* The known bytes below the first unknown one. */
		both = (uint8_t)(both & ~(both + 1u));
		return bytes_of(insn->operate(a.bits, b.bits, insn->bits), exec_known_bits(both));
	case EXEC_RULE_XOR:
		return bytes_of(insn->operate(a.bits, b.bits, insn->bits), a_mask & b_mask);
	case EXEC_RULE_SHIFT:
		if (!(b.known & 1))
			return nothing;
		b.bits &= 0xff;
		b_mask = UINT64_MAX;
		break;
	case EXEC_RULE_RISING:
		break;
	case EXEC_RULE_FALLING:
		low = insn->operate(a.bits, b.bits | ~b_mask, insn->bits);
		high = insn->operate(a.bits | ~a_mask, b.bits, insn->bits);
		return bytes_of(low, ~(low ^ high));
	case EXEC_RULE_ZERO_IF:
		return zero_if(insn, a, b, full);
	default:
		return nothing;
	}
	low = insn->operate(a.bits, b.bits, insn->bits);
	high = insn->operate(a.bits | ~a_mask, b.bits | ~b_mask, insn->bits);
	return bytes_of(low, ~(low ^ high));
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
	uint8_t full = (uint8_t)(0xff >> (8 - insn->bits / 8));
	struct ntrace_exec_value result = { 0, 0xff };

	if ((a.known & b.known & full) == full && insn->rule != EXEC_RULE_ADD_SCALED)
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
	value.known &= (uint8_t)((1u << bytes) - 1);
	value.bits = low(value.bits, bits);
	if (with_zero) {
		value.known |= (uint8_t)(0xff << bytes);
	} else if (value.known >> (bytes - 1) & 1) {
		value.known |= (uint8_t)(0xff << bytes);
		value.bits = (uint64_t)high(value.bits, bits);
	}
	return value;
}

int exec_branch(unsigned int funct3, struct ntrace_exec_value a, struct ntrace_exec_value b,
		unsigned int bits, bool same)
{
	uint8_t full = bits == 32 ? 0x0f : 0xff;
	uint64_t mask = exec_known_bits(a.known & b.known & full);
	bool invert = funct3 & 1;

	if (same)
		return (funct3 < 4) != invert;
	if (funct3 < 4 && ((a.bits ^ b.bits) & mask))
		return invert;
	if ((a.known & b.known & full) != full)
		return -1;
	if (funct3 < 4)
		return !invert;
	return (funct3 & 2 ? exec_sltu(a.bits, b.bits, bits) : exec_slt(a.bits, b.bits, bits)) !=
	       invert;
}
