// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Opens the DWARF of an object, using libdwfl: that of its file or its debug file, with what they refer to, and
 * finds its units. Each part that is missing is noted in the object, with the reason.
 */
#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "object.h"
#include "referred.h"
#include "regular.h"

/* Older versions of elf.h lack it. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* libdwfl looks nowhere but on debuginfod servers: debug_file.c has searched the directories. */
static char no_directory[] = "/proc/none";

/* Whether libdwfl looks for the file that .gnu_debugaltlink names, not for that of .gnu_debuglink. */
static bool is_shared(const struct ntrace_object *object, const char *link)
{
	return link && (!object->debug_link || strcmp(link, object->debug_link) != 0);
}

/* A server that does not answer would take as long for the next question. */
static atomic_bool is_silent;

/* Whether to ask a server: not for a recording with its own files, and once for what it does not have. */
static bool may_ask(const struct ntrace_object *object, bool unserved)
{
	return !unserved && !is_silent && !object_is_foreign(object);
}

/* @fd: the answer of a server, below 0: no file, or -errno. Return: whether it has the file */
static bool is_served(struct ntrace_object *object, int fd)
{
	if (fd >= 0)
		return true;
	if (fd == -1 || fd == -ENOENT || fd == -ENOSYS)
		return false;
	is_silent = true;
	object_note_debug(object, "the server of DEBUGINFOD_URLS: %s", strerror(-fd));
	return false;
}

/* The path of an open file, to be freed: libdwfl does not name the files of debuginfod servers. */
static char *open_name(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	return length < 0 ? NULL : strndup(path, (size_t)length);
}

void debug_info_note_unread(struct ntrace_object *object, const char *what)
{
	object_note_debug(object, "%s: libdw %s does not read them: %s", what, dwfl_version(NULL),
			  dwarf_errmsg(-1));
}

/*
 * Returns the object's known debug file; else asks a debuginfod server. No file shared by debug files:
 * open_shared() finds it, since libdw would otherwise search everywhere.
 */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **found)
{
	struct debug_info *info = *user;
	struct ntrace_object *object = info->object;
	int fd;

	if (is_shared(object, link))
		return -1;
	if (object->debug) {
		fd = object_open_again(object, object->debug->path);
		*found = fd < 0 ? NULL : strdup(object->debug->path);
		return fd;
	}
	if (!may_ask(object, object->unserved))
		return -1;
	fd = dwfl_standard_find_debuginfo(module, user, name, base, file, link, crc, found);
	object->unserved = !is_served(object, fd);
	if (object->unserved)
		return -1;
	if (!*found)
		*found = open_name(fd);
	free(info->served);
	info->served = *found ? strdup(*found) : NULL;
	return fd;
}

static int no_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

/* libdwfl calls this for the file of a kernel module. */
static int module_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		      char **file, Elf **elf)
{
	const struct debug_info *info = *user;

	(void)module, (void)name, (void)base, (void)elf;
	*file = strdup(info->object->path);
	return *file ? object_open_again(info->object, *file) : -1;
}

/* Address of a section that was placed by the loader. */
static int module_section(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  const char *section, Elf32_Word number, const GElf_Shdr *header,
			  Dwarf_Addr *address)
{
	const struct debug_info *info = *user;
	const struct ntrace_object *object = info->object;
	size_t i;

	(void)module, (void)name, (void)base, (void)section, (void)number;
	*address = (Dwarf_Addr)-1;
	for (i = 0; i < object->segment_count && header->sh_type == SHT_PROGBITS; i++) {
		if (object->segments[i].offset == header->sh_offset)
			*address = object->segments[i].address;
	}
	return DWARF_CB_OK;
}

static bool is_relocatable(const struct ntrace_object *object)
{
	const uint8_t *bytes = object->bytes;

	return object->size >= EI_NIDENT + 2 &&
	       (bytes[EI_NIDENT] | bytes[EI_NIDENT + 1] << 8) == ET_REL;
}

/* Sections of a relocatable file may be at any address; @dwfl asks for them later. */
static Dwfl_Module *report_module(Dwfl *dwfl, const struct ntrace_object *object)
{
	uint64_t start = UINT64_MAX, last = 0;
	size_t i;

	for (i = 0; i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];

		if (segment->address < start)
			start = segment->address;
		if (segment->address + (segment->size - 1) > last)
			last = segment->address + (segment->size - 1);
	}
	/* The end of the last addresses is not a number of 64 bits. */
	last += last < UINT64_MAX;
	return start < last ? dwfl_report_module(dwfl, object->name, start, last) : NULL;
}

static Dwfl_Module *report_file(Dwfl *dwfl, struct ntrace_object *object)
{
	Dwfl_Module *module;
	int fd = object_open_again(object, object->path);

	if (fd < 0)
		return NULL;
	module = dwfl_report_elf(dwfl, object->path, object->path, fd, 0, true);
	if (!module)
		close(fd);
	return module;
}

/* Asks a debuginfod server for the shared file; libdwfl knows what it is by its link. */
static int ask_shared(struct debug_info *info, void **user, const char *link)
{
	const char *file = NULL, *name;
	char *found = NULL;
	Dwarf_Addr base;
	int fd;

	if (!may_ask(info->object, info->object->unserved_shared))
		return -1;
	name = dwfl_module_info(info->module, NULL, &base, NULL, NULL, NULL, &file, NULL);
	fd = dwfl_standard_find_debuginfo(info->module, user, name, base, file, link, 0, &found);
	info->object->unserved_shared = !is_served(info->object, fd);
	free(found);
	return fd;
}

/*
 * dwz moves what several programs share to another file. Without it, the DWARF gets one that has nothing: libdw
 * would open whatever has the name.
 */
static void open_shared(struct debug_info *info, void **user)
{
	char reason[REFERRED_ROOM] = "";
	const char *name;
	const void *id;
	int fd;

	if (referred_shared_id(info->dwarf, &name, &id) <= 0)
		return;
	fd = referred_open_shared(info->object, info->dwarf, reason);
	if (fd == -1)
		fd = ask_shared(info, user, name);
	if (fd >= 0) {
		info->shared_elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
		info->shared_fd = fd;
		info->shared = dwarf_begin_elf(info->shared_elf, DWARF_C_READ, NULL);
	}
	if (!info->shared) {
		if (*reason)
			object_note_debug(info->object, "%s", reason);
		else if (fd >= 0)
			object_note_debug(info->object, "%s: libdw %s does not read it", name,
					  dwfl_version(NULL));
		else
			object_note_debug(info->object, "%s: not found", name);
		elf_end(info->shared_elf);
		info->shared_elf = referred_nothing();
		info->shared = dwarf_begin_elf(info->shared_elf, DWARF_C_READ, NULL);
	}
	dwarf_setalt(info->dwarf, info->shared);
}

/* libdw does not say that it cannot unpack a section: before 0.189, it does not know zstd. */
static void note_zstd(struct ntrace_object *object)
{
	const struct ntrace_object *file = object->debug ? object->debug : object;
	Elf *elf = elf_memory((char *)(uintptr_t)file->bytes, file->size);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_COMPRESSED) &&
		    gelf_getchdr(section, &packed) && packed.ch_type == ELFCOMPRESS_ZSTD)
			object_note_debug(
				object,
				"sections compressed with zstd: libdw %s does not read them",
				dwfl_version(NULL));
	elf_end(elf);
}

int debug_info_open(struct debug_info *info, struct ntrace_object *object)
{
	bool relocatable = is_relocatable(object);
	Dwfl_Module *module;
	Dwarf_Addr bias;
	void **user;

	info->callbacks.find_elf = relocatable ? module_elf : no_elf;
	info->callbacks.find_debuginfo = find_debuginfo;
	info->callbacks.section_address = relocatable ? module_section :
							dwfl_offline_section_address;
	info->debug_path = no_directory;
	info->callbacks.debuginfo_path = &info->debug_path;
	info->dwfl = dwfl_begin(&info->callbacks);
	if (!info->dwfl)
		return NTRACE_ERR_NOMEM;
	dwfl_report_begin(info->dwfl);
	module = relocatable ? report_module(info->dwfl, object) : report_file(info->dwfl, object);
	dwfl_report_end(info->dwfl, NULL, NULL);
	if (!module || !dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
		return NTRACE_ERR_UNSUPPORTED;
	info->object = object;
	info->module = module;
	*user = info;
	info->dwarf = dwfl_module_getdwarf(module, &bias);
	if (info->dwarf) {
		open_shared(info, user);
	} else {
		note_zstd(object);
		if (info->served)
			object_note_debug(
				object, "%s, of a debuginfod server: libdw %s reads no DWARF in it",
				info->served, dwfl_version(NULL));
	}
	return info->dwarf ? 0 : NTRACE_ERR_UNSUPPORTED;
}

void debug_info_close(struct debug_info *info)
{
	if (info->dwfl)
		dwfl_end(info->dwfl);
	if (info->shared)
		dwarf_end(info->shared);
	elf_end(info->shared_elf);
	if (info->shared_fd > 0)
		close(info->shared_fd);
	free(info->served);
}

char *debug_info_ask(struct ntrace_object *object)
{
	struct debug_info info = { 0 };
	char *path;

	if (!getenv("DEBUGINFOD_URLS"))
		return NULL;
	(void)debug_info_open(&info, object);
	path = info.served;
	info.served = NULL;
	debug_info_close(&info);
	return path;
}

int debug_info_next(const struct debug_info *info, struct debug_unit *unit)
{
	char reason[REFERRED_ROOM];
	Dwarf_CU *next;
	uint8_t type;
	int more;

	do {
		more = dwarf_get_units(info->dwarf, unit->unit, &next, NULL, &type, &unit->die,
				       NULL);
		if (more)
			return more < 0 ? NTRACE_ERR_FORMAT : DEBUG_INFO_END;
		unit->unit = next;
	} while (type != DW_UT_compile && type != DW_UT_skeleton);
	unit->has_split = false;
	if (type != DW_UT_skeleton)
		return 0;
	if (referred_allows_split(info->object, &unit->die, reason)) {
		/* Opens the files. */
		memset(&unit->split, 0, sizeof(unit->split));
		unit->has_split =
			!dwarf_cu_info(next, NULL, NULL, NULL, &unit->split, NULL, NULL, NULL) &&
			dwarf_tag(&unit->split) != DW_TAG_invalid;
	} else if (*reason) {
		object_note_debug(info->object, "%s", reason);
	}
	if (!unit->has_split)
		referred_note_split(info->object, &unit->die);
	return 0;
}
