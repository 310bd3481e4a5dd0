/* SPDX-License-Identifier: GPL-2.0-only */
/* What identifies the streams of recordings in counts files. */
#ifndef NTRACE_TOOL_COUNTS_SOURCE_H
#define NTRACE_TOOL_COUNTS_SOURCE_H

#include <ntrace/counts_file.h>

/**
 * source_identify - the id of a stream
 * @recording: directory or perf.data file
 * @file: name of the stream's trace file in the directory; NULL: none
 * @index: number of the stream
 * @source: gets the id
 *
 * Copies of a recording have the same ids: an id is a hash of the parameters, and of the size, the
 * beginning and the end of the trace. A file that cannot be read is as an empty one; who counts it says
 * so.
 */
void source_identify(const char *recording, const char *file, unsigned int index,
		     struct ntrace_counts_source *source);

#endif /* NTRACE_TOOL_COUNTS_SOURCE_H */
