// SPDX-License-Identifier: GPL-2.0-only
/* Lines, functions and what was inlined, held against binutils' addr2line. */
#include <stdlib.h>
#include <unistd.h>

#include <ntrace/lines.h>

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
	const struct ntrace_line *line = ntrace_lines_find(lines, address);
	uint32_t number = ntrace_lines_scope(lines, address);
	const char *path = line ? line->file : NULL;
	uint32_t at = line ? line->line : 0;
	const struct ntrace_scope *scopes;
	size_t count;

	scopes = ntrace_lines_scopes(lines, &count);
	fprintf(file, "0x%016" PRIx64 "\n", address);
	for (; number < count; number = scopes[number].parent) {
		fprintf(file, "%s\n%s:%u\n", scopes[number].name, path ? path : "?", at);
		path = scopes[number].call_file;
		at = scopes[number].call_line;
	}
}

/* What we say of each instruction, and what addr2line does; @file: the one that is asked for lines. */
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
	ntrace_object_put(object);
	if (!ok(!error, "%s: has lines", what))
		return;
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
	if (!strstr(what, "-O0"))
		ok(!run("grep -A2 -x twice %s | grep -qx both", in("ours")),
		   "%s: calls were inlined", what);
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

static void test_none(void)
{
	static const uint8_t bytes[4];
	const char *directories[] = { "/nonexistent", NULL };
	struct ntrace_object *object;
	struct ntrace_lines *lines;

	run("cp %s %s", in("table.so"), in("alone.so"));
	ok(!ntrace_object_open_elf(&object, in("alone.so")), "a stripped file");
	ok(ntrace_lines_open(&lines, object, directories) == NTRACE_ERR_UNSUPPORTED,
	   "has no lines");
	ntrace_object_put(object);
	ok(!ntrace_object_from_bytes(&object, "bytes", bytes, sizeof(bytes), 0x1000), "raw bytes");
	ok(ntrace_lines_open(&lines, object, directories) == NTRACE_ERR_UNSUPPORTED, "have none");
	ntrace_object_put(object);
	ntrace_lines_close(NULL);
}

/* No file can be so damaged that reading it does harm. */
static void test_damaged(void)
{
	const char *directories[] = { "/nonexistent", NULL };
	unsigned int i, opened = 0;

	for (i = 0; i < 60; i++) {
		struct ntrace_object *object;
		struct ntrace_lines *lines;

		/* Bytes from anywhere, over the sections behind the code. */
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
		ntrace_object_put(object);
	}
	ok(opened > 30, "%u damaged files read without harm", opened);
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
	/* A server would be asked for what is not there. */
	unsetenv("DEBUGINFOD_URLS");
	file = fopen(in("table.c"), "w");
	fputs(source, file);
	fclose(file);
	test_builds();
	test_debug_file();
	test_none();
	test_damaged();
	scratch_remove();
	return done_testing();
}
