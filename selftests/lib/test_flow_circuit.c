// SPDX-License-Identifier: GPL-2.0-only
/*
 * InCircuitTrace and DataAcquisition of pre-ratification SiFive encoders inside program flow:
 * addresses count from those of program trace and vice versa, and the flow is otherwise unchanged.
 * Each stream is decoded block by block and in batches.
 */
#include "blocks_match.h"
#include "stream_text.h"
#include "test_flow.h"

static struct flow_log flow_log;

#define V0 "dialect=sifive-v0"

struct circuit_case {
	const char *what;
	const char *params;
	const char *stream;
	const char *flow;
};

static void check_cases(struct ntrace_space *space, const struct circuit_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ntrace_flow_config config = { .size = sizeof(config),
						     .params = params_at(cases[i].params) };
		uint8_t data[2048];
		size_t size = stream_of(cases[i].stream, config.params, data, sizeof(data) / 2);
		const char *mismatch;

		is_str(flow_bytes(&flow_log, config.params, data, size, space), cases[i].flow, "%s",
		       cases[i].what);
		/* The second walk of the same blocks uses the fast walk. */
		memcpy(data + size, data, size);
		config.space = space;
		mismatch = blocks_mismatch(&config, data, 2 * size, NULL);
		ok(!mismatch, "%s, in batches: %s", cases[i].what,
		   mismatch ? mismatch : "the same");
	}
}

#define CHECK_CASES(space, cases) check_cases(space, cases, sizeof(cases) / sizeof(cases[0]))

/*
 * 1000 c.add; 1002 c.add; 1004 b 1100; 1008 c.add; 100a c.jr a0
 * 1100 c.add; 1102 c.jr a0
 * 1200 jal ra, 1300; 1204 c.jr a0
 * 1300 c.ret
 */
static struct ntrace_space *program(void)
{
	static const struct {
		uint64_t start;
		unsigned int what;
	} parts[] = { { 0x1000, 0 }, { 0x1100, 1 }, { 0x1200, 2 }, { 0x1300, 3 } };
	struct ntrace_space *space = new_space("program");

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct code code = { .start = parts[i].start };

		if (parts[i].what == 0) {
			put(&code, C_ADD);
			put(&code, C_ADD);
			put_branch(&code, 0x1100);
		}
		if (parts[i].what < 2)
			put(&code, C_ADD);
		if (parts[i].what == 2)
			put_jal(&code, 1, 0x1300);
		put(&code, parts[i].what == 3 ? C_RET : C_JR_A0);
		add_code(space, &code);
	}
	return space;
}

#define SYNC(address) "ProgTraceSync SYNC=5 ICNT=0 FADDR=" #address ">>1;"
/* Differences relate to the last address sent. */
#define SAMPLE(difference) "InCircuitTrace CKSRC=15 CKDF=0 CKDATA0=" #difference ">>1;"
#define PC_SAMPLE(address) "ProgTraceSync SYNC=15 ICNT=0 FADDR=" #address ">>1;"
#define SAMPLE_AT(address) "InCircuitTraceWS CKSRC=15 CKDF=0 CKDATA0=" #address ">>1;"
#define STORE "DataAcquisition IDTAG=13 DQDATA=7;"
#define JUMP(icnt, difference) "IndirectBranch BTYPE=0 ICNT=" #icnt " UADDR=" #difference ">>1;"
#define END(icnt) "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=" #icnt ";"

static void test_reference(void)
{
	static const struct circuit_case cases[] = {
		{ "a sample counts from a sync", V0, SYNC(0x1000) SAMPLE(0x2),
		  "sync5@1000 circuit15@1002" },
		{ "and from the sample before it", V0, SYNC(0x1000) SAMPLE(0x2) SAMPLE(0x6),
		  "sync5@1000 circuit15@1002 circuit15@1004" },
		{ "a branch counts from a sample", V0,
		  SYNC(0x1100) SAMPLE(0x2) JUMP(2, 0x102) END(1),
		  "sync5@1100 circuit15@1102 1100 1102 1000 ! off4@1002" },
		{ "a sample counts from a branch", V0, SYNC(0x1100) JUMP(2, 0x100) SAMPLE(0x4),
		  "sync5@1100 1100 1102 circuit15@1004" },
		{ "a sample with sync is no difference", V0,
		  SYNC(0x1100) SAMPLE_AT(0x1102) JUMP(2, 0x102) END(1),
		  "sync5@1100 circuit15@1102 1100 1102 1000 ! off4@1002" },
		{ "a message without an address keeps the reference", V0,
		  SYNC(0x1100) "InCircuitTrace CKSRC=0 CKDF=0 CKDATA0=0x3;"
			       "InCircuitTraceWS CKSRC=12 CKDF=0 CKDATA0=0x20001;" STORE JUMP(
				       2, 0x100) END(1),
		  "sync5@1100 circuit0=3 circuit12=20001 datad=7 1100 1102 1000 ! off4@1002" },
		{ "the destination of a call is the next reference", V0,
		  SYNC(0x1100) "InCircuitTrace CKSRC=9 CKDF=1 CKDATA0=0x2>>1 "
			       "CKDATA1=0x202>>1;" JUMP(2, 0x300) END(1),
		  "sync5@1100 circuit9@1102=1300 1100 1102 1000 ! off4@1002" },
		{ "an inferable call is its own", V0,
		  SYNC(0x1100) "InCircuitTrace CKSRC=9 CKDF=0 CKDATA0=0x2>>1;" JUMP(2, 0x102)
			  END(1),
		  "sync5@1100 circuit9@1102 1100 1102 1000 ! off4@1002" },
		{ "trigger, watchpoint and control with address", V0,
		  SYNC(0x1100) "InCircuitTrace CKSRC=8 CKDF=0 CKDATA0=0x2>>1;"
			       "InCircuitTrace CKSRC=14 CKDF=1 CKDATA0=0x4>>1 CKDATA1=3;"
			       "InCircuitTrace CKSRC=0 CKDF=1 CKDATA0=0x8>>1 CKDATA1=9;",
		  "sync5@1100 circuit8@1102 circuit14@1106=3 circuit0@110e=9" },
		{ "addrbits", V0 ",addrbits=48",
		  "InCircuitTraceWS CKSRC=15 CKDF=0 CKDATA0=0x1ffff80bb1884>>1;" SAMPLE(0x8),
		  "circuit15@ffffffff80bb1884 circuit15@ffffffff80bb188c" },
	};
	struct ntrace_space *space = program();

	CHECK_CASES(space, cases);
	ntrace_space_put(space);
}

static void test_beside_flow(void)
{
	static const struct circuit_case cases[] = {
		{ "without program flow", V0, SAMPLE(0x4) SAMPLE_AT(0x1000) SAMPLE(0x4) STORE,
		  "circuit15 circuit15@1000 circuit15@1004 datad=7" },
		{ "a sample starts no flow", V0, SAMPLE_AT(0x1100) JUMP(2, 0x100) SAMPLE(0x4),
		  "circuit15@1100 gap circuit15@1004" },
		{ "nor ends a gap", V0,
		  SYNC(0x1100) "Error ETYPE=0 ECODE=4;" SAMPLE(0x2) SAMPLE_AT(0x1100) JUMP(2, 0x100)
			  SAMPLE(0x4) SYNC(0x1100) JUMP(2, 0x100),
		  "sync5@1100 E3@1100 gap circuit15 circuit15@1100 circuit15@1004 sync5@1100 1100 "
		  "1102" },
		{ "nor a pause", V0, SYNC(0x1000) END(1) SAMPLE(0x4) JUMP(2, 0x100),
		  "sync5@1000 1000 ! off4@1002 circuit15@1004 gap" },
		{ "nor makes Ownership known", V0, SAMPLE_AT(0x1100) "Ownership PROCESS=0x22;",
		  "circuit15@1100" },
		{ "counted parcels continue", V0,
		  SYNC(0x1100) "ResourceFull RCODE=0 ICNT=1;" SAMPLE(0x2) STORE JUMP(1, 0x102)
			  END(1),
		  "sync5@1100 circuit15@1102 datad=7 1100 1102 1000 ! off4@1002" },
		{ "history continues", V0,
		  SYNC(0x1000) "ResourceFull RCODE=1 HIST=2;" SAMPLE(0x2) STORE
		  "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x102>>1 HIST=1;",
		  "sync5@1000 ( 1000 1002 1004 ) circuit15@1002 datad=7 1008 100a" },
		{ "the return stack stays", V0,
		  SYNC(0x1200) "ResourceFull RCODE=0 ICNT=2;" SAMPLE(0x100) STORE
		  "InCircuitTrace CKSRC=9 CKDF=0 CKDATA0=0;" END(1),
		  "sync5@1200 circuit15@1300 datad=7 circuit9@1300 1200 1300 off4@1204" },
		{ "a branch is repeated beyond them", V0,
		  SYNC(0x1100) JUMP(2, 0x000) SAMPLE(0x2) STORE "RepeatBranch BCNT=2;",
		  "sync5@1100 1100 1102 circuit15@1102 datad=7 1100 1102 1100 1102" },
		{ "Ownership after them still belongs to the sync", V0,
		  SYNC(0x1100) "Ownership PROCESS=0x22;" SYNC(0x1100)
			  STORE SAMPLE(0x2) "Ownership PROCESS=0x4;",
		  "sync5@1100 own22 sync5@1100 datad=7 circuit15@1102 own4" },
		{ "in other dialects InCircuitTrace is unknown", "",
		  SYNC(0x1100) "[88 3C 07];[1C 05 07];[88 3C 07];" JUMP(2, 0x100),
		  "sync5@1100 W14@1100 data1=1 W14@1100 1100 1102" },
		{ "data trace changes nothing", "",
		  SYNC(0x1100) "DataWrite DSZ=2 DADDR=0x8 DATA=7;" JUMP(
			  2, 0x000) "DataReadSync DSZ=3 DADDR=0x8 DATA=7; RepeatBranch BCNT=2;",
		  "sync5@1100 1100 1102 1100 1102 1100 1102" },
		{ "nor does it delay Ownership of a sync", "",
		  SYNC(0x1100) "DataWrite DSZ=2 DADDR=0x8 DATA=7;"
			       "Ownership PROCESS=0x4;",
		  "sync5@1100 own4" },
		{ "syncs that sample the PC, without program flow", V0,
		  PC_SAMPLE(0x1000) PC_SAMPLE(0x1204) SAMPLE(0x6),
		  "circuit15@1000 circuit15@1204 circuit15@1202" },
		{ "and within it", V0,
		  SYNC(0x1100) "ProgTraceSync SYNC=15 ICNT=1 FADDR=0x1102>>1;" JUMP(1, 0x102)
			  END(1),
		  "sync5@1100 1100 ! sync15@1102 circuit15@1102 1102 1000 ! off4@1002" },
		{ "of others they are syncs", "", PC_SAMPLE(0x1100) JUMP(2, 0x100) END(1),
		  "sync15@1100 1100 1102 1000 ! off4@1002" },
	};
	struct ntrace_space *space = program();

	CHECK_CASES(space, cases);
	ntrace_space_put(space);
}

/* A lost address would make all later relative addresses wrong; a lost store is only one store. */
static void test_damaged(void)
{
	static const struct circuit_case cases[] = {
		{ "InCircuitTrace without bits of CKDATA0", V0, SYNC(0x1100) "[88 3F];" SAMPLE(0x2),
		  "sync5@1100 circuit15@1100 circuit15@1102" },
		{ "without CKDATA1", V0, SYNC(0x1100) "[88 78 2B];" SAMPLE(0x2),
		  "sync5@1100 E2@1100 gap circuit15" },
		{ "an address of more than 64 bits", V0, SYNC(0x1100) "[88 3C 00 x12 07];",
		  "sync5@1100 E2@1100 gap" },
		{ "more than four counters", V0,
		  SYNC(0x1100) "[88 30 08 00 x12 07];" JUMP(2, 0x100),
		  "sync5@1100 W2@1100 circuit12=2 1100 1102" },
		{ "a store without DQDATA", V0, SYNC(0x1100) "[1C 3F];" JUMP(2, 0x100),
		  "sync5@1100 W2@1100 1100 1102" },
		{ "a store of more than 64 bits", V0,
		  SYNC(0x1100) "[1C 35 08 00 x12 07];" JUMP(2, 0x100),
		  "sync5@1100 W2@1100 datad=2 1100 1102" },
		{ "a reason with unknown fields", V0,
		  SYNC(0x1100) "InCircuitTrace CKSRC=10 CKDF=1 CKDATA0=1 CKDATA1=5;",
		  "sync5@1100 circuit10@1102=5" },
	};
	struct ntrace_space *space = program();

	CHECK_CASES(space, cases);
	ntrace_space_put(space);
}

struct lines {
	char text[4096];
	uint64_t times[8];
	unsigned int count;
};

static int take_line(void *data, const struct ntrace_flow_event *event)
{
	struct lines *lines = data;
	size_t used = strlen(lines->text);

	ntrace_flow_describe(event, lines->text + used, sizeof(lines->text) - used - 1);
	strcat(lines->text, "\n");
	if (lines->count < 8)
		lines->times[lines->count++] = event->time_known ? event->time : 0;
	return 0;
}

/* Texts, times, and several harts with a demux. */
static void test_texts(void)
{
	static struct lines lines;
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(V0 ",srcbits=2,tsbits=40"),
					     .event = take_line,
					     .data = &lines };
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_demux *demux;
	uint8_t data[512];

	ntrace_reader_init(&reader, config.params, true);
	ntrace_reader_feed(&reader, data,
			   stream_of("InCircuitTraceWS SRC=1 CKSRC=9 CKDF=1 CKDATA0=0x1000>>1 "
				     "CKDATA1=0x300>>1 TSTAMP=0x100;"
				     "InCircuitTrace SRC=2 CKSRC=14 CKDF=1 CKDATA0=3 CKDATA1=4;"
				     "InCircuitTrace SRC=1 CKSRC=15 CKDF=0 CKDATA0=1 TSTAMP=0x5;"
				     "DataAcquisition SRC=1 IDTAG=13 DQDATA=0x41 TSTAMP=0x2;"
				     "InCircuitTrace SRC=1 CKSRC=0 CKDF=0 CKDATA0=3;"
				     "InCircuitTrace SRC=1 CKSRC=12 CKDF=0 CKDATA0=0x10002;"
				     "InCircuitTrace SRC=1 CKSRC=13 CKDF=1 CKDATA0=0 CKDATA1=7;",
				     config.params, data, sizeof(data)));
	if (ntrace_demux_new(&demux, &config, 4)) {
		ok(false, "a demux");
		return;
	}
	while (ntrace_reader_next(&reader, &message) == NTRACE_WIRE_MESSAGE)
		ntrace_demux_message(demux, &message);
	ntrace_demux_free(demux);
	is_str(lines.text,
	       "circuit: call (CKSRC 9), to 0x1300, offset 0x0, SRC 1, PC 0x1000, time 256\n"
	       "circuit: watchpoint (CKSRC 14), trigger 4, offset 0x9, SRC 2\n"
	       "circuit: PC sample (CKSRC 15), offset 0xd, SRC 1, PC 0x1302, time 261\n"
	       "data: channel 3, 0x41 (IDTAG 0xd), offset 0x11, SRC 1, time 263\n"
	       "circuit: control (CKSRC 0) 0x3, offset 0x16, SRC 1, time 263\n"
	       "circuit: compressed PC counters (CKSRC 12), counters 0x10002, offset 0x19, "
	       "SRC 1, time 263\n"
	       "circuit: context (CKSRC 13), data 0x7, offset 0x1f, SRC 1, PC 0x1302, time 263\n",
	       "text of each kind, with the hart that sent it");
	is_u64(lines.times[3], (0x100 ^ 0x5) ^ 0x2, "times are absolute with sync, else XORed");
	is_str(ntrace_flow_type_name(NTRACE_FLOW_CIRCUIT), "circuit", "type name");
	is_str(ntrace_flow_type_name(NTRACE_FLOW_DATA), "data", "type name");
}

/* The id that software stored stays in force, whatever comes, until the next one. */
static void test_owner(void)
{
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(V0),
					     .event = log_event,
					     .data = &flow_log };
	struct ntrace_flow *flow;
	uint8_t data[256];
	size_t size = stream_of(SYNC(0x1100) "Ownership PROCESS=0x4;"
					     "Ownership PROCESS=0x22;" SYNC(0x1100)
						     STORE SAMPLE(0x2),
				config.params, data, sizeof(data));

	config.space = program();
	if (ntrace_flow_new(&flow, &config)) {
		ok(false, "a flow");
		return;
	}
	feed_flow(flow, config.params, data, size, size, true);
	ok(ntrace_flow_context(flow)->scontext_known &&
		   ntrace_flow_context(flow)->scontext == 0x22 &&
		   !ntrace_flow_context(flow)->prv_known,
	   "the last id stays after a sync, a store and a sample");
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
}

static void test_stores(void)
{
	static const struct {
		uint64_t idtag;
		uint64_t data;
		unsigned int count;
		uint8_t bytes[4];
	} cases[] = {
		{ 0x0c, 0x64636261, 4, "abcd" }, { 0x0e, 0x6261, 2, "ab" },
		{ 0x0f, 0x61, 1, "a" },		 { 0x00, 0, 4, { 0 } },
		{ 0x0d, 0x61, 0, { 0 } },	 { 0x0f, 0x100, 0, { 0 } },
		{ 0x0e, 0x10000, 0, { 0 } },	 { 0x0c, UINT64_C(0x100000000), 0, { 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ntrace_flow_event event = { .type = NTRACE_FLOW_DATA,
							 .address = cases[i].idtag,
							 .value = cases[i].data };
		uint8_t bytes[4] = { 0 };

		is_u64(ntrace_flow_data_bytes(&event, bytes), cases[i].count,
		       "IDTAG 0x%" PRIx64 ", DQDATA 0x%" PRIx64, cases[i].idtag, cases[i].data);
		ok(!memcmp(bytes, cases[i].bytes, 4), "its bytes");
	}
}

int main(void)
{
	test_reference();
	test_beside_flow();
	test_damaged();
	test_texts();
	test_owner();
	test_stores();
	return done_testing();
}
