/* SPDX-License-Identifier: GPL-2.0-only */
/* What identifies the streams of recordings, and finds one of them that is a copy of another. */
#ifndef NTRACE_TOOL_COMMON_TRACE_ID_H
#define NTRACE_TOOL_COMMON_TRACE_ID_H

#include <ntrace/counts_file.h>
#include <ntrace/session.h>

/**
 * trace_identify - the id of a stream in counts files
 * @recording: directory or perf.data file
 * @stream: parameters of the stream; NULL: the file contains samples
 * @path: of the trace; NULL without @stream
 * @index: number of the stream
 * @source: gets the id
 *
 * Copies of a stream have the same id, however they are packed and whatever the other parameters of their
 * recording say: an id is a hash of the trace's first TRACE_ID_BYTES, of the number of its bytes if there are
 * more, and of what tells it from other streams in the same file. Only part of the trace is read, because each
 * part of `ntrace count --shard` knows the ids of all streams.
 *
 * Programs that run the same way have the same trace if it has no timestamps; then the sideband and @index are
 * part of the id. A stream without trace, or whose trace is damaged, is known by its parameters.
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message: a file cannot be read.
 */
int trace_identify(const char *recording, const struct ntrace_stream *stream, const char *path,
		   unsigned int index, struct ntrace_counts_source *source);

#define TRACE_ID_BYTES (256u * 1024)

/**
 * trace_find_copy - find two streams of a recording that have the same trace in different files
 * @first: number of the stream that comes first
 * @second: number of the other one
 *
 * Return: whether there are two.
 */
bool trace_find_copy(const struct ntrace_session *session, unsigned int *first,
		     unsigned int *second);

#endif /* NTRACE_TOOL_COMMON_TRACE_ID_H */
