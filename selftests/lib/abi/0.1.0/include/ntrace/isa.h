/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Instruction classes of RISC-V for trace decoders: length, kind of control transfer, direct target
 * (the table of itypes in E-Trace, chapter 4). Depends on neither memory nor flow.
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

/* Privilege modes, with the values of priv on the trace ingress port; 2 and 7 are reserved. */
enum ntrace_priv {
	NTRACE_PRIV_U = 0,
	NTRACE_PRIV_S = 1,
	NTRACE_PRIV_M = 3,
	NTRACE_PRIV_D = 4,	/* Debug Mode, which is never traced */
	NTRACE_PRIV_VU = 5,
	NTRACE_PRIV_VS = 6,
};

enum ntrace_insn_class {
	NTRACE_INSN_PLAIN,		/* continues with the next instruction */
	NTRACE_INSN_BRANCH,		/* conditional, direct */
	NTRACE_INSN_JUMP,		/* direct, no link */
	NTRACE_INSN_CALL,		/* direct, links to x1 or x5 */
	NTRACE_INSN_OTHER_JUMP,		/* direct, links to another register */
	NTRACE_INSN_INDIRECT_JUMP,	/* indirect, no link */
	NTRACE_INSN_INDIRECT_CALL,
	NTRACE_INSN_OTHER_INDIRECT_JUMP, /* indirect, links to another register */
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
 * @push_pop: Zcmp: cm.push, cm.pop, cm.popret, cm.popretz; else their encodings belong to Zcd
 * @table_jumps: Zcmt: cm.jt, cm.jalt; else their encodings belong to Zcd
 * @embedded: RV32E, RV64E: only x0 to x15 exist
 * @reserved: 0
 */
struct ntrace_isa {
	uint8_t xlen;
	bool compressed;
	bool push_pop;
	bool table_jumps;
	bool embedded;
	uint8_t reserved[11];
};

/**
 * struct ntrace_insn - one instruction
 * @target: direct target; 0 for other classes and with @table_jump
 * @value: LUI, C.LUI, AUIPC: value written to upper_rd; indirect classes: the offset added to rs1
 *         (sign-extended); else 0
 * @insn_class: enum ntrace_insn_class
 * @size: length in bytes: 2, 4, 6 or 8
 * @upper_rd: LUI, C.LUI, AUIPC: register written, else 0
 * @rs1: indirect classes: register with the target's base, else 0
 * @xlen: XLEN of the instruction set, 32 or 64
 * @table_jump: CM.JT (class jump), CM.JALT (class call): the target is in entry @table_index of the
 *              jump vector table, see ntrace_space_table_target()
 * @table_index: 0 to 31 for CM.JT, 32 to 255 for CM.JALT
 * @reserved: 0
 */
struct ntrace_insn {
	uint64_t target;
	uint64_t value;
	uint8_t insn_class;
	uint8_t size;
	uint8_t upper_rd;
	uint8_t rs1;
	uint8_t xlen;
	bool table_jump;
	uint8_t table_index;
	uint8_t reserved;
};

/**
 * enum ntrace_itype - how a block of the ingress port ends (E-Trace, chapter 4)
 * @NTRACE_ITYPE_NONE: no transfer: the block ends for another reason; direct jumps on 3-bit ports
 * @NTRACE_ITYPE_EXCEPTION: exception
 * @NTRACE_ITYPE_INTERRUPT: interrupt
 * @NTRACE_ITYPE_TRAP_RETURN: return from a trap handler
 * @NTRACE_ITYPE_BRANCH_NOT_TAKEN: conditional branch, not taken
 * @NTRACE_ITYPE_BRANCH_TAKEN: conditional branch, taken
 * @NTRACE_ITYPE_INDIRECT_JUMP_3BIT: any indirect jump, call or return of a 3-bit port
 * @NTRACE_ITYPE_INDIRECT_CALL: instruction of class NTRACE_INSN_INDIRECT_CALL
 * @NTRACE_ITYPE_DIRECT_CALL: instruction of class NTRACE_INSN_CALL
 * @NTRACE_ITYPE_INDIRECT_JUMP: instruction of class NTRACE_INSN_INDIRECT_JUMP
 * @NTRACE_ITYPE_DIRECT_JUMP: instruction of class NTRACE_INSN_JUMP
 * @NTRACE_ITYPE_COROUTINE_SWAP: instruction of class NTRACE_INSN_COROUTINE_SWAP
 * @NTRACE_ITYPE_RETURN: instruction of class NTRACE_INSN_RETURN
 * @NTRACE_ITYPE_OTHER_INDIRECT_JUMP: instruction of class NTRACE_INSN_OTHER_INDIRECT_JUMP
 * @NTRACE_ITYPE_OTHER_DIRECT_JUMP: instruction of class NTRACE_INSN_OTHER_JUMP
 *
 * Values of ports with 4 bits; ports with 3 bits have only 0 to 6.
 */
enum ntrace_itype {
	NTRACE_ITYPE_NONE = 0,
	NTRACE_ITYPE_EXCEPTION = 1,
	NTRACE_ITYPE_INTERRUPT = 2,
	NTRACE_ITYPE_TRAP_RETURN = 3,
	NTRACE_ITYPE_BRANCH_NOT_TAKEN = 4,
	NTRACE_ITYPE_BRANCH_TAKEN = 5,
	NTRACE_ITYPE_INDIRECT_JUMP_3BIT = 6,
	NTRACE_ITYPE_INDIRECT_CALL = 8,
	NTRACE_ITYPE_DIRECT_CALL = 9,
	NTRACE_ITYPE_INDIRECT_JUMP = 10,
	NTRACE_ITYPE_DIRECT_JUMP = 11,
	NTRACE_ITYPE_COROUTINE_SWAP = 12,
	NTRACE_ITYPE_RETURN = 13,
	NTRACE_ITYPE_OTHER_INDIRECT_JUMP = 14,
	NTRACE_ITYPE_OTHER_DIRECT_JUMP = 15,
};

/**
 * ntrace_isa_parse - parse an ISA string ("rv64gc", "rv64imafdc_zicsr2p0_...")
 * @isa: result, untouched on error
 * @text: upper or lower case, with or without versions; unknown extensions are accepted. The string
 *        ends at a 0 or a comma, as in struct ntrace_params
 *
 * Return: 0, NTRACE_ERR_INVALID (not an ISA string, or a contradictory one, such as Zcmp or Zcmt
 * together with Zcd), or NTRACE_ERR_UNSUPPORTED for an XLEN other than 32 and 64.
 */
NTRACE_API int ntrace_isa_parse(struct ntrace_isa *isa, const char *text);

/**
 * ntrace_isa_parse_reason - ntrace_isa_parse() with a reason for a refusal
 * @isa: result, untouched on error
 * @text: ISA string
 * @reason: on error a constant English string; NULL on success
 *
 * Return: as ntrace_isa_parse().
 */
NTRACE_API int ntrace_isa_parse_reason(struct ntrace_isa *isa, const char *text,
				       const char **reason);

/**
 * ntrace_insn_decode - classify the instruction at @pc
 * @isa: instruction set
 * @bytes: instruction bytes
 * @size: bytes available
 * @pc: address of the instruction
 * @insn: result
 *
 * Unknown but well-formed 32-bit and longer encodings are NTRACE_INSN_PLAIN: a decoder does not
 * need to know every extension.
 *
 * Return: 0, NTRACE_ERR_TRUNCATED if @size is too small, NTRACE_ERR_BADINSN for the all-zero
 * halfword, reserved lengths (over 64 bits) and 16-bit encodings without C.
 */
NTRACE_API int ntrace_insn_decode(const struct ntrace_isa *isa, const uint8_t *bytes, size_t size,
				  uint64_t pc, struct ntrace_insn *insn);

/**
 * ntrace_insn_itype - itype of a retired instruction on the ingress port
 * @insn: instruction; one of class NTRACE_INSN_TRAP gives NTRACE_ITYPE_EXCEPTION
 * @taken: class NTRACE_INSN_BRANCH: it was taken
 * @bits: width of the port's itype, 3 or 4
 *
 * E-Trace, chapter 4. With 3 bits, direct jumps and calls have no type and all indirect ones have
 * type 6.
 *
 * Return: enum ntrace_itype, or NTRACE_ERR_INVALID for another width.
 */
NTRACE_API int ntrace_insn_itype(const struct ntrace_insn *insn, bool taken, unsigned int bits);

/**
 * ntrace_insn_sequential_target - target of a sequentially inferable jump
 * @prev: instruction retired directly before @insn
 * @insn: instruction
 * @target: the target, cut to XLEN; untouched if there is none
 *
 * N-Trace 1.0, "sequentially inferable jumps": an indirect jump, call or co-routine swap (never a
 * return) through the register written by the preceding LUI, C.LUI or AUIPC.
 *
 * Return: true if @insn is sequentially inferable.
 */
NTRACE_API bool ntrace_insn_sequential_target(const struct ntrace_insn *prev,
					      const struct ntrace_insn *insn, uint64_t *target);

/**
 * ntrace_priv_name - name of a privilege
 * @priv: enum ntrace_priv
 *
 * Return: "U", "S", "M", "D", "VU", "VS", "?" for any other value; a static string.
 */
NTRACE_API const char *ntrace_priv_name(unsigned int priv);

/**
 * ntrace_priv_parse - parse a set of privileges such as "us" or "u,vu"
 * @set: result, 1 << enum ntrace_priv for each; untouched on error
 * @text: one or more of u, s, m, vu, vs, in upper or lower case; k (kernel) is s. A comma may
 *        separate two of them.
 *
 * Return: 0, or NTRACE_ERR_INVALID for any other text, the empty one included.
 */
NTRACE_API int ntrace_priv_parse(uint32_t *set, const char *text);

/**
 * ntrace_insn_class_name - name of an instruction class
 * @insn_class: enum ntrace_insn_class
 *
 * Return: "branch", "indirect call" and so on, "?" for any other value; a static string.
 */
NTRACE_API const char *ntrace_insn_class_name(unsigned int insn_class);

/**
 * ntrace_insn_is_call - whether instructions of a class are calls
 * @insn_class: enum ntrace_insn_class
 *
 * Return: true for direct and indirect calls and for co-routine swaps; false for jumps that link to
 * another register than x1 and x5.
 */
static inline bool ntrace_insn_is_call(unsigned int insn_class)
{
	return insn_class == NTRACE_INSN_CALL || insn_class == NTRACE_INSN_INDIRECT_CALL ||
	       insn_class == NTRACE_INSN_COROUTINE_SWAP;
}

/**
 * ntrace_insn_is_uninferable - whether the target is not in the instruction
 * @insn_class: enum ntrace_insn_class
 *
 * Return: true for indirect jumps, calls, returns, co-routine swaps and trap returns.
 */
static inline bool ntrace_insn_is_uninferable(unsigned int insn_class)
{
	return insn_class >= NTRACE_INSN_INDIRECT_JUMP && insn_class <= NTRACE_INSN_TRAP_RETURN;
}

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_ISA_H */
