/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Amount of execution by thread, CPU and time. Each CPU is a row of cells of equal duration if
 * the trace has timestamps, else of an equal number of instructions.
 *
 * A message has one timestamp, of its end, for all its instructions. Between two timestamps time
 * is interpolated by instructions. Time without traced execution is attributed to no thread.
 */
#ifndef NTRACE_TOOL_PROFILE_TIMELINE_H
#define NTRACE_TOOL_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/session.h>

/* Maximum number of cells; cells are widened when a CPU executes more. */
#define TIMELINE_CELLS 1024
/* Distinct threads per cell; all others count as thread 0. */
#define TIMELINE_SLOTS 4
#define TIMELINE_TASKS_MAX 4096

/** struct timeline_sum - executed @instructions, those in the @kernel, and time in @ticks */
struct timeline_sum {
	uint64_t instructions;
	uint64_t kernel;
	uint64_t ticks;
};

/** struct timeline_slot - execution of one thread in a cell */
struct timeline_slot {
	uint32_t task;
	struct timeline_sum sum;
};

struct timeline_cell {
	struct timeline_slot slots[TIMELINE_SLOTS];
};

/**
 * struct timeline_lane - one CPU
 * @cpu: Linux CPU number
 * @begin: start of the first cell in ticks; 0 if cells are in instructions
 * @width: width of a cell in ticks or instructions
 * @used: number of cells up to the last one with execution
 * @sum: total of the CPU
 * @untimed: instructions before the first time stamp and after the last one
 * @tasks: sums by thread, TIMELINE_TASKS_MAX entries
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

/** struct timeline_task - a thread by name; number 0 stands for all threads without an entry */
struct timeline_task {
	int32_t pid;
	int32_t tid;
	char comm[32];
};

struct timeline_part;

/**
 * struct timeline - all CPUs
 * @timed: all streams have timestamps of the same frequency
 * @hz: timestamp frequency; 0 = unknown: times are in ticks
 * @stamps: number of timestamps found
 */
struct timeline {
	struct timeline_lane **lanes;
	size_t lane_count;
	struct timeline_task *tasks;
	uint32_t task_count;
	bool timed;
	uint64_t hz;
	uint64_t stamps;

	/* private: execution waiting for the next timestamp of the stream */
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

/** timeline_next - the lane of the CPU after @before; NULL = the first. Return: NULL at the end */
const struct timeline_lane *timeline_next(const struct timeline *timeline,
					  const struct timeline_lane *before);

/** timeline_sum - sum of all CPUs; @untimed as in struct timeline_lane */
struct timeline_sum timeline_sum(const struct timeline *timeline, uint64_t *untimed);

#endif /* NTRACE_TOOL_PROFILE_TIMELINE_H */
