// SPDX-License-Identifier: GPL-2.0-only
/* ntrace record --filter, --traps, --mark, --from and --until: which code is traced. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include <ntrace/image.h>

#include "common/command.h"
#include "common/kernel_symbols.h"
#include "common/ui.h"
#include "filter.h"
#include "options.h"

/* Start and size: addresses, or offsets in a file. */
struct extent {
	uint64_t start;
	uint64_t size;
};

/* ---- functions of a file ---- */

static bool to_offset(Elf *elf, uint64_t address, uint64_t *offset)
{
	size_t count, i;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = segment.p_offset + (address - segment.p_vaddr);
		return true;
	}
	return false;
}

/**
 * struct search - a function of a file by its name
 * @name: a name of the function, see ntrace_symbol_matches()
 * @exact: what was found has this very name, which is preferred
 * @several: functions of the name
 */
struct search {
	const char *name;
	struct extent extent;
	bool found;
	bool exact;
	bool several;
};

static void offer_symbol(struct search *search, Elf *elf, const GElf_Sym *symbol, const char *name)
{
	bool exact = !strcmp(name, search->name);
	uint64_t start;

	if ((!exact && (search->exact || !ntrace_symbol_matches(name, search->name))) ||
	    !to_offset(elf, symbol->st_value, &start))
		return;
	/* A function may have several names, in several tables. */
	search->several = search->found && exact == search->exact &&
			  (search->several || search->extent.start != start);
	search->extent = (struct extent){ start, symbol->st_size };
	search->found = true;
	search->exact = exact;
}

static void search_section(struct search *search, Elf *elf, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;
	const char *name;
	size_t i;

	if (!data || !gelf_getshdr(section, &header) || !header.sh_entsize ||
	    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
		return;
	for (i = 0; i < header.sh_size / header.sh_entsize; i++) {
		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_size)
			continue;
		name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (name)
			offer_symbol(search, elf, &symbol, name);
	}
}

static int find_in_file(const char *path, const char *name, struct extent *extent)
{
	struct search search = { .name = name };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	Elf *elf;

	if (fd < 0)
		return fail("%s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (elf && (section = elf_nextscn(elf, section)))
		search_section(&search, elf, section);
	elf_end(elf);
	close(fd);
	*extent = search.extent;
	if (search.several)
		return fail("%s: several functions have the name '%s': use START/SIZE@FILE", path,
			    name);
	return search.found ? EXIT_OK : fail("%s: no function '%s' with a size", path, name);
}

int record_filter_find(const char *path, const char *function, uint64_t *offset)
{
	struct extent extent;
	int error = find_in_file(path, function, &extent);

	if (!error)
		*offset = extent.start;
	return error;
}

/* ---- and of the kernel ---- */

/* @other: the rest of the message if there is none */
static int find_in_kernel(const char *name, const char *other, struct extent *extent)
{
	/* The kernel makes the list anew for each reader; several options may need it. */
	static struct kernel_symbols symbols;
	size_t i, next;
	int error = 0;

	if (!symbols.count)
		error = kernel_symbols_read(&symbols, "/proc/kallsyms", "/proc/modules");
	for (i = 0; !error && i < symbols.count; i++)
		if (ntrace_symbol_matches(symbols.symbol[i].name, name))
			break;
	if (!error && i == symbols.count)
		error = fail("no function '%s' in the kernel%s", name, other);
	/* The function ends where the next one begins. */
	for (next = i + 1; !error && next < symbols.count; next++)
		if (symbols.symbol[next].address != symbols.symbol[i].address)
			break;
	if (!error && next >= symbols.count)
		error = fail("the end of the kernel's function '%s' is unknown", name);
	if (!error) {
		extent->start = symbols.symbol[i].address;
		extent->size = symbols.symbol[next].address - extent->start;
	}
	return error;
}

/* ---- the option ---- */

/* "0x1000/0x200" */
static bool parse_extent(const char *text, struct extent *extent)
{
	const char *end;

	return number_parse(text, &end, 0, &extent->start) && *end == '/' &&
	       number_parse(end + 1, &end, 0, &extent->size) && !*end && extent->size &&
	       extent->start + extent->size - 1 >= extent->start;
}

/* Adds a filter in perf's syntax. Its words end with a blank or a comma. */
static int add_text(struct record_options *options, const struct extent *extent, const char *file)
{
	char *text;
	int length;

	length = asprintf(&text, "%s%sfilter 0x%" PRIx64 "/0x%" PRIx64 "%s%s",
			  options->filter ? options->filter : "", options->filter ? "," : "",
			  extent->start, extent->size, file ? "@" : "", file ? file : "");
	if (length < 0)
		return fail("out of memory");
	free(options->filter);
	options->filter = text;
	return EXIT_OK;
}

static int add_in_file(struct record_options *options, const char *what, const char *file)
{
	char *path = realpath(file, NULL);
	struct extent extent = { 0 };
	struct stat status;
	int error = EXIT_OK;

	if (!path || stat(path, &status))
		error = fail("%s: %s", file, strerror(errno));
	else if (!S_ISREG(status.st_mode) || !status.st_size || strpbrk(path, " ,\n"))
		error = fail(
			"%s: no file that perf can filter by (its name has a blank or a comma, "
			"or it is no plain file)",
			path);
	else if (!strcmp(what, "*"))
		extent.size = (uint64_t)status.st_size;
	else if (!parse_extent(what, &extent))
		error = find_in_file(path, what, &extent);
	options->filter_files = true;
	if (!error)
		error = add_text(options, &extent, path);
	free(path);
	return error;
}

static int add_addresses(struct record_options *options, const char *what)
{
	struct ntrace_config *wanted = &options->wanted;
	struct extent extent = { 0 };
	int error = EXIT_OK;

	if (!parse_extent(what, &extent))
		error = find_in_kernel(what, "; for a function of a file use FUNCTION@FILE",
				       &extent);
	if (error)
		return error;
	if (wanted->range_count == NTRACE_RANGES_MAX)
		return usage_error(options->command, "option --filter: more than %d",
				   NTRACE_RANGES_MAX);
	wanted->ranges[wanted->range_count++] =
		(struct ntrace_range){ extent.start, extent.start + extent.size - 1 };
	return add_text(options, &extent, NULL);
}

int record_filter_find_address(struct record_options *options, const char *option, const char *text,
			       __u64 *address)
{
	struct extent extent = { 0 };
	const char *end;
	int error;

	if (number_parse(text, &end, 0, &extent.start) && !*end) {
		*address = extent.start;
		return EXIT_OK;
	}
	if (!*text || strchr(text, '@'))
		return usage_error(options->command,
				   "option --%s: '%s' is neither a function of the kernel nor an "
				   "address",
				   option, text);
	error = find_in_kernel(text, "", &extent);
	*address = extent.start;
	return error;
}

int record_filter_take_mark(struct record_options *options, const char *text)
{
	struct ntrace_config *wanted = &options->wanted;

	if (wanted->mark_count == NTRACE_MARKS_MAX)
		return usage_error(options->command, "option --mark: more than %d",
				   NTRACE_MARKS_MAX);
	return record_filter_find_address(options, "mark", text,
					  &wanted->marks[wanted->mark_count++]);
}

/* Strips surrounding blanks; modifies @text. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " ");
	for (length = strlen(text); length && text[length - 1] == ' '; length--)
		text[length - 1] = '\0';
	return text;
}

int record_filter_take(struct record_options *options, const char *value)
{
	char *copy = strdup(value), *what, *file;
	int error;

	if (!copy)
		return fail("out of memory");
	what = trim(copy);
	/* Syntax of the perf tool. */
	if (!strncmp(what, "filter ", 7))
		what = trim(what + 7);
	file = strchr(what, '@');
	if (file)
		*file++ = '\0';
	what = trim(what);
	if (!*what || (file && !*trim(file)))
		error = usage_error(options->command,
				    "option --filter: '%s' is not one of FUNCTION@FILE, "
				    "START/SIZE@FILE, *@FILE, FUNCTION, START/SIZE",
				    value);
	else if (file)
		error = add_in_file(options, what, trim(file));
	else
		error = add_addresses(options, what);
	free(copy);
	return error;
}

/* "exceptions:12,13,15" */
int record_filter_take_traps(struct record_options *options, const char *text)
{
	static const char *const kinds[] = {
		[NTRACE_TRAPS_EXCEPTIONS] = "exceptions",
		[NTRACE_TRAPS_INTERRUPTS] = "interrupts",
	};
	size_t length = strcspn(text, ":");
	const char *at = text + length;
	uint64_t cause;
	uint32_t kind;
	const char *end;

	for (kind = NTRACE_TRAPS_EXCEPTIONS; kind <= NTRACE_TRAPS_INTERRUPTS; kind++)
		if (strlen(kinds[kind]) == length && !strncmp(kinds[kind], text, length))
			break;
	if (kind > NTRACE_TRAPS_INTERRUPTS)
		return usage_error(options->command,
				   "option --traps: '%s' is neither exceptions nor interrupts",
				   text);
	options->wanted.traps = kind;
	while (*at) {
		if (!number_parse(at + 1, &end, 0, &cause) || (*end && *end != ',') || cause > 63)
			return usage_error(options->command,
					   "option --traps: '%s' is not a list of causes up to 63",
					   text + length + 1);
		options->wanted.causes |= UINT64_C(1) << cause;
		at = end;
	}
	return EXIT_OK;
}
