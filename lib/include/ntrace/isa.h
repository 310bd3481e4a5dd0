/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Instruction classes of RISC-V as a trace decoder needs them: length, kind of
 * control transfer, direct target (E-Trace/N-Trace classification table;
 * digest ingress.md section 2). Knows no memory and no flow.
 */
#ifndef NTRACE_ISA_H
#define NTRACE_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ntrace_insn_class {
	NTRACE_INSN_PLAIN,		/* goes on with the next instruction */
	NTRACE_INSN_BRANCH,		/* conditional, direct */
	NTRACE_INSN_JUMP,		/* direct, no link */
	NTRACE_INSN_CALL,		/* direct, links x1 or x5 */
	NTRACE_INSN_OTHER_JUMP,		/* direct, links another register */
	NTRACE_INSN_INDIRECT_JUMP,	/* indirect, no link */
	NTRACE_INSN_INDIRECT_CALL,
	NTRACE_INSN_OTHER_INDIRECT_JUMP, /* indirect, links another register */
	NTRACE_INSN_RETURN,
	NTRACE_INSN_COROUTINE_SWAP,
	NTRACE_INSN_TRAP_RETURN,	/* SRET, MRET, URET, MNRET */
	NTRACE_INSN_TRAP,		/* ECALL, EBREAK, C.EBREAK: does not retire */
	NTRACE_INSN_CLASS_COUNT,
};

/**
 * struct ntrace_isa - instruction set
 * @xlen: 32 or 64
 * @compressed: extension C (or Zca): without it 16-bit encodings are illegal
 */
struct ntrace_isa {
	uint8_t xlen;
	bool compressed;
	uint8_t reserved[14];
};

/**
 * struct ntrace_insn - one instruction
 * @target: direct target; 0 for other classes
 * @value: LUI, C.LUI, AUIPC: what is written to upper_rd; indirect classes:
 *         the offset added to rs1 (sign-extended); else 0
 * @class: enum ntrace_insn_class
 * @size: length in bytes: 2, 4, 6 or 8
 * @upper_rd: LUI, C.LUI, AUIPC: register written, else 0
 * @rs1: indirect classes: register jumped through, else 0
 */
struct ntrace_insn {
	uint64_t target;
	uint64_t value;
	uint8_t class;
	uint8_t size;
	uint8_t upper_rd;
	uint8_t rs1;
};

/**
 * ntrace_isa_parse - take an ISA string ("rv64gc", "rv64imafdc_zicsr2p0_...")
 * Return: 0, NTRACE_ERR_INVALID, or NTRACE_ERR_UNSUPPORTED for an XLEN other than 32 and 64.
 */
NTRACE_API int ntrace_isa_parse(struct ntrace_isa *isa, const char *text);

/**
 * ntrace_insn_decode - classify the instruction at @pc
 * @isa: instruction set
 * @bytes: instruction bytes
 * @size: bytes available
 * @pc: address of the instruction
 * @insn: result
 *
 * Unknown but well-formed 32-bit and longer encodings are NTRACE_INSN_PLAIN: a
 * decoder need not know every extension.
 * Return: 0, NTRACE_ERR_TRUNCATED if @size is too small, NTRACE_ERR_BADINSN for
 * the all-zero halfword, reserved lengths (over 64 bits) and 16-bit encodings
 * without C.
 */
NTRACE_API int ntrace_insn_decode(const struct ntrace_isa *isa, const uint8_t *bytes, size_t size,
				  uint64_t pc, struct ntrace_insn *insn);

/** ntrace_insn_class_name - "branch", "indirect call", ... */
NTRACE_API const char *ntrace_insn_class_name(unsigned int insn_class);

static inline bool ntrace_insn_is_call(unsigned int insn_class)
{
	return insn_class == NTRACE_INSN_CALL || insn_class == NTRACE_INSN_INDIRECT_CALL ||
	       insn_class == NTRACE_INSN_COROUTINE_SWAP;
}

/** ntrace_insn_is_uninferable - the target is not in the instruction */
static inline bool ntrace_insn_is_uninferable(unsigned int insn_class)
{
	return insn_class >= NTRACE_INSN_INDIRECT_JUMP && insn_class <= NTRACE_INSN_TRAP_RETURN;
}

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_ISA_H */
