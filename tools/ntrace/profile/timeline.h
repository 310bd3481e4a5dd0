/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who executed how much where and when: each hart as a row of cells, of equally much time where
 * the trace has time stamps, else of equally many instructions.
 *
 * A message has one time stamp, that of its end, for all the instructions that it speaks of.
 * Between two time stamps time passes with instructions: what lies there is interpolated.
 * Time in which the hart executed nothing that was traced belongs to nobody.
 */
#ifndef NTRACE_TOOL_PROFILE_TIMELINE_H
#define NTRACE_TOOL_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/session.h>

/* Always this many at most: cells grow when a hart executes more. */
#define TIMELINE_CELLS 1024
/* Threads of a cell that are kept apart; what others did counts as that of thread 0. */
#define TIMELINE_SLOTS 4
#define TIMELINE_TASKS_MAX 4096

/** struct timeline_sum - @instructions executed, @kernel: of them there, and @ticks of time */
struct timeline_sum {
	uint64_t instructions;
	uint64_t kernel;
	uint64_t ticks;
};

/** struct timeline_slot - what one thread did in a cell */
struct timeline_slot {
	uint32_t task;
	struct timeline_sum sum;
};

struct timeline_cell {
	struct timeline_slot slots[TIMELINE_SLOTS];
};

/**
 * struct timeline_lane - one hart
 * @cpu: Linux number of the hart
 * @begin: of the first cell: ticks, or 0 instructions
 * @width: of a cell: ticks, or instructions
 * @used: cells up to the last one in which something was executed
 * @sum: all that it executed
 * @untimed: instructions before the first time stamp and after the last one
 * @tasks: what each thread executed there; TIMELINE_TASKS_MAX of them
 */
struct timeline_lane {
	unsigned int cpu;
	uint32_t task;
	uint64_t begin;
	uint64_t width;
	size_t used;
	struct timeline_sum sum;
	uint64_t untimed;
	struct timeline_sum *tasks;
	struct timeline_cell cells[TIMELINE_CELLS];
};

/** struct timeline_task - a thread by name; number 0 are those that have no place of their own */
struct timeline_task {
	int32_t pid;
	int32_t tid;
	char comm[32];
};

struct timeline_part;

/**
 * struct timeline - all harts
 * @timed: every stream has time stamps, and of the same frequency
 * @hz: of the time stamps; 0 = unknown: times are in ticks
 * @stamps: time stamps that were met
 */
struct timeline {
	struct timeline_lane **lanes;
	size_t lane_count;
	struct timeline_task *tasks;
	uint32_t task_count;
	bool timed;
	uint64_t hz;
	uint64_t stamps;

	/* private: what waits for the next time stamp of the stream */
	bool begun;
	struct timeline_part *parts;
	size_t part_count;
	uint64_t waiting;
	uint64_t offset;
	uint64_t time;
	bool time_known;
	uint64_t anchor;
	bool anchored;
};

/** timeline_init - Return: false when out of memory */
bool timeline_init(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/** timeline_event - add an event of @session. Return: 0, or 1 when out of memory */
int timeline_event(struct timeline *timeline, const struct ntrace_session *session,
		   const struct ntrace_session_event *event);

/** timeline_end - the stream ends */
void timeline_end(struct timeline *timeline);

/** timeline_next - the lane of the next hart behind @before, NULL = of the first; NULL at the end */
const struct timeline_lane *timeline_next(const struct timeline *timeline,
					  const struct timeline_lane *before);

/** timeline_sum - all harts together; @untimed as in struct timeline_lane */
struct timeline_sum timeline_sum(const struct timeline *timeline, uint64_t *untimed);

#endif /* NTRACE_TOOL_PROFILE_TIMELINE_H */
