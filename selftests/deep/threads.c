// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that share an image and an address space, as Documentation/architecture.md allows: each
 * decodes a stream of its own flow, looks up the symbols of its blocks, and takes and drops
 * references. All start at once with a new image, so that the first look-ups meet. threads.sh runs
 * it under ThreadSanitizer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>
#include <ntrace/flow.h>
#include <ntrace/image.h>

#define CODE 0x1000
#define COPY 0x10000	/* distance of the second copy of the code */
#define THREADS 4
#define ROUNDS 20
#define LAPS 500

static uint8_t stream[1 << 16];
static size_t stream_size;
static struct ntrace_object *object;
static struct ntrace_space *space;
static pthread_barrier_t begin;

/* Results of a thread. */
struct found {
	pthread_t thread;
	uint64_t instructions;
	uint64_t named;
	int error;
};

static void demand(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "threads: %s\n", what);
	exit(2);
}

static void take_bytes(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	demand(stream_size + size <= sizeof(stream), "the stream is too long");
	memcpy(stream + stream_size, bytes, size);
	stream_size += size;
}

/* 0x1000: nop; branch to 0x100c; 0x1008: nop; 0x100c: jump to 0x1000 */
static const uint32_t code[] = { 0x00000013, 0x00001463, 0x00000013, 0xff5ff06f };

static void retire(struct ntrace_encoder *encoder, uint64_t address, uint32_t parcels,
		   enum ntrace_itype itype)
{
	struct ntrace_ingress block = { .iaddr = address,
					.iretire = parcels,
					.ilastsize = 1,
					.itype = itype,
					.priv = NTRACE_PRIV_U };

	demand(!ntrace_encoder_retire(encoder, &block), "a block is refused");
}

/* Return: number of instructions in the block. */
static uint64_t encode(void)
{
	static struct ntrace_encoder encoder;
	struct ntrace_encoder_config config;
	uint64_t instructions = 0;

	ntrace_encoder_config_init(&config);
	config.write = take_bytes;
	demand(!ntrace_encoder_init(&encoder, &config), "the encoder refuses");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int i = 0; i < LAPS; i++) {
		bool taken = i * i % 7 < 3;

		retire(&encoder, CODE, 4,
		       taken ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
		retire(&encoder, taken ? CODE + 12 : CODE + 8, taken ? 2 : 4,
		       NTRACE_ITYPE_OTHER_DIRECT_JUMP);
		instructions += taken ? 3 : 4;
	}
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	return instructions;
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct found *found = data;
	struct ntrace_location location;

	if (event->type != NTRACE_FLOW_BLOCK)
		return 0;
	found->instructions += event->instructions;
	if (!ntrace_space_locate(event->space, event->address, &location) && location.symbol)
		found->named++;
	/* Use another mapping than the last one. */
	if (!ntrace_space_locate(event->space, event->address + COPY, &location) && location.symbol)
		found->named++;
	ntrace_space_put(ntrace_space_get(event->space));
	ntrace_object_put(ntrace_object_get(object));
	return 0;
}

static void *decode(void *data)
{
	struct found *found = data;
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .event = take_event,
					     .data = found };
	struct ntrace_message message;
	struct ntrace_params params;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;

	pthread_barrier_wait(&begin);
	config.space = space;
	ntrace_params_init(&params);
	found->error = ntrace_reader_init(&reader, &params, true);
	if (!found->error)
		found->error = ntrace_flow_new(&flow, &config);
	if (found->error)
		return NULL;
	ntrace_reader_feed(&reader, stream, stream_size);
	while (!found->error && ntrace_reader_next(&reader, &message) == NTRACE_WIRE_MESSAGE)
		found->error = ntrace_flow_message(flow, &message);
	ntrace_flow_end(flow, 0);
	ntrace_flow_free(flow);
	free(ntrace_demangle("_ZN3foo3barEv"));
	return NULL;
}

static void make_image(void)
{
	static const char *const names[] = { "start", "branch", "next", "last" };

	demand(!ntrace_object_from_bytes(&object, "program", code, sizeof(code), CODE) &&
		       !ntrace_space_new(&space, "process", NULL) &&
		       !ntrace_space_map_linked(space, object, 0) &&
		       !ntrace_space_map_linked(space, object, COPY),
	       "no image");
	for (unsigned int i = 0; i < 4; i++)
		demand(!ntrace_object_add_symbol(object, names[i], CODE + 4 * i, 4), "no symbol");
}

int main(void)
{
	uint64_t expected = encode();

	pthread_barrier_init(&begin, NULL, THREADS);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct found found[THREADS] = { { .error = 0 } };

		make_image();
		for (unsigned int i = 0; i < THREADS; i++)
			demand(!pthread_create(&found[i].thread, NULL, decode, &found[i]),
			       "no thread");
		for (unsigned int i = 0; i < THREADS; i++) {
			pthread_join(found[i].thread, NULL);
			demand(!found[i].error, "a flow fails");
			demand(found[i].instructions == expected, "instructions are missing");
			demand(found[i].named > 0, "blocks have no names");
		}
		ntrace_space_put(space);
		ntrace_object_put(object);
	}
	printf("%d threads, %d images, %llu instructions each\n", THREADS, ROUNDS,
	       (unsigned long long)expected);
	return 0;
}
