/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Samples made from a whole trace: every N instructions the address and the
 * last transfers before it, as a processor with branch records gives them.
 */
#ifndef NTRACE_SAMPLE_H
#define NTRACE_SAMPLE_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More entries than perf takes are of no use. */
#define NTRACE_SAMPLE_DEPTH_MAX 512

/**
 * struct ntrace_sample_branch - a transfer that was taken
 * @from: address of the instruction; of a trap: the one that did not retire
 * @to: where it went
 * @insn_class: enum ntrace_insn_class at @from; NTRACE_INSN_TRAP: a trap
 * @exception: @insn_class is NTRACE_INSN_TRAP: it was an exception, else an interrupt, or unknown
 */
struct ntrace_sample_branch {
	uint64_t from;
	uint64_t to;
	uint8_t insn_class;
	bool exception;
	uint8_t reserved[6];
};

/**
 * struct ntrace_sample - a sample
 * @address: of the instruction
 * @event: the block that it is in; borrowed
 * @branches: transfers before it, the newest first; borrowed. The newest one led to the straight
 *            run that @address is in
 * @count: of @branches
 */
struct ntrace_sample {
	uint64_t address;
	const struct ntrace_session_event *event;
	const struct ntrace_sample_branch *branches;
	size_t count;
};

/**
 * struct ntrace_sampler_options - what to sample
 * @size: sizeof(struct ntrace_sampler_options) of the caller
 * @period: instructions between two samples, of those that @pid and @privileges select; 0 = no
 *          samples. Counted over all streams
 * @depth: transfers in a sample, up to NTRACE_SAMPLE_DEPTH_MAX
 * @pid: only this process; -1 = all
 * @privileges: bit mask of 1 << enum ntrace_priv: only there, and only transfers with both ends
 *              there; 0 = all
 * @sample: gets the samples; not 0 stops and is returned by ntrace_sampler_event()
 * @branch: gets every transfer, in order; @event: the block behind it. May be NULL
 * @data: for both
 */
struct ntrace_sampler_options {
	size_t size;
	uint64_t period;
	uint32_t depth;
	int32_t pid;
	uint32_t privileges;
	uint32_t reserved;
	int (*sample)(void *data, const struct ntrace_sample *sample);
	int (*branch)(void *data, const struct ntrace_sample_branch *branch,
		      const struct ntrace_session_event *event);
	void *data;
};

struct ntrace_sampler;

/**
 * ntrace_sampler_new - Return: 0, NTRACE_ERR_INVALID (depth, nobody to tell), NTRACE_ERR_NOMEM
 */
NTRACE_API int ntrace_sampler_new(struct ntrace_sampler **sampler,
				  const struct ntrace_sampler_options *options);
NTRACE_API void ntrace_sampler_free(struct ntrace_sampler *sampler);

/**
 * ntrace_sampler_event - the next event of a stream
 *
 * The transfers of a sample are always those of one thread without a hole between them: after a
 * loss, and when the hart turns to another thread, it begins without any.
 * Return: 0 or what a callback returned.
 */
NTRACE_API int ntrace_sampler_event(struct ntrace_sampler *sampler,
				    const struct ntrace_session_event *event);

/** ntrace_sampler_end - the stream ends */
NTRACE_API void ntrace_sampler_end(struct ntrace_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_SAMPLE_H */
