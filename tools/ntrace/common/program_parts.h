/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by program.c and program_images.c: mapping files into a space. */
#ifndef NTRACE_TOOL_COMMON_PROGRAM_PARTS_H
#define NTRACE_TOOL_COMMON_PROGRAM_PARTS_H

#include "program.h"

/**
 * struct extent - address range of a file
 * @name: name of the file; owned
 * @order: order of the files; where two overlap the later one is used
 */
struct extent {
	uint64_t start;
	uint64_t last;
	const char *name;
	size_t order;
};

/**
 * struct program_mapping - the space being built
 * @names: names of the files
 */
struct program_mapping {
	const struct command *command;
	struct ntrace_space *space;
	struct program_facts *facts;
	struct extent *extents;
	size_t extent_count;
	size_t extent_room;
	char **names;
	size_t name_count;
	size_t name_room;
};

/** program_map_elf - map an ELF file, moved by @bias. Return: EXIT_OK, or EXIT_FAILED after an error message */
int program_map_elf(struct program_mapping *mapping, const char *path, uint64_t bias);

/** program_map_raw - map a memory image at @address. Return: as above */
int program_map_raw(struct program_mapping *mapping, const char *path, uint64_t address);

/** program_map_images - map the files of a directory, each at the address in its name */
int program_map_images(struct program_mapping *mapping, const char *directory);

#endif /* NTRACE_TOOL_COMMON_PROGRAM_PARTS_H */
