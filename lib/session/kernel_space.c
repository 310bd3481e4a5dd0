// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The space of the kernel: text copied from memory at the start, text added until the end, names
 * from kallsyms and KSYMBOL records, and firmware.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bisect.h"
#include "image/object.h"
#include "sideband/core.h"
#include "sideband/kallsyms.h"
#include "session.h"

/* Between the end of the user space of RV32 and its vmalloc area, which has the modules. */
#define KERNEL_BEGIN_RV32 UINT64_C(0xa0000000)

uint64_t ntrace_kernel_begin(unsigned int xlen)
{
	return xlen == 32 ? KERNEL_BEGIN_RV32 : UINT64_C(1) << 63;
}

#define PATH_ROOM 4096
#define PAGE 4096u
/* The recorder copies at most so many pages from a symbol on. */
#define SYMBOL_PAGES 16
/* Bits of struct ntrace_recording: user space only. */
#define TRACED_U 1u

struct loading {
	struct ntrace_session *session;
	struct ntrace_object *start, *end;
	struct core start_core, end_core;
	struct symbol_table modules[2]; /* names in modules, at the start and at the end */
	bool ended; /* names come from the end */
	char replaced[1024]; /* modules with a note */
	uint64_t uncertain; /* differing parcels */
	uint64_t first_uncertain;
};

static bool path_of(const struct loading *loading, const char *name, char *path)
{
	return snprintf(path, PATH_ROOM, "%s/images/%s", loading->session->directory, name) <
	       PATH_ROOM;
}

/* Whether some streams need switch counting to find their tasks. */
static bool by_switches(const struct ntrace_session *session)
{
	unsigned int i;

	for (i = 0; i < session->recording->stream_count; i++)
		if (!session->streams[i].event)
			return true;
	return false;
}

/* A recording of user space alone has no copy of the kernel. */
static bool without_kernel(const struct ntrace_session *session)
{
	return session->recording->privilege == TRACED_U;
}

static bool left_out(const struct loading *loading, int error)
{
	return error == NTRACE_ERR_IO && errno == ENOENT && without_kernel(loading->session);
}

/* Opens a dump as object and core. A missing dump causes a note; only NTRACE_ERR_NOMEM fails. */
static int open_dump(struct loading *loading, const char *name, struct ntrace_object **object,
		     struct core *core)
{
	char path[PATH_ROOM];
	int error;

	if (loading->session->single || !path_of(loading, name, path))
		return 0;
	error = core_open(core, path, false);
	if (!error) {
		error = ntrace_object_open_elf(object, path);
		if (!error)
			error = object_set_name(*object,
						path + strlen(loading->session->directory) + 1);
		if (error)
			core_close(core);
	}
	if (error == NTRACE_ERR_NOMEM)
		return error;
	if (error && !left_out(loading, error))
		session_note(loading->session, "%s: %s", path,
			     error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
	return 0;
}

static bool has(const struct core *core, uint64_t address)
{
	size_t low = 0;

	BISECT(low, core->count, middle, core->pieces[middle].address <= address);
	return low && address - core->pieces[low - 1].address < core->pieces[low - 1].size;
}

/*
 * Marks differing parcels. If the second half of a 32-bit instruction changed, the instruction
 * starts one parcel earlier, provided that parcel looks like a start.
 */
static int mark_differences(struct loading *loading, uint64_t address, const uint8_t *before,
			    const uint8_t *after, uint64_t size)
{
	uint64_t i;
	int error = 0;

	for (i = 0; i + 1 < size && !error; i += 2) {
		uint64_t back = i >= 2 && (before[i - 2] & 3) == 3 ? 2 : 0;

		if (before[i] == after[i] && before[i + 1] == after[i + 1])
			continue;
		if (!loading->uncertain++)
			loading->first_uncertain = address + i;
		error = ntrace_object_mark_uncertain(loading->start, address + i - back, back + 2);
	}
	return error;
}

/* Maps text added after the start, in one piece, for instructions that cross pages. */
static int map_fresh(struct loading *loading, const struct core_piece *piece, uint64_t from,
		     uint64_t to)
{
	if (from == to)
		return 0;
	return ntrace_space_map(loading->session->kernel, loading->end, piece->address + from,
				to - from, piece->offset + from);
}

/* Compares a piece of the end copy with the start copy by pages, and maps the new text. */
static int join_piece(struct loading *loading, const struct core_piece *piece)
{
	uint64_t at = 0, fresh_from = 0;
	int error = 0;

	while (at < piece->size && !error) {
		uint64_t address = piece->address + at, part = PAGE - address % PAGE;
		uint8_t before[PAGE], after[PAGE];

		if (part > piece->size - at)
			part = piece->size - at;
		if (has(&loading->start_core, address)) {
			uint64_t both = core_read(&loading->start_core, address, before, part);

			core_read(&loading->end_core, address, after, part);
			error = mark_differences(loading, address, before, after, both);
			if (!error)
				error = map_fresh(loading, piece, fresh_from, at);
			fresh_from = at + part;
		}
		at += part;
	}
	return error ? error : map_fresh(loading, piece, fresh_from, piece->size);
}

static int join_end(struct loading *loading)
{
	size_t i;
	int error = 0;

	for (i = 0; i < loading->end_core.count && !error; i++)
		error = join_piece(loading, &loading->end_core.pieces[i]);
	if (loading->uncertain)
		session_note(loading->session,
			     "kernel text changed while it was traced: %" PRIu64
			     " parcels, the first at %" PRIx64,
			     loading->uncertain, loading->first_uncertain);
	return error;
}

/* Marks of the linker script have the same address as a function. */
static bool is_linker_mark(const char *name)
{
	size_t length = strlen(name);

	return !strcmp(name, "_text") || !strcmp(name, "_stext") || !strcmp(name, "_etext") ||
	       (length > 11 && !strcmp(name + length - 11, "_text_start")) ||
	       (length > 9 && !strcmp(name + length - 9, "_text_end"));
}

static int add_symbol(struct loading *loading, const char *name, uint64_t address, uint64_t size)
{
	if (loading->start && has(&loading->start_core, address))
		return ntrace_object_add_symbol(loading->start, name, address, size);
	if (loading->end && has(&loading->end_core, address))
		return ntrace_object_add_symbol(loading->end, name, address, size);
	return 0;
}

static bool has_in(const struct loading *loading, unsigned int when, uint64_t address)
{
	return has(&loading->start_core, address) || (when && has(&loading->end_core, address));
}

/* The bytes of a module are copied without a gap; those of others need not be of one symbol. */
static bool extends_to(const struct loading *loading, unsigned int when,
		       const struct symbol *symbol, uint64_t address)
{
	const char *module = strstr(symbol->name, " [");
	uint64_t at = symbol->start & ~(uint64_t)(PAGE - 1);

	if (symbol->start == address)
		return true;
	if (!strcmp(module, " [bpf]") || !strncmp(module, " [__", 4) ||
	    address - at >= SYMBOL_PAGES * PAGE)
		return false;
	while (at < address && has_in(loading, when, at))
		at += PAGE;
	return at >= address;
}

/* Writes "f or g [a or b]"; of equal words one. @pair: set to the rest from the bracket on */
static void join_names(const char *first, const char *second, char *text, size_t room,
		       const char **pair)
{
	const char *modules[2] = { strstr(first, " ["), strstr(second, " [") };
	int length[2] = { (int)(modules[0] - first), (int)(modules[1] - second) };
	bool same = length[0] == length[1] && !strncmp(first, second, (size_t)length[0]);
	size_t made;

	snprintf(text, room, "%.*s%s%.*s", length[0], first, same ? "" : " or ",
		 same ? 0 : length[1], second);
	made = strlen(text);
	*pair = text + made;
	if (!strcmp(modules[0], modules[1]))
		snprintf(text + made, room - made, "%s", modules[0]);
	else
		snprintf(text + made, room - made, "%.*s or %s", (int)strlen(modules[0]) - 1,
			 modules[0], modules[1] + 2);
}

static void note_replaced(struct loading *loading, const char *name, const char *pair,
			  uint64_t address)
{
	size_t used = strlen(loading->replaced), length = strlen(pair);

	if (strstr(loading->replaced, pair) || used + length >= sizeof(loading->replaced))
		return;
	memcpy(loading->replaced + used, pair, length + 1);
	session_note(loading->session,
		     "kernel code at %" PRIx64
		     " was replaced by other code during the recording: it "
		     "has the names of both, as \"%.700s\"",
		     address, name);
}

/*
 * A module may have been unloaded, and another loaded in its place: the trace does not tell when, so their code has
 * the names of both.
 */
static int add_module_symbols(struct loading *loading, unsigned int when)
{
	struct symbol_table *own = &loading->modules[when], *others = &loading->modules[!when];
	int error = 0;

	symbol_table_find(own, 0); /* sorts */
	if (own->count && !own->sorted)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < own->all && !error; i++) {
		const struct symbol *symbol = &own->symbols[i];
		const struct symbol *other = symbol_table_find(others, symbol->start);
		const char *name = symbol->name, *pair;
		bool same = !other ||
			    !strcmp(other->name, symbol_table_find(own, symbol->start)->name);
		char text[2048];

		/* Code that was replaced has the names of both, and no aliases. */
		if (i >= own->count && !same)
			continue;
		if (!same && extends_to(loading, !when, other, symbol->start)) {
			join_names(when ? other->name : name, when ? name : other->name, text,
				   sizeof(text), &pair);
			note_replaced(loading, text, pair, symbol->start);
			name = text;
		}
		error = add_symbol(loading, name, symbol->start, 0);
	}
	return error;
}

static const char *const noted_functions[NOTED_FUNCTIONS] = {
	[NOTED_LOAD_MODULE] = "do_init_module",	 [NOTED_UNLOAD_MODULE] = "free_module",
	[NOTED_COPY_MAPPING] = "copy_vma",	 [NOTED_LINK_FILE] = "vma_interval_tree_insert",
	[NOTED_MOVE_PAGES] = "move_page_tables",
};

static int receive_symbol(void *data, const struct kallsym *symbol)
{
	struct loading *loading = data;
	struct ntrace_session *session = loading->session;
	char name[600];

	if (!symbol->module[0] && !strcmp(symbol->name, "__switch_to"))
		session->switch_address = symbol->address;
	else if (!symbol->module[0] && !strcmp(symbol->name, "begin_new_exec"))
		session->exec_address = symbol->address;
	for (size_t i = 0; !symbol->module[0] && i < NOTED_FUNCTIONS; i++)
		if (!strcmp(symbol->name, noted_functions[i]))
			session->noted_address[i] = symbol->address;
	if (kallsyms_is_label(symbol) || is_linker_mark(symbol->name))
		return 0;
	if (!symbol->module[0])
		return add_symbol(loading, symbol->name, symbol->address, 0);
	snprintf(name, sizeof(name), "%.500s [%.80s]", symbol->name, symbol->module);
	return symbol_table_add_copy(&loading->modules[loading->ended], name, symbol->address, 0,
				     SYMBOL_RANK_GLOBAL);
}

/* A file that cannot be read costs only names. */
static int read_symbols(struct loading *loading, const char *path, const char *without)
{
	int error = kallsyms_read(path, receive_symbol, loading);

	if (error == NTRACE_ERR_NOMEM)
		return error;
	if (error && !left_out(loading, error))
		session_note(loading->session, "%s: %s; %s", path,
			     error == NTRACE_ERR_IO ? strerror(errno) : "not a kallsyms file",
			     without);
	return 0;
}

static int load_symbols(struct loading *loading)
{
	const struct machine *machine = &loading->session->machine;
	char path[PATH_ROOM];
	size_t i;
	int error = 0;

	for (i = 0; i < machine->symbol_count && !error; i++)
		error = add_symbol(loading, machine->symbols[i].name, machine->symbols[i].address,
				   machine->symbols[i].length);
	if (error || loading->session->single || !path_of(loading, "kallsyms", path))
		return error;
	error = read_symbols(loading, path, "kernel functions have no names");
	loading->ended = true;
	if (!error && path_of(loading, "kallsyms.end", path) && !access(path, R_OK))
		error = read_symbols(loading, path,
				     "kernel functions that were loaded later have no names");
	for (unsigned int when = 0; when < 2 && !error; when++)
		error = add_module_symbols(loading, when);
	return error;
}

static int load_firmware(struct ntrace_session *session, const char *path, uint64_t bias)
{
	struct ntrace_object *object;
	uint64_t address, size;
	bool executable;
	size_t index;
	int error = ntrace_object_open_elf(&object, path);

	if (error) {
		session_note(session, "%s: %s; firmware is not decoded", path,
			     error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
		return error == NTRACE_ERR_NOMEM ? error : 0;
	}
	error = ntrace_space_map_linked(session->kernel, object, bias);
	for (index = 0; !ntrace_object_segment(object, index, &address, &size, &executable);
	     index++) {
		/* Data may be anywhere; it must not claim the addresses in between. */
		if (!executable)
			continue;
		address += bias;
		if (address < session->firmware_start)
			session->firmware_start = address;
		if (address + (size - 1) > session->firmware_last)
			session->firmware_last = address + (size - 1);
	}
	ntrace_object_put(object);
	return error;
}

static void close_dumps(struct loading *loading)
{
	ntrace_object_put(loading->start);
	ntrace_object_put(loading->end);
	core_close(&loading->start_core);
	core_close(&loading->end_core);
	symbol_table_free(&loading->modules[0]);
	symbol_table_free(&loading->modules[1]);
}

int session_load_kernel(struct ntrace_session *session, const char *firmware, uint64_t bias)
{
	struct loading loading = { .session = session, .start_core.fd = -1, .end_core.fd = -1 };
	int error;

	session->firmware_start = UINT64_MAX;
	session->firmware_last = 0;
	error = ntrace_space_new(&session->kernel, "kernel", NULL);
	if (!error)
		error = open_dump(&loading, "kernel.start", &loading.start, &loading.start_core);
	/* The copy at the end is made when the recording ends. */
	if (!error && !session->live)
		error = open_dump(&loading, "kernel.end", &loading.end, &loading.end_core);
	if (!error && loading.start)
		error = ntrace_space_map_linked(session->kernel, loading.start, 0);
	if (!error && loading.end)
		error = join_end(&loading);
	if (!error)
		error = load_symbols(&loading);
	if (!error && firmware)
		error = load_firmware(session, firmware, bias);
	close_dumps(&loading);
	if (!session->switch_address && by_switches(session) && !without_kernel(session))
		session_note(session, "%s: tasks are identified only where their code is unique",
			     session->single ? "a perf.data file has no kernel text" :
					       "the kernel's symbols have no __switch_to");
	return error;
}
