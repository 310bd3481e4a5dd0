// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index of a recording: a part that is decoded from a point of the index has the events that
 * ntrace_session_decode() has there, field by field, for every point and with everything that may be
 * unknown there. The file is made again whenever it does not fit.
 */
#include <fcntl.h>

#include <ntrace/index.h>

#include "include/decode_stream.h"
#include "test_session.h"

/* ---- all events of a stream as text ---- */

#define EVENTS_MAX 40000
#define TEXT_MAX (16 << 20)

struct entry {
	const char *text;
	uint64_t offset;
	uint64_t time;
	bool time_known;
};

struct events {
	struct entry entry[EVENTS_MAX];
	unsigned int count;
	char text[TEXT_MAX];
	size_t used;
};

static struct events whole, part;

static void add(struct events *events, const struct ntrace_session_event *event, bool in_batch)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct entry *entry = &events->entry[events->count];
	char *text = events->text + events->used;
	size_t room = TEXT_MAX - events->used;
	struct ntrace_location place = { 0 };

	if (events->count == EVENTS_MAX || room < 600)
		return;
	if (flow->space)
		ntrace_space_locate(flow->space, flow->address, &place);
	/* A batch has the offset of its first block only. */
	events->used +=
		(size_t)snprintf(text, 600,
				 "%d:%d:%d cpu %u %d/%d %s priv %u ns %" PRIu64 " at %" PRIx64
				 " last %" PRIx64 " next %d %" PRIx64 " value %" PRIx64
				 " time %d %" PRIu64 " bytes %u+%u taken %d%d%d turn %" PRIu64
				 " program %" PRIu64 " time %" PRIu64 " (%u) +-%u to %" PRIu64
				 " offset %" PRIu64 " %s %s",
				 flow->type, flow->code, flow->insn_class, event->cpu, event->pid,
				 event->tid, event->comm, event->privilege, event->sideband_ns,
				 flow->address, flow->last, flow->next_known, flow->next,
				 flow->value, flow->time_known, flow->time, flow->instructions,
				 flow->last_size, flow->taken, flow->interrupted, flow->provisional,
				 event->turn, event->program, event->time, event->time_unit,
				 event->time_error, event->turn_end, in_batch ? 0 : flow->offset,
				 place.symbol ? place.symbol : "-",
				 flow->space ? ntrace_space_name(flow->space) : "no space") +
		1;
	*entry = (struct entry){ text, flow->offset, flow->time, flow->time_known };
	events->count++;
}

static int take_event(void *data, const struct ntrace_session_event *event)
{
	add(data, event, false);
	return 0;
}

static int take_event_of_batches(void *data, const struct ntrace_session_event *event)
{
	struct ntrace_flow_event flow = *event->flow;
	struct ntrace_session_event copy = *event;

	copy.flow = &flow;
	add(data, &copy, true);
	return 0;
}

static int add_cut(void *data, const struct ntrace_session_event *event)
{
	add(data, event, true);
	return 0;
}

static int take_segment(void *data, const struct ntrace_segment *segment)
{
	return segment_as_events(segment, add_cut, data);
}

/* The events of @range, NULL = all, with the turns of their threads. */
static int decode_turns(struct ntrace_session *session, const struct ntrace_session_range *range,
			int (*event)(void *data, const struct ntrace_session_event *event),
			int (*segment)(void *data, const struct ntrace_segment *segment),
			struct events *events, struct ntrace_flow_stats *stats)
{
	const struct ntrace_decode_options options = { .size = sizeof(options),
						       .stream = NTRACE_ALL_STREAMS,
						       .needs = NTRACE_NEEDS_TURNS,
						       .event = event,
						       .segment = segment,
						       .data = events,
						       .range = range,
						       .stats = stats };

	return ntrace_session_decode(session, &options);
}

static void forget(struct events *events)
{
	events->count = 0;
	events->used = 0;
}

/* ---- a recording and its index ---- */

static struct ntrace_session *opened(const char *name, const char *sysroot)
{
	struct ntrace_session_options options = {
		.size = sizeof(options),
		.sysroot = in(sysroot),
		.note = take_note,
	};
	struct ntrace_session *session = NULL;

	notes[0] = 0;
	if (ntrace_session_open(&session, in(name), &options))
		ok(false, "%s opens: %s", name, notes);
	return session;
}

static bool in_range(const struct entry *entry, const struct ntrace_session_range *range)
{
	if (entry->offset < range->first_offset || entry->offset > range->last_offset)
		return false;
	return !range->by_time || (entry->time_known && entry->time >= range->first_time &&
				   entry->time <= range->last_time);
}

/* Whether the part has the events of the whole that are in @range, and nothing else. */
static bool same_part(const struct ntrace_session_range *range, bool in_batches)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < whole.count; i++) {
		const char *expected = whole.entry[i].text, *cut;
		size_t length = strlen(expected);

		if (!in_range(&whole.entry[i], range))
			continue;
		cut = in_batches ? strstr(expected, " offset ") : NULL;
		if (cut)
			length = (size_t)(cut - expected);
		if (at == part.count || strncmp(part.entry[at].text, expected, length) != 0) {
			diag("event %u from %" PRIu64 ": got", at, range->first_offset);
			diag("%s", at < part.count ? part.entry[at].text : "nothing");
			diag("%s", expected);
			return false;
		}
		at++;
	}
	if (at != part.count)
		diag("%u events too many: %s", part.count - at, part.entry[at].text);
	return at == part.count;
}

/* Decodes @range in both ways. Return: number of wrong results. */
static unsigned int try_range(struct ntrace_session *session,
			      const struct ntrace_session_range *range)
{
	struct ntrace_flow_stats stats = { 0 }, again = { 0 };
	unsigned int wrong = 0;

	forget(&part);
	wrong += decode_turns(session, range, take_event, NULL, &part, &stats) != 0;
	wrong += !same_part(range, false);
	forget(&part);
	wrong += decode_turns(session, range, take_event_of_batches, take_segment, &part, &again) !=
		 0;
	wrong += !same_part(range, true);
	wrong += memcmp(&stats, &again, sizeof(stats)) != 0;
	return wrong;
}

/* Ranges that begin before, at and after each point, and end before, at and after later ones. */
static unsigned int try_offsets(struct ntrace_session *session, uint64_t points)
{
	struct ntrace_index_point point, end;
	unsigned int wrong = 0;

	for (uint64_t i = 0; i < points && !wrong; i++) {
		ntrace_session_index_point(session, 0, i, &point);
		for (unsigned int shift = 0; shift < 3; shift++) {
			struct ntrace_session_range range = { .size = sizeof(range),
							      .first_offset =
								      point.offset + shift * 5,
							      .last_offset = UINT64_MAX };

			if (i % 8 == shift)
				wrong += try_range(session, &range);
			if (ntrace_session_index_point(session, 0, i + 1 + shift, &end))
				continue;
			range.last_offset = end.offset - 1 + shift;
			wrong += try_range(session, &range);
		}
	}
	return wrong;
}

/* Ranges of time around the times of events. */
static unsigned int try_times(struct ntrace_session *session)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < whole.count && !wrong; i += 1 + whole.count / 40) {
		struct ntrace_session_range range = { .size = sizeof(range),
						      .last_offset = UINT64_MAX,
						      .by_time = true,
						      .first_time = whole.entry[i].time,
						      .last_time = whole.entry[i].time + 100 };

		if (!whole.entry[i].time_known)
			continue;
		wrong += try_range(session, &range);
		range.first_time++;
		range.last_time = range.first_time + 1000;
		wrong += try_range(session, &range);
	}
	return wrong;
}

/* All of it for recording @name, with a point at every sync that permits it. */
static void check(const char *name, unsigned int least)
{
	struct ntrace_session *session = opened(name, "root");
	struct ntrace_index_counts counts = { 0 };
	uint64_t points;

	if (!session)
		return;
	forget(&whole);
	is_u64(decode_turns(session, NULL, take_event, NULL, &whole, NULL), 0, "%s: decodes", name);
	ok(whole.count > 50 && whole.count < EVENTS_MAX, "%s: %u events", name, whole.count);
	is_u64(ntrace_session_index(session, 1, &counts), 0, "%s: index", name);
	ok(counts.stored && counts.points >= least, "%s: %" PRIu64 " points", name, counts.points);
	points = counts.points;
	is_u64(try_offsets(session, points), 0, "%s: parts by offset, from every point", name);
	if (fake_time_bits)
		is_u64(try_times(session), 0, "%s: parts by time", name);
	ntrace_session_close(session);
	/* The same from the file. */
	session = opened(name, "root");
	is_u64(ntrace_session_index(session, 1, &counts), 0, "%s: index from the file", name);
	is_u64(counts.decoded, 0, "%s: the file is up to date", name);
	is_u64(counts.points, points, "%s: all its points", name);
	is_u64(try_offsets(session, points), 0, "%s: parts by offset, with the file", name);
	ntrace_session_close(session);
}

/* ---- recordings ---- */

/* Tasks, forks and execs; some of them come after several points. */
static void run_tasks(void)
{
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	maps(200, 0, OTHER_CODE, "/ccc");
	named(300, 0, false, "kworker");
	for (unsigned int i = 0; i < 4; i++) {
		int32_t child = 101 + (int32_t)i;

		switches(100, 200, i & 1 ? OTHER_CODE : CODE);
		work(CODE, 7);
		switches(200, 100, CODE);
		work(CODE, 3);
		forks(100, child, now + 10);
		switches(100, child, CODE);
		work(CODE, 2);
		named(child, now + 20, true, "gamma");
		maps(child, now + 30, OTHER_CODE, "/ccc");
		hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, OTHER_CODE);
		hart_loop(&hart, 3);
		work(OTHER_CODE, 5);
		switches(child, 300, KERNEL_LOOP);
		hart_loop(&hart, 5);
		switches(300, 100, CODE);
	}
}

static void record(const char *name, uint32_t priv_mask, uint32_t privilege)
{
	start(name, CODE, priv_mask);
	run_tasks();
	stop(name, privilege);
}

/* Overwrites bytes of the trace. */
static void damage(const char *name, uint64_t from, uint64_t step)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/aux.0", in(name));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	for (; fd >= 0 && from < hart.bytes; from += step)
		if (pwrite(fd, "\x02\x5a", 2, (off_t)from) != 2)
			break;
	close(fd);
}

static void test_kinds(void)
{
	record("whole", UINT32_MAX, 3);
	check("whole", 10);
	/* Losses: several scheduling intervals are possible. */
	record("losses", UINT32_MAX, 3);
	damage("losses", 150, 333);
	check("losses", 8);
	/* No switch is visible. */
	record("users", 1u << NTRACE_PRIV_U, 1);
	check("users", 5);
	start("missing", CODE, UINT32_MAX);
	run_tasks();
	switch_unrecorded();
	stop("missing", 3);
	check("missing", 10);
	fake_context = true;
	record("owners", UINT32_MAX, 3);
	check("owners", 10);
	/* Timestamps of 10 bits are extended over many rounds. */
	fake_time_bits = 10;
	record("times", UINT32_MAX, 3);
	check("times", 10);
	record("times with losses", UINT32_MAX, 3);
	damage("times with losses", 210, 401);
	check("times with losses", 8);
	/* The same on the clock of the kernel. */
	fake_time_hz = 50000000;
	record("nanoseconds", UINT32_MAX, 3);
	check("nanoseconds", 10);
	record("nanoseconds of users", 1u << NTRACE_PRIV_U, 1);
	check("nanoseconds of users", 10);
	fake_time_hz = 0;
	fake_context = false;
	fake_time_bits = 0;
}

static uint64_t first_position;

static int note_position(void *data, unsigned int stream, uint64_t bytes)
{
	(void)data;
	(void)stream;
	if (!first_position)
		first_position = bytes;
	return 0;
}

/* Threads of one process, in user space alone, are never certain: a late part needs few bytes all the same. */
static void test_threads(void)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = in("root"),
						  .progress = note_position };
	struct ntrace_session_range range = { .size = sizeof(range), .last_offset = UINT64_MAX };
	struct ntrace_session *session;
	uint64_t bytes;

	fake_time_bits = 40;
	start("threads", CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "one");
	maps(100, 0, CODE, "/aaa");
	for (unsigned int i = 0; i < 200; i++) {
		turn(100, 100 + i % 2, 100, 100 + (i + 1) % 2, CODE);
		work(CODE, 20);
	}
	stop("threads", 1);
	bytes = hart.bytes;
	fake_time_bits = 0;
	if (ntrace_session_open(&session, in("threads"), &options)) {
		ok(false, "threads: opens");
		return;
	}
	forget(&whole);
	is_u64(decode_turns(session, NULL, take_event, NULL, &whole, NULL), 0, "threads: decodes");
	ok(whole.count < EVENTS_MAX, "threads: %u events in %" PRIu64 " bytes", whole.count, bytes);
	ok(!ntrace_session_index(session, 1000, NULL), "threads: index");
	range.by_time = true;
	range.first_time = whole.entry[whole.count - 100].time;
	range.last_time = whole.entry[whole.count - 50].time;
	first_position = 0;
	is_u64(try_range(session, &range), 0, "threads: a late time");
	ok(first_position > bytes - bytes / 10,
	   "threads: decodes from %" PRIu64 " of %" PRIu64 " on", first_position, bytes);
	ntrace_session_close(session);
}

/* The kernel changes its text: a warning is given once, also if it was given before the part. */
static void test_uncertain(void)
{
	start("patched", CODE, UINT32_MAX);
	run_tasks();
	put_parcel(NOTHING + 2, 0x0505);
	put_parcel(KERNEL_LOOP + 2, 0x0505);
	write_kcore(in("kcore"));
	stop("patched", 3);
	put_parcel(NOTHING + 2, 0x0001);
	put_parcel(KERNEL_LOOP + 2, 0x0001);
	write_kcore(in("kcore"));
	check("patched", 10);
}

/* ---- the file ---- */

static struct ntrace_index_counts index_of(const char *name, const char *sysroot, uint64_t distance)
{
	struct ntrace_session *session = opened(name, sysroot);
	struct ntrace_index_counts counts = { 0 };

	if (session && ntrace_session_index(session, distance, &counts))
		ok(false, "%s: index", name);
	ntrace_session_close(session);
	return counts;
}

static void test_stale(void)
{
	struct ntrace_index_counts counts;

	record("stale", UINT32_MAX, 3);
	ok(index_of("stale", "root", 1).decoded, "stale: made");
	is_u64(index_of("stale", "root", 1).decoded, 0, "stale: kept");
	ok(index_of("stale", "root", 100).decoded, "stale: another distance");
	run("cp -r %s %s", in("root"), in("other"));
	ok(index_of("stale", "other", 100).decoded, "stale: another sysroot");
	is_u64(index_of("stale", "other", 100).decoded, 0, "stale: kept again");
	run("mv %s %s.away", in("other/aaa"), in("other/aaa"));
	ok(index_of("stale", "other", 100).decoded, "stale: a program is missing");
	run("mv %s.away %s", in("other/aaa"), in("other/aaa"));
	ok(index_of("stale", "other", 100).decoded, "stale: the program is there");
	run("sed -i 's/^tool.*/tool other/' %s", in("stale/params"));
	ok(index_of("stale", "other", 100).decoded, "stale: another file params");
	run("touch %s", in("stale/data"));
	ok(index_of("stale", "other", 100).decoded, "stale: another sideband");
	run("touch %s", in("stale/aux.0"));
	ok(index_of("stale", "other", 100).decoded, "stale: another trace of the same size");
	run("head -c 200 %s > %s && mv %s %s", in("stale/index"), in("short"), in("short"),
	    in("stale/index"));
	ok(index_of("stale", "other", 100).decoded, "stale: a truncated index");
	run("rm %s && mkdir %s", in("stale/index"), in("stale/index"));
	counts = index_of("stale", "other", 100);
	ok(counts.decoded && !counts.stored && counts.points,
	   "no place for the file: used all the same");
	ok(strstr(notes, "the index is not kept"), "no place for the file: a note");
}

/* A daemon may have closed its standard input. */
static void test_descriptor_0(void)
{
	int input = dup(STDIN_FILENO);

	record("closed", UINT32_MAX, 3);
	close(STDIN_FILENO);
	ok(index_of("closed", "root", 1).stored, "the index is stored through file descriptor 0");
	close(STDIN_FILENO);
	if (input >= 0) {
		dup2(input, STDIN_FILENO);
		close(input);
	}
	is_u64(index_of("closed", "root", 1).decoded, 0, "and read again");
}

/* A trace that still grows: only its new bytes are decoded. */
static void test_growing(void)
{
	struct ntrace_index_counts first, second, all;
	uint64_t half;

	record("growing", UINT32_MAX, 3);
	half = hart.bytes / 2;
	run("cp %s %s && truncate -s %llu %s", in("growing/aux.0"), in("all"),
	    (unsigned long long)half, in("growing/aux.0"));
	first = index_of("growing", "root", 1);
	is_u64(first.decoded, half, "growing: the first half is decoded");
	run("tail -c +%llu %s >> %s", (unsigned long long)half + 1, in("all"), in("growing/aux.0"));
	second = index_of("growing", "root", 1);
	ok(second.decoded && second.decoded < hart.bytes - half + 100,
	   "growing: %" PRIu64 " bytes are decoded for the second half", second.decoded);
	check("growing", 10);
	run("rm %s", in("growing/index"));
	all = index_of("growing", "root", 1);
	is_u64(all.decoded, hart.bytes, "growing: all bytes are decoded without the file");
	is_u64(second.points, all.points, "growing: the same points");
	/* Other bytes, not more bytes; those behind the recorded ones are none. */
	damage("growing", 10, UINT64_MAX / 2);
	run("printf 'xxxxxxxxxxxxxxx' >> %s", in("growing/aux.0"));
	is_u64(index_of("growing", "root", 1).decoded, hart.bytes,
	       "growing: another trace is decoded");
}

static uint64_t fingerprint(const uint8_t *data, size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint8_t content[1 << 20];

/* Stores the first @size bytes of @content with a fingerprint that fits. */
static void put_index(const char *name, size_t size)
{
	uint64_t hash = fingerprint(content, size);
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/index", in(name));
	file = fopen(path, "w");
	if (!file)
		return;
	fwrite(content, 1, size, file);
	for (unsigned int i = 0; i < 8; i++)
		fputc((int)(hash >> 8 * i & 255), file);
	fclose(file);
}

/* Damage that the fingerprint does not show must do no harm to the process. */
static void test_damaged(void)
{
	struct ntrace_session_range range = { .size = sizeof(range),
					      .first_offset = 900,
					      .last_offset = 1000 };
	unsigned int unused = 0, failed = 0;
	char path[600];
	size_t size;
	FILE *file;

	record("damaged", 1u << NTRACE_PRIV_U, 1);
	index_of("damaged", "root", 300);
	snprintf(path, sizeof(path), "%s/index", in("damaged"));
	file = fopen(path, "r");
	size = file ? fread(content, 1, sizeof(content), file) : 0;
	if (file)
		fclose(file);
	if (!ok(size > 100 && size < sizeof(content), "damaged: an index of %zu bytes", size))
		return;
	size -= 8;
	for (size_t at = 0; at < size; at += 1 + at / 400) {
		static const uint8_t flips[] = { 1, 0x80, 0x7f };
		uint8_t flip = flips[at % 3];
		struct ntrace_session *session;
		struct ntrace_index_counts counts = { 0 };
		int error;

		content[at] ^= flip;
		put_index("damaged", size);
		content[at] ^= flip;
		session = opened("damaged", "root");
		if (!session)
			return;
		failed += ntrace_session_index(session, 300, &counts) != 0;
		unused += counts.decoded != 0;
		forget(&part);
		error = decode_part(session, 0, &range, take_event, NULL, &part, NULL);
		failed += error && error != NTRACE_ERR_FORMAT;
		ntrace_session_close(session);
	}
	is_u64(failed, 0, "damaged: no result but the part or NTRACE_ERR_FORMAT");
	ok(unused > 20, "damaged: %u of the changed files were made again", unused);
	for (size_t cut = (size - 1) % 7; cut < size; cut += 7) {
		put_index("damaged", cut);
		failed += !index_of("damaged", "root", 300).decoded;
	}
	is_u64(failed, 0, "damaged: a shorter content is made again");
}

static void test_arguments(void)
{
	struct ntrace_session *session = opened("whole", "root");
	struct ntrace_session_range range = { .size = 1 };
	struct ntrace_index_point point;

	if (!session)
		return;
	is_u64(ntrace_session_index_point(session, 0, 0, &point), NTRACE_ERR_INVALID,
	       "a point without an index");
	ntrace_session_index(session, 1, NULL);
	is_u64(ntrace_session_index_point(session, 0, 0, &point), 0, "a point");
	ok(!point.time_known && !point.time, "it has no time in a recording without timestamps");
	is_u64(ntrace_session_index_point(session, 1, 0, &point), NTRACE_ERR_INVALID,
	       "a point of no stream");
	is_u64(ntrace_session_index_point(session, 0, 1000000, &point), NTRACE_ERR_EOS,
	       "a point after the last one");
	is_u64(decode_part(session, 0, &range, take_event, NULL, &part, NULL), NTRACE_ERR_INVALID,
	       "a range without a size");
	is_u64(decode_part(session, 1, NULL, take_event, NULL, &part, NULL), NTRACE_ERR_INVALID,
	       "a range of no stream");
	ntrace_session_close(session);
}

static void tests(void)
{
	test_kinds();
	test_threads();
	test_uncertain();
	test_stale();
	test_descriptor_0();
	test_growing();
	test_damaged();
	test_arguments();
}

int main(void)
{
	return test_sessions(tests);
}
