// SPDX-License-Identifier: GPL-2.0-only
/* ntrace gdb: lets GDB walk through a trace, forwards and backwards. */
#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/command.h"
#include "common/output.h"
#include "common/ui.h"
#include "server.h"
#include "stream/source.h"
#include "survey.h"

#define DEFAULT_GDB "gdb-multiarch"

enum {
	OPTION_THREAD = 't',
	OPTION_LISTEN = 'l',
	OPTION_RUN = 'r',
	OPTION_CPU = OPTION_LONG,
	OPTION_SRC,
	OPTION_TIME,
	OPTION_AROUND,
	OPTION_LAST,
	OPTION_KEEP,
	OPTION_GDB,
	OPTION_EXEC,
	OPTION_JSON,
	OPTION_TANDEM,
	OPTION_XLEN,
	OPTION_MLEN,
	OPTION_FLEN,
};

static const struct option_spec options_table[] = {
	{ OPTION_THREAD, "thread", "TID", "recording: the process of this thread" },
	{ OPTION_CPU, "cpu", "N", "recording: all that ran on CPU N, the kernel included" },
	{ OPTION_SRC, "src", "N", "raw trace: only the hart whose messages have SRC = N" },
	{ OPTION_TIME, "time", "A[,B]", "start at time A, and stay between A and B" },
	{ OPTION_AROUND, "around", "FUNCTION[:N]", "start where FUNCTION begins for the Nth time" },
	{ OPTION_LAST, "last", "N", "stay in the last N instructions of each thread" },
	CORE_OPTION,
	SELECT_OPTIONS,
	SOURCE_OPTIONS,
	{ OPTION_TANDEM, "tandem", NULL, "a tandem trace, whatever its name is" },
	{ OPTION_XLEN, "xlen", "BITS", "tandem trace: 32 or 64 (default: as the program)" },
	{ OPTION_MLEN, "mlen", "BITS",
	  "tandem trace: bits of an address: 32, or 34 with Sv32, of RV32; 64 of RV64" },
	{ OPTION_FLEN, "flen", "BITS", "tandem trace: 0, 32 or 64 (default)" },
	{ OPTION_EXEC, "exec", "FILE[@ADDR]", "program for GDB, e.g. vmlinux" },
	{ OPTION_LISTEN, "listen", "[HOST:]PORT", "where to listen (default: 127.0.0.1:0)" },
	{ OPTION_KEEP, "keep", NULL, "keep listening when the last debugger has gone" },
	{ OPTION_RUN, "run", NULL, "start GDB; words after -- are its arguments" },
	{ OPTION_GDB, "gdb", "PROGRAM", "the GDB to start (default " DEFAULT_GDB ")" },
	{ OPTION_JSON, "json", NULL, "print where to connect, and the threads, as JSON" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/* Monitor commands that the options stand for. */
#define STARTS_MAX 4

struct gdb {
	const struct command *command;
	struct source source;
	struct survey survey;
	struct history history;
	struct target target;
	struct raw_trace raw;
	struct server server;
	struct recording recording;
	struct ntrace_space *space;
	int64_t tid;
	const char *start[STARTS_MAX];
	size_t starts;
	char *around; /* function of --around, or NULL */
	uint64_t calls; /* which of its calls */
	const char *core;
	const char *listen;
	const char *program;
	const char *exec;
	char *exec_path;
	uint64_t exec_bias;
	struct ntrace_tandem_params tandem; /* 0: as the program */
	bool is_tandem;
	bool run;
	bool json;
	bool pipe;
};

/* ---- options ---- */

static int add_start(struct gdb *gdb, const char *format, const char *value)
{
	char *text;

	if (gdb->starts == STARTS_MAX - 1)
		return usage_error(gdb->command, "--time, --around and --last: each only once");
	if (asprintf(&text, format, value) < 0)
		return fail("out of memory");
	gdb->start[gdb->starts++] = text;
	return EXIT_OK;
}

/* "malloc:3" is "around malloc 3". */
static int take_around(struct gdb *gdb, const char *value)
{
	char *text;
	int error;

	free(gdb->around);
	gdb->around = around_parse(value, &gdb->calls);
	if (!gdb->around)
		return fail("out of memory");
	if (!gdb->calls)
		return usage_error(gdb->command, AROUND_NUMBER, value, UINT64_MAX);
	if (asprintf(&text, "%s %" PRIu64, gdb->around, gdb->calls) < 0)
		return fail("out of memory");
	error = add_start(gdb, "around %s", text);
	free(text);
	return error;
}

/* "[HOST:]PORT". getaddrinfo() would take the port modulo 65536. */
static int take_listen(struct gdb *gdb, const char *value)
{
	const char *colon = strrchr(value, ':'), *end;
	uint64_t port;

	if (!number_parse(colon ? colon + 1 : value, &end, 10, &port) || *end || port > UINT16_MAX)
		return usage_error(gdb->command,
				   "option --listen: '%s': the port is not between 0 and %d", value,
				   UINT16_MAX);
	gdb->listen = value;
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

static int take_bits(const struct options *options, const char *name, unsigned int *bits)
{
	int64_t number;
	int error = take_number(options, name, 0, 64, &number);

	if (!error)
		*bits = (unsigned int)number;
	return error;
}

static int take_last(struct gdb *gdb, const struct options *options)
{
	char text[24];
	int64_t number;

	if (take_number(options, "last", 1, INT64_MAX, &number))
		return EXIT_USAGE;
	snprintf(text, sizeof(text), "%" PRId64, number);
	return add_start(gdb, "window last %s", text);
}

static int take_option(struct gdb *gdb, const struct options *options, int option)
{
	switch (option) {
	case OPTION_THREAD:
		return take_number(options, "thread", 1, INT32_MAX, &gdb->tid);
	case OPTION_CPU:
		return take_number(options, "cpu", 0, UINT16_MAX, &gdb->survey.cpu);
	case OPTION_SRC:
		return take_number(options, "src", 0, (1u << NTRACE_SRC_BITS_MAX) - 1,
				   &gdb->survey.src);
	case OPTION_TIME:
		return add_start(gdb, "time %s", options->value);
	case OPTION_AROUND:
		return take_around(gdb, options->value);
	case OPTION_LAST:
		return take_last(gdb, options);
	case OPTION_USER:
	case OPTION_KERNEL:
	case OPTION_SELECT:
		return option_select(options, option, &gdb->survey.privileges);
	case OPTION_EXEC:
		gdb->exec = options->value;
		return EXIT_OK;
	case OPTION_INPUT_CORE:
		gdb->core = options->value;
		return EXIT_OK;
	case OPTION_LISTEN:
		return take_listen(gdb, options->value);
	case OPTION_KEEP:
		gdb->server.keep = true;
		return EXIT_OK;
	case OPTION_RUN:
		gdb->run = true;
		return EXIT_OK;
	case OPTION_GDB:
		gdb->program = options->value;
		return EXIT_OK;
	case OPTION_JSON:
		gdb->json = true;
		return EXIT_OK;
	case OPTION_TANDEM:
		gdb->is_tandem = true;
		return EXIT_OK;
	case OPTION_XLEN:
		return take_bits(options, "xlen", &gdb->tandem.xlen);
	case OPTION_MLEN:
		return take_bits(options, "mlen", &gdb->tandem.mlen);
	case OPTION_FLEN:
		return take_bits(options, "flen", &gdb->tandem.flen);
	default:
		return source_option(&gdb->source, options, option);
	}
}

static int check_options(const struct gdb *gdb, bool recording)
{
	if (gdb->pipe && (gdb->run || gdb->listen || gdb->server.keep || gdb->json))
		return usage_error(gdb->command, "with - there is one debugger, on standard input: "
						 "no --run, --listen, --keep, --json");
	if (gdb->run && (gdb->listen || gdb->server.keep || gdb->json))
		return usage_error(gdb->command, "--run starts the only debugger: no --listen, "
						 "--keep, --json");
	if (!recording && (gdb->tid || gdb->survey.cpu >= 0 || gdb->survey.privileges || gdb->core))
		return usage_error(gdb->command,
				   "--thread, --cpu, --core, --user, --kernel and --privilege "
				   "apply to recordings only");
	if (recording && gdb->survey.src >= 0)
		return usage_error(gdb->command, "--src applies to raw traces only");
	if (gdb->is_tandem && (gdb->survey.src >= 0 || gdb->source.params_given))
		return usage_error(gdb->command,
				   "--src and --params do not apply to tandem traces");
	if (gdb->tid && gdb->survey.cpu >= 0)
		return usage_error(gdb->command, "--thread and --cpu exclude each other");
	return EXIT_OK;
}

/* ---- the trace ---- */

static int open_recording(struct gdb *gdb, const char *path)
{
	int error = source_open_recording(&gdb->source, &gdb->recording, path);
	const struct ntrace_stream *first;

	if (error)
		return error;
	first = ntrace_session_stream(gdb->recording.session, 0);
	if (!first)
		return target_nothing(gdb->tid);
	gdb->target.xlen = first->params->xlen;
	gdb->history.stream = gdb->source.stream;
	if (gdb->core) {
		error = recording_open_core(&gdb->recording, gdb->core);
		if (error)
			return error;
		gdb->history.core = gdb->recording.core;
		/* The process that it is of. */
		if (!gdb->tid && gdb->survey.cpu < 0)
			gdb->tid = ntrace_core_tid(gdb->recording.core);
	}
	return survey_recording(&gdb->survey, &gdb->recording);
}

static int open_raw(struct gdb *gdb, const char *path)
{
	int error = source_is_raw(&gdb->source);

	if (error)
		return error;
	if (!gdb->source.recording.programs.count)
		return usage_error(gdb->command, "a raw trace needs the program: --elf FILE");
	if (gdb->pipe && !strcmp(path, "-"))
		return usage_error(gdb->command, "standard input is the debugger's: the trace "
						 "cannot come from it");
	error = raw_trace_open(&gdb->raw, path, &gdb->source.format);
	if (!error)
		error = source_map(&gdb->source, &gdb->space);
	gdb->target.xlen = gdb->source.params.xlen;
	return error ? error :
		       survey_raw(&gdb->survey, &gdb->raw, path, &gdb->source.params, gdb->space);
}

static int open_tandem(struct gdb *gdb, const char *path)
{
	struct ntrace_tandem_params *params = &gdb->tandem;
	const char *refusal;
	int error = source_is_raw(&gdb->source);

	if (!error && gdb->source.recording.programs.count)
		error = source_map(&gdb->source, &gdb->space);
	if (error)
		return error;
	if (!params->xlen)
		params->xlen = gdb->source.params.xlen;
	if (!params->mlen)
		params->mlen = params->xlen;
	refusal = ntrace_tandem_params_refusal(params);
	if (refusal)
		return usage_error(gdb->command, "%s", refusal);
	gdb->target.xlen = params->xlen;
	error = raw_trace_open(&gdb->raw, path, &gdb->source.format);
	return error ? error : survey_tandem(&gdb->survey, &gdb->raw, path, params, gdb->space);
}

static bool has_ending(const char *path, const char *ending)
{
	size_t length = strlen(path), size = strlen(ending);

	return length > size && !strcmp(path + length - size, ending);
}

/* The process, or the harts, that the debugger sees. */
static int choose_target(struct gdb *gdb)
{
	unsigned int xlen = gdb->target.xlen;
	int error;

	if (!gdb->tid && gdb->around)
		gdb->tid = target_around(&gdb->history, gdb->calls);
	error = target_init(&gdb->target, &gdb->history, gdb->tid);
	gdb->target.xlen = xlen;
	if (error)
		return error == EXIT_SHOWN ? target_nothing(gdb->tid) : error;
	return gdb->exec ? target_set_exec(&gdb->target, gdb->exec, gdb->exec_bias) : EXIT_OK;
}

static int parse_exec(struct gdb *gdb)
{
	char *path;
	int error;

	if (!gdb->exec)
		return EXIT_OK;
	error = elf_argument(gdb->command, "exec", gdb->exec, &path, &gdb->exec_bias);
	gdb->exec = gdb->exec_path = error ? NULL : path;
	return error;
}

/* Tries the monitor commands of the options, so that an error is one of the command line. */
static int try_starts(struct gdb *gdb)
{
	struct remote *remote = remote_new(&gdb->target);
	int error = EXIT_OK;
	char *text;

	if (!remote)
		return fail("out of memory");
	for (size_t i = 0; !error && i < gdb->starts; i++) {
		if (!remote_start(remote, gdb->start[i], &text))
			error = fail("%.*s", text ? (int)strcspn(text, "\n") : 0, text);
		free(text);
	}
	remote_free(remote);
	return error;
}

static int open_target(struct gdb *gdb, const char *path)
{
	bool recording = is_recording(path);
	int error;

	/* A tandem trace has no header. */
	gdb->is_tandem |= !recording && has_ending(path, ".tandem");
	error = check_options(gdb, recording);

	gdb->history.stream = -1;
	gdb->survey.history = &gdb->history;
	gdb->history.around = gdb->around;
	if (!error)
		error = parse_exec(gdb);
	if (!error)
		error = recording	? open_recording(gdb, path) :
			gdb->is_tandem ? open_tandem(gdb, path) :
					 open_raw(gdb, path);
	if (!error)
		error = choose_target(gdb);
	if (error)
		return error;
	gdb->server.target = &gdb->target;
	gdb->server.start = gdb->start;
	return try_starts(gdb);
}

/* ---- debuggers ---- */

static void print_json(const struct gdb *gdb, const char *name)
{
	static struct output output;
	const struct target *target = &gdb->target;

	output_init(&output, STDOUT_FILENO);
	output_text(&output, "{\"listen\": ");
	output_json(&output, name);
	output_printf(&output, ", \"architecture\": \"riscv:rv%u\", \"program\": ", target->xlen);
	output_json(&output,
		    target->exec < 0 ? NULL : target->file[target->module[target->exec].file].path);
	output_text(&output, ", \"threads\": [");
	for (size_t i = 0; i < target->threads; i++) {
		const struct history_thread *thread = &target->history->thread[target->thread[i]];

		output_printf(&output, "%s{\"tid\": %" PRIu64 ", \"name\": ", i ? ", " : "",
			      target_tid(target, i));
		output_json(&output, thread->name);
		output_printf(&output, ", \"instructions\": %" PRIu64 "}", thread->instructions);
	}
	output_text(&output, "]}\n");
	output_flush(&output);
}

static int serve_listening(struct gdb *gdb)
{
	char name[300];
	int error =
		server_listen(&gdb->server, gdb->listen ? gdb->listen : "0", name, sizeof(name));

	if (error)
		return error;
	if (gdb->json) {
		print_json(gdb, name);
	} else {
		printf("listening on %s; connect with:\n"
		       "  " DEFAULT_GDB "%s -ex 'target remote %s'\n",
		       name, gdb->target.process ? " -ex 'set osabi none'" : "", name);
		fflush(stdout);
	}
	return server_run(&gdb->server);
}

/* The archive of the recording, if the programs come from it alone; NULL: they are of this machine, or a given sysroot. */
static const char *archive_of(const struct gdb *gdb)
{
	const char *const *roots =
		gdb->recording.session ? ntrace_session_roots(gdb->recording.session) : NULL;

	return roots && *roots[0] && !roots[1] ? roots[0] : NULL;
}

/* GDB follows links as this machine does, and the names of debug files in programs. */
static int check_entry(const char *root, const FTSENT *entry)
{
	char text[PATH_MAX];

	if (entry->fts_info == FTS_F &&
	    !ntrace_debug_stays_below(root, entry->fts_path, text, sizeof(text)))
		return fail(
			"%s names %s: GDB would search it outside the archive; if it may, name the "
			"archive with --sysroot",
			entry->fts_path, text);
	if (entry->fts_info != FTS_SL && entry->fts_info != FTS_SLNONE)
		return EXIT_OK;
	if (!realpath(entry->fts_path, text) || strncmp(text, root, strlen(root)) != 0 ||
	    text[strlen(root)] != '/')
		return fail("%s: a link that leads out of the archive: GDB would follow it "
			    "to a file of this machine",
			    entry->fts_path);
	return EXIT_OK;
}

static int check_archive(const char *archive)
{
	char *const paths[] = { (char *)(uintptr_t)archive, NULL };
	char root[PATH_MAX];
	int error = EXIT_OK;
	FTSENT *entry;
	FTS *tree;

	if (!realpath(archive, root))
		return fail("%s: %s", archive, strerror(errno));
	tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	if (!tree)
		return fail("%s: %s", archive, strerror(errno));
	while (!error && (entry = fts_read(tree)))
		error = check_entry(root, entry);
	fts_close(tree);
	return error;
}

/* For those who type. */
#define SOURCE_HINT                                                                     \
	"echo Sources of this machine are not shown until you type: set source open on\\n\n" \
	"echo Commands that move in the trace: ntrace\\n\n"
/* GDB accepts a watchpoint, and then refuses to resume because of too many of them. */
#define NO_VALUES                                                                             \
	"define hook-watch\n"                                                                 \
	"echo The trace has no values: GDB cannot resume with a watchpoint, delete it. "      \
	"ntrace record --values records values.\\n\n"                                         \
	"end\n"

/* An archive may come from a stranger: GDB must not read or run what its programs name, other than their debug files. */
static int write_confinement(int fd, const char *archive)
{
	int error = check_archive(archive);
	/* The name ends the line, or the directory, for GDB. */
	bool plain = !strpbrk(archive, ":\n\r");

	if (!error && dprintf(fd,
			      "set auto-load no\n"
			      "set debuginfod enabled off\n"
			      "set source open off\n"
			      "set debug-file-directory %s%s\n"
			      "%s",
			      plain ? archive : "/proc/none", plain ? "/usr/lib/debug" : "",
			      isatty(STDIN_FILENO) ? SOURCE_HINT : "") < 0)
		error = fail("script for GDB: %s", strerror(errno));
	return error;
}

/*
 * A script for GDB: it reads the programs itself, as they are on this machine, waits for values that take long
 * to find, and has a command that moves, and makes GDB look again. GDB ends a script at its first error: it
 * connects last.
 */
static int make_script(const struct gdb *gdb, const char *name, char *path, size_t size)
{
	static const char script[] =
		"set osabi none\n"
		"set remotetimeout 300\n"
		"set sysroot\n"
		"define ntrace\n"
		"  if $argc == 0\n    monitor help\n  end\n"
		"  if $argc == 1\n    monitor $arg0\n  end\n"
		"  if $argc == 2\n    monitor $arg0 $arg1\n  end\n"
		"  if $argc == 3\n    monitor $arg0 $arg1 $arg2\n  end\n"
		"  maintenance flush register-cache\n"
		"end\n"
		"document ntrace\n"
		"Move in the trace: ntrace time 1.25, ntrace around malloc 3, ntrace next-gap.\n"
		"Without arguments: list of the commands.\n"
		"end\n";
	const char *archive = archive_of(gdb);
	int fd = memfd_create("ntrace.gdb", 0);

	if (fd >= 0 && archive && write_confinement(fd, archive))
		return EXIT_FAILED;
	if (fd < 0 || write(fd, script, sizeof(script) - 1) != (ssize_t)sizeof(script) - 1 ||
	    dprintf(fd, "%starget remote %s\n",
		    gdb->history.valued || gdb->history.replay ? "" : NO_VALUES, name) < 0)
		return fail("script for GDB: %s", strerror(errno));
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return EXIT_OK;
}

static void run_child(const struct gdb *gdb, const char *script, char **arguments, int count)
{
	const char **argv = calloc((size_t)count + 8, sizeof(*argv));
	const char *program = gdb->program ? gdb->program : DEFAULT_GDB;
	sigset_t none;
	int n = 0;

	if (!argv)
		_exit(EXIT_FAILED);
	argv[n++] = program;
	argv[n++] = "-q";
	argv[n++] = "-x";
	argv[n++] = script;
	for (int i = 0; i < count; i++)
		argv[n++] = arguments[i];
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(program, (char **)argv);
	fail("%s: %s%s", program, strerror(errno),
	     errno == ENOENT && !gdb->program ?
		     ": install it (Debian: gdb-multiarch), or name another GDB with --gdb" :
		     "");
	_exit(SERVER_NOT_STARTED);
}

static int run_debugger(struct gdb *gdb, char **arguments, int count)
{
	char name[300], script[64];
	sigset_t signals;
	int error = server_listen(&gdb->server, "0", name, sizeof(name));

	if (!error)
		error = make_script(gdb, name, script, sizeof(script));
	if (error)
		return error;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* The interrupt key is for GDB. */
	signal(SIGINT, SIG_IGN);
	gdb->server.child = fork();
	if (gdb->server.child < 0)
		return fail("fork: %s", strerror(errno));
	if (!gdb->server.child)
		run_child(gdb, script, arguments, count);
	return server_run(&gdb->server);
}

static int serve(struct gdb *gdb, char **arguments, int count)
{
	if (gdb->pipe) {
		/* GDB passes the interrupt key on to the programs that it starts. */
		signal(SIGINT, SIG_IGN);
		return server_pipe(&gdb->server);
	}
	return gdb->run ? run_debugger(gdb, arguments, count) : serve_listening(gdb);
}

static void gdb_free(struct gdb *gdb)
{
	target_free(&gdb->target);
	free(gdb->exec_path);
	free(gdb->around);
	history_free(&gdb->history);
	raw_trace_close(&gdb->raw);
	ntrace_space_put(gdb->space);
	recording_close(&gdb->recording);
	programs_free(&gdb->source.recording.programs);
	for (size_t i = 0; i < gdb->starts; i++)
		free((char *)gdb->start[i]);
}

/* Words after "--" are not options of this command. */
static int own_arguments(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			break;
	return i;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct gdb gdb;
	struct options options;
	int own = own_arguments(argc, argv), option, error;
	int others = own < argc ? argc - own - 1 : 0;

	gdb.command = command;
	gdb.survey.cpu = gdb.survey.src = -1;
	gdb.server.listener = -1;
	ntrace_tandem_params_init(&gdb.tandem);
	gdb.tandem.xlen = gdb.tandem.mlen = 0;
	source_init(&gdb.source, command);
	options_init(&options, command, own, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = option < 0 ? EXIT_USAGE : take_option(&gdb, &options, option);
		if (error)
			return error;
	}
	gdb.pipe = own - options.index == 2 && !strcmp(argv[options.index], "-");
	options.index += gdb.pipe;
	if (own - options.index != 1)
		return inputs_error(command, "trace file or recording", argv + options.index,
				    own - options.index);
	if (others && !gdb.run)
		return usage_error(command, "arguments of GDB after -- need --run");
	error = open_target(&gdb, argv[options.index]);
	if (!error)
		error = serve(&gdb, argv + own + 1, others);
	gdb_free(&gdb);
	return error;
}

const struct command command_gdb = {
	.name = "gdb",
	.summary = "walk through a trace with GDB, forwards and backwards",
	.usage = "[OPTIONS] [-] RECORDING\n"
		 "       ntrace gdb [OPTIONS] [-] --elf FILE[@ADDR] TRACE\n"
		 "       ntrace gdb [OPTIONS] [-] [--elf FILE[@ADDR]] TRACE.tandem\n"
		 "       ntrace gdb --run [OPTIONS] RECORDING|TRACE [-- GDB-ARGUMENT...]",
	.details =
		"Offers a trace to GDB through its remote protocol: on a port of this machine, "
		"with -\n"
		"on standard input and output, or to a GDB that it starts itself (--run). GDB "
		"finds\n"
		"program, libraries and architecture without further commands. The debugger "
		"starts\n"
		"at the last instruction: reverse-stepi, reverse-continue to breakpoints, stepi "
		"and\n"
		"continue walk through the trace; 'record btrace' adds instruction-history,\n"
		"function-call-history and backtraces. 'monitor help' lists further commands.\n"
		"The trace has no data: of the registers only pc is known, and of the memory only\n"
		"code and read-only data. Nothing can be written.\n"
		"A tandem trace (see ntrace-tandem(1)) has data: all registers and what the hart "
		"has\n"
		"loaded and stored are shown, at each group, and watchpoints stop in both "
		"directions.\n"
		"With the archive of a recording, --run lets GDB read no sources and run no "
		"scripts:\n"
		"the archive may come from elsewhere and name any file of this machine. 'set "
		"source\n"
		"open on' shows sources of this machine.\n\n"
		"examples:\n"
		"  ntrace gdb --run ntrace.data\n"
		"  ntrace gdb --run --user --around malloc:3 ntrace.data\n"
		"  ntrace gdb --listen 1234 --elf prog.elf prog.nex\n"
		"  ntrace gdb --run --elf prog.elf hart.tandem\n"
		"  gdb-multiarch -ex 'set osabi none' -ex 'target remote | ntrace gdb - "
		"ntrace.data'\n"
		"  ntrace gdb --run --cpu 0 --exec vmlinux --time 1.25,1.5 ntrace.data\n",
	.options = options_table,
	.run = run,
};
