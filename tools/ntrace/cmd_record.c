// SPDX-License-Identifier: GPL-2.0-only
/* ntrace record: traces all harts while a command runs. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "record.h"
#include "ui.h"

#define DIRECTORY_DEFAULT "ntrace.data"
/* Periodic synchronization limits what a loss costs: every 2^12 messages. */
#define SYNC_MAX_DEFAULT 8
/* The sideband is emptied so often, even if the kernel wakes nobody. */
#define SIDEBAND_MS 1000

enum {
	OPTION_OUTPUT = 'o',
	OPTION_HARTS = 'C',
	OPTION_MODE = 'm',
	OPTION_PRIVILEGE = 'p',
	OPTION_QUIET = 'q',
	OPTION_SINK_SIZE = OPTION_LONG,
	OPTION_DATA_SIZE,
	OPTION_SYNC,
};

static const struct option_spec options_table[] = {
	{ OPTION_OUTPUT, "output", "DIR",
	  "directory of the recording (default " DIRECTORY_DEFAULT ")" },
	{ OPTION_MODE, "mode", "btm|htm",
	  "branch or history trace mode (default: htm if there is)" },
	{ OPTION_HARTS, "harts", "LIST", "trace these harts only, e.g. 0,2-3 (default: all)" },
	{ OPTION_PRIVILEGE, "privilege", "LETTERS", "of u, s, m: what is traced (default us)" },
	{ OPTION_SINK_SIZE, "sink-size", "SIZE", "buffer that the hardware writes to, per hart" },
	{ OPTION_DATA_SIZE, "data-size", "SIZE", "buffer between kernel and recorder, per hart" },
	{ OPTION_SYNC, "sync", "KIND[:N]",
	  "synchronize every N messages, cycles or parcels; or off" },
	{ OPTION_QUIET, "quiet", NULL, "no summary" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct recorder {
	const struct command *command;
	const char *directory;
	struct ntrace_config wanted;
	bool sync_given;
	bool select_harts;
	bool quiet;
	struct hart_set harts;
	int argc;		/* of the recorded command */
	char **argv;

	struct device_list list;
	struct sideband *sideband;
	struct child child;
	struct ntrace_kernel_copy kernel;
	bool made;		/* the directory is there */
	bool traced;		/* and something in it */
	int notify;
	int signals;
	double seconds;
};

static int take_privilege(struct recorder *recorder, const char *text)
{
	recorder->wanted.privilege = 0;
	for (; *text; text++) {
		if (*text == 'u')
			recorder->wanted.privilege |= NTRACE_PRIVILEGE_U;
		else if (*text == 's')
			recorder->wanted.privilege |= NTRACE_PRIVILEGE_S;
		else if (*text == 'm')
			recorder->wanted.privilege |= NTRACE_PRIVILEGE_M;
		else
			return usage_error(recorder->command,
					   "option --privilege: '%c' is none of u, s, m", *text);
	}
	if (!recorder->wanted.privilege)
		return usage_error(recorder->command, "option --privilege: nothing to trace");
	return EXIT_OK;
}

/* "messages:4096": the hardware knows powers of two from 16. */
static int take_sync(struct recorder *recorder, const char *text)
{
	static const char *const kinds[] = {
		[NTRACE_SYNC_OFF] = "off",
		[NTRACE_SYNC_MESSAGES] = "messages",
		[NTRACE_SYNC_CYCLES] = "cycles",
		[NTRACE_SYNC_PARCELS] = "parcels",
	};
	size_t length = strcspn(text, ":");
	unsigned long long interval = UINT64_C(1) << (SYNC_MAX_DEFAULT + 4);
	unsigned int i;
	char *end;

	recorder->sync_given = true;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i]) == length && !strncmp(kinds[i], text, length))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return usage_error(recorder->command,
				   "option --sync: '%s' is none of messages, "
				   "cycles, parcels, off",
				   text);
	recorder->wanted.sync_mode = i;
	if (i == NTRACE_SYNC_OFF)
		return text[length] ? usage_error(recorder->command, "option --sync: off has no "
								     "interval") :
				      EXIT_OK;
	if (text[length]) {
		errno = 0;
		interval = strtoull(text + length + 1, &end, 0);
		if (errno || *end || text[length + 1] == '-' || interval < 16 ||
		    interval & (interval - 1) || interval > UINT64_C(1) << 32)
			return usage_error(recorder->command,
					   "option --sync: '%s' is no power of "
					   "two from 16",
					   text + length + 1);
	}
	recorder->wanted.sync_max = (uint32_t)__builtin_ctzll(interval) - 4;
	return EXIT_OK;
}

static int take_option(struct recorder *recorder, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_OUTPUT:
		recorder->directory = options->value;
		return *options->value ? EXIT_OK :
					 usage_error(recorder->command, "option --output: no name");
	case OPTION_MODE:
		if (!strcmp(options->value, "btm"))
			recorder->wanted.mode = NTRACE_MODE_BTM;
		else if (!strcmp(options->value, "htm"))
			recorder->wanted.mode = NTRACE_MODE_HTM;
		else
			return usage_error(recorder->command,
					   "option --mode: '%s' is neither btm "
					   "nor htm",
					   options->value);
		return EXIT_OK;
	case OPTION_HARTS:
		recorder->select_harts = true;
		if (!*options->value || !hart_set_parse(&recorder->harts, options->value))
			return usage_error(recorder->command,
					   "option --harts: '%s' is no list like "
					   "0,2-3",
					   options->value);
		return EXIT_OK;
	case OPTION_PRIVILEGE:
		return take_privilege(recorder, options->value);
	case OPTION_SINK_SIZE:
		if (!option_number(options, "sink-size", 1, UINT64_C(1) << 40, &number))
			return EXIT_USAGE;
		recorder->wanted.sink_size = number;
		return EXIT_OK;
	case OPTION_DATA_SIZE:
		if (!option_number(options, "data-size", 1, UINT64_C(1) << 40, &number))
			return EXIT_USAGE;
		recorder->wanted.data_size = number;
		return EXIT_OK;
	case OPTION_SYNC:
		return take_sync(recorder, options->value);
	case OPTION_QUIET:
		recorder->quiet = true;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

static int configure(struct recorder *recorder)
{
	struct device_list *list = &recorder->list;
	struct ntrace_config wanted;
	unsigned int i;
	int error;

	error = devices_open(list, recorder->select_harts ? &recorder->harts : NULL);
	for (i = 0; !error && i < list->count; i++) {
		const struct ntrace_info *info = &list->devices[i].info;

		wanted = recorder->wanted;
		if (!recorder->sync_given && info->sync_modes >> NTRACE_SYNC_MESSAGES & 1) {
			wanted.sync_mode = NTRACE_SYNC_MESSAGES;
			wanted.sync_max = info->sync_max < SYNC_MAX_DEFAULT ? info->sync_max :
									      SYNC_MAX_DEFAULT;
		}
		error = device_configure(&list->devices[i], &wanted);
	}
	return error;
}

static int catch_signals(struct recorder *recorder)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return fail("sigprocmask: %s", strerror(errno));
	recorder->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	recorder->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (recorder->signals < 0 || recorder->notify < 0)
		return fail("signalfd, eventfd: %s", strerror(errno));
	return EXIT_OK;
}

static int copy_kernel(struct recorder *recorder, enum ntrace_recording_when when)
{
	int error = ntrace_recording_copy_kernel(recorder->directory, when, &recorder->kernel);

	if (!error)
		return EXIT_OK;
	if (error == NTRACE_ERR_IO && (errno == EACCES || errno == EPERM))
		return fail("the kernel's code cannot be copied from /proc/kcore: needs root, or "
			    "CAP_SYSLOG and CAP_SYS_RAWIO");
	if (error == NTRACE_ERR_IO && errno == ENOSPC)
		return fail("%s: disk full", recorder->directory);
	return fail("copying the kernel's code from /proc/kcore: %s",
		    error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
}

static int sideband_start(struct recorder *recorder)
{
	char *path;
	int error;

	if (asprintf(&path, "%s/data", recorder->directory) < 0)
		return fail("out of memory");
	error = sideband_open(&recorder->sideband, path);
	free(path);
	return error;
}

static int sideband_past(struct recorder *recorder)
{
	char *path;
	int error;

	if (asprintf(&path, "%s/images/kallsyms", recorder->directory) < 0)
		return fail("out of memory");
	error = sideband_system(recorder->sideband, path);
	free(path);
	return error;
}

/* Everything up to the point where the trace can start. The order is that of recording.h. */
static int prepare(struct recorder *recorder)
{
	struct device_list *list = &recorder->list;
	uint64_t memory = spool_memory();
	unsigned int i;
	int error;

	error = recording_make(recorder->directory);
	if (error)
		return error;
	recorder->made = true;
	for (i = 0; i < list->count; i++) {
		error = device_save_to(&list->devices[i], recorder->directory, i, recorder->notify,
				       memory / list->count);
		if (error)
			return error;
	}
	error = sideband_start(recorder);
	if (!error)
		error = copy_kernel(recorder, NTRACE_RECORDING_START);
	if (!error)
		error = sideband_past(recorder);
	if (!error && ntrace_recording_copy_vdso(recorder->directory) == NTRACE_ERR_IO)
		error = fail("%s: copying the vDSO: %s", recorder->directory, strerror(errno));
	if (!error)
		error = child_fork(&recorder->child, recorder->argv);
	return error;
}

static int start(struct recorder *recorder)
{
	struct device_list *list = &recorder->list;
	unsigned int i;
	int error = EXIT_OK;

	for (i = 0; !error && i < list->count; i++)
		error = device_start(&list->devices[i]);
	return error;
}

/* SIGCHLD or a request to end. Return: true if the recording ends. */
static bool take_signals(struct recorder *recorder)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(recorder->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			end |= child_ended(&recorder->child);
			continue;
		}
		end = true;
		/* What the terminal sends reaches the command by itself; this does no harm. */
		if (!child_ended(&recorder->child))
			kill(recorder->child.pid, SIGTERM);
	}
	return end;
}

/* Until the command ends, somebody interrupts, or saving fails. */
static int follow(struct recorder *recorder)
{
	const int *fds;
	unsigned int count = sideband_fds(recorder->sideband, &fds), i;
	struct pollfd *pollers = calloc(count + 2, sizeof(*pollers));
	bool end = false;
	int error = EXIT_OK;

	if (!pollers)
		return fail("out of memory");
	pollers[0] = (struct pollfd){ .fd = recorder->signals, .events = POLLIN };
	pollers[1] = (struct pollfd){ .fd = recorder->notify, .events = POLLIN };
	for (i = 0; i < count; i++)
		pollers[2 + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	while (!end && !error) {
		if (poll(pollers, count + 2, SIDEBAND_MS) < 0 && errno != EINTR)
			error = fail("poll: %s", strerror(errno));
		end = take_signals(recorder) || pollers[1].revents;
		if (!error)
			error = sideband_drain(recorder->sideband);
	}
	free(pollers);
	return error;
}

static int finish_devices(struct recorder *recorder, bool quiet)
{
	struct device_list *list = &recorder->list;
	int error = EXIT_OK, failed;
	unsigned int i;

	for (i = 0; i < list->count; i++) {
		failed = device_stop(&list->devices[i]);
		error = error ? error : failed;
	}
	for (i = 0; i < list->count; i++) {
		/* When the disk is full it is so for all: once is enough. */
		failed = device_save_finish(&list->devices[i], quiet || error);
		error = error ? error : failed;
	}
	return error;
}

static void describe_stream(struct ntrace_stream *stream, const struct device *device)
{
	ntrace_params_init(&stream->params);
	stream->params.src_bits = device->info.src_bits;
	stream->params.xlen = device->info.xlen;
	stream->params.mode = device->config.mode == NTRACE_MODE_BTM ? NTRACE_MODE_BRANCH :
								       NTRACE_MODE_HISTORY;
	stream->file = device->file;
	stream->cpu = device->info.cpu;
	stream->hartid = device->info.hartid;
	stream->src = device->info.src;
	stream->bytes = device->saved;
	stream->lost = device->lost;
	stream->lost_exact = !(device->loss & NTRACE_LOSS_LAPPED);
	stream->gaps = device->gaps;
	stream->start_ns = device->start_ns;
	stream->stop_ns = device->stop_ns;
}

/* The command's words, separated by blanks; what would break a line is replaced. */
static char *command_line(const struct recorder *recorder)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	const char *byte;
	int i;

	if (!file)
		return NULL;
	for (i = 0; i < recorder->argc; i++) {
		if (i)
			putc(' ', file);
		for (byte = recorder->argv[i]; *byte; byte++)
			putc((unsigned char)*byte < ' ' ? '?' : *byte, file);
	}
	fclose(file);
	return text;
}

static int write_params(struct recorder *recorder)
{
	struct device_list *list = &recorder->list;
	struct ntrace_recording recording = {
		.size = sizeof(recording),
		.tool = "ntrace " NTRACE_TOOL_VERSION,
		.module = list->devices[0].info.module_version,
		.clock = "monotonic",
		.privilege = list->devices[0].config.privilege,
		.stream_count = list->count,
	};
	struct ntrace_stream *streams = calloc(list->count, sizeof(*streams));
	char *command = command_line(recorder);
	struct utsname names;
	unsigned int i;
	int error;

	if (!streams || !command) {
		free(streams);
		free(command);
		return fail("out of memory");
	}
	for (i = 0; i < list->count; i++)
		describe_stream(&streams[i], &list->devices[i]);
	if (!uname(&names)) {
		recording.release = names.release;
		recording.machine = names.machine;
	}
	recording.command = command;
	recording.streams = streams;
	error = ntrace_recording_write(recorder->directory, &recording);
	if (error)
		error = fail("%s/params: %s", recorder->directory,
			     error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
	free(streams);
	free(command);
	return error;
}

static void report_loss(const struct device *device)
{
	char size[UI_NUMBER_SIZE];

	if (!device->lost && !device->loss && !device->gaps)
		return;
	warn("hart %u: %s%s of trace lost in %u places:%s%s%s", device->info.cpu,
	     device->loss & NTRACE_LOSS_LAPPED ? "at least " : "", ui_size(size, device->lost),
	     device->gaps,
	     device->loss & NTRACE_LOSS_LAPPED ?
		     " the hardware was faster than the kernel (--sink-size);" :
		     "",
	     device->loss & NTRACE_LOSS_DATA_FULL ?
		     " the kernel was faster than the recorder (--data-size);" :
		     "",
	     device->loss & NTRACE_LOSS_ENCODER ? " the encoder overflowed;" : "");
}

static void summarize(const struct recorder *recorder, uint64_t sideband_lost)
{
	const struct device_list *list = &recorder->list;
	uint64_t saved = 0, lost = 0, gaps = 0;
	char size[UI_NUMBER_SIZE];
	unsigned int i;

	for (i = 0; i < list->count; i++) {
		saved += list->devices[i].saved;
		lost += list->devices[i].lost;
		gaps += list->devices[i].gaps;
		report_loss(&list->devices[i]);
	}
	if (sideband_lost)
		warn("%" PRIu64
		     " sideband records lost: some code may be taken for another process's",
		     sideband_lost);
	if (!recorder->quiet)
		say("%s of trace from %u harts in %.1f s, %s: 'ntrace report %s' shows it",
		    ui_size(size, saved), list->count, recorder->seconds,
		    lost || gaps ? "with losses" : "nothing lost", recorder->directory);
}

static int record(struct recorder *recorder)
{
	int error, failed;

	error = prepare(recorder);
	if (error)
		return error;
	recorder->seconds = monotonic_seconds();
	error = start(recorder);
	recorder->traced = !error;
	if (!error)
		error = child_run(&recorder->child, recorder->argv[0]);
	if (!error)
		error = follow(recorder);
	recorder->seconds = monotonic_seconds() - recorder->seconds;
	failed = finish_devices(recorder, error != EXIT_OK);
	error = error ? error : failed;
	if (!recorder->traced)
		return error;
	/* Whatever failed: what is there is worth keeping. */
	failed = copy_kernel(recorder, NTRACE_RECORDING_END);
	error = error ? error : failed;
	failed = write_params(recorder);
	return error ? error : failed;
}

static int end(struct recorder *recorder, int error)
{
	uint64_t sideband_lost = 0;
	sigset_t none;
	int failed, status;

	failed = sideband_close(recorder->sideband, recorder->argc, recorder->argv, &sideband_lost);
	error = error ? error : failed;
	if (!error)
		summarize(recorder, sideband_lost);
	devices_close(&recorder->list);
	if (recorder->made && !recorder->traced)
		recording_discard(recorder->directory);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* After an error the command runs on untraced: it may be of use all the same. */
	status = child_wait(&recorder->child);
	return error ? error : status;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct recorder recorder = { .command = command,
				     .directory = DIRECTORY_DEFAULT,
				     .kernel.size = sizeof(recorder.kernel) };
	struct options options;
	int option, error;

	options_init(&options, command, argc, argv, false);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return finish_output(EXIT_OK);
		error = take_option(&recorder, &options, option);
		if (error)
			return error;
	}
	recorder.argc = argc - options.index;
	recorder.argv = argv + options.index;
	if (!recorder.argc)
		return usage_error(command, "no command to record");
	error = command_find(recorder.argv[0]);
	if (error)
		return error;
	error = configure(&recorder);
	if (!error)
		error = catch_signals(&recorder);
	if (error) {
		devices_close(&recorder.list);
		return error;
	}
	return end(&recorder, record(&recorder));
}

const struct command command_record = {
	.name = "record",
	.summary = "trace all harts while a command runs",
	.usage = "[OPTIONS] [--] COMMAND [ARGUMENT...]",
	.details =
		"Traces user space and the kernel on all harts, whatever runs on them, from "
		"before\n"
		"the command starts until it ends. Needs root or CAP_PERFMON, CAP_SYSLOG and\n"
		"CAP_SYS_RAWIO. A recording that has the name already becomes NAME.old.\n\n"
		"exit status: that of the command; 126 or 127 if it cannot be run; 1 if recording\n"
		"failed.\n\n"
		"examples:\n"
		"  ntrace record -- gzip -k file\n"
		"  ntrace record -o boot.data --harts 0-1 --privilege u -- make\n"
		"  ntrace record --sink-size 4M --sync messages:1024 -- ./server\n",
	.options = options_table,
	.run = run,
};
