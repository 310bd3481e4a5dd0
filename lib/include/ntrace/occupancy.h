/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Occupancy: how much each thread executed, on each CPU and over time.
 *
 * Each CPU has a row of cells.  Cells have equal duration if the trace has timestamps, else an
 * equal number of instructions. A message has one timestamp, of its end, for all its instructions:
 * between two timestamps time is interpolated by instructions. Time without traced execution is
 * attributed to no thread.
 *
 * The profile needs NTRACE_PROFILE_OCCUPANCY and a session in its options, see profile.h. Occupancy
 * covers all events, whatever the profile selects.
 */
#ifndef NTRACE_OCCUPANCY_H
#define NTRACE_OCCUPANCY_H

#include <ntrace/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of cells of a CPU; cells become wider when a CPU executes more. */
#define NTRACE_OCCUPANCY_CELLS 1024
/* Distinct threads of a cell; all further threads count as thread 0. */
#define NTRACE_OCCUPANCY_SLOTS 4
#define NTRACE_OCCUPANCY_TASKS_MAX 4096

/**
 * struct ntrace_occupancy_sum - an amount of execution
 * @instructions: executed
 * @kernel: the part of @instructions that the kernel executed
 * @ticks: time, in ticks of the timestamps
 */
struct ntrace_occupancy_sum {
	uint64_t instructions;
	uint64_t kernel;
	uint64_t ticks;
};

/**
 * struct ntrace_occupancy_slot - execution of one thread in a cell
 * @sum: 0 instructions and 0 ticks: the slot is not used
 * @task: number of the thread
 * @reserved: 0
 */
struct ntrace_occupancy_slot {
	struct ntrace_occupancy_sum sum;
	uint32_t task;
	uint32_t reserved;
};

/**
 * struct ntrace_occupancy_cell - one piece of time, or of instructions, on a CPU
 * @slots: execution by thread; unused ones are 0
 */
struct ntrace_occupancy_cell {
	struct ntrace_occupancy_slot slots[NTRACE_OCCUPANCY_SLOTS];
};

/**
 * struct ntrace_occupancy_cpu - one CPU
 * @number: Linux number
 * @task: thread of the last event
 * @begin: start of the first cell in ticks; 0 if cells are in instructions
 * @width: width of a cell in ticks or instructions
 * @used: number of cells up to the last one with execution
 * @sum: total of the CPU
 * @untimed: instructions before the first timestamp and after the last one
 * @tasks: sums by thread, NTRACE_OCCUPANCY_TASKS_MAX entries
 * @cells: the first @used ones have execution
 */
struct ntrace_occupancy_cpu {
	uint32_t number;
	uint32_t task;
	uint64_t begin;
	uint64_t width;
	size_t used;
	struct ntrace_occupancy_sum sum;
	uint64_t untimed;
	struct ntrace_occupancy_sum *tasks;
	struct ntrace_occupancy_cell cells[NTRACE_OCCUPANCY_CELLS];
};

/**
 * struct ntrace_occupancy_task - a thread by name
 * @pid: process
 * @tid: thread; -1 = unknown
 * @comm: its name
 *
 * Number 0 stands for all threads without an entry.
 */
struct ntrace_occupancy_task {
	int32_t pid;
	int32_t tid;
	char comm[32];
};

/**
 * struct ntrace_occupancy - all CPUs
 * @cpus: in order of their numbers
 * @cpu_count: number of CPUs
 * @tasks: threads by number
 * @task_count: number of threads
 * @timed: all streams have timestamps, and the same unit of time: cells are in that unit
 * @reserved: 0
 * @hz: unit of the times: 1,000,000,000 for nanoseconds of CLOCK_MONOTONIC, 0 for ticks of an unknown frequency
 * @time_error: greatest bound of the error of a time, in nanoseconds, see ntrace_time_error_text()
 * @gap_time: time in which trace was lost, at most: for each gap from the last timestamp before it to
 *            the first one after it, or to the last one of the stream, in the unit of the times. Also where only
 *            ticks are known, as the sideband is incomplete
 * @gap_longest: the longest of them
 * @stamps: number of timestamps found
 * @sum: total of all CPUs
 * @untimed: of all CPUs
 */
struct ntrace_occupancy {
	struct ntrace_occupancy_cpu **cpus;
	size_t cpu_count;
	struct ntrace_occupancy_task *tasks;
	uint32_t task_count;
	bool timed;
	uint8_t reserved[3];
	uint64_t hz;
	uint64_t time_error;
	uint64_t gap_time;
	uint64_t gap_longest;
	uint64_t stamps;
	struct ntrace_occupancy_sum sum;
	uint64_t untimed;
};

/**
 * ntrace_profile_occupancy - the execution of each thread by CPU and time
 * @profile: a profile that has ended
 *
 * Return: owned by the profile, valid until the next event; NULL if the profile has no occupancy.
 */
NTRACE_EXPERIMENTAL const struct ntrace_occupancy *
ntrace_profile_occupancy(const struct ntrace_profile *profile);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_OCCUPANCY_H */
