/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Holds the Control Transfer Records of an emulated hart against the library's model
 * (digest ctr.md). The model sees what the trace port says, which knows nothing of the
 * emulator's own records, and every access to a register; the emulator's ring is looked
 * at whenever software could see it. Knows no emulator.
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
 * @mstateen0, @hstateen0: all ones where there is no Smstateen
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
	void (*observe)(void *opaque, struct ctr_state *state);
	/* One line, without a newline */
	void (*say)(void *opaque, const char *text);
};

/**
 * struct ctr_check - one hart; readable are the counts
 * @comparisons: of the whole ring, with the registers. Where software looks again and nothing
 *               has been recorded or written meanwhile, it is registers and entry 0 only
 * @entries: records that a transfer has made and that were there to be compared afterwards,
 *           each counted once: not those that were overwritten or popped before
 * @accesses: to registers: whether they trap, what they read
 * @differences: of comparisons and accesses; behind each the model goes on with what the
 *               emulator has
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
	bool changed;		/* since the last comparison of the whole ring */
	unsigned int fresh;	/* records since the last comparison that are still there */
};

/**
 * struct ctr_access - an instruction has accessed a CSR
 * @csr: number, as in the instruction
 * @priv: enum ntrace_priv
 * @result: 0 or enum ntrace_ctr_exception
 * @has_value: it was read
 * @value: and this was read
 * @new_value, @mask: what was written; the bits that were
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
 * ctr_check_init - begin
 * @check: memory of the caller
 * @config: what the emulated hart implements
 * @mutate: once the model has so many records, flip a bit of the youngest, to see that it
 *          is found; 0: do not
 *
 * Return: 0 or NTRACE_ERR_INVALID.
 */
int ctr_check_init(struct ctr_check *check, const struct ntrace_ctr_config *config,
		   const struct ctr_check_ops *ops, void *opaque, uint64_t mutate);

/** ctr_check_reset - the hart was reset: the model takes what the emulator has */
void ctr_check_reset(struct ctr_check *check);

/** ctr_check_retire - one block of the trace port, with the cause of a trap */
void ctr_check_retire(struct ctr_check *check, const struct ntrace_ingress *block, uint64_t cause);

/** ctr_check_goes_on - behind the last block the hart goes on at @pc; the emulator knows already */
void ctr_check_goes_on(struct ctr_check *check, uint64_t pc, unsigned int priv);

/** ctr_check_before - an instruction is about to access a CSR, or to execute SCTRCLR (@csr 0) */
void ctr_check_before(struct ctr_check *check, unsigned int csr);

/** ctr_check_access - it has done so */
void ctr_check_access(struct ctr_check *check, const struct ctr_access *access);

/** ctr_check_clear - SCTRCLR in mode @priv, which must not trap */
void ctr_check_clear(struct ctr_check *check, unsigned int priv);

/** ctr_check_lost - the trace port cannot tell what the hart did */
void ctr_check_lost(struct ctr_check *check);

#define CTR_CHECK_LINE_MAX 256

/** ctr_check_summary - the counts as "name value name value ...", into CTR_CHECK_LINE_MAX bytes */
void ctr_check_summary(const struct ctr_check *check, char *line);

#endif /* VSOC_MODEL_CTR_CHECK_H */
