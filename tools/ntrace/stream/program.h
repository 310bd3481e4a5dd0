/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs that a raw trace is of: options --elf and --raw, and the space made of them. */
#ifndef NTRACE_TOOL_STREAM_PROGRAM_H
#define NTRACE_TOOL_STREAM_PROGRAM_H

#include <ntrace/image.h>
#include <ntrace/params.h>

#include "common/command.h"

/** enum program_kind - what an argument is: of --elf, of --raw, of --images */
enum program_kind {
	PROGRAM_ELF,	/* FILE[@ADDR] */
	PROGRAM_RAW,	/* FILE@ADDR */
	PROGRAM_IMAGES,	/* DIR: files that are named by their address */
};

/**
 * struct programs - what was typed, in order; of addresses in two of them the later one counts
 *
 * All 0 is an empty one.
 */
struct programs {
	struct program {
		const char *argument;
		enum program_kind kind;
	} * program;
	unsigned int count;
};

/** programs_add - one more. Return: EXIT_OK, or EXIT_FAILED after a complaint */
int programs_add(struct programs *programs, const char *argument, enum program_kind kind);

/**
 * struct program_facts - what the files say besides their code
 * @elf: there is an ELF file
 * @isa: of the first one
 * @raw: there is memory without a header
 */
struct program_facts {
	bool elf;
	struct ntrace_isa isa;
	bool raw;
};

/**
 * programs_map - read them all
 * @space: the new space, one reference
 * @facts: filled in
 *
 * Where files overlap, a warning says which of the first two counts, and how many more there are.
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after a complaint; then there is no space.
 */
int programs_map(const struct programs *programs, const struct command *command,
		 struct ntrace_space **space, struct program_facts *facts);

void programs_free(struct programs *programs);

#endif /* NTRACE_TOOL_STREAM_PROGRAM_H */
