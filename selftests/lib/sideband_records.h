/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sideband records of a test, in the file "data" of its scratch directory: open_records(), the records in any order, then
 * ntrace_perf_writer_close(sideband).
 */
#ifndef SELFTESTS_LIB_SIDEBAND_RECORDS_H
#define SELFTESTS_LIB_SIDEBAND_RECORDS_H

#include <linux/perf_event.h>

#include <ntrace/perf.h>

#include "scratch.h"
#include "tap.h"

static struct ntrace_perf_writer *sideband;

static inline void open_records(void)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
	};
	const uint64_t id = 1;

	ntrace_perf_writer_open(&sideband, in("data"));
	ntrace_perf_writer_event(sideband, &attr, &id, 1, "dummy:u");
}

static inline void put(struct ntrace_sideband record)
{
	if (!record.name)
		record.name = "";
	if (ntrace_perf_writer_sideband(sideband, &record))
		ok(false, "writes a record");
}

static inline void maps(int32_t pid, uint64_t time, uint64_t address, const char *file)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
				      .pid = pid,
				      .tid = pid,
				      .time = time,
				      .executable = true,
				      .address = address,
				      .length = 0x1000,
				      .name = file });
}

static inline void named(int32_t pid, int32_t tid, uint64_t time, bool exec, const char *name)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_COMM,
				      .pid = pid,
				      .tid = tid,
				      .time = time,
				      .exec = exec,
				      .name = name });
}

static inline void forks_on(uint32_t cpu, uint64_t time, int32_t parent, int32_t child)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_FORK,
				      .cpu = cpu,
				      .pid = child,
				      .tid = child,
				      .other_pid = parent,
				      .other_tid = parent,
				      .time = time });
}

static inline void forks(int32_t parent, int32_t child, uint64_t time)
{
	forks_on(0, time, parent, child);
}

/* A CPU goes from one main thread to another. */
static inline void goes_on(uint32_t cpu, uint64_t time, int32_t from, int32_t to)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
				      .cpu = cpu,
				      .pid = from,
				      .tid = from,
				      .other_pid = to,
				      .other_tid = to,
				      .out = true,
				      .time = time });
}

static inline void goes(uint64_t time, int32_t from, int32_t to)
{
	goes_on(0, time, from, to);
}

static inline void loses_on(uint32_t cpu, uint64_t time, uint64_t count)
{
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_LOST, .cpu = cpu, .count = count, .time = time });
}

static inline void loses(uint64_t time, uint64_t count)
{
	loses_on(0, time, count);
}

#endif /* SELFTESTS_LIB_SIDEBAND_RECORDS_H */
