/* SPDX-License-Identifier: GPL-2.0-only */
/* All bytes of a raw trace, for cursors. */
#ifndef NTRACE_TOOL_STREAM_RAW_H
#define NTRACE_TOOL_STREAM_RAW_H

#include "trace.h"

#define RAW_SOURCES (1u << NTRACE_SRC_BITS_MAX)

/**
 * struct raw_trace - a raw trace
 * @data: its bytes, without words, frames and compression
 * @mapped: they are those of the file
 */
struct raw_trace {
	uint8_t *data;
	uint64_t size;
	bool mapped;
};

/**
 * raw_trace_open - read or map a trace; arguments as for trace_open()
 *
 * Where frames are missing, bytes that are no message stand for them: a cursor shows an error there.
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int raw_trace_open(struct raw_trace *raw, const char *path, const struct trace_format *format);
void raw_trace_close(struct raw_trace *raw);

/**
 * raw_trace_sources - count the messages of each SRC
 * @name: of the trace, for a warning about wrong parameters; NULL = only up to the first message
 * @messages: array of RAW_SOURCES numbers that grow
 * @stop: asked from time to time, with the position; NULL = none
 *
 * Return: false if @stop returned true.
 */
bool raw_trace_sources(const struct raw_trace *raw, const struct ntrace_params *params,
		       const char *name, uint64_t *messages,
		       bool (*stop)(void *data, unsigned int stream, uint64_t position),
		       void *stop_data);

#endif /* NTRACE_TOOL_STREAM_RAW_H */
