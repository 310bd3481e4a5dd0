// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks in batches equal blocks delivered one by one, for any stream. Also: the time of delivery,
 * stopping, and the use of block ids. (The random programs of selftests/property check this too.)
 */
#include "blocks_match.h"
#include "stream_text.h"
#include "test_flow.h"

/* Streams of xrle.elf made by other encoders of the reference code, and damaged copies. */
static void test_xrle(void)
{
	const char *stream = shared_file("xrle.nex"), *elf = shared_file("xrle.elf");
	struct ntrace_params params = params_of("xlen=32");
	struct ntrace_flow_config config = { .size = sizeof(config), .params = &params };
	struct ntrace_object *object;
	const char *mismatch = NULL;
	uint32_t events, random = 1;
	unsigned int round;
	uint8_t *data;
	size_t size;

	if (!stream || !elf)
		return;
	data = read_file(stream, &size);
	config.space = new_space("xrle");
	is_u64(ntrace_object_open_elf(&object, elf), 0, "open xrle.elf");
	ntrace_space_map_linked(config.space, object, 0);
	mismatch = blocks_mismatch(&config, data, size, &events);
	ok(!mismatch, "xrle.nex: the same in batches: %s", mismatch ? mismatch : "all");
	ok(events > 15000, "%u blocks and events", events);
	for (round = 0; round < 60 && !mismatch; round++) {
		size_t at = (random = random * 1103515245 + 12345) % size;
		uint8_t before = data[at];

		data[at] ^= (uint8_t)(1u << (random >> 20) % 8);
		/* The rest follows again, so that the middle of the stream has losses too. */
		params.implicit_return = round % 4;
		params.mode = round % 3 ? NTRACE_MODE_ANY : NTRACE_MODE_HISTORY;
		mismatch = blocks_mismatch(&config, data, size, NULL);
		data[at] = before;
	}
	ok(!mismatch, "damaged: the same in batches: round %u: %s", round,
	   mismatch ? mismatch : "all");
	ntrace_object_put(object);
	ntrace_space_put(config.space);
	free(data);
}

/* Events in order: "4 " is a batch of 4 blocks, "s " a sync, "o " trace off. */
struct order {
	char text[200];
	size_t at;
	int stop;	/* result of the next batch */
	uint32_t id[8];
	unsigned int ids;
	uint64_t instructions;
};

static int order_event(void *data, const struct ntrace_flow_event *event)
{
	struct order *order = data;

	order->at += (size_t)snprintf(order->text + order->at, sizeof(order->text) - order->at,
				      "%c ", *ntrace_flow_type_name(event->type));
	return 0;
}

static int order_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct order *order = data;

	order->at += (size_t)snprintf(order->text + order->at, sizeof(order->text) - order->at,
				      "%s%zu ", batch->watched ? "w" : "", batch->count);
	for (size_t i = 0; i < batch->count; i++) {
		if (order->ids < 8)
			order->id[order->ids++] = batch->blocks[i].id;
		order->instructions += batch->blocks[i].instructions;
	}
	return order->stop;
}

/* Number of blocks, and a sum of their addresses per instruction; the final event. */
struct sum {
	uint64_t blocks;
	uint64_t addresses;
	uint64_t at;
	unsigned int error;
};

static int sum_event(void *data, const struct ntrace_flow_event *event)
{
	struct sum *sum = data;

	sum->blocks += event->type == NTRACE_FLOW_BLOCK;
	if (event->type != NTRACE_FLOW_ERROR)
		return 0;
	sum->error = event->code;
	sum->at = event->address;
	return 0;
}

static int sum_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn)
{
	struct sum *sum = data;

	sum->addresses += address + bytes[0] + insn->size;
	return 0;
}

static int sum_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct sum *sum = data;

	if (!sum->blocks)
		ntrace_block_instructions(batch, &batch->blocks[0], sum_instruction, sum);
	sum->blocks += batch->count;
	return 0;
}

/* A loop of a branch to itself at 0x1000, then an endless loop of jumps at 0x1008. */
static struct ntrace_space *loops(void)
{
	struct ntrace_space *space = new_space("loops");
	struct code code = { .start = 0x1000 };

	put(&code, ADD);
	put_branch(&code, 0x1000);
	put(&code, C_ADD);
	put(&code, C_ADD);
	put_jal(&code, 0, 0x1008);
	add_code(space, &code);
	return space;
}

static struct ntrace_message message_at(uint64_t address)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_PROG_TRACE_SYNC };

	message.present = 1u << NTRACE_FIELD_SYNC | 1u << NTRACE_FIELD_ICNT |
			  1u << NTRACE_FIELD_FADDR;
	message.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_RESET_EXIT;
	message.field[NTRACE_FIELD_FADDR] = address >> 1;
	return message;
}

static struct ntrace_message history(uint64_t bits)
{
	struct ntrace_message message = { .tcode = NTRACE_TCODE_RESOURCE_FULL };

	message.present = 1u << NTRACE_FIELD_RCODE | 1u << NTRACE_FIELD_HIST;
	message.field[NTRACE_FIELD_RCODE] = NTRACE_RCODE_HIST;
	message.field[NTRACE_FIELD_HIST] = bits;
	return message;
}

static void send(struct ntrace_flow *flow, const struct ntrace_message *message, int expected,
		 const char *what)
{
	is_u64(ntrace_flow_message(flow, message), expected, "%s", what);
}

static void test_order(void)
{
	struct order order = { .stop = 0 };
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(""),
					     .event = order_event,
					     .blocks = order_blocks,
					     .data = &order };
	struct ntrace_message sync = message_at(0x1000), full = history(0xf);
	struct ntrace_flow_stats stats;
	struct ntrace_flow *flow;

	config.space = loops();
	is_u64(ntrace_flow_new(&flow, &config), 0, "flow in batches");
	send(flow, &sync, 0, "sync");
	send(flow, &full, 0, "3 branches");
	send(flow, &full, 0, "3 more");
	ok(!strcmp(order.text, "s "), "blocks wait: %s", order.text);
	ntrace_flow_get_stats(flow, &stats);
	is_u64(stats.blocks, 6, "and are counted already");
	is_u64(ntrace_flow_flush(flow), 0, "flush");
	ok(!strcmp(order.text, "s 6 "), "flush delivers them: %s", order.text);
	ok(order.ids == 6 && order.id[0] && order.id[0] == order.id[5], "the same id each time");
	full.field[NTRACE_FIELD_HIST] = (UINT64_C(1) << 61) - 1;
	for (unsigned int i = 0; i < 5; i++)
		ntrace_flow_message(flow, &full);
	ok(!strcmp(order.text, "s 6 256 "), "256 are a batch: %s", order.text);
	full.field[NTRACE_FIELD_HIST] = 3;
	full.present |= 1u << NTRACE_FIELD_TSTAMP;
	send(flow, &full, 0, "with timestamp");
	ok(!strcmp(order.text, "s 6 256 44 "), "before a timestamp: %s", order.text);
	is_u64(ntrace_flow_wire_error(flow, 100), 0, "a wire error");
	ok(!strcmp(order.text, "s 6 256 44 1 e g "), "before other events: %s", order.text);
	is_u64(order.instructions, 2 * (6 + 300 + 1), "instructions");
	full.present &= ~(1u << NTRACE_FIELD_TSTAMP);
	send(flow, &sync, 0, "sync");
	send(flow, &full, 0, "a branch");
	order.stop = 42;
	is_u64(ntrace_flow_end(flow, 0), 42,
	       "the end delivers the last blocks and returns the callback's result");
	order.stop = 0;
	is_u64(ntrace_flow_end(flow, 0), 0, "once");
	send(flow, &sync, 0, "sync");
	send(flow, &full, 0, "a branch");
	order.stop = 43;
	order.at = 0;
	send(flow, &sync, 43, "stop at the batch before a sync");
	order.stop = 0;
	send(flow, &full, 0, "no flow before the next sync");
	ok(!strcmp(order.text, "1 g "), "a gap: %s", order.text);
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
}

/* A batch ends after each block that starts at a watched address, and says so. */
static void test_watch(void)
{
	static const uint64_t addresses[] = { 0x5555, 0x1000 };
	struct order order = { .stop = 0 };
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(""),
					     .event = order_event,
					     .blocks = order_blocks,
					     .data = &order,
					     .watch = addresses,
					     .watch_count = 2 };
	struct ntrace_message sync = message_at(0x1000), full = history(0xf);
	struct ntrace_flow *flow;

	config.space = loops();
	is_u64(ntrace_flow_new(&flow, &config), 0, "flow with watched addresses");
	send(flow, &sync, 0, "sync");
	send(flow, &full, 0, "3 branches at a watched address");
	ok(!strcmp(order.text, "s w1 w1 w1 "), "each ends its batch: %s", order.text);
	sync.field[NTRACE_FIELD_FADDR] = 0x1004 >> 1;
	send(flow, &sync, 0, "sync within the block");
	full.field[NTRACE_FIELD_HIST] = 2;
	send(flow, &full, 0, "a branch that is not taken");
	ok(!strcmp(order.text, "s w1 w1 w1 e g s "), "only the first address counts: %s",
	   order.text);
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
}

/*
 * An eager walk must end even if the program loops without a branch; its last address is checked.
 */
static void test_endless(void)
{
	/* SYNC 5 at 0x1000; history: not taken, and a bit without a branch. */
	struct ntrace_message sync = message_at(0x1000), full = history(4);
	struct sum one = { .blocks = 0 }, many = { .blocks = 0 };
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(""),
					     .event = sum_event };
	struct ntrace_flow *flow;

	config.space = loops();
	for (unsigned int batches = 0; batches < 2; batches++) {
		config.data = batches ? &many : &one;
		config.blocks = batches ? sum_blocks : NULL;
		is_u64(ntrace_flow_new(&flow, &config), 0, "flow");
		send(flow, &sync, 0, "sync");
		send(flow, &full, 0, "history");
		ntrace_flow_free(flow);
	}
	is_u64(one.error, NTRACE_FLOW_ERROR_ENDLESS, "an endless loop is an error");
	is_u64(many.error, NTRACE_FLOW_ERROR_ENDLESS, "in batches too");
	is_u64(many.blocks, one.blocks, "after as many blocks");
	is_u64(many.at, one.at, "at the same place");
	is_u64(many.addresses, 0x1000 + 0x33 + 4 + 0x1004 + 0xe3 + 4,
	       "ntrace_block_instructions: add, beq");
	ntrace_space_put(config.space);
}

/* Time and SRC of the blocks, shared by a batch. */
static void test_times(void)
{
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at("srcbits=2"),
					     .src = 1 };
	/*
	 * SRC 1: DirectBranch ICNT 4 twice without a time; ProgTraceSync SYNC 5 PC 1000 TSTAMP 10,
	 * DirectBranch, DirectBranch TSTAMP 5, RepeatBranch BCNT 3; an Error, a sync without
	 * TSTAMP, DirectBranch
	 */
	static const char hex[] = "24 54 01 00 83 0C 47 0C 47 24 54 01 00 81 2B 0C 47 0C 45 17 "
				  "78 37 20 04 03 24 54 01 00 83 0C 47";
	uint8_t data[64];
	size_t size = from_hex(hex, data, sizeof(data));
	const char *mismatch;
	uint32_t events;

	config.space = loops();
	mismatch = blocks_mismatch(&config, data, size, &events);
	ok(!mismatch, "time and SRC: the same in batches: %s", mismatch ? mismatch : "all");
	/* 3 syncs, 2 + 2 + 3 + 1 blocks, an error and a gap */
	is_u64(events, 13, "blocks and events");
	ntrace_space_put(config.space);
}

/*
 * A message with a return to an address from before and then a call: if its last block has no room in the
 * batch, the message is walked again, and must find the address that the call has overwritten.
 */
static void test_return_and_call(void)
{
	enum { LAPS = 1500, LAP = 6, BLOCKS = 7 };
	static const uint8_t start[] = { 0x24, 0x15, 0x00, 0x83 };
	/* I-CNT 4: 1000, 100c; 5: 1014, 1004, 1016; 3: 101e, 1008 */
	static const uint8_t lap[LAP] = { 0x0c, 0x13, 0x0c, 0x17, 0x0c, 0x0f };
	static uint8_t data[sizeof(start) + LAPS * LAP];
	struct code code = { .start = 0x1000 };
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	const char *mismatch;
	uint32_t events;

	put_jal(&code, 1, 0x100c);
	put_jal(&code, 1, 0x1016);
	put_branch(&code, 0x1000);
	put_branch(&code, 0x1014);
	put(&code, ADD);
	put(&code, C_RET);
	put_branch(&code, 0x101e);
	put(&code, ADD);
	put(&code, C_RET);
	config.space = new_space("calls");
	add_code(config.space, &code);
	memcpy(data, start, sizeof(start));
	for (size_t i = 0; i < LAPS; i++)
		memcpy(data + sizeof(start) + i * LAP, lap, LAP);
	mismatch = blocks_mismatch(&config, data, sizeof(data), &events);
	ok(!mismatch, "a return, then a call: the same in batches: %s",
	   mismatch ? mismatch : "all");
	is_u64(events, 1 + LAPS * BLOCKS, "a sync, and the blocks of all laps");
	ntrace_space_put(config.space);
}

/* RepeatBranch repeats no message before a sync, even if both were remembered in this place. */
static void test_repeat_after_sync(void)
{
	enum { LAPS = 50, LAP = 4, BLOCKS = 1 + 3 };
	static const uint8_t sync[] = { 0x24, 0x09, 0x00, 0x83 };
	/* I-CNT 2; B-CNT 3 */
	static const uint8_t lap[LAP] = { 0x0c, 0x0b, 0x78, 0x0f };
	static uint8_t data[LAPS * LAP + 2 * sizeof(sync) + LAP];
	struct code code = { .start = 0x1000 };
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	uint8_t *at = data;
	const char *mismatch;
	uint32_t events;

	put_branch(&code, 0x1000);
	config.space = new_space("loop");
	add_code(config.space, &code);
	at = mempcpy(at, sync, sizeof(sync));
	for (unsigned int i = 0; i < LAPS; i++)
		at = mempcpy(at, lap, LAP);
	at = mempcpy(at, sync, sizeof(sync));
	at = mempcpy(at, lap + 2, 2);
	mismatch = blocks_mismatch(&config, data, (size_t)(at - data), &events);
	ok(!mismatch, "RepeatBranch after a sync: the same in batches: %s",
	   mismatch ? mismatch : "all");
	is_u64(events, 1 + LAPS * BLOCKS + 1 + 2,
	       "two syncs, the blocks of all laps, an error, a gap");
	ntrace_space_put(config.space);
}

/* DirectBranch reveals BTM, also where all its blocks are known. */
static void test_mode(void)
{
	static const char *const texts[] = {
		"ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1000>>1",
		"IndirectBranch BTYPE=0 ICNT=4 UADDR=0",
		"IndirectBranch BTYPE=0 ICNT=4 UADDR=0",
		"IndirectBranch BTYPE=0 ICNT=4 UADDR=0",
		"DirectBranch ICNT=3",
		"ProgTraceSync SYNC=2 ICNT=0 FADDR=0x1000>>1",
	};
	struct ntrace_flow_state state = { .size = sizeof(state) };
	struct ntrace_params params = params_of("");
	struct ntrace_message messages[6];
	struct order order = { .at = 0 };
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = &params,
					     .event = order_event,
					     .blocks = order_blocks,
					     .space = new_space("mode"),
					     .data = &order };
	struct code code = { .start = 0x1000 };
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	uint8_t data[64];
	size_t size = 0;

	put(&code, C_ADD);
	put_branch(&code, 0x1000);
	put(&code, C_JR_A0);
	add_code(config.space, &code);
	for (size_t i = 0; i < 6; i++)
		size += stream_of(texts[i], &params, data + size, sizeof(data) - size);
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, data, size);
	for (size_t i = 0; i < 6; i++)
		ntrace_reader_next(&reader, &messages[i]);
	for (size_t stop = 4; stop <= 5; stop++) {
		order = (struct order){ .at = 0 };
		ntrace_flow_new(&flow, &config);
		for (size_t i = 0; i < 6; i++) {
			if (i < stop || i == 5)
				ntrace_flow_message(flow, &messages[i]);
		}
		ntrace_flow_flush(flow);
		is_str(order.text, stop == 5 ? "s 7 s " : "s 6 s ", "blocks of %zu messages", stop);
		is_u64(ntrace_flow_get_state(flow, &state), 0, "the state after a sync");
		is_hex(state.flags & NTRACE_FLOW_STATE_MODE, stop == 5 ? NTRACE_FLOW_STATE_MODE : 0,
		       "the mode is known %s DirectBranch", stop == 5 ? "with" : "without");
		ntrace_flow_free(flow);
	}
	ntrace_space_put(config.space);
}

int main(void)
{
	test_repeat_after_sync();
	test_return_and_call();
	test_times();
	test_order();
	test_watch();
	test_endless();
	test_xrle();
	test_mode();
	return done_testing();
}
