// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Walks many blocks at a time.
 *
 * Most of a program is branches with a history bit, direct transfers and returns to the address on
 * the return stack. The fast walk handles only these: from block to block by the links between
 * them, with all state in registers, and without a jump that depends on a history bit, since no
 * processor could predict that jump. At any other block it stops, and the general walk handles that
 * block, unless it is a transfer that the message reports.
 */
#include "count.h"
#include "step.h"

/* Maximum number of parcels of one eager run; only a NOT_FAST block costs more. */
#define PARCELS_AT_ONCE (UINT32_MAX - 1)

/**
 * struct fast_walk - a run of the fast walk
 * @out: place of the next output block
 * @bits: history bits of this round, the next one at the top
 * @left: number of bits in @bits
 * @rest: history bits of the rounds after this one
 * @endless: the history is used up and is followed by zeros
 * @parcels: parcels left to walk
 * @instructions: instructions walked
 * @index: next block; 0: not known
 * @last: block whose link @link leads to @index
 */
struct fast_walk {
	struct ntrace_block *out;
	uint64_t bits;
	uint64_t rest;
	uint64_t instructions;
	uint32_t left;
	uint32_t parcels;
	uint32_t index;
	uint32_t last;
	uint8_t link;
	bool endless;
};

bool flow_close_batch(struct ntrace_flow *flow)
{
	struct ntrace_block_batch batch = flow->waiting;

	if (!batch.count)
		return true;
	flow_count_deliver(flow);
	batch.blocks = flow->batch;
	flow->waiting.count = 0;
	flow->waiting.watched = false;
	/* After a callback for earlier messages has returned an error, this one is not called. */
	flow->stop = flow->count_error ? flow->count_error :
					 flow->config.blocks(flow->config.data, &batch);
	return !flow->stop;
}

bool flow_open_batch(struct ntrace_flow *flow, const struct ntrace_isa *isa)
{
	struct ntrace_block_batch *waiting = &flow->waiting;

	if (waiting->count) {
		if (waiting->count < flow->batch_room && waiting->isa == isa &&
		    waiting->space == flow->space)
			return true;
		if (!flow_close_batch(flow))
			return false;
	}
	waiting->space = flow->space;
	waiting->isa = isa;
	waiting->offset = flow->offset;
	waiting->time = flow_time(flow);
	waiting->time_known = flow->time_state;
	waiting->src = (uint16_t)flow->config.src;
	return true;
}

/* Moves the lowest @bits bits of @pattern to the top. */
static inline uint64_t to_the_top(uint64_t pattern, unsigned int bits)
{
	return bits ? pattern << (64 - bits) : 0;
}

static void load_walk(const struct ntrace_flow *flow, const struct walk *walk,
		      struct fast_walk *run)
{
	uint64_t parcels = flow_parcels_of_owner(flow);

	run->out = flow->batch + flow->waiting.count;
	run->left = walk->history.left ? walk->history.position : 0;
	run->rest = walk->history.left - run->left;
	run->bits = to_the_top(walk->history.pattern, run->left);
	if (parcels > walk->parcels)
		parcels = walk->parcels;
	run->parcels = parcels < PARCELS_AT_ONCE ? (uint32_t)parcels : PARCELS_AT_ONCE;
}

/* Counts the blocks at the end of the run of an eager walk that used no history bit. */
static void count_without(struct walk *walk, const struct ntrace_block *first,
			  const struct ntrace_block *end)
{
	const struct ntrace_block *block = end;

	while (block > first && block[-1].insn_class != NTRACE_INSN_BRANCH)
		block--;
	walk->without = (block == first ? walk->without : 0) + (uint32_t)(end - block);
}

/* Stores the state, so that the general walk continues at the end of this run. */
static void store_walk(struct ntrace_flow *flow, struct walk *walk, const struct fast_walk *run,
		       uint32_t parcels)
{
	const struct ntrace_block *first = flow->batch + flow->waiting.count;
	const struct ntrace_block *last;

	if (run->out == first)
		return;
	last = run->out - 1;
	if (walk->eager)
		count_without(walk, first, run->out);
	walk->history.position = run->endless ? 0 : run->left;
	walk->history.left = run->endless ? 0 : run->rest + run->left;
	walk->walked += parcels;
	walk->parcels -= parcels;
	flow->walked += parcels;
	flow->stats.blocks += (uint64_t)(run->out - first);
	flow->stats.instructions += run->instructions;
	flow->waiting.count = (size_t)(run->out - flow->batch);
	flow->pc = last->next;
	flow->phase = FLOW_AT_PC;
	flow->previous = run->last;
	flow->previous_link = run->link;
}

/*
 * Starts the next round of the history. In BTM a branch without a message is not taken, so @zeros
 * zeros, enough for the batch, stand for its history. Return: false if there is no bit for a branch.
 */
static bool start_round(struct fast_walk *run, const struct history *history, uint32_t zeros)
{
	if (run->rest) {
		run->left = history->width;
		run->rest -= history->width;
		run->bits = to_the_top(history->pattern, history->width);
		return true;
	}
	if (zeros) {
		run->endless = true;
		run->bits = 0;
		run->left = zeros;
	}
	return zeros;
}

/* The block that a return leads to: other links are always right. Return: 0: not known. */
static inline uint32_t after_return(const struct block *blocks, const struct block *block,
				    const struct step *step)
{
	uint32_t next = blocks[step->from].link[step->link];

	return blocks[next].form.address == step->next && blocks[next].isa == block->isa ? next : 0;
}

/* Whether returns are inferred without a warning (N-Trace 1.0, "implicit return"). */
static bool infers_returns(const struct ntrace_flow *flow)
{
	unsigned int mode = flow->params.implicit_return;

	return flow->inferred_warned || (mode != 1 && mode != 2);
}

/* Walks from block to block as far as possible. */
static void follow_links(struct ntrace_flow *flow, const struct walk *walk,
			 struct fast_walk *result)
{
	/* BTM needs no bit. In HTM a missing bit is an error, which the general walk reports. */
	const uint32_t zeros = !walk->eager && flow->mode != NTRACE_MODE_HISTORY &&
					       !walk->stop_at_branch ?
				       (uint32_t)flow->batch_room :
				       0;
	const bool returns = infers_returns(flow);
	const uint8_t flags = NTRACE_BLOCK_NEXT_KNOWN |
			      (walk->eager ? NTRACE_BLOCK_PROVISIONAL : 0);
	const struct ntrace_block *end = flow->batch + flow->batch_room;
	const struct block *blocks = flow->cache.blocks;
	struct fast_walk run = *result;

	for (;;) {
		const struct block *block = &blocks[run.index];
		unsigned int taken = 1;
		struct step step;

		if (block->price >= run.parcels)
			break;
		if (block->form.insn_class == NTRACE_INSN_BRANCH) {
			if (!run.left && !start_round(&run, &walk->history, zeros))
				break;
			taken = run.bits >> 63;
			run.bits <<= 1;
			run.left--;
		} else if (block->form.insn_class == NTRACE_INSN_PLAIN) {
			taken = 0;
		} else if (block->form.insn_class == NTRACE_INSN_RETURN &&
			   (!returns || !flow->stack.count)) {
			break;
		}
		step = step_after(flow, block, run.index, taken);
		run.last = step.from;
		run.link = step.link;
		run.index = block->form.insn_class == NTRACE_INSN_RETURN ?
				    after_return(blocks, block, &step) :
				    block->link[taken];
		*run.out = block->form;
		run.out->next = step.next;
		run.out->flags = flags | (uint8_t)taken;
		run.out++;
		run.parcels -= block->price;
		run.instructions += block->form.instructions;
		if (run.out == end || (!run.left && !run.rest && walk->eager))
			break;
	}
	*result = run;
}

/*
 * Takes the block that I-CNT ends with, if it is what a message reports most: a taken branch in
 * BTM, or an indirect transfer. The general walk handles all others.
 */
static void walk_last_block(struct ntrace_flow *flow, struct walk *walk, struct fast_walk *run)
{
	const struct block *block = &flow->cache.blocks[run->index];
	uint8_t class = block->form.insn_class;
	struct step step;

	if (!run->index || walk->eager || flow->late_count || block->watched || block->uncertain ||
	    block->sequential || block_parcels(block) != run->parcels ||
	    run->out == flow->batch + flow->batch_room)
		return;
	if (class == NTRACE_INSN_BRANCH ?
		    !walk->direct || walk->address_decides ||
			    (!run->endless && (run->left || run->rest)) :
		    !walk->address_known || !ntrace_insn_is_uninferable(class) ||
			    class == NTRACE_INSN_TRAP_RETURN)
		return;
	step = step_after(flow, block, run->index, true);
	run->last = step.from;
	run->link = step.link;
	*run->out = block->form;
	run->out->next = class == NTRACE_INSN_BRANCH ? step.next : walk->address;
	run->out->flags = NTRACE_BLOCK_NEXT_KNOWN | NTRACE_BLOCK_TAKEN;
	run->out++;
	run->parcels = 0;
	run->instructions += block->form.instructions;
	walk->last_class = class;
}

bool flow_walk_fast(struct ntrace_flow *flow, struct walk *walk)
{
	struct fast_walk run = { .index = flow->select_block ? 0 : flow_known_block(flow) };
	uint32_t parcels;

	if (!run.index || walk->without + flow->batch_room > BLOCKS_WITHOUT_HISTORY)
		return true;
	if (!flow_open_batch(flow, flow->cache.blocks[run.index].isa))
		return false;
	load_walk(flow, walk, &run);
	parcels = run.parcels;
	follow_links(flow, walk, &run);
	walk_last_block(flow, walk, &run);
	store_walk(flow, walk, &run, parcels - run.parcels);
	return true;
}
