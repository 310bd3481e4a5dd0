// SPDX-License-Identifier: GPL-2.0-only
/* Instruction classes of the ingress digest (E4), lengths, ISA strings. */
#include <ntrace/isa.h>

#include "tap.h"

static const struct ntrace_isa rv64 = { .xlen = 64, .compressed = true };
static const struct ntrace_isa rv32 = { .xlen = 32, .compressed = true };

static int decode(const struct ntrace_isa *isa, uint64_t bits, size_t size,
		  struct ntrace_insn *insn)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(bits >> 8 * i);
	return ntrace_insn_decode(isa, bytes, size, 0x80000000, insn);
}

static void test_classes(void)
{
	static const struct {
		uint32_t bits;
		enum ntrace_insn_class class;
		const char *what;
	} cases[] = {
		{ 0x000280e7, NTRACE_INSN_COROUTINE_SWAP, "jalr x1, x5" },
		{ 0x000080e7, NTRACE_INSN_INDIRECT_CALL, "jalr x1, x1" },
		{ 0x00008067, NTRACE_INSN_RETURN, "ret" },
		{ 0x00028067, NTRACE_INSN_RETURN, "jr x5" },
		{ 0x00030067, NTRACE_INSN_INDIRECT_JUMP, "jr x6" },
		{ 0x000303e7, NTRACE_INSN_OTHER_INDIRECT_JUMP, "jalr x7, x6" },
		{ 0x0000006f, NTRACE_INSN_JUMP, "j" },
		{ 0x000000ef, NTRACE_INSN_CALL, "jal x1" },
		{ 0x000002ef, NTRACE_INSN_CALL, "jal x5" },
		{ 0x000003ef, NTRACE_INSN_OTHER_JUMP, "jal x7" },
		{ 0x8082, NTRACE_INSN_RETURN, "c.jr x1" },
		{ 0x9282, NTRACE_INSN_COROUTINE_SWAP, "c.jalr x5" },
		{ 0x9082, NTRACE_INSN_INDIRECT_CALL, "c.jalr x1" },
		{ 0xa001, NTRACE_INSN_JUMP, "c.j" },
		{ 0x00200073, NTRACE_INSN_TRAP_RETURN, "uret" },
		{ 0x10200073, NTRACE_INSN_TRAP_RETURN, "sret" },
		{ 0x30200073, NTRACE_INSN_TRAP_RETURN, "mret" },
		{ 0x70200073, NTRACE_INSN_TRAP_RETURN, "mnret" },
		{ 0x00000073, NTRACE_INSN_TRAP, "ecall" },
		{ 0x00100073, NTRACE_INSN_TRAP, "ebreak" },
		{ 0x9002, NTRACE_INSN_TRAP, "c.ebreak" },
		{ 0x10500073, NTRACE_INSN_PLAIN, "wfi" },
		{ 0x0000100f, NTRACE_INSN_PLAIN, "fence.i" },
		{ 0x00002063, NTRACE_INSN_PLAIN, "reserved branch" },
		{ 0x8002, NTRACE_INSN_PLAIN, "reserved c.jr x0" },
	};
	struct ntrace_insn insn;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_u64(decode(&rv64, cases[i].bits, 8, &insn), 0, "%s", cases[i].what);
		is_str(ntrace_insn_class_name(insn.class), ntrace_insn_class_name(cases[i].class),
		       "class of %s", cases[i].what);
	}
	ok(!decode(&rv32, 0x2001, 2, &insn) && insn.class == NTRACE_INSN_CALL, "c.jal on RV32");
	ok(!decode(&rv64, 0x2001, 2, &insn) && insn.class == NTRACE_INSN_PLAIN, "c.addiw on RV64");
	ok(!decode(&rv32, 0xfe000ee3, 4, &insn) && insn.target == 0x7ffffffc, "backward branch");
	ok(!decode(&rv64, 0x80000537, 4, &insn) && insn.upper_rd == 10 &&
		   insn.value == 0xffffffff80000000,
	   "lui is sign-extended");
	ok(!decode(&rv32, 0x80000537, 4, &insn) && insn.value == 0x80000000, "but not on RV32");
	ok(!decode(&rv64, 0xffc50067, 4, &insn) && insn.rs1 == 10 && insn.value == UINT64_MAX - 3,
	   "register and offset of an indirect jump");
}

static void test_lengths(void)
{
	static const struct ntrace_isa rv64_g = { .xlen = 64 };
	struct ntrace_insn insn;

	is_u64(decode(&rv64, 0, 8, &insn), NTRACE_ERR_BADINSN, "the all-zero halfword");
	ok(!decode(&rv64, 0x1f, 6, &insn) && insn.size == 6, "48 bits");
	ok(!decode(&rv64, 0x3f, 8, &insn) && insn.size == 8, "64 bits");
	is_u64(decode(&rv64, 0x7f, 8, &insn), NTRACE_ERR_BADINSN, "more than 64 bits");
	is_u64(decode(&rv64, 0x3f, 6, &insn), NTRACE_ERR_TRUNCATED, "64 bits, 6 bytes");
	is_u64(decode(&rv64, 0x13, 2, &insn), NTRACE_ERR_TRUNCATED, "32 bits, 2 bytes");
	is_u64(decode(&rv64, 0x01, 1, &insn), NTRACE_ERR_TRUNCATED, "1 byte");
	is_u64(decode(&rv64, 0, 0, &insn), NTRACE_ERR_TRUNCATED, "0 bytes");
	is_u64(decode(&rv64_g, 0x8082, 2, &insn), NTRACE_ERR_BADINSN, "c.jr without C");
}

static void test_strings(void)
{
	static const struct {
		const char *text;
		int ret;
		unsigned int xlen;
		bool compressed;
	} cases[] = {
		{ "rv64gc", 0, 64, true },
		{ "RV32IMAC", 0, 32, true },
		{ "rv64g", 0, 64, false },
		{ "rv64imafd_zicsr_zifencei", 0, 64, false },
		{ "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zifencei2p0", 0, 64, true },
		{ "rv64i2p1_m2p0_a2p1_f2p2_d2p2_zicsr2p0_zifencei2p0", 0, 64, false },
		{ "rv32imafdch_zicbom_sstc", 0, 32, true },
		{ "rv32ima_zca_zcmp", 0, 32, true },
		{ "rv32e", 0, 32, false },
		{ "rv64ima_zicbop_xsomething", 0, 64, false },
		{ "rv128i", NTRACE_ERR_UNSUPPORTED, 0, false },
		{ "rv16i", NTRACE_ERR_UNSUPPORTED, 0, false },
		{ "rv64", NTRACE_ERR_INVALID, 0, false },
		{ "rv64c", NTRACE_ERR_INVALID, 0, false },
		{ "rv64i!", NTRACE_ERR_INVALID, 0, false },
		{ "x86_64", NTRACE_ERR_INVALID, 0, false },
		{ "rv", NTRACE_ERR_INVALID, 0, false },
		{ "", NTRACE_ERR_INVALID, 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_isa isa = { 0 };

		is_u64(ntrace_isa_parse(&isa, cases[i].text), cases[i].ret, "parse \"%s\"",
		       cases[i].text);
		ok(isa.xlen == cases[i].xlen && isa.compressed == cases[i].compressed,
		   "what it says");
	}
}

int main(void)
{
	test_classes();
	test_lengths();
	test_strings();
	return done_testing();
}
