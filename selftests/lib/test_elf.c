// SPDX-License-Identifier: GPL-2.0-only
/*
 * ELF files made byte by byte: notes, links to debug files, attributes, symbols and segments, with what
 * no linker writes. test_image.c and test_image_files.c read those of linkers.
 */
#include <elf.h>
#include <stdlib.h>

#include "image/object.h"

#include "tap.h"

#define CODE_AT 0x400		/* in the file; 16 nops */
#define CODE_SIZE 64
#define CODE 0x10000		/* its address */
#define NOTES_AT 0x500
#define STRINGS_AT 0x700
#define SYMBOLS_AT 0x800
#define SECTIONS_AT 0xc00
#define SIZE 0x1000

static struct {
	uint8_t bytes[SIZE];
	size_t size;
	Elf64_Ehdr header;
	Elf64_Phdr segments[4];
	Elf64_Shdr sections[8];
	size_t names, symbols;
} elf;

static struct ntrace_object *object;

/* A program of one segment, without sections. */
static void begin(void)
{
	static const uint32_t nop = 0x13;

	memset(&elf, 0, sizeof(elf));
	elf.size = SIZE;
	elf.header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
						EV_CURRENT },
				   .e_type = ET_EXEC,
				   .e_machine = EM_RISCV,
				   .e_version = EV_CURRENT,
				   .e_entry = CODE + 8,
				   .e_phoff = 64,
				   .e_ehsize = 64,
				   .e_phentsize = sizeof(Elf64_Phdr),
				   .e_phnum = 1,
				   .e_shentsize = sizeof(Elf64_Shdr) };
	elf.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R | PF_X,
					.p_offset = CODE_AT,
					.p_vaddr = CODE,
					.p_filesz = CODE_SIZE,
					.p_memsz = CODE_SIZE };
	for (unsigned int i = 0; i < CODE_SIZE; i += 4)
		memcpy(elf.bytes + CODE_AT + i, &nop, 4);
	elf.names = 1;
	elf.symbols = 1;
}

static uint32_t name_of(const char *name)
{
	size_t at = elf.names;

	strcpy((char *)elf.bytes + STRINGS_AT + at, name);
	elf.names += strlen(name) + 1;
	return (uint32_t)at;
}

/* Section 1 is .shstrtab; 2 and later are the test's. Return: the section */
static Elf64_Shdr *section(const char *name, uint32_t type, uint64_t at, uint64_t size)
{
	unsigned int number = elf.header.e_shnum;

	if (!number) {
		elf.header.e_shoff = SECTIONS_AT;
		elf.header.e_shstrndx = 1;
		elf.sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = STRINGS_AT };
		number = 2;
	}
	elf.sections[number] = (Elf64_Shdr){ .sh_name = name_of(name),
					     .sh_type = type,
					     .sh_offset = at,
					     .sh_size = size,
					     .sh_addralign = 4 };
	elf.header.e_shnum = (uint16_t)(number + 1);
	return &elf.sections[number];
}

static int opens(void)
{
	/* Memory of that size, for sanitizers. */
	uint8_t *copy;
	int error;

	if (object)
		ntrace_object_put(object);
	object = NULL;
	elf.sections[1].sh_size = elf.names;
	memcpy(elf.bytes, &elf.header, sizeof(elf.header));
	memcpy(elf.bytes + 64, elf.segments, sizeof(elf.segments));
	memcpy(elf.bytes + SECTIONS_AT, elf.sections, sizeof(elf.sections));
	copy = malloc(elf.size ? elf.size : 1);
	memcpy(copy, elf.bytes, elf.size);
	error = ntrace_object_open_elf_memory(&object, "elf", copy, elf.size);
	free(copy);
	return error;
}

static void check_open(int want, const char *what)
{
	is_u64((uint64_t)opens(), (uint64_t)want, "%s", what);
}

/* ---- header and segments ---- */

static void test_header(void)
{
	begin();
	check_open(0, "a program");
	ok(object->isa.xlen == 64 && !object->isa.compressed && !object->isa.embedded &&
		   object->entry == CODE + 8,
	   "its class and entry");
	elf.header.e_flags = 1;
	opens();
	ok(object->isa.compressed && !object->isa.embedded, "with C");
	elf.header.e_flags = 8;
	opens();
	ok(!object->isa.compressed && object->isa.embedded, "with E");
	begin();
	elf.bytes[CODE_AT + 8] = 0x01;
	opens();
	ok(object->isa.compressed, "C, by the first instruction");
	begin();
	memset(elf.bytes + CODE_AT + 8, 0, 2);
	opens();
	ok(!object->isa.compressed, "not by zeros");
	elf.header.e_machine = EM_X86_64;
	check_open(NTRACE_ERR_NOTRISCV, "another machine");
	begin();
	elf.header.e_ident[0] = 0;
	check_open(NTRACE_ERR_FORMAT, "another magic number");
	begin();
	elf.header.e_ident[EI_CLASS] = 3;
	check_open(NTRACE_ERR_FORMAT, "an unknown class");
	for (unsigned int size = 4; size <= 63; size += size == 4 ? 11 : 1) {
		begin();
		elf.size = size;
		check_open(NTRACE_ERR_FORMAT, "a header that is cut");
	}
	begin();
	section("note", SHT_NOTE, NOTES_AT, 0);
	elf.header.e_shoff = SIZE - 3 * 64 + 1;
	check_open(NTRACE_ERR_TRUNCATED, "section headers that leave the file");
	elf.header.e_type = ET_CORE;
	check_open(0, "of a core dump");
}

static void test_segments(void)
{
	begin();
	check_open(0, "a segment");
	ok(object->segment_count == 1 && object->segments[0].address == CODE &&
		   object->segments[0].offset == CODE_AT && object->segments[0].size == CODE_SIZE &&
		   object->segments[0].executable,
	   "its fields");
	elf.segments[0].p_flags = PF_R | PF_W;
	opens();
	ok(!object->segments[0].executable, "of data");
	elf.segments[0].p_filesz = SIZE - CODE_AT;
	check_open(0, "up to the end of the file");
	elf.segments[0].p_filesz++;
	check_open(NTRACE_ERR_TRUNCATED, "beyond it");
	elf.header.e_type = ET_CORE;
	check_open(0, "beyond it in a core dump");
	is_u64(object->segments[0].size, SIZE - CODE_AT, "has what is there");
	begin();
	elf.segments[0].p_vaddr = UINT64_MAX - CODE_SIZE + 1;
	check_open(0, "up to the end of memory");
	is_u64(object->segment_count, 1, "is a segment");
	elf.segments[0].p_vaddr++;
	check_open(0, "beyond the end of memory");
	is_u64(object->segment_count, 0, "is none");
	begin();
	elf.segments[0].p_type = PT_DYNAMIC;
	opens();
	is_u64(object->segment_count, 0, "nor what is not loaded");
	begin();
	elf.segments[0].p_filesz = 0;
	opens();
	is_u64(object->segment_count, 0, "nor what has no bytes");
	begin();
	elf.header.e_phnum = 2;
	elf.segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R,
					.p_offset = NOTES_AT,
					.p_vaddr = 0x20000,
					.p_filesz = 8 };
	opens();
	ok(object->segment_count == 2 && object->segments[1].address == 0x20000, "two segments");
}

/* ---- notes ---- */

static size_t notes_size;

static void note(uint32_t type, const char *name, uint32_t name_size, uint32_t size,
		 unsigned int alignment)
{
	const Elf64_Nhdr header = { name_size, size, type };
	uint8_t *at = elf.bytes + NOTES_AT + notes_size;
	size_t mask = alignment - 1, place = (12 + name_size + mask) & ~mask;

	memcpy(at, &header, 12);
	memcpy(at + 12, name, name_size);
	for (uint32_t i = 0; i < size && i < 80; i++)
		at[place + i] = (uint8_t)(0xa0 + i + type);
	notes_size += (place + size + mask) & ~mask;
}

/* Size of the build ID that notes up to @size give, as a segment and as a section. */
static unsigned int id_size(size_t size, unsigned int alignment)
{
	unsigned int by_segment;

	elf.sections[2].sh_size = 0;
	elf.header.e_phnum = 2;
	elf.segments[1] = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = NOTES_AT, .p_filesz = size, .p_align = alignment
	};
	if (opens())
		return 1000;
	by_segment = (unsigned int)object->build_id_size;
	elf.header.e_phnum = 1;
	if (!elf.header.e_shnum)
		section("note", SHT_NOTE, NOTES_AT, 0);
	elf.sections[2].sh_size = size;
	elf.sections[2].sh_addralign = alignment;
	if (opens() || object->build_id_size != by_segment)
		return 1001;
	return by_segment;
}

static void test_notes(void)
{
	for (unsigned int alignment = 4; alignment <= 8; alignment += 4) {
		begin();
		notes_size = 0;
		note(NT_GNU_BUILD_ID, "GNU", 4, 20, alignment);
		is_u64(id_size(notes_size, alignment), 20, "a build ID");
		ok(object->build_id[0] == 0xa3 && object->build_id[19] == 0xb6, "its bytes");
		for (size_t cut = 0; cut < 12 + 4 + 20; cut++)
			if (id_size(cut, alignment))
				ok(false, "a note of %zu bytes has none", cut);
		begin();
		notes_size = 0;
		note(1, "GNU", 4, 16, alignment);
		note(1, "abcdefgh", 9, 5, alignment);
		note(NT_GNU_BUILD_ID, "GNX", 4, 20, alignment);
		note(NT_GNU_BUILD_ID, "GNUX", 5, 20, alignment);
		note(NT_GNU_BUILD_ID, "GNU", 4, 0, alignment);
		is_u64(id_size(notes_size, alignment), 0, "other notes have none");
		note(NT_GNU_BUILD_ID, "GNU", 4, NTRACE_BUILD_ID_MAX + 1, alignment);
		note(NT_GNU_BUILD_ID, "GNU", 4, 8, alignment);
		is_u64(id_size(notes_size, alignment), NTRACE_BUILD_ID_MAX,
		       "the first build ID after them counts, of a long one the first bytes");
	}
	begin();
	notes_size = 0;
	note(NT_GNU_BUILD_ID, "GNU", 4, 20, 4);
	memset(elf.bytes + NOTES_AT, 0xff, 4);
	is_u64(id_size(notes_size, 4), 0, "a name that is far too long");
	notes_size = 0;
	note(1, "GNU", 4, 20, 4);
	memset(elf.bytes + NOTES_AT + 4, 0xff, 4);
	note(NT_GNU_BUILD_ID, "GNU", 4, 20, 4);
	is_u64(id_size(notes_size, 4), 0, "a description that is far too long");
}

/* ---- .gnu_debuglink ---- */

static void test_debug_link(void)
{
	static const char *const names[] = { "a", "ab", "abc", "abcd" };

	for (unsigned int i = 0; i < 4; i++) {
		size_t crc_at = (i + 2 + 3) & ~3u;

		begin();
		section(".gnu_debuglink", SHT_PROGBITS, NOTES_AT, crc_at + 4);
		strcpy((char *)elf.bytes + NOTES_AT, names[i]);
		memcpy(elf.bytes + NOTES_AT + crc_at, &(uint32_t){ 0x12345678 }, 4);
		opens();
		is_str(object->debug_link ? object->debug_link : "-", names[i],
		       "a link to a debug file");
		is_hex(object->debug_link_crc, 0x12345678, "its CRC");
		elf.sections[2].sh_size--;
		opens();
		ok(!object->debug_link, "without a whole CRC it is none");
	}
	begin();
	section(".gnu_debuglink", SHT_PROGBITS, NOTES_AT, 8);
	opens();
	ok(!object->debug_link, "an empty name is none");
	memset(elf.bytes + NOTES_AT, 'a', 64);
	opens();
	ok(!object->debug_link, "nor a name that does not end");
	strcpy((char *)elf.bytes + NOTES_AT, "abc");
	elf.sections[2].sh_size = 3;
	opens();
	ok(!object->debug_link, "nor one that leaves its section");
	elf.sections[2].sh_size = 8;
	elf.sections[2].sh_type = SHT_NOBITS;
	opens();
	ok(!object->debug_link, "nor a section without content");
}

/* ---- attributes ---- */

static uint8_t *attributes;
static size_t attributes_size;

/* 'A', length, "riscv", one part: @tag, length, @content */
static void make_attributes(uint8_t tag, const char *content, size_t size)
{
	uint32_t inner = (uint32_t)(5 + size), outer = (uint32_t)(4 + 6 + inner);

	begin();
	section(".riscv.attributes", 0x70000003, NOTES_AT, 1 + outer);
	attributes = elf.bytes + NOTES_AT;
	attributes[0] = 'A';
	memcpy(attributes + 1, &outer, 4);
	memcpy(attributes + 5, "riscv", 6);
	attributes[11] = tag;
	memcpy(attributes + 12, &inner, 4);
	memcpy(attributes + 16, content, size);
	attributes_size = 1 + outer;
}

#define ARCH "\005rv64i2p1_c2p0"

static bool finds_c(void)
{
	return !opens() && object->isa.compressed;
}

static void test_attributes(void)
{
	static const struct {
		const char *what, *content;
		size_t size;
		bool found;
	} cases[] = {
		{ "an ISA", ARCH, sizeof(ARCH), true },
		{ "after a number", "\004\020" ARCH, 2 + sizeof(ARCH), true },
		{ "after a long number", "\004\200\001" ARCH, 3 + sizeof(ARCH), true },
		{ "after a long tag", "\210\001\020" ARCH, 3 + sizeof(ARCH), true },
		{ "after a string", "\007text\0" ARCH, 6 + sizeof(ARCH), true },
		{ "a string that does not end", ARCH, sizeof(ARCH) - 1, false },
		{ "a number that does not end", "\004\200\200\200", 4, false },
		{ "a tag that does not end", "\200\200", 2, false },
		{ "no attribute", "", 0, false },
		{ "the ISA of another XLEN", "\005rv32i2p1_c2p0", 15, false },
		{ "an unknown ISA", "\005x", 3, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_attributes(1, cases[i].content, cases[i].size);
		ok(finds_c() == cases[i].found, "%s", cases[i].what);
	}
	make_attributes(2, ARCH, sizeof(ARCH));
	ok(!finds_c(), "attributes of a section are not those of the file");
	make_attributes(1, ARCH, sizeof(ARCH));
	for (size_t cut = 0; cut < attributes_size; cut++) {
		elf.sections[2].sh_size = cut;
		if (finds_c())
			ok(false, "attributes cut to %zu bytes are none", cut);
	}
	make_attributes(1, ARCH, sizeof(ARCH));
	attributes[0] = 'B';
	ok(!finds_c(), "another version");
	make_attributes(1, ARCH, sizeof(ARCH));
	attributes[5] = 'x';
	ok(!finds_c(), "another vendor");
	make_attributes(1, ARCH, sizeof(ARCH));
	for (uint8_t length = 0; length < 5 + sizeof(ARCH); length++) {
		attributes[12] = length;
		if (finds_c())
			ok(false, "a part of %u bytes has no ISA", length);
	}
	attributes[12] = 5 + sizeof(ARCH) + 1;
	ok(!finds_c(), "a part that leaves that of the vendor");
	/* A part of a section before that of the file. */
	make_attributes(2, "\0\0\0\001\0\0\0\0" ARCH, 8 + sizeof(ARCH));
	attributes[12] = 8;
	attributes[19] = 1;
	attributes[20] = 5 + sizeof(ARCH);
	ok(finds_c(), "the part of the file may come later");
	make_attributes(1, "\005rv64i2p1", 10);
	elf.header.e_flags = 1;
	ok(finds_c(), "flags of the header add to the ISA");
	make_attributes(1, "\005rv64i2p1", 10);
	elf.header.e_flags = 8;
	opens();
	ok(object->isa.embedded && !object->isa.compressed, "each of them");
}

/* ---- symbols ---- */

static void symbols(uint32_t type)
{
	Elf64_Shdr *table = section(".symbols", type, SYMBOLS_AT, 0);

	table->sh_entsize = sizeof(Elf64_Sym);
	table->sh_link = 1;
}

static void symbol(const char *name, unsigned int bind, unsigned int type, uint64_t address,
		   uint64_t size)
{
	const Elf64_Sym made = { .st_name = name_of(name),
				 .st_info = (uint8_t)ELF64_ST_INFO(bind, type),
				 .st_shndx = 2,
				 .st_value = address,
				 .st_size = size };

	memcpy(elf.bytes + SYMBOLS_AT + elf.symbols++ * sizeof(made), &made, sizeof(made));
	elf.sections[2].sh_size = elf.symbols * sizeof(made);
}

static const char *name_at(uint64_t address)
{
	const struct symbol *found = symbol_table_find(&object->symbols, address);

	return found ? found->name : "-";
}

/* Names that begin like a label of the assembler: each in turn as a label and as a function. */
static void test_marks(void)
{
	static const struct {
		const char *name;
		bool mark;
	} cases[] = {
		{ "$x", true },
		{ "$d", true },
		{ "$x.12", true },
		{ "$d.text", true },
		{ "$xrv64i2p1_c2p0", true },
		{ ".L12", true },
		{ "$xhelper", false },
		{ "$dotnet", false },
		{ "$s4main3fooyS2iF", false },
		{ "$", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		symbols(SHT_SYMTAB);
		symbol(cases[i].name, STB_LOCAL, STT_NOTYPE, CODE, 4);
		symbol(cases[i].name, STB_LOCAL, STT_FUNC, CODE + 4, 4);
		check_open(0, cases[i].name);
		is_str(name_at(CODE), cases[i].mark ? "-" : cases[i].name, "a label");
		is_str(name_at(CODE + 4), cases[i].name, "a function");
	}
}

static void test_symbols(void)
{
	Elf64_Sym *all = (Elf64_Sym *)(elf.bytes + SYMBOLS_AT);

	for (unsigned int dynamic = 0; dynamic < 2; dynamic++) {
		begin();
		symbols(dynamic ? SHT_DYNSYM : SHT_SYMTAB);
		symbol("function", STB_GLOBAL, STT_FUNC, CODE, 4);
		symbol("ifunc", STB_GLOBAL, STT_GNU_IFUNC, CODE + 4, 4);
		symbol("object", STB_GLOBAL, STT_OBJECT, CODE + 8, 4);
		symbol("section", STB_LOCAL, STT_SECTION, CODE + 12, 4);
		symbol(".Llabel", STB_LOCAL, STT_NOTYPE, CODE + 16, 4);
		symbol("$x", STB_LOCAL, STT_NOTYPE, CODE + 20, 4);
		symbol(".dot", STB_LOCAL, STT_FUNC, CODE + 24, 4);
		symbol("outside", STB_GLOBAL, STT_FUNC, CODE + CODE_SIZE, 4);
		symbol("undefined", STB_GLOBAL, STT_FUNC, CODE + 28, 4);
		symbol("absolute", STB_GLOBAL, STT_FUNC, CODE + 32, 4);
		symbol("common", STB_GLOBAL, STT_FUNC, CODE + 36, 4);
		symbol("last", STB_GLOBAL, STT_FUNC, CODE + CODE_SIZE - 4, 4);
		all[9].st_shndx = SHN_UNDEF;
		all[10].st_shndx = SHN_ABS;
		all[11].st_shndx = SHN_COMMON;
		check_open(0, "symbols");
		is_str(name_at(CODE), "function", "a function");
		is_str(name_at(CODE + 4), "ifunc [resolver]", "one that chooses its code");
		is_str(name_at(CODE + 8), "-", "data has no name as code");
		is_str(name_at(CODE + 12), "-", "nor has a section");
		is_str(name_at(CODE + 16), "-", "labels of the compiler do not count");
		is_str(name_at(CODE + 20), "-", "nor do mapping symbols");
		is_str(name_at(CODE + 24), ".dot", "other names may begin with a dot");
		is_str(name_at(CODE + CODE_SIZE), "-", "a symbol outside of code");
		is_str(name_at(CODE + 28), "-", "an undefined one");
		is_str(name_at(CODE + 32), "-", "an absolute one");
		is_str(name_at(CODE + 36), "-", "a common one");
		is_str(name_at(CODE + CODE_SIZE - 4), "last", "the last instruction");
	}
	/* Of several symbols at an address the more public one. */
	begin();
	symbols(SHT_SYMTAB);
	symbol("label", STB_GLOBAL, STT_NOTYPE, CODE, 4);
	symbol("local", STB_LOCAL, STT_FUNC, CODE, 4);
	opens();
	is_str(name_at(CODE), "local", "a function before a label");
	symbol("weak", STB_WEAK, STT_FUNC, CODE, 4);
	opens();
	is_str(name_at(CODE), "weak", "a weak one before a local one");
	symbol("global", STB_GLOBAL, STT_FUNC, CODE, 4);
	opens();
	is_str(name_at(CODE), "global", "a global one before all");
	symbol("__jvt_base$", STB_GLOBAL, STT_NOTYPE, 0x1234, 0);
	opens();
	ok(object->has_jump_table && object->jump_table == 0x1234, "the jump vector table");
	symbol("__jvt_base$", STB_GLOBAL, STT_NOTYPE, 0x5678, 0);
	opens();
	is_hex(object->jump_table, 0x1234, "the first one counts");
}

static void test_tables(void)
{
	begin();
	symbols(SHT_SYMTAB);
	symbol("function", STB_GLOBAL, STT_FUNC, CODE, 4);
	elf.sections[2].sh_entsize = 0;
	opens();
	is_str(name_at(CODE), "-", "symbols without a size");
	elf.sections[2].sh_entsize = sizeof(Elf64_Sym);
	opens();
	is_str(name_at(CODE), "function", "with their size");
	elf.sections[2].sh_link = 0;
	opens();
	is_str(name_at(CODE), "-", "without a table of names");
	elf.sections[2].sh_link = 1;
	elf.bytes[STRINGS_AT + elf.names++] = 'x';
	opens();
	is_str(name_at(CODE), "-", "a table of names that does not end with 0");
	elf.bytes[STRINGS_AT + elf.names++] = 0;
	opens();
	is_str(name_at(CODE), "function", "that ends");
	((Elf64_Sym *)(elf.bytes + SYMBOLS_AT))[1].st_name = (uint32_t)elf.names;
	opens();
	is_str(name_at(CODE), "-", "a name after the table");
	begin();
	symbols(SHT_SYMTAB);
	symbol("function", STB_GLOBAL, STT_FUNC, CODE, 4);
	section(".strtab", SHT_STRTAB, SIZE - 8, 9);
	elf.sections[2].sh_link = 3;
	opens();
	is_str(name_at(CODE), "-", "a table of names that leaves the file");
	elf.sections[3].sh_size = 8;
	((Elf64_Sym *)(elf.bytes + SYMBOLS_AT))[1].st_name = 1;
	strcpy((char *)elf.bytes + SIZE - 7, "end");
	opens();
	is_str(name_at(CODE), "end", "one at its end");
}

int main(void)
{
	test_header();
	test_segments();
	test_notes();
	test_debug_link();
	test_attributes();
	test_marks();
	test_symbols();
	test_tables();
	if (object)
		ntrace_object_put(object);
	return done_testing();
}
