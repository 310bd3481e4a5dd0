/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* An open perf.data file; internal to lib/perf. */
#ifndef NTRACE_PERF_FILE_H
#define NTRACE_PERF_FILE_H

#include "format.h"

struct event_id {
	uint64_t id;
	uint32_t event;
};

/* The compressed record at @position, and the end of its content in file->expanded. */
struct expanded_part {
	uint64_t position;
	uint64_t end;
};

/* An entry of the BUILD_ID table. @path: in the file, @length bytes without the 0 */
struct file_build_id {
	const char *path;
	size_t length;
	uint8_t bytes[20];
	uint8_t size;
};

struct pmu_name {
	uint32_t type;
	char *name;
};

/* Records of a file data.N of perf record --threads, as positions in the whole. */
struct thread_part {
	uint64_t at;
	uint64_t end;
};

/* @size: of all files; @head: of the file with the header, which comes first */
struct ntrace_perf_file {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t head;
	struct thread_part *threads;
	size_t thread_count;
	uint64_t data_at;
	uint64_t data_end;
	bool unfinished;	/* the writer did not close the file */
	bool pipe;
	bool compressed;	/* compressed records are possible */
	uint8_t *expanded;	/* their content; its positions follow those of the file */
	size_t expanded_size;
	struct expanded_part *parts;	/* by position; unreadable records are missing */
	size_t part_count;
	struct perf_event_attr *attrs;
	unsigned int attr_count;
	struct event_id *ids;	/* sorted by id */
	size_t id_count;
	bool same_trailer;	/* all events have the same trailer */
	char *texts[NTRACE_PERF_ARCH + 1];
	struct file_build_id *build_ids;	/* of programs, by path; the first of a path is valid */
	size_t build_id_count;
	size_t build_id_room;
	struct pmu_name *pmus;
	size_t pmu_count;
	size_t pmu_room;
	uint32_t cpus;		/* of the recorded machine, 0: not told */
};

/* The event with @id; the first one if no event has it. */
const struct perf_event_attr *perf_file_event(const struct ntrace_perf_file *file, uint64_t id);

/* expand.c: reads compressed records. Return: 0, even if they are damaged, or NTRACE_ERR_NOMEM. */
int perf_file_expand(struct ntrace_perf_file *file);

/*
 * pmus.c: reads the content of a feature section, damaged ones as far as they are sound. Return: 0, or
 * NTRACE_ERR_NOMEM.
 */
int perf_file_read_pmus(struct ntrace_perf_file *file, uint64_t feature, const uint8_t *bytes,
			uint64_t size);
void perf_file_free_pmus(struct ntrace_perf_file *file);

#endif
