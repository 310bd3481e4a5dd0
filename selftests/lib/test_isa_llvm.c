// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction classes, lengths and direct targets against LLVM's disassembler:
 * every 16-bit encoding and many 32-bit ones, half of them random and half with
 * the opcode of a control transfer. An encoding that LLVM does not know must
 * be plain or bad for us, never a control transfer.
 */

#include <stdlib.h>
#include <unistd.h>

#include <ntrace/isa.h>

#include "tap.h"

#define RANDOM_WORDS 200000
#define COUNT_MAX (65536 + RANDOM_WORDS)

/* What the disassembler says; known = false where it has no name for the bytes. */
struct expected {
	bool known;
	char text[256];
};

static uint32_t words[COUNT_MAX];
static struct expected expected[COUNT_MAX];
static size_t word_count;

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

static void choose_words(void)
{
	static const uint8_t opcodes[] = { 0x63, 0x67, 0x6f, 0x73, 0x17, 0x37 };
	static const uint32_t fixed[] = {
		0x00000073, 0x00100073, 0x00200073, 0x10200073, 0x30200073, 0x10500073, 0x0000100f,
	};

	word_count = 0;
	for (uint32_t half = 0; half < 65536; half++) {
		if (is_short(half))
			words[word_count++] = half;
	}
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		words[word_count++] = fixed[i];
	while (word_count < COUNT_MAX) {
		uint32_t word = random_word() | 3;

		if (word_count & 1)
			word = (word & ~0x7fu) | opcodes[random_word() % sizeof(opcodes)];
		if ((word & 0x1c) != 0x1c)
			words[word_count++] = word;
	}
}

/* One instruction per pair of brackets: the disassembler does not run on into the next one. */
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

/* "TEXT # encoding: [0x82,0x80]": lines come in the order of the input, unknown ones are left out. */
static size_t read_output(FILE *pipe)
{
	char line[256];
	size_t next = 0, known = 0;

	while (fgets(line, sizeof(line), pipe)) {
		char *encoding = strstr(line, "# encoding: [");
		unsigned int b[4] = { 0 };
		uint32_t word;

		if (!encoding)
			continue;
		sscanf(encoding, "# encoding: [%x,%x,%x,%x]", &b[0], &b[1], &b[2], &b[3]);
		word = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
		while (next < word_count && words[next] != word)
			next++;
		if (next == word_count)
			break;
		*encoding = '\0';
		expected[next].known = true;
		snprintf(expected[next].text, sizeof(expected[next].text), "%s", line);
		next++;
		known++;
	}
	return known;
}

static size_t disassemble(const char *xlen)
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
		 "llvm-mc --disassemble -triple=riscv%s -mattr=+c,+m,+a,+f,+d -M no-aliases "
		 "-M numeric -show-encoding %s 2>/dev/null",
		 xlen, path);
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

/* Class, and for direct ones the offset, from the disassembler's text. */
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

#define URET 0x00200073

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

	if (!words[i])
		return ret == NTRACE_ERR_BADINSN;
	if (ret || insn.size != (is_short(words[i]) ? 2 : 4))
		return false;
	/* URET left the specifications with the N extension, and newer LLVMs. */
	if (!expected[i].known)
		return insn.class ==
		       (words[i] == URET ? NTRACE_INSN_TRAP_RETURN : NTRACE_INSN_PLAIN);
	class = classify(expected[i].text, &offset);
	target = pc + (uint64_t)offset;
	if (isa->xlen == 32)
		target &= 0xffffffff;
	if (class < NTRACE_INSN_BRANCH || class > NTRACE_INSN_OTHER_JUMP)
		target = 0;
	return insn.class == class && insn.target == target &&
	       upper_agrees(expected[i].text, &insn, pc, isa->xlen == 32);
}

static void check(const char *xlen)
{
	struct ntrace_isa isa = { .xlen = xlen[0] == '3' ? 32 : 64, .compressed = true };
	size_t known = disassemble(xlen);
	size_t wrong = 0, seen[NTRACE_INSN_CLASS_COUNT] = { 0 };
	long long offset;

	ok(known > word_count / 4, "RV%s: LLVM knows %zu of %zu encodings", xlen, known,
	   word_count);
	for (size_t i = 0; i < word_count; i++) {
		if (expected[i].known)
			seen[classify(expected[i].text, &offset)]++;
		if (!agrees(i, &isa) && wrong++ < 10)
			printf("# 0x%08x: %s\n", words[i],
			       expected[i].known ? expected[i].text : "unknown to LLVM");
	}
	ok(wrong == 0, "RV%s: %zu of %zu differ", xlen, wrong, word_count);
	for (unsigned int i = 0; i < NTRACE_INSN_CLASS_COUNT; i++)
		ok(seen[i] > 0, "RV%s: class %s occurs %zu times", xlen, ntrace_insn_class_name(i),
		   seen[i]);
}

int main(void)
{
	if (system("llvm-mc --version >/dev/null 2>&1")) {
		skip("instruction classes against LLVM", "no llvm-mc: install the package llvm");
		return done_testing();
	}
	choose_words();
	check("64");
	check("32");
	return done_testing();
}
