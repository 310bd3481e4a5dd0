/* SPDX-License-Identifier: GPL-2.0-only */
/* Options and limits of a property test: one value of each, covered pairwise. */
#ifndef SELFTESTS_PROPERTY_OPTIONS_H
#define SELFTESTS_PROPERTY_OPTIONS_H

#include "program.h"

enum factor {
	FACTOR_XLEN,
	FACTOR_ISA,		/* 0 = no C, 1 = C, 2 = C and Zcmp, 3 = C, Zcmp and Zcmt */
	FACTOR_MODE,
	FACTOR_MODE_GIVEN,	/* the decoder gets the mode */
	FACTOR_DIALECT,
	FACTOR_SRC_BITS,
	FACTOR_EXTEND_ADDRESS,
	FACTOR_ADDRESS_BITS,
	FACTOR_ALL_JUMPS,
	FACTOR_IMPLICIT_RETURN,
	FACTOR_RETURN_DEPTH,
	FACTOR_COMPARE_BITS,	/* for implicit return mode 2 */
	FACTOR_KEEP_STACK,
	FACTOR_SEQUENTIAL,
	FACTOR_REPEATED_HISTORY,
	FACTOR_HREPEAT_BITS,
	FACTOR_REPEAT_BRANCH,	/* 2: repeat_message */
	FACTOR_BCNT_BITS,
	FACTOR_ICNT_BITS,
	FACTOR_ICNT_FULL,	/* I-CNT counts as full before it overflows */
	FACTOR_HIST_BITS,
	FACTOR_SYNC_MODE,
	FACTOR_SYNC_MAX,
	FACTOR_SYNC4,
	FACTOR_MARKERS,		/* about one in this many blocks */
	FACTOR_TIMESTAMPS,
	FACTOR_TIMESTAMP_BITS,
	FACTOR_TIMESTAMP_DELTA,	/* enum ntrace_time_delta */
	FACTOR_CONTEXT,
	FACTOR_HCONTEXT,
	FACTOR_CTYPE,
	FACTOR_TRAP_BTYPE,
	FACTOR_FILTER,		/* bit mask of privileges */
	FACTOR_RANGES,		/* address comparators */
	FACTOR_FIFO,		/* 0 = none, 1 = loses messages, 2 = stalls */
	FACTOR_PORT,		/* 0 = blocks, n = cycles of up to n groups, -n = cycles of up to
				 * n instructions */
	FACTOR_ITYPE_BITS,
	FACTOR_ACCESSES,	/* Zcmp instructions are reported once per memory access */
	FACTOR_DISTURB,		/* 0 = no event, 1 = off and on again, 2 = overrun, 3 = both */
	FACTOR_TRAP_RATE,
	FACTOR_WELL_NESTED,
	FACTOR_HYPERVISOR,
	FACTOR_ECALL_RETIRES,	/* as in rc7 */
	FACTOR_EMPTY_FIELDS,	/* variable fields of 0 have no bits */
	FACTOR_EMPTY_HISTORY,	/* IndirectBranchHist with an empty HIST */
	FACTOR_NO_ECODE,	/* ECODE is 0 */
	FACTORS,
};

#define LEVELS_MAX 6

/* One level of each factor. */
struct row {
	uint8_t level[FACTORS];
};

#define ROWS_MAX 400

/* Rows that contain each permitted pair of levels at least once. */
struct cover {
	struct row row[ROWS_MAX];
	uint32_t rows;
	uint32_t pairs;		/* pairs to cover */
	uint32_t missing;	/* pairs not covered: should be 0 */
};

/* Two or three options that exclude each other. */
struct exclusion {
	struct {
		uint8_t factor;
		uint8_t levels;	/* bit n: level n; 0: factor not used */
	} side[3];
	bool refused;		/* the encoder excludes it; otherwise only the test does */
};

extern const struct exclusion exclusions[];
extern const unsigned int exclusion_count;

int64_t row_value(const struct row *row, enum factor factor);
/* "xlen=64 isa=1 ..." */
const char *row_text(const struct row *row);
bool row_allowed(const struct row *row);
/* Random levels that are permitted together. */
void row_draw(struct row *row, struct random *random);
unsigned int factor_levels(enum factor factor);

void cover_make(struct cover *cover, uint64_t seed);

#endif /* SELFTESTS_PROPERTY_OPTIONS_H */
