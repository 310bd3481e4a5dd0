/* SPDX-License-Identifier: GPL-2.0-only */
/* Text of instructions, by the objdump of the machine. */
#ifndef NTRACE_TOOL_COMMON_DISASSEMBLY_H
#define NTRACE_TOOL_COMMON_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

struct disassembly_line {
	uint64_t address;
	char *text;
};

/** struct disassembly - @lines by address; @program: that made them, NULL if there is none */
struct disassembly {
	struct disassembly_line *lines;
	size_t count;
	const char *program;
};

/**
 * disassemble - ask objdump
 * @file: an ELF file
 * @start: link address
 * @end: behind the last instruction
 * @program: to run; NULL: riscv64-linux-gnu-objdump, llvm-objdump or objdump, whichever knows
 *           RISC-V
 *
 * What cannot be had is left out: @disassembly->count is 0 then.
 */
void disassemble(struct disassembly *disassembly, const char *file, uint64_t start, uint64_t end,
		 const char *program);
void disassembly_free(struct disassembly *disassembly);

/** disassembly_find - Return: text, NULL if there is none */
const char *disassembly_find(const struct disassembly *disassembly, uint64_t address);

#endif /* NTRACE_TOOL_COMMON_DISASSEMBLY_H */
