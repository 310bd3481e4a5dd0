// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The most frequent message of BTM: DirectBranch.
 *
 * A few blocks that are linked to each other, then the branch that was taken: the way from the message
 * through the general walk takes longer than these blocks. This one handles a message only as a
 * whole, and changes nothing before it is sure to do so.
 */
#include "flow.h"

/* True if the next step of the flow, and its output, depend on the message alone. */
static inline bool is_ready(const struct ntrace_flow *flow, const struct ntrace_message *message)
{
	return !message->flags && !ntrace_message_has(message, NTRACE_FIELD_TSTAMP) &&
	       flow->waiting.count && !flow->count && flow->synced && flow->pc_known &&
	       flow->previous && !flow->stop && !flow->select_block && !flow->late_count &&
	       !flow->time_passed && !flow->stamped && !flow->icnt_pending && !flow->debt &&
	       (!flow->history_mode || flow->params.mode == NTRACE_MODE_ANY) &&
	       flow->waiting.space == flow->space &&
	       ntrace_space_version(flow->space) == flow->space_version;
}

/*
 * The blocks of a message.
 * @out: the next block
 * @index: its number
 * @popped: a return has taken an address from the stack: a call would overwrite it
 */
struct quick_walk {
	struct ntrace_block *out;
	uint64_t instructions;
	uint32_t index;
	bool popped;
};

/* Whether returns are inferred without a warning (N-Trace 1.0, "implicit return"). */
static inline bool infers_returns(const struct ntrace_flow *flow)
{
	return flow->inferred ||
	       (flow->params.implicit_return != 1 && flow->params.implicit_return != 2);
}

/* Goes to the block after the call. Return: its address; 0: it is not known. */
static inline uint64_t take_return(struct ntrace_flow *flow, struct quick_walk *walk)
{
	const struct block *blocks = flow->cache.blocks, *next;
	uint32_t caller;
	uint64_t pc;

	if (!infers_returns(flow) || !stack_pop(&flow->stack, &pc, &caller) ||
	    !flow_links(flow, caller))
		return 0;
	walk->popped = true;
	next = &blocks[blocks[caller].link[0]];
	if (next->form.address != pc || next->isa != flow->waiting.isa)
		return 0;
	walk->index = blocks[caller].link[0];
	return pc;
}

/*
 * Walks @parcels up to a branch that is taken. Return: false: this takes the general walk; then calls
 * may have been pushed into unused entries of the stack.
 */
static inline bool walk_blocks(struct ntrace_flow *flow, uint32_t parcels, struct quick_walk *walk)
{
	const struct ntrace_block *end = flow->batch + flow->batch_room;
	const struct block *blocks = flow->cache.blocks;

	for (;;) {
		const struct block *block = &blocks[walk->index];
		uint8_t class = block->form.insn_class;
		unsigned int taken = class != NTRACE_INSN_BRANCH && class != NTRACE_INSN_PLAIN;

		if (block->price > parcels || walk->out == end)
			return false;
		*walk->out = block->form;
		walk->instructions += block->form.instructions;
		if (block->price == parcels) {
			walk->out->next = block->target;
			walk->out->flags = NTRACE_BLOCK_NEXT_KNOWN | NTRACE_BLOCK_TAKEN;
			return class == NTRACE_INSN_BRANCH && !block->watched &&
			       !block->uncertain && !block->sequential;
		}
		walk->out->next = taken ? block->target : block->form.next;
		walk->out->flags = NTRACE_BLOCK_NEXT_KNOWN | (taken ? NTRACE_BLOCK_TAKEN : 0);
		if (class == NTRACE_INSN_RETURN) {
			walk->out->next = take_return(flow, walk);
			if (!walk->out->next)
				return false;
		} else if (class == NTRACE_INSN_CALL) {
			if (walk->popped || flow->stack.count == STACK_DEPTH)
				return false;
			stack_push(&flow->stack, block->form.next, walk->index);
			walk->index = block->link[1];
		} else {
			walk->index = block->link[taken];
		}
		walk->out++;
		parcels -= block->price;
		if (!walk->index)
			return false;
	}
}

bool flow_quick_branch(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	const struct block *blocks = flow->cache.blocks;
	uint64_t icnt = message->field[NTRACE_FIELD_ICNT];
	const unsigned int top = flow->stack.top, calls = flow->stack.count;
	struct quick_walk walk = { .out = flow->batch + flow->waiting.count };
	size_t count;

	if (!is_ready(flow, message) || icnt > flow->credit || icnt > QUICK_PARCELS)
		return false;
	walk.index = blocks[flow->previous].link[flow->previous_link];
	if (!walk.index || blocks[walk.index].form.address != flow->pc ||
	    blocks[walk.index].isa != flow->waiting.isa)
		return false;
	if (!walk_blocks(flow, (uint32_t)icnt, &walk)) {
		flow->stack.top = top;
		flow->stack.count = calls;
		return false;
	}
	count = (size_t)(walk.out + 1 - flow->batch);
	flow->stats.messages++;
	flow->stats.blocks += count - flow->waiting.count;
	flow->stats.instructions += walk.instructions;
	flow->offset = message->offset;
	flow->confirmed = message->offset;
	flow_earn_credit(flow, message);
	flow->credit -= icnt;
	flow->history_mode = false;
	flow->mode_known = true;
	flow->branch = (struct branch_record){
		.valid = true, .tcode = NTRACE_TCODE_DIRECT_BRANCH, .icnt = icnt, .hist = 1
	};
	flow->owner_due = false;
	flow->walked += icnt;
	flow->waiting.count = count;
	flow->pc = walk.out->next;
	flow->previous = walk.index;
	flow->previous_link = 1;
	return true;
}
