/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions and calls per function, totals and losses, for ntrace report and others. */
#ifndef NTRACE_TOOL_PROFILE_H
#define NTRACE_TOOL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/stacks.h>

#include "place.h"

/**
 * struct function - one line of the report
 * @object: referenced; NULL = unknown code
 * @name: owned; NULL = no known function
 * @start: link address
 * @privilege: enum ntrace_priv
 * @pid: process if the profile distinguishes processes, else -1
 * @comm: its name; owned, "" without process
 * @demangled: demangled @name, owned; NULL if equal
 * @instructions: executed in the function
 * @total: executed in it and in its callees; see profile_add_stacks()
 * @ticks: time in the function
 * @total_ticks: time in it and in its callees
 * @calls: entries at its first instruction by a call, or by a jump or branch from another
 *         function (tail call); not by a trap or a return
 */
struct function {
	struct ntrace_object *object;
	char *name;
	char *demangled;
	uint64_t start;
	unsigned int privilege;
	int32_t pid;
	char *comm;
	uint64_t instructions;
	uint64_t total;
	uint64_t ticks;
	uint64_t total_ticks;
	uint64_t calls;
};

/** function_shown - name to show */
static inline const char *function_shown(const struct function *function)
{
	return function->demangled ? function->demangled :
	       function->name	   ? function->name :
				     "[no symbol]";
}

#define PROBLEM_KINDS 32

/**
 * struct problem - errors or warnings of one kind
 * @address: of the first one; 0 = unknown
 * @offset: of the first one in the trace
 * @stream: of the first one
 * @object: name of the object at @address, owned; NULL = unknown
 */
struct problem {
	uint64_t count;
	uint64_t address;
	uint64_t offset;
	unsigned int stream;
	char *object;
};

enum profile_part {
	PART_USER,
	PART_KERNEL,
	PART_FIRMWARE,
	PART_OTHER,
	PARTS,
};

/* Names in text and JSON, by enum profile_part. */
extern const char *const profile_part_names[PARTS];

struct profile_memo;

/**
 * struct profile - sums of all events
 * @by_process: one entry per function and process
 * @only_pid: count functions of this process only; -1 = all
 * @only_privileges: 1 << enum ntrace_priv for each: count functions there only; 0 = all
 * @functions: @function_count entries, unordered before profile_sort()
 * @instructions: all executed instructions, independent of the selection
 * @selected: instructions of @functions
 * @unplaced: profile_sample(): samples whose address is not known
 */
struct profile {
	bool by_process;
	int32_t only_pid;
	uint32_t only_privileges;
	struct function **functions;
	size_t function_count;
	uint64_t instructions[PARTS];
	uint64_t selected;
	uint64_t unplaced;
	uint64_t exceptions;
	uint64_t interrupts;
	uint64_t traps;
	uint64_t trace_off;
	uint64_t gaps;
	struct problem errors[PROBLEM_KINDS];
	struct problem warnings[PROBLEM_KINDS];

	/* private */
	struct ntrace_locator *places;
	struct transfer_tracker transfers;
	struct profile_memo *memo;
	struct function **table;
	size_t table_size;
	bool failed;
};

/** profile_init - Return: false when out of memory */
bool profile_init(struct profile *profile);
void profile_free(struct profile *profile);

/** profile_event - add an event. Return: 0, or 1 when out of memory */
int profile_event(struct profile *profile, const struct ntrace_session_event *event);

/**
 * profile_sample - add an event if it is a PC sample; each counts as one instruction
 *
 * Use it for a profile of samples only. Return: as profile_event().
 */
int profile_sample(struct profile *profile, const struct ntrace_session_event *event);

/** profile_stream - another stream starts, unconnected to the previous one */
void profile_stream(struct profile *profile);

/**
 * profile_add_stacks - add totals and times of functions from call stacks
 * @profile: of the same events, without @by_process
 * @stacks: ended
 *
 * Return: 0, or 1 when out of memory.
 */
int profile_add_stacks(struct profile *profile, struct ntrace_stacks *stacks);

/** enum profile_order - descending numbers, ascending names */
enum profile_order {
	PROFILE_BY_INSTRUCTIONS,
	PROFILE_BY_TOTAL,
	PROFILE_BY_CALLS,
	PROFILE_BY_TIME,
	PROFILE_BY_TOTAL_TIME,
	PROFILE_BY_NAME,
	PROFILE_BY_OBJECT,
	PROFILE_ORDERS,
};

/** profile_sort - sort functions; equal ones by instructions, then by name */
void profile_sort(struct profile *profile, enum profile_order order);

/** profile_part - part of the machine that a privilege belongs to */
enum profile_part profile_part(unsigned int privilege);

#endif /* NTRACE_TOOL_PROFILE_H */
