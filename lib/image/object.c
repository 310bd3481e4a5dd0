// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Objects: lifetime, raw bytes, uncertain ranges. elf.c reads ELF files. */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bisect.h"
#include "fnv.h"
#include "grow.h"
#include "object.h"
#include "regular.h"

int object_new(struct ntrace_object **object, const char *name)
{
	struct ntrace_object *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->name = strdup(name);
	if (!made->name) {
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	atomic_init(&made->references, 1);
	made->isa.xlen = 64;
	made->isa.compressed = true;
	*object = made;
	return 0;
}

int object_set_name(struct ntrace_object *object, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return NTRACE_ERR_NOMEM;
	free(object->name);
	object->name = copy;
	return 0;
}

int object_map_file(struct ntrace_object *object, const char *path)
{
	struct stat st;
	void *bytes;
	int fd, error;

	error = open_regular(path, &fd, &st);
	if (error)
		return error;
	object->path = strdup(path);
	if (!object->path) {
		close(fd);
		return NTRACE_ERR_NOMEM;
	}
	if (st.st_size <= 0 || (uint64_t)st.st_size > SIZE_MAX) {
		close(fd);
		return NTRACE_ERR_FORMAT;
	}
	/* Writable and private: libelf may convert in place. */
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	error = errno;
	close(fd);
	if (bytes == MAP_FAILED) {
		/* ENOMEM, too, says something about this file, which may claim any size. */
		errno = error;
		return NTRACE_ERR_IO;
	}
	object->bytes = bytes;
	object->size = (size_t)st.st_size;
	object->mapped = true;
	return 0;
}

/* Stores the new object, or frees it on an error; errno is kept. */
static int finish(struct ntrace_object **object, struct ntrace_object *made, int error)
{
	int saved = errno;

	if (error) {
		ntrace_object_put(made);
		errno = saved;
		return error;
	}
	*object = made;
	return 0;
}

int ntrace_object_open_elf(struct ntrace_object **object, const char *path)
{
	struct ntrace_object *made;
	int error;

	error = object_new(&made, path);
	if (error)
		return error;
	error = object_map_file(made, path);
	if (!error)
		error = object_read_elf(made);
	return finish(object, made, error);
}

int ntrace_object_open_module(struct ntrace_object **object, const char *path,
			      const struct ntrace_section_address *sections, size_t count)
{
	struct ntrace_object *made;
	int error;

	error = object_new(&made, path);
	if (error)
		return error;
	error = object_map_file(made, path);
	if (!error)
		error = object_read_module(made, sections, count);
	return finish(object, made, error);
}

int ntrace_object_open_elf_memory(struct ntrace_object **object, const char *name, const void *data,
				  size_t size)
{
	struct ntrace_object *made;
	uint8_t *bytes;
	int error;

	if (!size)
		return NTRACE_ERR_FORMAT;
	error = object_new(&made, name);
	if (error)
		return error;
	bytes = malloc(size);
	if (!bytes)
		return finish(object, made, NTRACE_ERR_NOMEM);
	memcpy(bytes, data, size);
	made->bytes = bytes;
	made->size = size;
	return finish(object, made, object_read_elf(made));
}

int ntrace_object_from_bytes(struct ntrace_object **object, const char *name, const void *data,
			     size_t size, uint64_t address)
{
	struct ntrace_object *made;
	uint8_t *bytes;
	int error;

	if (!size || address + (size - 1) < address)
		return NTRACE_ERR_INVALID;
	error = object_new(&made, name);
	if (error)
		return error;
	bytes = malloc(size);
	made->segments = calloc(1, sizeof(*made->segments));
	if (!bytes || !made->segments) {
		free(bytes);
		ntrace_object_put(made);
		return NTRACE_ERR_NOMEM;
	}
	memcpy(bytes, data, size);
	made->bytes = bytes;
	made->size = size;
	made->segments[0] =
		(struct segment){ .address = address, .size = size, .executable = true };
	made->segment_count = 1;
	*object = made;
	return 0;
}

struct ntrace_object *ntrace_object_get(struct ntrace_object *object)
{
	if (object)
		atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
	return object;
}

void object_free_directories(struct ntrace_object *object)
{
	for (size_t i = 0; object->debug_directories && object->debug_directories[i]; i++)
		free(object->debug_directories[i]);
	free(object->debug_directories);
	object->debug_directories = NULL;
}

void ntrace_object_put(struct ntrace_object *object)
{
	/* acq_rel: accesses of other threads happen before the object is freed. */
	if (!object || atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) != 1)
		return;
	if (object->mapped)
		munmap((void *)(uintptr_t)object->bytes, object->size);
	else
		free((void *)(uintptr_t)object->bytes);
	free(object->memory);
	symbol_table_free(&object->symbols);
	symbol_table_free(&object->marks);
	free(object->segments);
	free(object->spans);
	free(object->uncertain);
	free(object->name);
	free(object->path);
	free(object->missing_debug);
	object_free_directories(object);
	ntrace_object_put(object->debug);
	ntrace_object_put(object->mini);
	free(object);
}

const char *ntrace_object_name(const struct ntrace_object *object)
{
	return object->name;
}

const char *ntrace_object_path(const struct ntrace_object *object)
{
	return object->path;
}

const char *ntrace_object_short_name(const struct ntrace_object *object)
{
	const char *slash = strrchr(object->name, '/');

	/* A recording's copies of kernel text have the names of their files. */
	if (slash && (!strcmp(slash, "/kernel.start") || !strcmp(slash, "/kernel.end")))
		return "[kernel]";
	return slash && slash[1] ? slash + 1 : object->name;
}

const uint8_t *ntrace_object_build_id(const struct ntrace_object *object, size_t *size)
{
	*size = object->build_id_size;
	return object->build_id;
}

const char *ntrace_object_debug_name(const struct ntrace_object *object)
{
	return object->debug ? object->debug->path : NULL;
}

void object_note_debug(struct ntrace_object *object, const char *format, ...)
{
	va_list values;

	if (object->missing_debug)
		return;
	va_start(values, format);
	if (vasprintf(&object->missing_debug, format, values) < 0)
		object->missing_debug = NULL;
	va_end(values);
}

/* The file may have been opened before, but a name may be another file's since. */
int object_open_again(struct ntrace_object *object, const char *path)
{
	struct stat status;
	int fd, error = open_regular(path, &fd, &status);

	if (!error)
		return fd;
	object_note_debug(object, "%s: %s", path,
			  error == NTRACE_ERR_IO ? strerror(errno) : "not a regular file");
	return -1;
}

const char *ntrace_object_missing_debug(const struct ntrace_object *object)
{
	return object->missing_debug;
}

int ntrace_object_jump_table(const struct ntrace_object *object, uint64_t *address)
{
	*address = object->jump_table;
	return object->has_jump_table ? 0 : NTRACE_ERR_NOMAP;
}

int ntrace_object_entry(const struct ntrace_object *object, uint64_t *address, uint64_t *offset)
{
	size_t i;

	for (i = 0; object->has_entry && i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];

		if (object->entry - segment->address >= segment->size)
			continue;
		*address = object->entry;
		*offset = segment->offset + (object->entry - segment->address);
		return 0;
	}
	*address = 0;
	*offset = 0;
	return NTRACE_ERR_NOMAP;
}

const struct ntrace_isa *ntrace_object_isa(const struct ntrace_object *object)
{
	return &object->isa;
}

int ntrace_object_segment(const struct ntrace_object *object, size_t index, uint64_t *address,
			  uint64_t *size, bool *executable)
{
	bool there = index < object->segment_count;

	*address = there ? object->segments[index].address : 0;
	*size = there ? object->segments[index].size : 0;
	*executable = there && object->segments[index].executable;
	return there ? 0 : NTRACE_ERR_INVALID;
}

uint64_t ntrace_object_code_hash(const struct ntrace_object *object)
{
	uint64_t hash = atomic_load_explicit(&object->code_hash, memory_order_relaxed);

	if (hash)
		return hash;
	hash = FNV_START;
	for (size_t i = 0; object->bytes && i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];
		/* The header of an ELF file has the place of its sections, which strip(1) changes. */
		uint64_t skip = segment->offset ? 0 : sizeof(Elf64_Ehdr);

		if (!segment->executable)
			continue;
		hash = (hash ^ segment->address) * FNV_PRIME;
		if (skip < segment->size)
			hash = fnv_add(hash, object->bytes + segment->offset + skip,
				       segment->size - skip);
	}
	if (!object->bytes)
		return 0;
	/* Only the cache changes. Threads that make it at once make the same. */
	atomic_store_explicit(&((struct ntrace_object *)object)->code_hash, hash | 1,
			      memory_order_relaxed);
	return hash | 1;
}

bool object_constant_byte(const struct ntrace_object *object, uint64_t address, uint8_t *byte)
{
	for (size_t i = 0; object->bytes && i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];

		if (segment->writable || address - segment->address >= segment->size)
			continue;
		*byte = object->bytes[segment->offset + (address - segment->address)];
		return true;
	}
	return false;
}

int ntrace_object_file_offset(const struct ntrace_object *object, uint64_t address,
			      uint64_t *offset)
{
	size_t i;

	for (i = 0; i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];

		if (address - segment->address >= segment->size)
			continue;
		*offset = segment->offset + (address - segment->address);
		return 0;
	}
	*offset = 0;
	return NTRACE_ERR_NOMAP;
}

int ntrace_object_add_symbol(struct ntrace_object *object, const char *name, uint64_t address,
			     uint64_t size)
{
	/* The caller knows all functions, as kallsyms has those of the kernel. */
	object->symbols.sparse = false;
	return symbol_table_add_copy(&object->symbols, name, address, size, SYMBOL_RANK_GLOBAL);
}

const char *ntrace_object_function(const struct ntrace_object *object, size_t index,
				   uint64_t *address)
{
	const struct symbol *symbol;

	if (index >= object->symbols.all)
		return NULL;
	symbol = &object->symbols.symbols[index];
	*address = symbol->start;
	return symbol->rank >= SYMBOL_RANK_LOCAL ? symbol->name : "";
}

bool ntrace_object_function_matches(struct ntrace_object *object, uint64_t start, const char *name)
{
	const struct symbol *symbol = symbol_table_find(&object->symbols, start);

	if (!symbol || symbol->start != start)
		return false;
	for (size_t i = 0; symbol; symbol = symbol_table_alias(&object->symbols, start, i++))
		if (ntrace_symbol_matches(symbol->name, name))
			return true;
	return false;
}

/* Index of the first range whose last byte is at or after @address. */
static size_t uncertain_from(const struct ntrace_object *object, uint64_t address)
{
	size_t low = 0;

	BISECT(low, object->uncertain_count, middle, object->uncertain[middle].last < address);
	return low;
}

int ntrace_object_mark_uncertain(struct ntrace_object *object, uint64_t address, uint64_t size)
{
	struct range range = { address, address + (size - 1) };
	size_t first, after;

	if (!size)
		return 0;
	if (range.last < range.start)
		range.last = UINT64_MAX;
	if (grow((void **)&object->uncertain, object->uncertain_count, &object->uncertain_room,
		 sizeof(*object->uncertain)))
		return NTRACE_ERR_NOMEM;
	/* Adjacent ranges are merged. */
	first = uncertain_from(object, range.start ? range.start - 1 : 0);
	after = first;
	while (after < object->uncertain_count &&
	       (range.last == UINT64_MAX || object->uncertain[after].start <= range.last + 1)) {
		if (object->uncertain[after].start < range.start)
			range.start = object->uncertain[after].start;
		if (object->uncertain[after].last > range.last)
			range.last = object->uncertain[after].last;
		after++;
	}
	memmove(&object->uncertain[first + 1], &object->uncertain[after],
		(object->uncertain_count - after) * sizeof(range));
	object->uncertain[first] = range;
	object->uncertain_count = object->uncertain_count - (after - first) + 1;
	return 0;
}

bool object_is_uncertain(const struct ntrace_object *object, uint64_t address)
{
	size_t at = uncertain_from(object, address);

	return at < object->uncertain_count && object->uncertain[at].start <= address;
}

bool object_is_data(struct ntrace_object *object, uint64_t address)
{
	const struct symbol *mark = symbol_table_find(&object->marks, address), *function;

	if (!mark || mark->name[1] != 'd')
		return false;
	/* The mark ends with its function: older assemblers put none before the next one. */
	function = symbol_table_find(&object->symbols, address);
	return !function || function->start <= mark->start;
}
