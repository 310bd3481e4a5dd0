// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Relocatable files: kernel modules, laid out at the addresses of their loaded sections. Control
 * transfers between those sections get their targets (RISC-V ELF psABI, "Relocations"); only the
 * kernel knew the other targets.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf_parts.h"

/* Relocation numbers of the psABI, some of which older versions of <elf.h> lack. */
#define RELOCATE_BRANCH 16
#define RELOCATE_JAL 17
#define RELOCATE_CALL 18
#define RELOCATE_CALL_PLT 19
#define RELOCATE_RVC_BRANCH 44
#define RELOCATE_RVC_JUMP 45

/* A section of the file; only @placed ones have an address. */
struct section {
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	bool placed;
	bool executable;
};

struct module {
	struct ntrace_object *object;
	Elf *elf;
	struct section *sections;
	size_t count;
	struct elf_symbols symbols;
};

static uint16_t load16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t load32(const uint8_t *bytes)
{
	return load16(bytes) | (uint32_t)load16(bytes + 2) << 16;
}

static void store16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)value;
	bytes[1] = (uint8_t)(value >> 8);
}

static void store32(uint8_t *bytes, uint32_t value)
{
	store16(bytes, value);
	store16(bytes + 2, value >> 16);
}

/* Moves bits @high..@low of @value to bit @to. */
static uint32_t field(uint64_t value, unsigned int high, unsigned int low, unsigned int to)
{
	return (uint32_t)(value >> low & ((1u << (high - low + 1)) - 1)) << to;
}

static bool fits(uint64_t offset, unsigned int bits)
{
	return offset + (UINT64_C(1) << (bits - 1)) < UINT64_C(1) << bits;
}

static const struct ntrace_section_address *
find_address(const struct ntrace_section_address *sections, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!strcmp(sections[i].name, name))
			return &sections[i];
	}
	return NULL;
}

static int place_sections(struct module *module, const struct ntrace_section_address *addresses,
			  size_t address_count)
{
	struct ntrace_object *object = module->object;
	size_t names, i;

	/* Each header takes at least 40 bytes of the file, so their number is bounded. */
	if (elf_getshdrnum(module->elf, &module->count) || module->count > object->size / 40 ||
	    elf_getshdrstrndx(module->elf, &names))
		return NTRACE_ERR_FORMAT;
	module->sections = calloc(module->count + 1, sizeof(*module->sections));
	object->segments = calloc(module->count + 1, sizeof(*object->segments));
	if (!module->sections || !object->segments)
		return NTRACE_ERR_NOMEM;
	for (i = 1; i < module->count; i++) {
		struct section *section = &module->sections[i];
		const struct ntrace_section_address *address;
		const char *name;
		GElf_Shdr header;

		if (!gelf_getshdr(elf_getscn(module->elf, i), &header) ||
		    header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_ALLOC))
			continue;
		name = elf_strptr(module->elf, names, header.sh_name);
		address = name ? find_address(addresses, address_count, name) : NULL;
		section->size = elf_clip(object, header.sh_offset, header.sh_size);
		if (!address || !section->size)
			continue;
		if (address->address + (section->size - 1) < address->address)
			return NTRACE_ERR_INVALID;
		section->address = address->address;
		section->offset = header.sh_offset;
		section->executable = header.sh_flags & SHF_EXECINSTR;
		section->placed = true;
		object->segments[object->segment_count++] = (struct segment){
			.address = section->address,
			.offset = section->offset,
			.size = section->size,
			.executable = section->executable,
		};
	}
	return 0;
}

/* The section of a symbol, if that section has an address. */
static const struct section *section_of(const struct module *module, const GElf_Sym *symbol)
{
	const struct section *section;

	if (symbol->st_shndx >= module->count || symbol->st_shndx >= SHN_LORESERVE)
		return NULL;
	section = &module->sections[symbol->st_shndx];
	return section->placed ? section : NULL;
}

static int add_symbols(struct module *module)
{
	size_t i;
	int error = 0;

	for (i = 0; i < module->symbols.count && !error; i++) {
		GElf_Sym symbol;
		const char *name = elf_symbol(&module->symbols, i, &symbol);
		const struct section *section = name ? section_of(module, &symbol) : NULL;

		if (section && section->executable && symbol.st_value < section->size)
			error = elf_add_symbol(module->object, &symbol, name,
					       section->address + symbol.st_value,
					       section->address + section->size);
	}
	return error;
}

/* Writes the distance to a target into the instruction at @bytes; false if it does not fit. */
static bool patch(uint8_t *bytes, unsigned int type, uint64_t offset)
{
	switch (type) {
	case RELOCATE_BRANCH:
		store32(bytes, (load32(bytes) & 0x01fff07f) | field(offset, 12, 12, 31) |
				       field(offset, 10, 5, 25) | field(offset, 4, 1, 8) |
				       field(offset, 11, 11, 7));
		return fits(offset, 13);
	case RELOCATE_JAL:
		store32(bytes, (load32(bytes) & 0xfff) | field(offset, 20, 20, 31) |
				       field(offset, 10, 1, 21) | field(offset, 11, 11, 20) |
				       field(offset, 19, 12, 12));
		return fits(offset, 21);
	case RELOCATE_CALL:
	case RELOCATE_CALL_PLT: /* AUIPC, JALR */
		store32(bytes, (load32(bytes) & 0xfff) | field(offset + 0x800, 31, 12, 12));
		store32(bytes + 4, (load32(bytes + 4) & 0xfffff) | field(offset, 11, 0, 20));
		return fits(offset + 0x800, 32);
	case RELOCATE_RVC_BRANCH:
		store16(bytes, (load16(bytes) & 0xe383u) | field(offset, 8, 8, 12) |
				       field(offset, 4, 3, 10) | field(offset, 7, 6, 5) |
				       field(offset, 2, 1, 3) | field(offset, 5, 5, 2));
		return fits(offset, 9);
	case RELOCATE_RVC_JUMP:
		store16(bytes, (load16(bytes) & 0xe003u) | field(offset, 11, 11, 12) |
				       field(offset, 4, 4, 11) | field(offset, 9, 8, 9) |
				       field(offset, 10, 10, 8) | field(offset, 6, 6, 7) |
				       field(offset, 7, 7, 6) | field(offset, 3, 1, 3) |
				       field(offset, 5, 5, 2));
		return fits(offset, 12);
	}
	return false;
}

/* Number of code bytes changed by a relocation of a control transfer; 0 for any other. */
static unsigned int relocated_size(unsigned int type)
{
	switch (type) {
	case RELOCATE_CALL:
	case RELOCATE_CALL_PLT:
		return 8;
	case RELOCATE_BRANCH:
	case RELOCATE_JAL:
		return 4;
	case RELOCATE_RVC_BRANCH:
	case RELOCATE_RVC_JUMP:
		return 2;
	default:
		return 0;
	}
}

static int relocate(struct module *module, const struct section *section, const GElf_Rela *entry)
{
	struct ntrace_object *object = module->object;
	/* gelf_getrela() returns r_info in the form of ELF64 for both classes. */
	unsigned int type = (unsigned int)GELF_R_TYPE(entry->r_info), size = relocated_size(type);
	uint64_t address = section->address + entry->r_offset;
	const struct section *to = NULL;
	GElf_Sym symbol;
	uint8_t *bytes;

	if (!size || entry->r_offset >= section->size || size > section->size - entry->r_offset)
		return 0;
	if (elf_symbol(&module->symbols, GELF_R_SYM(entry->r_info), &symbol))
		to = section_of(module, &symbol);
	/* The bytes are a private, writable mapping. */
	bytes = (uint8_t *)(uintptr_t)object->bytes + section->offset + entry->r_offset;
	if (to &&
	    patch(bytes, type, to->address + symbol.st_value + (uint64_t)entry->r_addend - address))
		return 0;
	return ntrace_object_mark_uncertain(object, address, size);
}

static int relocate_section(struct module *module, Elf_Scn *from)
{
	GElf_Shdr header;
	Elf_Data *data;
	size_t count, i;
	int error = 0;

	if (!gelf_getshdr(from, &header) || header.sh_type != SHT_RELA ||
	    header.sh_info >= module->count || !module->sections[header.sh_info].placed ||
	    !module->sections[header.sh_info].executable)
		return 0;
	data = elf_getdata(from, NULL);
	if (!data || !data->d_buf)
		return 0;
	count = data->d_size / gelf_fsize(module->elf, ELF_T_RELA, 1, EV_CURRENT);
	for (i = 0; i < count && !error; i++) {
		GElf_Rela entry;

		if (gelf_getrela(data, (int)i, &entry))
			error = relocate(module, &module->sections[header.sh_info], &entry);
	}
	return error;
}

int object_read_module(struct ntrace_object *object, const struct ntrace_section_address *sections,
		       size_t count)
{
	struct module module = { .object = object };
	struct elf_sections found;
	GElf_Ehdr header;
	Elf_Scn *section = NULL;
	int error;

	error = elf_begin_object(object, &module.elf, &header);
	if (error)
		return error;
	if (header.e_type != ET_REL)
		error = NTRACE_ERR_FORMAT;
	if (!error)
		error = elf_find_sections(object, module.elf, &found);
	if (!error)
		error = place_sections(&module, sections, count);
	if (!error) {
		elf_read_attributes(object, found.attributes);
		if (found.symtab)
			elf_open_symbols(object, module.elf, found.symtab, &module.symbols);
		error = add_symbols(&module);
	}
	while (!error && (section = elf_nextscn(module.elf, section)))
		error = relocate_section(&module, section);
	free(module.sections);
	elf_end(module.elf);
	return error;
}
