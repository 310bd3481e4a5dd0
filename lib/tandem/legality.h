/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which exceptions an instruction can raise. */
#ifndef NTRACE_TANDEM_LEGALITY_H
#define NTRACE_TANDEM_LEGALITY_H

#include "exec/decode.h"
#include "verifier.h"

enum tandem_legality {
	TANDEM_UNDECIDED,	/* the trace decides */
	TANDEM_LEGAL,
	TANDEM_ILLEGAL,
};

/**
 * tandem_judge_legality - whether an instruction is legal
 * @state: the state before it
 * @insn: the instruction, decoded
 * @word: its encoding
 */
enum tandem_legality tandem_judge_legality(const struct ntrace_tandem_state *state,
					   const struct exec_insn *insn, uint32_t word);

/** tandem_lacks_compressed - whether the hart has no instructions of 16 bits, so that IALIGN is 32 */
bool tandem_lacks_compressed(const struct ntrace_tandem_state *state);

/** tandem_can_raise - whether an instruction can raise exception @cause */
bool tandem_can_raise(const struct ntrace_tandem_state *state, const struct exec_insn *insn,
		      enum tandem_legality legality, uint64_t cause);

/** tandem_can_fetch_raise - whether the fetch of an instruction can raise exception @cause */
bool tandem_can_fetch_raise(const struct ntrace_tandem_state *state, uint64_t cause);

#endif /* NTRACE_TANDEM_LEGALITY_H */
