/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tandem verification (Trace Protocol Specification): a model executes each instruction that a
 * trace describes, and both states are compared.
 */
#ifndef NTRACE_TANDEM_VERIFY_H
#define NTRACE_TANDEM_VERIFY_H

#include <ntrace/isa.h>
#include <ntrace/tandem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The model waits for an interrupt in wfi and would not return: the verifier skips wfi. */
#define NTRACE_TANDEM_MODEL_WFI_BLOCKS 0x1u

/**
 * struct ntrace_tandem_model - a model of a hart
 * @size: sizeof(struct ntrace_tandem_model)
 * @data: first argument of the functions
 * @read_registers: read @count registers: numbers of struct ntrace_tandem_state. Return: 0;
 *                  NTRACE_ERR_UNSUPPORTED if one of them does not exist in the model; another error
 * @write_registers: the same for writing; NULL: the model cannot be written, so that verification
 *                   ends at the first mismatch
 * @read_memory: read memory at a virtual address, as a load in the current privilege would; may be
 *               NULL. Return: 0; NTRACE_ERR_NOMAP if the model has no memory there
 * @write_memory: the same for writing; may be NULL
 * @step: execute one instruction, or take the exception that it raises. Return: 0 or an error
 * @reset: reset the hart; may be NULL
 * @flags: NTRACE_TANDEM_MODEL_WFI_BLOCKS
 * @xlen: bits of pc, 32 or 64, which must be those of the trace; 0: not known
 *
 * An error other than those named ends the verification.
 */
struct ntrace_tandem_model {
	size_t size;
	void *data;
	int (*read_registers)(void *data, const uint16_t *ids, uint64_t *values, size_t count);
	int (*write_registers)(void *data, const uint16_t *ids, const uint64_t *values,
			       size_t count);
	int (*read_memory)(void *data, uint64_t address, void *bytes, size_t size);
	int (*write_memory)(void *data, uint64_t address, const void *bytes, size_t size);
	int (*step)(void *data);
	int (*reset)(void *data);
	unsigned int flags;
	unsigned int xlen;
};

/* Kind of a difference. */
enum ntrace_tandem_difference {
	NTRACE_TANDEM_DIFFERENT_REGISTER,	/* value of a register, pc or privilege after the group */
	NTRACE_TANDEM_DIFFERENT_STORE,		/* data of a store; @id is not used */
	NTRACE_TANDEM_DIFFERENT_INSN,		/* the instruction in the model's memory */
	NTRACE_TANDEM_DIFFERENT_TRAP,		/* a rule of interrupts, and the register that shows it */
	NTRACE_TANDEM_DIFFERENT_FORMAT,		/* the group violates the protocol; @problems */
	NTRACE_TANDEM_DIFFERENT_ADDRESS,	/* address of a memory access */
	NTRACE_TANDEM_DIFFERENT_WIDTH,		/* bytes of a store */
	NTRACE_TANDEM_DIFFERENT_ACCESS,		/* an access that is missing, or not the instruction's */
};

/* Rules that a verification judges; ntrace_tandem_rules() describes them. */
enum ntrace_tandem_rule {
	NTRACE_TANDEM_RULE_REGISTER,
	NTRACE_TANDEM_RULE_PC,
	NTRACE_TANDEM_RULE_PRIV,
	NTRACE_TANDEM_RULE_INSN,
	NTRACE_TANDEM_RULE_FORMAT,
	NTRACE_TANDEM_RULE_STORE,
	NTRACE_TANDEM_RULE_ACCESS_ADDRESS,
	NTRACE_TANDEM_RULE_ACCESS_PHYSICAL,
	NTRACE_TANDEM_RULE_ACCESS_WIDTH,
	NTRACE_TANDEM_RULE_ACCESS_MISSING,
	NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED,
	NTRACE_TANDEM_RULE_INTERRUPT_CAUSE,
	NTRACE_TANDEM_RULE_INTERRUPT_DELEGATION,
	NTRACE_TANDEM_RULE_INTERRUPT_GLOBAL,
	NTRACE_TANDEM_RULE_INTERRUPT_ENABLE,
	NTRACE_TANDEM_RULE_INTERRUPT_PENDING,
	NTRACE_TANDEM_RULE_INTERRUPT_PRIORITY,
	NTRACE_TANDEM_RULE_INTERRUPT_VECTOR,
	NTRACE_TANDEM_RULE_INTERRUPT_EPC,
	NTRACE_TANDEM_RULE_INTERRUPT_TVAL,
	NTRACE_TANDEM_RULE_INTERRUPT_STATUS,
	NTRACE_TANDEM_RULE_INTERRUPT_PRIV,
	NTRACE_TANDEM_RULE_INTERRUPT_OTHER,
	NTRACE_TANDEM_RULE_INTERRUPT_IMMEDIATE,
	NTRACE_TANDEM_RULE_INTERRUPT_TAKEN,
	NTRACE_TANDEM_RULES,
};

/**
 * struct ntrace_tandem_rule_info - description of a rule
 * @id: short name, such as "interrupt-enable"
 * @section: specification and section
 * @text: what breaks the rule
 */
struct ntrace_tandem_rule_info {
	const char *id;
	const char *section;
	const char *text;
};

/**
 * ntrace_tandem_rule_info - describe a rule
 * @rule: enum ntrace_tandem_rule
 *
 * Return: a constant, or NULL for an unknown value.
 */
NTRACE_EXPERIMENTAL const struct ntrace_tandem_rule_info *
ntrace_tandem_rule_info(unsigned int rule);

/**
 * struct ntrace_tandem_mismatch - one difference between trace and model
 * @group: number of the group, from 0
 * @offset: offset of the group in the stream
 * @pc: pc of the instruction
 * @insn: the instruction, if @insn_bytes is not 0
 * @insn_bytes: 2, 4, or 0 in a group without an instruction
 * @kind: enum ntrace_tandem_difference
 * @id: register
 * @address: address of an access or an instruction
 * @seen: value in the trace: data, address, bytes (0 = no store), register; of an interrupt that
 *        must not be taken, the register that forbids it
 * @expected: value in the model, or by the rule
 * @problems: flags of a group that violates the protocol
 * @rule: enum ntrace_tandem_rule
 * @reserved: 0
 */
struct ntrace_tandem_mismatch {
	uint64_t group;
	uint64_t offset;
	uint64_t pc;
	uint64_t insn;
	unsigned int insn_bytes;
	unsigned int kind;
	unsigned int id;
	unsigned int problems;
	uint64_t address;
	uint64_t seen;
	uint64_t expected;
	unsigned int rule;
	unsigned int reserved;
};

/* In @flags of struct ntrace_tandem_verify_config. */
#define NTRACE_TANDEM_VERIFY_LINUX_USER 0x1u /* a Linux program in user mode, without its kernel */

/** struct ntrace_tandem_range - addresses from @first to @last */
struct ntrace_tandem_range {
	uint64_t first;
	uint64_t last;
};

/** struct ntrace_tandem_mask - the bits @mask of register @id */
struct ntrace_tandem_mask {
	uint16_t id;
	uint64_t mask;
};

/**
 * struct ntrace_tandem_verify_config - how to verify
 * @size: sizeof(struct ntrace_tandem_verify_config)
 * @params: parameters of the stream; copied
 * @model: the model; copied
 * @full_interval: groups between two comparisons of all registers; 1: after each group; 0: never.
 *                 After each other group, pc, privilege, GPRs and what its instruction may change are
 *                 compared
 * @chosen: non-deterministic state (mip, counters): these bits are never compared. A group's values
 *          are written to the model before its step, and an instruction that reads such a CSR has
 *          its destination taken from the trace
 * @chosen_count: elements of @chosen
 * @absent: registers that the trace leaves out (partial trace): never compared, and written only
 *          by interrupts
 * @absent_count: elements of @absent
 * @devices: physical addresses, and effective ones if the trace has no physical ones, of devices:
 *           the destination of a load is taken from the trace, stores are not compared
 * @device_count: elements of @devices
 * @mismatch: called for each difference. Return: 0 to go on, else the verification ends with this
 *            value
 * @group: called after each group, before it is compared; may be NULL. Return: as @mismatch
 * @user: argument of @mismatch and @group
 * @flags: NTRACE_TANDEM_VERIFY_LINUX_USER: the kernel is neither in the trace nor in the model. The
 *         registers that a system call changed are written to the model, which does not execute it;
 *         what it wrote to memory follows in a group that initialises state. Only calls that change
 *         the memory map (brk, mmap, munmap, mremap, mprotect, madvise) are executed, mmap as an
 *         anonymous one at the address that the trace has
 * @pending_limit: instructions that may retire while an interrupt is pending and enabled; 0: any
 *                 number. Judged if the trace gives mip, mie, mstatus and the privilege, and
 *                 mideleg unless the interrupt must be taken with any delegation
 *
 * The arrays are borrowed until ntrace_tandem_verifier_free().
 */
struct ntrace_tandem_verify_config {
	size_t size;
	struct ntrace_tandem_params params;
	struct ntrace_tandem_model model;
	uint64_t full_interval;
	const struct ntrace_tandem_mask *chosen;
	size_t chosen_count;
	const uint16_t *absent;
	size_t absent_count;
	const struct ntrace_tandem_range *devices;
	size_t device_count;
	int (*mismatch)(void *user, const struct ntrace_tandem_mismatch *mismatch);
	int (*group)(void *user, const struct ntrace_tandem_state *state);
	void *user;
	unsigned int flags;
	uint64_t pending_limit;
};

/**
 * struct ntrace_tandem_verify_stats - counts
 * @groups: groups
 * @steps: instructions that the model executed
 * @interrupts: interrupts, taken in the model's place by their rules
 * @initialisations: groups of a debugger or loader, and changes outside groups
 * @resets: resets
 * @mismatched: groups with at least one difference
 * @differences: differences
 * @chosen: results that were taken from the trace
 * @full: comparisons of all registers
 * @calls: system calls of a Linux program in user mode
 */
struct ntrace_tandem_verify_stats {
	uint64_t groups;
	uint64_t steps;
	uint64_t interrupts;
	uint64_t initialisations;
	uint64_t resets;
	uint64_t mismatched;
	uint64_t differences;
	uint64_t chosen;
	uint64_t full;
	uint64_t calls;
};

struct ntrace_tandem_verifier;

/**
 * ntrace_tandem_verify_config_init - defaults
 * @config: receives full_interval 1000, pending_limit 1000, parameters of RV64, and counters, time,
 *          mip and sip as non-deterministic state
 */
NTRACE_EXPERIMENTAL void
ntrace_tandem_verify_config_init(struct ntrace_tandem_verify_config *config);

/**
 * ntrace_tandem_verifier_new - start a verification
 * @verifier: receives the verifier, to be freed with ntrace_tandem_verifier_free()
 * @config: configuration; copied, except the arrays
 *
 * Return: 0; NTRACE_ERR_INVALID for a configuration without read_registers, step or mismatch, or
 * with bad parameters; NTRACE_ERR_NOMEM; an error of the model.
 */
NTRACE_EXPERIMENTAL int
ntrace_tandem_verifier_new(struct ntrace_tandem_verifier **verifier,
			   const struct ntrace_tandem_verify_config *config);

/**
 * ntrace_tandem_verifier_field - pass the next field of the trace
 * @verifier: verifier
 * @field: field of ntrace_tandem_read()
 *
 * The first group should initialise the state: registers that the trace has never given are not
 * compared.
 *
 * Return: 0; what a callback returned; NTRACE_ERR_UNSUPPORTED after a mismatch that the model cannot
 * recover from, because it cannot be written; an error of the model.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_verifier_field(struct ntrace_tandem_verifier *verifier,
						     const struct ntrace_tandem_field *field);

/**
 * ntrace_tandem_verifier_stats - counts up to now
 * @verifier: verifier
 * @stats: receives the counts
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_verifier_stats(const struct ntrace_tandem_verifier *verifier,
						      struct ntrace_tandem_verify_stats *stats);

/**
 * ntrace_tandem_verifier_rule - how often a rule was judged
 * @verifier: verifier
 * @rule: enum ntrace_tandem_rule
 * @judged: receives how often
 * @broken: receives how often it was broken
 *
 * Return: 0, or NTRACE_ERR_INVALID for an unknown rule.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_verifier_rule(const struct ntrace_tandem_verifier *verifier,
						    unsigned int rule, uint64_t *judged,
						    uint64_t *broken);

/**
 * ntrace_tandem_verifier_free - end a verification
 * @verifier: verifier, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_verifier_free(struct ntrace_tandem_verifier *verifier);

struct ntrace_tandem_gdb;

/**
 * ntrace_tandem_gdb_open - connect to the GDB remote stub of a model
 * @gdb: receives the connection, to be closed with ntrace_tandem_gdb_close()
 * @address: "HOST:PORT", or the path of a Unix socket
 * @model: receives a model that uses the connection
 *
 * The stub must describe its registers (qXfer:features:read). The hart must be stopped, and is
 * stopped afterwards. QEMU: -S -gdb unix:PATH,server=on,wait=off.
 *
 * Return: 0; NTRACE_ERR_IO with errno set, ETIMEDOUT for a stub that does not answer;
 * NTRACE_ERR_FORMAT if it answers something else, or registers have impossible sizes;
 * NTRACE_ERR_UNSUPPORTED if it has no description of registers with pc; NTRACE_ERR_NOSPACE if a file of
 * the description is larger than 1 MiB; NTRACE_ERR_NOMEM;
 * NTRACE_ERR_INVALID for an address that is neither.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_gdb_open(struct ntrace_tandem_gdb **gdb, const char *address,
					       struct ntrace_tandem_model *model);

/**
 * ntrace_tandem_gdb_close - close a connection
 * @gdb: connection, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_gdb_close(struct ntrace_tandem_gdb *gdb);

/**
 * struct ntrace_tandem_builtin_stats - what the model without a simulator took from the trace
 * @memory: loads that read bytes which the trace had not given before
 * @conditional: outcomes of sc and compare and swap that were not certain
 * @csr: values of CSRs that differ from what was written, where the hart may choose
 * @faults: exceptions that depend on more than the instruction and the registers
 * @unsupported: instructions that the model does not execute
 * @results: registers whose value was not certain for another reason, such as CSRs that were not given
 */
struct ntrace_tandem_builtin_stats {
	uint64_t memory;
	uint64_t conditional;
	uint64_t csr;
	uint64_t faults;
	uint64_t unsupported;
	uint64_t results;
};

struct ntrace_tandem_builtin;

/**
 * ntrace_tandem_builtin_new - make a model that needs no simulator (ntrace/exec.h)
 * @builtin: receives the model, to be freed with ntrace_tandem_builtin_free()
 * @params: parameters of the trace; copied
 * @isa: instruction set, or NULL: the one of @params with C, without Zcmp and Zcmt
 * @linux_user: the trace is that of a Linux program in user mode
 * @model: receives the model for struct ntrace_tandem_verify_config
 *
 * The model knows memory only as far as the trace has given it; ntrace_tandem_builtin_stats() counts what
 * it took from the trace. It needs each group before it executes it: the function group of the
 * configuration must call ntrace_tandem_builtin_group().
 *
 * Return: 0; NTRACE_ERR_INVALID for bad parameters or another XLEN of @isa; NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_builtin_new(struct ntrace_tandem_builtin **builtin,
						  const struct ntrace_tandem_params *params,
						  const struct ntrace_isa *isa, bool linux_user,
						  struct ntrace_tandem_model *model);

/**
 * ntrace_tandem_builtin_group - give the model the group that is verified next
 * @builtin: model
 * @group: state of the trace after the group; borrowed until the next call
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_builtin_group(struct ntrace_tandem_builtin *builtin,
						     const struct ntrace_tandem_state *group);

/**
 * ntrace_tandem_builtin_stats - counts up to now
 * @builtin: model
 * @stats: receives the counts
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_builtin_stats(const struct ntrace_tandem_builtin *builtin,
						     struct ntrace_tandem_builtin_stats *stats);

/**
 * ntrace_tandem_builtin_free - free a model
 * @builtin: model, or NULL
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_builtin_free(struct ntrace_tandem_builtin *builtin);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_TANDEM_VERIFY_H */
