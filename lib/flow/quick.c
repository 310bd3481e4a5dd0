// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The most frequent message of BTM: DirectBranch.
 *
 * A few blocks that are linked to each other, then the branch that was taken: the way from the message
 * through the general walk takes longer than these blocks. This one handles a message only as a
 * whole, and changes nothing before it is sure to do so. Between the messages of an array, the state of
 * the flow stays in registers.
 */
#include "flow.h"

/* True if the next step of the flow, and its output, depend on a DirectBranch alone. */
static inline bool is_ready(const struct ntrace_flow *flow)
{
	return flow->waiting.count && !flow->count && flow->synced && flow->pc_known &&
	       flow->previous && !flow->stop && !flow->select_block && !flow->late_count &&
	       !flow->time_passed && !flow->stamped && !flow->icnt_pending && !flow->debt &&
	       (!flow->history_mode || flow->params.mode == NTRACE_MODE_ANY) &&
	       flow->waiting.space == flow->space &&
	       ntrace_space_version(flow->space) == flow->space_version;
}

/* Whether the message is a DirectBranch of the own SRC without a timestamp. */
static inline bool is_quick(const struct ntrace_flow *flow, const struct ntrace_message *message)
{
	return message->tcode == NTRACE_TCODE_DIRECT_BRANCH && !message->flags &&
	       !ntrace_message_has(message, NTRACE_FIELD_TSTAMP) &&
	       (!ntrace_message_has(message, NTRACE_FIELD_SRC) || flow_is_own(flow, message));
}

/*
 * The blocks of messages.
 * @out: the next block
 * @instructions: of all blocks
 * @credit: of the flow
 * @index: number of the next block; between messages of the one that was left
 * @link: which of its successors comes next
 * @calls: calls of the message that have not returned
 * @popped: a return has taken an address from before the message: a call would overwrite it
 */
struct quick_walk {
	struct ntrace_block *out;
	uint64_t instructions;
	uint64_t credit;
	uint32_t index;
	uint32_t calls;
	uint8_t link;
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
	if (walk->calls)
		walk->calls--;
	else
		walk->popped = true;
	next = &blocks[blocks[caller].link[0]];
	if (next->form.address != pc || next->isa != flow->waiting.isa)
		return 0;
	walk->index = blocks[caller].link[0];
	return pc;
}

/*
 * Walks @parcels up to a branch that is taken. Return: false: this takes the general walk; then calls
 * may have been pushed, which pushes the same addresses again.
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
			if (walk->popped)
				return false;
			stack_push(&flow->stack, block->form.next, walk->index);
			walk->calls++;
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

/*
 * Walks the blocks of a message to @pc, which is changed. Return: false: the message takes the general
 * way, and nothing is changed.
 */
static inline bool walk_message(struct ntrace_flow *flow, const struct ntrace_message *message,
				struct quick_walk *walk, uint64_t *pc)
{
	const struct block *blocks = flow->cache.blocks;
	const unsigned int top = flow->stack.top, calls = flow->stack.count;
	uint64_t icnt = message->field[NTRACE_FIELD_ICNT];
	struct quick_walk next = *walk;

	if (icnt > walk->credit || icnt > QUICK_PARCELS)
		return false;
	next.calls = 0;
	next.popped = false;
	next.index = blocks[walk->index].link[walk->link];
	if (!next.index || blocks[next.index].form.address != *pc ||
	    blocks[next.index].isa != flow->waiting.isa)
		return false;
	if (!walk_blocks(flow, (uint32_t)icnt, &next)) {
		flow->stack.top = top;
		flow->stack.count = calls;
		return false;
	}
	*pc = next.out->next;
	*walk = next;
	walk->out++;
	walk->credit = flow_credit_after(walk->credit, message) - icnt;
	walk->link = 1;
	return true;
}

/* Stores the state after @message, the last one. */
static void store(struct ntrace_flow *flow, const struct quick_walk *walk, uint64_t pc,
		  const struct ntrace_message *message)
{
	size_t count = (size_t)(walk->out - flow->batch);

	flow->stats.blocks += count - flow->waiting.count;
	flow->stats.instructions += walk->instructions;
	flow->offset = message->offset;
	flow->confirmed = message->offset;
	flow->credit = walk->credit;
	flow->history_mode = false;
	flow->mode_known = true;
	flow->branch = (struct branch_record){ .valid = true,
					       .tcode = NTRACE_TCODE_DIRECT_BRANCH,
					       .icnt = message->field[NTRACE_FIELD_ICNT],
					       .hist = 1 };
	flow->owner_due = false;
	flow->waiting.count = count;
	flow->pc = pc;
	flow->previous = walk->index;
	flow->previous_link = walk->link;
}

size_t flow_quick_branches(struct ntrace_flow *flow, const struct ntrace_message *messages,
			   size_t count)
{
	struct quick_walk walk = { .out = flow->batch + flow->waiting.count,
				   .credit = flow->credit,
				   .index = flow->previous,
				   .link = flow->previous_link };
	uint64_t pc = flow->pc;
	size_t done = 0;

	if (!is_ready(flow))
		return 0;
	while (done < count && is_quick(flow, &messages[done]) &&
	       walk_message(flow, &messages[done], &walk, &pc))
		done++;
	if (!done)
		return 0;
	flow->stats.messages += done;
	store(flow, &walk, pc, &messages[done - 1]);
	return done;
}
