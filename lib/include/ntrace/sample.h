/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Samples made from a whole trace: after every N instructions the address and the preceding
 * transfers, as a processor with branch records would report them.
 */
#ifndef NTRACE_SAMPLE_H
#define NTRACE_SAMPLE_H

#include <ntrace/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of entries that perf accepts. */
#define NTRACE_SAMPLE_DEPTH_MAX 512

/**
 * struct ntrace_sample_branch - a transfer that was taken
 * @from: address of the instruction; for a trap the instruction that did not retire
 * @to: target of the transfer
 * @insn_class: enum ntrace_insn_class at @from; NTRACE_INSN_TRAP: a trap
 * @exception: @insn_class is NTRACE_INSN_TRAP: true for an exception, false for an interrupt or
 *             unknown
 * @reserved: 0
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
 * @address: address of the instruction
 * @event: the block that contains @address; borrowed
 * @branches: transfers before @address, the newest first; borrowed. The newest transfer led to the
 *            straight run that contains @address
 * @count: number of @branches
 */
struct ntrace_sample {
	uint64_t address;
	const struct ntrace_session_event *event;
	const struct ntrace_sample_branch *branches;
	size_t count;
};

/**
 * struct ntrace_sampler_options - selection of samples
 * @size: sizeof(struct ntrace_sampler_options) of the caller
 * @period: instructions between two samples, counting only those that @threads and @privileges
 *          select; 0 = no samples. Counted over all streams
 * @threads: only these; NULL = all. Borrowed as long as events are passed
 * @depth: transfers in a sample, up to NTRACE_SAMPLE_DEPTH_MAX
 * @privileges: bit mask of 1 << enum ntrace_priv: only code in these privileges, and only transfers
 *              with both ends in them; 0 = all
 * @sample: called with each sample; a nonzero result stops, and ntrace_sampler_event() returns it
 * @branch: called with every transfer, in order; its event is the block that ends with the transfer, or if only
 *          what follows tells its target, the next event. May be NULL
 * @data: argument of both callbacks
 */
struct ntrace_sampler_options {
	size_t size;
	uint64_t period;
	const struct ntrace_thread_filter *threads;
	uint32_t depth;
	uint32_t privileges;
	int (*sample)(void *data, const struct ntrace_sample *sample);
	int (*branch)(void *data, const struct ntrace_sample_branch *branch,
		      const struct ntrace_session_event *event);
	void *data;
};

struct ntrace_sampler;

/**
 * ntrace_sampler_new - a sampler
 * @sampler: the new sampler, to be freed with ntrace_sampler_free()
 * @options: selection of samples; copied
 *
 * Return: 0, NTRACE_ERR_INVALID (@depth too large, a period without @sample, neither period nor
 * @branch), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_sampler_new(struct ntrace_sampler **sampler,
				  const struct ntrace_sampler_options *options);

/**
 * ntrace_sampler_free - free a sampler
 * @sampler: sampler made by ntrace_sampler_new(); NULL is allowed
 */
NTRACE_API void ntrace_sampler_free(struct ntrace_sampler *sampler);

/**
 * ntrace_sampler_event - pass the next event of a stream
 * @sampler: sampler made by ntrace_sampler_new()
 * @event: the next event; borrowed during the call
 *
 * The transfers of a sample always belong to one thread and have no gap between them: after a loss
 * and after a switch to another thread, the list starts empty.
 *
 * Return: 0 or the nonzero result of a callback.
 */
NTRACE_API int ntrace_sampler_event(void *sampler, const struct ntrace_session_event *event);

/**
 * ntrace_sampler_segment - pass the next segment of a stream
 * @sampler: sampler made by ntrace_sampler_new()
 * @segment: blocks; borrowed during the call
 *
 * The same as ntrace_sampler_event() for each of the blocks.
 *
 * Return: 0 or the nonzero result of a callback.
 */
NTRACE_EXPERIMENTAL int ntrace_sampler_segment(void *sampler, const struct ntrace_segment *segment);

/**
 * ntrace_sampler_end - end a stream: the transfers before it are forgotten
 * @sampler: sampler made by ntrace_sampler_new(); it takes further streams
 * @stream: ignored
 *
 * Return: 0.
 */
NTRACE_API int ntrace_sampler_end(void *sampler, unsigned int stream);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_SAMPLE_H */
