// SPDX-License-Identifier: GPL-2.0-only
/*
 * decode_coremark ELF BTM HTM: parses all messages of BTM, and visits all
 * blocks of HTM, ROUNDS times in memory. Prints lines "NAME VALUE" and, last,
 * "instructions N" of HTM, or an error message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <ntrace/flow.h>

#define ROUNDS 5

struct sum {
	uint64_t instructions;
	uint64_t taken;
	uint64_t addresses;
	uint64_t classes[NTRACE_INSN_CLASS_COUNT];
	unsigned int losses;
};

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint8_t *load(const char *path, size_t *size)
{
	struct stat status;
	uint8_t *data;
	FILE *file = fopen(path, "rb");

	if (!file || fstat(fileno(file), &status) || !(data = malloc((size_t)status.st_size + 1)) ||
	    fread(data, 1, (size_t)status.st_size, file) != (size_t)status.st_size) {
		perror(path);
		exit(1);
	}
	fclose(file);
	*size = (size_t)status.st_size;
	return data;
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct sum *sum = data;

	sum->losses += event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_GAP ||
		       event->type == NTRACE_FLOW_WARNING;
	return 0;
}

/* Read address, count and end of each block, as a profiler would. */
static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct sum *sum = data;

	for (size_t i = 0; i < batch->count; i++) {
		const struct ntrace_block *block = &batch->blocks[i];

		sum->instructions += block->instructions;
		sum->addresses += block->address;
		sum->taken += block->flags & NTRACE_BLOCK_TAKEN;
		sum->classes[block->insn_class]++;
	}
	return 0;
}

static void parse(const uint8_t *data, size_t size)
{
	struct ntrace_message message;
	struct ntrace_params params;
	struct ntrace_reader reader;
	uint64_t icnt = 0;
	double start = seconds();

	ntrace_params_init(&params);
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, data, size);
	while (ntrace_reader_next(&reader, &message) >= 0)
		icnt += message.field[NTRACE_FIELD_ICNT];
	printf("parse.btm %.3f\n", icnt ? (double)size / (seconds() - start) / 1e6 : 0);
}

static uint64_t walk(struct ntrace_space *space, const uint8_t *data, size_t size)
{
	struct sum sum = { .losses = 0 };
	struct ntrace_params params;
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = &params,
		.event = take_event,
		.blocks = take_blocks,
		.space = space,
		.data = &sum,
	};
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	double start = seconds();

	ntrace_params_init(&params);
	if (ntrace_flow_new(&flow, &config) || ntrace_reader_init(&reader, &params, true))
		exit(1);
	ntrace_reader_feed(&reader, data, size);
	while (ntrace_reader_next(&reader, &message) >= 0)
		ntrace_flow_message(flow, &message);
	ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	printf("block.htm %.3f\n", (double)sum.instructions / (seconds() - start) / 1e6);
	ntrace_flow_free(flow);
	return sum.losses || !sum.addresses ? 0 : sum.instructions;
}

int main(int argc, char **argv)
{
	struct ntrace_object *object;
	struct ntrace_space *space;
	size_t btm_size, htm_size;
	uint8_t *btm, *htm;
	uint64_t count = 0;

	if (argc != 4 || ntrace_object_open_elf(&object, argv[1]) ||
	    ntrace_space_new(&space, argv[1], NULL) || ntrace_space_map_linked(space, object, 0)) {
		fprintf(stderr, "usage: decode_coremark ELF BTM HTM\n");
		return 2;
	}
	btm = load(argv[2], &btm_size);
	htm = load(argv[3], &htm_size);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		parse(btm, btm_size);
		count = walk(space, htm, htm_size);
	}
	printf("instructions %llu\n", (unsigned long long)count);
	free(btm);
	free(htm);
	ntrace_space_put(space);
	ntrace_object_put(object);
	return 0;
}
