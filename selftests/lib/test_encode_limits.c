// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Encoder: the smallest and largest value of each setting, the length of addresses, blocks that the
 * caller's own filter excludes, and choices that the specification leaves to an encoder.
 */
#include "test_encode.h"

static struct ntrace_encoder encoder;
static struct ntrace_encoder_config config;

static void ready(void)
{
	default_config(&config);
	config.write = take;
}

/* ---- settings ---- */

#define SETTING(name, least, most) { #name, &config.name, least, most }

static void test_numbers(void)
{
	const struct {
		const char *name;
		unsigned int *value;
		unsigned int least;
		unsigned int most;
	} settings[] = {
		SETTING(icnt_bits, 1, 32),
		SETTING(hist_bits, 1, 31),
		SETTING(hrepeat_bits, 1, 18),
		SETTING(bcnt_bits, 1, 18),
		SETTING(implicit_return_depth, 1, NTRACE_RETURN_DEPTH_MAX),
		SETTING(return_compare_bits, 1, 63),
		SETTING(sync_mode, 0, 3),
		SETTING(sync_max, 0, 15),
		SETTING(itype_bits, 3, 4),
		SETTING(range_count, 0, NTRACE_ENCODER_RANGES_MAX),
		{ "src_bits", &given.src_bits, 0, NTRACE_SRC_BITS_MAX },
		{ "address_bits", &given.address_bits, 0, 63 },
		{ "implicit_return", &given.implicit_return, 0, 3 },
		{ "timestamp_bits", &given.timestamp_bits, 0, 64 },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		ready();
		*settings[i].value = settings[i].least;
		ok(!ntrace_encoder_refusal(&config), "%s %u is the least", settings[i].name,
		   settings[i].least);
		*settings[i].value = settings[i].most;
		ok(!ntrace_encoder_refusal(&config), "%s %u is the most", settings[i].name,
		   settings[i].most);
		*settings[i].value = settings[i].most + 1;
		ok(ntrace_encoder_refusal(&config) &&
			   ntrace_encoder_init(&encoder, &config) == NTRACE_ERR_INVALID,
		   "%s %u is too much", settings[i].name, settings[i].most + 1);
		if (!settings[i].least)
			continue;
		*settings[i].value = settings[i].least - 1;
		ok(ntrace_encoder_refusal(&config), "%s %u is too little", settings[i].name,
		   settings[i].least - 1);
	}
}

static void refuses(const char *what)
{
	ok(ntrace_encoder_refusal(&config), "%s is refused", what);
	ready();
}

static void accepts(const char *what)
{
	const char *reason = ntrace_encoder_refusal(&config);

	ok(!reason, "%s is accepted", what);
	if (reason)
		diag("%s", reason);
}

static void test_modes(void)
{
	ready();
	given.mode = NTRACE_MODE_BRANCH;
	accepts("BTM");
	given.mode = NTRACE_MODE_ANY;
	refuses("an unknown mode");
	given.xlen = 32;
	accepts("XLEN 32");
	given.xlen = 48;
	refuses("XLEN 48");
	given.src_bits = 2;
	config.src = 3;
	accepts("the largest SRC");
	config.src = 4;
	refuses("a SRC wider than its field");
	config.src = 1;
	refuses("a SRC without a field");
	given.timestamp_bits = 1;
	config.timestamps = NTRACE_TIMESTAMPS_ALL;
	accepts("timestamps in all messages");
	config.timestamps = (enum ntrace_timestamps)(NTRACE_TIMESTAMPS_ALL + 1);
	refuses("an unknown choice of messages with timestamps");
	config.timestamps = NTRACE_TIMESTAMPS_SYNC;
	refuses("timestamps without bits");
	config.icnt_bits = 4;
	config.icnt_full = 15;
	accepts("an I-CNT that is full when it would overflow");
	config.icnt_full = 16;
	refuses("one that is full later");
	config.write = NULL;
	refuses("an encoder without a callback");
}

static void test_ranges(void)
{
	ready();
	config.range_count = 2;
	config.range[0] = (struct ntrace_encoder_range){ 0x1000, 0x1000 };
	config.range[1] = (struct ntrace_encoder_range){ 0x3000, 0x4000 };
	accepts("a range of one address");
	config.range[1].last = 0x2fff;
	refuses("a range that ends before it begins");
	config.range_count = 1;
	config.range[1] = (struct ntrace_encoder_range){ 2, 1 };
	accepts("a wrong range that is not used");
	ready();
	config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
	config.fifo_drain = 1;
	accepts("the smallest queue");
	config.fifo_bytes--;
	refuses("a smaller queue");
	config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
	refuses("a queue that never drains");
	config.stall = true;
	refuses("stalling without a queue");
}

/* Settings that exclude or need each other. */
static void test_combinations(void)
{
	ready();
	given.all_jumps = true;
	accepts("all jumps alone");
	given.implicit_return = 1;
	refuses("all jumps with implicit return");
	given.implicit_return = 1;
	config.itype_bits = 3;
	refuses("implicit return with 3 bits of itype");
	given.mode = NTRACE_MODE_BRANCH;
	config.repeated_history = true;
	refuses("repeated history in BTM");
	config.repeated_history = true;
	accepts("repeated history in HTM");
	ready();
	config.sync4_for_icnt = true;
	refuses("SYNC 4 for a full I-CNT in HTM");
	config.sync4_for_icnt = true;
	given.dialect = NTRACE_DIALECT_RC7;
	accepts("SYNC 4 in HTM of rc7");
	given.dialect = NTRACE_DIALECT_RATIFIED;
	given.mode = NTRACE_MODE_BRANCH;
	accepts("SYNC 4 in BTM");
	ready();
	config.hypervisor = true;
	refuses("hcontext without Ownership");
	config.hypervisor = true;
	config.context = true;
	accepts("hcontext with Ownership");
	ready();
	config.zc_accesses = true;
	accepts("single accesses of Zcmp with 4 bits of itype");
	config.itype_bits = 3;
	refuses("single accesses of Zcmp with 3 bits of itype");
}

/* Without parameters: those of ntrace_params_init(), and HTM. */
static void test_defaults(void)
{
	ready();
	config.params = NULL;
	accepts("a configuration without parameters");
	config.params = NULL;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	retire(&encoder, 0x1000, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=800; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=1 HIST=3",
		    "the stream has no SRC, no timestamps, and history");
}

/* ---- addresses ---- */

/* The fewest groups of six bits that give @field of @width bits when their top bit is extended. */
static unsigned int fewest_groups(uint64_t field, unsigned int width)
{
	uint64_t mask = (UINT64_C(1) << width) - 1;

	for (unsigned int groups = 1;; groups++) {
		uint64_t value = field;

		if (6 * groups < width) {
			value &= (UINT64_C(1) << 6 * groups) - 1;
			if (value >> (6 * groups - 1))
				value |= ~UINT64_C(0) << 6 * groups;
		}
		if ((value & mask) == field)
			return groups;
	}
}

/* Whether the address that a sync reports is @address, in the fewest groups. */
static bool is_short(uint64_t address, unsigned int width)
{
	struct ntrace_message message;
	struct ntrace_reader reader;

	stream_size = 0;
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	retire(&encoder, address, 1, NTRACE_ITYPE_NONE);
	ntrace_reader_init(&reader, &given, true);
	ntrace_reader_feed(&reader, stream, stream_size);
	if (ntrace_reader_next(&reader, &message) != NTRACE_WIRE_MESSAGE)
		return false;
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	return ntrace_message_address(&message, &given, 0) == address &&
	       message.address_bytes == fewest_groups(address >> 1, width);
}

static void test_addresses(void)
{
	static const unsigned int widths[] = { 64, 32 };

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t all = UINT64_MAX >> (64 - widths[i]);
		unsigned int wrong = 0;

		ready();
		given.xlen = widths[i];
		given.extend_address = true;
		begin(&encoder, &config);
		for (unsigned int bit = 1; bit < widths[i]; bit++) {
			uint64_t one = UINT64_C(1) << bit;

			wrong += !is_short(one, widths[i] - 1);
			wrong += !is_short(~one & all & ~UINT64_C(1), widths[i] - 1);
			wrong += !is_short(one - 2, widths[i] - 1);
			wrong += !is_short(-one & all, widths[i] - 1);
		}
		is_u64(wrong, 0, "XLEN %u: each address has the fewest bytes that extend to it",
		       widths[i]);
		is_u64(rewrite_errors, 0, "as ntrace_message_write() has them");
	}
}

/* ---- the caller's filter ---- */

static void test_exclude(void)
{
	ready();
	begin(&encoder, &config);
	ntrace_encoder_exclude(&encoder);
	is_bytes("", "nothing is excluded while tracing is off");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	retire(&encoder, 0x1000, 3, NTRACE_ITYPE_NONE);
	ntrace_encoder_exclude(&encoder);
	ntrace_encoder_exclude(&encoder);
	retire(&encoder, 0x2000, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=800; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=3 HIST=1; "
		    "ProgTraceSync SYNC=5 ICNT=0 FADDR=1000; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=1",
		    "excluded instructions end the trace once, and it is enabled after them");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	ntrace_encoder_halted(&encoder, true);
	ntrace_encoder_exclude(&encoder);
	ntrace_encoder_halted(&encoder, false);
	retire(&encoder, 0x3000, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=1800; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=1 HIST=1",
		    "a halted hart excludes nothing: the sync is a debug exit");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	ntrace_encoder_halted(&encoder, true);
	ntrace_encoder_halted(&encoder, false);
	ntrace_encoder_exclude(&encoder);
	retire(&encoder, 0x3000, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=1800; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=1 HIST=1",
		    "from Debug Mode to excluded code: the sync is none");
}

/* Two indirect jumps without a branch before them, and a periodic sync at the second. */
static void test_empty_history(void)
{
	static const char *const expected[2] = {
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80; IndirectBranch BTYPE=0 ICNT=2 UADDR=180; "
		"IndirectBranchSync SYNC=6 BTYPE=0 ICNT=1 FADDR=180; "
		"ProgTraceSync SYNC=6 ICNT=2 FADDR=182",
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
		"IndirectBranchHist BTYPE=0 ICNT=2 UADDR=180 HIST=1; "
		"IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=1 FADDR=180 HIST=1; "
		"ProgTraceSync SYNC=6 ICNT=2 FADDR=182",
	};

	for (unsigned int i = 0; i < 2; i++) {
		ready();
		config.empty_history = i;
		begin(&encoder, &config);
		ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
		retire(&encoder, 0x100, 2, NTRACE_ITYPE_INDIRECT_JUMP);
		retire(&encoder, 0x200, 1, NTRACE_ITYPE_INDIRECT_JUMP);
		ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
		retire(&encoder, 0x300, 2, NTRACE_ITYPE_NONE);
		ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
		retire(&encoder, 0x304, 2, NTRACE_ITYPE_NONE);
		is_messages(expected[i], i ? "an empty HIST: sent" : "an empty HIST: not sent");
	}
}

/* Error has the time of the loss, and the sync after it that of the recovery. */
static void test_loss(void)
{
	ready();
	given.timestamp_bits = 40;
	config.timestamps = NTRACE_TIMESTAMPS_ALL;
	begin(&encoder, &config);
	ntrace_encoder_time(&encoder, 0x50);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_time(&encoder, 0x100);
	ntrace_encoder_overrun(&encoder);
	ntrace_encoder_time(&encoder, 0x200);
	ntrace_encoder_overrun(&encoder);
	ntrace_encoder_time(&encoder, 0x10000);
	retire(&encoder, 0x300, 2, NTRACE_ITYPE_NONE);
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=80 TSTAMP=50; "
		    "Error ETYPE=0 ECODE=4 TSTAMP=b0; "
		    "ProgTraceSync SYNC=7 ICNT=0 FADDR=180 TSTAMP=10000",
		    "Error has the time of the first loss");

	/* A queue that is full from the first jump on, until it is empty. */
	config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
	config.fifo_drain = 1 << 16;
	config.unspecified_errors = true;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	for (unsigned int i = 1; !encoder.dropped; i++) {
		ntrace_encoder_time(&encoder, i);
		retire(&encoder, 0x1000 * (i % 2), 2, NTRACE_ITYPE_INDIRECT_JUMP);
		if (encoder.dropped)
			stream_size = 0;
	}
	ntrace_encoder_time(&encoder, encoder.time + 0x1000);
	ntrace_encoder_cycles(&encoder, 0x1000);
	retire(&encoder, 0x300, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_messages("Error ETYPE=0 ECODE=0 TSTAMP=1; "
		    "ProgTraceSync SYNC=7 ICNT=0 FADDR=180 TSTAMP=101a; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1 TSTAMP=0",
		    "a full queue: the time of the first message that was dropped, ECODE 0");
}

/* rc7: itype 7 is a direct jump, which all_jumps reports as a taken branch. */
static void test_itype_7(void)
{
	for (unsigned int all = 0; all < 2; all++) {
		ready();
		given.dialect = NTRACE_DIALECT_RC7;
		given.all_jumps = all;
		config.itype_bits = all ? 3 : 4;
		begin(&encoder, &config);
		ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
		retire(&encoder, 0x100, 2, (enum ntrace_itype)7);
		retire(&encoder, 0x200, 2, NTRACE_ITYPE_NONE);
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
		is_messages(all ? "ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
				  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=3" :
				  "ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
				  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=4 HIST=1",
			    all ? "rc7: itype 7 with all_jumps" : "rc7: itype 7 without all_jumps");
	}
}

int main(void)
{
	test_empty_history();
	test_loss();
	test_itype_7();
	test_numbers();
	test_modes();
	test_ranges();
	test_combinations();
	test_defaults();
	test_addresses();
	test_exclude();
	return done_testing();
}
