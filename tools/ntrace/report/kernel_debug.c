// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug files of the kernel. A recording contains the kernel's text and symbols but no build-id. A debug file is
 * accepted if almost all of its functions have the recorded sizes and order.
 */
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_debug.h"

/* Number of functions compared from the wanted one on, and the allowed differences in percent. */
#define COMPARED_MAX 4000
#define DIFFER_MAX 10

struct search {
	const struct kernel_debug_options *options;
	const struct ntrace_space *space;
	struct kernel_debug *debug;
	char name[256];		/* name of the function, without its module */
	char module[128];	/* "": the kernel itself */
	uint64_t address;
};

/* Code sections of modules; each is mapped at an unused address. */
static const char *const module_sections[] = {
	".text",       ".init.text",	".exit.text",	 ".text.unlikely", ".text.hot",
	".sched.text", ".noinstr.text", ".text.startup", ".ref.text",	   ".cpuidle.text",
};

#define SECTIONS (sizeof(module_sections) / sizeof(module_sections[0]))
#define SECTION_STEP (UINT64_C(1) << 32)

static int open_object(const struct search *search, const char *path, struct ntrace_object **object)
{
	struct ntrace_section_address sections[SECTIONS];
	size_t i;

	if (!search->module[0])
		return ntrace_object_open_elf(object, path);
	for (i = 0; i < SECTIONS; i++) {
		sections[i].name = module_sections[i];
		sections[i].address = (i + 1) * SECTION_STEP;
	}
	return ntrace_object_open_module(object, path, sections, SECTIONS);
}

/* True if the functions around @address in the file are at the recorded addresses. */
static bool agrees(const struct search *search, const struct ntrace_object *object,
		   uint64_t address)
{
	uint64_t bias = search->address - address, other;
	unsigned int compared = 0, differ = 0;
	struct ntrace_location at;
	const char *name;
	size_t i;

	for (i = 0; (name = ntrace_object_function(object, i, &other)); i++) {
		if (!*name || other / SECTION_STEP != address / SECTION_STEP ||
		    compared == COMPARED_MAX)
			continue;
		compared++;
		differ += ntrace_space_locate(search->space, other + bias, &at) || !at.symbol ||
			  at.link_address != at.symbol_start;
	}
	return differ * 100 <= compared * DIFFER_MAX;
}

/* True if the file is of that build and has lines; else @said gets the reason. */
static bool try_file(struct search *search, const char *path)
{
	struct kernel_debug *debug = search->debug;
	struct ntrace_object *object;
	bool there = false, good = false;
	uint64_t address;
	const char *name;
	size_t i;

	if (open_object(search, path, &object))
		return false;
	for (i = 0; !good && (name = ntrace_object_function(object, i, &address)); i++) {
		if (strcmp(name, search->name) != 0)
			continue;
		there = true;
		good = agrees(search, object, address);
		debug->bias = search->address - address;
	}
	if (!good)
		snprintf(debug->said, sizeof(debug->said), "%.300s is of another build: %s", path,
			 there ? "its functions are elsewhere" : "it has no such function");
	if (good && ntrace_units_open(&debug->units, object, NULL)) {
		debug->units = NULL;
		good = false;
		snprintf(debug->said, sizeof(debug->said), "%.300s has no line numbers", path);
	}
	if (good)
		snprintf(debug->said, sizeof(debug->said), "source lines are those of %.300s",
			 path);
	ntrace_object_put(object);
	return good;
}

/*
 * Links below @root are those of its machine. A given sysroot may be made of links to other places of this machine;
 * the archive of a recording must not lead there. @path: PATH_MAX bytes
 */
static bool find_below(const struct search *search, const char *root, const char *place, char *path)
{
	const char *const *roots = search->options->roots;
	bool archive = *roots[0] && !roots[1];

	return !ntrace_path_below(root, place, path, PATH_MAX) ||
	       (!archive && snprintf(path, PATH_MAX, "%s%s", root, place) < PATH_MAX);
}

static bool try_kernel(struct search *search, const char *root)
{
	static const char *const places[] = { "/usr/lib/debug/boot/vmlinux-%s",
					      "/usr/lib/debug/lib/modules/%s/vmlinux",
					      "/lib/modules/%s/build/vmlinux",
					      "/lib/modules/%s/vmlinux", "/boot/vmlinux-%s" };
	char place[256], path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		/* The formats are those above. */
		const char *mark = strstr(places[i], "%s");

		snprintf(place, sizeof(place), "%.*s%.128s%s", (int)(mark - places[i]), places[i],
			 search->options->release, mark + 2);
		if (find_below(search, root, place, path) && try_file(search, path))
			return true;
	}
	return false;
}

/* '-' in the file name is '_' in the module's name. */
static bool is_module_file(const char *file, const char *module)
{
	for (; *module; file++, module++) {
		if ((*file == '-' ? '_' : *file) != *module)
			return false;
	}
	return !strcmp(file, ".ko") || !strcmp(file, ".ko.debug");
}

/* Any file of that name below a directory; links are not followed: they may form loops. */
static bool try_modules(struct search *search, const char *directory)
{
	char *const paths[] = { (char *)(uintptr_t)directory, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool found = false;
	FTSENT *entry;

	while (tree && !found && (entry = fts_read(tree)))
		found = entry->fts_info == FTS_F &&
			is_module_file(entry->fts_name, search->module) &&
			try_file(search, entry->fts_path);
	if (tree)
		fts_close(tree);
	return found;
}

static bool try_modules_below(struct search *search, const char *root, const char *place)
{
	char wanted[256], path[PATH_MAX];

	snprintf(wanted, sizeof(wanted), "%s/%.128s", place, search->options->release);
	return find_below(search, root, wanted, path) && try_modules(search, path);
}

static bool try_root(struct search *search, const char *root)
{
	/* A release is a part of paths here: one of the recording must not lead elsewhere. */
	if (!search->options->release || strchr(search->options->release, '/'))
		return false;
	if (!search->module[0])
		return try_kernel(search, root);
	return try_modules_below(search, root, "/usr/lib/debug/lib/modules") ||
	       try_modules_below(search, root, "/lib/modules");
}

static bool try_directory(struct search *search, const char *directory)
{
	char path[PATH_MAX];

	if (search->module[0])
		return try_modules(search, directory);
	snprintf(path, sizeof(path), "%s/vmlinux", directory);
	if (try_file(search, path))
		return true;
	snprintf(path, sizeof(path), "%s/vmlinux-%s", directory,
		 search->options->release ? search->options->release : "");
	return try_file(search, path);
}

bool kernel_debug_open(struct kernel_debug *debug, const struct kernel_debug_options *options,
		       const struct ntrace_space *space, const char *symbol, uint64_t address)
{
	struct search search = {
		.options = options, .space = space, .debug = debug, .address = address
	};
	const char *bracket = strstr(symbol, " [");
	const char *const *roots;

	*debug = (struct kernel_debug){ 0 };
	snprintf(search.name, sizeof(search.name), "%.*s",
		 (int)(bracket ? (size_t)(bracket - symbol) : strlen(symbol)), symbol);
	if (bracket)
		snprintf(search.module, sizeof(search.module), "%.*s",
			 (int)strcspn(bracket + 2, "]"), bracket + 2);
	snprintf(
		debug->said, sizeof(debug->said),
		"no debug file of %s%s of Linux %s is here: no source can be shown; its package of "
		"debug files has one, and --debug-dir says where it is",
		search.module[0] ? "the module " : "the kernel", search.module,
		options->release ? options->release : "?");
	if (options->directory && try_directory(&search, options->directory))
		return true;
	for (roots = options->roots; roots && *roots; roots++) {
		if (try_root(&search, *roots))
			return true;
	}
	return false;
}

void kernel_debug_close(struct kernel_debug *debug)
{
	ntrace_units_close(debug->units);
	debug->units = NULL;
}
