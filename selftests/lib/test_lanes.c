// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of all streams in turns (lib/session/lanes.h): threads that move between three CPUs deep
 * in calls. The schedule is random. Each thread must come with exactly the functions that it
 * executed, in order, and the stacks must have the true callers.
 */
#include "moving_threads.h"

#include <errno.h>
#include <ntrace/stacks.h>

/* ---- what is delivered ---- */

struct delivered {
	int32_t tid;
	char seen[SEEN_MAX];
	size_t count;
	uint64_t turn;
	bool has_origin;
};

static struct delivered delivered[THREADS + 1];
static uint64_t calls, stop_after, checksum, after_stop, wrong_turns, wrong_origins, ends;
static int stop_result;
static unsigned int last_stream, changes_of_stream;
static unsigned int jobs = 1;
/* Calls of each stream without one of another one in between: at most, and so far. */
static unsigned int longest[CPUS], together;

static struct ntrace_stacks *stacks;

static struct delivered *delivered_of(int32_t tid)
{
	if (tid == CHILD)
		return &delivered[THREADS];
	return tid >= FIRST && tid < FIRST + THREADS ? &delivered[tid - FIRST] : NULL;
}

static void mix(uint64_t value)
{
	checksum = (checksum ^ value) * UINT64_C(0x100000001b3);
}

static int result_of_call(void)
{
	calls++;
	after_stop += stop_after && calls > stop_after;
	if (!stop_after || calls < stop_after)
		return 0;
	errno = (int)calls;
	return stop_result;
}

static void check_turn(int32_t tid, uint64_t number, const struct ntrace_origin *origin)
{
	struct delivered *to = delivered_of(tid);

	if (!to)
		return;
	/* All records exist: a number is left out only where a CPU has no stream. */
	wrong_turns += number < to->turn || (traced == CPUS && number > to->turn + 1);
	to->turn = number;
	wrong_origins += origin && (tid != CHILD || number != 1 || origin->tid != FIRST ||
				    !origin->turn || delivered[0].turn < origin->turn);
	to->has_origin |= origin != NULL;
}

static int take_in_turn(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	mix(event->flow->type);
	mix((uint64_t)event->tid);
	mix(event->flow->offset);
	check_turn(event->tid, event->turn, event->origin);
	return stacks && ntrace_stacks_event(stacks, event) ? -1 : result_of_call();
}

static void see(int32_t tid, uint64_t address)
{
	struct delivered *to = delivered_of(tid);
	char letter = (char)('0' + (address - CODE) / 16);

	if (!to || (to->count && to->seen[to->count - 1] == letter) || to->count == SEEN_MAX)
		return;
	to->seen[to->count++] = letter;
}

static void see_blocks(const struct ntrace_segment *segment, const struct ntrace_block_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		mix(batch->blocks[i].address);
		if (segment->at.privilege == NTRACE_PRIV_U)
			see(segment->at.tid, batch->blocks[i].address);
	}
}

static int take_segment(void *data, const struct ntrace_segment *segment)
{
	struct ntrace_block_batch batch;
	struct ntrace_segment part;

	(void)data;
	mix((uint64_t)segment->at.tid);
	mix(segment->at.stream);
	mix(segment->at.turn);
	if (segment->type != NTRACE_SEGMENT_SUM)
		check_turn(segment->at.tid, segment->at.turn, segment->at.origin);
	changes_of_stream += segment->at.stream != last_stream;
	together = segment->at.stream != last_stream ? 1 : together + 1;
	last_stream = segment->at.stream;
	if (together > longest[last_stream])
		longest[last_stream] = together;
	if (segment->type == NTRACE_SEGMENT_BLOCKS)
		see_blocks(segment, segment->batch);
	for (size_t i = 0; segment->type == NTRACE_SEGMENT_RUN && i < segment->run->count; i++) {
		ntrace_segment_step(segment, i, &batch, &part);
		see_blocks(segment, &batch);
	}
	return stacks && ntrace_stacks_segment(stacks, segment) ? -1 : result_of_call();
}

static int take_end(void *data, unsigned int stream)
{
	(void)data;
	ends |= UINT64_C(1) << stream;
	mix(stream);
	return stacks && ntrace_stacks_end_stream(stacks, stream) ? -1 : result_of_call();
}

static struct ntrace_session *open_session(const char *name,
					   int (*progress)(void *, unsigned int, uint64_t))
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = in("root"),
						  .note = take_note,
						  .progress = progress };
	struct ntrace_session *session = NULL;

	notes[0] = '\0';
	if (ntrace_session_open(&session, in(name), &options))
		ok(false, "%s opens", name);
	return session;
}

static int decode_all(struct ntrace_session *session, uint32_t needs,
		      struct ntrace_flow_stats *stats)
{
	const struct ntrace_decode_options options = { .size = sizeof(options),
						       .stream = NTRACE_ALL_STREAMS,
						       .needs = needs,
						       .event = take_in_turn,
						       .segment = take_segment,
						       .end = take_end,
						       .stats = stats,
						       .jobs = jobs };

	memset(delivered, 0, sizeof(delivered));
	checksum = calls = after_stop = wrong_turns = wrong_origins = ends = 0;
	changes_of_stream = together = 0;
	memset(longest, 0, sizeof(longest));
	last_stream = 0;

	return ntrace_session_decode(session, &options);
}

/* ---- order ---- */

static void check_order(const char *name, uint32_t needs)
{
	struct ntrace_session *session = open_session(name, NULL);
	struct ntrace_flow_stats stats = { 0 };
	uint64_t first;

	if (!session)
		return;
	is_u64((uint64_t)decode_all(session, needs, &stats), 0, "%s: decodes", name);
	is_str(notes, "", "%s: nothing to be said", name);
	for (unsigned int i = 0; i <= THREADS; i++) {
		const struct simulated *want = &threads[i];
		const struct delivered *got = &delivered[i];

		ok(got->count == want->count && !memcmp(got->seen, want->seen, got->count),
		   "%s: thread %d comes in its order: %zu functions of %zu", name, want->tid,
		   got->count, want->count);
	}
	is_u64(wrong_turns, 0, "%s: turns grow, by one", name);
	is_u64(wrong_origins, 0, "%s: origins", name);
	is_u64(delivered[THREADS].has_origin, threads[THREADS].count > 0, "%s: only of the child",
	       name);
	is_u64(ends, (1u << traced) - 1, "%s: each stream ends", name);
	is_u64(stats.errors + stats.gaps, 0, "%s: no errors", name);
	first = checksum;
	decode_all(session, needs, NULL);
	ok(checksum == first, "%s: the same session gives the same calls again", name);
	ntrace_session_close(session);
	session = open_session(name, NULL);
	decode_all(session, needs, NULL);
	ok(checksum == first, "%s: so does another one", name);
	for (jobs = 2; jobs <= 7; jobs += 5) {
		struct ntrace_flow_stats other = { 0 };
		bool same = !decode_all(session, needs, &other) && checksum == first;

		ok(same && !memcmp(&stats, &other, sizeof(stats)),
		   "%s: %u threads give the same calls and totals", name, jobs);
	}
	jobs = 1;
	ntrace_session_close(session);
}

static void test_order(void)
{
	for (unsigned int i = 0; i < 12; i++) {
		char name[32];

		snprintf(name, sizeof(name), "order%u", i);
		make(name, i + 1, i < 6 ? 100 : 600, i & 1);
		ok(moved > 10, "%s: %u switches, %u moves", name, switched, moved);
		check_order(name, NTRACE_NEEDS_TURNS);
		check_order(name, NTRACE_NEEDS_TURNS | NTRACE_NEEDS_RUNS);
		check_order(name, NTRACE_NEEDS_TURNS | NTRACE_NEEDS_RUNS | NTRACE_NEEDS_SUMS |
					  NTRACE_NEEDS_THREADS);
	}
}

/*
 * CPUs whose threads never move: none has to wait for another one, and each delivers for a while only, so that the others
 * need not keep all that they decode.
 */
static void test_fair(void)
{
	struct ntrace_session *session;
	unsigned int most = 0;

	seed = 4;
	open_harts("fair");
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		go_to(cpu, &threads[cpu]);
	for (unsigned int i = 0; i < 2000; i++)
		run_cpu(i % CPUS);
	close_harts("fair");
	check_order("fair", NTRACE_NEEDS_TURNS);
	check_order("fair", NTRACE_NEEDS_TURNS | NTRACE_NEEDS_RUNS);
	session = open_session("fair", NULL);
	decode_all(session, NTRACE_NEEDS_TURNS, NULL);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		if (longest[cpu] > most)
			most = longest[cpu];
	ok(most < calls / CPUS / 2, "one stream has at most %u of %u calls before the next one",
	   most, (unsigned int)calls);
	ntrace_session_close(session);
}

/* A CPU without trace: threads come in their order all the same, without what it executed. */
static void test_untraced(void)
{
	traced = CPUS - 1;
	for (unsigned int i = 0; i < 6; i++) {
		char name[32];

		snprintf(name, sizeof(name), "untraced%u", i);
		make(name, i + 50, 400, false);
		check_order(name, NTRACE_NEEDS_TURNS);
	}
	traced = CPUS;
}

/* ---- stacks ---- */

/* Frames of each thread, and of the idle thread of each CPU. */
static char frames[THREADS + 1 + CPUS][256][24];
static size_t depths[THREADS + 1 + CPUS];
static unsigned int wrong_changes, idle_changes;

static int take_change(void *data, const struct ntrace_stack_change *change)
{
	size_t which = change->tid == CHILD ? THREADS :
		       change->tid > 0	    ? (size_t)(change->tid - FIRST) :
					      THREADS + 1 + change->stream;

	(void)data;
	mix(change->type);
	mix((uint64_t)change->tid);
	mix(change->instructions);
	if (change->type != NTRACE_STACK_ENTER && change->type != NTRACE_STACK_LEAVE)
		return 0;
	if (change->tid < 0 || which >= THREADS + 1 + CPUS) {
		wrong_changes++;
		return 0;
	}
	idle_changes += change->tid == 0;
	if (change->type == NTRACE_STACK_ENTER) {
		wrong_changes += change->depth != depths[which] || depths[which] >= 256;
		snprintf(frames[which][depths[which]++ & 255], 24, "%s", change->name);
	} else {
		wrong_changes += !depths[which] || change->depth != depths[which] - 1 ||
				 strcmp(frames[which][change->depth & 255], change->name) != 0;
		depths[which] -= depths[which] > 0;
	}
	return 0;
}

static struct ntrace_stacks *new_stacks(bool with_changes)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options),
						       .change = with_changes ? take_change :
										NULL };
	struct ntrace_stacks *made = NULL;

	memset(depths, 0, sizeof(depths));
	wrong_changes = idle_changes = 0;
	if (ntrace_stacks_new(&made, &options))
		ok(false, "stacks");
	return made;
}

/* The true callers: those of f0 are not seen, and each other function is called by its caller. */
static void check_callers(const char *name)
{
	uint64_t instructions[THREADS][FUNCTIONS] = { 0 }, orphans = 0, orders = 0, differ = 0;
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_node *nodes;
	size_t count, function_count;

	functions = ntrace_stacks_functions(stacks, &function_count);
	nodes = ntrace_stacks_nodes(stacks, &count);
	for (size_t i = 0; i < count; i++) {
		const struct ntrace_stack_function *at = &functions[nodes[i].function];
		const struct ntrace_stack_function *above =
			&functions[nodes[nodes[i].parent].function];
		size_t task = i;

		while (task && functions[nodes[task].function].kind != NTRACE_STACK_TASK)
			task = nodes[task].parent;
		orders += !strcmp(at->name, "[moved, order unknown]");
		if (at->kind != NTRACE_STACK_FUNCTION || at->name[0] != 'f' || at->name[2])
			continue;
		if (functions[nodes[task].function].tid == CHILD)
			continue;
		if (at->name[1] == '0')
			orphans += above->kind == NTRACE_STACK_FUNCTION;
		else
			orphans += above->name[0] != 'f' || above->name[1] + 1 != at->name[1];
		instructions[(functions[nodes[task].function].tid - FIRST) % THREADS]
			    [(at->name[1] - '0') % FUNCTIONS] += nodes[i].instructions;
	}
	for (unsigned int i = 0; i < THREADS; i++)
		differ += memcmp(instructions[i], threads[i].instructions,
				 sizeof(instructions[i])) != 0;
	is_u64(orphans, 0, "%s: each function has its true caller", name);
	is_u64(orders, 0, "%s: the order is known", name);
	is_u64(differ, 0, "%s: instructions of each function in each thread", name);
}

static void test_stacks(void)
{
	static const uint32_t needs[] = { NTRACE_NEEDS_TURNS,
					  NTRACE_NEEDS_TURNS | NTRACE_NEEDS_RUNS };

	for (unsigned int i = 0; i < 10; i++) {
		uint64_t sums[2] = { 0 };
		char name[32];

		snprintf(name, sizeof(name), "stacks%u", i);
		make(name, 1000 + i, 400, i & 1);
		for (unsigned int way = 0; way < 8; way++) {
			struct ntrace_session *session = open_session(name, NULL);

			/* Changes do without RUNs, which only count. */
			stacks = new_stacks(way & 1);
			jobs = way < 4 ? 1 : 3;
			is_u64((uint64_t)decode_all(session, needs[way / 2 % 2], NULL), 0,
			       "%s: stacks, way %u", name, way);
			is_u64((uint64_t)ntrace_stacks_end(stacks), 0, "%s: their end", name);
			if (way == 1 || way == 5)
				sums[way / 4] = checksum;
			check_callers(name);
			if (way & 1) {
				is_u64(wrong_changes, 0, "%s: changes fit together", name);
				ok(idle_changes > 10, "%s: also those of idle threads", name);
			}
			ntrace_stacks_free(stacks);
			stacks = NULL;
			ntrace_session_close(session);
		}
		jobs = 1;
		ok(sums[0] == sums[1], "%s: the same changes with three threads", name);
	}
}

/* One stream after the other: where threads have moved, their order is not known. */
static void test_unknown_order(void)
{
	const struct ntrace_stack_function *functions;
	struct ntrace_session *session;
	struct ntrace_stacks_stats stats;
	uint64_t instructions = 0;
	unsigned int found = 0;
	size_t count;

	make("unknown", 77, 400, false);
	session = open_session("unknown", NULL);
	stacks = new_stacks(true);
	is_u64((uint64_t)decode_all(session, 0, NULL), 0, "streams one after the other");
	is_u64((uint64_t)ntrace_stacks_end(stacks), 0, "their end");
	functions = ntrace_stacks_functions(stacks, &count);
	for (size_t i = 0; i < count; i++) {
		found += !strcmp(functions[i].name, "[moved, order unknown]");
		if (functions[i].name[0] == 'f' && !functions[i].name[2])
			instructions += functions[i].instructions;
	}
	is_u64(found, 1, "[moved, order unknown]");
	is_u64(wrong_changes, 0, "changes fit together");
	for (unsigned int i = 0; i < THREADS; i++)
		for (unsigned int k = 0; k < FUNCTIONS; k++)
			instructions -= threads[i].instructions[k];
	is_u64(instructions, 0, "and all instructions are counted");
	ntrace_stacks_get_stats(stacks, &stats);
	is_u64(stats.gaps, 0, "without a loss");
	ntrace_stacks_free(stacks);
	stacks = NULL;
	ntrace_session_close(session);
}

/* ---- a switch that is torn ---- */

/*
 * CPU 0 goes to another thread. @torn: a sync divides __switch_to(), and its rest is never executed, as a trap comes
 * first.
 */
static void go_to_slowly(struct simulated *next, bool torn)
{
	int32_t from = running[0] ? running[0]->tid : 0, to = next ? next->tid : 0;
	unsigned int priv = running[0] ? NTRACE_PRIV_U : NTRACE_PRIV_S;

	now += 10;
	switch_threads(from, from, to, to);
	hart_block(&hart, hart.loop, 0, NTRACE_ITYPE_INTERRUPT, 0, priv);
	hart_block(&hart, TRAP_ENTRY, 1, NTRACE_ITYPE_INDIRECT_CALL, 0, NTRACE_PRIV_S);
	if (torn) {
		hart_block(&hart, SWITCH_TO, 1, NTRACE_ITYPE_NONE, 0, NTRACE_PRIV_S);
		ntrace_encoder_marker(&hart.encoder, NTRACE_SYNC_EXTERNAL_TRIGGER);
		hart_block(&hart, SWITCH_TO + 2, 0, NTRACE_ITYPE_INTERRUPT, 0, NTRACE_PRIV_S);
	} else {
		hart_block(&hart, SWITCH_TO, 2, NTRACE_ITYPE_RETURN, 0, NTRACE_PRIV_S);
	}
	hart_block(&hart, TRAP_ENTRY + 2, 1, NTRACE_ITYPE_INDIRECT_CALL, 0, NTRACE_PRIV_S);
	hart_block(&hart, NOTHING, 1, NTRACE_ITYPE_RETURN, 0, NTRACE_PRIV_S);
	hart_block(&hart, TRAP_ENTRY + 4, 2, NTRACE_ITYPE_TRAP_RETURN, 1, NTRACE_PRIV_S);
	hart.loop = place_of(next);
	running[0] = next;
	run_cpu(0);
}

/* What ends the switch is the first of the next thread, and comes in its turn. */
static void test_torn(void)
{
	put_parcel(SWITCH_TO, 0x0001);
	put_parcel(SWITCH_TO + 2, 0x8082);
	write_kcore(in("kcore"));
	seed = 3;
	traced = 1;
	open_harts("torn");
	for (unsigned int i = 0; i < 3; i++) {
		go_to_slowly(&threads[0], false);
		go_to_slowly(NULL, false);
	}
	go_to_slowly(&threads[0], false);
	go_to_slowly(&threads[1], true);
	close_harts("torn");
	make_kernel_text();
	write_kcore(in("kcore"));
	check_order("torn", NTRACE_NEEDS_TURNS);
	check_order("torn", NTRACE_NEEDS_TURNS | NTRACE_NEEDS_RUNS);
	traced = CPUS;
}

/* ---- stopping ---- */

static uint64_t progress_calls, progress_stop;

static int take_progress(void *data, unsigned int stream, uint64_t bytes)
{
	(void)data;
	(void)stream;
	(void)bytes;
	return ++progress_calls == progress_stop ? 9 : 0;
}

static void test_stops(void)
{
	struct ntrace_session *session;
	unsigned int bad = 0, after = 0, lost = 0, tries = 0;
	uint64_t all;

	make("stops", 5, 300, false);
	session = open_session("stops", NULL);
	decode_all(session, NTRACE_NEEDS_TURNS, NULL);
	all = calls;
	ok(all > 100 && changes_of_stream > 20, "%u calls, which change the stream %u times",
	   (unsigned int)all, changes_of_stream);
	stop_result = 7;
	for (stop_after = 1; stop_after <= all; stop_after += 3) {
		jobs = 1 + tries % 3;
		bad += decode_all(session, NTRACE_NEEDS_TURNS, NULL) != 7;
		lost += errno != (int)stop_after;
		after += after_stop > 0;
		tries++;
	}
	stop_after = all;
	bad += decode_all(session, NTRACE_NEEDS_TURNS, NULL) != 7;
	is_u64(bad, 0, "what a callback returns ends decoding: %u times", tries);
	is_u64(lost, 0, "with the errno of whoever failed, whatever waits for its stream");
	is_u64(after, 0, "and no other call comes");
	stop_result = NTRACE_ERR_NOMEM;
	stop_after = all / 2;
	is_u64((uint64_t)decode_all(session, NTRACE_NEEDS_TURNS, NULL), (uint64_t)NTRACE_ERR_NOMEM,
	       "also an error of the library");
	stop_after = 0;
	jobs = 1;
	is_u64((uint64_t)decode_all(session, NTRACE_NEEDS_TURNS, NULL), 0,
	       "the session decodes again");
	is_u64(calls, all, "all of it");
	ntrace_session_close(session);

	session = open_session("stops", take_progress);
	for (progress_stop = 1; progress_stop <= CPUS; progress_stop++) {
		progress_calls = 0;
		is_u64((uint64_t)decode_all(session, NTRACE_NEEDS_TURNS, NULL), 9,
		       "the progress function stops, call %u", (unsigned int)progress_stop);
		is_u64(progress_calls, progress_stop, "and is not called again");
	}
	ntrace_session_close(session);
}

/* One stream in turns, and a stream whose file is missing. */
static void test_parts(void)
{
	struct ntrace_decode_options options = { .size = sizeof(options),
						 .stream = 1,
						 .needs = NTRACE_NEEDS_TURNS,
						 .event = take_in_turn,
						 .segment = take_segment,
						 .end = take_end };
	struct ntrace_session *session;
	char path[600];

	make("parts", 9, 300, false);
	session = open_session("parts", NULL);
	ends = 0;
	memset(delivered, 0, sizeof(delivered));
	is_u64((uint64_t)ntrace_session_decode(session, &options), 0, "one stream of several");
	is_u64(ends, 2, "no other one");
	ok(delivered[0].count && delivered[0].count < threads[0].count, "a part of a thread");
	options.stream = CPUS;
	is_u64((uint64_t)ntrace_session_decode(session, &options), (uint64_t)NTRACE_ERR_INVALID,
	       "no such stream");
	ntrace_session_close(session);
	session = open_session("parts", NULL);
	snprintf(path, sizeof(path), "%s/aux.1", in("parts"));
	unlink(path);
	errno = 0;
	is_u64((uint64_t)decode_all(session, NTRACE_NEEDS_TURNS, NULL), (uint64_t)NTRACE_ERR_IO,
	       "the file of a stream is missing");
	is_u64((uint64_t)errno, ENOENT, "with the reason");
	ntrace_session_close(session);
}

static void tests(void)
{
	if (!ok(build_deep(), "makes the program"))
		return;
	test_order();
	test_fair();
	test_untraced();
	test_stacks();
	test_unknown_order();
	test_torn();
	test_stops();
	test_parts();
}

int main(void)
{
	return test_sessions(tests);
}
