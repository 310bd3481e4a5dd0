/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Internal definitions shared by the files of lib/image. */
#ifndef NTRACE_IMAGE_OBJECT_H
#define NTRACE_IMAGE_OBJECT_H

#include <stdatomic.h>

#include <ntrace/image.h>

/* A part of the object's bytes with its link address. */
struct segment {
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	bool executable;
	bool writable;
};

/* Executable segments together; spans are sorted and have other bytes between them. */
struct code_span {
	uint64_t first;
	uint64_t last;
};

/* Precedence of symbols at the same address; the greatest wins. */
enum symbol_rank {
	SYMBOL_RANK_RANGE,	/* .eh_frame range or section: used only without any symbol */
	SYMBOL_RANK_LABEL,	/* NOTYPE */
	SYMBOL_RANK_LOCAL,
	SYMBOL_RANK_WEAK,
	SYMBOL_RANK_GLOBAL,
};

/**
 * struct symbol - a name of a range of addresses
 * @end: exclusive
 * @whole: start of the function that it is a piece of, see parts.c; else @start
 * @function: index of the symbol of that function, after all symbols are sorted
 * @limit: end of its section, UINT64_MAX = unknown
 * @file: number of the source file of a local symbol, 0 = unknown
 * @sized: the symbol has a size; else @end is the start of the next symbol, or the end of the section
 * @resolver: an IFUNC: its code chooses the function that has the name
 * @marked: its name says that it has no size
 */
struct symbol {
	uint64_t start;
	uint64_t end;
	uint64_t whole;
	uint64_t limit;
	size_t function;
	const char *name;
	enum symbol_rank rank;
	uint32_t file;
	bool sized;
	bool resolver;
	bool marked;
};

/* A range of addresses after overlaps are resolved; @symbol indexes the symbols. */
struct symbol_piece {
	uint64_t start;
	uint64_t end;
	size_t symbol;
};

struct text_chunk;

/*
 * Symbols are added in any order and sorted into pieces at the first lookup after a change. Threads
 * may look up concurrently, but not change the table. @file: that of the next local symbols. @sparse: only
 * exported functions are in it, so that what follows one without a size may be any other.
 *
 * @count: symbols that name code; once sorted, one for each start
 * @all: names; once sorted, the aliases follow the symbols, by start, the best first
 */
struct symbol_table {
	struct symbol *symbols;
	size_t count;
	size_t all;
	size_t room;
	struct symbol_piece *pieces;
	size_t piece_count;
	uint32_t file;
	bool sparse;
	atomic_bool sorted;
	atomic_size_t last;	/* piece of the last lookup; a hint */
	struct text_chunk *text;
};

int symbol_table_add(struct symbol_table *table, const char *name, uint64_t start, uint64_t size,
		     enum symbol_rank rank);
/* Copies @name before adding the symbol. */
int symbol_table_add_copy(struct symbol_table *table, const char *name, uint64_t start,
			  uint64_t size, enum symbol_rank rank);
const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t address);
/* Another name at the start of a found symbol; NULL: there are no more. */
const struct symbol *symbol_table_alias(struct symbol_table *table, uint64_t start, size_t index);
void symbol_table_free(struct symbol_table *table);

/* parts.c: finds the functions of pieces, among all names. Return: 0 or NTRACE_ERR_NOMEM. */
int symbol_parts_find(struct symbol *symbols, size_t count);
/* The same as indices of symbols, which are sorted by their starts, with one for each. */
void symbol_parts_link(struct symbol *symbols, size_t count);

struct range {
	uint64_t start;
	uint64_t last;
};

struct object_memory;

/* space.c: whether a segment has any of @size bytes from @offset of the file on. */
bool object_has_segment(const struct ntrace_object *object, uint64_t offset, uint64_t size);

struct ntrace_object {
	atomic_uint references;
	char *name;
	char *path;		/* file that the bytes are from; NULL if none */
	const uint8_t *bytes;	/* NULL if memory is set */
	size_t size;
	bool mapped;		/* bytes come from mmap(), not malloc() */
	struct object_memory *memory;	/* bytes that are read on demand */
	struct segment *segments;
	size_t segment_count;
	struct code_span *spans;	/* of an ELF file: where its executable segments are */
	size_t span_count;
	uint8_t build_id[NTRACE_BUILD_ID_MAX];
	size_t build_id_size;
	const uint8_t *whole_id;	/* in bytes: a longer build-id, by which its debug file is found */
	size_t whole_id_size;
	atomic_uint_least64_t
		code_hash; /* of the file that it stands for; else a cache, 0: not made */
	struct ntrace_isa isa;
	struct symbol_table symbols;
	struct symbol_table marks;	/* mapping symbols: "$d..." before data, "$x..." before code */
	uint64_t jump_table;	/* link address, valid with has_jump_table */
	bool has_jump_table;
	uint64_t entry;		/* link address, valid with has_entry */
	bool has_entry;
	bool code_at_zero;	/* of a file that is not relocatable: code is linked at 0 */
	const char *debug_link;	/* .gnu_debuglink: name, in bytes; NULL if there is none */
	uint32_t debug_link_crc;
	struct ntrace_object *debug;	/* separate debug file; symbols point into it */
	bool debug_linked;	/* @debug was found by @debug_link, not by the build-id */
	struct ntrace_object *mini;	/* unpacked .gnu_debugdata; symbols point into it */
	char **debug_directories;	/* where its debug file was searched; ends with NULL, NULL = nowhere */
	char *missing_debug;	/* why a part of the DWARF was not read; NULL if all was */
	bool unserved,
		unserved_shared; /* no debuginfod server has its debug file, or the shared one */
	struct range *uncertain; /* sorted, disjoint */
	size_t uncertain_count;
	size_t uncertain_room;
};

int object_new(struct ntrace_object **object, const char *name);
/* Keeps why a part of the DWARF is missing; the first reason; object.c. */
__attribute__((format(printf, 2, 3))) void object_note_debug(struct ntrace_object *object,
							     const char *format, ...);

/* Opens a file of the object again, for its DWARF. Return: a descriptor; -1: the reason is kept; object.c. */
int object_open_again(struct ntrace_object *object, const char *path);
/* Gives an object of a file the name that the file has elsewhere. Return: 0 or NTRACE_ERR_NOMEM */
int object_set_name(struct ntrace_object *object, const char *name);
/* Maps a regular file as the object's bytes, and keeps its path; object.c. */
int object_map_file(struct ntrace_object *object, const char *path);
void object_free_directories(struct ntrace_object *object);
/* A byte, at a link address, that a program cannot change. Return: false: there is none */
bool object_constant_byte(const struct ntrace_object *object, uint64_t address, uint8_t *byte);

bool object_is_uncertain(const struct ntrace_object *object, uint64_t address);
/* Whether a mapping symbol says that a link address has data. */
bool object_is_data(struct ntrace_object *object, uint64_t address);

/* Segments, build-id, ISA and symbols from object->bytes; elf.c. */
int object_read_elf(struct ntrace_object *object);

/*
 * Adds the symbols of a debug file with mapped bytes to @object; @debug gets the build-id.
 * @need_build_id: fail unless both build-ids are equal. elf.c.
 */
int object_read_debug_elf(struct ntrace_object *object, struct ntrace_object *debug,
			  bool need_build_id);

/* Adds the symbols in .gnu_debugdata. Return: 0, NTRACE_ERR_NOMEM, or why it cannot be read; minidebug.c. */
int object_read_minidebug(struct ntrace_object *object, const uint8_t *bytes, uint64_t size);

/* Segments, build-id, ISA and symbols of a relocatable file; module.c. */
int object_read_module(struct ntrace_object *object, const struct ntrace_section_address *sections,
		       size_t count);

/* Bytes at an offset of an object with memory, like ntrace_space_read(); memory.c. */
int object_memory_read(const struct ntrace_object *object, uint64_t offset, const uint8_t **data,
		       size_t *available);

/* Adds "sub_ADDRESS" for each range of an .eh_frame section; eh_frame.c. */
int object_add_eh_frame(struct ntrace_object *object, const uint8_t *bytes, size_t size,
			uint64_t address, unsigned int xlen);

/* space.c: ntrace_space_map(); @uncertain: the bytes may have changed in this space */
int space_map(struct ntrace_space *space, struct ntrace_object *object, uint64_t address,
	      uint64_t size, uint64_t file_offset, bool uncertain);

/* space.c: ntrace_space_locate(), if only the mark matters. */
bool space_is_uncertain(const struct ntrace_space *space, uint64_t address);

/* The object of mapping number @index of a space, without its parents; NULL: there are no more. */
struct ntrace_object *space_object(const struct ntrace_space *space, size_t index);

#endif
