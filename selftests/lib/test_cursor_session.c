// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cursors over recordings: random walks equal the plain decode, over streams and over threads that
 * move from stream to stream; with exec, fork, gaps, lost records and compressed trace.
 */
#include "include/decode_stream.h"
#include "cursor_walk.h"
#include "test_session.h"

static struct ntrace_session *open_session(const char *name)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = in("root"),
						  .note = take_note };
	struct ntrace_session *session = NULL;

	notes[0] = 0;
	if (ntrace_session_open(&session, in(name), &options))
		ok(false, "%s opens: %s", name, notes);
	return session;
}

/* The plain decode of all streams of a recording, in a session of its own. */
static void expect_all(struct expected_list *list, const char *name)
{
	struct ntrace_session *session = open_session(name);
	unsigned int stream;

	list->count = 0;
	for (stream = 0; session && stream < ntrace_session_streams(session); stream++)
		decode_stream(session, stream, expect_session_event, NULL, list, NULL);
	ntrace_session_close(session);
}

static void keep_place(struct expected_list *list, const struct expected *place)
{
	list->now = *place;
	expect_place(list);
}

/* Order of time over streams; the sort keeps the order within a stream. */
static void sort_by_time(struct expected_list *list, const struct expected_list *all,
			 unsigned int streams, int32_t tid)
{
	size_t at[8] = { 0 };

	for (unsigned int i = 0; i < streams; i++)
		while (at[i] < all->count && all->places[at[i]].stream < i)
			at[i]++;
	for (;;) {
		unsigned int best = streams;

		for (unsigned int i = 0; i < streams; i++) {
			while (at[i] < all->count && all->places[at[i]].stream == i &&
			       all->places[at[i]].tid != tid)
				at[i]++;
			if (at[i] == all->count || all->places[at[i]].stream != i)
				continue;
			if (best == streams ||
			    all->places[at[i]].sideband_ns < all->places[at[best]].sideband_ns)
				best = i;
		}
		if (best == streams)
			return;
		keep_place(list, &all->places[at[best]++]);
	}
}

/* Walks over one stream (@tid NTRACE_CURSOR_ANY) or one thread, in steps of any kind. */
static void check_walks(const char *name, unsigned int streams, int32_t tid, unsigned int walks)
{
	static const uint32_t windows[] = { 16, 60, 0 };
	struct expected_list all = { 0 }, list = { 0 };
	char text[200] = "no walk";
	bool good = true;

	for (unsigned int step = 0; step < 2 && good; step++) {
		all.by_instruction = list.by_instruction = step == NTRACE_CURSOR_INSTRUCTIONS;
		expect_all(&all, name);
		list.count = 0;
		if (tid == NTRACE_CURSOR_ANY)
			for (size_t i = 0; i < all.count && !all.places[i].stream; i++)
				keep_place(&list, &all.places[i]);
		else
			sort_by_time(&list, &all, streams, tid);
		if (!list.count) {
			ok(false, "%s: has no place", name);
			break;
		}
		for (unsigned int i = 0; i < 3 && good; i++) {
			struct ntrace_session *session = open_session(name);
			struct ntrace_cursor_config config;
			struct ntrace_cursor *cursor;

			ntrace_cursor_config_init(&config);
			config.session = session;
			config.step = step;
			config.tid = tid;
			config.window = windows[i];
			if (ntrace_cursor_new(&cursor, &config)) {
				good = ok(false, "%s: a cursor", name);
				break;
			}
			for (unsigned int walk = 0; walk < walks && good; walk++)
				good = cursor_walk(cursor, &list, 1000 * i + walk, 12, text);
			ntrace_cursor_free(cursor);
			ntrace_session_close(session);
		}
	}
	free(all.places);
	free(list.places);
	ok(good, "%s, thread %d: %u walks equal the plain decode: %s", name,
	   tid == NTRACE_CURSOR_ANY ? 0 : tid, 6 * walks, text);
}

static void two_processes(const char *name)
{
	start(name, CODE, UINT32_MAX);
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	named(300, 0, false, "kworker");
	switches(100, 200, CODE);
	work(CODE, 20);
	switches(200, 100, CODE);
	forks(100, 101, now + 10);
	switches(100, 101, CODE);
	work(CODE, 5);
	named(101, now + 20, true, "gamma");
	maps(101, now + 30, CODE, "/bbb");
	hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, CODE);
	hart_loop(&hart, 200);
	switches(101, 0, KERNEL_LOOP);
	switches(0, 300, KERNEL_LOOP);
	switches(300, 100, CODE);
	/* The program of 100 maps other code at an address that it has executed. */
	maps(100, now + 5, CODE, "/bbb");
	switches(100, 200, CODE);
	switches(200, 100, CODE);
	hart_loop(&hart, 200);
	work(CODE, 10);
	switches(100, 200, CODE);
	work(CODE, 10);
	switches(200, 100, CODE);
}

static void test_processes(void)
{
	two_processes("processes");
	stop("processes", 3);
	check_walks("processes", 1, NTRACE_CURSOR_ANY, 60);
	check_walks("processes", 1, 100, 60);
	check_walks("processes", 1, 101, 20);
	check_walks("processes", 1, 200, 20);
}

/* Bytes of the trace are damaged: gaps, after which the task is uncertain. */
static void test_gaps(void)
{
	unsigned int random = 7;

	for (unsigned int i = 0; i < 6; i++) {
		char name[40];
		FILE *file;
		long size;

		snprintf(name, sizeof(name), "gaps%u", i);
		two_processes(name);
		stop(name, 3);
		snprintf(name, sizeof(name), "gaps%u/aux.0", i);
		file = fopen(in(name), "r+");
		if (!file)
			abort();
		fseek(file, 0, SEEK_END);
		size = ftell(file);
		for (unsigned int at = 0; at < 3; at++) {
			random = random * 1103515245 + 12345;
			fseek(file, (long)(random >> 8) % size, SEEK_SET);
			fputc((int)(random >> 4 & 0xff), file);
		}
		fclose(file);
		snprintf(name, sizeof(name), "gaps%u", i);
		check_walks(name, 1, NTRACE_CURSOR_ANY, 20);
		check_walks(name, 1, 100, 10);
	}
}

/* The first places of a thread, up to its first block: "thread type". */
static void first_places(const char *name, int32_t tid, char text[200])
{
	struct ntrace_session *session = open_session(name);
	const struct ntrace_cursor_place *place = NULL;
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;

	text[0] = 0;
	ntrace_cursor_config_init(&config);
	config.session = session;
	config.tid = tid;
	if (ntrace_cursor_new(&cursor, &config))
		abort();
	do {
		if (ntrace_cursor_next(cursor))
			break;
		place = ntrace_cursor_place(cursor);
		snprintf(text + strlen(text), 200 - strlen(text), "%d %s, ", place->tid,
			 ntrace_flow_type_name(place->type));
	} while (place->type != NTRACE_FLOW_BLOCK);
	ntrace_cursor_free(cursor);
	ntrace_session_close(session);
}

/* Trace of thread 100 is lost up to the switch to 200, which may have executed some of what is missing. */
static void test_loss(void)
{
	uint64_t from, to;
	char text[200];
	FILE *file;

	start("loss", CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	work(CODE, 4);
	from = hart.bytes;
	work(CODE, 1);
	to = hart.bytes;
	switches(100, 200, OTHER_CODE);
	work(OTHER_CODE, 4);
	stop("loss", 1);
	file = fopen(in("loss/aux.0"), "r+");
	if (!file)
		abort();
	/* No byte of a message has these bits of MSEO. */
	for (fseek(file, (long)from, SEEK_SET); from < to; from++)
		fputc(2, file);
	fclose(file);
	first_places("loss", 200, text);
	is_str(text, "100 error, 100 gap, 200 sync, 200 block, ",
	       "the loss of another thread directly before a thread is a place of it, too");
}

/* Only user space is traced, and records are lost. */
static void test_users(void)
{
	start("user", CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	for (unsigned int i = 0; i < 6; i++) {
		switches(100, 200, OTHER_CODE);
		work(OTHER_CODE, 4);
		if (i == 3)
			lost(2, now + 3);
		switches(200, 100, CODE);
		work(CODE, 4);
	}
	stop("user", 1);
	check_walks("user", 1, NTRACE_CURSOR_ANY, 30);
	check_walks("user", 1, 200, 20);
}

/* The same trace, compressed: it can be read only once from its start. */
static void test_compressed(void)
{
	if (run("command -v zstd > /dev/null")) {
		skip("compressed trace", "zstd is not installed");
		return;
	}
	if (run("cp -r %s %s && cd %s && zstd -q --rm aux.0 && sed -i 's/aux\\.0/aux.0.zst/' "
		"params",
		in("processes"), in("packed"), in("packed"))) {
		ok(false, "compresses a recording");
		return;
	}
	check_walks("packed", 1, NTRACE_CURSOR_ANY, 20);
	check_walks("packed", 1, 100, 20);
}

/* Timestamps: the first and last time of each thread are those of its events. */
static void test_times(void)
{
	struct ntrace_session *session;
	const struct ntrace_cursor_thread *threads;
	struct expected_list all = { 0 };
	size_t count = 0, timed = 0;

	fake_time_bits = 40;
	two_processes("times");
	stop("times", 3);
	fake_time_bits = 0;
	check_walks("times", 1, NTRACE_CURSOR_ANY, 20);
	check_walks("times", 1, 100, 20);
	expect_all(&all, "times");
	session = open_session("times");
	is_u64((uint64_t)ntrace_cursor_threads(session, &threads, &count), 0, "times: threads");
	for (size_t i = 0; i < count; i++) {
		uint64_t first = UINT64_MAX, last = 0, instructions = 0;

		for (size_t k = 0; k < all.count; k++) {
			const struct expected *place = &all.places[k];

			if (place->tid != threads[i].tid || place->pid != threads[i].pid)
				continue;
			if (place->type == NTRACE_FLOW_BLOCK)
				instructions += place->instructions;
			if (!place->time_known)
				continue;
			first = place->time < first ? place->time : first;
			last = place->time > last ? place->time : last;
		}
		ok(threads[i].instructions == instructions, "times: instructions of thread %d",
		   threads[i].tid);
		ok(threads[i].time_known == (first <= last) &&
			   (first > last ||
			    (threads[i].first_time == first && threads[i].last_time == last)),
		   "times: of thread %d", threads[i].tid);
		timed += threads[i].time_known && first < last;
		ok(!i || threads[i].pid > threads[i - 1].pid ||
			   (threads[i].pid == threads[i - 1].pid &&
			    threads[i].tid > threads[i - 1].tid),
		   "times: threads are in the order of their numbers");
	}
	ok(count > 3 && timed > 2, "times: %zu of %zu threads have several", timed, count);
	ntrace_session_close(session);
	free(all.places);
}

/* ---- two harts ---- */

static void start_hart(const char *name, unsigned int cpu, uint64_t loop)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/aux.%u", in(name), cpu);
	if (hart_start(&hart, path, UINT32_MAX))
		ok(false, "starts the encoder");
	now = START_NS;
	record_cpu = cpu;
	hart.loop = loop;
	hart_loop(&hart, 3);
}

static void stop_harts(const char *name, const uint64_t bytes[2])
{
	struct ntrace_kernel_copy copy = { .size = sizeof(copy) };
	struct ntrace_stream streams[2] = { { .file = "aux.0" }, { .file = "aux.1", .cpu = 1 } };
	struct ntrace_recording recording = { .size = sizeof(recording),
					      .tool = "test",
					      .clock = "monotonic",
					      .privilege = 3,
					      .streams = streams,
					      .stream_count = 2 };
	struct ntrace_params params;

	ntrace_params_init(&params);
	params.mode = NTRACE_MODE_HISTORY;
	for (unsigned int i = 0; i < 2; i++) {
		streams[i].params = &params;
		streams[i].start_ns = START_NS;
		streams[i].stop_ns = 20000;
		streams[i].lost_exact = true;
		streams[i].bytes = bytes[i];
		streams[i].hartid = i;
	}
	record_cpu = 0;
	ntrace_perf_writer_close(sideband);
	copy.kcore = in("kcore");
	copy.kallsyms = in("symbols");
	if (ntrace_recording_copy_kernel(in(name), NTRACE_RECORDING_END, &copy) ||
	    ntrace_recording_write(in(name), &recording))
		ok(false, "closes the recording");
}

/* Thread 100 moves from CPU 0 to CPU 1 and back; thread 200 runs on the other one. */
static void make_harts(void)
{
	uint64_t bytes[2];

	start("harts", CODE, UINT32_MAX);
	named(100, 0, false, "alpha");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	hart_loop(&hart, 40);
	switches(100, 200, CODE); /* 1500 */
	hart_loop(&hart, 40);
	now = 4500;
	switches(200, 100, CODE); /* 5000 */
	hart_loop(&hart, 40);
	switches(100, 0, KERNEL_LOOP); /* 5500 */
	bytes[0] = hart_stop(&hart);
	start_hart("harts", 1, KERNEL_LOOP);
	now = 2000;
	switches(0, 100, CODE); /* 2500 */
	hart_loop(&hart, 40);
	maps(100, 3500, CODE, "/bbb");
	switches(100, 0, KERNEL_LOOP); /* 3000 */
	now = 5500;
	switches(0, 200, CODE); /* 6000 */
	hart_loop(&hart, 40);
	bytes[1] = hart_stop(&hart);
	stop_harts("harts", bytes);
}

/* The functions that a thread executed, with the stream of each. */
static void tell_thread(struct ntrace_session *session, int32_t tid, char text[400])
{
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	char last[80] = "";

	text[0] = 0;
	ntrace_cursor_config_init(&config);
	config.session = session;
	config.tid = tid;
	config.privileges = 1u << NTRACE_PRIV_U;
	config.step = NTRACE_CURSOR_BLOCKS;
	if (ntrace_cursor_new(&cursor, &config))
		return;
	while (!ntrace_cursor_next(cursor)) {
		const struct ntrace_cursor_place *place = ntrace_cursor_place(cursor);
		struct ntrace_location at = { 0 };
		char now_at[80];

		if (place->type != NTRACE_FLOW_BLOCK)
			continue;
		ntrace_space_locate(place->flow->space, place->address, &at);
		snprintf(now_at, sizeof(now_at), "%u:%s ", place->stream,
			 at.symbol ? at.symbol : "?");
		if (strcmp(last, now_at) && strlen(text) < 300)
			strcat(text, now_at);
		memcpy(last, now_at, sizeof(last));
	}
	ntrace_cursor_free(cursor);
}

/* Number of calls of a function that a cursor over thread 100 finds in each direction. */
static void check_function(struct ntrace_session *session)
{
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	unsigned int there = 0, back = 0, turns = 0;

	ntrace_cursor_config_init(&config);
	config.session = session;
	config.tid = 100;
	if (ntrace_cursor_new(&cursor, &config))
		return;
	while (!ntrace_cursor_seek_function(cursor, "aaa", false)) {
		const struct ntrace_cursor_place *place = ntrace_cursor_place(cursor);

		turns += place->address == CODE && !place->index;
		there++;
	}
	ok(there > 40 && turns == there, "function aaa: %u executions of its entry", there);
	ntrace_cursor_last(cursor);
	while (!ntrace_cursor_seek_function(cursor, "aaa", true))
		back++;
	is_u64(back, there, "as many backwards");
	is_u64(ntrace_cursor_seek_function(cursor, "nonsense", false), 1, "no other function");
	ntrace_cursor_free(cursor);
}

static void test_harts(void)
{
	const struct ntrace_cursor_thread *threads;
	struct ntrace_session *session;
	char text[400];
	size_t count = 0, i;

	make_harts();
	check_walks("harts", 2, NTRACE_CURSOR_ANY, 10);
	check_walks("harts", 2, 100, 30);
	check_walks("harts", 2, 200, 10);
	check_walks("harts", 2, 0, 10);
	session = open_session("harts");
	tell_thread(session, 100, text);
	is_str(text, "0:aaa 1:aaa 0:bbb ", "thread 100: from CPU 0 to 1 and back, to new code");
	tell_thread(session, 200, text);
	is_str(text, "0:bbb 1:bbb ", "thread 200: after it");
	check_function(session);
	is_u64(ntrace_cursor_threads(session, &threads, &count), 0, "lists the threads");
	text[0] = 0;
	for (i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d/%d %s %" PRIu64 " ",
			 threads[i].pid, threads[i].tid, threads[i].comm, threads[i].runs);
	is_str(text, "0/0 swapper/0 3 100/100 alpha 3 200/200 beta 2 ", "three threads");
	ok(count == 3 && threads[1].first_ns < threads[1].last_ns && threads[1].instructions > 300,
	   "with times and instructions");
	ntrace_session_close(session);
}

/* Cursors of a session and ntrace_session_decode() take turns. */
static void test_turns(void)
{
	struct ntrace_session *session = open_session("harts");
	struct expected_list all = { .by_instruction = true }, list = { .by_instruction = true };
	struct ntrace_cursor *cursors[2];
	struct ntrace_cursor_config config;
	char text[200] = "no walk";
	bool good = true;

	expect_all(&all, "harts");
	sort_by_time(&list, &all, 2, 100);
	ntrace_cursor_config_init(&config);
	config.session = session;
	config.window = 16;
	for (unsigned int i = 0; i < 2; i++) {
		config.tid = i ? 100 : NTRACE_CURSOR_ANY;
		config.stream = 1;
		if (ntrace_cursor_new(&cursors[i], &config))
			abort();
	}
	for (unsigned int round = 0; round < 40 && good; round++) {
		struct expected_list again = { .by_instruction = true };

		ntrace_cursor_next(cursors[0]);
		ntrace_cursor_seek_type(cursors[0], NTRACE_FLOW_TRAP, false);
		if (round % 4 == 0) {
			decode_stream(session, round / 4 % 2, expect_session_event, NULL, &again,
				      NULL);
			free(again.places);
		}
		good = cursor_walk(cursors[1], &list, round, 6, text);
	}
	ok(good, "cursors and plain decodes take turns: %s", text);
	ntrace_cursor_free(cursors[0]);
	ntrace_cursor_free(cursors[1]);
	ntrace_session_close(session);
	free(all.places);
	free(list.places);
}

static void tests(void)
{
	test_processes();
	test_times();
	test_gaps();
	test_loss();
	test_users();
	test_compressed();
	test_harts();
	test_turns();
}

int main(void)
{
	return test_sessions(tests);
}
