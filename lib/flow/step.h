/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the last instruction of a block does to the flow, by its class:
 *
 *	class			next address			return stack
 *	plain, trap		after the block
 *	branch			target, if taken
 *	jump, other jump	target
 *	call			target				push
 *	indirect jump		reported, sequential
 *	indirect call		reported, sequential		push
 *	return			reported, sequential, popped	pop
 *	coroutine swap		reported, sequential, popped	pop, then push
 *	trap return		reported
 *
 * The first address that is known counts. Reported: by the message that ends with the instruction.
 * Sequential: AUIPC, LUI or C.LUI before it loads the register of the target. Popped: the encoder sends
 * no message for a return to the address that its own stack predicts (N-Trace 1.0, "implicit
 * return"). Its stack changes at each call and return, so this one does, too, with a reported address
 * as well.
 */
#ifndef NTRACE_FLOW_STEP_H
#define NTRACE_FLOW_STEP_H

#include "flow.h"

/* GCC would not inline it into several callers. */
#define SHORT_PATH static inline __attribute__((always_inline))

/* Whether an instruction of the class pops a return address; ntrace_insn_is_call(): pushes one. */
static inline bool step_pops(unsigned int insn_class)
{
	return insn_class == NTRACE_INSN_RETURN || insn_class == NTRACE_INSN_COROUTINE_SWAP;
}

/**
 * struct step - the way from a block to the next one
 * @next: address of the next block
 * @from: block whose link leads there: the call that the block returned to, else the block itself
 * @link: which one, as in struct block.link
 * @known: @next is valid: it need not be reported
 * @popped: the stack had a return address
 */
struct step {
	uint64_t next;
	uint32_t from;
	uint8_t link;
	bool known;
	bool popped;
};

/* The step after @block, which has the index @self; @taken: 1 if control is transferred. */
SHORT_PATH struct step step_after(struct ntrace_flow *flow, const struct block *block,
				  uint32_t self, unsigned int taken)
{
	struct step step = { .next = taken ? block->target : block->form.next,
			     .from = self,
			     .link = (uint8_t)taken,
			     .known = true };
	uint64_t address;
	uint32_t caller;

	switch (block->form.insn_class) {
	case NTRACE_INSN_CALL:
		stack_push(&flow->stack, block->form.next, self);
		break;
	case NTRACE_INSN_RETURN:
	case NTRACE_INSN_COROUTINE_SWAP:
		step.popped = stack_pop(&flow->stack, &address, &caller);
		step.known = step.popped || block->sequential;
		if (step.popped && !block->sequential)
			step.next = address;
		if (step.popped && flow_links(flow, caller)) {
			step.from = caller;
			step.link = 0;
		}
		if (block->form.insn_class == NTRACE_INSN_COROUTINE_SWAP)
			stack_push(&flow->stack, block->form.next, self);
		break;
	case NTRACE_INSN_INDIRECT_CALL:
		stack_push(&flow->stack, block->form.next, self);
		/* fall through */
	case NTRACE_INSN_INDIRECT_JUMP:
	case NTRACE_INSN_OTHER_INDIRECT_JUMP:
	case NTRACE_INSN_TRAP_RETURN:
		step.known = block->sequential;
		break;
	default:
		break;
	}
	return step;
}

#endif
