// SPDX-License-Identifier: GPL-2.0-only
/* CSRs, traps and trap returns of the model without a simulator, on traces made here. */
#include "builtin_trace.h"

/* A group of @word with mstatus after it; 0: not told */
static void status_after(uint32_t word, uint64_t status)
{
	insn(word, 0, status ? 0x300 : 0, status);
}

/* FS after a write of a floating-point register, and SD. */
static void test_dirty(void)
{
	const uint64_t sd = UINT64_C(1) << 63;
	const uint32_t fmv = 0xf0000053, csrw = 0x30051073; /* fmv.w.x f0, x0; csrw mstatus, a0 */

	begin_in(M, MISA_GC, FS);
	put(NTRACE_TANDEM_END, 0, 0);
	status_after(fmv, 0x6000 | sd);
	is_u64(mismatches, 0, "a write of f0 makes FS dirty and sets SD");
	insn(0x00002537, 0, X + 10, 0x2000); /* lui a0, 2 */
	status_after(csrw, FS);
	is_u64(mismatches, 0, "software makes it initial");
	status_after(fmv, 0);
	insn(0x30002573, 0, X + 10, 0x2000); /* csrr a0, mstatus */
	ok(mismatches > 0, "a write of f0 that leaves FS initial is a difference");
	finish();
	for (unsigned int i = 0; i < 2; i++) {
		begin_in(M, MISA_GC, FS);
		put(NTRACE_TANDEM_END, 0, 0);
		status_after(fmv, i ? 0x6000 : 0x4000);
		is_u64(mismatches, 1,
		       i ? "dirty without SD is a difference" :
			   "FS clean after a write of f0 is a difference");
		finish();
	}
	begin_in(M, MISA_GC, FS);
	put(NTRACE_TANDEM_END, 0, 0);
	status_after(fmv, 0);
	insn(0x34002073, 0, 0, 0); /* csrr x0, mscratch */
	is_u64(mismatches, 0, "a trace that never tells FS with the instruction is not judged");
	finish();
	begin_in(M, MISA_GC, 0x6000 | sd);
	put(NTRACE_TANDEM_END, 0, 0);
	status_after(0x30046073, 0x6008); /* csrsi mstatus, 8 */
	is_u64(mismatches, 1, "csrsi mstatus that clears SD is a difference");
	finish();
}

/* csrw @csr, a0; csrr a0, @csr: the read gives @value */
static void write_and_read(unsigned int csr, uint64_t value)
{
	insn(csr << 20 | 0x51073, 0, 0, 0);
	insn(csr << 20 | 0x02573, 0, X + 10, value);
}

/* CSRs that the trace does not tell: the hart chooses what it makes of a written value. */
static void test_untold(void)
{
	static const struct {
		const char *name;
		unsigned int csr;
		uint64_t value; /* after a write of 1 */
		bool wrong;
	} csrs[] = {
		{ "pmpaddr0", 0x3b0, 0, false },
		{ "pmpcfg0", 0x3a0, 0, false },
		{ "mtvec", 0x305, 0, false },
		{ "stvec", 0x105, 0, false },
		{ "mcause", 0x342, 0, false },
		{ "mtval", 0x343, 0, false },
		{ "mie", 0x304, 0, false },
		{ "mideleg", 0x303, 0, false },
		{ "misa", 0x301, 4, false },
		{ "mcountinhibit", 0x320, 5, false },
		{ "mepc", 0x341, 2, false },
		{ "mepc", 0x341, 1, true },
		{ "mscratch", 0x340, 1, false },
		{ "mscratch", 0x340, 0, true },
		{ "mstatus", 0x300, 0x6000 | UINT64_C(1) << 63, false },
		{ "mstatus", 0x300, 8, true },
		{ "satp", 0x180, 0, false },
	};

	for (unsigned int i = 0; i < sizeof(csrs) / sizeof(csrs[0]); i++) {
		begin(64, "rv64gc", false);
		write_and_read(csrs[i].csr, csrs[i].value);
		ok((mismatches > 0) == csrs[i].wrong, "%s is 0x%llx after a write of 1: %s",
		   csrs[i].name, (unsigned long long)csrs[i].value,
		   csrs[i].wrong ? "a difference" : "right");
		finish();
	}
	begin(64, "rv64gc", false);
	write_and_read(0x305, 0);
	insn(0x30502573, 0, X + 10, 4);
	ok(mismatches == 1 && found.expected == 0, "mtvec changes between two reads: a difference");
	finish();
}

#define LOAD 0x00013283 /* ld t0, 0(sp) */

/* Traps in a trace without CSRs. */
static void test_untold_traps(void)
{
	begin(64, "rv64gc", false);
	insn(LOAD, HANDLER, 0, 0);
	insn(0x34202573, 0, X + 10, 5); /* csrr a0, mcause */
	insn(0x34302573, 0, X + 10, STACK); /* csrr a0, mtval */
	insn(0x30002573, 0, X + 10, 0x1880); /* csrr a0, mstatus */
	insn(0x34102573, 0, X + 10, CODE); /* csrr a0, mepc */
	insn(0x30200073, CODE, 0, 0); /* mret */
	is_u64(mismatches, 0, "a load that traps, of which the trace tells the pc");
	insn(LOAD, HANDLER, 0, 0);
	insn(0x34202573, 0, X + 10, 13);
	is_u64(mismatches, 0, "another one to the same handler");
	insn(0x34302573, 0, X + 10, 0);
	insn(0x30002573, 0, X + 10, 0x1800);
	insn(0x34102573, 0, X + 10, CODE + 4);
	is_u64(mismatches, 1, "another mepc is a difference");
	insn(0x30200073, CODE, 0, 0);
	insn(LOAD, HANDLER + 4, 0, 0);
	is_u64(mismatches, 2, "and so is another handler");
	finish();
	begin(64, "rv64gc", false);
	insn(0x00000073, HANDLER, 0, 0); /* ecall */
	insn(0x34202573, 0, X + 10, 11);
	is_u64(mismatches, 0, "ecall to a handler that is not known");
	/* A debugger sets the pc. */
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	put(NTRACE_TANDEM_INIT, 0, 0);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, CODE + 4);
	put(NTRACE_TANDEM_END, 0, 0);
	insn(0x34202573, 0, X + 10, 7);
	is_u64(mismatches, 0, "mcause after a change of the pc that no instruction made");
	finish();
	/* An interrupt tells that mie and mstatus.MIE are set, and mtvec. */
	begin(64, "rv64gc", false);
	insn(0x30451073, 0, 0, 0); /* csrw mie, a0 */
	insn(0x30551073, 0, 0, 0); /* csrw mtvec, a0 */
	for (unsigned int i = 0; i < 2; i++) {
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, HANDLER);
		put(NTRACE_TANDEM_REGISTER, 0x341, i ? HANDLER : CODE + 8);
		put(NTRACE_TANDEM_REGISTER, 0x342, UINT64_C(1) << 63 | 7);
		put(NTRACE_TANDEM_END, 0, 0);
		is_u64(mismatches, i,
		       i ? "the next one with MIE = 0 is a difference" :
			   "an interrupt without mie, mstatus and mtvec");
	}
	finish();
}

/* CSRs that the trace tells, after csrw of @written over @before. */
static void test_written(void)
{
	const uint64_t locked = 0x9f; /* of entry 0: L, NAPOT, XWR; L, TOR of entry 1: 0x8f00 */
	static const struct {
		const char *what;
		unsigned int csr;
		uint64_t before, written, value;
		unsigned int other; /* another CSR, and its value */
		uint64_t held;
		bool wrong;
	} cases[] = {
		{ "pmpcfg0 without L", 0x3a0, 0x1f, 0x1d, 0x1d, 0, 0, false },
		{ "pmpcfg0 with L keeps its value", 0x3a0, 0x9f, 0x1f, 0x9f, 0, 0, false },
		{ "pmpcfg0 with L changes", 0x3a0, 0x9f, 0x1f, 0x1f, 0, 0, true },
		{ "another entry of pmpcfg0 changes", 0x3a0, 0x9f, 0x1f00, 0x1f9f, 0, 0, false },
		{ "pmpcfg0 with L and mseccfg.RLB changes", 0x3a0, 0x9f, 0x1f, 0x1f, 0x747, 4,
		  false },
		{ "pmpaddr0 with L keeps its value", 0x3b0, 5, 6, 5, 0x3a0, locked, false },
		{ "pmpaddr0 with L changes", 0x3b0, 5, 6, 6, 0x3a0, locked, true },
		{ "pmpaddr0 below a locked TOR changes", 0x3b0, 5, 6, 6, 0x3a0, 0x8f00, true },
		{ "pmpaddr0 below a locked NAPOT changes", 0x3b0, 5, 6, 6, 0x3a0, 0x9f00, false },
		{ "pmpaddr9 with L changes", 0x3b9, 5, 6, 6, 0x3a2, 0x9f00, true },
		{ "medeleg keeps a bit that was cleared", 0x302, 0x100, 0, 0x100, 0, 0, true },
		{ "medeleg refuses a bit", 0x302, 0, 0x800, 0, 0, 0, false },
		{ "mideleg keeps a bit that was cleared", 0x303, 0x20, 0, 0x20, 0, 0, true },
		{ "MPRV is not cleared", 0x300, 0x20000, 0, 0x20000, 0, 0, true },
		{ "TVM is not cleared", 0x300, TVM, 0, TVM, 0, 0, true },
		{ "stimecmp has another value", 0x14d, 0, 7, 6, 0, 0, true },
		{ "medeleg delegates ecall of M mode", 0x302, 0, 0x800, 0x800, 0, 0, true },
		{ "medeleg does not delegate it", 0x302, 0, 0x800, 0, 0, 0, false },
		{ "SPP is not set", 0x300, 0, 0x100, 0, 0, 0, true },
		{ "SPP is not cleared", 0x300, 0x100, 0, 0x100, 0, 0, true },
		{ "FS stays off", 0x300, 0, 0x2000, 0, 0, 0, true },
		{ "FS becomes dirty", 0x300, 0, 0x2000, UINT64_C(1) << 63 | 0x6000, 0, 0, false },
		{ "FS is not off", 0x300, 0x2000, 0, 0x2000, 0, 0, true },
		{ "misa has D without F", 0x301, MISA_GC, MISA_GC & ~0x20, MISA_GC & ~0x20, 0, 0,
		  true },
		{ "misa loses F and D", 0x301, MISA_GC, MISA_GC & ~0x20, MISA_GC & ~0x28, 0, 0,
		  false },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_in(M, MISA_GC, 0);
		put(NTRACE_TANDEM_REGISTER, cases[i].csr, cases[i].before);
		if (cases[i].other)
			put(NTRACE_TANDEM_REGISTER, cases[i].other, cases[i].held);
		put(NTRACE_TANDEM_REGISTER, X + 10, cases[i].written);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(cases[i].csr << 20 | 0x51073, 0, cases[i].csr, cases[i].value);
		ok((mismatches > 0) == cases[i].wrong, "csrw: %s: %s", cases[i].what,
		   cases[i].wrong ? "a difference" : "right");
		finish();
	}
	for (unsigned int i = 0; i < 2; i++) {
		begin_in(M, MISA_GC, 0);
		put(NTRACE_TANDEM_REGISTER, 0x303, 0x20);
		put(NTRACE_TANDEM_REGISTER, X + 10, UINT64_MAX);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(0x10451073, 0, 0, 0);		  /* csrw sie, a0 */
		insn(0x104025f3, 0, X + 11, i ? 0x222 : 0x20); /* csrr a1, sie */
		is_u64(mismatches, i, "sie: bits that mideleg does not delegate %s",
		       i ? "are set: a difference" : "are 0: right");
		finish();
	}
	begin_in(M, MISA_GC, 0);
	put(NTRACE_TANDEM_END, 0, 0);
	insn(0xf1202573, 0, X + 10, 0x489); /* csrr a0, marchid */
	insn(0xf1202573, 0, X + 10, 0x488);
	is_u64(mismatches, 1, "another value of marchid is a difference");
	finish();
}

/* MPP after a write of @written over M mode. */
static void test_mpp(void)
{
	static const struct {
		const char *what;
		uint64_t misa, written, value;
		bool wrong;
	} cases[] = {
		{ "S without S mode becomes U", 0x800000000010112d, 1, 0, false },
		{ "S without S mode stays M", 0x800000000010112d, 1, 3, false },
		{ "the reserved one becomes U", MISA_GC, 2, 0, false },
		{ "S with S mode becomes U", MISA_GC, 1, 0, true },
		{ "U with U mode stays M", MISA_GC, 0, 3, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_in(M, cases[i].misa, 0x1800);
		put(NTRACE_TANDEM_REGISTER, X + 10, cases[i].written << 11 | 0x80);
		put(NTRACE_TANDEM_END, 0, 0);
		status_after(0x30051073, cases[i].value << 11 | 0x80);
		ok((mismatches > 0) == cases[i].wrong, "MPP: %s: %s", cases[i].what,
		   cases[i].wrong ? "a difference" : "right");
		finish();
	}
}

/* A trap to S whose group also tells the registers of M, with the values of an earlier trap. */
static void test_both_sets(void)
{
	for (unsigned int i = 0; i < 6; i++) {
		bool interrupt = i & 1, tells_priv = i < 2, same_pc = i >= 4;
		uint64_t top = UINT64_C(1) << 63;

		begin_in(S, MISA_GC, 2);
		put(NTRACE_TANDEM_REGISTER, 0x302, 4);
		put(NTRACE_TANDEM_REGISTER, 0x303, 2);
		put(NTRACE_TANDEM_REGISTER, 0x304, 0x82);
		put(NTRACE_TANDEM_REGISTER, 0x105, HANDLER);
		put(NTRACE_TANDEM_REGISTER, 0x341, same_pc ? CODE : CODE + 64);
		put(NTRACE_TANDEM_REGISTER, 0x342, interrupt ? top | 7 : 9);
		put(NTRACE_TANDEM_END, 0, 0);
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		if (!interrupt)
			put(NTRACE_TANDEM_INSN32, 0, 0x7c051073);
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, HANDLER);
		if (tells_priv)
			put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, S);
		put(NTRACE_TANDEM_REGISTER, 0x300, 0x120);
		put(NTRACE_TANDEM_REGISTER, 0x341, same_pc ? CODE : CODE + 64);
		put(NTRACE_TANDEM_REGISTER, 0x342, interrupt ? top | 7 : 9);
		put(NTRACE_TANDEM_REGISTER, 0x343, 0);
		put(NTRACE_TANDEM_REGISTER, 0x141, CODE);
		put(NTRACE_TANDEM_REGISTER, 0x142, interrupt ? top | 1 : 2);
		put(NTRACE_TANDEM_REGISTER, 0x143, interrupt ? 0 : 0x7c051073);
		put(NTRACE_TANDEM_END, 0, 0);
		is_u64(mismatches, 0, "%s to S, mcause told, too%s%s",
		       interrupt ? "an interrupt" : "an exception",
		       tells_priv ? ", and the privilege" : "", same_pc ? ", mepc is the pc" : "");
		finish();
	}
}

/* FS and VS after an instruction, whose group gives mstatus. */
static void test_fields(void)
{
	const uint64_t sd = UINT64_C(1) << 63;
	static const struct {
		const char *what;
		uint32_t word;
		unsigned int id;
		uint64_t value, before, after;
		bool wrong;
	} cases[] = {
		{ "fmv.w.x leaves FS initial", 0xf0000053, NTRACE_TANDEM_FPR, 0xffffffff00000000,
		  FS, FS, true },
		{ "fmv.w.x makes FS dirty", 0xf0000053, NTRACE_TANDEM_FPR, 0xffffffff00000000, FS,
		  3 * FS, false },
		{ "csrw fflags leaves FS initial", 0x00151073, 3, 1, FS, FS, true },
		{ "csrw fflags makes FS dirty", 0x00151073, 3, 1, FS, 3 * FS, false },
		{ "csrr fflags leaves FS initial", 0x001022f3, X + 5, 0, FS, FS, false },
		{ "add makes FS dirty", 0x00a50533, X + 10, 2, FS, 3 * FS, false },
		{ "add makes FS clean", 0x00a50533, X + 10, 2, FS, 2 * FS, true },
		{ "add switches FS off", 0x00a50533, X + 10, 2, FS, 0, true },
		{ "add switches FS on", 0x00a50533, X + 10, 2, 0, 3 * FS, true },
		{ "add makes VS dirty", 0x00a50533, X + 10, 2, 0x200, 0x600, false },
		{ "add switches VS on", 0x00a50533, X + 10, 2, 0, 0x600, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t after = cases[i].after, dirty = after & after >> 1 & 0x2200;

		begin_in(M, MISA_GC, cases[i].before);
		put(NTRACE_TANDEM_END, 0, 0);
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		put(NTRACE_TANDEM_NEXT_PC, 0, 0);
		put(NTRACE_TANDEM_INSN32, 0, cases[i].word);
		put(NTRACE_TANDEM_REGISTER, cases[i].id, cases[i].value);
		put(NTRACE_TANDEM_REGISTER, 0x300, after | (dirty ? sd : 0));
		put(NTRACE_TANDEM_END, 0, 0);
		ok((mismatches > 0) == cases[i].wrong, "%s: %s", cases[i].what,
		   cases[i].wrong ? "a difference" : "right");
		finish();
	}
}

/* A trace that gives mstatus with CSR instructions only: csrsi mstatus, 8 after a write of f0. */
static void test_late_fields(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		begin_in(M, MISA_GC, FS);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(0xf0000053, 0, NTRACE_TANDEM_FPR, 0xffffffff00000000);
		insn(0x00a50533, 0, X + 10, 2);
		is_u64(mismatches, 0, "FS may be given later");
		status_after(0x30046073, i ? FS | 8 : UINT64_C(1) << 63 | 3 * FS | 8);
		is_u64(mismatches > 0, i, "FS is %s then: %s", i ? "initial" : "dirty",
		       i ? "a difference" : "right");
		finish();
	}
}

/* A field of mstatus that the trace decides: an interrupt, and mret from it. */
static void test_chosen(void)
{
	const uint64_t top = UINT64_C(1) << 63;

	for (unsigned int i = 0; i < 3; i++) {
		uint64_t wrong = i == 2 ? 0x80 : 0, fs = i ? 0x4000 : 0x2000;

		chosen = (struct ntrace_tandem_mask){ .id = 0x300, .mask = 0x6000 };
		begin_in(M, MISA_GC, FS | 8);
		put(NTRACE_TANDEM_REGISTER, 0x304, 0x80);
		put(NTRACE_TANDEM_REGISTER, X + 5, 0);
		put(NTRACE_TANDEM_END, 0, 0);
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, HANDLER);
		put(NTRACE_TANDEM_REGISTER, 0x300, (fs | 0x1880) ^ wrong);
		put(NTRACE_TANDEM_REGISTER, 0x341, CODE);
		put(NTRACE_TANDEM_REGISTER, 0x342, top | 7);
		put(NTRACE_TANDEM_REGISTER, 0x343, 0);
		put(NTRACE_TANDEM_END, 0, 0);
		is_u64(mismatches, i == 2, "an interrupt with FS chosen, and %s",
		       i == 0 ? "as before" :
		       i == 1 ? "another" :
				"MPIE not stacked");
		insn(0x30200073, CODE, 0x300, FS | 0x80 | (wrong ? 0 : 8));
		is_u64(mismatches, i == 2, "mret with FS chosen");
		finish();
	}
	chosen.id = 0;
}

/* fflags given as a CSR of its own: what the model does not know of fcsr is the trace's. */
static void test_flags(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		begin(64, "rv64gc", false);
		insn(0x02007053, 0, i ? 2 : 1, 0); /* fadd.s f0, f0, f0 of unknown values */
		insn(0x02007053, 0, 1, 0x10);
		is_u64(mismatches, 0, "flags of unknown operands are the trace's");
		finish();
	}
}

/* csrw mie, a0 with a pending interrupt, then two instructions; the trace does not give mideleg. */
static void test_unknown_delegation(void)
{
	static const struct {
		const char *what;
		unsigned int priv;
		uint64_t misa, status, pending;
		bool wrong;
	} cases[] = {
		{ "the timer of M mode, in M mode", M, MISA_GC, 8, 0x80, true },
		{ "in M mode with MIE 0", M, MISA_GC, 0, 0x80, false },
		{ "that of S mode, in M mode", M, MISA_GC, 8, 0x20, false },
		{ "that of S mode, in M mode without S", M, MISA_GC & ~0x40000, 8, 0x20, true },
		{ "in S mode with SIE 0", S, MISA_GC, 0, 0x20, false },
		{ "in S mode with SIE", S, MISA_GC, 2, 0x20, true },
		{ "the timer of M mode, in S mode", S, MISA_GC, 0, 0x80, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_in(cases[i].priv, cases[i].misa, cases[i].status);
		put(NTRACE_TANDEM_REGISTER, 0x304, 0);
		put(NTRACE_TANDEM_REGISTER, 0x344, cases[i].pending);
		put(NTRACE_TANDEM_REGISTER, X + 10, cases[i].pending);
		put(NTRACE_TANDEM_END, 0, 0);
		if (cases[i].priv == M) {
			insn(0x30451073, 0, 0x304, cases[i].pending);
		} else {
			/* mret or sret instead, which enables it: to the same privilege. */
			put(NTRACE_TANDEM_BEGIN, 0, 0);
			put(NTRACE_TANDEM_INIT, 0, 0);
			put(NTRACE_TANDEM_REGISTER, 0x304, cases[i].pending);
			put(NTRACE_TANDEM_REGISTER, 0x141, CODE + 4);
			put(NTRACE_TANDEM_REGISTER, 0x300, 0x100 | cases[i].status << 4);
			put(NTRACE_TANDEM_END, 0, 0);
			insn(0x10200073, CODE + 4, 0x300, 0x20 | cases[i].status);
		}
		insn(0x0000006f, CODE + 4, 0, 0);
		ok((mismatches > 0) == cases[i].wrong, "mideleg unknown: %s: not taken: %s",
		   cases[i].what, cases[i].wrong ? "a difference" : "right");
		finish();
	}
}

/* Two loads that fault one after the other: the handler has written mepc, so that the second group gives no CSR. */
static void test_same_trap(void)
{
	static const struct {
		const char *what;
		uint32_t word;
		uint64_t epc, next;
		bool wrong;
	} cases[] = {
		{ "a load that faults again", 0x00013283, CODE, HANDLER, false },
		{ "a load that goes elsewhere", 0x00013283, CODE, HANDLER + 4, true },
		{ "a load that faults, with another mepc", 0x00013283, CODE + 4, HANDLER, true },
		{ "an addition that goes to the handler", 0x00a50533, CODE, HANDLER, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_in(M, MISA_GC, 0x1800);
		put(NTRACE_TANDEM_REGISTER, 0x341, cases[i].epc);
		put(NTRACE_TANDEM_REGISTER, 0x342, 5);
		put(NTRACE_TANDEM_REGISTER, 0x343, STACK);
		put(NTRACE_TANDEM_END, 0, 0);
		insn(cases[i].word, cases[i].next, 0, 0);
		ok((mismatches > 0) == cases[i].wrong, "%s: %s", cases[i].what,
		   cases[i].wrong ? "a difference" : "right");
		finish();
	}
}

/* A jump whose group gives all CSRs of traps, unchanged: after a trap of @epc. */
static void test_unchanged_cause(void)
{
	static const struct {
		const char *what;
		uint32_t word;
		uint64_t epc, next;
		bool wrong;
	} cases[] = {
		{ "a taken branch", 0x00051463, CODE + 64, CODE + 8, false },
		{ "jr", 0x00008067, CODE + 64, 0x80000100, false },
		{ "j that faulted before", 0x0080006f, CODE, CODE + 8, false },
		{ "mret", 0x30200073, CODE + 64, CODE + 64, false },
		{ "a jump to the handler with another epc", 0x0080006f, CODE + 64, HANDLER, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned int cause = 1; cause < 4; cause += 2) {
			begin_in(M, MISA_GC, 0x1800);
			put(NTRACE_TANDEM_REGISTER, 0x341, cases[i].epc);
			put(NTRACE_TANDEM_REGISTER, 0x342, cause);
			put(NTRACE_TANDEM_END, 0, 0);
			put(NTRACE_TANDEM_BEGIN, 0, 0);
			put(NTRACE_TANDEM_INSN32, 0, cases[i].word);
			put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, cases[i].next);
			put(NTRACE_TANDEM_REGISTER, 0x300,
			    cases[i].word == 0x30200073 ? 0x80 : 0x1800);
			put(NTRACE_TANDEM_REGISTER, 0x341, cases[i].epc);
			put(NTRACE_TANDEM_REGISTER, 0x342, cause);
			put(NTRACE_TANDEM_REGISTER, 0x343, 0);
			put(NTRACE_TANDEM_END, 0, 0);
			ok((mismatches > 0) == cases[i].wrong, "%s, mcause %u unchanged: %s",
			   cases[i].what, cause, cases[i].wrong ? "a difference" : "right");
			finish();
		}
	}
}

int main(void)
{
	test_dirty();
	test_untold();
	test_untold_traps();
	test_written();
	test_mpp();
	test_both_sets();
	test_unknown_delegation();
	test_same_trap();
	test_unchanged_cause();
	test_fields();
	test_late_fields();
	test_chosen();
	test_flags();
	return done_testing();
}
