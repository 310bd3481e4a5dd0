/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Parts of elf.c that other file types also use. */
#ifndef NTRACE_IMAGE_ELF_PARTS_H
#define NTRACE_IMAGE_ELF_PARTS_H

#include <gelf.h>

#include "object.h"

/* .plt, and .iplt, where lld has the entries of IFUNCs */
#define ELF_PLTS 2

/* Relevant sections; NULL if the file lacks one. */
struct elf_sections {
	Elf_Scn *symtab;
	Elf_Scn *dynsym;
	Elf_Scn *eh_frame;
	Elf_Scn *plt[ELF_PLTS];
	Elf_Scn *minidebug;
	Elf_Scn *attributes;
	bool code_at_zero;	/* a section with code has the address 0 */
};

/*
 * Opens the object's bytes as a RISC-V ELF file; fills in its header and XLEN; the caller ends
 * *elf.
 */
int elf_begin_object(struct ntrace_object *object, Elf **elf, GElf_Ehdr *header);

/* Finds the sections; stores build-id, debug link and PLTs in the object. */
int elf_find_sections(struct ntrace_object *object, Elf *elf, struct elf_sections *sections);

/* Adds the ISA in .riscv.attributes to that of the header. */
void elf_read_attributes(struct ntrace_object *object, Elf_Scn *section);

/* The part of [offset, offset + size) that lies within the file. */
uint64_t elf_clip(const struct ntrace_object *object, uint64_t offset, uint64_t size);

/*
 * A symbol table with its names, checked against the file's size. @names: string table, ends with
 * 0; NULL if either table is damaged.
 */
struct elf_symbols {
	Elf_Data *data;
	size_t count;
	const char *names;
	uint64_t names_size;
};

void elf_open_symbols(const struct ntrace_object *file, Elf *elf, Elf_Scn *section,
		      struct elf_symbols *symbols);

/* Reads one symbol. Return: its name, or NULL if it is damaged. */
const char *elf_symbol(const struct elf_symbols *symbols, size_t index, GElf_Sym *symbol);

/*
 * Adds a symbol that can name code. @address: link address; the caller has checked that it is in
 * executable bytes. @limit: end of its section, UINT64_MAX if unknown
 */
int elf_add_symbol(struct ntrace_object *object, const GElf_Sym *symbol, const char *name,
		   uint64_t address, uint64_t limit);

/* Bytes of a section that are in the file; @size: set to their number. */
const uint8_t *elf_section_bytes(const struct ntrace_object *object, const GElf_Shdr *header,
				 uint64_t *size);

/* The segment with bytes at a link address, NULL: none. */
const struct segment *elf_segment_at(const struct ntrace_object *object, uint64_t address);

/* Whether a link address is in executable bytes. */
bool elf_is_code(const struct ntrace_object *object, uint64_t address);

/*
 * Names of code that are not in the symbol table: entries of @plt (may have NULL) and the functions that
 * resolvers choose; linkage.c. All symbols must have been added.
 */
int elf_add_linkage_names(struct ntrace_object *object, Elf *elf, Elf_Scn *const plt[ELF_PLTS]);

/* After the name of an IFUNC. */
#define RESOLVER_SUFFIX " [resolver]"

#endif
