// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The blocks of segments in the forms that their receivers need. */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/session.h>

void ntrace_segment_step(const struct ntrace_segment *segment, size_t index,
			 struct ntrace_block_batch *batch, struct ntrace_segment *step)
{
	size_t lead;

	ntrace_flow_run_step(segment->run, index, batch, &lead);
	batch->blocks += lead;
	batch->count -= lead;
	*step = *segment;
	step->type = NTRACE_SEGMENT_BLOCKS;
	step->run = NULL;
	step->batch = batch;
}

void ntrace_segment_event(const struct ntrace_segment *segment, const struct ntrace_block *block,
			  struct ntrace_flow_event *flow, struct ntrace_session_event *event)
{
	const struct ntrace_block_batch *batch = segment->batch;

	/* Every member, or GCC clears all of it first, with a slow `rep stos`. */
	*flow = (struct ntrace_flow_event){
		.type = NTRACE_FLOW_BLOCK,
		.code = 0,
		.insn_class = block->insn_class,
		.taken = block->flags & NTRACE_BLOCK_TAKEN,
		.interrupted = block->flags & NTRACE_BLOCK_INTERRUPTED,
		.provisional = block->flags & NTRACE_BLOCK_PROVISIONAL,
		.next_known = block->flags & NTRACE_BLOCK_NEXT_KNOWN,
		.last_size = block->last_size,
		.etype = 0,
		.dialect = 0,
		.time_known = batch->time_known,
		.reserved = 0,
		.src = batch->src,
		.reserved16 = 0,
		.instructions = block->instructions,
		.address = block->address,
		.last = block->address + block->bytes - block->last_size,
		.next = block->next,
		.value = 0,
		.offset = batch->offset,
		.time = batch->time,
		.context = NULL,
		.space = batch->space,
		.isa = batch->isa,
	};
	*event = segment->at;
	event->flow = flow;
}

const char *ntrace_time_error_text(uint64_t time_error, char *text)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	unsigned int unit = 0;

	if (time_error >= UINT32_MAX) {
		snprintf(text, NTRACE_TIME_ERROR_SIZE,
			 "of the trace's counter: nothing in the recording relates it to "
			 "CLOCK_MONOTONIC; durations are right");
		return text;
	}
	/* A bound is rounded up. */
	for (; unit < 3 && time_error >= 10000; unit++)
		time_error = (time_error + 999) / 1000;
	snprintf(text, NTRACE_TIME_ERROR_SIZE, "CLOCK_MONOTONIC, within %" PRIu64 " %s", time_error,
		 units[unit]);
	return text;
}
