/* SPDX-License-Identifier: GPL-2.0-only */
/* What `ntrace report` adds up: instructions and calls per function, totals, losses. */
#ifndef NTRACE_TOOL_PROFILE_H
#define NTRACE_TOOL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/stacks.h>

#include "place.h"

/**
 * struct function - one line of the report
 * @object: referenced; NULL where nothing is known about the addresses
 * @name: owned; NULL = no function is known there
 * @start: link address
 * @privilege: enum ntrace_priv
 * @pid: process, where the profile keeps them apart, else -1
 * @comm: its name; owned, "" without process
 * @demangled: @name as a programmer wrote it, owned; NULL if it is @name
 * @instructions: executed
 * @total: executed in it and in what it called; see profile_add_stacks()
 * @ticks: time in it
 * @total_ticks: likewise, and in what it called
 * @calls: times control came to the first instruction by a call, or by a jump
 *         or branch from another function (tail call); not by a trap, a return
 *         from one, or a return
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

/** function_shown - its name for people */
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

/* As people and programs read them; by enum profile_part. */
extern const char *const profile_part_names[PARTS];

struct profile_memo;

/**
 * struct profile - the sums
 * @by_process: one function per process that runs it
 * @only_pid: count functions of this process only; -1 = all
 * @only_parts: bit mask of enum profile_part: count functions of these only
 * @functions: @function_count of them, in no order until profile_sort()
 * @instructions: all that were executed, whatever is selected
 * @selected: instructions of @functions
 * @unplaced: profile_sample(): samples whose address is not known
 */
struct profile {
	bool by_process;
	int32_t only_pid;
	unsigned int only_parts;
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
 * profile_sample - add an event if it is a PC sample, which counts as an instruction
 *
 * For a profile of samples alone. Return: as profile_event().
 */
int profile_sample(struct profile *profile, const struct ntrace_session_event *event);

/** profile_stream - another stream starts: nothing before it leads to what follows */
void profile_stream(struct profile *profile);

/**
 * profile_add_stacks - totals and times of functions, which call stacks know
 * @profile: of the same events, with processes together
 * @stacks: that have ended
 *
 * Return: 0, or 1 when out of memory.
 */
int profile_add_stacks(struct profile *profile, struct ntrace_stacks *stacks);

/** enum profile_order - what is largest comes first, names go from A to Z */
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

/** profile_sort - equal ones by instructions, then by name */
void profile_sort(struct profile *profile, enum profile_order order);

/** profile_part - which part of the machine a privilege is */
enum profile_part profile_part(unsigned int privilege);

#endif /* NTRACE_TOOL_PROFILE_H */
