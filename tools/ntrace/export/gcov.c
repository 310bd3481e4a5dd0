// SPDX-License-Identifier: GPL-2.0-only
/* ntrace export: the profile that GCC reads. */
#include <stdlib.h>

#include "common/debug_info.h"
#include "common/ui.h"
#include "gcov.h"

static void say_counts(const struct ntrace_export_gcov_counts *counts,
		       const struct ntrace_object *object)
{
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];

	if (!counts->functions)
		fail("nothing that was executed of %s has a line number: the export is empty: "
		     "compile all of it with -g, or select other code with --binary",
		     ntrace_object_name(object));
	else
		say("%s functions with %s counts of lines, of %s",
		    ui_number(number, counts->functions), ui_number(other, counts->positions),
		    ntrace_object_name(object));
	if (counts->functions && counts->unknown)
		warn("%s of %s executed instructions have no function or line number and are not "
		     "in it",
		     ui_number(number, counts->unknown),
		     ui_number(other, counts->unknown + counts->executed));
}

int export_gcov(FILE *file, struct ntrace_profile *profile, struct ntrace_object *object,
		const char *const *roots, uint32_t version, bool *empty)
{
	struct ntrace_export_gcov_options options = {
		.size = sizeof(options),
		.object = object,
		.version = version,
	};
	char **directories = debug_directories(roots);
	struct ntrace_export_gcov_counts counts;
	struct ntrace_lines *lines;
	int error = NTRACE_ERR_NOMEM;
	char *missing;

	if (directories)
		error = ntrace_lines_open(&lines, object, (const char *const *)directories);
	debug_directories_free(directories);
	missing = debug_missing(object);
	if (missing)
		warn("%s", missing);
	free(missing);
	if (error)
		return error;
	options.lines = lines;
	error = ntrace_export_gcov(file, profile, &options, &counts);
	if (!error) {
		say_counts(&counts, object);
		*empty = !counts.functions;
	}
	ntrace_lines_close(lines);
	return error;
}
