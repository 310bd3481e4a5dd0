// SPDX-License-Identifier: GPL-2.0-only
/* Profiles of counts files. */
#include <stdio.h>

#include "command.h"
#include "counts_load.h"
#include "counts_sum.h"
#include "ui.h"

static int failed(const char *path, const struct ntrace_counts_reader *reader, int error)
{
	const char *reason;
	uint64_t offset;

	reason = reader ? ntrace_counts_reader_problem(reader, &offset) : NULL;
	if (reason)
		return fail("%s: offset %llu: %s", path, (unsigned long long)offset, reason);
	return fail("%s: %s", path, error_text(error));
}

static void say_sums(struct ntrace_profile *profile, const char *path)
{
	const struct ntrace_profile_object *objects;
	uint64_t sum = 0;
	size_t count, i;

	objects = ntrace_profile_objects(profile, &count);
	for (i = 0; i < count && objects[i].instructions < UINT64_MAX - sum; i++)
		sum += objects[i].instructions;
	if (i < count)
		warn("%s: the executed instructions are more than %llu: sums are this or larger",
		     path, (unsigned long long)UINT64_MAX);
}

static int load(struct ntrace_profile *profile, FILE *file, const char *path,
		const struct ntrace_counts_load_options *options,
		struct ntrace_counts_totals *totals)
{
	struct ntrace_counts_reader *reader;
	const struct ntrace_counts_source *sources;
	char number[UI_NUMBER_SIZE];
	size_t count;
	int error = ntrace_counts_reader_new(&reader, file);

	if (error)
		return failed(path, NULL, error);
	error = ntrace_counts_load(profile, reader, options, totals);
	if (error)
		error = failed(path, reader, error);
	else if (totals->saturated)
		warn("%s: %s counts reached the largest number: they are this or larger", path,
		     ui_number(number, totals->saturated));
	if (!error) {
		say_sums(profile, path);
		sum_say_losses(path, &totals->losses);
		sources = ntrace_counts_reader_sources(reader, &count);
		sum_say_missing(path, sources, count);
	}
	ntrace_counts_reader_free(reader);
	return error;
}

int counts_load(struct ntrace_profile **profile, const char *path,
		const struct ntrace_counts_load_options *options,
		struct ntrace_counts_totals *totals)
{
	FILE *file = fopen(path, "re");
	int error;

	if (!file)
		return failed(path, NULL, NTRACE_ERR_IO);
	error = *profile ? 0 : ntrace_profile_new(profile, NULL);
	if (error)
		error = failed(path, NULL, error);
	else
		error = load(*profile, file, path, options, totals);
	fclose(file);
	return error;
}
