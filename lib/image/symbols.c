// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Symbols of an object: the name of each address. Among names with the same start the choice
 * follows perf (choose_best_symbol), so that both tools print the same name: functions before
 * labels, with a size before without, global before weak before local, fewer leading underscores,
 * the longer name, and then alphabetical order. Of overlapping symbols, the one that starts last
 * holds the address. The other names at the same start remain as aliases: users may type any of them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "object.h"

#define TEXT_CHUNK 65536

struct text_chunk {
	struct text_chunk *next;
	size_t used;
	size_t size;
	char text[];
};

static const char *copy_text(struct symbol_table *table, const char *text)
{
	size_t length = strlen(text) + 1;
	struct text_chunk *chunk = table->text;
	char *copy;

	if (!chunk || chunk->size - chunk->used < length) {
		size_t size = length > TEXT_CHUNK ? length : TEXT_CHUNK;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		chunk->next = table->text;
		chunk->used = 0;
		chunk->size = size;
		table->text = chunk;
	}
	copy = chunk->text + chunk->used;
	memcpy(copy, text, length);
	chunk->used += length;
	return copy;
}

int symbol_table_add(struct symbol_table *table, const char *name, uint64_t start, uint64_t size,
		     enum symbol_rank rank)
{
	struct symbol *symbol;

	if (grow((void **)&table->symbols, table->all, &table->room, sizeof(*table->symbols)))
		return NTRACE_ERR_NOMEM;
	symbol = &table->symbols[table->all++];
	table->count = table->all;
	symbol->name = name;
	symbol->start = start;
	symbol->whole = start;
	symbol->end = start + size < start ? UINT64_MAX : start + size;
	symbol->limit = UINT64_MAX;
	symbol->rank = rank;
	symbol->file = rank == SYMBOL_RANK_LOCAL ? table->file : 0;
	symbol->sized = size != 0;
	symbol->resolver = false;
	symbol->marked = false;
	atomic_store_explicit(&table->sorted, false, memory_order_relaxed);
	return 0;
}

int symbol_table_add_copy(struct symbol_table *table, const char *name, uint64_t start,
			  uint64_t size, enum symbol_rank rank)
{
	const char *copy = copy_text(table, name);

	if (!copy)
		return NTRACE_ERR_NOMEM;
	return symbol_table_add(table, copy, start, size, rank);
}

static int compare_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* By start; for the same start the best name first. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	bool function_a = a->rank >= SYMBOL_RANK_LOCAL, function_b = b->rank >= SYMBOL_RANK_LOCAL;
	bool range_a = a->rank == SYMBOL_RANK_RANGE, range_b = b->rank == SYMBOL_RANK_RANGE;
	int order = compare_number(a->start, b->start);

	if (!order)
		order = (int)function_b - (int)function_a;
	if (!order)
		order = (int)range_a - (int)range_b;
	if (!order)
		order = (int)b->sized - (int)a->sized;
	if (!order)
		order = (int)b->rank - (int)a->rank;
	if (!order)
		order = compare_number(underscores(a->name), underscores(b->name));
	if (!order)
		order = compare_number(strlen(b->name), strlen(a->name));
	if (!order)
		order = strcmp(a->name, b->name);
	/* The longer range first makes the order of equal names deterministic. */
	return order ? order : compare_number(b->end, a->end);
}

/*
 * Keeps one symbol per start, the best, and moves the others to @aliases. If the best one has
 * no size, it takes the size of another name, so that no part of the range is lost. Return: number kept
 */
static size_t split_aliases(struct symbol *symbols, size_t count, struct symbol *aliases,
			    size_t *alias_count)
{
	const char *last = NULL;
	size_t kept = 0, i;

	for (i = 0; i < count; i++) {
		if (kept && symbols[kept - 1].start == symbols[i].start) {
			if (!symbols[kept - 1].sized && symbols[i].sized) {
				symbols[kept - 1].end = symbols[i].end;
				symbols[kept - 1].sized = true;
			}
			/* .symtab repeats the names of .dynsym. */
			if (strcmp(symbols[i].name, last) != 0)
				aliases[(*alias_count)++] = symbols[i];
		} else {
			symbols[kept++] = symbols[i];
		}
		last = symbols[i].name;
	}
	return kept;
}

/* Labels and .eh_frame ranges inside a sized function add no information. */
static size_t drop_labels(struct symbol *symbols, size_t count)
{
	uint64_t covered = 0;
	size_t kept = 0, i;

	for (i = 0; i < count; i++) {
		if (symbols[i].rank <= SYMBOL_RANK_LABEL && symbols[i].start < covered)
			continue;
		if (symbols[i].rank > SYMBOL_RANK_LABEL && symbols[i].sized &&
		    symbols[i].end > covered)
			covered = symbols[i].end;
		symbols[kept++] = symbols[i];
	}
	return kept;
}

static void add_piece(struct symbol_table *table, uint64_t start, uint64_t end, size_t symbol)
{
	struct symbol_piece *next = &table->pieces[table->piece_count];

	if (start >= end)
		return;
	if (table->piece_count && next[-1].end == start && next[-1].symbol == symbol) {
		next[-1].end = end;
	} else {
		*next = (struct symbol_piece){ start, end, symbol };
		table->piece_count++;
	}
}

/*
 * Sweeps over the starts with a stack of open symbols. Each symbol opens one piece, and may end one
 * piece and continue after another: at most two pieces per symbol.
 */
static void make_pieces(struct symbol_table *table, size_t *stack)
{
	size_t depth = 0, i;
	uint64_t at = 0;

	for (i = 0; i <= table->count; i++) {
		uint64_t next = i < table->count ? table->symbols[i].start : UINT64_MAX;

		while (depth) {
			const struct symbol *open = &table->symbols[stack[depth - 1]];

			if (open->end > next) {
				add_piece(table, at, next, stack[depth - 1]);
				break;
			}
			if (open->end > at) {
				add_piece(table, at, open->end, stack[depth - 1]);
				at = open->end;
			}
			depth--;
		}
		at = next;
		if (i < table->count)
			stack[depth++] = i;
	}
}

/* The name of a function whose range is a guess. */
static int mark_guess(struct symbol_table *table, struct symbol *symbol)
{
	char *text;

	if (symbol->marked)
		return 0;
	if (asprintf(&text, "%s [no size]", symbol->name) < 0)
		return NTRACE_ERR_NOMEM;
	symbol->name = copy_text(table, text);
	symbol->marked = true;
	free(text);
	return symbol->name ? 0 : NTRACE_ERR_NOMEM;
}

/* Symbols without a size end at the next one, or with their section. */
static int guess_sizes(struct symbol_table *table)
{
	int error = 0;

	for (size_t i = 0; i < table->count && !error; i++) {
		struct symbol *symbol = &table->symbols[i];

		if (symbol->sized)
			continue;
		symbol->end = i + 1 < table->count ? symbol[1].start : UINT64_MAX;
		if (symbol->end > symbol->limit && symbol->limit > symbol->start)
			symbol->end = symbol->limit;
		if (table->sparse)
			error = mark_guess(table, symbol);
	}
	return error;
}

/* Sorts the names, those of an earlier sort included: first one for each start, then the aliases. */
static int sort_names(struct symbol_table *table)
{
	size_t alias_count = 0, i;
	struct symbol *aliases;

	if (table->all)
		qsort(table->symbols, table->all, sizeof(*table->symbols), compare_symbols);
	for (i = 1; i < table->all; i++)
		alias_count += table->symbols[i].start == table->symbols[i - 1].start;
	aliases = calloc(alias_count + 1, sizeof(*aliases));
	if (!aliases)
		return NTRACE_ERR_NOMEM;
	alias_count = 0;
	table->count = split_aliases(table->symbols, table->all, aliases, &alias_count);
	table->count = drop_labels(table->symbols, table->count);
	if (alias_count)
		memcpy(table->symbols + table->count, aliases, alias_count * sizeof(*aliases));
	table->all = table->count + alias_count;
	free(aliases);
	return 0;
}

static int sort_symbols(struct symbol_table *table)
{
	struct symbol_piece *pieces;
	size_t *stack;

	if (symbol_parts_find(table->symbols, table->all) || sort_names(table))
		return NTRACE_ERR_NOMEM;
	symbol_parts_link(table->symbols, table->count);
	if (guess_sizes(table))
		return NTRACE_ERR_NOMEM;
	/* One more, since there may be no symbols. */
	stack = calloc(table->count + 1, sizeof(*stack));
	pieces = calloc(2 * table->count + 1, sizeof(*pieces));
	if (!stack || !pieces) {
		free(stack);
		free(pieces);
		return NTRACE_ERR_NOMEM;
	}
	free(table->pieces);
	table->pieces = pieces;
	table->piece_count = 0;
	atomic_store_explicit(&table->last, 0, memory_order_relaxed);
	make_pieces(table, stack);
	free(stack);
	atomic_store_explicit(&table->sorted, true, memory_order_release);
	return 0;
}

/* Several threads may make the first lookup. Return: the table is sorted. */
static bool sort_once(struct symbol_table *table)
{
	static pthread_mutex_t sorting = PTHREAD_MUTEX_INITIALIZER;
	bool sorted;

	if (atomic_load_explicit(&table->sorted, memory_order_acquire))
		return true;
	pthread_mutex_lock(&sorting);
	sorted = atomic_load_explicit(&table->sorted, memory_order_relaxed) || !sort_symbols(table);
	pthread_mutex_unlock(&sorting);
	return sorted;
}

const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t address)
{
	const struct symbol_piece *piece;
	size_t low = 0;

	if (!sort_once(table) || !table->piece_count)
		return NULL;
	piece = &table->pieces[atomic_load_explicit(&table->last, memory_order_relaxed)];
	if (address >= piece->start && address < piece->end)
		return &table->symbols[piece->symbol];
	BISECT(low, table->piece_count, middle, table->pieces[middle].end <= address);
	if (low == table->piece_count || table->pieces[low].start > address)
		return NULL;
	atomic_store_explicit(&table->last, low, memory_order_relaxed);
	return &table->symbols[table->pieces[low].symbol];
}

const struct symbol *symbol_table_alias(struct symbol_table *table, uint64_t start, size_t index)
{
	size_t low = table->count;

	BISECT(low, table->all, middle, table->symbols[middle].start < start);
	return index < table->all - low && table->symbols[low + index].start == start ?
		       &table->symbols[low + index] :
		       NULL;
}

void symbol_table_free(struct symbol_table *table)
{
	while (table->text) {
		struct text_chunk *next = table->text->next;

		free(table->text);
		table->text = next;
	}
	free(table->symbols);
	free(table->pieces);
}
