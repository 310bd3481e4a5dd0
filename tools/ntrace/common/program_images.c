// SPDX-License-Identifier: GPL-2.0-only
/* A directory of images: pages or ELF files, each named by its address. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "output_file.h"
#include "ui.h"
#include "program_parts.h"

/* A file, and the address in its name. */
struct image {
	char *path;
	uint64_t address;
};

struct images {
	struct image *image;
	size_t count;
	size_t room;
	size_t nameless;	/* files without an address in their name */
	char *first;		/* the first of these files */
};

/*
 * "0x80000000", "80000000.bin", "ffffffff80000000-text.elf": hex digits up to a '.', '-' or '_'.
 * Without 0x they start with a decimal digit, or there are 16 digits; otherwise they may be a word.
 */
static bool address_of(const char *name, uint64_t *address)
{
	bool marked = name[0] == '0' && (name[1] == 'x' || name[1] == 'X');
	const char *digits = marked ? name + 2 : name;
	size_t count = strspn(digits, "0123456789abcdefABCDEF");

	if (!count || count > 16 || (digits[count] && !strchr(".-_", digits[count])))
		return false;
	if (!marked && !isdigit((unsigned char)digits[0]) && count < 16)
		return false;
	*address = strtoull(digits, NULL, 16);
	return true;
}

static bool add(struct images *images, const char *directory, const char *name)
{
	uint64_t address;
	char *path;

	if (images->count == images->room) {
		size_t room = images->room ? 2 * images->room : 64;
		struct image *more = reallocarray(images->image, room, sizeof(*more));

		if (!more)
			return false;
		images->image = more;
		images->room = room;
	}
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return false;
	if (address_of(name, &address)) {
		images->image[images->count++] = (struct image){ path, address };
	} else if (!images->nameless++) {
		images->first = path;
	} else {
		free(path);
	}
	return true;
}

static int by_address(const void *first, const void *second)
{
	const struct image *a = first, *b = second;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int list(const char *directory, struct images *images)
{
	DIR *open = opendir(directory);
	struct dirent *entry;
	bool added = true;

	if (!open)
		return fail("%s: %s", directory, strerror(errno));
	while (added && (entry = readdir(open)))
		added = entry->d_name[0] == '.' || add(images, directory, entry->d_name);
	closedir(open);
	if (!added)
		return fail("out of memory");
	if (!images->count)
		return fail("%s: no file in it is named by its address, as 0x80000000.bin is",
			    directory);
	qsort(images->image, images->count, sizeof(*images->image), by_address);
	if (images->nameless)
		warn("%s: left out, as it is not named by an address (of %zu such files)",
		     images->first, images->nameless);
	return EXIT_OK;
}

int program_map_images(struct program_mapping *mapping, const char *directory)
{
	struct images images = { 0 };
	int error = list(directory, &images);
	uint64_t linked;

	output_input_directory(directory);
	for (size_t i = 0; i < images.count; i++) {
		const struct image *image = &images.image[i];

		if (error)
			break;
		output_input(image->path);
		if (!is_elf_file(image->path)) {
			error = program_map_raw(mapping, image->path, image->address);
			continue;
		}
		error = program_first_address(image->path, &linked);
		if (!error)
			error = program_map_elf(mapping, image->path, image->address - linked);
	}
	for (size_t i = 0; i < images.count; i++)
		free(images.image[i].path);
	free(images.image);
	free(images.first);
	return error;
}
