// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/image/lines.c alone: hand-made lines and scopes that overlap, exceed their parent, are
 * adjacent or leave gaps, as compilers and linkers produce them. test_lines.c uses real programs.
 */
#include <stdlib.h>

#include "image/lines.h"

#include "tap.h"

static const char a_file[] = "a", b_file[] = "b";

static struct ntrace_lines lines;

static void begin(void)
{
	memset(&lines, 0, sizeof(lines));
	lines.lines = calloc(16, sizeof(*lines.lines));
	lines.ranges = calloc(16, sizeof(*lines.ranges));
}

static void end(void)
{
	free(lines.lines);
	free(lines.ranges);
}

static void line(uint64_t from, uint64_t to, const char *file, uint32_t number, uint32_t part)
{
	lines.lines[lines.line_count++] = (struct ntrace_line){
		.start = from, .end = to, .file = file, .line = number, .discriminator = part
	};
}

static void range(uint64_t from, uint64_t to, uint32_t scope)
{
	lines.ranges[lines.range_count++] = (struct scope_range){ from, to, scope };
}

/* "START-END:FILE LINE.PART ..." */
static const char *lines_text(void)
{
	static char text[1024];
	const struct ntrace_line *all;
	size_t count, used = 0, i;

	text[0] = '\0';
	all = ntrace_lines_all(&lines, &count);
	for (i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%" PRIx64 "-%" PRIx64 ":%s%u.%u", i ? " " : "",
					 all[i].start, all[i].end, all[i].file, all[i].line,
					 all[i].discriminator);
	return text;
}

/* The scope of each address below 0x20: a letter, "." for none. */
static const char *scopes_text(void)
{
	static char text[0x21];
	uint64_t at;

	for (at = 0; at < 0x20; at++) {
		uint32_t scope = ntrace_lines_scope(&lines, at);

		text[at] = scope == NTRACE_NO_SCOPE ? '.' : (char)('A' + scope);
	}
	return text;
}

static void expect_lines(const char *want, const char *name)
{
	is_u64(lines_settle(&lines), 0, "%s: settled", name);
	is_str(lines_text(), want, "%s", name);
	end();
}

static void test_lines(void)
{
	begin();
	line(0x20, 0x30, a_file, 3, 0);
	line(0x10, 0x20, a_file, 3, 0);
	line(0x30, 0x38, a_file, 4, 0);
	line(0x38, 0x40, a_file, 4, 1);
	line(0x40, 0x48, b_file, 4, 1);
	line(0x4a, 0x50, b_file, 4, 1);
	expect_lines("10-30:a3.0 30-38:a4.0 38-40:a4.1 40-48:b4.1 4a-50:b4.1",
		     "adjacent rows of one line are merged");

	begin();
	line(0x10, 0x20, a_file, 1, 0);
	line(0x10, 0x20, b_file, 2, 0);		/* described twice */
	line(0x18, 0x28, a_file, 3, 0);		/* exceeds its parent */
	line(0x1a, 0x1c, a_file, 4, 0);		/* inside another range */
	line(0x28, 0x28, a_file, 5, 0);		/* empty range */
	line(0x27, 0x29, a_file, 6, 0);
	expect_lines("10-20:a1.0 20-28:a3.0 28-29:a6.0", "each byte has one line");

	begin();
	line(0x10, 0x20, a_file, 1, 0);
	line(0x10, 0x18, a_file, 2, 0);
	expect_lines("10-18:a2.0 18-20:a1.0",
		     "of two rows with the same start the shorter one comes first");

	begin();
	is_u64(lines_settle(&lines), NTRACE_ERR_UNSUPPORTED, "no lines at all");
	end();

	begin();
	line(0x10, 0x20, a_file, 1, 0);
	line(0x30, UINT64_MAX, a_file, 2, 0);
	is_u64(lines_settle(&lines), 0, "two lines with a gap");
	ok(!ntrace_lines_find(&lines, 0) && !ntrace_lines_find(&lines, 0xf), "nothing before");
	ok(ntrace_lines_find(&lines, 0x10) == &lines.lines[0] &&
		   ntrace_lines_find(&lines, 0x1f) == &lines.lines[0],
	   "from the first byte to the last");
	ok(!ntrace_lines_find(&lines, 0x20) && !ntrace_lines_find(&lines, 0x2f), "the hole");
	ok(ntrace_lines_find(&lines, 0x30) == &lines.lines[1] &&
		   ntrace_lines_find(&lines, UINT64_MAX - 1) == &lines.lines[1],
	   "after it");
	ok(!ntrace_lines_find(&lines, UINT64_MAX), "the end is not part of it");
	is_u64(ntrace_lines_scope(&lines, 0x10), NTRACE_NO_SCOPE, "no scopes");
	end();
}

static void expect_scopes(const char *want, const char *name)
{
	line(0, 0x20, a_file, 1, 0);
	is_u64(lines_settle(&lines), 0, "%s: settled", name);
	is_str(scopes_text(), want, "%s", name);
	end();
}

static void test_scopes(void)
{
	begin();
	range(0x02, 0x06, 0);
	range(0x08, 0x0a, 1);
	range(0x0a, 0x0c, 2);
	expect_scopes("..AAAA..BBCC....................", "functions, with and without a gap");

	begin();
	range(0x02, 0x1c, 0);
	range(0x04, 0x18, 1);
	range(0x06, 0x08, 2);
	range(0x0a, 0x0c, 3);
	range(0x0c, 0x18, 4);
	expect_scopes("..AABBCCBBDDEEEEEEEEEEEEAAAA....",
		      "an inlined function lies in the containing one");

	begin();
	range(0x02, 0x08, 0);
	range(0x02, 0x08, 1);
	range(0x02, 0x08, 2);
	expect_scopes("..CCCCCC........................",
		      "of equal scopes the one read last is the innermost");

	begin();
	range(0x02, 0x06, 2);
	range(0x02, 0x0a, 1);
	range(0x02, 0x0e, 0);
	expect_scopes("..CCCCBBBBAAAA..................",
		      "of scopes with the same start the longest "
		      "one is the outermost");

	begin();
	range(0x02, 0x08, 0);
	range(0x04, 0x10, 1);
	range(0x12, 0x14, 2);
	expect_scopes("..AABBBB..........CC............", "a scope that exceeds its parent is cut");

	begin();
	range(0x02, 0x08, 0);
	range(0x06, 0x08, 1);
	range(0x08, 0x0a, 2);
	range(0x0a, 0x20, 3);
	range(0x1f, 0x20, 4);
	expect_scopes("..AAAABBCCDDDDDDDDDDDDDDDDDDDDDE", "several scopes end where others begin");

	begin();
	expect_scopes("................................", "none");
}

int main(void)
{
	test_lines();
	test_scopes();
	return done_testing();
}
