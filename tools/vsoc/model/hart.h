/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A hart's trace port: from blocks of an emulator that translates code to
 * ingress blocks. Knows no emulator.
 *
 * The emulator announces a block when it enters it and stores a mark when it
 * leaves it at its end. So a block is reported when the hart's next step is
 * known. With the mark it ran to its end; without the mark it was left early, by
 * a fault or because the emulator wants to run an instruction once more, and as
 * a block is linear code, the address at which the hart goes on tells exactly
 * how much of it has retired.
 *
 * All functions run in the thread of the hart.
 */
#ifndef VSOC_MODEL_HART_H
#define VSOC_MODEL_HART_H

#include "ctr_check.h"
#include "trace_encoder.h"

/* How a block was left; the emulator stores it. */
enum {
	HART_MARK_NONE,		/* not at its end, or never */
	HART_MARK_END,		/* after its last instruction */
	HART_MARK_TAKEN,	/* the same, and that was a branch that was taken */
};

/* A block, packed so that the emulator can pass it as one constant. */
#define HART_BLOCK_PARCELS_MASK		0x0000ffffu
#define HART_BLOCK_ITYPE_SHIFT		16	/* BRANCH_NOT_TAKEN stands for both outcomes */
#define HART_BLOCK_LASTSIZE_SHIFT	20
#define HART_BLOCK_PRIV_SHIFT		24

static inline uint32_t hart_block(uint32_t parcels, unsigned int itype, unsigned int ilastsize,
				  unsigned int priv)
{
	return parcels | itype << HART_BLOCK_ITYPE_SHIFT | ilastsize << HART_BLOCK_LASTSIZE_SHIFT |
	       priv << HART_BLOCK_PRIV_SHIFT;
}

/**
 * struct hart - trace port of one hart
 * @te: where ingress blocks go while it runs
 * @ctr: where all of them go, too; NULL without such a check
 * @pending: a block was entered and is not reported yet
 * @block, @iaddr: that block
 * @errors: steps that no block explains; each lost the trace up to a new sync
 * @complain: called for each of them
 */
struct hart {
	struct trace_encoder *te;
	struct ctr_check *ctr;
	uint64_t iaddr;
	uint32_t block;
	bool pending;
	uint64_t errors;
	void (*complain)(void *opaque, uint64_t iaddr, uint32_t block, uint64_t pc);
	void *opaque;
};

/** hart_retire_checked - slow path of hart_retire() */
void hart_retire_checked(struct hart *hart, const struct ntrace_ingress *block, uint64_t cause);

/** hart_retire - an ingress block is complete; @cause of a trap */
static inline void hart_retire(struct hart *hart, const struct ntrace_ingress *block,
			       uint64_t cause)
{
	if (__builtin_expect(hart->ctr != NULL, 0))
		hart_retire_checked(hart, block, cause);
	else
		trace_encoder_retire(hart->te, block);
}

/** hart_finish_early - report the pending block up to @pc, where it was left */
void hart_finish_early(struct hart *hart, uint64_t pc);

/** hart_finish - report the pending block, if any; the hart goes on at @pc */
static inline void hart_finish(struct hart *hart, uint64_t pc, unsigned int mark)
{
	struct ntrace_ingress ingress;
	uint32_t block = hart->block;

	if (!hart->pending)
		return;
	hart->pending = false;
	if (mark == HART_MARK_NONE) {
		hart_finish_early(hart, pc);
		return;
	}
	ingress.iaddr = hart->iaddr;
	ingress.iretire = block & HART_BLOCK_PARCELS_MASK;
	/* BRANCH_TAKEN follows BRANCH_NOT_TAKEN. */
	ingress.itype = (block >> HART_BLOCK_ITYPE_SHIFT & 0xf) + (mark == HART_MARK_TAKEN);
	ingress.ilastsize = block >> HART_BLOCK_LASTSIZE_SHIFT & 1;
	ingress.priv = block >> HART_BLOCK_PRIV_SHIFT;
	ingress.sijump = 0;
	hart_retire(hart, &ingress, 0);
}

/** hart_enter - the hart enters @block at @pc; @mark is how it left the one before */
static inline void hart_enter(struct hart *hart, uint64_t pc, uint32_t block, unsigned int mark)
{
	hart_finish(hart, pc, mark);
	if (__builtin_expect(hart->ctr != NULL, 0))
		ctr_check_goes_on(hart->ctr, pc, block >> HART_BLOCK_PRIV_SHIFT);
	hart->iaddr = pc;
	hart->block = block;
	hart->pending = true;
}

/**
 * hart_trap - the hart takes a trap
 * @pc: epc
 * @interrupt: interrupt or exception
 * @cause: its code
 * @priv: privilege before the trap
 */
void hart_trap(struct hart *hart, uint64_t pc, bool interrupt, uint64_t cause, unsigned int priv,
	       unsigned int mark);

/** hart_step - an instruction of 4 bytes at @pc that the emulator carries out by itself */
void hart_step(struct hart *hart, uint64_t pc, unsigned int priv, unsigned int mark);

/**
 * hart_apply - a setup arrives; the hart goes on at @pc
 * Return: whether the hart must announce its blocks from now on.
 */
bool hart_apply(struct hart *hart, const struct trace_encoder_setup *setup, uint64_t pc,
		unsigned int mark);

/** hart_itype - how a block ends whose last instruction is @insn; BRANCH_NOT_TAKEN for a branch */
unsigned int hart_itype(uint32_t insn, unsigned int xlen, bool zcmp, bool zcmt);

#endif /* VSOC_MODEL_HART_H */
