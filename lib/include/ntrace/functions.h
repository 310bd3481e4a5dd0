/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions of a profile: instructions, calls and branches of each, totals of everything, and the
 * transfers between instructions.
 *
 * The profile needs NTRACE_PROFILE_FUNCTIONS in its options, see profile.h. The functions are made of
 * its traces when a stream ends. These come either from the events of a session or from branch stacks,
 * never from both.
 */
#ifndef NTRACE_FUNCTIONS_H
#define NTRACE_FUNCTIONS_H

#include <ntrace/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum ntrace_domain - part of the machine that a privilege belongs to
 * @NTRACE_DOMAIN_USER: U
 * @NTRACE_DOMAIN_KERNEL: S
 * @NTRACE_DOMAIN_FIRMWARE: M
 * @NTRACE_DOMAIN_OTHER: guests: VU and VS
 * @NTRACE_DOMAINS: number of domains
 */
enum ntrace_domain {
	NTRACE_DOMAIN_USER,
	NTRACE_DOMAIN_KERNEL,
	NTRACE_DOMAIN_FIRMWARE,
	NTRACE_DOMAIN_OTHER,
	NTRACE_DOMAINS,
};

/**
 * ntrace_domain_of - domain of a privilege
 * @privilege: enum ntrace_priv
 *
 * Return: enum ntrace_domain; NTRACE_DOMAIN_OTHER for any privilege other than U, S and M.
 */
NTRACE_EXPERIMENTAL unsigned int ntrace_domain_of(unsigned int privilege);

/**
 * ntrace_domain_name - name of a domain
 * @domain: enum ntrace_domain
 *
 * Return: "user", "kernel", "firmware" or "other"; NULL if there is no such domain; a static
 * string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_domain_name(unsigned int domain);

/**
 * struct ntrace_profile_function - the sums of one function
 * @object: contains the function; NULL = unknown code
 * @name: name of the symbol; NULL = no known function: all such code of @object is one entry
 * @demangled: @name as a programmer wrote it; NULL if @name is NULL
 * @comm: name of the process; "" if the profile does not distinguish processes
 * @start: link address of the symbol
 * @privilege: enum ntrace_priv
 * @pid: process; -1 if unknown or if the profile does not distinguish processes
 * @instructions: executed in the function; in ntrace_profile_pc_samples(): number of samples
 * @calls: entries at its first instruction by a call, or by a jump or branch from another function
 *         (tail call); not by a trap or a return
 * @branches: control transfers that its instructions made
 * @total: instructions in the function and its callees; 0 before ntrace_stacks_add_totals()
 * @ticks: time in the function, likewise
 * @total_ticks: time in the function and its callees, likewise
 *
 * The profile owns @object and the strings.
 */
struct ntrace_profile_function {
	struct ntrace_object *object;
	const char *name;
	const char *demangled;
	const char *comm;
	uint64_t start;
	uint32_t privilege;
	int32_t pid;
	uint64_t instructions;
	uint64_t calls;
	uint64_t branches;
	uint64_t total;
	uint64_t ticks;
	uint64_t total_ticks;
};

/**
 * enum ntrace_profile_order - order of functions
 * @NTRACE_PROFILE_BY_INSTRUCTIONS: most instructions first
 * @NTRACE_PROFILE_BY_TOTAL: highest total first
 * @NTRACE_PROFILE_BY_CALLS: most calls first
 * @NTRACE_PROFILE_BY_TIME: most ticks first
 * @NTRACE_PROFILE_BY_TOTAL_TIME: highest total_ticks first
 * @NTRACE_PROFILE_BY_NAME: by name, ascending
 * @NTRACE_PROFILE_BY_OBJECT: by name of the object, ascending
 * @NTRACE_PROFILE_ORDERS: number of orders
 */
enum ntrace_profile_order {
	NTRACE_PROFILE_BY_INSTRUCTIONS,
	NTRACE_PROFILE_BY_TOTAL,
	NTRACE_PROFILE_BY_CALLS,
	NTRACE_PROFILE_BY_TIME,
	NTRACE_PROFILE_BY_TOTAL_TIME,
	NTRACE_PROFILE_BY_NAME,
	NTRACE_PROFILE_BY_OBJECT,
	NTRACE_PROFILE_ORDERS,
};

/**
 * ntrace_profile_functions - all functions that were executed or called
 * @profile: a profile with NTRACE_PROFILE_FUNCTIONS that has ended
 * @order: enum ntrace_profile_order; equal functions are in order of instructions, then of names
 * @count: set to the number of functions
 *
 * Return: array owned by the profile, valid until the next call with this profile; NULL if it has
 * no functions.
 */
NTRACE_EXPERIMENTAL const struct ntrace_profile_function *
ntrace_profile_functions(struct ntrace_profile *profile, unsigned int order, size_t *count);

/**
 * ntrace_profile_pc_samples - functions by the PC samples that some encoders take
 * @profile: a profile with NTRACE_PROFILE_FUNCTIONS that has ended
 * @order: enum ntrace_profile_order, as for ntrace_profile_functions()
 * @count: set to the number of functions
 *
 * The instructions of a function are its number of samples.
 *
 * Return: as ntrace_profile_functions().
 */
NTRACE_EXPERIMENTAL const struct ntrace_profile_function *
ntrace_profile_pc_samples(struct ntrace_profile *profile, unsigned int order, size_t *count);

/* Number of kinds of problems: enum ntrace_flow_error is less. */
#define NTRACE_PROFILE_PROBLEMS 32

/**
 * struct ntrace_profile_problem - errors or warnings of one kind
 * @count: number of such problems
 * @address: of the first one; 0 = unknown
 * @offset: of the first one in the trace
 * @object: name of the object at @address, owned by the profile; NULL = unknown
 * @stream: index of the stream of the first one
 * @reserved: 0
 */
struct ntrace_profile_problem {
	uint64_t count;
	uint64_t address;
	uint64_t offset;
	const char *object;
	uint32_t stream;
	uint32_t reserved;
};

/**
 * struct ntrace_profile_totals - sums of all events
 * @instructions: executed, by enum ntrace_domain, whatever the profile selects
 * @selected: instructions of all functions of the profile
 * @exceptions: traps that are known to be exceptions
 * @interrupts: traps that are known to be interrupts
 * @traps: all traps
 * @trace_off: number of times that tracing ended, for instance in a privilege that is not traced
 * @gaps: losses
 * @samples: selected PC samples
 * @unplaced_samples: PC samples without an address
 * @errors: by enum ntrace_flow_error
 * @warnings: likewise
 * @hardware_ends: those of @trace_off that the hardware made itself: debug mode, low power, reset
 */
struct ntrace_profile_totals {
	uint64_t instructions[NTRACE_DOMAINS];
	uint64_t selected;
	uint64_t exceptions;
	uint64_t interrupts;
	uint64_t traps;
	uint64_t trace_off;
	uint64_t gaps;
	uint64_t samples;
	uint64_t unplaced_samples;
	struct ntrace_profile_problem errors[NTRACE_PROFILE_PROBLEMS];
	struct ntrace_profile_problem warnings[NTRACE_PROFILE_PROBLEMS];
	uint64_t hardware_ends;
};

/**
 * ntrace_profile_totals - sums of all events so far
 * @profile: profile made by ntrace_profile_new()
 *
 * Return: owned by the profile; all zeros if it has no functions.
 */
NTRACE_EXPERIMENTAL const struct ntrace_profile_totals *
ntrace_profile_totals(const struct ntrace_profile *profile);

/**
 * struct ntrace_profile_edge - all transfers from one instruction to another
 * @from_object: contains @from
 * @object: contains @to; NULL = unknown code
 * @from: link address of the instruction that transferred control
 * @to: link address of the next instruction; an address if @object is NULL
 * @taken: number of transfers
 * @executed: number of executions of the instruction at @from, at least @taken
 * @from_class: enum ntrace_insn_class of the instruction at @from
 * @reserved: 0
 */
struct ntrace_profile_edge {
	struct ntrace_object *from_object;
	struct ntrace_object *object;
	uint64_t from;
	uint64_t to;
	uint64_t taken;
	uint64_t executed;
	uint8_t from_class;
	uint8_t reserved[7];
};

/**
 * ntrace_profile_edges - transfers from known code, the most frequent first
 * @profile: a profile with NTRACE_PROFILE_TRACES that has ended
 * @edges: set to an array owned by the profile, valid until the next call with this profile
 * @count: set to the number of edges
 *
 * The same counts give the same order.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_profile_edges(struct ntrace_profile *profile,
					     const struct ntrace_profile_edge **edges,
					     size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_FUNCTIONS_H */
