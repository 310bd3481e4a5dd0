/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Compares the Control Transfer Records of an emulated hart with the library's model (Control
 * Transfer Records 1.0). The model is fed from the trace port, which does not depend on the
 * emulator's own records, and from every access to a register. The emulator's ring is compared
 * whenever software could see it. This file depends on no emulator.
 *
 * An emulator that has no records of its own can use those of the model: without
 * ctr_check_ops.observe nothing is compared, and ctr_check_execute() carries out accesses.
 *
 * All functions run in the thread of the hart.
 */
#ifndef VSOC_MODEL_CTR_CHECK_H
#define VSOC_MODEL_CTR_CHECK_H

#include <ntrace/ctr.h>

/**
 * struct ctr_state - CTR of the hart, as the emulator has it
 * @source, @target, @data: entries in physical order, NTRACE_CTR_ENTRIES_MAX of each
 * @mctrctl, @vsctrctl, @siselect, @vsiselect, @status, @depth: the registers; @depth is
 *           sctrdepth
 * @mstateen0, @hstateen0: all ones if the hart has no Smstateen
 */
struct ctr_state {
	const uint64_t *source;
	const uint64_t *target;
	const uint64_t *data;
	uint64_t mctrctl;
	uint64_t vsctrctl;
	uint64_t siselect;
	uint64_t vsiselect;
	uint64_t mstateen0;
	uint64_t hstateen0;
	uint32_t status;
	uint32_t depth;
};

struct ctr_check_ops {
	/* NULL: the records are those of the model. */
	void (*observe)(void *opaque, struct ctr_state *state);
	/* Prints one line, without a newline. */
	void (*say)(void *opaque, const char *text);
};

/**
 * struct ctr_check - the check of one hart; callers may read the counts
 * @comparisons: number of comparisons: of the whole ring and the registers, or only of registers
 *               and entry 0 if software reads again and nothing was recorded or written since
 * @entries: records that a transfer made and a comparison saw, each counted once; records
 *           overwritten or popped before a comparison do not count
 * @accesses: accesses to registers that were compared: whether they trap, and the value read
 * @differences: in comparisons and accesses; after each one the model takes over the emulator's
 *               state
 */
struct ctr_check {
	uint64_t comparisons;
	uint64_t entries;
	uint64_t accesses;
	uint64_t differences;

	struct ntrace_ctr_model model;
	struct ntrace_ctr_ingress feed;
	const struct ctr_check_ops *ops;
	void *opaque;
	uint64_t mutate;
	uint64_t pc;
	bool changed;		/* the ring has changed since its last complete comparison */
	unsigned int fresh;	/* records made since the last comparison and still in the ring */
};

/**
 * struct ctr_access - one access of an instruction to a CSR
 * @csr: CSR number, as in the instruction
 * @priv: enum ntrace_priv
 * @result: 0 or enum ntrace_ctr_exception
 * @has_value: the instruction read the CSR
 * @value: the value read
 * @new_value, @mask: the value written, and its valid bits
 */
struct ctr_access {
	unsigned int csr;
	unsigned int priv;
	int result;
	bool has_value;
	uint64_t value;
	uint64_t new_value;
	uint64_t mask;
};

/**
 * ctr_check_init - begin to check a hart
 * @check: memory of the caller
 * @config: features of the emulated hart
 * @mutate: after this many records, flip a bit of the model's youngest one, to test that the check
 *          finds it; 0: never
 *
 * Return: 0 or NTRACE_ERR_INVALID.
 */
int ctr_check_init(struct ctr_check *check, const struct ntrace_ctr_config *config,
		   const struct ctr_check_ops *ops, void *opaque, uint64_t mutate);

/** ctr_check_reset - the hart was reset: the model copies the emulator's state, if it has any */
void ctr_check_reset(struct ctr_check *check);

/**
 * ctr_check_retire - the trace port reports a block; @cause: cause of the trap that ends it, if any
 */
void ctr_check_retire(struct ctr_check *check, const struct ntrace_ingress *block, uint64_t cause);

/**
 * ctr_check_goes_on - the hart continues at @pc after the last block; the emulator is there already
 */
void ctr_check_goes_on(struct ctr_check *check, uint64_t pc, unsigned int priv);

/** ctr_check_before - an instruction is about to access @csr, or to execute SCTRCLR (@csr 0) */
void ctr_check_before(struct ctr_check *check, unsigned int csr);

/** ctr_check_access - an instruction has accessed a CSR */
void ctr_check_access(struct ctr_check *check, const struct ctr_access *access);

/**
 * ctr_check_execute - carry out an access to a CSR in the model
 * @access: sets @result, and @value if the instruction reads the CSR
 *
 * Return: false if the CSR is none of CTR: nothing was done.
 */
bool ctr_check_execute(struct ctr_check *check, struct ctr_access *access);

/** ctr_check_clear - the hart executed SCTRCLR in mode @priv without a trap */
void ctr_check_clear(struct ctr_check *check, unsigned int priv);

/** ctr_check_lost - the trace port cannot tell what the hart did */
void ctr_check_lost(struct ctr_check *check);

#define CTR_CHECK_LINE_MAX 256

/** ctr_check_summary - the counts as "name value name value ...", into CTR_CHECK_LINE_MAX bytes */
void ctr_check_summary(const struct ctr_check *check, char *line);

#endif /* VSOC_MODEL_CTR_CHECK_H */
