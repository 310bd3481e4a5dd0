/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes trace files, aux.N, plain or compressed. */
#ifndef NTRACE_TOOL_RECORD_TRACE_OUTPUT_H
#define NTRACE_TOOL_RECORD_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct trace_output - an open trace file
 * @name: file name within the recording
 * @fd: -1 = not open
 * @saved: bytes of trace in the file
 * @written: size of the file, less than @saved if compressed
 * @frame: bytes of trace in the incomplete zstd frame
 * @lost: bytes of trace that were not written, or cut off
 * @error: errno of the first failed write, after which nothing more is written
 */
struct trace_output {
	char name[32];
	int fd;
	uint64_t saved;
	uint64_t written;
	uint64_t frame;
	uint64_t lost;
	int error;
	struct ZSTD_CCtx_s *context;
	uint8_t *packed;
	size_t room;
};

/** trace_output_open - create aux.@index; @level: zstd level, 0 = none. Return: exit status */
int trace_output_open(struct trace_output *output, const char *directory, unsigned int index,
		      unsigned int level);

/** trace_output_write - Return: 0 or errno, also of an earlier write */
int trace_output_write(struct trace_output *output, const uint8_t *data, size_t size);

/** trace_output_start_sync - let the kernel write to the disk what the file has; does not wait */
void trace_output_start_sync(const struct trace_output *output);

/** trace_output_end - complete the file; not after an error. Return: 0 or errno */
int trace_output_end(struct trace_output *output);

/** trace_output_is_full - whether an error number says that the disk, a quota or a limit of the process is full */
bool trace_output_is_full(int error);

/** trace_output_make_room - truncate the file, to free space on a full disk */
void trace_output_make_room(struct trace_output *output);

/**
 * trace_output_close - close the file; may be called again
 *
 * Return: 0 or errno: some file systems report errors only here.
 */
int trace_output_close(struct trace_output *output);

#endif /* NTRACE_TOOL_RECORD_TRACE_OUTPUT_H */
