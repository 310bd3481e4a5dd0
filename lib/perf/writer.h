/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by the files of the perf.data writer. */
#ifndef NTRACE_PERF_WRITER_H
#define NTRACE_PERF_WRITER_H

#include <stdio.h>

#include "format.h"

struct writer_event {
	struct perf_event_attr *attr;
	uint64_t *ids;
	size_t id_count;
	char *name;
};

struct writer_build_id {
	char *path;
	uint8_t bytes[20];
	uint8_t size;
	bool kernel;
};

/* A copy of struct ntrace_perf_features; NULL and 0: not stored. */
struct writer_features {
	char *hostname, *release, *version, *arch;
	char **argv;
	uint32_t argc;
	uint32_t cpus_available, cpus_online;
	uint64_t clock_resolution_ns;
	bool branch_stacks;
	void *tracepoints;
	size_t tracepoints_size;
};

struct ntrace_perf_writer {
	FILE *file;
	int error;		/* errno of the first failure */
	uint64_t position;
	bool started;		/* header, ids and attrs are written */
	struct writer_event *events;
	size_t event_count;
	uint64_t attrs_at;
	uint64_t data_at;
	uint64_t data_size;
	struct writer_features features;
	struct writer_build_id *build_ids;
	size_t build_id_count;
	uint64_t feature_bits[PERF_FEATURES / 64];
	uint8_t record[UINT16_MAX + 1];	/* being built; too large for a small stack */
};

int writer_put(struct ntrace_perf_writer *writer, const void *data, size_t size);
int writer_rewrite_header(struct ntrace_perf_writer *writer);

/* features.c: writes the feature sections after the data, sets feature_bits. */
int writer_put_features(struct ntrace_perf_writer *writer);
void writer_free_features(struct ntrace_perf_writer *writer);

#endif
