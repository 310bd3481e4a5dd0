/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Profiles: executed control flow, added up.
 *
 * What is counted is a trace (as BOLT calls it): a transfer of control, and the
 * straight run of instructions from its target to the next transfer that is
 * taken. Counts of branches, of ranges, of blocks and of single instructions are
 * all sums over traces. Addresses are link addresses of the objects (files) that
 * hold the code, so that runs of a program at different addresses add up.
 *
 * A run that a trap interrupts goes on when the same thread comes back to the
 * instruction that was next: an interrupt leaves no mark in a profile. What the
 * hardware did not tell stays unknown: after a loss a run begins without a
 * transfer.
 */
#ifndef NTRACE_PROFILE_H
#define NTRACE_PROFILE_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_profile_trace - a transfer, the run behind it, and how often both were executed
 * @from_object: holds @from; NULL: it is not known where control came from
 * @object: holds the run; NULL: nothing is known of the code there
 * @from: link address of the instruction that transferred control
 * @start: link address of the first instruction of the run: the target
 * @end: link address of its last instruction; @start where @instructions is 0
 * @count: times
 * @instructions: of the run, for one time; 0: the target was never executed (a trap came
 *                first, or flow was lost), only the transfer is known
 * @from_class: enum ntrace_insn_class of the instruction at @from
 * @end_class: likewise at @end
 * @taken: the instruction at @end transferred control; else the run was cut there: by the end
 *         of the trace, by a loss, or by a trap from which it never came back
 */
struct ntrace_profile_trace {
	struct ntrace_object *from_object;
	struct ntrace_object *object;
	uint64_t from;
	uint64_t start;
	uint64_t end;
	uint64_t count;
	uint32_t instructions;
	uint8_t from_class;
	uint8_t end_class;
	bool taken;
	uint8_t reserved;
};

/** enum ntrace_profile_part - what a profile adds up; NTRACE_API promises the traces only */
enum ntrace_profile_part {
	NTRACE_PROFILE_TRACES = 1 << 0,		/* traces: everything in this header, counts, edges */
	NTRACE_PROFILE_FUNCTIONS = 1 << 1,	/* functions and totals, see functions.h */
	NTRACE_PROFILE_OCCUPANCY = 1 << 2,	/* threads on CPUs over time, see occupancy.h */
};

/**
 * struct ntrace_profile_options - what to count
 * @size: sizeof(struct ntrace_profile_options) of the caller
 * @pid: only this process; -1 = all
 * @privileges: bit mask of 1 << enum ntrace_priv: only runs there; 0 = all
 * @parts: bit mask of enum ntrace_profile_part; 0 = NTRACE_PROFILE_TRACES. Branch stacks always
 *         make traces
 * @by_process: a function has an entry for each process that executed it
 * @session: where the events come from, for NTRACE_PROFILE_OCCUPANCY; borrowed until the profile has
 *           ended
 */
struct ntrace_profile_options {
	size_t size;
	int32_t pid;
	uint32_t privileges;
	uint32_t parts;
	bool by_process;
	uint8_t reserved[3];
	const struct ntrace_session *session;
};

struct ntrace_profile;

/**
 * ntrace_profile_new - an empty profile
 * @profile: the new one, to be freed with ntrace_profile_free()
 * @options: copied; NULL: count everything
 *
 * Return: 0, NTRACE_ERR_INVALID (options), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_new(struct ntrace_profile **profile,
				  const struct ntrace_profile_options *options);
NTRACE_API void ntrace_profile_free(struct ntrace_profile *profile);

/**
 * ntrace_profile_event - add an event of a session
 *
 * Events of one stream in order; ntrace_profile_end() between streams.
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_event(struct ntrace_profile *profile,
				    const struct ntrace_session_event *event);

/**
 * struct ntrace_profile_sample_counts - what ntrace_profile_sample() made of samples
 * @transfers: entries of branch stacks
 * @outside: of these, from and to where nothing is known of the code, as in the kernel
 * @broken: runs between two entries that no straight line leads through: only the transfer to
 *          where the run should begin is counted
 */
struct ntrace_profile_sample_counts {
	uint64_t transfers;
	uint64_t outside;
	uint64_t broken;
};

/**
 * ntrace_profile_sample - add the branch stack of a sample
 * @profile: a profile
 * @sample: see ntrace_session_samples()
 * @counts: added to; may be NULL
 *
 * Each entry is a trace: the transfer, and the run up to the newer entry; the run behind the newest
 * one is not known, and has no instructions here. So counts are those of what was sampled, not of
 * what was executed.
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_sample(struct ntrace_profile *profile,
				     const struct ntrace_session_sample *sample,
				     struct ntrace_profile_sample_counts *counts);

/**
 * ntrace_profile_end - the stream ends: nothing before leads to what follows
 *
 * To be called before the profile is read, too. Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_end(struct ntrace_profile *profile);

/**
 * ntrace_profile_merge - add what @from counted to @into
 *
 * Objects are the same if their build-ids are, or, without them, their names. Functions are added if
 * both have them, occupancy is not.
 * Return: 0 or NTRACE_ERR_NOMEM (then a part was added).
 */
NTRACE_API int ntrace_profile_merge(struct ntrace_profile *into, const struct ntrace_profile *from);

/**
 * ntrace_profile_traces - all traces
 * @profile: a profile; sorted by this
 * @count: their number
 *
 * In order of the run's object (by name), start, end, and where control came from: the same
 * counts give the same order. Return: array owned by the profile, valid until it changes.
 */
NTRACE_API const struct ntrace_profile_trace *ntrace_profile_traces(struct ntrace_profile *profile,
								    size_t *count);

/**
 * struct ntrace_profile_object - an object and what was executed of it
 * @object: borrowed from the profile
 * @instructions: executed
 */
struct ntrace_profile_object {
	struct ntrace_object *object;
	uint64_t instructions;
};

/**
 * ntrace_profile_objects - objects of which something was executed, most instructions first
 *
 * Return: array owned by the profile, valid until it changes.
 */
NTRACE_API const struct ntrace_profile_object *
ntrace_profile_objects(struct ntrace_profile *profile, size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_PROFILE_H */
