// SPDX-License-Identifier: GPL-2.0-only
/* Compares the walk (the truth) with the decoded stream of the encoder, record by record. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/flow.h>

#include "../lib/blocks_match.h"
#include "check.h"
#include "drive.h"
#include "holes.h"
#include "profiles.h"

enum record_type {
	RECORD_PC,	/* an instruction at address retired */
	RECORD_TRAP,	/* to the handler at address; value = the instruction that did not retire */
	RECORD_OFF,	/* tracing stopped */
	RECORD_LOST,	/* instructions were lost */
};

/* Context of the hart according to Ownership messages. */
struct owner {
	uint64_t scontext;
	uint64_t hcontext;
	uint8_t privilege;
	bool known;
};

struct record {
	uint8_t type;
	uint8_t code;
	uint64_t address;
	uint64_t value;
	uint64_t offset;	/* decoded records in the stream */
	struct owner owner;	/* number of RECORD_PC */
};

#define RECORDS_MAX (2 * STEPS_MAX)

struct records {
	struct record record[RECORDS_MAX];
	uint32_t count;
};

static struct program program;
static struct walk walk;
static struct records truth, decoded;
static struct drive drive;
/* State of decoding. */
static struct {
	bool owned;		/* Ownership came after the last sync */
	bool warned;		/* number of inferred returns */
	bool inferred, repeated; /* at least one; RepeatBranch may contain one more */
	uint64_t clock;		/* time of the last TSTAMP, with the width of the counter */
	uint64_t time;		/* time of the last event */
	bool time_known;
	uint8_t tcode;		/* offset of the current message */
	struct ntrace_space *space[3];	/* spaces for any context, for even and for odd scontext */
	bool registry;		/* registry that chooses among these spaces */
} now;
static char fault[2048];

__attribute__((format(printf, 1, 2))) static const char *wrong(const char *format, ...)
{
	size_t at = strlen(fault);
	va_list args;

	va_start(args, format);
	vsnprintf(fault + at, sizeof(fault) - at, format, args);
	va_end(args);
	return fault;
}

/*
 * A second OFF is permitted where nothing was traced, and a discontinuity of the context has the
 * form of a trap to the next instruction.
 */
static bool is_void(const struct records *records, const struct record *record)
{
	uint8_t last = records->count ? records->record[records->count - 1].type : RECORD_OFF;

	if (record->type == RECORD_OFF)
		return last == RECORD_OFF || last == RECORD_LOST;
	return record->type == RECORD_TRAP && drive.ctype == NTRACE_CTYPE_DISCONTINUITY &&
	       drive.config.context && record->address == record->value;
}

static void add_record(struct records *records, const struct record *record)
{
	if (!is_void(records, record) && records->count < RECORDS_MAX)
		records->record[records->count++] = *record;
}

/* State of tracing while the truth is computed. */
struct tracing {
	bool on;
	bool live;		/* a sync has been sent and still holds */
	bool lost;		/* trace was lost, and the loss is not yet reported */
	bool trapped;		/* the next block begins with a handler */
	uint8_t code;
	uint64_t interrupted;	/* the instruction that did not retire */
};

static void end_live(struct tracing *tracing, enum record_type type)
{
	struct record record = { .type = (uint8_t)type };

	/* Losses without a traced block between them count as one. */
	if (type == RECORD_LOST ? !tracing->lost : tracing->live)
		add_record(&truth, &record);
	if (type == RECORD_LOST)
		tracing->lost = true;
	tracing->live = false;
	tracing->trapped = false;
}

static bool is_traced(const struct ntrace_encoder_config *config, const struct step *step)
{
	if (!(config->priv_mask >> step->privilege & 1))
		return false;
	for (unsigned int i = 0; i < config->range_count; i++) {
		if (step->address >= config->range[i].first &&
		    step->address <= config->range[i].last)
			return true;
	}
	return !config->range_count;
}

static void block_truth(struct tracing *tracing, const struct step *step,
			const struct ntrace_encoder_config *config)
{
	if (!is_traced(config, step)) {
		end_live(tracing, RECORD_OFF);
		return;
	}
	if (tracing->live && tracing->trapped) {
		struct record trap = {
			.type = RECORD_TRAP,
			.code = tracing->code,
			.address = step->address,
			.value = tracing->interrupted,
		};

		add_record(&truth, &trap);
	}
	tracing->live = true;
	tracing->lost = false;
	tracing->trapped = false;
	for (uint32_t i = 0; i < step->pc_count; i++) {
		struct record pc = { .type = RECORD_PC, .address = walk.pc[step->pcs + i] };

		pc.owner.privilege = step->privilege;
		pc.owner.scontext = step->scontext;
		pc.owner.hcontext = step->hcontext;
		add_record(&truth, &pc);
	}
	if (step->itype == 1 || step->itype == 2) {
		uint64_t next = step->address + 2 * (uint64_t)step->parcels;

		tracing->trapped = true;
		tracing->code = config->trap_btype ? 1 : step->itype + 1;
		tracing->interrupted = config->params->xlen == 32 ? (uint32_t)next : next;
	}
}

static void find_truth(const struct ntrace_encoder_config *config)
{
	struct tracing tracing = { .on = true };

	truth.count = 0;
	for (uint32_t i = 0; i < walk.steps; i++) {
		const struct step *step = &walk.step[i];

		switch (step->kind) {
		case STEP_START:
			tracing.on = true;
			break;
		case STEP_STOP:
			/* Reports a pending loss. A reset does not end it. */
			if (step->how != STOP_RESET)
				end_live(&tracing, RECORD_OFF);
			tracing.on = false;
			tracing.lost = tracing.lost && step->how != STOP_DISABLE;
			break;
		case STEP_OVERRUN:
			if (tracing.on)
				end_live(&tracing, RECORD_LOST);
			break;
		case STEP_BLOCK:
			if (tracing.on)
				block_truth(&tracing, step, config);
			break;
		}
	}
	end_live(&tracing, RECORD_OFF);
}

static struct owner owner_of(const struct ntrace_context *context)
{
	struct owner owner = {
		.scontext = context->scontext,
		.hcontext = context->hcontext,
		.privilege = (uint8_t)(context->prv + (context->v ? PRIVILEGE_VU : 0)),
		.known = now.owned && context->prv_known,
	};

	return owner;
}

static int take_pc(void *data, uint64_t address, const uint8_t *bytes,
		   const struct ntrace_insn *insn)
{
	const struct ntrace_flow_event *event = data;

	if (insn->insn_class != NTRACE_INSN_PLAIN && address != event->last)
		wrong("a transfer at 0x%" PRIx64 " within a block; ", address);
	struct record record = { .type = RECORD_PC, .address = address, .offset = event->offset };

	record.owner = owner_of(event->context);
	(void)bytes;
	add_record(&decoded, &record);
	return 0;
}

/*
 * A walk continues after a return, a swap or a pair only if no message reports its target.
 * RepeatBranch reports it for each repetition, and the events do not show the last one.
 */
static void tally_spared(const struct ntrace_flow_event *event, struct tally *tally)
{
	static uint64_t offset;
	static uint8_t class;
	bool on = event->type == NTRACE_FLOW_BLOCK && event->offset == offset;
	bool popped = on && (class == NTRACE_INSN_RETURN || class == NTRACE_INSN_COROUTINE_SWAP);
	bool repeats = now.tcode == NTRACE_TCODE_REPEAT_BRANCH;

	now.repeated |= popped && repeats;
	now.inferred |= popped && !repeats;
	tally->spared[0] += popped && !repeats;
	tally->spared[1] += on && class == NTRACE_INSN_INDIRECT_JUMP;
	if (event->type == NTRACE_FLOW_WARNING)
		return;
	offset = event->offset;
	class = event->type == NTRACE_FLOW_BLOCK ? event->insn_class : NTRACE_INSN_PLAIN;
}

/* N-Trace 1.0, "timestamps": an event has the time of its message or of an earlier one. */
static void check_event_time(const struct ntrace_flow_event *event, struct tally *tally)
{
	unsigned int bits = drive.params.timestamp_bits;
	bool due = event->type == NTRACE_FLOW_BLOCK || event->type == NTRACE_FLOW_SYNC ||
		   event->type == NTRACE_FLOW_TRAP;

	if (due && event->time_known != (bits != 0))
		wrong("the time at 0x%" PRIx64 " is%s known; ", event->address,
		      event->time_known ? "" : " not");
	if (!event->time_known || !bits)
		return;
	tally->timed += event->type == NTRACE_FLOW_BLOCK;
	if ((event->time ^ now.clock) & ~UINT64_C(0) >> (64 - bits))
		wrong("time %" PRIu64 " at offset %" PRIu64 " is not that of the stream, %" PRIu64
		      "; ",
		      event->time, event->offset, now.clock);
	/* The time continues beyond the width of the counter; a counter of 64 bits wraps. */
	if (now.time_known && (int64_t)(event->time - now.time) < 0)
		wrong("time %" PRIu64 " after %" PRIu64 "; ", event->time, now.time);
	now.time = event->time;
	now.time_known = true;
}

/* M-mode has no contexts and uses no space that belongs to one. */
static void check_space(const struct ntrace_flow_event *event, struct tally *tally)
{
	const struct ntrace_context *context = event->context;
	unsigned int expected = 0;

	if (now.registry && context->scontext_known && context->prv != 3)
		expected = 1 + (context->scontext & 1);
	if (event->space != now.space[expected])
		wrong("the block at 0x%" PRIx64 " is in space %s; ", event->address,
		      event->space ? ntrace_space_name(event->space) : "none");
	if (now.registry)
		tally->chosen[expected]++;
}

static void complain(const struct ntrace_flow_event *event)
{
	wrong("%s at 0x%" PRIx64 ", offset %" PRIu64 ", value 0x%" PRIx64 ": %s; ",
	      ntrace_flow_type_name(event->type), event->address, event->offset, event->value,
	      ntrace_flow_error_text(event->code));
}

/* The successor given by a block must be the start of the next one. */
static void check_next(const struct ntrace_flow_event *event)
{
	static bool known;
	static uint64_t next;

	if (event->type == NTRACE_FLOW_BLOCK && known && event->address != next)
		wrong("a block went to 0x%" PRIx64 ", and the next begins at 0x%" PRIx64 "; ", next,
		      event->address);
	/* After a reset, other code runs. */
	if ((event->type == NTRACE_FLOW_SYNC && event->code != NTRACE_SYNC_RESET_EXIT) ||
	    event->type == NTRACE_FLOW_OWNERSHIP || event->type == NTRACE_FLOW_WARNING)
		return;
	known = event->type == NTRACE_FLOW_BLOCK && event->next_known;
	next = event->next;
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct record record = {
		.code = event->code,
		.address = event->address,
		.value = event->value,
		.offset = event->offset,
	};

	tally_spared(event, data);
	check_event_time(event, data);
	check_next(event);
	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		check_space(event, data);
		if (ntrace_flow_instructions(event, take_pc, (void *)event))
			wrong("a block without instructions; ");
		return 0;
	case NTRACE_FLOW_TRAP:
		record.type = RECORD_TRAP;
		if (!event->next_known)
			record.value = ~UINT64_C(0);
		add_record(&decoded, &record);
		return 0;
	case NTRACE_FLOW_TRACE_OFF:
		record.type = RECORD_OFF;
		add_record(&decoded, &record);
		return 0;
	case NTRACE_FLOW_ERROR:
		if (event->code == NTRACE_FLOW_ERROR_LOST) {
			record.type = RECORD_LOST;
			add_record(&decoded, &record);
			return 0;
		}
		complain(event);
		return 0;
	case NTRACE_FLOW_WARNING:
		/* A warning is due if returns are inferred without comparing the address. */
		if (event->code == NTRACE_FLOW_ERROR_INFERRED && !now.warned) {
			now.warned = true;
			return 0;
		}
		complain(event);
		return 0;
	case NTRACE_FLOW_GAP:
		if (!decoded.count || decoded.record[decoded.count - 1].type != RECORD_LOST)
			complain(event);
		return 0;
	case NTRACE_FLOW_SYNC:
		now.owned = false;
		return 0;
	case NTRACE_FLOW_OWNERSHIP:
		now.owned = true;
		return 0;
	default:
		return 0;
	}
}

/* Even and odd values of scontext have separate spaces, on the host and in a guest. */
static struct ntrace_contexts *registry_new(void)
{
	struct ntrace_contexts *contexts;

	if (ntrace_contexts_new(&contexts))
		return NULL;
	for (unsigned int i = 0; i < 4; i++) {
		const struct ntrace_context_match match = {
			.size = sizeof(match),
			.scontext = i & 1,
			.scontext_mask = 1,
			.v = i >> 1,
		};

		if (ntrace_contexts_add(contexts, now.space[1 + (i & 1)], &match))
			wrong("a space cannot be registered; ");
	}
	return contexts;
}

static void tally_message(const struct ntrace_message *message, struct tally *tally)
{
	tally->tcodes[message->tcode & 63]++;
	if (ntrace_message_has(message, NTRACE_FIELD_RCODE))
		tally->rcodes[message->field[NTRACE_FIELD_RCODE]]++;
	if (ntrace_message_has(message, NTRACE_FIELD_SYNC))
		tally->syncs[message->field[NTRACE_FIELD_SYNC]]++;
}

/* The last timestamp at or before @offset. */
static const struct stamp *stamp_of(uint64_t offset)
{
	size_t low = 0;

	for (size_t high = drive.stamps; high - low > 1;) {
		size_t middle = (low + high) / 2;

		*(drive.stamp[middle].offset <= offset ? &low : &high) = middle;
	}
	return &drive.stamp[low];
}

/*
 * N-Trace 1.0, "timestamps": TSTAMP is absolute with SYNC, else a difference or XOR to the last
 * one. It is the time when the message was made, or for Error the time of the first loss.
 */
static void check_time(const struct ntrace_message *message)
{
	const struct ntrace_params *params = &drive.params;
	const struct stamp *stamp = stamp_of(message->offset);
	uint64_t value = message->field[NTRACE_FIELD_TSTAMP], mask, slack = 0;
	uint64_t *time = &now.clock;

	if (!ntrace_message_has(message, NTRACE_FIELD_TSTAMP) || !params->timestamp_bits)
		return;
	mask = ~UINT64_C(0) >> (64 - params->timestamp_bits);
	if (!ntrace_message_has(message, NTRACE_FIELD_SYNC) && params->timestamp_delta < 2)
		value = (params->timestamp_delta ? *time ^ value : *time + value) & mask;
	*time = value;
	if (message->tcode == NTRACE_TCODE_ERROR)
		slack = stamp == drive.stamp ? mask : stamp->time - stamp[-1].time;
	else if (!ntrace_message_has(message, NTRACE_FIELD_SYNC))
		slack = stamp->time - stamp->before;
	if (((stamp->time - *time) & mask) > slack)
		wrong("%s at offset %" PRIu64 " says it is %" PRIu64 ", but it is %" PRIu64 "; ",
		      ntrace_tcode_name(message->tcode), message->offset, *time,
		      stamp->time & mask);
}

static void read_stream(struct ntrace_flow *flow, const struct ntrace_params *params,
			struct random *random, struct tally *tally)
{
	struct ntrace_reader reader;
	struct ntrace_message message;
	size_t chunk = one_in(random, 4) ? random_range(random, 1, 40) : STREAM_MAX;
	int event;

	ntrace_reader_init(&reader, params, true);
	for (size_t done = 0; done < drive.size; done += chunk) {
		size_t left = drive.size - done;

		ntrace_reader_feed(&reader, drive.stream + done, left < chunk ? left : chunk);
		while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
			if (event == NTRACE_WIRE_ERROR) {
				ntrace_flow_wire_error(flow, message.offset);
				continue;
			}
			tally_message(&message, tally);
			check_time(&message);
			now.tcode = message.tcode;
			ntrace_flow_message(flow, &message);
		}
	}
	ntrace_flow_end(flow, ntrace_reader_pending(&reader));
}

/* "implicit return": modes 1 and 2 cause a warning if and only if a return was inferred. */
static void check_warned(struct tally *tally)
{
	bool unsure = drive.params.implicit_return % 3;

	if (now.warned ? !unsure || (!now.inferred && !now.repeated) : unsure && now.inferred)
		wrong("%s of inferred returns; ", now.warned ? "warned" : "no warning");
	tally->inferred += now.warned;
	tally->uninferred += unsure && !now.warned;
}

/* Parameters passed to the decoder. */
static void decoder_params(const struct row *row, struct ntrace_params *params)
{
	*params = drive.params;
	params->isa = shape_isa(&program.shape);
	params->jvt = program.table_address;
	params->jvt_known = program.shape.table_jumps;
	if (!row_value(row, FACTOR_MODE_GIVEN))
		params->mode = NTRACE_MODE_ANY;
}

static const char *decode(const struct row *row, struct random *random, struct tally *tally)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.src = drive.config.src,
		.event = take_event,
		.data = tally,
	};
	struct ntrace_contexts *contexts = NULL;
	const char *violation, *mixed = NULL;
	struct ntrace_params params;
	struct ntrace_flow *flow;

	decoded.count = 0;
	memset(&now, 0, sizeof(now));
	decoder_params(row, &params);
	config.params = &params;
	for (unsigned int i = 0; i < 3; i++) {
		static const char *const names[] = { "any", "even", "odd" };

		now.space[i] = program_space(&program, names[i]);
	}
	now.registry = drive.config.context && !one_in(random, 4);
	if (now.registry)
		contexts = registry_new();
	config.contexts = contexts;
	config.space = now.space[0];
	if (!config.space || ntrace_flow_new(&flow, &config))
		return wrong("no flow for these parameters");
	read_stream(flow, &params, random, tally);
	ntrace_flow_free(flow);
	check_warned(tally);
	violation = blocks_mismatch(&config, drive.stream, drive.size, NULL);
	if (violation)
		wrong("blocks in batches: %s; ", violation);
	/* There are many results: a quarter of the programs. */
	violation = one_in(random, 4) ? profiles_mismatch(&config, &program, random, drive.stream,
							  drive.size, &tally->counted) :
					NULL;
	if (violation)
		wrong("profile: %s; ", violation);
	violation = one_in(random, 8) ?
			    parts_mismatch(&config, drive.stream, drive.size, &tally->parts) :
			    NULL;
	if (violation)
		wrong("in parts: %s; ", violation);
	violation = stream_violation(&drive.config, &params,
				     one_in(random, 4) ? config.space : NULL, drive.stream,
				     drive.size);
	if (violation)
		wrong("the checker finds: %s; ", violation);
	if (params.src_bits && drive.size <= HARTS_STREAM_MAX && one_in(random, 8)) {
		mixed = check_harts(&config, drive.stream, drive.size, random);
		tally->harts++;
	}
	if (mixed)
		wrong("%s", mixed);
	ntrace_contexts_free(contexts);
	if (drive.size && one_in(random, 2)) {
		violation = check_holes(&config, now.space[0], drive.stream, drive.size, random);
		if (violation)
			wrong("with holes in memory: %s; ", violation);
		tally->holes++;
	}
	for (unsigned int i = 0; i < 3; i++)
		ntrace_space_put(now.space[i]);
	return fault[0] ? fault : NULL;
}

static void print_records(const char *who, const struct records *records, uint32_t at)
{
	static const char *const names[] = { "", "trap ", "off ", "lost " };

	wrong("\n#   %s", who);
	for (uint32_t i = at < 6 ? 0 : at - 6; i < at + 4 && i < records->count; i++) {
		const struct record *record = &records->record[i];

		wrong("%s%s%" PRIx64, i == at ? " >>" : " ", names[record->type], record->address);
		if (record->type == RECORD_TRAP)
			wrong("(%u<%" PRIx64 ")", record->code, record->value);
		if (i == at && drive.config.context)
			wrong("(priv %u scontext %" PRIx64 " hcontext %" PRIx64 ")",
			      record->owner.privilege, record->owner.scontext,
			      record->owner.hcontext);
	}
	if (at < records->count)
		wrong(" offset %" PRIu64, records->record[at].offset);
}

/* With contexts, each instruction has an owner; imprecise changes take effect at any time. */
static bool same_owner(const struct owner *executed, const struct owner *told)
{
	if (!drive.config.context)
		return true;
	if (!told->known || told->privilege != executed->privilege)
		return false;
	if (drive.ctype == NTRACE_CTYPE_IMPRECISE)
		return true;
	return told->scontext == executed->scontext &&
	       (!drive.config.hypervisor || told->hcontext == executed->hcontext);
}

static bool same(const struct record *a, const struct record *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case RECORD_PC:
		return a->address == b->address && same_owner(&a->owner, &b->owner);
	case RECORD_TRAP:
		return a->address == b->address && a->value == b->value && a->code == b->code;
	default:
		return true;
	}
}

/* Number of records from @d to the next loss that equal the executed ones from @t on. */
static uint32_t same_stretch(uint32_t t, uint32_t d)
{
	uint32_t n = 0;

	while (t + n < truth.count && d + n < decoded.count &&
	       decoded.record[d + n].type != RECORD_LOST &&
	       same(&truth.record[t + n], &decoded.record[d + n]))
		n++;
	return n;
}

/* Number of records from @d to the next loss. */
static uint32_t stretch(uint32_t d)
{
	uint32_t n = 0;

	while (d + n < decoded.count && decoded.record[d + n].type != RECORD_LOST)
		n++;
	return n;
}

/*
 * The walk does not know what an overflowing queue lost. Each stretch between two losses must be
 * found as a whole after the previous one, and the last stretch at the end.
 */
static bool compare_stretches(uint32_t *t, uint32_t *d, struct tally *tally)
{
	while (*d < decoded.count) {
		uint32_t from = *t, n = stretch(*d), first = same_stretch(*t, *d);

		if (*d + n == decoded.count && n && truth.count - *t >= n && *d)
			*t = truth.count - n;
		while (same_stretch(*t, *d) < n) {
			/* Records may be missing only after a loss. */
			if (!*d || ++*t >= truth.count) {
				*t = from + first;
				*d += first;
				return false;
			}
		}
		tally->lost += *t - from;
		*t += n;
		*d += n;
		while (*d < decoded.count && decoded.record[*d].type == RECORD_LOST)
			++*d;
	}
	return *t == truth.count ||
	       (decoded.count && decoded.record[decoded.count - 1].type == RECORD_LOST);
}

/* Before a loss, only the last records may be missing. */
static bool compare_records(uint32_t *t, uint32_t *d, struct tally *tally)
{
	while (*t < truth.count && *d < decoded.count) {
		if (same(&truth.record[*t], &decoded.record[*d])) {
			++*t;
			++*d;
			continue;
		}
		if (decoded.record[*d].type != RECORD_LOST || truth.record[*t].type == RECORD_OFF)
			break;
		tally->lost += truth.record[*t].type == RECORD_PC;
		++*t;
	}
	return *t == truth.count && *d == decoded.count;
}

static const char *compare(struct tally *tally)
{
	bool overflows = drive.config.fifo_bytes && !drive.config.stall;
	uint32_t t = 0, d = 0;

	if (overflows ? compare_stretches(&t, &d, tally) : compare_records(&t, &d, tally))
		return NULL;
	wrong("record %u of %u, decoded %u of %u", t, truth.count, d, decoded.count);
	print_records("executed", &truth, t);
	print_records("decoded ", &decoded, d);
	return fault;
}

static void mutate(enum mutation mutation, struct random *random)
{
	uint32_t at;

	if (truth.count < 3 || drive.size < 3)
		return;
	at = random_below(random, truth.count);
	switch (mutation) {
	case MUTATE_PC:
		truth.record[at].address ^= 2;
		truth.record[at].type = RECORD_PC;
		break;
	case MUTATE_DROP:
		memmove(&truth.record[at], &truth.record[at + 1],
			(truth.count - at - 1) * sizeof(truth.record[0]));
		truth.count--;
		break;
	case MUTATE_STREAM:
		drive.stream[drive.size / 2] ^= 1;
		break;
	default:
		break;
	}
}

/* @steps: number of instructions to execute, 0: as in the row. */
static const char *check(const struct row *row, uint64_t seed, uint32_t steps,
			 enum mutation mutation, struct tally *tally)
{
	struct random random = { seed };
	struct shape shape;

	fault[0] = '\0';
	row_shape(row, &shape, &random);
	if (steps)
		shape.steps = steps;
	if (!program_make(&program, &shape, random_next(&random)))
		return wrong("the generator made a program that cannot be laid out");
	walk_program(&walk, &program, random_next(&random));
	if (row_value(row, FACTOR_PORT) < 0)
		walk_to_single_steps(&walk);
	if (!drive_walk(&drive, row, &program, &walk, random_next(&random)))
		return wrong("%s", drive.text);
	tally->bytes += drive.size;
	tally->messages += drive.encoder.messages;
	find_truth(&drive.config);
	mutate(mutation, &random);
	tally->programs++;
	tally->instructions += walk.pcs;
	tally->traps += walk.traps_taken;
	tally->nested += walk.nested;
	tally->switches += walk.switches;
	if (walk.deepest > tally->deepest)
		tally->deepest = walk.deepest;
	for (uint32_t i = 0; i < program.insns; i++) {
		tally->kinds[program.insn[i].kind]++;
		tally->table_jumps += program.insn[i].form == FORM_TABLE;
	}
	if (decode(row, &random, tally))
		compare(tally);
	else if (!compare(tally))
		return NULL;
	return fault;
}

const char *check_program(const struct row *row, uint64_t seed, enum mutation mutation,
			  struct tally *tally)
{
	return check(row, seed, 0, mutation, tally);
}

const char *subject_make(struct subject *subject, const struct row *row, uint64_t seed,
			 uint32_t steps)
{
	struct tally tally = { 0 };

	*subject = (struct subject){ .program = &program };
	if (check(row, seed, steps, MUTATE_NOTHING, &tally))
		return fault;
	subject->size = drive.size;
	subject->messages = (uint32_t)drive.stamps;
	subject->src = drive.config.src;
	subject->history = drive.params.mode == NTRACE_MODE_HISTORY;
	subject->context = drive.config.context;
	decoder_params(row, &subject->params);
	subject->space = program_space(&program, "program");
	subject->stream = malloc(drive.size);
	subject->start = malloc((drive.stamps + 1) * sizeof(*subject->start));
	subject->pc = malloc((decoded.count + 1) * sizeof(*subject->pc));
	if (!subject->space || !subject->stream || !subject->start || !subject->pc)
		return wrong("out of memory");
	memcpy(subject->stream, drive.stream, drive.size);
	for (uint32_t i = 0; i < subject->messages; i++)
		subject->start[i] = drive.stamp[i].offset;
	subject->start[subject->messages] = drive.size;
	for (uint32_t i = 0; i < decoded.count; i++) {
		if (decoded.record[i].type == RECORD_PC)
			subject->pc[subject->pcs++] = decoded.record[i].address;
	}
	return NULL;
}

void subject_free(struct subject *subject)
{
	if (subject->space)
		ntrace_space_put(subject->space);
	free(subject->stream);
	free(subject->start);
	free(subject->pc);
	memset(subject, 0, sizeof(*subject));
}
