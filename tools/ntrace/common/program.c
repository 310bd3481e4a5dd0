// SPDX-License-Identifier: GPL-2.0-only
/* Programs of a raw trace. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "ui.h"
#include "program_parts.h"

int programs_add(struct programs *programs, const char *argument, enum program_kind kind)
{
	struct program *more =
		realloc(programs->program, (programs->count + 1) * sizeof(*programs->program));

	if (!more)
		return fail("out of memory");
	programs->program = more;
	programs->program[programs->count++] =
		(struct program){ .argument = argument, .kind = kind };
	return EXIT_OK;
}

void programs_free(struct programs *programs)
{
	free(programs->program);
	memset(programs, 0, sizeof(*programs));
}

/* ---- what overlaps ---- */

/* Grows an array of @count for one more entry. Return: false if there is no memory. */
static bool grow(void **array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 16;
	void *larger;

	if (count < *room)
		return true;
	larger = reallocarray(*array, more, size);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}

static bool keep_name(struct program_mapping *mapping, const char *path)
{
	void *names = mapping->names;
	char *copy;

	if (!grow(&names, mapping->name_count, &mapping->name_room, sizeof(*mapping->names)))
		return false;
	mapping->names = names;
	copy = strdup(path);
	if (!copy)
		return false;
	mapping->names[mapping->name_count++] = copy;
	return true;
}

static bool keep_extent(struct program_mapping *mapping, uint64_t start, uint64_t size)
{
	void *extents = mapping->extents;

	if (!grow(&extents, mapping->extent_count, &mapping->extent_room,
		  sizeof(*mapping->extents)))
		return false;
	mapping->extents = extents;
	mapping->extents[mapping->extent_count++] = (struct extent){
		.start = start,
		.last = start + (size - 1),
		.name = mapping->names[mapping->name_count - 1],
		.order = mapping->name_count - 1,
	};
	return true;
}

static int by_start(const void *first, const void *second)
{
	const struct extent *a = first, *b = second;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Where files overlap, the last one is used: prints a warning. */
static void warn_overlaps(struct program_mapping *mapping)
{
	const struct extent *reaching = mapping->extents, *next, *one = NULL, *other = NULL;
	size_t overlaps = 0, i;
	char more[64] = "";

	if (mapping->extent_count < 2)
		return;
	qsort(mapping->extents, mapping->extent_count, sizeof(*mapping->extents), by_start);
	for (i = 1; i < mapping->extent_count; i++) {
		next = &mapping->extents[i];
		if (next->start <= reaching->last && next->order != reaching->order) {
			if (!overlaps++) {
				one = next->order > reaching->order ? next : reaching;
				other = one == next ? reaching : next;
			}
		}
		if (next->last > reaching->last)
			reaching = next;
	}
	if (!overlaps)
		return;
	if (overlaps > 1)
		snprintf(more, sizeof(more), "; %zu more overlap", overlaps - 1);
	warn("%s and %s overlap at 0x%" PRIx64 ": %s counts there, as it comes later%s", one->name,
	     other->name, one->start > other->start ? one->start : other->start, one->name, more);
}

/* ---- files ---- */

static int file_error(const char *path, int error)
{
	return fail("%s: %s", path,
		    error == NTRACE_ERR_TRUNCATED ? "the file ends too early: it was cut" :
						    error_text(error));
}

static int beyond_last_address(const char *path)
{
	return fail("%s: at this address it would reach beyond the last one, 0x%" PRIx64
		    ": give a lower @ADDR",
		    path, UINT64_MAX);
}

/* Takes ownership of the reference to @object. */
static int map_object(struct program_mapping *mapping, struct ntrace_object *object,
		      const char *path, uint64_t bias)
{
	uint64_t address, size;
	bool executable, kept;
	int error = ntrace_space_map_linked(mapping->space, object, bias);

	kept = keep_name(mapping, path);
	for (size_t i = 0; kept && !ntrace_object_segment(object, i, &address, &size, &executable);
	     i++)
		kept = keep_extent(mapping, address + bias, size);
	ntrace_object_put(object);
	if (error == NTRACE_ERR_INVALID)
		return beyond_last_address(path);
	if (error)
		return file_error(path, error);
	return kept ? EXIT_OK : fail("out of memory");
}

int program_map_elf(struct program_mapping *mapping, const char *path, uint64_t bias)
{
	struct program_facts *facts = mapping->facts;
	struct ntrace_object *object;
	int error = ntrace_object_open_elf(&object, path);

	if (error == NTRACE_ERR_FORMAT && !is_elf_file(path))
		return fail("%s: not an ELF file", path);
	if (error)
		return file_error(path, error);
	if (!facts->elf)
		facts->isa = *ntrace_object_isa(object);
	facts->elf = true;
	return map_object(mapping, object, path, bias);
}

int program_map_raw(struct program_mapping *mapping, const char *path, uint64_t address)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	struct ntrace_object *object;
	struct stat status;
	void *data;

	if (fd < 0 || fstat(fd, &status)) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return fail("%s: %s", path, strerror(error));
	}
	if (!S_ISREG(status.st_mode) || !status.st_size) {
		close(fd);
		return fail("%s: there is no code in it: not a file, or empty", path);
	}
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	error = errno;
	close(fd);
	if (data == MAP_FAILED)
		return fail("%s: %s", path, strerror(error));
	error = ntrace_object_from_bytes(&object, path, data, (size_t)status.st_size, address);
	munmap(data, (size_t)status.st_size);
	if (error == NTRACE_ERR_INVALID)
		return beyond_last_address(path);
	if (error)
		return file_error(path, error);
	mapping->facts->raw = true;
	return map_object(mapping, object, path, 0);
}

/* ---- arguments ---- */

static int map_elf_argument(struct program_mapping *mapping, const char *argument)
{
	uint64_t bias;
	char *path;
	int error = elf_argument(mapping->command, "elf", argument, &path, &bias);

	if (error)
		return error;
	error = program_map_elf(mapping, path, bias);
	free(path);
	return error;
}

static int map_raw_argument(struct program_mapping *mapping, const char *argument)
{
	const char *at = strrchr(argument, '@');
	const char *end;
	uint64_t address;
	char *path;
	int error;

	if (!at || at == argument || !at[1])
		return usage_error(mapping->command,
				   "option --raw: '%s' lacks @ADDR: where it is loaded", argument);
	if (!number_parse(at + 1, &end, 0, &address) || *end)
		return usage_error(mapping->command, "option --raw: '%s' is no address", at + 1);
	path = strndup(argument, (size_t)(at - argument));
	if (!path)
		return fail("out of memory");
	error = program_map_raw(mapping, path, address);
	free(path);
	return error;
}

static int map_argument(struct program_mapping *mapping, const struct program *program)
{
	switch (program->kind) {
	case PROGRAM_RAW:
		return map_raw_argument(mapping, program->argument);
	case PROGRAM_IMAGES:
		return program_map_images(mapping, program->argument);
	default:
		return map_elf_argument(mapping, program->argument);
	}
}

int programs_map(const struct programs *programs, const struct command *command,
		 struct ntrace_space **space, struct program_facts *facts)
{
	struct program_mapping mapping = { .command = command, .facts = facts };
	unsigned int i;
	int error = EXIT_OK;

	memset(facts, 0, sizeof(*facts));
	*space = NULL;
	if (ntrace_space_new(&mapping.space, "programs", NULL))
		return fail("out of memory");
	for (i = 0; i < programs->count && !error; i++)
		error = map_argument(&mapping, &programs->program[i]);
	if (!error)
		warn_overlaps(&mapping);
	for (size_t n = 0; n < mapping.name_count; n++)
		free(mapping.names[n]);
	free(mapping.names);
	free(mapping.extents);
	if (error)
		ntrace_space_put(mapping.space);
	else
		*space = mapping.space;
	return error;
}
