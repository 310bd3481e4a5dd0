/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files that DWARF refers to by a name: .dwo and .dwp files of split units, and the file that dwz makes of what
 * several programs share. The names come from a file that may be a stranger's.
 */
#ifndef NTRACE_IMAGE_REFERRED_H
#define NTRACE_IMAGE_REFERRED_H

#include <limits.h>

#include "lines.h"

/* Whether an object is of another machine, and no file of this one belongs to it. */
bool object_is_foreign(const struct ntrace_object *object);

/*
 * Finds a file for an object, whose links are those of the machine that the object is of. @found: PATH_MAX bytes.
 * false: errno is set; EXDEV: a link leads from a foreign object to a file of this machine
 */
bool object_find_file(const struct ntrace_object *object, const char *path, char *found);

/* The name of the .dwo file, or NULL. */
const char *referred_split_name(Dwarf_Die *skeleton);

/* The .dwo file of a split unit, if there is one. @path: PATH_MAX bytes */
bool referred_find_split(const struct ntrace_object *object, Dwarf_Die *skeleton, char *path);

/* Room of a reason. */
#define REFERRED_ROOM (PATH_MAX + 64)

/*
 * Whether libdw may look for the split unit of @skeleton, which it does by opening the files that are named,
 * whatever they are. @reason: if not, why; empty: the file of the unit is there, and libdw does not read it
 */
bool referred_allows_split(struct ntrace_object *object, Dwarf_Die *skeleton, char *reason);

/* The file that .gnu_debugaltlink or .debug_sup of @dwarf names. Return: length of its @id, or at most 0: none */
ssize_t referred_shared_id(Dwarf *dwarf, const char **name, const void **id);

/*
 * The file of referred_shared_id(). Return: a descriptor; -1: there is none; -2: not a regular
 * file, one that cannot be read, or of this machine, which the object must not show: @reason is set
 */
int referred_open_shared(struct ntrace_object *object, Dwarf *dwarf, char *reason);

/*
 * @path: where it is now
 * @name: as the DWARF names a .dwo file; NULL for others
 * @build_id: of a file that dwz made; NULL for others; for a .dwp file both are NULL
 */
struct referred {
	const char *path;
	const char *name;
	const uint8_t *build_id;
	size_t build_id_size;
};

/*
 * Calls @take for each file that the DWARF of the object refers to, until it returns an error. Return: that,
 * 0 or NTRACE_ERR_NOMEM
 */
int referred_each(struct ntrace_object *object,
		  int (*take)(void *data, const struct referred *referred), void *data);

/* An ELF file with DWARF that has nothing: libdw searches for no file then. To be freed with elf_end(). */
Elf *referred_nothing(void);

/*
 * Keeps why a split unit was not read, unless there is a reason already. The unit is in a .dwo file, or in the
 * .dwp file of the program, which libdw reads from 0.191 on.
 */
void referred_note_split(struct ntrace_object *object, Dwarf_Die *skeleton);

/* Whether the object or its debug file has DWARF: else a debuginfod server would be asked for it. */
bool referred_has_dwarf(const struct ntrace_object *object);

#endif
