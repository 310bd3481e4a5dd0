// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts the rounds of a loop that one message reports.
 *
 * ResourceFull with HREPEAT repeats its history, up to a million times, and often comes with
 * another number each time, so its effect is not found by the bytes of the message. So some
 * repetitions together are a unit with an effect of its own, by the history bits. After one or two
 * units, the loop is where it was before the unit, and all further ones are counted.
 */
#include "effects.h"

/* Units of a message that are walked in order to be remembered. */
#define UNITS_WALKED 4
/* A message that came before is remembered as a whole if it has no more history bits than this. */
#define BITS_OF_WHOLE 512
/* Maximum number of bits of a unit, below its stop bit: with more bits, units are fewer. */
#define BITS_OF_UNIT 62

/* Does the history alone decide where the next blocks lead? */
static bool is_ready(const struct ntrace_flow *flow, const struct walk *walk)
{
	const struct history *history = &walk->history;

	return flow->synced && flow->pc_known && !flow->stop && !flow->select_block &&
	       !flow->late_count && !flow->time_passed && !flow->stamped && history->width &&
	       !(flow->count->miss.valid && history->left <= BITS_OF_WHOLE);
}

/* Finds the place before the next unit. Return: false: it is not known, or the callback stops. */
static bool begin_unit(struct ntrace_flow *flow)
{
	struct flow_count *count = flow->count;

	if (flow->waiting.count && !flow_close_batch(flow))
		return false;
	flow_enter_space(flow, flow->space);
	count->passed = false;
	/* The place is current if effects led to it. */
	if (!count->stale)
		count->place = effects_find_place(flow);
	return count->place && !count->passed;
}

/* Whether a further execution of @effect is the same as the last one. */
static bool is_round(const struct flow_count *count, const struct effect *first,
		     const struct effect *effect)
{
	return effect == first && effect->next == count->place && !effect->pushes && !effect->pops;
}

/* Moves the flow by @number executions of effects with @parcels. */
static void move(struct ntrace_flow *flow, struct walk *walk, uint64_t number, uint64_t parcels)
{
	walk->history.left -= number * walk->history.width;
	walk->history.position = walk->history.width;
	walk->walked += parcels;
	walk->parcels -= parcels;
	flow->walked += parcels;
	flow->credit -= parcels;
}

/* Counts the next unit, and those after it that are the same. Return: false: it is not known. */
static bool count_unit(struct ntrace_flow *flow, struct walk *walk)
{
	struct flow_count *count = flow->count;
	struct effect *first, *effect;
	uint64_t number = 1, parcels = 0;

	if (!effects_have_room(flow, flow->offset))
		return false;
	first = find_effect(count, walk->history.pattern, UNIT, 0, 0, count->place);
	if (!first || walk->parcels <= (first->split ? PARTS + 1 : 1) * (uint64_t)PARCELS_AT_MOST)
		return false;
	effect = first;
	if (first->split)
		effect = effects_take_parts(count, &flow->stack, first, &parcels);
	if (!effect || !effect->next)
		return false;
	add_time(count, effect);
	effects_move_stack(&flow->stack, count, effect);
	parcels += effect->parcels;
	if (is_round(count, first, effect)) {
		number = walk->history.left / walk->history.width;
		if (parcels && number > (walk->parcels - 1) / parcels)
			number = (walk->parcels - 1) / parcels;
		if (count->steps && number > STEPS - count->step_count)
			number = STEPS - count->step_count;
		if (count->steps) {
			for (uint64_t i = 1; i < number; i++)
				add_time(count, effect);
		} else {
			effect->times += (uint32_t)number - 1;
		}
	}
	move(flow, walk, number, number * parcels);
	effects_stand_after(flow, effect);
	return true;
}

/* Walks the next unit. Return: false: the walk ends here. */
static bool walk_unit(struct ntrace_flow *flow, struct walk *walk)
{
	struct history *history = &walk->history;
	uint64_t rest = history->left - history->width;
	bool going;

	history->left = history->width;
	history->position = history->width;
	going = flow_walk(flow, walk);
	history->left += rest;
	return going;
}

static bool remember_unit(struct ntrace_flow *flow, uint64_t pattern)
{
	struct flow_count *count = flow->count;

	count->miss = (struct miss){ .key = { pattern, UNIT }, .kind = RESOURCE };
	return effects_remember(flow);
}

/* Takes several repetitions together. */
static void widen(struct history *history)
{
	while (2 * history->width <= BITS_OF_UNIT && 2 * history->width <= history->left) {
		uint64_t bits = history->pattern ^ UINT64_C(1) << history->width;

		history->pattern = history->pattern << history->width | bits;
		history->width *= 2;
	}
	history->position = history->width;
}

/* Takes units from the history. Return: as flow_count_repeats(). */
static bool take_units(struct ntrace_flow *flow, struct walk *walk)
{
	struct flow_count *count = flow->count;
	unsigned int walked = 0;

	/* As for the messages of a call: see count.c. */
	if (count->times_bound > UINT32_MAX / 2)
		flow_count_fold(flow);
	count->times_bound += walk->history.left / walk->history.width * (PARTS + 1);
	count->miss.valid = false;
	do {
		count->units = false;
		if (!begin_unit(flow))
			return !flow->stop;
		count->units = count_unit(flow, walk);
		if (count->units)
			continue;
		if (walked++ == UNITS_WALKED)
			return true;
		if (!walk_unit(flow, walk))
			return false;
		count->units = remember_unit(flow, walk->history.pattern);
	} while (count->units && walk->history.left >= walk->history.width && !flow->count_error);
	return true;
}

bool flow_count_repeats(struct ntrace_flow *flow, struct walk *walk)
{
	struct history single = walk->history;
	bool going;

	if (!is_ready(flow, walk))
		return true;
	widen(&walk->history);
	going = take_units(flow, walk);
	single.left = walk->history.left;
	walk->history = single;
	return going;
}
