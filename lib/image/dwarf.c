// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Lines and scopes from DWARF, using libdw. Numbers and files of declarations are read with
 * dwarf_attr() and dwarf_getsrcfiles(), which return errors: dwarf_decl_file() of libdw 0.188
 * aborts in a split unit, and dwarf_decl_line() if the number is damaged.
 */
#include <dwarf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "lines.h"
#include "object.h"

/* Scopes nest like the source; no compiler nests them deeper than this. */
#define DEPTH_MAX 256

/* GCC's; older versions of dwarf.h lack it. */
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

/* Each name of a unit is compared with all of its directories, if there are not more. */
#define DIRECTORIES_MAX 1024

/* Whether the line table of a unit has an absolute directory with the file. */
static bool is_in_directory(Dwarf_Die *unit, const char *name)
{
	const char *const *directories;
	Dwarf_Files *files;
	size_t count, length, i;

	if (dwarf_getsrcfiles(unit, &files, &count) ||
	    dwarf_getsrcdirs(files, &directories, &count))
		return true;
	if (count > DIRECTORIES_MAX)
		return true;
	for (i = 0; i < count; i++) {
		length = directories[i] && *directories[i] == '/' ? strlen(directories[i]) : 0;
		if (length && !strncmp(name, directories[i], length) &&
		    (length == 1 || name[length] == '/'))
			return true;
	}
	return false;
}

/*
 * The path of a file named by a unit, to be freed; NULL when out of memory. A build that hides where it was made leaves
 * the directory of the unit empty, and libdw puts that and a slash before relative names.
 */
static char *whole_path(Dwarf_Die *unit, const char *name)
{
	Dwarf_Attribute attribute;
	const char *directory = NULL;
	char *path;

	if (dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		directory = dwarf_formstring(&attribute);
	if (directory && !*directory && *name == '/' && !is_in_directory(unit, name))
		name += strspn(name, "/");
	if (*name == '/' || (directory && !*directory))
		directory = NULL;
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

	if (dwarf_getsrclines(unit, &rows, &count)) {
		if (dwarf_hasattr(unit, DW_AT_stmt_list))
			debug_info_note_unread(lines->object, "tables of lines");
		return 0;
	}
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
	if (offset < 0)
		debug_info_note_unread(lines->object, "ranges of addresses");
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
	int error = 0, more;
	bool dropped;

	if (++inside.depth > DEPTH_MAX)
		return 0;
	for (more = dwarf_child(parent, &die); !more && !error;
	     more = dwarf_siblingof(&die, &die)) {
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
	}
	if (more < 0)
		debug_info_note_unread(at->lines->object, "entries of a unit");
	return error;
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
