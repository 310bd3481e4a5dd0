/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The message table (N-Trace 1.0, "messages") as one macro list. Reader, writer and names use this
 * list; review it against the table of the specification.
 *
 *	MESSAGE(TCODE, name, fields)
 *	FIXED(field, bits)		fixed fields come first
 *	VARIABLE(field)			always there
 *	VARIABLE_IF(field, selector, values)
 *					there if bit n of values is set, n being the
 *					value of the fixed field selector
 *
 * SRC comes between TCODE and the fields, TSTAMP after them; neither is listed. Fields have the
 * order of enum ntrace_field.
 */
#ifndef NTRACE_WIRE_TABLE_H
#define NTRACE_WIRE_TABLE_H

#include <ntrace/wire.h>

/* clang-format off */
#define NTRACE_MESSAGE_TABLE(MESSAGE, FIXED, VARIABLE, VARIABLE_IF)				\
MESSAGE(OWNERSHIP, "Ownership", , VARIABLE(PROCESS))						\
MESSAGE(DIRECT_BRANCH, "DirectBranch", , VARIABLE(ICNT))					\
MESSAGE(INDIRECT_BRANCH, "IndirectBranch", FIXED(BTYPE, 2), VARIABLE(ICNT) VARIABLE(UADDR))	\
MESSAGE(ERROR, "Error", FIXED(ETYPE, 4), VARIABLE(ECODE))					\
MESSAGE(PROG_TRACE_SYNC, "ProgTraceSync", FIXED(SYNC, 4), VARIABLE(ICNT) VARIABLE(FADDR))	\
MESSAGE(DIRECT_BRANCH_SYNC, "DirectBranchSync", FIXED(SYNC, 4), VARIABLE(ICNT) VARIABLE(FADDR))	\
MESSAGE(INDIRECT_BRANCH_SYNC, "IndirectBranchSync", FIXED(SYNC, 4) FIXED(BTYPE, 2),		\
	VARIABLE(ICNT) VARIABLE(FADDR))								\
MESSAGE(RESOURCE_FULL, "ResourceFull", FIXED(RCODE, 4),						\
	VARIABLE_IF(ICNT, RCODE, 1u << NTRACE_RCODE_ICNT)					\
	VARIABLE_IF(HIST, RCODE, 1u << NTRACE_RCODE_HIST | 1u << NTRACE_RCODE_HIST_REPEAT)	\
	VARIABLE_IF(HREPEAT, RCODE, 1u << NTRACE_RCODE_HIST_REPEAT)				\
	VARIABLE_IF(RDATA, RCODE, 0xfff8))							\
MESSAGE(INDIRECT_BRANCH_HIST, "IndirectBranchHist", FIXED(BTYPE, 2),				\
	VARIABLE(ICNT) VARIABLE(UADDR) VARIABLE(HIST))						\
MESSAGE(INDIRECT_BRANCH_HIST_SYNC, "IndirectBranchHistSync", FIXED(SYNC, 4) FIXED(BTYPE, 2),	\
	VARIABLE(ICNT) VARIABLE(FADDR) VARIABLE(HIST))						\
MESSAGE(REPEAT_BRANCH, "RepeatBranch", , VARIABLE(BCNT))					\
MESSAGE(PROG_TRACE_CORRELATION, "ProgTraceCorrelation", FIXED(EVCODE, 4) FIXED(CDF, 2),		\
	VARIABLE(ICNT) VARIABLE_IF(HIST, CDF, 1u << 1))
/* clang-format on */

/*
 * Messages of IEEE-ISTO 5001 beside N-Trace. The standard leaves the width of DSZ to the vendor; 3 bits are
 * what public manuals of its encoders have.
 */
/* clang-format off */
#define NTRACE_DATA_TABLE(MESSAGE, FIXED, VARIABLE)						\
MESSAGE(DATA_WRITE, "DataWrite", FIXED(DSZ, 3), VARIABLE(DADDR) VARIABLE(DATA))			\
MESSAGE(DATA_READ, "DataRead", FIXED(DSZ, 3), VARIABLE(DADDR) VARIABLE(DATA))			\
MESSAGE(DATA_ACQUISITION, "DataAcquisition", , VARIABLE(IDTAG) VARIABLE(DQDATA))		\
MESSAGE(DATA_WRITE_SYNC, "DataWriteSync", FIXED(DSZ, 3), VARIABLE(DADDR) VARIABLE(DATA))	\
MESSAGE(DATA_READ_SYNC, "DataReadSync", FIXED(DSZ, 3), VARIABLE(DADDR) VARIABLE(DATA))
/* clang-format on */

/* Additional messages of pre-ratification SiFive encoders. */
/* clang-format off */
#define NTRACE_SIFIVE_TABLE(MESSAGE, FIXED, VARIABLE, VARIABLE_IF)				\
MESSAGE(SIFIVE_IN_CIRCUIT_TRACE, "InCircuitTrace", FIXED(CKSRC, 4) FIXED(CKDF, 2),		\
	VARIABLE(CKDATA0) VARIABLE_IF(CKDATA1, CKDF, 1u << 1))					\
MESSAGE(SIFIVE_IN_CIRCUIT_TRACE_SYNC, "InCircuitTraceWS", FIXED(CKSRC, 4) FIXED(CKDF, 2),	\
	VARIABLE(CKDATA0) VARIABLE_IF(CKDATA1, CKDF, 1u << 1))
/* clang-format on */

/* Maximum number of fields of a row, plus one entry as the end mark. */
#define NTRACE_ROW_FIXED 3
#define NTRACE_ROW_VARIABLE 5

/**
 * struct ntrace_wire_row - one row of the table
 * @name: NULL: not in the table
 * @fixed: fixed fields, ended by bits 0
 * @variable: variable fields, ended by field NTRACE_FIELD_SRC; selector is NTRACE_FIELD_SRC for
 *            fields that are always present
 */
struct ntrace_wire_row {
	const char *name;
	struct {
		uint8_t field;
		uint8_t bits;
	} fixed[NTRACE_ROW_FIXED];
	struct {
		uint8_t field;
		uint8_t selector;
		uint16_t values;
	} variable[NTRACE_ROW_VARIABLE];
};

/* Indexed by the dialect being SiFive's, and by TCODE. */
extern const struct ntrace_wire_row ntrace_wire_rows[2][64];

static inline const struct ntrace_wire_row *ntrace_wire_row(unsigned int tcode,
							    enum ntrace_dialect dialect)
{
	return &ntrace_wire_rows[dialect == NTRACE_DIALECT_SIFIVE_V0][tcode];
}

/* Whether variable field @i of @row belongs to a message with these fixed fields. */
static inline bool ntrace_wire_demands(const struct ntrace_wire_row *row, unsigned int i,
				       const uint64_t *field)
{
	return row->variable[i].selector == NTRACE_FIELD_SRC ||
	       row->variable[i].values >> field[row->variable[i].selector] & 1;
}

#endif /* NTRACE_WIRE_TABLE_H */
