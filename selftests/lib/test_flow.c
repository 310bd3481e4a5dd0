// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flow against the specification's examples and corner cases of N-Trace 1.0: bytes in, text of the
 * events out. See test_flow.h for the notation.
 */
#include "test_flow.h"

struct flow_case {
	const char *what;
	const char *params;
	const char *bytes;
	const char *flow;
};

static struct flow_log flow_log;

static void run_cases(const struct flow_case *cases, size_t count, struct ntrace_space *space)
{
	for (size_t i = 0; i < count; i++)
		is_str(flow_text(&flow_log, cases[i].params, cases[i].bytes, space), cases[i].flow,
		       "%s: %s", cases[i].what, cases[i].bytes);
}

#define RUN(cases, space) run_cases(cases, sizeof(cases) / sizeof((cases)[0]), space)

/* The specification's example program A. */
static struct ntrace_space *program_a(void)
{
	struct ntrace_space *space = new_space("A");
	struct code at_100 = { .start = 0x100 }, at_200 = { .start = 0x200 };
	struct code at_300 = { .start = 0x300 };

	put(&at_100, C_ADD);
	put_branch(&at_100, 0x200);
	put(&at_100, ADD);
	put_branch(&at_100, 0x300);
	put(&at_100, C_ADD);
	put(&at_100, ADD);
	put(&at_100, C_EBREAK);
	put(&at_200, C_ADD);
	put(&at_200, C_EBREAK);
	put(&at_300, ADD);
	put(&at_300, C_EBREAK);
	add_code(space, &at_100);
	add_code(space, &at_200);
	add_code(space, &at_300);
	return space;
}

#define SYNC_100 "24 0D 00 0B "	/* ProgTraceSync SYNC 3 PC 0x100 */

static const struct flow_case cases_a[] = {
	{ "BTM, first taken", "mode=btm", SYNC_100 "0C 0F 84 00 07",
	  "sync3@100 100 102 200 ! off0@202" },
	{ "HTM, first taken", "mode=htm", SYNC_100 "84 40 11 0F",
	  "sync3@100 100 102 200 ! off0@202" },
	{ "BTM, second taken", "mode=btm", SYNC_100 "0C 1F 84 00 0B",
	  "sync3@100 100 102 106 10a 300 ! off0@304" },
	{ "HTM, second taken", "mode=htm", SYNC_100 "84 40 25 17",
	  "sync3@100 100 102 106 10a 300 ! off0@304" },
	{ "BTM, none taken", "mode=btm", SYNC_100 "84 00 2B",
	  "sync3@100 100 102 106 10a 10e 110 ! off0@114" },
	{ "HTM, none taken", "mode=htm", SYNC_100 "84 40 29 13",
	  "sync3@100 100 102 106 10a 10e 110 ! off0@114" },
	/* The decoder does not get the mode. */
	{ "BTM", "", SYNC_100 "0C 0F 84 00 07", "sync3@100 100 102 200 ! off0@202" },
	{ "HTM", "", SYNC_100 "84 40 25 17", "sync3@100 100 102 106 10a 300 ! off0@304" },
	/* IndirectBranch, BTYPE 2, to a handler at 0x300 (U-ADDR 0x100). */
	{ "trap, nothing retired", "mode=btm", SYNC_100 "10 09 00 13", "sync3@100 trap2@300<100" },
	{ "trap after the first", "mode=btm", SYNC_100 "10 19 00 13",
	  "sync3@100 100 ! trap2@300<102" },
	{ "trap after 5 parcels", "mode=btm", SYNC_100 "10 59 00 13",
	  "sync3@100 100 102 106 ! trap2@300<10a" },
	{ "trap in the middle of 0x106", "mode=btm", SYNC_100 "10 49 00 13",
	  "sync3@100 100 102 E6@106 gap" },
	{ "trap in the middle of 0x10a", "mode=btm", SYNC_100 "10 69 00 13",
	  "sync3@100 100 102 E6@10a gap" },
	{ "trap in the middle of 0x110", "mode=btm", SYNC_100 "10 99 00 13",
	  "sync3@100 100 102 106 10a E6@110 gap" },
	/* HTM: a taken branch, a trap at its target, then the handler. */
	{ "trap at a branch target", "mode=htm", SYNC_100 "70 3D 00 11 0F 84 40 09 07",
	  "sync3@100 100 102 trap3@300<200 300 ! off0@304" },
	{ "the other BTYPE", "mode=htm", SYNC_100 "70 35 00 11 0F 84 40 09 07",
	  "sync3@100 100 102 trap1@300<200 300 ! off0@304" },
	{ "trap twice", "mode=htm", SYNC_100 "10 09 00 13 10 0D 00 0B 84 40 05 07",
	  "sync3@100 trap2@300<100 trap3@200<300 200 ! off0@202" },
	/* Unused input and contradictions. */
	{ "HIST bits left over", "mode=htm", SYNC_100 "84 40 0D 17",
	  "sync3@100 100 102 E8@106 gap off0@?" },
	{ "HIST 0", "mode=htm", SYNC_100 "84 40 11 03 0C 0F", "sync3@100 E8@100 gap off0@? gap" },
	{ "no HIST in HTM", "mode=htm", SYNC_100 "84 00 17",
	  "sync3@100 100 102 E9@102 gap off0@?" },
	{ "DirectBranch without a branch", "mode=btm", SYNC_100 "0C 07",
	  "sync3@100 100 ! E17@102 gap" },
	{ "messages before a sync", "", "0C 0F 0C 0F " SYNC_100 "84 00 07",
	  "gap sync3@100 100 ! off0@102" },
	{ "no memory", "", "24 0D 00 13 0C 0F 0C 0F " SYNC_100 "84 00 07",
	  "sync3@200 200 202 E4@204 gap sync3@100 100 ! off0@102" },
	{ "reserved code", "", SYNC_100 "0C 0F 26 03 0C 0F " SYNC_100 "84 00 07",
	  "sync3@100 100 102 E1@200 gap sync3@100 100 ! off0@102" },
	{ "Error, then a sync", "", SYNC_100 "0C 0F 20 13 24 1D 00 13 84 00 07",
	  "sync3@100 100 102 E3@200 gap sync7@200 200 ! off0@202" },
	{ "Error twice is one gap", "", SYNC_100 "20 03 20 03", "sync3@100 E3@100 gap E3@100" },
	{ "cut message", "", SYNC_100 "0C 0F 24 15", "sync3@100 100 102 E15@200 gap" },
	{ "unknown TCODEs, each warned of", "", SYNC_100 "FC 03 FC 03 0C 0F",
	  "sync3@100 W14@100 W14@100 100 102" },
	{ "reserved RCODE", "", SYNC_100 "6C 70 0F 0C 0F", "sync3@100 W14@100 100 102" },
	{ "truncated message", "", SYNC_100 "10 33 0C 0F", "sync3@100 E2@100 gap" },
	{ "an absurdly large I-CNT", "", SYNC_100 "0C FC x8 FF", "sync3@100 E20@100 gap" },
	/* Syncs in running code. */
	{ "periodic DirectBranchSync", "mode=btm", SYNC_100 "2C C9 00 13 84 00 07",
	  "sync3@100 100 102 sync2@200 200 ! off0@202" },
	{ "which contradicts the flow", "mode=btm", SYNC_100 "2C C9 00 1B 84 00 0B",
	  "sync3@100 100 102 E12@200 gap sync2@300 300 ! off0@304" },
	{ "DirectBranchSync after a branch that was not taken", "mode=btm",
	  SYNC_100 "2C C9 0C 0B 84 00 0B", "sync3@100 100 102 sync2@106 106 ! off0@10a" },
	{ "periodic on linear code", "mode=btm", SYNC_100 "30 08 05 04 0B 84 00 13",
	  "sync3@100 100 ! sync2@102 102 106 ! off0@10a" },
	{ "F-ADDR decides a last branch: taken", "mode=btm", SYNC_100 "24 C9 00 13",
	  "sync3@100 100 102 sync2@200" },
	{ "F-ADDR decides a last branch: not taken", "mode=btm", SYNC_100 "24 C9 0C 0B",
	  "sync3@100 100 102 sync2@106" },
	{ "F-ADDR decides a last branch: neither", "mode=btm", SYNC_100 "24 C9 00 1B",
	  "sync3@100 100 102 E12@106 gap sync2@300" },
	{ "HTM, sync with HIST", "mode=htm", SYNC_100 "74 08 0D 00 11 0F 84 40 05 07",
	  "sync3@100 100 102 sync2@200 200 ! off0@202" },
	{ "HTM, ProgTraceSync over a branch: no guess", "mode=htm",
	  SYNC_100 "24 48 05 28 0B 84 40 01 07",
	  "sync3@100 100 102 E9@102 gap sync2@114 off0@114" },
	{ "ownership", "", SYNC_100 "08 C8 3B 0C 0F", "sync3@100 own3b2 100 102" },
	{ "off and on again", "", SYNC_100 "84 10 07 24 15 00 13 84 00 07",
	  "sync3@100 100 ! off4@102 sync5@200 200 ! off0@202" },
	{ "off twice", "", SYNC_100 "84 00 07 84 10 03", "sync3@100 100 ! off0@102 off4@?" },
	{ "starts disabled", "", "84 10 03 24 15 00 13 84 00 07",
	  "off4@? sync5@200 200 ! off0@202" },
	{ "restart without an off", "", SYNC_100 "24 15 00 13 84 00 07",
	  "sync3@100 gap sync5@200 200 ! off0@202" },
	{ "reset", "", SYNC_100 "0C 0F 24 45 00 0B 84 00 07",
	  "sync3@100 100 102 200 ! sync1@100 100 ! off0@102" },
	{ "I-CNT full, then cut", "mode=btm", SYNC_100 "6C 40 07", "sync3@100 100 102 106 !" },
	{ "I-CNT full, then cut", "mode=htm", SYNC_100 "6C 40 07",
	  "sync3@100 100 102 E21@102 gap" },
	/* No message has shown the trace mode yet, so a later HIST may still decide the branch. */
	{ "I-CNT full, then cut", "", SYNC_100 "6C 40 07", "sync3@100 100 102 E21@102 gap" },
	{ "I-CNT full, beyond all reason, then cut", "", SYNC_100 "6C 40 FC x5 3F",
	  "sync3@100 E20@100 gap" },
	{ "I-CNT full, then cut after a branch", "", SYNC_100 "6C C0 03", "sync3@100 100 102" },
};

/* Example program B of N-Trace 1.0: I-CNT of 4 bits becomes full. */
static struct ntrace_space *program_b(void)
{
	struct ntrace_space *space = new_space("B");
	struct code code = { .start = 0x100 };

	put(&code, C_ADD);
	put_branch(&code, 0x200);
	for (unsigned int i = 0; i < 5; i++)
		put(&code, ADD);
	put(&code, C_ADD);
	put(&code, C_EBREAK);
	add_code(space, &code);
	return space;
}

/* The same example in rc7, with another program. */
static struct ntrace_space *program_b7(void)
{
	struct ntrace_space *space = new_space("B'");
	struct code code = { .start = 0x100 };

	put(&code, C_ADD);
	put_branch(&code, 0x200);
	put(&code, C_ADD);
	for (unsigned int i = 0; i < 5; i++)
		put(&code, ADD);
	put(&code, C_EBREAK);
	add_code(space, &code);
	return space;
}

#define PCS_B "100 102 106 10a 10e 112 116 11a ! off0@11c"

static const struct flow_case cases_b[] = {
	{ "HTM, I-CNT full", "mode=htm", SYNC_100 "6C 40 0B 84 40 15 0B", "sync3@100 " PCS_B },
	{ "BTM, sync as I-CNT full", "mode=btm", SYNC_100 "24 50 09 24 0B 84 00 17",
	  "sync3@100 100 102 106 10a 10e ! sync4@112 112 116 11a ! off0@11c" },
	{ "BTM, I-CNT full", "mode=btm", SYNC_100 "6C 40 0B 84 00 17", "sync3@100 " PCS_B },
};

static const struct flow_case cases_b7[] = {
	{ "rc7, sync with HIST as I-CNT full", "mode=htm,dialect=rc7",
	  SYNC_100 "74 10 21 20 09 0B 84 40 19 07",
	  "sync3@100 100 102 106 108 10c ! sync4@110 110 114 118 ! off0@11c" },
};

/* RepeatBranch of N-Trace 1.0: the same target again, not the same U-ADDR. */
static struct ntrace_space *program_repeat(void)
{
	struct ntrace_space *space = new_space("repeat");
	struct code at_1000 = { .start = 0x1000 }, at_2000 = { .start = 0x2000 };
	struct code at_3000 = { .start = 0x3000 }, loop = { .start = 0x4000 };

	put(&at_1000, JR_A0);
	put(&at_2000, JR_A0);
	put(&at_3000, ADD);
	put(&at_3000, C_ADD);
	put(&loop, C_ADD);
	put_branch(&loop, 0x4000);
	put(&loop, C_ADD);
	add_code(space, &at_1000);
	add_code(space, &at_2000);
	add_code(space, &at_3000);
	add_code(space, &loop);
	return space;
}

static const struct flow_case cases_repeat[] = {
	{ "indirect, target address semantics", "",
	  "24 15 00 83 10 21 00 80 07 78 0B 10 21 00 83 84 00 0B",
	  "sync5@1000 1000 2000 2000 2000 3000 ! off0@3004" },
	{ "indirect, the message is repeated", "repeat=message",
	  "24 15 00 83 10 21 00 80 07 78 0B 10 21 00 83 84 00 0B",
	  "sync5@1000 1000 2000 1000 2000 3000 ! off0@3004" },
	{ "behind a DirectBranchSync of rc7", "mode=btm,dialect=rc7",
	  "24 15 00 00 0B 2C C9 00 00 0B 78 0B 84 00 13",
	  "sync5@4000 4000 4002 sync2@4000 4000 4002 4000 4002 4000 4002 4006 ! off0@4008" },
	{ "direct", "mode=btm", "24 15 00 00 0B 0C 0F 78 0B 84 00 13",
	  "sync5@4000 4000 4002 4000 4002 4000 4002 4000 4002 4006 ! off0@4008" },
	{ "twice", "mode=btm", "24 15 00 00 0B 0C 0F 78 07 78 07 84 00 07",
	  "sync5@4000 4000 4002 4000 4002 4000 4002 4000 ! off0@4002" },
	{ "without a branch", "", "24 15 00 83 78 0B", "sync5@1000 E11@1000 gap" },
	{ "a ResourceFull between", "mode=btm", "24 15 00 00 0B 0C 0F 6C 40 0B 78 0B",
	  "sync5@4000 4000 4002 E11@4000 gap" },
	{ "more than the program has", "mode=btm",
	  "24 15 00 83 10 21 00 80 07 78 FC FC FC FC FC FC FF", "sync5@1000 1000 E20@2000 gap" },
};

/* A custom instruction: a plain one, or a jump unknown to the decoder. */
static struct ntrace_space *program_custom(void)
{
	struct ntrace_space *space = new_space("custom");
	struct code at_100 = { .start = 0x100 }, at_200 = { .start = 0x200 };
	struct code at_300 = { .start = 0x300 };

	put(&at_300, C_ADD);
	put(&at_300, 0xa00e);		/* cm.jt 3 */
	add_code(space, &at_300);
	put(&at_100, ADD);
	put(&at_100, CUSTOM);
	put(&at_100, C_ADD);
	put(&at_100, C_EBREAK);
	put(&at_200, C_ADD);
	put(&at_200, C_EBREAK);
	add_code(space, &at_100);
	add_code(space, &at_200);
	return space;
}

static const struct flow_case cases_custom[] = {
	{ "no jump", "", SYNC_100 "84 00 17", "sync3@100 100 104 108 ! off0@10a" },
	{ "jump, warned of", "", SYNC_100 "10 41 00 1B 84 00 07",
	  "sync3@100 W17@104 100 104 200 ! off0@202" },
	{ "no jump table", "isa=rv64imac_zcmt", "24 0D 00 1B 84 00 0B",
	  "sync3@300 300 E23@302 gap off0@?" },
	{ "ends at c.ebreak, retired or not", "", SYNC_100 "84 00 1B",
	  "sync3@100 100 104 108 10a ! off0@10c" },
};

int main(void)
{
	struct ntrace_space *a = program_a(), *b = program_b(), *b7 = program_b7();
	struct ntrace_space *repeat = program_repeat(), *custom = program_custom();

	RUN(cases_a, a);
	RUN(cases_b, b);
	RUN(cases_b7, b7);
	RUN(cases_repeat, repeat);
	RUN(cases_custom, custom);
	ntrace_space_put(a);
	ntrace_space_put(b);
	ntrace_space_put(b7);
	ntrace_space_put(repeat);
	ntrace_space_put(custom);
	return done_testing();
}
