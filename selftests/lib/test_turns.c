// SPDX-License-Identifier: GPL-2.0-only
/*
 * The turns of threads over all CPUs (lib/session/turns.h), from switch records written here. The
 * order is derived by hand, and for random schedules from the schedule.
 */
#include <stdlib.h>

#include "session/follow_parts.h"
#include "session/turns.h"

#include "sideband_records.h"

#define STREAMS 4
#define START 1000

static struct ntrace_session session;
static struct ntrace_recording recording;
static struct ntrace_stream streams[STREAMS];
static struct spaces spaces[STREAMS];
static struct follower followers[STREAMS];
static struct turns turns;

struct listed_task {
	int32_t pid, tid;
};

/* @count streams, of CPUs 0, 1, ... from START on. */
static void begin(unsigned int count)
{
	open_records();
	memset(streams, 0, sizeof(streams));
	for (unsigned int i = 0; i < count; i++)
		streams[i] = (struct ntrace_stream){ .file = "aux", .cpu = i, .start_ns = START };
	recording.stream_count = count;
}

static void open_machine(void)
{
	memset(&session, 0, sizeof(session));
	session.directory = directory;
	session.sysroot = directory;
	session.recording = &recording;
	session.streams = streams;
	if (ntrace_perf_writer_close(sideband) || machine_open(&session.machine, in("data")))
		ok(false, "reads the records");
}

/* Orders the turns of the streams in @mask. */
static void order(unsigned int mask)
{
	struct follower *used[STREAMS] = { NULL };

	open_machine();
	for (unsigned int i = 0; i < recording.stream_count; i++) {
		if (!(mask >> i & 1))
			continue;
		spaces[i] = (struct spaces){ .session = &session };
		if (follower_init(&followers[i], &spaces[i], i, false))
			ok(false, "follows stream %u", i);
		used[i] = &followers[i];
	}
	if (turns_make(&turns, used, recording.stream_count))
		ok(false, "orders the turns");
	for (unsigned int i = 0; i < recording.stream_count; i++) {
		if (!used[i])
			continue;
		follower_free(&followers[i]);
		spaces_free(&spaces[i]);
	}
}

static void end(void)
{
	turns_free(&turns);
	machine_close(&session.machine);
}

/*
 * For each interval the number of its turn; "+MADE"; "<STREAM.INDEX" the turn before it; "(TID TURN NUMBER)" its
 * origin. After exec in it: "/", and those of the other turn. An INDEX is of an interval, with "/" of that turn.
 */
static const char *text_of(unsigned int stream)
{
	static char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");

	for (size_t i = 0; i < turns.counts[stream]; i++) {
		const struct turn *turn = &turns.streams[stream][i];

		if (i % 2 && !turn->number)
			continue;
		fprintf(out, "%s%u", i % 2 ? "/" : i ? " " : "", (unsigned int)turn->number);
		if (turn->made)
			fprintf(out, "+%u", (unsigned int)turn->made);
		if (turn->before_stream != TURN_NO_STREAM)
			fprintf(out, "<%u.%zu%s", turn->before_stream, turn->before / 2,
				turn->before % 2 ? "/" : "");
		if (turn->origin)
			fprintf(out, "(%d %u %u)", turn->origin->tid,
				(unsigned int)turn->origin->turn,
				(unsigned int)turn->origin->number);
	}
	fclose(out);
	return text;
}

/* ---- numbers ---- */

static void test_numbers(void)
{
	/* Threads 10, 20, 30, as in the picture of turns.h. */
	begin(2);
	goes_on(0, 500, 0, 10);
	goes_on(0, 2000, 10, 20);
	goes_on(0, 4000, 20, 10);
	goes_on(1, 500, 0, 30);
	goes_on(1, 2500, 30, 10);
	goes_on(1, 3500, 10, 0);
	goes_on(1, 4500, 0, 20);
	order(3);
	is_str(text_of(0), "1 1 3<1.1",
	       "two threads on CPU 0, one of which was elsewhere meanwhile");
	is_str(text_of(1), "1 2<0.0 0 2<0.1", "the idle thread has no number");
	is_u64(turns.streams[0][2].start, 2000, "a turn starts with the switch");
	is_u64(turns.streams[0][0].start, START, "or with the stream");
	end();

	/* At the very moment in which it ends on one CPU it begins on another. */
	begin(2);
	goes_on(0, 500, 0, 10);
	goes_on(0, 2000, 10, 0);
	goes_on(1, 500, 9, 0);
	goes_on(1, 2000, 0, 10);
	goes_on(1, 3000, 10, 0);
	order(3);
	is_str(text_of(1), "0 2<0.0 0", "moved without any time between");
	end();

	/* One CPU alone: all that happens elsewhere is not seen. */
	begin(1);
	goes_on(0, 500, 0, 10);
	goes_on(0, 2000, 10, 0);
	goes_on(0, 3000, 0, 10);
	order(1);
	is_str(text_of(0), "1 0 2<0.0", "the thread slept");
	end();

	begin(1);
	order(1);
	is_str(text_of(0), "0", "no switches: one turn of an unknown thread");
	end();
}

/* ---- what no stream contains ---- */

static void test_unseen(void)
{
	/* Thread 10 runs on CPU 2 between its turns on CPUs 1 and 0. */
	begin(2);
	goes_on(1, 500, 0, 10);
	goes_on(1, 2000, 10, 0);
	goes_on(2, 2500, 0, 10);
	goes_on(2, 2600, 10, 0);
	goes_on(0, 500, 9, 0);
	goes_on(0, 3000, 0, 10);
	goes_on(0, 4000, 10, 0);
	goes_on(0, 5000, 0, 10);
	order(3);
	is_str(text_of(1), "1 0", "before");
	is_str(text_of(0), "0 3<1.0 0 4<0.1",
	       "a turn on a CPU without trace has a number, and does not change the order");
	end();

	/* The same CPU has a stream that is not decoded. */
	begin(3);
	goes_on(1, 500, 0, 10);
	goes_on(1, 2000, 10, 0);
	goes_on(2, 500, 9, 0);
	goes_on(2, 2500, 0, 10);
	goes_on(2, 2600, 10, 0);
	goes_on(0, 500, 9, 0);
	goes_on(0, 3000, 0, 10);
	order(3);
	is_str(text_of(0), "0 3<1.0", "a stream that is not decoded");
	end();
}

static void test_lost(void)
{
	static const struct {
		uint64_t lost;
		const char *want, *name;
	} cases[] = {
		{ 2500, "0 3<1.0 0 4<0.1", "records lost on another CPU between two turns" },
		{ 1200, "0 2<1.0 0 3<0.1", "before them" },
		{ 3500, "0 2<1.0 0 4<0.1", "between the next two" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(2);
		goes_on(1, 500, 0, 10);
		goes_on(1, 2000, 10, 0);
		goes_on(0, 500, 9, 0);
		goes_on(0, 3000, 0, 10);
		goes_on(0, 3300, 10, 0);
		goes_on(0, 4000, 0, 10);
		/* Lost after one switch of CPU 2 and before the next one. */
		goes_on(2, cases[i].lost - 100, 0, 50);
		loses_on(2, cases[i].lost, 1);
		goes_on(2, cases[i].lost + 100, 50, 0);
		order(3);
		is_str(text_of(0), cases[i].want, "%s", cases[i].name);
		end();
	}
	/* No switch after the loss: the CPU may have executed anything from then on. */
	begin(2);
	goes_on(1, 500, 0, 10);
	goes_on(1, 2000, 10, 0);
	goes_on(0, 500, 9, 0);
	goes_on(0, 3000, 0, 10);
	goes_on(2, 1100, 50, 0);
	loses_on(2, 1200, 1);
	order(3);
	is_str(text_of(0), "0 3<1.0", "the last records of a CPU are lost");
	end();
}

/* The thread executed something in the same interval before the stream began, or after it ended. */
static void test_cut(void)
{
	begin(2);
	streams[1].start_ns = 100;
	goes_on(1, 50, 0, 10);
	goes_on(1, 400, 10, 0);
	goes_on(0, 500, 0, 10);
	goes_on(0, 2000, 10, 0);
	order(3);
	is_str(text_of(0), "3<1.0 0", "a stream that starts in an interval");
	end();

	begin(2);
	streams[1].start_ns = 100;
	streams[0].start_ns = 450;
	goes_on(1, 50, 0, 10);
	goes_on(1, 400, 10, 0);
	goes_on(0, 300, 7, 0);
	goes_on(0, 500, 0, 10);
	goes_on(0, 2000, 10, 0);
	order(3);
	is_str(text_of(0), "0 2<1.0 0", "before it");
	end();

	begin(2);
	streams[1].stop_ns = 1500;
	goes_on(1, 500, 0, 10);
	goes_on(1, 2000, 10, 0);
	goes_on(0, 500, 9, 0);
	goes_on(0, 3000, 0, 10);
	order(3);
	is_str(text_of(0), "0 3<1.0", "a stream that stops in an interval");
	end();

	begin(2);
	streams[1].stop_ns = 2000;
	goes_on(1, 500, 0, 10);
	goes_on(1, 2000, 10, 0);
	goes_on(0, 500, 9, 0);
	goes_on(0, 3000, 0, 10);
	order(3);
	is_str(text_of(0), "0 2<1.0", "at its end");
	end();

	/* A stream that stops before the thread comes to its CPU. */
	begin(2);
	streams[1].stop_ns = 1500;
	goes_on(0, 500, 0, 10);
	goes_on(0, 1200, 10, 0);
	goes_on(0, 3000, 0, 10);
	goes_on(1, 500, 9, 0);
	goes_on(1, 2000, 0, 10);
	goes_on(1, 2500, 10, 0);
	order(3);
	is_str(text_of(0), "1 0 3<0.0", "a turn after the end of its stream");
	end();
}

/* ---- times that contradict each other ---- */

static void test_contradictions(void)
{
	begin(2);
	goes_on(0, 500, 0, 10);
	goes_on(0, 3000, 10, 0);
	goes_on(0, 5000, 0, 10);
	goes_on(1, 500, 9, 0);
	goes_on(1, 2000, 0, 10);
	goes_on(1, 4000, 10, 0);
	order(3);
	is_str(text_of(0), "1 0 4<1.1", "a thread on two CPUs at once: later turns have an order");
	is_str(text_of(1), "0 3 0", "but these two have none");
	end();

	/* The first turn lasts longer than the second one. */
	begin(2);
	goes_on(0, 500, 0, 10);
	goes_on(0, 5000, 10, 0);
	goes_on(1, 500, 9, 0);
	goes_on(1, 2000, 0, 10);
	goes_on(1, 3000, 10, 0);
	goes_on(1, 4000, 0, 10);
	goes_on(1, 6000, 10, 0);
	order(3);
	ok(turns.streams[1][6].number > turns.streams[1][2].number + 1,
	   "between two turns the thread may have executed something in a third one: %s",
	   text_of(1));
	end();
}

/* ---- births ---- */

static void test_births(void)
{
	/* The children begin on CPU 1 while their parent still runs. */
	begin(2);
	goes_on(0, 500, 0, 10);
	forks_on(0, 1100, 10, 11);
	forks_on(0, 1200, 10, 12);
	goes_on(0, 2000, 10, 0);
	goes_on(0, 2500, 0, 10);
	forks_on(0, 2600, 10, 13);
	goes_on(0, 3000, 10, 13);
	goes_on(1, 500, 9, 0);
	goes_on(1, 1300, 0, 12);
	goes_on(1, 1400, 12, 11);
	goes_on(1, 1500, 11, 12);
	goes_on(1, 1600, 12, 0);
	order(3);
	is_str(text_of(1), "0 1<0.0(10 1 1) 1<0.0(10 1 0) 2<1.1 0",
	       "the first turn of a thread comes after that of its parent, and only it has an "
	       "origin");
	is_str(text_of(0), "1 0 2+2<0.0 1<0.2(10 2 2)",
	       "turns count the threads that were made before them");
	is_u64((uint64_t)turns.streams[1][2].origin->pid, 10, "with its process");
	end();

	/* A child that never runs counts. */
	begin(1);
	goes_on(0, 500, 0, 10);
	forks_on(0, 1100, 10, 11);
	forks_on(0, 1200, 10, 12);
	goes_on(0, 2000, 10, 12);
	order(1);
	is_str(text_of(0), "1 1<0.0(10 1 1)", "a sibling that never runs");
	end();

	/* Numbers of threads are used again. */
	begin(1);
	goes_on(0, 500, 0, 10);
	forks_on(0, 1100, 10, 11);
	goes_on(0, 2000, 10, 11);
	goes_on(0, 2100, 11, 20);
	forks_on(0, 2200, 20, 11);
	goes_on(0, 2300, 20, 11);
	goes_on(0, 2400, 11, 10);
	order(1);
	ok(turns.streams[0][6].origin && turns.streams[0][6].origin->tid == 20 &&
		   turns.streams[0][6].before == 4 && turns.streams[0][6].before_stream == 0,
	   "another thread with the same number has another origin: %s", text_of(0));
	ok(turns.streams[0][6].number > turns.streams[0][2].number, "and numbers that go on");
	ok(turns.streams[0][2].origin && turns.streams[0][2].origin->tid == 10, "the first one");
	end();

	/* The first of two threads with the same number never ran. */
	begin(1);
	goes_on(0, 500, 0, 10);
	forks_on(0, 1100, 10, 11);
	goes_on(0, 2000, 10, 20);
	forks_on(0, 2200, 20, 11);
	goes_on(0, 2300, 20, 11);
	order(1);
	is_str(text_of(0), "1 1 1<0.1(20 1 0)", "only the second one ran");
	end();

	/* The turn of the parent is not known, or in no stream. */
	begin(1);
	goes_on(0, 500, 0, 20);
	forks_on(1, 1100, 10, 11);
	goes_on(0, 2000, 20, 11);
	order(1);
	is_str(text_of(0), "1 1(10 0 0)", "a parent without a turn");
	end();
	begin(1);
	goes_on(0, 500, 0, 20);
	goes_on(1, 500, 0, 10);
	forks_on(1, 1100, 10, 11);
	goes_on(1, 1200, 10, 0);
	goes_on(0, 2000, 20, 11);
	order(1);
	is_str(text_of(0), "1 1(10 1 0)", "a parent on a CPU without trace");
	end();

	/* The child ran on a CPU without trace first. */
	begin(1);
	goes_on(0, 500, 0, 10);
	forks_on(0, 1100, 10, 11);
	goes_on(1, 1200, 0, 11);
	goes_on(1, 1300, 11, 0);
	goes_on(0, 2000, 10, 11);
	order(1);
	ok(!turns.streams[0][2].origin && turns.streams[0][2].number > 1,
	   "not the first turn of the child: %s", text_of(0));
	end();
}

/* ---- exec ---- */

/* @pid calls exec. */
static void named_on(uint32_t cpu, int32_t pid, uint64_t time, const char *name)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_COMM,
				      .cpu = cpu,
				      .pid = pid,
				      .tid = pid,
				      .time = time,
				      .exec = true,
				      .name = name });
}

static void moves_on(uint32_t cpu, uint64_t time, struct listed_task from, struct listed_task to)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
				      .cpu = cpu,
				      .pid = from.pid,
				      .tid = from.tid,
				      .other_pid = to.pid,
				      .other_tid = to.tid,
				      .out = true,
				      .time = time });
}

/* Thread 15 of process 10 calls exec on CPU 1 while thread 10 still runs on CPU 0. @died: end of the latter's turn. */
static void exec_on(uint32_t cpu, uint64_t died)
{
	const struct listed_task idle = { 0, 0 }, first = { 10, 10 }, other = { 10, 15 };

	begin(2);
	moves_on(0, 500, idle, first);
	moves_on(0, 2000, first, idle);
	moves_on(0, 2400, idle, first);
	moves_on(1, 500, idle, other);
	moves_on(1, 2200, other, idle);
	moves_on(1, 2300, idle, other);
	named_on(1, 10, 100, "old");
	named_on(cpu, 10, 3000, "new");
	moves_on(0, died, first, idle);
	moves_on(1, 3500, first, idle);
	moves_on(0, 4000, idle, first);
	moves_on(0, 5000, first, idle);
}

static void test_execs(void)
{
	exec_on(1, 2700);
	order(3);
	is_str(text_of(0), "1 0 2<0.0 0 5<1.2/ 0",
	       "a thread becomes the first one by exec, and goes on on another CPU");
	is_str(text_of(1), "1 0 2<1.0/4<0.2(15 2 0) 0",
	       "its turn comes after those of the earlier first thread, of which it is no "
	       "continuation");
	is_u64(turns.streams[1][5].start, 3000, "it begins with the exec");
	end();

	/* It is on its CPU for a moment after its end. */
	exec_on(1, 3100);
	order(3);
	is_str(text_of(1), "1 0 2<1.0/4<0.2(15 2 0) 0", "the earlier thread still runs");
	is_str(text_of(0), "1 0 2<0.0 0 5<1.2/ 0", "which does not matter to later turns");
	end();

	/* Only the first thread of a process is renamed, where its exec was. */
	exec_on(0, 2700);
	order(3);
	is_str(text_of(1), "1 0 2<1.0 0", "exec on another CPU");
	end();

	/* The stream with the exec is not decoded. */
	exec_on(1, 2700);
	order(1);
	is_str(text_of(0), "1 0 2<0.0 0 5<0.2 0", "a turn left out on a CPU without trace");
	end();

	/* The stream begins after the exec. */
	exec_on(1, 2700);
	streams[1].start_ns = 3200;
	order(3);
	is_u64(turns.streams[1][1].start, 3200, "a stream that begins after the exec: %s",
	       text_of(1));
	is_u64(turns.streams[1][1].number, 4, "it has the second of the turns");
	end();
}

/* ---- pieces of perf ---- */

static void test_pieces(void)
{
	struct piece first[] = { { .start = 1000, .end = 2000, .pid = 10, .tid = 10, .cpu = 0 },
				 { .start = 3000, .end = 4000, .pid = 10, .tid = 10, .cpu = 0 },
				 { .start = 4000, .end = 4500, .pid = 0, .tid = 0, .cpu = 0 },
				 { .start = 4500, .end = 4600, .pid = 20, .tid = 20, .cpu = 0 } };
	struct piece second[] = { { .start = 2000, .end = 2900, .pid = 10, .tid = 10, .cpu = 1 },
				  { .start = 4700, .end = 4800, .pid = 20, .tid = 20, .cpu = 1 } };
	struct follower by_piece[] = {
		{ .session = &session, .by_piece = true, .pieces = first, .piece_count = 4 },
		{ .session = &session, .by_piece = true, .pieces = second, .piece_count = 2 }
	};
	struct follower *const used[] = { &by_piece[0], &by_piece[1] };

	begin(2);
	/* Not traced: perf follows the thread, so its pieces are all that it executed. */
	goes_on(2, 2950, 0, 10);
	goes_on(2, 2960, 10, 0);
	open_machine();
	is_u64((uint64_t)turns_make(&turns, used, 2), 0, "pieces of two streams");
	is_str(text_of(0), "1 3<1.0 0 1", "pieces follow a thread to another CPU");
	is_str(text_of(1), "2<0.0 2<0.3", "and back");
	end();

	begin(2);
	goes_on(2, 4550, 0, 50);
	loses_on(2, 4650, 1);
	goes_on(2, 4660, 50, 0);
	open_machine();
	is_u64((uint64_t)turns_make(&turns, used, 2), 0, "with lost records");
	is_str(text_of(1), "2<0.0 3<0.3", "a piece may be missing");
	end();

	/* The record of a piece has the number that the thread has at its end. */
	begin(2);
	named_on(0, 10, 100, "old");
	named_on(1, 10, 2500, "new");
	second[0].came_tid = 15;
	open_machine();
	is_u64((uint64_t)turns_make(&turns, used, 2), 0, "with an exec");
	is_str(text_of(1), "1/3<0.0(15 1 0) 2<0.3",
	       "a piece in which a thread becomes the first one");
	is_str(text_of(0), "1 4<1.0/ 0 1", "and goes on on another CPU");
	end();
}

static void test_none(void)
{
	struct follower *const none[] = { NULL, NULL };

	is_u64((uint64_t)turns_make(&turns, none, 2), 0, "no stream is decoded");
	ok(!turns.streams[0] && !turns.streams[1], "so there are no turns");
	turns_free(&turns);
	is_u64((uint64_t)turns_make(&turns, none, 0), 0, "no streams");
	turns_free(&turns);
	turns_free(&turns);
}

/* ---- random schedules ---- */

#define CPUS 4
#define THREADS 6
#define TURNS_MAX 2000

static uint64_t seed;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* A turn of the schedule. @index: of its stream */
struct ran {
	uint32_t cpu;
	int32_t tid;
	size_t index;
	uint64_t start, end;
};

static struct ran ran[TURNS_MAX];
static size_t ran_count;

/* Writes the records of a random schedule. Each CPU begins idle. */
static void make_schedule(void)
{
	size_t present[CPUS], count[CPUS] = { 0 };
	bool busy[THREADS + 1] = { false };
	uint64_t time = START;

	ran_count = 0;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		present[cpu] = ran_count;
		ran[ran_count++] = (struct ran){ .cpu = cpu, .start = START, .end = UINT64_MAX };
		goes_on(cpu, 500, 9, 0);
	}
	while (ran_count < 400) {
		uint32_t cpu = (uint32_t)any(CPUS);
		struct ran *last = &ran[present[cpu]];
		int32_t next = (int32_t)any(THREADS + 1);

		/* Also at the same time as the switch of another CPU. */
		time += any(3);
		if (next == last->tid || (next && busy[next]) || time <= last->start)
			continue;
		goes_on(cpu, time, last->tid, next);
		last->end = time;
		busy[last->tid] = false;
		busy[next] = next;
		present[cpu] = ran_count;
		ran[ran_count++] = (struct ran){ .cpu = cpu,
						 .tid = next,
						 .index = ++count[cpu],
						 .start = time,
						 .end = UINT64_MAX };
	}
}

static const struct turn *turn_of(const struct ran *of)
{
	return &turns.streams[of->cpu][2 * of->index];
}

static void check_thread(int32_t tid, unsigned int mask, unsigned int *bad)
{
	const struct ran *seen = NULL;
	bool missing = false;

	/* The schedule lists the turns of each thread in order. */
	for (size_t i = 0; i < ran_count; i++) {
		const struct ran *now = &ran[i];
		const struct turn *turn;

		if (now->tid != tid)
			continue;
		if (!(mask >> now->cpu & 1)) {
			missing = true;
			continue;
		}
		turn = turn_of(now);
		bad[0] += turn->start != now->start;
		if (!seen) {
			bad[1] += !turn->number || turn->before_stream != TURN_NO_STREAM;
		} else {
			uint64_t before = turn_of(seen)->number;

			bad[2] += missing ? turn->number <= before + 1 : turn->number != before + 1;
			bad[3] += turn->before_stream != seen->cpu ||
				  turn->before != 2 * seen->index;
		}
		seen = now;
		missing = false;
	}
}

static void test_random(void)
{
	unsigned int bad[4] = { 0 };

	for (unsigned int round = 0; round < 60; round++) {
		unsigned int mask = round < 10 ? 15 : 1 + (unsigned int)any(15);

		seed = round + 1;
		begin(CPUS);
		make_schedule();
		order(mask);
		for (int32_t tid = 1; tid <= THREADS; tid++)
			check_thread(tid, mask, bad);
		end();
	}
	is_u64(bad[0], 0, "random schedules: starts of turns");
	is_u64(bad[1], 0, "the first turns of threads");
	is_u64(bad[2], 0, "a number is left out exactly where a turn is missing");
	is_u64(bad[3], 0, "each turn follows the previous one");
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_numbers();
	test_unseen();
	test_lost();
	test_cut();
	test_contradictions();
	test_births();
	test_execs();
	test_pieces();
	test_none();
	test_random();
	scratch_remove();
	return done_testing();
}
