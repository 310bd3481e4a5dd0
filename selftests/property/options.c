// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pairwise cover: each row starts from a missing pair; of several random completions, the one
 * that covers the most pairs is taken.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define PRIVILEGES_U (1 << PRIVILEGE_U | 1 << PRIVILEGE_VU)
#define PRIVILEGES_S (1 << PRIVILEGE_S | 1 << PRIVILEGE_VS)
#define PRIVILEGES_ALL 0xff

static const struct {
	const char *name;
	uint8_t levels;
	int64_t value[LEVELS_MAX];
} factors[FACTORS] = {
	[FACTOR_XLEN] = { "xlen", 2, { 64, 32 } },
	[FACTOR_ISA] = { "isa", 4, { 0, 1, 2, 3 } },
	[FACTOR_MODE] = { "mode", 2, { 6, 3 } },
	[FACTOR_MODE_GIVEN] = { "mode-given", 2, { 1, 0 } },
	[FACTOR_DIALECT] = { "dialect", 3, { 0, 1, 2 } },
	[FACTOR_SRC_BITS] = { "srcbits", 4, { 0, 1, 6, 12 } },
	[FACTOR_EXTEND_ADDRESS] = { "extaddr", 2, { 0, 1 } },
	/* All addresses of the programs are canonical in 46 bits. */
	[FACTOR_ADDRESS_BITS] = { "addrbits", 3, { 0, 48, 46 } },
	[FACTOR_ALL_JUMPS] = { "alljumps", 2, { 0, 1 } },
	[FACTOR_IMPLICIT_RETURN] = { "implicit-return", 4, { 0, 3, 1, 2 } },
	[FACTOR_RETURN_DEPTH] = { "return-depth", 3, { 8, 1, 32 } },
	[FACTOR_COMPARE_BITS] = { "compare-bits", 3, { 12, 1, 63 } },
	[FACTOR_KEEP_STACK] = { "keep-stack", 2, { 0, 1 } },
	[FACTOR_SEQUENTIAL] = { "sequential", 2, { 0, 1 } },
	[FACTOR_REPEATED_HISTORY] = { "repeated-history", 2, { 0, 1 } },
	[FACTOR_HREPEAT_BITS] = { "hrepeat-bits", 3, { 18, 1, 4 } },
	[FACTOR_REPEAT_BRANCH] = { "repeat-branch", 3, { 0, 1, 2 } },
	[FACTOR_BCNT_BITS] = { "bcnt-bits", 3, { 18, 1, 4 } },
	[FACTOR_ICNT_BITS] = { "icnt-bits", 5, { 22, 4, 8, 14, 32 } },
	[FACTOR_ICNT_FULL] = { "icnt-full", 2, { 0, 1 } },
	[FACTOR_HIST_BITS] = { "hist-bits", 4, { 31, 1, 2, 8 } },
	[FACTOR_SYNC_MODE] = { "sync-mode", 4, { 0, 1, 2, 3 } },
	[FACTOR_SYNC_MAX] = { "sync-max", 3, { 0, 2, 5 } },
	[FACTOR_SYNC4] = { "sync4", 2, { 0, 1 } },
	[FACTOR_MARKERS] = { "markers", 3, { 0, 10, 100 } },
	[FACTOR_TIMESTAMPS] = { "timestamps", 4, { 0, 1, 2, 3 } },
	[FACTOR_TIMESTAMP_BITS] = { "timestamp-bits", 3, { 64, 40, 16 } },
	[FACTOR_TIMESTAMP_DELTA] = { "timestamp-delta", 3, { 0, 1, 2 } },
	[FACTOR_CONTEXT] = { "context", 2, { 0, 1 } },
	[FACTOR_HCONTEXT] = { "hcontext", 2, { 0, 1 } },
	[FACTOR_CTYPE] = { "ctype", 3, { 2, 1, 3 } },
	[FACTOR_TRAP_BTYPE] = { "trap-btype", 2, { 0, 1 } },
	[FACTOR_FILTER] = { "filter",
			    4,
			    { PRIVILEGES_ALL, PRIVILEGES_U, PRIVILEGES_U | PRIVILEGES_S,
			      PRIVILEGES_S | 1 << PRIVILEGE_M } },
	[FACTOR_RANGES] = { "ranges", 3, { 0, 1, 3 } },
	[FACTOR_FIFO] = { "fifo", 3, { 0, 1, 2 } },
	[FACTOR_PORT] = { "port", 5, { 0, 1, 4, -1, -8 } },
	[FACTOR_ITYPE_BITS] = { "itype-bits", 2, { 4, 3 } },
	[FACTOR_ACCESSES] = { "accesses", 2, { 0, 1 } },
	[FACTOR_DISTURB] = { "disturb", 4, { 0, 1, 2, 3 } },
	[FACTOR_TRAP_RATE] = { "trap-rate", 4, { 200, 0, 25, 1000 } },
	[FACTOR_WELL_NESTED] = { "well-nested", 2, { 0, 1 } },
	[FACTOR_HYPERVISOR] = { "hypervisor", 2, { 0, 1 } },
	[FACTOR_ECALL_RETIRES] = { "ecall-retires", 2, { 0, 1 } },
	[FACTOR_EMPTY_FIELDS] = { "empty-fields", 2, { 0, 1 } },
	[FACTOR_EMPTY_HISTORY] = { "empty-history", 2, { 0, 1 } },
	[FACTOR_NO_ECODE] = { "no-ecode", 2, { 0, 1 } },
};

#define ALL_BUT_FIRST 0xfe
#define FIRST 0x01
#define SECOND 0x02

const struct exclusion exclusions[] = {
	/* N-Trace 1.0, "history": all_jumps reports a call as a branch, which hides it. */
	{ { { FACTOR_ALL_JUMPS, SECOND }, { FACTOR_IMPLICIT_RETURN, ALL_BUT_FIRST } }, true },
	/* N-Trace 1.0: implicit return needs a 4-bit itype. */
	{ { { FACTOR_ITYPE_BITS, SECOND }, { FACTOR_IMPLICIT_RETURN, ALL_BUT_FIRST } }, true },
	/* N-Trace 1.0: BTM has no history. */
	{ { { FACTOR_MODE, SECOND }, { FACTOR_REPEATED_HISTORY, SECOND } }, true },
	/* N-Trace 1.0: SYNC 4 belongs to BTM, and in rc7 also to HTM. */
	{ { { FACTOR_MODE, FIRST }, { FACTOR_SYNC4, SECOND }, { FACTOR_DIALECT, 0x05 } }, true },
	/* N-Trace 1.0: Ownership reports hcontext. */
	{ { { FACTOR_CONTEXT, FIRST }, { FACTOR_HCONTEXT, SECOND } }, true },
	/* In version 0, software stores ids: an encoder has no contexts. */
	{ { { FACTOR_DIALECT, 0x04 }, { FACTOR_CONTEXT, SECOND } }, false },
	{ { { FACTOR_DIALECT, 0x04 }, { FACTOR_HCONTEXT, SECOND } }, false },
	/* E-Trace, chapter 4: with a 3-bit itype, a repeated access looks like a loop. */
	{ { { FACTOR_ITYPE_BITS, SECOND }, { FACTOR_ACCESSES, SECOND } }, true },
	/* The range of a repeated access depends on the start of its block. */
	{ { { FACTOR_RANGES, ALL_BUT_FIRST }, { FACTOR_ACCESSES, SECOND } }, false },
	/* N-Trace 1.0, "implicit return": modes 1 and 2 assume well-nested calls. */
	{ { { FACTOR_IMPLICIT_RETURN, 0x0c }, { FACTOR_WELL_NESTED, FIRST } }, false },
	/* Without traps, all code has the same privilege. */
	{ { { FACTOR_TRAP_RATE, SECOND }, { FACTOR_FILTER, ALL_BUT_FIRST } }, false },
};
const unsigned int exclusion_count = sizeof(exclusions) / sizeof(exclusions[0]);

int64_t row_value(const struct row *row, enum factor factor)
{
	return factors[factor].value[row->level[factor]];
}

unsigned int factor_levels(enum factor factor)
{
	return factors[factor].levels;
}

const char *row_text(const struct row *row)
{
	static char text[1024];
	int at = 0;

	for (unsigned int i = 0; i < FACTORS; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s=%" PRId64, i ? " " : "",
			       factors[i].name, row_value(row, (enum factor)i));
	return text;
}

static bool excludes(const struct exclusion *exclusion, const struct row *row)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (exclusion->side[i].levels &&
		    !(exclusion->side[i].levels >> row->level[exclusion->side[i].factor] & 1))
			return false;
	}
	return true;
}

bool row_allowed(const struct row *row)
{
	for (unsigned int i = 0; i < exclusion_count; i++) {
		if (excludes(&exclusions[i], row))
			return false;
	}
	return true;
}

/* Draws the factors outside @fixed until they fit. Return: false if they never do. */
static bool complete(struct row *row, struct random *random, uint64_t fixed)
{
	for (unsigned int tries = 0; tries < 5000; tries++) {
		for (unsigned int i = 0; i < FACTORS; i++) {
			if (!(fixed >> i & 1))
				row->level[i] = (uint8_t)random_below(random, factors[i].levels);
		}
		if (row_allowed(row))
			return true;
	}
	return false;
}

void row_draw(struct row *row, struct random *random)
{
	memset(row, 0, sizeof(*row));
	complete(row, random, 0);
}

/* For each pair of levels: covered or excluded. */
static uint8_t done[FACTORS][LEVELS_MAX][FACTORS][LEVELS_MAX];

static uint32_t count_new(const struct row *row)
{
	uint32_t count = 0;

	for (unsigned int a = 0; a < FACTORS; a++) {
		for (unsigned int b = a + 1; b < FACTORS; b++)
			count += !done[a][row->level[a]][b][row->level[b]];
	}
	return count;
}

static void mark(const struct row *row)
{
	for (unsigned int a = 0; a < FACTORS; a++) {
		for (unsigned int b = a + 1; b < FACTORS; b++)
			done[a][row->level[a]][b][row->level[b]] = 1;
	}
}

/* The best of several rows that contain the pair. Return: false if no row can contain it. */
static bool best_row(struct row *best, struct random *random, const unsigned int pair[4])
{
	uint64_t fixed = UINT64_C(1) << pair[0] | UINT64_C(1) << pair[2];
	uint32_t most = 0;

	for (unsigned int tries = 0; tries < 60; tries++) {
		struct row row = { 0 };
		uint32_t count;

		row.level[pair[0]] = (uint8_t)pair[1];
		row.level[pair[2]] = (uint8_t)pair[3];
		if (!complete(&row, random, fixed))
			return false;
		count = count_new(&row);
		if (count > most) {
			most = count;
			*best = row;
		}
	}
	return true;
}

static bool is_excluded(const unsigned int pair[4])
{
	for (unsigned int i = 0; i < exclusion_count; i++) {
		const struct exclusion *exclusion = &exclusions[i];

		for (unsigned int k = 0; k < 2 && !exclusion->side[2].levels; k++) {
			if (exclusion->side[k].factor == pair[0] &&
			    exclusion->side[!k].factor == pair[2] &&
			    exclusion->side[k].levels >> pair[1] & 1 &&
			    exclusion->side[!k].levels >> pair[3] & 1)
				return true;
		}
	}
	return false;
}

void cover_make(struct cover *cover, uint64_t seed)
{
	struct random random = { seed };
	unsigned int pair[4];

	memset(cover, 0, sizeof(*cover));
	memset(done, 0, sizeof(done));
	for (pair[0] = 0; pair[0] < FACTORS; pair[0]++) {
		for (pair[2] = pair[0] + 1; pair[2] < FACTORS; pair[2]++) {
			for (pair[1] = 0; pair[1] < factors[pair[0]].levels; pair[1]++) {
				for (pair[3] = 0; pair[3] < factors[pair[2]].levels; pair[3]++) {
					struct row *row = &cover->row[cover->rows];

					if (is_excluded(pair))
						continue;
					cover->pairs++;
					if (done[pair[0]][pair[1]][pair[2]][pair[3]])
						continue;
					if (cover->rows == ROWS_MAX ||
					    !best_row(row, &random, pair)) {
						cover->missing++;
						continue;
					}
					mark(row);
					cover->rows++;
				}
			}
		}
	}
}
