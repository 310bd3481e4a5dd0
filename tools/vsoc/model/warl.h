/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the Trace Control Interface leaves to the hardware, for fields of all blocks: the values that
 * a WARL field accepts, single bits that are hard-wired, and the values after a reset.
 *
 * The value 0 of each parameter is the choice of the machine without variants.
 */
#ifndef VSOC_MODEL_WARL_H
#define VSOC_MODEL_WARL_H

#include <stdbool.h>
#include <stdint.h>

/* A field of one bit. */
enum warl_bit {
	WARL_DEFAULT,	/* writable if the function exists, else 0 */
	WARL_ZERO,	/* hard-wired to 0 */
	WARL_ONE,	/* hard-wired to 1 */
	WARL_WRITABLE,
};

/* Registers when Active becomes 1. Enable is 0 in any case. */
enum warl_reset {
	WARL_RESET_ZERO,
	WARL_RESET_KEPT,	/* as they were before Active became 0; 0 after power-up */
	WARL_RESET_RANDOM,	/* any values that the fields accept */
};

/** warl_bit - the value of a field of one bit that is written with @value */
static inline uint32_t warl_bit(enum warl_bit kind, bool exists, uint32_t bit, uint32_t value)
{
	switch (kind) {
	case WARL_ZERO:
		return 0;
	case WARL_ONE:
		return bit;
	case WARL_WRITABLE:
		return value & bit;
	default:
		return exists ? value & bit : 0;
	}
}

/**
 * warl_value - the value of a field that is written with @value
 * @set: bit n: the field accepts n; not 0
 * Return: @value or, if the field does not accept it, the next larger value that it accepts, or
 * else the largest one.
 */
static inline uint32_t warl_value(uint32_t set, uint32_t value)
{
	uint32_t above = value < 32 ? set >> value << value : 0;

	return above ? (uint32_t)__builtin_ctz(above) : 31 - (uint32_t)__builtin_clz(set);
}

/** warl_random - the next number of the sequence that begins at *@state (splitmix64) */
static inline uint64_t warl_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif /* VSOC_MODEL_WARL_H */
