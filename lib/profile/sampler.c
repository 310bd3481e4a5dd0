// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Samples with their preceding transfers, from a flow that contains all transfers. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/sample.h>

#include "select.h"
#include "struct_size.h"

/*
 * @ring: the last transfers, stored twice: entry i is also entry i + depth, so that any depth of
 *        them are consecutive; filled from the end to the front, with @newest at the front
 * @next: address of the instruction that follows; the ring stays valid as long as thread @tid
 *        continues there
 * @privilege: of the instruction that follows
 * @going: the fields from @next to @transfer are those of the last selected block
 * @pending: only what follows tells the target of @transfer, or the privilege of its target
 * @outside: the last block was not selected
 */
struct ntrace_sampler {
	struct ntrace_sampler_options options;
	struct ntrace_sample_branch *ring;
	size_t newest;
	size_t count;
	uint64_t left;
	uint64_t next;
	unsigned int privilege;
	int32_t pid;
	int32_t tid;
	bool going;
	bool pending;
	bool outside;
	struct ntrace_sample_branch transfer;
};

int ntrace_sampler_new(struct ntrace_sampler **sampler,
		       const struct ntrace_sampler_options *options)
{
	struct ntrace_sampler_options full = { 0 };
	struct ntrace_sampler *made;

	if (STRUCT_TAKE(&full, options))
		return NTRACE_ERR_INVALID;
	options = &full;
	if (options->depth > NTRACE_SAMPLE_DEPTH_MAX || (options->period && !options->sample) ||
	    (!options->period && !options->branch))
		return NTRACE_ERR_INVALID;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->options = full;
	made->ring = calloc(2 * (size_t)options->depth + 1, sizeof(*made->ring));
	if (!made->ring) {
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	made->left = options->period;
	*sampler = made;
	return 0;
}

void ntrace_sampler_free(struct ntrace_sampler *sampler)
{
	if (!sampler)
		return;
	free(sampler->ring);
	free(sampler);
}

static void forget_transfers(struct ntrace_sampler *sampler)
{
	sampler->count = 0;
	sampler->going = false;
}

int ntrace_sampler_end(void *data, unsigned int stream)
{
	(void)stream;
	forget_transfers(data);
	return 0;
}

static int add_transfer(struct ntrace_sampler *sampler, const struct ntrace_sample_branch *branch,
			const struct ntrace_session_event *event)
{
	size_t depth = sampler->options.depth;

	if (depth) {
		sampler->newest = (sampler->newest + depth - 1) % depth;
		sampler->ring[sampler->newest] = *branch;
		sampler->ring[sampler->newest + depth] = *branch;
		sampler->count += sampler->count < depth;
	}
	return sampler->options.branch ?
		       sampler->options.branch(sampler->options.data, branch, event) :
		       0;
}

static bool is_wanted(const struct ntrace_sampler *sampler,
		      const struct ntrace_session_event *event)
{
	const struct ntrace_sampler_options *options = &sampler->options;

	return is_selected(options->threads, options->privileges, event, event->privilege);
}

struct instruction_search {
	uint64_t left;
	uint64_t address;
};

static int find_instruction(void *data, uint64_t address, const uint8_t *bytes,
			    const struct ntrace_insn *insn)
{
	struct instruction_search *search = data;

	(void)bytes;
	(void)insn;
	search->address = address;
	return --search->left == 0;
}

/* Takes the samples whose periods end in a block. */
static int make_samples(struct ntrace_sampler *sampler, const struct ntrace_session_event *event)
{
	struct ntrace_sample sample = { .event = event,
					.branches = &sampler->ring[sampler->newest],
					.count = sampler->count };
	uint64_t rest = event->flow->instructions, done = 0;
	struct instruction_search search;
	int result = 0;

	if (!sampler->options.period)
		return 0;
	while (!result && sampler->left <= rest) {
		done += sampler->left;
		rest -= sampler->left;
		sampler->left = sampler->options.period;
		search.left = done;
		if (ntrace_flow_instructions(event->flow, find_instruction, &search) != 1)
			continue;
		sample.address = search.address;
		result = sampler->options.sample(sampler->options.data, &sample);
	}
	sampler->left -= rest;
	return result;
}

/* Whether the block is the continuation of the thread, as far as its transfers are known. */
static bool goes_on(const struct ntrace_sampler *sampler, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	uint64_t distance = flow->address - sampler->next;

	if (!sampler->going || event->tid < 0 || event->tid != sampler->tid ||
	    event->pid != sampler->pid)
		return false;
	if (sampler->pending)
		return !sampler->outside;
	/* A system call does not retire, and its handler returns after it. */
	return !distance || distance == trapping_size(flow->space, flow->isa, sampler->next);
}

static int follow_block(struct ntrace_sampler *sampler, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	int result = 0;

	if (!is_wanted(sampler, event)) {
		sampler->outside = true;
		return 0;
	}
	if (!goes_on(sampler, event)) {
		forget_transfers(sampler);
	} else if (sampler->pending) {
		sampler->transfer.to = flow->address;
		result = add_transfer(sampler, &sampler->transfer, event);
	}
	sampler->outside = false;
	if (!result)
		result = make_samples(sampler, event);
	sampler->going = true;
	sampler->pid = event->pid;
	sampler->tid = event->tid;
	sampler->privilege = event->privilege;
	sampler->next = flow->taken ? flow->next : flow->last + flow->last_size;
	sampler->pending = flow->taken &&
			   (!flow->next_known || flow->insn_class == NTRACE_INSN_TRAP_RETURN);
	sampler->transfer = (struct ntrace_sample_branch){ .from = flow->last,
							   .to = flow->next,
							   .insn_class = flow->insn_class };
	/* Another thread may come next, here or on another CPU. */
	if (flow->taken && !sampler->pending && !result)
		result = add_transfer(sampler, &sampler->transfer, event);
	return result;
}

/*
 * Execution is interrupted, by a trap or as the trace goes off, before the instruction at @next, if
 * @next_known. The event has the privilege of what follows. Return: as add_transfer().
 */
static int interrupt_run(struct ntrace_sampler *sampler, const struct ntrace_session_event *event,
			 bool next_known, uint64_t next)
{
	struct ntrace_session_event at = *event;
	bool inside = sampler->going && !sampler->outside;

	sampler->outside = true;
	if (!inside || !sampler->pending)
		return 0;
	/* Nothing tells the privilege that a trap returned to. */
	if (!next_known || (sampler->transfer.insn_class == NTRACE_INSN_TRAP_RETURN &&
			    sampler->options.privileges)) {
		forget_transfers(sampler);
		return 0;
	}
	at.privilege = sampler->privilege;
	sampler->pending = false;
	sampler->next = next;
	sampler->transfer.to = next;
	return add_transfer(sampler, &sampler->transfer, &at);
}

/*
 * A trap is a transfer from the instruction that did not retire; the next block gives its target.
 * If the handler is not selected, the thread is outside until it returns.
 */
static int follow_trap(struct ntrace_sampler *sampler, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	bool inside = sampler->going && !sampler->outside;
	int result = interrupt_run(sampler, event, flow->next_known, flow->value);

	if (!is_wanted(sampler, event))
		return result;
	if (!inside || !sampler->going || !flow->next_known) {
		forget_transfers(sampler);
		return result;
	}
	sampler->outside = false;
	sampler->pending = true;
	sampler->privilege = event->privilege;
	sampler->transfer = (struct ntrace_sample_branch){
		.from = flow->value,
		.insn_class = NTRACE_INSN_TRAP,
		.exception = flow->code == NTRACE_BTYPE_EXCEPTION,
	};
	return result;
}

int ntrace_sampler_event(void *data, const struct ntrace_session_event *event)
{
	struct ntrace_sampler *sampler = data;

	switch (event->flow->type) {
	case NTRACE_FLOW_BLOCK:
		return follow_block(sampler, event);
	case NTRACE_FLOW_TRAP:
		return follow_trap(sampler, event);
	case NTRACE_FLOW_TRACE_OFF:
		return interrupt_run(sampler, event, event->flow->next_known, event->flow->address);
	case NTRACE_FLOW_GAP:
		forget_transfers(sampler);
		return 0;
	default:
		return 0;
	}
}

int ntrace_sampler_segment(void *data, const struct ntrace_segment *blocks)
{
	struct ntrace_sampler *sampler = data;
	const struct ntrace_block *block = blocks->batch->blocks, *end;
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	int result = 0;

	for (end = block + blocks->batch->count; block < end && !result; block++) {
		ntrace_segment_event(blocks, block, &flow, &event);
		result = follow_block(sampler, &event);
	}
	return result;
}
