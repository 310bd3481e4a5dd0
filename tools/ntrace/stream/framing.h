/* SPDX-License-Identifier: GPL-2.0-only */
/* Raw trace in the frames of a CoreSight formatter: --framing, and the bytes of one source. */
#ifndef NTRACE_TOOL_STREAM_FRAMING_H
#define NTRACE_TOOL_STREAM_FRAMING_H

#include <ntrace/frames.h>
#include <ntrace/recording.h>

#include "common/command.h"

#define FRAMING_CHUNK (256 * 1024)
#define FRAMING_SOURCES (NTRACE_FRAMES_SOURCE_MAX + 1)

/* Row of a command's table. */
#define FRAMING_ROW(id)                                                                            \
	{                                                                                          \
		id, "framing", "coresight[:ID]", "raw trace: frames of a CoreSight formatter"      \
	}

/**
 * struct framing - what --framing says
 * @given: the trace is in frames
 * @source: the ID that is wanted; 0: the only one
 */
struct framing {
	bool given;
	unsigned int source;
};

/** framing_option - the argument of --framing. Return: EXIT_OK, or EXIT_USAGE after a complaint */
int framing_option(const struct command *command, struct framing *framing, const char *text);

/**
 * framing_conflict - complain if a raw trace is said to be in words and in frames
 *
 * Return: EXIT_OK or EXIT_USAGE.
 */
int framing_conflict(const struct command *command, const struct framing *framing, bool words16);

/**
 * framing_find - the only source in a file
 * @name: of the file, for people
 * @fd: the file, which is read to its end and then is where it was
 * @size: bytes of the file, for the progress line; 0: unknown
 * @source: filled in: its ID; 0: there are no bytes of a source
 * @bytes: filled in: how many it has
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint, also if there are several sources.
 */
int framing_find(const char *name, int fd, uint64_t size, unsigned int *source, uint64_t *bytes);

/**
 * struct unframer - takes the bytes of one source out of frames
 * @source: the one that is wanted; 0: the first one that comes up, and no other may
 * @lost: readable: bytes are missing before those that unframer_read() has just returned
 * @places: readable: how often
 */
struct unframer {
	const char *name;
	struct ntrace_trace_file *file;
	unsigned int source;
	bool lost;
	uint64_t places;
	/* the rest is private */
	bool chosen;		/* by the user */
	bool waiting;		/* bytes are missing before the next ones */
	bool ended;		/* there is no more input */
	bool told;
	uint64_t first_input;	/* where bytes were missing first: in the input, in what was read */
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
 * @size: how many there are, at least 1 but at the end, and before a place where bytes are missing
 * @ended: nothing comes after them
 *
 * At the end it warns of what was missing.
 * Return: EXIT_OK, EXIT_FAILED after a complaint.
 */
int unframer_read(struct unframer *unframer, uint8_t *data, size_t *size, bool *ended);

/** frames_warn - warn of what @frames found missing; @where: " the first ...", or "" */
void frames_warn(const char *name, const struct ntrace_frames *frames, const char *where);

/** trace_file_failed - say why reading failed; errno counts. Return: EXIT_FAILED */
int trace_file_failed(const char *name, int error);

#endif /* NTRACE_TOOL_STREAM_FRAMING_H */
