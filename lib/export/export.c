// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Exports of counts: the formats that have lines of addresses and numbers. All
 * are sums over the traces of a profile by two or three of their addresses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/export.h>

#include "json_text.h"

#define PAGE UINT64_C(4096)

/* Addresses that belong together, and a count. @to is 0 in ranges. */
struct sum {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

/* Sums of one kind, of one object. */
struct sums {
	struct sum *items;
	size_t count;
};

struct export
{
	FILE *file;
	const struct ntrace_profile_trace *traces;
	size_t count;
	const struct ntrace_object *object;
	struct ntrace_export_counts counts;
};

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

/* Sorts, and makes one of those that are equal. */
static void add_up(struct sums *sums)
{
	size_t i, kept = 0;

	if (!sums->count)
		return;
	qsort(sums->items, sums->count, sizeof(*sums->items), compare_sums);
	for (i = 1; i < sums->count; i++) {
		if (!compare_sums(&sums->items[kept], &sums->items[i]))
			sums->items[kept].count += sums->items[i].count;
		else
			sums->items[++kept] = sums->items[i];
	}
	sums->count = kept + 1;
}

/* Runs of instructions within the object, both ends inclusive. */
static bool range_of(const struct export *export, const struct ntrace_profile_trace *trace,
		     struct sum *sum)
{
	*sum = (struct sum){ trace->start, trace->end, trace->count };
	return trace->object == export->object && trace->instructions;
}

/* Runs that a transfer within the object led to. */
static bool inner_range_of(const struct export *export, const struct ntrace_profile_trace *trace,
			   struct sum *sum)
{
	return range_of(export, trace, sum) && trace->from_object == export->object;
}

/* Other runs: behind a call of another object there may be no block of perf2bolt's. */
static bool outer_range_of(const struct export *export, const struct ntrace_profile_trace *trace,
			   struct sum *sum)
{
	return range_of(export, trace, sum) && trace->from_object != export->object;
}

/* Transfers within the object. */
static bool branch_of(const struct export *export, const struct ntrace_profile_trace *trace,
		      struct sum *sum)
{
	*sum = (struct sum){ trace->from, trace->start, trace->count };
	return trace->object == export->object && trace->from_object == export->object;
}

/* Transfers out of the object. */
static bool leaving_of(const struct export *export, const struct ntrace_profile_trace *trace,
		       struct sum *sum)
{
	*sum = (struct sum){ trace->from, 0, trace->count };
	return trace->object != export->object && trace->from_object == export->object;
}

/* Transfers into the object, from code of another one. */
static bool entering_of(const struct export *export, const struct ntrace_profile_trace *trace,
			struct sum *sum)
{
	*sum = (struct sum){ trace->start, 0, trace->count };
	return trace->object == export->object && trace->from_object &&
	       trace->from_object != export->object;
}

static int collect(struct sums *sums, const struct export *export,
		   bool (*of)(const struct export *export, const struct ntrace_profile_trace *trace,
			      struct sum *sum))
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

/* Count, then a line for each sum: both addresses less @base, with @between between them. */
static void put_sums(const struct export *export, const struct sums *sums, const char *between,
		     uint64_t base)
{
	size_t i;

	fprintf(export->file, "%zu\n", sums->count);
	for (i = 0; i < sums->count; i++)
		fprintf(export->file, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n",
			sums->items[i].from - base, between, sums->items[i].to - base,
			sums->items[i].count);
}

/* Ranges and branches; @addresses: with an empty section of single addresses between them. */
static int put_ranges_and_branches(const struct export *export, uint64_t base, bool addresses)
{
	struct sums sums;
	int error = collect(&sums, export, range_of);

	if (error)
		return error;
	put_sums(export, &sums, "-", base);
	free(sums.items);
	if (addresses)
		fputs("0\n", export->file);
	error = collect(&sums, export, branch_of);
	if (error)
		return error;
	put_sums(export, &sums, "->", base);
	free(sums.items);
	return 0;
}

static int put_autofdo(const struct export *export)
{
	return put_ranges_and_branches(export, 0, true);
}

/* llvm-profgen counts addresses from the page of the first executable segment. */
static int put_profgen(const struct export *export)
{
	uint64_t address, size, base = UINT64_MAX;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(export->object, i, &address, &size, &executable); i++) {
		if (executable && address < base)
			base = address;
	}
	if (base == UINT64_MAX)
		base = 0;
	return put_ranges_and_branches(export, base & ~(PAGE - 1), false);
}

/* Branches over the border of the object: perf2bolt writes "X:0" for what is outside. */
static int put_bolt_border(const struct export *export)
{
	struct sums sums;
	int error = collect(&sums, export, leaving_of);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "B %" PRIx64 " X:0 %" PRIu64 " 0\n", sums.items[i].from,
			sums.items[i].count);
	free(sums.items);
	return 0;
}

static int put_bolt_runs(const struct export *export,
			 bool (*of)(const struct export *export,
				    const struct ntrace_profile_trace *trace, struct sum *sum),
			 char letter)
{
	struct sums sums;
	int error = collect(&sums, export, of);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", letter,
			sums.items[i].from, sums.items[i].to, sums.items[i].count);
	free(sums.items);
	return 0;
}

static int put_bolt_bf(const struct export *export)
{
	struct sums sums;
	int error = collect(&sums, export, branch_of);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n",
			sums.items[i].from, sums.items[i].to, sums.items[i].count);
	free(sums.items);
	error = collect(&sums, export, entering_of);
	if (error)
		return error;
	for (i = 0; i < sums.count; i++)
		fprintf(export->file, "B X:0 %" PRIx64 " %" PRIu64 " 0\n", sums.items[i].from,
			sums.items[i].count);
	free(sums.items);
	error = put_bolt_runs(export, inner_range_of, 'F');
	if (!error)
		error = put_bolt_runs(export, outer_range_of, 'f');
	return error ? error : put_bolt_border(export);
}

/* One line for each trace of the object. */
static int put_bolt(const struct export *export)
{
	const struct ntrace_profile_trace *trace;
	char from[24];
	size_t i;

	for (i = 0; i < export->count; i++) {
		trace = &export->traces[i];
		if (trace->object != export->object)
			continue;
		snprintf(from, sizeof(from), "%" PRIx64, trace->from);
		if (trace->from_object != export->object)
			strcpy(from, "X:0");
		if (!trace->instructions)
			fprintf(export->file, "B %s %" PRIx64 " %" PRIu64 " 0\n", from,
				trace->start, trace->count);
		else if (!trace->from_object)
			fprintf(export->file, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				trace->start, trace->end, trace->count);
		else
			fprintf(export->file, "%c %s %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				trace->from_class == NTRACE_INSN_RETURN ? 'R' : 'T', from,
				trace->start, trace->end, trace->count);
	}
	return put_bolt_border(export);
}

static void put_csv_text(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', file);
		putc(*text, file);
	}
	putc('"', file);
}

static bool selected(const struct export *export, const struct ntrace_profile_trace *trace)
{
	return !export->object || trace->object == export->object ||
	       trace->from_object == export->object;
}

static void put_csv_place(FILE *file, const struct ntrace_object *object, uint64_t address)
{
	if (object)
		put_csv_text(file, ntrace_object_name(object));
	if (object || address)
		fprintf(file, ",0x%" PRIx64, address);
	else
		putc(',', file);
}

static int put_csv(const struct export *export)
{
	const struct ntrace_profile_trace *trace;
	size_t i;

	fputs("from_object,from,object,start,end,instructions,taken,count\n", export->file);
	for (i = 0; i < export->count; i++) {
		trace = &export->traces[i];
		if (!selected(export, trace))
			continue;
		put_csv_place(export->file, trace->from_object, trace->from);
		putc(',', export->file);
		put_csv_place(export->file, trace->object, trace->start);
		fprintf(export->file, ",0x%" PRIx64 ",%" PRIu32 ",%d,%" PRIu64 "\n", trace->end,
			trace->instructions, trace->taken, trace->count);
	}
	return 0;
}

static void put_json_object(FILE *file, const char *key, const struct ntrace_object *object)
{
	fprintf(file, "\"%s\":", key);
	if (object)
		put_json_text(file, ntrace_object_name(object));
	else
		fputs("null", file);
}

static int put_json(const struct export *export)
{
	const struct ntrace_profile_trace *trace;
	const char *separator = "[";
	size_t i;

	for (i = 0; i < export->count; i++) {
		trace = &export->traces[i];
		if (!selected(export, trace))
			continue;
		fprintf(export->file, "%s\n{", separator);
		put_json_object(export->file, "from_object", trace->from_object);
		fprintf(export->file, ",\"from\":\"0x%" PRIx64 "\",", trace->from);
		put_json_object(export->file, "object", trace->object);
		fprintf(export->file,
			",\"start\":\"0x%" PRIx64 "\",\"end\":\"0x%" PRIx64
			"\",\"instructions\":%" PRIu32 ",\"taken\":%s,\"count\":%" PRIu64 "}",
			trace->start, trace->end, trace->instructions,
			trace->taken ? "true" : "false", trace->count);
		separator = ",";
	}
	fputs(*separator == '[' ? "[]\n" : "\n]\n", export->file);
	return 0;
}

static const struct {
	const char *name;
	bool one_object;
	int (*put)(const struct export *export);
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
	struct export export = { .file = file, .object = object };
	size_t i;
	int error;

	if (format >= NTRACE_EXPORT_FORMATS || (formats[format].one_object && !object))
		return NTRACE_ERR_INVALID;
	export.traces = ntrace_profile_traces(profile, &export.count);
	for (i = 0; i < export.count; i++) {
		if (!selected(&export, &export.traces[i]))
			continue;
		export.counts.traces++;
		export.counts.executed += export.traces[i].count;
	}
	error = formats[format].put(&export);
	if (!error && ferror(file))
		error = NTRACE_ERR_IO;
	if (counts)
		*counts = export.counts;
	return error;
}
