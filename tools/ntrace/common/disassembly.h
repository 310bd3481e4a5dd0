/* SPDX-License-Identifier: GPL-2.0-only */
/* Text of instructions, from the objdump of this machine. */
#ifndef NTRACE_TOOL_COMMON_DISASSEMBLY_H
#define NTRACE_TOOL_COMMON_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

struct disassembly_line {
	uint64_t address;
	char *text;
};

/** struct disassembly - @lines sorted by address, printed by @program; NULL = no objdump found */
struct disassembly {
	struct disassembly_line *lines;
	size_t count;
	const char *program;
};

/**
 * disassembler_check - try the program of --objdump
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message: it cannot be run, or is not an objdump
 * for RISC-V.
 */
int disassembler_check(const char *program);

/**
 * disassemble - run objdump on a range of a file
 * @file: an ELF file; NULL = none: nothing is disassembled
 * @start: link address
 * @end: end of the last instruction
 * @program: objdump to run; NULL = the first of riscv64-linux-gnu-objdump, llvm-objdump and
 *           objdump that supports RISC-V
 *
 * On failure @disassembly->count is 0.
 */
void disassemble(struct disassembly *disassembly, const char *file, uint64_t start, uint64_t end,
		 const char *program);
void disassembly_free(struct disassembly *disassembly);

/** disassembly_find - Return: text of the instruction, or NULL */
const char *disassembly_find(const struct disassembly *disassembly, uint64_t address);

#endif /* NTRACE_TOOL_COMMON_DISASSEMBLY_H */
