/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts: how often each instruction of an object was executed (retired). The counts of all its
 * instructions add up to those of its traces.
 */
#ifndef NTRACE_COUNTS_H
#define NTRACE_COUNTS_H

#include <ntrace/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_counts;

/**
 * ntrace_counts_new - the counts of one object
 * @counts: the new counts, to be freed with ntrace_counts_free()
 * @profile: a profile that has ended; no longer needed after the call
 * @object: one of ntrace_profile_objects()
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_counts_new(struct ntrace_counts **counts, struct ntrace_profile *profile,
				 const struct ntrace_object *object);

/**
 * ntrace_counts_free - free counts and release their object
 * @counts: counts made by ntrace_counts_new(); NULL is allowed
 */
NTRACE_API void ntrace_counts_free(struct ntrace_counts *counts);

/**
 * ntrace_counts_executed - number of executions of an instruction
 * @counts: counts made by ntrace_counts_new()
 * @address: link address of the instruction
 *
 * Return: number of executions, 0 for an address that was not executed.
 */
NTRACE_API uint64_t ntrace_counts_executed(const struct ntrace_counts *counts, uint64_t address);

/**
 * ntrace_counts_taken - number of transfers made by an instruction
 * @counts: counts made by ntrace_counts_new()
 * @address: link address of the instruction
 *
 * Return: number of times that the instruction transferred control, 0 for any other address.
 */
NTRACE_API uint64_t ntrace_counts_taken(const struct ntrace_counts *counts, uint64_t address);

/**
 * typedef ntrace_counts_visit_fn - called for each instruction
 * @data: the argument of ntrace_counts_walk()
 * @address: link address
 * @bytes: the instruction's bytes
 * @insn: the decoded instruction
 * @executed: number of executions
 *
 * Return: 0 to continue, any other value stops the walk.
 */
typedef int (*ntrace_counts_visit_fn)(void *data, uint64_t address, const uint8_t *bytes,
				      const struct ntrace_insn *insn, uint64_t executed);

/**
 * ntrace_counts_walk - call @visit for each instruction of a range, executed or not
 * @counts: counts made by ntrace_counts_new()
 * @start: link address of an instruction
 * @end: link address after the last instruction
 * @visit: called in order of addresses
 * @data: for @visit
 *
 * Data that a mapping symbol ($d) marks is left out. Ends early at bytes that are no instruction.
 *
 * Return: 0, what @visit returned, NTRACE_ERR_NOMAP.
 */
NTRACE_API int ntrace_counts_walk(const struct ntrace_counts *counts, uint64_t start, uint64_t end,
				  ntrace_counts_visit_fn visit, void *data);

/**
 * ntrace_counts_walk_executed - call @visit for each executed instruction
 * @counts: counts made by ntrace_counts_new()
 * @visit: called in order of addresses
 * @data: for @visit
 *
 * An instruction that always traps (ecall, ebreak) counts when its run continues after it, although it does not
 * retire: the sum can be greater than that of ntrace_profile_objects(). Code that the object does not have
 * is left out.
 *
 * Return: 0 or what @visit returned.
 */
NTRACE_API int ntrace_counts_walk_executed(const struct ntrace_counts *counts,
					   ntrace_counts_visit_fn visit, void *data);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_COUNTS_H */
