// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flow across messages: history walked early, returns, sequential jumps, dialects, address spaces,
 * uncertain and changing code, stops.
 */
#include <ntrace/encode.h>

#include "test_flow.h"

static struct flow_log flow_log;

static void check(const char *what, struct ntrace_space *space, const char *params,
		  const char *bytes, const char *flow)
{
	is_str(flow_text(&flow_log, params, bytes, space), flow, "%s: %s", what, bytes);
}

#define SYNC_1000 "24 15 00 83 "	/* ProgTraceSync SYNC 5 PC 0x1000 */

/* A loop: 1000 c.add, 1002 branch to 1000, 1006 c.add, 1008 c.jr a0 */
static struct ntrace_space *loop_program(void)
{
	struct ntrace_space *space = new_space("loop");
	struct code code = { .start = 0x1000 };

	put(&code, C_ADD);
	put_branch(&code, 0x1000);
	put(&code, C_ADD);
	put(&code, C_JR_A0);
	add_code(space, &code);
	return space;
}

static void test_history(void)
{
	struct ntrace_space *space = loop_program();

	/* HIST 0b111: taken twice; 6 parcels of debt. */
	check("history is walked at once", space, "", SYNC_1000 "6C C4 07",
	      "sync5@1000 ( 1000 1002 ) ( 1000 1002 )");
	check("and covered by the next I-CNT", space, "", SYNC_1000 "6C C4 07 84 40 29 0B",
	      "sync5@1000 ( 1000 1002 ) ( 1000 1002 ) 1000 1002 1006 ! off0@1008");
	check("or not", space, "", SYNC_1000 "6C C4 07 84 40 15 07",
	      "sync5@1000 ( 1000 1002 ) ( 1000 1002 ) E10@1000 gap off0@?");
	check("I-CNT in two parts", space, "", SYNC_1000 "6C C4 07 6C 80 07 84 40 11 0B",
	      "sync5@1000 ( 1000 1002 ) ( 1000 1002 ) 1000 1002 1006 ! off0@1008");
	check("repeated: 3 x taken, taken", space, "", SYNC_1000 "6C C8 05 0F",
	      "sync5@1000 ( 1000 1002 ) ( 1000 1002 ) ( 1000 1002 ) ( 1000 1002 ) ( 1000 1002 ) "
	      "( 1000 1002 )");
	check("repeated 0 times", space, "", SYNC_1000 "6C C8 05 03", "sync5@1000 W2@1000");
	check("runs into an indirect jump", space, "", SYNC_1000 "6C 44 07",
	      "sync5@1000 ( 1000 1002 ) E7@1008 gap");
	check("HIST without a stop bit", space, "", SYNC_1000 "6C 04 03", "sync5@1000 E8@1000 gap");
	check("SiFive counts: 2 taken", space, "dialect=sifive-v0", SYNC_1000 "6C A4 03",
	      "sync5@1000 ( 1000 1002 ) ( 1000 1002 )");
	check("one message of HTM does not make BTM into it", space, "",
	      SYNC_1000 "0C 0F 70 4D D0 91 0F " SYNC_1000 "0C 0F 24 08 05 10 83",
	      "sync5@1000 1000 1002 1000 1002 1000 ! trap3@268<1002 gap "
	      "sync5@1000 1000 1002 1000 1002 1006 ! sync2@1008");
	check("2^25 repetitions are no message of an encoder", space, "",
	      SYNC_1000 "0C 0F 78 00 00 00 00 0B", "sync5@1000 1000 1002 E20@1000 gap");
	check("nor 2^25 of a history", space, "", SYNC_1000 "6C C8 05 00 00 00 00 0B",
	      "sync5@1000 E8@1000 gap");
	check("which N-Trace 1.0 does not have", space, "", SYNC_1000 "6C A4 03",
	      "sync5@1000 W14@1000");
	ntrace_space_put(space);
}

/*
 * 1000 jal x1, 1100; 1004 c.add; 1006 c.jr a0
 * 1100 c.add; 1102 branch 1108; 1106 c.add; 1108 c.ret
 */
static struct ntrace_space *call_program(void)
{
	struct ntrace_space *space = new_space("call");
	struct code at_1000 = { .start = 0x1000 }, at_1100 = { .start = 0x1100 };

	put_jal(&at_1000, 1, 0x1100);
	put(&at_1000, C_ADD);
	put(&at_1000, C_JR_A0);
	put(&at_1100, C_ADD);
	put_branch(&at_1100, 0x1108);
	put(&at_1100, C_ADD);
	put(&at_1100, C_RET);
	add_code(space, &at_1000);
	add_code(space, &at_1100);
	return space;
}

static void test_returns(void)
{
	struct ntrace_space *space = call_program();

	/* jal 2, c.add 1, branch 2, c.ret 1, c.add 1 = 7 */
	check("implicit return", space, "mode=htm", SYNC_1000 "84 40 1D 0F",
	      "sync5@1000 1000 1100 1102 1108 1004 ! off0@1006");
	check("reported return: I-CNT ends there", space, "mode=htm",
	      SYNC_1000 "70 61 0D 0F 84 40 05 07", "sync5@1000 1000 1100 1102 1108 1006 off0@?");
	check("implicit return before a reported jump", space, "mode=htm",
	      SYNC_1000 "70 81 00 09 0F 84 40 05 07",
	      "sync5@1000 1000 1100 1102 1108 1004 1006 1100 ! off0@1102");
	check("return without a call", space, "mode=htm", "24 15 00 8B 84 40 15 0F",
	      "sync5@1100 1100 1102 E7@1108 gap off0@?");
	check("a return at the very end has no known target", space, "mode=htm",
	      SYNC_1000 "84 40 19 0F", "sync5@1000 1000 1100 1102 1108 off0@1004");
	check("the stack is empty after a sync", space, "mode=htm",
	      SYNC_1000 "74 08 0D 04 89 07 84 40 0D 0F",
	      "sync5@1000 1000 1100 ! sync2@1102 1102 1108 off0@?");
	ntrace_space_put(space);
}

#define JALR(rd, rs1) (0x67u | (rd) << 7 | (rs1) << 15)

/*
 * N-Trace 1.0, "implicit return": calls push, returns pop, co-routine swaps do both; no other jump
 * affects the stack.
 */
static void test_return_stack(void)
{
	struct ntrace_space *space = new_space("stack");
	struct code main_code = { .start = 0x1000 }, swap = { .start = 0x1100 };
	struct code jump = { .start = 0x1200 };

	put_jal(&main_code, 1, 0x1100);
	put(&main_code, C_ADD);
	put(&main_code, JALR(1u, 5u));
	put(&main_code, C_ADD);
	put_jal(&main_code, 1, 0x1200);
	put(&main_code, C_ADD);
	put(&swap, JALR(5u, 1u));
	put(&swap, C_RET);
	put(&jump, C_JR_A0);
	put(&jump, C_RET);
	add_code(space, &main_code);
	add_code(space, &swap);
	add_code(space, &jump);
	/* jal 2, jalr 2, c.add 1, jalr 2, c.ret 1, c.add 1 */
	check("implicit return: swaps pop, then push", space, "", SYNC_1000 "84 00 27",
	      "sync5@1000 1000 1100 1004 1006 1104 100a ! off0@100c");
	/* SYNC 5 PC 100c; jal 2, c.jr 1 to 1202; c.ret 1, c.add 1 */
	check("implicit return: a jump that is no return pops nothing", space, "",
	      "24 15 18 83 10 31 1C 13 84 00 0B", "sync5@100c 100c 1200 1202 1010 ! off0@1012");
	ntrace_space_put(space);
}

/* 1000 lui a0, 2; 1004 c.jalr a0; 1006 c.add;  2000 c.ret */
static void test_sequential(void)
{
	struct ntrace_space *space = new_space("sequential");
	struct code at_1000 = { .start = 0x1000 }, at_2000 = { .start = 0x2000 };

	put(&at_1000, LUI_A0(2));
	put(&at_1000, C_JALR_A0);
	put(&at_1000, C_ADD);
	put(&at_1000, C_EBREAK);
	put(&at_2000, C_ADD);
	put(&at_2000, C_RET);
	add_code(space, &at_1000);
	add_code(space, &at_2000);
	check("sequential jump, and return", space, "", SYNC_1000 "84 40 19 07",
	      "sync5@1000 1000 1004 2000 2002 1006 ! off0@1008");
	check("not when the pair is cut", space, "", "24 15 08 83 84 40 0D 07",
	      "sync5@1004 E7@1004 gap off0@?");
	ntrace_space_put(space);
}

/* All jumps: a 1 in HIST for each; 1000 c.add, jal x0 1100; 1100 branch ... */
static void test_all_jumps(void)
{
	struct ntrace_space *space = call_program();

	check("bits for jumps", space, "alljumps=1", SYNC_1000 "84 40 15 3F",
	      "sync5@1000 1000 1100 1102 E8@1108 gap off0@?");
	check("bits for jumps, enough", space, "alljumps=1", SYNC_1000 "84 40 15 1F",
	      "sync5@1000 1000 1100 1102 off0@1108");
	check("a jump that was not taken", space, "alljumps=1", SYNC_1000 "84 40 15 0B",
	      "sync5@1000 E8@1000 gap off0@?");
	check("BTM: DirectBranch for a jump", space, "alljumps=1", SYNC_1000 "0C 0B 84 00 07",
	      "sync5@1000 1000 1100 ! off0@1102");
	ntrace_space_put(space);
}

static int last_error(void *data, const struct ntrace_flow_event *event)
{
	if (event->type == NTRACE_FLOW_ERROR)
		*(unsigned int *)data = event->code;
	return 0;
}

/* A jump to itself: I-CNT ends it, history never does. */
static void test_endless(void)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	struct ntrace_space *space = new_space("endless");
	struct code code = { .start = 0x1000 };
	const uint8_t history[] = { 0x24, 0x15, 0x00, 0x83, 0x6c, 0xc4, 0x07 };
	struct ntrace_flow *flow;
	unsigned int error = 0;

	put_jal(&code, 0, 0x1000);
	add_code(space, &code);
	check("idle loop", space, "", SYNC_1000 "84 00 1B", "sync5@1000 1000 1000 1000 off0@1000");
	config.event = last_error;
	config.data = &error;
	config.space = space;
	ok(ntrace_flow_new(&flow, &config) == 0, "flow");
	feed_flow(flow, config.params, history, sizeof(history), 1, true);
	is_u64(error, NTRACE_FLOW_ERROR_ENDLESS, "history in an endless loop");
	ntrace_flow_free(flow);
	ntrace_space_put(space);
}

/* An instruction across two objects, and code that ends without a transfer. */
static void test_seams(void)
{
	struct ntrace_space *space = new_space("seam");
	struct code first = { .start = 0x1000 }, second = { .start = 0x1004 };

	put(&first, C_ADD);
	put(&first, ADD);
	put(&first, C_ADD);
	memcpy(second.bytes, first.bytes + 4, 4);
	second.size = 4;
	first.size = 4;
	add_code(space, &first);
	add_code(space, &second);
	check("an instruction across two objects", space, "", SYNC_1000 "84 00 13",
	      "sync5@1000 1000 1002 1006 ! off0@1008");
	check("end of memory", space, "", SYNC_1000 "84 00 17",
	      "sync5@1000 1000 1002 1006 E4@1008 gap off0@?");
	ntrace_space_put(space);
}

static void test_uncertain(void)
{
	struct ntrace_space *space = new_space("uncertain");
	struct code code = { .start = 0x1000 };
	struct ntrace_object *object;

	put(&code, C_ADD);
	put(&code, ADD);
	put_branch(&code, 0x1000);
	put(&code, C_ADD);
	object = add_code(space, &code);
	ntrace_object_mark_uncertain(object, 0x1002, 4);
	check("warned of once", space, "", SYNC_1000 "0C 17 0C 17 84 00 07",
	      "sync5@1000 W13@1002 1000 1002 1006 1000 1002 1006 1000 ! off0@1002");
	check("not before it is reached", space, "", SYNC_1000 "84 00 07",
	      "sync5@1000 1000 ! off0@1002");
	ntrace_space_put(space);
}

static int select_space(void *data, unsigned int reason, uint64_t address,
			struct ntrace_space **space)
{
	struct flow_log *log = data;

	log_add(log, "[%s %" PRIx64 "] ", ntrace_flow_type_name(reason), address);
	*space = log->spaces[address >= 0x8000 ? 1 : 0];
	return 0;
}

/* Feeds hex to an existing flow. */
static int feed_hex(struct ntrace_flow *flow, const char *hex)
{
	struct ntrace_params params = params_of("");
	uint8_t data[256];
	size_t size = from_hex(hex, data, sizeof(data));

	return feed_flow(flow, &params, data, size, size, false);
}

static struct ntrace_flow *selecting_flow(struct flow_log *log)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	struct ntrace_flow *flow = NULL;

	config.event = log_event;
	config.select = select_space;
	config.data = log;
	ok(ntrace_flow_new(&flow, &config) == 0, "flow that selects");
	return flow;
}

/* User code at 0x1000, kernel at 0x8000: trap, handler, trap return. */
static void test_select(void)
{
	struct flow_log *log = &flow_log;
	struct ntrace_flow *flow;
	struct code user = { .start = 0x1000 }, kernel = { .start = 0x8000 };
	struct code other = { .start = 0x1000 };

	put(&user, C_ADD);
	put(&user, ECALL);
	put(&user, C_ADD);
	put(&user, C_ADD);
	put(&kernel, C_ADD);
	put(&kernel, SRET);
	/* Different code at the user's addresses, which must not be used by mistake. */
	for (unsigned int i = 0; i < 8; i++)
		put(&other, C_EBREAK);
	memset(log, 0, sizeof(*log));
	log->spaces[0] = new_space("user");
	log->spaces[1] = new_space("kernel");
	add_code(log->spaces[0], &user);
	add_code(log->spaces[1], &kernel);
	add_code(log->spaces[1], &other);
	flow = selecting_flow(log);
	/* U-ADDR 0x1000 ^ 0x8000 = 0x9000, >> 1 = 0x4800; then back to 0x1006: 0x9006, 0x4803 */
	feed_hex(flow, SYNC_1000 "10 19 00 80 13 10 31 0C 80 13 84 00 07");
	is_str(log->text,
	       "[sync 1000] sync5@1000 1000 ! trap2@8000<1002 [trap 8000] 8000 8002 "
	       "[block 1006] 1006 ! off0@1008 ",
	       "select is called where the space may change");
	/* A trap at the address of a trap return: ICNT 3 to 0x1006, then ICNT 0 to 0x8000 */
	log->at = 0;
	feed_hex(flow, "24 15 00 00 13 10 31 0C 80 13 10 0D 0C 80 13 84 00 07");
	is_str(log->text,
	       "[sync 8000] sync5@8000 8000 8002 [block 1006] trap3@8000<1006 [trap 8000] 8000 ! "
	       "off0@8002 ",
	       "corner case: a trap right after a trap return");
	/* The end of the trace at the address of a trap return: the space is the user's. */
	log->at = 0;
	feed_hex(flow, "24 15 00 00 13 10 31 0C 80 13 84 00 03");
	is_str(log->text, "[sync 8000] sync5@8000 8000 8002 [block 1006] off0@1006 ",
	       "corner case: the trace ends right after a trap return");
	/* A trap return, then Error and SYNC 7 PC 1000 */
	log->at = 0;
	feed_hex(flow, "24 15 00 00 13 10 31 0C 80 13 20 03 24 1D 00 83 84 00 07");
	is_str(log->text,
	       "[sync 8000] sync5@8000 8000 8002 E3@1006 gap [sync 1000] sync7@1000 1000 ! "
	       "off0@1002 ",
	       "no second call of select after a sync");
	/* An unmapped address, and a jump from there to 1000 */
	log->at = 0;
	feed_hex(flow, "24 15 00 87 10 11 00 07 84 00 07");
	is_str(log->text,
	       "[sync 1080] sync5@1080 [block 1080] E4@1080 gap [block 1000] 1000 ! off0@1002 ",
	       "select is called where the flow is known again");
	/* An unmapped address: one call of select, then an error. */
	log->at = 0;
	feed_hex(flow, "24 15 00 87 0C 07 0C 07");
	is_str(log->text, "[sync 1080] sync5@1080 [block 1080] E4@1080 gap ", "unknown memory");
	/* A trap return to such an address: U-ADDR 0x8000 ^ 0x1080, >> 1 = 0x4840 */
	log->at = 0;
	feed_hex(flow, "24 15 00 00 13 10 31 00 84 13 84 00 07");
	is_str(log->text, "[sync 8000] sync5@8000 8000 8002 [block 1080] E4@1080 gap off0@? ",
	       "a trap return to it: one call of select");
	ntrace_flow_free(flow);
	ntrace_space_put(log->spaces[0]);
	ntrace_space_put(log->spaces[1]);
}

/* Remapped code must not use blocks decoded earlier. */
static void test_versions(void)
{
	struct flow_log *log = &flow_log;
	struct ntrace_flow *flow;
	struct code old = { .start = 0x1000 }, new = { .start = 0x1000 };

	/* Whole blocks: a partial block is read again in any case. */
	put(&old, C_ADD);
	put_branch(&old, 0x1000);
	put(&new, ADD);
	put_branch(&new, 0x1000);
	memset(log, 0, sizeof(*log));
	log->spaces[0] = new_space("changing");
	add_code(log->spaces[0], &old);
	flow = selecting_flow(log);
	feed_hex(flow, SYNC_1000 "0C 0F");
	add_code(log->spaces[0], &new);
	feed_hex(flow, "0C 13");
	is_str(log->text, "[sync 1000] sync5@1000 1000 1002 1000 1004 ",
	       "new code at an old address");
	ntrace_flow_free(flow);
	ntrace_space_put(log->spaces[0]);
}

static int log_blocks(void *data, const struct ntrace_block_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		ntrace_block_instructions(batch, &batch->blocks[i], log_instruction, data);
	return 0;
}

/*
 * Two calls are open when the code after the first one changes: the returns must not use the links
 * of the old code's blocks.
 */
static void test_return_to_new_code(bool batches)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	struct code main_code = { .start = 0x1000 }, callee = { .start = 0x1100 };
	struct code new = { .start = 0x1004 };
	struct flow_log *log = &flow_log;
	struct ntrace_flow *flow;

	put_jal(&main_code, 1, 0x1100);
	put(&main_code, C_ADD);
	put_branch(&main_code, 0x1000);
	put_branch(&callee, 0x1108);
	put_jal(&callee, 1, 0x1100);
	put(&callee, C_RET);
	put(&new, ADD);
	put_branch(&new, 0x1000);
	memset(log, 0, sizeof(*log));
	config.space = new_space("changing");
	add_code(config.space, &main_code);
	add_code(config.space, &callee);
	config.event = log_event;
	config.blocks = batches ? log_blocks : NULL;
	config.data = log;
	ok(ntrace_flow_new(&flow, &config) == 0, "flow%s", batches ? " in batches" : "");
	/* jal, branch not taken, jal, branch: 8; ret, ret, c.add, branch: 5 */
	feed_hex(flow, SYNC_1000 "0C 23 0C 17 0C 23");
	ntrace_flow_flush(flow);
	add_code(config.space, &new);
	/* ret, ret, add, branch */
	feed_hex(flow, "0C 1B");
	ntrace_flow_flush(flow);
	is_str(log->text,
	       "sync5@1000 1000 1100 1104 1100 1108 1108 1004 1006 1000 1100 1104 1100 "
	       "1108 1108 1004 1008 ",
	       "corner case: returns to new code%s", batches ? ", in batches" : "");
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
}

struct counted {
	uint64_t blocks;
	unsigned int error;
};

static int count_event(void *data, const struct ntrace_flow_event *event)
{
	struct counted *counted = data;

	counted->blocks += event->type == NTRACE_FLOW_BLOCK;
	if (event->type == NTRACE_FLOW_ERROR)
		counted->error = event->code;
	return 0;
}

static void check_count(const char *what, struct ntrace_space *space, const char *hex,
			uint64_t blocks, unsigned int error)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	struct counted counted = { 0 };
	struct ntrace_flow *flow;

	config.event = count_event;
	config.data = &counted;
	config.space = space;
	ok(ntrace_flow_new(&flow, &config) == 0, "flow");
	feed_hex(flow, hex);
	is_u64(counted.blocks, blocks, "%s: blocks", what);
	is_u64(counted.error, error, "%s: error", what);
	ntrace_flow_free(flow);
}

static struct ntrace_message message_of(uint8_t tcode, enum ntrace_field field, uint64_t value)
{
	struct ntrace_message message = { .tcode = tcode, .present = 1u << field };

	message.field[field] = value;
	return message;
}

/*
 * A sync to @start, then @messages, after enough bytes that only the limit of a single message
 * applies.
 */
static void check_most(const char *what, struct ntrace_space *space, uint64_t start,
		       const struct ntrace_message *messages, uint64_t blocks, unsigned int error)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	struct ntrace_message sync =
		message_of(NTRACE_TCODE_PROG_TRACE_SYNC, NTRACE_FIELD_FADDR, start >> 1);
	struct counted counted = { 0 };
	struct ntrace_flow *flow;

	sync.present |= 1u << NTRACE_FIELD_SYNC | 1u << NTRACE_FIELD_ICNT;
	sync.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_TRACE_ENABLE;
	sync.length = 1 << 20;
	config.event = count_event;
	config.data = &counted;
	config.space = space;
	ok(ntrace_flow_new(&flow, &config) == 0, "flow");
	ntrace_flow_message(flow, &sync);
	for (; messages->tcode; messages++)
		ntrace_flow_message(flow, messages);
	is_u64(counted.blocks, blocks, "%s: blocks", what);
	is_u64(counted.error, error, "%s: error", what);
	ntrace_flow_free(flow);
}

static void test_most_of_a_message(struct ntrace_space *space)
{
	const struct ntrace_message end = { .tcode = 0 };
	struct ntrace_message full =
		message_of(NTRACE_TCODE_RESOURCE_FULL, NTRACE_FIELD_ICNT, UINT64_C(1) << 49);
	struct ntrace_message repeat =
		message_of(NTRACE_TCODE_REPEAT_BRANCH, NTRACE_FIELD_BCNT, 1 << 20);
	struct ntrace_message branch =
		message_of(NTRACE_TCODE_DIRECT_BRANCH, NTRACE_FIELD_ICNT, 1024);
	struct ntrace_message indirect = message_of(NTRACE_TCODE_INDIRECT_BRANCH,
						    NTRACE_FIELD_UADDR, (0x9000 ^ 0x4000) >> 1);

	full.present |= 1u << NTRACE_FIELD_RCODE;
	check_most("2^20 times 1024 parcels", space, 0x2000,
		   (struct ntrace_message[]){ branch, repeat, end }, (1 << 20) + 1, 0);
	repeat.field[NTRACE_FIELD_BCNT] = (1 << 24) + 1;
	check_most("more than 2^24 times", space, 0x2000,
		   (struct ntrace_message[]){ branch, repeat, end }, 1, NTRACE_FLOW_ERROR_EXCESS);
	/* RepeatBranch counts one extra parcel per repetition, which bounds traps with I-CNT 0. */
	branch.field[NTRACE_FIELD_ICNT] = 1 << 16;
	repeat.field[NTRACE_FIELD_BCNT] = 1 << 24;
	repeat.length = 4;
	check_most("2^24 times 2^16 parcels in 4 bytes", space, 0x6000,
		   (struct ntrace_message[]){ branch, repeat, end }, 1 << 15,
		   NTRACE_FLOW_ERROR_EXCESS);
	/* There is no code at 0x9000: the flow continues at the address of the branch message. */
	indirect.present |= 1u << NTRACE_FIELD_ICNT;
	indirect.field[NTRACE_FIELD_ICNT] = 1 << 30;
	repeat.field[NTRACE_FIELD_BCNT] = 0;
	check_most("2^30 parcels without code, repeated 0 times", space, 0x9000,
		   (struct ntrace_message[]){ branch, indirect, repeat, end }, 0,
		   NTRACE_FLOW_ERROR_NOMAP);
	/* A jump to itself. */
	branch.field[NTRACE_FIELD_ICNT] = UINT64_C(1) << 32;
	check_most("an I-CNT of 33 bits", space, 0x6000, (struct ntrace_message[]){ branch, end },
		   0, NTRACE_FLOW_ERROR_EXCESS);
	branch.field[NTRACE_FIELD_ICNT] = 4;
	check_most("2^50 parcels of three messages", space, 0x6000,
		   (struct ntrace_message[]){ full, full, branch, end }, 0,
		   NTRACE_FLOW_ERROR_EXCESS);
	full.field[NTRACE_FIELD_ICNT] = UINT64_MAX - 1;
	check_most("2^64 - 2", space, 0x6000, (struct ntrace_message[]){ full, branch, end }, 0,
		   NTRACE_FLOW_ERROR_EXCESS);
	full.field[NTRACE_FIELD_ICNT] = UINT64_C(1) << 61;
	check_most("a sum of 2^64", space, 0x6000,
		   (struct ntrace_message[]){ full, full, full, full, full, full, full, full,
					      branch, end },
		   0, NTRACE_FLOW_ERROR_EXCESS);
}

/* A loop of @insns instructions of one parcel and a branch. */
static void add_loop(struct ntrace_space *space, uint64_t start, unsigned int insns)
{
	struct code code = { .start = start };

	while (insns--)
		put(&code, C_ADD);
	put_branch(&code, start);
	add_code(space, &code);
}

/*
 * N-Trace 1.0: B-CNT and HREPEAT have up to 18 bits; damaged ones can be far larger. At most 2^29
 * parcels are walked for each byte of the stream, and for RepeatBranch 2^38 for each of its own.
 */
static void test_repeat_limits(void)
{
	struct ntrace_space *space = loop_program();
	struct code code = { .start = 0x6000 };

	put_jal(&code, 0, code.start);
	add_code(space, &code);
	add_loop(space, 0x2000, 1022);
	add_loop(space, 0x4000, 1021);
	/* DirectBranch ICNT 3, RepeatBranch BCNT 0x3ffff */
	check_count("B-CNT of 18 bits", space, SYNC_1000 "0C 0F 78 FC FC FF", 1 << 18, 0);
	/* ResourceFull RCODE 2 HIST 3 HREPEAT 0x3ffff */
	check_count("HREPEAT of 18 bits", space, SYNC_1000 "6C C9 FC FC FF", (1 << 18) - 1, 0);
	test_most_of_a_message(space);
	/* SYNC 5 PC 0x4000, DirectBranch ICNT 1023, RepeatBranch BCNT 0x3ffff */
	check_count("more than 2^20 parcels a byte", space, "24 15 00 00 0B 0C FC 3F 78 FC FC FF",
		    1 << 18, 0);
	/* HIST 15 HREPEAT 0x3ffff */
	check_count("HREPEAT, too", space, "24 15 00 00 0B 6C C8 0D FC FC FF", 3 * ((1 << 18) - 1),
		    0);
	/* SYNC 5 PC 0x4000, ResourceFull RCODE 0 I-CNT 2^38 - 1: 14 bytes */
	check_count("more than 2^29 parcels a byte", space,
		    "24 15 00 00 0B 6C C0 FC FC FC FC FC FF 84 10 03", 0, NTRACE_FLOW_ERROR_EXCESS);
	ntrace_space_put(space);
}

struct compressed {
	uint8_t bytes[4096];
	size_t size;
};

static void keep_bytes(void *data, const uint8_t *bytes, size_t size)
{
	struct compressed *stream = data;

	if (stream->size + size <= sizeof(stream->bytes))
		memcpy(stream->bytes + stream->size, bytes, size);
	stream->size += size;
}

/* The encoder's shortest streams: @rounds of a loop of @parcels that ends with a taken branch. */
static void check_loop(struct ntrace_space *space, uint64_t start, uint32_t parcels,
		       unsigned int rounds, unsigned int icnt_bits, bool history)
{
	const struct ntrace_ingress round = { start, parcels,	    NTRACE_ITYPE_BRANCH_TAKEN,
					      1,     NTRACE_PRIV_U, 0 };
	struct ntrace_params params = params_of(history ? "mode=htm" : "mode=btm");
	struct ntrace_flow_config config = { .size = sizeof(config), .params = &params };
	static struct compressed stream;
	struct ntrace_encoder_config encoding;
	struct counted counted = { 0 };
	struct ntrace_encoder encoder;
	struct ntrace_flow *flow;

	stream.size = 0;
	ntrace_encoder_config_init(&encoding);
	encoding.params = &params;
	encoding.write = keep_bytes;
	encoding.write_data = &stream;
	encoding.icnt_bits = icnt_bits;
	encoding.repeat_branch = !history;
	encoding.repeated_history = history;
	is_u64(ntrace_encoder_init(&encoder, &encoding), 0, "an encoder");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int i = 0; i < rounds; i++)
		ntrace_encoder_retire(&encoder, &round);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	config.event = count_event;
	config.data = &counted;
	config.space = space;
	is_u64(ntrace_flow_new(&flow, &config), 0, "flow");
	feed_flow(flow, &params, stream.bytes, stream.size, stream.size, true);
	ok(stream.size <= sizeof(stream.bytes) && counted.blocks == rounds && !counted.error,
	   "%u rounds of %u parcels in %zu bytes, I-CNT of %u bits%s: %" PRIu64 ", error %u",
	   rounds, parcels, stream.size, icnt_bits, history ? ", history" : "", counted.blocks,
	   counted.error);
	ntrace_flow_free(flow);
}

static void test_most_compressed(void)
{
	static const uint32_t loops[] = { 3, 24, 64, 1023, 2046 };
	struct ntrace_space *space = new_space("loops");

	for (unsigned int i = 0; i < 5; i++)
		add_loop(space, (i + 1) * UINT64_C(0x2000), loops[i] - 2);
	for (unsigned int i = 0; i < 5; i++)
		for (unsigned int kind = 0; kind < 4; kind++)
			check_loop(space, (i + 1) * UINT64_C(0x2000), loops[i], 600000,
				   kind & 1 ? 32 : 22, kind & 2);
	ntrace_space_put(space);
}

static void test_stop(void)
{
	struct flow_log *log = &flow_log;
	struct ntrace_flow_stats stats;
	struct ntrace_flow *flow;
	struct code code = { .start = 0x1000 };

	put(&code, C_ADD);
	put_branch(&code, 0x1000);
	memset(log, 0, sizeof(*log));
	log->spaces[0] = new_space("stop");
	add_code(log->spaces[0], &code);
	flow = selecting_flow(log);
	log->stop_after = 2;
	is_u64(feed_hex(flow, SYNC_1000 "0C 0F 0C 0F"), 42, "the callback's result is returned");
	log->stop_after = 0;
	log->at = 0;
	is_u64(feed_hex(flow, "0C 0F " SYNC_1000 "84 00 07"), 0, "and the flow can continue");
	is_str(log->text, "gap [sync 1000] sync5@1000 1000 ! off0@1002 ", "at the next sync");
	ntrace_flow_get_stats(flow, &stats);
	is_u64(stats.instructions, 3, "instructions");
	is_u64(stats.blocks, 2, "blocks");
	is_u64(stats.syncs, 2, "syncs");
	ntrace_flow_free(flow);
	ntrace_space_put(log->spaces[0]);
}

static void test_source(void)
{
	struct ntrace_flow_config config = { .size = sizeof(config) };
	struct ntrace_params params = params_of("");
	struct flow_log *log = &flow_log;
	struct ntrace_flow *flow;
	/* SRC 2 bits: ProgTraceSync SYNC 5 ICNT 0 PC 0x1000 of SRC 1 and 2 */
	const uint8_t data[] = { 0x24, 0x54, 0x01, 0x00, 0x83, 0x24, 0x58, 0x01, 0x00, 0x83 };

	memset(log, 0, sizeof(*log));
	config.event = log_event;
	config.data = log;
	config.params = params_at("srcbits=2");
	config.src = 2;
	ok(ntrace_flow_new(&flow, &config) == 0, "flow of SRC 2");
	feed_flow(flow, config.params, data, sizeof(data), sizeof(data), true);
	is_str(log->text, "sync5@1000 ", "takes only its own messages");
	ntrace_flow_free(flow);
	config.src = 4;
	is_u64(ntrace_flow_new(&flow, &config), NTRACE_ERR_INVALID, "SRC out of range");
	config.src = 0;
	config.event = NULL;
	is_u64(ntrace_flow_new(&flow, &config), NTRACE_ERR_INVALID, "no callback");
	config.event = log_event;
	params.xlen = 48;
	config.params = &params;
	is_u64(ntrace_flow_new(&flow, &config), NTRACE_ERR_INVALID, "no such XLEN");
	params = params_of("");
	params.timestamp_bits = 65;
	is_u64(ntrace_flow_new(&flow, &config), NTRACE_ERR_INVALID, "timestamps of 65 bits");
	params = params_of("");
	params.src_bits = NTRACE_SRC_BITS_MAX + 1;
	is_u64(ntrace_flow_new(&flow, &config), NTRACE_ERR_INVALID, "SRC of 13 bits");
	params = params_of("");
	params.isa = "x86";
	is_u64(ntrace_flow_new(&flow, &config), NTRACE_ERR_INVALID, "no ISA");
}

static void test_names(void)
{
	bool named = true;

	for (unsigned int i = 0; i < NTRACE_FLOW_ERROR_COUNT; i++)
		named = named && strcmp(ntrace_flow_error_text(i), "unknown error");
	ok(named, "every error has a text");
	is_str(ntrace_flow_error_text(1000), "unknown error", "other codes have a fallback text");
	is_str(ntrace_flow_type_name(NTRACE_FLOW_WARNING), "warning", "type name");
	is_str(ntrace_flow_type_name(1000), "?", "others");
}

/* 1000 c.add; 1002 c.jr a0, which goes to 5000, which is unmapped. */
static void test_unreadable(void)
{
	struct ntrace_space *space = new_space("unreadable");
	struct code code = { .start = 0x1000 };

	put(&code, C_ADD);
	put(&code, C_JR_A0);
	add_code(space, &code);
#define TO_5000 SYNC_1000 "10 21 00 00 0B "	/* IndirectBranch ICNT 2 to 5000 */
#define BACK "10 51 00 00 0B "			/* ICNT 5 to 1000 */
	check("the next address is right: no sync is needed", space, "", TO_5000 BACK "84 00 07",
	      "sync5@1000 1000 1002 E4@5000 gap 1000 ! off0@1002");
	check("a trap out of it", space, "", TO_5000 "10 1D 00 00 0B 84 00 07",
	      "sync5@1000 1000 1002 E4@5000 gap trap3@1000<? 1000 ! off0@1002");
	check("messages: an Ownership in it still reports the context", space, "",
	      TO_5000 "0C 0F 08 C8 3B " BACK "84 00 07",
	      "sync5@1000 1000 1002 E4@5000 gap own3b2 1000 ! off0@1002");
	check("counts and branches in it are ignored", space, "",
	      TO_5000 "6C 44 07 6C 40 0B 0C 0F " BACK "84 00 07",
	      "sync5@1000 1000 1002 E4@5000 gap 1000 ! off0@1002");
	check("a reference that is unknown is not used", space, "",
	      TO_5000 "20 03 " BACK "84 00 07", "sync5@1000 1000 1002 E3@5000 gap off0@?");
#undef TO_5000
#undef BACK
	ntrace_space_put(space);
}

int main(void)
{
	test_history();
	test_returns();
	test_unreadable();
	test_return_stack();
	test_sequential();
	test_all_jumps();
	test_endless();
	test_seams();
	test_uncertain();
	test_select();
	test_versions();
	test_return_to_new_code(false);
	test_return_to_new_code(true);
	test_repeat_limits();
	test_most_compressed();
	test_stop();
	test_source();
	test_names();
	return done_testing();
}
