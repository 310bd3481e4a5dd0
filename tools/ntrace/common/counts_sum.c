// SPDX-License-Identifier: GPL-2.0-only
/* Writes counts files. */
#include <errno.h>
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
	return fail("%s: %s", path, error_text(error));
}

/* Writes to a copy of the descriptor: closing it must not close standard output. */
static int write_to(struct ntrace_counts_merger *merger, int fd, const char *path,
		    struct ntrace_counts_totals *totals)
{
	int copy = dup(fd), error;
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");

	if (!file) {
		error = fail("%s: %s", path, strerror(errno));
		if (copy >= 0)
			close(copy);
		return error;
	}
	error = ntrace_counts_merger_write(merger, file, totals);
	if (fclose(file) && !error)
		error = NTRACE_ERR_IO;
	return error ? sum_failed(merger, error, path) : EXIT_OK;
}

int sum_write(struct ntrace_counts_merger *merger, const char *path,
	      struct ntrace_counts_totals *totals)
{
	struct output_file file;
	int error = output_file_open(&file, path);

	if (error)
		return error;
	error = write_to(merger, file.output->fd, strcmp(path, "-") ? path : "standard output",
			 totals);
	return output_file_close(&file, error);
}

void sum_say_losses(const char *path, const struct ntrace_counts_losses *losses)
{
	char lost[UI_NUMBER_SIZE], gaps[UI_NUMBER_SIZE];

	if (losses->lost || losses->gaps)
		warn("%s: code executed in lost trace is not counted: %s%s bytes, %s gaps and "
		     "errors",
		     path, losses->at_least ? "at least " : "", ui_number(lost, losses->lost),
		     ui_number(gaps, losses->gaps));
	if (losses->unknown)
		warn("%s: losses of trace are not known of %s counts files of an earlier version",
		     path, ui_number(lost, losses->unknown));
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
