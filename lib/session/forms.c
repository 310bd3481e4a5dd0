// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Blocks of batches and runs in the forms that their receivers need. */
#include <ntrace/session.h>

void ntrace_session_run_step(const struct ntrace_session_run *run, size_t index,
			     struct ntrace_block_batch *batch, struct ntrace_session_blocks *blocks)
{
	size_t lead;

	ntrace_flow_run_step(run->run, index, batch, &lead);
	batch->blocks += lead;
	batch->count -= lead;
	*blocks = (struct ntrace_session_blocks){ .batch = batch,
						  .stream = run->stream,
						  .cpu = run->cpu,
						  .pid = run->pid,
						  .tid = run->tid,
						  .comm = run->comm,
						  .privilege = run->privilege,
						  .sideband_ns = run->sideband_ns };
}

void ntrace_session_block_event(const struct ntrace_session_blocks *blocks,
				const struct ntrace_block *block, struct ntrace_flow_event *flow,
				struct ntrace_session_event *event)
{
	const struct ntrace_block_batch *batch = blocks->batch;

	*flow = (struct ntrace_flow_event){
		.type = NTRACE_FLOW_BLOCK,
		.insn_class = block->insn_class,
		.taken = block->flags & NTRACE_BLOCK_TAKEN,
		.interrupted = block->flags & NTRACE_BLOCK_INTERRUPTED,
		.provisional = block->flags & NTRACE_BLOCK_PROVISIONAL,
		.next_known = block->flags & NTRACE_BLOCK_NEXT_KNOWN,
		.last_size = block->last_size,
		.time_known = batch->time_known,
		.src = batch->src,
		.instructions = block->instructions,
		.address = block->address,
		.last = block->address + block->bytes - block->last_size,
		.next = block->next,
		.offset = batch->offset,
		.time = batch->time,
		.space = batch->space,
		.isa = batch->isa,
	};
	*event = (struct ntrace_session_event){
		.flow = flow,
		.stream = blocks->stream,
		.cpu = blocks->cpu,
		.pid = blocks->pid,
		.tid = blocks->tid,
		.comm = blocks->comm,
		.privilege = blocks->privilege,
		.sideband_ns = blocks->sideband_ns,
	};
}
