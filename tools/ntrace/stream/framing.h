/* SPDX-License-Identifier: GPL-2.0-only */
/* Raw trace in frames of a CoreSight formatter: --framing, and the bytes of one source. */
#ifndef NTRACE_TOOL_STREAM_FRAMING_H
#define NTRACE_TOOL_STREAM_FRAMING_H

#include <ntrace/frames.h>
#include <ntrace/recording.h>

#include "common/command.h"

#define FRAMING_CHUNK (256 * 1024)
#define FRAMING_SOURCES (NTRACE_FRAMES_SOURCE_MAX + 1)

/* Row of a command's option table. */
#define FRAMING_ROW(id)                                                                            \
	{                                                                                          \
		id, "framing", "coresight[:ID]", "raw trace: frames of a CoreSight formatter"      \
	}

/**
 * struct framing - the --framing option
 * @given: the trace is in frames
 * @source: requested source ID; 0 = the only one
 */
struct framing {
	bool given;
	unsigned int source;
};

/** framing_option - parse the argument of --framing. Return: EXIT_OK, or EXIT_USAGE after an error message */
int framing_option(const struct command *command, struct framing *framing, const char *text);

/**
 * framing_conflict - reject --words16 together with --framing
 *
 * Return: EXIT_OK or EXIT_USAGE.
 */
int framing_conflict(const struct command *command, const struct framing *framing, bool words16);

/**
 * framing_find - find the only source in a file
 * @name: name of the file for messages
 * @fd: the file; read to its end, then restored to its position
 * @size: bytes of the file, for the progress line; 0 = unknown
 * @source: set to its ID; 0 = no source has bytes
 * @bytes: set to its number of bytes
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message, also if there are several sources.
 */
int framing_find(const char *name, int fd, uint64_t size, unsigned int *source, uint64_t *bytes);

/**
 * struct unframer - extracts the bytes of one source from frames
 * @source: requested source; 0 = the first one found, and any other is an error
 * @lost: readable: bytes are missing before those that unframer_read() returned last
 * @places: readable: number of gaps
 */
struct unframer {
	const char *name;
	struct ntrace_trace_file *file;
	unsigned int source;
	bool lost;
	uint64_t places;
	/* the rest is private */
	bool chosen;		/* the user chose the source */
	bool waiting;		/* bytes are missing before the next ones */
	bool ended;		/* end of input */
	bool told;
	uint64_t first_input;	/* offset of the first gap in the input and in the bytes read */
	uint64_t first_offset;
	uint64_t read;
	uint64_t bytes[FRAMING_SOURCES];
	struct ntrace_frames frames;
	uint8_t chunk[FRAMING_CHUNK];
};

/** unframer_init - @name and @file are borrowed; @source as in the struct */
void unframer_init(struct unframer *unframer, const char *name, struct ntrace_trace_file *file,
		   unsigned int source);

/**
 * unframer_read - the next bytes of the source
 * @data: room for FRAMING_CHUNK bytes
 * @size: set to their number; 0 only at the end and before a gap
 * @ended: no bytes follow
 *
 * At the end it prints a warning about gaps.
 * Return: EXIT_OK, EXIT_FAILED after an error message.
 */
int unframer_read(struct unframer *unframer, uint8_t *data, size_t *size, bool *ended);

/** frames_warn - print a warning about gaps in @frames; @where: " the first ...", or "" */
void frames_warn(const char *name, const struct ntrace_frames *frames, const char *where);

/** trace_file_failed - print why reading failed; uses errno. Return: EXIT_FAILED */
int trace_file_failed(const char *name, int error);

#endif /* NTRACE_TOOL_STREAM_FRAMING_H */
