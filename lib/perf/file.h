/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A perf.data file that is open; for lib/perf only. */
#ifndef NTRACE_PERF_FILE_H
#define NTRACE_PERF_FILE_H

#include "format.h"

struct event_id {
	uint64_t id;
	uint32_t event;
};

/* A compressed record at @position, and where what was in it ends in what all of them hold. */
struct expanded_part {
	uint64_t position;
	uint64_t end;
};

struct ntrace_perf_file {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t data_at;
	uint64_t data_end;
	bool unfinished;	/* the writer never came to close the file */
	bool pipe;
	bool compressed;	/* there may be compressed records */
	uint8_t *expanded;	/* what was in them; its positions follow those of the file */
	size_t expanded_size;
	struct expanded_part *parts;	/* by position; those missing could not be read */
	size_t part_count;
	struct perf_event_attr *attrs;
	unsigned int attr_count;
	struct event_id *ids;	/* sorted by id */
	size_t id_count;
	bool same_trailer;	/* all events have the same trailer */
	char *texts[NTRACE_PERF_ARCH + 1];
};

/* The event that has @id; the first one if none has. */
const struct perf_event_attr *perf_file_event(const struct ntrace_perf_file *file, uint64_t id);

/* expand.c: reads what is compressed. Return: 0, also where that is damaged, or NTRACE_ERR_NOMEM. */
int perf_file_expand(struct ntrace_perf_file *file);

#endif
