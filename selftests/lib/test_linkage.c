// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of code that symbol tables do not have, or not with a size: entries of the PLT, resolvers and the functions
 * that they choose, .gnu_debugdata, symbols without a size, and files without program headers. The files are those of
 * GNU's tools, and the addresses those of nm and objdump.
 */
#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/error.h>
#include <ntrace/image.h>

#include "scratch.h"
#include "tap.h"

#define TOOL "riscv64-linux-gnu-"

static void write_file(const char *name, const void *data, size_t size)
{
	FILE *file = fopen(in(name), "w");

	if (file) {
		fwrite(data, 1, size, file);
		fclose(file);
	}
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

/* The first hexadecimal number that a command prints. */
static uint64_t number(const char *command)
{
	char line[64] = "", whole[1024];
	FILE *pipe;

	snprintf(whole, sizeof(whole), "cd %s && %s", directory, command);
	pipe = popen(whole, "r");
	if (pipe && !fgets(line, sizeof(line), pipe))
		line[0] = 0;
	if (pipe)
		pclose(pipe);
	return strtoull(line, NULL, 16);
}

static uint64_t nm(const char *file, const char *symbol)
{
	char command[256];

	snprintf(command, sizeof(command), TOOL "nm %s | awk '$3 == \"%s\" { print $1 }'", file,
		 symbol);
	return number(command);
}

static uint64_t plt(const char *file, const char *entry)
{
	char command[256];

	snprintf(command, sizeof(command),
		 TOOL "objdump -d -j .plt %s | awk '$2 == \"<%s@plt>:\" { print $1 }'", file,
		 entry);
	return number(command);
}

static struct ntrace_object *object;

static bool opened(const char *file)
{
	int error;

	ntrace_object_put(object);
	object = NULL;
	error = ntrace_object_open_elf(&object, in(file));
	return ok(!error, "opens %s", file);
}

/* "NAME+OFFSET" of a link address, "-" without a name. */
static const char *name_at(uint64_t address)
{
	static char text[512];
	struct ntrace_location location;

	if (ntrace_object_locate(object, address, &location))
		return "not code";
	if (!location.symbol)
		return "-";
	snprintf(text, sizeof(text), "%s+%u", location.symbol,
		 (unsigned int)(address - location.symbol_start));
	return text;
}

/* ---- entries of the PLT ---- */

static const char calls_source[] =
	"unsigned long strlen(const char *);\n"
	"int puts(const char *);\n"
	"static int one(int x) { return x + 1; }\n"
	"static int two(int x) { return x + 2; }\n"
	"int flag;\n"
	"static int (*choose(void))(int) { return flag ? one : two; }\n"
	"int pick(int) __attribute__((ifunc(\"choose\")));\n"
	"int calls(const char *text) { return pick((int)strlen(text)) + puts(text); }\n";

static const char ifuncs_source[] = "static int one(int x) { return x + 1; }\n"
				    "int flag;\n"
				    "static int (*choose(void))(int) { return flag ? one : 0; }\n"
				    "static int (*choose_other(void))(int) { return one; }\n"
				    "int pick(int) __attribute__((ifunc(\"choose\")));\n"
				    "int other(int) __attribute__((ifunc(\"choose_other\")));\n"
				    "int calls(int x) { return other(x) + pick(x); }\n";

static void test_plt(const char *what, const char *file)
{
	if (!opened(file))
		return;
	is_str(name_at(plt(file, "strlen")), "strlen@plt+0", "%s: an entry of the PLT", what);
	is_str(name_at(plt(file, "puts") + 12), "puts@plt+12", "%s: its last instruction", what);
	is_str(name_at(number(TOOL "objdump -h calls.so | awk '$2 == \".plt\" { print $4 }'")),
	       ".plt+0", "%s: what is before the entries", what);
}

static void test_calls(void)
{
	uint64_t one, two, resolver;

	write_text("calls.c", calls_source);
	write_text("ifuncs.c", ifuncs_source);
	if (!ok(!run("cd %s && " TOOL "gcc -O1 -fPIC -shared -nostdlib "
		     "-fasynchronous-unwind-tables calls.c -o calls.so && " TOOL
		     "strip -o bare.so calls.so",
		     directory),
		"a library with calls and an IFUNC"))
		return;
	one = nm("calls.so", "one");
	two = nm("calls.so", "two");
	resolver = nm("calls.so", "choose");
	test_plt("GNU ld", "calls.so");
	is_str(name_at(resolver), "pick [resolver]+0",
	       "a resolver is named after what it resolves");
	is_str(name_at(number("printf %x $((0x$(" TOOL
			      "objdump -h calls.so | awk '$2 == \".plt\" { print $4 }') + "
			      "0x$(" TOOL
			      "objdump -h calls.so | awk '$2 == \".plt\" { print $3 }') - 16))")),
	       "pick@plt+0", "the entry for a function of this library");
	is_str(name_at(one), "one+0", "a function that it chooses keeps its name");
	if (!opened("bare.so"))
		return;
	is_str(name_at(resolver), "pick [resolver]+0", "stripped: the resolver");
	is_str(name_at(one), "pick+0", "stripped: what it chooses");
	is_str(name_at(two + 2), "pick+2", "stripped: the other one, in its range");
	/* lld has the entries of IFUNCs in a section of their own. */
	if (ok(!run("cd %s && " TOOL "gcc -O1 -nostdlib -static -Wl,-e,0 ifuncs.c -o all && " TOOL
		    "objcopy --rename-section .plt=.iplt all ifuncs",
		    directory),
	       "a static program with .iplt") &&
	    opened("ifuncs")) {
		uint64_t start =
			number(TOOL "objdump -h ifuncs | awk '$2 == \".iplt\" { print $4 }'");

		is_str(name_at(start), "other@plt+0", "an entry of .iplt");
		is_str(name_at(start + 18), "pick@plt+2", "the next one");
	}
	ok(!run("cd %s && " TOOL "gcc -O1 -march=rv32imac -mabi=ilp32 -fPIC -shared -nostdlib "
		"-Wl,-melf32lriscv calls.c -o calls.so",
		directory),
	   "the same for RV32");
	test_plt("RV32", "calls.so");
}

/* ---- symbols without a size ---- */

static const char gaps_source[] =
	".text\n.globl exported, sized\n.type exported, @function\n.type sized, @function\n"
	".option norvc\n"
	"exported: nop\n ret\n"
	"hidden: nop\n ret\n"
	"sized: nop\n.size sized, .-sized\n nop\n"
	"last: nop\n"
	".section other, \"ax\"\n nop\n";

static void test_sizes(void)
{
	uint64_t exported, last;

	write_text("gaps.S", gaps_source);
	if (!ok(!run("cd %s && " TOOL
		     "gcc -march=rv64g -shared -nostdlib gaps.S -o gaps.so && " TOOL
		     "strip -o bare.so gaps.so",
		     directory),
		"a library with functions without a size") ||
	    !opened("gaps.so"))
		return;
	exported = nm("gaps.so", "exported");
	last = nm("gaps.so", "last");
	is_str(name_at(exported + 4), "exported+4", "a function without a size");
	is_str(name_at(exported + 8), "hidden+0", "ends at the next symbol");
	is_str(name_at(exported + 20), "-", "a function with a size ends with it");
	is_str(name_at(last), "last+0", "the last symbol");
	is_str(name_at(last + 4), "-", "ends with its section");
	if (!opened("bare.so"))
		return;
	is_str(name_at(exported), "exported [no size]+0",
	       "stripped: a function without a size is marked");
	is_str(name_at(exported + 8), "exported [no size]+8",
	       "stripped: which may be another function");
	is_str(name_at(exported + 16), "sized+0", "stripped: one with a size is not");
	is_str(name_at(last), "-", "stripped: what is after it has no name");
	ok(ntrace_symbol_matches("exported [no size]", "exported"), "users need not type the mark");
	ok(!ntrace_symbol_matches("exported [no size]", "export"), "but the name");
}

/* ---- .gnu_debugdata ---- */

static const char mini_source[] =
	"static int __attribute__((noinline)) inner(int x) { return x * x; }\n"
	"int outer(int x) { return inner(x) + 1; }\n";

/* A section with these bytes, and the names then. */
static void try_section(const char *what, const char *file, const char *expected)
{
	run("cd %s && " TOOL "objcopy --add-section .gnu_debugdata=%s stripped.so mini.so",
	    directory, file);
	if (!opened("mini.so"))
		return;
	is_str(name_at(nm("whole.so", "inner")), expected, "%s", what);
	is_str(name_at(nm("whole.so", "outer")), "outer+0", "%s: the exported function", what);
}

static void test_minidebug(void)
{
	static uint8_t packed[1 << 16];
	const size_t huge = (256u << 20) + 1;
	uint8_t *zeros;
	size_t size = 0;

	write_text("mini.c", mini_source);
	if (!ok(!run("cd %s && " TOOL "gcc -O1 -fno-unwind-tables -fno-asynchronous-unwind-tables "
		     "-fPIC -shared -nostdlib -Wl,--build-id mini.c -o whole.so && " TOOL
		     "objcopy -S --keep-symbol=inner whole.so mini && " TOOL
		     "strip -o stripped.so whole.so && xz -k mini && "
		     "head -c 100 mini.xz >cut && echo text >text && xz -k text && : >empty",
		     directory),
		"the symbols of a library, compressed"))
		return;
	try_section("the functions of .gnu_debugdata", "mini.xz", "inner+0");
	ok(!run("cd %s && xz --check=crc32 --lzma2=preset=9,dict=64MiB -c mini >other.xz",
		directory),
	   "with another filter");
	try_section("what xz writes with other options", "other.xz", "inner+0");
	try_section("a section that is cut", "cut", "-");
	try_section("an empty one", "empty", "-");
	try_section("one that is no xz file", "mini", "-");
	try_section("one that has no ELF file", "text.xz", "-");
	ok(!run("cd %s && mv stripped.so aside && " TOOL
		"strip --keep-symbol=outer -o stripped.so whole.so",
		directory),
	   "a library without some of its symbols");
	try_section("beside other symbols", "mini.xz", "inner+0");
	run("cd %s && mv aside stripped.so", directory);
	/* Small files that stand for large ones. */
	zeros = calloc(1, huge);
	if (!ok(zeros && !lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, zeros, huge, packed,
						  &size, sizeof(packed)),
		"a section that stands for more than 256 MiB"))
		return;
	free(zeros);
	write_file("bomb", packed, size);
	try_section("is not unpacked", "bomb", "-");
}

/* ---- files without program headers ---- */

static void test_headers(void)
{
	static const char source[] = ".globl _start\n_start: nop\nnext: nop\n.data\n.word 1\n";
	static uint8_t bytes[1 << 16];
	uint64_t start, address, size, at;
	bool executable;
	size_t total;
	FILE *file;

	write_text("s.S", source);
	if (!ok(!run("cd %s && " TOOL
		     "gcc -march=rv64g -nostdlib -static -Wl,-Ttext=0x80000000 s.S -o s",
		     directory),
		"a program"))
		return;
	start = nm("s", "_start");
	file = fopen(in("s"), "r");
	total = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file)
		fclose(file);
	/* e_phoff and e_phnum */
	memset(bytes + 32, 0, 8);
	memset(bytes + 56, 0, 2);
	write_file("bare", bytes, total);
	if (!opened("bare"))
		return;
	is_str(name_at(start), "_start+0", "without program headers: its code");
	is_str(name_at(start + 4), "next+0", "and the next function");
	ok(!ntrace_object_file_offset(object, start, &at) && at < total &&
		   !memcmp(bytes + at, "\x13\0\0\0", 4),
	   "the bytes are those of the section");
	for (size_t i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++)
		is_hex(executable, address == start, "only the section with code can be executed");
}

int main(void)
{
	if (!scratch_make())
		return 1;
	test_calls();
	test_sizes();
	test_minidebug();
	test_headers();
	ntrace_object_put(object);
	scratch_remove();
	return done_testing();
}
