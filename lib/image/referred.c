// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * libdw opens the files by itself: a .dwp file beside the program, a .dwo file by its name beside the program, then
 * by the directory of the compiler. It takes no other file, so what can be done is to look at these before it
 * does: none may be something that blocks or never ends, and for an object of another machine, which is all whose
 * debug directories are below a root, it must find its file below that root first. A debugger that is started on
 * another machine's files opens what they name by itself, too, in an order of its own: none may be outside.
 */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object.h"
#include "referred.h"
#include "regular.h"

#define TAIL "/usr/lib/debug"

/* What a name leads to. */
enum kind {
	KIND_NONE,
	KIND_FILE,
	KIND_OTHER,		/* a FIFO, a device, a socket, a directory */
};

static enum kind kind_of(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return KIND_NONE;
	return S_ISREG(status.st_mode) ? KIND_FILE : KIND_OTHER;
}

/* The root of another machine's debug directory; false: one of this machine, or that the caller chose. */
static bool root_of(const char *directory, char *root)
{
	size_t length = strlen(directory), tail = strlen(TAIL);
	char path[PATH_MAX];

	if (length <= tail || strcmp(directory + length - tail, TAIL) || length >= sizeof(path))
		return false;
	snprintf(path, sizeof(path), "%.*s", (int)(length - tail), directory);
	return realpath(path, root);
}

bool object_is_foreign(const struct ntrace_object *object)
{
	char root[PATH_MAX];
	size_t count = 0;

	while (object->debug_directories && object->debug_directories[count])
		if (!root_of(object->debug_directories[count++], root))
			return false;
	return count;
}

/* Whether the file at @path, after all links, is below a root of the object. */
static bool is_below_roots(const struct ntrace_object *object, const char *path)
{
	char root[PATH_MAX], real[PATH_MAX];

	if (!realpath(path, real))
		return false;
	for (size_t i = 0; object->debug_directories && object->debug_directories[i]; i++)
		if (root_of(object->debug_directories[i], root) &&
		    !strncmp(real, root, strlen(root)) && real[strlen(root)] == '/')
			return true;
	return false;
}

/* What follows @directory in @path, or NULL. */
static const char *rest_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return !strncmp(path, directory, length) && path[length] == '/' ? path + length : NULL;
}

bool object_find_file(const struct ntrace_object *object, const char *path, char *found)
{
	char given[PATH_MAX], root[PATH_MAX];
	const char *rest;
	int reason = 0;

	for (size_t i = 0; object->debug_directories && object->debug_directories[i]; i++) {
		const char *directory = object->debug_directories[i], *below = given;

		if (!root_of(directory, root))
			continue;
		snprintf(given, sizeof(given), "%.*s", (int)(strlen(directory) - strlen(TAIL)),
			 directory);
		rest = rest_below(path, given);
		if (!rest) {
			below = root;
			rest = rest_below(path, root);
		}
		if (rest && !ntrace_path_below(below, rest, found, PATH_MAX))
			return true;
		if (rest && errno != ENOENT && errno != ENOTDIR)
			reason = errno;
	}
	if (object_is_foreign(object)) {
		errno = reason ? reason : access(path, F_OK) ? ENOENT : EXDEV;
		return false;
	}
	return snprintf(found, PATH_MAX, "%s", path) < PATH_MAX;
}

static uint64_t unit_id(Dwarf_CU *unit, uint8_t *type)
{
	uint64_t id = 0;

	dwarf_cu_info(unit, NULL, type, NULL, NULL, &id, NULL, NULL);
	return id;
}

/* What libdw says of a .dwo file. */
enum contents {
	CONTENTS_NONE,		/* there is no such file, or it has units of other programs alone */
	CONTENTS_UNKNOWN,	/* libdw finds no split unit, which another libdw may */
	CONTENTS_UNIT,
};

static enum contents contents_of(const char *path, uint64_t id)
{
	enum contents contents = CONTENTS_UNKNOWN;
	struct stat status;
	Dwarf_CU *unit = NULL;
	Dwarf *dwarf;
	uint8_t type;
	int fd;

	if (open_regular(path, &fd, &status))
		return CONTENTS_NONE;
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	while (dwarf && contents != CONTENTS_UNIT &&
	       !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, NULL, NULL)) {
		uint64_t found = unit_id(unit, &type);

		if (type == DW_UT_split_compile)
			contents = found == id ? CONTENTS_UNIT : CONTENTS_NONE;
	}
	dwarf_end(dwarf);
	close(fd);
	return contents;
}

const char *referred_split_name(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr(skeleton, DW_AT_dwo_name, &attribute) &&
	    !dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute))
		return NULL;
	return dwarf_formstring(&attribute);
}

/* @where: a path, or relative to @directory. false: too long */
static bool join(char *path, const char *directory, const char *where)
{
	int made = *where == '/' ? snprintf(path, PATH_MAX, "%s", where) :
				   snprintf(path, PATH_MAX, "%s/%s", directory, where);

	return made < PATH_MAX;
}

/* Real path of the file that has the object's DWARF. */
static bool holder_of(const struct ntrace_object *object, char *path)
{
	const struct ntrace_object *holder = object->debug ? object->debug : object;

	return holder->path && realpath(holder->path, path);
}

/* Where libdw looks, in its order; an empty name is none. */
struct candidates {
	char package[PATH_MAX];
	char beside[PATH_MAX];
	char built[PATH_MAX];
};

static bool find_candidates(const struct ntrace_object *object, Dwarf_Die *skeleton,
			    const char *name, struct candidates *candidates)
{
	char holder[PATH_MAX], directory[PATH_MAX];
	const char *built = NULL;
	Dwarf_Attribute attribute;

	candidates->built[0] = '\0';
	if (!holder_of(object, holder) ||
	    snprintf(candidates->package, PATH_MAX, "%s.dwp", holder) >= PATH_MAX)
		return false;
	*strrchr(holder, '/') = '\0';
	if (dwarf_attr(skeleton, DW_AT_comp_dir, &attribute))
		built = dwarf_formstring(&attribute);
	return join(candidates->beside, holder, name) &&
	       (!built || *name == '/' ||
		(join(directory, holder, built) && join(candidates->built, directory, name)));
}

bool referred_find_split(const struct ntrace_object *object, Dwarf_Die *skeleton, char *path)
{
	const char *name = referred_split_name(skeleton);
	struct candidates candidates;

	if (!name || !find_candidates(object, skeleton, name, &candidates))
		return false;
	snprintf(path, PATH_MAX, "%s",
		 kind_of(candidates.beside) == KIND_FILE ? candidates.beside : candidates.built);
	return kind_of(path) == KIND_FILE;
}

static bool refuse(char *reason, const char *path, const char *why)
{
	snprintf(reason, REFERRED_ROOM, "%s: %s", path, why);
	return false;
}

bool referred_allows_split(struct ntrace_object *object, Dwarf_Die *skeleton, char *reason)
{
	static const char outside[] = "a file of this machine, not of the recorded one";
	const char *name = referred_split_name(skeleton), *paths[3];
	struct candidates candidates;
	bool archived;
	uint8_t type;

	*reason = '\0';
	if (!name)
		return true;
	if (!find_candidates(object, skeleton, name, &candidates))
		return refuse(reason, name, "path too long");
	paths[0] = candidates.package;
	paths[1] = candidates.beside;
	paths[2] = candidates.built;
	for (size_t i = 0; i < 3; i++)
		if (*paths[i] && kind_of(paths[i]) == KIND_OTHER)
			return refuse(reason, paths[i], "not a regular file");
	if (!object_is_foreign(object))
		return true;
	if (kind_of(candidates.package) == KIND_FILE && !is_below_roots(object, candidates.package))
		return refuse(reason, candidates.package, outside);
	archived = kind_of(candidates.beside) == KIND_FILE &&
		   is_below_roots(object, candidates.beside);
	if (archived &&
	    contents_of(candidates.beside, unit_id(skeleton->cu, &type)) == CONTENTS_UNIT)
		return true;
	for (size_t i = 1; i < 3; i++)
		if (*paths[i] && kind_of(paths[i]) == KIND_FILE &&
		    !is_below_roots(object, paths[i]))
			return !archived && refuse(reason, paths[i], outside);
	return true;
}

/* ---- what dwz shares ---- */

static Elf_Scn *find_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) :
							NULL;
		if (name && !strcmp(name, wanted))
			break;
	}
	return section;
}

/*
 * .debug_sup (DWARF 5, section 7.3.6): a version, whether this is the shared file, its name, the length of a
 * checksum, the checksum. libdw reads what refers to the file, but not this. Return: length of @id; 0: none
 */
static ssize_t supplement_id(Elf *elf, bool shared, const char **name, const void **id)
{
	Elf_Scn *section = find_section(elf, ".debug_sup");
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const uint8_t *bytes = data ? data->d_buf : NULL, *end;

	if (!bytes || data->d_size < 5 || bytes[0] != 5 || bytes[1] || bytes[2] != shared)
		return 0;
	end = memchr(bytes + 3, 0, data->d_size - 3);
	/* No checksum is so long that its length takes two bytes. */
	if (!end || data->d_size - (size_t)(end - bytes) < 2 || end[1] >= 0x80 ||
	    data->d_size - (size_t)(end - bytes) - 2 < end[1])
		return 0;
	*name = (const char *)bytes + 3;
	*id = end + 2;
	return end[1];
}

ssize_t referred_shared_id(Dwarf *dwarf, const char **name, const void **id)
{
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf, name, id);

	return size > 0 ? size : supplement_id(dwarf_getelf(dwarf), false, name, id);
}

static bool is_shared_file(Elf *elf, const void *id, size_t id_size)
{
	const char *name;
	const void *found;

	return elf && ((dwelf_elf_gnu_build_id(elf, &found) == (ssize_t)id_size &&
			!memcmp(found, id, id_size)) ||
		       (supplement_id(elf, true, &name, &found) == (ssize_t)id_size &&
			!memcmp(found, id, id_size)));
}

/* Opens a regular file, for a foreign object only below its roots. Return: as referred_open_shared() */
static int open_shared(const struct ntrace_object *object, const char *name, const void *id,
		       size_t id_size, char *reason)
{
	char path[PATH_MAX];
	struct stat status;
	int fd, error;
	bool same;
	Elf *elf;

	if (!object_find_file(object, name, path)) {
		if (errno == ENOENT)
			return -1;
		refuse(reason, name,
		       errno == EXDEV ? "a file of this machine, not of the recorded one" :
					strerror(errno));
		return -2;
	}
	error = open_regular(path, &fd, &status);
	if (error == NTRACE_ERR_IO && (errno == ENOENT || errno == ENOTDIR))
		return -1;
	if (error) {
		refuse(reason, path,
		       error == NTRACE_ERR_IO ? strerror(errno) : "not a regular file");
		return -2;
	}
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	same = is_shared_file(elf, id, id_size);
	elf_end(elf);
	if (same)
		return fd;
	close(fd);
	return -1;
}

int referred_open_shared(struct ntrace_object *object, Dwarf *dwarf, char *reason)
{
	char path[PATH_MAX], holder[PATH_MAX];
	const char *name, *directory;
	const uint8_t *id;
	const void *bits;
	ssize_t size = referred_shared_id(dwarf, &name, &bits);
	int fd, result = -1, made;

	if (size < 2 || size > NTRACE_BUILD_ID_MAX || !holder_of(object, holder))
		return -1;
	id = bits;
	for (size_t i = 0; object->debug_directories && object->debug_directories[i]; i++) {
		directory = object->debug_directories[i];
		made = snprintf(path, sizeof(path), "%s/.build-id/%02x/", directory, id[0]);
		for (ssize_t j = 1; j < size && made < PATH_MAX; j++)
			made += snprintf(path + made, sizeof(path) - (size_t)made, "%02x", id[j]);
		if (made + (int)sizeof(".debug") > PATH_MAX)
			continue;
		memcpy(path + made, ".debug", sizeof(".debug"));
		fd = open_shared(object, path, bits, (size_t)size, reason);
		if (fd >= 0)
			return fd;
		result = fd < result ? fd : result;
		made = snprintf(path, sizeof(path), "%s/.dwz/%s", directory,
				strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
		fd = made < PATH_MAX ? open_shared(object, path, bits, (size_t)size, reason) : -1;
		if (fd >= 0)
			return fd;
		result = fd < result ? fd : result;
	}
	*strrchr(holder, '/') = '\0';
	fd = join(path, holder, name) ? open_shared(object, path, bits, (size_t)size, reason) : -1;
	return fd < result ? fd : fd >= 0 ? fd : result;
}

/* ---- all of them ---- */

bool referred_has_dwarf(const struct ntrace_object *object)
{
	const struct ntrace_object *file = object->debug ? object->debug : object;
	Elf *elf = file->mapped ? elf_memory((char *)(uintptr_t)file->bytes, file->size) : NULL;
	bool found = find_section(elf, ".debug_info") != NULL;

	elf_end(elf);
	return found;
}

static bool is_readable(struct ntrace_object *object, const char *path)
{
	int fd = object_open_again(object, path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void referred_note_split(struct ntrace_object *object, Dwarf_Die *skeleton)
{
	const char *name = referred_split_name(skeleton);
	char package[PATH_MAX];
	int made = snprintf(package, sizeof(package), "%s.dwp", object->path ? object->path : "");

	if (object->missing_debug)
		return;
	if (made < (int)sizeof(package) && !access(package, F_OK)) {
		if (!is_readable(object, package))
			return;
		object_note_debug(object, "%s: libdw %s does not read it", package,
				  dwfl_version(NULL));
		return;
	}
	if (referred_find_split(object, skeleton, package)) {
		if (!is_readable(object, package))
			return;
		object_note_debug(
			object,
			"%s: libdw %s finds no unit of the program in it: another build, "
			"-gsplit-dwarf=single, -fdebug-types-section, or compressed with zstd",
			package, dwfl_version(NULL));
		return;
	}
	object_note_debug(object, "%s: not found", name ? name : "a .dwo file");
}

static int take_split(struct ntrace_object *object, Dwarf_Die *skeleton,
		      int (*take)(void *data, const struct referred *referred), void *data)
{
	struct referred referred = { .name = referred_split_name(skeleton) };
	enum contents best = CONTENTS_NONE, contents;
	struct candidates candidates;
	const char *paths[2];
	uint8_t type;

	if (!referred.name || !find_candidates(object, skeleton, referred.name, &candidates))
		return 0;
	paths[0] = candidates.beside;
	paths[1] = candidates.built;
	for (size_t i = 0; i < 2; i++) {
		contents = *paths[i] ? contents_of(paths[i], unit_id(skeleton->cu, &type)) :
				       CONTENTS_NONE;
		if (contents <= best)
			continue;
		best = contents;
		referred.path = paths[i];
	}
	if (!best && kind_of(candidates.package) != KIND_FILE)
		referred_note_split(object, skeleton);
	return best ? take(data, &referred) : 0;
}

static int take_shared(const struct debug_info *info,
		       int (*take)(void *data, const struct referred *referred), void *data)
{
	struct referred referred = { 0 };
	const char *name;
	const void *id;
	ssize_t size = referred_shared_id(info->dwarf, &name, &id);
	char path[64];

	if (info->shared_fd <= 0 || size <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", info->shared_fd);
	referred.path = path;
	referred.build_id = id;
	referred.build_id_size = (size_t)size;
	return take(data, &referred);
}

static int take_package(const struct ntrace_object *object,
			int (*take)(void *data, const struct referred *referred), void *data)
{
	struct referred referred = { 0 };
	char holder[PATH_MAX], path[PATH_MAX];

	if (!holder_of(object, holder) ||
	    snprintf(path, sizeof(path), "%s.dwp", holder) >= PATH_MAX ||
	    kind_of(path) != KIND_FILE)
		return 0;
	referred.path = path;
	return take(data, &referred);
}

int referred_each(struct ntrace_object *object,
		  int (*take)(void *data, const struct referred *referred), void *data)
{
	struct debug_info info = { 0 };
	bool split = false;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int error;

	if (!referred_has_dwarf(object))
		return 0;
	error = debug_info_open(&info, object);
	if (!error)
		error = take_shared(&info, take, data);
	while (!error && info.dwarf &&
	       !dwarf_get_units(info.dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		if (type != DW_UT_skeleton)
			continue;
		split = true;
		error = take_split(object, &die, take, data);
	}
	if (!error && split)
		error = take_package(object, take, data);
	debug_info_close(&info);
	return error == NTRACE_ERR_UNSUPPORTED ? 0 : error;
}

/* ---- what a debugger opens ---- */

/* Whether there is something at @path that is not a regular file below @root. */
static bool is_outside(const char *root, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) && (kind_of(real) != KIND_FILE || !rest_below(real, root));
}

/* Relative names count from the directory of the file or, in GDB, from its own. @found: PATH_MAX bytes */
static bool names_outside(const char *root, const char *directory, const char *name, char *found)
{
	return (join(found, directory, name) && is_outside(root, found)) ||
	       (join(found, ".", name) && is_outside(root, found));
}

static bool split_is_outside(const char *root, const char *directory, Dwarf_Die *skeleton,
			     char *found)
{
	const char *name = referred_split_name(skeleton), *built = NULL;
	Dwarf_Attribute attribute;
	char path[PATH_MAX];

	if (!name)
		return false;
	if (dwarf_attr(skeleton, DW_AT_comp_dir, &attribute))
		built = dwarf_formstring(&attribute);
	return names_outside(root, directory, name, found) ||
	       (built && join(path, built, name) && names_outside(root, directory, path, found));
}

/* Return: a name of the ELF file that leads out, which may be @found; NULL: none. */
static const char *find_outside(const char *root, const char *directory, Elf *elf, char *found)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	const char *name = NULL, *outside = NULL;
	Dwarf_CU *unit = NULL;
	int error = 0;
	GElf_Word crc;
	const void *id;
	Dwarf_Die die;

	if (dwarf ? referred_shared_id(dwarf, &name, &id) > 0 &&
			    names_outside(root, directory, name, found) :
		    find_section(elf, ".debug_info") != NULL)
		outside = dwarf ? found : "DWARF that cannot be read";
	while (dwarf && !outside &&
	       !(error = dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)))
		if (split_is_outside(root, directory, &die, found))
			outside = found;
	if (error < 0)
		outside = "DWARF that cannot be read";
	dwarf_end(dwarf);
	if (outside)
		return outside;
	/* As when a debug file is searched: a name with directories could point anywhere. */
	name = dwelf_elf_gnu_debuglink(elf, &crc);
	return name && strchr(name, '/') ? name : NULL;
}

bool ntrace_debug_stays_below(const char *root, const char *path, char *reason, size_t size)
{
	char directory[PATH_MAX], top[PATH_MAX], found[PATH_MAX];
	const char *outside = NULL;
	struct stat status;
	Elf *elf;
	int fd;

	if (!realpath(root, top) || !realpath(path, directory) || open_regular(path, &fd, &status))
		return true;
	*strrchr(directory, '/') = '\0';
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		outside = find_outside(top, directory, elf, found);
	if (outside)
		snprintf(reason, size, "%s", outside);
	elf_end(elf);
	close(fd);
	return !outside;
}

Elf *referred_nothing(void)
{
	/* libdw wants a section of DWARF; it never writes, though its parameter is not const. */
	static struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[3];
		char names[32];
		char line[16];
	} file = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
					 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB :
										     ELFDATA2MSB,
					 EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = EM_RISCV,
			    .e_version = EV_CURRENT,
			    .e_shoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3,
			    .e_shstrndx = 2 },
		.sections = { [1] = { .sh_name = 1,
				      .sh_type = SHT_PROGBITS,
				      .sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr) + 32,
				      .sh_size = 16,
				      .sh_addralign = 1 },
			      [2] = { .sh_name = 13,
				      .sh_type = SHT_STRTAB,
				      .sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr),
				      .sh_size = 32,
				      .sh_addralign = 1 } },
		.names = "\0.debug_line\0.shstrtab",
	};

	return elf_memory((char *)&file, sizeof(file));
}
