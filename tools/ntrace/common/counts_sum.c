// SPDX-License-Identifier: GPL-2.0-only
/* Writes counts files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "output_file.h"
#include "ui.h"
#include "counts_sum.h"

int sum_failed(const struct ntrace_counts_merger *merger, int error, const char *path)
{
	const char *problem = ntrace_counts_merger_problem(merger);

	if (problem)
		return fail("%s", problem);
	return path_failed(path, error);
}

int sum_write(struct ntrace_counts_merger *merger, const char *path,
	      struct ntrace_counts_totals *totals, bool empty)
{
	struct output_file file;
	int error = output_file_stream(&file, path, true);

	if (error)
		return error;
	error = ntrace_counts_merger_write(merger, file.stream, totals);
	/* Whoever collects counts may lose the machine, and not what was counted before. */
	if (!error && (fflush(file.stream) ||
		       (fsync(fileno(file.stream)) && errno != EINVAL && errno != EROFS)))
		error = NTRACE_ERR_IO;
	if (!error && !empty && !totals->entries) {
		output_file_close(&file, EXIT_FAILED);
		return EXIT_OK;
	}
	return output_file_close(&file, error ? sum_failed(merger, error, file.path) : EXIT_OK);
}

void sum_say_losses(const char *path, const struct ntrace_counts_losses *losses)
{
	char lost[UI_NUMBER_SIZE], gaps[UI_NUMBER_SIZE], bytes[UI_NUMBER_SIZE + 32];

	if (losses->lost)
		snprintf(bytes, sizeof(bytes), "%s%s bytes", losses->at_least ? "at least " : "",
			 ui_number(lost, losses->lost));
	else if (losses->at_least)
		snprintf(bytes, sizeof(bytes), "an unknown number of bytes");
	else
		snprintf(bytes, sizeof(bytes), "0 bytes");
	if (losses->lost || losses->at_least || losses->gaps)
		warn("%s: code executed in lost trace is not counted: %s, %s gaps and errors", path,
		     bytes, ui_number(gaps, losses->gaps));
	if (losses->sampled)
		warn("%s: counts of %s inputs are those of samples: shares, not what was executed",
		     path, ui_number(lost, losses->sampled));
	if (losses->unknown)
		warn("%s: losses of trace are not known of %s counts files of an earlier version",
		     path, ui_number(lost, losses->unknown));
}

/* By run, then by part. */
static int compare_parts(const void *left, const void *right)
{
	const struct ntrace_counts_source *a = left, *b = right;

	if (a->parts != b->parts)
		return a->parts < b->parts ? -1 : 1;
	return a->part < b->part ? -1 : a->part > b->part;
}

bool sum_say_missing(const char *path, const struct ntrace_counts_source *sources, size_t count)
{
	struct ntrace_counts_source *missing = calloc(count + 1, sizeof(*missing));
	char names[200] = "", number[UI_NUMBER_SIZE];
	size_t found = 0, used = 0, i;

	for (i = 0; missing && i < count; i++)
		if (sources[i].part)
			missing[found++] = sources[i];
	if (found)
		qsort(missing, found, sizeof(*missing), compare_parts);
	for (i = 0; i < found; i++) {
		if (i && !compare_parts(&missing[i - 1], &missing[i]))
			continue;
		if (used > sizeof(names) - 40) {
			snprintf(names + used, sizeof(names) - used, ", ...");
			break;
		}
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%u/%u",
					 used ? ", " : "", missing[i].part, missing[i].parts);
	}
	if (found)
		warn("%s: parts of 'ntrace count --shard' are missing: %s; %s streams of "
		     "recordings "
		     "are not counted",
		     path, names, ui_number(number, found));
	free(missing);
	return found;
}

void sum_say(const char *path, const struct ntrace_counts_totals *totals, bool quiet)
{
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];

	if (!quiet)
		say("%s: %s entries in %s groups", path, ui_number(number, totals->entries),
		    ui_number(other, totals->groups));
	if (totals->saturated)
		warn("%s: %s counts reached the largest number, %llu: they are this or larger",
		     path, ui_number(number, totals->saturated),
		     (unsigned long long)NTRACE_COUNTS_SATURATED);
	sum_say_losses(path, &totals->losses);
}
