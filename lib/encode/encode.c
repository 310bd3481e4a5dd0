// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The encoder's rules: the messages for each ingress block (N-Trace 1.0, chapter "encoder rules").
 * emit.c writes the bytes; span.c begins and ends spans of traced code.
 *
 * An emulator calls ntrace_encoder_retire() for every block that it runs, so two words, attention
 * and options, guard all code that only some configurations need.
 */
#include "emit.h"
#include "span.h"

/* Action required by the end of a block. */
enum {
	END_PLAIN,
	END_TRAP,
	END_BRANCH,
	END_DIRECT,
	END_INDIRECT,
};

static const uint8_t block_end[16] = {
	[NTRACE_ITYPE_NONE] = END_PLAIN,
	[NTRACE_ITYPE_EXCEPTION] = END_TRAP,
	[NTRACE_ITYPE_INTERRUPT] = END_TRAP,
	[NTRACE_ITYPE_TRAP_RETURN] = END_INDIRECT,
	[NTRACE_ITYPE_BRANCH_NOT_TAKEN] = END_BRANCH,
	[NTRACE_ITYPE_BRANCH_TAKEN] = END_BRANCH,
	[NTRACE_ITYPE_INDIRECT_JUMP_3BIT] = END_INDIRECT,
	[ITYPE_RC7_DIRECT_JUMP] = END_DIRECT,
	[NTRACE_ITYPE_INDIRECT_CALL] = END_INDIRECT,
	[NTRACE_ITYPE_DIRECT_CALL] = END_DIRECT,
	[NTRACE_ITYPE_INDIRECT_JUMP] = END_INDIRECT,
	[NTRACE_ITYPE_DIRECT_JUMP] = END_DIRECT,
	[NTRACE_ITYPE_COROUTINE_SWAP] = END_INDIRECT,
	[NTRACE_ITYPE_RETURN] = END_INDIRECT,
	[NTRACE_ITYPE_OTHER_INDIRECT_JUMP] = END_INDIRECT,
	[NTRACE_ITYPE_OTHER_DIRECT_JUMP] = END_DIRECT,
};

/* Inlined into the one function that an emulator calls for every block. */
#define SHORT_PATH static inline __attribute__((always_inline))

/* I-CNT is full, or would become full with @parcels more. */
static void make_room(struct ntrace_encoder *encoder, const struct ntrace_ingress *block,
		      uint32_t *parcels)
{
	bool full = encoder->icnt >= encoder->icnt_full ||
		    encoder->icnt + *parcels > encoder->icnt_max;

	if (full && encoder->icnt && encoder->config.sync4_for_icnt) {
		span_sync(encoder, NTRACE_SYNC_ICNT_FULL, block->iaddr & encoder->address_mask);
		if (encoder->attention & ATTENTION_CONTEXT)
			span_tell_context(encoder, block->priv);
	} else if (full && encoder->icnt) {
		emit_resource_full(encoder, NTRACE_RCODE_ICNT, encoder->icnt);
		encoder->icnt = 0;
	}
	/* A block longer than the register is split; the counts add up. */
	while (encoder->icnt + *parcels > encoder->icnt_max) {
		emit_resource_full(encoder, NTRACE_RCODE_ICNT, encoder->icnt_max);
		*parcels -= (uint32_t)encoder->icnt_max;
	}
}

SHORT_PATH void count_parcels(struct ntrace_encoder *encoder, const struct ntrace_ingress *block,
			      uint32_t parcels)
{
	if (encoder->config.sync_mode == 3) {
		encoder->since_sync += parcels;
		if (encoder->since_sync >= encoder->interval)
			encoder->attention |= ATTENTION_PERIODIC;
	}
	if (encoder->icnt + parcels > encoder->icnt_full)
		make_room(encoder, block, &parcels);
	encoder->icnt += parcels;
}

SHORT_PATH void add_branch(struct ntrace_encoder *encoder, bool taken)
{
	if (encoder->history) {
		encoder->hist = encoder->hist << 1 | taken;
		if (encoder->hist >= encoder->hist_full)
			emit_history(encoder);
	} else if (taken) {
		/* A due periodic sync replaces the DirectBranch as soon as the target is known. */
		if (encoder->attention & ATTENTION_PERIODIC) {
			encoder->pending = PENDING_BRANCH;
			return;
		}
		emit_direct_branch(encoder);
		encoder->icnt = 0;
	}
}

static void push(struct ntrace_encoder *encoder, const struct ntrace_ingress *block)
{
	unsigned int depth = encoder->config.implicit_return_depth;

	encoder->stack_top = (uint8_t)((encoder->stack_top + 1u) % depth);
	encoder->stack[encoder->stack_top] = (block->iaddr + 2 * (uint64_t)block->iretire) &
					     encoder->address_mask;
	if (encoder->stack_count < depth)
		encoder->stack_count++;
}

static bool pop(struct ntrace_encoder *encoder)
{
	unsigned int depth = encoder->config.implicit_return_depth;

	if (!encoder->stack_count)
		return false;
	encoder->popped = encoder->stack[encoder->stack_top];
	encoder->stack_top = (uint8_t)((encoder->stack_top + depth - 1u) % depth);
	encoder->stack_count--;
	return true;
}

/* Handles an indirect jump, including the options that save its message. */
static void indirect(struct ntrace_encoder *encoder, const struct ntrace_ingress *block)
{
	unsigned int itype = block->itype;

	if (encoder->options & OPTION_RETURNS) {
		if ((itype == NTRACE_ITYPE_RETURN || itype == NTRACE_ITYPE_COROUTINE_SWAP) &&
		    pop(encoder))
			encoder->pending = PENDING_RETURN;
		if (itype == NTRACE_ITYPE_INDIRECT_CALL || itype == NTRACE_ITYPE_COROUTINE_SWAP)
			push(encoder, block);
	}
	/*
	 * The load of the register must count in the same I-CNT as the jump: no message in between.
	 */
	if ((encoder->options & OPTION_SEQUENTIAL) && block->sijump &&
	    (NTRACE_SIJUMP_ITYPES >> itype & 1) && encoder->icnt > 1u << (block->ilastsize & 3))
		encoder->pending = PENDING_NONE;
}

static unsigned int pending_trap(const struct ntrace_encoder *encoder, unsigned int itype)
{
	if (encoder->options & OPTION_TRAP_BTYPE)
		return PENDING_TRAP;
	return itype == NTRACE_ITYPE_EXCEPTION ? PENDING_EXCEPTION : PENDING_INTERRUPT;
}

/* Return: false for a block that the port cannot carry. */
SHORT_PATH bool valid(const struct ntrace_encoder *encoder, const struct ntrace_ingress *block)
{
	unsigned int reserved = (block->itype & 0xf0u) | (block->priv & 0xf8u) |
				(unsigned int)(block->iaddr & 1) |
				(block->iretire & ~NTRACE_IRETIRE_MAX);

	return !reserved && (encoder->itypes >> block->itype & 1);
}

SHORT_PATH void end_block(struct ntrace_encoder *encoder, const struct ntrace_ingress *block)
{
	switch (block_end[block->itype]) {
	case END_TRAP:
		encoder->pending = (uint8_t)pending_trap(encoder, block->itype);
		break;
	case END_BRANCH:
		add_branch(encoder, block->itype == NTRACE_ITYPE_BRANCH_TAKEN);
		break;
	case END_DIRECT:
		if (encoder->options & OPTION_ALL_JUMPS)
			add_branch(encoder, true);
		else if ((encoder->options & OPTION_RETURNS) &&
			 block->itype == NTRACE_ITYPE_DIRECT_CALL)
			push(encoder, block);
		break;
	case END_INDIRECT:
		encoder->pending = PENDING_JUMP;
		if (encoder->options & (OPTION_RETURNS | OPTION_SEQUENTIAL))
			indirect(encoder, block);
		break;
	}
}

SHORT_PATH int retire(struct ntrace_encoder *encoder, const struct ntrace_ingress *block)
{
	uint64_t address = block->iaddr & encoder->address_mask;

	if (encoder->attention || !(encoder->priv_mask >> block->priv & 1)) {
		int traced = span_attend(encoder, block, address);

		if (traced <= 0)
			return traced;
	} else if (encoder->pending) {
		span_target(encoder, address);
	}
	count_parcels(encoder, block, block->iretire);
	end_block(encoder, block);
	return 0;
}

/*
 * A Zcmp instruction is reported once per access, always at its address; only the last report has
 * its real itype (E-Trace, chapter 4). The first report counts.
 */
static __attribute__((noinline)) int retire_accesses(struct ntrace_encoder *encoder,
						     const struct ntrace_ingress *block)
{
	struct ntrace_ingress rest = *block;
	uint32_t last = encoder->last_parcels;
	int error = 0;

	if (last && encoder->last_insn == block->iaddr && block->iretire >= last) {
		rest.iaddr += 2 * (uint64_t)last;
		rest.iretire -= last;
	}
	if (rest.iretire || !block->iretire)
		error = retire(encoder, &rest);
	else if (block->itype != NTRACE_ITYPE_NONE)
		end_block(encoder, &rest);
	if (error || !encoder->synced)
		return error;
	/* A trap ends the sequence: the next report starts over or belongs to the handler. */
	if (!block->iretire) {
		encoder->last_parcels = 0;
		return 0;
	}
	last = 1u << (block->ilastsize & 3);
	encoder->last_parcels = block->itype == NTRACE_ITYPE_NONE ? (uint8_t)last : 0;
	encoder->last_insn = block->iaddr + 2 * ((uint64_t)block->iretire - last);
	return 0;
}

int ntrace_encoder_retire(struct ntrace_encoder *encoder, const struct ntrace_ingress *block)
{
	if (!encoder->tracing)
		return 0;
	if (!valid(encoder, block))
		return NTRACE_ERR_INVALID;
	if (!block->iretire) {
		if (block->itype == NTRACE_ITYPE_NONE)
			return 0;
		if (block_end[block->itype] != END_TRAP)
			return NTRACE_ERR_INVALID;
	}
	if (encoder->attention & ATTENTION_ACCESSES)
		return retire_accesses(encoder, block);
	return retire(encoder, block);
}
