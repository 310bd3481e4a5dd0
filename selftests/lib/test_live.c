// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding while the recording grows: however trace and sideband are cut into pieces, the events and the
 * profile are those of the finished recording. After lost bytes nothing is wrong: each block and its
 * process are those of the finished recording, or unknown. Memory does not grow with the recording.
 *
 * SEED=N repeats a run, CUTS=N sets the number of ways to cut the first recording (make soak: 4,000).
 */
#include <ntrace/frames.h>
#include <ntrace/functions.h>

#include "include/decode_stream.h"
#include "live_source.h"
#include "profile_calls.h"

/* The number of ways to cut the first recording; the others have a part of it. */
static unsigned int cuts_wanted(void)
{
	const char *text = getenv("CUTS");

	return text ? (unsigned int)atoi(text) : 100;
}

/* ---- the same as the finished recording ---- */

static const struct ntrace_decode_options events_only = {
	.size = sizeof(events_only),
	.event = take_seen,
	.data = &part,
};

static bool same_events(const char *name, uint64_t seed)
{
	size_t i;

	for (i = 0; i < part.count && i < whole.count; i++)
		if (part.seen[i].hash != whole.seen[i].hash)
			break;
	if (i == whole.count && i == part.count)
		return true;
	diag("%s, seed %" PRIu64 ": event %zu of %zu (%zu) at offset %" PRIu64
	     ": process %d, expected %d",
	     name, seed, i, part.count, whole.count, part.seen[i].offset, part.seen[i].pid,
	     whole.seen[i].pid);
	return false;
}

/* ---- the same profile ---- */

static char *profile_text(struct ntrace_profile *profile)
{
	const struct ntrace_profile_function *functions;
	size_t count, size, i;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);

	ntrace_profile_end(profile);
	functions = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_INSTRUCTIONS, &count);
	for (i = 0; i < count; i++)
		fprintf(file, "%d %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", functions[i].pid,
			functions[i].comm, functions[i].name ? functions[i].name : "?",
			functions[i].instructions, functions[i].calls, functions[i].branches);
	fclose(file);
	return text;
}

/* @giver NULL: of the finished recording. */
static char *profile_of(const char *name, struct giver *giver)
{
	struct ntrace_profile_options options = { .size = sizeof(options),
						  .parts = NTRACE_PROFILE_FUNCTIONS,
						  .by_process = true };
	struct ntrace_decode_options counting = { .size = sizeof(counting),
						  .needs = NTRACE_NEEDS_SUMS | NTRACE_NEEDS_THREADS,
						  .event = profile_event,
						  .segment = profile_segment };
	struct ntrace_session *session;
	char *text = NULL;
	int error;

	if (ntrace_profile_new((struct ntrace_profile **)&counting.data, &options))
		return NULL;
	if (giver) {
		error = live(name, giver, &counting);
	} else {
		session = opened(name, false);
		error = ntrace_session_decode(session, &counting);
		ntrace_session_close(session);
	}
	ntrace_profile_end(counting.data);
	text = error ? NULL : profile_text(counting.data);
	ntrace_profile_free(counting.data);
	return text;
}

static struct giver any_giver(void)
{
	static const size_t most[] = { 1, 7, 60, 700, 100000 };

	return (struct giver){ .most = most[draw(5)], .burst = draw(3) ? draw(12) : 0 };
}

static void check(const char *name, unsigned int cuts)
{
	unsigned int wrong = 0, profiles = 0, i;
	struct ntrace_session *session;
	struct giver giver;
	uint64_t seed;
	char *expected, *got;

	split(name);
	session = opened(name, false);
	whole.count = 0;
	is_u64(decode_stream(session, 0, take_seen, NULL, &whole, NULL), 0, "%s: decodes", name);
	ntrace_session_close(session);
	ok(whole.count > 50 && whole.count < EVENTS_MAX && all.count > 4,
	   "%s: %zu events, %zu records", name, whole.count, all.count);
	for (i = 0; i < cuts && wrong < 3; i++) {
		seed = state;
		giver = any_giver();
		part.count = 0;
		if (live(name, &giver, &events_only) || !same_events(name, seed))
			wrong++;
	}
	is_u64(wrong, 0, "%s: the same events, cut in %u ways", name, cuts);
	expected = profile_of(name, NULL);
	for (i = 0; i < 1 + cuts / 20; i++) {
		giver = any_giver();
		got = profile_of(name, &giver);
		profiles += expected && got && !strcmp(expected, got);
		if (expected && got && strcmp(expected, got) != 0)
			diag("got\n%s\nexpected\n%s", got, expected);
		free(got);
	}
	is_str(notes, "", "%s: nothing to note about an unfinished recording", name);
	ok(expected && strlen(expected) > 40, "%s: a profile", name);
	is_u64(profiles, i, "%s: the same profile each time", name);
	free(expected);
}

/* ---- recordings ---- */

static void exits(int32_t pid, uint64_t time)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_EXIT,
				      .pid = pid,
				      .tid = pid,
				      .other_pid = 100,
				      .other_tid = 100,
				      .time = time });
}

static void present_tasks(void)
{
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	maps(200, 0, OTHER_CODE, "/ccc");
	named(300, 0, false, "kworker");
	mark();
}

/* A shell forks, the child calls exec and exits; records come before and after their time. */
static void round_of_tasks(unsigned int number)
{
	int32_t child = 1000 + (int32_t)number;

	switches(100, 200, number & 1 ? OTHER_CODE : CODE);
	mark();
	work(CODE, 1 + number % 7);
	mark();
	switches(200, 100, CODE);
	work(CODE, 1 + number % 3);
	if (number % 5 == 0)
		named(100, now + 5, false, number % 2 ? "odd" : "even");
	mark();
	forks(100, child, now + 10);
	switches(100, child, CODE);
	work(CODE, 2);
	named(child, now + 20, true, "gamma");
	maps(child, now + 30, OTHER_CODE, "/ccc");
	hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, OTHER_CODE);
	hart_loop(&hart, 3);
	work(OTHER_CODE, 1 + number % 5);
	exits(child, now + 60);
	mark();
	switches(child, 300, KERNEL_LOOP);
	hart_loop(&hart, 5);
	mark();
	switches(300, 100, CODE);
	mark();
}

static void record(const char *name, uint32_t priv_mask, uint32_t privilege, unsigned int rounds)
{
	unsigned int i;

	mark_count = 0;
	start(name, CODE, priv_mask);
	present_tasks();
	for (i = 0; i < rounds; i++)
		round_of_tasks(i);
	stop(name, privilege);
}

static void damage(const char *name, uint64_t from, uint64_t step)
{
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/aux.0", in(name));
	file = fopen(path, "r+");
	for (; file && from < hart.bytes; from += step) {
		fseek(file, (long)from, SEEK_SET);
		fwrite("\x02\x5a", 1, 2, file);
	}
	if (file)
		fclose(file);
}

static uint64_t handed_over;

/* The kernel hands over the trace of @task so far: its record precedes the trace. */
static void piece(int32_t task)
{
	ntrace_encoder_stop(&hart.encoder, NTRACE_EVCODE_TRACE_DISABLE);
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_AUX,
				      .pid = task,
				      .tid = task,
				      .id = event_id,
				      .offset = position + handed_over,
				      .length = hart.bytes - handed_over,
				      .time = now + 90 });
	handed_over = hart.bytes;
	mark();
	now += 500;
	ntrace_encoder_start(&hart.encoder, NTRACE_SYNC_TRACE_ENABLE);
}

static void record_pieces(const char *name, unsigned int rounds)
{
	unsigned int i;

	event_id = 77;
	handed_over = 0;
	mark_count = 0;
	start(name, CODE, UINT32_MAX);
	present_tasks();
	for (i = 0; i < rounds; i++) {
		int32_t child = 1000 + (int32_t)i;

		work(CODE, 2);
		piece(100);
		hart.loop = CODE;
		hart_loop(&hart, 3);
		work(OTHER_CODE, 2);
		piece(200);
		hart.loop = CODE;
		forks(100, child, now + 10);
		hart_loop(&hart, 2);
		named(child, now + 20, true, "gamma");
		maps(child, now + 30, OTHER_CODE, "/ccc");
		hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, OTHER_CODE);
		hart_loop(&hart, 3);
		work(OTHER_CODE, 2);
		piece(child);
		exits(child, now - 100);
		hart.loop = CODE;
	}
	piece(100);
	stop(name, 3);
	event_id = 0;
}

static void test_cuts(void)
{
	unsigned int cuts = cuts_wanted();

	record("whole", UINT32_MAX, 3, 6);
	check("whole", cuts);
	cuts = cuts * 3 / 10;
	/* Several intervals are possible until the end of the sideband. */
	record("losses", UINT32_MAX, 3, 4);
	damage("losses", 150, 333);
	check("losses", cuts);
	start("missing", CODE, UINT32_MAX);
	present_tasks();
	round_of_tasks(0);
	switch_unrecorded();
	stop("missing", 3);
	check("missing", cuts);
	fake_context = true;
	record("owners", UINT32_MAX, 3, 4);
	check("owners", cuts);
	fake_context = false;
	fake_time_bits = 10;
	record("times", UINT32_MAX, 3, 4);
	check("times", cuts);
	fake_time_bits = 0;
	record_pieces("pieces", 5);
	check("pieces", cuts);
}

/* ---- losses ---- */

static int compare_blocks(const void *left, const void *right)
{
	const struct seen *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/*
 * Whether each block is one of the finished recording, with its process or none.
 * *known: those with a process
 */
static bool nothing_wrong(size_t *known)
{
	const struct seen *found;
	size_t i;

	for (i = 0; i < part.count; i++) {
		if (!part.seen[i].block)
			continue;
		found = bsearch(&part.seen[i], whole.seen, whole.count, sizeof(*whole.seen),
				compare_blocks);
		*known += part.seen[i].pid >= 0;
		if (found && (part.seen[i].pid < 0 || part.seen[i].pid == found->pid))
			continue;
		diag("offset %" PRIu64 ", address %" PRIx64 ": process %d, expected %d",
		     part.seen[i].offset, part.seen[i].address, part.seen[i].pid,
		     found ? found->pid : -2);
		return false;
	}
	return true;
}

/* Blocks of the finished recording by their message and address, if their process is certain. */
static void keep_blocks(void)
{
	size_t kept = 0, i;

	for (i = 0; i < whole.count; i++)
		if (whole.seen[i].block)
			whole.seen[kept++] = whole.seen[i];
	whole.count = kept;
	qsort(whole.seen, whole.count, sizeof(*whole.seen), compare_blocks);
	/* One message can end the time of a task and begin that of the next. */
	for (i = 0; i + 1 < whole.count; i++)
		if (!compare_blocks(&whole.seen[i], &whole.seen[i + 1]) &&
		    whole.seen[i].pid != whole.seen[i + 1].pid)
			diag("two processes at offset %" PRIu64, whole.seen[i].offset);
}

static void check_losses(const char *name, unsigned int cuts)
{
	size_t known = 0, blocks = 0, i;
	struct ntrace_session *session;
	uint64_t losses = 0, gaps = 0;
	unsigned int wrong = 0, k;

	split(name);
	session = opened(name, false);
	whole.count = 0;
	decode_stream(session, 0, take_seen, NULL, &whole, NULL);
	ntrace_session_close(session);
	keep_blocks();
	for (k = 0; k < cuts && wrong < 3; k++) {
		uint64_t seed = state;
		struct giver giver = any_giver();

		giver.timed = true;
		giver.most = 300;
		giver.loss = 25;
		/* Records of later times are known, too. */
		if (draw(2))
			giver.burst = RECORDS_MAX;
		part.count = 0;
		if (live(name, &giver, &events_only) || !nothing_wrong(&known)) {
			diag("%s, seed %" PRIu64, name, seed);
			wrong++;
		}
		losses += giver.losses;
		for (i = 0; i < part.count; i++)
			blocks += part.seen[i].block;
	}
	gaps += losses;
	is_u64(wrong, 0, "%s: nothing wrong after %" PRIu64 " losses", name, gaps);
	ok(losses > cuts && known > blocks * 8 / 10,
	   "%s: the process of %zu of %zu blocks is known", name, known, blocks);
}

static void test_losses(void)
{
	unsigned int cuts = 1 + cuts_wanted() / 5;

	record("lossy", UINT32_MAX, 3, 40);
	check_losses("lossy", cuts);
	record_pieces("lossy-pieces", 40);
	check_losses("lossy-pieces", cuts);
}

/* ---- memory ---- */

static void test_memory(void)
{
	struct giver giver = { .most = 400 };
	struct ntrace_session *session;

	record("long", UINT32_MAX, 3, 1500);
	split("long");
	session = opened("long", false);
	whole.count = 0;
	decode_stream(session, 0, take_seen, NULL, &whole, NULL);
	ntrace_session_close(session);
	part.count = 0;
	is_u64(live("long", &giver, &events_only), 0, "long: decodes");
	ok(whole.count > 100000 && same_events("long", 0), "long: the same %zu events",
	   whole.count);
	ok(giver.ahead < all.count * 6 / 10,
	   "long: %zu of %zu records were needed for half the trace", giver.ahead, all.count);
	ok(giver.switches > 500 && giver.switches < 2000, "long: %zu of 7500 switches were kept",
	   giver.switches);
	ok(giver.tasks > 3 && giver.tasks < 300, "long: %zu of 1503 processes were kept",
	   giver.tasks);
	record_pieces("long-pieces", 1500);
	split("long-pieces");
	giver = (struct giver){ .most = 400, .burst = 1 };
	session = opened("long-pieces", false);
	whole.count = 0;
	decode_stream(session, 0, take_seen, NULL, &whole, NULL);
	ntrace_session_close(session);
	part.count = 0;
	giver.timed = true;
	is_u64(live("long-pieces", &giver, &events_only), 0, "long pieces: decodes");
	ok(same_events("long-pieces", 0), "long pieces: the same %zu events", whole.count);
	ok(giver.tasks < 300, "long pieces: %zu of 1503 processes were kept", giver.tasks);
}

static void test_refused(void)
{
	struct giver giver = { .most = 400 };
	struct ntrace_decode_options counting = events_only;

	record("user", 1u << NTRACE_PRIV_U, 1, 2);
	split("user");
	is_u64((uint64_t)live("user", &giver, &counting), (uint64_t)NTRACE_ERR_UNSUPPORTED,
	       "user space of a CPU alone is refused");
	counting.event = NULL;
	is_u64((uint64_t)live("whole", &giver, &counting), (uint64_t)NTRACE_ERR_INVALID,
	       "no callback for events");
}

static unsigned int missing;

static int count_missing(void *data, const struct ntrace_session_event *event)
{
	missing += event->flow->type == NTRACE_FLOW_ERROR &&
		   event->flow->code == NTRACE_FLOW_ERROR_MISSING;
	return take_seen(data, event);
}

/* Decodes the trace in frames, among the bytes of another source, with a barrier after this piece. */
static int live_frames(size_t barrier)
{
	struct giver giver = { .most = 300, .burst = 5 };
	struct ntrace_decode_options counting = events_only;
	struct ntrace_session *session = opened("frames", true);
	struct ntrace_live_source source = {
		.size = sizeof(source),
		.trace = give_trace,
		.records = give_records,
		.data = &giver,
		.start_ns = START_NS,
		.patience_ns = UINT64_MAX,
	};
	uint8_t *plain = all.trace, *framed = malloc(16 << 20);
	size_t plain_size = all.size, at, piece, written, used = 0, number = 0;
	struct ntrace_frames_writer writer;
	int error;

	if (!session || !framed)
		return NTRACE_ERR_NOMEM;
	ntrace_frames_writer_init(&writer);
	for (at = 0; at < plain_size; at += piece) {
		piece = plain_size - at < 50 ? plain_size - at : 50;
		ntrace_frames_write(&writer, 0x10, plain + at, piece, framed + used, &written);
		used += written;
		ntrace_frames_write(&writer, 0x11, plain + at, piece / 2, framed + used, &written);
		used += written;
		if (++number == barrier)
			used += ntrace_frames_barrier(&writer, framed + used);
	}
	used += ntrace_frames_flush(&writer, framed + used);
	((struct ntrace_params *)(uintptr_t)session->streams[0].params)->atid = 0x10;
	all.trace = framed;
	all.size = used;
	giver.session = session;
	counting.event = count_missing;
	part.count = missing = 0;
	error = ntrace_session_decode_live(session, &counting, &source);
	all.trace = plain;
	all.size = plain_size;
	free(framed);
	ntrace_session_close(session);
	return error;
}

static void test_frames(void)
{
	struct ntrace_session *session;

	record("frames", UINT32_MAX, 3, 3);
	split("frames");
	session = opened("frames", false);
	whole.count = 0;
	decode_stream(session, 0, take_seen, NULL, &whole, NULL);
	ntrace_session_close(session);
	is_u64((uint64_t)live_frames(0), 0, "frames: decodes");
	ok(whole.count > 100 && same_events("frames", 0) && !missing,
	   "frames: the same %zu events, without the bytes of another source", whole.count);
	is_u64((uint64_t)live_frames(4), 0, "frames with a barrier: decodes");
	is_u64(missing, 1, "frames with a barrier: bytes may be missing there");
	ok(part.count && part.seen[part.count - 1].hash == whole.seen[whole.count - 1].hash,
	   "frames with a barrier: the last event is the same");
}

static void tests(void)
{
	const char *text = getenv("SEED");

	state = text ? strtoull(text, NULL, 10) : 1;
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	diag("SEED=%s", text ? text : "1");
	whole.seen = calloc(EVENTS_MAX, sizeof(*whole.seen));
	part.seen = calloc(EVENTS_MAX, sizeof(*part.seen));
	all.trace = malloc(16 << 20);
	all.records = malloc(16 << 20);
	test_cuts();
	test_losses();
	test_memory();
	test_refused();
	test_frames();
	free(whole.seen);
	free(part.seen);
	free(all.trace);
	free(all.records);
	ntrace_perf_writer_close(before);
}

int main(void)
{
	return test_sessions(tests);
}
