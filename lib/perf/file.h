/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A perf.data file that is open; for lib/perf only. */
#ifndef NTRACE_PERF_FILE_H
#define NTRACE_PERF_FILE_H

#include "format.h"

struct event_id {
	uint64_t id;
	uint32_t event;
};

struct ntrace_perf_file {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t data_at;
	uint64_t data_end;
	bool unfinished;	/* the writer never came to close the file */
	bool pipe;
	struct perf_event_attr *attrs;
	unsigned int attr_count;
	struct event_id *ids;	/* sorted by id */
	size_t id_count;
	bool same_trailer;	/* all events have the same trailer */
	char *texts[NTRACE_PERF_ARCH + 1];
};

/* The event that has @id; the first one if none has. */
const struct perf_event_attr *perf_file_event(const struct ntrace_perf_file *file, uint64_t id);

#endif
