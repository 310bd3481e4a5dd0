// SPDX-License-Identifier: GPL-2.0-only
// runner: seconds=15
/*
 * Compares instruction classes, lengths and direct targets with LLVM's disassembler: every 16-bit
 * encoding, with Zcmp and Zcmt and with Zcd, and WORDS 32-bit ones for each XLEN: random, with
 * the opcode of a control transfer, and with one or two bits changed. An encoding that LLVM does
 * not know must be plain or bad, never a control transfer.
 */

#include <stdlib.h>
#include <unistd.h>

#include <ntrace/isa.h>

#include "tap.h"

#define WORDS 250000
#define WORDS_MAX 1000000
#define COUNT_MAX (65536 + WORDS_MAX)
/* Words for sets in which not every class need occur. */
#define FEW_WORDS 1000

/* An instruction set for the library and for LLVM, and the share of 32-bit words to try. */
struct set {
	const char *isa;
	const char *triple;
	const char *features;
	/* of 1,000; 0: FEW_WORDS */
	size_t share;
};

static const struct set plain_sets[] = {
	{ "rv64gc", "riscv64", "+m,+a,+f,+d,+c", 1000 },
	{ "rv32gc", "riscv32", "+m,+a,+f,+d,+c", 1000 },
	{ "rv64ima", "riscv64", "+m,+a", 0 },
};

/* Extensions added to later versions of LLVM. */
static const struct set newer_sets[] = {
	{ "rv64ima_zca_zcmp_zcmt", "riscv64", "+m,+a,+zca,+zcmp,+zcmt", 100 },
	{ "rv32ima_zca_zcmp_zcmt", "riscv32", "+m,+a,+zca,+zcmp,+zcmt", 100 },
	{ "rv32imafc_zcmp", "riscv32", "+m,+a,+f,+zca,+zcf,+zcmp", 0 },
	{ "rv64imafdc_zca", "riscv64", "+m,+a,+f,+d,+zca,+zcd", 0 },
	{ "rv64ima_zcmt", "riscv64", "+m,+a,+zca,+zcmt", 0 },
	{ "rv64emac", "riscv64", "+e,+m,+a,+c", 100 },
	{ "rv32ema_zcmp_zcmt", "riscv32", "+e,+m,+a,+zca,+zcmp,+zcmt", 100 },
};

/* Output of the disassembler; known = false if it does not know the bytes. */
struct expected {
	bool known;
	char text[63];
};

/* The newest version that this machine may have. */
static const char *tool;
static uint32_t words[COUNT_MAX];
static struct expected expected[COUNT_MAX];
static size_t word_count;
/* WORDS in the environment; up to WORDS_MAX. */
static size_t words_wanted = WORDS;

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint32_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16);
}

static bool is_short(uint32_t word)
{
	return (word & 3) != 3;
}

/* A control transfer with one or two flipped bits. */
static uint32_t near_miss(void)
{
	static const uint32_t words_near[] = {
		0x00000073, 0x00100073, 0x00200073, 0x10200073, 0x30200073, 0x70200073, 0x7b200073,
		0x00008067, 0x00028067, 0x000280e7, 0x000080e7, 0x000302e7, 0x000303e7, 0x00030067,
		0x000000ef, 0x000002ef, 0x000003ef, 0x0000006f, 0x00208463, 0xfe209ee3, 0x00000517,
	};
	uint32_t word = words_near[random_word() % (sizeof(words_near) / sizeof(words_near[0]))];

	word ^= 1u << random_word() % 32;
	return random_word() & 1 ? word : word ^ 1u << random_word() % 32;
}

static void choose_words(size_t random_words)
{
	static const uint8_t opcodes[] = { 0x63, 0x67, 0x6f, 0x73, 0x17, 0x37 };
	static const uint32_t fixed[] = {
		0x00000073, 0x00100073, 0x00200073, 0x10200073, 0x30200073,
		0x10500073, 0x0000100f, 0x70200073, 0x7b200073,
	};

	word_count = 0;
	for (uint32_t half = 0; half < 65536; half++) {
		if (is_short(half))
			words[word_count++] = half;
	}
	random_words += word_count;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		words[word_count++] = fixed[i];
	while (word_count < random_words) {
		uint32_t word = random_word();

		if (word_count % 3 == 1)
			word = (word & ~0x7fu) | opcodes[random_word() % sizeof(opcodes)];
		else if (word_count % 3 == 2)
			word = near_miss();
		word |= 3;
		if ((word & 0x1c) != 0x1c)
			words[word_count++] = word;
	}
}

/* One instruction per pair of brackets, so that the disassembler stops after each. */
static bool write_input(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	for (size_t i = 0; i < word_count; i++) {
		uint32_t w = words[i];

		if (is_short(w))
			fprintf(file, "[0x%02x,0x%02x]\n", w & 0xff, w >> 8);
		else
			fprintf(file, "[0x%02x,0x%02x,0x%02x,0x%02x]\n", w & 0xff, w >> 8 & 0xff,
				w >> 16 & 0xff, w >> 24);
	}
	return !fclose(file);
}

/*
 * "TEXT # encoding: [0x82,0x80]": lines are in the order of the input, without unknown
 * instructions.
 */
static size_t read_output(FILE *pipe)
{
	char line[256];
	size_t next = 0, known = 0, at;

	while (fgets(line, sizeof(line), pipe)) {
		char *encoding = strstr(line, "# encoding: [");
		unsigned int b[4] = { 0 };
		uint32_t word;

		if (!encoding)
			continue;
		sscanf(encoding, "# encoding: [%x,%x,%x,%x]", &b[0], &b[1], &b[2], &b[3]);
		word = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
		/* LLVM misprints a few hints under E, with another encoding. */
		for (at = next; at < word_count && words[at] != word; at++)
			;
		if (at == word_count)
			continue;
		next = at;
		*encoding = '\0';
		expected[next].known = true;
		snprintf(expected[next].text, sizeof(expected[next].text), "%.62s", line);
		next++;
		known++;
	}
	return known;
}

static size_t disassemble(const struct set *set)
{
	char path[] = "/tmp/ntrace-isa-XXXXXX";
	char command[256];
	size_t known = 0;
	FILE *pipe;
	int fd = mkstemp(path);

	if (fd < 0)
		return 0;
	close(fd);
	memset(expected, 0, sizeof(expected));
	snprintf(command, sizeof(command),
		 "%s --disassemble -triple=%s -mattr=%s -M no-aliases -M numeric -show-encoding "
		 "%s 2>/dev/null",
		 tool, set->triple, set->features, path);
	if (write_input(path)) {
		pipe = popen(command, "r");
		if (pipe) {
			known = read_output(pipe);
			pclose(pipe);
		}
	}
	unlink(path);
	return known;
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool is_link(unsigned int reg)
{
	return reg == 1 || reg == 5;
}

/* The classification table, from registers. */
static int class_of_jalr(unsigned int rd, unsigned int rs1)
{
	if (is_link(rd) && is_link(rs1))
		return rd == rs1 ? NTRACE_INSN_INDIRECT_CALL : NTRACE_INSN_COROUTINE_SWAP;
	if (is_link(rd))
		return NTRACE_INSN_INDIRECT_CALL;
	if (is_link(rs1))
		return NTRACE_INSN_RETURN;
	return rd == 0 ? NTRACE_INSN_INDIRECT_JUMP : NTRACE_INSN_OTHER_INDIRECT_JUMP;
}

/* Class, and offset of direct transfers, from the disassembler's text. */
static int classify(const char *text, long long *offset)
{
	char name[32] = "";
	unsigned int rd, rs1;
	int at = 0;

	*offset = 0;
	sscanf(text, " %31s %n", name, &at);
	text += at;
	if (!strcmp(name, "jal")) {
		sscanf(text, "x%u, %lld", &rd, offset);
		if (is_link(rd))
			return NTRACE_INSN_CALL;
		return rd ? NTRACE_INSN_OTHER_JUMP : NTRACE_INSN_JUMP;
	}
	if (!strcmp(name, "c.j") || !strcmp(name, "c.jal")) {
		sscanf(text, "%lld", offset);
		return name[3] ? NTRACE_INSN_CALL : NTRACE_INSN_JUMP;
	}
	if (!strcmp(name, "c.beqz") || !strcmp(name, "c.bnez")) {
		sscanf(text, "x%*u, %lld", offset);
		return NTRACE_INSN_BRANCH;
	}
	if (!strcmp(name, "beq") || !strcmp(name, "bne") || !strcmp(name, "blt") ||
	    !strcmp(name, "bge") || !strcmp(name, "bltu") || !strcmp(name, "bgeu")) {
		sscanf(text, "x%*u, x%*u, %lld", offset);
		return NTRACE_INSN_BRANCH;
	}
	if (!strcmp(name, "jalr")) {
		sscanf(text, "x%u, %*d(x%u)", &rd, &rs1);
		return class_of_jalr(rd, rs1);
	}
	if (!strcmp(name, "c.jr") || !strcmp(name, "c.jalr")) {
		sscanf(text, "x%u", &rs1);
		return class_of_jalr(name[3] == 'a', rs1);
	}
	if (!strcmp(name, "cm.jt"))
		return NTRACE_INSN_JUMP;
	if (!strcmp(name, "cm.jalt"))
		return NTRACE_INSN_CALL;
	if (!strcmp(name, "cm.popret") || !strcmp(name, "cm.popretz"))
		return NTRACE_INSN_RETURN;
	if (!strcmp(name, "mret") || !strcmp(name, "sret") || !strcmp(name, "uret"))
		return NTRACE_INSN_TRAP_RETURN;
	if (!strcmp(name, "ecall") || !strcmp(name, "ebreak") || !strcmp(name, "c.ebreak"))
		return NTRACE_INSN_TRAP;
	return NTRACE_INSN_PLAIN;
}

/* LUI, C.LUI and AUIPC name their register; the value follows from the 20-bit immediate. */
static bool upper_agrees(const char *text, const struct ntrace_insn *insn, uint64_t pc, bool rv32)
{
	unsigned int rd, upper;
	uint64_t value;
	char name[32] = "";

	if (sscanf(text, " %31s x%u, %u", name, &rd, &upper) != 3 ||
	    (strcmp(name, "lui") && strcmp(name, "c.lui") && strcmp(name, "auipc")))
		return insn->upper_rd == 0;
	/* C.LUI with immediate 0 is reserved (or a C.MOP), though LLVM prints it. */
	if (!upper && starts_with(name, "c."))
		return insn->upper_rd == 0;
	value = (uint64_t)(int64_t)(int32_t)(upper << 12);
	if (starts_with(name, "auipc"))
		value += pc;
	if (rv32)
		value &= 0xffffffff;
	/* Hints with rd 0 write nothing. */
	return insn->upper_rd == rd && (!rd || insn->value == value);
}

/* CM.JT and CM.JALT print the entry of their target. */
static bool table_agrees(const char *text, const struct ntrace_insn *insn)
{
	char name[32] = "";
	unsigned int index;

	if (sscanf(text, " %31s %u", name, &index) != 2 || !starts_with(name, "cm.j"))
		return !insn->table_jump && !insn->table_index;
	return insn->table_jump && insn->table_index == index && !insn->target;
}

#define URET 0x00200073
#define MNRET 0x70200073

/* Removed from the specifications with the N extension, or newer than LLVM. */
static bool is_unknown_return(uint32_t word)
{
	return word == URET || word == MNRET;
}

/* Zcmp reserves lists above {ra, s0-s1} under E; LLVM accepts them. */
static bool is_reserved_list(const char *text, const struct ntrace_isa *isa)
{
	return isa->embedded && starts_with(text, "\tcm.p") && strstr(text, "x18");
}

static bool agrees(size_t i, const struct ntrace_isa *isa)
{
	const uint64_t pc = isa->xlen == 32 ? 0x80000000 : 0xffffffff80000000;
	uint8_t bytes[4] = { (uint8_t)words[i], (uint8_t)(words[i] >> 8), (uint8_t)(words[i] >> 16),
			     (uint8_t)(words[i] >> 24) };
	struct ntrace_insn insn;
	long long offset;
	uint64_t target;
	int class;
	int ret = ntrace_insn_decode(isa, bytes, is_short(words[i]) ? 2 : 4, pc, &insn);

	if (!words[i] || (is_short(words[i]) && !isa->compressed))
		return ret == NTRACE_ERR_BADINSN;
	if (ret || insn.size != (is_short(words[i]) ? 2 : 4))
		return false;
	if (!expected[i].known || is_reserved_list(expected[i].text, isa))
		return insn.insn_class ==
		       (is_unknown_return(words[i]) ? NTRACE_INSN_TRAP_RETURN : NTRACE_INSN_PLAIN);
	class = classify(expected[i].text, &offset);
	target = pc + (uint64_t)offset;
	if (isa->xlen == 32)
		target &= 0xffffffff;
	if (class < NTRACE_INSN_BRANCH || class > NTRACE_INSN_OTHER_JUMP ||
	    starts_with(expected[i].text, "\tcm."))
		target = 0;
	return insn.insn_class == class && insn.target == target &&
	       table_agrees(expected[i].text, &insn) &&
	       upper_agrees(expected[i].text, &insn, pc, isa->xlen == 32);
}

static void check(const struct set *set)
{
	size_t known, wrong = 0, seen[NTRACE_INSN_CLASS_COUNT] = { 0 };
	struct ntrace_isa isa;
	long long offset;

	choose_words(set->share ? words_wanted * set->share / 1000 : FEW_WORDS);
	known = disassemble(set);
	is_u64(ntrace_isa_parse(&isa, set->isa), 0, "%s", set->isa);
	ok(known > (isa.compressed ? word_count / 4 : 100), "%s: LLVM knows %zu of %zu encodings",
	   set->isa, known, word_count);
	for (size_t i = 0; i < word_count; i++) {
		if (expected[i].known)
			seen[classify(expected[i].text, &offset)]++;
		if (!agrees(i, &isa) && wrong++ < 10)
			diag("0x%08x: %s", words[i],
			     expected[i].known ? expected[i].text : "unknown to LLVM");
	}
	ok(wrong == 0, "%s: %zu of %zu differ", set->isa, wrong, word_count);
	for (unsigned int i = 0; i < NTRACE_INSN_CLASS_COUNT && set->share; i++)
		ok(seen[i] > 0, "%s: class %s occurs %zu times", set->isa,
		   ntrace_insn_class_name(i), seen[i]);
}

static void find_tool(void)
{
	static const char *const names[] = { "llvm-mc-19", "llvm-mc" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !tool; i++) {
		char command[64];

		snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", names[i]);
		if (!system(command))
			tool = names[i];
	}
}

static bool knows_zcmp(void)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "echo '[0x42,0xbe]' | %s --disassemble -triple=riscv64 -mattr=+zcmp 2>/dev/null | "
		 "grep -q cm.popret",
		 tool);
	return !system(command);
}

int main(void)
{
	const char *wanted = getenv("WORDS");

	if (wanted) {
		words_wanted = strtoul(wanted, NULL, 0);
		if (!words_wanted || words_wanted > WORDS_MAX) {
			diag("WORDS: not a number from 1 to %u", WORDS_MAX);
			return 2;
		}
	}
	find_tool();
	if (!tool) {
		skip("instruction classes against LLVM", "no llvm-mc: install the package llvm-19");
		return done_testing();
	}
	for (size_t i = 0; i < sizeof(plain_sets) / sizeof(plain_sets[0]); i++)
		check(&plain_sets[i]);
	if (!knows_zcmp())
		skip("Zcmp, Zcmt and E against LLVM",
		     "llvm-mc is too old for them: install the package llvm-19");
	else
		for (size_t i = 0; i < sizeof(newer_sets) / sizeof(newer_sets[0]); i++)
			check(&newer_sets[i]);
	return done_testing();
}
