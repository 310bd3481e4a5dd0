/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-process tracing, through the perf PMU "ntrace". */
#ifndef NTRACE_TOOL_RECORD_TASKS_H
#define NTRACE_TOOL_RECORD_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/ntrace.h>
#include <linux/perf_event.h>

#include <ntrace/recording.h>

#include "cpus.h"
#include "options.h"
#include "sideband.h"
#include "tids.h"
#include "trace_output.h"
#include "values.h"

/**
 * struct task_area - AUX area of a CPU or of a thread
 * @fd: event that owns the buffers
 * @id: its id
 * @cpu: CPU number; -1 = the area follows a thread
 * @page: control page
 * @tail: position up to which it was saved
 * @gaps: AUX records with a loss since the last file was begun
 * @loss: their causes, NTRACE_LOSS_...
 */
struct task_area {
	int fd;
	uint64_t id;
	int cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *aux;
	uint64_t size;
	uint64_t tail;
	uint64_t gaps;
	uint64_t loss;
};

/**
 * struct task_file - aux.N: all trace of an area, or one snapshot of it
 * @area: index
 * @position: position of its first byte in the area
 * @gaps, @loss: as in struct task_area
 */
struct task_file {
	unsigned int area;
	struct trace_output output;
	uint64_t position;
	uint64_t gaps;
	uint64_t loss;
};

/* Events of the PMU; the dummies of their sideband; and those of enum values_event. */
enum task_event_kind {
	TASK_EVENT_SIDEBAND,
	TASK_EVENT_TRACE,
	TASK_EVENT_VALUES,
	TASK_EVENT_KINDS = TASK_EVENT_VALUES + VALUES_EVENTS,
};

struct task_event {
	int fd;
	uint64_t id;
	enum task_event_kind kind;
	unsigned int area;
};

/* Internal result beside those of enum tool_exit: the tasks to trace have ended; nothing is printed. */
#define TASKS_ENDED 5

/**
 * struct tasks - see tasks.c
 * @config: configuration in effect
 * @before: the encoders are pre-ratification, version 0
 * @unfiltered: not all encoders have a filter for privileges: all privileges are traced
 * @inst_features: bits of trTeInstFeatures that all encoders have
 * @src_bits: width of SRC in the messages, 0 if CPUs do not share a sink
 * @child: the traced command, 0 = none
 * @start_ns: time of the command's exec
 * @tids: traced threads, as far as the sideband was read
 * @error: errno of the first failed write
 */
struct tasks {
	const struct record_options *options;
	const char *directory;
	struct sideband *sideband;
	struct ntrace_config config;
	bool before;
	bool unfiltered;
	uint32_t inst_features;
	unsigned int src_bits;
	struct cpu_mask cpus;
	struct perf_event_attr attrs[TASK_EVENT_KINDS];
	size_t ring_size;
	struct task_area *areas;
	unsigned int area_count;
	struct task_file *files;
	unsigned int file_count;
	struct task_event *events;
	unsigned int event_count;
	char module_version[32];
	pid_t child;
	uint64_t start_ns;
	struct tid_list tids;
	int error;
};

/**
 * tasks_open - open events and buffers, and create files
 * @tasks: zeroed; call tasks_close() after sideband_close(), also after a failure
 * @sideband: without a ring
 * @child: process that will exec the command; 0 = trace only the tasks of @options
 * @may_have_ended: leave out tasks of @options that have ended, instead of failing
 *
 * Threads that end while those of a process are being opened are left out in any case.
 *
 * Return: exit status; TASKS_ENDED with @may_have_ended if no task is left
 */
int tasks_open(struct tasks *tasks, const struct record_options *options, struct sideband *sideband,
	       pid_t child, bool may_have_ended);
void tasks_close(struct tasks *tasks);

/** tasks_enable - start tracing; tracing of a command starts by itself at its exec */
void tasks_enable(struct tasks *tasks);

/** tasks_stop - stop tracing at once; a later tasks_snapshot() restarts it */
void tasks_stop(const struct tasks *tasks);

/** tasks_has - whether thread @tid is traced; drains the sideband if it is not known */
bool tasks_has(struct tasks *tasks, pid_t tid);

/** tasks_drain - save the trace and sideband available now */
int tasks_drain(struct tasks *tasks);

/** tasks_start_sync - let the kernel write to the disk what the files have; does not wait */
void tasks_start_sync(const struct tasks *tasks);

/** tasks_snapshot - save the contents of the areas */
int tasks_snapshot(struct tasks *tasks);

/** tasks_finish - stop and save the rest */
int tasks_finish(struct tasks *tasks);

/** tasks_describe - fill in what the recording stores about file @index; @stream refers to @params */
void tasks_describe(const struct tasks *tasks, unsigned int index, struct ntrace_stream *stream,
		    struct ntrace_params *params);

#endif /* NTRACE_TOOL_RECORD_TASKS_H */
