// SPDX-License-Identifier: GPL-2.0-only
/* A recording from its first event to its last file, for all commands that make one. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "child.h"
#include "common/command.h"
#include "common/ui.h"
#include "device.h"
#include "directory.h"
#include "features.h"
#include "live.h"
#include "options.h"
#include "params.h"
#include "recorder.h"
#include "sideband.h"
#include "spool.h"
#include "tasks.h"

/* The sideband is drained at least this often. */
#define SIDEBAND_MS 1000
/* What is in memory is written at most this often, and at least every SIDEBAND_MS more. */
#define AHEAD_SECONDS 0.5
/* And as often while the command execs and may be held. */
#define EXEC_MS 10

static int configure(struct recorder *recorder)
{
	struct device_list *list = &recorder->list;
	struct ntrace_config wanted;
	unsigned int i;
	int error;

	error = devices_open(list, recorder->options.select_cpus ? &recorder->options.cpus : NULL);
	for (i = 0; !error && i < list->count; i++) {
		const struct ntrace_info *info = &list->devices[i].info;

		wanted = recorder->options.wanted;
		record_options_sync(&recorder->options, info->sync_modes, info->sync_max, &wanted);
		record_options_timestamps(info->timestamp_modes, &wanted);
		record_features_choose(info->inst_features, &wanted);
		error = device_configure(&list->devices[i], &wanted);
		recorder->unfiltered |= !info->privilege && !wanted.privilege;
	}
	if (!error && recorder->unfiltered)
		record_privilege_warn();
	return error;
}

int recorder_signals(struct recorder *recorder)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (recorder->options.snapshot)
		sigaddset(&set, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return fail("sigprocmask: %s", strerror(errno));
	recorder->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signals < 0)
		return fail("signalfd: %s", strerror(errno));
	return EXIT_OK;
}

/*
 * True if the kernel is traced: only then the recording includes its code, which takes most of the
 * time of a short recording. 0 is the default of the driver, which includes the kernel.
 */
static bool with_kernel(const struct recorder *recorder)
{
	const struct device_list *list = &recorder->list;
	unsigned int i;

	if (recorder->by_tasks)
		return recorder->tasks.config.privilege & NTRACE_PRIVILEGE_S;
	for (i = 0; i < list->count; i++) {
		uint32_t privilege = list->devices[i].config.privilege;

		if (!privilege || privilege & NTRACE_PRIVILEGE_S)
			return true;
	}
	return false;
}

/* True if the previous recording in the directory has the kernel's code. */
static bool has_kernel(const struct recorder *recorder, enum ntrace_recording_when when)
{
	char *path;
	bool has;

	if (!recorder->again || asprintf(&path, "%s/images/kernel.%s", recorder->directory,
					 when == NTRACE_RECORDING_START ? "start" : "end") < 0)
		return false;
	has = !access(path, F_OK);
	free(path);
	return has;
}

/* Copies the kernel's code if it is traced and not there yet. */
static int copy_kernel(struct recorder *recorder, enum ntrace_recording_when when)
{
	int error;

	if (!with_kernel(recorder) || has_kernel(recorder, when))
		return EXIT_OK;
	error = ntrace_recording_copy_kernel(recorder->directory, when, &recorder->kernel);
	if (!error)
		return EXIT_OK;
	if (error == NTRACE_ERR_IO && (errno == EACCES || errno == EPERM))
		return fail("the kernel's code cannot be copied from /proc/kcore: needs root, or "
			    "CAP_SYSLOG and CAP_SYS_RAWIO");
	if (error == NTRACE_ERR_IO && errno == ENOSPC)
		return fail("%s: disk full", recorder->directory);
	return fail("copying the kernel's code from /proc/kcore: %s", error_text(error));
}

static int sideband_start(struct recorder *recorder)
{
	char *path;
	int error;

	if (asprintf(&path, "%s/data", recorder->directory) < 0)
		return fail("out of memory");
	error = sideband_open(&recorder->sideband, path, recorder->options.values);
	free(path);
	return error ? error : sideband_keep(recorder->sideband, recorder->directory);
}

/*
 * Tasks that already run, as far as they are traced. Nothing is traced of the command before its exec: its
 * process is a copy of the recorder until then.
 */
static int save_tasks(struct recorder *recorder)
{
	const struct id_list *pids = &recorder->options.pids, *tids = &recorder->options.tids;
	int error = EXIT_OK;

	if (recorder->tasks.child)
		return EXIT_OK;
	if (!recorder->by_tasks || !(pids->count + tids->count))
		return sideband_tasks(recorder->sideband, 0);
	for (unsigned int i = 0; !error && i < pids->count; i++)
		error = sideband_tasks(recorder->sideband, pids->ids[i]);
	for (unsigned int i = 0; !error && i < tids->count; i++)
		error = sideband_tasks(recorder->sideband, tids->ids[i]);
	return error;
}

/* Saves the state before the events were opened: code and tasks. */
static int save_past(struct recorder *recorder)
{
	char *path;
	int error = copy_kernel(recorder, NTRACE_RECORDING_START);

	if (!error && asprintf(&path, "%s/images/kallsyms", recorder->directory) < 0)
		error = fail("out of memory");
	if (error)
		return error;
	if (with_kernel(recorder))
		error = sideband_kernel(recorder->sideband, path);
	free(path);
	if (!error)
		error = save_tasks(recorder);
	if (!error && ntrace_recording_copy_vdso(recorder->directory) == NTRACE_ERR_IO)
		error = fail("%s: copying the vDSO: %s", recorder->directory, strerror(errno));
	return error;
}

/* Everything up to the point where the trace can start. The order is that of recording.h. */
static int prepare_devices(struct recorder *recorder)
{
	struct device_list *list = &recorder->list;
	uint64_t memory = spool_memory();
	unsigned int i;
	int error;

	if (recorder->options.hold) {
		error = hold_open(&recorder->hold, list);
		if (error)
			return error;
	}
	for (i = 0; i < list->count; i++) {
		list->devices[i].notify = recorder->notify;
		if (recorder->live) {
			device_keep_for_live(&list->devices[i], i);
			continue;
		}
		error = device_save_to(&list->devices[i], recorder->directory, i,
				       recorder->options.compress, memory / list->count);
		if (error)
			return error;
	}
	error = sideband_start(recorder);
	if (!error)
		error = sideband_cpus(recorder->sideband);
	if (!error)
		error = save_past(recorder);
	if (!error && recorder->options.argc)
		error = child_fork(&recorder->child, recorder->options.argv);
	if (!error && recorder->hold.pid)
		error = hold_add(&recorder->hold, recorder->child.pid);
	/* Decoding needs to know the streams. */
	if (!error && recorder->live)
		error = record_params_write(&recorder->options, list, &recorder->tasks, false);
	if (!error && recorder->live)
		error = live_open(recorder->live, list, recorder->sideband, recorder->notify);
	return error;
}

/* The command's events are opened before its exec and start with it. */
static int prepare_tasks(struct recorder *recorder)
{
	const struct record_options *options = &recorder->options;
	bool others = options->pids.count || options->tids.count;
	int error = EXIT_OK;

	if (options->argc)
		error = child_fork(&recorder->child, options->argv);
	if (!error)
		error = sideband_start(recorder);
	if (!error)
		error = tasks_open(&recorder->tasks, options, recorder->sideband,
				   others ? 0 : recorder->child.pid, recorder->again);
	recorder->unfiltered = recorder->tasks.unfiltered;
	if (!error && recorder->unfiltered && !recorder->again)
		record_privilege_warn();
	if (!error && recorder->watch.open)
		error = recorder->watch.open(recorder, recorder->watch.data);
	return error ? error : save_past(recorder);
}

static int prepare(struct recorder *recorder)
{
	int error = recorder->again ? EXIT_OK :
				      recording_make(recorder->directory, &recorder->kept);

	if (error)
		return error;
	recorder->made = !recorder->again;
	error = recording_reserve(recorder->directory);
	if (error)
		return error;
	return recorder->by_tasks ? prepare_tasks(recorder) : prepare_devices(recorder);
}

static int start(struct recorder *recorder)
{
	struct device_list *list = &recorder->list;
	unsigned int i;
	int error = EXIT_OK;

	if (recorder->by_tasks && !recorder->tasks.child)
		tasks_enable(&recorder->tasks);
	if (!recorder->by_tasks)
		error = sideband_enable_values(recorder->sideband, true);
	for (i = 0; !error && i < list->count; i++)
		error = device_start(&list->devices[i]);
	if (!error && recorder->live)
		error = live_start(recorder->live);
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
		if (info.ssi_signo == SIGUSR2) {
			recorder->snapshot = true;
			continue;
		}
		end = true;
		recorder->interrupted = true;
		/* The terminal signals the command as well; a second signal is harmless. */
		if (recorder->child.pid > 0 && !child_ended(&recorder->child))
			kill(recorder->child.pid, SIGTERM);
	}
	return end;
}

/* Stops polling events of ended tasks. Return: number of remaining ones. */
static unsigned int drop_ended(struct pollfd *pollers, unsigned int count)
{
	unsigned int going = 0, i;

	for (i = 0; i < count; i++) {
		if (pollers[i].revents & POLLHUP)
			pollers[i].fd = -1;
		going += pollers[i].fd >= 0;
	}
	return going;
}

/* Order: signals, errors of saving threads, the caller's, the decoders', the holder's, the sideband's. */
static struct pollfd *make_pollers(const struct recorder *recorder, unsigned int *first,
				   unsigned int *count)
{
	unsigned int sidebands, next, i;
	struct pollfd *pollers;
	const int *fds;

	sidebands = sideband_fds(recorder->sideband, &fds);
	*first = 2 + recorder->watch.count + (recorder->live != NULL) + (recorder->hold.pid > 0);
	*count = *first + sidebands;
	pollers = calloc(*count, sizeof(*pollers));
	if (!pollers)
		return NULL;
	pollers[0] = (struct pollfd){ .fd = recorder->signals, .events = POLLIN };
	pollers[1] = (struct pollfd){ .fd = recorder->notify, .events = POLLIN };
	for (i = 0; i < recorder->watch.count; i++)
		pollers[2 + i] = (struct pollfd){ .fd = recorder->watch.fds[i], .events = POLLIN };
	next = 2 + recorder->watch.count;
	if (recorder->live)
		pollers[next++] =
			(struct pollfd){ .fd = live_fd(recorder->live), .events = POLLIN };
	if (recorder->hold.pid)
		pollers[next++] = (struct pollfd){ .fd = recorder->hold.socket, .events = POLLIN };
	for (i = 0; i < sidebands; i++)
		pollers[*first + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	return pollers;
}

/* Timeout in milliseconds; 0: the time limit is reached. */
static int patience(const struct recorder *recorder)
{
	double left;

	if (!recorder->limit)
		return SIDEBAND_MS;
	left = (recorder->seconds + recorder->limit - monotonic_seconds()) * 1000;
	if (left <= 0)
		return 0;
	return left < SIDEBAND_MS ? (int)left + 1 : SIDEBAND_MS;
}

static int write_params(const struct recorder *recorder, bool unfinished)
{
	return record_params_write(&recorder->options, &recorder->list, &recorder->tasks,
				   unfinished);
}

/*
 * Writes what is left of the recording if the recorder is killed. The trace in the file is never
 * ahead of the sideband, which tells whose it is.
 */
static int write_ahead(struct recorder *recorder, bool *end)
{
	struct device_list *list = &recorder->list;
	unsigned int i;
	int error;

	for (i = 0; i < list->count; i++)
		device_mark_ahead(&list->devices[i]);
	error = sideband_save(recorder->sideband);
	/* device_save_finish() reports errors of files. */
	for (i = 0; i < list->count; i++)
		*end |= device_write_ahead(&list->devices[i]) != 0;
	tasks_start_sync(&recorder->tasks);
	return error;
}

/* Handles one round. Return: exit status; *@end: it is the last one */
static int take_round(struct recorder *recorder, bool *end)
{
	int error = hold_check(&recorder->hold);

	if (!error && recorder->watch.step)
		error = recorder->watch.step(recorder, recorder->watch.data, end);
	if (!error && recorder->snapshot)
		error = tasks_snapshot(&recorder->tasks);
	if (!error && recorder->snapshot)
		error = write_params(recorder, true);
	recorder->snapshot = false;
	if (error)
		return error;
	if (recorder->live)
		return live_round(recorder->live, recorder->sideband);
	if (recorder->by_tasks)
		error = tasks_drain(&recorder->tasks);
	else
		error = sideband_drain(recorder->sideband);
	if (!error && !recorder->temporary &&
	    monotonic_seconds() - recorder->ahead >= AHEAD_SECONDS) {
		error = write_ahead(recorder, end);
		recorder->ahead = monotonic_seconds();
	}
	return error;
}

static int run_child(struct recorder *recorder)
{
	const char *name = recorder->options.argv[0];
	int error = child_go(&recorder->child, name);
	bool end = false;

	/* It may be held before its exec, until the trace so far has been decoded. */
	while (!error && recorder->hold.pid && !child_tried(&recorder->child, EXEC_MS))
		error = take_round(recorder, &end);
	return error ? error : child_started(&recorder->child, name);
}

/* Runs until the command or all tasks end, a signal, the time limit, or a failed write. */
static int follow(struct recorder *recorder)
{
	unsigned int first, count;
	struct pollfd *pollers = make_pollers(recorder, &first, &count);
	bool end = false;
	int error = EXIT_OK, wait;

	if (!pollers)
		return fail("out of memory");
	error = take_round(recorder, &end);
	while (!end && !error) {
		wait = patience(recorder);
		if (poll(pollers, count, wait) < 0 && errno != EINTR)
			error = fail("poll: %s", strerror(errno));
		end = take_signals(recorder) || pollers[1].revents || !wait;
		if (!drop_ended(pollers + first, count - first) && !recorder->child.pid) {
			recorder->all_ended = true;
			end = true;
		}
		if (!error)
			error = take_round(recorder, &end);
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
	failed = sideband_enable_values(recorder->sideband, false);
	error = error ? error : failed;
	/* Before the rest is decoded, which may take long; no trace is made any more. */
	failed = hold_close(&recorder->hold);
	error = error ? error : failed;
	if (recorder->live)
		error = live_finish(recorder->live, recorder->sideband, error);
	for (i = 0; i < list->count; i++) {
		/* A full disk affects all devices: report it once. */
		failed = device_save_finish(&list->devices[i], quiet || error);
		error = error ? error : failed;
	}
	return error;
}

static void summarize(struct recorder *recorder, uint64_t sideband_lost)
{
	const struct device_list *list = &recorder->list;
	uint64_t saved = 0, written = 0;
	char size[UI_NUMBER_SIZE], packed[UI_NUMBER_SIZE + 32] = "", *word;
	unsigned int i;
	bool lossy;

	for (i = 0; i < recorder->tasks.file_count; i++) {
		saved += recorder->tasks.files[i].output.saved;
		written += recorder->tasks.files[i].output.written;
	}
	for (i = 0; i < list->count; i++) {
		if (!list->devices[i].leader) {
			saved += list->devices[i].saved;
			written += list->devices[i].output.written;
		}
	}
	lossy = record_params_losses(list, &recorder->tasks) || sideband_lost;
	if (sideband_lost)
		warn("%" PRIu64
		     " sideband records lost: some code may be attributed to the wrong process%s",
		     sideband_lost,
		     recorder->options.values ? ", and registers of system calls are missing" : "");
	recorder->saved = saved;
	if (recorder->options.compress)
		snprintf(packed, sizeof(packed), " (%s compressed)", ui_size(size, written));
	if (recorder->live)
		return;
	word = ui_word(recorder->directory);
	if (!recorder->options.quiet && !recorder->no_summary)
		say("%s of trace%s from %u %s%s in %.1f s, %s: 'ntrace report %s' shows it",
		    ui_size(size, saved), packed,
		    recorder->by_tasks ? recorder->tasks.area_count : list->count,
		    recorder->options.per_thread ? "threads" : "CPUs",
		    recorder->by_tasks && !with_kernel(recorder) ? ", user space only," : "",
		    recorder->seconds,
		    lossy		 ? "with losses" :
		    recorder->unfiltered ? "no trace lost, with firmware" :
					   "nothing lost",
		    word ? word : recorder->directory);
	free(word);
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
	/* Only now the times of the start are known. */
	if (!error && !recorder->live && !recorder->temporary)
		error = write_params(recorder, true);
	recorder->ahead = recorder->seconds;
	if (!error && recorder->child.pid > 0)
		error = run_child(recorder);
	if (!error)
		error = follow(recorder);
	recorder->seconds = monotonic_seconds() - recorder->seconds;
	failed = recorder->by_tasks ? tasks_finish(&recorder->tasks) :
				      finish_devices(recorder, error != EXIT_OK);
	error = error ? error : failed;
	failed = recording_release(recorder->directory);
	error = error ? error : failed;
	if (!recorder->traced || recorder->live || failed)
		return error;
	/* Keep the trace recorded so far, whatever failed. */
	failed = copy_kernel(recorder, NTRACE_RECORDING_END);
	error = error ? error : failed;
	failed = write_params(recorder, false);
	return error ? error : failed;
}

static int end(struct recorder *recorder, int error)
{
	int failed;

	/* Does nothing unless preparations have failed. */
	hold_close(&recorder->hold);
	failed = sideband_close(recorder->sideband, recorder->options.argc, recorder->options.argv,
				&recorder->sideband_lost);
	error = error ? error : failed;
	if (!error && !recorder->brief)
		summarize(recorder, recorder->sideband_lost);
	devices_close(&recorder->list);
	tasks_close(&recorder->tasks);
	if (recorder->made && !recorder->traced)
		recording_discard(recorder->directory, recorder->kept);
	close(recorder->notify);
	return error;
}

int recorder_run(struct recorder *recorder)
{
	int error = EXIT_OK;

	recorder->directory = recorder->options.directory;
	recorder->by_tasks = !record_options_cpus(&recorder->options);
	recorder->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (recorder->notify < 0)
		return fail("eventfd: %s", strerror(errno));
	if (!recorder->by_tasks)
		error = configure(recorder);
	if (!error)
		return end(recorder, record(recorder));
	devices_close(&recorder->list);
	close(recorder->notify);
	return error;
}

int recorder_wait(struct recorder *recorder, int error)
{
	sigset_t none;
	int status;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!recorder->child.pid)
		return error;
	status = child_wait(&recorder->child);
	return error ? error : status;
}
