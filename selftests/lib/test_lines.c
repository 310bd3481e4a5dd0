// SPDX-License-Identifier: GPL-2.0-only
/* Lines, functions and inlined functions, compared with binutils' addr2line. */
#include <stdlib.h>
#include <unistd.h>

#include <ntrace/coverage.h>
#include <ntrace/encode.h>
#include <ntrace/export_stacks.h>
#include <ntrace/lines.h>

#include "image/lines.h"
#include "scratch.h"
#include "tap.h"

#define TOOL "riscv64-linux-gnu-"

static const char source[] = "static inline int twice(int x)\n"
			     "{\n"
			     "	return x > 3 ? 2 * x : x + 7;\n"
			     "}\n"
			     "\n"
			     "static inline int both(int x, int y)\n"
			     "{\n"
			     "	int sum = twice(x);\n"
			     "\n"
			     "	if (y & 1)\n"
			     "		sum += twice(y);\n"
			     "	return sum;\n"
			     "}\n"
			     "\n"
			     "__attribute__((cold, noinline)) int rare(int x)\n"
			     "{\n"
			     "	return x ^ 0x1234567;\n"
			     "}\n"
			     "\n"
			     "int table(const int *values, int count)\n"
			     "{\n"
			     "	int i, sum = 0;\n"
			     "\n"
			     "	for (i = 0; i < count; i++) {\n"
			     "		sum += both(values[i], sum);\n"
			     "		if (sum < 0)\n"
			     "			sum = rare(sum);\n"
			     "	}\n"
			     "	return both(sum, i);\n"
			     "}\n";

static void print_frames(FILE *file, const struct ntrace_lines *lines, uint64_t address)
{
	const struct ntrace_scope *scopes;
	const struct ntrace_line *line;
	const char *path;
	uint32_t number, at;
	size_t count;

	if (!lines) {
		fprintf(file, "0x%016" PRIx64 ": in no unit with lines\n", address);
		return;
	}
	line = ntrace_lines_find(lines, address);
	number = ntrace_lines_scope(lines, address);
	path = line ? line->file : NULL;
	at = line ? line->line : 0;
	scopes = ntrace_lines_scopes(lines, &count);
	fprintf(file, "0x%016" PRIx64 "\n", address);
	for (; number < count; number = scopes[number].parent) {
		fprintf(file, "%s\n%s:%u\n", scopes[number].name, path ? path : "?", at);
		path = scopes[number].call_file;
		at = scopes[number].call_line;
	}
}

/* ---- stacks with inlined functions ---- */

#define KERNEL UINT64_C(0xffffffff80000000)
#define NOP 0x00000013

static const struct ntrace_isa isa = { .xlen = 64, .compressed = true };

static void tell(struct ntrace_stacks *stacks, struct ntrace_space *space, unsigned int privilege,
		 struct ntrace_flow_event flow)
{
	const struct ntrace_session_event event = {
		.flow = &flow, .pid = 1, .tid = 1, .comm = "test", .privilege = privilege
	};

	flow.space = space;
	flow.isa = &isa;
	ntrace_stacks_event(stacks, &event);
}

static void tell_block(struct ntrace_stacks *stacks, struct ntrace_space *space,
		       unsigned int privilege, uint64_t address, unsigned int instructions,
		       uint64_t last, unsigned int last_size)
{
	tell(stacks, space, privilege,
	     (struct ntrace_flow_event){ .type = NTRACE_FLOW_BLOCK,
					 .insn_class = NTRACE_INSN_PLAIN,
					 .last_size = (uint8_t)last_size,
					 .instructions = instructions,
					 .address = address,
					 .last = last });
}

/* Every instruction once, at most @most in a block: a hart need not execute such blocks. */
static void execute(struct ntrace_stacks *stacks, struct ntrace_space *space, unsigned int most)
{
	FILE *addresses = fopen(in("addresses"), "r");
	uint64_t start = 0, last = 0;
	unsigned long long address;
	unsigned int count = 0;

	while (fscanf(addresses, "%llx", &address) == 1) {
		if (count == most || (count && address - last > 4)) {
			tell_block(stacks, space, NTRACE_PRIV_U, start, count, last, 2);
			count = 0;
		}
		start = count ? start : address;
		last = address;
		count++;
	}
	tell_block(stacks, space, NTRACE_PRIV_U, start, count, last, 2);
	fclose(addresses);
}

/* Answers of addr2line: the number of instructions in each chain of functions. */
#define FOLD                                                                                       \
	"awk 'function end() { if (n) { s = f[n]; while (--n) s = s \";\" f[n] \"_[i]\"; count[s]++ } }"  \
	" /^0x/ { end(); n = odd = 0; next } odd = !odd { f[++n] = $0 }"                             \
	" END { end(); for (s in count) print s, count[s] }' %s | LC_ALL=C sort > %s"

static void write_stacks(struct ntrace_stacks *stacks, const char *name)
{
	FILE *file = fopen(in(name), "w");

	ntrace_stacks_end(stacks);
	ntrace_export_stacks(file, stacks, NTRACE_EXPORT_FOLDED, NULL);
	fclose(file);
}

/*
 * Answers of addr2line: an instruction with the most inlined functions, its functions, and an
 * earlier instruction of the same function with none.
 */
#define INNERMOST                                                                                  \
	"'function end() { if (n == 1) plain[f[1]] = a; if (n > most) { most = n; at = f[n]; s = at; "   \
	"while (--n) s = s \";\" f[n] \"_[i]\"; found = a \" \" s } } /^0x/ { end(); a = $1; n = odd = 0; " \
	"next } odd = !odd { f[++n] = $0 } END { end(); print plain[at], plain[\"rare\"], found }'"

/*
 * A call there, and a trap: their frames are below the innermost function. Return: its stack by
 * addr2line.
 */
static const char *leave_innermost(struct ntrace_stacks *stacks, struct ntrace_space *space)
{
	static char expected[256];
	uint32_t code[16];
	struct ntrace_object *handler;
	struct ntrace_space *handler_space;
	unsigned long long plain = 0, rare = 0, address = 0;
	FILE *file;
	size_t i;

	run("awk " INNERMOST " %s > %s", in("theirs"), in("inside"));
	file = fopen(in("inside"), "r");
	ok(fscanf(file, "%llx %llx %llx %255s", &plain, &rare, &address, expected) == 4,
	   "an instruction of what was inlined");
	fclose(file);
	for (i = 0; i < 16; i++)
		code[i] = NOP;
	ntrace_object_from_bytes(&handler, "kernel", code, sizeof(code), KERNEL);
	ntrace_object_add_symbol(handler, "handler", KERNEL, sizeof(code));
	ntrace_space_new(&handler_space, "kernel", NULL);
	ntrace_space_map_linked(handler_space, handler, 0);
	tell(stacks, space, NTRACE_PRIV_U,
	     (struct ntrace_flow_event){ .type = NTRACE_FLOW_BLOCK,
					 .insn_class = NTRACE_INSN_CALL,
					 .taken = true,
					 .last_size = 2,
					 .instructions = 1,
					 .address = address,
					 .last = address,
					 .next = rare,
					 .next_known = true });
	tell(stacks, space, NTRACE_PRIV_U,
	     (struct ntrace_flow_event){ .type = NTRACE_FLOW_BLOCK,
					 .insn_class = NTRACE_INSN_RETURN,
					 .taken = true,
					 .last_size = 2,
					 .instructions = 1,
					 .address = rare,
					 .last = rare,
					 .next = address + 2,
					 .next_known = true });
	tell_block(stacks, space, NTRACE_PRIV_U, plain, 1, plain, 2);
	tell(stacks, space, NTRACE_PRIV_U,
	     (struct ntrace_flow_event){ .type = NTRACE_FLOW_TRAP,
					 .code = NTRACE_BTYPE_EXCEPTION,
					 .address = address,
					 .value = address,
					 .next_known = true });
	tell_block(stacks, handler_space, NTRACE_PRIV_S, KERNEL, 3, KERNEL + 8, 4);
	ntrace_space_put(handler_space);
	ntrace_object_put(handler);
	return expected;
}

static void compare_stacks(const char *what, struct ntrace_object *object)
{
	static const unsigned int blocks[] = { 1, 7, 1000 };
	const char *directories[] = { directory, NULL };
	const struct ntrace_stacks_options options = { .size = sizeof(options),
						       .merge_threads = true,
						       .inlined = true,
						       .directories = directories };
	struct ntrace_stacks *stacks;
	struct ntrace_space *space;
	const char *expected;
	size_t i;

	run(FOLD, in("theirs"), in("their_stacks"));
	ntrace_space_new(&space, "test", NULL);
	ntrace_space_map_linked(space, object, 0);
	for (i = 0; i < 3; i++) {
		ntrace_stacks_new(&stacks, &options);
		execute(stacks, space, blocks[i]);
		write_stacks(stacks, "folded");
		ntrace_stacks_free(stacks);
		run("sed 's/^test;\\[unknown\\];//' %s | LC_ALL=C sort > %s", in("folded"),
		    in("our_stacks"));
		ok(!run("diff -u %s %s", in("their_stacks"), in("our_stacks")),
		   "%s: stacks of blocks of %u are those of addr2line", what, blocks[i]);
	}
	if (!strstr(what, "-O0")) {
		ntrace_stacks_new(&stacks, &options);
		expected = leave_innermost(stacks, space);
		write_stacks(stacks, "folded");
		ntrace_stacks_free(stacks);
		ok(!run("grep -qxF 'test;[unknown];%s;handler 3' %s", expected, in("folded")),
		   "%s: a handler is below the interrupted function", what);
		ok(!run("grep -qxF 'test;[unknown];%s;rare 1' %s", expected, in("folded")),
		   "%s: a call is below the calling function", what);
	}
	ntrace_space_put(space);
}

/* Reading one unit at a time must give the same lines. */
static void compare_units(const char *what, struct ntrace_object *object)
{
	const char *directories[] = { directory, NULL };
	const struct ntrace_lines *lines;
	struct ntrace_units *units;
	unsigned long long address;
	FILE *addresses, *ours;

	if (!ok(!ntrace_units_open(&units, object, directories), "%s: has units", what))
		return;
	addresses = fopen(in("addresses"), "r");
	ours = fopen(in("by_unit"), "w");
	while (fscanf(addresses, "%llx", &address) == 1) {
		lines = ntrace_units_lines(units, address);
		if (lines)
			print_frames(ours, lines, address);
	}
	fclose(addresses);
	fclose(ours);
	ok(!ntrace_units_lines(units, UINT64_MAX - 4096) && !ntrace_units_lines(units, UINT64_MAX),
	   "%s: other addresses have no unit", what);
	ntrace_units_close(units);
	ok(!run("cmp -s %s %s", in("theirs"), in("by_unit")), "%s: and the same lines by unit",
	   what);
}

static const char tour[] = "the program of the tour";

/*
 * The library's answer for each instruction, and addr2line's; @file: the file passed to addr2line.
 */
static void compare(const char *what, const char *file, const char *whole)
{
	struct ntrace_object *object;
	struct ntrace_lines *lines;
	const char *directories[] = { directory, NULL };
	unsigned long long address;
	unsigned int count = 0;
	FILE *addresses, *ours;
	int error = ntrace_object_open_elf(&object, in(file));

	if (!ok(!error, "%s: opened", what))
		return;
	error = ntrace_lines_open(&lines, object, directories);
	if (!ok(!error, "%s: has lines", what)) {
		ntrace_object_put(object);
		return;
	}
	run(TOOL "objdump -d -j .text %s | sed -n 's/^ *\\([0-9a-f]*\\):\\t.*/\\1/p' > %s",
	    in(whole), in("addresses"));
	run(TOOL "addr2line -a -f -i -e %s < %s | sed 's/ (disc.*//' > %s", in(whole),
	    in("addresses"), in("theirs"));
	addresses = fopen(in("addresses"), "r");
	ours = fopen(in("ours"), "w");
	while (fscanf(addresses, "%llx", &address) == 1) {
		print_frames(ours, lines, address);
		count++;
	}
	fclose(addresses);
	fclose(ours);
	ntrace_lines_close(lines);
	ok(count > 20, "%s: %u instructions", what, count);
	ok(!run("diff -u %s %s | head -40", in("theirs"), in("ours")) &&
		   !run("cmp -s %s %s", in("theirs"), in("ours")),
	   "%s: lines and inlined calls are those of addr2line", what);
	if (!strcmp(what, tour)) {
		ntrace_object_put(object);
		return;
	}
	if (!strstr(what, "-O0"))
		ok(!run("grep -A2 -x twice %s | grep -qx both", in("ours")),
		   "%s: calls were inlined", what);
	compare_units(what, object);
	compare_stacks(what, object);
	ntrace_object_put(object);
}

static void test_builds(void)
{
	static const char *const flags[] = {
		"-O2 -gdwarf-4",
		"-O2 -gdwarf-5",
		"-O0 -gdwarf-5",
		"-Os -gdwarf-5 -gz=zlib",
		"-O3 -gdwarf-4 -ffunction-sections -Wl,--gc-sections",
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (ok(!run("cd %s && " TOOL "gcc %s -shared -fPIC -nostdlib -Wl,--build-id "
			    "table.c -o table.so",
			    directory, flags[i]),
		       "gcc %s", flags[i]))
			compare(flags[i], "table.so", "table.so");
	}
	/* Functions that are inlined at the entry of others, with an empty range there. */
	if (ok(!run(TOOL "gcc -O2 -gdwarf-5 -ffreestanding -nostdlib -static -Wl,--no-relax "
			 "-fno-stack-protector -o %s Documentation/tour/words.c",
		    in("words")),
	       "%s", tour))
		compare(tour, "words", "words");
}

/* All lines and functions of a program, by unit and as a whole. */
static void print_all(const char *program, const char *name)
{
	const char *directories[] = { directory, NULL };
	struct ntrace_object *object;
	struct ntrace_units *units;
	struct ntrace_lines *lines;
	unsigned long long address;
	FILE *addresses = fopen(in("addresses"), "r"), *file = fopen(in(name), "w");

	if (!ntrace_object_open_elf(&object, in(program))) {
		if (!ntrace_lines_open(&lines, object, directories) &&
		    !ntrace_units_open(&units, object, directories)) {
			while (fscanf(addresses, "%llx", &address) == 1) {
				print_frames(file, lines, address);
				print_frames(file, ntrace_units_lines(units, address), address);
			}
			ntrace_units_close(units);
			ntrace_lines_close(lines);
		}
		fprintf(file, "missing: %s\n",
			ntrace_object_missing_debug(object) ? ntrace_object_missing_debug(object) :
							      "nothing");
		ntrace_object_put(object);
	}
	fclose(addresses);
	fclose(file);
}

/* Builds sources at 0 and compares their lines with those of table.c alone, "kept". */
static void compare_dropped(const char *flags, const char *sources, const char *name)
{
	if (!ok(!run("cd %s && " TOOL "gcc -O2 %s -ffunction-sections -nostdlib -static -o zero "
		     "-Wl,-Ttext=0,--gc-sections,-e,table %s",
		     directory, flags, sources),
		"%s at 0: %s", sources, flags))
		return;
	if (!strcmp(name, "kept"))
		compare("at 0", "zero", "zero");
	print_all("zero", name);
	if (strcmp(name, "kept"))
		ok(!run("diff -u %s %s | head -40", in("kept"), in(name)) &&
			   !run("cmp -s %s %s", in("kept"), in(name)),
		   "dropped code changes nothing");
}

/*
 * An image at 0, for instance of a microcontroller; the DWARF of code that the linker drops begins there, too, with
 * inlined functions after it. GNU ld keeps no DWARF of a file of which it keeps no code.
 */
static void test_image_at_zero(void)
{
	static const char *const flags[] = { "-gdwarf-4", "-gdwarf-5" };

	run("cd %s && sed 's/table/dropped/; s/rare/unused/; s/x + 7/x + 9/' table.c > dropped.c "
	    "&& echo 'int last(int x) { return x * x * x; }' >> dropped.c "
	    "&& (echo '#line 1 \"table.c\"'; cat table.c; "
	    "sed -n '/^__attr/,$ { s/table/dropped/; s/rare/unused/; p }' table.c) > both.c",
	    directory);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		compare_dropped(flags[i], "table.c", "kept");
		compare_dropped(flags[i], "dropped.c table.c", "dropped");
		compare_dropped(flags[i], "table.c dropped.c", "dropped");
		/* Functions of the same size in one unit. */
		compare_dropped(flags[i], "both.c", "dropped");
	}
}

/*
 * DWARF as GNU ld 2.44 leaves it: a dropped function is empty and at 0, its inlined functions have sizes. The
 * function at 0 begins with an inlined one.
 */
static const char dropped_inlined[] =
	"\t.file\t1 \"/dropped.c\"\n"
	"\t.text\n"
	"\t.globl\ttable\n"
	"\t.type\ttable, @function\n"
	"table:\t.loc\t1 10\n"
	"\tnop\n"
	"\t.loc\t1 11\n"
	"\tnop\n"
	"\tnop\n"
	"\tret\n"
	"\t.size\ttable, .-table\n"
	"\t.section .debug_line\n"
	".Lline:\n"
	"\t.section .debug_abbrev\n"
	"\t.byte\t1, 0x11, 1, 0x3, 8, 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0\n"
	"\t.byte\t2, 0x2e, 1, 0x3, 8, 0x3a, 0xb, 0x3b, 0xb, 0x11, 1, 0x12, 7, 0, 0\n"
	"\t.byte\t3, 0x1d, 0, 0x3, 8, 0x11, 1, 0x12, 7, 0, 0\n"
	"\t.byte\t0\n"
	"\t.macro\tfunction number, name, file, line, start, size\n"
	"\t.byte\t\\number\n"
	"\t.asciz\t\"\\name\"\n"
	"\t.if\t\\number == 2\n"
	"\t.byte\t\\file, \\line\n"
	"\t.endif\n"
	"\t.8byte\t\\start, \\size\n"
	"\t.endm\n"
	"\t.section .debug_info\n"
	"\t.4byte\t.Lend - .Lbegin\n"
	".Lbegin: .2byte\t4\n"
	"\t.4byte\t0\n"
	"\t.byte\t8\n"
	"\t.byte\t1\n"
	"\t.asciz\t\"dropped.c\"\n"
	"\t.4byte\t.Lline\n"
	"\t.8byte\t0, 8\n"
	"\tfunction 2 table 1 10 0 8\n"
	"\tfunction 3 first 0 0 0 4\n"
	"\t.byte\t0\n"
	"\tfunction 2 dropped 1 20 0 0\n"
	"\tfunction 3 second 0 0 0 2\n"
	"\tfunction 3 third 0 0 4 4\n"
	"\t.byte\t0, 0\n"
	".Lend:\n";

static void test_dropped_inlined(void)
{
	FILE *file = fopen(in("dropped.s"), "w");

	fputs(dropped_inlined, file);
	fclose(file);
	if (!ok(!run("cd %s && " TOOL "gcc -march=rv64gc -mno-relax -nostdlib -static -o zero "
		     "-Wl,-Ttext=0,-e,table dropped.s && "
		     "printf '0\n2\n4\n6\n' > addresses",
		     directory),
		"inlined functions of a dropped one"))
		return;
	print_all("zero", "dropped");
	ok(!run("grep -qx first %s && ! grep -qx 'dropped\\|second\\|third' %s", in("dropped"),
		in("dropped")) &&
		   !run("test $(grep -cx table %s) = 8", in("dropped")),
	   "are no code, and those of the function at 0 are");
}

/* Functions with their files: clang numbers the source of a unit 0 in DWARF 5. */
#define CLANG "clang --target=riscv64-linux-gnu -march=rv64gc -c -fPIC -o table.o table.c "
#define LINK "&& " TOOL "gcc table.o"

static void test_files(void)
{
	static const char *const flags[] = { "-gdwarf-4", "-gdwarf-5" };

	for (size_t i = 0; i < 2; i++) {
		const struct ntrace_scope *scopes;
		struct ntrace_object *object;
		struct ntrace_lines *lines;
		size_t count = 0, files = 0, calls = 0;

		if (!ok(!run("cd %s && " CLANG "-O2 %s " LINK " -shared -nostdlib -o clang.so",
			     directory, flags[i]) &&
				!ntrace_object_open_elf(&object, in("clang.so")),
			"clang %s", flags[i]))
			continue;
		if (ok(!ntrace_lines_open(&lines, object, NULL), "has lines")) {
			scopes = ntrace_lines_scopes(lines, &count);
			for (size_t j = 0; j < count; j++) {
				files += scopes[j].file && strstr(scopes[j].file, "/table.c");
				calls += scopes[j].inlined && scopes[j].call_file;
			}
			ok(count > 3 && files == count && calls > 1,
			   "%s: %zu functions in table.c, %zu inlined", flags[i], files, calls);
			ntrace_lines_close(lines);
		}
		ntrace_object_put(object);
	}
}

/*
 * Units in files of their own: as without them, and only the lines if the file is missing. The linker, which may
 * make code shorter, does not correct the lengths of ranges in such a file.
 */
static void test_split(void)
{
	static const char *const flags[] = { "-mno-relax -O2 -gdwarf-4", "-mno-relax -O2 -gdwarf-5",
					     "-mno-relax -O1 -gdwarf-5" };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		ok(!run("cd %s && " TOOL "gcc %s -shared -fPIC -nostdlib table.c -o table.so",
			directory, flags[i]) &&
			   !run("cd %s && " TOOL
				"gcc %s -gsplit-dwarf -shared -fPIC -nostdlib table.c "
				"-o split.so && ls *.dwo >dwo",
				directory, flags[i]),
		   "gcc %s -gsplit-dwarf", flags[i]);
		run(TOOL "objdump -d -j .text %s | sed -n 's/^ *\\([0-9a-f]*\\):\\t.*/\\1/p' > %s",
		    in("table.so"), in("addresses"));
		print_all("table.so", "plain");
		print_all("split.so", "ours");
		ok(!run("grep -A2 -x twice %s | grep -qx both", in("ours")), "calls were inlined");
		ok(!run("diff %s %s", in("plain"), in("ours")), "the same lines and functions");
		ok(!run("rm %s/*.dwo", directory), "without the .dwo file");
		print_all("split.so", "ours");
		ok(!run("cd %s && { sed -n '/^0x/p' plain; echo missing: $(cat dwo): not found; } "
			">want && "
			"diff want ours",
			directory),
		   "no functions, and the missing file is named");
	}
}

/*
 * The library cleans paths, so that each file has one name for all paths given to the compiler. @hidden: the
 * unit has no directory, as of builds that anybody can repeat.
 */
static void test_paths(const char *options, bool hidden)
{
	static const char program[] = "# 10 \"/w//a/./b/../one.c\"\nint one(void) { return 1; }\n"
				      "# 20 \"/w/../../two.c\"\nint two(void) { return 2; }\n"
				      "# 30 \"x/.././three..c\"\nint three(void) { return 3; }\n";
	const char *directories[] = { "/nonexistent", NULL };
	const char *paths[] = { "/w/a/one.c", "/two.c",
				hidden ? "x/.././three..c" : in("three..c") };
	const struct ntrace_scope *scopes;
	struct ntrace_object *object;
	struct ntrace_lines *lines;
	FILE *file = fopen(in("paths.c"), "w");
	size_t count, i;

	fputs(program, file);
	fclose(file);
	ok(!run("cd %s && " TOOL "gcc -O1 %s -shared -fPIC -nostdlib paths.c -o paths.so",
		directory, options) &&
		   !ntrace_object_open_elf(&object, in("paths.so")) &&
		   !ntrace_lines_open(&lines, object, directories),
	   "files that are named in odd ways: %s", options);
	scopes = ntrace_lines_scopes(lines, &count);
	is_u64(count, 3, "three functions");
	for (i = 0; i < count; i++)
		is_str(scopes[i].file, paths[scopes[i].line / 10 - 1], "line %u", scopes[i].line);
	ntrace_lines_close(lines);
	ntrace_object_put(object);
}

static void execute_once(struct ntrace_profile *profile, struct ntrace_space *space,
			 uint64_t address)
{
	const struct ntrace_flow_event flow = {
		.type = NTRACE_FLOW_BLOCK,
		.insn_class = NTRACE_INSN_PLAIN,
		.last_size = 2,
		.instructions = 1,
		.address = address,
		.last = address,
		.space = space,
		.isa = &isa,
	};
	const struct ntrace_session_event event = {
		.flow = &flow, .pid = 1, .tid = 1, .comm = "test", .privilege = NTRACE_PRIV_U
	};

	ntrace_profile_event(profile, &event);
	ntrace_profile_end(profile);
}

/* The first instruction of the function that @line declares. */
static uint64_t entry_of(struct ntrace_object *object, uint32_t line)
{
	const char *directories[] = { "/nonexistent", NULL };
	const struct ntrace_scope *scopes;
	struct ntrace_lines *lines;
	uint64_t entry = 0;
	size_t count, i;

	if (ntrace_lines_open(&lines, object, directories))
		return 0;
	scopes = ntrace_lines_scopes(lines, &count);
	for (i = 0; i < count; i++)
		if (scopes[i].line == line)
			entry = scopes[i].entry;
	ntrace_lines_close(lines);
	return entry;
}

/* The functions of test_paths(), of which only the one in line 20 was executed. */
static void test_coverage(void)
{
	const struct ntrace_profile_options options = { .size = sizeof(options),
							.parts = NTRACE_PROFILE_TRACES };
	const char *directories[] = { "/nonexistent", NULL };
	const struct ntrace_coverage_function *functions;
	struct ntrace_coverage_options wanted = { .size = sizeof(wanted),
						  .directories = directories };
	struct ntrace_coverage *coverage;
	struct ntrace_profile *profile;
	struct ntrace_object *object;
	struct ntrace_space *space;
	char text[256] = "";
	size_t count, i;

	if (!ok(!ntrace_object_open_elf(&object, in("paths.so")) &&
			!ntrace_profile_new(&profile, &options),
		"coverage of three functions"))
		return;
	ntrace_space_new(&space, "test", NULL);
	ntrace_space_map_linked(space, object, 0);
	execute_once(profile, space, entry_of(object, 20));
	execute_once(profile, space, entry_of(object, 20));
	ntrace_profile_end(profile);
	is_u64(ntrace_coverage_make(&coverage, profile, &wanted), 0, "coverage: of an object");
	functions = ntrace_coverage_functions(coverage, &count);
	for (i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s:%u %" PRIu64 ";",
			 functions[i].name, functions[i].line, functions[i].executed);
	is_str(text, "three:30 0;two:20 2;one:10 0;", "coverage: each function and its executions");
	ntrace_coverage_free(coverage);
	ntrace_profile_free(profile);
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void test_debug_file(void)
{
	run("cd %s && cp table.so whole.so && " TOOL "objcopy --only-keep-debug whole.so table.dbg "
	    "&& id=$(" TOOL "readelf -n whole.so | sed -n 's/.*Build ID: //p') && "
	    "name=.build-id/$(echo $id | cut -c1-2) && mkdir -p $name && "
	    "cp table.dbg $name/$(echo $id | cut -c3-).debug && " TOOL "strip table.so",
	    directory);
	compare("-O3 with a debug file", "table.so", "whole.so");
}

/* A unit whose functions are in two sections, with unused addresses between them. */
static void test_sections(void)
{
	const char *directories[] = { NULL };
	struct ntrace_object *object;
	struct ntrace_lines *lines;

	ok(!run("cd %s && printf '__attribute__((section(\".%%s\"))) void %%s(void) {}\\n' "
		"one one two two > two.c && " TOOL
		"gcc -O1 -g -nostdlib -static -Wl,-e,one,--section-start=.one=0x10000,"
		"--section-start=.two=0x20000 two.c -o two",
		directory) &&
		   !ntrace_object_open_elf(&object, in("two")) &&
		   !ntrace_lines_open(&lines, object, directories),
	   "two sections");
	ok(ntrace_lines_find(lines, 0x10000) && ntrace_lines_find(lines, 0x10000)->line == 1 &&
		   ntrace_lines_find(lines, 0x20000) &&
		   ntrace_lines_find(lines, 0x20000)->line == 2,
	   "each has its line");
	ok(!ntrace_lines_find(lines, 0x10100) && !ntrace_lines_find(lines, 0x1ffff),
	   "the addresses between them have none");
	ntrace_lines_close(lines);
	ntrace_object_put(object);
}

static void test_none(void)
{
	static const uint8_t bytes[4];
	const char *directories[] = { "/nonexistent", NULL };
	struct ntrace_object *object;
	struct ntrace_lines *lines;
	struct ntrace_units *units;

	run("cp %s %s", in("table.so"), in("alone.so"));
	ok(!ntrace_object_open_elf(&object, in("alone.so")), "a stripped file");
	ok(ntrace_lines_open(&lines, object, directories) == NTRACE_ERR_UNSUPPORTED,
	   "has no lines");
	ok(ntrace_units_open(&units, object, directories) == NTRACE_ERR_UNSUPPORTED, "nor units");
	ntrace_object_put(object);
	ok(!ntrace_object_from_bytes(&object, "bytes", bytes, sizeof(bytes), 0x1000), "raw bytes");
	ok(ntrace_lines_open(&lines, object, directories) == NTRACE_ERR_UNSUPPORTED, "have none");
	ntrace_object_put(object);
	ntrace_lines_close(NULL);
	ntrace_units_close(NULL);
}

/* No damaged file may do harm. */
static void test_damaged(void)
{
	const char *directories[] = { "/nonexistent", NULL };
	unsigned int i, opened = 0;

	for (i = 0; i < 60; i++) {
		struct ntrace_object *object;
		struct ntrace_lines *lines;
		struct ntrace_units *units;

		/* Random bytes over the sections after the code. */
		run("cd %s && cp whole.so bad.so && head -c %u whole.so | tail -c 64 | "
		    "dd of=bad.so bs=1 seek=%u conv=notrunc status=none",
		    directory, 64 + i * 7, 0x1000 + i * 53);
		if (ntrace_object_open_elf(&object, in("bad.so")))
			continue;
		opened++;
		if (!ntrace_lines_open(&lines, object, directories)) {
			ntrace_lines_find(lines, 0x300);
			ntrace_lines_close(lines);
		}
		if (!ntrace_units_open(&units, object, directories)) {
			ntrace_units_lines(units, 0x300);
			ntrace_units_close(units);
		}
		ntrace_object_put(object);
	}
	ok(opened > 30, "%u damaged files read without harm", opened);
}

/* Lines belong to code: bytes in an executable segment. */
static void test_code(void)
{
	struct ntrace_object *object;

	is_u64(run("cd %s && printf 'f: nop\\n.data\\n.quad 1\\n' | " TOOL "as -o code.o - && " TOOL
		   "ld -e 0 -z noseparate-code -Ttext=0x10000 -Tdata=0x30000 -o code code.o",
		   directory),
	       0, "makes a program of code and data");
	if (!ok(!ntrace_object_open_elf(&object, in("code")), "which opens"))
		return;
	ok(object_is_code(object, 0x10000, 0x10002, true), "its code is code");
	ok(!object_is_code(object, 0x30000, 0x30002, true), "its data is not");
	ok(!object_is_code(object, 0x20000, 0x20002, true), "nor is an address outside of it");
	ok(!object_is_code(object, 0, 2, true), "nor the address 0");
	ntrace_object_put(object);
}

int main(void)
{
	FILE *file;

	if (run("command -v " TOOL "gcc > /dev/null")) {
		skip("lines", TOOL "gcc is not installed");
		return done_testing();
	}
	if (!scratch_make())
		return 1;
	/* A server would be asked for missing files. */
	unsetenv("DEBUGINFOD_URLS");
	file = fopen(in("table.c"), "w");
	fputs(source, file);
	fclose(file);
	test_builds();
	test_split();
	test_image_at_zero();
	test_dropped_inlined();
	test_files();
	test_paths("-gdwarf-4 -fdebug-prefix-map=$PWD=", true);
	test_paths("-gdwarf-5 -fdebug-prefix-map=$PWD=", true);
	test_paths("-g", false);
	test_coverage();
	test_debug_file();
	test_sections();
	test_none();
	test_damaged();
	test_code();
	scratch_remove();
	return done_testing();
}
