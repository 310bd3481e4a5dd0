// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names of the copies of code in a recording:
 *
 *	images/files/BUILD-ID/NAME			a file with a build-id
 *	images/files/MAJOR-MINOR-INODE-GENERATION/NAME	a file without
 *	images/files/PID-ADDRESS-TIME/memory		executable memory without a file
 *
 * They are made of what the recording says of a mapping, so the decoder finds the copy of the very file, or none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kept_files.h"

size_t kept_path_length(const char *path)
{
	size_t length = strlen(path), tail = strlen(KEPT_DELETED);

	return length > tail && !strcmp(path + length - tail, KEPT_DELETED) ? length - tail :
									      length;
}

/* Whether the name without "(deleted)" is @memory and @digits more: a file may have a name that begins so. */
static bool is_named(const char *name, const char *memory, size_t digits)
{
	size_t length = strlen(memory);

	return kept_path_length(name) == length + digits && !strncmp(name, memory, length);
}

bool kept_is_memory(const char *name)
{
	return (name[0] != '/' || name[1] == '/' || is_named(name, "/SYSV", 8) ||
		is_named(name, "/dev/zero", 0) || is_named(name, "/anon_hugepage", 0)) &&
	       strcmp(name, "[vdso]") && strcmp(name, "[vsyscall]");
}

bool kept_is_too_long(const char *name)
{
	return !strcmp(name, "//toolong");
}

bool kept_file_path(const char *directory, const struct ntrace_sideband *mapping, char *path,
		    size_t room)
{
	size_t length = kept_path_length(mapping->name), at = length, i;
	char key[2 * sizeof(mapping->build_id) + 64];
	int made;

	if (kept_is_memory(mapping->name)) {
		snprintf(key, sizeof(key), "%" PRId32 "-%" PRIx64 "-%" PRIu64, mapping->pid,
			 mapping->address, mapping->time);
		return snprintf(path, room, "%s" KEPT_FILES "/%s/memory", directory, key) <
		       (int)room;
	}
	for (i = 0; i < mapping->build_id_size; i++)
		snprintf(key + 2 * i, sizeof(key) - 2 * i, "%02x", mapping->build_id[i]);
	if (!i && !mapping->inode)
		return false;
	if (!i)
		snprintf(key, sizeof(key), "%" PRIu32 "-%" PRIu32 "-%" PRIu64 "-%" PRIu64,
			 mapping->device_major, mapping->device_minor, mapping->inode,
			 mapping->inode_generation);
	while (at && mapping->name[at - 1] != '/')
		at--;
	made = snprintf(path, room, "%s" KEPT_FILES "/%s/%.*s", directory, key, (int)(length - at),
			mapping->name + at);
	return at < length && made < (int)room;
}
