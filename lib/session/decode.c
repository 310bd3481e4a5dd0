// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The callbacks of the flow of a stream: see decode.h. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "flow/flow.h"

/* Privilege codes of the ingress port (E-Trace, chapter 4), as in linux/ntrace.h. */
#define PRIVILEGE_U 0
#define PRIVILEGE_S 1
#define PRIVILEGE_M 3
#define PRIVILEGE_VU 5
#define PRIVILEGE_VS 6
#define TRACED_S (1u << PRIVILEGE_S)

#define COUNTED (NTRACE_NEEDS_SUMS | NTRACE_NEEDS_RUNS)

/* A switch takes at least one message, since the return of __switch_to is not inferable. */
#define SWITCH_BYTES_MIN 3

static bool in_firmware(const struct ntrace_session *session, uint64_t address)
{
	return address >= session->firmware_start && address <= session->firmware_last;
}

/*
 * Ownership distinguishes guests and M-mode. The address distinguishes U from S, as for Linux: some
 * encoders send Ownership only for a new scontext, although N-Trace 1.0, "synchronization", demands
 * more.
 */
static unsigned int privilege_by(const struct decoding *decoding,
				 const struct ntrace_context *owner, uint64_t address)
{
	/* All code of a raw trace is the caller's, also that of guests. */
	if (owner->prv_known && owner->v && !decoding->session->raw)
		return owner->prv == PRIVILEGE_U ? PRIVILEGE_VU : PRIVILEGE_VS;
	if (in_firmware(decoding->session, address) ||
	    (owner->prv_known && owner->prv == PRIVILEGE_M))
		return PRIVILEGE_M;
	return address >= decoding->kernel_begin ? PRIVILEGE_S : PRIVILEGE_U;
}

static unsigned int privilege_of(const struct decoding *decoding, uint64_t address)
{
	return privilege_by(decoding, ntrace_flow_context(decoding->flow), address);
}

/* Before a callback looks at the state of the hart: effects from before have the earlier one. */
static int note_owner(struct decoding *decoding)
{
	const struct ntrace_context *owner, *counted = &decoding->counted.owner;
	int result;

	if (!decoding->counting)
		return 0;
	owner = ntrace_flow_context(decoding->flow);
	if (owner->prv_known == counted->prv_known && owner->prv == counted->prv &&
	    owner->v == counted->v)
		return 0;
	result = ntrace_flow_flush(decoding->flow);
	decoding->counted.owner = *owner;
	return result;
}

/* The program that runs; 0: not known. */
static uint64_t program_number(const struct follower *follower)
{
	return follower->program && follower->pid >= 0 && follower_is_certain(follower) ?
		       follower->program->number :
		       0;
}

/* Effects are those of the follower's thread from now on. */
static void note_attribution(struct decoding *decoding)
{
	const struct follower *follower = &decoding->follower;
	struct attribution *counted = &decoding->counted;

	static_assert(sizeof(counted->text) >= sizeof(follower->text), "room for the name");
	counted->pid = follower->pid;
	counted->tid = follower->tid;
	counted->turn = decoding->event.turn;
	counted->program = decoding->event.program;
	counted->origin = decoding->event.origin;
	counted->made = decoding->event.made;
	counted->name = follower->comm;
	counted->comm = follower->comm;
	/* The follower makes the next name in the same place. */
	if (follower->comm != follower->text)
		return;
	memcpy(counted->text, follower->text, sizeof(follower->text));
	counted->comm = counted->text;
}

/* Where the time of the hart may lie from now on. */
static void note_window(struct decoding *decoding)
{
	uint64_t first, end;

	follower_window(&decoding->follower, &first, &end);
	stream_clock_turn(&decoding->clock, first, end);
	decoding->timed = false;
}

static void read_time(struct decoding *decoding, bool known, uint64_t time)
{
	struct ntrace_session_event *event = &decoding->event;
	uint64_t error = 0;

	decoding->timed = true;
	decoding->tick = time;
	decoding->tick_known = known;
	if (known)
		decoding_note_tick(decoding, time);
	event->time = time;
	event->time_unit = NTRACE_TIME_NONE;
	if (known && !decoding->clock.hz)
		event->time_unit = NTRACE_TIME_TICKS;
	else if (known && stream_clock_read(&decoding->clock, time, &event->time, &error))
		event->time_unit = NTRACE_TIME_NANOSECONDS;
	event->turn_end = event->time_unit == NTRACE_TIME_NANOSECONDS ?
				  follower_turn_end(&decoding->follower) :
				  0;
	event->time_error = error < UINT32_MAX ? (uint32_t)error : UINT32_MAX;
}

/* The present event has this timestamp; most have that of the one before. */
static inline void note_time(struct decoding *decoding, bool known, uint64_t time)
{
	if (!decoding->timed || time != decoding->tick || known != decoding->tick_known)
		read_time(decoding, known, time);
}

/* The hart may be in another turn: waits until that of the thread before it has been decoded. */
static int note_turn(struct decoding *decoding)
{
	bool certain;
	size_t index;
	int result = 0;

	if (!decoding->lane)
		return 0;
	certain = follower_turn(&decoding->follower, &index);
	if (index == decoding->turn && certain == decoding->turn_certain)
		return 0;
	/* The thread became another one at once: the turn that it began comes all the same. */
	if (certain && index % 2 && (decoding->turn | 1) != index)
		result = session_lane_enter(decoding->lane, index - 1, certain, &decoding->event);
	decoding->turn = index;
	decoding->turn_certain = certain;
	return result ? result :
			session_lane_enter(decoding->lane, index, certain, &decoding->event);
}

/* After a callback that may have changed the follower. */
int decoding_note_thread(struct decoding *decoding, int result)
{
	const struct follower *follower = &decoding->follower;
	struct attribution *counted = &decoding->counted;

	decoding->moved = false;
	decoding->event.program = program_number(follower);
	note_window(decoding);
	if (!result)
		result = note_turn(decoding);
	if (!decoding->counting ||
	    (follower->pid == counted->pid && follower->tid == counted->tid &&
	     follower->comm == counted->name && decoding->event.turn == counted->turn &&
	     decoding->event.program == counted->program))
		return result;
	if (decoding->to.needs & NTRACE_NEEDS_THREADS && !result)
		result = ntrace_flow_flush(decoding->flow);
	ntrace_flow_separate(decoding->flow);
	note_attribution(decoding);
	return result;
}

static int note_move(struct decoding *decoding, int result)
{
	return decoding->moved ? decoding_note_thread(decoding, result) : result;
}

bool decoding_hides_switches(const struct ntrace_session *session)
{
	uint32_t traced = session->recording->privilege;

	return !session->switch_address || (traced && !(traced & TRACED_S));
}

/*
 * The flow continues. If only code was unknown, the length of the gap limits the number of missed
 * switches. If the flow continued without a sync there were none, since a path through the kernel
 * always contains a message.
 */
static int leave_gap(struct decoding *decoding)
{
	uint64_t missed = UINT64_MAX;
	int result = 0;

	if (!decoding->in_gap)
		return 0;
	decoding->in_gap = false;
	decoding->moved = true;
	if (decoding->live)
		result = live_lost(decoding->live);
	if (result)
		return result;
	if (decoding->intact)
		missed = decoding->sync ?
				 (decoding->offset - decoding->gap_offset) / SWITCH_BYTES_MIN :
				 0;
	result = follower_gap(&decoding->follower, missed);
	if (decoding->live && !result)
		live_found(decoding->live);
	return result;
}

/* The encoder reports scontext, which the driver keeps equal to the thread id. */
static void follow_scontext(struct decoding *decoding)
{
	const struct ntrace_context *owner = ntrace_flow_context(decoding->flow);

	if (owner->scontext_known && owner->scontext && owner->scontext <= INT32_MAX)
		follower_owner(&decoding->follower, (int32_t)owner->scontext);
}

/* __switch_to has been executed. */
static int switch_task(struct decoding *decoding)
{
	uint64_t left, came;
	int result;

	decoding->rest = 0;
	decoding->moved = true;
	result = decoding->live ? live_switch(decoding->live) :
				  follower_switch(&decoding->follower);
	if (!result && follower_switched(&decoding->follower, &left, &came))
		stream_clock_switch(&decoding->clock, left, came);
	return result;
}

/*
 * The flow is at @address. If that is not the rest of a divided __switch_to, the rest is over, and what is there
 * already belongs to the turn of the next task.
 */
static int finish_switch(struct decoding *decoding, uint64_t address)
{
	if (!decoding->rest || decoding->rest == address)
		return 0;
	return decoding_note_thread(decoding, switch_task(decoding));
}

static int choose_space(struct decoding *decoding, unsigned int reason, uint64_t address,
			struct ntrace_space **space)
{
	int error = note_owner(decoding);

	if (!error)
		error = finish_switch(decoding, address);
	if (!error)
		error = leave_gap(decoding);

	if (error)
		return error;
	decoding->space = SPACE_NONE;
	if (privilege_of(decoding, address) >= PRIVILEGE_VU) {
		/* Code of neither the kernel nor a task: a recording contains no code of guests. */
		return decoding->spaces.error;
	}
	if (privilege_of(decoding, address) == PRIVILEGE_U) {
		/* If switches are not visible, any task may return from the kernel. */
		if (!decoding->shows_code && !decoding->was_user)
			error = follower_gap(&decoding->follower, UINT64_MAX);
		if (error)
			return error;
		decoding->was_user = true;
		/* Ignored in the kernel, which sets scontext shortly before the switch. */
		if (reason == NTRACE_FLOW_OWNERSHIP)
			follow_scontext(decoding);
		*space = follower_user(&decoding->follower, address);
		decoding->selected = decoding->follower.program;
	} else {
		decoding->was_user = false;
	}
	decoding->space = *space ? SPACE_USER : SPACE_KERNEL;
	if (!*space)
		*space = decoding->session->kernel;
	return decoding->spaces.error;
}

static int select_space(void *data, unsigned int reason, uint64_t address,
			struct ntrace_space **space)
{
	struct decoding *decoding = data;

	return decoding_note_thread(decoding, choose_space(decoding, reason, address, space));
}

/* Whether what the current message reports with this time is in the range. */
static bool is_wanted(struct decoding *decoding, bool time_known, uint64_t time)
{
	const struct ntrace_session_range *range = decoding->range;

	index_note_time(&decoding->collector, time_known, time);
	if (!range)
		return true;
	return decoding->inside && (!range->by_time || (time_known && time >= range->first_time &&
							time <= range->last_time));
}

static void count_event(struct ntrace_flow_stats *counts, const struct ntrace_flow_event *flow)
{
	counts->blocks += flow->type == NTRACE_FLOW_BLOCK;
	counts->instructions += flow->type == NTRACE_FLOW_BLOCK ? flow->instructions : 0;
	counts->syncs += flow->type == NTRACE_FLOW_SYNC;
	counts->traps += flow->type == NTRACE_FLOW_TRAP;
	counts->gaps += flow->type == NTRACE_FLOW_GAP;
	counts->errors += flow->type == NTRACE_FLOW_ERROR;
	counts->warnings += flow->type == NTRACE_FLOW_WARNING;
}

/* Passes the event to the caller if it is in the range. */
static int pass_event(struct decoding *decoding)
{
	const struct ntrace_flow_event *flow = decoding->event.flow;

	if (!is_wanted(decoding, flow->time_known, flow->time))
		return 0;
	if (decoding->range)
		count_event(&decoding->counts, flow);
	return decoding->to.event(decoding->to.data, &decoding->event);
}

/* Takes the information about the task from events other than blocks. */
static int note_other(struct decoding *decoding, const struct ntrace_flow_event *flow)
{
	switch (flow->type) {
	case NTRACE_FLOW_ERROR:
		decoding->last_error = flow->code;
		return 0;
	case NTRACE_FLOW_GAP:
		/* A second error inside a gap does not reduce the uncertainty. */
		decoding->intact = (!decoding->in_gap || decoding->intact) &&
				   (decoding->last_error == NTRACE_FLOW_ERROR_NOMAP ||
				    decoding->last_error == NTRACE_FLOW_ERROR_BADINSN ||
				    decoding->last_error == NTRACE_FLOW_ERROR_TABLE ||
				    decoding->last_error == NTRACE_FLOW_ERROR_NO_HISTORY);
		if (!decoding->in_gap)
			decoding->gap_offset = flow->offset;
		decoding->in_gap = true;
		return 0;
	case NTRACE_FLOW_TRACE_OFF:
		if (decoding->shows_code)
			return 0;
		decoding->moved = true;
		return follower_gap(&decoding->follower, UINT64_MAX);
	default:
		return 0;
	}
}

static inline void set_task(struct decoding *decoding)
{
	decoding->event.pid = decoding->follower.pid;
	decoding->event.tid = decoding->follower.tid;
	decoding->event.comm = decoding->follower.comm;
	if (decoding->moved)
		decoding->event.program = program_number(&decoding->follower);
	/* Changes before the limit have been applied; the last scheduling interval has no limit. */
	if (decoding->follower.limit != UINT64_MAX &&
	    decoding->follower.limit > decoding->event.sideband_ns + 1)
		decoding->event.sideband_ns = decoding->follower.limit - 1;
	else if (decoding->follower.limit == UINT64_MAX &&
		 decoding->stop_ns > decoding->event.sideband_ns)
		decoding->event.sideband_ns = decoding->stop_ns;
}

/*
 * InCircuitTrace may report addresses outside the program flow, or without any program flow. The
 * space is then chosen by the address, and by the task as far as it is known.
 */
static struct ntrace_space *space_of(struct decoding *decoding, struct ntrace_space *present,
				     uint64_t address)
{
	struct follower *follower = &decoding->follower;
	struct ntrace_location place = { 0 };

	if (present)
		ntrace_space_locate(present, address, &place);
	if (place.object)
		return present;
	switch (privilege_of(decoding, address)) {
	case PRIVILEGE_VU:
	case PRIVILEGE_VS:
		return NULL;
	case PRIVILEGE_U:
		return follower_is_certain(follower) ? follower_same(follower, address) : NULL;
	default:
		return decoding->session->kernel;
	}
}

static int pass_circuit(struct decoding *decoding, const struct ntrace_flow_event *flow)
{
	struct ntrace_session_event *event = &decoding->event;
	struct ntrace_flow_event placed = *flow;
	int result;

	set_task(decoding);
	if (flow->next_known) {
		event->privilege = privilege_of(decoding, flow->address);
		placed.space = space_of(decoding, flow->space, flow->address);
	}
	event->flow = &placed;
	result = pass_event(decoding);
	event->flow = flow;
	return result ? result : decoding->spaces.error;
}

/*
 * The block at @address has been executed; a block that switches belongs to the outgoing task. A sync
 * or a full counter may divide it: its rest at @rest, where that is not 0, belongs to that task, too.
 */
static int note_executed(struct decoding *decoding, uint64_t address, uint64_t rest, int result)
{
	struct ntrace_session *session = decoding->session;
	bool switches = address == session->switch_address ||
			(decoding->rest && address == decoding->rest);

	if (switches && !result && decoding->countable) {
		decoding->rest = rest;
		if (!rest)
			return switch_task(decoding);
		/* The flow ends a batch after it. */
		decoding->watch[2] = rest;
	}
	session_note_executed(session, address, decoding->follower.program, &decoding->moving);
	if (address != session->exec_address)
		return result;
	decoding->moved = true;
	follower_exec(&decoding->follower);
	return result;
}

/* Where the rest of a divided block begins; 0: the block is whole. */
static uint64_t rest_address(const struct ntrace_block *block)
{
	const unsigned int divided = NTRACE_BLOCK_INTERRUPTED | NTRACE_BLOCK_NEXT_KNOWN;

	return (block->flags & divided) == divided ? block->next : 0;
}

/* Number of blocks, from the first one, that have the privilege of the first one. */
static size_t same_privilege(const struct decoding *decoding, const struct ntrace_block *blocks,
			     size_t count)
{
	const struct ntrace_session *session = decoding->session;
	const uint64_t first = blocks[0].address, begin = decoding->kernel_begin;
	bool firmware = in_firmware(session, first), other = false;
	size_t i;

	for (i = 1; i < count; i++)
		other |= (blocks[i].address >= begin) != (first >= begin);
	if (!other && session->firmware_start > session->firmware_last)
		return count;
	for (i = 1; i < count; i++) {
		if (in_firmware(session, blocks[i].address) != firmware ||
		    (blocks[i].address >= begin) != (first >= begin))
			break;
	}
	return i;
}

static void count_blocks(struct decoding *decoding, const struct ntrace_block_batch *batch)
{
	size_t i;

	decoding->counts.blocks += batch->count;
	for (i = 0; decoding->range && i < batch->count; i++)
		decoding->counts.instructions += batch->blocks[i].instructions;
}

static int receive_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct decoding *decoding = data;
	struct ntrace_session_event *event = &decoding->event;
	struct ntrace_block_batch part = *batch;
	const struct ntrace_block *end = batch->blocks + batch->count;
	struct ntrace_segment segment;
	int result = note_owner(decoding);

	if (!result)
		result = finish_switch(decoding, batch->blocks[0].address);
	set_task(decoding);
	note_time(decoding, batch->time_known, batch->time);
	segment = (struct ntrace_segment){ .batch = &part,
					   .type = NTRACE_SEGMENT_BLOCKS,
					   .at = *event };
	segment.at.flow = NULL;
	if (!is_wanted(decoding, batch->time_known, batch->time)) {
		event->privilege = privilege_of(decoding, end[-1].address);
		part.blocks = end;
	}
	for (; part.blocks < end && !result; part.blocks += part.count) {
		part.count = same_privilege(decoding, part.blocks, (size_t)(end - part.blocks));
		event->privilege = privilege_of(decoding, part.blocks[0].address);
		count_blocks(decoding, &part);
		segment.at.privilege = event->privilege;
		result = decoding->to.segment(decoding->to.data, &segment);
	}
	if (batch->watched)
		result = note_executed(decoding, end[-1].address, rest_address(&end[-1]), result);
	return note_move(decoding, result);
}

/* Where and by which thread code was executed that comes with later messages. */
static struct ntrace_session_event counted_at(const struct decoding *decoding, uint64_t address)
{
	const struct attribution *counted = &decoding->counted;
	struct ntrace_session_event at = decoding->event;

	at.flow = NULL;
	at.privilege = privilege_by(decoding, &counted->owner, address);
	at.pid = counted->pid;
	at.tid = counted->tid;
	at.comm = counted->comm;
	at.turn = counted->turn;
	at.program = counted->program;
	at.origin = counted->origin;
	at.made = counted->made;
	return at;
}

static int receive_effect(void *data, const struct ntrace_flow_effect *effect)
{
	struct decoding *decoding = data;
	struct ntrace_block_batch part = *effect->batch;
	struct ntrace_segment sum = { .batch = &part,
				      .type = NTRACE_SEGMENT_SUM,
				      .lead = effect->lead,
				      .times = effect->times,
				      .at = counted_at(decoding, 0) };
	size_t count = effect->batch->count;
	int result = 0;

	if (effect->times && !(decoding->to.needs & NTRACE_NEEDS_THREADS))
		sum.at = (struct ntrace_session_event){ .stream = sum.at.stream,
							.cpu = sum.at.cpu,
							.pid = -1,
							.tid = -1,
							.comm = "",
							.sideband_ns = sum.at.sideband_ns };
	/* What was counted before is the lead of what has another privilege. */
	do {
		/* The first block of the lead only transferred control. */
		size_t first = effect->times ? sum.lead : count > 1;

		sum.at.privilege = privilege_by(decoding, &decoding->counted.owner,
						part.blocks[first].address);
		part.count = effect->times ? first + same_privilege(decoding, part.blocks + first,
								    count - first) :
					     count;
		result = decoding->to.segment(decoding->to.data, &sum);
		sum.lead = part.count;
	} while (part.count < count && !result);
	return result;
}

/* Blocks of a run have one privilege, see the borders of the flow. */
static int receive_run(void *data, const struct ntrace_flow_run *run)
{
	struct decoding *decoding = data;

	note_time(decoding, run->time_known, run->time);
	return decoding->to.segment(
		decoding->to.data,
		&(struct ntrace_segment){ .run = run,
					  .type = NTRACE_SEGMENT_RUN,
					  .at = counted_at(decoding, run->last->address) });
}

static int handle_event(struct decoding *decoding, const struct ntrace_flow_event *flow)
{
	struct ntrace_session_event *event = &decoding->event;
	int result = note_owner(decoding);

	if (result)
		return result;
	if (flow->type != NTRACE_FLOW_CIRCUIT)
		result = finish_switch(decoding, flow->address);
	if (result)
		return result;
	event->flow = flow;
	note_time(decoding, flow->time_known, flow->time);
	if (flow->type == NTRACE_FLOW_CIRCUIT)
		return pass_circuit(decoding, flow);
	if (flow->type == NTRACE_FLOW_BLOCK) {
		set_task(decoding);
		event->privilege = privilege_of(decoding, flow->address);
		result = pass_event(decoding);
		return note_executed(decoding, flow->address,
				     flow->interrupted && flow->next_known ? flow->next : 0,
				     result);
	}
	if (flow->type == NTRACE_FLOW_SYNC)
		result = leave_gap(decoding);
	if (result)
		return result;
	set_task(decoding);
	if (has_address(flow))
		event->privilege = privilege_of(decoding, flow->address);
	result = pass_event(decoding);
	return result ? result : note_other(decoding, flow);
}

static int flush_lane(void *data)
{
	const struct decoding *decoding = data;

	return decoding->lane ? session_lane_flush(decoding->lane) : 0;
}

static int receive_event(void *data, const struct ntrace_flow_event *flow)
{
	struct decoding *decoding = data;

	return note_move(decoding, handle_event(decoding, flow));
}

/* Trace from perf: the position in the file determines the task, and the CPU if tasks migrate. */
static int enter_piece(struct decoding *decoding, uint64_t offset)
{
	struct follower *follower = &decoding->follower;
	uint64_t last_end = follower->piece ? follower->piece->end : 0, first, end;
	int result;

	if (follower_stays(follower, offset))
		return 0;
	result = ntrace_flow_flush(decoding->flow);
	follower_offset(follower, offset);
	if (follower->piece) {
		decoding->event.cpu = follower->piece->cpu;
		follower_window(follower, &first, &end);
		stream_clock_piece(&decoding->clock, first, follower->piece->came, end, last_end);
	}
	return decoding_note_thread(decoding, result);
}

int decoding_message(struct decoding *decoding, int got, const struct ntrace_message *message)
{
	int result = 0;

	decoding->offset = message->offset;
	if (decoding->follower.by_piece)
		result = enter_piece(decoding, message->offset);
	if (result)
		return result;
	decoding->sync = got == NTRACE_WIRE_MESSAGE &&
			 ntrace_message_has(message, NTRACE_FIELD_SYNC);
	if (got == NTRACE_WIRE_MESSAGE)
		return ntrace_flow_message(decoding->flow, message);
	if (got == NTRACE_WIRE_ERROR)
		return ntrace_flow_wire_error(decoding->flow, message->offset);
	return got;
}

/*
 * A snapshot may begin inside a message. A piece marked as a start does not, since the encoder was
 * started there.
 */
bool decoding_starts_whole(const struct decoding *decoding, const struct ntrace_stream *stream)
{
	const struct follower *follower = &decoding->follower;

	return !stream->position ||
	       (follower->piece_count && follower->pieces[0].offset == stream->position);
}

static int compare_borders(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* See privilege_by(). */
static void set_borders(struct decoding *decoding)
{
	const struct ntrace_session *session = decoding->session;
	bool firmware = session->firmware_start <= session->firmware_last;

	decoding->borders[0] = decoding->kernel_begin;
	decoding->borders[1] = firmware ? session->firmware_start : decoding->kernel_begin;
	decoding->borders[2] = firmware && session->firmware_last != UINT64_MAX ?
				       session->firmware_last + 1 :
				       decoding->kernel_begin;
	qsort(decoding->borders, 3, sizeof(decoding->borders[0]), compare_borders);
}

int decoding_begin(struct decoding *decoding, struct ntrace_session *session, unsigned int stream,
		   const struct ntrace_decode_options *options, bool counts)
{
	const struct ntrace_stream *info = ntrace_session_stream(session, stream);
	bool counting = counts && options->segment;
	uint32_t needs = counting ? options->needs : 0;
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .event = receive_event,
					     .select = select_space,
					     .space = session->kernel,
					     .data = decoding,
					     .blocks = options->segment ? receive_blocks : NULL,
					     .effect = needs & NTRACE_NEEDS_SUMS ? receive_effect :
										   NULL,
					     .run = needs & NTRACE_NEEDS_RUNS ? receive_run : NULL,
					     .remember = counting && !(needs & COUNTED),
					     .borders = decoding->borders,
					     .border_count = 3,
					     .watch = decoding->watch,
					     .watch_count = 3 + NOTED_FUNCTIONS };
	int result;

	*decoding = (struct decoding){
		.session = session,
		.to = *options,
		.counting = counting,
		.watch = { session->switch_address, session->exec_address,
			   session->switch_address },
	};
	memcpy(decoding->watch + 3, session->noted_address, sizeof(session->noted_address));
	if (!info)
		return NTRACE_ERR_INVALID;
	config.params = info->params;
	config.src = info->src;
	decoding->event.stream = stream;
	decoding->event.cpu = info->cpu;
	decoding->event.sideband_ns = info->start_ns;
	decoding->stop_ns = info->stop_ns;
	decoding->first_tick = UINT64_MAX;
	decoding->event.privilege = PRIVILEGE_S;
	decoding->kernel_begin = ntrace_kernel_begin(info->params->xlen);
	set_borders(decoding);
	decoding->turn = SIZE_MAX;
	decoding->shows_code = !decoding_hides_switches(session);
	decoding->countable = !info->event && decoding->shows_code;
	decoding->spaces.session = session;
	/* That of trace from perf is the time of an exec record. */
	stream_clock_init(&decoding->clock, info->params, info->event ? 0 : info->start_ns,
			  info->event);
	result = follower_init(&decoding->follower, &decoding->spaces, stream,
			       session->recording->privilege &&
				       !(session->recording->privilege & TRACED_S));
	if (result)
		return result;
	if (!info->start_ns && !follower_has_times(&decoding->follower))
		stream_clock_assume(&decoding->clock);
	result = ntrace_flow_new(&decoding->flow, &config);
	if (result) {
		follower_free(&decoding->follower);
		return result;
	}
	flow_keep_runs(decoding->flow, flush_lane);
	if (decoding->counting)
		decoding->spaces.counting = decoding->flow;
	/* The trace of a CPU ends when the recorder says so, that of a task with its last turn. */
	decoding->event.cut = options->range || !decoding->follower.by_piece;
	decoding->event.program = program_number(&decoding->follower);
	note_attribution(decoding);
	return 0;
}

/* The statistics consist of counters only. */
void decoding_add_stats(struct ntrace_flow_stats *sums, const struct ntrace_flow_stats *stats)
{
	const uint64_t *more = (const uint64_t *)stats;
	uint64_t *sum = (uint64_t *)sums;

	for (size_t i = 0; i < sizeof(*stats) / sizeof(*sum); i++)
		sum[i] += more[i];
}

void decoding_end(struct decoding *decoding)
{
	struct ntrace_flow_stats stats = decoding->counts;

	if (!decoding->range)
		ntrace_flow_get_stats(decoding->flow, &stats);
	if (decoding->to.stats)
		decoding_add_stats(decoding->to.stats, &stats);
	session_note_times(decoding->session, decoding->event.stream, decoding->first_tick,
			   decoding->last_tick);
	ntrace_flow_free(decoding->flow);
	follower_free(&decoding->follower);
	spaces_free(&decoding->spaces);
}
