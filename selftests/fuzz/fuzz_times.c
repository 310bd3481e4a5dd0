// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any timestamps: a program that calls a function again and again, traced by up to three streams of
 * two CPUs, whose messages have the times of the input. The flow, occupancy, call stacks and their
 * exports must cope, and count each instruction once.
 *
 * Input: SETTINGS bytes, which choose the parameters, then nine bytes for each message: what it is,
 * and its TSTAMP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/export_stacks.h>
#include <ntrace/flow.h>
#include <ntrace/functions.h>
#include <ntrace/occupancy.h>

#include "session/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SETTINGS 2
#define RECORD 9
#define STREAMS 3

/*
 * 0x100 nop, jalr a0: calls 0x110; 0x104 nop, jr a0: back to 0x100; 0x110 nop, ret. So each of these
 * places is left for the next one by an indirect transfer after two parcels.
 */
static const uint16_t code[] = { 0x0001, 0x9502, 0x0001, 0x8502, 0x0001,
				 0x0001, 0x0001, 0x0001, 0x0001, 0x8082 };
static const uint64_t places[] = { 0x100, 0x110, 0x104 };
#define PLACES (sizeof(places) / sizeof(places[0]))

enum { SYNC, TIMED, UNTIMED, LOST };

struct input {
	const uint8_t *data;
	size_t size;
	struct ntrace_profile *profile;
	struct ntrace_stacks *stacks;
	unsigned int stream;
	int32_t thread;
	uint64_t instructions;
};

static struct ntrace_space *space;
static struct ntrace_params params[STREAMS];
static struct ntrace_stream streams[STREAMS];
static struct ntrace_recording recording = { .streams = streams };
static struct ntrace_session session = { .recording = &recording, .streams = streams };

static void set_up(const uint8_t *data)
{
	static const uint8_t widths[] = { 64, 40, 8, 0 };

	recording.stream_count = 1 + data[0] % STREAMS;
	for (unsigned int i = 0; i < STREAMS; i++) {
		ntrace_params_init(&params[i]);
		params[i].timestamp_bits = widths[data[0] >> 2 & 3];
		params[i].timestamp_delta = data[0] & 16 ? NTRACE_TIME_DELTA_XOR : 0;
		params[i].timestamp_hz = data[0] & 32 ? UINT64_C(1) << (data[1] & 63) : 0;
		streams[i] = (struct ntrace_stream){ .params = &params[i], .cpu = i / 2 };
	}
	if (!space) {
		struct ntrace_object *object;

		if (ntrace_space_new(&space, "program", NULL) ||
		    ntrace_object_from_bytes(&object, "program", code, sizeof(code), 0x100) ||
		    ntrace_object_add_symbol(object, "caller", 0x100, 0x10) ||
		    ntrace_object_add_symbol(object, "callee", 0x110, 4) ||
		    ntrace_space_map_linked(space, object, 0))
			abort();
		ntrace_object_put(object);
	}
}

static int take(void *data, const struct ntrace_flow_event *flow)
{
	struct input *input = data;
	const struct ntrace_session_event event = {
		.flow = flow,
		.stream = input->stream,
		.cpu = streams[input->stream].cpu,
		.pid = input->thread,
		.tid = input->thread,
		.comm = "thread",
	};

	if (flow->type == NTRACE_FLOW_BLOCK)
		input->instructions += flow->instructions;
	if (ntrace_profile_event(input->profile, &event) ||
	    ntrace_stacks_event(input->stacks, &event))
		abort();
	return 0;
}

/* The message of a record: the hart goes from @from to @to. */
static struct ntrace_message message_of(const uint8_t *record, uint64_t from, uint64_t to)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_INDIRECT_BRANCH };
	unsigned int kind = *record >> 2 & 3;

	message.present = 1u << NTRACE_FIELD_BTYPE | 1u << NTRACE_FIELD_ICNT;
	message.field[NTRACE_FIELD_ICNT] = 2;
	if (kind == SYNC || kind == LOST) {
		message.tcode = NTRACE_TCODE_INDIRECT_BRANCH_SYNC;
		message.present |= 1u << NTRACE_FIELD_SYNC | 1u << NTRACE_FIELD_FADDR;
		message.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_PERIODIC;
		message.field[NTRACE_FIELD_FADDR] = to >> 1;
	} else {
		message.present |= 1u << NTRACE_FIELD_UADDR;
		message.field[NTRACE_FIELD_UADDR] = (from ^ to) >> 1;
	}
	if (kind == LOST) {
		message.tcode = NTRACE_TCODE_PROG_TRACE_SYNC;
		message.present &= ~(1u << NTRACE_FIELD_BTYPE);
		message.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_FIFO_OVERRUN;
		message.field[NTRACE_FIELD_ICNT] = 0;
	}
	if (kind != UNTIMED) {
		message.present |= 1u << NTRACE_FIELD_TSTAMP;
		memcpy(&message.field[NTRACE_FIELD_TSTAMP], record + 1, 8);
	}
	return message;
}

/* Decodes the messages of one stream. Return: the number of instructions. */
static uint64_t decode(struct input *input)
{
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = &params[input->stream],
					     .event = take,
					     .data = input };
	struct ntrace_flow *flow;
	uint64_t sent = 0, offset = 1;
	unsigned int place = 0;
	bool begun = false;

	if (ntrace_space_clone(&config.space, "stream", space) || ntrace_flow_new(&flow, &config))
		abort();
	for (size_t i = 0; i + RECORD <= input->size; i += RECORD) {
		const uint8_t *record = input->data + i;
		struct ntrace_message message;
		unsigned int next = (place + 1) % PLACES;

		if ((*record & 3) % recording.stream_count != input->stream)
			continue;
		message = message_of(record, places[place], places[next]);
		message.offset = offset++;
		message.length = 1;
		if (!begun && message.tcode == NTRACE_TCODE_INDIRECT_BRANCH)
			continue;
		/* What precedes the first sync is unknown. */
		if (begun && message.tcode != NTRACE_TCODE_PROG_TRACE_SYNC)
			sent += 2;
		begun = true;
		place = next;
		input->thread = 1 + (*record >> 4 & 3);
		if (ntrace_flow_message(flow, &message))
			abort();
	}
	if (ntrace_flow_end(flow, 0))
		abort();
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
	return sent;
}

static void check(struct input *input, uint64_t sent)
{
	const struct ntrace_occupancy *occupancy = ntrace_profile_occupancy(input->profile);
	uint64_t instructions = 0, untimed = 0;

	for (size_t i = 0; i < occupancy->cpu_count; i++) {
		const struct ntrace_occupancy_cpu *cpu = occupancy->cpus[i];

		if (cpu->used > NTRACE_OCCUPANCY_CELLS)
			abort();
		for (size_t k = 0; k < NTRACE_OCCUPANCY_CELLS * NTRACE_OCCUPANCY_SLOTS; k++)
			instructions += cpu->cells[k / NTRACE_OCCUPANCY_SLOTS]
						.slots[k % NTRACE_OCCUPANCY_SLOTS]
						.sum.instructions;
		untimed += cpu->untimed;
	}
	if (input->instructions != sent || occupancy->sum.instructions != sent ||
	    instructions + untimed != sent)
		abort();
}

static void export(struct ntrace_stacks *stacks, FILE *file)
{
	struct ntrace_export_stacks_options options = {
		.size = sizeof(options),
		.timestamp_hz = params[0].timestamp_hz,
	};

	for (unsigned int i = 0; i < NTRACE_EXPORT_STACKS_FORMATS; i++)
		if (ntrace_export_stacks(file, stacks, i, &options))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_profile_options profile = {
		.size = sizeof(profile),
		.parts = NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS |
			 NTRACE_PROFILE_OCCUPANCY,
		.session = &session,
	};
	struct ntrace_stacks_options stacks = { .size = sizeof(stacks) };
	struct ntrace_export_timeline *timeline;
	struct input input = { 0 };
	uint64_t sent = 0;
	FILE *file;
	size_t count;

	if (size < SETTINGS)
		return 0;
	set_up(data);
	input.data = data + SETTINGS;
	input.size = size - SETTINGS;
	file = fopen("/dev/null", "we");
	if (!file || ntrace_export_timeline_open(&timeline, file,
						 data[1] >> 6 & 1 ? NTRACE_EXPORT_PERFETTO :
								    NTRACE_EXPORT_CHROME,
						 &session))
		abort();
	stacks.change = ntrace_export_timeline_change;
	stacks.data = timeline;
	if (ntrace_profile_new(&input.profile, &profile) ||
	    ntrace_stacks_new(&input.stacks, &stacks))
		abort();
	for (; input.stream < recording.stream_count; input.stream++) {
		sent += decode(&input);
		if (ntrace_profile_end(input.profile) || ntrace_stacks_end(input.stacks))
			abort();
	}
	ntrace_profile_functions(input.profile, NTRACE_PROFILE_BY_TOTAL, &count);
	check(&input, sent);
	export(input.stacks, file);
	if (ntrace_export_timeline_close(timeline, NULL))
		abort();
	fclose(file);
	ntrace_stacks_free(input.stacks);
	ntrace_profile_free(input.profile);
	return 0;
}
