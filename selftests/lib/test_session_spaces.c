// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of lib/session alone: the addresses around one that a program's mappings leave, the address
 * spaces of such parts, and when to count instead of reporting each block.
 */
#include "session/decode.h"
#include "session/session.h"

#include "stream_text.h"
#include "test_session.h"

/* ---- parts of programs ---- */

static struct mapped_file file_a = { .path = "/a" }, file_b = { .path = "/b" };

/* Mappings in the order of their times; addresses in pages. */
static const struct {
	const char *what;
	struct mapping_change changes[3];
	uint64_t address, first, last;
	unsigned int mapping;	/* the change of the part; 3: no code */
} parts[] = {
	{ "one mapping", { { 1, 0x1000, 0x3000, 0, &file_a } }, 0x2000, 0x1000, 0x3fff, 0 },
	{ "its last byte", { { 1, 0x1000, 0x3000, 0, &file_a } }, 0x3fff, 0x1000, 0x3fff, 0 },
	{ "the byte after it", { { 1, 0x1000, 0x3000, 0, &file_a } }, 0x4000, 0, 0, 3 },
	{ "another one begins inside it",
	  { { 1, 0x1000, 0x3000, 0, &file_a }, { 2, 0x3000, 0x3000, 0, &file_b } },
	  0x2000,
	  0x1000,
	  0x2fff,
	  0 },
	{ "another one ends inside it, at the address",
	  { { 1, 0x1000, 0x3000, 0, &file_a }, { 2, 0, 0x2000, 0, &file_b } },
	  0x2000,
	  0x2000,
	  0x3fff,
	  0 },
	{ "the last byte of the other one",
	  { { 1, 0x1000, 0x3000, 0, &file_a }, { 2, 0, 0x2000, 0, &file_b } },
	  0x1fff,
	  0,
	  0x1fff,
	  1 },
	{ "on both sides",
	  { { 1, 0x1000, 0x5000, 0, &file_a },
	    { 2, 0x1000, 0x1000, 0, &file_b },
	    { 3, 0x3000, 0x1000, 0, NULL } },
	  0x2000,
	  0x2000,
	  0x2fff,
	  0 },
	{ "an empty one changes nothing",
	  { { 1, 0x1000, 0x3000, 0, &file_a }, { 2, 0x2000, 0, 0, &file_b } },
	  0x2800,
	  0x1000,
	  0x3fff,
	  0 },
	{ "memory without a file",
	  { { 1, 0x1000, 0x3000, 0, &file_a }, { 2, 0x2000, 0x1000, 0, NULL } },
	  0x2000,
	  0,
	  0,
	  3 },
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
		found = program_part(&program, parts[i].address, 10, &part);
		ok(parts[i].mapping == 3 ?
			   !found :
			   found && part.mapping == &mapped[parts[i].mapping] &&
				   part.first == parts[i].first && part.last == parts[i].last,
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

static void tests(void)
{
	test_parts();
	test_spaces();
}

int main(void)
{
	return test_sessions(tests);
}
