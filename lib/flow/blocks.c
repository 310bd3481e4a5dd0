// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Predecoded blocks.
 *
 * Instructions are read and classified once; the walk then goes from block to block. All blocks are
 * in one array and are found through a hash of pc and context, or without the hash through the
 * links that each block keeps to its successors. When the array is full, all blocks are dropped,
 * which is simple and rare enough.
 */
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "image/object.h"

#define BLOCKS_FIRST 1024u
#define BLOCKS_MAX (1u << 19)
/* The greatest number that fits in struct block.context. */
#define CONTEXT_IDS (1u << 29)

int block_cache_init(struct block_cache *cache)
{
	cache->block_room = BLOCKS_FIRST;
	cache->block_count = 1;
	cache->slot_mask = 2 * BLOCKS_FIRST - 1;
	cache->next_id = 1;
	cache->next_block_id = 1;
	cache->first_id = 1;
	cache->blocks = malloc(BLOCKS_FIRST * sizeof(*cache->blocks));
	cache->slots = calloc(2 * BLOCKS_FIRST, sizeof(*cache->slots));
	if (!cache->blocks || !cache->slots)
		return NTRACE_ERR_NOMEM;
	/* Block 0 is no block: no link leads to it, and the fast walk does not enter it. */
	cache->blocks[0] = (struct block){ .form.address = 1, .price = NOT_FAST };
	return NTRACE_OK;
}

void block_cache_free(struct block_cache *cache)
{
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		if (cache->contexts[i].space)
			ntrace_space_put(cache->contexts[i].space);
	}
	free(cache->blocks);
	free(cache->slots);
}

static inline uint32_t slot_of(const struct block_cache *cache, uint64_t pc, uint32_t context)
{
	uint64_t hash = (pc >> 1 ^ (uint64_t)context << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(hash >> 32) & cache->slot_mask;
}

static void drop_blocks(struct ntrace_flow *flow)
{
	struct block_cache *cache = &flow->cache;

	flow_count_forget(flow);
	cache->block_count = 1;
	cache->first_id = cache->next_block_id;
	memset(cache->slots, 0, ((size_t)cache->slot_mask + 1) * sizeof(*cache->slots));
}

void flow_forget_blocks(struct ntrace_flow *flow)
{
	drop_blocks(flow);
	flow->previous = 0;
}

/* Doubles the array. Without memory the cache keeps its size and is emptied instead. */
static bool grow_cache(struct block_cache *cache)
{
	uint32_t room = 2 * cache->block_room;
	struct block *blocks;
	uint32_t *slots;

	if (room > BLOCKS_MAX)
		return false;
	blocks = realloc(cache->blocks, room * sizeof(*blocks));
	if (!blocks)
		return false;
	cache->blocks = blocks;
	slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!slots)
		return false;
	free(cache->slots);
	cache->slots = slots;
	cache->slot_mask = 2 * room - 1;
	cache->block_room = room;
	for (uint32_t i = 1; i < cache->block_count; i++) {
		uint32_t slot = slot_of(cache, blocks[i].form.address, blocks[i].context);

		while (slots[slot])
			slot = (slot + 1) & cache->slot_mask;
		slots[slot] = i;
	}
	return true;
}

static uint32_t find_block(const struct block_cache *cache, uint64_t pc, uint32_t context)
{
	uint32_t slot = slot_of(cache, pc, context);
	uint32_t index;

	while ((index = cache->slots[slot])) {
		if (cache->blocks[index].form.address == pc &&
		    cache->blocks[index].context == context)
			break;
		slot = (slot + 1) & cache->slot_mask;
	}
	return index;
}

/* Makes room and inserts @block; earlier indices are invalid if the cache had to be emptied. */
static uint32_t insert_block(struct ntrace_flow *flow, const struct block *block)
{
	struct block_cache *cache = &flow->cache;
	uint32_t slot;

	if (cache->block_count == cache->block_room && !grow_cache(cache))
		flow_forget_blocks(flow);
	slot = slot_of(cache, block->form.address, block->context);
	while (cache->slots[slot])
		slot = (slot + 1) & cache->slot_mask;
	cache->slots[slot] = cache->block_count;
	cache->blocks[cache->block_count] = *block;
	cache->blocks[cache->block_count].form.id = cache->next_block_id;
	if (cache->next_block_id)
		cache->next_block_id++;
	return cache->block_count++;
}

/* All context ids are in use: start over. */
static void forget_contexts(struct ntrace_flow *flow)
{
	struct block_cache *cache = &flow->cache;

	drop_blocks(flow);
	for (unsigned int i = 0; i < CONTEXTS; i++)
		cache->contexts[i].id = 0;
	cache->next_id = 1;
}

/* Finds the context of @space, or makes one in place of the least recently entered one. */
static void change_space(struct ntrace_flow *flow, struct ntrace_space *space)
{
	struct block_cache *cache = &flow->cache;
	struct context *context = &cache->contexts[0];
	uint64_t version;

	flow->space = space;
	if (!space) {
		flow_count_part(flow);
		flow->space_id = 0;
		flow->previous = 0;
		return;
	}
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		if (cache->contexts[i].space == space) {
			context = &cache->contexts[i];
			break;
		}
		if (cache->contexts[i].used < context->used)
			context = &cache->contexts[i];
	}
	version = ntrace_space_version(space);
	flow->space_version = version;
	/* Effects refer to the code as it was. */
	if (context->id && (context->space != space || context->version != version)) {
		flow_count_report_place(flow);
		flow_count_fold_context(flow, context->id);
	}
	if (context->space != space) {
		if (context->space)
			ntrace_space_put(context->space);
		context->space = ntrace_space_get(space);
		context->id = 0;
	}
	if (!context->id || context->version != version) {
		if (cache->next_id == CONTEXT_IDS) {
			forget_contexts(flow);
			flow->space_id = 0;
		}
		context->version = version;
		context->id = cache->next_id++;
	}
	context->used = ++cache->clock;
	if (flow->space_id != context->id) {
		flow_count_report_place(flow);
		flow_count_part(flow);
		flow->space_id = context->id;
		flow->previous = 0;
	}
}

void flow_enter_space(struct ntrace_flow *flow, struct ntrace_space *space)
{
	if (!space || space != flow->space || !flow->space_id ||
	    ntrace_space_version(space) != flow->space_version)
		change_space(flow, space);
}

int flow_fetch(const struct ntrace_space *space, const struct ntrace_isa *isa, uint64_t address,
	       uint8_t bytes[8], struct ntrace_insn *insn)
{
	size_t have = 0;
	int ret = NTRACE_ERR_TRUNCATED;

	/* An instruction may cross from one mapping into the next. */
	while (ret == NTRACE_ERR_TRUNCATED && have < 8) {
		const uint8_t *data;
		size_t available;

		ret = ntrace_space_read(space, address + have, &data, &available);
		if (ret)
			return ret;
		if (!available)
			return NTRACE_ERR_NOMAP;
		if (available > 8 - have)
			available = 8 - have;
		memcpy(bytes + have, data, available);
		have += available;
		ret = ntrace_insn_decode(isa, bytes, have, address, insn);
	}
	return ret;
}

/*
 * The flow's own copy of an instruction set. A program and its libraries have equal ones: with one
 * copy their blocks are linked, and share a batch.
 */
static const struct ntrace_isa *own_isa(struct ntrace_flow *flow, const struct ntrace_isa *isa)
{
	unsigned int i;

	for (i = 0; i < flow->isa_count; i++) {
		if (!memcmp(&flow->isas[i], isa, sizeof(*isa)))
			return &flow->isas[i];
	}
	if (flow->isa_count == ISAS)
		return isa;
	flow->isas[flow->isa_count] = *isa;
	return &flow->isas[flow->isa_count++];
}

/* Instruction set at @pc: that of the parameters, else that of the object. */
static const struct ntrace_isa *isa_at(struct ntrace_flow *flow, uint64_t pc)
{
	struct ntrace_location location;
	const struct ntrace_isa *isa = NULL;

	if (flow->isa.xlen)
		return &flow->isa;
	if (!ntrace_space_locate(flow->space, pc, &location) && location.object)
		isa = ntrace_object_isa(location.object);
	return own_isa(flow, isa && isa->xlen ? isa : &flow->default_isa);
}

static bool is_uncertain(const struct ntrace_space *space, uint64_t address,
			 struct ntrace_location *location)
{
	return !ntrace_space_locate(space, address, location) && location->uncertain;
}

/* Reads an instruction with its direct target, which CM.JT and CM.JALT take from the jump table. */
static enum ntrace_flow_error fetch_with_target(const struct ntrace_flow *flow,
						const struct ntrace_isa *isa, uint64_t address,
						struct ntrace_insn *insn)
{
	const struct ntrace_params *params = &flow->params;
	uint8_t bytes[8];
	int ret = flow_fetch(flow->space, isa, address, bytes, insn);

	if (ret)
		return ret == NTRACE_ERR_NOMAP ? NTRACE_FLOW_ERROR_NOMAP :
						 NTRACE_FLOW_ERROR_BADINSN;
	if (insn->table_jump &&
	    ntrace_space_table_target(flow->space, insn, address,
				      params->jvt_known ? &params->jvt : NULL, &insn->target))
		return NTRACE_FLOW_ERROR_TABLE;
	return NTRACE_FLOW_ERROR_NONE;
}

static bool is_watched(const struct ntrace_flow *flow, uint64_t address)
{
	for (size_t i = 0; i < flow->config.watch_count; i++) {
		if (flow->config.watch[i] == address)
			return true;
	}
	return false;
}

/* The fast walk handles all direct transfers and returns. */
static uint32_t price_of(const struct ntrace_flow *flow, const struct block *block)
{
	bool jump = block->form.insn_class == NTRACE_INSN_JUMP ||
		    block->form.insn_class == NTRACE_INSN_CALL ||
		    block->form.insn_class == NTRACE_INSN_OTHER_JUMP;

	if (block->uncertain || block->watched || (jump && flow->params.all_jumps))
		return NOT_FAST;
	if (jump || block->form.insn_class == NTRACE_INSN_PLAIN ||
	    block->form.insn_class == NTRACE_INSN_BRANCH ||
	    (block->form.insn_class == NTRACE_INSN_RETURN && !block->sequential))
		return block_parcels(block);
	return NOT_FAST;
}

/* Reads instructions up to a control transfer or to the end of the readable code. */
static bool predecode(struct ntrace_flow *flow, uint64_t pc, struct block *block,
		      enum ntrace_flow_error *error)
{
	struct ntrace_insn insn = { 0 }, before = { 0 };
	uint64_t address = pc, target;

	memset(block, 0, sizeof(*block));
	block->form.address = pc;
	block->context = flow->space_id;
	block->isa = isa_at(flow, pc);
	block->watched = is_watched(flow, pc);
	while (block->form.instructions < BLOCK_INSTRUCTIONS_MAX) {
		*error = fetch_with_target(flow, block->isa, address, &insn);
		if (*error) {
			if (!block->form.instructions)
				return false;
			/*
			 * The block ends before the unreadable code; only a walk that gets there
			 * fails.
			 */
			insn = before;
			break;
		}
		for (unsigned int i = 0; i < insn.size && !block->uncertain; i += 2)
			block->uncertain = space_is_uncertain(flow->space, address + i);
		block->form.instructions++;
		block->form.bytes += insn.size;
		block->form.insn_class = insn.insn_class;
		block->form.last_size = insn.size;
		address = flow_wrap(flow, address + insn.size);
		if (insn.insn_class != NTRACE_INSN_PLAIN)
			break;
		before = insn;
	}
	block->form.next = address;
	block->target = flow_wrap(flow, insn.target);
	block->sequential = ntrace_insn_sequential_target(&before, &insn, &target);
	if (block->sequential)
		block->target = flow_wrap(flow, target);
	block->price = price_of(flow, block);
	return true;
}

/* Links the previous block to @index: see struct block.link. */
static void link_to(struct ntrace_flow *flow, uint32_t index)
{
	const struct block *next = &flow->cache.blocks[index];
	struct block *block = &flow->cache.blocks[flow->previous];

	if (!flow->previous || next->isa != block->isa)
		return;
	if (flow->previous_link ? block->form.insn_class <= NTRACE_INSN_OTHER_JUMP &&
					  next->form.address != block->target :
				  next->form.address != block->form.next)
		return;
	block->link[flow->previous_link] = index;
}

uint32_t flow_find_block(const struct ntrace_flow *flow, uint64_t pc, uint32_t context)
{
	return find_block(&flow->cache, pc, context);
}

uint32_t flow_known_block(struct ntrace_flow *flow)
{
	struct block_cache *cache = &flow->cache;
	uint32_t index = 0;

	if (flow->previous)
		index = cache->blocks[flow->previous].link[flow->previous_link];
	if (!flow->space || (index && cache->blocks[index].form.address == flow->pc))
		return flow->space ? index : 0;
	index = find_block(cache, flow->pc, flow->space_id);
	if (index)
		link_to(flow, index);
	return index;
}

const struct block *flow_block(struct ntrace_flow *flow, enum ntrace_flow_error *error)
{
	struct block_cache *cache = &flow->cache;
	uint32_t index = flow_known_block(flow);
	struct block block;

	*error = NTRACE_FLOW_ERROR_NOMAP;
	if (!index && flow->space && predecode(flow, flow->pc, &block, error)) {
		index = insert_block(flow, &block);
		link_to(flow, index);
	}
	flow->previous = index;
	return index ? &cache->blocks[index] : NULL;
}

/* Return: true if the range at @location was not in the table. */
static bool remember_range(struct ntrace_flow *flow, const struct ntrace_location *location,
			   uint64_t address)
{
	for (unsigned int i = 0; i < flow->warned_count; i++) {
		if (flow->warned[i].object == location->object &&
		    flow->warned[i].link_address == location->link_address)
			return false;
	}
	/*
	 * If the table is full, further ranges give one warning per block, which is still bounded.
	 */
	if (flow->warned_count < WARNED_RANGES) {
		flow->warned[flow->warned_count++] = (struct warned_range){
			location->object,
			location->link_address,
			address,
		};
	}
	return true;
}

void flow_remember_warning(struct ntrace_flow *flow, uint64_t address)
{
	struct ntrace_location location;

	if (flow->space && is_uncertain(flow->space, address, &location))
		remember_range(flow, &location, address);
}

bool flow_warn_uncertain(struct ntrace_flow *flow, uint64_t pc, uint32_t parcels)
{
	struct block *block = &flow->cache.blocks[flow->previous];
	struct ntrace_location location;
	bool inside = false;

	if (flow->previous && block->form.address == pc && block_parcels(block) == parcels) {
		block->uncertain = false;
		block->price = price_of(flow, block);
	}
	for (uint32_t i = 0; i < parcels; i++) {
		uint64_t address = pc + 2 * (uint64_t)i;
		bool uncertain = is_uncertain(flow->space, address, &location);

		if (uncertain && !inside && remember_range(flow, &location, address) &&
		    !flow_warn(flow, NTRACE_FLOW_ERROR_UNCERTAIN, address, 0))
			return false;
		inside = uncertain;
	}
	return true;
}

static int instructions(struct ntrace_space *space, const struct ntrace_isa *isa, uint64_t address,
			uint32_t count,
			int (*callback)(void *data, uint64_t address, const uint8_t *bytes,
					const struct ntrace_insn *insn),
			void *data)
{
	while (count--) {
		struct ntrace_insn insn;
		uint8_t bytes[8];
		int ret = flow_fetch(space, isa, address, bytes, &insn);

		/* The block was readable when it was walked, so the mapping has changed since. */
		if (ret)
			return NTRACE_ERR_NOMAP;
		ret = callback(data, address, bytes, &insn);
		if (ret)
			return ret;
		address += insn.size;
	}
	return NTRACE_OK;
}

int ntrace_flow_instructions(const struct ntrace_flow_event *event,
			     int (*callback)(void *data, uint64_t address, const uint8_t *bytes,
					     const struct ntrace_insn *insn),
			     void *data)
{
	if (event->type != NTRACE_FLOW_BLOCK || !event->space || !event->isa)
		return NTRACE_ERR_INVALID;
	return instructions(event->space, event->isa, event->address, event->instructions, callback,
			    data);
}

int ntrace_block_instructions(const struct ntrace_block_batch *batch,
			      const struct ntrace_block *block,
			      int (*callback)(void *data, uint64_t address, const uint8_t *bytes,
					      const struct ntrace_insn *insn),
			      void *data)
{
	return instructions(batch->space, batch->isa, block->address, block->instructions, callback,
			    data);
}
