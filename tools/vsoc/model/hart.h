/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace port of a hart: converts the blocks of a translating emulator to ingress blocks. This file
 * depends on no emulator.
 *
 * The emulator announces each block that it enters, and stores a mark when the block ran to its
 * end. The port reports a block only when the hart's next step is known. Without a mark the
 * emulator left the block early, for a fault or to run an instruction again. A block is linear
 * code, so the address at which the hart continues then shows how much of the block has retired.
 *
 * All functions run in the thread of the hart.
 */
#ifndef VSOC_MODEL_HART_H
#define VSOC_MODEL_HART_H

#include "ctr_check.h"
#include "trace_encoder.h"

/* How the emulator left a block; the emulator stores this mark. */
enum {
	HART_MARK_NONE,		/* before its end, or not yet */
	HART_MARK_END,		/* after its last instruction */
	HART_MARK_TAKEN,	/* before its end, or not at all */
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
 * @te: gets the ingress blocks while it runs
 * @ctr: gets all ingress blocks; NULL without the check of CTR
 * @pending: a block was entered and has not been reported
 * @block, @iaddr: the pending block and its address
 * @errors: number of steps that no block explains; after each, trace is missing up to the next sync
 * @complain: called for each error
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

/**
 * hart_retire - hand over a complete ingress block; @cause: cause of the trap that ends it, if any
 */
static inline void hart_retire(struct hart *hart, const struct ntrace_ingress *block,
			       uint64_t cause)
{
	if (__builtin_expect(hart->ctr != NULL, 0))
		hart_retire_checked(hart, block, cause);
	else
		trace_encoder_retire(hart->te, block);
}

/** hart_finish_early - report the pending block up to @pc, where the emulator left it */
void hart_finish_early(struct hart *hart, uint64_t pc);

/** hart_finish - report the pending block, if any; the hart continues at @pc */
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

/** hart_enter - the hart enters @block at @pc; @mark: mark of the previous block */
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
 * @interrupt: the trap is an interrupt, not an exception
 * @cause: exception or interrupt code
 * @priv: privilege before the trap
 */
void hart_trap(struct hart *hart, uint64_t pc, bool interrupt, uint64_t cause, unsigned int priv,
	       unsigned int mark);

/** hart_step - the emulator itself carried out the instruction of 4 bytes at @pc */
void hart_step(struct hart *hart, uint64_t pc, unsigned int priv, unsigned int mark);

/**
 * hart_apply - apply a setup; the hart continues at @pc
 * Return: whether the hart must announce its blocks from now on.
 */
bool hart_apply(struct hart *hart, const struct trace_encoder_setup *setup, uint64_t pc,
		unsigned int mark);

/** hart_itype - itype of a block whose last instruction is @insn; BRANCH_NOT_TAKEN for a branch */
unsigned int hart_itype(uint32_t insn, unsigned int xlen, bool zcmp, bool zcmt);

#endif /* VSOC_MODEL_HART_H */
