// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Lines and scopes from DWARF, using libdw. Numbers and files of declarations are read with
 * dwarf_attr() and dwarf_getsrcfiles(), which return errors: dwarf_decl_file() of libdw 0.188
 * aborts in a split unit, and dwarf_decl_line() if the number is damaged.
 */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"
#include "lines.h"
#include "object.h"
#include "referred.h"
#include "regular.h"

/* Scopes nest like the source; no compiler nests them deeper than this. */
#define DEPTH_MAX 256

/* Constants that older versions of elf.h and dwarf.h lack; the attribute is GCC's. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif
#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif

static int compare_texts(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Removes "//", "/./" and "/x/../" from an absolute path, so that each file has one name. */
static void clean_path(char *path)
{
	const char *from = path;
	char *to = path;
	size_t length;

	if (*path != '/')
		return;
	while (*from) {
		from += strspn(from, "/");
		length = strcspn(from, "/");
		if (length == 2 && !memcmp(from, "..", 2)) {
			while (to > path) {
				to--;
				if (*to == '/')
					break;
			}
		} else if (length && !(length == 1 && *from == '.')) {
			*to++ = '/';
			memmove(to, from, length);
			to += length;
		}
		from += length;
	}
	*to = '\0';
}

/* The path of a file named by a unit, to be freed; NULL when out of memory. */
static char *whole_path(Dwarf_Die *unit, const char *name)
{
	Dwarf_Attribute attribute;
	const char *directory = NULL;
	char *path;

	if (*name != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		directory = dwarf_formstring(&attribute);
	if (!directory)
		path = strdup(name);
	else if (asprintf(&path, "%s/%s", directory, name) < 0)
		path = NULL;
	if (path)
		clean_path(path);
	return path;
}

/*
 * A permanent path, the same pointer for the same file; NULL for NULL, and when out of memory, which
 * lines_read_unit() reports.
 */
static const char *keep_file(struct ntrace_lines *lines, Dwarf_Die *unit, const char *name)
{
	char *path, **node;

	if (!name)
		return NULL;
	if (name == lines->last_name)
		return lines->last_file;
	path = whole_path(unit, name);
	node = path ? tsearch(path, &lines->files, compare_texts) : NULL;
	if (!node || *node != path)
		free(path);
	if (!node) {
		lines->no_memory = true;
		return NULL;
	}
	lines->last_name = name;
	lines->last_file = *node;
	return lines->last_file;
}

/*
 * The function at 0 that begins with the row; NULL: none. Rows have the line of its name or, from clang, that of its
 * brace.
 */
static const struct zero_function *zero_function_of(struct ntrace_lines *lines, Dwarf_Die *unit,
						    Dwarf_Line *row)
{
	const struct zero_function *found = NULL;
	const char *file;
	int number;

	if (!lines->zero_count || dwarf_lineno(row, &number) || number < 0)
		return NULL;
	file = keep_file(lines, unit, dwarf_linesrc(row, NULL, NULL));
	for (size_t i = 0; i < lines->zero_count; i++) {
		const struct zero_function *zero = &lines->zeros[i];

		if (zero->file == file && (uint32_t)number - zero->line <= 1 &&
		    (!found || zero->line > found->line))
			found = zero;
	}
	return found;
}

static int add_line(struct ntrace_lines *lines, Dwarf_Die *unit, Dwarf_Line *row, uint64_t start,
		    uint64_t end)
{
	struct ntrace_line line = { .start = start, .end = end };
	int number = 0, error;
	unsigned int part;

	if (dwarf_lineno(row, &number) || number < 0)
		return 0;
	line.file = keep_file(lines, unit, dwarf_linesrc(row, NULL, NULL));
	line.line = line.file ? (uint32_t)number : 0;
	if (line.line && !dwarf_linediscriminator(row, &part))
		line.discriminator = part;
	error = grow((void **)&lines->lines, lines->line_count, &lines->line_room, sizeof(line));
	if (!error)
		lines->lines[lines->line_count++] = line;
	return error;
}

/* The end of the sequence of rows that begins with row @i. */
static Dwarf_Addr end_of_sequence(Dwarf_Lines *rows, size_t i, size_t count)
{
	Dwarf_Addr end = 0;
	bool last = false;

	for (; i < count && !last; i++)
		if (dwarf_lineaddr(dwarf_onesrcline(rows, i), &end) ||
		    dwarf_lineendsequence(dwarf_onesrcline(rows, i), &last))
			break;
	return end;
}

/*
 * A row is valid up to the next row in the order of libdw. At 0, these are also all rows of functions that the linker
 * dropped: the last one of a function that was placed there is valid.
 */
static int read_rows(struct ntrace_lines *lines, Dwarf_Die *unit)
{
	const struct zero_function *zero = NULL, *found;
	bool last, dropped = false, begins = true;
	Dwarf_Line *at_zero = NULL;
	Dwarf_Addr start, end;
	Dwarf_Lines *rows;
	size_t count, i;
	int error;

	if (dwarf_getsrclines(unit, &rows, &count))
		return 0;
	for (i = 0; i + 1 < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);

		if (dwarf_lineendsequence(row, &last) || last || dwarf_lineaddr(row, &start) ||
		    dwarf_lineaddr(dwarf_onesrcline(rows, i + 1), &end)) {
			begins = true;
			continue;
		}
		if (begins)
			dropped = !object_is_code(lines->object, start,
						  end_of_sequence(rows, i, count), true);
		begins = false;
		if (!start) {
			found = zero_function_of(lines, unit, row);
			zero = found ? found : zero;
			at_zero = !zero || zero->placed ? row : at_zero;
			row = at_zero;
		}
		if (dropped || end <= start || !row)
			continue;
		error = add_line(lines, unit, row, start, end);
		if (error)
			return error;
	}
	return 0;
}

/* libdw takes DW_FORM_ref_sup4, by which `dwz --dwarf-5` refers to the shared file, for a place in this one. */
static Dwarf_Die *referred_die(Dwarf_Attribute *attribute, Dwarf_Die *die)
{
	if (attribute->form == DW_FORM_ref_sup4)
		attribute->form = DW_FORM_GNU_ref_alt;
	return dwarf_formref_die(attribute, die);
}

/* An attribute of a function, or of its declaration or abstract instance. */
static Dwarf_Attribute *attribute_of(Dwarf_Die *die, unsigned int name, Dwarf_Attribute *attribute)
{
	Dwarf_Die origin;

	/* A damaged file may refer in a circle. */
	for (unsigned int i = 0; i < 16 && die; i++) {
		if (dwarf_attr(die, name, attribute))
			return attribute;
		if (!dwarf_attr(die, DW_AT_abstract_origin, attribute) &&
		    !dwarf_attr(die, DW_AT_specification, attribute))
			return NULL;
		die = referred_die(attribute, &origin);
	}
	return NULL;
}

static const char *scope_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name;

	if (!attribute_of(die, DW_AT_linkage_name, &attribute) &&
	    !attribute_of(die, DW_AT_MIPS_linkage_name, &attribute) &&
	    !attribute_of(die, DW_AT_name, &attribute))
		return "[unnamed]";
	name = dwarf_formstring(&attribute);
	return name && *name ? name : "[unnamed]";
}

/* @declared: also of the declaration or the abstract instance of @die. false: it has no such number */
static bool read_number(Dwarf_Die *die, unsigned int name, bool declared, uint32_t *number)
{
	Dwarf_Attribute attribute, *found;
	Dwarf_Word value;

	*number = 0;
	found = declared ? attribute_of(die, name, &attribute) : dwarf_attr(die, name, &attribute);
	if (!found || dwarf_formudata(found, &value) || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name, bool declared)
{
	uint32_t number;

	return read_number(die, name, declared, &number) ? number : 0;
}

/* File 0 is the source of the unit in DWARF 5, as clang numbers it, and means no file before. */
static bool has_file(Dwarf_Die *unit, uint32_t number)
{
	Dwarf_Half version;

	return number || (!dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) &&
			  version >= 5);
}

/*
 * The number of a file counts in the unit of the declaration, which LTO and dwz put into another unit than
 * @unit, that of @die.
 */
static const char *file_of(struct ntrace_lines *lines, Dwarf_Die *unit, Dwarf_Die *die,
			   unsigned int name, bool declared)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Die owner;
	uint32_t number;
	size_t count;

	if (!read_number(die, name, declared, &number))
		return NULL;
	if (declared && attribute_of(die, name, &attribute) && attribute.cu != unit->cu &&
	    dwarf_cu_die(attribute.cu, &owner, NULL, NULL, NULL, NULL, NULL, NULL))
		unit = &owner;
	if (!has_file(unit, number) || dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	return keep_file(lines, unit, dwarf_filesrc(files, number, NULL, NULL));
}

struct position {
	struct ntrace_lines *lines;
	Dwarf_Die *unit;
	uint32_t scope;
	unsigned int depth;
	bool is_split;
};

static bool is_scope_code(const struct position *at, Dwarf_Die *die, bool inlined, uint64_t start,
			  uint64_t end)
{
	if (!start && inlined)
		return lines_begin_at_zero(at->lines, at->scope);
	return object_is_code(at->lines->object, start, end, false) &&
	       (start || object_has_at_zero(at->lines->object, scope_name(die)));
}

static int add_range(struct ntrace_lines *lines, uint64_t start, uint64_t end, uint32_t scope)
{
	int error = grow((void **)&lines->ranges, lines->range_count, &lines->range_room,
			 sizeof(*lines->ranges));

	if (!error)
		lines->ranges[lines->range_count++] = (struct scope_range){ start, end, scope };
	return error;
}

/* Notes a function that DWARF places at 0. */
static int add_zero(const struct position *at, Dwarf_Die *die, bool placed)
{
	struct ntrace_lines *lines = at->lines;
	struct zero_function zero = {
		.file = file_of(lines, at->unit, die, DW_AT_decl_file, true),
		.line = number_of(die, DW_AT_decl_line, true),
		.placed = placed,
	};
	int error = grow((void **)&lines->zeros, lines->zero_count, &lines->zero_room,
			 sizeof(*lines->zeros));

	if (!error)
		lines->zeros[lines->zero_count++] = zero;
	return error;
}

/*
 * The end of a function whose size is 0 in a .dwo file: there it is the difference of two labels, which
 * the assembler leaves to the linker on RISC-V, and the linker does not see the file.
 */
static uint64_t end_of(struct ntrace_lines *lines, uint64_t start)
{
	const struct symbol *symbol = symbol_table_find(&lines->object->symbols, start);

	return symbol && symbol->start == start ? symbol->end : start;
}

/*
 * Adds the ranges of a scope, and finds its entry point, if it has code. An inlined function may have
 * an empty range, at the entry of the function around it. @dropped: it has ranges, but none is code
 */
static int read_ranges(const struct position *at, Dwarf_Die *die, uint32_t scope, bool inlined,
		       struct ntrace_scope *found, bool *dropped)
{
	struct ntrace_lines *lines = at->lines;
	Dwarf_Addr base, start, end;
	size_t before = lines->range_count;
	bool at_zero = false, whole;
	ptrdiff_t offset = 0;
	int error = 0;

	*dropped = false;
	while (!error && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		whole = end > start || (!inlined && !at->is_split);
		at_zero |= !start;
		if (end == start && !inlined && at->is_split)
			end = end_of(lines, start);
		if (end > start && is_scope_code(at, die, inlined, start, end))
			error = add_range(lines, start, end, scope);
		*dropped = lines->range_count == before && whole;
	}
	if (at_zero && !inlined && !error)
		error = add_zero(at, die, lines->range_count > before);
	if (lines->range_count > before)
		found->entry = dwarf_entrypc(die, &base) ? lines->ranges[before].start : base;
	return error;
}

/* @inside: scope that contains the children of this one. @dropped: they are no code, either */
static int add_scope(const struct position *at, Dwarf_Die *die, bool inlined, uint32_t *inside,
		     bool *dropped)
{
	struct ntrace_lines *lines = at->lines;
	struct ntrace_scope scope = { .parent = inlined ? at->scope : NTRACE_NO_SCOPE,
				      .inlined = inlined };
	uint32_t number = (uint32_t)lines->scope_count;
	size_t before = lines->range_count;
	int error;

	if (lines->scope_count == NTRACE_NO_SCOPE)
		return NTRACE_ERR_NOMEM;
	error = read_ranges(at, die, number, inlined, &scope, dropped);
	if (error || lines->range_count == before)
		return error;
	scope.name = scope_name(die);
	scope.file = file_of(lines, at->unit, die, DW_AT_decl_file, true);
	scope.line = number_of(die, DW_AT_decl_line, true);
	if (inlined) {
		scope.call_file = file_of(lines, at->unit, die, DW_AT_call_file, false);
		scope.call_line = number_of(die, DW_AT_call_line, false);
		scope.call_discriminator = number_of(die, DW_AT_GNU_discriminator, false);
	}
	error = grow((void **)&lines->scopes, lines->scope_count, &lines->scope_room,
		     sizeof(scope));
	if (error)
		return error;
	lines->scopes[lines->scope_count++] = scope;
	*inside = number;
	return 0;
}

static int read_children(const struct position *at, Dwarf_Die *parent)
{
	struct position inside = *at;
	Dwarf_Die die;
	bool dropped;
	int error = 0;

	if (++inside.depth > DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);

		inside.scope = at->scope;
		dropped = false;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			error = add_scope(at, &die, tag == DW_TAG_inlined_subroutine, &inside.scope,
					  &dropped);
		else if (tag != DW_TAG_lexical_block && tag != DW_TAG_namespace &&
			 tag != DW_TAG_class_type && tag != DW_TAG_structure_type &&
			 tag != DW_TAG_module)
			continue;
		if (!error && !dropped)
			error = read_children(&inside, &die);
	} while (!error && !dwarf_siblingof(&die, &die));
	return error;
}

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

/*
 * Returns the object's known debug file; else asks a debuginfod server. No file shared by debug files:
 * open_shared() finds it, since libdw would otherwise search everywhere.
 */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **found)
{
	struct debug_info *info = *user;
	struct ntrace_object *object = info->object;
	struct stat status;
	int fd;

	if (is_shared(object, link))
		return -1;
	if (object->debug) {
		if (open_regular(object->debug->path, &fd, &status))
			return -1;
		*found = strdup(object->debug->path);
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

/* The file was a regular one when the object was made, but a name may be another file's since. */
static int open_object(const struct ntrace_object *object)
{
	struct stat status;
	int fd;

	return !object->path || open_regular(object->path, &fd, &status) ? -1 : fd;
}

/* libdwfl calls this for the file of a kernel module. */
static int module_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		      char **file, Elf **elf)
{
	const struct debug_info *info = *user;
	const struct ntrace_object *object = info->object;

	(void)module, (void)name, (void)base, (void)elf;
	*file = strdup(object->path ? object->path : object->name);
	return *file ? open_object(object) : -1;
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

static Dwfl_Module *report_file(Dwfl *dwfl, const struct ntrace_object *object)
{
	Dwfl_Module *module;
	int fd = open_object(object);

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

int lines_read_unit(struct ntrace_lines *lines, struct debug_unit *unit)
{
	struct position at = { .lines = lines,
			       .unit = unit->has_split ? &unit->split : &unit->die,
			       .scope = NTRACE_NO_SCOPE,
			       .is_split = unit->has_split };
	int error;

	lines->zero_count = 0;
	error = read_children(&at, at.unit);
	if (!error)
		error = read_rows(lines, &unit->die);
	return error || !lines->no_memory ? error : NTRACE_ERR_NOMEM;
}
