// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From counts files to profiles. */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "image/object.h"
#include "struct_size.h"

/* An object that was looked for. */
struct known_object {
	struct ntrace_counts_object key;
	struct counts_texts texts;
	struct ntrace_object *object;
};

/* @known: tree of tsearch() */
struct load {
	struct ntrace_counts_load_options options;
	void *known;
};

/*
 * An ELF file that has nothing but a build-id and an executable segment: what the formats of counts
 * need of an object whose file is not here.
 */
struct stand_in {
	Elf64_Ehdr header;
	Elf64_Phdr text;
	Elf64_Phdr notes;
	Elf64_Nhdr note;
	char owner[4];
	uint8_t build_id[NTRACE_BUILD_ID_MAX];
};

static int make_stand_in(struct ntrace_object **object, const struct ntrace_counts_object *key)
{
	struct stand_in file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_RISCV,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct stand_in, text),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2,
			    .e_shentsize = sizeof(Elf64_Shdr) },
		.text = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_vaddr = key->text,
			  .p_filesz = 1,
			  .p_memsz = 1 },
		.notes = { .p_type = PT_NOTE,
			   .p_offset = offsetof(struct stand_in, note),
			   .p_align = 4 },
		.note = { .n_namesz = 4,
			  .n_descsz = (uint32_t)key->build_id_size,
			  .n_type = NT_GNU_BUILD_ID },
		.owner = "GNU",
	};

	if (key->build_id_size) {
		file.notes.p_filesz = sizeof(file.note) + 4 + ((key->build_id_size + 3) & ~3u);
		memcpy(file.build_id, key->build_id, key->build_id_size);
	}
	return ntrace_object_open_elf_memory(object, key->name, &file, sizeof(file));
}

/* Opens a file if it is the one of the key. Return: 0 with or without *object, NTRACE_ERR_NOMEM. */
static int open_file(struct ntrace_object **object, const struct ntrace_counts_object *key,
		     const char *sysroot)
{
	const uint8_t *build_id;
	char path[PATH_MAX];
	size_t size;
	int error;

	*object = NULL;
	/* A sysroot may be made of links to other places of this machine: the build-id tells. */
	if (ntrace_path_below(sysroot, key->name, path, sizeof(path)) &&
	    (!key->build_id_size ||
	     snprintf(path, sizeof(path), "%s%s", sysroot, key->name) >= (int)sizeof(path)))
		return 0;
	error = ntrace_object_open_elf(object, path);
	if (error) {
		*object = NULL;
		return error == NTRACE_ERR_NOMEM ? error : 0;
	}
	error = object_set_name(*object, key->name);
	if (error) {
		ntrace_object_put(*object);
		*object = NULL;
		return error;
	}
	build_id = ntrace_object_build_id(*object, &size);
	if (size == key->build_id_size && !memcmp(build_id, key->build_id, size) &&
	    (!key->contents || key->contents == object_code_hash(*object)))
		return 0;
	ntrace_object_put(*object);
	*object = NULL;
	return 0;
}

static int add_debug_file(struct ntrace_object *object, const char *sysroot)
{
	const char *directories[] = { NULL, "/usr/lib/debug", NULL };
	char *below;
	int error;

	if (asprintf(&below, "%s/usr/lib/debug", sysroot) < 0)
		return NTRACE_ERR_NOMEM;
	directories[0] = below;
	error = ntrace_object_add_debug_file(object, directories);
	free(below);
	return error == NTRACE_ERR_NOMEM ? error : 0;
}

/* The object of a key: its file, or a stand-in. */
static int open_object(struct load *load, const struct ntrace_counts_object *key,
		       struct ntrace_object **object)
{
	const char *sysroot = load->options.sysroot ? load->options.sysroot : "";
	int error = 0;

	*object = NULL;
	if (*key->name == '/' && *sysroot)
		error = open_file(object, key, sysroot);
	if (*key->name == '/' && !error && !*object)
		error = open_file(object, key, "");
	if (error)
		return error;
	if (*object)
		return add_debug_file(*object, sysroot);
	if (load->options.missing)
		load->options.missing(load->options.data, key->name);
	return make_stand_in(object, key);
}

static int compare_known(const void *left, const void *right)
{
	const struct known_object *a = left, *b = right;

	return counts_compare_objects(&a->key, &b->key);
}

static void free_known(void *data)
{
	struct known_object *known = data;

	ntrace_object_put(known->object);
	free(known);
}

static int find_object(struct load *load, const struct ntrace_counts_object *key,
		       struct ntrace_object **object)
{
	const struct ntrace_counts_group group = { .object = *key, .label = "" };
	const struct known_object wanted = { .key = *key };
	struct ntrace_counts_group copy;
	struct known_object *known, **found;
	int error;

	*object = NULL;
	if (!key->name)
		return 0;
	found = tfind(&wanted, &load->known, compare_known);
	if (found) {
		*object = (*found)->object;
		return 0;
	}
	known = calloc(1, sizeof(*known));
	if (!known)
		return NTRACE_ERR_NOMEM;
	error = open_object(load, key, &known->object);
	if (!error) {
		counts_copy_group(&copy, &known->texts, &group);
		known->key = copy.object;
		if (!tsearch(known, &load->known, compare_known))
			error = NTRACE_ERR_NOMEM;
	}
	if (error) {
		free_known(known);
		return error;
	}
	*object = known->object;
	return 0;
}

static bool is_selected(const struct load *load, const struct ntrace_counts_group *group)
{
	const struct ntrace_counts_load_options *options = &load->options;

	return (!options->privileges || options->privileges >> group->privilege & 1) &&
	       (!options->label || !strcmp(options->label, group->label));
}

static int add_entry(struct ntrace_profile *profile, const struct ntrace_counts_entry *entry,
		     struct ntrace_object *object, struct ntrace_object *from_object,
		     unsigned int privilege)
{
	const struct ntrace_profile_trace trace = {
		.from_object = from_object,
		.object = object,
		.from = entry->from,
		.start = entry->start,
		.end = entry->end,
		.count = entry->count,
		.instructions = entry->instructions,
		.from_class = entry->from_class,
		.end_class = entry->end_class,
		.taken = entry->taken,
		.privilege = (uint8_t)privilege,
	};

	return ntrace_profile_add_trace(profile, &trace);
}

static int load_all(struct load *load, struct ntrace_profile *profile,
		    struct ntrace_counts_reader *reader, struct ntrace_counts_totals *totals)
{
	struct ntrace_object *object = NULL, *from_object = NULL;
	const struct ntrace_counts_group *group;
	const struct ntrace_counts_entry *entry;
	struct ntrace_counts_group last = { .label = "" };
	struct counts_texts *texts = calloc(1, sizeof(*texts));
	bool selected = false, started = false;
	int result = texts ? 0 : NTRACE_ERR_NOMEM;

	while (!result && (result = ntrace_counts_next(reader, &group, &entry)) > 0) {
		result = 0;
		if (!started || ntrace_counts_compare(&last, NULL, group, NULL)) {
			started = true;
			counts_copy_group(&last, texts, group);
			selected = is_selected(load, group);
			totals->groups += selected;
			if (selected)
				result = find_object(load, &group->object, &object);
			if (selected && !result)
				result = find_object(load, &group->from_object, &from_object);
		}
		if (!selected || result)
			continue;
		totals->entries++;
		totals->saturated += entry->count == NTRACE_COUNTS_SATURATED;
		result = add_entry(profile, entry, object, from_object, group->privilege);
	}
	totals->losses = *ntrace_counts_reader_losses(reader);
	free(texts);
	return result;
}

int ntrace_counts_load(struct ntrace_profile *profile, struct ntrace_counts_reader *reader,
		       const struct ntrace_counts_load_options *options,
		       struct ntrace_counts_totals *totals)
{
	struct ntrace_counts_totals sums = { 0 };
	struct load load = { .known = NULL };
	int error, saved;

	if (options && STRUCT_TAKE(&load.options, options))
		return NTRACE_ERR_INVALID;
	error = load_all(&load, profile, reader, &sums);
	saved = errno;
	tdestroy(load.known, free_known);
	errno = saved;
	if (totals)
		*totals = sums;
	return error;
}
