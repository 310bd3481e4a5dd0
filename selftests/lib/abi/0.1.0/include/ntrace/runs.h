/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counted messages in the order of the stream. ntrace_flow_count() passes on how often each effect
 * was executed. A receiver that needs the order, as for call stacks, gets the effects in runs
 * instead, one number for each message, and looks at the blocks of an effect only once.
 */
#ifndef NTRACE_RUNS_H
#define NTRACE_RUNS_H

#include <ntrace/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_flow_step - one execution of an effect
 * @id: identifies the effect: within a flow, equal ids mean the same blocks, which follow the same
 *      blocks, in the same code. Never 0
 * @entry: private
 */
struct ntrace_flow_step {
	uint32_t id;
	uint32_t entry;
};

/**
 * struct ntrace_flow_run - effects executed one after the other
 * @steps: the effects; borrowed during the call
 * @count: number of steps, not 0
 * @instructions: of all steps
 * @flow: private
 * @last: the last block of the last step; borrowed
 * @space: space of @last; borrowed
 * @isa: instruction set of @last; borrowed
 * @offset: position in the stream of a message of the run
 * @time: as in struct ntrace_flow_event, the same for all steps
 * @time_known: @time is a time of the hart
 * @reserved: 0
 * @src: as in struct ntrace_flow_event
 */
struct ntrace_flow_run {
	const struct ntrace_flow_step *steps;
	size_t count;
	uint64_t instructions;
	const struct ntrace_flow *flow;
	const struct ntrace_block *last;
	struct ntrace_space *space;
	const struct ntrace_isa *isa;
	uint64_t offset;
	uint64_t time;
	bool time_known;
	uint8_t reserved[5];
	uint16_t src;
};

/**
 * ntrace_flow_run_step - the blocks of a step
 * @run: the run, during the call of the callback
 * @index: index of the step, less than @count of @run
 * @batch: set to the blocks, those of the lead included; valid until the next call of this function
 *         and until the callback returns
 * @lead: as in struct ntrace_flow_effect: so many blocks of @batch are those before the step
 */
NTRACE_EXPERIMENTAL void ntrace_flow_run_step(const struct ntrace_flow_run *run, size_t index,
					      struct ntrace_block_batch *batch, size_t *lead);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_RUNS_H */
