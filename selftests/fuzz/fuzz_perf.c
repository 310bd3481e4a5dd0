// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damaged perf.data files: reads every record and every part that has a parser, and decodes the
 * trace in them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ntrace/perf.h>
#include <ntrace/session.h>

#include "../include/decode_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink;

static int take_record(void *data, const struct ntrace_perf_record *record)
{
	struct ntrace_perf_sample sample;
	uint64_t from, to;
	size_t i;

	if (!ntrace_perf_file_sample(data, record, &sample)) {
		for (i = 0; i < sample.branch_count; i++) {
			ntrace_perf_sample_branch(&sample, i, &from, &to);
			sink = from + to;
		}
	}
	sink = record->data[record->size - 1];
	if (record->payload_size)
		sink = record->payload[record->payload_size - 1];
	return 0;
}

static int take_sideband(void *data, const struct ntrace_sideband *sideband)
{
	size_t i;

	(void)data;
	sink = strlen(sideband->name);
	for (i = 0; i < sideband->old_length; i++)
		sink += sideband->old_bytes[i];
	for (i = 0; i < sideband->new_length; i++)
		sink += sideband->new_bytes[i];
	return 0;
}

static void note(void *data, const char *text)
{
	(void)data;
	sink = strlen(text);
}

static int take_event(void *data, const struct ntrace_session_event *event)
{
	unsigned int *count = data;

	sink = strlen(event->comm);
	/*
	 * Limit the work: a few bytes can stand for long loops. fuzz_flow tests the flow's own
	 * limits.
	 */
	return ++*count > 20000;
}

static void decode(const char *path)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = "/nowhere",
						  .note = note };
	struct ntrace_session *session;
	unsigned int count = 0, i;

	setenv("TMPDIR", "/dev/shm", 1);
	if (ntrace_session_open(&session, path, &options))
		return;
	for (i = 0; i < ntrace_session_streams(session) && i < 8; i++)
		decode_stream(session, i, take_event, NULL, &count, NULL);
	ntrace_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_perf_file *file;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size && !ntrace_perf_file_open(&file, path)) {
		const char *text = ntrace_perf_file_feature(file, NTRACE_PERF_ARCH);

		sink = text ? strlen(text) : 0;
		ntrace_perf_file_records(file, take_record, file);
		ntrace_perf_file_sideband(file, take_sideband, NULL, NULL);
		ntrace_perf_file_close(file);
		decode(path);
	}
	close(fd);
	return 0;
}
