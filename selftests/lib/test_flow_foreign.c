// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peculiarities of streams from other encoders, and gaps in their images: observed streams, and the
 * position of Ownership among counted parcels. Each stream is decoded block by block and in
 * batches: both must report the same.
 */
#include "blocks_match.h"
#include "stream_text.h"
#include "test_flow.h"

static struct flow_log flow_log;

struct foreign_case {
	const char *what;
	const char *params;
	const char *stream;
	const char *flow;
};

/* The second copy of the bytes walks the same blocks again, with the fast walk. */
static void check_cases(struct ntrace_space *space, const struct foreign_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ntrace_flow_config config = { .size = sizeof(config),
						     .params = params_at(cases[i].params) };
		uint8_t data[2048];
		size_t size = stream_of(cases[i].stream, config.params, data, sizeof(data) / 2);
		const char *mismatch;

		is_str(flow_bytes(&flow_log, config.params, data, size, space), cases[i].flow, "%s",
		       cases[i].what);
		memcpy(data + size, data, size);
		config.space = space;
		mismatch = blocks_mismatch(&config, data, 2 * size, NULL);
		ok(!mismatch, "%s, in batches: %s", cases[i].what,
		   mismatch ? mismatch : "the same");
	}
}

#define CHECK_CASES(space, cases) check_cases(space, cases, sizeof(cases) / sizeof(cases[0]))

/*
 * 1000 c.add; 1002 c.add, and no code after it 2000 c.add; 2002 an illegal instruction; 2004 c.add
 * 1800 b 1000; 3004 c.jr
 */
static struct ntrace_space *holes(void)
{
	struct ntrace_space *space = new_space("holes");
	struct code first = { .start = 0x1000 }, second = { .start = 0x2000 },
		    third = { .start = 0x1800 };

	put(&first, C_ADD);
	put(&first, C_ADD);
	add_code(space, &first);
	put(&second, C_ADD);
	put(&second, 0);
	put(&second, C_ADD);
	add_code(space, &second);
	put_branch(&third, 0x1000);
	put(&third, C_JR_A0);
	add_code(space, &third);
	return space;
}

#define SYNC(address) "ProgTraceSync SYNC=5 ICNT=0 FADDR=" #address ">>1;"

/* N-Trace 1.0, "decoding": the walk stops at unknown memory, each time it gets there. */
static void test_holes(void)
{
	static const struct foreign_case cases[] = {
		{ "up to the unmapped code", "",
		  SYNC(0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2;" SYNC(
			  0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2;",
		  "sync5@1000 1000 1002 ! off0@1004 sync5@1000 1000 1002 ! off0@1004" },
		{ "into the unmapped code", "",
		  SYNC(0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=3;" SYNC(
			  0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1000;",
		  "sync5@1000 1000 1002 E4@1004 gap off0@? "
		  "sync5@1000 1000 1002 E4@1004 gap off0@?" },
		{ "up to a part of it", "",
		  SYNC(0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1;" SYNC(
			  0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2;",
		  "sync5@1000 1000 ! off0@1002 sync5@1000 1000 1002 ! off0@1004" },
		{ "into illegal code", "",
		  SYNC(0x2000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=5;" SYNC(
			  0x2000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=5;",
		  "sync5@2000 2000 E5@2002 gap off0@? sync5@2000 2000 E5@2002 gap off0@?" },
		{ "a branch to the unmapped code", "mode=htm",
		  SYNC(0x1800) "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=7 HIST=3;" SYNC(
			  0x1800) "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=7 HIST=3;",
		  "sync5@1800 1800 1000 1002 E4@1004 gap off0@? "
		  "sync5@1800 1800 1000 1002 E4@1004 gap off0@?" },
		{ "history that leads into it", "mode=htm",
		  SYNC(0x1800) "ResourceFull RCODE=1 HIST=7;" SYNC(
			  0x1800) "ResourceFull RCODE=1 HIST=7;",
		  "sync5@1800 ( 1800 ) ( 1000 1002 ) E4@1004 gap "
		  "sync5@1800 ( 1800 ) ( 1000 1002 ) E4@1004 gap" },
	};
	struct ntrace_space *space = holes();

	CHECK_CASES(space, cases);
	ntrace_space_put(space);
}

/*
 * 1000 c.add; 1002 b 1100; 1006 c.add; 1008 b 1100; 100c c.add; 100e c.jr a0
 * 1100 c.add; 1102 c.jr a0
 */
static struct ntrace_space *branches(void)
{
	struct ntrace_space *space = new_space("branches");
	struct code code = { .start = 0x1000 }, other = { .start = 0x1100 };

	put(&code, C_ADD);
	put_branch(&code, 0x1100);
	put(&code, C_ADD);
	put_branch(&code, 0x1100);
	put(&code, C_ADD);
	put(&code, C_JR_A0);
	add_code(space, &code);
	put(&other, C_ADD);
	put(&other, C_JR_A0);
	add_code(space, &other);
	return space;
}

#define TO_1100 "UADDR=0x100>>1 "
#define END_1 "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1;"

/*
 * HIST that ends inside an I-CNT: the flow is known up to and including the branch without a bit.
 */
static void test_short_history(void)
{
	static const struct foreign_case cases[] = {
		{ "continues at the address that the message reports", "",
		  SYNC(0x1000) "IndirectBranchHist BTYPE=0 ICNT=8 " TO_1100 "HIST=2;" END_1,
		  "sync5@1000 1000 1002 1006 1008 E9@1008 gap 1100 ! off0@1102" },
		{ "with a trap", "",
		  SYNC(0x1000) "IndirectBranchHist BTYPE=2 ICNT=7 " TO_1100 "HIST=2;" END_1,
		  "sync5@1000 1000 1002 1006 1008 E9@1008 gap trap2@1100<? 1100 ! off0@1102" },
		{ "at the address of a sync", "",
		  SYNC(0x1000) "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=8 FADDR=0x1100>>1 "
			       "HIST=2;" END_1,
		  "sync5@1000 1000 1002 1006 1008 E9@1008 gap sync2@1100 1100 ! off0@1102" },
		{ "at the address of a later message", "",
		  SYNC(0x1000) "ResourceFull RCODE=1 HIST=2; ResourceFull RCODE=0 ICNT=7;"
			       "IndirectBranch BTYPE=0 ICNT=2 " TO_1100 ";" END_1,
		  "sync5@1000 ( 1000 1002 ) 1006 1008 E9@1008 gap 1100 ! off0@1102" },
		{ "not at an end", "",
		  SYNC(0x1000) "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=8 HIST=2;",
		  "sync5@1000 1000 1002 1006 1008 E9@1008 gap off0@?" },
		{ "nor at a direct branch", "mode=htm",
		  SYNC(0x1000) "DirectBranch ICNT=8;" END_1 SYNC(0x1100) END_1,
		  "sync5@1000 1000 1002 E9@1002 gap off0@? sync5@1100 1100 ! off0@1102" },
		{ "in BTM it was not taken", "mode=btm",
		  SYNC(0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=7;",
		  "sync5@1000 1000 1002 1006 1008 100c ! off0@100e" },
	};
	struct ntrace_space *space = branches();

	CHECK_CASES(space, cases);
	ntrace_space_put(space);
}

#define SYNC_ON(address) "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=3 FADDR=" #address ">>1 "

/* A sync on a direct branch whose HIST bit the encoder leaves out: F-ADDR decides. */
static void test_sync_on_branch(void)
{
	static const struct foreign_case cases[] = {
		{ "taken", "", SYNC(0x1000) SYNC_ON(0x1100) "HIST=1;" END_1,
		  "sync5@1000 1000 1002 sync2@1100 1100 ! off0@1102" },
		{ "not taken", "", SYNC(0x1000) SYNC_ON(0x1006) "HIST=1;" END_1,
		  "sync5@1000 1000 1002 sync2@1006 1006 ! off0@1008" },
		{ "neither", "", SYNC(0x1000) SYNC_ON(0x1102) "HIST=1;",
		  "sync5@1000 1000 1002 E12@1006 gap sync2@1102" },
		{ "with its bit", "", SYNC(0x1000) SYNC_ON(0x1100) "HIST=3;" END_1,
		  "sync5@1000 1000 1002 sync2@1100 1100 ! off0@1102" },
		{ "a bit that contradicts it", "", SYNC(0x1000) SYNC_ON(0x1100) "HIST=2;",
		  "sync5@1000 1000 1002 E12@1006 gap sync2@1100" },
		{ "an IndirectBranch likewise", "mode=htm",
		  SYNC(0x1000) "IndirectBranch BTYPE=0 ICNT=3 " TO_1100 ";" END_1,
		  "sync5@1000 1000 1002 1100 ! off0@1102" },
		{ "with another target", "mode=htm",
		  SYNC(0x1000) "IndirectBranch BTYPE=0 ICNT=3 UADDR=0x10e>>1;" END_1,
		  "sync5@1000 W17@1002 1000 1002 E4@110e gap off0@?" },
	};
	struct ntrace_space *space = branches();

	CHECK_CASES(space, cases);
	ntrace_space_put(space);
}

#define OWNER(number) "Ownership PROCESS=" #number ";"
#define FULL(icnt) "ResourceFull RCODE=0 ICNT=" #icnt ";"

/* Parcels counted by ResourceFull before an Ownership message belong to the earlier owner. */
static void test_owner_of_counted(void)
{
	static const struct foreign_case cases[] = {
		/* PROCESS 0x22 is scontext 1, 0x42 scontext 2, 0x23 hcontext 1. */
		{ "the owner is known at once", "",
		  SYNC(0x1000) OWNER(0x22) FULL(3) "DirectBranch ICNT=0;",
		  "sync5@1000 own22 1000 1002" },
		{ "BTM: counted, not walked", "mode=btm",
		  SYNC(0x1000) FULL(3) OWNER(0x22) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1;",
		  "sync5@1000 1000 1002 own22 1006 ! off0@1008" },
		{ "inside a block", "mode=btm",
		  SYNC(0x1000) FULL(1) OWNER(0x22) "DirectBranch ICNT=2;" END_1,
		  "sync5@1000 1000 ! own22 1002 1100 ! off0@1102" },
		{ "inside an instruction that the earlier owner has begun", "mode=btm",
		  SYNC(0x1000) FULL(2) OWNER(0x22) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2;",
		  "sync5@1000 1000 1002 own22 1006 ! off0@1008" },
		{ "inside the last one", "mode=btm",
		  SYNC(0x1000) FULL(2) OWNER(0x22) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0;",
		  "sync5@1000 E6@1002 gap off0@?" },
		{ "HTM: history comes later", "",
		  SYNC(0x1000) FULL(4)
			  OWNER(0x22) "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=4;",
		  "sync5@1000 1000 1002 1006 ! own22 1008 off0@100c" },
		{ "history that continues after it", "",
		  SYNC(0x1000) FULL(4) OWNER(0x22) "ResourceFull RCODE=1 HIST=4;"
						   "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=3;",
		  "sync5@1000 ( 1000 1002 ) ( 1006 ) ! own22 ( 1008 ) 100c ! off0@100e" },
		{ "two Ownerships, each at its place", "mode=btm",
		  SYNC(0x1000) FULL(1) OWNER(0x23) OWNER(0x22) FULL(2)
			  OWNER(0x42) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1;",
		  "sync5@1000 1000 ! own23 own22 1002 own42 1006 ! off0@1008" },
		{ "before the target of a jump", "mode=btm",
		  SYNC(0x1100) FULL(2) OWNER(0x22) "IndirectBranch BTYPE=0 ICNT=0 " TO_1100
						   ";" END_1,
		  "sync5@1100 1100 1102 own22 1000 ! off0@1002" },
		{ "before a trap", "mode=btm",
		  SYNC(0x1000) FULL(3) OWNER(0x22) "IndirectBranch BTYPE=2 ICNT=0 " TO_1100
						   ";" END_1,
		  "sync5@1000 1000 1002 own22 trap2@1100<1006 1100 ! off0@1102" },
		{ "where the code is unknown", "mode=btm",
		  SYNC(0x1102) FULL(9) OWNER(0x22) "IndirectBranch BTYPE=2 ICNT=0 " TO_1100 ";",
		  "sync5@1102 E7@1102 gap" },
		{ "at the end of the stream", "", SYNC(0x1000) FULL(4) OWNER(0x22),
		  "sync5@1000 1000 1002 E21@1002 gap" },
		{ "before a sync", "mode=btm",
		  SYNC(0x1000) FULL(3) OWNER(0x22) "ProgTraceSync SYNC=2 ICNT=0 FADDR=0x1006>>1;",
		  "sync5@1000 1000 1002 own22 sync2@1006" },
		{ "forgotten at a sync that begins anew, but not for the code before it",
		  "mode=btm",
		  SYNC(0x1000) OWNER(0x22) "ProgTraceSync SYNC=5 ICNT=3 FADDR=0x1100>>1;",
		  "sync5@1000 own22 1000 1002 gap sync5@1100" },
		{ "lost with the stream", "mode=btm",
		  SYNC(0x1000) FULL(3) OWNER(0x22) "Error ETYPE=0 ECODE=0;" SYNC(0x1100),
		  "sync5@1000 E3@1000 gap sync5@1100" },
	};
	struct ntrace_space *space = branches();

	CHECK_CASES(space, cases);
	ntrace_space_put(space);
}

int main(void)
{
	test_owner_of_counted();
	test_holes();
	test_short_history();
	test_sync_on_branch();
	return done_testing();
}
