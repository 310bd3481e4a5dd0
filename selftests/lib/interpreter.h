/* SPDX-License-Identifier: GPL-2.0-only */
/* Common workload of tests and benchmarks: code with unpredictable branches. */
#ifndef SELFTESTS_INTERPRETER_H
#define SELFTESTS_INTERPRETER_H

#include <stdint.h>

/* A small interpreter: indirect jumps through a table, branches that go both ways. */
static inline uint32_t interpret(uint32_t value, unsigned int steps)
{
	while (steps--) {
		switch (value >> 29) {
		case 0:
			value = value * 1664525u + 1013904223u;
			break;
		case 1:
			value ^= value << 13;
			break;
		case 2:
			value += 0x9e3779b9u;
			break;
		case 3:
			value = (value << 7) | (value >> 25);
			break;
		case 4:
			value -= steps;
			break;
		case 5:
			value = ~value;
			break;
		case 6:
			value = value & 1 ? value * 3 + 1 : value >> 1;
			break;
		default:
			value ^= value >> 5;
			break;
		}
		value = value * 69069u + 1;
	}
	return value;
}

#endif /* SELFTESTS_INTERPRETER_H */
