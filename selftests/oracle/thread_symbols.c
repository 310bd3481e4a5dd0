// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thread_stacks.h"

#define SYMBOLS_MAX (1u << 26)
#define KERNEL (1ull << 63)

struct symbol {
	uint64_t start;
	char *name;
	bool part;
};

struct table {
	uint64_t pid;
	unsigned int exec;
	uint32_t first, count;
	uint64_t low, high;	/* bounds of the function looked up last */
	uint32_t last;
};

/* Table 0 is for programs that are not known, table 1 that of the kernel. */
static struct table *tables;
static uint32_t table_count, table_room;
static struct symbol *symbols;
static uint32_t symbol_count, symbol_room;

void threads_die(const char *what, const char *why)
{
	fprintf(stderr, "threads: %s: %s\n", what, why);
	exit(1);
}

void *threads_grow(void *array, uint32_t *room, size_t size, uint32_t max, const char *what)
{
	*room = *room ? 2 * *room : 1024;
	array = *room > max ? NULL : realloc(array, *room * size);
	if (!array)
		threads_die(what, "too many");
	return array;
}

static struct table *add_table(uint64_t pid, unsigned int exec)
{
	if (table_count == table_room)
		tables = threads_grow(tables, &table_room, sizeof(*tables), SYMBOLS_MAX, "tables");
	tables[table_count] = (struct table){ .pid = pid, .exec = exec, .first = symbol_count };
	return &tables[table_count++];
}

static void add_symbol(struct table *table, uint64_t start, const char *name, bool part)
{
	if (symbol_count == symbol_room)
		symbols = threads_grow(symbols, &symbol_room, sizeof(*symbols), SYMBOLS_MAX,
				       "symbols");
	symbols[symbol_count].start = start;
	symbols[symbol_count].part = part;
	symbols[symbol_count++].name = strdup(name);
	table->count++;
}

void symbols_read(const char *path)
{
	FILE *file = fopen(path, "r");
	struct table *table;
	char *line = NULL, *name, *part;
	size_t room = 0;
	uint64_t pid;
	unsigned int exec;

	if (!file)
		threads_die(path, strerror(errno));
	table = add_table(0, 0);
	add_symbol(table, 0, "*", false);
	table = add_table(0, 0);
	add_symbol(table, 0, "*", false);
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		name = strchr(line, '\t');
		if (sscanf(line, "space %" SCNu64 " %u", &pid, &exec) == 2) {
			table = add_table(pid, exec);
			add_symbol(table, 0, "*", false);
		} else if (!strcmp(line, "kernel")) {
			if (table_count != 2)
				threads_die(path, "the kernel must come first");
		} else if (!name) {
			threads_die(path, "not lines of ADDRESS TAB NAME, with TAB part after it");
		} else {
			part = strchr(name + 1, '\t');
			if (part)
				*part = '\0';
			add_symbol(table, strtoull(line, NULL, 16), name + 1, part != NULL);
			if (symbols[symbol_count - 1].start <= symbols[symbol_count - 2].start)
				threads_die(path, "not ascending");
		}
	}
	free(line);
	fclose(file);
}

uint32_t symbols_table(uint64_t pid, unsigned int exec)
{
	for (uint32_t i = 2; i < table_count; i++)
		if (tables[i].pid == pid && tables[i].exec == exec)
			return i;
	return NO_TABLE;
}

void symbols_of(uint32_t table, uint64_t *pid, unsigned int *exec)
{
	*pid = tables[table].pid;
	*exec = tables[table].exec;
}

uint32_t symbols_function(uint32_t number, uint64_t address)
{
	struct table *table = &tables[address & KERNEL ? 1 : number];
	uint32_t low = table->first, high = table->first + table->count;

	if (address >= table->low && address < table->high)
		return table->last;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (symbols[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	table->last = low;
	table->low = symbols[low].start;
	table->high = high < table->first + table->count ? symbols[high].start : UINT64_MAX;
	return low;
}

const char *symbols_name(uint32_t function)
{
	return symbols[function].name;
}

bool symbols_is_part(uint32_t part, uint32_t function)
{
	return symbols[part].part && part != function &&
	       !strcmp(symbols[part].name, symbols[function].name);
}

uint64_t symbols_start(uint32_t function)
{
	return symbols[function].start;
}
