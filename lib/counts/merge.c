// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sums of counts files. Inputs wait in levels: when as many as are merged at once wait in a level,
 * their sum is a temporary file of the next level. So the memory depends only on this number, and
 * n inputs are written about log(n) times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"
#include "merge.h"
#include "output/unfinished.h"
#include "struct_size.h"

#define LEVELS 64
#define FAN_IN_MAX 1024u

/* An input that waits: a path, or a temporary file. */
struct input {
	char *path;
	FILE *file;
};

/* @count: number of inputs, at most the fan-in of the merger */
struct level {
	struct input *inputs;
	unsigned int count;
};

/* A stream of a recording, and the input that has it; NULL: added by itself, or of a temporary file. */
struct found_source {
	struct ntrace_counts_source source;
	const char *path;
};

/*
 * @added: streams that no input has
 * @sources: those of the sum that was written last
 */
struct ntrace_counts_merger {
	struct found_source *added;
	size_t added_count, added_room;
	struct ntrace_counts_source *sources;
	size_t source_count;
	char *directory;
	unsigned int fan_in;
	int error;
	char *problem;
	struct level levels[LEVELS];
	struct ntrace_counts_losses losses;
};

/* An input being merged: its current entry. */
struct source {
	struct ntrace_counts_reader *reader;
	const struct input *input;
	FILE *opened;
	const struct ntrace_counts_group *group;
	const struct ntrace_counts_entry *entry;
	bool ended;
};

/*
 * @heap: sources of the current group, the one with the first entry on top
 * @found: streams of recordings, of the inputs that have ended
 */
struct merge {
	struct ntrace_counts_merger *merger;
	struct ntrace_counts_writer *writer;
	struct source *sources;
	unsigned int count;
	struct source **heap;
	unsigned int heap_count;
	struct found_source *found;
	size_t found_count, found_room;
};

int ntrace_counts_merger_new(struct ntrace_counts_merger **merger,
			     const struct ntrace_counts_merger_options *options)
{
	struct ntrace_counts_merger_options taken = { .fan_in = 0 };
	struct ntrace_counts_merger *made;
	const char *directory;

	if (options && STRUCT_TAKE(&taken, options))
		return NTRACE_ERR_INVALID;
	if (!taken.fan_in)
		taken.fan_in = NTRACE_COUNTS_FAN_IN;
	if (taken.fan_in < 2 || taken.fan_in > FAN_IN_MAX || taken.reserved)
		return NTRACE_ERR_INVALID;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	directory = taken.directory ? taken.directory : getenv("TMPDIR");
	made->directory = strdup(directory && *directory ? directory : "/tmp");
	made->fan_in = taken.fan_in;
	if (!made->directory) {
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	*merger = made;
	return 0;
}

static void drop_inputs(struct level *level)
{
	for (unsigned int i = 0; i < level->count; i++) {
		free(level->inputs[i].path);
		if (level->inputs[i].file)
			fclose(level->inputs[i].file);
	}
	level->count = 0;
}

void ntrace_counts_merger_free(struct ntrace_counts_merger *merger)
{
	if (!merger)
		return;
	for (unsigned int i = 0; i < LEVELS; i++) {
		drop_inputs(&merger->levels[i]);
		free(merger->levels[i].inputs);
	}
	free(merger->added);
	free(merger->sources);
	free(merger->directory);
	free(merger->problem);
	free(merger);
}

const char *ntrace_counts_merger_problem(const struct ntrace_counts_merger *merger)
{
	return merger->problem;
}

/* Keeps errno. Return: @error */
static int failed(struct ntrace_counts_merger *merger, int error, const char *path,
		  const char *reason)
{
	int saved = errno;

	merger->error = error;
	free(merger->problem);
	if (asprintf(&merger->problem, "%s: %s", path, reason) < 0)
		merger->problem = NULL;
	errno = saved;
	return error;
}

static int reading_failed(struct ntrace_counts_merger *merger, const struct source *source,
			  int error)
{
	const char *path = source->input->path ? source->input->path : "a temporary file";
	const char *reason;
	uint64_t offset;
	char text[200];

	reason = ntrace_counts_reader_problem(source->reader, &offset);
	if (reason) {
		snprintf(text, sizeof(text), "offset %llu: %s", (unsigned long long)offset, reason);
		reason = text;
	} else {
		reason = errno ? strerror(errno) : ntrace_strerror(error);
	}
	return failed(merger, error, path, reason);
}

/* Of a temporary file, which has no name. */
static int temporary_failed(struct ntrace_counts_merger *merger)
{
	char reason[160];
	int saved = errno;

	snprintf(reason, sizeof(reason),
		 "%s: temporary files are made there; TMPDIR chooses another place",
		 strerror(saved));
	errno = saved;
	return failed(merger, NTRACE_ERR_IO, merger->directory, reason);
}

int merger_fail(struct ntrace_counts_merger *merger, int error)
{
	if (error == NTRACE_ERR_IO)
		return temporary_failed(merger);
	merger->error = error;
	return error;
}

int merger_temporary(struct ntrace_counts_merger *merger, FILE **file)
{
	*file = unfinished_nameless(merger->directory);
	return *file ? 0 : temporary_failed(merger);
}

/* ---- streams of recordings ---- */

static int add_found(struct found_source **all, size_t *count, size_t *room,
		     const struct ntrace_counts_source *source, const char *path)
{
	void *items = *all;
	int error = grow(&items, *count, room, sizeof(**all));

	*all = items;
	if (!error)
		(*all)[(*count)++] = (struct found_source){ *source, path };
	return error;
}

static bool same_source(const struct found_source *a, const struct found_source *b)
{
	return !memcmp(a->source.id, b->source.id, sizeof(a->source.id));
}

/* By id; one that is counted comes before those that other parts count. */
static int compare_found(const void *left, const void *right)
{
	const struct found_source *a = left, *b = right;
	int order = memcmp(a->source.id, b->source.id, sizeof(a->source.id));

	if (!order && a->source.parts != b->source.parts)
		order = a->source.parts < b->source.parts ? -1 : 1;
	if (!order && a->source.part != b->source.part)
		order = a->source.part < b->source.part ? -1 : 1;
	if (!order && a->path && b->path)
		order = strcmp(a->path, b->path);
	return order;
}

/* @twice: both count it; else their selections differ */
static int refuse(struct merge *merge, const struct found_source *first,
		  const struct found_source *second, bool twice)
{
	const char *path = second->path ? second->path : first->path;
	const char *other = second->path && first->path ? first->path : "another input";
	char *text;
	int error, length;

	length =
		twice ? asprintf(&text,
				 "counts a stream of a recording that %s counts, too: merge one of "
				 "them, or what they have in common would count twice",
				 other) :
			asprintf(&text,
				 "is a part of the same run as %s, and selects other code or has "
				 "another label: count all parts with the same options",
				 other);
	if (length < 0)
		return NTRACE_ERR_NOMEM;
	error = failed(merge->merger, NTRACE_ERR_INVALID, path ? path : "a recording", text);
	free(text);
	return error;
}

/*
 * Joins what two inputs say about a source. All parts of a run select the same code: their sum would
 * lack kernel code of some streams only, for instance.
 */
static int join_sources(struct merge *merge, struct found_source *first,
			const struct found_source *second)
{
	uint64_t selection = second->source.selection;

	if (!second->source.part)
		return refuse(merge, first, second, true);
	if (!first->source.selection)
		first->source.selection = selection;
	if (selection && selection != first->source.selection)
		return refuse(merge, first, second, false);
	return 0;
}

/* Joins what was found, and writes it. */
static int put_sources(struct merge *merge)
{
	size_t count = 0, i;
	int error = 0;

	if (merge->found_count)
		qsort(merge->found, merge->found_count, sizeof(*merge->found), compare_found);
	for (i = 0; i < merge->found_count && !error; i++) {
		struct found_source *found = &merge->found[i];

		if (!count || !same_source(&merge->found[count - 1], found))
			merge->found[count++] = *found;
		else
			error = join_sources(merge, &merge->found[count - 1], found);
	}
	merge->found_count = count;
	for (i = 0; i < count && !error; i++)
		error = ntrace_counts_put_source(merge->writer, &merge->found[i].source);
	return error;
}

/* The sources of the sum outlive the merge. */
static int keep_sources(struct merge *merge)
{
	struct ntrace_counts_merger *merger = merge->merger;

	free(merger->sources);
	merger->source_count = 0;
	merger->sources = calloc(merge->found_count + 1, sizeof(*merger->sources));
	if (!merger->sources)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < merge->found_count; i++)
		merger->sources[merger->source_count++] = merge->found[i].source;
	return 0;
}

/* ---- merging ---- */

static int take_end(struct merge *merge, const struct source *source)
{
	const struct ntrace_counts_source *sources;
	size_t count, i;
	int error = 0;

	ntrace_counts_put_losses(merge->writer, ntrace_counts_reader_losses(source->reader));
	sources = ntrace_counts_reader_sources(source->reader, &count);
	for (i = 0; i < count && !error; i++)
		error = add_found(&merge->found, &merge->found_count, &merge->found_room,
				  &sources[i], source->input->path);
	return error;
}

static int step(struct merge *merge, struct source *source)
{
	int result = ntrace_counts_next(source->reader, &source->group, &source->entry);

	source->ended = !result;
	if (source->ended)
		return take_end(merge, source);
	return result < 0 ? reading_failed(merge->merger, source, result) : 0;
}

static int open_source(struct merge *merge, struct source *source, const struct input *input)
{
	FILE *file = input->file;

	source->input = input;
	if (file) {
		if (fseek(file, 0, SEEK_SET))
			return failed(merge->merger, NTRACE_ERR_IO, input->path, strerror(errno));
	} else {
		file = source->opened = fopen(input->path, "re");
		if (!file)
			return failed(merge->merger, NTRACE_ERR_IO, input->path, strerror(errno));
	}
	if (ntrace_counts_reader_new(&source->reader, file)) {
		merge->merger->error = NTRACE_ERR_NOMEM;
		return NTRACE_ERR_NOMEM;
	}
	return step(merge, source);
}

static void close_source(struct source *source)
{
	ntrace_counts_reader_free(source->reader);
	if (source->opened)
		fclose(source->opened);
}

static bool is_before(const struct source *a, const struct source *b)
{
	if (a->entry->start != b->entry->start)
		return a->entry->start < b->entry->start;
	return counts_compare_entries(a->entry, b->entry) < 0;
}

/* Restores the order of the heap below @at. */
static void sift(struct merge *merge, unsigned int at)
{
	struct source **heap = merge->heap;

	for (;;) {
		unsigned int child = 2 * at + 1, first = at;
		struct source *moved;

		if (child < merge->heap_count && is_before(heap[child], heap[first]))
			first = child;
		if (child + 1 < merge->heap_count && is_before(heap[child + 1], heap[first]))
			first = child + 1;
		if (first == at)
			return;
		moved = heap[at];
		heap[at] = heap[first];
		heap[first] = moved;
		at = first;
	}
}

void merger_join_objects(struct ntrace_counts_object *sum, const struct ntrace_counts_object *more)
{
	if (!sum->name)
		return;
	if (strcmp(more->name, sum->name) < 0)
		sum->name = more->name;
	if (more->text && (!sum->text || more->text < sum->text))
		sum->text = more->text;
}

/* Collects the sources that have the first group. Return: whether there is one. */
static bool next_group(struct merge *merge, struct ntrace_counts_group *group)
{
	struct source *source;
	int order;

	merge->heap_count = 0;
	for (unsigned int i = 0; i < merge->count; i++) {
		source = &merge->sources[i];
		if (source->ended)
			continue;
		order = merge->heap_count ?
				ntrace_counts_compare(source->group, NULL, group, NULL) :
				-1;
		if (order > 0)
			continue;
		if (order < 0) {
			*group = *source->group;
			merge->heap_count = 0;
		} else {
			merger_join_objects(&group->object, &source->group->object);
			merger_join_objects(&group->from_object, &source->group->from_object);
		}
		merge->heap[merge->heap_count++] = source;
	}
	for (unsigned int i = merge->heap_count / 2; i-- > 0;)
		sift(merge, i);
	return merge->heap_count;
}

static int put(struct merge *merge, const struct ntrace_counts_group *group,
	       const struct ntrace_counts_entry *entry)
{
	int error = ntrace_counts_put(merge->writer, group, entry);

	if (error)
		merge->merger->error = error;
	return error;
}

/* Writes the entries of a group; its strings belong to sources that have passed to other groups. */
static int merge_group(struct merge *merge, const struct ntrace_counts_group *first)
{
	struct ntrace_counts_entry sum = *merge->heap[0]->entry;
	struct ntrace_counts_group group;
	struct counts_texts texts;
	int error = 0;

	sum.count = 0;
	counts_copy_group(&group, &texts, first);
	while (merge->heap_count && !error) {
		struct source *source = merge->heap[0];

		if (counts_compare_entries(&sum, source->entry)) {
			error = put(merge, &group, &sum);
			sum = *source->entry;
		} else {
			sum.count = add_counts(sum.count, source->entry->count);
		}
		if (!error)
			error = step(merge, source);
		if (error)
			break;
		if (source->ended || counts_begins_group(source->reader))
			merge->heap[0] = merge->heap[--merge->heap_count];
		sift(merge, 0);
	}
	return error ? error : put(merge, &group, &sum);
}

static int merge_sources(struct merge *merge)
{
	struct ntrace_counts_group group;
	int error = 0;

	while (!error && next_group(merge, &group))
		error = merge_group(merge, &group);
	return error;
}

/* Writes the sum of the inputs, which stay as they are. @whole: and of what was added besides them */
static int merge_inputs(struct ntrace_counts_merger *merger, const struct level *from, FILE *file,
			bool whole, struct ntrace_counts_totals *totals)
{
	const struct input *inputs = from->inputs;
	unsigned int count = from->count;
	struct merge merge = { .merger = merger };
	int error;

	merge.sources = calloc(count + 1, sizeof(*merge.sources));
	merge.heap = calloc(count + 1, sizeof(*merge.heap));
	error = merge.sources && merge.heap ? ntrace_counts_writer_new(&merge.writer, file) :
					      NTRACE_ERR_NOMEM;
	for (; merge.count < count && !error; merge.count++)
		error = open_source(&merge, &merge.sources[merge.count], &inputs[merge.count]);
	if (!error)
		error = merge_sources(&merge);
	if (!error && whole)
		ntrace_counts_put_losses(merge.writer, &merger->losses);
	for (size_t i = 0; i < merger->added_count && whole && !error; i++)
		error = add_found(&merge.found, &merge.found_count, &merge.found_room,
				  &merger->added[i].source, NULL);
	if (!error)
		error = put_sources(&merge);
	if (!error && whole)
		error = keep_sources(&merge);
	if (!error)
		error = ntrace_counts_writer_end(merge.writer, totals);
	for (unsigned int i = 0; i < merge.count; i++)
		close_source(&merge.sources[i]);
	ntrace_counts_writer_free(merge.writer);
	free(merge.found);
	free(merge.heap);
	free(merge.sources);
	if (error)
		merger->error = error;
	return error;
}

/* Merges all inputs of a level to one of the next level. */
static int raise_level(struct ntrace_counts_merger *merger, unsigned int level)
{
	struct input sum = { 0 };
	int error = merger_temporary(merger, &sum.file);

	if (error)
		return error;
	error = merge_inputs(merger, &merger->levels[level], sum.file, false, NULL);
	if (!error && fflush(sum.file))
		error = NTRACE_ERR_IO;
	if (error) {
		if (!merger->problem)
			merger_fail(merger, error);
		fclose(sum.file);
		return error;
	}
	drop_inputs(&merger->levels[level]);
	return merger_add(merger, level + 1, NULL, sum.file);
}

int merger_add(struct ntrace_counts_merger *merger, unsigned int level, char *path, FILE *file)
{
	struct level *to = &merger->levels[level < LEVELS ? level : LEVELS - 1];
	int error = 0;

	if (!to->inputs)
		to->inputs = calloc(merger->fan_in, sizeof(*to->inputs));
	if (!to->inputs)
		error = NTRACE_ERR_NOMEM;
	else if (to->count == merger->fan_in)
		error = raise_level(merger, level);
	if (error) {
		merger->error = error;
		free(path);
		if (file)
			fclose(file);
		return error;
	}
	to->inputs[to->count++] = (struct input){ path, file };
	return 0;
}

int merger_failed(const struct ntrace_counts_merger *merger)
{
	return merger->error;
}

int ntrace_counts_merger_add_file(struct ntrace_counts_merger *merger, const char *path)
{
	char *copy;

	if (merger->error)
		return merger->error;
	copy = strdup(path);
	return copy ? merger_add(merger, 0, copy, NULL) : NTRACE_ERR_NOMEM;
}

void ntrace_counts_merger_add_losses(struct ntrace_counts_merger *merger,
				     const struct ntrace_counts_losses *losses)
{
	add_losses(&merger->losses, losses);
}

int ntrace_counts_merger_add_source(struct ntrace_counts_merger *merger,
				    const struct ntrace_counts_source *source)
{
	return add_found(&merger->added, &merger->added_count, &merger->added_room, source, NULL);
}

const struct ntrace_counts_source *
ntrace_counts_merger_sources(const struct ntrace_counts_merger *merger, size_t *count)
{
	*count = merger->source_count;
	return merger->sources;
}

int ntrace_counts_merger_write(struct ntrace_counts_merger *merger, FILE *file,
			       struct ntrace_counts_totals *totals)
{
	unsigned int level = 0, last = 0, i;
	int error = merger->error;

	/* Merging a full level may fill the next one, so that the last level may become another one. */
	for (; !error; level++) {
		for (i = level; i < LEVELS; i++)
			if (merger->levels[i].count)
				last = i;
		if (last <= level)
			break;
		if (merger->levels[level].count)
			error = raise_level(merger, level);
	}
	if (!error)
		error = merge_inputs(merger, &merger->levels[level], file, true, totals);
	if (error)
		return error;
	drop_inputs(&merger->levels[level]);
	merger->losses = (struct ntrace_counts_losses){ 0 };
	merger->added_count = 0;
	return 0;
}
