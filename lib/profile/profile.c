// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From the events and segments of a session to traces; state.h has the picture. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "functions.h"
#include "occupancy.h"
#include "parts.h"
#include "state.h"
#include "struct_size.h"

static int make_parts(struct ntrace_profile *profile)
{
	struct ntrace_profile_options *options = &profile->options;

	if (!options->parts)
		options->parts = NTRACE_PROFILE_TRACES;
	if (options->parts & NTRACE_PROFILE_OCCUPANCY && !options->session)
		return NTRACE_ERR_INVALID;
	profile->separate = options->by_privilege || options->parts & NTRACE_PROFILE_FUNCTIONS;
	profile->locator = ntrace_locator_new();
	if (!profile->locator)
		return NTRACE_ERR_NOMEM;
	if (options->parts & NTRACE_PROFILE_FUNCTIONS) {
		profile->functions = function_sums_new(options);
		if (!profile->functions)
			return NTRACE_ERR_NOMEM;
	}
	if (options->parts & NTRACE_PROFILE_OCCUPANCY) {
		profile->occupancy = occupancy_new(options->session);
		if (!profile->occupancy)
			return NTRACE_ERR_NOMEM;
	}
	return 0;
}

int ntrace_profile_new(struct ntrace_profile **profile,
		       const struct ntrace_profile_options *options)
{
	struct ntrace_profile *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->times = 1;
	made->number = UINT_MAX;
	if (options && STRUCT_TAKE(&made->options, options)) {
		free(made);
		return NTRACE_ERR_INVALID;
	}
	error = make_parts(made);
	if (error) {
		ntrace_profile_free(made);
		return error;
	}
	*profile = made;
	return 0;
}

static void free_stream(struct profile_stream *stream)
{
	if (!stream)
		return;
	ntrace_space_put(stream->place.space);
	free(stream->known);
	free(stream);
}

/* No stream is the present one. */
static void leave_stream(struct ntrace_profile *profile)
{
	if (profile->stream)
		profile->stream->place = profile->at;
	profile->stream = NULL;
	profile->number = UINT_MAX;
}

static int change_stream(struct ntrace_profile *profile, unsigned int number)
{
	leave_stream(profile);
	if (number >= profile->stream_count) {
		struct profile_stream **streams =
			realloc(profile->streams, (number + (size_t)1) * sizeof(*streams));

		if (!streams)
			return NTRACE_ERR_NOMEM;
		profile->streams = streams;
		while (profile->stream_count <= number)
			streams[profile->stream_count++] = NULL;
	}
	if (!profile->streams[number])
		profile->streams[number] = calloc(1, sizeof(**profile->streams));
	if (!profile->streams[number])
		return NTRACE_ERR_NOMEM;
	profile->stream = profile->streams[number];
	profile->at = profile->stream->place;
	profile->number = number;
	return 0;
}

/* The next events are those of stream @number. Return: 0 or NTRACE_ERR_NOMEM. */
static inline int enter_stream(struct ntrace_profile *profile, unsigned int number)
{
	return profile->number == number ? 0 : change_stream(profile, number);
}

/* The next event has the stream and the process of @at. Return: 0 or NTRACE_ERR_NOMEM. */
static inline int enter_event(struct ntrace_profile *profile, const struct ntrace_session_event *at)
{
	int error = enter_stream(profile, at->stream);

	profile->counted = profile_counts(profile, at, at->privilege);
	if (error || !profile->options.by_process || !profile->functions)
		return error;
	return function_sums_process(profile->functions, at->pid, at->comm, &profile->process);
}

/* Functions are sums of traces. */
static bool has_traces(const struct ntrace_profile *profile)
{
	return profile->functions || profile->options.parts & NTRACE_PROFILE_TRACES;
}

void ntrace_profile_free(struct ntrace_profile *profile)
{
	size_t i;

	if (!profile)
		return;
	for (i = 0; i < profile->alias_count; i++)
		ntrace_object_put(profile->aliases[i].object);
	leave_stream(profile);
	for (i = 0; i < profile->stream_count; i++)
		free_stream(profile->streams[i]);
	free(profile->streams);
	free(profile->aliases);
	pairs_free(&profile->alias_numbers);
	table_free(&profile->table);
	function_sums_free(profile->functions);
	occupancy_free(profile->occupancy);
	ntrace_locator_free(profile->locator);
	free(profile->edges);
	free(profile);
}

/* Makes the alias of @object the last one. Return: 0 or NTRACE_ERR_NOMEM. */
static int find_alias(struct ntrace_profile *profile, struct ntrace_object *object)
{
	struct ntrace_object *same = NULL;
	uint64_t number;
	bool is_new;
	int error;

	/* Most programs have few: no need for a hash. */
	for (size_t i = 0; i < profile->alias_count && i < 8; i++) {
		if (profile->aliases[i].object != object)
			continue;
		profile->alias_last = i;
		return 0;
	}
	if (grow((void **)&profile->aliases, profile->alias_count, &profile->alias_room,
		 sizeof(*profile->aliases)))
		return NTRACE_ERR_NOMEM;
	number = pairs_number(&profile->alias_numbers, (uintptr_t)object, 0, &is_new);
	if (!number)
		return NTRACE_ERR_NOMEM;
	profile->alias_last = number - 1;
	if (!is_new)
		return 0;
	/* Numbers and aliases are in one order, also if this fails. */
	error = table_object(&profile->table, object, &same);
	profile->aliases[profile->alias_count++] =
		(struct alias){ ntrace_object_get(object), same };
	return error;
}

int profile_find_object(struct ntrace_profile *profile, struct ntrace_object *object,
			struct ntrace_object **same)
{
	int error = 0;

	*same = NULL;
	if (!object)
		return 0;
	if (profile->alias_last >= profile->alias_count ||
	    profile->aliases[profile->alias_last].object != object)
		error = find_alias(profile, object);
	if (!error)
		*same = profile->aliases[profile->alias_last].same;
	return error;
}

int profile_add(struct ntrace_profile *profile, unsigned int privilege,
		struct ntrace_profile_trace *trace)
{
	profile->added++;
	/* The functions of branch stacks are those of user space. */
	trace->privilege = profile->options.by_privilege ||
					   (profile->separate && !profile->sampled) ?
				   (uint8_t)privilege :
				   0;
	return table_add(&profile->table, trace);
}

static int add_run(struct ntrace_profile *profile, struct straight_run *run)
{
	return run->counted ? profile_add(profile, run->privilege, &run->trace) : 0;
}

/* The next run is what @at executes. */
static void assign_run(struct ntrace_profile *profile, const struct ntrace_session_event *at)
{
	struct straight_run *run = &profile->at.run;

	run->pid = at->pid;
	run->tid = at->tid;
	run->privilege = at->privilege;
	run->counted = profile->counted;
}

/* Adds the current run, or a transfer of which only the target is known. */
static int close_run(struct ntrace_profile *profile)
{
	int error = 0;

	if (profile->at.in_run)
		error = add_run(profile, &profile->at.run);
	profile->at.in_run = false;
	return error;
}

/* Begins a run at @address; @profile->at.run.trace holds the transfer that led there. */
static int start_run(struct ntrace_profile *profile, uint64_t address)
{
	struct ntrace_profile_trace *trace = &profile->at.run.trace;
	const struct ntrace_location *place;
	int error;

	place = ntrace_locator_find(profile->locator, profile->at.space, address);
	profile->at.run.bias = address - (place->object ? place->link_address : address);
	profile->at.run.next = address;
	trace->start = address - profile->at.run.bias;
	trace->end = trace->start;
	trace->count = profile->times;
	trace->instructions = 0;
	trace->end_class = NTRACE_INSN_PLAIN;
	trace->taken = false;
	error = profile_find_object(profile, place->object, &trace->object);
	profile->at.in_run = !error;
	profile->at.arrived = false;
	return error;
}

/* The transfer to the next run is unknown. */
static void forget_source(struct ntrace_profile *profile)
{
	profile->at.run.trace.from_object = NULL;
	profile->at.run.trace.from = 0;
	profile->at.run.trace.from_class = NTRACE_INSN_PLAIN;
	profile->at.arrived = false;
	profile->at.trapped = false;
}

/* A trap leads to @address. */
static void note_trap(struct ntrace_profile *profile, uint64_t address)
{
	forget_source(profile);
	profile->at.from_id = 0;
	profile->at.trapped = true;
	profile->at.handler = address;
}

/* A transfer was taken, but no instruction retires at its target: adds a run of no instructions. */
static int end_at_target(struct ntrace_profile *profile)
{
	if (profile->at.arrived && profile->at.target_known)
		return start_run(profile, profile->at.run.next);
	return 0;
}

/* The transfer at the end of the closed run leads to the next one. */
static void note_transfer(struct ntrace_profile *profile, const struct ntrace_flow_event *flow)
{
	struct ntrace_profile_trace *trace = &profile->at.run.trace;

	trace->from_object = trace->object;
	trace->from = trace->end;
	trace->from_class = trace->end_class;
	profile->at.arrived = true;
	profile->at.target_known = flow->next_known;
	profile->at.run.next = flow->next;
}

static void forget_suspended(struct ntrace_profile *profile, size_t i)
{
	profile->stream->suspended_count--;
	memmove(&profile->stream->suspended[i], &profile->stream->suspended[i + 1],
		(profile->stream->suspended_count - i) * sizeof(profile->stream->suspended[0]));
	memmove(&profile->stream->continuations[i], &profile->stream->continuations[i + 1],
		(profile->stream->suspended_count - i) * sizeof(profile->stream->continuations[0]));
}

static bool find_suspended(const struct ntrace_profile *profile,
			   const struct ntrace_session_event *event, uint64_t address,
			   size_t *found)
{
	size_t i;

	/* A handler begins anew. */
	if (profile->at.trapped && profile->at.handler == address)
		return false;
	for (i = profile->stream->suspended_count; i-- > 0;) {
		const struct continuation *at = &profile->stream->continuations[i];
		const struct straight_run *run = &profile->stream->suspended[i];

		if ((at->next == address || at->after_trap == address) && run->tid == event->tid &&
		    run->pid == event->pid && run->privilege == event->privilege) {
			*found = i;
			return true;
		}
	}
	return false;
}

/*
 * A trap interrupts the run, or the hart leaves its privilege. The run can continue only if its
 * thread is known.
 */
static int suspend_run(struct ntrace_profile *profile)
{
	int error = end_at_target(profile);
	size_t i;

	if (profile->leading)
		profile->at.in_run = false;
	if (profile->at.run.tid < 0 && !error)
		error = close_run(profile);
	if (!profile->at.in_run || error) {
		forget_source(profile);
		return error;
	}
	/* An earlier run suspended at the same address did not continue: it went elsewhere. */
	for (i = profile->stream->suspended_count; i-- > 0 && !error;) {
		struct straight_run *run = &profile->stream->suspended[i];

		if (profile->stream->continuations[i].next == profile->at.run.next &&
		    run->tid == profile->at.run.tid &&
		    run->privilege == profile->at.run.privilege) {
			error = add_run(profile, run);
			forget_suspended(profile, i);
		}
	}
	if (profile->stream->suspended_count == SUSPENDED_MAX && !error) {
		error = add_run(profile, &profile->stream->suspended[0]);
		forget_suspended(profile, 0);
	}
	/* All executions but the last one would be pushed out by the next one. */
	if (profile->times > 1 && !error) {
		profile->at.run.trace.count = profile->times - 1;
		error = add_run(profile, &profile->at.run);
		profile->at.run.trace.count = 1;
	}
	profile->stream->continuations[profile->stream->suspended_count] = (struct continuation){
		.next = profile->at.run.next,
		.after_trap =
			profile->at.run.next +
			trapping_size(profile->at.space, &profile->at.isa, profile->at.run.next),
	};
	profile->stream->suspended[profile->stream->suspended_count++] = profile->at.run;
	profile->at.in_run = false;
	forget_source(profile);
	return error;
}

static int close_all(struct ntrace_profile *profile)
{
	int error = end_at_target(profile);
	size_t i;

	if (!error)
		error = close_run(profile);
	for (i = 0; i < profile->stream->suspended_count && !error; i++)
		error = add_run(profile, &profile->stream->suspended[i]);
	profile->stream->suspended_count = 0;
	forget_source(profile);
	return error;
}

/* Whether the block follows the current run in a straight line in the same object. */
static bool goes_on_at(const struct ntrace_profile *profile,
		       const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	const struct ntrace_location *place;

	if (profile->at.run.next != flow->address || profile->at.run.tid != event->tid)
		return false;
	place = ntrace_locator_find(profile->locator, flow->space, flow->address);
	return !place->object || flow->address - place->link_address == profile->at.run.bias;
}

/* Whether the block is the target of the last transfer. */
static bool arrives_at(const struct ntrace_profile *profile,
		       const struct ntrace_session_event *event)
{
	return (!profile->at.target_known || profile->at.run.next == event->flow->address) &&
	       (profile->at.run.tid == event->tid ||
		profile->at.run.trace.from_class == NTRACE_INSN_TRAP_RETURN);
}

/* Finds the run of the block: the current one, an interrupted one, or a new one. */
static int find_run(struct ntrace_profile *profile, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	int error;
	size_t i;

	if (profile->at.in_run && goes_on_at(profile, event))
		return 0;
	if (profile->at.in_run || (profile->at.arrived && !arrives_at(profile, event))) {
		error = suspend_run(profile);
		if (error)
			return error;
	}
	if ((!profile->at.arrived || profile->at.run.trace.from_class == NTRACE_INSN_TRAP_RETURN) &&
	    find_suspended(profile, event, flow->address, &i)) {
		profile->at.run = profile->stream->suspended[i];
		forget_suspended(profile, i);
		profile->at.arrived = false;
		profile->at.in_run = profile->at.run.next == flow->address;
		if (profile->at.in_run)
			return 0;
		/* A system call between the two is no execution: it does not retire. */
		error = add_run(profile, &profile->at.run);
		if (error)
			return error;
	}
	if (!profile->at.arrived)
		forget_source(profile);
	profile->at.run.trace.process = profile->process;
	assign_run(profile, event);
	return start_run(profile, flow->address);
}

static int add_block(struct ntrace_profile *profile, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct ntrace_profile_trace *trace = &profile->at.run.trace;
	int error;

	keep_space(&profile->at.space, flow->space);
	profile->at.isa = *flow->isa;
	error = find_run(profile, event);
	if (error)
		return error;
	trace->end = flow->last - profile->at.run.bias;
	trace->end_class = flow->insn_class;
	trace->instructions += flow->instructions;
	trace->taken = flow->taken;
	profile->at.run.next = flow->last + flow->last_size;
	profile->at.from_id = 0;
	if (!flow->taken)
		return 0;
	error = close_run(profile);
	note_transfer(profile, flow);
	return error;
}

/* Execution stops before the instruction at @address, if @known. */
static void stop_at(struct ntrace_profile *profile, struct ntrace_space *space, bool known,
		    uint64_t address)
{
	keep_space(&profile->at.space, space);
	/* Control had reached the target of the transfer, but the target did not retire. */
	if (profile->at.arrived && !profile->at.target_known && known) {
		profile->at.target_known = true;
		profile->at.run.next = address;
	}
}

static int add_event(struct ntrace_profile *profile, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	int error;

	switch (flow->type) {
	case NTRACE_FLOW_BLOCK:
		return add_block(profile, event);
	case NTRACE_FLOW_TRAP:
		stop_at(profile, flow->space, flow->next_known, flow->value);
		error = suspend_run(profile);
		note_trap(profile, flow->address);
		return error;
	case NTRACE_FLOW_TRACE_OFF:
		stop_at(profile, flow->space, flow->next_known, flow->address);
		/* The hart runs in a privilege that is not traced. */
		if (flow->code == NTRACE_EVCODE_TRACE_DISABLE)
			return suspend_run(profile);
		return close_all(profile);
	case NTRACE_FLOW_GAP:
		return close_all(profile);
	default:
		return 0;
	}
}

int ntrace_profile_event(void *data, const struct ntrace_session_event *event)
{
	struct ntrace_profile *profile = data;
	int error = enter_event(profile, event);

	if (error)
		return error;
	if (profile->functions)
		error = function_sums_event(profile->functions, profile, event);
	if (profile->occupancy && !error)
		error = occupancy_event(profile->occupancy, event);
	return error || !has_traces(profile) ? error : add_event(profile, event);
}

/* ---- batches ---- */

/* Adds a block by its event. */
static int add_one_block(struct ntrace_profile *profile, const struct ntrace_segment *blocks,
			 const struct ntrace_block *block)
{
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	int error;

	ntrace_segment_event(blocks, block, &flow, &event);
	error = add_block(profile, &event);
	profile->at.from_id = profile->at.arrived ? block->id : 0;
	return error;
}

/*
 * The block with which the run from @block on ends: it transfers control, or has no id. @end: none.
 */
static const struct ntrace_block *find_transfer(const struct ntrace_block *block,
						const struct ntrace_block *end)
{
	while (block < end && !(block->flags & NTRACE_BLOCK_TAKEN) && block->id) {
		uint64_t next = block->address + block->bytes;

		block++;
		if (block < end && block->address != next)
			return end;
	}
	return block;
}

static struct known_run *run_entry(struct ntrace_profile *profile, uint32_t from, uint32_t first,
				   uint32_t last)
{
	uint32_t hash = (from * 0x9e3779b1u ^ first) * 0x85ebca6bu ^ last;

	return &profile->stream->known[(hash ^ hash >> 15) % KNOWN_RUNS];
}

/*
 * Adds runs that are known by the ids of their blocks. Each begins with the target of a transfer of
 * the same batch and ends with a transfer. Return: the first block of the rest.
 */
static const struct ntrace_block *add_known_runs(struct ntrace_profile *profile,
						 const struct ntrace_segment *blocks,
						 const struct ntrace_block *block,
						 const struct ntrace_block *end)
{
	const struct ntrace_block *last, *before = NULL;
	uint32_t trace = 0, from = profile->at.from_id;
	uint64_t next = profile->at.run.next;

	while (from && block < end && block->address == next) {
		struct known_run *known;

		last = find_transfer(block, end);
		if (last == end || !last->id || !(last->flags & NTRACE_BLOCK_NEXT_KNOWN))
			break;
		known = run_entry(profile, from, block->id, last->id);
		if (known->from != from || known->first != block->id || known->last != last->id)
			break;
		if (profile->separate &&
		    (profile->table.traces[known->trace].privilege != blocks->at.privilege ||
		     profile->table.traces[known->trace].process != profile->process))
			break;
		trace = known->trace;
		profile->table.traces[trace].count += profile->times;
		before = last;
		from = last->id;
		next = last->next;
		block = last + 1;
	}
	if (before) {
		struct ntrace_profile_trace *run = &profile->at.run.trace;

		*run = profile->table.traces[trace];
		run->from_object = run->object;
		run->from = run->end;
		run->from_class = run->end_class;
		assign_run(profile, &blocks->at);
		profile->at.run.next = next;
		profile->at.from_id = from;
	}
	return block;
}

/* Whether the block is the target of the last transfer, and nothing but this decides its run. */
static bool arrives_plainly(const struct ntrace_profile *profile,
			    const struct ntrace_segment *blocks, const struct ntrace_block *block)
{
	const struct straight_run *run = &profile->at.run;

	return profile->at.arrived && profile->at.target_known && profile->at.from_id &&
	       block->id && run->next == block->address && run->tid == blocks->at.tid &&
	       run->trace.from_class != NTRACE_INSN_TRAP_RETURN;
}

/* Adds the blocks of a run one by one, and remembers its trace. Return: as add_block(). */
static int add_new_run(struct ntrace_profile *profile, const struct ntrace_segment *blocks,
		       const struct ntrace_block **at, const struct ntrace_block *end)
{
	const struct ntrace_block *block = *at, *last = find_transfer(block, end);
	bool plain = last < end && last->id && arrives_plainly(profile, blocks, block);
	struct known_run known = { profile->at.from_id, block->id, last < end ? last->id : 0, 0 };
	uint64_t from = profile->at.run.trace.from, added = profile->added, instructions = 0;
	const struct ntrace_profile_trace *trace;
	int error = 0;

	if (last < end)
		last++;
	for (; block < last && !error; block++) {
		instructions += block->instructions;
		error = add_one_block(profile, blocks, block);
	}
	*at = last;
	if (error || !plain || profile->added != added + 1)
		return error;
	/* A run that crosses the border between two objects has several traces. */
	trace = &profile->table.traces[profile->table.last];
	known.trace = (uint32_t)profile->table.last;
	if (trace->from == from && trace->instructions == instructions && trace->taken)
		*run_entry(profile, known.from, known.first, known.last) = known;
	return 0;
}

/*
 * Nothing of the batch is counted: goes on to its last run, of which only the target matters, or to
 * the first one that ends with a return from a trap: it may continue an interrupted run.
 */
static const struct ntrace_block *skip_runs(struct ntrace_profile *profile,
					    const struct ntrace_segment *blocks,
					    const struct ntrace_block *block,
					    const struct ntrace_block *end)
{
	const struct ntrace_block *last = block;

	if (!arrives_plainly(profile, blocks, block))
		return block;
	while (last + 1 < end && last->insn_class != NTRACE_INSN_TRAP_RETURN)
		last++;
	while (last > block && !(last[-1].flags & NTRACE_BLOCK_TAKEN))
		last--;
	if (last == block || !last[-1].id || !(last[-1].flags & NTRACE_BLOCK_NEXT_KNOWN))
		return block;
	profile->at.run.next = last[-1].next;
	profile->at.run.trace.from_class = last[-1].insn_class;
	profile->at.from_id = last[-1].id;
	return last;
}

static int add_batch(struct ntrace_profile *profile, const struct ntrace_segment *blocks)
{
	bool counted = profile->counted;
	const struct ntrace_block *block = blocks->batch->blocks, *end;
	int error;

	if (!profile->stream->known)
		profile->stream->known = calloc(KNOWN_RUNS, sizeof(*profile->stream->known));
	if (!profile->stream->known)
		return NTRACE_ERR_NOMEM;
	end = block + blocks->batch->count;
	error = add_new_run(profile, blocks, &block, end);
	while (block < end && !error) {
		if (!counted)
			block = skip_runs(profile, blocks, block, end);
		else if (arrives_plainly(profile, blocks, block))
			block = add_known_runs(profile, blocks, block, end);
		if (block < end)
			error = add_new_run(profile, blocks, &block, end);
	}
	return error;
}

/* ---- effects ---- */

/* Makes the place after the lead of @effect the current one. */
static int replay_lead(struct ntrace_profile *profile, const struct ntrace_segment *effect)
{
	const struct ntrace_segment *blocks = effect;
	const struct ntrace_block *source = blocks->batch->blocks;
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	int error;

	ntrace_segment_event(blocks, source, &flow, &event);
	keep_space(&profile->at.space, flow.space);
	profile->at.isa = *flow.isa;
	forget_source(profile);
	profile->at.run.trace.process = profile->process;
	assign_run(profile, &blocks->at);
	error = start_run(profile, flow.address);
	profile->at.in_run = false;
	profile->at.run.trace.end = flow.last - profile->at.run.bias;
	profile->at.run.trace.end_class = flow.insn_class;
	note_transfer(profile, &flow);
	profile->at.from_id = source->id;
	profile->leading = true;
	for (size_t i = 1; i < effect->lead && !error; i++)
		error = add_one_block(profile, blocks, &source[i]);
	profile->leading = false;
	return error;
}

static int add_effect(struct ntrace_profile *profile, const struct ntrace_segment *effect)
{
	const struct ntrace_block_batch *batch = effect->batch;
	const struct profile_place kept = profile->at;
	struct ntrace_segment blocks = *effect;
	struct ntrace_block_batch rest = *batch;
	int error = 0;

	/* A run in progress goes on in effects, which count it. */
	profile->at.in_run = false;
	if (!effect->times)
		return effect->lead ? replay_lead(profile, effect) : 0;
	if (kept.space)
		ntrace_space_get(kept.space);
	profile->times = effect->times;
	if (effect->lead)
		error = replay_lead(profile, effect);
	else
		note_trap(profile, batch->blocks->address);
	rest.blocks += effect->lead;
	rest.count -= effect->lead;
	blocks.batch = &rest;
	if (!error && rest.count)
		error = add_batch(profile, &blocks);
	profile->times = 1;
	if (profile->at.space)
		ntrace_space_put(profile->at.space);
	profile->at = kept;
	return error;
}

int ntrace_profile_segment(void *data, const struct ntrace_segment *segment)
{
	struct ntrace_profile *profile = data;
	bool sum = segment->type == NTRACE_SEGMENT_SUM;
	int error;

	if (segment->type == NTRACE_SEGMENT_RUN)
		return profile->occupancy ? occupancy_segment(profile->occupancy, segment) : 0;
	error = enter_event(profile, &segment->at);
	if (profile->functions && !error)
		function_sums_segment(profile->functions, profile, segment);
	if (profile->occupancy && !sum && !error)
		error = occupancy_segment(profile->occupancy, segment);
	if (error || !has_traces(profile))
		return error;
	return sum ? add_effect(profile, segment) : add_batch(profile, segment);
}

int ntrace_profile_end(struct ntrace_profile *profile)
{
	int error = 0;

	for (unsigned int i = 0; i < profile->stream_count; i++) {
		struct profile_stream *stream = profile->streams[i];

		if (!stream)
			continue;
		if (!error)
			error = enter_stream(profile, i);
		if (!error)
			error = close_all(profile);
		leave_stream(profile);
		free_stream(stream);
		profile->streams[i] = NULL;
	}
	if (profile->occupancy && !error)
		error = occupancy_end(profile->occupancy);
	return profile->functions && !error ? function_sums_make(profile->functions, profile) :
					      error;
}
