// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of detect, each alone: values that no encoder sends, the cost of a stream, address and
 * timestamp settings, and extraction of streams from words and frames.
 */
#include <math.h>
#include <stdlib.h>

#include <ntrace/frames.h>

#include "detect/detect.h"
#include "stream_text.h"

static uint8_t data[1 << 16];

static size_t make(const char *params_text, const char *text)
{
	const struct ntrace_params params = params_of(params_text);

	return stream_of(text, &params, data, sizeof(data));
}

/* ---- values ---- */

/* A message as from the reader, without its bytes. */
static struct ntrace_message message_of(const char *text)
{
	struct ntrace_message message = { 0 };

	for (unsigned int i = 0; i < 64; i++) {
		const char *name = ntrace_tcode_name((uint8_t)i);
		size_t length = strlen(name);

		if (!strncmp(name, text, length) && (!text[length] || text[length] == ' '))
			message.tcode = (uint8_t)i;
	}
	set_fields(&message, text);
	return message;
}

static void test_values(void)
{
	static const struct {
		const char *text;
		bool illegal;
		bool sifive;
		unsigned int rare;
	} cases[] = {
		{ "ProgTraceSync SYNC=0", false, false, 0 },
		{ "ProgTraceSync SYNC=7", false, false, 0 },
		{ "ProgTraceSync SYNC=8", true, false, 0 },
		{ "ProgTraceSync SYNC=9", false, false, 0 },
		{ "ProgTraceSync SYNC=10", true, false, 0 },
		{ "ProgTraceSync SYNC=11", false, true, 1 },
		{ "ProgTraceSync SYNC=13", true, false, 0 },
		{ "ProgTraceSync SYNC=14", false, false, 1 },
		{ "ProgTraceSync SYNC=15", false, true, 1 },
		{ "Error ETYPE=0 ECODE=0xae", false, false, 0 },
		{ "Error ETYPE=1 ECODE=0", true, false, 0 },
		{ "Error ETYPE=8 ECODE=0", false, false, 1 },
		{ "Error ETYPE=0 ECODE=1", true, false, 0 },
		{ "ProgTraceCorrelation EVCODE=4 CDF=1", false, false, 0 },
		{ "ProgTraceCorrelation EVCODE=5 CDF=0", true, false, 0 },
		{ "ProgTraceCorrelation EVCODE=8 CDF=0", false, true, 1 },
		{ "ProgTraceCorrelation EVCODE=0 CDF=2", true, false, 0 },
		{ "ResourceFull RCODE=3", true, false, 0 },
		{ "ResourceFull RCODE=9", false, true, 1 },
		{ "ResourceFull RCODE=10", false, false, 1 },
		{ "ResourceFull RCODE=0 ICNT=0xffffffff", false, false, 0 },
		{ "ResourceFull RCODE=0 ICNT=0x100000000", true, false, 0 },
		{ "ResourceFull RCODE=1 HIST=1", true, false, 0 },
		{ "ResourceFull RCODE=1 HIST=2", false, false, 0 },
		{ "IndirectBranchHist HIST=0", true, false, 0 },
		{ "IndirectBranchHist HIST=1", false, false, 0 },
		{ "IndirectBranchHist HIST=0xffffffff", false, false, 0 },
		{ "IndirectBranchHist HIST=0x100000000", true, false, 0 },
		{ "IndirectBranchHist HIST=0x17fffffff", true, false, 0 },
		{ "ResourceFull RCODE=2 HIST=2 HREPEAT=0", true, false, 0 },
		{ "ResourceFull RCODE=2 HIST=2 HREPEAT=1", false, false, 0 },
		{ "ResourceFull RCODE=2 HIST=2 HREPEAT=0x3ffff", false, false, 0 },
		{ "ResourceFull RCODE=2 HIST=2 HREPEAT=0x40000", true, false, 0 },
		{ "RepeatBranch BCNT=0", true, false, 0 },
		{ "RepeatBranch BCNT=0x3ffff", false, false, 0 },
		{ "RepeatBranch BCNT=0x40000", true, false, 0 },
		/* FORMAT 1; PRV 2; PRV 3 with V; more than PRV and V; only PRV and V. */
		{ "Ownership PROCESS=0x1", false, false, 1 },
		{ "Ownership PROCESS=0x8", false, false, 1 },
		{ "Ownership PROCESS=0xc", false, false, 0 },
		{ "Ownership PROCESS=0x1c", false, false, 1 },
		{ "Ownership PROCESS=0x14", false, false, 0 },
		{ "Ownership PROCESS=0x20", false, false, 1 },
		{ "Ownership PROCESS=0x22", false, false, 0 },
		{ "Ownership PROCESS=0x23", false, false, 0 },
	};
	struct ntrace_message message;
	struct detect_verdict verdict;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		message = message_of(cases[i].text);
		detect_judge(&message, &verdict);
		ok(verdict.illegal == cases[i].illegal && verdict.sifive == cases[i].sifive &&
			   verdict.rare == cases[i].rare,
		   "%s: illegal %d, SiFive's %d, rare %u", cases[i].text, verdict.illegal,
		   verdict.sifive, verdict.rare);
	}
	message = message_of("IndirectBranch BTYPE=0 ICNT=1 UADDR=1");
	message.address_bytes = 11;
	detect_judge(&message, &verdict);
	ok(!verdict.illegal, "an address of 11 bytes");
	message.address_bytes = 12;
	detect_judge(&message, &verdict);
	ok(verdict.illegal, "no encoder sends an address of 12 bytes");
	message.address_bytes = 1;
	message.flags = NTRACE_MESSAGE_OVERSIZE;
	detect_judge(&message, &verdict);
	ok(verdict.illegal, "a field of more than 64 bits");
	message = message_of("Ownership PROCESS=0");
	message.flags = NTRACE_MESSAGE_OVERSIZE;
	detect_judge(&message, &verdict);
	ok(!verdict.illegal, "but in Ownership");
	for (unsigned int i = 0; i < 64; i++) {
		bool sifive = i == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE ||
			      i == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC;

		message = (struct ntrace_message){ .tcode = (uint8_t)i };
		detect_judge(&message, &verdict);
		if (verdict.sifive != sifive)
			ok(false, "TCODE %u: SiFive's %d", i, verdict.sifive);
	}
}

/* ---- cost ---- */

/*
 * Cost in bits of the same message @count times, with @src_bits of SRC and @field_bits in the first
 * field: 6 for the assumption of a SRC, then what the adaptive model did not predict.
 */
static double expected_cost(unsigned int count, unsigned int src_bits, unsigned int field_bits)
{
	double cost = src_bits ? 6 : 0;

	for (unsigned int i = 0; i < count; i++) {
		cost += i ? log2(i + 1) - log2(i) : src_bits;
		cost += field_bits * (log2(8 * i + 2) - log2(8 * i + 1));
	}
	return cost;
}

static void test_cost(void)
{
	static const struct {
		const char *params;
		const char *text;
		unsigned int count;
		unsigned int src_bits;
		unsigned int field_bits;	/* up to the end of the byte */
	} cases[] = {
		{ "srcbits=0", "Ownership PROCESS=0xc", 1, 0, 6 },
		{ "srcbits=0", "x20 Ownership PROCESS=0xc", 20, 0, 6 },
		{ "srcbits=0", "x100 Ownership PROCESS=0xc", 100, 0, 6 },
		{ "srcbits=0", "x20 Ownership PROCESS=0x3b2", 20, 0, 12 },
		{ "srcbits=4", "x3 Ownership SRC=9 PROCESS=0xc", 3, 4, 8 },
		{ "srcbits=4", "x100 Ownership SRC=9 PROCESS=0xc", 100, 4, 8 },
		{ "srcbits=12", "x50 Ownership SRC=9 PROCESS=0xc", 50, 12, 6 },
	};
	struct detect_score score;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size = make(cases[i].params, cases[i].text);
		double expected =
			expected_cost(cases[i].count, cases[i].src_bits, cases[i].field_bits);
		double got;

		is_u64(detect_score(data, size, cases[i].src_bits, &score), 0, "%s", cases[i].text);
		got = (double)score.cost / 16;
		ok(fabs(got - expected) <= 0.15 * expected, "costs %.2f bits: %.2f", expected, got);
		ok(score.messages == cases[i].count && score.sound == size && !score.orphans &&
			   score.sources == 1,
		   "%" PRIu64 " messages, %" PRIu64 " sound bytes of %zu, %" PRIu64
		   " orphans, %u sources",
		   score.messages, score.sound, size, score.orphans, score.sources);
	}
}

/* Counts of a stream, and places where messages contradict each other. */
static void test_counts(void)
{
	static const char sync[] = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80";
	static const struct {
		const char *what;
		const char *more;	/* after a sync, unless it begins with '!' */
		uint64_t illegal;
		uint64_t orphans;
	} cases[] = {
		{ "before a sync", "!Ownership PROCESS=0xc; DirectBranch ICNT=3", 0, 1 },
		{ "after a sync", "DirectBranch ICNT=3", 0, 0 },
		{ "a branch of no instruction", "DirectBranch ICNT=0", 1, 0 },
		{ "a jump of no instruction", "IndirectBranch BTYPE=0 ICNT=0 UADDR=1", 1, 0 },
		{ "a trap before the first one", "IndirectBranch BTYPE=3 ICNT=0 UADDR=1", 0, 0 },
		{ "as many branches as parcels", "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=1 HIST=7",
		  0, 0 },
		{ "more branches than parcels", "IndirectBranchHist BTYPE=0 ICNT=1 UADDR=1 HIST=7",
		  1, 0 },
		{ "of ResourceFull, too",
		  "ResourceFull RCODE=1 HIST=7; IndirectBranchHist BTYPE=0 ICNT=1 UADDR=1 HIST=1",
		  1, 0 },
		{ "its parcels count",
		  "ResourceFull RCODE=0 ICNT=2; IndirectBranchHist BTYPE=0 ICNT=1 UADDR=1 HIST=15",
		  0, 0 },
		{ "RepeatBranch counts as many times as it says",
		  "ResourceFull RCODE=2 HIST=2 HREPEAT=4; IndirectBranchHist BTYPE=0 ICNT=3 "
		  "UADDR=1 HIST=1",
		  1, 0 },
		{ "and not more often",
		  "ResourceFull RCODE=2 HIST=2 HREPEAT=4; IndirectBranchHist BTYPE=0 ICNT=4 "
		  "UADDR=1 HIST=1",
		  0, 0 },
		{ "after the end",
		  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2; DirectBranch ICNT=3", 1, 0 },
		{ "a sync begins again",
		  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2; ProgTraceSync SYNC=5 ICNT=0 "
		  "FADDR=0x80; DirectBranch ICNT=3",
		  0, 0 },
		{ "after a loss", "Error ETYPE=0 ECODE=4; DirectBranch ICNT=3", 1, 0 },
		{ "the context needs no sync", "Error ETYPE=0 ECODE=4; Ownership PROCESS=0xc", 0,
		  0 },
		{ "a reserved value", "ProgTraceCorrelation EVCODE=5 CDF=0 ICNT=2", 1, 0 },
	};
	struct detect_score score;
	size_t size;
	char text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool without = cases[i].more[0] == '!';

		snprintf(text, sizeof(text), "%s%s%s", without ? "" : sync, without ? "" : "; ",
			 cases[i].more + without);
		size = make("", text);
		detect_score(data, size, 0, &score);
		ok(score.illegal == cases[i].illegal && score.orphans == cases[i].orphans,
		   "%s: %" PRIu64 " illegal, %" PRIu64 " orphans", cases[i].what, score.illegal,
		   score.orphans);
	}
	size = make("",
		    "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=9; [FF FF FF]; x2 DirectBranch "
		    "ICNT=3; DirectBranchSync SYNC=2 ICNT=3 FADDR=0x80; IndirectBranchHistSync "
		    "SYNC=4 BTYPE=0 ICNT=4 FADDR=0x80 HIST=3; [FF FF]");
	detect_score(data, size, 0, &score);
	is_u64(score.syncs, 3, "syncs");
	is_u64(score.timestamps, 1, "timestamps");
	is_u64(score.branch, 3, "messages of BTM");
	is_u64(score.history, 1, "messages of HTM");
	is_u64(score.markers, 1, "markers with history");
	is_u64(score.idle, 5, "idle bytes");
	is_u64(score.sound, size - 5, "sound bytes");
	is_u64(score.wire_errors, 0, "wire errors");
	size = make("srcbits=2", "x2 Ownership SRC=1 PROCESS=0xc; Ownership SRC=2 PROCESS=0xc");
	detect_score(data, size, 2, &score);
	is_u64(score.sources, 2, "sources");
	size = make("", "Ownership PROCESS=0xc; [02]; x2 Ownership PROCESS=0xc; [02]; Ownership "
			"PROCESS=0xc");
	detect_score(data, size, 0, &score);
	ok(score.wire_errors >= 2, "%" PRIu64 " wire errors", score.wire_errors);
}

/* ---- addresses ---- */

static void test_addresses(void)
{
	static const struct {
		const char *what;
		const char *params;
		const char *text;
		uint64_t addresses;
		uint64_t misplaced;
		bool wide;
	} cases[] = {
		{ "an address", "", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80", 1, 0, false },
		{ "an update without a reference", "", "IndirectBranch BTYPE=0 ICNT=7 UADDR=0x7b6",
		  0, 0, false },
		{ "an update", "",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; IndirectBranch BTYPE=0 ICNT=7 "
		  "UADDR=0x7b6",
		  2, 0, false },
		{ "after a loss", "",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; [02 03]; IndirectBranch BTYPE=0 ICNT=7 "
		  "UADDR=0x7b6",
		  1, 0, false },
		{ "of 33 bits", "", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80000000", 1, 0, true },
		{ "of 32 bits", "", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x7fffffff", 1, 0, false },
		{ "of 57 bits", "", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80000000000000", 1, 1,
		  true },
		{ "of 56 bits", "", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x7fffffffffffff", 1, 0,
		  true },
		{ "XLEN 32: 31 bits", "xlen=32", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x7fffffff", 1,
		  0, false },
		{ "XLEN 32: 32 bits", "xlen=32", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80000000", 1,
		  1, false },
		{ "XLEN 32, extended: 36 bits", "xlen=32,extaddr=1",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0xfffffffff", 1, 1, false },
		/* Forms that an encoder sends: no byte more than necessary. */
		{ "XLEN 32, extended: 6 bytes", "xlen=32,extaddr=1",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x40000000", 1, 0, false },
		{ "a sign", "extaddr=1", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0xfc0000000", 1, 0,
		  true },
		{ "a sign with an extra byte", "extaddr=1",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0xfff000000000", 1, 1, true },
		{ "the same bits as a part of an address", "",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0xfff000000000", 1, 0, true },
		{ "the same bits as all the bits that are sent", "addrbits=48",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0xfff000000000", 1, 0, true },
		{ "a sign from the first bytes of memory to the last ones", "extaddr=1",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; IndirectBranch BTYPE=0 ICNT=7 "
		  "UADDR=0x800",
		  2, 1, true },
		{ "XLEN 32, extended: 37 bits", "xlen=32,extaddr=1",
		  "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1000000000", 1, 1, false },
	};
	struct detect_addresses addresses;
	struct ntrace_params params;
	uint64_t hash;
	size_t size;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* Unchanged addresses: no setting drops bits here. */
		size = make("", cases[i].text);
		params = params_of(cases[i].params);
		is_u64(detect_addresses(data, size, &params, NULL, &addresses), 0, "%s",
		       cases[i].what);
		ok(addresses.addresses == cases[i].addresses &&
			   addresses.misplaced + addresses.padded + addresses.copies ==
				   cases[i].misplaced &&
			   addresses.wide == cases[i].wide,
		   "%s: %" PRIu64 " addresses, %" PRIu64 " misplaced, wide %d", cases[i].what,
		   addresses.addresses, addresses.misplaced, addresses.wide);
	}
	/* Widths: 3 of 34 bits, 3 of 40, 1 of 62, 1 of 63. */
	params = params_of("");
	size = make("", "x3 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x200000000; x3 ProgTraceSync SYNC=5 "
			"ICNT=0 FADDR=0x8000000000; ProgTraceSync SYNC=5 ICNT=0 "
			"FADDR=0x2000000000000000; ProgTraceSync SYNC=5 ICNT=0 "
			"FADDR=0x4000000000000000");
	detect_addresses(data, size, &params, NULL, &addresses);
	is_u64(addresses.usual, 40, "the most frequent width, the larger one of two");
	is_u64(addresses.widest, 62, "the largest below 63");
	hash = addresses.hash;
	detect_addresses(data, size - 1, &params, NULL, &addresses);
	ok(hash != addresses.hash, "different addresses have a different hash");
	size = make("", "x99 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x200000000; ProgTraceSync SYNC=5 "
			"ICNT=0 FADDR=0x2000000000000000");
	detect_addresses(data, size, &params, NULL, &addresses);
	is_u64(addresses.widest, 34, "a single one of 100 may be damaged");
	size = make("", "x98 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x200000000; ProgTraceSync SYNC=5 "
			"ICNT=0 FADDR=0x2000000000000000");
	detect_addresses(data, size, &params, NULL, &addresses);
	is_u64(addresses.widest, 62, "one of 99 counts");
	/* Four regions of 16 MB, 2 each; a zero byte at the top, which only extaddr explains. */
	size = make("",
		    "x2 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; ProgTraceSync SYNC=5 ICNT=0 "
		    "FADDR=0x800000; ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1000000; ProgTraceSync "
		    "SYNC=5 ICNT=0 FADDR=0x1800000");
	detect_addresses(data, size, &params, NULL, &addresses);
	is_u64(addresses.cost, 8, "the cost of four regions");
	params = params_of("extaddr=1");
	detect_addresses(data, size, &params, NULL, &addresses);
	is_u64(addresses.cost, 8 + 3, "and of a setting");
	params = params_of("addrbits=30");
	detect_addresses(data, size, &params, NULL, &addresses);
	is_u64(addresses.cost, 8 + 4, "and of another one");
	params = params_of("addrbits=24");
	detect_addresses(data, size, &params, NULL, &addresses);
	is_u64(addresses.misplaced, 2, "two are wider than the setting");
}

/* An address of @bits bits whose topmost @run bits are ones: perhaps the rest of a cut sign. */
static void test_signs(void)
{
	static const struct {
		unsigned int bits, run;
		bool misplaced, perhaps;
	} cases[] = {
		{ 36, 8, false, true },	  { 36, 7, false, false },  { 35, 8, false, false },
		{ 37, 6, false, true },	  { 37, 5, false, false },  { 31, 6, false, true },
		{ 31, 5, false, false },  { 25, 8, false, false },  { 40, 16, true, false },
		{ 40, 15, false, true },  { 40, 7, false, false },  { 38, 16, false, true },
		{ 47, 16, false, true },  { 56, 16, false, true },  { 37, 16, true, false },
		{ 39, 16, true, false },  { 46, 16, true, false },  { 48, 16, true, false },
		{ 55, 16, true, false },
	};
	struct detect_addresses addresses;
	struct ntrace_params params;
	char text[80];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ones = (UINT64_C(1) << cases[i].run) - 1;
		uint64_t address = ones << (cases[i].bits - cases[i].run);

		snprintf(text, sizeof(text), "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x%" PRIx64,
			 address >> 1);
		params = params_of("");
		detect_addresses(data, make("", text), &params, NULL, &addresses);
		ok(addresses.misplaced == cases[i].misplaced &&
			   addresses.cost == 2u + 12 * cases[i].misplaced + 2 * cases[i].perhaps,
		   "%u ones at the top of %u bits: %" PRIu64 " misplaced, cost %" PRIu64,
		   cases[i].run, cases[i].bits, addresses.misplaced, addresses.cost);
	}
	/* Settings that say where the sign is. */
	params = params_of("addrbits=40");
	detect_addresses(data, make("", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x7fff800000"), &params,
			 NULL, &addresses);
	is_u64(addresses.misplaced, 0, "with addrbits no sign is cut");
	params = params_of("xlen=32");
	detect_addresses(data, make("", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x3f000000"), &params,
			 NULL, &addresses);
	is_u64(addresses.cost, 2, "nor with 32 bits");
	params = params_of("");
	detect_addresses(data, make("", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x3f000000"), &params,
			 NULL, &addresses);
	is_u64(addresses.cost, 4, "with 64 bits it may be");
}

/* ---- timestamps ---- */

#define SYNC_AT(time) "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=" #time
#define STEP(time) "; DirectBranch ICNT=3 TSTAMP=" #time "; "

static void test_times(void)
{
	static const struct {
		const char *what;
		const char *text;
		bool xored;
		uint32_t open;
		unsigned int bits;
		bool damaged;
	} cases[] = {
		{ "no time", "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; DirectBranch ICNT=3", false,
		  NTRACE_DETECT_OPEN_DELTA, 0, false },
		{ "sums are too large",
		  SYNC_AT(8) STEP(24) SYNC_AT(20) STEP(44) SYNC_AT(50) STEP(50) SYNC_AT(60), true,
		  0, 0, false },
		{ "the same in a damaged stream",
		  SYNC_AT(8) STEP(24) SYNC_AT(20) STEP(44) SYNC_AT(50) STEP(50) SYNC_AT(60), true,
		  NTRACE_DETECT_OPEN_DELTA, 0, true },
		{ "the last difference wraps",
		  SYNC_AT(8) STEP(24) SYNC_AT(20) STEP(44) SYNC_AT(50) STEP(50)
			  SYNC_AT(60) "; DirectBranch ICNT=3 TSTAMP=62",
		  true, NTRACE_DETECT_OPEN_WRAP, 6, false },
		{ "once is chance", SYNC_AT(8) STEP(24) SYNC_AT(20), true, NTRACE_DETECT_OPEN_DELTA,
		  0, false },
		{ "XOR leads back", SYNC_AT(8) STEP(12) SYNC_AT(32) STEP(32) SYNC_AT(64), false, 0,
		  0, false },
		{ "either is possible", SYNC_AT(8) STEP(1) SYNC_AT(16) STEP(1) SYNC_AT(32), false,
		  NTRACE_DETECT_OPEN_DELTA, 0, false },
		/* 17 times of 20 bits that wrap; or the last one is damaged. */
		{ "a time runs backwards",
		  "x16 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=0xfff00; " SYNC_AT(0x10),
		  false, NTRACE_DETECT_OPEN_DELTA | NTRACE_DETECT_OPEN_WRAP, 20, false },
		{ "times wrap",
		  "x16 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=0xfff00; " SYNC_AT(
			  0x10) "; " SYNC_AT(0x20),
		  false, NTRACE_DETECT_OPEN_DELTA, 20, false },
		{ "one of them is damaged",
		  "x16 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=0xfff00; " SYNC_AT(
			  0x10) "; " SYNC_AT(0x20) "; " SYNC_AT(0x8000000000) "; " SYNC_AT(0x30),
		  false, NTRACE_DETECT_OPEN_DELTA, 20, false },
		{ "the widest of few times comes once",
		  SYNC_AT(0xfff00) "; " SYNC_AT(0x10) "; " SYNC_AT(0x20), false,
		  NTRACE_DETECT_OPEN_DELTA | NTRACE_DETECT_OPEN_WRAP, 20, false },
		{ "backwards by less than half",
		  "x16 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=0xfff00; "
		  "x2 ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=0x70000; " SYNC_AT(0x10),
		  false, NTRACE_DETECT_OPEN_DELTA, 20, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params = params_of("");
		size_t size = make("", cases[i].text);
		uint32_t open;

		is_u64(detect_times(data, size, &params, cases[i].damaged, &open), 0, "%s",
		       cases[i].what);
		ok((params.timestamp_delta == NTRACE_TIME_DELTA_XOR) == cases[i].xored &&
			   open == cases[i].open && params.timestamp_bits == cases[i].bits,
		   "%s: XOR %d, open %#x, %u bits", cases[i].what, params.timestamp_delta, open,
		   params.timestamp_bits);
	}
}

/* ---- Ownership of SiFive's encoders ---- */

#define SYNCED "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80;"

static void test_owners(void)
{
	static const struct {
		const char *what;
		const char *params;
		const char *text;
		enum ntrace_owner owner;
	} cases[] = {
		{ "without Ownership", "dialect=sifive-v0",
		  SYNCED "ProgTraceSync SYNC=2 ICNT=3 FADDR=0x80", NTRACE_OWNER_ANY },
		{ "after each sync", "dialect=sifive-v0",
		  SYNCED "Ownership PROCESS=0x3; Ownership PROCESS=0x22; DirectBranch ICNT=3;"
			 "Ownership PROCESS=0xc;" SYNCED
			 "Ownership PROCESS=0xf; Ownership PROCESS=0x2e",
		  NTRACE_OWNER_CONTEXT },
		{ "after half of them", "dialect=sifive-v0",
		  SYNCED "Ownership PROCESS=0x22;" SYNCED "DirectBranch ICNT=3",
		  NTRACE_OWNER_STORED },
		{ "at any time", "dialect=sifive-v0",
		  SYNCED "DirectBranch ICNT=3; Ownership PROCESS=0x22; Ownership PROCESS=0x42",
		  NTRACE_OWNER_STORED },
		{ "numbers", "dialect=sifive-v0",
		  SYNCED "Ownership PROCESS=0x22; Ownership PROCESS=0x21", NTRACE_OWNER_STORED },
		{ "known", "dialect=sifive-v0,owner=stored", SYNCED "Ownership PROCESS=0x22",
		  NTRACE_OWNER_STORED },
		{ "other dialects", "", SYNCED "Ownership PROCESS=0x21", NTRACE_OWNER_ANY },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params = params_of(cases[i].params);
		size_t size = make(cases[i].params, cases[i].text);

		detect_owners(data, size, &params);
		is_u64(params.owner, cases[i].owner, "Ownership: %s", cases[i].what);
	}
}

/* ---- words and frames ---- */

static void test_words(void)
{
	static const uint8_t words[] = { 1, 2, 3, 4, 5 };
	struct detect_stream stream;

	is_u64(detect_unword(words, sizeof(words), &stream), 0, "words");
	ok(stream.size == 4 && !memcmp(stream.data, "\2\1\4\3", 4) &&
		   stream.packing == NTRACE_DETECT_WORDS16,
	   "their bytes, without the upper half of the last word");
	free(stream.data);
}

static size_t put(struct ntrace_frames_writer *writer, unsigned int source, uint8_t value,
		  size_t count, uint8_t *out)
{
	uint8_t bytes[64];
	size_t written;

	memset(bytes, value, sizeof(bytes));
	ntrace_frames_write(writer, source, bytes, count, out, &written);
	return written;
}

static void test_frames(void)
{
	struct detect_stream streams[STREAMS_MAX];
	struct ntrace_frames_writer writer;
	unsigned int count;
	size_t size = 0;

	ntrace_frames_writer_init(&writer);
	size += put(&writer, 0x10, 0xa1, 9, data + size);
	size += put(&writer, 0x11, 0xb1, 20, data + size);
	size += put(&writer, 0x12, 0xc1, 7, data + size);
	size += ntrace_frames_barrier(&writer, data + size);
	size += put(&writer, 0x11, 0xb1, 1, data + size);
	size += put(&writer, 0x13, 0xd1, 8, data + size);
	size += ntrace_frames_flush(&writer, data + size);
	is_u64(detect_unframe(data, size, streams, &count), 0, "frames");
	is_u64(count, 3, "three sources have at least 8 bytes");
	if (count == 3) {
		ok(streams[0].source == 0x11 && streams[1].source == 0x10 &&
			   streams[2].source == 0x13,
		   "longest source first: 0x%x 0x%x 0x%x", streams[0].source, streams[1].source,
		   streams[2].source);
		ok(streams[0].size == 22 && streams[0].data[19] == 0xb1 &&
			   streams[0].data[20] == 0x02 && streams[0].data[21] == 0xb1,
		   "a mark where bytes may be missing");
		ok(streams[1].size == 10 && streams[1].data[8] == 0xa1 &&
			   streams[1].data[9] == 0x02,
		   "also at the end");
		ok(streams[2].size == 8 && streams[2].data[0] == 0xd1, "but not at the beginning");
		is_u64(streams[0].packing, NTRACE_DETECT_FRAMES, "of frames");
	}
	for (unsigned int i = 0; i < count; i++)
		free(streams[i].data);
	/* Ten frames of 14 bytes, three or four of which belong to a reserved source. */
	for (unsigned int reserved = 3; reserved <= 4; reserved++) {
		memset(data, 0xa0, 160);
		for (unsigned int i = 0; i < 10; i++) {
			data[16 * i] = (uint8_t)((i < reserved ? 0x71 : 0x10) << 1 | 1);
			data[16 * i + 15] = 0;
		}
		detect_unframe(data, 160, streams, &count);
		is_u64(count, reserved == 3, "%u reserved bytes at %u others", 14 * reserved,
		       140 - 14 * reserved);
		for (unsigned int i = 0; i < count; i++)
			free(streams[i].data);
	}
}

/* ---- looks ---- */

static void test_looks(void)
{
	unsigned int i;

	/* A control character among 100, and one more. */
	memset(data, 'a', 200);
	data[10] = data[20] = 1;
	is_u64(detect_looks(data, 200), NTRACE_DETECT_TEXT, "text with an odd character of 100");
	data[30] = 0x7f;
	is_u64(detect_looks(data, 200) != NTRACE_DETECT_TEXT, 1,
	       "with more such characters it is no text");
	memset(data, 'a', 200);
	data[100] = 0;
	is_u64(detect_looks(data, 200) != NTRACE_DETECT_TEXT, 1, "with a zero byte it is no text");
	/* E-Trace packets of a header and a byte: 9 of 10 are of the same kind. */
	for (i = 0; i < 40; i += 2) {
		data[i] = i < 36 ? 0x41 : 0x61;
		data[i + 1] = (uint8_t)i;
	}
	is_u64(detect_looks(data, 40), NTRACE_DETECT_ETRACE, "packets of E-Trace");
	data[34] = 0x61;
	is_u64(detect_looks(data, 40) != NTRACE_DETECT_ETRACE, 1, "too many of another kind");
	data[34] = 0x41;
	is_u64(detect_looks(data, 30) != NTRACE_DETECT_ETRACE, 1, "15 packets are too few");
	is_u64(detect_looks(data, 32), NTRACE_DETECT_ETRACE, "16 are enough");
	is_u64(detect_magic((const uint8_t *)"\177EL", 3), NTRACE_DETECT_TRACE,
	       "the beginning of a magic number is no match");
	is_u64(detect_looks((const uint8_t *)"\177ELF", 4), NTRACE_DETECT_ELF, "the whole is one");
}

int main(void)
{
	test_values();
	test_cost();
	test_counts();
	test_addresses();
	test_signs();
	test_times();
	test_owners();
	test_words();
	test_frames();
	test_looks();
	return done_testing();
}
