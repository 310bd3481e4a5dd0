// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads [--section N] [--privilege us] [--clock FILE] [--calls] [--forget N] SYMBOLS LOG...
 *
 * Prints what each thread executed, over all harts and in order, from the logs of all harts that
 * were written with threads= (log.h). SYMBOLS is as thread_symbols.c reads it. FILE has lines
 * "TIME NANOSECONDS TIME" of the guest: CLOCK_MONOTONIC between two values of the CSR time.
 *
 * The log of a hart says at each of its turns how many instructions all harts had begun before.
 * Turns are taken in that order; thread_stacks.h says what is rebuilt. With -icount, an
 * instruction takes one nanosecond, and the clock goes on by itself only while all harts wait. So
 * each value read from the CSR time gives the difference between virtual time and instructions,
 * up to a tick of the CSR; values that agree give it better, and a value that does not agree
 * follows a wait, which ended with an interrupt.
 *
 * Output, fields separated by tabs; A;B;C is a stack from the outermost frame, times are
 * nanoseconds of CLOCK_MONOTONIC (without FILE, numbers of instructions):
 *   thread NUMBER TGID TID BEGUN INSTRUCTIONS FIRST LAST PID EXEC
 *	BEGUN: the log has its begin; FIRST: time when it first came to a hart; LAST: time after its
 *	last instruction; its symbols are those of the space PID EXEC
 *   stack NUMBER INSTRUCTIONS CALLS BEGUN A;B;C
 *	own instructions of C there, calls of C by B, and how often C began otherwise
 *   call NUMBER ID PARENT FLAGS START END FIRST LAST NAME
 *	FLAGS: CALL_...; FIRST and LAST count the thread's instructions; PARENT is an ID, or "-"; END is
 *	"-" if the call had not ended when the log did
 *   interval NUMBER HART START END INSTRUCTIONS
 *	the thread was on the hart
 *   pause HART START END
 *	the hart executed nothing, as others did
 *   clock VALUES WAITS WIDTH
 *	values of the CSR time, times that the clock went on by itself, and the largest
 *	uncertainty of a time in nanoseconds between these
 *
 * --forget ignores the Nth return in the given privileges: a comparison must notice it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "thread_stacks.h"

#define HARTS_MAX 16
#define QUEUE 64
#define TICK 100	/* nanoseconds of the CSR time */

/* An instruction (event.token 0) or an event of the log. */
struct item {
	struct oracle_arrival event;
	struct oracle_insn insn;
};

/* The log of a hart, read up to its next turn. */
struct source {
	struct oracle_log log;
	struct hart hart;
	struct item queue[QUEUE];
	unsigned int next, count;
	uint64_t turn;		/* instructions before the next turn, UINT64_MAX = none */
	bool ended;
};

/* From @from on, virtual time is instructions plus an offset in [@low, @high). */
struct offset {
	uint64_t from;
	int64_t low, high;
};

static struct source sources[HARTS_MAX];
static unsigned int source_count;
static struct offset *offsets;
static uint32_t offset_count, offset_room;
static uint64_t last_interrupt, clock_values;
static int64_t monotonic;	/* CLOCK_MONOTONIC - virtual time */
static bool has_clock;

static int on_event(void *data, const struct oracle_arrival *event)
{
	struct source *source = data;

	if (source->count == QUEUE) {
		fprintf(stderr, "threads: too many events without an instruction\n");
		return 1;
	}
	source->queue[source->count++].event = *event;
	return 0;
}

/* Reads up to and including the next instruction. Return: false at the end. */
static bool fill(struct source *source, const char *path)
{
	struct oracle_insn insn;
	int result;

	source->next = source->count = 0;
	if (source->ended)
		return false;
	result = oracle_log_next(&source->log, &insn);
	if (result < 0 || (!result && !source->log.closed))
		threads_die(path,
			    source->log.error ? source->log.error : "the section is not closed");
	source->ended = !result;
	if (result) {
		on_event(source, &(struct oracle_arrival){ .token = 0 });
		source->queue[source->count - 1].insn = insn;
	}
	return source->count;
}

/* ---- the clock ---- */

/* The CSR time had this value when so many instructions had been begun. */
static void add_clock(uint64_t now, uint64_t value)
{
	struct offset *last = offset_count ? &offsets[offset_count - 1] : NULL;
	int64_t low = (int64_t)(value * TICK - now) - 2, high = low + TICK + 4;
	uint64_t from = 0;

	clock_values++;
	if (last && low < last->high && high > last->low) {
		last->low = low > last->low ? low : last->low;
		last->high = high < last->high ? high : last->high;
		return;
	}
	if (last)
		from = last_interrupt > last->from ? last_interrupt : now;
	if (!offsets || offset_count == offset_room)
		offsets = threads_grow(offsets, &offset_room, sizeof(*offsets), UINT32_MAX / 64,
				       "waits");
	offsets[offset_count++] = (struct offset){ .from = from, .low = low, .high = high };
}

static int64_t time_of(uint64_t now)
{
	uint32_t low = 0, high = offset_count;

	if (!has_clock || !offset_count)
		return (int64_t)now;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (offsets[middle].from <= now)
			low = middle;
		else
			high = middle;
	}
	return (int64_t)now + (offsets[low].low + offsets[low].high) / 2 + monotonic;
}

static void read_clock(const char *path)
{
	uint64_t before, nanoseconds, after;
	int64_t low = INT64_MIN, high = INT64_MAX;
	FILE *file = fopen(path, "r");

	if (!file)
		threads_die(path, strerror(errno));
	while (fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &before, &nanoseconds, &after) ==
	       3) {
		/* Both clocks are counted in ticks, rounded down. */
		if (low < (int64_t)(nanoseconds - (after + 1) * TICK))
			low = (int64_t)(nanoseconds - (after + 1) * TICK);
		if (high > (int64_t)(nanoseconds + TICK - before * TICK))
			high = (int64_t)(nanoseconds + TICK - before * TICK);
	}
	if (low == INT64_MIN || low > high)
		threads_die(path, "not lines of TIME NANOSECONDS TIME of one clock");
	monotonic = (low + high) / 2;
	has_clock = true;
	fclose(file);
}

/* ---- harts ---- */

static void take_item(struct source *source, const struct item *item)
{
	struct hart *hart = &source->hart;

	switch (item->event.token) {
	case 0:
		stacks_instruction(hart, &item->insn);
		hart->now++;
		break;
	case ORACLE_CLOCK:
		add_clock(hart->now, item->event.value);
		break;
	case ORACLE_TRAP:
		if (item->event.cause & 1)
			last_interrupt = hart->now;
		/* fall through */
	default:
		stacks_event(hart, &item->event);
	}
}

/* Runs a hart up to its next turn. */
static void take_turn(struct source *source, const char *path)
{
	if (source->turn != UINT64_MAX)
		stacks_go_on(&source->hart, source->turn);
	source->turn = UINT64_MAX;
	for (;;) {
		while (source->next < source->count) {
			const struct item *item = &source->queue[source->next++];

			if (item->event.token == ORACLE_TURN) {
				source->turn = item->event.value;
				return;
			}
			take_item(source, item);
		}
		if (!fill(source, path))
			return;
	}
}

static void run(char **paths)
{
	for (unsigned int i = 0; i < source_count; i++) {
		fill(&sources[i], paths[i]);
		stacks_hart_begin(&sources[i].hart, i, sources[i].log.task);
		take_turn(&sources[i], paths[i]);
	}
	for (;;) {
		struct source *first = &sources[0];

		for (unsigned int i = 1; i < source_count; i++)
			if (sources[i].turn < first->turn)
				first = &sources[i];
		if (first->turn == UINT64_MAX)
			break;
		take_turn(first, paths[first - sources]);
	}
	for (unsigned int i = 0; i < source_count; i++) {
		stacks_end(&sources[i].hart);
		oracle_log_close(&sources[i].log);
	}
}

/* ---- output ---- */

static uint32_t print_path(uint32_t node)
{
	uint32_t parent = stacks.nodes[node].parent, thread;

	if (!parent)	/* the root of a thread */
		return UINT32_MAX - stacks.nodes[node].function;
	thread = print_path(parent);
	printf("%s%s", stacks.nodes[parent].parent ? ";" : "",
	       symbols_name(stacks.nodes[node].function));
	return thread;
}

static uint32_t thread_of(uint32_t node)
{
	while (stacks.nodes[node].parent)
		node = stacks.nodes[node].parent;
	return UINT32_MAX - stacks.nodes[node].function;
}

static void print_calls(void)
{
	for (uint32_t i = 0; i < stacks.call_count; i++) {
		const struct call *call = &stacks.calls[i];
		const struct thread *thread = stacks.threads[call->thread];
		bool open = call->flags & CALL_OPEN && !call->end;
		char parent[16] = "-", end[24] = "-";

		if (call->parent != NO_CALL)
			snprintf(parent, sizeof(parent), "%u", call->parent);
		if (!open || !thread->cut)
			snprintf(end, sizeof(end), "%" PRId64,
				 time_of(open ? thread->last : call->end));
		printf("call\t%u\t%u\t%s\t%u\t%" PRId64 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\n",
		       call->thread, i, parent, call->flags, time_of(call->start), end,
		       call->first_instruction, open ? thread->instructions : call->end_instruction,
		       symbols_name(call->function));
	}
	for (uint32_t i = 0; i < stacks.interval_count; i++) {
		const struct interval *interval = &stacks.intervals[i];

		printf("interval\t%u\t%u\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\n",
		       interval->thread, interval->hart, time_of(interval->start),
		       time_of(interval->end), interval->instructions);
	}
}

static void print_pauses(void)
{
	for (uint32_t i = 0; i < stacks.pause_count; i++) {
		const struct pause *pause = &stacks.pauses[i];

		printf("pause\t%u\t%" PRId64 "\t%" PRId64 "\n", pause->hart, time_of(pause->start),
		       time_of(pause->end));
	}
}

static void print(void)
{
	int64_t width = 0;

	for (uint32_t i = 0; i < stacks.thread_count; i++) {
		const struct thread *thread = stacks.threads[i];
		unsigned int exec;
		uint64_t pid;

		symbols_of(thread->table, &pid, &exec);
		printf("thread\t%u\t%" PRIu64 "\t%" PRIu64 "\t%d\t%" PRIu64 "\t%" PRId64
		       "\t%" PRId64 "\t%" PRIu64 "\t%u\n",
		       i, thread->tgid, thread->pid, thread->begun, thread->instructions,
		       time_of(thread->first), time_of(thread->last_shown), pid, exec);
	}
	for (uint32_t i = 1; i < stacks.node_count; i++) {
		const struct node *node = &stacks.nodes[i];

		if (!node->parent || !(node->instructions || node->calls || node->begun))
			continue;
		printf("stack\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", thread_of(i),
		       node->instructions, node->calls, node->begun);
		print_path(i);
		putchar('\n');
	}
	if (stacks.calls_kept)
		print_calls();
	print_pauses();
	for (uint32_t i = 0; i < offset_count; i++)
		if (offsets[i].high - offsets[i].low > width)
			width = offsets[i].high - offsets[i].low;
	printf("clock\t%" PRIu64 "\t%u\t%" PRId64 "\n", clock_values, offset_count - !!offset_count,
	       width);
}

static unsigned int privileges_of(const char *letters)
{
	unsigned int mask = 0;

	for (; *letters; letters++)
		mask |= *letters == 'u' ? 1u : *letters == 's' ? 2u : 0;
	return mask;
}

static unsigned int read_options(int argc, char **argv)
{
	static const struct option options[] = { { "section", required_argument, NULL, 's' },
						 { "privilege", required_argument, NULL, 'p' },
						 { "clock", required_argument, NULL, 'c' },
						 { "calls", no_argument, NULL, 'k' },
						 { "forget", required_argument, NULL, 'f' },
						 { NULL, 0, NULL, 0 } };
	unsigned int section = 0;
	int option;

	stacks.privileges = 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			section = (unsigned int)strtoul(optarg, NULL, 0);
		else if (option == 'p')
			stacks.privileges = privileges_of(optarg);
		else if (option == 'c')
			read_clock(optarg);
		else if (option == 'k')
			stacks.calls_kept = true;
		else if (option == 'f')
			stacks.forget = strtoull(optarg, NULL, 0);
		else
			exit(2);
	}
	if (argc - optind < 2 || argc - optind > 1 + HARTS_MAX) {
		fprintf(stderr, "usage: threads [--section N] [--privilege us] [--clock FILE] "
				"[--calls] [--forget N] SYMBOLS LOG...\n");
		exit(2);
	}
	return section;
}

int main(int argc, char **argv)
{
	unsigned int section = read_options(argc, argv);

	symbols_read(argv[optind]);
	stacks_begin();
	source_count = (unsigned int)(argc - optind - 1);
	for (unsigned int i = 0; i < source_count; i++) {
		struct oracle_log *log = &sources[i].log;

		if (oracle_log_open(log, argv[optind + 1 + (int)i], section))
			threads_die(argv[optind + 1 + (int)i], log->error);
		log->arrive = on_event;
		log->data = &sources[i];
		sources[i].turn = UINT64_MAX;
	}
	run(argv + optind + 1);
	print();
	return 0;
}
