// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code that the linker placed, told from code that it dropped. DWARF still describes the latter, and GNU ld gives it
 * the address 0, where an image of a microcontroller has code, too: size and name of the function decide there.
 */
#include <string.h>

#include "lines.h"
#include "object.h"

/* Of a function at 0 that has more names, any name may be its. */
#define ZERO_NAMES_MAX 8

/*
 * Whether code that begins at 0 has the size of what the linker placed there: that of the function, or of several of
 * which the last one ends with the range.
 */
static bool is_placed_at_zero(struct ntrace_object *object, uint64_t end, bool sequence)
{
	const struct symbol *first = symbol_table_find(&object->symbols, 0), *last;

	if (!object->code_at_zero)
		return false;
	if (!first || !first->sized || end == first->end)
		return true;
	last = symbol_table_find(&object->symbols, end - 1);
	return sequence && end > first->end && (!last || !last->sized || last->end == end);
}

bool object_is_code(struct ntrace_object *object, uint64_t start, uint64_t end, bool sequence)
{
	uint64_t address, size;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++) {
		if (executable && start >= address && start - address < size)
			return start || is_placed_at_zero(object, end, sequence);
	}
	return false;
}

static bool is_named(const struct symbol *symbol, const char *name)
{
	size_t length = strlen(name);

	if (symbol->rank < SYMBOL_RANK_LOCAL)
		return false;
	if (!strncmp(symbol->name, name, length) &&
	    (!symbol->name[length] || symbol->name[length] == '.'))
		return true;
	/* Without linkage names, which clang leaves out on request. */
	return symbol->name[0] == '_' && strstr(symbol->name, name);
}

bool object_has_at_zero(struct ntrace_object *object, const char *name)
{
	struct symbol_table *table = &object->symbols;
	const struct symbol *symbol = symbol_table_find(table, 0);

	if (!symbol || symbol->start || symbol->rank < SYMBOL_RANK_LOCAL || *name == '[')
		return true;
	for (size_t i = 0; symbol; symbol = symbol_table_alias(table, 0, i++))
		if (is_named(symbol, name) || i == ZERO_NAMES_MAX)
			return true;
	return false;
}

bool lines_begin_at_zero(const struct ntrace_lines *lines, uint32_t number)
{
	for (size_t i = lines->range_count; i-- > 0;)
		if (lines->ranges[i].scope == number && !lines->ranges[i].start)
			return true;
	return false;
}
