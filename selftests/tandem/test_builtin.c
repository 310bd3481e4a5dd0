// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model without a simulator, on traces made here: what exec.sh has no program for. Push and pop of
 * RV32, memory that the trace tells once, a program in user mode, and which exceptions instructions raise.
 */
#include "builtin_trace.h"

static void test_push(void)
{
	begin(32, "rv32imac_zcmp", false);
	insn(0xb852, 0, X + 2, STACK - 16);		/* cm.push {ra, s0}, -16 */
	insn(0x00c12503, 0, X + 10, 0x1234);		/* lw a0, 12(sp): s0 */
	insn(0x00812503, 0, X + 10, 0x80000100);	/* lw a0, 8(sp): ra */
	is_u64(mismatches, 0, "RV32: push stores s0 above ra");
	insn(0x00000413, 0, X + 8, 0);			/* li s0, 0 */
	put(NTRACE_TANDEM_BEGIN, 0, 0);			/* cm.popretz {ra, s0}, 16 */
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, 0x80000100);
	put(NTRACE_TANDEM_INSN16, 0, 0xbc52);
	put(NTRACE_TANDEM_REGISTER, X + 2, STACK);
	put(NTRACE_TANDEM_REGISTER, X + 8, 0x1234);
	put(NTRACE_TANDEM_REGISTER, X + 10, 0);
	put(NTRACE_TANDEM_END, 0, 0);
	is_u64(mismatches, 0, "and popretz loads them, zeroes a0 and returns");
	insn(0xb852, 0, X + 2, STACK - 32);
	ok(mismatches == 1 && found.id == X + 2 && found.expected == STACK - 16,
	   "a wrong sp is found");
	finish();
}

static void test_memory(void)
{
	struct ntrace_tandem_builtin_stats stats;

	begin(64, "rv64gc", false);
	insn(0x00013503, 0, X + 10, 0x1122334455667788);	/* ld a0, 0(sp) */
	insn(0x00414503, 0, X + 10, 0x44);			/* lbu a0, 4(sp) */
	is_u64(mismatches, 0, "a load tells memory, and a later one has the same bytes");
	ntrace_tandem_builtin_stats(builtin, &stats);
	is_u64(stats.memory, 1, "the first one was taken from the trace");
	insn(0x00514503, 0, X + 10, 0x34);			/* lbu a0, 5(sp): 0x33 */
	ok(mismatches == 1 && found.id == X + 10 && found.expected == 0x33,
	   "another value of the same byte is found");
	insn(0x00a50533, 0, X + 10, 0x67);			/* add a0, a0, a0 */
	ok(mismatches == 2, "and so is a wrong sum after it");
	finish();
}

static void test_user(void)
{
	begin(64, "rv64gc", true);
	insn(0x00000073, 0, X + 10, 17);	/* ecall: write() returns 17 */
	insn(0x00150513, 0, X + 10, 18);	/* addi a0, a0, 1 */
	is_u64(mismatches, 0, "a system call's result is the trace's");
	insn(0x0de00893, 0, X + 17, 222);	/* li a7, 222 */
	insn(0x00013503, 0, X + 10, 5);		/* ld a0, 0(sp) */
	insn(0x00000073, 0, X + 10, 0x3fff0000);
	insn(0x00013503, 0, X + 10, 6);
	is_u64(mismatches, 0, "mmap may change any memory");
	finish();
}

enum { DECIDED_BY_TRACE, LEGAL, ILLEGAL };

/* @csr: one more CSR, and its value */
static const struct {
	const char *what;
	uint32_t word;
	unsigned int verdict, priv;
	uint64_t misa, status;
	unsigned int csr;
	uint64_t value;
} legality[] = {
	{ "only zeros", 0, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "only ones", 0xffffffff, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "add x0, x0, x0", 0x00000033, LEGAL, M, 0, 0, 0, 0 },
	{ "mul x0, x0, x0", 0x02000033, LEGAL, M, MISA_GC, 0, 0, 0 },
	{ "mul without M", 0x02000033, DECIDED_BY_TRACE, M, 0x40000100, 0, 0, 0 },
	{ "div without M", 0x02004033, ILLEGAL, M, MISA_GC & ~0x1000, 0, 0, 0 },
	{ "flw f0, 0(sp) without F", 0x00012007, ILLEGAL, M, 0x40000100, 0, 0, 0 },
	{ "feq.d x0, f0, f0 without D", 0xa2002053, ILLEGAL, M, MISA_GC & ~8, FS, 0, 0 },
	{ "csrr x0, sscratch without S", 0x14002073, ILLEGAL, M, MISA_GC & ~0x40000, 0, 0, 0 },
	{ "csrr x0, medeleg without S", 0x30202073, ILLEGAL, M, MISA_GC & ~0x40000, 0, 0, 0 },
	{ "sfence.vma without S", 0x12000073, ILLEGAL, M, MISA_GC & ~0x40000, 0, 0, 0 },
	{ "sh1add x0, x0, x0: no bit of misa", 0x20002033, DECIDED_BY_TRACE, M, MISA_GC, 0, 0, 0 },
	{ "c.slli s0, 0 without C, with F: Zca is possible", 0x0402, DECIDED_BY_TRACE, M,
	  0x40000120, 0, 0, 0 },
	{ "lui x0, 1", 0x00001037, LEGAL, M, MISA_GC, 0, 0, 0 },
	{ "auipc x0, 0", 0x00000017, LEGAL, M, MISA_GC, 0, 0, 0 },
	{ "c.lui x0, 1", 0x6005, LEGAL, M, MISA_GC, 0, 0, 0 },
	{ "c.lui x1, 0: Zcmop", 0x6081, DECIDED_BY_TRACE, M, MISA_GC, 0, 0, 0 },
	{ "csrr x0, pmpcfg1 of RV64", 0x3a102073, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "csrr x0, mcycleh of RV64", 0xb8002073, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "csrr x0, mstatush of RV64", 0x31002073, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "csrr x0, pmpcfg2", 0x3a202073, DECIDED_BY_TRACE, M, MISA_GC, 0, 0, 0 },
	{ "c.nop", 0x0001, LEGAL, M, MISA_GC, 0, 0, 0 },
	{ "c.nop without C", 0x0001, ILLEGAL, M, 0x40000100, 0, 0, 0 },
	{ "fence", 0x0ff0000f, LEGAL, U, MISA_GC, 0, 0, 0 },
	{ "mret in S", 0x30200073, ILLEGAL, S, MISA_GC, 0, 0, 0 },
	{ "sret in U", 0x10200073, ILLEGAL, U, MISA_GC, 0, 0, 0 },
	{ "sret in S with TSR", 0x10200073, ILLEGAL, S, MISA_GC, TSR, 0, 0 },
	{ "wfi in S", 0x10500073, LEGAL, S, MISA_GC, 0, 0, 0 },
	{ "wfi in S with TW", 0x10500073, DECIDED_BY_TRACE, S, MISA_GC, TW, 0, 0 },
	{ "sfence.vma in U", 0x12000073, ILLEGAL, U, MISA_GC, 0, 0, 0 },
	{ "sfence.vma in S with TVM", 0x12000073, ILLEGAL, S, MISA_GC, TVM, 0, 0 },
	{ "sfence.vma with TVM, maybe in a guest", 0x12000073, DECIDED_BY_TRACE, S,
	  MISA_GC | MISA_H, TVM, 0, 0 },
	{ "csrr x0, satp in S with TVM", 0x18002073, ILLEGAL, S, MISA_GC, TVM, 0, 0 },
	{ "csrr x0, satp in S", 0x18002073, LEGAL, S, MISA_GC, 0, 0, 0 },
	{ "csrr x0, mstatus in S", 0x30002073, ILLEGAL, S, MISA_GC, 0, 0, 0 },
	{ "csrr x0, sstatus in U", 0x10002073, ILLEGAL, U, MISA_GC, 0, 0, 0 },
	{ "csrr x0, mhartid", 0xf1402073, LEGAL, M, MISA_GC, 0, 0, 0 },
	{ "csrw mhartid, x0", 0xf1401073, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "csrsi mhartid, 1", 0xf140e073, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "csrr x0, 0x7c0: a custom CSR", 0x7c002073, DECIDED_BY_TRACE, S, MISA_GC, 0, 0, 0 },
	{ "csrr x0, 0x7c0 in M", 0x7c002073, DECIDED_BY_TRACE, M, MISA_GC, 0, 0, 0 },
	{ "rdcycle x0 in S without mcounteren", 0xc0002073, ILLEGAL, S, MISA_GC, 0, 0x306, 6 },
	{ "rdcycle x0 in S with mcounteren", 0xc0002073, DECIDED_BY_TRACE, S, MISA_GC, 0, 0x306,
	  1 },
	{ "rdtime x0 in U without scounteren", 0xc0102073, ILLEGAL, U, MISA_GC, 0, 0x106, 5 },
	{ "rdcycle x0 in M", 0xc0002073, DECIDED_BY_TRACE, M, MISA_GC, 0, 0x306, 0 },
	{ "fmv.x.w x0, f0", 0xe0000053, LEGAL, M, MISA_GC, FS, 0, 0 },
	{ "fmv.x.w x0, f0, FS off", 0xe0000053, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "fmv.x.w without F: Zfinx has no FS", 0xe0000053, DECIDED_BY_TRACE, M, 0x40000100, 0, 0,
	  0 },
	{ "fmv.x.h x0, f0, FS off", 0xe4000053, ILLEGAL, M, MISA_GC, 0, 0, 0 },
	{ "csrr x0, fcsr", 0x00302073, LEGAL, U, MISA_GC, FS, 0, 0 },
	{ "csrr x0, fcsr, FS off", 0x00302073, ILLEGAL, U, MISA_GC, 0, 0, 0 },
	{ "feq.s x0, f0, f0", 0xa0002053, LEGAL, M, MISA_GC, FS, 0, 0 },
	{ "fcvt.w.s x0, f0 with a reserved rounding mode", 0xc0005053, DECIDED_BY_TRACE, M, MISA_GC,
	  FS, 0, 0 },
};

static void test_legality(void)
{
	for (unsigned int i = 0; i < sizeof(legality) / sizeof(legality[0]); i++)
		for (unsigned int traps = 0; traps < 2; traps++) {
			unsigned int wrong = traps ? LEGAL : ILLEGAL;

			begin_in(legality[i].priv, legality[i].misa, legality[i].status);
			if (legality[i].csr == 0x106)
				put(NTRACE_TANDEM_REGISTER, 0x306, 7);
			if (legality[i].csr)
				put(NTRACE_TANDEM_REGISTER, legality[i].csr, legality[i].value);
			put(NTRACE_TANDEM_END, 0, 0);
			if (traps)
				exception(&legality[i].word, 2, legality[i].priv,
					  legality[i].status, 0);
			else
				insn(legality[i].word, 0, 0, 0);
			ok((mismatches > 0) == (legality[i].verdict == wrong), "%s %s%s",
			   legality[i].what, traps ? "raises illegal instruction" : "retires",
			   legality[i].verdict == wrong ? ": a difference" : "");
			finish();
		}
}

/* Causes that the instruction, or the fetch, cannot raise. */
static void test_causes(void)
{
	static const struct {
		const char *what;
		uint32_t word; /* 0: none */
		uint64_t cause;
		unsigned int priv;
		uint64_t satp;
		bool wrong;
	} causes[] = {
		{ "access fault of a fetch", 0, 1, M, 0, false },
		{ "page fault of a fetch", 0, 12, S, UINT64_C(8) << 60, false },
		{ "page fault of a fetch without translation", 0, 12, S, 0, true },
		{ "page fault of a fetch in M mode", 0, 12, M, UINT64_C(8) << 60, true },
		{ "hardware error of a fetch", 0, 19, M, 0, false },
		{ "a custom cause", 0, 24, M, 0, false },
		{ "a timer interrupt without its top bit", 0, 7, M, 0, true },
		{ "a software interrupt without its top bit", 0, 3, M, 0, true },
		{ "ecall without an instruction", 0, 11, M, 0, true },
		{ "load access fault", 0x00013003, 5, M, 0, false },
		{ "load page fault", 0x00013003, 13, S, UINT64_C(8) << 60, false },
		{ "load page fault without translation", 0x00013003, 13, S, 0, true },
		{ "load page fault in M mode", 0x00013003, 13, M, UINT64_C(8) << 60, true },
		{ "store page fault in M mode", 0x00013023, 15, M, 0, true },
		{ "fetch page fault of an instruction in M mode", 0x00000013, 12, M, 0, true },
	};

	for (unsigned int i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		begin_in(causes[i].priv, MISA_GC, 0);
		put(NTRACE_TANDEM_REGISTER, 0x180, causes[i].satp);
		put(NTRACE_TANDEM_END, 0, 0);
		exception(causes[i].word ? &causes[i].word : NULL, causes[i].cause, causes[i].priv,
			  0, 0);
		ok((mismatches > 0) == causes[i].wrong, "%s: %s", causes[i].what,
		   causes[i].wrong ? "a difference" : "right");
		finish();
	}
}

/* Code of S mode is that of memory if no translation is possible. */
static void test_bare(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		begin_in(S, MISA_GC | MISA_H, 0);
		put(NTRACE_TANDEM_REGISTER, 0x280, 0);
		put(NTRACE_TANDEM_REGISTER, 0x680, i ? UINT64_C(8) << 60 : 0);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(0x0000006f, CODE, 0, 0); /* j . */
		insn(0x00000013, 0, 0, 0);
		ok((mismatches > 0) == !i, "hypervisor, %s: another instruction is %s",
		   i ? "hgatp on" : "all Bare", i ? "not judged" : "a difference");
		finish();
	}
}

/* Exceptions of addresses that the instruction has, or has not; xtval. */
static void test_exceptions(void)
{
	static const struct {
		const char *what;
		uint32_t word; /* 0: none */
		uint64_t cause, value, a0;
		uint64_t misa;
		bool wrong;
	} cases[] = {
		{ "a load at a misaligned address", 0x00052283, 4, STACK + 1, STACK + 1, MISA_GC,
		  false },
		{ "a misaligned load of an aligned address", 0x00052283, 4, STACK, STACK, MISA_GC,
		  true },
		{ "a misaligned load of one byte", 0x00050283, 4, STACK + 1, STACK + 1, MISA_GC,
		  true },
		{ "a misaligned store of an aligned address", 0x00552023, 6, STACK, STACK, MISA_GC,
		  true },
		{ "a jump to a misaligned address", 0x00050067, 0, STACK + 2, STACK + 2,
		  MISA_GC & ~4, false },
		{ "its xtval is the pc", 0x00050067, 0, CODE, STACK + 2, MISA_GC & ~4, true },
		{ "a misaligned jump to an aligned address", 0x00050067, 0, STACK, STACK,
		  MISA_GC & ~4, true },
		{ "a branch to a misaligned address", 0x00050163, 0, CODE + 2, 0, MISA_GC & ~4,
		  false },
		{ "a branch that is not taken", 0x00050163, 0, CODE + 2, 1, MISA_GC & ~4, true },
		{ "a misaligned jump with C", 0x00050067, 0, STACK + 2, STACK + 2, MISA_GC, true },
		{ "a load fault", 0x00052283, 5, STACK, STACK, MISA_GC, false },
		{ "a load fault in the middle of an aligned word", 0x00052283, 5, STACK + 1, STACK,
		  MISA_GC, true },
		{ "a load fault in the middle of a misaligned word", 0x00052283, 5, STACK + 4,
		  STACK + 2, MISA_GC, false },
		{ "an atomic's misaligned address", 0x005522af, 6, STACK + 2, STACK + 2, MISA_GC,
		  false },
		{ "ebreak", 0x00100073, 3, CODE, 0, MISA_GC, false },
		{ "ebreak with an address after its own", 0x00100073, 3, CODE + 1, 0, MISA_GC,
		  true },
		{ "a trigger of a data address", 0x00052283, 3, STACK, STACK, MISA_GC, false },
		{ "the upper half of a fetch", 0, 1, CODE + 2, 0, MISA_GC, false },
		{ "a fetch of another address", 0, 1, 0x1234, 0, MISA_GC, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_in(M, cases[i].misa, 0);
		put(NTRACE_TANDEM_REGISTER, X + 10, cases[i].a0);
		put(NTRACE_TANDEM_END, 0, 0);
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		if (cases[i].word)
			put(NTRACE_TANDEM_INSN32, 0, cases[i].word);
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, HANDLER);
		put(NTRACE_TANDEM_REGISTER, 0x300, 0x1800);
		put(NTRACE_TANDEM_REGISTER, 0x341, CODE);
		put(NTRACE_TANDEM_REGISTER, 0x342, cases[i].cause);
		put(NTRACE_TANDEM_REGISTER, 0x343, cases[i].value);
		put(NTRACE_TANDEM_END, 0, 0);
		ok((mismatches > 0) == cases[i].wrong, "%s: %s", cases[i].what,
		   cases[i].wrong ? "a difference" : "right");
		finish();
	}
}

/* Jumps that retire, to CODE + 6; x0 is x0, and a0 is 1. */
static void test_alignment(void)
{
	static const struct {
		const char *what;
		uint32_t word;
		uint64_t misa, next;
		bool wrong;
	} cases[] = {
		{ "j", 0x0060006f, MISA_GC, CODE + 6, false },
		{ "j without C", 0x0060006f, 0x40000100, CODE + 6, true },
		{ "j without C to an aligned address", 0x0080006f, 0x40000100, CODE + 8, false },
		{ "a branch without C", 0x00050363, 0x40000100, CODE + 4, false },
		{ "a taken branch without C", 0x00051363, 0x40000100, CODE + 6, true },
		{ "jr without C", 0x10608067, 0x40000100, CODE + 0x206, true },
		{ "j without C, with F", 0x0060006f, 0x40000120, CODE + 6, false },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_in(M, cases[i].misa, 0);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(cases[i].word, cases[i].next, 0, 0);
		ok((mismatches > 0) == cases[i].wrong, "%s retires: %s", cases[i].what,
		   cases[i].wrong ? "a difference" : "right");
		finish();
	}
}

/* sc without a reservation fails (unprivileged, 8.2). */
static void test_reservation(void)
{
	const uint32_t lr = 0x100122af, sc = 0x18a1232f; /* lr.w t0, (sp); sc.w t1, a0, (sp) */

	begin(64, "rv64gc", false);
	insn(lr, 0, X + 5, 0);
	insn(sc, 0, X + 6, 0);
	is_u64(mismatches, 0, "sc after lr stores");
	insn(sc, 0, X + 6, 1);
	is_u64(mismatches, 0, "the next one fails");
	insn(sc, 0, X + 6, 0);
	is_u64(mismatches, 1, "sc without lr that stores is a difference");
	finish();
	for (unsigned int reset = 0; reset < 2; reset++) {
		begin(64, "rv64gc", false);
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		put(reset ? NTRACE_TANDEM_RESET : NTRACE_TANDEM_INIT, 0, 0);
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, CODE);
		put(NTRACE_TANDEM_REGISTER, X + 2, STACK);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(sc, 0, X + 6, 0);
		is_u64(mismatches, reset, "the first sc after a %s stores: %s",
		       reset ? "reset" : "start", reset ? "a difference" : "lr may be before it");
		finish();
	}
}

/* amocas.d of RV32 and amocas.q of RV64: a2 and a3 are compared, s2 and s3 stored. */
static void test_pairs(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int xlen = i & 1 ? 64 : 32;
		uint32_t load = i & 1 ? 0x00013003 : 0x00012003, half = xlen / 8;
		bool equal = i & 2, wrong = i & 4;

		begin(xlen, i & 1 ? "rv64gc" : "rv32gc", false);
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		put(NTRACE_TANDEM_INIT, 0, 0);
		put(NTRACE_TANDEM_REGISTER, X + 12, 0x11);
		put(NTRACE_TANDEM_REGISTER, X + 13, equal ? 0x22 : 0);
		put(NTRACE_TANDEM_REGISTER, X + 18, 0x33);
		put(NTRACE_TANDEM_REGISTER, X + 19, 0x44);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(load | 5 << 7, 0, X + 5, 0x11);		     /* t0 = (sp), t1 = half(sp) */
		insn(load | 6 << 7 | half << 20, 0, X + 6, 0x22);
		insn(i & 1 ? 0x2921462f : 0x2921362f, 0, equal ? 0 : X + 13, 0x22);
		insn(load | 5 << 7 | half << 20, 0, X + 5, equal != wrong ? 0x44 : 0x22);
		ok((mismatches > 0) == wrong, "RV%u: a pair is%s stored: %s", xlen,
		   equal ? "" : " not", wrong ? "a difference" : "right");
		finish();
	}
}

/* xtval of an exception, after another one that wrote it: a hart may decide for each kind of event. */
static void test_values(void)
{
	static const struct {
		const char *what;
		uint32_t first, second;
		uint64_t cause;
		unsigned int sp; /* added before the second one */
		bool wrong;
	} cases[] = {
		{ "the same instruction", 0x30200073, 0x30200073, 2, 0, true },
		{ "other operands", 0x7c051073, 0x7c061073, 2, 0, true },
		{ "a read-only CSR after mret", 0x30200073, 0xf1401073, 2, 0, false },
		{ "16 bits after 32", 0x7c051073, 0, 2, 0, false },
		{ "a load of this page", 0x00013283, 0x01013303, 5, 0, true },
		{ "a load of another page", 0x00013283, 0x00013283, 5, 0x1000, false },
		{ "a load of another width", 0x00013283, 0x00012283, 5, 0, false },
		{ "a misaligned load", 0x00113283, 0x00113283, 4, 0, true },
		{ "ebreak", 0x00100073, 0x00100073, 3, 0, true },
		{ "c.ebreak after ebreak", 0x00100073, 0x9002, 3, 0, false },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t address = STACK + (cases[i].cause == 4);
		uint64_t value = cases[i].cause == 2 ? cases[i].first :
				 cases[i].cause == 3 ? CODE :
						       address;

		begin_in(S, MISA_GC, 0);
		put(NTRACE_TANDEM_END, 0, 0);
		for (unsigned int second = 0; second < 2; second++) {
			exception(second ? &cases[i].second : &cases[i].first, cases[i].cause, S, 0,
				  second ? 0 : value);
			ok((mismatches > 0) == (second && cases[i].wrong), "%s: xtval%s: %s",
			   cases[i].what, second ? " 0 after it" : "",
			   second && cases[i].wrong ? "a difference" : "right");
			pc_of_exception = second ? CODE : CODE + 16;
			put(NTRACE_TANDEM_BEGIN, 0, 0);
			put(NTRACE_TANDEM_INIT, 0, 0);
			put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, pc_of_exception);
			put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, S);
			put(NTRACE_TANDEM_REGISTER, 0x300, 0);
			put(NTRACE_TANDEM_REGISTER, X + 2, STACK + cases[i].sp);
			put(NTRACE_TANDEM_END, 0, 0);
		}
		finish();
	}
}

/* Code that is stored to may execute as it was until fence.i. */
static void test_replaced_code(void)
{
	const uint32_t store = 0x00a12023, wide = 0x00b12023; /* sw a0, (sp); sw a1, (sp) */
	const uint32_t old = 0x00100293, new = 0x00200293, third = 0x00300293; /* li t0, 1; 2; 3 */
	static const struct {
		const char *what;
		bool twice, fence;
		unsigned int executed;
		bool wrong;
	} cases[] = {
		{ "the new instruction", false, false, 2, false },
		{ "the old one", false, false, 1, false },
		{ "another one", false, false, 3, true },
		{ "the new one after fence.i", false, true, 2, false },
		{ "the old one after fence.i", false, true, 1, true },
		{ "the one in between", true, false, 2, false },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(64, "rv64gc", false);
		insn(old, 0, X + 5, 1);
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		put(NTRACE_TANDEM_INIT, 0, 0);
		put(NTRACE_TANDEM_REGISTER, X + 2, CODE);
		put(NTRACE_TANDEM_REGISTER, X + 10, new);
		put(NTRACE_TANDEM_REGISTER, X + 11, third);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(store, 0, 0, 0);
		if (cases[i].twice)
			insn(wide, 0, 0, 0);
		if (cases[i].fence)
			insn(0x0000100f, 0, 0, 0);
		insn(0x00010067, CODE, 0, 0); /* jr sp */
		is_u64(mismatches, 0, "code is replaced");
		insn(cases[i].executed << 20 | 0x293, 0, X + 5, cases[i].executed);
		ok((mismatches > 0) == cases[i].wrong, "replaced code: %s: %s", cases[i].what,
		   cases[i].wrong ? "a difference" : "right");
		finish();
	}
}

int main(void)
{
	struct ntrace_tandem_params params;
	struct ntrace_tandem_model model;
	struct ntrace_isa isa = { .xlen = 32 };

	ntrace_tandem_params_init(&params);
	is_u64((uint64_t)ntrace_tandem_builtin_new(&builtin, &params, &isa, false, &model),
	       (uint64_t)NTRACE_ERR_INVALID, "an instruction set of another XLEN");
	ntrace_tandem_builtin_free(NULL);
	test_push();
	test_memory();
	test_user();
	test_legality();
	test_causes();
	test_bare();
	test_exceptions();
	test_alignment();
	test_reservation();
	test_pairs();
	test_values();
	test_replaced_code();
	return done_testing();
}
