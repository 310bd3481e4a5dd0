// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core files, as of /proc/kcore: headers and segments that must be refused or left out, reading over
 * segments and gaps, and the writer.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "scratch.h"
#include "sideband/core.h"
#include "tap.h"

#define DATA_AT 0x1000

static struct {
	Elf64_Ehdr header;
	Elf64_Phdr segments[4];
	uint8_t data[64];
	size_t size;	/* of the file */
} made;

/* Two segments of 16 bytes, 8 bytes apart, the later one first. */
static void begin(void)
{
	memset(&made, 0, sizeof(made));
	made.header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
						 EV_CURRENT },
				    .e_type = ET_CORE,
				    .e_machine = EM_RISCV,
				    .e_phoff = 64,
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = 2 };
	made.segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_offset = DATA_AT + 16, .p_vaddr = 0x8018, .p_filesz = 16
	};
	made.segments[1] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_offset = DATA_AT, .p_vaddr = 0x8000, .p_filesz = 16
	};
	for (unsigned int i = 0; i < sizeof(made.data); i++)
		made.data[i] = (uint8_t)(i + 1);
	made.size = DATA_AT + 32;
}

static int opens(struct core *core, bool memory)
{
	FILE *file = fopen(in("core"), "w");

	if (!file)
		exit(2);
	fwrite(&made.header, sizeof(made.header), 1, file);
	fseek(file, 64, SEEK_SET);
	fwrite(made.segments, sizeof(made.segments), 1, file);
	fseek(file, DATA_AT, SEEK_SET);
	fwrite(made.data, sizeof(made.data), 1, file);
	fclose(file);
	run("truncate -s %zu %s", made.size, in("core"));
	return core_open(core, in("core"), memory);
}

static void check_open(int want, const char *what)
{
	struct core core;

	is_u64((uint64_t)opens(&core, false), (uint64_t)want, "%s", what);
	if (!want)
		core_close(&core);
}

static void test_header(void)
{
	struct core core;

	begin();
	check_open(0, "a core file");
	made.header.e_machine = EM_X86_64;
	check_open(NTRACE_ERR_NOTRISCV, "of another machine");
	begin();
	made.header.e_ident[0] = 0;
	check_open(NTRACE_ERR_FORMAT, "another magic number");
	begin();
	made.header.e_ident[EI_CLASS] = ELFCLASS32;
	check_open(NTRACE_ERR_FORMAT, "of 32 bits");
	begin();
	made.header.e_ident[EI_DATA] = ELFDATA2MSB;
	check_open(NTRACE_ERR_FORMAT, "big endian");
	begin();
	made.header.e_type = ET_EXEC;
	check_open(NTRACE_ERR_FORMAT, "a program");
	begin();
	made.header.e_phentsize--;
	check_open(NTRACE_ERR_FORMAT, "segments of another size");
	begin();
	made.header.e_phoff = (uint64_t)INT32_MAX + 1;
	check_open(NTRACE_ERR_FORMAT, "segments far away");
	begin();
	made.header.e_phoff = made.size - 2 * sizeof(Elf64_Phdr) + 1;
	check_open(NTRACE_ERR_FORMAT, "segments that leave the file");
	begin();
	made.size = 63;
	check_open(NTRACE_ERR_FORMAT, "a header that is cut");
	errno = 0;
	is_u64((uint64_t)core_open(&core, in("none"), false), (uint64_t)NTRACE_ERR_IO,
	       "no such file");
	is_u64((uint64_t)errno, ENOENT, "errno says so");
}

/* Reads @size bytes. Return: "HAD: BYTES" */
static const char *text_at(const struct core *core, uint64_t address, uint64_t size)
{
	static char text[400];
	uint8_t bytes[64];
	size_t used;

	memset(bytes, 0xee, sizeof(bytes));
	used = (size_t)sprintf(text, "%u:", (unsigned int)core_read(core, address, bytes, size));
	for (uint64_t i = 0; i < size; i++)
		used += (size_t)sprintf(text + used, " %u", bytes[i]);
	if (bytes[size] != 0xee)
		ok(false, "no byte after the buffer is written");
	return text;
}

static void test_reading(void)
{
	static const struct {
		uint64_t address, size;
		const char *text;
	} cases[] = {
		{ 0x8000, 3, "3: 1 2 3" },
		{ 0x800d, 3, "3: 14 15 16" },
		{ 0x800e, 3, "2: 15 16 0" },
		{ 0x7ffe, 3, "1: 0 0 1" },
		{ 0x8010, 8, "0: 0 0 0 0 0 0 0 0" },
		{ 0x8017, 2, "1: 0 17" },
		{ 0x8018, 2, "2: 17 18" },
		{ 0x8026, 3, "2: 31 32 0" },
		{ 0x8028, 1, "0: 0" },
		{ 0x800f, 11, "3: 16 0 0 0 0 0 0 0 0 17 18" },
		{ 0x7ffd, 3, "0: 0 0 0" },
		{ 0x8000, 1, "1: 1" },
	};
	struct core core;

	for (unsigned int memory = 0; memory < 2; memory++) {
		begin();
		is_u64((uint64_t)opens(&core, memory), 0, "a core file");
		ok(core.count == 2 && core.pieces[0].address == 0x8000 &&
			   core.pieces[1].address == 0x8018,
		   "segments in the order of addresses");
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			is_str(text_at(&core, cases[i].address, cases[i].size), cases[i].text,
			       "%u bytes at %#x", (unsigned int)cases[i].size,
			       (unsigned int)cases[i].address);
		core_close(&core);
		ok(core.fd == -1 && !core.pieces && !core.count, "closed");
	}
}

/* Segments that are left out. */
static void test_segments(void)
{
	struct core core;

	begin();
	made.segments[0].p_type = PT_NOTE;
	opens(&core, false);
	ok(core.count == 1 && core.pieces[0].address == 0x8000, "one that is not loaded");
	core_close(&core);
	begin();
	made.segments[0].p_filesz = 0;
	opens(&core, false);
	is_u64(core.count, 1, "one without bytes");
	core_close(&core);
	begin();
	made.segments[0].p_vaddr = UINT64_MAX - 14;
	opens(&core, false);
	is_u64(core.count, 1, "one beyond the end of memory");
	core_close(&core);
	begin();
	made.segments[0].p_vaddr = UINT64_MAX - 15;
	opens(&core, false);
	is_u64(core.count, 2, "but not one up to the end");
	core_close(&core);
	begin();
	made.segments[0].p_offset = UINT64_MAX - 14;
	opens(&core, true);
	is_u64(core.count, 1, "one whose place in the file overflows");
	core_close(&core);
	made.segments[0].p_offset = INT64_MAX - 15;
	opens(&core, true);
	is_u64(core.count, 1, "one that no file can have");
	core_close(&core);
	made.segments[0].p_offset = INT64_MAX - 16;
	opens(&core, true);
	is_u64(core.count, 2, "but not the last one that it can");
	core_close(&core);
	begin();
	made.segments[0].p_vaddr = 0x800f;
	opens(&core, false);
	ok(core.count == 1 && core.pieces[0].address == 0x8000, "one that overlaps");
	core_close(&core);
	made.segments[0].p_vaddr = 0x8010;
	opens(&core, false);
	is_u64(core.count, 2, "but not one directly after another");
	is_str(text_at(&core, 0x800f, 3), "3: 16 17 18", "both are read at once");
	core_close(&core);
}

/* Files that are shorter than their segments. */
static void test_cut(void)
{
	struct core core;

	begin();
	made.size = DATA_AT + 20;
	is_u64((uint64_t)opens(&core, false), 0, "a file that ends in its last segment");
	is_str(text_at(&core, 0x8018, 5), "4: 17 18 19 20 0", "has what is there");
	core_close(&core);
	made.size = DATA_AT + 16;
	check_open(NTRACE_ERR_FORMAT, "a file without its last segment");
	is_u64((uint64_t)opens(&core, true), 0, "memory has no size");
	core_close(&core);
	begin();
	made.segments[0].p_offset = 0;
	made.segments[1].p_offset = 0;
	made.segments[0].p_filesz = made.size / 2 + 1;
	made.segments[1].p_filesz = made.size / 2;
	made.segments[0].p_vaddr = 0x100000;
	check_open(NTRACE_ERR_FORMAT, "segments that together are larger than the file");
	made.segments[0].p_filesz--;
	check_open(0, "as large as the file");
}

static void test_writer(void)
{
	uint8_t *large = calloc(1, 5000), got[8];
	struct core_writer *writer;
	struct core core;

	large[4999] = 7;
	is_u64((uint64_t)core_writer_open(&writer, in("written")), 0, "a writer");
	ok(!core_writer_add(writer, 0x9000, "abcd", 4) &&
		   !core_writer_add(writer, 0x20000, large, 5000) &&
		   !core_writer_add(writer, 0x8000, "efgh", 4) && !core_writer_close(writer),
	   "three segments");
	is_u64((uint64_t)core_open(&core, in("written"), false), 0, "can be opened");
	is_u64(core.count, 3, "their number");
	ok(core_read(&core, 0x9000, got, 4) == 4 && !memcmp(got, "abcd", 4), "the first one");
	ok(core_read(&core, 0x8000, got, 4) == 4 && !memcmp(got, "efgh", 4), "the last one");
	ok(core_read(&core, 0x20000 + 4999, got, 1) == 1 && got[0] == 7, "the large one");
	for (size_t i = 0; i < core.count; i++)
		ok(!(core.pieces[i].offset % 4096), "segments begin at pages");
	core_close(&core);
	core_writer_open(&writer, in("written"));
	is_u64((uint64_t)core_writer_close(writer), 0, "a file without segments");
	is_u64((uint64_t)core_open(&core, in("written"), true), 0, "can be opened");
	is_u64(core.count, 0, "and has none");
	core_close(&core);
	is_u64((uint64_t)core_writer_open(&writer, in("none/written")), (uint64_t)NTRACE_ERR_IO,
	       "no such directory");
	is_u64((uint64_t)core_writer_open(&writer, "/dev/full"), 0, "a full device");
	errno = 0;
	is_u64((uint64_t)core_writer_add(writer, 0, "abcd", 4), (uint64_t)NTRACE_ERR_IO,
	       "takes no segment");
	is_u64((uint64_t)core_writer_close(writer), (uint64_t)NTRACE_ERR_IO, "and is not written");
	is_u64((uint64_t)errno, ENOSPC, "errno says why");
	free(large);
}

int main(void)
{
	if (!scratch_make())
		return 1;
	test_header();
	test_reading();
	test_segments();
	test_cut();
	test_writer();
	scratch_remove();
	return done_testing();
}
