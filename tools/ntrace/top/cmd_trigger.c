// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace trigger: saves the trace before an event.
 *
 * Tasks are traced into ring buffers. At an event tracing stops, and the contents of the buffers
 * become an ordinary recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ui.h"
#include "record/child.h"
#include "record/filter.h"
#include "record/options.h"
#include "record/recorder.h"
#include "record/tasks.h"
#include "trigger.h"

/* Calls that have not returned; longjmp leaves stale ones. */
#define CALLS_MAX 4096
/* Wait this many times 50 microseconds for hits that are too new to report. */
#define TRIES 20

enum {
	OPTION_CALL = 'c',
	OPTION_SIGNAL = 's',
	OPTION_COUNT = 'n',
	OPTION_OVER = OPTION_RECORD_END,
};

static const struct option_spec options_table[] = {
	{ OPTION_CALL, "call", "FUNCTION[@FILE]", "when it is called; FILE: default the program" },
	{ OPTION_OVER, "over", "TIME", "of --call: when a call takes longer, e.g. 5ms, 200us" },
	{ OPTION_SIGNAL, "signal", "NAME", "when it gets this signal, e.g. SEGV" },
	{ OPTION_COUNT, "count", "N", "end after N dumps (default 1); 0 = with the program" },
	{ OPTION_OUTPUT, "output", "DIR",
	  "directory of the recording (default " RECORD_DIRECTORY_DEFAULT ")" },
	{ OPTION_PID, "pid", "LIST", "trace these processes and their children" },
	{ OPTION_TID, "tid", "LIST", "trace these threads and their children" },
	{ OPTION_AUX_SIZE, "aux-size", "SIZE",
	  "trace buffer per CPU (default 4M): limits the length of a dump" },
	{ OPTION_PRIVILEGE, "privilege", "LETTERS", "privileges to trace: u, s (default us)" },
	{ OPTION_MODE, "mode", "btm|htm",
	  "branch or history trace mode (default: htm if supported)" },
	{ OPTION_SYNC, "sync", "KIND[:N]", "synchronize every N messages, cycles or parcels" },
	{ OPTION_TIMESTAMPS, "timestamps", "KIND[:N]",
	  "timestamps: any, external, system, core or shared; every N ticks" },
	{ OPTION_QUIET, "quiet", NULL, "no summary" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/* A call that has not returned. */
struct call {
	pid_t tid;
	uint64_t time;
};

/**
 * struct waiting - state of the command
 * @call: FUNCTION[@FILE] as typed; NULL = none
 * @function: the function of @call
 * @over_ns: only calls longer than this; 0 = all
 * @count: dumps to make, 0 = any number
 * @dumps: made
 * @longest_ns: duration of the longest call
 * @fast: at real-time priority
 * @begun: the message that tracing has started was printed
 */
struct waiting {
	const struct command *command;
	struct recorder recorder;
	struct trigger *trigger;
	struct trigger_request request;
	const char *call;
	const char *signal;
	char *function;
	char *file;
	uint64_t over_ns;
	uint64_t count;
	uint64_t dumps;
	uint64_t calls_seen;
	uint64_t longest_ns;
	struct call calls[CALLS_MAX];
	unsigned int call_count;
	int tid;		/* thread of the last event, 0 = none */
	bool fast;
	bool begun;
};

/* ---- options ---- */

/* "5ms" */
static int take_time(struct waiting *waiting, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double value, ns = 0;
	const char *end;
	size_t i;
	bool good = real_parse(text, &end, &value);

	for (i = 0; good && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name))
			ns = value * units[i].ns;
	if (ns < 1 || ns > 3600e9)
		return usage_error(waiting->command,
				   "option --over: '%s' is not a time like 5ms, 200us or 1s", text);
	waiting->over_ns = (uint64_t)ns;
	return EXIT_OK;
}

/* "SEGV", "SIGSEGV", "11" */
static int take_signal(struct waiting *waiting, const char *text)
{
	const char *name = strncmp(text, "SIG", 3) ? text : text + 3, *known;
	uint64_t given;
	const char *end;
	int number;

	if (!number_parse(text, &end, 10, &given) || *end)
		given = 0;
	for (number = 1; number < NSIG; number++) {
		known = sigabbrev_np(number);
		if ((known && !strcmp(known, name)) || given == (uint64_t)number)
			break;
	}
	if (number == NSIG)
		return usage_error(waiting->command, "option --signal: '%s' is not a signal", text);
	waiting->signal = text;
	waiting->request.signal = number;
	return EXIT_OK;
}

static int take_option(void *data, struct options *options, int option)
{
	struct waiting *waiting = data;

	switch (option) {
	case OPTION_CALL:
		waiting->call = options->value;
		return EXIT_OK;
	case OPTION_OVER:
		return take_time(waiting, options->value);
	case OPTION_SIGNAL:
		return take_signal(waiting, options->value);
	case OPTION_COUNT:
		return option_number(options, "count", 0, UINT64_MAX, &waiting->count) ? EXIT_OK :
											 EXIT_USAGE;
	default:
		return RECORD_OPTION_OTHER;
	}
}

/* Without FILE: the process's program, or the command if given by its path. */
static int find_program(struct waiting *waiting)
{
	const struct record_options *options = &waiting->recorder.options;
	pid_t pid = options->pids.count ? options->pids.ids[0] : 0;
	char path[64];

	if (!pid && options->tids.count)
		pid = options->tids.ids[0];
	if (!pid && !strchr(options->argv[0], '/'))
		return usage_error(waiting->command,
				   "option --call: in which file is '%s'? %s@FILE", waiting->call,
				   waiting->call);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	waiting->file = realpath(pid ? path : options->argv[0], NULL);
	return waiting->file ? EXIT_OK :
			       fail("%s: %s", pid ? path : options->argv[0], strerror(errno));
}

static int find_function(struct waiting *waiting)
{
	const char *at = strrchr(waiting->call, '@');
	uint64_t offset = 0;
	int error = EXIT_OK;

	waiting->function = at ? strndup(waiting->call, (size_t)(at - waiting->call)) :
				 strdup(waiting->call);
	if (!waiting->function)
		return fail("out of memory");
	if (!*waiting->function || (at && !at[1]))
		return usage_error(waiting->command, "option --call: '%s' is not FUNCTION@FILE",
				   waiting->call);
	if (!at)
		error = find_program(waiting);
	else if (!(waiting->file = realpath(at + 1, NULL)))
		error = fail("%s: %s", at + 1, strerror(errno));
	if (error)
		return error;
	error = record_filter_find(waiting->file, waiting->function, &offset);
	waiting->request.file = waiting->file;
	waiting->request.offset = offset;
	waiting->request.returns = waiting->over_ns;
	return error;
}

static int read_options(struct waiting *waiting, int argc, char **argv)
{
	struct record_options *options = &waiting->recorder.options;
	int error;

	error = record_options_read(options, waiting->command, argc, argv, take_option, waiting);
	if (error)
		return error;
	if (!record_options_any(options))
		return usage_error(waiting->command,
				   "no command to trace, and no process (--pid, --tid)");
	if (waiting->over_ns && !waiting->call)
		return usage_error(waiting->command, "--over needs --call");
	if (options->sync_given && !options->wanted.sync_mode)
		return usage_error(waiting->command,
				   "decoding cannot start without synchronization (--sync)");
	options->snapshot = true;
	if (options->argc)
		error = command_find(options->argv[0]);
	return !error && waiting->call ? find_function(waiting) : error;
}

/* ---- while it runs ---- */

static int open_trigger(struct recorder *recorder, void *data)
{
	struct waiting *waiting = data;
	int error;

	if (!waiting->request.file && !waiting->request.signal)
		return EXIT_OK;
	error = trigger_open(&waiting->trigger, &waiting->request);
	if (!error)
		recorder->watch.count = trigger_fds(waiting->trigger, &recorder->watch.fds);
	return error;
}

static double since_ms(uint64_t time)
{
	return (double)((int64_t)monotonic_ns() - (int64_t)time) * 1e-6;
}

/* Starts a call. The oldest entries are calls left by longjmp. */
static void begin_call(struct waiting *waiting, const struct trigger_hit *hit)
{
	if (waiting->call_count == CALLS_MAX)
		memmove(waiting->calls, waiting->calls + 1,
			--waiting->call_count * sizeof(*waiting->calls));
	waiting->calls[waiting->call_count++] = (struct call){ hit->tid, hit->time };
}

/* Ends a call. Return: its duration in nanoseconds; 0 = unknown start */
static uint64_t end_call(struct waiting *waiting, const struct trigger_hit *hit)
{
	unsigned int i = waiting->call_count;
	uint64_t time;

	while (i && waiting->calls[i - 1].tid != hit->tid)
		i--;
	if (!i)
		return 0;
	time = hit->time - waiting->calls[i - 1].time;
	waiting->call_count--;
	memmove(waiting->calls + i - 1, waiting->calls + i,
		(waiting->call_count - (i - 1)) * sizeof(*waiting->calls));
	if (time > waiting->longest_ns)
		waiting->longest_ns = time;
	return time;
}

/* Return: true if this hit triggers a dump; *@took: duration of the call in nanoseconds */
static bool judge(struct waiting *waiting, const struct trigger_hit *hit, uint64_t *took)
{
	*took = 0;
	if (hit->kind == TRIGGER_SIGNAL)
		return true;
	if (hit->kind == TRIGGER_CALL) {
		waiting->calls_seen++;
		if (waiting->over_ns)
			begin_call(waiting, hit);
		return !waiting->over_ns;
	}
	*took = end_call(waiting, hit);
	return *took > waiting->over_ns;
}

static void tell(const struct waiting *waiting, const struct trigger_hit *hit, uint64_t took,
		 double delay)
{
	char what[300];

	if (waiting->recorder.options.quiet)
		return;
	if (hit->kind == TRIGGER_SIGNAL)
		snprintf(what, sizeof(what), "signal %s", sigabbrev_np(waiting->request.signal));
	else if (took)
		snprintf(what, sizeof(what), "%.200s() took %.3f ms", waiting->function,
			 (double)took * 1e-6);
	else
		snprintf(what, sizeof(what), "%.200s() was called", waiting->function);
	say("%s in thread %d: the trace stopped %.3f ms later", what, hit->tid, delay);
}

/* Every delay overwrites older trace: use real-time priority if permitted. */
static void hurry(struct waiting *waiting, bool fast)
{
	struct sched_param priority = { .sched_priority = fast ? 2 : 0 };

	if (waiting->fast != fast)
		sched_setscheduler(0, fast ? SCHED_FIFO : SCHED_OTHER, &priority);
	waiting->fast = fast;
}

/* Tracing has stopped. The recorder saves the last dump when it ends. */
static void dump(struct waiting *waiting, bool *end)
{
	waiting->dumps++;
	if (waiting->count && waiting->dumps >= waiting->count)
		*end = true;
	waiting->recorder.snapshot = !*end;
	waiting->begun = false;
	hurry(waiting, !*end);
}

/* Prints a message at the start and after each dump, for users and for scripts that wait for it. */
static void begin(struct waiting *waiting)
{
	waiting->begun = true;
	if (!waiting->recorder.options.quiet)
		say("tracing; waiting for %s%s%s%s", waiting->call ? waiting->call : "",
		    waiting->call && waiting->signal ? " and " : "",
		    waiting->signal ? waiting->signal : "",
		    waiting->call || waiting->signal ? "" : "SIGUSR2");
}

static int step(struct recorder *recorder, void *data, bool *end)
{
	struct waiting *waiting = data;
	struct trigger_hit hit;
	uint64_t took;
	unsigned int i;

	if (!waiting->begun)
		begin(waiting);
	hurry(waiting, true);
	/* SIGUSR2 or an interrupt: stop without waiting for older hits. */
	if (recorder->snapshot || recorder->interrupted) {
		tasks_stop(&recorder->tasks);
		dump(waiting, end);
		return EXIT_OK;
	}
	for (i = 0; waiting->trigger && i < TRIES; i++) {
		while (trigger_next(waiting->trigger, &hit)) {
			if (!tasks_has(&recorder->tasks, hit.tid) || !judge(waiting, &hit, &took))
				continue;
			tasks_stop(&recorder->tasks);
			tell(waiting, &hit, took, since_ms(hit.time));
			waiting->tid = hit.tid;
			dump(waiting, end);
			return EXIT_OK;
		}
		if (!trigger_waiting(waiting->trigger))
			break;
		usleep(50);
	}
	return EXIT_OK;
}

/* ---- the end ---- */

static void summarize(const struct waiting *waiting)
{
	const char *directory = waiting->recorder.options.directory;
	char *quoted = ui_word(directory);
	const char *word = quoted ? quoted : directory;
	char size[UI_NUMBER_SIZE], thread[32] = "";
	uint64_t lost = waiting->trigger ? trigger_lost(waiting->trigger) : 0;

	if (lost)
		warn("%" PRIu64 " calls and signals were lost: they came too fast", lost);
	if (!waiting->dumps && waiting->over_ns)
		warn("no call of %s() took longer: %" PRIu64 " were seen, the longest took %.3f ms",
		     waiting->function, waiting->calls_seen, (double)waiting->longest_ns * 1e-6);
	else if (!waiting->dumps && waiting->call && !waiting->request.signal)
		warn("%s() was not called", waiting->function);
	else if (!waiting->dumps)
		warn("what was waited for did not come");
	if (!waiting->dumps)
		warn("%s has what came before the end", directory);
	else if (!waiting->recorder.options.quiet)
		say("%" PRIu64
		    " dump%s, %s: 'ntrace report %s' shows the functions, 'ntrace export "
		    "--format perfetto --output trace.pftrace %s' makes a timeline",
		    waiting->dumps, waiting->dumps == 1 ? "" : "s",
		    ui_size(size, waiting->recorder.saved), word, word);
	if (waiting->dumps && !waiting->recorder.options.quiet) {
		if (waiting->tid)
			snprintf(thread, sizeof(thread), " --thread %d", waiting->tid);
		say("'ntrace gdb --run%s %s' goes back from there in GDB", thread, word);
	}
	free(quoted);
}

static int run_trigger(struct waiting *waiting)
{
	struct recorder *recorder = &waiting->recorder;
	int error = recorder_signals(recorder);

	if (error)
		return error;
	recorder->watch.open = open_trigger;
	recorder->watch.step = step;
	recorder->watch.data = waiting;
	recorder->no_summary = true;
	error = recorder_run(recorder);
	if (!error)
		summarize(waiting);
	/* The command continues without probes. */
	trigger_close(waiting->trigger);
	error = recorder_wait(recorder, error);
	return !error && !waiting->dumps ? EXIT_FAILED : error;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct waiting waiting = { .recorder = RECORDER_INIT, .count = 1 };
	int error;

	waiting.command = command;
	error = read_options(&waiting, argc, argv);
	if (error == OPTIONS_HELP)
		error = EXIT_OK;
	else if (!error)
		error = run_trigger(&waiting);
	free(waiting.function);
	free(waiting.file);
	record_options_free(&waiting.recorder.options);
	return error;
}

const struct command command_trigger = {
	.name = "trigger",
	.summary = "keep tracing; save the last milliseconds when something happens",
	.usage = "[OPTIONS] [--] [COMMAND [ARGUMENT...]]",
	.details =
		"Tasks are traced into buffers that are overwritten again and again. When a "
		"function is\n"
		"called, when a call took longer than --over, when the program gets a signal, or "
		"when\n"
		"ntrace itself gets SIGUSR2 or is interrupted, the trace stops and what the "
		"buffers hold\n"
		"is saved as a recording. Watching functions and signals needs root or "
		"CAP_PERFMON. The\n"
		"command goes on untraced after the last dump, and ntrace waits for it.\n\n"
		"exit status: that of the command; 1 if what was waited for did not come, or if "
		"tracing\n"
		"failed; 126 or 127 if the command cannot be run.\n\n"
		"examples:\n"
		"  ntrace trigger --call give_up@./server -- ./server\n"
		"  ntrace trigger --call handle --over 5ms -p 1234\n"
		"  ntrace trigger --signal SEGV --privilege u -- ./crashes\n"
		"  ntrace trigger -p 1234        # then: Ctrl-C, or kill -USR2 of ntrace\n",
	.options = options_table,
	.run = run,
};
