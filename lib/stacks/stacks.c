// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The receiver of events and segments, and the results; thread.h has the picture. */
#include <stdlib.h>
#include <string.h>

#include "hold.h"
#include "profile/select.h"
#include "run.h"
#include "struct_size.h"
#include "transfer.h"
#include "upper.h"

#define DEPTH_DEFAULT 512
#define NODES_DEFAULT 4000000

static struct hart new_hart(uint32_t stream)
{
	return (struct hart){ .stream = stream, .clock.stamps.offset = UINT64_MAX };
}

int ntrace_stacks_new(struct ntrace_stacks **stacks, const struct ntrace_stacks_options *options)
{
	const struct tree_function unknown = { .name = (char *)"[unknown]",
					       .kind = NTRACE_STACK_UNKNOWN };
	const struct tree_function moved = { .name = (char *)"[moved, order unknown]",
					     .kind = NTRACE_STACK_UNKNOWN };
	struct ntrace_stacks *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	if (options && STRUCT_TAKE(&made->options, options)) {
		free(made);
		return NTRACE_ERR_INVALID;
	}
	if (!made->options.depth)
		made->options.depth = DEPTH_DEFAULT;
	if (!made->options.nodes)
		made->options.nodes = NODES_DEFAULT;
	/* A thread and a function need entries, and arrays are sized by these numbers. */
	if (made->options.depth < 2 || made->options.depth > FRAMES_MAX ||
	    made->options.nodes > UINT32_MAX / 4) {
		free(made);
		return NTRACE_ERR_INVALID;
	}
	made->hart = new_hart(0);
	made->upper.visit = 1;
	made->memo = calloc(MEMO_ENTRIES, sizeof(*made->memo));
	error = made->memo ? tree_init(&made->tree, made->options.depth, made->options.nodes) :
			     NTRACE_ERR_NOMEM;
	if (!error)
		error = tree_function(&made->tree, &unknown, &made->unknown);
	if (!error)
		error = tree_function(&made->tree, &moved, &made->moved);
	if (error)
		ntrace_stacks_free(made);
	else
		*stacks = made;
	return error;
}

/* Makes @hart one whose stream has not begun. */
static void leave_hart(struct hart *hart)
{
	ntrace_space_put(hart->space);
	free(hart->clock.queue);
	*hart = new_hart(hart->stream);
}

/* Makes room for the hart of @stream. */
static int grow_harts(struct ntrace_stacks *stacks, uint32_t stream)
{
	struct hart *harts = realloc(stacks->harts, (stream + (size_t)1) * sizeof(*harts));

	if (!harts)
		return NTRACE_ERR_NOMEM;
	stacks->harts = harts;
	while (stacks->hart_count <= stream) {
		harts[stacks->hart_count] = new_hart(stacks->hart_count);
		stacks->hart_count++;
	}
	return 0;
}

int stacks_change_stream(struct ntrace_stacks *stacks, uint32_t stream)
{
	uint32_t last = stacks->hart.stream, most = last > stream ? last : stream;

	if (last != stream) {
		if (most >= stacks->hart_count && grow_harts(stacks, most))
			return NTRACE_ERR_NOMEM;
		stacks->elsewhere += stacks->hart.clock.position;
		stacks->harts[last] = stacks->hart;
		stacks->hart = stacks->harts[stream];
		stacks->elsewhere -= stacks->hart.clock.position;
		stacks->harts[stream] = new_hart(stream);
	}
	if (!stacks->hart.ids)
		stacks->hart.ids = stacks->ids += STREAM_IDS;
	return 0;
}

void ntrace_stacks_free(struct ntrace_stacks *stacks)
{
	if (!stacks)
		return;
	threads_free(stacks);
	for (unsigned int i = 0; i < stacks->hart_count; i++)
		leave_hart(&stacks->harts[i]);
	leave_hart(&stacks->hart);
	free(stacks->harts);
	report_free(&stacks->report);
	tree_free(&stacks->tree);
	inline_free(stacks);
	run_free(stacks);
	upper_free(stacks);
	hold_free(&stacks->hold);
	free(stacks->known);
	free(stacks->memo);
	free(stacks);
}

/* Splits a block that covers several functions. */
struct split {
	struct ntrace_stacks *stacks;
	struct thread *thread;
	struct ntrace_space *space;
	uint64_t left;
	int error;
};

static int count_instructions(struct ntrace_stacks *stacks, struct thread *thread, uint32_t chain,
			      uint32_t instructions)
{
	const struct stack *stack = &thread->stack;
	struct frame *frame = stack_top(thread);
	uint32_t node;
	int error = 0;

	if (frame->chain != chain)
		error = inline_enter(stacks, tree_of(stacks, stack), frame, chain);
	if (error)
		return error;
	node = frame->shown ? frame->inner : 0;
	if (node) {
		error = node_add(stacks, stack, node, instructions, 0);
		stacks->stats.instructions += instructions;
		thread->instructions += instructions;
		if (!error)
			error = run_count(stacks, node, instructions, 0);
		if (!error && stack->bottom && stacks->hart.clock.stamps.time_known)
			error = upper_find(stacks, stack, &node);
		if (error)
			return error;
	}
	return clock_count(stacks, node, instructions);
}

static int count_instruction(void *data, uint64_t address, const uint8_t *bytes,
			     const struct ntrace_insn *insn)
{
	struct split *split = data;
	struct code_place place = { 0 };

	(void)bytes;
	(void)insn;
	split->error = stack_enter_adjacent(split->stacks, split->thread, split->space, address);
	if (!split->error && split->stacks->options.inlined)
		split->error = code_place_at(split->stacks, split->space, address, &place);
	if (!split->error)
		split->error = count_instructions(split->stacks, split->thread, place.chain, 1);
	split->left--;
	return split->error;
}

/* Counts a block inside one function. */
static int count_pieces(struct ntrace_stacks *stacks, struct thread *thread,
			const struct ntrace_flow_event *flow)
{
	const struct inline_piece *pieces;
	uint32_t left = flow->instructions;
	size_t number, i;
	int error;

	if (!stacks->options.inlined || !stack_top(thread)->shown)
		return count_instructions(stacks, thread, 0, left);
	error = inline_pieces(stacks, flow, &pieces, &number);
	for (i = 0; i < number && !error; i++) {
		left -= pieces[i].instructions;
		error = count_instructions(stacks, thread, pieces[i].chain, pieces[i].instructions);
	}
	/* Should not happen; count the rest anyway. */
	return error || !left ? error : count_instructions(stacks, thread, 0, left);
}

static int count_block(struct ntrace_stacks *stacks, struct thread *thread,
		       const struct ntrace_flow_event *flow)
{
	const struct frame *frame = stack_top(thread);
	struct split split = {
		.stacks = stacks, .thread = thread, .space = flow->space, .left = flow->instructions
	};
	struct code_place last;
	int error;

	if (flow->last >= frame->low && flow->last < frame->high)
		return count_pieces(stacks, thread, flow);
	error = code_place_at(stacks, flow->space, flow->last, &last);
	if (error)
		return error;
	if (last.function == frame->function)
		return count_pieces(stacks, thread, flow);
	ntrace_flow_instructions(flow, count_instruction, &split);
	/* Should not happen; count the rest anyway. */
	if (!split.error && split.left)
		split.error = count_instructions(stacks, thread, 0, (uint32_t)split.left);
	return split.error;
}

/* Whether @thread executes the next code as it did the last, so that there is nothing to resume. */
static bool continues_plainly(const struct ntrace_stacks *stacks, const struct thread *thread,
			      const struct ntrace_session_event *event)
{
	const struct hart *hart = &stacks->hart;

	return thread == hart->current && thread->stream == hart->stream &&
	       thread->epoch == hart->epoch && thread->turn == event->turn && !thread->renamed &&
	       (thread->program == event->program || !event->program) && !hart->paused;
}

/*
 * The thread executes the next code, perhaps after another one, or in another turn. Afterwards it is the
 * current one, and stack_arrive() finds out where it is. @found: with the number of @event; set to the one that
 * has got it.
 */
static int resume_thread(struct ntrace_stacks *stacks, struct thread **found,
			 const struct ntrace_session_event *event)
{
	bool exec = event_begins_by_exec(event, *found), here;
	int error = exec ? thread_exec(stacks, found, event) : 0;
	struct thread *thread = *found;
	uint64_t turn = event->turn;

	if (!error)
		error = thread_end_earlier(stacks, thread);
	if (!error)
		error = thread_pass_elsewhere(stacks, thread);
	if (error)
		return error;
	here = thread == stacks->hart.current && thread->stream == stacks->hart.stream;
	if (!here || thread->renamed || stacks->hart.paused)
		error = clock_report(stacks, thread, NTRACE_STACK_RUN);
	thread->renamed = false;
	stacks->hart.paused = false;
	if (!error && exec)
		error = frames_show(stacks, thread, 0);
	if (!error && event->origin && thread->turn != turn && !origin_is_exec(event)) {
		error = thread_begin(stacks, thread, event->origin);
	} else if (!error && thread->state != THREAD_LOST &&
		   !thread_continues(stacks, thread, turn)) {
		thread->moved = thread->stream != stacks->hart.stream && (!turn || !thread->turn);
		error = stack_lose(stacks, thread);
	}
	if (!error && event->turn && event->turn != thread->turn)
		forks_begin_turn(thread, event->made);
	if (event->program && event->program != thread->program) {
		thread->replaced = thread->program;
		thread->program = event->program;
	}
	/* The thread was elsewhere since the last block. */
	if (thread == stacks->hart.current && !here)
		stacks->hart.current = NULL;
	return error;
}

static int execute_block(struct ntrace_stacks *stacks, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct thread *thread = threads_find(stacks, event);
	bool same = thread && continues_plainly(stacks, thread, event);
	int error = 0;

	if (!thread)
		return NTRACE_ERR_NOMEM;
	keep_space(&stacks->hart.space, flow->space);
	stacks->hart.isa = *flow->isa;
	if (!same)
		error = resume_thread(stacks, &thread, event);
	stacks->hold.possible = !stacks->hold.forced;
	if (!error)
		error = stack_arrive(stacks, thread, event);
	stacks->hold.possible = false;
	if (error == STACKS_HOLD)
		return hold_begin(stacks, event);
	if (!error)
		error = count_block(stacks, thread, flow);
	if (error)
		return error;
	if (!same)
		thread_runs(stacks, thread, event->turn);
	thread->state = THREAD_RUNNING;
	thread->stack.next = flow->last + flow->last_size;
	thread->stack.skip = 0;
	thread->stack.goes_on = true;
	stacks->hart.pending = flow->taken;
	stacks->hart.class = flow->insn_class;
	stacks->hart.return_address = thread->stack.next;
	stacks->hart.to = flow->next;
	stacks->hart.to_known = flow->next_known;
	return 0;
}

/*
 * Trace went off. If it had just resumed and no instruction retired, the thread was back
 * nevertheless: at a restarted system call, or at a missing page. An unknown thread need not be the
 * one that left before: then nothing changes.
 */
static int note_trace_off(struct ntrace_stacks *stacks, const struct ntrace_session_event *event)
{
	struct thread *thread = hart_thread(stacks);
	int error = 0;

	if (!thread || thread->state != THREAD_SUSPENDED)
		return stack_suspend(stacks, event->flow);
	if (event->tid < 0 || !event->flow->next_known)
		return 0;
	thread = threads_find(stacks, event);
	if (!thread)
		return NTRACE_ERR_NOMEM;
	error = resume_thread(stacks, &thread, event);
	if (!error)
		error = stack_come_back(stacks, thread, event);
	if (!error)
		thread_runs(stacks, thread, event->turn);
	return error;
}

/* After a loss, the position of every thread that may have run on the hart is unknown. */
static int note_loss(struct ntrace_stacks *stacks, bool gap)
{
	struct thread *thread = hart_thread(stacks);
	int error = thread ? stack_cut_off(stacks, thread) : 0;

	stacks->hart.epoch++;
	if (error || !gap)
		return error;
	stacks->stats.gaps++;
	return clock_report(stacks, thread, NTRACE_STACK_GAP);
}

/* Before an event or segment of @stream: a message at @offset, with a time. */
static int begin_event(struct ntrace_stacks *stacks, const struct ntrace_session_event *at,
		       uint64_t offset)
{
	int error = stacks_enter_stream(stacks, at->stream);

	stacks->reported = false;
	stacks->hart.cpu = at->cpu;
	if (at->time_unit == NTRACE_TIME_NANOSECONDS && at->time_error > stacks->stats.time_error)
		stacks->stats.time_error = at->time_error;
	if (!error)
		error = clock_turn(stacks, at);
	return error ? error : clock_event(stacks, offset, at);
}

int ntrace_stacks_event(void *data, const struct ntrace_session_event *event)
{
	struct ntrace_stacks *stacks = data;
	const struct ntrace_flow_event *flow = event->flow;
	int error;

	if (stacks->hold.count)
		return hold_event(stacks, event);
	error = begin_event(stacks, event, flow->offset);
	if (error)
		return error;
	switch (flow->type) {
	case NTRACE_FLOW_BLOCK:
		return execute_block(stacks, event);
	case NTRACE_FLOW_TRAP:
		return stack_trap(stacks, flow);
	case NTRACE_FLOW_TRACE_OFF:
		/* The hart sleeps or is halted, or runs in a privilege that is not traced. */
		if (flow->code == NTRACE_EVCODE_TRACE_DISABLE ||
		    flow->code == NTRACE_EVCODE_LOW_POWER ||
		    flow->code == NTRACE_EVCODE_DEBUG_ENTRY) {
			stacks->hart.clock.stamps.off = true;
			return note_trace_off(stacks, event);
		}
		return note_loss(stacks, false);
	case NTRACE_FLOW_GAP:
		return note_loss(stacks, true);
	default:
		return 0;
	}
}

/* ---- batches ---- */

/*
 * A run of blocks of one thread.
 * @before: the block before the next one
 * @instructions: executed in the top frame, not counted yet
 */
struct stretch {
	struct ntrace_stacks *stacks;
	const struct ntrace_segment *blocks;
	struct thread *thread;
	const struct ntrace_block *before;
	uint32_t instructions;
	int error;
};

static int execute_one_block(struct ntrace_stacks *stacks, const struct ntrace_segment *blocks,
			     const struct ntrace_block *block)
{
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;

	ntrace_segment_event(blocks, block, &flow, &event);
	return stacks->hold.count ? hold_event(stacks, &event) : execute_block(stacks, &event);
}

/* Counts before the top frame changes. Return: false: error. */
static bool count_waiting(struct stretch *stretch)
{
	uint32_t instructions = stretch->instructions;

	stretch->instructions = 0;
	if (instructions && !stretch->error)
		stretch->error = count_instructions(stretch->stacks, stretch->thread,
						    stack_top(stretch->thread)->chain,
						    instructions);
	return !stretch->error;
}

static struct known_block *known_block(struct ntrace_stacks *stacks, uint32_t id)
{
	uint64_t unique = stacks->hart.ids + id;
	struct known_block *known = &stacks->known[unique % KNOWN_BLOCKS];

	if (known->id != unique)
		*known = (struct known_block){ .id = unique };
	return known;
}

/* A call enters a function. */
static bool enter_function(struct stretch *stretch, const struct ntrace_block *block)
{
	uint64_t return_address = stretch->before->address + stretch->before->bytes;
	struct ntrace_stacks *stacks = stretch->stacks;
	struct known_block *known;

	if (!block->id || return_address == block->address)
		return false;
	known = known_block(stacks, block->id);
	if (!known->placed)
		stretch->error = code_place_at(stacks, stretch->blocks->batch->space,
					       block->address, &known->place);
	if (stretch->error || !count_waiting(stretch))
		return false;
	known->placed = true;
	stretch->error = frame_call(stacks, stretch->thread, &known->place, return_address);
	return true;
}

/* A return leaves the function to the place where the call waits. */
static bool leave_function(struct stretch *stretch, const struct ntrace_block *block)
{
	const struct frame *top = stack_top(stretch->thread);

	if (!top->returns || top->ret != block->address || top->in_setjmp ||
	    stretch->thread->stack.count < 2 || !count_waiting(stretch))
		return false;
	stretch->stacks->stats.returns++;
	stretch->error = frame_leave(stretch->stacks, stretch->thread);
	return true;
}

/*
 * The block continues in the top frame, or changes it in the most frequent ways. Return: false: it
 * needs execute_block(), and nothing has changed.
 */
static bool enter_ordinary_block(struct stretch *stretch, const struct ntrace_block *block)
{
	const struct ntrace_block *before = stretch->before;
	struct thread *thread = stretch->thread;
	const struct frame *top = stack_top(thread);
	bool taken = before->flags & NTRACE_BLOCK_TAKEN;

	if (taken ? before->insn_class <= NTRACE_INSN_JUMP :
		    before->address + before->bytes == block->address)
		return block->address > top->low && block->address < top->high;
	if (!taken || top_layer(thread)->privilege != stretch->blocks->at.privilege)
		return false;
	if (before->insn_class == NTRACE_INSN_RETURN ? !leave_function(stretch, block) :
	    before->insn_class == NTRACE_INSN_CALL ||
			    before->insn_class == NTRACE_INSN_INDIRECT_CALL ?
						       !enter_function(stretch, block) :
						       true)
		return false;
	if (!stretch->error)
		stretch->error = stack_enter_adjacent(
			stretch->stacks, thread, stretch->blocks->batch->space, block->address);
	run_arrive(stretch->stacks);
	if (stretch->blocks->at.privilege == NTRACE_PRIV_U)
		keep_space(&thread->space, stretch->blocks->batch->space);
	return true;
}

/* Whether all of the block has the same inlined functions; looked up once for each block. */
static bool is_whole(struct stretch *stretch, const struct ntrace_block *block, uint32_t *chain)
{
	struct known_block *known = known_block(stretch->stacks, block->id);
	const struct inline_piece *pieces;
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	size_t number;

	if (!known->cut) {
		ntrace_segment_event(stretch->blocks, block, &flow, &event);
		stretch->error = inline_pieces(stretch->stacks, &flow, &pieces, &number);
		if (stretch->error)
			return false;
		known->cut = true;
		known->whole = number == 1 && pieces->instructions == block->instructions;
		known->chain = number ? pieces->chain : 0;
	}
	*chain = known->chain;
	return known->whole;
}

/* Counts the block in functions inlined into the top frame, or partly in other functions. */
static void count_apart(struct stretch *stretch, const struct ntrace_block *block, bool inside)
{
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	uint32_t chain;

	if (inside && block->id && is_whole(stretch, block, &chain)) {
		if (chain != stack_top(stretch->thread)->chain && count_waiting(stretch))
			stretch->error = inline_enter(
				stretch->stacks, tree_of(stretch->stacks, &stretch->thread->stack),
				stack_top(stretch->thread), chain);
		stretch->instructions += block->instructions;
		return;
	}
	if (stretch->error || !count_waiting(stretch))
		return;
	ntrace_segment_event(stretch->blocks, block, &flow, &event);
	stretch->error = count_block(stretch->stacks, stretch->thread, &flow);
}

/* Counts the block in the top frame. */
static void count_in_top(struct stretch *stretch, const struct ntrace_block *block)
{
	uint64_t last = block->address + block->bytes - block->last_size;
	const struct frame *top = stack_top(stretch->thread);
	bool inside = last >= top->low && last < top->high;

	if (inside && (!stretch->stacks->options.inlined || !top->shown))
		stretch->instructions += block->instructions;
	else
		count_apart(stretch, block, inside);
}

void stacks_note_last_block(struct ntrace_stacks *stacks, struct thread *thread,
			    const struct ntrace_block *block)
{
	thread->stack.next = block->address + block->bytes;
	thread->stack.skip = 0;
	thread->stack.goes_on = true;
	stacks->hart.pending = block->flags & NTRACE_BLOCK_TAKEN;
	stacks->hart.class = block->insn_class;
	stacks->hart.return_address = thread->stack.next;
	stacks->hart.to = block->next;
	stacks->hart.to_known = block->flags & NTRACE_BLOCK_NEXT_KNOWN;
}

/* Takes blocks as far as they are ordinary. Return: the first block of the rest. */
static const struct ntrace_block *execute_stretch(struct ntrace_stacks *stacks,
						  const struct ntrace_segment *blocks,
						  const struct ntrace_block *block,
						  const struct ntrace_block *end, int *error)
{
	struct stretch stretch = { .stacks = stacks,
				   .blocks = blocks,
				   .thread = stacks->hart.current,
				   .before = block - 1 };

	while (block < end && enter_ordinary_block(&stretch, block)) {
		if (!stretch.error)
			count_in_top(&stretch, block);
		if (stretch.error)
			break;
		stretch.before = block++;
	}
	count_waiting(&stretch);
	stacks_note_last_block(stacks, stretch.thread, stretch.before);
	*error = stretch.error;
	return block;
}

int stacks_execute_blocks(struct ntrace_stacks *stacks, const struct ntrace_segment *blocks)
{
	const struct ntrace_block *block = blocks->batch->blocks;
	const struct ntrace_block *end = block + blocks->batch->count;
	int error = 0;

	while (block < end && !error) {
		error = execute_one_block(stacks, blocks, block++);
		if (block < end && !error && !stacks->hold.count)
			block = execute_stretch(stacks, blocks, block, end, &error);
	}
	return error;
}

/* While events are held: each block is one. */
static int hold_segment(struct ntrace_stacks *stacks, const struct ntrace_segment *segment)
{
	size_t steps = segment->type == NTRACE_SEGMENT_RUN ? segment->run->count : 1;
	int error = 0;

	for (size_t step = 0; step < steps && !error; step++) {
		struct ntrace_segment blocks = *segment;
		struct ntrace_block_batch batch;

		if (segment->type == NTRACE_SEGMENT_RUN)
			ntrace_segment_step(segment, step, &batch, &blocks);
		for (size_t i = 0; i < blocks.batch->count && !error; i++) {
			struct ntrace_session_event event;
			struct ntrace_flow_event flow;

			ntrace_segment_event(&blocks, &blocks.batch->blocks[i], &flow, &event);
			if (segment->type == NTRACE_SEGMENT_RUN)
				flow.offset = segment->run->offset;
			error = ntrace_stacks_event(stacks, &event);
		}
	}
	return error;
}

int ntrace_stacks_segment(void *data, const struct ntrace_segment *segment)
{
	struct ntrace_stacks *stacks = data;
	const struct ntrace_block_batch *batch = segment->batch;
	const struct ntrace_flow_run *run = segment->run;
	bool steps = segment->type == NTRACE_SEGMENT_RUN;
	int error;

	if (segment->type == NTRACE_SEGMENT_SUM)
		return 0;
	if (!stacks->known)
		stacks->known = calloc(KNOWN_BLOCKS, sizeof(*stacks->known));
	if (!stacks->known)
		return NTRACE_ERR_NOMEM;
	if (stacks->hold.count)
		return hold_segment(stacks, segment);
	error = begin_event(stacks, &segment->at, steps ? run->offset : batch->offset);
	if (error)
		return error;
	return steps ? stacks_execute_run(stacks, segment) : stacks_execute_blocks(stacks, segment);
}

int ntrace_stacks_end_stream(void *data, unsigned int stream)
{
	struct ntrace_stacks *stacks = data;
	int error = hold_flush(stacks);

	if (!error)
		error = stacks_enter_stream(stacks, stream);
	stamps_cut(&stacks->hart.clock.stamps);
	stacks->reported = false;
	/* The thread may go on elsewhere. */
	if (!error && stacks->hart.current)
		error = clock_report(stacks, NULL, NTRACE_STACK_RUN);
	stacks->hart.current = NULL;
	return error ? error : clock_pass(stacks);
}

/* Ends the frames of the threads that ran last on the hart of @stream, at their time, and the hart. */
static int end_hart(struct ntrace_stacks *stacks, unsigned int stream)
{
	int error = ntrace_stacks_end_stream(stacks, stream);

	if (!error)
		error = threads_leave(stacks, stream);
	if (!error)
		error = clock_end(stacks);
	leave_hart(&stacks->hart);
	return error;
}

int ntrace_stacks_end(struct ntrace_stacks *stacks)
{
	int error = hold_flush(stacks), folded;
	unsigned int last = stacks->hart.stream, i;

	if (last < stacks->hart_count)
		last = stacks->hart_count - 1;
	for (i = 0; i <= last && !error; i++)
		if (i == stacks->hart.stream ? stacks->hart.ids : stacks->harts[i].ids)
			error = end_hart(stacks, i);
	folded = run_forget(stacks);
	threads_free(stacks);
	return error ? error : folded;
}

static bool make_report(struct ntrace_stacks *stacks)
{
	if (stacks->reported)
		return true;
	report_free(&stacks->report);
	stacks->reported = !report_make(&stacks->report, &stacks->tree);
	return stacks->reported;
}

const struct ntrace_stack_function *ntrace_stacks_functions(struct ntrace_stacks *stacks,
							    size_t *count)
{
	*count = make_report(stacks) ? stacks->report.function_count : 0;
	return stacks->report.functions;
}

const struct ntrace_stack_node *ntrace_stacks_nodes(struct ntrace_stacks *stacks, size_t *count)
{
	*count = make_report(stacks) ? stacks->report.node_count : 0;
	return stacks->report.nodes;
}

const struct ntrace_stack_edge *ntrace_stacks_edges(struct ntrace_stacks *stacks, size_t *count)
{
	*count = make_report(stacks) ? stacks->report.edge_count : 0;
	return stacks->report.edges;
}

void ntrace_stacks_get_stats(const struct ntrace_stacks *stacks, struct ntrace_stacks_stats *stats)
{
	*stats = stacks->stats;
	stats->other = stacks->tree.other ? stacks->tree.nodes[stacks->tree.other].instructions : 0;
}
