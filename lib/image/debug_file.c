// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Separate debug files, searched in GDB's order (GDB manual, "Separate Debug Files"): first by
 * build-id, then by the name and checksum in .gnu_debuglink. Then by the path of the file, where perf finds
 * those of Fedora, Ubuntu and OpenEmbedded, and last on a debuginfod server; both need the build-id.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lines.h"
#include "object.h"
#include "referred.h"

/* State of the search: the error of a wrong file takes precedence over that of a missing one. */
struct debug_file_search {
	struct ntrace_object *object;
	int error;
	int saved_errno;
	char name[PATH_MAX];	/* of the wrong file */
};

static bool remember(struct debug_file_search *search, const char *name, int error)
{
	bool missing = error == NTRACE_ERR_IO && (errno == ENOENT || errno == ENOTDIR);

	if (!missing && search->error == NTRACE_ERR_IO && search->saved_errno == ENOENT) {
		search->error = error;
		search->saved_errno = errno;
		snprintf(search->name, sizeof(search->name), "%s", name);
	}
	return false;
}

/* @crc: checksum that the file must have; NULL if the build-id must match instead. */
static bool try_file(struct debug_file_search *search, const char *name, const uint32_t *crc)
{
	struct ntrace_object *debug;
	char path[PATH_MAX];
	int error;

	if (!object_find_file(search->object, name, path))
		return remember(search, name, NTRACE_ERR_IO);
	error = object_new(&debug, path);
	if (error)
		return remember(search, name, error);
	error = object_map_file(debug, path);
	if (!error && crc && crc32_z(0, debug->bytes, debug->size) != *crc)
		error = NTRACE_ERR_BUILDID;
	if (!error)
		error = object_read_debug_elf(search->object, debug, !crc);
	if (error) {
		remember(search, path, error);
		ntrace_object_put(debug);
		return false;
	}
	search->object->debug = debug;
	search->object->debug_linked = crc;
	search->error = 0;
	return true;
}

static bool try_build_id(struct debug_file_search *search, const char *directory)
{
	const struct ntrace_object *object = search->object;
	char path[PATH_MAX];
	int made;

	if (object->whole_id_size < 2)
		return false;
	made = snprintf(path, sizeof(path), "%s/.build-id/%02x/", directory, object->whole_id[0]);
	for (size_t i = 1; i < object->whole_id_size && made < PATH_MAX; i++)
		made += snprintf(path + made, sizeof(path) - (size_t)made, "%02x",
				 object->whole_id[i]);
	if (made + (int)sizeof(".debug") > PATH_MAX)
		return false;
	memcpy(path + made, ".debug", sizeof(".debug"));
	return try_file(search, path, NULL);
}

static bool try_link(struct debug_file_search *search, const char *directory, const char *middle)
{
	const struct ntrace_object *object = search->object;
	char path[PATH_MAX];
	int made = snprintf(path, sizeof(path), "%s%s/%s", directory, middle, object->debug_link);

	return made < (int)sizeof(path) && try_file(search, path, &object->debug_link_crc);
}

/*
 * The directory of a program on its machine: debug files below ROOT/usr/lib/debug, of a machine whose files are
 * below ROOT, are those of programs below ROOT.
 */
static const char *below_root(const char *directory, const char *own)
{
	static const char tail[] = "/usr/lib/debug";
	char real[PATH_MAX], root[PATH_MAX];
	size_t length = strlen(directory);

	if (length < strlen(tail) || strcmp(directory + length - strlen(tail), tail) ||
	    length >= sizeof(root))
		return own;
	snprintf(root, sizeof(root), "%.*s", (int)(length - strlen(tail)), directory);
	if (!*root || !realpath(root, real))
		return own;
	length = strlen(real);
	return !strncmp(own, real, length) && (own[length] == '/' || !own[length]) ? own + length :
										     own;
}

static bool find_link(struct debug_file_search *search, const char *const *directories,
		      const char *own)
{
	const struct ntrace_object *object = search->object;

	/* A name that contains directories could point anywhere. */
	if (!object->debug_link || strchr(object->debug_link, '/'))
		return false;
	if (try_link(search, own, "") || try_link(search, own, "/.debug"))
		return true;
	for (size_t i = 0; directories[i]; i++) {
		if (try_link(search, directories[i], below_root(directories[i], own)))
			return true;
	}
	return false;
}

/* A file that is named after the object's, with the same build-id. */
static bool try_path(struct debug_file_search *search, const char *directory, const char *middle,
		     const char *name, const char *end)
{
	char path[PATH_MAX];
	int made = snprintf(path, sizeof(path), "%s%s/%s%s", directory, middle, name, end);

	return made < (int)sizeof(path) && try_file(search, path, NULL);
}

static bool find_path(struct debug_file_search *search, const char *const *directories,
		      const char *own, const char *name)
{
	if (!search->object->build_id_size)
		return false;
	for (size_t i = 0; directories[i]; i++) {
		const char *there = below_root(directories[i], own);

		if (try_path(search, directories[i], there, name, ".debug") ||
		    try_path(search, directories[i], there, name, ""))
			return true;
	}
	return try_path(search, own, "/.debug", name, "");
}

/* Only for an object without names of its own: the answer may take a while. */
static bool ask_server(struct debug_file_search *search)
{
	char *path;
	bool found;

	if (!search->object->symbols.sparse || !search->object->build_id_size)
		return false;
	path = debug_info_ask(search->object);
	found = path && try_file(search, path, NULL);
	free(path);
	return found;
}

static bool find(struct debug_file_search *search, const char *const *directories)
{
	const struct ntrace_object *object = search->object;
	char own[PATH_MAX], *name;

	for (size_t i = 0; directories[i]; i++) {
		if (try_build_id(search, directories[i]))
			return true;
	}
	/* Directory and name of the object's file, with all links resolved. */
	if (!object->mapped || !realpath(object->path, own))
		return false;
	name = strrchr(own, '/');
	*name++ = '\0';
	return find_link(search, directories, own) || find_path(search, directories, own, name) ||
	       ask_server(search);
}

/* Files that the debug file refers to are searched in the same directories: referred.c. */
static int keep_directories(struct ntrace_object *object, const char *const *directories)
{
	size_t count = 0;

	while (directories[count])
		count++;
	object_free_directories(object);
	object->debug_directories = calloc(count + 1, sizeof(*object->debug_directories));
	if (!object->debug_directories)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		object->debug_directories[i] = strdup(directories[i]);
		if (!object->debug_directories[i])
			return NTRACE_ERR_NOMEM;
	}
	return 0;
}

int ntrace_object_add_debug_file(struct ntrace_object *object, const char *const *directories)
{
	static const char *const usual[] = { "/usr/lib/debug", NULL };
	struct debug_file_search search = { .object = object,
					    .error = NTRACE_ERR_IO,
					    .saved_errno = ENOENT };

	if (object->debug)
		return 0;
	directories = directories ? directories : usual;
	if (keep_directories(object, directories))
		return NTRACE_ERR_NOMEM;
	if (find(&search, directories))
		return 0;
	/* That of another build is the caller's to say. */
	if (*search.name && search.error != NTRACE_ERR_BUILDID && !referred_has_dwarf(object))
		object_note_debug(object, "%s: %s", search.name,
				  search.error == NTRACE_ERR_IO ? strerror(search.saved_errno) :
								  ntrace_strerror(search.error));
	errno = search.saved_errno;
	return search.error;
}
