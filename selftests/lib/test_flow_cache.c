// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache of predecoded blocks. A program with more blocks than the cache holds is walked
 * correctly, although evicted blocks are still referenced by the return stack and by links. A batch
 * never contains blocks of two objects, since their instruction sets may differ.
 */
#include "test_flow.h"

#define MAIN 0x10000
#define CHAIN 0x20000
#define JUMPS ((1u << 19) + 5000)	/* the cache has room for 2^19 blocks */
#define C_J_NEXT 0xa009			/* c.j to the next instruction */
#define NUMBERS (1u << 21)

/* Expected order of blocks, with their ids. */
struct expected {
	uint64_t blocks;	/* of this round */
	uint64_t wrong;
	uint64_t *with_number;	/* address of the block with each id */
	uint64_t numbers_wrong;
};

static uint64_t address_of(uint64_t block)
{
	if (!block)
		return MAIN;
	return block == JUMPS + 2 ? MAIN + 4 : CHAIN + 2 * (block - 1);
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct expected *expected = data;

	if (event->type == NTRACE_FLOW_BLOCK)
		expected->wrong += event->address != address_of(expected->blocks++);
	expected->wrong += event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_GAP;
	return 0;
}

static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct expected *expected = data;

	for (size_t i = 0; i < batch->count; i++) {
		const struct ntrace_block *block = &batch->blocks[i];

		expected->wrong += block->address != address_of(expected->blocks++);
		if (block->id >= NUMBERS || !block->id)
			continue;
		if (expected->with_number[block->id] &&
		    expected->with_number[block->id] != block->address)
			expected->numbers_wrong++;
		expected->with_number[block->id] = block->address;
	}
	return 0;
}

/* A call of a chain of jumps that ends in a return, then c.add. */
static struct ntrace_space *long_program(void)
{
	struct ntrace_space *space = new_space("long");
	struct code code = { .start = MAIN };
	struct ntrace_object *object;
	uint16_t *chain = malloc((JUMPS + 1) * sizeof(*chain));

	put_jal(&code, 1, CHAIN);
	put(&code, C_ADD);
	add_code(space, &code);
	for (unsigned int i = 0; chain && i < JUMPS; i++)
		chain[i] = C_J_NEXT;
	if (chain)
		chain[JUMPS] = C_RET;
	if (!chain ||
	    ntrace_object_from_bytes(&object, "chain", chain, (JUMPS + 1) * sizeof(*chain),
				     CHAIN) ||
	    ntrace_space_map_linked(space, object, 0))
		ok(false, "code for the test");
	else
		ntrace_object_put(object);
	free(chain);
	return space;
}

static void test_many_blocks(bool batches)
{
	struct ntrace_message sync = { .tcode = NTRACE_TCODE_PROG_TRACE_SYNC };
	struct ntrace_message off = { .tcode = NTRACE_TCODE_PROG_TRACE_CORRELATION };
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(""),
					     .event = take_event };
	struct expected expected = { .with_number = calloc(NUMBERS, sizeof(uint64_t)) };
	struct ntrace_flow *flow;

	sync.present = 1u << NTRACE_FIELD_SYNC | 1u << NTRACE_FIELD_ICNT | 1u << NTRACE_FIELD_FADDR;
	sync.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_TRACE_ENABLE;
	sync.field[NTRACE_FIELD_FADDR] = MAIN >> 1;
	off.present = 1u << NTRACE_FIELD_EVCODE | 1u << NTRACE_FIELD_CDF | 1u << NTRACE_FIELD_ICNT;
	off.field[NTRACE_FIELD_ICNT] = 2 + JUMPS + 1 + 1;
	config.blocks = batches ? take_blocks : NULL;
	config.data = &expected;
	config.space = long_program();
	if (!expected.with_number || ntrace_flow_new(&flow, &config)) {
		ok(false, "flow");
	} else {
		for (unsigned int round = 0; round < 2; round++) {
			expected.blocks = 0;
			ntrace_flow_message(flow, &sync);
			ntrace_flow_message(flow, &off);
			is_u64(expected.blocks, JUMPS + 3, "%u blocks%s, round %u", JUMPS + 3,
			       batches ? " in batches" : "", round);
		}
		is_u64(expected.wrong, 0, "each block at its address");
		is_u64(expected.numbers_wrong, 0, "an id means one block");
		ntrace_flow_free(flow);
	}
	ntrace_space_put(config.space);
	free(expected.with_number);
}

struct objects {
	struct ntrace_space *space;
	unsigned int blocks;
	unsigned int wrong;
};

static int check_objects(void *data, const struct ntrace_block_batch *batch)
{
	struct objects *objects = data;

	for (size_t i = 0; i < batch->count; i++, objects->blocks++) {
		struct ntrace_location location;

		if (ntrace_space_locate(objects->space, batch->blocks[i].address, &location) ||
		    memcmp(batch->isa, ntrace_object_isa(location.object), sizeof(*batch->isa)))
			objects->wrong++;
	}
	return 0;
}

static int no_event(void *data, const struct ntrace_flow_event *event)
{
	struct objects *objects = data;

	objects->wrong += event->type == NTRACE_FLOW_ERROR;
	return 0;
}

/*
 * 1000 jal x1, 2000; 1004 branch 1000 of one object, 2000 branch 2008; 2004 c.add; 2006 c.add; 2008
 * c.ret of another one, reached repeatedly by a call, a return and a branch.
 */
static void test_two_objects(void)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	struct code first = { .start = 0x1000 }, second = { .start = 0x2000 };
	struct objects objects = { .blocks = 0 };
	struct ntrace_flow *flow;
	/* ProgTraceSync SYNC 5 PC 1000, then 10 times ResourceFull RCODE 1 HIST 0xff, 3 rounds */
	static const uint8_t sync[] = { 0x24, 0x15, 0x00, 0x83 };
	static const uint8_t history[] = { 0x6c, 0xc4, 0xff };

	put_jal(&first, 1, 0x2000);
	put_branch(&first, 0x1000);
	put_branch(&second, 0x2008);
	put(&second, C_ADD);
	put(&second, C_ADD);
	put(&second, C_RET);
	config.space = new_space("two");
	add_code(config.space, &first);
	add_code(config.space, &second);
	objects.space = config.space;
	config.event = no_event;
	config.blocks = check_objects;
	config.data = &objects;
	if (!ok(ntrace_flow_new(&flow, &config) == 0, "flow over two objects"))
		return;
	feed_flow(flow, config.params, sync, sizeof(sync), sizeof(sync), false);
	for (unsigned int i = 0; i < 10; i++)
		feed_flow(flow, config.params, history, sizeof(history), sizeof(history), false);
	ntrace_flow_end(flow, 0);
	ntrace_flow_free(flow);
	/* 7 bits each: two for 4 blocks */
	is_u64(objects.blocks, 70 * 2, "all its blocks");
	is_u64(objects.wrong, 0, "each in a batch with its object's instruction set");
	ntrace_space_put(config.space);
}

int main(void)
{
	test_two_objects();
	test_many_blocks(false);
	test_many_blocks(true);
	return done_testing();
}
