/* SPDX-License-Identifier: GPL-2.0-only */
/* Options and limits of a property test: one value of each, covered in pairs. */
#ifndef SELFTESTS_PROPERTY_OPTIONS_H
#define SELFTESTS_PROPERTY_OPTIONS_H

#include "program.h"

enum factor {
	FACTOR_XLEN,
	FACTOR_ISA,		/* 0 = no C, 1 = C, 2 = and Zcmp, 3 = and Zcmt */
	FACTOR_MODE,
	FACTOR_MODE_GIVEN,	/* the decoder is told the mode */
	FACTOR_SRC_BITS,
	FACTOR_EXTEND_ADDRESS,
	FACTOR_ALL_JUMPS,
	FACTOR_ICNT_BITS,
	FACTOR_HIST_BITS,
	FACTOR_SYNC_MODE,
	FACTOR_SYNC_MAX,
	FACTOR_TRAP_BTYPE,
	FACTOR_FILTER,		/* bit mask of privileges */
	FACTOR_DISTURB,		/* 0 = nothing, 1 = off and on again, 2 = overrun, 3 = both */
	FACTOR_TRAP_RATE,
	FACTOR_WELL_NESTED,
	FACTOR_HYPERVISOR,
	FACTOR_ECALL_RETIRES,	/* as in rc7 */
	FACTORS,
};

#define LEVELS_MAX 6

/* One level of each factor. */
struct row {
	uint8_t level[FACTORS];
};

#define ROWS_MAX 400

/* Rows in which each pair of levels that is not excluded stands at least once. */
struct cover {
	struct row row[ROWS_MAX];
	uint32_t rows;
	uint32_t pairs;		/* to be covered */
	uint32_t missing;	/* not covered: should be 0 */
};

/* Two options that do not go together. */
struct exclusion {
	uint8_t factor[2];
	uint8_t levels[2];	/* bit n: level n */
	bool refused;		/* by the encoder; else it is only senseless to test */
};

extern const struct exclusion exclusions[];
extern const unsigned int exclusion_count;

int64_t row_value(const struct row *row, enum factor factor);
/* "xlen=64 isa=1 ..." */
const char *row_text(const struct row *row);
bool row_allowed(const struct row *row);
/* Random levels that are allowed together. */
void row_draw(struct row *row, struct random *random);
unsigned int factor_levels(enum factor factor);

void cover_make(struct cover *cover, uint64_t seed);

#endif /* SELFTESTS_PROPERTY_OPTIONS_H */
