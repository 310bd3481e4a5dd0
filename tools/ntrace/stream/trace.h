/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads raw trace, from a file or a pipe, message by message in bounded memory. */
#ifndef NTRACE_TOOL_STREAM_TRACE_H
#define NTRACE_TOOL_STREAM_TRACE_H

#include <ntrace/recording.h>
#include <ntrace/wire.h>

#include "framing.h"

#define TRACE_CHUNK FRAMING_CHUNK
/* First bytes of a message that are kept to be shown; broken streams have endless ones. */
#define TRACE_BYTES_KEPT 64

/* What trace_next() returns besides enum ntrace_wire_event. */
enum trace_result {
	TRACE_LOST = 100,	/* bytes are missing: the message in progress is dropped */
	TRACE_END = -1,
	TRACE_FAILED = -2,	/* reading failed, and was complained of */
};

/**
 * struct trace_format - how the bytes of a raw trace are packed
 * @words16: 16-bit words with the later byte first, as a 16-bit port gives them to a big-endian
 *           probe: bytes are swapped
 * @framing: frames of a CoreSight formatter; not together with @words16
 */
struct trace_format {
	bool words16;
	struct framing framing;
};

/**
 * struct sanity - whether a trace makes sense with its parameters
 * @messages: messages and places that are none
 * @wrong: of these, places that are none, reserved TCODEs, fields missing or too many
 * @coded: messages with SYNC, EVCODE, RCODE or CDF
 * @reserved: of these, those with a reserved value, or a vendor's
 */
struct sanity {
	uint64_t messages;
	uint64_t wrong;
	uint64_t coded;
	uint64_t reserved;
};

/** sanity_message - count what the reader has returned; @event: enum ntrace_wire_event */
void sanity_message(struct sanity *sanity, int event, const struct ntrace_message *message,
		    enum ntrace_dialect dialect);

/**
 * sanity_warn - say "try ntrace detect" if the parameters are most probably wrong
 * @name: of the trace
 *
 * That is so if a quarter of at least 8 messages is wrong, or of 4 messages or more with a coded field
 * most have a value that is reserved or a vendor's. A loss spoils one message or two, so that a sound trace with
 * losses is far from it. Counts alone decide.
 */
void sanity_warn(const struct sanity *sanity, const char *name);

/**
 * struct trace - a raw trace that is being read
 * @name: for people; "standard input" for "-"; borrowed
 * @size: bytes, 0 where that is unknown (a pipe, a compressed file)
 * @reader: readable: offset, idles, errors
 * @leave: set after trace_open(), may be NULL: called before a chunk is replaced, and at the end,
 *         when the reader has used the chunk up
 * @leave_data: for @leave
 * @lost: readable after trace_read(): bytes are missing before those that it returned
 * @places: readable: how often bytes are missing
 * @sanity: readable: whether these are messages at all
 */
struct trace {
	const char *name;
	uint64_t size;
	struct ntrace_reader reader;
	void (*leave)(void *data);
	void *leave_data;
	bool lost;
	uint64_t places;
	struct sanity sanity;
	/* the rest is private */
	int fd;
	struct ntrace_trace_file *file;
	bool given;		/* parameters are those of the command line */
	bool words16;
	bool framed;
	bool ended;
	bool reading;		/* trace_read() was called */
	uint64_t chunk_offset;
	size_t chunk_size;
	uint64_t dropped;	/* bytes of the message that was dropped, if @lost */

	size_t head_used;	/* of the message that began in an earlier chunk */
	uint8_t head[TRACE_BYTES_KEPT];
	uint8_t shown[TRACE_BYTES_KEPT];
	uint8_t chunk[TRACE_CHUNK];
	struct unframer unframer;
};

/** trace_other_format - what a file is that begins so and is no trace, e.g. "an ELF file"; or NULL */
const char *trace_other_format(const uint8_t *data, size_t size);

/**
 * trace_open - open a file of trace messages
 * @path: "-" is standard input; borrowed
 * @format: how the bytes are packed; NULL: not at all, and the parameters are those of a recording
 *
 * Files compressed by zstd are read as what is in them; those that are known to be something
 * else (ELF, perf.data, gzip) are refused. All offsets are those of what is in words or frames; of
 * frames it is the bytes of one source.
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int trace_open(struct trace *trace, const char *path, const struct trace_format *format);

/** trace_start - begin to take messages out. Return: EXIT_OK, or EXIT_FAILED after a complaint */
int trace_start(struct trace *trace, const struct ntrace_params *params);
void trace_close(struct trace *trace);

/**
 * trace_read - the bytes instead of the messages; after trace_open(), without trace_start()
 * @size: 0 at the end
 *
 * @data is valid until the next call. Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int trace_read(struct trace *trace, const uint8_t **data, size_t *size);

/**
 * trace_next - the next message or error
 * @message: as for ntrace_reader_next(); for TRACE_LOST only offset, where the bytes are missing or the
 *           message in progress began, and length, which is 0 if none was
 *
 * Return: enum ntrace_wire_event or enum trace_result.
 */
int trace_next(struct trace *trace, struct ntrace_message *message);

/**
 * trace_bytes - the first bytes of what trace_next() has just returned
 * @count: how many there are, at most TRACE_BYTES_KEPT
 *
 * Valid until the next call of either.
 */
const uint8_t *trace_bytes(struct trace *trace, uint64_t offset, uint64_t length, size_t *count);

/**
 * trace_chunk_bytes - the bytes of the chunk in memory from a position on
 * @offset: in the stream, within the chunk or at its end
 *
 * Valid until the next call of trace_next().
 */
static inline const uint8_t *trace_chunk_bytes(const struct trace *trace, uint64_t offset)
{
	return trace->chunk + (offset - trace->chunk_offset);
}

/** trace_pending - at the end: bytes of the message that the trace ends in; 0 = it ends well */
static inline uint64_t trace_pending(const struct trace *trace)
{
	return ntrace_reader_pending(&trace->reader);
}

#endif /* NTRACE_TOOL_STREAM_TRACE_H */
