/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the parts of the verifier share: its state, and the memory access of an instruction. */
#ifndef NTRACE_TANDEM_VERIFIER_H
#define NTRACE_TANDEM_VERIFIER_H

#include <ntrace/tandem_verify.h>

#include "csr.h"

enum {
	PC = NTRACE_TANDEM_PC,
	PRIV = NTRACE_TANDEM_PRIV,
	GPR = NTRACE_TANDEM_GPR,
	FPR = NTRACE_TANDEM_FPR,
	REGISTERS = NTRACE_TANDEM_STATE_REGISTERS,
};

#define PRIV_M 3u
#define MSTATUS_MIE (UINT64_C(1) << 3)
#define MSTATUS_FS (UINT64_C(3) << 13)
#define MSTATUS_MPRV (UINT64_C(1) << 17)

/* Kind of memory access of an instruction. */
enum tandem_access_kind {
	TANDEM_ACCESS_NONE,
	TANDEM_ACCESS_LOAD,
	TANDEM_ACCESS_STORE,
	TANDEM_ACCESS_LR,
	TANDEM_ACCESS_SC,
	TANDEM_ACCESS_AMO,
	TANDEM_ACCESS_OTHER,	/* it may access memory, in a way that is not derived here */
	TANDEM_ACCESS_KINDS,
};

/**
 * struct tandem_access - the memory access of an instruction
 * @kind: enum tandem_access_kind
 * @bytes: its width
 * @base: register of the address, 0 = none
 * @offset: added to the base
 * @from: register whose low bytes are stored, 0 = x0 or none
 * @to: register that is loaded or receives the result, 0 = none
 * @zero_extend: the loaded value is zero-extended
 */
struct tandem_access {
	enum tandem_access_kind kind;
	unsigned int bytes;
	unsigned int base;
	int64_t offset;
	unsigned int from;
	unsigned int to;
	bool zero_extend;
};

/** tandem_access_of - the access of instruction @insn, whose length is that of its encoding */
void tandem_access_of(uint32_t insn, unsigned int xlen, unsigned int flen,
		      struct tandem_access *access);

/*
 * A store that differs leaves two versions of its bytes: the model's memory has the one, the hart's
 * may have the other. A later load shows which one the hart has.
 */
struct tandem_doubt {
	uint64_t address;
	unsigned int bytes;	/* 0: unused */
	uint8_t traced[8];
};

#define TANDEM_DOUBTS 16

/*
 * An element of the trace, by kind of access: whether the trace has given it at least once, and the
 * first group that lacks it, which is reported when the trace gives it for the first time.
 */
struct tandem_element {
	bool given, lacked;
	struct ntrace_tandem_mismatch lack;
};

struct ntrace_tandem_verifier {
	struct ntrace_tandem_verify_config config;
	struct ntrace_tandem_verify_stats stats;
	struct ntrace_tandem_state state;
	uint64_t before[REGISTERS];	/* S before the group: what the rules need of it */
	uint64_t before_known;		/* bit n: S knew register GPR + n before the group */
	bool base_known, from_known;	/* @access: S knew its base, and its data */
	struct tandem_access access;	/* of the group's instruction */
	uint64_t address;		/* of @access, if base_known */
	struct tandem_element addresses[TANDEM_ACCESS_KINDS], data[TANDEM_ACCESS_KINDS];
	struct tandem_doubt doubts[TANDEM_DOUBTS];
	unsigned int next_doubt;
	uint64_t compared[REGISTERS];	/* bits of each register that are compared */
	uint8_t exists[REGISTERS];	/* in the model: 0 not asked yet, 1, 2 = no */
	uint16_t ids[REGISTERS];
	uint64_t values[REGISTERS];
	size_t count;
	bool differs;			/* the current group */
	bool interrupt;			/* the current group is one, taken by the rules */
	uint64_t due;			/* interrupts, one of which the next group must take */
	uint64_t zero;			/* value other than 0 that the group gives for x0 */
	uint64_t waited;		/* instructions since one is pending and enabled */
	uint64_t given_alone[64];	/* CSRs that the trace has given without a trap */
	struct ntrace_tandem_mismatch lacks[2]; /* pc and privilege that the group before left out */
	unsigned int lack_count;
	struct ntrace_tandem_field *requests; /* stores of the group before its INIT */
	size_t request_count, request_room;
	struct {
		uint64_t judged, broken;
	} rules[NTRACE_TANDEM_RULES];
};

/* The bits that a register of XLEN bits has. */
static inline uint64_t tandem_xlen_mask(unsigned int xlen)
{
	return xlen == 32 ? UINT32_MAX : UINT64_MAX;
}

/* Counts that a rule was judged. */
static inline void tandem_judge(struct ntrace_tandem_verifier *verifier, unsigned int rule)
{
	verifier->rules[rule].judged++;
}

/* Whether the trace has given a register. */
static inline bool tandem_known(const struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	return ntrace_tandem_bit(verifier->state.known, id);
}

/*
 * Whether no address is translated below M mode: satp, and those of a hypervisor, are Bare (Privileged
 * Architecture 1.12, 4.1.11, 8.2.10 and 8.2.18). V does not matter then.
 */
static inline bool tandem_is_bare(const uint64_t *reg, const uint64_t *known, unsigned int xlen)
{
	unsigned int mode = xlen == 32 ? 31 : 60;

	if (reg[SATP] >> mode)
		return false;
	if (!(reg[MISA] >> 7 & 1))
		return true;
	return ntrace_tandem_bit(known, VSATP) && ntrace_tandem_bit(known, HGATP) &&
	       !(reg[VSATP] >> mode) && !(reg[HGATP] >> mode);
}

/* Whether the instruction of the group is one of csrrw, csrrs, ... */
static inline bool tandem_is_csr(const struct ntrace_tandem_state *state)
{
	return (state->has & NTRACE_TANDEM_HAS_INSN) && (state->insn & 0x7f) == 0x73 &&
	       (state->insn >> 12 & 3);
}

/* Whether it also writes the CSR: csrrs and csrrc with x0, and csrrsi and csrrci with 0, do not. */
static inline bool tandem_writes_csr(const struct ntrace_tandem_state *state)
{
	return tandem_is_csr(state) && ((state->insn >> 12 & 3) == 1 || (state->insn >> 15 & 31));
}

/* ---- verify.c ---- */

/** tandem_report - report a difference; fills the fields that all differences have */
int tandem_report(struct ntrace_tandem_verifier *verifier, unsigned int rule,
		  struct ntrace_tandem_mismatch *mismatch);

/** tandem_locate - fill the fields of a difference that say where it is: at the current group */
void tandem_locate(const struct ntrace_tandem_verifier *verifier,
		   struct ntrace_tandem_mismatch *mismatch);

/** tandem_report_located - report a difference whose place is filled in */
int tandem_report_located(struct ntrace_tandem_verifier *verifier, unsigned int rule,
			  struct ntrace_tandem_mismatch *mismatch);

/** tandem_model_has - Return: 1 if the model has the register, 0 if not, or an error */
int tandem_model_has(struct ntrace_tandem_verifier *verifier, unsigned int id);

/** tandem_is_absent - whether the configuration says that the trace does not give the register */
bool tandem_is_absent(const struct ntrace_tandem_verifier *verifier, unsigned int id);

/* ---- chosen.c ---- */

/** tandem_write_inputs - give the model the CSRs of the group that the trace decides, before its step */
int tandem_write_inputs(struct ntrace_tandem_verifier *verifier);

/** tandem_write_results - give it the fields and results that the trace decides, after its step */
int tandem_write_results(struct ntrace_tandem_verifier *verifier);

/* ---- state.c ---- */

/** tandem_state_set - set a register, and the views of it */
void tandem_state_set(struct ntrace_tandem_state *state, unsigned int id, uint64_t value);

/**
 * tandem_trap_cause - MCAUSE or SCAUSE of the privilege that the trap of the group entered, 0 without one
 *
 * The group may also give the registers of the other privilege, which keep their values.
 */
unsigned int tandem_trap_cause(const struct ntrace_tandem_state *state);

/** tandem_sstatus_mask - the fields of mstatus that sstatus has */
uint64_t tandem_sstatus_mask(const struct ntrace_tandem_state *state);

/* ---- access.c ---- */

/** tandem_derive_access - derive the access of the group's instruction, before the model's step */
void tandem_derive_access(struct ntrace_tandem_verifier *verifier);

/** tandem_is_device - whether the group accesses a device, or its access cannot be of memory */
bool tandem_is_device(const struct ntrace_tandem_verifier *verifier);

/**
 * tandem_settle_load - after the step of a load from bytes in doubt: if the trace has loaded its
 * version of them, it becomes the model's
 */
int tandem_settle_load(struct ntrace_tandem_verifier *verifier);

/** tandem_drop_doubts - these bytes are the same in hart and model again */
void tandem_drop_doubts(struct ntrace_tandem_verifier *verifier, uint64_t address,
			unsigned int bytes);

/** tandem_check_access - compare the access that the group gives with the derived one and the memory */
int tandem_check_access(struct ntrace_tandem_verifier *verifier);

/* ---- interrupt.c ---- */

/** tandem_interrupt_cause - MCAUSE or SCAUSE if the group is an interrupt, else 0 */
unsigned int tandem_interrupt_cause(const struct ntrace_tandem_verifier *verifier);

/** tandem_take_interrupt - let the model take the interrupt of the group, by the rules */
int tandem_take_interrupt(struct ntrace_tandem_verifier *verifier, unsigned int cause_id);

/** tandem_trap_status - mstatus after a trap from privilege @priv to M (@machine) or S */
uint64_t tandem_trap_status(uint64_t status, uint64_t priv, bool machine, uint64_t misa,
			    unsigned int xlen);

/** tandem_register_rule - the rule that a register of an interrupt, or of any group, breaks */
unsigned int tandem_register_rule(const struct ntrace_tandem_verifier *verifier, unsigned int id);

/** tandem_judge_pending - after the groups that are no interrupt: whether one should have been taken */
int tandem_judge_pending(struct ntrace_tandem_verifier *verifier);

#endif /* NTRACE_TANDEM_VERIFIER_H */
