// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts messages instead of walking them.
 *
 * A program repeats itself, and so does its trace. What a message does depends on its bytes and on
 * the place where the flow stands: the next block, and the blocks since the last transfer.
 * Messages with an address also depend on the reference of the address and on the parcels walked
 * for history alone. The first time a message comes at a place, the general walk handles it, and a
 * fingerprint is kept: much of a trace comes once, and is not worth the memory. The second time it is walked again, and its effect is remembered: the blocks,
 * the next place, and the changes of the return stack. Each further time, the message is not even
 * parsed: one lookup by its bytes finds the effect, a counter is incremented, and the flow stands at
 * the next place. The caller gets an effect with its number of times when its entry is needed for
 * another one, before its code changes, at the end, and when it flushes: before it changes what it
 * attributes effects to.
 *
 * A message is remembered only if it calls nothing back: no event, no question for the space, no
 * watched block. Messages with timestamps are walked, too. So all that a caller follows changes
 * between effects, never in one.
 *
 * A return to an address from before the message depends on the return stack. Such a message has
 * several effects: each but the last ends before such a return, and the next one is found by its
 * predecessor and the popped address.
 */
#include <stdlib.h>
#include <string.h>

#include "effects.h"
#include "step.h"
#include "word.h"

/* Limits the time of a call, and the number of times of an effect. */
#define BYTES_AT_ONCE (1 << 24)

static const uint8_t kinds[64] = {
	[NTRACE_TCODE_DIRECT_BRANCH] = DIRECT,		[NTRACE_TCODE_INDIRECT_BRANCH] = INDIRECT,
	[NTRACE_TCODE_INDIRECT_BRANCH_HIST] = INDIRECT, [NTRACE_TCODE_RESOURCE_FULL] = RESOURCE,
	[NTRACE_TCODE_REPEAT_BRANCH] = REPEAT,
};

void flow_count_begin(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct flow_count *count = flow->count;

	count->stamped = ntrace_message_has(message, NTRACE_FIELD_TSTAMP);
	if (count->stamped) {
		/* Steps have the time of the messages before. */
		flow_count_report_place(flow);
		flow_count_part(flow);
	} else if (flow->config.remember && !kinds[message->tcode & 63]) {
		/* Batches have the owner of the messages before. */
		effects_pass_run(flow);
	}
	if (!count->place)
		count->miss.valid = false;
	count->passed = false;
	count->offset = message->offset;
}

/* Updates the place by the waiting blocks. */
static void track_waiting(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;

	effects_track(flow, flow->batch + count->tracked, flow->waiting.count - count->tracked);
	count->tracked = flow->waiting.count;
}

void flow_count_deliver(struct ntrace_flow *flow)
{
	if (!flow->count)
		return;
	flow_count_report_place(flow);
	if (!flow->count->stamped)
		track_waiting(flow);
	flow->count->tracked = 0;
}

/* The blocks of a message, and their calls and returns so far. */
struct recording {
	const struct ntrace_block *blocks;
	size_t count;
	struct push stack[PUSHES_MAX];
	unsigned int level;
	unsigned int depth;
	bool pops;
};

/* Return: false: too many calls. */
static bool record_call(struct recording *recording, uint64_t address, uint32_t index)
{
	if (recording->level == PUSHES_MAX)
		return false;
	recording->stack[recording->level++] = (struct push){ address, index };
	if (recording->level > recording->depth)
		recording->depth = recording->level;
	return true;
}

/*
 * Follows the stack over blocks from @first on, which @continues with a return to an address from
 * before. Sets @end to the next such return, or to the end. Return: false: cannot be remembered.
 */
static bool record_part(const struct ntrace_flow *flow, struct recording *recording, size_t first,
			bool continues, bool reported, size_t *end)
{
	size_t i;

	recording->level = 0;
	recording->depth = 0;
	recording->pops = false;
	for (i = first + continues; i < recording->count; i++) {
		const struct ntrace_block *block = &recording->blocks[i];
		uint32_t index = effects_index(flow, block->id);

		if (step_pops(block->insn_class)) {
			if (recording->level) {
				recording->level--;
			} else if (i + 1 == recording->count) {
				if (!reported)
					return false;
				recording->pops = true;
			} else {
				*end = i;
				return !ntrace_insn_is_call(block->insn_class);
			}
		}
		if (ntrace_insn_is_call(block->insn_class) &&
		    !record_call(recording, flow->cache.blocks[index].form.next, index))
			return false;
	}
	*end = i;
	return true;
}

/* Fills in a new effect with @number blocks from @first on. */
static void fill_effect(struct ntrace_flow *flow, struct effect *effect,
			const struct recording *recording, size_t first, size_t number,
			uint32_t lead)
{
	struct flow_count *count = flow->count;
	struct detail *detail = &count->details[number_of(count, effect)];
	const struct ntrace_block *blocks = recording->blocks + first;
	uint32_t instructions = 0, parcels = 0;

	*detail = (struct detail){ .next_pc = number ? blocks[number - 1].next : 0,
				   .lead = lead,
				   .first = count->room_used,
				   .count = (uint32_t)number,
				   .pushed = count->push_count,
				   .flags = recording->blocks->flags & NTRACE_BLOCK_PROVISIONAL,
				   .branch = flow->branch };
	effect->split = first + number < recording->count;
	effect->pops = recording->pops && !effect->split;
	effect->pushes = recording->level & 63;
	effect->depth = recording->depth & 63;
	for (size_t i = 0; i < number; i++) {
		count->room[count->room_used++] =
			effects_index(flow, blocks[i].id) |
			(blocks[i].flags & NTRACE_BLOCK_TAKEN ? TAKEN : 0);
		instructions += blocks[i].instructions;
		parcels += blocks[i].bytes / 2;
	}
	effect->instructions = instructions & PARCELS_AT_MOST;
	effect->parcels = parcels & PARCELS_AT_MOST;
	count->firsts[number_of(count, effect)] = recording->stack[0];
	memcpy(count->pushes + count->push_count, recording->stack,
	       recording->level * sizeof(*recording->stack));
	count->push_count += recording->level;
}

/* The number of borders up to @address. */
static size_t side_of(const struct ntrace_flow *flow, uint64_t address)
{
	size_t side = 0;

	while (side < flow->config.border_count && address >= flow->config.borders[side])
		side++;
	return side;
}

/* Whether the waiting blocks, and the transfer that led to them, are on one side of all borders. */
static bool has_one_privilege(const struct ntrace_flow *flow)
{
	const struct place *place = &flow->count->places[flow->count->place];
	uint32_t first = place->from ? place->from : place->block;
	size_t side = side_of(flow, flow->cache.blocks[first].form.address);

	for (size_t i = 0; i < flow->waiting.count; i++) {
		if (side_of(flow, flow->batch[i].address) != side)
			return false;
	}
	return true;
}

/* Whether the waiting blocks end with a return from a trap. */
static bool returned_from_trap(const struct ntrace_flow *flow)
{
	return flow->batch[flow->waiting.count - 1].insn_class == NTRACE_INSN_TRAP_RETURN;
}

/* Whether nothing but the waiting blocks happened since the place. */
static bool is_recordable(const struct ntrace_flow *flow)
{
	const struct flow_count *count = flow->count;
	const struct ntrace_block_batch *waiting = &flow->waiting;
	uint64_t parcels = 0;

	if (count->passed || !count->place || flow->stop || flow->phase != FLOW_AT_PC ||
	    flow->late_count || !waiting->count || count->tracked ||
	    flow->select_block != returned_from_trap(flow))
		return false;
	for (size_t i = 0; i < waiting->count; i++) {
		const struct ntrace_block *block = &flow->batch[i];
		uint32_t index = effects_index(flow, block->id);

		if (!index || flow->cache.blocks[index].context != flow->space_id ||
		    !(block->flags & NTRACE_BLOCK_NEXT_KNOWN) ||
		    (block->insn_class == NTRACE_INSN_TRAP_RETURN && i + 1 < waiting->count) ||
		    flow->cache.blocks[index].form.bytes != block->bytes)
			return false;
		parcels += block->bytes / 2;
	}
	return parcels <= PARCELS_AT_MOST && (!count->steps || has_one_privilege(flow));
}

/* The number of the place before block @next, after those from @block on at @lead; 0: not known. */
static uint32_t place_after(struct ntrace_flow *flow, uint32_t lead,
			    const struct ntrace_block *block, const struct ntrace_block *next)
{
	struct place after = flow->count->places[lead];

	if (after.start == after.block)
		after.start = 0;
	for (; block < next; block++) {
		if (block->flags & NTRACE_BLOCK_TAKEN)
			after = (struct place){ .from = effects_index(flow, block->id) };
		else if (!after.start)
			after.start = effects_index(flow, block->id);
	}
	after.block = effects_index(flow, next->id);
	if (!after.start)
		after.start = after.block;
	if (!after.from)
		return 0;
	return effects_number_place(flow->count, &after);
}

/* Makes the effects of a message. Return: the last one; NULL: it cannot be remembered. */
static struct effect *record_message(struct ntrace_flow *flow, struct effect **parts,
				     size_t *part_count)
{
	struct flow_count *count = flow->count;
	struct recording recording = { .blocks = flow->batch, .count = flow->waiting.count };
	struct miss key = count->miss;
	uint32_t place = count->place, lead = place;
	bool reported = key.kind == INDIRECT || key.kind == REPEAT, made;
	struct effect *effect = NULL;
	size_t first = 0, end = 0;

	for (*part_count = 0; end < recording.count; first = end) {
		if (*part_count == PARTS ||
		    !record_part(flow, &recording, first, effect, reported, &end))
			return NULL;
		effect = effect_make(flow, &key, place, &made);
		if (made)
			fill_effect(flow, effect, &recording, first, end - first, lead);
		parts[(*part_count)++] = effect;
		if (end == recording.count)
			break;
		key = (struct miss){ .key = { effect->id, CONTINUED },
				     .origin = recording.blocks[end].next,
				     .kind = key.kind };
		lead = place_after(flow, lead, recording.blocks + first, recording.blocks + end);
		if (!lead)
			return NULL;
		place = 1;
	}
	/* An effect may have replaced an earlier one of the same message. */
	for (size_t i = 0; i < *part_count; i++) {
		for (size_t k = i + 1; k < *part_count; k++) {
			if (parts[i] == parts[k])
				return NULL;
		}
	}
	return effect;
}

/* The number of the place after the waiting blocks, the last of which returned from a trap. */
static uint32_t place_after_return(struct ntrace_flow *flow)
{
	const struct ntrace_block *last = &flow->batch[flow->waiting.count - 1];
	const struct place place = { .from = effects_index(flow, last->id) };

	return effects_number_place(flow->count, &place);
}

static bool remember_message(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;
	const struct place tail = count->tail;
	struct effect *parts[PARTS], *last = NULL;
	size_t part_count, blocks = flow->waiting.count;
	uint32_t place;

	count->times_bound += PARTS;
	if (!effects_make_room(flow))
		return false;
	if (count->steps && !has_steps(count))
		effects_pass_run(flow);
	effects_track(flow, flow->batch, blocks);
	place = returned_from_trap(flow) ? place_after_return(flow) : effects_find_place(flow);
	/* Making the next block may have emptied the array, and all effects with it. */
	if (place && !count->passed)
		last = record_message(flow, parts, &part_count);
	if (!last) {
		count->tail = tail;
		return false;
	}
	for (size_t i = 0; i < blocks; i++)
		flow->stats.instructions -= flow->batch[i].instructions;
	flow->stats.blocks -= blocks;
	flow->waiting.count = 0;
	for (size_t i = 0; i < part_count; i++)
		add_time(count, parts[i]);
	last->next = place;
	last->target = flow->pc;
	last->aims = last->kind == INDIRECT ||
		     (last->kind == REPEAT && flow->branch.tcode != NTRACE_TCODE_DIRECT_BRANCH);
	count->place = place;
	count->stale = true;
	if (last->kind == RESOURCE)
		count->last_branch = 0;
	else if (last->kind != REPEAT)
		count->last_branch = last->id;
	return true;
}

/* Whether @message was not found, and should be remembered. */
static bool is_missed(const struct flow_count *count, const struct ntrace_message *message)
{
	return count->miss.valid && count->miss.offset == message->offset &&
	       count->miss.size == message->length;
}

void flow_count_end(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct flow_count *count = flow->count;
	bool counted = is_missed(count, message) && is_recordable(flow) && remember_message(flow);

	count->miss.valid = false;
	if (counted)
		return;
	/* A counted RepeatBranch repeats a counted message, and none from before a sync. */
	if (!flow->branch.valid ||
	    (kinds[message->tcode & 63] && kinds[message->tcode & 63] != REPEAT))
		count->last_branch = 0;
	/* The caller must know the place before the waiting blocks. */
	if (count->stale)
		flow_count_report_place(flow);
	if (!flow->stop && flow->waiting.count >= BATCH_BLOCKS)
		flow_close_batch(flow);
	if (!count->stamped)
		track_waiting(flow);
	/* The first blocks with a new time must be those of one message. */
	count->place = count->stamped || flow->time_state == TIME_NEW || flow->stop ?
			       0 :
			       effects_find_place(flow);
	if (flow->stop)
		count->tail_valid = false;
}

/* ---- counting ---- */

static inline uint64_t first_bytes(uint64_t word, unsigned int size)
{
	return word & ~UINT64_C(0) >> (64 - 8 * size);
}

/*
 * The further effects of a message after one that ends with a return to an address from before.
 * Return: the last one, all are counted and all stack changes but its own are made; NULL: one is not
 * known, and nothing is changed.
 */
static struct effect *count_parts(struct flow_count *count, struct return_stack *stack,
				  struct effect *effect, uint64_t *parcels)
{
	struct effect *parts[PARTS];
	struct return_stack after = { .top = stack->top, .count = stack->count };
	size_t number = 0;

	while (effect->split) {
		/* All calls have returned here. */
		if (after.count > STACK_DEPTH - (unsigned int)effect->depth)
			after.count = STACK_DEPTH - (unsigned int)effect->depth;
		if (!after.count || number == PARTS)
			return NULL;
		parts[number++] = effect;
		effect = find_next(count, effect, effect->id, CONTINUED, stack->address[after.top],
				   0, 1);
		if (!effect || !(effect->split || effect->next))
			return NULL;
		after.top = (after.top + STACK_DEPTH - 1) % STACK_DEPTH;
		after.count--;
	}
	stack->top = after.top;
	stack->count = after.count;
	for (size_t i = 0; i < number; i++) {
		*parcels += parts[i]->parcels;
		add_time(count, parts[i]);
	}
	return effect;
}

/* The state of the flow that the messages of one call change. */
struct run {
	uint64_t reference;
	int64_t owed;
	uint64_t parcels;
	uint64_t messages;
	uint64_t bytes;
	uint64_t confirmed;
	uint32_t place;
	uint32_t last_branch;
	struct effect *last;
	struct effect *branch;
	bool branch_changed;
	bool counted;
};

/* The flow stands where @effect led it, and the caller does not know. */
static void stand_after(struct ntrace_flow *flow, const struct effect *effect)
{
	struct flow_count *count = flow->count;
	const struct detail *detail = &count->details[number_of(count, effect)];
	uint32_t last = count->room[detail->first + detail->count - 1];

	flow->pc = detail->next_pc;
	flow->phase = FLOW_AT_PC;
	flow->previous = last & ~TAKEN;
	flow->previous_link = !!(last & TAKEN);
	count->place = effect->next;
	count->stale = true;
	flow->select_block = returns_from_trap(count, effect);
	count->tail = count->places[effect->next];
	count->tail_valid = !flow->select_block;
	if (count->tail.start == count->tail.block)
		count->tail.start = 0;
}

/* Stores the state, so that the general walk continues. */
static void store_run(struct ntrace_flow *flow, const struct run *run, uint64_t offset)
{
	struct flow_count *count = flow->count;

	if (!run->last)
		return;
	flow->reference = run->reference;
	if (run->counted)
		flow->icnt_pending = 0;
	flow->debt = flow->icnt_pending + (uint64_t)run->owed;
	flow->credit += run->bytes << CREDIT_BITS;
	if (flow->credit > CREDIT_MAX)
		flow->credit = CREDIT_MAX;
	flow->credit -= run->parcels;
	flow->stats.messages += run->messages;
	count->times_bound += run->messages * (PARTS + 1);
	flow->offset = offset;
	if (run->confirmed != UINT64_MAX)
		flow->confirmed = run->confirmed;
	stand_after(flow, run->last);
	flow->owner_due = false;
	count->last_branch = run->last_branch;
	if (run->branch_changed) {
		flow->branch.valid = false;
		if (run->branch)
			flow->branch = count->details[number_of(count, run->branch)].branch;
	}
}

/* Whether the place is known and nothing but messages decides what comes next. */
static bool is_ready(struct ntrace_flow *flow, const struct ntrace_reader *reader)
{
	struct flow_count *count = flow->count;

	if (!count || !count->place || reader->state || !flow_is_synced(flow) || flow->stop ||
	    flow->late_count || flow->select_block)
		return false;
	/* Mappings may have changed. */
	flow_enter_space(flow, flow->space);
	return count->place;
}

/* The bits of SRC in the first bytes of a message, and those of the own SRC. */
static void source_bits(const struct ntrace_flow *flow, uint64_t *mask, uint64_t *own)
{
	unsigned int bits = flow->params.src_bits;
	uint64_t all = (UINT64_C(1) << bits) - 1;

	/* SRC follows TCODE: its first 6 bits are in the second byte, above MSEO. */
	*mask = (all & 63) << 10 | (all >> 6 & 63) << 18;
	*own = ((uint64_t)flow->config.src & 63) << 10 | ((uint64_t)flow->config.src >> 6 & 63)
								 << 18;
	*own &= *mask;
}

/*
 * Whether the reader takes the message without an error, and its SRC is whole: the first part of a
 * message does not end before the last byte of SRC, whose bits are those of @mask.
 */
static inline bool is_sound(uint64_t key, uint64_t more, uint64_t mask)
{
	uint64_t ends = mask >> 16 ? 0x303 : 3;

	return !(key & ends) && !word_strays(key) && !word_strays(more);
}

/* Reads the bytes of a message at @at. Return: their number; 0: too long, or not whole. */
static inline unsigned int read_key(const uint8_t *at, const uint8_t *end, uint64_t *key,
				    uint64_t *more)
{
	uint64_t ends;
	uint8_t copy[16];

	if (end - at < (ptrdiff_t)sizeof(copy)) {
		memset(copy, 0, sizeof(copy));
		memcpy(copy, at, (size_t)(end - at));
		at = copy;
	}
	*key = load_word(at);
	*more = 0;
	ends = word_ends(*key);
	if (ends) {
		unsigned int size = (unsigned int)__builtin_ctzll(ends) / 8 + 1;

		*key = first_bytes(*key, size);
		return size;
	}
	*more = load_word(at + 8);
	ends = word_ends(*more);
	if (ends) {
		unsigned int size = (unsigned int)__builtin_ctzll(ends) / 8 + 1;

		*more = first_bytes(*more, size);
		return size + 8;
	}
	return 0;
}

/* Passes the waiting blocks on before a message is counted. Return: false: the place is not known. */
static bool pass_waiting(struct ntrace_flow *flow)
{
	uint32_t place = flow->count->place;

	return flow_close_batch(flow) && flow->count->place == place;
}

/* Notes a message that is not known. Return: whether it came before, so that it is remembered now. */
static bool came_before(struct flow_count *count, const struct miss *miss, uint32_t place)
{
	uint64_t hash = hash_of(miss->key[0], miss->key[1], miss->origin, miss->debt, place);
	uint16_t *sighting = &count->sightings[hash >> 40 & (SIGHTINGS - 1)];
	uint16_t print = (uint16_t)(hash >> 16 | 1);
	bool same = *sighting == print;

	*sighting = print;
	return same;
}

int ntrace_flow_count(struct ntrace_flow *flow, struct ntrace_reader *reader)
{
	struct flow_count *count = flow->count;
	const uint8_t *at = reader->next, *end = reader->end;
	uint64_t mask, own, key, more, offset = flow->offset;
	struct run run;

	if (!is_ready(flow, reader))
		return 0;
	/* A message has at least two bytes. */
	if (count->times_bound > UINT32_MAX - BYTES_AT_ONCE / 2 * (PARTS + 1))
		flow_count_fold(flow);
	if (end - at > BYTES_AT_ONCE)
		end = at + BYTES_AT_ONCE;
	source_bits(flow, &mask, &own);
	run = (struct run){ .reference = flow->reference,
			    .owed = (int64_t)(flow->debt - flow->icnt_pending),
			    .confirmed = UINT64_MAX,
			    .place = count->place,
			    .last_branch = count->last_branch };
	count->miss.valid = false;
	for (;;) {
		unsigned int size = at < end ? read_key(at, reader->end, &key, &more) : 0;
		struct effect *effect;
		uint64_t origin, parcels = run.parcels;
		uint32_t debt;
		uint8_t kind;

		if (!size || !effects_have_room(flow, offset))
			break;
		kind = kinds[key >> 2 & 63];
		if ((key & mask) != own) {
			if (!is_sound(key, more, mask))
				break;
			at += size;
			continue;
		}
		if (kind == NOT_COUNTED || run.owed != (int32_t)run.owed ||
		    (kind == REPEAT && (!run.last_branch || flow->params.repeat_message)))
			break;
		origin = kind == INDIRECT ? run.reference : kind == REPEAT ? run.last_branch : 0;
		debt = kind == RESOURCE ? 0 : (uint32_t)run.owed;
		count->offset = reader->offset + (uint64_t)(at - reader->next);
		effect = find_next(count, run.last, key, more, origin, debt, run.place);
		if (effect && flow->waiting.count && !pass_waiting(flow))
			break;
		if (effect && effect->split)
			effect = count_parts(count, &flow->stack, effect, &run.parcels);
		if (!effect || !effect->next) {
			count->miss = (struct miss){ .key = { key, more },
						     .origin = origin,
						     .offset = count->offset,
						     .size = size,
						     .debt = debt,
						     .kind = kind };
			count->miss.valid = came_before(count, &count->miss, run.place);
			break;
		}
		prefetch_after(count, effect);
		add_time(count, effect);
		if (effect->pushes || effect->depth || effect->pops)
			effects_move_stack(&flow->stack, count, effect);
		run.parcels += effect->parcels;
		run.place = effect->next;
		run.last = effect;
		offset = count->offset;
		at += size;
		run.messages++;
		run.bytes += size;
		if (kind == RESOURCE) {
			run.owed += (int64_t)(run.parcels - parcels);
			run.last_branch = 0;
			run.branch = NULL;
			run.branch_changed = true;
			continue;
		}
		run.owed = 0;
		run.counted = true;
		run.confirmed = offset;
		if (effect->aims)
			run.reference = effect->target;
		if (kind != REPEAT) {
			run.last_branch = effect->id;
			run.branch = effect;
			run.branch_changed = true;
		}
	}
	reader->offset += (uint64_t)(at - reader->next);
	reader->next = at;
	store_run(flow, &run, offset);
	if (count->miss.valid && flow->waiting.count)
		flow_close_batch(flow);
	return flow->stop || flow->count_error ? flow_result(flow) : 0;
}
