// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Checkpoints of a lane.
 *
 * Their number and size are bounded. So a new one may replace another: that with the smallest
 * stretch around it, measured by its distance from the place of interest. Near that place, moves in
 * both directions stay cheap; elsewhere the checkpoints lie about evenly.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "lane.h"

#define BYTES_MAX (32u << 20)
/* A checkpoint is due after this many bytes, even without items. */
#define POSITION_STEP (1u << 20)
/* Bytes of the stream that count as much as one item. */
#define BYTES_PER_ITEM 16

/* Number of checkpoints at or before item @number, which are the first ones. */
static size_t checkpoints_until(const struct lane *lane, uint64_t number)
{
	size_t low = 0;

	BISECT(low, lane->checkpoint_count, middle,
	       lane->checkpoints[middle].tally.items <= number);
	return low;
}

/* Number of checkpoints at or before @position. */
static size_t checkpoints_before(const struct lane *lane, uint64_t position)
{
	size_t low = 0;

	BISECT(low, lane->checkpoint_count, middle, lane->checkpoints[middle].position <= position);
	return low;
}

static void plan_next(struct lane *lane, const struct tally *tally, uint64_t position)
{
	lane->next_checkpoint = tally->items + lane->store->window_items;
	lane->next_position = position + POSITION_STEP;
}

static void drop(struct lane *lane, size_t at)
{
	struct checkpoint *checkpoint = &lane->checkpoints[at];

	source_drop(checkpoint->state);
	lane->checkpoint_bytes -= checkpoint->bytes;
	lane->checkpoint_count--;
	memmove(checkpoint, checkpoint + 1, (lane->checkpoint_count - at) * sizeof(*checkpoint));
}

/* The value of a checkpoint: the stretch that decoding would repeat without it. */
static double value(const struct lane *lane, size_t at)
{
	const struct checkpoint *before = &lane->checkpoints[at - 1];
	const struct checkpoint *checkpoint = &lane->checkpoints[at];
	bool last = at + 1 == lane->checkpoint_count;
	uint64_t items = last ? lane->known.items : checkpoint[1].tally.items;
	uint64_t position = last ? lane->known_position : checkpoint[1].position;
	uint64_t number = checkpoint->tally.items;
	uint64_t distance = number > lane->focus ? number - lane->focus : lane->focus - number;
	double stretch = 1;

	if (items > before->tally.items)
		stretch += (double)(items - before->tally.items);
	if (position > before->position)
		stretch += (double)(position - before->position) / BYTES_PER_ITEM;
	return stretch / ((double)distance + lane->store->window_items);
}

/* Drops the checkpoint of the least value, but never the first one. */
static void drop_least(struct lane *lane)
{
	size_t least = 1, i;
	double least_value = value(lane, 1);

	for (i = 2; i < lane->checkpoint_count; i++) {
		double other = value(lane, i);

		if (other < least_value) {
			least = i;
			least_value = other;
		}
	}
	drop(lane, least);
}

int lane_checkpoint(struct lane *lane)
{
	uint64_t position = source_position(lane->source);
	struct checkpoint made = { .tally = lane->tally, .position = position };
	size_t at;

	if (lane->tally.items < lane->next_checkpoint && position < lane->next_position)
		return 0;
	plan_next(lane, &lane->tally, position);
	at = checkpoints_before(lane, position);
	if (at && lane->checkpoints[at - 1].position == position)
		return 0;
	made.state = source_save(lane->source, &made.bytes);
	if (!made.state)
		return NTRACE_ERR_NOMEM;
	if (!lane->checkpoints)
		lane->checkpoints = calloc(CHECKPOINTS_MAX + 1, sizeof(*lane->checkpoints));
	if (!lane->checkpoints) {
		source_drop(made.state);
		return NTRACE_ERR_NOMEM;
	}
	memmove(&lane->checkpoints[at + 1], &lane->checkpoints[at],
		(lane->checkpoint_count - at) * sizeof(made));
	lane->checkpoints[at] = made;
	lane->checkpoint_count++;
	lane->checkpoint_bytes += made.bytes;
	while (lane->checkpoint_count > CHECKPOINTS_MAX ||
	       (lane->checkpoint_bytes > BYTES_MAX && lane->checkpoint_count > 2))
		drop_least(lane);
	return 0;
}

int lane_rewind(struct lane *lane, uint64_t number)
{
	size_t at = checkpoints_until(lane, number);
	const struct checkpoint *checkpoint;
	int error;

	if (lane->live && lane->tally.items <= number &&
	    (!at || lane->checkpoints[at - 1].tally.items <= lane->tally.items))
		return 0;
	/* The first checkpoint is that of the start. */
	checkpoint = &lane->checkpoints[at - 1];
	lane->live = false;
	error = source_load(lane->source, checkpoint->state);
	if (error)
		return error;
	lane->live = true;
	lane->tally = checkpoint->tally;
	plan_next(lane, &checkpoint->tally, checkpoint->position);
	return 0;
}

void lane_drop_checkpoints(struct lane *lane)
{
	while (lane->checkpoint_count)
		drop(lane, lane->checkpoint_count - 1);
	free(lane->checkpoints);
}
