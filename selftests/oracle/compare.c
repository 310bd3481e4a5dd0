// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare: compares the decoded flow of a recording with what the harts executed.
 *
 *   compare [options] --log PREFIX RECORDING	every stream against PREFIX.HARTID
 *   compare [options] --log FILE --pcs LIST	a list "ADDRESS SIZE" per line; lines "trap
 *	exception", "trap interrupt", "loss", "error wire|nomap|indirect ADDRESS" and "sync" mark what
 *	happened between two entries
 *
 *  --section N       the section to compare: the Nth start of the encoder, 0 = the first in the log
 *  --priv usm        privileges that were traced (us)
 *  --sysroot DIR, --firmware ELF, --firmware-bias N   as for ntrace decode
 *  --min N           fail if fewer than N instructions were compared
 *  --kernel-from T   kernel text must come from objects with T in their names
 *  --tasks FILE      a recording of tasks: compare all sections from the one that FILE has for the
 *                    hart, if any; FILE gets the next one. Each thread must have had one task
 *                    pointer and no other
 *  --last            with --tasks: no section may be left in the log
 *  --names FILE      lines "TID FUNCTION": only that thread may execute that function, whose name
 *                    starts with worker_
 *  --losses          trace that is reported as lost may be missing; the rest must be in the log,
 *                    and the decoded flow may have no other errors. After the first loss, code of
 *                    users may be unknown: of the tasks that may run, several have code there. Then
 *                    callers are unknown, too, until the next sync
 *  --mutate alter|drop|add@N   change the log at its Nth instruction: the comparison must fail
 *
 * Exit status: 0 = every stream is one contiguous run of its log, 1 = it is
 * not, 2 = usage error or missing file.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/session.h>

#include "../include/decode_stream.h"
#include "pieces.h"

#define SEEN_SIZE (1u << 16)
#define OBJECTS_MAX 32
#define EVENTS_SHOWN 5

struct options {
	const char *log;
	const char *pcs;
	const char *recording;
	const char *kernel_from;
	unsigned int section;
	unsigned int priv_mask;
	uint64_t min;
	enum match_mutation mutation;
	uint64_t mutate_at;
	const char *tasks;
	const char *names;
	bool last;
	bool losses;
	struct ntrace_session_options session;
};

#define THREADS_MAX 256

/*
 * A decoded thread: its task pointer from the log, and which worker_N functions --names and the
 * trace give it.
 */
struct thread {
	int32_t tid;
	uint64_t task;
	uint64_t blocks;
	uint32_t told;
	uint32_t seen;
};
static struct thread threads[THREADS_MAX];
static unsigned int thread_count;
static unsigned int next_section[256]; /* indexed by hart id */

/* An object that kernel code came from, and the number of distinct blocks from it. */
struct origin {
	const char *name;
	unsigned int places;
};

struct run {
	const struct options *options;
	struct match match;
	struct pieces pieces;
	uint64_t marks;		/* places in the stream where the driver reported missing trace */
	uint64_t blocks;
	uint64_t bad_events;
	uint64_t unknown;	/* errors about code of users after a loss, and returns from there */
	bool callers_unknown;	/* the encoder has return addresses that the session has not */
	uint64_t warnings[32];
	uint64_t seen[SEEN_SIZE];
	struct origin origins[OBJECTS_MAX];
	unsigned int origin_count;
	struct ntrace_space *space;	/* address space of the block that differs */
	char name[512];
};

static void note(void *data, const char *text)
{
	(void)data;
	printf("note: %s\n", text);
}

static bool is_kernel(uint64_t address)
{
	return (int64_t)address < 0;
}

static void count_origin(struct run *run, const struct ntrace_flow_event *event)
{
	uint64_t *seen = &run->seen[(event->address >> 1) % SEEN_SIZE];
	struct ntrace_location location;
	const char *name;
	unsigned int i;

	if (!is_kernel(event->address) || *seen == event->address)
		return;
	*seen = event->address;
	if (ntrace_space_locate(event->space, event->address, &location))
		return;
	name = ntrace_object_name(location.object);
	for (i = 0; i < run->origin_count && strcmp(run->origins[i].name, name); i++)
		;
	if (i == OBJECTS_MAX)
		return;
	if (i == run->origin_count)
		run->origins[run->origin_count++].name = name;
	run->origins[i].places++;
}

static int take_insn(struct run *run, uint64_t address, unsigned int size)
{
	if (run->pieces.losses)
		return pieces_insn(&run->pieces, address, size);
	return match_insn(&run->match, address, size);
}

static void take_trap(struct run *run, unsigned int btype)
{
	if (run->pieces.losses)
		pieces_trap(&run->pieces, btype);
	else
		match_trap(&run->match, btype);
}

static int on_instruction(void *data, uint64_t address, const uint8_t *bytes,
			  const struct ntrace_insn *insn)
{
	(void)bytes;
	return take_insn(data, address, insn->size);
}

static void show_event(struct run *run, const struct ntrace_flow_event *event)
{
	if (run->bad_events++ >= EVENTS_SHOWN)
		return;
	printf("  %s at stream offset %" PRIu64 ", address %" PRIx64 ": %s, value %" PRIu64
	       ", after %" PRIu64 " instructions\n",
	       ntrace_flow_type_name(event->type), event->offset, event->address,
	       event->type == NTRACE_FLOW_ERROR ? ntrace_flow_error_text(event->code) : "",
	       event->value, run->match.compared);
}

static uint32_t worker_bit(const char *name)
{
	return 1u << strtoul(name + strlen("worker_"), NULL, 10) % 32;
}

static struct thread *find_thread(int32_t tid)
{
	unsigned int i;

	for (i = 0; i < thread_count; i++)
		if (threads[i].tid == tid)
			return &threads[i];
	if (thread_count == THREADS_MAX)
		return NULL;
	threads[thread_count] = (struct thread){ .tid = tid };
	return &threads[thread_count++];
}

/* Checks that the block just compared ran in the thread that the session attributes it to. */
static void check_thread(struct run *run, const struct ntrace_session_event *event)
{
	uint64_t task = run->match.previous.task;
	struct thread *thread = find_thread(event->tid);
	struct ntrace_location location;
	const char *wrong = NULL;

	if (!thread || event->tid < 0)
		wrong = "nobody's";
	else if (run->options->tasks && thread->task && thread->task != task)
		wrong = "another task's";
	else
		thread->task = task;
	if (!wrong && !is_kernel(event->flow->address) && run->options->names &&
	    !ntrace_space_locate(event->flow->space, event->flow->address, &location) &&
	    location.symbol && !strncmp(location.symbol, "worker_", 7)) {
		thread->seen |= worker_bit(location.symbol);
		if (thread->seen & ~thread->told)
			wrong = "another worker's";
	}
	if (thread)
		thread->blocks++;
	if (wrong && run->bad_events++ < EVENTS_SHOWN)
		printf("  block %" PRIx64 " at stream offset %" PRIu64
		       " of thread %d is %s: task %" PRIx64 ", after %" PRIu64 " instructions\n",
		       event->flow->address, event->flow->offset, event->tid, wrong, task,
		       run->match.compared);
}

/*
 * After a loss, the session does not guess whose code is executed; a gap follows, without a sync. The
 * encoder keeps the return addresses from before the gap, and does not report a return to one:
 * neither of the same task, nor in the kernel, where a switch comes to code that another task has
 * called from the same place.
 */
static bool is_unknown(struct run *run, const struct ntrace_flow_event *error)
{
	if (error->code == NTRACE_FLOW_ERROR_INDIRECT)
		return run->callers_unknown;
	if (error->code != NTRACE_FLOW_ERROR_NOMAP || !run->marks || is_kernel(error->address))
		return false;
	run->callers_unknown = true;
	return true;
}

/* An error, or a sync. */
static void take_mark(struct run *run, const struct ntrace_flow_event *event)
{
	if (event->type == NTRACE_FLOW_SYNC)
		run->callers_unknown = false;
	else if (run->options->losses && event->code == NTRACE_FLOW_ERROR_WIRE)
		run->marks++;
	else if (run->options->losses && is_unknown(run, event))
		run->unknown++;
	else
		show_event(run, event);
}

static int on_event(void *data, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct run *run = data;
	bool fine = !run->match.why;
	int result;

	switch (flow->type) {
	case NTRACE_FLOW_BLOCK:
		run->blocks++;
		count_origin(run, flow);
		result = ntrace_flow_instructions(flow, on_instruction, run);
		if (result < 0) {
			printf("  block %" PRIx64 ": %s\n", flow->address, ntrace_strerror(result));
			run->bad_events++;
			return 1;
		}
		if (fine && run->match.why) {
			run->space = ntrace_space_get(flow->space);
			printf("  difference in block %" PRIx64 "..%" PRIx64 " of %u instructions, "
			       "stream offset %" PRIu64 ", pid %d (%s)\n",
			       flow->address, flow->last, flow->instructions, flow->offset,
			       event->pid, event->comm);
		}
		if ((run->options->tasks || run->options->names) && !run->match.why)
			check_thread(run, event);
		return result;
	case NTRACE_FLOW_TRAP:
		take_trap(run, flow->code);
		return 0;
	case NTRACE_FLOW_ERROR:
	case NTRACE_FLOW_SYNC:
		take_mark(run, flow);
		return 0;
	case NTRACE_FLOW_GAP:
		if (run->options->losses)
			return pieces_loss(&run->pieces);
		show_event(run, flow);
		return 0;
	case NTRACE_FLOW_WARNING:
		run->warnings[flow->code % 32]++;
		return 0;
	}
	return 0;
}

static const char *symbol(void *data, uint64_t address)
{
	struct run *run = data;
	struct ntrace_location location;

	if (!run->space || ntrace_space_locate(run->space, address, &location))
		return NULL;
	if (location.symbol)
		snprintf(run->name, sizeof(run->name), "%s+0x%" PRIx64 " (%s)", location.symbol,
			 location.link_address - location.symbol_start,
			 ntrace_object_name(location.object));
	else
		snprintf(run->name, sizeof(run->name), "(%s)", ntrace_object_name(location.object));
	return run->name;
}

/* Prints the result of one comparison. Return: 0 = the same, 1 = not. */
static int judge(struct run *run, const char *what)
{
	struct match *match = &run->match;
	int bad = run->pieces.losses ? pieces_end(&run->pieces) : match_end(match);
	bool alien = false;

	printf("%s: %" PRIu64 " instructions agree in %" PRIu64 " blocks; %" PRIu64
	       " traps (%" PRIu64 " interrupts), %" PRIu64
	       " stretches of other privilege left out\n",
	       what, match->compared, run->blocks, match->traps, match->interrupts,
	       match->excursions);
	printf("%s: start by %s: %u only in the log, %u only decoded; stop by %s: %u only in the "
	       "log, "
	       "%u only decoded\n",
	       what, match->log->remote_start ? "another hart" : "itself", match->head_log,
	       match->head_decoded, match->log->remote_stop ? "another hart" : "itself",
	       match->tail_log, match->tail_decoded);
	printf("%s: causes:", what);
	for (unsigned int i = 0; i < 64; i++)
		if (match->causes[i / 32][i % 32])
			printf(" %s%u=%" PRIu64, i < 32 ? "exception" : "interrupt", i % 32,
			       match->causes[i / 32][i % 32]);
	printf("\n");
	for (unsigned int i = 0; i < 32; i++)
		if (run->warnings[i])
			printf("%s: %" PRIu64 " warnings: %s\n", what, run->warnings[i],
			       ntrace_flow_error_text(i));
	for (unsigned int i = 0; i < run->origin_count; i++) {
		printf("%s: kernel text from %s: %u places\n", what, run->origins[i].name,
		       run->origins[i].places);
		if (run->options->kernel_from &&
		    !strstr(run->origins[i].name, run->options->kernel_from))
			alien = true;
	}
	if (bad)
		match_report(match, symbol, run);
	if (run->bad_events)
		printf("%s: NOT OK: %" PRIu64 " errors and gaps in the decoded flow\n", what,
		       run->bad_events);
	if (alien)
		printf("%s: NOT OK: kernel text is not from %s\n", what, run->options->kernel_from);
	if (match->compared < run->options->min)
		printf("%s: NOT OK: fewer than %" PRIu64 " instructions\n", what,
		       run->options->min);
	return bad || run->bad_events || alien || match->compared < run->options->min;
}

static struct run *new_run(const struct options *options, struct oracle_log *log)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run) {
		perror("compare");
		exit(2);
	}
	run->options = options;
	run->pieces.match = &run->match;
	run->match.log = log;
	run->match.sections = options->tasks != NULL;
	run->match.last = options->last;
	run->match.priv_mask = options->priv_mask;
	run->match.mutation = options->mutation;
	run->match.mutate_at = options->mutate_at;
	match_begin(&run->match);
	return run;
}

static void end_run(struct run *run)
{
	if (run->space)
		ntrace_space_put(run->space);
	free(run);
}

static int compare_stream(const struct options *options, struct ntrace_session *session,
			  unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(session, index);
	struct oracle_log log;
	struct run *run;
	char path[4096], what[32];
	int result;

	snprintf(path, sizeof(path), "%s.%" PRIu64, options->log, stream->hartid);
	snprintf(what, sizeof(what), "hart %" PRIu64, stream->hartid);
	printf("%s: %s, %" PRIu64 " bytes of trace, %" PRIu64 " lost\n", what, stream->file,
	       stream->bytes, stream->lost);
	if (oracle_log_open(&log, path,
			    options->tasks ? next_section[stream->hartid % 256] :
					     options->section)) {
		printf("%s: %s: %s\n", what, path, log.error);
		oracle_log_close(&log);
		return 2;
	}
	log.join = options->tasks != NULL;
	run = new_run(options, &log);
	result = decode_stream(session, index, on_event, NULL, run, NULL);
	if (result < 0) {
		printf("%s: %s\n", what, ntrace_strerror(result));
		run->bad_events++;
	}
	result = judge(run, what);
	if (options->losses) {
		printf("%s: %u losses, %" PRIu64
		       " instructions left out; the longest piece has %" PRIu64 " from %" PRIu64
		       " on\n",
		       what, run->pieces.losses, run->pieces.left_out, run->pieces.longest,
		       run->pieces.longest_at);
		printf("%s: %" PRIu64 " times unknown which task's code is executed\n", what,
		       run->unknown);
		if (run->marks != stream->gaps || !stream->gaps != !run->pieces.losses) {
			printf("%s: NOT OK: %" PRIu64
			       " places without trace in the stream, %" PRIu64 " were reported\n",
			       what, run->marks, stream->gaps);
			result = 1;
		}
	} else if (stream->lost || stream->gaps) {
		printf("%s: NOT OK: %" PRIu64 " bytes lost, %" PRIu64 " gaps while recording\n",
		       what, stream->lost, stream->gaps);
		result = 1;
	}
	if (options->tasks && log.task_changed) {
		printf("%s: NOT OK: the task changed while the encoder was on\n", what);
		result = 1;
	}
	if (options->tasks && run->match.compared) {
		printf("%s: %u starts of the encoder\n", what,
		       run->match.previous.section + 1 - next_section[stream->hartid % 256]);
		next_section[stream->hartid % 256] = run->match.previous.section + 1;
	}
	end_run(run);
	oracle_log_close(&log);
	return result;
}

/* Return: 0 = each thread of --names was seen in its function. */
static int judge_threads(const struct options *options)
{
	unsigned int named = 0, missing = 0, i;

	for (i = 0; i < thread_count; i++) {
		named += threads[i].told != 0;
		missing += (threads[i].told & ~threads[i].seen) != 0;
	}
	printf("%u threads, %u of them in a function of their own\n", thread_count, named);
	if (missing || (options->names && !named))
		printf("NOT OK: %u threads were not seen in their function\n", missing);
	return missing || (options->names && !named);
}

static void read_names(const char *path)
{
	struct thread *thread;
	char line[128], name[32];
	FILE *file = fopen(path, "r");
	int tid;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%d %31s", &tid, name) != 2)
			continue;
		thread = find_thread(tid);
		if (thread && !strncmp(name, "worker_", 7))
			thread->told |= worker_bit(name);
	}
	if (file)
		fclose(file);
}

static void read_sections(const char *path)
{
	unsigned int hart, section;
	FILE *file = fopen(path, "r");

	while (file && fscanf(file, "%u %u", &hart, &section) == 2)
		next_section[hart % 256] = section;
	if (file)
		fclose(file);
}

static void write_sections(const char *path)
{
	FILE *file = fopen(path, "w");
	unsigned int hart;

	for (hart = 0; file && hart < 256; hart++)
		if (next_section[hart])
			fprintf(file, "%u %u\n", hart, next_section[hart]);
	if (file)
		fclose(file);
}

static int compare_recording(const struct options *options)
{
	struct ntrace_session *session;
	int result = ntrace_session_open(&session, options->recording, &options->session);
	int worst = 0;

	if (result) {
		printf("%s: %s\n", options->recording, ntrace_strerror(result));
		return 2;
	}
	if (!ntrace_session_streams(session)) {
		printf("%s: no streams\n", options->recording);
		worst = 2;
	}
	if (options->tasks)
		read_sections(options->tasks);
	if (options->names)
		read_names(options->names);
	for (unsigned int i = 0; i < ntrace_session_streams(session); i++) {
		result = compare_stream(options, session, i);
		if (result > worst)
			worst = result;
	}
	if (options->tasks)
		write_sections(options->tasks);
	if (options->tasks || options->names) {
		result = judge_threads(options);
		worst = worst ? worst : result;
	}
	ntrace_session_close(session);
	return worst;
}

/* Return: false = @line is neither an error nor a sync. */
static bool list_mark(struct run *run, const char *line)
{
	static const struct {
		const char *kind;
		enum ntrace_flow_error code;
	} errors[] = { { "wire", NTRACE_FLOW_ERROR_WIRE },
		       { "nomap", NTRACE_FLOW_ERROR_NOMAP },
		       { "indirect", NTRACE_FLOW_ERROR_INDIRECT } };
	struct ntrace_flow_event event = { .type = NTRACE_FLOW_ERROR };
	char kind[16] = "";

	if (!strncmp(line, "sync", 4))
		event.type = NTRACE_FLOW_SYNC;
	else if (sscanf(line, "error %15s %" SCNx64, kind, &event.address) != 2)
		return false;
	for (unsigned int i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(kind, errors[i].kind))
			event.code = (uint8_t)errors[i].code;
	take_mark(run, &event);
	return true;
}

static int compare_list(const struct options *options)
{
	struct oracle_log log;
	struct run *run;
	uint64_t address;
	unsigned int size;
	char line[256], kind[16];
	int result = 0;
	FILE *list = fopen(options->pcs, "r");

	if (!list) {
		perror(options->pcs);
		return 2;
	}
	if (oracle_log_open(&log, options->log, options->section)) {
		printf("%s: %s\n", options->log, log.error);
		oracle_log_close(&log);
		fclose(list);
		return 2;
	}
	run = new_run(options, &log);
	while (!result && fgets(line, sizeof(line), list)) {
		if (sscanf(line, "trap %15s", kind) == 1)
			take_trap(run, !strcmp(kind, "interrupt") ? 3 : 2);
		else if (!strncmp(line, "loss", 4))
			result = pieces_loss(&run->pieces);
		else if (list_mark(run, line))
			continue;
		else if (sscanf(line, "%" SCNx64 " %u", &address, &size) != 2) {
			printf("%s: not understood: %s", options->pcs, line);
			run->bad_events++;
		} else {
			result = take_insn(run, address, size);
		}
	}
	result = judge(run, "list");
	end_run(run);
	oracle_log_close(&log);
	fclose(list);
	return result;
}

static void usage(void)
{
	fprintf(stderr, "usage: compare --log PREFIX [--section N] [--priv usm] [--sysroot DIR] "
			"[--firmware ELF] [--firmware-bias N] [--min N] [--kernel-from TEXT] "
			"[--tasks FILE [--last]] [--names FILE] [--losses] "
			"[--mutate alter|drop|add@N] RECORDING | --pcs LIST\n");
	exit(2);
}

static void parse_mutation(struct options *options, const char *text)
{
	const char *at = strchr(text, '@');

	if (!at)
		usage();
	options->mutate_at = strtoull(at + 1, NULL, 0);
	if (!strncmp(text, "alter@", 6))
		options->mutation = MATCH_ALTER;
	else if (!strncmp(text, "drop@", 5))
		options->mutation = MATCH_DROP;
	else if (!strncmp(text, "add@", 4))
		options->mutation = MATCH_ADD;
	else
		usage();
}

static unsigned int parse_privileges(const char *text)
{
	unsigned int mask = 0;

	for (; *text; text++) {
		if (!strchr("usm", *text))
			usage();
		mask |= 1u << (*text == 'm' ? 3 : *text == 's');
	}
	return mask;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "log", required_argument, NULL, 'l' },
		{ "pcs", required_argument, NULL, 'p' },
		{ "section", required_argument, NULL, 's' },
		{ "priv", required_argument, NULL, 'v' },
		{ "sysroot", required_argument, NULL, 'r' },
		{ "firmware", required_argument, NULL, 'f' },
		{ "firmware-bias", required_argument, NULL, 'b' },
		{ "min", required_argument, NULL, 'm' },
		{ "kernel-from", required_argument, NULL, 'k' },
		{ "mutate", required_argument, NULL, 'u' },
		{ "tasks", required_argument, NULL, 't' },
		{ "last", no_argument, NULL, 'L' },
		{ "names", required_argument, NULL, 'n' },
		{ "losses", no_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { .priv_mask = 3,
				   .session = { .size = sizeof(options.session), .note = note } };
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'l':
			options.log = optarg;
			break;
		case 'p':
			options.pcs = optarg;
			break;
		case 's':
			options.section = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'v':
			options.priv_mask = parse_privileges(optarg);
			break;
		case 'r':
			options.session.sysroot = optarg;
			break;
		case 'f':
			options.session.firmware = optarg;
			break;
		case 'b':
			options.session.firmware_bias = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			options.min = strtoull(optarg, NULL, 0);
			break;
		case 'k':
			options.kernel_from = optarg;
			break;
		case 't':
			options.tasks = optarg;
			break;
		case 'L':
			options.last = true;
			break;
		case 'n':
			options.names = optarg;
			break;
		case 'o':
			options.losses = true;
			break;
		case 'u':
			parse_mutation(&options, optarg);
			break;
		default:
			usage();
		}
	}
	if (optind < argc)
		options.recording = argv[optind++];
	if (!options.log || optind != argc || !options.recording == !options.pcs)
		usage();
	return options.pcs ? compare_list(&options) : compare_recording(&options);
}
