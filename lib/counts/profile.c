// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From profiles to counts files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "image/object.h"
#include "merge.h"

/*
 * An object of the profile.
 * @key: how the file knows it
 * @path: owned: @key.name, if the object's name is relative to the directory of this process
 * @rank: number in the order of the file; equal for equal keys
 */
struct ranked {
	const struct ntrace_object *object;
	struct ntrace_counts_object key;
	char *path;
	uint32_t rank;
};

/* A trace in the order of the file. */
struct ordered {
	uint32_t object;
	uint32_t from_object;
	const struct ntrace_profile_trace *trace;
};

/* @objects: sorted by pointer; the first one stands for unknown code */
struct spill {
	struct ranked *objects;
	size_t object_count;
	struct ranked **by_rank;
	struct ordered *order;
	const char *label;
};

static int by_pointer(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	uintptr_t x = (uintptr_t)a->object, y = (uintptr_t)b->object;

	return x < y ? -1 : x > y;
}

static int by_key(const void *left, const void *right)
{
	const struct ranked *const *a = left, *const *b = right;

	return counts_compare_objects(&(*a)->key, &(*b)->key);
}

static struct ranked *find_object(const struct spill *spill, const struct ntrace_object *object)
{
	const struct ranked wanted = { .object = object };

	return spill->object_count ? bsearch(&wanted, spill->objects, spill->object_count,
					     sizeof(wanted), by_pointer) :
				     NULL;
}

static uint64_t first_text(const struct ntrace_object *object)
{
	uint64_t address, size, first = UINT64_MAX;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++)
		if (executable && address < first)
			first = address;
	return first == UINT64_MAX ? 0 : first;
}

static bool is_kernel_copy(const struct ntrace_object *object)
{
	const char *name = ntrace_object_name(object);

	return strcmp(name, "[kernel]") && !strcmp(ntrace_object_short_name(object), "[kernel]");
}

/* The file is found again from other directories. Return: 0 or NTRACE_ERR_NOMEM */
static int make_absolute(struct ranked *object)
{
	const char *name = object->key.name;

	/* "[vdso]" is no file. */
	if (*name == '/' || *name == '[')
		return 0;
	object->path = realpath(name, NULL);
	if (!object->path)
		return errno == ENOMEM ? NTRACE_ERR_NOMEM : 0;
	if (strlen(object->path) <= NTRACE_COUNTS_NAME_MAX)
		object->key.name = object->path;
	return 0;
}

static int describe_object(struct ranked *object, const char *kernel)
{
	struct ntrace_counts_object *key = &object->key;

	if (!object->object)
		return 0;
	key->build_id = ntrace_object_build_id(object->object, &key->build_id_size);
	key->text = first_text(object->object);
	if (kernel && is_kernel_copy(object->object)) {
		key->name = kernel;
		return 0;
	}
	key->name = ntrace_object_name(object->object);
	if (*key->name != '[' && !key->build_id_size)
		key->contents = ntrace_object_code_hash(object->object);
	return make_absolute(object);
}

static int compare_pointers(const void *left, const void *right)
{
	const struct ntrace_object *const *a = left, *const *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int add_objects(struct spill *spill, const struct ntrace_profile_trace *traces, size_t count,
		       const char *kernel)
{
	const struct ntrace_object **all = calloc(2 * count + 1, sizeof(*all));
	size_t found = 1, different = 0, i;
	int error = 0;

	if (!all)
		return NTRACE_ERR_NOMEM;
	/* The first one stands for unknown code. Equal neighbours are common. */
	for (i = 0; i < count; i++) {
		if (traces[i].object != all[found - 1])
			all[found++] = traces[i].object;
		if (traces[i].from_object != all[found - 1])
			all[found++] = traces[i].from_object;
	}
	qsort(all, found, sizeof(const struct ntrace_object *), compare_pointers);
	for (i = 0; i < found; i++)
		if (!i || all[i] != all[different - 1])
			all[different++] = all[i];
	spill->objects = calloc(different, sizeof(*spill->objects));
	if (!spill->objects)
		error = NTRACE_ERR_NOMEM;
	for (i = 0; i < different && !error; i++) {
		spill->objects[spill->object_count].object = all[i];
		error = describe_object(&spill->objects[spill->object_count++], kernel);
	}
	free(all);
	return error;
}

/* Numbers the objects in the order of the file. */
static int rank_objects(struct spill *spill)
{
	uint32_t rank = 0;
	size_t i;

	spill->by_rank = calloc(spill->object_count + 1, sizeof(struct ranked *));
	if (!spill->by_rank)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < spill->object_count; i++)
		spill->by_rank[i] = &spill->objects[i];
	qsort(spill->by_rank, spill->object_count, sizeof(struct ranked *), by_key);
	for (i = 0; i < spill->object_count; i++) {
		struct ranked *object = spill->by_rank[i];

		if (i && by_key(&spill->by_rank[rank], &object)) {
			spill->by_rank[++rank] = object;
		} else if (i) {
			merger_join_objects(&spill->by_rank[rank]->key, &object->key);
		}
		object->rank = rank;
	}
	return 0;
}

static void take_entry(const struct ntrace_profile_trace *trace, struct ntrace_counts_entry *entry)
{
	*entry = (struct ntrace_counts_entry){
		.start = trace->start,
		.end = trace->end,
		.from = trace->from,
		.count = trace->count,
		.instructions = trace->instructions,
		.from_class = trace->from_class,
		.end_class = trace->end_class,
		.taken = trace->taken,
	};
}

static int by_order(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	struct ntrace_counts_entry first, second;
	int order = compare_numbers(a->object, b->object);

	if (!order)
		order = compare_numbers(a->from_object, b->from_object);
	if (!order)
		order = compare_numbers(a->trace->privilege, b->trace->privilege);
	if (order)
		return order;
	take_entry(a->trace, &first);
	take_entry(b->trace, &second);
	return counts_compare_entries(&first, &second);
}

static int put_traces(const struct spill *spill, size_t count, struct ntrace_counts_writer *writer)
{
	struct ntrace_counts_group group = { .label = spill->label };
	struct ntrace_counts_entry entry;
	int error = 0;
	size_t i;

	for (i = 0; i < count && !error; i++) {
		const struct ordered *at = &spill->order[i];

		group.object = spill->by_rank[at->object]->key;
		group.from_object = spill->by_rank[at->from_object]->key;
		group.privilege = at->trace->privilege;
		take_entry(at->trace, &entry);
		if (entry.count)
			error = ntrace_counts_put(writer, &group, &entry);
	}
	return error ? error : ntrace_counts_writer_end(writer, NULL);
}

static int sort_traces(struct spill *spill, const struct ntrace_profile_trace *traces, size_t count,
		       const char *kernel)
{
	int error = add_objects(spill, traces, count, kernel);
	size_t i;

	if (!error)
		error = rank_objects(spill);
	spill->order = malloc((count + 1) * sizeof(*spill->order));
	if (!spill->order && !error)
		error = NTRACE_ERR_NOMEM;
	if (error)
		return error;
	for (i = 0; i < count; i++)
		spill->order[i] = (struct ordered){ find_object(spill, traces[i].object)->rank,
						    find_object(spill, traces[i].from_object)->rank,
						    &traces[i] };
	qsort(spill->order, count, sizeof(*spill->order), by_order);
	return 0;
}

static int write_spill(struct spill *spill, struct ntrace_profile *profile, const char *kernel,
		       FILE *file)
{
	const struct ntrace_profile_trace *traces;
	struct ntrace_counts_writer *writer = NULL;
	size_t count;
	int error;

	traces = ntrace_profile_traces(profile, &count);
	error = sort_traces(spill, traces, count, kernel);
	if (!error)
		error = ntrace_counts_writer_new(&writer, file);
	if (!error)
		error = put_traces(spill, count, writer);
	ntrace_counts_writer_free(writer);
	if (!error && fflush(file))
		error = NTRACE_ERR_IO;
	return error;
}

int ntrace_counts_merger_add_profile(struct ntrace_counts_merger *merger,
				     struct ntrace_profile *profile, const char *label,
				     const char *kernel)
{
	struct spill spill = { .label = label ? label : "" };
	FILE *file;
	int error = merger_failed(merger), saved;

	if (!error)
		error = merger_temporary(merger, &file);
	if (error)
		return error;
	error = write_spill(&spill, profile, kernel, file);
	saved = errno;
	free(spill.order);
	free(spill.by_rank);
	for (size_t i = 0; i < spill.object_count; i++)
		free(spill.objects[i].path);
	free(spill.objects);
	if (!error)
		return merger_add(merger, 0, NULL, file);
	fclose(file);
	errno = saved;
	return merger_fail(merger, error);
}
