/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tandem traces from the RISC-V Formal Interface (RVFI): a core reports each instruction that it
 * retires, with its registers and its memory access, and here this becomes the fields of a tandem
 * trace, which ntrace_tandem_verifier_field() takes or ntrace_tandem_write() writes.
 */
#ifndef NTRACE_TANDEM_RVFI_H
#define NTRACE_TANDEM_RVFI_H

#include <ntrace/tandem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elements that the source of retirements has, in @has of struct ntrace_rvfi. */
#define NTRACE_RVFI_HAS_ORDER	0x01u
#define NTRACE_RVFI_HAS_NEXT_PC 0x02u /* pc_wdata */
#define NTRACE_RVFI_HAS_INTR	0x04u
#define NTRACE_RVFI_HAS_MODE	0x08u
#define NTRACE_RVFI_HAS_SOURCES 0x10u /* rs1_addr, rs1_rdata, rs2_addr, rs2_rdata */
#define NTRACE_RVFI_HAS_MASKS	0x20u /* the masks have a bit for each byte, else they only say whether */

/* Registers besides rd that one retirement can report. */
#define NTRACE_RVFI_CHANGES_MAX 64

/**
 * struct ntrace_rvfi_change - a register that a retirement reports: the signals rvfi_csr_NAME_*
 * @id: register number, as in a tandem trace
 * @rmask: bits of @rdata that are valid: the value before the instruction
 * @wmask: bits that are written
 * @rdata: value before
 * @wdata: value written
 */
struct ntrace_rvfi_change {
	uint16_t id;
	uint64_t rmask;
	uint64_t wmask;
	uint64_t rdata;
	uint64_t wdata;
};

/**
 * struct ntrace_rvfi - one retired instruction; the names are those of the signals
 * @size: sizeof(struct ntrace_rvfi)
 * @has: NTRACE_RVFI_HAS_ORDER...; other elements are 0 where the source does not have them
 * @order: index of the instruction
 * @insn: the instruction
 * @trap: it took an exception
 * @halt: it is the last one
 * @intr: it is the first one of a trap handler
 * @mode: privilege in which it was executed
 * @extamo: wdata is the operand of an atomic, not what is written
 * @rs1_addr: x register that it reads, 0 = none
 * @rs2_addr: the same
 * @rd_addr: x register that it writes, 0 = none
 * @mem_rmask: bytes read, from @mem_addr on
 * @mem_wmask: bytes written
 * @rs1_rdata: value of the register
 * @rs2_rdata: the same
 * @rd_wdata: value written
 * @pc_rdata: address of the instruction
 * @pc_wdata: address of the next one
 * @mem_addr: address of the access
 * @mem_rdata: data read
 * @mem_wdata: data written
 * @changes: other registers; borrowed during the call
 * @change_count: elements of @changes, at most NTRACE_RVFI_CHANGES_MAX
 */
struct ntrace_rvfi {
	size_t size;
	unsigned int has;
	bool trap;
	bool halt;
	bool intr;
	bool extamo;
	uint8_t mode;
	uint8_t rs1_addr;
	uint8_t rs2_addr;
	uint8_t rd_addr;
	uint32_t mem_rmask;
	uint32_t mem_wmask;
	uint64_t order;
	uint64_t insn;
	uint64_t rs1_rdata;
	uint64_t rs2_rdata;
	uint64_t rd_wdata;
	uint64_t pc_rdata;
	uint64_t pc_wdata;
	uint64_t mem_addr;
	uint64_t mem_rdata;
	uint64_t mem_wdata;
	const struct ntrace_rvfi_change *changes;
	size_t change_count;
};

/* Kind of a problem. */
enum ntrace_rvfi_problem_kind {
	NTRACE_RVFI_ORDER_REPEATED,  /* an order that came before */
	NTRACE_RVFI_ORDER_MISSING,   /* an order that never came: the conversion ends */
	NTRACE_RVFI_PC,		     /* pc_rdata is not the pc_wdata before, and intr is 0 */
	NTRACE_RVFI_SOURCE,	     /* rs1_rdata or rs2_rdata is not what was written before */
	NTRACE_RVFI_ZERO,	     /* data of x0 is not 0 */
	NTRACE_RVFI_MASK,	     /* a mask that is no access of 1, 2, 4 or 8 bytes */
	NTRACE_RVFI_INSN,	     /* an instruction of more than 32 bits */
	NTRACE_RVFI_CAUSE,	     /* an interrupt without its cause, which cannot be verified */
	NTRACE_RVFI_ADDRESS,	     /* mem_addr is not that of bit 0 of the masks */
	NTRACE_RVFI_TRAP,	     /* trap is 1, but the instruction went on to the next one */
	NTRACE_RVFI_PROBLEMS,
};

/**
 * struct ntrace_rvfi_problem - a retirement that breaks a rule of RVFI
 * @kind: enum ntrace_rvfi_problem_kind
 * @reserved: 0
 * @order: of the instruction
 * @pc: its address
 * @seen: the value: order, pc, data, mask, instruction, address
 * @expected: by the retirements before, where there is such a value
 * @text: what is wrong, a constant string
 */
struct ntrace_rvfi_problem {
	unsigned int kind;
	unsigned int reserved;
	uint64_t order;
	uint64_t pc;
	uint64_t seen;
	uint64_t expected;
	const char *text;
};

/**
 * struct ntrace_tandem_rvfi_config - how to convert
 * @size: sizeof(struct ntrace_tandem_rvfi_config)
 * @params: parameters of the tandem trace; copied
 * @field: called for each field. Return: 0, or a value that ends the conversion
 * @problem: called for each problem; NULL: they are ignored. Return: as @field
 * @user: argument of both
 */
struct ntrace_tandem_rvfi_config {
	size_t size;
	struct ntrace_tandem_params params;
	int (*field)(void *user, const struct ntrace_tandem_field *field);
	int (*problem)(void *user, const struct ntrace_rvfi_problem *problem);
	void *user;
};

struct ntrace_tandem_rvfi;

/**
 * ntrace_tandem_rvfi_new - start a conversion
 * @rvfi: receives the conversion, to be freed with ntrace_tandem_rvfi_free()
 * @config: configuration; copied
 *
 * Return: 0; NTRACE_ERR_INVALID for bad parameters or a configuration without field;
 * NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_rvfi_new(struct ntrace_tandem_rvfi **rvfi,
					       const struct ntrace_tandem_rvfi_config *config);

/**
 * ntrace_tandem_rvfi_retire - the next retired instruction
 * @rvfi: conversion
 * @retired: the instruction
 *
 * Its group is complete with the next one, which reports the privilege and the CSRs after it, unless
 * its halt is set. With NTRACE_RVFI_HAS_ORDER, up to 64 instructions may come in another order.
 *
 * Return: 0; what a callback returned; NTRACE_ERR_FORMAT for an instruction that is missing;
 * NTRACE_ERR_INVALID for more than NTRACE_RVFI_CHANGES_MAX changes.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_rvfi_retire(struct ntrace_tandem_rvfi *rvfi,
						  const struct ntrace_rvfi *retired);

/**
 * ntrace_tandem_rvfi_end - after the last instruction: its group
 * @rvfi: conversion
 *
 * A last instruction whose next pc is not known (a trap, or no NTRACE_RVFI_HAS_NEXT_PC) is left out.
 *
 * Return: as ntrace_tandem_rvfi_retire().
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_rvfi_end(struct ntrace_tandem_rvfi *rvfi);

/**
 * ntrace_tandem_rvfi_free - end a conversion
 * @rvfi: conversion, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_rvfi_free(struct ntrace_tandem_rvfi *rvfi);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_TANDEM_RVFI_H */
