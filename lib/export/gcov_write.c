// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The file of the AutoFDO profile that gcov.c adds up, in the format that GCC's auto-profile.cc
 * reads: little-endian words of 32 bits, counts as two words, the lower one first.
 *
 * Version 1 (GCC up to 11, and AutoFDO's own tools): sizes are in words, and strings are padded to
 * whole words; a table of working sets comes last. Version 2 (GCC 12 to 15): sizes are in bytes.
 * Version 3 (GCC 16): a summary comes first, each name has a file, and each function a time.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "gcov.h"
#include "saturate.h"

#define MAGIC UINT32_C(0x67636461)
#define TAG_SUMMARY UINT32_C(0xa8000000)
#define TAG_NAMES UINT32_C(0xaa000000)
#define TAG_FUNCTIONS UINT32_C(0xac000000)
#define TAG_MODULES UINT32_C(0xae000000)
#define TAG_WORKING_SETS UINT32_C(0xaf000000)
/* GCC's HIST_TYPE_INDIR_CALL_TOPN at the time of create_gcov; GCC ignores the value. */
#define TARGET_OF_CALL 7
#define WORKING_SETS 128

/* Shares of all counts, in millionths, for which the summary gives the least count. */
static const uint32_t cutoffs[] = { 10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
				    800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999 };

/* Each name has one file: a function's file takes precedence over that of an inlined copy. */
struct function_name {
	const char *text;
	const char *file;
	bool inlined;
};

struct writer {
	const struct gcov *gcov;
	FILE *file;		/* the section being written */
	unsigned int version;
	struct function_name *names;	/* sorted; the first is "" */
	size_t name_count;
	const char **files;	/* likewise sorted */
	size_t file_count;
	uint64_t *counts;	/* counts of all positions, the greatest first */
	uint64_t sum;
};

static void put_word(FILE *file, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		putc((int)(value >> 8 * i & 0xff), file);
}

/* Counts of the format are signed. */
static void put_count(FILE *file, uint64_t value)
{
	if (value > INT64_MAX)
		value = INT64_MAX;
	put_word(file, (uint32_t)value);
	put_word(file, (uint32_t)(value >> 32));
}

static void put_text(const struct writer *writer, const char *text)
{
	size_t size = strlen(text) + 1, padding = 0;

	if (writer->version == 1)
		padding = -size & 3;
	put_word(writer->file, (uint32_t)(writer->version == 1 ? (size + padding) / 4 : size));
	fwrite(text, 1, size, writer->file);
	while (padding--)
		putc(0, writer->file);
}

/* Writes a section: tag, size, and the content written by @put. */
static int put_section(struct writer *writer, FILE *file, uint32_t tag,
		       void (*put)(const struct writer *writer))
{
	char *content = NULL;
	size_t size = 0;
	bool failed;

	writer->file = open_memstream(&content, &size);
	if (!writer->file)
		return NTRACE_ERR_NOMEM;
	put(writer);
	failed = ferror(writer->file);
	if (fclose(writer->file) || failed) {
		free(content);
		return NTRACE_ERR_NOMEM;
	}
	put_word(file, tag);
	/* GCC's reader skips the size of each section, but expects none before the summary. */
	if (tag != TAG_SUMMARY)
		put_word(file, (uint32_t)(writer->version == 1 ? size / 4 : size));
	fwrite(content, 1, size, file);
	free(content);
	return 0;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int compare_names(const void *left, const void *right)
{
	const struct function_name *a = left, *b = right;
	int order = strcmp(a->text, b->text);

	if (!order)
		order = a->inlined - b->inlined;
	return order ? order : strcmp(a->file, b->file);
}

static int compare_name_texts(const void *left, const void *right)
{
	const struct function_name *a = left, *b = right;

	return strcmp(a->text, b->text);
}

static uint32_t name_index(const struct writer *writer, const char *text)
{
	const struct function_name wanted = { .text = text };
	const struct function_name *found = bsearch(&wanted, writer->names, writer->name_count,
						    sizeof(wanted), compare_name_texts);

	return found ? (uint32_t)(found - writer->names) : 0;
}

static uint32_t file_index(const struct writer *writer, const char *file)
{
	const char *const *found =
		bsearch(&file, writer->files, writer->file_count, sizeof(file), compare_texts);

	return found ? (uint32_t)(found - writer->files) : 0;
}

static void sort_tables(struct writer *writer)
{
	size_t i, kept = 0;

	qsort(writer->names, writer->name_count, sizeof(*writer->names), compare_names);
	for (i = 1; i < writer->name_count; i++)
		if (strcmp(writer->names[kept].text, writer->names[i].text))
			writer->names[++kept] = writer->names[i];
	writer->name_count = kept + 1;
	qsort(writer->files, writer->file_count, sizeof(*writer->files), compare_texts);
	for (kept = 0, i = 1; i < writer->file_count; i++)
		if (strcmp(writer->files[kept], writer->files[i]))
			writer->files[++kept] = writer->files[i];
	writer->file_count = kept + 1;
}

/* Names of targets belong to executed functions, each of which has a node. */
static int make_tables(struct writer *writer)
{
	const struct gcov *gcov = writer->gcov;
	size_t i;

	writer->names = calloc(gcov->node_count + 1, sizeof(*writer->names));
	writer->files = calloc(gcov->node_count + 1, sizeof(*writer->files));
	if (!writer->names || !writer->files)
		return NTRACE_ERR_NOMEM;
	writer->names[writer->name_count++] = (struct function_name){ "", "", false };
	writer->files[writer->file_count++] = "";
	for (i = 0; i < gcov->node_count; i++) {
		const struct gcov_node *node = gcov->nodes[i];
		const char *file = node->file ? node->file : "";

		writer->names[writer->name_count++] =
			(struct function_name){ node->name, file, node->parent != NULL };
		writer->files[writer->file_count++] = file;
	}
	sort_tables(writer);
	return 0;
}

static int compare_counts(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a > *b ? -1 : *a < *b;
}

static int sort_counts(struct writer *writer)
{
	const struct gcov *gcov = writer->gcov;
	size_t i;

	writer->counts = calloc(gcov->position_count + 1, sizeof(*writer->counts));
	if (!writer->counts)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < gcov->position_count; i++) {
		writer->counts[i] = gcov->positions[i].count;
		writer->sum = add_counts(writer->sum, gcov->positions[i].count);
	}
	qsort(writer->counts, gcov->position_count, sizeof(*writer->counts), compare_counts);
	return 0;
}

/*
 * Continues from @number and @sum until the greatest counts add up to @share of @whole of the sum:
 * @number becomes how many they are. Return: the least of them.
 */
static uint64_t least_of_share(const struct writer *writer, uint64_t share, uint64_t whole,
			       size_t *number, uint64_t *sum)
{
	uint64_t wanted = (uint64_t)((unsigned __int128)writer->sum * share / whole);

	while (*sum < wanted && *number < writer->gcov->position_count)
		*sum = add_counts(*sum, writer->counts[(*number)++]);
	return *number ? writer->counts[*number - 1] : writer->counts[0];
}

static void put_summary(const struct writer *writer)
{
	const struct gcov *gcov = writer->gcov;
	uint64_t greatest = 0, sum = 0, least;
	size_t number = 0, i;

	for (i = 0; i < gcov->node_count; i++)
		if (gcov->nodes[i]->head > greatest)
			greatest = gcov->nodes[i]->head;
	put_count(writer->file, writer->sum);
	put_count(writer->file, writer->counts[0]);
	put_count(writer->file, greatest);
	put_count(writer->file, gcov->position_count);
	put_count(writer->file, gcov->counts.functions);
	put_count(writer->file, sizeof(cutoffs) / sizeof(*cutoffs));
	for (i = 0; i < sizeof(cutoffs) / sizeof(*cutoffs); i++) {
		least = least_of_share(writer, cutoffs[i], 1000000, &number, &sum);
		put_word(writer->file, cutoffs[i]);
		put_count(writer->file, least);
		put_count(writer->file, number);
	}
}

static void put_working_sets(const struct writer *writer)
{
	uint64_t sum = 0, least;
	size_t number = 0;
	unsigned int i;

	for (i = 1; i <= WORKING_SETS; i++) {
		least = least_of_share(writer, i, WORKING_SETS + 1, &number, &sum);
		put_word(writer->file, (uint32_t)number);
		put_count(writer->file, least);
	}
}

static void put_names(const struct writer *writer)
{
	size_t i;

	if (writer->version >= 3) {
		put_word(writer->file, (uint32_t)writer->file_count);
		for (i = 0; i < writer->file_count; i++)
			put_text(writer, writer->files[i]);
	}
	put_word(writer->file, (uint32_t)writer->name_count);
	for (i = 0; i < writer->name_count; i++) {
		put_text(writer, writer->names[i].text);
		if (writer->version >= 3)
			put_word(writer->file, file_index(writer, writer->names[i].file));
	}
}

/* The @count targets of one position, or NULL. */
static const struct gcov_target *targets_of(const struct gcov *gcov,
					    const struct gcov_position *position, size_t *count)
{
	const struct gcov_target *targets = gcov->targets;
	size_t low = 0;

	BISECT(low, gcov->target_count, middle,
	       targets[middle].node < position->node ||
		       (targets[middle].node == position->node &&
			targets[middle].offset < position->offset));
	for (*count = 0; low + *count < gcov->target_count; ++*count)
		if (targets[low + *count].node != position->node ||
		    targets[low + *count].offset != position->offset)
			break;
	return targets + low;
}

static void put_position(const struct writer *writer, const struct gcov_position *position)
{
	const struct gcov_target *targets;
	size_t count, i;

	targets = targets_of(writer->gcov, position, &count);
	put_word(writer->file, position->offset);
	put_word(writer->file, (uint32_t)count);
	put_count(writer->file, position->count);
	for (i = 0; i < count; i++) {
		put_word(writer->file, TARGET_OF_CALL);
		put_count(writer->file, name_index(writer, targets[i].name));
		put_count(writer->file, targets[i].count);
	}
}

/* The recursion is bounded, since lib/image/dwarf.c limits the depth of scopes. */
static void put_node(const struct writer *writer, const struct gcov_node *node)
{
	const struct gcov *gcov = writer->gcov;
	size_t i;

	put_word(writer->file, name_index(writer, node->name));
	put_word(writer->file, (uint32_t)node->position_count);
	put_word(writer->file, (uint32_t)node->inlined_count);
	for (i = 0; i < node->position_count; i++)
		put_position(writer, &gcov->positions[node->position + i]);
	for (i = 0; i < node->inlined_count; i++) {
		put_word(writer->file, gcov->nodes[node->inlined + i]->offset);
		put_node(writer, gcov->nodes[node->inlined + i]);
	}
}

static void put_functions(const struct writer *writer)
{
	size_t i;

	put_word(writer->file, (uint32_t)writer->gcov->counts.functions);
	for (i = 0; i < writer->gcov->counts.functions; i++) {
		put_count(writer->file, writer->gcov->nodes[i]->head);
		/* The time of the first execution, which a profile does not contain. */
		if (writer->version >= 3)
			put_count(writer->file, 0);
		put_node(writer, writer->gcov->nodes[i]);
	}
}

static void put_modules(const struct writer *writer)
{
	put_word(writer->file, 0);
}

int gcov_write_file(const struct gcov *gcov, FILE *file, unsigned int version)
{
	struct writer writer = { .gcov = gcov, .version = version };
	int error = make_tables(&writer);

	if (!error)
		error = sort_counts(&writer);
	if (!error) {
		put_word(file, MAGIC);
		put_word(file, version);
		put_word(file, 0);
	}
	if (!error && version >= 3)
		error = put_section(&writer, file, TAG_SUMMARY, put_summary);
	if (!error)
		error = put_section(&writer, file, TAG_NAMES, put_names);
	if (!error)
		error = put_section(&writer, file, TAG_FUNCTIONS, put_functions);
	if (!error)
		error = put_section(&writer, file, TAG_MODULES, put_modules);
	if (!error && version == 1)
		error = put_section(&writer, file, TAG_WORKING_SETS, put_working_sets);
	free(writer.names);
	free(writer.files);
	free(writer.counts);
	if (!error && ferror(file))
		error = NTRACE_ERR_IO;
	return error;
}
