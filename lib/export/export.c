// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Exports of counts: the list of formats and their sums. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "counts.h"
#include "saturate.h"

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

/* Sorts the sums and merges equal ones. */
static void add_up(struct sums *sums)
{
	size_t i, kept = 0;

	if (!sums->count)
		return;
	qsort(sums->items, sums->count, sizeof(*sums->items), compare_sums);
	for (i = 1; i < sums->count; i++) {
		if (!compare_sums(&sums->items[kept], &sums->items[i]))
			sums->items[kept].count =
				add_counts(sums->items[kept].count, sums->items[i].count);
		else
			sums->items[++kept] = sums->items[i];
	}
	sums->count = kept + 1;
}

bool range_of(const struct counts_export *export, const struct ntrace_profile_trace *trace,
	      struct sum *sum)
{
	*sum = (struct sum){ trace->start, trace->end, trace->count };
	return trace->object == export->object && trace->instructions;
}

bool branch_of(const struct counts_export *export, const struct ntrace_profile_trace *trace,
	       struct sum *sum)
{
	*sum = (struct sum){ trace->from, trace->start, trace->count };
	return trace->object == export->object && trace->from_object == export->object;
}

int collect_sums(struct sums *sums, const struct counts_export *export,
		 bool (*of)(const struct counts_export *export,
			    const struct ntrace_profile_trace *trace, struct sum *sum))
{
	size_t i;

	sums->count = 0;
	sums->items = malloc((export->count ? export->count : 1) * sizeof(*sums->items));
	if (!sums->items)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < export->count; i++)
		sums->count += of(export, &export->traces[i], &sums->items[sums->count]);
	add_up(sums);
	return 0;
}

/*
 * Writes the number of sums, then a line for each: both addresses minus @base, separated by
 * @between.
 */
static void put_sums(const struct counts_export *export, const struct sums *sums,
		     const char *between, uint64_t base)
{
	size_t i;

	fprintf(export->file, "%zu\n", sums->count);
	for (i = 0; i < sums->count; i++)
		fprintf(export->file, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n",
			sums->items[i].from - base, between, sums->items[i].to - base,
			sums->items[i].count);
}

int put_ranges_and_branches(const struct counts_export *export, uint64_t base, bool addresses)
{
	struct sums sums;
	int error = collect_sums(&sums, export, range_of);

	if (error)
		return error;
	put_sums(export, &sums, "-", base);
	free(sums.items);
	if (addresses)
		fputs("0\n", export->file);
	error = collect_sums(&sums, export, branch_of);
	if (error)
		return error;
	put_sums(export, &sums, "->", base);
	free(sums.items);
	return 0;
}

bool is_of_object(const struct counts_export *export, const struct ntrace_profile_trace *trace)
{
	return !export->object || trace->object == export->object ||
	       trace->from_object == export->object;
}

static const struct {
	const char *name;
	bool one_object;
	int (*put)(const struct counts_export *export);
} formats[NTRACE_EXPORT_FORMATS] = {
	[NTRACE_EXPORT_AUTOFDO] = { "autofdo", true, put_autofdo },
	[NTRACE_EXPORT_PROFGEN] = { "profgen", true, put_profgen },
	[NTRACE_EXPORT_BOLT] = { "bolt", true, put_bolt },
	[NTRACE_EXPORT_BOLT_BF] = { "bolt-bf", true, put_bolt_bf },
	[NTRACE_EXPORT_CSV] = { "csv", false, put_csv },
	[NTRACE_EXPORT_JSON] = { "json", false, put_json },
};

const char *ntrace_export_name(unsigned int format)
{
	return format < NTRACE_EXPORT_FORMATS ? formats[format].name : NULL;
}

bool ntrace_export_one_object(unsigned int format)
{
	return format < NTRACE_EXPORT_FORMATS && formats[format].one_object;
}

int ntrace_export_profile(FILE *file, struct ntrace_profile *profile, unsigned int format,
			  const struct ntrace_object *object, struct ntrace_export_counts *counts)
{
	struct counts_export export = { .file = file, .object = object };
	size_t i;
	int error;

	if (format >= NTRACE_EXPORT_FORMATS || (formats[format].one_object && !object))
		return NTRACE_ERR_INVALID;
	export.traces = ntrace_profile_traces(profile, &export.count);
	for (i = 0; i < export.count; i++) {
		if (!is_of_object(&export, &export.traces[i]))
			continue;
		export.counts.traces++;
		export.counts.executed = add_counts(export.counts.executed, export.traces[i].count);
	}
	error = formats[format].put(&export);
	if (!error && ferror(file))
		error = NTRACE_ERR_IO;
	if (counts)
		*counts = export.counts;
	return error;
}
