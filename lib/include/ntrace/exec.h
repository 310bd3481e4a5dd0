/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Executes RISC-V instructions on a state of which only a part is known. Each bit of a register and
 * of memory is known or unknown; an operation's result is known only where it is certain. What is
 * known here is what the hart has, whatever the unknown bits are.
 *
 * RV32 and RV64: I, M, A, C, F, D, Zicsr, Zifencei, Zba, Zbb, Zbc, Zbs, Zicond, Zabha, Zacas (not of
 * register pairs), Zfa, Zcb, Zcmp, and the loads and stores of Zfhmin. An instruction of V makes what
 * it may write unknown.
 *
 * Not known by rule: the outcome of sc, CSRs for which the caller has no function, the target of traps
 * and trap returns, and, with double precision that rounds to the nearest with ties to max magnitude
 * (RMM), results of fused operations and tiny products and quotients that are not exact. Floating
 * point uses the host's unit: on hosts that detect an underflow before rounding, fflags is unknown
 * after one.
 */
#ifndef NTRACE_EXEC_H
#define NTRACE_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>
#include <ntrace/isa.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_exec_value - bits of which some are known
 * @bits: value; unknown bits are 0
 * @known: those that are known are 1
 */
struct ntrace_exec_value {
	uint64_t bits;
	uint64_t known;
};

/* Registers have the numbers of the debug specification: fflags, frm and fcsr, x0 to x31, f0 to f31. */
#define NTRACE_EXEC_FFLAGS 0x001u
#define NTRACE_EXEC_FRM	   0x002u
#define NTRACE_EXEC_FCSR   0x003u
#define NTRACE_EXEC_X	   0x1000u
#define NTRACE_EXEC_F	   0x1020u

/**
 * struct ntrace_exec_config - a hart, and the memory and CSRs that it uses
 * @size: sizeof(struct ntrace_exec_config)
 * @isa: instruction set: XLEN, extensions that share encodings (ntrace_isa_parse())
 * @flen: width of the f registers: 0, 32 or 64
 * @user: first argument of the functions
 * @read: reads 1, 2, 4 or 8 bytes at an address; @value is preset to unknown. Return: 0, or an error
 *        that ends the step without an effect. NULL: memory is unknown
 * @write: the same for a store. NULL: only the effects report stores
 * @read_csr: reads a CSR other than fflags, frm and fcsr; @value is preset to unknown. NULL: unknown
 * @write_csr: writes it. NULL: no effect
 */
struct ntrace_exec_config {
	size_t size;
	struct ntrace_isa isa;
	unsigned int flen;
	void *user;
	int (*read)(void *user, uint64_t address, unsigned int bytes,
		    struct ntrace_exec_value *value);
	int (*write)(void *user, uint64_t address, unsigned int bytes,
		     const struct ntrace_exec_value *value);
	int (*read_csr)(void *user, unsigned int number, struct ntrace_exec_value *value);
	int (*write_csr)(void *user, unsigned int number, const struct ntrace_exec_value *value);
};

/* In @flags of struct ntrace_exec_effects. */
#define NTRACE_EXEC_LOADS	     0x01u	/* loads from memory */
#define NTRACE_EXEC_STORES	     0x02u	/* stores to memory; sc: if it succeeds */
#define NTRACE_EXEC_STORES_MAYBE     0x04u	/* sc, or a compare and swap: the store is not certain, and
						 * has not been passed to @write */
#define NTRACE_EXEC_STORES_ANYWHERE  0x08u	/* address or extent of the store is not known */
#define NTRACE_EXEC_TRAPS	     0x10u	/* ecall or ebreak */
#define NTRACE_EXEC_TRAP_RETURN	     0x20u	/* mret, sret or their kind */
#define NTRACE_EXEC_VECTOR	     0x40u	/* an instruction of V, whose registers are not modelled */

/**
 * struct ntrace_exec_effects - what an instruction did
 * @written: bit n: xn was written, bit 32 + n: fn was written
 * @next_pc: address of the next instruction, if @next_known
 * @address: address of the access; with Zcmp, the lowest one
 * @span: 0, or the access may be as far above @address, without @address_known
 * @value: with NTRACE_EXEC_STORES and at most 8 bytes: the stored value
 * @flags: NTRACE_EXEC_LOADS...
 * @bytes: bytes of the access, all registers together for push and pop; 0: none or not known
 * @size: length of the instruction in bytes
 * @next_known: @next_pc is certain, unless the instruction takes a trap
 * @address_known: @address is certain
 */
struct ntrace_exec_effects {
	uint64_t written;
	uint64_t next_pc;
	uint64_t address;
	uint64_t span;
	struct ntrace_exec_value value;
	uint16_t flags;
	uint16_t bytes;
	uint8_t size;
	bool next_known;
	bool address_known;
};

struct ntrace_exec;

/**
 * ntrace_exec_new - make an executor whose registers are unknown
 * @exec: receives the executor, to be freed with ntrace_exec_free()
 * @config: configuration, copied
 *
 * Return: 0; NTRACE_ERR_INVALID for another XLEN or FLEN; NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_exec_new(struct ntrace_exec **exec,
					const struct ntrace_exec_config *config);

/**
 * ntrace_exec_free - free an executor
 * @exec: executor, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_exec_free(struct ntrace_exec *exec);

/**
 * ntrace_exec_get - read a register
 * @exec: executor
 * @id: NTRACE_EXEC_X + n, NTRACE_EXEC_F + n, NTRACE_EXEC_FFLAGS, NTRACE_EXEC_FRM, NTRACE_EXEC_FCSR
 * @value: receives XLEN bits, FLEN bits or one byte, zero-extended
 *
 * Return: 0, or NTRACE_ERR_INVALID for another @id.
 */
NTRACE_EXPERIMENTAL int ntrace_exec_get(const struct ntrace_exec *exec, unsigned int id,
					struct ntrace_exec_value *value);

/**
 * ntrace_exec_set - write a register
 * @exec: executor
 * @id: as of ntrace_exec_get()
 * @value: the value; bits that the register does not have are ignored, and so is x0
 *
 * Return: 0, or NTRACE_ERR_INVALID for another @id.
 */
NTRACE_EXPERIMENTAL int ntrace_exec_set(struct ntrace_exec *exec, unsigned int id,
					const struct ntrace_exec_value *value);

/**
 * ntrace_exec_step - execute one instruction
 * @exec: executor
 * @insn: instruction, whose length is that of its encoding
 * @pc: its address
 * @effects: receives what it did
 *
 * Exceptions are not taken: an access has the effects that it has if it does not fault.
 *
 * Return: 0; NTRACE_ERR_UNSUPPORTED for an instruction that is illegal or not implemented; an error of
 * a function of the configuration. After an error, no register has changed, and memory has only the
 * first part of a push.
 */
NTRACE_EXPERIMENTAL int ntrace_exec_step(struct ntrace_exec *exec, uint32_t insn, uint64_t pc,
					 struct ntrace_exec_effects *effects);

/**
 * ntrace_exec_reads - registers that an instruction reads
 * @exec: executor
 * @insn: instruction
 *
 * Return: bit n: xn, bit 32 + n: fn; x0 is none of them. Registers of V are not counted.
 */
NTRACE_EXPERIMENTAL uint64_t ntrace_exec_reads(struct ntrace_exec *exec, uint32_t insn);

/**
 * ntrace_exec_arrive - add what the way of a branch or an indirect jump tells
 * @exec: executor, after ntrace_exec_step() of the instruction
 * @insn: instruction
 * @pc: its address
 * @next_pc: address of the next instruction, where it went without a trap
 *
 * The base of a jump becomes known, and so do the bits of an operand of beq or bne that the other one has,
 * and the upper bits of one that is not above the other one by bltu or bgeu.
 */
NTRACE_EXPERIMENTAL void ntrace_exec_arrive(struct ntrace_exec *exec, uint32_t insn, uint64_t pc,
					    uint64_t next_pc);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_EXEC_H */
