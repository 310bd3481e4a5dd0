/* SPDX-License-Identifier: GPL-2.0-only */
/* Who executed how much where: each hart as a row of cells of equally many instructions. */
#ifndef NTRACE_TOOL_TIMELINE_H
#define NTRACE_TOOL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/session.h>

/* Always this many at most: cells grow when a hart executes more. */
#define TIMELINE_CELLS 1024
/* Threads of a cell that are kept apart; what others did counts as that of thread 0. */
#define TIMELINE_SLOTS 4
#define TIMELINE_TASKS_MAX 4096

/** struct timeline_slot - what one thread did in a cell; @kernel: instructions there, of all */
struct timeline_slot {
	uint32_t task;
	uint64_t instructions;
	uint64_t kernel;
};

/** struct timeline_cell - @time: of a time stamp at its begin, in ticks, if there is one */
struct timeline_cell {
	uint64_t time;
	bool time_known;
	struct timeline_slot slots[TIMELINE_SLOTS];
};

/**
 * struct timeline_lane - one hart
 * @width: instructions of a cell
 * @instructions: all that it executed
 * @hz: of the time stamps, 0 = unknown
 */
struct timeline_lane {
	unsigned int cpu;
	uint32_t task;
	uint64_t width;
	uint64_t instructions;
	uint64_t hz;
	struct timeline_cell cells[TIMELINE_CELLS];
};

/** struct timeline_task - a thread by name; number 0 are those that have no place of their own */
struct timeline_task {
	int32_t pid;
	int32_t tid;
	char comm[32];
};

struct timeline {
	struct timeline_lane **lanes;
	size_t lane_count;
	struct timeline_task *tasks;
	uint32_t task_count;
};

/** timeline_init - Return: false when out of memory */
bool timeline_init(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/** timeline_event - add an event of @session. Return: 0, or 1 when out of memory */
int timeline_event(struct timeline *timeline, const struct ntrace_session *session,
		   const struct ntrace_session_event *event);

#endif /* NTRACE_TOOL_TIMELINE_H */
