// SPDX-License-Identifier: GPL-2.0-only
/*
 * The task group's example: a stream of the reference encoder (HTM, implicit returns, repeated
 * history) must give exactly the PCs logged by a simulator. The same holds for a BTM stream of the
 * same run, which this test makes from that log and which has the published number of bytes and
 * messages. A damaged stream must not pass as a good one.
 */
#include "test_flow.h"

#define PCS_MAX 200000

/* Published size of the run in BTM. */
#define BTM_BYTES 12978
#define BTM_MESSAGES 6233

/* How an instruction of the log continues. */
enum kind {
	KIND_LINEAR,
	KIND_BRANCH,
	KIND_INDIRECT,
};

struct pcs {
	uint64_t pc[PCS_MAX];
	size_t count;
	size_t gaps;
	size_t errors;
};

static struct pcs expected, got;
static uint8_t sizes[PCS_MAX], kinds[PCS_MAX];

/* "0x20010522,L2": types that end in I, and R, are indirect; B and BN are branches. */
static void read_expected(const char *path)
{
	char line[64];
	FILE *file = open_gz(path);

	while (fgets(line, sizeof(line), file) && expected.count < PCS_MAX) {
		char *type;
		size_t i = expected.count++;

		expected.pc[i] = strtoull(line, &type, 16);
		kinds[i] = type[1] == 'B'		      ? KIND_BRANCH :
			   type[1] == 'R' || type[2] == 'I' ? KIND_INDIRECT :
							      KIND_LINEAR;
		sizes[i] = strchr(type, '4') ? 4 : 2;
	}
	pclose(file);
}

static unsigned int written_messages;

static size_t write_message(uint8_t *data, unsigned int tcode, uint64_t icnt, uint64_t address)
{
	struct ntrace_params params = params_of("xlen=32");
	struct ntrace_message message = { .tcode = (uint8_t)tcode };

	message.present = (1u << NTRACE_FIELD_COUNT) - 1;
	message.present &= ~(1u << NTRACE_FIELD_TSTAMP);
	message.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_RESET_EXIT;
	message.field[NTRACE_FIELD_ICNT] = icnt;
	message.field[NTRACE_FIELD_FADDR] = address >> 1;
	message.field[NTRACE_FIELD_UADDR] = address >> 1;
	written_messages++;
	return (size_t)ntrace_message_write(&message, &params, data);
}

/* The log as a BTM stream. */
static size_t encode_btm(uint8_t *data)
{
	uint64_t icnt = 0, reference = expected.pc[0];
	size_t size = write_message(data, NTRACE_TCODE_PROG_TRACE_SYNC, 0, reference);

	for (size_t i = 0; i + 1 < expected.count; i++) {
		uint64_t next = expected.pc[i + 1];

		icnt += sizes[i] / 2u;
		if (kinds[i] == KIND_BRANCH && next != expected.pc[i] + sizes[i]) {
			size += write_message(data + size, NTRACE_TCODE_DIRECT_BRANCH, icnt, 0);
			icnt = 0;
		} else if (kinds[i] == KIND_INDIRECT) {
			size += write_message(data + size, NTRACE_TCODE_INDIRECT_BRANCH, icnt,
					      next ^ reference);
			reference = next;
			icnt = 0;
		}
	}
	icnt += sizes[expected.count - 1] / 2u;
	return size + write_message(data + size, NTRACE_TCODE_PROG_TRACE_CORRELATION, icnt, 0);
}

static int add_pc(void *data, uint64_t address, const uint8_t *bytes,
		  const struct ntrace_insn *insn)
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
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at("xlen=32") };
	struct ntrace_flow *flow;

	config.event = add_event;
	config.data = &got;
	config.space = space;
	got.count = got.gaps = got.errors = 0;
	if (ntrace_flow_new(&flow, &config))
		return;
	feed_flow(flow, config.params, data, size, chunk, true);
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
	static uint8_t btm[2 * BTM_BYTES];
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
	/* A flipped bit: an error or other PCs, but never a shorter flow without an error. */
	data[size / 2] ^= 0x10;
	decode(space, data, size, size, &stats);
	ok(first_difference() < expected.count && got.errors > 0, "a flipped bit is noticed");
	size = encode_btm(btm);
	is_u64(size, BTM_BYTES, "BTM: bytes as published");
	is_u64(written_messages, BTM_MESSAGES, "BTM: messages as published");
	decode(space, btm, size, 5, &stats);
	is_u64(got.count, expected.count, "BTM: instructions");
	is_u64(first_difference(), expected.count, "BTM: the same ones");
	is_u64(got.gaps + got.errors, 0, "BTM: no gap, no error, no warning");
	ntrace_object_put(object);
	ntrace_space_put(space);
	free(data);
	return done_testing();
}
