// SPDX-License-Identifier: GPL-2.0-only
/*
 * When an interrupt is taken (Privileged Architecture 1.12, sections 3.1.6 to 3.1.9): each rule with
 * cases in which it may be, and one mistake each in which it may not.
 */
#include "fake_model.h"

enum { U, S, M = 3 };
enum { SSI = 1, MSI = 3, STI = 5, MTI = 7, SEI = 9, MEI = 11, LCOFI = 13 };
#define SIE_BIT 0x2
#define MIE_BIT 0x8
#define ALL 0xffffffff
#define RULE(name) (NTRACE_TANDEM_RULE_INTERRUPT_##name + 1)

/* An interrupt in the state of a row; @rule: the one that it breaks + 1, 0 = none */
static const struct {
	const char *what;
	unsigned int code, from, to;
	uint64_t status, mie, mideleg, mip;
	unsigned int rule;
} cases[] = {
	{ "timer in M, MIE 1", MTI, M, M, MIE_BIT, ALL, 0, ALL & 0x80, 0 },
	{ "timer in M, MIE 0", MTI, M, M, 0, ALL, 0, 0x80, RULE(GLOBAL) },
	{ "timer in U, MIE 0", MTI, U, M, 0, ALL, 0, 0x80, 0 },
	{ "timer in S, MIE 0", MTI, S, M, 0, ALL, 0, 0x80, 0 },
	{ "S timer in S, SIE 1", STI, S, S, SIE_BIT, ALL, 0x222, 0x20, 0 },
	{ "S timer in S, SIE 0", STI, S, S, MIE_BIT, ALL, 0x222, 0x20, RULE(GLOBAL) },
	{ "S timer in U, SIE 0", STI, U, S, 0, ALL, 0x222, 0x20, 0 },
	{ "S timer in M, delegated", STI, M, S, MIE_BIT | SIE_BIT, ALL, 0x222, 0x20, RULE(GLOBAL) },
	{ "its bit of mie is 0", MTI, U, M, 0, 0x800, 0, 0x80, RULE(ENABLE) },
	{ "its bit of mip is 0", MTI, U, M, 0, ALL, 0, 0x800, RULE(PENDING) },
	{ "delegated, taken in M", STI, U, M, 0, ALL, 0x222, 0x20, RULE(DELEGATION) },
	{ "not delegated, taken in S", STI, U, S, 0, ALL, 0, 0x20, RULE(DELEGATION) },
	{ "reserved cause", 4, U, M, 0, ALL, 0, 0x10, RULE(CAUSE) },
	{ "platform cause", 17, U, M, 0, ALL, 0, 0x20000, 0 },
	{ "external before software", MEI, U, M, 0, ALL, 0, 0x888, 0 },
	{ "software although external", MSI, U, M, 0, ALL, 0, 0x888, RULE(PRIORITY) },
	{ "timer although software", MTI, U, M, 0, ALL, 0, 0x88, RULE(PRIORITY) },
	{ "S timer although S software", STI, U, S, 0, ALL, 0x222, 0x22, RULE(PRIORITY) },
	{ "S external before S software", SEI, U, S, 0, ALL, 0x222, 0x222, 0 },
	{ "overflow of a counter although S timer", LCOFI, U, S, 0, ALL, 0x2222, 0x2020,
	  RULE(PRIORITY) },
	{ "S although M is pending", SEI, U, S, 0, ALL, 0x222, 0x280, RULE(PRIORITY) },
	{ "S in S, M is pending, but disabled", SEI, S, S, SIE_BIT, 0x222, 0x222, 0x280, 0 },
	{ "external is pending, but disabled", MTI, U, M, 0, 0x80, 0, 0x880, 0 },
};

static unsigned int xlen;

static void configure(void)
{
	defaults();
	config.params.xlen = config.params.mlen = xlen;
}

static uint64_t cause_of(unsigned int code)
{
	return UINT64_C(1) << (xlen - 1) | code;
}

/* Registers of the hart and of its model. */
static void set_state(uint64_t priv, uint64_t status, uint64_t mie, uint64_t mideleg, uint64_t mip)
{
	configure();
	restart();
	init(PC, CODE);
	init(MTVEC, 0x1000);
	init(STVEC, 0x2000);
	init(PRIV, priv);
	init(MSTATUS, status);
	init(MIE, mie);
	init(MIDELEG, mideleg);
	init(MIP, mip);
}

/* Takes it; everything but whether it may is right. */
static void take(unsigned int code, unsigned int to, uint64_t from, uint64_t status)
{
	bool machine = to == M;
	unsigned int ie = machine ? 3 : 1, pie = machine ? 7 : 5, pp = machine ? 11 : 8;

	begin();
	set(machine ? MCAUSE : SCAUSE, cause_of(code));
	set(machine ? MEPC : SEPC, CODE);
	set(machine ? MTVAL : 0x143, 0);
	set(PC, machine ? 0x1000 : 0x2000);
	set(PRIV, to);
	set(MSTATUS, (status & ~(UINT64_C(1) << ie | UINT64_C(1) << pie)) |
			     (status >> ie & 1) << pie | (from << pp & (machine ? 0x1800 : 0x100)));
	end();
}

static void test_cases(void)
{
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int rule = cases[i].rule;

		set_state(cases[i].from, cases[i].status, cases[i].mie, cases[i].mideleg,
			  cases[i].mip);
		take(cases[i].code, cases[i].to, cases[i].from, cases[i].status);
		if (rule)
			ok(mismatches == 1 && found[0].rule == rule - 1 &&
				   found[0].kind == NTRACE_TANDEM_DIFFERENT_TRAP,
			   "RV%u: %s: breaks %s", xlen, cases[i].what,
			   ntrace_tandem_rule_info(rule - 1)->id);
		else
			is_u64(mismatches, 0, "RV%u: %s: may be taken", xlen, cases[i].what);
		if (mismatches != (rule != 0))
			for (unsigned int k = 0; k < mismatches && k < 8; k++)
				diag("%s", ntrace_tandem_rule_info(found[k].rule)->id);
	}
	/* Its registers. */
	set_state(U, 0, ALL, 0, 0x80);
	init(MTVAL, 5);
	begin();
	set(MCAUSE, cause_of(MTI));
	set(MEPC, CODE);
	set(PC, 0x1000);
	set(PRIV, M);
	end();
	ok(mismatches == 1 && found[0].rule == NTRACE_TANDEM_RULE_INTERRUPT_TVAL,
	   "mtval that keeps its value");
	set_state(U, 0, ALL, 0, 0x80);
	begin();
	set(MCAUSE, cause_of(MTI));
	set(MEPC, CODE);
	set(PC, 0x1000);
	set(PRIV, M);
	set(A0, 7);
	end();
	ok(mismatches == 1 && found[0].rule == NTRACE_TANDEM_RULE_INTERRUPT_OTHER,
	   "an interrupt that changes a0");
}

static void nops(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		begin_insn(NOP);
		end();
	}
}

/* @count instructions with the interrupt pending, as it arrives during the first of them. */
static unsigned int wait_for(unsigned int count, uint64_t mip)
{
	unsigned int seen = 0;

	for (unsigned int i = 0; i < count; i++) {
		memcpy(model.memory, "\x13\0\0", 4);
		model.after[0][0] = PC;
		model.after[0][1] = CODE + 4;
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, CODE);
		begin();
		if (!i)
			set(MIP, mip);
		put(NTRACE_TANDEM_NEXT_PC, 0, 0);
		put(NTRACE_TANDEM_INSN32, 0, NOP);
		end();
		seen += mismatches;
	}
	return seen;
}

static void test_forgotten(void)
{
	defaults();
	is_u64(config.pending_limit, 1000, "default: 1000 instructions");
	set_state(U, 0, 0x80, 0, 0);
	config.pending_limit = 10;
	restart();
	init(PRIV, U);
	init(MSTATUS, 0);
	init(MIE, 0x80);
	init(MIDELEG, 0);
	is_u64(wait_for(10, 0x80), 0, "pending and enabled for 10 instructions");
	is_u64(wait_for(1, 0x80), 1, "for 11");
	ok(found[0].rule == NTRACE_TANDEM_RULE_INTERRUPT_TAKEN && found[0].id == MIP &&
		   found[0].seen == 0x80 && !found[0].expected,
	   "it is reported with mip");
	is_u64(wait_for(20, 0x80), 0, "once");
	is_u64(wait_for(1, 0), 0, "no longer pending");
	is_u64(wait_for(11, 0x80), 1, "pending again");
	wait_for(1, 0);
	is_u64(wait_for(20, 0x800), 0, "disabled by mie");
	init(PRIV, M);
	is_u64(wait_for(20, 0x80), 0, "disabled by mstatus.MIE");
	init(MSTATUS, MIE_BIT);
	is_u64(wait_for(20, 0x80), 1, "enabled by it");
	configure();
	config.pending_limit = 0;
	restart();
	init(PRIV, U);
	init(MSTATUS, 0);
	init(MIE, 0x80);
	init(MIDELEG, 0);
	is_u64(wait_for(2000, 0x80), 0, "a limit of 0: any number");
	configure();
	restart();
	init(PRIV, U);
	init(MSTATUS, 0);
	init(MIE, 0x80);
	init(MIDELEG, 0);
	model.reg[MIP] = 0x80;
	nops(1100);
	is_u64(mismatches, 0, "a trace that does not tell mip is not judged");
}

/* csrrs and mret evaluate interrupts at once. */
static void test_immediate(void)
{
	static const struct {
		const char *what;
		uint64_t insn, mip;
		bool due;
	} insns[] = {
		{ "csrsi mstatus, 8", 0x30046073, 0x80, true },
		{ "csrs mie, a0", 0x30452073, 0x80, true },
		{ "mret", 0x30200073, 0x80, true },
		{ "csrsi mstatus, 8, nothing pending", 0x30046073, 0x800, false },
		{ "csrw mscratch, a0", 0x34051073, 0x80, false },
		{ "csrr x0, mip: no write", 0x34402073, 0x80, false },
		{ "csrr x0, mstatus: no write", 0x30002073, 0x80, false },
		{ "csrci mie, 0: no write", 0x30407073, 0x80, false },
		{ "csrw mip, x0", 0x34401073, 0x80, true },
	};

	for (unsigned int i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
		for (unsigned int taken = 0; taken < 2; taken++) {
			set_state(M, 0, 0x80, 0, insns[i].mip);
			begin_insn(insns[i].insn);
			set(MSTATUS, MIE_BIT);
			also(MSTATUS, MIE_BIT);
			end();
			is_u64(mismatches, 0, "RV%u: %s", xlen, insns[i].what);
			if (taken && insns[i].due) {
				begin();
				set(MCAUSE, cause_of(MTI));
				set(MEPC, CODE + 4);
				set(PC, 0x1000);
				set(MSTATUS, 0x1880);
				set(PRIV, M);
				end();
				is_u64(mismatches, 0, "and the interrupt");
				continue;
			}
			memcpy(model.memory + 4, "\x13\0\0", 4);
			model.after[0][1] = CODE + 8;
			model.after[1][0] = 0;
			begin();
			put(NTRACE_TANDEM_NEXT_PC, 0, 0);
			put(NTRACE_TANDEM_INSN32, 0, NOP);
			end();
			ok(mismatches == insns[i].due &&
				   (!mismatches ||
				    found[0].rule == NTRACE_TANDEM_RULE_INTERRUPT_IMMEDIATE),
			   "and another instruction: %s",
			   insns[i].due ? "the interrupt is missing" : "right");
		}
}

/* An instruction that sets a bit of mip makes its interrupt pending (3.1.9). */
static void test_raised(void)
{
	static const struct {
		const char *what;
		uint64_t insn;
		bool due;
	} insns[] = {
		{ "csrsi mip, 2", 0x34416073, true },
		{ "csrsi sip, 2", 0x14416073, true },
		{ "csrci mip, 2: another source", 0x34417073, false },
		{ "csrsi mscratch, 2: another source", 0x34016073, false },
	};
	uint64_t judged, broken;

	for (unsigned int i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		set_state(U, 0, 2, 0, 0);
		init(PRIV, M);
		init(MSTATUS, MIE_BIT);
		begin_insn(insns[i].insn);
		set(MIP, 2);
		end();
		is_u64(mismatches, 0, "RV%u: %s", xlen, insns[i].what);
		ntrace_tandem_verifier_rule(verifier, NTRACE_TANDEM_RULE_INTERRUPT_IMMEDIATE,
					    &judged, &broken);
		is_u64(judged, insns[i].due, "the interrupt is%s due", insns[i].due ? "" : " not");
		memcpy(model.memory + 4, "\x13\0\0", 4);
		model.after[0][1] = CODE + 8;
		begin();
		put(NTRACE_TANDEM_NEXT_PC, 0, 0);
		put(NTRACE_TANDEM_INSN32, 0, NOP);
		end();
		is_u64(mismatches, insns[i].due, "and another instruction: %s",
		       insns[i].due ? "the interrupt is missing" : "right");
	}
}

/* Rules of interrupts are judged where an interrupt is ready. */
static void test_coverage(void)
{
	uint64_t immediate, taken, broken;

	set_state(M, MIE_BIT, 0x80, 0, 0);
	nops(5);
	ntrace_tandem_verifier_rule(verifier, NTRACE_TANDEM_RULE_INTERRUPT_IMMEDIATE, &immediate,
				    &broken);
	ntrace_tandem_verifier_rule(verifier, NTRACE_TANDEM_RULE_INTERRUPT_TAKEN, &taken, &broken);
	ok(!immediate && !taken, "RV%u: without a pending interrupt, none is judged", xlen);
}

static void test_names(void)
{
	uint64_t judged, broken;

	for (unsigned int i = 0; i < NTRACE_TANDEM_RULES; i++) {
		const struct ntrace_tandem_rule_info *info = ntrace_tandem_rule_info(i);

		ok(info && info->id && info->section && info->text, "rule %u has a description", i);
	}
	ok(!ntrace_tandem_rule_info(NTRACE_TANDEM_RULES), "there are no more");
	start();
	begin_insn(NOP);
	set(A0, 5);
	end();
	is_u64(ntrace_tandem_verifier_rule(verifier, NTRACE_TANDEM_RULE_REGISTER, &judged, &broken),
	       0, "a rule's counts");
	ok(judged && broken == 1, "judged, and broken once");
	is_u64(ntrace_tandem_verifier_rule(verifier, NTRACE_TANDEM_RULES, &judged, &broken),
	       NTRACE_ERR_INVALID, "an unknown rule");
}

int main(void)
{
	for (xlen = 64; xlen >= 32; xlen -= 32) {
		test_cases();
		test_forgotten();
		test_immediate();
		test_raised();
		test_coverage();
	}
	test_names();
	ntrace_tandem_verifier_free(verifier);
	return done_testing();
}
