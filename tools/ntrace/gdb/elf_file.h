/* SPDX-License-Identifier: GPL-2.0-only */
/* What a debugger has to know about an ELF file, and its bytes that a program cannot change. */
#ifndef NTRACE_TOOL_GDB_ELF_FILE_H
#define NTRACE_TOOL_GDB_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Link addresses from @start to before @end, at @offset of the file; @fresh: the program may write. */
struct elf_part {
	bool fresh;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
};

/**
 * struct elf_file - an ELF file
 * @program: a program, not a library: position-dependent or marked as PIE
 * @entry: link address of the entry point
 * @headers: link address of the program headers, 0 = not loaded
 * @header_size: bytes of one of them
 * @header_count: their number
 * @dynamic: link address of the dynamic section, 0 = none
 * @interpreter: path of the dynamic linker, "" = none
 * @float_size: bytes of a floating-point register in the ABI, 0 = none
 * @sections: number of sections that are loaded
 * @part: parts that have bytes
 */
struct elf_file {
	bool program;
	uint64_t entry;
	uint64_t headers;
	uint64_t header_size;
	uint64_t header_count;
	uint64_t dynamic;
	char interpreter[256];
	unsigned int float_size;
	unsigned int sections;
	struct elf_part *part;
	size_t parts;
	/* the rest is private */
	const uint8_t *bytes;
	uint64_t size;
};

/** elf_file_open - Return: NULL if it is not an ELF file that can be read */
struct elf_file *elf_file_open(const char *path);
void elf_file_close(struct elf_file *file);

/**
 * elf_file_read - bytes of the file that the running program has, too
 * @fresh: also bytes that the program may write; they are those of its start
 * @available: set to the number of bytes that follow
 *
 * Return: NULL if the program can write there and @fresh is false, or the file has nothing there.
 */
const uint8_t *elf_file_read(const struct elf_file *file, uint64_t address, bool fresh,
			     uint64_t *available);

#endif /* NTRACE_TOOL_GDB_ELF_FILE_H */
