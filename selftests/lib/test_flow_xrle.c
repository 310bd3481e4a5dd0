// SPDX-License-Identifier: GPL-2.0-only
/*
 * The task group's example: a stream of the reference encoder (HTM, implicit
 * returns, repeated history) must give exactly the PCs that a simulator logged.
 * A damaged stream must not pass for a good one.
 */
#include "test_flow.h"

#define PCS_MAX 200000

struct pcs {
	uint64_t pc[PCS_MAX];
	size_t count;
	size_t gaps;
	size_t errors;
};

static struct pcs expected, got;

static void read_expected(const char *path)
{
	char line[64];
	FILE *file = open_gz(path);

	while (fgets(line, sizeof(line), file) && expected.count < PCS_MAX)
		expected.pc[expected.count++] = strtoull(line, NULL, 16);
	pclose(file);
}

static int add_pc(void *data, uint64_t address, const uint8_t *bytes, const struct ntrace_insn *insn)
{
	struct pcs *pcs = data;

	(void)bytes;
	(void)insn;
	if (pcs->count == PCS_MAX)
		return 1;
	pcs->pc[pcs->count++] = address;
	return 0;
}

static int add_event(void *data, const struct ntrace_flow_event *event)
{
	struct pcs *pcs = data;

	if (event->type == NTRACE_FLOW_BLOCK)
		return ntrace_flow_instructions(event, add_pc, pcs);
	pcs->gaps += event->type == NTRACE_FLOW_GAP;
	pcs->errors += event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_WARNING;
	return 0;
}

static void decode(struct ntrace_space *space, const uint8_t *data, size_t size, size_t chunk,
		   struct ntrace_flow_stats *stats)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_of("xlen=32") };
	struct ntrace_flow *flow;

	config.event = add_event;
	config.data = &got;
	config.space = space;
	got.count = got.gaps = got.errors = 0;
	if (ntrace_flow_new(&flow, &config))
		return;
	feed_flow(flow, &config.params, data, size, chunk, true);
	ntrace_flow_get_stats(flow, stats);
	ntrace_flow_free(flow);
}

static size_t first_difference(void)
{
	size_t i = 0;

	while (i < got.count && i < expected.count && got.pc[i] == expected.pc[i])
		i++;
	return i;
}

int main(void)
{
	static const size_t chunks[] = { 1, 2, 3, 7, 65536 };
	const char *stream = shared_file("xrle.nex"), *elf = shared_file("xrle.elf");
	const char *sequence = shared_file("xrle.pcseq.txt.gz");
	struct ntrace_flow_stats stats;
	struct ntrace_object *object;
	struct ntrace_space *space;
	uint8_t *data;
	size_t size;

	if (!stream || !elf || !sequence)
		return done_testing();
	read_expected(sequence);
	is_u64(expected.count, 164959, "instructions in the log");
	data = read_file(stream, &size);
	space = new_space("xrle");
	is_u64(ntrace_object_open_elf(&object, elf), 0, "open xrle.elf");
	ntrace_space_map_linked(space, object, 0);
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		decode(space, data, size, chunks[i], &stats);
		is_u64(got.count, expected.count, "instructions, chunks of %zu", chunks[i]);
		is_u64(first_difference(), expected.count, "the same ones");
		is_u64(got.gaps + got.errors, 0, "no gap, no error, no warning");
		is_u64(stats.instructions, expected.count, "counted the same");
		is_u64(stats.messages, 367, "messages");
	}
	/* A byte flipped: an error or other PCs, but never silence about a shorter flow. */
	data[size / 2] ^= 0x10;
	decode(space, data, size, size, &stats);
	ok(first_difference() < expected.count && got.errors > 0, "a flipped bit is noticed");
	ntrace_object_put(object);
	ntrace_space_put(space);
	free(data);
	return done_testing();
}
