// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Encoder: the specification's examples that an encoder can produce, and properties of random
 * streams. Expected bytes come from the specification or from its field tables, never from the
 * encoder.
 */
#include <stdlib.h>

#include "test_encode.h"

/* The specification's example program A: three paths through it, in both modes. */
static void program_a(enum ntrace_mode mode, const char *taken, const char *second,
		      const char *none)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;
	const char *name = mode == NTRACE_MODE_BRANCH ? "BTM" : "HTM";
	char text[64];

	default_config(&config);
	given.mode = mode;

	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	retire(&encoder, 0x200, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	snprintf(text, sizeof(text), "program A %s, first branch taken", name);
	is_bytes(taken, text);

	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	retire(&encoder, 0x106, 4, NTRACE_ITYPE_BRANCH_TAKEN);
	retire(&encoder, 0x300, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	snprintf(text, sizeof(text), "program A %s, second branch taken", name);
	is_bytes(second, text);

	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	retire(&encoder, 0x106, 4, NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	retire(&encoder, 0x10e, 3, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	snprintf(text, sizeof(text), "program A %s, none taken", name);
	is_bytes(none, text);
}

static void vectors(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x3fc04, 7, NTRACE_ITYPE_RETURN);
	retire(&encoder, 0x3f368, 0, NTRACE_ITYPE_EXCEPTION);
	retire(&encoder, 0x3e100, 4, NTRACE_ITYPE_INTERRUPT);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("24 0D 08 E0 7F 10 71 D8 7B 10 09 D0 93 84 50 11 07",
		 "chain of XOR addresses, exception without retirement, trap pending at the end");

	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 0, NTRACE_ITYPE_EXCEPTION);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("24 0D 00 0B 84 50 01 07", "trap at the first traced instruction, then disabled");

	/* Ingress example 1; U-ADDR (0x1000 ^ 0x940) >> 1 = 0xca0 */
	ntrace_encoder_start(&encoder, NTRACE_SYNC_RESET_EXIT);
	retire(&encoder, 0x1000, 7, NTRACE_ITYPE_INDIRECT_CALL);
	retire(&encoder, 0x940, 3, NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	retire(&encoder, 0x946, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	retire(&encoder, 0x988, 4, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_bytes("24 05 00 83 10 71 80 CB 84 40 21 17", "ingress port, example 1");

	config.hist_bits = 30;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 30; i++)
		retire(&encoder, 0x100, 1,
		       i & 1 ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	is_bytes("24 0D 00 0B 6C 44 54 54 54 54 57", "ResourceFull with 30 history bits");
	config.hist_bits = 31;

	config.icnt_bits = 4;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 9, NTRACE_ITYPE_NONE);
	retire(&encoder, 0x112, 7, NTRACE_ITYPE_NONE);
	is_bytes("24 0D 00 0B 6C 40 0B", "ResourceFull with I-CNT, before it would overflow");
	retire(&encoder, 0x200, 40, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	/* 7, 15, 15 and 10 */
	is_bytes("6C C0 07 6C C0 0F 6C C0 0F 84 40 29 07", "a block longer than I-CNT is split");
	config.icnt_bits = 22;

	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0xffffffff800031f4, 2, NTRACE_ITYPE_INDIRECT_JUMP);
	is_bytes("24 0D E8 8C 04 00 00 FC FC FC FC FC 1F",
		 "kernel address without address extension");
	given.address_bits = 48;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0xffffffff800031f4, 2, NTRACE_ITYPE_INDIRECT_JUMP);
	retire(&encoder, 0x10000, 2, NTRACE_ITYPE_NONE);
	is_bytes("24 0D E8 8C 04 00 00 FC FC FF 10 21 E8 8C 24 00 00 FC FC FF",
		 "the same with addresses of 48 bits, and back");
	given.address_bits = 0;
	given.extend_address = true;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0xffffffff800031f4, 2, NTRACE_ITYPE_INDIRECT_JUMP);
	retire(&encoder, 0x10000, 2, NTRACE_ITYPE_NONE);
	is_bytes("24 0D E8 8C 04 00 00 FF 10 21 E8 8C 24 00 00 FF", "the same with it, and back");
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0xffffffff800031f4, 2, NTRACE_ITYPE_INDIRECT_JUMP);
	stream_size = 0;
	retire(&encoder, 0xffffffff800031b4, 2, NTRACE_ITYPE_NONE);
	is_bytes("10 21 80 03", "a zero byte keeps a positive difference positive");

	default_config(&config);
	given.mode = NTRACE_MODE_BRANCH;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 100, NTRACE_ITYPE_BRANCH_TAKEN);
	retire(&encoder, 0x100, 5, NTRACE_ITYPE_DIRECT_JUMP);
	is_bytes("24 0D 00 0B 0C 90 07", "DirectBranch; a direct jump sends no message");
	given.all_jumps = true;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_DIRECT_JUMP);
	retire(&encoder, 0x100, 7, NTRACE_ITYPE_DIRECT_CALL);
	is_bytes("24 0D 00 0B 0C 0F 0C 1F", "all jumps, BTM");
	given.mode = NTRACE_MODE_HISTORY;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 2, NTRACE_ITYPE_OTHER_DIRECT_JUMP);
	retire(&encoder, 0x100, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_bytes("24 0D 00 0B 84 40 11 0F", "all jumps, HTM");

	default_config(&config);
	given.src_bits = 4;
	config.src = 10;
	config.trap_btype = true;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	retire(&encoder, 0x100, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	retire(&encoder, 0x200, 1, NTRACE_ITYPE_INTERRUPT);
	retire(&encoder, 0x300, 1, NTRACE_ITYPE_NONE);
	/* TCODE 28, SRC 10, BTYPE 1 is 01 1010 011100: 70 68; U-ADDR 0x100; HIST 3 */
	is_bytes("24 68 05 00 0B 70 68 09 00 11 0F", "SRC of 4 bits, BTYPE 1 for every trap");
}

static void start_and_stop(void)
{
	struct ntrace_ingress block = { .iaddr = 0x100, .iretire = 1 };
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	config.icnt_bits = 0;
	config.write = take;
	ok(ntrace_encoder_init(&encoder, &config) == NTRACE_ERR_INVALID, "no I-CNT: refused");
	default_config(&config);
	config.write = take;
	config.hist_bits = 32;
	ok(ntrace_encoder_init(&encoder, &config) == NTRACE_ERR_INVALID,
	   "32 history bits: refused");
	default_config(&config);
	config.write = take;
	config.sync_mode = 4;
	ok(ntrace_encoder_init(&encoder, &config) == NTRACE_ERR_INVALID,
	   "an unknown kind of periodic sync: refused");
	default_config(&config);
	config.write = take;
	config.src = 1;
	ok(ntrace_encoder_init(&encoder, &config) == NTRACE_ERR_INVALID,
	   "SRC wider than its field: refused");

	default_config(&config);
	begin(&encoder, &config);
	retire(&encoder, 0x100, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("", "nothing is sent while tracing is off");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("", "started and stopped without an instruction: no message");

	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 1, NTRACE_ITYPE_NONE);
	block.itype = 7;
	ok(ntrace_encoder_retire(&encoder, &block) == NTRACE_ERR_INVALID,
	   "reserved itype: refused");
	block.itype = NTRACE_ITYPE_BRANCH_TAKEN;
	block.iretire = 0;
	ok(ntrace_encoder_retire(&encoder, &block) == NTRACE_ERR_INVALID,
	   "a branch that did not retire: refused");
	block.iretire = NTRACE_IRETIRE_MAX + 1;
	ok(ntrace_encoder_retire(&encoder, &block) == NTRACE_ERR_INVALID,
	   "more parcels than any cycle retires: refused");
	block.iretire = 1;
	block.iaddr = 0x101;
	ok(ntrace_encoder_retire(&encoder, &block) == NTRACE_ERR_INVALID, "odd address: refused");
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	is_bytes("24 0D 00 0B 84 40 05 07", "refused blocks change nothing");

	/* Error: ETYPE 0, ECODE bit 2; then SYNC 7 at the next instruction */
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 1, NTRACE_ITYPE_RETURN);
	ntrace_encoder_overrun(&encoder);
	retire(&encoder, 0x200, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("24 0D 00 0B 20 00 07 24 1D 00 13 84 50 09 07",
		 "overrun: Error and ProgTraceSync");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 1, NTRACE_ITYPE_RETURN);
	ntrace_encoder_overrun(&encoder);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("24 0D 00 0B 20 00 07", "overrun just before the end: Error alone");
}

static void privilege_filter(void)
{
	struct ntrace_ingress user = { .iaddr = 0x100, .iretire = 2, .priv = NTRACE_PRIV_U };
	struct ntrace_ingress kernel = { .iaddr = 0x80000000, .iretire = 3, .priv = NTRACE_PRIV_S };
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	config.priv_mask = 1u << NTRACE_PRIV_U;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	ntrace_encoder_retire(&encoder, &kernel);
	is_bytes("", "started outside of the filter: no message");
	ntrace_encoder_retire(&encoder, &user);
	user.iretire = 0;
	user.itype = NTRACE_ITYPE_EXCEPTION;
	user.iaddr = 0x104;
	ntrace_encoder_retire(&encoder, &user);
	ntrace_encoder_retire(&encoder, &kernel);
	kernel.itype = NTRACE_ITYPE_TRAP_RETURN;
	ntrace_encoder_retire(&encoder, &kernel);
	is_bytes("24 0D 00 0B 84 50 09 07", "a trap out of the filter: Correlation in its place");
	user.iretire = 1;
	user.itype = NTRACE_ITYPE_NONE;
	user.iaddr = 0x200;
	ntrace_encoder_retire(&encoder, &user);
	is_bytes("24 15 00 13", "back inside: ProgTraceSync SYNC 5");
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("84 50 05 07", "and its end");

	kernel.itype = NTRACE_ITYPE_NONE;
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	ntrace_encoder_retire(&encoder, &user);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	ntrace_encoder_retire(&encoder, &kernel);
	ntrace_encoder_retire(&encoder, &user);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_bytes("24 15 00 13 84 50 05 07 24 15 00 13 84 50 05 07",
		 "synchronization: a trigger before the filter does not mark the code after it");
}

static void periodic_sync(void)
{
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	default_config(&config);
	config.sync_mode = 3;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	retire(&encoder, 0x100, 15, NTRACE_ITYPE_NONE);
	retire(&encoder, 0x11e, 1, NTRACE_ITYPE_NONE);
	retire(&encoder, 0x120, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	/* SYNC 2, I-CNT 16, F-ADDR 0x90 */
	is_bytes("24 0D 00 0B 24 08 11 40 0B", "after 16 parcels, no history: ProgTraceSync");
	retire(&encoder, 0x130, 15, NTRACE_ITYPE_NONE);
	retire(&encoder, 0x100, 1, NTRACE_ITYPE_NONE);
	/* TCODE 29, SYNC 2, BTYPE 0, I-CNT 16, F-ADDR 0x80, HIST 3 */
	is_bytes("74 08 41 00 09 0F", "with history: IndirectBranchHistSync BTYPE 0");
	retire(&encoder, 0x102, 16, NTRACE_ITYPE_EXCEPTION);
	retire(&encoder, 0x100, 1, NTRACE_ITYPE_NONE);
	/* TCODE 12, SYNC 2, BTYPE 2, I-CNT 17 */
	is_bytes("30 88 45 00 0B", "with a trap pending: IndirectBranchSync BTYPE 2");
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);

	config.sync_mode = 1;
	given.mode = NTRACE_MODE_BRANCH;
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 16; i++)
		retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	is_u64(encoder.messages, 17, "16 messages since the sync");
	stream_size = 0;
	retire(&encoder, 0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	is_bytes("24 09 00 0B 0C 0F",
		 "after 16 messages: ProgTraceSync, then what the block makes");
}

/* Random programs */
static uint64_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % limit;
}

static uint64_t code_address(unsigned int priv)
{
	if (priv == NTRACE_PRIV_U)
		return 0x10000 + 2 * random_below(0x8000);
	return 0xffffffff80000000 + 2 * random_below(0x8000);
}

struct totals {
	uint64_t parcels;
	uint64_t branches;
	uint64_t taken;
	uint64_t outcomes;	/* hash of the outcomes */
};

static void fold(struct totals *totals, bool taken)
{
	totals->branches++;
	totals->taken += taken;
	totals->outcomes = totals->outcomes * 3 + 1 + taken;
}

static void read_back(struct totals *totals, uint64_t *outside)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	uint64_t reference = 0;

	ntrace_reader_init(&reader, &stream_params, true);
	ntrace_reader_feed(&reader, stream, stream_size);
	while (ntrace_reader_next(&reader, &message) >= 0) {
		totals->parcels += message.field[NTRACE_FIELD_ICNT];
		if (message.tcode == NTRACE_TCODE_DIRECT_BRANCH ||
		    message.tcode == NTRACE_TCODE_DIRECT_BRANCH_SYNC)
			fold(totals, true);
		if (ntrace_message_has(&message, NTRACE_FIELD_HIST)) {
			uint64_t hist = message.field[NTRACE_FIELD_HIST];

			for (int i = 62 - __builtin_clzll(hist); i >= 0; i--)
				fold(totals, hist >> i & 1);
		}
		if (ntrace_message_has(&message, NTRACE_FIELD_FADDR))
			reference = message.field[NTRACE_FIELD_FADDR] << 1;
		if (ntrace_message_has(&message, NTRACE_FIELD_UADDR))
			reference ^= message.field[NTRACE_FIELD_UADDR] << 1;
		if (reference >> 63)
			(*outside)++;
	}
}

static void random_streams(void)
{
	uint64_t bad_totals = 0, addresses_outside = 0, streams = 400;

	rewrite_errors = 0;
	for (uint64_t n = 0; n < streams; n++) {
		struct totals sent = { 0 }, got = { 0 };
		struct ntrace_encoder_config config;
		struct ntrace_encoder encoder;
		uint64_t outside = 0;
		bool user_only = n & 1, history = n & 2;

		default_config(&config);
		given.mode = history ? NTRACE_MODE_HISTORY : NTRACE_MODE_BRANCH;
		given.src_bits = random_below(13);
		config.src = random_below(1u << given.src_bits);
		/* read_back() cannot extend addresses; the bytes are checked nevertheless. */
		given.extend_address = !user_only && random_below(2);
		config.icnt_bits = 1 + random_below(32);
		config.hist_bits = 1 + random_below(31);
		config.sync_mode = (unsigned int[]){ 0, 1, 3 }[random_below(3)];
		config.sync_max = random_below(5);
		config.priv_mask = user_only ? 1u << NTRACE_PRIV_U : ~0u;
		config.write = take;
		stream_size = 0;
		stream_params = given;
		if (ntrace_encoder_init(&encoder, &config)) {
			bad_totals++;
			continue;
		}
		ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
		for (int i = 0; i < 2000; i++) {
			struct ntrace_ingress block = { .priv = random_below(2) };

			block.iaddr = code_address(block.priv);
			block.iretire = 1 + random_below(12);
			do
				block.itype = random_below(16);
			while (block.itype == 6 || block.itype == 7);
			if (block.itype == 1 || block.itype == 2)
				block.iretire = random_below(3);
			if (!random_below(200))
				block.iretire = random_below(40000) + 1;
			ntrace_encoder_retire(&encoder, &block);
			if (user_only && block.priv)
				continue;
			sent.parcels += block.iretire;
			if (block.itype == 5 || (block.itype == 4 && history))
				fold(&sent, block.itype == 5);
		}
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
		if (encoder.bytes != stream_size)
			bad_totals++;
		read_back(&got, &outside);
		if (memcmp(&sent, &got, sizeof(got)))
			bad_totals++;
		if (user_only)
			addresses_outside += outside;
	}
	is_u64(rewrite_errors, 0,
	       "every message equals what ntrace_message_write() makes of its fields");
	is_u64(bad_totals, 0, "I-CNT adds up and branch outcomes are in order, %" PRIu64 " streams",
	       streams);
	is_u64(addresses_outside, 0, "no address outside the filtered privileges");
}

int main(void)
{
	program_a(NTRACE_MODE_BRANCH, "24 0D 00 0B 0C 0F 84 00 07", "24 0D 00 0B 0C 1F 84 00 0B",
		  "24 0D 00 0B 84 00 2B");
	program_a(NTRACE_MODE_HISTORY, "24 0D 00 0B 84 40 11 0F", "24 0D 00 0B 84 40 25 17",
		  "24 0D 00 0B 84 40 29 13");
	vectors();
	start_and_stop();
	privilege_filter();
	periodic_sync();
	random_streams();
	return done_testing();
}
