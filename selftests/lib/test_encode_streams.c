// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Encoder: properties of long streams. Repeated history reports the same branches within its
 * limits; an output queue that is too slow loses complete messages only, and reports the loss; a
 * queue that stalls the hart loses nothing.
 */
#include <stdlib.h>

#include "test_encode.h"

#define BRANCHES 60000

static uint64_t seed = 7;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % limit;
}

static uint8_t outcomes[BRANCHES];
static uint8_t back[BRANCHES];

/* Random bits, and stretches that repeat a short pattern. */
static void make_outcomes(void)
{
	uint32_t at = 0;

	while (at < BRANCHES) {
		uint32_t period = 1 + random_below(40), length = 1 + random_below(3000);

		if (random_below(3))
			length = 1 + random_below(100);
		for (uint32_t i = 0; i < length && at < BRANCHES; i++, at++)
			outcomes[at] = i < period || at < period ? (uint8_t)random_below(2) :
								   outcomes[at - period];
	}
}

/* Takes all history bits of the stream. Return: their number, or 0 if a limit was violated. */
static uint32_t read_history(const struct ntrace_encoder_config *config)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	uint32_t count = 0;

	ntrace_reader_init(&reader, &stream_params, true);
	ntrace_reader_feed(&reader, stream, stream_size);
	while (ntrace_reader_next(&reader, &message) >= 0) {
		uint64_t hist = message.field[NTRACE_FIELD_HIST], repeat = 1;
		int width = hist ? 63 - __builtin_clzll(hist) : -1;

		if (!ntrace_message_has(&message, NTRACE_FIELD_HIST))
			continue;
		if (ntrace_message_has(&message, NTRACE_FIELD_HREPEAT))
			repeat = message.field[NTRACE_FIELD_HREPEAT];
		if (width < 0 || width > (int)config->hist_bits || !repeat ||
		    repeat >> config->hrepeat_bits ||
		    count + repeat * (unsigned int)width > BRANCHES)
			return 0;
		while (repeat--) {
			for (int i = width - 1; i >= 0; i--)
				back[count++] = hist >> i & 1;
		}
	}
	return count;
}

/* N-Trace 1.0, "history": any split is legal as long as the bits are the same. */
static void repeated_history(void)
{
	unsigned int wrong = 0, longer = 0, rounds = 60;

	for (unsigned int round = 0; round < rounds; round++) {
		struct ntrace_encoder_config config;
		struct ntrace_encoder encoder;
		uint64_t plain = 0;

		make_outcomes();
		default_config(&config);
		config.write = take;
		config.icnt_bits = round % 3 ? 32 : 6;
		config.hist_bits = round % 2 ? 31 : 1 + random_below(31);
		config.hrepeat_bits = round % 4 ? 18 : 1 + random_below(8);
		for (int repeated = 0; repeated < 2; repeated++) {
			config.repeated_history = repeated;
			stream_size = 0;
			stream_params = given;
			if (ntrace_encoder_init(&encoder, &config))
				wrong++;
			ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
			for (uint32_t i = 0; i < BRANCHES; i++) {
				retire(&encoder, 0x100, 1,
				       outcomes[i] ? NTRACE_ITYPE_BRANCH_TAKEN :
						     NTRACE_ITYPE_BRANCH_NOT_TAKEN);
				if (!((i + round) % 7001))
					retire(&encoder, 0x100, 1, NTRACE_ITYPE_INDIRECT_JUMP);
			}
			ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
			if (read_history(&config) != BRANCHES || memcmp(outcomes, back, BRANCHES)) {
				wrong++;
				diag("round %u, icnt_bits %u, hist_bits %u, hrepeat_bits %u, %s",
				     round, config.icnt_bits, config.hist_bits, config.hrepeat_bits,
				     repeated ? "repeated" : "plain");
			}
			if (!repeated)
				plain = encoder.bytes;
			else if (encoder.bytes > plain)
				longer++;
		}
	}
	is_u64(wrong, 0, "history: the same branches with and without repetition, %u streams",
	       rounds);
	is_u64(longer, 0, "repeated history is never longer than plain history");
	is_u64(rewrite_errors, 0, "every message equals what ntrace_message_write() makes of it");
}

static void one_repetition(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	config.repeated_history = true;
	begin(&encoder, &config);
	unseen = 1;
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 300; i++)
		retire(&encoder, 0x100, 1,
		       i & 1 ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	/* RDATA 0x55 is 1 010101: 50 times 6 bits, a byte less than 150 times 2; I-CNT 0x12c */
	is_bytes("6C 48 55 CB 84 40 B0 11 07",
		 "example: the 300 branches NT, T of its ResourceFull with HREPEAT 150");

	begin(&encoder, &config);
	unseen = 1;
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	for (uint32_t i = 0; i < 3 * ((1u << 18) - 1) + 5; i++)
		retire(&encoder, 0x100, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_messages("ResourceFull RCODE=2 HIST=3 HREPEAT=3ffff; "
		    "ResourceFull RCODE=2 HIST=3 HREPEAT=3ffff; "
		    "ResourceFull RCODE=2 HIST=3 HREPEAT=3ffff; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=c0002 HIST=3f",
		    "history: counts of 18 bits add up for a repetition of any length");
}

struct queue_totals {
	uint64_t errors;
	uint64_t syncs;
	uint64_t violations;
};

/* N-Trace 1.0, "synchronization": Error comes directly before a sync with SYNC 7, or last. */
static void check_errors(struct queue_totals *totals)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	bool error = false;

	ntrace_reader_init(&reader, &stream_params, true);
	ntrace_reader_feed(&reader, stream, stream_size);
	while (ntrace_reader_next(&reader, &message) >= 0) {
		bool sync = ntrace_message_has(&message, NTRACE_FIELD_SYNC);

		if (error != (sync && message.field[NTRACE_FIELD_SYNC] == NTRACE_SYNC_FIFO_OVERRUN))
			totals->violations++;
		totals->syncs += sync;
		error = message.tcode == NTRACE_TCODE_ERROR;
		totals->errors += error;
	}
	totals->violations += ntrace_reader_pending(&reader) != 0;
}

/* The same run with some queue. Return: maximum number of bytes drained in @cycles cycles. */
static void run_queue(struct ntrace_encoder *encoder, struct ntrace_encoder_config *config)
{
	seed = 99;
	begin(encoder, config);
	ntrace_encoder_context(encoder, 5, 0, NTRACE_CTYPE_NONE);
	ntrace_encoder_start(encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t pc = 0x1000 + 2 * random_below(0x1000);

		ntrace_encoder_cycles(encoder, 1 + (random_below(20) ? 0 : random_below(50)));
		ntrace_encoder_time(encoder, i);
		retire(encoder, pc, 1 + random_below(6),
		       random_below(3) ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_INDIRECT_JUMP);
	}
	ntrace_encoder_stop(encoder, NTRACE_EVCODE_TRACE_DISABLE);
}

static void queue(void)
{
	struct queue_totals totals = { 0 };
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;
	static uint8_t whole[sizeof(stream)];
	size_t whole_size;

	default_config(&config);
	config.context = true;
	given.timestamp_bits = 40;
	config.timestamps = NTRACE_TIMESTAMPS_ALL;
	run_queue(&encoder, &config);
	whole_size = stream_size;
	memcpy(whole, stream, whole_size);

	config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
	config.fifo_drain = 0x10000;
	config.stall = true;
	run_queue(&encoder, &config);
	ok(stream_size == whole_size && !memcmp(stream, whole, whole_size),
	   "a queue that stalls the hart loses nothing");
	ok(encoder.stall_cycles > 1000 && !encoder.dropped,
	   "the hart has waited: %" PRIu64 " cycles", encoder.stall_cycles);

	config.stall = false;
	run_queue(&encoder, &config);
	check_errors(&totals);
	ok(encoder.dropped && totals.errors > 10,
	   "a queue that does not stall loses messages: %" PRIu64 " messages", encoder.dropped);
	is_u64(totals.violations, 0,
	       "corner case: no part of a message; Error before SYNC 7, %" PRIu64 " times",
	       totals.errors);
	ok(totals.syncs == totals.errors + 1, "each loss is reported once");
	is_u64(encoder.bytes, stream_size, "bytes are those written");

	config.fifo_drain = 64 << 16;
	run_queue(&encoder, &config);
	ok(stream_size == whole_size && !memcmp(stream, whole, whole_size),
	   "a queue that is fast enough changes nothing");

	config.fifo_drain = 1;
	run_queue(&encoder, &config);
	totals = (struct queue_totals){ 0 };
	check_errors(&totals);
	is_u64(totals.violations, 0, "a very slow queue: no violation");
	ok(stream_size >= 2 && stream[stream_size - 1] != 0 && totals.errors == 1,
	   "corner case: Error may be the very last message");
	is_u64(rewrite_errors, 0, "every message equals what ntrace_message_write() makes of it");
}

/* A block's second message would fit where the first one did not: it must not be sent alone. */
static void all_or_none(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	given.mode = NTRACE_MODE_BRANCH;
	config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
	config.fifo_drain = 1;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	/* ProgTraceSync takes 4 bytes, each DirectBranch 2. */
	for (int i = 0; i < 60; i++)
		retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_INDIRECT_JUMP);
	stream_size = 0;
	retire(&encoder, UINT64_C(0x7fff00000000), 3, NTRACE_ITYPE_BRANCH_TAKEN);
	is_u64(stream_size, 0, "no message of a block whose first message is lost");
	is_u64(encoder.dropped, 2, "both messages are counted");
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("20 00 07", "corner case: Error reports the loss");
}

/*
 * The queue's level is exact to the byte: a ProgTraceSync of 4 bytes and 62 DirectBranches of 2
 * bytes fill it.
 */
static void fill_queue(struct ntrace_encoder *encoder, struct ntrace_encoder_config *config)
{
	begin(encoder, config);
	ntrace_encoder_start(encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (int i = 0; i < (NTRACE_ENCODER_FIFO_MIN - 4) / 2; i++)
		retire(encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	is_u64(encoder->bytes, NTRACE_ENCODER_FIFO_MIN, "the queue is full");
}

static void exact_level(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	given.mode = NTRACE_MODE_BRANCH;
	config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
	config.fifo_drain = 3 << 16;
	/* 42 cycles drain 126 of 128 bytes, 43 drain all. */
	for (unsigned int cycles = 42; cycles < 44; cycles++) {
		unsigned int room = cycles == 42 ? 63 : 64;

		fill_queue(&encoder, &config);
		ntrace_encoder_cycles(&encoder, cycles);
		for (unsigned int i = 0; i < room; i++)
			retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
		is_u64(encoder.dropped, 0, "after %u cycles %u messages of 2 bytes fit", cycles,
		       room);
		retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
		is_u64(encoder.dropped, 1, "and no more");
	}

	config.stall = true;
	fill_queue(&encoder, &config);
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	is_u64(encoder.stall_cycles, 1,
	       "room for 2 bytes, 3 drain in a cycle: the hart waits one cycle");
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	is_u64(encoder.stall_cycles, 2, "one byte was left: the hart waits another cycle");
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	is_u64(encoder.stall_cycles, 2, "two bytes were left: the hart does not wait");
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_u64(encoder.stall_cycles, 2,
	       "waiting for room for the last message does not stall the hart");
	is_u64(encoder.dropped, 0, "nothing is lost");
}

/* 31 branches repeated 31 times, in counts of 3: the last repetition is separate. */
static void repeated_once(void)
{
	static const char three[] = "ResourceFull RCODE=2 HIST=ad3a5c17 HREPEAT=3; ";
	char expected[sizeof(three) * 10 + 200] = "";
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	config.repeated_history = true;
	config.hrepeat_bits = 2;
	begin(&encoder, &config);
	unseen = 1;
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	for (unsigned int i = 0; i < 31 * 31; i++)
		retire(&encoder, 0x100, 1,
		       0x2d3a5c17u >> (30 - i % 31) & 1 ? NTRACE_ITYPE_BRANCH_TAKEN :
							  NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	for (unsigned int i = 0; i < 10; i++)
		strcat(expected, three);
	strcat(expected, "ResourceFull RCODE=1 HIST=ad3a5c17; "
			 "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=3c1 HIST=1");
	is_messages(expected, "history: a single occurrence is no repetition");
}

/*
 * N-Trace 1.0, "synchronization": an Ownership message with the whole context directly follows
 * every sync.
 */
static void ownership_after_sync(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	config.context = true;
	config.hypervisor = true;
	begin(&encoder, &config);
	ntrace_encoder_context(&encoder, 7, 5, NTRACE_CTYPE_NONE);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 2, NTRACE_ITYPE_NONE);
	retire(&encoder, 0x104, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	retire(&encoder, 0x108, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_overrun(&encoder);
	retire(&encoder, 0x10c, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	/* hcontext 5 << 5 | M << 2 | 3, scontext 7 << 5 | M << 2 | 2 */
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=80; Ownership PROCESS=af; "
		    "Ownership PROCESS=ee; "
		    "ProgTraceSync SYNC=6 ICNT=4 FADDR=84; Ownership PROCESS=af; "
		    "Ownership PROCESS=ee; Error ETYPE=0 ECODE=4; "
		    "ProgTraceSync SYNC=7 ICNT=0 FADDR=86; Ownership PROCESS=af; "
		    "Ownership PROCESS=ee; ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1",
		    "synchronization: Ownership after every sync");
}

/* Version 0: software stores an id; the encoder knows neither that of after a sync nor privileges. */
static void stored_owner(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	given.dialect = NTRACE_DIALECT_SIFIVE_V0;
	config.context = true;
	begin(&encoder, &config);
	ntrace_encoder_context(&encoder, 7, 0, NTRACE_CTYPE_NONE);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_context(&encoder, 0x3b2, 0, NTRACE_CTYPE_IMPRECISE);
	retire(&encoder, 0x104, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	retire(&encoder, 0x108, 2, NTRACE_ITYPE_NONE);
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=80; Ownership PROCESS=3b2; "
		    "ProgTraceSync SYNC=6 ICNT=4 FADDR=84",
		    "P14 SiFive v0: Ownership has what software stored, when it does");
}

/* A DirectBranch waits to become a periodic sync when a reset comes first. */
static void branch_before_reset(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	given.mode = NTRACE_MODE_BRANCH;
	config.sync_mode = 3;
	begin(&encoder, &config);
	unseen = 2;
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x300, 13, NTRACE_ITYPE_BRANCH_TAKEN);
	retire(&encoder, 0x300, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	ntrace_encoder_reset(&encoder, true);
	ntrace_encoder_reset(&encoder, false);
	retire(&encoder, 0x1000, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_messages("DirectBranch ICNT=3; ProgTraceSync SYNC=1 ICNT=0 FADDR=800; "
		    "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2",
		    "synchronization: the reset vector is not the target of the branch");
}

/* Trace ended by a filter is reported off once, with or without idle_correlations. */
static void off_once(void)
{
	struct ntrace_ingress user = { .iaddr = 0x100, .iretire = 1, .priv = NTRACE_PRIV_U };
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	config.priv_mask = 1u << NTRACE_PRIV_M;
	config.idle_correlations = true;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int i = 0; i < 2; i++) {
		retire(&encoder, 0x200, 2, NTRACE_ITYPE_NONE);
		ntrace_encoder_retire(&encoder, &user);
		ntrace_encoder_retire(&encoder, &user);
	}
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=100; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1; "
		    "ProgTraceSync SYNC=5 ICNT=0 FADDR=100; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1",
		    "corner case: one Correlation per end of trace");
}

/* Branches held back during a queue overrun belong to the loss. */
static void lost_history(void)
{
	for (unsigned int pattern = 0; pattern < 2; pattern++) {
		struct ntrace_encoder_config config;
		struct ntrace_encoder encoder;

		default_config(&config);
		config.repeated_history = true;
		begin(&encoder, &config);
		unseen = 1;
		ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
		/* 40 bits are queued, 2000 equal ones become a pattern. */
		for (unsigned int i = 0; i < (pattern ? 2000 : 40); i++)
			retire(&encoder, 0x100, 1, NTRACE_ITYPE_BRANCH_TAKEN);
		ntrace_encoder_overrun(&encoder);
		retire(&encoder, 0x200, 2, NTRACE_ITYPE_BRANCH_NOT_TAKEN);
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
		is_messages("Error ETYPE=0 ECODE=4; ProgTraceSync SYNC=7 ICNT=0 FADDR=100; "
			    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=2",
			    "corner case: no branch from before a loss is reported after it");
	}
}

int main(void)
{
	ownership_after_sync();
	stored_owner();
	branch_before_reset();
	off_once();
	lost_history();
	exact_level();
	repeated_once();
	one_repetition();
	repeated_history();
	queue();
	all_or_none();
	return done_testing();
}
