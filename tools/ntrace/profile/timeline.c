// SPDX-License-Identifier: GPL-2.0-only
/* Amount of execution by thread, CPU and time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "timeline.h"

/* Threads that alternate between two timestamps; later ones are added to the last slot. */
#define PARTS_MAX 4096

/* Continuous execution of one thread, in user space or in the kernel. */
struct timeline_part {
	struct timeline_lane *lane;
	uint32_t task;
	bool kernel;
	uint64_t instructions;
};

bool timeline_init(struct timeline *timeline)
{
	*timeline = (struct timeline){ .task_count = 1 };
	timeline->tasks = calloc(TIMELINE_TASKS_MAX, sizeof(*timeline->tasks));
	timeline->parts = calloc(PARTS_MAX, sizeof(*timeline->parts));
	if (!timeline->tasks || !timeline->parts) {
		timeline_free(timeline);
		return false;
	}
	timeline->tasks[0] = (struct timeline_task){ -1, -1, "[others]" };
	return true;
}

void timeline_free(struct timeline *timeline)
{
	size_t i;

	for (i = 0; i < timeline->lane_count; i++) {
		free(timeline->lanes[i]->tasks);
		free(timeline->lanes[i]);
	}
	free(timeline->lanes);
	free(timeline->tasks);
	free(timeline->parts);
	*timeline = (struct timeline){ 0 };
}

/* Cells are in time only if all streams have the same clock. */
static void begin(struct timeline *timeline, const struct ntrace_session *session)
{
	const struct ntrace_stream *stream;
	unsigned int i;

	if (timeline->begun)
		return;
	timeline->begun = true;
	timeline->timed = true;
	for (i = 0; i < ntrace_session_streams(session); i++) {
		stream = ntrace_session_stream(session, i);
		if (!i)
			timeline->hz = stream->params.timestamp_hz;
		if (!stream->params.timestamp_bits || stream->params.timestamp_hz != timeline->hz)
			timeline->timed = false;
	}
}

static struct timeline_lane *lane_of(struct timeline *timeline, unsigned int cpu)
{
	struct timeline_lane **lanes, *lane;
	size_t i;

	for (i = 0; i < timeline->lane_count; i++) {
		if (timeline->lanes[i]->cpu == cpu)
			return timeline->lanes[i];
	}
	lanes = realloc(timeline->lanes,
			(timeline->lane_count + 1) * sizeof(struct timeline_lane *));
	if (!lanes)
		return NULL;
	timeline->lanes = lanes;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->tasks = calloc(TIMELINE_TASKS_MAX, sizeof(*lane->tasks));
	if (!lane->tasks) {
		free(lane);
		return NULL;
	}
	lane->cpu = cpu;
	lane->width = 1;
	lanes[timeline->lane_count++] = lane;
	return lane;
}

static bool is_task(const struct timeline_task *task, const struct ntrace_session_event *event)
{
	return task->tid == event->tid && task->pid == event->pid &&
	       !strncmp(task->comm, event->comm, sizeof(task->comm) - 1);
}

/* Number of the thread; usually the previous thread of the CPU. */
static uint32_t task_of(struct timeline *timeline, const struct timeline_lane *lane,
			const struct ntrace_session_event *event)
{
	struct timeline_task *task;
	uint32_t i;

	if (is_task(&timeline->tasks[lane->task], event))
		return lane->task;
	for (i = 1; i < timeline->task_count; i++) {
		if (is_task(&timeline->tasks[i], event))
			return i;
	}
	if (timeline->task_count == TIMELINE_TASKS_MAX)
		return 0;
	task = &timeline->tasks[timeline->task_count];
	task->pid = event->pid;
	task->tid = event->tid;
	snprintf(task->comm, sizeof(task->comm), "%s", event->comm);
	return timeline->task_count++;
}

static void add_sum(struct timeline_sum *sum, const struct timeline_sum *more)
{
	sum->instructions += more->instructions;
	sum->kernel += more->kernel;
	sum->ticks += more->ticks;
}

static bool is_used(const struct timeline_slot *slot)
{
	return slot->sum.instructions || slot->sum.ticks;
}

static void add_slot(struct timeline_cell *cell, uint32_t task, const struct timeline_sum *sum)
{
	struct timeline_slot *slot = cell->slots, *end = slot + TIMELINE_SLOTS;

	while (slot < end && is_used(slot) && slot->task != task)
		slot++;
	/* The last slot collects all other threads. */
	if (slot >= end - 1 && !(slot < end && slot->task == task)) {
		slot = end - 1;
		slot->task = 0;
	} else {
		slot->task = task;
	}
	add_sum(&slot->sum, sum);
}

/* Doubles the cell width: merges pairs of cells. */
static void widen(struct timeline_lane *lane)
{
	struct timeline_cell cell;
	size_t i, k;

	for (i = 0; i < TIMELINE_CELLS; i += 2) {
		cell = lane->cells[i];
		for (k = 0; k < TIMELINE_SLOTS; k++) {
			const struct timeline_slot *slot = &lane->cells[i + 1].slots[k];

			if (is_used(slot))
				add_slot(&cell, slot->task, &slot->sum);
		}
		lane->cells[i / 2] = cell;
	}
	memset(&lane->cells[TIMELINE_CELLS / 2], 0, sizeof(lane->cells) / 2);
	lane->width *= 2;
	lane->used = (lane->used + 1) / 2;
}

/* The share @part of @of of @whole. */
static uint64_t share(uint64_t whole, uint64_t part, uint64_t of)
{
	return of ? (uint64_t)((unsigned __int128)whole * part / of) : 0;
}

/* If a CPU has several streams, a later stream may cover an earlier time. */
static void reach_back(struct timeline_lane *lane, uint64_t from)
{
	uint64_t cells;

	while ((cells = (lane->begin - from + lane->width - 1) / lane->width) + lane->used >
	       TIMELINE_CELLS)
		widen(lane);
	memmove(&lane->cells[cells], lane->cells, lane->used * sizeof(lane->cells[0]));
	memset(lane->cells, 0, cells * sizeof(lane->cells[0]));
	lane->begin -= cells * lane->width;
	lane->used += cells;
}

/* Distributes @sum over the cells from @from to @to, in ticks or instructions. */
static void put(struct timeline_lane *lane, uint64_t from, uint64_t to, uint32_t task,
		const struct timeline_sum *sum)
{
	struct timeline_sum done = { 0 }, part;
	uint64_t at = from, end, passed;
	size_t index;

	if (from < lane->begin)
		reach_back(lane, from);
	while ((to - lane->begin) / lane->width >= TIMELINE_CELLS)
		widen(lane);
	do {
		index = (size_t)((at - lane->begin) / lane->width);
		end = lane->begin + (index + 1) * lane->width;
		end = end < to ? end : to;
		passed = to > from ? end - from : 1;
		part.instructions = share(sum->instructions, passed, to > from ? to - from : 1);
		part.kernel = share(sum->kernel, passed, to > from ? to - from : 1);
		part.ticks = share(sum->ticks, passed, to > from ? to - from : 1);
		add_slot(&lane->cells[index], task,
			 &(struct timeline_sum){ part.instructions - done.instructions,
						 part.kernel - done.kernel,
						 part.ticks - done.ticks });
		done = part;
		at = end;
		if (lane->used < index + 1)
			lane->used = index + 1;
	} while (at < to);
}

/* Flushes pending execution between two timestamps; @known: both exist. */
static void release(struct timeline *timeline, uint64_t from, uint64_t to, bool known)
{
	uint64_t position = 0, begin, end;
	struct timeline_sum sum;
	size_t i;

	for (i = 0; i < timeline->part_count; i++) {
		const struct timeline_part *part = &timeline->parts[i];
		struct timeline_lane *lane = part->lane;

		if (!known) {
			lane->untimed += part->instructions;
			continue;
		}
		begin = from + share(to - from, position, timeline->waiting);
		position += part->instructions;
		end = from + share(to - from, position, timeline->waiting);
		sum = (struct timeline_sum){ part->instructions,
					     part->kernel ? part->instructions : 0, end - begin };
		if (!lane->used)
			lane->begin = begin;
		lane->sum.ticks += sum.ticks;
		lane->tasks[part->task].ticks += sum.ticks;
		put(lane, begin, end, part->task, &sum);
	}
	timeline->part_count = 0;
	timeline->waiting = 0;
}

/* A new message begins: the timestamp of the previous one is known now. */
static void take_time(struct timeline *timeline, const struct ntrace_flow_event *flow)
{
	bool goes_on = timeline->anchored && timeline->time >= timeline->anchor;

	if (flow->offset == timeline->offset)
		return;
	/* Of two equal timestamps the first one counts, as for call stacks. */
	if (timeline->time_known && (!goes_on || timeline->time > timeline->anchor)) {
		release(timeline, timeline->anchor, timeline->time, goes_on);
		timeline->anchor = timeline->time;
		timeline->anchored = true;
		timeline->stamps++;
	}
	timeline->offset = flow->offset;
	timeline->time = flow->time;
	timeline->time_known = flow->time_known;
}

static void add_part(struct timeline *timeline, struct timeline_lane *lane, bool kernel,
		     uint64_t instructions)
{
	struct timeline_part *last =
		&timeline->parts[timeline->part_count ? timeline->part_count - 1 : 0];

	timeline->waiting += instructions;
	if (timeline->part_count &&
	    ((last->lane == lane && last->task == lane->task && last->kernel == kernel) ||
	     timeline->part_count == PARTS_MAX)) {
		last->instructions += instructions;
		return;
	}
	timeline->parts[timeline->part_count++] = (struct timeline_part){
		.lane = lane, .task = lane->task, .kernel = kernel, .instructions = instructions
	};
}

int timeline_event(struct timeline *timeline, const struct ntrace_session *session,
		   const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	bool kernel = profile_part(event->privilege) == PART_KERNEL;
	struct timeline_lane *lane;
	struct timeline_sum sum = { flow->instructions, kernel ? flow->instructions : 0, 0 };

	begin(timeline, session);
	if (timeline->timed)
		take_time(timeline, flow);
	if (flow->type != NTRACE_FLOW_BLOCK)
		return 0;
	lane = lane_of(timeline, event->cpu);
	if (!lane)
		return 1;
	lane->task = task_of(timeline, lane, event);
	if (timeline->timed)
		add_part(timeline, lane, kernel, flow->instructions);
	else if (flow->instructions)
		put(lane, lane->sum.instructions, lane->sum.instructions + flow->instructions,
		    lane->task, &sum);
	add_sum(&lane->sum, &sum);
	add_sum(&lane->tasks[lane->task], &sum);
	return 0;
}

void timeline_end(struct timeline *timeline)
{
	const struct ntrace_flow_event end = { .offset = ~timeline->offset };

	take_time(timeline, &end);
	release(timeline, 0, 0, false);
	timeline->offset = 0;
	timeline->time_known = false;
	timeline->anchored = false;
}

const struct timeline_lane *timeline_next(const struct timeline *timeline,
					  const struct timeline_lane *before)
{
	const struct timeline_lane *next = NULL;
	size_t i;

	for (i = 0; i < timeline->lane_count; i++) {
		const struct timeline_lane *lane = timeline->lanes[i];

		if ((!before || lane->cpu > before->cpu) && (!next || lane->cpu < next->cpu))
			next = lane;
	}
	return next;
}

struct timeline_sum timeline_sum(const struct timeline *timeline, uint64_t *untimed)
{
	struct timeline_sum sum = { 0 };
	size_t i;

	*untimed = 0;
	for (i = 0; i < timeline->lane_count; i++) {
		add_sum(&sum, &timeline->lanes[i]->sum);
		*untimed += timeline->lanes[i]->untimed;
	}
	return sum;
}
