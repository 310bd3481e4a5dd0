// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names as compilers change them: those of C++ and Rust, and of parts. libiberty's demangler knows both, the two manglings of
 * Rust too, is what perf, gdb and binutils use, and is linked statically: that
 * of libstdc++ knows C++ only, and would be one more library at run time.
 */
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include <ntrace/image.h>

char *ntrace_demangle(const char *name)
{
	char *text = NULL;

	/* Nothing else begins so: most names need not be looked at. */
	if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2))
		text = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	return text ? text : strdup(name);
}

size_t ntrace_symbol_stem(const char *name)
{
	const char *part = strstr(name, ".cold");

	while (part && part[5] && part[5] != '.')
		part = strstr(part + 1, ".cold");
	return part && part != name ? (size_t)(part - name) : strlen(name);
}

bool ntrace_location_same_function(const struct ntrace_location *a, const struct ntrace_location *b)
{
	size_t stem;

	if (a->object != b->object || !a->symbol != !b->symbol)
		return false;
	if (!a->symbol || a->symbol_start == b->symbol_start)
		return true;
	stem = ntrace_symbol_stem(a->symbol);
	return stem == ntrace_symbol_stem(b->symbol) && !strncmp(a->symbol, b->symbol, stem) &&
	       strcmp(a->symbol, b->symbol);
}

bool ntrace_symbol_matches(const char *symbol, const char *name)
{
	size_t length = strlen(name);
	char *text;
	bool same;

	if (!strcmp(symbol, name))
		return true;
	text = ntrace_demangle(symbol);
	same = text && !strncmp(text, name, length) &&
	       (!text[length] || text[length] == '(' || !strncmp(text + length, " [", 2));
	free(text);
	return same;
}
