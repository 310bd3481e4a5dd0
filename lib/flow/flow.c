// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * From messages to walks (N-Trace 1.0, "decoding"); flow.h has the picture.
 *
 *	message			walks					is then
 *	DirectBranch		I-CNT; ends with a taken branch		at its target
 *	IndirectBranch, -Hist	I-CNT with HIST				at U-ADDR
 *	RepeatBranch		the last branch message, B-CNT times
 *	ResourceFull, I-CNT	nothing: the next I-CNT is as much more
 *	ResourceFull, HIST	eagerly: to the branch of the last bit	there
 *	ProgTraceCorrelation	I-CNT with HIST				off
 *	any with SYNC		as without, if the flow is synced	at F-ADDR
 *	Error			nothing					lost
 *
 * BTYPE 1 to 3: a trap leads to the address. A message that fails leaves the flow lost, or if only
 * code is missing unreadable. Ownership and timestamps: state.c; InCircuitTrace: circuit.c.
 */
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "struct_size.h"
#include "wire/params.h"
#include "wire/stamp.h"

/* HREPEAT and B-CNT have up to 18 bits (N-Trace 1.0); rc7 does not define their width. */
#define REPEAT_MAX (UINT64_C(1) << 24)

bool flow_emit(struct ntrace_flow *flow, struct ntrace_flow_event *event)
{
	if (flow->waiting.count && !flow_close_batch(flow))
		return false;
	if (flow->count) {
		flow_count_report_place(flow);
		if (event->type == NTRACE_FLOW_TRAP || event->type == NTRACE_FLOW_TRACE_OFF ||
		    event->type == NTRACE_FLOW_GAP || event->type == NTRACE_FLOW_ERROR)
			flow_count_part(flow);
		/* No call follows one that stops. */
		flow->stop = flow->count_error;
		if (flow->stop)
			return false;
	}
	event->offset = flow->offset;
	event->time = flow_time(flow);
	event->time_known = flow->time_state;
	event->src = (uint16_t)flow->config.src;
	event->dialect = (uint8_t)flow->params.dialect;
	event->context = &flow->owner;
	event->space = flow->space;
	flow->stop = flow->config.event(flow->config.data, event);
	return !flow->stop;
}

bool flow_emit_simple(struct ntrace_flow *flow, enum ntrace_flow_type type, uint8_t code,
		      uint64_t address, bool next_known, uint64_t value)
{
	struct ntrace_flow_event event = {
		.type = (uint8_t)type,
		.code = code,
		.address = address,
		.next_known = next_known,
		.value = value,
	};

	return flow_emit(flow, &event);
}

bool flow_warn(struct ntrace_flow *flow, enum ntrace_flow_error code, uint64_t address,
	       uint64_t value)
{
	flow->stats.warnings++;
	return flow_emit_simple(flow, NTRACE_FLOW_WARNING, (uint8_t)code, address,
				flow->phase == FLOW_AT_PC, value);
}

/* Drops all state that is valid only without a loss. */
static void drop_pending(struct ntrace_flow *flow)
{
	flow->icnt_pending = 0;
	flow->debt = 0;
	flow->branch.valid = false;
	flow->stack.count = 0;
	flow->select_block = false;
}

/*
 * The stream is whole: only the code could not be read, or the encoder did not report the outcome
 * of a branch.
 */
static bool unreadable(enum ntrace_flow_error code)
{
	return code == NTRACE_FLOW_ERROR_NOMAP || code == NTRACE_FLOW_ERROR_BADINSN ||
	       code == NTRACE_FLOW_ERROR_TABLE || code == NTRACE_FLOW_ERROR_NO_HISTORY;
}

/* Ends the known flow; the loss is reported once. */
static bool lose_sync(struct ntrace_flow *flow)
{
	bool known = flow->phase == FLOW_AT_PC;

	drop_pending(flow);
	if (flow->phase == FLOW_LOST || flow->phase == FLOW_UNREADABLE)
		return true;
	flow->phase = flow->phase == FLOW_OFF ? FLOW_LOST : FLOW_UNREADABLE;
	flow->stats.gaps++;
	return flow_emit_simple(flow, NTRACE_FLOW_GAP, NTRACE_FLOW_ERROR_NONE, known ? flow->pc : 0,
				known, 0);
}

/* Messages are missing or untrustworthy: drop all state accumulated over messages. */
static void lose_stream(struct ntrace_flow *flow)
{
	if (flow->phase == FLOW_UNREADABLE)
		flow->phase = FLOW_LOST;
	flow->reference_known = false;
	flow->time_state = TIME_UNKNOWN;
	memset(&flow->owner, 0, sizeof(flow->owner));
	flow->owner_repeated = true;
	flow->late_count = 0;
}

static bool report_failure(struct ntrace_flow *flow, struct ntrace_flow_event *event)
{
	flow->stats.errors++;
	event->type = NTRACE_FLOW_ERROR;
	if (flow_emit(flow, event))
		lose_sync(flow);
	if (!unreadable(event->code))
		lose_stream(flow);
	return false;
}

bool flow_fail(struct ntrace_flow *flow, enum ntrace_flow_error code, uint64_t address,
	       uint64_t value)
{
	struct ntrace_flow_event event = {
		.code = (uint8_t)code,
		.address = address,
		.next_known = flow->phase == FLOW_AT_PC,
		.value = value,
	};

	return report_failure(flow, &event);
}

/*
 * Takes the bits below HIST's stop bit @repeat times. Return: false: no stop bit or too many bits.
 */
static bool set_history(struct history *history, uint64_t value, uint64_t repeat)
{
	unsigned int width;

	memset(history, 0, sizeof(*history));
	if (!value)
		return false;
	width = 63 - (unsigned int)__builtin_clzll(value);
	if (repeat > REPEAT_MAX)
		return false;
	history->pattern = value;
	history->width = width;
	history->position = width;
	history->left = repeat * width;
	return true;
}

/* Walks the parcels that @icnt confirms, without those already walked for history. */
static bool walk_icnt(struct ntrace_flow *flow, struct walk *walk, uint64_t icnt)
{
	uint64_t total = flow->icnt_pending;
	uint64_t debt = flow->debt;

	flow->icnt_pending = 0;
	flow->debt = 0;
	if (icnt > ICNT_FIELD_MAX)
		return flow_fail(flow, NTRACE_FLOW_ERROR_EXCESS, flow->pc, icnt);
	total += icnt;
	if (total < debt)
		return flow_fail(flow, NTRACE_FLOW_ERROR_ICNT, flow->pc, flow->confirmed);
	walk->parcels = total - debt;
	if (walk->parcels > flow->credit)
		return flow_fail(flow, NTRACE_FLOW_ERROR_EXCESS, flow->pc, walk->parcels);
	if (!flow_walk(flow, walk))
		return false;
	flow->confirmed = flow->offset;
	return true;
}

/* Control is transferred to the handler at @address. */
static bool report_trap(struct ntrace_flow *flow, uint8_t btype, uint64_t address)
{
	bool known = flow->phase == FLOW_AT_PC;

	flow->stats.traps++;
	if (!flow_enter_pc(flow) ||
	    !flow_emit_simple(flow, NTRACE_FLOW_TRAP, btype, address, known, known ? flow->pc : 0))
		return false;
	flow->select_block = false;
	if (!flow_select(flow, NTRACE_FLOW_TRAP, address))
		return false;
	flow_count_trap(flow);
	return true;
}

/* Continues the flow at @address. */
static void continue_at(struct ntrace_flow *flow, uint64_t address)
{
	flow->reference = address;
	flow->reference_known = true;
	/* Where the walk itself came, it also knows the link: a return has that of its call. */
	if (flow->phase != FLOW_AT_PC || flow->pc != address)
		flow->previous_link = 1;
	flow->pc = address;
	flow->phase = FLOW_AT_PC;
}

/*
 * Code could not be read or the outcome of a branch was not reported, but no message was lost. So
 * the next reported address is right, and the flow is known again from there without a sync.
 * Return: false if the address is unknown, or the callback stopped.
 */
static bool resume_from_gap(struct ntrace_flow *flow, const struct branch_record *branch)
{
	if (flow->stop || flow->phase < FLOW_UNREADABLE ||
	    branch->tcode == NTRACE_TCODE_DIRECT_BRANCH)
		return false;
	if (branch->btype != NTRACE_BTYPE_JUMP && !report_trap(flow, branch->btype, branch->target))
		return false;
	flow->select_block = branch->btype == NTRACE_BTYPE_JUMP;
	flow->confirmed = flow->offset;
	continue_at(flow, branch->target);
	return true;
}

/* DirectBranch, IndirectBranch, IndirectBranchHist, and each repetition of one. */
static bool walk_branch(struct ntrace_flow *flow, const struct branch_record *branch)
{
	struct walk walk = { 0 };
	bool direct = branch->tcode == NTRACE_TCODE_DIRECT_BRANCH;

	if (!set_history(&walk.history, branch->hist, 1))
		return flow_fail(flow, NTRACE_FLOW_ERROR_HISTORY, flow->pc, flow->confirmed);
	walk.direct = direct;
	if (!direct && branch->btype == NTRACE_BTYPE_JUMP) {
		walk.address_known = true;
		walk.address_decides = true;
		walk.transfer = true;
		walk.address = branch->target;
	}
	if (!walk_icnt(flow, &walk, branch->icnt))
		return resume_from_gap(flow, branch);
	if (!direct) {
		/* A transfer is reported, but no instruction retired that could have made it. */
		if (walk.transfer && !walk.walked &&
		    !(flow->phase == FLOW_AT_PC && flow->pc == walk.address))
			return flow_fail(flow, NTRACE_FLOW_ERROR_TRANSFER, flow->pc, walk.address);
		if (branch->btype != NTRACE_BTYPE_JUMP &&
		    !report_trap(flow, branch->btype, branch->target))
			return false;
		continue_at(flow, branch->target);
		return true;
	}
	if (walk.last_class < NTRACE_INSN_BRANCH || walk.last_class > NTRACE_INSN_OTHER_JUMP)
		return flow_fail(flow, NTRACE_FLOW_ERROR_TRANSFER, flow->pc, flow->confirmed);
	return true;
}

static bool handle_branch(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct branch_record *branch = &flow->branch;

	branch->valid = true;
	branch->tcode = message->tcode;
	branch->btype = (uint8_t)message->field[NTRACE_FIELD_BTYPE];
	branch->icnt = message->field[NTRACE_FIELD_ICNT];
	branch->hist = 1;
	if (ntrace_message_has(message, NTRACE_FIELD_HIST))
		branch->hist = message->field[NTRACE_FIELD_HIST];
	branch->target = 0;
	if (ntrace_message_has(message, NTRACE_FIELD_UADDR))
		branch->target = ntrace_message_address(message, &flow->params, flow->reference);
	branch->difference = branch->target ^ flow->reference;
	return flow_is_synced(flow) ? walk_branch(flow, branch) : resume_from_gap(flow, branch);
}

/* Repeats the last branch message with the same target, or as it was sent (repeat_message). */
static bool repeat_branch(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct branch_record branch = flow->branch;
	uint64_t count = message->field[NTRACE_FIELD_BCNT];

	if (!branch.valid)
		return flow_fail(flow, NTRACE_FLOW_ERROR_REPEAT, flow->pc, flow->confirmed);
	/* One extra parcel per repetition bounds traps with I-CNT 0. */
	if (count > REPEAT_MAX ||
	    (count && branch.icnt >= flow_credit_of(message, REPEATED_PER_BYTE) / count))
		return flow_fail(flow, NTRACE_FLOW_ERROR_EXCESS, flow->pc, count);
	if (flow->credit < count * (branch.icnt + 1))
		flow->credit = count * (branch.icnt + 1);
	while (count--) {
		if (flow->params.repeat_message && branch.tcode != NTRACE_TCODE_DIRECT_BRANCH)
			branch.target = flow->reference ^ branch.difference;
		if (!walk_branch(flow, &branch))
			return false;
	}
	return true;
}

/* Walks history now; a later I-CNT must cover the parcels. */
static bool walk_history(struct ntrace_flow *flow, uint64_t hist, uint64_t repeat)
{
	struct walk walk = { .eager = true, .parcels = flow->credit };

	if (!set_history(&walk.history, hist, repeat))
		return flow_fail(flow, NTRACE_FLOW_ERROR_HISTORY, flow->pc, flow->confirmed);
	if (!flow_walk(flow, &walk))
		return false;
	flow->debt += walk.walked;
	return true;
}

/* In the pre-ratification SiFive dialect, RCODE 8 and 9 count branches not taken and taken. */
static bool counts_branches(const struct ntrace_flow *flow, uint64_t rcode)
{
	return flow->params.dialect == NTRACE_DIALECT_SIFIVE_V0 && (rcode == 8 || rcode == 9);
}

static bool handle_resource_full(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	uint64_t rcode = message->field[NTRACE_FIELD_RCODE];
	uint64_t icnt = message->field[NTRACE_FIELD_ICNT];

	flow->branch.valid = false;
	switch (rcode) {
	case NTRACE_RCODE_ICNT:
		if (icnt > ICNT_FIELD_MAX || icnt > ICNT_MAX - flow->icnt_pending)
			return flow_fail(flow, NTRACE_FLOW_ERROR_EXCESS, flow->pc, icnt);
		flow->icnt_pending += icnt;
		return true;
	case NTRACE_RCODE_HIST:
		return walk_history(flow, message->field[NTRACE_FIELD_HIST], 1);
	case NTRACE_RCODE_HIST_REPEAT:
		if (!message->field[NTRACE_FIELD_HREPEAT] &&
		    !flow_warn(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc, 0))
			return false;
		return walk_history(flow, message->field[NTRACE_FIELD_HIST],
				    message->field[NTRACE_FIELD_HREPEAT]);
	}
	if (counts_branches(flow, rcode))
		return walk_history(flow, rcode == 8 ? 2 : 3, message->field[NTRACE_FIELD_RDATA]);
	return flow_warn(flow, NTRACE_FLOW_ERROR_UNKNOWN, flow->pc, rcode);
}

/* Relation of the code before a sync to the code after it. */
enum continuity {
	CONTINUES,	/* the hart continued to run */
	BEGINS_ANEW,	/* the code before is unrelated */
	MAY_CONTINUE,	/* reserved or vendor */
};

static enum continuity continuity_of(uint64_t sync)
{
	switch (sync) {
	case NTRACE_SYNC_EXTERNAL_TRIGGER:
	case NTRACE_SYNC_PERIODIC:
	case NTRACE_SYNC_ICNT_FULL:
	case NTRACE_SYNC_TRACE_EVENT:
		return CONTINUES;
	case NTRACE_SYNC_RESET_EXIT:
	case NTRACE_SYNC_DEBUG_EXIT:
	case NTRACE_SYNC_TRACE_ENABLE:
	case NTRACE_SYNC_FIFO_OVERRUN:
	case NTRACE_SYNC_POWER_DOWN_EXIT:
		return BEGINS_ANEW;
	default:
		return MAY_CONTINUE;
	}
}

/*
 * Encoders of rc7 may keep their return stack at these markers. Addresses that an encoder has dropped
 * do no harm: it reports the returns to them.
 */
static bool keeps_stack(uint64_t sync)
{
	return sync == NTRACE_SYNC_EXTERNAL_TRIGGER || sync == NTRACE_SYNC_ICNT_FULL ||
	       sync == NTRACE_SYNC_TRACE_EVENT;
}

/* Walks up to a sync and compares. Return: false if stopped or lost; the sync stays valid. */
static bool walk_to_sync(struct ntrace_flow *flow, const struct ntrace_message *message,
			 uint64_t address)
{
	uint64_t sync = message->field[NTRACE_FIELD_SYNC];
	bool jump = message->field[NTRACE_FIELD_BTYPE] == NTRACE_BTYPE_JUMP;
	enum continuity continuity = continuity_of(sync);
	struct walk walk = { 0 };
	uint64_t hist = 1;

	if (ntrace_message_has(message, NTRACE_FIELD_HIST))
		hist = message->field[NTRACE_FIELD_HIST];
	if (!set_history(&walk.history, hist, 1))
		return flow_fail(flow, NTRACE_FLOW_ERROR_HISTORY, flow->pc, flow->confirmed);
	walk.direct = message->tcode == NTRACE_TCODE_DIRECT_BRANCH_SYNC;
	if (jump && continuity != BEGINS_ANEW) {
		walk.address = address;
		walk.address_known = true;
		/* Also with HIST: some encoders leave out the bit of the last branch. */
		walk.address_decides = true;
	}
	if (!walk_icnt(flow, &walk, message->field[NTRACE_FIELD_ICNT]))
		return false;
	if (!jump || (flow->phase == FLOW_AT_PC && flow->pc == address))
		return true;
	if (continuity == CONTINUES)
		return flow_fail(flow, NTRACE_FLOW_ERROR_ADDRESS, flow->pc, address);
	/* After a reset other code runs; otherwise trace was off for an unknown time. */
	if (!flow_close_batch(flow))
		return false;
	memset(&flow->owner, 0, sizeof(flow->owner));
	if (sync == NTRACE_SYNC_RESET_EXIT || sync == NTRACE_SYNC_POWER_DOWN_EXIT)
		return true;
	return lose_sync(flow);
}

static bool handle_sync(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	uint64_t sync = message->field[NTRACE_FIELD_SYNC];
	uint8_t btype = (uint8_t)message->field[NTRACE_FIELD_BTYPE];
	uint64_t address = ntrace_message_address(message, &flow->params, 0);
	unsigned int stack;

	if (flow_is_synced(flow))
		walk_to_sync(flow, message, address);
	if (flow->stop || !flow_apply_owners(flow, true))
		return false;
	flow_expect_owner(flow);
	/* If the earlier flow does not lead here, its time is invalid; that of the sync is not. */
	if (!flow->time_state)
		flow_update_time(flow, message);
	if (btype != NTRACE_BTYPE_JUMP && !report_trap(flow, btype, address))
		return false;
	stack = keeps_stack(sync) ? flow->stack.count : 0;
	drop_pending(flow);
	flow->stack.count = stack;
	/* In rc7, RepeatBranch also repeats a message with SYNC. */
	if (message->tcode == NTRACE_TCODE_DIRECT_BRANCH_SYNC &&
	    flow->params.dialect == NTRACE_DIALECT_RC7)
		flow->branch = (struct branch_record){ .valid = true,
						       .tcode = NTRACE_TCODE_DIRECT_BRANCH,
						       .icnt = message->field[NTRACE_FIELD_ICNT],
						       .hist = 1 };
	flow->confirmed = flow->offset;
	continue_at(flow, address);
	flow->stats.syncs++;
	return flow_select(flow, NTRACE_FLOW_SYNC, address) &&
	       flow_emit_simple(flow, NTRACE_FLOW_SYNC, (uint8_t)sync, address, true, 0);
}

static bool handle_correlation(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct walk walk = { 0 };
	uint64_t hist = 1;
	bool known;

	if (ntrace_message_has(message, NTRACE_FIELD_HIST))
		hist = message->field[NTRACE_FIELD_HIST];
	if (flow_is_synced(flow)) {
		if (!set_history(&walk.history, hist, 1))
			flow_fail(flow, NTRACE_FLOW_ERROR_HISTORY, flow->pc, flow->confirmed);
		else
			walk_icnt(flow, &walk, message->field[NTRACE_FIELD_ICNT]);
		if (flow->stop || !flow_apply_owners(flow, true))
			return false;
	} else if (message->field[NTRACE_FIELD_ICNT] && !lose_sync(flow)) {
		/* Instructions retired that the flow has not seen. */
		return false;
	}
	/* Reserved values of CDF may mean history in an unknown form. */
	if (message->field[NTRACE_FIELD_CDF] > 1 &&
	    !flow_warn(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc, 0))
		return false;
	known = flow->phase == FLOW_AT_PC;
	if (!flow_enter_pc(flow))
		return false;
	flow->phase = FLOW_OFF;
	drop_pending(flow);
	if (!flow_emit_simple(flow, NTRACE_FLOW_TRACE_OFF,
			      (uint8_t)message->field[NTRACE_FIELD_EVCODE], known ? flow->pc : 0,
			      known, 0))
		return false;
	/* The context is reported again when trace is enabled. */
	memset(&flow->owner, 0, sizeof(flow->owner));
	return true;
}

/* A message that depends on an earlier sync. */
static bool handle_relative(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	if (!flow_is_synced(flow) &&
	    !(flow->phase == FLOW_UNREADABLE && ntrace_message_has(message, NTRACE_FIELD_UADDR))) {
		flow_track_address(flow, message);
		return lose_sync(flow);
	}
	switch (message->tcode) {
	case NTRACE_TCODE_INDIRECT_BRANCH_HIST:
	case NTRACE_TCODE_DIRECT_BRANCH:
	case NTRACE_TCODE_INDIRECT_BRANCH:
		return handle_branch(flow, message);
	case NTRACE_TCODE_REPEAT_BRANCH:
		return repeat_branch(flow, message);
	default:
		return handle_resource_full(flow, message);
	}
}

/*
 * Parcels that ResourceFull counted since the last I-CNT have retired, but they are not walked: the lost messages
 * had the history of their branches, and a counter that became full may end inside an instruction whose rest is
 * lost, too. Nothing tells such an end from a contradiction. They are part of the gap.
 */
static bool handle_encoder_error(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	struct ntrace_flow_event event = {
		.code = NTRACE_FLOW_ERROR_LOST,
		.etype = (uint8_t)message->field[NTRACE_FIELD_ETYPE],
		.address = flow->pc,
		.next_known = flow->phase == FLOW_AT_PC,
		.value = message->field[NTRACE_FIELD_ECODE],
	};

	return report_failure(flow, &event);
}

/*
 * Only HTM has history, and only BTM DirectBranch (N-Trace 1.0, "messages"). A later message can
 * correct the mode, because the first one may have been damaged.
 */
static void learn_mode(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	bool branch = message->tcode == NTRACE_TCODE_DIRECT_BRANCH ||
		      message->tcode == NTRACE_TCODE_DIRECT_BRANCH_SYNC;
	bool history = ntrace_message_has(message, NTRACE_FIELD_HIST) ||
		       (message->tcode == NTRACE_TCODE_RESOURCE_FULL &&
			counts_branches(flow, message->field[NTRACE_FIELD_RCODE]));

	if (!branch && !history)
		return;
	flow->mode = branch ? NTRACE_MODE_BRANCH : NTRACE_MODE_HISTORY;
}

static bool handle_message(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	if (message->flags & NTRACE_MESSAGE_UNKNOWN)
		return flow_warn(flow, NTRACE_FLOW_ERROR_UNKNOWN, flow->pc, message->tcode);
	if (ntrace_message_is_circuit(message))
		return flow_handle_circuit(flow, message);
	if (ntrace_message_is_beside(message))
		return true;
	/* PROCESS may have any width and does not affect the flow. */
	if (message->tcode == NTRACE_TCODE_OWNERSHIP) {
		if (!ntrace_message_has(message, NTRACE_FIELD_PROCESS))
			return flow_warn(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc, 0);
		return flow_handle_ownership(flow, message);
	}
	if (flow_damaged(message))
		return flow_fail(flow, NTRACE_FLOW_ERROR_MESSAGE, flow->pc, flow->confirmed);
	if (flow->params.mode == NTRACE_MODE_ANY)
		learn_mode(flow, message);
	if (message->tcode == NTRACE_TCODE_ERROR)
		return handle_encoder_error(flow, message);
	if (message->tcode == NTRACE_TCODE_PROG_TRACE_CORRELATION)
		return handle_correlation(flow, message);
	if (!flow_is_sync(message))
		return handle_relative(flow, message);
	if (!flow_is_sample(flow, message))
		return handle_sync(flow, message);
	/* Without program trace, nothing is executed from there on. */
	if (flow_is_synced(flow) && !handle_sync(flow, message))
		return false;
	return flow_handle_sample(flow, message);
}

int flow_result(struct ntrace_flow *flow)
{
	int stop = flow->stop ? flow->stop : flow->count_error;

	flow->stop = 0;
	flow->count_error = 0;
	if (stop) {
		if (flow_is_synced(flow))
			flow->phase = FLOW_OFF;
		lose_stream(flow);
		drop_pending(flow);
	}
	return stop;
}

/* Frequent messages that do not change the state shared by a batch. */
static bool keeps_batch(const struct ntrace_message *message)
{
	if (ntrace_message_has(message, NTRACE_FIELD_TSTAMP))
		return false;
	switch (message->tcode) {
	case NTRACE_TCODE_DIRECT_BRANCH:
	case NTRACE_TCODE_INDIRECT_BRANCH:
	case NTRACE_TCODE_INDIRECT_BRANCH_HIST:
	case NTRACE_TCODE_REPEAT_BRANCH:
	case NTRACE_TCODE_RESOURCE_FULL:
		return true;
	default:
		return false;
	}
}

int ntrace_flow_message(struct ntrace_flow *flow, const struct ntrace_message *message)
{
	if (ntrace_message_has(message, NTRACE_FIELD_SRC) && !flow_is_own(flow, message))
		return 0;
	if (flow->waiting.count && !keeps_batch(message) && !flow_close_batch(flow))
		return flow_result(flow);
	flow->stats.messages++;
	if (flow->count)
		flow_count_begin(flow, message);
	flow->offset = message->offset;
	flow->credit = flow_credit_after(flow->credit, message);
	flow_update_time(flow, message);
	handle_message(flow, message);
	if (flow->late_count && !flow->stop)
		flow_apply_owners(flow, !flow_is_synced(flow));
	if (!ntrace_message_is_beside(message))
		flow->owner_due = flow_is_sync(message);
	if (flow->waiting.count && flow->time_state == TIME_NEW && !flow->stop) {
		flow->time_state = TIME_OF_BLOCKS;
		flow_close_batch(flow);
	}
	if (flow->count)
		flow_count_end(flow, message);
	return flow_result(flow);
}

int ntrace_flow_wire_error(struct ntrace_flow *flow, uint64_t offset)
{
	flow->offset = offset;
	flow_fail(flow, NTRACE_FLOW_ERROR_WIRE, flow->pc, flow->confirmed);
	return flow_result(flow);
}

int ntrace_flow_break(struct ntrace_flow *flow, uint64_t offset)
{
	flow->offset = offset;
	flow_fail(flow, NTRACE_FLOW_ERROR_MISSING, flow->pc, flow->confirmed);
	return flow_result(flow);
}

int ntrace_flow_end(struct ntrace_flow *flow, uint64_t pending)
{
	struct walk walk = { .stop_at_branch = flow->mode != NTRACE_MODE_BRANCH };

	/*
	 * The code counted by ResourceFull was executed, although only a later HIST could report
	 * its branches. Until a message reveals the mode, such a HIST may still come.
	 */
	if (flow_is_synced(flow) && flow->icnt_pending > flow->debt && walk_icnt(flow, &walk, 0) &&
	    walk.stopped && walk.parcels)
		flow_fail(flow, NTRACE_FLOW_ERROR_TAIL, flow->pc, walk.parcels);
	if (!flow->stop)
		flow_apply_owners(flow, true);
	if (pending && !flow->stop)
		flow_fail(flow, NTRACE_FLOW_ERROR_CUT, flow->pc, flow->confirmed);
	if (!flow->stop)
		flow_close_batch(flow);
	flow_count_report_place(flow);
	flow_count_fold(flow);
	return flow_result(flow);
}

int ntrace_flow_flush(struct ntrace_flow *flow)
{
	flow_close_batch(flow);
	flow_count_report_place(flow);
	flow_count_fold(flow);
	return flow_result(flow);
}

void ntrace_flow_separate(struct ntrace_flow *flow)
{
	flow_count_part(flow);
}

const struct ntrace_context *ntrace_flow_context(const struct ntrace_flow *flow)
{
	return &flow->owner;
}

void ntrace_flow_get_stats(const struct ntrace_flow *flow, struct ntrace_flow_stats *stats)
{
	*stats = flow->stats;
	if (flow->count)
		flow_count_add_stats(flow->count, stats);
}

static bool valid_config(const struct ntrace_flow_config *config,
			 const struct ntrace_params *params)
{
	bool counts = config->effect || config->run;

	return config->event && (config->blocks || !(counts || config->remember)) &&
	       !(counts && config->remember) && (params->xlen == 32 || params->xlen == 64) &&
	       params->src_bits <= NTRACE_SRC_BITS_MAX && params->timestamp_bits <= 64 &&
	       (!params->src_bits || config->src == NTRACE_SRC_ANY ||
		!(config->src >> params->src_bits));
}

int ntrace_flow_new(struct ntrace_flow **flow, const struct ntrace_flow_config *config)
{
	struct ntrace_flow_config full = { 0 };
	struct ntrace_params params;
	struct ntrace_flow *made;
	bool counts;

	ntrace_params_init(&params);
	if (!flow || !config || STRUCT_TAKE(&full, config) ||
	    (full.params && STRUCT_TAKE(&params, full.params)) || !valid_config(&full, &params))
		return NTRACE_ERR_INVALID;
	config = &full;
	*flow = NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->config = *config;
	made->config.params = NULL;
	made->config.space = NULL;
	made->params = params;
	made->params.timestamp_delta = stamp_delta(&params);
	if (config->src == NTRACE_SRC_ANY) {
		made->config.src = 0;
		made->params.src_bits = 0;
	}
	made->params.isa = NULL;
	made->mode = params.mode;
	made->owner_open = params_owner_open(&params);
	made->owner_context = params_owner_is_context(&params);
	made->default_isa = (struct ntrace_isa){
		.xlen = (uint8_t)params.xlen,
		.compressed = true,
	};
	if (params_isa(&params) && ntrace_isa_parse(&made->isa, params.isa)) {
		free(made);
		return NTRACE_ERR_INVALID;
	}
	if (block_cache_init(&made->cache)) {
		block_cache_free(&made->cache);
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	counts = config->effect || config->run || config->remember;
	made->batch_room = counts ? COUNT_BLOCKS : BATCH_BLOCKS;
	if (config->blocks)
		made->batch = malloc(made->batch_room * sizeof(*made->batch));
	if ((config->blocks && !made->batch) || (counts && flow_count_new(made))) {
		ntrace_flow_free(made);
		return NTRACE_ERR_NOMEM;
	}
	made->config.space = ntrace_space_get(config->space);
	flow_enter_space(made, config->space);
	*flow = made;
	return NTRACE_OK;
}

void ntrace_flow_free(struct ntrace_flow *flow)
{
	if (!flow)
		return;
	block_cache_free(&flow->cache);
	free(flow->batch);
	flow_count_free(flow->count);
	if (flow->config.space)
		ntrace_space_put(flow->config.space);
	free(flow);
}
