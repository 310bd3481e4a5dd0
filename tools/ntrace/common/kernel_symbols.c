// SPDX-License-Identifier: GPL-2.0-only
/* /proc/kallsyms in memory: half a million lines, so nothing is copied. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/session.h>

#include "command.h"
#include "kernel_symbols.h"
#include "ui.h"

/* Reads a file of unknown size and appends a 0. Return: NULL and errno on failure. */
static char *read_all(const char *path)
{
	size_t size = 0, room = 1 << 20;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char *text = file < 0 ? NULL : malloc(room + 1);
	ssize_t got = 1;

	while (text && got > 0) {
		got = read(file, text + size, room - size);
		size += got > 0 ? (size_t)got : 0;
		if (size == room) {
			char *more = realloc(text, room * 2 + 1);

			if (!more)
				free(text);
			text = more;
			room *= 2;
		}
	}
	if (text && got < 0) {
		free(text);
		text = NULL;
	}
	if (text)
		text[size] = 0;
	if (file >= 0)
		close(file);
	return text;
}

/* Labels of the linker script and the assembler share addresses with functions. */
static bool is_mark(const char *name)
{
	size_t length = strlen(name);

	return name[0] == '$' || !strncmp(name, ".L", 2) || !strcmp(name, "_text") ||
	       !strcmp(name, "_stext") || !strcmp(name, "_etext") ||
	       (length > 11 && !strcmp(name + length - 11, "_text_start")) ||
	       (length > 9 && !strcmp(name + length - 9, "_text_end"));
}

static bool add_symbol(struct kernel_symbols *symbols, uint64_t address, const char *name,
		       const char *module)
{
	if (symbols->count == symbols->room) {
		size_t room = symbols->room ? symbols->room * 2 : 1 << 16;
		struct kernel_symbol *more = realloc(symbols->symbol, room * sizeof(*more));

		if (!more)
			return false;
		symbols->symbol = more;
		symbols->room = room;
	}
	symbols->symbol[symbols->count++] = (struct kernel_symbol){ address, name, module };
	return true;
}

static bool add_text(struct kernel_symbols *symbols, uint64_t start, uint64_t end)
{
	struct kernel_range *more =
		realloc(symbols->text, (symbols->texts + 1) * sizeof(*symbols->text));

	if (!more)
		return false;
	symbols->text = more;
	more[symbols->texts++] = (struct kernel_range){ start, end };
	return true;
}

/* "ffffffff80002000 T name\t[module]"; @line ends with 0 and is modified. */
static bool take_symbol(struct kernel_symbols *symbols, char *line, struct kernel_range *kernel)
{
	char *name = line + strcspn(line, " "), *module;
	char type = name[0] ? name[1] : 0;

	if (!type || name[2] != ' ')
		return true;
	if (!strchr("tTwW", type) && strcmp(name, " B _end"))
		return true;
	name += 3;
	module = strpbrk(name, "\t ");
	if (module) {
		*module++ = 0;
		module += strspn(module, "\t [");
		module[strcspn(module, "]")] = 0;
	} else if (!strcmp(name, "_stext")) {
		kernel->start = strtoull(line, NULL, 16);
	} else if (!strcmp(name, "_end")) {
		kernel->end = strtoull(line, NULL, 16);
	}
	return is_mark(name) ||
	       add_symbol(symbols, strtoull(line, NULL, 16), name, module ? module : "");
}

/* "ext4 7385088 1 - Live 0xffffffff0231f000 (OE)" */
static bool take_module(struct kernel_symbols *symbols, const char *line)
{
	uint64_t size, start;

	if (sscanf(line, "%*s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, &size, &start) != 2)
		return true;
	return add_text(symbols, start, start + size);
}

static int by_address(const void *a, const void *b)
{
	const struct kernel_symbol *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

static int read_symbols(struct kernel_symbols *symbols, const char *path)
{
	struct kernel_range kernel = { 0, 0 };
	char *line, *end;
	bool good = true;

	symbols->names = read_all(path);
	if (!symbols->names)
		return fail("%s: %s", path, strerror(errno));
	for (line = symbols->names; good && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = 0;
		good = take_symbol(symbols, line, &kernel);
	}
	if (!good || !add_text(symbols, kernel.start, kernel.end))
		return fail("out of memory");
	if (!kernel.start || kernel.end <= kernel.start)
		return fail("%s hides kernel addresses: needs root", path);
	qsort(symbols->symbol, symbols->count, sizeof(*symbols->symbol), by_address);
	return EXIT_OK;
}

static int read_modules(struct kernel_symbols *symbols, const char *path)
{
	char *text = read_all(path), *line, *next;
	bool good = true;

	if (!text)
		return fail("%s: %s", path, strerror(errno));
	for (line = strtok_r(text, "\n", &next); good && line; line = strtok_r(NULL, "\n", &next))
		good = take_module(symbols, line);
	free(text);
	return good ? EXIT_OK : fail("out of memory");
}

int kernel_symbols_read(struct kernel_symbols *symbols, const char *kallsyms, const char *modules)
{
	int error;

	*symbols = (struct kernel_symbols){ 0 };
	error = read_symbols(symbols, kallsyms);
	if (!error)
		error = read_modules(symbols, modules);
	if (error)
		kernel_symbols_free(symbols);
	return error;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	free(symbols->symbol);
	free(symbols->text);
	free(symbols->names);
	*symbols = (struct kernel_symbols){ 0 };
}

/* The symbols are those of this machine. */
static bool is_kernel(uint64_t address)
{
	return address >= ntrace_kernel_begin(8 * sizeof(long));
}

bool kernel_symbols_is_bpf(const struct kernel_symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->texts; i++)
		if (address >= symbols->text[i].start && address < symbols->text[i].end)
			return false;
	return is_kernel(address);
}

const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols,
						uint64_t address)
{
	const struct kernel_symbol *symbol;
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !is_kernel(address))
		return NULL;
	/* Of several symbols at one address, the first. */
	while (low > 1 && symbols->symbol[low - 2].address == symbols->symbol[low - 1].address)
		low--;
	symbol = &symbols->symbol[low - 1];
	if (kernel_symbols_is_bpf(symbols, address) && strcmp(symbol->module, "bpf"))
		return NULL;
	return symbol;
}
