// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory over time against an array of all bytes at all times: random writes of 1 to 8 bytes with
 * unknown bits, ranges that become zero or unknown, and losses of everything.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/values.h>

#include "tap.h"

#define BYTES 96
#define TIMES 400

/* What is known of a byte: its bits, above them which are known, above them whether anything was told of it. */
#define NEVER 0u
#define UNKNOWN 0x10000u
#define ZERO 0x1ff00u

static uint32_t truth[TIMES][BYTES];
static uint64_t state;
static unsigned int failures;

/* xorshift64* */
static uint64_t random_word(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned int below(unsigned int limit)
{
	return (unsigned int)(random_word() >> 32) % limit;
}

static void copy_time(unsigned int time)
{
	if (time)
		memcpy(truth[time], truth[time - 1], sizeof(truth[time]));
	else
		for (unsigned int i = 0; i < BYTES; i++)
			truth[0][i] = NEVER;
}

static void write_bytes(struct ntrace_value_log *log, unsigned int time)
{
	unsigned int at = below(BYTES - 8);
	struct ntrace_exec_value value = { random_word(), random_word() | random_word() };
	uint8_t mask = (uint8_t)below(256);

	failures += ntrace_value_log_write(log, time, at, mask, value) != 0;
	for (unsigned int i = 0; i < 8; i++)
		if (mask >> i & 1)
			truth[time][at + i] =
				UNKNOWN | (uint32_t)((value.known >> 8 * i & 0xff) << 8) |
				(uint32_t)((value.bits & value.known) >> 8 * i & 0xff);
}

/* A range changes the words that the log has, each of them up to all of its bytes. */
static void change_range(struct ntrace_value_log *log, unsigned int time)
{
	unsigned int first = below(BYTES), last = first;
	bool zero = below(2);

	last += below(BYTES - first);
	failures += ntrace_value_log_change(log, time, first, last, zero) != 0;
	for (unsigned int i = first; i <= last; i++) {
		bool has = false;

		/* Since the log began, whatever was forgotten. */
		for (unsigned int t = 0; t <= time && !has; t++)
			for (unsigned int k = i & ~7u; k < (i | 7u) + 1 && k < BYTES; k++)
				has |= truth[t][k] != NEVER;
		if (has)
			truth[time][i] = zero ? ZERO : UNKNOWN;
	}
}

static void forget_all(struct ntrace_value_log *log, unsigned int time)
{
	failures += ntrace_value_log_change(log, time, 0, UINT64_MAX, false) != 0;
	for (unsigned int i = 0; i < BYTES; i++)
		truth[time][i] = NEVER;
}

static bool compare(const struct ntrace_value_log *log, unsigned int time)
{
	unsigned int at = below(BYTES - 8);
	unsigned int bytes = 1 + below(8 - (at & 7));
	uint8_t told, expected = 0;
	struct ntrace_exec_value value = ntrace_value_log_read(log, time, at, bytes, &told);
	uint64_t bits = 0, known = 0;

	for (unsigned int i = 0; i < bytes; i++) {
		uint32_t byte = truth[time][at + i];

		expected |= (uint8_t)((byte != NEVER) << i);
		known |= (uint64_t)(byte >> 8 & 0xff) << 8 * i;
		bits |= (uint64_t)(byte & 0xff) << 8 * i;
	}
	return value.bits == bits && value.known == known && told == expected;
}

int main(void)
{
	const char *seed = getenv("SEED");
	unsigned int wrong = 0;

	state = (seed ? strtoull(seed, NULL, 0) : 1) | 1;

	for (unsigned int run = 0; run < 100; run++) {
		struct ntrace_value_log *log = ntrace_value_log_new();

		for (unsigned int time = 0; time < TIMES; time++) {
			unsigned int kind = below(64);

			copy_time(time);
			if (kind == 0)
				forget_all(log, time);
			else if (kind < 8)
				change_range(log, time);
			else
				write_bytes(log, time);
		}
		for (unsigned int i = 0; i < 4000; i++)
			wrong += !compare(log, below(TIMES));
		ntrace_value_log_free(log);
	}
	is_u64(failures, 0, "changes of memory");
	is_u64(wrong, 0, "bytes of random times are those of an array of all times");
	return done_testing();
}
