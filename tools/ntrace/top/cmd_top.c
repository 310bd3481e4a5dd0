// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace top: live profile.
 *
 * A CPU produces more trace in a second than it can decode in a minute. So a small share of the
 * time is traced, decoded and shown, repeatedly. Each window is a recording like those of
 * `ntrace record`, in a directory that the next window reuses. Within a window every instruction
 * is counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/command.h"
#include "common/input.h"
#include "common/ui.h"
#include "record/directory.h"
#include "record/options.h"
#include "record/recorder.h"
#include "top.h"

#define DELAY_DEFAULT 2.0
#define SHARE_DEFAULT 1.0
#define LIMIT_DEFAULT 40
/* Strobing: short periods catch short events but leave the CPU time to settle. */
#define STROBE_PERIOD_US 20000
#define STROBE_MIN_US 20
/* Limit of a window: it has to fit into memory. */
#define WINDOW_MAX 1.0

enum {
	OPTION_DELAY = 'd',
	OPTION_ITERATIONS = 'n',
	OPTION_SORT = 's',
	OPTION_LIMIT = 'l',
	OPTION_SHARE = OPTION_RECORD_END,
	OPTION_BATCH,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_ALL, "all", NULL, "trace all CPUs (default)" },
	{ OPTION_CPU, "cpu", "LIST", "trace only these CPUs, e.g. 0,2-3" },
	{ OPTION_PID, "pid", "LIST", "trace these processes and their children" },
	{ OPTION_PRIVILEGE, "privilege", "LETTERS",
	  "privileges to trace: any of u, s, m, vu, vs (default us)" },
	{ OPTION_DELAY, "delay", "SECONDS", "time between windows (default 2)" },
	{ OPTION_ITERATIONS, "iterations", "N", "end after N pictures" },
	{ OPTION_SHARE, "share", "PERCENT", "largest traced share of the time (default 1)" },
	{ OPTION_SORT, "sort", "KEY", "instructions (default) or calls" },
	{ OPTION_LIMIT, "limit", "N", "show the first N functions; 0 = all (default 40)" },
	{ OPTION_BATCH, "batch", NULL, "print windows one below the other, as without a terminal" },
	{ OPTION_JSON, "json", NULL, "print a JSON object in a line for each window" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct top - state of the command
 * @base: temporary directory; "" = not created yet
 * @directory: the recording in it
 * @last_end: end of the last window
 * @window: the window shown; its profile is valid after the first one
 */
struct top {
	const struct command *command;
	struct record_options options;
	struct top_screen screen;
	struct output *output;
	char base[256];
	char directory[280];
	double delay;
	double share;
	double last_end;
	uint64_t iterations;
	size_t limit;
	int signals;
	bool by_calls;
	bool batch;
	bool json;
	bool paused;
	bool quit;
	struct top_window window;
};

/* ---- options ---- */

static int take_option(void *data, struct options *options, int option)
{
	struct top *top = data;
	uint64_t number;

	switch (option) {
	case OPTION_DELAY:
		return option_real(options, "delay", 0.05, 3600, &top->delay);
	case OPTION_SHARE:
		return option_real(options, "share", 0.001, 100, &top->share);
	case OPTION_ITERATIONS:
		return option_number(options, "iterations", 1, UINT64_MAX, &top->iterations) ?
			       EXIT_OK :
			       EXIT_USAGE;
	case OPTION_LIMIT:
		if (!option_number(options, "limit", 0, SIZE_MAX, &number))
			return EXIT_USAGE;
		top->limit = number;
		return EXIT_OK;
	case OPTION_SORT:
		top->by_calls = !strcmp(options->value, "calls");
		if (!top->by_calls && strcmp(options->value, "instructions") != 0)
			return usage_error(top->command,
					   "option --sort: '%s' is neither instructions nor calls",
					   options->value);
		return EXIT_OK;
	case OPTION_BATCH:
		top->batch = true;
		return EXIT_OK;
	case OPTION_JSON:
		top->json = true;
		return EXIT_OK;
	default:
		return RECORD_OPTION_OTHER;
	}
}

static int read_options(struct top *top, int argc, char **argv)
{
	struct record_options *options = &top->options;
	int error;

	error = record_options_read(options, top->command, argc, argv, take_option, top);
	if (error)
		return error;
	if (options->argc)
		return usage_error(top->command, "'%s': use 'ntrace record' to trace a command",
				   options->argv[0]);
	if (!options->pids.count && !options->select_cpus)
		options->all = true;
	return EXIT_OK;
}

/* ---- keys and signals ---- */

static int draw(struct top *top)
{
	int error;

	if (!top->window.number)
		return EXIT_OK;
	top->window.functions = ntrace_profile_functions(
		top->window.profile,
		top->by_calls ? NTRACE_PROFILE_BY_CALLS : NTRACE_PROFILE_BY_INSTRUCTIONS,
		&top->window.function_count);
	error = top->json ? top_json(top->output, &top->window, top->limit) :
			    top_show(&top->screen, &top->window,
				     top->screen.active ? 0 : top->limit, top->paused);
	/* A reader that closed the pipe is not an error. */
	return error ? EXIT_FAILED : EXIT_OK;
}

/* Handles the keys typed since the last call. Return: exit status */
static int take_keys(struct top *top)
{
	bool changed = false;
	int key;

	while ((key = top_screen_key(&top->screen)) != 0) {
		top->quit |= key == 'q';
		top->paused ^= key == 'p' || key == ' ';
		if (key == 'i' || key == 'c')
			top->by_calls = key == 'c';
		changed = true;
	}
	return changed && !top->quit ? draw(top) : EXIT_OK;
}

/* Keys pressed while the trace runs. */
static int step(struct recorder *recorder, void *data, bool *end)
{
	struct top *top = data;
	int error = take_keys(top);

	(void)recorder;
	*end |= top->quit;
	return error;
}

/* Waits until @until, or indefinitely while paused. */
static int rest(struct top *top, double until)
{
	struct pollfd pollers[] = {
		{ .fd = top->signals, .events = POLLIN },
		{ .fd = top->screen.keys ? STDIN_FILENO : -1, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	double left;
	int error = EXIT_OK;

	for (;;) {
		left = until - monotonic_seconds();
		if (error || top->quit || (left <= 0 && !top->paused))
			return error;
		if (poll(pollers, 2, top->paused ? -1 : (int)(left * 1e3) + 1) < 0 &&
		    errno != EINTR)
			return fail("poll: %s", strerror(errno));
		while (read(top->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			top->quit |= info.ssi_signo != SIGCHLD;
		error = take_keys(top);
		if (pollers[1].revents & (POLLHUP | POLLERR))
			pollers[1].fd = -1;
	}
}

/* ---- a window ---- */

/* Length of the traced time; per-process tracing strobes the hardware instead. */
static double plan(struct top *top, struct recorder *recorder)
{
	double share = top->share, on = STROBE_PERIOD_US * share / 100, window;

	if (recorder->options.pids.count) {
		if (on < STROBE_MIN_US)
			on = STROBE_MIN_US;
		if (share < 99.5) {
			recorder->options.strobe_on = (uint32_t)on;
			recorder->options.strobe_off = (uint32_t)(on * (100 - share) / share);
		}
		/* At least one whole period, or the window might be empty. */
		window = (on + recorder->options.strobe_off) * 1e-6;
		return window > top->delay ? window : top->delay;
	}
	window = top->delay * share / 100;
	return window < WINDOW_MAX ? window : WINDOW_MAX;
}

static int capture(struct top *top)
{
	const int keys = STDIN_FILENO;
	struct recorder recorder = RECORDER_INIT;
	struct top_window *window = &top->window;
	double end;
	int error;

	recorder.options = top->options;
	recorder.options.directory = top->directory;
	recorder.signals = top->signals;
	recorder.brief = true;
	recorder.temporary = true;
	recorder.again = window->number;
	recorder.limit = plan(top, &recorder);
	recorder.watch.step = step;
	recorder.watch.data = top;
	if (top->screen.keys) {
		recorder.watch.fds = &keys;
		recorder.watch.count = 1;
	}
	error = recorder_run(&recorder);
	end = monotonic_seconds();
	top->quit |= recorder.interrupted || recorder.all_ended;
	window->interval = end - top->last_end;
	top->last_end = end;
	window->traced = recorder.seconds;
	if (recorder.options.strobe_on)
		window->traced *= recorder.options.strobe_on / ((double)recorder.options.strobe_on +
								recorder.options.strobe_off);
	return error;
}

static void take_note(void *data, const char *text)
{
	struct top_window *window = data;

	if (!*window->note)
		snprintf(window->note, sizeof(window->note), "%s", text);
}

/* Adds the properties of the streams; system-wide streams know exactly when they were traced. */
static void add_stream(struct top_window *window, const struct ntrace_session *session,
		       unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(session, index);

	if (!recording_shares_file(session, index)) {
		window->bytes += stream->bytes;
		ntrace_stream_add_losses(&window->losses, stream);
	}
	if (stream->event)
		return;
	if (!window->cpus++)
		window->traced = 0;
	if (stream->stop_ns > stream->start_ns)
		window->traced += (double)(stream->stop_ns - stream->start_ns) * 1e-9;
}

static int decode(struct top *top)
{
	struct top_window *window = &top->window;
	struct ntrace_session_options options = {
		.size = sizeof(options),
		.note = take_note,
		.note_data = window,
	};
	const struct ntrace_profile_options wanted = {
		.size = sizeof(wanted),
		.parts = NTRACE_PROFILE_FUNCTIONS,
		.by_process = true,
	};
	struct ntrace_decode_options decoding = {
		.size = sizeof(decoding),
		.event = ntrace_profile_event,
		.segment = ntrace_profile_segment,
	};
	struct ntrace_session *session;
	double start = monotonic_seconds();
	unsigned int i;
	int error;

	ntrace_profile_free(window->profile);
	window->profile = NULL;
	if (ntrace_profile_new(&window->profile, &wanted))
		return fail("out of memory");
	window->cpus = 0;
	window->bytes = 0;
	window->losses = (struct ntrace_stream){
		.cpu = NTRACE_STREAM_NO_CPU,
		.lost_exact = true,
	};
	window->note[0] = '\0';
	error = ntrace_session_open(&session, top->directory, &options);
	if (error)
		return fail("decoding: %s", *window->note ? window->note : ntrace_strerror(error));
	for (i = 0; !error && i < ntrace_session_streams(session); i++) {
		add_stream(window, session, i);
		decoding.data = window->profile;
		decoding.stream = i;
		error = ntrace_session_decode(session, &decoding);
		if (!error)
			error = ntrace_profile_end(window->profile);
	}
	ntrace_session_close(session);
	if (window->cpus)
		window->traced /= window->cpus;
	window->decoding = monotonic_seconds() - start;
	return error ? fail("decoding: %s", ntrace_strerror(error)) : EXIT_OK;
}

/* Decoding takes at most half of the time; otherwise windows become less frequent. */
static double next_begin(const struct top *top, double begin)
{
	double now = monotonic_seconds();

	return begin + top->delay > now + top->window.decoding ? begin + top->delay :
								 now + top->window.decoding;
}

static int run_windows(struct top *top)
{
	double begin;
	int error = EXIT_OK;

	while (!error && !top->quit) {
		begin = monotonic_seconds();
		/* The first time it is an error, which the recorder prints. */
		if (top->window.number && !record_options_still_there(&top->options))
			return EXIT_OK;
		error = capture(top);
		/* Between the check and the start, or as a zombie, which the check takes for alive. */
		if (error == TASKS_ENDED)
			return EXIT_OK;
		if (!error) {
			top->window.number++;
			error = decode(top);
		}
		if (!error)
			error = draw(top);
		if (top->iterations && top->window.number >= top->iterations)
			return error;
		if (!error)
			error = rest(top, next_begin(top, begin));
	}
	return error;
}

static int make_directory(struct top *top)
{
	int error = temporary_make(top->base, sizeof(top->base), "ntrace-top");

	if (!error)
		snprintf(top->directory, sizeof(top->directory), "%s/window", top->base);
	return error;
}

static int run_top(struct top *top)
{
	struct recorder recorder = RECORDER_INIT;
	int error = make_directory(top);

	if (!error)
		error = recorder_signals(&recorder);
	if (error)
		return error;
	top->signals = recorder.signals;
	top->last_end = monotonic_seconds();
	top_screen_open(&top->screen, top->output, top->batch || top->json);
	error = run_windows(top);
	top_screen_close(&top->screen);
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct top top;
	int error;

	top.command = command;
	top.output = &output;
	top.delay = DELAY_DEFAULT;
	top.share = SHARE_DEFAULT;
	top.limit = LIMIT_DEFAULT;
	output_init(&output, STDOUT_FILENO);
	error = read_options(&top, argc, argv);
	if (error == OPTIONS_HELP)
		error = EXIT_OK;
	else if (!error)
		error = run_top(&top);
	error = output_finish(&output, error);
	if (*top.base) {
		recording_discard(top.directory, false);
		rmdir(top.base);
	}
	ntrace_profile_free(top.window.profile);
	record_options_free(&top.options);
	return error;
}

const struct command command_top = {
	.name = "top",
	.summary = "live: functions by executed instructions",
	.usage = "[OPTIONS]",
	.details =
		"On the machine that has the trace hardware: a share of the time is traced, "
		"decoded and\n"
		"shown, again and again. Within it every instruction is counted, nothing is "
		"sampled; the\n"
		"first lines say how much of the time it was and what was lost. CPUs are traced in "
		"one\n"
		"piece for each picture, processes in pieces of some microseconds all the time. "
		"Pictures\n"
		"are less frequent if decoding takes longer.\n\n"
		"keys: q quits, p pauses, i sorts by instructions, c by calls\n\n"
		"exit status: 0, also when the processes have ended; 1 if tracing failed.\n\n"
		"examples:\n"
		"  ntrace top\n"
		"  ntrace top -p 1234 --share 10\n"
		"  ntrace top -C 0 --batch -d 1 -n 5\n"
		"  ntrace top --json -n 1 --limit 0 | jq '.functions[0]'\n",
	.options = options_table,
	.run = run,
};
