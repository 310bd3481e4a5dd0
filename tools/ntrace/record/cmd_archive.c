// SPDX-License-Identifier: GPL-2.0-only
/* ntrace archive: adds the traced programs to a recording. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/command.h"
#include "common/input.h"
#include "common/ui.h"

enum {
	OPTION_SYSROOT = OPTION_LONG,
};

static const struct option_spec options_table[] = {
	{ OPTION_SYSROOT, "sysroot", "DIR", "directory with the files of the recorded machine" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

static int archive(struct recording *recording, const char *path)
{
	struct ntrace_archive_counts counts;
	char size[UI_NUMBER_SIZE];
	int error = ntrace_session_archive(recording->session, &counts);

	if (error == NTRACE_ERR_IO && errno == EEXIST)
		return fail("%s/archive exists: remove it first", path);
	if (error == NTRACE_ERR_IO && errno == EBUSY)
		return fail("%s/archive.new: another ntrace archive is writing it: wait for its "
			    "end; if "
			    "there is none, remove the directory",
			    path);
	if (error == NTRACE_ERR_IO && errno == ENOENT && counts.missing)
		return fail("%s: none of the %" PRIu64 " programs of the recording is here, and "
			    "there is nothing to archive: --sysroot names the directory with "
			    "the files of the recorded machine",
			    path, counts.missing);
	if (error)
		return fail("%s/archive: %s", path, error_text(error));
	say("%" PRIu64 " file%s, %s, in %s/archive: the recording can be moved", counts.files,
	    counts.files == 1 ? "" : "s", ui_size(size, counts.bytes), path);
	if (!counts.missing)
		return EXIT_OK;
	if (counts.missing == 1)
		warn("1 program is missing: its code will not be decoded");
	else
		warn("%" PRIu64 " programs are missing: their code will not be decoded",
		     counts.missing);
	return EXIT_GAPS;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct recording_options recording_options = { 0 };
	struct recording recording;
	struct options options;
	int option, error;

	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		if (option != OPTION_SYSROOT)
			return EXIT_USAGE;
		recording_options.sysroot = options.value;
	}
	if (argc - options.index != 1)
		return usage_error(command, "one recording is needed");
	error = recording_open(&recording, command, argv[options.index], &recording_options);
	if (error)
		return error;
	error = archive(&recording, argv[options.index]);
	recording_close(&recording);
	return error;
}

const struct command command_archive = {
	.name = "archive",
	.summary = "copy the programs that were traced into the recording",
	.usage = "[OPTIONS] RECORDING",
	.details = "Programs and libraries that were mapped, and their debug files, are copied to "
		   "the\n"
		   "directory archive of the recording. All commands then use these alone, so that "
		   "the\n"
		   "recording can be decoded on another machine, or after an upgrade. The kernel's "
		   "code is\n"
		   "in every recording.\n\n"
		   "exit status: 0, or 3 if a program is missing, or is not the one that was "
		   "traced.\n\n"
		   "examples:\n"
		   "  ntrace archive ntrace.data && tar czf ntrace.tgz ntrace.data\n"
		   "  ntrace archive --sysroot /srv/board ntrace.data\n",
	.options = options_table,
	.run = run,
};
