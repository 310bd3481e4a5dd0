// SPDX-License-Identifier: GPL-2.0-only
/* Lines of /proc/kallsyms: symbols, modules, and lines that are none. */
#include <errno.h>

#include "scratch.h"
#include "sideband/kallsyms.h"
#include "tap.h"

static char found[400];

static int take(void *data, const struct kallsym *symbol)
{
	size_t used = strlen(found);

	snprintf(found + used, sizeof(found) - used, "%s%lx %c %s [%s] %zu", used ? "; " : "",
		 (unsigned long)symbol->address, symbol->type, symbol->name, symbol->module,
		 symbol->length);
	return data ? *(int *)data : 0;
}

static int read_text(const char *text, void *data)
{
	FILE *file = fopen(in("kallsyms"), "w");

	found[0] = '\0';
	if (!file || fputs(text, file) < 0)
		return 1000;
	fclose(file);
	return kallsyms_read(in("kallsyms"), take, data);
}

static void test_lines(void)
{
	static const struct {
		const char *what, *text, *found;
		int error;
	} cases[] = {
		{ "a symbol", "ffffffff80002000 T start\n", "ffffffff80002000 T start [] 25", 0 },
		{ "of a module", "10 t init\t[ext4]\n", "10 t init [ext4] 17", 0 },
		{ "after a space", "10 t init [ext4]\n", "10 t init [ext4] 17", 0 },
		{ "a module that does not end", "10 t init\t[ext4\n", "10 t init [ext4] 16", 0 },
		{ "weak symbols", "1 w a\n2 W b\n", "1 w a [] 6; 2 W b [] 6", 0 },
		{ "data", "1 d a\n2 B b\n3 A c\n", "", 0 },
		{ "without a newline", "Ab9 T x", "ab9 T x [] 7", 0 },
		{ "capital digits", "ABCDEF T x\n", "abcdef T x [] 11", 0 },
		{ "a name of one character", "1 T x\n", "1 T x [] 6", 0 },
		{ "a line that ends after its type", "1 T ", "", NTRACE_ERR_FORMAT },
		{ "no address", " T x\n", "", NTRACE_ERR_FORMAT },
		{ "no digits", "ghi T x\n", "", NTRACE_ERR_FORMAT },
		{ "no space after the address", "1_T x\n", "", NTRACE_ERR_FORMAT },
		{ "a type of two characters", "1 TT x\n", "", NTRACE_ERR_FORMAT },
		{ "an address alone", "1\n", "", NTRACE_ERR_FORMAT },
		{ "an empty file", "", "", NTRACE_ERR_FORMAT },
		{ "other lines are skipped", "odd\n1 T x\nodd\n2 T y\n", "1 T x [] 6; 2 T y [] 6",
		  0 },
	};
	int stop = 55;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_u64((uint64_t)read_text(cases[i].text, NULL), (uint64_t)cases[i].error, "%s",
		       cases[i].what);
		is_str(found, cases[i].found, "%s", cases[i].what);
	}
	is_u64((uint64_t)read_text("1 T x\n2 T y\n", &stop), 55, "the callback can stop");
	is_str(found, "1 T x [] 6", "after a symbol");
	errno = 0;
	is_u64((uint64_t)kallsyms_read(in("none"), take, NULL), (uint64_t)NTRACE_ERR_IO,
	       "no such file");
	is_u64((uint64_t)errno, ENOENT, "errno says so");
}

static void test_labels(void)
{
	static const struct {
		const char *name;
		bool label;
	} cases[] = { { "$x", true },	{ ".L12", true }, { ".LANCHOR", true }, { "L1", false },
		      { ".l1", false }, { "x$", false },  { "start", false },	{ ".", false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct kallsym symbol = { .name = cases[i].name };

		ok(kallsyms_is_label(&symbol) == cases[i].label, "\"%s\"", cases[i].name);
	}
}

int main(void)
{
	if (!scratch_make())
		return 1;
	test_lines();
	test_labels();
	scratch_remove();
	return done_testing();
}
