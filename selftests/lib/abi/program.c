// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user's program, compiled with the headers of a release and run with the current library by
 * abi.py. It passes every kind of struct: with a size, without a size, state in the program's
 * memory. Its output must never change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/check.h>
#include <ntrace/encode.h>
#include <ntrace/flow.h>
#include <ntrace/frames.h>
#include <ntrace/image.h>
#include <ntrace/perf.h>
#include <ntrace/profile.h>
#include <ntrace/recording.h>
#include <ntrace/session.h>

#define GUARD 0x5a

/* 0x1000: nop; branch to 0x100c; 0x1008: nop; 0x100c: jump to 0x1000 */
static const uint32_t code[] = { 0x00000013, 0x00001463, 0x00000013, 0xff5ff06f };

/* State of the library in the program's memory, followed by a guard. */
static struct {
	struct ntrace_encoder encoder;
	uint8_t after_encoder[64];
	struct ntrace_reader reader;
	uint8_t after_reader[64];
	struct ntrace_message message;
	uint8_t after_message[64];
	struct ntrace_flow_stats stats;
	uint8_t after_stats[64];
} own;

static uint8_t stream[4096];
static size_t stream_size;

static void demand(bool good, const char *what)
{
	if (good)
		return;
	printf("failed: %s\n", what);
	exit(1);
}

static void demand_guard(const uint8_t *bytes, const char *what)
{
	for (unsigned int i = 0; i < 64; i++)
		demand(bytes[i] == GUARD, what);
}

static void take_bytes(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	demand(stream_size + size <= sizeof(stream), "room for the stream");
	memcpy(stream + stream_size, bytes, size);
	stream_size += size;
}

static void retire(uint64_t address, uint32_t parcels, enum ntrace_itype itype)
{
	struct ntrace_ingress block = {
		.iaddr = address,
		.iretire = parcels,
		.ilastsize = 1,
		.itype = itype,
		.priv = NTRACE_PRIV_U,
	};

	demand(!ntrace_encoder_retire(&own.encoder, &block), "a block");
}

static void encode(const struct ntrace_params *params)
{
	struct ntrace_encoder_config config;

	ntrace_encoder_config_init(&config);
	config.params = params;
	config.src = 2;
	config.write = take_bytes;
	demand(!ntrace_encoder_init(&own.encoder, &config), "the encoder");
	ntrace_encoder_start(&own.encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int i = 0; i < 100; i++) {
		bool taken = i % 3;

		retire(0x1000, 4,
		       taken ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
		retire(taken ? 0x100c : 0x1008, taken ? 2 : 4, NTRACE_ITYPE_OTHER_DIRECT_JUMP);
	}
	ntrace_encoder_stop(&own.encoder, NTRACE_EVCODE_TRACE_DISABLE);
	printf("encoder: %zu bytes, readable %llu, messages %llu, dropped %llu\n", stream_size,
	       (unsigned long long)own.encoder.bytes, (unsigned long long)own.encoder.messages,
	       (unsigned long long)own.encoder.dropped);
	demand_guard(own.after_encoder, "the encoder stays within its struct");
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct ntrace_session_event of_session = { .flow = event, .comm = "old", .pid = 1 };

	return ntrace_profile_event(data, &of_session);
}

static void decode(const struct ntrace_params *params, struct ntrace_space *space)
{
	struct ntrace_profile_options options = { .size = sizeof(options), .pid = -1 };
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = params,
		.src = 2,
		.event = take_event,
		.space = space,
	};
	const struct ntrace_profile_object *objects;
	struct ntrace_profile *profile;
	struct ntrace_flow *flow;
	size_t count;
	int event;

	demand(!ntrace_profile_new(&profile, &options), "the profile");
	config.data = profile;
	demand(!ntrace_flow_new(&flow, &config), "the flow");
	demand(!ntrace_reader_init(&own.reader, params, true), "the reader");
	ntrace_reader_feed(&own.reader, stream, stream_size);
	while ((event = ntrace_reader_next(&own.reader, &own.message)) == NTRACE_WIRE_MESSAGE)
		demand(!ntrace_flow_message(flow, &own.message), "a message");
	demand(event == NTRACE_ERR_AGAIN, "the end of the stream");
	ntrace_flow_end(flow, ntrace_reader_pending(&own.reader));
	ntrace_flow_get_stats(flow, &own.stats);
	ntrace_profile_end(profile);
	objects = ntrace_profile_objects(profile, &count);
	printf("reader: offset %llu, errors %llu\n", (unsigned long long)own.reader.offset,
	       (unsigned long long)own.reader.errors);
	printf("flow: %llu blocks, %llu instructions, %llu errors\n",
	       (unsigned long long)own.stats.blocks, (unsigned long long)own.stats.instructions,
	       (unsigned long long)own.stats.errors);
	printf("profile: %zu objects, %llu instructions\n", count,
	       count ? (unsigned long long)objects[0].instructions : 0);
	ntrace_flow_free(flow);
	ntrace_profile_free(profile);
	demand_guard(own.after_reader, "the reader stays within its struct");
	demand_guard(own.after_message, "a message stays within its struct");
	demand_guard(own.after_stats, "totals stay within their struct");
}

static int take_finding(void *data, const struct ntrace_check_finding *finding)
{
	printf("finding: %s at %llu\n", finding->rule->id, (unsigned long long)finding->offset);
	++*(unsigned int *)data;
	return 0;
}

static void check(const struct ntrace_params *params, struct ntrace_space *space)
{
	struct ntrace_check_config config;
	struct ntrace_check *checker;
	unsigned int findings = 0;

	ntrace_check_config_init(&config);
	config.params = params;
	config.space = space;
	config.finding = take_finding;
	config.data = &findings;
	demand(!ntrace_check_new(&checker, &config), "the checker");
	ntrace_check_feed(checker, stream, stream_size);
	ntrace_check_end(checker);
	printf("checker: %llu messages, %u findings\n",
	       (unsigned long long)ntrace_check_messages(checker), findings);
	ntrace_check_free(checker);
}

static void record(const struct ntrace_params *params, const char *directory)
{
	struct ntrace_stream streams[2] = {
		{ .file = "aux.0", .params = params, .cpu = 3, .hartid = 7, .bytes = 11 },
		{ .file = "aux.1", .lost = 5, .gaps = 1 },
	};
	struct ntrace_recording recording = {
		.size = sizeof(recording),
		.tool = "old program",
		.clock = "monotonic",
		.stream_count = 2,
		.streams = streams,
	}, *back;
	char reason[128], text[512];

	demand(!ntrace_recording_create(directory), "a recording");
	demand(!ntrace_recording_write(directory, &recording), "writing it");
	demand(!ntrace_recording_read(&back, directory, reason, sizeof(reason)), "reading it");
	for (unsigned int i = 0; i < back->stream_count; i++) {
		const struct ntrace_stream *one = &back->streams[i];

		ntrace_params_format(one->params, text, sizeof(text));
		printf("stream: %s cpu %u hart %llu bytes %llu lost %llu gaps %llu %s\n", one->file,
		       one->cpu, (unsigned long long)one->hartid, (unsigned long long)one->bytes,
		       (unsigned long long)one->lost, (unsigned long long)one->gaps, text);
	}
	ntrace_recording_free(back);
}

int main(int argc, char **argv)
{
	struct ntrace_location location;
	struct ntrace_object *object;
	struct ntrace_params params;
	struct ntrace_space *space;

	demand(argc == 2, "an argument");
	memset(&own, GUARD, sizeof(own));
	ntrace_params_init(&params);
	demand(!ntrace_params_parse(&params, "srcbits=4,mode=htm,isa=rv64gc,tshz=5", NULL),
	       "params");
	demand(!ntrace_object_from_bytes(&object, "program", code, sizeof(code), 0x1000) &&
		       !ntrace_object_add_symbol(object, "loop", 0x1000, 16) &&
		       !ntrace_space_new(&space, "process", NULL) &&
		       !ntrace_space_map_linked(space, object, 0),
	       "an image");
	demand(!ntrace_space_locate(space, 0x100c, &location), "a location");
	printf("location: %s + %llu\n", location.symbol,
	       (unsigned long long)(location.link_address - location.symbol_start));
	encode(&params);
	decode(&params, space);
	check(&params, space);
	record(&params, argv[1]);
	ntrace_space_put(space);
	ntrace_object_put(object);
	return 0;
}
