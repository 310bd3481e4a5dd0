// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The table of effects, the places between them, and how the caller gets them; see count.c. */
#include <stdlib.h>
#include <string.h>

#include "effects.h"
#include "large.h"

/* Gives @count an empty table of @number effects. Return: false: out of memory. */
static bool make_effects(struct flow_count *count, uint32_t number)
{
	struct effect *effects = large_alloc(number * sizeof(*effects));
	struct detail *details = large_alloc(number * sizeof(*details));
	struct push *firsts = large_alloc(number * sizeof(*firsts));
	uint32_t *index = large_zalloc(number * sizeof(*index));
	uint32_t *dirty = malloc(2 * number * sizeof(*dirty));

	if (!effects || !details || !firsts || !index || !dirty) {
		free(effects);
		free(details);
		free(firsts);
		free(index);
		free(dirty);
		return false;
	}
	free(count->dirty);
	count->effects = effects;
	count->details = details;
	count->firsts = firsts;
	count->index = index;
	count->dirty = dirty;
	count->effect_mask = number - 1;
	count->used = 1;
	return true;
}

int flow_count_new(struct ntrace_flow *flow)
{
	bool ordered = flow->config.run || flow->config.remember;
	struct flow_count *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	flow->count = made;
	made->places = large_alloc(PLACES * sizeof(*made->places));
	made->slots = large_zalloc(2 * PLACES * sizeof(*made->slots));
	made->room = large_alloc(ROOM * sizeof(*made->room));
	made->pushes = large_alloc(PUSHES * sizeof(*made->pushes));
	made->fold = malloc((COUNT_BLOCKS + OPEN_BLOCKS + 1) * sizeof(*made->fold));
	made->sightings = calloc(SIGHTINGS, sizeof(*made->sightings));
	if (ordered)
		made->steps = malloc(STEPS * sizeof(*made->steps));
	if (flow->config.remember)
		made->step_offsets = malloc(STEPS * sizeof(*made->step_offsets));
	if (!made->places || !made->slots || !made->room || !made->pushes || !made->fold ||
	    !made->sightings || (ordered && !made->steps) ||
	    (flow->config.remember && !made->step_offsets) || !make_effects(made, EFFECTS_FIRST))
		return NTRACE_ERR_NOMEM;
	made->place_count = 1;
	made->next_id = 1;
	made->history_mode = flow->mode == NTRACE_MODE_HISTORY;
	return 0;
}

void flow_count_free(struct flow_count *count)
{
	if (!count)
		return;
	free(count->effects);
	free(count->details);
	free(count->firsts);
	free(count->index);
	free(count->places);
	free(count->slots);
	free(count->room);
	free(count->pushes);
	free(count->dirty);
	free(count->fold);
	free(count->steps);
	free(count->step_offsets);
	free(count->sightings);
	free(count);
}

/* ---- passing on ---- */

static const struct ntrace_space *space_of(const struct ntrace_flow *flow, uint32_t context)
{
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		if (flow->cache.contexts[i].id == context)
			return flow->cache.contexts[i].space;
	}
	return NULL;
}

/*
 * Writes the blocks that lead to @place. Return: their number; 0 if they are not known, and after a
 * trap.
 */
static size_t write_lead(const struct ntrace_flow *flow, const struct place *place,
			 struct ntrace_block *out)
{
	const struct block *blocks = flow->cache.blocks;
	uint32_t index = place->start;
	size_t count = 1;

	if (!place->from)
		return 0;
	out[0] = blocks[place->from].form;
	out[0].next = index ? blocks[index].form.address : flow->pc;
	out[0].flags = NTRACE_BLOCK_TAKEN | NTRACE_BLOCK_NEXT_KNOWN;
	if (!index)
		return 1;
	while (index != place->block) {
		if (!index || count > OPEN_BLOCKS)
			return 0;
		out[count] = blocks[index].form;
		out[count].flags = NTRACE_BLOCK_NEXT_KNOWN;
		count++;
		index = flow_find_block(flow, blocks[index].form.next, blocks[index].context);
	}
	return count;
}

static void pass_effect(struct ntrace_flow *flow, size_t lead, size_t blocks, uint64_t times,
			uint32_t last)
{
	struct flow_count *count = flow->count;
	const struct block *block = &flow->cache.blocks[last];
	const struct ntrace_block_batch batch = {
		.blocks = count->fold,
		.count = lead + blocks,
		.space = (struct ntrace_space *)(uintptr_t)space_of(flow, block->context),
		.isa = block->isa,
		.offset = flow->offset,
		.src = (uint16_t)flow->config.src,
	};
	const struct ntrace_flow_effect effect = { &batch, lead, times };

	if (!flow->count_error)
		flow->count_error = flow->config.effect(flow->config.data, &effect);
}

/* Writes a block of an effect, executed before the instruction at @next. */
static inline void write_block(const struct block *blocks, uint32_t index, uint64_t next,
			       struct ntrace_block *out)
{
	*out = blocks[index & ~TAKEN].form;
	out->next = next;
	out->flags = NTRACE_BLOCK_NEXT_KNOWN | (index & TAKEN ? NTRACE_BLOCK_TAKEN : 0);
}

/* Writes the blocks of an effect, the last one before @end, with @flags. */
static inline void write_blocks_before(const struct ntrace_flow *flow, const struct detail *detail,
				       uint8_t flags, struct ntrace_block *end)
{
	const uint32_t *index = flow->count->room + detail->first;
	const struct block *blocks = flow->cache.blocks;
	uint64_t next = detail->next_pc;

	for (uint32_t i = detail->count; i-- > 0; next = end->address) {
		write_block(blocks, index[i], next, --end);
		end->flags |= flags;
	}
}

/* Writes the blocks of an effect, after those that lead to it. Return: the number of the latter. */
static size_t write_effect(const struct ntrace_flow *flow, const struct detail *detail)
{
	struct flow_count *count = flow->count;
	size_t lead = write_lead(flow, &count->places[detail->lead], count->fold);

	write_blocks_before(flow, detail, 0, count->fold + lead + detail->count);
	return lead;
}

static uint32_t last_block(const struct flow_count *count, const struct detail *detail)
{
	return count->room[detail->first + detail->count - 1] & ~TAKEN;
}

void effect_fold(struct ntrace_flow *flow, struct effect *effect)
{
	struct flow_count *count = flow->count;
	const struct detail *detail = &count->details[number_of(count, effect)];

	flow->stats.blocks += (uint64_t)effect->times * detail->count;
	flow->stats.instructions += (uint64_t)effect->times * effect->instructions;
	if (detail->count && flow->config.effect) {
		size_t lead = write_effect(flow, detail);

		pass_effect(flow, lead, detail->count, effect->times, last_block(count, detail));
	}
	effect->times = 0;
}

void ntrace_flow_run_step(const struct ntrace_flow_run *run, size_t index,
			  struct ntrace_block_batch *batch, size_t *lead)
{
	const struct ntrace_flow *flow = run->flow;
	const struct flow_count *count = flow->count;
	const struct detail *detail = &count->details[run->steps[index].entry];
	const struct block *block;

	*lead = write_effect(flow, detail);
	*batch = (struct ntrace_block_batch){ .blocks = count->fold,
					      .count = *lead + detail->count,
					      .space = run->space,
					      .isa = run->isa,
					      .offset = run->offset,
					      .time = run->time,
					      .time_known = run->time_known,
					      .src = run->src };
	if (!detail->count)
		return;
	block = &flow->cache.blocks[last_block(count, detail)];
	batch->isa = block->isa;
	batch->space = (struct ntrace_space *)(uintptr_t)space_of(flow, block->context);
}

/* Passes a batch on; the next one is empty. */
static void pass_batch(struct ntrace_flow *flow, struct ntrace_block_batch *batch)
{
	if (batch->count && !flow->count_error)
		flow->count_error = flow->config.blocks(flow->config.data, batch);
	batch->count = 0;
}

/* Passes the blocks of all steps on, in batches. */
static void pass_blocks(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;
	struct ntrace_block_batch batch = { .blocks = count->fold,
					    .time = flow_time(flow),
					    .time_known = flow->time_state,
					    .src = (uint16_t)flow->config.src };
	uint32_t number = count->step_count, context = 0;

	count->step_count = 0;
	for (uint32_t i = 0; i < number; i++) {
		const struct detail *detail = &count->details[count->steps[i].entry];
		const struct block *last;

		if (!detail->count)
			continue;
		last = &flow->cache.blocks[last_block(count, detail)];
		if (batch.count + detail->count > BATCH_BLOCKS || last->isa != batch.isa ||
		    last->context != context)
			pass_batch(flow, &batch);
		if (!batch.count) {
			context = last->context;
			batch.isa = last->isa;
			batch.space = (struct ntrace_space *)(uintptr_t)space_of(flow, context);
			batch.offset = count->step_offsets[i];
		}
		batch.count += detail->count;
		write_blocks_before(flow, detail, detail->flags, count->fold + batch.count);
	}
	pass_batch(flow, &batch);
}

/* Passes the steps on as a run. */
static void pass_steps(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;
	struct ntrace_flow_run run = { .steps = count->steps,
				       .count = count->step_count,
				       .instructions = count->step_instructions,
				       .flow = flow,
				       .offset = flow->offset,
				       .time = flow_time(flow),
				       .time_known = flow->time_state,
				       .src = (uint16_t)flow->config.src };
	const struct detail *detail;
	const struct block *block;
	struct ntrace_block last;

	/* The last part of a message has blocks: at least the return that begins it. */
	detail = &count->details[count->steps[count->step_count - 1].entry];
	block = &flow->cache.blocks[last_block(count, detail)];
	write_block(flow->cache.blocks, count->room[detail->first + detail->count - 1],
		    detail->next_pc, &last);
	run.last = &last;
	run.isa = block->isa;
	run.space = (struct ntrace_space *)(uintptr_t)space_of(flow, block->context);
	count->step_count = 0;
	if (!flow->count_error)
		flow->count_error = flow->config.run(flow->config.data, &run);
}

void effects_pass_run(struct ntrace_flow *flow)
{
	if (!flow->count->step_count)
		return;
	if (flow->config.run)
		pass_steps(flow);
	else
		pass_blocks(flow);
	flow->count->step_instructions = 0;
}

/* The context of the blocks of an effect. */
static uint32_t context_of(const struct ntrace_flow *flow, uint32_t number)
{
	const struct flow_count *count = flow->count;
	const struct detail *detail = &count->details[number];
	uint32_t block = detail->count ? last_block(count, detail) :
					 count->places[detail->lead].from;

	return flow->cache.blocks[block].context;
}

void flow_keep_runs(struct ntrace_flow *flow, int (*release)(void *data))
{
	flow->release = release;
}

/* Something changes that runs refer to. */
static void release_kept(struct ntrace_flow *flow)
{
	if (flow->release && !flow->count_error)
		flow->count_error = flow->release(flow->config.data);
}

void flow_count_fold_context(struct ntrace_flow *flow, uint32_t context)
{
	struct flow_count *count = flow->count;
	uint32_t kept = 0;

	/* A callback may cause a change of code, before which effects are passed on. */
	if (!count || count->folding)
		return;
	effects_pass_run(flow);
	if (context)
		release_kept(flow);
	count->folding = true;
	for (uint32_t i = 0; i < count->dirty_count; i++) {
		uint32_t number = count->dirty[i];

		if (!count->effects[number].times)
			continue;
		if (context && context_of(flow, number) != context)
			count->dirty[kept++] = number;
		else
			effect_fold(flow, &count->effects[number]);
	}
	count->dirty_count = kept;
	if (!kept)
		count->times_bound = 0;
	count->folding = false;
}

void flow_count_fold(struct ntrace_flow *flow)
{
	flow_count_fold_context(flow, 0);
}

int flow_flush_space(struct ntrace_flow *flow, const struct ntrace_space *space)
{
	flow_close_batch(flow);
	flow_count_report_place(flow);
	release_kept(flow);
	/* Where the flow has not been, or has not been for long, nothing was counted. */
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		if (flow->cache.contexts[i].space == space && flow->cache.contexts[i].id)
			flow_count_fold_context(flow, flow->cache.contexts[i].id);
	}
	return flow_result(flow);
}

void flow_count_report_place(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;
	size_t lead;

	if (!count)
		return;
	count->passed = true;
	if (!count->stale)
		return;
	count->stale = false;
	effects_pass_run(flow);
	if (!flow->config.effect)
		return;
	lead = write_lead(flow, &count->places[count->place], count->fold);
	pass_effect(flow, lead, 0, 0, count->places[count->place].from);
}

void flow_count_trap(struct ntrace_flow *flow)
{
	if (!flow->count)
		return;
	flow->count->tail = (struct place){ 0 };
	flow->count->tail_valid = true;
}

void flow_count_part(struct ntrace_flow *flow)
{
	if (!flow->count)
		return;
	flow->count->tail_valid = false;
	flow->count->place = 0;
}

static void clear_tables(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;

	release_kept(flow);
	memset(count->index, 0, (count->effect_mask + 1) * sizeof(*count->index));
	count->used = 1;
	memset(count->slots, 0, 2 * PLACES * sizeof(*count->slots));
	count->place_count = 1;
	count->room_used = 0;
	count->push_count = 0;
	count->place = 0;
	count->last_branch = 0;
	count->miss.valid = false;
}

void flow_count_forget(struct ntrace_flow *flow)
{
	if (!flow->count)
		return;
	flow_count_report_place(flow);
	flow_count_fold(flow);
	clear_tables(flow);
	flow->count->tail_valid = false;
}

void flow_count_add_stats(const struct flow_count *count, struct ntrace_flow_stats *stats)
{
	for (uint32_t i = 0; i < count->dirty_count; i++) {
		const struct effect *effect = &count->effects[count->dirty[i]];
		const struct detail *detail = &count->details[count->dirty[i]];

		stats->blocks += (uint64_t)effect->times * detail->count;
		stats->instructions += (uint64_t)effect->times * effect->instructions;
	}
}

/* ---- places ---- */

static uint32_t place_slot(const struct place *place)
{
	uint64_t hash = ((uint64_t)place->from << 32 | place->block) * UINT64_C(0x9e3779b97f4a7c15);

	hash ^= place->start * UINT64_C(0xc2b2ae3d27d4eb4f);
	return (uint32_t)(hash >> 40) % (2 * PLACES);
}

/* The number of @place; 0: there is no room for it. */
uint32_t effects_number_place(struct flow_count *count, const struct place *place)
{
	uint32_t slot = place_slot(place), number;

	while ((number = count->slots[slot])) {
		const struct place *present = &count->places[number];

		if (present->from == place->from && present->start == place->start &&
		    present->block == place->block)
			return number;
		slot = (slot + 1) % (2 * PLACES);
	}
	if (count->place_count == PLACES)
		return 0;
	count->slots[slot] = count->place_count;
	count->places[count->place_count] = *place;
	return count->place_count++;
}

/* Updates the place by blocks that were executed. */
void effects_track(struct ntrace_flow *flow, const struct ntrace_block *blocks, size_t number)
{
	struct flow_count *count = flow->count;
	const struct ntrace_block *last = blocks + number;

	while (last > blocks && !(last[-1].flags & NTRACE_BLOCK_TAKEN))
		last--;
	if (last > blocks) {
		last--;
		count->tail = (struct place){ .from = effects_index(flow, last->id) };
		count->tail_valid = count->tail.from &&
				    last->insn_class != NTRACE_INSN_TRAP_RETURN &&
				    last->flags & NTRACE_BLOCK_NEXT_KNOWN;
		last++;
	}
	for (; last < blocks + number; last++) {
		uint32_t index = effects_index(flow, last->id);

		if (!index || !(last->flags & NTRACE_BLOCK_NEXT_KNOWN))
			count->tail_valid = false;
		if (!count->tail.start)
			count->tail.start = index;
	}
}

/* Whether the flow is in the code of @place, and the blocks that lead there are known. */
static bool is_known(struct ntrace_flow *flow, const struct place *place)
{
	uint32_t source = place->from ? place->from : place->block;

	if (flow->cache.blocks[source].context != flow->space_id)
		return false;
	return place->from ? write_lead(flow, place, flow->count->fold) :
			     place->start == place->block;
}

/* The number of the place where the flow stands. */
uint32_t effects_find_place(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;
	uint32_t previous = flow->previous;
	enum ntrace_flow_error error;
	struct place place;

	if (!count->tail_valid || flow->phase != FLOW_AT_PC || flow->select_block || flow->stop ||
	    !flow->space_id)
		return 0;
	if (!flow_block(flow, &error)) {
		flow->previous = previous;
		return 0;
	}
	/* Making the block may have emptied the array. */
	if (!count->tail_valid)
		return 0;
	place = count->tail;
	place.block = flow->previous;
	flow->previous = previous;
	if (!place.start)
		place.start = place.block;
	if (!is_known(flow, &place))
		return 0;
	return effects_number_place(count, &place);
}

/* The free place of an effect in the index; NULL: all in question are in use. */
static uint32_t *free_entry(const struct flow_count *count, uint32_t entry)
{
	for (unsigned int i = 0; i < PROBES; i++) {
		if (!count->index[(entry + i) & count->effect_mask])
			return &count->index[(entry + i) & count->effect_mask];
	}
	return NULL;
}

/* A number for a new effect, which may be that of an earlier one, and its place in the index. */
static uint32_t allocate_number(struct ntrace_flow *flow, uint64_t hash)
{
	struct flow_count *count = flow->count;
	uint32_t entry = entry_of(count, hash), *place = free_entry(count, entry), number;

	if (place && count->used <= count->effect_mask) {
		number = count->used++;
	} else {
		/* Any effect will do; ids are spread evenly. */
		if (!place)
			place = &count->index[(entry + count->next_id % PROBES) &
					      count->effect_mask];
		number = *place ? *place % EFFECTS_MAX : 1 + count->next_id % count->effect_mask;
		effects_pass_run(flow);
		release_kept(flow);
		if (count->effects[number].times)
			effect_fold(flow, &count->effects[number]);
	}
	*place = number + tag_of(hash) * EFFECTS_MAX;
	return number;
}

/* The effect with this key, or a new one, which may replace another one. */
struct effect *effect_make(struct ntrace_flow *flow, const struct miss *miss, uint32_t place,
			   bool *made)
{
	struct flow_count *count = flow->count;
	struct effect *effect =
		find_effect(count, miss->key[0], miss->key[1], miss->origin, miss->debt, place);

	*made = !effect;
	if (effect)
		return effect;
	effect = &count->effects[allocate_number(flow, hash_of(miss->key[0], miss->key[1],
							       miss->origin, miss->debt, place))];
	*effect = (struct effect){ .key = { miss->key[0], miss->key[1] },
				   .origin = miss->origin,
				   .place = place,
				   .debt = miss->debt,
				   .id = count->next_id++,
				   .kind = miss->kind & 7u };
	return effect;
}

/* Whether tables have no room for the message: then all is forgotten. */
static bool is_full(const struct flow_count *count)
{
	return count->place_count + PARTS + 2 > PLACES || count->room_used + COUNT_BLOCKS > ROOM ||
	       count->push_count + PARTS * PUSHES_MAX > PUSHES ||
	       count->next_id > UINT32_MAX - 2 * PARTS;
}

/* Quadruples the table, if there is memory. Effects without a place there are not found any more. */
static void grow_table(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;
	struct effect *effects = count->effects;
	struct detail *details = count->details;
	struct push *firsts = count->firsts;
	uint32_t *index = count->index, used = count->used;

	flow_count_fold(flow);
	if (!make_effects(count, 4 * (count->effect_mask + 1)))
		return;
	memcpy(count->effects, effects, used * sizeof(*effects));
	memcpy(count->details, details, used * sizeof(*details));
	memcpy(count->firsts, firsts, used * sizeof(*firsts));
	count->used = used;
	for (uint32_t i = 1; i < used; i++) {
		const struct effect *effect = &effects[i];
		uint64_t hash = hash_of(effect->key[0], effect->key[1], effect->origin,
					effect->debt, effect->place);
		uint32_t *entry = free_entry(count, entry_of(count, hash));

		if (entry)
			*entry = i + tag_of(hash) * EFFECTS_MAX;
	}
	free(effects);
	free(details);
	free(firsts);
	free(index);
}

/* Passes all effects on and forgets them, or only passes them on, if there is no room for more. */
bool effects_make_room(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;

	if (count->used > count->effect_mask / 2 && count->effect_mask + 1 < EFFECTS_MAX)
		grow_table(flow);
	if (count->dirty_count > count->effect_mask - 2 * PARTS)
		flow_count_fold(flow);
	if ((flow->mode == NTRACE_MODE_HISTORY) == count->history_mode && !is_full(count))
		return true;
	count->history_mode = flow->mode == NTRACE_MODE_HISTORY;
	flow_count_report_place(flow);
	flow_count_fold(flow);
	clear_tables(flow);
	return false;
}
