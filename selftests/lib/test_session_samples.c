// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/session/samples.c: sessions of perf.data files with hand-written samples. The scripts of
 * selftests/consumers read files of perf.
 */
#include <linux/perf_event.h>

#include <ntrace/perf.h>
#include <ntrace/session.h>

#include "scratch.h"
#include "tap.h"

#define PLAIN_ID 1	/* event without branch stacks */
#define STACKS_ID 2
#define TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static struct ntrace_perf_writer *writer;
static char notes[1024], told[256];

static void take_note(void *data, const char *text)
{
	(void)data;
	snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s\n", text);
}

static void add_event(uint64_t id, uint64_t sample_type)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_id_all = 1,
		.sample_period = 1,
		.sample_type = sample_type,
		.branch_sample_type = sample_type & PERF_SAMPLE_BRANCH_STACK ?
					      PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY :
					      0,
	};

	ntrace_perf_writer_event(writer, &attr, &id, 1, "test");
}

/* A sample with @count words after the time. */
static void add_sample(uint64_t id, uint32_t pid, uint64_t time, const uint64_t *more, size_t count)
{
	uint64_t words[16] = { 0, id, 0x10000, pid | (uint64_t)pid << 32, time };
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
					    .misc = PERF_RECORD_MISC_USER };

	header.size = (uint16_t)((5 + count) * sizeof(words[0]));
	memcpy(words, &header, sizeof(header));
	if (count)
		memcpy(words + 5, more, count * sizeof(words[0]));
	ntrace_perf_writer_records(writer, words, header.size);
}

static void put(struct ntrace_sideband record)
{
	ntrace_perf_writer_sideband(writer, &record);
}

static struct ntrace_session *open_session(int *error)
{
	const struct ntrace_session_options options = { .size = sizeof(options),
							.sysroot = directory,
							.note = take_note };
	struct ntrace_session *session = NULL;

	notes[0] = '\0';
	*error = ntrace_session_open(&session, in("data"), &options);
	return session;
}

static void test_no_stacks(void)
{
	struct ntrace_session *session;
	int error;

	ntrace_perf_writer_open(&writer, in("data"));
	add_event(PLAIN_ID, TYPE);
	add_sample(PLAIN_ID, 100, 5000, NULL, 0);
	ntrace_perf_writer_close(writer);
	session = open_session(&error);
	is_u64(error, NTRACE_ERR_FORMAT, "samples without branch stacks: the session is refused");
	ok(strstr(notes, "its samples have no branch stacks"),
	   "samples without branch stacks: a note says so");
	ntrace_session_close(error ? NULL : session);
}

/* "COMM has space, transfers; ..." */
static int take_sample(void *data, const struct ntrace_session_sample *taken)
{
	(void)data;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s %zu; ",
		 *taken->comm ? taken->comm : "?", taken->space ? " has space" : "",
		 taken->sample->branch_count);
	return 0;
}

static int stop_at_sample(void *data, const struct ntrace_session_sample *taken)
{
	(void)data;
	(void)taken;
	return 42;
}

/* Two transfers of the stack: from, to, flags. */
static const uint64_t stack[] = { 2, 0x10410, 0x10400, 2, 0x10388, 0x10408, 2 };

static void test_samples(void)
{
	const uint64_t too_many = 3;
	struct ntrace_session_sample_counts counts;
	struct ntrace_session *session;
	int error;

	ntrace_perf_writer_open(&writer, in("data"));
	add_event(PLAIN_ID, TYPE);
	add_event(STACKS_ID, TYPE | PERF_SAMPLE_BRANCH_STACK);
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_COMM, .pid = 100, .tid = 100, .time = 1000, .name = "old" });
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
				      .pid = 100,
				      .tid = 100,
				      .time = 1100,
				      .executable = true,
				      .address = 0x10000,
				      .length = 0x1000,
				      .name = "/missing" });
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_COMM, .pid = 100, .tid = 100, .time = 3000, .name = "new" });
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_LOST, .count = 31, .time = 3100, .name = "" });
	add_sample(STACKS_ID, 100, 2000, stack, 7);
	add_sample(PLAIN_ID, 100, 2100, NULL, 0);
	add_sample(PLAIN_ID, 100, 2200, NULL, 0);
	add_sample(STACKS_ID, 100, 2300, &too_many, 1);
	add_sample(STACKS_ID, 100, 4000, stack, 7);
	add_sample(STACKS_ID, 200, 4000, stack, 7);
	add_sample(STACKS_ID, 100, 0, stack, 7);
	ntrace_perf_writer_close(writer);
	session = open_session(&error);
	if (!ok(!error, "samples: a session"))
		return;
	ok(ntrace_session_has_samples(session), "samples: the session has some");
	ok(strstr(notes, "31 sideband records were lost"),
	   "samples: a note has the number of lost records");
	is_u64(ntrace_session_samples(session, take_sample, NULL, &counts), 0, "samples: read");
	is_str(told, "old has space 2; new has space 2; ? 2; new has space 2; ",
	       "samples: thread, mappings and branch stack at the time of each");
	is_u64(counts.samples, 4, "samples: number with a branch stack");
	is_u64(counts.without, 2, "samples: number without one");
	is_u64(counts.damaged, 1, "samples: number of damaged ones");
	is_u64(ntrace_session_samples(session, stop_at_sample, NULL, NULL), 42,
	       "samples: the callback stops");
	ntrace_session_close(session);
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_no_stacks();
	test_samples();
	scratch_remove();
	return done_testing();
}
