/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The state of an executor, which the parts of a step share. */
#ifndef NTRACE_EXEC_STATE_H
#define NTRACE_EXEC_STATE_H

#include <ntrace/exec.h>

#include "decode.h"
#include "integer.h"

/* Decoded instructions, a power of 2: more than the inner loops of a program have. */
#define EXEC_CACHE 2048u

/*
 * Unknown bits of a register are 0. Those that it does not have (XLEN, FLEN) are 0 and unknown.
 */
struct ntrace_exec {
	struct ntrace_exec_config config;
	uint64_t xlen_mask, flen_mask;	/* the bits that registers have */
	uint8_t flags, flags_known;	/* fflags, by bit: a flag that was raised stays so */
	uint8_t frm;
	bool frm_known;
	struct ntrace_exec_value x[32], f[32];
	struct exec_insn cache[EXEC_CACHE];
};

static inline void exec_write_x(struct ntrace_exec *exec, struct ntrace_exec_effects *effects,
				unsigned int number, struct ntrace_exec_value value)
{
	if (!number)
		return;
	exec->x[number].bits = value.bits & exec->xlen_mask;
	exec->x[number].known = value.known & exec->xlen_mask;
	effects->written |= UINT64_C(1) << number;
}

/** exec_step_float - execute an instruction of kind EXEC_FLOAT */
int exec_step_float(struct ntrace_exec *exec, const struct exec_insn *insn,
		    struct ntrace_exec_effects *effects);

/** exec_write_f - write @bytes bytes to an f register: NaN-boxed */
void exec_write_f(struct ntrace_exec *exec, struct ntrace_exec_effects *effects,
		  unsigned int number, struct ntrace_exec_value value, unsigned int bytes);

/** exec_step_csr - execute an instruction of kind EXEC_CSR */
int exec_step_csr(struct ntrace_exec *exec, const struct exec_insn *insn,
		  struct ntrace_exec_effects *effects);

/** exec_step_memory - execute an instruction that accesses memory */
int exec_step_memory(struct ntrace_exec *exec, const struct exec_insn *insn,
		     struct ntrace_exec_effects *effects);

/** exec_add_immediate - a register plus the immediate of @insn */
struct ntrace_exec_value exec_add_immediate(const struct ntrace_exec *exec,
					    const struct exec_insn *insn, unsigned int number);

#endif /* NTRACE_EXEC_STATE_H */
