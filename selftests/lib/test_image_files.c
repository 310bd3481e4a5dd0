// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files other than programs: separate debug files made by objcopy, an ELF file in memory, modules
 * compared with the output of ld for the same addresses, and jump vector tables.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <ntrace/image.h>

#include "scratch.h"
#include "tap.h"

#define TOOL "riscv64-linux-gnu-"

static const char source[] =
	"__attribute__((noinline)) int shown(int x) { asm volatile(\"\"); return x * 3; }\n"
	"static __attribute__((noinline)) int hidden(int x) { asm volatile(\"\"); return x + 7; }\n"
	"int entry(int x) { return shown(x) + hidden(x); }\n";

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static uint64_t number(const char *format, const char *file, const char *name)
{
	char command[1024], line[64] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), format, in(file), name);
	pipe = popen(command, "r");
	if (pipe) {
		if (!fgets(line, sizeof(line), pipe))
			line[0] = 0;
		pclose(pipe);
	}
	return strtoull(line, NULL, 16);
}

static uint64_t nm(const char *file, const char *symbol)
{
	return number(TOOL "nm %s | awk '$3 == \"%s\" { print $1 }'", file, symbol);
}

/* The object's symbol for a link address. */
static const char *name_at(struct ntrace_object *object, uint64_t address)
{
	static char name[64];
	struct ntrace_location location;
	struct ntrace_space *space;

	ntrace_space_new(&space, "names", NULL);
	ntrace_space_map_linked(space, object, 0);
	ntrace_space_locate(space, address, &location);
	snprintf(name, sizeof(name), "%s", location.symbol ? location.symbol : "-");
	ntrace_space_put(space);
	return name;
}

/* ---- separate debug files ---- */

static const char *const *debug_directories(void)
{
	static const char *list[3];

	list[0] = in("none");
	list[1] = in("debug");
	return list;
}

static void try_debug(const char *what, int expected, const char *found)
{
	uint64_t hidden = nm("whole.so", "hidden");
	struct ntrace_object *object;
	char path[512];
	int ret;

	if (ntrace_object_open_elf(&object, in("app.so"))) {
		ok(false, "opens app.so");
		return;
	}
	errno = 0;
	ret = ntrace_object_add_debug_file(object, debug_directories());
	is_u64(ret, expected, "%s", what);
	if (ret == NTRACE_ERR_IO)
		is_u64(errno, ENOENT, "errno says that there is none");
	if (found) {
		snprintf(path, sizeof(path), "%s", in(found));
		is_str(ntrace_object_debug_name(object), path, "found there");
		is_str(name_at(object, hidden), "hidden", "the static function has its name");
		is_u64(ntrace_object_add_debug_file(object, debug_directories()), 0,
		       "a second time is harmless");
	} else {
		ok(!ntrace_object_debug_name(object), "no debug file is named");
		is_str(name_at(object, nm("whole.so", "shown")), "shown", ".dynsym is still used");
		ok(strcmp(name_at(object, hidden), "hidden") != 0, "no symbol of another file");
	}
	ntrace_object_put(object);
}

static bool build_debug(void)
{
	static const char cc[] = TOOL "gcc -O2 -fPIC -shared -nostdlib -g0 "
				      "-fasynchronous-unwind-tables -Wl,--build-id";

	write_text(in("a.c"), source);
	return !run("%s %s -o %s", cc, in("a.c"), in("whole.so")) &&
	       !run(TOOL "objcopy --only-keep-debug %s %s", in("whole.so"), in("app.debug")) &&
	       !run("cd %s && " TOOL "objcopy --strip-all --add-gnu-debuglink=app.debug %s %s",
		    directory, in("whole.so"), in("app.so")) &&
	       !run("%s=0x1122334455667788990011223344556677889900 -Dhidden=buried %s -o %s", cc,
		    in("a.c"), in("other.so"));
}

/* Where perf looks for the debug files of distributions. The name in .gnu_debuglink is another one. */
static void try_debug_paths(void)
{
	static const char *const ends[] = { ".debug", "" };
	char path[300];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "debug%s/app.so%s", directory, ends[i]);
		run("cp %s %s", in("aside"), in(path));
		try_debug(i ? "named as the program" : "with .debug at the end of the name", 0,
			  path);
		run("cp %s %s", in("other.so"), in(path));
		try_debug("that of another build is refused", NTRACE_ERR_BUILDID, NULL);
		run("rm %s", in(path));
	}
	run("cp %s %s", in("aside"), in(".debug/app.so"));
	try_debug("named as the program, in .debug beside it", 0, ".debug/app.so");
	run("rm %s", in(".debug/app.so"));
}

static void test_debug_files(void)
{
	char id[64] = "", target[600];
	const uint8_t *build_id;
	struct ntrace_object *object;
	size_t size, i;

	if (!ok(build_debug(), "objcopy separates a debug file"))
		return;
	ntrace_object_open_elf(&object, in("app.so"));
	build_id = ntrace_object_build_id(object, &size);
	for (i = 0; i < size; i++)
		snprintf(id + 2 * i + (i > 0), 4, i ? "%02x" : "%02x/", build_id[i]);
	ntrace_object_put(object);
	snprintf(target, sizeof(target), "debug/.build-id/%s.debug", id);
	run("mkdir -p $(dirname %s) %s %s%s", in(target), in(".debug"), in("debug"), directory);

	try_debug("beside the file, by .gnu_debuglink", 0, "app.debug");
	run("mv %s %s", in("app.debug"), in(".debug/"));
	try_debug("in .debug beside it", 0, ".debug/app.debug");
	run("mv %s %s%s", in(".debug/app.debug"), in("debug"), directory);
	{
		char under[600];

		snprintf(under, sizeof(under), "debug%s/app.debug", directory);
		try_debug("in a directory of debug files, by path", 0, under);
		run("mv %s %s", in(under), in(target));
	}
	try_debug("by build-id", 0, target);
	run("mv %s %s", in(target), in("aside"));
	try_debug_paths();
	try_debug("nowhere", NTRACE_ERR_IO, NULL);
	run("cp %s %s", in("other.so"), in(target));
	try_debug("another build under this build-id is refused", NTRACE_ERR_BUILDID, NULL);
	run("head -c 900 %s > %s", in("aside"), in(target));
	try_debug("a truncated debug file is refused", NTRACE_ERR_FORMAT, NULL);
	run("rm %s; cp %s %s; printf x >> %s", in(target), in("aside"), in("app.debug"),
	    in("app.debug"));
	try_debug("the checksum of .gnu_debuglink must match", NTRACE_ERR_BUILDID, NULL);
	run("cp %s %s; cp %s %s", in("aside"), in(target), in("app.so"), in("app.debug"));
	try_debug("the build-id takes precedence over the link", 0, target);
}

/* ---- ELF in memory ---- */

static uint8_t *load(const char *file, size_t *size)
{
	FILE *in_file = fopen(in(file), "rb");
	uint8_t *bytes = malloc(1 << 20);

	*size = in_file && bytes ? fread(bytes, 1, 1 << 20, in_file) : 0;
	if (in_file)
		fclose(in_file);
	return bytes;
}

static void test_memory(void)
{
	struct ntrace_object *object;
	size_t size;
	uint8_t *bytes = load("whole.so", &size);

	is_u64(ntrace_object_open_elf_memory(&object, "[vdso]", bytes, size), 0,
	       "an ELF file in memory");
	memset(bytes, 0, size);
	is_str(ntrace_object_name(object), "[vdso]", "has the name given by the caller");
	is_str(name_at(object, nm("whole.so", "hidden")), "hidden", "has symbols of its own copy");
	ntrace_object_put(object);
	is_u64(ntrace_object_open_elf_memory(&object, "zeros", bytes, size), NTRACE_ERR_FORMAT,
	       "no ELF");
	is_u64(ntrace_object_open_elf_memory(&object, "nothing", bytes, 0), NTRACE_ERR_FORMAT,
	       "no bytes");
	free(bytes);
}

/* ---- modules ---- */

#define TEXT 0xffffffff01000000
#define COLD 0xffffffff01004000
#define TEXT32 0x41000000
#define COLD32 0x41004000

/* Every relocated control transfer, forwards and backwards, inside and across sections. */
static const char module_source[] =
	".text\n"
	".globl first\n.type first,@function\nfirst:\n"
	"1: nop\n beq a0,a1,2f\n bltu a3,a4,1b\n c.beqz a0,2f\n c.bnez a5,1b\n c.j 2f\n c.j 1b\n"
	" jal t2,2f\n jal x0,1b\n call second\n call cold\n tail cold\n call outside\n"
	"2: nop\n beq a0,a1,1b\n c.bnez s1,1b\n bgeu t3,t4,3f\n ret\n"
	".size first,.-first\n"
	".type second,@function\nsecond: jal ra,first\n c.beqz a1,second\n"
	"3: .fill 200,2,0x0001\n c.beqz a2,4f\n j 1b\n bne s0,s1,first\n .fill 60,2,0x0001\n4: "
	"ret\n"
	".size second,.-second\n"
	".section .cold,\"ax\",@progbits\n"
	".globl cold\n.type cold,@function\ncold: call first\n j cold\n beqz a0,cold\n ret\n"
	".size cold,.-cold\n"
	".section .rodata\n.globl data\ndata: .word 1\n";

static bool build_module(bool rv32)
{
	write_text(in("m.s"), module_source);
	return !run(TOOL "as -march=rv%sgc -mabi=%s -o %s %s", rv32 ? "32" : "64",
		    rv32 ? "ilp32d" : "lp64d", in("m.o"), in("m.s")) &&
	       !run(TOOL "ld -m elf%slriscv --no-relax -e first --defsym=outside=first "
			 "--section-start=.text=0x%" PRIx64 " --section-start=.cold=0x%" PRIx64
			 " -o %s %s",
		    rv32 ? "32" : "64", rv32 ? (uint64_t)TEXT32 : TEXT,
		    rv32 ? (uint64_t)COLD32 : COLD, in("m.linked"), in("m.o")) &&
	       !run(TOOL "objcopy -O binary -j .text %s %s", in("m.linked"), in("m.text")) &&
	       !run(TOOL "objcopy -O binary -j .cold %s %s", in("m.linked"), in("m.cold"));
}

/* Bytes must equal those of ld, unless marked uncertain. Return: number of the uncertain ones. */
static void compare_section(struct ntrace_space *space, uint64_t address, const char *file,
			    unsigned int expected_uncertain)
{
	unsigned int wrong = 0, uncertain = 0;
	size_t size, available, i;
	uint8_t *linked = load(file, &size);
	const uint8_t *data;

	for (i = 0; i < size; i++) {
		struct ntrace_location location;

		if (ntrace_space_read(space, address + i, &data, &available) ||
		    ntrace_space_locate(space, address + i, &location)) {
			wrong++;
			continue;
		}
		uncertain += location.uncertain;
		if (!location.uncertain && data[0] != linked[i] && wrong++ < 5)
			diag("%s + 0x%zx: %02x, ld has %02x", file, i, data[0], linked[i]);
	}
	ok(size > 8 && !wrong, "%s: %zu bytes as ld links them", file, size);
	is_u64(uncertain, expected_uncertain, "bytes known only to the kernel");
	free(linked);
}

static void test_module(bool rv32)
{
	const uint64_t text = rv32 ? TEXT32 : TEXT, cold = rv32 ? COLD32 : COLD;
	struct ntrace_section_address sections[] = {
		{ ".text", text },
		{ ".cold", cold },
		{ ".not.there", 0x1000 },
	};
	struct ntrace_object *object;
	struct ntrace_space *space;

	if (!ok(build_module(rv32), "a module for RV%s", rv32 ? "32" : "64"))
		return;
	is_u64(ntrace_object_open_module(&object, in("m.o"), sections, 3), 0, "opens it");
	is_u64(ntrace_object_isa(object)->xlen, rv32 ? 32 : 64, "XLEN");
	ntrace_space_new(&space, "module", NULL);
	ntrace_space_map_linked(space, object, 0);
	compare_section(space, text, "m.text", 8); /* call outside */
	compare_section(space, cold, "m.cold", 0);
	is_str(name_at(object, nm("m.linked", "second") + 2), "second", "symbol of .text");
	is_str(name_at(object, nm("m.linked", "cold") + 2), "cold", "symbol of .cold");
	ntrace_space_put(space);
	ntrace_object_put(object);
	/* Sections far apart: a target out of range makes the bytes uncertain, not wrong. */
	sections[1].address = rv32 ? 0x1000 : 0x7fff00000000;
	is_u64(ntrace_object_open_module(&object, in("m.o"), sections, 2), 0, "far sections");
	ntrace_space_new(&space, "far", NULL);
	ntrace_space_map_linked(space, object, 0);
	if (!rv32)
		compare_section(space, text, "m.text", 8 + 16);
	ntrace_space_put(space);
	ntrace_object_put(object);
	is_u64(ntrace_object_open_module(&object, in("m.o"), sections, 0), 0, "no sections");
	ok(ntrace_object_segment(object, 0, &(uint64_t){ 0 }, &(uint64_t){ 0 }, &(bool){ 0 }) ==
		   NTRACE_ERR_INVALID,
	   "no segments");
	ntrace_object_put(object);
	sections[0].address = UINT64_MAX - 2;
	is_u64(ntrace_object_open_module(&object, in("m.o"), sections, 1), NTRACE_ERR_INVALID,
	       "a section that wraps round");
	is_u64(ntrace_object_open_module(&object, in("m.linked"), sections, 1), NTRACE_ERR_FORMAT,
	       "a program is no module");
}

/* No prefix of a truncated program is accepted as a program; for a core file each prefix is. */
static void test_cut(void)
{
	static uint8_t bytes[1 << 20];
	struct ntrace_object *object;
	size_t size, taken = 0, other = 0;
	FILE *file;

	if (!ok(build_debug(), "objcopy separates a debug file"))
		return;
	file = fopen(in("app.so"), "r");
	size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file)
		fclose(file);
	for (size_t cut = 64; cut < size; cut++) {
		int error = ntrace_object_open_elf_memory(&object, "cut", bytes, cut);

		taken += !error;
		other += error != NTRACE_ERR_TRUNCATED && error != NTRACE_ERR_FORMAT;
		if (!error)
			ntrace_object_put(object);
	}
	ok(size > 4096 && !taken && !other, "%zu of %zu prefixes are taken, %zu other errors",
	   taken, size, other);
	is_u64((uint64_t)ntrace_object_open_elf_memory(&object, "cut", bytes, size - 1),
	       (uint64_t)NTRACE_ERR_TRUNCATED, "a byte of the section headers is missing");
	bytes[16] = 4; /* e_type ET_CORE */
	is_u64((uint64_t)ntrace_object_open_elf_memory(&object, "core", bytes, size - 1), 0,
	       "a truncated core file is accepted");
	ntrace_object_put(object);
}

/* ---- notes and frame descriptions ---- */

/*
 * Two notes in one section: the first has a padded name and description, the second is the
 * build-id.
 */
static const char note_source[] =
	".text\n.globl _start\n_start: ret\n"
	".section .note.two,\"a\",@note\n.balign 4\n"
	" .long 5,6,1\n .asciz \"Some\"\n .balign 4\n .byte 1,2,3,4,5,6\n .balign 4\n"
	" .long 4,20,3\n .asciz \"GNU\"\n .byte 0x11,0x22,0x33\n .fill 17,1,0x44\n";

static void test_second_note(void)
{
	struct ntrace_object *object;
	const uint8_t *build_id;
	size_t size;

	write_text(in("n.s"), note_source);
	if (!ok(!run(TOOL "as -o %s %s && " TOOL "ld --build-id=none -o %s %s", in("n.o"),
		     in("n.s"), in("n.elf"), in("n.o")) &&
			!ntrace_object_open_elf(&object, in("n.elf")),
		"a program with two notes"))
		return;
	build_id = ntrace_object_build_id(object, &size);
	ok(size == 20 && !memcmp(build_id, "\x11\x22\x33\x44", 4) && build_id[19] == 0x44,
	   "the second one is the build-id");
	ntrace_object_put(object);
}

/* The name at @address, "" if there is none. */
static const char *symbol_of(const char *path, uint64_t address)
{
	struct ntrace_location location = { 0 };
	struct ntrace_object *object;
	struct ntrace_space *space;
	static char name[64];

	name[0] = '\0';
	if (ntrace_object_open_elf(&object, path))
		return "not opened";
	if (!ntrace_space_new(&space, "", NULL)) {
		if (!ntrace_space_map_linked(space, object, 0) &&
		    !ntrace_space_locate(space, address, &location) && location.symbol)
			snprintf(name, sizeof(name), "%s", location.symbol);
		ntrace_space_put(space);
	}
	ntrace_object_put(object);
	return name;
}

/* Symbols whose names are in a section other than a string table have no names. */
static void test_names_elsewhere(void)
{
	static uint8_t bytes[65536];
	Elf64_Ehdr header;
	Elf64_Shdr section;
	size_t size;
	FILE *file;

	write_text(in("s.s"),
		   ".globl _start\n.type _start, @function\n_start: nop\n.size _start, 4\n");
	if (!ok(!run(TOOL "as -march=rv64g -o %s %s && " TOOL "ld -Ttext=0x10000 -o %s %s",
		     in("s.o"), in("s.s"), in("s.elf"), in("s.o")),
		"a program with a symbol"))
		return;
	is_str(symbol_of(in("s.elf"), 0x10000), "_start", "has its name");
	file = fopen(in("s.elf"), "r+");
	size = fread(bytes, 1, sizeof(bytes), file);
	memcpy(&header, bytes, sizeof(header));
	for (unsigned int i = 0; i < header.e_shnum; i++) {
		size_t at = header.e_shoff + i * sizeof(section);

		if (at + sizeof(section) > size)
			break;
		memcpy(&section, bytes + at, sizeof(section));
		if (section.sh_type != SHT_STRTAB)
			continue;
		section.sh_type = SHT_PROGBITS;
		fseek(file, (long)at, SEEK_SET);
		fwrite(&section, sizeof(section), 1, file);
	}
	fclose(file);
	is_str(symbol_of(in("s.elf"), 0x10000), "", "which is not taken from another section");
}

/* A function whose frame description names register 200, which needs two bytes in LEB128. */
static const char frame_source[] =
	".text\n.globl _start\n_start: nop\n"
	"buried: .cfi_startproc\n .cfi_return_column 200\n nop\n nop\n .cfi_endproc\n"
	"handled: .cfi_startproc\n .cfi_personality 0x9b,personality\n .cfi_lsda 0x03,area\n"
	" .cfi_signal_frame\n nop\n nop\n .cfi_endproc\n"
	".data\n.balign 8\npersonality: .dword _start\narea: .dword 0\n";

/*
 * The function of frame_source by its range alone. LSB: the register is one byte in version 1 and
 * LEB128 in version 3. On RV32 a distance to code in the upper half wraps; on RV64 the code
 * precedes its frames.
 */
static void test_frames(unsigned int version, bool rv32)
{
	char name[32], stripped[32];
	struct ntrace_object *object;
	uint64_t buried;

	write_text(in("f.s"), frame_source);
	if (!ok(!run(TOOL "as --gdwarf-cie-version=%u -march=rv%s -mabi=%s -o %s %s", version,
		     rv32 ? "32i" : "64i", rv32 ? "ilp32" : "lp64", in("f.o"), in("f.s")) &&
			!run(TOOL "ld -m elf%slriscv --no-relax --section-start=.eh_frame=0x%s "
				  "-Ttext=0x%s -o %s %s",
			     rv32 ? "32" : "64", rv32 ? "10000" : "30000",
			     rv32 ? "f0000000" : "20000", in("f.elf"), in("f.o")) &&
			!run(TOOL "strip -o %s %s", in("f.stripped"), in("f.elf")) &&
			!ntrace_object_open_elf(&object, in("f.stripped")),
		"a stripped program of RV%s with frames of version %u", rv32 ? "32" : "64",
		version))
		return;
	buried = nm("f.elf", "buried");
	snprintf(name, sizeof(name), "sub_%" PRIx64, buried);
	snprintf(stripped, sizeof(stripped), "%s", name_at(object, buried + 4));
	is_str(stripped, name, "the function is known by its frame description");
	is_str(name_at(object, buried - 4), "-", "which begins with it");
	snprintf(name, sizeof(name), "sub_%" PRIx64, buried + 8);
	is_str(name_at(object, buried + 15), name, "one with a personality and an LSDA");
	is_str(name_at(object, buried + 16), "-", "its range ends after it");
	ntrace_object_put(object);
}

/* ---- ISA and jump vector table ---- */

static const char table_source[] =
	".text\n.globl _start\n_start: .half 0xa002 + (3 << 2)\n .half 0xa002 + (40 << 2)\n"
	".section .riscv.jvt,\"a\"\n.balign 64\n.globl __jvt_base$\n__jvt_base$:\n"
	".rept 40\n ENTRY _start\n.endr\n ENTRY _start + 2 + 1\n";

/* 'A' { length "riscv\0" { Tag_File length { others, Tag_RISCV_arch TEXT } } } */
static void write_attributes(const char *path, const char *arch)
{
	/*
	 * Even tags have a number, odd ones a string, including unknown tags: 4, stack alignment;
	 * 3; 200. The bytes of "unknown" would hide the tag after it if they were taken for tags.
	 */
	static const char others[] = "\4\20\3unknown\0\310\1\220\1";
	uint32_t known = sizeof(others) - 1, attributes = known + (uint32_t)strlen(arch) + 2;
	uint32_t file = attributes + 5, all = file + 10;
	FILE *out = fopen(path, "wb");

	if (!out)
		return;
	fputc('A', out);
	fwrite(&all, 4, 1, out);
	fwrite("riscv", 6, 1, out);
	fputc(1, out);
	fwrite(&file, 4, 1, out);
	fwrite(others, known, 1, out);
	fputc(5, out);
	fwrite(arch, strlen(arch) + 1, 1, out);
	fclose(out);
}

static bool build_table(bool rv32, const char *arch)
{
	write_text(in("t.s"), table_source);
	write_attributes(in("t.attributes"), arch);
	return !run("sed -i s/ENTRY/%s/ %s", rv32 ? ".word" : ".dword", in("t.s")) &&
	       !run(TOOL "as -march=rv%simac -mabi=%s -o %s %s", rv32 ? "32" : "64",
		    rv32 ? "ilp32" : "lp64", in("t.o"), in("t.s")) &&
	       !run(TOOL "ld -m elf%slriscv -o %s %s", rv32 ? "32" : "64", in("t.elf"),
		    in("t.o")) &&
	       !run(TOOL "objcopy --update-section .riscv.attributes=%s %s", in("t.attributes"),
		    in("t.elf"));
}

static void test_table(bool rv32)
{
	const char *arch = rv32 ? "rv32i2p1_m2p0_zca1p0_zcmp1p0_zcmt1p0" :
				  "rv64i2p1_m2p0_zca1p0_zcmp1p0_zcmt1p0";
	struct ntrace_space *space, *other;
	struct ntrace_object *object;
	const struct ntrace_isa *isa;
	uint64_t start, base, target, bias = 0x1000000, elsewhere, offset;
	const uint8_t *data;
	uint8_t bytes[4];
	FILE *file;
	struct ntrace_insn insn;
	size_t available;

	if (!ok(build_table(rv32, arch), "a program with a jump vector table, %s", arch))
		return;
	ntrace_object_open_elf(&object, in("t.elf"));
	isa = ntrace_object_isa(object);
	ok(isa->xlen == (rv32 ? 32 : 64) && isa->compressed && isa->push_pop && isa->table_jumps,
	   "ISA from .riscv.attributes");
	start = nm("t.elf", "_start");
	is_u64(ntrace_object_jump_table(object, &base), 0, "the table is known");
	is_hex(base, nm("t.elf", "__jvt_base$"), "from the symbol that nm shows");
	is_u64(ntrace_object_entry(object, &elsewhere, &offset), 0, "it has an entry point");
	is_hex(elsewhere, start, "at _start");
	ntrace_space_new(&space, "table", NULL);
	ntrace_space_map_linked(space, object, 0);
	ntrace_space_read(space, start, &data, &available);
	file = fopen(in("t.elf"), "rbe");
	ok(file && !fseek(file, (long)offset, SEEK_SET) &&
		   fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) &&
		   !memcmp(bytes, data, sizeof(bytes)),
	   "which the file has there");
	if (file)
		fclose(file);
	ntrace_space_read(space, start + 2, &data, &available);
	is_u64(ntrace_insn_decode(isa, data, available, start + 2, &insn), 0, "decodes CM.JALT");
	ok(insn.table_jump && insn.table_index == 40 && insn.insn_class == NTRACE_INSN_CALL,
	   "as call 40");
	is_u64(ntrace_space_table_target(space, &insn, start + 2, NULL, &target), 0,
	       "has a target");
	is_hex(target, start + 2, "entry 40 without its lowest bit");
	insn.table_index = 3;
	is_u64(ntrace_space_table_target(space, &insn, start, NULL, &target), 0, "entry 3");
	is_hex(target, start, "is _start");
	insn.table_index = 255;
	is_u64(ntrace_space_table_target(space, &insn, start, NULL, &target), NTRACE_ERR_NOMAP,
	       "an entry beyond the file");
	is_hex(target, base + 255 * (rv32 ? 4 : 8), "the address that could not be read");
	ntrace_space_new(&other, "moved", NULL);
	ntrace_space_map_linked(other, object, bias);
	insn.table_index = 40;
	is_u64(ntrace_space_table_target(other, &insn, start + bias, NULL, &target), 0,
	       "the table moves with the program");
	is_hex(target, start + 2, "its entries, which are not relocated here, do not");
	elsewhere = base + bias - (rv32 ? 4 : 8) * 40;
	insn.table_index = 80;
	is_u64(ntrace_space_table_target(other, &insn, 0x10, &elsewhere, &target), 0,
	       "a table given by the caller");
	is_hex(target, start + 2, "its entry");
	is_u64(ntrace_space_table_target(other, &insn, 0x10, NULL, &target), NTRACE_ERR_NOMAP,
	       "no object at the jump");
	insn.table_jump = false;
	is_u64(ntrace_space_table_target(other, &insn, start, NULL, &target), NTRACE_ERR_INVALID,
	       "no table jump");
	ntrace_space_put(other);
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void is_isa(const char *arch, bool push_pop, bool embedded, const char *what)
{
	struct ntrace_object *object;

	if (!ok(build_table(false, arch), "a program of %s", arch))
		return;
	ntrace_object_open_elf(&object, in("t.elf"));
	ok(ntrace_object_isa(object)->push_pop == push_pop &&
		   ntrace_object_isa(object)->embedded == embedded &&
		   ntrace_object_isa(object)->xlen == 64 && ntrace_object_isa(object)->compressed,
	   "%s", what);
	ntrace_object_put(object);
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
	} else if (run("command -v " TOOL "gcc > /dev/null")) {
		skip("ELF files", TOOL "gcc is not installed");
	} else {
		test_cut();
		test_debug_files();
		test_memory();
		test_module(false);
		test_module(true);
		test_second_note();
		test_names_elsewhere();
		for (unsigned int version = 1; version <= 3; version += 2) {
			test_frames(version, false);
			test_frames(version, true);
		}
		test_table(false);
		test_table(true);
		is_isa("rv64e2p0_c2p0", false, true, "E from the attributes");
		is_isa("rv64i2p1_zcmp1p0", true, false, "C of the header stays");
		is_isa("rv64gc_zcmp1p0", false, false, "contradicting attributes do not count");
		is_isa("rv32i2p1_zcmp1p0", false, false, "neither do those of another XLEN");
	}
	scratch_remove();
	return done_testing();
}
