// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * ELF files through libelf: segments, build-id, ISA, symbols. Offsets and sizes in the file are
 * checked against its real size before use.
 */
#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "build_id.h"
#include "elf_parts.h"

#ifndef EF_RISCV_RVC
#define EF_RISCV_RVC 1
#endif
#ifndef EF_RISCV_RVE
#define EF_RISCV_RVE 8
#endif
/* RISC-V ELF psABI, section "Attributes" */
#ifndef SHT_RISCV_ATTRIBUTES
#define SHT_RISCV_ATTRIBUTES 0x70000003
#endif
#define TAG_FILE 1
#define TAG_RISCV_ARCH 5

uint64_t elf_clip(const struct ntrace_object *object, uint64_t offset, uint64_t size)
{
	if (offset >= object->size)
		return 0;
	return size < object->size - offset ? size : object->size - offset;
}

/* Bytes of the file at @offset; @size is reduced to the available bytes. */
static const uint8_t *part(const struct ntrace_object *object, uint64_t offset, uint64_t *size)
{
	*size = elf_clip(object, offset, *size);
	return *size ? object->bytes + offset : object->bytes;
}

const uint8_t *elf_section_bytes(const struct ntrace_object *object, const GElf_Shdr *header,
				 uint64_t *size)
{
	*size = header->sh_type == SHT_NOBITS ? 0 : header->sh_size;
	return part(object, header->sh_offset, size);
}

const struct segment *elf_segment_at(const struct ntrace_object *object, uint64_t address)
{
	for (size_t i = 0; i < object->segment_count; i++) {
		if (address - object->segments[i].address < object->segments[i].size)
			return &object->segments[i];
	}
	return NULL;
}

static void take_build_id(struct ntrace_object *object, const uint8_t *notes, size_t size,
			  uint64_t alignment)
{
	if (object->build_id_size)
		return;
	object->whole_id = build_id_in_notes(notes, size, alignment, &object->whole_id_size);
	object->build_id_size =
		build_id_keep(object->whole_id, object->whole_id_size, object->build_id);
}

static int compare_spans(const void *left, const void *right)
{
	const struct code_span *a = left, *b = right;

	return a->first < b->first ? -1 : a->first > b->first;
}

static int join_segments(struct ntrace_object *object)
{
	struct code_span *spans = calloc(object->segment_count + 1, sizeof(*spans));
	size_t count = 0, joined = 0, i;

	if (!spans)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];

		if (segment->executable)
			spans[count++] =
				(struct code_span){ segment->address,
						    segment->address + (segment->size - 1) };
	}
	qsort(spans, count, sizeof(*spans), compare_spans);
	for (i = 0; i < count; i++) {
		if (!joined || spans[i].first > spans[joined - 1].last)
			spans[joined++] = spans[i];
		else if (spans[i].last > spans[joined - 1].last)
			spans[joined - 1].last = spans[i].last;
	}
	object->spans = spans;
	object->span_count = joined;
	return 0;
}

/* An executable without program headers, as tools for firmware write it: its sections are loaded. */
static int read_loaded_sections(struct ntrace_object *object, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count;

	/* Each header takes at least 40 bytes of the file, so their number is bounded. */
	if (elf_getshdrnum(elf, &count) || count > object->size / 40)
		return NTRACE_ERR_FORMAT;
	free(object->segments);
	object->segments = calloc(count + 1, sizeof(*object->segments));
	if (!object->segments)
		return NTRACE_ERR_NOMEM;
	while ((section = elf_nextscn(elf, section))) {
		uint64_t size;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    (header.sh_flags & SHF_COMPRESSED))
			continue;
		elf_section_bytes(object, &header, &size);
		if (header.sh_type != SHT_NOBITS && size < header.sh_size)
			return NTRACE_ERR_TRUNCATED;
		if (!size || header.sh_addr + (size - 1) < header.sh_addr)
			continue;
		object->segments[object->segment_count++] = (struct segment){
			.address = header.sh_addr,
			.offset = header.sh_offset,
			.size = size,
			.executable = header.sh_flags & SHF_EXECINSTR,
			.writable = header.sh_flags & SHF_WRITE,
		};
	}
	return 0;
}

/* @whole: data missing at the end of the file is an error; else it is ignored. */
static int read_segments(struct ntrace_object *object, Elf *elf, bool whole,
			 GElf_Phdr *eh_frame_header)
{
	size_t count, i;
	int error;

	if (elf_getphdrnum(elf, &count))
		return NTRACE_ERR_FORMAT;
	/* Each header takes at least 32 bytes of the file, so their number is bounded. */
	if (count > object->size / 32)
		return NTRACE_ERR_FORMAT;
	object->segments = calloc(count + 1, sizeof(*object->segments));
	if (!object->segments)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < count; i++) {
		GElf_Phdr header;
		const uint8_t *bytes;
		uint64_t size;

		if (!gelf_getphdr(elf, (int)i, &header))
			return NTRACE_ERR_FORMAT;
		size = header.p_filesz;
		bytes = part(object, header.p_offset, &size);
		if (whole && header.p_type == PT_LOAD && size < header.p_filesz)
			return NTRACE_ERR_TRUNCATED;
		if (!size)
			continue;
		if (header.p_type == PT_NOTE)
			take_build_id(object, bytes, size, header.p_align);
		if (header.p_type == PT_GNU_EH_FRAME)
			*eh_frame_header = header;
		if (header.p_type != PT_LOAD || header.p_vaddr + (size - 1) < header.p_vaddr)
			continue;
		object->segments[object->segment_count++] = (struct segment){
			.address = header.p_vaddr,
			.offset = header.p_offset,
			.size = size,
			.executable = header.p_flags & PF_X,
			.writable = header.p_flags & PF_W,
		};
	}
	error = count || !whole ? 0 : read_loaded_sections(object, elf);
	return error ? error : join_segments(object);
}

bool elf_is_code(const struct ntrace_object *object, uint64_t address)
{
	size_t low = 0;

	BISECT(low, object->span_count, middle, object->spans[middle].last < address);
	return low < object->span_count && object->spans[low].first <= address;
}

/* A name, a 0, up to three bytes of padding to a multiple of 4, CRC-32 of the debug file. */
static void take_debug_link(struct ntrace_object *object, const uint8_t *bytes, uint64_t size)
{
	const uint8_t *end = memchr(bytes, 0, size);
	uint64_t at;

	if (!end || end == bytes)
		return;
	at = ((uint64_t)(end - bytes) + 4) & ~UINT64_C(3);
	if (size < 4 || at > size - 4)
		return;
	object->debug_link = (const char *)bytes;
	memcpy(&object->debug_link_crc, bytes + at, sizeof(object->debug_link_crc));
}

/* Calls into other objects, and of IFUNCs, pass through code that no symbol names. */
static int name_plt(struct ntrace_object *object, Elf_Scn *section, const GElf_Shdr *header,
		    const char *name, uint64_t size, struct elf_sections *sections)
{
	static const char *const names[ELF_PLTS] = { ".plt", ".iplt" };

	for (size_t i = 0; i < ELF_PLTS; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		sections->plt[i] = section;
		return symbol_table_add(&object->symbols, names[i], header->sh_addr, size,
					SYMBOL_RANK_RANGE);
	}
	return 0;
}

int elf_find_sections(struct ntrace_object *object, Elf *elf, struct elf_sections *sections)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	bool have_names = !elf_getshdrstrndx(elf, &names);

	memset(sections, 0, sizeof(*sections));
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const uint8_t *bytes;
		const char *name;
		uint64_t size;
		int error;

		if (!gelf_getshdr(section, &header))
			continue;
		size = header.sh_size;
		bytes = part(object, header.sh_offset, &size);
		name = have_names ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (header.sh_type == SHT_PROGBITS && !header.sh_addr && header.sh_size &&
		    (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR))
			sections->code_at_zero = true;
		if (header.sh_type == SHT_SYMTAB)
			sections->symtab = section;
		else if (header.sh_type == SHT_DYNSYM)
			sections->dynsym = section;
		else if (header.sh_type == SHT_RISCV_ATTRIBUTES)
			sections->attributes = section;
		else if (header.sh_type == SHT_NOTE)
			take_build_id(object, bytes, size, header.sh_addralign);
		else if (header.sh_type == SHT_PROGBITS && name && !strcmp(name, ".eh_frame"))
			sections->eh_frame = section;
		else if (header.sh_type == SHT_PROGBITS && name && !strcmp(name, ".gnu_debuglink"))
			take_debug_link(object, bytes, size);
		else if (header.sh_type == SHT_PROGBITS && name && !strcmp(name, ".gnu_debugdata"))
			sections->minidebug = section;
		else if (header.sh_type == SHT_PROGBITS && name &&
			 elf_is_code(object, header.sh_addr)) {
			error = name_plt(object, section, &header, name, size, sections);
			if (error)
				return error;
		}
	}
	return 0;
}

static size_t uleb(const uint8_t *bytes, size_t size, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < size && i < 10; i++) {
		*value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
		if (!(bytes[i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* The arch string of one sub-subsection of file attributes. */
static const char *find_arch(const uint8_t *bytes, size_t size)
{
	while (size) {
		uint64_t tag, value;
		size_t used = uleb(bytes, size, &tag);

		if (!used)
			return NULL;
		bytes += used;
		size -= used;
		if (tag & 1) { /* odd tags have a string */
			const uint8_t *end = memchr(bytes, 0, size);

			if (!end)
				return NULL;
			if (tag == TAG_RISCV_ARCH)
				return (const char *)bytes;
			used = (size_t)(end - bytes) + 1;
		} else {
			used = uleb(bytes, size, &value);
			if (!used)
				return NULL;
		}
		bytes += used;
		size -= used;
	}
	return NULL;
}

/* 'A' { length "riscv\0" { Tag_File length attributes }* }* */
static void take_attributes(struct ntrace_object *object, const uint8_t *bytes, size_t size)
{
	static const char vendor[] = "riscv";
	uint32_t length;

	if (size < 1 + sizeof(length) + sizeof(vendor) + 1 + sizeof(length) || bytes[0] != 'A')
		return;
	memcpy(&length, bytes + 1, sizeof(length));
	if (length > size - 1 || memcmp(bytes + 5, vendor, sizeof(vendor)))
		return;
	size = length;
	bytes += 1;
	/* From here on, both are relative to the length of the vendor's part. */
	if (size < sizeof(length) + sizeof(vendor))
		return;
	bytes += sizeof(length) + sizeof(vendor);
	size -= sizeof(length) + sizeof(vendor);
	while (size >= 1 + sizeof(length)) {
		const char *arch;

		memcpy(&length, bytes + 1, sizeof(length));
		if (length < 1 + sizeof(length) || length > size)
			return;
		if (bytes[0] == TAG_FILE) {
			struct ntrace_isa isa;

			arch = find_arch(bytes + 5, length - 5);
			if (arch && !ntrace_isa_parse(&isa, arch) && isa.xlen == object->isa.xlen) {
				/* A part of a program may use C even if the other parts do not. */
				isa.compressed |= object->isa.compressed;
				isa.embedded |= object->isa.embedded;
				object->isa = isa;
			}
			return;
		}
		bytes += length;
		size -= length;
	}
}

/*
 * Labels that name no function: ".L*" of the compiler, and the mapping symbols of the RISC-V ELF psABI,
 * "$d", "$x" and "$x" with an ISA string, all with or without ".name". Compilers give names that
 * begin with "$" to functions, too, but those have a type.
 */
static bool is_mark(const char *name)
{
	if (name[0] == '$' && name[1] == 'd')
		return !name[2] || name[2] == '.';
	if (name[0] == '$' && name[1] == 'x')
		return !name[2] || name[2] == '.' || !strncmp(name + 2, "rv", 2);
	return name[0] == '.' && name[1] == 'L';
}

/* The code at an IFUNC is that of its resolver, which has no other name. */
static int add_resolver(struct ntrace_object *object, const char *name, uint64_t address,
			uint64_t size, enum symbol_rank rank)
{
	char *text;
	int error;

	if (asprintf(&text, "%s" RESOLVER_SUFFIX, name) < 0)
		return NTRACE_ERR_NOMEM;
	error = symbol_table_add_copy(&object->symbols, text, address, size, rank);
	free(text);
	if (!error)
		object->symbols.symbols[object->symbols.count - 1].resolver = true;
	return error;
}

int elf_add_symbol(struct ntrace_object *object, const GElf_Sym *symbol, const char *name,
		   uint64_t address, uint64_t limit)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
	enum symbol_rank rank;
	int error;

	if (!name[0])
		return 0;
	if (type == STT_NOTYPE && is_mark(name))
		return name[0] != '$' ? 0 :
					symbol_table_add(&object->marks, name, address, 0,
							 SYMBOL_RANK_LABEL);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	if (type == STT_NOTYPE)
		rank = SYMBOL_RANK_LABEL;
	else if (bind == STB_LOCAL)
		rank = SYMBOL_RANK_LOCAL;
	else if (bind == STB_WEAK)
		rank = SYMBOL_RANK_WEAK;
	else
		rank = SYMBOL_RANK_GLOBAL;
	if (type == STT_GNU_IFUNC)
		error = add_resolver(object, name, address, symbol->st_size, rank);
	else
		error = symbol_table_add(&object->symbols, name, address, symbol->st_size, rank);
	if (!error)
		object->symbols.symbols[object->symbols.count - 1].limit = limit;
	return error;
}

void elf_open_symbols(const struct ntrace_object *file, Elf *elf, Elf_Scn *section,
		      struct elf_symbols *symbols)
{
	GElf_Shdr header, strings;

	memset(symbols, 0, sizeof(*symbols));
	if (!gelf_getshdr(section, &header) || !header.sh_entsize)
		return;
	symbols->data = elf_getdata(section, NULL);
	if (!symbols->data || !symbols->data->d_buf)
		return;
	if (!gelf_getshdr(elf_getscn(elf, header.sh_link), &strings) ||
	    strings.sh_type != SHT_STRTAB ||
	    elf_clip(file, strings.sh_offset, strings.sh_size) != strings.sh_size ||
	    !strings.sh_size || file->bytes[strings.sh_offset + strings.sh_size - 1])
		return;
	symbols->count = symbols->data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	symbols->names = (const char *)file->bytes + strings.sh_offset;
	symbols->names_size = strings.sh_size;
}

const char *elf_symbol(const struct elf_symbols *symbols, size_t index, GElf_Sym *symbol)
{
	if (index >= symbols->count || !gelf_getsym(symbols->data, (int)index, symbol) ||
	    symbol->st_name >= symbols->names_size)
		return NULL;
	return symbols->names + symbol->st_name;
}

/* The end of the section of a symbol without a size. */
static uint64_t limit_of(Elf *elf, const GElf_Sym *symbol)
{
	GElf_Shdr header;

	if (symbol->st_size || symbol->st_shndx >= SHN_LORESERVE ||
	    !gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &header))
		return UINT64_MAX;
	return header.sh_addr + header.sh_size;
}

/* Adds the symbols of @file, which is @object itself or its debug file. */
static int read_symbols(struct ntrace_object *object, const struct ntrace_object *file, Elf *elf,
			Elf_Scn *section)
{
	struct elf_symbols symbols;
	size_t i;

	elf_open_symbols(file, elf, section, &symbols);
	for (i = 0; i < symbols.count; i++) {
		GElf_Sym symbol;
		const char *name = elf_symbol(&symbols, i, &symbol);
		int error;

		if (!name || symbol.st_shndx == SHN_UNDEF)
			continue;
		/* The local symbols of a source file come after its name. */
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
			object->symbols.file++;
		if (!object->has_jump_table && !strcmp(name, "__jvt_base$")) {
			object->jump_table = symbol.st_value;
			object->has_jump_table = true;
		}
		if (symbol.st_shndx == SHN_ABS || symbol.st_shndx == SHN_COMMON ||
		    !elf_is_code(object, symbol.st_value))
			continue;
		error = elf_add_symbol(object, &symbol, name, symbol.st_value,
				       limit_of(elf, &symbol));
		if (error)
			return error;
	}
	return 0;
}

/* Adds ranges of .eh_frame, found through .eh_frame_hdr, for files without sections. */
static int add_ranges_by_header(struct ntrace_object *object, const GElf_Phdr *header)
{
	uint64_t size = header->p_filesz, address;
	const uint8_t *bytes = part(object, header->p_offset, &size);
	int32_t relative;
	size_t i;

	/*
	 * Version 1 with eh_frame_ptr as DW_EH_PE_pcrel | DW_EH_PE_sdata4, as all linkers write it.
	 */
	if (size < 8 || bytes[0] != 1 || bytes[1] != 0x1b)
		return 0;
	memcpy(&relative, bytes + 4, sizeof(relative));
	address = header->p_vaddr + 4 + (uint64_t)(int64_t)relative;
	for (i = 0; i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];

		if (address - segment->address < segment->size) {
			uint64_t skip = address - segment->address;

			return object_add_eh_frame(object, object->bytes + segment->offset + skip,
						   segment->size - skip, address, object->isa.xlen);
		}
	}
	return 0;
}

/* Functions that .dynsym does not export, of a stripped file. */
static int read_hidden_names(struct ntrace_object *object, Elf_Scn *section)
{
	const uint8_t *bytes;
	GElf_Shdr header;
	uint64_t size;
	int error;

	if (!section || !gelf_getshdr(section, &header))
		return 0;
	bytes = elf_section_bytes(object, &header, &size);
	error = object_read_minidebug(object, bytes, size);
	/* Without these names the object is still useful. */
	return error == NTRACE_ERR_NOMEM ? error : 0;
}

static int read_names(struct ntrace_object *object, Elf *elf, const struct elf_sections *sections,
		      const GElf_Phdr *eh_frame_header)
{
	GElf_Shdr header;
	int error = 0;

	if (sections->symtab)
		error = read_symbols(object, object, elf, sections->symtab);
	if (!error && sections->dynsym)
		error = read_symbols(object, object, elf, sections->dynsym);
	if (error)
		return error;
	/* A program may be stripped of some symbols, and have them there. */
	object->symbols.sparse = !sections->symtab;
	error = read_hidden_names(object, sections->minidebug);
	if (error || sections->symtab)
		return error;
	/*
	 * A stripped file: .dynsym names the exported functions, .eh_frame has the ranges of all
	 * others.
	 */
	if (sections->eh_frame && gelf_getshdr(sections->eh_frame, &header) &&
	    !(header.sh_flags & SHF_COMPRESSED)) {
		uint64_t size = header.sh_size;
		const uint8_t *bytes = part(object, header.sh_offset, &size);

		return object_add_eh_frame(object, bytes, size, header.sh_addr, object->isa.xlen);
	}
	if (eh_frame_header->p_type == PT_GNU_EH_FRAME)
		return add_ranges_by_header(object, eh_frame_header);
	return 0;
}

static pthread_once_t version_once = PTHREAD_ONCE_INIT;
static bool version_known;

/* libelf stores the version in a variable of all threads. */
static void choose_version(void)
{
	version_known = elf_version(EV_CURRENT) != EV_NONE;
}

int elf_begin_object(struct ntrace_object *object, Elf **elf, GElf_Ehdr *header)
{
	int error = NTRACE_ERR_FORMAT;

	*elf = NULL;
	if (object->size < EI_NIDENT || memcmp(object->bytes, ELFMAG, SELFMAG) ||
	    pthread_once(&version_once, choose_version) || !version_known)
		return NTRACE_ERR_FORMAT;
	*elf = elf_memory((char *)(uintptr_t)object->bytes, object->size);
	if (!*elf)
		return NTRACE_ERR_FORMAT;
	if (elf_kind(*elf) == ELF_K_ELF && gelf_getehdr(*elf, header))
		error = header->e_machine == EM_RISCV ? 0 : NTRACE_ERR_NOTRISCV;
	if (error) {
		elf_end(*elf);
		*elf = NULL;
		return error;
	}
	object->isa = (struct ntrace_isa){
		.xlen = gelf_getclass(*elf) == ELFCLASS32 ? 32 : 64,
		.compressed = header->e_flags & EF_RISCV_RVC,
		.embedded = header->e_flags & EF_RISCV_RVE,
	};
	return 0;
}

void elf_read_attributes(struct ntrace_object *object, Elf_Scn *section)
{
	GElf_Shdr header;
	const uint8_t *bytes;
	uint64_t size;

	if (!section || !gelf_getshdr(section, &header))
		return;
	size = header.sh_size;
	bytes = part(object, header.sh_offset, &size);
	take_attributes(object, bytes, size);
}

static bool begins_compressed(const struct ntrace_object *object, uint64_t address)
{
	uint8_t bytes[2];

	return object_constant_byte(object, address, &bytes[0]) &&
	       object_constant_byte(object, address + 1, &bytes[1]) && (bytes[0] & 3) != 3 &&
	       (bytes[0] || bytes[1]);
}

/* LLVM loses flags and attributes when it links with -flto: a function whose first instruction has 16 bits has C. */
static bool has_compressed_code(const struct ntrace_object *object)
{
	const struct symbol *symbols = object->symbols.symbols;

	for (size_t i = 0; i < object->symbols.count; i++)
		if (symbols[i].rank >= SYMBOL_RANK_LOCAL && symbols[i].sized &&
		    begins_compressed(object, symbols[i].start))
			return true;
	return object->has_entry && begins_compressed(object, object->entry);
}

int object_read_elf(struct ntrace_object *object)
{
	GElf_Phdr eh_frame_header = { .p_type = PT_NULL };
	struct elf_sections sections = { 0 };
	GElf_Ehdr header;
	bool whole;
	Elf *elf;
	int error;

	error = elf_begin_object(object, &elf, &header);
	if (error)
		return error;
	/* A truncated memory dump is still useful. */
	whole = header.e_type != ET_CORE;
	if (whole && header.e_shoff &&
	    elf_clip(object, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize) <
		    (uint64_t)header.e_shnum * header.e_shentsize)
		error = NTRACE_ERR_TRUNCATED;
	if (!error)
		error = read_segments(object, elf, whole, &eh_frame_header);
	if (!error)
		error = elf_find_sections(object, elf, &sections);
	if (!error) {
		object->code_at_zero = header.e_type != ET_REL && sections.code_at_zero;
		object->entry = header.e_entry;
		object->has_entry = header.e_entry || object->code_at_zero;
		elf_read_attributes(object, sections.attributes);
		error = read_names(object, elf, &sections, &eh_frame_header);
		object->isa.compressed = object->isa.compressed || has_compressed_code(object);
	}
	if (!error)
		error = elf_add_linkage_names(object, elf, sections.plt);
	elf_end(elf);
	return error;
}

static bool same_build_id(const struct ntrace_object *a, const struct ntrace_object *b)
{
	return a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

int object_read_debug_elf(struct ntrace_object *object, struct ntrace_object *debug,
			  bool need_build_id)
{
	size_t before = object->symbols.count;
	struct elf_sections sections = { 0 };
	GElf_Ehdr header;
	Elf *elf;
	int error;

	error = elf_begin_object(debug, &elf, &header);
	if (error)
		return error;
	error = elf_find_sections(debug, elf, &sections);
	if (!error && (debug->isa.xlen != object->isa.xlen || !sections.symtab))
		error = NTRACE_ERR_FORMAT;
	if (!error && (need_build_id || (object->build_id_size && debug->build_id_size)) &&
	    !same_build_id(object, debug))
		error = NTRACE_ERR_BUILDID;
	if (!error)
		error = read_symbols(object, debug, elf, sections.symtab);
	/* Names in a file that will be closed must not be kept. */
	if (error)
		object->symbols.count = before;
	else
		object->symbols.sparse = false;
	elf_end(elf);
	return error;
}
