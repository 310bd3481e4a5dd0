/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes a recording or a raw trace into a history. */
#ifndef NTRACE_TOOL_GDB_LOAD_H
#define NTRACE_TOOL_GDB_LOAD_H

#include "common/input.h"
#include "history.h"
#include "stream/lanes.h"
#include "stream/source.h"

/**
 * struct load - what to load, and the state of loading
 * @history: filled in
 * @cpu: only this CPU, as one thread of all that ran on it; -1 = a thread for each task
 * @src: raw trace: only this SRC, -1 = each SRC is a thread
 * @privileges: 1 << enum ntrace_priv for each privilege to load, 0 = all
 * @begin, @end: recording: for each stream, where the part begins and where the next one begins, in
 *                 bytes; NULL = all of it
 * @gaps: number of gaps and errors
 */
struct load {
	struct history *history;
	int64_t cpu;
	int64_t src;
	uint32_t privileges;
	const uint64_t *begin;
	const uint64_t *end;
	uint64_t gaps;
	/* the rest is private */
	struct history_run next;	/* run that the next batch would start */
	struct history_run open;	/* the same for the current run */
	bool opened;
	bool tasks;			/* threads take turns in a stream */
	bool gap_pending;		/* the code after a gap may be that of another thread */
	char reason[400];
	bool unmapped;			/* the reason is memory that is not known */
	bool shown;			/* the last code of the stream has one of the privileges */
	struct history_run hidden;	/* a gap in code that is not shown */
	bool hidden_gap;
	uint32_t **ids;			/* for each SRC: code of the block ids, plus one */
	size_t *id_rooms;
	uint32_t sources;
	int32_t pid;
	uint64_t order;
	uint8_t sizes[4096];
	uint32_t size_count;
	bool failed;			/* a message was printed */
};

/** load_recording - Return: EXIT_OK, or EXIT_FAILED after an error message */
int load_recording(struct load *load, struct recording *recording, int64_t stream);

/**
 * load_first_time - the first timestamp of what load_recording() would load of all of the recording
 * @load: cpu and privileges are used
 * @time: set to it, in ticks
 *
 * Return: false if there is none.
 */
bool load_first_time(const struct load *load, struct recording *recording, int64_t stream,
		     uint64_t *time);

/** load_raw - the same for a raw trace that was opened with trace_open() */
int load_raw(struct load *load, struct trace *trace, const struct ntrace_params *params,
	     struct ntrace_space *space);

#endif /* NTRACE_TOOL_GDB_LOAD_H */
