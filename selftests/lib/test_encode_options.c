// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Encoder: its options one by one, with examples and scenarios of N-Trace 1.0. Expected bytes come
 * from the specification or follow from its field tables.
 */
#include "test_encode.h"

static struct ntrace_encoder encoder;
static struct ntrace_encoder_config config;

static void configure(enum ntrace_mode mode)
{
	default_config(&config);
	given.mode = mode;
}

static void start(enum ntrace_sync sync)
{
	begin(&encoder, &config);
	ntrace_encoder_start(&encoder, sync);
}

static void block(uint64_t iaddr, uint32_t iretire, enum ntrace_itype itype)
{
	retire(&encoder, iaddr, iretire, itype);
}

static void block_in(enum ntrace_priv priv, uint64_t iaddr, uint32_t iretire,
		     enum ntrace_itype itype)
{
	struct ntrace_ingress ingress = {
		.iaddr = iaddr, .iretire = iretire, .itype = itype, .priv = priv
	};

	if (ntrace_encoder_retire(&encoder, &ingress))
		ok(false, "block 0x%" PRIx64 " refused", iaddr);
}

static void stop(void)
{
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_DEBUG_ENTRY);
}

/* N-Trace 1.0, "I-CNT", and example programs B and B', whose I-CNT is full from 8 on. */
static void icnt_full(void)
{
	static const struct {
		uint64_t pc;
		uint32_t parcels;
	} program_b[] = { { 0x100, 1 }, { 0x102, 2 }, { 0x106, 2 }, { 0x10a, 2 },
			  { 0x10e, 2 }, { 0x112, 2 }, { 0x116, 2 }, { 0x11a, 1 } },
	  program_b7[] = { { 0x100, 1 }, { 0x102, 2 }, { 0x106, 1 }, { 0x108, 2 },
			   { 0x10c, 2 }, { 0x110, 2 }, { 0x114, 2 }, { 0x118, 2 } };

	configure(NTRACE_MODE_HISTORY);
	config.icnt_bits = 4;
	config.icnt_full = 8;
	start(NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 8; i++)
		block(program_b[i].pc, program_b[i].parcels,
		      i == 1 ? NTRACE_ITYPE_BRANCH_NOT_TAKEN : NTRACE_ITYPE_NONE);
	stop();
	is_bytes("24 0D 00 0B 6C 40 0B 84 40 15 0B", "I-CNT: program B in HTM");

	given.mode = NTRACE_MODE_BRANCH;
	config.sync4_for_icnt = true;
	start(NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 8; i++)
		block(program_b[i].pc, program_b[i].parcels,
		      i == 1 ? NTRACE_ITYPE_BRANCH_NOT_TAKEN : NTRACE_ITYPE_NONE);
	stop();
	is_bytes("24 0D 00 0B 24 50 09 24 0B 84 00 17", "I-CNT: program B in BTM, SYNC 4");

	given.mode = NTRACE_MODE_HISTORY;
	given.dialect = NTRACE_DIALECT_RC7;
	start(NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 8; i++)
		block(program_b7[i].pc, program_b7[i].parcels,
		      i == 1 ? NTRACE_ITYPE_BRANCH_NOT_TAKEN : NTRACE_ITYPE_NONE);
	stop();
	is_bytes("24 0D 00 0B 74 10 21 20 09 0B 84 40 19 07",
		 "I-CNT: program B' of rc7, SYNC 4 in HTM");

	given.mode = NTRACE_MODE_BRANCH;
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x100, 40, NTRACE_ITYPE_NONE);
	stop();
	/* 15, 15 and 10: no instruction boundary for a sync */
	is_bytes("24 0D 00 0B 6C C0 0F 6C C0 0F 84 00 2B",
		 "I-CNT: one block longer than I-CNT, SYNC 4 or not");
}

static void sync_forms(void)
{
	configure(NTRACE_MODE_BRANCH);
	config.sync_mode = 3;
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x300, 13, NTRACE_ITYPE_BRANCH_TAKEN);
	block(0x300, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	stream_size = 0;
	block(0x200, 1, NTRACE_ITYPE_NONE);
	is_bytes("2C C9 00 13", "synchronization: a periodic sync upgrades DirectBranch");
	stop();

	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x300, 13, NTRACE_ITYPE_BRANCH_TAKEN);
	block(0x300, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	stream_size = 0;
	stop();
	is_bytes("0C 0F 84 00 03",
		 "synchronization: DirectBranch is sent unchanged if trace ends first");

	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x300, 11, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x400, 5, NTRACE_ITYPE_INDIRECT_JUMP);
	stream_size = 0;
	block(0x200, 1, NTRACE_ITYPE_NONE);
	is_bytes("30 08 15 00 13", "synchronization: a periodic sync upgrades IndirectBranch");

	configure(NTRACE_MODE_HISTORY);
	given.src_bits = 2;
	config.src = 1;
	given.timestamp_bits = 40;
	config.timestamps = NTRACE_TIMESTAMPS_SYNC;
	config.sync_mode = 2;
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x80003400, 4, NTRACE_ITYPE_BRANCH_TAKEN);
	stream_size = 0;
	ntrace_encoder_cycles(&encoder, 15);
	ntrace_encoder_time(&encoder, 0x4ff3a2874f);
	ntrace_encoder_cycles(&encoder, 1);
	block(0x80003416, 1, NTRACE_ITYPE_NONE);
	is_bytes("74 24 41 2C A0 04 00 00 05 0D 3C 74 A0 A0 CC FC 13",
		 "example: periodic sync after 16 cycles, as a P550 sent it");
	ntrace_encoder_cycles(&encoder, 15);
	block(0x80003418, 1, NTRACE_ITYPE_NONE);
	is_bytes("", "synchronization: not after 15");

	configure(NTRACE_MODE_HISTORY);
	given.src_bits = 4;
	config.src = 10;
	given.timestamp_bits = 48;
	config.timestamps = NTRACE_TIMESTAMPS_SYNC;
	begin(&encoder, &config);
	ntrace_encoder_time(&encoder, 0x123456789);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	block(0x100, 1, NTRACE_ITYPE_NONE);
	is_bytes("24 68 05 00 09 24 78 58 44 8C 13", "example: SRC and TSTAMP");

	configure(NTRACE_MODE_HISTORY);
	given.xlen = 32;
	start(NTRACE_SYNC_RESET_EXIT);
	block(0x20010522, 1, NTRACE_ITYPE_NONE);
	is_bytes("24 05 44 28 20 00 43", "example: exit from reset");
}

/* Examples of the specification that need no option. */
static void printed(void)
{
	configure(NTRACE_MODE_HISTORY);
	start(NTRACE_SYNC_POWER_DOWN_EXIT);
	block(0x100, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_LOW_POWER);
	is_bytes("24 25 00 0B 84 44 05 07", "synchronization: SYNC 9 and EVCODE 1 for low power");

	start(NTRACE_SYNC_DEBUG_EXIT);
	unseen = 1;
	for (int i = 0; i < 11; i++)
		block(0x100, i ? 12 : 4,
		      i < 10 ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	block(0x100, 1, NTRACE_ITYPE_RETURN);
	block(0x10e, 1, NTRACE_ITYPE_NONE);
	is_bytes("70 D0 1D 1D F8 FF", "example: IndirectBranchHist that ends in FF");

	start(NTRACE_SYNC_DEBUG_EXIT);
	unseen = 1;
	for (int i = 30; i >= 0; i--)
		block(0x100, 1,
		      0xd5528000 >> i & 1 ? NTRACE_ITYPE_BRANCH_TAKEN :
					    NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	is_bytes("6C 04 00 00 28 54 D7", "example: ResourceFull with 31 branches");

	start(NTRACE_SYNC_DEBUG_EXIT);
	unseen = 1;
	for (int i = 0; i < 8; i++)
		block(0x100, 0x8000, NTRACE_ITYPE_NONE);
	block(0x100, 0x5ee5, NTRACE_ITYPE_NONE);
	for (int i = 4; i >= 0; i--)
		block(0x100, 1,
		      0x2d >> i & 1 ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	stop();
	is_bytes("84 40 A8 EC 14 05 B7", "example: ProgTraceCorrelation with history");
}

static void markers(void)
{
	configure(NTRACE_MODE_HISTORY);
	start(NTRACE_SYNC_TRACE_ENABLE);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	block(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	block(0x200, 2, NTRACE_ITYPE_INDIRECT_JUMP);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_EXTERNAL_TRIGGER);
	block(0x300, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_EXTERNAL_TRIGGER);
	block(0x304, 2, NTRACE_ITYPE_NONE);
	stop();
	is_messages(
		"ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
		"IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=3 FADDR=100 HIST=3; "
		"IndirectBranchSync SYNC=0 BTYPE=0 ICNT=2 FADDR=180; "
		"ProgTraceSync SYNC=0 ICNT=2 FADDR=182; "
		"ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=1",
		"synchronization, scenario 4: triggers in running code; none where trace starts");
}

static void ownership(void)
{
	configure(NTRACE_MODE_HISTORY);
	config.context = true;
	start(NTRACE_SYNC_DEBUG_EXIT);
	ntrace_encoder_context(&encoder, 0x1d, 0, NTRACE_CTYPE_IMPRECISE);
	block_in(NTRACE_PRIV_VU, 0x100, 1, NTRACE_ITYPE_EXCEPTION);
	is_bytes("24 0D 00 0B 08 C8 3B", "synchronization: Ownership follows a sync at once");
	block_in(NTRACE_PRIV_M, 0x200, 1, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranch BTYPE=2 ICNT=1 UADDR=180; Ownership PROCESS=c",
		    "synchronization: Ownership FORMAT 0 when a trap changes the privilege");
	block_in(NTRACE_PRIV_M, 0x202, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_context(&encoder, 0x1e, 0, NTRACE_CTYPE_IMPRECISE);
	block_in(NTRACE_PRIV_M, 0x204, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_context(&encoder, 0x1f, 0, NTRACE_CTYPE_NONE);
	block_in(NTRACE_PRIV_M, 0x206, 1, NTRACE_ITYPE_NONE);
	/* 0x1e << 5 | 3 << 2 | 2 */
	is_messages(
		"Ownership PROCESS=3ce",
		"synchronization: Ownership FORMAT 2 when scontext is written, with ctype 1 only");
	ntrace_encoder_context(&encoder, 0x20, 0, NTRACE_CTYPE_PRECISE);
	block_in(NTRACE_PRIV_M, 0x208, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	ntrace_encoder_context(&encoder, 0x21, 0, NTRACE_CTYPE_DISCONTINUITY);
	block_in(NTRACE_PRIV_M, 0x300, 1, NTRACE_ITYPE_NONE);
	is_messages("ProgTraceSync SYNC=2 ICNT=4 FADDR=104; Ownership PROCESS=40e; "
		    "IndirectBranchHist BTYPE=3 ICNT=1 UADDR=84 HIST=3; Ownership PROCESS=42e",
		    "ingress port: ctype 2 is reported at its instruction, 3 as a discontinuity");
	stop();

	config.hypervisor = true;
	start(NTRACE_SYNC_DEBUG_EXIT);
	ntrace_encoder_context(&encoder, 7, 5, NTRACE_CTYPE_NONE);
	block_in(NTRACE_PRIV_VS, 0x100, 1, NTRACE_ITYPE_TRAP_RETURN);
	ntrace_encoder_context(&encoder, 7, 6, NTRACE_CTYPE_IMPRECISE);
	block_in(NTRACE_PRIV_VU, 0x100, 1, NTRACE_ITYPE_NONE);
	/* 5 << 5 | V | S << 2 | 3; 7 << 5 | V | S << 2 | 2; 6 << 5 | V | U << 2 | 3, then FORMAT 0 */
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=80; Ownership PROCESS=b7; "
		    "Ownership PROCESS=f6; IndirectBranch BTYPE=0 ICNT=1 UADDR=0; "
		    "Ownership PROCESS=d3; Ownership PROCESS=10",
		    "synchronization: hcontext (FORMAT 3) before scontext");

	configure(NTRACE_MODE_HISTORY);
	config.context = true;
	start(NTRACE_SYNC_DEBUG_EXIT);
	block_in(NTRACE_PRIV_M, 0x100, 2, NTRACE_ITYPE_TRAP_RETURN);
	block_in(NTRACE_PRIV_U, 0x300, 0, NTRACE_ITYPE_INTERRUPT);
	block_in(NTRACE_PRIV_M, 0x200, 2, NTRACE_ITYPE_NONE);
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=80; Ownership PROCESS=e; "
		    "IndirectBranch BTYPE=0 ICNT=2 UADDR=100; Ownership PROCESS=0; "
		    "IndirectBranch BTYPE=3 ICNT=0 UADDR=80; Ownership PROCESS=c",
		    "corner case: a trap right after a trap return");
}

static void debug_mode(void)
{
	configure(NTRACE_MODE_BRANCH);
	start(NTRACE_SYNC_TRACE_ENABLE);
	block(0x100, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_halted(&encoder, true);
	ntrace_encoder_halted(&encoder, false);
	block(0x102, 5, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
		    "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1; "
		    "ProgTraceSync SYNC=3 ICNT=0 FADDR=81; "
		    "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=5",
		    "synchronization, scenario 1: enabled, debugged, disabled");

	start(NTRACE_SYNC_TRACE_ENABLE);
	block(0x100, 1, NTRACE_ITYPE_NONE);
	block_in(NTRACE_PRIV_D, 0x800, 5, NTRACE_ITYPE_BRANCH_TAKEN);
	block_in(NTRACE_PRIV_D, 0x808, 5, NTRACE_ITYPE_BRANCH_TAKEN);
	block(0x102, 5, NTRACE_ITYPE_NONE);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	is_messages("ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
		    "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1; "
		    "ProgTraceSync SYNC=3 ICNT=0 FADDR=81; "
		    "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=5",
		    "ingress port: the same with priv 4 in place of halted");

	for (int idle = 0; idle < 2; idle++) {
		config.idle_correlations = idle;
		begin(&encoder, &config);
		ntrace_encoder_halted(&encoder, true);
		ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
		ntrace_encoder_halted(&encoder, false);
		block(0x100, 1, NTRACE_ITYPE_NONE);
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
		is_messages(idle ? "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0; "
				   "ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
				   "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1" :
				   "ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
				   "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1",
			    "synchronization, scenario 2: enabled while in debug");

		start(NTRACE_SYNC_TRACE_ENABLE);
		block(0x100, 1, NTRACE_ITYPE_NONE);
		ntrace_encoder_halted(&encoder, true);
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
		ntrace_encoder_halted(&encoder, false);
		block(0x102, 1, NTRACE_ITYPE_NONE);
		is_messages(idle ? "ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
				   "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1; "
				   "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0" :
				   "ProgTraceSync SYNC=5 ICNT=0 FADDR=80; "
				   "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1",
			    "synchronization, scenario 3: disabled while in debug");

		begin(&encoder, &config);
		ntrace_encoder_halted(&encoder, true);
		ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
		ntrace_encoder_halted(&encoder, false);
		is_messages(idle ? "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0; "
				   "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0" :
				   "",
			    "synchronization, scenario 5: enabled and disabled while in debug");
	}

	configure(NTRACE_MODE_HISTORY);
	config.idle_correlations = true;
	config.priv_mask = 1u << NTRACE_PRIV_U;
	start(NTRACE_SYNC_TRACE_ENABLE);
	block_in(NTRACE_PRIV_M, 0x100, 1, NTRACE_ITYPE_NONE);
	block_in(NTRACE_PRIV_M, 0x102, 1, NTRACE_ITYPE_TRAP_RETURN);
	is_bytes("84 50 01 07", "corner case: trace starts disabled, reported once");
	ntrace_encoder_halted(&encoder, true);
	is_bytes("84 40 01 07", "corner case: the hart halts while trace is disabled");
	ntrace_encoder_halted(&encoder, false);
	block_in(NTRACE_PRIV_M, 0x104, 1, NTRACE_ITYPE_TRAP_RETURN);
	block_in(NTRACE_PRIV_U, 0x100, 1, NTRACE_ITYPE_NONE);
	is_bytes("24 15 00 0B",
		 "synchronization: SYNC 5, since the code after Debug Mode was not traced");

	configure(NTRACE_MODE_HISTORY);
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x100, 0, NTRACE_ITYPE_INTERRUPT);
	block(0x200, 0, NTRACE_ITYPE_EXCEPTION);
	block(0x200, 1, NTRACE_ITYPE_NONE);
	is_messages(
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80; IndirectBranch BTYPE=3 ICNT=0 UADDR=180; "
		"IndirectBranch BTYPE=2 ICNT=0 UADDR=0",
		"corner case: interrupt at debug exit, exception at the handler's first insn");

	ntrace_encoder_reset(&encoder, true);
	block(0x200, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_reset(&encoder, false);
	block(0x1000, 1, NTRACE_ITYPE_BRANCH_TAKEN);
	ntrace_encoder_reset(&encoder, true);
	ntrace_encoder_reset(&encoder, false);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	block(0x1000, 1, NTRACE_ITYPE_NONE);
	is_messages("ProgTraceSync SYNC=1 ICNT=1 FADDR=800; "
		    "IndirectBranchHistSync SYNC=1 BTYPE=0 ICNT=1 FADDR=800 HIST=3",
		    "synchronization: after a reset, the instructions retired before it");
}

static void returns(void)
{
	configure(NTRACE_MODE_HISTORY);
	given.implicit_return = 3;
	config.implicit_return_depth = 2;
	start(NTRACE_SYNC_DEBUG_EXIT);
	unseen = 1;
	block(0x100, 2, NTRACE_ITYPE_DIRECT_CALL);	/* back to 0x104 */
	block(0x200, 2, NTRACE_ITYPE_DIRECT_CALL);	/* 0x204 */
	block(0x300, 2, NTRACE_ITYPE_DIRECT_CALL);	/* 0x304; the oldest is lost */
	block(0x400, 1, NTRACE_ITYPE_RETURN);
	block(0x304, 1, NTRACE_ITYPE_RETURN);
	block(0x204, 1, NTRACE_ITYPE_RETURN);
	is_bytes("", "implicit return: two returns inferred with a stack of two");
	block(0x104, 1, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranch BTYPE=0 ICNT=9 UADDR=2",
		    "implicit return: the third return is reported");
	block(0x106, 2, NTRACE_ITYPE_INDIRECT_CALL);	/* 0x10a */
	block(0x500, 1, NTRACE_ITYPE_RETURN);
	stream_size = 0;
	block(0x10c, 1, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranch BTYPE=0 ICNT=1 UADDR=206",
		    "implicit return: a return to another address is reported");
	stop();

	/* The return goes to 0x102, not 0x104; the bytes after it show how much is compared. */
	for (unsigned int mode = 1; mode <= 3; mode++) {
		given.implicit_return = mode;
		for (unsigned int bits = 1; bits <= 2; bits++) {
			config.return_compare_bits = bits;
			start(NTRACE_SYNC_DEBUG_EXIT);
			unseen = 1;
			block(0x100, 2, NTRACE_ITYPE_DIRECT_CALL);
			block(0x200, 4, NTRACE_ITYPE_RETURN);
			block(0x102, 1, NTRACE_ITYPE_NONE);
			is_messages(mode == 1 ? "" : "IndirectBranch BTYPE=0 ICNT=6 UADDR=1",
				    "implicit return: modes 2 and 3 compare the lowest bit");
			start(NTRACE_SYNC_DEBUG_EXIT);
			unseen = 1;
			block(0x100, 2, NTRACE_ITYPE_DIRECT_CALL);
			block(0x200, 4, NTRACE_ITYPE_RETURN);
			block(0x204, 1, NTRACE_ITYPE_NONE);
			is_messages(mode == 3 ? "IndirectBranch BTYPE=0 ICNT=6 UADDR=182" : "",
				    "implicit return: mode 3 compares all, mode 2 the low bits");
		}
	}

	given.implicit_return = 2;
	for (unsigned int bits = 1; bits <= 2; bits++) {
		config.return_compare_bits = bits;
		start(NTRACE_SYNC_DEBUG_EXIT);
		unseen = 1;
		block(0x100, 2, NTRACE_ITYPE_DIRECT_CALL);
		block(0x200, 4, NTRACE_ITYPE_RETURN);
		block(0x100, 1, NTRACE_ITYPE_NONE);
		is_messages(bits == 1 ? "" : "IndirectBranch BTYPE=0 ICNT=6 UADDR=0",
			    "implicit return: mode 2 compares exactly this many bits");
	}

	given.implicit_return = 3;
	start(NTRACE_SYNC_DEBUG_EXIT);
	unseen = 1;
	block(0x100, 2, NTRACE_ITYPE_DIRECT_CALL);	/* 0x104 */
	block(0x200, 2, NTRACE_ITYPE_COROUTINE_SWAP);	/* to 0x104; 0x204 */
	block(0x104, 1, NTRACE_ITYPE_COROUTINE_SWAP);	/* to 0x204; 0x106 */
	block(0x204, 1, NTRACE_ITYPE_RETURN);
	block(0x106, 1, NTRACE_ITYPE_NONE);
	is_bytes("", "implicit return: a co-routine swap pops, then pushes");

	/* SYNC 0, 2, 4 and 6 with and without keep_stack */
	for (unsigned int i = 0; i < 8; i++) {
		bool keep = i & 1 && i / 2 != 1;

		given.keep_stack = i & 1;
		start(NTRACE_SYNC_DEBUG_EXIT);
		block(0x100, 2, NTRACE_ITYPE_DIRECT_CALL);
		ntrace_encoder_marker(&encoder, (enum ntrace_sync)(i & 6));
		block(0x200, 6, NTRACE_ITYPE_RETURN);
		stream_size = 0;
		block(0x102, 0, NTRACE_ITYPE_NONE);
		block(0x104, 1, NTRACE_ITYPE_NONE);
		is_messages(
			keep ? "" : "IndirectBranch BTYPE=0 ICNT=6 UADDR=182",
			"synchronization: a sync clears the stack; not a marker with keep_stack");
	}

	configure(NTRACE_MODE_BRANCH);
	given.implicit_return = 3;
	start(NTRACE_SYNC_DEBUG_EXIT);
	unseen = 1;
	block(0x100, 2, NTRACE_ITYPE_DIRECT_CALL);
	block(0x200, 2, NTRACE_ITYPE_RETURN);
	block(0x104, 0, NTRACE_ITYPE_EXCEPTION);
	block(0x300, 1, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranch BTYPE=2 ICNT=4 UADDR=100",
		    "implicit return: a trap right after an inferred return");
}

static void sequential(void)
{
	struct ntrace_ingress jump = {
		.iaddr = 0x104, .iretire = 2, .ilastsize = 1, .priv = NTRACE_PRIV_M, .sijump = 1
	};

	configure(NTRACE_MODE_HISTORY);
	config.sequential_jumps = true;
	for (unsigned int itype = 0; itype < 16; itype++) {
		bool inferable = itype == 8 || itype == 10 || itype == 12 || itype == 14;

		if (itype == 6 || itype == 7)
			continue;
		jump.itype = (uint8_t)itype;
		start(NTRACE_SYNC_DEBUG_EXIT);
		block(0x100, 2, NTRACE_ITYPE_NONE);
		ntrace_encoder_retire(&encoder, &jump);
		stream_size = 0;
		block(0x800, 1, NTRACE_ITYPE_NONE);
		ok((stream_size == 0) ==
			   (inferable || !(itype == 1 || itype == 2 || itype == 3 || itype == 13)),
		   "sequential jump: itype %u with sijump", itype);
	}
	jump.itype = NTRACE_ITYPE_INDIRECT_JUMP;
	start(NTRACE_SYNC_DEBUG_EXIT);
	ntrace_encoder_retire(&encoder, &jump);
	stream_size = 0;
	block(0x800, 1, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranch BTYPE=0 ICNT=2 UADDR=482",
		    "sequential jump: reported if a message comes between the two");
	config.sequential_jumps = false;
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x100, 2, NTRACE_ITYPE_NONE);
	ntrace_encoder_retire(&encoder, &jump);
	stream_size = 0;
	block(0x800, 1, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranch BTYPE=0 ICNT=4 UADDR=480",
		    "sequential jump: reported when off");
}

static void repeat_branch(void)
{
	configure(NTRACE_MODE_BRANCH);
	config.repeat_branch = true;
	start(NTRACE_SYNC_TRACE_ENABLE);
	block(0x1000, 2, NTRACE_ITYPE_INDIRECT_JUMP);
	for (int i = 0; i < 3; i++)
		block(0x2000, 2, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x3000, 2, NTRACE_ITYPE_NONE);
	stop();
	is_bytes("24 15 00 83 10 21 00 80 07 78 0B 10 21 00 83 84 00 0B",
		 "example: RepeatBranch of an indirect jump, same target");

	start(NTRACE_SYNC_TRACE_ENABLE);
	unseen = 1;
	for (int i = 0; i < 10; i++)
		block(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	stop();
	is_bytes("0C 0F 78 27 84 00 03", "example: RepeatBranch BCNT 9 of DirectBranch");

	start(NTRACE_SYNC_TRACE_ENABLE);
	unseen = 1;
	for (int i = 0; i < 3; i++)
		block(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	ntrace_encoder_overrun(&encoder);
	block(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	stop();
	is_messages(
		"DirectBranch ICNT=3; Error ETYPE=0 ECODE=4; ProgTraceSync SYNC=7 ICNT=0 FADDR=80; "
		"DirectBranch ICNT=3; ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0",
		"corner case: lost repetitions are not reported after the loss");

	config.bcnt_bits = 2;
	start(NTRACE_SYNC_TRACE_ENABLE);
	unseen = 1;
	for (int i = 0; i < 10; i++)
		block(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	stop();
	is_messages("DirectBranch ICNT=3; RepeatBranch BCNT=3; DirectBranch ICNT=3; "
		    "RepeatBranch BCNT=3; DirectBranch ICNT=3; RepeatBranch BCNT=1; "
		    "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0",
		    "decoding: B-CNT of two bits");

	configure(NTRACE_MODE_HISTORY);
	config.repeat_branch = true;
	config.hist_bits = 2;
	start(NTRACE_SYNC_TRACE_ENABLE);
	unseen = 1;
	for (int i = 0; i < 4; i++) {
		block(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
		block(0x200, 3, NTRACE_ITYPE_INDIRECT_JUMP);
	}
	block(0x100, 3, NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	block(0x106, 3, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x100, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	block(0x200, 3, NTRACE_ITYPE_BRANCH_TAKEN);
	block(0x300, 3, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x100, 3, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0 HIST=3; RepeatBranch BCNT=3; "
		    "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0 HIST=2; "
		    "ResourceFull RCODE=1 HIST=7; IndirectBranch BTYPE=0 ICNT=9 UADDR=0",
		    "decoding: RepeatBranch in HTM: I-CNT, HIST, BTYPE and target are the same");
}

static void timestamps(void)
{
	static const char *const expected[4] = {
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80; ResourceFull RCODE=1 HIST=3; "
		"IndirectBranch BTYPE=0 ICNT=4 UADDR=180",
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80 TSTAMP=a; ResourceFull RCODE=1 HIST=3; "
		"IndirectBranch BTYPE=0 ICNT=4 UADDR=180",
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80 TSTAMP=a; ResourceFull RCODE=1 HIST=3; "
		"IndirectBranch BTYPE=0 ICNT=4 UADDR=180 TSTAMP=7",
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80 TSTAMP=a; "
		"ResourceFull RCODE=1 HIST=3 TSTAMP=2; "
		"IndirectBranch BTYPE=0 ICNT=4 UADDR=180 TSTAMP=5",
	};

	configure(NTRACE_MODE_HISTORY);
	given.timestamp_bits = 8;
	config.hist_bits = 1;
	for (unsigned int which = 0; which < 4; which++) {
		config.timestamps = (enum ntrace_timestamps)which;
		begin(&encoder, &config);
		ntrace_encoder_time(&encoder, 10);
		ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
		block(0x100, 2, NTRACE_ITYPE_NONE);
		ntrace_encoder_time(&encoder, 12);
		block(0x104, 1, NTRACE_ITYPE_BRANCH_TAKEN);
		block(0x200, 1, NTRACE_ITYPE_INDIRECT_JUMP);
		ntrace_encoder_time(&encoder, 17);
		block(0x200, 1, NTRACE_ITYPE_NONE);
		is_messages(expected[which], "timestamps: which messages carry TSTAMP");
	}
	ntrace_encoder_time(&encoder, 250);
	block(0x202, 1, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x202, 1, NTRACE_ITYPE_INDIRECT_JUMP);
	ntrace_encoder_time(&encoder, 260);
	block(0x202, 1, NTRACE_ITYPE_NONE);
	is_messages("IndirectBranch BTYPE=0 ICNT=2 UADDR=1 TSTAMP=e9; "
		    "IndirectBranch BTYPE=0 ICNT=1 UADDR=0 TSTAMP=a",
		    "timestamps: a difference over the wrap of an 8-bit counter");
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	block(0x204, 1, NTRACE_ITYPE_NONE);
	is_messages("ProgTraceSync SYNC=6 ICNT=1 FADDR=102 TSTAMP=4",
		    "timestamps: absolute at a sync, as wide as the counter");
	given.timestamp_delta = NTRACE_TIME_DELTA_XOR;
	config.hist_bits = 31;
	config.timestamps = NTRACE_TIMESTAMPS_BRANCH;
	begin(&encoder, &config);
	ntrace_encoder_time(&encoder, 12);
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	block(0x100, 2, NTRACE_ITYPE_BRANCH_TAKEN);
	block(0x200, 2, NTRACE_ITYPE_INTERRUPT);
	ntrace_encoder_time(&encoder, 9);
	stream_size = 0;
	block(0x100 ^ 0x1268, 2, NTRACE_ITYPE_NONE);
	is_bytes("70 4D D0 91 0D 17", "example: TSTAMP 5, by XOR");

	configure(NTRACE_MODE_HISTORY);
	given.timestamp_bits = 64;
	config.timestamps = NTRACE_TIMESTAMPS_ALL;
	start(NTRACE_SYNC_DEBUG_EXIT);
	ntrace_encoder_time(&encoder, 0x1234);
	ntrace_encoder_overrun(&encoder);
	stop();
	is_bytes("20 00 05 D0 20 07", "example: Error with TSTAMP");
}

static void ranges(void)
{
	configure(NTRACE_MODE_HISTORY);
	config.range_count = 2;
	config.range[0] = (struct ntrace_encoder_range){ 0x100, 0x1ff };
	config.range[1] = (struct ntrace_encoder_range){ 0x400, 0x400 };
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0xfe, 1, NTRACE_ITYPE_NONE);
	block(0x100, 1, NTRACE_ITYPE_NONE);
	block(0x1fe, 1, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x200, 1, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x400, 1, NTRACE_ITYPE_INDIRECT_JUMP);
	block(0x402, 1, NTRACE_ITYPE_NONE);
	stop();
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=1; "
		    "ProgTraceSync SYNC=5 ICNT=0 FADDR=200; "
		    "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=1 HIST=1",
		    "address comparators: both ends belong to a range");
}

/* Ingress examples 2 and 3: Zcmp instructions reported once per access. */
static void accesses(void)
{
	configure(NTRACE_MODE_HISTORY);
	config.zc_accesses = true;
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x100, 3, NTRACE_ITYPE_NONE);	/* add, cm.push at 0x104 */
	block(0x104, 1, NTRACE_ITYPE_NONE);
	block(0x104, 1, NTRACE_ITYPE_NONE);
	block(0x104, 3, NTRACE_ITYPE_BRANCH_TAKEN);	/* cm.push, add, c.beqz */
	block(0x200, 1, NTRACE_ITYPE_NONE);
	stop();
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=6 HIST=3",
		    "ingress example 2: a cm.push of four registers counts once");
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x100, 3, NTRACE_ITYPE_NONE);	/* add, cm.popret at 0x104 */
	block(0x104, 1, NTRACE_ITYPE_NONE);
	ntrace_encoder_marker(&encoder, NTRACE_SYNC_TRACE_EVENT);
	block(0x104, 1, NTRACE_ITYPE_NONE);
	block(0x104, 1, NTRACE_ITYPE_RETURN);
	block(0x300, 1, NTRACE_ITYPE_NONE);
	is_messages(
		"ProgTraceSync SYNC=3 ICNT=0 FADDR=80; "
		"IndirectBranchSync SYNC=6 BTYPE=0 ICNT=3 FADDR=180",
		"ingress example 3: a cm.popret of four registers returns once, no sync inside it");
	stop();
	stream_size = 0;
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	block(0x104, 1, NTRACE_ITYPE_NONE);
	stop();
	ntrace_encoder_start(&encoder, NTRACE_SYNC_DEBUG_EXIT);
	block(0x104, 1, NTRACE_ITYPE_NONE);
	stop();
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=82; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=1 HIST=1; "
		    "ProgTraceSync SYNC=3 ICNT=0 FADDR=82; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=1 HIST=1",
		    "ingress example 2: counts from before trace was off do not count after it");
	config.zc_accesses = false;
	start(NTRACE_SYNC_DEBUG_EXIT);
	block(0x104, 1, NTRACE_ITYPE_NONE);
	block(0x104, 1, NTRACE_ITYPE_NONE);
	stop();
	is_messages("ProgTraceSync SYNC=3 ICNT=0 FADDR=82; "
		    "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=1",
		    "without the option every report counts");
}

/* Every refusal has its own reason; the texts are part of the interface. */
static void refusals(void)
{
#define REFUSED(text, change)                                                                      \
	do {                                                                                       \
		configure(NTRACE_MODE_HISTORY);                                                    \
		config.write = take;                                                               \
		change;                                                                            \
		is_str(ntrace_encoder_refusal(&config), text, "refused: " #change);                \
		ok(ntrace_encoder_init(&encoder, &config) == NTRACE_ERR_INVALID, "by init too");   \
	} while (0)

	REFUSED("mode is neither btm nor htm", given.mode = NTRACE_MODE_ANY);
	REFUSED("xlen is neither 32 nor 64", given.xlen = 16);
	REFUSED("SRC has more than 12 bits", given.src_bits = 13);
	REFUSED("SRC does not fit in its field", config.src = 1);
	REFUSED("implicit return mode is not 0 to 3", given.implicit_return = 4);
	REFUSED("timestamps have more than 64 bits", given.timestamp_bits = 65);
	REFUSED("unknown choice of messages with timestamps",
		config.timestamps = (enum ntrace_timestamps)4);
	REFUSED("timestamps need tsbits (timestamp_bits) of 1 to 64",
		config.timestamps = NTRACE_TIMESTAMPS_SYNC);
	REFUSED("I-CNT has 1 to 32 bits", config.icnt_bits = 0);
	REFUSED("I-CNT has 1 to 32 bits", config.icnt_bits = 33);
	REFUSED("the limit of I-CNT is more than I-CNT can hold", config.icnt_full = 1u << 22);
	REFUSED("HIST holds 1 to 31 branches", config.hist_bits = 0);
	REFUSED("HIST holds 1 to 31 branches", config.hist_bits = 32);
	REFUSED("HREPEAT has 1 to 18 bits", config.hrepeat_bits = 0);
	REFUSED("HREPEAT has 1 to 18 bits", config.hrepeat_bits = 19);
	REFUSED("B-CNT has 1 to 18 bits", config.bcnt_bits = 0);
	REFUSED("B-CNT has 1 to 18 bits", config.bcnt_bits = 19);
	REFUSED("the return stack must have 1 to 32 entries", config.implicit_return_depth = 0);
	REFUSED("the return stack must have 1 to 32 entries", config.implicit_return_depth = 33);
	REFUSED("the address bits compared at a return must be 1 to 63",
		config.return_compare_bits = 0);
	REFUSED("the address bits compared at a return must be 1 to 63",
		config.return_compare_bits = 64);
	REFUSED("periodic sync mode is not 0 to 3", config.sync_mode = 4);
	REFUSED("periodic sync interval is above 2^19", config.sync_max = 16);
	REFUSED("itype must have 3 or 4 bits", config.itype_bits = 5);
	REFUSED("more address ranges than comparators", config.range_count = 5);
	REFUSED("an address range ends before it begins",
		(config.range_count = 1, config.range[0].first = 2));
	REFUSED("the queue cannot hold two of the longest messages",
		(config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN - 1, config.fifo_drain = 1));
	REFUSED("all jumps are reported as branches, which hides the calls that implicit return "
		"needs",
		(given.all_jumps = true, given.implicit_return = 3));
	REFUSED("implicit return needs a 4-bit itype",
		(config.itype_bits = 3, given.implicit_return = 1));
	REFUSED("repeated history needs mode htm",
		(given.mode = NTRACE_MODE_BRANCH, config.repeated_history = true));
	REFUSED("SYNC 4 for a full I-CNT is for btm (htm in the rc7 dialect only)",
		config.sync4_for_icnt = true);
	REFUSED("hcontext needs Ownership messages, which context turns on",
		config.hypervisor = true);
	REFUSED("stall needs a queue", config.stall = true);
	REFUSED("the queue is never drained", config.fifo_bytes = NTRACE_ENCODER_FIFO_MIN);
	REFUSED("a 3-bit itype does not distinguish repeated accesses from loops",
		(config.zc_accesses = true, config.itype_bits = 3));
	REFUSED("there is no callback for messages", config.write = NULL);
	REFUSED("size: a field that this version does not know is not 0", config.size = 0);
	configure(NTRACE_MODE_HISTORY);
	config.write = take;
	ok(!ntrace_encoder_refusal(&config), "the default configuration is valid");
	config.size = offsetof(struct ntrace_encoder_config, itype_bits);
	config.itype_bits = 77;
	ok(!ntrace_encoder_refusal(&config) && !ntrace_encoder_init(&encoder, &config) &&
		   encoder.config.itype_bits == 4,
	   "a configuration without the newer fields gets their defaults");
}

int main(void)
{
	icnt_full();
	sync_forms();
	printed();
	markers();
	ownership();
	debug_mode();
	returns();
	sequential();
	repeat_branch();
	timestamps();
	ranges();
	accesses();
	refusals();
	return done_testing();
}
