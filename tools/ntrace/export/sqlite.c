// SPDX-License-Identifier: GPL-2.0-only
/* ntrace export: databases of SQLite, and calls as text, which a temporary one has. */
#include <errno.h>

#include <ntrace/export_sqlite.h>
#include <ntrace/functions.h>

#include "common/jobs.h"
#include "common/output_file.h"
#include "common/ui.h"
#include "sqlite.h"
#include "stacks.h"

/* @reason: errno of a database that cannot be written; else 0 */
struct writing {
	struct ntrace_export_sqlite *sqlite;
	struct ntrace_stacks *stacks;
	struct ntrace_profile *profile;
	int reason;
};

static int put_change(void *data, const struct ntrace_stack_change *change)
{
	struct writing *writing = data;
	int error = ntrace_export_sqlite_change(writing->sqlite, change);

	if (error == NTRACE_ERR_IO)
		writing->reason = errno;
	return error;
}

static int take_event(void *data, const struct ntrace_session_event *event)
{
	struct writing *writing = data;
	int error = ntrace_stacks_event(writing->stacks, event);

	return error ? error : ntrace_profile_event(writing->profile, event);
}

static int take_segment(void *data, const struct ntrace_segment *segment)
{
	struct writing *writing = data;
	int error = ntrace_stacks_segment(writing->stacks, segment);

	return error ? error : ntrace_profile_segment(writing->profile, segment);
}

static int take_end(void *data, unsigned int stream)
{
	struct writing *writing = data;

	return ntrace_stacks_end_stream(writing->stacks, stream);
}

static int failed(const char *name, int error)
{
	if (error == NTRACE_ERR_UNSUPPORTED)
		return fail("sqlite: libsqlite3.so.0 cannot be loaded: Debian has it in "
			    "libsqlite3-0");
	if (error == NTRACE_ERR_INVALID)
		return output_needs_file(name, "sqlite");
	return path_failed(name, error);
}

static int prepare(struct writing *writing, const char *output,
		   const struct ntrace_session *session,
		   const struct ntrace_profile_options *selection)
{
	struct ntrace_stacks_options stacks = { .size = sizeof(stacks),
						.threads = selection->threads,
						.privileges = selection->privileges,
						.change = put_change,
						.data = writing };
	struct ntrace_profile_options profile = *selection;
	int error = ntrace_export_sqlite_open(&writing->sqlite, output, session);

	if (error)
		return error;
	profile.parts = NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS;
	error = ntrace_stacks_new(&writing->stacks, &stacks);
	return error ? error : ntrace_profile_new(&writing->profile, &profile);
}

/* Writes what needs all calls: the profile, the values and the text. */
static int complete(struct writing *writing, const struct export_sqlite_options *options,
		    FILE *file)
{
	int error = 0;

	if (!options->text)
		error = ntrace_export_sqlite_profile(writing->sqlite, writing->profile);
	if (!error && options->values)
		error = ntrace_export_sqlite_values(writing->sqlite, options->recording->session);
	if (!error && options->text)
		error = ntrace_export_sqlite_calls(writing->sqlite, file);
	if (error == NTRACE_ERR_IO)
		writing->reason = errno;
	return error;
}

static int write_all(struct writing *writing, const struct export_sqlite_options *options,
		     FILE *file, const char *name)
{
	struct recording_totals totals;
	struct ntrace_stacks_stats stats;
	const struct ntrace_decode_options decoding = {
		.stream = NTRACE_ALL_STREAMS,
		.needs = NTRACE_NEEDS_TURNS,
		.event = take_event,
		.segment = take_segment,
		.end = take_end,
		.data = writing,
		.jobs = jobs_for(options->recording, options->jobs),
	};
	int error = recording_decode(options->recording, "export", &decoding, &totals);

	if (!error)
		error = ntrace_stacks_end(writing->stacks);
	if (!error)
		error = ntrace_profile_end(writing->profile);
	if (!error)
		error = complete(writing, options, file);
	if (error && writing->reason) {
		errno = writing->reason;
		return failed(name, error);
	}
	if (error)
		return failed(options->path, error);
	ntrace_stacks_get_stats(writing->stacks, &stats);
	if (!stats.instructions)
		return export_is_empty(options->path, options->selection, options->recording);
	recording_say_losses(
		&totals, options->text ? "calls executed there are missing" :
					 "calls executed there are missing, see the table losses");
	return EXIT_OK;
}

static void say_what(const struct export_sqlite_options *options,
		     const struct ntrace_export_sqlite_counts *counts)
{
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE], losses[UI_NUMBER_SIZE];

	if (counts->cut)
		warn("%s numbers exceed 2^63 - 1, the largest number of SQL: this is stored "
		     "instead; times may need --params tsdelta=abs, or the width tsbits",
		     ui_number(number, counts->cut));
	if (options->text)
		say("%s calls", ui_number(number, counts->calls));
	else
		say("%s calls, %s scheduling intervals, %s losses",
		    ui_number(number, counts->calls), ui_number(other, counts->intervals),
		    ui_number(losses, counts->losses));
}

/* @file: of text; @name: of the output, for messages */
static int export_to(const struct export_sqlite_options *options, FILE *file, const char *name)
{
	struct ntrace_export_sqlite_counts counts = { 0 };
	struct writing writing = { 0 };
	int error, closed = 0;

	error = prepare(&writing, file ? NULL : options->output, options->recording->session,
			options->selection);
	if (error)
		error = failed(name, error);
	else
		error = write_all(&writing, options, file, name);
	/* The database uses names that belong to the stacks. */
	if (writing.sqlite)
		closed = ntrace_export_sqlite_close(writing.sqlite, !error && !file, &counts);
	ntrace_stacks_free(writing.stacks);
	ntrace_profile_free(writing.profile);
	if (error)
		return error;
	if (closed)
		return failed(name, closed);
	say_what(options, &counts);
	return EXIT_OK;
}

int export_sqlite(const struct export_sqlite_options *options)
{
	struct output_file file;
	int error;

	if (!options->text)
		return output_refuse_input(options->output) ?
			       EXIT_FAILED :
			       export_to(options, NULL, options->output);
	if (output_file_stream(&file, options->output, true))
		return EXIT_FAILED;
	error = export_to(options, file.stream, file.path);
	return output_file_close(&file, error);
}
