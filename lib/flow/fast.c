// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Blocks many at a time.
 *
 * Most of a program is branches with a history bit, direct transfers and returns
 * to where the stack says. The fast walk does these and nothing else: from block
 * to block by the links between them, with everything in registers, and without
 * a jump that depends on a history bit, since no processor could predict that
 * one. At anything else it leaves, and the general walk does that block.
 */
#include "flow.h"

/* What an eager walk may walk in one go; no block costs more, but the PRICELESS. */
#define PARCELS_AT_ONCE (UINT32_MAX - 1)

/* A branch of BTM that is no message of its own is not taken: as good as endless zeros. */
#define ZEROS 63

/**
 * struct run - a run of the fast walk
 * @blocks: the cache
 * @out: where the next block goes
 * @pattern, @width, @position: of the history; @pattern 0: endless zeros
 * @rest: history bits of the rounds after this one
 * @parcels: left to walk
 * @instructions: walked
 * @index: block to be walked; its address is @pc
 * @last: block that links to it by @link
 * @flags: what all blocks have
 */
struct run {
	const struct block *blocks;
	struct ntrace_block *out;
	uint64_t pattern;
	uint64_t rest;
	uint64_t instructions;
	uint64_t pc;
	unsigned int width;
	unsigned int position;
	uint32_t parcels;
	uint32_t index;
	uint32_t last;
	uint8_t link;
	uint8_t flags;
};

bool flow_close_batch(struct ntrace_flow *flow)
{
	struct ntrace_block_batch batch = flow->waiting;

	if (!batch.count)
		return true;
	batch.blocks = flow->batch;
	flow->waiting.count = 0;
	flow->stop = flow->config.blocks(flow->config.data, &batch);
	return !flow->stop;
}

bool flow_open_batch(struct ntrace_flow *flow, const struct ntrace_isa *isa)
{
	struct ntrace_block_batch *waiting = &flow->waiting;

	if (waiting->count) {
		if (waiting->count < BATCH_BLOCKS && waiting->isa == isa &&
		    waiting->space == flow->space)
			return true;
		if (!flow_close_batch(flow))
			return false;
	}
	waiting->space = flow->space;
	waiting->isa = isa;
	waiting->offset = flow->offset;
	waiting->time = flow->time_known ? flow->time : 0;
	waiting->time_known = flow->time_known;
	waiting->src = (uint16_t)flow->config.src;
	return true;
}

static void begin(const struct ntrace_flow *flow, const struct walk *walk, struct run *run)
{
	run->blocks = flow->cache.blocks;
	run->out = flow->batch + flow->waiting.count;
	run->pattern = walk->history.pattern;
	run->width = walk->history.width;
	run->position = walk->history.left ? walk->history.position : 0;
	run->rest = walk->history.left - run->position;
	run->parcels = PARCELS_AT_ONCE;
	if (!walk->eager && walk->parcels < PARCELS_AT_ONCE)
		run->parcels = (uint32_t)walk->parcels;
	run->flags = NTRACE_BLOCK_NEXT_KNOWN | (walk->eager ? NTRACE_BLOCK_PROVISIONAL : 0);
	run->last = flow->previous;
	run->link = flow->previous_link;
	run->pc = flow->pc;
}

/* Blocks at the end of the run that used no history bit. */
static uint32_t count_without(const struct ntrace_block *first, const struct ntrace_block *end)
{
	const struct ntrace_block *block = end;

	while (block > first && block[-1].insn_class != NTRACE_INSN_BRANCH)
		block--;
	return (uint32_t)(end - block);
}

/* The general walk goes on where this one ended. */
static void finish(struct ntrace_flow *flow, struct walk *walk, const struct run *run,
		   uint32_t parcels)
{
	const struct ntrace_block *first = flow->batch + flow->waiting.count;
	uint32_t without = count_without(first, run->out);

	if (run->out == first)
		return;
	walk->history.position = run->position;
	walk->history.left = run->pattern ? run->rest + run->position : 0;
	walk->walked += parcels;
	if (!walk->eager)
		walk->parcels -= parcels;
	walk->without = without == run->out - first ? walk->without + without : without;
	flow->stats.blocks += (uint64_t)(run->out - first);
	flow->stats.instructions += run->instructions;
	flow->waiting.count = (size_t)(run->out - flow->batch);
	flow->pc = run->pc;
	flow->pc_known = true;
	flow->previous = run->last;
	flow->previous_link = run->link;
}

/* The next round of the history. Return: false if there is no bit for the branch. */
static inline bool next_round(struct run *run, bool zeros)
{
	if (run->rest) {
		run->rest -= run->width;
		run->position = run->width;
		return true;
	}
	if (zeros) {
		run->pattern = 0;
		run->position = ZEROS;
	}
	return zeros;
}

/*
 * The stack, and with a return where it leads to. Return: false: not for the
 * fast walk, nothing is changed.
 */
static inline bool call_or_return(struct ntrace_flow *flow, struct run *run,
				  const struct block *block)
{
	if (block->class != NTRACE_INSN_RETURN) {
		if (block->class == NTRACE_INSN_CALL)
			stack_push(&flow->stack, block->next[0], run->index);
		run->pc = block->next[1];
		run->last = run->index;
		run->link = 1;
		return true;
	}
	if (!stack_pop(&flow->stack, &run->pc, &run->last))
		return false;
	run->link = 0;
	if (!flow_links(flow, run->last)) {
		run->last = run->index;
		run->link = 1;
	}
	return true;
}

/* One block. Return: false: not for the fast walk. */
static inline bool step(struct ntrace_flow *flow, struct run *run, const struct block *block,
			bool zeros)
{
	unsigned int is_branch = block->class == NTRACE_INSN_BRANCH, taken;

	if (block->class <= NTRACE_INSN_BRANCH) {
		if (run->position < is_branch && !next_round(run, zeros))
			return false;
		run->position -= is_branch;
		taken = run->pattern >> run->position & is_branch;
		run->pc = block->next[taken];
		run->last = run->index;
		run->link = (uint8_t)taken;
	} else {
		if (!call_or_return(flow, run, block))
			return false;
		taken = 1;
	}
	*run->out++ = (struct ntrace_block){
		.address = block->pc,
		.next = run->pc,
		.instructions = block->instructions,
		.bytes = 2 * block->parcels,
		.id = block->id,
		.insn_class = block->class,
		.last_size = block->last_size,
		.flags = (uint8_t)(run->flags | taken),
	};
	run->parcels -= block->parcels;
	run->instructions += block->instructions;
	run->index = run->blocks[run->last].link[run->link];
	return true;
}

/* Returns are inferred without a word about it (digest section 8). */
static bool infers_returns(const struct ntrace_flow *flow)
{
	unsigned int mode = flow->config.params.implicit_return;

	return flow->inferred || (mode != 1 && mode != 2);
}

bool flow_walk_fast(struct ntrace_flow *flow, struct walk *walk)
{
	/* Without a bit: BTM. HTM should have had one, which is the general walk's to say. */
	const bool zeros = !walk->eager && !flow->history_mode && !walk->stop_at_branch;
	const bool returns = infers_returns(flow);
	const struct ntrace_block *end = flow->batch + BATCH_BLOCKS;
	const struct block *block;
	struct run run = { .index = flow->select_block ? 0 : flow_known_block(flow) };
	const struct ntrace_isa *isa;
	uint32_t parcels;

	block = &flow->cache.blocks[run.index];
	isa = block->isa;
	if (!run.index || walk->without + BATCH_BLOCKS > BLOCKS_WITHOUT_HISTORY)
		return true;
	if (!flow_open_batch(flow, isa))
		return false;
	begin(flow, walk, &run);
	parcels = run.parcels;
	while (block->price < run.parcels && block->pc == run.pc && block->isa == isa) {
		if (block->class == NTRACE_INSN_RETURN && !returns)
			break;
		if (!step(flow, &run, block, zeros) || run.out == end)
			break;
		if (walk->eager && !(run.position | run.rest))
			break;
		block = &run.blocks[run.index];
	}
	finish(flow, walk, &run, parcels - run.parcels);
	return true;
}
