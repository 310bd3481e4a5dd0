// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of lib/session alone: the addresses around one that a program's mappings leave, the address
 * spaces of such parts, of code that may have changed, names of kernel modules that were replaced, and when to count instead of reporting each block.
 */
#include "image/object.h"
#include "session/decode.h"
#include "session/session.h"

#include "stream_text.h"
#include "test_session.h"

/* ---- parts of programs ---- */

static struct mapped_file file_a = { .path = "/a" }, file_b = { .path = "/b" };
static struct mapped_file memory_a = { .is_memory = true }, memory_b = { .is_memory = true };

/* Mappings in the order of their times; addresses in pages. */
static const struct {
	const char *what;
	struct mapping_change changes[3];
	uint64_t address, first, last;
	unsigned int mapping;	/* the change of the part; 3: no code */
	uint64_t since;		/* changes from then on came while the code was executed; 0: none did */
	bool other;		/* the code is not certain */
} parts[] = {
	{ "one mapping",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  0,
	  0,
	  false },
	{ "its last byte",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 } },
	  0x3fff,
	  0x1000,
	  0x3fff,
	  0,
	  0,
	  false },
	{ "the byte after it",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 } },
	  0x4000,
	  0,
	  0,
	  3,
	  0,
	  false },
	{ "another one begins inside it",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0x3000, 0x3000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x2fff,
	  0,
	  0,
	  false },
	{ "another one ends inside it, at the address",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0, 0x2000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x2000,
	  0x3fff,
	  0,
	  0,
	  false },
	{ "the last byte of the other one",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0, 0x2000, 0, &file_b, false, 0, 0 } },
	  0x1fff,
	  0,
	  0x1fff,
	  1,
	  0,
	  false },
	{ "on both sides",
	  { { 1, 0x1000, 0x5000, 0, &file_a, false, 0, 0 },
	    { 2, 0x1000, 0x1000, 0, &file_b, false, 0, 0 },
	    { 3, 0x3000, 0x1000, 0, NULL, false, 0, 0 } },
	  0x2000,
	  0x2000,
	  0x2fff,
	  0,
	  0,
	  false },
	{ "an empty one changes nothing",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0x2000, 0, 0, &file_b, false, 0, 0 } },
	  0x2800,
	  0x1000,
	  0x3fff,
	  0,
	  0,
	  false },
	{ "memory without a file",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0x2000, 0x1000, 0, NULL, false, 0, 0 } },
	  0x2000,
	  0,
	  0,
	  3,
	  0,
	  false },
	{ "other code meanwhile",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0x1000, 0x3000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  1,
	  2,
	  true },
	{ "other code before",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0x1000, 0x3000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  1,
	  3,
	  false },
	{ "the same code again, after other code",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0x1000, 0x3000, 0, &file_b, false, 0, 0 },
	    { 4, 0x1000, 0x3000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  2,
	  3,
	  false },
	{ "code of the same file at another place",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 4, 0x1000, 0x3000, 0x1000, &file_a, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  1,
	  3,
	  true },
	{ "other code meanwhile, and memory without a file between the two",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 4, 0x1000, 0x3000, 0, NULL, false, 0, 0 },
	    { 5, 0x1000, 0x3000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  2,
	  3,
	  true },
	{ "code of a file in place of such memory",
	  { { 1, 0x1000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 2, 0x1000, 0x3000, 0, NULL, false, 0, 0 },
	    { 5, 0x1000, 0x3000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  2,
	  3,
	  false },
	{ "the rest of code that is partly replaced meanwhile",
	  { { 1, 0x3000, 0x3000, 0, &file_a, false, 0, 0 },
	    { 4, 0x1000, 0x3000, 0, &file_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x2fff,
	  1,
	  3,
	  false },
	{ "memory meanwhile in place of memory",
	  { { 1, 0x1000, 0x3000, 0, &memory_a, false, 0, 0 },
	    { 4, 0x1000, 0x3000, 0, &memory_b, false, 0, 0 } },
	  0x2000,
	  0x1000,
	  0x3fff,
	  1,
	  3,
	  false },
};

static void test_parts(void)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct mapping_change mapped[3];
		struct program program = { .changes = mapped };
		struct code_part part;
		bool found;

		memcpy(mapped, parts[i].changes, sizeof(mapped));
		while (program.count < 3 && mapped[program.count].time)
			program.count++;
		found = program_part(&program, parts[i].address,
				     parts[i].since ? parts[i].since : 10, 10, &part);
		ok(parts[i].mapping == 3 ?
			   !found :
			   found && part.mapping == &mapped[parts[i].mapping] &&
				   !part.other == !parts[i].other && part.first == parts[i].first &&
				   part.last == parts[i].last,
		   "%s: from %#" PRIx64 " to %#" PRIx64, parts[i].what, part.first, part.last);
	}
}

/* ---- their address spaces ---- */

static const char *symbol_at(struct ntrace_space *space, uint64_t address)
{
	struct ntrace_location location = { 0 };

	if (space)
		ntrace_space_locate(space, address, &location);
	return location.symbol ? location.symbol : "";
}

static struct mapped_file *file_of(struct ntrace_session *session, int32_t pid)
{
	return machine_program(&session->machine, pid, UINT64_MAX)->changes[0].file;
}

static void test_spaces(void)
{
	struct mapping_change a = { .address = CODE, .length = 0x1000, .offset = 0x1000 }, b = a;
	struct code_part part = { .mapping = &a, .first = CODE, .last = CODE + 0xfff };
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };
	struct ntrace_session *session;
	struct ntrace_space *first;
	struct spaces spaces = { 0 };
	unsigned int good = 0;

	start("spaces", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 1, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 1, CODE, "/bbb");
	work(CODE, 5);
	stop("spaces", 3);
	if (!ok(!ntrace_session_open(&session, in("spaces"), &options), "the recording opens"))
		return;
	spaces.session = session;
	a.file = file_of(session, 100);
	b.file = file_of(session, 200);
	first = ntrace_space_get(spaces_of_part(&spaces, &part));
	is_str(symbol_at(first, CODE), "aaa", "the space of a part has its code");
	ok(spaces_of_part(&spaces, &part) == first, "it is kept");
	for (unsigned int i = 1; i <= SPACES_PARTS; i++) {
		part.last = CODE + 0xfff - i;
		good += !strcmp(symbol_at(spaces_of_part(&spaces, &part), CODE), "aaa");
	}
	is_u64(good, SPACES_PARTS, "smaller parts have the same code");
	part.last = CODE + 0xfff;
	ok(spaces_of_part(&spaces, &part) != first,
	   "the space of the least recently used part is forgotten");
	ntrace_space_put(first);
	/* The oldest space is that of part 2. */
	part = (struct code_part){ .mapping = &b, .first = CODE, .last = CODE + 0xfff - 2 };
	is_str(symbol_at(spaces_of_part(&spaces, &part), CODE), "bbb",
	       "the same part of another file has another space");
	spaces_free(&spaces);
	ntrace_session_close(session);
}

/* ---- code that a process can change ---- */

#define R 1u
#define W 2u
#define X 4u

/* What is mapped of /aaa, in pages from CODE on. */
static const struct {
	const char *what;
	bool program;	/* /aaa is the program, not a library */
	struct {
		unsigned int access, first, count;
	} maps[3];
	bool uncertain;
} mapped[] = {
	{ "code", true, { { R | X, 0, 1 } }, false },
	{ "writable from the start", true, { { R | W | X, 0, 1 } }, true },
	{ "writable later", true, { { R | X, 0, 1 }, { R | W | X, 0, 1 } }, true },
	{ "writable meanwhile",
	  true,
	  { { R | X, 0, 1 }, { R | W | X, 0, 1 }, { R | X, 0, 1 } },
	  true },
	{ "the program again", true, { { R | X, 0, 1 }, { R | X, 0, 1 } }, true },
	{ "a library again", false, { { R | X, 0, 2 }, { R | X, 0, 2 } }, false },
	{ "a part of a library", false, { { R | X, 0, 2 }, { R | X, 0, 1 } }, true },
	{ "data meanwhile", false, { { R | X, 0, 1 }, { R | W, 0, 1 }, { R | X, 0, 1 } }, true },
	{ "constants meanwhile", false, { { R | X, 0, 1 }, { R, 0, 1 }, { R | X, 0, 1 } }, false },
	{ "another page", false, { { R | X, 0, 2 }, { R | W | X, 1, 1 } }, false },
	{ "all of it after a page",
	  false,
	  { { R | X, 0, 2 }, { R | W | X, 1, 1 }, { R | X, 0, 2 } },
	  true },
};

static void test_changed(size_t at)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .note = take_note,
						  .sysroot = in("root") };
	struct ntrace_location location = { 0 };
	struct ntrace_session *session;
	struct spaces spaces = { 0 };
	struct ntrace_space *space;
	char name[16];

	snprintf(name, sizeof(name), "mapped%zu", at);
	start(name, CODE, UINT32_MAX);
	named(100, 0, false, "a");
	if (!mapped[at].program)
		maps(100, 1, OTHER_CODE, "/ccc");
	for (unsigned int i = 0; i < 3 && mapped[at].maps[i].access; i++)
		put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
					      .pid = 100,
					      .tid = 100,
					      .time = i + 2,
					      .executable = mapped[at].maps[i].access & X,
					      .writable = mapped[at].maps[i].access & W,
					      .address = CODE + 0x1000 * mapped[at].maps[i].first,
					      .length = 0x1000 * mapped[at].maps[i].count,
					      .offset = 0x1000 + 0x1000 * mapped[at].maps[i].first,
					      .name = "/aaa" });
	switches(100, 0, KERNEL_LOOP);
	switches(0, 100, CODE);
	work(CODE, 5);
	stop(name, 3);
	decode(name, NULL);
	ok(mapped[at].uncertain == (uncertain > 0), "%s: the flow warns or not", mapped[at].what);
	if (!ok(!ntrace_session_open(&session, in(name), &options), "the recording opens"))
		return;
	spaces.session = session;
	space = spaces_at(&spaces, machine_program(&session->machine, 100, UINT64_MAX), UINT64_MAX);
	ntrace_space_locate(space, CODE, &location);
	is_str(location.symbol, "aaa", "%s: the code is there", mapped[at].what);
	ok(location.uncertain == mapped[at].uncertain &&
		   space_is_uncertain(space, CODE) == mapped[at].uncertain,
	   "%s: whether it is uncertain", mapped[at].what);
	spaces_free(&spaces);
	ntrace_session_close(session);
}

/* ---- modules that replace others ---- */

#define FREE_MODULE (KERNEL_TEXT + 0x600)
#define COPY_MAPPING (KERNEL_TEXT + 0x700)
#define LINK_FILE (KERNEL_TEXT + 0x800)
#define MOVE_PAGES (KERNEL_TEXT + 0x900)

/* A line of kallsyms for a symbol of a module, or of the kernel. */
static const char *line(uint64_t address, const char *name)
{
	static char text[4][64];
	static unsigned int next;

	next = (next + 1) % 4;
	snprintf(text[next], sizeof(text[next]), "%016" PRIx64 " t %s\n", address, name);
	return text[next];
}

static void begin_modules(const char *name, const char *symbols)
{
	put_parcel(FREE_MODULE, 0x8082);
	write_kcore(in("kcore"));
	write_kallsyms(in("symbols"), symbols);
	start(name, CODE, UINT32_MAX);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	switches(100, 0, KERNEL_LOOP);
}

static void end_modules(const char *name, const char *symbols)
{
	write_kallsyms(in("symbols"), symbols);
	stop(name, 3);
	make_kernel_text();
	write_kcore(in("kcore"));
	write_kallsyms(in("symbols"), "");
}

static void test_replaced_module(void)
{
	static const struct {
		uint64_t address;
		const char *name;
	} places[] = {
		{ MODULE_TEXT + 0x10, "module_work [paper]" },
		{ MODULE_TEXT + 0x1000, "work [old or new]" },
		{ MODULE_TEXT + 0x1010, "clean or play [old or new]" },
		{ MODULE_TEXT + 0x1020, "clean or more [old or new]" },
		{ MODULE_TEXT + 0x1030, "eat or more [old or new]" },
		{ MODULE_TEXT + 0x1110, "bpf_prog_a or bpf_prog_b [bpf]" },
		{ MODULE_TEXT + 0x1120, "bpf_prog_c [bpf]" },
	};
	struct ntrace_session_options options = { .size = sizeof(options),
						  .note = take_note,
						  .sysroot = in("root") };
	struct ntrace_session *session;
	char symbols[1024];

	snprintf(symbols, sizeof(symbols), "%s%s%s%s", line(MODULE_TEXT + 0x1000, "work\t[old]"),
		 line(MODULE_TEXT + 0x1010, "clean\t[old]"),
		 line(MODULE_TEXT + 0x1030, "eat\t[old]"),
		 line(MODULE_TEXT + 0x1110, "bpf_prog_a\t[bpf]"));
	begin_modules("replaced", symbols);
	snprintf(symbols, sizeof(symbols), "%s%s%s%s", line(MODULE_TEXT + 0x1000, "work\t[new]"),
		 line(MODULE_TEXT + 0x1010, "play\t[new]"),
		 line(MODULE_TEXT + 0x1020, "more\t[new]"),
		 line(MODULE_TEXT + 0x1110, "bpf_prog_b\t[bpf]"));
	snprintf(symbols + strlen(symbols), sizeof(symbols) - strlen(symbols), "%s",
		 line(MODULE_TEXT + 0x1120, "bpf_prog_c\t[bpf]"));
	end_modules("replaced", symbols);
	notes[0] = 0;
	if (!ok(!ntrace_session_open(&session, in("replaced"), &options), "the recording opens"))
		return;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		is_str(symbol_at(session->kernel, places[i].address), places[i].name, "at %" PRIx64,
		       places[i].address);
	ok(strstr(notes, "kernel code at ffffffff01001000 was replaced by other code during the "
			 "recording: it has the names of both, as \"work [old or new]\""),
	   "a note names both modules: %s", notes);
	ntrace_session_close(session);
}

/* A module whose names are there neither at the start nor at the end: the trace of the kernel tells. */
static void test_passing_module(bool passes)
{
	const char *name = passes ? "passing" : "staying";
	const char *free_module = line(FREE_MODULE, "free_module");

	begin_modules(name, free_module);
	hart_trap(&hart, NOTHING, passes ? FREE_MODULE : NOTHING, KERNEL_LOOP);
	work(KERNEL_LOOP, 5);
	end_modules(name, free_module);
	decode(name, NULL);
	is_str(notes,
	       passes ? "kernel modules were loaded or unloaded during the recording: names at "
			"their "
			"addresses are uncertain\n" :
			"",
	       "%s: the note", name);
	is_u64(errors, 0, "no error");
}

/* mremap() in the kernel: no record tells of it. Memory without a file, as realloc() moves, is of no interest. */
static void test_moved_mapping(bool of_file)
{
	const char *name = of_file ? "moved-file" : "moved-memory";
	char symbols[256];

	snprintf(symbols, sizeof(symbols), "%s%s%s", line(COPY_MAPPING, "copy_vma"),
		 line(LINK_FILE, "vma_interval_tree_insert"), line(MOVE_PAGES, "move_page_tables"));
	put_parcel(COPY_MAPPING, 0x8082);
	put_parcel(LINK_FILE, 0x8082);
	put_parcel(MOVE_PAGES, 0x8082);
	begin_modules(name, symbols);
	switches(0, 100, CODE);
	work(CODE, 5);
	hart_trap(&hart, COPY_MAPPING, of_file ? LINK_FILE : NOTHING, CODE);
	hart_trap(&hart, MOVE_PAGES, LINK_FILE, CODE);
	work(CODE, 5);
	end_modules(name, symbols);
	decode(name, NULL);
	is_str(notes,
	       of_file ? "process 100 (a) moved a mapping of a file (mremap()), and no record says "
			 "which: if it is code, its old place and what was at its new one are "
			 "decoded as before\n" :
			 "",
	       "%s: the note", name);
	is_u64(errors, 0, "no error");
}

static void tests(void)
{
	test_parts();
	test_spaces();
	for (size_t i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++)
		test_changed(i);
	test_replaced_module();
	test_passing_module(false);
	test_passing_module(true);
	test_moved_mapping(false);
	test_moved_mapping(true);
}

int main(void)
{
	return test_sessions(tests);
}
