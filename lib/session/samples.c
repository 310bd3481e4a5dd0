// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* perf.data files of other tools: samples with branch stacks, and the mappings at their times. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "spaces.h"

static bool has_branch_stacks(const struct ntrace_perf_file *file)
{
	unsigned int i;

	for (i = 0; i < ntrace_perf_file_events(file); i++)
		if (ntrace_perf_file_attr(file, i)->sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

int session_load_samples(struct ntrace_session *session)
{
	if (!has_branch_stacks(session->machine.file)) {
		session_note(session,
			     "%s: it has no trace, and its samples have no branch stacks: record "
			     "with perf record -j any,u",
			     session->directory);
		return NTRACE_ERR_FORMAT;
	}
	session->samples = true;
	session_note_sideband(session);
	session->recording = recording_of_nothing();
	if (!session->recording)
		return NTRACE_ERR_NOMEM;
	session->streams = calloc(1, sizeof(*session->streams));
	return session->streams ? 0 : NTRACE_ERR_NOMEM;
}

bool ntrace_session_has_samples(const struct ntrace_session *session)
{
	return session->samples;
}

struct sample_reader {
	struct spaces spaces;
	int (*callback)(void *data, const struct ntrace_session_sample *sample);
	void *data;
	struct ntrace_session_sample_counts counts;
};

static int receive_record(void *data, const struct ntrace_perf_record *record)
{
	struct sample_reader *reader = data;
	struct ntrace_session *session = reader->spaces.session;
	struct ntrace_perf_sample sample;
	struct ntrace_session_sample taken = { .sample = &sample };
	struct program *program;
	uint64_t time;
	int error = ntrace_perf_file_sample(session->machine.file, record, &sample);

	if (error == NTRACE_ERR_UNSUPPORTED)
		return 0;
	if (error || !sample.has_branches) {
		reader->counts.damaged += error != 0;
		reader->counts.without += !error;
		return 0;
	}
	reader->counts.samples++;
	/* Without a time, use all mappings of the whole file. */
	time = sample.time ? sample.time : UINT64_MAX;
	program = machine_program(&session->machine, sample.pid, time);
	if (program) {
		taken.space = spaces_at(&reader->spaces, program, time);
		if (!taken.space)
			return NTRACE_ERR_NOMEM;
	}
	taken.comm = machine_thread_name(&session->machine, sample.tid, time);
	if (!taken.comm)
		taken.comm = "";
	return reader->callback(reader->data, &taken);
}

int ntrace_session_samples(struct ntrace_session *session,
			   int (*callback)(void *data, const struct ntrace_session_sample *sample),
			   void *data, struct ntrace_session_sample_counts *counts)
{
	struct sample_reader reader = { .spaces.session = session,
					.callback = callback,
					.data = data };
	int error = ntrace_perf_file_records(session->machine.file, receive_record, &reader);

	spaces_free(&reader.spaces);
	if (counts)
		*counts = reader.counts;
	return error == NTRACE_ERR_TRUNCATED ? 0 : error;
}
