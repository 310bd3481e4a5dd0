// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The walk (N-Trace 1.0, "decoding") through the program, block by block, as far as I-CNT or HIST
 * reaches. BTM and HTM share it. flow_walk_fast() goes over ordinary blocks; walk_any_block() takes
 * all others, asks for the space of code that the present one lacks, and cuts the block in which
 * I-CNT or an owner ends.
 */
#include "step.h"

/* Which way a branch went. */
enum outcome {
	KNOWN,
	NOT_REPORTED,
	CONTRADICTED,	/* the reported address is on neither side */
};

/* How a block ended. */
struct end {
	struct step step;
	bool taken;
	bool last;	/* I-CNT ends with this block */
	enum outcome outcome;
	bool cut;	/* the owner changes inside the block */
};

static bool next_bit(struct history *history)
{
	if (!history->position)
		history->position = history->width;
	history->position--;
	history->left--;
	return history->pattern >> history->position & 1;
}

static inline uint64_t last_address(const struct block *block)
{
	return block->form.address + block->form.bytes - block->form.last_size;
}

/*
 * A branch without a history bit. In BTM it was not taken; in HTM it should have had a bit, and the
 * flow is known up to and including the branch.
 */
static void branch_without_bit(const struct ntrace_flow *flow, struct walk *walk,
			       const struct block *block, struct end *end)
{
	bool history = flow->mode == NTRACE_MODE_HISTORY || walk->stop_at_branch;

	if (end->last && walk->direct) {
		/* DirectBranchSync may be sent on linear code (N-Trace 1.0, "synchronization"). */
		end->taken = !walk->address_decides || walk->address != block->form.next;
	} else if (end->last && walk->address_decides) {
		end->taken = walk->address == block->target && walk->address != block->form.next;
		/* The address matches neither side: the caller reports the contradiction. */
		if (history && !walk->transfer && !end->taken && walk->address != block->form.next)
			end->outcome = CONTRADICTED;
	} else if (history) {
		end->outcome = NOT_REPORTED;
	}
}

/* Warns of an inferred return: modes 1 and 2 of the encoder do not compare the whole address. */
static bool warn_inferred(struct ntrace_flow *flow, const struct block *block)
{
	unsigned int mode = flow->params.implicit_return;

	if (flow->inferred_warned || (mode != 1 && mode != 2))
		return true;
	flow->inferred_warned = true;
	return flow_warn(flow, NTRACE_FLOW_ERROR_INFERRED, last_address(block), 0);
}

/*
 * Goes over the transfer at the end of @block: which way a branch went, and where the next block is.
 * Return: false: an error was reported.
 */
static bool resolve_transfer(struct ntrace_flow *flow, struct walk *walk, const struct block *block,
			     struct end *end)
{
	uint8_t class = block->form.insn_class;

	if (class == NTRACE_INSN_BRANCH && walk->history.left)
		end->taken = next_bit(&walk->history);
	else if (class == NTRACE_INSN_BRANCH)
		branch_without_bit(flow, walk, block, end);
	else
		end->taken = class != NTRACE_INSN_PLAIN && class != NTRACE_INSN_TRAP;
	if (flow->params.all_jumps && class >= NTRACE_INSN_JUMP &&
	    class <= NTRACE_INSN_OTHER_JUMP && walk->history.left && !next_bit(&walk->history))
		return flow_fail(flow, NTRACE_FLOW_ERROR_HISTORY, last_address(block),
				 flow->confirmed);
	end->step = step_after(flow, block, flow->previous, end->taken);
	if (!ntrace_insn_is_uninferable(class)) {
		end->step.known = end->outcome == KNOWN;
		return true;
	}
	flow->select_block |= class == NTRACE_INSN_TRAP_RETURN;
	if (end->last && walk->address_known) {
		end->step.next = walk->address;
		end->step.known = true;
		return true;
	}
	if (!end->step.known && !end->last)
		return flow_fail(flow, NTRACE_FLOW_ERROR_INDIRECT, last_address(block),
				 flow->confirmed);
	return end->last || !end->step.popped || warn_inferred(flow, block);
}

/* Adds the block of @event to the batch. */
static bool add_block(struct ntrace_flow *flow, const struct block *block,
		      const struct ntrace_flow_event *event)
{
	struct ntrace_block *out;

	if (!flow_open_batch(flow, block->isa))
		return false;
	out = &flow->batch[flow->waiting.count++];
	*out = block->form;
	out->next = event->next;
	out->flags = (uint8_t)((event->taken ? NTRACE_BLOCK_TAKEN : 0) |
			       (event->interrupted ? NTRACE_BLOCK_INTERRUPTED : 0) |
			       (event->provisional ? NTRACE_BLOCK_PROVISIONAL : 0) |
			       (event->next_known ? NTRACE_BLOCK_NEXT_KNOWN : 0));
	if (!block->watched)
		return true;
	flow->waiting.watched = true;
	return flow_close_batch(flow);
}

static bool emit_block(struct ntrace_flow *flow, const struct walk *walk, const struct block *block,
		       const struct end *end)
{
	bool linear = block->form.insn_class == NTRACE_INSN_PLAIN ||
		      block->form.insn_class == NTRACE_INSN_TRAP;
	struct ntrace_flow_event event = {
		.type = NTRACE_FLOW_BLOCK,
		.insn_class = block->form.insn_class,
		.taken = end->taken,
		.interrupted = !end->taken && (end->last || end->cut) && linear,
		.provisional = walk->eager,
		.next_known = end->step.known,
		.last_size = block->form.last_size,
		.instructions = block->form.instructions,
		.address = block->form.address,
		.last = last_address(block),
		.next = end->step.next,
		.isa = block->isa,
	};

	flow->stats.blocks++;
	flow->stats.instructions += block->form.instructions;
	return flow->batch ? add_block(flow, block, &event) : flow_emit(flow, &event);
}

/* Whether a message reports a jump that the specifications do not define (a custom instruction). */
static bool custom_transfer(const struct walk *walk, const struct block *block,
			    const struct end *end)
{
	return walk->transfer && end->last && walk->address_known &&
	       !ntrace_insn_is_uninferable(block->form.insn_class) &&
	       walk->address != end->step.next;
}

/* The flow after the branch at @address is unknown. Return: always false. */
static bool end_at_branch(struct ntrace_flow *flow, struct walk *walk, uint64_t address)
{
	flow->pc = address;
	flow->phase = FLOW_AT_PC;
	walk->stopped = walk->stop_at_branch;
	if (!walk->stopped)
		flow_fail(flow, NTRACE_FLOW_ERROR_NO_HISTORY, address, flow->confirmed);
	return false;
}

/* Walks the whole of @block. */
static bool walk_block(struct ntrace_flow *flow, struct walk *walk, const struct block *block,
		       bool cut)
{
	uint64_t last = last_address(block);
	struct end end = {
		.last = !walk->eager && walk->parcels == block_parcels(block),
		.cut = cut,
	};

	if (!resolve_transfer(flow, walk, block, &end))
		return false;
	if (custom_transfer(walk, block, &end)) {
		end.taken = true;
		end.step.next = walk->address;
		end.step.link = 1;
		if (!flow_warn(flow, NTRACE_FLOW_ERROR_TRANSFER, last, walk->address))
			return false;
	}
	walk->parcels -= block_parcels(block);
	walk->walked += block_parcels(block);
	flow->walked += block_parcels(block);
	walk->last_class = block->form.insn_class;
	flow->pc = end.step.next;
	flow->phase = end.step.known ? FLOW_AT_PC : FLOW_UNREACHED;
	flow->previous = end.step.from;
	flow->previous_link = end.step.link;
	if (!emit_block(flow, walk, block, &end))
		return false;
	return end.outcome != NOT_REPORTED || end_at_branch(flow, walk, last);
}

/*
 * Takes the first @parcels of @block: whole instructions. A counter that became full may end inside
 * an instruction (N-Trace 1.0, "I-CNT"): that instruction counts, up to @most parcels.
 */
static bool cut_block(struct ntrace_flow *flow, uint64_t parcels, uint64_t most,
		      const struct block *block, struct block *part)
{
	*part = *block;
	part->form.bytes = 0;
	part->form.instructions = 0;
	part->form.insn_class = NTRACE_INSN_PLAIN;
	part->form.id = 0;
	part->sequential = false;
	while (block_parcels(part) < parcels) {
		uint64_t address = block->form.address + part->form.bytes;
		struct ntrace_insn insn;
		uint8_t bytes[8];

		if (flow_fetch(flow->space, block->isa, address, bytes, &insn))
			return flow_fail(flow, NTRACE_FLOW_ERROR_NOMAP, address, flow->confirmed);
		if (block_parcels(part) + insn.size / 2u > most)
			return flow_fail(flow, NTRACE_FLOW_ERROR_SPLIT, address, flow->confirmed);
		part->form.bytes += insn.size;
		part->form.instructions++;
		part->form.last_size = insn.size;
	}
	part->form.next = flow_wrap(flow, block->form.address + part->form.bytes);
	return true;
}

/* The block at pc; asks for another address space if the current one has no code there. */
static const struct block *find_block(struct ntrace_flow *flow, enum ntrace_flow_error *error)
{
	const struct block *block;
	bool asked = flow->select_block;

	flow->select_block = false;
	if (asked && !flow_select(flow, NTRACE_FLOW_BLOCK, flow->pc))
		return NULL;
	block = flow_block(flow, error);
	if (!block && *error == NTRACE_FLOW_ERROR_NOMAP && !asked) {
		if (!flow_select(flow, NTRACE_FLOW_BLOCK, flow->pc))
			return NULL;
		block = flow_block(flow, error);
	}
	return block;
}

static const struct block *block_at_pc(struct ntrace_flow *flow)
{
	enum ntrace_flow_error error;
	const struct block *block = find_block(flow, &error);

	if (!block && !flow->stop)
		flow_fail(flow, error, flow->pc, flow->confirmed);
	return block;
}

bool flow_enter_pc(struct ntrace_flow *flow)
{
	enum ntrace_flow_error error;

	if (flow->phase == FLOW_AT_PC)
		find_block(flow, &error);
	return !flow->stop;
}

/* All history bits of the message must be used. */
static bool check_history_used(struct ntrace_flow *flow, const struct walk *walk)
{
	if (walk->history.left)
		return flow_fail(flow, NTRACE_FLOW_ERROR_HISTORY, flow->pc, flow->confirmed);
	return true;
}

/* An eager walk that uses no history bit makes no progress. Return: false: given up. */
static bool check_progress(struct ntrace_flow *flow, struct walk *walk, uint64_t bits_before)
{
	if (!walk->eager || walk->history.left != bits_before) {
		walk->without = 0;
		return true;
	}
	if (++walk->without > BLOCKS_WITHOUT_HISTORY)
		return flow_fail(flow, NTRACE_FLOW_ERROR_ENDLESS, flow->pc, flow->confirmed);
	return true;
}

static bool is_done(const struct walk *walk)
{
	return walk->eager ? !walk->history.left : !walk->parcels;
}

/* Walks one block of any kind. Return: false: the walk ends here. */
static bool walk_any_block(struct ntrace_flow *flow, struct walk *walk)
{
	const struct block *block = block_at_pc(flow);
	uint64_t bits_before = walk->history.left;
	uint64_t parcels, of_owner = flow_parcels_of_owner(flow);
	struct block part;
	bool cut;

	if (!block)
		return false;
	parcels = block_parcels(block);
	cut = parcels > of_owner;
	if (cut)
		parcels = of_owner;
	if (parcels > walk->parcels) {
		if (walk->eager)
			return flow_fail(flow, NTRACE_FLOW_ERROR_EXCESS, flow->pc, walk->walked);
		parcels = walk->parcels;
	}
	if (parcels < block_parcels(block)) {
		if (!cut_block(flow, parcels, walk->parcels, block, &part))
			return false;
		/* Otherwise the block is whole after all, including the transfer at its end. */
		if (part.form.bytes < block->form.bytes)
			block = &part;
		else
			cut = false;
	}
	if (block->uncertain &&
	    !flow_warn_uncertain(flow, block->form.address, block_parcels(block)))
		return false;
	return walk_block(flow, walk, block, cut) && check_progress(flow, walk, bits_before);
}

bool flow_walk(struct ntrace_flow *flow, struct walk *walk)
{
	const uint64_t before = walk->walked;
	bool going = true;

	walk->last_class = NTRACE_INSN_PLAIN;
	/* Mappings may have changed since the last message. */
	flow_enter_space(flow, flow->space);
	while (going && !is_done(walk)) {
		if (flow->late_count)
			going = flow_apply_owners(flow, false);
		if (going && flow->batch)
			going = flow_walk_fast(flow, walk);
		if (going && !is_done(walk))
			going = walk_any_block(flow, walk);
	}
	flow->credit -= walk->walked - before;
	if (!going)
		return walk->stopped && !flow->stop;
	if (flow->late_count && flow->phase == FLOW_AT_PC && !flow_apply_owners(flow, false))
		return false;
	return check_history_used(flow, walk);
}
