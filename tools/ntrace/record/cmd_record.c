// SPDX-License-Identifier: GPL-2.0-only
/* ntrace record: traces all CPUs, or processes, while a command runs. */
#include "child.h"
#include "common/command.h"
#include "common/ui.h"
#include "hold.h"
#include "live.h"
#include "options.h"
#include "recorder.h"

/* A counts file of the trace, instead of the trace. */
static int run_live(struct recorder *recorder, struct live *live)
{
	int error;

	error = live_make(live, recorder->options.command, recorder->options.directory);
	recorder->options.directory = live->directory;
	recorder->live = live;
	live->hold = recorder->options.hold;
	if (!error)
		error = recorder_run(recorder);
	if (!error)
		error = live_write(live, recorder->seconds, recorder->options.quiet);
	if (!error && recorder->options.hold && !recorder->options.quiet)
		hold_say(&recorder->hold, recorder->seconds);
	/* A further signal may kill this process from recorder_wait() on. */
	live_free(live);
	return recorder_wait(recorder, error);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct recorder recorder = RECORDER_INIT;
	struct live live = { 0 };
	int error;

	error = record_options_read(&recorder.options, command, argc, argv, NULL, NULL);
	/* CPUs are traced until a signal without one. */
	if (!error && !record_options_cpus(&recorder.options) &&
	    !record_options_any(&recorder.options))
		error = usage_error(command, "no command to record (--all: CPUs, until Ctrl-C)");
	if (!error && recorder.options.argc)
		error = command_find(recorder.options.argv[0]);
	if (!error)
		error = recorder_signals(&recorder);
	if (error == OPTIONS_HELP)
		error = EXIT_OK;
	else if (!error && recorder.options.live)
		error = run_live(&recorder, &live);
	else if (!error)
		error = recorder_wait(&recorder, recorder_run(&recorder));
	record_options_free(&recorder.options);
	return error;
}

const struct command command_record = {
	.name = "record",
	.summary = "trace a program, or all CPUs",
	.usage = "[OPTIONS] [--] COMMAND [ARGUMENT...]",
	.details =
		"Traces the command and the processes that it starts, on all CPUs, user space and "
		"kernel.\n"
		"This uses perf within the limits of perf_event_paranoid; users who may not read "
		"the\n"
		"kernel's code get user space only. With --pid or --tid running processes are "
		"traced, and\n"
		"the command is optional. System-wide tracing (--all, --cpu) covers whatever CPUs "
		"execute,\n"
		"through /dev/ntraceN, while the command runs or until Ctrl-C; it needs root, or "
		"CAP_PERFMON,\n"
		"CAP_SYSLOG and CAP_SYS_RAWIO. Options that only one of the two has choose it. An "
		"older\n"
		"recording of the same name becomes NAME.old.\n"
		"--live counts what CPUs execute while their trace is made: it writes a counts "
		"file as\n"
		"'ntrace count' does, but no trace; without a command, until Ctrl-C.\n"
		"--hold stops the command while its trace is decoded: it takes longer, and nothing "
		"is lost.\n"
		"\n"
		"exit status: that of the command; 126 or 127 if it cannot be run; 1 if recording\n"
		"failed.\n"
		"\n"
		"examples:\n"
		"  ntrace record -- gzip -k file\n"
		"  ntrace record --privilege u -- make\n"
		"  ntrace record -p 1234 -- sleep 2\n"
		"  ntrace record --live --cpu 1-3 -o server.counts -- sleep 60\n"
		"  ntrace record --live --hold --cpu 1 -o program.counts -- taskset -c 1 "
		"./program\n"
		"  ntrace record -a --sink-size 4M --sync messages:1024 -- ./server\n",
	.options = record_options_table,
	.run = run,
};
