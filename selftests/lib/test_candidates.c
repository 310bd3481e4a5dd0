// SPDX-License-Identifier: GPL-2.0-only
/* Sets of parameters from the scores of a stream: dialect, mode, figures, open questions. */
#include <stdlib.h>

#include "detect/candidates.h"
#include "stream_text.h"
#include "tap.h"

static uint8_t data[1 << 12];
static struct judged judged;
static struct candidates candidates;
static struct ntrace_detect_config config;
static struct ntrace_params known;

#define FAR (16 * 5000)

/* A stream in which only the width 0 of SRC is likely. */
static void start(const char *text)
{
	const struct ntrace_params params = params_of("");

	memset(&judged, 0, sizeof(judged));
	judged.stream.data = data;
	judged.stream.size = stream_of(text, &params, data, sizeof(data));
	for (unsigned int i = 1; i <= NTRACE_SRC_BITS_MAX; i++)
		judged.score[i].cost = FAR;
	ntrace_params_init(&known);
	ntrace_detect_config_init(&config);
	config.data = data;
	config.bytes = judged.stream.size;
	config.params = &known;
	config.xlen_known = true;
}

#define SYNC(address) "ProgTraceSync SYNC=5 ICNT=0 FADDR=" #address ";"
#define WIDE SYNC(0x4000001000) SYNC(0x4000002000) SYNC(0x4000003000)

static const struct ntrace_detect_candidate *make(void)
{
	candidates.count = 0;
	if (!ok(!candidates_make(&config, &judged, &candidates) && candidates.count, "candidates"))
		exit(done_testing());
	return candidates.candidate;
}

static void test_dialect(void)
{
	enum {
		RATIFIED = NTRACE_DIALECT_RATIFIED,
		V0 = NTRACE_DIALECT_SIFIVE_V0,
		RC7 = NTRACE_DIALECT_RC7
	};
	static const struct {
		const char *what;
		struct detect_score score;
		unsigned int dialect;
		bool open;
	} cases[] = {
		{ "no message of another dialect",
		  { .messages = 100, .syncs = 10 },
		  RATIFIED,
		  false },
		{ "two messages of SiFive", { .messages = 1000, .sifive = 2 }, V0, false },
		{ "one of SiFive in few", { .messages = 49, .sifive = 1 }, V0, false },
		{ "one of SiFive in many", { .messages = 50, .sifive = 1 }, RATIFIED, true },
		{ "several of SiFive in a damaged stream",
		  { .messages = 50, .sifive = 5, .extra = 1 },
		  RATIFIED,
		  true },
		{ "many of SiFive in a damaged stream",
		  { .messages = 50, .sifive = 6, .extra = 1 },
		  V0,
		  false },
		{ "with a truncated message",
		  { .messages = 50, .sifive = 5, .truncated = 1 },
		  RATIFIED,
		  true },
		{ "with an error of the wire",
		  { .messages = 50, .sifive = 5, .wire_errors = 1 },
		  RATIFIED,
		  true },
		{ "with an unknown message",
		  { .messages = 50, .sifive = 5, .unknown = 1 },
		  RATIFIED,
		  true },
		{ "with an illegal value",
		  { .messages = 50, .sifive = 5, .illegal = 1 },
		  RATIFIED,
		  true },
		{ "as many as damage makes",
		  { .messages = 50, .sifive = 6, .unknown = 2, .illegal = 1 },
		  RATIFIED,
		  true },
		{ "more than damage makes",
		  { .messages = 50, .sifive = 7, .unknown = 2, .illegal = 1 },
		  V0,
		  false },
		{ "markers of rc7", { .messages = 200, .markers = 2, .syncs = 100 }, RC7, false },
		{ "too few markers",
		  { .messages = 200, .markers = 2, .syncs = 101 },
		  RATIFIED,
		  false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ntrace_detect_candidate *best;

		start(WIDE);
		judged.score[0] = cases[i].score;
		best = make();
		ok(best->params.dialect == cases[i].dialect &&
			   !(best->open & NTRACE_DETECT_OPEN_DIALECT) == !cases[i].open,
		   "%s: dialect %u, open %#x", cases[i].what, best->params.dialect, best->open);
	}
}

static void test_mode(void)
{
	static const struct {
		uint64_t branch, history;
		unsigned int mode;
		bool open;
	} cases[] = {
		{ 0, 0, NTRACE_MODE_ANY, true },	  { 1, 0, NTRACE_MODE_BRANCH, false },
		{ 0, 1, NTRACE_MODE_HISTORY, false },	  { 51, 1, NTRACE_MODE_BRANCH, false },
		{ 50, 1, NTRACE_MODE_ANY, false },	  { 1, 51, NTRACE_MODE_HISTORY, false },
		{ 1, 50, NTRACE_MODE_ANY, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ntrace_detect_candidate *best;

		start(WIDE);
		judged.score[0].branch = cases[i].branch;
		judged.score[0].history = cases[i].history;
		best = make();
		ok(best->params.mode == cases[i].mode &&
			   !(best->open & NTRACE_DETECT_OPEN_MODE) == !cases[i].open,
		   "%" PRIu64 " messages of BTM, %" PRIu64 " of HTM: mode %u, open %#x",
		   cases[i].branch, cases[i].history, best->params.mode, best->open);
	}
}

/* Each figure of the score is one of the candidate. */
static void test_figures(void)
{
	const struct ntrace_detect_candidate *best;

	start(WIDE);
	judged.score[0] = (struct detect_score){ .messages = 1,
						 .wire_errors = 2,
						 .unknown = 3,
						 .truncated = 4,
						 .extra = 5,
						 .illegal = 6,
						 .orphans = 7,
						 .syncs = 8,
						 .idle = 10,
						 .sound = 11,
						 .sources = 12 };
	judged.stream.packing = NTRACE_DETECT_FRAMES;
	judged.stream.source = 0x21;
	best = make();
	ok(best->messages == 1 && best->wire_errors == 2 && best->unknown == 3 &&
		   best->truncated == 4 && best->extra == 5 && best->illegal == 6,
	   "messages, by kind");
	ok(best->orphans == 7 && best->syncs == 8 && !best->timestamps && best->idle == 10 &&
		   best->sound == 11 && best->sources == 12,
	   "orphans, syncs, timestamps, bytes and sources");
	ok(best->bytes == judged.stream.size && best->packing == NTRACE_DETECT_FRAMES &&
		   best->source == 0x21,
	   "bytes, packing and source");
	ok(best->addresses == 3 && !best->misplaced && best->equal && !best->programs &&
		   best->checked,
	   "addresses, without a program");
	judged.stream.packing = NTRACE_DETECT_WORDS16;
	best = make();
	ok(best->packing == NTRACE_DETECT_WORDS16 && !best->source, "words have no source");
}

static void test_known(void)
{
	const struct ntrace_detect_candidate *best;

	start(WIDE);
	known.timestamp_hz = 1000;
	known.implicit_return = 2;
	known.keep_stack = true;
	known.jvt = 0x1240;
	known.jvt_known = true;
	known.isa = "rv64gcv";
	known.src_bits = 3;
	known.timestamp_bits = 40;
	best = make();
	is_u64(best->params.timestamp_hz, 1000, "timestamp_hz");
	is_u64(best->params.implicit_return, 2, "implicit_return");
	ok(best->params.keep_stack, "keep_stack");
	ok(best->params.jvt == 0x1240 && best->params.jvt_known, "jvt");
	ok(best->params.isa == known.isa, "isa");
	ok(!best->params.src_bits && !best->params.timestamp_bits, "but nothing else");
	start(WIDE);
	best = make();
	ok(!best->params.timestamp_hz && !best->params.keep_stack && !best->params.jvt_known &&
		   !best->params.isa,
	   "what is not known stays so");
}

/* XLEN and address settings that are tried. */
static void test_settings(void)
{
	const struct ntrace_detect_candidate *best;

	start(SYNC(0x1000) SYNC(0x2000));
	best = make();
	ok(candidates.count == 1 && best->params.xlen == 64 &&
		   !(best->open & NTRACE_DETECT_OPEN_XLEN),
	   "XLEN is known");
	known.xlen = 32;
	best = make();
	ok(candidates.count == 1 && best->params.xlen == 32, "or another one");
	config.xlen_known = false;
	best = make();
	ok(candidates.count == 2 && best->params.xlen == 64 &&
		   candidates.candidate[1].params.xlen == 32 && candidates.candidate[1].equal &&
		   best->open & candidates.candidate[1].open & NTRACE_DETECT_OPEN_XLEN,
	   "or both fit: the question is open in both");
	start(WIDE);
	config.xlen_known = false;
	best = make();
	ok(!(best->open & NTRACE_DETECT_OPEN_XLEN), "wide addresses are of RV64");
	for (unsigned int i = 0; i < candidates.count; i++)
		is_u64(best[i].params.xlen, 64, "in all candidates");
}

/* Another width of SRC with a little more evidence against it. */
static void test_margin(void)
{
	static const struct {
		uint64_t cost;
		unsigned int count;
	} cases[] = { { 0, 2 }, { 16 * 10, 2 }, { 16 * 10 + 15, 2 }, { 16 * 11, 1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ntrace_detect_candidate *best;
		bool both = cases[i].count == 2;

		/* No addresses, so that no width is more likely by them. */
		start("x20 DirectBranch ICNT=3");
		judged.score[0].cost = 16 * 3;
		judged.score[1].cost = 16 * 3 + cases[i].cost;
		best = make();
		ok(candidates.count == cases[i].count && best->cost == 3 && !best->params.src_bits,
		   "%" PRIu64 " sixteenths of a bit more: %u candidates", cases[i].cost,
		   candidates.count);
		ok(!(best->open & NTRACE_DETECT_OPEN_SRC) == !both, "the width of SRC is%s open",
		   both ? "" : " not");
		if (candidates.count == 2)
			ok(candidates.candidate[1].params.src_bits == 1 &&
				   candidates.candidate[1].cost == 3 + cases[i].cost / 16 &&
				   candidates.candidate[1].open & NTRACE_DETECT_OPEN_SRC,
			   "the simpler one comes first");
	}
	start("x20 DirectBranch ICNT=3");
	judged.best = 2;
	judged.score[0].cost = 16 * 4;
	judged.score[1].cost = 16 * 5;
	judged.score[2].cost = 0;
	make();
	ok(candidates.count == 3 && candidates.candidate[0].params.src_bits == 2 &&
		   candidates.candidate[1].params.src_bits == 0 &&
		   candidates.candidate[2].params.src_bits == 1,
	   "candidates are sorted by evidence");
}

int main(void)
{
	test_dialect();
	test_mode();
	test_figures();
	test_known();
	test_settings();
	test_margin();
	return done_testing();
}
