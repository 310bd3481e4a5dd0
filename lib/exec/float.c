// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Floating point by the host's unit, with the rounding mode of the instruction and the host's exception
 * flags, which IEEE 754 defines bit by bit. What IEEE 754 leaves open is done here: the NaN of a result
 * (canonical), minimum and maximum, integers out of range, and infinity times zero plus a NaN.
 *
 * No host rounds to the nearest with ties to max magnitude (RMM). Single precision is then computed with
 * double precision, rounded to odd, so that the second rounding sees what the first one has cut off (53
 * bits are enough for 24: Boldo, Melquiond, "Emulation of FMA and correctly rounded sums"). With double
 * precision, the result is that of RNE, or its neighbour if the exact error is half a unit: of a sum by
 * Knuth's TwoSum, of a product by a fused one; quotients and square roots have no ties. Not certain are
 * fused operations and tiny products and quotients, if they are inexact.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "float.h"

#define NAN_32 0x7fc00000u
#define NAN_64 UINT64_C(0x7ff8000000000000)

/* Hosts that detect tininess after rounding, as RISC-V does. */
#if defined(__x86_64__) || defined(__i386__) || defined(__riscv)
#define TINY_AFTER_ROUNDING true
#else
#define TINY_AFTER_ROUNDING false
#endif

static double to_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64_t from_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float to_float(uint64_t bits)
{
	uint32_t word = (uint32_t)bits;
	float value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

static uint32_t from_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* ---- classification, without the host's unit: it would raise exceptions ---- */

static bool is_nan(uint64_t bits, unsigned int bytes)
{
	return bytes == 8 ? (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000) :
			    (bits & INT32_MAX) > 0x7f800000;
}

static bool is_signaling(uint64_t bits, unsigned int bytes)
{
	return is_nan(bits, bytes) && !(bits >> (bytes == 8 ? 51 : 22) & 1);
}

static bool is_infinite(uint64_t bits, unsigned int bytes)
{
	return bytes == 8 ? (bits & INT64_MAX) == UINT64_C(0x7ff0000000000000) :
			    (bits & INT32_MAX) == 0x7f800000;
}

static bool is_zero(uint64_t bits, unsigned int bytes)
{
	return !(bits & (bytes == 8 ? INT64_MAX : INT32_MAX));
}

static bool is_negative(uint64_t bits, unsigned int bytes)
{
	return bits >> (8 * bytes - 1) & 1;
}

static uint64_t nan_of(unsigned int bytes)
{
	return bytes == 8 ? NAN_64 : NAN_32;
}

static uint64_t class_of(uint64_t bits, unsigned int bytes)
{
	uint64_t exponent = bytes == 8 ? bits >> 52 & 0x7ff : bits >> 23 & 0xff;
	bool negative = is_negative(bits, bytes);

	if (is_nan(bits, bytes))
		return is_signaling(bits, bytes) ? 1 << 8 : 1 << 9;
	if (is_infinite(bits, bytes))
		return negative ? 1 << 0 : 1 << 7;
	if (is_zero(bits, bytes))
		return negative ? 1 << 3 : 1 << 4;
	if (!exponent)
		return negative ? 1 << 2 : 1 << 5;
	return negative ? 1 << 1 : 1 << 6;
}

/* ---- the host's unit ---- */

static void begin(fenv_t *saved, unsigned int mode)
{
	static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD,
				     FE_TONEAREST };

	feholdexcept(saved);
	fesetround(modes[mode]);
}

static unsigned int end(const fenv_t *saved)
{
	int raised = fetestexcept(FE_ALL_EXCEPT);

	fesetenv(saved);
	return (raised & FE_INEXACT ? EXEC_NX : 0) | (raised & FE_UNDERFLOW ? EXEC_UF : 0) |
	       (raised & FE_OVERFLOW ? EXEC_OF : 0) | (raised & FE_DIVBYZERO ? EXEC_DZ : 0) |
	       (raised & FE_INVALID ? EXEC_NV : 0);
}

/* The signs of fmadd, fmsub, fnmsub, fnmadd: negated product, negated addend. */
static void negate(unsigned int operation, uint64_t *operands, uint64_t sign)
{
	if (operation == EXEC_FNMSUB || operation == EXEC_FNMADD)
		operands[0] ^= sign;
	if (operation == EXEC_FMSUB || operation == EXEC_FNMADD)
		operands[2] ^= sign;
}

/* volatile: the compiler knows nothing of rounding modes. */
static double compute_double(unsigned int operation, const uint64_t *operands)
{
	volatile double a = to_double(operands[0]), b = to_double(operands[1]), result;

	switch (operation) {
	case EXEC_FADD:
		result = a + b;
		break;
	case EXEC_FSUB:
		result = a - b;
		break;
	case EXEC_FMUL:
		result = a * b;
		break;
	case EXEC_FDIV:
		result = a / b;
		break;
	case EXEC_FSQRT:
		result = sqrt(a);
		break;
	default:
		result = fma(a, b, to_double(operands[2]));
		break;
	}
	return result;
}

static float compute_float(unsigned int operation, const uint64_t *operands)
{
	volatile float a = to_float(operands[0]), b = to_float(operands[1]), result;

	switch (operation) {
	case EXEC_FADD:
		result = a + b;
		break;
	case EXEC_FSUB:
		result = a - b;
		break;
	case EXEC_FMUL:
		result = a * b;
		break;
	case EXEC_FDIV:
		result = a / b;
		break;
	case EXEC_FSQRT:
		result = sqrtf(a);
		break;
	default:
		result = fmaf(a, b, to_float(operands[2]));
		break;
	}
	return result;
}

/* ---- ties to max magnitude ---- */

/* @value without its last @count bits, 1 to 63, rounded. */
static uint64_t round_away(uint64_t value, unsigned int count, bool *inexact)
{
	*inexact = value & ((UINT64_C(1) << count) - 1);
	return (value >> count) + (value >> (count - 1) & 1);
}

/* A number of double precision that is neither NaN nor infinite, with single precision. */
static uint32_t to_single_away(uint64_t bits, unsigned int *flags)
{
	uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000;
	int exponent = (int)(bits >> 52 & 0x7ff) - 1023, short_by;
	uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52, rounded;
	bool inexact, tiny;

	if (is_zero(bits, 8))
		return sign;
	/* A subnormal number of double precision is far below those of single precision. */
	if (exponent < -160)
		exponent = -160;
	rounded = round_away(significand, 29, &inexact);
	if (exponent > 127 || (exponent == 127 && rounded >> 24)) {
		*flags |= EXEC_OF | EXEC_NX;
		return sign | 0x7f800000;
	}
	if (exponent >= -126) {
		*flags |= inexact ? EXEC_NX : 0;
		/* The leading 1 of the significand adds one to the exponent, a carry another one. */
		return sign | (uint32_t)(rounded + ((uint64_t)(exponent + 126) << 23));
	}
	tiny = exponent < -127 || !(rounded >> 24);
	short_by = 29 - 126 - exponent;
	rounded = round_away(significand, short_by > 60 ? 60 : (unsigned int)short_by, &inexact);
	*flags |= inexact ? (tiny ? EXEC_NX | EXEC_UF : EXEC_NX) : 0;
	return sign | (uint32_t)rounded;
}

/* A number of @precision bits; exact if it has no more. */
static double integer_away(uint64_t magnitude, unsigned int precision, bool *inexact)
{
	unsigned int width = magnitude ? 64 - (unsigned int)__builtin_clzll(magnitude) : 0;

	*inexact = false;
	if (width <= precision)
		return (double)magnitude;
	return ldexp((double)round_away(magnitude, width - precision, inexact),
		     (int)(width - precision));
}

/* What the sum or product is larger than @bits, its rounded value; both are finite. */
static double rounding_error(unsigned int operation, const uint64_t *operands, uint64_t bits)
{
	volatile double a = to_double(operands[0]), b = to_double(operands[1]);
	volatile double rounded = to_double(bits), part;

	if (operation == EXEC_FMUL)
		return fma(a, b, -rounded);
	if (operation == EXEC_FSUB)
		b = -b;
	part = rounded - a;
	a -= rounded - part;
	b -= part;
	return a + b;
}

static struct exec_float_result double_away(const struct exec_insn *insn, const uint64_t *operands)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	volatile double error;
	fenv_t saved;
	bool tiny;

	begin(&saved, EXEC_RNE);
	result.bits = from_double(compute_double(insn->arg, operands));
	result.flags = end(&saved);
	tiny = fabs(to_double(result.bits)) < 0x1p-960;
	if (!(result.flags & EXEC_NX) || insn->arg == EXEC_FSQRT || is_infinite(result.bits, 8) ||
	    (insn->arg == EXEC_FDIV && !tiny))
		return result;
	if (insn->arg > EXEC_FMUL || (insn->arg == EXEC_FMUL && tiny)) {
		result.certain = result.flags_certain = false;
		return result;
	}
	begin(&saved, EXEC_RNE);
	error = rounding_error(insn->arg, operands, result.bits);
	if (to_double(result.bits + 1) - to_double(result.bits) == 2 * error)
		result.bits++;
	end(&saved);
	return result;
}

static struct exec_float_result compute_away(const struct exec_insn *insn, const uint64_t *operands)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	uint64_t wide[3];
	fenv_t saved;

	if (insn->bytes == 8)
		return double_away(insn, operands);
	for (unsigned int i = 0; i < 3; i++)
		wide[i] = from_double((double)to_float(operands[i]));
	begin(&saved, EXEC_RTZ);
	result.bits = from_double(compute_double(insn->arg, wide));
	result.flags = end(&saved);
	if (is_nan(result.bits, 8))
		result.bits = NAN_32;
	else if (is_infinite(result.bits, 8))
		result.bits = from_float((float)to_double(result.bits));
	else if (result.flags & EXEC_NX)
		result.bits = to_single_away(result.bits | 1, &result.flags);
	else
		result.bits = to_single_away(result.bits, &result.flags);
	return result;
}

/* ---- operations ---- */

static struct exec_float_result compute(const struct exec_insn *insn, const uint64_t *callers,
					unsigned int mode)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	uint64_t operands[3] = { callers[0], callers[1], callers[2] };
	unsigned int bytes = insn->bytes, count = insn->arg == EXEC_FSQRT ? 1 : 2;
	bool fused = insn->arg >= EXEC_FMADD && insn->arg <= EXEC_FNMADD;
	bool signaling = false;
	fenv_t saved;

	if (fused) {
		count = 3;
		negate(insn->arg, operands, UINT64_C(1) << (8 * bytes - 1));
	}
	for (unsigned int i = 0; i < count; i++) {
		signaling |= is_signaling(operands[i], bytes);
		if (is_nan(operands[i], bytes))
			result.bits = nan_of(bytes);
	}
	if (fused && ((is_infinite(operands[0], bytes) && is_zero(operands[1], bytes)) ||
		      (is_zero(operands[0], bytes) && is_infinite(operands[1], bytes)))) {
		signaling = true;
		result.bits = nan_of(bytes);
	}
	if (result.bits) {
		result.flags = signaling ? EXEC_NV : 0;
		return result;
	}
	if (mode == EXEC_RMM) {
		result = compute_away(insn, operands);
	} else {
		begin(&saved, mode);
		if (bytes == 8)
			result.bits = from_double(compute_double(insn->arg, operands));
		else
			result.bits = from_float(compute_float(insn->arg, operands));
		result.flags = end(&saved);
		if (!TINY_AFTER_ROUNDING && (result.flags & EXEC_UF))
			result.flags_certain = false;
	}
	if (is_nan(result.bits, bytes))
		result.bits = nan_of(bytes);
	return result;
}

/* Order of numbers that are not NaN; -0 is below +0. */
static bool is_below(uint64_t a, uint64_t b, unsigned int bytes)
{
	if (is_negative(a, bytes) != is_negative(b, bytes))
		return is_negative(a, bytes);
	return is_negative(a, bytes) ? a > b : a < b;
}

static struct exec_float_result select(const struct exec_insn *insn, const uint64_t *operands)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	uint64_t a = operands[0], b = operands[1];
	unsigned int bytes = insn->bytes;
	bool greatest = insn->arg == EXEC_FMAX || insn->arg == EXEC_FMAXM;
	bool strict = insn->arg == EXEC_FMINM || insn->arg == EXEC_FMAXM;

	if (is_signaling(a, bytes) || is_signaling(b, bytes))
		result.flags = EXEC_NV;
	if (is_nan(a, bytes) && (strict || is_nan(b, bytes)))
		result.bits = nan_of(bytes);
	else if (is_nan(b, bytes) && strict)
		result.bits = nan_of(bytes);
	else if (is_nan(a, bytes))
		result.bits = b;
	else if (is_nan(b, bytes))
		result.bits = a;
	else
		result.bits = is_below(a, b, bytes) != greatest ? a : b;
	return result;
}

static struct exec_float_result relate(const struct exec_insn *insn, const uint64_t *operands)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	uint64_t a = operands[0], b = operands[1];
	unsigned int bytes = insn->bytes;
	bool equal = a == b || (is_zero(a, bytes) && is_zero(b, bytes));
	bool quiet = insn->arg != EXEC_FLT && insn->arg != EXEC_FLE;

	if (is_nan(a, bytes) || is_nan(b, bytes)) {
		if (!quiet || is_signaling(a, bytes) || is_signaling(b, bytes))
			result.flags = EXEC_NV;
		return result;
	}
	switch (insn->arg) {
	case EXEC_FEQ:
		result.bits = equal;
		break;
	case EXEC_FLE:
	case EXEC_FLEQ:
		result.bits = equal || is_below(a, b, bytes);
		break;
	default:
		result.bits = !equal && is_below(a, b, bytes);
		break;
	}
	return result;
}

/* A number that is not NaN to an integral value, without the host's unit: compilers expand rint(). */
static double round_double(double value, unsigned int mode, unsigned int *flags)
{
	uint64_t bits = from_double(value), significand, rest, half;
	int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	unsigned int count = exponent < -1 ? 54 : (unsigned int)(52 - exponent);
	bool negative = bits >> 63, up = false;

	if (exponent >= 52 || is_zero(bits, 8))
		return value;
	significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	half = UINT64_C(1) << (count - 1);
	rest = significand & (2 * half - 1);
	significand >>= count;
	if (mode == EXEC_RNE)
		up = rest > half || (rest == half && (significand & 1));
	else if (mode == EXEC_RMM)
		up = rest >= half;
	else if (mode != EXEC_RTZ)
		up = rest && negative == (mode == EXEC_RDN);
	if (rest)
		*flags |= EXEC_NX;
	value = (double)(significand + up);
	return negative ? -value : value;
}

static double widen(uint64_t bits, unsigned int bytes)
{
	return bytes == 8 ? to_double(bits) : (double)to_float(bits);
}

static struct exec_float_result to_integer(const struct exec_insn *insn, uint64_t bits,
					   unsigned int mode)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	bool wide = insn->rs2 & 2, without_sign = insn->rs2 & 1, nan = is_nan(bits, insn->bytes);
	double least = without_sign ? 0 : wide ? -0x1p63 : -0x1p31;
	double limit = without_sign ? (wide ? 0x1p64 : 0x1p32) : (wide ? 0x1p63 : 0x1p31);
	double value = nan ? 0 : round_double(widen(bits, insn->bytes), mode, &result.flags);

	if (nan || value >= limit) {
		result.flags = EXEC_NV;
		if (without_sign)
			result.bits = UINT64_MAX;
		else
			result.bits = wide ? INT64_MAX : INT32_MAX;
	} else if (value < least) {
		result.flags = EXEC_NV;
		if (without_sign)
			result.bits = 0;
		else
			result.bits = wide ? (uint64_t)INT64_MIN : (uint64_t)INT32_MIN;
	} else if (without_sign) {
		result.bits = (uint64_t)value;
	} else {
		result.bits = (uint64_t)(int64_t)value;
	}
	if (!wide)
		result.bits = (uint64_t)(int32_t)result.bits;
	return result;
}

/* fcvtmod.w.d: towards zero, modulo 2^32 */
static struct exec_float_result to_modular(uint64_t bits)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
	uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52, whole = 0;
	double value = to_double(bits);

	if (is_nan(bits, 8) || is_infinite(bits, 8)) {
		result.flags = EXEC_NV;
		return result;
	}
	if (exponent >= 0)
		whole = exponent < 32 ? significand << exponent : 0;
	else if (exponent > -53)
		whole = significand >> -exponent;
	if (value > -0x1p31 - 1 && value < 0x1p31)
		result.flags = value == trunc(value) ? 0 : EXEC_NX;
	else
		result.flags = EXEC_NV;
	if (bits >> 63)
		whole = 0 - whole;
	result.bits = (uint64_t)(int32_t)(uint32_t)whole;
	return result;
}

static struct exec_float_result from_integer(const struct exec_insn *insn, uint64_t integer,
					     unsigned int mode)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	bool wide = insn->rs2 & 2, without_sign = insn->rs2 & 1, inexact, negative;
	volatile int64_t number;
	volatile uint64_t magnitude;
	volatile double value;
	volatile float single;
	fenv_t saved;

	if (!wide)
		integer = without_sign ? (uint32_t)integer : (uint64_t)(int32_t)integer;
	negative = !without_sign && integer >> 63;
	magnitude = negative ? 0 - integer : integer;
	number = (int64_t)integer;
	if (mode == EXEC_RMM) {
		value = integer_away(magnitude, insn->bytes == 8 ? 53 : 24, &inexact);
		value = negative ? -value : value;
		result.flags = inexact ? EXEC_NX : 0;
		result.bits = insn->bytes == 8 ? from_double(value) : from_float((float)value);
		return result;
	}
	begin(&saved, mode);
	if (insn->bytes == 8) {
		if (negative)
			value = (double)number;
		else
			value = (double)magnitude;
		result.bits = from_double(value);
	} else {
		if (negative)
			single = (float)number;
		else
			single = (float)magnitude;
		result.bits = from_float(single);
	}
	result.flags = end(&saved);
	return result;
}

/* fcvt.s.d, fcvt.d.s */
static struct exec_float_result convert(const struct exec_insn *insn, uint64_t bits,
					unsigned int mode)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	unsigned int from = insn->bytes == 8 ? 4 : 8;
	volatile double wide;
	volatile float single;
	fenv_t saved;

	if (is_nan(bits, from)) {
		result.flags = is_signaling(bits, from) ? EXEC_NV : 0;
		result.bits = nan_of(insn->bytes);
		return result;
	}
	if (mode == EXEC_RMM && insn->bytes == 4 && !is_infinite(bits, from)) {
		result.bits = to_single_away(bits, &result.flags);
		return result;
	}
	begin(&saved, mode);
	if (insn->bytes == 8) {
		single = to_float(bits);
		wide = (double)single;
		result.bits = from_double(wide);
	} else {
		wide = to_double(bits);
		single = (float)wide;
		result.bits = from_float(single);
	}
	result.flags = end(&saved);
	if (!TINY_AFTER_ROUNDING && (result.flags & EXEC_UF))
		result.flags_certain = false;
	return result;
}

static struct exec_float_result round_integral(const struct exec_insn *insn, uint64_t bits,
					       unsigned int mode)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };
	double value;

	if (is_nan(bits, insn->bytes)) {
		result.flags = is_signaling(bits, insn->bytes) ? EXEC_NV : 0;
		result.bits = nan_of(insn->bytes);
		return result;
	}
	value = round_double(widen(bits, insn->bytes), mode, &result.flags);
	if (insn->arg == EXEC_FROUND)
		result.flags = 0;
	result.bits = insn->bytes == 8 ? from_double(value) : from_float((float)value);
	return result;
}

struct exec_float_result exec_float(const struct exec_insn *insn, const uint64_t *operands,
				    unsigned int mode)
{
	struct exec_float_result result = { .certain = true, .flags_certain = true };

	switch (insn->arg) {
	case EXEC_FMIN:
	case EXEC_FMAX:
	case EXEC_FMINM:
	case EXEC_FMAXM:
		return select(insn, operands);
	case EXEC_FLE:
	case EXEC_FLT:
	case EXEC_FEQ:
	case EXEC_FLEQ:
	case EXEC_FLTQ:
		return relate(insn, operands);
	case EXEC_FCLASS:
		result.bits = class_of(operands[0], insn->bytes);
		return result;
	case EXEC_FCVT_TO_INT:
		return to_integer(insn, operands[0], mode);
	case EXEC_FCVT_FROM_INT:
		return from_integer(insn, operands[0], mode);
	case EXEC_FCVT_FLOAT:
		return convert(insn, operands[0], mode);
	case EXEC_FROUND:
	case EXEC_FROUNDNX:
		return round_integral(insn, operands[0], mode);
	case EXEC_FCVTMOD:
		return to_modular(operands[0]);
	default:
		return compute(insn, operands, mode);
	}
}

uint64_t exec_float_immediate(unsigned int number, unsigned int bytes)
{
	/* Zfa, chapter "Load-immediate instructions"; 1 is the smallest normal number. */
	static const double values[32] = { -1,	   0,	   0x1p-16, 0x1p-15, 0x1p-8,  0x1p-7, 0x1p-4,
					   0x1p-3, 0.25,   0.3125,  0.375,   0.4375,  0.5,    0.625,
					   0.75,   0.875,  1,	    1.25,    1.5,     1.75,   2,
					   2.5,	   3,	   4,	    8,	     16,      128,    256,
					   32768,  65536,  INFINITY, NAN };

	if (number == 1)
		return bytes == 8 ? UINT64_C(0x0010000000000000) : 0x00800000;
	if (number == 31)
		return nan_of(bytes);
	return bytes == 8 ? from_double(values[number]) : from_float((float)values[number]);
}
