// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sums instructions, calls and branches of functions, and totals, from the events of a session. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>
#include <ntrace/transfer.h>

#include "functions.h"
#include "parts.h"
#include "select.h"

#define NO_FUNCTION SIZE_MAX
#define BLOCK_ENTRIES (1u << 16)
#define NO_INDEX UINT32_MAX

/*
 * Executions of a block that are not in the functions yet. Ids ascend, so that the blocks in use
 * spread over the entries; an entry that goes to another block is added up first.
 * @id: of the block; 0 = free
 * @privilege, @pid: parts of the key of @function
 * @function: index, NO_INDEX: the block covers several functions
 * @to: last target of the transfer at its end
 * @callee: function that begins there, NO_INDEX = the transfer is no call
 * @calls: transfers to @to
 */
struct block_sums {
	uint64_t executed;
	uint64_t taken;
	uint64_t calls;
	uint64_t to;
	uint32_t id;
	uint32_t function;
	uint32_t callee;
	uint32_t instructions;
	int32_t pid;
	uint32_t privilege;
};

/*
 * @functions: functions with their executed instructions
 * @pc_samples: functions with their PC samples
 * @problem_objects: names that the totals point to; owned
 * @times: number of executions that a block stands for
 */
struct function_sums {
	bool by_process;
	int32_t pid;
	uint32_t privileges;
	uint64_t times;
	struct function_table functions;
	struct function_table pc_samples;
	struct ntrace_profile_totals totals;
	char *problem_objects[2 * NTRACE_PROFILE_PROBLEMS];
	size_t problem_object_count;
	struct ntrace_locator *locator;
	struct function_stream *at;	/* the present stream, NULL: none */
	struct function_stream *streams;	/* those that have not ended */
};

static const struct ntrace_profile_totals no_totals;

unsigned int ntrace_domain_of(unsigned int privilege)
{
	switch (privilege) {
	case NTRACE_PRIV_U:
		return NTRACE_DOMAIN_USER;
	case NTRACE_PRIV_S:
		return NTRACE_DOMAIN_KERNEL;
	case NTRACE_PRIV_M:
		return NTRACE_DOMAIN_FIRMWARE;
	/* Guests are counted separately from this machine's user programs and kernel. */
	default:
		return NTRACE_DOMAIN_OTHER;
	}
}

const char *ntrace_domain_name(unsigned int domain)
{
	static const char *const names[NTRACE_DOMAINS] = {
		[NTRACE_DOMAIN_USER] = "user",
		[NTRACE_DOMAIN_KERNEL] = "kernel",
		[NTRACE_DOMAIN_FIRMWARE] = "firmware",
		[NTRACE_DOMAIN_OTHER] = "other",
	};

	return domain < NTRACE_DOMAINS ? names[domain] : NULL;
}

struct function_sums *function_sums_new(const struct ntrace_profile_options *options)
{
	struct function_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return NULL;
	sums->times = 1;
	sums->by_process = options->by_process;
	sums->pid = options->pid;
	sums->privileges = options->privileges;
	sums->locator = ntrace_locator_new();
	if (!sums->locator) {
		function_sums_free(sums);
		return NULL;
	}
	return sums;
}

void function_sums_free(struct function_sums *sums)
{
	if (!sums)
		return;
	function_table_free(&sums->functions);
	function_table_free(&sums->pc_samples);
	while (sums->problem_object_count)
		free(sums->problem_objects[--sums->problem_object_count]);
	ntrace_locator_free(sums->locator);
	free(sums);
}

/* Finds or adds the function at a location. */
static int function_at(struct function_sums *sums, struct function_table *table,
		       struct ntrace_profile *profile, const struct ntrace_location *place,
		       const struct ntrace_session_event *event, size_t *index)
{
	int32_t pid = sums->by_process ? event->pid : -1;
	struct function_key key = {
		.name = place->function,
		.comm = pid < 0 ? "" : event->comm,
		.start = place->function_start,
		.privilege = event->privilege,
		.pid = pid,
	};
	int error = profile_find_object(profile, place->object, &key.object);

	return error ? error : function_table_find(table, &key, index);
}

/* Splits a block that covers several functions. */
struct split_block {
	struct function_sums *sums;
	struct ntrace_profile *profile;
	const struct ntrace_session_event *event;
	size_t function;
	int error;
};

static int count_instruction(void *data, uint64_t address, const uint8_t *bytes,
			     const struct ntrace_insn *insn)
{
	struct split_block *block = data;
	struct function_sums *sums = block->sums;

	(void)bytes;
	(void)insn;
	block->error =
		function_at(sums, &sums->functions, block->profile,
			    ntrace_locator_find(sums->locator, block->event->flow->space, address),
			    block->event, &block->function);
	if (block->error)
		return 1;
	sums->functions.items[block->function].instructions += sums->times;
	sums->totals.selected += sums->times;
	return 0;
}

static int count_split_block(struct function_sums *sums, struct ntrace_profile *profile,
			     const struct ntrace_session_event *event)
{
	struct split_block block = {
		.sums = sums, .profile = profile, .event = event, .function = NO_FUNCTION
	};

	ntrace_flow_instructions(event->flow, count_instruction, &block);
	if (!block.error && event->flow->taken && block.function != NO_FUNCTION)
		sums->functions.items[block.function].branches += sums->times;
	return block.error;
}

static int count_block(struct function_sums *sums, struct ntrace_profile *profile,
		       const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	const struct ntrace_location first =
		*ntrace_locator_find(sums->locator, flow->space, flow->address);
	struct ntrace_profile_function *function;
	size_t index;
	int error;

	if (!ntrace_location_same_function(&first, ntrace_locator_find(sums->locator, flow->space,
								       flow->last)))
		return count_split_block(sums, profile, event);
	error = function_at(sums, &sums->functions, profile, &first, event, &index);
	if (error)
		return error;
	function = &sums->functions.items[index];
	function->instructions += sums->times * flow->instructions;
	function->branches += sums->times * flow->taken;
	sums->totals.selected += sums->times * flow->instructions;
	return 0;
}

/*
 * Whether the target of a call is code of another space, which only the next block has. Code that several
 * tasks share may be all that is known of them: then each file has a space of its own. The transfer, which
 * ntrace_transfer_start() returned, waits for the block.
 */
static bool waits_for_space(struct function_sums *sums, const struct ntrace_session_event *event,
			    const struct ntrace_transfer *transfer)
{
	if (transfer->insn_class == NTRACE_INSN_RETURN ||
	    transfer->insn_class == NTRACE_INSN_TRAP_RETURN)
		return false;
	sums->at->transfers.pending =
		!ntrace_locator_find(sums->locator, event->flow->space, transfer->to)->object;
	return sums->at->transfers.pending;
}

static bool is_return(unsigned int insn_class)
{
	return insn_class == NTRACE_INSN_RETURN || insn_class == NTRACE_INSN_TRAP_RETURN;
}

bool transfer_calls(unsigned int insn_class, const struct ntrace_location *from,
		    const struct ntrace_location *to)
{
	if (is_return(insn_class) || !to->symbol || to->link_address != to->symbol_start)
		return false;
	if (!ntrace_insn_is_call(insn_class))
		return ntrace_location_is_entry(to) && !ntrace_location_same_function(from, to);
	return to->symbol_start == to->function_start || to->symbol_start == from->symbol_start ||
	       !ntrace_location_same_function(from, to);
}

/* The function that a transfer calls, NO_FUNCTION = it is no call. */
static int find_callee(struct function_sums *sums, struct ntrace_profile *profile,
		       const struct ntrace_session_event *event,
		       const struct ntrace_transfer *transfer, size_t *function)
{
	struct ntrace_space *space = event->flow->space;
	struct ntrace_location to;

	*function = NO_FUNCTION;
	if (is_return(transfer->insn_class))
		return 0;
	to = *ntrace_locator_find(sums->locator, space, transfer->to);
	if (!transfer_calls(transfer->insn_class,
			    ntrace_locator_find(sums->locator, space, transfer->from), &to))
		return 0;
	return function_at(sums, &sums->functions, profile, &to, event, function);
}

static int count_call(struct function_sums *sums, struct ntrace_profile *profile,
		      const struct ntrace_session_event *event,
		      const struct ntrace_transfer *transfer)
{
	size_t function;
	int error = find_callee(sums, profile, event, transfer, &function);

	if (!error && function != NO_FUNCTION)
		sums->functions.items[function].calls += sums->times;
	return error;
}

static int name_problem(struct function_sums *sums, struct ntrace_profile_problem *problem,
			const char *object)
{
	char *name = strdup(object);

	if (!name)
		return NTRACE_ERR_NOMEM;
	sums->problem_objects[sums->problem_object_count++] = name;
	problem->object = name;
	return 0;
}

static int count_problem(struct function_sums *sums, struct ntrace_profile_problem *kinds,
			 const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct ntrace_profile_problem *problem = &kinds[flow->code % NTRACE_PROFILE_PROBLEMS];
	const struct ntrace_location *place;

	if (problem->count++)
		return 0;
	problem->address = flow->address;
	problem->offset = flow->offset;
	problem->stream = event->stream;
	place = ntrace_locator_find(sums->locator, flow->space, flow->address);
	return place->object ? name_problem(sums, problem, ntrace_object_name(place->object)) : 0;
}

static int count_pc_sample(struct function_sums *sums, struct ntrace_profile *profile,
			   const struct ntrace_session_event *event, bool selected)
{
	const struct ntrace_flow_event *flow = event->flow;
	size_t function;
	int error;

	if (!flow->next_known) {
		sums->totals.unplaced_samples++;
		return 0;
	}
	if (!selected)
		return 0;
	error = function_at(sums, &sums->pc_samples, profile,
			    ntrace_locator_find(sums->locator, flow->space, flow->address), event,
			    &function);
	if (error)
		return error;
	sums->pc_samples.items[function].instructions++;
	sums->totals.samples++;
	return 0;
}

static int count_other(struct function_sums *sums, struct ntrace_profile *profile,
		       const struct ntrace_session_event *event, bool selected)
{
	struct ntrace_profile_totals *totals = &sums->totals;

	switch (event->flow->type) {
	case NTRACE_FLOW_TRAP:
		totals->traps++;
		totals->exceptions += event->flow->code == NTRACE_BTYPE_EXCEPTION;
		totals->interrupts += event->flow->code == NTRACE_BTYPE_INTERRUPT;
		return 0;
	case NTRACE_FLOW_TRACE_OFF:
		totals->trace_off++;
		totals->hardware_ends += event->flow->code != NTRACE_EVCODE_TRACE_DISABLE;
		return 0;
	case NTRACE_FLOW_GAP:
		totals->gaps++;
		return 0;
	case NTRACE_FLOW_ERROR:
		return count_problem(sums, totals->errors, event);
	case NTRACE_FLOW_WARNING:
		return count_problem(sums, totals->warnings, event);
	case NTRACE_FLOW_CIRCUIT:
		return event->flow->code == NTRACE_CKSRC_PC_SAMPLE ?
			       count_pc_sample(sums, profile, event, selected) :
			       0;
	default:
		return 0;
	}
}

int function_sums_event(struct function_sums *sums, struct ntrace_profile *profile,
			const struct ntrace_session_event *event)
{
	bool selected = is_selected(sums->pid, sums->privileges, event->pid, event->privilege);
	const struct ntrace_flow_event *flow = event->flow;
	struct ntrace_transfer transfer;
	int error = 0;

	if (ntrace_transfer_resolve(&sums->at->transfers, flow, &transfer) && selected)
		error = count_call(sums, profile, event, &transfer);
	if (error)
		return error;
	if (flow->type == NTRACE_FLOW_BLOCK) {
		sums->totals.instructions[ntrace_domain_of(event->privilege)] +=
			sums->times * flow->instructions;
		if (selected)
			error = count_block(sums, profile, event);
	} else {
		error = count_other(sums, profile, event, selected);
	}
	if (!error && ntrace_transfer_start(&sums->at->transfers, flow, &transfer) && selected &&
	    !waits_for_space(sums, event, &transfer))
		error = count_call(sums, profile, event, &transfer);
	return error;
}

/* ---- batches ---- */

static void fold_calls(struct function_sums *sums, struct block_sums *block)
{
	if (block->callee != NO_INDEX)
		sums->functions.items[block->callee].calls += block->calls;
	block->calls = 0;
}

/* Adds the executions of a block to its function. */
static void fold_block(struct function_sums *sums, struct block_sums *block)
{
	struct ntrace_profile_function *function;

	if (block->id && block->function != NO_INDEX) {
		function = &sums->functions.items[block->function];
		function->instructions += block->executed * block->instructions;
		function->branches += block->taken;
	}
	if (block->id)
		fold_calls(sums, block);
	block->id = 0;
}

/* Ids and indices of functions change after this. */
static void fold_blocks(struct function_sums *sums)
{
	const struct function_stream *stream;

	for (stream = sums->streams; stream; stream = stream->next)
		for (size_t i = 0; stream->blocks && i < BLOCK_ENTRIES; i++)
			fold_block(sums, &stream->blocks[i]);
}

/* Forgets what is not in the functions yet. */
static void drop_blocks(struct function_sums *sums)
{
	const struct function_stream *stream;

	for (stream = sums->streams; stream; stream = stream->next)
		if (stream->blocks)
			memset(stream->blocks, 0, BLOCK_ENTRIES * sizeof(*stream->blocks));
}

/* The entry is of another block: makes it that of @block. */
static int take_entry(struct function_sums *sums, struct ntrace_profile *profile,
		      const struct ntrace_segment *blocks, const struct ntrace_block *block,
		      struct block_sums *entry)
{
	struct ntrace_space *space = blocks->batch->space;
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	struct ntrace_location first;
	size_t function;
	int error;

	fold_block(sums, entry);
	ntrace_segment_event(blocks, block, &flow, &event);
	first = *ntrace_locator_find(sums->locator, space, flow.address);
	*entry = (struct block_sums){ .function = NO_INDEX,
				      .callee = NO_INDEX,
				      .to = block->address | 1,
				      .instructions = block->instructions,
				      .pid = sums->by_process ? blocks->at.pid : -1,
				      .privilege = blocks->at.privilege };
	if (ntrace_location_same_function(&first,
					  ntrace_locator_find(sums->locator, space, flow.last))) {
		error = function_at(sums, &sums->functions, profile, &first, &event, &function);
		if (error)
			return error;
		entry->function = (uint32_t)function;
	}
	entry->id = block->id;
	return 0;
}

/* The transfer at the end of the block goes to another target than the last time. */
static int take_target(struct function_sums *sums, struct ntrace_profile *profile,
		       const struct ntrace_segment *blocks, const struct ntrace_block *block,
		       struct block_sums *entry)
{
	struct ntrace_session_event event;
	struct ntrace_transfer transfer;
	struct ntrace_flow_event flow;
	size_t function = NO_FUNCTION;
	int error = 0;

	ntrace_segment_event(blocks, block, &flow, &event);
	if (!ntrace_transfer_start(&sums->at->transfers, &flow, &transfer) ||
	    waits_for_space(sums, &event, &transfer))
		return 0;
	fold_calls(sums, entry);
	error = find_callee(sums, profile, &event, &transfer, &function);
	entry->to = block->next;
	entry->callee = function == NO_FUNCTION ? NO_INDEX : (uint32_t)function;
	entry->calls = sums->times;
	return error;
}

/* A block that cannot be counted by its id. */
static int count_alone(struct function_sums *sums, struct ntrace_profile *profile,
		       const struct ntrace_segment *blocks, const struct ntrace_block *block)
{
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;

	ntrace_segment_event(blocks, block, &flow, &event);
	return function_sums_event(sums, profile, &event);
}

static int count_selected(struct function_sums *sums, struct ntrace_profile *profile,
			  const struct ntrace_segment *blocks)
{
	const struct ntrace_block *block = blocks->batch->blocks, *end;
	const struct function_stream *at = sums->at;
	int32_t pid = sums->by_process ? blocks->at.pid : -1;
	uint64_t instructions = 0;
	int error = 0;

	for (end = block + blocks->batch->count; block < end && !error; block++) {
		struct block_sums *entry = &at->blocks[block->id % BLOCK_ENTRIES];

		if (!block->id || at->transfers.pending) {
			error = count_alone(sums, profile, blocks, block);
			continue;
		}
		if (entry->id != block->id || entry->privilege != blocks->at.privilege ||
		    entry->pid != pid) {
			error = take_entry(sums, profile, blocks, block, entry);
			if (error)
				break;
		}
		if (entry->function == NO_INDEX) {
			error = count_alone(sums, profile, blocks, block);
			continue;
		}
		instructions += sums->times * block->instructions;
		entry->executed += sums->times;
		if (!(block->flags & NTRACE_BLOCK_TAKEN))
			continue;
		entry->taken += sums->times;
		if (block->flags & NTRACE_BLOCK_NEXT_KNOWN && block->next == entry->to)
			entry->calls += sums->times;
		else if (block->insn_class != NTRACE_INSN_RETURN)
			error = take_target(sums, profile, blocks, block, entry);
	}
	sums->totals.instructions[ntrace_domain_of(blocks->at.privilege)] += instructions;
	sums->totals.selected += instructions;
	return error;
}

int function_sums_blocks(struct function_sums *sums, struct ntrace_profile *profile,
			 const struct ntrace_segment *blocks)
{
	bool selected =
		is_selected(sums->pid, sums->privileges, blocks->at.pid, blocks->at.privilege);
	const struct ntrace_block *block = blocks->batch->blocks, *end;
	int error = 0;

	if (!sums->at->blocks)
		sums->at->blocks = calloc(BLOCK_ENTRIES, sizeof(*sums->at->blocks));
	if (!sums->at->blocks)
		return NTRACE_ERR_NOMEM;
	if (selected)
		return count_selected(sums, profile, blocks);
	/* Only the last transfer can still be without its target. */
	end = block + blocks->batch->count - 1;
	for (; block < end; block++)
		sums->totals.instructions[ntrace_domain_of(blocks->at.privilege)] +=
			sums->times * block->instructions;
	sums->at->transfers.pending = false;
	error = count_alone(sums, profile, blocks, end);
	return error;
}

int function_sums_effect(struct function_sums *sums, struct ntrace_profile *profile,
			 const struct ntrace_segment *effect)
{
	const struct ntrace_transfer_tracker transfers = sums->at->transfers;
	struct ntrace_segment blocks = *effect;
	struct ntrace_block_batch rest = *blocks.batch;
	int error;

	/* The targets of all counted transfers are known, and in the same space. */
	sums->at->transfers.pending = false;
	if (!effect->times || rest.count == effect->lead)
		return 0;
	rest.blocks += effect->lead;
	rest.count -= effect->lead;
	blocks.batch = &rest;
	sums->times = effect->times;
	error = function_sums_blocks(sums, profile, &blocks);
	sums->times = 1;
	sums->at->transfers = transfers;
	return error;
}

void function_sums_enter(struct function_sums *sums, struct function_stream *at)
{
	sums->at = at;
	if (at->open)
		return;
	at->open = true;
	at->next = sums->streams;
	sums->streams = at;
}

void function_sums_leave(struct function_sums *sums, struct function_stream *at)
{
	struct function_stream **link = &sums->streams;

	fold_blocks(sums);
	while (*link && *link != at)
		link = &(*link)->next;
	if (*link)
		*link = at->next;
	sums->at = NULL;
	free(at->blocks);
	*at = (struct function_stream){ 0 };
}

int function_sums_from_traces(struct function_sums *sums, struct ntrace_profile *profile)
{
	function_table_free(&sums->functions);
	drop_blocks(sums);
	sums->totals.selected = 0;
	sums->totals.instructions[NTRACE_DOMAIN_USER] = 0;
	return functions_of_traces(&sums->functions, &sums->totals, profile);
}

/* ---- merging ---- */

static int merge_table(struct function_table *into, struct ntrace_profile *profile,
		       const struct function_table *from)
{
	size_t i, index;
	int error = 0;

	for (i = 0; i < from->count && !error; i++) {
		const struct ntrace_profile_function *item = &from->items[i];
		struct function_key key = { .name = item->name,
					    .comm = item->comm,
					    .start = item->start,
					    .privilege = item->privilege,
					    .pid = item->pid };

		error = profile_find_object(profile, item->object, &key.object);
		if (!error)
			error = function_table_find(into, &key, &index);
		if (error)
			return error;
		into->items[index].instructions += item->instructions;
		into->items[index].calls += item->calls;
		into->items[index].branches += item->branches;
		into->items[index].total += item->total;
		into->items[index].ticks += item->ticks;
		into->items[index].total_ticks += item->total_ticks;
	}
	return error;
}

static int merge_problems(struct function_sums *sums, struct ntrace_profile_problem *into,
			  const struct ntrace_profile_problem *from)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < NTRACE_PROFILE_PROBLEMS && !error; i++) {
		uint64_t count = into[i].count + from[i].count;

		if (!into[i].count) {
			into[i] = from[i];
			into[i].object = NULL;
			if (from[i].object)
				error = name_problem(sums, &into[i], from[i].object);
		}
		into[i].count = count;
	}
	return error;
}

int function_sums_merge(struct function_sums *sums, struct ntrace_profile *profile,
			const struct function_sums *from)
{
	struct ntrace_profile_totals *into = &sums->totals;
	unsigned int i;
	int error;

	for (i = 0; i < NTRACE_DOMAINS; i++)
		into->instructions[i] += from->totals.instructions[i];
	into->selected += from->totals.selected;
	into->exceptions += from->totals.exceptions;
	into->interrupts += from->totals.interrupts;
	into->traps += from->totals.traps;
	into->trace_off += from->totals.trace_off;
	into->hardware_ends += from->totals.hardware_ends;
	into->gaps += from->totals.gaps;
	into->samples += from->totals.samples;
	into->unplaced_samples += from->totals.unplaced_samples;
	error = merge_problems(sums, into->errors, from->totals.errors);
	if (!error)
		error = merge_problems(sums, into->warnings, from->totals.warnings);
	if (!error)
		error = merge_table(&sums->functions, profile, &from->functions);
	return error ? error : merge_table(&sums->pc_samples, profile, &from->pc_samples);
}

/* ---- results ---- */

struct function_table *profile_function_table(struct ntrace_profile *profile)
{
	struct function_sums *sums = profile_functions(profile);

	return sums ? &sums->functions : NULL;
}

const struct ntrace_profile_function *ntrace_profile_functions(struct ntrace_profile *profile,
							       unsigned int order, size_t *count)
{
	struct function_sums *sums = profile_functions(profile);

	*count = 0;
	if (!sums)
		return NULL;
	fold_blocks(sums);
	function_table_sort(&sums->functions, order);
	*count = sums->functions.count;
	return sums->functions.items;
}

const struct ntrace_profile_function *ntrace_profile_pc_samples(struct ntrace_profile *profile,
								unsigned int order, size_t *count)
{
	struct function_sums *sums = profile_functions(profile);

	*count = 0;
	if (!sums)
		return NULL;
	function_table_sort(&sums->pc_samples, order);
	*count = sums->pc_samples.count;
	return sums->pc_samples.items;
}

const struct ntrace_profile_totals *ntrace_profile_totals(const struct ntrace_profile *profile)
{
	const struct function_sums *sums = profile_functions(profile);

	return sums ? &sums->totals : &no_totals;
}
