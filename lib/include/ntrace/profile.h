/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Profiles: sums over executed control flow.
 *
 * The unit of counting is a trace (a term of BOLT): a transfer of control, and the straight run of
 * instructions from its target to the next taken transfer. Counts of branches, of ranges, of blocks
 * and of single instructions are all sums over traces. Addresses are link addresses of the objects
 * (files) that hold the code, so that runs of a program at different addresses add up.
 *
 * A run interrupted by a trap continues when the same thread returns to the next instruction: an
 * interrupt leaves no mark in a profile. An instruction that always traps, such as ECALL, does not
 * retire: it is in no run, and the run after it begins without a transfer. Facts that the hardware
 * did not report stay unknown: after a loss, too, a run begins without a transfer.
 */
#ifndef NTRACE_PROFILE_H
#define NTRACE_PROFILE_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_profile_trace - a transfer, the run after it, and the number of executions of both
 * @from_object: holds @from; NULL: the source of the transfer is unknown
 * @object: holds the run; NULL: the code of the run is unknown
 * @from: link address of the instruction that transferred control
 * @start: link address of the first instruction of the run: the target
 * @end: link address of the run's last instruction; equals @start if @instructions is 0
 * @count: number of executions
 * @instructions: instructions in one execution of the run; 0: the target was not executed (a trap
 *                came first, or flow was lost) and only the transfer is known
 * @from_class: enum ntrace_insn_class of the instruction at @from
 * @end_class: class of the instruction at @end
 * @taken: the instruction at @end transferred control; if false, the end of the trace, a loss, or a
 *         trap without return cut the run there
 * @privilege: enum ntrace_priv of the run, if the profile has by_privilege or functions; else 0
 * @process: tells processes, and their names, apart if the profile has functions and by_process; else 0
 * @reserved: 0
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
	uint8_t privilege;
	uint32_t process;
	uint32_t reserved;
};

/**
 * enum ntrace_profile_part - the parts of a profile; only the traces are stable API
 * @NTRACE_PROFILE_TRACES: everything in this header, counts, edges
 * @NTRACE_PROFILE_FUNCTIONS: functions, which are sums of traces, and totals, see functions.h
 * @NTRACE_PROFILE_OCCUPANCY: threads on CPUs over time, see occupancy.h
 */
enum ntrace_profile_part {
	NTRACE_PROFILE_TRACES = 1 << 0,
	NTRACE_PROFILE_FUNCTIONS = 1 << 1,
	NTRACE_PROFILE_OCCUPANCY = 1 << 2,
};

/**
 * struct ntrace_profile_options - selection of events and parts
 * @size: sizeof(struct ntrace_profile_options) of the caller
 * @threads: only these; NULL = all. Borrowed as long as events are passed
 * @privileges: bit mask of 1 << enum ntrace_priv: only runs in these privileges; 0 = all
 * @parts: bit mask of enum ntrace_profile_part; 0 = NTRACE_PROFILE_TRACES. Branch stacks always
 *         give traces
 * @by_process: a function has an entry for each process that executed it
 * @by_privilege: a trace has an entry for each privilege of its run
 * @reserved: 0
 * @session: source of the events, for NTRACE_PROFILE_OCCUPANCY; borrowed until the profile has
 *           ended
 */
struct ntrace_profile_options {
	size_t size;
	const struct ntrace_thread_filter *threads;
	uint32_t privileges;
	uint32_t parts;
	bool by_process;
	bool by_privilege;
	uint8_t reserved[6];
	const struct ntrace_session *session;
};

struct ntrace_profile;

/**
 * ntrace_profile_new - an empty profile
 * @profile: the new profile, to be freed with ntrace_profile_free()
 * @options: copied; NULL: count everything
 *
 * Return: 0, NTRACE_ERR_INVALID (options), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_new(struct ntrace_profile **profile,
				  const struct ntrace_profile_options *options);

/**
 * ntrace_profile_free - free a profile with all results and release its objects
 * @profile: profile made by ntrace_profile_new(); NULL is allowed
 */
NTRACE_API void ntrace_profile_free(struct ntrace_profile *profile);

/**
 * ntrace_profile_event - add an event of a session: event of struct ntrace_decode_options
 * @profile: profile made by ntrace_profile_new(), passed as data of the options
 * @event: the next event; borrowed during the call
 *
 * Pass the events of one stream in order; call ntrace_profile_end() between streams.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_event(void *profile, const struct ntrace_session_event *event);

/**
 * ntrace_profile_segment - add a segment of a session: segment of struct ntrace_decode_options
 * @profile: profile made by ntrace_profile_new(), passed as data of the options
 * @segment: the next segment; borrowed during the call; sums must be those of one thread
 *           (NTRACE_NEEDS_THREADS) if the options select a process or by_process
 *
 * With ntrace_profile_event() for all else, the results are those of an event for each block. Sums serve
 * all parts but NTRACE_PROFILE_OCCUPANCY, which takes runs; the other parts ignore runs. Results are
 * complete only after ntrace_profile_end().
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_profile_segment(void *profile, const struct ntrace_segment *segment);

/**
 * struct ntrace_profile_sample_counts - statistics of ntrace_profile_sample()
 * @transfers: entries of branch stacks
 * @outside: transfers between two places of unknown code, such as the kernel
 * @broken: pairs of entries without a straight run between them: only the transfer to the start of
 *          the run is counted
 */
struct ntrace_profile_sample_counts {
	uint64_t transfers;
	uint64_t outside;
	uint64_t broken;
};

/**
 * ntrace_profile_sample - add the branch stack of a sample
 * @profile: profile made by ntrace_profile_new()
 * @sample: the sample; borrowed during the call; see ntrace_session_samples()
 * @counts: added to; may be NULL
 *
 * Each entry is a trace: the transfer, and the run up to the next newer entry. The run after the
 * newest entry is unknown and has no instructions. Therefore the counts cover sampled code, not all
 * executed code.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_sample(struct ntrace_profile *profile,
				     const struct ntrace_session_sample *sample,
				     struct ntrace_profile_sample_counts *counts);

/**
 * ntrace_profile_end - end a stream: later events do not continue earlier ones
 * @profile: profile made by ntrace_profile_new()
 *
 * Call it also before reading the profile.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_profile_end(struct ntrace_profile *profile);

/**
 * ntrace_profile_merge - add the counts of a profile to another one
 * @into: the profile that grows
 * @from: the profile to add, which has ended; unchanged
 *
 * Objects with equal build-ids are the same, or without build-ids those with equal names. The functions
 * are made of all traces. Totals and PC samples are added if both profiles have functions; occupancy
 * is not added.
 *
 * Return: 0 or NTRACE_ERR_NOMEM (then a part was added).
 */
NTRACE_API int ntrace_profile_merge(struct ntrace_profile *into, const struct ntrace_profile *from);

/**
 * ntrace_profile_traces - all traces
 * @profile: profile made by ntrace_profile_new(); this call sorts its traces
 * @count: set to the number of traces
 *
 * Sorted by the run's object (by name), start, end, and source of the transfer: the same counts
 * give the same order.
 *
 * Return: array owned by the profile, valid until it changes.
 */
NTRACE_API const struct ntrace_profile_trace *ntrace_profile_traces(struct ntrace_profile *profile,
								    size_t *count);

/**
 * ntrace_profile_trace_count - number of distinct traces so far
 * @profile: profile made by ntrace_profile_new()
 *
 * Each takes about 80 bytes of memory.
 *
 * Return: number of traces.
 */
NTRACE_EXPERIMENTAL size_t ntrace_profile_trace_count(const struct ntrace_profile *profile);

/**
 * ntrace_profile_forget_traces - remove all traces
 * @profile: profile made by ntrace_profile_new(), also in the middle of a stream
 *
 * Runs in progress continue, so that the traces taken before and after the call add up to those of
 * a profile without the call. Objects and functions stay.
 */
NTRACE_EXPERIMENTAL void ntrace_profile_forget_traces(struct ntrace_profile *profile);

/**
 * ntrace_profile_add_trace - add a trace that was counted elsewhere
 * @profile: profile made by ntrace_profile_new()
 * @trace: copied; its objects are referenced. Without by_privilege, @privilege is ignored
 *
 * Selections of the options do not apply: the trace is in all totals. Counts and totals end at UINT64_MAX.
 * ntrace_profile_end() makes the functions.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_profile_add_trace(struct ntrace_profile *profile,
						 const struct ntrace_profile_trace *trace);

/**
 * struct ntrace_profile_object - an object and its executed instructions
 * @object: borrowed from the profile
 * @instructions: number of instructions executed in it
 */
struct ntrace_profile_object {
	struct ntrace_object *object;
	uint64_t instructions;
};

/**
 * ntrace_profile_objects - objects with executed code, most instructions first
 * @profile: a profile that has ended; this call sorts its objects
 * @count: set to the number of objects
 *
 * Return: array owned by the profile, valid until it changes.
 */
NTRACE_API const struct ntrace_profile_object *
ntrace_profile_objects(struct ntrace_profile *profile, size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_PROFILE_H */
