// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the streams of other people's encoders ask of the flow, and what their images lack
 * (digest, "Streams that others make" and "Position of Ownership among counted parcels").
 * Each stream is decoded block by block and in batches: both must tell the same.
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

/* The same bytes twice are the second walk of the same blocks, which is the fast one. */
static void check_cases(struct ntrace_space *space, const struct foreign_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ntrace_flow_config config = { .size = sizeof(config),
						     .params = params_of(cases[i].params) };
		uint8_t data[2048];
		size_t size = stream_of(cases[i].stream, &config.params, data, sizeof(data) / 2);
		const char *mismatch;

		is_str(flow_bytes(&flow_log, &config.params, data, size, space), cases[i].flow,
		       "%s", cases[i].what);
		memcpy(data + size, data, size);
		config.space = space;
		mismatch = blocks_mismatch(&config, data, 2 * size, NULL);
		ok(!mismatch, "%s, in batches: %s", cases[i].what,
		   mismatch ? mismatch : "the same");
	}
}

#define CHECK_CASES(space, cases) check_cases(space, cases, sizeof(cases) / sizeof(cases[0]))

/*
 * 1000 c.add; 1002 c.add, and nothing behind it
 * 2000 c.add; 2002 an illegal instruction; 2004 c.add
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

/* Section 7: the walk stops at memory that nobody knows, however often it comes there. */
static void test_holes(void)
{
	static const struct foreign_case cases[] = {
		{ "up to the hole", "",
		  SYNC(0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2;" SYNC(
			  0x1000) "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2;",
		  "sync5@1000 1000 1002 ! off0@1004 sync5@1000 1000 1002 ! off0@1004" },
		{ "into the hole", "",
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
		{ "a branch to the hole", "mode=htm",
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

int main(void)
{
	test_holes();
	return done_testing();
}
