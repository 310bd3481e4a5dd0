// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the walk says was traced (the truth) against what is decoded from the
 * encoder's stream, record by record.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>
#include <ntrace/flow.h>

#include "check.h"

enum record_type {
	RECORD_PC,	/* address was retired */
	RECORD_TRAP,	/* to the handler at address; value = what did not retire */
	RECORD_OFF,	/* tracing went off */
	RECORD_LOST,	/* instructions were lost */
};

struct record {
	uint8_t type;
	uint8_t code;
	uint64_t address;
	uint64_t value;
	uint64_t offset;	/* decoded: in the stream */
};

#define RECORDS_MAX (2 * STEPS_MAX)
#define STREAM_MAX (1 << 21)

struct records {
	struct record record[RECORDS_MAX];
	uint32_t count;
};

static struct program program;
static struct walk walk;
static struct records truth, decoded;
static uint8_t stream[STREAM_MAX];
static size_t stream_size;
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

static void add_record(struct records *records, const struct record *record)
{
	if (records->count < RECORDS_MAX)
		records->record[records->count++] = *record;
}

static void take(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	if (stream_size + size <= sizeof(stream)) {
		memcpy(stream + stream_size, bytes, size);
		stream_size += size;
	}
}

static void row_shape(const struct row *row, struct shape *shape, struct random *random)
{
	int64_t disturb = row_value(row, FACTOR_DISTURB);

	memset(shape, 0, sizeof(*shape));
	shape->xlen = (unsigned int)row_value(row, FACTOR_XLEN);
	shape->compressed = row_value(row, FACTOR_ISA) > 0;
	shape->push_pop = row_value(row, FACTOR_ISA) > 1;
	shape->table_jumps = row_value(row, FACTOR_ISA) > 2;
	shape->well_nested = row_value(row, FACTOR_WELL_NESTED);
	shape->hypervisor = row_value(row, FACTOR_HYPERVISOR);
	shape->ecall_retires = row_value(row, FACTOR_ECALL_RETIRES);
	shape->trap_rate = (uint32_t)row_value(row, FACTOR_TRAP_RATE);
	shape->off_rate = disturb & 1 ? random_range(random, 30, 300) : 0;
	shape->overrun_rate = disturb & 2 ? random_range(random, 30, 300) : 0;
	shape->steps = random_range(random, 50, one_in(random, 4) ? 3000 : 800);
}

void row_config(const struct row *row, struct ntrace_encoder_config *config)
{
	struct ntrace_params *params;

	ntrace_encoder_config_init(config);
	params = &config->params;
	params->xlen = (unsigned int)row_value(row, FACTOR_XLEN);
	params->mode = (enum ntrace_mode)row_value(row, FACTOR_MODE);
	params->src_bits = (unsigned int)row_value(row, FACTOR_SRC_BITS);
	params->extend_address = row_value(row, FACTOR_EXTEND_ADDRESS);
	params->all_jumps = row_value(row, FACTOR_ALL_JUMPS);
	config->src = (1u << params->src_bits) * 2 / 3;
	config->icnt_bits = (unsigned int)row_value(row, FACTOR_ICNT_BITS);
	config->hist_bits = (unsigned int)row_value(row, FACTOR_HIST_BITS);
	config->sync_mode = (unsigned int)row_value(row, FACTOR_SYNC_MODE);
	config->sync_max = (unsigned int)row_value(row, FACTOR_SYNC_MAX);
	config->trap_btype = row_value(row, FACTOR_TRAP_BTYPE);
	config->priv_mask = (uint32_t)row_value(row, FACTOR_FILTER);
	config->write = take;
}

/* Feeds one step. Return: false: the encoder did not take it. */
static bool encode_step(struct ntrace_encoder *encoder, const struct step *step)
{
	struct ntrace_ingress block = {
		.iaddr = step->address,
		.iretire = step->parcels,
		.itype = step->itype,
		.ilastsize = (uint8_t)(step->last_size > 2),
		.priv = step->privilege,
	};

	switch (step->kind) {
	case STEP_START:
		ntrace_encoder_start(encoder, NTRACE_SYNC_DEBUG_EXIT);
		return true;
	case STEP_STOP:
		ntrace_encoder_stop(encoder, NTRACE_EVCODE_DEBUG_ENTRY);
		return true;
	case STEP_OVERRUN:
		ntrace_encoder_overrun(encoder);
		return true;
	case STEP_TRIGGER:
		return true;
	default:
		return !ntrace_encoder_retire(encoder, &block);
	}
}

static const char *encode(const struct ntrace_encoder_config *config, struct tally *tally)
{
	struct ntrace_encoder encoder;

	stream_size = 0;
	if (ntrace_encoder_init(&encoder, config))
		return wrong("the encoder refuses the options");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_RESET_EXIT);
	for (uint32_t i = 0; i < walk.steps; i++) {
		if (!encode_step(&encoder, &walk.step[i]))
			return wrong("the encoder refuses block %u at 0x%" PRIx64 ", itype %u", i,
				     walk.step[i].address, walk.step[i].itype);
	}
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	if (stream_size == sizeof(stream))
		return wrong("a stream of more than %zu bytes", stream_size);
	tally->bytes += stream_size;
	tally->messages += encoder.messages;
	return NULL;
}

/* State of what is traced, while the truth is worked out. */
struct tracing {
	bool on;
	bool live;		/* a sync has been sent, and nothing ended it */
	bool lost;		/* and something was, which has not been told yet */
	bool trapped;		/* the next block begins with a handler */
	uint8_t code;
	uint64_t interrupted;	/* what did not retire */
};

static void end_live(struct tracing *tracing, enum record_type type)
{
	struct record record = { .type = (uint8_t)type };

	/* Losses without a traced block between them are one. */
	if (type == RECORD_LOST ? !tracing->lost : tracing->live)
		add_record(&truth, &record);
	if (type == RECORD_LOST)
		tracing->lost = true;
	tracing->live = false;
	tracing->trapped = false;
}

static void block_truth(struct tracing *tracing, const struct step *step,
			const struct ntrace_encoder_config *config)
{
	if (!(config->priv_mask >> step->privilege & 1)) {
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

		add_record(&truth, &pc);
	}
	if (step->itype == 1 || step->itype == 2) {
		uint64_t next = step->address + 2 * (uint64_t)step->parcels;

		tracing->trapped = true;
		tracing->code = config->trap_btype ? 1 : step->itype + 1;
		tracing->interrupted = config->params.xlen == 32 ? (uint32_t)next : next;
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
			/* A loss not yet told of is told of now. */
			end_live(&tracing, RECORD_OFF);
			tracing.on = false;
			tracing.lost = false;
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

static int take_pc(void *data, uint64_t address, const uint8_t *bytes,
		   const struct ntrace_insn *insn)
{
	const struct ntrace_flow_event *event = data;
	struct record record = { .type = RECORD_PC, .address = address, .offset = event->offset };

	(void)bytes;
	(void)insn;
	add_record(&decoded, &record);
	return 0;
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct record record = {
		.code = event->code,
		.address = event->address,
		.value = event->value,
		.offset = event->offset,
	};

	(void)data;
	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
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
		/* fall through */
	case NTRACE_FLOW_WARNING:
		wrong("%s at 0x%" PRIx64 ", offset %" PRIu64 ", value 0x%" PRIx64 ": %s; ",
		      ntrace_flow_type_name(event->type), event->address, event->offset,
		      event->value, ntrace_flow_error_text(event->code));
		return 0;
	case NTRACE_FLOW_GAP:
		if (!decoded.count || decoded.record[decoded.count - 1].type != RECORD_LOST)
			wrong("gap at 0x%" PRIx64 ", offset %" PRIu64 "; ", event->address,
			      event->offset);
		return 0;
	default:
		return 0;
	}
}

static struct ntrace_space *program_space(void)
{
	struct ntrace_space *space;

	if (ntrace_space_new(&space, "program", NULL))
		return NULL;
	for (unsigned int i = 0; i < REGIONS; i++) {
		const struct region *region = &program.region[i];
		struct ntrace_object *object;

		if (ntrace_object_from_bytes(&object, i ? "handlers" : "program", region->bytes,
					     region->size, region->address))
			continue;
		ntrace_space_map_linked(space, object, 0);
		ntrace_object_put(object);
	}
	return space;
}

static void read_stream(struct ntrace_flow *flow, const struct ntrace_params *params,
			struct random *random, struct tally *tally)
{
	struct ntrace_reader reader;
	struct ntrace_message message;
	size_t chunk = one_in(random, 4) ? random_range(random, 1, 40) : sizeof(stream);
	int event;

	ntrace_reader_init(&reader, params, true);
	for (size_t done = 0; done < stream_size; done += chunk) {
		size_t left = stream_size - done;

		ntrace_reader_feed(&reader, stream + done, left < chunk ? left : chunk);
		while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
			if (event == NTRACE_WIRE_ERROR) {
				ntrace_flow_wire_error(flow, message.offset);
				continue;
			}
			tally->tcodes[message.tcode & 63]++;
			ntrace_flow_message(flow, &message);
		}
	}
	ntrace_flow_end(flow, ntrace_reader_pending(&reader));
}

static const char *decode(const struct row *row, const struct ntrace_encoder_config *encoder,
			  struct random *random, struct tally *tally)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = encoder->params,
		.src = encoder->src,
		.event = take_event,
	};
	struct ntrace_flow *flow;

	decoded.count = 0;
	snprintf(config.params.isa, sizeof(config.params.isa), "%s", shape_isa(&program.shape));
	config.params.jvt = program.table_address;
	config.params.jvt_known = program.shape.table_jumps;
	if (!row_value(row, FACTOR_MODE_GIVEN))
		config.params.mode = NTRACE_MODE_ANY;
	config.space = program_space();
	if (!config.space || ntrace_flow_new(&flow, &config))
		return wrong("no flow for these parameters");
	read_stream(flow, &config.params, random, tally);
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
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
	}
	if (at < records->count)
		wrong(" offset %" PRIu64, records->record[at].offset);
}

static bool same(const struct record *a, const struct record *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case RECORD_PC:
		return a->address == b->address;
	case RECORD_TRAP:
		return a->address == b->address && a->value == b->value && a->code == b->code;
	default:
		return true;
	}
}

/* Where something was lost the end of what was executed before it may be missing, no more. */
static const char *compare(struct tally *tally)
{
	uint32_t t = 0, d = 0;

	while (t < truth.count && d < decoded.count) {
		if (same(&truth.record[t], &decoded.record[d])) {
			t++;
			d++;
			continue;
		}
		if (decoded.record[d].type != RECORD_LOST || truth.record[t].type == RECORD_OFF)
			break;
		tally->lost += truth.record[t].type == RECORD_PC;
		t++;
	}
	if (t == truth.count && d == decoded.count)
		return NULL;
	wrong("record %u of %u, decoded %u of %u", t, truth.count, d, decoded.count);
	print_records("executed", &truth, t);
	print_records("decoded ", &decoded, d);
	return fault;
}

static void mutate(enum mutation mutation, struct random *random)
{
	uint32_t at;

	if (truth.count < 3 || stream_size < 3)
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
		stream[stream_size / 2] ^= 1;
		break;
	default:
		break;
	}
}

const char *check_program(const struct row *row, uint64_t seed, enum mutation mutation,
			  struct tally *tally)
{
	struct random random = { seed };
	struct ntrace_encoder_config config;
	struct shape shape;

	fault[0] = '\0';
	row_shape(row, &shape, &random);
	if (!program_make(&program, &shape, random_next(&random)))
		return wrong("the generator made a program that cannot be laid out");
	walk_program(&walk, &program, random_next(&random));
	row_config(row, &config);
	if (encode(&config, tally))
		return fault;
	find_truth(&config);
	mutate(mutation, &random);
	tally->programs++;
	tally->instructions += walk.pcs;
	tally->traps += walk.traps_taken;
	for (uint32_t i = 0; i < program.insns; i++)
		tally->kinds[program.insn[i].kind]++;
	if (decode(row, &config, &random, tally))
		compare(tally);
	else if (!compare(tally))
		return NULL;
	return fault;
}
