// SPDX-License-Identifier: GPL-2.0-only
/* Instruction classes (E-Trace, chapter 4, itype), lengths, ISA strings. */
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
		is_str(ntrace_insn_class_name(insn.insn_class),
		       ntrace_insn_class_name(cases[i].class), "class of %s", cases[i].what);
	}
	ok(!decode(&rv32, 0x2001, 2, &insn) && insn.insn_class == NTRACE_INSN_CALL,
	   "c.jal on RV32");
	ok(!decode(&rv64, 0x2001, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN,
	   "c.addiw on RV64");
	ok(!decode(&rv32, 0xfe000ee3, 4, &insn) && insn.target == 0x7ffffffc, "backward branch");
	ok(!decode(&rv64, 0x80000537, 4, &insn) && insn.upper_rd == 10 &&
		   insn.value == 0xffffffff80000000,
	   "lui is sign-extended");
	ok(!decode(&rv32, 0x80000537, 4, &insn) && insn.value == 0x80000000, "but not on RV32");
	ok(!decode(&rv64, 0xffc50067, 4, &insn) && insn.rs1 == 10 && insn.value == UINT64_MAX - 3,
	   "register and offset of an indirect jump");
}

/* The classification table of E-Trace, chapter 4: every row, and the examples. */
static void test_itypes(void)
{
	static const struct {
		uint32_t bits;
		int type4, type3;
		const char *what;
	} cases[] = {
		{ 0x000000ef, 9, 0, "JAL, rd link: jal x1" },
		{ 0x000002ef, 9, 0, "JAL, rd link: jal x5" },
		{ 0x0000006f, 11, 0, "JAL, rd x0: j" },
		{ 0x000003ef, 15, 0, "JAL, other rd: jal x7" },
		{ 0x000300e7, 8, 6, "JALR, rd link, rs1 not: jalr x1, x6" },
		{ 0x000302e7, 8, 6, "JALR, rd link, rs1 not: jalr x5, x6" },
		{ 0x000000e7, 8, 6, "JALR, rd link, rs1 not: jalr x1, x0" },
		{ 0x000080e7, 8, 6, "JALR, both link, rd = rs1: jalr x1, x1" },
		{ 0x000282e7, 8, 6, "JALR, both link, rd = rs1: jalr x5, x5" },
		{ 0x000280e7, 12, 6, "JALR, both link, rd != rs1: jalr x1, x5" },
		{ 0x000082e7, 12, 6, "JALR, both link, rd != rs1: jalr x5, x1" },
		{ 0x00008067, 13, 6, "JALR, rd not link, rs1 link: ret" },
		{ 0x00028067, 13, 6, "JALR, rd not link, rs1 link: jr x5" },
		{ 0x000083e7, 13, 6, "JALR, rd not link, rs1 link: jalr x7, x1" },
		{ 0x00030067, 10, 6, "JALR, rd x0, rs1 not link: jr x6" },
		{ 0x000303e7, 14, 6, "JALR, other rd, rs1 not link: jalr x7, x6" },
		{ 0xa001, 11, 0, "C.J" },
		{ 0x8082, 13, 6, "C.JR x1" },
		{ 0x8282, 13, 6, "C.JR x5" },
		{ 0x8302, 10, 6, "C.JR x6" },
		{ 0x9282, 12, 6, "C.JALR x5" },
		{ 0x9082, 8, 6, "C.JALR x1" },
		{ 0x9302, 8, 6, "C.JALR x6" },
		{ 0xa002, 11, 0, "CM.JT 0" },
		{ 0xa07e, 11, 0, "CM.JT 31" },
		{ 0xa082, 9, 0, "CM.JALT 32" },
		{ 0xa3fe, 9, 0, "CM.JALT 255" },
		{ 0xbe42, 13, 6, "CM.POPRET {ra}" },
		{ 0xbefe, 13, 6, "CM.POPRET {ra, s0-s11}" },
		{ 0xbc42, 13, 6, "CM.POPRETZ {ra}" },
		{ 0xb842, 0, 0, "CM.PUSH" },
		{ 0xba42, 0, 0, "CM.POP" },
		{ 0x30200073, 3, 3, "MRET" },
		{ 0x10200073, 3, 3, "SRET" },
		{ 0x00200073, 3, 3, "URET" },
		{ 0x70200073, 3, 3, "MNRET" },
		{ 0x00000073, 1, 1, "ECALL" },
		{ 0x00100073, 1, 1, "EBREAK" },
		{ 0x9002, 1, 1, "C.EBREAK" },
		{ 0x0000100f, 0, 0, "FENCE.I" },
		{ 0x10500073, 0, 0, "WFI" },
		{ 0x34011173, 0, 0, "CSRRW" },
		{ 0x7b200073, 0, 0, "DRET: not traced" },
	};
	static const struct {
		uint32_t bits;
		const char *what;
	} branches[] = {
		{ 0x00208063, "BEQ" }, { 0x00209063, "BNE" },  { 0x0020c063, "BLT" },
		{ 0x0020d063, "BGE" }, { 0x0020e063, "BLTU" }, { 0x0020f063, "BGEU" },
		{ 0xc001, "C.BEQZ" },  { 0xe001, "C.BNEZ" },
	};
	struct ntrace_isa isa;
	struct ntrace_insn insn;

	ntrace_isa_parse(&isa, "rv64ima_zcmp_zcmt");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_u64(decode(&isa, cases[i].bits, 8, &insn), 0, "%s", cases[i].what);
		is_u64(ntrace_insn_itype(&insn, false, 4), cases[i].type4, "4-bit itype");
		is_u64(ntrace_insn_itype(&insn, true, 3), cases[i].type3, "3-bit itype");
	}
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
		is_u64(decode(&isa, branches[i].bits, 8, &insn), 0, "%s", branches[i].what);
		for (unsigned int bits = 3; bits <= 4; bits++)
			ok(ntrace_insn_itype(&insn, false, bits) == 4 &&
				   ntrace_insn_itype(&insn, true, bits) == 5,
			   "%u-bit itype: not taken 4, taken 5", bits);
	}
	ok(!decode(&rv32, 0x2001, 2, &insn) && ntrace_insn_itype(&insn, false, 4) == 9 &&
		   ntrace_insn_itype(&insn, false, 3) == 0,
	   "C.JAL on RV32: 9, 0");
	is_u64(ntrace_insn_itype(&insn, false, 5), NTRACE_ERR_INVALID, "no port has 5 bits");
	is_u64(ntrace_insn_itype(&insn, false, 2), NTRACE_ERR_INVALID, "nor 2");
}

/* Zcmp and Zcmt share their encodings with Zcd. */
static void test_zcm(void)
{
	struct ntrace_isa isa, embedded;
	struct ntrace_insn insn;

	ok(!decode(&rv64, 0xbe42, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN,
	   "0xbe42 is C.FSDSP under Zcd");
	ok(!decode(&rv64, 0xa082, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN &&
		   !insn.table_jump,
	   "0xa082 too");
	ntrace_isa_parse(&isa, "rv32i_zcmp");
	ok(!decode(&isa, 0xa082, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN,
	   "Zcmp does not imply Zcmt");
	ok(!decode(&isa, 0xbe42, 2, &insn) && insn.insn_class == NTRACE_INSN_RETURN &&
		   insn.rs1 == 1,
	   "CM.POPRET returns through ra");
	ok(!decode(&isa, 0xbe32, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN,
	   "classification: register lists below 4 are reserved");
	ntrace_isa_parse(&isa, "rv32i_zcmt");
	ok(!decode(&isa, 0xbe42, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN,
	   "Zcmt does not imply Zcmp");
	ok(!decode(&isa, 0xa07e, 2, &insn) && insn.insn_class == NTRACE_INSN_JUMP &&
		   insn.table_jump && insn.table_index == 31 && !insn.target,
	   "CM.JT 31: below 32");
	ok(!decode(&isa, 0xa082, 2, &insn) && insn.insn_class == NTRACE_INSN_CALL &&
		   insn.table_jump && insn.table_index == 32,
	   "CM.JALT 32: not below 32");
	ok(!decode(&isa, 0xac22, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN, "CM.MVSA01");
	ntrace_isa_parse(&embedded, "rv32e_zcmp");
	ok(!decode(&embedded, 0xbe62, 2, &insn) && insn.insn_class == NTRACE_INSN_RETURN,
	   "RV32E: {ra, s0-s1}");
	ok(!decode(&embedded, 0xbe72, 2, &insn) && insn.insn_class == NTRACE_INSN_PLAIN,
	   "RV32E: no s2");
	ok(!decode(&embedded, 0x00080067, 4, &insn) && insn.insn_class == NTRACE_INSN_PLAIN,
	   "RV32E: no jr x16");
}

/* N-Trace 1.0, "sequentially inferable jumps". */
static void test_sequential(void)
{
	static const struct {
		const struct ntrace_isa *isa;
		uint32_t before, jump;
		bool inferable;
		uint64_t target;
		const char *what;
	} cases[] = {
		{ &rv64, 0x00001317, 0x00430067, true, 0x80001004, "auipc x6; jr 4(x6)" },
		{ &rv64, 0x00001317, 0xffd300e7, true, 0x80000ffc, "the lowest bit is cleared" },
		{ &rv64, 0x80000337, 0x000303e7, true, 0xffffffff80000000, "lui x6; jalr x7" },
		{ &rv32, 0x80000337, 0x000303e7, true, 0x80000000, "on RV32" },
		{ &rv32, 0x00000337, 0xffc30067, true, 0xfffffffc, "target cut to XLEN" },
		{ &rv64, 0x00000337, 0xffc30067, true, 0xfffffffffffffffc, "or not" },
		{ &rv64, 0x6305, 0x8302, true, 0x1000, "c.lui x6; c.jr x6" },
		{ &rv64, 0x6305, 0x9302, true, 0x1000, "c.lui x6; c.jalr x6" },
		{ &rv64, 0x000012b7, 0x000280e7, true, 0x1000, "lui x5; co-routine swap" },
		{ &rv64, 0x000010b7, 0x000080e7, true, 0x1000, "lui x1; jalr x1, x1" },
		{ &rv64, 0x000010b7, 0x00008067, false, 0, "lui x1; ret: never for returns" },
		{ &rv64, 0x000012b7, 0x00028067, false, 0, "lui x5; jr x5: neither" },
		{ &rv64, 0x000013b7, 0x00030067, false, 0, "another register" },
		{ &rv64, 0x00130313, 0x00030067, false, 0, "addi x6, x6, 1; jr x6" },
		{ &rv64, 0x00001037, 0x00000067, false, 0, "lui x0 writes nothing" },
		{ &rv64, 0x00001337, 0x0000006f, false, 0, "a direct jump" },
		{ &rv64, 0x00001337, 0x00000013, false, 0, "no jump" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_insn before, jump;
		uint64_t target = 1;

		decode(cases[i].isa, cases[i].before, 4, &before);
		decode(cases[i].isa, cases[i].jump, 4, &jump);
		is_u64(ntrace_insn_sequential_target(&before, &jump, &target), cases[i].inferable,
		       "sequential jump: %s", cases[i].what);
		is_hex(target, cases[i].inferable ? cases[i].target : 1, "its target");
	}
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
		{ "rv32imac_zcmop", 0, 32, true },
		{ "rv64imac_zicond_zcasomething", 0, 64, true },
		{ "rv64ima_zcasomething", 0, 64, false },
		{ "rv64ima_ZCA1p0", 0, 64, true },
		{ "rv64i2_zcb1", 0, 64, true },
		{ "rv64imafdcv_zve32x_zvl128b_zic64b_svinval_sstc_smaia_ssaia_zba_zbb_zbc_zbs_zbkb"
		  "_zbkc_zbkx_zknd_zkne_zknh_zkr_zksed_zksh_zkt_zfhmin_zfa_zicbom_zicbop_zicboz"
		  "_zicntr_zihpm_zihintpause_zihintntl_zimop_zcmop_zcb_zawrs_zacas_zvfh_zvfhmin"
		  "_zvbb_zvbc_zvkb_zvkg_zvkned_zvknha_zvknhb_zvksed_zvksh_svade_svnapot_svpbmt",
		  0, 64, true },
		{ "rv64i_zca!", NTRACE_ERR_INVALID, 0, false },
		{ "rv64imafdc_zcmp", NTRACE_ERR_INVALID, 0, false },
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

/* Extensions that share encodings exclude each other; E and Zc as in struct ntrace_isa. */
static void test_extensions(void)
{
	static const struct {
		const char *text;
		bool push_pop, table_jumps, embedded;
		const char *reason;	/* a word of the reason; NULL = accepted */
	} cases[] = {
		{ "rv32imac_zcmp", true, false, false, NULL },
		{ "rv32imafc_zcmp_zcmt", true, true, false, NULL },
		{ "rv32ima_zce", true, true, false, NULL },
		{ "rv32imaf_zce", true, true, false, NULL },
		{ "rv64imafd_zcmp", true, false, false, NULL },
		{ "RV64IMAFD_Zca1p0_Zcmt1p0", false, true, false, NULL },
		{ "rv32e1p9m2p0a", false, false, true, NULL },
		{ "rv64eac_zcmt", false, true, true, NULL },
		{ "rv64gc", false, false, false, NULL },
		{ "rv64imafdc_zcd", false, false, false, NULL },
		{ "rv64imac_zcmpx", false, false, false, NULL },
		{ "rv64gc_zcmp", false, false, false, "zcmp" },
		{ "rv64imafdc_zcmt", false, false, false, "zcmt" },
		{ "rv64ima_zcd_zcmp1p0", false, false, false, "zcmp" },
		{ "rv64imac_zcmp_zve64d", false, false, false, "zcmp" },
		{ "rv64imacv_zcmt", false, false, false, "zcmt" },
		{ "rv32gc_zce", false, false, false, "zce" },
		{ "rv64imaf_zcf", false, false, false, "rv32" },
		{ "rv64xyz", false, false, false, "base" },
		{ "rv64i-c", false, false, false, "letters" },
		{ "mips", false, false, false, "rv32" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_isa isa = { 0 };
		const char *reason = "";
		int ret = ntrace_isa_parse_reason(&isa, cases[i].text, &reason);

		if (!cases[i].reason)
			ok(!ret && !reason && isa.push_pop == cases[i].push_pop &&
				   isa.table_jumps == cases[i].table_jumps &&
				   isa.embedded == cases[i].embedded,
			   "%s", cases[i].text);
		else
			ok(ret == NTRACE_ERR_INVALID && reason && !isa.xlen &&
				   strstr(reason, cases[i].reason),
			   "%s is refused: %s", cases[i].text, reason);
	}
}

static void test_privileges(void)
{
	static const struct {
		const char *text;
		uint32_t set;	/* 0: refused */
	} cases[] = {
		{ "u", 1 << NTRACE_PRIV_U },
		{ "s", 1 << NTRACE_PRIV_S },
		{ "k", 1 << NTRACE_PRIV_S },
		{ "m", 1 << NTRACE_PRIV_M },
		{ "vu", 1 << NTRACE_PRIV_VU },
		{ "vs", 1 << NTRACE_PRIV_VS },
		{ "VK", 1 << NTRACE_PRIV_VS },
		{ "us", 1 << NTRACE_PRIV_U | 1 << NTRACE_PRIV_S },
		{ "uu", 1 << NTRACE_PRIV_U },
		{ "U,S,M", 1 << NTRACE_PRIV_U | 1 << NTRACE_PRIV_S | 1 << NTRACE_PRIV_M },
		{ "uvuVs", 1 << NTRACE_PRIV_U | 1 << NTRACE_PRIV_VU | 1 << NTRACE_PRIV_VS },
		{ "", 0 },
		{ ",", 0 },
		{ "u,", 0 },
		{ ",u", 0 },
		{ "u,,s", 0 },
		{ "u s", 0 },
		{ "v", 0 },
		{ "uv", 0 },
		{ "vm", 0 },
		{ "vv", 0 },
		{ "d", 0 },
		{ "user", 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t set = 0x5a5a;
		int ret = ntrace_priv_parse(&set, cases[i].text);

		ok(ret == (cases[i].set ? 0 : NTRACE_ERR_INVALID) &&
			   set == (cases[i].set ? cases[i].set : 0x5a5a),
		   "privileges '%s': %d, 0x%x", cases[i].text, ret, set);
	}
	for (i = 0; i < 9; i++) {
		static const char *const names[] = { "U", "S", "?", "M", "D", "VU", "VS", "?", "?" };

		is_str(ntrace_priv_name((unsigned int)i), names[i], "name of privilege %zu", i);
	}
}

int main(void)
{
	test_classes();
	test_itypes();
	test_zcm();
	test_sequential();
	test_lengths();
	test_strings();
	test_extensions();
	test_privileges();
	return done_testing();
}
