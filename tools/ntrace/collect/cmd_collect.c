// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace collect: counts of a machine in operation. A short window of each interval is recorded and
 * counted with the processor time that nobody else wants; only the counts are kept.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ntrace/counts_file.h>

#include "common/command.h"
#include "common/counts_sum.h"
#include "common/ui.h"
#include "record/directory.h"
#include "record/options.h"
#include "record/recorder.h"

#define WINDOW_DEFAULT 0.01
#define INTERVAL_DEFAULT 60.0
#define ROTATE_DEFAULT 3600.0
#define SIZE_DEFAULT (UINT64_C(1) << 30)
#define DIRECTORY_DEFAULT "/var/lib/ntrace"
#define SUFFIX ".counts"
/* A recording in it must have a name that ntrace_session_open() takes. */
#define DIRECTORY_LENGTH_MAX 2000

enum {
	OPTION_WINDOW = OPTION_RECORD_END,
	OPTION_INTERVAL = 'i',
	OPTION_ITERATIONS = 'n',
	OPTION_ROTATE = OPTION_WINDOW + 1,
	OPTION_SIZE,
	OPTION_CLASS,
};

static const struct option_spec options_table[] = {
	{ OPTION_OUTPUT, "output", "DIR", "directory of the counts files (" DIRECTORY_DEFAULT ")" },
	{ OPTION_WINDOW, "window", "SECONDS", "traced time in each interval (default 0.01)" },
	{ OPTION_INTERVAL, "interval", "SECONDS", "time from window to window (default 60)" },
	{ OPTION_ITERATIONS, "iterations", "N", "end after N windows" },
	{ OPTION_ROTATE, "rotate", "SECONDS", "begin a new file after this time (default 3600)" },
	{ OPTION_SIZE, "size", "SIZE", "remove the oldest files above this sum (default 1G)" },
	{ OPTION_CLASS, "class", "LABEL", "label of the counts, as for ntrace count" },
	{ OPTION_ALL, "all", NULL, "trace all CPUs (default)" },
	{ OPTION_CPU, "cpu", "LIST", "trace only these CPUs, e.g. 0,2-3" },
	{ OPTION_PID, "pid", "LIST", "trace these processes and their children" },
	{ OPTION_PRIVILEGE, "privilege", "LETTERS",
	  "privileges to trace: any of u, s, m, vu, vs (default us)" },
	{ OPTION_QUIET, "quiet", NULL, "print only warnings and errors" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/*
 * @window_path: the recording of the window, which the next window reuses
 * @new_path: counts of the window
 * @file: the counts file that grows; "" = none yet
 * @file_begin: when it began, in seconds of CLOCK_MONOTONIC
 * @windows: recorded
 * @counted: counted and added
 */
struct collect {
	const struct command *command;
	struct record_options options;
	double window;
	double interval;
	double rotate;
	uint64_t size;
	uint64_t iterations;
	const char *output;
	const char *label;
	char window_path[4096];
	char new_path[4096];
	char file[4096];
	double file_begin;
	uint64_t windows;
	uint64_t counted;
	int signals;
	bool quit;
};

/* ---- options ---- */

static int take_option(void *data, struct options *options, int option)
{
	struct collect *collect = data;

	switch (option) {
	case OPTION_OUTPUT:
		return option_directory(options, "output", &collect->output);
	case OPTION_WINDOW:
		return option_real(options, "window", 1e-6, 1e7, &collect->window);
	case OPTION_INTERVAL:
		return option_real(options, "interval", 0.01, 1e7, &collect->interval);
	case OPTION_ROTATE:
		return option_real(options, "rotate", 0, 1e7, &collect->rotate);
	case OPTION_ITERATIONS:
		return option_number(options, "iterations", 1, UINT64_MAX, &collect->iterations) ?
			       EXIT_OK :
			       EXIT_USAGE;
	case OPTION_SIZE:
		return option_size(options, "size", 0, UINT64_MAX, &collect->size) ? EXIT_OK :
										     EXIT_USAGE;
	case OPTION_CLASS:
		collect->label = options->value;
		return EXIT_OK;
	default:
		return RECORD_OPTION_OTHER;
	}
}

static int read_options(struct collect *collect, int argc, char **argv)
{
	struct record_options *options = &collect->options;
	int error =
		record_options_read(options, collect->command, argc, argv, take_option, collect);

	if (error)
		return error;
	if (options->argc)
		return usage_error(collect->command, "'%s': use 'ntrace record' to trace a command",
				   options->argv[0]);
	if (collect->window > collect->interval)
		return usage_error(collect->command, "--window is longer than --interval");
	if (strlen(collect->label) > NTRACE_COUNTS_LABEL_MAX)
		return usage_error(collect->command, "option --class: a label has at most %d bytes",
				   NTRACE_COUNTS_LABEL_MAX);
	if (!options->pids.count && !options->select_cpus)
		options->all = true;
	return EXIT_OK;
}

/* ---- a window ---- */

static int capture(struct collect *collect)
{
	struct recorder recorder = RECORDER_INIT;
	int error;

	recorder.options = collect->options;
	recorder.signals = collect->signals;
	recorder.no_summary = true;
	recorder.temporary = true;
	recorder.again = collect->windows;
	recorder.limit = collect->window;
	error = recorder_run(&recorder);
	collect->quit |= recorder.interrupted || recorder.all_ended;
	collect->windows += !error;
	return error;
}

/* Signals since the last call; those that end the command are passed to @child. */
static void take_signals(struct collect *collect, pid_t child)
{
	struct signalfd_siginfo info;

	while (read(collect->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		collect->quit = true;
		if (child > 0)
			kill(child, SIGTERM);
	}
}

/* Executes this program again, so that its memory is free afterwards, whatever it decoded. */
static void run_count(const struct collect *collect)
{
	const char *const words[] = { "ntrace",
				      "count",
				      "--quiet",
				      "--class",
				      collect->label,
				      "-o",
				      collect->new_path,
				      "--",
				      collect->window_path,
				      NULL };
	const struct sched_param none = { 0 };
	sigset_t empty;

	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	/* Only when nobody else wants the CPU; a kernel without this policy is no reason to fail. */
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		warn("SCHED_IDLE: %s", strerror(errno));
	execv("/proc/self/exe", (char **)(uintptr_t)words);
	fail("/proc/self/exe: %s", strerror(errno));
	_exit(EXIT_FAILED);
}

/* Return: EXIT_OK, or EXIT_FAILED after an error message, here or of the child. */
static int count(struct collect *collect)
{
	struct pollfd poller = { .fd = collect->signals, .events = POLLIN };
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (!child)
		run_count(collect);
	if (child < 0)
		return fail("fork: %s", strerror(errno));
	while (!waitpid(child, &status, WNOHANG)) {
		if (poll(&poller, 1, -1) < 0 && errno != EINTR)
			return fail("poll: %s", strerror(errno));
		take_signals(collect, child);
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return EXIT_OK;
	unlink(collect->new_path);
	return EXIT_FAILED;
}

/* ---- the files ---- */

/* The file of this time: the one that grows, or a new one. */
static void choose_file(struct collect *collect)
{
	double now = monotonic_seconds();
	time_t seconds = time(NULL);
	struct tm utc;
	char name[64];

	if (*collect->file && now - collect->file_begin < collect->rotate)
		return;
	gmtime_r(&seconds, &utc);
	strftime(name, sizeof(name), "%Y-%m-%dT%H%M%SZ", &utc);
	/* With a short time to the next file, several begin in a second. */
	snprintf(collect->file, sizeof(collect->file), "%.4000s/%s-%06" PRIu64 SUFFIX,
		 collect->output, name, collect->windows);
	collect->file_begin = now;
}

static int merge_into(struct collect *collect, struct ntrace_counts_merger *merger)
{
	struct ntrace_counts_totals totals;
	struct stat status;
	int error = 0;

	if (!stat(collect->file, &status))
		error = ntrace_counts_merger_add_file(merger, collect->file);
	if (!error)
		error = ntrace_counts_merger_add_file(merger, collect->new_path);
	return error ? sum_failed(merger, error, collect->file) :
		       sum_write(merger, collect->file, &totals, true);
}

/* Adds the counts of the window to the file, which is complete at any time. */
static int add_counts(struct collect *collect)
{
	struct ntrace_counts_merger *merger;
	int error;

	choose_file(collect);
	if (ntrace_counts_merger_new(&merger, NULL))
		return fail("out of memory");
	error = merge_into(collect, merger);
	ntrace_counts_merger_free(merger);
	if (!error)
		unlink(collect->new_path);
	collect->counted += !error;
	return error;
}

static int is_counts(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), tail = sizeof(SUFFIX) - 1;

	return *entry->d_name != '.' && length > tail &&
	       !strcmp(entry->d_name + length - tail, SUFFIX);
}

static void remove_file(const struct collect *collect, const char *path)
{
	if (!strcmp(path, collect->file))
		return;
	if (unlink(path))
		warn("%s: %s", path, strerror(errno));
	else if (!collect->options.quiet)
		say("%s: removed, the files exceed --size", path);
}

/* Removes the oldest files, whose names are first, until the rest is small enough. */
static void prune(const struct collect *collect)
{
	struct dirent **entries;
	struct stat status;
	char path[8192];
	uint64_t sum = 0;
	int count = scandir(collect->output, &entries, is_counts, alphasort), i;

	/* From the newest to the oldest. */
	for (i = count; i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", collect->output, entries[i]->d_name);
		if (!stat(path, &status))
			sum += (uint64_t)status.st_size;
		if (sum > collect->size)
			remove_file(collect, path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* ---- all of it ---- */

static int rest(struct collect *collect, double until)
{
	struct pollfd poller = { .fd = collect->signals, .events = POLLIN };
	double left;

	while (!collect->quit && (left = until - monotonic_seconds()) > 0) {
		if (poll(&poller, 1, left < 1e6 ? (int)(left * 1e3) + 1 : -1) < 0 && errno != EINTR)
			return fail("poll: %s", strerror(errno));
		take_signals(collect, 0);
	}
	return EXIT_OK;
}

static int run_windows(struct collect *collect)
{
	double begin;
	int error = EXIT_OK;

	while (!error && !collect->quit) {
		begin = monotonic_seconds();
		/* The first time it is an error, which the recorder prints. */
		if (collect->windows && !record_options_still_there(&collect->options))
			return EXIT_OK;
		error = capture(collect);
		/* Between the check and the start, or as a zombie, which the check takes for alive. */
		if (error == TASKS_ENDED)
			return EXIT_OK;
		/* A window that cannot be counted, such as one of an idle machine, is no reason to end. */
		if (!error && !count(collect)) {
			error = add_counts(collect);
			prune(collect);
		}
		if (collect->iterations && collect->windows >= collect->iterations)
			return error;
		if (!error)
			error = rest(collect, begin + collect->interval);
	}
	return error;
}

static int set_paths(struct collect *collect)
{
	const char *directory = collect->output;

	if (strlen(directory) > DIRECTORY_LENGTH_MAX)
		return fail("%s: the name is longer than %d bytes", directory,
			    DIRECTORY_LENGTH_MAX);
	if (mkdir(directory, 0777) && errno != EEXIST)
		return fail("%s: %s", directory, strerror(errno));
	snprintf(collect->window_path, sizeof(collect->window_path), "%s/.window", directory);
	snprintf(collect->new_path, sizeof(collect->new_path), "%s/.new", directory);
	/* Of a run that was killed. */
	recording_discard(collect->window_path, false);
	return EXIT_OK;
}

static int run_collect(struct collect *collect)
{
	struct recorder recorder = RECORDER_INIT;
	int error = set_paths(collect);

	if (!error)
		error = recorder_signals(&recorder);
	if (error)
		return error;
	collect->signals = recorder.signals;
	error = run_windows(collect);
	recording_discard(collect->window_path, false);
	unlink(collect->new_path);
	if (error)
		return error;
	if (!collect->counted)
		return fail("%s: none of %" PRIu64 " windows could be counted: --window may be too "
			    "short; 'ntrace record' and 'ntrace report' show what such a trace "
			    "contains",
			    collect->output, collect->windows);
	if (!collect->options.quiet)
		say("%s: counts of %" PRIu64 " of %" PRIu64 " windows", collect->file,
		    collect->counted, collect->windows);
	return EXIT_OK;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct collect collect;
	int error;

	collect.command = command;
	collect.window = WINDOW_DEFAULT;
	collect.interval = INTERVAL_DEFAULT;
	collect.rotate = ROTATE_DEFAULT;
	collect.size = SIZE_DEFAULT;
	collect.label = "";
	collect.output = DIRECTORY_DEFAULT;
	error = read_options(&collect, argc, argv);
	/* The directory of the options is that of a recording. */
	collect.options.directory = collect.window_path;
	if (error == OPTIONS_HELP)
		error = EXIT_OK;
	else if (!error)
		error = run_collect(&collect);
	record_options_free(&collect.options);
	return error;
}

const struct command command_collect = {
	.name = "collect",
	.summary = "count what a machine in operation executes, a window at a time",
	.usage = "[OPTIONS]",
	.details =
		"On the machine that has the trace hardware: a short window of each interval is\n"
		"traced and counted, and its counts are added to a file in DIR. The trace is\n"
		"removed. Counting takes only processor time that nobody else wants (SCHED_IDLE), "
		"so\n"
		"that intervals become longer on a busy machine. The file is complete at any "
		"time;\n"
		"'ntrace merge' and 'ntrace export' read it.\n\n"
		"The unit ntrace-collect.service runs it; DIR is /var/lib/ntrace then.\n\n"
		"exit status: 0, also when a signal ended it; 1 if tracing failed, or if no "
		"window\n"
		"could be counted.\n\n"
		"examples:\n"
		"  ntrace collect\n"
		"  ntrace collect -o counts --window 0.005 --interval 10 --size 100M\n"
		"  ntrace collect -o counts -p 1234 --class search -n 100\n"
		"  systemctl enable --now ntrace-collect\n",
	.options = options_table,
	.run = run,
};
