// SPDX-License-Identifier: GPL-2.0-only
/*
 * State that is dropped at a loss and state that is known after it: counts not yet walked, history
 * walked ahead, return addresses, the branch to repeat. Also: no event is reported after the
 * callback stopped.
 */
#include "test_flow.h"

#define SYNC_1000 "24 15 00 83 "	/* ProgTraceSync SYNC 5 PC 0x1000 */
#define ERROR "20 03 "
#define PENDING "6C 40 0B "		/* ResourceFull RCODE 0 ICNT 9 */
#define AHEAD "6C C4 07 "		/* ResourceFull RCODE 1 HIST 7: taken, taken */
#define NO_HISTORY "6C 04 03 "		/* ResourceFull RCODE 1 HIST 0, which is illegal */

static struct flow_log flow_log;

/*
 * 1000 c.add; 1002 branch 1000; 1006 c.add; 1008 branch 1000; 100c c.jr a0 1100 jal x1, 1200; 1104
 * c.add 1200 c.add; 1202 c.jr a0; 1204 c.ret 1300 branch 1300; 1304 jal x0, 5000, which is unmapped
 * 1400 add; 1404 an instruction of a vendor; 1408 c.add
 */
static struct ntrace_space *program(void)
{
	struct ntrace_space *space = new_space("program");
	struct code loop = { .start = 0x1000 }, call = { .start = 0x1100 };
	struct code callee = { .start = 0x1200 }, out = { .start = 0x1300 };
	struct code custom = { .start = 0x1400 };

	put(&loop, C_ADD);
	put_branch(&loop, 0x1000);
	put(&loop, C_ADD);
	put_branch(&loop, 0x1000);
	put(&loop, C_JR_A0);
	put_jal(&call, 1, 0x1200);
	put(&call, C_ADD);
	put(&callee, C_ADD);
	put(&callee, C_JR_A0);
	put(&callee, C_RET);
	put_branch(&out, 0x1300);
	put_jal(&out, 0, 0x5000);
	put(&custom, ADD);
	put(&custom, CUSTOM);
	put(&custom, C_ADD);
	add_code(space, &custom);
	add_code(space, &loop);
	add_code(space, &call);
	add_code(space, &callee);
	add_code(space, &out);
	return space;
}

static void test_forgotten(struct ntrace_space *space)
{
	static const struct {
		const char *what;
		const char *params;
		const char *bytes;
		const char *flow;
	} cases[] = {
		{ "corner case: an Error drops a pending count", "",
		  SYNC_1000 PENDING ERROR SYNC_1000 "84 00 07",
		  "sync5@1000 E3@1000 gap sync5@1000 1000 ! off0@1002" },
		{ "corner case: an Error drops history walked ahead", "",
		  SYNC_1000 AHEAD ERROR SYNC_1000 "84 00 07",
		  "sync5@1000 ( 1000 1002 ) ( 1000 1002 ) E3@1000 gap sync5@1000 1000 ! "
		  "off0@1002" },
		{ "corner case: an Error drops the branch to repeat", "",
		  SYNC_1000 "0C 0F " ERROR SYNC_1000 "78 07",
		  "sync5@1000 1000 1002 E3@1000 gap sync5@1000 E11@1000 gap" },
		{ "synchronization: so does every sync", "", SYNC_1000 "0C 0F 24 09 00 83 78 07",
		  "sync5@1000 1000 1002 sync2@1000 E11@1000 gap" },
		{ "synchronization: trace off drops the branch to repeat", "",
		  SYNC_1000 "0C 0F 84 00 03 " SYNC_1000 "78 07",
		  "sync5@1000 1000 1002 off0@1000 sync5@1000 E11@1000 gap" },
		/* IndirectBranchHist ICNT 6 + 7 HIST 4 (not taken twice) to 1000, then ICNT 1 */
		{ "decoding: history walked ahead is covered by one I-CNT only", "",
		  SYNC_1000 AHEAD "70 D1 01 13 84 40 05 07",
		  "sync5@1000 ( 1000 1002 ) ( 1000 1002 ) 1000 1002 1006 1008 100c 1000 ! "
		  "off0@1002" },
		{ "dialects: RCODE 8 of SiFive counts branches not taken", "dialect=sifive-v0",
		  SYNC_1000 "6C A0 03", "sync5@1000 ( 1000 1002 ) ( 1006 1008 )" },
		{ "decoding: a jump without an instruction, to the current address", "",
		  SYNC_1000 "10 01 03 84 00 07", "sync5@1000 1000 ! off0@1002" },
		{ "decoding: a jump that nothing made", "", SYNC_1000 "10 01 00 0B 84 00 07",
		  "sync5@1000 E17@1000 gap off0@?" },
		/* SYNC 5 PC 1100; ICNT 4 to 5000, ICNT 5 to 1204, Correlation ICNT 2 */
		{ "implicit return: return addresses are dropped at unmapped memory", "",
		  "24 15 00 8B 10 41 00 08 0B 10 51 08 10 0B 84 00 0B",
		  "sync5@1100 1100 1200 1202 E4@5000 gap E7@1204 gap off0@?" },
		/* SYNC 5 PC 1100, Correlation ICNT 2; SYNC 0 PC 1204, Correlation ICNT 2 */
		{ "implicit return: return addresses are dropped while trace is off, for any later "
		  "sync",
		  "dialect=rc7", "24 15 00 8B 84 00 0B 24 01 08 93 84 00 0B",
		  "sync5@1100 1100 off0@1200 sync0@1204 E7@1204 gap off0@?" },
		{ "implicit return: nor an Error", "dialect=rc7",
		  "24 15 00 8B 10 2D 08 1B " ERROR "24 01 08 93 84 00 0B",
		  "sync5@1100 1100 trap3@1204<1200 E3@1204 gap sync0@1204 E7@1204 gap off0@?" },
		{ "decoding: after trace off an address needs a sync before it", "",
		  SYNC_1000 "84 00 07 10 51 00 0B 84 00 07",
		  "sync5@1000 1000 ! off0@1002 gap off0@?" },
		{ "each reserved RCODE is warned of", "",
		  SYNC_1000 "6C 70 0F 6C 70 0F 6C 50 0F 6C 70 0F",
		  "sync5@1000 W14@1000 W14@1000 W14@1000 W14@1000" },
		/* SYNC 2 BTYPE 2 ICNT 1 PC 1100 */
		{ "synchronization: a sync that reports a trap", "",
		  SYNC_1000 "30 88 05 00 8B 84 00 0B",
		  "sync5@1000 1000 ! trap2@1100<1002 sync2@1100 1100 off0@1200" },
		/* SYNC 5 PC 1300; HIST: taken; HIST: not taken, one more; ICNT 5 to 1000 */
		{ "decoding: nor does history that was walked ahead", "",
		  "24 15 00 9B 6C C4 03 6C 04 07 10 51 00 1B 84 00 07",
		  "sync5@1300 ( 1300 ) ( 1300 ) ( 1304 ) E4@5000 gap 1000 ! off0@1002" },
		/* ICNT 7 to 5000, twice again, ICNT 5 to 1000 */
		{ "decoding: RepeatBranch continues through unmapped memory", "",
		  SYNC_1000 "10 71 00 00 0B 78 0B 10 51 00 00 0B 84 00 07",
		  "sync5@1000 1000 1002 1006 1008 100c E4@5000 gap E4@5000 gap E4@5000 gap "
		  "1000 ! off0@1002" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(flow_text(&flow_log, cases[i].params, cases[i].bytes, space), cases[i].flow,
		       "%s: %s", cases[i].what, cases[i].bytes);
}

/*
 * N-Trace 1.0, "messages": only HTM has HIST, and only BTM has DirectBranch. The mode is visible
 * where a branch has no bit: a warning in HTM.
 */
static void test_modes(struct ntrace_space *space)
{
#define AHEAD_TEXT "sync5@1000 ( 1000 1002 ) ( 1000 1002 ) "
	static const struct {
		const char *what;
		const char *params;
		const char *bytes;
		const char *flow;
	} cases[] = {
		/* Correlation CDF 0 ICNT 6 + 3; DirectBranch, DirectBranchSync SYNC 2 ICNT 6 + 3 */
		{ "HIST tells HTM", "", SYNC_1000 AHEAD "84 00 27",
		  AHEAD_TEXT "1000 1002 E9@1002 gap off0@?" },
		{ "not if BTM is given", "mode=btm", SYNC_1000 AHEAD "84 00 27",
		  AHEAD_TEXT "1000 1002 off0@1006" },
		{ "dialects: so do counts of SiFive", "dialect=sifive-v0",
		  SYNC_1000 "6C A4 03 84 00 27", AHEAD_TEXT "1000 1002 E9@1002 gap off0@?" },
		{ "DirectBranch tells BTM", "", SYNC_1000 AHEAD "0C 27 84 00 0F",
		  AHEAD_TEXT "1000 1002 1000 1002 off0@1006" },
		{ "not if HTM is given", "mode=htm", SYNC_1000 AHEAD "0C 27 84 00 0F",
		  AHEAD_TEXT "1000 1002 1000 1002 E9@1002 gap off0@?" },
		{ "DirectBranchSync, too", "", SYNC_1000 AHEAD "2C 48 09 00 83 84 00 0F",
		  AHEAD_TEXT "1000 1002 sync2@1000 1000 1002 off0@1006" },
		{ "nothing is guessed after a branch without a bit", "mode=htm",
		  SYNC_1000 "84 00 1B", "sync5@1000 1000 1002 E9@1002 gap off0@?" },
		{ "dialects: SiFive's own messages, and one of other vendors", "dialect=sifive-v0",
		  SYNC_1000 "1C 05 07 88 3C 03 8C 3C 03 E0 07",
		  "sync5@1000 data1=1 circuit15@1000 circuit15@0 W14@1000" },
		{ "which N-Trace 1.0 does not have", "",
		  SYNC_1000 "1C 05 07 88 07 8C 07 E0 07 E0 07",
		  "sync5@1000 data1=1 W14@1000 W14@1000 W14@1000 W14@1000" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(flow_text(&flow_log, cases[i].params, cases[i].bytes, space), cases[i].flow,
		       "%s: %s", cases[i].what, cases[i].bytes);
#undef AHEAD_TEXT
}

/* Feeds hex to a new flow. Return: the log of @callback. */
static const char *feed(struct ntrace_space *space, const char *hex, ntrace_flow_callback *callback,
			struct ntrace_flow_stats *stats)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params_at("") };
	struct ntrace_flow *flow;
	uint8_t data[256];
	size_t size = from_hex(hex, data, sizeof(data));

	memset(&flow_log, 0, sizeof(flow_log));
	config.event = callback;
	config.data = &flow_log;
	config.space = space;
	if (ntrace_flow_new(&flow, &config))
		return "no flow";
	feed_flow(flow, config.params, data, size, size, true);
	if (stats)
		ntrace_flow_get_stats(flow, stats);
	ntrace_flow_free(flow);
	return flow_log.text;
}

/* Blocks as their address and successor. */
static int log_next(void *data, const struct ntrace_flow_event *event)
{
	if (event->type != NTRACE_FLOW_BLOCK)
		return 0;
	log_add(data, "%" PRIx64 ">", event->address);
	log_place(data, event->next_known, event->next);
	return 0;
}

static void test_next(struct ntrace_space *space)
{
	is_str(feed(space, SYNC_1000 "0C 0F 10 71 00 0B", log_next, NULL),
	       "1000>1000 1000>1006 1006>100c 100c>1100 ",
	       "decoding: an indirect jump goes where U-ADDR says");
	is_str(feed(space, SYNC_1000 "30 08 1D 00 8B", log_next, NULL),
	       "1000>1006 1006>100c 100c>1100 ", "decoding: or F-ADDR");
	is_str(feed(space, SYNC_1000 "84 00 1F", log_next, NULL), "1000>1006 1006>100c 100c>? ",
	       "decoding: where trace stops its target is unknown");
	/* ProgTraceSync SYNC 2 ICNT 6 + 4 */
	is_str(feed(space, SYNC_1000 AHEAD "24 88 09 00 83", log_next, NULL),
	       "1000>1000 1000>1000 1000>? ",
	       "synchronization: ProgTraceSync in HTM does not tell where the branches before it "
	       "went");
	/* SYNC 5 PC 1400; ICNT 4 to 1000 */
	is_str(feed(space, "24 15 00 A3 10 41 00 23", log_next, NULL), "1400>1000 ",
	       "decoding: a jump of a vendor goes where U-ADDR says");
	/* IndirectBranchHistSync SYNC 2 ICNT 3 PC 0x1200 HIST 1 */
	is_str(feed(space, SYNC_1000 "74 08 0D 00 91 07", log_next, NULL), "1000>? ",
	       "synchronization: the next instruction of a branch without its HIST bit is unknown "
	       "if F-ADDR is neither side");
	is_str(feed(space, SYNC_1000 "10 19 00 0B", log_next, NULL), "1000>1002 ",
	       "decoding: a trap is no transfer of the instruction before it");
}

/* Errors with the offset of the message that last confirmed the flow. */
static int log_confirmed(void *data, const struct ntrace_flow_event *event)
{
	if (event->type == NTRACE_FLOW_ERROR)
		log_add(data, "E%u %" PRIu64 "; ", event->code, event->value);
	return 0;
}

static void test_confirmed(struct ntrace_space *space)
{
	is_str(feed(space, "FF " SYNC_1000 NO_HISTORY, log_confirmed, NULL), "E8 1; ",
	       "decoding: confirmed up to the sync");
	is_str(feed(space, "FF " SYNC_1000 "0C 0F " AHEAD NO_HISTORY, log_confirmed, NULL),
	       "E8 5; ", "decoding: confirmed up to the last message with an I-CNT");
	is_str(feed(space, "FF " SYNC_1000 "10 71 00 00 0B 10 51 00 00 0B " NO_HISTORY,
		    log_confirmed, NULL),
	       "E4 5; E8 10; ", "decoding: confirmed where the flow is known again");
}

static void test_stats(struct ntrace_space *space)
{
	struct ntrace_flow_stats stats;

	/* Unknown TCODE; trap; Error twice, which is one gap */
	feed(space, SYNC_1000 "FC 03 10 1D 03 " ERROR ERROR SYNC_1000 "0C 0F", log_next, &stats);
	is_u64(stats.messages, 7, "messages");
	is_u64(stats.syncs, 2, "syncs");
	is_u64(stats.warnings, 1, "warnings");
	is_u64(stats.traps, 1, "traps");
	is_u64(stats.errors, 2, "errors");
	is_u64(stats.gaps, 1, "gaps");
	is_u64(stats.blocks, 2, "blocks");
	is_u64(stats.instructions, 3, "instructions");
}

/* Stops at one of the callbacks, and counts those that come nevertheless. */
struct stopper {
	unsigned int calls;
	unsigned int stop_at;
	unsigned int after;	/* callbacks after the stop */
	unsigned int flowed;	/* the blocks and traps among them */
	struct ntrace_space *space;
};

static int stop_here(struct stopper *stopper, bool flows)
{
	if (++stopper->calls == stopper->stop_at)
		return 42;
	if (stopper->calls > stopper->stop_at) {
		stopper->after++;
		stopper->flowed += flows;
	}
	return 0;
}

static int stop_event(void *data, const struct ntrace_flow_event *event)
{
	return stop_here(data, event->type == NTRACE_FLOW_BLOCK || event->type == NTRACE_FLOW_TRAP);
}

static int stop_blocks(void *data, const struct ntrace_block_batch *batch)
{
	(void)batch;
	return stop_here(data, true);
}

static int stop_select(void *data, unsigned int reason, uint64_t address,
		       struct ntrace_space **space)
{
	struct stopper *stopper = data;

	(void)reason;
	(void)address;
	*space = stopper->space;
	return stop_here(stopper, false);
}

/* Return: false if the stream has fewer callbacks. */
static bool stop_at(struct ntrace_space *space, const char *params, const char *hex,
		    unsigned int at, bool batches)
{
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(params),
					     .event = stop_event,
					     .select = stop_select };
	struct stopper stopper = { .stop_at = at, .space = space };
	/* IndirectBranch BTYPE 3 ICNT 0: after a stop there is no state to continue from. */
	static const uint8_t trap[] = { 0x10, 0x0d, 0x00, 0x0b };
	struct ntrace_flow *flow;
	uint8_t data[256];
	size_t size = from_hex(hex, data, sizeof(data));
	int ret;

	config.blocks = batches ? stop_blocks : NULL;
	config.data = &stopper;
	if (ntrace_flow_new(&flow, &config))
		return false;
	ret = feed_flow(flow, config.params, data, size, size, true);
	if (ret != 42 || stopper.after)
		ok(!ret && stopper.calls < at, "%s: stop at call %u: %d, %u calls after it", hex,
		   at, ret, stopper.after);
	feed_flow(flow, config.params, trap, sizeof(trap), sizeof(trap), true);
	if (ret == 42 && stopper.flowed)
		ok(false, "%s: flow after a stop at call %u", hex, at);
	ntrace_flow_free(flow);
	return ret == 42;
}

static void test_stop(struct ntrace_space *space)
{
	static const struct {
		const char *params;
		const char *bytes;
	} streams[] = {
		{ "", SYNC_1000 "0C 0F 78 0F 08 C8 3B 10 1D 00 0B 84 00 0B" },
		{ "", SYNC_1000 "6C C8 05 03 " AHEAD "70 D1 01 13 84 80 07" },
		{ "", SYNC_1000 "10 71 00 00 0B 10 5D 00 00 0B 10 01 00 0B 08 07 20 03" },
		{ "", SYNC_1000 "2C C9 00 8B 24 01 00 83 30 88 05 00 8B 24 15 00 83 FC 03" },
		{ "", SYNC_1000 "6C 70 0F 6C C4 03 84 40 05 07 84 40 05 07 0C 0F" },
		{ "mode=htm", SYNC_1000 "84 00 1B " SYNC_1000 "6C 40 07 26 03" },
		{ "impret=1", "24 15 00 8B 10 51 0C 0B 84 00 0B " SYNC_1000 "0C" },
	};
	unsigned int calls = 0;

	for (unsigned int i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		for (unsigned int batches = 0; batches < 2; batches++) {
			for (unsigned int at = 1;
			     stop_at(space, streams[i].params, streams[i].bytes, at, batches); at++)
				calls++;
		}
	}
	ok(calls > 60, "a stop at each of %u callbacks is the last one", calls);
}

int main(void)
{
	struct ntrace_space *space = program();

	test_forgotten(space);
	test_modes(space);
	test_next(space);
	test_confirmed(space);
	test_stats(space);
	test_stop(space);
	ntrace_space_put(space);
	return done_testing();
}
