// SPDX-License-Identifier: GPL-2.0-only
/*
 * fast_paths parse-btm|parse-htm|batch-btm|split-btm|blocks-btm|blocks-htm|remember-btm|remember-htm|count-btm|count-htm|profile|
 * pcs|functions|stacks|report-btm|report-htm|short-htm|tandem:
 * decodes a stream of our own encoder, to warm up and then in measured(), which callgrind counts. To warm
 * up means twice where messages are counted: a message is remembered when it comes again. Prints the
 * number of messages, blocks or PCs that measured() made, and of bytes it read. fast_paths.sh runs it.
 * tandem reads a tandem trace: fields and bytes.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>
#include <ntrace/flow.h>
#include <ntrace/messages.h>
#include <ntrace/profile.h>
#include <ntrace/stacks.h>
#include <ntrace/tandem.h>

#include "stream/decode/pc_text.h"
#include "common/ui.h"

#define CODE 0x10000
#define WORDS 16	/* instructions in one copy of the loop */
#define COPIES 64
#define LAPS 60
#define BATCH 64
#define NOP 0x00000013

struct stream {
	uint8_t *data;
	size_t size, room;
	uint64_t messages;
	struct ntrace_params params;
};

static struct ntrace_object *object;
static struct ntrace_space *space;
static uint64_t walked_blocks, walked_instructions;

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	exit(2);
}

static void demand(bool good, const char *what)
{
	if (!good)
		die("fast_paths: %s\n", what);
}

/* Unprivileged ISA manual, formats B and J: positions of the offset bits. */
static uint32_t branch(uint32_t offset)
{
	return 0x00001063 | (offset >> 12 & 1) << 31 | (offset >> 5 & 63) << 25 |
	       (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7;
}

static uint32_t jump(unsigned int rd, uint32_t offset)
{
	return 0x6f | rd << 7 | (offset >> 20 & 1) << 31 | (offset >> 1 & 1023) << 21 |
	       (offset >> 11 & 1) << 20 | (offset >> 12 & 255) << 12;
}

/* The loop is one function, and that of each copy another one. */
static bool name_functions(struct ntrace_object *of)
{
	char name[16];

	for (uint64_t i = 0; i < COPIES; i++) {
		uint64_t copy = CODE + 4 * WORDS * i;

		snprintf(name, sizeof(name), "callee%u", (unsigned int)i);
		if (ntrace_object_add_symbol(of, "loop", copy, 4 * 11ul) ||
		    ntrace_object_add_symbol(of, name, copy + 4 * 11, 4 * 5ul))
			return false;
	}
	return true;
}

/*
 * A copy:       0 nop; 1 branch to 4; 2 nop; 3 nop; 4 call 11; 5 nop; 6 branch to 8;
 *               7 nop; 8 nop; 9 jump to the next copy; 10 nop
 * its function: 11 nop; 12 branch to 14; 13 nop; 14 ret; 15 nop
 */
static void make_program(void)
{
	static uint32_t code[COPIES * WORDS];

	for (unsigned int i = 0; i < COPIES; i++) {
		uint32_t *copy = code + i * WORDS;

		for (unsigned int k = 0; k < WORDS; k++)
			copy[k] = NOP;
		copy[1] = branch(3 * 4);
		copy[4] = jump(1, 7 * 4);
		copy[6] = branch(2 * 4);
		copy[9] = jump(0, (i + 1 < COPIES ? 7u : 7u - COPIES * WORDS) * 4);
		copy[12] = branch(2 * 4);
		copy[14] = 0x00008067;
	}
	demand(!ntrace_object_from_bytes(&object, "program", code, sizeof(code), CODE) &&
		       name_functions(object) && !ntrace_space_new(&space, "test", NULL) &&
		       !ntrace_space_map_linked(space, object, 0),
	       "no memory");
}

static void take_bytes(void *data, const uint8_t *bytes, size_t size)
{
	struct stream *stream = data;

	if (stream->size + size > stream->room) {
		stream->room = 2 * (stream->size + size);
		stream->data = realloc(stream->data, stream->room);
		demand(stream->data, "no memory");
	}
	memcpy(stream->data + stream->size, bytes, size);
	stream->size += size;
}

/* The instructions from word @first to @last of a copy. */
static void retire(struct ntrace_encoder *encoder, unsigned int copy, unsigned int first,
		   unsigned int last, enum ntrace_itype itype)
{
	struct ntrace_ingress block = {
		.iaddr = CODE + 4 * (uint64_t)(copy * WORDS + first),
		.iretire = 2 * (last - first + 1),
		.itype = (uint8_t)itype,
		.ilastsize = 1,
	};

	ntrace_encoder_retire(encoder, &block);
	walked_blocks++;
	walked_instructions += last - first + 1;
}

/* Takes branches by the bits of a pseudo-random number: in three of four cases with @often. */
static bool toss(bool often)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return often ? state >> 30 : state >> 31;
}

static unsigned int branch_at(struct ntrace_encoder *encoder, unsigned int copy, unsigned int first,
			      unsigned int at, unsigned int target, bool often)
{
	bool taken = toss(often);

	retire(encoder, copy, first, at,
	       taken ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	return taken ? target : at + 1;
}

static void encode(struct stream *stream, bool history)
{
	struct ntrace_encoder_config config;
	struct ntrace_params given;
	static struct ntrace_encoder encoder;

	ntrace_encoder_config_init(&config);
	ntrace_params_init(&given);
	config.params = &given;
	given.mode = history ? NTRACE_MODE_HISTORY : NTRACE_MODE_BRANCH;
	given.implicit_return = 3;
	config.implicit_return_depth = 16;
	config.write = take_bytes;
	config.write_data = stream;
	stream->params = given;
	demand(!ntrace_encoder_init(&encoder, &config), "the encoder refuses");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	walked_blocks = 0;
	walked_instructions = 0;
	for (unsigned int i = 0; i < LAPS * COPIES; i++) {
		unsigned int copy = i % COPIES, at;

		at = branch_at(&encoder, copy, 0, 1, 4, true);
		retire(&encoder, copy, at, 4, NTRACE_ITYPE_DIRECT_CALL);
		at = branch_at(&encoder, copy, 11, 12, 14, false);
		retire(&encoder, copy, at, 14, NTRACE_ITYPE_RETURN);
		at = branch_at(&encoder, copy, 5, 6, 8, true);
		retire(&encoder, copy, at, 9, NTRACE_ITYPE_DIRECT_JUMP);
	}
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	stream->messages = encoder.messages;
}

/* State and counters of the flow's callbacks. */
struct sink {
	struct ntrace_profile *profile;
	bool batches;
	struct ntrace_stacks *stacks;
	struct pc_text *text;
	uint64_t blocks, instructions, errors;
};

static int take_event(void *data, const struct ntrace_flow_event *flow)
{
	struct ntrace_session_event event = { .flow = flow, .pid = 1, .tid = 1, .comm = "" };
	struct sink *sink = data;

	sink->errors += flow->type >= NTRACE_FLOW_ERROR;
	sink->blocks += flow->type == NTRACE_FLOW_BLOCK;
	sink->instructions += flow->instructions;
	if (sink->stacks)
		return ntrace_stacks_event(sink->stacks, &event);
	return sink->profile ? ntrace_profile_event(sink->profile, &event) : 0;
}

static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	const struct ntrace_segment blocks = { .batch = batch,
					       .at = { .pid = 1, .tid = 1, .comm = "" } };
	struct sink *sink = data;

	for (size_t i = 0; i < batch->count; i++)
		sink->instructions += batch->blocks[i].instructions;
	sink->blocks += batch->count;
	if (sink->profile)
		return ntrace_profile_segment(sink->profile, &blocks);
	if (sink->stacks)
		return ntrace_stacks_segment(sink->stacks, &blocks);
	return sink->text ? pc_text_blocks(sink->text, batch) : 0;
}

static int take_effect(void *data, const struct ntrace_flow_effect *effect)
{
	struct sink *sink = data;

	for (size_t i = effect->lead; i < effect->batch->count; i++) {
		sink->instructions += effect->times * effect->batch->blocks[i].instructions;
		sink->blocks += effect->times;
	}
	return 0;
}

static int take_run(void *data, const struct ntrace_flow_run *run)
{
	const struct ntrace_segment segment = { .run = run,
						.type = NTRACE_SEGMENT_RUN,
						.at = { .pid = 1, .tid = 1, .comm = "" } };
	struct sink *sink = data;

	return ntrace_stacks_segment(sink->stacks, &segment);
}

static bool counts;

/* Messages are read several at a time. */
static bool batches;
static struct ntrace_message messages[BATCH];

static void decode(struct ntrace_flow *flow, const struct stream *stream)
{
	struct ntrace_message message;
	struct ntrace_reader reader;

	ntrace_reader_init(&reader, &stream->params, true);
	ntrace_reader_feed(&reader, stream->data, stream->size);
	for (;;) {
		if (counts)
			ntrace_flow_count(flow, &reader);
		if (ntrace_reader_next(&reader, &message) < 0)
			break;
		ntrace_flow_message(flow, &message);
	}
	ntrace_flow_flush(flow);
}

static uint64_t parse(const struct stream *stream)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	uint64_t count = 0;

	ntrace_reader_init(&reader, &stream->params, true);
	ntrace_reader_feed(&reader, stream->data, stream->size);
	for (;;) {
		size_t number = batches ? ntrace_reader_batch(&reader, messages, BATCH) : 0;

		count += number;
		if (ntrace_reader_next(&reader, &message) < 0)
			return count;
		count++;
	}
}

static bool splits;

/* Looks for the next message with SYNC, from the first byte on. Return: number of all messages. */
static uint64_t split(const struct stream *stream)
{
	struct ntrace_wire_sync sync;
	uint64_t from = 0;

	while (!ntrace_wire_sync_next(stream->data, stream->size, from, true, &stream->params, 0,
				      &sync))
		from = sync.offset + sync.length;
	demand(from, "no message with SYNC");
	return stream->messages;
}

/* The function counted by callgrind. Without a flow: messages only. */
__attribute__((noipa)) uint64_t measured(struct ntrace_flow *flow, const struct stream *stream);
uint64_t measured(struct ntrace_flow *flow, const struct stream *stream)
{
	if (!flow)
		return splits ? split(stream) : parse(stream);
	decode(flow, stream);
	return 0;
}

/* Groups of integer instructions, loads and jumps. Return: number of fields read, of @size bytes */
static uint64_t read_tandem(size_t *size_read)
{
	static uint8_t bytes[1 << 18];
	static struct ntrace_tandem_field fields[256];
	struct ntrace_tandem_params params;
	struct ntrace_tandem_reader reader;
	size_t size = 0;
	uint64_t total = 0, written = 0;
	int count;

	ntrace_tandem_params_init(&params);
	for (unsigned int group = 0; group < 8000; group++) {
		bool jump = group % 8 == 7, load = group % 4 == 1;
		const struct ntrace_tandem_field parts[] = {
			{ .type = NTRACE_TANDEM_BEGIN },
			{ .type = jump ? NTRACE_TANDEM_STATE : NTRACE_TANDEM_NEXT_PC,
			  .id = NTRACE_TANDEM_STATE_PC,
			  .value = jump ? CODE : 0 },
			{ .type = group % 3 ? NTRACE_TANDEM_INSN32 : NTRACE_TANDEM_INSN16,
			  .value = group % 3 ? NOP : 1 },
			{ .type = NTRACE_TANDEM_REGISTER,
			  .id = (uint16_t)(NTRACE_TANDEM_GPR + 1 + group % 31),
			  .value = group },
			{ .type = load ? NTRACE_TANDEM_STATE : NTRACE_TANDEM_END,
			  .id = NTRACE_TANDEM_STATE_EADDR,
			  .value = load ? group : 0 },
			{ .type = NTRACE_TANDEM_END },
		};

		for (unsigned int i = 0; i < 5u + load; i++, written++)
			size += (size_t)ntrace_tandem_write(&params, &parts[i], bytes + size);
	}
	ntrace_tandem_reader_init(&reader, &params);
	ntrace_tandem_reader_feed(&reader, bytes, size);
	while ((count = ntrace_tandem_read(&reader, fields, 256)) > 0)
		total += (uint64_t)count;
	demand(!count && total == written, "fields are lost");
	*size_read = size;
	return total;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	static struct output output;
	struct stream stream = { 0 };
	struct sink sink = { 0 };
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.event = take_event,
		.data = &sink,
	};
	struct ntrace_profile_options parts = { .size = sizeof(parts) };
	struct ntrace_flow *flow = NULL;
	uint64_t count;
	size_t bytes;

	if (!strcmp(what, "tandem")) {
		count = read_tandem(&bytes);
		printf("%llu %zu\n", (unsigned long long)count, bytes);
		return 0;
	}
	make_program();
	encode(&stream, !strstr(what, "btm"));
	config.params = &stream.params;
	config.space = space;
	if (!strcmp(what, "profile")) {
		demand(!ntrace_profile_new(&sink.profile, NULL), "no memory");
	} else if (!strcmp(what, "functions")) {
		parts.parts = NTRACE_PROFILE_FUNCTIONS;
		demand(!ntrace_profile_new(&sink.profile, &parts), "no memory");
		sink.batches = true;
	} else if (!strcmp(what, "stacks")) {
		demand(!ntrace_stacks_new(&sink.stacks, NULL), "no memory");
		sink.batches = true;
	} else if (!strcmp(what, "pcs")) {
		output_init(&output, open("/dev/null", O_WRONLY));
		sink.text = pc_text_new(&output);
		demand(sink.text, "no memory");
	} else if (!strncmp(what, "count-", 6) || !strncmp(what, "short-", 6)) {
		config.effect = take_effect;
		counts = true;
	} else if (!strcmp(what, "split-btm")) {
		splits = true;
	} else if (!strncmp(what, "batch-", 6)) {
		batches = true;
	} else if (!strncmp(what, "remember-", 9)) {
		config.remember = true;
		counts = true;
	} else if (!strncmp(what, "report-", 7)) {
		demand(!ntrace_stacks_new(&sink.stacks, NULL), "no memory");
		sink.batches = true;
		config.effect = take_effect;
		config.run = take_run;
		counts = true;
	} else if (strncmp(what, "parse-", 6) && strncmp(what, "blocks-", 7)) {
		return 2;
	}
	if (!sink.profile || sink.batches)
		config.blocks = take_blocks;
	if (strncmp(what, "parse-", 6) && strncmp(what, "batch-", 6) && !splits) {
		demand(!ntrace_flow_new(&flow, &config), "no flow");
		/* A short stream is decoded without having been seen before. */
		if (strncmp(what, "short-", 6))
			decode(flow, &stream);
		if (counts && strncmp(what, "short-", 6))
			decode(flow, &stream);
	} else {
		parse(&stream);
	}
	sink.blocks = 0;
	sink.instructions = 0;
	count = measured(flow, &stream);
	if (flow) {
		demand(!sink.errors && sink.blocks == walked_blocks &&
			       sink.instructions == walked_instructions,
		       "the decoded flow differs from the encoded one");
		count = sink.text ? sink.instructions : sink.blocks;
	} else {
		demand(count == stream.messages, "messages are lost");
	}
	printf("%llu %zu\n", (unsigned long long)count, stream.size);
	ntrace_flow_free(flow);
	ntrace_profile_free(sink.profile);
	ntrace_stacks_free(sink.stacks);
	pc_text_free(sink.text);
	free(stream.data);
	ntrace_space_put(space);
	ntrace_object_put(object);
	return 0;
}
