// SPDX-License-Identifier: GPL-2.0-only
/* ntrace ctr trace: shows the control transfers before kernel functions and their returns. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ui.h"
#include "trace_print.h"

enum {
	OPTION_AT = OPTION_LONG,
	OPTION_ENTRIES,
	OPTION_DURATION,
	OPTION_RAW,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_AT, "at", "WHERE", "entry, return or both (default)" },
	{ 'e', "errors", NULL, "only returns with an error: a value from -4095 to -1" },
	{ 'p', "pid", "PID", "this process alone" },
	{ 'c', "comm", "NAME", "only tasks of this name" },
	{ 'n', "count", "N", "end after N hits" },
	{ OPTION_DURATION, "duration", "SECONDS", "end after this time" },
	{ OPTION_ENTRIES, "entries", "N", "transfers to show for each hit (32)" },
	{ 'u', "user", NULL, "record user mode too" },
	{ OPTION_RAW, "raw", NULL, "show the transfers of the probes too" },
	{ OPTION_JSON, "json", NULL, "print a JSON object for each hit" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct trace_command - options
 * @at: argument of --at, or NULL
 * @count: number of hits to show, 0 = no limit
 * @duration: seconds, 0 = no limit
 */
struct trace_command {
	const struct command *command;
	struct ctr_trace_request request;
	const char *at;
	uint64_t count;
	uint64_t duration;
	unsigned int entries;
	bool raw;
	bool json;
};

#ifdef NTRACE_BPF
/* The ring is read youngest first; the youngest entries are those of the probe. */
#define PROBE_ENTRIES 64

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

struct hits {
	struct ctr_trace_printer printer;
	uint64_t count;
	uint64_t wanted;
};

static int on_hit(void *data, const struct ctr_trace_hit *hit)
{
	struct hits *hits = data;

	ctr_trace_print(&hits->printer, hit);
	hits->count++;
	return hits->wanted && hits->count == hits->wanted;
}

static int follow(const struct trace_command *trace, struct ctr_trace *running, struct hits *hits)
{
	double end = trace->duration ? monotonic_seconds() + (double)trace->duration : 0;
	int result = 0;

	while (!result && !interrupted && (!end || monotonic_seconds() < end)) {
		result = ctr_trace_poll(running, 100);
		if (result == -EINTR)
			result = 0;
		/* Flush for interactive readers; a reader that closed the pipe is not an error. */
		if (output_flush(hits->printer.output))
			return EXIT_OK;
	}
	return result < 0 ? fail("reading hits: %s", strerror(-result)) : EXIT_OK;
}

static int trace_functions(struct trace_command *trace)
{
	static struct kernel_symbols symbols;
	static struct output output;
	struct sigaction action = { .sa_handler = interrupt };
	struct ctr_trace_config *config = &trace->request.config;
	struct ctr_trace *running;
	struct hits hits = {
		.printer = { &output, NULL, &symbols, trace->entries, trace->raw, trace->json },
		.wanted = trace->count,
	};
	size_t functions, barred;
	uint64_t lost;
	int error;

	if (geteuid())
		return fail("ctr trace needs root: it shows the kernel's execution for all users");
	config->self = (uint32_t)getpid();
	config->room = CTR_TRACE_ENTRIES;
	if (trace->entries + PROBE_ENTRIES < config->room)
		config->room = trace->entries + PROBE_ENTRIES;
	config->room *= sizeof(struct perf_branch_entry);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	error = ctr_trace_prepare(&running, &trace->request);
	/* Takes a while; before the first hit. */
	if (!error)
		error = kernel_symbols_read(&symbols, "/proc/kallsyms", "/proc/modules");
	if (!error)
		error = ctr_trace_start(running, &trace->request);
	if (error)
		goto out;
	output_init(&output, STDOUT_FILENO);
	hits.printer.trace = running;
	ctr_trace_on_hit(running, on_hit, &hits);
	functions = ctr_trace_functions(running, &barred);
	if (barred)
		warn("%zu of %zu matching functions cannot be traced", barred, functions);
	say("tracing %zu functions on %zu CPUs", functions - barred, ctr_trace_cpus(running));
	error = output_finish(&output, follow(trace, running, &hits));
	lost = ctr_trace_lost(running);
	if (lost)
		warn("%" PRIu64 " hits were lost: there was no room for them", lost);
	if (lost && !error)
		error = EXIT_GAPS;
out:
	ctr_trace_stop(running);
	kernel_symbols_free(&symbols);
	return error;
}
#else
static int trace_functions(struct trace_command *trace)
{
	(void)trace;
	return fail("this program was built without BPF: build it where clang and libbpf are "
		    "installed (Debian: clang, libbpf-dev)");
}
#endif /* NTRACE_BPF */

static int take_comm(struct trace_command *trace, const char *name)
{
	struct ctr_trace_config *config = &trace->request.config;
	size_t length = strlen(name);

	if (!length || length >= sizeof(config->comm))
		return usage_error(trace->command, "option --comm: a name has 1 to %zu characters",
				   sizeof(config->comm) - 1);
	memset(config->comm, 0, sizeof(config->comm));
	memcpy(config->comm, name, length);
	return EXIT_OK;
}

static int take_number(struct options *options, const char *name, uint64_t max, uint64_t *number)
{
	return option_number(options, name, 1, max, number) ? EXIT_OK : EXIT_USAGE;
}

static int take_option(struct trace_command *trace, struct options *options, int option)
{
	uint64_t number = 0;
	int error = EXIT_OK;

	switch (option) {
	case OPTION_AT:
		trace->at = options->value;
		break;
	case 'e':
		trace->request.config.errors = 1;
		break;
	case 'p':
		error = take_number(options, "pid", INT32_MAX, &number);
		trace->request.config.pid = (uint32_t)number;
		break;
	case 'c':
		return take_comm(trace, options->value);
	case 'n':
		return take_number(options, "count", UINT64_MAX, &trace->count);
	case OPTION_DURATION:
		return take_number(options, "duration", UINT32_MAX, &trace->duration);
	case OPTION_ENTRIES:
		error = take_number(options, "entries", CTR_TRACE_ENTRIES, &number);
		trace->entries = (unsigned int)number;
		break;
	case 'u':
		trace->request.user = true;
		break;
	case OPTION_RAW:
		trace->raw = true;
		break;
	case OPTION_JSON:
		trace->json = true;
		break;
	default:
		return EXIT_USAGE;
	}
	return error;
}

/* Parses --at. */
static int take_place(struct trace_command *trace)
{
	struct ctr_trace_request *request = &trace->request;
	const char *at = trace->at ? trace->at : request->config.errors ? "return" : "both";

	request->at_entry = !strcmp(at, "entry") || !strcmp(at, "both");
	request->at_return = !strcmp(at, "return") || !strcmp(at, "both");
	if (!request->at_entry && !request->at_return)
		return usage_error(trace->command,
				   "option --at: '%s' is not one of entry, return, both", at);
	if (request->config.errors && request->at_entry)
		return usage_error(trace->command,
				   "--errors applies to returns: it excludes --at %s", at);
	return EXIT_OK;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct trace_command trace = { .command = command, .entries = 32 };
	struct options options;
	int option, error;

	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&trace, &options, option);
		if (error)
			return error;
	}
	if (options.index == argc)
		return usage_error(command, "a function is needed");
	error = take_place(&trace);
	if (error)
		return error;
	trace.request.patterns = argv + options.index;
	trace.request.count = argc - options.index;
	return trace_functions(&trace);
}

const struct command command_ctr_trace = {
	.name = "ctr trace",
	.summary = "show the control transfers that lead to kernel functions and out of them",
	.usage = "[OPTIONS] FUNCTION...",
	.details = "The module riscv_ctr must be loaded, and BPF be compiled "
		   "(net.core.bpf_jit_enable=1).\n"
		   "FUNCTION is a name or a pattern with * and ?. A hit shows the last transfers "
		   "of the\n"
		   "CPU, the newest last, at most back to the last switch to this task. "
		   "Transfers of the\n"
		   "probes themselves are not shown but counted.\n\n"
		   "exit status: 0; 1 if it cannot be done; 2 wrong usage; 3 hits were lost.\n\n"
		   "examples:\n"
		   "  ntrace ctr trace -e do_sys_openat2       why does open() fail?\n"
		   "  ntrace ctr trace -n 1 --at entry --entries 100 tcp_reset\n"
		   "  ntrace ctr trace -p 1234 'ext4_*_iter'\n"
		   "  ntrace ctr trace --json -e 'sys_*' | jq -r .error\n",
	.options = options_table,
	.run = run,
};
