// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Functions in several pieces. Compilers and BOLT name a piece after its function:
 *
 *	f.cold, f.cold.N, f.warm, f.warm.N, f.__part.N	entered by jumps of the function
 *	f.part.N					also called, by code into which f is inlined
 *
 * Each piece belongs to the function with the longest such name that the object has: f.part.0.cold to
 * f.part.0, and so to f. Clones, such as f.constprop.0, are functions of their own. Of several
 * functions of one name, that of the same source file is chosen, then the one that is not local; if
 * that does not decide, the piece remains a function of its own.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/image.h>

#include "grow.h"
#include "object.h"

#define LEVELS_MAX 8

/* A function that a piece may belong to. @best: the best candidate so far has this rating; 0 = none */
struct wanted {
	char *name;
	size_t piece;
	uint64_t start;
	unsigned int best;
	bool ambiguous;
};

struct wanted_list {
	struct wanted *items;
	size_t count;
	size_t room;
};

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

/* Whether @text begins with the suffix of a piece. @jumps: one that is entered by jumps alone. */
static bool is_suffix(const char *text, bool jumps)
{
	if (!strncmp(text, ".cold", 5) || !strncmp(text, ".warm", 5))
		return !text[5] || text[5] == '.' || text[5] == ' ';
	if (!strncmp(text, ".__part.", 8))
		return is_digit(text[8]);
	return !jumps && !strncmp(text, ".part.", 6) && is_digit(text[6]);
}

/* The first suffix in @name from @from on; NULL: none. */
static const char *find_suffix(const char *name, const char *from, bool jumps)
{
	while ((from = strchr(from, '.'))) {
		if (from != name && is_suffix(from, jumps))
			return from;
		from++;
	}
	return NULL;
}

bool ntrace_location_is_entry(const struct ntrace_location *location)
{
	return location->symbol && location->link_address == location->symbol_start &&
	       !find_suffix(location->symbol, location->symbol, true);
}

bool ntrace_location_same_function(const struct ntrace_location *a, const struct ntrace_location *b)
{
	return a->object == b->object && !a->symbol == !b->symbol &&
	       (!a->symbol || a->function_start == b->function_start);
}

/* Adds the names of all functions that the symbol @piece may belong to. */
static int want(struct wanted_list *list, const struct symbol *symbols, size_t piece)
{
	const char *name = symbols[piece].name, *suffix = name;
	/* Symbols of a kernel module end with its name. */
	const char *module = strstr(name, " [");

	while ((suffix = find_suffix(name, suffix, false))) {
		size_t length = (size_t)(suffix - name), more = module ? strlen(module) : 0;
		char *text = calloc(1, length + more + 1);

		if (!text ||
		    grow((void **)&list->items, list->count, &list->room, sizeof(*list->items))) {
			free(text);
			return NTRACE_ERR_NOMEM;
		}
		memcpy(text, name, length);
		memcpy(text + length, more ? module : "", more);
		list->items[list->count++] = (struct wanted){ .name = text, .piece = piece };
		suffix++;
	}
	return 0;
}

static int compare_wanted(const void *left, const void *right)
{
	const struct wanted *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int compare_name(const void *name, const void *wanted)
{
	return strcmp(name, ((const struct wanted *)wanted)->name);
}

/* How well @symbol fits as the function of @piece; a greater number is better. */
static unsigned int rate(const struct symbol *symbol, const struct symbol *piece)
{
	if (symbol->rank != SYMBOL_RANK_LOCAL)
		return 2;
	return symbol->file && symbol->file == piece->file ? 3 : 1;
}

/* @symbol has a name that is wanted. */
static void offer(struct wanted *wanted, const struct symbol *symbol, const struct symbol *piece)
{
	unsigned int rating = rate(symbol, piece);

	if (rating == wanted->best && symbol->start != wanted->start)
		wanted->ambiguous = true;
	if (rating <= wanted->best)
		return;
	wanted->best = rating;
	wanted->start = symbol->start;
	wanted->ambiguous = false;
}

static void offer_all(const struct wanted_list *list, const struct symbol *symbols, size_t count)
{
	const struct wanted *end = list->items + list->count;

	for (size_t i = 0; i < count; i++) {
		struct wanted *found;

		if (symbols[i].rank < SYMBOL_RANK_LOCAL)
			continue;
		found = bsearch(symbols[i].name, list->items, list->count, sizeof(*list->items),
				compare_name);
		while (found && found > list->items && !strcmp(found[-1].name, symbols[i].name))
			found--;
		for (; found && found < end && !strcmp(found->name, symbols[i].name); found++)
			offer(found, &symbols[i], &symbols[found->piece]);
	}
}

/* The names of each piece are sorted by length: the longest comes last. */
static void choose(const struct wanted_list *list, struct symbol *symbols)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct wanted *wanted = &list->items[i];

		if (wanted->best && !wanted->ambiguous)
			symbols[wanted->piece].whole = wanted->start;
	}
}

int symbol_parts_find(struct symbol *symbols, size_t count)
{
	struct wanted_list list = { 0 };
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		if (symbols[i].rank >= SYMBOL_RANK_LOCAL)
			error = want(&list, symbols, i);
	if (!error && list.count) {
		/* A prefix comes before what it is a prefix of. */
		qsort(list.items, list.count, sizeof(*list.items), compare_wanted);
		offer_all(&list, symbols, count);
		choose(&list, symbols);
	}
	for (size_t i = 0; i < list.count; i++)
		free(list.items[i].name);
	free(list.items);
	return error;
}

static int compare_start(const void *start, const void *symbol)
{
	uint64_t wanted = *(const uint64_t *)start, is = ((const struct symbol *)symbol)->start;

	return wanted < is ? -1 : wanted > is;
}

void symbol_parts_link(struct symbol *symbols, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct symbol *next;
		size_t whole = i;

		/* Parts of parts. Folding of equal code may make pieces of each other. */
		for (unsigned int level = 0; level < LEVELS_MAX; level++) {
			if (symbols[whole].whole == symbols[whole].start)
				break;
			next = bsearch(&symbols[whole].whole, symbols, count, sizeof(*symbols),
				       compare_start);
			if (!next)
				break;
			whole = (size_t)(next - symbols);
		}
		symbols[i].function = whole;
	}
}
