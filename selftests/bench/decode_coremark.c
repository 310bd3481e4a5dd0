// SPDX-License-Identifier: GPL-2.0-only
/*
 * decode_coremark ELF BTM HTM BEST: speeds of the layers of the library, in memory, on one core.
 *
 * Each round parses and splits the messages of BTM, visits the blocks of BTM and HTM in order, walked and
 * with messages that are remembered, and counts those of all three traces. For counting, a trace is
 * repeated, as a longer run of the program would be. Prints lines "NAME VALUE" and, last,
 * "instructions N" of HTM. Counts of each block and transfer are compared with those of a walk of the
 * same trace: exit status 1 if one differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <ntrace/flow.h>
#include <ntrace/messages.h>

#define ROUNDS 5
#define BATCH 64	/* messages */
#define REPEATS 16
#define TABLE (1u << 16)

/* How messages are decoded: each of them; those that come again remembered; or only counted. */
enum way {
	WALK,
	REMEMBER,
	COUNT,
};

/* Executions of a block that ended in one way. */
struct entry {
	uint64_t address;
	uint64_t next;
	uint64_t count;
	uint32_t instructions;
	uint8_t taken;
};

struct sum {
	uint64_t instructions;
	uint64_t taken;
	uint64_t addresses;
	uint64_t classes;
	unsigned int losses;
	struct entry *table;	/* NULL: only sums */
};

struct trace {
	const char *name;
	uint8_t *data;
	size_t size;
};

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct trace load(const char *name, const char *path)
{
	struct trace trace = { .name = name };
	struct stat status;
	FILE *file = fopen(path, "rb");

	if (!file || fstat(fileno(file), &status) ||
	    !(trace.data = malloc((size_t)status.st_size + 1)) ||
	    fread(trace.data, 1, (size_t)status.st_size, file) != (size_t)status.st_size) {
		perror(path);
		exit(1);
	}
	fclose(file);
	trace.size = (size_t)status.st_size;
	return trace;
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct sum *sum = data;

	sum->losses += event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_GAP ||
		       event->type == NTRACE_FLOW_WARNING;
	return 0;
}

static void add_entry(struct sum *sum, const struct ntrace_block *block, uint64_t times)
{
	uint64_t hash = (block->address ^ block->next << 20) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(hash >> 40) % TABLE;
	uint8_t taken = block->flags & NTRACE_BLOCK_TAKEN;
	struct entry *entry;

	for (;; at = (at + 1) % TABLE) {
		entry = &sum->table[at];
		if (!entry->count ||
		    (entry->address == block->address && entry->next == block->next &&
		     entry->taken == taken && entry->instructions == block->instructions))
			break;
	}
	*entry = (struct entry){ block->address, block->next, entry->count + times,
				 block->instructions, taken };
}

/* Reads address, count and end of each block, as a profiler would, and takes little time itself. */
static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	uint64_t instructions = 0, addresses = 0, taken = 0, classes = 0;
	struct sum *sum = data;

	for (size_t i = 0; i < batch->count; i++) {
		const struct ntrace_block *block = &batch->blocks[i];

		instructions += block->instructions;
		addresses += block->address;
		taken += block->flags & NTRACE_BLOCK_TAKEN;
		classes += block->insn_class;
		if (sum->table)
			add_entry(sum, block, 1);
	}
	sum->instructions += instructions;
	sum->addresses += addresses;
	sum->taken += taken;
	sum->classes += classes;
	return 0;
}

static int take_effect(void *data, const struct ntrace_flow_effect *effect)
{
	const struct ntrace_block_batch *batch = effect->batch;
	struct sum *sum = data;

	for (size_t i = effect->lead; i < batch->count; i++) {
		const struct ntrace_block *block = &batch->blocks[i];

		sum->instructions += effect->times * block->instructions;
		sum->addresses += effect->times * block->address;
		if (sum->table)
			add_entry(sum, block, effect->times);
	}
	return 0;
}

static void parse(const struct trace *trace)
{
	static struct ntrace_message batch[BATCH];
	struct ntrace_message message;
	struct ntrace_params params;
	struct ntrace_reader reader;
	uint64_t icnt = 0;
	double start = seconds();

	ntrace_params_init(&params);
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, trace->data, trace->size);
	for (;;) {
		size_t number = ntrace_reader_batch(&reader, batch, BATCH);

		for (size_t i = 0; i < number; i++)
			icnt += batch[i].field[NTRACE_FIELD_ICNT];
		if (ntrace_reader_next(&reader, &message) < 0)
			break;
		icnt += message.field[NTRACE_FIELD_ICNT];
	}
	printf("parse.%s %.3f\n", trace->name,
	       icnt ? (double)trace->size / (seconds() - start) / 1e6 : 0);
}

/* Where does each message begin, and which ones have SYNC? */
static void split(const struct trace *trace)
{
	struct ntrace_wire_sync sync = { .offset = 0 };
	struct ntrace_params params;
	double start = seconds();
	uint64_t from = 0, syncs = 0;

	ntrace_params_init(&params);
	for (unsigned int i = 0; i < REPEATS; i++, from = 0) {
		while (!ntrace_wire_sync_next(trace->data, trace->size, from, true, &params, 0,
					      &sync)) {
			from = sync.offset + sync.length;
			syncs++;
		}
	}
	printf("split.%s %.3f\n", trace->name,
	       syncs ? (double)(REPEATS * trace->size) / (seconds() - start) / 1e6 : 0);
}

static void decode(struct ntrace_space *space, const struct trace *trace, struct sum *sum,
		   enum way way, unsigned int repeats)
{
	struct ntrace_params params;
	const struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = &params,
		.event = take_event,
		.blocks = take_blocks,
		.effect = way == COUNT ? take_effect : NULL,
		.remember = way == REMEMBER,
		.space = space,
		.data = sum,
	};
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;

	ntrace_params_init(&params);
	if (ntrace_flow_new(&flow, &config))
		exit(1);
	while (repeats--) {
		ntrace_reader_init(&reader, &params, true);
		ntrace_reader_feed(&reader, trace->data, trace->size);
		for (;;) {
			if (way != WALK)
				ntrace_flow_count(flow, &reader);
			if (ntrace_reader_next(&reader, &message) < 0)
				break;
			ntrace_flow_message(flow, &message);
		}
	}
	/* A longer run would not end in between; the counts of all messages are passed on here. */
	ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
}

/* Prints the speed of a decode. Return: instructions; 0 after a loss. */
static uint64_t measure(const char *what, struct ntrace_space *space, const struct trace *trace,
			enum way way, unsigned int repeats)
{
	struct sum sum = { .losses = 0 };
	double start = seconds();

	decode(space, trace, &sum, way, repeats);
	printf("%s.%s %.3f\n", what, trace->name,
	       (double)sum.instructions / (seconds() - start) / 1e6);
	return sum.losses || !sum.addresses ? 0 : sum.instructions / repeats;
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->next != b->next)
		return a->next < b->next ? -1 : 1;
	return a->taken != b->taken ?
		       a->taken - b->taken :
		       (a->instructions > b->instructions) - (a->instructions < b->instructions);
}

/* Return: number of distinct entries; 0 if the counts differ from those of a walk. */
static size_t check(struct ntrace_space *space, const struct trace *trace, enum way way)
{
	struct sum walked = { .table = calloc(TABLE, sizeof(struct entry)) };
	struct sum counted = { .table = calloc(TABLE, sizeof(struct entry)) };
	size_t entries = 0;

	if (!walked.table || !counted.table)
		exit(1);
	decode(space, trace, &walked, WALK, 2);
	decode(space, trace, &counted, way, 2);
	qsort(walked.table, TABLE, sizeof(struct entry), compare);
	qsort(counted.table, TABLE, sizeof(struct entry), compare);
	for (size_t i = 0; i < TABLE; i++) {
		if (memcmp(&walked.table[i], &counted.table[i], sizeof(struct entry)) != 0) {
			fprintf(stderr, "%s: counts at %#llx differ from those of a walk\n",
				trace->name, (unsigned long long)walked.table[i].address);
			entries = 0;
			break;
		}
		entries += walked.table[i].count != 0;
	}
	free(walked.table);
	free(counted.table);
	return entries;
}

int main(int argc, char **argv)
{
	struct ntrace_object *object;
	struct ntrace_space *space;
	struct trace traces[3];
	uint64_t count = 0;
	int status = 0;

	if (argc != 5 || ntrace_object_open_elf(&object, argv[1]) ||
	    ntrace_space_new(&space, argv[1], NULL) || ntrace_space_map_linked(space, object, 0)) {
		fprintf(stderr, "usage: decode_coremark ELF BTM HTM BEST\n");
		return 2;
	}
	traces[0] = load("btm", argv[2]);
	traces[1] = load("htm", argv[3]);
	traces[2] = load("best", argv[4]);
	for (unsigned int i = 0; i < 3; i++) {
		size_t entries = check(space, &traces[i], COUNT);

		if (!check(space, &traces[i], REMEMBER))
			entries = 0;
		printf("entries.%s %zu\n", traces[i].name, entries);
		status |= !entries;
	}
	for (unsigned int i = 0; i < ROUNDS && !status; i++) {
		parse(&traces[0]);
		split(&traces[0]);
		measure("walk", space, &traces[0], WALK, 1);
		measure("walk", space, &traces[1], WALK, 1);
		measure("block", space, &traces[0], REMEMBER, 1);
		count = measure("block", space, &traces[1], REMEMBER, 1);
		for (unsigned int k = 0; k < 3; k++)
			measure("count", space, &traces[k], COUNT, REPEATS);
	}
	printf("instructions %llu\n", (unsigned long long)count);
	for (unsigned int i = 0; i < 3; i++)
		free(traces[i].data);
	ntrace_space_put(space);
	ntrace_object_put(object);
	return status;
}
