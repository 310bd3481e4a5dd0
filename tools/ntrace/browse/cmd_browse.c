// SPDX-License-Identifier: GPL-2.0-only
/* ntrace browse: a trace on the terminal, instruction by instruction, in both directions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "browser.h"
#include "common/command.h"
#include "common/disassembly.h"
#include "common/ui.h"
#include "stream/raw.h"
#include "stream/source.h"

enum {
	OPTION_THREAD = 't',
	OPTION_CPU = OPTION_LONG,
	OPTION_SRC,
	OPTION_TIME,
	OPTION_AROUND,
	OPTION_OBJDUMP,
};

static const struct option_spec options_table[] = {
	{ OPTION_THREAD, "thread", "TID", "recording: show this thread" },
	{ OPTION_CPU, "cpu", "N", "recording: show CPU N (default: the first one)" },
	{ OPTION_SRC, "src", "N", "raw trace: the hart whose messages have SRC = N" },
	{ OPTION_TIME, "time", "A", "begin at time A: seconds, 3ms, @TICKS" },
	{ OPTION_AROUND, "around", "FUNCTION[:N]", "begin where FUNCTION begins the Nth time" },
	CORE_OPTION,
	SELECT_OPTIONS,
	SOURCE_OPTIONS,
	{ OPTION_OBJDUMP, "objdump", "PROGRAM",
	  "disassembler (default riscv64-linux-gnu-objdump)" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct browse - the command
 * @raw: a raw trace, which is no recording
 */
struct browse {
	const struct command *command;
	struct browser browser;
	struct source source;
	struct recording recording;
	struct ntrace_space *space;
	const char *path;
	struct raw_trace raw;
	int64_t tid;
	int64_t cpu;
	int64_t src;
	const char *core;
	const char *time;
	char *around;
	uint64_t around_count;
	struct lane_choice chosen; /* the first hart that is shown */
	uint32_t privileges;
};

/* ---- options ---- */

/* "malloc:3": the third execution. */
static int take_around(struct browse *browse, const char *value)
{
	free(browse->around);
	browse->around = around_parse(value, &browse->around_count);
	if (!browse->around)
		return fail("out of memory");
	if (!browse->around_count)
		return usage_error(browse->command, AROUND_NUMBER, value, UINT64_MAX);
	return EXIT_OK;
}

static int take_number(const struct options *options, const char *name, uint64_t min, uint64_t max,
		       int64_t *number)
{
	uint64_t value;

	if (!option_number(options, name, min, max, &value))
		return EXIT_USAGE;
	*number = (int64_t)value;
	return EXIT_OK;
}

static int take_option(struct browse *browse, const struct options *options, int option)
{
	switch (option) {
	case OPTION_THREAD:
		return take_number(options, "thread", 1, INT32_MAX, &browse->tid);
	case OPTION_CPU:
		return take_number(options, "cpu", 0, UINT16_MAX, &browse->cpu);
	case OPTION_SRC:
		return take_number(options, "src", 0, (1u << NTRACE_SRC_BITS_MAX) - 1,
				   &browse->src);
	case OPTION_TIME:
		browse->time = options->value;
		return EXIT_OK;
	case OPTION_AROUND:
		return take_around(browse, options->value);
	case OPTION_USER:
	case OPTION_KERNEL:
	case OPTION_SELECT:
		return option_select(options, option, &browse->privileges);
	case OPTION_OBJDUMP:
		browse->browser.code.objdump = options->value;
		return disassembler_check(options->value);
	case OPTION_INPUT_CORE:
		browse->core = options->value;
		return EXIT_OK;
	default:
		return source_option(&browse->source, options, option);
	}
}

static int check_options(const struct browse *browse, bool recording)
{
	if (!recording && (browse->tid || browse->cpu >= 0 || browse->privileges || browse->core))
		return usage_error(browse->command,
				   "--thread, --cpu, --core, --user, --kernel and --privilege "
				   "apply to recordings only");
	if (recording && browse->src >= 0)
		return usage_error(browse->command, "--src applies to raw traces only");
	if (!!browse->tid + (browse->cpu >= 0) + (browse->source.stream >= 0) > 1)
		return usage_error(browse->command,
				   "--thread, --cpu and --stream exclude each other");
	return EXIT_OK;
}

/* ---- harts and threads ---- */

struct lane_choice *browser_add_choice(struct browser *browser)
{
	size_t room = browser->choice_room ? 2 * browser->choice_room : 16;
	struct lane_choice *more;

	if (browser->choice_count == browser->choice_room) {
		more = reallocarray(browser->choices, room, sizeof(*more));
		if (!more)
			return NULL;
		browser->choices = more;
		browser->choice_room = room;
	}
	more = &browser->choices[browser->choice_count++];
	*more = (struct lane_choice){ .pid = NTRACE_CURSOR_ANY, .tid = NTRACE_CURSOR_ANY };
	return more;
}

enum walk_result browser_choose(struct browser *browser, const struct lane_choice *choice)
{
	struct ntrace_cursor_config config = browser->base;
	enum walk_result result;

	config.stream = choice->stream;
	config.pid = choice->pid;
	config.tid = choice->tid;
	config.src = choice->src;
	result = walk_open(&browser->walk, &config);
	if (result == WALK_STOPPED || result == WALK_FAILED)
		return result;
	snprintf(browser->shown, sizeof(browser->shown), "%s", choice->name);
	memset(browser->marked, 0, sizeof(browser->marked));
	return result;
}

static bool add_stream(struct browser *browser, unsigned int index)
{
	const struct ntrace_stream *stream =
		ntrace_session_stream(browser->recording->session, index);
	struct lane_choice *choice = browser_add_choice(browser);
	char size[UI_NUMBER_SIZE];

	if (!choice)
		return false;
	choice->stream = index;
	if (stream->cpu == NTRACE_STREAM_NO_CPU)
		snprintf(choice->name, sizeof(choice->name), "stream %u", index);
	else
		snprintf(choice->name, sizeof(choice->name), "CPU %u", stream->cpu);
	snprintf(choice->note, sizeof(choice->note), "%s", ui_size(size, stream->bytes));
	return true;
}

static enum walk_result list_threads(struct browser *browser)
{
	const struct ntrace_cursor_thread *threads;
	struct lane_choice *choice;
	char number[UI_NUMBER_SIZE];
	size_t count;
	int error;

	error = ntrace_cursor_threads(browser->recording->session, &threads, &count);
	browser->walk.error = error;
	if (error)
		return error == NTRACE_CURSOR_STOPPED ? WALK_STOPPED : WALK_FAILED;
	for (size_t i = 0; i < count; i++) {
		choice = browser_add_choice(browser);
		if (!choice) {
			browser->walk.error = NTRACE_ERR_NOMEM;
			return WALK_FAILED;
		}
		choice->pid = threads[i].pid;
		choice->tid = threads[i].tid;
		snprintf(choice->name, sizeof(choice->name), "thread %d %.40s", threads[i].tid,
			 threads[i].tid < 0 ? "(unknown)" : threads[i].comm);
		snprintf(choice->note, sizeof(choice->note), "%s instructions, process %d",
			 ui_number(number, threads[i].instructions), threads[i].pid);
	}
	browser->complete = true;
	return WALK_OK;
}

static int open_recording(struct browse *browse)
{
	struct browser *browser = &browse->browser;
	unsigned int streams;
	int error;

	/* Notes must not disturb the screen: the browser shows them. */
	browse->source.recording.quiet = true;
	error = source_open_recording(&browse->source, &browse->recording, browse->path);
	if (error)
		return error;
	if (browse->core) {
		error = recording_open_core(&browse->recording, browse->core);
		if (error)
			return error;
		/* The thread that it is of. */
		if (!browse->tid && browse->cpu < 0)
			browse->tid = ntrace_core_tid(browse->recording.core);
		browser->walk.core = browse->recording.core;
	}
	browser->recording = &browse->recording;
	browser->base.session = browse->recording.session;
	browser->base.privileges = browse->privileges;
	browser->list_more = list_threads;
	browser->code.roots = ntrace_session_roots(browse->recording.session);
	streams = ntrace_session_streams(browse->recording.session);
	if (!streams)
		return fail("%s: this recording has branch stacks, and no trace to browse",
			    browse->path);
	for (unsigned int i = 0; i < streams; i++)
		if (!add_stream(browser, i))
			return fail("out of memory");
	browser->walk.hz =
		ntrace_session_stream(browse->recording.session, 0)->params->timestamp_hz;
	browser->code.digits = 16;
	return EXIT_OK;
}

/* Return: false when out of memory. */
static bool add_source(struct browser *browser, unsigned int src, uint64_t messages)
{
	struct lane_choice *choice = browser_add_choice(browser);
	char number[UI_NUMBER_SIZE];

	if (!choice)
		return false;
	choice->src = src;
	snprintf(choice->name, sizeof(choice->name), "hart %u", src);
	if (messages)
		snprintf(choice->note, sizeof(choice->note), "%s messages",
			 ui_number(number, messages));
	return true;
}

static enum walk_result list_sources(struct browser *browser)
{
	uint64_t *counts = calloc(RAW_SOURCES, sizeof(*counts));
	const struct browse *browse = browser->input;
	enum walk_result result = WALK_OK;

	browser->walk.error = NTRACE_ERR_NOMEM;
	if (!counts)
		return WALK_FAILED;
	if (!raw_trace_sources(&browse->raw, &browse->source.params, browse->path, counts,
			       screen_stop, browser))
		result = WALK_STOPPED;
	if (result == WALK_OK) {
		browser->choice_count = 0;
		browser->complete = true;
	}
	for (unsigned int i = 0; result == WALK_OK && i < RAW_SOURCES; i++)
		if (counts[i] && !add_source(browser, i, counts[i]))
			result = WALK_FAILED;
	free(counts);
	return result;
}

static int open_raw(struct browse *browse)
{
	struct browser *browser = &browse->browser;
	uint64_t *counts;
	unsigned int src;
	int error = source_is_raw(&browse->source);

	if (error)
		return error;
	if (!browse->source.recording.programs.count)
		return usage_error(browse->command, "a raw trace needs the program: --elf FILE");
	if (!strcmp(browse->path, "-"))
		return usage_error(browse->command, "standard input is the terminal: the trace "
						    "cannot come from it");
	error = source_map(&browse->source, &browse->space);
	if (!error)
		error = raw_trace_open(&browse->raw, browse->path, &browse->source.format);
	if (error)
		return error;
	browser->base.params = &browse->source.params;
	browser->base.data = browse->raw.data;
	browser->base.data_size = browse->raw.size;
	browser->base.space = browse->space;
	browser->list_more = list_sources;
	browser->walk.hz = browse->source.params.timestamp_hz;
	browser->code.digits = browse->source.params.xlen / 4;
	browser->complete = !browse->source.params.src_bits;
	src = browse->src < 0 ? 0 : (unsigned int)browse->src;
	counts = calloc(RAW_SOURCES, sizeof(*counts));
	if (!counts)
		return fail("out of memory");
	if (browse->src < 0 && !browser->complete)
		raw_trace_sources(&browse->raw, &browse->source.params, NULL, counts, NULL, NULL);
	for (unsigned int i = 0; i < RAW_SOURCES; i++)
		if (counts[i])
			src = i;
	free(counts);
	return add_source(browser, src, 0) ? EXIT_OK : fail("out of memory");
}

/* ---- the first place ---- */

/* The first hart that executes something, if none was asked for. */
static enum walk_result choose_first(struct browse *browse)
{
	const struct ntrace_session *session = browse->recording.session;
	struct browser *browser = &browse->browser;
	enum walk_result result = WALK_NONE;

	for (size_t i = 0; i < browser->choice_count; i++) {
		const struct lane_choice *choice = &browser->choices[i];

		if (browse->source.stream >= 0 && browse->source.stream != choice->stream)
			continue;
		if (browse->cpu >= 0 &&
		    browse->cpu != ntrace_session_stream(session, choice->stream)->cpu)
			continue;
		browse->chosen = *choice;
		result = browser_choose(browser, choice);
		if (result != WALK_END)
			break;
	}
	return result;
}

static enum walk_result choose_thread(struct browse *browse)
{
	struct lane_choice choice = { .pid = NTRACE_CURSOR_ANY, .tid = (int32_t)browse->tid };

	snprintf(choice.name, sizeof(choice.name), "thread %" PRId64, browse->tid);
	return browser_choose(&browse->browser, &choice);
}

/*
 * Goes to --time and from there to --around. @left: executions that are still to be found
 *
 * Return: WALK_END if the trace ends before the time; WALK_STOPPED also after a message: it is no time.
 */
static enum walk_result go_on(struct browse *browse, uint64_t *left)
{
	struct browser *browser = &browse->browser;
	enum walk_result result = WALK_OK;

	if (browse->time && !browser_time(browser, browse->time, &result))
		return WALK_STOPPED;
	while (browse->around && *left && !result) {
		result = walk_find(&browser->walk, browse->around, false);
		*left -= !result;
	}
	return result;
}

/* Another CPU may have the time and the function. Return: WALK_NONE if none has; other results are final */
static enum walk_result search_others(struct browse *browse, uint64_t *left)
{
	struct browser *browser = &browse->browser;
	enum walk_result result = WALK_OK;

	if (!browse->recording.session && !browser->complete)
		result = browser->list_more(browser);
	for (size_t i = 0; i < browser->choice_count && !result; i++) {
		const struct lane_choice *choice = &browser->choices[i];

		if (choice->stream == browse->chosen.stream && choice->src == browse->chosen.src)
			continue;
		result = browser_choose(browser, choice);
		if (!result)
			result = go_on(browse, left);
		if (!result)
			return WALK_OK;
		if (result == WALK_NONE || result == WALK_END)
			result = WALK_OK;
	}
	return result ? result : WALK_NONE;
}

static const char *not_found(struct browse *browse, bool one, uint64_t left)
{
	struct browser *browser = &browse->browser;
	const char *hint = browse->cpu < 0 ? "" : ": without --cpu, all CPUs are searched";

	if (browse->around)
		browser_say(browser, true,
			    "--around: '%.200s' is executed %" PRIu64 " times%s%s%s%s%s",
			    browse->around, browse->around_count - left, one ? " by " : "",
			    one ? browser->shown : "", browse->time ? " from --time " : "",
			    browse->time ? browse->time : "", hint);
	else
		browser_say(browser, true, "--time: the trace%s%s ends before %s%s",
			    one ? " of " : "", one ? browser->shown : "", browse->time, hint);
	return browser->message;
}

/* Return: NULL, or why there is nothing to show. */
static const char *begin(struct browse *browse)
{
	struct browser *browser = &browse->browser;
	enum walk_result result = browse->tid ? choose_thread(browse) : choose_first(browse);
	bool one = browse->tid || browse->cpu >= 0 || browse->src >= 0 ||
		   browse->source.stream >= 0;
	uint64_t left = browse->around_count;

	if (result == WALK_STOPPED)
		return "stopped";
	if (result == WALK_FAILED)
		return ntrace_strerror(browser->walk.error);
	if (result == WALK_NONE)
		return "there is no trace of this CPU";
	if (result == WALK_END)
		return "no instruction is in this trace";
	browser_moved(browser, result, false);
	result = go_on(browse, &left);
	if ((result == WALK_NONE || result == WALK_END) && !one)
		result = search_others(browse, &left);
	if (result == WALK_NONE || result == WALK_END)
		return not_found(browse, one, left);
	if (result == WALK_STOPPED)
		return *browser->message ? browser->message : "stopped";
	browser_moved(browser, result, false);
	if (!*browser->message)
		browser_say(browser, false, "h shows the keys, q ends");
	return NULL;
}

static int browse_screen(struct browse *browse)
{
	char why[sizeof(browse->browser.message)] = "";
	const char *text;
	int error = screen_open(&browse->browser);

	if (error)
		return error;
	text = begin(browse);
	if (text)
		snprintf(why, sizeof(why), "%s", text);
	else
		browser_run(&browse->browser);
	screen_close();
	return *why ? fail("%s: %s", browse->path, why) : EXIT_OK;
}

static void browse_free(struct browse *browse)
{
	walk_close(&browse->browser.walk);
	code_free(&browse->browser.code);
	free(browse->browser.choices);
	ntrace_space_put(browse->space);
	recording_close(&browse->recording);
	programs_free(&browse->source.recording.programs);
	raw_trace_close(&browse->raw);
	free(browse->around);
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct browse browse;
	struct browser *browser = &browse.browser;
	struct options options;
	int option, error;

	browse.command = command;
	browse.cpu = browse.src = -1;
	source_init(&browse.source, command);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = option < 0 ? EXIT_USAGE : take_option(&browse, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return inputs_error(command, "trace file or recording", argv + options.index,
				    argc - options.index);
	browse.path = browser->path = argv[options.index];
	ntrace_cursor_config_init(&browser->base);
	browser->base.stop = screen_stop;
	browser->base.stop_data = browser;
	browser->walk.code = &browser->code;
	browser->input = &browse;
	browser->source = browser->stack = true;
	error = check_options(&browse, is_recording(browse.path));
	if (!error)
		error = is_recording(browse.path) ? open_recording(&browse) : open_raw(&browse);
	if (!error)
		error = browse_screen(&browse);
	browse_free(&browse);
	return error;
}

const struct command command_browse = {
	.name = "browse",
	.summary = "walk through a trace on the terminal, forwards and backwards",
	.usage = "[OPTIONS] RECORDING\n"
		 "       ntrace browse [OPTIONS] --elf FILE[@ADDR] TRACE",
	.details = "Shows the executed instructions with their source lines and the call stack.\n"
		   "Keys step over instructions, lines and calls in both directions, and find\n"
		   "functions, addresses, lines, times and gaps; h lists them. A trace opens at\n"
		   "once: only what is shown, and what precedes it, is decoded.\n\n"
		   "examples:\n"
		   "  ntrace browse ntrace.data\n"
		   "  ntrace browse --user --thread 1234 --around malloc:3 ntrace.data\n"
		   "  ntrace browse --elf prog.elf prog.nex\n",
	.options = options_table,
	.run = run,
};
