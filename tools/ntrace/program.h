/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs that a raw trace is of: options --elf and --raw, and the space made of them. */
#ifndef NTRACE_TOOL_PROGRAM_H
#define NTRACE_TOOL_PROGRAM_H

#include <ntrace/image.h>
#include <ntrace/params.h>

#include "command.h"

#define PROGRAMS_MAX 64

/** struct programs - what was typed, in order; of addresses in two of them the later one counts */
struct programs {
	const char *argument[PROGRAMS_MAX];
	bool raw[PROGRAMS_MAX];
	unsigned int count;
};

/** programs_add - "FILE[@ADDR]" of --elf, "FILE@ADDR" of --raw. Return: EXIT_OK or EXIT_USAGE */
int programs_add(struct programs *programs, const struct command *command, const char *argument,
		 bool raw);

/**
 * programs_map - read them all
 * @space: the new space, one reference
 * @params: xlen becomes that of the ELF files, unless @xlen_given
 *
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after a complaint; then there is no space.
 */
int programs_map(const struct programs *programs, const struct command *command,
		 struct ntrace_space **space, struct ntrace_params *params, bool xlen_given);

/**
 * program_map_elf - read one of them
 * @argument: "FILE[@ADDR]" of --elf
 * @isa: what the file says of itself
 *
 * Return: EXIT_OK, or EXIT_FAILED or EXIT_USAGE after a complaint.
 */
int program_map_elf(const struct command *command, struct ntrace_space *space, const char *argument,
		    struct ntrace_isa *isa);

#endif /* NTRACE_TOOL_PROGRAM_H */
