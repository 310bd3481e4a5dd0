// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file params of a recording: each key with its limits, in both directions, and what must be
 * refused. test_recording.c writes whole recordings.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <ntrace/recording.h>

#include "scratch.h"
#include "tap.h"

static struct ntrace_recording *recording;
static char reason[200];

static int read_text(const char *text, size_t size)
{
	FILE *file = fopen(in("params"), "w");
	int error;

	ntrace_recording_free(recording);
	recording = NULL;
	if (!file || fwrite(text, 1, size, file) != size)
		exit(2);
	fclose(file);
	error = ntrace_recording_read(&recording, directory, reason, sizeof(reason));
	if (error)
		recording = NULL;
	return error;
}

#define HEAD "ntrace-recording 1\n"
#define STREAM HEAD "stream 0\nfile aux.0\n"

static int reads(const char *text)
{
	return read_text(text, strlen(text));
}

static void test_texts(void)
{
	static const char text[] = HEAD
		"# a comment\n\ntool a b\nmodule m\nrelease r\nmachine x\nclock "
		"monotonic\ncommand ls -l\nprivilege 0xb\nfuture 7\n";

	is_u64((uint64_t)reads(text), 0, "a recording without streams");
	is_str(recording->tool, "a b", "tool");
	is_str(recording->module, "m", "module");
	is_str(recording->release, "r", "release");
	is_str(recording->machine, "x", "machine");
	is_str(recording->clock, "monotonic", "clock");
	is_str(recording->command, "ls -l", "command");
	ok(recording->privilege == 11 && !recording->stream_count, "privilege");
	ok(!recording->unfinished, "a recording is finished");
	is_u64((uint64_t)reads(HEAD "unfinished 1\n"), 0, "unless it says");
	is_u64(recording->unfinished, 1, "otherwise");
	is_u64((uint64_t)reads(HEAD "unfinished x\n"), (uint64_t)NTRACE_ERR_FORMAT, "no number");
	is_str(reason, "params line 2: unfinished is not a number", "the reason says it");
	is_u64((uint64_t)reads(HEAD "tool\n"), 0, "a key without a value");
	ok(!*recording->tool && !*recording->module && !*recording->release &&
		   !*recording->machine && !*recording->clock && !*recording->command,
	   "texts that are not there are empty");
	is_u64((uint64_t)reads("ntrace-recording 1"), 0, "no newline at the end");
}

static void test_stream(void)
{
	const struct ntrace_stream *streams;

	is_u64((uint64_t)reads(STREAM "lost 0\nlost_exact 0\n"), 0, "no loss that is not exact");
	ok(recording->streams[0].lost_exact, "is an exact one: nothing was lost");
	is_u64((uint64_t)reads(STREAM
			       "stream 1\nfile b\ncpu 3\nhartid 4\nsrc 5\nlost 6\nlost_exact 0\n"
			       "gaps 7\nstart_ns 8\nstop_ns 9\nevent 10\nposition 11\nbytes 12\n"
			       "params srcbits=4\nfuture x\ntool y\n"),
	       0, "two streams");
	is_u64(recording->stream_count, 2, "their number");
	streams = recording->streams;
	ok(!strcmp(streams[0].file, "aux.0") && streams[0].lost_exact && !streams[0].cpu &&
		   !streams[0].src && streams[0].params->xlen == 64,
	   "defaults");
	ok(!strcmp(streams[1].file, "b") && streams[1].cpu == 3 && streams[1].hartid == 4 &&
		   streams[1].src == 5 && streams[1].lost == 6 && !streams[1].lost_exact,
	   "values");
	ok(streams[1].gaps == 7 && streams[1].start_ns == 8 && streams[1].stop_ns == 9 &&
		   streams[1].event == 10 && streams[1].position == 11 && streams[1].bytes == 12,
	   "more values");
	ok(streams[1].params->src_bits == 4 && !streams[0].params->src_bits, "parameters");
	is_str(recording->tool, "", "keys of the recording stand before the streams");
	is_u64((uint64_t)reads(STREAM "stream 1\nfile aux.0\nsrc 1\n"), 0,
	       "two sources of one file");
	is_u64((uint64_t)reads(STREAM "stream 1\nfile aux.0\n"), (uint64_t)NTRACE_ERR_FORMAT,
	       "one source twice");
	is_str(reason, "params: streams 0 and 1 are the same trace, aux.0", "the reason names it");
	is_u64((uint64_t)reads(STREAM "stream 1\nfile aux.0\nsrc any\n"),
	       (uint64_t)NTRACE_ERR_FORMAT, "a source, and all sources");
	is_u64((uint64_t)reads(STREAM "stream 0\nfile b\n"), (uint64_t)NTRACE_ERR_FORMAT,
	       "a number twice");
	is_str(reason, "params line 4: stream 0 where stream 1 is next", "the reason names it");
	is_u64((uint64_t)reads(STREAM "src any\n"), 0, "any SRC");
	is_u64(recording->streams[0].src, NTRACE_SRC_ANY, "is one");
}

/* The greatest value of each number, and one more. */
static void test_limits(void)
{
	static const struct {
		const char *key, *most, *more;
	} limits[] = {
		{ "cpu", "4294967295", "4294967296" },
		{ "src", "4095", "4096" },
		{ "lost_exact", "1", "2" },
		{ "hartid", "18446744073709551615", "18446744073709551616" },
		{ "bytes", "1125899906842624", "1125899906842625" },
		{ "lost", "1125899906842624", "1125899906842625" },
		{ "gaps", "1125899906842624", "1125899906842625" },
		{ "loss", "0xffffffffffffffff", "0x10000000000000000" },
		{ "start_ns", "18446744073709551615", "18446744073709551616" },
		{ "stop_ns", "18446744073709551615", "18446744073709551616" },
		{ "event", "18446744073709551615", "18446744073709551616" },
		{ "position", "18446744073709551615", "18446744073709551616" },
	};
	static const char *const wrong[] = { "", "-1", "+1", " 1", "x", "1x", "1 ", "/", ":" };
	char text[200], want[100];

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		snprintf(text, sizeof(text), STREAM "%s %s\n", limits[i].key, limits[i].most);
		is_u64((uint64_t)reads(text), 0, "%s %s", limits[i].key, limits[i].most);
		snprintf(text, sizeof(text), STREAM "%s %s\n", limits[i].key, limits[i].more);
		is_u64((uint64_t)reads(text), (uint64_t)NTRACE_ERR_FORMAT, "%s %s", limits[i].key,
		       limits[i].more);
		snprintf(want, sizeof(want), "params line 4: bad value of %s", limits[i].key);
		is_str(reason, want, "the reason names the line");
		for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
			snprintf(text, sizeof(text), STREAM "%s %s\n", limits[i].key, wrong[k]);
			is_u64((uint64_t)reads(text), (uint64_t)NTRACE_ERR_FORMAT, "%s \"%s\"",
			       limits[i].key, wrong[k]);
		}
	}
	is_u64((uint64_t)reads(HEAD "privilege 4294967295\n"), 0, "all privileges");
	is_u64((uint64_t)reads(HEAD "privilege 4294967296\n"), (uint64_t)NTRACE_ERR_FORMAT,
	       "one more");
	is_str(reason, "params line 2: privilege is not a number", "the reason");
}

static void test_refused(void)
{
	static const struct {
		const char *text;
		int error;
		const char *reason;
	} cases[] = {
		{ "", NTRACE_ERR_FORMAT, "params does not start with \"ntrace-recording\"" },
		{ "ntrace-recording\n", NTRACE_ERR_FORMAT,
		  "params does not start with \"ntrace-recording\"" },
		{ "ntrace-recordings 1\n", NTRACE_ERR_FORMAT,
		  "params does not start with \"ntrace-recording\"" },
		{ "ntrace-recording x\n", NTRACE_ERR_FORMAT,
		  "params does not start with \"ntrace-recording\"" },
		{ "ntrace-recording 1000\n", NTRACE_ERR_UNSUPPORTED,
		  "made by a newer version: recording format 1000, this version reads 1" },
		{ HEAD "stream 0\n", NTRACE_ERR_FORMAT, "params: stream 0 has no file" },
		{ STREAM "stream 1\n", NTRACE_ERR_FORMAT, "params: stream 1 has no file" },
		{ HEAD "stream 0\nfile\n", NTRACE_ERR_FORMAT,
		  "params line 3: not a plain file name" },
		{ HEAD "stream 0\nfile .x\n", NTRACE_ERR_FORMAT,
		  "params line 3: not a plain file name" },
		{ HEAD "stream 0\nfile a/b\n", NTRACE_ERR_FORMAT,
		  "params line 3: not a plain file name" },
		{ STREAM "params xlen=65\n", NTRACE_ERR_FORMAT,
		  "params line 4: bad stream parameter xlen=65" },
	};
	char path[5000], small[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_u64((uint64_t)reads(cases[i].text), (uint64_t)cases[i].error, "case %zu", i);
		is_str(reason, cases[i].reason, "its reason");
	}
	is_u64((uint64_t)read_text(HEAD "tool a\0b\n", sizeof(HEAD) + 8),
	       (uint64_t)NTRACE_ERR_FORMAT, "a zero byte");
	is_str(reason, "params is not a text file, or not a regular file", "its reason");
	is_u64((uint64_t)ntrace_recording_read(&recording, directory, small, sizeof(small)),
	       (uint64_t)NTRACE_ERR_FORMAT, "little room for the reason");
	is_str(small, "params ", "cuts it");
	is_u64((uint64_t)ntrace_recording_read(&recording, directory, NULL, 0),
	       (uint64_t)NTRACE_ERR_FORMAT, "none is possible, too");
	errno = 0;
	is_u64((uint64_t)ntrace_recording_read(&recording, in("none"), reason, sizeof(reason)),
	       (uint64_t)NTRACE_ERR_IO, "no such directory");
	ok(errno == ENOENT && !*reason, "errno says so, without a reason");
	memset(path, 'x', sizeof(path));
	path[4096] = '\0';
	is_u64((uint64_t)ntrace_recording_read(&recording, path, reason, sizeof(reason)),
	       (uint64_t)NTRACE_ERR_IO, "a path that is too long");
	is_u64((uint64_t)errno, ENAMETOOLONG, "errno says so");
	run("rm %s && mkdir %s", in("params"), in("params"));
	is_u64((uint64_t)ntrace_recording_read(&recording, directory, reason, sizeof(reason)),
	       (uint64_t)NTRACE_ERR_FORMAT, "a directory");
	run("rmdir %s && truncate -s 16777217 %s", in("params"), in("params"));
	is_u64((uint64_t)ntrace_recording_read(&recording, directory, reason, sizeof(reason)),
	       (uint64_t)NTRACE_ERR_FORMAT, "a file that is too large");
	recording = NULL;
}

/* What cannot be written. */
static void test_writing(void)
{
	struct ntrace_stream stream = { .file = "aux.0" };
	struct ntrace_recording whole = {
		.size = sizeof(whole), .tool = "tool", .streams = &stream, .stream_count = 1
	};
	const char **const texts[] = { &whole.tool,  &whole.module, &whole.release,
				       &whole.machine, &whole.clock,  &whole.command };

	run("rm -f %s", in("params"));
	is_u64((uint64_t)ntrace_recording_write(directory, &whole), 0, "a recording");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		*texts[i] = "a\nb";
		is_u64((uint64_t)ntrace_recording_write(directory, &whole),
		       (uint64_t)NTRACE_ERR_INVALID, "text %zu with a newline", i);
		*texts[i] = NULL;
	}
	stream.file = "";
	is_u64((uint64_t)ntrace_recording_write(directory, &whole), (uint64_t)NTRACE_ERR_INVALID,
	       "a stream without a file");
	stream.file = "a/b";
	is_u64((uint64_t)ntrace_recording_write(directory, &whole), (uint64_t)NTRACE_ERR_INVALID,
	       "a file in another directory");
	stream.file = "a\nb";
	is_u64((uint64_t)ntrace_recording_write(directory, &whole), (uint64_t)NTRACE_ERR_INVALID,
	       "a file name with a newline");
	stream.file = "aux.0";
	is_u64((uint64_t)ntrace_recording_write(directory, &whole), 0, "a recording without texts");
	is_u64((uint64_t)ntrace_recording_read(&recording, directory, reason, sizeof(reason)), 0,
	       "is read");
	ok(recording->stream_count == 1 && !*recording->tool, "as it was");
	ntrace_recording_free(recording);
	recording = NULL;
	ok(access(in("params.new"), F_OK), "no other file is left");
	is_u64((uint64_t)ntrace_recording_write(in("none"), &whole), (uint64_t)NTRACE_ERR_IO,
	       "no such directory");
	run("rm %s && mkdir -p %s/x", in("params"), in("params"));
	is_u64((uint64_t)ntrace_recording_write(directory, &whole), (uint64_t)NTRACE_ERR_IO,
	       "a directory is in the way");
	ok(access(in("params.new"), F_OK), "no other file is left");
	is_u64((uint64_t)ntrace_recording_create(in("new")), 0, "a new directory");
	ok(!access(in("new/images"), F_OK), "with one for images");
	is_u64((uint64_t)ntrace_recording_create(in("new")), (uint64_t)NTRACE_ERR_IO,
	       "is made once");
	is_u64((uint64_t)errno, EEXIST, "errno says so");
}

int main(void)
{
	if (!scratch_make())
		return 1;
	test_texts();
	test_stream();
	test_limits();
	test_refused();
	test_writing();
	ntrace_recording_free(recording);
	scratch_remove();
	return done_testing();
}
