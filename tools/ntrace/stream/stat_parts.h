/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the contents of a trace file in parts, each in a thread; the result is that of one run. */
#ifndef NTRACE_TOOL_STREAM_STAT_PARTS_H
#define NTRACE_TOOL_STREAM_STAT_PARTS_H

#include <ntrace/image.h>

#include "statistics.h"
#include "trace.h"

struct progress;

/* Result of stat_in_parts(): the file has to be counted as a whole. */
#define STAT_WHOLE 1000

/**
 * struct stat_parts - a file to count
 * @trace: open, nothing read yet; its sanity is updated
 * @params: parameters of the stream
 * @space: code; NULL: count messages only
 * @jobs: number of threads, at least 1
 * @statistics: filled in
 * @progress: shown while parts end
 */
struct stat_parts {
	struct trace *trace;
	const struct ntrace_params *params;
	struct ntrace_space *space;
	unsigned int jobs;
	struct statistics *statistics;
	struct progress *progress;
};

/**
 * stat_in_parts - count all messages, and the instructions if there is a space
 *
 * Return: EXIT_OK, EXIT_FAILED after an error message, or STAT_WHOLE with nothing changed: the file
 * is short, is a pipe, is packed, has several SRC, or has a place that cannot be joined.
 */
int stat_in_parts(const struct stat_parts *parts);

#endif /* NTRACE_TOOL_STREAM_STAT_PARTS_H */
