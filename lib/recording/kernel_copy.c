// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Copies kernel text from memory while it exists. The kernel's own text lies between _stext and
 * _etext. No symbol marks the end of the text of a module or BPF program: it is copied page by page
 * from each of its symbols on, up to a page of zeros (the guard page, or the unused rest of a
 * pack).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <ntrace/recording.h>

#include "grow.h"
#include "sideband/core.h"
#include "sideband/kallsyms.h"
#include "loaded_code.h"
#include "struct_size.h"

#define PAGE 4096u
#define PATH_ROOM 4096
/* A function may extend this many pages beyond its first one. */
#define FUNCTION_PAGES 16
/* More kernel text than this means that the file was misread. */
#define TEXT_MAX (UINT64_C(256) << 20)

struct copying {
	const char *directory;
	enum ntrace_recording_when when;
	struct ntrace_kernel_copy *copy;
	struct core kcore;
	struct core start;		/* END: the copy made at START */
	struct core_writer *writer;
	uint64_t text_start, text_end;	/* text of the kernel itself */
	uint64_t *pages;		/* pages that contain symbols of modules or BPF programs */
	size_t page_count, page_room;
	FILE *symbols;
	uint64_t written;		/* page of the last symbol written there */
	bool addresses;			/* kallsyms shows addresses */
};

static int add_page(struct copying *copying, uint64_t page)
{
	if (copying->page_count && copying->pages[copying->page_count - 1] == page)
		return 0;
	if (grow((void **)&copying->pages, copying->page_count, &copying->page_room,
		 sizeof(*copying->pages)))
		return NTRACE_ERR_NOMEM;
	copying->pages[copying->page_count++] = page;
	return 0;
}

/* One label per page is enough to mark text. */
static void write_symbol(struct copying *copying, const struct kallsym *symbol, uint64_t page)
{
	if (!copying->symbols || (kallsyms_is_label(symbol) && page == copying->written))
		return;
	fwrite(symbol->line, 1, symbol->length, copying->symbols);
	copying->written = page;
}

static int take_symbol(void *data, const struct kallsym *symbol)
{
	struct copying *copying = data;
	uint64_t page = symbol->address & ~(uint64_t)(PAGE - 1);

	copying->addresses = copying->addresses || symbol->address;
	write_symbol(copying, symbol, page);
	if (symbol->module[0])
		return symbol->address ? add_page(copying, page) : 0;
	if (!strcmp(symbol->name, "_stext"))
		copying->text_start = symbol->address;
	else if (!strcmp(symbol->name, "_etext"))
		copying->text_end = symbol->address;
	return 0;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/*
 * Finds the text. Writes images/kallsyms or kallsyms.end; if @path is NULL, @source is an existing
 * copy.
 */
static int read_symbols(struct copying *copying, const char *source, const char *path)
{
	int error, failed;

	if (path) {
		copying->symbols = fopen(path, "we");
		if (!copying->symbols)
			return NTRACE_ERR_IO;
	}
	error = kallsyms_read(source, take_symbol, copying);
	if (path) {
		failed = ferror(copying->symbols);
		if ((fclose(copying->symbols) || failed) && !error)
			error = NTRACE_ERR_IO;
	}
	if (error)
		return error;
	if (!copying->addresses) {
		errno = EACCES;
		return NTRACE_ERR_IO;
	}
	if (copying->text_start >= copying->text_end ||
	    copying->text_end - copying->text_start > TEXT_MAX)
		return NTRACE_ERR_FORMAT;
	if (copying->page_count)
		qsort(copying->pages, copying->page_count, sizeof(*copying->pages),
		      compare_numbers);
	return 0;
}

static int write_piece(struct copying *copying, uint64_t address, const void *data, uint64_t size)
{
	if (!size)
		return 0;
	copying->copy->ranges++;
	copying->copy->bytes += size;
	return core_writer_add(copying->writer, address, data, size);
}

/* Number of parcels that differ from the start copy; *fresh: the start copy lacks the page. */
static uint64_t changed_parcels(const struct copying *copying, uint64_t address,
				const uint8_t *data, uint64_t size, bool *fresh)
{
	uint8_t before[PAGE];
	uint64_t changed = 0, i;

	*fresh = core_read(&copying->start, address, before, size) < size;
	if (*fresh || !memcmp(before, data, size))
		return 0;
	for (i = 0; i + 1 < size; i += 2)
		changed += before[i] != data[i] || before[i + 1] != data[i + 1];
	return changed;
}

/* At the end, writes only new or changed pages. */
static int write_changed(struct copying *copying, uint64_t address, const uint8_t *data,
			 uint64_t size)
{
	uint64_t at = 0, kept_from = 0;
	int error = 0;

	while (at < size && !error) {
		uint64_t part = PAGE - (address + at) % PAGE, changed;
		bool fresh;

		if (part > size - at)
			part = size - at;
		changed = changed_parcels(copying, address + at, data + at, part, &fresh);
		copying->copy->changed += changed;
		if (!changed && !fresh) {
			error = write_piece(copying, address + kept_from, data + kept_from,
					    at - kept_from);
			kept_from = at + part;
		}
		at += part;
	}
	return error ? error :
		       write_piece(copying, address + kept_from, data + kept_from,
				   size - kept_from);
}

static int write_range(struct copying *copying, uint64_t address, const uint8_t *data,
		       uint64_t size)
{
	if (copying->when == NTRACE_RECORDING_START)
		return write_piece(copying, address, data, size);
	return write_changed(copying, address, data, size);
}

static int copy_kernel_text(struct copying *copying)
{
	uint64_t size = copying->text_end - copying->text_start;
	uint8_t *data = malloc(size);
	int error;

	if (!data)
		return NTRACE_ERR_NOMEM;
	if (core_read(&copying->kcore, copying->text_start, data, size) < size)
		error = NTRACE_ERR_FORMAT;
	else
		error = write_range(copying, copying->text_start, data, size);
	free(data);
	return error;
}

static bool is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/*
 * Copies all pages from symbol page @at on, up to a page of zeros or the last page that a function
 * starting in a symbol page can reach. Sets *next to the first symbol page after them.
 */
static int copy_run(struct copying *copying, size_t at, size_t *next)
{
	uint64_t start = copying->pages[at], last_symbol = start, size = 0, room = 0;
	uint8_t *data = NULL, page[PAGE];
	int error = 0;

	for (;;) {
		uint64_t address = start + size;

		while (at < copying->page_count && copying->pages[at] <= address) {
			last_symbol = copying->pages[at];
			at++;
		}
		if (address < start || address - last_symbol > FUNCTION_PAGES * PAGE ||
		    size >= TEXT_MAX || !core_read(&copying->kcore, address, page, PAGE) ||
		    is_zero(page))
			break;
		if (size == room) {
			uint8_t *more;

			room = room ? 2 * room : 16 * PAGE;
			more = realloc(data, room);
			if (!more) {
				error = NTRACE_ERR_NOMEM;
				break;
			}
			data = more;
		}
		memcpy(data + size, page, PAGE);
		size += PAGE;
	}
	if (!error && size)
		error = write_range(copying, start, data, size);
	free(data);
	*next = at;
	return error;
}

static int copy_others(struct copying *copying)
{
	size_t at = 0;
	int error = 0;

	while (at < copying->page_count && !error) {
		/* Symbols of modules inside the kernel's text have been copied already. */
		if (copying->pages[at] < copying->text_end &&
		    copying->pages[at] + PAGE > copying->text_start)
			at++;
		else
			error = copy_run(copying, at, &at);
	}
	return error;
}

static bool same_files(const char *left, const char *right)
{
	char a[8192], b[8192];
	FILE *first = fopen(left, "re"), *second = fopen(right, "re");
	bool same = first && second;
	size_t got = sizeof(a);

	while (same && got == sizeof(a)) {
		got = fread(a, 1, sizeof(a), first);
		same = got == fread(b, 1, sizeof(b), second) && !memcmp(a, b, got);
	}
	if (first)
		fclose(first);
	if (second)
		fclose(second);
	return same;
}

static int copy_text(struct copying *copying, const char *kcore)
{
	const char *end = copying->when == NTRACE_RECORDING_END ? "end" : "start";
	char path[PATH_ROOM], start[PATH_ROOM];
	int error, closed;

	snprintf(path, sizeof(path), "%s/images/kernel.%s", copying->directory, end);
	snprintf(start, sizeof(start), "%s/images/kernel.start", copying->directory);
	error = core_open(&copying->kcore, kcore, true);
	if (error)
		return error == NTRACE_ERR_NOTRISCV ? NTRACE_ERR_FORMAT : error;
	if (copying->when == NTRACE_RECORDING_END) {
		error = core_open(&copying->start, start, false);
		if (error)
			return error;
	}
	error = core_writer_open(&copying->writer, path);
	if (error)
		return error;
	error = copy_kernel_text(copying);
	if (!error)
		error = copy_others(copying);
	closed = core_writer_close(copying->writer);
	return error ? error : closed;
}

int ntrace_recording_copy_kernel(const char *directory, enum ntrace_recording_when when,
				 struct ntrace_kernel_copy *copy)
{
	struct ntrace_kernel_copy full = { .size = sizeof(full) };
	struct copying copying = {
		.directory = directory, .when = when, .kcore.fd = -1, .start.fd = -1
	};
	char symbols[PATH_ROOM - 8], symbols_end[PATH_ROOM];
	bool end = when == NTRACE_RECORDING_END, same;
	const char *source;
	uint64_t state;
	int error;

	if (copy && STRUCT_TAKE(&full, copy))
		return NTRACE_ERR_INVALID;
	if (strlen(directory) > PATH_ROOM - 64) {
		errno = ENAMETOOLONG;
		return NTRACE_ERR_IO;
	}
	copying.copy = &full;
	copying.copy->ranges = 0;
	copying.copy->bytes = 0;
	copying.copy->changed = 0;
	snprintf(symbols, sizeof(symbols), "%s/images/kallsyms", directory);
	snprintf(symbols_end, sizeof(symbols_end), "%s.end", symbols);
	source = copying.copy->kallsyms ? copying.copy->kallsyms : "/proc/kallsyms";
	/* The kernel takes seconds for half a million lines of kallsyms: read them only once. */
	state = copying.copy->kallsyms ? 0 : loaded_code_state();
	same = end && state && state == copying.copy->state;
	if (!end)
		copying.copy->state = state;
	if (same)
		error = read_symbols(&copying, symbols, NULL);
	else
		error = read_symbols(&copying, source, end ? symbols_end : symbols);
	if (!error)
		error = copy_text(&copying,
				  copying.copy->kcore ? copying.copy->kcore : "/proc/kcore");
	if (!same && (error || (end && same_files(symbols, symbols_end)))) {
		int saved = errno;

		unlink(end ? symbols_end : symbols);
		errno = saved;
	}
	core_close(&copying.kcore);
	core_close(&copying.start);
	free(copying.pages);
	if (copy)
		STRUCT_GIVE(copy, &full);
	return error;
}

/* The vDSO is an ELF file in memory; its section headers at the end determine its size. */
static size_t vdso_size(const uint8_t *bytes)
{
	uint64_t offset;
	uint16_t entry_size, count;

	if (memcmp(bytes, "\177ELF\2", 5))
		return 0;
	memcpy(&offset, bytes + 0x28, sizeof(offset)); /* e_shoff */
	memcpy(&entry_size, bytes + 0x3a, sizeof(entry_size)); /* e_shentsize */
	memcpy(&count, bytes + 0x3c, sizeof(count)); /* e_shnum */
	return offset && offset < (1u << 20) ? (size_t)offset + (size_t)entry_size * count : 0;
}

int ntrace_recording_copy_vdso(const char *directory)
{
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	char path[PATH_ROOM];
	size_t size = bytes ? vdso_size(bytes) : 0;
	FILE *file;
	bool failed;

	if (!size)
		return NTRACE_ERR_NOMAP;
	if (snprintf(path, sizeof(path), "%s/images/vdso", directory) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NTRACE_ERR_IO;
	}
	file = fopen(path, "wbe");
	if (!file)
		return NTRACE_ERR_IO;
	failed = fwrite(bytes, 1, size, file) != size;
	return fclose(file) || failed ? NTRACE_ERR_IO : 0;
}
