// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the decoded output of a damaged stream with that of the whole stream, which equals the
 * executed instructions.
 *
 * From an undamaged message with SYNC up to the next damage, the decoder must be right, event by
 * event. An independent splitter, which uses only MSEO, finds the undamaged messages; each byte
 * knows its origin. In between, the decoder may report any nonsense, but not without end, not in a
 * gap, and not with jumps that no message accounts for.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/flow.h>

#include "damage.h"

/* A message that reports more instructions is stopped. */
#define PATIENCE 50000u
/* Limit of events other than blocks that one message can cause, without those of owners. */
#define EVENTS_MAX 8u
/*
 * An Ownership message takes effect when the parcels counted before it are walked, so that a later
 * message may report several. This many may wait; each is an event, perhaps after a warning.
 */
#define OWNERS_MAX 8u
#define OWNER_EVENTS 2u
#define NEVER UINT32_MAX

struct record {
	uint8_t type;
	uint8_t code;
	bool taken;
	bool interrupted;
	bool provisional;
	bool next_known;
	uint32_t instructions;
	uint64_t address;
	uint64_t last;
	uint64_t next;
	uint64_t value;
	uint64_t time;
	struct ntrace_context context;
};

struct reference {
	const struct subject *subject;
	struct record *record;
	uint32_t count;
	uint32_t room;
	uint32_t *after;	/* for each message: number of records up to and including it */
	uint32_t *synced;	/* up to and including its SYNC event; NEVER: it has no SYNC to
				 * begin at */
	int32_t *message_at;	/* for each byte: the message that begins there, or -1 */
	uint32_t pcs;		/* executed instructions */
	uint32_t message;	/* only while the subject is built */
};

static char fault[1024];

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
	va_list args;

	if (fault[0])
		return;
	va_start(args, format);
	vsnprintf(fault, sizeof(fault), format, args);
	va_end(args);
}

static struct record record_of(const struct subject *subject, const struct ntrace_flow_event *event)
{
	unsigned int bits = subject->params.timestamp_bits;
	struct record record = {
		.type = event->type,
		.code = event->code,
		.next_known = event->next_known,
		.address = event->address,
		.value = event->value,
	};

	if (bits && event->time_known)
		record.time = event->time & (~UINT64_C(0) >> (64 - bits));
	if (event->type != NTRACE_FLOW_BLOCK)
		return record;
	record.taken = event->taken;
	record.interrupted = event->interrupted;
	record.provisional = event->provisional;
	record.instructions = event->instructions;
	record.last = event->last;
	record.next = event->next_known ? event->next : 0;
	if (subject->context)
		record.context = *event->context;
	return record;
}

/* Reported once per flow, independent of later losses. */
static bool is_once(const struct ntrace_flow_event *event)
{
	return event->type == NTRACE_FLOW_WARNING && (event->code == NTRACE_FLOW_ERROR_INFERRED ||
						      event->code == NTRACE_FLOW_ERROR_UNKNOWN);
}

/* The decoder's return stack outlives markers, so that the end of a trace may depend on it. */
static bool clears_stack(unsigned int sync)
{
	return sync != NTRACE_SYNC_EXTERNAL_TRIGGER && sync != NTRACE_SYNC_ICNT_FULL &&
	       sync != NTRACE_SYNC_TRACE_EVENT;
}

static int take_pc(void *data, uint64_t address, const uint8_t *bytes,
		   const struct ntrace_insn *insn)
{
	struct reference *reference = data;

	(void)bytes;
	(void)insn;
	if (reference->pcs == reference->subject->pcs ||
	    reference->subject->pc[reference->pcs] != address)
		wrong("instruction %u of the whole stream was not executed", reference->pcs);
	else
		reference->pcs++;
	return 0;
}

static int take_reference(void *data, const struct ntrace_flow_event *event)
{
	struct reference *reference = data;

	if (is_once(event))
		return 0;
	if (reference->count == reference->room) {
		struct record *more;

		reference->room = 2 * reference->room + 256;
		more = realloc(reference->record, reference->room * sizeof(*more));
		if (!more) {
			wrong("out of memory");
			return 1;
		}
		reference->record = more;
	}
	reference->record[reference->count++] = record_of(reference->subject, event);
	if (event->type == NTRACE_FLOW_SYNC && clears_stack(event->code))
		reference->synced[reference->message] = reference->count;
	ntrace_flow_instructions(event, take_pc, reference);
	return fault[0] != '\0';
}

static struct ntrace_flow *make_flow(const struct subject *subject, ntrace_flow_callback *event,
				     void *data)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = &subject->params,
		.src = subject->src,
		.space = subject->space,
		.event = event,
		.data = data,
	};
	struct ntrace_flow *flow = NULL;

	if (ntrace_flow_new(&flow, &config))
		wrong("no flow for these parameters");
	return flow;
}

static bool decode_whole(struct reference *reference)
{
	const struct subject *subject = reference->subject;
	struct ntrace_flow *flow = make_flow(subject, take_reference, reference);
	struct ntrace_reader reader;
	struct ntrace_message message;

	if (!flow)
		return false;
	ntrace_reader_init(&reader, &subject->params, true);
	for (uint32_t i = 0; i < subject->messages && !fault[0]; i++) {
		size_t start = subject->start[i];

		reference->message = i;
		reference->synced[i] = NEVER;
		reference->message_at[start] = (int32_t)i;
		ntrace_reader_feed(&reader, subject->stream + start, subject->start[i + 1] - start);
		if (ntrace_reader_next(&reader, &message) != NTRACE_WIRE_MESSAGE ||
		    message.offset != start)
			wrong("message %u of the encoder is not read as one", i);
		else
			ntrace_flow_message(flow, &message);
		reference->after[i] = reference->count;
	}
	ntrace_flow_end(flow, 0);
	ntrace_flow_free(flow);
	if (reference->pcs != subject->pcs ||
	    reference->after[subject->messages - 1] != reference->count)
		wrong("%u of %u instructions decoded", reference->pcs, subject->pcs);
	return !fault[0];
}

struct reference *reference_make(const struct subject *subject, const char **text)
{
	struct reference *reference = calloc(1, sizeof(*reference));

	fault[0] = '\0';
	*text = fault;
	if (!reference)
		return NULL;
	reference->subject = subject;
	reference->after = malloc(subject->messages * sizeof(*reference->after));
	reference->synced = malloc(subject->messages * sizeof(*reference->synced));
	reference->message_at = malloc(subject->size * sizeof(*reference->message_at));
	if (reference->after && reference->synced && reference->message_at) {
		memset(reference->message_at, 0xff, subject->size * sizeof(*reference->message_at));
		if (decode_whole(reference))
			return reference;
	}
	reference_free(reference);
	return NULL;
}

void reference_free(struct reference *reference)
{
	if (!reference)
		return;
	free(reference->record);
	free(reference->after);
	free(reference->synced);
	free(reference->message_at);
	free(reference);
}

/**
 * struct following - position in a damaged stream
 * @message: number of the message being decoded, -1: it is damaged
 * @ending: no more messages
 * @certain: the decoded output must be right
 * @cursor: next expected record, while @certain
 * @expected: offset of the next message in the whole stream, while @certain
 * @told: the decoder has reported a loss or a warning since @certain ended
 * @live: instructions may be reported
 * @resumable: instructions may be reported again without a sync: only memory was unreadable
 * @next_known: @next is the successor of the previous block
 * @limit: instructions that the message may account for
 * @events_limit: events that the message may account for
 * @owners: Ownership messages that may still be reported
 * @pending: parcels of ResourceFull that are still to be walked
 * @repeated: I-CNT of the last branch message
 * @taught: no message has shown a mode other than the stream's
 * @instructions: instructions that the message has caused and accounts for
 * @walked: instructions that the message has caused
 * @bits: history bits of a message that is walked at once
 */
struct following {
	const struct reference *reference;
	const struct damaged *damaged;
	struct recovery *recovery;
	size_t at;		/* state of the splitter */
	bool skipping;
	int32_t message;
	bool ending;
	bool certain;
	uint32_t cursor;
	size_t expected;
	bool told;
	bool live;
	bool resumable;
	bool next_known;
	uint64_t next;
	uint64_t offset;
	uint64_t limit;
	uint64_t events_limit;
	unsigned int owners;
	uint64_t pending;
	uint64_t repeated;
	bool taught;
	uint64_t instructions;
	uint64_t walked;
	uint64_t events;
	uint64_t bits;
};

/* N-Trace 1.0, "framing", implemented independently. */
enum piece { PIECE_END, PIECE_MESSAGE, PIECE_ERROR };

static enum piece next_piece(struct following *f, size_t *start)
{
	const uint8_t *bytes = f->damaged->bytes;
	size_t size = f->damaged->size;

	while (f->skipping && f->at < size)
		f->skipping = (bytes[f->at++] & 3) != 3;
	while (f->at < size && (bytes[f->at] & 3) == 3)
		f->at++;
	*start = f->at;
	while (f->at < size) {
		unsigned int mseo = bytes[f->at++] & 3;

		if (mseo == 3)
			return PIECE_MESSAGE;
		if (mseo == 2 || (mseo == 1 && f->at == *start + 1)) {
			f->skipping = true;
			return PIECE_ERROR;
		}
	}
	return PIECE_END;
}

/* The message of the whole stream that consists of the bytes from @start to f->at, or -1. */
static int32_t undamaged(const struct following *f, size_t start)
{
	const struct subject *subject = f->reference->subject;
	int32_t origin = f->damaged->origin[start], message;
	size_t size = f->at - start;

	if (origin < 0)
		return -1;
	message = f->reference->message_at[origin];
	if (message < 0 || subject->start[message + 1] - subject->start[message] != size)
		return -1;
	for (size_t i = 0; i < size; i++) {
		if (f->damaged->origin[start + i] != origin + (int32_t)i)
			return -1;
	}
	return message;
}

static bool same(const struct following *f, const struct record *a, const struct record *b)
{
	return a->type == b->type && a->code == b->code && a->taken == b->taken &&
	       a->interrupted == b->interrupted && a->provisional == b->provisional &&
	       a->next_known == b->next_known && a->instructions == b->instructions &&
	       a->address == b->address && a->last == b->last && a->next == b->next &&
	       a->value == b->value && a->time == b->time &&
	       (!f->reference->subject->context || a->type != NTRACE_FLOW_BLOCK ||
		(a->context.prv == b->context.prv && a->context.v == b->context.v &&
		 a->context.scontext == b->context.scontext &&
		 a->context.hcontext == b->context.hcontext));
}

static void complain(const struct following *f, const struct ntrace_flow_event *event,
		     const char *what)
{
	const struct record *expected;
	char text[256];

	ntrace_flow_describe(event, text, sizeof(text));
	if (!f->certain || f->cursor == f->reference->count) {
		wrong("%s: %s", what, text);
		return;
	}
	expected = &f->reference->record[f->cursor];
	wrong("%s: %s; record %u of %u is %s %u at 0x%" PRIx64 " to 0x%" PRIx64 " value 0x%" PRIx64
	      " time %" PRIu64,
	      what, text, f->cursor, f->reference->after[f->message],
	      ntrace_flow_type_name(expected->type), expected->code, expected->address,
	      expected->last, expected->value, expected->time);
}

/*
 * Counted parcels that are still to be walked are walked at the end, as part of the next
 * instructions.
 */
static void compare_rest(struct following *f, const struct ntrace_flow_event *event)
{
	const struct record *record = &f->reference->record[f->cursor];

	/* An Ownership message takes effect between the instructions before and after it. */
	if (event->type == NTRACE_FLOW_OWNERSHIP && f->cursor < f->reference->count &&
	    record->type == NTRACE_FLOW_OWNERSHIP)
		f->cursor++;
	if (event->type != NTRACE_FLOW_BLOCK)
		return;
	/* An Error invalidates the sums: later messages do not continue them. */
	if (f->cursor < f->reference->count && record->type == NTRACE_FLOW_ERROR)
		return;
	if (f->cursor == f->reference->count || record->type != NTRACE_FLOW_BLOCK ||
	    event->address != record->address || event->instructions > record->instructions) {
		complain(f, event, "not executed, at the end of the stream");
		return;
	}
	f->recovery->recovered += event->instructions;
	f->cursor++;
	/* Only the last block may be shorter. */
	if (event->instructions < record->instructions)
		f->cursor = f->reference->count;
}

static void compare(struct following *f, const struct ntrace_flow_event *event)
{
	struct record record = record_of(f->reference->subject, event);

	if (f->ending) {
		compare_rest(f, event);
		return;
	}
	if (is_once(event))
		return;
	if (f->cursor >= f->reference->after[f->message] ||
	    !same(f, &record, &f->reference->record[f->cursor])) {
		complain(f, event, "not what was executed");
		return;
	}
	f->cursor++;
	f->recovery->recovered += record.instructions;
}

/* The end of the certain output. */
static void lose(struct following *f)
{
	if (!f->certain)
		return;
	f->certain = false;
	f->told = false;
	f->recovery->losses++;
}

/* Requirements for any input. */
static void check_sanity(struct following *f, const struct ntrace_flow_event *event)
{
	if (!f->ending && event->offset != f->offset)
		complain(f, event, "an event from another message");
	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		if (!f->live && !f->resumable)
			complain(f, event, "instructions in a gap");
		if (f->next_known && event->address != f->next)
			complain(f, event, "a block that no transfer leads to");
		f->walked += event->instructions;
		f->instructions += event->provisional ? 0 : event->instructions;
		f->bits -= event->provisional && event->insn_class == NTRACE_INSN_BRANCH;
		if (f->instructions > f->limit || f->bits == UINT64_MAX)
			complain(f, event, "more than the message accounts for");
		f->live = true;
		f->next_known = event->next_known;
		f->next = event->next;
		return;
	case NTRACE_FLOW_OWNERSHIP:
		if (!f->owners)
			complain(f, event, "an owner that no message reports");
		else
			f->owners--;
		break;
	case NTRACE_FLOW_WARNING:
	case NTRACE_FLOW_CIRCUIT:
	case NTRACE_FLOW_DATA:
		break;
	case NTRACE_FLOW_SYNC:
		f->live = true;
		if (event->code == NTRACE_SYNC_RESET_EXIT ||
		    event->code == NTRACE_SYNC_POWER_DOWN_EXIT || !f->next_known) {
			f->next_known = true;
			f->next = event->address;
		}
		if (event->address != f->next)
			complain(f, event, "a sync that no transfer leads to");
		break;
	case NTRACE_FLOW_ERROR:
		f->resumable = (f->live || f->resumable) &&
			       (event->code == NTRACE_FLOW_ERROR_NOMAP ||
				event->code == NTRACE_FLOW_ERROR_BADINSN ||
				event->code == NTRACE_FLOW_ERROR_NO_HISTORY);
		f->live = false;
		f->next_known = false;
		break;
	case NTRACE_FLOW_TRAP:
		f->next_known = true;
		f->next = event->address;
		break;
	case NTRACE_FLOW_TRACE_OFF:
		f->resumable = false;
		/* fall through */
	case NTRACE_FLOW_GAP:
		f->live = false;
		/* fall through */
	default:
		f->next_known = false;
	}
	f->recovery->events++;
	if (++f->events > f->events_limit)
		complain(f, event, "more events than the message accounts for");
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct following *f = data;

	check_sanity(f, event);
	f->told |= event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_GAP ||
		   event->type == NTRACE_FLOW_WARNING;
	if (f->certain) {
		compare(f, event);
	} else if (event->type == NTRACE_FLOW_SYNC && f->message >= 0 && f->taught &&
		   f->reference->synced[f->message] != NEVER) {
		f->recovery->silent += !f->told;
		f->certain = true;
		f->cursor = f->reference->synced[f->message];
	}
	if (f->walked > PATIENCE) {
		f->recovery->stopped++;
		f->live = f->resumable = f->next_known = false;
		lose(f);
		return 1;
	}
	return fault[0] != '\0';
}

static uint64_t at_most(uint64_t value, unsigned int bits)
{
	return value >> bits ? UINT64_C(1) << bits : value;
}

static unsigned int width(uint64_t value)
{
	unsigned int bits = 0;

	while (value >>= 1)
		bits++;
	return bits;
}

static void clear_limits(struct following *f)
{
	f->limit = f->bits = f->instructions = f->walked = f->events = 0;
	f->events_limit = EVENTS_MAX + OWNER_EVENTS * f->owners;
}

/* Limit of the code that a message accounts for: I-CNT instructions of one parcel. */
static void set_limits(struct following *f, const struct ntrace_message *message)
{
	const struct ntrace_params *params = &f->reference->subject->params;
	uint64_t icnt = at_most(message->field[NTRACE_FIELD_ICNT], 32), repeat;

	if (params->src_bits && message->field[NTRACE_FIELD_SRC] != f->reference->subject->src)
		return;
	switch (message->tcode) {
	case NTRACE_TCODE_OWNERSHIP:
		f->owners += f->owners < OWNERS_MAX;
		f->events_limit += OWNER_EVENTS;
		break;
	case NTRACE_TCODE_RESOURCE_FULL:
		repeat = 1;
		if (message->field[NTRACE_FIELD_RCODE] == NTRACE_RCODE_HIST_REPEAT)
			repeat = message->field[NTRACE_FIELD_HREPEAT];
		f->bits = width(message->field[NTRACE_FIELD_HIST]) * at_most(repeat, 32);
		if (message->field[NTRACE_FIELD_RCODE] >= 8)
			f->bits = message->field[NTRACE_FIELD_RDATA];
		f->pending = at_most(f->pending + icnt, 40);
		break;
	case NTRACE_TCODE_REPEAT_BRANCH:
		repeat = at_most(message->field[NTRACE_FIELD_BCNT], 31);
		f->limit = f->pending + f->repeated * repeat;
		f->events_limit += 3 * repeat;
		f->pending = 0;
		break;
	default:
		if (!ntrace_message_has(message, NTRACE_FIELD_ICNT))
			break;
		f->limit = f->pending + icnt;
		f->pending = 0;
		f->repeated = at_most(icnt, 31);
	}
}

/* Without a given mode, a decoder uses the last message that exists in one mode only. */
static void learn_mode(struct following *f, const struct ntrace_message *message)
{
	const struct subject *subject = f->reference->subject;

	if (subject->params.mode != NTRACE_MODE_ANY ||
	    message->flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_OVERSIZE) ||
	    (subject->params.src_bits && message->field[NTRACE_FIELD_SRC] != subject->src))
		return;
	if (message->tcode == NTRACE_TCODE_DIRECT_BRANCH ||
	    message->tcode == NTRACE_TCODE_DIRECT_BRANCH_SYNC)
		f->taught = !subject->history;
	else if (ntrace_message_has(message, NTRACE_FIELD_HIST) ||
		 (subject->params.dialect == NTRACE_DIALECT_SIFIVE_V0 &&
		  message->tcode == NTRACE_TCODE_RESOURCE_FULL &&
		  message->field[NTRACE_FIELD_RCODE] / 2 == 4))
		f->taught = subject->history;
}

/* A message or reserved code found by the reader must also be found by the splitter. */
static void step(struct following *f, struct ntrace_flow *flow, int event,
		 const struct ntrace_message *message)
{
	const struct reference *reference = f->reference;
	size_t start;
	enum piece piece = next_piece(f, &start);

	if (message->offset != start ||
	    piece != (event == NTRACE_WIRE_ERROR ? PIECE_ERROR : PIECE_MESSAGE))
		wrong("the reader and the splitter differ at %zu", start);
	f->message = event == NTRACE_WIRE_ERROR ? -1 : undamaged(f, start);
	if (f->message < 0 || reference->subject->start[f->message] != f->expected)
		lose(f);
	f->offset = start;
	clear_limits(f);
	if (event == NTRACE_WIRE_ERROR) {
		f->told = false;
		ntrace_flow_wire_error(flow, message->offset);
		if (!f->told)
			wrong("a reserved code at %zu is not reported", start);
		return;
	}
	set_limits(f, message);
	learn_mode(f, message);
	ntrace_flow_message(flow, message);
	if (!f->certain)
		return;
	f->expected = reference->subject->start[f->message + 1];
	if (f->cursor != reference->after[f->message])
		wrong("message %d: %u of %u records decoded", f->message, f->cursor,
		      reference->after[f->message]);
}

/* Only a truncated message may come now. */
static void finish(struct following *f, struct ntrace_flow *flow, uint64_t pending)
{
	size_t start;

	if (next_piece(f, &start) != PIECE_END || pending != f->damaged->size - start)
		wrong("%" PRIu64 " bytes are left of a message, not %zu", pending,
		      f->damaged->size - start);
	f->ending = true;
	f->told = false;
	clear_limits(f);
	f->limit = f->pending;
	ntrace_flow_end(flow, pending);
	if (pending && !f->told)
		wrong("a message that is cut off is not reported");
}

const char *follow(const struct reference *reference, const struct damaged *damaged, size_t chunk,
		   struct recovery *recovery)
{
	struct following f = {
		.reference = reference,
		.damaged = damaged,
		.recovery = recovery,
		.skipping = !damaged->aligned,
		.certain = damaged->whole_start,
		.told = true,
		.taught = true,
	};
	struct ntrace_reader reader;
	struct ntrace_message message;
	struct ntrace_flow *flow;
	int event;

	fault[0] = '\0';
	flow = make_flow(reference->subject, take_event, &f);
	if (!flow)
		return fault;
	recovery->streams++;
	recovery->instructions += reference->pcs;
	ntrace_reader_init(&reader, &reference->subject->params, damaged->aligned);
	for (size_t done = 0; done < damaged->size && !fault[0]; done += chunk) {
		size_t left = damaged->size - done;

		ntrace_reader_feed(&reader, damaged->bytes + done, left < chunk ? left : chunk);
		while (!fault[0] && (event = ntrace_reader_next(&reader, &message)) >= 0)
			step(&f, flow, event, &message);
	}
	if (!fault[0])
		finish(&f, flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
	return fault[0] ? fault : NULL;
}
