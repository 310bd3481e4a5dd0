// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timelines from hand-made changes: the Trace Event Format byte by byte, Perfetto's trace with a
 * reader of its own and the numbers of its trace.proto. selftests/consumers/perfetto.sh checks the
 * files with Perfetto's and Chromium's libraries.
 */
#include <ntrace/export_stacks.h>

#include "session/session.h"

#include "export_file.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The frequency of a stream does not matter: changes have times, not ticks. There is no stream 2. */
static const struct ntrace_params timed = { .size = sizeof(timed), .timestamp_hz = 3000000000 };
static const struct ntrace_params untimed = { .size = sizeof(untimed) };
static struct ntrace_stream streams[] = { { .params = &timed },
					  { .file = "", .params = &untimed } };
static struct ntrace_recording recording = { .stream_count = COUNT(streams) };
static struct ntrace_session session = { .recording = &recording, .streams = streams };

static const char function[] = "_Z1fi", plain[] = "a \"b\"\\\n\xc3\xa9", library[] = "lib";

static const struct ntrace_stack_change changes[] = {
	{ .type = NTRACE_STACK_RUN,
	  .time_kind = NTRACE_STACK_TIME_OUTSIDE,
	  .cpu = 3,
	  .pid = 7,
	  .tid = 8,
	  .kind = NTRACE_STACK_TASK,
	  .comm = "w \"x\"",
	  .name = "",
	  .time = 3000 },
	{ .type = NTRACE_STACK_ENTER,
	  .time_kind = NTRACE_STACK_TIME_OUTSIDE,
	  .cpu = 3,
	  .pid = 7,
	  .tid = 8,
	  .comm = "w \"x\"",
	  .name = function,
	  .time = 3000 },
	{ .type = NTRACE_STACK_ENTER,
	  .time_kind = NTRACE_STACK_TIME_INTERPOLATED,
	  .cpu = 3,
	  .pid = 7,
	  .tid = 8,
	  .comm = "w \"x\"",
	  .name = plain,
	  .time = 3001,
	  .depth = 1 },
	{ .type = NTRACE_STACK_LEAVE,
	  .time_kind = NTRACE_STACK_TIME_EXACT,
	  .cpu = 3,
	  .pid = 7,
	  .tid = 8,
	  .comm = "w \"x\"",
	  .name = plain,
	  .time = UINT64_MAX,
	  .depth = 1 },
	{ .type = NTRACE_STACK_GAP,
	  .time_kind = NTRACE_STACK_TIME_EXACT,
	  .cpu = 3,
	  .pid = 7,
	  .tid = 8,
	  .comm = "w \"x\"",
	  .name = "",
	  .time = UINT64_MAX },
	/* The hart switches to another thread, then to none. */
	{ .type = NTRACE_STACK_RUN,
	  .time_kind = NTRACE_STACK_TIME_EXACT,
	  .cpu = 3,
	  .pid = -1,
	  .tid = -1,
	  .kind = NTRACE_STACK_TASK,
	  .comm = "unknown",
	  .name = "",
	  .time = UINT64_MAX },
	{ .type = NTRACE_STACK_RUN,
	  .time_kind = NTRACE_STACK_TIME_EXACT,
	  .cpu = 3,
	  .pid = -1,
	  .tid = -1,
	  .kind = NTRACE_STACK_ALL,
	  .comm = "",
	  .name = "",
	  .time = UINT64_MAX },
	/* Timestamps with an unknown frequency; and without timestamps: instructions. */
	{ .type = NTRACE_STACK_ENTER,
	  .time_kind = NTRACE_STACK_TIME_EXACT,
	  .stream = 1,
	  .cpu = 4,
	  .pid = 7,
	  .tid = 8,
	  .kind = NTRACE_STACK_OBJECT,
	  .comm = "w",
	  .name = library,
	  .time = 1234567 },
	{ .type = NTRACE_STACK_ENTER,
	  .time_kind = NTRACE_STACK_TIME_NONE,
	  .stream = 2,
	  .cpu = 5,
	  .pid = 7,
	  .tid = 8,
	  .comm = "w",
	  .name = function,
	  .time = 999,
	  .time_error = 45670,
	  .instructions = 9 },
};

struct wanted_timeline {
	unsigned int format;
	size_t count;
};

static uint64_t events;

static int put(FILE *file, const void *data)
{
	const struct wanted_timeline *wanted = data;
	struct ntrace_export_timeline *timeline;
	int error, later;
	size_t i;

	error = ntrace_export_timeline_open(&timeline, file, wanted->format, &session);
	if (error)
		return error;
	for (i = 0; i < wanted->count && !error; i++)
		error = ntrace_export_timeline_change(timeline, &changes[i]);
	later = ntrace_export_timeline_close(timeline, &events);
	return error ? error : later;
}

#define END "18446744073709551.615"

static void test_chrome(void)
{
	const struct wanted_timeline all = { NTRACE_EXPORT_CHROME, COUNT(changes) }, none = { 0 };

	is_str(write_all(put, &all, "chrome")->bytes,
	       "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n"
	       "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":-2,\"args\":{\"name\":"
	       "\"CPU 3\"}},\n"
	       "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":-2,\"args\":{\"name\":"
	       "\"CPU 3\"}},\n"
	       "{\"ph\":\"B\",\"pid\":1,\"tid\":-2,\"ts\":3.000,\"cat\":\"outside\","
	       "\"name\":\"w \\\"x\\\" 7/8\"},\n"
	       "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":8,\"args\":{\"name\":"
	       "\"threads\"}},\n"
	       "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":8,"
	       "\"args\":{\"name\":\"w \\\"x\\\" 7/8\"}},\n"
	       "{\"ph\":\"B\",\"pid\":0,\"tid\":8,\"ts\":3.000,\"cat\":\"outside\",\"name\":\"f("
	       "int)\"},\n"
	       "{\"ph\":\"B\",\"pid\":0,\"tid\":8,\"ts\":3.001,\"cat\":\"interpolated\","
	       "\"name\":\"a \\\"b\\\"\\\\\\u000a\xc3\xa9\"},\n"
	       "{\"ph\":\"E\",\"pid\":0,\"tid\":8,\"ts\":" END ",\"cat\":\"exact\"},\n"
	       "{\"ph\":\"i\",\"pid\":0,\"tid\":8,\"ts\":" END ",\"cat\":\"exact\","
	       "\"name\":\"trace lost\",\"s\":\"t\"},\n"
	       "{\"ph\":\"E\",\"pid\":1,\"tid\":-2,\"ts\":" END ",\"cat\":\"exact\"},\n"
	       "{\"ph\":\"B\",\"pid\":1,\"tid\":-2,\"ts\":" END ",\"cat\":\"exact\","
	       "\"name\":\"unknown -1/-1\"},\n"
	       "{\"ph\":\"E\",\"pid\":1,\"tid\":-2,\"ts\":" END ",\"cat\":\"exact\"},\n"
	       "{\"ph\":\"B\",\"pid\":0,\"tid\":8,\"ts\":1234.567,\"cat\":\"exact\",\"name\":\"["
	       "lib]\"},\n"
	       "{\"ph\":\"B\",\"pid\":0,\"tid\":8,\"ts\":0.999,\"cat\":\"instructions\",\"name\":"
	       "\"f(int)\"}\n"
	       "],\n\"otherData\":{\"producer\":\"ntrace\",\"times\":\"CLOCK_MONOTONIC, within "
	       "46 us\"}}\n",
	       "chrome: all kinds of changes");
	is_u64(events, 10, "chrome: events without names of tracks");
	check_full(put, &all, "chrome");
	is_str(write_all(put, &none, "chrome")->bytes,
	       "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n],\n"
	       "\"otherData\":{\"producer\":\"ntrace\"}}\n",
	       "chrome: nothing");
	is_u64(events, 0, "chrome: no event");
}

/* ---- Perfetto ---- */

struct bytes {
	const uint8_t *at;
	const uint8_t *end;
};

static bool bad;

static uint64_t take_varint(struct bytes *from)
{
	uint64_t value = 0;
	unsigned int shift;

	for (shift = 0; from->at < from->end && shift < 64; shift += 7) {
		uint8_t byte = *from->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	bad = true;
	return 0;
}

/*
 * A message as text: "FIELD=NUMBER", 'FIELD="TEXT"' and "FIELD{...}", where @messages lists the
 * paths of fields that are messages, each as ".FIELD.FIELD".
 */
static void print_message(FILE *out, struct bytes from, const char *path)
{
	static const char *const messages[] = {
		".1", ".1.11", ".1.12", ".1.12.1", ".1.12.2", ".1.60",
	};
	const char *separator = "";

	while (from.at < from.end && !bad) {
		uint64_t key = take_varint(&from), size;
		bool is_message = false;
		struct bytes part;
		char below[64];
		size_t i;

		fprintf(out, "%s%u", separator, (unsigned int)(key >> 3));
		separator = " ";
		if (!(key & 7)) {
			fprintf(out, "=%" PRIu64, take_varint(&from));
			continue;
		}
		size = take_varint(&from);
		if ((key & 7) != 2 || size > (size_t)(from.end - from.at)) {
			bad = true;
			return;
		}
		part = (struct bytes){ from.at, from.at + size };
		from.at += size;
		snprintf(below, sizeof(below), "%s.%u", path, (unsigned int)(key >> 3));
		for (i = 0; i < COUNT(messages); i++)
			is_message = is_message || !strcmp(below, messages[i]);
		if (!is_message) {
			fprintf(out, "=\"%.*s\"", (int)size, (const char *)part.at);
			continue;
		}
		fputc('{', out);
		print_message(out, part, below);
		fputs(*path ? "}" : "}\n", out);
	}
}

static const char *perfetto_text(const struct written *written)
{
	static char text[1 << 19];
	const uint8_t *bytes = (const uint8_t *)written->bytes;
	FILE *out = fmemopen(text, sizeof(text), "w");

	bad = false;
	text[0] = '\0';
	print_message(out, (struct bytes){ bytes, bytes + written->size }, "");
	fclose(out);
	ok(!bad, "perfetto: well-formed");
	return text;
}

/*
 * TracePacket: timestamp 8, trusted_packet_sequence_id 10, track_event 11, interned_data 12,
 * sequence_flags 13 (1: incremental state cleared, 2: needed), track_descriptor 60 (uuid 1, name 2,
 * parent_uuid 5). TrackEvent: category_iids 3, type 9 (1 begin, 2 end, 3 instant), name_iid 10,
 * track_uuid 11, name 23. InternedData: event_categories 1, event_names 2, each iid 1 and name 2.
 */
#define HART0 "1099511627776"
#define END0 "18446744073709551615"

static void test_perfetto(void)
{
	const struct wanted_timeline all = { NTRACE_EXPORT_PERFETTO, COUNT(changes) };
	const struct wanted_timeline none = { NTRACE_EXPORT_PERFETTO, 0 };

	is_str(perfetto_text(write_all(put, &all, "perfetto")),
	       "1{60{1=" HART0 " 2=\"CPU 3\"} 10=1 13=3}\n"
	       " 1{12{1{1=1 2=\"outside\"}} 8=3000 11{9=1 11=" HART0
	       " 3=1 23=\"w \"x\" 7/8\"} 10=1 13=2}\n"
	       " 1{60{1=2 2=\"w \"x\" 7/8\"} 10=1 13=2}\n"
	       " 1{12{2{1=2 2=\"f(int)\"}} 8=3000 11{9=1 11=2 3=1 10=2} 10=1 13=2}\n"
	       " 1{12{1{1=3 2=\"interpolated\"} 2{1=4 2=\"a \"b\"\\?\xc3\xa9\"}} 8=3001 "
	       "11{9=1 11=2 3=3 10=4} 10=1 13=2}\n"
	       " 1{12{1{1=5 2=\"exact\"}} 8=" END0 " 11{9=2 11=2 3=5} 10=1 13=2}\n"
	       " 1{12{2{1=6 2=\"trace lost\"}} 8=" END0 " 11{9=3 11=2 3=5 10=6} 10=1 13=2}\n"
	       " 1{8=" END0 " 11{9=2 11=" HART0 " 3=5} 10=1 13=2}\n"
	       " 1{8=" END0 " 11{9=1 11=" HART0 " 3=5 23=\"unknown -1/-1\"} 10=1 13=2}\n"
	       " 1{8=" END0 " 11{9=2 11=" HART0 " 3=5} 10=1 13=2}\n"
	       " 1{12{2{1=7 2=\"[lib]\"}} 8=1234567 11{9=1 11=2 3=5 10=7} 10=1 13=2}\n"
	       " 1{12{1{1=8 2=\"instructions\"}} 8=999 11{9=1 11=2 3=8 10=2} 10=1 13=2}\n"
	       " 1{60{1=2199023255552 2=\"times: CLOCK_MONOTONIC, within 46 us\"} 10=1 13=2}\n"
	       " 1{8=999 11{9=3 11=2199023255552 23=\"times: CLOCK_MONOTONIC, within 46 us\"} "
	       "10=1 13=2}\n",
	       "perfetto: all kinds of changes");
	is_u64(events, 10, "perfetto: events without descriptors of tracks");
	check_full(put, &all, "perfetto");
	is_u64(write_all(put, &none, "perfetto")->size, 0, "perfetto: nothing");
}

/* Return: the last @count lines of @text. */
static const char *last_lines(const char *text, size_t count)
{
	const char *at = text + strlen(text);

	while (at > text && (at[-1] != '\n' || at == text + strlen(text) || count-- > 1))
		at--;
	return at;
}

static size_t before_close;

/* Calls of one function: repeated names need no text, and the file grows while they come. */
static int put_calls(FILE *file, const void *data)
{
	struct ntrace_stack_change change = changes[1];
	struct ntrace_export_timeline *timeline;
	const struct written *written = data;
	int error = ntrace_export_timeline_open(&timeline, file, NTRACE_EXPORT_PERFETTO, &session);

	if (error)
		return error;
	change.time_kind = NTRACE_STACK_TIME_EXACT;
	for (unsigned int i = 0; i < 6000 && !error; i++) {
		change.type = i & 1 ? NTRACE_STACK_LEAVE : NTRACE_STACK_ENTER;
		change.time = 3000 + 3 * i;
		error = ntrace_export_timeline_change(timeline, &change);
	}
	before_close = written->size;
	return ntrace_export_timeline_close(timeline, NULL);
}

static void test_calls(void)
{
	static struct written written;
	const char *text;
	size_t lines = 0;

	is_u64(write_limited(&written, sizeof(written.bytes), put_calls, &written), 0,
	       "calls: written");
	ok(written.size > 100000 && before_close > written.size - 40000,
	   "calls: of %zu bytes %zu are written while they come", written.size, before_close);
	text = perfetto_text(&written);
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	/* The track has a name. */
	is_u64(lines, 6000 + 1, "calls: a packet for each change");
	is_str(last_lines(text, 2),
	       " 1{8=20994 11{9=1 11=1 3=1 10=2} 10=1 13=2}\n"
	       " 1{8=20997 11{9=2 11=1 3=1} 10=1 13=2}\n",
	       "calls: the last two");
}

static void test_invalid(void)
{
	struct ntrace_export_timeline *timeline;

	is_str(ntrace_export_timeline_name(NTRACE_EXPORT_CHROME), "chrome", "a name");
	is_str(ntrace_export_timeline_name(NTRACE_EXPORT_PERFETTO), "perfetto", "another one");
	ok(!ntrace_export_timeline_name(NTRACE_EXPORT_TIMELINE_FORMATS),
	   "no further format exists");
	is_u64(ntrace_export_timeline_open(&timeline, stdout, NTRACE_EXPORT_TIMELINE_FORMATS, NULL),
	       NTRACE_ERR_INVALID, "and is refused");
}

int main(void)
{
	test_chrome();
	test_perfetto();
	test_calls();
	test_invalid();
	return done_testing();
}
