// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From counts files to profiles. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "format.h"
#include "grow.h"
#include "image/object.h"
#include "profile/functions.h"
#include "sideband/kept_files.h"
#include "struct_size.h"

/* An object that was looked for. */
struct known_object {
	struct ntrace_counts_object key;
	struct counts_texts texts;
	struct ntrace_object *object;
};

/* A copy of the recorder. @path: below @root; @name: its last part */
struct kept {
	const char *root;
	const char *name;
	char *path;
};

/**
 * struct load - the loading of a file
 * @known: tree of tsearch()
 * @kept: copies of the recorder by their names, if the sysroot is a recording or its archive
 * @recording: the directory that has the archive
 * @listed: @kept has been filled
 */
struct load {
	struct ntrace_counts_load_options options;
	void *known;
	struct kept *kept;
	size_t kept_count, kept_room;
	char *recording;
	bool listed;
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
	int error;

	if (key->build_id_size) {
		file.notes.p_filesz = sizeof(file.note) + 4 + ((key->build_id_size + 3) & ~3u);
		memcpy(file.build_id, key->build_id, key->build_id_size);
	}
	error = ntrace_object_open_elf_memory(object, key->name, &file, sizeof(file));
	if (!error)
		atomic_store_explicit(&(*object)->code_hash, key->contents, memory_order_relaxed);
	return error;
}

/* Opens the file at @path if it is the one of the key. Return: 0 with or without *object, NTRACE_ERR_NOMEM. */
static int open_same(struct ntrace_object **object, const struct ntrace_counts_object *key,
		     const char *path)
{
	const uint8_t *build_id;
	size_t size;
	int error;

	*object = NULL;
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
	    (!key->contents || key->contents == ntrace_object_code_hash(*object)))
		return 0;
	ntrace_object_put(*object);
	*object = NULL;
	return 0;
}

/* Opens the file at the key's path below @sysroot, likewise. */
static int open_file(struct ntrace_object **object, const struct ntrace_counts_object *key,
		     const char *sysroot)
{
	char path[PATH_MAX];

	*object = NULL;
	/* A sysroot may be made of links to other places of this machine: the build-id tells. */
	if (ntrace_path_below(sysroot, key->name, path, sizeof(path)) &&
	    (!key->build_id_size ||
	     snprintf(path, sizeof(path), "%s%s", sysroot, key->name) >= (int)sizeof(path)))
		return 0;
	return open_same(object, key, path);
}

/* ---- copies of the recorder ---- */

/* Return: the names in a directory, to be freed with their array; NULL: none */
static struct dirent **list_directory(const char *root, const char *path, int *count)
{
	struct dirent **names = NULL;
	char whole[PATH_MAX];

	*count = ntrace_path_below(root, path, whole, sizeof(whole)) ?
			 0 :
			 scandir(whole, &names, NULL, alphasort);
	return names;
}

static int add_kept(struct load *load, const char *root, const char *path)
{
	struct kept *kept;

	if (grow((void **)&load->kept, load->kept_count, &load->kept_room, sizeof(*load->kept)))
		return NTRACE_ERR_NOMEM;
	kept = &load->kept[load->kept_count];
	kept->root = root;
	kept->path = strdup(path);
	if (!kept->path)
		return NTRACE_ERR_NOMEM;
	kept->name = strrchr(kept->path, '/') + 1;
	load->kept_count++;
	return 0;
}

/* Each directory of copies has one file. */
static int list_kept(struct load *load, const char *root)
{
	int count, files, error = 0;
	struct dirent **names = list_directory(root, KEPT_FILES, &count), **file;

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), KEPT_FILES "/%s", names[i]->d_name);
		file = *names[i]->d_name == '.' ? NULL : list_directory(root, path, &files);
		for (int k = 0; file && k < files; k++) {
			snprintf(path, sizeof(path), KEPT_FILES "/%s/%s", names[i]->d_name,
				 file[k]->d_name);
			if (*file[k]->d_name != '.' && !error)
				error = add_kept(load, root, path);
			free(file[k]);
		}
		free(file);
		free(names[i]);
	}
	free(names);
	return error;
}

static int compare_kept(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int list_all_kept(struct load *load, const char *sysroot)
{
	int error;

	load->listed = true;
	if (asprintf(&load->recording, "%s/..", sysroot) < 0) {
		load->recording = NULL;
		return NTRACE_ERR_NOMEM;
	}
	error = list_kept(load, sysroot);
	if (!error)
		error = list_kept(load, load->recording);
	if (load->kept_count)
		qsort(load->kept, load->kept_count, sizeof(*load->kept), compare_kept);
	return error;
}

/* Opens the copy that the recorder made of the key's file, if the sysroot is a recording or its archive. */
static int open_kept(struct load *load, const struct ntrace_counts_object *key,
		     struct ntrace_object **object)
{
	const char *name = strrchr(key->name, '/') + 1;
	size_t length = kept_path_length(name), low = 0;
	int error = load->listed ? 0 : list_all_kept(load, load->options.sysroot);
	char path[PATH_MAX];

	/* A name without more does not identify any of them. */
	if (error || (!key->build_id_size && !key->contents))
		return error;
	BISECT(low, load->kept_count, middle, strncmp(load->kept[middle].name, name, length) < 0);
	for (; low < load->kept_count && !error && !*object; low++) {
		const struct kept *kept = &load->kept[low];

		if (strncmp(kept->name, name, length) != 0)
			break;
		if (!kept->name[length] &&
		    !ntrace_path_below(kept->root, kept->path, path, sizeof(path)))
			error = open_same(object, key, path);
	}
	return error;
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
	if (*key->name == '/' && *sysroot && !error && !*object)
		error = open_kept(load, key, object);
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
	if (totals->losses.sampled)
		profile_count_by_source(profile);
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
	while (load.kept_count)
		free(load.kept[--load.kept_count].path);
	free(load.kept);
	free(load.recording);
	errno = saved;
	if (totals)
		*totals = sums;
	return error;
}
