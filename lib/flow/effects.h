/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The table of effects; shared by count.c and effects.c. */
#ifndef NTRACE_FLOW_EFFECTS_H
#define NTRACE_FLOW_EFFECTS_H

#include <ntrace/runs.h>

#include "count.h"

#define EFFECTS_FIRST (1u << 12)
#define EFFECTS_MAX (1u << 18)	/* numbers of effects are smaller */
#define PROBES 4
#define PLACES (1u << 17)
#define ROOM (1u << 22)		/* block indices of all effects */
#define PUSHES (1u << 19)
/* Effects of one message. */
#define PARTS 64
/* Blocks since the last transfer. */
#define OPEN_BLOCKS 64
#define PUSHES_MAX 48
/* Steps of a run. */
#define STEPS 1024
/* Fingerprints of messages that came once; a power of two. */
#define SIGHTINGS (1u << 16)
/* Each message pays for this many parcels: see PARCELS_PER_BYTE in flow.h. */
#define PARCELS_AT_MOST ((1u << 20) - 1)
#define CREDIT_MAX (UINT64_C(1) << 62)
#define TAKEN (UINT32_C(1) << 31)
/* The second word of the key of an effect that continues another one: no message ends like this. */
#define CONTINUED UINT64_C(2)

/* Kinds of messages, by what their effect depends on. */
enum kind {
	NOT_COUNTED,
	DIRECT,
	INDIRECT,
	RESOURCE,
	REPEAT,
};

/*
 * A place: the block @from transferred control to block @start, the blocks from there up to @block
 * transferred nothing, and @block is next. @from 0: a trap transferred control to @start, which is
 * @block. @start 0: @from returned from a trap, and the next block is not known yet.
 */
struct place {
	uint32_t from;
	uint32_t start;
	uint32_t block;
};

/**
 * struct effect - what a message does at a place; one cache line
 * @key: the bytes of the message, or CONTINUED and the id of the effect before
 * @origin: INDIRECT: the reference; REPEAT: id of the repeated message; CONTINUED: popped address
 * @times: number of times since the caller got it
 * @after: number of the effect that came next the last time; 0 = none yet
 * @target: address of the next block
 * @place: number of the place before
 * @next: number of the place afterwards; 0 = not known
 * @debt: parcels walked for history before, less those counted before
 * @id: never used for another effect
 * @parcels: parcels of all blocks; @instructions
 * @pushes: return addresses that stay on the stack
 * @depth: maximum number of return addresses above those from before
 * @kind: enum kind
 * @split: ends before a return to an address from before, with which the next effect begins
 * @pops: ends with a return that takes an address from before, to a reported address
 * @aims: the reference becomes @target; else it does not change
 */
struct effect {
	uint64_t key[2];
	uint64_t origin;
	uint32_t times;
	uint32_t after;
	uint64_t target;
	uint32_t place;
	uint32_t next;
	uint32_t debt;
	uint32_t id;
	uint64_t parcels : 20;
	uint64_t instructions : 20;
	uint64_t pushes : 6;
	uint64_t depth : 6;
	uint64_t kind : 3;
	uint64_t split : 1;
	uint64_t pops : 1;
	uint64_t aims : 1;
};

struct push {
	uint64_t address;
	uint32_t caller;
};

/* The rest of an effect: what is needed when it is passed on, or when counting pauses. */
struct detail {
	uint64_t next_pc;
	uint32_t lead;		/* number of the place that leads to the effect */
	uint32_t first;		/* index of the first block in the room */
	uint32_t count;
	uint32_t pushed;	/* index of the first return address */
	uint8_t flags;		/* of all blocks; only NTRACE_BLOCK_PROVISIONAL */
	struct branch_record branch;
};

/* The message that was not found. */
struct miss {
	uint64_t key[2];
	uint64_t origin;
	uint64_t offset;
	uint32_t size;
	uint32_t debt;
	uint8_t kind;
	bool valid;
};

/**
 * struct flow_count - all effects
 * @effects, @details, @firsts: in the order in which they were made, so that effects which come one after the
 *                     other are near each other in memory; effect 0 is unused. @used: their number
 * @firsts: the first return address of each effect that has one
 * @index: @effect_mask + 1 numbers of effects with their tags, by hash; 0 = free
 * @times_bound: no effect has more times
 * @places: places; 0 is none
 * @slots: numbers of places by hash
 * @room: indices of blocks, with TAKEN
 * @dirty: entries with times
 * @fold: blocks of the effect that is passed on
 * @tail: the place without the next block; @tail_valid
 * @place: number of the place; 0 = not known, messages are decoded as usual
 * @stale: the caller does not know the place
 * @passed: a callback was called since the message began
 * @stamped: the message has a timestamp: it is walked, and the place is not followed
 * @last_branch: id of the last branch message, 0: was not counted
 * @steps: effects executed since the last run was passed on; NULL: the order is not wanted
 * @step_instructions: of these steps
 * @step_offsets: position in the stream of the message of each step; NULL: not wanted
 * @offset: that of the message whose steps are added
 * @tracked: number of waiting blocks that @tail includes
 * @sightings: fingerprints of messages at places, by hash
 */
struct flow_count {
	struct effect *effects;
	struct detail *details;
	struct push *firsts;
	uint32_t *index;
	struct place *places;
	uint32_t *slots;
	uint32_t *room;
	struct push *pushes;
	uint32_t *dirty;
	struct ntrace_block *fold;
	uint32_t effect_mask, used;
	uint32_t place_count, room_used, push_count, dirty_count;
	uint32_t next_id;
	uint32_t last_branch;
	uint64_t times_bound;
	struct place tail;
	uint32_t place;
	bool tail_valid;
	bool stale;
	bool passed;
	bool stamped;
	bool folding;
	bool history_mode;
	struct miss miss;
	struct ntrace_flow_step *steps;
	uint32_t step_count;
	uint64_t step_instructions;
	uint64_t *step_offsets;
	uint64_t offset;
	size_t tracked;
	uint16_t *sightings;
};

static inline uint64_t hash_of(uint64_t key, uint64_t more, uint64_t origin, uint32_t debt,
			       uint32_t place)
{
	uint64_t hash = (key ^ (uint64_t)place << 40 ^ place) * UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ (more ^ origin << 7 ^ (uint64_t)debt << 20) * UINT64_C(0xc2b2ae3d27d4eb4f);
}

static inline uint32_t entry_of(const struct flow_count *count, uint64_t hash)
{
	return (uint32_t)(hash >> 40) & count->effect_mask;
}

/* The bits of the index above the number: most other effects have others, and are not compared. */
static inline uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)hash / EFFECTS_MAX;
}

static inline bool is_effect(const struct effect *effect, uint64_t key, uint64_t more,
			     uint64_t origin, uint32_t debt, uint32_t place)
{
	return effect->key[0] == key && effect->place == place && effect->key[1] == more &&
	       effect->origin == origin && effect->debt == debt;
}

static inline struct effect *find_effect(const struct flow_count *count, uint64_t key,
					 uint64_t more, uint64_t origin, uint32_t debt,
					 uint32_t place)
{
	uint64_t hash = hash_of(key, more, origin, debt, place);
	uint32_t entry = entry_of(count, hash), tag = tag_of(hash);

	for (unsigned int i = 0; i < PROBES; i++) {
		uint32_t number = count->index[(entry + i) & count->effect_mask];
		struct effect *effect = &count->effects[number % EFFECTS_MAX];

		if (!number)
			return NULL;
		if (number / EFFECTS_MAX == tag &&
		    is_effect(effect, key, more, origin, debt, place))
			return effect;
	}
	return NULL;
}

/* Whether the flow asks for the space before the next block. */
static inline bool returns_from_trap(const struct flow_count *count, const struct effect *effect)
{
	return !count->places[effect->next].start;
}

static inline uint32_t number_of(const struct flow_count *count, const struct effect *effect)
{
	return (uint32_t)(effect - count->effects);
}

/* The effect after @last: most often the one that came after it the last time. */
static inline struct effect *find_next(const struct flow_count *count, struct effect *last,
				       uint64_t key, uint64_t more, uint64_t origin, uint32_t debt,
				       uint32_t place)
{
	struct effect *effect;

	if (!last)
		return find_effect(count, key, more, origin, debt, place);
	effect = &count->effects[last->after];
	if (last->after && is_effect(effect, key, more, origin, debt, place))
		return effect;
	effect = find_effect(count, key, more, origin, debt, place);
	if (effect)
		last->after = number_of(count, effect);
	return effect;
}

/* What is probably needed for the next message. */
static inline void prefetch_after(const struct flow_count *count, const struct effect *effect)
{
	__builtin_prefetch(&count->effects[effect->after]);
	__builtin_prefetch(&count->firsts[effect->after]);
}

static inline void add_time(struct flow_count *count, struct effect *effect)
{
	if (!effect->times++)
		count->dirty[count->dirty_count++] = number_of(count, effect);
	if (!count->steps)
		return;
	if (count->step_offsets)
		count->step_offsets[count->step_count] = count->offset;
	count->steps[count->step_count++] =
		(struct ntrace_flow_step){ effect->id, number_of(count, effect) };
	count->step_instructions += effect->instructions;
}

/* Whether there is room for the steps of one more message. */
static inline bool has_steps(const struct flow_count *count)
{
	return count->step_count <= STEPS - PARTS - 1;
}

/* Passes the steps on as a run, or their blocks. */
void effects_pass_run(struct ntrace_flow *flow);

/* Makes room for the steps of a message; @offset: of the last one. Return: false: the caller stops. */
static inline bool effects_have_room(struct ntrace_flow *flow, uint64_t offset)
{
	if (has_steps(flow->count))
		return true;
	flow->offset = offset;
	effects_pass_run(flow);
	return !flow->count_error;
}

/* Changes the stack as the blocks of @effect do. */
static inline void effects_move_stack(struct return_stack *stack, const struct flow_count *count,
				      const struct effect *effect)
{
	const struct push *first = &count->firsts[number_of(count, effect)], *push;
	unsigned int kept = effect->pops ? 0 : effect->pushes;

	/* Calls that returned may have overwritten the oldest addresses. */
	if (stack->count > STACK_DEPTH - (effect->depth - kept))
		stack->count = STACK_DEPTH - (effect->depth - kept);
	if (effect->pops && stack->count) {
		stack->top = (stack->top + STACK_DEPTH - 1) % STACK_DEPTH;
		stack->count--;
	}
	if (effect->pushes)
		stack_push(stack, first->address, first->caller);
	if (effect->pushes < 2)
		return;
	push = count->pushes + count->details[number_of(count, effect)].pushed;
	for (unsigned int i = 1; i < effect->pushes; i++)
		stack_push(stack, push[i].address, push[i].caller);
}

/* Passes an effect on to the caller. */
void effect_fold(struct ntrace_flow *flow, struct effect *effect);
/* The effect with the key of @miss at @place, or a new one in a free or replaced entry. */
struct effect *effect_make(struct ntrace_flow *flow, const struct miss *miss, uint32_t place,
			   bool *made);
/*
 * Makes room for a message. Return: false: all effects were passed on and forgotten.
 */
bool effects_make_room(struct ntrace_flow *flow);
/* The number of @place; 0: there is no room for it. */
uint32_t effects_number_place(struct flow_count *count, const struct place *place);
/* Updates the place by blocks that were executed. */
void effects_track(struct ntrace_flow *flow, const struct ntrace_block *blocks, size_t number);
/* The number of the place where the flow stands; 0: not known. */
uint32_t effects_find_place(struct ntrace_flow *flow);

/* Index of a block by its id; 0: has none, or the array was emptied since. */
static inline uint32_t effects_index(const struct ntrace_flow *flow, uint32_t id)
{
	uint32_t index = id - flow->cache.first_id + 1;

	return id && index < flow->cache.block_count && index ? index : 0;
}

#endif
