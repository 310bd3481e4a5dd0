// SPDX-License-Identifier: GPL-2.0-only
/* Who executed how much where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "timeline.h"

bool timeline_init(struct timeline *timeline)
{
	*timeline = (struct timeline){ .task_count = 1 };
	timeline->tasks = calloc(TIMELINE_TASKS_MAX, sizeof(*timeline->tasks));
	if (!timeline->tasks)
		return false;
	timeline->tasks[0] = (struct timeline_task){ -1, -1, "[others]" };
	return true;
}

void timeline_free(struct timeline *timeline)
{
	size_t i;

	for (i = 0; i < timeline->lane_count; i++)
		free(timeline->lanes[i]);
	free(timeline->lanes);
	free(timeline->tasks);
	*timeline = (struct timeline){ 0 };
}

static struct timeline_lane *lane_of(struct timeline *timeline,
				     const struct ntrace_session *session,
				     const struct ntrace_session_event *event)
{
	const struct ntrace_stream *stream = ntrace_session_stream(session, event->stream);
	struct timeline_lane **lanes, *lane;
	size_t i;

	for (i = 0; i < timeline->lane_count; i++) {
		if (timeline->lanes[i]->cpu == event->cpu)
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
	lane->cpu = event->cpu;
	lane->width = 1;
	lane->hz = stream ? stream->params.timestamp_hz : 0;
	lanes[timeline->lane_count++] = lane;
	return lane;
}

static bool is_task(const struct timeline_task *task, const struct ntrace_session_event *event)
{
	return task->tid == event->tid && task->pid == event->pid &&
	       !strncmp(task->comm, event->comm, sizeof(task->comm) - 1);
}

/* Number of the thread; mostly it is the one that the hart had before. */
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

static void add_slot(struct timeline_cell *cell, const struct timeline_slot *part)
{
	struct timeline_slot *slot = cell->slots, *end = slot + TIMELINE_SLOTS;

	while (slot < end && slot->instructions && slot->task != part->task)
		slot++;
	/* The last slot is for all that have no other. */
	if (slot >= end - 1 && !(slot < end && slot->task == part->task)) {
		slot = end - 1;
		slot->task = 0;
	} else {
		slot->task = part->task;
	}
	slot->instructions += part->instructions;
	slot->kernel += part->kernel;
}

/* Cells of twice as many instructions: two become one. */
static void widen(struct timeline_lane *lane)
{
	struct timeline_cell cell;
	size_t i, k;

	for (i = 0; i < TIMELINE_CELLS; i += 2) {
		cell = lane->cells[i];
		if (!cell.time_known) {
			cell.time = lane->cells[i + 1].time;
			cell.time_known = lane->cells[i + 1].time_known;
		}
		for (k = 0; k < TIMELINE_SLOTS; k++) {
			if (lane->cells[i + 1].slots[k].instructions)
				add_slot(&cell, &lane->cells[i + 1].slots[k]);
		}
		lane->cells[i / 2] = cell;
	}
	memset(&lane->cells[TIMELINE_CELLS / 2], 0, sizeof(lane->cells) / 2);
	lane->width *= 2;
}

int timeline_event(struct timeline *timeline, const struct ntrace_session *session,
		   const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	bool kernel = profile_part(event->privilege) == PART_KERNEL;
	uint64_t left = flow->instructions, part, inside;
	struct timeline_lane *lane;
	struct timeline_cell *cell;

	if (flow->type != NTRACE_FLOW_BLOCK)
		return 0;
	lane = lane_of(timeline, session, event);
	if (!lane)
		return 1;
	lane->task = task_of(timeline, lane, event);
	for (; left; left -= part) {
		while (lane->instructions / lane->width >= TIMELINE_CELLS)
			widen(lane);
		cell = &lane->cells[lane->instructions / lane->width];
		inside = lane->width - lane->instructions % lane->width;
		part = left < inside ? left : inside;
		if (!cell->time_known && flow->time_known) {
			cell->time_known = true;
			cell->time = flow->time;
		}
		add_slot(cell, &(struct timeline_slot){ lane->task, part, kernel ? part : 0 });
		lane->instructions += part;
	}
	return 0;
}
