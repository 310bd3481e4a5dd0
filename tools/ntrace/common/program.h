/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs of a raw trace: options --elf, --raw and --images, and their address space. */
#ifndef NTRACE_TOOL_COMMON_PROGRAM_H
#define NTRACE_TOOL_COMMON_PROGRAM_H

#include <ntrace/image.h>
#include <ntrace/params.h>

#include "command.h"

/** enum program_kind - the option: --elf, --raw or --images */
enum program_kind {
	PROGRAM_ELF,	/* FILE[@ADDR] */
	PROGRAM_RAW,	/* FILE@ADDR */
	PROGRAM_IMAGES,	/* DIR with files named by their address */
};

struct program {
	const char *argument;
	enum program_kind kind;
};

/**
 * struct programs - arguments in order; where programs overlap, the later one is used
 *
 * Initially all zeros.
 */
struct programs {
	struct program *program;
	unsigned int count;
};

/** programs_add - add an argument. Return: EXIT_OK, or EXIT_FAILED after an error message */
int programs_add(struct programs *programs, const char *argument, enum program_kind kind);

/**
 * struct program_facts - properties of the files
 * @elf: there is an ELF file
 * @isa: ISA of the first ELF file
 * @raw: there is a memory image without header
 */
struct program_facts {
	bool elf;
	struct ntrace_isa isa;
	bool raw;
};

/**
 * programs_map - read all programs
 * @space: set to a new space, one reference
 * @facts: filled in
 *
 * Where files overlap, a warning names the first two and counts the others.
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after an error message; then there is no space.
 */
int programs_map(const struct programs *programs, const struct command *command,
		 struct ntrace_space **space, struct program_facts *facts);

void programs_free(struct programs *programs);

#endif /* NTRACE_TOOL_COMMON_PROGRAM_H */
