// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Query of a stream without code; see ntrace/query.h.
 *
 * Messages become stretches: so many parcels and history bits, and what is at their end. A
 * ResourceFull with history is a stretch without a count; its parcels are a debt that the next I-CNT
 * must cover, as in lib/flow.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/query.h>

#include "struct_size.h"
#include "wire/stamp.h"

/* Sums of I-CNT above this are damage. */
#define PARCELS_MAX (UINT64_C(1) << 62)
/* As in lib/flow: HREPEAT and B-CNT have up to 18 bits. */
#define REPEAT_MAX (UINT64_C(1) << 24)

/* What is at the end of a stretch. */
enum end {
	END_NOTHING,
	END_TAKEN,	/* the last instruction is a taken branch */
	END_EVENT,	/* the event is next */
};

/**
 * struct stretch - what one message says
 * @eager: only history bits count
 * @history: HIST is present: a branch without a bit is an error
 * @parcels: parcels left, if not @eager
 * @pattern: history bits, the oldest at the top, @width of them
 * @position: bits of the pattern left in this round
 * @bits: bits left in all rounds
 */
struct stretch {
	bool eager;
	bool history;
	uint8_t end;
	uint64_t parcels;
	uint64_t pattern;
	unsigned int width;
	unsigned int position;
	uint64_t bits;
};

/* The last branch message, for RepeatBranch. */
struct branch {
	bool valid;
	uint64_t icnt;
	struct stretch stretch;
	struct ntrace_query_event event;
};

struct ntrace_query {
	struct ntrace_params params;
	unsigned int src;
	struct ntrace_reader reader;
	struct stretch now;
	struct ntrace_query_event event;	/* at the end of the stretch */
	struct ntrace_query_event after;	/* with @more: the next event after that one */
	bool more;
	struct branch branch;
	uint64_t repeats;		/* repetitions of the branch message left */
	uint64_t reference;		/* last reported address */
	uint64_t icnt_pending;		/* sum of ResourceFull with I-CNT */
	uint64_t debt;			/* parcels walked for history alone */
	uint64_t time;			/* as in lib/flow */
	bool time_known;
	bool synced;
	bool history_mode;
	bool ended;
};

int ntrace_query_new(struct ntrace_query **query, const struct ntrace_params *params,
		     unsigned int src, const uint8_t *data, size_t size)
{
	struct ntrace_query *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	ntrace_params_init(&made->params);
	error = params ? STRUCT_TAKE(&made->params, params) : 0;
	made->params.isa = NULL;
	made->src = src;
	if (!error && made->params.xlen != 32 && made->params.xlen != 64)
		error = NTRACE_ERR_INVALID;
	if (!error)
		error = ntrace_reader_init(&made->reader, &made->params, true);
	if (error) {
		free(made);
		return error;
	}
	made->history_mode = made->params.mode == NTRACE_MODE_HISTORY;
	ntrace_reader_feed(&made->reader, data, size);
	*query = made;
	return 0;
}

void ntrace_query_free(struct ntrace_query *query)
{
	free(query);
}

/* An event is next, without code before it. */
static void put_event(struct ntrace_query *query, enum ntrace_query_type type, unsigned int code,
		      uint64_t value)
{
	query->now = (struct stretch){ .end = END_EVENT };
	query->event.type = (uint8_t)type;
	query->event.code = (uint8_t)code;
	query->event.btype = 0;
	query->event.address = 0;
	query->event.value = value;
}

static void drop_pending(struct ntrace_query *query)
{
	query->icnt_pending = 0;
	query->debt = 0;
	query->repeats = 0;
	query->branch.valid = false;
}

/* Gives the next event its @offset and the time reported so far. */
static void date_event(struct ntrace_query *query, uint64_t offset)
{
	query->event.offset = offset;
	query->event.time_known = query->time_known;
	query->event.time = query->time_known ? query->time : 0;
}

/*
 * A sync or the end of trace is right even if the code before it is not. Lost messages may have
 * changed the time, so it is unknown until a sync.
 */
static void lose(struct ntrace_query *query, enum ntrace_query_loss loss, uint64_t value)
{
	if (query->now.end == END_EVENT && (query->event.type == NTRACE_QUERY_SYNC ||
					    query->event.type == NTRACE_QUERY_TRACE_OFF)) {
		query->after = query->event;
		query->more = true;
	}
	if (!query->more || query->after.type != NTRACE_QUERY_SYNC)
		query->time_known = false;
	query->synced = false;
	drop_pending(query);
	put_event(query, NTRACE_QUERY_LOSS, loss, value);
}

/* Takes the bits below HIST's stop bit. Return: false: there is none, or too many. */
static bool take_history(struct stretch *stretch, uint64_t value, uint64_t repeat)
{
	if (!value || repeat > REPEAT_MAX)
		return false;
	stretch->pattern = value;
	stretch->width = 63 - (unsigned int)__builtin_clzll(value);
	stretch->position = stretch->width;
	stretch->bits = repeat * stretch->width;
	return true;
}

/* Counts @icnt parcels, less those walked already. Return: false: there are fewer. */
static bool take_icnt(struct ntrace_query *query, uint64_t icnt)
{
	uint64_t total = query->icnt_pending, debt = query->debt;

	query->icnt_pending = 0;
	query->debt = 0;
	if (icnt > PARCELS_MAX || total + icnt < debt)
		return false;
	query->now.parcels = total + icnt - debt;
	return true;
}

/* Starts the stretch of the branch message once, or again. */
static void begin_branch(struct ntrace_query *query)
{
	query->now = query->branch.stretch;
	query->event = query->branch.event;
	if (!take_icnt(query, query->branch.icnt))
		lose(query, NTRACE_QUERY_LOSS_CODE, 0);
}

/* The event that a message with an address reports. */
static void set_event(struct ntrace_query *query, const struct ntrace_message *message)
{
	struct ntrace_query_event *event = &query->event;

	event->btype = (uint8_t)message->field[NTRACE_FIELD_BTYPE];
	event->code = 0;
	event->value = 0;
	event->address = ntrace_message_address(message, &query->params, query->reference);
	event->type = event->btype ? NTRACE_QUERY_TRAP : NTRACE_QUERY_TARGET;
	if (ntrace_message_has(message, NTRACE_FIELD_SYNC)) {
		event->type = NTRACE_QUERY_SYNC;
		event->code = (uint8_t)message->field[NTRACE_FIELD_SYNC];
	}
	query->reference = event->address;
}

static void take_branch(struct ntrace_query *query, const struct ntrace_message *message)
{
	struct branch *branch = &query->branch;
	bool history = ntrace_message_has(message, NTRACE_FIELD_HIST);

	branch->stretch = (struct stretch){ .history = history, .end = END_TAKEN };
	branch->icnt = message->field[NTRACE_FIELD_ICNT];
	branch->valid = true;
	if (history && !take_history(&branch->stretch, message->field[NTRACE_FIELD_HIST], 1)) {
		lose(query, NTRACE_QUERY_LOSS_MESSAGE, 0);
		return;
	}
	if (message->tcode != NTRACE_TCODE_DIRECT_BRANCH) {
		set_event(query, message);
		branch->stretch.end = END_EVENT;
	}
	branch->event = query->event;
	begin_branch(query);
}

/* The code before the event that has been put, which @message reports as well. */
static void take_rest(struct ntrace_query *query, const struct ntrace_message *message)
{
	query->now.history = ntrace_message_has(message, NTRACE_FIELD_HIST);
	if ((query->now.history &&
	     !take_history(&query->now, message->field[NTRACE_FIELD_HIST], 1)) ||
	    !take_icnt(query, message->field[NTRACE_FIELD_ICNT]))
		lose(query, NTRACE_QUERY_LOSS_MESSAGE, 0);
}

static void take_sync(struct ntrace_query *query, const struct ntrace_message *message)
{
	query->now = (struct stretch){ .end = END_EVENT };
	set_event(query, message);
	if (query->synced)
		take_rest(query, message);
	drop_pending(query);
	query->synced = true;
}

static void take_off(struct ntrace_query *query, const struct ntrace_message *message)
{
	put_event(query, NTRACE_QUERY_TRACE_OFF, (unsigned int)message->field[NTRACE_FIELD_EVCODE],
		  0);
	if (query->synced)
		take_rest(query, message);
	drop_pending(query);
	query->synced = false;
}

static void take_full(struct ntrace_query *query, const struct ntrace_message *message)
{
	uint64_t rcode = message->field[NTRACE_FIELD_RCODE], repeat = 1;
	uint64_t history = message->field[NTRACE_FIELD_HIST];

	query->branch.valid = false;
	if (rcode == NTRACE_RCODE_ICNT) {
		query->icnt_pending += message->field[NTRACE_FIELD_ICNT];
		if (query->icnt_pending > PARCELS_MAX)
			lose(query, NTRACE_QUERY_LOSS_MESSAGE, 0);
		return;
	}
	if (query->params.dialect == NTRACE_DIALECT_SIFIVE_V0 && (rcode == 8 || rcode == 9)) {
		history = rcode == 8 ? 2 : 3;
		repeat = message->field[NTRACE_FIELD_RDATA];
	} else if (rcode == NTRACE_RCODE_HIST_REPEAT) {
		repeat = message->field[NTRACE_FIELD_HREPEAT];
	} else if (rcode != NTRACE_RCODE_HIST) {
		return;
	}
	query->now = (struct stretch){ .eager = true, .history = true };
	if (!take_history(&query->now, history, repeat))
		lose(query, NTRACE_QUERY_LOSS_MESSAGE, 0);
}

static void take_repeat(struct ntrace_query *query, const struct ntrace_message *message)
{
	query->repeats = message->field[NTRACE_FIELD_BCNT];
	if (!query->branch.valid || query->repeats > REPEAT_MAX) {
		lose(query, NTRACE_QUERY_LOSS_MESSAGE, 0);
		return;
	}
	/* Repetitions have the address of the branch message, and offset and time of this one. */
	query->branch.event.offset = query->event.offset;
	query->branch.event.time_known = query->event.time_known;
	query->branch.event.time = query->event.time;
}

static void take_message(struct ntrace_query *query, const struct ntrace_message *message)
{
	stamp_take(message, &query->params, &query->time, &query->time_known);
	date_event(query, message->offset);
	if (message->flags & NTRACE_MESSAGE_UNKNOWN || ntrace_message_is_circuit(message))
		return;
	if (message->tcode == NTRACE_TCODE_OWNERSHIP) {
		put_event(query, NTRACE_QUERY_OWNERSHIP, 0, message->field[NTRACE_FIELD_PROCESS]);
		return;
	}
	if (message->flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_OVERSIZE)) {
		lose(query, NTRACE_QUERY_LOSS_MESSAGE, 0);
		return;
	}
	if (ntrace_message_has(message, NTRACE_FIELD_HIST))
		query->history_mode = true;
	if (message->tcode == NTRACE_TCODE_ERROR)
		lose(query, NTRACE_QUERY_LOSS_ENCODER, message->field[NTRACE_FIELD_ECODE]);
	else if (message->tcode == NTRACE_TCODE_PROG_TRACE_CORRELATION)
		take_off(query, message);
	else if (ntrace_message_has(message, NTRACE_FIELD_SYNC))
		take_sync(query, message);
	else if (!query->synced)
		return;
	else if (message->tcode == NTRACE_TCODE_REPEAT_BRANCH)
		take_repeat(query, message);
	else if (message->tcode == NTRACE_TCODE_RESOURCE_FULL)
		take_full(query, message);
	else
		take_branch(query, message);
}

static bool is_ours(const struct ntrace_query *query, const struct ntrace_message *message)
{
	return !query->params.src_bits || !ntrace_message_has(message, NTRACE_FIELD_SRC) ||
	       message->field[NTRACE_FIELD_SRC] == query->src;
}

/* Reads messages until there is code to walk, or an event. */
static void load(struct ntrace_query *query)
{
	struct ntrace_message message;
	int got;

	while (!query->now.parcels && !query->now.bits && query->now.end != END_EVENT) {
		query->now = (struct stretch){ 0 };
		if (query->repeats) {
			query->repeats--;
			begin_branch(query);
			continue;
		}
		got = ntrace_reader_next(&query->reader, &message);
		if (got == NTRACE_ERR_AGAIN) {
			date_event(query, query->reader.offset);
			put_event(query, NTRACE_QUERY_END, 0,
				  ntrace_reader_pending(&query->reader));
		} else if (got == NTRACE_WIRE_ERROR) {
			date_event(query, message.offset);
			lose(query, NTRACE_QUERY_LOSS_WIRE, 0);
		} else if (is_ours(query, &message)) {
			take_message(query, &message);
		}
	}
	/* Bits without code contradict the count, unless the message has no count. */
	if (query->now.bits && !query->now.parcels && !query->now.eager)
		lose(query, NTRACE_QUERY_LOSS_CODE, 0);
}

int ntrace_query_left(struct ntrace_query *query, uint64_t *parcels)
{
	*parcels = 0;
	if (query->ended)
		return NTRACE_ERR_EOS;
	load(query);
	if (query->now.eager && query->now.bits)
		*parcels = UINT64_MAX;
	else
		*parcels = query->now.parcels;
	return *parcels ? 0 : 1;
}

int ntrace_query_event(struct ntrace_query *query, struct ntrace_query_event *event)
{
	uint64_t parcels;
	int got = ntrace_query_left(query, &parcels);

	if (got != 1)
		return got ? got : 1;
	*event = query->event;
	query->ended = event->type == NTRACE_QUERY_END;
	memset(&query->now, 0, sizeof(query->now));
	if (query->more) {
		query->more = false;
		query->event = query->after;
		query->now.end = END_EVENT;
		query->synced = query->event.type == NTRACE_QUERY_SYNC;
	}
	return 0;
}

int ntrace_query_retire(struct ntrace_query *query, unsigned int parcels)
{
	uint64_t left;

	if (!parcels || ntrace_query_left(query, &left))
		return NTRACE_ERR_INVALID;
	if (query->now.eager) {
		query->debt += parcels;
		return 0;
	}
	if (parcels > query->now.parcels) {
		lose(query, NTRACE_QUERY_LOSS_CODE, 0);
		return NTRACE_ERR_FORMAT;
	}
	query->now.parcels -= parcels;
	return query->now.parcels ? 0 : 1;
}

static bool next_bit(struct stretch *stretch)
{
	if (!stretch->position)
		stretch->position = stretch->width;
	stretch->position--;
	stretch->bits--;
	return stretch->pattern >> stretch->position & 1;
}

/* Whether the address of an event is that of the instruction after the last one. */
static bool continues(const struct ntrace_query_event *event)
{
	if (event->type != NTRACE_QUERY_SYNC || event->btype != NTRACE_BTYPE_JUMP)
		return event->type == NTRACE_QUERY_TARGET;
	/* After the other reasons, unrelated code may run. */
	return event->code == NTRACE_SYNC_EXTERNAL_TRIGGER || event->code == NTRACE_SYNC_PERIODIC ||
	       event->code == NTRACE_SYNC_ICNT_FULL || event->code == NTRACE_SYNC_TRACE_EVENT;
}

int ntrace_query_branch(struct ntrace_query *query, bool *taken)
{
	struct stretch *now = &query->now;

	*taken = false;
	if (now->bits) {
		*taken = next_bit(now);
		return 0;
	}
	if (!now->parcels && now->end == END_TAKEN) {
		*taken = true;
		return 0;
	}
	if (!now->parcels && now->end == END_EVENT && continues(&query->event))
		return 1;
	if (!query->history_mode)
		return 0;
	lose(query, NTRACE_QUERY_LOSS_CODE, 0);
	return NTRACE_ERR_FORMAT;
}

int ntrace_query_target(struct ntrace_query *query, uint64_t *target)
{
	struct stretch *now = &query->now;

	*target = 0;
	if (now->eager || now->parcels || now->bits || now->end != END_EVENT ||
	    query->event.type != NTRACE_QUERY_TARGET)
		return 1;
	*target = query->event.address;
	memset(now, 0, sizeof(*now));
	return 0;
}
