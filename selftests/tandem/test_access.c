// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory accesses follow from the instruction and its registers: each kind of instruction with its
 * address and width, right and with one mistake. The encodings come from an assembler.
 */
#include "fake_model.h"

#define SP (GPR + 2)
#define EADDR NTRACE_TANDEM_STATE_EADDR
#define PADDR NTRACE_TANDEM_STATE_PADDR
#define STORE8 NTRACE_TANDEM_STATE_STORE8

enum { LOADS, STORES, ATOMIC, FAILS };

static const struct {
	const char *what;
	uint64_t insn;
	unsigned int xlen, kind, bytes, base;
	int offset;
} accesses[] = {
	{ "lb a0, -3(a1)", 0xffd58503, 64, LOADS, 1, A1, -3 },
	{ "lhu a0, 6(a1)", 0x0065d503, 64, LOADS, 2, A1, 6 },
	{ "lw a0, 2047(a1)", 0x7ff5a503, 64, LOADS, 4, A1, 2047 },
	{ "ld a0, -2048(a1)", 0x8005b503, 64, LOADS, 8, A1, -2048 },
	{ "flw fa0, 4(a1)", 0x0045a507, 64, LOADS, 4, A1, 4 },
	{ "fld fa0, 8(a1)", 0x0085b507, 64, LOADS, 8, A1, 8 },
	{ "sb a0, -1(a1)", 0xfea58fa3, 64, STORES, 1, A1, -1 },
	{ "sh a0, 2(a1)", 0x00a59123, 64, STORES, 2, A1, 2 },
	{ "sw a0, 36(a1)", 0x02a5a223, 64, STORES, 4, A1, 36 },
	{ "sd a0, 8(a1)", 0x00a5b423, 64, STORES, 8, A1, 8 },
	{ "fsw fa0, 4(a1)", 0x00a5a227, 64, STORES, 4, A1, 4 },
	{ "fsd fa0, 8(a1)", 0x00a5b427, 64, STORES, 8, A1, 8 },
	{ "c.lw a0, 4(a1)", 0x41c8, 64, LOADS, 4, A1, 4 },
	{ "c.lw a0, 64(a1)", 0x41a8, 64, LOADS, 4, A1, 64 },
	{ "c.ld a0, 8(a1)", 0x6588, 64, LOADS, 8, A1, 8 },
	{ "c.fld fa0, 64(a1)", 0x21a8, 64, LOADS, 8, A1, 64 },
	{ "c.sw a0, 4(a1)", 0xc1c8, 64, STORES, 4, A1, 4 },
	{ "c.sd a0, 8(a1)", 0xe588, 64, STORES, 8, A1, 8 },
	{ "c.fsd fa0, 8(a1)", 0xa588, 64, STORES, 8, A1, 8 },
	{ "c.lwsp a0, 12(sp)", 0x4532, 64, LOADS, 4, SP, 12 },
	{ "c.ldsp a0, 16(sp)", 0x6542, 64, LOADS, 8, SP, 16 },
	{ "c.fldsp fa0, 16(sp)", 0x2542, 64, LOADS, 8, SP, 16 },
	{ "c.swsp a0, 12(sp)", 0xc62a, 64, STORES, 4, SP, 12 },
	{ "c.sdsp a0, 16(sp)", 0xe82a, 64, STORES, 8, SP, 16 },
	{ "c.lbu a0, 3(a1)", 0x81e8, 64, LOADS, 1, A1, 3 },
	{ "c.lhu a0, 2(a1)", 0x85a8, 64, LOADS, 2, A1, 2 },
	{ "c.lh a0, 2(a1)", 0x85e8, 64, LOADS, 2, A1, 2 },
	{ "c.sb a0, 3(a1)", 0x89e8, 64, STORES, 1, A1, 3 },
	{ "c.sh a0, 2(a1)", 0x8da8, 64, STORES, 2, A1, 2 },
	{ "c.flw fa0, 4(a1)", 0x61c8, 32, LOADS, 4, A1, 4 },
	{ "c.fsw fa0, 4(a1)", 0xe1c8, 32, STORES, 4, A1, 4 },
	{ "c.flwsp fa0, 12(sp)", 0x6532, 32, LOADS, 4, SP, 12 },
	{ "c.fswsp fa0, 12(sp)", 0xe62a, 32, STORES, 4, SP, 12 },
	{ "lr.w a0, (a1)", 0x1005a52f, 64, LOADS, 4, A1, 0 },
	{ "amoadd.w a0, a2, (a1)", 0x00c5a52f, 64, ATOMIC, 4, A1, 0 },
	{ "amomaxu.d a0, a2, (a1)", 0xe0c5b52f, 64, ATOMIC, 8, A1, 0 },
	{ "sc.d a0, a2, (a1)", 0x18c5b52f, 64, STORES, 8, A1, 0 },
};

#define MIDDLE 0x1000000

/* Begins a group with the instruction of row @i; its base register is known. */
static uint64_t begin_access(unsigned int i)
{
	const unsigned int xlen = accesses[i].xlen;

	if (config.params.xlen != xlen) {
		defaults();
		config.params.xlen = config.params.mlen = xlen;
		restart();
	}
	init(accesses[i].base, MIDDLE);
	init(GPR + 12, 0);
	begin_insn(accesses[i].insn);
	if ((accesses[i].insn & 0xf800707f) == 0x1800302f) {
		set(A0, 0);
		also(A0, 0);
	}
	return (uint64_t)(MIDDLE + accesses[i].offset);
}

/* The elements that the access should have. */
static void tell(unsigned int i, uint64_t address, unsigned int bytes, bool store)
{
	put(NTRACE_TANDEM_STATE, EADDR, address);
	if (store)
		put(NTRACE_TANDEM_STATE, STORE8 + (unsigned int)__builtin_ctz(bytes), 0);
	end();
	(void)i;
}

static void found_is(unsigned int i, const char *mistake, unsigned int rule)
{
	ok(mismatches == 1 && found[0].rule == rule, "%s: %s is found", accesses[i].what, mistake);
	if (mismatches != 1 || found[0].rule != rule)
		diag("%u differences, rule %u", mismatches, mismatches ? found[0].rule : 0);
}

static void test_accesses(void)
{
	for (unsigned int i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		bool store = accesses[i].kind != LOADS;
		unsigned int bytes = accesses[i].bytes;
		uint64_t address = begin_access(i);

		tell(i, address, bytes, store);
		is_u64(mismatches, 0, "%s: address and width", accesses[i].what);
		begin_access(i);
		tell(i, address + 1, bytes, store);
		found_is(i, "another address", NTRACE_TANDEM_RULE_ACCESS_ADDRESS);
		begin_access(i);
		end();
		found_is(i, "no access", NTRACE_TANDEM_RULE_ACCESS_MISSING);
		begin_access(i);
		tell(i, address, bytes == 1 ? 2 : bytes / 2, true);
		found_is(i, store ? "another width" : "a store",
			 store ? NTRACE_TANDEM_RULE_ACCESS_WIDTH :
				 NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED);
		if (!store)
			continue;
		begin_access(i);
		tell(i, address, bytes, false);
		found_is(i, "no store data", NTRACE_TANDEM_RULE_ACCESS_MISSING);
	}
	start();
	begin_insn(NOP);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	end();
	ok(mismatches == 1 && found[0].rule == NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED,
	   "an access of addi");
	init(A1, DATA);
	begin_insn(0x18c5b52f); /* sc.d a0, a2, (a1) */
	set(A0, 1);
	also(A0, 1);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	put(NTRACE_TANDEM_STATE, STORE8 + 3, 0);
	end();
	ok(mismatches == 1 && found[0].rule == NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED,
	   "a store of an sc that failed");
	begin_insn(0x0205e507); /* vle32.v v10, (a1) */
	put(NTRACE_TANDEM_STATE, EADDR, 0x5000);
	end();
	begin_insn(0xb842); /* cm.push {ra}, -16 */
	set(SP, 16);
	also(SP, 16);
	put(NTRACE_TANDEM_STATE, EADDR, 0x5000);
	put(NTRACE_TANDEM_STATE, STORE8 + 3, 0);
	end();
	is_u64(mismatches, 0, "accesses of vectors, pushes and pops are not derived");
	/* What traps accesses nothing. */
	begin_insn(0x0005b503);
	set(MCAUSE, 5);
	also(MCAUSE, 5);
	end();
	is_u64(mismatches, 0, "a load that faults needs no access");
	begin_insn(0x00100073); /* ebreak */
	set(MCAUSE, 3);
	also(MCAUSE, 3);
	put(NTRACE_TANDEM_STATE, STORE8 + 2, 0);
	end();
	ok(mismatches == 1 && found[0].rule == NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED,
	   "a store of an ebreak");
	for (unsigned int store = 0; store < 2; store++) {
		begin();
		set(MCAUSE, UINT64_C(1) << 63 | 7);
		set(PC, 0);
		if (store)
			put(NTRACE_TANDEM_STATE, STORE8 + 2, 0);
		end();
		is_u64(mismatches &&
			       found[mismatches - 1].rule == NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED,
		       store, "an interrupt with %s", store ? "a store" : "none");
	}
}

static void test_physical(void)
{
	start();
	init(A1, DATA);
	init(MSTATUS, 0);
	init(PRIV, 3);
	begin_insn(0x0005b503);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	put(NTRACE_TANDEM_STATE, PADDR, DATA + 0x1000);
	end();
	ok(mismatches == 1 && found[0].rule == NTRACE_TANDEM_RULE_ACCESS_PHYSICAL,
	   "M mode has physical addresses");
	init(MSTATUS, 0x20000);
	begin_insn(0x0005b503);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	put(NTRACE_TANDEM_STATE, PADDR, DATA + 0x1000);
	end();
	is_u64(mismatches, 0, "with MPRV it may not");
	init(PRIV, 1);
	init(0x180, 0);
	begin_insn(0x0005b503);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	put(NTRACE_TANDEM_STATE, PADDR, DATA + 0x1000);
	end();
	is_u64(mismatches, 1, "without translation, S mode has them, too");
	init(0x180, UINT64_C(8) << 60);
	begin_insn(0x0005b503);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	put(NTRACE_TANDEM_STATE, PADDR, DATA + 0x1000);
	end();
	is_u64(mismatches, 0, "with Sv39 it does not");
	/* A hypervisor, and MPRV with MPP = U. */
	for (unsigned int i = 0; i < 8; i++) {
		start();
		init(A1, DATA);
		init(MSTATUS, i & 4 ? 0x20000 : 0);
		init(PRIV, i & 4 ? 3 : 1);
		init(0x180, 0);
		init(0x301, UINT64_C(1) << 63 | 0x80);
		if (i & 1)
			init(0x280, 0);
		init(0x680, i & 2 ? UINT64_C(8) << 60 : 0);
		begin_insn(0x0005b503);
		put(NTRACE_TANDEM_STATE, EADDR, DATA);
		put(NTRACE_TANDEM_STATE, PADDR, DATA + 0x1000);
		end();
		is_u64(mismatches, (i & 3) == 1, "hypervisor, vsatp %s, hgatp %s%s",
		       i & 1 ? "Bare" : "unknown", i & 2 ? "Sv39x4" : "Bare",
		       i & 4 ? ", MPRV to U mode" : "");
	}
}

static void load(uint64_t insn, uint64_t traced, uint64_t in_model)
{
	begin_insn(insn);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	set(A0, traced);
	also(A0, in_model);
	end();
}

/* A wrong store in the trace: whether the hart stored it is seen by its loads. */
static void test_doubt(void)
{
	static const struct {
		const char *what;
		uint64_t insn, traced, in_model;
	} loads[] = {
		{ "ld", 0x0005b503, 0x1122334455667788, 0x1122334455667789 },
		{ "lw", 0x0005a503, 0x55667788, 0x55667789 },
		{ "lb", 0x00058503, UINT64_C(0xffffffffffffff88), UINT64_C(0xffffffffffffff89) },
		{ "lbu", 0x0005c503, 0x88, 0x89 },
	};
	const uint64_t wrong = 0x1122334455667788, right = wrong + 1;
	uint64_t now;

	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int stored = 0; stored < 2; stored++) {
			start();
			init(A1, DATA);
			init(A0, right);
			begin_insn(0x00a5b023); /* sd a0, (a1) */
			memcpy(model.memory + (DATA - CODE), &right, 8);
			put(NTRACE_TANDEM_STATE, EADDR, DATA);
			put(NTRACE_TANDEM_STATE, STORE8 + 3, wrong);
			end();
			ok(mismatches == 1 && found[0].kind == NTRACE_TANDEM_DIFFERENT_STORE,
			   "a store of another value");
			load(loads[i].insn, stored ? loads[i].traced : loads[i].in_model,
			     loads[i].in_model);
			is_u64(mismatches, 0, "a later %s of the %s value is right", loads[i].what,
			       stored ? "stored" : "correct");
			memcpy(&now, model.memory + (DATA - CODE), 8);
			is_hex(now & 0xff, stored ? 0x88 : 0x89, "the memory has it");
		}
	load(0x0005c503, 0x55, 0x89);
	is_u64(mismatches, 1, "a third value is wrong");
	/* The next store ends the doubt. */
	begin_insn(0x00a5b023);
	memcpy(model.memory + (DATA - CODE), "\x55\0\0\0\0\0\0", 8);
	put(NTRACE_TANDEM_STATE, EADDR, DATA);
	put(NTRACE_TANDEM_STATE, STORE8 + 3, 0x55);
	end();
	is_u64(mismatches, 0, "a store of the right value");
	load(0x0005c503, 0x88, 0x55);
	is_u64(mismatches, 1, "ends the doubt");
}

int main(void)
{
	test_accesses();
	test_physical();
	test_doubt();
	ntrace_tandem_verifier_free(verifier);
	return done_testing();
}
