/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Floating point of the executor. */
#ifndef NTRACE_EXEC_FLOAT_H
#define NTRACE_EXEC_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"

/* Bits of fflags. */
enum {
	EXEC_NX = 1,
	EXEC_UF = 2,
	EXEC_OF = 4,
	EXEC_DZ = 8,
	EXEC_NV = 16,
};

/* Rounding modes of frm. */
enum { EXEC_RNE, EXEC_RTZ, EXEC_RDN, EXEC_RUP, EXEC_RMM, EXEC_DYNAMIC = 7 };

/**
 * struct exec_float_result - result of an operation
 * @bits: value: of 4 or 8 bytes; an integer is sign-extended
 * @flags: the exceptions that it raises
 * @certain: @bits is the result
 * @flags_certain: @flags are the exceptions
 */
struct exec_float_result {
	uint64_t bits;
	unsigned int flags;
	bool certain, flags_certain;
};

/**
 * exec_float - compute
 * @insn: instruction of kind EXEC_FLOAT that computes; not one that only moves bits
 * @operands: of its format: 4 or 8 bytes; of EXEC_FCVT_FROM_INT: an integer of XLEN
 * @mode: rounding mode, 0 to 4
 */
struct exec_float_result exec_float(const struct exec_insn *insn, const uint64_t *operands,
				    unsigned int mode);

/** exec_float_immediate - the constant of fli; @bytes: 4 or 8 */
uint64_t exec_float_immediate(unsigned int number, unsigned int bytes);

#endif /* NTRACE_EXEC_FLOAT_H */
