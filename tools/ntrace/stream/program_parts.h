/* SPDX-License-Identifier: GPL-2.0-only */
/* What program.c and program_images.c share: files on their way into a space. */
#ifndef NTRACE_TOOL_STREAM_PROGRAM_PARTS_H
#define NTRACE_TOOL_STREAM_PROGRAM_PARTS_H

#include "program.h"

/**
 * struct extent - addresses that a file has bytes for
 * @name: of the file; owned
 * @order: of the files; where two overlap the later one counts
 */
struct extent {
	uint64_t start;
	uint64_t last;
	const char *name;
	size_t order;
};

/**
 * struct program_mapping - the space in the making
 * @names: of the files
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

/** program_map_elf - an ELF file, moved by @bias. Return: EXIT_OK, or EXIT_FAILED after a complaint */
int program_map_elf(struct program_mapping *mapping, const char *path, uint64_t bias);

/** program_map_raw - plain memory at @address. Return: as above */
int program_map_raw(struct program_mapping *mapping, const char *path, uint64_t address);

/** program_map_images - the files of a directory, each at the address that its name begins with */
int program_map_images(struct program_mapping *mapping, const char *directory);

#endif /* NTRACE_TOOL_STREAM_PROGRAM_PARTS_H */
