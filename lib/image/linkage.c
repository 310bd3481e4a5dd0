// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names of code that dynamic linking passes through, and that no symbol has:
 *
 *	strlen@plt	an entry of .plt or .iplt (RISC-V ELF psABI, "Procedure Linkage Table"): AUIPC and a load of the
 *			address of strlen, which a relocation names
 *	memcpy		a function that only the resolver of the IFUNC memcpy refers to: AUIPC and ADDI. Stripped
 *			files have a symbol for the resolver alone
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "elf_parts.h"
#include "grow.h"

/* Relocation numbers of the psABI, some of which older versions of <elf.h> lack. */
#define RELOCATE_JUMP_SLOT 5
#define RELOCATE_IRELATIVE 58

/* Opcode and funct3 of the instruction after AUIPC. */
#define LOAD_WORD 0x2003
#define LOAD_DOUBLEWORD 0x3003
#define ADD_IMMEDIATE 0x13

#define PLT_ENTRY_SIZE 16
/* A resolver that is longer does other things. */
#define RESOLVER_MAX 4096

/* A word that holds the address of a function. @symbol: 0 for IRELATIVE, whose resolver is at @resolver */
struct slot {
	uint64_t address;
	uint64_t resolver;
	size_t symbol;
	Elf_Scn *symbols;
};

struct slots {
	struct slot *items;
	size_t count;
	size_t room;
};

static uint32_t load32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static uint64_t wrap(const struct ntrace_object *object, uint64_t address)
{
	return object->isa.xlen == 32 ? (uint32_t)address : address;
}

/*
 * The address that AUIPC and the next instruction make, if both use one register: @opcode has opcode and
 * funct3 of the second one. false: other instructions
 */
static bool pair_address(const struct ntrace_object *object, const uint8_t *bytes, uint64_t pc,
			 uint32_t opcode, uint64_t *address)
{
	uint32_t high = load32(bytes), low = load32(bytes + 4), to = high >> 7 & 31;

	if ((high & 0x7f) != 0x17 || !to || (low & 0x707f) != opcode || (low >> 15 & 31) != to)
		return false;
	*address = wrap(object, pc + (uint64_t)(int64_t)(int32_t)(high & 0xfffff000) +
					(uint64_t)(int64_t)((int32_t)low >> 20));
	return true;
}

static int add_slots(struct slots *slots, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count;
	int error = 0;

	if (!data || !data->d_buf)
		return 0;
	count = data->d_size / gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
	for (size_t i = 0; i < count && !error; i++) {
		GElf_Rela entry;
		uint64_t type;

		if (!gelf_getrela(data, (int)i, &entry))
			continue;
		type = GELF_R_TYPE(entry.r_info);
		if (type != RELOCATE_JUMP_SLOT && type != RELOCATE_IRELATIVE)
			continue;
		error = grow((void **)&slots->items, slots->count, &slots->room,
			     sizeof(*slots->items));
		if (error)
			return error;
		slots->items[slots->count++] = (struct slot){
			.address = entry.r_offset,
			.resolver = (uint64_t)entry.r_addend,
			.symbol = type == RELOCATE_JUMP_SLOT ? GELF_R_SYM(entry.r_info) : 0,
			.symbols = elf_getscn(elf, header->sh_link),
		};
	}
	return error;
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int find_slots(struct slots *slots, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int error = 0;

	while (!error && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    (header.sh_flags & SHF_ALLOC))
			error = add_slots(slots, elf, section, &header);
	if (slots->count)
		qsort(slots->items, slots->count, sizeof(*slots->items), compare_slots);
	return error;
}

/* The symbols of IFUNCs. */
struct resolvers {
	struct symbol *items;
	size_t count;
	size_t room;
};

static int compare_resolvers(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int find_resolvers(struct resolvers *resolvers, const struct symbol_table *table)
{
	int error = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (!table->symbols[i].resolver)
			continue;
		error = grow((void **)&resolvers->items, resolvers->count, &resolvers->room,
			     sizeof(*resolvers->items));
		if (error)
			return error;
		resolvers->items[resolvers->count++] = table->symbols[i];
	}
	if (resolvers->count)
		qsort(resolvers->items, resolvers->count, sizeof(*resolvers->items),
		      compare_resolvers);
	return error;
}

static const char *resolver_name(const struct resolvers *resolvers, uint64_t start)
{
	size_t low = 0;

	BISECT(low, resolvers->count, middle, resolvers->items[middle].start < start);
	return low < resolvers->count && resolvers->items[low].start == start ?
		       resolvers->items[low].name :
		       NULL;
}

/* Length of the name of the function in the symbol of its resolver. */
static int function_length(const char *symbol)
{
	const char *suffix = strstr(symbol, RESOLVER_SUFFIX);

	return (int)(suffix ? (size_t)(suffix - symbol) : strlen(symbol));
}

/* Return: the name of the entry, to be freed; NULL when out of memory. */
static char *entry_name(const struct ntrace_object *object, Elf *elf, const struct slot *slot,
			const struct resolvers *resolvers)
{
	struct elf_symbols symbols;
	const char *name = NULL;
	GElf_Sym symbol;
	char *text;
	int made;

	if (!slot->symbol) {
		name = resolver_name(resolvers, slot->resolver);
	} else if (slot->symbols) {
		elf_open_symbols(object, elf, slot->symbols, &symbols);
		name = elf_symbol(&symbols, slot->symbol, &symbol);
	}
	/* As objdump and perf name what has no symbol. */
	if (name && *name)
		made = asprintf(&text, "%.*s@plt", function_length(name), name);
	else
		made = asprintf(&text, "*ABS*+0x%" PRIx64 "@plt", slot->resolver);
	return made < 0 ? NULL : text;
}

static int add_entries(struct ntrace_object *object, Elf *elf, Elf_Scn *plt,
		       const struct slots *slots, const struct resolvers *resolvers)
{
	uint32_t load = object->isa.xlen == 32 ? LOAD_WORD : LOAD_DOUBLEWORD;
	const uint8_t *bytes;
	GElf_Shdr header;
	uint64_t size;
	int error = 0;

	if (!slots->count || !gelf_getshdr(plt, &header))
		return 0;
	bytes = elf_section_bytes(object, &header, &size);
	for (uint64_t at = 0; size >= 8 && at <= size - 8 && !error; at += 4) {
		struct slot wanted = { 0 }, *slot;
		char *name;

		if (!pair_address(object, bytes + at, header.sh_addr + at, load, &wanted.address))
			continue;
		slot = bsearch(&wanted, slots->items, slots->count, sizeof(wanted), compare_slots);
		if (!slot)
			continue;
		name = entry_name(object, elf, slot, resolvers);
		if (!name)
			return NTRACE_ERR_NOMEM;
		/* A landing pad may precede the AUIPC. */
		error = symbol_table_add_copy(&object->symbols, name,
					      header.sh_addr + at / PLT_ENTRY_SIZE * PLT_ENTRY_SIZE,
					      PLT_ENTRY_SIZE, SYMBOL_RANK_LOCAL);
		free(name);
	}
	return error;
}

/* Names the functions that a resolver refers to, if they have no other name. */
static int add_targets(struct ntrace_object *object, const struct symbol *resolver)
{
	const struct segment *segment = elf_segment_at(object, resolver->start);
	uint64_t size = resolver->end - resolver->start, start = resolver->start, address;
	const uint8_t *bytes;
	char *name;
	int error = 0;

	if (!segment || size < 8 || size > RESOLVER_MAX ||
	    size > segment->size - (start - segment->address))
		return 0;
	bytes = object->bytes + segment->offset + (start - segment->address);
	name = strndup(resolver->name, (size_t)function_length(resolver->name));
	if (!name)
		return NTRACE_ERR_NOMEM;
	for (uint64_t at = 0; at <= size - 8 && !error; at += 2) {
		if (pair_address(object, bytes + at, start + at, ADD_IMMEDIATE, &address) &&
		    address - start >= size && elf_is_code(object, address))
			error = symbol_table_add_copy(&object->symbols, name, address, 0,
						      SYMBOL_RANK_LABEL);
	}
	free(name);
	return error;
}

int elf_add_linkage_names(struct ntrace_object *object, Elf *elf, Elf_Scn *const plt[ELF_PLTS])
{
	struct resolvers resolvers = { 0 };
	struct slots slots = { 0 };
	int error = find_resolvers(&resolvers, &object->symbols);

	if (!error && (plt[0] || plt[1]))
		error = find_slots(&slots, elf);
	for (size_t i = 0; i < ELF_PLTS && !error; i++)
		if (plt[i])
			error = add_entries(object, elf, plt[i], &slots, &resolvers);
	for (size_t i = 0; i < resolvers.count && !error; i++)
		error = add_targets(object, &resolvers.items[i]);
	free(slots.items);
	free(resolvers.items);
	return error;
}
